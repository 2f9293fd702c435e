/* take.h: a gang that was found, docked once more with the ads themselves: what is left of each; not installed. */
#ifndef BERTH_MATCH_GANG_TAKE_H
#define BERTH_MATCH_GANG_TAKE_H

#include "match/gang/search.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The member before that one that is the same offer; 0 when there is none. */
uint32_t taken_before(const struct search *search, uint32_t number);

/* Docks the gang; `of` are its members' ads, by their numbers. An offer that is in it twice docks the second time as what is left of it, which is
 * put into `again` (one for each member, cleared). The caller pops the members, then calls ported_done for all of `again`. */
void taken_dock(const struct search *search, const struct ported *const *of, struct ported *again);

/* What is left of a member that is docked, by its Residual (the caller unrefs it); NULL when it has none. */
struct tree *taken_left(const struct members *members, uint32_t number);

/* The superior of a member as a plain ad: what the member sees of it, and of those under its own labels. The caller unrefs it. */
struct tree *taken_counterpart(const struct members *members, uint32_t number);

#ifdef __cplusplus
}
#endif
#endif
