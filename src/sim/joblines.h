/* joblines.h: jobs as JSON lines, our own form of a trace, which keeps everything about a job.
 *
 *     {"job": 1, "submit": 12.5, "duration": 600, "cpus": 4, "memory": 512, "user": 3, "clusters": ["north", "south"]}
 *
 * submit and duration (seconds) are required. When they are missing, cpus is 1, memory, disk and user are 0, and estimate is the
 * duration. clusters names the kinds of clusters where the job can run, all of them when it is missing. start, cluster and state tell the
 * fate of the job; they are written and not read. */
#ifndef BERTH_SIM_JOBLINES_H
#define BERTH_SIM_JOBLINES_H

#include "lang/base/buf.h"
#include "lang/base/symbols.h"
#include "sim/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the jobs, sorts them by submission, and sets their rows; `ret_largest`: the most processors that
 * one job asks for. -1 with line and column. */
int joblines_read(struct symbols *symbols, const char *text, size_t len, const struct batch_park *park,
                  struct batch_work *work, double *ret_largest, struct err *err);

void joblines_write(struct buf *out, const struct batch_work *work, const struct batch_fate *fate,
                    const struct batch_park *park);

#ifdef __cplusplus
}
#endif
#endif
