/* job_gpus.h: what a job wants of each GPU that it is given. */
#ifndef BERTH_LIVE_CUSTOMERD_JOB_GPUS_H
#define BERTH_LIVE_CUSTOMERD_JOB_GPUS_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Does the ad say RequireGpus, and how many GPUs it asks for? An ad with ports says whom it wants at each port. */
bool job_requires_gpus(const struct tree *ad);

/* The ad with a constraint that only machines satisfy which have as many such GPUs free; NULL and the error. The caller unrefs it. */
struct tree *job_gpus_set(const struct tree *ad, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
