/* pair.h: two ads see each other.
 *
 * Each ad is its own outermost scope. The other one is `other` (and TARGET) to it, and plain names that it does not define are looked up there.
 * Nothing is copied and neither ad is changed. */
#ifndef BERTH_MATCH_PAIR_PAIR_H
#define BERTH_MATCH_PAIR_PAIR_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pair {
    struct scope left, right; /* evaluate expressions of the left ad in `left`, and so on */
    struct surroundings around_left, around_right;
    struct label label_left, label_right;
};

/* Makes two ads see each other. Both are borrowed, and the pair must stay where it is. Either may be NULL: then the other one stands alone. */
void pair_init(struct pair *pair, const struct tree *left, const struct tree *right);

#ifdef __cplusplus
}
#endif
#endif
