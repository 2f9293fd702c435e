/* span.c: spans of time as people read them. */
#include "lang/base/span.h"

#include <inttypes.h>
#include <math.h>

/* In whole seconds; what no clock has measured is none. */
static uint64_t whole_seconds(double seconds)
{
    return seconds > 0 && seconds < 1e15 ? (uint64_t)seconds : 0;
}

void span_print(struct buf *out, double seconds)
{
    /* Two neighbouring units; the smaller one has two digits, so that they line up in a column. */
    static const struct {
        double upto;
        unsigned large, small;
        char names[3];
    } rows[] = {{3600, 60, 1, "ms"}, {86400, 3600, 60, "hm"}, {INFINITY, 86400, 3600, "dh"}};
    uint64_t whole = whole_seconds(seconds);
    size_t i = 0;

    while ((double)whole >= rows[i].upto)
        i++;
    if (whole < 60)
        buf_addf(out, "%us", (unsigned)whole);
    else
        buf_addf(out, "%" PRIu64 "%c%02u%c", whole / rows[i].large, rows[i].names[0],
                 (unsigned)(whole % rows[i].large) / rows[i].small, rows[i].names[1]);
}

void span_say(struct buf *out, double seconds)
{
    /* One unit, and not more than two digits of it as a rule: nobody says more. */
    static const struct {
        uint64_t below, unit;
        const char *word;
    } rows[] = {{100, 1, "s"}, {100 * 60, 60, "min"}, {48 * 3600, 3600, "h"}, {UINT64_MAX, 86400, "days"}};
    uint64_t whole = whole_seconds(seconds);
    size_t i = 0;

    while (whole >= rows[i].below)
        i++;
    buf_addf(out, "%" PRIu64 " %s", (whole + rows[i].unit / 2) / rows[i].unit, rows[i].word);
}
