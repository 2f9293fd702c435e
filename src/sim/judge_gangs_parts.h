/* judge_gangs_parts.h: the inside of the judge of gangs, shared by its files.
 *
 *     judge_gangs.c         the members of a gang, its fate, and its processes
 *     judge_gangs_views.c   questions that it answers
 *     judge_duty.c          what a gang passes down from its root: whose job it is, and the passes to its files */
#ifndef BERTH_SIM_JUDGE_GANGS_PARTS_H
#define BERTH_SIM_JUDGE_GANGS_PARTS_H

#include "lang/base/map.h"
#include "sim/judge_gangs.h"

/* Is the loss of the member at a port harmless? */
enum rule { RULE_UNKNOWN, RULE_NEVER, RULE_SOMETIMES, RULE_ALWAYS };

struct judged_member {
    uint64_t claim, superior, port; /* the superior's claim, 0: the root; and the superior's port */
    uint32_t host;
    uint32_t depth;  /* how many levels are below it */
    uint64_t link;   /* the link by which it docks there */
    bool executes;   /* its own ad says that it executes */
    bool wanted;     /* its superior's port wants it to run */
    bool heard;      /* the superior's ad has been seen */
    uint64_t tasked; /* the last number for which the customer itself has told it what to run */
    enum rule rule;
    bool pinned, cleared, over; /* its row was durable; was active; was removed (or lost in a reboot) */
    bool branched;              /* its superior's row was durable */
    int64_t over_at;            /* true time, like all times below */
    int64_t lost;               /* since then the member, and all below it, have to end ... */
    int64_t failed;             /* ... or only their processes for `failed_number` */
    uint64_t failed_number;
    uint64_t bad_number; /* the last number that its own process has failed at ... */
    int64_t bad_status;  /* ... and how */
};

struct gang_fact {
    uint64_t id;
    agent root;
    uint32_t count;
    bool decided, claimed;
    int64_t lost;   /* when an essential member was lost */
    int64_t failed; /* when one failed, at `failed_number` */
    uint64_t failed_number;
    uint64_t taken, launched; /* the last job's number that was decided, and that was started */
    int64_t taken_at;
    uint64_t ended; /* the leader's last number that ended by itself */
    int64_t ended_status;
    bool reduced;      /* at the last job a member was lost that is not essential */
    struct text owner; /* as the root gives it when it claims its members */
    struct key pass;   /* the leader's pass, as the root has recorded it */
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

/* The member of that claim; NULL: there is none. */
struct judged_member *gang_member_find(const struct judged_gangs *gangs, uint64_t claim, struct gang_fact **ret_gang);
/* Does the superior take its result from this member? The superior is the root, or a member that executes nothing itself. */
bool gang_member_leads(const struct gang_fact *gang, uint32_t member);
/* Has the gang's current job begun, so that it may go on without some member? */
bool gang_began(const struct gang_fact *gang);
/* Does the member run the job itself? Its own ad and all ports on the way down to it must say so. */
bool gang_member_runs(const struct gang_fact *gang, uint32_t member);
/* Does the member, or one below it, run anything? Is it the leader, or above the leader? */
bool gang_member_executes(const struct gang_fact *gang, const struct judged_member *member);
bool gang_member_on_line(const struct gang_fact *gang, const struct judged_member *member);

/* judge_duty.c */
void judged_duty_sent(struct judged_gangs *gangs, const struct host *host, const struct message *message);
/* Checks that a member which does not run the job is not told what it runs. */
void judged_duty_told(struct judged_gangs *gangs, const struct host *host, uint64_t claim, const struct tree *ad);
void judged_duty_launched(struct judged_gangs *gangs, const struct host *host, const struct process *process);

#endif
