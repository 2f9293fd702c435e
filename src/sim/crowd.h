/* crowd.h: all the users of a large world as one role: it submits jobs to customers, and again when no answer comes.
 *
 * Like user.h this is not a role of the pool; it does nothing but submit. */
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
    int64_t at; /* when the submission was made, true time */
    bool known; /* the customer has the submission, durably */
};

struct crowd_list {
    struct crowd_submission *items;
    uint32_t count, room;
    uint32_t sent; /* so many, from the first on, have been sent */
    uint64_t refused;
};

/* Adds a submission, which the next wake sends. */
void crowd_add(struct crowd_list *list, const struct crowd_submission *submission);

/* The key of a submission names its place in the list. */
void crowd_key(struct text *ret, uint32_t place);
uint32_t crowd_place(const struct text *key); /* UINT32_MAX: not a key of the crowd */

extern const struct role_kind
    crowd_role; /* settings: struct crowd_list, which it changes: a wake sends the submissions in it */

#ifdef __cplusplus
}
#endif
#endif
