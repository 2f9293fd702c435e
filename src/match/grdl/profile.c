/* profile.c: the profiles of a composition. */
#include "match/grdl/profile.h"

#include <string.h>

const char *const grdl_profile_words[3] = {"minimal", "full", "failure"};

void grdl_profile_done(struct grdl_profile *profile)
{
    if (profile)
        grdl_resources_done(&profile->parts);
}

/* Do the requirements of that resource count in that mode? */
static bool asks(enum grdl_mode mode, uint32_t which)
{
    return which > 0 || (mode != GRDL_ONE_WAY && mode != GRDL_PARTIAL);
}

static bool is_shared_mode(enum grdl_mode mode)
{
    return mode == GRDL_PARTIAL || mode == GRDL_PARTIAL_PEER;
}

/* Does the resource meet the requirement, as far as the mode asks? */
static bool meets(enum grdl_mode mode, const struct grdl_reading *by, const struct grdl_point *requirement)
{
    struct grdl_points chars = grdl_reading_chars(by, requirement->dimension);

    return (is_shared_mode(mode) && !chars.count) || grdl_req_met(requirement, chars, NULL);
}

static bool met_by_all(enum grdl_mode mode, const struct grdl_point *requirement,
                       const struct grdl_reading *const *readings, uint32_t count, uint32_t self)
{
    for (uint32_t i = 0; i < count; i++)
        if (i != self && !meets(mode, readings[i], requirement))
            return false;
    return true;
}

static bool is_composition(enum grdl_mode mode, const struct grdl_reading *const *readings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; asks(mode, i) && j < readings[i]->req_count; j++)
            if (!met_by_all(mode, &readings[i]->reqs[j], readings, count, i))
                return false;
    return true;
}

static bool used_by_any(enum grdl_mode mode, const struct grdl_point *characteristic,
                        const struct grdl_reading *const *readings, uint32_t count, uint32_t self)
{
    for (uint32_t i = 0; i < count; i++)
        if (i != self && asks(mode, i) && grdl_char_used(characteristic, readings[i]))
            return true;
    return false;
}

static void part_add_char(struct grdl_resource *part, const struct grdl_char *from)
{
    grdl_add_char(part, from->dimension, from->type, from->text, NULL);
}

static void part_add_req(struct grdl_resource *part, const struct grdl_char *from, enum grdl_operator match)
{
    grdl_add_req(part, from->dimension, match, from->type, from->text, NULL);
}

/* Finds the point that was made of what was written: points are in another order. */
static const struct grdl_point *point_of(const struct grdl_point *points, uint32_t count, const struct grdl_char *from)
{
    for (uint32_t i = 0; i < count; i++)
        if (points[i].from == from)
            return &points[i];
    return NULL;
}

/* Makes the part of resource `self`: what that kind of profile keeps, in the order in which it was written. Defaults are kept too, so that the
 * types stay. */
static struct grdl_resource *part_make(enum grdl_profile_kind kind, enum grdl_mode mode,
                                       const struct grdl_reading *const *readings, uint32_t count, uint32_t self)
{
    const struct grdl_reading *reading = readings[self];
    const struct grdl_resource *from = reading->resource;
    struct grdl_resource *part = grdl_resource_new(from->class_name, from->name);

    for (uint32_t i = 0; i < from->default_count; i++)
        grdl_add_default(part, from->defaults[i].dimension, from->defaults[i].type, NULL);
    for (uint32_t i = 0; i < from->char_count; i++) {
        const struct grdl_point *point = point_of(reading->chars, reading->char_count, &from->chars[i]);

        if (kind == GRDL_PROFILE_FULL ||
            (kind == GRDL_PROFILE_MINIMAL && used_by_any(mode, point, readings, count, self)))
            part_add_char(part, &from->chars[i]);
    }
    for (uint32_t i = 0; i < from->req_count; i++) {
        const struct grdl_point *point = point_of(reading->reqs, reading->req_count, &from->reqs[i].at);

        if (kind == GRDL_PROFILE_FULL ||
            (kind == GRDL_PROFILE_FAILURE && asks(mode, self) && !met_by_all(mode, point, readings, count, self)))
            part_add_req(part, &from->reqs[i].at, from->reqs[i].match);
    }
    return part;
}

int grdl_profile_make(enum grdl_profile_kind kind, enum grdl_mode mode, const struct grdl_reading *const *readings,
                      uint32_t count, struct grdl_profile *ret_profile, struct err *err)
{
    bool composed = is_composition(mode, readings, count);

    if (!asks(mode, 0) && count != 2)
        return err_set(err, "a match of one way is between two resources, not %u", count);
    if (composed && kind == GRDL_PROFILE_FAILURE)
        return err_set(err, "they match: there is no failure to tell about");
    if (!composed && kind != GRDL_PROFILE_FAILURE)
        return err_set(err, "they do not match: there is no %s profile", grdl_profile_words[kind]);
    ret_profile->kind = kind;
    grdl_resources_init(&ret_profile->parts);
    for (uint32_t i = 0; i < count; i++)
        grdl_resources_take(&ret_profile->parts, part_make(kind, mode, readings, count, i));
    return 0;
}
