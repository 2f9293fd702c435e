/* schedule.h: times that come again, as crontab writes them: read, and the next one found. No clock and no TZ: the caller says how local time is.
 *
 *     MIN HOUR DOM MON DOW     5,35 8-18/2 * jan-jun mon-fri     0 and 7 are Sunday; where DOM and DOW are both said, either is enough
 *     @hourly @daily @midnight @weekly @monthly @yearly @annually
 *     every 90s, every 10min, every 2h, every 1d                 counted from a moment that the caller names
 *
 * Where clocks are put forward, what falls into the hour that is not there comes right after it; where they are put back, what falls into the hour
 * that is there twice comes in the first. Both hold for times with an hour: what comes in every hour comes in each as it is. */
#ifndef BERTH_LANG_BASE_SCHEDULE_H
#define BERTH_LANG_BASE_SCHEDULE_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCHEDULE_TEXT_MAX 200
#define SCHEDULE_EVERY_MAX (INT64_C(366) * 86400) /* seconds */
#define SCHEDULE_NEVER INT64_MAX

struct schedule {
    int64_t every;             /* seconds; 0: by the fields, of which bit N stands for N */
    uint64_t minutes;          /* 0 to 59 */
    uint32_t hours;            /* 0 to 23 */
    uint32_t days;             /* 1 to 31 */
    uint32_t months;           /* 1 to 12 */
    uint32_t weekdays;         /* 0 to 6, from Sunday on */
    bool any_day, any_weekday; /* the field begins with a star */
};

/* -1 where the text is none, or names a day that never comes; *ret is untouched then. */
int schedule_read(const char *text, size_t len, struct schedule *ret, struct err *err);

/* How far local time is ahead of UTC at that moment, in seconds: less than two days. */
typedef int64_t schedule_offset_fn(void *user, int64_t moment);

/* The first moment of the schedule behind `after`, in seconds since 1970; an `every` comes at `anchor` and such spans
 * before and behind it. SCHEDULE_NEVER: there is none in the
 * years that the calendar has. Costs some milliseconds at most, where it is decades ahead (the 29th of February comes as a Monday after 40 years
 * at most). */
int64_t schedule_next(const struct schedule *schedule, int64_t after, int64_t anchor, schedule_offset_fn *offset,
                      void *user);

#ifdef __cplusplus
}
#endif
#endif
