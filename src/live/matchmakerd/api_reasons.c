/* api_reasons.c: why waiting requests wait, counted: each is explained, and equal reasons are added up.
 *
 *     [ Reason = "no offer satisfies other.Memory >= 65536"; Requests = 3; Units = 1200; Example = "sweep-7" ]
 *
 * If there are many, those with the most units are explained; a row says how many were not looked into. */
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "match/gang/gang_why.h"
#include "match/pair/why.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPLAINED_MAX 64    /* requests that are explained */
#define EXPLAIN_STEPS 20000 /* steps of evaluation in a slice */
#define REASON_BYTES 240    /* bytes of a reason that are told */

struct waiter {
    struct tree *ad; /* held */
    char *id;
    uint64_t units;
    enum engine_outcome outcome;
};

struct reason_row {
    char words[REASON_BYTES];
    char *example;
    uint64_t requests, units;
};

struct reasons {
    struct scan scan;
    struct waiter *waiters; /* sorted by units: the last has the fewest */
    uint32_t waiter_count, explained;
    uint64_t passed, passed_units; /* requests that are not explained */
    struct tree **offers;          /* held */
    uint32_t offer_count, offer_room;
    struct reason_row *rows;
    uint32_t row_count;
    struct env env;
    struct arena scratch;
    struct policy policy;
    struct why why;
    struct explaining *run; /* the explanation of the next waiter, while it is made; or NULL */
};

static void reason_count(struct reasons *reasons, const char *words, const char *example, uint64_t requests,
                         uint64_t units)
{
    uint32_t i = 0;

    while (i < reasons->row_count && strcmp(reasons->rows[i].words, words) != 0)
        i++;
    if (i == reasons->row_count) {
        snprintf(reasons->rows[i].words, REASON_BYTES, "%s", words);
        reasons->rows[i].example = mem_dup(example, strlen(example));
        reasons->rows[i].requests = reasons->rows[i].units = 0;
        reasons->row_count++;
    }
    reasons->rows[i].requests += requests;
    reasons->rows[i].units += units;
}

/* ----------------------------------------------------------------------------------------------------------- gathering */

static void offer_keep(struct reasons *reasons, const struct entry_view *view)
{
    ARRAY_ROOM(reasons->offers, reasons->offer_count, reasons->offer_room, 256);
    reasons->offers[reasons->offer_count++] = tree_ref((struct tree *)view->ad);
}

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
    waiters[at] = (struct waiter){tree_ref((struct tree *)view->ad), mem_dup(id, strlen(id)), units, view->outcome};
    reasons->waiter_count++;
}

static bool reasons_visit(struct scan *scan, uint32_t place, const struct entry_view *view)
{
    struct reasons *reasons = (struct reasons *)scan;

    (void)place;
    if (view->free < 1)
        return true;
    if (!view->request)
        offer_keep(reasons, view);
    else if (request_sees(scan->request, view))
        waiter_keep(reasons, view, entry_id(request_matchmakerd(scan->request), view));
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
        buf_adds(out, why->discarded ? "the policy discards every offer that fits"
                                     : "an offer fits; the next cycle looks at it");
    } else if (why->conflict_count) {
        buf_adds(out, "can never be true: ");
        clauses_print(out, why, UINT64_C(1) << why->conflicts[0].a | UINT64_C(1) << why->conflicts[0].b);
    } else if (why->hint_count && why->hints[0].kind == WHY_NO_SUCH_NAME) {
        size_t len;

        buf_addf(out, "no offer has the attribute %s", symbols_text(ad->symbols, why->hints[0].name, &len));
    } else if (why->set_count && why->sets[0].clauses) {
        buf_adds(out, "no offer satisfies ");
        clauses_print(out, why, why->sets[0].clauses);
        if (why->sets[0].offers)
            buf_adds(out, " and takes it");
    } else if (why->refusal_count) {
        buf_adds(out, "offers refuse it: ");
        print_expr(out, why->refusals[0].offer, why->refusals[0].e, PRINT_PLAIN);
    } else {
        buf_adds(out, "no offer that is left fits");
    }
}

/* Cuts the words to the length that is told, at the end of a character. */
static void words_cut(struct buf *out)
{
    size_t len = out->len;

    if (len < REASON_BYTES - 4)
        return;
    len = REASON_BYTES - 4;
    while (len && ((unsigned char)out->text[len] & 0xc0) == 0x80)
        len--;
    out->len = len;
    buf_adds(out, "...");
}

static void waiter_explain(struct reasons *reasons, const struct waiter *waiter)
{
    struct buf out;

    buf_init(&out);
    if (waiter->outcome == ENGINE_HELD) {
        buf_adds(&out, "held by a limit or a quota");
    } else if (!reasons->offer_count) {
        buf_adds(&out, "nothing is offered");
    } else if (gang_why_ported(waiter->ad)) {
        buf_adds(&out, waiter->outcome == ENGINE_GAVE_UP ? "the search for a gang was given up" : "no gang forms");
    } else {
        why_words(&out, &reasons->why, waiter->ad);
    }
    words_cut(&out);
    reason_count(reasons, buf_string(&out), waiter->id, 1, waiter->units);
    buf_done(&out);
}

/* Must the pool's offers be looked at to explain this request? */
static bool waiter_is_looked_into(const struct reasons *reasons, const struct waiter *waiter)
{
    return waiter->outcome != ENGINE_HELD && reasons->offer_count && !gang_why_ported(waiter->ad);
}

static void run_end(struct reasons *reasons)
{
    why_end(reasons->run);
    reasons->run = NULL;
}

/* Explains one request in each slice, or a part of one. */
static bool reasons_more(struct scan *scan)
{
    struct reasons *reasons = (struct reasons *)scan;
    const struct waiter *waiter = &reasons->waiters[reasons->explained];
    bool looked;

    if (reasons->explained == reasons->waiter_count)
        return false;
    looked = waiter_is_looked_into(reasons, waiter);
    if (looked && !reasons->run) {
        policy_init(&reasons->policy, request_matchmakerd(scan->request)->policy, NULL, NULL);
        reasons->run = why_begin(&reasons->why, &reasons->env, &reasons->scratch, &reasons->policy, waiter->ad,
                                 reasons->offers, reasons->offer_count);
    }
    if (looked && why_go_on(reasons->run, EXPLAIN_STEPS))
        return true;
    if (looked)
        run_end(reasons);
    waiter_explain(reasons, waiter);
    reasons->explained++;
    if (looked) {
        why_done(&reasons->why);
        policy_done(&reasons->policy);
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------------- answering */

static int row_compare(const void *a, const void *b)
{
    const struct reason_row *left = a, *right = b;

    if (left->units != right->units)
        return left->units > right->units ? -1 : 1;
    return strcmp(left->words, right->words);
}

static void reasons_finish(struct scan *scan)
{
    struct reasons *reasons = (struct reasons *)scan;
    struct request *request = scan->request;
    struct roll roll;

    if (reasons->row_count)
        qsort(reasons->rows, reasons->row_count, sizeof *reasons->rows, row_compare);
    if (reasons->passed)
        reason_count(reasons, "not looked into", "", reasons->passed, reasons->passed_units);
    roll_begin(&roll, request);
    for (uint32_t i = 0; i < reasons->row_count; i++) {
        struct maker maker;

        maker_init(&maker, request_matchmakerd(request)->symbols);
        maker_text(&maker, "Reason", reasons->rows[i].words);
        maker_integer(&maker, "Requests", (int64_t)reasons->rows[i].requests);
        maker_integer(&maker, "Units", (int64_t)reasons->rows[i].units);
        maker_text(&maker, "Example", *reasons->rows[i].example ? reasons->rows[i].example : NULL);
        roll_add(&roll, &maker);
    }
    roll_end(&roll);
}

static void reasons_done(struct scan *scan)
{
    struct reasons *reasons = (struct reasons *)scan;

    if (reasons->run) {
        run_end(reasons);
        why_done(&reasons->why);
        policy_done(&reasons->policy);
    }
    for (uint32_t i = 0; i < reasons->waiter_count; i++) {
        tree_unref(reasons->waiters[i].ad);
        free(reasons->waiters[i].id);
    }
    for (uint32_t i = 0; i < reasons->offer_count; i++)
        tree_unref(reasons->offers[i]);
    for (uint32_t i = 0; i < reasons->row_count; i++)
        free(reasons->rows[i].example);
    free(reasons->waiters);
    free(reasons->offers);
    free(reasons->rows);
    arena_done(&reasons->scratch);
}

void api_reasons(struct request *request)
{
    struct reasons *reasons = mem_alloc(sizeof *reasons);

    *reasons = (struct reasons){
        .scan = {.visit = reasons_visit, .more = reasons_more, .finish = reasons_finish, .done = reasons_done},
        .env = request_env(request)};
    reasons->waiters = mem_alloc(EXPLAINED_MAX * sizeof *reasons->waiters);
    reasons->rows = mem_alloc((EXPLAINED_MAX + 1) * sizeof *reasons->rows);
    arena_init(&reasons->scratch);
    scan_start(&reasons->scan, request);
}
