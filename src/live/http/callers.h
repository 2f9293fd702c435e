/* callers.h: the identities that have called: how fast each may send requests, and how much of the pool each has taken.
 *
 * A delegate counts for whoever delegated to it: that is the *account* of a caller.
 *
 * An identity is a text, "alice", as a token or the kernel has proved it. An identity keeps its place while it has something here: ads, streams,
 * a request under way; else it is forgotten when it has not called for a while. */
#ifndef BERTH_LIVE_HTTP_CALLERS_H
#define BERTH_LIVE_HTTP_CALLERS_H

#include "lang/base/textmap.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CALLERS_NONE TEXTMAP_NONE
#define CALLERS_IDLE INT64_C(600000000) /* microseconds after which an identity that has nothing here is forgotten */

/* The kinds of pace that a request may count for. */
enum caller_pace { PACE_PERSON, PACE_AGENT, PACE_BEAT, PACE_COUNT };

struct queue;

struct identity {
    uint32_t holds; /* agents, ids and requests that refer to it */
    /* counts for it as an account: its own, and those of all its delegates */
    uint32_t ads, ids; /* ads that live; ids that are remembered */
    uint32_t agents, requests, streams, scans, checks;
    uint64_t bytes;  /* of the texts of its ads */
    uint64_t bodies; /* bytes of requests under way */
    int64_t heard;
    struct queue *queue;     /* of its requests that wait for their turn (queues.h); NULL: none does ... */
    int64_t used;            /* ... then how much of those turns it has used, */
    int64_t expects;         /* and how long one of its steps takes on average; 0: it had none */
    double left[PACE_COUNT]; /* requests that may be made at once */
    int64_t filled[PACE_COUNT];
};

struct callers {
    struct textmap texts;
    struct identity *items;
    uint32_t room;
};

void callers_init(struct callers *callers, uint64_t seed);
void callers_done(struct callers *callers);

uint32_t callers_add(struct callers *callers, const char *text, size_t len, int64_t now); /* adds it if it is new */
const char *caller_text(const struct callers *callers, uint32_t place);

/* May the caller make another request, at `rate` a second (and as many at once)? If not, `*ret_wait` gets the microseconds until it may. */
bool caller_may(struct callers *callers, uint32_t place, enum caller_pace pace, double rate, int64_t now,
                int64_t *ret_wait);

void callers_sweep(struct callers *callers, int64_t now);

#ifdef __cplusplus
}
#endif
#endif
