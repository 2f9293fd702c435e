/* trend.c: how the value of an expression moves with the time. * The trend of an expression is put together from those
 * of its parts. Only directions are worked out here; where a value is needed (a factor, how far a step is from its end)
 * it comes from evaluation. */
#include "pool/provider/trend.h"

#include "lang/ad/functions.h"
#include "lang/ad/ops.h"

#include <math.h>
#include <string.h>

#define DAY 86400
#define SIZE_MAX_WHOLE 0x1p62 /* beyond this size integers may wrap */

static const struct trend trend_constant = {.repeats = true, .end = TURNS_NEVER};

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The value stays until `end`; evaluation tells its size and type. */
static bool trend_stay(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at,
                       int64_t end, bool repeats, struct trend *ret)
{
    struct arena_mark mark = arena_mark(turns->scratch);
    struct value v;

    next_change_value(turns, scope, e, at, &v);
    *ret = (struct trend){.repeats = repeats, .end = end};
    if (v.type == VALUE_INTEGER || v.type == VALUE_ABSTIME || v.type == VALUE_RELTIME) {
        ret->size = fabs((double)v.u.integer);
        ret->whole = true;
    } else if (v.type == VALUE_REAL) {
        ret->size = fabs(v.u.real);
    }
    arena_rewind(turns->scratch, mark);
    return true;
}

static void trend_negate(struct trend *c)
{
    double least = c->least;

    c->least = 0 - c->most;
    c->most = 0 - least;
}

/* Keeps only the trend's direction. */
static void trend_blur(struct trend *c)
{
    c->least = trend_rises(c) ? 0 : -HUGE_VAL;
    c->most = trend_falls(c) ? 0 : HUGE_VAL;
    if (trend_rises(c) && trend_falls(c))
        c->least = c->most = 0;
    c->whole = false;
}

static bool trend_add(struct trend *sum, const struct trend *c)
{
    if (trend_is_linear(sum) && trend_is_linear(c)) {
        sum->least = sum->most += c->least;
    } else if ((trend_rises(sum) && trend_rises(c)) || (trend_falls(sum) && trend_falls(c))) {
        sum->least += c->least;
        sum->most += c->most;
        trend_blur(sum); /* a sum of reals is rounded, but never against its direction */
    } else {
        return false;
    }
    sum->size += c->size;
    sum->repeats = sum->repeats && c->repeats;
    sum->end = earlier(sum->end, c->end);
    return sum->size < SIZE_MAX_WHOLE;
}

/* Times (or divided by) a value that stays. */
static bool trend_scale(struct trend *c, const struct value *by, enum op op)
{
    bool whole = by->type == VALUE_INTEGER || by->type == VALUE_RELTIME;
    double factor = whole ? (double)by->u.integer : by->u.real;

    if ((!whole && by->type != VALUE_REAL) || !isfinite(factor) || (factor == 0 && op == OP_DIVIDE)) {
        c->least = c->most = c->size = 0; /* an error, or undefined: the value stays */
        return true;
    }
    if (op == OP_MULTIPLY && whole && c->whole) {
        c->least *= fabs(factor);
        c->most *= fabs(factor);
    } else {
        trend_blur(c);
    }
    if (factor < 0)
        trend_negate(c);
    if (factor == 0)
        c->least = c->most = 0;
    c->size = op == OP_MULTIPLY ? c->size * fabs(factor) : c->size / fabs(factor);
    return c->size < SIZE_MAX_WHOLE && !isnan(c->least) && !isnan(c->most);
}

static bool trend_sum(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at,
                      bool stays, struct trend *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);

    if (!trend_of(turns, scope, &parts[0], at, stays, ret))
        return false;
    for (uint32_t i = 1; i < e->u.run.count; i++) {
        struct trend c;

        if (!trend_of(turns, scope, &parts[i], at, stays, &c))
            return false;
        if (parts[i].label == OP_SUBTRACT)
            trend_negate(&c);
        if (!trend_add(ret, &c))
            return false;
    }
    return true;
}

/* a % m, and a / m where a value that stays is wanted: up to the next multiple of m. */
static bool trend_modulo(struct trend *c, const struct value *a, const struct value *m, enum op op, int64_t at)
{
    if (!trend_is_linear(c) || c->least != 1 || a->type != VALUE_INTEGER || a->u.integer < 0 ||
        m->type != VALUE_INTEGER || m->u.integer <= 0 || m->u.integer > COURSE_FAR)
        return false;
    if (!c->repeats)
        c->repeats = op == OP_REMAINDER && c->end == TURNS_NEVER && TURNS_WEEK % m->u.integer == 0;
    c->end = earlier(c->end, at + m->u.integer - a->u.integer % m->u.integer);
    if (op == OP_DIVIDE)
        c->least = c->most = 0;
    return true;
}

/* The product so far, which is `a` at that second, and one more factor. */
static bool product_join(struct trend *product, const struct value *a, enum op op, const struct trend *c,
                         const struct value *b, int64_t at, bool stays)
{
    struct trend with = *c;

    if (trend_stays(product) && !trend_stays(c)) { /* a constant times a moving value */
        if (op != OP_MULTIPLY || !trend_scale(&with, a, op))
            return false;
        with.repeats = with.repeats && product->repeats;
        with.end = earlier(with.end, product->end);
        *product = with;
        return true;
    }
    if (!trend_stays(c))
        return false;
    if (!trend_stays(product) && (op == OP_REMAINDER || (op == OP_DIVIDE && stays))) {
        if (!trend_modulo(product, a, b, op, at))
            return false;
    } else if (!trend_stays(product) && !trend_scale(product, b, op)) {
        return false;
    }
    product->repeats = product->repeats && c->repeats;
    product->end = earlier(product->end, c->end);
    return true;
}

static bool trend_product(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at,
                          bool stays, struct trend *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    struct value product, by;
    struct trend c;

    if (!trend_of(turns, scope, &parts[0], at, stays, ret))
        return false;
    next_change_value(turns, scope, &parts[0], at, &product);
    for (uint32_t i = 1; i < e->u.run.count; i++) {
        enum op op = (enum op)parts[i].label;

        if (!trend_of(turns, scope, &parts[i], at, stays, &c))
            return false;
        next_change_value(turns, scope, &parts[i], at, &by);
        if (!product_join(ret, &product, op, &c, &by, at, stays))
            return !stays && trend_product(turns, scope, e, at, true, ret);
        op_binary(scope->tree->dialect, op, &product, &by, &product);
    }
    return !trend_stays(ret) || trend_stay(turns, scope, e, at, ret->end, ret->repeats, ret);
}

/* A condition: its value stays up to its next change. */
static bool trend_truth(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at,
                        struct trend *ret)
{
    struct next_change inner = *turns;

    inner.from = at;
    inner.next = inner.once = TURNS_NEVER;
    next_change_walk(&inner, scope, e);
    turns->steps = inner.steps;
    turns->spent = inner.spent;
    *ret = trend_constant;
    ret->end = inner.next;
    ret->repeats = inner.once == TURNS_NEVER;
    return !turns->spent;
}

/* The trend of c ? a : b is that of the chosen part, while c stays as it is. */
static bool trend_choice(struct next_change *turns, const struct scope *scope, const struct expr *e,
                         const struct expr *parts, int64_t at, bool stays, struct trend *ret)
{
    struct arena_mark mark = arena_mark(turns->scratch);
    struct trend condition, other;
    enum value_type type;
    bool is = false;
    struct value v;

    if (!trend_truth(turns, scope, &parts[0], at, &condition))
        return false;
    next_change_value(turns, scope, &parts[0], at, &v);
    type = op_condition(scope->tree->dialect, &v, &is);
    arena_rewind(turns->scratch, mark);
    if (type != VALUE_BOOLEAN)
        return trend_stay(turns, scope, e, at, condition.end, false, ret);
    if (!trend_of(turns, scope, &parts[is ? 1 : 2], at, stays, ret))
        return false;
    ret->repeats = ret->repeats && condition.repeats && trend_of(turns, scope, &parts[is ? 2 : 1], at, stays, &other) &&
                   other.repeats;
    ret->end = earlier(ret->end, condition.end);
    return true;
}

/* If all parts of the expression stay, so does it. */
static bool trend_of_parts(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at,
                           struct trend *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    struct trend all = trend_constant, c;

    for (uint32_t i = 0; i < expr_part_count(e); i++) {
        if (!trend_of(turns, scope, &parts[i], at, true, &c) || !trend_stays(&c))
            return false;
        all.end = earlier(all.end, c.end);
        all.repeats = all.repeats && c.repeats;
    }
    if (e->kind == EXPR_LIST) {
        *ret = all;
        return true;
    }
    return trend_stay(turns, scope, e, at, all.end, all.repeats, ret);
}

/* ---------------------------------------------------------------------------------------------------- functions */

enum manner {
    MANNER_NOW,  /* rises by a second every second */
    MANNER_DAY,  /* the same, from midnight on */
    MANNER_SAME, /* the argument's seconds as another type */
    MANNER_UP,   /* not smaller for a larger argument */
    MANNER_STEP, /* a part of a time: rises within `rise`, and stays for `stay` seconds */
};

static const struct mannered {
    const char *name;
    enum manner manner;
    int rise, stay;
    bool weekly;
} functions[] = {
    {"time", MANNER_NOW, 0, 0, false},
    {"currentTime", MANNER_NOW, 0, 0, false},
    {"dayTime", MANNER_DAY, 0, 0, true},
    {"absTime", MANNER_SAME, 0, 0, false},
    {"relTime", MANNER_SAME, 0, 0, false},
    {"makeAbsTime", MANNER_SAME, 0, 0, false},
    {"makeRelTime", MANNER_SAME, 0, 0, false},
    {"inDays", MANNER_UP, 0, 0, false},
    {"inHours", MANNER_UP, 0, 0, false},
    {"inMinutes", MANNER_UP, 0, 0, false},
    {"inSeconds", MANNER_UP, 0, 0, false},
    {"int", MANNER_UP, 0, 0, false},
    {"real", MANNER_UP, 0, 0, false},
    {"floor", MANNER_UP, 0, 0, false},
    {"ceil", MANNER_UP, 0, 0, false},
    {"ceiling", MANNER_UP, 0, 0, false},
    {"round", MANNER_UP, 0, 0, false},
    {"getDays", MANNER_UP, 0, 0, false},
    {"getHours", MANNER_STEP, DAY, 3600, true},
    {"getMinutes", MANNER_STEP, 3600, 60, true},
    {"getSeconds", MANNER_STEP, 60, 1, true},
    {"getDayOfWeek", MANNER_STEP, DAY, DAY, true},
    {"getDayOfMonth", MANNER_STEP, DAY, DAY, false},
    {"getDayOfYear", MANNER_STEP, DAY, DAY, false},
    {"getMonth", MANNER_STEP, DAY, DAY, false},
    {"getYear", MANNER_STEP, DAY, DAY, false},
};

static const struct mannered *manner_find(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return &functions[i];
    return NULL;
}

/* Is the time zone that holds here a literal, or not given? */
static bool zone_is_plain(const struct scope *scope)
{
    const struct expr *found = scope_find(&scope, NAME_TIMEZONE);

    return !found || expr_is_literal(found);
}

/* The local time of an argument, in seconds; false when it is not a time, or one from which steps are not counted. */
static bool local_seconds(struct next_change *turns, const struct scope *scope, const struct expr *argument, int64_t at,
                          int64_t *ret)
{
    struct arena_mark mark = arena_mark(turns->scratch);
    struct eval eval;
    struct value v;
    bool good = true;

    next_change_value(turns, scope, argument, at, &v);
    if (v.type == VALUE_ABSTIME) {
        eval_init(&eval, turns->env, turns->scratch);
        *ret = v.u.integer + 60 * (scope->tree->dialect->zone_of_evaluation ? eval_zone(&eval, scope) : v.zone);
    } else {
        *ret = v.u.integer;
        good = v.type == VALUE_RELTIME && v.u.integer >= 0;
    }
    arena_rewind(turns->scratch, mark);
    return good;
}

/* GetHours(T) and the like, where T moves as the time does. */
static bool trend_step(struct next_change *turns, const struct scope *scope, const struct expr *e,
                       const struct mannered *row, int64_t at, bool stays, struct trend *ret)
{
    int64_t unit = stays ? row->stay : row->rise, local, rest;

    if (!trend_is_linear(ret) || ret->least != 1 || unit == 1 ||
        !local_seconds(turns, scope, tree_parts(scope->tree, e), at, &local))
        return false;
    rest = local % unit;
    ret->repeats = ret->repeats || (row->weekly && ret->end == TURNS_NEVER);
    ret->end = earlier(ret->end, at + unit - (rest < 0 ? rest + unit : rest));
    if (unit == row->stay)
        return trend_stay(turns, scope, e, at, ret->end, ret->repeats, ret);
    ret->least = 0;
    ret->most = HUGE_VAL;
    ret->size = DAY;
    return true;
}

/* Now, or the time since midnight. */
static bool trend_clock(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at,
                        bool day, struct trend *ret)
{
    struct value v;

    *ret = (struct trend){.least = 1, .most = 1, .whole = true, .repeats = day, .end = TURNS_NEVER};
    ret->size = fabs((double)at) + (double)COURSE_FAR;
    if (!day)
        return true;
    next_change_value(turns, scope, e, at, &v);
    ret->end = at + DAY - v.u.integer;
    return v.type == VALUE_RELTIME;
}

static bool trend_call(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at,
                       bool stays, struct trend *ret)
{
    const struct function *function = function_find(scope->tree->dialect, e->u.name.id);
    const struct expr *parts = tree_parts(scope->tree, e);
    const struct mannered *row;

    if (!function || e->small < function->min || e->small > function->max)
        return trend_stay(turns, scope, e, at, TURNS_NEVER, true, ret);
    if (function->traits & FUNCTION_CHOICE)
        return trend_choice(turns, scope, e, parts, at, stays, ret);
    if (function->traits & (FUNCTION_LAZY | FUNCTION_SCOPE | FUNCTION_CHANCE) ||
        (function->traits & FUNCTION_TIME && !zone_is_plain(scope)))
        return false;
    row = manner_find(function->name);
    if (e->small == 0 && row)
        return trend_clock(turns, scope, e, at, row->manner == MANNER_DAY, ret);
    if (e->small == 0 && function->traits & FUNCTION_TIME && strcmp(function->name, "timeZoneOffset") != 0)
        return false;
    if (!row || e->small != 1)
        return trend_of_parts(turns, scope, e, at, ret);
    if (!trend_of(turns, scope, parts, at, stays, ret)) /* some functions stay where their argument does not */
        return false;
    if (trend_stays(ret))
        return trend_stay(turns, scope, e, at, ret->end, ret->repeats, ret);
    if (row->manner == MANNER_STEP)
        return trend_step(turns, scope, e, row, at, stays, ret);
    if (row->manner == MANNER_UP || !ret->whole)
        trend_blur(ret);
    return true;
}

static bool trend_chain(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at,
                        bool stays, struct trend *ret)
{
    enum op op = (enum op)tree_parts(scope->tree, e)[1].label;

    if (op == OP_ADD || op == OP_SUBTRACT)
        return trend_sum(turns, scope, e, at, stays, ret);
    if (op == OP_MULTIPLY || op == OP_DIVIDE || op == OP_REMAINDER)
        return trend_product(turns, scope, e, at, stays, ret);
    if (op == OP_AND || op == OP_OR || (op >= OP_EQUAL && op <= OP_GREATER_EQUAL && e->u.run.count == 2))
        return trend_truth(turns, scope, e, at, ret);
    return trend_of_parts(turns, scope, e, at, ret);
}

static bool trend_deeper(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at,
                         bool stays, struct trend *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    bool told;

    switch ((enum expr_kind)e->kind) {
    case EXPR_NAME:
    case EXPR_ROOT_NAME:
    case EXPR_DOT:
    case EXPR_PATH:
        switch (next_change_follow(turns, scope, e, &scope, &e)) {
        case FOLLOWED_OWN:
            return trend_of(turns, scope, e, at, stays, ret);
        case FOLLOWED_NONE:
            *ret = trend_constant;
            return true;
        default:
            return false;
        }
    case EXPR_WITHIN:
        return trend_of(turns, scope, parts, at, stays, ret);
    case EXPR_PREFIX:
        if (e->small == OP_NOT)
            return trend_truth(turns, scope, e, at, ret);
        if (e->small == OP_COMPLEMENT)
            return trend_of_parts(turns, scope, e, at, ret);
        told = trend_of(turns, scope, parts, at, stays, ret);
        if (told && e->small == OP_SUBTRACT)
            trend_negate(ret);
        return told;
    case EXPR_CHAIN:
        return trend_chain(turns, scope, e, at, stays, ret);
    case EXPR_CHOICE:
        return trend_choice(turns, scope, e, parts, at, stays, ret);
    case EXPR_CALL:
        return trend_call(turns, scope, e, at, stays, ret);
    case EXPR_LIST:
        return trend_of_parts(turns, scope, e, at, ret);
    case EXPR_AD:
    case EXPR_TABLE:
    case EXPR_VALUE:
        return false;
    default: /* literals */
        return trend_stay(turns, scope, e, at, TURNS_NEVER, true, ret);
    }
}

bool trend_of(struct next_change *turns, const struct scope *scope, const struct expr *e, int64_t at, bool stays,
              struct trend *ret)
{
    bool told;

    if (!next_change_charge(turns, 1) || turns->depth == COURSE_DEPTH_MAX)
        return false;
    turns->depth++;
    told = trend_deeper(turns, scope, e, at, stays, ret);
    turns->depth--;
    return told;
}
