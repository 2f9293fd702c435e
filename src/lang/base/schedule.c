/* schedule.c: times that come again, as crontab writes them.
 *
 * A schedule is five sets of bits. The next moment is looked for day by day, of UTC, and in a day that may have it minute by minute: so it does not
 * matter what local time does meanwhile. */
#include "lang/base/schedule.h"

#include "lang/base/calendar.h"

#include <string.h>
#include <strings.h>

#define MINUTE 60
#define DAY INT64_C(86400)
#define EDGE 4         /* days at the ends of a month, which may be of another one in local time */
#define MONTH_LEAST 28 /* days of the shortest month */
/* A 29th of February that is a Monday comes after 28 years, or 40 where a century without a leap year is between. */
#define DAYS_MAX (40 * 366)
#define MOMENT_MAX (INT64_C(253370764800) - 3 * DAY) /* the end of the year 9998 */
#define FOLD (3 * 3600)                              /* clocks are put back by less, and then stay for longer */

/* ------------------------------------------------------------------------------------------------------------- reading */

struct field {
    const char *name;
    int low, high;
};

static const struct field fields[] = {
    {"minute", 0, 59}, {"hour", 0, 23}, {"day of the month", 1, 31}, {"month", 1, 12}, {"day of the week", 0, 7},
};
enum { MINUTES, HOURS, DAYS, MONTHS, WEEKDAYS, FIELDS };

static const struct {
    const char *word, *fields;
} named[] = {
    {"@hourly", "0 * * * *"},  {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@weekly", "0 0 * * 0"},
    {"@monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"},
};

/* A text that is being read. */
struct cut {
    const char *at, *end;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static void blanks_skip(struct cut *cut)
{
    while (cut->at < cut->end && is_blank(*cut->at))
        cut->at++;
}

/* Up to nine digits; false: there is none, or there are more. */
static bool number_cut(struct cut *cut, int64_t *ret)
{
    const char *from = cut->at;
    int64_t number = 0;

    while (cut->at < cut->end && is_digit(*cut->at) && cut->at - from < 9)
        number = number * 10 + (*cut->at++ - '0');
    *ret = number;
    return cut->at > from && (cut->at == cut->end || !is_digit(*cut->at));
}

static bool char_cut(struct cut *cut, char c)
{
    if (cut->at == cut->end || *cut->at != c)
        return false;
    cut->at++;
    return true;
}

/* A number of the field, or the name of a month or weekday: three letters. */
static bool value_cut(struct cut *cut, int which, int64_t *ret)
{
    size_t len = 0;

    while (cut->at + len < cut->end && letter(cut->at[len]))
        len++;
    if (len) {
        *ret = len != 3            ? -1
               : which == MONTHS   ? calendar_month(cut->at, 3)
               : which == WEEKDAYS ? calendar_weekday(cut->at, 3)
                                   : -1;
        cut->at += len;
    } else if (!number_cut(cut, ret)) {
        return false;
    }
    return *ret >= fields[which].low && *ret <= fields[which].high;
}

/* One part of a list: a star, a number, a range; and a step behind a star or a range. */
static bool part_cut(struct cut *cut, int which, uint64_t *bits)
{
    int64_t first = fields[which].low, last = fields[which].high, step = 1;
    bool many = char_cut(cut, '*');

    if (!many) {
        if (!value_cut(cut, which, &first))
            return false;
        last = first;
        if ((many = char_cut(cut, '-')) && (!value_cut(cut, which, &last) || last < first))
            return false;
    }
    if (char_cut(cut, '/') && (!many || !number_cut(cut, &step) || step < 1))
        return false;
    for (int64_t i = first; i <= last; i += step)
        *bits |= UINT64_C(1) << i;
    return true;
}

/* A field, up to a blank or the end. */
static int field_cut(struct cut *cut, int which, uint64_t *bits, bool *ret_any, struct err *err)
{
    const char *from = cut->at;
    bool good;

    *bits = 0;
    *ret_any = cut->at < cut->end && *cut->at == '*';
    do
        good = part_cut(cut, which, bits);
    while (good && char_cut(cut, ','));
    if (good && (cut->at == cut->end || is_blank(*cut->at)))
        return 0;
    while (cut->at < cut->end && !is_blank(*cut->at))
        cut->at++;
    return err_set(err, "'%.*s': expected the %s: *, numbers from %d to %d, ranges (1-5), steps (*/10)%s",
                   (int)(cut->at - from < 40 ? cut->at - from : 40), from, fields[which].name, fields[which].low,
                   fields[which].high,
                   which == MONTHS     ? ", or names (jan)"
                   : which == WEEKDAYS ? ", or names (mon)"
                                       : "");
}

/* Is there such a day in any of the months? */
static bool day_comes(const struct schedule *schedule)
{
    static const int longest[13] = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    if (!schedule->any_weekday) /* then weekdays are enough, or the day is a star */
        return true;
    for (int month = 1; month <= 12; month++)
        if (schedule->months & UINT32_C(1) << month)
            for (int day = 1; day <= longest[month]; day++)
                if (schedule->days & UINT32_C(1) << day)
                    return true;
    return false;
}

static int fields_read(struct cut cut, struct schedule *ret, struct err *err)
{
    uint64_t bits[FIELDS];
    bool any[FIELDS];
    struct schedule schedule = {0};

    for (int i = 0; i < FIELDS; i++) {
        blanks_skip(&cut);
        if (cut.at == cut.end)
            return err_set(err, "expected MIN HOUR DOM MON DOW, @daily and such, or 'every 10min': the %s is missing",
                           fields[i].name);
        if (field_cut(&cut, i, &bits[i], &any[i], err) < 0)
            return -1;
    }
    blanks_skip(&cut);
    if (cut.at < cut.end)
        return err_set(err, "'%.*s': there are five fields, MIN HOUR DOM MON DOW, and no more",
                       (int)(cut.end - cut.at < 40 ? cut.end - cut.at : 40), cut.at);
    schedule.minutes = bits[MINUTES];
    schedule.hours = (uint32_t)bits[HOURS];
    schedule.days = (uint32_t)bits[DAYS];
    schedule.months = (uint32_t)bits[MONTHS];
    schedule.weekdays = (uint32_t)((bits[WEEKDAYS] | bits[WEEKDAYS] >> 7) & 0x7f);
    schedule.any_day = any[DAYS];
    schedule.any_weekday = any[WEEKDAYS];
    if (!day_comes(&schedule))
        return err_set(err, "none of these months has such a day");
    *ret = schedule;
    return 0;
}

static int every_read(struct cut cut, struct schedule *ret, struct err *err)
{
    static const struct {
        const char *word;
        int64_t seconds;
    } units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    int64_t number = 0, every = 0;
    size_t len;

    blanks_skip(&cut);
    if (number_cut(&cut, &number)) {
        blanks_skip(&cut);
        while (cut.end > cut.at && is_blank(cut.end[-1]))
            cut.end--;
        len = (size_t)(cut.end - cut.at);
        for (size_t i = 0; i < sizeof units / sizeof *units; i++)
            if (len == strlen(units[i].word) && !strncasecmp(cut.at, units[i].word, len))
                every = number * units[i].seconds;
    }
    if (every < 1 || every > SCHEDULE_EVERY_MAX)
        return err_set(err, "every: expected a span from 1s to 366d: 90s, 10min, 2h, 1d");
    *ret = (struct schedule){.every = every};
    return 0;
}

int schedule_read(const char *text, size_t len, struct schedule *ret, struct err *err)
{
    struct cut cut = {text, text + len};

    if (len > SCHEDULE_TEXT_MAX)
        return err_set(err, "a schedule has at most %d bytes", SCHEDULE_TEXT_MAX);
    blanks_skip(&cut);
    while (cut.end > cut.at && is_blank(cut.end[-1]))
        cut.end--;
    if (cut.end - cut.at > 5 && !strncasecmp(cut.at, "every", 5) && is_blank(cut.at[5]))
        return every_read((struct cut){cut.at + 5, cut.end}, ret, err);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if ((size_t)(cut.end - cut.at) == strlen(named[i].word) &&
            !strncasecmp(cut.at, named[i].word, strlen(named[i].word)))
            return fields_read((struct cut){named[i].fields, named[i].fields + strlen(named[i].fields)}, ret, err);
    if (cut.at < cut.end && *cut.at == '@')
        return err_set(err, "'%.*s': expected @hourly, @daily, @weekly, @monthly or @yearly",
                       (int)(cut.end - cut.at < 40 ? cut.end - cut.at : 40), cut.at);
    return fields_read(cut, ret, err);
}

/* ------------------------------------------------------------------------------------------------------------- finding */

static bool day_fits(const struct schedule *schedule, const struct date *date)
{
    bool day = schedule->days & UINT32_C(1) << date->day, weekday = schedule->weekdays & UINT32_C(1) << date->weekday;

    if (!(schedule->months & UINT32_C(1) << date->month))
        return false;
    return schedule->any_day || schedule->any_weekday ? day && weekday : day || weekday;
}

/* Has this local minute all that the fields say? */
static bool minute_fits(const struct schedule *schedule, int64_t local)
{
    struct date date;

    return calendar_split(local, &date) && schedule->minutes >> date.minute & 1 &&
           schedule->hours & UINT32_C(1) << date.hour && day_fits(schedule, &date);
}

/* A step of the search: the clock, and what it may have skipped. */
struct looking {
    const struct schedule *schedule;
    schedule_offset_fn *offset;
    void *user;
    bool hourly; /* all hours: it comes with the clock as it goes */
};

/* Was the same local time there before, before clocks were put back? */
static bool was_before(const struct looking *looking, int64_t moment, int64_t offset)
{
    int64_t before = looking->offset(looking->user, moment - FOLD);

    return before > offset && before - offset <= FOLD &&
           looking->offset(looking->user, moment - (before - offset)) == before;
}

/* Does a minute fit that the clock has skipped on its way from `from` to `to`? */
static bool skipped_fits(const struct looking *looking, int64_t from, int64_t to)
{
    for (int64_t local = from + MINUTE; local < to && local - from <= 2 * DAY; local += MINUTE)
        if (minute_fits(looking->schedule, local))
            return true;
    return false;
}

/* The first moment of this day, from `from` on and before `end`; SCHEDULE_NEVER: there is none. */
static int64_t day_look(const struct looking *looking, int64_t from, int64_t end)
{
    int64_t before = looking->offset(looking->user, from - MINUTE);

    for (int64_t moment = from; moment < end; moment += MINUTE) {
        int64_t offset = looking->offset(looking->user, moment), local = moment + offset;

        if (minute_fits(looking->schedule, local) && (looking->hourly || !was_before(looking, moment, offset)))
            return moment;
        if (!looking->hourly && offset > before && skipped_fits(looking, moment - MINUTE + before, local))
            return moment;
        before = offset;
    }
    return SCHEDULE_NEVER;
}

static int64_t modulo(int64_t a, int64_t b)
{
    return (a % b + b) % b;
}

/* May a day of UTC have a moment? Local time is on these days then. */
static bool day_may(const struct looking *looking, int64_t day)
{
    int64_t local = day + looking->offset(looking->user, day);
    struct date date;

    for (int i = -2; i <= 3; i++)
        if (calendar_split(local + i * DAY, &date) && day_fits(looking->schedule, &date))
            return true;
    return false;
}

/* The day, or one near the end of its month where that is not among the schedule's, wherever local time is. */
static int64_t month_skip(const struct schedule *schedule, int64_t day)
{
    struct date date;

    if (!calendar_split(day, &date) || schedule->months & UINT32_C(1) << date.month || date.day < EDGE ||
        date.day > MONTH_LEAST - EDGE)
        return day;
    return day + (MONTH_LEAST - EDGE + 1 - date.day) * DAY;
}

int64_t schedule_next(const struct schedule *schedule, int64_t after, int64_t anchor, schedule_offset_fn *offset,
                      void *user)
{
    struct looking looking = {schedule, offset, user, schedule->hours == (UINT32_C(1) << 24) - 1};
    int64_t from, day;

    if (after < 0 || after > MOMENT_MAX || anchor < 0 || anchor > MOMENT_MAX)
        return SCHEDULE_NEVER;
    if (schedule->every)
        return after + schedule->every - modulo(after - anchor, schedule->every);
    from = (after / MINUTE + 1) * MINUTE;
    day = from / DAY * DAY;
    for (int64_t end = day + DAYS_MAX * DAY; day < end && day < MOMENT_MAX; day += DAY, from = day) {
        int64_t found;

        day = month_skip(schedule, day);
        from = from > day ? from : day;
        found = day_may(&looking, day) ? day_look(&looking, from, day + DAY) : SCHEDULE_NEVER;
        if (found != SCHEDULE_NEVER)
            return found;
    }
    return SCHEDULE_NEVER;
}
