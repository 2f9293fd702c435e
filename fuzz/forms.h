/* forms.h: the law of the readers of ads. Each fuzzer of a form names its form and includes this.
 *
 * Whatever is read is written in every form and read back equal; it is the same, errors and their places too, whether
 * the stream comes whole or in small pieces; an error has a place in the stream; no name is left behind.
 *
 *     byte 0   bit 0: the dialect; bits 1 to 4: the length of a piece */
#ifndef BERTH_FUZZ_FORMS_H
#define BERTH_FUZZ_FORMS_H

#include "lang/form/form.h"
#include "lang/text/print.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FORMS_ADS_MAX 16 /* of which the law is checked: the others are read only */

struct forms_stream {
    const char *text;
    size_t len, piece;
};

static ptrdiff_t forms_read(void *user, char *out, size_t room, struct err *err)
{
    struct forms_stream *stream = user;
    size_t count = stream->len < room ? stream->len : room;

    (void)err;
    if (stream->piece && count > stream->piece)
        count = stream->piece;
    memcpy(out, stream->text, count);
    stream->text += count;
    stream->len -= count;
    return (ptrdiff_t)count;
}

static void forms_check_ad(struct symbols *symbols, const struct tree *ad)
{
    for (int form = FORM_CLASSAD; form <= FORM_LONG; form++) {
        struct err err = {0};
        struct tree *back = NULL;
        struct buf text;

        buf_init(&text);
        if (form_write_ad(&text, (enum form)form, ad, &err) == 0)
            back = form_parse(symbols, ad->dialect, (enum form)form, NULL, text.text, text.len, &err);
        if (!back || !tree_equal(ad, tree_root(ad), back, tree_root(back))) {
            fprintf(stderr, "not kept as %s in %s: %u:%u: %s\n%.*s\n", form_name((enum form)form), ad->dialect->name,
                    err.line, err.column, err.text, (int)text.len, text.text);
            abort();
        }
        tree_unref(back);
        buf_done(&text);
    }
}

static void forms_check_place(const struct err *err, const char *text, size_t len)
{
    unsigned line, column;

    err_place(text, len, &line, &column);
    if (!err->text[0] || !err->line || !err->column || err->line > line ||
        (err->line == line && err->column > column)) {
        fprintf(stderr, "error without a place in the stream: %u:%u: %s\n", err->line, err->column, err->text);
        abort();
    }
}

/* Reads all; `out` gets the ads and the error. */
static void forms_read_all(struct symbols *symbols, const struct dialect *dialect, enum form form, const char *text,
                           size_t len, size_t piece, struct buf *out)
{
    const struct form_limits limits = {.bytes = 1u << 20};
    struct forms_stream stream = {text, len, piece};
    struct form_reader *reader = form_reader_new(symbols, dialect, form, &limits, forms_read, &stream);
    struct err err = {0};
    struct tree *ad;
    int got, count = 0;

    while ((got = form_reader_next(reader, &ad, &err)) == 1) {
        print_tree(out, ad, PRINT_COMPACT);
        buf_addf(out, " at %u\n", form_reader_line(reader));
        if (piece == 0 && count++ < FORMS_ADS_MAX)
            forms_check_ad(symbols, ad);
        tree_unref(ad);
    }
    if (got < 0) {
        forms_check_place(&err, text, len);
        buf_addf(out, "%u:%u: %s", err.line, err.column, err.text);
    }
    form_reader_free(reader);
}

static int forms_fuzz(enum form form, const uint8_t *data, size_t size)
{
    const struct dialect *dialect = size && data[0] & 1 ? &dialect_condor : &dialect_classic;
    struct symbols *symbols = symbols_new(NULL, 0, 0);
    struct buf whole, pieces;

    if (size == 0)
        goto done;
    buf_init(&whole);
    buf_init(&pieces);
    forms_read_all(symbols, dialect, form, (const char *)data + 1, size - 1, 0, &whole);
    forms_read_all(symbols, dialect, form, (const char *)data + 1, size - 1, 1 + (data[0] >> 1) % 16, &pieces);
    if (whole.len != pieces.len || (whole.len && memcmp(whole.text, pieces.text, whole.len) != 0)) {
        fprintf(stderr, "in pieces it is another:\n%.*s\n%.*s\n", (int)whole.len, whole.text, (int)pieces.len,
                pieces.text);
        abort();
    }
    buf_done(&whole);
    buf_done(&pieces);
    if (symbols_count(symbols) != 0) {
        fprintf(stderr, "%zu names are held by nobody\n", symbols_count(symbols));
        abort();
    }
done:
    symbols_free(symbols);
    return 0;
}

#endif
