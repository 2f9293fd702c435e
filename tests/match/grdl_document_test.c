/* grdl_document_test.c: resources as XML and JSON: what is read, what is refused and where, that nothing is lost, and what the schema says. */
#include "match/grdl/document.h"

#include "common/grow.h"
#include "common/tap.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "match/grdl/kit.h"

#include <libxml/parser.h>
#include <libxml/xmlschemas.h>
#include <math.h>
#include <stdlib.h>

/* ---- what is refused, and where ---- */

static void refused(const char *sentence, const char *text, const char *expected)
{
    struct grdl_resources resources;
    struct err err = {0};
    char got[ERR_TEXT_MAX + 40] = "it was read";

    grdl_resources_init(&resources);
    if (grdl_document_read(&resources, GRDL_FORM_UNKNOWN, text, strlen(text), &err) < 0)
        snprintf(got, sizeof got, "%u:%u: %s", err.line, err.column, err.text);
    if (!tap_ok(strcmp(got, expected) == 0, "%s", sentence))
        tap_diag("expected %s\ngot      %s", expected, got);
    grdl_resources_done(&resources);
}

static void check_refusals(void)
{
    refused("nothing is no document", "", "1:1: expected resources in XML or JSON");
    refused("words are no document", "hello", "1:1: expected resources in XML or JSON");
    refused("a tag that is not closed is told", "<task>\n  <chars>\n</task>",
            "3:8: Opening and ending tag mismatch: chars line 2 and task");
    refused("a '<' in an attribute is told", "<t>\n<reqs>\n <x match=\"<\">1</x></reqs></t>",
            "3:12: a '<' in a value is written &lt;");
    refused(
        "an operator that is none is told with its place", "<t>\n<reqs>\n  <x match=\"=>\">1</x></reqs></t>",
        "3:3: match: expected =, !=, &lt;, &lt;=, >, >=, set_eq, ... or a word for one of them (eq, ne, lt, ...), got '=>'");
    refused("close is no operator of a requirement", "<t><reqs><x match=\"close\">1</x></reqs></t>",
            "1:10: match: '><' has no meaning in reqs");
    refused("a set-wise operator is none of a preference", "<t><prefs><x match=\"set_ge\">1</x></prefs></t>",
            "1:11: match: 'set_ge' has no meaning in prefs");
    refused("a rank is a number", "<t><prefs>\n<x rank=\"first\"/></prefs></t>",
            "2:1: rank: expected a number, got 'first'");
    refused("a characteristic has no match", "<t><chars><x match=\"=\">1</x></chars></t>",
            "1:11: <x> in <chars> has no attribute 'match'");
    refused("a requirement has no rank", "<t><reqs><x rank=\"1\">1</x></reqs></t>",
            "1:10: <x> in <reqs> has no attribute 'rank'");
    refused("a resource has a name and no other attribute", "<t id=\"4\"/>",
            "1:1: <t> has no attribute 'id': expected name");
    refused("an unknown section is told", "<task>\n\n <characteristics/></task>",
            "3:2: expected <chars>, <reqs>, <prefs> or <defaults> in <task>, got <characteristics>");
    refused("an element cannot stand in a value", "<t><chars><x><y/></x></chars></t>",
            "1:14: <y>: expected a value in <x>, no element");
    refused("text cannot stand between elements", "<t>\n linux </t>",
            "2:2: text cannot stand here: expected <chars>, <reqs> or <prefs>");
    refused("another namespace is told", "<t xmlns=\"urn:x\"/>",
            "1:1: <t> is in another namespace: expected none, or urn:cern-ch:grid:GRDL:2006:1.0");
    refused("<resources> in itself is told", "<resources><resources/></resources>",
            "1:12: <resources> cannot stand in itself");
    refused("an entity of one's own is refused before it is read",
            "<!DOCTYPE t [<!ENTITY a \"aaaa\">]><t><chars><x>&a;</x></chars></t>",
            "1:13: a document type with declarations of its own is refused");
    refused("an entity that nobody declared is told", "<t><chars><x>&a;</x></chars></t>",
            "1:17: there is no such entity: there are &lt; &gt; &amp; &quot; &apos;");
    refused("another encoding is refused", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><t/>",
            "1:31: only UTF-8 is read");
    refused("a second resource wants <resources> around both", "<t/><t/>", "1:5: expected the end of the document");
    refused("a default needs a type", "<t><defaults><x/></defaults></t>",
            "1:14: <x> in <defaults>: expected the attribute type");

    refused("JSON that is cut off is told", "{\"class\": \"t\"", "1:14: '}' expected near end of file");
    refused("a resource in JSON needs a class", "\n  {\"name\": \"t\"}", "2:3: expected class");
    refused("an unknown member in JSON is told", "{\"class\": \"t\", \"characteristics\": []}",
            "1:1: expected class, name, chars, reqs, prefs or defaults, got 'characteristics'");
    refused("a property in JSON is told by its place",
            "{\"class\": \"t\", \"reqs\": [{\"dimension\": \"x\"}, {\"dimension\": \"y\", \"match\": \"=>\"}]}",
            "1:1: reqs[1]: match: expected =, !=, <, <=, >, >= or a word for one of them, got '=>'");
    refused("a class in JSON is such as an element can have", "{\"class\": \"a b\"}",
            "1:1: class: expected a name, of letters, digits, '_', '-' and '.', got 'a b'");
    refused("a class in JSON is not empty", "{\"class\": \"\"}",
            "1:1: class: expected a name, of letters, digits, '_', '-' and '.', got ''");
    refused("an operator in JSON is not empty",
            "{\"class\": \"t\", \"reqs\": [{\"dimension\": \"x\", \"match\": \"\"}]}",
            "1:1: reqs[0]: match: expected =, !=, <, <=, >, >= or a word for one of them, got ''");
    refused("what XML cannot hold is refused in JSON too", "{\"class\": \"t\", \"name\": \"a\\u0001\"}",
            "1:1: name: there are characters in it that no document can hold");
}

/* ---- what is read ---- */

/* The text as JSON, or the error. */
static const char *as_json(const char *text, struct buf *out)
{
    struct grdl_resources resources;
    struct err err = {0};

    buf_reset(out);
    grdl_resources_init(&resources);
    if (grdl_document_read(&resources, GRDL_FORM_UNKNOWN, text, strlen(text), &err) < 0)
        buf_addf(out, "%u:%u: %s", err.line, err.column, err.text);
    else
        grdl_document_write(out, GRDL_FORM_JSON, (const struct grdl_resource *const *)resources.items, resources.count,
                            &err);
    grdl_resources_done(&resources);
    return buf_string(out);
}

static void read_as(const char *sentence, const char *text, const char *expected)
{
    struct buf out;

    buf_init(&out);
    if (!tap_ok(strcmp(as_json(text, &out), expected) == 0, "%s", sentence))
        tap_diag("expected %s\ngot      %s", expected, buf_string(&out));
    buf_done(&out);
}

static void check_readings(void)
{
    read_as(
        "operators may be signs or words, = may be ==, and is meant when none stands there",
        "<t><reqs><x match='&lt;'>1</x><x match='lt'>1</x><x match='=='>1</x><x match='eq'>1</x><x>1</x></reqs></t>",
        "{\"class\": \"t\", \"reqs\": [{\"dimension\": \"x\", \"match\": \"<\", \"value\": \"1\"}, "
        "{\"dimension\": \"x\", \"match\": \"<\", \"value\": \"1\"}, {\"dimension\": \"x\", \"match\": \"=\", "
        "\"value\": \"1\"}, {\"dimension\": \"x\", \"match\": \"=\", \"value\": \"1\"}, {\"dimension\": \"x\", "
        "\"match\": \"=\", \"value\": \"1\"}]}\n");
    read_as("a preference without a rank has rank 1", "<t><prefs><x match='close'>3</x><y rank='-2.5'/></prefs></t>",
            "{\"class\": \"t\", \"prefs\": [{\"dimension\": \"x\", \"match\": \"><\", \"value\": \"3\", \"rank\": 1}, "
            "{\"dimension\": \"y\", \"match\": \"=\", \"rank\": -2.5}]}\n");
    read_as("an empty element has no value, and blanks around one do not count",
            "<t><chars><x/><y></y><z>  a\n b </z></chars></t>",
            "{\"class\": \"t\", \"chars\": [{\"dimension\": \"x\"}, {\"dimension\": \"y\"}, {\"dimension\": \"z\", "
            "\"value\": \"a\\n b\"}]}\n");
    read_as(
        "elements may be in the namespace, with a prefix or without",
        "<g:resources xmlns:g='urn:cern-ch:grid:GRDL:2006:1.0'><g:t><g:chars><g:x>1</g:x></g:chars></g:t></g:resources>",
        "{\"class\": \"t\", \"chars\": [{\"dimension\": \"x\", \"value\": \"1\"}]}\n");
    read_as("a document type that is elsewhere, comments and character data are no obstacle",
            "<!DOCTYPE t SYSTEM 'file:///etc/passwd'><!-- <x> --><t><chars><x><![CDATA[a<b]]></x></chars></t>",
            "{\"class\": \"t\", \"chars\": [{\"dimension\": \"x\", \"value\": \"a<b\"}]}\n");
    read_as("sections may stand several times, in any order",
            "<t><reqs><x>1</x></reqs><chars/><reqs><y>2</y></reqs></t>",
            "{\"class\": \"t\", \"reqs\": [{\"dimension\": \"x\", \"match\": \"=\", \"value\": \"1\"}, "
            "{\"dimension\": \"y\", \"match\": \"=\", \"value\": \"2\"}]}\n");
    read_as(
        "numbers in JSON are values too",
        "{\"class\": \"t\", \"chars\": [{\"dimension\": \"x\", \"value\": 2.5}, {\"dimension\": \"y\", \"value\": null}]}",
        "{\"class\": \"t\", \"chars\": [{\"dimension\": \"x\", \"value\": \"2.5\"}, {\"dimension\": \"y\"}]}\n");
    read_as("no resources are none", "<resources/>", "");
}

/* ---- nothing is lost ---- */

static const char *random_text(struct rng *rng, char *out)
{
    static const char *const pieces[] = {"a",
                                         "Z",
                                         "<",
                                         ">",
                                         "&",
                                         "\"",
                                         "'",
                                         " ",
                                         "\n",
                                         "\t",
                                         "\r",
                                         "]]>",
                                         "0.9",
                                         "é",
                                         "-",
                                         "/Expr(1)/",
                                         "\xf0\x9f\x9a\xa2",
                                         ";",
                                         "#",
                                         "\\"};
    size_t count = rng_below(rng, 6);

    out[0] = '\0';
    for (size_t i = 0; i < count; i++)
        strcat(out, pieces[rng_below(rng, sizeof pieces / sizeof *pieces)]);
    return out;
}

static struct grdl_resource *random_resource(struct rng *rng)
{
    static const char *const names[] = {"x", "mhz", "Über", "a.b-c_1", "_", "dimension", "name"};
    char class_text[64], text[64], type[64];
    struct grdl_resource *resource;
    struct err err;

    random_text(rng, text);
    snprintf(class_text, sizeof class_text, "%s", names[rng_below(rng, 7)]);
    resource = grdl_resource_new(class_text, *text ? text : NULL);
    for (size_t n = rng_below(rng, 5); n; n--) {
        const char *dimension = names[rng_below(rng, 7)];
        const char *value = rng_below(rng, 3) ? random_text(rng, text) : NULL;
        const char *hint = rng_below(rng, 2) ? random_text(rng, type) : NULL;
        enum grdl_operator match = (enum grdl_operator)rng_below(rng, GRDL_OPERATORS);

        grdl_add_char(resource, dimension, hint, value, &err);
        grdl_add_req(resource, dimension, match, hint, value, &err); /* some have no place there: they are refused */
        grdl_add_pref(resource, dimension, match, hint, value, (double)rng_below(rng, 9) / 4 - 1, &err);
        if (hint && *hint)
            grdl_add_default(resource, rng_below(rng, 2) ? dimension : NULL, hint, &err);
    }
    return resource;
}

static void check_round_trips(void)
{
    struct rng rng;
    unsigned bad[3] = {0};
    struct buf text;

    rng_init(&rng, 12);
    buf_init(&text);
    for (int round = 0; round < 3000; round++) {
        struct grdl_resources made;

        grdl_resources_init(&made);
        for (size_t n = rng_below(&rng, 4); n; n--)
            grdl_resources_take(&made, random_resource(&rng));
        for (int form = GRDL_FORM_XML; form <= GRDL_FORM_JSON; form++) {
            struct grdl_resources back;
            struct err err = {0};
            bool same;

            buf_reset(&text);
            grdl_resources_init(&back);
            same = grdl_document_write(&text, (enum grdl_form)form, (const struct grdl_resource *const *)made.items,
                                       made.count, &err) == 0 &&
                   grdl_document_read(&back, (enum grdl_form)form, text.text, text.len, &err) == 0 &&
                   back.count == made.count;
            for (uint32_t i = 0; same && i < made.count; i++)
                same = grdl_resource_same(made.items[i], back.items[i]);
            if (!same && bad[form]++ < 2)
                tap_diag("%u:%u: %s\n%s", err.line, err.column, err.text, buf_string(&text));
            grdl_resources_done(&back);
        }
        grdl_resources_done(&made);
    }
    tap_ok(!bad[GRDL_FORM_XML], "whatever is written as XML reads back the same");
    tap_ok(!bad[GRDL_FORM_JSON], "whatever is written as JSON reads back the same");
    buf_done(&text);
}

/* ---- bombs ---- */

static void check_bombs(void)
{
    struct grdl_resources resources;
    struct buf text;
    struct err err;

    buf_init(&text);
    grdl_resources_init(&resources);
    buf_adds(&text, "<t");
    for (int i = 0; i < 200000; i++)
        buf_addf(&text, " a%d=''", i);
    buf_adds(&text, "/>");
    tap_ok(grdl_document_read(&resources, GRDL_FORM_XML, text.text, text.len, &err) < 0 &&
               strcmp(err.text, "too many attributes in one tag") == 0,
           "a tag with 200,000 attributes is refused before it is read");
    buf_reset(&text);
    for (int i = 0; i < 200000; i++)
        buf_adds(&text, "<a>");
    tap_ok(grdl_document_read(&resources, GRDL_FORM_XML, text.text, text.len, &err) < 0,
           "200,000 elements inside one another are refused");
    buf_reset(&text);
    buf_adds(&text, "<t><chars>");
    for (int i = 0; i < GRDL_PROPERTIES_MAX + 1; i++)
        buf_adds(&text, "<x/>");
    buf_adds(&text, "</chars></t>");
    tap_ok(grdl_document_read(&resources, GRDL_FORM_XML, text.text, text.len, &err) < 0 && err.line == 1,
           "more characteristics than a resource may have are refused: %s", err.text);
    grdl_resources_done(&resources);
    buf_done(&text);
}

/* ---- the schema ---- */

static void note(void *user, enum grdl_complaint complaint, const struct err *err)
{
    buf_addf(user, "%s %u:%u: %s\n", complaint == GRDL_UNKNOWN_DIMENSION ? "unknown" : "wrong", err->line, err->column,
             err->text);
}

static void complains(struct grdl_kit *kit, const char *sentence, const char *text, const char *expected)
{
    struct grdl_resources resources;
    struct err err = {0};
    struct buf got;

    buf_init(&got);
    grdl_resources_init(&resources);
    if (grdl_document_read(&resources, GRDL_FORM_UNKNOWN, text, strlen(text), &err) < 0)
        buf_addf(&got, "%u:%u: %s", err.line, err.column, err.text);
    for (uint32_t i = 0; i < resources.count; i++)
        grdl_schema_check(kit->schema, resources.items[i], note, &got);
    if (!tap_ok(strcmp(buf_string(&got), expected) == 0, "%s", sentence))
        tap_diag("expected %s\ngot      %s", expected, buf_string(&got));
    grdl_resources_done(&resources);
    buf_done(&got);
}

static void check_schema(void)
{
    static const char facts[] = "# ours\nunit KiB binary 2**10\ndimension oven degree\nsingle pot\n";
    struct err err = {0};
    struct grdl_kit *kit = grdl_kit_new(GRDL_TYPE_TRANSFORMING, NULL, 0, &err);
    struct grdl_kit *ours = grdl_kit_new(GRDL_TYPE_TRANSFORMING, facts, strlen(facts), &err);

    complains(kit, "what the schema knows it does not complain of",
              "<task><chars><mem type='MB'>1.5</mem><os/><eta>2008-09-30T12:00</eta></chars></task>", "");
    complains(kit, "a value that is no number is told where its dimension is one",
              "<task>\n<chars>\n  <mem type='MB'>lots</mem></chars></task>",
              "wrong 3:3: mem: expected a number, got 'lots'\n");
    complains(kit, "a unit of another category is told", "<task><reqs><mem match='>=' type='hr'>3</mem></reqs></task>",
              "wrong 1:13: mem: type: expected one of B, KB, MB, GB, TB, PB, got 'hr'\n");
    complains(kit, "a dimension that is not known is told once", "<t><chars><pots>1</pots><pots>2</pots></chars></t>",
              "unknown 1:11: pots: this dimension is not known\n");
    complains(kit, "resources in JSON are checked by the same schema",
              "{\"class\": \"t\", \"chars\": [{\"dimension\": \"mem\", \"value\": \"lots\"}]}",
              "wrong 1:1: mem: expected a number, got 'lots'\n");
    complains(kit, "KiB is no unit", "<t><chars><mem type='KiB'>1</mem></chars></t>",
              "wrong 1:11: mem: type: expected one of B, KB, MB, GB, TB, PB, got 'KiB'\n");
    complains(ours, "KiB is one when a file says so, and dimensions of the file are known",
              "<t><chars><mem type='KiB'>1</mem><oven>7</oven><pot/></chars></t>", "");
    grdl_kit_free(kit);
    grdl_kit_free(ours);

    kit = grdl_kit_new(GRDL_BASIC, "unit a\n", 7, &err);
    tap_ok(!kit && err.line == 1 && strcmp(err.text, "expected unit NAME CATEGORY FACTOR") == 0,
           "a line of the file that is wrong is told: %s", err.text);
    kit = grdl_kit_new(GRDL_BASIC, "# x\n\nunits a b c", 15, &err);
    tap_ok(!kit && err.line == 3, "and its number: %u: %s", err.line, err.text);
    kit = grdl_kit_new(GRDL_BASIC, "unit MB binary 10", 17, &err);
    tap_ok(!kit, "a unit that is there already cannot mean something else: %s", err.text);
}

/* ---- the schema as others use it: from its files ---- */

static void silent(void *user, xmlErrorPtr error)
{
    (void)user, (void)error;
}

static xmlSchemaPtr schema_load(const char *name)
{
    char path[1024];
    xmlSchemaParserCtxtPtr parser;
    xmlSchemaPtr schema;

    snprintf(path, sizeof path, "%s/src/match/grdl/schema/%s", getenv("BERTH_SOURCE"), name);
    parser = xmlSchemaNewParserCtxt(path);
    schema = parser ? xmlSchemaParse(parser) : NULL;
    xmlSchemaFreeParserCtxt(parser);
    return schema;
}

static bool schema_takes(xmlSchemaPtr schema, const char *text)
{
    xmlDocPtr doc = xmlReadMemory(text, (int)strlen(text), "text", NULL, XML_PARSE_NOERROR | XML_PARSE_NONET);
    xmlSchemaValidCtxtPtr valid = xmlSchemaNewValidCtxt(schema);
    bool takes;

    xmlSchemaSetValidStructuredErrors(valid, silent, NULL);
    takes = doc && xmlSchemaValidateDoc(valid, doc) == 0;
    xmlSchemaFreeValidCtxt(valid);
    xmlFreeDoc(doc);
    return takes;
}

/* Does our reader find nothing wrong, with what it says of unknown dimensions left out? */
static bool reader_takes(struct grdl_kit *kit, const char *text)
{
    struct grdl_resources resources;
    struct err err;
    struct buf said;
    bool takes;

    buf_init(&said);
    grdl_resources_init(&resources);
    takes = grdl_document_read(&resources, GRDL_FORM_XML, text, strlen(text), &err) == 0;
    for (uint32_t i = 0; i < resources.count; i++)
        grdl_schema_check(kit->schema, resources.items[i], note, &said);
    takes = takes && !strstr(buf_string(&said), "wrong");
    grdl_resources_done(&resources);
    buf_done(&said);
    return takes;
}

static void check_files(void)
{
    static const struct {
        const char *body; /* of a <task> */
        bool right;
    } rows[] = {
        {"", true},
        {"<chars><mem type='MB'>180</mem></chars>", true},
        {"<chars><mem type='MB'>180 MB</mem><mem/></chars>", true},
        {"<chars><mem type='hr'>180</mem></chars>", false},
        {"<chars><mem>x</mem></chars>", false},
        {"<chars><mhz match='='>1</mhz></chars>", false},
        {"<reqs><mhz match='&lt;'>1</mhz><mhz match='set_ge'>1</mhz></reqs>", true},
        {"<reqs><mhz match='=>'>1</mhz></reqs>", false},
        {"<reqs><mhz match='close'>1</mhz></reqs>", false},
        {"<reqs><mhz rank='1'>1</mhz></reqs>", false},
        {"<prefs><cost rank='1.5' match='&lt;'/><cost match='&lt;>'>3</cost></prefs>", true},
        {"<prefs><cost rank='first'/></prefs>", false},
        {"<prefs><cost match='set_eq'>1</cost></prefs>", false},
        {"<chars><eta>2008-09-30T12:00</eta><eta>3</eta></chars>", true},
        {"<chars><eta>soon</eta></chars>", false},
        {"<chars><TotalCPUs>1.5</TotalCPUs></chars>", false},
        {"<defaults type='MB'/><defaults><mem type='GB'/></defaults>", true},
        {"<other/>", false},
        {"<chars><mem><b/></mem></chars>", false},
        {"text", false},
    };
    struct grdl_kit *kit = grdl_kit_new(GRDL_TYPE_TRANSFORMING, NULL, 0, NULL);
    xmlSchemaPtr plain = schema_load("grdl.xsd"), spaced = schema_load("grdl-namespace.xsd");
    unsigned wrong[3] = {0};

    for (size_t i = 0; plain && spaced && i < sizeof rows / sizeof *rows; i++) {
        char text[512];

        snprintf(text, sizeof text, "<task name='t'>%s</task>", rows[i].body);
        wrong[0] += schema_takes(plain, text) != rows[i].right;
        wrong[1] += reader_takes(kit, text) != rows[i].right;
        snprintf(text, sizeof text, "<task xmlns='" GRDL_NAMESPACE "' name='t'>%s</task>", rows[i].body);
        wrong[2] += schema_takes(spaced, text) != rows[i].right || reader_takes(kit, text) != rows[i].right;
        if (wrong[0] + wrong[1] + wrong[2] == 1)
            tap_diag("%s", rows[i].body);
    }
    tap_ok(plain && spaced, "the schema files can be loaded, layer by layer");
    tap_ok(!wrong[0], "the schema takes what is right and refuses what is wrong");
    tap_ok(!wrong[1], "and so does the reader: it says what the schema says");
    tap_ok(!wrong[2], "in the namespace too");
    xmlSchemaFree(plain);
    xmlSchemaFree(spaced);
    grdl_kit_free(kit);
}

/* The document type, which knows less than the schema. */
static void check_dtd(void)
{
    static const char *const rows[] = {
        "<task name='t'><chars><mem type='MB'>180</mem><os/></chars><prefs><cost rank='1' match='&lt;'/></prefs></task>",
        "<resources><executor><reqs><license>x</license></reqs></executor></resources>",
    };
    static const char *const bad[] = {"<task id='t'/>", "<task><chars><nothing/></chars></task>", "<chars/><task/>"};
    char path[1024];
    xmlDtdPtr dtd;
    unsigned wrong = 0;

    snprintf(path, sizeof path, "%s/src/match/grdl/schema/grdl.dtd", getenv("BERTH_SOURCE"));
    dtd = xmlParseDTD(NULL, BAD_CAST path);
    for (size_t i = 0; dtd && i < 5; i++) {
        const char *text = i < 2 ? rows[i] : bad[i - 2];
        xmlDocPtr doc = xmlReadMemory(text, (int)strlen(text), "text", NULL, XML_PARSE_NOERROR | XML_PARSE_NONET);
        xmlValidCtxtPtr valid = xmlNewValidCtxt();

        valid->error = NULL;
        xmlSetStructuredErrorFunc(NULL, silent);
        wrong += (doc && xmlValidateDtd(valid, doc, dtd)) != (i < 2);
        xmlSetStructuredErrorFunc(NULL, NULL);
        xmlFreeValidCtxt(valid);
        xmlFreeDoc(doc);
    }
    tap_ok(dtd && !wrong,
           "the document type takes what is right, and refuses elements and attributes that there are none of");
    xmlFreeDtd(dtd);
}

/* The lists of units and operators in the schema are those of the program. */
static void check_lists(void)
{
    struct grdl_units *units = grdl_units_new();
    xmlSchemaPtr schema = schema_load("grdl.xsd");
    static const char *const dimensions[][2] = {
        {"time", "norm_cpu"}, {"frequency", "mhz"}, {"binary", "mem"}, {"transfer", "bandwidth"}};
    unsigned missing = 0;
    char text[256];

    for (uint32_t i = 0; schema && i < grdl_units_count(units); i++) {
        const struct grdl_unit *unit = grdl_units_row(units, i);

        for (size_t n = 0; n < 4; n++) {
            bool takes;

            snprintf(text, sizeof text, "<task><chars><%s type='%s'>1</%s></chars></task>", dimensions[n][1],
                     unit->name, dimensions[n][1]);
            takes = schema_takes(schema, text);
            if (takes != (strcmp(dimensions[n][0], unit->category) == 0) && ++missing < 5)
                tap_diag("%s", text);
        }
    }
    tap_ok(schema && !missing, "each unit is in the schema's list of its category, and in no other");
    missing = 0;
    for (int i = 0; schema && i < GRDL_OPERATORS; i++)
        for (int pref = 0; pref < 2; pref++)
            for (int word = 0; word < 2; word++) {
                const char *sign = word ? grdl_operators[i].word : grdl_operators[i].sign,
                           *tag = pref ? "prefs" : "reqs";
                char escaped[16];

                snprintf(escaped, sizeof escaped, "%s%s", *sign == '<' ? "&lt;" : sign, *sign == '<' ? sign + 1 : "");
                if (strcmp(sign, "><") == 0)
                    snprintf(escaped, sizeof escaped, ">&lt;");
                snprintf(text, sizeof text, "<task><%s><os match='%s'>1</os></%s></task>", tag, escaped, tag);
                if (schema_takes(schema, text) !=
                    !!(grdl_operators[i].uses & (pref ? GRDL_OPERATOR_PREFERS : GRDL_OPERATOR_REQUIRES))) {
                    missing++;
                    tap_diag("%s", text);
                }
            }
    tap_ok(schema && !missing, "each operator is in the schema's lists where it has a meaning, and in no other");
    xmlSchemaFree(schema);
    grdl_units_free(units);
}

int main(void)
{
    check_refusals();
    check_readings();
    check_round_trips();
    check_bombs();
    check_schema();
    check_files();
    check_dtd();
    check_lists();
    xmlCleanupParser();
    return tap_done();
}
