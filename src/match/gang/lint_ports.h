/* lint_ports.h: what is wrong with the ports of an ad that can be seen without a pool.
 *
 * lint_ad (match/pair/lint.h) looks at the expressions inside ports as at those of any ad; this looks at the ports themselves: whether they
 * are in order, and whether something stands where nobody reads it. */
#ifndef BERTH_MATCH_GANG_LINT_PORTS_H
#define BERTH_MATCH_GANG_LINT_PORTS_H

#include "match/pair/lint.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls `report` for each finding, at most LINT_FINDINGS_MAX times: first of the ad's own attributes, then of its ports from left to
 * right. An ad without Ports has none. `meter` as for lint_ad: when it is past its end, spellings are not looked at. */
void lint_ports(const struct tree *ad, uint64_t *meter, lint_report_fn *report, void *user);

#ifdef __cplusplus
}
#endif
#endif
