/* puller.h: offers that ask for a request when they have room, instead of being advertised.
 *
 *     PULL -> is the ad one that may be advertised? -> engine_pull -> ledger, registrar, MATCH to the customer -> PULLED
 *
 * The ad is never stored. What is remembered of an offer is its last pull: so that one which is repeated, for its answer was lost, gets
 * the same answer, and costs no second unit. Who finds nothing is told when to ask again: after a cycle, then twice as long each time,
 * up to a second, or longer when very many pull, so that they are no more than PULLER_RATE a second together. */
#ifndef BERTH_POOL_PULLER_H
#define BERTH_POOL_PULLER_H

#include "base/map.h"
#include "pool/collector.h"
#include "pool/notifier.h"
#include "pool/registrar.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PULLER_MEMORY (1u << 17) /* offers whose last pull is remembered */
#define PULLER_RATE 2000         /* pulls in vain a second, about */

struct pull_memory {
    uint64_t agent, id;
    int64_t at;
    uint32_t vain;        /* pulls in vain, one after the other */
    int64_t weight;       /* that it counts for while it asks in vain */
    int64_t counted;      /* ... and that is part of the weight of all */
    struct pulled answer; /* its ad is held */
};

struct puller {
    struct map places;         /* mixed agent and id -> place */
    struct pull_memory *items; /* a ring: the oldest is forgotten for a new one */
    uint32_t count, room, next;
    int64_t weight, weighed; /* of those that asked in vain lately; when that was made out */
};

/* The parts of the matchmaker that it works with. */
struct puller_pool {
    struct collector *collector;
    struct registrar *registrar;
    struct notifier *notifier;
};

void puller_init(struct puller *puller, uint64_t seed);
void puller_done(struct puller *puller);

/* What the offers count for that asked in vain within a lifetime: a part of the pool, though none of them is stored. To the second. */
int64_t puller_weight(struct puller *puller, int64_t now, int64_t lifetime);

/* A pull, and its answer, whose ad is lent for the step; returns how many matches were made: 1 or 0. */
uint64_t puller_take(struct puller *puller, const struct puller_pool *pool, const struct role_env *env,
                     const struct peer *peer, const struct pull *pull, struct pulled *ret, struct effects *effects);

#ifdef __cplusplus
}
#endif
#endif
