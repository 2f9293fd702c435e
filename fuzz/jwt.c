/* jwt.c: any text is a token of an issuer that can be read, or is refused with a fault; whatever its claims are, what they give is an identity of the pool, of
 * that subject alone; and any text is a set of keys or none.
 *
 *     byte 0    which: 0 the text itself, 1 a header, 2 claims, 3 claims with expressions over them, 4 a set of keys
 *     then      the bytes */
#include "live/auth/issuer.h"
#include "sys/encoding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW INT64_C(1700000000)
/* What has the length of a signature by ES256. */
#define ZEROS "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static _Noreturn void broken(const char *law)
{
    fprintf(stderr, "broken law: %s\n", law);
    abort();
}

static char text_iss[] = "https://a", text_aud[] = "b", text_name[] = "idp", text_identity[] = "nick",
            text_account[] = "team", text_group[] = "wlcg_groups[0]", text_unix[] = "nick", text_scopes[] = "rights";

/* The bytes that an identity stands for are those of the subject. */
static void check_identity(const struct jwt *jwt, const char *identity)
{
    const struct expr *root = tree_root(jwt->claims), *parts = tree_parts(jwt->claims, root);
    const char *at = strchr(identity, ':') + 1;
    struct buf sub;

    if (!strncmp(at, "=h", 2))
        return;
    buf_init(&sub);
    for (; *at; at++) {
        unsigned char byte = (unsigned char)*at;

        if (*at == '=') {
            if (!hex_read(at + 1, 2, &byte, 1))
                broken("what is escaped can be read");
            at += 2;
        }
        buf_addc(&sub, (char)byte);
    }
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        size_t len;
        const char *name = symbols_text(jwt->symbols, parts[i].label, &len);

        if (!strcmp(name, "sub") && (parts[i].kind != EXPR_STRING || parts[i].u.run.count != sub.len ||
                                     memcmp(tree_string(jwt->claims, &parts[i]), sub.text, sub.len) != 0))
            broken("an identity is of one subject");
    }
    buf_done(&sub);
}

static void check_grant(const struct jwt *jwt, const struct grant *grant, bool mapped)
{
    if (!subject_valid(grant->subject, strlen(grant->subject)) || strlen(grant->subject) > ISSUER_IDENTITY_MAX ||
        !subject_valid(grant->root, strlen(grant->root)) || strchr(grant->root, '/') || !grant->scope ||
        (grant->scope & ~(scopes)SCOPE_ALL) || grant->expires <= NOW || grant->links != 1 || !grant->foreign ||
        !strcmp(grant->root, "matchmaker") || !strcmp(grant->root, "machine") ||
        strncmp(grant->subject, grant->root, strlen(grant->root)) != 0 || !strcmp(grant->unix_account, "root"))
        broken("what a token gives is within its limits");
    if (mapped)
        return;
    if (grant->scope &
        ~(scopes)(SCOPE_AD_READ | SCOPE_AD_WRITE | SCOPE_JOB_SUBMIT | SCOPE_OWN_PARTS | SCOPE_CLAIM | SCOPE_MATCH))
        broken("a claim gives nobody an administrator's rights");
    if (strncmp(grant->subject, "idp:", 4) != 0 || strchr(grant->subject, '/') ||
        strcmp(grant->subject, grant->root) != 0)
        broken("an identity is of its issuer");
    check_identity(jwt, grant->subject);
}

static void check_text(const char *text, size_t len, bool mapped)
{
    struct issuer issuer = {.name = text_name,
                            .url = text_iss,
                            .audiences = {text_aud},
                            .audience_count = 1,
                            .any_audience = true,
                            .identity = mapped ? text_identity : NULL,
                            .account = mapped ? text_account : NULL,
                            .group = mapped ? text_group : NULL,
                            .unix_account = mapped ? text_unix : NULL,
                            .scopes = mapped ? text_scopes : NULL};
    struct grant grant;
    struct err why;
    struct jwt jwt;
    enum token_fault fault = jwt_read(&jwt, text, len, &why);

    if (fault >= TOKEN_FAULT_COUNT)
        broken("a fault has a name");
    if (fault)
        return;
    if (len > JWT_BYTES_MAX || jwt.algorithm >= JWT_ALGORITHM_COUNT || !jwt.issuer_len)
        broken("what is read is within its limits");
    fault = issuer_grant(&issuer, &jwt, NOW, &grant, &why);
    if (fault == TOKEN_OK)
        check_grant(&jwt, &grant, mapped);
    else if (fault == TOKEN_MAPPING && !*why.text)
        broken("what cannot be mapped is told why");
    jwt_done(&jwt);
}

static void check_parts(const char *header, size_t header_len, const char *claims, size_t len, bool mapped)
{
    struct buf text;

    buf_init(&text);
    base64url_print(&text, header, header_len);
    buf_addc(&text, '.');
    base64url_print(&text, claims, len);
    buf_adds(&text, "." ZEROS);
    check_text(text.text, text.len, mapped);
    buf_done(&text);
}

static void check_keys(const char *json, size_t len)
{
    struct err err = {0};
    struct jwt_keys *keys = jwt_keys_read(json, len, &err);

    if (keys ? !jwt_keys_count(keys) || jwt_keys_count(keys) > JWT_KEYS_MAX : !*err.text)
        broken("there are keys, or it is told why not");
    jwt_keys_free(keys);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char header[] = "{\"alg\":\"ES256\"}",
                      claims[] = "{\"iss\":\"https://a\",\"sub\":\"s\",\"aud\":\"b\",\"exp\":1800000000,"
                                 "\"scope\":\"compute.read\"}";
    const char *text = (const char *)data + 1;

    if (!size)
        return 0;
    size--;
    switch (data[0] % 5) {
    case 0:
        check_text(text, size, false);
        break;
    case 1:
        check_parts(text, size, claims, sizeof claims - 1, false);
        break;
    case 2:
    case 3:
        check_parts(header, sizeof header - 1, text, size, data[0] % 5 == 3);
        break;
    default:
        check_keys(text, size);
        break;
    }
    return 0;
}
