/* space.c: requirement spaces that are empty.
 *
 * In each dimension there are requirements that one and the same characteristic must meet (all of them when the dimension has one value at most,
 * else the set-wise ones), and requirements that may each have a characteristic of its own. A common group is empty when two of its ranges do not
 * meet, or when they meet in one point that a third leaves out. */
#include "match/grdl/sets.h"

/* The requirements of one dimension. */
struct space {
    const struct grdl_point *reqs;
    uint32_t count;
    bool single;
    const struct grdl_point *a, *b; /* that contradict each other */
};

static bool is_absence(const struct grdl_point *requirement)
{
    return requirement->value.kind == GRDL_UNSPECIFIED &&
           (requirement->match == GRDL_NE || requirement->match == GRDL_SET_NE);
}

static bool is_common(const struct space *space, const struct grdl_point *requirement)
{
    return space->single || grdl_point_set_wise(requirement);
}

static bool contradict(struct space *space, const struct grdl_point *a, const struct grdl_point *b)
{
    space->a = a;
    space->b = b;
    return true;
}

/* Does "none of that type may be there" contradict a requirement that something is? */
static bool absence_contradicts(struct space *space, const struct grdl_point *absence)
{
    for (uint32_t i = 0; i < space->count; i++) {
        const struct grdl_point *other = &space->reqs[i];

        if (is_absence(other) || other->match == GRDL_SET_NE)
            continue;
        if (absence->value.type == GRDL_TYPE_NONE || absence->value.type == other->value.type)
            return contradict(space, absence, other);
    }
    return false;
}

static bool is_base(const struct grdl_point *requirement, enum grdl_operator base)
{
    return grdl_operators[requirement->match].base == base;
}

/* x >= V and x <= V leave V alone: does a third leave it out? Of the three, one at most may have a characteristic of its own. */
static bool point_left_out(struct space *space, const struct grdl_point *a, const struct grdl_point *b)
{
    unsigned own = !is_common(space, a) + !is_common(space, b);

    if (!(is_base(a, GRDL_GE) && is_base(b, GRDL_LE)) && !(is_base(a, GRDL_LE) && is_base(b, GRDL_GE)))
        return false;
    if (!grdl_value_holds(&a->value, GRDL_EQ, &b->value))
        return false;
    for (uint32_t i = 0; i < space->count; i++) {
        const struct grdl_point *third = &space->reqs[i];

        if (is_base(third, GRDL_NE) && own + !is_common(space, third) < 2 &&
            grdl_value_holds(&third->value, GRDL_EQ, &a->value))
            return contradict(space, a, third);
    }
    return false;
}

static bool pair_contradicts(struct space *space, const struct grdl_point *a, const struct grdl_point *b)
{
    if (is_absence(a) || is_absence(b))
        return false; /* looked at alone */
    if (!is_common(space, a) && !is_common(space, b))
        return false;
    if (!grdl_reqs_meet(a, b))
        return contradict(space, a, b);
    return point_left_out(space, a, b);
}

static bool space_empty(struct space *space)
{
    for (uint32_t i = 0; i < space->count; i++) {
        if (is_absence(&space->reqs[i]) && absence_contradicts(space, &space->reqs[i]))
            return true;
        for (uint32_t j = i + 1; j < space->count; j++)
            if (pair_contradicts(space, &space->reqs[i], &space->reqs[j]))
                return true;
    }
    return false;
}

bool grdl_space_empty(const struct grdl_reading *reading, const struct grdl_point **ret_a,
                      const struct grdl_point **ret_b)
{
    uint32_t first = 0;

    while (first < reading->req_count) {
        uint32_t end = first;
        struct space space = {.reqs = reading->reqs + first};

        while (end < reading->req_count && reading->reqs[end].dimension == reading->reqs[first].dimension)
            end++;
        space.count = end - first;
        space.single = grdl_consumer_is_single(reading->consumer, reading->reqs[first].dimension);
        if (space_empty(&space)) {
            if (ret_a)
                *ret_a = space.a;
            if (ret_b)
                *ret_b = space.b;
            return true;
        }
        first = end;
    }
    return false;
}
