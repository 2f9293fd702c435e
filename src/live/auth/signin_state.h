/* signin_state.h: a sign-in by a browser that is under way: what must come back from the issuer, and what proves that it was begun by the same browser.
 *
 *     begun   a state, a nonce and a verifier are drawn; all of them go to the browser, sealed, as a cookie that only we can read
 *     ended   the browser brings the cookie and, by way of the issuer, the state
 *
 * So whoever begins sign-ins without end fills nothing here. That each ends but once is the business of who has the cookie opened: by `state`. */
#ifndef BERTH_LIVE_AUTH_SIGNIN_STATE_H
#define BERTH_LIVE_AUTH_SIGNIN_STATE_H

#include "lang/base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SIGNIN_WORD 43 /* letters: 256 bits as base64url */
#define SIGNIN_KEY_BYTES 32
#define SIGNIN_SPAN 600       /* seconds that a person has at the issuer */
#define SIGNIN_SEALED_MAX 512 /* bytes of the sealed text */

struct signin_state {
    char state[SIGNIN_WORD + 1], nonce[SIGNIN_WORD + 1], verifier[SIGNIN_WORD + 1];
    unsigned char issuer[16]; /* which issuer: a hash of its URL and of who we are to it */
    int64_t ends;             /* seconds, of the clock that never jumps */
};

void signin_key_draw(unsigned char ret[SIGNIN_KEY_BYTES]);
void signin_issuer(const char *url, const char *client, unsigned char ret[16]);
void signin_state_draw(const unsigned char issuer[16], int64_t now, struct signin_state *ret);

/* Appends the challenge that the issuer is shown in place of the verifier (PKCE, S256). */
void signin_challenge(struct buf *out, const struct signin_state *state);

/* signin_state_seal appends the text; signin_state_open reads it. False when we have not sealed it, or its time is over. */
void signin_state_seal(struct buf *out, const struct signin_state *state, const unsigned char key[SIGNIN_KEY_BYTES]);
bool signin_state_open(const char *text, size_t len, const unsigned char key[SIGNIN_KEY_BYTES], int64_t now,
                       struct signin_state *ret);

/* Is that the state? The time that it takes does not tell how much of it is right. */
bool signin_state_is(const struct signin_state *state, const char *text);

#ifdef __cplusplus
}
#endif
#endif
