/* natural.c: names in order, with the numbers in them by value. */
#include "lang/base/natural.h"

#include <stdbool.h>
#include <string.h>

struct text_at {
    const char *at, *end;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Takes the number that stands there; its digits, without zeros before it. */
static const char *number_take(struct text_at *text, size_t *ret_len)
{
    const char *from;

    while (text->at < text->end && *text->at == '0')
        text->at++;
    from = text->at;
    while (text->at < text->end && is_digit(*text->at))
        text->at++;
    *ret_len = (size_t)(text->at - from);
    return from;
}

static int numbers_compare(struct text_at *a, struct text_at *b)
{
    size_t a_len, b_len;
    const char *one = number_take(a, &a_len), *other = number_take(b, &b_len);

    if (a_len != b_len)
        return a_len < b_len ? -1 : 1;
    return memcmp(one, other, a_len);
}

static unsigned char small(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

int natural_compare(const char *a, size_t a_len, const char *b, size_t b_len)
{
    struct text_at one = {a, a + a_len}, other = {b, b + b_len};
    size_t least = a_len < b_len ? a_len : b_len;
    int order = 0;

    while (!order && one.at < one.end && other.at < other.end) {
        if (is_digit(*one.at) && is_digit(*other.at))
            order = numbers_compare(&one, &other);
        else
            order = small(*one.at++) - small(*other.at++);
    }
    if (!order)
        order = (one.at < one.end) - (other.at < other.end);
    if (!order && least) /* they differ in zeros or in the size of letters at most */
        order = memcmp(a, b, least);
    return order ? order : (a_len > b_len) - (a_len < b_len);
}
