/* jose.c: loads libcjose when it is first needed, and asks it. */
#include "live/auth/jose.h"

#include "lang/base/library.h"
#include "lang/base/mem.h"
#include "lang/base/sonames.h"

#include <cjose/cjose.h>
#include <stdlib.h>

#define JOSE_FUNCTIONS(X) \
    X(jwk_import)         \
    X(jwk_release)        \
    X(jws_import)         \
    X(jws_verify)         \
    X(jws_release)

struct jose {
#define X(name) __typeof__(cjose_##name) *name;
    JOSE_FUNCTIONS(X)
#undef X
};

struct jose_key {
    cjose_jwk_t *key;
};

static struct jose functions;
static const char *const names[] = {
#define X(name) "cjose_" #name,
    JOSE_FUNCTIONS(X)
#undef X
};
static struct library library = LIBRARY(SONAME_CJOSE, "tokens of issuers are checked by libcjose", names, functions);

struct jose_key *jose_key_new(const char *json, size_t len, struct err *err)
{
    struct jose_key *key;
    cjose_jwk_t *found;
    cjose_err why;

    if (library_load(&library, err) < 0)
        return NULL;
    found = functions.jwk_import(json, len, &why);
    if (!found) {
        err_set(err, "it is not a key");
        return NULL;
    }
    key = mem_alloc(sizeof *key);
    key->key = found;
    return key;
}

void jose_key_free(struct jose_key *key)
{
    if (!key)
        return;
    functions.jwk_release(key->key);
    free(key);
}

bool jose_verify(const struct jose_key *key, const char *text, size_t len)
{
    cjose_err why;
    cjose_jws_t *jws = functions.jws_import(text, len, &why);
    bool good = jws && functions.jws_verify(jws, key->key, &why);

    if (jws)
        functions.jws_release(jws);
    return good;
}
