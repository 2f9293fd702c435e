/* moment_test.c: points in time on the command line, as people write and read them. */
#include "cli/term/moment.h"

#include "common/tap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOW INT64_C(1795172400) /* Friday, 20 November 2026, 12:00 in Berlin, which is an hour ahead */

static const struct {
    const char *text;
    int64_t after; /* seconds after NOW; 1: it is no time */
} moments[] = {
    {"20:00", 8 * 3600},
    {"11:59:30", 24 * 3600 - 30},
    {"12:00", 24 * 3600},
    {"+2h", 7200},
    {"+90s", 90},
    {"+90", 90},
    {"2026-11-20", -12 * 3600},
    {"2026-11-21", 12 * 3600},
    {"2026-11-20T20:00", 8 * 3600},
    {"2026-11-20 20:00:05", 8 * 3600 + 5},
    {"2026-11-20T20:00Z", 9 * 3600},
    {"2026-11-20T20:00+01:00", 8 * 3600},
    {"2026-11-20T20:00-0530", 14 * 3600 + 1800},
    {"2026-07-01T12:00", -(142 * 24 + 1) * 3600}, /* in summer Berlin is two hours ahead */
    {"24:00", 1},
    {"9:00", 1},
    {"12:60", 1},
    {"20:00x", 1},
    {"2026-02-29", 1},
    {"2026-11-20T", 1},
    {"2026-11-20T20", 1},
    {"2026-11-20T20:00+1", 1},
    {"2026-11-20T20:00+15:00", 1},
    {"26-11-20", 1},
    {"+", 1},
    {"+soon", 1},
    {"-2h", 1},
    {"tomorrow", 1},
    {"", 1},
};

static bool said(int64_t after, const char *words)
{
    struct buf out;
    bool same;

    buf_init(&out);
    moment_say(&out, NOW + after, NOW);
    same = !strcmp(buf_string(&out), words);
    buf_done(&out);
    return same;
}

int main(void)
{
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
        int64_t at = NOW + 1;
        bool good = moment_read(moments[i].text, NOW, &at);

        tap_ok(moments[i].after == 1 ? !good : good && at == NOW + moments[i].after, "'%s' is %s", moments[i].text,
               moments[i].after == 1 ? "no time" : "a time");
    }
    tap_ok(said(8 * 3600, "20:00"), "a time that is near is said by the clock");
    tap_ok(said(24 * 3600, "Sat 21 Nov 12:00"), "one that is not, with its day");
    tap_ok(said(400 * 86400, "2027-12-25 12:00"), "one in another year, with that");
    return tap_done();
}
