/* units.h: names of units, what they measure and how many of its base unit they are.
 *
 *     name   category    factor            value in base units = value * factor * 10^exponent
 *     "hr"   "time"      3600, 0
 *     "ns"   "time"      1, -9
 *     "GB"   "binary"    2^30, 0
 *
 * A factor is an integer and a power of ten, so that 0.3 ms and 300 us are the same number to the last bit. The table that everybody
 * begins with is table 8.1 (a month is 30 days) united with listing B.1. Rows of somebody's own are added at run time. Names are
 * compared as they are spelt: m and M differ. A name that is not in the table is a unit of its own, comparable only with itself. */
#ifndef BERTH_MATCH_GRDL_UNITS_H
#define BERTH_MATCH_GRDL_UNITS_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GRDL_UNITS_MAX 4096 /* rows of a table */

struct grdl_units;

struct grdl_unit {
    const char *name;
    const char *category;
    uint64_t factor; /* not 0 */
    int exponent;
};

struct grdl_units *grdl_units_new(void); /* with the rows that everybody begins with */
void grdl_units_free(struct grdl_units *units);

/* Adds a row. The factor is a product of decimals and powers: "1e-9", "0.5", "60*60*24", "2**30". -1 when the name is there already and means
 * something else, or when the factor is not one, is not above 0, or does not fit. */
int grdl_units_add(struct grdl_units *units, const char *name, const char *category, const char *factor,
                   struct err *err);

const struct grdl_unit *grdl_units_find(const struct grdl_units *units, const char *name, size_t len); /* or NULL */

/* The rows in the order in which they were added, for printing. */
uint32_t grdl_units_count(const struct grdl_units *units);
const struct grdl_unit *grdl_units_row(const struct grdl_units *units, uint32_t row);

/* Reads a whole text as a decimal ([+-]digits[.digits][e[+-]digits]) and gives it times factor * 10^exponent, correctly rounded as far as 19 digits
 * go. False: the text is not a number, or the number is too large. */
bool grdl_number_read(const char *text, size_t len, uint64_t factor, int exponent, double *ret_value);

#ifdef __cplusplus
}
#endif
#endif
