/* index_large_test.c: an index of some thousands of ads, which lie near those that are like them, or not, finds what plain numbers say: after it was built, after many
 * ads have changed and gone, and after it has grown; and it leaves most of its blocks alone.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/lang.h"
#include "common/tap.h"

#include "lang/base/rng.h"
#include "match/index/index.h"

#define ADS 5000
#define BUILT 3000

static const struct env noon = {.now = 1772366400}; /* 2026-03-01T12:00:00Z */

/* An ad has a name, two numbers and perhaps a kind, and asks that x is at least `x` and y at most `y`. */
struct ad {
    bool there;
    unsigned name, a, b, kind, x, y;
};

struct large {
    struct lang *lang;
    struct index *index;
    struct rng rng;
    struct ad ads[ADS];
    bool found[ADS];
    bool built; /* nothing has changed since */
    uint64_t blocks, probes, listed, found_all, wrong, places[ADS];
};

static unsigned draw(struct large *large, unsigned below)
{
    return (unsigned)rng_below(&large->rng, below);
}

static struct tree *ad_make(struct large *large, uint32_t id)
{
    struct ad *ad = &large->ads[id];
    char text[160], kind[40] = "";
    struct err err;

    *ad = (struct ad){true,           draw(large, 700),  draw(large, 1000), draw(large, 50),
                      draw(large, 4), draw(large, 1000), draw(large, 1000)};
    if (ad->kind)
        snprintf(kind, sizeof kind, "kind = \"k%u\"; ", ad->kind);
    snprintf(text, sizeof text, "[ name = \"m%u\"; a = %u; b = %u; %sConstraint = other.x >= %u && other.y <= %u ]",
             ad->name, ad->a, ad->b, kind, ad->x, ad->y);
    return lang_ad(large->lang, &dialect_classic, text, &err);
}

static void put(struct large *large, uint32_t id)
{
    struct tree *ad = ad_make(large, id);

    index_put(large->index, &noon, &large->lang->arena, id, ad);
    tree_unref(ad);
}

static void note(void *user, uint32_t id)
{
    struct large *large = user;

    large->found[id] = true;
}

static uint64_t place(void *user, uint32_t id)
{
    const struct large *large = user;

    return large->places[id];
}

enum asks {
    ASKS_NAME,
    ASKS_NUMBER,
    ASKS_AMONG,
    ASKS_AMONG_NAMES,
    ASKS_EITHER,
    ASKS_PATTERN,
    ASKS_BOUNDS,
    ASKS_KIND,
    ASKS_COUNT
};

static unsigned first_digit(unsigned number)
{
    return number < 10 ? number : first_digit(number / 10);
}

/* A probe of some form finds all that there are. */
static void check(struct large *large, enum asks asks)
{
    unsigned name = draw(large, 720), a = draw(large, 1000), b = draw(large, 50), kind = 1 + draw(large, 4);
    unsigned x = draw(large, 1200), y = draw(large, 1000);
    char text[200];
    struct tree *prober;
    struct err err;

    switch (asks) {
    case ASKS_NAME:
        snprintf(text, sizeof text, "[ x = %u; y = %u; Constraint = other.name == \"M%u\" ]", x, y, name);
        break;
    case ASKS_NUMBER:
        snprintf(text, sizeof text, "[ x = %u; y = %u; Constraint = other.a == %u.0 && other.b < 45 ]", x, y, a);
        break;
    case ASKS_AMONG: /* the sum is computed, and says nothing about the numbers that share a slab with these */
        snprintf(text, sizeof text,
                 "[ x = %u; y = %u; Constraint = member(other.a, { %u, %u }) && other.a + other.b > 40 ]", x, y, a,
                 a / 2);
        break;
    case ASKS_AMONG_NAMES:
        snprintf(text, sizeof text,
                 "[ x = %u; y = %u; Constraint = member(other.name, { \"m%u\", \"m%u\" }) && other.a + other.b > 40 ]",
                 x, y, name, name / 2);
        break;
    case ASKS_EITHER:
        snprintf(
            text, sizeof text,
            "[ x = %u; y = %u; Constraint = other.name == \"m%u\" || other.name == \"M%u\" || other.name == \"m7\" ]",
            x, y, name, name / 2);
        break;
    case ASKS_PATTERN:
        snprintf(text, sizeof text,
                 "[ x = %u; y = %u; Constraint = regexp(\"%u$\", other.name) || other.name < \"m%u\" && other.b > 3 ]",
                 x, y, name % 10, name % 7);
        break;
    case ASKS_BOUNDS:
        snprintf(text, sizeof text, "[ x = %u; y = %u; Constraint = other.a >= %u && other.b <= %u ]", x, y, a, b);
        break;
    default:
        snprintf(text, sizeof text, "[ x = %u; y = %u; Constraint = other.kind == \"k%u\" && other.a > %u ]", x, y,
                 kind, a);
    }
    prober = lang_ad(large->lang, &dialect_classic, text, &err);
    memset(large->found, 0, sizeof large->found);
    index_probe(large->index, &noon, &large->lang->arena, prober, note, large);
    tree_unref(prober);
    large->probes++;
    large->blocks += asks >= ASKS_BOUNDS && large->built ? index_probed(large->index).blocks : 0;
    large->listed += index_probed(large->index).listed > 0;
    for (uint32_t id = 0; id < ADS; id++) {
        const struct ad *ad = &large->ads[id];
        bool fits = ad->there && x >= ad->x && y <= ad->y;

        fits = fits &&
               (asks == ASKS_NAME          ? ad->name == name
                : asks == ASKS_NUMBER      ? ad->a == a && ad->b < 45
                : asks == ASKS_AMONG       ? (ad->a == a || ad->a == a / 2) && ad->a + ad->b > 40
                : asks == ASKS_AMONG_NAMES ? (ad->name == name || ad->name == name / 2) && ad->a + ad->b > 40
                : asks == ASKS_EITHER      ? ad->name == name || ad->name == name / 2 || ad->name == 7
                : asks == ASKS_PATTERN ? ad->name % 10 == name % 10 || (first_digit(ad->name) < name % 7 && ad->b > 3)
                : asks == ASKS_BOUNDS  ? ad->a >= a && ad->b <= b
                                       : ad->kind == kind && ad->a > a);
        large->found_all += fits;
        if (fits != large->found[id] && large->wrong++ < 5)
            tap_diag("ad %u is %s: %s", id, fits ? "missing" : "too much", text);
    }
}

static void checks(struct large *large, const char *after)
{
    const char *why;

    for (int i = 0; i < 56; i++)
        check(large, (enum asks)(i % ASKS_COUNT));
    if (!index_valid(large->index, &why)) {
        tap_diag("after %s: %s", after, why);
        large->wrong++;
    }
}

static void round_run(struct large *large, bool near, bool places)
{
    struct tree *ads[BUILT], *learns;
    struct err err;

    large->index = index_new();
    memset(large->ads, 0, sizeof large->ads);
    if (near)
        index_lay_near(large->index);
    for (uint32_t id = 0; id < ADS; id++)
        large->places[id] = draw(large, 10000);
    if (places)
        index_set_places(large->index, place, large);
    learns = lang_ad(large->lang, &dialect_classic,
                     "[ Constraint = other.name == \"\" && other.a == 1 && other.b < 1 && other.kind == \"\" ]", &err);
    index_learn(large->index, &noon, &large->lang->arena, learns);
    tree_unref(learns);
    for (uint32_t id = 0; id < BUILT; id++)
        ads[id] = ad_make(large, id);
    index_build(large->index, &noon, &large->lang->arena, ads, BUILT);
    for (uint32_t id = 0; id < BUILT; id++)
        tree_unref(ads[id]);
    large->built = true;
    checks(large, "building");
    large->built = false;
    for (int i = 0; i < 300; i++)
        put(large, draw(large, BUILT));
    checks(large, "changes");
    for (int i = 0; i < 1500; i++) {
        uint32_t id = draw(large, BUILT);

        index_remove(large->index, id);
        large->ads[id].there = false;
    }
    checks(large, "removals");
    for (uint32_t id = 0; id < ADS; id++)
        put(large, id);
    checks(large, "growing");
    index_free(large->index);
    arena_reset(&large->lang->arena);
}

int main(void)
{
    static struct large large;
    uint64_t rounds = lang_rounds(6), seed = lang_setting("BERTH_SEED", 1), blocks[2];
    struct lang lang;

    lang_init(&lang);
    large.lang = &lang;
    rng_init(&large.rng, seed);
    for (int near = 0; near < 2; near++) {
        large.blocks = large.listed = 0;
        for (uint64_t round = 0; round < rounds; round++)
            round_run(&large, near, round & 1);
        blocks[near] = large.blocks;
        tap_ok(large.wrong == 0, "an index of thousands finds those that match and no others%s",
               near ? ", laid near their likes, too" : "");
        tap_ok(large.listed, "it looks rows up by their value");
    }
    tap_ok(large.found_all > large.probes, "there is something to find");
    tap_ok(blocks[1] * 4 < blocks[0] * 3, "rows that lie near their likes let a probe leave out many blocks");
    tap_diag("seed %llu; %llu probes looked at %llu blocks, and laid near at %llu", (unsigned long long)seed,
             (unsigned long long)large.probes, (unsigned long long)blocks[0], (unsigned long long)blocks[1]);
    lang_done(&lang);
    return tap_done();
}
