/* file_data.c: what a file is, by its bytes: size and SHA-256. */
#include "live/data/file_data.h"

#include "lang/base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE (256 * 1024)

static int all_write(int fd, const char *bytes, size_t len, struct err *err)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_set(err, "it cannot be written: %s", strerror(errno));
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

static void hash_print(crypto_hash_sha256_state *state, char ret[FILE_HASH_LEN + 1])
{
    unsigned char bytes[crypto_hash_sha256_BYTES];

    crypto_hash_sha256_final(state, bytes);
    memcpy(ret, "sha256:", FILE_HASH_DIGITS_AT);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(ret + FILE_HASH_DIGITS_AT + 2 * i, 3, "%02x", bytes[i]);
}

int file_data_read(int fd, int to, int64_t *ret_size, char ret_hash[FILE_HASH_LEN + 1], struct err *err)
{
    char *bytes = mem_alloc(PIECE);
    crypto_hash_sha256_state state;
    int64_t size = 0;
    int failed = 0;

    crypto_hash_sha256_init(&state);
    while (!failed) {
        ssize_t n = read(fd, bytes, PIECE);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            failed = err_set(err, "it cannot be read: %s", strerror(errno));
        if (n <= 0)
            break;
        crypto_hash_sha256_update(&state, (const unsigned char *)bytes, (unsigned long long)n);
        size += n;
        failed = to >= 0 ? all_write(to, bytes, (size_t)n, err) : 0;
    }
    free(bytes);
    if (failed)
        return -1;
    *ret_size = size;
    hash_print(&state, ret_hash);
    return 0;
}

int file_data_check(int64_t size, const char *hash, const struct file_entry *entry, struct err *err)
{
    if (size != entry->size)
        return err_set(err, "it has %" PRId64 " bytes, and the catalogue says %" PRId64, size, entry->size);
    if (strcmp(hash, entry->hash) != 0)
        return err_set(err, "its contents are not those that the catalogue says: the hash is %s", hash);
    return 0;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

bool file_url_path(const char *url, struct buf *out)
{
    if (strncmp(url, "file:///", 8) != 0)
        return false;
    for (url += 7; *url; url++) {
        int high = *url == '%' ? digit_of(url[1]) : 0, low = *url == '%' && high >= 0 ? digit_of(url[2]) : 0;

        if (high < 0 || low < 0 || (*url == '%' && !(high * 16 + low)))
            return false;
        buf_addc(out, *url == '%' ? (char)(high * 16 + low) : *url);
        url += *url == '%' ? 2 : 0;
    }
    return true;
}
