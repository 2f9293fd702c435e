/* event_log.h: what happened to a job, as events of HTCondor's job event log.
 *
 *     005 (12.000.000) 2026-11-18 14:20:15 Job terminated.
 *         (1) Normal termination (return value 0)
 *         ...
 *
 * Which events are missing follows from what the log has been told before and how the job stands now: so that nothing is lost when several changes are
 * seen at once, or while nobody looked. The same job, seen again, gives the same bytes: times are those of what is recorded. */
#ifndef BERTH_LIVE_CUSTOMERD_EVENT_LOG_H
#define BERTH_LIVE_CUSTOMERD_EVENT_LOG_H

#include "lang/base/buf.h"
#include "live/customerd/attempts.h"
#include "pool/customer/customer.h"

#ifdef __cplusplus
extern "C" {
#endif

#define EVENT_LOG_END "...\n" /* the last line of each event */

enum log_phase { LOG_NEW, LOG_WAITS, LOG_RUNS, LOG_HELD, LOG_OVER, LOG_PHASES };

/* What the log of a job has been told. */
struct log_told {
    enum log_phase phase;
    uint64_t cluster; /* the number of the submission's first job, by which the log calls all of them */
    uint64_t serial;  /* the last try of whose beginning was told */
    uint64_t failed;  /* how many tries had failed */
    int64_t at;       /* the time of the last event: none is earlier */
    int64_t size;     /* KiB of memory that was told of that try */
    int suspended;    /* 1: the log says that it stands still */
};

struct log_look {
    const struct job_view *view;
    const struct job_attempts *tries; /* or NULL */
    const char *host;                 /* where it was submitted */
    const char *notes[2];             /* lines for the event of its submission; or NULL */
    int64_t now;
};

/* Appends the events that are missing, each with its last line, and notes them in `told`. */
void event_log_add(const struct log_look *look, struct log_told *told, struct buf *out);

#ifdef __cplusplus
}
#endif
#endif
