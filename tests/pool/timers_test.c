/* Timers come back when they are due, in their order: compared with a list that is looked through. */
#include "common/tap.h"
#include "lang/base/rng.h"
#include "pool/protocol/timers.h"

#define ROUNDS 200
#define STEPS 2000

/* The slow twin. */
struct plain {
    struct timer items[STEPS];
    uint32_t count;
};

static bool is_before(const struct timer *a, const struct timer *b)
{
    if (a->at != b->at)
        return a->at < b->at;
    return a->what != b->what ? a->what < b->what : a->which < b->which;
}

static uint32_t plain_first(const struct plain *plain)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < plain->count; i++)
        if (is_before(&plain->items[i], &plain->items[best]))
            best = i;
    return best;
}

static bool plain_pop(struct plain *plain, int64_t now, struct timer *ret)
{
    uint32_t first = plain_first(plain);

    if (!plain->count || plain->items[first].at > now)
        return false;
    *ret = plain->items[first];
    plain->items[first] = plain->items[--plain->count];
    return true;
}

/* How many were popped; -1: not alike. Few times in some rounds, so that many are equal. */
static int64_t round_run(struct rng *rng, struct plain *plain)
{
    int64_t span = 1 + (int64_t)rng_below(rng, rng_below(rng, 2) ? 10 : 100000), now = 0, popped = 0;
    uint64_t pushes = 1 + rng_below(rng, 4);
    struct timers timers;
    bool same = true;

    timers_init(&timers);
    plain->count = 0;
    for (uint32_t step = 0; step < STEPS && same; step++) {
        if (rng_below(rng, 5) < pushes) {
            struct timer one = {now + (int64_t)rng_below(rng, (uint64_t)span), rng_below(rng, 3),
                                (uint32_t)rng_below(rng, 3)};

            timers_set(&timers, one.at, one.what, one.which);
            plain->items[plain->count++] = one;
        } else {
            struct timer fast = {0}, slow = {0};
            bool got;

            now += (int64_t)rng_below(rng, (uint64_t)span / 4 + 1);
            got = timers_pop(&timers, now, &fast);
            same = got == plain_pop(plain, now, &slow) && !is_before(&fast, &slow) && !is_before(&slow, &fast);
            popped += got;
        }
        same = same && timers_next(&timers) == (plain->count ? plain->items[plain_first(plain)].at : INT64_MAX);
    }
    timers_done(&timers);
    return same ? popped : -1;
}

int main(void)
{
    static struct plain plain;
    int64_t popped = 0, one = 0;
    struct rng rng;

    rng_init(&rng, 1);
    for (int i = 0; i < ROUNDS && one >= 0; i++) {
        one = round_run(&rng, &plain);
        popped += one;
    }
    tap_ok(one >= 0 && popped > ROUNDS * 100, "timers come as a list that is looked through gives them: %lld",
           (long long)popped);
    return tap_done();
}
