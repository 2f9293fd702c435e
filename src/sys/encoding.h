/* encoding.h: bytes as text: hexadecimal digits and base64, read strictly: each value has one spelling. */
#ifndef BERTH_SYS_ENCODING_H
#define BERTH_SYS_ENCODING_H

#include "lang/base/buf.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Prints two lower-case digits for each byte, and a NUL: `ret_text` has room for 2 * len + 1. */
void hex_print(const void *bytes, size_t len, char *ret_text);

/* Reads exactly `room` bytes from twice as many lower-case digits; false when the text is anything else. The time that this takes does not
 * depend on the digits. */
bool hex_read(const char *text, size_t len, void *ret_bytes, size_t room);

/* Appends base64 in the alphabet for addresses (- and _), without padding. */
void base64url_print(struct buf *out, const void *bytes, size_t len);

/* Appends the bytes that the text stands for. False, and nothing appended, when a character is not of the alphabet, no number of bytes gives
 * that length, or the bits behind the last byte are not 0. */
bool base64url_read(struct buf *out, const char *text, size_t len);

/* Appends base64 in the common alphabet (+ and /), padded. */
void base64_print(struct buf *out, const void *bytes, size_t len);

/* Overwrites a buffer and gives its memory back. Copies that were left behind when the buffer grew are not overwritten: reserve first. */
void buf_wipe(struct buf *buf);
void text_wipe(char *text); /* the same for a string from mem_dup; takes NULL */

#ifdef __cplusplus
}
#endif
#endif
