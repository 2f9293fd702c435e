/* store.c: berth store check: looks a store over. */
#include "store/store.h"

#include "cli/term/command.h"
#include "cli/term/config_options.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/table.h"

#include <inttypes.h>
#include <string.h>

struct store_settings {
    const char *state;
    bool json;
};

#define S struct store_settings
static const struct option store_options[] = {
    {0, "state", "DIR", "the folder of the state, in which the store is " STORE_FILE, option_file, offsetof(S, state)},
    {0, "json", NULL, "JSON lines: an object a space", option_flag, offsetof(S, json)},
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

static int store_run(const void *given, int word_count, char **words)
{
    const struct store_settings *settings = given;
    struct config config = {0};
    struct buf path;
    int status = STATUS_BAD;

    if (word_count < 1 || strcmp(words[0], "check") != 0 || word_count > 2 || (word_count == 2 && settings->state)) {
        report("store wants: check, and at most one of FILE and --state DIR");
        return STATUS_BAD;
    }
    buf_init(&path);
    if (word_count == 2)
        buf_adds(&path, words[1]);
    else if (settings->state)
        buf_addf(&path, "%s/%s", settings->state, STORE_FILE);
    else if (config_options_load(&(struct config_options){.count = 0}, &config) == 0)
        buf_addf(&path, "%s/%s", config_text(&config, CONFIG_STATE), STORE_FILE);
    config_done(&config);
    if (path.len)
        status = check_file(buf_string(&path), settings->json);
    buf_done(&path);
    return status;
}

const struct command command_store = {
    .name = "store",
    .summary = "look a store over",
    .usage = "check [--json] [--state DIR | FILE]",
    .about =
        "Reads the whole of a store, the file in which a role keeps what must outlive it, and complains of what is wrong "
        "with it: the file's own structure, the version of its schema, the checksum of each row, names and sizes that "
        "cannot be. Prints how many rows and bytes each space holds. Nothing is changed. A role may have the store open; "
        "where none has, none can open it until the check ends.\n"
        "\n"
        "Without FILE it is " STORE_FILE
        " in the folder of --state, by default $XDG_STATE_HOME/berth, else /var/lib/berth "
        "for root and ~/.local/state/berth for others.\n"
        "\n"
        "The status is 0 when all is well, 1 when there are complaints, and 2 when the file cannot be read, is not a store, or "
        "was made by a newer berth.",
    .examples = {{"berth store check", "SPACE  ROWS  BYTES\njobs      3     59"},
                 {"berth store check --json /var/lib/berth/" STORE_FILE, NULL}},
    .options = store_options,
    .option_count = sizeof store_options / sizeof *store_options,
    .settings_size = sizeof(struct store_settings),
    .defaults = &store_defaults,
    .run = store_run,
};
