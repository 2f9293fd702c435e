/* routes.h: the routes of the matchmaker: one table, from which requests are dispatched, /openapi.json is written and tests are made.
 *
 * What is not in it does not exist; what does not say that it is open wants a token with its scope. */
#ifndef BERTH_LIVE_MATCHMAKERD_ROUTES_H
#define BERTH_LIVE_MATCHMAKERD_ROUTES_H

#include "live/auth/scope.h"
#include "live/http/server.h"

#ifdef __cplusplus
extern "C" {
#endif

struct request;

#define ROUTE_VARIABLES_MAX 2

enum route_body {
    BODY_NONE,
    BODY_AD,       /* one ad; a PUT of an ad may be without */
    BODY_RESOURCE, /* the same, or a GRDL resource that becomes one */
    BODY_ADS,      /* messages, one after another */
    BODY_BYTES,    /* whatever it is */
};

struct route {
    const char *id; /* for metrics and the log: "ads.put" */
    enum http_method method;
    const char *path; /* with {variables} */
    scopes scope;     /* one; SCOPE_NONE: open to all */
    enum route_body body;
    bool large;             /* its body is a submission */
    const char *parameters; /* names of the query's, with blanks between */
    const char *answers;    /* statuses besides those that every route has, with blanks between */
    const char *types;      /* of what is given with 2xx, with blanks between; "": nothing is */
    const char *summary;
    void (*handle)(struct request *request);
};

extern const struct route routes[];
extern const size_t route_count;

enum route_result { ROUTE_FOUND, ROUTE_NOT_THERE, ROUTE_OTHER_METHOD };

/* The route of a path (raw: escapes are decoded here, variable by variable). With ROUTE_OTHER_METHOD, `ret_allow` gets the methods
 * that there are. HEAD is GET. A variable that is no good text (escapes, control characters, too long) makes it NOT_THERE. */
#define ROUTE_VARIABLE_MAX 255
struct route_match {
    const struct route *route;
    char variables[ROUTE_VARIABLES_MAX][ROUTE_VARIABLE_MAX + 1];
    char allow[64];
};
enum route_result route_find(enum http_method method, const char *raw_path, struct route_match *ret);

const char *method_name(enum http_method method);

/* A parameter of a query, for the reader of /openapi.json. */
struct parameter {
    const char *name, *type, *help;
};
extern const struct parameter parameters[];
extern const size_t parameter_count;

/* The description of the interface (OpenAPI 3.1), appended. */
void openapi_print(struct buf *out, const char *version);

#ifdef __cplusplus
}
#endif
#endif
