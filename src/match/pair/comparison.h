/* comparison.h: comparisons of one and the same thing with constants: can two of them be true at once?
 *
 * `x < 10` and `x > 12` cannot: a value contradiction (section 4.2.2). `x < 10` and `x == "a"` cannot: no value has both types
 * (4.4.4). On a line it is enough to look at pairs. */
#ifndef BERTH_MATCH_PAIR_COMPARISON_H
#define BERTH_MATCH_PAIR_COMPARISON_H

#include "lang/ad/value.h"

#ifdef __cplusplus
extern "C" {
#endif

struct comparison {
    enum op op;     /* OP_EQUAL to OP_GREATER_EQUAL, what is compared being on the left */
    struct value v; /* on the right; not error, and undefined only with `is` and `isnt` */
};

/* Do both compare strictly, while no value can be compared with both constants? */
bool comparisons_want_two_types(const struct dialect *dialect, const struct comparison *a, const struct comparison *b);

/* Does some value satisfy both? Also true when that cannot be told. */
bool comparisons_agree(const struct dialect *dialect, const struct comparison *a, const struct comparison *b);

#ifdef __cplusplus
}
#endif
#endif
