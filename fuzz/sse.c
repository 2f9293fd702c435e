/* sse.c: a stream of events reads alike in one piece, byte by byte and in the pieces that the first bytes choose. */
#include "live/http/events_reader.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BOUND 64 /* small, so that the limits are met */

static void on_event(void *user, const struct stream_event *event)
{
    struct buf *out = user;

    if (event->len > BOUND || event->data[event->len] != '\0')
        abort();
    buf_addf(out, "[%zu %s %s ", event->len, event->name, event->id);
    buf_add(out, event->data, event->len);
}

/* The events, whether it broke, and the last id, as one text. */
static void stream_read(const char *bytes, size_t len, size_t piece, struct buf *out)
{
    struct events_reader reader;
    size_t at = 0;
    int result = 0;

    buf_reset(out);
    events_reader_init(&reader, BOUND, on_event, out);
    while (result == 0 && at < len) {
        size_t step = len - at < piece ? len - at : piece;
        char *copy = mem_dup(bytes + at, step); /* reading past the piece is seen */

        result = events_reader_feed(&reader, copy, step, NULL);
        free(copy);
        at += step;
    }
    buf_addf(out, "%d %s %lld", result, events_reader_last_id(&reader), (long long)reader.retry);
    events_reader_done(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole, cut;
    size_t pieces[] = {1, size ? data[0] % 16u + 1 : 1};

    buf_init(&whole);
    buf_init(&cut);
    stream_read((const char *)data, size, size ? size : 1, &whole);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        stream_read((const char *)data, size, pieces[i], &cut);
        if (whole.len != cut.len || memcmp(whole.text, cut.text, whole.len) != 0) {
            fprintf(stderr, "%.*s\n%.*s\n", (int)whole.len, whole.text, (int)cut.len, cut.text);
            abort();
        }
    }
    buf_done(&whole);
    buf_done(&cut);
    return 0;
}
