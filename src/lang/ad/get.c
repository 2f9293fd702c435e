/* get.c: reads attributes of an ad that are plain values. */
#include "lang/ad/get.h"

#include <stdlib.h>
#include <string.h>

const struct expr *ad_find(const struct tree *ad, const char *name)
{
    symbol s = symbols_find(ad->symbols, name, strlen(name));

    return s == SYMBOL_NONE ? NULL : tree_find(ad, tree_root(ad), s);
}

bool ad_string(const struct tree *ad, const char *name, const char **ret, size_t *ret_len)
{
    const struct expr *e = ad_find(ad, name);

    if (!e || e->kind != EXPR_STRING)
        return false;
    *ret = e->u.run.count ? tree_string(ad, e) : "";
    *ret_len = e->u.run.count;
    return true;
}

bool ad_text(const struct tree *ad, const char *name, char *ret, size_t room)
{
    const char *text;
    size_t len;

    if (!ad_string(ad, name, &text, &len) || len >= room)
        return false;
    memcpy(ret, text, len);
    ret[len] = '\0';
    return true;
}

bool ad_integer(const struct tree *ad, const char *name, int64_t *ret)
{
    const struct expr *e = ad_find(ad, name);

    if (!e || (e->kind != EXPR_INTEGER && e->kind != EXPR_RELTIME))
        return false;
    *ret = e->u.integer;
    return true;
}

bool ad_word(const struct tree *ad, const char *name, uint64_t *ret)
{
    const char *text;
    char digits[17];
    size_t len;

    if (!ad_string(ad, name, &text, &len) || len != 16)
        return false;
    memcpy(digits, text, 16);
    digits[16] = '\0';
    if (strspn(digits, "0123456789abcdef") != 16)
        return false;
    *ret = strtoull(digits, NULL, 16);
    return true;
}

bool ad_number(const struct tree *ad, const char *name, double *ret)
{
    const struct expr *e = ad_find(ad, name);
    int64_t integer;

    if (e && e->kind == EXPR_REAL) {
        *ret = e->u.real;
        return true;
    }
    if (!ad_integer(ad, name, &integer))
        return false;
    *ret = (double)integer;
    return true;
}

bool ad_flag(const struct tree *ad, const char *name, bool *ret)
{
    const struct expr *e = ad_find(ad, name);

    if (!e || e->kind != EXPR_BOOLEAN)
        return false;
    *ret = e->small;
    return true;
}
