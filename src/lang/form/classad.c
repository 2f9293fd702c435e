/* classad.c: ads in the language itself, one after another, comments and blanks between them.
 *
 * The reader parses an ad where it stands in the window. That fails when more of the ad is to come, or when it is wrong. Then the reader finds its
 * end by counting square brackets outside strings, quoted names or times, and comments, and parses its text. It parses an ad that is not closed as
 * well: the parser says what is wrong with it, and where. */
#include "lang/form/reader.h"

#include "lang/text/parse.h"
#include "lang/text/print.h"

/* The offset of the last byte of the comment that begins at `offset`; `offset` itself when none begins there;
 * SOURCE_END when it has no end; or SOURCE_FAILED. */
static ptrdiff_t comment_end(struct source *source, size_t offset, struct err *err)
{
    int next = source_at(source, offset + 1, err);
    ptrdiff_t end;

    if (next == SOURCE_FAILED)
        return SOURCE_FAILED;
    if (next == '/')
        return source_find(source, offset + 2, '\n', err);
    if (next != '*')
        return (ptrdiff_t)offset;
    end = source_find_text(source, offset + 2, "*/", err);
    return end < 0 ? end : end + 1;
}

/* The offset of the quote that closes the one at `offset`, SOURCE_END or SOURCE_FAILED. */
static ptrdiff_t quote_end(struct source *source, size_t offset, struct err *err)
{
    int quote = source_at(source, offset, err), c;

    for (offset++;; offset++) {
        const char *text = source_text(source);
        size_t len = source_len(source);

        while (offset < len && text[offset] != quote && text[offset] != '\\')
            offset++;
        c = source_at(source, offset, err);
        if (c == quote)
            break;
        if (c < 0)
            return c;
        if (c == '\\')
            offset++;
    }
    return (ptrdiff_t)offset;
}

/* The length of the ad at the window's start: up to its closing bracket, or as far as it takes to see that it is wrong. */
static int ad_end(struct source *source, size_t *ret_len, struct err *err)
{
    static const bool special[256] = {['['] = true, [']'] = true, ['"'] = true, ['\''] = true, ['/'] = true};
    ptrdiff_t end = -1;
    unsigned depth = 0;

    for (;;) {
        const unsigned char *text = (const unsigned char *)source_text(source);
        size_t at = (size_t)(end + 1), len = source_len(source);
        int c;

        while (at < len && !special[text[at]])
            at++;
        c = source_at(source, at, err);
        end = (ptrdiff_t)at;
        if (c == '[' && ++depth > TREE_DEPTH_MAX)
            break;
        if (c == ']' && --depth == 0)
            break;
        if (c < 0)
            end = c;
        else if (c == '"' || c == '\'')
            end = quote_end(source, at, err);
        else if (c == '/')
            end = comment_end(source, at, err);
        if (end == SOURCE_FAILED)
            return -1;
        if (end == SOURCE_END) {
            end = (ptrdiff_t)source_len(source) - 1;
            break;
        }
    }
    *ret_len = (size_t)end + 1;
    return *ret_len > source->limit ? source_too_long(source, err) : 0;
}

/* Takes blanks and comments; returns the next byte as source_at does. */
static int between_skip(struct source *source, struct err *err)
{
    for (;;) {
        int c = source_skip(source, READER_BLANKS, err);
        ptrdiff_t end = c == '/' ? comment_end(source, 0, err) : 0;

        if (end == 0)
            return c;
        if (end == SOURCE_FAILED)
            return SOURCE_FAILED;
        if (end == SOURCE_END && source_text(source)[1] == '*') {
            source_fail(source, 0, err, "this comment has no end: expected '*/'");
            return SOURCE_FAILED;
        }
        source_take(source, end == SOURCE_END ? source_len(source) : (size_t)end + 1);
    }
}

/* Reads the ad at the window's start. Nearly always it is right, and whole in the window: then reading it tells where it ends. */
static struct tree *ad_read(struct form_reader *reader, const struct parse_options *options, size_t *ret_len,
                            struct err *err)
{
    struct source *source = &reader->source;
    struct build *build = &reader->compose.build;
    struct tree *ad;
    size_t len;

    buf_string(&source->window); /* padded for the parser */
    ad = parse_ad_front(build, options, source_text(source), source_len(source), &len);
    if (ad && len > source->limit) {
        tree_unref(ad);
        ad = NULL;
    }
    if (!ad && ad_end(source, &len, err) == 0)
        ad = parse_ad(build, options, source_text(source), len, err);
    *ret_len = len;
    return ad;
}

int classad_next(struct form_reader *reader, struct tree **ret_ad, struct err *err)
{
    struct source *source = &reader->source;
    struct parse_options options = {.cells_max = reader->compose.cells_max,
                                    .attributes_max = reader->compose.attributes_max};
    int c = between_skip(source, err);
    struct tree *ad;
    size_t len;

    if (c == SOURCE_END)
        return 0;
    if (c != '[')
        return source_expected(source, c, "'[' of an ad", err);
    reader->line = options.first_line = source->line;
    reader->column = options.first_column = source->column;
    ad = ad_read(reader, &options, &len, err);
    if (!ad)
        return -1;
    source_take(source, len);
    *ret_ad = ad;
    return 1;
}

void classad_write(struct buf *out, const struct tree *ad)
{
    print_tree(out, ad, PRINT_PLAIN);
    buf_addc(out, '\n');
}
