/* number.c: a number's text reads as the C library reads it, and a real that is printed reads back with every bit. */
#include "lang/base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The length of DIGITS[.DIGITS][e[+-]DIGITS] at the start. */
static size_t digits(const char *text, size_t len, size_t at)
{
    while (at < len && text[at] >= '0' && text[at] <= '9')
        at++;
    return at;
}

static size_t shape(const char *text, size_t len)
{
    size_t at = digits(text, len, 0), next;

    if (at == 0)
        return 0;
    if (at < len && text[at] == '.' && (next = digits(text, len, at + 1)) > at + 1)
        at = next;
    if (at < len && (text[at] == 'e' || text[at] == 'E')) {
        size_t from = at + 1;
        if (from < len && (text[from] == '+' || text[from] == '-'))
            from++;
        if ((next = digits(text, len, from)) > from)
            at = next;
    }
    return at;
}

static void broken(const char *law, const char *text, size_t len)
{
    fprintf(stderr, "broken law: %s: %.*s\n", law, (int)len, text);
    abort();
}

static void check_print(double value)
{
    char text[NUMBER_TEXT_MAX];
    double back;
    size_t len = number_print_real(value, text), minus = len && *text == '-';

    if (len > NUMBER_TEXT_MAX)
        broken("no real takes more room than is promised", text, NUMBER_TEXT_MAX);
    if (number_parse_real(text + minus, len - minus, &back) != len - minus)
        broken("what is printed is read whole", text, len);
    back = minus ? -back : back;
    if (memcmp(&back, &value, sizeof value) != 0)
        broken("what is printed reads back", text, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    double got = 0;
    size_t took = number_parse_real(text, size, &got);

    if (took != shape(text, size))
        broken("a number is as long as its shape", text, size);
    if (took) {
        char *copy = malloc(took + 1);
        memcpy(copy, text, took);
        copy[took] = '\0';
        double want = strtod(copy, NULL);
        if (memcmp(&got, &want, sizeof got) != 0)
            broken("a number reads as the C library reads it", text, took);
        free(copy);
        if (isfinite(got))
            check_print(got);
    }
    if (size >= sizeof got) {
        memcpy(&got, data, sizeof got);
        if (isfinite(got))
            check_print(got);
    }
    return 0;
}
