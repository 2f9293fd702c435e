/* fn_times.c: functions of times: now, times made from numbers, and times taken apart (appendix A.3 to A.7).
 * They read no clock: now is the evaluation's. */
#include "lang/ad/fn.h"
#include "lang/base/calendar.h"
#include "lang/text/timetext.h"

#include <limits.h>

#define DAY 86400
#define TIME_FORMAT_MAX 1024 /* bytes of a format */

static void return_abstime(struct call *call, int64_t seconds, int zone, struct value *ret)
{
    *ret = time_absolute_valid(call->dialect, seconds) ? value_abstime(seconds, zone) : value_error();
}

void fn_current_time(struct call *call, struct value *ret)
{
    return_abstime(call, call->eval->env->now, call_zone(call), ret);
}

void fn_time(struct call *call, struct value *ret)
{
    *ret = value_integer(call->eval->env->now);
}

void fn_day_time(struct call *call, struct value *ret)
{
    int64_t here = (call->eval->env->now % DAY + call_zone(call) * 60) % DAY;

    *ret = value_reltime(here < 0 ? here + DAY : here);
}

void fn_time_zone_offset(struct call *call, struct value *ret)
{
    *ret = value_reltime(call_zone(call) * 60);
}

static bool read_small(const struct value *v, int *ret)
{
    if (v->type != VALUE_INTEGER || v->u.integer < INT_MIN || v->u.integer > INT_MAX)
        return false;
    *ret = (int)v->u.integer;
    return true;
}

void fn_make_date(struct call *call, struct value *ret)
{
    const struct value *month = &call->arguments[0];
    struct date date = {.year = 0};
    int zone = call_zone(call);
    int64_t seconds;

    if (month->type == VALUE_STRING)
        date.month = calendar_month(month->u.string, month->len);
    else if (!read_small(month, &date.month))
        date.month = 0;
    if (read_small(&call->arguments[1], &date.day) && read_small(&call->arguments[2], &date.year) &&
        calendar_join(&date, &seconds))
        return_abstime(call, seconds - zone * 60, zone, ret);
    else
        *ret = value_error();
}

static bool read_seconds(const struct value *v, int64_t *ret)
{
    if (v->type == VALUE_REAL)
        return real_to_integer(v->u.real, ret);
    *ret = v->u.integer;
    return v->type == VALUE_INTEGER;
}

void fn_make_abs_time(struct call *call, struct value *ret)
{
    int64_t seconds;

    if (read_seconds(&call->arguments[0], &seconds))
        return_abstime(call, seconds, call_zone(call), ret);
    else
        *ret = value_error();
}

void fn_make_rel_time(struct call *call, struct value *ret)
{
    int64_t seconds;

    *ret = read_seconds(&call->arguments[0], &seconds) ? value_reltime(seconds) : value_error();
}

/* A part of a time. For an absolute time it is a field of its date; for a relative time it is what the larger parts leave. */
struct part {
    int (*of_date)(const struct date *); /* NULL: absolute times do not have this part */
    int64_t modulus, unit;               /* 0: relative times do not have this part */
};

static void get_part(struct call *call, const struct part *part, struct value *ret)
{
    const struct value *v = &call->arguments[0];
    struct date date;

    *ret = value_error();
    if (v->type == VALUE_RELTIME && part->unit) {
        *ret = value_integer(v->u.integer % part->modulus / part->unit);
    } else if (v->type == VALUE_ABSTIME && part->of_date) {
        int zone = call->dialect->zone_of_evaluation ? call_zone(call) : v->zone;

        if (calendar_split(v->u.integer + zone * 60, &date))
            *ret = value_integer(part->of_date(&date));
    }
}

#define PART(fn, field, modulus, unit)                                  \
    static int field_of_##fn(const struct date *date)                   \
    {                                                                   \
        return date->field;                                             \
    }                                                                   \
    void fn(struct call *call, struct value *ret)                       \
    {                                                                   \
        static const struct part part = {field_of_##fn, modulus, unit}; \
        get_part(call, &part, ret);                                     \
    }

PART(fn_get_year, year, 0, 0)
PART(fn_get_month, month - 1, 0, 0)
PART(fn_get_month_from_one, month, 0, 0)
PART(fn_get_day_of_year, yearday, 0, 0)
PART(fn_get_day_of_month, day, 0, 0)
PART(fn_get_day_of_week, weekday, 0, 0)
PART(fn_get_hours, hour, DAY, 3600)
PART(fn_get_minutes, minute, 3600, 60)
PART(fn_get_seconds, second, 60, 1)

void fn_get_days(struct call *call, struct value *ret)
{
    const struct value *v = &call->arguments[0];

    *ret = v->type == VALUE_RELTIME ? value_integer(v->u.integer / DAY) : value_error();
}

static void split_absolute(struct call *call, int64_t seconds, int zone, struct value *ret)
{
    static const symbol names[] = {NAME_TYPE,  NAME_YEAR,    NAME_MONTH,   NAME_DAY,
                                   NAME_HOURS, NAME_MINUTES, NAME_SECONDS, NAME_OFFSET};
    struct date date;

    if (!time_absolute_valid(call->dialect, seconds) || !calendar_split(seconds + zone * 60, &date)) {
        *ret = value_error();
        return;
    }
    eval_make_ad(call->eval, call->scope->tree, names,
                 (const struct value[]){value_string("AbsoluteTime", 12), value_integer(date.year),
                                        value_integer(date.month), value_integer(date.day), value_integer(date.hour),
                                        value_integer(date.minute), value_integer(date.second),
                                        value_integer(zone * 60)},
                 sizeof names / sizeof *names, ret);
}

/* Below zero, the largest part that is not zero is. */
static void split_relative(struct call *call, int64_t seconds, struct value *ret)
{
    static const symbol names[] = {NAME_TYPE, NAME_DAYS, NAME_HOURS, NAME_MINUTES, NAME_SECONDS};
    uint64_t all = seconds < 0 ? -(uint64_t)seconds : (uint64_t)seconds;
    int64_t parts[] = {(int64_t)(all / DAY), (int64_t)(all % DAY / 3600), (int64_t)(all % 3600 / 60),
                       (int64_t)(all % 60)};
    int first = 0;

    while (first < 3 && !parts[first])
        first++;
    if (seconds < 0)
        parts[first] = -parts[first];
    eval_make_ad(call->eval, call->scope->tree, names,
                 (const struct value[]){value_string("RelativeTime", 12), value_integer(parts[0]),
                                        value_integer(parts[1]), value_integer(parts[2]), value_real((double)parts[3])},
                 sizeof names / sizeof *names, ret);
}

void fn_split_time(struct call *call, struct value *ret)
{
    const struct value *v = &call->arguments[0];
    int64_t seconds;

    if (v->type == VALUE_ABSTIME)
        split_absolute(call, v->u.integer, v->zone, ret);
    else if (v->type == VALUE_RELTIME)
        split_relative(call, v->u.integer, ret);
    else if (read_seconds(v, &seconds))
        split_absolute(call, seconds, call_zone(call), ret);
    else
        *ret = value_error();
}

static void in_units(struct call *call, int unit, struct value *ret)
{
    const struct value *v = &call->arguments[0];

    if (v->type == VALUE_ABSTIME || v->type == VALUE_RELTIME)
        *ret = value_real((double)v->u.integer / unit);
    else
        *ret = value_error();
}

void fn_in_days(struct call *call, struct value *ret)
{
    in_units(call, DAY, ret);
}

void fn_in_hours(struct call *call, struct value *ret)
{
    in_units(call, 3600, ret);
}

void fn_in_minutes(struct call *call, struct value *ret)
{
    in_units(call, 60, ret);
}

void fn_in_seconds(struct call *call, struct value *ret)
{
    in_units(call, 1, ret);
}

/* A whole number of an ad; or what stands for it where the ad has none. */
static bool part_read(struct call *call, const struct value *ad, symbol name, int instead, int *ret)
{
    struct value v;

    *ret = instead;
    if (!eval_attribute(call->eval, ad->scope, name, &v))
        return true;
    if (v.type == VALUE_REAL && v.u.real >= 0 && v.u.real < 61)
        v = value_integer((int64_t)v.u.real); /* seconds */
    if (v.type != VALUE_INTEGER || v.u.integer < -100000 || v.u.integer > 100000)
        return false;
    *ret = (int)v.u.integer;
    return true;
}

/* A time that splitTime() has taken apart. */
static bool split_read(struct call *call, const struct value *ad, int64_t *ret_seconds, int *ret_zone)
{
    struct date date = {0};
    int offset;

    if (!part_read(call, ad, NAME_YEAR, 0, &date.year) || !part_read(call, ad, NAME_MONTH, 1, &date.month) ||
        !part_read(call, ad, NAME_DAY, 1, &date.day) || !part_read(call, ad, NAME_HOURS, 0, &date.hour) ||
        !part_read(call, ad, NAME_MINUTES, 0, &date.minute) || !part_read(call, ad, NAME_SECONDS, 0, &date.second) ||
        !part_read(call, ad, NAME_OFFSET, 0, &offset) || !calendar_join(&date, ret_seconds))
        return false;
    *ret_zone = offset / 60;
    *ret_seconds -= *ret_zone * 60;
    return true;
}

void fn_format_time(struct call *call, struct value *ret)
{
    struct fn_text format = {"%c", 2};
    int64_t seconds = call->eval->env->now;
    int zone = call_zone(call);
    struct buf out;

    if (call->count && call->arguments[0].type == VALUE_ABSTIME) {
        seconds = call->arguments[0].u.integer;
        zone = call->arguments[0].zone;
    } else if (call->count && call->arguments[0].type == VALUE_AD) {
        if (!split_read(call, &call->arguments[0], &seconds, &zone)) {
            *ret = value_error();
            return;
        }
    } else if (call->count && !read_seconds(&call->arguments[0], &seconds)) {
        *ret = value_error();
        return;
    }
    if (!call_get_texts(call, 1, &format) || format.len > TIME_FORMAT_MAX ||
        !time_absolute_valid(call->dialect, seconds) || !eval_steps(call->eval, format.len)) {
        *ret = value_error();
        return;
    }
    buf_init(&out);
    time_format(&out, format, seconds, zone);
    call_return_buf(call, &out, ret);
}

/* D+HH:MM:SS without leading parts that are zero. */
static void return_interval(struct call *call, int64_t seconds, struct value *ret)
{
    static const struct unit {
        uint64_t seconds;
        char behind;
    } units[] = {{DAY, '+'}, {3600, ':'}, {60, ':'}, {1, 0}};
    uint64_t rest = seconds < 0 ? 0 - (uint64_t)seconds : (uint64_t)seconds;
    bool begun = false;
    struct buf out;

    buf_init(&out);
    if (seconds < 0)
        buf_addc(&out, '-');
    for (int i = 0; i < 4; i++) {
        uint64_t count = rest / units[i].seconds;

        rest %= units[i].seconds;
        if (!begun && !count && units[i].behind)
            continue;
        buf_addf(&out, begun ? "%02llu" : "%llu", (unsigned long long)count);
        if (units[i].behind)
            buf_addc(&out, units[i].behind);
        begun = true;
    }
    call_return_buf(call, &out, ret);
}

void fn_interval(struct call *call, struct value *ret)
{
    int64_t seconds;

    if (read_seconds(&call->arguments[0], &seconds))
        return_interval(call, seconds, ret);
    else
        *ret = value_error();
}

void fn_interval_condor(struct call *call, struct value *ret)
{
    fn_int_condor(call, ret);
    if (ret->type == VALUE_INTEGER)
        return_interval(call, ret->u.integer, ret);
    else
        *ret = value_error();
}
