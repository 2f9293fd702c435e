/* view.h: what a job sees besides its folder, as it is kept beside its order (record.h): a root of its own, and folders of the machine.
 *
 * It has a file of its own, because the order's is read by launchers of older programs as well. */
#ifndef BERTH_EXEC_VIEW_H
#define BERTH_EXEC_VIEW_H

#include "pool/protocol/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VIEW_FOLDERS_MAX 256

struct view; /* with memory of its own */

/* `number`: of the order. Folders that are writable come last. */
struct view *view_new(const struct executor_view *is, uint64_t number);
void view_free(struct view *view); /* takes NULL */
const struct executor_view *view_of(const struct view *view);

int view_write(int folder, const struct view *view, struct err *err);
/* The view of the order with that number; NULL: it is not there, or that of another. */
struct view *view_read(int folder, uint64_t number);

#ifdef __cplusplus
}
#endif
#endif
