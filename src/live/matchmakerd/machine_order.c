/* machine_order.c: machines in the order of their names. */
#include "live/matchmakerd/machine_order.h"

#include "lang/ad/get.h"
#include "lang/base/array.h"
#include "lang/base/natural.h"

#include <stdlib.h>

static void place_add(struct machine_order *order, const struct machine_view *view)
{
    struct machine_place place = {.of = view->agent, .id = view->id};
    const char *name;

    if (ad_string(view->whole, "Name", &name, &place.len))
        buf_add(&order->names, name, place.len);
    else
        place.len = 0;
    ARRAY_ROOM(order->items, order->count, order->room, 64);
    order->items[order->count++] = place;
}

static int places_compare(const void *a, const void *b)
{
    const struct machine_place *one = a, *other = b;
    int order = natural_compare(one->name, one->len, other->name, other->len);

    if (!order)
        order = (one->of > other->of) - (one->of < other->of);
    return order ? order : (one->id > other->id) - (one->id < other->id);
}

void machine_order_make(struct machine_order *order, const struct matchmaker *matchmaker)
{
    struct machine_view view;
    const char *name;

    *order = (struct machine_order){.made = true, .sorted = matchmaker_machines(matchmaker) <= MACHINE_ORDER_MAX};
    buf_init(&order->names);
    for (uint32_t from = 0; order->sorted && matchmaker_next_machine(matchmaker, from, &view, &from);)
        place_add(order, &view);
    name = buf_string(&order->names); /* which does not move any more */
    for (uint32_t i = 0; i < order->count; i++) {
        order->items[i].name = name;
        name += order->items[i].len;
    }
    if (order->count)
        qsort(order->items, order->count, sizeof *order->items, places_compare);
}

void machine_order_done(struct machine_order *order)
{
    if (!order->made)
        return;
    free(order->items);
    buf_done(&order->names);
}

bool machine_order_next(const struct machine_order *order, const struct matchmaker *matchmaker, uint32_t from,
                        struct machine_view *ret, uint32_t *ret_next)
{
    if (!order->sorted)
        return matchmaker_next_machine(matchmaker, from, ret, ret_next);
    for (uint32_t i = from; i < order->count; i++)
        if (matchmaker_find_machine(matchmaker, order->items[i].of, order->items[i].id, ret)) {
            *ret_next = i + 1;
            return true;
        }
    return false;
}
