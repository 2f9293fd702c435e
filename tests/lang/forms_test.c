/* forms_test.c: ads as ClassAd, JSON, XML and long form: what is read, what is refused and where, and that nothing is
 * lost. */
#include "lang/form/form.h"

#include "common/grow.h"
#include "common/tap.h"
#include "lang/form/reader.h"
#include "lang/text/parse.h"
#include "lang/text/print.h"

#include <stdlib.h>

static struct symbols *symbols;
static const struct dialect *const dialects[] = {&dialect_classic, &dialect_condor};

/* ---- streams in memory ---- */

struct stream {
    const char *text;
    size_t len, at;
    size_t chunk; /* bytes given at a time; 0: all that is asked for */
};

static ptrdiff_t stream_read(void *user, char *out, size_t room, struct err *err)
{
    struct stream *stream = user;
    size_t count = stream->len - stream->at;

    (void)err;
    if (count > room)
        count = room;
    if (stream->chunk && count > stream->chunk)
        count = stream->chunk;
    if (count)
        memcpy(out, stream->text + stream->at, count);
    stream->at += count;
    return (ptrdiff_t)count;
}

/* Reads all: each ad compactly on a line of its own, then the error if there was one. */
static const char *read_all(const struct dialect *dialect, enum form form, const struct form_limits *limits,
                            const char *text, size_t len, size_t chunk, struct buf *out)
{
    struct stream stream = {text, len, 0, chunk};
    struct form_reader *reader = form_reader_new(symbols, dialect, form, limits, stream_read, &stream);
    struct err err = {0};
    struct tree *ad;
    int got;

    buf_reset(out);
    while ((got = form_reader_next(reader, &ad, &err)) == 1) {
        print_tree(out, ad, PRINT_COMPACT);
        buf_addc(out, '\n');
        tree_unref(ad);
    }
    if (got < 0)
        buf_addf(out, "%u:%u: %s\n", err.line, err.column, err.text);
    if (form_reader_next(reader, &ad, &err) != 0)
        buf_adds(out, "and more after the end\n");
    form_reader_free(reader);
    return buf_string(out);
}

/* The same whether it comes whole or byte by byte. */
static void check_read(const char *sentence, const struct dialect *dialect, enum form form,
                       const struct form_limits *limits, const char *text, size_t len, const char *wanted)
{
    static const size_t chunks[] = {0, 1, 7};
    struct buf got;
    bool same = true;

    buf_init(&got);
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks && same; i++)
        same = strcmp(read_all(dialect, form, limits, text, len, chunks[i], &got), wanted) == 0;
    if (!tap_ok(same, "%s", sentence))
        tap_diag("text    %s\nwanted  %sgot     %s", text, wanted, buf_string(&got));
    buf_done(&got);
}

struct read_row {
    const char *sentence;
    enum form form;
    const char *text, *wanted;
};

static void check_rows(const struct dialect *dialect, const struct read_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_read(rows[i].sentence, dialect, rows[i].form, NULL, rows[i].text, strlen(rows[i].text), rows[i].wanted);
}

#define ROWS(dialect, rows) check_rows(dialect, rows, sizeof rows / sizeof *rows)

/* ---- what is read ---- */

static const struct read_row recognised[] = {
    {"an empty stream has no ads", FORM_UNKNOWN, "", ""},
    {"blanks alone are no ads", FORM_UNKNOWN, " \n\t\n", ""},
    {"a bracket begins an ad", FORM_UNKNOWN, "\n [a=1]\n[b=2][c=3]", "[a=1]\n[b=2]\n[c=3]\n"},
    {"two brackets are an empty ad, not an empty array", FORM_UNKNOWN, "[]", "[]\n"},
    {"two brackets are an empty array when JSON is asked for", FORM_JSON, "[]", ""},
    {"a comment begins the language's own form", FORM_UNKNOWN, "// [x]\n/* [ */ [a=1] // ]", "[a=1]\n"},
    {"a brace begins JSON", FORM_UNKNOWN, "{\"a\":1}", "[a=1]\n"},
    {"an empty object is JSON", FORM_UNKNOWN, "{}\n{ }", "[]\n[]\n"},
    {"an array of objects is JSON", FORM_UNKNOWN, "[ \n{\"a\":1}, {\"a\":2} ]\n", "[a=1]\n[a=2]\n"},
    {"an angle bracket begins XML", FORM_UNKNOWN, "<classads><c><a n=\"a\"><i>1</i></a></c></classads>", "[a=1]\n"},
    {"a name begins the long form", FORM_UNKNOWN, "a = 1\n\nb = 2", "[a=1]\n[b=2]\n"},
    {"a hash begins the long form", FORM_UNKNOWN, "# x\na = 1\n", "[a=1]\n"},
    {"a byte order mark is passed over", FORM_UNKNOWN, "\xef\xbb\xbf{\"a\":1}", "[a=1]\n"},
    {"what begins like no form is taken for the long form", FORM_UNKNOWN, "1 = 2",
     "1:1: expected an attribute's name, got '1'\n"},
};

static const struct read_row classads[] = {
    {"brackets in strings do not end an ad", FORM_CLASSAD, "[a=\"]\\\"]\";b=']']", "[a=\"]\\\"]\";b=']']\n"},
    {"brackets in comments do not end an ad", FORM_CLASSAD, "[a=1/* ] */;b=2// ]\n]", "[a=1;b=2]\n"},
    {"the last of two equal names holds in condor", FORM_CLASSAD, "[a=1;A=2]", "[A=2]\n"},
    {"a slash divides", FORM_CLASSAD, "[a=4/2][b=1]", "[a=4/2]\n[b=1]\n"},
};

static const struct read_row jsons[] = {
    {"plain JSON values become literals", FORM_JSON,
     "{\"i\":-7,\"r\":0.5,\"e\":1e3,\"s\":\"x\",\"t\":true,\"f\":false,\"n\":null,\"l\":[1,[2],{\"a\":1},[]]}",
     "[i=-7;r=0.5;e=1000.0;s=\"x\";t=true;f=false;n=undefined;l={1,{2},[a=1],{}}]\n"},
    {"integers keep all 64 bits", FORM_JSON, "{\"a\":9223372036854775807,\"b\":-9223372036854775808}",
     "[a=9223372036854775807;b=int(\"-9223372036854775808\")]\n"},
    {"an expression is read with its slashes escaped", FORM_JSON, "{\"a\":\"\\/Expr(b + 1)\\/\"}", "[a=b+1]\n"},
    {"an expression is read with its slashes plain", FORM_JSON, "{\"a\":\"/Expr(b + 1)/\"}", "[a=b+1]\n"},
    {"expressions stand in arrays", FORM_JSON, "{\"a\":[1,\"\\/Expr(b)\\/\"]}", "[a={1,b}]\n"},
    {"escapes of JSON are decoded", FORM_JSON, "{\"a\":\"\\u00e9\\ud83d\\ude00\\n\\/\"}",
     "[a=\"\xc3\xa9\xf0\x9f\x98\x80\\n/\"]\n"},
    {"an odd name is quoted in condor", FORM_JSON, "{\"odd name\":1,\"true\":2}", "['odd name'=1;'true'=2]\n"},
    {"a quoted name is that name", FORM_JSON, "{\"'caf\\\\351'\":1}", "['caf\xe9'=1]\n"},
    {"JSON lines need no newline between them", FORM_JSON, "{\"a\":1}{\"a\":2}", "[a=1]\n[a=2]\n"},
    {"an object keeps the order of its members", FORM_JSON, "{\"z\":1,\"y\":2,\"x\":3,\"w\":4}", "[z=1;y=2;x=3;w=4]\n"},
};

static const struct read_row xmls[] = {
    {"HTCondor's own XML is read", FORM_XML,
     "<?xml version=\"1.0\"?>\n<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n<c>\n"
     "    <a n=\"MyType\"><s>Job</s></a>\n    <a n=\"Load\"><r>1.500000000000000E+00</r></a>\n"
     "    <a n=\"Req\"><e>(TARGET.Memory &gt;= 10) &amp;&amp; true</e></a>\n"
     "    <a n=\"Ok\"><b v=\"t\"/></a>\n    <a n=\"No\"><b v=\"f\" /></a>\n    <a n=\"U\"><un/></a>\n"
     "    <a n=\"E\"><er/></a>\n    <a n=\"L\"><l>\n<i>1</i>\n<s>x</s>\n</l></a>\n</c>\n</classads>\n",
     "[MyType=\"Job\";Load=1.5;Req=(TARGET.Memory>=10)&&true;Ok=true;No=false;U=undefined;E=error;L={1,\"x\"}]\n"},
    {"an ad may stand without <classads>", FORM_XML, "<c/><c></c>", "[]\n[]\n"},
    {"documents may follow each other", FORM_XML, "<classads><c/></classads><?xml version=\"1.0\"?><classads/>",
     "[]\n"},
    {"blanks around a number do not count", FORM_XML, "<c><a n=\"a\"> <i> -7\n</i> </a></c>", "[a=-7]\n"},
    {"blanks in a string count", FORM_XML, "<c><a n=\"a\"><s> x\n </s></a><a n=\"b\"><s> </s></a></c>",
     "[a=\" x\\n \";b=\" \"]\n"},
    {"character data and comments are read", FORM_XML,
     "<!-- <c> --><c><!-- </c> --><a n=\"a\"><s><![CDATA[<c>]]>x<!-- y -->z</s></a></c>", "[a=\"<c>xz\"]\n"},
    {"reals that are not numbers are read", FORM_XML, "<c><a n=\"a\"><r>-INF</r></a><a n=\"b\"><r>NaN</r></a></c>",
     "[a=real(\"-INF\");b=real(\"NaN\")]\n"},
    {"times are read", FORM_XML,
     "<c><a n=\"a\"><at>2000-08-17T18:21:07-06:00</at></a><a n=\"b\"><rt>1+02:03:04</rt></a></c>",
     "[a=absTime(\"2000-08-17T18:21:07-06:00\");b=relTime(\"1+02:03:04\")]\n"},
    {"a quote in an attribute may hold an angle bracket", FORM_XML, "<c><a n='a>b'><i>1</i></a></c>", "['a>b'=1]\n"},
};

static const struct read_row longs[] = {
    {"banners, comments and blanks of the long form are passed over", FORM_LONG,
     "-- Schedd: x : <1.2.3.4>\n\n# c\n  a = 1  \n# d\nb = \"x\"\n\n\n\t\nc = 3\n", "[a=1;b=\"x\"]\n[c=3]\n"},
    {"lines may end as in DOS", FORM_LONG, "a = 1\r\n\r\nb = 2\r\n", "[a=1]\n[b=2]\n"},
    {"a backslash of the long form escapes only a quote", FORM_LONG, "a = \"C:\\new\\\"x\\\\\"y\"",
     "[a=\"C:\\\\new\\\"x\\\\\\\"y\"]\n"},
    {"a path may end in a backslash", FORM_LONG, "a = \"C:\\dir\\\"\nb = 1", "[a=\"C:\\\\dir\\\\\";b=1]\n"},
    {"an ad without attributes has a line of its own", FORM_LONG, "#[]\n\na = 1\n#[]\n", "[]\n[a=1]\n[]\n"},
    {"a history file's lines stand between ads", FORM_LONG, "a = 1\n*** Offset = 0 ClusterId = 1\na = 2\n***\n",
     "[a=1]\n[a=2]\n"},
    {"nested ads and lists stand on one line", FORM_LONG, "a = [ b = { 1, [ c = \"x\" ] } ]",
     "[a=[b={1,[c=\"x\"]}]]\n"},
    {"the last of two equal names holds in condor's long form", FORM_LONG, "a = 1\nb = 2\nA = 3", "[b=2;A=3]\n"},
    {"odd names are quoted in the long form", FORM_LONG, "'it\\'s' = 1", "['it\\'s'=1]\n"},
};

/* ---- what is refused, and where ---- */

static const struct read_row refused_classic[] = {
    {"what follows an ad must be an ad", FORM_CLASSAD, "[a=1]\n  x", "[a=1]\n2:3: expected '[' of an ad, got 'x'\n"},
    {"an error in the second ad has its place in the stream", FORM_CLASSAD, "[a=1]\n[b=1;\n c = +]",
     "[a=1]\n3:7: expected an expression, got ']'\n"},
    {"an error on the ad's first line has its column in the stream", FORM_CLASSAD, "[a=1] [b=)]",
     "[a=1]\n1:10: expected an expression, got ')'\n"},
    {"an ad that is not closed is refused", FORM_CLASSAD, "[a=1;\n[", "2:1: expected an attribute's name, got '['\n"},
    {"an ad without an end is refused", FORM_CLASSAD, "[ a = 1", "1:8: expected ']' to close '[' at 1:1\n"},
    {"a string without an end is refused", FORM_CLASSAD, "[a=1]\n[a=\"]",
     "[a=1]\n2:4: this string has no end: expected \"\n"},
    {"a comment without an end is refused", FORM_CLASSAD, "[a=1] /* ",
     "[a=1]\n1:7: this comment has no end: expected '*/'\n"},
    {"a closing bracket alone is refused", FORM_CLASSAD, "]", "1:1: expected '[' of an ad, got ']'\n"},
    {"a byte that nobody prints is shown as a number", FORM_CLASSAD, "\001",
     "1:1: expected '[' of an ad, got the byte 0x01\n"},
    {"an attribute twice is refused in classic", FORM_LONG, "a = 1\nb = 2\n  A = 3\n",
     "3:3: the attribute 'A' is defined twice in this ad\n"},
    {"an odd name is refused in classic JSON", FORM_JSON, "{\"a b\": 1}",
     "1:2: 'a b' is not an identifier: it cannot be an attribute's name\n"},
    {"a keyword is refused as a name in classic JSON", FORM_JSON, "{\"true\": 1}",
     "1:2: 'true' is not an identifier: it cannot be an attribute's name\n"},
    {"an odd name is refused in classic XML", FORM_XML, "<c>\n <a n=\"1\"><i>1</i></a></c>",
     "2:2: '1' is not an identifier: it cannot be an attribute's name\n"},
    {"an odd name is refused in the classic long form", FORM_LONG, "'a b' = 1",
     "1:1: this is not a time: expected 'H:M', '[Nd]H:M:S', 'YYYY-MM-DDTHH:MM:SS+HH:MM' or 'Mon DD HH:MM:SS YYYY "
     "+HH:MM'\n"},
};

#define NO_ENTITY "there is no such entity: there are &lt; &gt; &amp; &quot; &apos;\n"

static const struct read_row refused_condor[] = {
    {"a key twice is refused in JSON", FORM_JSON, "{\"a\": 1,\n  \"a\": 2}",
     "2:3: duplicate object key near '\"a\"'\n"},
    {"a key twice is refused in JSON, whatever its case", FORM_JSON, "{\"a\": 1,\n  \"b\": {}, \"A\": 2}",
     "2:12: the attribute 'A' is defined twice in this ad\n"},
    {"a key twice is refused in a nested object", FORM_JSON, "{\"a\": [{\"b\": 1, \"c\": {}, \"B\": 2}]}",
     "1:26: the attribute 'B' is defined twice in this ad\n"},
    {"a name twice is refused in XML", FORM_XML, "<c><a n=\"a\"><i>1</i></a>\n<a n=\"A\"><i>1</i></a></c>",
     "2:1: the attribute 'A' is defined twice in this ad\n"},
    {"a real past the range is refused in JSON", FORM_JSON, "{\"a\": 1e400}",
     "1:7: real number overflow near '1e400'\n"},
    {"an integer past 64 bits is refused in JSON", FORM_JSON, "{}\n{\"a\": 9223372036854775808}",
     "[]\n2:7: too big integer near '9223372036854775808'\n"},
    {"an integer below 64 bits is refused in JSON", FORM_JSON, "{\"a\": -9223372036854775809}",
     "1:7: too big negative integer near '-9223372036854775809'\n"},
    {"a number with a leading zero is refused in JSON", FORM_JSON, "{\"a\": 01}", "1:7: invalid token near '0'\n"},
    {"bytes that are not UTF-8 are refused in JSON", FORM_JSON, "{\"a\":\n \"x\xff\"}",
     "2:4: this is not UTF-8: the byte 0xff\n"},
    {"a surrogate is refused in JSON", FORM_JSON, "{\"a\": \"\xed\xa0\x80\"}",
     "1:8: this is not UTF-8: the byte 0xed\n"},
    {"half of a surrogate pair is refused in JSON", FORM_JSON, "{\"a\": \"\\ud800\"}",
     "1:7: invalid Unicode '\\uD800' near '\"\\ud800\"'\n"},
    {"a NUL is refused in JSON", FORM_JSON, "{\"a\": \"\\u0000\"}", "1:8: a string cannot hold a NUL\n"},
    {"a NUL is refused in a key", FORM_JSON, "{\"a\\u0000\": 1}", "1:4: a string cannot hold a NUL\n"},
    {"a control character is refused in JSON", FORM_JSON, "{\"a\": \"x\001\"}",
     "1:9: a string cannot hold the byte 0x01: write \\u0001\n"},
    {"a string without an end is refused in JSON", FORM_JSON, "{\"a\": \"x",
     "1:7: this string has no end: expected '\"'\n"},
    {"a bad escape is refused in JSON", FORM_JSON, "{\"a\": \"x\\q\"}", "1:7: invalid escape near '\"x\\q'\n"},
    {"a NUL after an escaped backslash is none", FORM_JSON, "{\"a\": \"\\\\u0000\"}", "[a=\"\\\\u0000\"]\n"},
    {"what spoils a number is shown", FORM_JSON, "{\"a\":0x10}", "1:7: '}' expected near 'x'\n"},
    {"what spoils a real is shown", FORM_JSON, "{\"a\":1.5e-3x}", "1:12: '}' expected near 'x'\n"},
    {"a real without digits after its point is refused", FORM_JSON, "{\"a\":1.x}", "1:6: invalid token near '1.'\n"},
    {"a missing colon is refused in JSON", FORM_JSON, "{\"a\" 1}", "1:6: ':' expected near '1'\n"},
    {"a trailing comma is refused in JSON", FORM_JSON, "{\"a\": 1,}", "1:9: string or '}' expected near '}'\n"},
    {"a word is refused in JSON", FORM_JSON, "{\"a\": tru}", "1:7: invalid token near 'tru'\n"},
    {"an object that is not closed is refused", FORM_JSON, "{\"a\": [1,\n 2", "2:3: ']' expected near end of file\n"},
    {"brackets that do not fit are refused in JSON", FORM_JSON, "{\"a\": [1}", "1:9: ']' expected near '}'\n"},
    {"an array must go on with a comma", FORM_JSON, "[{} {}]", "[]\n1:5: expected ',' or ']' of the array, got '{'\n"},
    {"an array must be closed", FORM_JSON, "[{}\n", "[]\n2:1: expected ',' or ']' of the array, got the end\n"},
    {"an array holds objects", FORM_JSON, "[{}, 1]", "[]\n1:6: expected '{' of an ad, got '1'\n"},
    {"nothing follows the array", FORM_JSON, "[{}] {}", "[]\n1:6: expected the end after the array, got '{'\n"},
    {"a number alone is no ad", FORM_JSON, "12", "1:1: expected '{' of an ad, got '1'\n"},
    {"an error in an expression has its place in JSON", FORM_JSON, "{\"a\":\n \"\\/Expr(b + )\\/\"}",
     "2:14: expected an expression, got the end\n"},
    {"escapes count in the place of an expression's error", FORM_JSON, "{\"a\": \"/Expr(\\\"\\u0041\\\" + ))/\"}",
     "1:27: expected an expression, got ')'\n"},
    {"an expression's error names its brackets by their place in JSON", FORM_JSON, "{\"a\": \"/Expr((b)/\"}",
     "1:16: expected ')' to close '(' at 1:14\n"},
    {"an expression that is empty is refused", FORM_JSON, "{\"a\": \"/Expr()/\"}",
     "1:14: expected an expression, got the end\n"},
    {"a reserved name is refused in JSON", FORM_JSON, "{\"a\": {\"Self\": 1}}",
     "1:8: 'Self' is reserved: it cannot be an attribute's name\n"},
    {"a reserved name is refused though quoted", FORM_JSON, "{\"'p\\\\141rent'\": 1}",
     "1:2: 'parent' is reserved: it cannot be an attribute's name\n"},
    {"a reserved name is refused in XML", FORM_XML, "<c><a n=\"root\"><i>1</i></a></c>",
     "1:4: 'root' is reserved: it cannot be an attribute's name\n"},
    {"a reserved name is refused in the long form", FORM_LONG, "a = 1\nPARENT = 1",
     "2:1: 'PARENT' is reserved: it cannot be an attribute's name\n"},
    {"a reserved name is refused though quoted in the long form", FORM_LONG, "'s\\145lf' = 1",
     "1:1: 'self' is reserved: it cannot be an attribute's name\n"},
    {"an empty name is refused in JSON", FORM_JSON, "{\"\": 1}", "1:2: an attribute's name cannot be empty\n"},
    {"an empty name is refused in XML", FORM_XML, "<c><a n=\"\"><i>1</i></a></c>",
     "1:4: an attribute's name cannot be empty\n"},
    {"an attribute without a name is refused in XML", FORM_XML, "<c><a><i>1</i></a></c>",
     "1:4: expected the attribute's name: <a n=\"...\">\n"},
    {"an attribute without a value is refused in XML", FORM_XML, "<c><a n=\"a\"/></c>",
     "1:4: this attribute has no value\n"},
    {"an attribute with two values is refused in XML", FORM_XML, "<c><a n=\"a\"><un/><un/></a></c>",
     "1:18: an attribute has one value\n"},
    {"an unknown element is refused", FORM_XML, "<c><a n=\"a\"><x/></a></c>", "1:13: there is no element <x>\n"},
    {"text between attributes is refused", FORM_XML, "<c>x</c>", "1:4: text cannot stand here\n"},
    {"a value outside an attribute is refused", FORM_XML, "<c><i>1</i></c>", "1:4: expected <a n=\"...\"> or </c>\n"},
    {"an element in a number is refused", FORM_XML, "<c><a n=\"a\"><i>1<i/></i></a></c>",
     "1:17: an element cannot stand in this one\n"},
    {"text in an empty element is refused", FORM_XML, "<c><a n=\"a\"><un>x</un></a></c>",
     "1:17: nothing can stand in this element\n"},
    {"a bad boolean is refused in XML", FORM_XML, "<c><a n=\"a\"><b v=\"x\"/></a></c>",
     "1:13: expected v=\"t\" or v=\"f\" in <b>\n"},
    {"a bad integer is refused in XML", FORM_XML, "<c>\n<a n=\"a\"><i>1x</i></a></c>",
     "2:13: this is not an integer\n"},
    {"an integer past 64 bits is refused in XML", FORM_XML, "<c><a n=\"a\"><i>9223372036854775808</i></a></c>",
     "1:16: this integer does not fit into 64 bits\n"},
    {"a real past the range is refused in XML", FORM_XML, "<c><a n=\"a\"><r>1e400</r></a></c>",
     "1:16: this number does not fit into a real\n"},
    {"a bad real is refused in XML", FORM_XML, "<c><a n=\"a\"><r>1.5.</r></a></c>", "1:16: this is not a real\n"},
    {"a bad time is refused in XML", FORM_XML, "<c><a n=\"a\"><at>now</at></a></c>",
     "1:17: this is not a time: expected YYYY-MM-DDTHH:MM:SS+HH:MM\n"},
    {"a bad interval is refused in XML", FORM_XML, "<c><a n=\"a\"><rt>x</rt></a></c>",
     "1:17: this is not an interval of time\n"},
    {"an error in an expression has its place in XML", FORM_XML, "<c>\n<a n=\"a\"><e>b &gt; )</e></a></c>",
     "2:20: expected an expression, got ')'\n"},
    {"tags that do not fit are refused", FORM_XML, "<c><a n=\"a\"><i>1</i></b></c>",
     "1:21: expected </a> to close <a> at 1:4, got </b>\n"},
    {"an element without an end is refused", FORM_XML, "<c/>\n<c><a n=\"a\">",
     "[]\n2:13: expected </a> to close <a> at 2:4, got the end\n"},
    {"<classads> without an end is refused", FORM_XML, "<classads><c/>\n",
     "[]\n2:1: expected <c> or </classads>, got the end\n"},
    {"another outermost element is refused", FORM_XML, "<html></html>", "1:1: expected <classads> or <c>\n"},
    {"text around ads is refused in XML", FORM_XML, "<classads>x</classads>",
     "1:11: expected <c> or </classads>, got 'x'\n"},
    {"bytes that are not UTF-8 are refused in XML", FORM_XML, "<c><a n=\"a\"><s>x\xff</s></a></c>",
     "1:17: this is not UTF-8: the byte 0xff\n"},
    {"a control character is refused in XML", FORM_XML, "<c><a n=\"a\"><s>\001</s></a></c>",
     "1:16: XML cannot hold the byte 0x01\n"},
    {"another encoding is refused", FORM_XML, "<?xml version=\"1.0\" encoding=\"UTF-16\"?><c/>",
     "1:31: only UTF-8 is read\n"},
    {"an entity that nobody defined is refused", FORM_XML, "<c><a n=\"a\"><s>&lol;</s></a></c>", "1:16: " NO_ENTITY},
    {"an entity in a name is refused", FORM_XML, "<c><a n=\"&lol;\"><un/></a></c>", "1:10: " NO_ENTITY},
    {"a document type that defines entities is refused", FORM_XML,
     "<!DOCTYPE classads [<!ENTITY a SYSTEM \"file:///etc/passwd\">]>\n<classads><c><a n=\"a\"><s>&a;</s></a></c></classads>",
     "1:20: a document type with declarations of its own is refused\n"},
    {"a document type inside an ad is refused", FORM_XML, "<c><!DOCTYPE c [<!ENTITY a \"b\">]></c>",
     "1:4: a declaration cannot stand inside an ad\n"},
    {"a document type elsewhere is not fetched", FORM_XML,
     "<!DOCTYPE classads SYSTEM \"http://127.0.0.1:1/x.dtd\"><classads><c><a n=\"a\"><s>&x;</s></a></c></classads>",
     "1:79: " NO_ENTITY},
    {"text after an attribute is refused where it stands", FORM_XML, "<c>\n <a n=\"x\"><i>1</i></a>\n junk</c>",
     "3:2: text cannot stand here\n"},
    {"text after a comment is refused where it stands", FORM_XML, "<c><!-- x -->\n <?y?> &amp;</c>",
     "2:8: text cannot stand here\n"},
    {"text after a value is refused where it stands", FORM_XML, "<c><a n=\"x\"><un></un> <![CDATA[y]]></a></c>",
     "1:23: text cannot stand here\n"},
    {"an attribute of XML that nobody knows is refused", FORM_XML, "<c>\n<a n=\"x\" m='y'><un/></a></c>",
     "2:10: <a> has no attribute 'm'\n"},
    {"an ad takes no attribute of XML", FORM_XML, "<c xmlns=\"x\"/>", "1:4: <c> has no attribute 'xmlns'\n"},
    {"the outermost element takes no attribute of XML", FORM_XML, "<classads n=\"x\"/>",
     "1:11: <classads> has no attribute 'n'\n"},
    {"an attribute of XML twice is refused where it stands", FORM_XML, "<c><a n=\"x\" n=\"y\"><un/></a></c>",
     "1:13: the attribute 'n' stands twice in this tag\n"},
    {"an attribute of XML needs a value", FORM_XML, "<c><a n><un/></a></c>",
     "1:8: expected '=' and a value in quotes\n"},
    {"an attribute of XML needs quotes", FORM_XML, "<c><a n=x><un/></a></c>", "1:9: expected a value in quotes\n"},
    {"a quote without an end is refused in XML", FORM_XML, "<c><a n='x><un/></a></c>",
     "1:9: this value has no end: expected '\n"},
    {"an angle bracket in a value is refused", FORM_XML, "<c><a n=\"<\"><un/></a></c>",
     "1:10: a '<' in a value is written &lt;\n"},
    {"a tag that is spoilt is refused", FORM_XML, "<c><a n=\"x\";><un/></a></c>",
     "1:12: expected '>' to close this tag\n"},
    {"a slash that ends no tag is refused", FORM_XML, "<c/ >", "1:4: expected '>' to close this tag\n"},
    {"a closing tag takes nothing", FORM_XML, "<c></c c>", "1:8: expected '>' to close this tag\n"},
    {"a tag without a name is refused", FORM_XML, "<c><a n=\"x\"><e>a < b</e></a></c>",
     "1:18: expected the name of an element: a '<' itself is written &lt;\n"},
    {"a tag without an end is refused", FORM_XML, "<c><a n=\"x\"><s>a</s", "1:17: this tag has no end: expected '>'\n"},
    {"a string without an end is refused in XML", FORM_XML, "<c><a n=\"x\"><s>a",
     "1:17: expected </s> to close <s> at 1:13, got the end\n"},
    {"a comment without an end is refused in XML", FORM_XML, "<c>\n<!-- </c>",
     "2:1: this comment has no end: expected '-->'\n"},
    {"a comment without an end is refused around ads", FORM_XML, "<c/><!-- ",
     "[]\n1:5: this comment has no end: expected '-->'\n"},
    {"character data without an end is refused", FORM_XML, "<c><a n=\"x\"><s><![CDATA[</s></a></c>",
     "1:16: this character data has no end: expected ']]>'\n"},
    {"a character that XML cannot hold is refused though by its number", FORM_XML,
     "<c><a n=\"x\"><s>a&#0;&amp;</s></a></c>", "1:17: XML has no character of this number\n"},
    {"a number of a character must be one", FORM_XML, "<c><a n=\"x\"><s>&#xg;</s></a></c>",
     "1:16: expected the number of a character, as in &#x41;\n"},
    {"an ampersand alone is refused", FORM_XML, "<c><a n=\"x\"><e>a && b</e></a></c>",
     "1:18: expected the name of an entity: a '&' itself is written &amp;\n"},
    {"an entity without an end is refused", FORM_XML, "<c><a n=\"x\"><s>&amp x</s></a></c>",
     "1:16: this entity has no end: expected ';' (a '&' itself is written &amp;)\n"},
    {"a line without '=' is refused", FORM_LONG, "a = 1\n b 2\n", "2:4: expected '=', got '2'\n"},
    {"an error in the long form has its place", FORM_LONG, "a = 1\n\n   b = 1 +\n",
     "[a=1]\n3:11: expected an expression, got the end\n"},
    {"a string of the long form ends on its line", FORM_LONG, "a = \"x\ny\"\n",
     "1:5: this string has no end: expected \"\n"},
    {"a NUL is refused in a name of the long form", FORM_LONG, "'a\\000' = 1", "1:3: a string cannot hold a NUL\n"},
};

/* ---- limits ---- */

/* OPEN count times, then INNER, then CLOSE count times. */
static void nest(struct buf *out, const char *open, const char *inner, const char *close, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        buf_adds(out, open);
    buf_adds(out, inner);
    for (unsigned i = 0; i < count; i++)
        buf_adds(out, close);
}

static void check_deep(const char *sentence, enum form form, const char *open, const char *inner, const char *close,
                       unsigned count, const char *wanted)
{
    struct buf text;

    buf_init(&text);
    buf_adds(&text, form == FORM_LONG ? "a = " : "");
    nest(&text, open, inner, close, count);
    check_read(sentence, &dialect_condor, form, NULL, text.text, text.len, wanted);
    buf_done(&text);
}

static void test_depth(void)
{
    const unsigned many = 100000;

    check_deep("a hundred thousand brackets are refused", FORM_CLASSAD, "[", "", "", many,
               "1:2: expected an attribute's name, got '['\n");
    check_deep("a hundred thousand nested ads are refused", FORM_CLASSAD, "[a=", "1", "]", many,
               "1:769: nested too deeply: the depth limit is 256\n");
    check_deep("a hundred thousand nested objects are refused", FORM_JSON, "{\"a\":", "1", "}", many,
               "1:1281: nested too deeply: the depth limit is 256\n");
    check_deep("a hundred thousand nested elements are refused", FORM_XML, "<c><a n=\"a\">", "", "", many,
               "1:3085: nested too deeply: the depth limit is 256\n");
    check_deep("257 nested elements are refused", FORM_XML, "<c><a n=\"a\">", "<un/>", "</a></c>", 257,
               "1:3073: nested too deeply: the depth limit is 256\n");
    check_deep("a hundred thousand nested lists are refused in the long form", FORM_LONG, "{", "1", "}", many,
               "1:260: nested too deeply: the depth limit is 256\n");
}

static void test_limits(void)
{
    const struct form_limits bytes = {.bytes = 30}, cells = {.cells = 5}, attributes = {.attributes = 2};
    const struct {
        const char *sentence;
        enum form form;
        const struct form_limits *limits;
        const char *text, *wanted;
    } rows[] = {
        {"an ad past the limit of bytes is refused", FORM_CLASSAD, &bytes, "[a=1]\n [a=\"0123456789012345678901234\"]",
         "[a=1]\n2:2: this ad is too long: the limit is 30 bytes\n"},
        {"an object past the limit of bytes is refused", FORM_JSON, &bytes, "{}{\"a\":\"0123456789012345678901234\"}",
         "[]\n1:3: this ad is too long: the limit is 30 bytes\n"},
        {"an element past the limit of bytes is refused", FORM_XML, &bytes, "<c/><c><a n=\"a\"><i>1234</i></a></c>",
         "[]\n1:5: this ad is too long: the limit is 30 bytes\n"},
        {"lines past the limit of bytes are refused", FORM_LONG, &bytes,
         "a = 1\n\nb = 123456789\nc = 0.1234567890123\n", "[a=1]\n3:1: this ad is too long: the limit is 30 bytes\n"},
        {"an ad within the limit of bytes is read", FORM_CLASSAD, &bytes, "[a=1] [a=\"01234567890123456789012\"]",
         "[a=1]\n[a=\"01234567890123456789012\"]\n"},
        {"an ad past the limit of parts is refused", FORM_CLASSAD, &cells, "[a={1,2,3,4,5,6}]",
         "1:16: too large: the limit is 5 parts\n"},
        {"an object past the limit of parts is refused", FORM_JSON, &cells, "{\"a\":[1,2,3,4,5,6]}",
         "1:18: too large: the limit is 5 parts\n"},
        {"an element past the limit of parts is refused", FORM_XML, &cells,
         "<c><a n=\"a\"><l><i>1</i><i>1</i><i>1</i><i>1</i><i>1</i><i>1</i></l></a></c>",
         "1:56: too large: the limit is 5 parts\n"},
        {"lines past the limit of parts are refused", FORM_LONG, &cells, "a=1\nb=1\nc=1\nd=1\ne=1\nf=1\n",
         "6:4: too large: the limit is 5 parts\n"},
        {"an ad of too many attributes is refused", FORM_CLASSAD, &attributes, "[a=1;b=2;c=3]",
         "1:10: too many attributes in one ad: the limit is 2\n"},
        {"an object of too many attributes is refused", FORM_JSON, &attributes, "{\"a\":1,\"b\":2,\"c\":3}",
         "1:14: too many attributes in one ad: the limit is 2\n"},
        {"an element of too many attributes is refused", FORM_XML, &attributes,
         "<c><a n=\"a\"><un/></a><a n=\"b\"><un/></a><a n=\"c\"><un/></a></c>",
         "1:40: too many attributes in one ad: the limit is 2\n"},
        {"lines of too many attributes are refused", FORM_LONG, &attributes, "a=1\nb=2\nc=3",
         "3:1: too many attributes in one ad: the limit is 2\n"},
        {"the limit holds for nested ads", FORM_JSON, &attributes, "{\"a\":{\"a\":1,\"b\":2,\"c\":3}}",
         "1:19: too many attributes in one ad: the limit is 2\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_read(rows[i].sentence, &dialect_condor, rows[i].form, rows[i].limits, rows[i].text, strlen(rows[i].text),
                   rows[i].wanted);
}

/* ---- nothing is lost ---- */

/* Written in a form and read back, it is the same tree. */
static bool survives(const struct tree *ad, enum form form, size_t chunk)
{
    struct stream stream = {.chunk = chunk};
    struct form_reader *reader;
    struct err err = {0};
    struct tree *back = NULL;
    struct buf text;
    bool same;

    buf_init(&text);
    form_write_begin(&text, form);
    same = form_write_ad(&text, form, ad, &err) == 0;
    form_write_end(&text, form);
    stream.text = text.text;
    stream.len = text.len;
    reader = form_reader_new(symbols, ad->dialect, form, NULL, stream_read, &stream);
    same = same && form_reader_next(reader, &back, &err) == 1 && back->dialect == ad->dialect &&
           tree_equal(ad, tree_root(ad), back, tree_root(back)) && form_reader_next(reader, &back, &err) == 0;
    if (!same)
        tap_diag("%s, %s: %u:%u: %s\n%s", form_name(form), ad->dialect->name, err.line, err.column, err.text,
                 buf_string(&text));
    form_reader_free(reader);
    tree_unref(back);
    buf_done(&text);
    return same;
}

static bool survives_everywhere(const struct tree *ad, size_t chunk)
{
    bool same = true;

    for (int form = FORM_CLASSAD; form <= FORM_LONG; form++)
        same = survives(ad, (enum form)form, chunk) && same;
    return same;
}

static void test_kept(void)
{
    static const struct {
        const char *sentence, *text;
        unsigned dialects;
    } rows[] = {
        {"empty ads and lists are kept", "[ a = []; b = {}; c = { {}, [] } ]", DIALECT_ALL},
        {"an ad without attributes is kept", "[]", DIALECT_ALL},
        {"numbers are kept to the last bit",
         "[ a = -0.0; b = 0.1; c = 5e-324; d = 1.7976931348623157e308; e = -1; f = int(\"-9223372036854775808\"); "
         "g = 9223372036854775807; h = 1e22; i = 123456789012345680.0; j = 0.0 ]",
         DIALECT_ALL},
        {"numbers that JSON has no word for are kept",
         "[ a = real(\"NaN\"); b = real(\"INF\"); c = { real(\"-INF\") } ]", DIALECT_ALL},
        {"constants and truth values are kept", "[ a = undefined; b = error; c = true; d = { false, undefined } ]",
         DIALECT_ALL},
        {"classic times are kept", "[ a = '2000-08-17T18:21:07-06:00'; b = '-1d02:03:04'; c = { '00:15' } ]",
         DIALECT_CLASSIC},
        {"condor times are kept",
         "[ a = absTime(\"2000-08-17T18:21:07-06:00\"); b = relTime(\"-1+02:03:04\"); c = { relTime(\"00:15:00\") } ]",
         DIALECT_CONDOR},
        {"expressions are kept", "[ a = b + 1; c = other.x > 10 && \"<&>\" == s; d = f(x, { 1, y })[0].z ? -q : !r ]",
         DIALECT_ALL},
        {"lists that hold expressions are kept", "[ a = { 1, b, { c + 1 }, [ d = e ] } ]", DIALECT_ALL},
        {"signs before numbers are kept",
         "[ a = -(5); b = - -5; c = +5; d = -x; e = -(-2.5); f = (-3)[0]; g = 1 - -1 ]", DIALECT_ALL},
        {"strings that look like expressions are kept",
         "[ a = \"/Expr(1)/\"; b = \"/Expr(\"; c = \"/Expr()/\"; d = { \"/Expr(x)/\" }; e = \"<e>1</e>\" ]",
         DIALECT_ALL},
        {"strings with blanks around are kept", "[ a = \" x \"; b = \"\\n\"; c = \"\\r\\n\\t\"; d = \" \"; e = \"\" ]",
         DIALECT_ALL},
        {"strings with backslashes and quotes are kept",
         "[ a = \"\\\\\"; b = \"\\\\\\\"\"; c = \"\\\"\\\\\\\\\"; d = { \"x\\\\\", \"\\\"\" }; e = \"\\\\\\n\\\\\" ]",
         DIALECT_ALL},
        {"calls that look like constants are kept",
         "[ a = unescape(\"x\\\\q\"); b = unescape(\"\"); c = int(\"5\"); d = unescape(unescape(\"\\\\\\\\n\")); "
         "e = real(\"INF\", 1); f = absTime(\"x\") ]",
         DIALECT_ALL},
        {"odd names are kept",
         "[ 'odd name' = 1; 'it\\'s' = 2; '\\\\' = 3; 'x\\ny' = 4; 'caf\\351' = 5; '\\'q\\'' = 6; 'true' = 7; '\"<&>' = 8; "
         "' ' = 9; '\\001' = 10; n = [ '\\377' = '\\376' ]; '#[]' = 1; '-- ' = 2; '\\xef\\xbf\\xbe' = 3 ]",
         DIALECT_CONDOR},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t d = 0; d < 2; d++) {
            struct err err = {0};
            struct tree *ad;
            const char *text = rows[i].text;

            if (!(rows[i].dialects & dialects[d]->bit))
                continue;
            ad = form_parse(symbols, dialects[d], FORM_CLASSAD, NULL, text, strlen(text), &err);
            if (!tap_ok(ad && survives_everywhere(ad, 0), "%s in every form, in %s", rows[i].sentence,
                        dialects[d]->name) &&
                !ad)
                tap_diag("%u:%u: %s", err.line, err.column, err.text);
            tree_unref(ad);
        }
}

/* Every byte alone, between letters, and all pairs with a backslash, a quote or a newline. */
static void test_bytes(void)
{
    static const char beside[] = "\\\"\n'/<x";

    for (size_t d = 0; d < 2; d++) {
        struct build build;
        struct tree *ad;
        uint32_t count = 0;

        build_init(&build, symbols, dialects[d]);
        for (unsigned c = 1; c < 256; c++) {
            char text[3] = {(char)c, 0, 0};

            build_string(&build, text, 1);
            for (size_t i = 0; i + 1 < sizeof beside; i++) {
                text[1] = beside[i];
                build_string(&build, text, 2);
                text[1] = (char)c;
                text[0] = beside[i];
                build_string(&build, text, 2);
                text[0] = (char)c;
            }
            count += 1 + 2 * (uint32_t)(sizeof beside - 1);
        }
        build_bind(&build, EXPR_LIST, count);
        build_attribute(&build, symbols_take(symbols, "bytes", 5));
        build_ad(&build, 1, &count);
        ad = build_seal(&build);
        tap_ok(survives_everywhere(ad, 0), "strings of every byte are kept in every form, in %s", dialects[d]->name);
        tree_unref(ad);
        build_done(&build);
    }
}

/* Ads as deep as can be, with the literals that are longest to write at the bottom. */
static void test_deepest(void)
{
    static const char *const bottoms[] = {"-5",
                                          "int(\"-9223372036854775808\")",
                                          "real(\"-INF\")",
                                          "\"\\n\"",
                                          "\"\\\\\"",
                                          "{}",
                                          "f(-1, \"\\n\")",
                                          "-x",
                                          "- -5",
                                          "-real(\"INF\")",
                                          "(x)"};
    static const char *const shapes[][2] = {{"[ a = ", " ]"}, {"{ ", " }"}};

    for (size_t s = 0; s < 2; s++)
        for (size_t i = 0; i < sizeof bottoms / sizeof *bottoms; i++)
            for (size_t d = 0; d < 2; d++) {
                struct buf text;
                struct tree *ad = NULL;
                unsigned depth = TREE_DEPTH_MAX;

                buf_init(&text);
                for (; depth && !ad; depth--) {
                    buf_reset(&text);
                    buf_adds(&text, "[ a = ");
                    nest(&text, shapes[s][0], bottoms[i], shapes[s][1], depth - 1);
                    buf_adds(&text, " ]");
                    ad = form_parse(symbols, dialects[d], FORM_CLASSAD, NULL, text.text, text.len, NULL);
                }
                tap_ok(depth + 3 >= TREE_DEPTH_MAX && survives_everywhere(ad, 0),
                       "%s is kept inside as many %s as there may be, in %s", bottoms[i], s ? "lists" : "ads",
                       dialects[d]->name);
                tree_unref(ad);
                buf_done(&text);
            }
}

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void test_random(void)
{
    static const char *const names[] = {"a", "B", "cpus", "Memory", "x1", "_y", NULL};
    uint64_t seed = number_of("BERTH_SEED", 20240607), rounds = number_of("BERTH_ROUNDS", 400);

    for (size_t d = 0; d < 2; d++) {
        uint64_t round;
        bool same = true;

        for (round = 0; round < rounds && same; round++) {
            struct build build;
            struct grow grow = {.build = &build, .names = names, .odd = true};
            struct tree *ad;

            rng_init(&grow.rng, rng_mix(seed + round));
            build_init(&build, symbols, dialects[d]);
            grow_ad(&grow, 5, 8);
            ad = build_seal(&build);
            same = survives_everywhere(ad, grow_below(&grow, 3));
            tree_unref(ad);
            build_done(&build);
        }
        if (!tap_ok(same, "%llu random ads are kept in every form, in %s", (unsigned long long)rounds,
                    dialects[d]->name))
            tap_diag("BERTH_SEED=%llu", (unsigned long long)(seed + round - 1));
    }
}

/* Ads of several forms in turn: from each to each other. */
static void test_convert(void)
{
    static const char text[] = "[ Name = \"x\"; Load = 0.25; Req = other.Memory > 10; L = { 1, a } ] [] [ b = -1 ]";
    struct buf wanted, written, got;

    buf_init(&wanted);
    buf_init(&written);
    buf_init(&got);
    read_all(&dialect_classic, FORM_UNKNOWN, NULL, text, sizeof text - 1, 0, &wanted);
    for (int form = FORM_CLASSAD; form <= FORM_LONG; form++) {
        struct stream stream = {text, sizeof text - 1, 0, 0};
        struct form_reader *reader =
            form_reader_new(symbols, &dialect_classic, FORM_UNKNOWN, NULL, stream_read, &stream);
        struct tree *ad;

        buf_reset(&written);
        form_write_begin(&written, (enum form)form);
        while (form_reader_next(reader, &ad, NULL) == 1) {
            form_write_ad(&written, (enum form)form, ad, NULL);
            tree_unref(ad);
        }
        form_write_end(&written, (enum form)form);
        form_reader_free(reader);
        read_all(&dialect_classic, FORM_UNKNOWN, NULL, written.text, written.len, 3, &got);
        if (!tap_ok(strcmp(buf_string(&wanted), buf_string(&got)) == 0,
                    "ads written as %s are recognised and read back", form_name((enum form)form)))
            tap_diag("%s\n%s", buf_string(&written), buf_string(&got));
    }
    buf_done(&wanted);
    buf_done(&written);
    buf_done(&got);
}

/* ---- how it looks ---- */

static void test_layout(void)
{
    static const char text[] = "[ A = 1; B = \"x\\n\"; C = b > 1; 'D e' = { true, undefined }; E = [ f = 0.5 ] ]";
    static const char *const wanted[] = {
        [FORM_CLASSAD] = "[ A = 1; B = \"x\\n\"; C = b > 1; 'D e' = { true, undefined }; E = [ f = 0.5 ] ]\n",
        [FORM_JSON] =
            "{\"A\": 1, \"B\": \"x\\n\", \"C\": \"\\/Expr(b > 1)\\/\", \"D e\": [true, null], \"E\": {\"f\": 0.5}}\n",
        [FORM_XML] =
            "<c>\n    <a n=\"A\"><i>1</i></a>\n    <a n=\"B\"><s>x\n</s></a>\n    <a n=\"C\"><e>b &gt; 1</e></a>\n"
            "    <a n=\"D e\"><l><b v=\"t\"/><un/></l></a>\n"
            "    <a n=\"E\"><c><a n=\"f\"><r>0.5</r></a></c></a>\n</c>\n",
        [FORM_LONG] = "A = 1\nB = unescape(\"x\\n\")\nC = b > 1\n'D e' = { true, undefined }\nE = [ f = 0.5 ]\n\n",
    };
    struct tree *ad = form_parse(symbols, &dialect_condor, FORM_CLASSAD, NULL, text, sizeof text - 1, NULL);

    for (int form = FORM_CLASSAD; form <= FORM_LONG; form++) {
        struct buf out;

        buf_init(&out);
        form_write_ad(&out, (enum form)form, ad, NULL);
        if (!tap_ok(strcmp(buf_string(&out), wanted[form]) == 0, "an ad is laid out as %s", form_name((enum form)form)))
            tap_diag("%s", buf_string(&out));
        buf_done(&out);
    }
    tree_unref(ad);
}

static void test_write_refused(void)
{
    struct build build;
    struct err err = {0};
    struct tree *tree;
    struct buf out;
    uint32_t place;

    buf_init(&out);
    build_init(&build, symbols, &dialect_classic);
    build_integer(&build, 1);
    build_attribute(&build, symbols_take(symbols, "a b", 3));
    build_ad(&build, 1, &place);
    tree = build_seal(&build);
    for (int form = FORM_CLASSAD; form <= FORM_LONG; form++)
        tap_ok(form_write_ad(&out, (enum form)form, tree, &err) < 0 && strstr(err.text, "'a b' is not an identifier"),
               "an odd name is not written as %s in classic", form_name((enum form)form));
    tree_unref(tree);
    build_integer(&build, 1);
    tree = build_seal(&build);
    tap_ok(form_write_ad(&out, FORM_JSON, tree, &err) < 0 && out.len == 0, "only ads are written");
    tree_unref(tree);
    build_done(&build);
    buf_done(&out);
}

static void test_parse(void)
{
    static const struct {
        const char *sentence;
        enum form form;
        const char *text, *wanted;
    } rows[] = {
        {"one ad is read from memory", FORM_CLASSAD, "[ a = 1 ]", "[a=1]"},
        {"one object is read from memory", FORM_JSON, " {\"a\":1}\n", "[a=1]"},
        {"one element is read from memory", FORM_XML, "<c><a n=\"a\"><i>1</i></a></c>", "[a=1]"},
        {"lines are read from memory", FORM_LONG, "a = 1\nb = 2", "[a=1;b=2]"},
        {"the form in memory is recognised", FORM_UNKNOWN, "{\"a\":1}", "[a=1]"},
        {"a second ad in memory is refused", FORM_JSON, "{}\n{}", "2:1: expected the end, got a second ad"},
        {"a second ad of the language is refused", FORM_CLASSAD, "[][]",
         "1:3: expected an operator or the end, got '['"},
        {"rubbish after an ad in memory is refused", FORM_JSON, "{} x", "1:4: expected '{' of an ad, got 'x'"},
        {"no ad in memory is refused", FORM_XML, "\n <classads/>", "2:13: expected an ad, got the end"},
        {"nothing in memory is refused", FORM_UNKNOWN, "", "1:1: expected an ad, got the end"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = {0};
        struct tree *ad =
            form_parse(symbols, &dialect_condor, rows[i].form, NULL, rows[i].text, strlen(rows[i].text), &err);
        struct buf got;

        buf_init(&got);
        if (ad)
            print_tree(&got, ad, PRINT_COMPACT);
        else
            buf_addf(&got, "%u:%u: %s", err.line, err.column, err.text);
        if (!tap_ok(strcmp(buf_string(&got), rows[i].wanted) == 0, "%s", rows[i].sentence))
            tap_diag("%s", buf_string(&got));
        tree_unref(ad);
        buf_done(&got);
    }
}

static void test_names(void)
{
    bool same = true;

    for (int form = FORM_CLASSAD; form <= FORM_LONG; form++)
        same = same && form_find(form_name((enum form)form)) == (enum form)form;
    tap_ok(same && form_find("yaml") == FORM_UNKNOWN, "a form is found by its name");
}

/* ---- streams ---- */

#define BLOCK 100

/* A stream that repeats a block of ads, what stands around them at its ends. */
struct endless {
    struct buf begin, block, end;
    unsigned blocks; /* still to come */
    const struct buf *part;
    size_t at;
};

static void endless_init(struct endless *endless, enum form form, unsigned blocks)
{
    *endless = (struct endless){.blocks = blocks, .part = &endless->begin};
    form_write_begin(&endless->begin, form);
    form_write_end(&endless->end, form);
    for (unsigned n = 0; n < BLOCK; n++) {
        char text[160];
        struct tree *ad;

        snprintf(text, sizeof text,
                 "[ Name = \"slot%u@host\"; Memory = %u; Load = 0.5; Req = other.x > 1; L = { 1, 2 } ]", n, n);
        ad = form_parse(symbols, &dialect_condor, FORM_CLASSAD, NULL, text, strlen(text), NULL);
        form_write_ad(&endless->block, form, ad, NULL);
        tree_unref(ad);
    }
}

static void endless_done(struct endless *endless)
{
    buf_done(&endless->begin);
    buf_done(&endless->block);
    buf_done(&endless->end);
}

static ptrdiff_t endless_read(void *user, char *out, size_t room, struct err *err)
{
    struct endless *endless = user;
    size_t count;

    (void)err;
    while (endless->at == endless->part->len && endless->part != &endless->end) {
        endless->part = endless->blocks ? &endless->block : &endless->end;
        endless->blocks -= endless->blocks > 0;
        endless->at = 0;
    }
    count = endless->part->len - endless->at;
    if (count > room)
        count = room;
    if (count)
        memcpy(out, endless->part->text + endless->at, count);
    endless->at += count;
    return (ptrdiff_t)count;
}

#if defined(TESTS_SANITIZED)
#define STREAMED 30000 /* a sanitizer looks at the code; that there may be many is the plain build's to show */
#else
#define STREAMED 100000
#endif

static void test_streams(void)
{
    const unsigned count = STREAMED;

    for (int form = FORM_CLASSAD; form <= FORM_LONG; form++) {
        struct endless endless;
        struct form_reader *reader =
            form_reader_new(symbols, &dialect_condor, FORM_UNKNOWN, NULL, endless_read, &endless);
        symbol name = symbols_take(symbols, "Memory", 6);
        unsigned seen = 0, lines = 1;
        size_t room = 0, cells = 0;
        bool right = true;
        struct tree *ad;

        endless_init(&endless, (enum form)form, count / BLOCK);
        while (right && form_reader_next(reader, &ad, NULL) == 1) {
            const struct expr *memory = tree_find(ad, tree_root(ad), name);

            right = memory && memory->kind == EXPR_INTEGER && memory->u.integer == seen++ % BLOCK &&
                    form_reader_line(reader) >= lines;
            lines = form_reader_line(reader);
            if (seen == 10) {
                room = reader->source.window.room;
                cells = reader->compose.build.cell_room;
            }
            tree_unref(ad);
        }
        tap_ok(right && seen == count && form_reader_form(reader) == (enum form)form,
               "a stream of %u ads is read as %s", count, form_name((enum form)form));
        tap_ok(reader->source.window.room <= room && reader->source.window.room <= 3 * SOURCE_CHUNK &&
                   reader->compose.build.cell_room == cells,
               "reading it as %s takes no more memory in the end than at the beginning", form_name((enum form)form));
        form_reader_free(reader);
        symbols_drop(symbols, name);
        endless_done(&endless);
    }
}

static ptrdiff_t failing_read(void *user, char *out, size_t room, struct err *err)
{
    const char **text = user;
    size_t len = strlen(*text);

    if (len == 0 || len > room)
        return err_set(err, "the disk is on fire");
    memcpy(out, *text, len);
    *text += len;
    return (ptrdiff_t)len;
}

static void test_read_failure(void)
{
    static const char *const texts[] = {"",  "[a=1",  "[a=\"", "[a=1/",  "{\"a\":", "{\"a",
                                        "[", "<c><a", "<!-",   "<?xml",  "<class",  "a = 1\n",
                                        "a", "/",     "/*",    "<c>\n<", "<c><!--", "[{}"};
    bool right = true;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *text = texts[i];
        struct form_reader *reader = form_reader_new(symbols, &dialect_condor, FORM_UNKNOWN, NULL, failing_read, &text);
        struct err err = {0};
        struct tree *ad;
        int got;

        while ((got = form_reader_next(reader, &ad, &err)) == 1)
            tree_unref(ad);
        if (got != -1 || strcmp(err.text, "the disk is on fire") != 0) {
            right = false;
            tap_diag("%s: %d %s", texts[i], got, err.text);
        }
        form_reader_free(reader);
    }
    tap_ok(right, "an error of the stream itself is passed on");
}

/* libxml2 compares the attributes of a tag with each other: it must not see these. */
static void test_many_xml_attributes(void)
{
    struct buf text;

    buf_init(&text);
    buf_adds(&text, "<c><a n=\"x\"");
    for (unsigned i = 0; i < 100000; i++)
        buf_addf(&text, " a%u=\"1\"", i);
    buf_adds(&text, "><un/></a></c>");
    check_read("a hundred thousand attributes of one tag are refused at once", &dialect_condor, FORM_XML, NULL,
               buf_string(&text), text.len, "1:13: <a> has no attribute 'a0'\n");
    buf_done(&text);
}

static void test_utf16(void)
{
    static const struct {
        const char *sentence, *text;
        size_t len;
    } rows[] = {
        {"UTF-16 with a mark is named", "\xff\xfe[\0]\0", 6},
        {"UTF-16 with a mark in the other order is named", "\xfe\xff\0[\0]", 6},
        {"UTF-16 without a mark is named", "[\0]\0", 4},
        {"UTF-16 without a mark in the other order is named", "\0[\0]", 4},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = {0};

        for (int form = FORM_UNKNOWN; form <= FORM_LONG; form++) {
            char sentence[100];

            snprintf(sentence, sizeof sentence, "%s, form %s", rows[i].sentence, form_name((enum form)form));
            check_read(sentence, &dialect_condor, (enum form)form, NULL, rows[i].text, rows[i].len,
                       "1:1: this is UTF-16: only UTF-8 is read\n");
        }
        tap_ok(!form_parse(symbols, &dialect_condor, FORM_CLASSAD, NULL, rows[i].text, rows[i].len, &err) &&
                   strstr(err.text, "only UTF-8 is read"),
               "%s in memory", rows[i].sentence);
    }
}

/* A NUL cannot be written in the tables above. */
static void test_nul(void)
{
    static const struct {
        const char *sentence, *text;
        size_t len;
        enum form form;
        const char *wanted;
    } rows[] = {
        {"a NUL is refused in an ad", "[a=\"x\0\"]", 8, FORM_CLASSAD, "1:6: this string cannot hold a NUL\n"},
        {"a NUL is refused between ads", "[]\0[]", 5, FORM_CLASSAD,
         "[]\n1:3: expected '[' of an ad, got the byte 0x00\n"},
        {"a raw NUL is refused in JSON", "{\"a\":\"x\0\"}", 10, FORM_JSON, "1:8: a string cannot hold a NUL\n"},
        {"a NUL between JSON's tokens is refused", "{\"a\":\0001}", 8, FORM_JSON, "1:6: unexpected byte 0x00\n"},
        {"a NUL is refused in XML", "<c><a n=\"a\"><s>\0</s></a></c>", 29, FORM_XML,
         "1:16: XML cannot hold the byte 0x00\n"},
        {"a NUL is refused in the long form", "a = \"\0\"", 7, FORM_LONG, "1:6: this string cannot hold a NUL\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_read(rows[i].sentence, &dialect_condor, rows[i].form, NULL, rows[i].text, rows[i].len, rows[i].wanted);
}

int main(void)
{
    symbols = symbols_new(NULL, 0, 0);
    ROWS(&dialect_condor, recognised);
    ROWS(&dialect_condor, classads);
    ROWS(&dialect_condor, jsons);
    ROWS(&dialect_condor, xmls);
    ROWS(&dialect_condor, longs);
    ROWS(&dialect_classic, refused_classic);
    ROWS(&dialect_condor, refused_condor);
    test_nul();
    test_utf16();
    test_many_xml_attributes();
    test_depth();
    test_limits();
    test_layout();
    test_write_refused();
    test_parse();
    test_names();
    test_kept();
    test_bytes();
    test_deepest();
    test_convert();
    test_read_failure();
    test_random();
    test_streams();
    tap_ok(symbols_count(symbols) == 0, "no name is held when all is given back");
    symbols_free(symbols);
    return tap_done();
}
