/* judge.h: do the invariants of protocol.md hold?
 *
 * The judge watches and keeps its own account of ads, claims, jobs and processes, from what parties say, what they record, and what really runs. It
 * never asks a role for its reasons. It keeps the first violation. */
#ifndef BERTH_SIM_JUDGE_H
#define BERTH_SIM_JUDGE_H

#include "sim/judge_gangs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VIOLATION_WORDS 160

struct violation {
    int number; /* of the invariant; 0: none was found. 9: the world or a role is out of order */
    int64_t time;
    char party[32];
    char words[VIOLATION_WORDS];
};

struct judge;

/* Which host is what: the matchmakers, then customers, then providers, then users; each range ends where the next begins. Hosts behind all of them
 * promise nothing: a stranger, or a provider that lies. The judge takes nothing that they do or say for a fact. Where a promise depends on one of
 * them (a gang below a member that lies), it does not judge. */
struct parties {
    uint32_t matchmaker, customers, providers, users, end;
};

struct judge *judge_new(struct world *world, const struct parties *parties); /* watches from now on */
void judge_free(struct judge *judge);
void judge_heeds(struct judge *judge, uint32_t numbers); /* only these invariants: bit i for number i */

const struct violation *judge_violation(const struct judge *judge);
uint64_t judge_claims(const struct judge *judge);    /* claims that were activated */
uint64_t judge_preempted(const struct judge *judge); /* claims that were preempted for others */
uint64_t judge_several(const struct judge *judge);   /* claims for which several others had to go */
uint64_t judge_done(const struct judge *judge);      /* jobs whose result was taken */
uint64_t judge_booked(const struct judge *judge);    /* bookings that became durable */
uint64_t judge_booked_times(
    const struct judge *judge); /* times of those that come again that were followed by another */
uint64_t judge_kept(const struct judge *judge,
                    uint64_t *ret_passed); /* matches on machines that were kept for a request, and of others there */
uint64_t judge_grouped(const struct judge *judge); /* gangs of several that were matched in a group with a quota */
const struct gang_counts *judge_gangs(const struct judge *judge);

/* Machines are watched from now on. When nothing has been lost or late for that span, the matchmaker must know how each stands. */
void judge_machines_watch(struct judge *judge);
int64_t judge_machines_span(const struct judge *judge);
void judge_machines(struct judge *judge);

void judge_sweep(
    struct judge *judge); /* checks made now and then: processes that nobody claims, the matchmaker's entries */

/* The number of jobs that could still run; and, in `ret_claims`, of claims and processes that have not ended. */
uint64_t judge_left(struct judge *judge, uint64_t *ret_claims);
void judge_late(
    struct judge *judge); /* the quiet phase was long enough for everything: whatever is left is a violation */

#ifdef __cplusplus
}
#endif
#endif
