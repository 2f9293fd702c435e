/* report.c: complaints on standard error. */
#include "cli/report.h"

#include "base/buf.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_SHOWN_MAX 96 /* bytes of a source line; of a longer one, those around the place */

bool report_colours(int fd)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(fd) && !(none && *none) && !(term && !strcmp(term, "dumb"));
}

struct stream {
    bool terminal, colours;
};

/* What standard error is. That does not change while we run, and a hundred thousand complaints would ask each time. */
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

/* Whatever a file holds, a terminal gets no control characters from us. */
static void add_visible(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c == '\t')
            buf_addc(out, ' ');
        else if (c < ' ' || c == 127)
            buf_addc(out, '?');
        else
            buf_addc(out, (char)c);
    }
}

/* Complaints held back. Here, not in some object, since a signal handler has no other way to find them. */
#define HELD_MAX (32u << 10)
static char held[HELD_MAX];
static volatile size_t held_from, held_len; /* written already, and filled */
static bool holding;

/* What may end the program while complaints are held, and what it did before. */
static const int fatal_signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGHUP, SIGILL, SIGINT, SIGQUIT, SIGSEGV, SIGTERM};
#define FATAL_SIGNALS (sizeof fatal_signals / sizeof *fatal_signals)
static struct sigaction fatal_before[FATAL_SIGNALS];

void report_flush(void)
{
    while (held_from < held_len) {
        ssize_t wrote = write(STDERR_FILENO, held + held_from, held_len - held_from);

        if (wrote < 0 && errno != EINTR)
            break; /* there is nobody left to tell */
        if (wrote > 0)
            held_from += (size_t)wrote;
    }
    held_len = 0; /* first: between the two, nothing is written twice */
    held_from = 0;
}

static void restore_signals(void)
{
    for (size_t i = 0; i < FATAL_SIGNALS; i++)
        sigaction(fatal_signals[i], &fatal_before[i], NULL);
}

/* Writes what is held and lets the signal do what it did before: an error of the program's own happens again, as soon
 * as this returns, and abort() goes on; the others are sent again. Where nobody reads what is written, a second signal
 * ends the wait. */
static void on_fatal_signal(int number)
{
    restore_signals();
    report_flush();
    if (number == SIGHUP || number == SIGINT || number == SIGQUIT || number == SIGTERM)
        raise(number);
}

void report_hold(void)
{
    struct sigaction action = {.sa_handler = on_fatal_signal, .sa_flags = SA_NODEFER};

    if (error_stream()->terminal)
        return;
    fflush(stderr);
    for (size_t i = 0; i < FATAL_SIGNALS; i++) {
        sigaction(fatal_signals[i], NULL, &fatal_before[i]);
        if (fatal_before[i].sa_handler != SIG_IGN)
            sigaction(fatal_signals[i], &action, NULL);
    }
    holding = true;
}

void report_release(void)
{
    if (!holding)
        return;
    report_flush();
    restore_signals();
    holding = false;
}

static void write_error(const struct buf *text)
{
    if (holding && text->len > HELD_MAX - held_len)
        report_flush();
    if (holding && text->len <= HELD_MAX) {
        memcpy(held + held_len, text->text, text->len);
        atomic_signal_fence(memory_order_release); /* the handler sees whole complaints only */
        held_len += text->len;
    } else {
        fwrite(text->text, 1, text->len, stderr);
    }
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
