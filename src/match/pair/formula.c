/* formula.c: an expression of an ad over attributes of its counterpart, computed for many counterparts at once. */
#include "match/pair/formula.h"

#include "lang/ad/ops.h"
#include "lang/ad/specialize.h"
#include "lang/base/rng.h"
#include "match/pair/property.h"

#include <math.h>
#include <string.h>

#define BATCH 128
#define MIXED 254 /* the values of a batch are of several types */

enum step_kind { STEP_CONSTANT, STEP_COLUMN, STEP_BINARY, STEP_PREFIX, STEP_CHOOSE };

/* ------------------------------------------------------------------------------------------------------------ reading */

struct reader {
    struct formula *formula;
    const struct env *env;
    const struct tree *ad, *tree;
    struct columns *columns;
    uint32_t height; /* of the stack after the steps so far */
};

static bool step_add(struct reader *reader, struct formula_step step, uint32_t operands)
{
    struct formula *formula = reader->formula;

    reader->height += 1 - operands;
    if (formula->count == FORMULA_STEPS_MAX || reader->height > FORMULA_DEPTH_MAX)
        return false;
    if (reader->height > formula->depth)
        formula->depth = reader->height;
    formula->steps[formula->count++] = step;
    return true;
}

/* Does the matchmaker give that name a value where the counterpart lacks it? */
static bool is_given(const struct env *env, symbol name)
{
    for (uint32_t i = 0; i < env->given_count; i++)
        if (symbol_same(env->given[i].name, name))
            return true;
    for (uint32_t i = 0; i < env->absent_count; i++)
        if (symbol_same(env->absent[i].name, name))
            return true;
    return false;
}

static bool read_reference(struct reader *reader, const struct expr *e)
{
    symbol name = property_asked(reader->ad, e);
    struct formula_step step = {.kind = STEP_COLUMN};

    if (name == SYMBOL_NONE || symbol_name(name) <= NAME_NUMBER_TARGET || is_given(reader->env, name))
        return false;
    step.name = name;
    step.column = columns_find(reader->columns, name);
    return step.column != COLUMNS_NONE && step_add(reader, step, 0);
}

static bool read_expr(struct reader *reader, const struct expr *e);

static bool read_chain(struct reader *reader, const struct expr *e)
{
    const struct expr *parts = tree_parts(reader->tree, e);

    if (!read_expr(reader, &parts[0]))
        return false;
    for (uint32_t i = 1; i < e->u.run.count; i++)
        if (!read_expr(reader, &parts[i]) ||
            !step_add(reader, (struct formula_step){.kind = STEP_BINARY, .op = (unsigned char)parts[i].label}, 2))
            return false;
    return true;
}

static bool read_expr(struct reader *reader, const struct expr *e)
{
    const struct expr *parts;

    while (e->kind == EXPR_WITHIN)
        e = tree_parts(reader->tree, e);
    parts = tree_parts(reader->tree, e);
    if (expr_is_literal(e))
        return e->kind != EXPR_STRING &&
               step_add(
                   reader,
                   (struct formula_step){.kind = STEP_CONSTANT,
                                         .type = e->kind,
                                         .constant.integer = e->kind == EXPR_BOOLEAN ? e->small & 1 : e->u.integer},
                   0);
    switch (e->kind) {
    case EXPR_NAME:
    case EXPR_DOT:
        return read_reference(reader, e);
    case EXPR_PREFIX:
        return read_expr(reader, parts) &&
               step_add(reader, (struct formula_step){.kind = STEP_PREFIX, .op = (unsigned char)e->small}, 1);
    case EXPR_CHAIN:
        return read_chain(reader, e);
    case EXPR_CHOICE:
        return read_expr(reader, &parts[0]) && read_expr(reader, &parts[1]) && read_expr(reader, &parts[2]) &&
               step_add(reader, (struct formula_step){.kind = STEP_CHOOSE}, 3);
    default:
        return false;
    }
}

bool formula_init(struct formula *formula, const struct env *env, struct arena *scratch, const struct tree *ad,
                  symbol name, struct columns *columns)
{
    const struct expr *e = tree_find(ad, tree_root(ad), name);
    struct reader reader = {formula, env, ad, ad, columns, 0};
    static const struct expr undefined = {.kind = EXPR_UNDEFINED};
    struct scope scope;

    *formula = (struct formula){.dialect = ad->dialect};
    if (env->steps || env->bytes) /* an evaluation may end early */
        return false;
    if (!e || expr_is_literal(e))
        return read_expr(&reader, e ? e : &undefined);
    scope_init(&scope, ad, NULL);
    formula->left = specialize(env, scratch, &scope, e, 0);
    reader.tree = formula->left;
    if (read_expr(&reader, tree_root(formula->left)))
        return true;
    formula_done(formula);
    return false;
}

bool formula_read(struct formula *formula, const struct env *env, const struct tree *ad, const struct tree *tree,
                  const struct expr *const *clauses, uint32_t count, struct columns *columns)
{
    struct reader reader = {formula, env, ad, tree, columns, 0};

    *formula = (struct formula){.dialect = ad->dialect};
    if (env->steps || env->bytes)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!read_expr(&reader, clauses[i]) ||
            (i && !step_add(&reader, (struct formula_step){.kind = STEP_BINARY, .op = OP_AND}, 2)))
            return false;
    return count > 0;
}

bool formula_is_true(const struct formula *formula, const struct formula_value *value)
{
    struct value v = formula_value(value);
    bool truth = false;

    return op_condition(formula->dialect, &v, &truth) == VALUE_BOOLEAN && truth;
}

void formula_done(struct formula *formula)
{
    if (!formula)
        return;
    tree_unref(formula->left);
    formula->left = NULL;
}

static bool step_same(const struct formula_step *a, const struct formula_step *b)
{
    if (a->kind != b->kind || a->op != b->op || a->type != b->type)
        return false;
    return a->kind == STEP_COLUMN ? symbol_same(a->name, b->name) : a->constant.integer == b->constant.integer;
}

bool formula_same(const struct formula *a, const struct formula *b)
{
    if (a->count != b->count || a->dialect != b->dialect)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!step_same(&a->steps[i], &b->steps[i]))
            return false;
    return true;
}

uint64_t formula_hash(const struct formula *formula)
{
    uint64_t hash = formula->dialect->bit;

    for (uint32_t i = 0; i < formula->count; i++) {
        const struct formula_step *step = &formula->steps[i];

        hash = rng_mix(hash + ((uint64_t)step->kind << 16 | (uint64_t)step->op << 8 | step->type));
        hash += step->kind == STEP_COLUMN ? symbol_name(step->name) : (uint64_t)step->constant.integer;
    }
    return rng_mix(hash);
}

/* ------------------------------------------------------------------------------------------------------------- slopes */

/* How a value on the stack moves with each attribute: 1 if it rises, -1 if it falls, 0 if it does not. */
struct slant {
    signed char by[FORMULA_SLOPES_MAX];
    bool constant;
    double v; /* of a constant */
};

static bool slant_constant(struct slant *slant, const struct formula_step *step)
{
    *slant = (struct slant){.constant = true};
    slant->v = step->type == VALUE_REAL ? step->constant.real : (double)step->constant.integer;
    return (step->type == VALUE_INTEGER || step->type == VALUE_REAL) && slant->v - slant->v == 0;
}

static bool slant_column(struct slant *slant, struct formula_slopes *slopes, const struct formula_step *step)
{
    uint32_t i = 0;

    while (i < slopes->count && slopes->items[i].column != step->column)
        i++;
    if (i == FORMULA_SLOPES_MAX)
        return false;
    if (i == slopes->count)
        slopes->items[slopes->count++] = (struct formula_slope){.name = step->name, .column = step->column};
    *slant = (struct slant){0};
    slant->by[i] = 1;
    return true;
}

static void slant_turn(struct slant *slant)
{
    for (int i = 0; i < FORMULA_SLOPES_MAX; i++)
        slant->by[i] = (signed char)-slant->by[i];
    slant->v = -slant->v;
}

/* a = a op b. False when it is not known how that moves. */
static bool slant_binary(enum op op, struct slant *a, const struct slant *b)
{
    struct slant other = *b;

    if (a->constant && b->constant)
        return false; /* it would have been folded in, if it had a value */
    if (op == OP_MULTIPLY || op == OP_DIVIDE) {
        if (op == OP_MULTIPLY && a->constant) {
            other = *a;
            *a = *b;
        }
        if (!other.constant || (op == OP_DIVIDE && other.v == 0))
            return false;
        if (other.v < 0)
            slant_turn(a);
        return true;
    }
    if (op != OP_ADD && op != OP_SUBTRACT)
        return false;
    if (op == OP_SUBTRACT)
        slant_turn(&other);
    for (int i = 0; i < FORMULA_SLOPES_MAX; i++) {
        if (a->by[i] * other.by[i] < 0)
            return false;
        a->by[i] = a->by[i] ? a->by[i] : other.by[i];
    }
    a->constant = false;
    return true;
}

bool formula_slopes(const struct formula *formula, struct formula_slopes *ret)
{
    struct slant slants[FORMULA_DEPTH_MAX + 1], *top = slants;

    ret->count = 0;
    for (uint32_t i = 0; i < formula->count; i++) {
        const struct formula_step *step = &formula->steps[i];
        bool known = false;

        if (step->kind == STEP_CONSTANT) {
            known = slant_constant(top++, step);
        } else if (step->kind == STEP_COLUMN) {
            known = slant_column(top++, ret, step);
        } else if (step->kind == STEP_BINARY) {
            top--;
            known = slant_binary((enum op)step->op, top - 1, top);
        } else if (step->kind == STEP_PREFIX && step->op == OP_SUBTRACT) {
            slant_turn(top - 1);
            known = true;
        }
        if (!known)
            return false;
    }
    for (uint32_t i = 0; i < ret->count; i++)
        ret->items[i].rises = slants[0].by[i] >= 0;
    return ret->count > 0;
}

#define SAFE 0x1p62 /* integers below it do not wrap when two are added, nor lose their order as reals */

bool formula_may_wrap(const struct formula *formula, const struct formula_slopes *slopes, const double *least,
                      const double *most)
{
    double sizes[FORMULA_DEPTH_MAX + 1], *top = sizes;

    for (uint32_t i = 0; i < formula->count; i++) {
        const struct formula_step *step = &formula->steps[i];
        struct slant slant;
        uint32_t slope = 0;

        switch ((enum step_kind)step->kind) {
        case STEP_CONSTANT:
            slant_constant(&slant, step);
            *top++ = fabs(slant.v);
            break;
        case STEP_COLUMN:
            while (slopes->items[slope].column != step->column)
                slope++;
            *top++ = fmax(fabs(least[slope]), fabs(most[slope]));
            break;
        case STEP_BINARY:
            top--;
            if (step->op == OP_MULTIPLY)
                top[-1] *= top[0];
            else if (step->op == OP_DIVIDE)
                top[-1] /= top[0];
            else
                top[-1] += top[0];
            break;
        default:
            break;
        }
        if (!(top[-1] < SAFE))
            return true;
    }
    return false;
}

/* ---------------------------------------------------------------------------------------------------------- computing */

/* One operand, or result, of a batch. */
struct lane {
    unsigned char same; /* the type of all; or MIXED */
    unsigned char types[BATCH];
    union cell v[BATCH];
};

static struct value lane_value(const struct lane *lane, uint32_t i)
{
    struct value v = {.type = lane->types[i], .u.integer = lane->v[i].integer};

    if (v.type == VALUE_BOOLEAN)
        v.boolean = lane->v[i].integer != 0;
    return v;
}

static void lane_put(struct lane *lane, uint32_t i, const struct value *v)
{
    lane->types[i] = v->type;
    lane->v[i].integer = v->type == VALUE_BOOLEAN ? v->boolean : v->u.integer;
}

static void lane_uniform(struct lane *lane, unsigned type, uint32_t count)
{
    lane->same = (unsigned char)type;
    memset(lane->types, (int)type, count);
}

/* Looks whether all are of one type after all. */
static void lane_settle(struct lane *lane, uint32_t count)
{
    lane->same = lane->types[0];
    for (uint32_t i = 1; i < count; i++)
        if (lane->types[i] != lane->same)
            lane->same = MIXED;
}

static void lane_column(struct lane *lane, struct columns *columns, uint32_t place, const uint32_t *ids, uint32_t count,
                        bool *evaluate)
{
    const struct ad_column *column = columns_read(columns, place, ids, count);
    unsigned differ = 0, most = 0;

    for (uint32_t i = 0; i < count; i++) {
        lane->types[i] = column->types[ids[i]];
        lane->v[i] = column->cells[ids[i]];
    }
    for (uint32_t i = 0; i < count; i++) {
        differ |= lane->types[i] ^ lane->types[0];
        most |= lane->types[i];
    }
    lane->same = differ ? MIXED : lane->types[0];
    if (most <= VALUE_RELTIME)
        return;
    for (uint32_t i = 0; i < count; i++) {
        evaluate[i] |= lane->types[i] == CELL_OTHER;
        if (lane->types[i] > VALUE_RELTIME)
            lane->types[i] = VALUE_UNDEFINED;
    }
    lane_settle(lane, count);
}

static bool is_number(unsigned type)
{
    return type == VALUE_INTEGER || type == VALUE_REAL;
}

static void lane_reals(const struct lane *lane, uint32_t count, double *ret)
{
    if (lane->same == VALUE_REAL) {
        for (uint32_t i = 0; i < count; i++)
            ret[i] = lane->v[i].real;
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        ret[i] = (double)lane->v[i].integer;
}

/* Sums, differences and products of integers, which wrap; quotients where no divisor is special. */
static bool compute_integers(enum op op, struct lane *a, const struct lane *b, uint32_t count)
{
    switch (op) {
    case OP_ADD:
        for (uint32_t i = 0; i < count; i++)
            a->v[i].integer = (int64_t)((uint64_t)a->v[i].integer + (uint64_t)b->v[i].integer);
        return true;
    case OP_SUBTRACT:
        for (uint32_t i = 0; i < count; i++)
            a->v[i].integer = (int64_t)((uint64_t)a->v[i].integer - (uint64_t)b->v[i].integer);
        return true;
    case OP_MULTIPLY:
        for (uint32_t i = 0; i < count; i++)
            a->v[i].integer = (int64_t)((uint64_t)a->v[i].integer * (uint64_t)b->v[i].integer);
        return true;
    case OP_DIVIDE:
        for (uint32_t i = 0; i < count; i++)
            if (b->v[i].integer == 0 || b->v[i].integer == -1)
                return false;
        for (uint32_t i = 0; i < count; i++)
            a->v[i].integer /= b->v[i].integer;
        return true;
    default:
        return false;
    }
}

/* The same of reals; not where a result would be an error. */
static bool compute_reals(enum op op, struct lane *a, const struct lane *b, uint32_t count)
{
    double x[BATCH], y[BATCH];
    bool odd = false;

    lane_reals(a, count, x);
    lane_reals(b, count, y);
    switch (op) {
    case OP_ADD:
        for (uint32_t i = 0; i < count; i++)
            x[i] += y[i];
        break;
    case OP_SUBTRACT:
        for (uint32_t i = 0; i < count; i++)
            x[i] -= y[i];
        break;
    case OP_MULTIPLY:
        for (uint32_t i = 0; i < count; i++)
            x[i] *= y[i];
        break;
    case OP_DIVIDE:
        for (uint32_t i = 0; i < count; i++) {
            odd |= y[i] == 0;
            x[i] /= y[i];
        }
        break;
    default:
        return false;
    }
    for (uint32_t i = 0; i < count; i++) /* infinite, or not a number */
        odd |= !(x[i] - x[i] == 0);
    if (odd)
        return false;
    for (uint32_t i = 0; i < count; i++)
        a->v[i].real = x[i];
    lane_uniform(a, VALUE_REAL, count);
    return true;
}

static void compare_lanes(enum op op, struct lane *a, const struct lane *b, uint32_t count)
{
    bool integers = a->same == VALUE_INTEGER && b->same == VALUE_INTEGER;

    for (uint32_t i = 0; i < count && integers; i++) {
        int64_t x = a->v[i].integer, y = b->v[i].integer;

        a->v[i].integer = op == OP_EQUAL        ? x == y
                          : op == OP_NOT_EQUAL  ? x != y
                          : op == OP_LESS       ? x < y
                          : op == OP_LESS_EQUAL ? x <= y
                          : op == OP_GREATER    ? x > y
                                                : x >= y;
    }
    if (!integers) {
        double x[BATCH], y[BATCH];

        lane_reals(a, count, x);
        lane_reals(b, count, y);
        for (uint32_t i = 0; i < count; i++)
            a->v[i].integer = op_compare_reals(op, x[i], y[i]);
    }
    lane_uniform(a, VALUE_BOOLEAN, count);
}

static bool is_comparison(enum op op)
{
    return op == OP_EQUAL || op == OP_NOT_EQUAL || (op >= OP_LESS && op <= OP_GREATER_EQUAL);
}

/* a = a op b */
static void compute_binary(const struct dialect *dialect, enum op op, struct lane *a, const struct lane *b,
                           uint32_t count)
{
    if (is_number(a->same) && is_number(b->same)) {
        if (is_comparison(op)) {
            compare_lanes(op, a, b, count);
            return;
        }
        if (a->same == VALUE_INTEGER && b->same == VALUE_INTEGER ? compute_integers(op, a, b, count)
                                                                 : compute_reals(op, a, b, count))
            return;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct value x = lane_value(a, i), y = lane_value(b, i), v;

        op_binary(dialect, op, &x, &y, &v);
        lane_put(a, i, &v);
    }
    lane_settle(a, count);
}

static void compute_prefix(const struct dialect *dialect, enum op op, struct lane *a, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct value x = lane_value(a, i), v;

        op_prefix(dialect, op, &x, &v);
        lane_put(a, i, &v);
    }
    lane_settle(a, count);
}

/* a = a ? a[1] : a[2] */
static void compute_choose(const struct dialect *dialect, struct lane *a, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct value condition = lane_value(a, i);
        bool truth = false;
        unsigned type = op_condition(dialect, &condition, &truth);

        if (type == VALUE_BOOLEAN) {
            a->types[i] = a[truth ? 1 : 2].types[i];
            a->v[i] = a[truth ? 1 : 2].v[i];
        } else {
            a->types[i] = type == VALUE_UNDEFINED ? VALUE_UNDEFINED : VALUE_ERROR;
        }
    }
    lane_settle(a, count);
}

static void compute_constant(struct lane *a, const struct formula_step *step, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        a->v[i] = step->constant;
    lane_uniform(a, step->type, count);
}

static void compute_batch(const struct formula *formula, struct columns *columns, const uint32_t *ids, uint32_t count,
                          struct formula_value *ret)
{
    struct lane lanes[FORMULA_DEPTH_MAX + 1], *top = lanes; /* of the next result */
    bool evaluate[BATCH] = {false};

    for (uint32_t i = 0; i < formula->count; i++) {
        const struct formula_step *step = &formula->steps[i];

        switch ((enum step_kind)step->kind) {
        case STEP_CONSTANT:
            compute_constant(top++, step, count);
            break;
        case STEP_COLUMN:
            lane_column(top++, columns, step->column, ids, count, evaluate);
            break;
        case STEP_BINARY:
            top--;
            compute_binary(formula->dialect, (enum op)step->op, top - 1, top, count);
            break;
        case STEP_PREFIX:
            compute_prefix(formula->dialect, (enum op)step->op, top - 1, count);
            break;
        case STEP_CHOOSE:
            top -= 2;
            compute_choose(formula->dialect, top - 1, count);
            break;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        ret[i].type = evaluate[i] ? FORMULA_EVALUATE : lanes[0].types[i];
        ret[i].v = lanes[0].v[i];
    }
}

void formula_compute(const struct formula *formula, struct columns *columns, const uint32_t *ids, uint32_t count,
                     struct formula_value *ret)
{
    for (uint32_t done = 0; done < count; done += BATCH)
        compute_batch(formula, columns, ids + done, count - done < BATCH ? count - done : BATCH, ret + done);
}

struct value formula_value(const struct formula_value *value)
{
    struct value v = {.type = value->type, .u.integer = value->v.integer};

    if (v.type == VALUE_BOOLEAN) {
        v.boolean = value->v.integer != 0;
        v.u.integer = 0;
    } else if (v.type == VALUE_REAL) {
        v = value_real(value->v.real);
    }
    return v;
}
