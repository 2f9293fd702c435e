/* events_reader_test.c: streams of events are read alike however they are cut into pieces. */
#include "live/http/events_reader.h"

#include "common/tap.h"

#include <stdlib.h>

/* Events as text: NAME|ID|DATA; one after the other. */
static void on_event(void *user, const struct stream_event *event)
{
    struct buf *out = user;

    buf_addf(out, "%s|%s|%.*s;", event->name, event->id, (int)event->len, event->data);
    if (strlen(event->data) != event->len)
        buf_adds(out, "(a NUL inside)");
}

static const struct {
    const char *sentence, *stream, *events;
} rows[] = {
    {"data makes an event", "data: a\n\n", "message||a;"},
    {"name, id and data", "event: ad\nid: 7\ndata: {}\n\n", "ad|7|{};"},
    {"several lines of data are one text", "data: a\ndata: b\ndata:\ndata: d\n\n", "message||a\nb\n\nd;"},
    {"CR LF ends a line", "id: 1\r\ndata: a\r\n\r\ndata: b\r\n\r\n", "message|1|a;message|1|b;"},
    {"CR ends a line", "id: 1\rdata: a\r\rdata: b\r\r", "message|1|a;message|1|b;"},
    {"the three ways mixed", "data: a\rdata: b\ndata: c\r\n\n", "message||a\nb\nc;"},
    {"a comment says nothing", ": hello\n\n:\n\ndata: a\n: x\ndata: b\n\n", "message||a\nb;"},
    {"only one blank behind the colon is left out", "data:  a\n\ndata:b\n\n", "message|| a;message||b;"},
    {"a field without a colon has no value", "data\n\ndata\ndata\n\n", "message||;message||\n;"},
    {"an event without data is none", "event: x\nid: 3\n\ndata: a\n\n", "message|3|a;"},
    {"what is unfinished is no event", "data: a\n\ndata: b\n", "message||a;"},
    {"a name holds for one event, an id for all that follow", "event: x\nid: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
     "x|1|a;message|1|b;message||c;"},
    {"an unknown field is passed over", "colour: red\nDATA: x\n data: y\ndata: a\n\n", "message||a;"},
    {"a mark of byte order before the first line",
     "\xef\xbb\xbf"
     "data: a\n\n",
     "message||a;"},
    {"and nowhere else",
     "data: a\n\n\xef\xbb\xbf"
     "data: b\n\n",
     "message||a;"},
    {"data that looks like fields", "data: event: x\ndata: :c\n\n", "message||event: x\n:c;"},
};

static int stream_feed(struct events_reader *reader, const char *stream, size_t piece, struct err *err)
{
    size_t len = strlen(stream);

    for (size_t at = 0; at < len; at += piece)
        if (events_reader_feed(reader, stream + at, len - at < piece ? len - at : piece, err))
            return -1;
    return 0;
}

static void check_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t len = strlen(rows[i].stream), piece = 1;
        bool good = true;
        struct buf out;

        buf_init(&out);
        for (; piece <= len && good; piece++) {
            struct events_reader reader;

            buf_reset(&out);
            events_reader_init(&reader, 0, on_event, &out);
            good = stream_feed(&reader, rows[i].stream, piece, NULL) == 0 && !strcmp(buf_string(&out), rows[i].events);
            events_reader_done(&reader);
        }
        if (!tap_ok(good, "%s", rows[i].sentence))
            tap_diag("in pieces of %zu: %s", piece - 1, buf_string(&out));
        buf_done(&out);
    }
}

static void check_limits(void)
{
    struct events_reader reader;
    struct err err = {0};
    struct buf out;

    buf_init(&out);
    events_reader_init(&reader, 20, on_event, &out);
    tap_ok(stream_feed(&reader, "data: 1234567890\n\n", 3, &err) == 0 &&
               !strcmp(buf_string(&out), "message||1234567890;"),
           "an event within the bound is read");
    tap_ok(stream_feed(&reader, "data: 123456789012345\n\n", 3, &err) == -1 && err.text[0],
           "a line past the bound is an error");
    tap_ok(stream_feed(&reader, "data: a\n\n", 3, &err) == -1, "nothing is read after an error");
    events_reader_reset(&reader);
    tap_ok(stream_feed(&reader, "data: 1234567890\ndata: 123456789\n", 3, &err) == 0 &&
               stream_feed(&reader, "data: \n", 3, &err) == -1,
           "lines that are short can still make an event that is too long");
    events_reader_reset(&reader);
    buf_reset(&out);
    tap_ok(stream_feed(&reader, "data: a\n\n", 3, &err) == 0 && !strcmp(buf_string(&out), "message||a;"),
           "a new stream begins anew");
    events_reader_done(&reader);
    events_reader_init(&reader, 0, on_event, &out);
    buf_reset(&out);
    for (int i = 0; i < EVENTS_READER_NAME_MAX; i++)
        buf_addc(&out, 'x');
    char *line = mem_dup(out.text, out.len);
    tap_ok(events_reader_feed(&reader, "id:", 3, &err) == 0 &&
               events_reader_feed(&reader, line, EVENTS_READER_NAME_MAX, &err) == 0 &&
               events_reader_feed(&reader, "x\n", 2, &err) == -1,
           "an id has a bound of its own");
    free(line);
    events_reader_done(&reader);
    buf_done(&out);
}

static void check_again(void)
{
    struct events_reader reader;
    struct buf out;

    buf_init(&out);
    events_reader_init(&reader, 0, on_event, &out);
    tap_ok(!strcmp(events_reader_last_id(&reader), "") && reader.retry == -1, "at first there is no id");
    stream_feed(&reader, "id: 7\ndata: a\n\nid: 8\nda", 5, NULL);
    tap_ok(!strcmp(events_reader_last_id(&reader), "7"),
           "an id counts when its event is whole: what was cut is asked for again");
    events_reader_reset(&reader);
    stream_feed(&reader, "data: b\n\n", 5, NULL);
    tap_ok(!strcmp(buf_string(&out), "message|7|a;message|7|b;"),
           "half an event is forgotten when the stream begins anew");
    stream_feed(&reader, "retry: 1500\nretry: x\nretry: 99999999999999999999\nretry:\n", 4, NULL);
    tap_ok(reader.retry == 1500, "the pause that the server asks for is kept, and nonsense is not");
    events_reader_feed(&reader, "id: a\0b\ndata: c\n\n", 17, NULL);
    tap_ok(!strcmp(events_reader_last_id(&reader), "7"), "an id with a NUL is passed over");
    events_reader_done(&reader);
    events_reader_done(NULL);
    buf_done(&out);
}

int main(void)
{
    check_rows();
    check_limits();
    check_again();
    return tap_done();
}
