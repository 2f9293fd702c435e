/* policy.h: the owner's policy: who may use this machine, when, and whom it prefers.
 *
 *     probed machine  <-  default policy  <-  the owner's file          each lies over what is left of it
 *
 * A policy is an ad. The default one accepts every job that fits in what is left, and says by Residual what is left after it. It has
 * `Fits` for that, apart from `Constraint`, so that an owner who writes a constraint of his own need only say `Fits && ...`. */
#ifndef BERTH_EXEC_POLICY_H
#define BERTH_EXEC_POLICY_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define POLICY_BYTES_MAX (1u << 20) /* of a file */

/* The default policy. The caller unrefs what this and the next two give. */
struct tree *policy_default(struct symbols *symbols);

/* Reads the policy in a file; NULL and "FILE:LINE:COLUMN: why" when it holds none. */
struct tree *policy_read(struct symbols *symbols, const char *file, struct err *err);

/* The policy laid over defaults (or over a machine). Where both have a Start, both must be true: what an owner wants before a job begins does
 * not make room where there is none. NULL when both together have more attributes than an ad can have. */
struct tree *policy_over(const struct tree *policy, const struct tree *defaults);

#ifdef __cplusplus
}
#endif
#endif
