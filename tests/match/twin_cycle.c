/* twin_cycle.c: a matchmaking cycle that finds its candidates by the index gives everybody what one gives that tries every pair: the
 * same offers in the same order, ties, counts, residuals and policies included.
 *
 * In some rounds each request has a rank of its own, by attributes of which there are more than are kept side by side, and offers go on as less than they were
 * or as something else: the best are found from the fronts of orders.
 *
 * BERTH_SEED and BERTH_ROUNDS choose the input. */
#include "common/lang.h"
#include "common/pool.h"
#include "common/tap.h"

#include "lang/text/print.h"
#include "match/index/finder.h"

#include <stdio.h>

#define ADS_MAX 60
#define MANY 500 /* offers of some rounds: more than are tried one by one */

struct twin {
    struct lang lang;
    uint64_t seed, rounds, round;
    struct rng rng;
    struct buf text, last[2]; /* the last ad of each side, behind its name */
    struct pool_style style;
    struct party parties[ADS_MAX + MANY];
    size_t requests, offers;
    uint64_t matches, rows, left; /* rows of the index at the end, and offers at the beginning */
    bool ranked;                  /* each request has a rank of its own */
    uint64_t ranked_matches;
    int differ;
};

static const struct env env = {.now = 1772366400}; /* 2026-03-01T12:00:00Z */

static const char *const policies[] = {
    "[]",
    "[ DockingVector = { label.Memory, self.Rank } ]",
    "[ RootOrder = Size; DockingVector = { self.Rank, label.Rank, -label.Disk } ]",
    "[ RootSelection = Owner isnt undefined && Size > 1 ]",
};

/* What a cycle looks at beyond the constraint. */
static const char *const extras[] = {
    "",
    "",
    "Rank = other.Memory; ",
    "Rank = other.Load + other.Disk; ",
    "Rank = 3; ",
    "Rank = other.Memory * 2 + other.Disk; Preempts = \"c\"; CurrentRank = 1; ",
    "Rank = other.Memory * 3.5 - other.Disk; ",
    "Rank = -other.Load / 2 + other.Memory; ",
    "Rank = other.Arch; ",
    "Rank = other.Memory > 2 ? other.Disk / 2 : -other.Load; ",
    "Rank = other.Nobody; ",
    "Rank = 9007199254740992 + other.Memory * (other.Disk > 2 ? 1 : 1.0); ", /* more than reals tell apart */
    "Count = 3; ",
    "Residual = [ Memory = Memory - 1; Constraint = Memory > 0 ]; ",
    "Residual = [ Disk = Disk - other.Size ]; ",
};

static struct tree *ad_make(struct twin *twin, int side)
{
    const char *extra = extras[rng_below(&twin->rng, sizeof extras / sizeof *extras)];
    struct pool_maker m = {.rng = &twin->rng, .out = &twin->text, .style = &twin->style, .side = side};
    struct tree *ad;
    struct buf all;
    struct err err;

    m.dialect = &dialect_classic;
    buf_init(&all);
    buf_addf(&all, "[ Name = \"n%llu\"; ", (unsigned long long)rng_below(&twin->rng, 1000));
    if (!twin->last[side].len || rng_below(&twin->rng, 3) == 0) { /* else the same as the last, but for its name */
        pool_add_ad(&m);
        buf_reset(&twin->last[side]);
        buf_adds(&twin->last[side], extra);
        buf_adds(&twin->last[side], buf_string(&twin->text) + 1); /* behind its bracket */
    }
    buf_adds(&all, buf_string(&twin->last[side]));
    ad = lang_ad(&twin->lang, &dialect_classic, buf_string(&all), &err);
    if (!ad) { /* it had that attribute already */
        buf_reset(&twin->last[side]);
        ad = lang_ad(&twin->lang, &dialect_classic, "[]", &err);
    }
    buf_done(&all);
    return ad;
}

/* A sum of some attributes, each of them by a number; or something else about one of many attributes. */
static void add_rank(struct twin *twin)
{
    static const char *const names[] = {"Memory", "Disk", "Load"};
    static const char *const times[] = {" * 3", " * 0.5", " / 2", " * -2", "", " * 7"};
    uint64_t terms = 1 + rng_below(&twin->rng, 3);

    buf_adds(&twin->text, "Rank = ");
    if (rng_below(&twin->rng, 3) == 0) {
        buf_addf(&twin->text, "other.X%d > 5 ? 1 : 2; ", (int)rng_below(&twin->rng, 40));
        return;
    }
    for (uint64_t i = 0; i < terms; i++)
        buf_addf(&twin->text, "other.%s%s + ", names[rng_below(&twin->rng, 3)], times[rng_below(&twin->rng, 6)]);
    buf_addf(&twin->text, "%d; ", (int)rng_below(&twin->rng, 1000));
}

/* An ad of a round in which requests rank. */
static struct tree *ranked_make(struct twin *twin, int side)
{
    static const char *const residuals[] = {
        "Residual = [ Memory = Memory / 2; Constraint = Memory > 2 ]; ",
        "Residual = [ Memory = 5; Disk = Disk - other.Size ]; ",
        "Residual = [ Disk = 2.5; Load = Load / 3 ]; ",
        "Residual = [ Load = \"none\" ]; ",
        "",
    };
    struct rng *rng = &twin->rng;
    struct err err;

    buf_reset(&twin->text);
    buf_adds(&twin->text, "[ ");
    if (side == 0) {
        buf_addf(&twin->text, "Memory = %d; Disk = %d; Load = %d%s; Tag = %d; %s", (int)rng_below(rng, 300),
                 (int)rng_below(rng, 50000), (int)rng_below(rng, 90), rng_below(rng, 50) ? ".25" : "",
                 (int)rng_below(rng, 4), residuals[rng_below(rng, 5)]);
        for (int i = 0; i < 40; i += 1 + (int)rng_below(rng, 4))
            buf_addf(&twin->text, "X%d = %d; ", i, (int)rng_below(rng, 12));
    } else {
        buf_addf(&twin->text, "Size = %d; Count = %d; Constraint = other.Tag <= %d; ", (int)rng_below(rng, 9),
                 1 + (int)rng_below(rng, 4), (int)rng_below(rng, 5));
        add_rank(twin);
    }
    buf_adds(&twin->text, "]");
    return lang_ad(&twin->lang, &dialect_classic, buf_string(&twin->text), &err);
}

/* Who got whom, one behind another. */
static void note(void *user, size_t root, size_t candidate, const struct value *rank)
{
    struct buf *out = user;

    buf_addf(out, "%zu-%zu ", root, candidate);
    value_print(out, &dialect_classic, rank, 0);
    buf_addc(out, '\n');
}

/* The first match that only one of them made. */
static void tell_ads(struct twin *twin, const char *scanned, const char *found)
{
    size_t root = 0, candidate = 0;
    struct buf text;

    while (*scanned && *scanned == *found) {
        scanned++;
        found++;
    }
    buf_init(&text);
    while (scanned > buf_string(&twin->text) && scanned[-1] != '\n')
        scanned--;
    if (sscanf(scanned, "%zu-%zu", &root, &candidate) == 2) {
        print_tree(&text, twin->parties[root].ad, PRINT_PLAIN);
        buf_adds(&text, "\n");
        print_tree(&text, twin->parties[candidate].ad, PRINT_PLAIN);
        tap_diag("%zu and %zu:\n%s", root, candidate, buf_string(&text));
    }
    buf_done(&text);
}

static void round_run(struct twin *twin, struct buf *scanned, struct buf *found)
{
    const char *text = policies[twin->ranked ? 0 : rng_below(&twin->rng, sizeof policies / sizeof *policies)];
    struct index *index = index_new();
    struct cycle_finder finder = finder_of(index);
    struct policy policy;
    struct cycle_field field = {
        .policy = &policy, .parties = twin->parties, .request_count = twin->requests, .offer_count = twin->offers};
    struct err err;
    struct tree *ad = lang_ad(&twin->lang, &dialect_classic, text, &err);
    symbol wrong;

    policy_init(&policy, ad, &wrong, &err);
    cycle_run(&env, &twin->lang.arena, &field, note, scanned);
    field.finder = &finder;
    cycle_run(&env, &twin->lang.arena, &field, note, found);
    if (scanned->len != found->len || (found->len && memcmp(scanned->text, found->text, found->len) != 0)) {
        if (twin->differ++ < 5) {
            tap_diag("seed %llu, round %llu, policy %s:\nby every pair\n%s\nby the index\n%s",
                     (unsigned long long)twin->seed, (unsigned long long)twin->round, text, buf_string(scanned),
                     buf_string(found));
            buf_reset(&twin->text);
            buf_add(&twin->text, scanned->text, scanned->len);
            tell_ads(twin, buf_string(&twin->text), buf_string(found));
        }
    }
    for (size_t i = 0; i < scanned->len; i++)
        twin->matches += scanned->text[i] == '\n';
    for (size_t i = 0; i < scanned->len && twin->ranked; i++)
        twin->ranked_matches += scanned->text[i] == '\n';
    twin->rows += twin->ranked ? 0 : index_rows(index);
    twin->left += twin->ranked ? 0 : twin->offers;
    policy_done(&policy);
    tree_unref(ad);
    index_free(index);
}

int main(void)
{
    struct twin twin = {.seed = lang_setting("BERTH_SEED", 1), .rounds = lang_rounds(400)};
    struct buf scanned, found;

    lang_init(&twin.lang);
    buf_init(&twin.text);
    buf_init(&twin.last[0]);
    buf_init(&twin.last[1]);
    buf_init(&scanned);
    buf_init(&found);
    for (twin.round = 0; twin.round < twin.rounds; twin.round++) {
        struct pool_maker m = {.rng = &twin.rng};

        rng_init(&twin.rng, rng_mix(twin.seed) + twin.round);
        twin.style = pool_style(&m);
        twin.requests = rng_below(&twin.rng, ADS_MAX);
        twin.offers = rng_below(&twin.rng, rng_below(&twin.rng, 10) ? ADS_MAX : MANY);
        twin.ranked = twin.round % 16 == 0;
        if (twin.ranked)
            twin.offers = MANY - rng_below(&twin.rng, MANY / 3);
        for (size_t i = 0; i < twin.requests + twin.offers; i++) {
            struct tree *ad = twin.ranked ? ranked_make(&twin, i < twin.requests) : ad_make(&twin, i < twin.requests);

            party_init(&twin.parties[i], &env, &twin.lang.arena, ad);
            tree_unref(ad);
        }
        buf_reset(&scanned);
        buf_reset(&found);
        round_run(&twin, &scanned, &found);
        for (size_t i = 0; i < twin.requests + twin.offers; i++)
            party_done(&twin.parties[i]);
        arena_reset(&twin.lang.arena);
    }
    tap_ok(twin.differ == 0, "the index gives everybody what trying every pair gives");
    tap_ok(twin.matches > twin.rounds * 2 && twin.ranked_matches > twin.rounds, "there is something to give");
    tap_ok(twin.rows * 2 < twin.left, "offers that are the same to all share rows");
    tap_diag("%llu cycles, %llu matches, %llu offers in %llu rows", (unsigned long long)twin.rounds,
             (unsigned long long)twin.matches, (unsigned long long)twin.left, (unsigned long long)twin.rows);
    buf_done(&scanned);
    buf_done(&found);
    buf_done(&twin.text);
    buf_done(&twin.last[0]);
    buf_done(&twin.last[1]);
    lang_done(&twin.lang);
    return tap_done();
}
