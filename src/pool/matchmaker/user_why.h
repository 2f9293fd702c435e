/* user_why.h: a user's place among the users who wait, and why it is there.
 *
 *     priority = factor * (max(1/2, usage) + units in use)              the smaller is served first, within a group
 *     usage(t) = use + (usage - use) * 2^-(t / half-life)               while `use` units are in use all the time
 *
 * This is computed from what the matchmaker knows when asked, and changes nothing. It costs one look at every ad. */
#ifndef BERTH_POOL_MATCHMAKER_USER_WHY_H
#define BERTH_POOL_MATCHMAKER_USER_WHY_H

#include "pool/matchmaker/matchmaker.h"
#include "pool/protocol/fields.h"

#ifdef __cplusplus
extern "C" {
#endif

#define USER_WHY_AHEAD 5     /* at most so many of those ahead are listed, the nearest */
#define USER_WHY_DELEGATES 8 /* at most so many delegates are named */
#define USER_WHY_ACCOUNTS 8  /* at most so many other accounts are named */
#define USER_WHY_REASONS 8   /* at most so many reasons why requests are held back, or not charged where they ask */

/* A user who is served earlier. */
struct user_ahead {
    struct text name;
    double usage, factor, units, priority;
    struct text group; /* the other user's group, if it is ahead because of that; else "" */
};

enum hold_kind {
    HOLD_QUOTA,    /* the group is at its quota and may not have more */
    HOLD_LIMIT,    /* a limit is used up */
    HOLD_NEVER,    /* the request asks for more than a limit is */
    HOLD_LEARNS,   /* the matchmaker has just begun, and does not know yet what is in use */
    HOLD_NO_GROUP, /* not held: there is no such group, so the request is charged outside of it */
    HOLD_NOT_HIS,  /* not held: the user may not use that group */
    HOLD_GAVE_UP,  /* finding an offer took too long, or the user's part of a cycle was used up */
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
    struct text delegates[USER_WHY_DELEGATES]; /* delegates who own some of those: zoe/s1 */
    uint32_t delegate_count;
    bool delegate_more; /* there are more delegates */
    struct text accounts
        [USER_WHY_ACCOUNTS]; /* the user's other accounts, when the name that was asked for has no group: physics~alice */
    uint32_t account_count;
    uint32_t place, places; /* among users who wait for an offer; 0: this user does not */
    struct text group;      /* "" when there are no groups */
    bool surplus;
    double quota, group_units, pool;
    struct user_ahead ahead[USER_WHY_AHEAD]; /* the nearest first */
    uint32_t ahead_count;
    struct user_hold holds[USER_WHY_REASONS];
    uint32_t hold_count;
    /* what would put the user ahead of the nearest one ahead in the same group; NAN: that would not */
    double seconds;      /* after that time, if the user used nothing and the other went on */
    double least_factor; /* with a smaller factor than this the user would be ahead now */
    double later;        /* the user's usage after a half-life, if it goes on as now */
};

/* False when nothing is known of that user. `wall`: seconds of the wall clock. A name without a group means the user in all groups: the
 * account of that name if it asks for something, else the one in a group that asks for most. */
bool user_why(const struct matchmaker *matchmaker, int64_t wall, const char *name, struct user_why *ret);

/* What holds a request back, though an offer may fit it; false when nothing does. `requests` is 1. */
bool request_hold(const struct matchmaker *matchmaker, agent who, uint64_t id, struct user_hold *ret);

/* The time in seconds until a user who uses nothing has a smaller priority than one who goes on; NAN when that never
 * comes. */
double user_overtakes(double half_life, double usage, double factor, double other_usage, double other_factor,
                      double other_units);

#ifdef __cplusplus
}
#endif
#endif
