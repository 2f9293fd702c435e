/* crowd.h: all the users of a large world as one role: submits jobs to customers, again when no answer came.
 *
 * No role of the pool, as user.h; this one does nothing but submit. */
#ifndef BERTH_SIM_CROWD_H
#define BERTH_SIM_CROWD_H

#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crowd_submission {
    agent customer;
    const char *owner;
    struct tree *ad; /* borrowed */
    uint32_t shape;
    uint32_t count;
    int64_t at; /* when it was made, true time */
    bool known; /* the customer has it, durably */
};

struct crowd_list {
    struct crowd_submission *items;
    uint32_t count, room;
    uint32_t sent; /* so many of the first */
    uint64_t refused;
};

/* It is sent with the next wake. */
void crowd_add(struct crowd_list *list, const struct crowd_submission *submission);

/* A key names its place in the list. */
void crowd_key(struct text *ret, uint32_t place);
uint32_t crowd_place(const struct text *key); /* UINT32_MAX: no key of the crowd's */

extern const struct role_kind
    crowd_role; /* settings: struct crowd_list, which is changed: a wake sends what stands in it */

#ifdef __cplusplus
}
#endif
#endif
