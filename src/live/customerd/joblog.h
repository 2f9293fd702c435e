/* joblog.h: what happened to a job, for people: a text, one line an event.
 *
 *     2026-11-15T14:03:21Z running on harbour (claim 00..., try 1) */
#ifndef BERTH_LIVE_CUSTOMERD_JOBLOG_H
#define BERTH_LIVE_CUSTOMERD_JOBLOG_H

#include "lang/base/buf.h"
#include "live/customerd/jobfiles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A line more, at that time (seconds since 1970). The first one tells when the job was submitted: jobs to which nothing has happened have
 * no file. What cannot be written is lost: the log decides nothing. */
void joblog_add(struct jobfiles *files, uint64_t job, int64_t submitted, int64_t now, const char *format, ...)
    ERR_FORMAT(5, 6);

/* The log from that byte on, appended; at most `max` bytes. The size of all of it. Where there is no file, `words` (NULL: none) is what
 * happened at `changed`. */
uint64_t joblog_read(struct jobfiles *files, uint64_t job, int64_t submitted, int64_t changed, const char *words,
                     uint64_t offset, size_t max, struct buf *out);

bool joblog_exists(struct jobfiles *files, uint64_t job);

#ifdef __cplusplus
}
#endif
#endif
