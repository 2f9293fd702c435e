/* digest_field.c: what a server says of the SHA-256 of a file, in a field of its answer. */
#include "live/data/digest_field.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SHA256 "sha-256="

/* Reads the value of a SHA-256 as base64, to its end, which is no longer than it can be. */
static bool value_read(const char *text, size_t len, char ret[FILE_HASH_LEN + 1])
{
    unsigned char bytes[crypto_hash_sha256_BYTES];
    size_t got;

    if (len >= 2 && text[0] == ':' && text[len - 1] == ':') {
        text++;
        len -= 2;
    }
    if (sodium_base642bin(bytes, sizeof bytes, text, len, NULL, &got, NULL, sodium_base64_VARIANT_ORIGINAL) < 0 ||
        got != sizeof bytes)
        return false;
    memcpy(ret, "sha256:", FILE_HASH_DIGITS_AT);
    sodium_bin2hex(ret + FILE_HASH_DIGITS_AT, 2 * sizeof bytes + 1, bytes, sizeof bytes);
    return true;
}

bool digest_field_read(const char *line, size_t len, char ret[FILE_HASH_LEN + 1])
{
    static const char *const names[] = {"Repr-Digest:", "Digest:"};
    const char *end = line + len, *at = NULL;

    for (size_t i = 0; i < sizeof names / sizeof *names && !at; i++)
        if (len > strlen(names[i]) && !strncasecmp(line, names[i], strlen(names[i])))
            at = line + strlen(names[i]);
    while (at && at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at)), *last = comma ? comma : end;

        while (at < last && (*at == ' ' || *at == '\t'))
            at++;
        while (last > at && strchr(" \t\r\n", last[-1]))
            last--;
        if ((size_t)(last - at) > sizeof SHA256 - 1 && !strncasecmp(at, SHA256, sizeof SHA256 - 1) &&
            value_read(at + sizeof SHA256 - 1, (size_t)(last - at) - (sizeof SHA256 - 1), ret))
            return true;
        at = comma ? comma + 1 : end;
    }
    return false;
}
