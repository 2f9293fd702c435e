/* seen.h: which matches of an ad have been taken into account: all up to a number, and some beyond it. */
#ifndef BERTH_POOL_PROTOCOL_SEEN_H
#define BERTH_POOL_PROTOCOL_SEEN_H

#include "pool/protocol/fields.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Is that match among those taken into account? */
bool seen_has(const struct seen *seen, uint64_t incarnation, uint64_t number);

/* Adds the match. False when it is there already, or lies too far beyond a gap to be added. Another incarnation begins
 * anew. */
bool seen_add(struct seen *seen, uint64_t incarnation, uint64_t number);

/* The matchmaker says that numbers up to `settled` no longer count. Another incarnation begins anew. */
void seen_settle(struct seen *seen, uint64_t incarnation, uint64_t settled);

bool seen_equal(const struct seen *a, const struct seen *b);

#ifdef __cplusplus
}
#endif
#endif
