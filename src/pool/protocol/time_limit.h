/* time_limit.h: how long a job may run that says so in seconds of a machine of a certain speed.
 *
 *     NormalisedTimeLimit = 3600   ->   TimeLimit = (other.Benchmark > 0) is true ? NormalisedTimeLimit * 100000.0 / other.Benchmark : NormalisedTimeLimit
 *
 * The expression is for matchmakers and owners, who look at the job with the machine beside it. The provider reckons it out itself when a claim is
 * verified, from the number and from its own Benchmark: what a job writes into TimeLimit is not believed where it depends on a machine. */
#ifndef BERTH_POOL_PROTOCOL_TIME_LIMIT_H
#define BERTH_POOL_PROTOCOL_TIME_LIMIT_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TIME_LIMIT_NORMALISED "NormalisedTimeLimit"
#define TIME_LIMIT_REFERENCE 1e5 /* the Benchmark of the machine whose seconds these are */

bool time_limit_is_normalised(const struct tree *ad); /* does it say so, as a number? */
/* The ad with the TimeLimit that follows from it; NULL and why not. The caller unrefs it. */
struct tree *time_limit_set(const struct tree *ad, struct err *err);
/* Is that the TimeLimit that time_limit_set gives it? */
bool time_limit_follows(const struct tree *ad, const struct expr *limit);

/* How many seconds it may run on a machine with that ad; false: it does not say so. A machine that has no Benchmark counts as that of the reference. */
bool time_limit_on(const struct tree *ad, const struct tree *machine, double *ret);

#ifdef __cplusplus
}
#endif
#endif
