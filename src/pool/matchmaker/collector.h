/* collector.h: the ads of a matchmaker: whose each is, which text is the newest, how long it lives, and what is left
 * of it.
 *
 *     entry   (agent, id) -> text of the newest version, what its sender has seen, and what is left, which is in the engine
 *             ledger: its last matches, by rising number; those that the text does not name are taken off it
 *
 *     left = text - unnamed matches        checked by collector_valid
 *
 * A match is dropped from the ledger when its time is over and the text either names it, or was written so late that it never will
 * (a renewal stands for its text): then its unit comes back. Until then the match is kept even when it is named, because the sender may restart
 * and know nothing of it. `heard`, our own clock as the sender last heard it, tells when a text was written: a text may be long on
 * its way. An entry whose ad is gone is remembered, so that a text that was on
 * its way for long is known to be old, and so that its numbers go on. It is forgotten when its matches are settled and a lifetime has
 * passed.
 *
 * Workload: nearly all messages are renewals without text: each looks into a map once, and writes one time. */
#ifndef BERTH_POOL_MATCHMAKER_COLLECTOR_H
#define BERTH_POOL_MATCHMAKER_COLLECTOR_H

#include "lang/base/map.h"
#include "pool/engine/engine.h"
#include "pool/matchmaker/accountant.h"
#include "pool/matchmaker/groups.h"
#include "pool/matchmaker/limits.h"
#include "pool/matchmaker/matchmaker.h"
#include "pool/matchmaker/tally.h"
#include "pool/protocol/timers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define COLLECTOR_ADS_MAX 20000                  /* living ads of one agent; as many again may be remembered */
#define COLLECTOR_BYTES_MAX (UINT64_C(64) << 20) /* of the texts of one agent */
#define COLLECTOR_ENTRIES_MAX (1u << 24)         /* of all agents */
#define COLLECTOR_CELLS_MAX 10000                /* of an ad */
#define COLLECTOR_COUNT_MAX INT64_C(1000000000)  /* units of an ad */
#define COLLECTOR_NUMBER_MAX (UINT64_C(1) << 62) /* of a match */
#define COLLECTOR_TIMERS_MAX 16 /* timers of one entry that wait: it has one, unless its lifetime shrinks */
#define COLLECTOR_LIFETIME_MIN SECOND
#define COLLECTOR_LIFETIME_MAX (24 * 60 * MINUTE)

/* A match that may be under way: told of, or being claimed. */
struct outstanding {
    uint64_t number;
    bool named;               /* the present text names the match, and takes it into account */
    int64_t settles;          /* a text written later than this that does not name the match never will */
    struct tree *counterpart; /* of an offer: the ad its residual is made with; held. NULL: the match takes a unit */
};

enum entry_state {
    ENTRY_FREE, /* there is no entry of that number */
    ENTRY_LIVE,
    ENTRY_EXPIRED,   /* the same text may come again */
    ENTRY_WITHDRAWN, /* only a newer text may come */
};

struct entry {
    uint64_t agent;
    uint64_t id, version;
    enum entry_state state;
    bool request;
    struct seen seen;
    struct key key;
    struct tree *ad;   /* its text, with the attributes that the matchmaker adds; held. NULL unless it lives */
    struct tree *left; /* what is left, as it is in the engine; held. NULL when nothing is */
    bool dressed;      /* another ad stands for it in the engine */
    int64_t advertised, free;
    int64_t lifetime, expires;
    int64_t forget; /* when the entry is forgotten */
    int64_t timer;  /* the earliest timer set for it; INT64_MAX: none */
    uint32_t timers;
    uint64_t order;
    struct engine_turn turn; /* of a request, among those of its user */
    uint32_t user;
    uint32_t remote; /* the user whose job the offer runs; held, as `user` is; or ACCOUNTANT_NOBODY */
    int64_t weight;  /* of what is left of an offer, as of the last weighing */
    bool unweighed;  /* it is in the list of entries to be weighed */
    uint32_t next;   /* the next entry at the same place in the map; of a free one: the next free one */
    uint64_t numbered;
    uint32_t unnamed; /* how many in the ledger the text does not name */
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
    COLLECTOR_PRIORITY,
    COLLECTOR_JOB_PRIO,
    COLLECTOR_SUBMITTED,
    COLLECTOR_FIRST_JOB,
    COLLECTOR_USER_PRIO,
    COLLECTOR_REMOTE_USER_PRIO,
    COLLECTOR_PLANNED,
    COLLECTOR_USAGE,
    COLLECTOR_NAME,
    COLLECTOR_CPUS,
    COLLECTOR_GPUS,
    COLLECTOR_REQUEST_CPUS,
    COLLECTOR_REQUEST_GPUS,
    COLLECTOR_BENCHMARK,
    COLLECTOR_RESIDUAL,
    COLLECTOR_TYPE,
    COLLECTOR_NAMES
};

struct collector;

/* What stands in the engine in place of what is left of a living ad, for the caller to unref; NULL: that itself does. */
typedef struct tree *collector_dress_fn(void *user, uint32_t entry);

struct collector {
    const struct spans *spans;
    struct symbols *symbols;
    struct engine *engine;         /* an entry's number is its ad's number there */
    struct timers *timers;         /* `what` is timer_what, `which` the entry's number */
    struct accountant *accountant; /* owners are users of this one */
    const struct groups *groups;   /* give accounts their names; set once */
    collector_dress_fn *dress;     /* set once; or NULL */
    void *dresser;
    uint32_t timer_what;
    uint32_t ads_max;
    uint64_t incarnation;
    uint64_t arrivals;
    symbol names[COLLECTOR_NAMES];
    struct map places; /* mixed agent and id -> the first entry there */
    struct map agents; /* agent -> count of its entries << 32 | those that live */
    struct map bytes;  /* agent -> the size of its texts */
    struct entry *entries;
    uint32_t count, room, free;
    uint32_t live;       /* entries */
    int64_t weight;      /* of what is left of the offers, except those still to be weighed */
    uint32_t *unweighed; /* entries */
    uint32_t unweighed_count, unweighed_room;
};

/* `seed` is a secret. */
struct collector_settings { /* all pointers are borrowed, and outlive the collector */
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

/* Takes a text or a renewal; gives the answer. A refused one changes nothing. */
void collector_advertise(struct collector *collector, const struct role_env *env, const struct peer *peer,
                         const struct advertise *advertise, struct advertised *ret);
enum reason collector_withdraw(struct collector *collector, const struct role_env *env, const struct peer *peer,
                               const struct withdraw *withdraw);

/* A timer of that entry is due. */
void collector_due(struct collector *collector, const struct role_env *env, uint32_t entry, int64_t at);

/* Does the ad live, now? */
bool collector_lives(const struct collector *collector, int64_t now, uint32_t entry);

/* The engine has made a match of the ad, with that counterpart of an offer (NULL for a root): returns the match's
 * number. */
uint64_t collector_match(struct collector *collector, const struct role_env *env, uint32_t entry,
                         struct tree *counterpart);

/* The engine has made a match that must not be: the ad goes back as it was. Or what stands for it there (`dress`) is another. */
void collector_restore(struct collector *collector, uint32_t entry);

/* What is left of all offers, by weight. */
int64_t collector_weigh(struct collector *collector, const struct role_env *env);

/* Groups have changed: finds the account that each ad is charged to anew. */
void collector_regroup(struct collector *collector, const struct role_env *env);

/* A text attribute of the ad, as for its group and limits; "" where it has none. An ad whose attribute is not a text
 * was refused. */
void collector_says(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                    enum collector_name name, struct text *ret);

/* The limits that a root asks for; false when it asks for none. And the weight of a unit of an offer. */
bool collector_asks(const struct collector *collector, const struct role_env *env, const struct tree *ad,
                    struct limits_asked *ret);
int64_t collector_weight(const struct collector *collector, const struct role_env *env, const struct tree *offer,
                         const struct tree *root);

/* collector_unit.c: what a match gives away. */
struct collector_match_ads {
    const struct tree *offer; /* as it was matched */
    const struct tree *root;
    const struct tree *left; /* of the offer, if it is known: NULL: nothing */
    bool known;
    const struct tree *whole; /* with nothing given away, if that is known; or NULL */
};
void collector_unit(const struct collector *collector, const struct role_env *env,
                    const struct collector_match_ads *ads, struct tally_unit *ret);

/* The owner that the ad names. */
void collector_owner(const struct collector *collector, const struct tree *ad, struct text *ret);

void entry_view(const struct entry *entry, struct entry_view *ret);

bool collector_valid(const struct collector *collector, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
