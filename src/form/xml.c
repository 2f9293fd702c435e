/* xml.c: ads as HTCondor's ClassAd XML, one after another: where they stand in the stream.
 *
 *     <?xml ...?> <!DOCTYPE ...> <classads> <c>...</c> <c>...</c> ... </classads>      the outermost element may be missing
 *
 * What stands around the ads is read here: a document type is passed over and never sees a parser, one with
 * declarations of its own is refused, so there are no entities to expand and no files to load. Each <c> is cut out of
 * the stream by counting tags; xml_read.c makes an ad of it. */
#include "form/xml.h"

#include <libxml/xmlstring.h>

enum { STATE_OUTSIDE, STATE_INSIDE };

#define XML_BLANKS " \t\n\r"
#define XML_OPEN_MAX (2 * TREE_DEPTH_MAX + 2) /* elements inside one another: an ad's depth takes two */

/* Does the tag at the offset begin so, "<c" or "</c", with nothing more to its name? */
static bool tag_is(struct source *source, size_t offset, const char *start)
{
    int after = source_at(source, offset + strlen(start), NULL);

    return source_is(source, offset, start, NULL) == 1 &&
           (after < 0 || xml_blank(after) || after == '>' || after == '/');
}

ptrdiff_t xml_tag_end(struct source *source, size_t offset, struct err *err)
{
    for (;; offset++) {
        int c = source_at(source, offset, err);
        ptrdiff_t end = (ptrdiff_t)offset;

        if (c < 0 || c == '>')
            return c < 0 ? c : end;
        if (c == '"' || c == '\'')
            end = source_find(source, offset + 1, (char)c, err);
        if (end < 0)
            return end;
        offset = (size_t)end;
    }
}

ptrdiff_t xml_special_end(struct source *source, size_t offset, struct err *err)
{
    static const char *const pairs[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int is = source_is(source, offset, pairs[i][0], err);
        ptrdiff_t end;

        if (is < 0)
            return SOURCE_FAILED;
        if (!is)
            continue;
        end = source_find_text(source, offset + strlen(pairs[i][0]), pairs[i][1], err);
        return end < 0 ? end : end + (ptrdiff_t)strlen(pairs[i][1]) - 1;
    }
    return (ptrdiff_t)offset;
}

/* The length of the element at the window's start. */
static int element_end(struct source *source, size_t *ret_len, struct err *err)
{
    unsigned open = 0;
    ptrdiff_t at = 0, end;

    do {
        at = source_find(source, (size_t)at, '<', err);
        end = at < 0 ? at : xml_special_end(source, (size_t)at, err);
        if (at >= 0 && end == at) {
            int next = source_at(source, (size_t)at + 1, err);

            if (next == '!')
                return source_fail(source, (size_t)at, err, "a declaration cannot stand inside an ad");
            end = xml_tag_end(source, (size_t)at, err);
            if (end > 0 && next == '/')
                open--;
            else if (end > 0 && source_text(source)[end - 1] != '/')
                open++;
            if (open > XML_OPEN_MAX)
                return source_fail(source, (size_t)at, err, "nested too deeply: the depth limit is %d", TREE_DEPTH_MAX);
        }
        if (end == SOURCE_FAILED)
            return -1;
        if (end == SOURCE_END)
            return source_fail(source, source_len(source), err, "expected </c>, got the end");
        at = end + 1;
    } while (open);
    *ret_len = (size_t)at;
    return *ret_len > source->limit ? source_too_long(source, err) : 0;
}

/* <?xml ... encoding="..."?>, in the window up to its end: only UTF-8 is read. */
static int encoding_check(struct source *source, size_t end, struct err *err)
{
    static const char *const known[] = {"UTF-8", "US-ASCII", "ASCII"};
    const char *text = source_text(source), *at;
    size_t offset, len;

    if (source_is(source, 0, "<?xml", NULL) != 1)
        return 0;
    for (offset = 5; offset + 8 < end && memcmp(text + offset, "encoding", 8) != 0; offset++)
        ;
    at = offset + 8 < end ? text + offset + 8 : text + end;
    while (at < text + end && (xml_blank(*at) || *at == '=' || *at == '"' || *at == '\''))
        at++;
    for (len = 0; at + len < text + end && at[len] != '"' && at[len] != '\''; len++)
        ;
    if (at == text + end)
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (len == strlen(known[i]) && xmlStrncasecmp(BAD_CAST known[i], BAD_CAST at, (int)len) == 0)
            return 0;
    return source_fail(source, (size_t)(at - text), err, "only UTF-8 is read");
}

/* Takes a document type, an instruction or a comment at the window's start: 1, 0 when there is none, -1. */
static int prolog_take(struct source *source, struct err *err)
{
    ptrdiff_t end;

    if (source_is(source, 0, "<!DOCTYPE", NULL) == 1) {
        const char *inner;

        end = xml_tag_end(source, 0, err);
        inner = end > 0 ? memchr(source_text(source), '[', (size_t)end) : NULL;
        if (inner)
            return source_fail(source, (size_t)(inner - source_text(source)), err,
                               "a document type with declarations of its own is refused");
    } else {
        end = xml_special_end(source, 0, err);
        if (end == 0 || source_is(source, 0, "<![", NULL) == 1)
            return 0;
    }
    if (end == SOURCE_END)
        return source_fail(source, 0, err, "this has no end: expected '>'");
    if (end == SOURCE_FAILED || encoding_check(source, (size_t)end, err) < 0)
        return -1;
    source_take(source, (size_t)end + 1);
    return 1;
}

/* Takes <classads> or </classads> at the window's start: 1, 0 when there is none, -1. */
static int classads_take(struct form_reader *reader, struct err *err)
{
    struct source *source = &reader->source;
    const char *wanted = reader->state == STATE_INSIDE ? "</classads" : "<classads";
    ptrdiff_t end;

    if (!tag_is(source, 0, wanted))
        return 0;
    end = xml_tag_end(source, 0, err);
    if (end < 0)
        return end == SOURCE_FAILED ? -1 : source_fail(source, 0, err, "this tag has no end: expected '>'");
    if (reader->state == STATE_INSIDE)
        reader->state = STATE_OUTSIDE;
    else if (source_text(source)[end - 1] != '/')
        reader->state = STATE_INSIDE;
    source_take(source, (size_t)end + 1);
    return 1;
}

/* Takes what stands before the next ad: 1 when there is one, 0 at the end, -1. */
static int ad_find(struct form_reader *reader, struct err *err)
{
    struct source *source = &reader->source;

    for (;;) {
        const char *wanted = reader->state == STATE_INSIDE ? "<c> or </classads>" : "<classads> or <c>";
        int c = source_skip(source, XML_BLANKS, err), taken;

        if (c == '<' &&
            source_at(source, sizeof "</classads" - 1, err) == SOURCE_FAILED) /* so that looking cannot fail */
            return -1;
        if (c == SOURCE_END && reader->state == STATE_OUTSIDE)
            return 0;
        if (c != '<')
            return source_expected(source, c, wanted, err);
        if (tag_is(source, 0, "<c"))
            return 1;
        taken = prolog_take(source, err);
        if (taken == 0)
            taken = classads_take(reader, err);
        if (taken < 0)
            return -1;
        if (taken == 0)
            return source_fail(source, 0, err, "expected %s", wanted);
    }
}

int xml_next(struct form_reader *reader, struct tree **ret_ad, struct err *err)
{
    int found = ad_find(reader, err);
    size_t len = 0;

    if (found <= 0)
        return found;
    reader->line = reader->source.line;
    if (element_end(&reader->source, &len, err) < 0 || xml_build(reader, len, err) < 0)
        return -1;
    source_take(&reader->source, len);
    *ret_ad = build_seal(&reader->compose.build);
    return 1;
}
