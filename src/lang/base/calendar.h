/* calendar.h: seconds since 1970 as a date of the Gregorian calendar, and back. No clock, no locale, no TZ. */
#ifndef BERTH_LANG_BASE_CALENDAR_H
#define BERTH_LANG_BASE_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* No function here takes or gives a year outside these two. */
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

/* Turns seconds since 1970 (in the zone wanted) into a date. False when the year is out of range. */
bool calendar_split(int64_t seconds, struct date *ret_date);

/* Turns a date into seconds; it does not look at weekday and yearday. False when there is no such day or time of day. */
bool calendar_join(const struct date *date, int64_t *ret_seconds);

/* The number of the month, 1 to 12, whose name begins with these three letters, in any case; 0 when there is none.
 * Likewise for a weekday, 0 to 6; else -1. */
int calendar_month(const char *name, unsigned long len);
int calendar_weekday(const char *name, unsigned long len);

extern const char *const calendar_months[12];  /* "January", ... */
extern const char *const calendar_weekdays[7]; /* "Sunday", ... */

#ifdef __cplusplus
}
#endif
#endif
