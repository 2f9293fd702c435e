/* front.h: the HTTP front of a daemon: from the head of a request to its answer, the same for all.
 *
 *     head -> route -> Host, Origin -> Accept -> caller and scope (gate.h) -> pace -> length of the body, bodies under way
 *          -> body read -> the route's handler, with a struct request (request.h) -> answered now or later -> over
 *
 * A front has parts: tables of routes, each with the daemon that its handlers work for and the gate that its callers pass. Several servers
 * may share one front: it is the user of front_handler. Nothing of a body is read before route and caller are settled. */
#ifndef BERTH_LIVE_HTTP_FRONT_H
#define BERTH_LIVE_HTTP_FRONT_H

#include "live/http/gate.h"
#include "live/http/metrics.h"
#include "live/http/route.h"
#include "sys/log.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FRONT_PARTS_MAX 2

struct front_part {
    const struct route_table *table;
    void *daemon; /* of the handlers */
    struct gate *gate;
    const struct config *config; /* how long bodies and ads may be; NULL: no route reads an ad */
    struct symbols *symbols;     /* of the ads in bodies */
    const char *(*unready)(
        const void *daemon); /* why nothing is taken any more (503); NULL: all is well. May be NULL */
};

/* All is lent. */
struct front_settings {
    struct front_part parts[FRONT_PARTS_MAX];
    size_t part_count;
    struct log *log;
    struct metrics *metrics; /* by the routes of the first part; NULL: none are counted */
    const char *version;     /* of the program, for /openapi.json */
};

struct front {
    struct front_settings settings;
    const struct route_table *tables[FRONT_PARTS_MAX];
    uint64_t requests;       /* so far */
    struct request *waiting; /* for a change */
    struct buf out;          /* scratch, for one answer */
};

void front_init(struct front *front, const struct front_settings *settings);
void front_done(struct front *front); /* its servers are gone */

extern const struct server_handler front_handler; /* its user is the front */

/* Those that wait (request_waits) are handled again: whose time is up; `all`: every one of them. No front: nobody waits. */
void front_wake(struct front *front, bool all);
bool front_waits(const struct front *front);                 /* does somebody? */
void front_wait_end(struct front *front, const char *words); /* nobody waits any longer: 503 */

/* Handlers for rows that many tables have. */
void front_openapi(struct request *request);
void front_health(struct request *request);

#ifdef __cplusplus
}
#endif
#endif
