/* fuzz.h: what the fuzzers of the language share: an input cut into a match, and how a broken law ends.
 *
 *     byte 0       bits: 0 the dialect of my ad and the expression, 1 that of the target, the rest as the fuzzer likes
 *     then         my ad, the target, the expression, each ending with a line end or a NUL
 *
 * An ad that does not parse is an ad without attributes. */
#ifndef BERTH_FUZZ_FUZZ_H
#define BERTH_FUZZ_FUZZ_H

#include "lang/ad/eval.h"
#include "lang/ad/ops.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "match/pair/pair.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct fuzz_world {
    struct symbols *symbols;
    size_t names; /* that are always held */
    struct build build;
    struct arena arena;
    struct tree *my, *target, *expr;
    struct pair pair;
    struct env env;
    int bits;
};

static inline _Noreturn void fuzz_broken(const char *law)
{
    fprintf(stderr, "broken law: %s\n", law);
    abort();
}

/* Cuts the next part off; the rest of the input when no separator is left. */
static inline const char *fuzz_part(const char **at, const char *end, size_t *ret_len)
{
    const char *start = *at, *stop = start;
    while (stop < end && *stop != '\n' && *stop != '\0')
        stop++;
    *ret_len = (size_t)(stop - start);
    *at = stop < end ? stop + 1 : stop;
    return start;
}

static inline const struct dialect *fuzz_dialect(int bit)
{
    return bit ? &dialect_condor : &dialect_classic;
}

static inline struct tree *fuzz_ad(struct fuzz_world *world, int bit, const char *text, size_t len)
{
    /* a copy of its exact length, so that reading past its end is seen */
    char *copy = malloc(len + !len);
    struct tree *tree;

    memcpy(copy, text, len);
    world->build.dialect = fuzz_dialect(bit);
    tree = parse_ad(&world->build, NULL, copy, len, NULL);
    free(copy);
    return tree ? tree : parse_ad(&world->build, NULL, "[]", 2, NULL);
}

/* One world for all inputs: making the table of names takes longer than most evaluations. False when the expression does not
 * parse; fuzz_close in any case. */
static inline bool fuzz_open(struct fuzz_world *world, const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size, *text;
    size_t len;

    if (!world->symbols) {
        world->symbols = names_new(0);
        world->names = symbols_count(world->symbols);
        world->env = (struct env){.now = 1772366400, .zone = -360, .seed = 1};
        arena_init(&world->arena);
        build_init(&world->build, world->symbols, &dialect_classic);
    }
    if (size == 0)
        return false;
    world->bits = data[0];
    at++;
    text = fuzz_part(&at, end, &len);
    world->my = fuzz_ad(world, world->bits & 1, text, len);
    text = fuzz_part(&at, end, &len);
    world->target = fuzz_ad(world, world->bits & 2, text, len);
    pair_init(&world->pair, world->my, world->target);
    world->build.dialect = fuzz_dialect(world->bits & 1);
    world->expr = parse_expr(&world->build, NULL, at, (size_t)(end - at), NULL);
    return world->expr != NULL;
}

static inline void fuzz_close(struct fuzz_world *world)
{
    tree_unref(world->expr);
    tree_unref(world->my);
    tree_unref(world->target);
    world->expr = world->my = world->target = NULL;
    arena_reset(&world->arena);
    if (symbols_count(world->symbols) != world->names)
        fuzz_broken("when the trees are gone no name is held");
}

/* The value of a tree in the match; false when the budget was spent. */
static inline bool fuzz_value(struct fuzz_world *world, const struct tree *tree, struct value *ret)
{
    struct eval eval;
    eval_init(&eval, &world->env, &world->arena);
    eval_tree(&eval, &world->pair.left, tree, ret);
    return !eval.exhausted;
}

static inline bool fuzz_same_real(double a, double b, double tolerance)
{
    return a == b || (isnan(a) && isnan(b)) ||
           (isfinite(a) && isfinite(b) && fabs(a - b) <= tolerance * fmax(fabs(a), fabs(b)));
}

/* Same type and value; reals within the tolerance; lists element by element, four levels down; ads by their size. */
static inline bool fuzz_same(struct eval *eval, const struct value *a, const struct value *b, double tolerance,
                             int depth)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case VALUE_REAL:
        return fuzz_same_real(a->u.real, b->u.real, tolerance);
    case VALUE_LIST:
        if (a->len != b->len)
            return false;
        for (uint32_t i = 0; i < a->len && depth > 0; i++) {
            struct value x, y;
            eval_element(eval, a, i, &x);
            eval_element(eval, b, i, &y);
            if (eval->exhausted)
                return true;
            if (!fuzz_same(eval, &x, &y, tolerance, depth - 1))
                return false;
        }
        return true;
    case VALUE_AD:
        return expr_part_count(a->u.aggregate) == expr_part_count(b->u.aggregate);
    default:
        return value_equal(a, b);
    }
}

static inline bool fuzz_values_same(struct fuzz_world *world, const struct value *a, const struct value *b,
                                    double tolerance)
{
    struct eval eval;
    eval_init(&eval, &world->env, &world->arena);
    return fuzz_same(&eval, a, b, tolerance, 4);
}

static inline bool fuzz_holds(const struct dialect *dialect, const struct value *v)
{
    bool truth = false;
    return op_condition(dialect, v, &truth) == VALUE_BOOLEAN && truth;
}

#endif
