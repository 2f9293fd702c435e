/* collector.h: the ads of a matchmaker: whose they are, which text is the newest, how long it lives, and what is left
 * of it.
 *
 *     entry   (agent, id) -> text of the newest version, what its sender has seen, what is left: that is in the engine
 *             ledger: its last matches, by rising number; those that the text does not name are taken off it
 *
 *     left = text - unnamed matches        checked by collector_valid
 *
 * A match is dropped from the ledger when its time is over and the text names it, or was written too late to name it ever
 * (a renewal stands for its text): then its unit comes back. Until then it is kept also when it is named, for its sender may restart
 * and know nothing of it. When a text was written is told by `heard`, our own clock as the sender last heard it: a text may be long on
 * its way. An entry whose ad is gone is remembered, so that a text that was on
 * its way for long is known to be old, and so that its numbers go on: until its matches are settled and a lifetime has
 * passed.
 *
 * Workload: nearly all that comes are renewals without text: one look into a map, and one time is written. */
#ifndef BERTH_POOL_MATCHMAKER_COLLECTOR_H
#define BERTH_POOL_MATCHMAKER_COLLECTOR_H

#include "lang/base/map.h"
#include "pool/engine/engine.h"
#include "pool/matchmaker/accountant.h"
#include "pool/matchmaker/groups.h"
#include "pool/matchmaker/limits.h"
#include "pool/matchmaker/matchmaker.h"
#include "pool/protocol/timers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define COLLECTOR_ADS_MAX 20000                  /* of one agent; as many again may be remembered */
#define COLLECTOR_BYTES_MAX (UINT64_C(64) << 20) /* of the texts of one agent */
#define COLLECTOR_ENTRIES_MAX (1u << 24)         /* of all agents */
#define COLLECTOR_CELLS_MAX 10000                /* of an ad */
#define COLLECTOR_COUNT_MAX INT64_C(1000000000)  /* units of an ad */
#define COLLECTOR_NUMBER_MAX (UINT64_C(1) << 62) /* of a match */
#define COLLECTOR_TIMERS_MAX 16 /* times of one entry that wait: it has one, unless its lifetime shrinks */
#define COLLECTOR_LIFETIME_MIN SECOND
#define COLLECTOR_LIFETIME_MAX (24 * 60 * MINUTE)

/* A match that may be under way: told of, or being claimed. */
struct outstanding {
    uint64_t number;
    bool named;               /* by the present text: then that takes it into account */
    int64_t settles;          /* a text written later that does not name it never will */
    struct tree *counterpart; /* of an offer: by which its residual is made; held. NULL: it takes a unit */
};

enum entry_state {
    ENTRY_FREE, /* there is none of that number */
    ENTRY_LIVE,
    ENTRY_EXPIRED,   /* its text may come again */
    ENTRY_WITHDRAWN, /* only a newer one */
};

struct entry {
    uint64_t agent;
    uint64_t id, version;
    enum entry_state state;
    bool request;
    struct seen seen;
    struct key key;
    struct tree *ad;   /* its text, with what the server writes; held. NULL unless it lives */
    struct tree *left; /* as it is in the engine; held. NULL when nothing is left */
    int64_t advertised, free;
    int64_t lifetime, expires;
    int64_t forget; /* when it is no longer remembered */
    int64_t timer;  /* the time that waits for it; INT64_MAX: none */
    uint32_t timers;
    uint64_t order;
    uint32_t user;
    uint32_t remote; /* held, as the user is; or ACCOUNTANT_NOBODY */
    int64_t weight;  /* of what is left of an offer, when it was last weighed */
    bool unweighed;  /* it is among those that are to be weighed */
    uint32_t next;   /* of the same place in the map; or the next free one */
    uint64_t numbered;
    uint32_t unnamed; /* of the ledger */
    struct outstanding *ledger;
    uint32_t ledger_count, ledger_room;
};

enum collector_name {
    COLLECTOR_OWNER,
    COLLECTOR_IDENTITY,
    COLLECTOR_RECEIVED,
    COLLECTOR_LIFETIME,
    COLLECTOR_REMOTE_USER,
    COLLECTOR_WEIGHT,
    COLLECTOR_GROUP,
    COLLECTOR_LIMITS,
    COLLECTOR_REMOTE_GROUP,
    COLLECTOR_USER_PRIO,
    COLLECTOR_REMOTE_USER_PRIO,
    COLLECTOR_USAGE,
    COLLECTOR_NAMES
};

struct collector {
    const struct spans *spans;
    struct symbols *symbols;
    struct engine *engine;         /* an entry's number is that of its ad there */
    struct timers *timers;         /* `what` is what was handed to collector_init, `which` the entry's number */
    struct accountant *accountant; /* whose users the owners are */
    const struct groups *groups;   /* by which they are called; set once */
    uint32_t timer_what;
    uint32_t ads_max;
    uint64_t incarnation;
    uint64_t arrivals;
    symbol names[COLLECTOR_NAMES];
    struct map places; /* mixed agent and id -> the first entry there */
    struct map agents; /* agent -> its entries << 32 | those that live */
    struct map bytes;  /* agent -> the size of its texts */
    struct entry *entries;
    uint32_t count, room, free;
    uint32_t live;       /* entries */
    int64_t weight;      /* of what is left of the offers, but for those that are to be weighed: */
    uint32_t *unweighed; /* entries */
    uint32_t unweighed_count, unweighed_room;
};

/* Engine, timers and accountant are borrowed. `seed` is a secret. */
struct collector_settings { /* all that is named outlives the collector */
    const struct spans *spans;
    struct symbols *symbols;
    struct engine *engine;
    struct timers *timers;
    uint32_t timer_what; /* of its timers */
    struct accountant *accountant;
    uint32_t ads_max; /* 0: COLLECTOR_ADS_MAX */
    uint64_t incarnation, seed;
};

void collector_init(struct collector *collector, const struct collector_settings *settings);
void collector_done(struct collector *collector);

/* A text or a renewal, and its answer. What is refused changes nothing. */
void collector_advertise(struct collector *collector, const struct role_env *env, const struct peer *peer,
                         const struct advertise *advertise, struct advertised *ret);
enum reason collector_withdraw(struct collector *collector, const struct role_env *env, const struct peer *peer,
                               const struct withdraw *withdraw);

/* A timer of that entry is due. */
void collector_due(struct collector *collector, const struct role_env *env, uint32_t entry, int64_t at);

/* Does the ad live, now? */
bool collector_lives(const struct collector *collector, int64_t now, uint32_t entry);

/* The engine has made a match of the ad, with that offer's counterpart (NULL for a root): its number. */
uint64_t collector_match(struct collector *collector, int64_t now, uint32_t entry, struct tree *counterpart);

/* The engine has made a match that shall not be: the ad goes back as it was. */
void collector_restore(struct collector *collector, uint32_t entry);

/* What is left of all offers, by weight. */
int64_t collector_weigh(struct collector *collector, const struct role_env *env);

/* Groups have changed: whose account an ad is charged to is found anew. */
void collector_regroup(struct collector *collector, const struct role_env *env);

/* What the root says of groups and limits; "" where it says nothing. What is no text was refused. */
void collector_says(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                    enum collector_name name, struct text *ret);

/* The limits that a root asks for; false when that is none. And what a unit of an offer counts for. */
bool collector_asks(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                    struct limits_asked *ret);
int64_t collector_weight(const struct collector *collector, const struct role_env *env, const struct tree *offer,
                         const struct tree *root);

/* The owner that the ad says. */
void collector_owner(const struct collector *collector, const struct tree *ad, struct text *ret);

void entry_view(const struct entry *entry, struct entry_view *ret);

bool collector_valid(const struct collector *collector, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
