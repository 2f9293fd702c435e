/* waiting_gauge.h: how many units wait for what, for the gauges; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_WAITING_GAUGE_H
#define BERTH_LIVE_MATCHMAKERD_WAITING_GAUGE_H

#include "pool/protocol/wait_reason.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct matchmakerd;
struct reasons;

struct waiting_gauge {
    struct reasons *run;                   /* the count that is being made; or NULL */
    int64_t due;                           /* when the next begins */
    uint64_t units[WAIT_REASON_COUNT + 1]; /* by reason; the last: those that were not looked into */
};

void waiting_gauge_step(struct matchmakerd *matchmakerd,
                        int64_t now); /* goes on with the count, or begins one that is due */
void waiting_gauge_done(struct waiting_gauge *gauge);

#ifdef __cplusplus
}
#endif
#endif
