/* sha256.c: SHA-256. */
#include "sys/sha256.h"

#include "lang/base/mem.h"
#include "sys/encoding.h"

#include <sodium.h>
#include <stdlib.h>

struct sha256 {
    crypto_hash_sha256_state state;
};

struct sha256 *sha256_new(void)
{
    struct sha256 *sum = mem_alloc(sizeof *sum);

    crypto_hash_sha256_init(&sum->state);
    return sum;
}

void sha256_add(struct sha256 *sum, const void *bytes, size_t len)
{
    crypto_hash_sha256_update(&sum->state, bytes, len);
}

void sha256_end(struct sha256 *sum, char ret[SHA256_DIGITS + 1])
{
    unsigned char bytes[crypto_hash_sha256_BYTES];

    if (!sum)
        return;
    crypto_hash_sha256_final(&sum->state, bytes);
    if (ret)
        hex_print(bytes, sizeof bytes, ret);
    free(sum);
}
