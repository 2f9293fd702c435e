/* crew.h: the subordinates of a party in a gang, led through the protocol together: of a root, or of a member that has its own.
 *
 * All are in one phase: none is told to commit before all are verified, none to start before all have cleared the way. So a pair is a
 * crew of one, and a tree is crews of members that have crews. */
#ifndef BERTH_POOL_CREW_H
#define BERTH_POOL_CREW_H

#include "pool/branch.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crew {
    struct branch *branches;
    uint32_t count;
};

void crew_done(struct crew *crew);
struct branch *crew_add(struct crew *crew, const struct edge *edge);
struct branch *crew_find(const struct crew *crew, uint64_t claim); /* NULL: nobody */

/* All that are not gone go on to that state, in -ING. */
void crew_go(struct crew *crew, int64_t now, enum branch_state state);

/* Have all come to that state? To it, or further, up to STARTED? */
bool crew_all(const struct crew *crew, enum branch_state state);
bool crew_through(const struct crew *crew, enum branch_state state);

/* Says what is due of all; returns when to look again. `leased`: from the decision on a member whose lease passes is gone. */
int64_t crew_run(struct crew *crew, struct branch_errand *errand, bool leased);

/* Marks those whose lease and margin have passed as gone: nothing of theirs runs. Were there any? */
bool crew_expire(struct crew *crew, const struct role_env *env);

/* Has anybody been silent for a lease and margin, by what it has shown to have heard from us? Then the gang ends: late beats of the dead do
 * not keep the others. */
bool crew_silent(const struct crew *crew, const struct role_env *env);

/* Tells all that could have been verified that it is off. */
void crew_abort(const struct crew *crew, struct effects *effects);

/* Somebody else is being verified at one of them: nobody waits; all are verified anew after that pause. */
void crew_pause(struct crew *crew, int64_t now, int64_t pause, struct effects *effects);

/* What a heart beat is answered with; one that is acknowledged renews. `ending`: the claim is being released. */
enum reason crew_beat(struct branch *branch, const struct role_env *env, const struct spans *spans,
                      const struct beat *beat, bool decided, bool ending);

/* The row that says that this subordinate is claimed; returns its persist. */
uint64_t branch_store(const struct branch *branch, uint64_t gang, uint64_t shape, struct effects *effects);

#ifdef __cplusplus
}
#endif
#endif
