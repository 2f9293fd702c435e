/* number.h: numbers as text, exactly, in no locale.
 *
 * Reading gives the double nearest to the decimal text; printing gives the shortest text that reads back as the same
 * double. Both have a quick way for numbers of few digits, which most numbers in ads are, and a slow way for the rest. */
#ifndef BERTH_LANG_BASE_NUMBER_H
#define BERTH_LANG_BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NUMBER_TEXT_MAX 40 /* bytes that are enough for any number */

/* Writes the number at `out`, without a NUL; returns the number of bytes written. */
size_t number_print_integer(int64_t value, char *out);

/* A finite real, with a point or an exponent: 0.3, 1000.0, 1.5e+20. */
size_t number_print_real(double value, char *out);

/* A finite real as C's "%.15E". */
size_t number_print_e15(double value, char *out);

/* Reads `DIGITS[.DIGITS][e[+-]DIGITS]` (no sign, no blanks) at the start of the text; returns how many bytes it read, 0 when
 * there is no digit. It reads a point only if a digit follows. */
size_t number_parse_real(const char *text, size_t len, double *ret_value);

#ifdef __cplusplus
}
#endif
#endif
