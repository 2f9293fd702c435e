/* A test program's voice: prints TAP (`ok 1 - sentence`, `not ok 2 - sentence`, at the end `1..N`).
 *
 * One per program, included by its main file. The counters are static to that file.
 *
 *     int main(void)
 *     {
 *         tap_ok(1 + 1 == 2, "one and one is %d", 2);
 *         return tap_done();
 *     }
 */
#ifndef BERTH_TESTS_TAP_H
#define BERTH_TESTS_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int tap_count;
static int tap_failures;

/* Prints the text on one line. */
static inline void tap_sentence(const char *format, va_list args)
{
    char text[1024];
    vsnprintf(text, sizeof text, format, args);
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    puts(text);
}

/* A case: its sentence is about behaviour. Returns `passed`, so that a caller can add a diagnosis. */
__attribute__((format(printf, 2, 3))) static inline bool tap_ok(bool passed, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
    tap_sentence(format, args);
    va_end(args);
    tap_failures += !passed;
    fflush(stdout); /* a crash in the next case must not lose this one */
    return passed;
}

/* Says why, after a case that failed: each line of the text becomes `# line`. */
__attribute__((format(printf, 1, 2))) static inline void tap_diag(const char *format, ...)
{
    char text[8192];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *line = text; line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        if (*line || end)
            printf("# %s\n", line);
        line = end && end[1] ? end + 1 : NULL;
    }
    fflush(stdout);
}

/* The plan, last. Returns the program's exit status. */
static inline int tap_done(void)
{
    printf("1..%d\n", tap_count);
    fflush(stdout);
    return tap_failures ? 1 : 0;
}

#endif
