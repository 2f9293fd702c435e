/* provider_state.h: the state of a provider, which its files share; private to them. What one of them does for the others is in the header of its name.
 *
 *     provider.c      the step: passes each event to the right part
 *     offers.c        the ads: written, advertised, withdrawn while the owner is there; their keys
 *     stands.c        how the machine behind each offer stands, told whether or not anything of it is offered
 *     pulling.c       or else asking for requests itself, from one pool or several
 *     admission.c     matches and verifications: which claims become tenants
 *     seconds.c       the second ads beside claims, for those who would have their place
 *     successor.c     the successor pinned behind claims, and which of them go for it
 *     session.c       what a superior tells a tenant
 *     docking.c       which parties are docked at a tenant's offer, and what the ports say
 *     calendar.c      bookings: machines that are kept for some users for a while
 *     pins.c          what a tenant may use: evaluated once, when it is verified
 *     subordinates.c  members that have members
 *     provider_claims.c       what jobs and time do to a tenant, and what outlives a restart
 *     leavings.c      superiors that must hear that a claim is over
 *     outcomes.c      results that wait to be taken
 *     partings.c      last reports that the matchmaker has not taken yet
 *
 * A tenant is a claim on an offer. It has its unit from VERIFIED on: for a window, then for a pin lease, then as long as heart beats are
 * acknowledged. It is durable from PINNED on. */
#ifndef BERTH_POOL_PROVIDER_PROVIDER_STATE_H
#define BERTH_POOL_PROVIDER_PROVIDER_STATE_H

#include "lang/ad/eval.h"
#include "pool/claim/crew.h"
#include "pool/protocol/advert.h"
#include "pool/protocol/machine_state.h"
#include "pool/protocol/timers.h"
#include "pool/provider/provider.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OFFER_KEYS 2      /* the present key, and the one before */
#define OFFER_USED_MAX 64 /* tickets that a key remembers as used; when it is full the key is renewed */
#define TENANTS_MAX 4096  /* claims of all offers */
#define MATCHED_MAX 16    /* announced matches of an offer that are remembered */
#define OUTCOMES_MAX 4096
#define BOOKINGS_MAX 64      /* of all offers */
#define BOOKING_USERS_MAX 16 /* that one names */
#define UNWANTED_MAX 64      /* remembered aborts that came before the match they are about */

/* The timers of the provider. `which` is a claim, an offer's place or an outcome's key. */
enum provider_timer {
    TIMER_OFFER,    /* the ad is sent, renewed, or looked at again */
    TIMER_TENANT,   /* the claim's next end, beat or question */
    TIMER_OUTCOME,  /* a result is offered again */
    TIMER_LEAVING,  /* a superior is told again that the claim is over */
    TIMER_PARTING,  /* a last report is sent, or sent again */
    TIMER_CALENDAR, /* a booking begins, ends, or changes what may begin before it */
};

struct docked;

struct offer_key {
    struct key key;
    uint64_t used[OFFER_USED_MAX]; /* claims whose ticket a commit has used up */
    uint32_t used_count;
};

#define SECONDS_MAX 6 /* ads beside the claims of an offer */

/* An ad beside claims: whoever is matched with it comes behind as many of them as it needs. */
struct second {
    struct advert advert;
    struct offer_key key; /* for these claims and fewer: a ticket for others is not good */
    struct fronts claims; /* those that it stands beside, or stood beside last */
    int64_t look;         /* on the wall clock, in seconds: when the time may change the ad */
    int64_t serves;       /* when the ad is to say anew how long the claims have been there */
};

/* An offer that pulls: one pull at a time. */
struct pulling {
    uint64_t number;                 /* of the last pull */
    uint32_t asked;                  /* the pool that the last pull went to, plus 1; 0: it has been answered */
    bool flying;                     /* the pull is on its way; else it is sent again when that pool is due */
    int64_t due[PROVIDER_POOLS_MAX]; /* each pool is not asked before then */
    int64_t pause;                   /* the present pause between repeats */
    int64_t repeat_until;            /* then a new pull is made */
};

/* What one matchmaker has been told of how a machine stands. */
struct stands_road {
    uint64_t told, base; /* the version that it knows, and the version of the whole ad that it has; 0: none */
    uint64_t carried, carried_base; /* those under way */
    bool flying;                    /* a message is under way */
    bool uneasy;                    /* the last message said something else than that the machine is idle */
    bool bare, whole;               /* the last message was without the ad; the next must not leave it to the offer */
    bool owed;           /* it may know something else of an earlier time: it is told even that the machine is idle */
    int64_t sent;        /* when it was told last; INT64_MIN: it is to be told at once */
    int64_t again;       /* when it is told again what it knows */
    int64_t latest;      /* no later than this, even if it hears of the machine's claims */
    int64_t held, pause; /* it is told nothing before then; the present pause between repeats */
};

/* How the machine behind an offer stands, as its provider sees it. */
struct machine {
    enum machine_state state;
    int64_t since;             /* when that state began */
    int64_t until;             /* OWNER: until when, on the wall clock in seconds; or OWNER_NEVER ... */
    bool sure;                 /* ... and whether it surely ends then */
    uint64_t claims, ends;     /* hashes of what is in use, and of when that must end */
    uint64_t words;            /* SICK: a hash of what ails it; else 0 */
    uint64_t version, urgent;  /* of all this; rises with each change. And the last that is to be told soon */
    uint64_t hurried;          /* ... and as soon as that can be */
    struct tree *ad;           /* held: the whole as it is told; NULL: not told yet */
    uint64_t base;             /* the version in which that was first told */
    int64_t taken, lifetime;   /* when it was taken up; what is told holds for so long */
    bool moved;                /* it was probed since then */
    struct stands_road *roads; /* one for each matchmaker */
};

struct offer {
    struct advert advert;
    struct machine machine;
    struct second seconds[SECONDS_MAX];
    struct pulling pulling;
    struct tree *base, *probe; /* the settings' ad (not held), and the probed state (held, or NULL) */
    struct tree *whole;        /* held: both together, with nothing given away */
    struct offer_key keys[OFFER_KEYS];
    int64_t key_until;
    bool closed;    /* the owner state: nobody can be accepted */
    int64_t look;   /* on the wall clock, in seconds: when the time may change that */
    int64_t looked; /* on the wall clock: when that was found out; a clock that shows less was set back */
    bool faulty;    /* a job came to nothing by a fault of the machine; holds until the next probe */
    bool dirty;     /* the ad that should be advertised has to be made anew */
    int64_t sure;   /* from then on, or once probed, the provider knows its own state well enough to veto */
    int64_t set;    /* the earliest timer that is set */
};

/* A superior's message whose answer waits for the tenant's own crew. */
enum tenant_waits { WAITS_NOTHING, WAITS_VERIFY, WAITS_COMMIT, WAITS_ACTIVATE };

/* What was computed from a tenant's ads and an offer's, none of which reads the time: it holds as long as they are the same. */
struct tenant_memo {
    struct tree *whole; /* held: the offer's */
    uint64_t fits;      /* the tenant fits while the offer's tenants have this hash; 0: not known */
    bool says, blind;   /* `says`: the following is known; `blind`: it was asked when the job's ad was not known */
    int64_t weight;
    struct text group, limits, trace;
};

/* What a tenant has used, all together, since the provider began or since the claim did: how long it was active, and what its jobs took that have ended. */
struct tenant_spent {
    int64_t wall, cpu, memory, taken, brought, jobs;
};

struct tenant {
    uint64_t claim, gang;
    uint32_t offer; /* the offer's place */
    agent superior;
    enum tenant_state state;
    uint32_t pool; /* the pool it came from, plus 1; 0: not known, or the provider does not pull */
    uint64_t epoch, sequence;
    struct text owner;
    struct text root_owner;   /* the owner of the job at the root; empty: the superior is the root */
    bool shut;                /* its user is disabled: no further job begins in it */
    struct tree *ad;          /* held: the superior's; the amounts that it takes of the offer are plain numbers in it */
    struct tree *grant;       /* held: those numbers for our port, if the ad has ports; or NULL */
    struct tree *gpus;        /* held: [ AssignedGpus ], the GPUs that it has (gpus.h); NULL: none */
    struct tree *receipt;     /* held: the matchmaker's, or the one that the superior handed us; or NULL */
    struct tenant_memo *memo; /* computed from its ads as they are; or NULL */
    uint64_t turns;           /* how often its ad has changed */
    struct duty duty;         /* what the tenant was started with; its ad is held */
    int64_t until;            /* MATCHED, VERIFIED: when the tenant is forgotten */
    int64_t since;            /* PINNED: from when the pin lease and the first lease count */
    int64_t lease;            /* CLAIMED: when the claim is over */
    int64_t active;           /* since when it is CLAIMED */
    uint64_t boot;            /* the machine's boot in which it was pinned: in another boot it holds no more */
    uint64_t number, job;
    uint64_t port, link; /* the superior's port, and our own port that docks there */
    bool serves;         /* the tenant was started and launches nothing: its unit is in use */
    int64_t started;     /* when its job was started: seconds, on the wall clock; -1: not since activation */
    int64_t begun;       /* the same on the clock that does not jump; 0: not known */
    bool suspended;      /* the owner wants the job to stand still for a while */
    bool running;        /* a launcher has the job, or is about to */
    bool clearing;       /* the running job is being ended, for the superior's next one */
    bool found;          /* after a restart: the launcher, or the job's end, has been seen */
    enum reason end;     /* STOPPING: why */
    uint64_t reply;      /* STOPPING: the token of the superior's release, answered at the end; 0: none */
    uint64_t stored;     /* the persist that our messages stand behind */
    int64_t beat, ask;   /* when to send the next of each */
    int64_t reported;    /* the registrar knows the usage up to then */
    struct tenant_spent spent;
    bool spoken, told;       /* the registrar was told of the claim; and has answered */
    struct key nonce, proof; /* VERIFIED: our answer's */
    int64_t set;             /* the earliest timer that is set */
    int64_t heard;           /* the superior's clock, as it told us last */
    struct crew crew;        /* its own subordinates; none for most */
    enum tenant_waits waits;
    uint64_t cleared;       /* the sequence of the activation for which the crew has cleared the way */
    uint64_t owed;          /* the token to answer then */
    int64_t began, collect; /* WAITS_COMMIT */
    struct fronts behind;   /* the claims that this one follows; none: it follows nobody, or they are gone */
    uint32_t second;        /* the second ad that the claim came by, from 1 on; 0: by the first ad */
    agent root;             /* the customer, as the matchmaker told us; 0: it is the superior, or is not known */
    struct message asked;   /* the start that waits while the customer is asked what to run; or none */
    uint64_t asked_by;      /* the token to answer then */
    uint64_t asking;        /* the number of the start that the question under way is about; 0: none is */
};

/* A claim that is over, whose superior has not confirmed that it knows. */
struct leaving {
    uint64_t claim, epoch, after;
    agent superior;
    enum reason reason;
    int64_t due, pause, until;
};

struct outcome {
    uint64_t key; /* of its record */
    struct outcome_record record;
    uint64_t stored;
    bool flying;
    int64_t due, pause, until;
};

/* The last report of a claim that is over. */
struct parting {
    uint64_t claim;
    struct parting_record row; /* its receipt is held */
    uint64_t stored;
    bool flying;
    bool waits; /* it is due, and others are under way */
    uint32_t tries;
    int64_t due, pause, until;
};

/* A machine that is kept for some users; times are seconds since 1970, UTC (calendar.h). */
struct booking {
    uint64_t id;
    uint32_t place; /* of the offer */
    int64_t from, until;
    int64_t held;    /* it is given back then unless it is confirmed before; 0: it was */
    int64_t arrive;  /* nobody came: it is given back so many seconds after it began; 0: never */
    bool came;       /* somebody did */
    int64_t span;    /* of each time, where it comes again (calendar_rule.h); else 0 */
    uint64_t missed; /* times in a row at which nobody came */
    struct tree *ad; /* held: as it was ordered, with the present times */
};

struct calendar {
    struct booking *items;
    uint32_t count, room;
    int64_t ahead;       /* its time less the clock that does not jump */
    bool known;          /* ... in this boot, by a row */
    bool guessed;        /* ... by the machine's own clock, until somebody says what time it is */
    int64_t stamp;       /* the latest second that a row knows of */
    int64_t set;         /* the timer that is set */
    const char *refused; /* why the last order was refused; NULL: it was not */
};

struct provider {
    const struct provider_settings *settings;
    const struct spans *spans;
    struct offer *offers;
    struct tenant **tenants;
    uint32_t tenant_count, tenant_room;
    struct leaving *leavings;
    uint32_t leaving_count, leaving_room;
    struct outcome *outcomes;
    uint32_t outcome_count, outcome_room;
    struct parting *partings;
    uint32_t parting_count, parting_room, partings_flying;
    struct {
        uint64_t claim;
        agent superior;
    } unwanted[UNWANTED_MAX]; /* a ring */
    uint32_t unwanted_at;
    struct calendar calendar;
    struct timers timers;
    struct key challenges;   /* drawn in each life: nonces are made with it */
    uint64_t starts, stored; /* how often the role began, and the persist that says so */
    bool booted, draining;
    bool gone;                        /* it leaves for good, and has told so */
    double parts[PROVIDER_POOLS_MAX]; /* each pool's part of the last claims */
    int64_t woken;                    /* the wake-up that is set */
};

/* What a step works with. */
struct provider_step {
    struct provider *provider;
    const struct role_env *env;
    struct effects *effects;
};

/* The environment in which the provider evaluates its own policy. */
struct env provider_env(const struct role_env *env);

/* Tags of the provider's own messages; adverts have their own. */
/* these are smaller than the first tag of an advert; the last three are not, but neither adverts nor members use them */
enum provider_tag {
    TAG_BEAT = CLAIM_MEMBER_TAG + 1,
    TAG_ASK,
    TAG_LEFT,
    TAG_RESULT,
    TAG_REPORT,
    TAG_PULL,
    TAG_TASK = CLAIM_MEMBER_TAGS + TAG_BEAT,
    TAG_STANDS,
    TAG_PARTING
};

#ifdef __cplusplus
}
#endif
#endif
