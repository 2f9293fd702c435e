/* swf.h: jobs of a site in the Standard Workload Format: a line a job, eighteen numbers, -1 for what is not known.
 *
 *     ; MaxProcs: 128
 *     1 0 12 3600 4 -1 -1 4 7200 -1 1 3 -1 -1 1 -1 -1 -1
 *     job, submit, wait, run, processors, cpu time, memory, processors asked, time asked, memory asked, status, user, ...
 *
 * Of these a simulation takes the time of submission, the run time, what was asked for (processors, else those it had; time; memory of a
 * processor, in KB) and the user. What the site's own scheduler made of the job (its wait, its status) is not looked at. A job that did not
 * run or has no processors is passed over, and counted. */
#ifndef BERTH_SIM_SWF_H
#define BERTH_SIM_SWF_H

#include "lang/base/buf.h"
#include "sim/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SWF_FIELDS 18

struct swf_header {
    double processors; /* MaxProcs, else MaxNodes; 0 when it says neither */
    uint64_t skipped;  /* jobs that did not run */
    double largest;    /* processors that one job asks for */
};

/* The jobs, sorted by submission; where they can run (their row) is the caller's to say. -1 with line and column of what is wrong. */
int swf_read(const char *text, size_t len, struct batch_work *work, struct swf_header *ret, struct err *err);

/* Times in whole seconds, as the format has them. `fate`: what became of the jobs; NULL: they are still to come. */
void swf_write(struct buf *out, const struct batch_work *work, const struct batch_fate *fate,
               const struct batch_park *park);

#ifdef __cplusplus
}
#endif
#endif
