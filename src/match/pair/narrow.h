/* narrow.h: an ad that takes fewer than it did: one more clause in its constraint. */
#ifndef BERTH_MATCH_PAIR_NARROW_H
#define BERTH_MATCH_PAIR_NARROW_H

#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ad with one more expression, from the tree `from` (NULL: none), in its constraint. The caller unrefs it. */
struct tree *constraint_narrow(struct tree *ad, const struct tree *from, const struct expr *rule);
/* The same for an expression that is a text; where it cannot be read in the ad's dialect, the ad itself. */
struct tree *constraint_narrow_text(struct tree *ad, const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
