/* private_ad.c: small ads of strings, read and written so that nothing of them stays in memory. */
#include "sys/private_file.h"

#include "sys/encoding.h"

#include <sodium.h>
#include <stdlib.h>
#include <strings.h>

/* What stands behind a backslash, and what it means. */
static const char escape_names[] = "n\"\\", escape_bytes[] = "\n\"\\";

struct scan {
    const char *at, *end;
    char *value; /* room for the longest: the whole text */
    size_t value_len;
};

static void skip_blanks(struct scan *scan)
{
    while (scan->at < scan->end && memchr(" \t\r\n", *scan->at, 4))
        scan->at++;
}

static bool take(struct scan *scan, char c)
{
    skip_blanks(scan);
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t take_name(struct scan *scan, const char **ret_name)
{
    skip_blanks(scan);
    *ret_name = scan->at;
    while (scan->at < scan->end && is_letter(*scan->at))
        scan->at++;
    return (size_t)(scan->at - *ret_name);
}

static bool take_string(struct scan *scan)
{
    scan->value_len = 0;
    if (!take(scan, '"'))
        return false;
    for (; scan->at < scan->end; scan->at++) {
        char c = *scan->at;

        if (c == '"') {
            scan->at++;
            return true;
        }
        if (c == '\0' || c == '\n')
            return false;
        if (c == '\\') {
            const char *name = ++scan->at < scan->end && *scan->at ? strchr(escape_names, *scan->at) : NULL;

            if (!name)
                return false;
            c = escape_bytes[name - escape_names];
        }
        scan->value[scan->value_len++] = c;
    }
    return false;
}

static const struct private_field *field_find(const struct private_field *fields, size_t count, const char *name,
                                              size_t len)
{
    for (size_t i = 0; i < count; i++)
        if (strlen(fields[i].name) == len && strncasecmp(fields[i].name, name, len) == 0)
            return &fields[i];
    return NULL;
}

static int fields_read(struct scan *scan, const struct private_field *fields, size_t count, struct err *err)
{
    bool more = true;

    if (!take(scan, '['))
        return err_set(err, "expected an ad: '['");
    while (!take(scan, ']')) {
        const struct private_field *field;
        const char *name;
        size_t len = take_name(scan, &name);

        if (!more || len == 0)
            return err_set(err, "expected %s", more ? "a name or ']'" : "';' or ']'");
        if (!(field = field_find(fields, count, name, len)))
            return err_set(err, "'%.*s' has no meaning here", len > 40 ? 40 : (int)len, name);
        if (*field->value)
            return err_set(err, "%s is there twice", field->name);
        if (!take(scan, '=') || !take_string(scan))
            return err_set(err, "expected a string for %s", field->name);
        *field->value = mem_dup(scan->value, scan->value_len);
        more = take(scan, ';');
    }
    skip_blanks(scan);
    if (scan->at != scan->end)
        return err_set(err, "expected the end after the ad");
    for (size_t i = 0; i < count; i++)
        if (fields[i].required && !*fields[i].value)
            return err_set(err, "%s is missing", fields[i].name);
    return 0;
}

int private_ad_read(const char *text, size_t len, const struct private_field *fields, size_t count, struct err *err)
{
    struct scan scan = {.at = text, .end = text + len, .value = mem_alloc(len + 1)};
    int result;

    for (size_t i = 0; i < count; i++)
        *fields[i].value = NULL;
    result = fields_read(&scan, fields, count, err);
    sodium_memzero(scan.value, len + 1);
    free(scan.value);
    for (size_t i = 0; result < 0 && i < count; i++) {
        text_wipe(*fields[i].value);
        *fields[i].value = NULL;
    }
    return result;
}

static void string_print(struct buf *out, const char *text)
{
    for (; *text; text++) {
        const char *byte = strchr(escape_bytes, *text);

        if (byte) {
            buf_addc(out, '\\');
            buf_addc(out, escape_names[byte - escape_bytes]);
        } else {
            buf_addc(out, *text);
        }
    }
}

void private_ad_print(struct buf *out, const struct private_field *fields, size_t count)
{
    size_t room = 8;

    for (size_t i = 0; i < count; i++)
        room += *fields[i].value ? strlen(fields[i].name) + 2 * strlen(*fields[i].value) + 16 : 0;
    buf_reserve(out, room); /* so that it does not move */
    buf_adds(out, "[\n");
    for (size_t i = 0; i < count; i++) {
        if (!*fields[i].value)
            continue;
        buf_adds(out, "    ");
        buf_adds(out, fields[i].name);
        buf_adds(out, " = \"");
        string_print(out, *fields[i].value);
        buf_adds(out, "\";\n");
    }
    buf_adds(out, "]\n");
}
