/* provider_parts.h: the inside of a provider, shared by its files.
 *
 *     provider.c      the step: what came is handed to the right part
 *     offers.c        the ads: written, advertised, withdrawn while the owner is there; their keys
 *     pulling.c       or else it asks for requests itself, of one pool or several
 *     admission.c     matches and verifications: who becomes a tenant
 *     successor.c     the second ad beside a claim, and who is pinned behind it
 *     session.c       what a superior says to a tenant
 *     docking.c       who is docked at its offer, and what the ports say
 *     pins.c          what it may use: evaluated once, when it is verified
 *     subordinates.c  members that have members
 *     provider_claims.c       what jobs and time do to it, and what outlives a restart
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

#define OFFER_KEYS 2      /* the present one, and the one before */
#define OFFER_USED_MAX 64 /* tickets that a key remembers as used; then it is renewed */
#define TENANTS_MAX 4096  /* claims of all offers */
#define MATCHED_MAX 16    /* announced matches of an offer that are remembered */
#define OUTCOMES_MAX 4096
#define UNWANTED_MAX 64 /* aborts that came before the match they are about, and are remembered */

/* What is due: timers of the provider. `which` is a claim, an offer's place or an outcome's key. */
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
    struct offer_key key; /* for that claim alone: a ticket for one that was there before is not good */
    uint64_t claim;       /* 0: there has been none yet */
    int64_t look;         /* on the wall clock, in seconds: the time may change what it says then */
    int64_t serves;       /* when the time that the claim has had is told anew */
};

/* An offer that pulls: one question at a time. */
struct pulling {
    uint64_t number;                 /* of the last pull */
    uint32_t asked;                  /* plus 1: the pool that it went to; 0: it has been answered */
    bool flying;                     /* it is on its way; else it is sent again when that pool is due */
    int64_t due[PROVIDER_POOLS_MAX]; /* not to be asked before */
    int64_t pause;                   /* the present one between repeats */
    int64_t repeat_until;            /* then another pull is made */
};

struct offer {
    struct advert advert;
    struct second second;
    struct pulling pulling;
    struct tree *base, *probe; /* the settings' ad (not held), and what lies above (held, or NULL) */
    struct tree *whole;        /* held: both, with nothing given away */
    struct offer_key keys[OFFER_KEYS];
    int64_t key_until;
    bool closed;    /* the owner state: nobody can be accepted */
    int64_t look;   /* on the wall clock, in seconds: the time may change that then */
    int64_t looked; /* on the wall clock: that was made out; a clock that shows less was set back */
    bool faulty;    /* a job came to nothing by a fault of the machine; until a probe says that it is well */
    bool dirty;     /* what should be advertised has to be made out anew */
    int64_t sure;   /* from then on, or once it has been probed, it knows its own state well enough to veto */
    int64_t set;    /* the earliest timer that is set */
};

/* What a superior has asked for, that waits for the tenant's own crew. */
enum tenant_waits { WAITS_NOTHING, WAITS_VERIFY, WAITS_COMMIT, WAITS_ACTIVATE };

/* What was made out of a tenant's ads and an offer's, none of which reads the time: it holds as long as they are the same. */
struct tenant_memo {
    struct tree *whole; /* held: the offer's */
    uint64_t fits;    /* it was found to fit while the offer's tenants were these, as a hash; 0: that is to be asked */
    bool says, blind; /* the following is known; and was asked when the job's ad was not */
    int64_t weight;
    struct text group, limits;
};

struct tenant {
    uint64_t claim, gang;
    uint32_t offer; /* its place */
    agent superior;
    enum tenant_state state;
    uint32_t pool; /* plus 1: from which it came; 0: that is not known, or it does not pull */
    uint64_t epoch, sequence;
    struct text owner;
    struct text root_owner;   /* whose job it is at the root; empty: the superior is the root */
    struct tree *ad;          /* held: the superior's; what it takes of the offer stands there as plain numbers */
    struct tree *grant;       /* held: those of our port, of an ad with ports; or NULL */
    struct tree *receipt;     /* held: the matchmaker's, or what the superior handed us as that; or NULL */
    struct tenant_memo *memo; /* of its ads as they are; or NULL */
    uint64_t turns;           /* how often its ad was another one */
    struct duty duty;         /* what it was started with; its ad is held */
    int64_t until;            /* MATCHED, VERIFIED: then it is forgotten */
    int64_t since;            /* PINNED: from when the pin lease and the first lease count */
    int64_t lease;            /* CLAIMED: then it is over */
    int64_t active;           /* CLAIMED since */
    uint64_t boot;            /* of the machine, in which it was pinned: nothing of it holds in another */
    uint64_t number, job;
    uint64_t port, link;     /* the superior's port, and our own that docks there */
    bool serves;             /* it was started, and launches nothing: its unit is in use */
    int64_t started;         /* when its job was: seconds, on the wall clock; -1: not since it was activated */
    bool suspended;          /* the owner would have it stand still for a while */
    bool running;            /* a launcher has the job, or is about to */
    bool clearing;           /* the job that runs is being ended for the superior's next one */
    bool found;              /* after a restart: the launcher, or the job's end, has been seen */
    enum reason end;         /* STOPPING: why */
    uint64_t reply;          /* STOPPING: a superior waits to hear that it is released; 0: none does */
    uint64_t stored;         /* the persist that what we say stands behind */
    int64_t beat, ask;       /* when to send the next of each */
    int64_t reported;        /* usage told to the registrar up to then */
    bool spoken, told;       /* the registrar was told of it; and has answered */
    struct key nonce, proof; /* VERIFIED: what was proved, and answered */
    int64_t set;             /* the earliest timer that is set */
    int64_t heard;           /* the superior's clock, as it last told */
    struct crew crew;        /* its own subordinates; none for most */
    enum tenant_waits waits;
    uint64_t cleared;       /* the activation, by its sequence, for which they have cleared the way */
    uint64_t owed;          /* whom to answer then */
    int64_t began, collect; /* WAITS_COMMIT */
    uint64_t behind;        /* the claim that it follows; 0: none, or that is gone */
    bool second;            /* it came by the second ad */
    agent root;             /* the customer, as the matchmaker has told; 0: it is the superior, or is not known */
    struct message asked;   /* the start for which the customer is being asked what to run; or none */
    uint64_t asked_by;      /* whom to answer then */
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
    struct key challenges;   /* of this life: nonces are made with it */
    uint64_t starts, stored; /* how often it began, and the persist that says so */
    bool booted, draining;
    double parts[PROVIDER_POOLS_MAX]; /* of the last claims, by pool */
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
void offers_again(const struct provider_step *step, agent matchmaker); /* it may have begun anew */
void offer_matched(const struct provider_step *step, uint32_t place, struct advert *advert, uint64_t incarnation,
                   uint64_t number);                               /* the advert is the offer's own, or the second */
uint32_t offer_find(const struct provider *provider, uint64_t id); /* its place; settings->count when there is none */
/* What is left when all tenants from `from` on have theirs, but for `except` (or NULL): the caller unrefs it. NULL: nothing. Successors
 * have nothing while those in front are there; for one that comes behind the claim `behind` that claim has nothing. */
struct tree *offer_left(const struct provider *provider, const struct role_env *env, uint32_t place,
                        enum tenant_state from, const struct tenant *except, uint64_t behind);
/* The ad with one more expression, of that tree (NULL: none), in its constraint. The caller unrefs it. */
struct tree *constraint_narrow(struct tree *ad, const struct tree *from, const struct expr *rule);
/* May that one's job start here now? So says the offer's `Start`, if it has one. It is a part of the constraint that is advertised and pulled
 * with, and asked before each job; of a job that runs it is not. */
bool offer_starts(const struct provider_step *step, uint32_t place, const struct tree *ad);
/* Is the machine not fit for jobs now? A probe says so by the text Unwell; or one has just come to nothing. */
bool offer_ails(const struct provider *provider, uint32_t place);
void offer_fails(const struct provider_step *step, uint32_t place); /* a job came to nothing by its fault */
bool offer_key_used(const struct offer *offer, uint64_t claim);
void offer_use_key(const struct provider_step *step, const struct tenant *tenant);

/* successor.c */
void second_init(struct provider *provider, uint32_t place);
/* The place of the offer that has this id, or whose second ad has it; settings->count when there is none. */
uint32_t offer_named(const struct provider *provider, uint64_t id, bool *ret_second);
void second_look(const struct provider_step *step, uint32_t place);   /* what should be advertised is made out anew */
int64_t second_run(const struct provider_step *step, uint32_t place); /* sends what is due; when to look again */
/* Whom does one follow that comes by the second ad now? 0: nobody. */
uint64_t second_claim(const struct provider *provider, uint32_t place);
/* Another that is verified or pinned behind that claim, or NULL. */
const struct tenant *successor_other(const struct provider *provider, uint64_t behind, uint64_t claim);
/* Does the owner like this ad as well as that of the claim in front? */
bool successor_preferred(const struct provider_step *step, uint64_t behind, const struct docked *superior);
/* Is there room for the ad, also when the offer's successor has come to its turn? */
bool successor_leaves(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                      const struct docked *superior);
/* What is left when the offer's successor has its part as well: takes `left`. */
struct tree *successor_reserves(const struct provider_step *step, uint32_t place, struct tree *left);
void successor_evicts(const struct provider_step *step,
                      struct tenant *tenant); /* it is activated: the way is cleared */
void successor_follows(const struct provider_step *step, const struct tenant *tenant); /* the one in front is gone */
void successors_load(const struct provider_step *step);                                /* all tenants are there */
void successors_boot(const struct provider_step *step);
bool successor_valid(const struct provider *provider, const struct tenant *tenant, const char **ret_why);

/* pulling.c */
#define POOL_CLAIMS 32 /* about as many claims make up the parts of the pools */
int64_t pulling_run(const struct provider_step *step, uint32_t place); /* asks what is due; when to look again */
void pulling_moved(const struct provider_step *step, uint32_t place);  /* the offer's text is another one */
void pulling_again(const struct provider_step *step, uint32_t place, agent matchmaker); /* it may have begun anew */
void pulling_answer(const struct provider_step *step, const struct event *event);
void pulling_claimed(const struct provider_step *step, const struct tenant *tenant); /* it counts for its pool */
bool pulling_admits(const struct provider_step *step, const struct tenant *tenant, const struct tree *ad);
/* Which pool has that matchmaker: plus 1; 0: none. */
uint32_t pulling_pool(const struct provider *provider, agent matchmaker);
agent pulling_registrar(const struct provider *provider, const struct tenant *tenant);

/* provider_claims.c */
#define BEATS 4    /* within a lease */
#define ASK_PART 4 /* a pinned tenant asks after P / 4, and then every P / 8 */
struct tenant *tenant_find(const struct provider *provider, uint64_t claim);
struct tenant *tenant_new(const struct provider_step *step, uint64_t claim, uint32_t offer);
void tenant_drop(const struct provider_step *step, struct tenant *tenant);
void tenant_set_ad(struct tenant *tenant, struct tree *ad);
void tenant_set_receipt(struct tenant *tenant, struct tree *receipt); /* NULL leaves the one that it has */
void tenant_store(const struct provider_step *step, struct tenant *tenant);
void tenant_set(const struct provider_step *step, struct tenant *tenant, int64_t at); /* look again then */
void tenant_set_duty(struct tenant *tenant, const struct duty *duty);                 /* the ad is held anew */
/* What its own members are handed of it: all is known here, and borrowed. */
struct duty tenant_duty(const struct tenant *tenant);
/* Who is charged for it: the owner of the job at the root. */
const struct text *tenant_charged(const struct tenant *tenant);
/* A text that the job's ad says; "" when it says none, or is not known yet. */
void tenant_text(const struct provider_step *step, const struct tenant *tenant, const char *name, struct text *ret);
/* The claim ends for that reason: at once, or when its job is gone. What was never pinned is just forgotten. */
void tenant_end(const struct provider_step *step, struct tenant *tenant, enum reason reason, int64_t grace);
void reply_claimed(const struct provider_step *step, uint64_t token, uint64_t claim, uint64_t epoch, enum reason reason,
                   uint64_t after);
void tenants_done(struct provider *provider);
void tenants_load(const struct provider_step *step, const struct record *record);
void tenants_boot(const struct provider_step *step);
void tenant_due(const struct provider_step *step, struct tenant *tenant);
void tenants_check(const struct provider_step *step, uint32_t offer); /* the offer's state moved: who may stay? */
void tenant_job(const struct provider_step *step, const struct event *event);
void tenants_spare(const struct provider_step *step, uint32_t offer); /* those without a job go: they find none here */
void tenants_drain(const struct provider_step *step, bool now); /* now: jobs are warned, and ended after the grace */

/* docking.c */
/* Does our own constraint, in our present state, accept this ad? What other tenants have is not ours to give; one behind a claim is seen as if
 * that had ended. The second asks also whether room is left for the offer's successor. */
bool tenant_fits(const struct provider_step *step, uint32_t place, const struct tenant *tenant, struct tree *ad);
bool tenant_accepted(const struct provider_step *step, uint32_t place, const struct tenant *tenant, struct tree *ad);
/* The first, of a superior that comes with its port, behind that claim (0: none); the tenant may be NULL. */
bool tenant_docks(const struct provider_step *step, uint32_t place, const struct tenant *tenant, uint64_t behind,
                  const struct docked *superior);
/* The same where that is left of the offer (NULL: nothing). */
bool tenant_docks_at(const struct provider_step *step, const struct tenant *tenant, struct tree *left,
                     const struct docked *superior);
/* Is every port of ours taken that must be? Else anybody could come in by a port that is meant for somebody else. */
bool tenant_is_whole(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                     const struct docked *superior);
struct docked tenant_above(const struct tenant *tenant); /* the superior, as it is docked at us */
/* Is what our own ad says under that name true, as seen from our link: of the superior's port, and of who is docked beside it? */
bool tenant_bids(const struct provider_step *step, const struct tenant *tenant, const char *name);
/* What is left of that when the tenant has its part; NULL: nothing. The caller unrefs it, here and below. */
struct tree *tenant_residual(const struct role_env *env, const struct tenant *tenant, struct tree *left);
/* The offer as the superior may see it. */
struct tree *tenant_shows(const struct provider_step *step, const struct tenant *tenant, struct tree *left);
/* Does it launch anything itself? Not when the offer says Executes = false, nor when its superior does not want it. */
bool tenant_executes(const struct provider *provider, const struct tenant *tenant);
struct crew_chief tenant_chief(const struct provider *provider, const struct tenant *tenant); /* of its own crew */

/* pins.c */
/* The ad with all that it takes of the offer, as that is left for it, as plain numbers: not more than `pinned` says, which is the ad itself
 * when it is new. One with ports stays as it is. The caller unrefs it, here and below. */
struct tree *pins_fix(const struct provider_step *step, struct tree *offer, struct tree *ad, const struct tree *pinned);
/* The same of an ad with ports, as our port has it: an ad of these numbers alone; NULL: it has none. */
struct tree *pins_grant(const struct provider_step *step, const struct tenant *tenant);
/* The job's ad as it is launched: it may use what was pinned of what the superior's port has asked of us, whatever the job says itself. */
struct tree *tenant_grant(const struct provider_step *step, const struct tenant *tenant, struct tree *job);

/* admission.c */
void match_unwanted(struct provider *provider, uint64_t claim, agent superior);
void told_match(const struct provider_step *step, const struct event *event);
struct tenant *match_admit(const struct provider_step *step, uint32_t place,
                           const struct match_told *told); /* or NULL */
void told_verify(const struct provider_step *step, const struct event *event);
bool tenant_owns(const struct tenant *tenant, const struct tree *ad); /* is that ad of the claim's owner? */

/* session.c */
void tenant_message(const struct provider_step *step, const struct event *event);
void tenant_answer(const struct provider_step *step, struct tenant *tenant, const struct event *event);
void task_answer(const struct provider_step *step, struct tenant *tenant, const struct event *event);

/* The answers that a crew may have delayed. */
void tenant_verified(const struct provider_step *step, struct tenant *tenant, uint64_t token); /* admission.c */
void reply_verified(const struct provider_step *step, uint64_t token, const struct verified *verified);
void tenant_pin(const struct provider_step *step, struct tenant *tenant, uint64_t token); /* session.c */
void tenant_over(const struct provider_step *step, struct tenant *tenant);                /* provider_claims.c */
void tenant_report(const struct provider_step *step, struct tenant *tenant,
                   bool over); /* provider_claims.c: to the registrar */

/* subordinates.c */
void tenant_recruit(struct tenant *tenant, const struct edges *edges, const struct edges *below);
/* The crew goes on to that state; when all have come through it, `owed` is answered. */
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
/* Is a result of that claim kept for that agent? Then it is offered at once, not at the end of its pause. */
bool outcome_hurry(const struct provider_step *step, uint64_t claim, agent superior);
void outcome_add(const struct provider_step *step, const struct tenant *tenant, const struct event *event);
/* What the leader has ended with the customer hears from itself: those in between hear only that it has. */
void outcome_tell(const struct provider_step *step, const struct tenant *tenant, const struct event *event);
void outcome_due(const struct provider_step *step, uint64_t key);
void outcome_answer(const struct provider_step *step, const struct event *event);

/* Tags of what the provider sends; those of adverts are their own. */
/* they are smaller than the first of an advert, but for one that is of no use to those and branches */
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
