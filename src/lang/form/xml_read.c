/* xml_read.c: reads an ad in HTCondor's ClassAd XML.
 *
 *     <c> <a n="NAME"> VALUE </a> ... </c>
 *     <i>7</i> <r>0.5</r> <s>x</s> <b v="t"/> <un/> <er/> <l>VALUES</l> <c>...</c> <at>TIME</at> <rt>TIME</rt>
 *     all else:   <e>Memory &gt; 10</e>
 *
 * libxml2's reader gives one node after another. This code follows the text along, tag by tag, since libxml2 does not tell where an element stood. */
#include "lang/form/xml.h"

#include "lang/base/number.h"
#include "lang/form/libxml.h"
#include "lang/form/spell.h"
#include "lang/text/timetext.h"

#include <math.h>
#include <stdlib.h>

struct xml_walk {
    struct compose *compose;
    struct source view; /* of the ad's text alone: it never reads on, so nothing moves */
    xmlTextReaderPtr xml;
    struct buf text;      /* of the current element */
    size_t open, content; /* of the current element: its '<', and the byte after its '>' */
    size_t at;            /* the byte after the last tag */
    bool failed;          /* libxml2 has reported an error */
    struct err *err;
};

static int element_fail(struct xml_walk *walk, size_t offset, const char *what)
{
    return source_fail(&walk->view, offset, walk->err, "%s", what);
}

/* Errors that are possible in a text whose tags are right, in plain words: libxml2's own messages name its functions. `back`: the place of the error
 * is the last such byte before libxml2's position. */
static const struct xml_words {
    int code;
    char back;
    const char *what;
} xml_words[] = {
    {XML_ERR_INVALID_CHAR, '&', "XML has no character of this number"},
    {XML_ERR_INVALID_DEC_CHARREF, '&', "expected the number of a character, as in &#65;"},
    {XML_ERR_INVALID_HEX_CHARREF, '&', "expected the number of a character, as in &#x41;"},
    {XML_ERR_NAME_REQUIRED, '&', "expected the name of an entity: a '&' itself is written &amp;"},
    {XML_ERR_ENTITYREF_SEMICOL_MISSING, '&', "this entity has no end: expected ';' (a '&' itself is written &amp;)"},
    {XML_ERR_UNDECLARED_ENTITY, '&', "there is no such entity: there are &lt; &gt; &amp; &quot; &apos;"},
    {XML_WAR_UNDECLARED_ENTITY, '&', "there is no such entity: there are &lt; &gt; &amp; &quot; &apos;"},
    {XML_ERR_MISPLACED_CDATA_END, 0, "a ']]>' in text is written ]]&gt;"},
    {XML_ERR_HYPHEN_IN_COMMENT, 0, "a '--' cannot stand inside a comment"},
    {XML_ERR_RESERVED_XML_NAME, '<', "<?xml ...?> cannot stand inside an ad"},
    {XML_ERR_PI_NOT_STARTED, '<', "expected the name of an instruction after '<?'"},
};

/* libxml2 counts characters, and its position is behind the text that it rejects. */
static void xml_failed(void *user, xmlErrorPtr error)
{
    struct xml_walk *walk = user;
    const struct source *source = &walk->view;
    const char *text = source_text(source), *message = error->message ? error->message : "not XML";
    size_t len = source_len(source), at = 0, row = 0;

    if (walk->failed)
        return;
    walk->failed = true;
    for (int line = 1; line < error->line && at < len; at++)
        line += text[at] == '\n';
    for (int column = 1; column < error->int2 && at < len; column++)
        do
            at++;
        while (at < len && (text[at] & 0xc0) == 0x80);
    while (row < sizeof xml_words / sizeof *xml_words && xml_words[row].code != error->code)
        row++;
    if (row < sizeof xml_words / sizeof *xml_words) {
        message = xml_words[row].what;
        if (at && xml_words[row].back)
            while (--at && text[at] != xml_words[row].back)
                ;
    }
    source_fail(source, at, walk->err, "%.*s", (int)strcspn(message, "\n"), message);
}

/* The reader gave a tag: moves past it in the text. */
static int walk_tag(struct xml_walk *walk, bool opens)
{
    struct source *source = &walk->view;
    ptrdiff_t found, end;

    for (size_t at = walk->at;; at = (size_t)end + 1) {
        found = source_find(source, at, '<', NULL);
        end = found < 0 ? found : xml_special_end(source, (size_t)found, NULL);
        if (end < 0) /* impossible: the reader has accepted the text */
            return element_fail(walk, walk->open, "this element has no end");
        if (end == found)
            break;
    }
    end = xml_tag_end(source, (size_t)found, NULL);
    walk->at = end < 0 ? source_len(source) : (size_t)end + 1;
    if (opens) {
        walk->open = (size_t)found;
        walk->content = walk->at;
    }
    return 0;
}

/* Reads the next node. */
static int walk_read(struct xml_walk *walk)
{
    int got = libxml()->TextReaderRead(walk->xml), type;

    if (got != 1 && !walk->failed)
        return element_fail(walk, walk->open, "this element has no end");
    if (got != 1)
        return -1;
    type = libxml()->TextReaderNodeType(walk->xml);
    if (type == XML_READER_TYPE_ELEMENT || type == XML_READER_TYPE_END_ELEMENT)
        return walk_tag(walk, type == XML_READER_TYPE_ELEMENT);
    return 0;
}

/* Where the text behind the last tag begins, blanks and comments skipped. */
static size_t walk_stray(struct xml_walk *walk)
{
    struct source *source = &walk->view;
    const char *text = source_text(source);
    size_t at = walk->at, len = source_len(source);

    for (;;) {
        ptrdiff_t end;

        while (at < len && xml_blank(text[at]))
            at++;
        if (at == len || text[at] != '<' || source_is(source, at, "<![", NULL) == 1)
            return at;
        end = xml_special_end(source, at, NULL);
        if (end <= (ptrdiff_t)at)
            return at;
        at = (size_t)end + 1;
    }
}

/* Reads up to the next element inside the current one (1) or to its end (0); only blanks and comments may stand before that. */
static int walk_element(struct xml_walk *walk)
{
    for (;;) {
        if (walk_read(walk) < 0)
            return -1;
        switch (libxml()->TextReaderNodeType(walk->xml)) {
        case XML_READER_TYPE_ELEMENT:
            return 1;
        case XML_READER_TYPE_END_ELEMENT:
            return 0;
        case XML_READER_TYPE_TEXT:
        case XML_READER_TYPE_CDATA:
        case XML_READER_TYPE_ENTITY_REFERENCE:
            return element_fail(walk, walk_stray(walk), "text cannot stand here");
        default:
            break;
        }
    }
}

/* Reads the text of the current element and its end. */
static int walk_text(struct xml_walk *walk)
{
    buf_reset(&walk->text);
    if (libxml()->TextReaderIsEmptyElement(walk->xml))
        return 0;
    for (;;) {
        const xmlChar *value;

        if (walk_read(walk) < 0)
            return -1;
        switch (libxml()->TextReaderNodeType(walk->xml)) {
        case XML_READER_TYPE_END_ELEMENT:
            return 0;
        case XML_READER_TYPE_TEXT:
        case XML_READER_TYPE_CDATA:
        case XML_READER_TYPE_WHITESPACE:
        case XML_READER_TYPE_SIGNIFICANT_WHITESPACE:
            value = libxml()->TextReaderConstValue(walk->xml);
            if (value)
                buf_adds(&walk->text, (const char *)value);
            break;
        case XML_READER_TYPE_ELEMENT:
            return element_fail(walk, walk->open, "an element cannot stand in this one");
        case XML_READER_TYPE_ENTITY_REFERENCE:
            return element_fail(walk, walk->open, "an entity cannot stand here");
        default:
            break;
        }
    }
}

/* The text without blanks around it. */
static const char *walk_word(struct xml_walk *walk, size_t *ret_len)
{
    const char *word = buf_string(&walk->text);
    size_t len = walk->text.len;

    for (; len && xml_blank(*word); len--)
        word++;
    while (len && xml_blank(word[len - 1]))
        len--;
    *ret_len = len;
    return word;
}

/* Reads the current element, which must be empty. */
static int walk_empty(struct xml_walk *walk)
{
    size_t len;

    if (walk_text(walk) < 0)
        return -1;
    walk_word(walk, &len);
    return len ? element_fail(walk, walk->content, "nothing can stand in this element") : 0;
}

typedef int element_fn(struct xml_walk *walk, struct build *build, unsigned depth);

static element_fn element_value;

static int element_undefined(struct xml_walk *walk, struct build *build, unsigned depth)
{
    (void)depth;
    build_undefined(build);
    return walk_empty(walk);
}

static int element_error(struct xml_walk *walk, struct build *build, unsigned depth)
{
    (void)depth;
    build_error(build);
    return walk_empty(walk);
}

static int element_boolean(struct xml_walk *walk, struct build *build, unsigned depth)
{
    xmlChar *value = libxml()->TextReaderGetAttribute(walk->xml, BAD_CAST "v");
    bool yes = libxml()->StrEqual(value, BAD_CAST "t") || libxml()->StrEqual(value, BAD_CAST "true");
    bool no = libxml()->StrEqual(value, BAD_CAST "f") || libxml()->StrEqual(value, BAD_CAST "false");

    (void)depth;
    (*libxml()->Free)(value);
    if (!yes && !no)
        return element_fail(walk, walk->open, "expected v=\"t\" or v=\"f\" in <b>");
    build_boolean(build, yes);
    return walk_empty(walk);
}

static int element_integer(struct xml_walk *walk, struct build *build, unsigned depth)
{
    uint64_t value = 0, most = INT64_MAX;
    const char *word;
    size_t len, at = 0;

    (void)depth;
    if (walk_text(walk) < 0)
        return -1;
    word = walk_word(walk, &len);
    if (len && *word == '-')
        at = 1, most++;
    if (at == len)
        return element_fail(walk, walk->content, "expected an integer");
    for (size_t i = at; i < len; i++) {
        unsigned digit = (unsigned)(word[i] - '0');

        if (digit > 9)
            return element_fail(walk, walk->content, "this is not an integer");
        if (value > (most - digit) / 10)
            return element_fail(walk, walk->content, "this integer does not fit into 64 bits");
        value = value * 10 + digit;
    }
    build_integer(build, (int64_t)(at ? 0 - value : value));
    return 0;
}

/* Also INF, -INF and NaN, as HTCondor writes them. */
static int element_real(struct xml_walk *walk, struct build *build, unsigned depth)
{
    const char *word;
    double value;
    size_t len;
    bool minus;

    (void)depth;
    if (walk_text(walk) < 0)
        return -1;
    word = walk_word(walk, &len);
    minus = len && *word == '-';
    word += minus;
    len -= minus;
    if (len == 3 && memcmp(word, "INF", 3) == 0)
        value = INFINITY;
    else if (len == 3 && memcmp(word, "NaN", 3) == 0)
        value = NAN, minus = false;
    else if (len == 0 || number_parse_real(word, len, &value) != len)
        return element_fail(walk, walk->content, "this is not a real");
    else if (isinf(value))
        return element_fail(walk, walk->content, "this number does not fit into a real");
    build_real(build, minus ? -value : value);
    return 0;
}

static int element_string(struct xml_walk *walk, struct build *build, unsigned depth)
{
    (void)depth;
    if (walk_text(walk) < 0)
        return -1;
    build_string(build, walk->text.text, walk->text.len);
    return 0;
}

static int element_abstime(struct xml_walk *walk, struct build *build, unsigned depth)
{
    const char *word;
    int64_t seconds;
    size_t len;
    int zone;

    (void)depth;
    if (walk_text(walk) < 0)
        return -1;
    word = walk_word(walk, &len);
    if (!time_parse_absolute(build->dialect, word, len, TIME_ZONE_NONE, &seconds, &zone))
        return element_fail(walk, walk->content, "this is not a time: expected YYYY-MM-DDTHH:MM:SS+HH:MM");
    build_abstime(build, seconds, zone);
    return 0;
}

static int element_reltime(struct xml_walk *walk, struct build *build, unsigned depth)
{
    const char *word;
    int64_t seconds;
    size_t len;

    (void)depth;
    if (walk_text(walk) < 0)
        return -1;
    word = walk_word(walk, &len);
    if (!time_parse_relative(build->dialect, word, len, &seconds))
        return element_fail(walk, walk->content, "this is not an interval of time");
    build_reltime(build, seconds);
    return 0;
}

/* The offset in the stream's text of a byte of the element's text. An entity such as &lt; is longer than the byte that it stands for. */
static size_t text_offset(const struct xml_walk *walk, size_t byte)
{
    const struct source *source = &walk->view;
    const char *text = source_text(source);
    size_t at = walk->content, len = source_len(source);

    while (byte-- && at < len && text[at] != '<') {
        const char *end = text[at] == '&' ? memchr(text + at, ';', len - at) : NULL;

        if (end)
            at = (size_t)(end - text);
        else if (text[at] == '\r' && at + 1 < len && text[at + 1] == '\n')
            at++;
        at++;
    }
    return at;
}

static int element_expr(struct xml_walk *walk, struct build *build, unsigned depth)
{
    struct compose *compose = walk->compose;
    unsigned line, column;
    const char *text;
    size_t offset;

    (void)build;
    if (walk_text(walk) < 0)
        return -1;
    text = buf_string(&walk->text);
    if (compose_expr(compose, text, walk->text.len, depth) == 0)
        return 0;
    source_place(&walk->view, walk->content, &line, &column);
    offset = compose_expr_why(compose, text, walk->text.len, depth, line, column, walk->err);
    return source_mark(&walk->view, text_offset(walk, offset), walk->err);
}

static int element_deep(struct xml_walk *walk)
{
    return source_fail(&walk->view, walk->open, walk->err, "nested too deeply: the depth limit is %d", TREE_DEPTH_MAX);
}

static int element_list(struct xml_walk *walk, struct build *build, unsigned depth)
{
    uint32_t count = 0;
    int more = 0;

    if (depth >= TREE_DEPTH_MAX)
        return element_deep(walk);
    if (!libxml()->TextReaderIsEmptyElement(walk->xml))
        while ((more = walk_element(walk)) == 1) {
            if (element_value(walk, build, depth + 1) < 0)
                return -1;
            count++;
        }
    if (more < 0)
        return -1;
    build_bind(build, EXPR_LIST, count);
    return 0;
}

/* <a n="NAME">VALUE</a> */
static int attribute_build(struct xml_walk *walk, struct build *build, uint32_t count, unsigned depth)
{
    struct compose *compose = walk->compose;
    size_t open = walk->open;
    xmlChar *name;
    int more;

    if (!libxml()->StrEqual(libxml()->TextReaderConstName(walk->xml), BAD_CAST "a"))
        return element_fail(walk, open, "expected <a n=\"...\"> or </c>");
    name = libxml()->TextReaderGetAttribute(walk->xml, BAD_CAST "n");
    if (!name)
        return element_fail(walk, open, "expected the attribute's name: <a n=\"...\">");
    more = compose_begin(compose, count, open, (const char *)name, (size_t)libxml()->Strlen(name), walk->err);
    (*libxml()->Free)(name);
    if (more < 0)
        return source_mark(&walk->view, open, walk->err);
    more = libxml()->TextReaderIsEmptyElement(walk->xml) ? 0 : walk_element(walk);
    if (more == 0)
        return element_fail(walk, open, "this attribute has no value");
    if (more < 0 || element_value(walk, build, depth) < 0)
        return -1;
    more = walk_element(walk);
    if (more > 0)
        return element_fail(walk, walk->open, "an attribute has one value");
    if (more == 0 && compose_attribute(compose, walk->err) < 0)
        return source_mark(&walk->view, open, walk->err);
    return more;
}

static int element_ad(struct xml_walk *walk, struct build *build, unsigned depth)
{
    uint32_t count = 0;
    uint64_t where;
    int more = 0;

    if (depth >= TREE_DEPTH_MAX)
        return element_deep(walk);
    if (!libxml()->TextReaderIsEmptyElement(walk->xml))
        while ((more = walk_element(walk)) == 1)
            if (attribute_build(walk, build, count++, depth + 1) < 0)
                return -1;
    if (more < 0)
        return -1;
    if (compose_ad(walk->compose, count, true, &where, walk->err) < 0)
        return source_mark(&walk->view, (size_t)where, walk->err);
    return 0;
}

/* Pushes the value of the current element, inside `depth` ads and lists, and reads up to its end. */
static int element_value(struct xml_walk *walk, struct build *build, unsigned depth)
{
    static const struct {
        const char *name;
        element_fn *read;
    } elements[] = {
        {"s", element_string}, {"i", element_integer},  {"r", element_real},     {"b", element_boolean},
        {"e", element_expr},   {"l", element_list},     {"c", element_ad},       {"un", element_undefined},
        {"er", element_error}, {"at", element_abstime}, {"rt", element_reltime},
    };
    const char *name = (const char *)libxml()->TextReaderConstName(walk->xml);
    size_t open = walk->open;

    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strcmp(elements[i].name, name) == 0) {
            if (elements[i].read(walk, build, depth) < 0)
                return -1;
            if (compose_fits(walk->compose, walk->err) < 0)
                return source_mark(&walk->view, open, walk->err);
            return 0;
        }
    return source_fail(&walk->view, open, walk->err, "there is no element <%.20s>", name);
}

/* Does the text have only characters that XML allows? */
static int text_check(const struct source *source, struct err *err)
{
    const char *text = source_text(source);
    size_t len = source_len(source), bad = spell_xml_end(text, len);
    unsigned byte = bad < len ? (unsigned char)text[bad] : 0;

    if (bad == len)
        return 0;
    if (byte < ' ')
        return source_fail(source, bad, err, "XML cannot hold the byte 0x%02x", byte);
    if (spell_utf8_end(text + bad, len - bad) > 0)
        return source_fail(source, bad, err, "XML cannot hold this character");
    return source_fail(source, bad, err, "this is not UTF-8: the byte 0x%02x", byte);
}

int xml_build(struct form_reader *reader, size_t len, struct err *err)
{
    const int options = XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;
    struct xml_walk walk = {.compose = &reader->compose, .view = reader->source, .err = err};
    int built;

    walk.view.ended = true;
    walk.view.window.len = walk.view.start + len;
    if (text_check(&walk.view, err) < 0)
        return -1;
    if (libxml_load(err) < 0)
        return -1;
    walk.xml = libxml()->ReaderForMemory(source_text(&walk.view), (int)len, NULL, "UTF-8", options);
    if (!walk.xml)
        abort();
    libxml()->TextReaderSetStructuredErrorHandler(walk.xml, xml_failed, &walk);
    buf_init(&walk.text);
    built = walk_element(&walk) == 1 ? element_ad(&walk, &reader->compose.build, 0) : -1;
    if (built == 0 && libxml()->TextReaderRead(walk.xml) != 0)
        built = walk.failed ? -1 : element_fail(&walk, len, "expected the end of the ad");
    buf_done(&walk.text);
    libxml()->FreeTextReader(walk.xml);
    return built;
}
