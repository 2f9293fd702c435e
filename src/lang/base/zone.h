/* zone.h: local time by a rule in a few words, as POSIX writes it: no files, no TZ, no clock, so that everybody who has the words has the same time.
 *
 *     CET-1CEST,M3.5.0,M10.5.0/3      an hour ahead of UTC, two from the last Sunday in March to the last in October
 *     EST5EDT,M3.2.0,M11.1.0          the sign is the other way round: five hours behind
 *     <+0530>-5:30                    no summer time
 *
 * That is what stands at the end of each file of /usr/share/zoneinfo. Where a country changes its mind, the rule is another one. */
#ifndef BERTH_LANG_BASE_ZONE_H
#define BERTH_LANG_BASE_ZONE_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ZONE_TEXT_MAX 63

struct zone {
    int64_t offset; /* seconds ahead of UTC */
    bool summer;    /* and otherwise from one of these to the other, each year: */
    int64_t summer_offset;
    /* `kind` 'M': that weekday of that week of that month; 'J': that day, the 29th of February left out; 'N': counted, from 0. */
    struct zone_turn {
        char kind;
        int month, week, day; /* week 5: the last */
        int64_t time;         /* seconds of the day, by the clock that is turned */
    } begins, ends;
};

/* -1 where the text is none; *ret is untouched then. */
int zone_read(const char *text, size_t len, struct zone *ret, struct err *err);

/* How far local time is ahead of UTC at that moment; `zone` is a struct zone. A schedule_offset_fn. */
int64_t zone_offset(void *zone, int64_t moment);

#ifdef __cplusplus
}
#endif
#endif
