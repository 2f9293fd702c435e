/* attempt_members.h: the members of a gang that run a try of a job together: who they are, and what each of them has told at its end.
 *
 *     Processes = 3     0: the leader, whose outputs are the job's     1, 2: each sends what it has written, stdout.1, stderr.1, ...
 *
 * They are kept with the try, for their files come when the gang may be gone. */
#ifndef BERTH_LIVE_CUSTOMERD_ATTEMPT_MEMBERS_H
#define BERTH_LIVE_CUSTOMERD_ATTEMPT_MEMBERS_H

#include "lang/ad/make.h"
#include "pool/customer/customer.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ATTEMPT_MEMBERS_MAX 256 /* in a gang */

struct attempt_member {
    agent who;
    char *name;     /* of its machine; owned, or NULL */
    bool finished;  /* all that it has written is here */
    bool ended;     /* it has ended by itself, ... */
    int64_t status; /* ... with this status */
    double cpu;     /* seconds */
    int64_t memory; /* bytes, at the most */
};

struct attempt_members {
    struct attempt_member *items; /* by number; owned */
    uint32_t count;               /* 0: one alone runs it */
};

void attempt_members_done(struct attempt_members *members);

/* Takes who they are from the role, once. */
void attempt_members_fill(struct attempt_members *members, const struct member_view *from, uint32_t count);

/* The member of that number, if it is at that agent and not the leader; else NULL. */
struct attempt_member *attempt_members_find(const struct attempt_members *members, int64_t number, agent who);

/* How many beside the leader have not sent all that they have written. */
uint32_t attempt_members_due(const struct attempt_members *members);

/* Writes them as an attribute of a row, or for people; nothing where there are none. */
void attempt_members_put(const struct attempt_members *members, struct maker *maker, const char *name, bool row);
void attempt_members_load(struct attempt_members *members, const struct tree *ad, const char *name);

#ifdef __cplusplus
}
#endif
#endif
