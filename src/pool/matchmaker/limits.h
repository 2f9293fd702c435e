/* limits.h: how many may be in use at a time of things that have names: licences, connections to a data base.
 *
 *     ConcurrencyLimits = "matlab:2, db"      name[:number], with commas between; names are the same whatever their case
 *
 * They are taken by a match and given back when its claim ends, or nothing was heard of it. A name that is not configured has the
 * default limit, or none. What is in use is counted for every name, so that a limit that comes later is right at once.
 *
 * A matchmaker that has just begun does not know what is in use: until claims must have been told of, whoever names a limit waits. */
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
/* Gates: one for those who ask for more than there ever is, one while the matchmaker learns, then one a name. */
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

/* Of a text; -1 when it is none such. One that is empty asks for nothing; a name that is there twice asks for both. */
int limits_read(const char *text, size_t len, struct limits_asked *ret, struct err *err);

/* The same as a text that limits_read reads: never longer than the one that was read. */
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

/* What a claim holds: places of limits. */
struct holdings {
    uint32_t count;
    struct {
        uint32_t limit;
        int64_t number;
    } items[LIMITS_OF_JOB_MAX];
};

void limits_init(struct limits *limits, struct engine *engine, uint64_t seed);
void limits_done(struct limits *limits);

/* Other limits hold from now on; what is in use stays. */
void limits_set(struct limits *limits, const struct shares *shares);

/* All that is in use has been told. */
void limits_learnt(struct limits *limits);

/* The gate that is closed for one who asks for that, or ENGINE_OPEN. */
uint32_t limits_closed(const struct limits *limits, const struct limits_asked *asked);

/* They are taken, whether there are any left or not; NULL when nothing is asked for. limits_give takes them back, and frees. */
struct holdings *limits_take(struct limits *limits, const struct limits_asked *asked);
void limits_give(struct limits *limits, struct holdings *holdings);

/* The limit of a gate: its name; NULL when the gate is none of those. */
const char *limits_gate(const struct limits *limits, uint32_t gate, struct limit *ret);

/* The first from a place on that is configured or in use; false when there is none. */
bool limits_next(const struct limits *limits, uint32_t from, const char **ret_name, struct limit *ret,
                 uint32_t *ret_next);

#ifdef __cplusplus
}
#endif
#endif
