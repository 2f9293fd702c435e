/* long.c: the long form, a line an attribute, a blank line between ads.
 *
 *     -- Schedd: pool.example.org          lines that HTCondor's tools print around ads are skipped,
 *     # a comment                          and so are comments
 *     Name = "slot1@host"                  a backslash escapes only a quote
 *     Requirements = TARGET.Memory > 10
 *     *** Offset = 0                       a history file's line between ads
 *     #[]                                  an ad without attributes
 *
 * The reader reads, parses and forgets each line, so the window holds one line at a time. */
#include "lang/form/reader.h"

#include "lang/text/parse.h"
#include "lang/text/print.h"

enum line_kind { LINE_END, LINE_SKIPPED, LINE_BLANK, LINE_EMPTY_AD, LINE_ATTRIBUTE };

struct line {
    enum line_kind kind;
    size_t taken;      /* with its newline */
    size_t start, end; /* without blanks around */
};

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool line_starts(const char *text, const struct line *line, const char *word)
{
    size_t len = strlen(word);

    return line->end - line->start >= len && memcmp(text + line->start, word, len) == 0;
}

/* Looks at the line at the window's start. */
static int line_read(struct source *source, struct line *ret, struct err *err)
{
    ptrdiff_t newline = source_find(source, 0, '\n', err);
    struct line line = {.kind = LINE_ATTRIBUTE};
    const char *text = source_text(source);

    if (newline == SOURCE_FAILED)
        return -1;
    line.end = newline == SOURCE_END ? source_len(source) : (size_t)newline;
    line.taken = newline == SOURCE_END ? line.end : line.end + 1;
    while (line.start < line.end && is_blank(text[line.start]))
        line.start++;
    while (line.end > line.start && is_blank(text[line.end - 1]))
        line.end--;
    if (line.taken == 0)
        line.kind = LINE_END;
    else if (line.start == line.end || line_starts(text, &line, "***"))
        line.kind = LINE_BLANK;
    else if (line.end - line.start == 3 && line_starts(text, &line, "#[]"))
        line.kind = LINE_EMPTY_AD;
    else if (line_starts(text, &line, "#") || line_starts(text, &line, "-- "))
        line.kind = LINE_SKIPPED;
    *ret = line;
    return 0;
}

static int line_parse(struct form_reader *reader, const struct line *line, uint32_t count, struct err *err)
{
    struct source *source = &reader->source;
    struct compose *compose = &reader->compose;
    unsigned column = source->column + (unsigned)line->start;
    struct parse_options options = {.first_line = source->line,
                                    .first_column = column,
                                    .depth = 1,
                                    .old_strings = true,
                                    .cells_max = compose->cells_max,
                                    .attributes_max = compose->attributes_max};

    if (parse_push_attribute(&compose->build, &options, source_text(source) + line->start, line->end - line->start,
                             err) < 0)
        return -1;
    if (compose_named(compose, count, (uint64_t)source->line << 32 | column, err) < 0)
        return source_mark(source, line->start, err);
    return 0;
}

/* Makes an ad of the attributes that have been read. */
static int ad_finish(struct form_reader *reader, uint32_t count, struct tree **ret_ad, struct err *err)
{
    uint64_t where;

    if (compose_ad(&reader->compose, count, false, &where, err) < 0) {
        if (err) {
            err->line = (unsigned)(where >> 32);
            err->column = (unsigned)where;
        }
        return -1;
    }
    *ret_ad = build_seal(&reader->compose.build);
    return 1;
}

int long_next(struct form_reader *reader, struct tree **ret_ad, struct err *err)
{
    struct source *source = &reader->source;
    uint32_t count = 0;
    size_t bytes = 0;
    struct line line;

    for (;;) {
        if (line_read(source, &line, err) < 0)
            return -1;
        if (count && line.kind != LINE_ATTRIBUTE && line.kind != LINE_SKIPPED)
            return ad_finish(reader, count, ret_ad, err);
        if (line.kind == LINE_END)
            return 0;
        if (count == 0) {
            reader->line = source->line;
            reader->column = 1;
        }
        bytes += line.kind == LINE_ATTRIBUTE ? line.taken : 0;
        if (bytes > source->limit)
            return err_at(err, reader->line, 1, "this ad is too long: the limit is %zu bytes", source->limit);
        if (line.kind == LINE_ATTRIBUTE && line_parse(reader, &line, count++, err) < 0)
            return -1;
        source_take(source, line.taken);
        if (line.kind == LINE_EMPTY_AD)
            return ad_finish(reader, 0, ret_ad, err);
    }
}

void long_write(struct buf *out, const struct tree *ad)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);

    for (uint32_t i = 0; i < root->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(ad->symbols, parts[i].label, &len);

        print_name(out, ad->dialect, name, len);
        buf_adds(out, " = ");
        print_expr(out, ad, &parts[i], PRINT_PLAIN | PRINT_OLD_STRINGS);
        buf_addc(out, '\n');
    }
    buf_adds(out, root->u.run.count ? "\n" : "#[]\n\n");
}
