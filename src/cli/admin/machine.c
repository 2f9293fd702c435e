/* machine.c: berth machine: tells everything about one machine. */
#include "cli/admin/machine_words.h"
#include "cli/ask/connection.h"
#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "cli/term/rows.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "lang/base/nearest.h"
#include "lang/base/span.h"
#include "lang/text/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct machine_settings {
    struct connection_options pool;
    bool json, long_form;
};

#define S struct machine_settings
static const struct option machine_options[] = {
    {0, "json", NULL, "the machine as one JSON object; spans in seconds, amounts in bytes", option_flag,
     offsetof(S, json)},
    {0, "long", NULL, "all that is known of it, as an ad in the long form", option_flag, offsetof(S, long_form)},
    POOL_OPTION_ROWS(S),
};
#undef S

static const struct machine_settings machine_defaults = {0};

/* ---------------------------------------------------------------------------------------------------------- a line each */

static size_t line_begin(struct buf *out, const char *word)
{
    buf_addf(out, "  %-14s ", word);
    return out->len;
}

/* Ends a line, or takes it back when nothing was said. */
static void line_end(struct buf *out, size_t start, size_t from)
{
    text_tame(out, from);
    if (out->len == from)
        out->len = start;
    else
        buf_addc(out, '\n');
}

static void value_line(struct buf *out, const char *word, const struct tree *ad, const char *name, enum cell cell,
                       const char *behind)
{
    size_t start = out->len, from = line_begin(out, word);

    cell_print(out, ad, name, cell, 0);
    if (out->len > from)
        buf_adds(out, behind);
    line_end(out, start, from);
}

static void words_line(struct buf *out, const char *word, const char *text)
{
    size_t start = out->len, from = line_begin(out, word);

    buf_adds(out, text);
    line_end(out, start, from);
}

static void used_line(struct buf *out, const char *word, const struct tree *machine, const char *all, const char *used,
                      bool bytes)
{
    size_t start = out->len, from = line_begin(out, word);
    double much = 0;

    if (ad_number(machine, all, &much) && much > 0) {
        used_print(out, machine, all, used, bytes);
        buf_adds(out, " in use");
    }
    line_end(out, start, from);
}

static void size_lines(struct buf *out, const struct tree *machine)
{
    size_t start = out->len, from;
    double load;

    used_line(out, "processors", machine, "Cpus", "CpusUsed", false);
    used_line(out, "memory", machine, "Memory", "MemoryUsed", true);
    used_line(out, "disk", machine, "Disk", "DiskUsed", true);
    used_line(out, "GPUs", machine, "GpuCount", "GpusUsed", false);
    start = out->len;
    from = line_begin(out, "load");
    if (ad_number(machine, "LoadAvg", &load))
        buf_addf(out, "%.1f", load);
    line_end(out, start, from);
}

/* ------------------------------------------------------------------------------------------------------------ its jobs */

static void claim_print(struct buf *out, const struct tree *claim)
{
    double seconds;

    if (ad_find(claim, "Job"))
        buf_adds(out, "job ");
    cell_print(out, claim, ad_find(claim, "Job") ? "Job" : "Claim", CELL_VALUE, 0);
    if (ad_find(claim, "Owner")) {
        buf_adds(out, " of ");
        cell_print(out, claim, "Owner", CELL_VALUE, 0);
    }
    if (ad_number(claim, "Age", &seconds)) {
        buf_adds(out, " for ");
        span_say(out, seconds);
    }
    if (ad_number(claim, "Ends", &seconds)) {
        buf_adds(out, ", must end in ");
        span_say(out, seconds);
    } else {
        buf_adds(out, ", without a time limit");
    }
}

/* Of the jobs of others only the number is known. */
static void jobs_lines(struct buf *out, const struct tree *machine)
{
    const struct expr *list = ad_find(machine, "Claims");
    uint32_t known = list && list->kind == EXPR_LIST ? list->u.run.count : 0;
    int64_t jobs = 0, elsewhere = 0;
    size_t from;

    ad_integer(machine, "Jobs", &jobs);
    ad_integer(machine, "Elsewhere", &elsewhere);
    for (uint32_t i = 0; i < known; i++) {
        struct tree *claim = ad_part(machine, &tree_parts(machine, list)[i]);

        from = line_begin(out, i ? "" : "jobs");
        claim_print(out, claim);
        text_tame(out, from);
        buf_addc(out, '\n');
        tree_unref(claim);
    }
    if (jobs - elsewhere > known) {
        line_begin(out, known ? "" : "jobs");
        buf_addf(out, "%lld%s of others\n", (long long)(jobs - elsewhere - known), known ? " more" : "");
    }
    if (elsewhere > 0) {
        line_begin(out, jobs > elsewhere ? "" : "jobs");
        buf_addf(out, "%lld of other pools\n", (long long)elsewhere);
    }
    if (!jobs)
        words_line(out, "jobs", "none");
}

/* --------------------------------------------------------------------------------------------------------- its policy */

static void expr_line(struct buf *out, const char *word, const struct tree *ad, const char *name)
{
    const struct expr *e = ad ? ad_find(ad, name) : NULL;
    size_t from;

    if (!e)
        return;
    from = line_begin(out, word);
    print_expr(out, ad, e, 0);
    text_tame(out, from);
    buf_addc(out, '\n');
}

/* What its owner's policy says now, and until when. */
static void policy_now(struct buf *out, const struct tree *machine)
{
    enum machine_state state = MACHINE_AWAY;
    double seconds;
    bool sure = false;
    size_t start = out->len, from = line_begin(out, "policy");

    machine_state_of(machine, &state);
    if (state == MACHINE_OWNER && ad_number(machine, "Until", &seconds) && ad_flag(machine, "Sure", &sure) && sure) {
        buf_adds(out, "lets nobody in until ");
        moment_print(out, seconds);
    } else if (state == MACHINE_OWNER) {
        buf_adds(out, "lets nobody in now; nothing says until when");
    } else if (state <= MACHINE_BUSY && ad_number(machine, "Closes", &seconds)) {
        buf_adds(out, "lets jobs in until ");
        moment_print(out, seconds);
    } else if (state <= MACHINE_BUSY) {
        buf_adds(out, "lets jobs in, at any time");
    }
    line_end(out, start, from);
}

static void policy_lines(struct buf *out, const struct tree *machine)
{
    const struct expr *part = ad_find(machine, "Ad");
    struct tree *ad = part && part->kind == EXPR_AD ? ad_part(machine, part) : NULL;
    const struct expr *rank;
    bool shown = true;

    policy_now(out, machine);
    expr_line(out, "takes", ad, "Constraint");
    if (ad && (rank = ad_find(ad, "Rank")) && rank->kind != EXPR_INTEGER && rank->kind != EXPR_REAL)
        expr_line(out, "prefers", ad, "Rank");
    if (ad && ad_flag(ad, "ShowPolicy", &shown) && !shown && !ad_find(ad, "Constraint"))
        words_line(out, "takes", "its owner does not show whom");
    if (ad) {
        value_line(out, "unwell", ad, "Unwell", CELL_VALUE, "");
        value_line(out, "system", ad, "OpSysName", CELL_VALUE, "");
        value_line(out, "architecture", ad, "Arch", CELL_VALUE, "");
    }
    tree_unref(ad);
}

static void machine_print(struct buf *out, const struct tree *machine)
{
    enum machine_state state;
    bool pulls = false;
    size_t from = out->len;

    cell_print(out, machine, "Name", CELL_VALUE, 0);
    buf_adds(out, ": ");
    machine_standing_print(out, machine);
    text_tame(out, from);
    buf_addc(out, '\n');
    if (machine_state_of(machine, &state))
        words_line(out, "means", machine_state_meaning(state));
    value_line(out, "since", machine, "Since", CELL_SPAN_SAID, " ago");
    if (machine_state_of(machine, &state) && state == MACHINE_OWNER)
        value_line(out, "why", machine, "Words", CELL_VALUE, "");
    value_line(out, "last word", machine, "Heard", CELL_SPAN_SAID, " ago");
    value_line(out, "owner", machine, "Owner", CELL_VALUE, "");
    size_lines(out, machine);
    jobs_lines(out, machine);
    policy_lines(out, machine);
    if (ad_flag(machine, "Pulls", &pulls))
        words_line(out, "gets work", pulls ? "it asks for it by itself (pulls)" : "its matchmaker offers it");
    value_line(out, "id", machine, "Id", CELL_VALUE, "");
}

/* ---------------------------------------------------------------------------------------------------------------- asking */

/* The names that are known, to find the one that was meant. */
struct names {
    struct nearest nearest;
    char best[NEAREST_LEN_MAX + 1];
    uint64_t count;
};

static bool names_try(void *user, struct tree *machine)
{
    struct names *names = user;
    const char *text, *before = names->nearest.name;
    char name[NEAREST_LEN_MAX + 1];
    size_t len;

    names->count++;
    if (!ad_string(machine, "Name", &text, &len) || len > NEAREST_LEN_MAX)
        return true;
    snprintf(name, sizeof name, "%.*s", (int)len, text);
    nearest_try(&names->nearest, name);
    if (names->nearest.name != before) {
        memcpy(names->best, name, sizeof name);
        text_tame(&(struct buf){.text = names->best, .len = strlen(names->best)}, 0);
        names->nearest.name = names->best;
    }
    return true;
}

static int fail_unknown(struct connection *pool, const char *name)
{
    struct names names = {.count = 0};
    int status;

    nearest_init(&names.nearest, name, strlen(name));
    status = connection_list(pool, "/v1/machines?select=Name", 0, names_try, &names);
    if (status != STATUS_DONE)
        return status;
    if (names.nearest.name)
        report("no machine '%.60s' is known; did you mean '%s'?", name, names.best);
    else if (names.count)
        report("no machine '%.60s' is known; `berth machines --all` lists those that are", name);
    else
        report("no machine '%.60s' is known, nor any other", name);
    return STATUS_NO;
}

static int machine_ask(struct connection *pool, const char *name, enum rows_form form)
{
    struct connection_ask ask = {.may_miss = true, .hush = true};
    struct tree *machine = NULL;
    struct buf path, out;
    struct rows rows;
    int status;

    buf_init(&path);
    buf_init(&out);
    buf_adds(&path, "/v1/machines/");
    path_escape(&path, name);
    ask.path = buf_string(&path);
    status = connection_fetch_ad(pool, &ask, &machine);
    if (status == STATUS_NO) {
        status = fail_unknown(pool, name);
    } else if (status == STATUS_DONE && form == ROWS_TABLE) {
        machine_print(&out, machine);
        output_write(&out);
    } else if (status == STATUS_DONE) {
        rows_init(&rows, form, NULL, 0);
        rows_add(&rows, machine);
        rows_done(&rows);
    }
    tree_unref(machine);
    buf_done(&path);
    buf_done(&out);
    return status;
}

static int machine_run(const void *given, int word_count, char **words)
{
    const struct machine_settings *settings = given;
    struct connection pool;
    enum rows_form form;
    int status;

    if (word_count != 1 || !*words[0]) {
        report("machine wants the NAME of one machine; `berth machines` lists them");
        return STATUS_BAD;
    }
    if (rows_form(settings->json, settings->long_form, &form) < 0)
        return STATUS_BAD;
    status = connection_open(&pool, &settings->pool);
    if (status == STATUS_DONE)
        status = machine_ask(&pool, words[0], form);
    connection_close(&pool);
    return status;
}

const struct command command_machine = {
    .name = "machine",
    .summary = "tell everything about one machine",
    .usage = "[OPTIONS] NAME",
    .about =
        "Prints what the pool knows of the machine of that name, or of the offer of that id: its state, what that means, and since "
        "when; what is in use of all that it has; its jobs, how long each has held its part and when it must end; whether its owner "
        "lets jobs in now, and when that changes; whom it takes; and whether it asks for work by itself. Of the jobs of others "
        "only the number is told, except to the machine's owner and to administrators; an owner who says ShowPolicy = false in "
        "the machine's ad shows its policy to nobody else.\n"
        "\n"
        "The status is 1 when no such machine is known. `berth agent NAME status` asks the machine itself.",
    .examples = {{"berth machine heron", NULL}, {"berth machine heron --json", NULL}},
    .options = machine_options,
    .option_count = sizeof machine_options / sizeof *machine_options,
    .settings_size = sizeof(struct machine_settings),
    .defaults = &machine_defaults,
    .run = machine_run,
};
