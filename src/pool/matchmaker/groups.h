/* groups.h: groups of users with quotas: who may use which, what each has in use, and which comes first.
 *
 *     all ----------- <none>                  those outside every group: their quota is what the groups leave of the pool
 *      |------------- physics ------ physics, itself     its users who are in no group below it
 *      |                 `---------- physics.cms
 *      `------------- chemistry
 *
 * Each is a share of the engine, of the same number here and there. One that has used less than its quota (of claims that are active or
 * expected, by weight) is served before one that has not; among either, the one that has used the smallest part of its quota; at each
 * level. One at its quota that may not take surplus is a gate that is closed, until it falls below.
 *
 * A user's account in a group is of its own: physics~alice. */
#ifndef BERTH_POOL_MATCHMAKER_GROUPS_H
#define BERTH_POOL_MATCHMAKER_GROUPS_H

#include "pool/engine/engine.h"
#include "pool/matchmaker/shares.h"
#include "pool/protocol/fields.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GROUPS_MARK '~' /* between group and user in an account's name: in neither of them */
#define GROUPS_SHARES_MAX (2 * SHARES_GROUPS_MAX + 2) /* their gates have numbers below */

struct group {
    char *name;      /* "" for all; "<none>"; of `itself`: that of the group */
    uint32_t parent; /* its number is smaller */
    uint32_t row;    /* of the shares; of all and <none>: UINT32_MAX */
    bool leaf, itself;
    bool surplus;
    double quota; /* units, as the pool is */
    int64_t used; /* thousandths of units */
};

struct groups {
    struct engine *engine;
    struct shares shares; /* what the administrator said */
    struct group *items;  /* one leaf without a name when there are no groups */
    uint32_t count;
    double pool; /* units */
};

void groups_init(struct groups *groups, struct engine *engine);
void groups_done(struct groups *groups);

/* Other groups hold from now on; the rows are taken over. What was in use has to be told anew, and whose share is which. */
void groups_set(struct groups *groups, struct shares *shares);

/* The pool has that many units: quotas that are parts of it follow. */
void groups_resize(struct groups *groups, int64_t weight);

enum groups_reason {
    GROUPS_OK,
    GROUPS_UNKNOWN, /* there is no such group */
    GROUPS_REFUSED, /* the user may not use it */
    GROUPS_LONG,    /* the names are too long together */
};

/* What the account is called to which a job is charged whose ad names the group ("" for none): the owner's, as account_len has it. One that cannot be had is
 * as none. */
enum groups_reason groups_account(const struct groups *groups, const char *owner, const char *group, struct text *ret);

/* The share of an account, by its name. */
uint32_t groups_share(const struct groups *groups, const char *account);

/* So much more, or less, is in use in a leaf. */
void groups_use(struct groups *groups, uint32_t leaf, int64_t weight);

/* The share that may have no more, for one who is in that leaf; ENGINE_OPEN when there is none. */
uint32_t groups_closed(const struct groups *groups, uint32_t leaf);

/* Does `used` add up? For tests. */
bool groups_valid(const struct groups *groups, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
