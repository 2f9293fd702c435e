/* ad_names.c: the names and values by which ads of resources see each other.
 *
 * Names in ads ignore case and have only letters, digits and '_'; so all but small letters and digits are written as '_' and two hexadecimal
 * digits, and "__" stands only where we put it. */
#include "match/grdl/ad_parts.h"

#include "lang/text/print.h"

#include <string.h>

#define AD_FLAG_KEY_MAX 128 /* a longer value is looked for in the list of all */

static void name_escape(struct buf *out, const char *name)
{
    for (; *name; name++)
        if ((*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9'))
            buf_addc(out, *name);
        else
            buf_addf(out, "_%02x", (unsigned)(unsigned char)*name);
}

static void dimension_begin(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point)
{
    buf_adds(out, "G_");
    name_escape(out, grdl_consumer_dimension(reading->consumer, point->dimension));
    buf_adds(out, "__");
}

void ad_group_name(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point, bool folded)
{
    static const char letters[] = {
        [GRDL_UNSPECIFIED] = 'u', [GRDL_NUMBER] = 'n', [GRDL_TEXT] = 't', [GRDL_VERSION] = 'v', [GRDL_DATE] = 'd'};

    dimension_begin(out, reading, point);
    buf_addc(out, folded ? 'f' : letters[point->value.kind]);
    name_escape(out, grdl_consumer_type(reading->consumer, point->value.type));
}

void ad_dimension_name(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point,
                       const char *suffix, bool typed)
{
    dimension_begin(out, reading, point);
    buf_adds(out, suffix);
    if (typed)
        name_escape(out, grdl_consumer_type(reading->consumer, point->value.type));
}

static bool is_number(const struct grdl_value *value)
{
    return value->kind == GRDL_NUMBER || value->kind == GRDL_DATE;
}

void ad_value_print(struct buf *out, const struct grdl_value *value, bool folded)
{
    if (is_number(value)) {
        print_real(out, value->number);
        return;
    }
    buf_addc(out, '"');
    grdl_value_key(out, value, folded);
    buf_addc(out, '"');
}

void ad_value_print_inverted(struct buf *out, const struct grdl_value *value)
{
    if (is_number(value)) {
        print_real(out, value->number ? -value->number : 0);
        return;
    }
    buf_addc(out, '"');
    grdl_value_key_inverted(out, value);
    buf_addc(out, '"');
}

/* Equal values have equal keys: numbers by their bits. */
bool ad_value_flag(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point, bool folded)
{
    struct buf key;
    bool fits;

    buf_init(&key);
    if (is_number(&point->value)) {
        double number = point->value.number ? point->value.number : 0; /* there is one zero */
        uint64_t bits;

        memcpy(&bits, &number, sizeof bits);
        buf_addf(&key, "%016llx", (unsigned long long)bits);
    } else {
        grdl_value_key(&key, &point->value, folded);
    }
    fits = key.len <= AD_FLAG_KEY_MAX;
    if (fits) {
        ad_group_name(out, reading, point, folded);
        buf_adds(out, "_is_");
        for (size_t i = 0; i < key.len; i++) /* '!' has no place in a name, and nothing else is an x */
            buf_addc(out, key.text[i] == '!' ? 'x' : key.text[i]);
    }
    buf_done(&key);
    return fits;
}

void ad_equal_print(struct buf *out, const struct grdl_reading *reading, const struct grdl_point *point, bool folded)
{
    struct buf name, value;

    buf_init(&name);
    buf_init(&value);
    if (ad_value_flag(&name, reading, point, folded)) {
        buf_addf(out, "other.%s == true", buf_string(&name));
        buf_done(&name);
        return;
    }
    ad_group_name(&name, reading, point, folded);
    ad_value_print(&value, &point->value, folded);
    buf_addf(out, "other.%s_lo <= %s && other.%s_hi >= %s", buf_string(&name), buf_string(&value), buf_string(&name),
             buf_string(&value));
    buf_addf(out, " && (other.%s_lo == %s || other.%s_hi == %s || member(%s, other.%s_all))", buf_string(&name),
             buf_string(&value), buf_string(&name), buf_string(&value), buf_string(&value), buf_string(&name));
    buf_done(&name);
    buf_done(&value);
}
