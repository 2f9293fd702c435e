/* certs_parts.h: what the files of certs.h share. Private. */
#ifndef BERTH_LIVE_AUTH_CERTS_PARTS_H
#define BERTH_LIVE_AUTH_CERTS_PARTS_H

#include "live/auth/certs.h"
#include "live/auth/libgnutls.h"

/* A host name in lower case, or the 4 or 16 bytes of an address. */
struct cert_name {
    bool address;
    size_t len;
    char bytes[CERT_NAME_MAX + 1];
};

struct cert_names {
    size_t count;
    struct cert_name items[CERT_NAMES_MAX]; /* none of them twice */
};

/* Reads names; the caller frees them. NULL when one is not a name, or there are too many. */
struct cert_names *cert_names_new(const char *const *names, size_t count, struct err *err);

bool cert_names_have(const struct cert_names *names, const struct cert_name *name);

/* Reads a certificate; the caller frees it with x509_crt_deinit of libgnutls(). */
int cert_read(const char *pem, gnutls_x509_crt_t *ret, struct err *err);

int cert_fail(struct err *err, const char *what, int code); /* -1, and what gnutls says */

#endif
