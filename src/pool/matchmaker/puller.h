/* puller.h: offers that ask for a request when they have room, instead of being advertised.
 *
 *     PULL -> is the ad one that may be advertised? -> engine_pull -> ledger, registrar, MATCH to the customer -> PULLED
 *
 * The ad is never stored. Only an offer's last pull is remembered: so a pull that is repeated, because its answer was lost, gets
 * the same answer, and costs no second unit. An offer that finds nothing is told when to ask again: after a cycle, then twice as long each time,
 * up to a second, or longer when very many pull, so that there are no more than PULLER_RATE such pulls a second.
 *
 * Ids cost nothing: so no more offers of one account are remembered than it may have ads, and never more than a quarter of all (PULLER_SHARE);
 * beyond that a new offer is refused with REASON_LIMIT. An offer that was not heard of for a lifetime is forgotten, and counts for nothing. */
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
#define PULLER_SHARE (PULLER_MEMORY / 4) /* ... of one account */
#define PULLER_RATE 2000                 /* failed pulls a second, about */
#define PULLER_NOBODY UINT32_MAX

struct pull_memory {
    uint64_t agent, id, account;
    int64_t at;
    uint32_t before, after; /* neighbours in the order of last being heard of; of a free place: the next free one */
    uint32_t vain;          /* failed pulls in a row */
    bool waits;             /* the last pull found nothing ... */
    int64_t weight;         /* ... and the offer counts for this */
    struct pulled answer;   /* its ad is held; number 0: nothing is remembered */
};

struct puller {
    struct map places;         /* mixed agent and id -> place */
    struct map accounts;       /* account -> how many of its offers are remembered */
    struct pull_memory *items; /* when full, the offer heard of longest ago is forgotten for a new one */
    uint32_t share;            /* offers of one account, at most */
    uint32_t count, room, free;
    uint32_t first, last;  /* the offers heard of longest ago, and last; or PULLER_NOBODY */
    uint32_t waiting;      /* offers whose last pull found nothing */
    int64_t weight;        /* of those offers */
    int64_t told, told_at; /* the weight as puller_weight last told it, and when */
};

/* The parts of the matchmaker that the puller works with. */
struct puller_pool {
    struct collector *collector;
    struct registrar *registrar;
    struct notifier *notifier;
};

/* `ads_max`: ads that an account may have; 0: a default. */
void puller_init(struct puller *puller, uint32_t ads_max, uint64_t seed);
void puller_done(struct puller *puller);

/* The weight of the offers whose pulls found nothing within a lifetime: they are a part of the pool, though none is
 * stored. An increase is told once a second, a decrease at once. */
int64_t puller_weight(struct puller *puller, int64_t now, int64_t lifetime);

/* Would a pull of that offer be refused, because its account has as many as it may? */
bool puller_is_full(const struct puller *puller, const struct peer *peer, uint64_t id);

/* Takes a pull and gives the answer, whose ad is lent for the step; returns how many matches were made: 1 or 0. */
uint64_t puller_take(struct puller *puller, const struct puller_pool *pool, const struct role_env *env,
                     const struct peer *peer, const struct pull *pull, struct pulled *ret, struct effects *effects);

bool puller_valid(const struct puller *puller, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
