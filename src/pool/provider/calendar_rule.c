/* calendar_rule.c: bookings that come again. */
#include "pool/provider/calendar_rule.h"

#include "lang/ad/get.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/writers.h"

#include <string.h>

bool rule_is_said(const struct tree *ad)
{
    return ad_find(ad, "Every") != NULL;
}

const char *rule_read(const struct tree *ad, struct rule *ret)
{
    struct rule rule = {.last = SCHEDULE_NEVER};
    struct err err = {0};
    const char *text;
    size_t len;

    if (!ad_string(ad, "Every", &text, &len) || schedule_read(text, len, &rule.schedule, &err) < 0 ||
        rule.schedule.every)
        return "Every is not as in crontab: MIN HOUR DOM MON DOW";
    if (!ad_string(ad, "ZoneRule", &text, &len) || zone_read(text, len, &rule.zone, &err) < 0)
        return "ZoneRule does not say how local time is";
    if (ad_find(ad, "Last") && (!ad_integer(ad, "Last", &rule.last) || rule.last < 0))
        return "Last is no moment";
    *ret = rule;
    return NULL;
}

int64_t rule_after(const struct rule *rule, int64_t second)
{
    struct zone zone = rule->zone;
    int64_t next = schedule_next(&rule->schedule, second, 0, zone_offset, &zone);

    return next > rule->last ? SCHEDULE_NEVER : next;
}

/* ------------------------------------------------------------------------------------------------------------- meeting */

/* The times of a booking, one after the other: its own, then those of its rule. */
struct times {
    struct rule rule;
    bool more;
    int64_t from, until, span; /* SCHEDULE_NEVER: they are over */
};

static void times_begin(struct times *times, const struct booking *booking)
{
    *times = (struct times){.from = booking->from, .until = booking->until};
    times->more = rule_is_said(booking->ad) && !rule_read(booking->ad, &times->rule) && !MUTANT(BOOKING_TAKEN);
    times->span = booking->span ? booking->span : booking->until - booking->from;
}

/* To the first that is behind that second, which is not before the present one. */
static void times_behind(struct times *times, int64_t second)
{
    times->from = times->more ? rule_after(&times->rule, second > times->from ? second : times->from) : SCHEDULE_NEVER;
    times->until = times->from == SCHEDULE_NEVER ? SCHEDULE_NEVER : times->from + times->span;
}

bool bookings_meet(const struct booking *one, const struct booking *other)
{
    struct times a, b;
    int64_t end;

    times_begin(&a, one);
    times_begin(&b, other);
    end = (a.from > b.from ? a.from : b.from) + RULE_AHEAD;
    for (int looks = 0;
         looks < RULE_LOOKS && a.from != SCHEDULE_NEVER && b.from != SCHEDULE_NEVER && (a.from < end || b.from < end);
         looks++) {
        if (a.from < b.until && b.from < a.until)
            return true;
        if (a.from < b.from) /* nothing that ends before the other begins is of interest */
            times_behind(&a, b.from - a.span);
        else
            times_behind(&b, a.from - b.span);
    }
    return false;
}

/* -------------------------------------------------------------------------------------------------------------- moving */

struct tree *booking_dated(const struct booking *booking)
{
    struct symbols *symbols = booking->ad->symbols;
    struct ad_setting settings[] = {{symbols_take(symbols, "From", 4), value_integer(booking->from)},
                                    {symbols_take(symbols, "Until", 5), value_integer(booking->until)}};
    struct tree *dated = ad_set(booking->ad, settings, 2, NULL);

    symbols_drop(symbols, settings[0].name);
    symbols_drop(symbols, settings[1].name);
    return dated ? dated : tree_ref(booking->ad);
}

/* Is another booking of that place kept for that time? */
static bool is_kept(const struct calendar *calendar, const struct booking *booking, int64_t from, int64_t until)
{
    for (uint32_t i = 0; i < calendar->count; i++) {
        const struct booking *other = &calendar->items[i];

        if (other != booking && other->place == booking->place && other->from < until && from < other->until)
            return true;
    }
    return false;
}

bool booking_moves(const struct calendar *calendar, struct booking *booking, int64_t now)
{
    int64_t over = booking->until, from = booking->from;
    struct tree *dated;
    struct rule rule;

    if (rule_read(booking->ad, &rule))
        return false;
    from = from > now - booking->span ? from : now - booking->span;
    for (int i = 0; i < RULE_SKIPS; i++) {
        int64_t begins, ends;

        from = rule_after(&rule, from);
        if (from == SCHEDULE_NEVER)
            return false;
        begins =
            from > over
                ? from
                : over; /* one time may follow the other without a gap, or where a clock is put forward with less */
        ends = from + booking->span;
        if (begins >= ends || ends <= now || is_kept(calendar, booking, begins, ends))
            continue;
        booking->from = begins;
        booking->until = ends;
        dated = booking_dated(booking);
        tree_unref(booking->ad);
        booking->ad = dated;
        return true;
    }
    return false;
}
