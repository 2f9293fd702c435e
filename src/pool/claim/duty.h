/* duty.h: what the members of a gang are to run, and by what right they ask the customer for the job's files: as both come down from the root.
 *
 *     root     START ad=job                    its pass
 *      |- machine
 *      '- service    START ad=job without what it runs; no pass
 *          '- machine    START ad=service, customer=root; asks the root:  TASK -> TASKED ad=job, its pass
 *
 * The gang's key never leaves the customer. From it each member that runs the job gets a pass of its own, which is good for that agent alone: the
 * *leader* (gangs.md), whose leavings are the job's, gets one kind, and the others another, which lets them read inputs and write nothing.
 * The job's ad and the pass go from the customer to the member itself; the members in between can neither learn nor change them. A member
 * that runs nothing is told only what its port needs of the job. */
#ifndef BERTH_POOL_CLAIM_DUTY_H
#define BERTH_POOL_CLAIM_DUTY_H

#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

struct duty {
    struct tree *ad; /* of the job at the root; NULL: the superior's ad is the job's */
    agent customer;  /* the agent at the root; 0: the superior is */
    uint64_t
        line; /* the claim by which the customer knows the try: the claim of its own member that leads. 0: it is ours */
    struct key pass; /* at the root the gang's key; zero: there is none */
    bool helps;      /* another member is the leader */
    bool idle;       /* nothing runs here or below, whatever our own ad says: the superior's port does not want it */
};

/* Draws the key of a gang that is being decided. */
void duty_pass_draw(const struct secrets *secrets, struct key *ret);
/* The pass of that agent, made from the gang's key. */
void duty_pass_for(const struct secrets *secrets, const struct key *key, agent who, bool helps, struct key *ret);
/* The pass of all helpers of a gang, as it was made from the leader's pass before passes were bound to agents. */
void duty_pass_help(const struct secrets *secrets, const struct key *pass, struct key *ret);

/* The member that a duty is handed to. */
struct duty_heir {
    uint64_t claim;
    agent who;
    bool leads;    /* its result is its superior's result */
    bool executes; /* the member runs the job itself */
    bool idle;     /* it, or a member below it, would run the job, but must not */
};

/* The duty that a party with `ours` hands on; all references are borrowed. A root's own duty has neither ad nor
 * customer. */
struct duty duty_hand(const struct secrets *secrets, const struct duty *ours, const struct duty_heir *heir);

/* The ad of the job, or of the superior, as a member at that port may see it that does not run the job (DUTY_NO_PORT: a
 * member further below). `link` is as in port_runs. The caller unrefs it. */
#define DUTY_NO_PORT UINT64_MAX
struct tree *duty_withhold(struct tree *ad, uint64_t port, uint64_t link);

bool pass_is_none(const struct key *pass);

#ifdef __cplusplus
}
#endif
#endif
