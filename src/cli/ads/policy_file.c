/* policy_file.c: reads an administrative policy from a file, in the ClassAd form. */
#include "cli/ads/policy_file.h"

#include "cli/term/file.h"
#include "cli/term/report.h"
#include "lang/base/array.h"
#include "lang/text/parse.h"

#include <stdlib.h>

/* Where the attributes of the ad begin in the text. */
struct places {
    size_t *starts;
    uint32_t count, room;
};

static void note_attribute(void *user, size_t start, size_t end)
{
    struct places *places = user;

    (void)end;
    ARRAY_ROOM(places->starts, places->count, places->room, 16);
    places->starts[places->count++] = start;
}

static void note_comment(void *user, size_t offset, size_t len)
{
    (void)user;
    (void)offset;
    (void)len;
}

/* Finds the place of an attribute that is wrong, for the error. */
static void find_place(const struct places *places, const struct tree *ad, symbol attribute, const char *text,
                       struct err *err)
{
    const struct expr *parts = tree_parts(ad, tree_root(ad));

    for (uint32_t i = 0; i < places->count && i < tree_root(ad)->u.run.count; i++)
        if (symbol_same(parts[i].label, attribute))
            err_place(text, places->starts[i], &err->line, &err->column);
}

int policy_load(struct policy *ret_policy, struct symbols *symbols, const struct dialect *dialect, const char *file)
{
    struct places places = {0};
    struct parse_watch watch = {note_comment, note_attribute, &places};
    struct parse_options options = {.cells_max = PARSE_CELLS_MAX, .watch = &watch};
    const char *line = NULL;
    size_t line_len = 0;
    struct build build;
    struct tree *ad;
    struct buf text;
    struct err err = {0};
    symbol attribute = SYMBOL_NONE;
    int result = -1;

    buf_init(&text);
    if (file_read(file, &text) < 0) {
        buf_done(&text);
        return -1;
    }
    build_init(&build, symbols, dialect);
    ad = parse_ad(&build, &options, text.text, text.len, &err);
    if (ad) {
        result = policy_init(ret_policy, ad, &attribute, &err);
        if (result < 0)
            find_place(&places, ad, attribute, buf_string(&text), &err);
    }
    if (result < 0) {
        text_line(text.text, text.len, err.line, &line, &line_len);
        report_error(file, &err, line, line_len);
    }
    tree_unref(ad);
    build_done(&build);
    buf_done(&text);
    free(places.starts);
    return result;
}
