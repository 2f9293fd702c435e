/* xml_scan.c: looks through an XML text before libxml2 reads it, so that libxml2 gets nothing whose reading could take more than linear time, or
 * more than the text itself: tags with a thousand attributes, declarations of entities, other encodings. */
#include "match/grdl/xml.h"

#include <string.h>
#include <strings.h>

struct scan {
    const char *text;
    size_t len;
    struct err *err;
};

static int fail_at(const struct scan *scan, size_t offset, const char *what)
{
    unsigned line, column;

    err_place(scan->text, offset, &line, &column);
    return err_at(scan->err, line, column, "%s", what);
}

static bool starts(const struct scan *scan, size_t at, const char *with)
{
    size_t len = strlen(with);

    return scan->len - at >= len && memcmp(scan->text + at, with, len) == 0;
}

/* Moves `at` behind what begins there and ends with `close`; fails when it has no end. */
static int skip_to(const struct scan *scan, size_t *at, const char *open, const char *close, const char *what)
{
    size_t len = strlen(close);

    for (size_t i = *at + strlen(open); i + len <= scan->len; i++) {
        const char *found = memchr(scan->text + i, close[0], scan->len - len + 1 - i);

        if (!found)
            break;
        i = (size_t)(found - scan->text);
        if (memcmp(found, close, len) == 0) {
            *at = i + len;
            return 0;
        }
    }
    return fail_at(scan, *at, what);
}

/* Moves `at` behind a tag; fails when the tag has no end, too many values, or declarations. */
static int skip_tag(const struct scan *scan, size_t *at, bool declares)
{
    unsigned values = 0;

    for (size_t i = *at + 1; i < scan->len; i++) {
        char c = scan->text[i];

        if (c == '>') {
            *at = i + 1;
            return 0;
        }
        if (c == '[' && declares)
            return fail_at(scan, i, "a document type with declarations of its own is refused");
        if (c == '=' && ++values > GRDL_ATTRIBUTES_MAX)
            return fail_at(scan, i, "too many attributes in one tag");
        if (c == '"' || c == '\'') {
            const char *end = memchr(scan->text + i + 1, c, scan->len - i - 1);

            if (!end)
                return fail_at(scan, i, "this value has no end");
            i = (size_t)(end - scan->text);
        }
    }
    return fail_at(scan, *at, "this tag has no end: expected '>'");
}

/* Checks <?xml ... encoding="..."?>: only UTF-8 is read. */
static int encoding_check(const struct scan *scan, size_t end)
{
    static const char *const known[] = {"UTF-8", "US-ASCII", "ASCII"};
    size_t at = 5, len;

    while (at + 8 < end && memcmp(scan->text + at, "encoding", 8) != 0)
        at++;
    if (at + 8 >= end)
        return 0;
    for (at += 8; at < end && strchr(" \t\r\n=\"'", scan->text[at]); at++)
        ;
    for (len = 0; at + len < end && scan->text[at + len] != '"' && scan->text[at + len] != '\''; len++)
        ;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (len == strlen(known[i]) && strncasecmp(known[i], scan->text + at, len) == 0)
            return 0;
    return fail_at(scan, at, "only UTF-8 is read");
}

int xml_look_through(const char *text, size_t len, struct err *err)
{
    const struct scan given = {text, len, err}, *scan = &given;
    size_t at = 0;

    for (size_t i = 0; i < scan->len; i++)
        if (!scan->text[i])
            return fail_at(scan, i, "there is a NUL");
    if (starts(scan, 0, "<?xml")) {
        if (skip_to(scan, &at, "<?", "?>", "this instruction has no end: expected '?>'") < 0 ||
            encoding_check(scan, at) < 0)
            return -1;
    }
    while (at < scan->len) {
        const char *found = memchr(scan->text + at, '<', scan->len - at);
        int skipped;

        if (!found)
            break;
        at = (size_t)(found - scan->text);
        if (starts(scan, at, "<!--"))
            skipped = skip_to(scan, &at, "<!--", "-->", "this comment has no end: expected '-->'");
        else if (starts(scan, at, "<![CDATA["))
            skipped = skip_to(scan, &at, "<![CDATA[", "]]>", "this character data has no end: expected ']]>'");
        else if (starts(scan, at, "<?"))
            skipped = skip_to(scan, &at, "<?", "?>", "this instruction has no end: expected '?>'");
        else
            skipped = skip_tag(scan, &at, starts(scan, at, "<!"));
        if (skipped < 0)
            return -1;
    }
    return 0;
}
