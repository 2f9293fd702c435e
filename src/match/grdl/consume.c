/* consume.c: what is left of a resource when another has taken its part. */
#include "match/grdl/consume.h"

#include "lang/base/buf.h"
#include "match/grdl/matcher.h"

#include <string.h>

/* Finds the characteristic in a dimension, if there is exactly one and it is a number. */
static const struct grdl_point *number_find(const struct grdl_reading *reading, const char *dimension, bool *ret_none)
{
    struct grdl_points chars = grdl_reading_chars(reading, grdl_consumer_find(reading->consumer, dimension));

    *ret_none = !chars.count;
    return chars.count == 1 && chars.items[0].value.kind == GRDL_NUMBER ? &chars.items[0] : NULL;
}

static int consume_one(const struct grdl_reading *provider, const struct grdl_reading *by,
                       const struct grdl_consumable *row, struct grdl_resource *left, struct err *err)
{
    bool none, takes_none;
    const struct grdl_point *has = number_find(provider, row->of, &none);
    const struct grdl_point *takes = number_find(by, row->by, &takes_none);
    const char *type;
    struct buf text;
    double number;

    if (none || takes_none)
        return 0;
    if (!has || !takes)
        return err_set(err, "%s is consumed by %s: each must be one number", row->of, row->by);
    if (!grdl_comparable(&has->value, &takes->value))
        return err_set(err, "%s is consumed by %s: the two are not comparable", row->of, row->by);
    number = has->value.number - takes->value.number;
    if (number < 0)
        return err_set(err, "%s: there is less than %s takes", row->of, row->by);
    type = has->value.type_name;
    buf_init(&text);
    grdl_number_print(provider->consumer, number, type, &text);
    grdl_set_value(left, &left->chars[has->from - provider->resource->chars], type, buf_string(&text));
    buf_done(&text);
    return 0;
}

struct grdl_resource *grdl_consume(const struct grdl_reading *provider, const struct grdl_reading *by,
                                   const struct grdl_consumable *rows, uint32_t count, struct err *err)
{
    struct grdl_resource *left = grdl_resource_copy(provider->resource, NULL, NULL);

    for (uint32_t i = 0; i < count; i++)
        if (consume_one(provider, by, &rows[i], left, err)) {
            grdl_resource_free(left);
            return NULL;
        }
    return left;
}

/* ---- blocks of time ---- */

/* Finds the requirement in a dimension that is a bound to that side; NULL unless there is exactly one. */
static const struct grdl_point *bound_find(const struct grdl_reading *reading, const char *dimension,
                                           enum grdl_operator a, enum grdl_operator b)
{
    uint32_t number = grdl_consumer_find(reading->consumer, dimension);
    const struct grdl_point *found = NULL;

    for (uint32_t i = 0; i < reading->req_count; i++) {
        const struct grdl_point *req = &reading->reqs[i];

        if (req->dimension != number || (req->match != a && req->match != b))
            continue;
        if (found)
            return NULL;
        found = req;
    }
    return found;
}

static const struct grdl_point *time_find(const struct grdl_reading *reading, const char *dimension)
{
    struct grdl_points chars = grdl_reading_chars(reading, grdl_consumer_find(reading->consumer, dimension));

    return chars.count == 1 ? &chars.items[0] : NULL;
}

static bool is_time(const struct grdl_point *point)
{
    return point && (point->value.kind == GRDL_NUMBER || point->value.kind == GRDL_DATE);
}

/* Adds the executor with `bound` moved to the time `to` of the task. */
static void window_publish(const struct grdl_reading *executor, const struct grdl_point *bound,
                           const struct grdl_point *to, struct grdl_resources *left)
{
    struct grdl_resource *copy = grdl_resource_copy(executor->resource, NULL, NULL);

    for (uint32_t i = 0; i < copy->req_count; i++)
        if (&executor->resource->reqs[i].at == bound->from)
            grdl_set_value(copy, &copy->reqs[i].at, to->from->type ? to->from->type : to->value.type_name,
                           to->from->text);
    grdl_resources_take(left, copy);
}

int grdl_reserve(const struct grdl_reading *executor, const struct grdl_reading *task, const struct grdl_block *block,
                 double shortest, struct grdl_resources *ret_left, struct err *err)
{
    const struct grdl_point *from = bound_find(executor, block->start, GRDL_GE, GRDL_GT);
    const struct grdl_point *until = bound_find(executor, block->end, GRDL_LE, GRDL_LT);
    const struct grdl_point *start = time_find(task, block->start), *end = time_find(task, block->end);
    double before, behind;

    if (!is_time(from) || !is_time(until))
        return err_set(err, "the executor does not require one time from which %s and one up to which %s may be",
                       block->start, block->end);
    if (!is_time(start) || !is_time(end))
        return err_set(err, "the task does not have one time each as %s and %s", block->start, block->end);
    if (start->value.number >= end->value.number)
        return err_set(err, "the task ends before it starts");
    if (!grdl_pair(GRDL_PEER, executor, task, NULL))
        return err_set(err, "the task and the executor do not match");
    grdl_resources_init(ret_left);
    before = start->value.number - from->value.number;
    behind = until->value.number - end->value.number;
    if (before > 0 && before >= shortest)
        window_publish(executor, until, start, ret_left);
    if (behind > 0 && behind >= shortest)
        window_publish(executor, from, end, ret_left);
    return 0;
}
