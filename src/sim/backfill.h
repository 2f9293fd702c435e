/* backfill.h: the queues of batch systems, which give jobs machines in their order, and know until when those that run may stay.
 *
 *     strict        in order: nobody passes the first that finds no room
 *     easy          the first that finds no room has a planned start; who does not delay it may pass
 *     predicted     the same, but jobs are taken to end when the last ones of their users make one think so (predict.h), and not when users say
 *     conservative  each has a planned start; who delays none of those before it may pass. A plan moves only forward: when a job ends early
 *
 *     free of a cluster
 *       8 |         ________          steps: from that time on so much is free. Jobs that run, and jobs that are planned, are cut out of it,
 *       4 |____                       as long as their users say that they take (or as they do take, where that is longer)
 *       0 |----+---+--------+----->
 *         now
 *
 * Under predicted a job that outlives its prediction is taken for twice as long from then on, but for no longer than its user says: so one may have passed
 * that delays the first after all.
 *
 * There are no windows: whoever keeps such a queue asks it whenever something has changed. Work: a decision looks at the steps of the clusters for each
 * job that waits; under conservative it moves all plans when a job ends early. */
#ifndef BERTH_SIM_BACKFILL_H
#define BERTH_SIM_BACKFILL_H

#include "sim/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct backfill;

struct backfill_settings {
    enum batch_policy policy;      /* BATCH_STRICT and those behind it */
    const struct batch_work *work; /* its jobs, and where they can run */
    const struct batch_park *park;
    const uint32_t *kind_of;    /* by cluster ... */
    const uint32_t *kind_first; /* ... and by kind, and one more: the first of its clusters */
    uint32_t cluster_count;
};

struct backfill *backfill_new(const struct backfill_settings *settings); /* all that it points at must stay */
void backfill_free(struct backfill *backfill);

/* The job comes to the end of the queue; leaves it, without having started; is done. */
void backfill_come(struct backfill *backfill, uint32_t job);
void backfill_leave(struct backfill *backfill, uint32_t job);
void backfill_done(struct backfill *backfill, uint32_t job, int64_t now);

/* Starts those whose turn it is: calls `start` for each. Returns the work: steps that were looked at; and when it wants to be asked again although nothing
 * has changed: INT64_MAX: not. */
typedef void backfill_start_fn(void *user, uint32_t job, uint32_t cluster);
uint64_t backfill_decide(struct backfill *backfill, int64_t now, backfill_start_fn *start, void *user,
                         int64_t *ret_next);

#ifdef __cplusplus
}
#endif
#endif
