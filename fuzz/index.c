/* index.c: an index finds exactly the ads that match, each of them once, whatever comes, changes and goes.
 *
 * The bytes are choices of tests/common/pool.h: first a style and the ads of the other side, then steps: an ad comes, replaces another or
 * goes, the clock moves, the other side is announced or looks. */
#include "match/index/index.h"

#include "../tests/common/pool.h"
#include "fuzz.h"
#include "match/pair/match.h"

#define IDS 24
#define PROBERS 3
#define STEPS_MAX 64

struct pool {
    struct symbols *symbols;
    size_t names; /* that are always held */
    struct build build;
    struct arena arena;
    struct buf text;
    struct env env;
    struct pool_style style;
    struct index *index;
    struct tree *ads[IDS], *probers[PROBERS];
    unsigned hits[IDS];
};

static struct tree *ad_make(struct pool *pool, struct pool_maker *m, int side)
{
    struct tree *tree;

    m->side = side;
    m->dialect = fuzz_dialect((int)pool_below(m, 2));
    pool_add_ad(m);
    pool->build.dialect = m->dialect;
    tree = parse_ad(&pool->build, NULL, buf_string(&pool->text), pool->text.len, NULL);
    if (!tree)
        fuzz_broken(buf_string(&pool->text));
    return tree;
}

static void hit(void *user, uint32_t id)
{
    struct pool *pool = user;

    if (id >= IDS)
        fuzz_broken("only ads that were put in are found");
    pool->hits[id]++;
}

static void tree_show(const char *what, const struct tree *tree)
{
    struct buf text;

    buf_init(&text);
    print_tree(&text, tree, PRINT_PLAIN);
    fprintf(stderr, "%s (%s)  %.*s\n", what, tree->dialect->name, (int)text.len, text.text);
    buf_done(&text);
}

static void probe(struct pool *pool, const struct tree *prober)
{
    memset(pool->hits, 0, sizeof pool->hits);
    index_refresh(pool->index, &pool->env, &pool->arena);
    index_probe(pool->index, &pool->env, &pool->arena, prober, hit, pool);
    for (uint32_t id = 0; id < IDS; id++) {
        struct match match = {0};

        if (pool->ads[id])
            match_ads(&pool->env, &pool->arena, prober, pool->ads[id], &match);
        arena_reset(&pool->arena);
        if (pool->hits[id] == match.matches)
            continue;
        tree_show("who looks", prober);
        if (pool->ads[id])
            tree_show("an ad", pool->ads[id]);
        fprintf(stderr, "found %u times, %lld seconds past noon\n", pool->hits[id],
                (long long)(pool->env.now - POOL_NOW));
        fuzz_broken("exactly the ads that match are found, each once");
    }
}

static void put(struct pool *pool, uint32_t id, struct tree *ad)
{
    index_put(pool->index, &pool->env, &pool->arena, id, ad);
    tree_unref(pool->ads[id]);
    pool->ads[id] = ad;
}

static void step(struct pool *pool, struct pool_maker *m)
{
    uint32_t id = (uint32_t)pool_below(m, IDS), who = (uint32_t)pool_below(m, PROBERS);
    const char *why = "?";

    switch (pool_below(m, 6)) {
    case 0:
    case 1:
        put(pool, id, ad_make(pool, m, 0));
        break;
    case 2:
        index_remove(pool->index, id);
        tree_unref(pool->ads[id]);
        pool->ads[id] = NULL;
        break;
    case 3:
        index_learn(pool->index, &pool->env, &pool->arena, pool->probers[who]);
        break;
    case 4:
        pool->env.now += 1 + (int64_t)pool_below(m, 4);
        break;
    default:
        probe(pool, pool->probers[who]);
        break;
    }
    if (!index_valid(pool->index, &why))
        fuzz_broken(why);
}

static void pool_open(struct pool *pool)
{
    if (pool->symbols)
        return;
    pool->symbols = names_new(0);
    pool->names = symbols_count(pool->symbols);
    arena_init(&pool->arena);
    buf_init(&pool->text);
    build_init(&pool->build, pool->symbols, &dialect_classic);
}

static void pool_close(struct pool *pool)
{
    index_free(pool->index);
    for (uint32_t i = 0; i < IDS; i++) {
        tree_unref(pool->ads[i]);
        pool->ads[i] = NULL;
    }
    for (uint32_t i = 0; i < PROBERS; i++)
        tree_unref(pool->probers[i]);
    arena_reset(&pool->arena);
    if (symbols_count(pool->symbols) != pool->names)
        fuzz_broken("when the index and the ads are gone no name is held");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pool pool;
    struct pool_maker m = {.bytes = data, .end = data + size, .out = &pool.text, .style = &pool.style};
    uint32_t built;

    pool_open(&pool);
    pool.env = (struct env){.now = POOL_NOW, .zone = -360, .seed = 1};
    pool.style = pool_style(&m);
    pool.style.extras = 0; /* they would eat all bytes */
    pool.index = index_new();
    for (uint32_t i = 0; i < PROBERS; i++)
        pool.probers[i] = ad_make(&pool, &m, 1);
    for (uint32_t i = 0; i < PROBERS; i++)
        if (pool_below(&m, 2))
            index_learn(pool.index, &pool.env, &pool.arena, pool.probers[i]);
    built = (uint32_t)pool_below(&m, 4);
    for (uint32_t i = 0; i < built; i++)
        pool.ads[i] = ad_make(&pool, &m, 0);
    if (built)
        index_build(pool.index, &pool.env, &pool.arena, pool.ads, built);
    for (int i = 0; i < STEPS_MAX && m.bytes < m.end; i++)
        step(&pool, &m);
    for (uint32_t i = 0; i < PROBERS; i++)
        probe(&pool, pool.probers[i]);
    pool_close(&pool);
    return 0;
}
