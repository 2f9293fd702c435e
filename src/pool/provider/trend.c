/* trend.c: how the value of an expression goes with the time.
 *
 * A course is put together from those of the parts. Only directions are worked out here; where a value is needed (a
 * factor, how far a step is from its end) it comes from evaluation. */
#include "pool/provider/trend.h"

#include "lang/ad/functions.h"
#include "lang/ad/ops.h"

#include <string.h>

#define DAY 86400
#define SIZE_MAX_WHOLE 0x1p62 /* beyond it integers may wrap */

static const struct course course_constant = {.repeats = true, .end = TURNS_NEVER};

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The value stays until `end`; what it is tells the rest. */
static bool course_stay(struct turns *turns, const struct scope *scope, const struct expr *e, int64_t at, int64_t end,
                        bool repeats, struct course *ret)
{
    struct arena_mark mark = arena_mark(turns->scratch);
    struct value v;

    turns_value(turns, scope, e, at, &v);
    *ret = (struct course){.repeats = repeats, .end = end};
    if (v.type == VALUE_INTEGER || v.type == VALUE_ABSTIME || v.type == VALUE_RELTIME) {
        ret->size = fabs((double)v.u.integer);
        ret->whole = true;
    } else if (v.type == VALUE_REAL) {
        ret->size = fabs(v.u.real);
    }
    arena_rewind(turns->scratch, mark);
    return true;
}

static void course_negate(struct course *c)
{
    double least = c->least;

    c->least = 0 - c->most;
    c->most = 0 - least;
}

/* Only the direction of it is left. */
static void course_blur(struct course *c)
{
    c->least = course_rises(c) ? 0 : -HUGE_VAL;
    c->most = course_falls(c) ? 0 : HUGE_VAL;
    if (course_rises(c) && course_falls(c))
        c->least = c->most = 0;
    c->whole = false;
}

static bool course_add(struct course *sum, const struct course *c)
{
    if (course_is_linear(sum) && course_is_linear(c)) {
        sum->least = sum->most += c->least;
    } else if ((course_rises(sum) && course_rises(c)) || (course_falls(sum) && course_falls(c))) {
        sum->least += c->least;
        sum->most += c->most;
        course_blur(sum); /* a sum of reals is rounded, but never against its direction */
    } else {
        return false;
    }
    sum->size += c->size;
    sum->repeats = sum->repeats && c->repeats;
    sum->end = earlier(sum->end, c->end);
    return sum->size < SIZE_MAX_WHOLE;
}

/* Times (or divided by) a value that stays. */
static bool course_scale(struct course *c, const struct value *by, enum op op)
{
    bool whole = by->type == VALUE_INTEGER || by->type == VALUE_RELTIME;
    double factor = whole ? (double)by->u.integer : by->u.real;

    if ((!whole && by->type != VALUE_REAL) || !isfinite(factor) || (factor == 0 && op == OP_DIVIDE)) {
        c->least = c->most = c->size = 0; /* an error, or undefined: that stays */
        return true;
    }
    if (op == OP_MULTIPLY && whole && c->whole) {
        c->least *= fabs(factor);
        c->most *= fabs(factor);
    } else {
        course_blur(c);
    }
    if (factor < 0)
        course_negate(c);
    if (factor == 0)
        c->least = c->most = 0;
    c->size = op == OP_MULTIPLY ? c->size * fabs(factor) : c->size / fabs(factor);
    return c->size < SIZE_MAX_WHOLE && !isnan(c->least) && !isnan(c->most);
}

static bool course_sum(struct turns *turns, const struct scope *scope, const struct expr *e, int64_t at, bool stays,
                       struct course *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);

    if (!course_of(turns, scope, &parts[0], at, stays, ret))
        return false;
    for (uint32_t i = 1; i < e->u.run.count; i++) {
        struct course c;

        if (!course_of(turns, scope, &parts[i], at, stays, &c))
            return false;
        if (parts[i].label == OP_SUBTRACT)
            course_negate(&c);
        if (!course_add(ret, &c))
            return false;
    }
    return true;
}

/* a % m, and a / m where it shall stay: up to the next multiple of m. */
static bool course_modulo(struct course *c, const struct value *a, const struct value *m, enum op op, int64_t at)
{
    if (!course_is_linear(c) || c->least != 1 || a->type != VALUE_INTEGER || a->u.integer < 0 ||
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
static bool product_join(struct course *product, const struct value *a, enum op op, const struct course *c,
                         const struct value *b, int64_t at, bool stays)
{
    struct course with = *c;

    if (course_stays(product) && !course_stays(c)) { /* a constant times what goes */
        if (op != OP_MULTIPLY || !course_scale(&with, a, op))
            return false;
        with.repeats = with.repeats && product->repeats;
        with.end = earlier(with.end, product->end);
        *product = with;
        return true;
    }
    if (!course_stays(c))
        return false;
    if (!course_stays(product) && (op == OP_REMAINDER || (op == OP_DIVIDE && stays))) {
        if (!course_modulo(product, a, b, op, at))
            return false;
    } else if (!course_stays(product) && !course_scale(product, b, op)) {
        return false;
    }
    product->repeats = product->repeats && c->repeats;
    product->end = earlier(product->end, c->end);
    return true;
}

static bool course_product(struct turns *turns, const struct scope *scope, const struct expr *e, int64_t at, bool stays,
                           struct course *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    struct value product, by;
    struct course c;

    if (!course_of(turns, scope, &parts[0], at, stays, ret))
        return false;
    turns_value(turns, scope, &parts[0], at, &product);
    for (uint32_t i = 1; i < e->u.run.count; i++) {
        enum op op = (enum op)parts[i].label;

        if (!course_of(turns, scope, &parts[i], at, stays, &c))
            return false;
        turns_value(turns, scope, &parts[i], at, &by);
        if (!product_join(ret, &product, op, &c, &by, at, stays))
            return !stays && course_product(turns, scope, e, at, true, ret);
        op_binary(scope->tree->dialect, op, &product, &by, &product);
    }
    return !course_stays(ret) || course_stay(turns, scope, e, at, ret->end, ret->repeats, ret);
}

/* What is true or false, up to its next turn. */
static bool course_truth(struct turns *turns, const struct scope *scope, const struct expr *e, int64_t at,
                         struct course *ret)
{
    struct turns inner = *turns;

    inner.from = at;
    inner.next = inner.once = TURNS_NEVER;
    turns_walk(&inner, scope, e);
    turns->steps = inner.steps;
    turns->spent = inner.spent;
    *ret = course_constant;
    ret->end = inner.next;
    ret->repeats = inner.once == TURNS_NEVER;
    return !turns->spent;
}

/* c ? a : b is the course of the one that is chosen, while it is. */
static bool course_choice(struct turns *turns, const struct scope *scope, const struct expr *e,
                          const struct expr *parts, int64_t at, bool stays, struct course *ret)
{
    struct arena_mark mark = arena_mark(turns->scratch);
    struct course condition, other;
    enum value_type type;
    bool is = false;
    struct value v;

    if (!course_truth(turns, scope, &parts[0], at, &condition))
        return false;
    turns_value(turns, scope, &parts[0], at, &v);
    type = op_condition(scope->tree->dialect, &v, &is);
    arena_rewind(turns->scratch, mark);
    if (type != VALUE_BOOLEAN)
        return course_stay(turns, scope, e, at, condition.end, false, ret);
    if (!course_of(turns, scope, &parts[is ? 1 : 2], at, stays, ret))
        return false;
    ret->repeats = ret->repeats && condition.repeats &&
                   course_of(turns, scope, &parts[is ? 2 : 1], at, stays, &other) && other.repeats;
    ret->end = earlier(ret->end, condition.end);
    return true;
}

/* All parts of it stay: then so does it. */
static bool course_of_parts(struct turns *turns, const struct scope *scope, const struct expr *e, int64_t at,
                            struct course *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    struct course all = course_constant, c;

    for (uint32_t i = 0; i < expr_part_count(e); i++) {
        if (!course_of(turns, scope, &parts[i], at, true, &c) || !course_stays(&c))
            return false;
        all.end = earlier(all.end, c.end);
        all.repeats = all.repeats && c.repeats;
    }
    if (e->kind == EXPR_LIST) {
        *ret = all;
        return true;
    }
    return course_stay(turns, scope, e, at, all.end, all.repeats, ret);
}

/* ---------------------------------------------------------------------------------------------------- functions */

enum manner {
    MANNER_NOW,  /* a second more every second */
    MANNER_DAY,  /* that, from midnight on */
    MANNER_SAME, /* the argument's seconds as another type */
    MANNER_UP,   /* not less for a larger argument */
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

/* Is the zone that holds here written down? */
static bool zone_is_plain(const struct scope *scope)
{
    const struct expr *found = scope_find(&scope, NAME_TIMEZONE);

    return !found || found->kind <= EXPR_RELTIME;
}

/* Where the local time of an argument stands, in seconds; false when it is no time, or one from which steps are not
 * counted. */
static bool local_seconds(struct turns *turns, const struct scope *scope, const struct expr *argument, int64_t at,
                          int64_t *ret)
{
    struct arena_mark mark = arena_mark(turns->scratch);
    struct eval eval;
    struct value v;
    bool good = true;

    turns_value(turns, scope, argument, at, &v);
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

/* GetHours(T) and its like, T going as the time does. */
static bool course_step(struct turns *turns, const struct scope *scope, const struct expr *e,
                        const struct mannered *row, int64_t at, bool stays, struct course *ret)
{
    int64_t unit = stays ? row->stay : row->rise, local, rest;

    if (!course_is_linear(ret) || ret->least != 1 || unit == 1 ||
        !local_seconds(turns, scope, tree_parts(scope->tree, e), at, &local))
        return false;
    rest = local % unit;
    ret->repeats = ret->repeats || (row->weekly && ret->end == TURNS_NEVER);
    ret->end = earlier(ret->end, at + unit - (rest < 0 ? rest + unit : rest));
    if (unit == row->stay)
        return course_stay(turns, scope, e, at, ret->end, ret->repeats, ret);
    ret->least = 0;
    ret->most = HUGE_VAL;
    ret->size = DAY;
    return true;
}

/* Now, or the time since midnight. */
static bool course_clock(struct turns *turns, const struct scope *scope, const struct expr *e, int64_t at, bool day,
                         struct course *ret)
{
    struct value v;

    *ret = (struct course){.least = 1, .most = 1, .whole = true, .repeats = day, .end = TURNS_NEVER};
    ret->size = fabs((double)at) + (double)COURSE_FAR;
    if (!day)
        return true;
    turns_value(turns, scope, e, at, &v);
    ret->end = at + DAY - v.u.integer;
    return v.type == VALUE_RELTIME;
}

static bool course_call(struct turns *turns, const struct scope *scope, const struct expr *e, int64_t at, bool stays,
                        struct course *ret)
{
    const struct function *function = function_find(scope->tree->dialect, e->u.name.id);
    const struct expr *parts = tree_parts(scope->tree, e);
    const struct mannered *row;

    if (!function || e->small < function->min || e->small > function->max)
        return course_stay(turns, scope, e, at, TURNS_NEVER, true, ret);
    if (function->traits & FUNCTION_CHOICE)
        return course_choice(turns, scope, e, parts, at, stays, ret);
    if (function->traits & (FUNCTION_LAZY | FUNCTION_SCOPE | FUNCTION_CHANCE) ||
        (function->traits & FUNCTION_TIME && !zone_is_plain(scope)))
        return false;
    row = manner_find(function->name);
    if (e->small == 0 && row)
        return course_clock(turns, scope, e, at, row->manner == MANNER_DAY, ret);
    if (e->small == 0 && function->traits & FUNCTION_TIME && strcmp(function->name, "timeZoneOffset") != 0)
        return false;
    if (!row || e->small != 1)
        return course_of_parts(turns, scope, e, at, ret);
    if (!course_of(turns, scope, parts, at, stays, ret)) /* some stay where their argument does not */
        return false;
    if (course_stays(ret))
        return course_stay(turns, scope, e, at, ret->end, ret->repeats, ret);
    if (row->manner == MANNER_STEP)
        return course_step(turns, scope, e, row, at, stays, ret);
    if (row->manner == MANNER_UP || !ret->whole)
        course_blur(ret);
    return true;
}

static bool course_chain(struct turns *turns, const struct scope *scope, const struct expr *e, int64_t at, bool stays,
                         struct course *ret)
{
    enum op op = (enum op)tree_parts(scope->tree, e)[1].label;

    if (op == OP_ADD || op == OP_SUBTRACT)
        return course_sum(turns, scope, e, at, stays, ret);
    if (op == OP_MULTIPLY || op == OP_DIVIDE || op == OP_REMAINDER)
        return course_product(turns, scope, e, at, stays, ret);
    if (op == OP_AND || op == OP_OR || (op >= OP_EQUAL && op <= OP_GREATER_EQUAL && e->u.run.count == 2))
        return course_truth(turns, scope, e, at, ret);
    return course_of_parts(turns, scope, e, at, ret);
}

static bool course_deeper(struct turns *turns, const struct scope *scope, const struct expr *e, int64_t at, bool stays,
                          struct course *ret)
{
    const struct expr *parts = tree_parts(scope->tree, e);
    bool told;

    switch ((enum expr_kind)e->kind) {
    case EXPR_NAME:
    case EXPR_ROOT_NAME:
    case EXPR_DOT:
    case EXPR_PATH:
        switch (turns_follow(turns, scope, e, &scope, &e)) {
        case FOLLOWED_OWN:
            return course_of(turns, scope, e, at, stays, ret);
        case FOLLOWED_NONE:
            *ret = course_constant;
            return true;
        default:
            return false;
        }
    case EXPR_WITHIN:
        return course_of(turns, scope, parts, at, stays, ret);
    case EXPR_PREFIX:
        if (e->small == OP_NOT)
            return course_truth(turns, scope, e, at, ret);
        if (e->small == OP_COMPLEMENT)
            return course_of_parts(turns, scope, e, at, ret);
        told = course_of(turns, scope, parts, at, stays, ret);
        if (told && e->small == OP_SUBTRACT)
            course_negate(ret);
        return told;
    case EXPR_CHAIN:
        return course_chain(turns, scope, e, at, stays, ret);
    case EXPR_CHOICE:
        return course_choice(turns, scope, e, parts, at, stays, ret);
    case EXPR_CALL:
        return course_call(turns, scope, e, at, stays, ret);
    case EXPR_LIST:
        return course_of_parts(turns, scope, e, at, ret);
    case EXPR_AD:
    case EXPR_TABLE:
    case EXPR_VALUE:
        return false;
    default: /* literals */
        return course_stay(turns, scope, e, at, TURNS_NEVER, true, ret);
    }
}

bool course_of(struct turns *turns, const struct scope *scope, const struct expr *e, int64_t at, bool stays,
               struct course *ret)
{
    bool told;

    if (!turns_charge(turns, 1) || turns->depth == COURSE_DEPTH_MAX)
        return false;
    turns->depth++;
    told = course_deeper(turns, scope, e, at, stays, ret);
    turns->depth--;
    return told;
}
