/* machine_order.h: the machines of the pool in the order of their names, as one list of them needs it. */
#ifndef BERTH_LIVE_MATCHMAKERD_MACHINE_ORDER_H
#define BERTH_LIVE_MATCHMAKERD_MACHINE_ORDER_H

#include "lang/base/buf.h"
#include "pool/matchmaker/matchmaker.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MACHINE_ORDER_MAX 10000 /* machines that are put in order: some ten milliseconds of work, all at once */

struct machine_place {
    agent of;
    uint64_t id;
    const char *name; /* in `names` */
    size_t len;
};

struct machine_order {
    struct machine_place *items;
    uint32_t count, room;
    struct buf names;
    bool made, sorted; /* not sorted: there are too many of them */
};

/* Finds the machines that are known now. Of those with the same name the one of the smaller agent and id comes first. */
void machine_order_make(struct machine_order *order, const struct matchmaker *matchmaker);
void machine_order_done(struct machine_order *order);

/* The next machine from there on; those that have gone since are passed over. False: there is none. */
bool machine_order_next(const struct machine_order *order, const struct matchmaker *matchmaker, uint32_t from,
                        struct machine_view *ret, uint32_t *ret_next);

#ifdef __cplusplus
}
#endif
#endif
