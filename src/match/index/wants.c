/* wants.c: what an ad asks of its counterpart. */
#include "match/index/wants.h"

#include "lang/ad/functions.h"
#include "lang/ad/ops.h"
#include "lang/ad/specialize.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "match/pair/match.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX 4096 /* nodes of one constraint; the rest is evaluated */

void wants_init(struct wants *wants)
{
    *wants = (struct wants){0};
}

void wants_done(struct wants *wants)
{
    tree_unref(wants->left);
    free(wants->items);
    free(wants->keys);
    free(wants->nodes);
    *wants = (struct wants){0};
}

/* Does a reference ask for an attribute of the counterpart? */
static inline bool asked(const struct wants *wants, const struct tree *tree, const struct expr *e,
                         struct attribute *ret)
{
    *ret = (struct attribute){SYMBOL_NONE, SYMBOL_NONE};
    if (e->kind == EXPR_PATH && e->u.run.count == 2 && tree_parts(tree, e)[1].label == STEP_SELECT) {
        ret->then = tree_parts(tree, e)[1].u.name.id;
        e = tree_parts(tree, e);
    }
    if (e->kind == EXPR_DOT && !wants->shadowed) {
        if (symbol_same(EXPR_DOT_BASE(e), NAME_OTHER) || symbol_same(EXPR_DOT_BASE(e), NAME_TARGET))
            ret->name = e->u.name.id;
        else if (ret->then == SYMBOL_NONE && symbol_name(EXPR_DOT_BASE(e)) > NAME_NUMBER_TARGET &&
                 !tree_find(wants->ad, tree_root(wants->ad), EXPR_DOT_BASE(e)))
            *ret = (struct attribute){EXPR_DOT_BASE(e), e->u.name.id}; /* a.b, where a is the counterpart's */
    } else if (e->kind == EXPR_NAME || e->kind == EXPR_DOT) {
        ret->name = property_asked(wants->ad, e);
    }
    return ret->name != SYMBOL_NONE;
}

static uint32_t node_add(struct wants *wants, enum wants_node_kind kind)
{
    ARRAY_ROOM(wants->nodes, wants->node_count, wants->node_room, 32);
    wants->nodes[wants->node_count] = (struct wants_node){.kind = (unsigned char)kind};
    return wants->node_count++;
}

static bool key_push(struct wants *wants, const struct tree *tree, const struct expr *literal)
{
    ARRAY_ROOM(wants->keys, wants->key_count, wants->key_room, 32);
    if (!expr_is_literal(literal) || !key_of(tree, literal, wants->counts, &wants->keys[wants->key_count]))
        return false;
    wants->key_count++;
    return true;
}

/* Adds a leaf about that attribute, with the keys pushed since `keys`. */
static uint32_t leaf_add(struct wants *wants, enum want_kind kind, enum op op, struct attribute attribute,
                         uint32_t keys)
{
    uint32_t node;

    ARRAY_ROOM(wants->items, wants->count, wants->room, 16);
    wants->items[wants->count] =
        (struct want){(unsigned char)kind, (unsigned char)op, false, attribute, keys, wants->key_count - keys};
    node = node_add(wants, WANTS_LEAF);
    wants->nodes[node].want = wants->count++;
    return node;
}

static enum op op_negated(enum op op)
{
    switch (op) {
    case OP_EQUAL:
        return OP_NOT_EQUAL;
    case OP_NOT_EQUAL:
        return OP_EQUAL;
    case OP_LESS:
        return OP_GREATER_EQUAL;
    case OP_LESS_EQUAL:
        return OP_GREATER;
    case OP_GREATER:
        return OP_LESS_EQUAL;
    default:
        return OP_LESS;
    }
}

/* Reads `name is undefined` or `name op literal`. `is` with another literal holds only where == does, but must be evaluated. */
static uint32_t comparison_read(struct wants *wants, const struct tree *tree, const struct expr *parts, bool negated)
{
    const struct expr *reference = &parts[0], *literal = &parts[1];
    enum op op = (enum op)parts[1].label;
    uint32_t keys = wants->key_count, node;
    struct attribute attribute;

    if (op < OP_EQUAL || op > OP_GREATER_EQUAL)
        return 0;
    if (expr_is_literal(reference)) {
        reference = &parts[1];
        literal = &parts[0];
        op = op_mirrored(op);
    }
    if (!expr_is_literal(literal) || !asked(wants, tree, reference, &attribute))
        return 0;
    if (op == OP_IS || op == OP_ISNT) {
        if (literal->kind == EXPR_UNDEFINED)
            return leaf_add(wants, (op == OP_IS) != negated ? WANT_ABSENT : WANT_PRESENT, OP_NONE, attribute, keys);
        if ((op == OP_IS) == negated || !key_push(wants, tree, literal))
            return 0;
        wants->deviant = true;
        return leaf_add(wants, WANT_IS, OP_EQUAL, attribute, keys);
    }
    if (!key_push(wants, tree, literal))
        return 0;
    node = leaf_add(wants, WANT_COMPARE, negated ? op_negated(op) : op, attribute, keys);
    wants->items[wants->nodes[node].want].not_number = negated && op >= OP_LESS;
    return node;
}

/* Reads a name alone, which is a truth value. */
static uint32_t truth_read(struct wants *wants, const struct tree *tree, const struct expr *e, bool negated)
{
    struct attribute attribute;
    struct expr literal = {.kind = EXPR_BOOLEAN, .small = !negated};
    uint32_t keys = wants->key_count;

    if (!asked(wants, tree, e, &attribute))
        return 0;
    if (wants->counts) /* any number but zero is true */
        literal = (struct expr){.kind = EXPR_INTEGER};
    key_push(wants, wants->ad, &literal);
    return leaf_add(wants, WANT_COMPARE, wants->counts && !negated ? OP_NOT_EQUAL : OP_EQUAL, attribute, keys);
}

/* Reads member(name, { literals }). */
static uint32_t among_read(struct wants *wants, const struct tree *tree, const struct expr *parts)
{
    const struct expr *items = tree_parts(tree, &parts[1]);
    uint32_t keys = wants->key_count;
    struct attribute attribute;

    if (!asked(wants, tree, &parts[0], &attribute) || parts[1].kind != EXPR_LIST)
        return 0;
    for (uint32_t i = 0; i < parts[1].u.run.count; i++) {
        if (!key_push(wants, tree, &items[i])) {
            wants->key_count = keys;
            return 0;
        }
    }
    if (tree->dialect != &dialect_classic)
        wants->deviant = true; /* the leaf says only that some == holds */
    return leaf_add(wants, WANT_AMONG, OP_EQUAL, attribute, keys);
}

/* Reads a literal that is looked for in a list of the counterpart: few have it, and those are evaluated. */
static uint32_t element_read(struct wants *wants, const struct tree *tree, const struct expr *parts,
                             enum want_kind kind)
{
    uint32_t keys = wants->key_count;
    struct attribute attribute;

    if (!asked(wants, tree, &parts[1], &attribute) || !key_push(wants, tree, &parts[0]))
        return 0;
    wants->deviant = true;
    return leaf_add(wants, kind, OP_EQUAL, attribute, keys);
}

static uint32_t call_read(struct wants *wants, const struct tree *tree, const struct expr *e, bool negated)
{
    const struct function *function = function_find(tree->dialect, e->u.name.id);
    const struct expr *parts = tree_parts(tree, e);

    if (negated || !function || e->small != 2)
        return 0;
    if (strcmp(function->name, "member") == 0)
        return expr_is_literal(&parts[0]) ? element_read(wants, tree, parts, WANT_HAS) : among_read(wants, tree, parts);
    if (strcmp(function->name, "stringListMember") == 0 && parts[0].kind == EXPR_STRING)
        return element_read(wants, tree, parts, WANT_LISTED);
    return 0;
}

static uint32_t node_read(struct wants *wants, const struct tree *tree, const struct expr *e, bool negated);

/* Reads && or ||, whichever it is after negation. The parts of a conjunction within a conjunction are parts of the whole. */
static uint32_t logic_read(struct wants *wants, const struct tree *tree, const struct expr *e, bool negated)
{
    const struct expr *parts = tree_parts(tree, e);
    bool conjunction = (parts[1].label == OP_AND) != negated;
    uint32_t node = node_add(wants, conjunction ? WANTS_AND : WANTS_OR), last = 0;

    for (uint32_t i = 0; i < e->u.run.count; i++) {
        uint32_t part = node_read(wants, tree, &parts[i], negated);

        if (conjunction && wants->nodes[part].kind == WANTS_AND)
            part = wants->nodes[part].child;
        if (last)
            wants->nodes[last].after = part;
        else
            wants->nodes[node].child = part;
        last = part;
        while (wants->nodes[last].after)
            last = wants->nodes[last].after;
    }
    return node;
}

static uint32_t node_read(struct wants *wants, const struct tree *tree, const struct expr *e, bool negated)
{
    const struct expr *parts;
    uint32_t node = 0;

    while (e->kind == EXPR_WITHIN)
        e = tree_parts(tree, e);
    parts = tree_parts(tree, e);
    if (wants->node_count < NODES_MAX) {
        switch (e->kind) {
        case EXPR_CHAIN:
            if (parts[1].label == OP_AND || parts[1].label == OP_OR)
                return logic_read(wants, tree, e, negated);
            if (e->u.run.count == 2)
                node = comparison_read(wants, tree, parts, negated);
            break;
        case EXPR_PREFIX:
            if (e->small == OP_NOT)
                return node_read(wants, tree, parts, !negated);
            break;
        case EXPR_NAME:
        case EXPR_DOT:
        case EXPR_PATH:
            node = truth_read(wants, tree, e, negated);
            break;
        case EXPR_CALL:
            node = call_read(wants, tree, e, negated);
            break;
        default:
            break;
        }
    }
    if (!node) {
        wants->deviant = true;
        node = node_add(wants, WANTS_DEVIANT);
    }
    return node;
}

/* Appends what `e` asks for to the conjunction whose last node is *last. */
static void top_read(struct wants *wants, const struct tree *tree, const struct expr *e, uint32_t *last)
{
    const struct expr *parts;
    uint32_t node;

    while (e->kind == EXPR_WITHIN)
        e = tree_parts(tree, e);
    if (expr_is_literal(e)) {
        struct value v = {.type = e->kind, .boolean = e->small & 1, .u.integer = e->u.integer};
        bool truth = false;

        if (op_condition(tree->dialect, &v, &truth) != VALUE_BOOLEAN || !truth)
            wants->never = true;
        return;
    }
    parts = tree_parts(tree, e);
    if (e->kind == EXPR_CHAIN && parts[1].label == OP_AND) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            top_read(wants, tree, &parts[i], last);
        return;
    }
    node = node_read(wants, tree, e, false);
    if (wants->nodes[node].kind == WANTS_AND) /* a negated ||: its parts are parts of the whole */
        node = wants->nodes[node].child;
    else
        wants->nodes[node].e = e;
    if (*last)
        wants->nodes[*last].after = node;
    else
        wants->top = node;
    while (wants->nodes[node].after)
        node = wants->nodes[node].after;
    *last = node;
}

static void wants_reset(struct wants *wants, const struct tree *ad)
{
    tree_unref(wants->left);
    wants->left = NULL;
    wants->ad = ad;
    wants->count = wants->key_count = wants->node_count = 0;
    wants->top = 0;
    wants->shadowed = tree_find(ad, tree_root(ad), NAME_OTHER) || tree_find(ad, tree_root(ad), NAME_TARGET);
    wants->counts = ad->dialect->booleans_count;
    wants->ordered = ad->dialect->logic_by_order;
    wants->never = wants->deviant = wants->timed = false;
    node_add(wants, WANTS_DEVIANT);
}

/* Does a call in the tree read the time? */
static bool reads_time(const struct tree *tree)
{
    for (uint32_t i = 0; i < tree->cell_count; i++) {
        const struct function *function =
            tree->cells[i].kind == EXPR_CALL ? function_find(tree->dialect, tree->cells[i].u.name.id) : NULL;

        if (function && function->traits & FUNCTION_TIME)
            return true;
    }
    return false;
}

void wants_read(struct wants *wants, const struct env *env, struct arena *scratch, const struct tree *ad)
{
    const struct expr *constraint = match_constraint(ad);
    struct scope scope;
    uint32_t last = 0;

    wants_reset(wants, ad);
    if (!constraint)
        return;
    top_read(wants, ad, constraint, &last); /* often the text itself has the form, and nothing need be folded */
    if (!wants->deviant && !wants->never)
        return;
    wants_reset(wants, ad);
    scope_init(&scope, ad, NULL);
    wants->left = specialize(env, scratch, &scope, constraint, SPECIALIZE_TRUTH | SPECIALIZE_TIME);
    wants->timed = reads_time(ad);
    last = 0;
    top_read(wants, wants->left, tree_root(wants->left), &last);
}
