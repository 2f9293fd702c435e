/* node_files.h: the files that a job of a workflow reads and other nodes have made: its NodeInputs, "NODE:FILE", in the
 * outputs of that node's jobs. */
#ifndef BERTH_LIVE_CUSTOMERD_NODE_FILES_H
#define BERTH_LIVE_CUSTOMERD_NODE_FILES_H

#include "live/customerd/questions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file of the last try of the job at `place`; both are lent. */
typedef void node_file_fn(void *user, const struct job_place *place, const struct job_file *file);

/* Calls `fn` for all wanted files that are here. True: one of them is still coming. */
bool node_files_each(struct questions *questions, const struct job_view *view, int64_t now, node_file_fn *fn,
                     void *user);

#ifdef __cplusplus
}
#endif
#endif
