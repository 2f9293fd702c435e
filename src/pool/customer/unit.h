/* unit.h: the ad of one job of a shape: what was submitted, which of its jobs this is, and which members it got.
 *
 *     [ ...; JobId = 7; JobIndex = 2; Index = 2; JobTry = 1; Node = "D"; TraceParent = "00-..."; Gang = [ cpu = [ Name = "heron"; ... ]; node = { [ ... ], [ ... ] } ];
 *       MemberCount = 2; MemberHosts = { "10.1.1.7", "10.1.1.9" } ]
 *
 * Index is the same as JobIndex, unless the ad has an Index that is not a number. Node is there only in a workflow,
 * TraceParent where there is a trace (job_trace.h). Gang has an attribute for each port of the job that a member docks at, by its label: the constants in
 * that member's ad; a list for a port with a Count. A job without Ports has no Gang. MemberCount and MemberHosts are there where
 * several members run the job; each is told its own number besides (crew.h). */
#ifndef BERTH_POOL_CUSTOMER_UNIT_H
#define BERTH_POOL_CUSTOMER_UNIT_H

#include "pool/claim/crew.h"
#include "pool/protocol/job_trace.h"

#ifdef __cplusplus
extern "C" {
#endif

struct unit {
    struct tree *ad; /* of the shape; borrowed, as the crew is */
    uint64_t job, index, tries;
    const struct tree *node; /* borrowed: the node of a workflow; or NULL */
    struct job_trace trace;  /* of its submission; or none */
    const struct crew *crew;
};

/* The caller unrefs the ad. NULL when there is more than an ad can hold. */
struct tree *unit_ad(const struct unit *unit);

#ifdef __cplusplus
}
#endif
#endif
