/* err.h: what went wrong, and where, for a person to read.
 *
 * A function that can fail takes a `struct err *` last, returns -1 (or NULL) and fills it. The caller may give NULL when it does not want the reason.
 * Line and column count from 1; 0 means that there is no place. Each caller on the way up may add context in front. */
#ifndef BERTH_LANG_BASE_ERR_H
#define BERTH_LANG_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ERR_TEXT_MAX 400

struct err {
    unsigned line, column;
    char text[ERR_TEXT_MAX];
};

#if defined(__GNUC__)
#define ERR_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define ERR_FORMAT(f, a)
#endif

/* Both functions always return -1, so that a caller can write `return err_set(...)`. */
int err_set(struct err *err, const char *format, ...) ERR_FORMAT(2, 3);
int err_at(struct err *err, unsigned line, unsigned column, const char *format, ...) ERR_FORMAT(4, 5);

/* Puts "CONTEXT: " in front of the text in `err`. Returns -1. */
int err_context(struct err *err, const char *format, ...) ERR_FORMAT(2, 3);

/* Does the text end with words of the kernel that say that the machine itself lacks something: room, descriptors, memory, a disk that works? What the
 * kernel says about names, rights and formats is somebody else's fault. */
bool err_is_shortage(const char *text);

/* The line and column of a byte offset in a text. */
void err_place(const char *text, size_t offset, unsigned *ret_line, unsigned *ret_column);

#ifdef __cplusplus
}
#endif
#endif
