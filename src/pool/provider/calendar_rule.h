/* calendar_rule.h: bookings that come again, as [ Every = "0 20 * * mon-fri"; ZoneRule = "CET-1CEST,M3.5.0,M10.5.0/3"; Last = ... ] says; private to the
 * provider.
 *
 *     From ---- Until           From ---- Until           From ---- Until          a booking is at one of its times, the first that is not over:
 *      |  the time that is kept  |  the next, when that is over                    what was said of bookings holds for that one
 *
 * No other booking may be ordered for any of its times, however far ahead. Two rules are held against each other for RULE_AHEAD, or RULE_LOOKS of their
 * times; where they meet later, the one that is kept for that time already has it, and the other leaves that time out. */
#ifndef BERTH_POOL_PROVIDER_CALENDAR_RULE_H
#define BERTH_POOL_PROVIDER_CALENDAR_RULE_H

#include "lang/base/schedule.h"
#include "lang/base/zone.h"
#include "pool/provider/calendar_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RULES_MAX 16            /* of the bookings that a provider may have */
#define RULE_AHEAD (90 * 86400) /* seconds */
#define RULE_LOOKS 2200         /* times of two rules: 90 days of one that comes each hour */
#define RULE_SKIPS 1000         /* times that a rule leaves out in a row: then it is over */
#define RULE_NOSHOWS 3          /* times in a row at which nobody came: then it is over */

struct rule {
    struct schedule schedule;
    struct zone zone;
    int64_t last; /* it begins no later; SCHEDULE_NEVER: nothing says so */
};

/* Does what was ordered come again? */
bool rule_is_said(const struct tree *ad);
/* NULL, or what is wrong with it. An ad that says nothing of the sort is no rule. */
const char *rule_read(const struct tree *ad, struct rule *ret);
/* The first of its times behind that second; SCHEDULE_NEVER: none is left. */
int64_t rule_after(const struct rule *rule, int64_t second);

/* Would the one or the other, of which each may be a rule, be there at the same time? */
bool bookings_meet(const struct booking *one, const struct booking *other);

/* Moves the booking to the first of its times that is not over at `now` and that no booking of that place is kept for; false: none is left. Its ad says so then. */
bool booking_moves(const struct calendar *calendar, struct booking *booking, int64_t now);

/* The ad with the times at which the booking is; the caller unrefs it. */
struct tree *booking_dated(const struct booking *booking);

#ifdef __cplusplus
}
#endif
#endif
