/* libgnutls.h: GnuTLS, loaded when the first certificate is made or read: commands read none. */
#ifndef BERTH_LIVE_AUTH_LIBGNUTLS_H
#define BERTH_LIVE_AUTH_LIBGNUTLS_H

#include "lang/base/err.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions that are called, without the gnutls_ in front. */
#define LIBGNUTLS_FUNCTIONS(X)        \
    X(free)                           \
    X(privkey_deinit)                 \
    X(privkey_import_x509)            \
    X(privkey_init)                   \
    X(pubkey_deinit)                  \
    X(pubkey_export2)                 \
    X(pubkey_get_key_id)              \
    X(pubkey_get_pk_algorithm)        \
    X(pubkey_import)                  \
    X(pubkey_import_privkey)          \
    X(pubkey_import_x509)             \
    X(pubkey_init)                    \
    X(record_send)                    \
    X(strerror)                       \
    X(x509_crt_deinit)                \
    X(x509_crt_export2)               \
    X(x509_crt_get_activation_time)   \
    X(x509_crt_get_expiration_time)   \
    X(x509_crt_get_key_id)            \
    X(x509_crt_get_subject_alt_name)  \
    X(x509_crt_get_subject_key_id)    \
    X(x509_crt_import)                \
    X(x509_crt_init)                  \
    X(x509_crt_set_activation_time)   \
    X(x509_crt_set_authority_key_id)  \
    X(x509_crt_set_basic_constraints) \
    X(x509_crt_set_dn_by_oid)         \
    X(x509_crt_set_expiration_time)   \
    X(x509_crt_set_key_purpose_oid)   \
    X(x509_crt_set_key_usage)         \
    X(x509_crt_set_pubkey)            \
    X(x509_crt_set_serial)            \
    X(x509_crt_set_subject_alt_name)  \
    X(x509_crt_set_subject_key_id)    \
    X(x509_crt_set_version)           \
    X(x509_crt_sign2)                 \
    X(x509_crt_verify)                \
    X(x509_privkey_deinit)            \
    X(x509_privkey_export2_pkcs8)     \
    X(x509_privkey_generate)          \
    X(x509_privkey_get_key_id)        \
    X(x509_privkey_import)            \
    X(x509_privkey_init)

struct libgnutls {
#define X(name) __typeof__(gnutls_##name) *name;
    LIBGNUTLS_FUNCTIONS(X)
#undef X
};

const struct libgnutls *libgnutls(void);

#ifdef __cplusplus
}
#endif
#endif
