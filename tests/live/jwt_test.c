/* jwt_test.c: a token of an issuer is good if the issuer's own key signed it, here and now, for us; anything else is refused, and the fault named. Its subject
 * has one identity in the pool, which nobody else has. */
#include "common/tap.h"

#include "live/auth/issuer.h"
#include "live/auth/signin_state.h"
#include "sys/encoding.h"

#include <cjose/cjose.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NOW INT64_C(1700000000)
#define ISS "https://idp.example.org/realm"
#define AUD "https://pool.example.org"
#define CLAIMS(rest) "{\"iss\":\"" ISS "\",\"sub\":\"alice\",\"aud\":\"" AUD "\",\"exp\":1700003600," rest "}"
/* What has the length of a signature by ES256. */
#define ZEROS "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
#define GOOD CLAIMS("\"scope\":\"compute.read\"")

struct world {
    cjose_jwk_t *rsa, *point, *other, *secret; /* the issuer's two, a stranger's, and one of HMAC */
    struct buf set;                            /* the issuer's keys, as it publishes them */
    struct jwt_keys *keys;
    struct issuer issuer;
    struct grant grant; /* of the last token that was good */
    struct err why;
};

static void must(bool good, const char *what)
{
    if (!good) {
        printf("Bail out! %s\n", what);
        exit(1);
    }
}

static void set_add(struct buf *set, const cjose_jwk_t *key, const char *members)
{
    cjose_err err;
    char *json = cjose_jwk_to_json(key, false, &err);

    must(json, "cjose_jwk_to_json");
    buf_adds(set, set->len ? "," : "{\"keys\":[");
    buf_add(set, json, strlen(json) - 1);
    buf_addf(set, "%s}", members);
    free(json);
}

static void world_init(struct world *world)
{
    static const unsigned char exponent[] = {1, 0, 1};
    struct err err = {0};
    cjose_err why;

    *world = (struct world){.issuer = {.name = mem_dup("idp", 3),
                                       .url = mem_dup(ISS, sizeof ISS - 1),
                                       .audiences = {mem_dup(AUD, sizeof AUD - 1)},
                                       .audience_count = 1}};
    world->rsa = cjose_jwk_create_RSA_random(2048, exponent, sizeof exponent, &why);
    world->point = cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, &why);
    world->other = cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, &why);
    must(world->rsa && world->point && world->other, "keys");
    buf_init(&world->set);
    set_add(&world->set, world->rsa, ",\"kid\":\"r\",\"use\":\"sig\",\"x5c\":[\"abc\"]");
    set_add(&world->set, world->point, ",\"kid\":\"p\",\"alg\":\"ES256\",\"key_ops\":[\"verify\"]");
    buf_adds(&world->set, "]}");
    world->secret = cjose_jwk_create_oct_spec((const uint8_t *)world->set.text, world->set.len, &why);
    world->keys = jwt_keys_read(world->set.text, world->set.len, &err);
    if (!world->keys)
        printf("# %s\n", err.text);
    must(world->keys && world->secret, "jwt_keys_read");
}

static void world_done(struct world *world)
{
    cjose_jwk_release(world->rsa);
    cjose_jwk_release(world->point);
    cjose_jwk_release(world->other);
    cjose_jwk_release(world->secret);
    buf_done(&world->set);
    jwt_keys_free(world->keys);
    issuer_done(&world->issuer);
}

/* Signs claims under a header. */
static void sign(struct buf *out, const cjose_jwk_t *key, const char *header, const char *claims)
{
    cjose_header_t *head;
    const char *text = "";
    cjose_jws_t *jws;
    cjose_err err;

    head = cjose_header_new(&err);
    must(head, "cjose_header_new");
    for (const char *at = header; *at;) { /* NAME=VALUE, with blanks between; a value that begins with { or [ is JSON */
        char name[64], value[512];
        int used = 0;

        must(sscanf(at, "%63[^=]=%511[^ ]%n", name, value, &used) == 2, header);
        if (strchr("{[", *value))
            must(cjose_header_set_raw(head, name, value, &err), "cjose_header_set_raw");
        else
            must(cjose_header_set(head, name, value, &err), "cjose_header_set");
        at += used + strspn(at + used, " ");
    }
    jws = cjose_jws_sign(key, head, (const uint8_t *)claims, strlen(claims), &err);
    must(jws && cjose_jws_export(jws, &text, &err), "cjose_jws_sign");
    buf_reset(out);
    buf_adds(out, text);
    cjose_jws_release(jws);
    cjose_header_release(head);
}

/* A token whose parts are as they are given: for those that no library would make. */
static void assemble(struct buf *out, const char *header, const char *claims, const char *signature)
{
    buf_reset(out);
    base64url_print(out, header, strlen(header));
    buf_addc(out, '.');
    base64url_print(out, claims, strlen(claims));
    buf_addc(out, '.');
    buf_adds(out, signature);
}

static enum token_fault check(struct world *world, const struct buf *text)
{
    enum token_fault fault;
    struct jwt jwt;

    fault = jwt_read(&jwt, text->text, text->len, &world->why);
    if (fault)
        return fault;
    fault = jwt_prove(&jwt, world->keys);
    if (!fault)
        fault = issuer_grant(&world->issuer, &jwt, NOW, &world->grant, &world->why);
    jwt_done(&jwt);
    return fault;
}

static void expect(struct world *world, const struct buf *text, enum token_fault want, const char *sentence)
{
    enum token_fault got = check(world, text);

    if (!tap_ok(got == want, "%s", sentence))
        tap_diag("wanted %s, got %s: %s", token_fault_name(want), token_fault_name(got), world->why.text);
}

/* --------------------------------------------------------------------------------------------------- keys and headers */

static void test_headers(struct world *world)
{
    static const struct {
        const char *sentence, *header;
        int key; /* 0: RSA, 1: the point, 2: a stranger's point, 3: HMAC with the set of public keys */
        enum token_fault want;
    } rows[] = {
        {"a token signed by RS256 with the issuer's key is good", "alg=RS256 kid=r typ=JWT", 0, TOKEN_OK},
        {"so is one by ES256", "alg=ES256 kid=p typ=at+jwt", 1, TOKEN_OK},
        {"without kid it is of the one key of that sort", "alg=ES256", 1, TOKEN_OK},
        {"jku, x5u and jwk in the header are ignored",
         "alg=ES256 kid=p jku=https://evil.example/k x5u=https://evil.example/c jwk={\"kty\":\"oct\"}", 1, TOKEN_OK},
        {"and lead to nobody else's key", "alg=ES256 kid=p jku=https://evil.example/k", 2, TOKEN_SIGNATURE},
        {"a stranger's key is not the issuer's", "alg=ES256 kid=p", 2, TOKEN_SIGNATURE},
        {"a kid that is not known is refused", "alg=ES256 kid=q", 1, TOKEN_UNKNOWN_KEY},
        {"the kid of a key of another sort is not known", "alg=ES256 kid=r", 1, TOKEN_UNKNOWN_KEY},
        {"HMAC with what is public is refused", "alg=HS256 kid=r", 3, TOKEN_ALGORITHM},
        {"RS384 is refused, though the key would do", "alg=RS384 kid=r", 0, TOKEN_ALGORITHM},
        {"PS256 is refused, though the key would do", "alg=PS256 kid=r", 0, TOKEN_ALGORITHM},
        {"crit is refused", "alg=ES256 kid=p crit=[\"exp\"]", 1, TOKEN_HEADER},
        {"a token of a log-out is refused", "alg=ES256 kid=p typ=logout+jwt", 1, TOKEN_HEADER},
    };
    const cjose_jwk_t *keys[] = {world->rsa, world->point, world->other, world->secret};
    struct buf text;

    buf_init(&text);
    for (size_t i = 0; i < COUNT(rows); i++) {
        sign(&text, keys[rows[i].key], rows[i].header, GOOD);
        expect(world, &text, rows[i].want, rows[i].sentence);
    }
    buf_done(&text);
}

static void test_shapes(struct world *world)
{
    static const struct {
        const char *sentence, *header, *claims, *signature;
        enum token_fault want;
    } rows[] = {
        {"alg none without a signature is refused", "{\"alg\":\"none\"}", GOOD, "", TOKEN_ALGORITHM},
        {"so is None, and nOnE", "{\"alg\":\"nOnE\"}", GOOD, "", TOKEN_ALGORITHM},
        {"so is no alg", "{\"kid\":\"p\"}", GOOD, ZEROS, TOKEN_ALGORITHM},
        {"so is ALG", "{\"ALG\":\"ES256\",\"kid\":\"p\"}", GOOD, ZEROS, TOKEN_ALGORITHM},
        {"so is a list of algorithms", "{\"alg\":[\"ES256\"]}", GOOD, ZEROS, TOKEN_ALGORITHM},
        {"a header with alg twice is refused", "{\"alg\":\"none\",\"alg\":\"ES256\"}", GOOD, ZEROS, TOKEN_MALFORMED},
        {"also in two cases", "{\"alg\":\"ES256\",\"Alg\":\"none\"}", GOOD, ZEROS, TOKEN_MALFORMED},
        {"ES256 without a signature is refused", "{\"alg\":\"ES256\",\"kid\":\"p\"}", GOOD, "", TOKEN_SIGNATURE},
        {"b64 is refused", "{\"alg\":\"ES256\",\"b64\":false}", GOOD, ZEROS, TOKEN_HEADER},
        {"a kid that is a number is refused", "{\"alg\":\"ES256\",\"kid\":7}", GOOD, ZEROS, TOKEN_HEADER},
        {"a header that is a list is refused", "[{\"alg\":\"ES256\"}]", GOOD, ZEROS, TOKEN_MALFORMED},
        {"claims with a member twice are refused", "{\"alg\":\"ES256\",\"kid\":\"p\"}",
         "{\"iss\":\"" ISS "\",\"sub\":\"alice\",\"sub\":\"bob\"}", ZEROS, TOKEN_MALFORMED},
        {"also in two cases, as escapes", "{\"alg\":\"ES256\",\"kid\":\"p\"}",
         "{\"iss\":\"" ISS "\",\"sub\":\"alice\",\"S\\u0055B\":\"bob\"}", ZEROS, TOKEN_MALFORMED},
        {"claims without iss are refused", "{\"alg\":\"ES256\",\"kid\":\"p\"}", "{\"sub\":\"alice\"}", ZEROS,
         TOKEN_CLAIMS},
        {"ISS is not iss", "{\"alg\":\"ES256\",\"kid\":\"p\"}", "{\"ISS\":\"" ISS "\"}", ZEROS, TOKEN_CLAIMS},
        {"a NUL in a claim is refused", "{\"alg\":\"ES256\",\"kid\":\"p\"}",
         "{\"iss\":\"" ISS "\",\"sub\":\"a\\u0000b\"}", ZEROS, TOKEN_MALFORMED},
        {"claims that are no JSON are refused", "{\"alg\":\"ES256\",\"kid\":\"p\"}", "iss=me", ZEROS, TOKEN_MALFORMED},
    };
    struct buf text;

    buf_init(&text);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assemble(&text, rows[i].header, rows[i].claims, rows[i].signature);
        expect(world, &text, rows[i].want, rows[i].sentence);
    }
    sign(&text, world->point, "alg=ES256 kid=p", GOOD);
    text.text[strcspn(buf_string(&text), ".") + 3] ^= 1;
    expect(world, &text, TOKEN_MALFORMED, "claims with a bit changed are not what was signed");
    sign(&text, world->point, "alg=ES256 kid=p", GOOD);
    buf_addc(&text, '=');
    expect(world, &text, TOKEN_SIGNATURE, "a signature has one spelling");
    sign(&text, world->point, "alg=ES256 kid=p", GOOD);
    buf_adds(&text, ".x");
    expect(world, &text, TOKEN_MALFORMED, "four parts are no token");
    text.len = 0;
    expect(world, &text, TOKEN_MALFORMED, "no text is no token");
    while (text.len <= JWT_BYTES_MAX)
        buf_adds(&text, "eyJ.");
    expect(world, &text, TOKEN_TOO_LONG, "a token of more than 8,192 bytes is not read");
    text.len = 0;
    for (int i = 0; i < 3000; i++)
        buf_adds(&text, "e");
    buf_adds(&text, ".e30.AAAA");
    expect(world, &text, TOKEN_TOO_LONG, "neither is a header of more than 2,048");
    buf_done(&text);
}

/* ------------------------------------------------------------------------------------------------------------- claims */

static void test_claims(struct world *world)
{
#define WHO "\"iss\":\"" ISS "\",\"sub\":\"alice\","
#define CAN ",\"scope\":\"compute.read\"}"
    static const struct {
        const char *sentence, *claims;
        enum token_fault want;
    } rows[] = {
        {"a token is good until it expires", "{" WHO "\"aud\":\"" AUD "\",\"exp\":1700000001" CAN, TOKEN_OK},
        {"and not after that", "{" WHO "\"aud\":\"" AUD "\",\"exp\":1700000000" CAN, TOKEN_EXPIRED},
        {"one without exp is refused", "{" WHO "\"aud\":\"" AUD "\"" CAN, TOKEN_CLAIMS},
        {"so is exp as a text", "{" WHO "\"aud\":\"" AUD "\",\"exp\":\"1800000000\"" CAN, TOKEN_CLAIMS},
        {"so is exp beyond all time", "{" WHO "\"aud\":\"" AUD "\",\"exp\":1e300" CAN, TOKEN_CLAIMS},
        {"nbf in a minute is within the leeway",
         "{" WHO "\"aud\":\"" AUD "\",\"exp\":1700009999,\"nbf\":1700000060" CAN, TOKEN_OK},
        {"nbf later than that is not yet", "{" WHO "\"aud\":\"" AUD "\",\"exp\":1700009999,\"nbf\":1700000061" CAN,
         TOKEN_NOT_YET},
        {"iat in the future is not yet either", "{" WHO "\"aud\":\"" AUD "\",\"exp\":1700009999,\"iat\":1700000061" CAN,
         TOKEN_NOT_YET},
        {"iat before 1970 is no time", "{" WHO "\"aud\":\"" AUD "\",\"exp\":1700009999,\"iat\":-5" CAN, TOKEN_CLAIMS},
        {"another audience is refused", "{" WHO "\"aud\":\"https://other.example\",\"exp\":1700003600" CAN,
         TOKEN_AUDIENCE},
        {"so is none", "{" WHO "\"exp\":1700003600" CAN, TOKEN_AUDIENCE},
        {"so is an empty list", "{" WHO "\"aud\":[],\"exp\":1700003600" CAN, TOKEN_AUDIENCE},
        {"so is one that begins like ours", "{" WHO "\"aud\":\"" AUD ".evil.example\",\"exp\":1700003600" CAN,
         TOKEN_AUDIENCE},
        {"ours may stand in a list", "{" WHO "\"aud\":[\"x\",\"" AUD "\"],\"exp\":1700003600" CAN, TOKEN_OK},
        {"an issuer with a slash behind it is another",
         "{\"iss\":\"" ISS "/\",\"sub\":\"alice\",\"aud\":\"" AUD "\",\"exp\":1700003600" CAN, TOKEN_NO_ISSUER},
        {"one in another case is another",
         "{\"iss\":\"https://IDP.example.org/realm\",\"sub\":\"alice\",\"aud\":\"" AUD "\",\"exp\":1700003600" CAN,
         TOKEN_NO_ISSUER},
        {"sub must be there", "{\"iss\":\"" ISS "\",\"aud\":\"" AUD "\",\"exp\":1700003600" CAN, TOKEN_CLAIMS},
        {"and be a text", "{\"iss\":\"" ISS "\",\"sub\":7,\"aud\":\"" AUD "\",\"exp\":1700003600" CAN, TOKEN_CLAIMS},
        {"and not an empty one", "{\"iss\":\"" ISS "\",\"sub\":\"\",\"aud\":\"" AUD "\",\"exp\":1700003600" CAN,
         TOKEN_CLAIMS},
        {"Sub is not sub", "{\"iss\":\"" ISS "\",\"Sub\":\"alice\",\"aud\":\"" AUD "\",\"exp\":1700003600" CAN,
         TOKEN_CLAIMS},
        {"a token without scopes of ours gives nothing", CLAIMS("\"scope\":\"openid storage.read:/\""), TOKEN_NO_SCOPE},
        {"nor does one without scope", CLAIMS("\"x\":1"), TOKEN_NO_SCOPE},
        {"nor one whose scope is a list", CLAIMS("\"scope\":[\"compute.read\"]"), TOKEN_NO_SCOPE},
        {"nor one whose scope has a path", CLAIMS("\"scope\":\"compute.read:/x\""), TOKEN_NO_SCOPE},
        {"a version of WLCG that is not known is refused", CLAIMS("\"wlcg.ver\":\"2.0\",\"scope\":\"compute.read\""),
         TOKEN_CLAIMS},
        {"so is one of SciTokens", CLAIMS("\"ver\":\"scitoken:9.0\",\"scope\":\"compute.read\""), TOKEN_CLAIMS},
        {"a ver of others means nothing", CLAIMS("\"ver\":\"2.0\",\"scope\":\"compute.read\""), TOKEN_OK},
        {"two claims with one name for expressions are refused",
         CLAIMS("\"wlcg.groups\":[],\"wlcg_groups\":[],\"scope\":\"compute.read\""), TOKEN_MAPPING},
    };
    struct buf text;

    buf_init(&text);
    for (size_t i = 0; i < COUNT(rows); i++) {
        sign(&text, world->point, "alg=ES256 kid=p", rows[i].claims);
        expect(world, &text, rows[i].want, rows[i].sentence);
    }
    buf_done(&text);
}

static void test_profiles(struct world *world)
{
    static const struct {
        const char *sentence, *claims;
        bool any;
        enum token_fault want;
        scopes scope;
    } rows[] = {
        {"compute.read reads", CLAIMS("\"scope\":\"openid compute.read\""), false, TOKEN_OK,
         SCOPE_AD_READ | SCOPE_JOB_READ},
        {"compute.create submits, and does what a customer must", CLAIMS("\"scope\":\"compute.create\""), false,
         TOKEN_OK, SCOPE_JOB_SUBMIT | SCOPE_AD_READ | SCOPE_AD_WRITE | SCOPE_CLAIM | SCOPE_MATCH},
        {"compute.cancel and compute.modify are for one's own jobs",
         CLAIMS("\"scope\":\"compute.cancel compute.modify\""), false, TOKEN_OK, SCOPE_JOB_MODIFY | SCOPE_JOB_CANCEL},
        {"nothing in a token gives an administrator's rights without an expression",
         CLAIMS("\"scope\":\"admin config job:any compute.read\""), false, TOKEN_OK, SCOPE_AD_READ | SCOPE_JOB_READ},
        {"a token of WLCG for everybody is refused, unless the issuer's ad says otherwise",
         "{" WHO "\"aud\":\"" ISSUER_ANY_WLCG "\",\"wlcg.ver\":\"1.0\",\"exp\":1700003600" CAN, false, TOKEN_AUDIENCE,
         0},
        {"and then taken", "{" WHO "\"aud\":\"" ISSUER_ANY_WLCG "\",\"wlcg.ver\":\"1.0\",\"exp\":1700003600" CAN, true,
         TOKEN_OK, SCOPE_AD_READ | SCOPE_JOB_READ},
        {"but not if it is not of WLCG", "{" WHO "\"aud\":\"" ISSUER_ANY_WLCG "\",\"exp\":1700003600" CAN, true,
         TOKEN_AUDIENCE, 0},
        {"SciTokens have a word of their own for it",
         "{" WHO "\"aud\":\"ANY\",\"ver\":\"scitoken:2.0\",\"exp\":1700003600" CAN, true, TOKEN_OK,
         SCOPE_AD_READ | SCOPE_JOB_READ},
        {"which means nothing in others", "{" WHO "\"aud\":\"ANY\",\"wlcg.ver\":\"1.0\",\"exp\":1700003600" CAN, true,
         TOKEN_AUDIENCE, 0},
    };
    struct buf text;

    buf_init(&text);
    for (size_t i = 0; i < COUNT(rows); i++) {
        world->issuer.any_audience = rows[i].any;
        sign(&text, world->point, "alg=ES256 kid=p", rows[i].claims);
        expect(world, &text, rows[i].want, rows[i].sentence);
        if (rows[i].want == TOKEN_OK)
            tap_ok(world->grant.scope == rows[i].scope, "... and gives just that");
    }
    world->issuer.any_audience = false;
    buf_done(&text);
}

/* --------------------------------------------------------------------------------------------------------- identities */

static void test_identities(struct world *world)
{
    static const struct {
        const char *sub, *want; /* want NULL: whatever, but nobody else's */
    } rows[] = {
        {"alice", "idp:alice"},
        {"Alice", "idp:=41lice"},
        {"=41lice", "idp:=3d41lice"},
        {"../x", "idp:=2e.=2fx"},
        {"..", "idp:=2e."},
        {".", "idp:=2e"},
        {"/etc/passwd", "idp:=2fetc=2fpasswd"},
        {"a/b", "idp:a=2fb"},
        {"a=2fb", "idp:a=3d2fb"},
        {"a:b", "idp:a=3ab"},
        {"idp:alice", "idp:idp=3aalice"},
        {"alice@example.org", "idp:alice@example.org"},
        {"a\\nb", "idp:a=0ab"},
        {"a b", "idp:a=20b"},
        {"\\u00e9", "idp:=c3=a9"},
        {"e\\u0301", "idp:e=cc=81"},
        {"/Expr(\\\"alice\\\")/", NULL},
        {"\\/Expr(1 + 1)\\/", NULL},
        {"'alice'", "idp:=27alice=27"},
        {"matchmaker", "idp:matchmaker"},
        {"0123456789012345678901234567890123456789012345678901234567890123456789a", NULL},
        {"0123456789012345678901234567890123456789012345678901234567890123456789b", NULL},
        {"0123456789012345678901234567890123456789012345678901234567890123456789A", NULL},
        {"=hx", "idp:=3dhx"},
    };
    char seen[COUNT(rows)][TOKEN_NAME_MAX + 1];
    struct buf text, claims;
    bool apart = true, good = true;

    buf_init(&text);
    buf_init(&claims);
    for (size_t i = 0; i < COUNT(rows); i++) {
        buf_reset(&claims);
        buf_addf(&claims,
                 "{\"iss\":\"" ISS "\",\"sub\":\"%s\",\"aud\":\"" AUD
                 "\",\"exp\":1700003600,\"scope\":\"compute.read\"}",
                 rows[i].sub);
        sign(&text, world->point, "alg=ES256 kid=p", buf_string(&claims));
        expect(world, &text, TOKEN_OK, rows[i].sub);
        memcpy(seen[i], world->grant.subject, sizeof seen[i]);
        good = good && subject_valid(seen[i], strlen(seen[i])) && strlen(seen[i]) <= ISSUER_IDENTITY_MAX &&
               !strchr(seen[i], '/') && !strcmp(world->grant.root, seen[i]);
        if (rows[i].want && !tap_ok(!strcmp(seen[i], rows[i].want), "... is %s", rows[i].want))
            tap_diag("got %s", seen[i]);
        for (size_t k = 0; k < i; k++)
            apart = apart && strcasecmp(seen[i], seen[k]) != 0;
    }
    tap_ok(good, "every identity is one name that the pool takes, and an account by itself");
    tap_ok(apart, "no two subjects have one identity, not even if one looks away from case");
    buf_done(&text);
    buf_done(&claims);
}

static void test_names(void)
{
    struct buf name;

    buf_init(&name);
    tap_ok(issuer_name_default(&name, "https://idp.example.org") && !strcmp(buf_string(&name), "idp.example.org"),
           "an issuer without a name is called by its host");
    buf_reset(&name);
    tap_ok(issuer_name_default(&name, "http://127.0.0.1:80/r") && !strcmp(buf_string(&name), "127.0.0.1=3a80=2fr"),
           "with port and path, if it has them");
    buf_reset(&name);
    tap_ok(!issuer_name_default(&name, "https://accounts.a-long-name.example.org/realms/physics"),
           "one that is too long has to be given a name");
    tap_ok(!issuer_name_valid("a:b", 3) && !issuer_name_valid("A", 1) && !issuer_name_valid("a/b", 3) &&
               !issuer_name_valid("", 0),
           "which has small letters, digits, dots and dashes");
    buf_done(&name);
}

/* ------------------------------------------------------------------------------------------------------------ mapping */

static void test_mapping(struct world *world)
{
    static const struct {
        const char *sentence, *field, *expression;
        enum token_fault want;
        const char *gives; /* of that field */
    } rows[] = {
        {"an expression of the claims gives the identity", "Identity", "strcat(\"idp:\", toLower(nick))", TOKEN_OK,
         "idp:al"},
        {"the administrator may name people as the pool does", "Identity", "nick == \"Al\" ? \"alice\" : undefined",
         TOKEN_OK, "alice"},
        {"undefined is the default", "Identity", "nothing", TOKEN_OK, "idp:alice"},
        {"an error is a refusal", "Identity", "error", TOKEN_MAPPING, NULL},
        {"so is a number", "Identity", "exp", TOKEN_MAPPING, NULL},
        {"so is a path", "Identity", "\"../x\"", TOKEN_MAPPING, NULL},
        {"so is another's delegate", "Identity", "\"bob/x\"", TOKEN_MAPPING, NULL},
        {"so is an identity of another issuer", "Identity", "\"other:alice\"", TOKEN_MAPPING, NULL},
        {"so is the matchmaker", "Identity", "\"matchmaker\"", TOKEN_MAPPING, NULL},
        {"so is what never ends", "Identity",
         "strcat(blob, blob, blob, blob) == blob ? \"x\" : substr(strcat(blob, blob), 0, 999999)", TOKEN_MAPPING, NULL},
        {"an account stands in front of the identity", "Account", "\"physics\"", TOKEN_OK, "physics/idp:alice"},
        {"a machine is no account", "Account", "\"machine\"", TOKEN_MAPPING, NULL},
        {"an account that leaves no room for the identity is refused", "Account",
         "\"a23456789012345678901234567890123456789012345678901234567890\"", TOKEN_MAPPING, NULL},
        {"a group comes from wlcg.groups", "Group", "substr(wlcg_groups[0], 1)", TOKEN_OK, "atlas"},
        {"one with a slash is none", "Group", "wlcg_groups[0]", TOKEN_MAPPING, NULL},
        {"a Unix account is a name", "UnixAccount", "toLower(nick)", TOKEN_OK, "al"},
        {"and not root", "UnixAccount", "\"root\"", TOKEN_MAPPING, NULL},
        {"nor nobody, whom all would share", "UnixAccount", "\"nobody\"", TOKEN_MAPPING, NULL},
        {"nor a path", "UnixAccount", "\"../x\"", TOKEN_MAPPING, NULL},
        {"scopes may be a text", "Scopes", "\"ad:read match\"", TOKEN_OK, "ad:read match"},
        {"or a list", "Scopes", "{ \"ad:read\", strcat(\"mat\", \"ch\") }", TOKEN_OK, "ad:read match"},
        {"of words that are scopes", "Scopes", "\"ad:read everything\"", TOKEN_MAPPING, NULL},
        {"none is none", "Scopes", "{}", TOKEN_NO_SCOPE, NULL},
        {"undefined leaves what the claim gives", "Scopes", "nothing", TOKEN_OK, "ad:read job:read"},
    };
    struct buf text, scope;

    buf_init(&text);
    buf_init(&scope);
    sign(&text, world->point, "alg=ES256 kid=p",
         CLAIMS("\"scope\":\"compute.read\",\"nick\":\"Al\",\"blob\":\"/Expr(9)/\",\"wlcg.groups\":[\"/atlas\"]"));
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct issuer before = world->issuer;
        char *expression = mem_dup(rows[i].expression, strlen(rows[i].expression));
        const char *got;

        *(!strcmp(rows[i].field, "Identity")      ? &world->issuer.identity
          : !strcmp(rows[i].field, "Account")     ? &world->issuer.account
          : !strcmp(rows[i].field, "Group")       ? &world->issuer.group
          : !strcmp(rows[i].field, "UnixAccount") ? &world->issuer.unix_account
                                                  : &world->issuer.scopes) = expression;
        expect(world, &text, rows[i].want, rows[i].sentence);
        buf_reset(&scope);
        scopes_print(&scope, world->grant.scope);
        got = !strcmp(rows[i].field, "Group")         ? world->grant.group
              : !strcmp(rows[i].field, "UnixAccount") ? world->grant.unix_account
              : !strcmp(rows[i].field, "Scopes")      ? buf_string(&scope)
                                                      : world->grant.subject;
        if (rows[i].gives && !tap_ok(!strcmp(got, rows[i].gives), "... %s", rows[i].gives))
            tap_diag("got %s", got);
        if (rows[i].want == TOKEN_MAPPING)
            tap_ok(strstr(world->why.text, rows[i].field) != NULL, "... and the reason names %s: %s", rows[i].field,
                   world->why.text);
        world->issuer = before;
        free(expression);
    }
    buf_done(&text);
    buf_done(&scope);
}

/* --------------------------------------------------------------------------------------------------------------- keys */

static void test_keys(struct world *world)
{
    static const struct {
        const char *sentence, *set;
    } rows[] = {
        {"no keys are an error", "{\"keys\":[]}"},
        {"so is something else", "{\"keys\":7}"},
        {"so is no JSON", "<html>"},
        {"a key of HMAC is none for us", "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"}]}"},
        {"a short RSA key is none", "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}"},
        {"a point of another curve is none",
         "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-521\",\"x\":\"AAAA\",\"y\":\"AAAA\"}]}"},
        {"a point that is not on the curve is none",
         "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\","
         "\"y\":\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"}]}"},
    };
    struct buf set, text;
    struct jwt_keys *keys, *before = world->keys;
    struct err err = {0};

    for (size_t i = 0; i < COUNT(rows); i++)
        tap_ok(!jwt_keys_read(rows[i].set, strlen(rows[i].set), &err) && *err.text, "%s: %s", rows[i].sentence,
               err.text);
    buf_init(&set);
    buf_init(&text);
    set_add(&set, world->rsa, ",\"kid\":\"r\",\"use\":\"enc\"");
    set_add(&set, world->rsa, ",\"kid\":\"r\",\"alg\":\"RS512\"");
    set_add(&set, world->point, ",\"kid\":\"p\",\"key_ops\":[\"sign\"]");
    set_add(&set, world->point, ",\"kid\":\"p\",\"d\":\"AAAA\"");
    buf_adds(&set, "]}");
    tap_ok(!jwt_keys_read(set.text, set.len, &err), "keys for something else, and private ones, are left out");
    buf_reset(&set);
    set_add(&set, world->point, ",\"kid\":\"p\"");
    set_add(&set, world->other, ",\"kid\":\"o\"");
    buf_adds(&set, "]}\n");
    keys = jwt_keys_read(set.text, set.len, &err);
    must(keys != NULL, err.text);
    world->keys = keys;
    sign(&text, world->point, "alg=ES256", GOOD);
    expect(world, &text, TOKEN_UNKNOWN_KEY, "of two keys of a sort a token must name one");
    sign(&text, world->rsa, "alg=RS256 kid=r", GOOD);
    expect(world, &text, TOKEN_UNKNOWN_KEY, "a key that the issuer has taken back is not known");
    world->keys = before;
    jwt_keys_free(keys);
    buf_done(&set);
    buf_done(&text);
}

/* ------------------------------------------------------------------------------------------------------------ signing in */

static void test_signin_state(void)
{
    unsigned char key[SIGNIN_KEY_BYTES], other[SIGNIN_KEY_BYTES], one[16], two[16];
    struct signin_state begun, again, opened;
    struct buf sealed, challenge;

    signin_key_draw(key);
    signin_key_draw(other);
    signin_issuer("https://a", "bc", one);
    signin_issuer("https://ab", "c", two);
    tap_ok(memcmp(one, two, sizeof one) != 0, "an issuer and a client are not mistaken for another pair");
    signin_state_draw(one, 1000, &begun);
    signin_state_draw(one, 1000, &again);
    tap_ok(strcmp(begun.state, again.state) && strcmp(begun.nonce, again.nonce) &&
               strcmp(begun.verifier, again.verifier) && strcmp(begun.state, begun.nonce) &&
               strlen(begun.verifier) == SIGNIN_WORD,
           "no two sign-ins have the same state, nonce or verifier");
    buf_init(&sealed);
    buf_init(&challenge);
    signin_challenge(&challenge, &begun);
    tap_ok(challenge.len == 43 && !strstr(buf_string(&challenge), begun.verifier),
           "the challenge does not tell the verifier");
    signin_state_seal(&sealed, &begun, key);
    tap_ok(sealed.len < SIGNIN_SEALED_MAX && !strstr(buf_string(&sealed), begun.verifier) &&
               signin_state_open(sealed.text, sealed.len, key, 1000 + SIGNIN_SPAN - 1, &opened) &&
               !memcmp(&opened, &begun, sizeof begun),
           "a sign-in that was sealed is opened");
    tap_ok(!signin_state_open(sealed.text, sealed.len, key, 1000 + SIGNIN_SPAN, &opened), "... while it has time");
    tap_ok(!signin_state_open(sealed.text, sealed.len, other, 1000, &opened), "... by who has sealed it");
    tap_ok(!signin_state_open(sealed.text, sealed.len - 1, key, 1000, &opened) &&
               !signin_state_open("", 0, key, 1000, &opened),
           "... and as a whole");
    sealed.text[100] = sealed.text[100] == 'A' ? 'B' : 'A';
    tap_ok(!signin_state_open(sealed.text, sealed.len, key, 1000, &opened), "... as it was");
    tap_ok(signin_state_is(&begun, begun.state) && !signin_state_is(&begun, again.state) &&
               !signin_state_is(&begun, "") && !signin_state_is(&begun, begun.state + 1),
           "a state is its own and no other");
    buf_done(&sealed);
    buf_done(&challenge);
}

int main(void)
{
    struct world world;

    world_init(&world);
    test_headers(&world);
    test_shapes(&world);
    test_claims(&world);
    test_profiles(&world);
    test_identities(&world);
    test_names();
    test_mapping(&world);
    test_keys(&world);
    test_signin_state();
    world_done(&world);
    return tap_done();
}
