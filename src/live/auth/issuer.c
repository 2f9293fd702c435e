/* issuer.c: what a token of an issuer gives here.
 *
 *     times -> audience -> profile -> sub -> identity, account, group, Unix account -> scopes */
#include "live/auth/issuer.h"

#include "live/auth/claims.h"
#include "live/auth/issuer_map.h"
#include "sys/encoding.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#define HASH_LETTERS 26 /* of five bits each */

void issuer_done(struct issuer *issuer)
{
    free(issuer->name);
    free(issuer->url);
    free(issuer->client);
    for (size_t i = 0; i < issuer->audience_count; i++)
        free(issuer->audiences[i]);
    free(issuer->identity);
    free(issuer->account);
    free(issuer->group);
    free(issuer->unix_account);
    free(issuer->scopes);
    *issuer = (struct issuer){0};
}

/* ----------------------------------------------------------------------------------------------------------- identity */

static bool is_small(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool issuer_name_valid(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_small(text[i]) && !(i && strchr(".-=", text[i])))
            return false;
    return len && len <= ISSUER_NAME_MAX;
}

/* Writes bytes so that no two texts come out alike, not even if one looks away from case. */
static void escape(struct buf *out, const char *text, size_t len, const char *kept)
{
    for (size_t i = 0; i < len; i++) {
        if (is_small(text[i]) || (text[i] && strchr(kept, text[i]) && !(text[i] == '.' && i == 0)))
            buf_addc(out, text[i]);
        else
            buf_addf(out, "=%02x", (unsigned)(unsigned char)text[i]);
    }
}

bool issuer_name_default(struct buf *out, const char *url)
{
    const char *host = strstr(url, "://");
    size_t before = out->len;

    host = host ? host + 3 : url;
    escape(out, host, strlen(host), ".-");
    return issuer_name_valid(out->text + before, out->len - before);
}

static void hash_add(struct buf *out, const char *sub, size_t len)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
    unsigned char hash[32];
    unsigned bits = 0, have = 0, at = 0;

    crypto_generichash(hash, sizeof hash, (const unsigned char *)sub, len, NULL, 0);
    for (int i = 0; i < HASH_LETTERS; i++) {
        if (have < 5) {
            bits = (bits << 8 | hash[at++]) & 0xffff;
            have += 8;
        }
        have -= 5;
        buf_addc(out, letters[bits >> have & 31]);
    }
}

void issuer_identity(struct buf *out, const char *name, const char *sub, size_t len)
{
    size_t before = out->len, behind;

    buf_adds(out, name);
    buf_addc(out, ':');
    behind = out->len;
    escape(out, sub, len, "._-+@");
    if (out->len - before <= ISSUER_IDENTITY_MAX)
        return;
    out->len = behind;
    buf_adds(out, "=h"); /* no escape begins so */
    hash_add(out, sub, len);
}

/* Is the name such as somebody of this issuer may have: one part, not one of the pool's own, and none of another issuer? */
static bool name_is_free(const struct issuer *issuer, const char *text)
{
    static const char *const taken[] = {"matchmaker", "machine"};
    size_t name = strlen(issuer->name);
    const char *colon = strchr(text, ':');

    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (!strcmp(text, taken[i]))
            return false;
    return subject_valid(text, strlen(text)) && !strchr(text, '/') &&
           (!colon || ((size_t)(colon - text) == name && !memcmp(text, issuer->name, name)));
}

static enum token_fault identity_take(const struct issuer *issuer, struct issuer_map *map, const char *sub, size_t len,
                                      struct grant *ret, struct err *why)
{
    char identity[ISSUER_IDENTITY_MAX + 1];
    enum mapped mapped = issuer_map_text(map, "Identity", issuer->identity, identity, sizeof identity, why);
    struct buf text;

    if (mapped == MAPPED_BADLY)
        return TOKEN_MAPPING;
    if (mapped == MAPPED) {
        if (!name_is_free(issuer, identity))
            return err_set(why, "Identity: not a name that somebody of this issuer may have"), TOKEN_MAPPING;
    } else {
        buf_init(&text);
        issuer_identity(&text, issuer->name, sub, len);
        snprintf(identity, sizeof identity, "%s", buf_string(&text));
        buf_done(&text);
    }
    mapped = issuer_map_text(map, "Account", issuer->account, ret->root, ISSUER_IDENTITY_MAX + 1, why);
    if (mapped == MAPPED_BADLY)
        return TOKEN_MAPPING;
    if (mapped == MAPPED_NOTHING) {
        memcpy(ret->root, identity, sizeof identity);
        memcpy(ret->subject, identity, sizeof identity);
        return TOKEN_OK;
    }
    if (!name_is_free(issuer, ret->root))
        return err_set(why, "Account: not a name that an account of this issuer may have"), TOKEN_MAPPING;
    if (!strcmp(ret->root, identity))
        snprintf(ret->subject, sizeof ret->subject, "%s", identity);
    else if (snprintf(ret->subject, ISSUER_IDENTITY_MAX + 1, "%s/%s", ret->root, identity) > ISSUER_IDENTITY_MAX)
        return err_set(why, "Account: it and the identity have more than %d bytes", ISSUER_IDENTITY_MAX), TOKEN_MAPPING;
    return TOKEN_OK;
}

/* ---------------------------------------------------------------------------------------------- group and Unix account */

static bool group_valid(const char *text)
{
    size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.");

    return !text[len] && *text != '.' && text[len - 1] != '.' && !strstr(text, "..");
}

static bool unix_valid(const char *text)
{
    static const char *const system[] = {"root", "toor", "daemon", "bin", "sys", "nobody"};

    for (size_t i = 0; i < sizeof system / sizeof *system; i++)
        if (!strcmp(text, system[i]))
            return false;
    return ((*text >= 'a' && *text <= 'z') || *text == '_') &&
           text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_.-")] == '\0';
}

static enum token_fault others_take(const struct issuer *issuer, struct issuer_map *map, struct grant *ret,
                                    struct err *why)
{
    enum mapped group = issuer_map_text(map, "Group", issuer->group, ret->group, sizeof ret->group, why), local;

    if (group == MAPPED && !group_valid(ret->group))
        return err_set(why, "Group: expected words of letters, digits and _, with dots between"), TOKEN_MAPPING;
    if (group == MAPPED_BADLY)
        return TOKEN_MAPPING;
    local = issuer_map_text(map, "UnixAccount", issuer->unix_account, ret->unix_account, sizeof ret->unix_account, why);
    if (local == MAPPED && !unix_valid(ret->unix_account))
        return err_set(why, "UnixAccount: expected the name of a Unix user, and none of the system's own"),
               TOKEN_MAPPING;
    return local == MAPPED_BADLY ? TOKEN_MAPPING : TOKEN_OK;
}

/* ------------------------------------------------------------------------------------------------------------- scopes */

static const struct {
    const char *word;
    scopes gives;
} capabilities[] = {
    {"compute.read", SCOPE_AD_READ | SCOPE_JOB_READ},
    {"compute.create", SCOPE_JOB_SUBMIT | SCOPE_AD_READ | SCOPE_AD_WRITE | SCOPE_CLAIM | SCOPE_MATCH},
    {"compute.modify", SCOPE_JOB_MODIFY},
    {"compute.cancel", SCOPE_JOB_CANCEL},
};

scopes issuer_scopes(const char *words, size_t len)
{
    const char *at = words, *end = words + len;
    scopes set = SCOPE_NONE;

    while (at < end) {
        const char *blank = memchr(at, ' ', (size_t)(end - at));
        size_t word = (size_t)((blank ? blank : end) - at);

        for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++)
            if (strlen(capabilities[i].word) == word && !memcmp(capabilities[i].word, at, word))
                set |= capabilities[i].gives;
        at += word + 1;
    }
    return set;
}

static enum token_fault scopes_take(const struct issuer *issuer, struct issuer_map *map, const struct jwt *jwt,
                                    const struct issuer_signin *signin, struct grant *ret, struct err *why)
{
    enum mapped mapped = issuer_map_scopes(map, issuer->scopes, &ret->scope, why);
    const char *words = "";
    size_t len = 0;

    if (mapped == MAPPED_BADLY)
        return TOKEN_MAPPING;
    if (mapped == MAPPED_NOTHING) {
        if (!claims_text(jwt->claims, NULL, "scope", JWT_BYTES_MAX, &words, &len) && signin)
            words = signin->granted, len = signin->granted_len;
        ret->scope = issuer_scopes(words, len);
    }
    return ret->scope == SCOPE_NONE ? TOKEN_NO_SCOPE : TOKEN_OK;
}

/* ------------------------------------------------------------------------------------------------- times and audience */

/* A time in whole seconds; `missing` where there is none; false when it is no time. */
static bool time_take(const struct jwt *jwt, const char *name, int64_t missing, int64_t *ret)
{
    const struct expr *value = claims_find(jwt->claims, NULL, name);

    *ret = missing;
    if (!value)
        return true;
    if (value->kind == EXPR_INTEGER)
        *ret = value->u.integer;
    else if (value->kind == EXPR_REAL && value->u.real >= 0 && value->u.real <= (double)TOKEN_TIME_MAX)
        *ret = (int64_t)value->u.real;
    else
        return false;
    return *ret >= 0 && *ret <= TOKEN_TIME_MAX;
}

static enum token_fault times_take(const struct jwt *jwt, int64_t now, struct grant *ret, struct err *why)
{
    int64_t from, issued;

    if (!time_take(jwt, "exp", -1, &ret->expires) || ret->expires < 0)
        return err_set(why, "exp: expected a time"), TOKEN_CLAIMS;
    if (!time_take(jwt, "nbf", 0, &from))
        return err_set(why, "nbf: expected a time"), TOKEN_CLAIMS;
    if (!time_take(jwt, "iat", from, &issued))
        return err_set(why, "iat: expected a time"), TOKEN_CLAIMS;
    ret->issued = issued;
    if (now >= ret->expires)
        return TOKEN_EXPIRED;
    if (from - ISSUER_LEEWAY > now)
        return err_set(why, "nbf"), TOKEN_NOT_YET;
    return issued - ISSUER_LEEWAY > now ? (err_set(why, "iat"), TOKEN_NOT_YET) : TOKEN_OK;
}

enum profile { PROFILE_NONE, PROFILE_WLCG, PROFILE_SCITOKENS, PROFILE_UNKNOWN };

/* The profile that the token says it is of. A `ver` of others means nothing here. */
static enum profile profile_of(const struct jwt *jwt)
{
    const struct expr *wlcg = claims_find(jwt->claims, NULL, "wlcg.ver"), *ver = claims_find(jwt->claims, NULL, "ver");

    if (wlcg)
        return wlcg->kind == EXPR_STRING && wlcg->u.run.count > 2 && !memcmp(tree_string(jwt->claims, wlcg), "1.", 2)
                   ? PROFILE_WLCG
                   : PROFILE_UNKNOWN;
    if (ver && ver->kind == EXPR_STRING && ver->u.run.count > 8 &&
        !memcmp(tree_string(jwt->claims, ver), "scitoken", 8))
        return claims_is(jwt->claims, ver, "scitoken:2.0") || claims_is(jwt->claims, ver, "scitokens:2.0")
                   ? PROFILE_SCITOKENS
                   : PROFILE_UNKNOWN;
    return PROFILE_NONE;
}

static enum token_fault audience_check(const struct issuer *issuer, const struct jwt *jwt, struct err *why)
{
    const struct expr *audience = claims_find(jwt->claims, NULL, "aud");
    enum profile profile = profile_of(jwt);

    if (profile == PROFILE_UNKNOWN)
        return err_set(why, "ver: a version of the profile that is not known"), TOKEN_CLAIMS;
    if (!audience)
        return err_set(why, "aud: it says nothing"), TOKEN_AUDIENCE;
    for (size_t i = 0; i < issuer->audience_count; i++)
        if (claims_has(jwt->claims, audience, issuer->audiences[i]))
            return TOKEN_OK;
    if ((profile == PROFILE_WLCG && claims_has(jwt->claims, audience, ISSUER_ANY_WLCG)) ||
        (profile == PROFILE_SCITOKENS && claims_has(jwt->claims, audience, ISSUER_ANY_SCITOKENS)))
        return issuer->any_audience ? TOKEN_OK : (err_set(why, "aud: for everybody; see AnyAudience"), TOKEN_AUDIENCE);
    return TOKEN_AUDIENCE;
}

/* Who has signed in is said to us and to nobody else: it names us alone, or says that it was made for us, and repeats what only this sign-in knows. */
static enum token_fault signin_check(const struct issuer *issuer, const struct jwt *jwt,
                                     const struct issuer_signin *signin, struct err *why)
{
    const struct expr *audience = claims_find(jwt->claims, NULL, "aud"), *party = claims_find(jwt->claims, NULL, "azp");

    if (!issuer->client || !audience || !claims_has(jwt->claims, audience, issuer->client))
        return err_set(why, "aud: it is not for the client that people sign in by"), TOKEN_AUDIENCE;
    if (party ? !claims_is(jwt->claims, party, issuer->client)
              : audience->kind == EXPR_LIST && audience->u.run.count > 1)
        return err_set(why, "azp: it was not made for the client that people sign in by"), TOKEN_AUDIENCE;
    if (!*signin->nonce || !claims_is(jwt->claims, claims_find(jwt->claims, NULL, "nonce"), signin->nonce))
        return err_set(why, "nonce: it is not that of this sign-in"), TOKEN_CLAIMS;
    return TOKEN_OK;
}

/* -------------------------------------------------------------------------------------------------------------- grant */

static enum token_fault grant_map(const struct issuer *issuer, const struct jwt *jwt,
                                  const struct issuer_signin *signin, int64_t now, struct grant *ret, struct err *why)
{
    enum token_fault fault = TOKEN_MAPPING;
    struct issuer_map map;
    const char *sub;
    size_t len;

    if (!claims_text(jwt->claims, NULL, "sub", ISSUER_SUB_MAX, &sub, &len))
        return err_set(why, "sub: expected a text of up to %d bytes", ISSUER_SUB_MAX), TOKEN_CLAIMS;
    if (issuer_map_init(&map, jwt, now, why) == 0 &&
        (fault = identity_take(issuer, &map, sub, len, ret, why)) == TOKEN_OK &&
        (fault = others_take(issuer, &map, ret, why)) == TOKEN_OK)
        fault = scopes_take(issuer, &map, jwt, signin, ret, why);
    issuer_map_done(&map);
    return fault;
}

static enum token_fault grant_take(const struct issuer *issuer, const struct jwt *jwt,
                                   const struct issuer_signin *signin, int64_t now, struct grant *ret, struct err *why)
{
    struct grant grant = {.links = 1, .foreign = true, .grouped = issuer->group};
    unsigned char hash[TOKEN_ID_DIGITS / 2];
    enum token_fault fault;

    *why = (struct err){0};
    if (strlen(issuer->url) != jwt->issuer_len || memcmp(issuer->url, jwt->issuer, jwt->issuer_len) != 0)
        return TOKEN_NO_ISSUER;
    if ((fault = times_take(jwt, now, &grant, why)) ||
        (fault = signin ? signin_check(issuer, jwt, signin, why) : audience_check(issuer, jwt, why)) ||
        (fault = grant_map(issuer, jwt, signin, now, &grant, why)))
        return fault;
    crypto_generichash(hash, sizeof hash, (const unsigned char *)issuer->url, strlen(issuer->url), NULL, 0);
    hex_print(hash, sizeof hash, grant.issuer);
    jwt_id(jwt, grant.ids[0]);
    *ret = grant;
    return TOKEN_OK;
}

enum token_fault issuer_grant(const struct issuer *issuer, const struct jwt *jwt, int64_t now, struct grant *ret,
                              struct err *why)
{
    return grant_take(issuer, jwt, NULL, now, ret, why);
}

enum token_fault issuer_grant_signin(const struct issuer *issuer, const struct jwt *jwt,
                                     const struct issuer_signin *signin, int64_t now, struct grant *ret,
                                     struct err *why)
{
    return grant_take(issuer, jwt, signin, now, ret, why);
}
