/* lookups.h: requests whose callers are still being looked up, and wait for that without keeping anybody else waiting.
 *
 *     head -> gate_caller: its account is being looked up -> lookups_add -> decide, every few milliseconds, until it has decided
 *
 * Whoever waits for LOOKUPS_PATIENCE is decided about all the same, and told to come again. */
#ifndef BERTH_LIVE_HTTP_LOOKUPS_H
#define BERTH_LIVE_HTTP_LOOKUPS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* uv_loop_t */
struct request;
struct lookups;

#define LOOKUPS_PATIENCE (INT64_C(10) * 1000 * 1000) /* microseconds; a server gives a request 30 s */
#define LOOKUPS_AGAIN "5"                            /* seconds after which one who waited in vain may ask again */

/* A request's place among those that wait. */
struct lookups_place {
    struct lookups *lookups; /* NULL: it does not wait */
    struct request *before, *behind;
};

/* Decides about a request; `late`: it has waited long enough. If not even then, lookups_add is called again. */
typedef void lookups_decide_fn(struct request *request, bool late);

/* The request waits. `*lookups` is NULL while none does. */
void lookups_add(struct lookups **lookups, struct uv_loop_s *loop, lookups_decide_fn *decide, struct request *request);
void lookups_remove(struct request *request); /* if it waits */

#ifdef __cplusplus
}
#endif
#endif
