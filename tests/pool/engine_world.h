/* engine_world.h: an engine, ads by their text, and the matches of a cycle as text: for tests of the engine. */
#ifndef BERTH_TESTS_ENGINE_WORLD_H
#define BERTH_TESTS_ENGINE_WORLD_H

#include "common/lang.h"
#include "common/tap.h"

#include "pool/engine/engine.h"

#include <stdlib.h>

#define NOON 1772366400
#define SLICE UINT64_MAX

struct world {
    struct lang lang;
    struct engine *engine;
    struct env env;
    struct buf made; /* "root-offer root-offer " of the last cycle */
    uint64_t arrivals;
    int charged; /* the user whose matches make the priority worse, or -1 */
};

static void world_init(struct world *world)
{
    lang_init(&world->lang);
    buf_init(&world->made);
    world->engine = engine_new(world->lang.symbols);
    world->env = (struct env){.now = NOON, .seed = 1};
    world->arrivals = 0;
    world->charged = -1;
}

static void world_done(struct world *world)
{
    engine_free(world->engine);
    buf_done(&world->made);
    lang_done(&world->lang);
}

static struct tree *ad_of(struct world *world, const char *text)
{
    struct err err = {0};
    struct tree *tree = lang_ad(&world->lang, &dialect_classic, text, &err);

    if (!tree) {
        printf("Bail out! %s: %u:%u: %s\n", text, err.line, err.column, err.text);
        exit(1);
    }
    return tree;
}

static void put(struct world *world, uint32_t id, const char *text, struct engine_terms terms)
{
    struct tree *ad = ad_of(world, text);

    engine_put(world->engine, id, ad, &terms);
    tree_unref(ad);
}

static void offer(struct world *world, uint32_t id, const char *text)
{
    put(world, id, text, (struct engine_terms){false, 1, ++world->arrivals, 0});
}

static void request(struct world *world, uint32_t id, const char *text)
{
    put(world, id, text, (struct engine_terms){true, 1, ++world->arrivals, 0});
}

static void policy(struct world *world, const char *text)
{
    struct tree *ad = ad_of(world, text);
    struct err err;
    symbol wrong;

    engine_set_policy(world->engine, ad, &wrong, &err);
    tree_unref(ad);
}

static void found(void *user, uint32_t root, uint32_t offered, const struct value *rank, struct tree *left)
{
    struct world *world = user;

    (void)rank, (void)left;
    buf_addf(&world->made, "%s%u-%u", world->made.len ? " " : "", root, offered);
    if (world->charged >= 0)
        engine_set_priority(world->engine, (uint32_t)world->charged, 100);
}

static const char *cycle_sliced(struct world *world, uint64_t units)
{
    const char *why = "";

    buf_reset(&world->made);
    world->env.seed++;
    engine_begin(world->engine, &world->env);
    while (engine_step(world->engine, &world->lang.arena, units, found, world))
        ;
    if (!engine_valid(world->engine, &why))
        tap_ok(false, "the engine is in order: %s", why);
    return buf_string(&world->made);
}

static const char *cycle(struct world *world)
{
    return cycle_sliced(world, SLICE);
}

/* The matches of the next cycle. */
static void expect(struct world *world, const char *matches, const char *sentence)
{
    const char *made = cycle(world);

    if (!tap_ok(strcmp(made, matches) == 0, "%s", sentence))
        tap_diag("expected %s, got %s", matches, made);
}

#endif
