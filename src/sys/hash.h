/* hash.h: what names the contents of a file: BLAKE2b of 32 bytes, as 64 lower-case hexadecimal digits. */
#ifndef BERTH_SYS_HASH_H
#define BERTH_SYS_HASH_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HASH_DIGITS 64

/* Is that text a hash? */
bool hash_is_good(const char *text, size_t len);

/* The hash of a whole regular file, and its length; where the descriptor stands does not matter. -1 when reading fails. */
int hash_file(int fd, char ret_digits[HASH_DIGITS + 1], uint64_t *ret_size, struct err *err);

void hash_bytes(const void *bytes, size_t len, char ret_digits[HASH_DIGITS + 1]);

#ifdef __cplusplus
}
#endif
#endif
