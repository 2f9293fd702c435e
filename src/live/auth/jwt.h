/* jwt.h: bearer tokens of other issuers: JSON Web Tokens, signed (compact JWS), and the keys that they are signed with.
 *
 *     base64url(HEADER) . base64url(CLAIMS) . base64url(SIGNATURE)
 *     {"alg":"ES256","kid":"k1","typ":"JWT"}   {"iss":"https://idp.example.org","sub":"alice","aud":"...","exp":1700003600}
 *
 * A token is signed by RS256 or ES256, and by a key that is of the sort of that algorithm. The key comes from the issuer's own set, as the configuration
 * says; what a header says about keys (jku, x5u, jwk, x5c) is ignored. A header with `crit`, `b64`, `zip` or `enc` asks for something that is
 * not done here, and is refused, as are tokens that say by `typ` that they are made for something else.
 *
 *     jwt_read -> whose it claims to be -> jwt_prove with that issuer's keys -> issuer_grant (issuer.h): what it gives */
#ifndef BERTH_LIVE_AUTH_JWT_H
#define BERTH_LIVE_AUTH_JWT_H

#include "lang/text/tree.h"
#include "live/auth/token.h"

#ifdef __cplusplus
extern "C" {
#endif

#define JWT_BYTES_MAX TOKEN_BYTES_MAX /* of the whole text: looked at before anything is read */
#define JWT_HEADER_MAX 2048           /* bytes of the header's text */
#define JWT_CELLS_MAX 4096            /* parts of header or claims */
#define JWT_KID_MAX 256
#define JWT_KEYS_BYTES_MAX (256u << 10) /* of a set of keys */
#define JWT_KEYS_MAX 32                 /* keys of a set that can be used; further ones are left out */

enum jwt_algorithm { JWT_RS256, JWT_ES256, JWT_ALGORITHM_COUNT };

/* Does the text look like such a token? Ours begin with a version, "v4.". */
bool jwt_is(const char *text, size_t len);

/* ---- keys ---- */

struct jwt_keys;

/* Reads a set of keys, {"keys":[...]}. Keys that are not for signatures, or for other algorithms, or private, are left out; -1 when none is left. */
struct jwt_keys *jwt_keys_read(const char *json, size_t len, struct err *err);
void jwt_keys_free(struct jwt_keys *keys);
uint32_t jwt_keys_count(const struct jwt_keys *keys);

/* ---- tokens ---- */

/* What a token says; nothing of it is proved. */
struct jwt {
    const char *text; /* lent */
    size_t len;
    enum jwt_algorithm algorithm;
    char kid[JWT_KID_MAX + 1]; /* "": it names none */
    struct symbols *symbols;
    struct tree *claims; /* names and strings as they were written */
    const char *issuer;  /* lent from the claims; no NUL behind it */
    size_t issuer_len;
};

/* Reads a token. With TOKEN_OK the caller ends it with jwt_done; jwt_done takes a zeroed one as well. `why` says more than the fault; it may be NULL. */
enum token_fault jwt_read(struct jwt *ret, const char *text, size_t len, struct err *why);
void jwt_done(struct jwt *jwt);

/* Was it signed with one of the keys? TOKEN_OK, TOKEN_UNKNOWN_KEY or TOKEN_SIGNATURE. */
enum token_fault jwt_prove(const struct jwt *jwt, const struct jwt_keys *keys);

/* The id by which the token can be revoked: a hash of what was signed. The signature is left out: some have two spellings. */
void jwt_id(const struct jwt *jwt, char ret_id[TOKEN_ID_DIGITS + 1]);

#ifdef __cplusplus
}
#endif
#endif
