/* why_edits.c: the smallest changes of the request that open matches.
 *
 * An offer is opened by changing all that failed with it, and nothing else. So the search goes through the patterns of failure, the smallest first.
 * A clause that compares is changed to the nearest value that an offer has (and, where that opens few, to one in the middle of what they have); a
 * clause of another form is dropped; an offer's refusal is met by changing the attribute that it looks at. How many offers a change opens is then
 * counted by evaluating the changed request. */
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "lang/text/print.h"
#include "match/pair/why_attempt.h"

#include <stdlib.h>
#include <string.h>

#define PATTERNS_TRIED 24
#define OFFERS_LOOKED_AT 256 /* offers of a pattern, when one must be chosen to follow */
#define VALUES_MAX 256       /* values that a comparison could be moved to */
#define WAYS_MAX 16          /* different changes that offers of one pattern want */
#define WAYS_TRIED 4

struct edits {
    struct why_work *work;
    uint64_t spent; /* meetings */
};

static const char *expr_text(struct why *why, const struct tree *tree, const struct expr *e, int style)
{
    const char *result;
    struct buf text;

    buf_init(&text);
    print_expr(&text, tree, e, style);
    result = why_text(why, &text);
    buf_done(&text);
    return result;
}

static void edit_describe(struct edits *edits, const struct attempt *attempt, struct why_edit *edit)
{
    const struct tree *request = edits->work->request;
    struct why *why = edits->work->why;

    edit->part_count = attempt->count;
    for (uint32_t i = 0; i < attempt->count; i++) {
        const struct why_swap *swap = &attempt->swaps[i];
        struct why_change *part = &edit->parts[i];
        const struct expr *now = swap->e ? swap->e : tree_find(request, tree_root(request), swap->attribute);

        *part = (struct why_change){.clause = attempt->clauses[i], .attribute = swap->attribute};
        part->kind = !swap->e ? WHY_CHANGE_ATTRIBUTE : swap->to ? WHY_CHANGE_CLAUSE : WHY_DROP_CLAUSE;
        if (now)
            part->from = expr_text(why, request, now, PRINT_PLAIN);
        if (swap->to)
            part->to = expr_text(why, swap->to, tree_root(swap->to), PRINT_PLAIN | PRINT_AMOUNTS);
    }
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool edit_told(const struct why *why, const struct why_edit *edit)
{
    for (uint32_t i = 0; i < why->edit_count; i++) {
        const struct why_edit *told = &why->edits[i];
        bool same = told->part_count == edit->part_count;

        for (uint32_t k = 0; k < edit->part_count && same; k++)
            same =
                same_text(told->parts[k].from, edit->parts[k].from) && same_text(told->parts[k].to, edit->parts[k].to);
        if (same)
            return true;
    }
    return false;
}

/* Is there a change of that clause already? Then it need not be dropped. */
static bool clause_changed(const struct why *why, uint32_t clause)
{
    for (uint32_t i = 0; i < why->edit_count; i++)
        if (why->edits[i].part_count == 1 && why->edits[i].parts[0].kind == WHY_CHANGE_CLAUSE &&
            why->edits[i].parts[0].clause == clause)
            return true;
    return false;
}

/* Tries the change, and keeps it if it opens something. Takes the attempt. */
static void attempt_try(struct edits *edits, struct attempt *attempt)
{
    struct why *why = edits->work->why;
    struct why_edit edit = {0};
    struct tree *changed;

    if (edits->spent >= WHY_EDIT_WORK_MAX || why->edit_count == WHY_EDITS_MAX) {
        why->all_edits = false;
    } else if (attempt->count && !(attempt->count == 1 && attempt->swaps[0].e && !attempt->swaps[0].to &&
                                   clause_changed(why, attempt->clauses[0]))) {
        edit_describe(edits, attempt, &edit);
        changed = edit_told(why, &edit) ? NULL : why_change(edits->work->request, attempt->swaps, attempt->count);
        if (changed)
            edit.opens = attempt_count(edits->work, attempt, changed, &edits->spent);
        if (edit.opens)
            why->edits[why->edit_count++] = edit;
        tree_unref(changed);
    }
    attempt_done(attempt);
}

/* A value that offers have for the compared attribute, and how many have it. */
struct had {
    struct value v;
    size_t count, offer; /* the first that has it */
    double distance;
};

static uint64_t value_hash(const struct value *v)
{
    uint64_t hash = v->type;

    if (v->type != VALUE_STRING)
        return rng_mix(hash ^ (uint64_t)v->u.integer ^ v->boolean);
    for (uint32_t i = 0; i < v->len; i++)
        hash = hash * 0x100000001b3u ^ (unsigned char)v->u.string[i];
    return rng_mix(hash);
}

/* Collects what the offers that failed only by this comparison have instead: at most VALUES_MAX values, each once. */
static size_t values_had(const struct why_work *work, const struct property *property, uint64_t pattern,
                         struct had *ret)
{
    struct value wanted = property_constant(property), v;
    uint16_t slots[VALUES_MAX * 4] = {0}; /* the place of a value plus one, or 0 */
    size_t count = 0, slot;

    for (size_t i = 0; i < work->count; i++) {
        if (work->failed[i] != pattern || !attempt_value(property, work->offers[i], &v))
            continue;
        slot = value_hash(&v) % (VALUES_MAX * 4);
        while (slots[slot] && !value_equal(&ret[slots[slot] - 1].v, &v))
            slot = (slot + 1) % (VALUES_MAX * 4);
        if (!slots[slot] && count < VALUES_MAX) {
            ret[count++] = (struct had){v, 0, i, attempt_distance(&wanted, &v)};
            slots[slot] = (uint16_t)count;
        }
        if (slots[slot])
            ret[slots[slot] - 1].count++;
    }
    return count;
}

static int compare_had(const void *a, const void *b)
{
    const struct had *x = a, *y = b;

    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->count != y->count ? (x->count > y->count ? -1 : 1) : 0;
}

/* Changes the clause alone so that it is true of the offer: by an own attribute or, if that opens nothing, by the clause itself. */
static void try_value(struct edits *edits, uint32_t clause, size_t offer)
{
    const struct why_work *work = edits->work;
    uint32_t before = work->why->edit_count;

    for (int attributes = 1; attributes >= 0 && work->why->edit_count == before; attributes--) {
        struct attempt attempt = {.pattern = (uint64_t)1 << clause};

        if (attempt_clause(work, &attempt, clause, work->offers[offer], attributes))
            attempt_try(edits, &attempt);
        attempt_done(&attempt);
    }
}

/* Moves the one comparison that keeps these offers out: to the nearest value that they have, of equally near ones the most frequent; and to the
 * value in the middle. False when that opens nothing. */
static bool try_values(struct edits *edits, uint32_t clause, uint64_t pattern)
{
    const struct why_work *work = edits->work;
    const struct property *property = attempt_property(work, clause);
    uint32_t before = work->why->edit_count;
    size_t count, all = 0, below = 0, i;
    struct had *values;

    if (!property || property->op == OP_NOT_EQUAL)
        return false;
    values = mem_alloc(VALUES_MAX * sizeof *values);
    count = values_had(work, property, pattern, values);
    qsort(values, count, sizeof *values, compare_had);
    if (count)
        try_value(edits, clause, values[0].offer);
    if (property->op != OP_EQUAL) {
        for (i = 0; i < count; i++)
            all += values[i].count;
        for (i = 0; i < count && below + values[i].count < all / 2; i++)
            below += values[i].count;
        if (i > 0 && i < count)
            try_value(edits, clause, values[i].offer);
    }
    free(values);
    return work->why->edit_count > before;
}

/* Tries other names: a name that no offer has was probably meant to be another. */
static void try_names(struct edits *edits)
{
    const struct why_work *work = edits->work;
    const struct why *why = work->why;

    for (uint32_t i = 0; i < why->hint_count; i++) {
        const struct why_hint *hint = &why->hints[i];
        const struct property *property = attempt_property(work, hint->clause);
        struct attempt attempt = {.pattern = (uint64_t)1 << hint->clause};
        struct value v;

        if (hint->kind != WHY_NO_SUCH_NAME || hint->nearest == SYMBOL_NONE || !property)
            continue;
        v = property_constant(property);
        if (attempt_add(&attempt, hint->clause, why->clauses[hint->clause].e, SYMBOL_NONE,
                        attempt_compare(work, hint->clause, hint->nearest, &v)))
            attempt_try(edits, &attempt);
        attempt_done(&attempt);
    }
}

static int compare_ways(const void *a, const void *b)
{
    const struct attempt *x = a, *y = b;

    if (x->offers != y->offers)
        return x->offers > y->offers ? -1 : 1;
    return (x->distance > y->distance) - (x->distance < y->distance);
}

/* Keeps a way that is new, in place of the farthest when there is no room; counts one that is known. Takes the attempt. */
static void way_keep(struct attempt *ways, uint32_t *count, struct attempt *way)
{
    uint32_t farthest = 0;

    for (uint32_t i = 0; i < *count; i++) {
        if (attempt_equal(&ways[i], way)) {
            ways[i].offers++;
            attempt_done(way);
            return;
        }
        if (ways[i].distance > ways[farthest].distance)
            farthest = i;
    }
    if (*count < WAYS_MAX) {
        ways[(*count)++] = *way;
    } else if (way->distance < ways[farthest].distance) {
        attempt_done(&ways[farthest]);
        ways[farthest] = *way;
    } else {
        attempt_done(way);
    }
}

/* Tries the changes that the offers of this pattern want: those that most of them want, and the nearest. */
static void try_ways(struct edits *edits, const struct why_pattern *pattern, bool attributes)
{
    const struct why_work *work = edits->work;
    struct attempt ways[WAYS_MAX] = {{.count = 0}}, attempt;
    uint32_t count = 0;
    unsigned looked = 0;

    for (size_t i = pattern->first; i < work->count && looked < OFFERS_LOOKED_AT; i++) {
        if (work->failed[i] != pattern->failed)
            continue;
        looked++;
        if (attempt_follow(work, &attempt, i, attributes))
            way_keep(ways, &count, &attempt);
        else
            attempt_done(&attempt);
    }
    qsort(ways, count, sizeof *ways, compare_ways);
    for (uint32_t i = 0; i < count; i++) {
        if (i < WAYS_TRIED)
            attempt_try(edits, &ways[i]);
        attempt_done(&ways[i]);
    }
}

/* Tries to drop all clauses of the pattern. */
static void try_without(struct edits *edits, uint64_t failed)
{
    const struct why *why = edits->work->why;
    struct attempt attempt = {.pattern = failed};
    bool possible = !(failed & WHY_OFFER_BIT);

    for (uint32_t i = 0; i < why->clause_count && possible; i++)
        if ((failed >> i & 1) && !attempt_has(&attempt, why->clauses[i].e))
            possible = !why->clauses[i].more && attempt_add(&attempt, i, why->clauses[i].e, SYMBOL_NONE, NULL);
    if (possible)
        attempt_try(edits, &attempt);
    attempt_done(&attempt);
}

static void try_pattern(struct edits *edits, const struct why_pattern *pattern)
{
    const struct why *why = edits->work->why;
    uint32_t before = why->edit_count;

    if (!(pattern->failed & (pattern->failed - 1)) && pattern->failed != WHY_OFFER_BIT &&
        try_values(edits, (uint32_t)__builtin_ctzll(pattern->failed), pattern->failed))
        return;
    try_ways(edits, pattern, true);
    if (why->edit_count == before)
        try_ways(edits, pattern, false);
    if (why->edit_count == before)
        try_without(edits, pattern->failed);
}

static int compare_patterns(const void *a, const void *b)
{
    const struct why_pattern *x = a, *y = b;
    int sizes = __builtin_popcountll(x->failed) - __builtin_popcountll(y->failed);

    if (sizes)
        return sizes;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int compare_edits(const void *a, const void *b)
{
    const struct why_edit *x = a, *y = b;

    if (x->opens != y->opens)
        return x->opens > y->opens ? -1 : 1;
    return (int)x->part_count - (int)y->part_count;
}

void why_find_edits(struct why_work *work)
{
    struct edits edits = {.work = work};
    struct why *why = work->why;
    int least;

    work->edits_end = work->meter + WHY_EDIT_STEPS_MAX;
    why->edits = arena_alloc(&why->arena, WHY_EDITS_MAX * sizeof *why->edits);
    if (!work->pattern_count)
        return;
    try_names(&edits);
    qsort(work->patterns, work->pattern_count, sizeof *work->patterns, compare_patterns);
    least = __builtin_popcountll(work->patterns[0].failed);
    for (size_t i = 0; i < work->pattern_count; i++) {
        int size = __builtin_popcountll(work->patterns[i].failed);

        if (size > WHY_EDIT_PARTS_MAX || (size > least && why->edit_count))
            break; /* only the smallest changes */
        if (i == PATTERNS_TRIED) {
            why->all_edits = false;
            break;
        }
        try_pattern(&edits, &work->patterns[i]);
    }
    qsort(why->edits, why->edit_count, sizeof *why->edits, compare_edits);
}
