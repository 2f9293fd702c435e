/* workload.c: the ads of section 4.6. */
#include "cli/bench/workload.h"

#include "lang/ad/names.h"
#include "lang/base/mem.h"

#include <stdlib.h>

struct maker {
    struct build build;
    struct rng rng;
    size_t count;
    unsigned attributes;
    enum workload_mix mix;
};

/* The n-th letter from the front of the alphabet for objects, or from its end for queries. */
static symbol letter(struct maker *maker, unsigned n, bool object)
{
    char name = (char)(object ? 'A' + (int)n : 'Z' - (int)n);

    return symbols_take(maker->build.symbols, &name, 1);
}

static int64_t draw(struct maker *maker, unsigned attribute)
{
    bool large = maker->mix == WORKLOAD_D || (maker->mix == WORKLOAD_M && attribute * 2 >= maker->attributes);

    return (int64_t)rng_below(&maker->rng, large ? maker->count : 10);
}

static bool left_out(struct maker *maker)
{
    return rng_below(&maker->rng, 20) == 0;
}

static void push_bound(struct maker *maker, unsigned attribute, bool object)
{
    struct build *build = &maker->build;

    symbols_hold(build->symbols, NAME_OTHER);
    build_name(build, EXPR_NAME, NAME_OTHER);
    build_select(build, letter(maker, attribute, object));
    build_integer(build, draw(maker, attribute));
    build_top(build)->label = rng_below(&maker->rng, 2) ? OP_LESS_EQUAL : OP_GREATER_EQUAL;
    build_bind(build, EXPR_CHAIN, 2);
}

static struct tree *make(struct maker *maker, bool object)
{
    struct build *build = &maker->build;
    uint32_t count = 0, bounds = 0, place;

    for (unsigned i = 0; i < maker->attributes; i++) {
        if (left_out(maker))
            continue;
        build_integer(build, draw(maker, i));
        build_attribute(build, letter(maker, i, object));
        count++;
    }
    for (unsigned i = 0; i < maker->attributes; i++) {
        if (left_out(maker))
            continue;
        push_bound(maker, i, !object);
        build_top(build)->label = bounds++ ? OP_AND : OP_NONE;
    }
    if (bounds == 0)
        build_boolean(build, true);
    else if (bounds > 1)
        build_bind(build, EXPR_CHAIN, bounds);
    symbols_hold(build->symbols, NAME_CONSTRAINT);
    build_attribute(build, NAME_CONSTRAINT);
    build_ad(build, count + 1, &place); /* cannot fail: no name is there twice */
    return build_seal(build);
}

void workload_init(struct workload *workload, struct symbols *symbols, uint64_t seed, size_t objects, size_t queries,
                   unsigned attributes, enum workload_mix mix)
{
    struct maker maker = {.count = objects, .attributes = attributes, .mix = mix};

    build_init(&maker.build, symbols, &dialect_classic);
    rng_init(&maker.rng, seed);
    workload->object_count = objects;
    workload->query_count = queries;
    workload->objects = mem_alloc(objects * sizeof(struct tree *));
    workload->queries = mem_alloc(queries * sizeof(struct tree *));
    for (size_t i = 0; i < objects || i < queries; i++) {
        if (i < objects)
            workload->objects[i] = make(&maker, true);
        if (i < queries)
            workload->queries[i] = make(&maker, false);
    }
    build_done(&maker.build);
}

void workload_done(struct workload *workload)
{
    for (size_t i = 0; i < workload->object_count; i++)
        tree_unref(workload->objects[i]);
    for (size_t i = 0; i < workload->query_count; i++)
        tree_unref(workload->queries[i]);
    free(workload->objects);
    free(workload->queries);
    *workload = (struct workload){0};
}
