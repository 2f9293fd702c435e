/* fn_any.c: HTCondor's functions of strings. They take any value, and turn it into a string first. They look
 * for undefined before they look for error. */
#include "lang/ad/fn.h"

#define ARGUMENTS_MAX 3

static void with_texts(struct call *call, function_fn *fn, struct value *ret)
{
    struct value texts[ARGUMENTS_MAX];
    struct call inner = *call;

    if (call_undefined_first(call, ret))
        return;
    for (uint32_t i = 0; i < call->count; i++) {
        inner.arguments = &call->arguments[i];
        fn_string(&inner, &texts[i]);
    }
    inner.arguments = texts;
    fn(&inner, ret);
}

#define OF_ANY(fn)                                         \
    void fn##_of_any(struct call *call, struct value *ret) \
    {                                                      \
        with_texts(call, fn, ret);                         \
    }

OF_ANY(fn_to_upper)
OF_ANY(fn_to_lower)
OF_ANY(fn_strcmp)
OF_ANY(fn_stricmp)
OF_ANY(fn_versioncmp)
OF_ANY(fn_version_gt)
OF_ANY(fn_version_ge)
OF_ANY(fn_version_lt)
OF_ANY(fn_version_le)
OF_ANY(fn_version_eq)

/* With an undefined bound the value is undefined, but an undefined version is error. */
void fn_version_in_range_of_any(struct call *call, struct value *ret)
{
    const struct value *v = call->arguments;

    if (v[0].type == VALUE_UNDEFINED && v[1].type != VALUE_UNDEFINED && v[2].type != VALUE_UNDEFINED)
        *ret = value_error();
    else
        with_texts(call, fn_version_in_range, ret);
}

void fn_eval_of_any(struct call *call, struct value *ret)
{
    with_texts(call, fn_eval, ret);
    if (call->arguments[0].type == VALUE_UNDEFINED)
        *ret = value_error();
}
