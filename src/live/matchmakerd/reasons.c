/* reasons.c: why waiting requests wait, counted: each is explained, and equal reasons are added up.
 *
 *     the machines -> the requests with the most units -> each explained (waits.h), slice by slice -> rows
 *
 * If there are many, those with the most units are explained; a row says how many were not looked into. */
#include "live/matchmakerd/reasons.h"

#include "live/matchmakerd/gang_waits.h"
#include "live/matchmakerd/request_agent.h"

#include "lang/base/cut.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "match/gang/gang_why.h"
#include "match/pair/why.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPLAINED_MAX 64             /* requests that are explained */
#define ROWS_MAX (EXPLAINED_MAX + 2) /* besides: those that are being claimed, and those that are not explained */
#define GANG_MACHINES 2000  /* in a pool of no more it is asked whether a gang would form if nothing were in use, ... */
#define GANG_NODES 2000     /* ... with so many candidates ... */
#define GANG_STEPS 100000   /* ... and steps of evaluation, at most */
#define EXPLAIN_STEPS 20000 /* steps of evaluation in a slice */
#define GATHER_AT_ONCE 500  /* machines, or requests, that are gathered in a slice */

struct waiter {
    struct tree *ad; /* held */
    char *id;
    uint64_t units;
    enum engine_outcome outcome;
    agent who;
    uint64_t number; /* of its ad, at that agent */
};

struct reasons {
    struct matchmakerd *matchmakerd;
    struct request *caller; /* NULL: one who sees all */
    uint32_t from;          /* where to go on among the ads */
    bool listed;            /* all requests are there */
    struct waiter *waiters; /* sorted by units: the last has the fewest */
    uint32_t waiter_count, explained;
    uint64_t passed, passed_units; /* requests that are not explained */
    struct pool_machines machines;
    bool gathered; /* all machines are there */
    struct reason_row *rows;
    uint32_t row_count;
    struct env env;
    struct arena scratch;
    struct policy policy;
    struct why why;
    struct explaining *run; /* the explanation of the next waiter, while it is made; or NULL */
    bool waiting;           /* it is made, and what keeps it from each machine is looked at */
    struct waits waits;
    bool ports; /* a request with ports is looked into */
    struct gang_waits gang;
};

/* Returns the row. */
static struct reason_row *reason_count(struct reasons *reasons, enum wait_reason code, const char *words,
                                       const char *example, uint64_t requests, uint64_t units)
{
    uint32_t i = 0;

    while (i < reasons->row_count && strcmp(reasons->rows[i].words, words) != 0)
        i++;
    if (i == reasons->row_count) {
        snprintf(reasons->rows[i].words, REASON_BYTES, "%s", words);
        reasons->rows[i].code = code;
        reasons->rows[i].never = false;
        reasons->rows[i].example = mem_dup(example, strlen(example));
        reasons->rows[i].requests = reasons->rows[i].units = 0;
        reasons->row_count++;
    }
    reasons->rows[i].requests += requests;
    reasons->rows[i].units += units;
    return &reasons->rows[i];
}

/* ----------------------------------------------------------------------------------------------------------- gathering */

/* Puts the request in its place by units; one that falls off the end is only counted. */
static void waiter_keep(struct reasons *reasons, const struct entry_view *view, const char *id)
{
    struct waiter *waiters = reasons->waiters;
    uint64_t units = (uint64_t)view->free;
    uint32_t at = reasons->waiter_count;

    if (at == EXPLAINED_MAX) {
        struct waiter *last = &waiters[at - 1];

        reasons->passed++;
        reasons->passed_units += units <= last->units ? units : last->units;
        if (units <= last->units)
            return;
        tree_unref(last->ad);
        free(last->id);
        at--;
        reasons->waiter_count--;
    }
    for (; at > 0 && waiters[at - 1].units < units; at--)
        waiters[at] = waiters[at - 1];
    waiters[at] = (struct waiter){
        tree_ref((struct tree *)view->ad), mem_dup(id, strlen(id)), units, view->outcome, view->agent, view->id};
    reasons->waiter_count++;
}

/* First the machines, then the requests; false when all are there. */
static bool reasons_gather(struct reasons *reasons)
{
    struct entry_view view;

    if (!reasons->gathered) {
        reasons->gathered = !pool_machines_next(&reasons->machines, reasons->matchmakerd, reasons->caller);
        return true;
    }
    if (!matchmaker_next(reasons->matchmakerd->matchmaker, reasons->from, &view, &reasons->from))
        return false;
    if (!view.request || (reasons->caller && !request_sees(reasons->caller, &view)))
        return true;
    if (view.free > 0)
        waiter_keep(reasons, &view, entry_id(reasons->matchmakerd, &view));
    if (view.outstanding > 0)
        reason_count(reasons, WAIT_CLAIMING, wait_says(WAIT_CLAIMING), entry_id(reasons->matchmakerd, &view), 1,
                     (uint64_t)view.outstanding);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- explaining */

static void clauses_print(struct buf *out, const struct why *why, uint64_t clauses)
{
    const char *mark = "";

    for (uint32_t i = 0; i < why->clause_count; i++) {
        if (!(clauses >> i & 1))
            continue;
        buf_adds(out, mark);
        print_tree(out, why->clauses[i].left, PRINT_PLAIN);
        mark = " && ";
    }
}

static void why_words(struct buf *out, const struct why *why, const struct tree *ad)
{
    if (why->matching) {
        buf_adds(out, why->discarded ? "the policy discards every machine that fits"
                                     : "a machine fits; the next cycle looks at it");
    } else if (why->conflict_count) {
        buf_adds(out, "can never be true: ");
        clauses_print(out, why, UINT64_C(1) << why->conflicts[0].a | UINT64_C(1) << why->conflicts[0].b);
    } else if (why->hint_count && why->hints[0].kind == WHY_NO_SUCH_NAME) {
        size_t len;

        buf_addf(out, "no machine has the attribute %s", symbols_text(ad->symbols, why->hints[0].name, &len));
    } else if (why->set_count && why->sets[0].clauses) {
        buf_adds(out, "no machine satisfies ");
        clauses_print(out, why, why->sets[0].clauses);
        if (why->sets[0].offers)
            buf_adds(out, " and takes it");
    } else if (why->refusal_count) {
        buf_adds(out, "machines refuse it: ");
        print_expr(out, why->refusals[0].offer, why->refusals[0].e, PRINT_PLAIN);
    } else {
        buf_adds(out, "no machine fits");
    }
}

/* Would the gang form if nothing were in use? In a large pool that is not asked: it would keep others waiting. */
static bool gang_would_form(struct reasons *reasons, const struct waiter *waiter)
{
    const struct pool_machines *machines = &reasons->machines;
    struct tree **wholes;
    uint32_t count = 0, total = machines->total > machines->count ? machines->total : machines->count;
    struct gang_why why = {.outcome = GANG_NONE};
    bool forms;

    if (total > GANG_MACHINES)
        return false;
    wholes = mem_alloc((total + 1) * sizeof *wholes);
    for (uint32_t i = 0; i < total; i++)
        if (pool_machine_is_present(&machines->items[i]))
            wholes[count++] = machines->items[i].whole;
    policy_init(&reasons->policy, reasons->matchmakerd->policy, NULL, NULL);
    forms = gang_why_explain(&why, &reasons->env, &reasons->scratch, &reasons->policy, waiter->ad, wholes, count,
                             &(struct gang_why_terms){.nodes = GANG_NODES, .steps = GANG_STEPS, .brief = true},
                             NULL) == 0 &&
            why.outcome == GANG_FORMED;
    gang_why_done(&why);
    policy_done(&reasons->policy);
    free(wholes);
    return forms;
}

/* A request with ports: what holds it, the port that nobody can fill, or what its machines are. */
static enum wait_reason gang_explain(struct reasons *reasons, const struct waiter *waiter, struct buf *out)
{
    enum wait_reason first;
    const struct port_said *unfilled = gang_waits_unfilled(&reasons->gang, &first);
    enum wait_reason code = waiter->outcome == ENGINE_HELD      ? WAIT_LIMIT
                            : waiter->outcome == ENGINE_GAVE_UP ? WAIT_GAVEUP
                                                                : WAIT_FORMS;

    if (code == WAIT_FORMS && unfilled) {
        port_said_print(out, unfilled, "its port");
        return first;
    }
    if (code == WAIT_FORMS && gang_would_form(reasons, waiter)) {
        code = gang_waits_idle(&reasons->gang);
        buf_adds(out, code == WAIT_BUSY ? GANG_WAITS_BUSY : wait_says(code));
        return code;
    }
    buf_adds(out, code == WAIT_LIMIT ? "held by a limit or a quota" : wait_says(code));
    return code;
}

static void waiter_explain(struct reasons *reasons, const struct waiter *waiter)
{
    const struct waits *waits = &reasons->waits;
    enum wait_reason code;
    bool never = false;
    struct buf out;

    buf_init(&out);
    if (gang_why_ported(waiter->ad)) {
        code = gang_explain(reasons, waiter, &out);
    } else {
        code = waits->first;
        if ((code == WAIT_NOFIT || code == WAIT_REFUSES) && reasons->machines.present) {
            why_words(&out, &reasons->why, waiter->ad);
            never = reasons->why.verdict == WHY_NEVER;
        } else {
            waits_print_reason(&out, waits, code);
        }
    }
    buf_cut(&out, 0, REASON_BYTES - sizeof "...");
    reason_count(reasons, code, buf_string(&out), waiter->id, 1, waiter->units)->never = never;
    buf_done(&out);
}

static void run_end(struct reasons *reasons)
{
    why_end(reasons->run);
    reasons->run = NULL;
}

static void run_begin(struct reasons *reasons, const struct waiter *waiter)
{
    policy_init(&reasons->policy, reasons->matchmakerd->policy, NULL, NULL);
    reasons->run = why_begin(&reasons->why, &reasons->env, &reasons->scratch, &reasons->policy, waiter->ad,
                             reasons->machines.wholes, reasons->machines.present);
}

/* Looks into one request; true while there is more to do. */
static bool waiter_look(struct reasons *reasons, const struct waiter *waiter)
{
    uint64_t steps = 0;

    if (!reasons->run && !reasons->waiting) {
        if (pool_machines_mask(&reasons->machines, &reasons->env, &reasons->scratch, waiter->ad))
            return true;
        run_begin(reasons, waiter);
    }
    if (reasons->run) {
        if (why_go_on(reasons->run, EXPLAIN_STEPS))
            return true;
        run_end(reasons);
        reasons->waiting = true;
        waits_begin(&reasons->waits, &reasons->env, &reasons->scratch, &reasons->machines, waiter->ad);
        waits_place(&reasons->waits, reasons->matchmakerd, waiter->who, waiter->number);
    }
    return waits_go_on(&reasons->waits, &reasons->env, &reasons->scratch, &reasons->why, &steps);
}

/* The same for one with ports: each of them is looked into. */
static bool gang_look(struct reasons *reasons, const struct waiter *waiter)
{
    if (!reasons->ports) {
        reasons->ports = true;
        gang_waits_begin(&reasons->gang, reasons->matchmakerd, &reasons->env, &reasons->scratch, &reasons->machines,
                         waiter->ad, NULL);
    }
    return gang_waits_go_on(&reasons->gang);
}

/* Explains one request, or a part of one; false when all have been explained. */
static bool reasons_explain(struct reasons *reasons)
{
    const struct waiter *waiter = &reasons->waiters[reasons->explained];

    if (reasons->explained == reasons->waiter_count)
        return false;
    if (gang_why_ported(waiter->ad) ? gang_look(reasons, waiter) : waiter_look(reasons, waiter))
        return true;
    waiter_explain(reasons, waiter);
    gang_waits_done(&reasons->gang);
    reasons->ports = false;
    reasons->explained++;
    if (reasons->waiting) {
        why_done(&reasons->why);
        policy_done(&reasons->policy);
        reasons->waiting = false;
    }
    return true;
}

static int row_compare(const void *a, const void *b)
{
    const struct reason_row *left = a, *right = b;

    if (left->units != right->units)
        return left->units > right->units ? -1 : 1;
    return strcmp(left->words, right->words);
}

static void rows_finish(struct reasons *reasons)
{
    if (reasons->row_count)
        qsort(reasons->rows, reasons->row_count, sizeof *reasons->rows, row_compare);
    if (reasons->passed)
        reason_count(reasons, WAIT_REASON_COUNT, "not looked into", "", reasons->passed, reasons->passed_units);
}

/* ---------------------------------------------------------------------------------------------------------- the whole of it */

struct reasons *reasons_new(struct matchmakerd *matchmakerd, struct request *caller, const struct env *env)
{
    struct reasons *reasons = mem_alloc(sizeof *reasons);

    *reasons = (struct reasons){.matchmakerd = matchmakerd, .caller = caller, .env = *env};
    reasons->waiters = mem_alloc(EXPLAINED_MAX * sizeof *reasons->waiters);
    reasons->rows = mem_alloc(ROWS_MAX * sizeof *reasons->rows);
    arena_init(&reasons->scratch);
    return reasons;
}

bool reasons_go_on(struct reasons *reasons)
{
    for (int i = 0; i < GATHER_AT_ONCE && !reasons->listed; i++)
        if (!reasons_gather(reasons)) {
            reasons->listed = true;
            pool_machines_end(&reasons->machines);
            pool_machines_leave_ported(&reasons->machines);
            return true;
        }
    if (!reasons->listed || reasons_explain(reasons))
        return true;
    rows_finish(reasons);
    return false;
}

const struct reason_row *reasons_rows(const struct reasons *reasons, uint32_t *ret_count)
{
    *ret_count = reasons->row_count;
    return reasons->rows;
}

void reasons_free(struct reasons *reasons)
{
    if (!reasons)
        return;
    if (reasons->run || reasons->waiting) {
        run_end(reasons);
        why_done(&reasons->why);
        policy_done(&reasons->policy);
    }
    gang_waits_done(&reasons->gang);
    for (uint32_t i = 0; i < reasons->waiter_count; i++) {
        tree_unref(reasons->waiters[i].ad);
        free(reasons->waiters[i].id);
    }
    for (uint32_t i = 0; i < reasons->row_count; i++)
        free(reasons->rows[i].example);
    free(reasons->waiters);
    pool_machines_done(&reasons->machines);
    free(reasons->rows);
    arena_done(&reasons->scratch);
    free(reasons);
}
