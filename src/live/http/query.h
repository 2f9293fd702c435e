/* query.h: what the address and the body of a request say, whoever answers it: all daemons read them alike.
 *
 *     ?limit=20&constraint=Memory%20%3E%201   <- query_number, query_expr
 *
 * Where something is wrong the error has words for the caller, with the parameter's name before them. */
#ifndef BERTH_LIVE_HTTP_QUERY_H
#define BERTH_LIVE_HTTP_QUERY_H

#include "lang/form/form.h"
#include "live/config/config.h"
#include "live/http/server.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A whole number; `fallback` when the parameter is not there; -1 when it is none in those bounds. */
int query_number(const struct exchange *exchange, const char *name, uint64_t low, uint64_t high, uint64_t fallback,
                 uint64_t *ret, struct err *err);
/* An expression, held; NULL when the parameter is not there; -1 when it cannot be read. */
int query_expr(const struct exchange *exchange, const char *name, struct symbols *symbols, const struct config *config,
               struct tree **ret, struct err *err);
/* The same from a text; `name` is for the error. */
int query_parse(const char *name, const char *text, size_t len, struct symbols *symbols, const struct config *config,
                struct tree **ret, struct err *err);
/* The names in `select`, or NULL; -1 when they are none. */
int query_select(const struct exchange *exchange, const char **ret, struct err *err);
/* The fields of an answer that is a part of a list: where the rest begins, and a link to it. None when there is no rest. */
struct query_rest {
    struct http_field fields[2];
    size_t count;
    char digits[24];
    struct buf link;
};
/* It stays where it is until it is done. `parameters`: names of those that the question may have, with blanks between. */
void query_rest_init(struct query_rest *rest, const struct exchange *exchange, const char *path, const char *parameters,
                     bool more, uint64_t cursor);
void query_rest_done(struct query_rest *rest);

/* How much of an ad is read, as the settings say. */
struct form_limits query_limits(const struct config *config);
/* The ad that was sent, held; NULL, and the status that says why. */
struct tree *query_body(const struct exchange *exchange, struct symbols *symbols, const struct config *config,
                        unsigned *ret_status, struct err *err);
/* Is a body of the length that its head says too long? */
bool query_body_is_long(const struct exchange *exchange, size_t most);

#ifdef __cplusplus
}
#endif
#endif
