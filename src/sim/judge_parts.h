/* judge_parts.h: shared by the files of the judge: its own account of claims, jobs and ads.
 *
 *     judge.c              makes and frees the judge, answers questions, and passes on what it sees
 *     judge_facts.c        the account, and the first violation
 *     judge_units.c        1: no more is pinned than the provider has
 *     judge_claims.c       2, 3, 4: a provider and its tenants
 *     judge_successors.c   2, 4, 10: claims that are preempted for others
 *     judge_jobs.c         3: a customer, its jobs and their results
 *     judge_flows.c        3: a job of a workflow begins only when the jobs that it waits for have ended well
 *     judge_forming.c      6: when a gang does not form, all members that are bound are told so
 *     judge_ends.c         6: every job that can run ends, and what it held is freed
 *     judge_ads.c          5, 7, 8, 10: a matchmaker and its ads
 *     judge_charges.c      10: to whom a gang is charged, and its limits
 *     judge_quotas.c       10: groups below their quotas come first
 *     judge_usage.c        10: what is counted as used is no more than was told, and no less than was answered for
 *     judge_machines.c     11: the matchmaker knows how each machine stands
 *     judge_bookings.c     13: a machine that is booked is there for whom it was booked
 *     judge_plans.c        14: nobody passes a planned request who might delay it; few machines are kept for plans
 *     judge_words.c        what parties say to each other
 *     judge.c              12: one process at a time is the party (what the world tells of processes that share a seat)
 *     judge_runs.c         what becomes durable, and what really runs
 *
 * Gangs (judge_gangs.h) and shares (judge_shares.h) have accounts of their own. */
#ifndef BERTH_SIM_JUDGE_PARTS_H
#define BERTH_SIM_JUDGE_PARTS_H

#include "lang/base/map.h"
#include "pool/matchmaker/matchmaker.h"
#include "pool/protocol/seen.h"
#include "pool/provider/provider.h"
#include "sim/judge.h"
#include "sim/judge_gangs.h"
#include "sim/judge_shares.h"

#define TENANTS_SEEN 64
#define MATCHES_SEEN 4096 /* numbers of an ad's matches that the judge follows */
#define MATCHMAKERS_MAX 4
#define BOUND_SEEN 64
#define WORD_SEEN 32
#define ACCOUNT_SEEN 72
#define STOOD_SEEN 64

struct claim_fact {
    uint64_t claim, gang;
    agent superior;
    bool over;                          /* the provider's row has been removed, durably */
    bool activated;                     /* ACTIVATE was sent */
    struct key ticket;                  /* as the root was told */
    uint64_t number;                    /* the last number that was launched */
    uint64_t row_number, row_job;       /* the last ones that were durable at the provider */
    uint64_t row_session, row_sequence; /* of its row: the epoch, and the number of the last message that was obeyed */
    uint64_t row_epoch;                 /* the last epoch that was durable at the root */
    uint64_t given;                     /* the last number of a job that was durably given to the claim */
    int64_t committed, acknowledged;    /* on the root's clock: COMMIT was first sent, and first answered with OK */
    uint32_t root_life;                 /* plus 1: the life in which the root committed or re-attached it */
    uint32_t releasing;                 /* plus 1: the root's life in which it was being released */
    uint32_t session_life;              /* plus 1: the provider's life, for the two below */
    uint64_t session_epoch, session_at; /* the newest message that was obeyed */
    struct fronts behind;               /* the claims that it was pinned behind */
    uint64_t successor;                 /* the one that was pinned behind it last */
    bool preempted;
    bool owes;                   /* by its row, it has been active: a last report is due */
    bool weighed;                /* the next two are known */
    double may_cpus, may_memory; /* how much it may use: what its ad, beside the offer, asked for when it was pinned */
};

struct job_fact {
    uint64_t id;
    uint32_t life;                /* the customer's life, for `state` */
    uint64_t state, gang, number; /* as they were last written */
    uint64_t tries;
    uint64_t durable, durable_gang; /* as on disk */
    uint64_t durable_number;
    bool known; /* was durable at some time */
    bool counted;
};

struct match_fact {
    int64_t made; /* on the matchmaker's clock */
    bool delivered;
    bool named; /* by a text that the matchmaker has accepted: its agent takes the match into account */
};

struct ad_fact {
    uint64_t agent;
    uint64_t id;
    /* at the matchmaker, in its present incarnation */
    uint64_t incarnation, version;
    bool accepted;
    int64_t units, lifetime, expires, received; /* of its text; times on the matchmaker's clock */
    struct seen seen;
    uint64_t numbered, settled;
    struct match_fact *matches; /* by number, from 1 */
    uint32_t room;
    /* at its agent */
    uint64_t sent_version;
    struct seen sent_seen;
    /* a request that was passed over for groups at their quota: since when, and its state then */
    int64_t passed;
    uint64_t passed_version, passed_numbered;
};

/* The root of a gang, from its ad when it was told of the match. */
struct root_fact {
    uint64_t incarnation, stamp;
    char account[ACCOUNT_SEEN], limits[WORD_SEEN];
};

/* A member that is verified or pinned, and for what: a gang, or the superior's claim. */
struct bound_claim {
    uint64_t claim, above;
};

/* The last report of a claim. */
struct final_fact {
    uint64_t first,
        last; /* the incarnations of the matchmaker that first heard of the claim, and that heard the last report; 0: none has */
    uint64_t gang;
    agent registrar;
    bool known;   /* ... and knew the claim */
    int64_t wall; /* as its row has it */
};

struct judged_bound {
    struct bound_claim items[BOUND_SEEN];
    uint32_t count;
};

/* How a machine stood, from that time on: the states that were right, as bits. */
struct stood {
    int64_t at;
    uint32_t states;
};

struct judged_stood {
    struct stood items[STOOD_SEEN]; /* a ring */
    uint32_t count;
};

struct judge {
    struct world *world;
    struct parties parties;
    struct violation violation;
    uint32_t heeds; /* bits: the invariants that are checked */
    struct map claim_map, job_map, ad_map;
    struct slab claims, jobs, ads;
    struct tenant_view tenants[HOSTS_MAX][TENANTS_SEEN];
    uint32_t tenant_counts[HOSTS_MAX];
    bool rows_moved[HOSTS_MAX]; /* durable tenants changed */
    bool up[HOSTS_MAX];         /* everything durable has been loaded, and checked once */
    struct tenant_view found[TENANTS_SEEN];
    uint32_t found_count;
    uint64_t matches[MATCHMAKERS_MAX], incarnations[MATCHMAKERS_MAX]; /* of each, when the judge last looked */
    uint32_t looked;                                                  /* the matchmaker that the judge is looking at */
    struct judged_shares shares[MATCHMAKERS_MAX];
    int64_t limits_used[MATCHMAKERS_MAX]; /* the sum over all limits */
    struct map told_map; /* matchmaker, claim and life of its provider, mixed -> the largest Wall that was told */
    int64_t told_wall[MATCHMAKERS_MAX]; /* the sum of these, in all its lives */
    struct map final_map;               /* by claim */
    struct slab finals;
    int64_t settled_wall[MATCHMAKERS_MAX]; /* milliseconds that the matchmaker must have on disk */
    struct map root_map;                   /* by gang */
    struct slab roots;
    uint64_t stamp;
    struct judged_bound bound[HOSTS_MAX]; /* of each superior */
    struct judged_gangs *gangs;
    uint64_t activated, done, preempted, several, grouped; /* `several`: they began when several claims had gone */
    int64_t watched;                                       /* machines are watched since then; 0: they are not */
    struct judged_stood stood[HOSTS_MAX];
    bool drained[HOSTS_MAX];
    int64_t
        came[HOSTS_MAX]; /* when a word of the host last came to a matchmaker: it may have been under way for long */
    int64_t fell[HOSTS_MAX], walls[HOSTS_MAX]; /* when the host went down last; its wall clock when the watch began */
    symbol cpus, request_cpus, request_memory, residual, owner, count, lifetime, group, limits, ports, preempts,
        preemption, remote_user, unwell, load, time_limit;
    struct map released;      /* bookings that somebody has given back once ... */
    struct map ordered;       /* ... or ordered, and that have not moved since */
    struct booked *booked;    /* the bookings that are durable */
    int64_t began[HOSTS_MAX]; /* when the host started last */
    bool doubted[HOSTS_MAX];  /* what time it is in its calendar the judge does not know */
    uint64_t bookings, booked_times;
    uint64_t kept, passed; /* matches on machines that were kept for a request, and those of others */
    int64_t now;           /* the clock of the party that the judge is looking at */
};

/* ---------------------------------------------------------------------------------- judge_facts.c: the account */

/* Reports that an invariant is broken; `host` may be NULL. Only the first report is kept. */
__attribute__((format(printf, 4, 5))) void judge_finds(struct judge *judge, int number, const struct host *host,
                                                       const char *format, ...);

/* The facts about each claim, job or ad; made when there are none yet. Facts that were looked up before may move. */
struct claim_fact *judged_claim(struct judge *judge, uint64_t claim);
struct job_fact *judged_job(struct judge *judge, uint32_t customer, uint64_t id);
struct ad_fact *judged_ad(struct judge *judge, agent matchmaker, agent who, uint64_t id); /* at one matchmaker */

/* A tenant as the provider's own record had it after its last step; or NULL. */
const struct tenant_view *judged_tenant(const struct judge *judge, const struct host *host, uint64_t claim);
const struct process *judged_process(const struct judge *judge, const struct host *host,
                                     uint64_t claim); /* a process that lives under that claim; or NULL */
bool judged_way(struct judge *judge, const struct host *host,
                uint64_t claim); /* does one run in front of that claim? */

/* The value of an attribute that is a literal integer; `absent` when there is none. */
int64_t judged_integer(const struct tree *ad, symbol name, int64_t absent);
bool judged_has(const struct tree *ad, symbol name);

/* Does that host promise nothing? */
static inline bool is_stranger(const struct judge *judge, uint32_t place)
{
    return place >= judge->parties.end;
}

/* Does the event come from a host that promises nothing? Then it is not a fact, whatever it names. */
static inline bool is_strangers(const struct judge *judge, const struct event *event)
{
    return event->peer && event->peer->agent && is_stranger(judge, (uint32_t)event->peer->agent - 1);
}

static inline bool is_matchmaker(const struct judge *judge, uint32_t place)
{
    return place >= judge->parties.matchmaker && place < judge->parties.customers;
}

/* The last known incarnation of a matchmaker; `place` is that of its host. */
static inline uint64_t *incarnation_of(struct judge *judge, uint32_t place)
{
    return &judge->incarnations[(place - judge->parties.matchmaker) % MATCHMAKERS_MAX];
}

/* ---------------------------------------------------------------------------------------- who was just stepped */

void judge_provider(struct judge *judge, struct host *host, const struct role_env *env, const struct event *event);
/* judge_flows.c: a job begins only when all jobs that it waits for have ended well. */
void judge_flow(struct judge *judge, const struct host *host, uint64_t job);
bool judge_dismissed(const struct host *host,
                     const struct record *record); /* a job that failed is removed with its workflow */
void judge_customer(struct judge *judge, struct host *host, const struct event *event);
void judge_matchmaker(struct judge *judge, struct host *host, const struct role_env *env, const struct event *event);
void judge_agent(struct judge *judge, const struct host *host, const struct event *event); /* a customer or provider */

/* --------------------------------------------------------------------------------------- parts of these promises */

void judge_units(struct judge *judge, const struct host *host, bool durable);
void judge_preemption(struct judge *judge, const struct host *host, uint64_t claim); /* that claim is preempted */
void judge_successor(struct judge *judge, const struct host *host, const struct role_env *env,
                     const struct tenant_view *tenant, uint64_t behind); /* the tenant was pinned behind that claim */
void judge_needed(struct judge *judge, const struct host *host,
                  const struct tenant_view *tenant); /* the tenant was activated: do all in front of it have to go? */
void judge_priorities(struct judge *judge, const struct host *host, const struct role_env *env); /* matches were made */
void judge_forming(struct judge *judge, const struct host *host,
                   const struct event *event);                    /* a superior was stepped */
void judge_unbound(struct judge *judge, const struct host *host); /* the host has forgotten who is bound */
void judge_charges(struct judge *judge, const struct host *host, const struct effect *effect);  /* a match is sent */
void judge_reported(struct judge *judge, const struct host *host, const struct report *report); /* to a matchmaker */
void judge_limits(struct judge *judge, const struct host *host);
void judge_told(struct judge *judge, const struct host *host, const struct report *report); /* to a matchmaker */
void judge_usage(struct judge *judge, const struct host *host);
void judge_parting(struct judge *judge, const struct host *host, const struct record *record); /* on disk, or removed */
void judge_parted(struct judge *judge, const struct host *host, uint64_t claim); /* the claim's row was removed */
void judge_quotas(struct judge *judge, const struct host *host, const struct role_env *env); /* matches were made */
/* The account to which a request is charged: its Owner, in the group that it names if that exists. */
void judged_account(const struct judge *judge, const struct host *matchmaker, const struct tree *ad,
                    char ret[ACCOUNT_SEEN]);
void judge_stands(struct judge *judge, const struct host *host, const struct stands *stands); /* is sent */
void judge_stood(struct judge *judge, const struct host *host, const struct role_env *env); /* a provider was stepped */
void judge_fell(struct judge *judge, const struct host *host);
void judge_booking(struct judge *judge, const struct host *host, const struct record *record); /* on disk, or removed */
void judge_booking_order(struct judge *judge, const struct host *host, const struct event *event);
void judge_booked_row(struct judge *judge, const struct host *host, const struct tenant_record *row);
/* judge_plans.c: a matchmaker has made matches. */
void judge_plans(struct judge *judge, const struct host *host);
void judge_holds(struct judge *judge, const struct host *host); /* it was woken */

void judge_booked_launch(struct judge *judge, const struct host *host, const struct process *process);
void judge_bookings(struct judge *judge); /* now and then, and when a job begins */
void judge_bookings_done(struct judge *judge);
void judge_accepted(struct judge *judge, const struct host *host); /* no job that a customer has accepted is lost */
void judge_entry(void *user, const struct entry_view *entry);      /* of `looked` */
void judge_seen(struct judge *judge, const struct host *host, agent matchmaker, const struct advertise *message);

/* ------------------------------------------------------------------------------------- for the watch: judge is `user` */

void judge_sent(void *user, const struct host *host, const struct effect *effect);
void judge_durable(void *user, const struct host *host, const struct record *record);
void judge_launched(void *user, const struct host *host, struct process *process);

#endif
