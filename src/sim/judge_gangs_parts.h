/* judge_gangs_parts.h: the inside of the judge of gangs, shared by its files.
 *
 *     judge_gangs.c         who is in a gang, what becomes of it, and what runs
 *     judge_gangs_views.c   what else it can be asked
 *     judge_duty.c          what comes down from the root: whose job it is, and the passes to its files */
#ifndef BERTH_SIM_JUDGE_GANGS_PARTS_H
#define BERTH_SIM_JUDGE_GANGS_PARTS_H

#include "lang/base/map.h"
#include "sim/judge_gangs.h"

/* When is a loss at a port harmless? */
enum rule { RULE_UNKNOWN, RULE_NEVER, RULE_SOMETIMES, RULE_ALWAYS };

struct judged_member {
    uint64_t claim, superior, port; /* the superior's claim, 0: the root; and its port */
    uint32_t host;
    uint32_t depth;  /* levels below it */
    uint64_t link;   /* by which it docks there */
    bool executes;   /* it says so itself */
    bool wanted;     /* its superior's port says so */
    bool heard;      /* what that says has been seen */
    uint64_t tasked; /* the last number for which the customer itself has told it what to run */
    enum rule rule;
    bool pinned, cleared, over; /* its row was: durable, active, removed (or lost with its boot) */
    bool branched;              /* its superior's row has been durable */
    int64_t over_at;            /* true time, as all below */
    int64_t lost;               /* all that is below it, and itself, has to end from then on ... */
    int64_t failed;             /* ... or what is at that job */
    uint64_t failed_number;
};

struct gang_fact {
    uint64_t id;
    agent root;
    uint32_t count;
    bool decided, claimed;
    int64_t lost;   /* an essential member was */
    int64_t failed; /* one ended badly, at that job */
    uint64_t failed_number;
    uint64_t taken, launched; /* the last job's number: decided, and started */
    int64_t taken_at;
    uint64_t ended; /* the leader's last that ended by itself */
    int64_t ended_status;
    bool reduced;      /* a member was lost at the last job that is not essential */
    struct text owner; /* as the root says when it claims its members */
    struct key pass;   /* the leader's, as the root has recorded it */
    struct judged_member members[JUDGED_MEMBERS_MAX];
};

struct judged_gangs {
    struct world *world;
    uint32_t customers, providers, users;
    gang_wrong_fn *wrong;
    void *user;
    struct map gang_map, claim_map;
    struct slab gangs;
    symbol essential;
    struct gang_counts counts;
};

/* NULL: nobody has that claim. */
struct judged_member *gang_member_find(const struct judged_gangs *gangs, uint64_t claim, struct gang_fact **ret_gang);
/* Has its superior its result from it: the root, or one that executes nothing itself? */
bool gang_member_leads(const struct gang_fact *gang, uint32_t member);
/* Has the job begun that it is at, so that it may go on without somebody? */
bool gang_began(const struct gang_fact *gang);
/* Does it run the job itself: does it say so, and all ports on the way down to it? */
bool gang_member_runs(const struct gang_fact *gang, uint32_t member);
/* Does it run anything, or one below it? Is it the leader, or above it? */
bool gang_member_executes(const struct gang_fact *gang, const struct judged_member *member);
bool gang_member_on_line(const struct gang_fact *gang, const struct judged_member *member);

/* judge_duty.c */
void judged_duty_sent(struct judged_gangs *gangs, const struct host *host, const struct message *message);
/* Is it told what the job runs, and does not run it? */
void judged_duty_told(struct judged_gangs *gangs, const struct host *host, uint64_t claim, const struct tree *ad);
void judged_duty_launched(struct judged_gangs *gangs, const struct host *host, const struct process *process);

#endif
