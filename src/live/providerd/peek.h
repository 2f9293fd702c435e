/* peek.h: the end of a file in the folder of a job that runs, for its owner. The folder is the job's: links are not followed, and nothing
 * but regular files is opened. */
#ifndef BERTH_LIVE_PROVIDERD_PEEK_H
#define BERTH_LIVE_PROVIDERD_PEEK_H

#include "live/world/peek_order.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PEEK_FILES_MAX 32 /* names that are told when there is none of that name */

/* The answer: [ Reason = "ok"; File; Size; From; Data ], Data in base64url; or "missing", with the Files that there are; or "refused".
 * `folder` is the path of a folder of our own. The caller unrefs it. */
struct tree *peek_answer(struct symbols *symbols, const char *folder, const struct peek_order *order);

#ifdef __cplusplus
}
#endif
#endif
