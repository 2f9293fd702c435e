/* web.h: a server and its raw clients in one process and one loop, for tests of net/server.
 *
 * The handler does what the path says:
 *     /echo     "METHOD PATH body" comes back            /late     is kept; web_answer_late answers
 *     /known    as /echo, and is no stranger any more     /stream   is kept as a stream
 *     /deny     401 from begin                           /big      8 MiB come back
 *     /slow     begin says nothing; web_accept_late does  /empty    204
 * Clients never block: whoever waits for one runs the loop meanwhile. */
#ifndef BERTH_TESTS_WEB_H
#define BERTH_TESTS_WEB_H

#include "lang/base/buf.h"
#include "live/http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#define WEB_KEPT_MAX 2100
#define WEB_BODY_MAX 1000
#define WEB_BIG (8u << 20)
#define WEB_QUEUE_MAX 65536

struct web {
    uv_loop_t loop;
    struct server *server;
    unsigned begins, handles, overs, refusals;
    const char *why; /* of the last refusal */
    struct buf last; /* "METHOD PATH" of the last that was handled */
    uint32_t uid;    /* of its peer */
    bool has_uid, is_secure;
    size_t queue_max;
    struct exchange *kept[WEB_KEPT_MAX];
    unsigned kept_count;
};

struct client {
    int fd; /* -1: closed */
    struct buf in;
    bool is_closed; /* by the server */
};

/* ------------------------------------------------------------------------------------------------------------- handler */

static inline void web_text(struct exchange *exchange, unsigned status, const char *body, size_t len)
{
    exchange_answer(exchange, &(struct http_answer){.status = status, .type = "text/plain", .body = body, .len = len});
}

static inline bool web_path_is(const struct exchange *exchange, const char *path)
{
    return strcmp(exchange_path(exchange, NULL), path) == 0;
}

static inline void web_begin(void *user, struct exchange *exchange)
{
    struct web *web = user;

    web->begins++;
    exchange_set_data(exchange, web);
    if (web_path_is(exchange, "/deny"))
        web_text(exchange, 401, "no", 2);
    else if (web_path_is(exchange, "/slow"))
        web->kept[web->kept_count++] = exchange;
    else
        exchange_accept(exchange, WEB_BODY_MAX, web_path_is(exchange, "/known"));
}

static inline void web_big(struct exchange *exchange)
{
    char *big = mem_alloc(WEB_BIG);

    memset(big, 'b', WEB_BIG);
    web_text(exchange, 200, big, WEB_BIG);
    free(big);
}

static inline void web_handle(void *user, struct exchange *exchange)
{
    static const char *const methods[] = {"GET", "HEAD", "PUT", "POST", "DELETE", "OPTIONS", "PATCH", "OTHER"};
    struct web *web = user;
    size_t len;
    const char *body = exchange_body(exchange, &len), *query = exchange_query(exchange, "q");

    web->handles++;
    web->has_uid = exchange_peer_user(exchange, &web->uid);
    web->is_secure = exchange_is_secure(exchange);
    buf_reset(&web->last);
    buf_addf(&web->last, "%s %s %s %s %s ", methods[exchange_method(exchange)], exchange_path(exchange, NULL),
             exchange_raw_path(exchange), query ? query : "-",
             exchange_field(exchange, "X-Note") ? exchange_field(exchange, "X-Note") : "-");
    buf_add(&web->last, body, len);
    if (web_path_is(exchange, "/late") || web_path_is(exchange, "/stream"))
        web->kept[web->kept_count++] = exchange;
    if (web_path_is(exchange, "/stream"))
        exchange_stream(exchange, "text/event-stream", &(struct http_field){"Cache-Control", "no-store"}, 1,
                        web->queue_max);
    else if (web_path_is(exchange, "/big"))
        web_big(exchange);
    else if (web_path_is(exchange, "/empty"))
        exchange_answer(exchange, &(struct http_answer){.status = 204});
    else if (!web_path_is(exchange, "/late"))
        web_text(exchange, 200, web->last.text, web->last.len);
}

static inline void web_over(void *user, struct exchange *exchange)
{
    struct web *web = user;

    web->overs++;
    if (exchange_data(exchange) != web)
        web->overs += 1000000; /* not the exchange that began */
    for (unsigned i = 0; i < web->kept_count; i++)
        if (web->kept[i] == exchange)
            web->kept[i--] = web->kept[--web->kept_count];
}

static inline void web_refused(void *user, const char *why, const struct sockaddr *from)
{
    struct web *web = user;

    web->refusals++;
    web->why = why;
    if (from->sa_family != AF_INET && from->sa_family != AF_INET6 && from->sa_family != AF_UNIX)
        abort();
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static inline struct server *web_server(struct web *web, const char *address, const char *certificate, const char *key,
                                        const struct server_limits *limits, struct err *err)
{
    struct server_handler handler = {
        .user = web, .begin = web_begin, .handle = web_handle, .over = web_over, .refused = web_refused};

    return server_new(&web->loop, address, certificate, key, limits, &handler, err);
}

static inline void web_init_with(struct web *web, const char *address, const char *certificate, const char *key,
                                 const struct server_limits *limits)
{
    struct err err = {0};

    memset(web, 0, sizeof *web);
    web->queue_max = WEB_QUEUE_MAX;
    buf_init(&web->last);
    uv_loop_init(&web->loop);
    web->server = web_server(web, address, certificate, key, limits, &err);
    if (!web->server) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
}

static inline void web_init(struct web *web, const struct server_limits *limits)
{
    web_init_with(web, "127.0.0.1:0", NULL, NULL, limits);
}

/* False when something is left in the loop. */
static inline bool web_done(struct web *web)
{
    server_free(web->server);
    uv_run(&web->loop, UV_RUN_DEFAULT);
    buf_done(&web->last);
    return uv_loop_close(&web->loop) == 0;
}

static inline void web_answer_late(struct web *web, const char *body)
{
    for (unsigned i = 0; i < web->kept_count; i++)
        web_text(web->kept[i], 200, body, strlen(body));
}

/* ------------------------------------------------------------------------------------------------------------- clients */

static inline uint64_t web_now(void)
{
    return uv_hrtime() / 1000000;
}

/* Runs the loop, and waits a little for the server or the descriptor. */
static inline void web_run(struct web *web, int fd)
{
    struct pollfd at[2] = {{.fd = uv_backend_fd(&web->loop), .events = POLLIN}, {.fd = fd, .events = POLLIN}};
    int timeout = uv_backend_timeout(&web->loop);

    uv_run(&web->loop, UV_RUN_NOWAIT);
    poll(at, fd < 0 ? 1 : 2, timeout >= 0 && timeout < 2 ? timeout : 2);
    uv_run(&web->loop, UV_RUN_NOWAIT);
}

static inline void web_run_for(struct web *web, unsigned milliseconds)
{
    for (uint64_t end = web_now() + milliseconds; web_now() < end;)
        web_run(web, -1);
}

static inline void client_open_with(struct client *client, const char *address, int receive_buffer)
{
    struct sockaddr_storage name = {0};
    socklen_t len = sizeof(struct sockaddr_in);
    const char *colon = strrchr(address, ':');
    char host[64] = "";

    *client = (struct client){.fd = -1};
    buf_init(&client->in);
    if (strncmp(address, "unix:", 5) == 0) {
        struct sockaddr_un *un = (struct sockaddr_un *)&name;
        un->sun_family = AF_UNIX;
        strcpy(un->sun_path, address + 5);
        len = sizeof *un;
    } else if (address[0] == '[') {
        memcpy(host, address + 1, (size_t)(colon - address) - 2);
        uv_ip6_addr(host, atoi(colon + 1), (struct sockaddr_in6 *)&name);
        len = sizeof(struct sockaddr_in6);
    } else {
        memcpy(host, address, (size_t)(colon - address));
        uv_ip4_addr(host, atoi(colon + 1), (struct sockaddr_in *)&name);
    }
    client->fd = socket(name.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_buffer)
        setsockopt(client->fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    if (connect(client->fd, (struct sockaddr *)&name, len) < 0)
        client->is_closed = true; /* it waits in the queue of the listening socket, so this does not block */
    fcntl(client->fd, F_SETFL, O_NONBLOCK);
}

static inline void client_open(struct web *web, struct client *client)
{
    client_open_with(client, server_address(web->server), 0);
}

static inline void client_close(struct client *client)
{
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
    buf_done(&client->in);
}

static inline bool client_send_bytes(struct client *client, const char *bytes, size_t len)
{
    return send(client->fd, bytes, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static inline bool client_send(struct client *client, const char *text)
{
    return client_send_bytes(client, text, strlen(text));
}

/* Takes what has come. */
static inline void client_read(struct client *client)
{
    ssize_t got;

    while (!client->is_closed) {
        got = recv(client->fd, buf_reserve(&client->in, 65536), 65536, 0);
        if (got > 0)
            client->in.len += (size_t)got;
        else if (got == 0 || (errno != EAGAIN && errno != EINTR))
            client->is_closed = true;
        else
            return;
    }
}

static inline unsigned client_count(struct client *client, const char *needle)
{
    unsigned count = 0;

    for (const char *at = buf_string(&client->in); (at = strstr(at, needle)); at += strlen(needle))
        count++;
    return count;
}

/* Until the text has come that often. */
static inline bool client_wait_count(struct web *web, struct client *client, const char *needle, unsigned count,
                                     unsigned milliseconds)
{
    for (uint64_t end = web_now() + milliseconds;;) {
        client_read(client);
        if (client_count(client, needle) >= count)
            return true;
        if (client->is_closed || web_now() >= end)
            return false;
        web_run(web, client->fd);
    }
}

static inline bool client_wait(struct web *web, struct client *client, const char *needle)
{
    return client_wait_count(web, client, needle, 1, 3000);
}

static inline bool client_wait_closed(struct web *web, struct client *client, unsigned milliseconds)
{
    for (uint64_t end = web_now() + milliseconds; !client->is_closed && web_now() < end;) {
        web_run(web, client->fd);
        client_read(client);
    }
    return client->is_closed;
}

/* Runs the loop until it holds. */
#define WEB_WAIT(web, condition, milliseconds)                                                    \
    do {                                                                                          \
        for (uint64_t web_end = web_now() + (milliseconds); !(condition) && web_now() < web_end;) \
            web_run(web, -1);                                                                     \
    } while (0)

#endif
