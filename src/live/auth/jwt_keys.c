/* jwt_keys.c: reads a set of keys (JWKS). A key is taken by its sort: RSA of 2048 to 8192 bits for RS256, a point of P-256 for ES256. What is handed to
 * the library is written anew from what was checked: nothing else of a key gets there. */
#include "live/auth/jwt_keys.h"

#include "lang/base/mem.h"
#include "live/auth/claims.h"
#include "sys/encoding.h"

#include <stdlib.h>

#define SET_CELLS_MAX 20000
#define RSA_BYTES_MIN 256
#define RSA_BYTES_MAX 1024
#define EXPONENT_BYTES_MAX 8
#define POINT_BYTES 32

/* A key where it stands. */
struct place {
    const struct tree *tree;
    const struct expr *key;
};

/* Appends the member, which is base64url of that many bytes without zeros in front of them, as text. */
static bool number_take(struct place place, const char *name, size_t least, size_t most, bool number, struct buf *out)
{
    const char *text;
    struct buf bytes;
    size_t len;
    bool good;

    if (!claims_text(place.tree, place.key, name, 2 * RSA_BYTES_MAX, &text, &len))
        return false;
    buf_init(&bytes);
    good = base64url_read(&bytes, text, len) && bytes.len >= least && bytes.len <= most && (!number || bytes.text[0]);
    if (good && number) /* an even modulus or exponent, and the exponent 1, make no signature */
        good = (bytes.text[bytes.len - 1] & 1) && !(bytes.len == 1 && bytes.text[0] == 1);
    buf_done(&bytes);
    if (good)
        buf_addf(out, ",\"%s\":\"%.*s\"", name, (int)len, text);
    return good;
}

static bool rsa_take(struct place place, struct buf *out)
{
    buf_adds(out, "{\"kty\":\"RSA\"");
    return number_take(place, "n", RSA_BYTES_MIN, RSA_BYTES_MAX, true, out) &&
           number_take(place, "e", 1, EXPONENT_BYTES_MAX, true, out);
}

static bool point_take(struct place place, struct buf *out)
{
    buf_adds(out, "{\"kty\":\"EC\",\"crv\":\"P-256\"");
    return claims_is(place.tree, claims_find(place.tree, place.key, "crv"), "P-256") &&
           number_take(place, "x", POINT_BYTES, POINT_BYTES, false, out) &&
           number_take(place, "y", POINT_BYTES, POINT_BYTES, false, out);
}

static const struct {
    const char *sort, *algorithm;
    bool (*take)(struct place place, struct buf *out);
} sorts[JWT_ALGORITHM_COUNT] = {
    [JWT_RS256] = {"RSA", "RS256", rsa_take},
    [JWT_ES256] = {"EC", "ES256", point_take},
};

/* Is the key there for checking signatures of that algorithm, and public? */
static bool use_is_good(struct place place, enum jwt_algorithm algorithm)
{
    const struct expr *use = claims_find(place.tree, place.key, "use"),
                      *uses = claims_find(place.tree, place.key, "key_ops"),
                      *said = claims_find(place.tree, place.key, "alg");

    return (!use || claims_is(place.tree, use, "sig")) && (!uses || claims_has(place.tree, uses, "verify")) &&
           (!said || claims_is(place.tree, said, sorts[algorithm].algorithm)) &&
           !claims_find(place.tree, place.key, "d") && !claims_find(place.tree, place.key, "k");
}

/* -1 only when the library cannot be loaded, or refuses the key. */
static int key_take(struct place place, struct jwt_keys *keys, struct err *err)
{
    const struct expr *sort = claims_find(place.tree, place.key, "kty");
    struct jwt_key key = {.algorithm = JWT_RS256};
    const char *kid;
    struct buf text;
    size_t len;

    while (key.algorithm < JWT_ALGORITHM_COUNT && !claims_is(place.tree, sort, sorts[key.algorithm].sort))
        key.algorithm++;
    if (key.algorithm == JWT_ALGORITHM_COUNT || !use_is_good(place, key.algorithm))
        return 0;
    if (claims_find(place.tree, place.key, "kid")) {
        if (!claims_text(place.tree, place.key, "kid", JWT_KID_MAX, &kid, &len))
            return 0;
        memcpy(key.kid, kid, len);
    }
    buf_init(&text);
    if (sorts[key.algorithm].take(place, &text)) {
        buf_addc(&text, '}');
        key.key = jose_key_new(buf_string(&text), text.len, err);
        if (key.key) {
            keys->counts[key.algorithm]++;
            keys->items[keys->count++] = key;
        }
    } else {
        err_set(err, "a key is not as it must be: RSA of 2048 to 8192 bits, or a point of P-256");
    }
    buf_done(&text);
    return key.key ? 0 : -1;
}

struct jwt_keys *jwt_keys_read(const char *json, size_t len, struct err *err)
{
    struct symbols *symbols;
    struct jwt_keys *keys = NULL;
    const struct expr *list, *parts;
    struct err why = {0};
    struct tree *tree;

    while (len && strchr(" \t\r\n", json[len - 1]))
        len--;
    while (len && strchr(" \t\r\n", *json))
        json++, len--;
    if (len > JWT_KEYS_BYTES_MAX) {
        err_set(err, "the keys are too long: the limit is %u bytes", JWT_KEYS_BYTES_MAX);
        return NULL;
    }
    symbols = symbols_new(NULL, 0, 0);
    tree = claims_read(symbols, json, len, SET_CELLS_MAX, err);
    list = tree ? claims_find(tree, NULL, "keys") : NULL;
    if (tree && (!list || list->kind != EXPR_LIST))
        err_set(err, "expected {\"keys\":[...]}");
    if (list && list->kind == EXPR_LIST) {
        keys = mem_alloc(sizeof *keys);
        *keys = (struct jwt_keys){0};
        parts = tree_parts(tree, list);
        for (uint32_t i = 0; i < list->u.run.count && keys->count < JWT_KEYS_MAX; i++)
            key_take((struct place){tree, &parts[i]}, keys, &why);
        if (!keys->count) {
            err_set(err, "%s", *why.text ? why.text : "there is no key for signatures by RS256 or ES256");
            jwt_keys_free(keys);
            keys = NULL;
        }
    }
    tree_unref(tree);
    symbols_free(symbols);
    return keys;
}

void jwt_keys_free(struct jwt_keys *keys)
{
    if (!keys)
        return;
    for (uint32_t i = 0; i < keys->count; i++)
        jose_key_free(keys->items[i].key);
    free(keys);
}

uint32_t jwt_keys_count(const struct jwt_keys *keys)
{
    return keys ? keys->count : 0;
}
