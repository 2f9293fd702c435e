/* api_why.c: why a request waits, or what it matches: by the machines that are known, whether or not they have room.
 *
 *     gather    the machines
 *     hides     what decides whom they take, where that is not for the caller
 *     fits      would each take it, and it each, with nothing in use?       (why.h, over the whole ads)
 *     waits     what keeps it from those that would                         (waits.h)
 *     ports     of an ad that asks for several at once: each port by itself (gang_waits.h), in place of the three above
 *     now       if some may be had now: which it gets, and why that one     (why.h, over what is left)
 *
 * Clauses of the request are explained only where no machine would take it even when idle. Nothing is consumed. */
#include "live/matchmakerd/explain.h"
#include "live/matchmakerd/gang_waits.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"
#include "live/matchmakerd/waits.h"

#include "lang/base/mem.h"
#include "live/http/represent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPLAIN_STEPS 20000 /* steps of evaluation in a slice */

enum question_stage {
    QUESTION_GATHERED,
    QUESTION_PORTS,
    QUESTION_HIDES,
    QUESTION_FITS,
    QUESTION_WAITS,
    QUESTION_NOW,
    QUESTION_OVER
};

struct question {
    struct scan scan;
    struct request_question asked;
    char name[ID_UNIQUE_MAX + 1];
    enum question_stage stage;
    struct env env;
    struct arena scratch;
    struct pool_machines machines;
    uint32_t ported;
    bool about_gang;
    struct policy policy;
    bool has_policy;
    struct why fits, now;   /* over wholes; over what is left */
    bool has_fits, has_now; /* they have been begun */
    struct explaining *run; /* the one that is being made; or NULL */
    struct waits waits;
    struct gang_waits gang_waits; /* of a gang, in place of the four above */
    struct tree **left;           /* lent: what is left of those that have something left ... */
    uint32_t *left_of;            /* ... and which machines those are */
    uint32_t left_count;
};

/* ------------------------------------------------------------------------------------------------------------------ stages */

static bool question_gather(struct scan *scan)
{
    struct question *question = (struct question *)scan;

    return pool_machines_next(&question->machines, request_matchmakerd(scan->request), scan->request);
}

/* What is left, of those that have something left. */
static void lefts_make(struct question *question)
{
    const struct pool_machines *machines = &question->machines;

    question->left = mem_alloc((machines->count + 1) * sizeof *question->left);
    question->left_of = mem_alloc((machines->count + 1) * sizeof *question->left_of);
    for (uint32_t i = 0; i < machines->present; i++)
        if (machines->items[i].left) {
            question->left_of[question->left_count] = i;
            question->left[question->left_count++] =
                machines->items[i].masked_left ? machines->items[i].masked_left : machines->items[i].left;
        }
}

static bool question_is_gang(struct question *question)
{
    struct gang_question gang = {.ad = question->asked.ad,
                                 .env = question->env,
                                 .scratch = &question->scratch,
                                 .offers = question->machines.wholes,
                                 .count = question->machines.count};

    return gang_is_asked(question->scan.request, &gang);
}

static void machines_end(struct question *question)
{
    const struct what_if *what_if = &question->asked.what_if;

    for (uint32_t i = 0; i < what_if->count; i++)
        pool_machines_suppose(&question->machines, what_if->items[i].id, what_if->items[i].ad);
    pool_machines_end(&question->machines);
    question->about_gang = question_is_gang(question);
    if (question->about_gang) { /* where its ports are not in order, the answer says so */
        question->stage =
            gang_waits_begin(&question->gang_waits, request_matchmakerd(question->scan.request), &question->env,
                             &question->scratch, &question->machines, question->asked.ad, NULL) == 0
                ? QUESTION_PORTS
                : QUESTION_OVER;
        return;
    }
    question->ported = pool_machines_leave_ported(&question->machines);
    question->stage = QUESTION_HIDES;
}

static void fits_begin(struct question *question)
{
    policy_init(&question->policy, request_matchmakerd(question->scan.request)->policy, NULL, NULL);
    question->has_policy = question->has_fits = true;
    question->run = why_begin(&question->fits, &question->env, &question->scratch, &question->policy,
                              question->asked.ad, question->machines.wholes, question->machines.present);
    question->stage = QUESTION_FITS;
}

static void waits_start(struct question *question)
{
    why_end(question->run);
    question->run = NULL;
    waits_begin(&question->waits, &question->env, &question->scratch, &question->machines, question->asked.ad);
    waits_place(&question->waits, request_matchmakerd(question->scan.request), question->asked.who, question->asked.id);
    question->stage = QUESTION_WAITS;
}

/* Some may be had now: which it gets is asked of what is left. */
static void now_begin(struct question *question)
{
    question->stage = QUESTION_OVER;
    if (!question->waits.free)
        return;
    lefts_make(question);
    question->has_now = true;
    question->run = why_begin(&question->now, &question->env, &question->scratch, &question->policy, question->asked.ad,
                              question->left, question->left_count);
    question->stage = QUESTION_NOW;
}

static bool question_more(struct scan *scan)
{
    struct question *question = (struct question *)scan;
    uint64_t steps = 0;

    switch (question->stage) {
    case QUESTION_GATHERED:
        machines_end(question);
        break;
    case QUESTION_PORTS:
        if (!gang_waits_go_on(&question->gang_waits))
            question->stage = QUESTION_OVER;
        break;
    case QUESTION_HIDES:
        if (!pool_machines_mask(&question->machines, &question->env, &question->scratch, question->asked.ad))
            fits_begin(question);
        break;
    case QUESTION_FITS:
        if (!why_go_on(question->run, EXPLAIN_STEPS))
            waits_start(question);
        break;
    case QUESTION_WAITS:
        if (!waits_go_on(&question->waits, &question->env, &question->scratch, &question->fits, &steps))
            now_begin(question);
        break;
    case QUESTION_NOW:
        if (why_go_on(question->run, EXPLAIN_STEPS))
            break;
        why_end(question->run);
        question->run = NULL;
        question->stage = QUESTION_OVER;
        break;
    case QUESTION_OVER:
        return false;
    }
    return question->stage != QUESTION_OVER;
}

/* --------------------------------------------------------------------------------------------------------------- answering */

/* What an offer is called: by its machine's name in words, and by its ad's id for programs. */
struct naming {
    const struct question *question;
    bool now, json;
};

static void offer_name(void *user, size_t place, struct buf *out)
{
    const struct naming *naming = user;
    const struct question *question = naming->question;
    const struct pool_machine *machine =
        &question->machines.items[naming->now ? question->left_of[place] : (uint32_t)place];

    if (naming->json)
        buf_adds(out, machine->id);
    else
        pool_machine_name(machine, out);
}

/* In words: what it gets; or why it waits, and then, where no machine would take it even when idle, why not. */
static void words_make(const struct question *question, const struct why *why, const struct why_names *names,
                       struct buf *out)
{
    const struct waits *waits = &question->waits;

    if (why->verdict == WHY_NEVER || (question->has_now && !waits_tell_hold(waits))) {
        why_print(out, why, question->asked.ad, names);
        waits_print_more(out, waits);
        return;
    }
    waits_print(out, waits, question->name);
    if (!waits_only(waits) && !question->has_now && question->machines.present)
        why_print_reasons(out, why, question->asked.ad, names);
}

static uint64_t taken_count(const struct question *question)
{
    uint64_t taken = 0;

    for (uint32_t i = 0; i < question->machines.present; i++)
        taken += question->machines.items[i].state == MACHINE_BUSY || !question->machines.items[i].left;
    return taken;
}

static void question_answer(struct question *question)
{
    struct request *request = question->scan.request;
    struct why *why = question->has_now ? &question->now : &question->fits;
    struct naming naming = {question, question->has_now, request->form == FORM_JSON};
    struct why_names names = {
        .request = question->name, .offer = offer_name, .user = &naming, .ported = question->ported};
    struct buf out;

    if (!question->has_now && why->verdict == WHY_MATCHES) { /* it would match what is in use */
        why->verdict = WHY_NOT_NOW;
        why->matching = 0;
    }
    buf_init(&out);
    if (naming.json)
        why_print_json(&out, why, question->asked.ad, &names);
    else
        words_make(question, why, &names, &out);
    explanation_end(request, question->asked.who ? question->name : NULL, taken_count(question), &question->waits,
                    &out);
    request_answer(request, 200, naming.json ? TYPE_JSON : "text/plain; charset=utf-8", out.text, out.len, NULL, 0);
    buf_done(&out);
}

/* An ad that asks for several at once is explained by what may be had now, and then by what would be if nothing were in use. */
static void gang_question_answer(struct question *question)
{
    const struct pool_machines *machines = &question->machines;
    char **ids = mem_alloc((machines->count + 1) * sizeof *ids),
         **whole_ids = mem_alloc((machines->count + 1) * sizeof *whole_ids);
    bool *hidden = mem_alloc((machines->count + 1) * sizeof *hidden),
         *whole_hidden = mem_alloc((machines->count + 1) * sizeof *whole_hidden);
    struct gang_question gang = {.ad = question->asked.ad,
                                 .name = question->name,
                                 .why = true,
                                 .env = question->env,
                                 .scratch = &question->scratch,
                                 .ids = ids,
                                 .who = question->asked.who,
                                 .id = question->asked.id,
                                 .waits = &question->gang_waits,
                                 .whole_ids = whole_ids,
                                 .taken = taken_count(question),
                                 .wholes = machines->wholes,
                                 .whole_count = machines->present,
                                 .hidden = hidden,
                                 .whole_hidden = whole_hidden};

    lefts_make(question);
    for (uint32_t i = 0; i < question->left_count; i++) {
        ids[i] = machines->items[question->left_of[i]].id;
        hidden[i] = machines->items[question->left_of[i]].hidden;
    }
    for (uint32_t i = 0; i < machines->present; i++) {
        whole_ids[i] = machines->items[i].id;
        whole_hidden[i] = machines->items[i].hidden;
    }
    gang.offers = question->left;
    gang.count = question->left_count;
    gang_answer(question->scan.request, &gang);
    free(ids);
    free(whole_ids);
    free(hidden);
    free(whole_hidden);
}

static void question_finish(struct scan *scan)
{
    struct question *question = (struct question *)scan;

    if (question->about_gang)
        gang_question_answer(question);
    else
        question_answer(question);
}

static void question_done(struct scan *scan)
{
    struct question *question = (struct question *)scan;

    why_end(question->run);
    if (question->has_fits)
        why_done(&question->fits);
    if (question->has_now)
        why_done(&question->now);
    if (question->has_policy)
        policy_done(&question->policy);
    gang_waits_done(&question->gang_waits);
    pool_machines_done(&question->machines);
    tree_unref(question->asked.ad);
    what_if_done(&question->asked.what_if);
    free(question->left);
    free(question->left_of);
    arena_done(&question->scratch);
}

void request_explain(struct request *request, const struct request_question *asked)
{
    struct question *question = mem_alloc(sizeof *question);

    *question = (struct question){
        .scan = {.step = question_gather, .more = question_more, .finish = question_finish, .done = question_done},
        .asked = *asked,
        .env = request_env(request)};
    snprintf(question->name, sizeof question->name, "%s", asked->name);
    question->asked.name = question->name;
    arena_init(&question->scratch);
    scan_start(&question->scan, request);
}
