/* judge_gangs.h: is a gang one, from its first process to its last?
 *
 * The gangs are learnt from what matchmakers and superiors say (MATCH, VERIFY), their fate from what becomes durable and what really
 * runs. What is judged, numbered as in protocol.md:
 *
 *     2a  nothing runs before the root has decided durably and every member, at whatever depth, has cleared the way; all were pinned
 *         when the root decided; who executes nothing starts nothing
 *     2b  when an essential member is lost, or fails, all that needs it ends within two leases and a margin a level
 *     3   a job does not run in two gangs, nor two jobs in one; its result is the leader's; what any member runs is the root's job
 *     5   a pass to the job's files is its agent's alone, comes from the customer itself, and is given to nobody who runs nothing; nor is what the
 *         job runs told to those, or through them
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
    uint64_t claimed[JUDGED_MEMBERS_MAX + 1]; /* by members: of whom all have cleared the way */
    uint64_t nested;                          /* of these: a member has members */
    uint64_t lost;                            /* ended because an essential member was lost while something ran */
    uint64_t reduced, reduced_done;           /* went on without a member; and did their job */
    uint64_t again, helped; /* jobs that a gang was used for again; processes of others than the leader that ended */
    int64_t worst;          /* of the time that all have to end after a loss, so many thousandths were needed */
};

void gang_counts_add(struct gang_counts *counts, const struct gang_counts *more);

typedef void gang_wrong_fn(void *user, int number, const struct host *host, const char *words);

/* Hosts below `customers` are matchmakers, those below `providers` customers, those below `users` providers. */
struct judged_gangs *judged_gangs_new(struct world *world, uint32_t customers, uint32_t providers, uint32_t users,
                                      gang_wrong_fn *wrong, void *user);
void judged_gangs_free(struct judged_gangs *gangs);

/* What the judge sees, handed on. */
void judged_gangs_sent(struct judged_gangs *gangs, const struct host *host, const struct effect *effect);
void judged_gangs_persists(struct judged_gangs *gangs, const struct host *host, const struct record *record);
void judged_gangs_durable(struct judged_gangs *gangs, const struct host *host, const struct record *record);
void judged_gangs_launched(struct judged_gangs *gangs, const struct host *host, const struct process *process);
void judged_gangs_ended(struct judged_gangs *gangs, const struct host *host, const struct process *process);
void judged_gangs_rebooted(struct judged_gangs *gangs, const struct host *host);
void judged_gangs_sweep(struct judged_gangs *gangs);

/* The gang that a claim is of, and the superior's claim; 0: it is not known; it is the root. */
uint64_t judged_gangs_gang(const struct judged_gangs *gangs, uint64_t claim);
uint64_t judged_gangs_above(const struct judged_gangs *gangs, uint64_t claim);
/* What it knows of a claim: the customer whose job it is for (0: nobody's), and whether that has decided, durably. */
agent judged_gangs_root(const struct judged_gangs *gangs, uint64_t claim);
bool judged_gangs_decided(const struct judged_gangs *gangs, uint64_t claim);
/* The claim of the member whose result is the job's; 0: there is no such gang. */
uint64_t judged_gangs_leader(const struct judged_gangs *gangs, uint64_t gang);
/* The claims of the gang that this claim is of, from the first; false behind the last. */
bool judged_gangs_member(const struct judged_gangs *gangs, uint64_t claim, uint32_t which, uint64_t *ret_claim,
                         uint32_t *ret_host);

/* Is the member of that claim a host that promises nothing? */
bool judged_gangs_stranger(const struct judged_gangs *gangs, uint64_t claim);
/* Is one of its members, on the line from the root to the leader, a host that promises nothing? */
bool judged_gangs_strange(const struct judged_gangs *gangs, uint64_t gang);
/* Does a host that promises nothing run the job, or stand above a member that does? Its word may then end the job in any way. */
bool judged_gangs_run_by_stranger(const struct judged_gangs *gangs, uint64_t gang);
/* Is that claim of a member that runs nothing, and nothing below it either? */
bool judged_gangs_idle(const struct judged_gangs *gangs, uint64_t claim);
/* Is it at a job that has begun, and was nobody lost whom it needs? */
bool judged_gangs_goes_on(const struct judged_gangs *gangs, uint64_t gang);
/* May that member be lost, whatever happens: is it not the leader, and its port not essential? */
bool judged_gangs_spares(const struct judged_gangs *gangs, uint64_t claim);

const struct gang_counts *judged_gangs_counts(const struct judged_gangs *gangs);

#ifdef __cplusplus
}
#endif
#endif
