/* issuer.h: what a token of an issuer gives here: an identity, an account, scopes, a group and a Unix account.
 *
 *     claims --the issuer's expressions--> identity, account, group, Unix account, scopes
 *
 * An identity is made of the issuer's name and `sub`, never of an e-mail address:
 *
 *     NAME:SUB      cern:alice   idp.example.org:8d2f...   cern:a=2fb   cern:=h...
 *
 * Bytes of SUB other than a to z, 0 to 9 and . _ - + @ are written as = and two hexadecimal digits, and so is a dot in front. Upper case is too: comparisons of
 * the language do not look at case, and two people must not become one. A SUB for which there is no room is written as `=h` and a hash. So two subjects never
 * have one identity; there is no "/", behind which delegates' names stand; and the ":" is in no name of a Unix user.
 *
 * An account, if the issuer's expression gives one, stands in front: ACCOUNT/NAME:SUB, as if the account had delegated. */
#ifndef BERTH_LIVE_AUTH_ISSUER_H
#define BERTH_LIVE_AUTH_ISSUER_H

#include "live/auth/jwt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ISSUER_NAME_MAX 30     /* bytes of an issuer's name: a hash must fit behind it */
#define ISSUER_IDENTITY_MAX 63 /* bytes of an identity: it goes into ads and rows */
#define ISSUER_AUDIENCES_MAX 8
#define ISSUER_SUB_MAX 1024 /* bytes */
#define ISSUER_LEEWAY 60    /* seconds that an issuer's clock may be ahead */

#define ISSUER_ANY_WLCG "https://wlcg.cern.ch/jwt/v1/any"
#define ISSUER_ANY_SCITOKENS "ANY"

/* An issuer, as the configuration has it. The texts are strings of mem_dup's, owned. */
struct issuer {
    char *name; /* what its identities begin with */
    char *url;  /* as `iss` is written, to the letter */
    char *audiences[ISSUER_AUDIENCES_MAX];
    size_t audience_count;
    bool any_audience; /* takes tokens that say they are for everybody, if they are of WLCG or SciTokens */
    char *client;      /* who we are to the issuer when people sign in by a browser; NULL: they do not */
    char *identity, *account, *group, *unix_account, *scopes; /* expressions; NULL: the default */
};

void issuer_done(struct issuer *issuer); /* frees the texts; takes a zeroed one as well */

/* Is that a name of an issuer: small letters, digits, . - = and up to ISSUER_NAME_MAX of them? */
bool issuer_name_valid(const char *text, size_t len);

/* Appends the name that an issuer has if it is not given one: its URL without the scheme. False when that is too long. */
bool issuer_name_default(struct buf *out, const char *url);

/* Appends the identity of a subject. */
void issuer_identity(struct buf *out, const char *name, const char *sub, size_t len);

/* What the token gives at that time. Its signature has been proved. TOKEN_OK and the grant; or the fault, and in `why` more about it (may be ""). */
enum token_fault issuer_grant(const struct issuer *issuer, const struct jwt *jwt, int64_t now, struct grant *ret,
                              struct err *why);

/* A sign-in that has come back from the issuer. */
struct issuer_signin {
    const char *nonce; /* what the token must repeat */
    const char
        *granted; /* the words of `scope` that the issuer said beside the token; has no NUL behind it, and may be "" */
    size_t granted_len;
};

/* The same of a token that says who has signed in: it must be for the issuer's `client` alone, and have that nonce. Where it says nothing of scopes, what was said beside
 * it counts. */
enum token_fault issuer_grant_signin(const struct issuer *issuer, const struct jwt *jwt,
                                     const struct issuer_signin *signin, int64_t now, struct grant *ret,
                                     struct err *why);

/* The scopes that the words of a claim `scope` stand for: compute.read, compute.create, compute.modify, compute.cancel; others give nothing. */
scopes issuer_scopes(const char *words, size_t len);

#ifdef __cplusplus
}
#endif
#endif
