/* swf.h: jobs of a site in the Standard Workload Format: a line a job, eighteen numbers, -1 for a number that is not known.
 *
 *     ; MaxProcs: 128
 *     1 0 12 3600 4 -1 -1 4 7200 -1 1 3 -1 -1 1 -1 -1 -1
 *     job, submit, wait, run, processors, cpu time, memory, processors asked, time asked, memory asked, status, user, ...
 *
 * A simulation uses the time of submission, the run time, the user, and what the job asked for (processors, or else those that it had;
 * time; memory a processor, in KB), and which job precedes it, by what think time. It ignores what the site's own scheduler made of the job (its wait, its status). A job that did not run
 * or has no processors is skipped, and counted. */
#ifndef BERTH_SIM_SWF_H
#define BERTH_SIM_SWF_H

#include "lang/base/buf.h"
#include "sim/batch.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SWF_FIELDS 18

struct swf_header {
    double processors; /* MaxProcs, or else MaxNodes; 0 when there is neither */
    uint64_t skipped;  /* jobs that did not run */
    double largest;    /* the most processors that one job asks for */
};

/* Reads the jobs, sorted by submission; the caller sets where they can run (their row). -1 with line and column of the error. */
int swf_read(const char *text, size_t len, struct batch_work *work, struct swf_header *ret, struct err *err);

/* Writes times in whole seconds, as the format has them. `fate`: the outcomes of the jobs; NULL: the jobs have not run yet. */
void swf_write(struct buf *out, const struct batch_work *work, const struct batch_fate *fate,
               const struct batch_park *park);

#ifdef __cplusplus
}
#endif
#endif
