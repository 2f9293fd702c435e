/* jwt.c: reads a JSON Web Token, and proves its signature.
 *
 *     length -> three parts -> header: algorithm, nothing that we would have to understand -> claims: who issued it
 *     then, with the keys of that issuer: the key of that id and sort -> signature */
#include "live/auth/jwt.h"

#include "lang/ad/names.h"
#include "live/auth/claims.h"
#include "live/auth/jwt_keys.h"
#include "sys/encoding.h"

#include <sodium.h>
#include <strings.h>

static const char *const algorithm_names[JWT_ALGORITHM_COUNT] = {[JWT_RS256] = "RS256", [JWT_ES256] = "ES256"};

bool jwt_is(const char *text, size_t len)
{
    return len > 3 && !memcmp(text, "eyJ", 3); /* this is how {" begins in base64 */
}

/* The parts of the text. */
struct parts {
    const char *claims, *signature;
    size_t header_len, claims_len, signature_len;
};

static bool parts_find(const char *text, size_t len, struct parts *ret)
{
    const char *end = text + len, *first = memchr(text, '.', len);
    const char *second = first ? memchr(first + 1, '.', (size_t)(end - first - 1)) : NULL;

    if (!second || memchr(second + 1, '.', (size_t)(end - second - 1)))
        return false;
    *ret = (struct parts){.claims = first + 1,
                          .signature = second + 1,
                          .header_len = (size_t)(first - text),
                          .claims_len = (size_t)(second - first - 1),
                          .signature_len = (size_t)(end - second - 1)};
    return true;
}

static struct tree *part_read(struct symbols *symbols, const char *text, size_t len, struct err *why)
{
    struct tree *tree = NULL;
    struct buf bytes;

    buf_init(&bytes);
    if (base64url_read(&bytes, text, len))
        tree = claims_read(symbols, buf_string(&bytes), bytes.len, JWT_CELLS_MAX, why);
    else
        err_set(why, "it is not base64url");
    buf_done(&bytes);
    return tree;
}

/* A token that says what it is made for is made for being shown. Others (of a log-out, a proof of possession, an event) are signed by the same keys. */
static bool type_is_good(const struct tree *header)
{
    static const char *const types[] = {"JWT", "at+jwt", "application/at+jwt", "wlcg+jwt"};
    const struct expr *type = claims_find(header, NULL, "typ");

    if (!type)
        return true;
    for (size_t i = 0; type->kind == EXPR_STRING && i < sizeof types / sizeof *types; i++)
        if (type->u.run.count == strlen(types[i]) &&
            !strncasecmp(tree_string(header, type), types[i], strlen(types[i])))
            return true;
    return false;
}

static enum token_fault header_take(const struct tree *header, struct jwt *ret, struct err *why)
{
    static const char *const refused[] = {"crit", "b64", "zip", "enc"};
    const struct expr *algorithm = claims_find(header, NULL, "alg");
    const char *kid;
    size_t len, i = 0;

    while (i < JWT_ALGORITHM_COUNT && !claims_is(header, algorithm, algorithm_names[i]))
        i++;
    if (i == JWT_ALGORITHM_COUNT)
        return err_set(why, "alg: RS256 and ES256 are taken"), TOKEN_ALGORITHM;
    ret->algorithm = (enum jwt_algorithm)i;
    for (i = 0; i < sizeof refused / sizeof *refused; i++)
        if (claims_find(header, NULL, refused[i]))
            return err_set(why, "%s: it is not understood", refused[i]), TOKEN_HEADER;
    if (!type_is_good(header))
        return err_set(why, "typ: it is a token for something else"), TOKEN_HEADER;
    if (claims_find(header, NULL, "kid")) {
        if (!claims_text(header, NULL, "kid", JWT_KID_MAX, &kid, &len))
            return err_set(why, "kid: expected a text of up to %d bytes", JWT_KID_MAX), TOKEN_HEADER;
        memcpy(ret->kid, kid, len);
    }
    return TOKEN_OK;
}

/* Has the signature the length of its algorithm, and the one spelling of its bytes? The library that checks it reads base64 more kindly. */
static bool signature_is_good(const struct parts *parts, enum jwt_algorithm algorithm)
{
    static const struct {
        size_t least, most;
    } lengths[JWT_ALGORITHM_COUNT] = {[JWT_RS256] = {256, 1024}, [JWT_ES256] = {64, 64}};
    struct buf bytes;
    bool good;

    buf_init(&bytes);
    good = base64url_read(&bytes, parts->signature, parts->signature_len) && bytes.len >= lengths[algorithm].least &&
           bytes.len <= lengths[algorithm].most;
    buf_done(&bytes);
    return good;
}

static enum token_fault parts_take(const struct parts *parts, struct jwt *ret, struct err *why)
{
    struct tree *header = part_read(ret->symbols, ret->text, parts->header_len, why);
    enum token_fault fault;

    if (!header)
        return err_context(why, "header"), TOKEN_MALFORMED;
    fault = header_take(header, ret, why);
    tree_unref(header);
    if (fault)
        return fault;
    if (!signature_is_good(parts, ret->algorithm))
        return TOKEN_SIGNATURE;
    ret->claims = part_read(ret->symbols, parts->claims, parts->claims_len, why);
    if (!ret->claims)
        return err_context(why, "claims"), TOKEN_MALFORMED;
    if (!claims_text(ret->claims, NULL, "iss", JWT_BYTES_MAX, &ret->issuer, &ret->issuer_len))
        return err_set(why, "iss: expected a text"), TOKEN_CLAIMS;
    return TOKEN_OK;
}

enum token_fault jwt_read(struct jwt *ret, const char *text, size_t len, struct err *why)
{
    struct jwt jwt = {.text = text, .len = len};
    enum token_fault fault;
    struct parts parts;

    if (why)
        *why = (struct err){0};
    if (len > JWT_BYTES_MAX)
        return TOKEN_TOO_LONG;
    if (!len || !parts_find(text, len, &parts))
        return err_set(why, "expected three parts"), TOKEN_MALFORMED;
    if (parts.header_len > JWT_HEADER_MAX)
        return err_set(why, "header: the limit is %d bytes", JWT_HEADER_MAX), TOKEN_TOO_LONG;
    jwt.symbols = names_new(randombytes_random());
    fault = parts_take(&parts, &jwt, why);
    if (fault)
        jwt_done(&jwt);
    else
        *ret = jwt;
    return fault;
}

void jwt_done(struct jwt *jwt)
{
    tree_unref(jwt->claims);
    if (jwt->symbols)
        symbols_free(jwt->symbols);
    *jwt = (struct jwt){0};
}

enum token_fault jwt_prove(const struct jwt *jwt, const struct jwt_keys *keys)
{
    enum token_fault fault = TOKEN_UNKNOWN_KEY;

    for (uint32_t i = 0; i < keys->count; i++) {
        const struct jwt_key *key = &keys->items[i];

        if (key->algorithm != jwt->algorithm)
            continue;
        /* A token that names no key is of the one key of that sort, if there is but one. */
        if (*jwt->kid ? strcmp(key->kid, jwt->kid) != 0 : keys->counts[jwt->algorithm] != 1)
            continue;
        if (jose_verify(key->key, jwt->text, jwt->len))
            return TOKEN_OK;
        fault = TOKEN_SIGNATURE;
    }
    return fault;
}

void jwt_id(const struct jwt *jwt, char ret_id[TOKEN_ID_DIGITS + 1])
{
    unsigned char hash[TOKEN_ID_DIGITS / 2];
    size_t len = jwt->len;

    while (len && jwt->text[len - 1] != '.')
        len--;
    crypto_generichash(hash, sizeof hash, (const unsigned char *)jwt->text, len, NULL, 0);
    hex_print(hash, sizeof hash, ret_id);
}
