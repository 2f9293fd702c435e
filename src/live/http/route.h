/* route.h: the routes of a daemon as one table, from which requests are dispatched, /openapi.json is written and tests are made.
 *
 *     {"jobs.file", HTTP_GET, "/v1/jobs/{id}/files/{kind}/{name...}", SCOPE_JOB_OWN, BODY_NONE, 0, "offset wait", "200 404", ...}
 *
 * A path that is not in the table does not exist; a route that is not marked as open needs a caller with one of its scopes. */
#ifndef BERTH_LIVE_HTTP_ROUTE_H
#define BERTH_LIVE_HTTP_ROUTE_H

#include "live/auth/scope.h"
#include "live/http/server.h"

#ifdef __cplusplus
extern "C" {
#endif

struct request;

#define ROUTE_VARIABLES_MAX 3
#define ROUTE_VARIABLE_MAX 255 /* bytes of a {variable} */
#define ROUTE_REST_MAX 1024    /* bytes of a {rest...} */

enum route_body {
    BODY_NONE,
    BODY_AD,       /* one ad; a PUT of an ad may have none */
    BODY_RESOURCE, /* the same, or a GRDL resource that becomes an ad */
    BODY_ADS,      /* messages, one after another */
    BODY_BYTES,    /* any bytes */
};

/* How long a body may be: as the settings say, or that many bytes. */
#define ROUTE_BODY 0                /* BodyMax */
#define ROUTE_SUBMISSION UINT32_MAX /* SubmissionMax */

enum route_flag {
    ROUTE_BY_CALLER = 1, /* open to all, but callers get different answers */
    ROUTE_RENEWAL = 2,   /* without a body the request is a heart beat, with a pace of its own */
    ROUTE_NEAR = 4,      /* open to this machine where the setting Metrics says so */
    ROUTE_AUDITED = 16,  /* what it changes is audited, and so is who was refused */
    ROUTE_GROWS = 32,    /* what it brings stays in memory: refused while the daemon has as much as it may */
    ROUTE_FILE = 8,      /* its {rest...} is the name of a file, which may have any byte but NUL */
};

struct route {
    const char *id; /* for metrics and the log: "ads.put" */
    enum http_method method;
    const char *path; /* with {variables}; {rest...}, at the end, takes all that is left */
    scopes scope;     /* any one of them is enough; SCOPE_NONE: open to all */
    enum route_body body;
    uint32_t body_max;      /* ROUTE_BODY, ROUTE_SUBMISSION, or bytes */
    const char *parameters; /* names of query parameters, with blanks between */
    const char *answers;    /* statuses besides those that every route has, with blanks between */
    const char *types;      /* types of a 2xx answer, with blanks between; "": it has no body */
    const char *summary;
    void (*handle)(struct request *request);
    unsigned flags; /* of enum route_flag */
};

/* A parameter of a query, for the reader of /openapi.json. */
struct parameter {
    const char *name, *type, *help;
};

/* An example of a route: a request, and what it is answered in a pool that has seen those before it. /openapi.json has it, and a test sends it. */
struct route_example {
    const char *id;     /* of the route */
    const char *after;  /* ids of the routes whose examples come before it, with blanks between */
    const char *path;   /* with values in place of variables, and a query; NULL: as the route has it */
    const char *body;   /* NULL: none */
    unsigned status;    /* of the answer */
    const char *answer; /* JSON where that is among the route's types, else text; NULL: no body */
    unsigned flags;
};

enum route_example_flag {
    EXAMPLE_MORE = 1, /* the answer may have further attributes */
    EXAMPLE_AD = 2,   /* the bytes of the body are an ad, and sent as such */
};

struct route_table {
    const char *title, *summary; /* of the interface */
    const struct route *routes;
    size_t count;
    const struct parameter *parameters; /* all parameters that routes name */
    size_t parameter_count;
    const struct route_example *examples; /* one of each route; behind the last is one without an id */
};

enum route_result { ROUTE_FOUND, ROUTE_NOT_THERE, ROUTE_OTHER_METHOD };

struct route_match {
    const struct route *route;
    size_t table; /* the place of its table among those that were searched */
    char variables[ROUTE_VARIABLES_MAX][ROUTE_REST_MAX + 1];
    char allow[64];
};

/* The route of a path (raw: escapes are decoded here, variable by variable). With ROUTE_OTHER_METHOD, `allow` gets the
 * methods that the path has. HEAD is GET where it has no route of its own. A variable that is not good (empty, bad
 * escapes, control characters except in names of files, too long) makes the path NOT_THERE. */
enum route_result route_find(const struct route_table *const *tables, size_t table_count, enum http_method method,
                             const char *raw_path, struct route_match *ret);

const char *method_name(enum http_method method);

/* Appends the description of an interface (OpenAPI 3.1): the routes of all tables, under the title of the first. */
void openapi_print(struct buf *out, const struct route_table *const *tables, size_t table_count, const char *version);

#ifdef __cplusplus
}
#endif
#endif
