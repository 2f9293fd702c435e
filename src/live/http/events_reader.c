/* events_reader.c: lines first, then fields, then events. */
#include "live/http/events_reader.h"

#define MARK "\xef\xbb\xbf" /* the byte order mark: allowed before the first line */
#define RETRY_DIGITS_MAX 9

void events_reader_init(struct events_reader *reader, size_t bytes_max, stream_event_fn *event, void *user)
{
    *reader = (struct events_reader){
        .event = event, .user = user, .bytes_max = bytes_max ? bytes_max : EVENTS_READER_BYTES_MAX, .retry = -1};
    buf_init(&reader->line);
    buf_init(&reader->data);
    buf_init(&reader->name);
    buf_init(&reader->id);
    buf_init(&reader->last_id);
}

void events_reader_done(struct events_reader *reader)
{
    if (!reader)
        return;
    buf_done(&reader->line);
    buf_done(&reader->data);
    buf_done(&reader->name);
    buf_done(&reader->id);
    buf_done(&reader->last_id);
}

static void event_forget(struct events_reader *reader)
{
    buf_reset(&reader->data);
    buf_reset(&reader->name);
    reader->has_data = false;
}

void events_reader_reset(struct events_reader *reader)
{
    event_forget(reader);
    buf_reset(&reader->line);
    buf_reset(&reader->id);
    buf_add(&reader->id, reader->last_id.text, reader->last_id.len);
    reader->after_cr = reader->begun = reader->broken = false;
}

const char *events_reader_last_id(struct events_reader *reader)
{
    return buf_string(&reader->last_id);
}

/* --------------------------------------------------------------------------------------------------------- fields */

static int data_add(struct events_reader *reader, const char *value, size_t len, struct err *err)
{
    if (reader->data.len + len + 1 > reader->bytes_max)
        return err_set(err, "an event has more than %zu bytes", reader->bytes_max);
    if (reader->has_data)
        buf_addc(&reader->data, '\n');
    buf_add(&reader->data, value, len);
    reader->has_data = true;
    return 0;
}

static int word_set(struct buf *word, const char *what, const char *value, size_t len, struct err *err)
{
    if (len > EVENTS_READER_NAME_MAX)
        return err_set(err, "an event's %s has more than %d bytes", what, EVENTS_READER_NAME_MAX);
    if (!memchr(value, '\0', len)) { /* as the format says: a value with a NUL is ignored */
        buf_reset(word);
        buf_add(word, value, len);
    }
    return 0;
}

static int name_set(struct events_reader *reader, const char *value, size_t len, struct err *err)
{
    return word_set(&reader->name, "name", value, len, err);
}

static int id_set(struct events_reader *reader, const char *value, size_t len, struct err *err)
{
    return word_set(&reader->id, "id", value, len, err);
}

static int retry_set(struct events_reader *reader, const char *value, size_t len, struct err *err)
{
    int64_t retry = 0;

    (void)err;
    if (len == 0 || len > RETRY_DIGITS_MAX)
        return 0;
    for (size_t i = 0; i < len; i++) {
        if (value[i] < '0' || value[i] > '9')
            return 0;
        retry = retry * 10 + (value[i] - '0');
    }
    reader->retry = retry;
    return 0;
}

static const struct {
    const char *name;
    int (*set)(struct events_reader *reader, const char *value, size_t len, struct err *err);
} fields[] = {
    {"data", data_add},
    {"event", name_set},
    {"id", id_set},
    {"retry", retry_set},
};

static void event_end(struct events_reader *reader)
{
    buf_reset(&reader->last_id);
    buf_add(&reader->last_id, reader->id.text, reader->id.len);
    if (reader->has_data) {
        struct stream_event event = {
            .name = reader->name.len ? buf_string(&reader->name) : "message",
            .id = buf_string(&reader->last_id),
            .data = buf_string(&reader->data),
            .len = reader->data.len,
        };
        reader->event(reader->user, &event);
    }
    event_forget(reader);
}

/* ---------------------------------------------------------------------------------------------------------- lines */

static int line_end(struct events_reader *reader, const char *line, size_t len, struct err *err)
{
    const char *colon;
    size_t name_len;

    if (!reader->begun && len >= strlen(MARK) && memcmp(line, MARK, strlen(MARK)) == 0) {
        line += strlen(MARK);
        len -= strlen(MARK);
    }
    reader->begun = true;
    if (len == 0) {
        event_end(reader);
        return 0;
    }
    colon = memchr(line, ':', len);
    name_len = colon ? (size_t)(colon - line) : len;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strlen(fields[i].name) == name_len && memcmp(fields[i].name, line, name_len) == 0) {
            const char *value = colon ? colon + 1 : line + len;

            if (value < line + len && *value == ' ')
                value++;
            return fields[i].set(reader, value, (size_t)(line + len - value), err);
        }
    return 0; /* a comment, or an unknown field */
}

static const char *line_find_end(const char *from, const char *end)
{
    while (from < end && *from != '\n' && *from != '\r')
        from++;
    return from;
}

/* A line that lies whole in the bytes is read in place; only a line that is cut between two pieces is kept. */
static int bytes_read(struct events_reader *reader, const char *bytes, const char *end, struct err *err)
{
    while (bytes < end) {
        const char *stop;

        if (reader->after_cr && *bytes == '\n')
            bytes++;
        reader->after_cr = false;
        stop = line_find_end(bytes, end);
        if (reader->line.len + (size_t)(stop - bytes) > reader->bytes_max)
            return err_set(err, "a line of events has more than %zu bytes", reader->bytes_max);
        if (stop == end) {
            buf_add(&reader->line, bytes, (size_t)(stop - bytes));
            return 0;
        }
        if (reader->line.len) {
            buf_add(&reader->line, bytes, (size_t)(stop - bytes));
            bytes = reader->line.text;
        }
        size_t len = reader->line.len ? reader->line.len : (size_t)(stop - bytes);
        reader->line.len = 0;
        reader->after_cr = *stop == '\r';
        if (line_end(reader, bytes, len, err))
            return -1;
        bytes = stop + 1;
    }
    return 0;
}

int events_reader_feed(struct events_reader *reader, const char *bytes, size_t len, struct err *err)
{
    if (reader->broken)
        return err_set(err, "the stream of events was too long already");
    if (len && bytes_read(reader, bytes, bytes + len, err)) {
        reader->broken = true;
        return -1;
    }
    return 0;
}
