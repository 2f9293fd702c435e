/* gang.c: whatever ads are thrown together, a cycle of gangs ends, and two ways of searching agree on the first root.
 *
 *     byte 0   bit 0: the dialect; bit 1: sets are put together quickly; bits 2 to 4: the other algorithm, compared with auto
 *     then     ads, each ending with a line end or a NUL: the first is the request, one that begins with a bar is another; the others
 *              are offers
 *
 * Ads that do not parse, or whose ports are not in order, are left out. */
#include "match/gang/gang.h"

#include "fuzz.h"

#define ADS_MAX 24
#define NODES 300

struct pool {
    struct symbols *symbols;
    size_t names; /* that are always held */
    struct build build;
    struct arena arena;
    struct env env;
    struct tree *ads[ADS_MAX]; /* the requests first */
    size_t request_count, count;
    int bits;
};

/* What was told of the first root. */
struct telling {
    const struct pool *pool;
    uint32_t units;
    enum gang_outcome outcome;
};

static void check_gang(void *user, enum gang_outcome outcome, const struct gang_member *members, uint32_t count)
{
    struct telling *telling = user;

    if (count < 1 || count > GANG_MEMBERS_MAX + 1 || (outcome != GANG_FORMED && count != 1))
        fuzz_broken("a gang has a root and not too many members");
    if (members[0].place >= telling->pool->request_count)
        fuzz_broken("a root is a request");
    for (uint32_t i = 1; i < count; i++)
        if (members[i].parent >= i || members[i].place < telling->pool->request_count ||
            members[i].place >= telling->pool->count)
            fuzz_broken("a member is an offer and comes behind its parent");
    if (telling->units++ == 0)
        telling->outcome = outcome;
}

static struct telling pool_run(struct pool *pool, enum gang_algorithm algorithm, bool preferences)
{
    const struct gang_settings settings = {
        .algorithm = algorithm, .preferences = preferences, .sets_greedy = pool->bits & 2, .nodes = NODES, .seed = 1};
    const struct policy policy = {0};
    struct telling telling = {.pool = pool};
    struct gang_stats stats;

    gang_run(&pool->env, &pool->arena,
             &(struct gang_field){.policy = &policy,
                                  .ads = pool->ads,
                                  .request_count = pool->request_count,
                                  .offer_count = pool->count - pool->request_count},
             &settings, check_gang, &telling, &stats);
    if (telling.units < pool->request_count || stats.roots != pool->request_count)
        fuzz_broken("every root is told of");
    return telling;
}

static void pool_show(const struct pool *pool, const char *name, const struct telling *other, const struct telling *own)
{
    for (size_t i = 0; i < pool->count; i++) {
        struct buf text;

        buf_init(&text);
        print_tree(&text, pool->ads[i], PRINT_PLAIN);
        fprintf(stderr, "%s  %.*s\n", i < pool->request_count ? "request" : "offer", (int)text.len, text.text);
        buf_done(&text);
    }
    fprintf(stderr, "%s says %d, auto %d\n", name, (int)other->outcome, (int)own->outcome);
}

static bool says_set(const struct tree *ad)
{
    struct ports ports;
    bool set = false;

    if (ports_read(&ports, ad, NULL) < 0)
        return true;
    for (uint32_t i = 0; i < ports.count; i++)
        set |= ports.items[i].set;
    ports_done(&ports);
    return set;
}

/* Does some ad, or a port of one, have an attribute of that name? */
static bool pool_says(const struct pool *pool, symbol name)
{
    for (size_t i = 0; i < pool->count; i++)
        for (uint32_t k = 0; k < pool->ads[i]->cell_count; k++)
            if (pool->ads[i]->cells[k].flags & EXPR_FLAG_NAMED && symbol_same(pool->ads[i]->cells[k].label, name))
                return true;
    return false;
}

static void pool_check(struct pool *pool)
{
    enum gang_algorithm algorithm = (enum gang_algorithm)(pool->bits >> 2 & 7);
    struct telling other = pool_run(pool, algorithm, false), any = pool_run(pool, GANG_AUTO, false);
    struct telling best = pool_run(pool, GANG_AUTO, true);
    bool quick = pool->bits & 2;

    for (size_t i = 0; i < pool->count && quick; i++)
        if (says_set(pool->ads[i]))
            return; /* what is put together quickly may miss */
    if (pool_says(pool, NAME_SHARE) && pool_says(pool, NAME_RESIDUAL) && algorithm != GANG_NAIVE &&
        algorithm != GANG_LR && algorithm != GANG_LRC)
        return; /* what is shared is divided from the left, and these fill in another order */
    if (other.outcome == GANG_GAVE_UP || any.outcome == GANG_GAVE_UP || best.outcome == GANG_GAVE_UP)
        return;
    if (other.outcome != any.outcome)
        pool_show(pool, gang_algorithm_names[algorithm], &other, &any);
    else if (other.outcome != best.outcome)
        pool_show(pool, gang_algorithm_names[algorithm], &other, &best);
    else
        return;
    fuzz_broken("all ways of searching agree on whether the first root gets a gang");
}

static bool ad_is_fit(const struct tree *ad)
{
    struct ports ports;

    if (ports_read(&ports, ad, NULL) < 0)
        return false;
    ports_done(&ports);
    return true;
}

static void pool_open(struct pool *pool, const uint8_t *data, size_t size)
{
    const char *at = (const char *)data, *end = at + size;

    if (!pool->symbols) {
        pool->symbols = names_new(0);
        pool->names = symbols_count(pool->symbols);
        pool->env = (struct env){.now = 1772366400, .zone = -360, .seed = 1, .steps = 2000, .bytes = 1u << 16};
        arena_init(&pool->arena);
        build_init(&pool->build, pool->symbols, &dialect_classic);
    }
    pool->count = pool->request_count = 0;
    pool->bits = size ? data[0] : 0;
    at += size > 0;
    while (at < end && pool->count < ADS_MAX) {
        size_t len;
        const char *text = fuzz_part(&at, end, &len);
        bool request = pool->count == 0 || (len && *text == '|');
        struct tree *ad;

        pool->build.dialect = fuzz_dialect(pool->bits & 1);
        ad = parse_ad(&pool->build, NULL, text + (len && *text == '|'), len - (len && *text == '|'), NULL);
        if (!ad || !ad_is_fit(ad)) {
            tree_unref(ad);
            continue;
        }
        pool->ads[pool->count++] = ad;
        if (request) { /* goes to the others, in front of the offers */
            pool->ads[pool->count - 1] = pool->ads[pool->request_count];
            pool->ads[pool->request_count++] = ad;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pool pool;

    pool_open(&pool, data, size);
    if (pool.count)
        pool_check(&pool);
    while (pool.count)
        tree_unref(pool.ads[--pool.count]);
    arena_reset(&pool.arena);
    if (symbols_count(pool.symbols) != pool.names)
        fuzz_broken("when the ads are gone no name is held");
    return 0;
}
