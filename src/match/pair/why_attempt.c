/* why_attempt.c: a change of the request that would make it match an offer, made up and counted.
 *
 * What failed with an offer says what must change: a comparison is moved to take the offer's value as well; a clause of another form is dropped; an
 * attribute that the offer looks at gets a value that the offer takes. Where a clause compares with an own attribute, the attribute is changed
 * rather than the clause. */
#include "match/pair/why_attempt.h"

#include "lang/ad/ops.h"
#include "lang/ad/refs.h"
#include "lang/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void attempt_done(struct attempt *attempt)
{
    while (attempt->count)
        tree_unref(attempt->swaps[--attempt->count].to);
}

bool attempt_has(const struct attempt *attempt, const struct expr *e)
{
    for (uint32_t i = 0; i < attempt->count; i++)
        if (attempt->swaps[i].e == e)
            return true;
    return false;
}

bool attempt_add(struct attempt *attempt, uint32_t clause, const struct expr *e, symbol attribute, struct tree *taken)
{
    if (attempt->count == WHY_EDIT_PARTS_MAX) {
        tree_unref(taken);
        return false;
    }
    attempt->clauses[attempt->count] = clause;
    attempt->swaps[attempt->count++] = (struct why_swap){e, attribute, taken};
    return true;
}

const struct property *attempt_property(const struct why_work *work, uint32_t clause)
{
    const struct clauses *leaf = &work->leaves[clause];

    return leaf->count == 1 && leaf->items[0].simple ? &leaf->items[0].property : NULL;
}

bool attempt_value(const struct property *property, const struct tree *offer, struct value *ret)
{
    const struct expr *found = tree_find(offer, tree_root(offer), property->name);
    struct value wanted = property_constant(property);

    if (!found || found->kind < EXPR_BOOLEAN || !expr_is_literal(found))
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

double attempt_distance(const struct value *from, const struct value *to)
{
    double a, b, size;

    if (from->type == VALUE_STRING || from->type == VALUE_BOOLEAN)
        return 1;
    a = as_number(from);
    b = as_number(to);
    size = a < 0 ? -a : a;
    return (a < b ? b - a : a - b) / (size > 1 ? size : 1);
}

struct tree *attempt_literal(const struct tree *request, const struct value *v)
{
    struct build build;
    struct tree *tree;

    build_init(&build, request->symbols, request->dialect);
    value_build(&build, v);
    tree = build_seal(&build);
    build_done(&build);
    return tree;
}

struct tree *attempt_compare(const struct why_work *work, uint32_t clause, symbol name, const struct value *v)
{
    const struct tree *left = work->why->clauses[clause].left;
    const struct expr *e = tree_root(left), *parts;
    enum op op = (enum op)attempt_property(work, clause)->op;
    struct build build;
    struct tree *tree;

    while (e->kind == EXPR_WITHIN)
        e = tree_parts(left, e);
    parts = tree_parts(left, e);
    if (expr_is_literal(&parts[0]))
        parts++;
    build_init(&build, left->symbols, left->dialect);
    build_copy(&build, left, parts);
    build_top(&build)->label = OP_NONE;
    if (name != SYMBOL_NONE) { /* the same comparison of another attribute */
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

/* Finds the own attribute that a clause compares with, if that is a literal: then the attribute is what to change. */
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
    return found && expr_is_literal(found) ? found : NULL;
}

/* Finds the value of an own attribute that makes this comparison by an offer true. */
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

/* The swap that sets an attribute, if there is one. */
static const struct why_swap *set_already(const struct attempt *attempt, symbol name)
{
    for (uint32_t i = 0; i < attempt->count; i++)
        if (!attempt->swaps[i].e && symbol_same(attempt->swaps[i].attribute, name))
            return &attempt->swaps[i];
    return NULL;
}

/* The attribute to change for a clause, if a value of it would do. */
static const struct expr *clause_attribute(const struct why_work *work, uint32_t clause)
{
    const struct property *property = attempt_property(work, clause);

    if (!property || property->op == OP_LESS || property->op == OP_GREATER || property->op == OP_NOT_EQUAL)
        return NULL;
    return compared_attribute(work->request, work->why->clauses[clause].e);
}

/* Would all clauses that failed and compare with the attribute be true of the offer if the attribute had this value? */
static bool value_serves(const struct why_work *work, const struct tree *offer, uint64_t failed,
                         const struct expr *attribute, const struct value *v)
{
    for (uint32_t i = 0; i < work->why->clause_count; i++) {
        struct value has, is;

        if (!(failed >> i & 1) || clause_attribute(work, i) != attribute)
            continue;
        if (!attempt_value(attempt_property(work, i), offer, &has))
            return false;
        op_binary(work->request->dialect, (enum op)attempt_property(work, i)->op, &has, v, &is);
        if (!value_is_true(&is))
            return false;
    }
    return true;
}

bool attempt_clause(const struct why_work *work, struct attempt *attempt, uint32_t clause, const struct tree *offer,
                    bool attributes)
{
    const struct why_clause *is = &work->why->clauses[clause];
    const struct property *property = attempt_property(work, clause);
    const struct expr *attribute = attributes ? clause_attribute(work, clause) : NULL;
    struct value from, v;

    if (is->more)
        return false;
    if (attempt_has(attempt, is->e))
        return true;
    if (!property || property->op == OP_NOT_EQUAL || !attempt_value(property, offer, &v)) {
        attempt->distance += 2;
        return attempt_add(attempt, clause, is->e, SYMBOL_NONE, NULL);
    }
    from = property_constant(property);
    if (attribute && set_already(attempt, attribute->label))
        return true;
    attempt->distance += attempt_distance(&from, &v);
    if (attribute && value_serves(work, offer, attempt->pattern, attribute, &v))
        return attempt_add(attempt, clause, NULL, attribute->label, attempt_literal(work->request, &v));
    if (attribute && attempt->pattern & (attempt->pattern - 1))
        return true; /* another clause has the value that serves both; if none has, the count will tell */
    return attempt_add(attempt, clause, is->e, SYMBOL_NONE, attempt_compare(work, clause, SYMBOL_NONE, &v));
}

/* Finds a value of an attribute for which every comparison of it by the offer is true. */
static bool value_taken(const struct clauses *clauses, symbol name, struct value *ret)
{
    for (uint32_t i = 0; i < clauses->count; i++) {
        const struct clause *clause = &clauses->items[i];
        bool all = clause->simple && symbol_same(clause->property.name, name) && accepted_value(&clause->property, ret);

        for (uint32_t k = 0; k < clauses->count && all; k++) {
            const struct clause *also = &clauses->items[k];
            struct value constant, is;

            if (!also->simple || !symbol_same(also->property.name, name))
                continue;
            constant = property_constant(&also->property);
            op_binary(clauses->tree->dialect, (enum op)also->property.op, ret, &constant, &is);
            all = value_is_true(&is);
        }
        if (all)
            return true;
    }
    return false;
}

/* Adds what makes the offer's own constraint take the request; false when no attribute does. */
static bool attempt_offer(const struct why_work *work, struct attempt *attempt, struct tree *offer)
{
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
        if (clause->simple && set_already(attempt, clause->property.name))
            continue; /* the count will tell */
        possible = clause->simple && value_taken(&party.clauses, clause->property.name, &v);
        if (!possible)
            break;
        now = tree_find(work->request, root, clause->property.name);
        from = v;
        if (now && now->kind == (enum expr_kind)v.type)
            from.u.integer = now->u.integer;
        attempt->distance += now ? attempt_distance(&from, &v) : 1;
        possible = attempt_add(attempt, 0, NULL, clause->property.name, attempt_literal(work->request, &v));
    }
    party_done(&party);
    return possible;
}

bool attempt_follow(const struct why_work *work, struct attempt *attempt, size_t offer, bool attributes)
{
    uint64_t failed = work->failed[offer];

    *attempt = (struct attempt){.pattern = failed, .offer = offer, .offers = 1};
    for (uint32_t i = 0; i < work->why->clause_count; i++)
        if ((failed >> i & 1) && !attempt_clause(work, attempt, i, work->offers[offer], attributes))
            return false;
    return (!(failed & WHY_OFFER_BIT) || attempt_offer(work, attempt, work->offers[offer])) && attempt->count;
}

bool attempt_equal(const struct attempt *a, const struct attempt *b)
{
    if (a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct why_swap *x = &a->swaps[i], *y = &b->swaps[i];

        if (x->e != y->e || !symbol_same(x->attribute, y->attribute) || !x->to != !y->to)
            return false;
        if (x->to && !tree_equal(x->to, tree_root(x->to), y->to, tree_root(y->to)))
            return false;
    }
    return true;
}

/* Which attribute's text a swap changes. */
static symbol swap_attribute(const struct why_work *work, const struct attempt *attempt, uint32_t n)
{
    return attempt->swaps[n].e ? work->why->clauses[attempt->clauses[n]].attribute : attempt->swaps[n].attribute;
}

/* The clauses whose outcome may change: those that are replaced, and those that read an attribute which is changed. */
static uint64_t touched(const struct why_work *work, const struct attempt *attempt)
{
    const struct expr *root = tree_root(work->request);
    uint64_t set = 0;
    struct scope scope;

    scope_init(&scope, work->request, NULL);
    for (uint32_t i = 0; i < attempt->count; i++) {
        const struct expr *now = tree_find(work->request, root, swap_attribute(work, attempt, i));

        if (!now)
            return UINT64_MAX; /* a new attribute may catch any name that was asked of the offers */
        if (attempt->swaps[i].e)
            set |= (uint64_t)1 << attempt->clauses[i];
        for (uint32_t k = 0; k < work->why->clause_count; k++) {
            const struct why_clause *clause = &work->why->clauses[k];

            if (clause->more || clause->e == attempt->swaps[i].e || refs_reach(&scope, clause->e, now))
                set |= (uint64_t)1 << k;
        }
    }
    return set;
}

/* The attributes of the request that depend on an attribute, itself and by way of others, as bits of their names (refs_bits). */
static uint64_t readers(const struct tree *request, symbol name)
{
    const struct expr *root = tree_root(request), *parts = tree_parts(request, root),
                      *now = tree_find(request, root, name);
    uint64_t names = refs_bit(name);
    struct scope scope;

    scope_init(&scope, request, NULL);
    for (uint32_t i = 0; i < root->u.run.count && now; i++)
        if (!expr_is_literal(&parts[i]) && refs_reach(&scope, &parts[i], now))
            names |= refs_bit(parts[i].label);
    return names;
}

size_t attempt_count(struct why_work *work, const struct attempt *attempt, struct tree *changed, uint64_t *spent)
{
    uint64_t may_change = touched(work, attempt), names = 0;
    struct party party;
    size_t opens = 0;

    for (uint32_t i = 0; i < attempt->count; i++)
        names |= readers(work->request, swap_attribute(work, attempt, i));
    party_init(&party, work->env, work->scratch, changed);
    for (size_t i = 0; i < work->count; i++) {
        uint64_t still = work->failed[i] & ~may_change;

        /* an offer that reads what is changed may decide otherwise */
        if (still & ~(work->evaluated | WHY_OFFER_BIT))
            continue;
        if (still) {
            if (!work->reads[i])
                work->reads[i] = refs_bits(work->offers[i]) | 1;
            if (!(work->reads[i] & names))
                continue;
        }
        if (work->meter >= work->edits_end) { /* how many offers the change opens is not known */
            *spent = WHY_EDIT_WORK_MAX;
            work->why->all_edits = false;
            opens = 0;
            break;
        }
        ++*spent;
        if (!clauses_hold(&party.clauses, work->env, work->scratch, work->offers[i]))
            continue;
        *spent += 3;
        opens += match_accepts(work->env, work->scratch, work->offers[i], changed);
    }
    party_done(&party);
    return opens;
}
