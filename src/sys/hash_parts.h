/* hash_parts.h: the hash of a file that comes or goes piece by piece; not installed. */
#ifndef BERTH_SYS_HASH_PARTS_H
#define BERTH_SYS_HASH_PARTS_H

#include "sys/hash.h"

#include <sodium.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hashing {
    crypto_generichash_state state;
    int64_t upto; /* bytes that are in it */
};

void hashing_begin(struct hashing *hashing);
void hashing_add(struct hashing *hashing, const void *bytes, size_t len);
/* Adds the bytes of the file from `upto` to `end`, or to its own end when that comes first; -1 and errno. */
int hashing_read(struct hashing *hashing, int fd, int64_t end);
/* The hash of all that was added so far; more may follow. */
void hashing_digits(const struct hashing *hashing, char ret_digits[HASH_DIGITS + 1]);

#ifdef __cplusplus
}
#endif
#endif
