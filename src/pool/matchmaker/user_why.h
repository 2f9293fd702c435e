/* user_why.h: a user's place among those who wait, and why it is what it is.
 *
 *     priority = factor * (max(1/2, usage) + units in use)              the smaller is served first, within a group
 *     usage(t) = use + (usage - use) * 2^-(t / half-life)               while `use` units are used all the time
 *
 * It is worked out from what the matchmaker knows when it is asked, and changes nothing. The cost is one look at every ad. */
#ifndef BERTH_POOL_MATCHMAKER_USER_WHY_H
#define BERTH_POOL_MATCHMAKER_USER_WHY_H

#include "pool/matchmaker/matchmaker.h"
#include "pool/protocol/fields.h"

#ifdef __cplusplus
extern "C" {
#endif

#define USER_WHY_AHEAD 5     /* of those ahead, the nearest */
#define USER_WHY_DELEGATES 8 /* named, of those who ask in its name */
#define USER_WHY_REASONS 8   /* for which its requests are held back, or not charged where they would be */

/* One who is served before. */
struct user_ahead {
    struct text name;
    double usage, factor, units, priority;
    struct text group; /* another one than the user's, if it is for that; else "" */
};

enum hold_kind {
    HOLD_QUOTA,    /* the group is at its quota and may not have more */
    HOLD_LIMIT,    /* a limit is used up */
    HOLD_NEVER,    /* it asks for more than a limit is */
    HOLD_LEARNS,   /* the matchmaker has begun lately, and does not know yet what is in use */
    HOLD_NO_GROUP, /* not held: there is no such group, so it is charged outside of it */
    HOLD_NOT_HIS,  /* not held: the user may not use that group */
    HOLD_GAVE_UP,  /* finding an offer took too long, or its user's part of a cycle was used up */
    HOLD_KINDS
};

struct user_hold {
    enum hold_kind kind;
    struct text name;  /* of the limit or group */
    double used, most; /* of it */
    uint64_t requests;
};

struct user_why {
    struct text name; /* of the account: physics~alice */
    double usage, half_life, factor, units, priority;
    uint32_t claims;
    uint64_t requests;                         /* ads that wait */
    struct text delegates[USER_WHY_DELEGATES]; /* whose those are, where they are not its own: zoe/s1 */
    uint32_t delegate_count;
    bool delegate_more;     /* there are others */
    uint32_t place, places; /* among users who wait for an offer; 0: it does not */
    struct text group;      /* "" when there are no groups */
    bool surplus;
    double quota, group_units, pool;
    struct user_ahead ahead[USER_WHY_AHEAD]; /* the nearest first */
    uint32_t ahead_count;
    struct user_hold holds[USER_WHY_REASONS];
    uint32_t hold_count;
    /* what would change it, against the nearest who is ahead in the same group; NAN: nothing of the kind would */
    double seconds;      /* if it used nothing from now on, and the other went on: then it would be ahead */
    double least_factor; /* below that factor it would be ahead now */
    double later;        /* its usage when a half-life has passed, if it goes on as now */
};

/* False when nothing is known of that user. The wall clock's seconds. */
bool user_why(const struct matchmaker *matchmaker, int64_t wall, const char *name, struct user_why *ret);

/* What a request that is there is held back by, though an offer may fit it; false when it is not. `requests` is 1. */
bool request_hold(const struct matchmaker *matchmaker, agent who, uint64_t id, struct user_hold *ret);

/* The first time in seconds at which who uses nothing has a smaller priority than who goes on; NAN when that never comes. */
double user_overtakes(double half_life, double usage, double factor, double other_usage, double other_factor,
                      double other_units);

#ifdef __cplusplus
}
#endif
#endif
