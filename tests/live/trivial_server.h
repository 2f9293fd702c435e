/* trivial_server.h: an HTTP server for tests of the client, which behaves as badly as the path says.
 *
 * In a libuv loop, on 127.0.0.1 and, if wanted, on a Unix socket. Included by one file a program. */
#ifndef BERTH_TESTS_TRIVIAL_SERVER_H
#define BERTH_TESTS_TRIVIAL_SERVER_H

#include "lang/base/buf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <uv.h>

struct trivial_server {
    uv_loop_t *loop;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
    bool has_pipe;
    int port;
    unsigned connections, requests; /* so far */
    struct trivial_peer *peers;     /* connected now */
    struct trivial_peer *stream;    /* the last that asked for /stream */
};

struct trivial_peer {
    union {
        uv_handle_t handle;
        uv_stream_t stream;
        uv_tcp_t tcp;
        uv_pipe_t pipe;
    } uv;
    struct trivial_server *server;
    struct trivial_peer *before, *next;
    struct buf in;
    bool closing;
    bool weary; /* the next request on this connection is read and not answered: the connection is closed */
};

struct trivial_write {
    uv_write_t write;
    char bytes[];
};

static inline void trivial_closed(uv_handle_t *handle)
{
    struct trivial_peer *peer = handle->data;

    buf_done(&peer->in);
    free(peer);
}

static inline void trivial_close(struct trivial_peer *peer)
{
    struct trivial_server *server = peer->server;

    if (peer->closing)
        return;
    peer->closing = true;
    *(peer->before ? &peer->before->next : &server->peers) = peer->next;
    if (peer->next)
        peer->next->before = peer->before;
    if (server->stream == peer)
        server->stream = NULL;
    uv_close(&peer->uv.handle, trivial_closed);
}

static inline void trivial_written(uv_write_t *write, int status)
{
    (void)status;
    free(write->data);
}

static inline void trivial_write(struct trivial_peer *peer, const char *text, size_t len)
{
    struct trivial_write *write = mem_alloc(sizeof *write + len);
    uv_buf_t bytes = uv_buf_init(write->bytes, (unsigned)len);

    memcpy(write->bytes, text, len);
    write->write.data = write;
    if (uv_write(&write->write, &peer->uv.stream, &bytes, 1, trivial_written))
        free(write);
}

static inline void trivial_shut(uv_shutdown_t *shutdown, int status)
{
    (void)status;
    trivial_close(shutdown->data);
    free(shutdown);
}

/* Closes when all has been written. */
static inline void trivial_close_after(struct trivial_peer *peer)
{
    uv_shutdown_t *shutdown = mem_alloc(sizeof *shutdown);

    shutdown->data = peer;
    if (uv_shutdown(shutdown, &peer->uv.stream, trivial_shut))
        free(shutdown);
}

static inline void trivial_answer(struct trivial_peer *peer, const char *status, const char *fields, const char *body,
                                  size_t len)
{
    struct buf text;

    buf_init(&text);
    buf_addf(&text, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n", status, fields, len);
    buf_add(&text, body, len);
    trivial_write(peer, text.text, text.len);
    buf_done(&text);
}

/* ------------------------------------------------------------------------------------------------------ behaviour */

struct trivial_request {
    const char *head; /* NUL-terminated, all of it */
    const char *body;
    size_t len, all; /* of the body; of head and body */
};

static inline void trivial_hello(struct trivial_peer *peer, const struct trivial_request *request)
{
    (void)request;
    trivial_answer(peer, "200 OK",
                   "Content-Type: text/plain\r\neTag:  \"7\" \r\nLocation: /there\r\nRetry-After: 12\r\n", "hello", 5);
}

static inline void trivial_echo(struct trivial_peer *peer, const struct trivial_request *request)
{
    trivial_answer(peer, "200 OK", "Content-Type: application/octet-stream\r\n", request->body, request->len);
}

static inline void trivial_mirror(struct trivial_peer *peer, const struct trivial_request *request)
{
    trivial_answer(peer, "200 OK", "", request->head, strlen(request->head));
}

static inline void trivial_missing(struct trivial_peer *peer, const struct trivial_request *request)
{
    (void)request;
    trivial_answer(peer, "404 Not Found", "", "no", 2);
}

static inline void trivial_redirect(struct trivial_peer *peer, const struct trivial_request *request)
{
    (void)request;
    trivial_answer(peer, "302 Found", "Location: /hello\r\n", "", 0);
}

static inline void trivial_silent(struct trivial_peer *peer, const struct trivial_request *request)
{
    (void)peer;
    (void)request;
}

static inline void trivial_cut(struct trivial_peer *peer, const struct trivial_request *request)
{
    (void)request;
    trivial_close(peer);
}

static inline void trivial_half(struct trivial_peer *peer, const struct trivial_request *request)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nten bytes.";

    (void)request;
    trivial_write(peer, text, sizeof text - 1);
    trivial_close_after(peer);
}

static inline void trivial_half_head(struct trivial_peer *peer, const struct trivial_request *request)
{
    static const char text[] = "HTTP/1.1 200 OK\r\nContent-Le";

    (void)request;
    trivial_write(peer, text, sizeof text - 1);
    trivial_close_after(peer);
}

static inline void trivial_long(struct trivial_peer *peer, const struct trivial_request *request)
{
    size_t len = 1000000;
    char *body = mem_alloc(len);

    (void)request;
    memset(body, 'x', len);
    trivial_answer(peer, "200 OK", "", body, len);
    free(body);
}

static inline void trivial_long_head(struct trivial_peer *peer, const struct trivial_request *request)
{
    struct buf text;

    (void)request;
    buf_init(&text);
    buf_adds(&text, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < 2000; i++)
        buf_addf(&text, "X-Field-%d: %060d\r\n", i, i);
    trivial_write(peer, text.text, text.len);
    buf_done(&text);
}

static inline void trivial_interim(struct trivial_peer *peer, const struct trivial_request *request)
{
    static const char text[] = "HTTP/1.1 103 Early Hints\r\nLocation: /early\r\n\r\n"
                               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: ETag\r\n\r\n"
                               "3\r\none\r\n3\r\ntwo\r\n0\r\nETag: \"late\"\r\n\r\n";

    (void)request;
    trivial_write(peer, text, sizeof text - 1);
}

static inline void trivial_old(struct trivial_peer *peer, const struct trivial_request *request)
{
    (void)request;
    trivial_write(peer, "just bytes", 10); /* as before HTTP had heads */
    trivial_close_after(peer);
}

static inline void trivial_weary(struct trivial_peer *peer, const struct trivial_request *request)
{
    (void)request;
    peer->weary = true;
    trivial_answer(peer, "200 OK", "", "last", 4);
}

static inline void trivial_stream(struct trivial_peer *peer, const struct trivial_request *request)
{
    static const char text[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

    (void)request;
    peer->server->stream = peer;
    trivial_write(peer, text, sizeof text - 1);
}

static const struct {
    const char *path;
    void (*behave)(struct trivial_peer *peer, const struct trivial_request *request);
} trivial_paths[] = {
    {"/hello", trivial_hello},     {"/echo", trivial_echo},           {"/mirror", trivial_mirror},
    {"/missing", trivial_missing}, {"/redirect", trivial_redirect},   {"/silent", trivial_silent},
    {"/cut", trivial_cut},         {"/half", trivial_half},           {"/half-head", trivial_half_head},
    {"/long", trivial_long},       {"/long-head", trivial_long_head}, {"/interim", trivial_interim},
    {"/old", trivial_old},         {"/weary", trivial_weary},         {"/stream", trivial_stream},
};

/* -------------------------------------------------------------------------------------------------------- reading */

/* A whole request at the start of what came; false: not yet. The head's last byte becomes a NUL. */
static inline bool trivial_parse(struct trivial_peer *peer, struct trivial_request *ret)
{
    char *head = (char *)(size_t)buf_string(&peer->in), *end = strstr(head, "\r\n\r\n"), *length;
    size_t head_len, len = 0;

    if (!end)
        return false;
    head_len = (size_t)(end - head) + 4;
    for (length = head; length < end && strncasecmp(length, "\r\ncontent-length:", 17) != 0; length++)
        ;
    if (length < end)
        len = strtoul(length + 17, NULL, 10);
    if (peer->in.len < head_len + len)
        return false;
    head[head_len - 1] = '\0';
    *ret = (struct trivial_request){.head = head, .body = head + head_len, .len = len, .all = head_len + len};
    return true;
}

static inline void trivial_behave(struct trivial_peer *peer, const struct trivial_request *request)
{
    const char *path = strchr(request->head, ' ');
    size_t len = path ? strcspn(path + 1, " ?") : 0;

    peer->server->requests++;
    if (peer->weary) {
        trivial_close(peer);
        return;
    }
    for (size_t i = 0; i < sizeof trivial_paths / sizeof *trivial_paths; i++)
        if (path && strlen(trivial_paths[i].path) == len && memcmp(trivial_paths[i].path, path + 1, len) == 0) {
            trivial_paths[i].behave(peer, request);
            return;
        }
    trivial_answer(peer, "400 Bad Request", "", "what?", 5);
}

static inline void trivial_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes)
{
    struct trivial_peer *peer = stream->data;
    struct trivial_request request;

    (void)bytes;
    if (count < 0) {
        trivial_close(peer);
        return;
    }
    peer->in.len += (size_t)count;
    while (!peer->closing && trivial_parse(peer, &request)) {
        trivial_behave(peer, &request);
        memmove(peer->in.text, peer->in.text + request.all, peer->in.len - request.all);
        peer->in.len -= request.all;
    }
}

static inline void trivial_room(uv_handle_t *handle, size_t wanted, uv_buf_t *ret)
{
    struct trivial_peer *peer = handle->data;

    (void)wanted;
    *ret = uv_buf_init(buf_reserve(&peer->in, 16384), 16384);
}

static inline void trivial_connected(uv_stream_t *listener, int status)
{
    struct trivial_server *server = listener->data;
    struct trivial_peer *peer = mem_alloc(sizeof *peer);

    (void)status;
    *peer = (struct trivial_peer){.server = server, .next = server->peers};
    if (listener == (uv_stream_t *)&server->tcp)
        uv_tcp_init(server->loop, &peer->uv.tcp);
    else
        uv_pipe_init(server->loop, &peer->uv.pipe, 0);
    peer->uv.handle.data = peer;
    if (server->peers)
        server->peers->before = peer;
    server->peers = peer;
    server->connections++;
    if (uv_accept(listener, &peer->uv.stream) || uv_read_start(&peer->uv.stream, trivial_room, trivial_read))
        trivial_close(peer);
    else if (listener == (uv_stream_t *)&server->tcp)
        uv_tcp_nodelay(&peer->uv.tcp, 1);
}

/* socket_path: or NULL. 0 or -1. */
static inline int trivial_start(struct trivial_server *server, uv_loop_t *loop, const char *socket_path)
{
    struct sockaddr_in at;
    int len = sizeof at;

    *server = (struct trivial_server){.loop = loop, .has_pipe = socket_path != NULL};
    uv_ip4_addr("127.0.0.1", 0, &at);
    uv_tcp_init(loop, &server->tcp);
    server->tcp.data = server;
    if (uv_tcp_bind(&server->tcp, (const struct sockaddr *)&at, 0) ||
        uv_listen((uv_stream_t *)&server->tcp, 1024, trivial_connected) ||
        uv_tcp_getsockname(&server->tcp, (struct sockaddr *)&at, &len))
        return -1;
    server->port = ntohs(at.sin_port);
    if (!socket_path)
        return 0;
    uv_pipe_init(loop, &server->pipe, 0);
    server->pipe.data = server;
    return uv_pipe_bind(&server->pipe, socket_path) || uv_listen((uv_stream_t *)&server->pipe, 16, trivial_connected)
               ? -1
               : 0;
}

/* The loop has to run afterwards. */
static inline void trivial_stop(struct trivial_server *server)
{
    while (server->peers)
        trivial_close(server->peers);
    uv_close((uv_handle_t *)&server->tcp, NULL);
    if (server->has_pipe)
        uv_close((uv_handle_t *)&server->pipe, NULL);
}

/* To the last that asked for /stream: a piece of it, or its end (empty). */
static inline void trivial_say(struct trivial_server *server, const char *text)
{
    char piece[1024];
    int len = snprintf(piece, sizeof piece, "%zx\r\n%s\r\n", strlen(text), text);

    if (server->stream)
        trivial_write(server->stream, piece, (size_t)len);
}

#endif
