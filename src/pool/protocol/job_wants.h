/* job_wants.h: what a job's ad says of what must be on its machine: folders (`Needs`), its image (`Image`), and that it may run as the user who
 * sent it (`RunAs = "owner"`, `ShareFiles`).
 *
 * Machines that do not have it are told apart by the job's own constraint, so that no owner's policy, and no older machine, need know of it. */
#ifndef BERTH_POOL_PROTOCOL_JOB_WANTS_H
#define BERTH_POOL_PROTOCOL_JOB_WANTS_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NEEDS_MAX 16   /* folders of one job */
#define IMAGE_MAX 1024 /* bytes of an image's name */

bool job_needs_are_good(const struct tree *ad, const struct expr *e);

/* Is it an image: the name of a file beneath the job's folder, a folder of the machine, or one in a registry (image_ref.h)? */
bool job_image_is_good(const struct tree *ad, const struct expr *e);
/* The sort of an image by its name: "oci", "sif" or "squashfs" of a file, "folder" of a path from the root, "docker" of one in a registry. */
const char *job_image_sort(const char *image, size_t len);

bool job_run_as_is_good(const struct tree *ad, const struct expr *e); /* "owner" or "claim" */
bool job_umask_is_good(const struct tree *ad, const struct expr *e);  /* octal digits */
/* Does it stay with its files, in the folder that it was sent from? Then it runs as the user who sent it, too. */
bool job_shares_files(const struct tree *ad);
bool job_runs_as_owner(const struct tree *ad);

/* Is there something that a machine must have? */
bool job_has_wants(const struct tree *ad);
/* The ad, with the clauses for that in its constraint, unless they stand there already; NULL and why not. The caller unrefs it. */
struct tree *job_wants_set(const struct tree *ad, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
