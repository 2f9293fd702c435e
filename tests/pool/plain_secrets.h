/* plain_secrets.h: secrets for tests: draws follow from a seed; a seal depends on everything, and hides nothing. */
#ifndef BERTH_TESTS_PLAIN_SECRETS_H
#define BERTH_TESTS_PLAIN_SECRETS_H

#include "lang/base/rng.h"
#include "pool/protocol/role.h"

#include <stddef.h>
#include <stdint.h>

static inline void plain_draw(void *user, void *bytes, size_t len)
{
    unsigned char *at = bytes;

    for (size_t i = 0; i < len; i++)
        at[i] = (unsigned char)rng_next(user);
}

static inline void plain_seal(void *user, const struct key *key, const void *data, size_t len, struct key *ret)
{
    uint64_t state = len;

    (void)user;
    for (int i = 0; i < KEY_BYTES; i++)
        state = rng_mix(state ^ key->bytes[i]);
    for (size_t i = 0; i < len; i++)
        state = rng_mix(state ^ ((const unsigned char *)data)[i]);
    for (int i = 0; i < KEY_BYTES; i++)
        ret->bytes[i] = (unsigned char)(state = rng_mix(state));
}

#endif
