/* why_refusals.c: the other side: which clauses of the offers' own constraints refuse the request.
 *
 * Offers of one kind say the same clause in the same words, so refusals are gathered by the clause as it is written. */
#include "lang/ad/ops.h"
#include "lang/ad/refs.h"
#include "lang/base/mem.h"
#include "lang/text/print.h"
#include "match/pair/pair.h"
#include "match/pair/why_parts.h"

#include <stdlib.h>

#define GROUPS_MAX 1024 /* groups of refusals that are told apart */
#define SLOTS 4096      /* a power of two, more than GROUPS_MAX */
#define LATEST 16

struct group {
    uint64_t hash;
    size_t latest; /* the offer that was counted last */
    struct why_refusal refusal;
};

struct why_refusals {
    const struct why_work *work;
    struct group *groups;
    uint32_t count;
    uint16_t slots[SLOTS];        /* the place of a group plus one, or 0 */
    struct group *latest[LATEST]; /* for the n-th clause of an offer: most offers say the same there */
    bool whole;
};

/* One offer that is being asked. */
struct asking {
    struct why_refusals *refusals;
    const struct tree *offer;
    size_t place;
    uint32_t ordinal; /* of the clause */
    bool fits, accepts, ready;
    struct pair pair; /* the offer is on the left; made when a clause must be evaluated */
    struct eval eval;
    uint64_t budget; /* the steps left when the evaluation began */
    struct active active;
};

struct why_refusals *why_refusals_new(const struct why_work *work)
{
    struct why_refusals *refusals = mem_alloc(sizeof *refusals);

    *refusals = (struct why_refusals){.work = work, .whole = true};
    refusals->groups = mem_alloc(GROUPS_MAX * sizeof *refusals->groups);
    return refusals;
}

void why_refusals_free(struct why_refusals *refusals)
{
    if (!refusals)
        return;
    free(refusals->groups);
    free(refusals);
}

static struct group *find_group(struct why_refusals *refusals, const struct asking *asking, const struct expr *e)
{
    struct group *group = refusals->latest[asking->ordinal % LATEST];
    uint64_t hash;
    uint32_t slot;

    if (group && tree_equal(group->refusal.offer, group->refusal.e, asking->offer, e))
        return group;
    hash = tree_hash(asking->offer, e);
    slot = (uint32_t)hash % SLOTS;

    for (; refusals->slots[slot]; slot = (slot + 1) % SLOTS) {
        group = &refusals->groups[refusals->slots[slot] - 1];
        if (group->hash == hash && tree_equal(group->refusal.offer, group->refusal.e, asking->offer, e)) {
            refusals->latest[asking->ordinal % LATEST] = group;
            return group;
        }
    }
    if (refusals->count == GROUPS_MAX) {
        refusals->whole = false;
        return NULL;
    }
    group = &refusals->groups[refusals->count++];
    refusals->slots[slot] = (uint16_t)refusals->count;
    *group = (struct group){hash, SIZE_MAX, {.offer = asking->offer, .e = e, .first = asking->place}};
    return group;
}

static bool clause_true(struct asking *asking, const struct expr *e)
{
    const struct why_work *work = asking->refusals->work;
    enum property_answer answer = PROPERTY_EVALUATE;
    struct property property;

    if (property_read(asking->offer, asking->offer, e, &property))
        answer = property_test(&property, work->env, asking->offer->dialect, work->request);
    if (answer != PROPERTY_EVALUATE)
        return answer == PROPERTY_TRUE;
    if (!asking->ready) {
        pair_init(&asking->pair, asking->offer, work->request);
        eval_init(&asking->eval, work->env, work->scratch);
        asking->budget = asking->eval.steps;
        asking->active = (struct active){match_constraint(asking->offer), asking->pair.left.around, NULL};
        asking->eval.active = &asking->active;
        asking->ready = true;
    }
    return eval_true(&asking->eval, &asking->pair.left, e) && !asking->eval.exhausted;
}

static void ask_clause(struct asking *asking, const struct expr *e)
{
    const struct expr *parts = tree_parts(asking->offer, e);
    struct group *group;

    if (e->kind == EXPR_CHAIN && parts[1].label == OP_AND) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            ask_clause(asking, &parts[i]);
        return;
    }
    asking->ordinal++;
    if (clause_true(asking, e))
        return;
    asking->accepts = false;
    group = find_group(asking->refusals, asking, e);
    if (group && group->latest != asking->place) { /* an offer may say the clause twice */
        group->latest = asking->place;
        group->refusal.count++;
        group->refusal.fitting += asking->fits;
    }
}

bool why_refusals_ask(struct why_refusals *refusals, size_t offer, bool fits, uint64_t *steps)
{
    const struct why_work *work = refusals->work;
    struct arena_mark mark = arena_mark(work->scratch);
    const struct expr *constraint = match_constraint(work->offers[offer]);
    struct asking asking;

    if (!constraint)
        return true;
    asking.refusals = refusals;
    asking.offer = work->offers[offer];
    asking.place = offer;
    asking.ordinal = 0;
    asking.fits = fits;
    asking.accepts = true;
    asking.ready = false;
    ask_clause(&asking, constraint);
    if (asking.ready) {
        *steps += asking.budget - asking.eval.steps;
        arena_rewind(work->scratch, mark);
    }
    return asking.accepts;
}

static int compare_refusals(const void *a, const void *b)
{
    const struct why_refusal *x = &((const struct group *)a)->refusal, *y = &((const struct group *)b)->refusal;

    if (x->fitting != y->fitting)
        return x->fitting > y->fitting ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first) + (x->first == y->first ? (x->e > y->e) - (x->e < y->e) : 0);
}

/* Finds the attributes of the request that the clause reads, with their values. */
static void read_attributes(struct why_work *work, struct why_refusal *refusal)
{
    struct arena_mark mark = arena_mark(work->scratch);
    struct pair pair;
    struct refs refs;
    struct buf text;

    pair_init(&pair, refusal->offer, work->request);
    refs_init(&refs);
    buf_init(&text);
    refs_add(&refs, &pair.left, refusal->e);
    for (uint32_t i = 0; i < refs.count && refusal->read_count < WHY_READS_MAX; i++) {
        struct why_read *read = &refusal->reads[refusal->read_count];
        struct eval eval;
        struct value v;

        if (refs.items[i].len == 0)
            continue;
        read->name = refs.items[i].path[0];
        read->value = NULL;
        refusal->read_count++;
        eval_init(&eval, work->env, work->scratch);
        if (!eval_attribute(&eval, &pair.right, read->name, &v))
            continue;
        buf_reset(&text);
        value_print(&text, work->request->dialect, &v, PRINT_PLAIN);
        read->value = why_text(work->why, &text);
    }
    buf_done(&text);
    refs_done(&refs);
    arena_rewind(work->scratch, mark);
}

void why_refusals_tell(struct why_refusals *refusals, struct why_work *work)
{
    struct why *why = work->why;

    qsort(refusals->groups, refusals->count, sizeof *refusals->groups, compare_refusals);
    why->refusal_count = refusals->count < WHY_REFUSALS_MAX ? refusals->count : WHY_REFUSALS_MAX;
    why->all_refusals = refusals->whole && refusals->count <= WHY_REFUSALS_MAX;
    why->refusals = arena_alloc(&why->arena, (why->refusal_count + 1) * sizeof *why->refusals);
    for (uint32_t i = 0; i < why->refusal_count; i++) {
        why->refusals[i] = refusals->groups[i].refusal;
        read_attributes(work, &why->refusals[i]);
    }
}
