/* twin_grdl_index.c: resources matched as ads by the index, against the set definitions tried pair by pair.
 *
 *   peers      the index finds exactly the pairs that grdl_pair says are peers
 *   one way    and exactly those of which one meets the other's requirements
 *   back       an ad gives back the resource that it was made of
 *   prefer     the lists of preferences order candidates as grdl_prefer does; no component is undefined or error
 *   classads   an ad whose constraint is a conjunction of comparisons accepts whom its resource accepts
 *
 * Dimensions are few, so that they meet; values are of all kinds, in units and without, several in a dimension, or unspecified; requirements
 * have every operator, set-wise ones too. BERTH_SEED and BERTH_ROUNDS choose the input; a difference is printed with both resources. */
#include "match/grdl/translate.h"

#include "common/tap.h"
#include "lang/ad/names.h"
#include "lang/base/rng.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"
#include "match/grdl/document.h"
#include "match/grdl/kit.h"
#include "match/grdl/matcher.h"
#include "match/grdl/rank.h"
#include "match/pair/match.h"
#include "match/pair/order.h"
#include "match/pair/pair.h"

#include <stdlib.h>

#define SIDE 24 /* resources of a side */

enum law { LAW_PEERS, LAW_ONE_WAY, LAW_BACK, LAW_PREFER, LAW_CLASSADS, LAW_COUNT };
static const char *const law_sentences[LAW_COUNT] = {
    "the index finds exactly the peers that the definitions say",
    "one way too",
    "an ad gives back the resource that it was made of",
    "preferences as components order as the definitions do, and discard nobody",
    "a constraint of comparisons accepts whom its resource accepts",
};

struct twin {
    struct rng rng;
    uint64_t seed, rounds, round;
    uint64_t wrong[LAW_COUNT], held[LAW_COUNT]; /* held: how often the answer was yes */
};

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static void show(const struct grdl_resource *resource)
{
    struct buf text;
    struct err err;

    buf_init(&text);
    grdl_document_write(&text, GRDL_FORM_JSON, &resource, 1, &err);
    tap_diag("%s", buf_string(&text));
    buf_done(&text);
}

static void differ(struct twin *twin, enum law law, const struct grdl_resource *a, const struct grdl_resource *b)
{
    if (twin->wrong[law]++ >= 3)
        return;
    tap_diag("BERTH_SEED=%llu, round %llu: %s", (unsigned long long)twin->seed, (unsigned long long)twin->round,
             law_sentences[law]);
    show(a);
    if (b)
        show(b);
}

/* ---- random resources ---- */

static const char *const dimensions[] = {"x", "mem", "ghz", "mhz", "os", "lib", "X", "a-b"};
static const char *const types[] = {"MB", "KB", "GB", "MHz", "SI2K", "hr", "min", "text", "version", "number", "date"};
static const char *const texts[] = {
    "1",
    "2",
    "3",
    "1024",
    "0.001",
    "-5",
    "2e3",
    "Linux",
    "linux",
    "LINUX",
    "bsd",
    "é",
    "0.9.7",
    "0.9.7d",
    "0.9.7f",
    "0.9.10",
    "1.0-rc1",
    "1.0.0",
    "2008-09-30",
    "2008-09-30T12:00",
    "2008-09-30T13:00+01:00",
    "1 GB",
    "3000 MHz",
    "a \"b\\c",
    "long: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "LONG: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "lonG: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};

#define PICK(twin, array) array[rng_below(&(twin)->rng, sizeof array / sizeof *array)]

/* Half of them are plain numbers and texts in few dimensions, so that several meet in one. */
static void random_property(struct twin *twin, const char **dimension, const char **type, const char **text)
{
    if (rng_below(&twin->rng, 2)) {
        *dimension = dimensions[rng_below(&twin->rng, 2) * 4];
        *type = NULL;
        *text = texts[**dimension == 'x' ? rng_below(&twin->rng, 6) : 7 + rng_below(&twin->rng, 4)];
        return;
    }
    *dimension = PICK(twin, dimensions);
    *type = rng_below(&twin->rng, 3) ? NULL : PICK(twin, types);
    *text = rng_below(&twin->rng, 6) ? PICK(twin, texts) : NULL;
}

static struct grdl_resource *random_resource(struct twin *twin, const char *class_name)
{
    struct grdl_resource *resource = grdl_resource_new(class_name, rng_below(&twin->rng, 2) ? "one" : NULL);
    const char *dimension, *type, *text;
    struct err err;

    for (uint64_t n = rng_below(&twin->rng, 9); n; n--) {
        random_property(twin, &dimension, &type, &text);
        grdl_add_char(resource, dimension, type, text, &err);
    }
    for (uint64_t n = rng_below(&twin->rng, 3); n; n--) {
        random_property(twin, &dimension, &type, &text);
        grdl_add_req(resource, dimension,
                     (enum grdl_operator)(rng_below(&twin->rng, 3) ? rng_below(&twin->rng, GRDL_ORDERED + 1)
                                                                   : rng_below(&twin->rng, GRDL_OPERATORS)),
                     type, text, &err);
    }
    for (uint64_t n = rng_below(&twin->rng, 3); n; n--) {
        random_property(twin, &dimension, &type, &text);
        grdl_add_pref(resource, dimension, (enum grdl_operator)rng_below(&twin->rng, GRDL_OPERATORS), type, text,
                      (double)rng_below(&twin->rng, 3), &err);
    }
    if (!rng_below(&twin->rng, 4))
        grdl_add_default(resource, rng_below(&twin->rng, 2) ? "x" : NULL, PICK(twin, types), &err);
    return resource;
}

/* ---- pairs ---- */

struct found {
    bool is[SIDE][SIDE];
    unsigned twice;
};

static void found_note(void *user, uint32_t left, uint32_t right)
{
    struct found *found = user;

    found->twice += found->is[left][right];
    found->is[left][right] = true;
}

static void pairs_compare(struct twin *twin, struct grdl_reading **left, struct grdl_reading **right, bool one_way)
{
    enum law law = one_way ? LAW_ONE_WAY : LAW_PEERS;
    struct found found = {0};

    grdl_index_pairs((const struct grdl_reading *const *)left, SIDE, (const struct grdl_reading *const *)right, SIDE,
                     one_way, found_note, &found, NULL);
    twin->wrong[law] += found.twice;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            bool is = one_way ? grdl_matches(right[j], left[i], NULL) : grdl_pair(GRDL_PEER, left[i], right[j], NULL);

            twin->held[law] += is;
            if (is != found.is[i][j])
                differ(twin, law, left[i]->resource, right[j]->resource);
        }
}

static void round_pairs(struct twin *twin, enum grdl_comparator comparator)
{
    struct grdl_kit *kit = grdl_kit_new(comparator, NULL, 0, NULL);
    struct grdl_resources resources;
    struct grdl_reading *readings[2 * SIDE];
    struct symbols *symbols = names_new(0);
    struct err err;

    grdl_resources_init(&resources);
    for (int i = 0; i < 2 * SIDE; i++) {
        struct grdl_resource *back;
        struct tree *ad;

        grdl_resources_take(&resources, random_resource(twin, i < SIDE ? "task" : "executor"));
        readings[i] = grdl_read(kit->consumer, resources.items[i]);
        ad = grdl_to_ad(symbols, readings[i], 0);
        back = ad ? grdl_from_ad(ad, &err) : NULL;
        if (!back || !grdl_resource_same(back, resources.items[i]))
            differ(twin, LAW_BACK, resources.items[i], back);
        else
            twin->held[LAW_BACK]++;
        grdl_resource_free(back);
        tree_unref(ad);
    }
    pairs_compare(twin, readings, readings + SIDE, false);
    pairs_compare(twin, readings, readings + SIDE, true);
    for (int i = 0; i < 2 * SIDE; i++)
        grdl_reading_free(readings[i]);
    grdl_resources_done(&resources);
    grdl_kit_free(kit);
    symbols_free(symbols);
}

/* ---- preferences ---- */

/* One kind and type in each dimension, at most two values. */
static const struct {
    const char *dimension, *type;
    const char *texts[5];
} plain_dimensions[] = {
    {"mem", "MB", {"1", "2", "512", "1024", "1024"}},
    {"cost", NULL, {"5", "5", "10", "12.5", "-1"}},
    {"os", NULL, {"linux", "Linux", "bsd", "bsd", "lin"}},
    {"lib", "version", {"0.9.7", "0.9.7d", "0.9.10", "1", "1.0"}},
    {"eta", NULL, {"2008-09-30", "2008-09-30T12:00", "2009-01-01", "2008-09-29", "2008-09-30"}},
};
#define PLAINS (sizeof plain_dimensions / sizeof *plain_dimensions)

static struct grdl_resource *plain_candidate(struct twin *twin)
{
    struct grdl_resource *resource = grdl_resource_new("executor", NULL);
    struct err err;

    for (size_t i = 0; i < PLAINS; i++) {
        for (uint64_t n = rng_below(&twin->rng, 3); n; n--)
            grdl_add_char(resource, plain_dimensions[i].dimension, plain_dimensions[i].type,
                          plain_dimensions[i].texts[rng_below(&twin->rng, 5)], &err);
        if (!rng_below(&twin->rng, 6))
            grdl_add_char(resource, plain_dimensions[i].dimension, plain_dimensions[i].type, NULL, &err);
    }
    return resource;
}

static struct grdl_resource *plain_chooser(struct twin *twin)
{
    struct grdl_resource *resource = grdl_resource_new("task", NULL);
    struct err err;

    for (uint64_t n = 1 + rng_below(&twin->rng, 3); n; n--) {
        size_t i = rng_below(&twin->rng, PLAINS);
        enum grdl_operator match = (enum grdl_operator)rng_below(&twin->rng, GRDL_OPERATORS);
        bool number = i == 0 || i == 1 || i == 4;

        if ((match == GRDL_CLOSE || match == GRDL_FAR) && !number)
            continue;
        grdl_add_pref(resource, plain_dimensions[i].dimension, match, plain_dimensions[i].type,
                      rng_below(&twin->rng, 2) ? plain_dimensions[i].texts[rng_below(&twin->rng, 5)] : NULL,
                      (double)rng_below(&twin->rng, 3), &err);
    }
    return resource;
}

/* -1, 0, 1: the first is preferred, they are tied, the second is; 2: a component has no order. */
static int components_compare(const struct tree *who, const struct tree *a, const struct tree *b)
{
    const struct env env = {0};
    const struct tree *both[2] = {a, b};
    struct value lists[2];
    struct pair pairs[2];
    struct eval evals[2];
    struct arena arena;
    int result = 0;

    arena_init(&arena);
    for (int i = 0; i < 2; i++) {
        symbol name = symbols_find(who->symbols, "Preferences", 11);

        pair_init(&pairs[i], who, both[i]);
        eval_init(&evals[i], &env, &arena);
        if (name == SYMBOL_NONE || !eval_attribute(&evals[i], &pairs[i].left, name, &lists[i])) {
            arena_done(&arena);
            return 0;
        }
    }
    for (uint32_t n = 0; n < lists[0].len && !result; n++) {
        struct value x, y;

        eval_element(&evals[0], &lists[0], n, &x);
        eval_element(&evals[1], &lists[1], n, &y);
        if (!order_has(&x) || !order_has(&y))
            result = 2;
        else
            result = -order_compare(&x, &y);
    }
    arena_done(&arena);
    return result == 2 ? 2 : (result > 0) - (result < 0);
}

static void round_preferences(struct twin *twin)
{
    struct grdl_kit *kit = grdl_kit_new(GRDL_DIMENSION_TRANSFORMING, NULL, 0, NULL);
    struct grdl_resource *resources[SIDE];
    struct grdl_reading *readings[SIDE];
    struct symbols *symbols = names_new(0);
    struct tree *ads[SIDE];

    for (int i = 0; i < SIDE; i++) {
        resources[i] = i < 4 ? plain_chooser(twin) : plain_candidate(twin);
        readings[i] = grdl_read(kit->consumer, resources[i]);
        ads[i] = grdl_to_ad(symbols, readings[i], 0);
    }
    for (int who = 0; who < 4; who++)
        for (int i = 4; i < SIDE; i++)
            for (int j = 4; j < SIDE; j++) {
                int wanted = grdl_prefer(readings[who], readings[i], readings[j], NULL);
                int got = components_compare(ads[who], ads[i], ads[j]);

                wanted = (wanted > 0) - (wanted < 0);
                twin->held[LAW_PREFER] += wanted != 0;
                if (got != wanted) {
                    differ(twin, LAW_PREFER, resources[who], resources[i]);
                    if (twin->wrong[LAW_PREFER] <= 3)
                        show(resources[j]);
                }
            }
    for (int i = 0; i < SIDE; i++) {
        tree_unref(ads[i]);
        grdl_reading_free(readings[i]);
        grdl_resource_free(resources[i]);
    }
    grdl_kit_free(kit);
    symbols_free(symbols);
}

/* ---- ClassAds as resources ---- */

static void classad_random(struct twin *twin, struct buf *out)
{
    static const char *const names[] = {"Memory", "Cpus", "OpSys", "HasGpu"};
    static const char *const values[][3] = {
        {"64", "128", "64.5"}, {"1", "2", "-3"}, {"\"Linux\"", "\"linux\"", "\"2.4\""}, {"true", "false", "true"}};
    static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
    static const unsigned signs_of[] = {6, 6, 1, 2}; /* of strings == alone keeps its meaning */
    bool any = false;

    buf_adds(out, "[ Type = \"Machine\"");
    for (int i = 0; i < 4; i++)
        if (rng_below(&twin->rng, 3))
            buf_addf(out, "; %s = %s", names[i], values[i][rng_below(&twin->rng, 3)]);
    for (uint64_t n = rng_below(&twin->rng, 4); n; n--) {
        uint64_t i = rng_below(&twin->rng, 4);

        buf_addf(out, "%sother.%s %s %s", any ? " && " : "; Constraint = ", names[i],
                 signs[rng_below(&twin->rng, signs_of[i])], values[i][rng_below(&twin->rng, 3)]);
        any = true;
    }
    buf_adds(out, " ]");
}

static void round_classads(struct twin *twin)
{
    const struct env env = {0};
    struct grdl_kit *kit = grdl_kit_new(GRDL_BASIC, NULL, 0, NULL);
    struct symbols *symbols = names_new(0);
    struct grdl_resource *resources[SIDE] = {0};
    struct grdl_reading *readings[SIDE] = {0};
    struct tree *ads[SIDE];
    struct arena arena;
    struct build build;
    struct buf text;
    struct err err;

    arena_init(&arena);
    buf_init(&text);
    build_init(&build, symbols, &dialect_classic);
    for (int i = 0; i < SIDE; i++) {
        buf_reset(&text);
        classad_random(twin, &text);
        ads[i] = parse_ad(&build, NULL, buf_string(&text), text.len, &err);
        resources[i] = ads[i] ? grdl_from_ad(ads[i], &err) : NULL;
        if (resources[i]) {
            readings[i] = grdl_read(kit->consumer, resources[i]);
        } else if (strncmp(err.text, "Constraint: it is never true", 28) != 0 && twin->wrong[LAW_CLASSADS]++ < 3) {
            tap_diag("%s\n%s", buf_string(&text), err.text);
        }
    }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            bool accepts;

            if (!readings[i] || !readings[j])
                continue;
            accepts = match_accepts(&env, &arena, ads[i], ads[j]);
            twin->held[LAW_CLASSADS] += accepts;
            if (accepts != grdl_matches(readings[j], readings[i], NULL))
                differ(twin, LAW_CLASSADS, resources[i], resources[j]);
        }
    for (int i = 0; i < SIDE; i++) {
        grdl_reading_free(readings[i]);
        grdl_resource_free(resources[i]);
        tree_unref(ads[i]);
    }
    build_done(&build);
    buf_done(&text);
    arena_done(&arena);
    symbols_free(symbols);
    grdl_kit_free(kit);
}

int main(void)
{
    struct twin twin = {.seed = number_from("BERTH_SEED", 12), .rounds = number_from("BERTH_ROUNDS", 30)};

    for (twin.round = 0; twin.round < twin.rounds; twin.round++) {
        rng_init(&twin.rng, twin.seed * 1000003 + twin.round);
        round_pairs(&twin, (enum grdl_comparator)(twin.round % 3));
        round_preferences(&twin);
        round_classads(&twin);
    }
    for (int i = 0; i < LAW_COUNT; i++)
        tap_ok(!twin.wrong[i] && twin.held[i] > twin.rounds, "%s (%llu times)", law_sentences[i],
               (unsigned long long)twin.held[i]);
    return tap_done();
}
