/* served.c: berth served: the configuration that a pool serves to its agents: its sections listed, read, set, watched, and what they were before.
 *
 *     berth served                           the sections                 berth served Agent history        its revisions
 *     berth served Agent[/Pin]               what it says                 berth served Agent back 3         it is again what it was then
 *     berth served Agent[/Pin] set TEXT      an ad, or an expression      berth served Agent watch          each time it is another
 *     berth served Agent rm */
#include "cli/ask/connection.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WATCH_WAIT 20 /* seconds */
#define PATH_ROOM 512

struct served_settings {
    struct connection_options pool;
    bool json;
};

#define S struct served_settings
static const struct option served_options[] = {
    {0, "json", NULL, "JSON: an object a row, or the section as one", option_flag, offsetof(S, json)},
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct served_settings served_defaults;

static const struct table_column section_columns[] = {
    {"section", "Section", CELL_VALUE}, {"options", "Options", CELL_VALUE}, {"revision", "Revision", CELL_VALUE},
    {"by", "By", CELL_VALUE},           {"changed", "Time", CELL_SINCE},
};

static const struct table_column revision_columns[] = {
    {"number", "Number", CELL_VALUE},
    {"by", "By", CELL_VALUE},
    {"changed", "Time", CELL_SINCE},
    {"section", "Section", CELL_VALUE},
};

/* What is to be done, and with what. */
struct asking {
    const struct served_settings *settings;
    struct connection pool;
    char section[PATH_ROOM / 2]; /* or SECTION/OPTION */
    const char *word;            /* the verb's argument; NULL: none */
};

static int rows_print(struct asking *asking, const char *path, const struct table_column *columns, size_t count)
{
    struct rows rows;
    int status;

    rows_init(&rows, asking->settings->json ? ROWS_JSON : ROWS_TABLE, columns, count);
    status = connection_list(&asking->pool, path, 0, rows_add, &rows);
    rows_finish(&rows);
    rows_done(&rows);
    return status;
}

static const char *form_of(const struct asking *asking)
{
    return asking->settings->json ? "application/json" : NULL;
}

static int served_print(struct asking *asking)
{
    char path[PATH_ROOM];
    struct fetched fetched;
    int status;

    snprintf(path, sizeof path, "/v1/config/%s", asking->section);
    status = connection_fetch(
        &asking->pool,
        &(struct connection_ask){.path = path, .accept = form_of(asking), .may_miss = true, .about = asking->section},
        &fetched);
    if (status == STATUS_DONE) {
        output_write(&fetched.body);
        fetched_done(&fetched);
    }
    return status;
}

/* Asks for a change, and prints nothing. */
static int served_change(struct asking *asking, const char *method, const char *path, const struct buf *bytes)
{
    struct fetched fetched;
    int status = connection_fetch(&asking->pool,
                                  &(struct connection_ask){.method = method,
                                                           .path = path,
                                                           .bytes = bytes,
                                                           .type = "application/classad",
                                                           .may_conflict = true,
                                                           .about = asking->section},
                                  &fetched);

    if (status == STATUS_DONE)
        fetched_done(&fetched);
    return status;
}

static int served_set(struct asking *asking)
{
    char path[PATH_ROOM];
    struct buf text;
    int status;

    snprintf(path, sizeof path, "/v1/config/%s", asking->section);
    buf_init(&text);
    buf_adds(&text, asking->word);
    status = served_change(asking, "PUT", path, &text);
    buf_done(&text);
    return status;
}

static int served_remove(struct asking *asking)
{
    char path[PATH_ROOM];

    snprintf(path, sizeof path, "/v1/config/%s", asking->section);
    return served_change(asking, "DELETE", path, NULL);
}

static int served_history(struct asking *asking)
{
    char path[PATH_ROOM];

    snprintf(path, sizeof path, "/v1/revisions/%s", asking->section);
    return rows_print(asking, path, revision_columns, sizeof revision_columns / sizeof *revision_columns);
}

static int served_back(struct asking *asking)
{
    char path[PATH_ROOM];

    snprintf(path, sizeof path, "/v1/revisions/%s/%.16s", asking->section, asking->word);
    return served_change(asking, "POST", path, NULL);
}

/* ------------------------------------------------------------------------------------------------------------- watching */

/* Prints the section each time that it is another, until it is interrupted. Who has it waits at the matchmaker. */
static int served_watch(struct asking *asking)
{
    char path[PATH_ROOM], *etag = NULL;
    struct fetched fetched;
    bool changed;
    int status;

    snprintf(path, sizeof path, "/v1/config/%s?wait=%d", asking->section, WATCH_WAIT);
    for (;;) {
        status = connection_fetch(&asking->pool,
                                  &(struct connection_ask){.path = path,
                                                           .accept = form_of(asking),
                                                           .unless = etag,
                                                           .may_miss = true,
                                                           .hush = true,
                                                           .patient = true,
                                                           .about = asking->section},
                                  &fetched);
        if (status != STATUS_DONE && status != STATUS_NO)
            break;
        changed = status == STATUS_DONE && fetched.status == 200;
        if (changed)
            output_write(&fetched.body);
        if (changed && output_flush() < 0)
            break;
        if (changed || status == STATUS_NO) { /* NO: it is not there, or not any more */
            free(etag);
            etag = changed && fetched.etag ? strdup(fetched.etag) : NULL;
        }
        if (status == STATUS_DONE)
            fetched_done(&fetched);
        if (!changed)
            sleep(1); /* a matchmaker of an earlier version answers at once */
    }
    free(etag);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- the words */

static const struct {
    const char *word;
    bool argument, option; /* it wants a word more; it may be about one option */
    int (*run)(struct asking *asking);
} verbs[] = {
    {"set", true, true, served_set},           {"rm", false, false, served_remove},
    {"history", false, false, served_history}, {"back", true, false, served_back},
    {"watch", false, false, served_watch},
};

/* Is that SECTION or SECTION/OPTION? */
static bool section_is_good(const char *text, bool option)
{
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

    return len && len < 100 && (!text[len] || (option && text[len] == '/' && section_is_good(text + len + 1, false)));
}

static int served_verb(struct asking *asking, int word_count, char **words)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(words[1], verbs[i].word) != 0)
            continue;
        if (word_count != 2 + verbs[i].argument) {
            report("%s wants %s", words[1], verbs[i].argument ? "one word more" : "no more words");
            return STATUS_BAD;
        }
        if (!verbs[i].option && strchr(words[0], '/')) {
            report("%s is about a whole section", words[1]);
            return STATUS_BAD;
        }
        asking->word = words[2];
        return verbs[i].run(asking);
    }
    report("'%.40s': expected set, rm, history, back or watch", words[1]);
    return STATUS_BAD;
}

static int served_run(const void *given, int word_count, char **words)
{
    struct asking asking = {.settings = given};
    int status;

    if (word_count && !section_is_good(words[0], true)) {
        report("'%.60s': expected SECTION or SECTION/OPTION: letters, digits and '_'", words[0]);
        return STATUS_BAD;
    }
    if (word_count)
        snprintf(asking.section, sizeof asking.section, "%s", words[0]);
    status = connection_open(&asking.pool, &asking.settings->pool);
    if (status == STATUS_DONE)
        status = !word_count       ? rows_print(&asking, "/v1/config", section_columns,
                                                sizeof section_columns / sizeof *section_columns)
                 : word_count == 1 ? served_print(&asking)
                                   : served_verb(&asking, word_count, words);
    connection_close(&asking.pool);
    return status;
}

const struct command command_served = {
    .name = "served",
    .summary = "list, set, watch and roll back what a pool serves to agents",
    .usage = "[OPTIONS] [WHAT [set TEXT | rm | history | back N | watch]]",
    .about =
        "Lists the sections of settings that the matchmaker keeps for the agents of its pool, with who has changed each "
        "last, and when; with WHAT, a SECTION or SECTION/OPTION, prints what it says.\n"
        "\n"
        "set writes a section, an ad, or one option, an expression. rm takes a section away. history lists what a "
        "section was, the last hundred changes, and back makes it again what it was at one of them: that is a change "
        "like others. watch prints a section at once, and each time that it is another. To change wants the scope "
        "config. Agents read the section Agent when they start, or at a reload.",
    .examples = {{"berth served Agent set '[ Lease = 60; Pin = 30 ]'", NULL},
                 {"berth served Agent/Pin set 'Lease / 2'", NULL},
                 {"berth served Agent history", NULL},
                 {"berth served Agent back 1", NULL}},
    .options = served_options,
    .option_count = sizeof served_options / sizeof *served_options,
    .settings_size = sizeof(struct served_settings),
    .defaults = &served_defaults,
    .run = served_run,
};
