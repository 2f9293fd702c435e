/* pilot_keep.c: berth pilot --when: keeps as many pilots as are wanted, while an expression about the pool and the batch system is true.
 *
 *     true   a pilot is submitted, and the expression is evaluated again: until it is not true any more, or there are --count pilots
 *     false  a pilot that still waits in the batch system's queue is cancelled, if it is false without that pilot too. Those that run end by
 *            themselves
 *     else   (undefined, error: the pool or the batch system does not answer) nothing is done
 *
 * Each decision is a line on standard output. */
#include "cli/serve/pilot.h"

#include "cli/term/command.h"
#include "cli/term/file.h"
#include "cli/term/report.h"
#include "exec/guard.h"
#include "exec/policy.h"
#include "exec/probe.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/form/form.h"
#include "lang/text/parse.h"
#include "match/pair/match.h"
#include "match/pair/pair.h"
#include "pool/protocol/writers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RENEWAL_LOOKS 16 /* at the tokens of pilots, in the life of one */

/* The default: there is work that no pilot waits for, and the batch system has free processors that nobody else waits for. */
const char pilot_when[] =
    "Idle > (IdlePilots + PendingPilots) * PilotCpus && BatchFree > 0 && BatchPending <= PendingPilots";

struct keeper {
    struct fleet *fleet;
    struct tree *when, *likely; /* likely: what a pilot will offer */
    struct arena arena;
    struct cluster_load load;
    int64_t waiting;                      /* requests that a pilot could serve; -1: not known */
    int64_t pending, running, idle, busy; /* pilots */
    char said[ERR_TEXT_MAX];              /* the last error, so that it is reported once */
    unsigned rounds;
    int64_t renewed; /* when tokens were last looked at */
};

/* -------------------------------------------------------------------------------------------------------------- demand */

/* Makes what a pilot says over what the machine is, as pilot_run.c does, except for what is not known here. */
static struct tree *likely_own(struct symbols *symbols, const struct pilot_options *options, const struct tree *probed,
                               struct err *err)
{
    int64_t cpus = 1, memory = 0, left = options->time - pilot_margin(options->time);
    struct tree *own;
    struct buf text;

    ad_integer(probed, "Cpus", &cpus);
    ad_integer(probed, "Memory", &memory);
    memory = options->memory ? options->memory : pilot_part(memory, (int64_t)options->cpus, cpus);
    buf_init(&text);
    buf_addf(&text, "[ Pilot = true; Cpus = %llu; Memory = %lld; TimeLeft = %lld; TimeUp = false; ",
             (unsigned long long)options->cpus, (long long)memory, (long long)left);
    buf_adds(&text, "Constraint = other.Type == \"Job\" && Fits && "
                    "(isUndefined(other.TimeLimit) || int(other.TimeLimit) <= self.TimeLeft) ]");
    own = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, buf_string(&text), text.len, err);
    buf_done(&text);
    return own;
}

/* Lays one ad over another, and takes both; NULL when either is NULL. */
static struct tree *over_take(struct tree *below, struct tree *above, struct err *err)
{
    struct tree *both = below && above ? ad_over(below, above, err) : NULL;

    tree_unref(below);
    tree_unref(above);
    return both;
}

/* Makes the ad that a pilot may have: this machine with as much of it as is asked for, and the ad of --like over that. */
static struct tree *likely_make(struct keeper *keeper, struct err *err)
{
    const struct pilot_options *options = keeper->fleet->options;
    struct symbols *symbols = keeper->fleet->pool.symbols;
    struct probe_settings settings = {.root = "", .scratch = keeper->fleet->folder};
    struct prober *prober = prober_new(symbols, &settings, err);
    struct tree *probed = prober ? prober_probe(prober, 0) : NULL;
    struct tree *own = probed ? likely_own(symbols, options, probed, err) : NULL, *all;

    all = over_take(over_take(probed, policy_default(symbols), err), own, err);
    if (all && options->like)
        all = over_take(all, file_first_ad(symbols, &dialect_classic, options->like), err);
    prober_free(prober);
    return all;
}

static bool request_told(void *user, struct tree *ad)
{
    struct keeper *keeper = user;
    struct env env = {.now = time(NULL)};
    int64_t count = 1;

    if (!match_accepts(&env, &keeper->arena, keeper->likely, ad) ||
        !match_accepts(&env, &keeper->arena, ad, keeper->likely))
        return true;
    if (!ad_integer(ad, "Count", &count) || count < 1)
        count = 1;
    keeper->waiting += count;
    return true;
}

/* ------------------------------------------------------------------------------------------------------------- looking */

static void pilots_count(struct keeper *keeper)
{
    const struct fleet *fleet = keeper->fleet;

    keeper->pending = keeper->running = keeper->idle = keeper->busy = 0;
    for (size_t i = 0; i < fleet->count; i++) {
        const struct pilot_member *member = &fleet->members[i];

        keeper->pending += member->state == CLUSTER_PENDING;
        keeper->running += member->state == CLUSTER_RUNNING;
        if (member->state != CLUSTER_RUNNING)
            continue;
        keeper->busy += !strcmp(member->note, "busy");
        keeper->idle += !*member->note || !strcmp(member->note, "idle"); /* a pilot that has just begun is idle too */
    }
}

/* Looks at everything. -1 when the batch system does not answer. The pool may be away: then what it knows is undefined. */
static int look(struct keeper *keeper, struct err *err)
{
    struct fleet *fleet = keeper->fleet;

    keeper->load = (struct cluster_load){-1, -1, -1, -1};
    keeper->waiting = -1;
    if (fleet_look(fleet, err) < 0 || cluster_load(fleet->batch, &keeper->load, err) < 0)
        return -1;
    if (fleet_ask_pool(fleet) == STATUS_DONE) {
        keeper->waiting = 0;
        if (connection_list(&fleet->pool, "/v1/ads?kind=requests", 0, request_told, keeper) != STATUS_DONE)
            keeper->waiting = -1;
    }
    pilots_count(keeper);
    return 0;
}

static void known(struct maker *maker, const char *name, int64_t value)
{
    if (value >= 0)
        maker_integer(maker, name, value);
}

static struct tree *state_ad(const struct keeper *keeper)
{
    bool pool = keeper->waiting >= 0;
    struct maker maker;

    maker_init(&maker, keeper->fleet->pool.symbols);
    known(&maker, "Idle", keeper->waiting);
    known(&maker, "Claimed", pool ? keeper->busy : -1);
    known(&maker, "IdlePilots", pool ? keeper->idle : -1);
    known(&maker, "PendingPilots", keeper->pending);
    known(&maker, "RunningPilots", keeper->running);
    known(&maker, "Pilots", keeper->pending + keeper->running);
    known(&maker, "PilotCpus", (int64_t)keeper->fleet->options->cpus);
    known(&maker, "BatchPending", keeper->load.pending);
    known(&maker, "BatchRunning", keeper->load.running);
    known(&maker, "BatchCores", keeper->load.cores);
    known(&maker, "BatchFree", keeper->load.free);
    return maker_seal(&maker);
}

/* Evaluates the expression: 1 true, 0 false, -1 neither. When the pool does not answer, no pilot is submitted or cancelled, whatever the expression
 * is about. */
static int is_wanted(struct keeper *keeper)
{
    struct env env = {.now = time(NULL)};
    struct tree *ad = state_ad(keeper);
    struct arena_mark mark = arena_mark(&keeper->arena);
    struct value value;
    struct eval eval;
    struct pair pair;

    pair_init(&pair, ad, NULL);
    eval_init(&eval, &env, &keeper->arena);
    eval_tree(&eval, &pair.left, keeper->when, &value);
    arena_rewind(&keeper->arena, mark);
    tree_unref(ad);
    return value.type == VALUE_BOOLEAN && keeper->waiting >= 0 ? value.boolean : -1;
}

/* ------------------------------------------------------------------------------------------------------------ deciding */

static void number_words(struct buf *out, const char *name, int64_t value)
{
    if (value >= 0)
        buf_addf(out, "%s %lld, ", name, (long long)value);
    else
        buf_addf(out, "%s unknown, ", name);
}

static void numbers_words(struct buf *out, const struct keeper *keeper)
{
    number_words(out, "waiting", keeper->waiting);
    number_words(out, "idle pilots", keeper->idle);
    number_words(out, "busy", keeper->busy);
    number_words(out, "pending", keeper->pending);
    number_words(out, "batch: pending", keeper->load.pending);
    number_words(out, "running", keeper->load.running);
    number_words(out, "free cores", keeper->load.free);
    out->len -= 2;
}

static void say(const struct keeper *keeper, const char *decision)
{
    struct buf line;

    buf_init(&line);
    buf_addf(&line, "%s: ", decision);
    numbers_words(&line, keeper);
    buf_addc(&line, '\n');
    output_write(&line);
    output_flush();
    buf_done(&line);
}

/* Reports an error, unless it is the same as the last. */
static void complain(struct keeper *keeper, const char *why)
{
    if (strcmp(keeper->said, why) != 0)
        report("%s", why);
    snprintf(keeper->said, sizeof keeper->said, "%s", why);
}

/* Counts one more, or one less, in the queue. */
static void count_pending(struct keeper *keeper, int by)
{
    keeper->pending += by;
    if (keeper->load.pending >= 0)
        keeper->load.pending += by;
}

static void submit_wanted(struct keeper *keeper)
{
    struct fleet *fleet = keeper->fleet;
    char id[CLUSTER_ID_MAX + 1], words[CLUSTER_ID_MAX + 60];
    struct err err = {0};

    while (keeper->pending + keeper->running < (int64_t)fleet->options->count && is_wanted(keeper) == 1) {
        if (fleet_submit(fleet, id, &err) < 0) {
            complain(keeper, err.text);
            return;
        }
        snprintf(words, sizeof words, "submitted a pilot, batch job %s", id);
        say(keeper, words);
        count_pending(keeper, 1);
    }
}

static void cancel(struct keeper *keeper, struct pilot_member *member, const char *why)
{
    char words[CLUSTER_ID_MAX + 120];
    struct err err = {0};

    if (fleet_cancel(keeper->fleet, member, &err) < 0) {
        complain(keeper, err.text);
        return;
    }
    snprintf(words, sizeof words, "cancelled batch job %s, %s", member->id, why);
    say(keeper, words);
}

/* Cancels the pilots that would not be submitted now, if they were not there. */
static void cancel_unwanted(struct keeper *keeper)
{
    struct fleet *fleet = keeper->fleet;

    for (size_t i = 0; i < fleet->count; i++) {
        if (fleet->members[i].state != CLUSTER_PENDING || !*fleet->members[i].id)
            continue;
        count_pending(keeper, -1);
        if (is_wanted(keeper) == 0)
            cancel(keeper, &fleet->members[i], "for it is not wanted now");
        else
            count_pending(keeper, 1);
    }
}

static void cancel_all(struct keeper *keeper)
{
    struct fleet *fleet = keeper->fleet;

    for (size_t i = 0; i < fleet->count; i++)
        if (fleet->members[i].state == CLUSTER_PENDING && *fleet->members[i].id)
            cancel(keeper, &fleet->members[i], "for this ends");
}

/* Writes down what was found, for people who wonder why nothing is done. */
static void looked(struct keeper *keeper, int wanted)
{
    struct buf line;

    buf_init(&line);
    buf_addf(&line, "look %u: %s: ", ++keeper->rounds,
             wanted > 0    ? "wanted"
             : wanted == 0 ? "not wanted"
                           : "neither true nor false");
    numbers_words(&line, keeper);
    pilot_note(keeper->fleet->folder, "looked", buf_string(&line));
    buf_done(&line);
}

/* Pilots may run for weeks, and each finds a newer token in its folder before the one that it has ends. */
static void tokens_renew(struct keeper *keeper)
{
    int64_t now = time(NULL), every = pilot_token_life(keeper->fleet->options) / RENEWAL_LOOKS, renewed;
    char words[80];

    if (now < keeper->renewed + every && now >= keeper->renewed)
        return;
    keeper->renewed = now;
    renewed = fleet_renew(keeper->fleet);
    if (!renewed)
        return;
    snprintf(words, sizeof words, "renewed the token%s of %lld pilot%s", renewed > 1 ? "s" : "", (long long)renewed,
             renewed > 1 ? "s" : "");
    say(keeper, words);
}

static void round_run(struct keeper *keeper)
{
    int wanted;
    struct err err = {0};

    if (look(keeper, &err) < 0) {
        complain(keeper, err.text);
        return;
    }
    if (keeper->waiting >= 0)
        keeper->said[0] = '\0';
    wanted = is_wanted(keeper);
    switch (wanted) {
    case 1:
        submit_wanted(keeper);
        break;
    case 0:
        cancel_unwanted(keeper);
        break;
    default:
        complain(keeper, keeper->waiting < 0 ? "the pool does not answer: nothing is done"
                                             : "--when is neither true nor false now: nothing is done");
        break;
    }
    looked(keeper, wanted);
    tokens_renew(keeper);
    fleet_tidy(keeper->fleet);
}

/* -------------------------------------------------------------------------------------------------------------- life */

static struct tree *when_parse(struct keeper *keeper, const char *text)
{
    struct err err = {0};
    struct build build;
    struct tree *when;

    build_init(&build, keeper->fleet->pool.symbols, &dialect_classic);
    when = parse_expr(&build, NULL, text, strlen(text), &err);
    build_done(&build);
    if (!when)
        report_error("--when", &err, text, strlen(text));
    return when;
}

/* Runs until a signal comes. */
static void rounds_run(struct keeper *keeper)
{
    struct timespec span = {.tv_sec = keeper->fleet->options->every};
    struct err err = {0};
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    do
        round_run(keeper);
    while (sigtimedwait(&ends, NULL, &span) < 0);
    if (fleet_look(keeper->fleet, &err) == 0)
        cancel_all(keeper);
}

int pilot_keep(struct fleet *fleet)
{
    struct keeper keeper = {.fleet = fleet};
    struct err err = {0};
    int status;

    guard_memory(); /* it stays, and holds the token that pilots' tokens are made from */
    status = fleet_lead(fleet);
    arena_init(&keeper.arena);
    if (status == STATUS_DONE && !(keeper.when = when_parse(&keeper, fleet->options->when)))
        status = STATUS_BAD;
    if (status == STATUS_DONE && !(keeper.likely = likely_make(&keeper, &err))) {
        if (*err.text)
            report("%s", err.text);
        status = STATUS_BAD;
    }
    if (status == STATUS_DONE)
        rounds_run(&keeper);
    tree_unref(keeper.when);
    tree_unref(keeper.likely);
    arena_done(&keeper.arena);
    return status;
}
