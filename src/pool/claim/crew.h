/* crew.h: the subordinates of a party in a gang, led through the protocol together: of a root, or of a member that has its own.
 *
 * All members are in one phase: none is told to commit before all are verified, and none to start before all have cleared the way. So a pair is a
 * crew of one, and a tree is crews of members that have crews. From the start on a member that is not essential may be lost: it is *dropped*,
 * and the others go on. */
#ifndef BERTH_POOL_CLAIM_CREW_H
#define BERTH_POOL_CLAIM_CREW_H

#include "match/gang/runs.h"
#include "pool/claim/claim_member.h"
#include "pool/protocol/record.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a job that several members run tells each of them: its number, from 0; how many there are; and where each of them is, in that order. */
#define AD_MEMBER "Member"
#define AD_MEMBER_COUNT "MemberCount"
#define AD_MEMBER_HOSTS "MemberHosts"

struct crew {
    struct claim_member *members; /* by place */
    uint32_t count;
};

void crew_done(struct crew *crew);
struct claim_member *crew_add(struct crew *crew, const struct edge *edge, const struct edges *below);
struct claim_member *crew_load(struct crew *crew, uint64_t claim, const struct branch_record *was); /* in its place */
struct claim_member *crew_find(const struct crew *crew, uint64_t claim);                            /* NULL: none */

/* All members that are not gone or dropped go on to that state, in -ING. */
void crew_go(struct crew *crew, int64_t now, enum claim_member_state state);

/* crew_all: are all members in that state? crew_through: in it, or further, up to STARTED? A dropped member counts only
 * when all are to be gone. */
bool crew_all(const struct crew *crew, enum claim_member_state state);
bool crew_through(const struct crew *crew, enum claim_member_state state);
bool crew_whole(const struct crew *crew); /* no member is dropped */

/* Sends what is due to all members; returns when to look again. `leased`: from the decision on, a member whose lease
 * passes is gone. */
int64_t crew_run(struct crew *crew, struct claim_member_errand *errand, bool leased);

/* What an answer from a member brought. The member is refused if our own port does not accept its present ad. */
enum claim_member_news crew_answer(struct crew *crew, struct claim_member *member,
                                   const struct claim_member_errand *errand, const struct event *event);

/* Does each of our ports have the members it must have, and does it accept them as all are now? */
bool crew_accepts(const struct crew *crew, const struct claim_member_errand *errand);

/* Marks members whose lease and margin have passed as gone: nothing of theirs runs. */
void crew_expire(struct crew *crew, const struct role_env *env);

/* Is the member gone, or has it been silent for a lease and margin, counted from what it has shown to have heard from
 * us? Late beats of a dead member do not keep the others. */
bool claim_member_lost(const struct claim_member *member, const struct role_env *env);

/* The first member that is lost and not dropped yet; NULL: none is. */
struct claim_member *crew_lost(const struct crew *crew, const struct role_env *env);

/* Does losing this member end the gang, by the superior's own ad? `run`: seconds since the job's start; -1: it has not
 * begun. */
bool crew_needs(const struct crew *crew, const struct claim_member_errand *errand, const struct claim_member *member,
                int64_t run);

/* The `run` of a job that started at that second of the wall clock (-1: it has not). */
int64_t run_time(const struct role_env *env, int64_t started);

/* The gang goes on without this member, which is released unless it is gone already. Returns the persist that
 * says so. */
uint64_t crew_drop(struct claim_member *member, int64_t now, uint64_t gang, uint64_t shape, struct effects *effects);

/* Does a member with that ad run jobs itself, as far as the member decides? Not when it says Executes = false. */
bool ad_executes(const struct tree *ad);

/* The superior of a crew: its ad, and the port by which it is docked itself (RUNS_NO_LINK: it is the root). */
struct crew_chief {
    struct tree *ad;
    uint64_t link;
};

/* claim_member_executes: does the member run the job itself? claim_member_works: does it, or a member below it? Only
 * where our own port says so (match/gang/runs.h). */
bool claim_member_executes(const struct claim_member *member, const struct crew_chief *chief);
bool claim_member_works(const struct claim_member *member, const struct crew_chief *chief);

/* The first member, in the order of ports, that works: its result is the job's. NULL: none works. */
struct claim_member *crew_leader(const struct crew *crew, const struct crew_chief *chief);

/* The member's number among those that work, in the order of ports: the leader has 0. `*ret_count` is how many there are. */
uint32_t crew_number(const struct crew *crew, const struct crew_chief *chief, const struct claim_member *member,
                     uint32_t *ret_count);

/* The member of ours above the one that runs the job further below, with that claim and as that agent. NULL: there is none,
 * or our port does not want it to run. */
struct claim_member *crew_below(const struct crew *crew, const struct crew_chief *chief, uint64_t claim, agent who);

/* Our ad as that member may see it: whole only if it runs the job, and where several do with its number (AD_MEMBER). The caller unrefs it. */
struct tree *crew_shows(const struct crew *crew, const struct claim_member *member,
                        const struct claim_member_errand *errand, bool runs);

/* Fills in the members docked at our ports, as last heard; returns how many, at most `room`. */
uint32_t crew_docked(const struct crew *crew, struct docked *at, uint32_t room);

/* Tells all members that the claim is off, also those that only know of the match and keep a unit for it. */
void crew_abort(const struct crew *crew, struct effects *effects);

/* Somebody else is being verified at one member. Nobody waits meanwhile: all are verified anew after that pause. */
void crew_pause(struct crew *crew, int64_t now, int64_t pause, struct effects *effects);

/* The answer to a heart beat; acknowledging one renews the lease. `ending`: the claim is being released. */
enum reason crew_beat(struct claim_member *member, const struct role_env *env, const struct spans *spans,
                      const struct beat *beat, bool decided, bool ending);

/* Writes the row that says that this subordinate is claimed; returns its persist. */
uint64_t claim_member_store(const struct claim_member *member, uint64_t gang, uint64_t shape, struct effects *effects);

#ifdef __cplusplus
}
#endif
#endif
