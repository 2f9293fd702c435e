/* certs.h: X.509 certificates of a pool, by gnutls: ECDSA with P-256 and SHA-256, as PEM text.
 *
 * A pool has one CA of its own. It signs the certificate of the matchmaker and no other: to join proves no host name, so an
 * agent serves with a certificate that signs itself, and is known by the pin of its key. */
#ifndef BERTH_LIVE_AUTH_CERTS_H
#define BERTH_LIVE_AUTH_CERTS_H

#include "lang/base/buf.h"
#include "lang/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CERT_HASH_BYTES 32
#define CERT_NAMES_MAX 32 /* in one certificate */
#define CERT_NAME_MAX 253 /* bytes of one */
#define CERT_PEM_MAX (64u << 10)
#define CERT_CA_SPAN (INT64_C(10) * 365 * 86400)
#define CERT_SPAN (INT64_C(365) * 86400)
#define CERT_RENEW (INT64_C(30) * 86400) /* a certificate that ends within that time is made anew */
#define CERT_BACKDATE (INT64_C(3600))    /* for clocks that are behind */

/* A certificate and its private key; strings of mem_dup's, owned. */
struct cert_pair {
    char *cert, *key;
};

void cert_pair_done(struct cert_pair *pair); /* overwrites the key */

/* Can a certificate name that? It is a host name (letters, digits, "-", "." and a "*" as the first label) or an IPv4 or IPv6 address without
 * brackets. */
bool cert_name_valid(const char *name);

/* Makes a CA that signs itself. `name` is its common name. */
int cert_make_ca(const char *name, int64_t now, struct cert_pair *ret, struct err *err);

/* Makes a certificate that signs itself and nothing else, for as long as a CA: for an agent that is known by the pin of its key. */
int cert_make_own(const char *name, int64_t now, struct cert_pair *ret, struct err *err);

/* Makes a new private key (PKCS #8) and its public half (SubjectPublicKeyInfo), both PEM. The caller frees them, the private one by text_wipe. */
int cert_make_key(char **ret_key, char **ret_public, struct err *err);

/* What a certificate is to say. */
struct cert_request {
    const char *public_key;   /* PEM, SubjectPublicKeyInfo: EC or Ed25519, or RSA of 2048 bits or more */
    const char *common_name;  /* up to 64 bytes */
    const char *const *names; /* of hosts, and addresses: one at least */
    size_t name_count;
    int64_t now, span; /* it ends after that, or with the CA */
};

int cert_issue(const struct cert_pair *ca, const struct cert_request *request, char **ret_cert, struct err *err);

/* Is the certificate signed by that CA, good at `now` and for CERT_RENEW after it, and for exactly those names (in any order)? */
bool cert_serves(const char *cert, const char *ca, const char *const *names, size_t name_count, int64_t now);

/* Does the certificate have a host name or an address among its alternative names? Where it has none, many programs take its common name for one. */
bool cert_names_host(const char *cert);

/* Does the private key belong to the certificate? */
bool cert_pair_valid(const struct cert_pair *pair);

int cert_times(const char *cert, int64_t *ret_begins, int64_t *ret_ends, struct err *err);

/* The SHA-256 of the certificate as it is on the wire. */
int cert_fingerprint(const char *cert, unsigned char ret[CERT_HASH_BYTES], struct err *err);

/* Appends "sha256//BASE64" of the certificate's public key: what curl's CURLOPT_PINNEDPUBLICKEY takes. */
int cert_pin(struct buf *out, const char *cert, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
