/* job_edit.c: berth edit and prio: change attributes of jobs that wait, or of what is to come of those that run. */
#include "cli/jobs/job_control.h"
#include "cli/term/command.h"
#include "cli/term/report.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/text/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define S struct jobs_which
static const struct option edit_options[] = {JOBS_WHICH_ROWS(S)};
#undef S
static const struct jobs_which edit_defaults = {0};

/* How long the name is of a word NAME=EXPR; 0: it is none. */
static size_t name_len(const char *word)
{
    size_t len = 0;

    while (isalnum((unsigned char)word[len]) || word[len] == '_')
        len++;
    return len && !isdigit((unsigned char)*word) && word[len] == '=' && word[len + 1] != '=' ? len : 0;
}

/* Adds NAME = EXPR; -1: it does not parse, which has been reported. */
static int setting_add(struct maker *maker, const char *word)
{
    struct parse_options options = {.cells_max = PARSE_CELLS_MAX};
    size_t len = name_len(word);
    const char *text = word + len + 1;
    struct err err = {0};
    struct build build;
    struct tree *value;
    char *name;

    build_init(&build, maker->build.symbols, &dialect_classic);
    value = parse_expr(&build, &options, text, strlen(text), &err);
    build_done(&build);
    name = mem_dup(word, len);
    if (value)
        maker_ad(maker, name, value);
    else
        report_error(name, &err, text, strlen(text));
    free(name);
    tree_unref(value);
    return value ? 0 : -1;
}

struct tree *jobs_settings(struct symbols *symbols, char **words, int count)
{
    struct maker maker;
    int failed = 0;

    maker_init(&maker, symbols);
    for (int i = 0; i < count && !failed; i++)
        failed = setting_add(&maker, words[i]);
    if (!failed)
        return maker_seal(&maker);
    tree_unref(maker_seal(&maker));
    return NULL;
}

static int edit_run(const void *given, int word_count, char **words)
{
    struct jobs_order order = {.verb = "edit"};
    char **ids = mem_alloc(((size_t)word_count + 1) * 2 * sizeof *ids), **settings = ids + word_count + 1;
    int id_count = 0, status = STATUS_BAD;

    for (int i = 0; i < word_count; i++)
        if (name_len(words[i]))
            settings[order.setting_count++] = words[i];
        else
            ids[id_count++] = words[i];
    order.settings = settings;
    if (!order.setting_count)
        report("edit wants NAME=EXPR, what is to be changed");
    else
        status = jobs_change(given, &order, "edit", "edited", id_count, ids);
    free(ids);
    return status;
}

/* N, or +N and -N for what is added, or =N. */
static bool priority_read(const char *word, struct jobs_order *order)
{
    bool equals = *word == '=', sign = *word == '+' || *word == '-';
    const char *digits = word + (equals || sign);
    char *end;

    if (equals && *digits == '-')
        digits++;
    errno = 0;
    order->number = strtoll(word + equals, &end, 10);
    order->number_name = sign ? "Change" : "Priority";
    return isdigit((unsigned char)*digits) && !*end && !errno;
}

static int prio_run(const void *given, int word_count, char **words)
{
    struct jobs_order order = {.verb = "prio"};

    if (!word_count || !priority_read(words[word_count - 1], &order)) {
        report("prio wants a priority as its last word: N, or +N or -N for what is added to it, or =N");
        return STATUS_BAD;
    }
    return jobs_change(given, &order, "prio", "changed", word_count - 1, words);
}

const struct command command_edit = {
    .name = "edit",
    .summary = "change attributes of jobs",
    .usage = "[OPTIONS] ID... NAME=EXPR...\n[OPTIONS] --constraint EXPR NAME=EXPR...",
    .about =
        "Sets attributes of jobs that are not over; `undefined` takes one away. EXPR is an expression: a text stands in quotes of its own, and amounts are in bytes. The change is on disk when "
        "the command ends. A job that runs goes on as it was begun: what was changed holds from its next start on, and at once for what is looked at from time to time or when a try ends (PeriodicHold, "
        "OnExitRemove, MaxRetries).\n"
        "\n"
        "What was settled when the job was submitted is refused by name: its owner, its input files, its secrets and image, its workflow. What it runs and where its outputs go (Cmd, Args, Env, Out, "
        "Outputs) cannot be changed while it runs. The status is 1 when no job was edited, or a number is that of no job.",
    .examples = {{"berth edit 5 RequestMemory=8589934592 'Rank=other.Mips'", NULL},
                 {"berth edit -c 'State == \"Held\"' 'Args={\"--seed\", \"7\"}'", NULL},
                 {"berth edit 5 ConcurrencyLimits=undefined", NULL}},
    .options = edit_options,
    .option_count = sizeof edit_options / sizeof *edit_options,
    .settings_size = sizeof(struct jobs_which),
    .defaults = &edit_defaults,
    .run = edit_run,
};

const struct command command_prio = {
    .name = "prio",
    .summary = "change the priority of jobs among those of their owner",
    .usage = "[OPTIONS] ID... N\n[OPTIONS] ID... +N\n[OPTIONS] --constraint EXPR N",
    .about =
        "Jobs with a higher priority are offered first; it is 0 if nothing was said. +N and -N change it by so much, "
        "=-5 sets one below 0. One's priority over others is not changed by that: `berth users`. The status is 1 when no "
        "job was changed, or a number is that of no job.",
    .examples = {{"berth prio 5-20 10", NULL}, {"berth prio 7 -- -1", NULL}},
    .options = edit_options,
    .option_count = sizeof edit_options / sizeof *edit_options,
    .settings_size = sizeof(struct jobs_which),
    .defaults = &edit_defaults,
    .run = prio_run,
};
