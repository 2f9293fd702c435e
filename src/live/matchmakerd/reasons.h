/* reasons.h: why waiting requests wait, counted: for those who ask, and for the gauges; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_REASONS_H
#define BERTH_LIVE_MATCHMAKERD_REASONS_H

#include "live/matchmakerd/matchmakerd_state.h"
#include "pool/protocol/wait_reason.h"

#ifdef __cplusplus
extern "C" {
#endif

#define REASON_BYTES 240 /* bytes of a reason that are told */

struct reason_row {
    enum wait_reason code; /* WAIT_REASON_COUNT: those that were not looked into */
    bool never;            /* they ask for what contradicts itself: no machine could serve them */
    char words[REASON_BYTES];
    char *example; /* the id of one of the requests, or "" */
    uint64_t requests, units;
};

/* `caller`: whoever asks, who may not see all requests; NULL: one who sees all. */
struct reasons;
struct reasons *reasons_new(struct matchmakerd *matchmakerd, struct request *caller, const struct env *env);
/* Does a little, of a millisecond or so; false when all is known. */
bool reasons_go_on(struct reasons *reasons);
const struct reason_row *reasons_rows(const struct reasons *reasons,
                                      uint32_t *ret_count); /* those with most units first */
void reasons_free(struct reasons *reasons);                 /* takes NULL */

#ifdef __cplusplus
}
#endif
#endif
