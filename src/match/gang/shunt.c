/* shunt.c: what those who are docked elsewhere in a gang ask of whoever docks at a slot that is still open. */
#include "match/gang/shunt.h"

#include "lang/ad/functions.h"
#include "lang/ad/ops.h"
#include "match/gang/window.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define HOPS_MAX 32      /* references that are followed one after another */
#define SCALE_MAX 1024.0 /* beyond it an integer that the index tells exactly could wrap */
#define OFFSET_MAX 0x1p52
#define SLACK 1e-9 /* as a part of the numbers that went into a bound */

/* An expression of the gang as a function of one attribute of whoever docks at the target: scale * attribute + offset. */
struct line_of {
    symbol name;
    bool identity; /* nothing was done to it: any type will do */
    double scale, offset;
    double size; /* of the largest number on the way */
};

enum form { FORM_KNOWN, FORM_LINE, FORM_NEITHER };

struct shunting {
    struct members *members;
    const struct slot *target;
    struct build *build;
    unsigned hops, choices; /* choices: disjunctions around the clause */
    uint32_t count;
    uint64_t steps_end; /* of members->steps: past it nothing more is translated */
};

static const struct slot *slot_around(const struct surroundings *around)
{
    return (const struct slot *)(const void *)((const char *)around - offsetof(struct slot, around));
}

static enum form form_of(struct shunting *shunting, const struct scope *scope, const struct expr *e,
                         struct value *known, struct line_of *line);

/* Reads an attribute of whoever will dock where the label is open. */
static enum form form_asked(const struct shunting *shunting, const struct slot *slot, uint32_t port, symbol name,
                            struct line_of *line)
{
    const struct ported *of = shunting->members->items[slot->member].of;

    if (slot->member != shunting->target->member || port != shunting->target->port_number ||
        of->ports.items[port].set || !window_shows(name))
        return FORM_NEITHER;
    *line = (struct line_of){name, true, 1, 0, 0};
    return FORM_LINE;
}

static enum form form_attribute(struct shunting *shunting, const struct scope *at, symbol name, struct value *known,
                                struct line_of *line)
{
    const struct expr *found = scope_find(&at, name);
    enum form form;

    if (!found || shunting->hops == HOPS_MAX)
        return FORM_NEITHER;
    shunting->hops++;
    form = form_of(shunting, at, found, known, line);
    shunting->hops--;
    return form;
}

/* Reads a name that no enclosing ad has: it is the counterpart's. */
static enum form form_free(struct shunting *shunting, const struct scope *scope, symbol name, struct value *known,
                           struct line_of *line)
{
    const struct scope *counterpart = scope->around ? scope->around->counterpart : NULL;
    const struct slot *slot;
    struct label label;

    if (!counterpart || scope_label(scope, name, &label))
        return FORM_NEITHER;
    if (counterpart != LABEL_OPEN)
        return form_attribute(shunting, counterpart, name, known, line);
    for (uint32_t i = 0; i < shunting->members->env->given_count; i++)
        if (symbol_same(shunting->members->env->given[i].name, name))
            return FORM_NEITHER;
    slot = slot_around(scope->around);
    return form_asked(shunting, slot, slot->port_number, name, line);
}

/* Reads label.name. */
static enum form form_dot(struct shunting *shunting, const struct scope *scope, const struct expr *e,
                          struct value *known, struct line_of *line)
{
    const struct scope *at = scope;
    symbol base = EXPR_DOT_BASE(e);
    const struct slot *slot;
    struct label label;

    if (scope_find(&at, base) || !scope->around)
        return FORM_NEITHER;
    if (scope_reserved(scope, base, &at))
        return at ? form_attribute(shunting, at, e->u.name.id, known, line) : FORM_NEITHER;
    if (!scope_label(scope, base, &label) || !label.scope || label.set)
        return FORM_NEITHER;
    if (label.scope != LABEL_OPEN)
        return form_attribute(shunting, label.scope, e->u.name.id, known, line);
    slot = slot_around(scope->around);
    for (uint32_t i = 0; i <= slot->port_number; i++)
        if (symbol_same(slot->labels[i].name, label.name))
            return form_asked(shunting, slot, i, e->u.name.id, line);
    return form_asked(shunting, slot, slot->port_number, e->u.name.id, line); /* other */
}

static bool value_number(const struct value *v, double *ret)
{
    if (v->type != VALUE_INTEGER && v->type != VALUE_REAL)
        return false;
    *ret = v->type == VALUE_INTEGER ? (double)v->u.integer : v->u.real;
    return fabs(*ret) <= OFFSET_MAX;
}

/* line = scale * line + offset. */
static bool line_move(struct line_of *line, double scale, double offset)
{
    line->identity = false;
    line->scale *= scale;
    line->offset = line->offset * scale + offset;
    line->size = fmax(fmax(line->size * fmax(fabs(scale), 1), fabs(offset)), fabs(line->offset));
    return fabs(line->scale) <= SCALE_MAX && fabs(line->scale) >= 1 / SCALE_MAX && line->size <= OFFSET_MAX;
}

/* Joins a line and a number: left op right, of which one is the line. */
static bool line_join(struct line_of *line, const struct value *known, enum op op, bool known_left)
{
    double c;

    if (!value_number(known, &c))
        return false;
    switch (op) {
    case OP_ADD:
        return line_move(line, 1, c);
    case OP_SUBTRACT:
        return known_left ? line_move(line, -1, c) : line_move(line, 1, -c);
    case OP_MULTIPLY:
        return c != 0 && line_move(line, c, 0);
    default:
        return false;
    }
}

static enum form form_chain(struct shunting *shunting, const struct scope *scope, const struct expr *e,
                            struct value *known, struct line_of *line)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    enum form form = form_of(shunting, scope, &parts[0], known, line), right;

    for (uint32_t i = 1; i < e->u.run.count && form != FORM_NEITHER; i++) {
        enum op op = (enum op)parts[i].label;
        struct line_of other;
        struct value v;

        right = form_of(shunting, scope, &parts[i], &v, &other);
        if (form == FORM_KNOWN && right == FORM_KNOWN) {
            op_binary(scope->tree->dialect, op, known, &v, known);
        } else if (form == FORM_LINE && right == FORM_KNOWN) {
            form = line_join(line, &v, op, false) ? FORM_LINE : FORM_NEITHER;
        } else if (form == FORM_KNOWN && right == FORM_LINE) {
            *line = other;
            form = line_join(line, known, op, true) ? FORM_LINE : FORM_NEITHER;
        } else {
            form = FORM_NEITHER;
        }
    }
    return form;
}

static enum form form_prefix(struct shunting *shunting, const struct scope *scope, const struct expr *e,
                             struct value *known, struct line_of *line)
{
    enum form form = form_of(shunting, scope, tree_parts(scope->tree, e), known, line);

    if (form != FORM_LINE || e->small == OP_ADD)
        return form == FORM_LINE ? FORM_LINE : FORM_NEITHER;
    return e->small == OP_SUBTRACT && line_move(line, -1, 0) ? FORM_LINE : FORM_NEITHER;
}

/* Finds what an expression is, where it stands. */
static enum form form_of(struct shunting *shunting, const struct scope *scope, const struct expr *e,
                         struct value *known, struct line_of *line)
{
    if (shunting->members->steps >= shunting->steps_end)
        return FORM_NEITHER;
    if (members_evaluate(shunting->members, scope, e, known))
        return known->type < VALUE_LIST ? FORM_KNOWN : FORM_NEITHER;
    switch (e->kind) {
    case EXPR_NAME: {
        const struct scope *at = scope;

        return scope_find(&at, e->u.name.id) ? form_attribute(shunting, scope, e->u.name.id, known, line)
                                             : form_free(shunting, scope, e->u.name.id, known, line);
    }
    case EXPR_DOT:
        return form_dot(shunting, scope, e, known, line);
    case EXPR_PREFIX:
        return form_prefix(shunting, scope, e, known, line);
    case EXPR_CHAIN:
        return form_chain(shunting, scope, e, known, line);
    default:
        return FORM_NEITHER;
    }
}

/* ------------------------------------------------------------------------------------------------------------- clauses */

/* Pushes other.name op value. */
static void push_comparison(struct build *build, symbol name, enum op op, const struct value *v)
{
    window_push_asked(build, name);
    value_build(build, v);
    build_top(build)->label = op;
    build_bind(build, EXPR_CHAIN, 2);
}

static void push_bound(struct build *build, symbol name, enum op op, double bound, double slack)
{
    struct value v = value_real(op == OP_GREATER_EQUAL || op == OP_GREATER ? bound - slack : bound + slack);

    push_comparison(build, name, op, &v);
}

/* Pushes line op c, solved for the attribute; false when it cannot be solved. */
static bool solve(const struct shunting *shunting, const struct line_of *line, enum op op, const struct value *known)
{
    struct build *build = shunting->build;
    double c, bound, slack;

    if (op == OP_IS && !shunting->choices)
        op = OP_EQUAL; /* `is` holds only where == does; but == may be an error, which spoils a disjunction */
    if (op == OP_ISNT || (op == OP_IS && !line->identity) || known->type == VALUE_UNDEFINED ||
        known->type == VALUE_ERROR)
        return false;
    if (line->identity) {
        push_comparison(build, line->name, op, known);
        return true;
    }
    if (op == OP_NOT_EQUAL || !value_number(known, &c))
        return false;
    bound = (c - line->offset) / line->scale;
    slack = SLACK * (fabs(c) + line->size + 1) / fabs(line->scale) + SLACK * fabs(bound);
    if (op == OP_EQUAL) {
        push_bound(build, line->name, OP_GREATER_EQUAL, bound, slack);
        build_top(build)->label = OP_AND;
        push_bound(build, line->name, OP_LESS_EQUAL, bound, slack);
        build_top(build)->label = OP_AND;
        build_bind(build, EXPR_CHAIN, 2);
        return true;
    }
    if (line->scale < 0)
        op = op_mirrored(op);
    push_bound(build, line->name, op == OP_LESS || op == OP_LESS_EQUAL ? OP_LESS_EQUAL : OP_GREATER_EQUAL, bound,
               slack);
    return true;
}

static bool clause_push(struct shunting *shunting, const struct scope *scope, const struct expr *e);

static bool comparison_push(struct shunting *shunting, const struct scope *scope, const struct expr *parts)
{
    enum op op = (enum op)parts[1].label;
    struct value left_known, right_known;
    struct line_of left, right;
    enum form a, b;

    if (op < OP_EQUAL || op > OP_GREATER_EQUAL)
        return false;
    a = form_of(shunting, scope, &parts[0], &left_known, &left);
    b = form_of(shunting, scope, &parts[1], &right_known, &right);
    if (a == FORM_LINE && b == FORM_KNOWN)
        return solve(shunting, &left, op, &right_known);
    if (a == FORM_KNOWN && b == FORM_LINE)
        return solve(shunting, &right, op_mirrored(op), &left_known);
    return false;
}

/* Pushes a || b, all of whose parts must be about the target; or a && b, of which some may be. */
static bool logic_push(struct shunting *shunting, const struct scope *scope, const struct expr *e)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    enum op op = (enum op)parts[1].label;
    uint32_t count = 0;
    bool pushed;

    for (uint32_t i = 0; i < e->u.run.count; i++) {
        struct build_mark mark = build_mark(shunting->build);

        shunting->choices += op == OP_OR;
        pushed = clause_push(shunting, scope, &parts[i]);
        shunting->choices -= op == OP_OR;
        if (pushed) {
            build_top(shunting->build)->label = op;
            count++;
            continue;
        }
        build_rewind(shunting->build, mark);
        if (op == OP_OR)
            return false;
    }
    if (count > 1)
        build_bind(shunting->build, EXPR_CHAIN, count);
    return count > 0;
}

/* Pushes member(x, { literals }). */
static bool member_push(struct shunting *shunting, const struct scope *scope, const struct expr *e)
{
    const struct function *function = function_find(scope->tree->dialect, e->u.name.id);
    const struct expr *parts = tree_parts(scope->tree, e), *items;
    struct line_of line;
    struct value known;

    if (!function || strcmp(function->name, "member") != 0 || e->small != 2 || parts[1].kind != EXPR_LIST)
        return false;
    items = tree_parts(scope->tree, &parts[1]);
    for (uint32_t i = 0; i < parts[1].u.run.count; i++)
        if (!expr_is_literal(&items[i]))
            return false;
    if (form_of(shunting, scope, &parts[0], &known, &line) != FORM_LINE || !line.identity)
        return false;
    window_push_asked(shunting->build, line.name);
    build_copy(shunting->build, scope->tree, &parts[1]);
    build_top(shunting->build)->flags = 0;
    symbols_hold(shunting->build->symbols, e->u.name.id);
    build_call(shunting->build, e->u.name.id, 2);
    return true;
}

/* Pushes what the clause says of whoever docks at the target; false, and something may lie on the builder, when it says nothing. */
static bool clause_push(struct shunting *shunting, const struct scope *scope, const struct expr *e)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    struct line_of line;
    struct value known;

    switch (e->kind) {
    case EXPR_CHAIN:
        if (parts[1].label == OP_AND || parts[1].label == OP_OR)
            return logic_push(shunting, scope, e);
        return e->u.run.count == 2 && comparison_push(shunting, scope, parts);
    case EXPR_CALL:
        return member_push(shunting, scope, e);
    case EXPR_NAME:
    case EXPR_DOT:
        if (form_of(shunting, scope, e, &known, &line) != FORM_LINE || !line.identity)
            return false;
        window_push_asked(shunting->build, line.name);
        return true;
    default:
        return false;
    }
}

static bool clause_shunt(void *user, const struct slot *slot, const struct expr *e)
{
    struct shunting *shunting = user;
    struct arena_mark mark = arena_mark(shunting->members->scratch);
    struct build_mark pushed = build_mark(shunting->build);
    struct value v;

    if (shunting->members->steps >= shunting->steps_end)
        return false;
    if (members_evaluate(shunting->members, &slot->port, e, &v)) {
        arena_rewind(shunting->members->scratch, mark);
        return true; /* nothing about the clause is open */
    }
    if (clause_push(shunting, &slot->port, e)) {
        build_top(shunting->build)->label = OP_AND;
        shunting->count++;
    } else {
        build_rewind(shunting->build, pushed);
    }
    arena_rewind(shunting->members->scratch, mark);
    return true;
}

uint32_t shunt_clauses(struct members *members, const struct slot *from, const struct slot *target, struct build *build)
{
    struct shunting shunting = {.members = members, .target = target, .build = build};

    shunting.steps_end = members->steps + EVAL_STEPS_MAX;
    if (from->port.tree->dialect == target->port.tree->dialect)
        slot_clauses(members, from, clause_shunt, &shunting);
    return shunting.count;
}
