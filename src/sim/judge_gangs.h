/* judge_gangs.h: does a gang act as one, from its first process to its last?
 *
 * The judge learns of gangs from what matchmakers and superiors say (MATCH, VERIFY), and of their fate from what becomes durable and what really
 * runs. It checks these invariants, numbered as in protocol.md:
 *
 *     2a  nothing runs before the root has decided durably and every member, at whatever depth, has cleared the way; all were pinned
 *         when the root decided; a member that executes nothing starts nothing
 *     2b  when an essential member is lost, or fails, everything that needs it ends within two leases and a margin a level
 *     3   a job does not run in two gangs, nor two jobs in one; its result is the leader's; what any member runs is the root's job
 *     5   a pass to the job's files is for one agent, comes from the customer itself, and goes to no member that runs nothing; the ad that the
 *         job runs is not told to such members, nor through them
 *    10   every member is charged to the owner of the root's job */
#ifndef BERTH_SIM_JUDGE_GANGS_H
#define BERTH_SIM_JUDGE_GANGS_H

#include "sim/world.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JUDGED_MEMBERS_MAX 8

struct judged_gangs;

struct gang_counts {
    uint64_t claimed[JUDGED_MEMBERS_MAX + 1]; /* by members: gangs in which all have cleared the way */
    uint64_t nested;                          /* of these, gangs in which a member has members */
    uint64_t lost;                            /* running gangs that ended because an essential member was lost */
    uint64_t reduced, reduced_done;           /* gangs that went on without a member; and those that did their job */
    uint64_t again, helped; /* jobs for which a gang was used again; processes of helpers that ended */
    int64_t worst;          /* the longest that a gang took to stop after a loss, in thousandths of what is allowed */
};

void gang_counts_add(struct gang_counts *counts, const struct gang_counts *more);

typedef void gang_wrong_fn(void *user, int number, const struct host *host, const char *words);

/* Hosts below `customers` are matchmakers, those below `providers` customers, those below `users` providers. */
struct judged_gangs *judged_gangs_new(struct world *world, uint32_t customers, uint32_t providers, uint32_t users,
                                      gang_wrong_fn *wrong, void *user);
void judged_gangs_free(struct judged_gangs *gangs);

/* What the judge sees, passed on to here. */
void judged_gangs_sent(struct judged_gangs *gangs, const struct host *host, const struct effect *effect);
void judged_gangs_persists(struct judged_gangs *gangs, const struct host *host, const struct record *record);
void judged_gangs_durable(struct judged_gangs *gangs, const struct host *host, const struct record *record);
void judged_gangs_launched(struct judged_gangs *gangs, const struct host *host, const struct process *process);
void judged_gangs_ended(struct judged_gangs *gangs, const struct host *host, const struct process *process);
void judged_gangs_rebooted(struct judged_gangs *gangs, const struct host *host);
void judged_gangs_sweep(struct judged_gangs *gangs);

/* The gang of a claim (0: not known), and its superior's claim (0: the superior is the root, or not known). */
uint64_t judged_gangs_gang(const struct judged_gangs *gangs, uint64_t claim);
uint64_t judged_gangs_above(const struct judged_gangs *gangs, uint64_t claim);
/* The customer for whose job a claim is (0: nobody's), and whether that customer has decided the gang, durably. */
agent judged_gangs_root(const struct judged_gangs *gangs, uint64_t claim);
bool judged_gangs_decided(const struct judged_gangs *gangs, uint64_t claim);
/* The claim of the member whose result is the job's; 0: there is none. */
uint64_t judged_gangs_leader(const struct judged_gangs *gangs, uint64_t gang);
/* The claims of the gang that this claim belongs to, from the first on; false past the last. */
bool judged_gangs_member(const struct judged_gangs *gangs, uint64_t claim, uint32_t which, uint64_t *ret_claim,
                         uint32_t *ret_host);

/* Is the member of that claim a host that promises nothing? */
bool judged_gangs_stranger(const struct judged_gangs *gangs, uint64_t claim);
/* Is a member of the gang, on the line from the root to the leader, a host that promises nothing? */
bool judged_gangs_strange(const struct judged_gangs *gangs, uint64_t gang);
/* Does a host that promises nothing run the job, or stand above a member that does? Its word may then end the job in any way. */
bool judged_gangs_run_by_stranger(const struct judged_gangs *gangs, uint64_t gang);
/* Does the member of that claim run nothing, and no member below it either? */
bool judged_gangs_idle(const struct judged_gangs *gangs, uint64_t claim);
/* Has the gang's current job begun, and has it lost no member that it needs? */
bool judged_gangs_goes_on(const struct judged_gangs *gangs, uint64_t gang);
/* May that member be lost in any case: is it not the leader, and its port not essential? */
bool judged_gangs_spares(const struct judged_gangs *gangs, uint64_t claim);

const struct gang_counts *judged_gangs_counts(const struct judged_gangs *gangs);

#ifdef __cplusplus
}
#endif
#endif
