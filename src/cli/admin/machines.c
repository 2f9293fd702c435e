/* machines.c: berth machines: how each machine of a pool stands, whether or not it has room. */
#include "cli/admin/machine_words.h"
#include "cli/ask/connection.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "cli/term/terminal.h"
#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/natural.h"
#include "lang/base/span.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define WATCH_PAUSE 2    /* seconds between two looks; a look that takes long is followed by a longer pause */
#define WATCH_SHARE 10   /* a look takes at most this part of the time */
#define WATCH_LINES 4    /* of a screen that are not rows */
#define SORTED_MAX 20000 /* machines that are shown by name */

struct machines_settings {
    struct connection_options pool;
    const char *constraint;
    uint64_t limit;
    bool json, long_form, watch, all;
};

#define S struct machines_settings
static const struct option machines_options[] = {
    {'c', "constraint", "EXPR", "only those for which it is true", option_text, offsetof(S, constraint)},
    {'n', "limit", "N", "the first N by name; all if not given", option_limit, offsetof(S, limit)},
    {'a', "all", NULL, "whatever is offered, not only machines: licences, storage", option_flag, offsetof(S, all)},
    {'w', "watch", NULL, "again and again, until Ctrl-C", option_flag, offsetof(S, watch)},
    {0, "json", NULL, "JSON lines: an object a row; spans in seconds, amounts in bytes", option_flag,
     offsetof(S, json)},
    {0, "long", NULL, "all that is listed of each, as ads in the long form", option_flag, offsetof(S, long_form)},
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct machines_settings machines_defaults = {0};

static const char *const table_names[] = {"name", "state", "cpus",  "memory", "gpus",
                                          "load", "jobs",  "owner", "since",  "note"};
#define TABLE_NAMES (sizeof table_names / sizeof *table_names)

static const struct table_column json_columns[] = {
    {"name", "Name", CELL_VALUE},     {"type", "Type", CELL_VALUE},
    {"state", "State", CELL_VALUE},   {"since", "Since", CELL_SPAN},
    {"until", "Until", CELL_SPAN},    {"closes", "Closes", CELL_SPAN},
    {"words", "Words", CELL_VALUE},   {"pulls", "Pulls", CELL_VALUE},
    {"cpus", "Cpus", CELL_VALUE},     {"cpus_used", "CpusUsed", CELL_VALUE},
    {"memory", "Memory", CELL_VALUE}, {"memory_used", "MemoryUsed", CELL_VALUE},
    {"disk", "Disk", CELL_VALUE},     {"disk_used", "DiskUsed", CELL_VALUE},
    {"gpus", "GpuCount", CELL_VALUE}, {"gpus_used", "GpusUsed", CELL_VALUE},
    {"load", "LoadAvg", CELL_VALUE},  {"jobs", "Jobs", CELL_VALUE},
    {"ends", "Ends", CELL_SPAN},      {"owner", "Owner", CELL_VALUE},
    {"heard", "Heard", CELL_SPAN},    {"id", "Id", CELL_VALUE},
};
#define JSON_COLUMNS (sizeof json_columns / sizeof *json_columns)

/* ---------------------------------------------------------------------------------------------------------------- totals */

enum { CPUS, MEMORY, GPUS, TOTALS };
static const struct {
    const char *all, *used, *behind;
} totals[TOTALS] = {
    {"Cpus", "CpusUsed", " processors"}, {"Memory", "MemoryUsed", " of memory"}, {"GpuCount", "GpusUsed", " GPUs"}};

/* What is listed, as it comes. */
struct listing {
    const struct machines_settings *settings;
    struct rows rows;   /* in the forms of programs */
    struct table table; /* for people */
    enum rows_form form;
    uint64_t count;    /* machines so far */
    uint64_t rows_max; /* rows that are shown; 0: all */
    uint64_t by_state[MACHINE_STATE_COUNT];
    double all[TOTALS], used[TOTALS];
    struct tree **held; /* those that have come, for they are shown by name */
    uint32_t held_count, held_room;
    bool too_many; /* for that */
};

static void totals_add(struct listing *list, const struct tree *machine)
{
    enum machine_state state = MACHINE_AWAY;
    double all, used;

    if (machine_state_of(machine, &state))
        list->by_state[state]++;
    for (int i = 0; i < TOTALS && state != MACHINE_AWAY; i++) {
        if (!ad_number(machine, totals[i].all, &all) || !(all > 0) || !(all < 1e18))
            continue;
        list->all[i] += all;
        if (ad_number(machine, totals[i].used, &used) && used > 0)
            list->used[i] += used < all ? used : all;
    }
}

/* "3 machines: 1 Idle, 2 Busy; in use: 6 of 10 processors, 12 of 40 GiB of memory" */
static void totals_print(const struct listing *list)
{
    const char *before = ": ";
    struct buf out;

    buf_init(&out);
    buf_addf(&out, "%llu %s%s", (unsigned long long)list->count, list->settings->all ? "offer" : "machine",
             list->count == 1 ? "" : "s");
    for (int i = 0; i < MACHINE_STATE_COUNT; i++) {
        if (!list->by_state[i])
            continue;
        buf_addf(&out, "%s%llu %s", before, (unsigned long long)list->by_state[i], machine_state_word(i));
        before = ", ";
    }
    before = "; in use: ";
    for (int i = 0; i < TOTALS; i++) {
        if (!(list->all[i] > 0))
            continue;
        buf_adds(&out, before);
        amount_print(&out, list->used[i], list->all[i], i == MEMORY);
        buf_adds(&out, totals[i].behind);
        before = ", ";
    }
    buf_addc(&out, '\n');
    output_write(&out);
    buf_done(&out);
}

/* ------------------------------------------------------------------------------------------------------------------ rows */

static void cell_add(struct table *table, struct buf *text)
{
    table_text(table, text->text ? text->text : "", text->len);
    buf_reset(text);
}

static enum table_tone state_tone(enum machine_state state)
{
    return state == MACHINE_SICK || state == MACHINE_AWAY ? TABLE_BAD
           : state <= MACHINE_BUSY                        ? TABLE_GOOD
                                                          : TABLE_PLAIN;
}

static void row_add(struct table *table, const struct tree *machine)
{
    enum machine_state state = MACHINE_OWNER;
    double gpus = 0, load;
    struct buf text;

    buf_init(&text);
    cell_print(&text, machine, "Name", CELL_VALUE, 0);
    cell_add(table, &text);
    machine_state_of(machine, &state);
    cell_print(&text, machine, "State", CELL_VALUE, 0);
    cell_add(table, &text);
    table_tone(table, state_tone(state));
    used_print(&text, machine, "Cpus", "CpusUsed", false);
    cell_add(table, &text);
    used_print(&text, machine, "Memory", "MemoryUsed", true);
    cell_add(table, &text);
    if (ad_number(machine, "GpuCount", &gpus) && gpus > 0)
        used_print(&text, machine, "GpuCount", "GpusUsed", false);
    cell_add(table, &text);
    if (ad_number(machine, "LoadAvg", &load))
        table_number(table, "%.1f", load);
    else
        cell_add(table, &text);
    cell_print(&text, machine, "Jobs", CELL_VALUE, 0);
    table_number(table, "%.20s", buf_string(&text));
    buf_reset(&text);
    cell_print(&text, machine, "Owner", CELL_VALUE, 0);
    cell_add(table, &text);
    cell_print(&text, machine, "Since", CELL_SPAN, 0);
    cell_add(table, &text);
    machine_note_print(&text, machine);
    cell_add(table, &text);
    buf_done(&text);
}

static bool is_machine(const struct tree *ad)
{
    const char *type;
    size_t len;

    return ad_string(ad, "Type", &type, &len) && len == 7 && !strncasecmp(type, "Machine", 7);
}

static bool machine_show(struct listing *list, struct tree *machine)
{
    uint64_t limit = list->settings->limit;

    if (limit && list->count == limit)
        return false;
    list->count++;
    if (list->form != ROWS_TABLE)
        return rows_add(&list->rows, machine);
    totals_add(list, machine);
    if (list->rows_max && list->count > list->rows_max)
        return true;
    row_add(&list->table, machine);
    return list->count % ROWS_AT_ONCE || table_flush(&list->table) == 0;
}

/* ----------------------------------------------------------------------------------------------------------------- order */

static int names_compare(const void *a, const void *b)
{
    const struct tree *const *one = a, *const *other = b;
    const char *name = "", *other_name = "";
    size_t len = 0, other_len = 0;

    ad_string(*one, "Name", &name, &len);
    ad_string(*other, "Name", &other_name, &other_len);
    return natural_compare(name, len, other_name, other_len);
}

/* Shows those that are held. */
static bool held_show(struct listing *list)
{
    bool goes_on = true;

    for (uint32_t i = 0; i < list->held_count; i++) {
        goes_on = goes_on && machine_show(list, list->held[i]);
        tree_unref(list->held[i]);
    }
    list->held_count = 0;
    return goes_on;
}

/* Holds a machine until all are there; of a pool that is too large they are shown as they come. */
static bool listing_add(void *user, struct tree *machine)
{
    struct listing *list = user;

    if (!list->settings->all && !is_machine(machine))
        return true;
    if (list->too_many)
        return machine_show(list, machine);
    ARRAY_ROOM(list->held, list->held_count, list->held_room, 64);
    list->held[list->held_count++] = tree_ref(machine);
    list->too_many = list->held_count > SORTED_MAX;
    return !list->too_many || held_show(list);
}

static void listing_sort(struct listing *list)
{
    if (list->held_count)
        qsort(list->held, list->held_count, sizeof *list->held, names_compare);
    held_show(list);
    free(list->held);
}

/* ---------------------------------------------------------------------------------------------------------------- listing */

/* A matchmaker that has just begun has not heard of all machines yet: then that is said. */
static void learns_print(struct connection *pool)
{
    struct connection_ask ask = {.path = "/v1/status", .may_miss = true, .hush = true, .quiet = true};
    struct tree *status = NULL;
    double up;

    if (connection_fetch_ad(pool, &ask, &status) == STATUS_DONE && ad_find(status, "Learns") &&
        ad_number(status, "Up", &up)) {
        struct buf out;

        buf_init(&out);
        buf_adds(&out, "The matchmaker began ");
        span_say(&out, up);
        buf_adds(&out, " ago: not all machines may have been heard of yet.\n");
        output_write(&out);
        buf_done(&out);
    }
    tree_unref(status);
}

static int listing_print(struct connection *pool, const struct machines_settings *settings, enum rows_form form,
                         uint64_t rows_max)
{
    struct listing list = {.settings = settings, .form = form, .rows_max = rows_max};
    struct buf path;
    int status;

    buf_init(&path);
    buf_adds(&path, "/v1/machines");
    path_query(&path, "constraint", settings->constraint);
    rows_init(&list.rows, form, form == ROWS_JSON ? json_columns : NULL, form == ROWS_JSON ? JSON_COLUMNS : 0);
    table_init(&list.table, table_names, TABLE_NAMES, false);
    status = connection_list(pool, buf_string(&path), 0, listing_add, &list);
    listing_sort(&list);
    if (form != ROWS_TABLE) {
        rows_finish(&list.rows);
    } else if (status == STATUS_DONE) {
        struct buf out;

        table_finish(&list.table);
        buf_init(&out);
        if (rows_max && list.count > rows_max)
            buf_addf(&out, "... and %llu more\n", (unsigned long long)(list.count - rows_max));
        output_write(&out);
        buf_done(&out);
        totals_print(&list);
        learns_print(pool);
    }
    if (status == STATUS_DONE && !list.count && settings->constraint)
        status = STATUS_NO;
    rows_done(&list.rows);
    table_done(&list.table);
    buf_done(&path);
    return status;
}

/* Seconds on a clock that is never set. */
static int64_t steady_seconds(void)
{
    struct timespec now = {0};

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static int machines_watch(struct connection *pool, const struct machines_settings *settings)
{
    int status = STATUS_DONE;

    for (bool first = true; status != STATUS_BAD && status != STATUS_UNREACHABLE; first = false) {
        int64_t began = steady_seconds();
        size_t columns, lines;
        bool clears = terminal_size(STDOUT_FILENO, &columns, &lines);
        struct buf out;

        buf_init(&out);
        buf_adds(&out, clears ? "\033[H\033[2J" : first ? "" : "\n");
        output_write(&out);
        buf_done(&out);
        status = listing_print(pool, settings, ROWS_TABLE, lines > WATCH_LINES ? lines - WATCH_LINES : 0);
        if (output_flush() < 0)
            break;
        sleep((unsigned)(WATCH_PAUSE + WATCH_SHARE * (steady_seconds() - began)));
    }
    return status;
}

static int machines_run(const void *given, int word_count, char **words)
{
    const struct machines_settings *settings = given;
    struct connection pool;
    enum rows_form form;
    int status;

    if (word_count) {
        report("machines takes no arguments, only options; `berth machine %.60s` tells of one", words[0]);
        return STATUS_BAD;
    }
    if (rows_form(settings->json, settings->long_form, &form) < 0)
        return STATUS_BAD;
    if (settings->watch && form != ROWS_TABLE) {
        report("--watch shows a table: --json and --long do not go with it");
        return STATUS_BAD;
    }
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = settings->watch ? machines_watch(&pool, settings) : listing_print(&pool, settings, form, 0);
    connection_close(&pool);
    return status;
}

const struct command command_machines = {
    .name = "machines",
    .summary = "list the machines of a pool, and how each stands",
    .usage = "[OPTIONS]",
    .about =
        "Prints a row a machine, whether or not it has room: its state, processors, memory and GPUs in use of all that it has, its "
        "load, how many jobs hold something of it, whose it is, since when it stands so, and a note: until when its owner lets "
        "nobody in, what a sick one lacks, when one that is away was last heard of, when the first job of a busy one must end. "
        "They come by name, numbers in names by their value: node2 before node10 (of more than 20,000, as the pool has come to know them). "
        "Then a line that counts them; what those that are away have is not in it. `berth machine NAME` tells more of one.\n"
        "\n"
        "The states: Idle (nothing of it is in use), Part (a part is, and the rest may be had), Busy (what is left accepts nobody), "
        "Owner (its owner lets nobody in now), Drained (it was told to take no more), Sick (it cannot run jobs now), Away (nothing "
        "has been heard of it for a lifetime).",
    .examples = {{"berth machines", NULL},
                 {"berth machines --watch", NULL},
                 {"berth machines -c 'State == \"Idle\" && GpuCount > 0'", NULL},
                 {"berth machines --all --json", NULL}},
    .options = machines_options,
    .option_count = sizeof machines_options / sizeof *machines_options,
    .settings_size = sizeof(struct machines_settings),
    .defaults = &machines_defaults,
    .run = machines_run,
};
