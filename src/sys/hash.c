/* hash.c: what names the contents of a file. */
#include "sys/hash_parts.h"

#include "sys/encoding.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define HASH_BYTES (HASH_DIGITS / 2)
#define READ_BYTES (64 << 10)

bool hash_is_good(const char *text, size_t len)
{
    unsigned char bytes[HASH_BYTES];

    return len == HASH_DIGITS && hex_read(text, len, bytes, sizeof bytes);
}

void hashing_begin(struct hashing *hashing)
{
    crypto_generichash_init(&hashing->state, NULL, 0, HASH_BYTES);
    hashing->upto = 0;
}

void hashing_add(struct hashing *hashing, const void *bytes, size_t len)
{
    crypto_generichash_update(&hashing->state, bytes, len);
    hashing->upto += (int64_t)len;
}

int hashing_read(struct hashing *hashing, int fd, int64_t end)
{
    unsigned char piece[READ_BYTES];

    while (hashing->upto < end) {
        int64_t left = end - hashing->upto;
        ssize_t got = pread(fd, piece, left < READ_BYTES ? (size_t)left : READ_BYTES, hashing->upto);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (!got)
            break;
        hashing_add(hashing, piece, (size_t)got);
    }
    return 0;
}

void hashing_digits(const struct hashing *hashing, char ret_digits[HASH_DIGITS + 1])
{
    crypto_generichash_state state = hashing->state;
    unsigned char digest[HASH_BYTES];

    crypto_generichash_final(&state, digest, sizeof digest);
    hex_print(digest, sizeof digest, ret_digits);
}

int hash_file(int fd, char ret_digits[HASH_DIGITS + 1], uint64_t *ret_size, struct err *err)
{
    struct hashing hashing;

    if (sodium_init() < 0)
        return err_set(err, "libsodium cannot be used here");
    hashing_begin(&hashing);
    if (hashing_read(&hashing, fd, INT64_MAX) < 0)
        return err_set(err, "%s", strerror(errno));
    hashing_digits(&hashing, ret_digits);
    *ret_size = (uint64_t)hashing.upto;
    return 0;
}

void hash_bytes(const void *bytes, size_t len, char ret_digits[HASH_DIGITS + 1])
{
    struct hashing hashing;

    hashing_begin(&hashing);
    hashing_add(&hashing, bytes, len);
    hashing_digits(&hashing, ret_digits);
}
