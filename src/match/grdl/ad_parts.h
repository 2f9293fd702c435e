/* ad_parts.h: what the files that make ads of resources share. For this folder only. */
#ifndef BERTH_MATCH_GRDL_AD_PARTS_H
#define BERTH_MATCH_GRDL_AD_PARTS_H

#include "lang/base/buf.h"
#include "match/grdl/translate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a dimension, kind and type as the beginning of names: G_mem__n_2fbinary. */
void ad_group_name(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point, bool folded);
/* Writes G_mem__SUFFIX, with the type behind it if it is `typed`. */
void ad_dimension_name(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point,
                       const char *suffix, bool typed);

/* Write the value as it is compared: a number, or a key in quotes. */
void ad_value_print(struct buf *out, const struct grdl_value *value, bool folded);
void ad_value_print_inverted(struct buf *out, const struct grdl_value *value);

/* Writes G_mem__n_2fbinary_is_KEY for a value; false, and nothing appended, when that would be too long. */
bool ad_value_flag(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point, bool folded);

/* Writes "some element is V", as an expression of an ad that looks at `other`. */
void ad_equal_print(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point, bool folded);

/* Write the constraint, and the preferences, as attributes in text; nothing when there are none. */
void ad_constraint_print(struct buf *out, const struct grdl_reading *reading);
void ad_preferences_print(struct buf *out, const struct grdl_reading *reading);

#ifdef __cplusplus
}
#endif
#endif
