/* guard.c: whatever the parser makes of a head, the guard lets through exactly those that a strict reader of the raw bytes would.
 *
 * The bytes are a head. They are taken apart in place as libmicrohttpd does it, with its leniences: a bare LF ends a line, a NUL ends a
 * text, a folded line is glued to the name of its field, blanks in the request line are skipped. The guard sees the pieces; the strict
 * reader, slow and simple, sees the bytes. */
#include "live/http/guard.h"

#include "lang/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FIELDS_MAX 20
#define FIELD_BYTES_MAX 400
#define GLUED_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void broken(const char *law, const char *why)
{
    fprintf(stderr, "broken law: %s: %s\n", law, why);
    abort();
}

/* -------------------------------------------------------------------------------------------------- the lenient parser */

struct lenient {
    char *text, *at, *end;
    char *glued[GLUED_MAX]; /* names of folded fields */
    unsigned glued_count;
    struct guard guard;
    char *target; /* as it was */
    size_t target_len;
};

/* The next line, its end replaced by NULs. NULL when there is no whole one. */
static char *line_next(struct lenient *l, size_t *ret_len)
{
    char *start = l->at, *feed = memchr(start, '\n', (size_t)(l->end - start));
    size_t len;

    if (!feed)
        return NULL;
    len = (size_t)(feed - start);
    *feed = '\0';
    if (len && feed[-1] == '\r') {
        feed[-1] = '\0';
        len--;
    }
    l->at = feed + 1;
    *ret_len = len;
    return start;
}

/* False when the parser itself refuses it. */
static bool request_line(struct lenient *l, char **ret_method, char **ret_version)
{
    char *line, *uri, *version;
    size_t len;

    do {
        line = line_next(l, &len);
        if (!line)
            return false;
    } while (!line[0]);
    uri = memchr(line, ' ', len);
    if (!uri)
        return false;
    *uri++ = '\0';
    while (uri < line + len && *uri == ' ')
        uri++;
    if (uri == line + len)
        return false;
    version = line + len - 1;
    while (version > uri && *version == ' ')
        version--;
    while (version > uri && *version != ' ')
        version--;
    if (version == uri || line + len - version - 1 != 8 || memcmp(version + 1, "HTTP/1.", 7) != 0)
        return false;
    *version++ = '\0';
    if (*version == '\0' || version[7] < '0' || version[7] > '9')
        return false;
    l->target_len = strlen(uri);
    l->target = mem_dup(uri, l->target_len);
    *ret_method = line;
    *ret_version = version;
    return true;
}

static bool field_add(struct lenient *l, char *name, char *value)
{
    return !name || guard_field(&l->guard, name, strlen(name), value, strlen(value));
}

/* False when the parser itself refuses it. */
static bool fields_read(struct lenient *l)
{
    char *name = NULL, *value = NULL, *line;
    bool goes_on = true;
    size_t len;

    while ((line = line_next(l, &len))) {
        if (name && (line[0] == ' ' || line[0] == '\t')) {
            size_t name_len = strlen(name);
            line += strspn(line, " \t");
            if (l->glued_count == GLUED_MAX)
                return false;
            char *glued = mem_alloc(name_len + strlen(line) + 1);
            memcpy(glued, name, name_len);
            memcpy(glued + name_len, line, strlen(line) + 1);
            name = l->glued[l->glued_count++] = glued;
            continue;
        }
        goes_on = goes_on && field_add(l, name, value);
        if (!line[0])
            return true;
        name = line;
        value = strchr(line, ':');
        if (!value)
            return false;
        *value++ = '\0';
        value += strspn(value, " \t");
    }
    return false;
}

/* ---------------------------------------------------------------------------------------------------- the strict reader */

static bool is_word(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!text[i] ||
            !strchr("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", text[i]))
            return false;
    return len > 0;
}

static bool is_target(const char *text, size_t len)
{
    char decoded[GUARD_PATH_MAX + GUARD_QUERY_MAX];
    size_t count = 0, path = len;

    if (len == 0 || text[0] != '/' || len > sizeof decoded)
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned value = (unsigned char)text[i];
        if (value == '?' && path == len)
            path = i;
        if (!value ||
            !strchr("!$%&'()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~", (int)value))
            return false;
        if (value == '%') {
            char digits[3] = {0};
            memcpy(digits, text + i + 1, len - i - 1 < 2 ? len - i - 1 : 2);
            if (strspn(digits, "0123456789abcdefABCDEF") != 2)
                return false;
            value = (unsigned)strtoul(digits, NULL, 16);
            if (value == 0)
                return false;
            i += 2;
        }
        if (path == len) {
            if (value < 32 || value == 127)
                return false;
            decoded[count++] = (char)value;
        }
    }
    if (path > GUARD_PATH_MAX || len - path > GUARD_QUERY_MAX)
        return false;
    decoded[count++] = '/';
    for (size_t i = 0; i + 4 <= count; i++)
        if (memcmp(decoded + i, "/../", 4) == 0)
            return false;
    return true;
}

struct strict {
    unsigned fields, bytes, hosts, lengths;
    uint64_t length;
};

static bool strict_field(struct strict *s, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len), *value;
    size_t name_len, value_len;

    if (!colon)
        return false;
    name_len = (size_t)(colon - line);
    for (value = colon + 1; value < line + len && (*value == ' ' || *value == '\t');)
        value++;
    value_len = (size_t)(line + len - value);
    s->bytes += (unsigned)(name_len + value_len + 4);
    if (++s->fields > FIELDS_MAX || s->bytes > FIELD_BYTES_MAX || value - colon - 1 > FIELD_BYTES_MAX ||
        !is_word(line, name_len))
        return false;
    for (size_t i = 0; i < value_len; i++)
        if (((unsigned char)value[i] < 32 && value[i] != '\t') || value[i] == 127)
            return false;
    if (name_len == 17 && strncasecmp(line, "transfer-encoding", 17) == 0)
        return false;
    if (name_len == 4 && strncasecmp(line, "host", 4) == 0) {
        for (size_t i = 0; i < value_len; i++)
            if (!strchr("%-.:[]_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", value[i]))
                return false;
        return s->hosts++ == 0;
    }
    if (name_len == 6 && strncasecmp(line, "expect", 6) == 0)
        return value_len == 12 && strncasecmp(value, "100-continue", 12) == 0;
    if (name_len == 14 && strncasecmp(line, "content-length", 14) == 0) {
        __uint128_t sum = 0;
        for (size_t i = 0; i < value_len; i++) {
            if (value[i] < '0' || value[i] > '9' || sum > UINT64_MAX)
                return false;
            sum = sum * 10 + (unsigned)(value[i] - '0');
        }
        s->length = (uint64_t)sum;
        return value_len > 0 && sum <= UINT64_MAX && s->lengths++ == 0;
    }
    return true;
}

/* Is it a head that all would read alike? */
static bool strict_read(const char *at, const char *end, uint64_t *ret_length)
{
    struct strict s = {0};
    const char *stop, *blank, *second;
    bool is_first = true, is_1_1 = false;

    for (;; at = stop + 2) {
        stop = at;
        while (stop + 1 < end && !(stop[0] == '\r' && stop[1] == '\n'))
            stop++;
        if (stop + 1 >= end || memchr(at, '\0', (size_t)(stop - at)) || memchr(at, '\n', (size_t)(stop - at)))
            return false;
        if (is_first) {
            blank = memchr(at, ' ', (size_t)(stop - at));
            second = blank ? memchr(blank + 1, ' ', (size_t)(stop - blank - 1)) : NULL;
            if (!second || !is_word(at, (size_t)(blank - at)) || !is_target(blank + 1, (size_t)(second - blank - 1)) ||
                stop - second != 9 || (memcmp(second, " HTTP/1.1", 9) != 0 && memcmp(second, " HTTP/1.0", 9) != 0))
                return false;
            is_1_1 = second[8] == '1';
            is_first = false;
        } else if (stop == at) {
            *ret_length = s.length;
            return s.hosts == 1 || !is_1_1;
        } else if (!strict_field(&s, at, (size_t)(stop - at))) {
            return false;
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------ the laws */

static void check_decode(const char *text, size_t len)
{
    char *out = mem_alloc(len + 1);

    for (int is_query = 0; is_query < 2; is_query++)
        if (guard_decode(text, len, is_query, out) > len)
            broken("decoding makes no text longer", text);
    free(out);
}

static bool is_end(char c)
{
    return c == '\0' || c == '\r' || c == '\n';
}

/* What cannot be told in memory, where the ends of lines are NULs: NULs that make up for missing CRs. Those are written as they look:
 * a line that ends in NUL, LF; and the last four bytes of the head. */
static void ends_mend(char *start, char *end)
{
    for (char *at = start; at + 1 < end; at++)
        if (at[0] == '\0' && at[1] == '\n')
            at[0] = '\r';
    if (end - start > 4 && !is_end(end[-5]) && is_end(end[-4]) && is_end(end[-3]) && is_end(end[-2]) &&
        memchr(end - 4, '\0', 4) && (end[-4] != '\r' || end[-3] == '\n'))
        memcpy(end - 4, "\r\n\r\n", 4);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct guard_limits limits = {.fields = FIELDS_MAX, .field_bytes = FIELD_BYTES_MAX};
    struct lenient l = {0};
    char *raw = mem_alloc(size + 1), *method, *version;

    memcpy(raw, data, size);
    l.text = l.at = mem_alloc(size + 1);
    l.end = l.text + size;
    memcpy(l.text, data, size);
    check_decode((const char *)data, size);
    if (request_line(&l, &method, &version)) {
        guard_begin(&l.guard, &limits, method, l.target, l.target_len, version);
        if (fields_read(&l)) {
            uint64_t length = 0;
            enum guard_reason reason = guard_end(&l.guard, (size_t)(l.at - method));
            char *start = raw + (method - l.text), *end = raw + (l.at - l.text);
            ends_mend(start, end);
            bool is_good = strict_read(start, end, &length);

            if (reason == GUARD_OK && !is_good)
                broken("what the guard lets through is strictly well formed", "it is not");
            if (reason != GUARD_OK && is_good)
                broken("what is strictly well formed is let through", guard_words(reason));
            if (is_good && l.guard.length != length)
                broken("the length is the one that was declared", "it is another");
            if (guard_status(reason) != (reason == GUARD_OK ? 200 : 400))
                broken("what is refused is a bad request", guard_words(reason));
        }
    }
    for (unsigned i = 0; i < l.glued_count; i++)
        free(l.glued[i]);
    free(l.target);
    free(l.text);
    free(raw);
    return 0;
}
