/* ticket.c: tickets, proofs and nonces: named purposes and fixed encodings, sealed. */
#include "pool/protocol/ticket.h"

#include "lang/base/buf.h"

#include <string.h>

#define PURPOSE_BYTES 16

/* The names are padded with NULs, so that none is the beginning of another. */
static const char purpose_ticket[PURPOSE_BYTES] = "berth ticket", purpose_nonce[PURPOSE_BYTES] = "berth nonce",
                  purpose_provider[PURPOSE_BYTES] = "berth provider",
                  purpose_customer[PURPOSE_BYTES] = "berth customer", purpose_pool[PURPOSE_BYTES] = "berth pool";

static char *put_word(char *at, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        *at++ = (char)(unsigned char)(word >> (8 * i));
    return at;
}

static char *put_bytes(char *at, const void *bytes, size_t len)
{
    memcpy(at, bytes, len);
    return at + len;
}

void ticket_make(const struct secrets *secrets, const struct key *offer_key, uint64_t offer, uint64_t claim,
                 uint64_t gang, const char *owner, struct key *ret_ticket)
{
    ticket_make_below(secrets, offer_key, offer, claim, gang, owner, "", ret_ticket);
}

void ticket_make_below(const struct secrets *secrets, const struct key *offer_key, uint64_t offer, uint64_t claim,
                       uint64_t gang, const char *owner, const char *root_owner, struct key *ret_ticket)
{
    char head[PURPOSE_BYTES + 4 * 8], *at = put_bytes(head, purpose_ticket, PURPOSE_BYTES);
    size_t len = strlen(owner);
    struct buf data;

    at = put_word(at, offer);
    at = put_word(at, claim);
    at = put_word(at, gang);
    put_word(at, len);
    buf_init(&data);
    buf_add(&data, head, sizeof head);
    buf_add(&data, owner, len);
    if (*root_owner) {
        put_word(head, strlen(root_owner));
        buf_add(&data, head, 8);
        buf_adds(&data, root_owner);
    }
    secrets->seal(secrets->user, offer_key, data.text, data.len, ret_ticket);
    buf_done(&data);
}

void ticket_proof(const struct secrets *secrets, const struct key *ticket, bool from_customer,
                  const struct key *nonce_provider, const struct key *nonce_customer, uint64_t channel,
                  struct key *ret_proof)
{
    char data[PURPOSE_BYTES + 2 * KEY_BYTES + 8], *at;

    at = put_bytes(data, from_customer ? purpose_customer : purpose_provider, PURPOSE_BYTES);
    at = put_bytes(at, nonce_provider->bytes, KEY_BYTES);
    at = put_bytes(at, nonce_customer->bytes, KEY_BYTES);
    put_word(at, channel);
    secrets->seal(secrets->user, ticket, data, sizeof data, ret_proof);
}

void ticket_nonce(const struct secrets *secrets, const struct key *offer_key, uint64_t claim, uint64_t peer,
                  uint64_t channel, uint64_t slot, struct key *ret_nonce)
{
    char data[PURPOSE_BYTES + 4 * 8], *at = put_bytes(data, purpose_nonce, PURPOSE_BYTES);

    at = put_word(at, claim);
    at = put_word(at, peer);
    at = put_word(at, channel);
    put_word(at, slot);
    secrets->seal(secrets->user, offer_key, data, sizeof data, ret_nonce);
}

void ticket_pool_key(const struct secrets *secrets, const struct key *offer_key, uint64_t pool, struct key *ret_key)
{
    char data[PURPOSE_BYTES + 8];

    put_word(put_bytes(data, purpose_pool, PURPOSE_BYTES), pool);
    secrets->seal(secrets->user, offer_key, data, sizeof data, ret_key);
}

bool key_equal(const struct key *a, const struct key *b)
{
    volatile unsigned char differs = 0; /* volatile: the loop looks at all bytes, whatever the first ones are */

    for (int i = 0; i < KEY_BYTES; i++)
        differs = (unsigned char)(differs | (a->bytes[i] ^ b->bytes[i]));
    return differs == 0;
}
