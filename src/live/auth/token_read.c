/* token_read.c: reading tokens: link after link, each trusted because the one before it is.
 *
 *     split at "~" -> layout -> whose key -> signature -> claims -> issuer -> no wider -> next link
 *     then, once: names no key, audience, time
 *
 * Nothing of a link is read before its signature is found good, but where its parts begin and the id of its key. */
#include "live/auth/token.h"

#include "live/auth/paseto.h"
#include "live/auth/token_parts.h"
#include "sys/encoding.h"

#include <sodium.h>

/* What the links read so far come to. */
struct chain {
    const struct token_keys *keys; /* NULL: the first signature is not looked at */
    struct buf bytes;              /* scratch */
    struct span whole;
    struct link last;
    struct grant grant;
};

/* Reads the id of the key from the footer, which must be exactly what we write: it is read before its signature is checked, so no reader of JSON
 * comes near it. */
static bool footer_read(struct span footer, char ret_id[TOKEN_ID_DIGITS + 1])
{
    const size_t open = sizeof TOKEN_FOOTER_OPEN - 1, close = sizeof TOKEN_FOOTER_CLOSE - 1;

    if (footer.len != TOKEN_FOOTER_BYTES || memcmp(footer.text, TOKEN_FOOTER_OPEN, open) != 0 ||
        memcmp(footer.text + open + TOKEN_ID_DIGITS, TOKEN_FOOTER_CLOSE, close) != 0 ||
        !token_id_valid(footer.text + open, TOKEN_ID_DIGITS))
        return false;
    memcpy(ret_id, footer.text + open, TOKEN_ID_DIGITS);
    ret_id[TOKEN_ID_DIGITS] = '\0';
    return true;
}

static const struct public_key *keys_find(const struct token_keys *keys, const char *id)
{
    for (uint32_t i = 0; i < keys->count && i < TOKEN_KEYS_MAX; i++)
        if (strcmp(keys->keys[i].id, id) == 0)
            return &keys->keys[i].open;
    return NULL;
}

/* Was the next link signed by the one who may? */
static enum token_fault signature_check(const struct chain *chain, const struct paseto *paseto, const char *key_id,
                                        struct span before)
{
    const struct public_key *key;

    if (chain->grant.links) {
        char id[TOKEN_ID_DIGITS + 1];

        key = &chain->last.delegate;
        public_key_id(key, id);
        if (strcmp(id, key_id) != 0)
            return TOKEN_UNKNOWN_KEY;
    } else if (!chain->keys) {
        return TOKEN_OK;
    } else if (!(key = keys_find(chain->keys, key_id))) {
        return TOKEN_UNKNOWN_KEY;
    }
    return paseto_verify(paseto, key, before) ? TOKEN_OK : TOKEN_SIGNATURE;
}

static void chain_add(struct chain *chain, const struct link *link, const char *key_id)
{
    struct grant *grant = &chain->grant;

    if (!grant->links) {
        memcpy(grant->key, key_id, sizeof grant->key);
        memcpy(grant->root, link->subject, sizeof grant->root);
    }
    memcpy(grant->ids[grant->links], link->id, sizeof link->id);
    grant->links++;
    chain->last = *link;
}

static enum token_fault chain_link(struct chain *chain, struct span text)
{
    struct span before = {chain->whole.text, 0};
    char key_id[TOKEN_ID_DIGITS + 1];
    enum token_fault fault;
    struct paseto paseto;
    struct link link;
    const char *issuer;

    if (chain->grant.links) {
        if (!chain->last.delegates || chain->grant.links == TOKEN_LINKS_MAX)
            return TOKEN_CHAIN;
        before.len = (size_t)(text.text - chain->whole.text) - 1;
    }
    if ((fault = paseto_read(text, &chain->bytes, &paseto)))
        return fault;
    if (!footer_read(paseto.footer, key_id))
        return TOKEN_CLAIMS;
    if ((fault = signature_check(chain, &paseto, key_id, before)))
        return fault;
    if (!link_read(paseto.message.text, paseto.message.len, &link))
        return TOKEN_CLAIMS;
    issuer = chain->grant.links ? chain->last.issuer : chain->keys ? chain->keys->issuer : link.issuer;
    if (strcmp(link.issuer, issuer) != 0)
        return TOKEN_ISSUER;
    if (chain->grant.links && !link_narrower(&link, &chain->last))
        return TOKEN_WIDER;
    chain_add(chain, &link, key_id);
    return TOKEN_OK;
}

/* Reads all links; the grant is complete when it returns TOKEN_OK. */
static enum token_fault chain_read(struct chain *chain, const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    enum token_fault fault = TOKEN_OK;

    if (len > TOKEN_BYTES_MAX)
        return TOKEN_TOO_LONG;
    if (len == 0)
        return TOKEN_MALFORMED;
    chain->whole = (struct span){text, len};
    buf_init(&chain->bytes);
    for (;;) {
        const char *joint = memchr(at, TOKEN_JOINT, (size_t)(end - at));

        fault = chain_link(chain, (struct span){at, (size_t)((joint ? joint : end) - at)});
        if (fault || !joint)
            break;
        at = joint + 1;
    }
    buf_done(&chain->bytes);
    if (fault)
        return fault;
    memcpy(chain->grant.issuer, chain->last.issuer, sizeof chain->grant.issuer);
    memcpy(chain->grant.subject, chain->last.subject, sizeof chain->grant.subject);
    memcpy(chain->grant.audience, chain->last.audience, sizeof chain->grant.audience);
    chain->grant.scope = chain->last.scope;
    chain->grant.issued = chain->last.issued;
    chain->grant.expires = chain->last.expires;
    chain->grant.delegates = chain->last.delegates;
    chain->grant.delegate = chain->last.delegate;
    return TOKEN_OK;
}

enum token_fault link_last(const char *text, size_t len, struct link *ret_link, uint32_t *ret_links)
{
    struct chain chain = {0};
    enum token_fault fault = chain_read(&chain, text, len);

    if (fault)
        return fault;
    *ret_link = chain.last;
    *ret_links = chain.grant.links;
    return TOKEN_OK;
}

enum token_fault token_read(const char *text, size_t len, struct grant *ret)
{
    struct chain chain = {0};
    enum token_fault fault = chain_read(&chain, text, len);

    if (!fault)
        *ret = chain.grant;
    return fault;
}

/* Checks audience and time. A link's times lie within those of the link before it, so the last one's speak for all. */
enum token_fault grant_check(const struct grant *grant, const char *audience, int64_t now)
{
    if (strcmp(grant->audience, audience) != 0)
        return TOKEN_AUDIENCE;
    if (now >= grant->expires)
        return TOKEN_EXPIRED;
    return grant->issued - TOKEN_SKEW > now ? TOKEN_NOT_YET : TOKEN_OK;
}

enum token_fault token_verify(const struct token_keys *keys, const char *audience, const char *text, size_t len,
                              int64_t now, struct grant *ret)
{
    struct chain chain = {.keys = keys};
    enum token_fault fault = chain_read(&chain, text, len);

    if (!fault && chain.grant.delegates)
        fault = TOKEN_BARE;
    if (!fault)
        fault = grant_check(&chain.grant, audience, now);
    if (!fault)
        *ret = chain.grant;
    return fault;
}
