/* client_local.c: one request of a tool by a Unix socket, and its answer, without a loop and without libcurl.
 *
 *     connect --> send --> head --> body (counted, in chunks, or until the end) --> close
 *
 * Nine of ten commands ask a daemon of this machine. To load libcurl, with the thirty libraries behind it, takes longer than such a request and its answer. */
#include "live/http/client_parts.h"

#include "live/config/address.h"
#include "pool/protocol/role.h"
#include "sys/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/time.h>
#include <unistd.h>

#define READ_ROOM 16384
#define ASK_FIRST ((size_t)1 << 20) /* bytes of a body that is sent only when the server wants it: by libcurl */

struct local {
    const struct http_call *call;
    struct fetched *ret;
    struct err *err;
    int fd;
    int64_t span, until; /* microseconds; with `bytes` each byte that comes moves the end */
    struct buf in;
    size_t at; /* so much of `in` is read */
    size_t body_bytes;
    struct answer_fields fields;
    bool counted, chunked;
    uint64_t length;
};

bool client_local_can(const struct http_call *call)
{
    return call->unix_socket && !call->pin && !call->unchecked && call->len <= ASK_FIRST &&
           (!call->method || strcmp(call->method, "HEAD") != 0);
}

/* ------------------------------------------------------------------------------------------------------------- sending */

static int fail(struct local *local, enum call_result result, const char *words)
{
    local->ret->result = result;
    return err_set(local->err, "%s", words);
}

/* Waits until bytes can be read or written; -1: not in time. */
static int ready(struct local *local, short events)
{
    for (;;) {
        int64_t left = local->until - clock_now();
        struct pollfd look = {.fd = local->fd, .events = events};
        int got =
            left > 0 ? poll(&look, 1, left > INT64_C(1000) * INT32_MAX ? INT32_MAX : (int)((left + 999) / 1000)) : 0;

        if (got > 0)
            return 0;
        if (got == 0)
            return fail(local, CALL_UNKNOWN, "no answer came in time");
        if (errno != EINTR && errno != EAGAIN)
            return fail(local, CALL_UNKNOWN, strerror(errno));
    }
}

static int local_connect(struct local *local)
{
    struct timeval patience = {.tv_sec = (time_t)(local->span / SECOND),
                               .tv_usec = (suseconds_t)(local->span % SECOND)};
    struct socket_path path = {.folder = -1};
    int failed = -1, why;

    local->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (local->fd >= 0 && socket_path_open(&path, local->call->unix_socket) == 0) {
        setsockopt(local->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience); /* of connect, too */
        do
            failed = connect(local->fd, (const struct sockaddr *)&path.name, sizeof path.name);
        while (failed < 0 && errno == EINTR);
    }
    why = errno;
    socket_path_close(&path);
    return failed ? fail(local, CALL_UNREACHED, strerror(why)) : 0;
}

static void field_print(struct buf *out, const char *name, const char *value)
{
    buf_addf(out, "%s: %s\r\n", name, value);
}

/* The request as it is sent; -1: it is refused. */
static int request_make(struct local *local, struct buf *out)
{
    const struct http_call *call = local->call;
    const char *method = call->method ? call->method : "GET";
    bool has_body = call->body || !strcmp(method, "POST") || !strcmp(method, "PUT");
    struct url url;

    if (call_check(call, method, local->err) < 0 || url_read(call->url, strlen(call->url), &url, local->err) < 0) {
        local->ret->result = CALL_REFUSED;
        return -1;
    }
    buf_addf(out, "%s %s%.*s HTTP/1.1\r\nHost: %s\r\nUser-Agent: berth\r\nConnection: close\r\n", method,
             url.path_len && *url.path == '/' ? "" : "/", (int)url.path_len, url.path, url.host);
    field_print(out, "Accept", call->accept ? call->accept : "*/*");
    if (call->type)
        field_print(out, "Content-Type", call->type);
    if (call->token)
        buf_addf(out, "Authorization: Bearer %s\r\n", call->token);
    for (size_t i = 0; i < call->field_count; i++)
        field_print(out, call->fields[i].name, call->fields[i].value);
    if (has_body)
        buf_addf(out, "Content-Length: %zu\r\n", call->body ? call->len : 0);
    buf_adds(out, "\r\n");
    if (call->body)
        buf_add(out, call->body, call->len);
    return 0;
}

/* A server that refuses what it has not read yet answers and closes: then what it says counts. */
static int request_send(struct local *local, const struct buf *out)
{
    for (size_t sent = 0; sent < out->len;) {
        ssize_t put = send(local->fd, out->text + sent, out->len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (put >= 0)
            sent += (size_t)put;
        else if (errno == EPIPE || errno == ECONNRESET)
            return 0;
        else if (errno != EAGAIN && errno != EINTR)
            return fail(local, CALL_UNKNOWN, strerror(errno));
        else if (ready(local, POLLOUT) < 0)
            return -1;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------- reading */

/* Reads what has come; 0: that was all; -1: nothing came in time. */
static int read_more(struct local *local)
{
    ssize_t got;

    if (local->at == local->in.len) {
        buf_reset(&local->in);
        local->at = 0;
    }
    for (;;) {
        got = recv(local->fd, buf_reserve(&local->in, READ_ROOM), READ_ROOM, MSG_DONTWAIT);
        if (got >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
        if (ready(local, POLLIN) < 0)
            return -1;
    }
    if (got <= 0)
        return 0;
    local->in.len += (size_t)got;
    if (local->call->bytes)
        local->until = clock_now() + local->span;
    return 1;
}

static int cut(struct local *local, int got)
{
    return got < 0 ? -1 : fail(local, CALL_UNKNOWN, "the connection was closed before an answer came");
}

static int too_long(struct local *local, const char *what, size_t max)
{
    local->ret->result = CALL_REFUSED;
    return err_set(local->err, "the answer's %s has more than %zu bytes", what, max);
}

/* The next line, without its end; lent until more is read. */
static int line_next(struct local *local, const char **ret, size_t *ret_len)
{
    for (;;) {
        size_t len = local->in.len - local->at;
        const char *line = local->in.len ? local->in.text + local->at : "", *end = memchr(line, '\n', len);
        int got;

        if (end) {
            *ret = line;
            *ret_len = (size_t)(end - line) - (end > line && end[-1] == '\r');
            local->at += (size_t)(end - line) + 1;
            return 0;
        }
        if (len > CLIENT_HEAD_MAX)
            return too_long(local, "head", CLIENT_HEAD_MAX);
        got = read_more(local);
        if (got <= 0)
            return cut(local, got);
    }
}

static int body_take(struct local *local, const char *bytes, size_t len)
{
    const struct http_call *call = local->call;
    bool handed_on = call->bytes && local->ret->status / 100 == 2;
    size_t max = call->bytes_max ? call->bytes_max : handed_on ? SIZE_MAX : CLIENT_BYTES_MAX;

    if (len > max || local->body_bytes > max - len)
        return too_long(local, "body", max);
    local->body_bytes += handed_on && !call->bytes_max ? 0 : len;
    if (handed_on)
        call->bytes(call->bytes_user, bytes, len);
    else
        buf_add(&local->ret->body, bytes, len);
    return 0;
}

/* Reads so many bytes of the body; UINT64_MAX: until the connection ends. */
static int body_part(struct local *local, uint64_t left)
{
    while (left) {
        size_t have = local->in.len - local->at, len = have < left ? have : (size_t)left;
        int got;

        if (len) {
            local->at += len;
            if (body_take(local, local->in.text + local->at - len, len) < 0)
                return -1;
            left -= left == UINT64_MAX ? 0 : len;
            continue;
        }
        got = read_more(local);
        if (got == 0 && left == UINT64_MAX)
            return 0;
        if (got <= 0)
            return cut(local, got);
    }
    return 0;
}

static int body_chunks(struct local *local)
{
    for (;;) {
        const char *line;
        char digits[20] = "", *end;
        uint64_t part;
        size_t len;

        if (line_next(local, &line, &len) < 0)
            return -1;
        memcpy(digits, line, len < sizeof digits - 1 ? len : sizeof digits - 1);
        part = strtoull(digits, &end, 16);
        if (end == digits || end - digits > 15)
            return fail(local, CALL_UNKNOWN, "the answer's chunks are malformed");
        if (part == 0)
            break;
        if (body_part(local, part) < 0 || line_next(local, &line, &len) < 0)
            return -1;
    }
    return 0; /* fields behind the body say nothing to us */
}

static int status_read(struct local *local)
{
    const char *line;
    char text[16] = "";
    size_t len;

    if (line_next(local, &line, &len) < 0)
        return -1;
    memcpy(text, line, len < sizeof text - 1 ? len : sizeof text - 1);
    if (sscanf(text, "HTTP/1.%*1[01] %3u", &local->ret->status) != 1 || local->ret->status < 100)
        return fail(local, CALL_UNKNOWN, "what came is not an answer of HTTP");
    return 0;
}

/* Reads the head of an answer, behind those that are only interim. */
static int head_read(struct local *local)
{
    size_t bytes = 0;

    do {
        char *length = NULL, *coding = NULL;
        bool over = false;
        const char *line;
        size_t len;

        answer_fields_forget(&local->fields);
        if (status_read(local) < 0)
            return -1;
        while (!over && bytes <= CLIENT_HEAD_MAX && line_next(local, &line, &len) == 0) {
            bytes += len + 2;
            over = !len;
#define X(member, name) answer_field_take(&local->fields.member, name, line, len);
            ANSWER_FIELDS(X)
#undef X
            answer_field_take(&length, "content-length", line, len);
            answer_field_take(&coding, "transfer-encoding", line, len);
        }
        local->counted = length != NULL;
        local->length = length ? strtoull(length, NULL, 10) : 0;
        local->chunked = coding && !strcasecmp(coding, "chunked");
        free(length);
        free(coding);
        if (!over)
            return bytes > CLIENT_HEAD_MAX ? too_long(local, "head", CLIENT_HEAD_MAX) : -1;
    } while (local->ret->status < 200);
    return 0;
}

static int body_read(struct local *local)
{
    if (local->ret->status == 204 || local->ret->status == 304)
        return 0;
    if (local->chunked)
        return body_chunks(local);
    return body_part(local, local->counted ? local->length : UINT64_MAX);
}

int client_local_fetch(const struct http_call *call, struct fetched *ret, struct err *err)
{
    struct local local = {.call = call, .ret = ret, .err = err, .fd = -1};
    struct buf out;
    int failed;

    local.span = call->timeout > 0 ? call->timeout : call->bytes ? CLIENT_SILENCE : CLIENT_TIMEOUT;
    local.until = clock_now() + local.span;
    *ret = (struct fetched){.result = CALL_UNREACHED};
    buf_init(&ret->body);
    buf_init(&local.in);
    buf_init(&out);
    failed = request_make(&local, &out) < 0 || local_connect(&local) < 0 || request_send(&local, &out) < 0 ||
             head_read(&local) < 0 || body_read(&local) < 0;
    if (out.len)
        memset(out.text, 0, out.len); /* it may have a token */
    buf_done(&out);
    buf_done(&local.in);
    if (local.fd >= 0)
        close(local.fd);
    if (failed) {
        answer_fields_forget(&local.fields);
        buf_done(&ret->body);
        *ret = (struct fetched){.result = ret->result};
        return -1;
    }
    ret->result = CALL_ANSWERED;
#define X(member, name) ret->member = local.fields.member;
    ANSWER_FIELDS(X)
#undef X
    buf_string(&ret->body);
    return 0;
}
