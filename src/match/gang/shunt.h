/* shunt.h: what those who are docked elsewhere in a gang ask of whoever docks at a slot that is still open (section 5.5.1); not installed.
 *
 *     licence docked:   Site.HostID >= 20       a clause that is open
 *     the job's port:   HostID = Cpu.Key + 10   a translating attribute
 *     so, at Cpu:       other.Key >= 10         the clause, translated by inverting it
 *
 * Translation goes through identity, + c, - c, * c, unary minus, and any chain of these over several hops. The result is never narrower than the
 * clause: bounds that went through arithmetic are widened by a little, and evaluation has the last word. */
#ifndef BERTH_MATCH_GANG_SHUNT_H
#define BERTH_MATCH_GANG_SHUNT_H

#include "lang/text/build.h"
#include "match/gang/members.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Pushes what the open clauses of `from` say about whoever docks at `target`, each labelled for a conjunction; returns how many. */
uint32_t shunt_clauses(struct members *members, const struct slot *from, const struct slot *target,
                       struct build *build);

#ifdef __cplusplus
}
#endif
#endif
