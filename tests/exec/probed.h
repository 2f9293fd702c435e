/* probed.h: what a probed ad says, as text. Included after tap.h. */
#ifndef BERTH_TESTS_PROBED_H
#define BERTH_TESTS_PROBED_H

#include "common/lang.h"

/* The attribute as it prints; "-" when there is none. */
static inline const char *said(const struct tree *ad, const char *name)
{
    symbol id = ad ? symbols_find(ad->symbols, name, strlen(name)) : SYMBOL_NONE;
    const struct expr *e = id ? tree_find(ad, tree_root(ad), id) : NULL;
    struct buf *out = lang_scratch();

    if (!e)
        return "-";
    print_expr(out, ad, e, PRINT_PLAIN);
    return buf_string(out);
}

static inline int64_t number(const struct tree *ad, const char *name)
{
    return strtoll(said(ad, name), NULL, 10);
}

static inline void check(const struct tree *ad, const char *name, const char *expected, const char *sentence)
{
    if (!tap_ok(strcmp(said(ad, name), expected) == 0, "%s", sentence))
        tap_diag("%s = %s, expected %s", name, said(ad, name), expected);
}

#endif
