/* value.c: order and distance of values, kind by kind. */
#include "match/grdl/value.h"

#include "lang/base/buf.h"
#include "lang/base/calendar.h"
#include "lang/text/timetext.h"
#include "match/grdl/units.h"

#include <math.h>
#include <string.h>

const char *const grdl_kind_words[5] = {
    [GRDL_UNSPECIFIED] = "unspecified", [GRDL_NUMBER] = "number", [GRDL_TEXT] = "text",
    [GRDL_VERSION] = "version",         [GRDL_DATE] = "date",
};

const char *const grdl_source_words[GRDL_SOURCES] = {
    [GRDL_FROM_NOWHERE] = "nobody says it",
    [GRDL_FROM_HINT] = "its type attribute says it",
    [GRDL_FROM_NAME] = "the name of the dimension says it",
    [GRDL_FROM_VALUE] = "the value is written like it",
    [GRDL_FROM_RESOURCE] = "a default of the resource",
    [GRDL_FROM_CONSUMER] = "a default of the reader",
    [GRDL_FROM_OPERATION] = "the operation needs it",
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static int letter_folded(unsigned char c)
{
    return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* A run of digits, or of anything else that is not a separator; len 0 at the end of the version. */
struct version_part {
    const char *text;
    size_t len;
    bool number;
};

static bool is_separator(char c)
{
    switch (c) {
    case '.':
    case '-':
    case '_':
    case '+':
    case ':':
    case '~':
    case '/':
    case ' ':
    case '\t':
        return true;
    default:
        return false;
    }
}

static struct version_part version_next(const char **at)
{
    struct version_part part = {0};

    while (is_separator(**at))
        (*at)++;
    part.text = *at;
    part.number = is_digit(**at);
    while (**at && !is_separator(**at) && is_digit(**at) == part.number)
        (*at)++;
    part.len = (size_t)(*at - part.text);
    while (part.number && part.len > 1 && *part.text == '0') { /* 07 is 7 */
        part.text++;
        part.len--;
    }
    return part;
}

/* The class of a part: the end comes before letters, letters before numbers. */
static int part_class(const struct version_part *part)
{
    return !part->len ? 0 : part->number ? 2 : 1;
}

static int part_order(const struct version_part *a, const struct version_part *b)
{
    size_t len = a->len < b->len ? a->len : b->len;
    int order;

    if (part_class(a) != part_class(b))
        return part_class(a) < part_class(b) ? -1 : 1;
    if (a->number && a->len != b->len)
        return a->len < b->len ? -1 : 1;
    order = memcmp(a->text, b->text, len);
    return order ? order : (a->len > b->len) - (a->len < b->len);
}

/* Where the part begins in which two versions, alike up to `same`, may differ. */
static size_t part_start(const char *text, size_t same)
{
    while (same && !is_separator(text[same - 1]))
        same--;
    return same;
}

int grdl_version_order(const char *a, const char *b)
{
    size_t same = 0;

    while (a[same] && a[same] == b[same])
        same++;
    if (!a[same] && !b[same])
        return 0;
    same = part_start(a, same); /* the parts before that are the same */
    a += same;
    b += same;
    for (;;) {
        struct version_part x = version_next(&a), y = version_next(&b);
        int order = part_order(&x, &y);

        if (order || !x.len)
            return order;
    }
}

static double part_number(const struct version_part *part)
{
    double value = 0;

    return part->number && grdl_number_read(part->text, part->len, 1, 0, &value) ? value : 0;
}

static struct grdl_distance version_distance(const char *a, const char *b)
{
    for (int place = 0;; place++) {
        struct version_part x = version_next(&a), y = version_next(&b);
        struct grdl_distance distance = {.place = -place, .size = 1};

        if (!part_order(&x, &y)) {
            if (x.len)
                continue;
            return (struct grdl_distance){.place = -HUGE_VAL};
        }
        if (x.number && y.number)
            distance.size = fabs(part_number(&x) - part_number(&y));
        else if (x.len == 1 && y.len == 1 && !x.number && !y.number)
            distance.size = fabs((double)x.text[0] - (double)y.text[0]);
        return distance;
    }
}

/* Is it digits, a point, digits, ... and letters at the end of a part: 0.9.7, 0.9.7d, 2.4-rc1? 1.5 is a number first. */
bool grdl_version_like(const char *text, size_t len)
{
    unsigned points = 0;
    bool letters = false;

    if (!len || !is_digit(text[0]))
        return false;
    for (size_t i = 1; i < len; i++) {
        if (text[i] == '.') {
            points++;
            if (i + 1 == len || !is_digit(text[i + 1]))
                return false;
        } else if (is_letter(text[i]) || text[i] == '-') {
            letters = true;
        } else if (!is_digit(text[i])) {
            return false;
        }
    }
    return points > 1 || (points == 1 && letters);
}

/* Reads exactly `count` digits at `at`. */
static bool digits_take(const char *text, size_t len, size_t at, size_t count, int *ret_value)
{
    int value = 0;

    if (len < at || len - at < count)
        return false;
    for (size_t i = at; i < at + count; i++) {
        if (!is_digit(text[i]))
            return false;
        value = value * 10 + (text[i] - '0');
    }
    *ret_value = value;
    return true;
}

/* Reads the digits of a fraction of a second, from `*at` on. */
static double fraction_take(const char *text, size_t len, size_t *at)
{
    double fraction = 0, weight = 0.1;

    for (; *at < len && is_digit(text[*at]); (*at)++, weight /= 10)
        fraction += weight * (text[*at] - '0');
    return fraction;
}

/* Reads YYYY-MM-DD, or that and T (or a blank) and HH:MM[:SS[.FRACTION]][ZONE]. */
bool grdl_date_read(const char *text, size_t len, double *ret_seconds)
{
    struct date date = {0};
    double fraction = 0;
    int64_t seconds;
    int zone = 0;
    size_t at = 10;

    if (!digits_take(text, len, 0, 4, &date.year) || len < 10 || text[4] != '-' || text[7] != '-' ||
        !digits_take(text, len, 5, 2, &date.month) || !digits_take(text, len, 8, 2, &date.day))
        return false;
    if (len > 10) {
        if ((text[10] != 'T' && text[10] != ' ') || !digits_take(text, len, 11, 2, &date.hour) || len < 16 ||
            text[13] != ':' || !digits_take(text, len, 14, 2, &date.minute))
            return false;
        at = 16;
        if (at < len && text[at] == ':') {
            if (!digits_take(text, len, at + 1, 2, &date.second))
                return false;
            at += 3;
            if (at + 1 < len && text[at] == '.' && is_digit(text[at + 1])) {
                at++;
                fraction = fraction_take(text, len, &at);
            }
        }
        if (at < len && !time_parse_zone(text + at, len - at, &zone))
            return false;
    }
    if (!calendar_join(&date, &seconds))
        return false;
    *ret_seconds = (double)(seconds - (int64_t)zone * 60) + fraction;
    return true;
}

bool grdl_comparable(const struct grdl_value *a, const struct grdl_value *b)
{
    return a->kind == b->kind && a->type == b->type && a->kind != GRDL_UNSPECIFIED;
}

int grdl_value_order(const struct grdl_value *a, const struct grdl_value *b)
{
    switch (a->kind) {
    case GRDL_NUMBER:
    case GRDL_DATE:
        return (a->number > b->number) - (a->number < b->number);
    case GRDL_VERSION:
        return grdl_version_order(a->text, b->text);
    case GRDL_TEXT:
        return strcmp(a->text, b->text);
    case GRDL_UNSPECIFIED:
        break;
    }
    return 0;
}

int grdl_value_order_folded(const struct grdl_value *a, const struct grdl_value *b)
{
    const unsigned char *x, *y;

    if (a->kind != GRDL_TEXT)
        return grdl_value_order(a, b);
    x = (const unsigned char *)a->text;
    y = (const unsigned char *)b->text;
    while (*x && letter_folded(*x) == letter_folded(*y)) {
        x++;
        y++;
    }
    return letter_folded(*x) - letter_folded(*y);
}

struct grdl_distance grdl_value_distance(const struct grdl_value *a, const struct grdl_value *b)
{
    switch (a->kind) {
    case GRDL_NUMBER:
    case GRDL_DATE:
        return (struct grdl_distance){.size = fabs(a->number - b->number)};
    case GRDL_VERSION:
        return version_distance(a->text, b->text);
    case GRDL_TEXT:
        return (struct grdl_distance){.size = strcmp(a->text, b->text) != 0};
    case GRDL_UNSPECIFIED:
        break;
    }
    return (struct grdl_distance){0};
}

int grdl_distance_order(const struct grdl_distance *a, const struct grdl_distance *b)
{
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->size > b->size) - (a->size < b->size);
}

bool grdl_value_holds(const struct grdl_value *a, enum grdl_operator base, const struct grdl_value *b)
{
    if (!grdl_comparable(a, b))
        return false;
    switch (base) {
    case GRDL_EQ:
        return grdl_value_order(a, b) == 0;
    case GRDL_NE:
        return grdl_value_order(a, b) != 0;
    case GRDL_LT:
        return grdl_value_order(a, b) < 0;
    case GRDL_LE:
        return grdl_value_order(a, b) <= 0;
    case GRDL_GT:
        return grdl_value_order(a, b) > 0;
    case GRDL_GE:
        return grdl_value_order(a, b) >= 0;
    case GRDL_EQUIVALENT:
        return grdl_value_order_folded(a, b) == 0;
    case GRDL_ORDERED:
        return grdl_value_order_folded(a, b) <= 0;
    default:
        return false;
    }
}

static void bytes_key(struct buf *out, const char *text, size_t len, bool folded)
{
    for (size_t i = 0; i < len; i++)
        buf_addf(out, "%02x", folded ? (unsigned)letter_folded((unsigned char)text[i]) : (unsigned char)text[i]);
}

/* Appends the key of a version, part by part: its class, then the length and digits of a number, or the bytes of letters and an end that is below
 * them all. */
static void version_key(struct buf *out, const char *at)
{
    for (;;) {
        struct version_part part = version_next(&at);

        buf_addf(out, "%d", part_class(&part));
        if (!part.len)
            return;
        if (part.number) {
            buf_addf(out, "%06zu", part.len);
            buf_add(out, part.text, part.len);
        } else {
            bytes_key(out, part.text, part.len, false);
            buf_addc(out, '!');
        }
    }
}

void grdl_value_key(struct buf *out, const struct grdl_value *value, bool folded)
{
    if (value->kind == GRDL_VERSION)
        version_key(out, value->text);
    else
        bytes_key(out, value->text, strlen(value->text), folded);
}

/* Inverts a key: each character becomes its opposite, and the end is above them all. */
void grdl_value_key_inverted(struct buf *out, const struct grdl_value *value)
{
    static const char order[] = "!0123456789abcdef", opposite[] = "fedcba9876543210!";
    size_t start = out->len;

    grdl_value_key(out, value, false);
    for (size_t i = start; i < out->len; i++)
        out->text[i] = opposite[strchr(order, out->text[i]) - order];
    buf_addc(out, 'g');
}
