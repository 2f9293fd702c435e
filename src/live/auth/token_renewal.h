/* token_renewal.h: the proof by which whoever holds a token's own key asks for the same token anew.
 *
 *     proof = PASETO(message: seconds on the wall clock; implicit: "berth token renewal", the token's id), signed with the key that the token names
 *
 * Whoever was given a token that was delegated from it has another key, or none: what was lent does not last longer than it was lent for. */
#ifndef BERTH_LIVE_AUTH_TOKEN_RENEWAL_H
#define BERTH_LIVE_AUTH_TOKEN_RENEWAL_H

#include "live/auth/token.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RENEWAL_PROOF_MAX 512
#define RENEWAL_SKEW 600 /* seconds that clocks may differ by */

/* Is it time to ask? From the middle of its life on. */
bool token_renewal_due(const struct grant *grant, int64_t now);

/* Appends the proof for the file's token; `ret_id` is the id of the token. -1: it has no key of its own, or is a delegated one. */
int token_renewal_prove(struct buf *out, const struct token_file *file, int64_t now, char ret_id[TOKEN_ID_DIGITS + 1]);
bool token_renewal_proved(const struct public_key *key, const char *id, const char *proof, size_t len, int64_t now);

#ifdef __cplusplus
}
#endif
#endif
