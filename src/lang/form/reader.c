/* reader.c: reads a stream of ads, and recognises its form by its first characters.
 *
 *     <                 XML
 *     {   [ {           JSON: objects, or one array of them
 *     [   a comment     the language itself (so `[]` is an empty ad, not an empty array)
 *     else              the long form */
#include "lang/form/reader.h"

#include <stdlib.h>

struct form_reader *form_reader_new(struct symbols *symbols, const struct dialect *dialect, enum form form,
                                    const struct form_limits *limits, form_read_fn *read, void *user)
{
    static const struct form_limits none = {0};
    struct form_reader *reader = mem_alloc(sizeof *reader);

    *reader = (struct form_reader){.form = form};
    source_init(&reader->source, read, user, reader_bytes_max(limits));
    compose_init(&reader->compose, symbols, dialect, limits ? limits : &none);
    return reader;
}

void form_reader_free(struct form_reader *reader)
{
    if (!reader)
        return;
    source_done(&reader->source);
    compose_done(&reader->compose);
    free(reader);
}

enum form form_reader_form(const struct form_reader *reader)
{
    return reader->form;
}

unsigned form_reader_line(const struct form_reader *reader)
{
    return reader->line;
}

unsigned form_reader_column(const struct form_reader *reader)
{
    return reader->column;
}

/* Recognises the form. FORM_UNKNOWN: the stream is empty. */
static int form_recognise(struct source *source, enum form *ret_form, struct err *err)
{
    int c = source_skip(source, READER_BLANKS, err), next;
    size_t at = 1;

    if (c == SOURCE_FAILED)
        return -1;
    next = c == SOURCE_END ? SOURCE_END : source_at(source, at, err);
    if (c == '[')
        while (next > 0 && strchr(READER_BLANKS, next))
            next = source_at(source, ++at, err);
    if (next == SOURCE_FAILED)
        return -1;
    if (c == SOURCE_END)
        *ret_form = FORM_UNKNOWN;
    else if (c == '<')
        *ret_form = FORM_XML;
    else if (c == '{' || (c == '[' && next == '{'))
        *ret_form = FORM_JSON;
    else if (c == '[' || (c == '/' && (next == '/' || next == '*')))
        *ret_form = FORM_CLASSAD;
    else
        *ret_form = FORM_LONG;
    return 0;
}

/* Begins a stream. A byte order mark is not part of any form. */
static int reader_begin(struct form_reader *reader, struct err *err)
{
    int marked = source_is(&reader->source, 0, "\xef\xbb\xbf", err);
    int first = marked < 0 ? SOURCE_FAILED : source_at(&reader->source, 0, err);
    int second = first < 0 ? first : source_at(&reader->source, 1, err);

    if (second == SOURCE_FAILED)
        return -1;
    if (reader_utf16(first, second))
        return source_fail(&reader->source, 0, err, READER_UTF16);
    if (marked)
        reader->source.start += 3;
    if (reader->form == FORM_UNKNOWN && form_recognise(&reader->source, &reader->form, err) < 0)
        return -1;
    return reader->form == FORM_UNKNOWN ? 0 : 1;
}

int form_reader_next(struct form_reader *reader, struct tree **ret_ad, struct err *err)
{
    int got = 1;

    if (reader->over)
        return 0;
    if (!reader->begun) {
        reader->begun = true;
        got = reader_begin(reader, err);
    }
    if (got == 1)
        got = form_rows[reader->form].next(reader, ret_ad, err);
    if (got <= 0) {
        reader->over = true;
        compose_reset(&reader->compose);
    }
    return got;
}
