/* quantity.c: options that are quantities. */
#include "cli/term/quantity.h"

#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    int64_t factor;
};

/* Reads a whole number above 0 and its unit, perhaps with a blank between; 0 when the text is something else. */
static int64_t quantity_read(const char *text, const struct unit *units, size_t count)
{
    size_t digits = strspn(text, "0123456789"), blanks = strspn(text + digits, " ");
    int64_t number = digits && digits < 16 ? strtoll(text, NULL, 10) : 0;

    for (size_t i = 0; i < count; i++)
        if (!strcmp(text + digits + blanks, units[i].name) && number <= INT64_MAX / units[i].factor)
            return number * units[i].factor;
    return 0;
}

int option_span(const char *text, void *target, struct err *err)
{
    static const struct unit units[] = {{"", 1}, {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    int64_t seconds = quantity_read(text, units, sizeof units / sizeof *units);

    if (seconds <= 0 || seconds > INT64_C(99999999999) * 86400)
        return err_set(err, "expected a span such as 90s, 30min, 12h or 7d, got '%.60s'", text);
    *(int64_t *)target = seconds;
    return 0;
}

#define KIB INT64_C(1024)

int option_bytes(const char *text, void *target, struct err *err)
{
    static const struct unit units[] = {
        {"", 1},
        {"B", 1},
        {"K", KIB},
        {"KiB", KIB},
        {"M", KIB * KIB},
        {"MiB", KIB * KIB},
        {"G", KIB * KIB * KIB},
        {"GiB", KIB * KIB * KIB},
        {"T", KIB * KIB * KIB * KIB},
        {"TiB", KIB * KIB * KIB * KIB},
    };
    int64_t bytes = quantity_read(text, units, sizeof units / sizeof *units);

    if (bytes <= 0)
        return err_set(err, "expected an amount such as 512MiB or 2GiB, got '%.60s'", text);
    *(int64_t *)target = bytes;
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
