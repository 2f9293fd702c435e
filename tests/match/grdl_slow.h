/* GRDL resources as sets, written plainly: the slow twin of src/grdl, which shares nothing with it but the names of operators.
 *
 * A plain resource has characteristics and requirements in three dimensions, with values from a small universe: numbers without a unit, in
 * bytes and in seconds, texts, versions, and none. Ranges are compared by going through the universe, which has a value between
 * any two constants that requirements are made with, and beyond them. */
#ifndef BERTH_TESTS_GRDL_SLOW_H
#define BERTH_TESTS_GRDL_SLOW_H

#include "lang/base/rng.h"
#include "match/grdl/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum plain_space { PLAIN_NUMBER, PLAIN_BYTES, PLAIN_SECONDS, PLAIN_TEXT, PLAIN_VERSION, PLAIN_SPACES };
enum plain_type { PLAIN_NO_TYPE, PLAIN_BINARY, PLAIN_TIME };

struct plain_value {
    bool specified;
    enum plain_type type;
    enum plain_space space; /* when it is specified */
    double number;          /* in MB or s; of a version its place in the order of them */
    const char *text;
};

struct plain_property {
    int dimension;
    enum grdl_operator match;
    struct plain_value value;
};

#define PLAIN_MANY 6
struct plain {
    struct plain_property chars[PLAIN_MANY], reqs[PLAIN_MANY];
    int char_count, req_count;
};

static const char *const plain_texts[] = {"+", "A", "AB", "B", "BA", "C", "a", "ab", "b", "ba", "c"};
static const char *const plain_versions[] = {"0.9.6", "0.9.7", "0.9.7a", "0.9.7d", "0.9.7e", "1.0.1", "1.0.2"};
#define PLAIN_TEXTS (int)(sizeof plain_texts / sizeof *plain_texts)
#define PLAIN_VERSIONS (int)(sizeof plain_versions / sizeof *plain_versions)

/* ---- the universe ---- */

#define UNIVERSE_MAX 80
struct universe {
    struct plain_value values[UNIVERSE_MAX];
    int count;
};

static inline void universe_make(struct universe *universe)
{
    universe->count = 0;
    for (int i = 0; i < 9; i++)
        for (int space = PLAIN_NUMBER; space <= PLAIN_SECONDS; space++)
            universe->values[universe->count++] =
                (struct plain_value){true, (enum plain_type)space, (enum plain_space)space, i * 0.5, NULL};
    for (int i = 0; i < PLAIN_TEXTS; i++)
        universe->values[universe->count++] = (struct plain_value){true, PLAIN_NO_TYPE, PLAIN_TEXT, 0, plain_texts[i]};
    for (int i = 0; i < PLAIN_VERSIONS; i++)
        universe->values[universe->count++] =
            (struct plain_value){true, PLAIN_NO_TYPE, PLAIN_VERSION, i, plain_versions[i]};
    for (int type = PLAIN_NO_TYPE; type <= PLAIN_TIME; type++)
        universe->values[universe->count++] = (struct plain_value){.type = (enum plain_type)type};
}

/* ---- the definitions ---- */

static inline int plain_fold(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static inline int plain_text_order(const char *a, const char *b, bool folded)
{
    for (; *a && *b; a++, b++) {
        int x = folded ? plain_fold(*a) : *a, y = folded ? plain_fold(*b) : *b;

        if (x != y)
            return x - y;
    }
    return !*b - !*a;
}

static inline bool plain_comparable(const struct plain_value *a, const struct plain_value *b)
{
    return a->specified && b->specified && a->space == b->space;
}

static inline int plain_order(const struct plain_value *a, const struct plain_value *b, bool folded)
{
    if (a->space == PLAIN_TEXT)
        return plain_text_order(a->text, b->text, folded);
    return (a->number > b->number) - (a->number < b->number);
}

/* Table 5.2. */
static inline bool plain_holds(const struct plain_value *a, enum grdl_operator match, const struct plain_value *b)
{
    int order, folded;

    if (!plain_comparable(a, b))
        return false;
    order = plain_order(a, b, false);
    folded = plain_order(a, b, true);
    return (match == GRDL_EQ && order == 0) || (match == GRDL_NE && order != 0) || (match == GRDL_LT && order < 0) ||
           (match == GRDL_LE && order <= 0) || (match == GRDL_GT && order > 0) || (match == GRDL_GE && order >= 0) ||
           (match == GRDL_EQUIVALENT && folded == 0) || (match == GRDL_ORDERED && folded <= 0);
}

static inline bool plain_same(const struct plain_value *a, const struct plain_value *b)
{
    if (!a->specified || !b->specified)
        return a->specified == b->specified && a->type == b->type;
    return plain_holds(a, GRDL_EQ, b);
}

/* Equation 6.3, 6.5 and section 6.4, for a pairwise relation. */
static inline bool plain_in_range(const struct plain_value *c, enum grdl_operator match, const struct plain_value *r)
{
    if (!r->specified)
        return r->type == PLAIN_NO_TYPE || r->type == c->type;
    return plain_holds(c, match, r);
}

static inline enum grdl_operator plain_pairwise(enum grdl_operator match)
{
    static const enum grdl_operator of[] = {[GRDL_SET_EQ] = GRDL_EQ, [GRDL_SET_NE] = GRDL_NE, [GRDL_SET_LT] = GRDL_LT,
                                            [GRDL_SET_LE] = GRDL_LE, [GRDL_SET_GT] = GRDL_GT, [GRDL_SET_GE] = GRDL_GE};

    return match >= GRDL_SET_EQ && match <= GRDL_SET_GE ? of[match] : match;
}

static inline bool plain_set_wise(const struct plain_property *r)
{
    return (r->match >= GRDL_SET_EQ && r->match <= GRDL_SET_GE) || (r->match == GRDL_NE && !r->value.specified);
}

/* Is a requirement met by a set of values of its dimension? */
static inline bool plain_met(const struct plain_property *r, const struct plain_value *const *set, int count)
{
    bool none = r->match == GRDL_SET_NE || (r->match == GRDL_NE && !r->value.specified);
    bool some_in = false, all_in = true, none_may_be = true;

    for (int i = 0; i < count; i++) {
        bool in = plain_in_range(set[i], plain_pairwise(r->match), &r->value);
        bool may_be_of_type = set[i]->type == r->value.type || (!set[i]->specified && set[i]->type == PLAIN_NO_TYPE);

        some_in |= in;
        all_in &= in;
        if (!r->value.specified)
            none_may_be &= r->value.type != PLAIN_NO_TYPE && !may_be_of_type;
        else if (!set[i]->specified)
            none_may_be &= !may_be_of_type;
        else
            none_may_be &= !plain_holds(set[i], GRDL_EQ, &r->value);
    }
    if (none)
        return none_may_be;
    return plain_set_wise(r) ? count > 0 && all_in : some_in;
}

/* The values of a resource in a dimension. */
static inline int plain_in_dimension(const struct plain *a, int dimension, const struct plain_value **ret_set)
{
    int count = 0;

    for (int i = 0; i < a->char_count; i++)
        if (a->chars[i].dimension == dimension)
            ret_set[count++] = &a->chars[i].value;
    return count;
}

/* Equation 6.11; over the dimensions that A has, 6.15. */
static inline bool plain_matches(const struct plain *a, const struct plain *b, bool shared)
{
    for (int j = 0; j < b->req_count; j++) {
        const struct plain_value *set[PLAIN_MANY];
        int count = plain_in_dimension(a, b->reqs[j].dimension, set);

        if (!(shared && !count) && !plain_met(&b->reqs[j], set, count))
            return false;
    }
    return true;
}

/* Equations 5.13 and 5.16. */
static inline bool plain_chars_within(const struct plain *a, const struct plain *b, bool shared)
{
    for (int i = 0; i < a->char_count; i++) {
        bool there = false, in_dimension = false;

        for (int j = 0; j < b->char_count; j++)
            if (a->chars[i].dimension == b->chars[j].dimension) {
                in_dimension = true;
                there |= plain_same(&a->chars[i].value, &b->chars[j].value);
            }
        if (!there && !(shared && !in_dimension))
            return false;
    }
    return true;
}

/* Equation 6.4, by going through the universe: sets of none, one and two values. */
static inline bool plain_req_within(const struct universe *universe, const struct plain_property *inner,
                                    const struct plain_property *outer)
{
    if (inner->dimension != outer->dimension)
        return false;
    if (plain_met(inner, NULL, 0) && !plain_met(outer, NULL, 0))
        return false;
    for (int i = 0; i < universe->count; i++)
        for (int j = i; j < universe->count; j++) {
            const struct plain_value *set[] = {&universe->values[i], &universe->values[j]};

            if (plain_met(inner, set, i == j ? 1 : 2) && !plain_met(outer, set, i == j ? 1 : 2))
                return false;
        }
    return true;
}

/* Equations 6.6 and 6.8. */
static inline bool plain_reqs_within(const struct universe *universe, const struct plain *a, const struct plain *b)
{
    for (int i = 0; i < a->req_count; i++) {
        bool found = false;

        for (int j = 0; j < b->req_count; j++)
            found |= plain_req_within(universe, &a->reqs[i], &b->reqs[j]);
        if (!found)
            return false;
    }
    return true;
}

static inline bool plain_space_within(const struct universe *universe, const struct plain *a, const struct plain *b)
{
    for (int j = 0; j < b->req_count; j++) {
        bool found = false;

        for (int i = 0; i < a->req_count; i++)
            found |= plain_req_within(universe, &a->reqs[i], &b->reqs[j]);
        if (!found)
            return false;
    }
    return true;
}

/* ---- random ones ---- */

static const char plain_dimensions[3][2] = {"x", "y", "z"};

/* Whole numbers, letters and every second version: the constants that have something between them. */
static inline struct plain_value plain_constant(struct rng *rng)
{
    static const char *const letters[] = {"A", "B", "a", "b"};
    enum plain_space space = (enum plain_space)rng_below(rng, PLAIN_SPACES);
    struct plain_value value = {.specified = true, .space = space};

    if (rng_below(rng, 2))
        value.space = space = PLAIN_NUMBER;
    if (rng_below(rng, 8) == 0)
        return (struct plain_value){.type = (enum plain_type)rng_below(rng, 3)};
    if (space <= PLAIN_SECONDS) {
        value.type = (enum plain_type)space;
        value.number = (double)(1 + rng_below(rng, 3));
    } else if (space == PLAIN_TEXT) {
        value.text = letters[rng_below(rng, 4)];
    } else {
        value.number = (double)(1 + 2 * rng_below(rng, 3));
        value.text = plain_versions[(int)value.number];
    }
    return value;
}

/* `sets`: may there be set-wise requirements? */
static inline void plain_random(struct rng *rng, int chars, int reqs, bool sets, struct plain *ret_plain)
{
    *ret_plain = (struct plain){0};
    ret_plain->char_count = (int)rng_below(rng, (uint64_t)chars + 1);
    ret_plain->req_count = (int)rng_below(rng, (uint64_t)reqs + 1);
    for (int i = 0; i < ret_plain->char_count; i++)
        ret_plain->chars[i] = (struct plain_property){(int)rng_below(rng, 3), GRDL_EQ, plain_constant(rng)};
    for (int i = 0; i < ret_plain->req_count; i++) {
        struct plain_property *r = &ret_plain->reqs[i];

        do
            *r = (struct plain_property){(int)rng_below(rng, 3), (enum grdl_operator)rng_below(rng, GRDL_SET_GE + 1),
                                         plain_constant(rng)};
        while (!sets && plain_set_wise(r));
    }
}

/* The value as text, and its type: one of several ways to write it. */
static inline void plain_write(struct rng *rng, const struct plain_value *value, const char **ret_type, char *ret_text)
{
    static const char *const units[3][3] = {{NULL, NULL, NULL}, {"MB", "KB", "GB"}, {"s", "ms", "min"}};
    static const double factors[3][3] = {{1, 1, 1}, {1, 1024, 1 / 1024.0}, {1, 1000, 1}};
    int unit = (int)rng_below(rng, value->type == PLAIN_TIME ? 2 : 3);

    *ret_type = units[value->type][unit];
    *ret_text = '\0';
    if (!value->specified)
        return;
    if (value->space <= PLAIN_SECONDS)
        sprintf(ret_text, "%.12g", value->number * factors[value->type][unit]);
    else
        strcpy(ret_text, value->text);
}

static inline struct grdl_resource *plain_resource(struct rng *rng, const struct plain *plain)
{
    struct grdl_resource *resource = grdl_resource_new("resource", NULL);
    const char *type;
    char text[64];

    for (int i = 0; i < plain->char_count; i++) {
        plain_write(rng, &plain->chars[i].value, &type, text);
        grdl_add_char(resource, plain_dimensions[plain->chars[i].dimension], type, text, NULL);
    }
    for (int i = 0; i < plain->req_count; i++) {
        plain_write(rng, &plain->reqs[i].value, &type, text);
        grdl_add_req(resource, plain_dimensions[plain->reqs[i].dimension], plain->reqs[i].match, type, text, NULL);
    }
    return resource;
}

#endif
