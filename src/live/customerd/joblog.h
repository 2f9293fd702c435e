/* joblog.h: what happened to a job, for people: a text with one line for each event.
 *
 *     2026-11-15T14:03:21Z running on harbour (claim 00..., try 1) */
#ifndef BERTH_LIVE_CUSTOMERD_JOBLOG_H
#define BERTH_LIVE_CUSTOMERD_JOBLOG_H

#include "lang/base/buf.h"
#include "live/customerd/jobfiles.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JOBLOG_MAX (1 << 20) /* bytes: others, who may say much, are quoted in it; nothing comes behind */

/* Adds a line, at that time (seconds since 1970). The first line tells when the job was submitted: jobs to which
 * nothing has happened have no file. A line that cannot be written is lost: nothing depends on the log. */
void joblog_add(struct jobfiles *files, uint64_t job, int64_t submitted, int64_t now, const char *format, ...)
    ERR_FORMAT(5, 6);

/* Appends the log from that byte on, at most `max` bytes. Returns the size of the whole log. If there is no file,
 * `words` (NULL: none) says what happened at `changed`. */
uint64_t joblog_read(struct jobfiles *files, uint64_t job, int64_t submitted, int64_t changed, const char *words,
                     uint64_t offset, size_t max, struct buf *out);

bool joblog_exists(struct jobfiles *files, uint64_t job);

#ifdef __cplusplus
}
#endif
#endif
