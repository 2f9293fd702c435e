/* places.c: whatever parses as an ad, each attribute's text has as many clauses as its tree, each in its place: at the beginning of
 * a text that parses on from there.
 *
 * Byte 0 chooses the dialect. */
#include "lang/text/places.h"
#include "lang/text/parse.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CLAUSES_MAX 4096

static size_t clause_count(const struct tree *tree, const struct expr *e)
{
    const struct expr *parts = tree_parts(tree, e);
    size_t count = 0;

    if (e->kind != EXPR_CHAIN || parts[1].label != OP_AND)
        return 1;
    for (uint32_t i = 0; i < e->u.run.count; i++)
        count += clause_count(tree, &parts[i]);
    return count;
}

static void check_attribute(const struct tree *ad, const struct expr *e, const char *text, size_t len)
{
    static size_t offsets[CLAUSES_MAX];
    size_t name_len, count = clause_count(ad, e), found;
    const char *name = symbols_text(ad->symbols, e->label, &name_len);

    if (count > CLAUSES_MAX)
        return;
    found = places_of_clauses(ad->dialect, text, len, name, name_len, offsets, CLAUSES_MAX);
    for (size_t i = 0; i < found; i++)
        if (offsets[i] >= len || (i && offsets[i] <= offsets[i - 1]))
            found = 0;
    if (found == count)
        return;
    fprintf(stderr, "%s has %zu clauses, and %zu places in order: %.*s\n", name, count, found, (int)len, text);
    abort();
}

/* Names that are written otherwise than they are called, by escapes, are not looked for in the text. */
static bool is_plain(const struct tree *ad, const struct expr *e)
{
    size_t len;
    const char *name = symbols_text(ad->symbols, e->label, &len);

    for (size_t i = 0; i < len; i++)
        if (name[i] == '\\' || name[i] == '\'' || (unsigned char)name[i] < ' ' || (unsigned char)name[i] >= 127)
            return false;
    return len > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct symbols *symbols = symbols_new(NULL, 0, 1);
    struct build build;
    struct tree *ad = NULL;
    struct buf text;
    struct err err;

    buf_init(&text);
    build_init(&build, symbols, size && data[0] & 1 ? &dialect_condor : &dialect_classic);
    if (size > 1) {
        buf_add(&text, (const char *)data + 1, size - 1);
        ad = parse_ad(&build, NULL, buf_string(&text), text.len, &err);
    }
    if (ad) {
        const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);

        for (uint32_t i = 0; i < root->u.run.count; i++)
            if (is_plain(ad, &parts[i]))
                check_attribute(ad, &parts[i], buf_string(&text), text.len);
    }
    tree_unref(ad);
    build_done(&build);
    symbols_free(symbols);
    buf_done(&text);
    return 0;
}
