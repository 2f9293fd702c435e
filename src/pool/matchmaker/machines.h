/* machines.h: what is known of each machine, whether or not it has room.
 *
 *     offer    what may be had now: it is in the engine, and is matched (collector.h)
 *     record   what the machine is and how it stands: it is here, and is never matched
 *
 *     STANDS -> a record: the whole ad, state, what is in use, its claims
 *     ADVERTISE of a machine that has told nothing -> the offer is its record, and goes with it when it is withdrawn
 *
 *     heard of -> silent for a lifetime: Away -> for an hour: only name and size are kept -> for a day, or Gone: forgotten
 *
 * Who is gone stays so for a lifetime, whatever comes late: an older word, or a renewal of its offer; only a newer word brings it back. A machine
 * that begins anew tells how it stands; one that renews its offer in a new life and does not (an older program runs there now) has no word any more:
 * its offer is its record.
 *
 * Nothing here is durable, and losing all of it changes no match. Records cost those who make them: an account has no more of them than it may have
 * ads, nor larger ones, an agent of it no larger ones than its ads may be, and no more than MACHINES_AWAY_MAX of an account are away. */
#ifndef BERTH_POOL_MATCHMAKER_MACHINES_H
#define BERTH_POOL_MATCHMAKER_MACHINES_H

#include "lang/base/map.h"
#include "pool/matchmaker/collector.h"
#include "pool/protocol/machine_state.h"
#include "pool/protocol/timers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MACHINES_MAX (1u << 22)  /* records of all agents */
#define MACHINES_AWAY_MAX 20000  /* records of one account that are away */
#define MACHINES_TOLD_CELLS 4096 /* of what a machine tells beside its ad */
#define MACHINES_TOLD_BYTES (256u << 10)
#define MACHINES_TIMERS_MAX \
    16 /* timers of one place that wait: it has one, unless lifetimes shrink or machines come and go */
#define MACHINES_SHRINK (60 * MINUTE) /* after that silence only name and size are kept */
#define MACHINES_FORGET (24 * 60 * MINUTE)
#define MACHINES_GONE_MAX 16384 /* machines that are remembered as gone; of more, the latest */

struct machine_record {
    uint64_t agent, id; /* agent 0: the place is free */
    uint64_t account;
    /* Of the last word; 0: the machine has told nothing, only its offer is known. And of the whole ad; 0: the offer is the whole. */
    uint64_t version, base;
    enum machine_state state;
    bool pulls, sure, away, shrunk;
    int64_t since, until; /* on our clock; until INT64_MAX: not known */
    int64_t heard, lifetime;
    int64_t timer;   /* the earliest timer that is set; it may be of a machine that was at this place before */
    uint32_t timers; /* how many of this place wait */
    struct tree *whole, *told; /* held; told: NULL when nothing was */
    uint32_t next;             /* the next record at the same place in the map; of a free one: the next free one */
    int64_t said;              /* when `told` was: an ad that is renewed says nothing of what is in use */
    uint64_t life;             /* the latest that the machine was heard in (machine_life) */
    int64_t doubt;             /* when its word counts no more, if none comes in this life; INT64_MAX: it has come */
};

/* A machine that is gone. */
struct machine_gone {
    uint64_t key, version;
    int64_t until;
};

struct machines {
    struct collector *collector; /* whose ads may be there, and what the matchmaker writes into them */
    struct timers *timers;
    uint32_t timer_what;
    uint32_t share;           /* records of one account, at most ... */
    uint64_t bytes_max;       /* ... and their size */
    symbol second;            /* the attribute by which a second ad is known */
    struct map places;        /* mixed agent and id -> the first record there */
    struct map accounts;      /* account -> how many records */
    struct map account_bytes; /* account -> their size */
    struct map bytes;         /* agent -> the size of its records */
    struct map absent;        /* account -> how many of its records are away */
    struct machine_record *items;
    uint32_t count, room, free, live; /* `live`: records that are there */
    struct map parted;                /* mixed agent and id of a machine that is gone -> its place in `gone` */
    struct machine_gone *gone;        /* a ring; NULL: none was ever */
    uint32_t gone_next;               /* whose place is taken next */
};

/* `share` and `bytes_max`: of the records of one account; 0: as much as an agent's ads. */
void machines_init(struct machines *machines, struct collector *collector, struct timers *timers, uint32_t timer_what,
                   uint32_t share, uint64_t bytes_max, uint64_t seed);
void machines_done(struct machines *machines);

/* A machine tells how it stands. BODY: its whole ad is needed. An idle machine may say, by no ad and no base, that its offer is the whole: then
 * there is one text for both, whatever becomes of the offer. */
enum reason machines_take(struct machines *machines, const struct role_env *env, const struct peer *peer,
                          const struct stands *stands);

/* An offer was put in or renewed, or withdrawn. */
void machines_offered(struct machines *machines, const struct role_env *env, const struct peer *peer, uint64_t id);
void machines_withdrawn(struct machines *machines, const struct peer *peer, uint64_t id);

/* A claim of it was reported: it is still there. */
void machines_heard(struct machines *machines, const struct role_env *env, const struct peer *peer, uint64_t id);

void machines_due(struct machines *machines, const struct role_env *env, uint32_t place, int64_t at);

/* The record of that agent and id, or NULL. */
const struct machine_record *machines_find(const struct machines *machines, agent who, uint64_t id);

/* The offer of the machine of that agent and id, as it is in the pool now; or NULL. */
const struct entry *machines_offer(const struct machines *machines, agent who, uint64_t id);

/* The memory that the records take, beside the texts that they share with their offers. */
uint64_t machines_bytes(const struct machines *machines);

bool machines_valid(const struct machines *machines, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
