/* duty.h: what the members of a gang are to run, and by what right they ask the customer for its files: as it comes down from the root.
 *
 *     root     START ad=job                    its pass
 *      |- machine
 *      '- service    START ad=job without what it runs; no pass
 *          '- machine    START ad=service, customer=root; asks the root:  TASK -> TASKED ad=job, its pass
 *
 * The gang's key never leaves the customer. From it each member that runs the job gets a pass of its own, which is good for that agent alone: the
 * *leader* (gangs.md), whose leavings are the job's, one kind, and the others another, by which inputs can be read and nothing be written. What
 * is to be run, and the pass, go from the customer to the member itself; who is in between learns and changes neither. Who runs nothing is told of
 * the job what its port needs. */
#ifndef BERTH_POOL_CLAIM_DUTY_H
#define BERTH_POOL_CLAIM_DUTY_H

#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

struct duty {
    struct tree *ad; /* of the job at the root; NULL: it is the superior's */
    agent customer;  /* at the root; 0: it is the superior */
    uint64_t
        line; /* the claim by which the customer knows the try: the one of its own member that leads. 0: it is ours */
    struct key pass; /* at the root the gang's key; zero: there is none */
    bool helps;      /* another one is the leader */
    bool idle; /* nothing is run here, nor below, whatever our own ad says: the superior's port does not want it */
};

/* Of a gang that is being decided. */
void duty_pass_draw(const struct secrets *secrets, struct key *ret);
/* The pass of that agent, made from the gang's key. */
void duty_pass_for(const struct secrets *secrets, const struct key *key, agent who, bool helps, struct key *ret);
/* That of all helpers of a gang, as it was made from the leader's before passes were bound to agents. */
void duty_pass_help(const struct secrets *secrets, const struct key *pass, struct key *ret);

/* To whom it is handed. */
struct duty_heir {
    uint64_t claim;
    agent who;
    bool leads;    /* what it ends with is what its superior has ended with */
    bool executes; /* itself */
    bool idle;     /* it would, or one below it, but is not to */
};

/* What a party with that duty hands on; all references are borrowed. That of a root has neither ad nor customer. */
struct duty duty_hand(const struct secrets *secrets, const struct duty *ours, const struct duty_heir *heir);

/* The ad of a job, or of whoever is above, for one at that port of it who does not run it (DUTY_NO_PORT: at none). `link` is
 * as port_runs has it. The caller unrefs it. */
#define DUTY_NO_PORT UINT64_MAX
struct tree *duty_withhold(struct tree *ad, uint64_t port, uint64_t link);

bool pass_is_none(const struct key *pass);

#ifdef __cplusplus
}
#endif
#endif
