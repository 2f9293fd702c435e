/* joblines.h: jobs as JSON lines, our own form of a trace: nothing of a job is lost.
 *
 *     {"job": 1, "submit": 12.5, "duration": 600, "cpus": 4, "memory": 512, "user": 3, "clusters": ["north", "south"]}
 *
 * submit and duration (seconds) must be there; cpus is 1 and memory, disk and user are 0 when they are not; estimate is the duration. clusters
 * names the kinds of clusters where the job can run, all of them when it is not there. start, cluster and state tell what became of the job;
 * they are written and not read. */
#ifndef BERTH_SIM_JOBLINES_H
#define BERTH_SIM_JOBLINES_H

#include "lang/base/buf.h"
#include "lang/base/symbols.h"
#include "sim/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The jobs, sorted by submission, their rows set; `largest`: processors that one job asks for. -1 with line and column. */
int joblines_read(struct symbols *symbols, const char *text, size_t len, const struct batch_park *park,
                  struct batch_work *work, double *ret_largest, struct err *err);

void joblines_write(struct buf *out, const struct batch_work *work, const struct batch_fate *fate,
                    const struct batch_park *park);

#ifdef __cplusplus
}
#endif
#endif
