/* duty.h: what the members of a gang are to run, and by what right they ask the customer for its files: as it comes down from the root.
 *
 *     root     START ad=job                    pass P, or that of helpers
 *      |- machine                              the leader of a pair needs none: the customer knows its claim
 *      '- service    START ad=service, task=job
 *          '- machine                          runs the job; is charged to the root's owner; asks the root
 *
 * Only the *leader* (gangs.md) has P: what it leaves is what the job leaves. The others get another pass, made from P, by which inputs can be
 * read and nothing be written. Who runs nothing, and has nobody below who does, gets none. */
#ifndef BERTH_POOL_DUTY_H
#define BERTH_POOL_DUTY_H

#include "pool/role.h"

#ifdef __cplusplus
extern "C" {
#endif

struct duty {
    struct tree *ad; /* of the job at the root; NULL: it is the superior's */
    agent customer;  /* at the root; 0: it is the superior */
    uint64_t
        line; /* the claim by which the customer knows the try: the one of its own member that leads. 0: it is ours */
    struct key pass; /* zero: there is none */
    bool helps;      /* another one is the leader */
};

/* Of a gang that is being decided. */
void duty_pass_draw(const struct secrets *secrets, struct key *ret);
/* Made from the leader's pass. */
void duty_pass_help(const struct secrets *secrets, const struct key *pass, struct key *ret);

/* To whom it is handed. */
struct duty_heir {
    uint64_t claim;
    bool leads;    /* what it ends with is what its superior has ended with */
    bool executes; /* itself, or one below it */
    bool deep;     /* somebody is below it */
};

/* What a party with that duty hands on; all references are borrowed. That of a root has neither ad nor customer. */
struct duty duty_hand(const struct secrets *secrets, const struct duty *ours, const struct duty_heir *heir);

bool pass_is_none(const struct key *pass);

#ifdef __cplusplus
}
#endif
#endif
