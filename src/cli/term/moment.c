/* moment.c: points in time, as people type and read them. */
#include "cli/term/moment.h"

#include "cli/term/quantity.h"
#include "lang/base/calendar.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SOON (20 * 3600)
#define YEAR_SOON (300 * 86400)

/* Reads so many digits, and steps over them. */
static bool digits_read(const char **text, int count, int *ret)
{
    int number = 0;

    for (int i = 0; i < count; i++, (*text)++) {
        if (**text < '0' || **text > '9')
            return false;
        number = number * 10 + (**text - '0');
    }
    *ret = number;
    return true;
}

/* 20:00 or 20:00:30 */
static bool clock_read(const char **text, struct date *date)
{
    if (!digits_read(text, 2, &date->hour) || *(*text)++ != ':' || !digits_read(text, 2, &date->minute))
        return false;
    if (**text != ':')
        return true;
    (*text)++;
    return digits_read(text, 2, &date->second);
}

/* Z, +01:00, -0530 */
static bool zone_read(const char **text, int *ret_minutes)
{
    int hours, minutes, sign = **text == '-' ? -1 : 1;

    *ret_minutes = 0;
    if (*(*text)++ == 'Z')
        return true;
    if ((*text)[-1] != '+' && (*text)[-1] != '-')
        return false;
    if (!digits_read(text, 2, &hours))
        return false;
    *text += **text == ':';
    if (!digits_read(text, 2, &minutes) || hours > 14 || minutes > 59)
        return false;
    *ret_minutes = sign * (hours * 60 + minutes);
    return true;
}

/* A date and time where we are. Where a clock that is put forward leaves an hour out, the moment after it. */
static bool local_join(const struct date *date, int64_t *ret)
{
    struct tm local = {.tm_year = date->year - 1900,
                       .tm_mon = date->month - 1,
                       .tm_mday = date->day,
                       .tm_hour = date->hour,
                       .tm_min = date->minute,
                       .tm_sec = date->second,
                       .tm_isdst = -1};
    int64_t checked;
    time_t at;

    if (!calendar_join(date, &checked)) /* 31 April, 25:00 */
        return false;
    at = mktime(&local);
    *ret = (int64_t)at;
    return at != (time_t)-1;
}

/* The next time that local clocks show it. */
static bool next_clock(const struct date *clock, int64_t now, int64_t *ret)
{
    time_t at = (time_t)now;
    struct tm today;

    if (!localtime_r(&at, &today))
        return false;
    for (int day = 0; day < 2; day++) {
        struct tm local = {.tm_year = today.tm_year,
                           .tm_mon = today.tm_mon,
                           .tm_mday = today.tm_mday + day,
                           .tm_hour = clock->hour,
                           .tm_min = clock->minute,
                           .tm_sec = clock->second,
                           .tm_isdst = -1};

        *ret = (int64_t)mktime(&local);
        if (*ret > now)
            return true;
    }
    return false;
}

bool moment_read(const char *text, int64_t now, int64_t *ret)
{
    struct date date = {.month = 1, .day = 1};
    struct err err;
    int64_t span;
    int zone;

    if (*text == '+') {
        if (option_span(text + 1, &span, &err) < 0)
            return false;
        *ret = now + span;
        return true;
    }
    if (strlen(text) >= 5 && text[2] == ':') {
        date.year = 1970;
        return clock_read(&text, &date) && !*text && calendar_join(&date, &span) && next_clock(&date, now, ret);
    }
    if (!digits_read(&text, 4, &date.year) || *text++ != '-' || !digits_read(&text, 2, &date.month) || *text++ != '-' ||
        !digits_read(&text, 2, &date.day))
        return false;
    if (!*text)
        return local_join(&date, ret);
    if ((*text != 'T' && *text != ' ') || (text++, !clock_read(&text, &date)))
        return false;
    if (!*text)
        return local_join(&date, ret);
    if (!zone_read(&text, &zone) || *text || !calendar_join(&date, ret))
        return false;
    *ret -= zone * 60;
    return true;
}

int option_moment(const char *text, void *target, struct err *err)
{
    if (!moment_read(text, (int64_t)time(NULL), target))
        return err_set(err, "expected a time such as 20:00, +2h, 2026-11-20 or 2026-11-20T20:00+01:00, got '%.60s'",
                       text);
    return 0;
}

void moment_say(struct buf *out, int64_t moment, int64_t now)
{
    int64_t far = moment > now ? moment - now : now - moment;
    time_t at = (time_t)moment;
    struct tm local;
    char text[60];

    if (localtime_r(&at, &local) && strftime(text, sizeof text,
                                             far < SOON        ? "%H:%M"
                                             : far < YEAR_SOON ? "%a %d %b %H:%M"
                                                               : "%Y-%m-%d %H:%M",
                                             &local))
        buf_adds(out, text);
}
