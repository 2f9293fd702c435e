/* paseto.h: the layout v4.public of PASETO: bytes, and an Ed25519 signature over them and what stands around them.
 *
 *     v4.public. base64url(message | signature) . base64url(footer)
 *
 * The signature is over the header, the message, the footer and an implicit assertion, which both sides know and
 * nobody sends; each with its length in front, so that no byte can move from one to another. What the message and the
 * footer say is others' business. */
#ifndef BERTH_LIVE_AUTH_PASETO_H
#define BERTH_LIVE_AUTH_PASETO_H

#include "live/auth/token.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PASETO_SIGNATURE_BYTES 64

struct span {
    const char *text;
    size_t len;
};

/* Points into the buffer that it was read into. */
struct paseto {
    struct span message, footer;
    const unsigned char *signature;
};

/* Signs a message and appends the text. */
void paseto_sign(struct buf *out, const struct signing_key *key, struct span message, struct span footer,
                 struct span implicit);

/* Reads a text: TOKEN_OK, TOKEN_MALFORMED, or TOKEN_VERSION for a PASETO of another kind. The text has one spelling: what is accepted and signed
 * well is what paseto_sign wrote. `bytes` is emptied first. */
enum token_fault paseto_read(struct span text, struct buf *bytes, struct paseto *ret);

bool paseto_verify(const struct paseto *paseto, const struct public_key *key, struct span implicit);

#ifdef __cplusplus
}
#endif
#endif
