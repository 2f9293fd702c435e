/* translate.h: resources as ads and back, so that one engine matches both.
 *
 * An ad is made of a reading: dimensions and types are those of its consumer. It says each thing twice, once for people and for ads of
 * others, and once for other resources:
 *
 *     Name, Type         the name and the class
 *     os = "linux"       a characteristic as it is written; several are a list; an unspecified one is true
 *     Grdl = [ ... ]     the whole resource as a record (document.h), from which it comes back
 *     G_DIM__...         what the constraints of other resources look at:
 *        G_DIM__has              there is a characteristic in the dimension; __hasT of a type, __open, __openT an unspecified one
 *        G_DIM__KT_is_KEY        there is that value, of a kind K and type T
 *        G_DIM__KT_lo, _hi, _all the smallest and largest value of a kind K (n, t, v, d; f: text without case) and type T, and all when
 *                                there are more than one; numbers in base units, the rest as keys (grdl_value_key)
 *        G_DIM__only, __onlyT    the one kind and type, the one type, that all its values have
 *     Constraint         the requirements: "some element" of a dimension is below 5 when its smallest is
 *     Preferences        a list, two numbers or texts for each preference, larger ones are better: how good, then by how much. Each component is
 *                        guarded, so that a docking vector of them discards nobody
 *     Rank               the first preference alone, for use without a docking vector
 *
 * The constraint is true exactly when the requirements are met (6.11). The preferences order as grdl_rank does, where all candidates
 * have values of one kind and type in a dimension, at most two of them each; distances only of numbers and dates. */
#ifndef BERTH_MATCH_GRDL_TRANSLATE_H
#define BERTH_MATCH_GRDL_TRANSLATE_H

#include "lang/text/tree.h"
#include "match/grdl/sets.h"

#ifdef __cplusplus
extern "C" {
#endif

enum grdl_ad_flags {
    GRDL_AD_WANTS_NOTHING = 1, /* without the constraint: for one-way matches */
};

/* Makes an ad of a reading; the caller unrefs it. NULL when the ad would be too large. The symbols come from names_new. */
struct tree *grdl_to_ad(struct symbols *symbols, const struct grdl_reading *reading, unsigned flags);

/* Makes the resource of an ad; the caller frees it. An ad with a Grdl attribute is what that says. Of any other ad, attributes that are literals,
 * or lists of them, are characteristics; a constraint that is a conjunction of comparisons of the other's attributes with constants becomes
 * requirements; a rank that is an attribute of the other, or minus one, becomes a preference. NULL and what cannot be expressed otherwise. */
struct grdl_resource *grdl_from_ad(const struct tree *ad, struct err *err);

/* Finds the pairs of two sides by the index (match/index/index.h) over the ads of the right, in no order: peers or, one way, pairs in which the
 * right meets the requirements of the left. `ret_done`, unless it is NULL, says what the index did. */
struct grdl_indexed {
    uint64_t candidates, evaluations;
};
typedef void grdl_pair_fn(void *user, uint32_t left, uint32_t right);
void grdl_index_pairs(const struct grdl_reading *const *left, uint32_t left_count,
                      const struct grdl_reading *const *right, uint32_t right_count, bool one_way, grdl_pair_fn *found,
                      void *user, struct grdl_indexed *ret_done);

#ifdef __cplusplus
}
#endif
#endif
