/* Ended jobs are taken in the order in which they came, each once: compared with a list that is shifted. */
#include "common/tap.h"
#include "lang/base/rng.h"
#include "live/customerd/endings.h"

#include <string.h>

#define ROUNDS 200
#define STEPS 1000
#define JOBS 300 /* numbers come again, while they are there and later */

/* The slow twin. */
struct plain {
    uint64_t jobs[JOBS];
    uint32_t count;
};

static bool plain_has(const struct plain *plain, uint64_t job)
{
    for (uint32_t i = 0; i < plain->count; i++)
        if (plain->jobs[i] == job)
            return true;
    return false;
}

static void plain_add(struct plain *plain, uint64_t job)
{
    if (!plain_has(plain, job))
        plain->jobs[plain->count++] = job;
}

static uint64_t plain_take(struct plain *plain)
{
    uint64_t job = plain->jobs[0];

    if (!plain->count)
        return 0;
    memmove(plain->jobs, plain->jobs + 1, --plain->count * sizeof *plain->jobs);
    return job;
}

/* Rounds differ in how often something is taken, so that rows grow, shrink and run around. */
static bool round_agrees(struct rng *rng)
{
    uint64_t takes = 10 + rng_below(rng, 80);
    struct plain plain = {0};
    struct endings endings;
    bool same = true;

    endings_init(&endings);
    for (int i = 0; i < STEPS && same; i++) {
        uint64_t job = 1 + rng_below(rng, JOBS);

        if (rng_below(rng, 100) < takes) {
            same = endings_take(&endings) == plain_take(&plain);
        } else {
            endings_add(&endings, job);
            plain_add(&plain, job);
        }
        job = 1 + rng_below(rng, JOBS);
        same = same && endings_count(&endings) == plain.count && endings_has(&endings, job) == plain_has(&plain, job);
    }
    while (same && plain.count)
        same = endings_take(&endings) == plain_take(&plain);
    same = same && endings_take(&endings) == 0;
    endings_done(&endings);
    return same;
}

int main(void)
{
    struct rng rng;
    int good = 0;

    rng_init(&rng, 1);
    for (int i = 0; i < ROUNDS; i++)
        good += round_agrees(&rng);
    tap_ok(good == ROUNDS, "ended jobs come in their order, each once (%d of %d rounds)", good, ROUNDS);
    return tap_done();
}
