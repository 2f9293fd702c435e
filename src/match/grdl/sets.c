/* sets.c: the set relations between readings.
 *
 * Characteristics and requirements lie sorted by dimension, so two resources are compared by going through both once. */
#include "match/grdl/sets.h"

static bool chars_have(struct grdl_points chars, const struct grdl_value *value)
{
    for (uint32_t i = 0; i < chars.count; i++)
        if (grdl_same_value(&chars.items[i].value, value))
            return true;
    return false;
}

static bool chars_compare(const struct grdl_reading *a, const struct grdl_reading *b, bool shared)
{
    for (uint32_t i = 0; i < a->char_count; i++) {
        struct grdl_points there = grdl_reading_chars(b, a->chars[i].dimension);

        if (shared && !there.count)
            continue;
        if (!chars_have(there, &a->chars[i].value))
            return false;
    }
    return true;
}

bool grdl_chars_within(const struct grdl_reading *a, const struct grdl_reading *b)
{
    return chars_compare(a, b, false);
}

bool grdl_chars_within_shared(const struct grdl_reading *a, const struct grdl_reading *b)
{
    return chars_compare(a, b, true);
}

bool grdl_reqs_within(const struct grdl_reading *a, const struct grdl_reading *b)
{
    for (uint32_t i = 0; i < a->req_count; i++) {
        bool found = false;

        for (uint32_t j = 0; j < b->req_count && !found; j++)
            found = a->reqs[i].dimension == b->reqs[j].dimension && grdl_req_in_req(&a->reqs[i], &b->reqs[j]);
        if (!found)
            return false;
    }
    return true;
}

bool grdl_space_within(const struct grdl_reading *a, const struct grdl_reading *b)
{
    for (uint32_t j = 0; j < b->req_count; j++) {
        bool found = false;

        for (uint32_t i = 0; i < a->req_count && !found; i++)
            found = a->reqs[i].dimension == b->reqs[j].dimension && grdl_req_in_req(&a->reqs[i], &b->reqs[j]);
        if (!found)
            return false;
    }
    return true;
}

/* The end of the points that are in the same dimension as that at `first`. */
static uint32_t dimension_end(const struct grdl_point *points, uint32_t count, uint32_t first)
{
    uint32_t end = first;

    while (end < count && points[end].dimension == points[first].dimension)
        end++;
    return end;
}

/* Goes through the requirements of `b` with the characteristics of `a` beside them, until one is not met. */
static const struct grdl_point *unmet_find(const struct grdl_reading *a, const struct grdl_reading *b, bool shared,
                                           struct grdl_counts *counts)
{
    uint32_t at = 0;

    if (counts)
        counts->pairs++;
    for (uint32_t j = 0; j < b->req_count; j++) {
        const struct grdl_point *requirement = &b->reqs[j];
        struct grdl_points chars = {0};

        while (at < a->char_count && a->chars[at].dimension < requirement->dimension)
            at++;
        if (at < a->char_count && a->chars[at].dimension == requirement->dimension)
            chars = (struct grdl_points){a->chars + at, dimension_end(a->chars, a->char_count, at) - at};
        if (shared && !chars.count)
            continue;
        if (!grdl_req_met(requirement, chars, counts))
            return requirement;
    }
    return NULL;
}

const struct grdl_point *grdl_first_unmet(const struct grdl_reading *a, const struct grdl_reading *b,
                                          struct grdl_counts *counts)
{
    return unmet_find(a, b, false, counts);
}

bool grdl_matches(const struct grdl_reading *a, const struct grdl_reading *b, struct grdl_counts *counts)
{
    return !unmet_find(a, b, false, counts);
}

bool grdl_matches_shared(const struct grdl_reading *a, const struct grdl_reading *b, struct grdl_counts *counts)
{
    return !unmet_find(a, b, true, counts);
}

bool grdl_req_met_by(const struct grdl_point *requirement, const struct grdl_reading *a, struct grdl_counts *counts)
{
    return grdl_req_met(requirement, grdl_reading_chars(a, requirement->dimension), counts);
}

/* Does the requirement say "none of them": no characteristic is in it? */
static bool is_absence(const struct grdl_point *requirement)
{
    return requirement->value.kind == GRDL_UNSPECIFIED &&
           (requirement->match == GRDL_NE || requirement->match == GRDL_SET_NE);
}

bool grdl_char_used(const struct grdl_point *characteristic, const struct grdl_reading *b)
{
    for (uint32_t j = 0; j < b->req_count; j++)
        if (b->reqs[j].dimension == characteristic->dimension && !is_absence(&b->reqs[j]) &&
            grdl_char_in_req(characteristic, &b->reqs[j]))
            return true;
    return false;
}
