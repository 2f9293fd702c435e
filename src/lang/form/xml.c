/* xml.c: ads as HTCondor's ClassAd XML, one after another: finds where they stand in the stream.
 *
 *     <?xml ...?> <!DOCTYPE ...> <classads> <c>...</c> <c>...</c> ... </classads>      the outermost element may be missing
 *
 * This file reads the text around the ads. It skips a document type, which never sees a parser, and refuses one with declarations of its own; so
 * there are no entities to expand and no files to load. It cuts each <c> out of the stream by following its tags, and checks on the way that they fit
 * and have only the attributes that ads have. xml_read.c turns the <c> into an ad. */
#include "lang/form/xml.h"

#include "lang/form/spell.h"

#include <strings.h>

enum { STATE_OUTSIDE, STATE_INSIDE };

#define XML_BLANKS " \t\n\r"
#define XML_OPEN_MAX (2 * TREE_DEPTH_MAX + 2) /* elements inside one another: each level of an ad takes two */

/* Does the tag at the offset begin with "<c" or "</c" or the like, and does its name end there? */
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
    static const struct {
        const char *open, *close, *what;
    } kinds[] = {{"<!--", "-->", "comment"}, {"<![CDATA[", "]]>", "character data"}, {"<?", "?>", "instruction"}};
    int next = source_at(source, offset + 1, err);

    if (next != '!' && next != '?')
        return next == SOURCE_FAILED ? next : (ptrdiff_t)offset;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int is = source_is(source, offset, kinds[i].open, err);
        ptrdiff_t end;

        if (is < 0)
            return SOURCE_FAILED;
        if (!is)
            continue;
        end = source_find_text(source, offset + strlen(kinds[i].open), kinds[i].close, err);
        if (end >= 0)
            return end + (ptrdiff_t)strlen(kinds[i].close) - 1;
        if (end == SOURCE_END)
            source_fail(source, offset, err, "this %s has no end: expected '%s'", kinds[i].what, kinds[i].close);
        return SOURCE_FAILED;
    }
    return (ptrdiff_t)offset;
}

/* ---- tags ---- */

/* A tag: <NAME>, <NAME ATTRIBUTE="VALUE">, <NAME/> or </NAME>. */
struct tag {
    size_t open, name, name_len, end; /* offsets of its '<', of its name, and of the byte after its '>' */
    bool closes, empty;
};

/* libxml2 compares every attribute of a tag with every other, so unknown attributes must never reach it. */
static bool attribute_known(const char *element, size_t element_len, const char *name, size_t len)
{
    return element_len == 1 && len == 1 && ((*element == 'a' && *name == 'n') || (*element == 'b' && *name == 'v'));
}

/* Reports a byte that was not expected. */
static int tag_fail(struct source *source, const struct tag *tag, size_t at, int got, const char *what, struct err *err)
{
    if (got == SOURCE_FAILED)
        return -1;
    if (got == SOURCE_END)
        return source_fail(source, tag->open, err, "this tag has no end: expected '>'");
    return source_fail(source, at, err, "%s", what);
}

static int blanks_pass(struct source *source, size_t *at, struct err *err)
{
    int c;

    while (xml_blank(c = source_at(source, *at, err)))
        ++*at;
    return c;
}

/* Skips a name: letters, and characters that may follow them in a name. Returns the next byte as source_at does. */
static int name_pass(struct source *source, size_t *at, struct err *err)
{
    for (size_t start = *at;; ++*at) {
        int c = source_at(source, *at, err), letter = c | 0x20;

        if (c < 0 || !((letter >= 'a' && letter <= 'z') || c == '_' || c == ':' || c >= 0x80 ||
                       (*at > start && ((c >= '0' && c <= '9') || c == '-' || c == '.'))))
            return c;
    }
}

/* Skips NAME="VALUE" at the offset; the tag has `count` attributes before it. */
static int attribute_pass(struct source *source, const struct tag *tag, unsigned count, size_t *at, struct err *err)
{
    char element[SPELL_SHOWN_MAX], shown[SPELL_SHOWN_MAX];
    size_t start = *at;
    int c = name_pass(source, at, err);
    const char *text = source_text(source), *inner;
    ptrdiff_t end;

    if (c < 0 || *at == start)
        return tag_fail(source, tag, *at, c, "expected '>' to close this tag", err);
    if (!attribute_known(text + tag->name, tag->name_len, text + start, *at - start))
        return source_fail(source, start, err, "<%s> has no attribute '%s'",
                           spell_show(text + tag->name, tag->name_len, element),
                           spell_show(text + start, *at - start, shown));
    if (count)
        return source_fail(source, start, err, "the attribute '%c' stands twice in this tag", text[start]);
    c = blanks_pass(source, at, err);
    if (c != '=')
        return tag_fail(source, tag, *at, c, "expected '=' and a value in quotes", err);
    ++*at;
    c = blanks_pass(source, at, err);
    if (c != '"' && c != '\'')
        return tag_fail(source, tag, *at, c, "expected a value in quotes", err);
    end = source_find(source, *at + 1, (char)c, err);
    if (end == SOURCE_FAILED)
        return -1;
    if (end == SOURCE_END)
        return source_fail(source, *at, err, "this value has no end: expected %c", c);
    text = source_text(source);
    inner = memchr(text + *at, '<', (size_t)end - *at);
    if (inner)
        return source_fail(source, (size_t)(inner - text), err, "a '<' in a value is written &lt;");
    *at = (size_t)end + 1;
    return 0;
}

/* Reads the tag at the offset. */
static int tag_read(struct source *source, size_t offset, struct tag *ret, struct err *err)
{
    struct tag tag = {.open = offset, .name = offset + 1};
    size_t at;
    int c = source_at(source, tag.name, err);

    tag.closes = c == '/';
    at = tag.name += tag.closes;
    c = name_pass(source, &at, err);
    tag.name_len = at - tag.name;
    if (c < 0 || tag.name_len == 0)
        return tag_fail(source, &tag, offset, c, "expected the name of an element: a '<' itself is written &lt;", err);
    for (unsigned count = 0; (c = blanks_pass(source, &at, err)) != '>'; count++) {
        if (c == '/' && !tag.closes) {
            tag.empty = true;
            c = source_at(source, ++at, err);
        }
        if (c == '>')
            break;
        if (c < 0 || tag.closes || tag.empty)
            return tag_fail(source, &tag, at, c, "expected '>' to close this tag", err);
        if (attribute_pass(source, &tag, count, &at, err) < 0)
            return -1;
    }
    tag.end = at + 1;
    *ret = tag;
    return 0;
}

/* ---- where an ad is ---- */

/* The elements that are open, the innermost last. The entries are small, since they are on the stack. */
struct opened {
    unsigned count;
    struct {
        uint32_t open, name_len; /* of its tag */
    } tags[XML_OPEN_MAX];
};

/* The element opened last is not closed: `tag` closes another, or (NULL) the text ends. */
static int opened_fail(struct source *source, const struct opened *opened, const struct tag *tag, struct err *err)
{
    size_t open = opened->tags[opened->count - 1].open, len = opened->tags[opened->count - 1].name_len;
    char wanted[SPELL_SHOWN_MAX], got[SPELL_SHOWN_MAX] = "the end";
    const char *text = source_text(source), *name = spell_show(text + open + 1, len, wanted);
    unsigned line, column;

    source_place(source, open, &line, &column);
    if (tag)
        spell_show(text + tag->open, tag->name_len + 2, got);
    return source_fail(source, tag ? tag->open : source_len(source), err,
                       "expected </%s> to close <%s> at %u:%u, got %s%s", name, name, line, column, got,
                       tag ? ">" : "");
}

static int opened_follow(struct source *source, struct opened *opened, const struct tag *tag, struct err *err)
{
    const char *text = source_text(source);

    if (tag->closes) {
        size_t open = opened->tags[opened->count - 1].open, len = opened->tags[opened->count - 1].name_len;

        if (len != tag->name_len || memcmp(text + open + 1, text + tag->name, len) != 0)
            return opened_fail(source, opened, tag, err);
        opened->count--;
    } else if (!tag->empty) {
        if (opened->count == XML_OPEN_MAX)
            return source_fail(source, tag->open, err, "nested too deeply: the depth limit is %d", TREE_DEPTH_MAX);
        opened->tags[opened->count].open = (uint32_t)tag->open;
        opened->tags[opened->count++].name_len = (uint32_t)tag->name_len;
    }
    return 0;
}

/* The length of the element at the window's start. */
static int element_end(struct source *source, size_t *ret_len, struct err *err)
{
    struct opened opened;
    size_t at = 0;

    opened.count = 0;
    do {
        ptrdiff_t found = source_find(source, at, '<', err), end;
        struct tag tag;

        if (found < 0)
            return found == SOURCE_FAILED ? -1 : opened_fail(source, &opened, NULL, err);
        end = xml_special_end(source, (size_t)found, err);
        if (end < 0)
            return -1;
        at = (size_t)end + 1;
        if (end > found)
            continue;
        if (source_at(source, at, err) == '!')
            return source_fail(source, (size_t)found, err, "a declaration cannot stand inside an ad");
        if (tag_read(source, (size_t)found, &tag, err) < 0 || opened_follow(source, &opened, &tag, err) < 0)
            return -1;
        at = tag.end;
    } while (opened.count);
    *ret_len = at;
    return *ret_len > source->limit ? source_too_long(source, err) : 0;
}

/* ---- what stands around ads ---- */

/* Checks <?xml ... encoding="..."?>, which is in the window up to its end: only UTF-8 is read. */
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
        if (len == strlen(known[i]) && strncasecmp(known[i], at, len) == 0)
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
        return source_fail(source, 0, err, "this document type has no end: expected '>'");
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
    struct tag tag;

    if (!tag_is(source, 0, wanted))
        return 0;
    if (tag_read(source, 0, &tag, err) < 0)
        return -1;
    if (!tag.empty)
        reader->state = tag.closes ? STATE_OUTSIDE : STATE_INSIDE;
    source_take(source, tag.end);
    return 1;
}

/* Takes the text before the next ad: 1 when there is one, 0 at the end, -1. */
static int ad_find(struct form_reader *reader, struct err *err)
{
    struct source *source = &reader->source;

    for (;;) {
        const char *wanted = reader->state == STATE_INSIDE ? "<c> or </classads>" : "<classads> or <c>";
        int c = source_skip(source, XML_BLANKS, err), taken;

        if (c == '<' &&
            source_at(source, sizeof "</classads" - 1, err) == SOURCE_FAILED) /* so no look below can fail */
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
    reader->column = reader->source.column;
    if (element_end(&reader->source, &len, err) < 0 || xml_build(reader, len, err) < 0)
        return -1;
    source_take(&reader->source, len);
    *ret_ad = build_seal(&reader->compose.build);
    return 1;
}
