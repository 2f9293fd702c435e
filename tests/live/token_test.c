/* token_test.c: a token is good where, when and for what it says; anything else about it is refused, and the fault named. */
#include "common/tap.h"

#include "live/auth/paseto.h"
#include "live/auth/token.h"
#include "sys/encoding.h"

#include <stdlib.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NOW INT64_C(1700000000)

/* ------------------------------------------------------------------------------------------------ a pool and a user */

struct world {
    struct signing_key root, other, user, job, deep; /* the pool's, a stranger's, and those that tokens name */
    struct token_keys keys;
    char agent[TOKEN_NAME_MAX + 1]; /* the audience of an agent */
};

static void world_init(struct world *world)
{
    struct signing_key *all[] = {&world->root, &world->other, &world->user, &world->job, &world->deep};

    for (size_t i = 0; i < COUNT(all); i++) {
        unsigned char seed[SIGNING_SEED_BYTES] = {(unsigned char)(i + 1)};

        signing_key_from_seed(seed, all[i]);
    }
    world->keys = (struct token_keys){.count = 1};
    pool_id_of(&world->root.open, world->keys.issuer);
    world->keys.keys[0].open = world->root.open;
    memcpy(world->keys.keys[0].id, world->root.id, sizeof world->root.id);
    token_agent_audience(world->keys.issuer, 0xa1, world->agent);
}

static struct token_terms alice(const struct world *world)
{
    return (struct token_terms){.issuer = world->keys.issuer,
                                .subject = "alice",
                                .audience = world->keys.issuer,
                                .scope = SCOPE_AD_READ | SCOPE_JOB_SUBMIT | SCOPE_OWN_JOBS,
                                .issued = NOW,
                                .expires = NOW + 3600};
}

static void must(bool good, const char *what, const struct err *err)
{
    if (!good) {
        printf("Bail out! %s: %s\n", what, err ? err->text : "");
        exit(1);
    }
}

/* A token of alice's that names the user's key, or none. */
static void alice_token(const struct world *world, bool delegates, struct buf *out)
{
    struct token_terms terms = alice(world);
    struct err err = {0};

    terms.delegate = delegates ? &world->user.open : NULL;
    must(token_sign(out, &world->root, &terms, NULL, &err) == 0, "token_sign", &err);
}

static enum token_fault verify_at(const struct world *world, const char *audience, const struct buf *text, int64_t now)
{
    struct grant grant;

    return token_verify(&world->keys, audience, text->text, text->len, now, &grant);
}

static enum token_fault verify(const struct world *world, const struct buf *text)
{
    return verify_at(world, world->keys.issuer, text, NOW + 10);
}

static bool fault_is(enum token_fault got, enum token_fault want, const char *sentence)
{
    if (tap_ok(got == want, "%s", sentence))
        return true;
    tap_diag("got %s, wanted %s", token_fault_name(got), token_fault_name(want));
    return false;
}

/* ------------------------------------------------------------------------------------------------------- the layout */

static const char vector_seed[] = "b4cbfb43df4ce210727d953e4a713307fa19bb7d9f85041438d9e11b942a3774";
#define VECTOR_MESSAGE "{\"data\":\"this is a signed message\",\"exp\":\"2022-01-01T00:00:00+00:00\"}"
#define VECTOR_FOOTER "{\"kid\":\"zVhMiPBP9fRf2snEcT7gFTioeA9COcNy9DfgL1W60haN\"}"
#define VECTOR_BODY "eyJkYXRhIjoidGhpcyBpcyBhIHNpZ25lZCBtZXNzYWdlIiwiZXhwIjoiMjAyMi0wMS0wMVQwMDowMDowMCswMDowMCJ9"
#define VECTOR_FOOT ".eyJraWQiOiJ6VmhNaVBCUDlmUmYyc25FY1Q3Z0ZUaW9lQTlDT2NOeTlEZmdMMVc2MGhhTiJ9"

static const struct vector {
    const char *name, *footer, *implicit, *text;
} vectors[] = {
    {"4-S-1", "", "",
     "v4.public." VECTOR_BODY "bg_XBBzds8lTZShVlwwKSgeKpLT3yukTw6JUz3W4h_ExsQV-P0V54zemZDcAxFaSeef1QlXEFtkqxT1ciiQEDA"},
    {"4-S-2", VECTOR_FOOTER, "",
     "v4.public." VECTOR_BODY
     "v3Jt8mx_TdM2ceTGoqwrh4yDFn0XsHvvV_D0DtwQxVrJEBMl0F2caAdgnpKlt4p7xBnx1HcO-SPo8FPp214HDw" VECTOR_FOOT},
    {"4-S-3", VECTOR_FOOTER, "{\"test-vector\":\"4-S-3\"}",
     "v4.public." VECTOR_BODY
     "NPWciuD3d0o5eXJXG5pJy-DiVEoyPYWs1YSTwWHNJq6DZD3je5gf-0M4JR9ipdUSJbIovzmBECeaWmaqcaP0DQ" VECTOR_FOOT},
};

static struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

static void test_vectors(void)
{
    unsigned char seed[SIGNING_SEED_BYTES];
    struct signing_key key;
    struct buf text, bytes;

    must(hex_read(vector_seed, strlen(vector_seed), seed, sizeof seed), "hex_read", NULL);
    signing_key_from_seed(seed, &key);
    buf_init(&text);
    buf_init(&bytes);
    for (size_t i = 0; i < COUNT(vectors); i++) {
        const struct vector *v = &vectors[i];
        struct paseto paseto;
        bool read;

        buf_reset(&text);
        paseto_sign(&text, &key, span_of(VECTOR_MESSAGE), span_of(v->footer), span_of(v->implicit));
        tap_ok(strcmp(buf_string(&text), v->text) == 0, "PASETO's test vector %s is signed to the very text", v->name);
        read = paseto_read(span_of(v->text), &bytes, &paseto) == TOKEN_OK;
        tap_ok(read && paseto_verify(&paseto, &key.open, span_of(v->implicit)) &&
                   paseto.message.len == strlen(VECTOR_MESSAGE) &&
                   memcmp(paseto.message.text, VECTOR_MESSAGE, paseto.message.len) == 0,
               "PASETO's test vector %s is found good, and its message is read", v->name);
        tap_ok(read && !paseto_verify(&paseto, &key.open, span_of("x")),
               "PASETO's test vector %s is not good with another implicit assertion", v->name);
    }
    buf_reset(&text);
    buf_addf(&text, "%s.", vectors[0].text);
    tap_ok(paseto_read((struct span){text.text, text.len}, &bytes, &(struct paseto){0}) == TOKEN_MALFORMED,
           "a dot with no footer behind it is refused: a token has one spelling");
    buf_done(&text);
    buf_done(&bytes);
}

static void test_layout(const struct world *world)
{
    static const struct {
        const char *sentence, *text;
        enum token_fault fault;
    } rows[] = {
        {"an empty text is no token", "", TOKEN_MALFORMED},
        {"a word is no token", "hello", TOKEN_MALFORMED},
        {"a JSON web token is no token", "eyJhbGciOiJub25lIn0.e30.", TOKEN_MALFORMED},
        {"a header alone is no token", "v4.public.", TOKEN_MALFORMED},
        {"a token without a signature is no token", "v4.public.e30", TOKEN_MALFORMED},
        {"a version before ours is named as such", "v2.public.AAAA", TOKEN_VERSION},
        {"a version after ours is named as such", "v5.public.AAAA", TOKEN_VERSION},
        {"an encrypted token is not of our kind", "v4.local.AAAA", TOKEN_VERSION},
        {"a joint alone is no token", "~", TOKEN_MALFORMED},
        {"the header in capitals is no token", "V4.PUBLIC.AAAA", TOKEN_MALFORMED},
        {"base64 of the other alphabet is no token", "v4.public.++++", TOKEN_MALFORMED},
    };
    struct buf text;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buf given = {.text = (char *)(uintptr_t)rows[i].text, .len = strlen(rows[i].text)};

        fault_is(verify(world, &given), rows[i].fault, rows[i].sentence);
    }
    buf_init(&text);
    alice_token(world, false, &text);
    buf_addc(&text, '.');
    fault_is(verify(world, &text), TOKEN_MALFORMED, "a third part is refused");
    buf_reset(&text);
    alice_token(world, false, &text);
    buf_addc(&text, '~');
    fault_is(verify(world, &text), TOKEN_CHAIN, "a joint behind a token that names no key is refused");
    buf_reset(&text);
    for (int i = 0; i <= TOKEN_BYTES_MAX; i++)
        buf_addc(&text, 'v');
    fault_is(verify(world, &text), TOKEN_TOO_LONG, "a text past the limit is refused before it is read");
    buf_done(&text);
}

/* -------------------------------------------------------------------------------------------------------- one link */

static void test_good(const struct world *world)
{
    char id[TOKEN_ID_DIGITS + 1], second[TOKEN_ID_DIGITS + 1];
    struct token_terms terms = alice(world);
    struct grant grant = {0};
    struct err err = {0};
    struct buf text;

    buf_init(&text);
    must(token_sign(&text, &world->root, &terms, id, &err) == 0, "token_sign", &err);
    tap_ok(token_verify(&world->keys, world->keys.issuer, text.text, text.len, NOW, &grant) == TOKEN_OK &&
               strcmp(grant.subject, "alice") == 0 && strcmp(grant.issuer, world->keys.issuer) == 0 &&
               strcmp(grant.audience, world->keys.issuer) == 0 && strcmp(grant.key, world->root.id) == 0 &&
               grant.scope == terms.scope && grant.issued == NOW && grant.expires == NOW + 3600 && grant.links == 1 &&
               strcmp(grant.ids[0], id) == 0 && !grant.delegates,
           "a token gives what it was made for");
    buf_reset(&text);
    must(token_sign(&text, &world->root, &terms, second, &err) == 0, "token_sign", &err);
    tap_ok(strcmp(id, second) != 0 && strlen(id) == TOKEN_ID_DIGITS,
           "two tokens of the same terms have ids of their own");
    fault_is(verify_at(world, world->keys.issuer, &text, NOW + 3599), TOKEN_OK, "a token is good in its last second");
    fault_is(verify_at(world, world->keys.issuer, &text, NOW + 3600), TOKEN_EXPIRED, "a token is not good at its end");
    fault_is(verify_at(world, world->keys.issuer, &text, INT64_MAX), TOKEN_EXPIRED,
             "a clock at its end finds it expired");
    fault_is(verify_at(world, world->keys.issuer, &text, NOW - 60), TOKEN_OK,
             "a clock that is a minute behind is forgiven");
    fault_is(verify_at(world, world->keys.issuer, &text, NOW - 61), TOKEN_NOT_YET, "a clock further behind is not");
    fault_is(verify_at(world, world->keys.issuer, &text, INT64_MIN), TOKEN_NOT_YET, "a clock at its beginning is not");
    fault_is(verify_at(world, world->agent, &text, NOW), TOKEN_AUDIENCE, "a token for the pool is refused by an agent");
    fault_is(verify_at(world, "", &text, NOW), TOKEN_AUDIENCE, "no token is for nobody");
    buf_done(&text);
}

static void test_keys(const struct world *world)
{
    struct token_terms terms = alice(world);
    struct world changed = *world;
    struct err err = {0};
    struct buf text;

    buf_init(&text);
    must(token_sign(&text, &world->other, &terms, NULL, &err) == 0, "token_sign", &err);
    fault_is(verify(world, &text), TOKEN_UNKNOWN_KEY, "a token that a stranger signed is refused");
    memcpy(changed.keys.keys[0].id, world->other.id, sizeof world->other.id);
    fault_is(verify(&changed, &text), TOKEN_SIGNATURE, "a token that claims another's key id has no good signature");
    buf_reset(&text);
    changed = *world;
    alice_token(world, false, &text);
    changed.keys.issuer[0] ^= 1;
    fault_is(verify(&changed, &text), TOKEN_ISSUER, "a token of another pool is refused, even if the key is known");
    changed.keys.count = 0;
    fault_is(verify(&changed, &text), TOKEN_UNKNOWN_KEY, "one who knows no keys accepts nothing");
    buf_done(&text);
}

static void test_terms(const struct world *world)
{
    char long_name[TOKEN_NAME_MAX + 2];
    struct token_terms good = alice(world), row;
    struct buf text;

    memset(long_name, 'a', sizeof long_name);
    long_name[TOKEN_NAME_MAX + 1] = '\0';
    buf_init(&text);
#define REFUSED(change, sentence) \
    row = good;                   \
    change;                       \
    tap_ok(token_sign(&text, &world->root, &row, NULL, NULL) < 0 && text.len == 0, "no token is made " sentence)
    REFUSED(row.issuer = NULL, "without an issuer");
    REFUSED(row.issuer = "pool", "whose issuer is not a pool's id");
    REFUSED(row.subject = "", "for nobody");
    REFUSED(row.subject = long_name, "for a name past the limit");
    REFUSED(row.subject = "alice\",\"scope\":\"admin", "whose subject would break out of its quotes");
    REFUSED(row.subject = "alice/../root", "whose subject climbs");
    REFUSED(row.subject = "alice//x", "whose subject has an empty part");
    REFUSED(row.subject = "alice/", "whose subject ends in a stroke");
    REFUSED(row.audience = "", "for no audience");
    REFUSED(row.scope = SCOPE_NONE, "without a scope");
    REFUSED(row.scope = 1u << SCOPE_COUNT, "with a scope that nobody knows");
    REFUSED(row.expires = row.issued, "that ends when it begins");
    REFUSED(row.issued = -1, "from before 1970");
    REFUSED(row.expires = TOKEN_TIME_MAX + 1, "that lasts past the year 9999");
#undef REFUSED
    buf_done(&text);
}

/* Signs any message as if it were claims, with the footer of that key. */
static void sign_claims(struct buf *out, const struct signing_key *key, const char *json, size_t len,
                        struct span before)
{
    struct buf footer;

    buf_init(&footer);
    buf_addf(&footer, "{\"kid\":\"%s\"}", key->id);
    paseto_sign(out, key, (struct span){json, len}, (struct span){footer.text, footer.len}, before);
    buf_done(&footer);
}

/* ISS stands for the pool's id in these. */
#define I "\"iss\":\"ISS\","
#define S "\"sub\":\"alice\","
#define A "\"aud\":\"ISS\","
#define C "\"scope\":\"ad:read\","
#define T "\"iat\":1700000000,\"exp\":1700003600,"
#define J "\"jti\":\"00112233445566778899aabbccddeeff\""
#define KEY64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct claims_row {
    const char *sentence, *json;
    enum token_fault fault;
} claims_rows[] = {
    {"all claims make a token", "{" I S A C T J "}", TOKEN_OK},
    {"the order of claims and blanks between them do not matter",
     "{ " J " , \"exp\":1700003600, " C A S I "\"iat\":1700000000 }", TOKEN_OK},
    {"a token without iss is refused", "{" S A C T J "}", TOKEN_CLAIMS},
    {"a token without sub is refused", "{" I A C T J "}", TOKEN_CLAIMS},
    {"a token without aud is refused", "{" I S C T J "}", TOKEN_CLAIMS},
    {"a token without scope is refused", "{" I S A T J "}", TOKEN_CLAIMS},
    {"a token without iat is refused", "{" I S A C "\"exp\":1700003600," J "}", TOKEN_CLAIMS},
    {"a token without exp is refused", "{" I S A C "\"iat\":1700000000," J "}", TOKEN_CLAIMS},
    {"a token without jti is refused", "{" I S A C "\"iat\":1700000000,\"exp\":1700003600}", TOKEN_CLAIMS},
    {"a claim that nobody knows is refused", "{" I S A C T J ",\"nbf\":1}", TOKEN_CLAIMS},
    {"a claim that is there twice is refused", "{" I S S A C T J "}", TOKEN_CLAIMS},
    {"a claim that is there twice in other letters is refused", "{" I S "\"SUB\":\"root\"," A C T J "}", TOKEN_CLAIMS},
    {"a claim in capitals is refused", "{" I "\"SUB\":\"alice\"," A C T J "}", TOKEN_CLAIMS},
    {"a subject that is a number is refused", "{" I "\"sub\":7," A C T J "}", TOKEN_CLAIMS},
    {"a subject that is null is refused", "{" I "\"sub\":null," A C T J "}", TOKEN_CLAIMS},
    {"a subject that is empty is refused", "{" I "\"sub\":\"\"," A C T J "}", TOKEN_CLAIMS},
    {"a subject with a blank is refused", "{" I "\"sub\":\"al ice\"," A C T J "}", TOKEN_CLAIMS},
    {"a subject with a NUL is refused", "{" I "\"sub\":\"alice\\u0000x\"," A C T J "}", TOKEN_CLAIMS},
    {"a subject that is an expression is refused", "{" I "\"sub\":\"\\/Expr(strcat(1,2))\\/\"," A C T J "}",
     TOKEN_CLAIMS},
    {"an issuer in capitals is refused", "{\"iss\":\"AABBCCDDAABBCCDDAABBCCDDAABBCCDD\"," S A C T J "}", TOKEN_CLAIMS},
    {"an issuer of another pool is refused", "{\"iss\":\"aabbccddaabbccddaabbccddaabbccdd\"," S A C T J "}",
     TOKEN_ISSUER},
    {"a scope that is no scope is refused", "{" I S A "\"scope\":\"ad:read root\"," T J "}", TOKEN_CLAIMS},
    {"an empty scope is refused", "{" I S A "\"scope\":\"\"," T J "}", TOKEN_CLAIMS},
    {"a scope that is a list is refused", "{" I S A "\"scope\":[\"ad:read\"]," T J "}", TOKEN_CLAIMS},
    {"a time with a fraction is refused", "{" I S A C "\"iat\":1700000000.0,\"exp\":1700003600," J "}", TOKEN_CLAIMS},
    {"a time in a string is refused", "{" I S A C "\"iat\":\"1700000000\",\"exp\":1700003600," J "}", TOKEN_CLAIMS},
    {"a time before 1970 is refused", "{" I S A C "\"iat\":-5,\"exp\":1700003600," J "}", TOKEN_CLAIMS},
    {"a time past the year 9999 is refused", "{" I S A C "\"iat\":1700000000,\"exp\":253402300800," J "}",
     TOKEN_CLAIMS},
    {"a time past all integers is refused", "{" I S A C "\"iat\":1700000000,\"exp\":99999999999999999999," J "}",
     TOKEN_CLAIMS},
    {"a token that ends before it begins is refused", "{" I S A C "\"iat\":1700003600,\"exp\":1700000000," J "}",
     TOKEN_CLAIMS},
    {"an id that is too short is refused", "{" I S A C T "\"jti\":\"0011\"}", TOKEN_CLAIMS},
    {"an id that is not hexadecimal is refused", "{" I S A C T "\"jti\":\"0011223344556677-899aabbccddeef\"}",
     TOKEN_CLAIMS},
    {"a key that is too short is refused", "{" I S A C T J ",\"dlg\":\"0123\"}", TOKEN_CLAIMS},
    {"a key that is a number is refused", "{" I S A C T J ",\"dlg\":1}", TOKEN_CLAIMS},
    {"a token that names a key is no bearer token", "{" I S A C T J ",\"dlg\":\"" KEY64 "\"}", TOKEN_BARE},
    {"claims in a list are refused", "[{" I S A C T J "}]", TOKEN_CLAIMS},
    {"claims with something behind them are refused", "{" I S A C T J "}{}", TOKEN_CLAIMS},
    {"claims with a blank in front are refused", " {" I S A C T J "}", TOKEN_CLAIMS},
    {"no claims are refused", "{}", TOKEN_CLAIMS},
    {"an empty message is refused", "", TOKEN_CLAIMS},
    {"a message that is not JSON is refused", "{iss=1}", TOKEN_CLAIMS},
};

static void replace_issuer(struct buf *out, const char *json, const char *issuer)
{
    const char *at;

    buf_reset(out);
    while ((at = strstr(json, "ISS"))) {
        buf_add(out, json, (size_t)(at - json));
        buf_adds(out, issuer);
        json = at + 3;
    }
    buf_adds(out, json);
}

static void test_claims(const struct world *world)
{
    struct buf json, text;

    buf_init(&json);
    buf_init(&text);
    for (size_t i = 0; i < COUNT(claims_rows); i++) {
        buf_reset(&text);
        replace_issuer(&json, claims_rows[i].json, world->keys.issuer);
        sign_claims(&text, &world->root, json.text, json.len, (struct span){NULL, 0});
        fault_is(verify(world, &text), claims_rows[i].fault, claims_rows[i].sentence);
    }
    replace_issuer(&json, claims_rows[0].json, world->keys.issuer);
    buf_reset(&text);
    paseto_sign(&text, &world->root, (struct span){json.text, json.len}, span_of(""), span_of(""));
    fault_is(verify(world, &text), TOKEN_CLAIMS, "a token that does not say which key signed it is refused");
    buf_reset(&text);
    paseto_sign(&text, &world->root, (struct span){json.text, json.len}, span_of("{\"kid\":\"x\"}"), span_of(""));
    fault_is(verify(world, &text), TOKEN_CLAIMS, "a token whose key id is none is refused");
    buf_done(&json);
    buf_done(&text);
}

/* -------------------------------------------------------------------------------------------------------- damaged */

static size_t count_accepted_flips(const struct world *world, struct buf *text)
{
    size_t accepted = 0;

    for (size_t i = 0; i < text->len; i++)
        for (int bit = 0; bit < 8; bit++) {
            text->text[i] ^= (char)(1 << bit);
            accepted += verify(world, text) == TOKEN_OK;
            text->text[i] ^= (char)(1 << bit);
        }
    return accepted;
}

static size_t count_accepted_cuts(const struct world *world, const struct buf *text)
{
    size_t accepted = 0;

    for (size_t len = 0; len < text->len; len++) {
        struct buf cut = {.text = mem_dup(text->text, len), .len = len};

        accepted += verify(world, &cut) == TOKEN_OK;
        free(cut.text);
    }
    return accepted;
}

static void test_damage(const struct world *world)
{
    struct token_terms terms = {.issued = NOW};
    struct buf text, child;
    struct err err = {0};

    buf_init(&text);
    buf_init(&child);
    alice_token(world, false, &text);
    must(verify(world, &text) == TOKEN_OK, "a good token", NULL);
    tap_ok(count_accepted_flips(world, &text) == 0, "a token of which any bit is changed is refused");
    tap_ok(count_accepted_cuts(world, &text) == 0, "a token that is cut anywhere is refused");
    buf_addc(&text, 'A');
    tap_ok(verify(world, &text) != TOKEN_OK, "a token with a letter more is refused");
    buf_reset(&text);
    alice_token(world, true, &text);
    must(token_delegate(&child, text.text, text.len, &world->user, &terms, NULL, &err) == 0, "token_delegate", &err);
    must(verify(world, &child) == TOKEN_OK, "a good token", NULL);
    tap_ok(count_accepted_flips(world, &child) == 0, "a delegated token of which any bit is changed is refused");
    tap_ok(count_accepted_cuts(world, &child) == 0,
           "a delegated token that is cut anywhere is refused: nobody gets the parent out of it");
    buf_done(&text);
    buf_done(&child);
}

/* ------------------------------------------------------------------------------------------------------ delegation */

static const struct narrow_row {
    const char *sentence;
    struct token_terms terms; /* behind alice's; an audience "@" is the agent's, "#" another pool's */
    bool good;
} narrow_rows[] = {
    {"the same again", {.issued = NOW}, true},
    {"a longer subject behind a stroke", {.subject = "alice/job17", .issued = NOW}, true},
    {"a subset of the scope", {.scope = SCOPE_AD_READ, .issued = NOW}, true},
    {"an earlier end", {.issued = NOW, .expires = NOW + 60}, true},
    {"a later beginning", {.issued = NOW + 5}, true},
    {"an earlier beginning, which is moved", {.issued = NOW - 500}, true},
    {"the audience of one agent", {.audience = "@", .issued = NOW}, true},
    {"another subject", {.subject = "bob", .issued = NOW}, false},
    {"a subject that only begins alike", {.subject = "alicex", .issued = NOW}, false},
    {"a shorter subject", {.subject = "al", .issued = NOW}, false},
    {"one scope more", {.scope = SCOPE_AD_READ | SCOPE_ADMIN, .issued = NOW}, false},
    {"another scope", {.scope = SCOPE_CONFIG, .issued = NOW}, false},
    {"a later end", {.issued = NOW, .expires = NOW + 3601}, false},
    {"another pool as audience", {.audience = "#", .issued = NOW}, false},
    {"an issuer of its own", {.issuer = "aabbccddaabbccddaabbccddaabbccdd", .issued = NOW}, false},
};

static void test_narrowing(const struct world *world)
{
    static const char other_pool[] = "aabbccddaabbccddaabbccddaabbccdd";
    struct buf parent, child;

    buf_init(&parent);
    buf_init(&child);
    alice_token(world, true, &parent);
    for (size_t i = 0; i < COUNT(narrow_rows); i++) {
        const struct narrow_row *row = &narrow_rows[i];
        struct token_terms terms = row->terms;
        const char *audience = world->keys.issuer;
        struct err err = {0};
        int made;

        if (terms.audience)
            terms.audience = audience = terms.audience[0] == '@' ? world->agent : other_pool;
        buf_reset(&child);
        made = token_delegate(&child, parent.text, parent.len, &world->user, &terms, NULL, &err);
        if (row->good)
            tap_ok(made == 0 && verify_at(world, audience, &child, NOW + 10) == TOKEN_OK, "%s may be delegated",
                   row->sentence);
        else
            tap_ok(made < 0 && child.len == 0 && err.text[0], "%s may not be delegated", row->sentence);
    }
    buf_done(&parent);
    buf_done(&child);
}

/* What token_delegate would not make, made by hand: behind alice's token, signed by its key. */
static const struct claims_row forged_rows[] = {
    {"a link as wide as its parent is good", "{" I S A C T J "}", TOKEN_OK},
    {"a forged link of another subject is refused", "{" I "\"sub\":\"bob\"," A C T J "}", TOKEN_WIDER},
    {"a forged link of a subject that begins alike is refused", "{" I "\"sub\":\"alice2\"," A C T J "}", TOKEN_WIDER},
    {"a forged link of more scope is refused", "{" I S A "\"scope\":\"ad:read admin\"," T J "}", TOKEN_WIDER},
    {"a forged link that lasts longer is refused", "{" I S A C "\"iat\":1700000000,\"exp\":1700003601," J "}",
     TOKEN_WIDER},
    {"a forged link from before its parent is refused", "{" I S A C "\"iat\":1699999999,\"exp\":1700003600," J "}",
     TOKEN_WIDER},
    {"a forged link for another audience is refused", "{" I S "\"aud\":\"aabbccdd\"," C T J "}", TOKEN_WIDER},
    {"a forged link of another pool is refused", "{\"iss\":\"aabbccddaabbccddaabbccddaabbccdd\"," S A C T J "}",
     TOKEN_ISSUER},
    {"a forged link with an unknown claim is refused", "{" I S A C T J ",\"root\":true}", TOKEN_CLAIMS},
};

static void test_forged(const struct world *world)
{
    struct buf parent, json, text;

    buf_init(&parent);
    buf_init(&json);
    buf_init(&text);
    alice_token(world, true, &parent);
    for (size_t i = 0; i < COUNT(forged_rows); i++) {
        replace_issuer(&json, forged_rows[i].json, world->keys.issuer);
        buf_reset(&text);
        buf_add(&text, parent.text, parent.len);
        buf_addc(&text, '~');
        sign_claims(&text, &world->user, json.text, json.len, (struct span){parent.text, parent.len});
        fault_is(verify(world, &text), forged_rows[i].fault, forged_rows[i].sentence);
    }
    replace_issuer(&json, forged_rows[0].json, world->keys.issuer);
    buf_reset(&text);
    buf_add(&text, parent.text, parent.len);
    buf_addc(&text, '~');
    sign_claims(&text, &world->other, json.text, json.len, (struct span){parent.text, parent.len});
    fault_is(verify(world, &text), TOKEN_UNKNOWN_KEY, "a link that a stranger signed is refused");
    buf_reset(&text);
    buf_add(&text, parent.text, parent.len);
    buf_addc(&text, '~');
    sign_claims(&text, &world->user, json.text, json.len, (struct span){NULL, 0});
    fault_is(verify(world, &text), TOKEN_SIGNATURE, "a link that was not signed for this parent is refused");
    buf_reset(&parent);
    alice_token(world, false, &parent);
    buf_reset(&text);
    buf_add(&text, parent.text, parent.len);
    buf_addc(&text, '~');
    sign_claims(&text, &world->root, json.text, json.len, (struct span){parent.text, parent.len});
    fault_is(verify(world, &text), TOKEN_CHAIN, "no link may stand behind a token that names no key");
    buf_done(&parent);
    buf_done(&json);
    buf_done(&text);
}

static void test_splice(const struct world *world)
{
    struct token_terms terms = {.issued = NOW}, wide = alice(world);
    struct buf first, second, child, spliced;
    struct err err = {0};
    const char *link;

    buf_init(&first);
    buf_init(&second);
    buf_init(&child);
    buf_init(&spliced);
    alice_token(world, true, &first);
    wide.scope = SCOPE_ALL;
    wide.delegate = &world->user.open;
    must(token_sign(&second, &world->root, &wide, NULL, &err) == 0, "token_sign", &err);
    must(token_delegate(&child, first.text, first.len, &world->user, &terms, NULL, &err) == 0, "token_delegate", &err);
    link = (const char *)memchr(child.text, '~', child.len);
    buf_add(&spliced, second.text, second.len);
    buf_add(&spliced, link, child.len - (size_t)(link - child.text));
    fault_is(verify(world, &child), TOKEN_OK, "a link is good behind its own parent");
    fault_is(verify(world, &spliced), TOKEN_SIGNATURE,
             "a link is not good behind another token that names the same key");
    fault_is(verify(world, &first), TOKEN_BARE, "a token that names a key is refused without a link of that key's");
    buf_done(&first);
    buf_done(&second);
    buf_done(&child);
    buf_done(&spliced);
}

static void test_chain(const struct world *world)
{
    const struct signing_key *keys[] = {&world->user, &world->job, &world->deep, &world->job};
    struct token_terms terms = {.issued = NOW};
    struct buf chains[TOKEN_LINKS_MAX + 1];
    struct grant grant = {0};
    struct err err = {0};
    bool unique = true;

    for (int i = 0; i <= TOKEN_LINKS_MAX; i++)
        buf_init(&chains[i]);
    alice_token(world, true, &chains[0]);
    for (int i = 1; i < TOKEN_LINKS_MAX; i++) {
        terms.delegate = i < TOKEN_LINKS_MAX - 1 ? &keys[i]->open : NULL;
        must(token_delegate(&chains[i], chains[i - 1].text, chains[i - 1].len, keys[i - 1], &terms, NULL, &err) == 0,
             "token_delegate", &err);
    }
    tap_ok(token_verify(&world->keys, world->keys.issuer, chains[3].text, chains[3].len, NOW, &grant) == TOKEN_OK &&
               grant.links == 4,
           "a chain of four links is good");
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            unique = unique && strcmp(grant.ids[i], grant.ids[j]) != 0 && strlen(grant.ids[i]) == TOKEN_ID_DIGITS;
    tap_ok(unique, "each link of a chain has an id of its own, to be revoked by");
    fault_is(verify(world, &chains[1]), TOKEN_BARE, "a chain whose last link names a key is refused");

    terms.delegate = &world->job.open;
    buf_reset(&chains[3]);
    must(token_delegate(&chains[3], chains[2].text, chains[2].len, keys[2], &terms, NULL, &err) == 0, "token_delegate",
         &err);
    terms.delegate = NULL;
    tap_ok(token_delegate(&chains[4], chains[3].text, chains[3].len, keys[3], &terms, NULL, &err) < 0,
           "no fifth link is made");
    buf_reset(&chains[4]);
    buf_add(&chains[4], chains[3].text, chains[3].len);
    buf_addc(&chains[4], '~');
    sign_claims(&chains[4], keys[3], "{}", 2, (struct span){chains[3].text, chains[3].len});
    fault_is(verify(world, &chains[4]), TOKEN_CHAIN, "a fifth link that somebody forged is refused");
    for (int i = 0; i <= TOKEN_LINKS_MAX; i++)
        buf_done(&chains[i]);
}

static void test_delegate_refusals(const struct world *world)
{
    struct token_terms terms = {.issued = NOW};
    struct buf parent, child;
    struct err err = {0};
    struct grant grant;

    buf_init(&parent);
    buf_init(&child);
    alice_token(world, false, &parent);
    tap_ok(token_delegate(&child, parent.text, parent.len, &world->user, &terms, NULL, &err) < 0 && child.len == 0,
           "a token that names no key cannot be delegated: %s", err.text);
    buf_reset(&parent);
    alice_token(world, true, &parent);
    tap_ok(token_delegate(&child, parent.text, parent.len, &world->other, &terms, NULL, &err) < 0 && child.len == 0,
           "a token cannot be delegated with another key: %s", err.text);
    tap_ok(token_delegate(&child, "nonsense", 8, &world->user, &terms, NULL, &err) < 0 && child.len == 0,
           "what is no token cannot be delegated: %s", err.text);
    tap_ok(token_read(parent.text, parent.len, &grant) == TOKEN_OK && strcmp(grant.subject, "alice") == 0 &&
               grant.delegates && memcmp(grant.delegate.bytes, world->user.open.bytes, PUBLIC_KEY_BYTES) == 0,
           "the holder of a token can look at what it says without the pool's keys");
    terms.audience = world->agent;
    must(token_delegate(&child, parent.text, parent.len, &world->user, &terms, NULL, &err) == 0, "token_delegate",
         &err);
    fault_is(verify_at(world, world->agent, &child, NOW), TOKEN_OK, "a token for an agent is good there");
    fault_is(verify(world, &child), TOKEN_AUDIENCE, "a token for an agent is refused by the matchmaker");
    fault_is(verify_at(world, "a1", &child, NOW), TOKEN_AUDIENCE, "a token for an agent is refused by another agent");
    buf_done(&parent);
    buf_done(&child);
}

/* ----------------------------------------------------------------------------------------------------------- cache */

static bool revoked_is(void *user, const char *id)
{
    return user && strcmp(user, id) == 0;
}

static enum token_fault check(const struct world *world, struct token_cache *cache, const struct buf *text, int64_t now,
                              char *revoked, struct grant *ret)
{
    struct proof proof = {
        .tokens = cache, .keys = &world->keys, .audience = world->keys.issuer, .revoked = revoked_is, .user = revoked};

    return token_check(&proof, text->text, text->len, now, ret);
}

/* Of the processor: others may work beside this. */
static double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void test_cache(const struct world *world)
{
    struct token_cache *cache = token_cache_new(0);
    struct token_terms terms = {.issued = NOW};
    struct grant first = {0}, grant = {0};
    struct world changed = *world;
    struct proof elsewhere = {.tokens = cache, .keys = &world->keys, .audience = world->agent, .revoked = revoked_is};
    struct proof unasked = {.tokens = cache, .keys = &world->keys, .audience = world->keys.issuer};
    struct buf parent, text;
    struct err err = {0};
    double start, span;
    bool good = true;

    buf_init(&parent);
    buf_init(&text);
    alice_token(world, true, &parent);
    must(token_delegate(&text, parent.text, parent.len, &world->user, &terms, NULL, &err) == 0, "token_delegate", &err);
    tap_ok(check(world, cache, &text, NOW, NULL, &first) == TOKEN_OK && token_cache_count(cache) == 1 &&
               check(world, cache, &text, NOW, NULL, &grant) == TOKEN_OK && token_cache_count(cache) == 1 &&
               strcmp(first.subject, grant.subject) == 0 && first.scope == grant.scope &&
               first.expires == grant.expires && grant.links == 2 && strcmp(first.ids[0], grant.ids[0]) == 0 &&
               strcmp(first.ids[1], grant.ids[1]) == 0,
           "a token that was found good is remembered, and gives the same");
    start = seconds_now();
    for (int i = 0; i < 20000; i++)
        good = good && check(world, cache, &text, NOW, NULL, &grant) == TOKEN_OK;
    span = seconds_now() - start;
    if (!tap_ok(good && span < 20000 * 20e-6, "looking at a remembered token again does not verify it anew"))
        tap_diag("%.2f us each", span / 20000 * 1e6);
    tap_diag("%.2f microseconds for a remembered token of %zu bytes", span / 20000 * 1e6, text.len);

    fault_is(token_check(&elsewhere, text.text, text.len, NOW, &grant), TOKEN_AUDIENCE,
             "a remembered token is still refused by another audience");
    must(check(world, cache, &text, NOW, NULL, &grant) == TOKEN_OK, "again", NULL);
    fault_is(token_check(&unasked, text.text, text.len, NOW, &grant), TOKEN_REVOKED,
             "where nobody can be asked whether it is revoked, a token is refused");
    must(check(world, cache, &text, NOW, NULL, &grant) == TOKEN_OK, "again", NULL);
    fault_is(check(world, cache, &text, NOW, first.ids[0], &grant), TOKEN_REVOKED,
             "revoking a token revokes its children");
    must(check(world, cache, &text, NOW, NULL, &grant) == TOKEN_OK, "again", NULL);
    fault_is(check(world, cache, &text, NOW, first.ids[1], &grant), TOKEN_REVOKED, "a child can be revoked by itself");
    fault_is(check(world, cache, &text, NOW, first.ids[1], &grant), TOKEN_REVOKED,
             "and stays so when it is not remembered");
    must(check(world, cache, &text, NOW, NULL, &grant) == TOKEN_OK, "again", NULL);
    fault_is(check(world, cache, &text, NOW + 3600, NULL, &grant), TOKEN_EXPIRED, "a remembered token expires");
    tap_ok(token_cache_count(cache) == 0, "an expired token is forgotten");

    must(check(world, cache, &text, NOW, NULL, &grant) == TOKEN_OK, "again", NULL);
    changed.keys.count = 0;
    fault_is(check(&changed, cache, &text, NOW, NULL, &grant), TOKEN_UNKNOWN_KEY,
             "a remembered token is refused once its key is gone");
    must(check(world, cache, &text, NOW, NULL, &grant) == TOKEN_OK, "again", NULL);
    token_cache_retain(cache, &world->keys);
    tap_ok(token_cache_count(cache) == 1, "tokens of known keys stay remembered after a rotation");
    token_cache_retain(cache, &changed.keys);
    tap_ok(token_cache_count(cache) == 0, "tokens of a key that is gone are forgotten");
    text.text[text.len / 2] ^= 1;
    tap_ok(check(world, cache, &text, NOW, NULL, &grant) != TOKEN_OK && token_cache_count(cache) == 0,
           "a token that was refused is not remembered");
    token_cache_free(cache);
    token_cache_free(NULL);
    buf_done(&parent);
    buf_done(&text);
}

static void test_cache_room(const struct world *world)
{
    enum { ROOM = 40, TOKENS = 100 };
    struct token_cache *cache = token_cache_new(ROOM);
    struct buf texts[TOKENS];
    struct grant grant;
    bool bounded = true, good = true;

    for (int i = 0; i < TOKENS; i++) {
        buf_init(&texts[i]);
        alice_token(world, false, &texts[i]);
        good = good && check(world, cache, &texts[i], NOW, NULL, &grant) == TOKEN_OK;
        bounded = bounded && token_cache_count(cache) == (uint32_t)(i < ROOM ? i + 1 : ROOM);
    }
    tap_ok(good && bounded, "a full cache lets its oldest token go for a new one");
    for (int i = 0; i < TOKENS; i++)
        good = good && check(world, cache, &texts[i], NOW, NULL, &grant) == TOKEN_OK;
    tap_ok(good && token_cache_count(cache) == ROOM, "a token that was let go is verified anew");
    for (int i = 0; i < TOKENS; i++)
        buf_done(&texts[i]);
    token_cache_free(cache);
}

int main(void)
{
    struct world world;

    world_init(&world);
    test_vectors();
    test_layout(&world);
    test_good(&world);
    test_keys(&world);
    test_terms(&world);
    test_claims(&world);
    test_damage(&world);
    test_narrowing(&world);
    test_forged(&world);
    test_splice(&world);
    test_chain(&world);
    test_delegate_refusals(&world);
    test_cache(&world);
    test_cache_room(&world);
    return tap_done();
}
