/* residual.h: what is left of an offer when a part of it has been given away (section 6.2.1).
 *
 *     [ Cpus = 8; Constraint = other.RequestCpus <= Cpus; Residual = [ Cpus = Cpus - other.RequestCpus ] ]
 *
 * An offer that says Residual is not consumed by a match: it goes on as the same ad with the attributes of the residual in place of
 * its own, each evaluated in the offer as it stands, with the ad that it was matched with as other. */
#ifndef BERTH_MATCH_PAIR_RESIDUAL_H
#define BERTH_MATCH_PAIR_RESIDUAL_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The Residual of an offer; NULL when it has none, or one that is not written as an ad. */
const struct expr *residual_of(const struct tree *offer);

/* Checks an offer: -1 and the reason when its Residual is not written as an ad, or reads itself. */
int residual_check(const struct tree *offer, struct err *err);

/* Makes the ad that is left (the caller unrefs it); NULL when the offer has no residual. `scratch` is left as it was. */
struct tree *residual_make(const struct env *env, struct arena *scratch, const struct tree *offer,
                           const struct tree *request);

/* The same for an offer that has its scope already: `scope` is its outermost one, with the counterpart around it. */
struct tree *residual_make_in(const struct env *env, struct arena *scratch, const struct scope *scope);

#ifdef __cplusplus
}
#endif
#endif
