/* client.h: HTTP requests going out, many at once, in the loop (libcurl's multi interface on libuv).
 *
 *     client_send -> waits for a connection -> connected, the address is checked -> sent -> answered -> done
 *
 * Connections are kept and used again. No redirect is followed, no proxy of the environment used, no cookie kept; only http and https,
 * HTTP/1.1, TLS 1.3. A request is sent at most once, except with methods that HTTP lets be repeated (GET, HEAD, PUT, DELETE, OPTIONS):
 * these are sent again when a kept connection turns out to be closed.
 *
 * Nothing here blocks: a helper thread of libcurl resolves names. The program ignores SIGPIPE. client_send and client_cancel may
 * be called from every callback; client_free from none. */
#ifndef BERTH_LIVE_HTTP_CLIENT_H
#define BERTH_LIVE_HTTP_CLIENT_H

#include "lang/base/buf.h"
#include "lang/base/err.h"
#include "live/http/http.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CLIENT_AT_ONCE 64                     /* connections in all, by default */
#define CLIENT_PER_HOST 8                     /* connections to one host and port, by default */
#define CLIENT_TIMEOUT INT64_C(10000000)      /* microseconds, by default */
#define CLIENT_SILENCE INT64_C(60000000)      /* the same for a stream's silence */
#define CLIENT_BYTES_MAX ((size_t)16 << 20)   /* of an answer's body, by default */
#define CLIENT_HEAD_MAX ((size_t)64 << 10)    /* of an answer's header fields, always */
#define CLIENT_REQUEST_MAX ((size_t)64 << 20) /* of a request's body, always */

typedef struct uv_loop_s uv_loop_t; /* from uv.h, which needs more of the system than a header may ask for */

struct client;

struct client_settings {
    const char *ca_file; /* PEM file that certificates are checked against; NULL: the system's list */
    uint32_t at_once;    /* connections in all; 0: CLIENT_AT_ONCE. A stream holds one as long as it lasts */
    uint32_t per_host;   /* 0: CLIENT_PER_HOST. Calls beyond either number wait, and their time runs */
};

/* The settings (NULL: all default) are copied. */
struct client *client_new(uv_loop_t *loop, const struct client_settings *settings, struct err *err);

/* Ends the calls under way: done is called with CALL_CANCELLED. The loop has to run once more before it can be closed. */
void client_free(struct client *client);

enum call_result {
    CALL_ANSWERED,  /* the whole answer came: status, fields, body; whatever the status is */
    CALL_UNREACHED, /* surely nothing was sent: no such name, no connection, the wrong key or certificate */
    CALL_UNKNOWN,   /* perhaps the request arrived: cut, timeout. With a status: it did, but not all of the answer */
    CALL_REFUSED, /* by our own rules. Without a status nothing was sent: address, scheme, malformed. With one: the answer is too long */
    CALL_CANCELLED, /* by client_free */
};

const char *call_result_name(enum call_result result); /* "answered" */

/* What became of a call; all pointers are lent until `done` returns. */
struct http_outcome {
    enum call_result result;
    unsigned status; /* 0: no answer came */
    /* Fields of the answer; NULL when it has no such field. */
    const char *type; /* Content-Type */
    const char *etag, *location, *retry_after;
    const char *cursor;       /* Berth-Cursor: where a list goes on */
    const char *size, *whole; /* Berth-Size and Berth-Whole: a file's present size, and whether the file is complete */
    const char *standby,
        *leader;      /* Berth-Standby and Berth-Leader: another matchmaker of the pool leads, and where that is */
    const char *body; /* never NULL, BUF_PADDING NULs behind; empty for a stream, whose bytes went to `bytes` */
    size_t len;
    const char *error; /* words for a person; NULL when answered */
};

/* Is that the answer of a matchmaker that stands by? */
static inline bool http_stands_by(const struct http_outcome *outcome)
{
    return outcome->result == CALL_ANSWERED && outcome->status == 503 && outcome->standby;
}

typedef void call_done_fn(void *user, const struct http_outcome *outcome);

/* May that address be connected to? Asked with the address really connected to, after resolving; and for a kept
 * connection again before it is used. Not asked about a `unix_socket`, which no stranger names. */
typedef bool call_address_fn(void *user, const struct sockaddr *address);

/* Bytes of a stream, as they come. */
typedef void call_bytes_fn(void *user, const char *bytes, size_t len);

/* A call to send; everything is copied except the functions and their user pointers. */
struct http_call {
    const char *method;        /* NULL: GET */
    const char *url;           /* http:// or https://, as url_read (live/config/address.h) reads it */
    const char *unix_socket;   /* or NULL: connect there instead */
    const char *token;         /* Authorization: Bearer; or NULL */
    const char *type, *accept; /* Content-Type and Accept; or NULL */
    const struct http_field *fields;
    size_t field_count; /* further header fields */
    const char *body;   /* or NULL */
    size_t len;
    int64_t timeout; /* microseconds, in all; 0: CLIENT_TIMEOUT. With `bytes`: the longest silence; 0: CLIENT_SILENCE */
    size_t bytes_max; /* of the answer; 0: CLIENT_BYTES_MAX. With `bytes` 0: as many as come */
    const char *pin;  /* "sha256//BASE64" of the server's public key, which replaces the check by a CA; or NULL */
    bool unchecked;   /* accept any server: only for what is then compared with a fingerprint, and never with a token */
    bool older_tls;   /* TLS 1.2 will do: the server is not one of ours */
    bool https_only;  /* refuse http:// */
    bool plain_token; /* a token may go by http:// to another machine; else not: everybody on the way would have it */
    call_address_fn *may_connect; /* NULL: any address */
    void *may_user;
    call_bytes_fn *bytes; /* for streams: gets the body of a 2xx answer as it comes; NULL: the body is kept */
    void *bytes_user;     /* NULL: `bytes` is given the user of client_send */
};

/* Returns an id; `done` is called once, and never before this returns. Returns 0 inside a `done` that client_free
 * calls: nothing is sent any more. */
uint64_t client_send(struct client *client, const struct http_call *call, call_done_fn *done, void *user);

/* Neither done nor bytes is called any more. An id of a call that is over does nothing. */
void client_cancel(struct client *client, uint64_t id);

uint32_t client_calls(const struct client *client); /* calls not yet done */

/* An answer that is kept; texts are NULL when the answer has no such field. */
struct fetched {
    enum call_result result;
    unsigned status;
    char *type, *etag, *location, *retry_after, *cursor, *size, *whole, *standby, *leader;
    struct buf body;
};

void fetched_done(struct fetched *fetched);

/* For tools: sends and waits, in a loop of its own. Returns 0 when answered, whatever the status; the caller ends it
 * with fetched_done. Returns -1 when not; then only ret->result is set. */
int client_fetch(const struct client_settings *settings, const struct http_call *call, struct fetched *ret,
                 struct err *err);

#ifdef __cplusplus
}
#endif
#endif
