/* err.c: what went wrong, and where. */
#include "lang/base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void err_fill(struct err *err, unsigned line, unsigned column, const char *format, va_list args)
{
    if (!err)
        return;
    err->line = line;
    err->column = column;
    vsnprintf(err->text, sizeof err->text, format, args);
}

int err_set(struct err *err, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    err_fill(err, 0, 0, format, args);
    va_end(args);
    return -1;
}

int err_at(struct err *err, unsigned line, unsigned column, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    err_fill(err, line, column, format, args);
    va_end(args);
    return -1;
}

int err_context(struct err *err, const char *format, ...)
{
    char front[ERR_TEXT_MAX];
    size_t front_len, text_len;
    va_list args;

    if (!err)
        return -1;
    va_start(args, format);
    vsnprintf(front, sizeof front, format, args);
    va_end(args);
    strncat(front, ": ", sizeof front - strlen(front) - 1);
    front_len = strlen(front);
    text_len = strlen(err->text);
    if (text_len > sizeof err->text - 1 - front_len)
        text_len = sizeof err->text - 1 - front_len;
    memmove(err->text + front_len, err->text, text_len);
    memcpy(err->text, front, front_len);
    err->text[front_len + text_len] = 0;
    return -1;
}

void err_place(const char *text, size_t offset, unsigned *ret_line, unsigned *ret_column)
{
    unsigned line = 1;
    size_t start = 0;

    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    }
    *ret_line = line;
    *ret_column = (unsigned)(offset - start + 1);
}

bool err_is_shortage(const char *text)
{
    static const int numbers[] = {ENOSPC, EDQUOT, EROFS, EIO, EMFILE, ENFILE, ENOMEM, EAGAIN, ENOBUFS, ESTALE};
    size_t len = strlen(text);

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *words = strerror(numbers[i]);
        size_t tail = strlen(words);

        if (len >= tail && !strcmp(text + len - tail, words))
            return true;
    }
    return false;
}
