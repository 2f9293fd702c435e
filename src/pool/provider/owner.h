/* owner.h: is a provider in the owner state: unavailable to all (section 2.6.1)?
 *
 * Before it advertises, a provider folds its own state and the time into its constraint. When the constraint becomes `false`
 * nobody can be accepted: the provider withdraws its ad, says why, and looks again when its state changes, or when the time
 * may change the answer.
 *
 *     DayTime() > '18:00' && other.Memory < 64      at 12:00   false: closed until 18:00:01
 *                                                   at 19:00   other.Memory < 64: open until 0:00:00
 *
 * An ad with Ports is examined port by port: it is closed when nobody can fill a port that must be filled, or when nobody can fill any.
 *
 * next_change.h finds the seconds at which the time may change something, and each is tried until the answer changes. Nothing is
 * read but the ad and the environment. */
#ifndef BERTH_POOL_PROVIDER_OWNER_H
#define BERTH_POOL_PROVIDER_OWNER_H

#include "lang/ad/eval.h"
#include "lang/base/buf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OWNER_NEVER INT64_MAX
#define OWNER_STEPS_MAX 60000 /* steps of looking ahead, as evaluation counts them: two or three milliseconds */
#define OWNER_AGAIN 60        /* seconds after which to look again when the work suffices for no answer */
#define OWNER_WHY_MAX 8       /* at most so many clauses are told */
#define OWNER_CLAUSE_MAX 400  /* bytes of each clause */

struct owner {
    bool open;     /* what is left of the constraint is not false: somebody may be accepted */
    bool sure;     /* at `until` the answer changes; if not sure, it may change, and must be looked at again then */
    int64_t until; /* the answer holds up to the second before; OWNER_NEVER: the time alone never changes it */
};

/* Looks at env->now. `until` is right to the second, and never late except in one case: where the work of looking ahead
 * is at its limit before OWNER_AGAIN seconds (or the constraint depends on chance), it is env->now + OWNER_AGAIN.
 * `scratch` is left as it was. */
void owner_look(const struct env *env, struct arena *scratch, const struct tree *ad, struct owner *ret);

/* Appends a line for people, without an end: "no counterpart can satisfy LoadAvg < 0.3 (LoadAvg is 0.8)": the
 * clauses of the constraint that are not true now, whoever asks. Nothing when the ad is open. */
void owner_why(const struct env *env, struct arena *scratch, const struct tree *ad, struct buf *out);

/* Does only the owner state stand between the ad and that counterpart? Every clause of the ad's constraint is then either true for it, or false
 * whoever asks, and there is at least one of those. Not known, and so false, of an ad with ports, and of one whose clauses together cost more than
 * one evaluation may. Adds the steps of evaluation to `steps`. */
bool owner_alone(const struct env *env, struct arena *scratch, const struct tree *ad, const struct tree *counterpart,
                 uint64_t *steps);

#ifdef __cplusplus
}
#endif
#endif
