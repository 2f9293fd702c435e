/* certs.c: making certificates, and keys for them. */
#include "live/auth/certs.h"

#include "live/auth/certs_parts.h"
#include "sys/encoding.h"

#include <sodium.h>
#include <stdlib.h>

#define SERIAL_BYTES 16
#define COMMON_NAME_MAX 64
#define RSA_BITS_MIN 2048
#define RSA_BITS_MAX 8192

int cert_fail(struct err *err, const char *what, int code)
{
    return err_set(err, "%s: %s", what, libgnutls()->strerror(code));
}

void cert_pair_done(struct cert_pair *pair)
{
    if (!pair)
        return;
    free(pair->cert);
    text_wipe(pair->key);
    *pair = (struct cert_pair){0};
}

/* Copies a text of gnutls into our own memory; the original is overwritten and freed. */
static char *take_text(gnutls_datum_t *data)
{
    char *text = mem_dup((const char *)data->data, data->size);

    sodium_memzero(data->data, data->size);
    (*libgnutls()->free)(data->data);
    data->data = NULL;
    return text;
}

/* ---- keys ---- */

static int key_generate(gnutls_x509_privkey_t *ret, struct err *err)
{
    gnutls_x509_privkey_t key = NULL;
    int code = libgnutls()->x509_privkey_init(&key);

    if (code < 0)
        return cert_fail(err, "a key cannot be made", code);
    code =
        libgnutls()->x509_privkey_generate(key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    if (code < 0) {
        libgnutls()->x509_privkey_deinit(key);
        return cert_fail(err, "a key cannot be made", code);
    }
    *ret = key;
    return 0;
}

static int key_print(gnutls_x509_privkey_t key, char **ret, struct err *err)
{
    gnutls_datum_t text = {NULL, 0};
    int code = libgnutls()->x509_privkey_export2_pkcs8(key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &text);

    if (code < 0)
        return cert_fail(err, "a key cannot be written", code);
    *ret = take_text(&text);
    return 0;
}

static int key_read(const char *pem, gnutls_x509_privkey_t *ret, struct err *err)
{
    gnutls_datum_t text = {(unsigned char *)(uintptr_t)pem, (unsigned)strlen(pem)};
    gnutls_x509_privkey_t key = NULL;
    int code = libgnutls()->x509_privkey_init(&key);

    if (code < 0)
        return cert_fail(err, "a private key cannot be read", code);
    code = libgnutls()->x509_privkey_import(key, &text, GNUTLS_X509_FMT_PEM);
    if (code < 0) {
        libgnutls()->x509_privkey_deinit(key);
        return cert_fail(err, "a private key cannot be read", code);
    }
    *ret = key;
    return 0;
}

static int public_of(gnutls_x509_privkey_t key, gnutls_pubkey_t *ret, struct err *err)
{
    gnutls_privkey_t any = NULL;
    gnutls_pubkey_t open = NULL;
    int code;

    if ((code = libgnutls()->privkey_init(&any)) < 0 || (code = libgnutls()->privkey_import_x509(any, key, 0)) < 0 ||
        (code = libgnutls()->pubkey_init(&open)) < 0 ||
        (code = libgnutls()->pubkey_import_privkey(open, any, 0, 0)) < 0) {
        cert_fail(err, "a public key cannot be made", code);
        if (open)
            libgnutls()->pubkey_deinit(open);
        open = NULL;
    }
    if (any)
        libgnutls()->privkey_deinit(any);
    *ret = open;
    return open ? 0 : -1;
}

/* Reads the public key of a stranger: its kind and strength are checked. */
static int public_read(const char *pem, gnutls_pubkey_t *ret, struct err *err)
{
    size_t len = strlen(pem);
    gnutls_datum_t text = {(unsigned char *)(uintptr_t)pem, (unsigned)len};
    gnutls_pubkey_t key = NULL;
    unsigned bits = 0;
    int code;

    if (len > CERT_PEM_MAX)
        return err_set(err, "the public key is too long");
    if ((code = libgnutls()->pubkey_init(&key)) < 0)
        return cert_fail(err, "a public key cannot be read", code);
    if ((code = libgnutls()->pubkey_import(key, &text, GNUTLS_X509_FMT_PEM)) < 0) {
        libgnutls()->pubkey_deinit(key);
        return cert_fail(err, "a public key cannot be read", code);
    }
    code = libgnutls()->pubkey_get_pk_algorithm(key, &bits);
    if (code != GNUTLS_PK_EDDSA_ED25519 && !(code == GNUTLS_PK_ECDSA && bits >= 256) &&
        !(code == GNUTLS_PK_RSA && bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX)) {
        libgnutls()->pubkey_deinit(key);
        return err_set(err, "a public key must be ECDSA of 256 bits or more, Ed25519, or RSA of %d to %d bits",
                       RSA_BITS_MIN, RSA_BITS_MAX);
    }
    *ret = key;
    return 0;
}

static int public_print(gnutls_pubkey_t key, char **ret, struct err *err)
{
    gnutls_datum_t text = {NULL, 0};
    int code = libgnutls()->pubkey_export2(key, GNUTLS_X509_FMT_PEM, &text);

    if (code < 0)
        return cert_fail(err, "a public key cannot be written", code);
    *ret = take_text(&text);
    return 0;
}

int cert_make_key(char **ret_key, char **ret_public, struct err *err)
{
    gnutls_x509_privkey_t key = NULL;
    gnutls_pubkey_t open = NULL;
    char *secret = NULL;
    int result = -1;

    if (key_generate(&key, err) < 0)
        return -1;
    if (public_of(key, &open, err) == 0) {
        if (key_print(key, &secret, err) == 0 && public_print(open, ret_public, err) == 0) {
            *ret_key = secret;
            secret = NULL;
            result = 0;
        }
        text_wipe(secret);
        libgnutls()->pubkey_deinit(open);
    }
    libgnutls()->x509_privkey_deinit(key);
    return result;
}

/* ---- certificates ---- */

struct cert_plan {
    const char *common_name;
    const struct cert_names *names;
    int64_t begins, ends;
    bool ca;
};

static int set_names(gnutls_x509_crt_t cert, const struct cert_names *names)
{
    int code = 0;

    for (size_t i = 0; names && i < names->count && code >= 0; i++) {
        const struct cert_name *name = &names->items[i];

        code =
            libgnutls()->x509_crt_set_subject_alt_name(cert, name->address ? GNUTLS_SAN_IPADDRESS : GNUTLS_SAN_DNSNAME,
                                                       name->bytes, (unsigned)name->len, GNUTLS_FSAN_APPEND);
    }
    return code;
}

/* Writes into the certificate what it may be used for. */
static int set_uses(gnutls_x509_crt_t cert, bool ca)
{
    int code = libgnutls()->x509_crt_set_basic_constraints(cert, ca, ca ? 0 : -1);

    if (code < 0)
        return code;
    if (ca)
        return libgnutls()->x509_crt_set_key_usage(cert, GNUTLS_KEY_KEY_CERT_SIGN | GNUTLS_KEY_CRL_SIGN);
    if ((code = libgnutls()->x509_crt_set_key_usage(cert, GNUTLS_KEY_DIGITAL_SIGNATURE)) < 0 ||
        (code = libgnutls()->x509_crt_set_key_purpose_oid(cert, GNUTLS_KP_TLS_WWW_SERVER, 0)) < 0)
        return code;
    return libgnutls()->x509_crt_set_key_purpose_oid(cert, GNUTLS_KP_TLS_WWW_CLIENT, 0);
}

static int set_all(gnutls_x509_crt_t cert, const struct cert_plan *plan, gnutls_pubkey_t open)
{
    unsigned char serial[SERIAL_BYTES], id[CERT_HASH_BYTES];
    size_t id_len = sizeof id;
    int code;

    randombytes_buf(serial, sizeof serial);
    serial[0] = (unsigned char)((serial[0] & 0x3f) | 0x40); /* positive, and of full length */
    if ((code = libgnutls()->x509_crt_set_version(cert, 3)) < 0 ||
        (code = libgnutls()->x509_crt_set_serial(cert, serial, sizeof serial)) < 0 ||
        (code = libgnutls()->x509_crt_set_dn_by_oid(cert, GNUTLS_OID_X520_COMMON_NAME, 0, plan->common_name,
                                                    (unsigned)strlen(plan->common_name))) < 0 ||
        (code = libgnutls()->x509_crt_set_activation_time(cert, (time_t)plan->begins)) < 0 ||
        (code = libgnutls()->x509_crt_set_expiration_time(cert, (time_t)plan->ends)) < 0 ||
        (code = libgnutls()->x509_crt_set_pubkey(cert, open)) < 0 ||
        (code = libgnutls()->pubkey_get_key_id(open, GNUTLS_KEYID_USE_SHA256, id, &id_len)) < 0 ||
        (code = libgnutls()->x509_crt_set_subject_key_id(cert, id, id_len)) < 0 ||
        (code = set_uses(cert, plan->ca)) < 0)
        return code;
    return set_names(cert, plan->names);
}

/* Makes a certificate, signed by the issuer, or by itself when that is NULL. */
static int cert_make(const struct cert_plan *plan, gnutls_pubkey_t open, gnutls_x509_crt_t issuer,
                     gnutls_x509_privkey_t issuer_key, char **ret, struct err *err)
{
    unsigned char id[64];
    size_t id_len = sizeof id;
    gnutls_datum_t text = {NULL, 0};
    gnutls_x509_crt_t cert;
    int code = libgnutls()->x509_crt_init(&cert);

    if (code < 0)
        return cert_fail(err, "a certificate cannot be made", code);
    code = set_all(cert, plan, open);
    if (code >= 0 && issuer && (code = libgnutls()->x509_crt_get_subject_key_id(issuer, id, &id_len, NULL)) >= 0)
        code = libgnutls()->x509_crt_set_authority_key_id(cert, id, id_len);
    if (code >= 0)
        code = libgnutls()->x509_crt_sign2(cert, issuer ? issuer : cert, issuer_key, GNUTLS_DIG_SHA256, 0);
    if (code >= 0)
        code = libgnutls()->x509_crt_export2(cert, GNUTLS_X509_FMT_PEM, &text);
    libgnutls()->x509_crt_deinit(cert);
    if (code < 0)
        return cert_fail(err, "a certificate cannot be made", code);
    *ret = take_text(&text);
    return 0;
}

static int common_name_check(const char *name, struct err *err)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < len; i++)
        if (name[i] < ' ' || name[i] > '~')
            return err_set(err, "a common name must be printable ASCII");
    return len && len <= COMMON_NAME_MAX ? 0 : err_set(err, "a common name has 1 to %d bytes", COMMON_NAME_MAX);
}

static int cert_make_root(const char *name, bool ca, int64_t now, struct cert_pair *ret, struct err *err)
{
    const struct cert_plan plan = {
        .common_name = name, .begins = now - CERT_BACKDATE, .ends = now + CERT_CA_SPAN, .ca = ca};
    struct cert_pair pair = {0};
    gnutls_x509_privkey_t key = NULL;
    gnutls_pubkey_t open = NULL;
    int result = -1;

    if (common_name_check(name, err) < 0 || key_generate(&key, err) < 0)
        return -1;
    if (public_of(key, &open, err) == 0) {
        if (cert_make(&plan, open, NULL, key, &pair.cert, err) == 0 && key_print(key, &pair.key, err) == 0) {
            *ret = pair;
            result = 0;
        } else {
            cert_pair_done(&pair);
        }
        libgnutls()->pubkey_deinit(open);
    }
    libgnutls()->x509_privkey_deinit(key);
    return result;
}

int cert_make_ca(const char *name, int64_t now, struct cert_pair *ret, struct err *err)
{
    return cert_make_root(name, true, now, ret, err);
}

int cert_make_own(const char *name, int64_t now, struct cert_pair *ret, struct err *err)
{
    return cert_make_root(name, false, now, ret, err);
}

/* Issues a certificate, once everything is read that the caller gave as text. */
static int issue(const struct cert_pair *ca, gnutls_pubkey_t open, struct cert_plan *plan, char **ret, struct err *err)
{
    gnutls_x509_privkey_t key = NULL;
    gnutls_x509_crt_t issuer = NULL;
    int64_t ca_ends;
    int result = -1;

    if (cert_read(ca->cert, &issuer, err) < 0)
        return -1;
    ca_ends = (int64_t)libgnutls()->x509_crt_get_expiration_time(issuer);
    plan->ends = plan->ends > ca_ends ? ca_ends : plan->ends;
    if (plan->ends <= plan->begins + CERT_BACKDATE) {
        err_set(err, "the pool's CA has expired");
    } else if (key_read(ca->key, &key, err) == 0) {
        result = cert_make(plan, open, issuer, key, ret, err);
        libgnutls()->x509_privkey_deinit(key);
    }
    libgnutls()->x509_crt_deinit(issuer);
    return result;
}

int cert_issue(const struct cert_pair *ca, const struct cert_request *request, char **ret_cert, struct err *err)
{
    struct cert_names *list = cert_names_new(request->names, request->name_count, err);
    struct cert_plan plan = {.common_name = request->common_name,
                             .names = list,
                             .begins = request->now - CERT_BACKDATE,
                             .ends = request->now + request->span};
    gnutls_pubkey_t open = NULL;
    int result = -1;

    if (list && list->count == 0)
        err_set(err, "a certificate without a host name or an address would be taken for its common name's");
    else if (list && common_name_check(request->common_name, err) == 0 &&
             public_read(request->public_key, &open, err) == 0) {
        result = issue(ca, open, &plan, ret_cert, err);
        libgnutls()->pubkey_deinit(open);
    }
    free(list);
    return result;
}
