/* guard.c: the rules for the head of a request: for the target, the fields and the frame. */
#include "live/http/guard.h"

#include <string.h>
#include <strings.h>

static const struct {
    unsigned status;
    const char *words;
} reasons[GUARD_REASON_COUNT] = {
#define X(id, status, words) [GUARD_##id] = {status, words},
    GUARD_REASONS(X)
#undef X
};

unsigned guard_status(enum guard_reason reason)
{
    return reasons[reason].status;
}

const char *guard_words(enum guard_reason reason)
{
    return reasons[reason].words;
}

/* The classes of bytes: where a byte may stand. */
enum { WORD = 1, TARGET = 2, VALUE = 4, HOST = 8 };

/* WORD: tokens of RFC 9110. TARGET: bytes that may stand in a path or a query by RFC 3986; " < > [ ] \ ^ ` { | } are
 * refused, and should be escaped. VALUE: anything but control characters, except a tab. */
static const unsigned char classes[256] = {
    ['\t'] = VALUE,
    [' '] = VALUE,
    ['!'] = WORD | TARGET | VALUE,
    ['"'] = VALUE,
    ['#'] = WORD | VALUE,
    ['$'] = WORD | TARGET | VALUE,
    ['%'] = WORD | TARGET | VALUE | HOST,
    ['&'] = WORD | TARGET | VALUE,
    ['\''] = WORD | TARGET | VALUE,
    ['('] = TARGET | VALUE,
    [')'] = TARGET | VALUE,
    ['*'] = WORD | TARGET | VALUE,
    ['+'] = WORD | TARGET | VALUE,
    [','] = TARGET | VALUE,
    ['-'] = WORD | TARGET | VALUE | HOST,
    ['.'] = WORD | TARGET | VALUE | HOST,
    ['/'] = TARGET | VALUE,
    ['0' ... '9'] = WORD | TARGET | VALUE | HOST,
    [':'] = TARGET | VALUE | HOST,
    [';'] = TARGET | VALUE,
    ['<'] = VALUE,
    ['='] = TARGET | VALUE,
    ['>'] = VALUE,
    ['?'] = TARGET | VALUE,
    ['@'] = TARGET | VALUE,
    ['A' ... 'Z'] = WORD | TARGET | VALUE | HOST,
    ['['] = VALUE | HOST,
    ['\\'] = VALUE,
    [']'] = VALUE | HOST,
    ['^'] = WORD | VALUE,
    ['_'] = WORD | TARGET | VALUE | HOST,
    ['`'] = WORD | VALUE,
    ['a' ... 'z'] = WORD | TARGET | VALUE | HOST,
    ['{'] = VALUE,
    ['|'] = WORD | VALUE,
    ['}'] = VALUE,
    ['~'] = WORD | TARGET | VALUE,
    [128 ... 255] = VALUE,
};

static bool is_all(const char *text, size_t len, unsigned class)
{
    for (size_t i = 0; i < len; i++)
        if (!(classes[(unsigned char)text[i]] & class))
            return false;
    return true;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int guard_escape(const char *at, const char *end)
{
    int high, low;

    if (end - at < 3 || at[0] != '%')
        return -1;
    high = hex_digit(at[1]);
    low = hex_digit(at[2]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

size_t guard_decode(const char *raw, size_t len, bool is_query, char *out)
{
    const char *at = raw, *end = raw + len;
    char *to = out;

    while (at < end) {
        int value = guard_escape(at, end);
        if (value >= 0) {
            *to++ = (char)value;
            at += 3;
        } else {
            *to++ = is_query && *at == '+' ? ' ' : *at;
            at++;
        }
    }
    return (size_t)(to - out);
}

/* ---------------------------------------------------------------------------------------------------------- the target */

/* Does the path, as it will be decoded, have a segment that is just "..", however it was spelt? `dots` counts the dots
 * of a segment that has had nothing else, and is above 2 when the segment cannot be "..". */
static enum guard_reason path_check(const char *at, const char *end)
{
    unsigned dots = 3;

    while (at < end) {
        int value = *at == '%' ? guard_escape(at, end) : (unsigned char)*at;

        at += *at == '%' ? 3 : 1;
        if (value < ' ' || value == 0x7f)
            return value ? GUARD_TARGET_CONTROL : GUARD_TARGET_NUL;
        if (value == '/' && dots == 2)
            return GUARD_TARGET_DOTS;
        dots = value == '/' ? 0 : value == '.' && dots < 2 ? dots + 1 : 3;
    }
    return dots == 2 ? GUARD_TARGET_DOTS : GUARD_OK;
}

static enum guard_reason target_check(const char *target, size_t len)
{
    const char *end = target + len, *query;

    if (len == 0 || target[0] != '/')
        return GUARD_TARGET_FORM;
    query = memchr(target, '?', len);
    if ((query ? (size_t)(query - target) : len) > GUARD_PATH_MAX || (query && end - query > GUARD_QUERY_MAX))
        return GUARD_TARGET_LONG;
    for (const char *at = target; at < end; at++) {
        if (!(classes[(unsigned char)*at] & TARGET))
            return GUARD_TARGET_BYTE;
        if (*at == '%') {
            int value = guard_escape(at, end);
            if (value <= 0)
                return value ? GUARD_TARGET_ESCAPE : GUARD_TARGET_NUL;
        }
    }
    return path_check(target, query ? query : end);
}

/* ------------------------------------------------------------------------------------------------------------ the head */

static bool guard_refuse(struct guard *guard, enum guard_reason reason)
{
    if (guard->reason == GUARD_OK)
        guard->reason = reason;
    return false;
}

/* Does a line end here? The parser has put NULs in the place of CR and LF. If the line ended with a bare LF, the second
 * byte belongs to the next line; there always is one, the empty line at least. */
static bool is_line_end(const char *at)
{
    return at[0] == '\0' && at[1] == '\0';
}

void guard_begin(struct guard *guard, const struct guard_limits *limits, const char *method, const char *target,
                 size_t target_len, const char *version)
{
    size_t method_len = strlen(method), version_len = strlen(version);

    *guard = (struct guard){.limits = *limits, .head = method};
    if (method_len == 0 || !is_all(method, method_len, WORD))
        guard_refuse(guard, GUARD_METHOD);
    if (version_len != 8 || memcmp(version, "HTTP/1.", 7) != 0 || (version[7] != '0' && version[7] != '1'))
        guard_refuse(guard, GUARD_VERSION);
    guard->is_1_1 = version_len == 8 && version[7] == '1';
    guard_refuse(guard, target_check(target, target_len));
    if ((uintptr_t)version != (uintptr_t)method + method_len + 1 + target_len + 1 ||
        !is_line_end(version + version_len))
        guard_refuse(guard, GUARD_FRAME);
    guard->next = version + version_len + 2;
}

static bool name_is(const char *name, size_t len, const char *wanted, size_t wanted_len)
{
    return len == wanted_len && strncasecmp(name, wanted, len) == 0;
}
#define NAME_IS(name, len, wanted) name_is(name, len, wanted, sizeof wanted - 1)

static bool length_read(const char *value, size_t len, uint64_t *ret)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < len; i++) {
        unsigned digit = (unsigned)(unsigned char)value[i] - '0';
        if (digit > 9 || sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *ret = sum;
    return len > 0;
}

/* Checks the fields that say where a request ends and for whom it is. */
static bool guard_named(struct guard *guard, const char *name, size_t name_len, const char *value, size_t value_len)
{
    if (NAME_IS(name, name_len, "Content-Length")) {
        if (guard->lengths++)
            return guard_refuse(guard, GUARD_LENGTH_TWICE);
        if (!length_read(value, value_len, &guard->length))
            return guard_refuse(guard, GUARD_LENGTH_BAD);
    } else if (NAME_IS(name, name_len, "Transfer-Encoding")) {
        return guard_refuse(guard, GUARD_TRANSFER);
    } else if (NAME_IS(name, name_len, "Host")) {
        if (guard->hosts++)
            return guard_refuse(guard, GUARD_HOST_TWICE);
        if (!is_all(value, value_len, HOST))
            return guard_refuse(guard, GUARD_HOST_BAD);
    } else if (NAME_IS(name, name_len, "Expect")) {
        if (!NAME_IS(value, value_len, "100-continue"))
            return guard_refuse(guard, GUARD_EXPECT);
    }
    return true;
}

bool guard_field(struct guard *guard, const char *name, size_t name_len, const char *value, size_t value_len)
{
    uintptr_t gap =
        (uintptr_t)value - (uintptr_t)name - name_len - 1; /* huge when the value does not lie after the name */

    if (++guard->fields > guard->limits.fields)
        return guard_refuse(guard, GUARD_FIELDS_MANY);
    if (name_len > guard->limits.field_bytes || value_len > guard->limits.field_bytes ||
        (guard->bytes += (uint32_t)(name_len + value_len + 4)) > guard->limits.field_bytes)
        return guard_refuse(guard, GUARD_FIELDS_LONG);
    if (name != guard->next || gap > guard->limits.field_bytes || !is_line_end(value + value_len))
        return guard_refuse(guard, GUARD_FRAME);
    for (uintptr_t i = 0; i < gap; i++)
        if (name[name_len + 1 + i] != ' ' && name[name_len + 1 + i] != '\t')
            return guard_refuse(guard, GUARD_FRAME);
    guard->next = value + value_len + 2;
    if (name_len == 0 || !is_all(name, name_len, WORD))
        return guard_refuse(guard, GUARD_FIELD_NAME);
    if (!is_all(value, value_len, VALUE))
        return guard_refuse(guard, GUARD_FIELD_VALUE);
    return guard_named(guard, name, name_len, value, value_len);
}

enum guard_reason guard_end(struct guard *guard, size_t head_len)
{
    if (guard->reason != GUARD_OK)
        return guard->reason;
    if ((uintptr_t)guard->next + 2 != (uintptr_t)guard->head + head_len || !is_line_end(guard->next))
        guard_refuse(guard, GUARD_FRAME);
    else if (guard->is_1_1 && !guard->hosts)
        guard_refuse(guard, GUARD_HOST_NONE);
    return guard->reason;
}
