/* reference.h: a second evaluator, slow and small, written from the language's definition and sharing no code with the first.
 *
 * It knows scalars, the operators, ?: and references between two flat ads; no aggregates, no calls. Where the definition leaves
 * a case open (or it is out of this evaluator's reach) the result is REF_UNKNOWN, and nothing may be concluded. */
#ifndef BERTH_TESTS_REFERENCE_H
#define BERTH_TESTS_REFERENCE_H

#include "lang/ad/eval.h"
#include "lang/text/timetext.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum ref_type {
    REF_UNKNOWN,
    REF_UNDEFINED,
    REF_ERROR,
    REF_BOOLEAN,
    REF_INTEGER,
    REF_REAL,
    REF_STRING,
    REF_ABS,
    REF_REL
};

struct ref_value {
    enum ref_type type;
    int64_t i; /* also boolean and times */
    double r;
    int zone;
    const char *text;
    size_t len;
};

/* Two ads facing each other; `busy` are the attributes being evaluated. */
struct ref_world {
    const struct tree *ads[2];
    const struct expr *busy[64];
    int busy_count;
    int steps;
};

static inline struct ref_value ref_plain(enum ref_type type)
{
    return (struct ref_value){.type = type};
}

static inline struct ref_value ref_boolean(bool b)
{
    return (struct ref_value){.type = REF_BOOLEAN, .i = b};
}

static inline struct ref_value ref_integer(uint64_t bits)
{
    return (struct ref_value){.type = REF_INTEGER, .i = (int64_t)bits};
}

static inline struct ref_value ref_real(double r)
{
    return (struct ref_value){.type = REF_REAL, .r = r};
}

static inline bool ref_numeric(const struct ref_value *v)
{
    return v->type == REF_INTEGER || v->type == REF_REAL;
}

/* Does it lie within 2^bits of zero? */
static inline bool ref_within(int64_t i, int bits)
{
    return i >= -(1ll << bits) && i <= 1ll << bits;
}

static inline double ref_as_real(const struct ref_value *v)
{
    return v->type == REF_REAL ? v->r : (double)v->i;
}

/* ------------------------------------------------------------------------------------------------ arithmetic */

static inline struct ref_value ref_integers(enum op op, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    bool minus_one = b == -1;

    switch (op) {
    case OP_ADD:
        return ref_integer(x + y);
    case OP_SUBTRACT:
        return ref_integer(x - y);
    case OP_MULTIPLY:
        return ref_integer(x * y);
    case OP_DIVIDE:
        return b == 0 ? ref_plain(REF_ERROR) : minus_one ? ref_integer(0 - x) : ref_integer((uint64_t)(a / b));
    case OP_REMAINDER:
        return b == 0 ? ref_plain(REF_ERROR) : minus_one ? ref_integer(0) : ref_integer((uint64_t)(a % b));
    default:
        return ref_plain(REF_UNKNOWN);
    }
}

static inline struct ref_value ref_reals(bool condor, enum op op, double a, double b)
{
    double product = op == OP_ADD ? a + b : op == OP_SUBTRACT ? a - b : op == OP_MULTIPLY ? a * b : a / b;

    if (condor && b != 0 && op != OP_REMAINDER && product == INFINITY) /* the definition speaks of zero divisors only */
        return ref_plain(REF_UNKNOWN);
    switch (op) {
    case OP_ADD:
        return ref_real(a + b);
    case OP_SUBTRACT:
        return ref_real(a - b);
    case OP_MULTIPLY:
        return ref_real(a * b);
    case OP_DIVIDE:
        if (b == 0 && !condor)
            return ref_plain(REF_ERROR);
        if (b == 0) /* condor: error where it would be positive infinity, a negative one stays */
            return isnan(a / b) ? ref_plain(REF_UNKNOWN) : a / b > 0 ? ref_plain(REF_ERROR) : ref_real(a / b);
        return ref_real(a / b);
    case OP_REMAINDER:
        return condor || b == 0 ? ref_plain(REF_ERROR) : ref_real(fmod(a, b));
    default:
        return ref_plain(REF_UNKNOWN);
    }
}

/* At least one operand is a time, and the dialect is classic. */
static inline struct ref_value ref_times(enum op op, const struct ref_value *a, const struct ref_value *b)
{
    __int128 sum;
    struct ref_value v;

    if (a->type == REF_ABS && b->type == REF_ABS)
        return op == OP_SUBTRACT ? (struct ref_value){.type = REF_REL, .i = a->i - b->i} : ref_plain(REF_ERROR);
    if ((a->type == REF_ABS && b->type == REF_REL && (op == OP_ADD || op == OP_SUBTRACT)) ||
        (a->type == REF_REL && b->type == REF_ABS && op == OP_ADD)) {
        v = a->type == REF_ABS ? *a : *b;
        sum = op == OP_ADD ? (__int128)a->i + b->i : (__int128)a->i - b->i;
        v.i = (int64_t)sum;
        return sum < 0 || sum > TIME_ABSOLUTE_MAX ? ref_plain(REF_ERROR) : v;
    }
    if (a->type == REF_REL && b->type == REF_REL && (op == OP_ADD || op == OP_SUBTRACT)) {
        sum = op == OP_ADD ? (__int128)a->i + b->i : (__int128)a->i - b->i;
        v = (struct ref_value){.type = REF_REL, .i = (int64_t)sum};
        return sum != v.i ? ref_plain(REF_UNKNOWN) : v;
    }
    bool times =
        op == OP_MULTIPLY && ((a->type == REF_REL && ref_numeric(b)) || (b->type == REF_REL && ref_numeric(a)));
    bool over = op == OP_DIVIDE && a->type == REF_REL && ref_numeric(b);
    if (!times && !over)
        return ref_plain(REF_ERROR);
    if (over && ref_as_real(b) == 0)
        return ref_plain(REF_ERROR);
    if (!ref_within(a->i, 31) || !ref_within(b->i, 31) || (a->type == REF_REL && b->type == REF_REL))
        return ref_plain(REF_UNKNOWN);
    double whole = over ? (double)a->i / ref_as_real(b)
                        : (a->type == REF_REL ? (double)a->i * ref_as_real(b) : ref_as_real(a) * (double)b->i);
    if (!(fabs(whole) < 0x1p52) || fabs(whole - nearbyint(whole)) < 1e-6) /* how it is rounded there is open */
        if (!(fabs(whole) < 0x1p52) || whole != nearbyint(whole))
            return ref_plain(REF_UNKNOWN);
    return (struct ref_value){.type = REF_REL, .i = (int64_t)trunc(whole)};
}

static inline bool ref_is_time(const struct ref_value *v)
{
    return v->type == REF_ABS || v->type == REF_REL;
}

/* error beats undefined; true when that settled it. */
static inline bool ref_strict(const struct ref_value *a, const struct ref_value *b, struct ref_value *ret)
{
    if (a->type == REF_UNKNOWN || b->type == REF_UNKNOWN)
        *ret = ref_plain(REF_UNKNOWN);
    else if (a->type == REF_ERROR || b->type == REF_ERROR)
        *ret = ref_plain(REF_ERROR);
    else if (a->type == REF_UNDEFINED || b->type == REF_UNDEFINED)
        *ret = ref_plain(REF_UNDEFINED);
    else
        return false;
    return true;
}

static inline struct ref_value ref_arithmetic(bool condor, enum op op, struct ref_value a, struct ref_value b)
{
    if (ref_is_time(&a) || ref_is_time(&b))
        return condor ? ref_plain(REF_UNKNOWN) : ref_times(op, &a, &b);
    if (condor && a.type == REF_BOOLEAN)
        a.type = REF_INTEGER;
    if (condor && b.type == REF_BOOLEAN)
        b.type = REF_INTEGER;
    if (!ref_numeric(&a) || !ref_numeric(&b))
        return ref_plain(REF_ERROR);
    if (a.type == REF_INTEGER && b.type == REF_INTEGER)
        return ref_integers(op, a.i, b.i);
    return ref_reals(condor, op, ref_as_real(&a), ref_as_real(&b));
}

static inline struct ref_value ref_bits(enum op op, const struct ref_value *a, const struct ref_value *b)
{
    if (a->type != REF_INTEGER || b->type != REF_INTEGER)
        return ref_plain(REF_ERROR);
    uint64_t x = (uint64_t)a->i, y = (uint64_t)b->i;
    unsigned n = (unsigned)(y & 63);
    switch (op) {
    case OP_BIT_AND:
        return ref_integer(x & y);
    case OP_BIT_OR:
        return ref_integer(x | y);
    case OP_BIT_XOR:
        return ref_integer(x ^ y);
    case OP_SHIFT_LEFT:
        return ref_integer(x << n);
    case OP_SHIFT_RIGHT_ZERO:
        return ref_integer(x >> n);
    default:
        return ref_integer(a->i < 0 ? ~(~x >> n) : x >> n);
    }
}

/* ------------------------------------------------------------------------------------------------ comparison */

static inline int ref_order_strings(const struct ref_value *a, const struct ref_value *b)
{
    for (size_t i = 0;; i++) {
        if (i == a->len || i == b->len)
            return (a->len > i) - (b->len > i);
        unsigned char x = (unsigned char)a->text[i], y = (unsigned char)b->text[i];
        x = x >= 'A' && x <= 'Z' ? (unsigned char)(x + 32) : x;
        y = y >= 'A' && y <= 'Z' ? (unsigned char)(y + 32) : y;
        if (x != y)
            return x < y ? -1 : 1;
    }
}

static inline struct ref_value ref_compare(bool condor, enum op op, struct ref_value a, struct ref_value b)
{
    bool less, more;

    if (condor && (ref_is_time(&a) || ref_is_time(&b)))
        return ref_plain(REF_UNKNOWN);
    if (condor && a.type == REF_BOOLEAN)
        a.type = REF_INTEGER;
    if (condor && b.type == REF_BOOLEAN)
        b.type = REF_INTEGER;
    if (ref_numeric(&a) && ref_numeric(&b) && a.type != b.type) {
        if (!ref_within(a.i, 53) || !ref_within(b.i, 53))
            return ref_plain(REF_UNKNOWN);
        a = ref_real(ref_as_real(&a));
        b = ref_real(ref_as_real(&b));
    }
    if (a.type != b.type)
        return ref_plain(REF_ERROR);
    if (a.type == REF_STRING) {
        less = ref_order_strings(&a, &b) < 0;
        more = ref_order_strings(&a, &b) > 0;
    } else if (a.type == REF_REAL) {
        if (isnan(a.r) || isnan(b.r)) /* IEEE: everything is false but != */
            return ref_boolean(op == OP_NOT_EQUAL);
        less = a.r < b.r;
        more = a.r > b.r;
    } else {
        less = a.i < b.i;
        more = a.i > b.i;
    }
    switch (op) {
    case OP_EQUAL:
        return ref_boolean(!less && !more);
    case OP_NOT_EQUAL:
        return ref_boolean(less || more);
    case OP_LESS:
        return ref_boolean(less);
    case OP_LESS_EQUAL:
        return ref_boolean(!more);
    case OP_GREATER:
        return ref_boolean(more);
    default:
        return ref_boolean(!less);
    }
}

static inline struct ref_value ref_is(const struct ref_value *a, const struct ref_value *b, bool same)
{
    bool is = false;
    if (a->type == REF_UNKNOWN || b->type == REF_UNKNOWN)
        return ref_plain(REF_UNKNOWN);
    if (a->type == b->type)
        switch (a->type) {
        case REF_UNDEFINED:
        case REF_ERROR:
            is = true;
            break;
        case REF_REAL:
            if (isnan(a->r) || isnan(b->r))
                return ref_plain(REF_UNKNOWN);
            is = a->r == b->r;
            break;
        case REF_STRING:
            is = a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
            break;
        case REF_ABS:
            if (a->i == b->i && a->zone != b->zone)
                return ref_plain(REF_UNKNOWN);
            is = a->i == b->i;
            break;
        default:
            is = a->i == b->i;
            break;
        }
    return ref_boolean(is == same);
}

/* ------------------------------------------------------------------------------------------------------ logic */

enum ref_truth { REF_FALSE, REF_TRUE, REF_UNDEF, REF_ERR, REF_OPEN };

static inline enum ref_truth ref_condition(bool condor, const struct ref_value *v)
{
    switch (v->type) {
    case REF_UNKNOWN:
        return REF_OPEN;
    case REF_UNDEFINED:
        return REF_UNDEF;
    case REF_BOOLEAN:
        return v->i ? REF_TRUE : REF_FALSE;
    case REF_INTEGER:
        return !condor ? REF_ERR : v->i ? REF_TRUE : REF_FALSE;
    case REF_REAL:
        return !condor ? REF_ERR : isnan(v->r) ? REF_OPEN : v->r != 0 ? REF_TRUE : REF_FALSE;
    default:
        return REF_ERR;
    }
}

static inline struct ref_value ref_of_truth(enum ref_truth truth)
{
    return truth == REF_OPEN    ? ref_plain(REF_UNKNOWN)
           : truth == REF_ERR   ? ref_plain(REF_ERROR)
           : truth == REF_UNDEF ? ref_plain(REF_UNDEFINED)
                                : ref_boolean(truth == REF_TRUE);
}

/* Rows: the left operand; columns: the right one; in the order of enum ref_truth. Section 2.4.4. */
static const enum ref_truth ref_and_table[4][4] = {
    {REF_FALSE, REF_FALSE, REF_FALSE, REF_ERR},
    {REF_FALSE, REF_TRUE, REF_UNDEF, REF_ERR},
    {REF_FALSE, REF_UNDEF, REF_UNDEF, REF_ERR},
    {REF_ERR, REF_ERR, REF_ERR, REF_ERR},
};
static const enum ref_truth ref_or_table[4][4] = {
    {REF_FALSE, REF_TRUE, REF_UNDEF, REF_ERR},
    {REF_TRUE, REF_TRUE, REF_TRUE, REF_ERR},
    {REF_UNDEF, REF_TRUE, REF_UNDEF, REF_ERR},
    {REF_ERR, REF_ERR, REF_ERR, REF_ERR},
};

static inline struct ref_value ref_logic(bool condor, enum op op, const struct ref_value *a, const struct ref_value *b)
{
    enum ref_truth left = ref_condition(condor, a), right = ref_condition(condor, b);
    if (left == REF_OPEN)
        return ref_plain(REF_UNKNOWN);
    if (condor && left == (op == OP_AND ? REF_FALSE : REF_TRUE)) /* decides, whatever follows */
        return ref_of_truth(left);
    if (right == REF_OPEN)
        return ref_plain(REF_UNKNOWN);
    return ref_of_truth((op == OP_AND ? ref_and_table : ref_or_table)[left][right]);
}

static inline struct ref_value ref_prefix(bool condor, enum op op, struct ref_value v)
{
    if (op == OP_NOT) {
        enum ref_truth truth = ref_condition(condor, &v);
        return ref_of_truth(truth == REF_TRUE ? REF_FALSE : truth == REF_FALSE ? REF_TRUE : truth);
    }
    if (v.type == REF_UNKNOWN || v.type == REF_UNDEFINED || v.type == REF_ERROR)
        return v;
    if (op == OP_COMPLEMENT)
        return v.type == REF_INTEGER ? ref_integer(~(uint64_t)v.i) : ref_plain(REF_ERROR);
    if (condor && (ref_is_time(&v) || (op == OP_ADD && v.type == REF_BOOLEAN)))
        return ref_plain(REF_UNKNOWN);
    if (op == OP_ADD)
        return ref_numeric(&v) || ref_is_time(&v) ? v : ref_plain(REF_ERROR);
    if (v.type == REF_REAL)
        return ref_real(-v.r);
    if (v.type == REF_INTEGER || v.type == REF_REL) {
        if (v.type == REF_REL && v.i == INT64_MIN)
            return ref_plain(REF_UNKNOWN);
        v.i = (int64_t)(0 - (uint64_t)v.i);
        return v;
    }
    return ref_plain(REF_ERROR);
}

static inline struct ref_value ref_binary(bool condor, enum op op, const struct ref_value *a, const struct ref_value *b)
{
    struct ref_value v;

    switch (op) {
    case OP_AND:
    case OP_OR:
        return ref_logic(condor, op, a, b);
    case OP_IS:
    case OP_ISNT:
        return ref_is(a, b, op == OP_IS);
    default:
        break;
    }
    if (ref_strict(a, b, &v))
        return v;
    switch (op) {
    case OP_ADD:
    case OP_SUBTRACT:
    case OP_MULTIPLY:
    case OP_DIVIDE:
    case OP_REMAINDER:
        return ref_arithmetic(condor, op, *a, *b);
    case OP_EQUAL:
    case OP_NOT_EQUAL:
    case OP_LESS:
    case OP_LESS_EQUAL:
    case OP_GREATER:
    case OP_GREATER_EQUAL:
        return ref_compare(condor, op, *a, *b);
    default:
        return ref_bits(op, a, b);
    }
}

/* ------------------------------------------------------------------------------------------------- expressions */

static inline struct ref_value ref_eval(struct ref_world *world, int side, const struct expr *e);

/* The attribute of that name in the ad of one side; false when there is none. */
static inline bool ref_attribute(struct ref_world *world, int side, symbol name, struct ref_value *ret)
{
    const struct tree *tree = world->ads[side];
    if (!tree)
        return false;
    const struct expr *ad = tree_root(tree), *found = NULL;
    for (uint32_t i = 0; i < ad->u.run.count; i++)
        if (symbol_same(tree_parts(tree, ad)[i].label, name))
            found = &tree_parts(tree, ad)[i];
    if (!found)
        return false;
    for (int i = 0; i < world->busy_count; i++)
        if (world->busy[i] == found) {
            *ret = ref_plain(REF_UNDEFINED);
            return true;
        }
    if (world->busy_count == 64) {
        *ret = ref_plain(REF_UNKNOWN);
        return true;
    }
    world->busy[world->busy_count++] = found;
    *ret = ref_eval(world, side, found);
    world->busy_count--;
    return true;
}

static inline bool ref_name_is(const struct tree *tree, symbol name, const char *text)
{
    size_t len;
    return strcasecmp(symbols_text(tree->symbols, name, &len), text) == 0;
}

/* base.name, where base is one of the words for this ad or the other. */
static inline struct ref_value ref_dot(struct ref_world *world, int side, symbol base, symbol name)
{
    const struct tree *tree = world->ads[side];
    bool own = ref_name_is(tree, base, "self") || ref_name_is(tree, base, "MY");
    struct ref_value v;

    if (!own && !ref_name_is(tree, base, "other") && !ref_name_is(tree, base, "TARGET"))
        return ref_plain(REF_UNKNOWN);
    return ref_attribute(world, own ? side : 1 - side, name, &v) ? v : ref_plain(REF_UNDEFINED);
}

static inline struct ref_value ref_chain(struct ref_world *world, int side, const struct expr *e)
{
    const struct tree *tree = world->ads[side];
    const struct expr *parts = tree_parts(tree, e);
    bool condor = tree->dialect == &dialect_condor;
    struct ref_value v = ref_eval(world, side, &parts[0]);

    for (uint32_t i = 1; i < e->u.run.count; i++) {
        struct ref_value next = ref_eval(world, side, &parts[i]);
        v = ref_binary(condor, (enum op)parts[i].label, &v, &next);
    }
    return v;
}

static inline struct ref_value ref_choice(struct ref_world *world, int side, const struct expr *e)
{
    const struct tree *tree = world->ads[side];
    const struct expr *parts = tree_parts(tree, e);
    struct ref_value v = ref_eval(world, side, &parts[0]);
    enum ref_truth truth = ref_condition(tree->dialect == &dialect_condor, &v);

    if (truth == REF_TRUE || truth == REF_FALSE)
        return ref_eval(world, side, &parts[truth == REF_TRUE ? 1 : 2]);
    return ref_of_truth(truth);
}

/* An expression of the ad on that side. */
static inline struct ref_value ref_eval(struct ref_world *world, int side, const struct expr *e)
{
    const struct tree *tree = world->ads[side];
    struct ref_value v = ref_plain(REF_UNKNOWN);

    if (++world->steps > 5000)
        return v;
    switch (e->kind) {
    case EXPR_UNDEFINED:
        return ref_plain(REF_UNDEFINED);
    case EXPR_ERROR:
        return ref_plain(REF_ERROR);
    case EXPR_BOOLEAN:
        return ref_boolean(e->small);
    case EXPR_INTEGER:
        return ref_integer((uint64_t)e->u.integer);
    case EXPR_REAL:
        return ref_real(e->u.real);
    case EXPR_STRING:
        return (struct ref_value){.type = REF_STRING, .text = tree_string(tree, e), .len = e->u.run.count};
    case EXPR_ABSTIME:
        return (struct ref_value){.type = REF_ABS, .i = e->u.integer, .zone = e->small};
    case EXPR_RELTIME:
        return (struct ref_value){.type = REF_REL, .i = e->u.integer};
    case EXPR_NAME:
        if (ref_attribute(world, side, e->u.name.id, &v) || ref_attribute(world, 1 - side, e->u.name.id, &v))
            return v;
        return ref_plain(REF_UNDEFINED);
    case EXPR_ROOT_NAME:
        return ref_attribute(world, side, e->u.name.id, &v) ? v : ref_plain(REF_UNDEFINED);
    case EXPR_DOT:
        return ref_dot(world, side, EXPR_DOT_BASE(e), e->u.name.id);
    case EXPR_PREFIX:
        return ref_prefix(tree->dialect == &dialect_condor, (enum op)e->small,
                          ref_eval(world, side, tree_parts(tree, e)));
    case EXPR_CHAIN:
        return ref_chain(world, side, e);
    case EXPR_CHOICE:
        return ref_choice(world, side, e);
    default:
        return v;
    }
}

/* Is that what the real evaluator says? True when nothing is known. */
static inline bool ref_agrees(const struct ref_value *v, const struct value *got)
{
    switch (v->type) {
    case REF_UNKNOWN:
        return true;
    case REF_UNDEFINED:
        return got->type == VALUE_UNDEFINED;
    case REF_ERROR:
        return got->type == VALUE_ERROR;
    case REF_BOOLEAN:
        return got->type == VALUE_BOOLEAN && got->boolean == (v->i != 0);
    case REF_INTEGER:
        return got->type == VALUE_INTEGER && got->u.integer == v->i;
    case REF_REAL:
        return got->type == VALUE_REAL && (got->u.real == v->r || (isnan(got->u.real) && isnan(v->r)));
    case REF_STRING:
        return got->type == VALUE_STRING && got->len == v->len && memcmp(got->u.string, v->text, v->len) == 0;
    case REF_ABS:
        return got->type == VALUE_ABSTIME && got->u.integer == v->i && got->zone == v->zone;
    case REF_REL:
        return got->type == VALUE_RELTIME && got->u.integer == v->i;
    }
    return false;
}

#endif
