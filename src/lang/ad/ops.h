/* ops.h: the operators of the language, on values. Evaluation, specialisation and the index all call these. */
#ifndef BERTH_LANG_AD_OPS_H
#define BERTH_LANG_AD_OPS_H

#include "lang/ad/value.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Applies any binary operator, && and || included (both operands are known). */
void op_binary(const struct dialect *dialect, enum op op, const struct value *a, const struct value *b,
               struct value *ret);
void op_prefix(const struct dialect *dialect, enum op op, const struct value *a, struct value *ret);

/* A condition of && || ! ?: as a truth value: VALUE_BOOLEAN, VALUE_UNDEFINED or VALUE_ERROR. */
enum value_type op_condition(const struct dialect *dialect, const struct value *v, bool *ret);

/* The non-strict `is`: are both values of one type and the same? */
bool op_is(const struct dialect *dialect, const struct value *a, const struct value *b);

/* A comparison of two reals by an operator from OP_EQUAL to OP_GREATER_EQUAL, except `is` and `isnt`. */
bool op_compare_reals(enum op op, double a, double b);

/* Compares strings as the comparison operators order them: folded to lower-case ASCII, then by byte. <0, 0, >0. */
int op_compare_strings(const char *a, size_t a_len, const char *b, size_t b_len);

/* A comparison with its operands exchanged: `5 < x` is `x > 5`. */
enum op op_mirrored(enum op op);

/* The operator of a text such as "<=" or "is", for anyCompare and allCompare; OP_NONE when there is none. */
enum op op_find(const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
