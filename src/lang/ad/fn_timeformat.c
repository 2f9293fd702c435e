/* fn_timeformat.c: prints a time by a format, as C's strftime does in the C locale. */
#include "lang/ad/fn.h"
#include "lang/base/calendar.h"

struct moment {
    struct date date;
    int64_t seconds;
    int zone; /* minutes east */
};

/* The week of the year, where weeks begin on the weekday `first` (0 is Sunday); days before the first such weekday are in week 0. */
static int week_of(const struct date *date, int first)
{
    return (date->yearday + 7 - (date->weekday - first + 7) % 7) / 7;
}

/* The Thursday of this week: by ISO 8601 the week belongs to the year of its Thursday. */
static struct date thursday_of(const struct moment *m)
{
    struct date thursday = m->date;

    calendar_split(m->seconds + m->zone * 60 + (3 - (m->date.weekday + 6) % 7) * 86400, &thursday);
    return thursday;
}

static int get_century(const struct moment *m)
{
    return m->date.year / 100;
}

static int get_day(const struct moment *m)
{
    return m->date.day;
}

static int get_hour(const struct moment *m)
{
    return m->date.hour;
}

static int get_hour12(const struct moment *m)
{
    return (m->date.hour + 11) % 12 + 1;
}

static int get_iso_week(const struct moment *m)
{
    return thursday_of(m).yearday / 7 + 1;
}

static int get_iso_year(const struct moment *m)
{
    return thursday_of(m).year;
}

static int get_iso_year_short(const struct moment *m)
{
    return thursday_of(m).year % 100;
}

static int get_minute(const struct moment *m)
{
    return m->date.minute;
}

static int get_month(const struct moment *m)
{
    return m->date.month;
}

static int get_second(const struct moment *m)
{
    return m->date.second;
}

static int get_week_from_monday(const struct moment *m)
{
    return week_of(&m->date, 1);
}

static int get_week_from_sunday(const struct moment *m)
{
    return week_of(&m->date, 0);
}

static int get_weekday(const struct moment *m)
{
    return m->date.weekday;
}

static int get_weekday_from_one(const struct moment *m)
{
    return m->date.weekday ? m->date.weekday : 7;
}

static int get_year(const struct moment *m)
{
    return m->date.year;
}

static int get_year_short(const struct moment *m)
{
    return m->date.year % 100;
}

static int get_yearday(const struct moment *m)
{
    return m->date.yearday + 1;
}

/* A conversion prints a number, or stands for a longer format. Conversions that do neither are in format_word. */
static const struct conversion {
    char letter;
    const char *digits; /* for printf */
    int (*get)(const struct moment *);
    const char *format;
} conversions[] = {
    {'C', "%02d", get_century, NULL},
    {'D', NULL, NULL, "%m/%d/%y"},
    {'F', NULL, NULL, "%Y-%m-%d"},
    {'G', "%d", get_iso_year, NULL},
    {'H', "%02d", get_hour, NULL},
    {'I', "%02d", get_hour12, NULL},
    {'M', "%02d", get_minute, NULL},
    {'R', NULL, NULL, "%H:%M"},
    {'S', "%02d", get_second, NULL},
    {'T', NULL, NULL, "%H:%M:%S"},
    {'U', "%02d", get_week_from_sunday, NULL},
    {'V', "%02d", get_iso_week, NULL},
    {'W', "%02d", get_week_from_monday, NULL},
    {'X', NULL, NULL, "%H:%M:%S"},
    {'Y', "%d", get_year, NULL},
    {'c', NULL, NULL, "%a %b %e %H:%M:%S %Y"},
    {'d', "%02d", get_day, NULL},
    {'e', "%2d", get_day, NULL},
    {'g', "%02d", get_iso_year_short, NULL},
    {'j', "%03d", get_yearday, NULL},
    {'k', "%2d", get_hour, NULL},
    {'l', "%2d", get_hour12, NULL},
    {'m', "%02d", get_month, NULL},
    {'r', NULL, NULL, "%I:%M:%S %p"},
    {'u', "%d", get_weekday_from_one, NULL},
    {'w', "%d", get_weekday, NULL},
    {'x', NULL, NULL, "%m/%d/%y"},
    {'y', "%02d", get_year_short, NULL},
};

static void add_zone(struct buf *out, int zone, const char *between)
{
    int minutes = zone < 0 ? -zone : zone;

    buf_addf(out, "%c%02d%s%02d", zone < 0 ? '-' : '+', minutes / 60, between, minutes % 60);
}

/* False for a letter that has no meaning. */
static bool format_word(struct buf *out, char letter, const struct moment *m)
{
    switch (letter) {
    case 'a':
        buf_add(out, calendar_weekdays[m->date.weekday], 3);
        return true;
    case 'A':
        buf_adds(out, calendar_weekdays[m->date.weekday]);
        return true;
    case 'b':
    case 'h':
        buf_add(out, calendar_months[m->date.month - 1], 3);
        return true;
    case 'B':
        buf_adds(out, calendar_months[m->date.month - 1]);
        return true;
    case 'p':
        buf_adds(out, m->date.hour < 12 ? "AM" : "PM");
        return true;
    case 's':
        buf_addf(out, "%lld", (long long)m->seconds);
        return true;
    case 'z':
        add_zone(out, m->zone, "");
        return true;
    case 'Z': /* zones have no names here */
        add_zone(out, m->zone, ":");
        return true;
    case 'n':
    case 't':
    case '%':
        buf_addc(out, letter == 'n' ? '\n' : letter == 't' ? '\t' : '%');
        return true;
    default:
        return false;
    }
}

static void format_moment(struct buf *out, struct fn_text format, const struct moment *m);

static bool format_conversion(struct buf *out, char letter, const struct moment *m)
{
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++) {
        const struct conversion *row = &conversions[i];

        if (row->letter != letter)
            continue;
        if (row->format)
            format_moment(out, (struct fn_text){row->format, strlen(row->format)}, m);
        else
            buf_addf(out, row->digits, row->get(m));
        return true;
    }
    return format_word(out, letter, m);
}

/* A conversion that does not exist is printed as it is written. */
static void format_moment(struct buf *out, struct fn_text format, const struct moment *m)
{
    for (size_t i = 0; i < format.len; i++) {
        if (format.at[i] == '%' && i + 1 < format.len && format_conversion(out, format.at[i + 1], m))
            i++;
        else
            buf_addc(out, format.at[i]);
    }
}

void time_format(struct buf *out, struct fn_text format, int64_t seconds, int zone_minutes)
{
    struct moment m = {.seconds = seconds, .zone = zone_minutes};

    if (calendar_split(seconds + zone_minutes * 60, &m.date))
        format_moment(out, format, &m);
}
