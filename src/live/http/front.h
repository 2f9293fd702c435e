/* front.h: the HTTP front of a daemon: from the head of a request to its answer, the same for all daemons.
 *
 *     head -> route -> Host, Origin -> Accept -> caller and scope (gate.h; lookups.h) -> pace -> length of the body, bodies under way
 *          -> body read -> its account's turn (queues.h) -> the route's handler, with a struct request (request.h)
 *          -> answered now or later -> over
 *
 * A front has parts: tables of routes, each with the daemon that its handlers work for and the gate that its callers pass. Several servers
 * may share one front, which is the user of front_handler. Nothing of a body is read before route and caller are settled. */
#ifndef BERTH_LIVE_HTTP_FRONT_H
#define BERTH_LIVE_HTTP_FRONT_H

#include "live/http/gate.h"
#include "live/http/lookups.h"
#include "live/http/memory_watch.h"
#include "live/http/metrics.h"
#include "live/http/queues.h"
#include "live/http/route.h"
#include "sys/log.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FRONT_PARTS_MAX 2

struct front_part {
    const struct route_table *table;
    void *daemon; /* the daemon that the handlers work for */
    struct gate *gate;
    const struct config *config; /* limits of bodies and ads; NULL: no route reads an ad */
    struct symbols *symbols;     /* for ads in bodies */
    /* Answers a request that another daemon is to have: true. Asked of the first part, for all. May be NULL. */
    bool (*elsewhere)(struct request *request);
    bool turns; /* its callers are users, whose requests take turns; needs a loop */
    const char *(*unready)(
        const void *daemon); /* returns why nothing is accepted any more (503); NULL: all is well. May be NULL */
    /* The same for routes with ROUTE_AUDITED, which change what has to be durable: it may be tried again soon. May be NULL. */
    const char *(*unwritable)(const void *daemon);
    /* Could a row not be read since this was asked last? Then what was to be read is answered with 503, and to be tried again. May be NULL. */
    bool (*misread)(void *daemon);
    /* A request by a route with ROUTE_AUDITED is about to be answered with 401 or 403, and why. May be NULL. */
    void (*refused)(struct request *request, unsigned status, const char *why);
};

/* All pointers are lent. */
struct front_settings {
    struct front_part parts[FRONT_PARTS_MAX];
    size_t part_count;
    struct log *log;
    struct memory_watch *memory; /* is asked before a route with ROUTE_GROWS; NULL: nobody */
    struct metrics *metrics;     /* counts by the routes of all parts; NULL: nothing is counted */
    const char *version;         /* of the program, for /openapi.json */
    struct uv_loop_s
        *loop; /* for parts whose requests take turns, or whose callers may have to be looked up; or NULL */
};

struct front {
    struct front_settings settings;
    const struct route_table *tables[FRONT_PARTS_MAX];
    uint64_t requests;       /* how many there have been */
    struct request *waiting; /* requests that wait for a change */
    struct queues *queues;   /* requests that wait for their turn; NULL: none takes turns */
    struct lookups *lookups; /* requests whose callers are being looked up; NULL: there are none */
    struct buf out;          /* scratch, for one answer */
};

void front_init(struct front *front, const struct front_settings *settings);
void front_done(struct front *front); /* after its servers are gone */

extern const struct server_handler front_handler; /* its user is the front */

/* Handles waiting requests (request_waits) again: those whose time is up; `all`: every one of them. `front` may be
 * NULL. */
void front_wake(struct front *front, bool all);
bool front_mark(struct front *front,
                uint64_t job);                 /* marks those that watch that job (request_watches); is there one? */
void front_wake_marked(struct front *front);   /* handles these again */
bool front_is_busy(const struct front *front); /* do requests wait for their turn? */
bool front_goes_on(const struct front *front); /* is a slice of them under way (queues.h)? */
bool front_waits(const struct front *front);   /* does any request wait? */
void front_wait_end(struct front *front, const char *words); /* answers all that wait with 503 */

/* Handlers for rows that many tables have. */
void front_openapi(struct request *request);
void front_health(struct request *request);

#ifdef __cplusplus
}
#endif
#endif
