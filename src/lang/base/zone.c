/* zone.c: local time by a rule in a few words, as POSIX writes it. */
#include "lang/base/zone.h"

#include "lang/base/calendar.h"

#define HOUR 3600
#define DAY INT64_C(86400)
#define OFFSET_MAX 24 /* hours */
#define TIME_MAX 167  /* hours of a turn: some come days before or after the date that is named */
#define NAME_LEAST 3
#define TURN_USUAL (2 * HOUR)

/* A text that is being read. */
struct cut {
    const char *at, *end;
};

static bool char_cut(struct cut *cut, char c)
{
    if (cut->at == cut->end || *cut->at != c)
        return false;
    cut->at++;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* CET, or <+0530>. */
static bool name_cut(struct cut *cut)
{
    bool quoted = char_cut(cut, '<');
    const char *from = cut->at;

    while (cut->at < cut->end &&
           (is_letter(*cut->at) || (quoted && (is_digit(*cut->at) || *cut->at == '+' || *cut->at == '-'))))
        cut->at++;
    return cut->at - from >= NAME_LEAST && (!quoted || char_cut(cut, '>'));
}

static bool number_cut(struct cut *cut, int least, int most, int *ret)
{
    const char *from = cut->at;

    for (*ret = 0; cut->at < cut->end && is_digit(*cut->at) && cut->at - from < 3; cut->at++)
        *ret = *ret * 10 + (*cut->at - '0');
    return cut->at > from && *ret >= least && *ret <= most;
}

/* [+-]hh[:mm[:ss]] */
static bool time_cut(struct cut *cut, int hours_most, int64_t *ret)
{
    bool minus = char_cut(cut, '-');
    int hours, minutes = 0, seconds = 0;

    if (!minus)
        char_cut(cut, '+');
    if (!number_cut(cut, 0, hours_most, &hours) ||
        (char_cut(cut, ':') &&
         (!number_cut(cut, 0, 59, &minutes) || (char_cut(cut, ':') && !number_cut(cut, 0, 59, &seconds)))))
        return false;
    *ret = ((int64_t)hours * 60 + minutes) * 60 + seconds;
    if (minus)
        *ret = -*ret;
    return true;
}

static bool turn_cut(struct cut *cut, struct zone_turn *ret)
{
    bool good;

    *ret = (struct zone_turn){.kind = 'N', .time = TURN_USUAL};
    if (!char_cut(cut, ','))
        return false;
    if (char_cut(cut, 'M')) {
        ret->kind = 'M';
        good = number_cut(cut, 1, 12, &ret->month) && char_cut(cut, '.') && number_cut(cut, 1, 5, &ret->week) &&
               char_cut(cut, '.') && number_cut(cut, 0, 6, &ret->day);
    } else if (char_cut(cut, 'J')) {
        ret->kind = 'J';
        good = number_cut(cut, 1, 365, &ret->day);
    } else {
        good = number_cut(cut, 0, 365, &ret->day);
    }
    return good && (!char_cut(cut, '/') || time_cut(cut, TIME_MAX, &ret->time));
}

int zone_read(const char *text, size_t len, struct zone *ret, struct err *err)
{
    struct cut cut = {text, text + len};
    struct zone zone = {0};
    int64_t behind;

    if (!len || len > ZONE_TEXT_MAX || !name_cut(&cut) || !time_cut(&cut, OFFSET_MAX, &behind))
        return err_set(err, "expected a rule of local time, as CET-1CEST,M3.5.0,M10.5.0/3");
    zone.offset = -behind;
    if (cut.at == cut.end) {
        *ret = zone;
        return 0;
    }
    zone.summer = true;
    zone.summer_offset = zone.offset + HOUR;
    if (!name_cut(&cut))
        return err_set(err, "expected the name of summer time behind the offset");
    if (cut.at < cut.end && *cut.at != ',') {
        if (!time_cut(&cut, OFFSET_MAX, &behind))
            return err_set(err, "expected how far summer time is from UTC");
        zone.summer_offset = -behind;
    }
    if (!turn_cut(&cut, &zone.begins) || !turn_cut(&cut, &zone.ends) || cut.at < cut.end)
        return err_set(err, "expected when summer time begins and ends, as ,M3.5.0,M10.5.0/3");
    *ret = zone;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- looking */

static int64_t day_of(int year, int month, int day)
{
    struct date date = {.year = year, .month = month, .day = day};
    int64_t seconds = 0;

    calendar_join(&date, &seconds);
    return seconds;
}

static bool is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* When it comes in that year, as the clock that is turned shows it. */
static int64_t turn_at(const struct zone_turn *turn, int year)
{
    int64_t day, first;
    struct date date;
    int weekday;

    if (turn->kind == 'M') {
        first = day_of(year, turn->month, 1);
        calendar_split(first, &date);
        weekday = (turn->day - date.weekday + 7) % 7 + (turn->week - 1) * 7;
        day = first + weekday * DAY;
        calendar_split(day, &date);
        if (date.month != turn->month) /* the last of them is the fourth */
            day -= 7 * DAY;
    } else if (turn->kind == 'J') {
        day = day_of(year, 1, 1) + (turn->day - 1 + (is_leap(year) && turn->day >= 60)) * DAY;
    } else {
        day = day_of(year, 1, 1) + turn->day * DAY;
    }
    return day + turn->time;
}

int64_t zone_offset(void *user, int64_t moment)
{
    const struct zone *zone = user;
    int64_t begins, ends;
    struct date date;

    if (!zone->summer || !calendar_split(moment + zone->offset, &date) || date.year <= CALENDAR_YEAR_MIN ||
        date.year >= CALENDAR_YEAR_MAX)
        return zone->offset;
    begins = turn_at(&zone->begins, date.year) - zone->offset;
    ends = turn_at(&zone->ends, date.year) - zone->summer_offset;
    if (begins < ends ? moment >= begins && moment < ends : moment >= begins || moment < ends)
        return zone->summer_offset;
    return zone->offset;
}
