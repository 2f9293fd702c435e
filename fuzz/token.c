/* token.c: any text is a good token, or is refused with a fault; so is a text whose claims, whatever they are, are
 * signed well; and any text is a join code or none.
 *
 *     byte 0    which: 0 the text itself, 1 claims to be signed by the pool, 2 claims of a link behind a good token, 3 a join code, 4 the row of one,
 *               5 an ad of a private file, 6 the sealed key of an offer, 7 what is inside one
 *     then      the bytes */
#include "live/auth/token.h"
#include "live/auth/join.h"
#include "live/auth/offer_key.h"
#include "live/auth/paseto.h"
#include "sys/encoding.h"
#include "sys/private_file.h"

#include <stdio.h>
#include <stdlib.h>

#define NOW INT64_C(1700000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Made once: the same keys each time, so that a corpus keeps its meaning. */
struct pool {
    struct signing_key root, user;
    struct token_keys keys;
    struct box_keys box;
    struct buf parent;
};

static _Noreturn void broken(const char *law)
{
    fprintf(stderr, "broken law: %s\n", law);
    abort();
}

static void pool_init(struct pool *pool)
{
    static const unsigned char one[SIGNING_SEED_BYTES] = {1}, two[SIGNING_SEED_BYTES] = {2};
    struct token_terms terms = {
        .subject = "alice", .scope = SCOPE_AD_READ | SCOPE_CLAIM, .issued = NOW, .expires = NOW + 3600};

    signing_key_from_seed(one, &pool->root);
    signing_key_from_seed(two, &pool->user);
    box_keys_from_secret(one, &pool->box);
    pool->keys.count = 1;
    pool_id_of(&pool->root.open, pool->keys.issuer);
    pool->keys.keys[0].open = pool->root.open;
    memcpy(pool->keys.keys[0].id, pool->root.id, sizeof pool->root.id);
    terms.issuer = terms.audience = pool->keys.issuer;
    terms.delegate = &pool->user.open;
    buf_init(&pool->parent);
    if (token_sign(&pool->parent, &pool->root, &terms, NULL, NULL) < 0)
        broken("good terms make a token");
}

static void check_grant(const struct pool *pool, const struct grant *grant)
{
    if (strcmp(grant->issuer, pool->keys.issuer) != 0 || strcmp(grant->audience, pool->keys.issuer) != 0 ||
        !subject_valid(grant->subject, strlen(grant->subject)) || !grant->scope ||
        (grant->scope & ~(scopes)SCOPE_ALL) || grant->expires <= NOW || grant->issued > NOW + TOKEN_SKEW ||
        grant->delegates || grant->links < 1 || grant->links > TOKEN_LINKS_MAX)
        broken("what a good token grants is within its limits");
}

static void check_text(const struct pool *pool, const char *text, size_t len)
{
    struct grant grant, seen;
    enum token_fault fault = token_verify(&pool->keys, pool->keys.issuer, text, len, NOW, &grant);

    if (fault == TOKEN_OK) {
        check_grant(pool, &grant);
        if (token_read(text, len, &seen) != TOKEN_OK || strcmp(seen.subject, grant.subject) != 0)
            broken("a good token can be looked at");
    } else if (fault >= TOKEN_FAULT_COUNT || !token_fault_words(fault)) {
        broken("a fault has a name");
    }
}

/* Claims signed as they must be, in front or behind a good token. */
static void check_claims(const struct pool *pool, const char *json, size_t len, bool behind)
{
    const struct signing_key *key = behind ? &pool->user : &pool->root;
    struct span before = {pool->parent.text, behind ? pool->parent.len : 0};
    struct buf text, footer;
    struct grant grant;

    buf_init(&text);
    buf_init(&footer);
    buf_addf(&footer, "{\"kid\":\"%s\"}", key->id);
    if (behind) {
        buf_add(&text, before.text, before.len);
        buf_addc(&text, '~');
    }
    paseto_sign(&text, key, (struct span){json, len}, (struct span){footer.text, footer.len}, before);
    check_text(pool, text.text, text.len);
    if (behind && token_verify(&pool->keys, pool->keys.issuer, text.text, text.len, NOW, &grant) == TOKEN_OK &&
        (strncmp(grant.subject, "alice", 5) != 0 || (grant.scope & ~(scopes)(SCOPE_AD_READ | SCOPE_CLAIM)) ||
         grant.expires > NOW + 3600))
        broken("a link is never wider than its parent");
    buf_done(&text);
    buf_done(&footer);
}

static void check_join_code(const char *text, size_t len)
{
    struct join_code code;
    struct err err = {0};
    struct buf again;

    if (join_code_read(text, len, &code, &err) < 0) {
        if (!err.text[0])
            broken("what is refused is told why");
        return;
    }
    buf_init(&again);
    join_code_print(&again, &code);
    if (again.len != len || memcmp(again.text, text, len) != 0)
        broken("what is read as a join code is printed as the same text");
    buf_done(&again);
}

static void check_join_row(const char *bytes, size_t len)
{
    struct join_book *book = join_book_new();
    struct join_row row;
    uint64_t number = 0;

    if (join_book_load(book, bytes, len, NULL) == 0) {
        for (int i = 0; i < 8; i++)
            number |= (uint64_t)(unsigned char)bytes[2 + i] << (8 * i);
        if (!join_book_save(book, number, &row) || memcmp(row.bytes, bytes, len) != 0)
            broken("a row that is loaded is saved as the same bytes");
        join_book_sweep(book, NOW);
    }
    join_book_free(book);
}

static void check_private_ad(const char *text, size_t len)
{
    char *a, *b, *again_a, *again_b;
    const struct private_field fields[] = {{"Token", true, &a}, {"Key", false, &b}};
    const struct private_field again[] = {{"Token", true, &again_a}, {"Key", false, &again_b}};
    struct err err = {0};
    struct buf out;

    if (private_ad_read(text, len, fields, 2, &err) < 0) {
        if (!err.text[0] || a || b)
            broken("what is refused is told why, and nothing is set");
        return;
    }
    buf_init(&out);
    private_ad_print(&out, fields, 2);
    if (private_ad_read(out.text, out.len, again, 2, &err) < 0 || strcmp(a, again_a) != 0 || !b != !again_b ||
        (b && strcmp(b, again_b) != 0))
        broken("a private ad that is read is written and read again as an equal");
    text_wipe(a);
    text_wipe(b);
    text_wipe(again_a);
    text_wipe(again_b);
    buf_wipe(&out);
}

/* The sealed key of the offer 2 of the agent 1. */
static void check_offer_key(const struct pool *pool, const char *text, size_t len)
{
    struct key key, before;
    enum offer_key_result result;

    memset(before.bytes, 0x5a, sizeof before.bytes);
    key = before;
    result = offer_key_open(&pool->box, 1, 2, text, len, &key);
    if (!*offer_key_words(result) || (result != OFFER_KEY_OK && memcmp(&key, &before, sizeof key) != 0))
        broken("what is refused is told why, and nothing is set");
    if (result == OFFER_KEY_OK && offer_key_open(&pool->box, 2, 1, text, len, &key) != OFFER_KEY_ANOTHERS)
        broken("a key is good for one agent and offer alone");
}

/* Whatever is sealed is a key only if it says so: these bytes, and those of the right length and beginning. */
static void check_offer_inside(const struct pool *pool, const char *bytes, size_t len)
{
    struct buf box, text;

    buf_init(&box);
    buf_init(&text);
    if (box_seal_unnamed(&box, &pool->box.open, bytes, len, NULL) == 0) {
        base64url_print(&text, box.text, box.len);
        check_offer_key(pool, text.text, text.len);
    }
    buf_done(&box);
    buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct pool pool;
    const char *text = (const char *)data + 1;

    if (!pool.keys.count)
        pool_init(&pool);
    if (size == 0)
        return 0;
    size--;
    switch (data[0] % 8) {
    case 0:
        check_text(&pool, text, size);
        break;
    case 1:
        check_claims(&pool, text, size, false);
        break;
    case 2:
        check_claims(&pool, text, size, true);
        break;
    case 3:
        check_join_code(text, size);
        break;
    case 4:
        check_join_row(text, size);
        break;
    case 6:
        check_offer_key(&pool, text, size);
        break;
    case 7:
        check_offer_inside(&pool, text, size);
        break;
    default:
        check_private_ad(text, size);
        break;
    }
    return 0;
}
