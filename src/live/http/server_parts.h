/* server_parts.h: what the files of the server share: a server, its connections and their exchanges.
 *
 *     server -- connections: all in one list (for the sweep); those to be resumed also in another (wakes)
 *        |          `-- exchange: while a request is being read, thought about or answered
 *        `-- spare exchanges, with their buffers
 *
 * A connection that waits for the handler is suspended in libmicrohttpd: only we can wake it, so a connection in the list of wakes
 * cannot go away meanwhile. */
#ifndef BERTH_LIVE_HTTP_SERVER_PARTS_H
#define BERTH_LIVE_HTTP_SERVER_PARTS_H

#include "lang/base/buf.h"
#include "lang/base/map.h"
#include "live/http/guard.h"
#include "live/http/libmicrohttpd.h"
#include "live/http/server.h"

#include <uv.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SERVER_WAKES_MAX 200     /* connections resumed in one turn of the loop: 2,000 would hold it for 15 ms */
#define SERVER_SPARE_BYTES 65536 /* buffers larger than that are not kept for the next exchange */
#define SERVER_POOL_BYTES 32768  /* libmicrohttpd's memory for a connection: the head has to fit */

/* What a connection is doing: the limit of its time, and the words when it takes longer. */
#define PHASES(X)                                     \
    X(HEAD, head, "the head took too long")           \
    X(BODY, body, "the body took too long")           \
    X(WAIT, reply, "there was no answer in time")     \
    X(REPLY, reply, "the answer was read too slowly") \
    X(STREAM, reply, "the stream was not read")       \
    X(IDLE, idle, "idle")

enum phase {
#define X(id, limit, words) PHASE_##id,
    PHASES(X)
#undef X
        PHASE_COUNT
};

struct conn {
    struct server *server;
    struct conn *prev, *next;
    struct conn *wake_next;
    struct MHD_Connection *mhd;
    const struct sockaddr *from;
    struct exchange *exchange; /* NULL between requests */
    int fd;
    enum phase phase;
    int64_t deadline;  /* milliseconds of the loop; not looked at for streams */
    uint64_t stranger; /* its address (on a Unix socket: its user) as a key, while it counts */
    bool counts;
    struct conn *stranger_prev, *stranger_next; /* while it counts: in the server's list, the oldest first */
    bool is_suspended;
    bool is_waking; /* in the list of wakes */
    bool is_cut;    /* we have shut it down: nothing more is done for it */
};

enum exchange_state {
    EXCHANGE_HEAD,    /* the request line is there */
    EXCHANGE_BEGUN,   /* begin was called, and has not decided */
    EXCHANGE_BODY,    /* accepted: the body is being read */
    EXCHANGE_HANDLED, /* handle was called, or need not be called any more */
    EXCHANGE_QUEUED,  /* libmicrohttpd has the answer */
};

struct stream {
    bool is_on, is_ended;
    struct buf queue; /* waiting bytes, from `start` on */
    size_t start, max;
    int64_t written; /* when bytes were last put in */
    int64_t moved;   /* when bytes were last taken out, or began to wait */
};

struct exchange {
    struct conn *conn;
    struct exchange *next_spare;
    enum exchange_state state;
    enum http_method method;
    bool is_begun;                 /* `over` must be called */
    bool is_calling;               /* the handler is being called: the connection need not be woken */
    bool is_accepted;              /* begin has accepted the request */
    struct MHD_Response *response; /* given by the handler, not queued yet */
    unsigned status;
    uint64_t length; /* the declared length of the body */
    size_t body_max;
    struct buf body;
    struct buf text; /* raw path, NUL, raw query, NUL, decoded path, NUL */
    size_t raw_len, query_at, query_len, path_at, path_len;
    struct buf query; /* name, NUL, value, NUL ...; made when first asked for */
    bool has_query;
    void *data;
    struct stream stream;
};

struct server {
    struct uv_loop_s *loop;
    struct MHD_Daemon *daemon;
    struct server_limits limits;
    struct guard_limits guard;
    struct server_handler handler;
    int64_t spans[PHASE_COUNT]; /* milliseconds */
    int64_t comment;
    bool is_secure, is_unix, is_quiet, is_freed; /* quiet: it accepts no more connections */
    char *address;
    char *socket_path; /* to be removed with the server */
    uint64_t socket_device, socket_inode;
    uv_poll_t poll;  /* libmicrohttpd's epoll descriptor */
    uv_timer_t wait; /* MHD_get_timeout */
    /* The same when the timeout is 0, and for wakes. Not a timer of 0 ms: libuv 1.44 would run it again in the same
     * turn. */
    uv_idle_t again;
    uv_timer_t sweep;
    uint64_t sweep_every; /* milliseconds */
    int64_t swept;        /* when the last sweep was */
    unsigned handles;     /* how many of these handles are open */
    struct conn *conns;
    uint32_t conn_count;
    struct map strangers; /* key of an address, or of a user -> its connections */
    struct conn *stranger_first, *stranger_last;
    uint32_t stranger_count;
    int fd_most,
        fd_end; /* from fd_most on descriptors are scarce; a connection at fd_end or beyond is closed at once */
    struct conn *wakes, **wakes_end;
    struct exchange *spare;
    struct err *start_err; /* while libmicrohttpd starts: gets its messages */
};

/* server.c */
void server_refused(struct server *server, const char *why, const struct sockaddr *from);
void conn_wake(struct conn *conn);
void conn_suspend(struct conn *conn); /* only from within libmicrohttpd's call */
void conn_enter(struct conn *conn, enum phase phase);
void conn_allow(struct conn *conn, uint64_t times); /* so many times its phase's span more */

/* server_conns.c: who may connect, and for how long. */
enum MHD_Result conns_admit(void *user, const struct sockaddr *from, socklen_t len);
void conns_notify(void *user, struct MHD_Connection *mhd, void **socket_context,
                  enum MHD_ConnectionNotificationCode code);
void conn_known(struct conn *conn);
void conn_cut(struct conn *conn); /* shuts it down, and wakes it so that libmicrohttpd sees that */
/* The same, for a client that does not read: bytes that the kernel still holds for it are dropped, or it would hold them for minutes. */
void conn_abandon(struct conn *conn);
void conns_sweep(struct server *server);
/* libmicrohttpd has refused a head that it has read to its end, and would send its own answer twice (0.9.75): the connection is found by its state,
 * answered by us and cut. */
void conns_head_bad(struct server *server);

/* server_exchange.c */
void *exchange_open(void *user, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result exchange_run(void *user, struct MHD_Connection *mhd, const char *url, const char *method,
                             const char *version, const char *upload, size_t *upload_len, void **context);
void exchange_close(void *user, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode code);
void exchange_free(struct exchange *exchange);

/* server_answer.c: takes over the response. */
void exchange_respond(struct exchange *exchange, unsigned status, struct MHD_Response *response, const char *type,
                      const struct http_field *fields, size_t field_count);
void problem_print(struct buf *out, unsigned status, const char *detail);

/* server_stream.c */
void stream_sweep(struct exchange *exchange, int64_t now);

/* server_listen.c: a listening socket for the address, non-blocking; fills address, socket_path and is_unix. */
int server_listen(struct server *server, const char *address, int *ret_fd, struct err *err);
void server_unlink(struct server *server);

#ifdef __cplusplus
}
#endif
#endif
