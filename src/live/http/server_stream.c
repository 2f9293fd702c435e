/* server_stream.c: answers whose bytes come over time.
 *
 *     exchange_stream_write -> queue -> stream_read, when libmicrohttpd can send -> its buffer -> the socket's -> the client
 *
 * With nothing to send the connection is suspended (just returning 0 would spin); the next write wakes it. */
#include "live/http/server_parts.h"

#define BLOCK 4096 /* bytes at a time for clients of HTTP/1.0; others get what fits in the connection's memory */

static const char comment[] = ":\n\n";

static size_t stream_waiting(const struct stream *stream)
{
    return stream->queue.len - stream->start;
}

static ssize_t stream_read(void *user, uint64_t position, char *out, size_t max)
{
    struct exchange *exchange = user;
    struct stream *stream = &exchange->stream;
    size_t len = stream_waiting(stream);

    (void)position;
    if (exchange->conn->is_cut)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (len == 0) {
        if (stream->is_ended)
            return MHD_CONTENT_READER_END_OF_STREAM;
        conn_suspend(exchange->conn);
        return 0;
    }
    len = len < max ? len : max;
    memcpy(out, stream->queue.text + stream->start, len);
    stream->start += len;
    stream->moved = (int64_t)uv_now(exchange->conn->server->loop);
    if (stream_waiting(stream) == 0) {
        buf_reset(&stream->queue);
        stream->start = 0;
    }
    return (ssize_t)len;
}

void exchange_stream(struct exchange *exchange, const char *type, const struct http_field *fields, size_t field_count,
                     size_t queue_max)
{
    struct stream *stream = &exchange->stream;
    struct MHD_Response *response;

    if (exchange->response || exchange->state == EXCHANGE_QUEUED)
        return;
    response = libmicrohttpd()->create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, stream_read, exchange, NULL);
    stream->is_on = true;
    stream->max = queue_max;
    stream->written = stream->moved = (int64_t)uv_now(exchange->conn->server->loop);
    exchange_respond(exchange, MHD_HTTP_OK, response, type, fields, field_count);
}

bool exchange_stream_write(struct exchange *exchange, const char *bytes, size_t len)
{
    struct stream *stream = &exchange->stream;
    size_t waiting = stream_waiting(stream);

    if (!stream->is_on || stream->is_ended || exchange->conn->is_cut)
        return false;
    if (len > stream->max || waiting > stream->max - len) {
        server_refused(exchange->conn->server, "the queue of a stream is full", exchange->conn->from);
        conn_abandon(exchange->conn);
        return false;
    }
    stream->written = (int64_t)uv_now(exchange->conn->server->loop);
    if (waiting == 0) {
        stream->moved = stream->written;
    } else if (stream->start > waiting) { /* so each byte is moved once at most */
        memmove(stream->queue.text, stream->queue.text + stream->start, waiting);
        stream->queue.len = waiting;
        stream->start = 0;
    }
    buf_add(&stream->queue, bytes, len);
    conn_wake(exchange->conn);
    return true;
}

size_t exchange_stream_waiting(const struct exchange *exchange)
{
    return stream_waiting(&exchange->stream);
}

void exchange_stream_end(struct exchange *exchange)
{
    if (!exchange->stream.is_on || exchange->stream.is_ended)
        return;
    if (stream_waiting(&exchange->stream) == 0)
        exchange->stream.moved = (int64_t)uv_now(exchange->conn->server->loop);
    exchange->stream.is_ended = true;
    conn_wake(exchange->conn);
}

void stream_sweep(struct exchange *exchange, int64_t now)
{
    struct stream *stream = &exchange->stream;
    struct server *server = exchange->conn->server;

    /* The last bytes of a stream that has ended may lie in libmicrohttpd's memory, where we do not see them: they have
     * as long as bytes that wait here. */
    if (stream_waiting(stream) > 0 || stream->is_ended) {
        if (now - stream->moved >= server->spans[PHASE_STREAM]) {
            server_refused(server, "the stream was not read", exchange->conn->from);
            conn_abandon(exchange->conn);
        }
    } else if (now - stream->written >= server->comment && stream->max >= sizeof comment - 1) {
        exchange_stream_write(exchange, comment, sizeof comment - 1);
    }
}
