/* log.c: lines are put together on the stack and written at once, or dropped. */
#include "sys/log.h"

#include "lang/base/calendar.h"
#include "lang/base/number.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_TAIL 24  /* kept free for the end of a value that was cut, `cut=true` and the end of the line */
#define VALUE_LEAST 8 /* a value begins only when that much of it fits */

static const char *const level_words[LEVEL_COUNT] = {"error", "warning", "info", "debug"};

struct line {
    char *start, *at, *end; /* end: where the tail begins */
    enum log_form form;
    bool cut;
};

/* ------------------------------------------------------------------------------------------------------------- texts */

/* Reads a character; returns its bytes and its code, or 0 when it is no UTF-8. */
static size_t read_character(const unsigned char *text, size_t len, uint32_t *ret_code)
{
    size_t more = text[0] < 0x80 ? 0 : text[0] >= 0xf0 ? 3 : text[0] >= 0xe0 ? 2 : 1;
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    uint32_t code = more ? text[0] & (0x3fu >> more) : text[0];

    if (more >= len || (more && (text[0] < 0xc2 || text[0] > 0xf4)))
        return 0;
    for (size_t i = 1; i <= more; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return 0;
    *ret_code = code;
    return more + 1;
}

/* Characters that a terminal or a reader could be fooled by: controls, line and paragraph ends, changes of direction. */
static bool is_dangerous(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code == 0x61c;
}

/* Writes one character as it stands between quotes; returns how many bytes it has in `out`, and how many it took of the text. */
static size_t escape_character(const char *text, size_t len, char out[8], size_t *ret_took)
{
    static const char from[] = "\n\t\r\\\"", to[] = "ntr\\\"";
    const char *named = *text ? strchr(from, *text) : NULL;
    uint32_t code = 0;
    size_t took = read_character((const unsigned char *)text, len, &code);

    *ret_took = took ? took : 1;
    if (named) {
        out[0] = '\\';
        out[1] = to[named - from];
        return 2;
    }
    if (took == 0 || is_dangerous(code)) /* many readers of JSON stumble over a NUL, even when it is escaped */
        return (size_t)snprintf(out, 8, "\\u%04x", took && code ? (unsigned)code : 0xfffdu);
    memcpy(out, text, took);
    return took;
}

static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] >= 127 || text[i] == '"' || text[i] == '=' || text[i] == '\\')
            return false;
    return len > 0;
}

/* How much room the line has before its tail; the `...` of a value that was cut lies in the tail. */
static size_t line_room(const struct line *line)
{
    return line->at < line->end ? (size_t)(line->end - line->at) : 0;
}

static void add_raw(struct line *line, const char *text, size_t len)
{
    memcpy(line->at, text, len);
    line->at += len;
}

/* Adds a text of any length: one that does not fit ends in `...`. */
static void add_text(struct line *line, const char *text, size_t len)
{
    bool cut = len > LOG_VALUE_MAX, quoted;
    size_t take = cut ? LOG_VALUE_MAX : len, took;

    if (cut) /* not within a character */
        for (int i = 0; i < 3 && ((unsigned char)text[take] & 0xc0) == 0x80; i++)
            take--;
    quoted = line->form == LOG_JSON || !is_plain(text, take);
    if (quoted)
        *line->at++ = '"';
    for (size_t i = 0; i < take; i += took) {
        char escaped[8];
        size_t bytes = escape_character(text + i, take - i, escaped, &took);

        if (line_room(line) < bytes) {
            cut = true;
            break;
        }
        add_raw(line, escaped, bytes);
    }
    if (cut)
        add_raw(line, "...", 3);
    if (quoted)
        *line->at++ = '"';
    line->cut |= cut;
}

/* ------------------------------------------------------------------------------------------------------------ fields */

static void add_name(struct line *line, const char *name, size_t len)
{
    bool json = line->form == LOG_JSON;

    if (line->at > line->start + json)
        *line->at++ = json ? ',' : ' ';
    if (json)
        *line->at++ = '"';
    for (size_t i = 0; i < len; i++) {
        bool fits = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
                    (name[i] >= '0' && name[i] <= '9') || name[i] == '.' || name[i] == '_';

        *line->at++ = fits ? name[i] : '_';
    }
    add_raw(line, json ? "\":" : "=", json ? 2 : 1);
}

static void add_value(struct line *line, const struct log_field *field)
{
    char text[NUMBER_TEXT_MAX];

    switch (field->sort) {
    case LOG_IS_TEXT:
        add_text(line, field->text, field->len);
        break;
    case LOG_IS_NUMBER:
        add_raw(line, text, number_print_integer(field->number, text));
        break;
    case LOG_IS_WORD:
        snprintf(text, sizeof text, "%016llx", (unsigned long long)field->number);
        add_text(line, text, 16);
        break;
    case LOG_IS_FLAG:
        add_raw(line, field->number ? "true" : "false", field->number ? 4 : 5);
        break;
    }
}

static void add_field(struct line *line, const struct log_field *field)
{
    static const size_t least[] = {
        [LOG_IS_TEXT] = VALUE_LEAST, [LOG_IS_NUMBER] = 20, [LOG_IS_WORD] = 18, [LOG_IS_FLAG] = 5};
    size_t len = strlen(field->name);

    if (field->sort == LOG_IS_TEXT && !field->text)
        return;
    if (line_room(line) < len + 4 + least[field->sort]) {
        line->cut = true;
        return;
    }
    add_name(line, field->name, len);
    add_value(line, field);
}

static void add_time(struct line *line, int64_t time)
{
    int64_t seconds = time / 1000000 - (time % 1000000 < 0), rest = time - seconds * 1000000;
    struct date date;
    char text[64];

    if (!calendar_split(seconds, &date) || date.year < 0) /* a clock that is out of its mind */
        calendar_split(0, &date);
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", date.year, date.month, date.day, date.hour,
             date.minute, date.second, (int)(rest / 1000));
    add_name(line, "time", 4);
    add_text(line, text, strlen(text));
}

size_t log_line(char out[LOG_LINE_MAX], enum log_form form, int64_t time, enum level level, const char *event,
                const struct log_field *fields, size_t count)
{
    struct line line = {out, out, out + LOG_LINE_MAX - LINE_TAIL, form, false};

    if (form == LOG_JSON)
        *line.at++ = '{';
    add_time(&line, time);
    add_name(&line, "level", 5);
    add_text(&line, level_words[level], strlen(level_words[level]));
    add_name(&line, "event", 5);
    add_text(&line, event, strlen(event));
    for (size_t i = 0; i < count; i++)
        add_field(&line, &fields[i]);
    if (line.cut) {
        add_name(&line, "cut", 3);
        add_raw(&line, "true", 4);
    }
    if (form == LOG_JSON)
        *line.at++ = '}';
    *line.at++ = '\n';
    return (size_t)(line.at - out);
}

/* ----------------------------------------------------------------------------------------------------------- writing */

static int64_t machine_clock(void *user)
{
    struct timespec now;

    (void)user;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

void log_init(struct log *log, int fd, enum log_form form, enum level level, log_clock_fn *clock, void *clock_user)
{
    struct stat status;

    *log = (struct log){.fd = fd, .form = form, .level = level, .clock = clock ? clock : machine_clock};
    log->clock_user = clock_user;
    log->is_socket = fd >= 0 && fstat(fd, &status) == 0 && S_ISSOCK(status.st_mode);
}

/* Writes what can be written without waiting, and returns how much that was. The descriptor is not made non-blocking: it is often shared,
 * with a shell for one. A pipe that is ready takes PIPE_BUF bytes, and a line is no longer. */
static size_t write_some(const struct log *log, const char *text, size_t len)
{
    struct pollfd ready = {.fd = log->fd, .events = POLLOUT};
    ssize_t put;

    do {
        if (log->is_socket)
            put = send(log->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
        else if (poll(&ready, 1, 0) <= 0 || !(ready.revents & POLLOUT))
            return 0;
        else
            put = write(log->fd, text, len);
    } while (put < 0 && errno == EINTR);
    return put > 0 ? (size_t)put : 0;
}

/* Writes the rest of a line that was written in part. */
static bool write_rest(struct log *log)
{
    size_t put = log->rest_len ? write_some(log, log->rest, log->rest_len) : 0;

    memmove(log->rest, log->rest + put, log->rest_len - put);
    log->rest_len -= put;
    return log->rest_len == 0;
}

/* Writes a line, of which the rest may stay behind for later; false when nothing was written. */
static bool write_line(struct log *log, const char *text, size_t len)
{
    size_t put;

    if (!write_rest(log) || (put = write_some(log, text, len)) == 0)
        return false;
    memcpy(log->rest, text + put, len - put);
    log->rest_len = len - put;
    log->lines++;
    return true;
}

static bool tell_dropped(struct log *log)
{
    struct log_field lines = log_number("lines", (int64_t)log->untold);
    char text[LOG_LINE_MAX];

    if (log->untold == 0)
        return true;
    if (!write_line(log, text,
                    log_line(text, log->form, log->clock(log->clock_user), LEVEL_WARNING, "log.dropped", &lines, 1)))
        return false;
    log->untold = 0;
    return true;
}

void log_event(struct log *log, enum level level, const char *event, const struct log_field *fields, size_t count)
{
    char text[LOG_LINE_MAX];

    if (!log || log->fd < 0 || (!log_wants(log, level) && strncmp(event, "audit.", 6)))
        return;
    if (tell_dropped(log) &&
        write_line(log, text, log_line(text, log->form, log->clock(log->clock_user), level, event, fields, count)))
        return;
    log->dropped++;
    log->untold++;
}

void log_flush(struct log *log)
{
    if (log && log->fd >= 0 && write_rest(log))
        tell_dropped(log);
}
