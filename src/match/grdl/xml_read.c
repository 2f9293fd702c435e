/* xml_read.c: resources of an XML document.
 *
 * libxml2 reports one element after another; the text that it reads was looked through first (xml_scan.c). Places are found in the text: libxml2 is
 * inside a tag when it reports it. */
#include "match/grdl/xml.h"

#include "lang/base/mem.h"
#include "lang/base/number.h"
#include "lang/form/libxml.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum level { LEVEL_DOCUMENT, LEVEL_RESOURCES, LEVEL_RESOURCE, LEVEL_SECTION, LEVEL_PROPERTY };
enum section { SECTION_CHARS, SECTION_REQS, SECTION_PREFS, SECTION_DEFAULTS };

static const char *const section_names[] = {"chars", "reqs", "prefs", "defaults"};
#define SECTIONS (sizeof section_names / sizeof *section_names)

struct xml_read {
    const char *text;
    size_t len;
    size_t seen; /* up to where lines have been counted ... */
    unsigned line;
    size_t line_start; /* ... and where the last of them begins */
    xmlParserCtxtPtr parser;
    struct grdl_resources *resources;
    struct grdl_resource *resource; /* that is being read */
    enum level level;
    bool contained; /* in <resources> */
    enum section section;
    struct {
        unsigned line, column;
        const char *dimension;
        struct buf type, value;
        bool has_type;
        enum grdl_operator match;
        double rank;
    } property;
    bool failed;
    struct err *err;
};

/* ------------------------------------------------------------------------------------------------------------- places */

/* Finds the line and column of an offset. Offsets are asked for in their order, nearly always. */
static void place_of(struct xml_read *read, size_t offset, unsigned *ret_line, unsigned *ret_column)
{
    if (offset > read->len)
        offset = read->len;
    if (offset < read->line_start) {
        err_place(read->text, offset, ret_line, ret_column);
        return;
    }
    while (read->seen < offset) {
        const char *end = memchr(read->text + read->seen, '\n', offset - read->seen);

        if (!end)
            break;
        read->seen = read->line_start = (size_t)(end - read->text) + 1;
        read->line++;
    }
    *ret_line = read->line;
    *ret_column = (unsigned)(offset - read->line_start) + 1;
}

static int fail_at(struct xml_read *read, size_t offset, const char *what)
{
    unsigned line, column;

    if (read->failed)
        return -1;
    read->failed = true;
    place_of(read, offset, &line, &column);
    return err_at(read->err, line, column, "%s", what);
}

/* The '<' of the tag that libxml2 is in: a value has none. */
static size_t tag_start(struct xml_read *read)
{
    long consumed = libxml()->ByteConsumed(read->parser);
    size_t at = consumed < 0 ? 0 : (size_t)consumed < read->len ? (size_t)consumed : read->len;

    while (at && (at == read->len || read->text[at] != '<'))
        at--;
    return at;
}

static void stop(struct xml_read *read)
{
    read->failed = true;
    libxml()->StopParser(read->parser);
}

#define FAIL(read, ...)                                               \
    do {                                                              \
        unsigned fail_line, fail_column;                              \
        place_of(read, tag_start(read), &fail_line, &fail_column);    \
        if (!(read)->failed)                                          \
            err_at((read)->err, fail_line, fail_column, __VA_ARGS__); \
        stop(read);                                                   \
    } while (0)

/* ---------------------------------------------------------------------------------------------------------- attributes */

/* libxml2 gives five pointers for each attribute: its name, prefix, namespace, and where its value begins and ends. */
struct attribute {
    const char *name, *value;
    size_t len;
    bool foreign; /* of another namespace: xsi:schemaLocation and the like; it is passed over */
};

static struct attribute attribute_of(const xmlChar **attributes, int place)
{
    const xmlChar **at = attributes + (size_t)place * 5;

    return (struct attribute){(const char *)at[0], (const char *)at[3], (size_t)(at[4] - at[3]), at[2] != NULL};
}

static bool attribute_is(const struct attribute *attribute, const char *name)
{
    return strcmp(attribute->name, name) == 0;
}

/* Reads a number; blanks around it are allowed. */
static bool rank_read(const char *text, size_t len, double *ret)
{
    double value;
    bool minus;

    for (; len && strchr(" \t\r\n", *text); len--)
        text++;
    while (len && strchr(" \t\r\n", text[len - 1]))
        len--;
    minus = len && *text == '-';
    if (len && (*text == '-' || *text == '+'))
        text++, len--;
    if (!len || number_parse_real(text, len, &value) != len || !isfinite(value))
        return false;
    *ret = minus ? -value : value;
    return true;
}

/* Takes the attribute match of a requirement or a preference. */
static bool match_take(struct xml_read *read, const struct attribute *attribute)
{
    unsigned use = read->section == SECTION_REQS ? GRDL_OPERATOR_REQUIRES : GRDL_OPERATOR_PREFERS;

    if (!grdl_operator_read(attribute->value, attribute->len, &read->property.match)) {
        FAIL(read,
             "match: expected =, !=, &lt;, &lt;=, >, >=%s or a word for one of them (eq, ne, lt, ...), got '%.*s'",
             use == GRDL_OPERATOR_REQUIRES ? ", set_eq, ..." : ", >&lt;, &lt;>",
             (int)(attribute->len < 40 ? attribute->len : 40), attribute->value);
        return false;
    }
    if (!(grdl_operators[read->property.match].uses & use)) {
        FAIL(read, "match: '%s' has no meaning in %s", grdl_operators[read->property.match].sign,
             section_names[read->section]);
        return false;
    }
    return true;
}

/* Takes what an attribute of a property says; false when it has no place there. */
static bool property_attribute(struct xml_read *read, const struct attribute *attribute)
{
    bool requires = read->section == SECTION_REQS || read->section == SECTION_PREFS;

    if (attribute_is(attribute, "type")) {
        buf_reset(&read->property.type);
        buf_add(&read->property.type, attribute->value, attribute->len);
        read->property.has_type = true;
        return true;
    }
    if (attribute_is(attribute, "match") && requires)
        return match_take(read, attribute);
    if (attribute_is(attribute, "rank") && read->section == SECTION_PREFS) {
        if (rank_read(attribute->value, attribute->len, &read->property.rank))
            return true;
        FAIL(read, "rank: expected a number, got '%.*s'", (int)(attribute->len < 40 ? attribute->len : 40),
             attribute->value);
        return false;
    }
    FAIL(read, "<%s> in <%s> has no attribute '%.60s'", read->property.dimension, section_names[read->section],
         attribute->name);
    return false;
}

/* ------------------------------------------------------------------------------------------------------------ elements */

/* Gives what was added the place of the property; or, when it could not be added, gives the error that place. */
static void place_set(struct xml_read *read, int added, struct grdl_char *at)
{
    if (added < 0 && read->err) {
        read->err->line = read->property.line;
        read->err->column = read->property.column;
    }
    if (added < 0) {
        stop(read);
    } else if (at) {
        at->line = read->property.line;
        at->column = read->property.column;
    }
}

static void default_add(struct xml_read *read, const char *dimension)
{
    place_set(read, grdl_add_default(read->resource, dimension, buf_string(&read->property.type), read->err), NULL);
}

static void property_begin(struct xml_read *read, const char *name, int count, const xmlChar **attributes)
{
    buf_reset(&read->property.type);
    buf_reset(&read->property.value);
    read->property.has_type = false;
    read->property.match = GRDL_EQ;
    read->property.rank = GRDL_RANK_DEFAULT;
    read->property.dimension = name; /* libxml2 keeps the name as long as itself */
    place_of(read, tag_start(read), &read->property.line, &read->property.column);
    if (!grdl_name_is_good(name, strlen(name))) {
        FAIL(read, "<%.60s>: a dimension has up to %d letters, digits, '_', '-' and '.'", name, GRDL_NAME_MAX);
        return;
    }
    for (int i = 0; i < count; i++) {
        struct attribute attribute = attribute_of(attributes, i);

        if (!attribute.foreign && !property_attribute(read, &attribute))
            return;
    }
    if (read->section == SECTION_DEFAULTS && !read->property.has_type)
        FAIL(read, "<%s> in <defaults>: expected the attribute type", name);
}

static void property_end(struct xml_read *read)
{
    const char *type = read->property.has_type ? buf_string(&read->property.type) : NULL;
    const char *dimension = read->property.dimension, *value = buf_string(&read->property.value);
    struct grdl_resource *resource = read->resource;
    int added;

    switch (read->section) {
    case SECTION_CHARS:
        added = grdl_add_char(resource, dimension, type, value, read->err);
        place_set(read, added, added < 0 ? NULL : &resource->chars[resource->char_count - 1]);
        break;
    case SECTION_REQS:
        added = grdl_add_req(resource, dimension, read->property.match, type, value, read->err);
        place_set(read, added, added < 0 ? NULL : &resource->reqs[resource->req_count - 1].at);
        break;
    case SECTION_PREFS:
        added = grdl_add_pref(resource, dimension, read->property.match, type, value, read->property.rank, read->err);
        place_set(read, added, added < 0 ? NULL : &resource->prefs[resource->pref_count - 1].req.at);
        break;
    case SECTION_DEFAULTS:
        if (value[strspn(value, " \t\r\n")])
            FAIL(read, "a default has no value: expected <%s type=\"...\"/>", dimension);
        else
            default_add(read, dimension);
        break;
    }
}

static void section_begin(struct xml_read *read, const char *name, int count, const xmlChar **attributes)
{
    size_t section = 0;

    while (section < SECTIONS && strcmp(name, section_names[section]) != 0)
        section++;
    if (section == SECTIONS) {
        FAIL(read, "expected <chars>, <reqs>, <prefs> or <defaults> in <%s>, got <%.60s>", read->resource->class_name,
             name);
        return;
    }
    read->section = (enum section)section;
    for (int i = 0; i < count; i++) {
        struct attribute attribute = attribute_of(attributes, i);

        if (attribute.foreign)
            continue;
        if (section != SECTION_DEFAULTS || !attribute_is(&attribute, "type")) {
            FAIL(read, "<%s> has no attribute '%.60s'", name, attribute.name);
            return;
        }
        buf_reset(&read->property.type);
        buf_add(&read->property.type, attribute.value, attribute.len);
        place_of(read, tag_start(read), &read->property.line, &read->property.column);
        default_add(read, NULL);
    }
}

static void resource_begin(struct xml_read *read, const char *class_name, int count, const xmlChar **attributes)
{
    char *name = NULL;

    if (!grdl_name_is_good(class_name, strlen(class_name))) {
        FAIL(read, "<%.60s>: the class of a resource has up to %d letters, digits, '_', '-' and '.'", class_name,
             GRDL_NAME_MAX);
        return;
    }
    for (int i = 0; i < count && !read->failed; i++) {
        struct attribute attribute = attribute_of(attributes, i);

        if (attribute.foreign)
            continue;
        if (!attribute_is(&attribute, "name"))
            FAIL(read, "<%s> has no attribute '%.60s': expected name", class_name, attribute.name);
        else if (attribute.len > GRDL_NAME_MAX || !attribute.len)
            FAIL(read, "the name of a resource has 1 to %d bytes", GRDL_NAME_MAX);
        else
            name = mem_dup(attribute.value, attribute.len);
    }
    if (!read->failed) {
        read->resource = grdl_resource_new(class_name, name);
        place_of(read, tag_start(read), &read->resource->line, &read->resource->column);
    }
    free(name);
}

static void on_start(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespace_count,
                     const xmlChar **namespaces, int count, int defaulted, const xmlChar **attributes)
{
    struct xml_read *read = user;
    const char *local = (const char *)name;

    (void)prefix, (void)namespace_count, (void)namespaces, (void)defaulted;
    if (read->failed)
        return;
    if (uri && strcmp((const char *)uri, GRDL_NAMESPACE) != 0) {
        FAIL(read, "<%.60s> is in another namespace: expected none, or " GRDL_NAMESPACE, local);
        return;
    }
    switch (read->level) {
    case LEVEL_DOCUMENT:
        if (strcmp(local, "resources") == 0) {
            read->contained = true;
            read->level = LEVEL_RESOURCES;
            for (int i = 0; i < count; i++)
                if (!attribute_of(attributes, i).foreign)
                    FAIL(read, "<resources> has no attribute '%.60s'", attribute_of(attributes, i).name);
            return;
        }
        resource_begin(read, local, count, attributes);
        read->level = LEVEL_RESOURCE;
        break;
    case LEVEL_RESOURCES:
        if (strcmp(local, "resources") == 0) {
            FAIL(read, "<resources> cannot stand in itself");
            return;
        }
        resource_begin(read, local, count, attributes);
        read->level = LEVEL_RESOURCE;
        break;
    case LEVEL_RESOURCE:
        section_begin(read, local, count, attributes);
        read->level = LEVEL_SECTION;
        break;
    case LEVEL_SECTION:
        property_begin(read, local, count, attributes);
        read->level = LEVEL_PROPERTY;
        break;
    case LEVEL_PROPERTY:
        FAIL(read, "<%.60s>: expected a value in <%.60s>, no element", local, read->property.dimension);
        break;
    }
}

static void on_end(void *user, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    struct xml_read *read = user;

    (void)name, (void)prefix, (void)uri;
    if (read->failed)
        return;
    switch (read->level) {
    case LEVEL_PROPERTY:
        property_end(read);
        read->level = LEVEL_SECTION;
        break;
    case LEVEL_SECTION:
        read->level = LEVEL_RESOURCE;
        break;
    case LEVEL_RESOURCE:
        grdl_resources_take(read->resources, read->resource);
        read->resource = NULL;
        read->level = read->contained ? LEVEL_RESOURCES : LEVEL_DOCUMENT;
        break;
    case LEVEL_RESOURCES:
    case LEVEL_DOCUMENT:
        read->level = LEVEL_DOCUMENT;
        break;
    }
}

static size_t blanks_pass(const struct xml_read *read, size_t at)
{
    while (at < read->len && strchr(" \t\r\n", read->text[at]))
        at++;
    return at;
}

/* Where the text begins that libxml2 reports: libxml2 is before it, or behind. */
static size_t stray_start(struct xml_read *read)
{
    long consumed = libxml()->ByteConsumed(read->parser);
    size_t at = consumed < 0 ? 0 : (size_t)consumed < read->len ? (size_t)consumed : read->len;

    at = blanks_pass(read, at);
    if (at == read->len || read->text[at] == '<')
        while (at && read->text[at - 1] != '>')
            at--;
    return blanks_pass(read, at);
}

static void on_text(void *user, const xmlChar *text, int len)
{
    static const char *const expected[] = {"<resources> or a resource", "a resource", "<chars>, <reqs> or <prefs>",
                                           "the element of a dimension"};
    struct xml_read *read = user;

    if (read->failed)
        return;
    if (read->level == LEVEL_PROPERTY) {
        buf_add(&read->property.value, (const char *)text, (size_t)len);
        return;
    }
    for (int i = 0; i < len; i++)
        if (!strchr(" \t\r\n", text[i])) {
            char what[100] = "text cannot stand here: expected ";

            strcat(what, expected[read->level]);
            fail_at(read, stray_start(read), what);
            stop(read);
            return;
        }
}

/* ---------------------------------------------------------------------------------------------------------- the parser */

static xmlEntityPtr on_entity(void *user, const xmlChar *name)
{
    (void)user;
    return libxml()->GetPredefinedEntity(name);
}

/* What may be wrong with a text, in plain words: libxml2's own messages name its functions. */
static const struct {
    int code;
    const char *what;
} xml_words[] = {
    {XML_ERR_DOCUMENT_EMPTY, "expected <resources> or a resource"},
    {XML_ERR_DOCUMENT_END, "expected the end of the document"},
    {XML_ERR_LT_IN_ATTRIBUTE, "a '<' in a value is written &lt;"},
    {XML_ERR_NAME_REQUIRED, "expected a name: a '<' itself is written &lt;, a '&' &amp;"},
    {XML_ERR_ENTITYREF_SEMICOL_MISSING, "this entity has no end: expected ';' (a '&' itself is written &amp;)"},
    {XML_ERR_UNDECLARED_ENTITY, "there is no such entity: there are &lt; &gt; &amp; &quot; &apos;"},
    {XML_WAR_UNDECLARED_ENTITY, "there is no such entity: there are &lt; &gt; &amp; &quot; &apos;"},
    {XML_ERR_ATTRIBUTE_NOT_STARTED, "expected a value in quotes"},
    {XML_ERR_ATTRIBUTE_WITHOUT_VALUE, "expected '=' and a value in quotes"},
    {XML_ERR_ATTRIBUTE_REDEFINED, "this attribute stands twice in the tag"},
    {XML_ERR_INVALID_CHAR, "XML has no such character"},
    {XML_ERR_HYPHEN_IN_COMMENT, "a '--' cannot stand inside a comment"},
    {XML_ERR_GT_REQUIRED, "expected '>' to close this tag"},
    {XML_ERR_INVALID_ENCODING, "this is not UTF-8"},
};

static void on_failure(void *user, xmlErrorPtr error)
{
    struct xml_read *read = user;
    const char *message = error->message ? error->message : "not XML";
    unsigned line, column;
    size_t at;

    if (read->failed || error->level < XML_ERR_ERROR)
        return;
    read->failed = true;
    for (size_t i = 0; i < sizeof xml_words / sizeof *xml_words; i++)
        if (xml_words[i].code == error->code)
            message = xml_words[i].what;
    at = (size_t)(libxml()->ByteConsumed(read->parser) < 0 ? 0 : libxml()->ByteConsumed(read->parser));
    place_of(read, at, &line, &column);
    err_at(read->err, line, column, "%.*s", (int)strcspn(message, "\n"), message);
}

int xml_resources_read(struct grdl_resources *ret, const char *text, size_t len, struct err *err)
{
    xmlSAXHandler handler = {.initialized = XML_SAX2_MAGIC,
                             .startElementNs = on_start,
                             .endElementNs = on_end,
                             .characters = on_text,
                             .cdataBlock = on_text,
                             .ignorableWhitespace = on_text,
                             .getEntity = on_entity,
                             .serror = on_failure};
    struct xml_read read = {.text = text, .len = len, .line = 1, .resources = ret, .err = err};

    if (xml_look_through(text, len, err) < 0)
        return -1;
    if (libxml_load(err) < 0)
        return -1;
    read.parser = libxml()->CreateMemoryParserCtxt(text, (int)len);
    if (!read.parser)
        return fail_at(&read, 0, "expected <resources> or a resource");
    buf_init(&read.property.type);
    buf_init(&read.property.value);
    *read.parser->sax = handler;
    read.parser->userData = &read;
    /* NOENT: &amp; in an attribute is a '&'. There are no other entities: declarations have been refused. */
    libxml()->CtxtUseOptions(read.parser, XML_PARSE_NONET | XML_PARSE_IGNORE_ENC | XML_PARSE_NOENT);
    if (libxml()->ParseDocument(read.parser) != 0 && !read.failed)
        fail_at(&read, len, "this is not XML");
    if (!read.failed && read.level != LEVEL_DOCUMENT)
        fail_at(&read, len, "expected </resources>");
    grdl_resource_free(read.resource);
    buf_done(&read.property.type);
    buf_done(&read.property.value);
    if (read.parser->myDoc)
        libxml()->FreeDoc(read.parser->myDoc);
    read.parser->myDoc = NULL;
    libxml()->FreeParserCtxt(read.parser);
    return read.failed ? -1 : 0;
}
