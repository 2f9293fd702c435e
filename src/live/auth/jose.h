/* jose.h: signatures of JSON Web Tokens are checked by libcjose, which is loaded when the first key of an issuer is read: most commands never need it.
 *
 * Nothing of a token is decided there. What is handed over has been read and found to name one of our two algorithms, and the key is of the sort
 * that this algorithm has: so a header can neither choose another algorithm nor have a key taken for one of another sort. */
#ifndef BERTH_LIVE_AUTH_JOSE_H
#define BERTH_LIVE_AUTH_JOSE_H

#include "lang/base/err.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct jose_key;

/* A public key from the JSON of one, which has been checked; NULL when it is none, or the library cannot be loaded. */
struct jose_key *jose_key_new(const char *json, size_t len, struct err *err);
void jose_key_free(struct jose_key *key);

/* Is the signature of the compact text good by that key? */
bool jose_verify(const struct jose_key *key, const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
