/* job_progress.h: how far a job is, as its line of status says: "40% epoch 12". Who sends and who takes that line need know nothing of it: it is a line as
 * before, and reads well. */
#ifndef BERTH_POOL_PROTOCOL_JOB_PROGRESS_H
#define BERTH_POOL_PROTOCOL_JOB_PROGRESS_H

#include "lang/base/buf.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Does the line begin with a percentage from 0 to 100, as a word of its own? Gives the part of 1, and the words behind it. NULL is no such line. */
bool progress_read(const char *line, double *ret_part, const char **ret_words);

/* Appends such a line; `part` from 0 to 1, `words` may be "". Four digits are kept. */
void progress_print(struct buf *out, double part, const char *words);

#ifdef __cplusplus
}
#endif
#endif
