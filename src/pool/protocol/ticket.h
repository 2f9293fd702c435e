/* ticket.h: the secret that a match gives a customer, and how both sides prove that they have it without sending it.
 *
 *     ticket = seal(offer's key, "ticket", offer, claim, gang, owner)   by the matchmaker, and again by the provider
 *              below a service also the root's owner: so nobody can have somebody else charged
 *     proof  = seal(ticket, "provider" or "customer", both nonces, channel)
 *     nonce  = seal(offer's key, "nonce", claim, peer, channel, slot)   the provider's: it need not remember any
 *     key of an offer for one of several pools = seal(offer's key, "pool", pool): the key that one pool has makes no tickets for another
 *
 * The ticket never travels to the provider, and a proof made on one channel proves nothing on another. Each string that is
 * sealed begins with the name of its purpose; numbers are eight bytes, the lowest first. */
#ifndef BERTH_POOL_PROTOCOL_TICKET_H
#define BERTH_POOL_PROTOCOL_TICKET_H

#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

void ticket_make(const struct secrets *secrets, const struct key *offer_key, uint64_t offer, uint64_t claim,
                 uint64_t gang, const char *owner, struct key *ret_ticket);

/* The same for a superior that is not the root; with an empty root owner it is the root. */
void ticket_make_below(const struct secrets *secrets, const struct key *offer_key, uint64_t offer, uint64_t claim,
                       uint64_t gang, const char *owner, const char *root_owner, struct key *ret_ticket);

void ticket_proof(const struct secrets *secrets, const struct key *ticket, bool from_customer,
                  const struct key *nonce_provider, const struct key *nonce_customer, uint64_t channel,
                  struct key *ret_proof);

/* A provider's nonce: `slot` is a number that changes as often as nonces shall expire. */
void ticket_nonce(const struct secrets *secrets, const struct key *offer_key, uint64_t claim, uint64_t peer,
                  uint64_t channel, uint64_t slot, struct key *ret_nonce);

void ticket_pool_key(const struct secrets *secrets, const struct key *offer_key, uint64_t pool, struct key *ret_key);

bool key_equal(const struct key *a, const struct key *b); /* in constant time */

#ifdef __cplusplus
}
#endif
#endif
