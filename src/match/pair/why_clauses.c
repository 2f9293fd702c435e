/* why_clauses.c: the request's constraint as the clauses that its author wrote, and those that exclude each other.
 *
 *     Constraint = Usual && other.Memory >= 64; Usual = Arch == "INTEL" && Disk > 10
 *
 * has three clauses: a reference to an own attribute that is a conjunction is taken apart as well. */
#include "lang/ad/specialize.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/pair/comparison.h"
#include "match/pair/why_parts.h"

#include <stdlib.h>

/* The attributes, from the constraint inwards, that a clause stands in. */
struct path {
    symbol names[CLAUSES_WITHIN_MAX];
    uint32_t len;
};

struct leaf {
    const struct expr *e;
    uint32_t place;
    struct path path;
};

struct leaves {
    const struct tree *ad;
    struct leaf *items;
    size_t count, room;
};

static bool is_conjunction(const struct tree *tree, const struct expr *e)
{
    return e->kind == EXPR_CHAIN && tree_parts(tree, e)[1].label == OP_AND;
}

/* The own attribute that a reference means, if it is a conjunction that is not being taken apart already. */
static const struct expr *own_conjunction(const struct tree *ad, const struct expr *e, const struct path *path)
{
    const struct expr *found = NULL;
    symbol base;

    if (e->kind == EXPR_NAME || e->kind == EXPR_ROOT_NAME) {
        found = tree_find(ad, tree_root(ad), e->u.name.id);
    } else if (e->kind == EXPR_DOT) {
        base = EXPR_DOT_BASE(e);
        if ((symbol_same(base, NAME_SELF) || symbol_same(base, NAME_MY)) && !tree_find(ad, tree_root(ad), base))
            found = tree_find(ad, tree_root(ad), e->u.name.id);
    }
    if (!found || !is_conjunction(ad, found) || path->len == CLAUSES_WITHIN_MAX)
        return NULL;
    for (uint32_t i = 0; i < path->len; i++)
        if (symbol_same(path->names[i], found->label))
            return NULL;
    return found;
}

static void collect(struct leaves *leaves, const struct expr *e, const struct path *path, uint32_t *place)
{
    const struct expr *parts = tree_parts(leaves->ad, e), *own;

    if (is_conjunction(leaves->ad, e)) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            collect(leaves, &parts[i], path, place);
    } else if (leaves->count < CLAUSES_MAX && (own = own_conjunction(leaves->ad, e, path))) {
        struct path deeper = *path;
        uint32_t inner = 0;

        deeper.names[deeper.len++] = own->label;
        ++*place;
        collect(leaves, own, &deeper, &inner);
    } else {
        ARRAY_ROOM(leaves->items, leaves->count, leaves->room, 16);
        leaves->items[leaves->count++] = (struct leaf){e, (*place)++, *path};
    }
}

/* Specialises a leaf within the attributes that it stands in. */
static struct tree *leaf_specialize(struct why_work *work, const struct scope *scope, const struct leaf *leaf,
                                    int flags)
{
    struct active active[CLAUSES_WITHIN_MAX];

    for (uint32_t i = 0; i < leaf->path.len; i++) {
        active[i].e = tree_find(work->request, tree_root(work->request), leaf->path.names[i]);
        active[i].around = scope->around;
        active[i].outer = i ? &active[i - 1] : NULL;
    }
    return specialize_part(work->env, work->scratch, scope, leaf->e, &active[leaf->path.len - 1], flags);
}

/* Pushes what is left of a leaf, marked as a part of the attributes it stands in. */
static void push_left(struct why_work *work, struct build *build, const struct scope *scope, const struct leaf *leaf)
{
    struct tree *left = leaf_specialize(work, scope, leaf, 0);
    const struct expr *root = tree_root(left);

    /* an attribute that is too much to be folded comes back as a reference to it, which would be circular here */
    if (root->kind == EXPR_NAME && leaf->e->flags & EXPR_FLAG_NAMED && symbol_same(root->u.name.id, leaf->e->label))
        build_copy(build, work->request, leaf->e);
    else
        build_copy(build, left, root);
    tree_unref(left);
    if (expr_is_literal(build_top(build)))
        return;
    for (uint32_t i = leaf->path.len; i-- > 0;) {
        symbols_hold(build->symbols, leaf->path.names[i]);
        build_within(build, leaf->path.names[i]);
    }
}

/* Is the clause never true, whatever the offer: always, or (SPECIALIZE_TIME) at this time? */
static bool never_true(struct why_work *work, const struct scope *scope, const struct leaf *leaf, int flags)
{
    struct tree *left = leaf_specialize(work, scope, leaf, SPECIALIZE_TRUTH | flags);
    const struct expr *root = tree_root(left);
    bool is = root->kind == EXPR_BOOLEAN && !root->small;

    tree_unref(left);
    return is;
}

/* Makes the clause of leaf `n`; the last one told apart takes in those after it. */
static void clause_make(struct why_work *work, const struct leaves *leaves, uint32_t n)
{
    const struct leaf *leaf = &leaves->items[n];
    struct why_clause *clause = &work->why->clauses[n];
    size_t last = n + 1 == WHY_CLAUSES_MAX ? leaves->count : n + 1;
    struct build build;
    struct scope scope;

    *clause = (struct why_clause){.attribute = leaf->path.names[leaf->path.len - 1],
                                  .place = leaf->place,
                                  .more = (uint32_t)(last - n - 1),
                                  .e = leaf->e};
    scope_init(&scope, work->request, NULL);
    build_init(&build, work->request->symbols, work->request->dialect);
    for (size_t i = n; i < last; i++) {
        push_left(work, &build, &scope, &leaves->items[i]);
        build_top(&build)->label = i > n ? OP_AND : OP_NONE;
    }
    if (clause->more)
        build_bind(&build, EXPR_CHAIN, clause->more + 1);
    clause->left = build_seal(&build);
    build_done(&build);
    clause->never = never_true(work, &scope, leaf, 0);
    for (size_t i = n + 1; i < last; i++)
        clause->never = clause->never || never_true(work, &scope, &leaves->items[i], 0);
    clause->timed = !clause->never && never_true(work, &scope, leaf, SPECIALIZE_TIME);
    clauses_init(&work->leaves[n], work->request, clause->left);
}

void why_take_apart(struct why_work *work)
{
    const struct expr *constraint = match_constraint(work->request);
    struct leaves leaves = {.ad = work->request};
    struct path path = {.len = 1};
    uint32_t place = 0;

    if (constraint) {
        path.names[0] = constraint->label;
        collect(&leaves, constraint, &path, &place);
    }
    work->why->clause_count = leaves.count < WHY_CLAUSES_MAX ? (uint32_t)leaves.count : WHY_CLAUSES_MAX;
    work->why->clauses = arena_alloc(&work->why->arena, (work->why->clause_count + 1) * sizeof *work->why->clauses);
    work->leaves = mem_alloc((work->why->clause_count + 1) * sizeof *work->leaves);
    for (uint32_t i = 0; i < work->why->clause_count; i++)
        clause_make(work, &leaves, i);
    free(leaves.items);
}

/* What a clause asks of one attribute. */
struct ask {
    uint32_t clause;
    symbol name;
    struct comparison is;
};

static size_t asks_collect(const struct why_work *work, struct ask *asks, size_t room)
{
    size_t count = 0;

    for (uint32_t i = 0; i < work->why->clause_count; i++) {
        const struct clauses *leaf = &work->leaves[i];

        for (uint32_t j = 0; j < leaf->count && count < room; j++) {
            const struct property *property = &leaf->items[j].property;

            if (leaf->items[j].simple)
                asks[count++] = (struct ask){i, property->name, {property->op, property_constant(property)}};
        }
    }
    return count;
}

static void conflict_add(struct why *why, uint32_t a, uint32_t b, bool types)
{
    for (uint32_t i = 0; i < why->conflict_count; i++)
        if (why->conflicts[i].a == a && why->conflicts[i].b == b)
            return;
    if (why->conflict_count < WHY_SETS_MAX)
        why->conflicts[why->conflict_count++] = (struct why_conflict){a, b, types};
}

void why_find_conflicts(struct why_work *work)
{
    const struct dialect *dialect = work->request->dialect;
    struct why *why = work->why;
    struct ask asks[4 * WHY_CLAUSES_MAX];
    size_t count = asks_collect(work, asks, sizeof asks / sizeof *asks);

    why->conflicts = arena_alloc(&why->arena, WHY_SETS_MAX * sizeof *why->conflicts);
    for (uint32_t i = 0; i < why->clause_count; i++) {
        if (why->clauses[i].never)
            conflict_add(why, i, i, false);
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = i + 1; j < count; j++) {
            bool types;

            if (!symbol_same(asks[i].name, asks[j].name))
                continue;
            types = comparisons_want_two_types(dialect, &asks[i].is, &asks[j].is);
            if (types || !comparisons_agree(dialect, &asks[i].is, &asks[j].is))
                conflict_add(why, asks[i].clause, asks[j].clause, types);
        }
    }
}
