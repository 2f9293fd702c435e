/* report.c: complaints on standard error. */
#include "cli/term/report.h"

#include "cli/term/terminal.h"

#include "lang/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_SHOWN_MAX 96 /* bytes of a source line; of a longer line, those around the error are shown */

bool report_colours(int fd)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(fd) && !(none && *none) && !(term && !strcmp(term, "dumb"));
}

struct stream {
    bool terminal, colours;
};

/* Says what standard error is. That does not change while we run, and a hundred thousand complaints would ask each time. */
static const struct stream *error_stream(void)
{
    static struct stream stream;
    static bool known;

    if (!known) {
        stream = (struct stream){.terminal = isatty(STDERR_FILENO), .colours = report_colours(STDERR_FILENO)};
        known = true;
    }
    return &stream;
}

bool report_wants_line(void)
{
    return error_stream()->terminal;
}

/* Appends text for a terminal, with a blank for a tab. */
static void add_visible(struct buf *out, const char *text, size_t len)
{
    size_t from = out->len;

    for (size_t i = 0; i < len; i++)
        buf_addc(out, text[i] == '\t' ? ' ' : text[i]);
    if (len)
        controls_mask(out->text + from, len, 0);
}

static struct buf *kept_by; /* what a command tells in its own way; NULL: nothing */

void report_keep(struct buf *kept)
{
    kept_by = kept;
}

/* Writes a complaint at once and whole, so that nothing is lost however the program ends. */
static void write_error(const struct buf *text)
{
    if (kept_by)
        buf_add(kept_by, text->text, text->len);
    else
        fwrite(text->text, 1, text->len, stderr);
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static void add_caret(struct buf *out, const char *line, size_t len, unsigned column, bool colours)
{
    size_t at = column ? column - 1 : 0, from = 0, to;

    if (at > len)
        at = len;
    if (at > LINE_SHOWN_MAX * 3 / 4)
        from = at - LINE_SHOWN_MAX * 3 / 4;
    while (from && from < len && is_continuation(line[from]))
        from--;
    to = len - from > LINE_SHOWN_MAX ? from + LINE_SHOWN_MAX : len;
    while (to < len && is_continuation(line[to]))
        to++;
    buf_adds(out, from ? " ..." : "    ");
    add_visible(out, line + from, to - from);
    buf_adds(out, to < len ? "...\n    " : "\n    ");
    for (size_t i = from; i < at; i++)
        if (!is_continuation(line[i]))
            buf_addc(out, ' ');
    buf_adds(out, colours ? "\033[1;31m^\033[0m\n" : "^\n");
}

void report_caret(const char *line, size_t line_len, unsigned column)
{
    struct buf out;

    buf_init(&out);
    add_caret(&out, line, line_len, column, error_stream()->colours);
    write_error(&out);
    buf_done(&out);
}

void report_error(const char *file, const struct err *err, const char *line, size_t line_len)
{
    bool colours = error_stream()->colours;
    struct buf out;

    buf_init(&out);
    if (colours)
        buf_adds(&out, "\033[1m");
    file = *file ? file : "''";
    add_visible(&out, file, strlen(file));
    buf_addc(&out, ':');
    if (err->line)
        buf_addf(&out, "%u:%u:", err->line, err->column);
    buf_adds(&out, colours ? "\033[0m " : " ");
    add_visible(&out, err->text, strlen(err->text));
    buf_addc(&out, '\n');
    if (line && err->line && report_wants_line())
        add_caret(&out, line, line_len, err->column, colours);
    write_error(&out);
    buf_done(&out);
}

void report(const char *format, ...)
{
    char text[ERR_TEXT_MAX * 2];
    struct buf out;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_init(&out);
    buf_adds(&out, "berth: ");
    add_visible(&out, text, strlen(text));
    buf_addc(&out, '\n');
    write_error(&out);
    buf_done(&out);
}
