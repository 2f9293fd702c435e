/* functions.h: the function library, one row a function.
 *
 * A row holds in the dialects of its mask; a name that means different things has a row for each. Rows of one name stand next to
 * each other. The rows are in functions.def:
 *
 *     F(name, dialects, min, max, traits, function, "arguments", "one line of help")
 *
 * How a function is called:
 *   STRICT   all arguments are evaluated; any error gives error, else any undefined gives undefined; otherwise it is called
 *   EAGER    all arguments are evaluated; the function sees undefined and error itself
 *   LAZY     the function evaluates what it needs by call_argument
 * What its value depends on beyond the arguments (specialisation leaves such calls alone):
 *   TIME the time or zone of the evaluation; CHANCE random numbers; SCOPE the scope it stands in
 * CHOICE: f(a, b, c) is exactly a ? b : c. */
#ifndef BERTH_LANG_AD_FUNCTIONS_H
#define BERTH_LANG_AD_FUNCTIONS_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

enum function_traits {
    FUNCTION_STRICT = 1,
    FUNCTION_EAGER = 2,
    FUNCTION_LAZY = 4,
    FUNCTION_TIME = 8,
    FUNCTION_CHANCE = 16,
    FUNCTION_SCOPE = 32,
    FUNCTION_CHOICE = 64, /* three arguments that mean ?: */
    FUNCTION_TEST = 128,  /* gives true or false, whatever the argument */
};

#define FUNCTION_ANY_COUNT 32767 /* as `max`: no limit */

struct call {
    struct eval *eval;
    const struct scope *scope; /* the scope in which the call stands */
    const struct dialect *dialect;
    const struct expr *e;          /* the call itself */
    const struct value *arguments; /* evaluated; NULL for LAZY */
    uint32_t count;
};

typedef void function_fn(struct call *call, struct value *ret);

struct function {
    const char *name; /* in its usual spelling */
    unsigned char dialects, traits;
    int16_t min, max;
    function_fn *fn;
    const char *arguments, *help;
};

/* The row for a name in a dialect, or NULL. */
const struct function *function_find(const struct dialect *dialect, symbol name);

/* True when no call in the tree reads the time, rolls dice or evaluates text: then the tree means the same at
 * any time. The tree is searched only once. */
bool tree_is_steady(struct tree *tree);

/* All rows, for help. */
extern const struct function function_table[];
extern const size_t function_count;

/* Calls the function by its row's rules; `arguments` are ready values (not for LAZY functions). */
void function_apply(const struct function *function, struct call *call, struct value *ret);

/* For LAZY functions: evaluates argument n. */
void call_argument(struct call *call, uint32_t n, struct value *ret);

#ifdef __cplusplus
}
#endif
#endif
