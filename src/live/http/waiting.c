/* waiting.c: requests that are answered when something has changed, or when their time is up. */
#include "live/http/request.h"

#include "pool/protocol/role.h"
#include "sys/clock.h"

bool request_waits(struct request *request)
{
    const struct front_part *part = request->part;
    uint64_t seconds;

    if (!request->deadline) {
        if (!request_number(request, "wait", 0, UINT32_MAX, 0, &seconds))
            return true; /* a problem was answered */
        request->deadline = clock_now() + (int64_t)(seconds < REQUEST_WAIT_MAX ? seconds : REQUEST_WAIT_MAX) * SECOND;
    }
    if ((part->unready && part->unready(part->daemon)) || clock_now() >= request->deadline)
        return false;
    if (!request->waits) {
        request->next = request->front->waiting;
        request->front->waiting = request;
    }
    request->waits = true;
    return true;
}

bool request_watches(struct request *request, uint64_t job)
{
    request->watches = job;
    return request_waits(request);
}

bool resource_waits(struct request *request, const char *etag, uint64_t mark)
{
    const char *none = exchange_field(request->exchange, "If-None-Match");

    return none && etag_is_named(none, etag) && request_query(request, "wait") && request_watches(request, mark);
}

bool front_waits(const struct front *front)
{
    return front && front->waiting;
}

/* Handles those again that `is_due` picks; the others wait on. */
static void wake_those(struct front *front, bool (*is_due)(const struct request *request, int64_t now))
{
    struct request *request = front ? front->waiting : NULL, *next, *still = NULL;
    int64_t now = clock_now();

    if (!request)
        return;

    front->waiting = NULL; /* requests that wait on are put in anew */
    for (; request; request = next) {
        next = request->next;
        if (!is_due(request, now)) {
            request->next = still;
            still = request;
            continue;
        }
        request->waits = request->marked = false;
        request_ready(request);
    }
    while ((request = still)) {
        still = request->next;
        request->next = front->waiting;
        front->waiting = request;
    }
}

static bool any_is_due(const struct request *request, int64_t now)
{
    (void)request;
    (void)now;
    return true;
}

static bool late_is_due(const struct request *request, int64_t now)
{
    return now >= request->deadline;
}

static bool marked_is_due(const struct request *request, int64_t now)
{
    (void)now;
    return request->marked;
}

void front_wake(struct front *front, bool all)
{
    wake_those(front, all ? any_is_due : late_is_due);
}

bool front_mark(struct front *front, uint64_t job)
{
    bool some = false;

    for (struct request *request = front ? front->waiting : NULL; request; request = request->next)
        if (request->watches == job && job)
            some = request->marked = true;
    return some;
}

void front_wake_marked(struct front *front)
{
    wake_those(front, marked_is_due);
}

void front_wait_end(struct front *front, const char *words)
{
    struct request *request;

    while (front && (request = front->waiting)) {
        front->waiting = request->next;
        request->waits = false;
        request_problem(request, 503, "%s", words);
    }
}
