/* ads.h: a problem made of ads: who is compatible with whom, what each thinks of the other, and how much of everything there is.
 *
 * Requests that are the same to all offers are one row, and offers that are the same to all requests one kind; the index is asked what fits, once
 * for each row. The amount of X that a request asks for is its RequestX, else its X, else 0; what an offer has free is its X, and without one it
 * has no limit. A request that says Count = N stands for N. Duration and Priority are read from the request.
 *
 * An ad that cannot take part (an amount is below 0 or not a number; a request has Ports, and wants a gang) is told of, and gets nothing. */
#ifndef BERTH_MATCH_ASSIGN_ADS_H
#define BERTH_MATCH_ASSIGN_ADS_H

#include "lang/ad/eval.h"
#include "match/assign/assign.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASSIGN_REQUESTS_MAX 2000000u /* requests, with their Count */

/* Tells of an ad that takes no part, and why: its place among the requests or the offers. */
typedef void assign_told_fn(void *user, bool offer, uint32_t place, const char *why);

struct assign_ads {
    struct tree *const *requests;
    struct tree *const *offers;
    uint32_t request_count, offer_count;
    const char *const *quantities; /* names of attributes */
    uint32_t quantity_count;
    assign_told_fn *told; /* or NULL */
    void *user;
};

/* A problem made of ads; its offers are numbered as the ads are. */
struct assign_built {
    struct assign_problem problem;
    uint32_t *request_of; /* by request of the problem: the place of its ad */
    uint64_t evaluations; /* pairs that were evaluated */
};

/* Makes a problem of ads, which share one table of symbols, of names_new. -1: there are too many requests, or quantities. `scratch` is
 * left as it was. */
int assign_build(struct assign_built *built, const struct env *env, struct arena *scratch, const struct assign_ads *ads,
                 struct err *err);
void assign_built_done(struct assign_built *built);

#ifdef __cplusplus
}
#endif
#endif
