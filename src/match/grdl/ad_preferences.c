/* ad_preferences.c: preferences as a list of components, two each, larger ones better:
 *
 *     how good    0 the candidate is what is wanted, -1 it has other values, -2 only values that cannot be compared, -3 it has none
 *     how much    among those with 0, by value or distance; else 0
 *
 * A name that may be missing is guarded with `is undefined`, so no component is undefined or error. */
#include "match/grdl/ad_parts.h"

struct pref_writer {
    struct buf *out;
    const struct grdl_reading *reading;
    const struct grdl_point *pref;
    struct buf group; /* "other." and the beginning of the names of the values that are compared */
    struct buf value, has;
};

static const char *group(struct pref_writer *writer)
{
    return buf_string(&writer->group);
}

static bool is_number(const struct grdl_value *value)
{
    return value->kind == GRDL_NUMBER || value->kind == GRDL_DATE;
}

/* Writes the tiers of candidates that are not what is wanted: other values, incomparable ones, none. */
static void rest_write(struct pref_writer *writer, bool comparable)
{
    buf_addf(writer->out, "%s is undefined ? -3 : ", buf_string(&writer->has));
    if (comparable)
        buf_addf(writer->out, "%s_lo is undefined ? -2 : ", group(writer));
    buf_adds(writer->out, "-1");
}

/* Writes = and != without a value. */
static void presence_write(struct pref_writer *writer)
{
    bool wanted = writer->pref->match == GRDL_EQ;

    buf_addf(writer->out, "(%s is undefined ? %d : %d), 0", buf_string(&writer->has), wanted ? -1 : 0, wanted ? 0 : -1);
}

/* Writes = and != with a value. */
static void membership_write(struct pref_writer *writer)
{
    buf_adds(writer->out, "(((");
    if (writer->pref->match == GRDL_NE)
        buf_addf(writer->out, "%s_lo != %s || %s_hi != %s", group(writer), buf_string(&writer->value), group(writer),
                 buf_string(&writer->value));
    else
        ad_equal_print(writer->out, writer->reading, writer->pref, false);
    buf_adds(writer->out, ") is true) ? 0 : ");
    rest_write(writer, false);
    buf_adds(writer->out, "), 0");
}

/* Writes < <= > >= without a value: the lowest first, or the highest. */
static void extreme_write(struct pref_writer *writer)
{
    bool above = writer->pref->match == GRDL_GT || writer->pref->match == GRDL_GE;
    const char *end = above ? "_hi" : "_ilo";

    struct buf none; /* there is nothing of the type */

    buf_init(&none);
    buf_addf(&none, "%s%s is undefined", group(writer), end);
    if (writer->pref->value.type != GRDL_TYPE_NONE) {
        buf_adds(&none, " || other.");
        ad_dimension_name(&none, writer->reading, writer->pref, "has", true);
        buf_adds(&none, " is undefined");
    }
    buf_addf(writer->out, "((%s) ? (%s is undefined ? -3 : -2) : 0)", buf_string(&none), buf_string(&writer->has));
    buf_addf(writer->out, ", ((%s) ? 0 : %s%s)", buf_string(&none), group(writer), end);
    buf_done(&none);
}

/* Writes < <= > >= with a value: the nearest on that side first. Of two values, the one at the far end may be on the other side. */
static void nearest_write(struct pref_writer *writer)
{
    bool above = writer->pref->match == GRDL_GT || writer->pref->match == GRDL_GE;
    const char *sign = grdl_operators[writer->pref->match].sign, *value = buf_string(&writer->value);
    const char *near = above ? "_lo" : "_hi", *far = above ? "_hi" : "_lo";
    bool number = is_number(&writer->pref->value);
    const char *minus = above && number ? "-" : "", *mark = above && !number ? "_i" : "_";

    buf_addf(writer->out, "((%s%s %s %s) is true ? 0 : ", group(writer), far, sign, value);
    rest_write(writer, true);
    buf_addf(writer->out, "), ((%s%s %s %s) is true ? %s%s%s%s : (%s%s %s %s) is true ? %s%s%s%s : 0)", group(writer),
             near, sign, value, minus, group(writer), mark, near + 1, group(writer), far, sign, value, minus,
             group(writer), mark, far + 1);
}

/* Writes >< and <>: by the distance to the nearer, or the farther, of the smallest and the largest. */
static void distance_write(struct pref_writer *writer)
{
    const char *value = buf_string(&writer->value);
    bool close = writer->pref->match == GRDL_CLOSE;
    struct buf low, high;

    buf_init(&low);
    buf_init(&high);
    buf_addf(&low, "(%s_lo > %s ? %s_lo - %s : %s - %s_lo)", group(writer), value, group(writer), value, value,
             group(writer));
    buf_addf(&high, "(%s_hi > %s ? %s_hi - %s : %s - %s_hi)", group(writer), value, group(writer), value, value,
             group(writer));
    buf_addf(writer->out, "(%s_lo is undefined ? (%s is undefined ? -3 : -2) : 0)", group(writer),
             buf_string(&writer->has));
    buf_addf(writer->out, ", (%s_lo is undefined ? 0 : ", group(writer));
    buf_addf(writer->out, "%s %s %s ? ", buf_string(&low), close ? "<" : ">", buf_string(&high));
    buf_addf(writer->out, close ? "-%s : -%s)" : "%s : %s)", buf_string(&low), buf_string(&high));
    buf_done(&low);
    buf_done(&high);
}

static void preference_write(struct pref_writer *writer)
{
    const struct grdl_point *pref = writer->pref;
    bool valued = pref->value.kind != GRDL_UNSPECIFIED;
    bool distance = pref->match == GRDL_CLOSE || pref->match == GRDL_FAR;

    buf_reset(&writer->group);
    buf_reset(&writer->value);
    buf_reset(&writer->has);
    buf_adds(&writer->group, "other.");
    buf_adds(&writer->has, "other.");
    ad_dimension_name(&writer->has, writer->reading, pref, "has", false);
    if (valued) {
        ad_group_name(&writer->group, writer->reading, pref, false);
        ad_value_print(&writer->value, &pref->value, false);
    } else { /* whatever kind it is */
        ad_dimension_name(&writer->group, writer->reading, pref, "one", false);
    }
    if (!valued && (pref->match == GRDL_EQ || pref->match == GRDL_NE))
        presence_write(writer);
    else if (!valued && distance)
        buf_addf(writer->out, "(%s is undefined ? -3 : -2), 0", buf_string(&writer->has));
    else if (!valued)
        extreme_write(writer);
    else if (distance && is_number(&pref->value))
        distance_write(writer);
    else if (distance || pref->match == GRDL_EQ || pref->match == GRDL_NE)
        membership_write(writer);
    else
        nearest_write(writer);
}

void ad_preferences_print(struct buf *out, const struct grdl_reading *reading)
{
    struct pref_writer writer = {.out = out, .reading = reading};

    if (!reading->pref_count)
        return;
    buf_init(&writer.group);
    buf_init(&writer.value);
    buf_init(&writer.has);
    buf_adds(out, "; Preferences = { ");
    for (uint32_t i = 0; i < reading->pref_count; i++) {
        buf_adds(out, i ? ", " : "");
        writer.pref = &reading->prefs[i];
        preference_write(&writer);
    }
    buf_adds(out, " }; Rank = Preferences[0] == 0 ? Preferences[1] : 1.0e300 * (Preferences[0] - 1)");
    buf_done(&writer.group);
    buf_done(&writer.value);
    buf_done(&writer.has);
}
