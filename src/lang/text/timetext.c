/* timetext.c: times as text, read and printed. */
#include "lang/text/timetext.h"

#include "lang/base/calendar.h"

#define DAY 86400

/* The rest of the text, which is still to be read. */
struct scan {
    const char *at, *end;
};

static bool scan_char(struct scan *scan, char c)
{
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

static bool scan_digit(const struct scan *scan)
{
    return scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9';
}

/* Reads a decimal number of at least one digit that fits into 64 bits. */
static bool scan_number(struct scan *scan, uint64_t *ret)
{
    uint64_t value = 0;

    if (!scan_digit(scan))
        return false;
    for (; scan_digit(scan); scan->at++) {
        unsigned digit = (unsigned)(*scan->at - '0');

        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret = value;
    return true;
}

/* Reads exactly `digits` digits. */
static bool scan_fixed(struct scan *scan, int digits, int *ret)
{
    int value = 0;

    for (int i = 0; i < digits; i++, scan->at++) {
        if (!scan_digit(scan))
            return false;
        value = value * 10 + (*scan->at - '0');
    }
    *ret = value;
    return true;
}

static void scan_blanks(struct scan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\t'))
        scan->at++;
}

/* sum += value * unit; false when it does not fit. */
static bool add_times(uint64_t *sum, uint64_t value, uint64_t unit)
{
    return !__builtin_mul_overflow(value, unit, &value) && !__builtin_add_overflow(*sum, value, sum);
}

static bool with_sign(bool minus, uint64_t magnitude, int64_t *ret)
{
    if (magnitude > (uint64_t)INT64_MAX + minus)
        return false;
    *ret = (int64_t)(minus ? 0 - magnitude : magnitude);
    return true;
}

static void scan_fraction(struct scan *scan)
{
    if (scan_char(scan, '.'))
        while (scan_digit(scan))
            scan->at++;
}

static bool relative_classic(struct scan *scan, uint64_t *ret)
{
    uint64_t first, minutes, seconds = 0, sum = 0;

    if (!scan_number(scan, &first))
        return false;
    if (scan_char(scan, 'd') || scan_char(scan, 'D')) {
        if (!add_times(&sum, first, DAY))
            return false;
        if (scan->at == scan->end) {
            *ret = sum;
            return true;
        }
        if (!scan_number(scan, &first))
            return false;
    }
    if (!scan_char(scan, ':') || !scan_number(scan, &minutes) || minutes > 59)
        return false;
    if (scan_char(scan, ':') && (!scan_number(scan, &seconds) || seconds > 59))
        return false;
    if (!add_times(&sum, first, 3600) || !add_times(&sum, minutes, 60) || !add_times(&sum, seconds, 1))
        return false;
    *ret = sum;
    return scan->at == scan->end;
}

/* Fields from the right are seconds, minutes, hours; days need a unit. */
static bool relative_condor(struct scan *scan, uint64_t *ret)
{
    uint64_t fields[4], sum = 0, number;
    int count = 0;
    bool units = false, fraction;

    while (scan->at < scan->end) {
        if (count == 4 || !scan_number(scan, &number))
            return false;
        fraction = scan->at < scan->end && *scan->at == '.';
        if (fraction)
            scan_fraction(scan);
        if (fraction && scan->at < scan->end && *scan->at != 's')
            return false; /* only seconds have a fraction */
        if (scan->at < scan->end && (*scan->at == 'd' || *scan->at == '+')) {
            if (count || !add_times(&sum, number, DAY))
                return false;
            scan->at++;
            units = true;
        } else if (scan->at < scan->end && (*scan->at == 'h' || *scan->at == 'm' || *scan->at == 's')) {
            if (!add_times(&sum, number, *scan->at == 'h' ? 3600 : *scan->at == 'm' ? 60 : 1))
                return false;
            scan->at++;
            units = true;
        } else {
            fields[count++] = number;
            if (scan->at < scan->end && !scan_char(scan, ':'))
                return false;
        }
        scan_blanks(scan);
    }
    if (count > 3 || (count == 0 && !units && sum == 0))
        return false;
    for (int i = 0; i < count; i++)
        if (!add_times(&sum, fields[i], count - i == 3 ? 3600 : count - i == 2 ? 60 : 1))
            return false;
    *ret = sum;
    return true;
}

bool time_parse_relative(const struct dialect *dialect, const char *text, size_t len, int64_t *ret_seconds)
{
    struct scan scan = {text, text + len};
    uint64_t magnitude;
    bool minus;

    if (dialect->short_intervals)
        scan_blanks(&scan);
    minus = scan_char(&scan, '-');
    if (!(dialect->short_intervals ? relative_condor(&scan, &magnitude) : relative_classic(&scan, &magnitude)))
        return false;
    return with_sign(minus, magnitude, ret_seconds);
}

static bool scan_zone(struct scan *scan, int *ret)
{
    int hours, minutes;
    bool west;

    if (scan_char(scan, 'Z') || scan_char(scan, 'z')) {
        *ret = 0;
        return true;
    }
    if (scan->at == scan->end || (*scan->at != '+' && *scan->at != '-'))
        return false;
    west = *scan->at++ == '-';
    if (!scan_fixed(scan, 2, &hours))
        return false;
    scan_char(scan, ':');
    if (!scan_fixed(scan, 2, &minutes) || minutes > 59 || hours > 23)
        return false;
    *ret = (hours * 60 + minutes) * (west ? -1 : 1);
    return true;
}

bool time_parse_zone(const char *text, size_t len, int *ret_minutes)
{
    struct scan scan = {text, text + len};
    int minutes;

    if (!scan_zone(&scan, &minutes) || scan.at != scan.end)
        return false;
    *ret_minutes = minutes;
    return true;
}

/* H:M:S, two digits each. */
static bool scan_clock(struct scan *scan, struct date *date)
{
    return scan_fixed(scan, 2, &date->hour) && scan_char(scan, ':') && scan_fixed(scan, 2, &date->minute) &&
           scan_char(scan, ':') && scan_fixed(scan, 2, &date->second);
}

static bool scan_iso(struct scan *scan, struct date *date)
{
    if (!scan_fixed(scan, 4, &date->year) || !scan_char(scan, '-') || !scan_fixed(scan, 2, &date->month) ||
        !scan_char(scan, '-') || !scan_fixed(scan, 2, &date->day))
        return false;
    if (scan_char(scan, 'T') || scan_char(scan, 't')) {
        scan_char(scan, ':'); /* as in times of HTCondor's own tests */
        if (!scan_clock(scan, date))
            return false;
        scan_fraction(scan);
    } else if (scan->end - scan->at > 2 && *scan->at == ' ' && scan->at[1] >= '0' && scan->at[1] <= '9') {
        scan->at++;
        if (!scan_clock(scan, date))
            return false;
        scan_fraction(scan);
    }
    return true;
}

static size_t scan_word(struct scan *scan)
{
    const char *start = scan->at;

    while (scan->at < scan->end && (*scan->at | 0x20) >= 'a' && (*scan->at | 0x20) <= 'z')
        scan->at++;
    return (size_t)(scan->at - start);
}

/* [Thu] Aug 17 18:21:07 2000 [(CDT)] */
static bool scan_ctime(struct scan *scan, struct date *date)
{
    const char *word = scan->at;
    size_t len = scan_word(scan);
    uint64_t day, year;

    if (calendar_weekday(word, len) >= 0 && !(calendar_month(word, len))) {
        scan_blanks(scan);
        word = scan->at;
        len = scan_word(scan);
    }
    date->month = calendar_month(word, len);
    scan_blanks(scan);
    if (!date->month || !scan_number(scan, &day) || day > 31)
        return false;
    date->day = (int)day;
    scan_blanks(scan);
    if (!scan_clock(scan, date))
        return false;
    scan_blanks(scan);
    if (!scan_number(scan, &year) || year > CALENDAR_YEAR_MAX)
        return false;
    date->year = (int)year;
    scan_blanks(scan);
    if (scan_char(scan, '(')) {
        while (scan->at < scan->end && *scan->at != ')')
            scan->at++;
        if (!scan_char(scan, ')'))
            return false;
    }
    return true;
}

bool time_absolute_valid(const struct dialect *dialect, int64_t seconds)
{
    return seconds >= (dialect->early_times ? TIME_ABSOLUTE_MIN : 0) && seconds <= TIME_ABSOLUTE_MAX;
}

bool time_parse_absolute(const struct dialect *dialect, const char *text, size_t len, int zone_else,
                         int64_t *ret_seconds, int *ret_zone)
{
    struct scan scan = {text, text + len};
    struct date date = {0};
    int zone = zone_else;
    int64_t seconds;

    scan_blanks(&scan);
    if (scan_digit(&scan) ? !scan_iso(&scan, &date) : !scan_ctime(&scan, &date))
        return false;
    scan_blanks(&scan);
    if (scan.at < scan.end && !scan_zone(&scan, &zone))
        return false;
    scan_blanks(&scan);
    if (scan.at != scan.end || zone == TIME_ZONE_NONE || !calendar_join(&date, &seconds))
        return false;
    seconds -= (int64_t)zone * 60;
    if (!time_absolute_valid(dialect, seconds))
        return false;
    *ret_seconds = seconds;
    *ret_zone = zone;
    return true;
}

static void print_two(struct buf *out, unsigned value)
{
    buf_addc(out, (char)('0' + value / 10));
    buf_addc(out, (char)('0' + value % 10));
}

void time_print_relative(const struct dialect *dialect, int64_t seconds, struct buf *out)
{
    uint64_t rest = seconds < 0 ? 0 - (uint64_t)seconds : (uint64_t)seconds;
    unsigned hours = (unsigned)(rest / 3600 % 24), minutes = (unsigned)(rest / 60 % 60);
    bool brief = dialect->short_intervals;

    if (seconds < 0)
        buf_addc(out, '-');
    if (rest >= DAY)
        buf_addf(out, "%llu%c", (unsigned long long)(rest / DAY), brief ? '+' : 'd');
    if (!brief || rest >= 3600) {
        print_two(out, hours);
        buf_addc(out, ':');
    }
    if (!brief || rest >= 60) {
        print_two(out, minutes);
        buf_addc(out, ':');
    }
    print_two(out, (unsigned)(rest % 60));
}

void time_print_absolute(const struct dialect *dialect, int64_t seconds, int zone_minutes, struct buf *out)
{
    unsigned zone = (unsigned)(zone_minutes < 0 ? -zone_minutes : zone_minutes);
    bool minus = zone_minutes < 0 || (zone_minutes == 0 && dialect->short_intervals); /* HTCondor writes -00:00 */
    struct date date;

    if (!calendar_split(seconds + (int64_t)zone_minutes * 60, &date))
        return;
    buf_addf(out, "%04d-%02d-%02dT%02d:%02d:%02d%c%02u:%02u", date.year, date.month, date.day, date.hour, date.minute,
             date.second, minus ? '-' : '+', zone / 60, zone % 60);
}
