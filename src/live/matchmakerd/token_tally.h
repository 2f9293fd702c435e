/* token_tally.h: how many tokens that are on record each account has had made without an administrator: lent to its users, renewed, exchanged.
 *
 *     account -> how many rows of TOKEN_SPACE have it in By, and say How; rows go when the token has ended */
#ifndef BERTH_LIVE_MATCHMAKERD_TOKEN_TALLY_H
#define BERTH_LIVE_MATCHMAKERD_TOKEN_TALLY_H

#include "lang/base/textmap.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct token_tally {
    struct textmap accounts;
    uint64_t *counts; /* by the place of the account */
    uint32_t room;
};

void token_tally_init(struct token_tally *tally, uint64_t seed);
void token_tally_done(struct token_tally *tally);

/* Counts a row, or one that goes; NULL, or what an administrator has made, counts for nobody. */
void token_tally_add(struct token_tally *tally, const struct tree *row);
void token_tally_remove(struct token_tally *tally, const struct tree *row);
uint64_t token_tally_of(const struct token_tally *tally, const char *account);

#ifdef __cplusplus
}
#endif
#endif
