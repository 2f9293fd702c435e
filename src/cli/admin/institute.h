/* institute.h: logging in by the identity of an institute: its token, and one of the pool for it.
 *
 *     GET  ISSUER/.well-known/openid-configuration   where the issuer can be asked
 *     POST device_authorization_endpoint             -> an address and a code, which a person opens in any browser (RFC 8628)
 *     POST token_endpoint, again and again           -> the token of the institute
 *     POST POOL/v1/exchange                          -> the token of the pool */
#ifndef BERTH_CLI_ADMIN_INSTITUTE_H
#define BERTH_CLI_ADMIN_INSTITUTE_H

#include "cli/ask/redeem.h"

struct institute {
    const char *issuer; /* a URL */
    const char *client; /* what the issuer knows the pool's users' program as */
    const char *scope;  /* that the issuer is asked for */
    const char *ca;     /* the file of certificates that the issuer's is checked against; NULL: the system's */
};

/* Lets the person log in at the issuer, and appends the token. Errors have been reported. */
int institute_ask(const struct institute *institute, struct buf *ret);

/* Reads a token from a file, "-" being the standard input. */
int institute_read(const char *file, struct buf *ret);

/* Shows the pool the institute's token, and gets one of its own for a key that is drawn. redeemed_done ends it in any case. */
int institute_exchange(const struct connection_options *options, const char *token, struct redeemed *ret);

#endif
