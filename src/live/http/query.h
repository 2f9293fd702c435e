/* query.h: parameters and body of a request: all daemons read them alike.
 *
 *     ?limit=20&constraint=Memory%20%3E%201   <- query_number, query_expr
 *
 * An error has words for the caller, which begin with the parameter's name. */
#ifndef BERTH_LIVE_HTTP_QUERY_H
#define BERTH_LIVE_HTTP_QUERY_H

#include "lang/form/form.h"
#include "live/config/config.h"
#include "live/http/server.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A whole number; `fallback` when the parameter is not there; -1 when it is not a number within those bounds. */
int query_number(const struct exchange *exchange, const char *name, uint64_t low, uint64_t high, uint64_t fallback,
                 uint64_t *ret, struct err *err);
/* An expression, held; NULL when the parameter is not there; -1 when it cannot be read. */
int query_expr(const struct exchange *exchange, const char *name, struct symbols *symbols, const struct config *config,
               struct tree **ret, struct err *err);
/* The same from a text; `name` is for the error. */
int query_parse(const char *name, const char *text, size_t len, struct symbols *symbols, const struct config *config,
                struct tree **ret, struct err *err);
/* The names in `select`, or NULL; -1 when they are malformed. */
int query_select(const struct exchange *exchange, const char **ret, struct err *err);
/* Header fields of an answer that is a part of a list: where the rest begins, and a link to it. None when there is no rest. */
struct query_rest {
    struct http_field fields[2];
    size_t count;
    char digits[24];
    struct buf link;
};
/* The structure must not move until query_rest_done. `parameters`: names of the parameters that the request may have,
 * with blanks between. */
void query_rest_init(struct query_rest *rest, const struct exchange *exchange, const char *path, const char *parameters,
                     bool more, uint64_t cursor);
void query_rest_done(struct query_rest *rest);

/* The limits of ads that are read, from the settings. */
struct form_limits query_limits(const struct config *config);
/* The ad in the body, held; or NULL, and the status and error that say why. */
struct tree *query_body(const struct exchange *exchange, struct symbols *symbols, const struct config *config,
                        unsigned *ret_status, struct err *err);
/* Is the body too long, by the length that its head declares? */
bool query_body_is_long(const struct exchange *exchange, size_t most);

#ifdef __cplusplus
}
#endif
#endif
