/* callers.h: the identities that have called: how fast each may go on, and how much of the pool each has taken.
 *
 * What was delegated counts for the one that it was delegated from: that is the *account* of a caller.
 *
 * An identity is a text, "alice", as a token or the kernel has proved it. It keeps its place while something of it is there: ads, streams,
 * a request under way; else it is forgotten when nothing was heard for a while. */
#ifndef BERTH_LIVE_HTTP_CALLERS_H
#define BERTH_LIVE_HTTP_CALLERS_H

#include "lang/base/textmap.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CALLERS_NONE TEXTMAP_NONE
#define CALLERS_IDLE INT64_C(600000000) /* microseconds after which one that has nothing is forgotten */

/* What a request counts as. */
enum caller_pace { PACE_PERSON, PACE_AGENT, PACE_BEAT, PACE_COUNT };

struct identity {
    uint32_t holds; /* agents, ids and requests that name it */
    /* what counts for it as an account: itself, and all whom it delegated to */
    uint32_t ads, ids; /* those that live; those that are remembered */
    uint32_t agents, requests, streams, scans, checks;
    uint64_t bytes;  /* of the ads' texts */
    uint64_t bodies; /* of requests under way */
    int64_t heard;
    double left[PACE_COUNT]; /* of what may be done at once */
    int64_t filled[PACE_COUNT];
};

struct callers {
    struct textmap texts;
    struct identity *items;
    uint32_t room;
};

void callers_init(struct callers *callers, uint64_t seed);
void callers_done(struct callers *callers);

uint32_t callers_add(struct callers *callers, const char *text, size_t len, int64_t now); /* new, perhaps */
const char *caller_text(const struct callers *callers, uint32_t place);

/* May it make another request, at `rate` a second (as many at once)? If not, `*ret_wait` are the microseconds until it may. */
bool caller_may(struct callers *callers, uint32_t place, enum caller_pace pace, double rate, int64_t now,
                int64_t *ret_wait);

void callers_sweep(struct callers *callers, int64_t now);

#ifdef __cplusplus
}
#endif
#endif
