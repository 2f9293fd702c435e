/* claims.c: JSON that others have written. */
#include "live/auth/claims.h"

#include "lang/form/form.h"

#include <string.h>

struct tree *claims_read(struct symbols *symbols, const char *json, size_t len, uint32_t cells, struct err *err)
{
    const struct form_limits limits = {.bytes = len, .cells = cells, .plain = true};

    if (len < 2 || json[0] != '{' || json[len - 1] != '}') {
        err_set(err, "expected an object"); /* neither an array of one, nor blanks around it */
        return NULL;
    }
    return form_parse(symbols, &dialect_classic, FORM_JSON, &limits, json, len, err);
}

const struct expr *claims_find(const struct tree *tree, const struct expr *object, const char *name)
{
    const struct expr *parts;

    if (!object)
        object = tree_root(tree);
    if (object->kind != EXPR_AD)
        return NULL;
    parts = tree_parts(tree, object);
    for (uint32_t i = 0; i < object->u.run.count; i++) {
        size_t len;
        const char *text = symbols_text(tree->symbols, parts[i].label, &len);

        if (len == strlen(name) && !memcmp(text, name, len))
            return &parts[i];
    }
    return NULL;
}

bool claims_text(const struct tree *tree, const struct expr *object, const char *name, size_t max, const char **ret,
                 size_t *ret_len)
{
    const struct expr *value = claims_find(tree, object, name);

    if (!value || value->kind != EXPR_STRING || !value->u.run.count || value->u.run.count > max)
        return false;
    *ret = tree_string(tree, value);
    *ret_len = value->u.run.count;
    return true;
}

bool claims_is(const struct tree *tree, const struct expr *value, const char *text)
{
    return value && value->kind == EXPR_STRING && value->u.run.count == strlen(text) &&
           !memcmp(tree_string(tree, value), text, strlen(text));
}

bool claims_has(const struct tree *tree, const struct expr *value, const char *text)
{
    const struct expr *parts;

    if (!value || value->kind != EXPR_LIST)
        return claims_is(tree, value, text);
    parts = tree_parts(tree, value);
    for (uint32_t i = 0; i < value->u.run.count; i++)
        if (claims_is(tree, &parts[i], text))
            return true;
    return false;
}
