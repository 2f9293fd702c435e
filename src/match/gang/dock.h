/* dock.h: a party of a gang among those who are docked at its ports: what its own ports say of them, and what it shows to each.
 *
 *     job     Cpu ------ Job   leo           at[0] = { port Cpu of the job, the ad of leo, port Job of leo }
 *      |      License -- Job   lic2          at[1] = { port License of the job, the ad of lic2, port Job of lic2 }
 *
 * A member of a gang knows its superior, which is docked at its link, and its own subordinates; never the whole tree. So before an ad is told to
 * anybody, what depends on others in it is replaced by its value (dock_shows).
 *
 * An ad without Ports has one port, number 0. A port that is not a set, but at which several are docked, sees each of them alone. */
#ifndef BERTH_MATCH_GANG_DOCK_H
#define BERTH_MATCH_GANG_DOCK_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

struct docked {
    uint64_t port;   /* ours */
    struct tree *ad; /* theirs, borrowed */
    uint64_t link;   /* their port that docks there */
};

struct dock {
    struct tree *ad; /* ours, borrowed */
    const struct docked *at;
    uint32_t count;
};

#define DOCK_MAX 128 /* parties docked at one ad */

/* DOCK_OPEN: the answer depends on somebody who is not known yet. */
enum dock_answer { DOCK_NO, DOCK_YES, DOCK_OPEN };

/* What the constraint of our port says of the party in at[which]; the labels in force are those of all who are docked before it. DOCK_NO when there
 * is no such port, here or there, or too many are docked at a set. `scratch` is left as it was, here and below. */
enum dock_answer dock_accepts(const struct env *env, struct arena *scratch, const struct dock *dock, uint32_t which);

/* Is the answer yes for the first `asked` parties, and for every set as a whole? The other parties are only seen. */
bool dock_accepts_all(const struct env *env, struct arena *scratch, const struct dock *dock, uint32_t asked);

/* Is every port filled that must be, as Essential, Count and Choose say, and none by too many? An ad without Ports always is whole. */
bool dock_whole(const struct dock *dock);

/* Does it matter when the party in at[which] is lost? The Essential of its port decides, or that of the nearest group around the port: the loss
 * does not matter when Essential is false, and does when it is true, undefined, an error or missing. In that expression JobRunTime is `run`,
 * seconds since the start (negative: undefined), and MembersLeft is how many others are docked at the same port. */
bool dock_essential(const struct env *env, struct arena *scratch, const struct dock *dock, uint32_t which, int64_t run);

/* The value that our ad has under that name for the party in at[which], as seen from its port: a number, a text or the like, in the scratch memory.
 * Undefined when our ad does not have the name, when the value is a list or an ad, or when it depends on somebody who is not known yet. */
struct value dock_says(const struct env *env, struct arena *scratch, const struct dock *dock, uint32_t which,
                       symbol name);

/* Our ad as whoever docks at that port may see it: an attribute that mentions the label of somebody else has its present value. The caller unrefs
 * it. */
struct tree *dock_shows(const struct env *env, struct arena *scratch, const struct dock *dock, uint64_t port);

/* What is left of our ad when the party in at[which] has its part (residual.h). NULL: nothing. */
struct tree *dock_residual(const struct env *env, struct arena *scratch, const struct dock *dock, uint32_t which);

/* Does the ad say Ports? */
bool dock_has_ports(const struct tree *ad);

#ifdef __cplusplus
}
#endif
#endif
