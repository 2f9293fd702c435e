/* routes.h: the routes of the matchmaker (live/http/route.h). */
#ifndef BERTH_LIVE_MATCHMAKERD_ROUTES_H
#define BERTH_LIVE_MATCHMAKERD_ROUTES_H

#include "live/http/route.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ROUTES_MAX 128

extern const struct route_table matchmakerd_routes;
extern const struct route_example matchmakerd_examples[]; /* route_examples.c */

#ifdef __cplusplus
}
#endif
#endif
