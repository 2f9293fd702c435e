/* schedule_test.c: times that come again: how they are written, and when they come, against a slow twin and in zones with summer time. */
#include "lang/base/schedule.h"

#include "common/rounds.h"
#include "common/tap.h"
#include "lang/base/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* -------------------------------------------------------------------------------------------------------------- zones */

static int64_t zone_offset(void *user, int64_t moment)
{
    time_t at = (time_t)moment;
    struct tm local;

    (void)user;
    return localtime_r(&at, &local) ? local.tm_gmtoff : 0;
}

static void zone_set(const char *zone)
{
    setenv("TZ", zone, 1);
    tzset();
}

/* Zones as POSIX rules: the test does not depend on which zones this machine knows. */
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define NEW_YORK "EST5EDT,M3.2.0,M11.1.0"
#define LORD_HOWE "LHST-10:30LHDT-11,M10.1.0,M4.1.0"
#define MIDNIGHT "BRT3BRST,M10.3.0/0,M2.3.0/0"

static const struct {
    const char *sentence, *zone, *schedule, *after;
    const char *moments[4]; /* of UTC */
} cases[] = {
    {"ten past each hour",
     "UTC0",
     "10 * * * *",
     "2026-11-19 11:09:59",
     {"2026-11-19 11:10:00", "2026-11-19 12:10:00", "2026-11-19 13:10:00"}},
    {"a moment itself is not behind itself", "UTC0", "10 * * * *", "2026-11-19 11:10:00", {"2026-11-19 12:10:00"}},
    {"weekdays at eight",
     "UTC0",
     "0 8 * * mon-fri",
     "2026-11-20 08:00:00",
     {"2026-11-23 08:00:00", "2026-11-24 08:00:00"}},
    {"seven is Sunday, too", "UTC0", "0 0 * * 7", "2026-11-19 00:00:00", {"2026-11-22 00:00:00"}},
    {"a day of the month or one of the week: either is enough",
     "UTC0",
     "0 0 13 * fri",
     "2026-11-01 00:00:00",
     {"2026-11-06 00:00:00", "2026-11-13 00:00:00", "2026-11-20 00:00:00", "2026-11-27 00:00:00"}},
    {"the 29th of February comes in leap years",
     "UTC0",
     "0 0 29 2 *",
     "2026-11-19 00:00:00",
     {"2028-02-29 00:00:00", "2032-02-29 00:00:00"}},
    {"it may be eight years ahead", "UTC0", "59 23 29 feb *", "2096-03-01 00:00:00", {"2104-02-29 23:59:00"}},
    {"a 29th of February that is a Sunday may be 28 years ahead",
     "UTC0",
     "0 6 29 2 */7",
     "2032-03-01 00:00:00",
     {"2060-02-29 06:00:00"}},
    {"or 40, where a century without a leap year is between",
     "UTC0",
     "0 6 29 2 */7",
     "2088-03-01 00:00:00",
     {"2128-02-29 06:00:00"}},
    {"steps", "UTC0", "*/20 9-17/4 * * *", "2026-11-19 09:41:00", {"2026-11-19 13:00:00", "2026-11-19 13:20:00"}},
    {"@weekly is Sunday at midnight", "UTC0", "@weekly", "2026-11-19 00:00:00", {"2026-11-22 00:00:00"}},
    {"local time counts", BERLIN, "0 8 * * *", "2026-11-19 12:00:00", {"2026-11-20 07:00:00"}},
    {"clocks are put forward: what falls into the hour that is not there comes right after it",
     BERLIN,
     "30 2 * * *",
     "2026-03-28 12:00:00",
     {"2026-03-29 01:00:00", "2026-03-30 00:30:00"}},
    {"... once, however often it would have come in that hour",
     BERLIN,
     "*/10 2 * * *",
     "2026-03-28 12:00:00",
     {"2026-03-29 01:00:00", "2026-03-30 00:00:00"}},
    {"clocks are put back: what falls into the hour that is there twice comes in the first",
     BERLIN,
     "30 2 * * *",
     "2026-10-24 12:00:00",
     {"2026-10-25 00:30:00", "2026-10-26 01:30:00"}},
    {"what comes in every hour comes in both",
     BERLIN,
     "30 * * * *",
     "2026-10-25 00:00:00",
     {"2026-10-25 00:30:00", "2026-10-25 01:30:00", "2026-10-25 02:30:00"}},
    {"... and not in the one that is not there",
     BERLIN,
     "30 * * * *",
     "2026-03-29 00:00:00",
     {"2026-03-29 00:30:00", "2026-03-29 01:30:00"}},
    {"the same beyond the sea, forward",
     NEW_YORK,
     "15 2 * * *",
     "2026-03-07 12:00:00",
     {"2026-03-08 07:00:00", "2026-03-09 06:15:00"}},
    {"... and back", NEW_YORK, "15 1 * * *", "2026-10-31 12:00:00", {"2026-11-01 05:15:00", "2026-11-02 06:15:00"}},
    {"where they move by half an hour",
     LORD_HOWE,
     "45 1 * * *",
     "2026-04-03 20:00:00",
     {"2026-04-04 14:45:00", "2026-04-05 15:15:00"}},
    {"a midnight that is not there",
     MIDNIGHT,
     "@daily",
     "2026-10-17 12:00:00",
     {"2026-10-18 03:00:00", "2026-10-19 02:00:00"}},
    {"an hour counts from its anchor, the year 2000 here",
     "UTC0",
     "every 1h",
     "2026-11-19 11:09:59",
     {"2026-11-19 12:00:00", "2026-11-19 13:00:00"}},
    {"seconds do as well", "UTC0", "every 2s", "2026-11-19 11:10:00", {"2026-11-19 11:10:02", "2026-11-19 11:10:04"}},
};

static int64_t moment_of(const char *text)
{
    struct tm date = {0};

    if (sscanf(text, "%d-%d-%d %d:%d:%d", &date.tm_year, &date.tm_mon, &date.tm_mday, &date.tm_hour, &date.tm_min,
               &date.tm_sec) != 6)
        return -1;
    date.tm_year -= 1900;
    date.tm_mon--;
    return (int64_t)timegm(&date);
}

static void cases_test(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct schedule schedule;
        struct err err = {0};
        int64_t at = moment_of(cases[i].after);
        bool good = schedule_read(cases[i].schedule, strlen(cases[i].schedule), &schedule, &err) == 0;

        zone_set(cases[i].zone);
        for (int k = 0; good && k < 4 && cases[i].moments[k]; k++) {
            at = schedule_next(&schedule, at, 946684800, zone_offset, NULL);
            good = at == moment_of(cases[i].moments[k]);
            if (!good)
                tap_diag("got %" PRId64 ", wanted %s, %" PRId64, at, cases[i].moments[k],
                         moment_of(cases[i].moments[k]));
        }
        tap_ok(good, "%s", cases[i].sentence);
    }
}

static const struct {
    const char *text, *why;
} bad[] = {
    {"", "the minute is missing"},
    {"* * * *", "the day of the week is missing"},
    {"* * * * * *", "no more"},
    {"60 * * * *", "'60': expected the minute"},
    {"* 24 * * *", "'24': expected the hour"},
    {"* * 0 * *", "'0': expected the day of the month"},
    {"* * * 13 *", "'13': expected the month"},
    {"* * * mon *", "'mon': expected the month"},
    {"* * * * 8", "'8': expected the day of the week"},
    {"5-1 * * * *", "'5-1'"},
    {"1, * * * *", "'1,'"},
    {",1 * * * *", "',1'"},
    {"*/0 * * * *", "'*/0'"},
    {"5/10 * * * *", "'5/10'"},
    {"99999999999999999999 * * * *", "expected the minute"},
    {"0 0 31 2,4 *", "none of these months has such a day"},
    {"0 0 30 2 *", "none of these months has such a day"},
    {"@reboot", "'@reboot': expected @hourly"},
    {"every 0s", "from 1s to 366d"},
    {"every 2 weeks", "from 1s to 366d"},
    {"every 999999999d", "from 1s to 366d"},
};

static void bad_test(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct schedule schedule;
        struct err err = {0};

        if (!tap_ok(schedule_read(bad[i].text, strlen(bad[i].text), &schedule, &err) < 0 &&
                        strstr(err.text, bad[i].why),
                    "it says what is wrong with '%s'", bad[i].text))
            tap_diag("got '%s'", err.text);
    }
}

/* --------------------------------------------------------------------------------------------------------------- twin */

/* The slow twin: the fields by words of the C library, into rows of flags; and each minute is looked at. */
struct slow {
    bool flags[5][64], star[5];
};

static bool slow_read(const char *text, struct slow *ret)
{
    static const int low[5] = {0, 0, 1, 1, 0}, high[5] = {59, 23, 31, 12, 7};
    char copy[256], *field, *fields_at, *part, *part_at;
    int count = 0;

    memset(ret, 0, sizeof *ret);
    snprintf(copy, sizeof copy, "%s", text);
    for (field = strtok_r(copy, " ", &fields_at); field; field = strtok_r(NULL, " ", &fields_at), count++) {
        ret->star[count] = *field == '*';
        for (part = strtok_r(field, ",", &part_at); part; part = strtok_r(NULL, ",", &part_at)) {
            int first = low[count], last = high[count], step = 1;

            if (*part != '*' && sscanf(part, "%d-%d/%d", &first, &last, &step) == 1)
                last = first;
            if (*part == '*')
                sscanf(part, "*/%d", &step);
            for (int i = first; i <= last; i += step)
                ret->flags[count][count == 4 ? i % 7 : i] = true;
        }
    }
    return count == 5;
}

static bool slow_fits(const struct slow *slow, int64_t local)
{
    time_t at = (time_t)local;
    struct tm date;
    bool day, weekday;

    gmtime_r(&at, &date);
    day = slow->flags[2][date.tm_mday];
    weekday = slow->flags[4][date.tm_wday];
    return slow->flags[0][date.tm_min] && slow->flags[1][date.tm_hour] && slow->flags[3][date.tm_mon + 1] &&
           (!slow->star[2] && !slow->star[4] ? day || weekday : day && weekday);
}

/* Comes it at this minute? `said`: which local minutes there were in the three hours before. */
static bool slow_comes(const struct slow *slow, int64_t moment)
{
    int64_t local = moment + zone_offset(NULL, moment);
    bool fits = slow_fits(slow, local), hourly = true;

    for (int i = 0; i < 24; i++)
        hourly = hourly && slow->flags[1][i];
    if (hourly)
        return fits;
    for (int64_t back = 60; fits && back <= 3 * 3600; back += 60)
        fits = moment - back + zone_offset(NULL, moment - back) != local;
    for (int64_t skipped = moment - 60 + zone_offset(NULL, moment - 60) + 60; skipped < local; skipped += 60)
        fits = fits || slow_fits(slow, skipped);
    return fits;
}

static uint64_t of(struct rng *rng, uint64_t count)
{
    return rng_below(rng, count);
}

/* A field that is not too rare, or the twin would look for years. */
static void field_make(struct rng *rng, int low, int high, char *out, size_t room)
{
    int first = low + (int)of(rng, (uint64_t)(high - low + 1)),
        last = first + (int)of(rng, (uint64_t)(high - first + 1));

    switch (of(rng, 5)) {
    case 0:
        snprintf(out, room, "%d", first);
        break;
    case 1:
        snprintf(out, room, "%d-%d", first, last);
        break;
    case 2:
        snprintf(out, room, "*/%d", 1 + (int)of(rng, 9));
        break;
    case 3:
        snprintf(out, room, "%d,%d-%d/%d", low, first, last, 1 + (int)of(rng, 5));
        break;
    default:
        snprintf(out, room, "*");
    }
}

static void twin_test(void)
{
    static const char *const zones[] = {"UTC0", BERLIN, NEW_YORK, LORD_HOWE, MIDNIGHT};
    uint64_t seed = lang_setting("BERTH_SEED", 37), rounds = lang_rounds(200), bad_rounds = 0;
    struct rng rng;

    rng_init(&rng, seed);
    for (uint64_t round = 0; round < rounds && !bad_rounds; round++) {
        char parts[5][32], text[200];
        struct schedule schedule;
        struct slow slow;
        struct err err = {0};
        int64_t after = 1767225600 + (int64_t)of(&rng, 365 * 86400), from = after / 60 * 60 + 60, want, got;

        field_make(&rng, 0, 59, parts[0], sizeof *parts);
        field_make(&rng, 0, 3, parts[1], sizeof *parts); /* where clocks move */
        field_make(&rng, 1, 28, parts[2], sizeof *parts);
        snprintf(parts[3], sizeof *parts, "%s", of(&rng, 4) ? "*" : "*/3");
        field_make(&rng, 0, 7, parts[4], sizeof *parts);
        snprintf(text, sizeof text, "%s %s %s %s %s", parts[0], parts[1], parts[2], parts[3], parts[4]);
        zone_set(zones[of(&rng, sizeof zones / sizeof *zones)]);
        if (!slow_read(text, &slow) || schedule_read(text, strlen(text), &schedule, &err) < 0) {
            tap_diag("seed %" PRIu64 ": '%s': %s", seed, text, err.text);
            bad_rounds++;
            break;
        }
        for (want = from; want < from + INT64_C(400) * 86400 && !slow_comes(&slow, want); want += 60)
            ;
        got = schedule_next(&schedule, after, 0, zone_offset, NULL);
        if (want < from + INT64_C(400) * 86400 && got != want) {
            tap_diag("seed %" PRIu64 ", round %" PRIu64 ": '%s' in %s after %" PRId64 ": %" PRId64
                     ", the twin %" PRId64,
                     seed, round, text, getenv("TZ"), after, got, want);
            bad_rounds++;
        }
    }
    tap_ok(!bad_rounds, "%" PRIu64 " schedules come when their slow twin says", rounds);
}

/* On the days on which clocks move, minute by minute: both find the same all through them. */
static void moving_test(void)
{
    static const struct {
        const char *zone, *from;
    } days[] = {{BERLIN, "2026-03-28 20:00:00"},    {BERLIN, "2026-10-24 20:00:00"},
                {NEW_YORK, "2026-03-08 01:00:00"},  {NEW_YORK, "2026-11-01 01:00:00"},
                {LORD_HOWE, "2026-04-04 10:00:00"}, {LORD_HOWE, "2026-10-03 10:00:00"},
                {MIDNIGHT, "2026-10-17 20:00:00"},  {MIDNIGHT, "2026-02-14 20:00:00"}};
    static const char *const texts[] = {"30 2 * * *",   "*/15 1,2 * * *", "0 0-3 * * *",
                                        "*/30 * * * *", "45 23 * * *",    "0 0 * * 0"};
    bool good = true;

    for (size_t i = 0; i < sizeof days / sizeof *days; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            int64_t from = moment_of(days[i].from), at = from - 1;
            struct schedule schedule;
            struct slow slow;

            zone_set(days[i].zone);
            slow_read(texts[k], &slow);
            schedule_read(texts[k], strlen(texts[k]), &schedule, NULL);
            for (int64_t moment = from; good && moment < from + 36000; moment += 60) {
                if (!slow_comes(&slow, moment))
                    continue;
                at = schedule_next(&schedule, at, 0, zone_offset, NULL);
                good = at == moment;
                if (!good)
                    tap_diag("'%s' in %s: %" PRId64 ", the twin %" PRId64, texts[k], days[i].zone, at, moment);
            }
        }
    tap_ok(good, "on days when clocks move nothing comes too often, and nothing is left out");
}

int main(void)
{
    cases_test();
    bad_test();
    twin_test();
    moving_test();
    return tap_done();
}
