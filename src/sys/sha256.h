/* sha256.h: SHA-256, by which images of containers name their parts. Files of ours are named by hash.h. */
#ifndef BERTH_SYS_SHA256_H
#define BERTH_SYS_SHA256_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHA256_DIGITS 64

struct sha256; /* a sum that grows */

struct sha256 *sha256_new(void);
void sha256_add(struct sha256 *sum, const void *bytes, size_t len);
/* Its digits, lower-case hexadecimal; frees it. `ret` may be NULL, and so may the sum. */
void sha256_end(struct sha256 *sum, char ret[SHA256_DIGITS + 1]);

#ifdef __cplusplus
}
#endif
#endif
