/* calendar.h: seconds since 1970 as a date of the Gregorian calendar, and back. No clock, no locale, no TZ. */
#ifndef BERTH_LANG_BASE_CALENDAR_H
#define BERTH_LANG_BASE_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Years past these are outside every function here. */
#define CALENDAR_YEAR_MIN (-9999)
#define CALENDAR_YEAR_MAX 9999

struct date {
    int year;
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
    int hour, minute, second;
    int weekday; /* 0 is Sunday */
    int yearday; /* 0 is the first of January */
};

/* Seconds since 1970 (in the zone wanted) to a date. False when the year is out of range. */
bool calendar_split(int64_t seconds, struct date *ret_date);

/* The date (weekday and yearday are not looked at) to seconds. False when there is no such day or time of day. */
bool calendar_join(const struct date *date, int64_t *ret_seconds);

/* 1 to 12 for a month's name by its first three letters, in any case; else 0. Likewise 0 to 6 for a weekday, else -1. */
int calendar_month(const char *name, unsigned long len);
int calendar_weekday(const char *name, unsigned long len);

extern const char *const calendar_months[12];  /* "January", ... */
extern const char *const calendar_weekdays[7]; /* "Sunday", ... */

#ifdef __cplusplus
}
#endif
#endif
