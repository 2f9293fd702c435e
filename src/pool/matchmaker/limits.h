/* limits.h: how many of a named thing may be in use at a time: licences, connections to a database.
 *
 *     ConcurrencyLimits = "matlab:2, db"      name[:number], with commas between; names are the same whatever their case
 *
 * A match takes them, and they are given back when its claim ends, or when nothing is heard of it. A name that is not configured has the
 * default limit, or none. Use is counted for every name, so that a limit that is set later is right at once.
 *
 * A matchmaker that has just begun does not know what is in use: until all claims must have been reported, jobs that name a limit wait. */
#ifndef BERTH_POOL_MATCHMAKER_LIMITS_H
#define BERTH_POOL_MATCHMAKER_LIMITS_H

#include "lang/base/textmap.h"
#include "pool/engine/engine.h"
#include "pool/matchmaker/groups.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LIMITS_OF_JOB_MAX 8
#define LIMITS_NUMBER_MAX 1000000
/* Gates: one for jobs that ask for more than a limit is, one while the matchmaker learns, then one for each name. */
#define LIMITS_GATE_NEVER GROUPS_SHARES_MAX
#define LIMITS_GATE_LEARNS (GROUPS_SHARES_MAX + 1)
#define LIMITS_GATE_FIRST (GROUPS_SHARES_MAX + 2)

/* What a job asks for. */
struct limit_asked {
    char name[SHARES_NAME_MAX + 1]; /* in lower case */
    uint32_t len;
    int64_t number;
};

struct limits_asked {
    struct limit_asked items[LIMITS_OF_JOB_MAX];
    uint32_t count;
};

/* Reads a text; -1 when it is not of that form. An empty text asks for nothing; a name that is there twice asks for
 * both. */
int limits_read(const char *text, size_t len, struct limits_asked *ret, struct err *err);

/* Writes the text back, as limits_read reads it: never longer than the one that was read. */
void limits_print(const struct limits_asked *asked, struct text *ret);

struct limit {
    int64_t most; /* or SHARES_NO_LIMIT */
    int64_t used;
    bool configured;
};

struct limits {
    struct engine *engine;
    struct textmap names; /* a name's place is that of its limit */
    struct limit *items;
    uint32_t room;
    int64_t default_limit;
    bool learns;
};

/* What a claim holds of limits: their places, and how many of each. */
struct holdings {
    uint32_t count;
    struct {
        uint32_t limit;
        int64_t number;
    } items[LIMITS_OF_JOB_MAX];
};

void limits_init(struct limits *limits, struct engine *engine, uint64_t seed);
void limits_done(struct limits *limits);

/* Sets other limits; what is in use stays. */
void limits_set(struct limits *limits, const struct shares *shares);

/* All use of limits has been reported. */
void limits_learnt(struct limits *limits);

/* The gate that is closed for a job that asks for these, or ENGINE_OPEN. */
uint32_t limits_closed(const struct limits *limits, const struct limits_asked *asked);

/* Takes the limits, whether there are any left or not; NULL when nothing is asked for. limits_give gives them back, and
 * frees. */
struct holdings *limits_take(struct limits *limits, const struct limits_asked *asked);
void limits_give(struct limits *limits, struct holdings *holdings);

/* The limit of a gate: returns its name; NULL when the gate is not that of a limit. */
const char *limits_gate(const struct limits *limits, uint32_t gate, struct limit *ret);

/* The first limit from a place on that is configured or in use; false when there is none. */
bool limits_next(const struct limits *limits, uint32_t from, const char **ret_name, struct limit *ret,
                 uint32_t *ret_next);

#ifdef __cplusplus
}
#endif
#endif
