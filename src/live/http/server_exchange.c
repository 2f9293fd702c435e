/* server_exchange.c: one request from its first line to its end, as libmicrohttpd calls:
 *
 *     exchange_open    the request line, nothing decoded yet
 *     exchange_run     the head is complete: guard, begin. An answer given now closes the connection, so an answer to a request without a body
 *                      is kept for the call below
 *                      ... each piece of the body
 *                      the body is complete: handle
 *                      ... again whenever the exchange was suspended and woken
 *     exchange_close   the answer was sent, or the connection cut off */
#define _GNU_SOURCE /* struct ucred */
#include "live/http/server_parts.h"

#include <stdlib.h>
#include <sys/socket.h>

#define BODY_ROOM 65536
#define BODY_ALLOWED (UINT64_C(16) << 20) /* a body that is longer may take longer, in proportion */

/* ---------------------------------------------------------------------------------------------------------------- life */

static struct exchange *exchange_take(struct server *server)
{
    struct exchange *exchange = server->spare;

    if (exchange) {
        server->spare = exchange->next_spare;
        return exchange;
    }
    exchange = mem_alloc(sizeof *exchange);
    memset(exchange, 0, sizeof *exchange);
    buf_init(&exchange->body);
    buf_init(&exchange->text);
    buf_init(&exchange->query);
    buf_init(&exchange->stream.queue);
    return exchange;
}

static void spare_buf(struct buf *buf)
{
    if (buf->room > SERVER_SPARE_BYTES) {
        buf_done(buf);
        buf_init(buf);
    } else {
        buf_reset(buf);
    }
}

/* Empties the exchange for the next request; small buffers keep their memory. */
static void exchange_give_back(struct exchange *exchange)
{
    struct server *server = exchange->conn->server;

    if (exchange->response)
        libmicrohttpd()->destroy_response(exchange->response);
    spare_buf(&exchange->body);
    spare_buf(&exchange->text);
    spare_buf(&exchange->query);
    spare_buf(&exchange->stream.queue);
    *exchange = (struct exchange){
        .body = exchange->body,
        .text = exchange->text,
        .query = exchange->query,
        .stream = {.queue = exchange->stream.queue},
        .next_spare = server->spare,
    };
    server->spare = exchange;
}

void exchange_free(struct exchange *exchange)
{
    buf_done(&exchange->body);
    buf_done(&exchange->text);
    buf_done(&exchange->query);
    buf_done(&exchange->stream.queue);
    free(exchange);
}

/* Takes the request line. libmicrohttpd decodes parts of it in place, so that %00 would cut them: so a copy is taken. Then the query is hidden: its
 * arguments would be split into the memory of the connection, and when that runs out libmicrohttpd spins. */
void *exchange_open(void *user, const char *uri, struct MHD_Connection *mhd)
{
    struct conn *conn = libmicrohttpd()->get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    struct exchange *exchange = exchange_take(user);
    struct buf *text = &exchange->text;
    size_t len = uri ? strlen(uri) : 0;
    const char *mark = len ? memchr(uri, '?', len) : NULL;

    exchange->conn = conn;
    exchange->raw_len = mark ? (size_t)(mark - uri) : len;
    exchange->query_at = exchange->raw_len + 1;
    exchange->query_len = mark ? len - exchange->query_at : 0;
    exchange->path_at = exchange->query_at + exchange->query_len + 1;
    buf_reserve(text, exchange->path_at + exchange->raw_len + 1);
    if (len)
        memcpy(text->text, uri, len);
    text->text[len] = '\0'; /* whole for the guard; cut at the '?' afterwards */
    text->len = len;
    if (mark)
        ((char *)(uintptr_t)uri)[exchange->query_at] = '\0';
    conn->exchange = exchange;
    if (conn->phase == PHASE_IDLE)
        conn_enter(conn, PHASE_HEAD);
    return exchange;
}

/* Separates path and query, once the guard has seen them together. */
static void exchange_cut_text(struct exchange *exchange)
{
    char *text = exchange->text.text;

    text[exchange->raw_len] = text[exchange->path_at - 1] = '\0';
    exchange->path_len = guard_decode(text, exchange->raw_len, false, text + exchange->path_at);
    text[exchange->path_at + exchange->path_len] = '\0';
    exchange->text.len = exchange->path_at + exchange->path_len + 1;
}

void exchange_close(void *user, struct MHD_Connection *mhd, void **context, enum MHD_RequestTerminationCode code)
{
    struct server *server = user;
    struct exchange *exchange = *context;
    struct conn *conn;

    (void)mhd;
    if (!exchange)
        return;
    *context = NULL;
    conn = exchange->conn;
    if (exchange->is_begun)
        server->handler.over(server->handler.user, exchange);
    else if (exchange->state == EXCHANGE_HEAD && code == MHD_REQUEST_TERMINATED_WITH_ERROR && !conn->is_cut)
        server_refused(server, "the head cannot be read", conn->from);
    exchange_give_back(exchange);
    conn->exchange = NULL;
    conn_enter(conn, PHASE_IDLE);
}

/* ------------------------------------------------------------------------------------------------------------ the head */

static enum http_method method_find(const char *method)
{
    static const char *const names[] = {
#define X(id) [HTTP_##id] = #id,
        HTTP_METHODS(X)
#undef X
    };

    for (int i = 0; i < HTTP_OTHER; i++)
        if (strcmp(method, names[i]) == 0)
            return (enum http_method)i;
    return HTTP_OTHER;
}

static enum MHD_Result field_look(void *user, enum MHD_ValueKind kind, const char *name, size_t name_len,
                                  const char *value, size_t value_len)
{
    (void)kind;
    return guard_field(user, name, name_len, value ? value : "", value_len) ? MHD_YES : MHD_NO;
}

static enum guard_reason exchange_guard(struct exchange *exchange, const char *method, const char *version)
{
    struct MHD_Connection *mhd = exchange->conn->mhd;
    const union MHD_ConnectionInfo *info =
        libmicrohttpd()->get_connection_info(mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    enum guard_reason reason;
    struct guard guard;

    guard_begin(&guard, &exchange->conn->server->guard, method, exchange->text.text, exchange->text.len, version);
    libmicrohttpd()->get_connection_values_n(mhd, MHD_HEADER_KIND, field_look, &guard);
    reason = guard_end(&guard, info ? info->header_size : 0);
    exchange->length = guard.length;
    return reason;
}

/* ---------------------------------------------------------------------------------------------------------- the answer */

static enum MHD_Result exchange_queue(struct exchange *exchange)
{
    struct MHD_Response *response = exchange->response;
    enum MHD_Result result;

    exchange->response = NULL;
    exchange->state = EXCHANGE_QUEUED;
    conn_enter(exchange->conn, exchange->stream.is_on ? PHASE_STREAM : PHASE_REPLY);
    result = libmicrohttpd()->queue_response(exchange->conn->mhd, exchange->status, response);
    libmicrohttpd()->destroy_response(response); /* the queue holds its own reference */
    return result;
}

static enum MHD_Result exchange_wait(struct exchange *exchange)
{
    conn_suspend(exchange->conn);
    return MHD_YES;
}

/* After begin, or when it has decided at last. */
static enum MHD_Result exchange_go_on(struct exchange *exchange)
{
    if (exchange->response && exchange->length > 0)
        return exchange_queue(exchange); /* the body is not read: libmicrohttpd closes the connection */
    if (!exchange->response && !exchange->is_accepted)
        return exchange_wait(exchange);
    exchange->state = exchange->response ? EXCHANGE_HANDLED : EXCHANGE_BODY;
    conn_enter(exchange->conn, exchange->response ? PHASE_REPLY : PHASE_BODY);
    if (!exchange->response)
        conn_allow(exchange->conn, exchange->length / BODY_ALLOWED);
    return MHD_YES;
}

static enum MHD_Result exchange_begin(struct exchange *exchange, const char *method, const char *version)
{
    struct server *server = exchange->conn->server;
    enum guard_reason reason = exchange_guard(exchange, method, version);

    if (reason != GUARD_OK) {
        server_refused(server, guard_words(reason), exchange->conn->from);
        exchange->is_calling = true;
        exchange_problem(exchange, guard_status(reason), guard_words(reason));
        return exchange_queue(exchange); /* an answer this early is the last on its connection */
    }
    exchange_cut_text(exchange);
    exchange->method = method_find(method);
    exchange->state = EXCHANGE_BEGUN;
    exchange->is_begun = exchange->is_calling = true;
    conn_enter(exchange->conn, PHASE_WAIT);
    server->handler.begin(server->handler.user, exchange);
    exchange->is_calling = false;
    return exchange_go_on(exchange);
}

static enum MHD_Result exchange_handle(struct exchange *exchange)
{
    struct server *server = exchange->conn->server;

    exchange->state = EXCHANGE_HANDLED;
    if (!exchange->response) { /* no deadline has answered meanwhile */
        buf_string(&exchange->body);
        conn_enter(exchange->conn, PHASE_WAIT);
        exchange->is_calling = true;
        server->handler.handle(server->handler.user, exchange);
        exchange->is_calling = false;
    }
    return exchange->response ? exchange_queue(exchange) : exchange_wait(exchange);
}

static enum MHD_Result exchange_take_body(struct exchange *exchange, const char *bytes, size_t *len)
{
    if (exchange->state != EXCHANGE_BODY || exchange->body.len + *len > exchange->body_max)
        return MHD_NO;           /* more than was declared: cannot happen */
    if (exchange->body.len == 0) /* a declared length need not come: only a little memory is reserved for it */
        buf_reserve(&exchange->body,
                    (exchange->length < BODY_ROOM ? (size_t)exchange->length : BODY_ROOM) + BUF_PADDING);
    buf_add(&exchange->body, bytes, *len);
    *len = 0;
    return MHD_YES;
}

enum MHD_Result exchange_run(void *user, struct MHD_Connection *mhd, const char *url, const char *method,
                             const char *version, const char *upload, size_t *upload_len, void **context)
{
    struct exchange *exchange = *context;

    (void)user, (void)mhd, (void)url;
    if (!exchange || exchange->conn->is_cut)
        return MHD_NO;
    if (*upload_len)
        return exchange_take_body(exchange, upload, upload_len);
    switch (exchange->state) {
    case EXCHANGE_HEAD:
        return exchange_begin(exchange, method, version);
    case EXCHANGE_BEGUN:
        return exchange_go_on(exchange);
    case EXCHANGE_BODY:
        return exchange_handle(exchange);
    case EXCHANGE_HANDLED:
        return exchange->response ? exchange_queue(exchange) : exchange_wait(exchange);
    case EXCHANGE_QUEUED:
        break;
    }
    return MHD_YES;
}

/* --------------------------------------------------------------------------------------------------- what it is asked */

void exchange_accept(struct exchange *exchange, size_t body_max, bool known)
{
    if (exchange->state != EXCHANGE_BEGUN || exchange->is_accepted || exchange->response)
        return;
    if (known)
        conn_known(exchange->conn);
    if (exchange->length > body_max) {
        server_refused(exchange->conn->server, "the body is too long", exchange->conn->from);
        exchange_problem(exchange, MHD_HTTP_CONTENT_TOO_LARGE, "the body is too long");
        return;
    }
    exchange->is_accepted = true;
    exchange->body_max = body_max;
    if (!exchange->is_calling)
        conn_wake(exchange->conn);
}

enum http_method exchange_method(const struct exchange *exchange)
{
    return exchange->method;
}

const char *exchange_path(const struct exchange *exchange, size_t *ret_len)
{
    if (ret_len)
        *ret_len = exchange->path_len;
    return exchange->text.text + exchange->path_at;
}

const char *exchange_raw_path(const struct exchange *exchange)
{
    return exchange->text.text;
}

/* Splits the query into pairs of texts. */
static void query_split(struct exchange *exchange)
{
    const char *at = exchange->text.text + exchange->query_at, *end = at + exchange->query_len;
    struct buf *out = &exchange->query;

    exchange->has_query = true;
    buf_reserve(out, exchange->query_len * 2 + 2);
    while (at < end) {
        const char *stop = memchr(at, '&', (size_t)(end - at)), *equal;

        stop = stop ? stop : end;
        equal = memchr(at, '=', (size_t)(stop - at));
        equal = equal ? equal : stop;
        out->len += guard_decode(at, (size_t)(equal - at), true, out->text + out->len);
        buf_addc(out, '\0');
        if (equal < stop)
            out->len +=
                guard_decode(equal + 1, (size_t)(stop - equal - 1), true, buf_reserve(out, (size_t)(stop - equal)));
        buf_addc(out, '\0');
        at = stop + 1;
    }
}

const char *exchange_query(const struct exchange *exchange, const char *name)
{
    if (exchange->query_len == 0)
        return NULL;
    if (!exchange->has_query)
        query_split((struct exchange *)(uintptr_t)exchange); /* a cache: its meaning stays the same */
    for (size_t at = 0; at < exchange->query.len;) {
        const char *found = exchange->query.text + at, *value = found + strlen(found) + 1;
        if (strcmp(found, name) == 0)
            return value;
        at = (size_t)(value - exchange->query.text) + strlen(value) + 1;
    }
    return NULL;
}

const char *exchange_field(const struct exchange *exchange, const char *name)
{
    return libmicrohttpd()->lookup_connection_value(exchange->conn->mhd, MHD_HEADER_KIND, name);
}

const char *exchange_body(const struct exchange *exchange, size_t *ret_len)
{
    static const char nothing[BUF_PADDING];
    bool is_whole = exchange->state >= EXCHANGE_HANDLED && exchange->body.len > 0;

    if (ret_len)
        *ret_len = is_whole ? exchange->body.len : 0;
    return is_whole ? exchange->body.text : nothing;
}

void exchange_body_take(struct exchange *exchange, struct buf *ret)
{
    if (exchange->state < EXCHANGE_HANDLED)
        return;
    *ret = exchange->body;
    buf_init(&exchange->body);
}

void exchange_goes_on(struct exchange *exchange)
{
    if (exchange->conn->phase == PHASE_WAIT)
        conn_enter(exchange->conn, PHASE_WAIT);
}

bool exchange_is_answered(const struct exchange *exchange)
{
    return exchange->response || exchange->state == EXCHANGE_QUEUED;
}

const struct sockaddr *exchange_from(const struct exchange *exchange)
{
    return exchange->conn->from;
}

bool exchange_peer_user(const struct exchange *exchange, uint32_t *ret_uid)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    if (!exchange->conn->server->is_unix || getsockopt(exchange->conn->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return false;
    *ret_uid = peer.uid;
    return true;
}

bool exchange_is_secure(const struct exchange *exchange)
{
    return exchange->conn->server->is_secure;
}

void *exchange_data(const struct exchange *exchange)
{
    return exchange->data;
}

void exchange_set_data(struct exchange *exchange, void *data)
{
    exchange->data = data;
}
