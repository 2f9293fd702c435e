/* quantity.c: options that are quantities. */
#include "cli/term/quantity.h"

#include "lang/base/number.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define QUANTITY_MAX 9e18 /* what fits into 64 bits, with room */

struct unit {
    const char *name;
    double factor;
};

/* Reads a number above 0 and its unit, perhaps with a blank between: 512MiB, 0.5 GiB, 1.5h. The result is whole; 0 when the text is something
 * else. */
static int64_t quantity_read(const char *text, const struct unit *units, size_t count)
{
    double number = 0;
    size_t digits = *text >= '0' && *text <= '9' ? number_parse_real(text, strlen(text), &number) : 0;
    const char *unit = text + digits + strspn(text + digits, " ");

    for (size_t i = 0; digits && i < count; i++)
        if (!strcasecmp(unit, units[i].name) && number * units[i].factor <= QUANTITY_MAX)
            return (int64_t)nearbyint(number * units[i].factor);
    return 0;
}

int option_span(const char *text, void *target, struct err *err)
{
    static const struct unit units[] = {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    int64_t seconds = quantity_read(text, units, COUNT(units));

    if (seconds <= 0 || seconds > INT64_C(99999999999) * 86400)
        return err_set(err, "expected a span such as 90s, 30min, 12h or 7d, got '%.60s'", text);
    *(int64_t *)target = seconds;
    return 0;
}

int option_bytes(const char *text, void *target, struct err *err)
{
    /* As settings have them: with an `i`, or a letter alone, powers of 1024; else powers of 1000. */
    static const struct unit units[] = {
        {"", 1},     {"B", 1},      {"K", 0x1p10},   {"KiB", 0x1p10}, {"kB", 1e3},   {"M", 0x1p20},   {"MiB", 0x1p20},
        {"MB", 1e6}, {"G", 0x1p30}, {"GiB", 0x1p30}, {"GB", 1e9},     {"T", 0x1p40}, {"TiB", 0x1p40}, {"TB", 1e12},
    };
    int64_t bytes = quantity_read(text, units, COUNT(units));

    if (bytes <= 0)
        return err_set(err, "expected an amount such as 512MiB or 2GiB, got '%.60s'", text);
    *(int64_t *)target = bytes;
    return 0;
}

int option_cpus(const char *text, void *target, struct err *err)
{
    double number = 0;
    size_t len = strlen(text);

    if (!len || number_parse_real(text, len, &number) != len || !(number >= 0.01 && number <= 1 << 20))
        return err_set(err, "expected a number of processors such as 4 or 0.5, got '%.60s'", text);
    *(double *)target = number;
    return 0;
}

int option_word(const char *text, void *target, struct err *err)
{
    struct option_words *words = target;

    if (words->count == OPTION_WORDS_MAX)
        return err_set(err, "more than %d of them", OPTION_WORDS_MAX);
    if (!*text)
        return err_set(err, "expected a word, got an empty one");
    words->items[words->count++] = text;
    return 0;
}
