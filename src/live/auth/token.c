/* token.c: making tokens: keys, terms, and links behind others. */
#include "live/auth/token.h"

#include "live/auth/paseto.h"
#include "live/auth/token_parts.h"
#include "sys/encoding.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const fault_words[TOKEN_FAULT_COUNT] = {
#define X(id, words) [TOKEN_##id] = (words),
    TOKEN_FAULTS(X)
#undef X
};

static const char *const fault_names[TOKEN_FAULT_COUNT] = {
#define X(id, words) [TOKEN_##id] = #id,
    TOKEN_FAULTS(X)
#undef X
};

const char *token_fault_words(enum token_fault fault)
{
    return fault_words[fault];
}

const char *token_fault_name(enum token_fault fault)
{
    return fault_names[fault];
}

/* ---- keys ---- */

_Static_assert(sizeof((struct signing_key *)0)->secret == crypto_sign_SECRETKEYBYTES, "Ed25519");
_Static_assert(SIGNING_SEED_BYTES == crypto_sign_SEEDBYTES && PUBLIC_KEY_BYTES == crypto_sign_PUBLICKEYBYTES,
               "Ed25519");
_Static_assert(PASETO_SIGNATURE_BYTES == crypto_sign_BYTES, "Ed25519");

void public_key_id(const struct public_key *key, char ret_id[TOKEN_ID_DIGITS + 1])
{
    unsigned char hash[TOKEN_ID_DIGITS / 2];

    crypto_generichash(hash, sizeof hash, key->bytes, sizeof key->bytes, NULL, 0);
    hex_print(hash, sizeof hash, ret_id);
}

void pool_id_of(const struct public_key *first, char ret_id[TOKEN_ID_DIGITS + 1])
{
    unsigned char hash[crypto_generichash_BYTES_MAX];

    crypto_generichash(hash, sizeof hash, first->bytes, sizeof first->bytes, NULL, 0);
    hex_print(hash, TOKEN_ID_DIGITS / 2, ret_id);
}

void signing_key_from_seed(const unsigned char seed[SIGNING_SEED_BYTES], struct signing_key *ret)
{
    crypto_sign_seed_keypair(ret->open.bytes, ret->secret, seed);
    public_key_id(&ret->open, ret->id);
}

void signing_key_draw(struct signing_key *ret)
{
    if (sodium_init() < 0)
        abort();
    crypto_sign_keypair(ret->open.bytes, ret->secret);
    public_key_id(&ret->open, ret->id);
}

void signing_key_done(struct signing_key *key)
{
    if (key)
        sodium_memzero(key, sizeof *key);
}

/* ---- making ---- */

void token_agent_audience(const char *pool, uint64_t agent, char ret_audience[TOKEN_NAME_MAX + 1])
{
    snprintf(ret_audience, TOKEN_NAME_MAX + 1, "%.*s/%016" PRIx64, TOKEN_ID_DIGITS, pool, agent);
}

static bool set_text(char *to, size_t max, const char *text)
{
    size_t len = text ? strlen(text) : 0;

    if (len == 0 || len > max)
        return false;
    memcpy(to, text, len + 1);
    return true;
}

static int link_set(struct link *link, const struct token_terms *terms, struct err *err)
{
    const char *why;

    *link = (struct link){.scope = terms->scope, .issued = terms->issued, .expires = terms->expires};
    if (!set_text(link->issuer, TOKEN_ID_DIGITS, terms->issuer))
        return err_set(err, "the issuer is not a pool's id");
    if (!set_text(link->subject, TOKEN_NAME_MAX, terms->subject))
        return err_set(err, "a subject has from 1 to %d bytes", TOKEN_NAME_MAX);
    if (!set_text(link->audience, TOKEN_NAME_MAX, terms->audience))
        return err_set(err, "an audience has from 1 to %d bytes", TOKEN_NAME_MAX);
    if (terms->delegate) {
        link->delegates = true;
        link->delegate = *terms->delegate;
    }
    return link_valid(link, &why) ? 0 : err_set(err, "%s", why);
}

/* Prints the claims of a link as JSON. Nothing in them needs an escape: link_valid has seen to that. */
static void link_print(struct buf *out, const struct link *link)
{
    buf_addf(out, "{\"iss\":\"%s\",\"sub\":\"%s\",\"aud\":\"%s\",\"scope\":\"", link->issuer, link->subject,
             link->audience);
    scopes_print(out, link->scope);
    buf_addf(out, "\",\"iat\":%" PRId64 ",\"exp\":%" PRId64 ",\"jti\":\"%s\"", link->issued, link->expires, link->id);
    if (link->delegates) {
        char digits[2 * PUBLIC_KEY_BYTES + 1];

        hex_print(link->delegate.bytes, PUBLIC_KEY_BYTES, digits);
        buf_addf(out, ",\"dlg\":\"%s\"", digits);
    }
    buf_addc(out, '}');
}

/* Draws the link's id and appends the link, signed for what stands before it. */
static void link_sign(struct buf *out, const struct signing_key *key, struct link *link, struct span before)
{
    unsigned char id[TOKEN_ID_DIGITS / 2];
    struct buf message, footer;

    if (sodium_init() < 0)
        abort();
    randombytes_buf(id, sizeof id);
    hex_print(id, sizeof id, link->id);
    buf_init(&message);
    buf_init(&footer);
    link_print(&message, link);
    buf_addf(&footer, TOKEN_FOOTER_OPEN "%s" TOKEN_FOOTER_CLOSE, key->id);
    paseto_sign(out, key, (struct span){message.text, message.len}, (struct span){footer.text, footer.len}, before);
    buf_done(&message);
    buf_done(&footer);
}

static void give_id(const struct link *link, char *ret_id)
{
    if (ret_id)
        memcpy(ret_id, link->id, sizeof link->id);
}

int token_sign(struct buf *out, const struct signing_key *key, const struct token_terms *terms,
               char ret_id[TOKEN_ID_DIGITS + 1], struct err *err)
{
    struct link link;

    if (link_set(&link, terms, err) < 0)
        return -1;
    link_sign(out, key, &link, (struct span){NULL, 0});
    give_id(&link, ret_id);
    return 0;
}

/* The terms of a link, in which what was left out is as in the parent. */
static struct token_terms terms_under(const struct token_terms *terms, const struct link *parent)
{
    struct token_terms full = *terms;

    full.issuer = full.issuer ? full.issuer : parent->issuer;
    full.subject = full.subject ? full.subject : parent->subject;
    full.audience = full.audience ? full.audience : parent->audience;
    full.scope = full.scope ? full.scope : parent->scope;
    full.expires = full.expires ? full.expires : parent->expires;
    full.issued = full.issued < parent->issued ? parent->issued : full.issued;
    return full;
}

/* What a link grants beyond its parent, in words for the one who asked for it. */
static const char *what_is_wider(const struct link *link, const struct link *parent)
{
    struct link probe = *parent;

    if (strcmp(link->issuer, parent->issuer) != 0)
        return "it would be of another pool";
    memcpy(probe.subject, link->subject, sizeof probe.subject);
    if (!link_narrower(&probe, parent))
        return "its subject must be the parent's, or that and more behind a '/'";
    memcpy(probe.audience, link->audience, sizeof probe.audience);
    if (!link_narrower(&probe, parent))
        return "its audience must be the parent's, or that and more behind a '/'";
    probe.scope = link->scope;
    if (!link_narrower(&probe, parent))
        return "it would have a scope that the parent does not have";
    return link_narrower(link, parent) ? NULL : "it would last longer than the parent";
}

int token_delegate(struct buf *out, const char *parent, size_t len, const struct signing_key *key,
                   const struct token_terms *narrower, char ret_id[TOKEN_ID_DIGITS + 1], struct err *err)
{
    struct token_terms terms;
    struct link link, above;
    const char *wider;
    uint32_t links;
    enum token_fault fault = link_last(parent, len, &above, &links);
    size_t start = out->len;

    if (fault)
        return err_set(err, "the parent cannot be read: %s", token_fault_words(fault));
    if (!above.delegates)
        return err_set(err, "the parent names no key, so it cannot be delegated");
    if (sodium_memcmp(above.delegate.bytes, key->open.bytes, PUBLIC_KEY_BYTES) != 0)
        return err_set(err, "the key is not the one that the parent names");
    if (links == TOKEN_LINKS_MAX)
        return err_set(err, "the parent has %d links already, and more are not allowed", TOKEN_LINKS_MAX);
    terms = terms_under(narrower, &above);
    if (link_set(&link, &terms, err) < 0)
        return -1;
    if ((wider = what_is_wider(&link, &above)))
        return err_set(err, "a delegated token cannot be wider: %s", wider);
    buf_add(out, parent, len);
    buf_addc(out, TOKEN_JOINT);
    link_sign(out, key, &link, (struct span){parent, len});
    if (out->len - start > TOKEN_BYTES_MAX) {
        out->len = start;
        return err_set(err, "the token would be longer than %d bytes", TOKEN_BYTES_MAX);
    }
    give_id(&link, ret_id);
    return 0;
}
