/* functions.c: the table of functions, and how one is called. */
#include "lang/ad/functions.h"

#include "lang/ad/fn.h"

/* Short names for the columns of functions.def. */
enum column {
    CLASSIC = DIALECT_CLASSIC,
    CONDOR = DIALECT_CONDOR,
    ALL = DIALECT_ALL,
    STRICT = FUNCTION_STRICT,
    EAGER = FUNCTION_EAGER,
    LAZY = FUNCTION_LAZY,
    TIME = FUNCTION_TIME,
    CHANCE = FUNCTION_CHANCE,
    SCOPE = FUNCTION_SCOPE,
    CHOICE = FUNCTION_CHOICE,
    TEST = FUNCTION_TEST,
    MANY = FUNCTION_ANY_COUNT,
};

#define ROW(name, dialects, min, max, traits, fn, arguments, help) \
    {#name, dialects, traits, min, max, fn, arguments, help},

const struct function function_table[] = {
#define F ROW
#define ALSO ROW
#include "lang/ad/functions.def"
#undef ALSO
#undef F
};
const size_t function_count = sizeof function_table / sizeof *function_table;

enum row_number {
#define F(name, ...) ROW_##name,
#define ALSO(name, ...) ROW_##name##_ALSO,
#include "lang/ad/functions.def"
#undef ALSO
#undef F
    ROW_END
};

/* The first row of each name, in the order in which names_new numbers them; then the end. */
static const uint16_t first_row[] = {
#define F(name, ...) ROW_##name,
#define ALSO(...)
#include "lang/ad/functions.def"
#undef ALSO
#undef F
    ROW_END};
#define NAME_COUNT (sizeof first_row / sizeof *first_row - 1)

const struct function *function_find(const struct dialect *dialect, symbol name)
{
    uint32_t n = symbol_name(name) - NAME_NUMBER_END; /* a name of the language wraps, and is too large */

    if (n >= NAME_COUNT)
        return NULL;
    for (unsigned row = first_row[n]; row < first_row[n + 1]; row++)
        if (function_table[row].dialects & dialect->bit)
            return &function_table[row];
    return NULL;
}

enum { KNOWN_STEADY = 1, KNOWN_RESTLESS };

bool tree_is_steady(struct tree *tree)
{
    const unsigned restless = FUNCTION_TIME | FUNCTION_CHANCE | FUNCTION_SCOPE;

    if (!tree->known) {
        tree->known = KNOWN_STEADY;
        for (uint32_t i = 0; i < tree->cell_count; i++) {
            const struct expr *e = &tree->cells[i];
            const struct function *function = e->kind == EXPR_CALL ? function_find(tree->dialect, e->u.name.id) : NULL;

            if (function && function->traits & restless)
                tree->known = KNOWN_RESTLESS;
        }
    }
    return tree->known == KNOWN_STEADY;
}

/* By the rule of strictness, an argument that is error settles the value; otherwise an argument that is undefined does. */
static bool settled(const struct call *call, struct value *ret)
{
    bool undefined = false;

    for (uint32_t i = 0; i < call->count; i++) {
        if (call->arguments[i].type == VALUE_ERROR) {
            *ret = value_error();
            return true;
        }
        undefined = undefined || call->arguments[i].type == VALUE_UNDEFINED;
    }
    if (undefined)
        *ret = value_undefined();
    return undefined;
}

/* Charges for the texts: every function may look through the texts that it is given. */
static bool charge_texts(struct call *call)
{
    for (uint32_t i = 0; call->arguments && i < call->count; i++)
        if (call->arguments[i].type == VALUE_STRING && !eval_charge_text(call->eval, call->arguments[i].len))
            return false;
    return true;
}

void function_apply(const struct function *function, struct call *call, struct value *ret)
{
    if (call->count < (uint32_t)function->min || call->count > (uint32_t)function->max || !charge_texts(call))
        *ret = value_error();
    else if (!(function->traits & FUNCTION_STRICT) || !settled(call, ret))
        function->fn(call, ret);
}

void call_argument(struct call *call, uint32_t n, struct value *ret)
{
    eval_expr(call->eval, call->scope, &tree_parts(call->scope->tree, call->e)[n], ret);
}
