/* events_reader.h: reads text/event-stream as it comes, in pieces of any size. Pure.
 *
 *     id: 7        a line is FIELD: VALUE, ended by LF, CR or CR LF; several data lines make one text with LF between
 *     event: ad    a line that begins with ':' is a comment
 *     data: {...}  an empty line ends the event, which is delivered if it has data
 *
 * An event that is unfinished when the stream ends is dropped. Memory is bounded by `bytes_max`. */
#ifndef BERTH_LIVE_HTTP_EVENTS_READER_H
#define BERTH_LIVE_HTTP_EVENTS_READER_H

#include "lang/base/buf.h"
#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define EVENTS_READER_BYTES_MAX ((size_t)16 << 20) /* of a line and of an event's data, by default */
#define EVENTS_READER_NAME_MAX 1024                /* bytes of an id or a name */

/* An event; its texts are lent while the function runs. */
struct stream_event {
    const char *name; /* "message" when the event gives none */
    const char *id;   /* the last id that was given; empty when there was none */
    const char *data; /* NUL-terminated as well, BUF_PADDING NULs behind */
    size_t len;
};

typedef void stream_event_fn(void *user, const struct stream_event *event);

struct events_reader {
    stream_event_fn *event;
    void *user;
    size_t bytes_max;
    struct buf line, data, name;
    struct buf id,
        last_id; /* of the event being read, and of the last whole event: events lost by a cut are asked for again */
    bool has_data;
    bool after_cr; /* an LF that comes now belongs to the CR before */
    bool begun;    /* the first line has been seen: no byte order mark can come any more */
    bool broken;
    int64_t retry; /* milliseconds, as the server last asked for; -1: it did not */
};

/* bytes_max 0: EVENTS_READER_BYTES_MAX. */
void events_reader_init(struct events_reader *reader, size_t bytes_max, stream_event_fn *event, void *user);
void events_reader_done(struct events_reader *reader);

/* A new stream begins; the last id stays, to be sent as Last-Event-ID. */
void events_reader_reset(struct events_reader *reader);

/* Returns -1 beyond a limit: then nothing more is read until events_reader_reset. The event function must not end or
 * feed the reader. */
int events_reader_feed(struct events_reader *reader, const char *bytes, size_t len, struct err *err);

const char *events_reader_last_id(struct events_reader *reader); /* empty when there was none */

#ifdef __cplusplus
}
#endif
#endif
