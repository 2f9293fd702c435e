/* queues.h: requests of users take turns, so that nobody waits behind what others have asked for.
 *
 *     alice   r r r r r        each turn of the loop serves for QUEUES_TURN: always the first request in the queue of the account that has
 *     bob     r                used least lately. So bob, who came last and asks for little, passes alice.
 *     carol   R r              A long request (R) stops when the turn is over, and goes on when it is carol's again.
 *
 * Some turns make a slice, and behind a slice rows are committed: those of all who were served in it together. But who was away, and asks for little, is
 * not to wait for the work of others: a slice ends when such a one was served.
 *
 * What an account has used is the time that its handlers took, as good as that can be told. Who was away begins a little before the others, by what it
 * has left to them, QUEUES_CREDIT at the most: nobody saves up more. Memory is bounded by gate_enter, which bounds the requests of an account that are under way.
 *
 * What keeps claims alive (calls of agents) takes no turns: it is handled when it comes, and waits for one turn at the most. */
#ifndef BERTH_LIVE_HTTP_QUEUES_H
#define BERTH_LIVE_HTTP_QUEUES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* uv_loop_t */
struct request;
struct queues;
struct queue; /* of an account */

#define QUEUES_TURN 300 /* microseconds that one turn of the loop serves: then new heads are read, and heart beats */
#define QUEUES_SLICE \
    1500 /* microseconds that are served before rows are committed, if nobody who was away waits for that */

/* A request's place in the queue of its account. */
struct queue_place {
    struct queue *queue; /* NULL: it does not wait */
    struct request *before, *behind;
};

/* What a piece of work costs its account: its processor time, and what it waited for the disk. Both are called by the thread that does it. */
struct queues_watch {
    int64_t at, spent, waits;
};
void queues_watch(struct queues_watch *watch);
int64_t queues_cost(const struct queues_watch *watch);

/* `serve` handles a request that waited, from its beginning. */
struct queues *queues_new(struct uv_loop_s *loop, void (*serve)(struct request *request));
/* No request may wait any more. The last memory is freed when the loop has run once more. NULL is fine. */
void queues_free(struct queues *queues);

void queues_add(struct queues *queues, struct request *request);    /* at the end of its account's queue */
void queues_remove(struct queues *queues, struct request *request); /* if it waits */
bool queues_are_empty(const struct queues *queues);                 /* NULL is */
bool queues_go_on(const struct queues *queues); /* is a slice under way, so that rows may wait for its end? NULL: no */

#ifdef __cplusplus
}
#endif
#endif
