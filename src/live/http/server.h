/* server.h: HTTP/1.1 in the loop: takes requests and sends answers, and knows nothing of their meaning.
 *
 *     head read -> guard (guard.h) -> begin: who calls, may they, how long a body? -> body read -> handle -> answered, now or later
 *                                                                                                         `-> or a stream of events
 *
 * libmicrohttpd, driven from a libuv loop: one watcher on its epoll descriptor, no thread. There is one server for each listening address. All calls
 * are made from the loop's own thread; only the handler's functions are called back.
 *
 * The server itself answers what goes wrong before a handler is called, as application/problem+json, and closes the connection:
 * a head that the guard refuses (400), a body that is declared too long (413), a head or body that takes too long (408), a handler that
 * does (503). If the parser cannot read the head at all, it answers with a page of its own (400, 414, 431, 505), or not. */
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
struct buf;
struct sockaddr;
struct server;
struct exchange; /* a request and its answer */

/* Times are in microseconds; 0 takes the default. Each deadline covers its part as a whole: a byte now and then does not extend
 * it. Deadlines are checked some four times within the shortest of them, at least every second. */
struct server_limits {
    int64_t head;    /* from the connection (later: from the request line) to the end of the head: 10 s */
    int64_t body;    /* from `begin` to the end of the body: 30 s */
    int64_t reply;   /* from `handle` to an answer, and until that is sent: 30 s each. Streams: see exchange_stream */
    int64_t idle;    /* between an answer and the next request line: 60 s. Then closed without an answer */
    int64_t comment; /* a stream in which nothing was written gets a comment: 15 s */
    uint32_t fields; /* header fields of a request: 100 */
    uint32_t field_bytes;   /* bytes of all fields together: 16384 */
    uint32_t strangers;     /* connections from one address (IPv6: one /64) that are not accepted as known: 64 */
    uint32_t connections;   /* connections in all: 10000 */
    uint32_t all_strangers; /* of them, strangers: half; beyond it the one that is a stranger for longest is closed */
    uint32_t
        users; /* of them, from one user of this machine by a Unix socket, except root and the server's own user: an eighth */
    uint32_t send_buffer; /* SO_SNDBUF of a connection: 65536 */
    bool ipv6_alone;      /* [::] is for IPv6 alone, since another server has the port for IPv4; else it is for both */
};

struct server_handler {
    void *user;
    /* The head is there and has passed the guard. Must call exchange_accept or exchange_answer, now or later. */
    void (*begin)(void *user, struct exchange *exchange);
    /* The body is complete. Answers now, or keeps the exchange and answers later; or makes it a stream. */
    void (*handle)(void *user, struct exchange *exchange);
    /* The exchange is over: answered and sent, or the client has gone, or a deadline cut it. Called once for each exchange that began, as the
     * last call: code that kept the exchange must forget it. */
    void (*over)(void *user, struct exchange *exchange);
    /* The guard, a limit or a deadline refused something: for metrics and the log. `why` is static. May be NULL. */
    void (*refused)(void *user, const char *why, const struct sockaddr *from);
};

/* `address`: "127.0.0.1:7600", "[::1]:0", "0.0.0.0:7600" or "unix:/path" (made with mode 0666 in a directory that the caller made; a
 * stale socket file is replaced, a live one is an error; the file is removed with the server). `certificate` and `key`: PEM texts for TLS 1.3 or
 * 1.2, or both NULL for plain. The texts, limits and handler are copied. */
struct server *server_new(struct uv_loop_s *loop, const char *address, const char *certificate, const char *key,
                          const struct server_limits *limits, const struct server_handler *handler, struct err *err);
/* Ends all exchanges (`over` is called for each) and closes all connections. Not from inside a call of the handler. The
 * last memory is freed when the loop has run once more. */
void server_free(struct server *server);
const char *server_address(const struct server *server); /* with the port that was really taken: "127.0.0.1:43127" */
/* From now on requests begin with that user of the handler. It has to be known to the handler to which user an exchange under way belongs. */
void server_set_user(struct server *server, void *user);
void server_stop_accepting(struct server *server); /* for a drain: present connections stay */
uint32_t server_connections(const struct server *server);

/* ------------------------------------------------------------------------------------------- the request; lent until `over` */

#define HTTP_METHODS(X) X(GET) X(HEAD) X(PUT) X(POST) X(DELETE) X(OPTIONS) X(PATCH)

enum http_method {
#define X(id) HTTP_##id,
    HTTP_METHODS(X)
#undef X
        HTTP_OTHER,
    HTTP_METHOD_COUNT
};

enum http_method exchange_method(const struct exchange *exchange);
/* The path, decoded once: no NUL inside, no "..", begins with '/'. NUL-terminated. */
const char *exchange_path(const struct exchange *exchange, size_t *ret_len);
/* The path, not decoded: split this one into segments, so that a %2F inside a segment can be told from '/'. */
const char *exchange_raw_path(const struct exchange *exchange);
const char *exchange_query(const struct exchange *exchange,
                           const char *name); /* decoded; NULL: not given; "" when it has no value */
const char *exchange_field(const struct exchange *exchange, const char *name); /* a header, or NULL */
const char *exchange_body(const struct exchange *exchange,
                          size_t *ret_len); /* BUF_PADDING (buf.h) NULs behind; empty in begin */
/* Takes the body away: it is the caller's, in `ret`, a buffer that was empty. */
void exchange_body_take(struct exchange *exchange, struct buf *ret);
/* The client's address; for a Unix socket only the family is set. */
const struct sockaddr *exchange_from(const struct exchange *exchange);
bool exchange_peer_user(const struct exchange *exchange,
                        uint32_t *ret_uid);               /* from SO_PEERCRED; false unless it is a Unix socket */
bool exchange_is_secure(const struct exchange *exchange); /* TLS */
void *exchange_data(const struct exchange *exchange);     /* the handler's own data; NULL at first */
void exchange_set_data(struct exchange *exchange, void *data);

/* Called from begin: goes on, with a body of at most that many bytes; a body that is declared longer is answered with 413 before it is read.
 * `known`: the caller has proved who it is, and its connection no longer counts as a stranger of its address. */
void exchange_accept(struct exchange *exchange, size_t body_max, bool known);

/* --------------------------------------------------------------------------------------------------------------- the answer */

struct http_answer {
    unsigned status;
    const char *type; /* Content-Type; NULL: none */
    const char *body;
    size_t len;
    const struct http_field *fields;
    size_t field_count;
    bool close; /* close the connection afterwards; always done if a request with a body is answered from begin */
};

/* Everything is copied. 204 and 304, and answers to HEAD, are sent without the body (HEAD keeps its Content-Length).
 * May be called from begin, from handle, or later from any place in the loop; the first answer counts, others do
 * nothing. A client that closes its side of the connection while it waits is taken to have gone. */
void exchange_answer(struct exchange *exchange, const struct http_answer *answer);

void exchange_goes_on(struct exchange *exchange);           /* the handler is at it: its time to answer begins anew */
bool exchange_is_answered(const struct exchange *exchange); /* by whomever: a deadline answers, too */

/* Answers with {"type":"about:blank","title":...,"status":...,"detail":...}. */
void exchange_problem(struct exchange *exchange, unsigned status, const char *detail);

/* Answers with a stream, whose bytes come over time. Called instead of exchange_answer. Bytes are queued by
 * exchange_stream_write and sent as the client reads. When more than `queue_max` bytes wait, write returns false and the stream is cut: `over`
 * comes soon. The server writes a comment (":\n\n") when nothing was written for a while (limits: comment). The whole has no deadline,
 * but a client that reads nothing for `reply` while bytes wait is cut off. */
void exchange_stream(struct exchange *exchange, const char *type, const struct http_field *fields, size_t field_count,
                     size_t queue_max);
bool exchange_stream_write(struct exchange *exchange, const char *bytes, size_t len);
size_t exchange_stream_waiting(const struct exchange *exchange); /* bytes that the client has not taken yet */
void exchange_stream_end(struct exchange *exchange); /* ends when all that waits is sent, or was not read for `reply` */

#ifdef __cplusplus
}
#endif
#endif
