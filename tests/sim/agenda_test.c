/* The agenda gives back what was put in, in its order: compared with one that looks through all of it. */
#include "common/tap.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "sim/agenda.h"

#include <stdlib.h>

#define ROUNDS 60
#define STEPS 20000

/* The slow twin: an unsorted list. */
struct plain {
    struct agenda_entry *items;
    uint32_t count, room;
};

static void plain_push(struct plain *plain, struct agenda_entry entry)
{
    if (plain->count == plain->room) {
        plain->room = plain->room ? plain->room * 2 : 64;
        plain->items = mem_grow(plain->items, plain->room * sizeof *plain->items);
    }
    plain->items[plain->count++] = entry;
}

static bool plain_pop(struct plain *plain, struct agenda_entry *ret)
{
    uint32_t best = 0;

    if (!plain->count)
        return false;
    for (uint32_t i = 1; i < plain->count; i++)
        if (plain->items[i].at < plain->items[best].at ||
            (plain->items[i].at == plain->items[best].at && plain->items[i].order < plain->items[best].order))
            best = i;
    *ret = plain->items[best];
    plain->items[best] = plain->items[--plain->count];
    return true;
}

/* At once, soon, within the ring, at its end, far beyond, or before now. */
static int64_t time_choose(struct rng *rng, int64_t now, uint32_t sort)
{
    static const int64_t spans[] = {1, 1000, 1000000, 60000000, 2147483648, 4294967296, 90000000000, 40000000000000};
    int64_t span = spans[rng_below(rng, sort % 8 + 1)];

    if (rng_below(rng, 50) == 0)
        return now - (int64_t)rng_below(rng, (uint64_t)(now < 5000000 ? now : 5000000) + 1);
    return now + (int64_t)rng_below(rng, (uint64_t)span + 1);
}

struct seen {
    uint64_t count, sum;
};

static void see(void *user, const struct agenda_entry *entry)
{
    struct seen *seen = user;

    seen->count++;
    seen->sum += entry->order;
}

static bool round_same(uint64_t seed, uint64_t *popped)
{
    struct agenda agenda;
    struct plain plain = {0};
    struct agenda_entry a, b;
    struct seen seen = {0}, wanted = {0};
    struct rng rng;
    int64_t now = 0, next;
    bool same = true;
    uint32_t most = 1 + (uint32_t)(seed % 300);

    agenda_init(&agenda);
    rng_init(&rng, rng_mix(seed));
    for (uint32_t i = 0; same && i < STEPS; i++) {
        if (plain.count < most && rng_below(&rng, 2)) {
            int64_t at = time_choose(&rng, now, (uint32_t)seed);

            plain_push(&plain, (struct agenda_entry){at, agenda_push(&agenda, at, i), i});
            continue;
        }
        same = agenda_next(&agenda, &next) == (plain.count > 0);
        if (!plain_pop(&plain, &b)) {
            same = same && !agenda_pop(&agenda, &a);
            continue;
        }
        same =
            same && next == b.at && agenda_pop(&agenda, &a) && a.at == b.at && a.order == b.order && a.what == b.what;
        now = b.at > now ? b.at : now;
        ++*popped;
    }
    agenda_each(&agenda, see, &seen);
    for (uint32_t i = 0; i < plain.count; i++)
        see(&wanted, &plain.items[i]);
    same = same && seen.count == wanted.count && seen.sum == wanted.sum;
    agenda_done(&agenda);
    free(plain.items);
    return same;
}

int main(void)
{
    const char *given = getenv("BERTH_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1, popped = 0, wrong = 0;

    for (uint64_t i = 0; i < ROUNDS; i++)
        if (!round_same(seed + i, &popped) && !wrong)
            wrong = seed + i;
    tap_ok(!wrong && popped > 100000,
           "%llu entries come in the order of their times, and of equal times as they were put in",
           (unsigned long long)popped);
    if (wrong)
        tap_diag("BERTH_SEED=%llu", (unsigned long long)wrong);
    return tap_done();
}
