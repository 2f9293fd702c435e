/* store.c: berth store: looks a store over, copies it, puts a copy in its place, moves it, saves what can be read of it. */
#include "store/store.h"

#include "cli/ask/store_place.h"
#include "cli/term/command.h"
#include "cli/term/config_options.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/table.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct store_settings {
    const char *state;
    bool json, alone;
};

#define S struct store_settings
static const struct option store_options[] = {
    {0, "state", "DIR", "the folder of the state, in which the store is " STORE_FILE, option_file, offsetof(S, state)},
    {0, "json", NULL, "JSON lines: an object a space", option_flag, offsetof(S, json)},
    {0, "alone", NULL, "of restore: do not ask the pool what has happened since", option_flag, offsetof(S, alone)},
};
#undef S

static const struct store_settings store_defaults = {0};
static const char *const store_columns[] = {"space", "rows", "bytes"};

static void space_print(void *user, const struct store_space *space)
{
    struct table *table = user;

    table_text(table, space->name, strlen(space->name));
    table_number(table, "%" PRIu64, space->rows);
    table_number(table, "%" PRIu64, space->bytes);
}

/* Reports each line as a complaint about the file. */
static void complaints_print(const char *path, const struct buf *complaints)
{
    struct err err = {0};

    for (size_t at = 0, len; at < complaints->len; at += len + 1) {
        len = (size_t)((const char *)memchr(complaints->text + at, '\n', complaints->len - at) - complaints->text) - at;
        err_set(&err, "%.*s", (int)len, complaints->text + at);
        report_error(path, &err, NULL, 0);
    }
}

static int check_file(const char *path, bool json)
{
    static const int statuses[] = {STATUS_DONE, STATUS_NO};
    struct err err = {0};
    struct buf complaints;
    struct table table;
    int result;

    buf_init(&complaints);
    table_init(&table, store_columns, sizeof store_columns / sizeof *store_columns, json);
    result = store_survey(path, space_print, &table, &complaints, &err);
    table_finish(&table);
    output_flush();
    complaints_print(path, &complaints);
    if (result < 0)
        report("%s", err.text);
    table_done(&table);
    buf_done(&complaints);
    return result < 0 ? STATUS_BAD : statuses[result];
}

ERR_FORMAT(1, 2) static void print(const char *format, ...)
{
    char text[3 * PATH_MAX];
    struct buf out;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_init(&out);
    buf_adds(&out, text);
    output_write(&out);
    buf_done(&out);
}

static int check_run(const struct store_settings *settings, const char *store, const char *other)
{
    (void)other;
    return check_file(store, settings->json);
}

static int backup_run(const struct store_settings *settings, const char *store, const char *to)
{
    struct store_copied copied;
    struct err err = {0};

    (void)settings;
    if (store_backup(store, to, &copied, &err) < 0) {
        report("%s", err.text);
        return STATUS_BAD;
    }
    print("%s: %" PRIu64 " rows, %" PRIu64 " bytes\n", to, copied.rows, copied.bytes);
    return STATUS_DONE;
}

static void aside_print(const struct store_copied *copied)
{
    if (*copied->aside)
        print("what was there before is %s\n", copied->aside);
}

static int restore_run(const struct store_settings *settings, const char *store, const char *from)
{
    struct store_copied copied;
    struct err err = {0};

    if (store_restore(from, store, settings->alone, &copied, &err) < 0) {
        report("%s", err.text);
        return STATUS_BAD;
    }
    print("%s: %" PRIu64 " rows, %" PRIu64 " bytes\n", store, copied.rows, copied.bytes);
    aside_print(&copied);
    return STATUS_DONE;
}

static int move_run(const struct store_settings *settings, const char *from, const char *to)
{
    struct store_copied copied;
    struct err err = {0};

    (void)settings;
    if (store_move(from, to, &copied, &err) < 0) {
        report("%s", err.text);
        return STATUS_BAD;
    }
    print("%s: %" PRIu64 " rows, %" PRIu64 " bytes\n", to, copied.rows, copied.bytes);
    aside_print(&copied);
    return STATUS_DONE;
}

static int repair_run(const struct store_settings *settings, const char *store, const char *other)
{
    struct store_copied copied = {0};
    struct err err = {0};
    struct buf lost;
    int result;

    (void)settings, (void)other;
    buf_init(&lost);
    result = store_repair(store, &copied, &lost, &err);
    if (result == 0)
        print("%s: is whole: nothing was changed\n", store);
    else if (result > 0)
        print("%s: %" PRIu64 " rows, %" PRIu64 " bytes were saved\n", store, copied.rows, copied.bytes);
    aside_print(&copied);
    output_flush();
    complaints_print(store, &lost);
    if (result < 0)
        report("%s", err.text);
    buf_done(&lost);
    return result < 0 ? STATUS_BAD : copied.lost ? STATUS_NO : STATUS_DONE;
}

static const struct deed {
    const char *word;
    bool another; /* it names another file, besides the store */
    bool first;   /* ... and before it */
    int (*run)(const struct store_settings *settings, const char *store, const char *other);
} deeds[] = {
    {"check", false, false, check_run}, {"backup", true, false, backup_run},  {"restore", true, true, restore_run},
    {"move", true, false, move_run},    {"repair", false, false, repair_run},
};

/* The store that is meant: the one that is named, or that of the matchmaker, as the settings say. False after a complaint. */
static bool store_find(const struct store_settings *settings, const char *named, struct buf *ret)
{
    struct config config = {0};

    if (named)
        buf_adds(ret, named);
    else if (settings->state)
        buf_addf(ret, "%s/%s", settings->state, STORE_FILE);
    else if (config_options_load(&(struct config_options){.count = 0}, &config) == 0)
        store_place_add(&config, "", ret);
    config_done(&config);
    return ret->len > 0;
}

static int store_run(const void *given, int word_count, char **words)
{
    const struct store_settings *settings = given;
    const struct deed *deed = deeds, *end = deeds + sizeof deeds / sizeof *deeds;
    const char *named = NULL, *other = NULL;
    struct buf path;
    int status = STATUS_BAD, least;

    while (word_count && deed < end && strcmp(words[0], deed->word) != 0)
        deed++;
    least = deed < end && deed->another ? 2 : 1;
    if (!word_count || deed == end || word_count < least || word_count > least + !settings->state) {
        report(
            "store wants: check [STORE], backup [STORE] FILE, restore FILE [STORE], move [STORE] STORE or repair [STORE]; "
            "and --state DIR in the place of STORE");
        return STATUS_BAD;
    }
    if (deed->another)
        other = words[word_count == 2 || deed->first ? 1 : 2];
    if (word_count > least)
        named = words[deed->first ? 2 : 1];
    buf_init(&path);
    if (store_find(settings, named, &path))
        status = deed->run(settings, buf_string(&path), other);
    buf_done(&path);
    return status;
}

const struct command command_store = {
    .name = "store",
    .summary = "look a store over, back it up, restore it, move it, repair it",
    .usage = "check [--json] [STORE]\n"
             "backup [STORE] FILE\n"
             "restore [--alone] FILE [STORE]\n"
             "move [STORE] STORE\n"
             "repair [STORE]",
    .about =
        "A store is the file in which a role keeps what must outlive it. Without STORE it is " STORE_FILE
        " in the folder of --state, by default $XDG_STATE_HOME/berth, else /var/lib/berth for root and "
        "~/.local/state/berth for others: that is the matchmaker's. A customer's is in the folder customer of that one.\n"
        "\n"
        "check reads all of it, and complains of what is wrong: the file's own structure, the version of its schema, the "
        "checksum of each row, names and sizes that cannot be. It prints how many rows and bytes each space holds. Nothing is "
        "changed. A role may have the store open; where none has, none can open it until the check ends.\n"
        "\n"
        "backup copies it, as it is at one moment, into a new file; a role may have it open, and goes on. The copy is "
        "checked before it gets its name, and knows that it is one.\n"
        "\n"
        "restore puts such a copy, or another store, in its place; no role may have it open. What was there before is kept "
        "beside it, as " STORE_FILE ".old.N. A customer that is started with it numbers new jobs from another million "
        "on, and asks its pool which of its jobs have ended since the copy was made, before any runs: those do not run again. "
        "With --alone it does not ask.\n"
        "\n"
        "A store may also be in a PostgreSQL database: postgresql://HOST/DATABASE#NAMESPACE. The namespace is the role and the "
        "name of the daemon, as in #customer/alice or #matchmaker/pool; where the database holds but one store it can be left "
        "out of check and backup. What was there before a restore is kept as the namespace NAME.old.N.\n"
        "\n"
        "move brings a store from its file to a database, or back. No role may have it open, and where it goes there is none "
        "yet. It is put aside where it was. Afterwards the setting Store says where the role looks for it.\n"
        "\n"
        "repair saves the rows of a damaged store that can be read, and complains of those that cannot; the damaged file is "
        "kept. A customer asks its pool then, too.\n"
        "\n"
        "The status is 0 when all is well, 1 when there are complaints, and 2 when it could not be done: a file cannot be "
        "read, is not a store, is in use, or was made by a newer berth.",
    .examples = {{"berth store check", "SPACE  ROWS  BYTES\njobs      3     59"},
                 {"berth store check --json /var/lib/berth/" STORE_FILE, NULL},
                 {"berth store backup --state /var/lib/berth/customer /srv/backup/customer.db", NULL},
                 {"berth store move STATE/customer 'postgresql://db/berth#customer/alice'", NULL}},
    .options = store_options,
    .option_count = sizeof store_options / sizeof *store_options,
    .settings_size = sizeof(struct store_settings),
    .defaults = &store_defaults,
    .run = store_run,
};
