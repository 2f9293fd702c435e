/* server.h: HTTP/1.1 in the loop: requests come in, answers go out, and nothing about what they mean.
 *
 *     head read -> guard (guard.h) -> begin: who is it, may it, how long a body? -> body read -> handle -> answered, now or later
 *                                                                                       `-> or a stream of events
 *
 * libmicrohttpd, driven from a libuv loop: one watcher on its epoll descriptor, no thread. One server a listening address. All calls
 * are made from the loop's own thread, and none but those of the handler call back.
 *
 * What goes wrong before a handler is asked is answered by the server itself, as application/problem+json, and the connection closed:
 * what the guard refuses (400), a body that is declared too long (413), a head or body that takes too long (408), a handler that
 * does (503). What the parser cannot read at all it answers with a page of its own (400, 414, 431, 505), or none. */
#ifndef BERTH_LIVE_HTTP_SERVER_H
#define BERTH_LIVE_HTTP_SERVER_H

#include "lang/base/err.h"
#include "live/http/http.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct uv_loop_s; /* uv_loop_t */
struct sockaddr;
struct server;
struct exchange; /* a request and its answer */

/* Times are in microseconds; 0 takes the default. Each deadline is for all of its part together: a byte now and then does not extend
 * it. Looked at some four times within the shortest of them, at most every second. */
struct server_limits {
    int64_t head;    /* from the connection (later: from the request line) to the end of the head: 10 s */
    int64_t body;    /* from `begin` to the end of the body: 30 s */
    int64_t reply;   /* from `handle` to an answer, and from there until it is sent: 30 s each. Streams: see there */
    int64_t idle;    /* between an answer and the next request line: 60 s. Closed without a word */
    int64_t comment; /* a stream in which nothing was written gets a comment: 15 s */
    uint32_t fields; /* of a head: 100 */
    uint32_t field_bytes;   /* of them together: 16384 */
    uint32_t strangers;     /* connections of one address (IPv6: one /64) that `begin` has not accepted as known: 64 */
    uint32_t connections;   /* in all: 10000 */
    uint32_t all_strangers; /* of them, of strangers: half; past it the one that has been a stranger for longest goes */
    uint32_t
        users; /* of them, of one user of this machine by a Unix socket, unless it is the one who serves or root: an eighth */
    uint32_t send_buffer; /* SO_SNDBUF of a connection: 65536 */
};

struct server_handler {
    void *user;
    /* The head is there and has passed the guard. Calls one of exchange_accept and exchange_answer, now or later. */
    void (*begin)(void *user, struct exchange *exchange);
    /* The body is whole. Answers now, or keeps the exchange and answers later; or makes it a stream. */
    void (*handle)(void *user, struct exchange *exchange);
    /* The exchange is over: answered and sent, or the client has gone, or a deadline cut it. Called once for each that began, and the
     * last call: whoever kept the exchange forgets it. */
    void (*over)(void *user, struct exchange *exchange);
    /* The guard, a limit or a deadline refused something: for metrics and the log. `why` is static. May be NULL. */
    void (*refused)(void *user, const char *why, const struct sockaddr *from);
};

/* `address`: "127.0.0.1:7600", "[::1]:0", "0.0.0.0:7600" or "unix:/path" (made with mode 0666 inside a directory the caller made; a
 * stale socket file is replaced, a live one refused; the file goes with the server). `certificate` and `key`: PEM texts for TLS 1.3 or
 * 1.2, or both NULL for plain. The texts, limits and handler are copied. */
struct server *server_new(struct uv_loop_s *loop, const char *address, const char *certificate, const char *key,
                          const struct server_limits *limits, const struct server_handler *handler, struct err *err);
/* Ends all exchanges (`over` is called for each) and closes all connections. Not from inside a call of the handler. The last memory is
 * given back when the loop has run once more. */
void server_free(struct server *server);
const char *server_address(const struct server *server); /* with the port that was really taken: "127.0.0.1:43127" */
void server_stop_accepting(struct server *server);       /* for a drain: what is connected stays */
uint32_t server_connections(const struct server *server);

/* ------------------------------------------------------------------------------------------- the request; lent until `over` */

#define HTTP_METHODS(X) X(GET) X(HEAD) X(PUT) X(POST) X(DELETE) X(OPTIONS)

enum http_method {
#define X(id) HTTP_##id,
    HTTP_METHODS(X)
#undef X
        HTTP_OTHER,
    HTTP_METHOD_COUNT
};

enum http_method exchange_method(const struct exchange *exchange);
/* Decoded once: no NUL inside, no "..", begins with '/'. NUL-terminated. */
const char *exchange_path(const struct exchange *exchange, size_t *ret_len);
/* Not decoded: split this one into segments, so that a %2F inside a segment can be told from '/'. */
const char *exchange_raw_path(const struct exchange *exchange);
const char *exchange_query(const struct exchange *exchange,
                           const char *name); /* decoded, or NULL; "" when it has no value */
const char *exchange_field(const struct exchange *exchange, const char *name); /* a header, or NULL */
const char *exchange_body(const struct exchange *exchange,
                          size_t *ret_len); /* BUF_PADDING (buf.h) NULs behind; empty in begin */
/* Of a Unix socket only the family is told. */
const struct sockaddr *exchange_from(const struct exchange *exchange);
bool exchange_peer_user(const struct exchange *exchange,
                        uint32_t *ret_uid);               /* by SO_PEERCRED; false unless a Unix socket */
bool exchange_is_secure(const struct exchange *exchange); /* TLS */
void *exchange_data(const struct exchange *exchange);     /* the handler's own; NULL at first */
void exchange_set_data(struct exchange *exchange, void *data);

/* From begin: goes on, with a body of at most that many bytes; one that is declared longer is answered with 413 before it is read.
 * `known`: it has proved who it is, and its connection no longer counts as a stranger of its address. */
void exchange_accept(struct exchange *exchange, size_t body_max, bool known);

/* --------------------------------------------------------------------------------------------------------------- the answer */

struct http_answer {
    unsigned status;
    const char *type; /* Content-Type; NULL: none */
    const char *body;
    size_t len;
    const struct http_field *fields;
    size_t field_count;
    bool close; /* the connection is closed afterwards; so it is when a request with a body is answered from begin */
};

/* All is copied. 204 and 304, and answers to HEAD, are sent without the body (HEAD keeps its Content-Length). From begin, from handle,
 * or later from any place in the loop; the first answer counts, others do nothing. A client that closes its side of the connection
 * while it waits is taken to have gone. */
void exchange_answer(struct exchange *exchange, const struct http_answer *answer);

/* Answers with {"type":"about:blank","title":...,"status":...,"detail":...}. */
void exchange_problem(struct exchange *exchange, unsigned status, const char *detail);

/* A stream: the answer comes by and by. Instead of exchange_answer, where that may be called. Bytes are queued by
 * exchange_stream_write and sent as the client reads. Past `queue_max` bytes waiting, write returns false and the stream is cut: `over`
 * comes soon. A comment (":\n\n") is written by the server when nothing was for a while (limits: comment). No deadline holds for the whole,
 * but a client that reads nothing for `reply` while bytes wait is cut off. */
void exchange_stream(struct exchange *exchange, const char *type, const struct http_field *fields, size_t field_count,
                     size_t queue_max);
bool exchange_stream_write(struct exchange *exchange, const char *bytes, size_t len);
size_t exchange_stream_waiting(const struct exchange *exchange); /* bytes that the client has not taken yet */
void exchange_stream_end(struct exchange *exchange); /* when what waits is sent, or was not read for `reply` */

#ifdef __cplusplus
}
#endif
#endif
