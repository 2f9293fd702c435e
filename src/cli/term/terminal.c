/* terminal.c: how large the terminal is, and a line on it that tells how far something is. */
#include "cli/term/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_LEAST 20 /* a terminal that says it is narrower is not believed */

bool terminal_size(int fd, size_t *ret_columns, size_t *ret_lines)
{
    struct winsize size = {0};

    *ret_columns = *ret_lines = 0;
    if (!isatty(fd))
        return false;
    if (ioctl(fd, TIOCGWINSZ, &size) == 0) {
        *ret_columns = size.ws_col >= COLUMNS_LEAST ? size.ws_col : 0;
        *ret_lines = size.ws_row;
    }
    return true;
}

static bool goes_on(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* How many bytes the control character at the beginning of the text has; 0: it begins with something else. */
static size_t control_len(const unsigned char *text, size_t len)
{
    if (text[0] < ' ' || text[0] == 127)
        return 1;
    return text[0] == 0xc2 && len > 1 && text[1] >= 0x80 && text[1] < 0xa0 ? 2 : 0;
}

void controls_mask(char *text, size_t len, char keep)
{
    for (size_t i = 0; i < len; i++) {
        size_t control = keep && text[i] == keep ? 0 : control_len((unsigned char *)text + i, len - i);

        memset(text + i, '?', control);
        i += control > 1;
    }
}

bool controls_any(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (control_len((const unsigned char *)text + i, len - i))
            return true;
    return false;
}

size_t columns_count(const char *text, size_t len)
{
    size_t columns = 0;

    for (size_t i = 0; i < len; i++)
        columns += !goes_on(text[i]);
    return columns;
}

size_t columns_bytes(const char *text, size_t len, size_t columns)
{
    size_t i = 0;

    for (; i < len; i++)
        if (!goes_on(text[i]) && columns-- == 0)
            break;
    return i;
}

void bar_print(struct buf *out, double part, unsigned width)
{
    unsigned full = part >= 1 ? width : part > 0 ? (unsigned)(part * width) : 0;

    for (unsigned i = 0; i < width; i++)
        buf_addc(out, i < full ? '#' : '-');
}

void progress_begin(struct progress_line *line, bool quiet)
{
    const char *term = getenv("TERM");

    *line = (struct progress_line){.wanted = !quiet && isatty(STDERR_FILENO) && !(term && !strcmp(term, "dumb"))};
}

static void line_write(struct progress_line *line, const char *text, size_t len)
{
    size_t columns = columns_count(text, len);
    struct buf out;

    buf_init(&out);
    buf_addc(&out, '\r');
    buf_add(&out, text, len);
    for (size_t i = columns; i < line->shown; i++)
        buf_addc(&out, ' ');
    for (size_t i = columns; i < line->shown; i++)
        buf_addc(&out, '\b');
    fwrite(out.text, 1, out.len, stderr);
    fflush(stderr);
    buf_done(&out);
    line->shown = columns;
}

void progress_show(struct progress_line *line, const struct buf *text)
{
    size_t columns, lines;

    if (!line->wanted)
        return;
    terminal_size(STDERR_FILENO, &columns, &lines);
    columns = columns ? columns - 1 : 79; /* the last column would begin a new line on some terminals */
    line_write(line, text->text, columns_bytes(text->text, text->len, columns));
}

void progress_clear(struct progress_line *line)
{
    if (line->wanted && line->shown) {
        line_write(line, "", 0);
        fputc('\r', stderr);
    }
}
