/* provider_parts.h: the inside of a provider, shared by its files.
 *
 *     provider.c      the step: passes each event to the right part
 *     offers.c        the ads: written, advertised, withdrawn while the owner is there; their keys
 *     pulling.c       or else asking for requests itself, from one pool or several
 *     admission.c     matches and verifications: which claims become tenants
 *     successor.c     the second ad beside a claim, and the successor pinned behind it
 *     session.c       what a superior tells a tenant
 *     docking.c       which parties are docked at a tenant's offer, and what the ports say
 *     pins.c          what a tenant may use: evaluated once, when it is verified
 *     subordinates.c  members that have members
 *     provider_claims.c       what jobs and time do to a tenant, and what outlives a restart
 *     leavings.c      superiors that must hear that a claim is over
 *     outcomes.c      results that wait to be taken
 *
 * A tenant is a claim on an offer. It has its unit from VERIFIED on: for a window, then for a pin lease, then as long as heart beats are
 * acknowledged. It is durable from PINNED on. */
#ifndef BERTH_POOL_PROVIDER_PROVIDER_PARTS_H
#define BERTH_POOL_PROVIDER_PROVIDER_PARTS_H

#include "lang/ad/eval.h"
#include "pool/claim/crew.h"
#include "pool/protocol/advert.h"
#include "pool/protocol/timers.h"
#include "pool/provider/provider.h"

#define OFFER_KEYS 2      /* the present key, and the one before */
#define OFFER_USED_MAX 64 /* tickets that a key remembers as used; when it is full the key is renewed */
#define TENANTS_MAX 4096  /* claims of all offers */
#define MATCHED_MAX 16    /* announced matches of an offer that are remembered */
#define OUTCOMES_MAX 4096
#define UNWANTED_MAX 64 /* remembered aborts that came before the match they are about */

/* The timers of the provider. `which` is a claim, an offer's place or an outcome's key. */
enum provider_timer {
    TIMER_OFFER,   /* the ad is sent, renewed, or looked at again */
    TIMER_TENANT,  /* the claim's next end, beat or question */
    TIMER_OUTCOME, /* a result is offered again */
    TIMER_LEAVING, /* a superior is told again that the claim is over */
};

struct docked;

struct offer_key {
    struct key key;
    uint64_t used[OFFER_USED_MAX]; /* claims whose ticket a commit has used up */
    uint32_t used_count;
};

/* The ad beside a claim: whoever is matched with it comes behind that claim. */
struct second {
    struct advert advert;
    struct offer_key key; /* for that claim alone: a ticket for an earlier claim is not good */
    uint64_t claim;       /* the claim that the ad stands beside; 0: there has been none yet */
    int64_t look;         /* on the wall clock, in seconds: when the time may change the ad */
    int64_t serves;       /* when the ad is to say anew how long the claim has been there */
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

struct offer {
    struct advert advert;
    struct second second;
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
    struct text group, limits;
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
    struct tree *ad;          /* held: the superior's; the amounts that it takes of the offer are plain numbers in it */
    struct tree *grant;       /* held: those numbers for our port, if the ad has ports; or NULL */
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
    uint64_t port, link;     /* the superior's port, and our own port that docks there */
    bool serves;             /* the tenant was started and launches nothing: its unit is in use */
    int64_t started;         /* when its job was started: seconds, on the wall clock; -1: not since activation */
    bool suspended;          /* the owner wants the job to stand still for a while */
    bool running;            /* a launcher has the job, or is about to */
    bool clearing;           /* the running job is being ended, for the superior's next one */
    bool found;              /* after a restart: the launcher, or the job's end, has been seen */
    enum reason end;         /* STOPPING: why */
    uint64_t reply;          /* STOPPING: the token of the superior's release, answered at the end; 0: none */
    uint64_t stored;         /* the persist that our messages stand behind */
    int64_t beat, ask;       /* when to send the next of each */
    int64_t reported;        /* the registrar knows the usage up to then */
    bool spoken, told;       /* the registrar was told of the claim; and has answered */
    struct key nonce, proof; /* VERIFIED: our answer's */
    int64_t set;             /* the earliest timer that is set */
    int64_t heard;           /* the superior's clock, as it told us last */
    struct crew crew;        /* its own subordinates; none for most */
    enum tenant_waits waits;
    uint64_t cleared;       /* the sequence of the activation for which the crew has cleared the way */
    uint64_t owed;          /* the token to answer then */
    int64_t began, collect; /* WAITS_COMMIT */
    uint64_t behind;        /* the claim that this one follows; 0: none, or that is gone */
    bool second;            /* the claim came by the second ad */
    agent root;             /* the customer, as the matchmaker told us; 0: it is the superior, or is not known */
    struct message asked;   /* the start that waits while the customer is asked what to run; or none */
    uint64_t asked_by;      /* the token to answer then */
    bool asking;            /* that question is under way */
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
    struct {
        uint64_t claim;
        agent superior;
    } unwanted[UNWANTED_MAX]; /* a ring */
    uint32_t unwanted_at;
    struct timers timers;
    struct key challenges;   /* drawn in each life: nonces are made with it */
    uint64_t starts, stored; /* how often the role began, and the persist that says so */
    bool booted, draining;
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

/* offers.c */
void offers_init(struct provider *provider);
void offers_done(struct provider *provider);
void offers_boot(const struct provider_step *step);
void offer_probed(const struct provider_step *step, uint32_t place, struct tree *probe);
void offer_changed(const struct provider_step *step, uint32_t place); /* tenants came or went */
void offer_due(const struct provider_step *step, uint32_t place);
void offer_answer(const struct provider_step *step, uint32_t place, const struct event *event);
void offers_again(const struct provider_step *step, agent matchmaker); /* the matchmaker may have begun anew */
void offer_matched(const struct provider_step *step, uint32_t place, struct advert *advert, uint64_t incarnation,
                   uint64_t number);                               /* the advert is the offer's own, or the second */
uint32_t offer_find(const struct provider *provider, uint64_t id); /* the place; settings->count when there is none */
/* What is left of the offer when all tenants in state `from` or later have their parts, except `except` (or NULL); the
 * caller unrefs it. NULL: nothing. Successors have nothing while the claims in front are there; for a successor of the
 * claim `behind`, that claim has nothing. */
struct tree *offer_left(const struct provider *provider, const struct role_env *env, uint32_t place,
                        enum tenant_state from, const struct tenant *except, uint64_t behind);
/* The ad with one more expression, from the tree `from` (NULL: none), in its constraint. The caller unrefs it. */
struct tree *constraint_narrow(struct tree *ad, const struct tree *from, const struct expr *rule);
/* May a job with that ad start here now? The offer's `Start` says so, if it has one. Start is a part of the constraint
 * that is advertised and pulled with, and is asked before each job; it is not asked about a job that runs. */
bool offer_starts(const struct provider_step *step, uint32_t place, const struct tree *ad);
/* Is the machine not fit for jobs now? A probe says so by the text Unwell; or a job has just come to nothing. */
bool offer_ails(const struct provider *provider, uint32_t place);
void offer_fails(const struct provider_step *step, uint32_t place); /* a job came to nothing by the machine's fault */
bool offer_key_used(const struct offer *offer, uint64_t claim);
void offer_use_key(const struct provider_step *step, const struct tenant *tenant);

/* successor.c */
void second_init(struct provider *provider, uint32_t place);
/* The place of the offer that has this id, or whose second ad has it; settings->count when there is none. */
uint32_t offer_named(const struct provider *provider, uint64_t id, bool *ret_second);
void second_look(const struct provider_step *step, uint32_t place);   /* makes the ad that should be advertised anew */
int64_t second_run(const struct provider_step *step, uint32_t place); /* sends what is due; says when to look again */
/* The claim that a successor by the second ad follows now; 0: none. */
uint64_t second_claim(const struct provider *provider, uint32_t place);
/* Another tenant that is verified or pinned behind that claim, or NULL. */
const struct tenant *successor_other(const struct provider *provider, uint64_t behind, uint64_t claim);
/* Does the owner like this ad at least as well as that of the claim in front? */
bool successor_preferred(const struct provider_step *step, uint64_t behind, const struct docked *superior);
/* Is there room for the ad even when the offer's successor has its turn? */
bool successor_leaves(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                      const struct docked *superior);
/* What is left of the offer when its successor has its part as well: takes `left`. */
struct tree *successor_reserves(const struct provider_step *step, uint32_t place, struct tree *left);
void successor_evicts(const struct provider_step *step,
                      struct tenant *tenant); /* the successor is activated: the claim in front is ended */
void successor_follows(const struct provider_step *step, const struct tenant *tenant); /* the claim in front is gone */
void successors_load(const struct provider_step *step);                                /* all tenants are there */
void successors_boot(const struct provider_step *step);
bool successor_valid(const struct provider *provider, const struct tenant *tenant, const char **ret_why);

/* pulling.c */
#define POOL_CLAIMS 32 /* the parts of the pools count about that many claims */
int64_t pulling_run(const struct provider_step *step, uint32_t place); /* pulls if due; says when to look again */
void pulling_moved(const struct provider_step *step, uint32_t place);  /* the offer's text has changed */
/* The matchmaker may have begun anew. */
void pulling_again(const struct provider_step *step, uint32_t place, agent matchmaker);
void pulling_answer(const struct provider_step *step, const struct event *event);
void pulling_claimed(const struct provider_step *step, const struct tenant *tenant); /* the claim counts for its pool */
bool pulling_admits(const struct provider_step *step, const struct tenant *tenant, const struct tree *ad);
/* The pool that has that matchmaker, plus 1; 0: none. */
uint32_t pulling_pool(const struct provider *provider, agent matchmaker);
agent pulling_registrar(const struct provider *provider, const struct tenant *tenant);

/* provider_claims.c */
#define BEATS 4    /* heart beats within a lease */
#define ASK_PART 4 /* a pinned tenant asks after P / 4, and then every P / 8 */
struct tenant *tenant_find(const struct provider *provider, uint64_t claim);
struct tenant *tenant_new(const struct provider_step *step, uint64_t claim, uint32_t offer);
void tenant_drop(const struct provider_step *step, struct tenant *tenant);
void tenant_set_ad(struct tenant *tenant, struct tree *ad);
void tenant_set_receipt(struct tenant *tenant, struct tree *receipt); /* NULL leaves the present one */
void tenant_store(const struct provider_step *step, struct tenant *tenant);
void tenant_set(const struct provider_step *step, struct tenant *tenant, int64_t at); /* sets a timer */
void tenant_set_duty(struct tenant *tenant, const struct duty *duty);                 /* the ad is held anew */
/* The tenant's duty with every field filled in, to hand on to its own members; borrowed. */
struct duty tenant_duty(const struct tenant *tenant);
/* Who is charged for the claim: the owner of the job at the root. */
const struct text *tenant_charged(const struct tenant *tenant);
/* A text attribute of the job's ad; "" when it has none, or the ad is not known yet. */
void tenant_text(const struct provider_step *step, const struct tenant *tenant, const char *name, struct text *ret);
/* The claim ends for that reason: at once, or when its job is gone. A claim that was never pinned is just forgotten. */
void tenant_end(const struct provider_step *step, struct tenant *tenant, enum reason reason, int64_t grace);
void reply_claimed(const struct provider_step *step, uint64_t token, uint64_t claim, uint64_t epoch, enum reason reason,
                   uint64_t after);
void tenants_done(struct provider *provider);
void tenants_load(const struct provider_step *step, const struct record *record);
void tenants_boot(const struct provider_step *step);
void tenant_due(const struct provider_step *step, struct tenant *tenant);
void tenants_check(const struct provider_step *step, uint32_t offer); /* the offer's state changed: who may stay? */
void tenant_job(const struct provider_step *step, const struct event *event);
void tenants_spare(const struct provider_step *step, uint32_t offer); /* claims without a job go: none would come */
void tenants_drain(const struct provider_step *step, bool now); /* now: jobs are warned, and ended after the grace */

/* docking.c */
/* Does our own constraint, in our present state, accept this ad? What other tenants have is not available; for a
 * successor the claim that it follows counts as ended. tenant_accepted also asks whether room is left for the offer's
 * successor. */
bool tenant_fits(const struct provider_step *step, uint32_t place, const struct tenant *tenant, struct tree *ad);
bool tenant_accepted(const struct provider_step *step, uint32_t place, const struct tenant *tenant, struct tree *ad);
/* tenant_fits for a superior that comes with its port, behind that claim (0: none); the tenant may be NULL. */
bool tenant_docks(const struct provider_step *step, uint32_t place, const struct tenant *tenant, uint64_t behind,
                  const struct docked *superior);
/* The same when `left` is what is left of the offer (NULL: nothing). */
bool tenant_docks_at(const struct provider_step *step, const struct tenant *tenant, struct tree *left,
                     const struct docked *superior);
/* Is each of our ports filled that must be? Else anybody could come in by a port that is meant for somebody else. */
bool tenant_is_whole(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                     const struct docked *superior);
struct docked tenant_above(const struct tenant *tenant); /* the superior, as it is docked at us */
/* Is the attribute of that name in our own ad true, as seen from our link, with the superior's port and the parties
 * docked beside it? */
bool tenant_bids(const struct provider_step *step, const struct tenant *tenant, const char *name);
/* What remains of `left` when the tenant has its part; NULL: nothing. The caller unrefs it, here and below. */
struct tree *tenant_residual(const struct role_env *env, const struct tenant *tenant, struct tree *left);
/* The offer as the superior may see it. */
struct tree *tenant_shows(const struct provider_step *step, const struct tenant *tenant, struct tree *left);
/* Does the tenant launch anything itself? Not when the offer says Executes = false, nor when its superior does not want
 * it. */
bool tenant_executes(const struct provider *provider, const struct tenant *tenant);
struct crew_chief tenant_chief(const struct provider *provider, const struct tenant *tenant); /* of its own crew */

/* pins.c */
/* The ad with plain numbers for all amounts that it takes of the offer, evaluated against what is left for it: not more
 * than `pinned` says, which is the ad itself when it is new. An ad with ports stays as it is. The caller unrefs it,
 * here and below. */
struct tree *pins_fix(const struct provider_step *step, struct tree *offer, struct tree *ad, const struct tree *pinned);
/* The same for an ad with ports: an ad of these numbers alone, for our port; NULL: the ad has no ports. */
struct tree *pins_grant(const struct provider_step *step, const struct tenant *tenant);
/* The job's ad as it is launched: the job may use what was pinned for the superior's port, whatever the job says
 * itself. */
struct tree *tenant_grant(const struct provider_step *step, const struct tenant *tenant, struct tree *job);

/* admission.c */
void match_unwanted(struct provider *provider, uint64_t claim, agent superior);
void told_match(const struct provider_step *step, const struct event *event);
struct tenant *match_admit(const struct provider_step *step, uint32_t place,
                           const struct match_told *told); /* or NULL */
void told_verify(const struct provider_step *step, const struct event *event);
bool tenant_owns(const struct tenant *tenant, const struct tree *ad); /* does the ad belong to the claim's owner? */

/* session.c */
void tenant_message(const struct provider_step *step, const struct event *event);
void tenant_answer(const struct provider_step *step, struct tenant *tenant, const struct event *event);
void task_answer(const struct provider_step *step, struct tenant *tenant, const struct event *event);

/* Answers that may have waited for the crew. */
void tenant_verified(const struct provider_step *step, struct tenant *tenant, uint64_t token); /* admission.c */
void reply_verified(const struct provider_step *step, uint64_t token, const struct verified *verified);
void tenant_pin(const struct provider_step *step, struct tenant *tenant, uint64_t token); /* session.c */
void tenant_over(const struct provider_step *step, struct tenant *tenant);                /* provider_claims.c */
void tenant_report(const struct provider_step *step, struct tenant *tenant,
                   bool over); /* provider_claims.c: to the registrar */

/* subordinates.c */
void tenant_recruit(struct tenant *tenant, const struct edges *edges, const struct edges *below);
/* The crew goes on to that state; when all members have passed it, the message `owed` is answered. */
void tenant_lead(const struct provider_step *step, struct tenant *tenant, enum tenant_waits waits,
                 enum claim_member_state state, uint64_t owed);
void subordinates_verify(const struct provider_step *step, struct tenant *tenant, uint64_t token);
void subordinates_commit(const struct provider_step *step, struct tenant *tenant, int64_t collect, uint64_t token);
void subordinates_activate(const struct provider_step *step, struct tenant *tenant, uint64_t token);
bool subordinates_due(const struct provider_step *step, struct tenant *tenant); /* false: the tenant is gone */
void subordinates_ends(const struct provider_step *step, struct tenant *tenant);
void subordinates_answer(const struct provider_step *step, const struct event *event);
void subordinates_message(const struct provider_step *step, const struct event *event);
void subordinates_load(const struct provider_step *step, const struct record *record);
void subordinates_boot(const struct provider_step *step, struct tenant *tenant);

/* leavings.c */
void leaving_add(const struct provider_step *step, const struct tenant *tenant, enum reason reason, uint64_t after);
void leaving_due(const struct provider_step *step, uint64_t claim);
void leaving_answer(const struct provider_step *step, const struct event *event);

/* outcomes.c */
void outcomes_done(struct provider *provider);
void outcome_load(const struct provider_step *step, const struct record *record);
void outcomes_boot(const struct provider_step *step);
bool outcome_has(const struct provider *provider, uint64_t claim, uint64_t number);
/* Is a result of that claim kept for that agent? Then the result is offered at once, not at the end of its pause. */
bool outcome_hurry(const struct provider_step *step, uint64_t claim, agent superior);
void outcome_add(const struct provider_step *step, const struct tenant *tenant, const struct event *event);
/* The leader tells the customer its result itself: the superiors in between hear only that it has ended. */
void outcome_tell(const struct provider_step *step, const struct tenant *tenant, const struct event *event);
void outcome_due(const struct provider_step *step, uint64_t key);
void outcome_answer(const struct provider_step *step, const struct event *event);

/* Tags of the provider's own messages; adverts have their own. */
/* these are smaller than the first tag of an advert; TAG_TASK is not, but neither adverts nor members use it */
enum provider_tag {
    TAG_BEAT = CLAIM_MEMBER_TAG + 1,
    TAG_ASK,
    TAG_LEFT,
    TAG_RESULT,
    TAG_REPORT,
    TAG_PULL,
    TAG_TASK = CLAIM_MEMBER_TAGS + TAG_BEAT
};

#endif
