/* secrets.h: the secrets of the live world, for the roles.
 *
 *     draw   the kernel's random bytes, by libsodium
 *     seal   HMAC-SHA-256 with the 32-byte key, which a shell can do too:
 *            openssl dgst -sha256 -mac HMAC -macopt hexkey:KEY */
#ifndef BERTH_SYS_SECRETS_H
#define BERTH_SYS_SECRETS_H

#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct secrets secrets_live;

#ifdef __cplusplus
}
#endif
#endif
