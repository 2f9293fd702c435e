/* offer_key.h: the key of an offer, sealed to the matchmaker: nobody on the way reads it, and nobody else can send it as theirs.
 *
 *     inside    "berth offer key", NUL | agent | offer | key              16 + 8 + 8 + 32 bytes; words with the lowest byte first
 *     sealed    BASE64URL(crypto_box_seal(inside, the matchmaker's BoxKey))
 *
 * `agent` is the handle of the agent that advertises, `offer` the number of the ad's id. A seal has no writer: the request that it comes
 * with says who sends it, and it must be the agent that is named inside. */
#ifndef BERTH_LIVE_AUTH_OFFER_KEY_H
#define BERTH_LIVE_AUTH_OFFER_KEY_H

#include "live/auth/box.h"
#include "pool/protocol/fields.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OFFER_KEY_TEXT 150 /* characters of a sealed key */

/* Appends the sealed text. -1 when the matchmaker's key is not a key. */
int offer_key_seal(struct buf *out, const struct box_public *matchmaker, agent who, uint64_t offer,
                   const struct key *key, struct err *err);

enum offer_key_result {
    OFFER_KEY_OK,
    OFFER_KEY_CLOSED,  /* it is no sealed key, or not one to us */
    OFFER_KEY_ANOTHERS /* it was sealed for another agent or offer */
};

enum offer_key_result offer_key_open(const struct box_keys *mine, agent who, uint64_t offer, const char *text,
                                     size_t len, struct key *ret);
const char *offer_key_words(enum offer_key_result result); /* static */

#ifdef __cplusplus
}
#endif
#endif
