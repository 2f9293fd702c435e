/* groups.h: groups of users with quotas: which users may use which group, what each has in use, and which comes first.
 *
 *     all ----------- <none>                  users outside every group: their quota is what the groups leave of the pool
 *      |------------- physics ------ physics, itself     users of physics who are in no group below it
 *      |                 `---------- physics.cms
 *      `------------- chemistry
 *
 * Each node is a share of the engine, with the same number here and there. A group that uses less than its quota (counting claims that are active or
 * expected, by weight) is served before one that does not; among each kind, the one that uses the smallest part of its quota; at each
 * level. A group at its quota that may not take surplus is a closed gate, until it falls below.
 *
 * A user has a separate account in each group: physics~alice. */
#ifndef BERTH_POOL_MATCHMAKER_GROUPS_H
#define BERTH_POOL_MATCHMAKER_GROUPS_H

#include "pool/engine/engine.h"
#include "pool/matchmaker/shares.h"
#include "pool/protocol/fields.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GROUPS_MARK '~' /* between group and user in an account's name; occurs in neither */
#define GROUPS_SHARES_MAX (2 * SHARES_GROUPS_MAX + 2) /* gates of groups have smaller numbers */

struct group {
    char *name;      /* "" for all; "<none>"; a node with `itself` has its group's name */
    uint32_t parent; /* the parent's number is smaller */
    uint32_t row;    /* in `shares`; for all and <none>: UINT32_MAX */
    bool leaf, itself;
    bool surplus;
    double quota;                    /* units, computed from the size of the pool */
    int64_t used;                    /* thousandths of units */
    bool units;                      /* the quota of units binds it */
    double kinds[SHARE_KINDS];       /* quotas of processors, GPUs and licences; INFINITY: none */
    int64_t kinds_used[SHARE_KINDS]; /* thousandths */
};

/* What a claim counts for: all in thousandths. */
struct group_use {
    int64_t weight, kinds[SHARE_KINDS];
};

struct groups {
    struct engine *engine;
    struct shares shares; /* as the administrator set them */
    struct group *items;  /* a single leaf without a name when there are no groups */
    uint32_t count;
    double pool; /* units */
};

void groups_init(struct groups *groups, struct engine *engine);
void groups_done(struct groups *groups);

/* Sets other groups; takes over the rows. What is in use must be told anew, and so must the share of each user. */
void groups_set(struct groups *groups, struct shares *shares);

/* The pool has that weight: quotas that are parts of the pool follow. */
void groups_resize(struct groups *groups, int64_t weight);

enum groups_reason {
    GROUPS_OK,
    GROUPS_UNKNOWN, /* there is no such group */
    GROUPS_REFUSED, /* the user may not use it */
    GROUPS_LONG,    /* the names are too long together */
};

/* The name of the account that a job is charged to, if its ad names the group ("" for none): the owner's account, as in
 * account_len. A group that the owner cannot have counts as none. */
enum groups_reason groups_account(const struct groups *groups, const char *owner, const char *group, struct text *ret);

/* The share of an account, by its name. */
uint32_t groups_share(const struct groups *groups, const char *account);

/* That much more, or less (sign -1), is in use in a leaf. */
void groups_use(struct groups *groups, uint32_t leaf, const struct group_use *use, int sign);

/* What is full in a group, or nearest to it: the name of the kind, NULL for units; what is used of it, and the quota. */
const char *group_fullest(const struct group *group, double *ret_used, double *ret_most);

/* The share that may have no more, seen from that leaf upwards; ENGINE_OPEN when there is none. */
uint32_t groups_closed(const struct groups *groups, uint32_t leaf);

/* Does `used` add up? For tests. */
bool groups_valid(const struct groups *groups, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
