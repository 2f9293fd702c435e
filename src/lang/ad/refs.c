/* refs.c: the external references of an expression or an ad: a walk that looks up every name where it stands.
 *
 * The walk follows a name that an enclosing ad defines into its definition, once. Where only evaluation can tell what is read (a function that gets
 * the counterpart as a whole, eval), that counts as a reference to all of the counterpart. */
#include "lang/ad/refs.h"

#include "lang/ad/functions.h"
#include "lang/base/mem.h"

#include <stdlib.h>

/* Definitions that have been followed already, and how deep the walk is. */
struct walk {
    struct refs *refs;
    const struct expr **seen;
    uint32_t seen_count, seen_room; /* open addressing; room is a power of two */
    bool follow;
    bool whole;                /* the walk went too deep to tell: everything counts as read */
    const struct expr *wanted; /* an attribute that the walk looks for, or NULL */
    bool reached;              /* the walk has found it */
    unsigned depth;
};

#define REFS_DEPTH_MAX 600 /* past this depth the answer is "everything" */

void refs_init(struct refs *refs)
{
    *refs = (struct refs){0};
}

void refs_done(struct refs *refs)
{
    if (!refs)
        return;
    free(refs->items);
    free(refs->slots);
    refs_init(refs);
}

static bool ref_same(const struct ref *a, const struct ref *b)
{
    if (a->scope != b->scope || a->len != b->len)
        return false;
    for (uint32_t i = 0; i < a->len; i++)
        if (!symbol_same(a->path[i], b->path[i]))
            return false;
    return true;
}

static uint32_t ref_hash(const struct ref *ref)
{
    uint32_t hash = symbol_name(ref->scope) + ref->len;

    for (uint32_t i = 0; i < ref->len; i++)
        hash = (hash ^ symbol_name(ref->path[i])) * 0x9e3779b1u;
    return hash ^ hash >> 15;
}

/* The slot of a reference: the one that it has, or the one where it would go. */
static uint32_t *refs_slot(struct refs *refs, const struct ref *ref)
{
    uint32_t mask = refs->room * 2 - 1, at = ref_hash(ref) & mask;

    while (refs->slots[at] && !ref_same(&refs->items[refs->slots[at] - 1], ref))
        at = (at + 1) & mask;
    return &refs->slots[at];
}

static void refs_put(struct refs *refs, const struct ref *ref)
{
    uint32_t *slot;

    if (refs->count == refs->room) {
        refs->room = refs->room ? refs->room * 2 : 16;
        refs->items = mem_grow(refs->items, refs->room * sizeof *refs->items);
        refs->slots = mem_grow(refs->slots, refs->room * 2 * sizeof *refs->slots);
        memset(refs->slots, 0, refs->room * 2 * sizeof *refs->slots);
        for (uint32_t i = 0; i < refs->count; i++)
            *refs_slot(refs, &refs->items[i]) = i + 1;
    }
    slot = refs_slot(refs, ref);
    if (*slot)
        return;
    refs->items[refs->count++] = *ref;
    *slot = refs->count;
}

static void ref_add(struct ref *ref, symbol name)
{
    if (ref->len < REF_PATH_MAX)
        ref->path[ref->len++] = name;
}

static bool walk_first(struct walk *walk, const struct expr *e)
{
    uint32_t slot;

    if (walk->seen_count * 2 >= walk->seen_room) {
        const struct expr **old = walk->seen;
        uint32_t room = walk->seen_room;

        walk->seen_room = room ? room * 2 : 64;
        walk->seen = mem_alloc(walk->seen_room * sizeof *walk->seen);
        memset(walk->seen, 0, walk->seen_room * sizeof *walk->seen);
        walk->seen_count = 0;
        for (uint32_t i = 0; i < room; i++)
            if (old[i])
                walk_first(walk, old[i]);
        free(old);
    }
    slot = (uint32_t)((uintptr_t)e / sizeof *e) * 0x9e3779b1u;
    for (slot &= walk->seen_room - 1; walk->seen[slot]; slot = (slot + 1) & (walk->seen_room - 1))
        if (walk->seen[slot] == e)
            return false;
    walk->seen[slot] = e;
    walk->seen_count++;
    return true;
}

static void walk_expr(struct walk *walk, const struct scope *scope, const struct expr *e);

static void walk_parts(struct walk *walk, const struct scope *scope, const struct expr *e)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    uint32_t count = expr_part_count(e);

    for (uint32_t i = 0; i < count; i++)
        if (!expr_is_literal(&parts[i])) /* a literal refers to nothing */
            walk_expr(walk, scope, &parts[i]);
}

/* If a definition is plainly an ad, opens it in `ret`; false when it is anything else. */
static bool open_ad(const struct scope *scope, const struct expr *e, struct scope *ret)
{
    if (e->kind != EXPR_AD)
        return false;
    scope_open(ret, scope, e);
    return true;
}

static void walk_definition(struct walk *walk, const struct scope *at, const struct expr *found)
{
    walk->reached = walk->reached || found == walk->wanted;
    if (walk->follow && !expr_is_literal(found) && walk_first(walk, found))
        walk_expr(walk, at, found);
}

/* Names selected from an ad that only evaluation can tell. That may be an ad in here, from which the search goes outward. */
static void walk_selected(struct walk *walk, const struct scope *scope, const symbol *names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct scope *at = scope;
        const struct expr *found = scope_find(&at, names[i]);

        if (found)
            walk_definition(walk, at, found);
    }
}

/* Walks a reference `first.rest[0].rest[1]...` in a scope. Follows it as far as plain ads lead. */
static void walk_path(struct walk *walk, const struct scope *scope, symbol first, const symbol *rest, uint32_t count)
{
    const struct scope *at = scope, *from;
    const struct expr *found = scope_find(&at, first);
    struct ref ref = {.scope = SYMBOL_NONE};
    struct scope opened;

    walk->reached = walk->reached || (found && found == walk->wanted);
    if (found) {
        if (count && open_ad(at, found, &opened)) {
            walk_path(walk, &opened, rest[0], rest + 1, count - 1);
            return;
        }
        walk_definition(walk, at, found);
        walk_selected(walk, at, rest, count);
        return;
    }
    if (!scope_reserved(scope, first, &from)) {
        if (symbol_same(first, NAME_OTHER) || symbol_same(first, NAME_TARGET))
            ref.scope = NAME_OTHER;
        else
            ref_add(&ref, first);
        for (uint32_t i = 0; i < count; i++)
            ref_add(&ref, rest[i]);
        refs_put(walk->refs, &ref);
        return;
    }
    at = from;
    if (!from || !count || !(found = scope_find(&at, rest[0])))
        return; /* self.x, parent.x and root.x never reach the counterpart */
    walk->reached = walk->reached || found == walk->wanted;
    if (count > 1 && open_ad(at, found, &opened)) {
        walk_path(walk, &opened, rest[1], rest + 2, count - 2);
    } else {
        walk_definition(walk, at, found);
        walk_selected(walk, at, rest + 1, count - 1);
    }
}

/* base.a.b[i].c: the leading names are one reference; the rest can only lead further into the thing that they name. */
static void walk_steps(struct walk *walk, const struct scope *scope, const struct expr *e)
{
    const struct expr *parts = tree_parts(scope->tree, e), *base = &parts[0];
    symbol names[REF_PATH_MAX];
    uint32_t count = 0, i = 1;

    if (base->kind == EXPR_DOT)
        names[count++] = base->u.name.id;
    for (; i < e->u.run.count && parts[i].label == STEP_SELECT && count < REF_PATH_MAX; i++)
        names[count++] = parts[i].u.name.id;
    if (base->kind == EXPR_DOT)
        walk_path(walk, scope, EXPR_DOT_BASE(base), names, count);
    else if (base->kind == EXPR_NAME)
        walk_path(walk, scope, base->u.name.id, names, count);
    else
        walk_expr(walk, scope, base);
    if (base->kind != EXPR_DOT && base->kind != EXPR_NAME)
        walk_selected(walk, scope, names, count);
    for (; i < e->u.run.count; i++) {
        if (parts[i].label == STEP_SUBSCRIPT)
            walk_expr(walk, scope, &parts[i]);
        else
            walk_selected(walk, scope, &parts[i].u.name.id, 1);
    }
}

static void walk_everything(struct walk *walk)
{
    struct ref ref = {.scope = NAME_OTHER};

    refs_put(walk->refs, &ref);
}

static void walk_expr(struct walk *walk, const struct scope *scope, const struct expr *e)
{
    const struct function *function;
    struct scope opened;

    if (walk->depth == REFS_DEPTH_MAX) {
        if (!walk->whole)
            walk_everything(walk);
        walk->whole = true;
        return;
    }
    walk->depth++;
    switch ((enum expr_kind)e->kind) {
    case EXPR_NAME:
        walk_path(walk, scope, e->u.name.id, NULL, 0);
        break;
    case EXPR_DOT:
        walk_path(walk, scope, EXPR_DOT_BASE(e), &e->u.name.id, 1);
        break;
    case EXPR_ROOT_NAME: {
        const struct expr *found = scope->root ? tree_find(scope->root->tree, scope->root->ad, e->u.name.id) : NULL;

        if (found)
            walk_definition(walk, scope->root, found);
        break;
    }
    case EXPR_PATH:
        walk_steps(walk, scope, e);
        break;
    case EXPR_AD:
        if (e != scope->ad && open_ad(scope, e, &opened))
            walk_parts(walk, &opened, e);
        else
            walk_parts(walk, scope, e);
        break;
    case EXPR_CALL:
        function = function_find(scope->tree->dialect, e->u.name.id);
        if (function && (function->traits & FUNCTION_SCOPE))
            walk_everything(walk);
        walk_parts(walk, scope, e);
        break;
    default:
        walk_parts(walk, scope, e);
        break;
    }
    walk->depth--;
}

void refs_add(struct refs *refs, const struct scope *scope, const struct expr *e)
{
    struct walk walk = {.refs = refs, .follow = true};

    walk_expr(&walk, scope, e);
    free(walk.seen);
}

bool refs_reach(const struct scope *scope, const struct expr *e, const struct expr *attribute)
{
    struct refs refs;
    struct walk walk = {.refs = &refs, .follow = true, .wanted = attribute};

    refs_init(&refs);
    walk_expr(&walk, scope, e);
    refs_done(&refs);
    free(walk.seen);
    return walk.reached;
}

uint64_t refs_bits(const struct tree *tree)
{
    uint64_t bits = 0;

    for (uint32_t i = 0; i < tree->cell_count; i++) {
        const struct expr *e = &tree->cells[i];
        const struct function *function;

        if (expr_is_literal(e))
            continue;
        switch (e->kind) {
        case EXPR_DOT:
            bits |= refs_bit(EXPR_DOT_BASE(e));
            /* fall through */
        case EXPR_NAME:
        case EXPR_ROOT_NAME:
            bits |= refs_bit(e->u.name.id);
            break;
        case EXPR_CALL: /* some functions find names in texts */
            function = function_find(tree->dialect, e->u.name.id);
            if (function && function->traits & FUNCTION_SCOPE)
                return UINT64_MAX;
            break;
        case EXPR_PATH: /* and so do subscripts */
            if (tree->dialect->ads_take_subscripts)
                return UINT64_MAX;
            break;
        default:
            break;
        }
    }
    return bits;
}

void refs_add_ad(struct refs *refs, const struct tree *ad)
{
    struct walk walk = {.refs = refs};
    struct scope scope;

    scope_init(&scope, ad, NULL);
    walk_expr(&walk, &scope, tree_root(ad));
    free(walk.seen);
}

void ref_print(struct buf *out, const struct symbols *symbols, const struct ref *ref)
{
    bool first = true;

    if (ref->scope) {
        buf_adds(out, "other");
        first = false;
    }
    for (uint32_t i = 0; i < ref->len; i++) {
        size_t len;
        const char *name = symbols_text(symbols, ref->path[i], &len);

        if (!first)
            buf_addc(out, '.');
        buf_add(out, name, len);
        first = false;
    }
}

struct sorted {
    struct ref ref;
    char *text;
};

static int sorted_compare(const void *a, const void *b)
{
    const unsigned char *x = (const unsigned char *)((const struct sorted *)a)->text;
    const unsigned char *y = (const unsigned char *)((const struct sorted *)b)->text;

    for (; *x && *y; x++, y++) {
        int lx = *x >= 'A' && *x <= 'Z' ? *x | 0x20 : *x, ly = *y >= 'A' && *y <= 'Z' ? *y | 0x20 : *y;

        if (lx != ly)
            return lx - ly;
    }
    return *x - *y;
}

void refs_sort(struct refs *refs, const struct symbols *symbols)
{
    struct sorted *sorted;
    struct buf text;

    if (refs->count == 0)
        return;
    sorted = mem_alloc(refs->count * sizeof *sorted);
    buf_init(&text);
    for (uint32_t i = 0; i < refs->count; i++) {
        buf_reset(&text);
        ref_print(&text, symbols, &refs->items[i]);
        sorted[i] = (struct sorted){refs->items[i], mem_dup(text.text, text.len)};
    }
    buf_done(&text);
    qsort(sorted, refs->count, sizeof *sorted, sorted_compare);
    memset(refs->slots, 0, refs->room * 2 * sizeof *refs->slots);
    for (uint32_t i = 0; i < refs->count; i++) {
        refs->items[i] = sorted[i].ref;
        *refs_slot(refs, &refs->items[i]) = i + 1;
        free(sorted[i].text);
    }
    free(sorted);
}
