/* jwt_keys.h: a set of keys of an issuer, as jwt.c looks into it. Private. */
#ifndef BERTH_LIVE_AUTH_JWT_KEYS_H
#define BERTH_LIVE_AUTH_JWT_KEYS_H

#include "live/auth/jose.h"
#include "live/auth/jwt.h"

struct jwt_key {
    enum jwt_algorithm algorithm; /* the one that its sort allows */
    char kid[JWT_KID_MAX + 1];    /* "": it has none */
    struct jose_key *key;
};

struct jwt_keys {
    uint32_t count;
    uint32_t counts[JWT_ALGORITHM_COUNT];
    struct jwt_key items[JWT_KEYS_MAX];
};

#endif
