/* layout.h: an OCI layout, a folder that holds an image, as the one file that a job takes along. */
#ifndef BERTH_CLI_JOBS_LAYOUT_H
#define BERTH_CLI_JOBS_LAYOUT_H

#include "lang/base/err.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Is the folder an OCI layout? */
bool layout_is(const char *folder);
/* Writes what the layout is made of into a tar file without a name, and returns its descriptor; -1 and `err`. The same layout makes the same bytes. */
int layout_pack(const char *folder, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
