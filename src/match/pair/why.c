/* why.c: the pass over the offers, and what is counted there. */
#include "match/pair/why.h"

#include "lang/ad/ops.h"
#include "lang/base/array.h"
#include "lang/base/map.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "lang/text/print.h"
#include "match/pair/order.h"
#include "match/pair/why_parts.h"

#include <stdlib.h>
#include <string.h>

struct candidate {
    size_t offer;
    struct value *components;
    uint32_t count; /* 0: there is none */
};

struct explaining {
    struct why_work work;
    struct env env;  /* with a meter of its own */
    uint64_t *meter; /* the caller's meter, or NULL */
    uint64_t told;   /* how many of our steps the caller's meter has been told */
    const struct policy *policy;
    struct why_refusals *refusals;
    struct arena_mark mark;
    enum { RUN_TESTS, RUN_CHOICE, RUN_OVER } stage;
    size_t at; /* the next offer of that stage */
    struct candidate best, second;
};

const char *why_text(struct why *why, struct buf *text)
{
    const char *string = buf_string(text);

    return arena_text(&why->arena, string, text->len + 1);
}

/* Tests a clause of the request with an offer, by evaluation. */
static enum property_answer leaf_evaluate(struct why_work *work, const struct clauses *leaf, const struct tree *offer)
{
    struct clause whole = {.e = tree_root(leaf->tree)};
    struct clauses one = {.ad = leaf->ad, .tree = leaf->tree, .items = &whole, .count = 1};
    struct arena_mark mark = arena_mark(work->scratch);
    enum value_type type;
    bool truth = false;
    struct value v;

    work->steps += clause_evaluate(&one, 0, work->env, work->scratch, offer, &v);
    type = op_condition(leaf->tree->dialect, &v, &truth);
    arena_rewind(work->scratch, mark);
    if (type == VALUE_BOOLEAN)
        return truth ? PROPERTY_TRUE : PROPERTY_FALSE;
    return type == VALUE_UNDEFINED ? PROPERTY_UNDEFINED : PROPERTY_ERROR;
}

/* The same, by a look at the offer where that is enough. */
static enum property_answer leaf_test(struct why_work *work, uint32_t place, const struct tree *offer)
{
    const struct clauses *leaf = &work->leaves[place];
    enum property_answer answer = PROPERTY_EVALUATE;

    if (leaf->count == 0)
        return PROPERTY_TRUE;
    if (leaf->count == 1 && leaf->items[0].simple)
        answer = property_test(&leaf->items[0].property, work->env, leaf->tree->dialect, offer);
    if (answer != PROPERTY_EVALUATE)
        return answer;
    work->evaluated |= (uint64_t)1 << place;
    return leaf_evaluate(work, leaf, offer);
}

/* Tests all clauses of the request with an offer, and counts. Returns those that the offer does not satisfy. */
static uint64_t test_offer(struct why_work *work, const struct tree *offer)
{
    struct why *why = work->why;
    uint64_t failed = 0;

    for (uint32_t i = 0; i < why->clause_count; i++) {
        switch (leaf_test(work, i, offer)) {
        case PROPERTY_TRUE:
            why->clauses[i].alone++;
            why->clauses[i].together += !failed;
            continue;
        case PROPERTY_UNDEFINED:
            why->clauses[i].undefined++;
            break;
        case PROPERTY_ERROR:
            why->clauses[i].error++;
            break;
        default:
            break;
        }
        failed |= (uint64_t)1 << i;
    }
    return failed;
}

/* Tests one more offer; false when there is none left, or the steps are spent. */
static bool test_next(struct explaining *run)
{
    struct why_work *work = &run->work;
    struct why *why = work->why;
    size_t i = run->at;
    uint64_t failed;
    bool accepts;

    if (i == work->count)
        return false;
    if (work->steps > WHY_STEPS_MAX) {
        why->unseen = work->count - i;
        why->offers = work->count = i;
        why->all_edits = false;
        return false;
    }
    failed = test_offer(work, work->offers[i]);
    accepts = why_refusals_ask(run->refusals, i, !failed, &work->steps);
    why->fitting += !failed;
    why->accepting += accepts;
    why->matching += !failed && accepts;
    why->met[i] = (unsigned char)((failed ? 0 : WHY_MET_FITS) | (accepts ? WHY_MET_ACCEPTS : 0));
    work->failed[i] = failed | (accepts ? 0 : WHY_OFFER_BIT);
    run->at++;
    return true;
}

/* Gathers the distinct patterns of failure, in the order in which they occur. */
static void gather_patterns(struct why_work *work)
{
    struct map places;
    size_t room = 0;

    map_init(&places, 0);
    for (size_t i = 0; i < work->count; i++) {
        uint64_t place = map_find(&places, work->failed[i]);

        if (place != MAP_NONE) {
            work->patterns[place].count++;
            continue;
        }
        ARRAY_ROOM(work->patterns, work->pattern_count, room, 16);
        map_set(&places, work->failed[i], work->pattern_count);
        work->patterns[work->pattern_count++] = (struct why_pattern){work->failed[i], 1, i};
    }
    map_done(&places);
}

/* Counts the offers that nothing outside the set excludes. */
static size_t set_opens(const struct why_work *work, uint64_t set)
{
    size_t opens = 0;

    for (size_t i = 0; i < work->pattern_count; i++)
        if (!(work->patterns[i].failed & ~set))
            opens += work->patterns[i].count;
    return opens;
}

static int compare_sets(const void *a, const void *b)
{
    const struct why_set *x = a, *y = b;
    int sizes = __builtin_popcountll(x->clauses) + x->offers - __builtin_popcountll(y->clauses) - y->offers;

    if (x->opens != y->opens)
        return x->opens > y->opens ? -1 : 1;
    if (sizes)
        return sizes;
    return (x->clauses > y->clauses) - (x->clauses < y->clauses);
}

static void find_sets(struct why_work *work)
{
    uint64_t *patterns = mem_alloc((work->pattern_count + 1) * sizeof *patterns), sets[WHY_SETS_MAX];
    struct why *why = work->why;

    for (size_t i = 0; i < work->pattern_count; i++)
        patterns[i] = work->patterns[i].failed;
    why->all_sets = why_minimal_sets(patterns, work->pattern_count, sets, WHY_SETS_MAX, &why->set_count);
    why->sets = arena_alloc(&why->arena, WHY_SETS_MAX * sizeof *why->sets);
    for (uint32_t i = 0; i < why->set_count; i++)
        why->sets[i] = (struct why_set){sets[i] & ~WHY_OFFER_BIT, sets[i] & WHY_OFFER_BIT, set_opens(work, sets[i])};
    qsort(why->sets, why->set_count, sizeof *why->sets, compare_sets);
    free(patterns);
}

/* The first component in which two vectors differ; -1 when they are the same. */
static int32_t first_difference(const struct value *a, const struct value *b, uint32_t count, int *ret_order)
{
    for (uint32_t i = 0; i < count; i++)
        if ((*ret_order = order_compare(&a[i], &b[i])))
            return (int32_t)i;
    *ret_order = 0;
    return -1;
}

static const char *component_value(struct why *why, const struct dialect *dialect, const struct value *v)
{
    const char *result;
    struct buf text;

    buf_init(&text);
    value_print(&text, dialect, v, PRINT_PLAIN);
    result = why_text(why, &text);
    buf_done(&text);
    return result;
}

static void tell_choice(struct why_work *work, const struct policy *policy, const struct candidate *best,
                        const struct candidate *second)
{
    struct why_choice *choice = &work->why->choice;
    struct buf text;
    int order;

    *choice = (struct why_choice){.offer = best->offer, .component = -1};
    if (!second->count)
        return;
    choice->has_second = true;
    choice->second = second->offer;
    choice->component = first_difference(best->components, second->components, best->count, &order);
    if (choice->component < 0)
        return;
    buf_init(&text);
    if (policy->vector)
        print_expr(&text, policy->ad, &tree_parts(policy->ad, policy->vector)[choice->component], PRINT_PLAIN);
    else
        buf_adds(&text, choice->component == 0   ? "label.Preempts is undefined"
                        : choice->component == 1 ? "self.Rank"
                                                 : "label.Rank");
    choice->text = why_text(work->why, &text);
    buf_done(&text);
    choice->value = component_value(work->why, work->request->dialect, &best->components[choice->component]);
    choice->second_value = component_value(work->why, work->request->dialect, &second->components[choice->component]);
}

/* Looks at one more offer for the best of those that match, and the next best; false when there is none left. */
static bool choice_next(struct explaining *run)
{
    struct why_work *work = &run->work;
    struct candidate *best = &run->best, *second = &run->second;
    struct arena_mark before = arena_mark(work->scratch);
    struct candidate candidate = {.offer = run->at};
    int order;

    if (run->at == work->count)
        return false;
    if (work->failed[run->at++])
        return true;
    candidate.count = policy_vector(run->policy, work->env, work->scratch, work->request, work->offers[candidate.offer],
                                    NULL, &candidate.components);
    if (!candidate.count) {
        arena_rewind(work->scratch, before);
    } else if (!best->count ||
               (first_difference(candidate.components, best->components, best->count, &order) >= 0 && order > 0)) {
        *second = *best;
        *best = candidate;
    } else if (!second->count ||
               (first_difference(candidate.components, second->components, second->count, &order) >= 0 && order > 0)) {
        *second = candidate;
    } else {
        arena_rewind(work->scratch, before);
    }
    return true;
}

static void choice_tell(struct explaining *run)
{
    if (run->best.count)
        tell_choice(&run->work, run->policy, &run->best, &run->second);
    else
        run->work.why->discarded = true;
}

static void find_reasons(struct why_work *work)
{
    work->reads = mem_alloc((work->count + 1) * sizeof *work->reads);
    memset(work->reads, 0, (work->count + 1) * sizeof *work->reads);
    gather_patterns(work);
    find_sets(work);
    why_find_hints(work);
    if (!work->why->unseen) /* else every try would take as long again */
        why_find_edits(work);
}

static void meter_tell(struct explaining *run)
{
    if (run->meter)
        *run->meter += run->work.meter - run->told;
    run->told = run->work.meter;
}

struct explaining *why_begin(struct why *why, const struct env *env, struct arena *scratch, const struct policy *policy,
                             struct tree *request, struct tree *const *offers, size_t count)
{
    struct explaining *run = mem_alloc(sizeof *run);

    *run = (struct explaining){
        .work = {.scratch = scratch, .request = request, .offers = offers, .count = count, .why = why},
        .env = *env,
        .policy = policy,
        .mark = arena_mark(scratch)};
    run->meter = env->meter;
    run->env.meter = &run->work.meter;
    run->work.env = &run->env;
    *why = (struct why){.offers = count, .all_sets = true, .all_edits = true};
    arena_init(&why->arena);
    why->met = arena_alloc(&why->arena, count + 1);
    memset(why->met, 0, count + 1);
    run->work.failed = mem_alloc((count + 1) * sizeof *run->work.failed);
    why_take_apart(&run->work);
    why_find_conflicts(&run->work);
    run->refusals = why_refusals_new(&run->work);
    meter_tell(run);
    return run;
}

/* Ends the tests: no further offer will be tested. */
static void tests_end(struct explaining *run)
{
    why_refusals_tell(run->refusals, &run->work);
    run->at = 0;
    run->stage = run->work.why->matching ? RUN_CHOICE : RUN_OVER;
    if (run->stage == RUN_OVER)
        find_reasons(&run->work);
}

bool why_go_on(struct explaining *run, uint64_t steps)
{
    uint64_t from = run->work.meter;

    /* an offer that needs no evaluation takes time as well */
    for (uint64_t looked = 0; run->stage != RUN_OVER && run->work.meter - from + looked < steps; looked++) {
        if (run->stage == RUN_TESTS && !test_next(run)) {
            tests_end(run);
        } else if (run->stage == RUN_CHOICE && !choice_next(run)) {
            choice_tell(run);
            run->stage = RUN_OVER;
        }
    }
    meter_tell(run);
    return run->stage != RUN_OVER;
}

/* Ends an explanation early: it tells what it knows of the offers that it has seen. */
static void cut_short(struct explaining *run)
{
    struct why_work *work = &run->work;
    struct why *why = work->why;

    if (run->stage == RUN_TESTS) {
        why->unseen += work->count - run->at;
        why->offers = work->count = run->at;
        why->all_edits = false;
        tests_end(run);
    }
    if (run->stage != RUN_CHOICE)
        return;
    while (!run->best.count && choice_next(run))
        ;
    choice_tell(run);
}

void why_end(struct explaining *run)
{
    struct why_work *work;
    struct why *why;

    if (!run)
        return;
    cut_short(run);
    work = &run->work;
    why = work->why;
    if (why->matching && !why->discarded)
        why->verdict = WHY_MATCHES;
    else
        why->verdict = why->conflict_count ? WHY_NEVER : WHY_NOT_NOW;
    why_refusals_free(run->refusals);
    for (uint32_t i = 0; i < why->clause_count; i++)
        clauses_done(&work->leaves[i]);
    free(work->leaves);
    free(work->failed);
    free(work->reads);
    free(work->patterns);
    arena_rewind(work->scratch, run->mark);
    free(run);
}

void why_explain(struct why *why, const struct env *env, struct arena *scratch, const struct policy *policy,
                 struct tree *request, struct tree *const *offers, size_t count)
{
    struct explaining *run = why_begin(why, env, scratch, policy, request, offers, count);

    while (why_go_on(run, UINT64_MAX))
        ;
    why_end(run);
}

void why_done(struct why *why)
{
    if (!why)
        return;
    for (uint32_t i = 0; i < why->clause_count; i++)
        tree_unref(why->clauses[i].left);
    arena_done(&why->arena);
    *why = (struct why){0};
}

enum why_offer_case why_offer(const struct why *why)
{
    bool closed = why->verdict == WHY_NEVER;

    for (uint32_t i = 0; i < why->clause_count; i++)
        closed = closed || why->clauses[i].timed;
    if (why->matching)
        return WHY_OFFER_TAKEN;
    if (closed)
        return WHY_OFFER_CLOSED;
    if (why->offers == 0)
        return WHY_OFFER_NOBODY;
    return why->fitting ? WHY_OFFER_UNWANTED : WHY_OFFER_REFUSES;
}
