/* calendar.c: seconds since 1970 as a date, and back. */
#include "lang/base/calendar.h"

#define DAY 86400

const char *const calendar_months[12] = {"January", "February", "March",     "April",   "May",      "June",
                                         "July",    "August",   "September", "October", "November", "December"};
const char *const calendar_weekdays[7] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

static bool year_is_leap(int year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int month_days(int year, int month)
{
    static const unsigned char days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    return month == 2 && year_is_leap(year) ? 29 : days[month - 1];
}

/* Days from 1970-01-01 to the first of January of a year. */
static int64_t year_start(int year)
{
    int64_t y = (int64_t)year - 1 + 400 * 25; /* years since year 1, moved so that the number is never negative */

    return y * 365 + y / 4 - y / 100 + y / 400 - (719162 + (int64_t)25 * 146097);
}

bool calendar_split(int64_t seconds, struct date *ret_date)
{
    int64_t days = seconds / DAY, rest = seconds % DAY;
    int year, month = 1, left;

    if (rest < 0) {
        rest += DAY;
        days--;
    }
    if (days < year_start(CALENDAR_YEAR_MIN) || days >= year_start(CALENDAR_YEAR_MAX + 1))
        return false;
    year = (int)(days / 366) + 1970;
    if (days < 0)
        year = (int)(days / 365) + 1969;
    while (year_start(year + 1) <= days)
        year++;
    while (year_start(year) > days)
        year--;
    left = (int)(days - year_start(year));
    *ret_date = (struct date){.year = year, .yearday = left};
    while (left >= month_days(year, month))
        left -= month_days(year, month++);
    ret_date->month = month;
    ret_date->day = left + 1;
    ret_date->hour = (int)(rest / 3600);
    ret_date->minute = (int)(rest / 60 % 60);
    ret_date->second = (int)(rest % 60);
    ret_date->weekday = (int)(((days % 7) + 11) % 7); /* 1970-01-01 was a Thursday */
    return true;
}

bool calendar_join(const struct date *date, int64_t *ret_seconds)
{
    int64_t days;

    if (date->year < CALENDAR_YEAR_MIN || date->year > CALENDAR_YEAR_MAX || date->month < 1 || date->month > 12 ||
        date->day < 1 || date->day > month_days(date->year, date->month) || date->hour < 0 || date->hour > 23 ||
        date->minute < 0 || date->minute > 59 || date->second < 0 || date->second > 59)
        return false;
    days = year_start(date->year);
    for (int month = 1; month < date->month; month++)
        days += month_days(date->year, month);
    days += date->day - 1;
    *ret_seconds = days * DAY + date->hour * 3600 + date->minute * 60 + date->second;
    return true;
}

static int name_place(const char *const *names, int count, const char *name, unsigned long len)
{
    if (len < 3)
        return -1;
    for (int i = 0; i < count; i++) {
        bool same = true;

        for (int k = 0; k < 3; k++)
            same =
                same && ((name[k] ^ names[i][k]) & ~0x20) == 0 && ((name[k] | 0x20) >= 'a' && (name[k] | 0x20) <= 'z');
        if (same)
            return i;
    }
    return -1;
}

int calendar_month(const char *name, unsigned long len)
{
    return name_place(calendar_months, 12, name, len) + 1;
}

int calendar_weekday(const char *name, unsigned long len)
{
    return name_place(calendar_weekdays, 7, name, len);
}
