/* census.h: how many ads of each kind, machines of each state and jobs of each user there are, counted over and over in small slices; and how many there were before.
 *
 *     matchmaker's ads, machines --a slice at each step--> counting --when all were seen--> last --each span--> rings of samples
 *
 * So the pool can be shown at a glance from numbers that are there already, a few seconds old. */
#ifndef BERTH_LIVE_MATCHMAKERD_CENSUS_H
#define BERTH_LIVE_MATCHMAKERD_CENSUS_H

#include "lang/base/map.h"
#include "live/matchmakerd/machine_facts.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CENSUS_KINDS 16    /* the last one stands for all others */
#define CENSUS_KIND_MAX 40 /* bytes of a kind's name that are told */
#define CENSUS_OUTCOMES (ENGINE_HELD + 1)
#define CENSUS_USERS 8 /* users of whom a sample tells apart from the others */

struct census_kind {
    char name[CENSUS_KIND_MAX + 1];
    uint64_t offers; /* offers of which something is left */
    uint64_t parted; /* those of them that are matched in part */
    uint64_t taken;  /* offers of which nothing is left */
};

struct census_counts {
    struct census_kind kinds[CENSUS_KINDS];
    uint32_t kind_count;
    uint64_t offers, requests;
    uint64_t units; /* waiting units of all requests */
    uint64_t outcomes[CENSUS_OUTCOMES],
        outcome_units[CENSUS_OUTCOMES]; /* requests, and their units, by the outcome of their last try */
};

/* Machines, whether or not they have room; what those that are away have is not in the amounts. */
struct census_machines {
    uint64_t states[MACHINE_STATE_COUNT];
    struct {
        double all, used;
    } amounts[AMOUNTS];
};

/* What a user has running and waiting. */
struct census_user {
    symbol name; /* held by the sample */
    uint64_t running, waiting;
};

struct census_sample {
    int64_t at; /* seconds on the wall clock */
    uint64_t offers, claims, waiting, matches;
    struct census_user users[CENSUS_USERS]; /* those who have most, the first of them first */
    uint32_t user_count;
};

enum census_span { CENSUS_HOUR, CENSUS_DAY, CENSUS_MONTH, CENSUS_SPANS };
extern const char *const census_span_words[CENSUS_SPANS];

/* The last samples of a span, in a ring. */
struct census_ring {
    struct census_sample *items;
    uint32_t count, next;
};

struct census {
    struct census_counts counting, last;
    struct census_machines counting_machines, machines;
    uint32_t from; /* where the count goes on */
    uint32_t machine_from, user_from;
    struct map waiting_counting, waiting;       /* waiting units by the number of their user */
    struct census_sample users_counting, users; /* only its users count; their names are held */
    struct symbols *symbols;                    /* lent */
    int64_t counted;                            /* when the last count was complete, on the wall clock; 0: never */
    struct census_ring rings[CENSUS_SPANS];
};

void census_init(struct census *census, struct symbols *symbols);
void census_done(struct census *census);

/* Counts another slice; `wall` in seconds. */
void census_step(struct census *census, const struct matchmaker *matchmaker, int64_t wall);

/* The samples of a span, the oldest first. */
uint32_t census_samples(const struct census *census, enum census_span span);
const struct census_sample *census_sample(const struct census *census, enum census_span span, uint32_t place);

#ifdef __cplusplus
}
#endif
#endif
