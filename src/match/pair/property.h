/* property.h: a clause that compares an attribute of the counterpart with a constant: `other.Memory >= 64` (section 4.2).
 *
 * Nearly all clauses of real constraints are of this form once the ad's own attributes are folded in. A property is tested by a
 * look into the counterpart, without an evaluation, as long as the attribute there is written as a literal; else the test says so,
 * and the clause must be evaluated. */
#ifndef BERTH_MATCH_PAIR_PROPERTY_H
#define BERTH_MATCH_PAIR_PROPERTY_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PROPERTY_STRING_MAX 4096 /* longer constants are compared by evaluation, which counts the work */

struct property {
    symbol name;        /* of the counterpart's attribute; borrowed from the tree */
    unsigned char type; /* enum value_type of the constant: never undefined, error or an aggregate */
    unsigned char op;   /* OP_EQUAL to OP_GREATER_EQUAL but for `is` and `isnt`, the attribute being on the left */
    unsigned char when; /* which outcomes of a comparison make the clause true: PROPERTY_LESS, ... */
    uint32_t len;       /* of a string */
    union {
        int64_t integer; /* also times in seconds, and booleans */
        double real;
        const char *string; /* in the tree */
    } u;
};

enum { PROPERTY_LESS = 1, PROPERTY_SAME = 2, PROPERTY_MORE = 4, PROPERTY_APART = 8 /* NaN */ };

/* What a test says; PROPERTY_EVALUATE: the attribute is not a literal, so the clause must be evaluated. */
enum property_answer { PROPERTY_FALSE, PROPERTY_TRUE, PROPERTY_UNDEFINED, PROPERTY_ERROR, PROPERTY_EVALUATE };

/* The name that a reference of a specialised expression in `ad` asks of the counterpart, as x, other.x and TARGET.x do; else
 * SYMBOL_NONE. */
symbol property_asked(const struct tree *ad, const struct expr *e);

/* Does `e`, of the specialised expression `tree` that stands in `ad`, have this form? */
bool property_read(const struct tree *ad, const struct tree *tree, const struct expr *e, struct property *ret);

/* Tests the property on the counterpart, in the dialect of the ad that says it. */
enum property_answer property_test(const struct property *property, const struct env *env,
                                   const struct dialect *dialect, const struct tree *counterpart);

struct value property_constant(const struct property *property);

#ifdef __cplusplus
}
#endif
#endif
