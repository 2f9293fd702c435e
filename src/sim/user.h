/* user.h: a person at a terminal, or a script: submits jobs, again when no answer came, holds, releases and removes
 * them; and one who says he is somebody else.
 *
 * No role of the pool: it never crashes, and what it remembers is what it was told, for the judge to compare. */
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
    const char *owner;          /* in whose name; the liar's differs from his identity */
    struct tree *const *shapes; /* the ads of his jobs */
    uint32_t shape_count;
    struct tree *const
        *nodes;        /* of a diamond, USER_NODES of them: some of what he submits are workflows. NULL: none is */
    int64_t pause;     /* between two things he does, at most */
    uint64_t jobs_max; /* that he submits */
    uint64_t seed;     /* of his keys */
    bool meddles;      /* holds, releases, removes */
    bool lies;
    const bool *quiet; /* then he only waits for answers */
    uint64_t *meddled; /* counts what he did besides submitting */
    uint64_t *lied;
};

extern const struct role_kind user_role; /* settings: struct user_settings; role: struct user */

/* A submission under a key of its own. */
struct sim_submission {
    uint64_t key, count, first;
    uint32_t shape;
    uint64_t flow; /* the workflow that it is a node of, and ... */
    uint32_t node; /* ... which; 0: it is none */
    bool acknowledged;
};

uint32_t user_count(const struct user *user);
const struct sim_submission *user_submission(const struct user *user, uint32_t place);
uint32_t user_waiting(const struct user *user);  /* submissions that no answer has come for */
const char *user_wrong(const struct user *user); /* an answer that must not be; or NULL */

#ifdef __cplusplus
}
#endif
#endif
