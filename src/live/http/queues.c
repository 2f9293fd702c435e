/* queues.c: requests of users take turns: a queue for each account, and a heap of the accounts that have one, who has used least first.
 *
 * `used` is virtual time: an account that is served for a while moves on by that while. `now` is how far the account was that is served: a queue that
 * begins has used that much at least, less its credit. First comes the account that would have used least after its next step, if that takes as long as its steps take
 * on average (`expects`): of those that have used the same, who asks for little. So of many accounts that always want more each gets the same, and one that wants less than that waits for
 * nobody but the request at hand. */
#include "live/http/queues.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/http/request.h"
#include "sys/clock.h"

#include <stdlib.h>
#include <uv.h>

#define QUEUES_CREDIT 2000 /* microseconds by which one who has used less than the others comes before them */
#define QUEUES_AWAY 1000   /* one who is so far behind `now` was away */
#define QUEUES_LEAST 20    /* microseconds that a request costs at least: its head was read, too */

struct queue {
    struct callers *callers;
    uint32_t account; /* its place there */
    uint32_t place;   /* in the heap */
    int64_t used, expects;
    int64_t quiet;   /* while it would have used no more than this, it is one who was away */
    uint64_t number; /* of queues that have used as much the older comes first */
    struct request *first, *last;
};

struct queues {
    uv_check_t check; /* serves, after the descriptors were looked at and before rows are committed */
    uv_idle_t idle;   /* keeps the loop from waiting while requests do */
    unsigned handles; /* that are open */
    void (*serve)(struct request *request);
    struct queue **heap;
    uint32_t count, room;
    int64_t now, most;       /* `most`: how far any account is */
    uint64_t made;           /* queues that there have been */
    int64_t ends;            /* when the turn at hand is over, on the clock */
    int64_t served;          /* of the slice at hand, in the turns before this one */
    bool goes_on;            /* the slice: rows may wait for its end */
    bool hurries;            /* it ends with the step at hand, which is of one who was away */
    struct request *serving; /* NULL: none */
};

/* --------------------------------------------------------------------------------------------------------------- heap */

static bool queue_precedes(const struct queue *a, const struct queue *b)
{
    int64_t left = a->used + a->expects, right = b->used + b->expects;

    return left != right ? left < right : a->number < b->number;
}

static void queue_put(struct queues *queues, uint32_t place, struct queue *queue)
{
    queues->heap[place] = queue;
    queue->place = place;
}

/* Moves the queue to where it belongs, from where it is. */
static void queue_settle(struct queues *queues, struct queue *queue)
{
    uint32_t place = queue->place, child;

    for (; place && queue_precedes(queue, queues->heap[(place - 1) / 2]); place = (place - 1) / 2)
        queue_put(queues, place, queues->heap[(place - 1) / 2]);
    while ((child = 2 * place + 1) < queues->count) {
        if (child + 1 < queues->count && queue_precedes(queues->heap[child + 1], queues->heap[child]))
            child++;
        if (!queue_precedes(queues->heap[child], queue))
            break;
        queue_put(queues, place, queues->heap[child]);
        place = child;
    }
    queue_put(queues, place, queue);
}

/* ------------------------------------------------------------------------------------------------------------- queues */

static void turn_begins(uv_check_t *check);

/* Does nothing: an idle handle keeps the loop from waiting. */
static void turn_comes(uv_idle_t *idle)
{
    (void)idle;
}

/* Of check handles the one that was started last comes first: so rows of this turn are committed in this turn. */
static void queues_start(struct queues *queues)
{
    uv_check_start(&queues->check, turn_begins);
    uv_idle_start(&queues->idle, turn_comes);
}

static void queues_stop(struct queues *queues)
{
    uv_check_stop(&queues->check);
    uv_idle_stop(&queues->idle);
    queues->goes_on = false;
}

static struct queue *queue_of(struct queues *queues, const struct request *request)
{
    struct callers *callers = &request->part->gate->callers;
    struct identity *account = &callers->items[request->caller.account];
    struct queue *queue = account->queue;
    int64_t least = queues->now - QUEUES_CREDIT;

    if (queue)
        return queue;
    queue = account->queue = mem_alloc(sizeof *queue);
    *queue = (struct queue){.callers = callers,
                            .account = request->caller.account,
                            .place = queues->count,
                            .used = account->used > least ? account->used : least,
                            .expects = account->expects ? account->expects : QUEUES_TURN,
                            .quiet = queues->now - QUEUES_AWAY,
                            .number = ++queues->made};
    ARRAY_ROOM(queues->heap, queues->count, queues->room, 8);
    queues->heap[queues->count++] = queue;
    queue_settle(queues, queue);
    if (queues->count == 1)
        queues_start(queues);
    return queue;
}

/* The queue is empty: only what the account has used is remembered. */
static void queue_end(struct queues *queues, struct queue *queue)
{
    struct identity *account = &queue->callers->items[queue->account];
    struct queue *last = queues->heap[--queues->count];

    account->used = queue->used;
    account->expects = queue->expects;
    account->queue = NULL;
    if (last != queue) {
        queue_put(queues, queue->place, last);
        queue_settle(queues, last);
    }
    queues->most = queue->used > queues->most ? queue->used : queues->most;
    free(queue);
    if (queues->count)
        return;
    queues->now = queues->most + QUEUES_CREDIT; /* nobody waits: all are equal again */
    queues_stop(queues);
}

static void queue_leave(struct queue *queue, struct request *request)
{
    struct queue_place *place = &request->queued;

    *(place->before ? &place->before->queued.behind : &queue->first) = place->behind;
    *(place->behind ? &place->behind->queued.before : &queue->last) = place->before;
    *place = (struct queue_place){0};
}

void queues_add(struct queues *queues, struct request *request)
{
    struct queue *queue = queue_of(queues, request);

    request->queued = (struct queue_place){.queue = queue, .before = queue->last};
    *(queue->last ? &queue->last->queued.behind : &queue->first) = request;
    queue->last = request;
}

void queues_remove(struct queues *queues, struct request *request)
{
    struct queue *queue = request->queued.queue;

    if (!queue)
        return;
    queue_leave(queue, request);
    if (!queue->first)
        queue_end(queues, queue);
}

bool queues_are_empty(const struct queues *queues)
{
    return !queues || !queues->count;
}

bool queues_go_on(const struct queues *queues)
{
    return queues && queues->goes_on;
}

/* ------------------------------------------------------------------------------------------------------------ serving */

void queues_watch(struct queues_watch *watch)
{
    *watch = (struct queues_watch){.at = clock_now(), .spent = clock_spent(), .waits = clock_waits()};
}

/* If it has waited for a disk, other processes may have been served as well: nobody is to pay for that, so not much of it counts. */
int64_t queues_cost(const struct queues_watch *watch)
{
    int64_t cost = clock_spent() - watch->spent, took = clock_now() - watch->at;

    if (clock_waits() != watch->waits)
        cost = took < cost + QUEUES_SLICE ? took : cost + QUEUES_SLICE;
    return cost > QUEUES_LEAST ? cost : QUEUES_LEAST;
}

/* Serves the first request of the queue. It stays there meanwhile, so that the queue does; it goes only when the server says so, from elsewhere. One
 * that a deadline has answered is on its way out. */
static void queue_serve(struct queues *queues, struct queue *queue, int64_t *at)
{
    struct request *request = queue->first;
    void (*step)(struct request * request) = request->again ? request->again : queues->serve;
    struct queues_watch watch;
    int64_t cost;

    queues_watch(&watch);
    queues->hurries = queue->used + queue->expects <= queue->quiet;
    queues->now = queue->used > queues->now ? queue->used : queues->now;
    queues->serving = request;
    request->again = NULL;
    if (!exchange_is_answered(request->exchange)) {
        exchange_goes_on(request->exchange); /* while others are many, a long request takes long */
        front_step(request, step);
    }
    queues->serving = NULL;
    *at = clock_now();
    cost = queues_cost(&watch);
    queue->used += cost;
    queue->expects = (3 * queue->expects + cost) / 4;
    queue_settle(queues, queue);
    if (!request->again)
        queues_remove(queues, request);
}

static void turn_begins(uv_check_t *check)
{
    struct queues *queues = check->data;
    int64_t at = clock_now(), began = at, left;

    queues->served = queues->goes_on ? queues->served : 0;
    left = QUEUES_SLICE - queues->served;
    queues->ends = at + (left < QUEUES_TURN ? left : QUEUES_TURN);
    queues->hurries = false;
    while (queues->count && at < queues->ends && !queues->hurries)
        queue_serve(queues, queues->heap[0], &at);
    queues->served += at - began;
    queues->goes_on = queues->count && queues->served < QUEUES_SLICE && !queues->hurries;
}

void request_ready(struct request *request)
{
    struct front *front = request->front;

    if (front->queues && request->part->turns && request->caller.identity != CALLERS_NONE)
        queues_add(front->queues, request);
    else
        front_serve(request);
}

bool request_turn_is_over(const struct request *request)
{
    const struct queues *queues = request->front->queues;

    return queues && queues->serving == request && clock_now() >= queues->ends;
}

void request_again(struct request *request, void (*step)(struct request *request))
{
    struct queues *queues = request->front->queues;

    if (!queues || !request->part->turns) {
        step(request);
        return;
    }
    request->again = step;
    if (queues->serving != request) /* what it waited for has come */
        queues_add(queues, request);
}

int64_t request_used(const struct request *request)
{
    const struct identity *account;

    if (request->caller.identity == CALLERS_NONE)
        return 0;
    account = &request->part->gate->callers.items[request->caller.account];
    return account->queue ? account->queue->used : account->used;
}

void request_charge(struct request *request, int64_t cost)
{
    struct queues *queues = request->front->queues;
    struct identity *account;
    int64_t least;

    if (!queues || request->caller.identity == CALLERS_NONE)
        return;
    account = &request->part->gate->callers.items[request->caller.account];
    least = queues->now - QUEUES_CREDIT;
    if (account->queue) {
        account->queue->used += cost;
        queue_settle(queues, account->queue);
    } else {
        account->used = (account->used > least ? account->used : least) + cost;
        queues->most = account->used > queues->most ? account->used : queues->most;
    }
}

/* --------------------------------------------------------------------------------------------------------------- life */

struct queues *queues_new(struct uv_loop_s *loop, void (*serve)(struct request *request))
{
    struct queues *queues = mem_alloc(sizeof *queues);

    *queues = (struct queues){.serve = serve, .handles = 2};
    uv_check_init(loop, &queues->check);
    uv_idle_init(loop, &queues->idle);
    queues->check.data = queues->idle.data = queues;
    return queues;
}

static void handle_closed(uv_handle_t *handle)
{
    struct queues *queues = handle->data;

    if (--queues->handles)
        return;
    free(queues->heap);
    free(queues);
}

void queues_free(struct queues *queues)
{
    if (!queues)
        return;
    uv_close((uv_handle_t *)&queues->check, handle_closed);
    uv_close((uv_handle_t *)&queues->idle, handle_closed);
}
