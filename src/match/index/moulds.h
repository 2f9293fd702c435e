/* moulds.h: ads that are written alike but for the values of their literals; not installed.
 *
 *     [ Name = "a7"; Memory = 512; Constraint = other.ImageSize <= Memory * 1024 ]
 *     [ Name = "c3"; Memory = 64;  Constraint = other.ImageSize <= Memory * 1024 ]      from the same mould
 *
 * Programs write ads: of a million, nearly all come from a few moulds. What does not depend on literals (which names an ad mentions, which functions it calls)
 * is found out once for each mould, and kept by whoever wants to know, under the mould's number. There are so many moulds at most; one that is no longer
 * seen makes room for another, whose number is new. An ad without a mould is read by itself. */
#ifndef BERTH_MATCH_INDEX_MOULDS_H
#define BERTH_MATCH_INDEX_MOULDS_H

#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MOULDS 256 /* a power of two: a mould's number modulo this is its place */
#define MOULD_NONE 0u

struct mould {
    struct tree *ad; /* the first ad from it, held; NULL: there is none at this place */
    uint32_t number;
    uint32_t missed; /* ads from other moulds that were looked for here since one from this was */
};

struct moulds {
    struct mould *items; /* MOULDS of them; NULL until the first is looked for */
};

void moulds_done(struct moulds *moulds);

/* The number of the ad's mould, or MOULD_NONE. */
uint32_t moulds_find(struct moulds *moulds, struct tree *ad);

/* Are two ads the same but for the values of their literals? The answer may be no where only spelling differs. */
bool moulds_alike(const struct tree *a, const struct tree *b);

#ifdef __cplusplus
}
#endif
#endif
