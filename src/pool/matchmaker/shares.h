/* shares.h: the shares that an administrator sets: an ad, read into plain rows.
 *
 *     [ Groups = { [ Name = "physics"; Quota = 0.3; Users = { "alice", "bob" } ],
 *                  [ Name = "physics.cms"; Quota = 4; Surplus = false ] };
 *       Limits = [ matlab = 10; db = 3 ];  DefaultLimit = 100 ]
 *
 * Quota     units; above 0 and below 1: that part of the quota of the group above, or of the pool; never more than that. Default: 0
 *           or [ Units = 0.5; Cpus = 100; Gpus = 4; Licenses = 2 ]: processors, GPUs and licences are counted apart, and units only if they are named
 * Surplus   may the group have more while nobody who is within a quota wants it? Default: true
 * Users     the identities that may use the group; default: those of the group above, or everybody
 * Limits    how many may be in use of each name in a job's ConcurrencyLimits; DefaultLimit: of other names; without it any number */
#ifndef BERTH_POOL_MATCHMAKER_SHARES_H
#define BERTH_POOL_MATCHMAKER_SHARES_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHARES_GROUPS_MAX 256
#define SHARES_NAME_MAX 31    /* bytes of the name of a group or a limit */
#define SHARES_USERS_MAX 4096 /* of one group */
#define SHARES_LIMIT_MAX 1000000000
#define SHARES_NO_LIMIT INT64_C(-1)

/* What a quota can be of, beside units. */
enum share_kind { SHARE_CPUS, SHARE_GPUS, SHARE_LICENSES, SHARE_KINDS };
extern const char *const share_kinds[SHARE_KINDS];

struct group_row {
    char *name;
    double quota;
    bool says_units;           /* there is a quota of units; it is 0 if nothing is said of any */
    double kinds[SHARE_KINDS]; /* INFINITY: none */
    bool surplus;
    bool says_users;
    char **users;
    uint32_t user_count;
};

struct limit_row {
    char *name; /* in lower case */
    int64_t most;
};

struct shares {
    struct group_row *groups; /* sorted by name: the group above comes first */
    uint32_t group_count;
    struct limit_row *limits;
    uint32_t limit_count;
    int64_t default_limit; /* or SHARES_NO_LIMIT */
};

/* NULL counts as an empty ad. Returns -1 and an error that says what is wrong, and where: "Groups, number 2: Quota:
 * ...". */
int shares_read(struct tree *ad, struct shares *ret, struct err *err);
void shares_done(struct shares *shares);

#ifdef __cplusplus
}
#endif
#endif
