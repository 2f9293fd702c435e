/* why_edits.c: the smallest changes of the request that open matches.
 *
 * An offer is opened by changing all that failed with it, and nothing else. So the patterns of failure are gone through from the
 * smallest on. A clause that compares is changed to the nearest value that an offer has (and, where that opens few, to one in the
 * middle of what they have); a clause of another form is dropped; an offer's refusal is met by changing the attribute that it
 * looks at. What would open is then counted by evaluating the changed request. */
#include "ad/refs.h"
#include "base/mem.h"
#include "base/rng.h"
#include "match/why_parts.h"
#include "text/print.h"

#include <stdlib.h>
#include <string.h>

#define PATTERNS_TRIED 24
#define OFFERS_LOOKED_AT 256 /* of a pattern, when one must be chosen to follow */
#define VALUES_MAX 256       /* that a comparison could be moved to */

/* A change of the request that is tried. */
struct attempt {
    struct why_swap swaps[WHY_EDIT_PARTS_MAX]; /* their trees are held */
    uint32_t clauses[WHY_EDIT_PARTS_MAX];      /* that each replaces; none when it sets an attribute */
    uint32_t count;
    uint64_t pattern; /* what must have failed with an offer for this to help */
    double distance;
};

struct edits {
    struct why_work *work;
    uint64_t spent;  /* meetings */
    uint64_t *reads; /* an offer each: the names that it may read, as refs_bits has them; 0 while nobody asked */
};

static void attempt_done(struct attempt *attempt)
{
    while (attempt->count)
        tree_unref(attempt->swaps[--attempt->count].to);
}

static bool attempt_add(struct attempt *attempt, uint32_t clause, const struct expr *e, symbol attribute,
                        struct tree *taken)
{
    if (attempt->count == WHY_EDIT_PARTS_MAX) {
        tree_unref(taken);
        return false;
    }
    attempt->clauses[attempt->count] = clause;
    attempt->swaps[attempt->count++] = (struct why_swap){e, attribute, taken};
    return true;
}

/* The comparison that a clause of the request is, or NULL. */
static const struct property *clause_property(const struct why_work *work, uint32_t clause)
{
    const struct clauses *leaf = &work->leaves[clause];

    return leaf->count == 1 && leaf->items[0].simple ? &leaf->items[0].property : NULL;
}

/* What the offer has there, if it is a literal that can be compared. */
static bool offer_value(const struct property *property, const struct tree *offer, struct value *ret)
{
    const struct expr *found = tree_find(offer, tree_root(offer), property->name);
    struct value wanted = property_constant(property);

    if (!found || found->kind < EXPR_BOOLEAN || found->kind > EXPR_RELTIME)
        return false;
    *ret = (struct value){.type = found->kind, .boolean = found->small & 1, .zone = found->small};
    ret->u.integer = found->u.integer;
    if (found->kind == EXPR_STRING) {
        ret->len = found->u.run.count;
        ret->u.string = tree_string(offer, found);
    }
    return ret->type == wanted.type || (value_is_number(ret) && value_is_number(&wanted));
}

static double as_number(const struct value *v)
{
    return v->type == VALUE_REAL ? v->u.real : v->type == VALUE_BOOLEAN ? v->boolean : (double)v->u.integer;
}

/* How far a constant is moved, as a part of itself; a string is another, or not. */
static double distance(const struct value *from, const struct value *to)
{
    double a, b, size;

    if (from->type == VALUE_STRING || from->type == VALUE_BOOLEAN)
        return 1;
    a = as_number(from);
    b = as_number(to);
    size = a < 0 ? -a : a;
    return (a < b ? b - a : a - b) / (size > 1 ? size : 1);
}

static struct tree *literal_tree(const struct tree *request, const struct value *v)
{
    struct build build;
    struct tree *tree;

    build_init(&build, request->symbols, request->dialect);
    value_build(&build, v);
    tree = build_seal(&build);
    build_done(&build);
    return tree;
}

/* The clause with another constant: its reference, compared so that this value is taken as well. */
static struct tree *compare_tree(const struct why_work *work, uint32_t clause, symbol name, const struct value *v)
{
    const struct tree *left = work->why->clauses[clause].left;
    const struct expr *e = tree_root(left), *parts;
    enum op op = (enum op)clause_property(work, clause)->op;
    struct build build;
    struct tree *tree;

    while (e->kind == EXPR_WITHIN)
        e = tree_parts(left, e);
    parts = tree_parts(left, e);
    if (parts[0].kind <= EXPR_RELTIME)
        parts++;
    build_init(&build, left->symbols, left->dialect);
    build_copy(&build, left, parts);
    build_top(&build)->label = OP_NONE;
    if (name != SYMBOL_NONE) { /* the same of an attribute of another name */
        symbols_hold(build.symbols, name);
        symbols_drop(build.symbols, build_top(&build)->u.name.id);
        build_top(&build)->u.name.id = name;
    } else {
        op = op == OP_LESS ? OP_LESS_EQUAL : op == OP_GREATER ? OP_GREATER_EQUAL : op;
    }
    value_build(&build, v);
    build_top(&build)->label = op;
    build_bind(&build, EXPR_CHAIN, 2);
    tree = build_seal(&build);
    build_done(&build);
    return tree;
}

/* The own attribute that a clause compares with, if it is a literal: then that is what to change. */
static const struct expr *compared_attribute(const struct tree *request, const struct expr *e)
{
    const struct expr *parts = tree_parts(request, e), *root = tree_root(request), *found = NULL;

    if (e->kind != EXPR_CHAIN || e->u.run.count != 2)
        return NULL;
    for (int i = 0; i < 2 && !found; i++) {
        if (parts[i].kind == EXPR_NAME)
            found = tree_find(request, root, parts[i].u.name.id);
        else if (parts[i].kind == EXPR_DOT &&
                 (symbol_same(EXPR_DOT_BASE(&parts[i]), NAME_SELF) || symbol_same(EXPR_DOT_BASE(&parts[i]), NAME_MY)))
            found = tree_find(request, root, parts[i].u.name.id);
    }
    return found && found->kind <= EXPR_RELTIME ? found : NULL;
}

/* Adds what makes the clause true for an offer that has this value there (NULL: drop it). */
static bool attempt_clause(const struct edits *edits, struct attempt *attempt, uint32_t clause, const struct value *v)
{
    const struct why_work *work = edits->work;
    const struct why_clause *is = &work->why->clauses[clause];
    const struct property *property = clause_property(work, clause);
    const struct expr *attribute;
    struct value from;

    if (is->more)
        return false;
    if (!v || !property || property->op == OP_NOT_EQUAL) {
        attempt->distance += 2;
        return attempt_add(attempt, clause, is->e, SYMBOL_NONE, NULL);
    }
    from = property_constant(property);
    attempt->distance += distance(&from, v);
    attribute = compared_attribute(work->request, is->e);
    if (attribute && property->op != OP_LESS && property->op != OP_GREATER)
        return attempt_add(attempt, clause, NULL, attribute->label, literal_tree(work->request, v));
    return attempt_add(attempt, clause, is->e, SYMBOL_NONE, compare_tree(work, clause, SYMBOL_NONE, v));
}

/* The value of an own attribute that makes this comparison by an offer true. */
static bool accepted_value(const struct property *property, struct value *ret)
{
    bool less = property->op == OP_LESS, more = property->op == OP_GREATER;

    *ret = property_constant(property);
    if (property->op == OP_NOT_EQUAL)
        return false;
    if (!less && !more)
        return true;
    if (ret->type == VALUE_REAL)
        ret->u.real = nextafter(ret->u.real, less ? -INFINITY : INFINITY);
    else if (ret->type == VALUE_STRING || ret->u.integer == (less ? INT64_MIN : INT64_MAX))
        return false;
    else
        ret->u.integer += less ? -1 : 1;
    return true;
}

/* Adds what makes the offer's own constraint take the request; false when no attribute does. */
static bool attempt_offer(const struct edits *edits, struct attempt *attempt, struct tree *offer)
{
    const struct why_work *work = edits->work;
    const struct expr *root = tree_root(work->request);
    struct party party;
    bool possible = true;

    party_init(&party, work->env, work->scratch, offer);
    for (uint32_t i = 0; i < party.clauses.count && possible; i++) {
        const struct clause *clause = &party.clauses.items[i];
        const struct expr *now;
        struct value v, from;

        if (clause_holds(&party.clauses, i, work->env, work->scratch, work->request))
            continue;
        possible = clause->simple && accepted_value(&clause->property, &v);
        if (!possible)
            break;
        now = tree_find(work->request, root, clause->property.name);
        from = v;
        if (now && now->kind == (enum expr_kind)v.type)
            from.u.integer = now->u.integer;
        attempt->distance += now ? distance(&from, &v) : 1;
        possible = attempt_add(attempt, 0, NULL, clause->property.name, literal_tree(work->request, &v));
    }
    party_done(&party);
    return possible;
}

/* What would make the request match that offer. */
static bool attempt_follow(const struct edits *edits, struct attempt *attempt, size_t offer)
{
    const struct why_work *work = edits->work;
    uint64_t failed = work->failed[offer];

    *attempt = (struct attempt){.pattern = failed};
    for (uint32_t i = 0; i < work->why->clause_count; i++) {
        const struct property *property = clause_property(work, i);
        struct value v;

        if (!(failed >> i & 1))
            continue;
        if (!attempt_clause(edits, attempt, i, property && offer_value(property, work->offers[offer], &v) ? &v : NULL))
            return false;
    }
    return !(failed & WHY_OFFER_BIT) || attempt_offer(edits, attempt, work->offers[offer]);
}

/* Failures that the change may undo: by the clauses that it replaces, or that read an attribute which it sets. */
static uint64_t touched(const struct why_work *work, const struct attempt *attempt)
{
    const struct expr *root = tree_root(work->request);
    uint64_t set = 0;
    struct scope scope;

    scope_init(&scope, work->request, NULL);
    for (uint32_t i = 0; i < attempt->count; i++) {
        const struct why_swap *swap = &attempt->swaps[i];
        const struct expr *now = swap->e ? NULL : tree_find(work->request, root, swap->attribute);

        if (swap->e) {
            set |= (uint64_t)1 << attempt->clauses[i];
            continue;
        }
        set |= now ? work->evaluated : UINT64_MAX; /* a new name may catch any that was the offers' */
        set |= WHY_OFFER_BIT;
        for (uint32_t k = 0; k < work->why->clause_count; k++)
            if (now && (work->why->clauses[k].more || refs_reach(&scope, work->why->clauses[k].e, now)))
                set |= (uint64_t)1 << k;
    }
    return set;
}

/* May the offer look at one of these attributes? */
static bool looks_at(struct edits *edits, size_t offer, uint64_t names)
{
    uint64_t *reads = &edits->reads[offer];

    if (!*reads)
        *reads = refs_bits(edits->work->offers[offer]) | 1;
    return *reads & names;
}

/* How many offers the changed request matches. */
static size_t count_opened(struct edits *edits, const struct attempt *attempt, struct tree *changed)
{
    struct why_work *work = edits->work;
    uint64_t may_change = touched(work, attempt), sets = 0;
    struct party party;
    size_t opens = 0;

    for (uint32_t i = 0; i < attempt->count; i++)
        if (!attempt->swaps[i].e)
            sets |= refs_bit(attempt->swaps[i].attribute);
    party_init(&party, work->env, work->scratch, changed);
    for (size_t i = 0; i < work->count; i++) {
        if (work->failed[i] & ~may_change || (work->failed[i] & WHY_OFFER_BIT && !looks_at(edits, i, sets)))
            continue; /* that still fails */
        edits->spent++;
        if (!clauses_hold(&party.clauses, work->env, work->scratch, work->offers[i]))
            continue;
        edits->spent += 3;
        opens += match_accepts(work->env, work->scratch, work->offers[i], changed);
    }
    party_done(&party);
    return opens;
}

static const char *expr_text(struct why *why, const struct tree *tree, const struct expr *e)
{
    const char *result;
    struct buf text;

    buf_init(&text);
    print_expr(&text, tree, e, PRINT_PLAIN);
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
            part->from = expr_text(why, request, now);
        if (swap->to)
            part->to = expr_text(why, swap->to, tree_root(swap->to));
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
            edit.opens = count_opened(edits, attempt, changed);
        if (edit.opens)
            why->edits[why->edit_count++] = edit;
        tree_unref(changed);
    }
    attempt_done(attempt);
}

/* A value that offers have there, and how many. */
struct had {
    struct value v;
    size_t count;
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

/* What the offers that failed only by this comparison have instead: at most VALUES_MAX of them, each once. */
static size_t values_had(const struct why_work *work, const struct property *property, uint64_t pattern,
                         struct had *ret)
{
    struct value wanted = property_constant(property), v;
    uint16_t slots[VALUES_MAX * 4] = {0}; /* the place of a value plus one, or 0 */
    size_t count = 0, slot;

    for (size_t i = 0; i < work->count; i++) {
        if (work->failed[i] != pattern || !offer_value(property, work->offers[i], &v))
            continue;
        slot = value_hash(&v) % (VALUES_MAX * 4);
        while (slots[slot] && !value_equal(&ret[slots[slot] - 1].v, &v))
            slot = (slot + 1) % (VALUES_MAX * 4);
        if (!slots[slot] && count < VALUES_MAX) {
            ret[count++] = (struct had){v, 0, distance(&wanted, &v)};
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

static void try_value(struct edits *edits, uint32_t clause, uint64_t pattern, const struct value *v)
{
    struct attempt attempt = {.pattern = pattern};

    if (attempt_clause(edits, &attempt, clause, v))
        attempt_try(edits, &attempt);
    attempt_done(&attempt);
}

/* One comparison alone keeps these offers out: move it to the nearest value that they have, or the most frequent; and to the one
 * in the middle of them. False when it cannot be moved. */
static bool try_values(struct edits *edits, uint32_t clause, uint64_t pattern)
{
    const struct why_work *work = edits->work;
    const struct property *property = clause_property(work, clause);
    size_t count, all = 0, below = 0, i;
    struct had *values;

    if (!property || property->op == OP_NOT_EQUAL)
        return false;
    values = mem_alloc(VALUES_MAX * sizeof *values);
    count = values_had(work, property, pattern, values);
    qsort(values, count, sizeof *values, compare_had);
    if (count)
        try_value(edits, clause, pattern, &values[0].v);
    if (property->op != OP_EQUAL) {
        for (i = 0; i < count; i++)
            all += values[i].count;
        for (i = 0; i < count && below + values[i].count < all / 2; i++)
            below += values[i].count;
        if (i > 0 && i < count)
            try_value(edits, clause, pattern, &values[i].v);
    }
    free(values);
    return count > 0;
}

/* A name that no offer has was probably meant to be another. */
static void try_names(struct edits *edits)
{
    const struct why_work *work = edits->work;
    const struct why *why = work->why;

    for (uint32_t i = 0; i < why->hint_count; i++) {
        const struct why_hint *hint = &why->hints[i];
        const struct property *property = clause_property(work, hint->clause);
        struct attempt attempt = {.pattern = (uint64_t)1 << hint->clause};
        struct value v;

        if (hint->kind != WHY_NO_SUCH_NAME || hint->nearest == SYMBOL_NONE || !property)
            continue;
        v = property_constant(property);
        if (attempt_add(&attempt, hint->clause, why->clauses[hint->clause].e, SYMBOL_NONE,
                        compare_tree(work, hint->clause, hint->nearest, &v)))
            attempt_try(edits, &attempt);
        attempt_done(&attempt);
    }
}

/* The change that follows the nearest of the offers that failed so. */
static void try_pattern(struct edits *edits, const struct why_pattern *pattern)
{
    const struct why_work *work = edits->work;
    struct attempt best = {0}, attempt;
    unsigned looked = 0;

    if (!(pattern->failed & (pattern->failed - 1)) && pattern->failed != WHY_OFFER_BIT &&
        try_values(edits, (uint32_t)__builtin_ctzll(pattern->failed), pattern->failed))
        return;
    for (size_t i = pattern->first; i < work->count && looked < OFFERS_LOOKED_AT; i++) {
        if (work->failed[i] != pattern->failed)
            continue;
        looked++;
        if (attempt_follow(edits, &attempt, i) && (!best.count || attempt.distance < best.distance)) {
            struct attempt other = best;

            best = attempt;
            attempt = other;
        }
        attempt_done(&attempt);
    }
    if (best.count)
        attempt_try(edits, &best);
    attempt_done(&best);
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

    why->edits = arena_alloc(&why->arena, WHY_EDITS_MAX * sizeof *why->edits);
    if (!work->pattern_count)
        return;
    edits.reads = mem_alloc(work->count * sizeof *edits.reads);
    memset(edits.reads, 0, work->count * sizeof *edits.reads);
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
    free(edits.reads);
}
