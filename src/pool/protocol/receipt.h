/* receipt.h: what a matchmaker gives both sides of a match, so that it knows its own work again.
 *
 *     receipt = [Claim; Gang; Agent; Offer; Account; Weight; Limits; Seal]    Seal = seal(key, "berth receipt", all before it)
 *
 * A receipt says which agent may report on which claim, whom the claim is charged to, and how much it counts for. The key is the
 * matchmaker's own, drawn at its first start and kept: so the matchmaker knows a receipt that an earlier life of it made. Agents keep
 * theirs with the claim and hand it back; they neither read nor change it. Nobody else can make one. */
#ifndef BERTH_POOL_PROTOCOL_RECEIPT_H
#define BERTH_POOL_PROTOCOL_RECEIPT_H

#include "pool/protocol/role.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RECEIPT_FIELDS(F, S) \
    F(S, WORD, claim)        \
    F(S, WORD, gang)         \
    F(S, WORD, agent)        \
    F(S, WORD, offer)        \
    F(S, TEXT, account)      \
    F(S, NUMBER, weight)     \
    F(S, QUIET_TEXT, limits) \
    F(S, KEY, seal)

struct receipt {
    RECEIPT_FIELDS(FIELD_MEMBER, receipt)
};

/* The receipt as an ad, sealed; the caller unrefs it. */
struct tree *receipt_make(const struct role_env *env, const struct key *key, const struct receipt *receipt);

/* Reads the receipt; false when it was not made with that key, or `ad` is NULL. */
bool receipt_read(const struct role_env *env, const struct key *key, const struct tree *ad, struct receipt *ret);

/* Does the ad have the form of a receipt for that claim, with nothing else in it? Only the matchmaker can tell whether
 * it is genuine. */
bool receipt_is_for(const struct tree *ad, uint64_t claim);

#ifdef __cplusplus
}
#endif
#endif
