/* receipt.h: what a matchmaker gives both sides of a match, so that it knows its own work again.
 *
 *     receipt = [Claim; Gang; Agent; Offer; Account; Weight; Limits; Seal]    Seal = seal(key, "berth receipt", all before it)
 *
 * It says which agent may tell of which claim, to whom that is charged, and how much it counts for. The key is the matchmaker's own, drawn
 * at its first start and kept: whatever life of it made a receipt, the next one knows it. Agents keep theirs with the claim and hand it
 * back; they neither read nor change it. A stranger can make none. */
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

/* As an ad, sealed; the caller unrefs it. */
struct tree *receipt_make(const struct role_env *env, const struct key *key, const struct receipt *receipt);

/* What it says, if it was made with that key; false when it was not. NULL is none. */
bool receipt_read(const struct role_env *env, const struct key *key, const struct tree *ad, struct receipt *ret);

/* Has it the form of one for that claim, and nothing else in it? Whose it is, only the matchmaker can tell. */
bool receipt_is_for(const struct tree *ad, uint64_t claim);

#ifdef __cplusplus
}
#endif
#endif
