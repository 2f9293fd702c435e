/* user.h: a user at a terminal, or a script: submits jobs, and again when no answer comes; holds, releases and removes
 * them. One user says that it is somebody else.
 *
 * This is not a role of the pool: it never crashes. It remembers what it was told, for the judge to compare. */
#ifndef BERTH_SIM_USER_H
#define BERTH_SIM_USER_H

#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

#define USER_NODES 4

struct user;

struct user_settings {
    agent customer, matchmaker;
    const char *owner;          /* in whose name; the liar's differs from its identity */
    struct tree *const *shapes; /* the ads of its jobs */
    uint32_t shape_count;
    struct tree *const
        *nodes;        /* of a diamond, USER_NODES of them: then it also submits workflows. NULL: no workflows */
    int64_t pause;     /* the longest pause between two actions */
    uint64_t jobs_max; /* the most jobs that it submits */
    uint64_t seed;     /* of its keys */
    bool meddles;      /* holds, releases, removes */
    bool lies;
    const bool *quiet; /* true: it only waits for answers */
    uint64_t *meddled; /* counts its actions other than submitting */
    uint64_t *lied;
};

extern const struct role_kind user_role; /* settings: struct user_settings; role: struct user */

/* A submission under a key of its own. */
struct sim_submission {
    uint64_t key, count, first;
    uint32_t shape;
    uint64_t flow; /* the workflow that it is a node of; 0: none */
    uint32_t node; /* which node of the workflow */
    bool acknowledged;
};

uint32_t user_count(const struct user *user);
const struct sim_submission *user_submission(const struct user *user, uint32_t place);
uint32_t user_waiting(const struct user *user);  /* submissions that have no answer yet */
const char *user_wrong(const struct user *user); /* an answer that must not happen; or NULL */

#ifdef __cplusplus
}
#endif
#endif
