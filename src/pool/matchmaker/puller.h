/* puller.h: offers that ask for a request when they have room, instead of being advertised.
 *
 *     PULL -> is the ad one that may be advertised? -> engine_pull -> ledger, registrar, MATCH to the customer -> PULLED
 *
 * The ad is never stored. What is remembered of an offer is its last pull: so that one which is repeated, for its answer was lost, gets
 * the same answer, and costs no second unit. Who finds nothing is told when to ask again: after a cycle, then twice as long each time,
 * up to a second, or longer when very many pull, so that they are no more than PULLER_RATE a second together.
 *
 * Ids cost nothing: so of one account no more offers are remembered than it may have ads, and never more than a quarter of all (PULLER_SHARE);
 * past that a new one is refused, REASON_LIMIT. An offer that was not heard of for a lifetime is forgotten, and counts for nothing. */
#ifndef BERTH_POOL_MATCHMAKER_PULLER_H
#define BERTH_POOL_MATCHMAKER_PULLER_H

#include "lang/base/map.h"
#include "pool/matchmaker/collector.h"
#include "pool/matchmaker/notifier.h"
#include "pool/matchmaker/registrar.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PULLER_MEMORY (1u << 17)         /* offers whose last pull is remembered */
#define PULLER_SHARE (PULLER_MEMORY / 4) /* ... of them of one account */
#define PULLER_RATE 2000                 /* pulls in vain a second, about */
#define PULLER_NOBODY UINT32_MAX

struct pull_memory {
    uint64_t agent, id, account;
    int64_t at;
    uint32_t before, after; /* in the order in which they were heard of; of a free place: the next free one */
    uint32_t vain;          /* pulls in vain, one after the other */
    bool waits;             /* the last was in vain: */
    int64_t weight;         /* ... it counts for that */
    struct pulled answer;   /* its ad is held; number 0: nothing is remembered */
};

struct puller {
    struct map places;         /* mixed agent and id -> place */
    struct map accounts;       /* account -> how many of its offers are remembered */
    struct pull_memory *items; /* the one that was heard of longest ago is forgotten for a new one */
    uint32_t share;            /* of one account, at most */
    uint32_t count, room, free;
    uint32_t first, last;  /* heard of longest ago, and last; or PULLER_NOBODY */
    uint32_t waiting;      /* that asked in vain */
    int64_t weight;        /* of those */
    int64_t told, told_at; /* that weight as puller_weight gave it, and when */
};

/* The parts of the matchmaker that it works with. */
struct puller_pool {
    struct collector *collector;
    struct registrar *registrar;
    struct notifier *notifier;
};

/* `ads_max`: ads that an account may have; 0: a default. */
void puller_init(struct puller *puller, uint32_t ads_max, uint64_t seed);
void puller_done(struct puller *puller);

/* What the offers count for that asked in vain within a lifetime: a part of the pool, though none of them is stored. More of
 * it is told to the second, less at once. */
int64_t puller_weight(struct puller *puller, int64_t now, int64_t lifetime);

/* Would a pull of that offer be refused, since its account has as many as it may? */
bool puller_is_full(const struct puller *puller, const struct peer *peer, uint64_t id);

/* A pull, and its answer, whose ad is lent for the step; returns how many matches were made: 1 or 0. */
uint64_t puller_take(struct puller *puller, const struct puller_pool *pool, const struct role_env *env,
                     const struct peer *peer, const struct pull *pull, struct pulled *ret, struct effects *effects);

bool puller_valid(const struct puller *puller, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
