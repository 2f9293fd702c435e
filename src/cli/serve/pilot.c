/* pilot.c: berth pilot: submits providers to a batch system, keeps them there, and lists them. */
#include "cli/serve/pilot.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/make.h"
#include "lang/ad/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int option_pilots(const char *text, void *target, struct err *err)
{
    return option_count_to(text, PILOT_COUNT_MAX, target, err);
}

static int option_cores(const char *text, void *target, struct err *err)
{
    return option_count_to(text, 100000, target, err);
}

static int option_figure(const char *text, void *target, struct err *err)
{
    char *end;
    double figure = strtod(text, &end);

    if (end == text || *end || !isfinite(figure) || figure < 0)
        return err_set(err, "expected a number from 0 on, got '%.60s'", text);
    *(double *)target = figure;
    return 0;
}

/* Reads a setting for pilots; there must be a setting of that name. */
static int option_setting(const char *text, void *target, struct err *err)
{
    const char *equals = strchr(text, '=');
    struct option_words *words = target;

    if (!equals || equals == text)
        return err_set(err, "expected KEY=VALUE, got '%.60s'", text);
    if (config_find(text, (size_t)(equals - text)) < 0)
        return err_set(err, "there is no setting '%.*s'", (int)(equals - text > 60 ? 60 : equals - text), text);
    if (words->count == CONFIG_OPTIONS_MAX / 2)
        return err_set(err, "more than %d settings; put them into a file", CONFIG_OPTIONS_MAX / 2);
    return option_word(text, target, err);
}

#define S struct pilot_options
static const struct option pilot_options[] = {
    {0, "slurm", NULL, "submit to Slurm", option_flag, offsetof(S, slurm)},
    {0, "batch", "FILE", "submit to the batch system whose commands this table has: examples/batch", option_once,
     offsetof(S, batch)},
    {'n', "count", "N", "so many pilots; with --when, at most; 1 if not given", option_pilots, offsetof(S, count)},
    {0, "when", "EXPR",
     "stay, and keep pilots waiting only while it is true of the pool and the batch system; \"default\": while there is work "
     "for them and free processors",
     option_text, offsetof(S, when)},
    {0, "every", "SPAN", "with --when: how often it looks; 30 s if not given", option_span, offsetof(S, every)},
    {0, "like", "FILE", "with --when: an ad of what a pilot will find there, where it differs from this machine",
     option_file, offsetof(S, like)},
    {0, "once", NULL, "a pilot takes one job at most", option_flag, offsetof(S, once)},
    {0, "time", "SPAN", "how long the batch job may take; 1 h if not given", option_span, offsetof(S, time)},
    {0, "idle", "SPAN", "a pilot that has had no work for so long leaves; 5 min if not given", option_span,
     offsetof(S, idle)},
    {0, "cpus", "N", "processors of a pilot; 1 if not given", option_cores, offsetof(S, cpus)},
    {0, "memory", "BYTES", "memory of a pilot; else the machine's, by its part of the processors", option_bytes,
     offsetof(S, memory)},
    {0, "least-time", "SPAN", "with less left a pilot asks for no more jobs, or leaves at once; 1 min if not given",
     option_span, offsetof(S, least.time)},
    {0, "least-disk", "BYTES", "with less free it leaves at once; 1 GiB if not given", option_bytes,
     offsetof(S, least.disk)},
    {0, "least-memory", "BYTES", "likewise; 256 MiB if not given", option_bytes, offsetof(S, least.memory)},
    {0, "least-benchmark", "X", "on a slower machine it leaves at once", option_figure, offsetof(S, least.benchmark)},
    {0, "token-life", "SPAN", "how long a pilot's token is good, from now on; else --time and a day for waiting",
     option_span, offsetof(S, life)},
    {0, "batch-option", "WORD", "one more word for the batch system's command, as --partition=long; may be repeated",
     option_word, offsetof(S, options)},
    {0, "set", "KEY=VALUE", "any setting, for the pilots; may be repeated", option_setting, offsetof(S, settings)},
    {0, "folder", "FOLDER",
     "where pilots find their token and orders, seen by the batch system's machines too; else STATE/pilots",
     option_file, offsetof(S, folder)},
    {0, "scratch", "FOLDER", "where a pilot works; else $SLURM_TMPDIR, $TMPDIR or /tmp there", option_file,
     offsetof(S, scratch)},
    {0, "program", "FILE", "what berth is called on the batch system's machines, if not as here", option_file,
     offsetof(S, program)},
    {0, "run", "FOLDER", "be a pilot, inside of a batch job: what the batch system is given to run", option_once,
     offsetof(S, run)},
    {0, "json", NULL, "status: JSON lines, an object a pilot", option_flag, offsetof(S, json)},
    {0, "long", NULL, "status: ads in the long form", option_flag, offsetof(S, long_form)},
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct pilot_options pilot_defaults = {.count = 1,
                                                    .cpus = 1,
                                                    .time = 3600,
                                                    .idle = 300,
                                                    .every = 30,
                                                    .least = {.disk = 1 << 30, .memory = 256 << 20, .time = 60}};

/* --------------------------------------------------------------------------------------------------------- submitting */

static int submit_all(struct fleet *fleet)
{
    char id[CLUSTER_ID_MAX + 1];
    struct err err = {0};
    struct buf line;
    int status = fleet_lead(fleet);

    if (status == STATUS_DONE)
        status = connection_knock(&fleet->pool);
    for (uint64_t i = 0; i < fleet->options->count && status == STATUS_DONE; i++) {
        if (fleet_submit(fleet, id, &err) < 0) {
            report("%s", err.text);
            if (i)
                report("%llu of %llu pilots were submitted", (unsigned long long)i,
                       (unsigned long long)fleet->options->count);
            return STATUS_BAD;
        }
        buf_init(&line);
        buf_addf(&line, "submitted a pilot, batch job %s\n", id);
        output_write(&line);
        buf_done(&line);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------- status, stop */

static const char *const state_words[] = {"pending", "running", "gone"};

static struct tree *member_ad(struct symbols *symbols, const struct pilot_member *member)
{
    struct maker maker;

    maker_init(&maker, symbols);
    maker_text(&maker, "Name", member->name);
    maker_text(&maker, "BatchJob", *member->id ? member->id : NULL);
    maker_text(&maker, "State", state_words[member->state]);
    maker_flag(&maker, "Connected", member->connected && member->state != CLUSTER_GONE);
    if (*member->left || member->state == CLUSTER_GONE)
        maker_text(&maker, "Left", *member->left ? member->left : "it did not say why; its log may");
    else if (*member->note)
        maker_text(&maker, "Note", member->note);
    return maker_seal(&maker);
}

static const struct table_column member_columns[] = {
    {"name", "Name", CELL_VALUE},      {"job", "BatchJob", CELL_VALUE}, {"state", "State", CELL_VALUE},
    {"pool", "Connected", CELL_VALUE}, {"note", "Note", CELL_VALUE},    {"left", "Left", CELL_VALUE},
};

static int by_name(const void *a, const void *b)
{
    const struct pilot_member *left = a, *right = b;

    return left->state != right->state ? (int)left->state - (int)right->state : strcmp(left->name, right->name);
}

/* Prints the pilots. When the pool does not answer, the list has what the batch system says. */
static int members_print(struct fleet *fleet)
{
    enum rows_form form;
    struct rows rows;
    struct err err = {0};
    int status;

    if (rows_form(fleet->options->json, fleet->options->long_form, &form) < 0)
        return STATUS_BAD;
    if (fleet_look(fleet, &err) < 0) {
        report("%s", err.text);
        return STATUS_BAD;
    }
    status = fleet_ask_pool(fleet);
    qsort(fleet->members, fleet->count, sizeof *fleet->members, by_name);
    rows_init(&rows, form, member_columns, sizeof member_columns / sizeof *member_columns);
    for (size_t i = 0; i < fleet->count; i++) {
        struct tree *ad = member_ad(fleet->pool.symbols, &fleet->members[i]);

        rows_add(&rows, ad);
        tree_unref(ad);
    }
    rows_finish(&rows);
    rows_done(&rows);
    fleet_tidy(fleet);
    return status;
}

static bool is_named(const struct pilot_member *member, int word_count, char **words)
{
    for (int i = 0; i < word_count; i++)
        if (!strcmp(member->name, words[i]) || !strcmp(member->id, words[i]))
            return true;
    return !word_count;
}

static int members_stop(struct fleet *fleet, int word_count, char **words)
{
    struct err err = {0};
    struct buf line;
    int status = STATUS_NO;

    if (fleet_look(fleet, &err) < 0) {
        report("%s", err.text);
        return STATUS_BAD;
    }
    for (size_t i = 0; i < fleet->count; i++) {
        struct pilot_member *member = &fleet->members[i];

        if (member->state == CLUSTER_GONE || !*member->id || !is_named(member, word_count, words))
            continue;
        if (fleet_cancel(fleet, member, &err) < 0) {
            report("%s", err.text);
            return STATUS_BAD;
        }
        buf_init(&line);
        buf_addf(&line, "cancelled batch job %s of %s\n", member->id, member->name);
        output_write(&line);
        buf_done(&line);
        status = STATUS_DONE;
    }
    if (status == STATUS_NO)
        report("there is no such pilot");
    return status;
}

/* --------------------------------------------------------------------------------------------------------- the command */

static int fleet_do(struct fleet *fleet, int word_count, char **words)
{
    if (word_count == 1 && !strcmp(words[0], "status"))
        return members_print(fleet);
    if (word_count && !strcmp(words[0], "stop"))
        return members_stop(fleet, word_count - 1, words + 1);
    return fleet->options->when ? pilot_keep(fleet) : submit_all(fleet);
}

static int pilot_command(const void *given, int word_count, char **words)
{
    struct pilot_options options = *(const struct pilot_options *)given;
    struct fleet fleet;
    int status;

    if (options.run && !word_count)
        return pilot_run(options.run);
    if (word_count && strcmp(words[0], "stop") != 0 && (strcmp(words[0], "status") != 0 || word_count > 1)) {
        report("pilot takes options, and at most one of the words status and stop");
        return STATUS_BAD;
    }
    if (options.slurm == !!options.batch) {
        report("pilot wants --slurm, or --batch FILE with the table of another batch system");
        return STATUS_BAD;
    }
    if (options.when && !strcmp(options.when, "default"))
        options.when = pilot_when;
    status = fleet_open(&fleet, &options);
    if (status == STATUS_DONE)
        status = fleet_do(&fleet, word_count, words);
    fleet_close(&fleet);
    return status;
}

const struct command command_pilot = {
    .name = "pilot",
    .summary = "have a batch system run providers, while there is work",
    .usage = "--slurm | --batch FILE [OPTIONS]\n--slurm | --batch FILE --when EXPR [OPTIONS]\n--slurm | --batch FILE "
             "status [OPTIONS]\n--slurm | --batch FILE stop [NAME...]",
    .about =
        "Submits pilots to a batch system. A pilot is this program, run by the batch system on one of its machines: it looks "
        "whether there is enough disk, memory and time, and whether its token lasts; takes a benchmark of half a second; and "
        "then asks the pool for jobs until its time is up, nobody has work for it, or it has run the one job of --once. It "
        "leaves saying why. It calls out, and is never called.\n"
        "\n"
        "A pilot has a token of its own, narrower than that of whoever submits it, in a folder that only they may read. It "
        "offers the machine with TimeLeft, Benchmark, Pilot = true and BatchJob in its ad. A job that says a TimeLimit longer than "
        "TimeLeft is not started.\n"
        "\n"
        "With --when the command stays, and submits pilots only while EXPR is true; when it is false, it cancels those that "
        "wait in the queue. EXPR sees, of the pool, Idle (jobs that wait and that a pilot could run), Claimed, IdlePilots; of "
        "pilots PendingPilots, RunningPilots, Pilots, PilotCpus; of the batch system BatchPending, BatchRunning, BatchCores, BatchFree. `status` lists "
        "pilots, by the batch system and by the pool; `stop` cancels them.",
    .examples = {{"berth pilot --slurm --count 4 --time 2h", NULL},
                 {"berth pilot --slurm --count 50 --when default", NULL},
                 {"berth pilot --slurm --count 50 --when 'Idle > 10 && BatchPending == 0'", NULL},
                 {"berth pilot --batch examples/batch/pbs.ad status", NULL}},
    .options = pilot_options,
    .option_count = sizeof pilot_options / sizeof *pilot_options,
    .settings_size = sizeof(struct pilot_options),
    .defaults = &pilot_defaults,
    .run = pilot_command,
};
