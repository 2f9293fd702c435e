/* certs_read.c: what certificates say: names, times, fingerprints. */
#include "live/auth/certs.h"

#include "live/auth/certs_parts.h"
#include "sys/encoding.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <stdlib.h>

/* ---- names ---- */

static bool label_valid(const char *text, size_t len)
{
    if (len == 0 || len > 63 || text[0] == '-' || text[len - 1] == '-')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9') || text[i] == '-'))
            return false;
    return true;
}

/* Is that a host name: labels with dots between them, in lower case? "*." may stand in front of two or more. */
static bool host_valid(const char *text)
{
    const char *at = text;
    unsigned labels = 0;
    bool any = strncmp(text, "*.", 2) == 0;

    for (at += any ? 2 : 0;; at++) {
        size_t len = strcspn(at, ".");

        if (!label_valid(at, len))
            return false;
        labels++;
        at += len;
        if (!*at)
            return !any || labels >= 2;
    }
}

static bool name_read(const char *text, struct cert_name *ret)
{
    size_t len = strlen(text);

    *ret = (struct cert_name){.address = true};
    ret->len = inet_pton(AF_INET, text, ret->bytes) == 1 ? 4 : inet_pton(AF_INET6, text, ret->bytes) == 1 ? 16 : 0;
    if (ret->len)
        return true;
    if (len == 0 || len > CERT_NAME_MAX)
        return false;
    *ret = (struct cert_name){.len = len};
    for (size_t i = 0; i < len; i++)
        ret->bytes[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] | 0x20) : text[i];
    /* digits and dots alone would be an address that is none */
    return strspn(ret->bytes, "0123456789.") < len && host_valid(ret->bytes);
}

bool cert_name_valid(const char *name)
{
    struct cert_name read;

    return name_read(name, &read);
}

bool cert_names_have(const struct cert_names *names, const struct cert_name *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->items[i].address == name->address && names->items[i].len == name->len &&
            memcmp(names->items[i].bytes, name->bytes, name->len) == 0)
            return true;
    return false;
}

struct cert_names *cert_names_new(const char *const *names, size_t count, struct err *err)
{
    struct cert_names *list = mem_alloc(sizeof *list);

    list->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct cert_name name;

        if (!name_read(names[i], &name)) {
            err_set(err, "'%.*s' is neither a host name nor an address", 100, names[i]);
            free(list);
            return NULL;
        }
        if (cert_names_have(list, &name))
            continue;
        if (list->count == CERT_NAMES_MAX) {
            err_set(err, "more than %d names for one certificate", CERT_NAMES_MAX);
            free(list);
            return NULL;
        }
        list->items[list->count++] = name;
    }
    return list;
}

/* ---- reading ---- */

int cert_read(const char *pem, gnutls_x509_crt_t *ret, struct err *err)
{
    size_t len = strlen(pem);
    gnutls_datum_t text = {(unsigned char *)(uintptr_t)pem, (unsigned)len};
    gnutls_x509_crt_t cert;
    int code;

    if (len > CERT_PEM_MAX)
        return err_set(err, "the certificate is too long");
    if ((code = libgnutls()->x509_crt_init(&cert)) < 0)
        return cert_fail(err, "a certificate cannot be read", code);
    if ((code = libgnutls()->x509_crt_import(cert, &text, GNUTLS_X509_FMT_PEM)) < 0) {
        libgnutls()->x509_crt_deinit(cert);
        return cert_fail(err, "a certificate cannot be read", code);
    }
    *ret = cert;
    return 0;
}

int cert_times(const char *pem, int64_t *ret_begins, int64_t *ret_ends, struct err *err)
{
    gnutls_x509_crt_t cert = NULL;

    if (cert_read(pem, &cert, err) < 0)
        return -1;
    *ret_begins = (int64_t)libgnutls()->x509_crt_get_activation_time(cert);
    *ret_ends = (int64_t)libgnutls()->x509_crt_get_expiration_time(cert);
    libgnutls()->x509_crt_deinit(cert);
    return 0;
}

int cert_fingerprint(const char *pem, unsigned char ret[CERT_HASH_BYTES], struct err *err)
{
    gnutls_x509_crt_t cert;
    gnutls_datum_t bytes = {NULL, 0};
    int code;

    if (cert_read(pem, &cert, err) < 0)
        return -1;
    code = libgnutls()->x509_crt_export2(cert, GNUTLS_X509_FMT_DER, &bytes);
    if (code >= 0)
        crypto_hash_sha256(ret, bytes.data, bytes.size);
    (*libgnutls()->free)(bytes.data);
    libgnutls()->x509_crt_deinit(cert);
    return code < 0 ? cert_fail(err, "a certificate cannot be read", code) : 0;
}

int cert_pin(struct buf *out, const char *pem, struct err *err)
{
    unsigned char hash[CERT_HASH_BYTES];
    gnutls_datum_t bytes = {NULL, 0};
    gnutls_pubkey_t key = NULL;
    gnutls_x509_crt_t cert;
    int code;

    if (cert_read(pem, &cert, err) < 0)
        return -1;
    if ((code = libgnutls()->pubkey_init(&key)) >= 0 && (code = libgnutls()->pubkey_import_x509(key, cert, 0)) >= 0)
        code = libgnutls()->pubkey_export2(key, GNUTLS_X509_FMT_DER, &bytes);
    if (code >= 0) {
        crypto_hash_sha256(hash, bytes.data, bytes.size);
        buf_adds(out, "sha256//");
        base64_print(out, hash, sizeof hash);
    }
    (*libgnutls()->free)(bytes.data);
    if (key)
        libgnutls()->pubkey_deinit(key);
    libgnutls()->x509_crt_deinit(cert);
    return code < 0 ? cert_fail(err, "the public key of a certificate cannot be read", code) : 0;
}

/* ---- questions ---- */

/* Is the certificate for exactly those names? */
static bool has_names(gnutls_x509_crt_t cert, const struct cert_names *names)
{
    size_t found = 0;

    for (unsigned i = 0;; i++) {
        struct cert_name name = {.len = sizeof name.bytes};
        int type = libgnutls()->x509_crt_get_subject_alt_name(cert, i, name.bytes, &name.len, NULL);

        if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
            return found == names->count;
        if (type != GNUTLS_SAN_DNSNAME && type != GNUTLS_SAN_IPADDRESS)
            return false;
        name.address = type == GNUTLS_SAN_IPADDRESS;
        if (!cert_names_have(names, &name))
            return false;
        found++;
    }
}

bool cert_names_host(const char *pem)
{
    gnutls_x509_crt_t cert = NULL;
    bool found = false;

    if (cert_read(pem, &cert, NULL) < 0)
        return false;
    for (unsigned i = 0; !found; i++) {
        struct cert_name name = {.len = sizeof name.bytes};
        int type = libgnutls()->x509_crt_get_subject_alt_name(cert, i, name.bytes, &name.len, NULL);

        if (type == GNUTLS_E_REQUESTED_DATA_NOT_AVAILABLE)
            break;
        found = type == GNUTLS_SAN_DNSNAME || type == GNUTLS_SAN_IPADDRESS;
        if (type < 0 && type != GNUTLS_E_SHORT_MEMORY_BUFFER) /* a longer one is none of a host */
            break;
    }
    libgnutls()->x509_crt_deinit(cert);
    return found;
}

static bool is_signed_by(gnutls_x509_crt_t cert, gnutls_x509_crt_t ca)
{
    unsigned verdict = 0;

    return libgnutls()->x509_crt_verify(cert, &ca, 1, GNUTLS_VERIFY_DISABLE_TIME_CHECKS, &verdict) >= 0 && verdict == 0;
}

bool cert_serves(const char *pem, const char *ca_pem, const char *const *names, size_t name_count, int64_t now)
{
    struct cert_names *list = cert_names_new(names, name_count, NULL);
    gnutls_x509_crt_t cert = NULL, ca = NULL;
    bool good = list && cert_read(pem, &cert, NULL) == 0 && cert_read(ca_pem, &ca, NULL) == 0 &&
                (int64_t)libgnutls()->x509_crt_get_activation_time(cert) <= now &&
                (int64_t)libgnutls()->x509_crt_get_expiration_time(cert) - CERT_RENEW > now && is_signed_by(cert, ca) &&
                has_names(cert, list);

    if (cert)
        libgnutls()->x509_crt_deinit(cert);
    if (ca)
        libgnutls()->x509_crt_deinit(ca);
    free(list);
    return good;
}

bool cert_pair_valid(const struct cert_pair *pair)
{
    unsigned char of_cert[64], of_key[64];
    size_t cert_len = sizeof of_cert, key_len = sizeof of_key;
    gnutls_datum_t text = {(unsigned char *)pair->key, (unsigned)strlen(pair->key)};
    gnutls_x509_privkey_t key = NULL;
    gnutls_x509_crt_t cert;
    bool same;

    if (cert_read(pair->cert, &cert, NULL) < 0)
        return false;
    same = libgnutls()->x509_privkey_init(&key) >= 0 &&
           libgnutls()->x509_privkey_import(key, &text, GNUTLS_X509_FMT_PEM) >= 0 &&
           libgnutls()->x509_crt_get_key_id(cert, GNUTLS_KEYID_USE_SHA256, of_cert, &cert_len) >= 0 &&
           libgnutls()->x509_privkey_get_key_id(key, GNUTLS_KEYID_USE_SHA256, of_key, &key_len) >= 0 &&
           cert_len == key_len && memcmp(of_cert, of_key, cert_len) == 0;
    if (key)
        libgnutls()->x509_privkey_deinit(key);
    libgnutls()->x509_crt_deinit(cert);
    return same;
}
