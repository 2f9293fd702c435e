/* ad_parts.h: what the files that make ads of resources share. For this folder only. */
#ifndef BERTH_MATCH_GRDL_AD_PARTS_H
#define BERTH_MATCH_GRDL_AD_PARTS_H

#include "lang/base/buf.h"
#include "match/grdl/translate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A dimension, kind and type as the beginning of names: G_mem__n_2fbinary. */
void ad_group_name(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point, bool folded);
/* G_mem__SUFFIX, and the type behind it unless it is none. */
void ad_dimension_name(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point,
                       const char *suffix, bool typed);

/* The value as it is compared: a number, or a key in quotes. */
void ad_value_print(struct buf *out, const struct grdl_value *value, bool folded);
void ad_value_print_inverted(struct buf *out, const struct grdl_value *value);

/* G_mem__n_2fbinary_is_KEY, of a value; false, and nothing appended, when that would be too long. */
bool ad_value_flag(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point, bool folded);

/* "some element is V", as an expression of one who looks at `other`. */
void ad_equal_print(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point, bool folded);

/* The constraint, and the preferences, as attributes in text. Nothing when there are none. */
void ad_constraint_print(struct buf *out, const struct grdl_reading *reading);
void ad_preferences_print(struct buf *out, const struct grdl_reading *reading);

#ifdef __cplusplus
}
#endif
#endif
