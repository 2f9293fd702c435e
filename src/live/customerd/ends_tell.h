/* ends_tell.h: tells the customer's pool which of its jobs have ended, and how: for when its store is lost, and an older copy of it is put back.
 *
 *     a job ends -> ends_tell_add -> [ 57 58 64 ... ] -> POST /v1/ends -> told, and dropped here
 *
 * Nothing waits for it: where the matchmaker is away it is told later, also after a restart, from what is in the history since the last time that all
 * was told. Rows of the space "own.ends": "queue", a number drawn once, by which the pool tells this queue from another of the same user; "told", the
 * second of that last time. */
#ifndef BERTH_LIVE_CUSTOMERD_ENDS_TELL_H
#define BERTH_LIVE_CUSTOMERD_ENDS_TELL_H

#include "live/agent/agent.h"
#include "live/world/ends.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OWN_ENDS_SPACE "own.ends"

struct ends_tell;

/* NULL and `err` when its rows cannot be read. */
struct ends_tell *ends_tell_new(struct symbols *symbols, struct shelf *shelf, struct err *err);
void ends_tell_free(struct ends_tell *tell); /* the agent is freed before */

uint64_t ends_tell_queue(
    const struct ends_tell *tell); /* 0: the rows are of an earlier version, and nothing was told */
/* Draws that number, if there is none; the commit is the caller's. */
int ends_tell_begin(struct ends_tell *tell, struct err *err);
/* What came into the history before this second has been told. */
int64_t ends_tell_since(const struct ends_tell *tell);

/* There is more to tell than was added so far: `told` stays as it is until there is not. */
void ends_tell_behind(struct ends_tell *tell, bool behind);
uint32_t ends_tell_waiting(const struct ends_tell *tell); /* jobs that are still to be told */
/* Why the pool takes nothing, if that has not been asked yet: its status; else 0. */
unsigned ends_tell_refused(struct ends_tell *tell);

void ends_tell_add(struct ends_tell *tell, uint64_t job, enum end_how how, enum reason reason, int64_t status);
/* Tells what is to be told, if it is time; called often. `last`: the largest number of a job. */
void ends_tell_tick(struct ends_tell *tell, struct live_agent *live, agent matchmaker, uint64_t last);

#ifdef __cplusplus
}
#endif
#endif
