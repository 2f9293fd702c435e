/* secrets.c: the secrets of the live world. */
#include "sys/secrets.h"

#include <sodium.h>

_Static_assert(KEY_BYTES == crypto_auth_hmacsha256_KEYBYTES && KEY_BYTES == crypto_auth_hmacsha256_BYTES, "SHA-256");

static void live_draw(void *user, void *bytes, size_t len)
{
    (void)user;
    randombytes_buf(bytes, len);
}

static void live_seal(void *user, const struct key *key, const void *data, size_t len, struct key *ret)
{
    (void)user;
    crypto_auth_hmacsha256(ret->bytes, data, len, key->bytes);
}

const struct secrets secrets_live = {.user = NULL, .draw = live_draw, .seal = live_seal};
