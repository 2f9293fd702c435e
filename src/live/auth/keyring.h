/* keyring.h: the keys of a pool, in a folder of their own.
 *
 *     DIR (0700)    keys      all that must not be lost, as an ad: the pool's id, how often they were rotated, the seeds of the signing keys next, current and previous,
 *                             the X25519 key that offers' keys are sealed to, the pool's CA
 *                   server    the certificate and key that this pool serves TLS with; made anew when needed
 *                   ca.pem    the CA's certificate again, for other programs to be pointed at
 *
 * Files are of mode 0600, written under another name, flushed, renamed, and the folder flushed: after a crash each is
 * the old one or the new one, and since all keys are in one file a rotation or a first start has happened or has not.
 * A folder or file that others may touch, a link, or a damaged file is an error, never a reason to make new keys. Time
 * is given by the caller, in seconds since 1970. */
#ifndef BERTH_LIVE_AUTH_KEYRING_H
#define BERTH_LIVE_AUTH_KEYRING_H

#include "live/auth/box.h"
#include "live/auth/certs.h"
#include "live/auth/token.h"

#ifdef __cplusplus
extern "C" {
#endif

struct keyring;

/* Opens the keys; at a first start it makes them and the folder (whose parent must be there). NULL with the reason. A folder that has a ca.pem and
 * no keys has lost them, which is an error. The folder is locked until keyring_free: one process at a time has it open. */
struct keyring *keyring_open(const char *dir, int64_t now, struct err *err);
void keyring_free(struct keyring *ring); /* overwrites all keys */

const char *keyring_pool(const struct keyring *ring); /* the pool's id: 32 hexadecimal digits */

const struct signing_key *keyring_current(
    const struct keyring *ring); /* to sign tokens with; until the next rotation */
void keyring_token_keys(const struct keyring *ring, struct token_keys *ret); /* current, next, previous */

/* Rotates the keys: previous := current, current := next, next := a new one. Tokens of the key that was previous are refused from now on. -1 when
 * the keys could not be written: nothing has changed then. */
int keyring_rotate(struct keyring *ring, struct err *err);

/* Matchmakers that stand by for each other have the same keys. Seals all of them for a reader; NULL: for the pool's own matchmakers, so that
 * they know that one of them has. */
int keyring_seal(const struct keyring *ring, const struct box_public *reader, struct buf *out, struct err *err);
/* Takes on what was sealed for this ring's own box: KEYRING_TAKEN; KEYRING_OLDER: they were rotated less often than these, which stay. -1 when they are of
 * another pool, or cannot be opened or written. */
enum { KEYRING_TAKEN = 1, KEYRING_OLDER };
int keyring_take(struct keyring *ring, const void *box, size_t len, struct err *err);
/* Makes the folder of a ring from what was sealed for that reader; refused where there are keys. */
int keyring_adopt(const char *dir, const struct box_keys *mine, const void *box, size_t len, struct err *err);

const struct box_keys *keyring_box(const struct keyring *ring);

const char *keyring_ca_pem(const struct keyring *ring);
void keyring_ca_fingerprint(const struct keyring *ring, unsigned char ret[CERT_HASH_BYTES]);

/* The certificate that this pool serves with, for those host names and addresses; made anew (with a new key) when the
 * names are others, it ends within CERT_RENEW, or it is damaged. The caller gives it back with cert_pair_done. */
int keyring_certificate(struct keyring *ring, const char *const *names, size_t name_count, int64_t now,
                        struct cert_pair *ret, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
