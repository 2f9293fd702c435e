/* token_tally.h: what is asked often of the tokens that are on record, without reading them all.
 *
 *     account -> how many rows of TOKEN_SPACE have it in By, and say How: made without an administrator, lent to its users, renewed, exchanged
 *     code    -> the tokens that it has bought: the rows that say Code
 *
 * Rows go when the token has ended. */
#ifndef BERTH_LIVE_MATCHMAKERD_TOKEN_TALLY_H
#define BERTH_LIVE_MATCHMAKERD_TOKEN_TALLY_H

#include "lang/base/textmap.h"
#include "lang/text/tree.h"
#include "live/auth/token.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TOKEN_CODE_MAX 23 /* bytes of the number of a code */

/* A token that a code has bought. */
struct token_bought {
    char code[TOKEN_CODE_MAX + 1];
    char id[TOKEN_ID_DIGITS + 1];
};

struct token_tally {
    struct textmap accounts;
    uint64_t *counts; /* by the place of the account */
    uint32_t room;
    struct token_bought *bought;
    uint32_t bought_count, bought_room;
};

void token_tally_init(struct token_tally *tally, uint64_t seed);
void token_tally_done(struct token_tally *tally);

/* Counts the row of a token, or one that goes; NULL, or what an administrator has made, counts for nobody. */
void token_tally_add(struct token_tally *tally, const char id[TOKEN_ID_DIGITS], const struct tree *row);
void token_tally_remove(struct token_tally *tally, const char id[TOKEN_ID_DIGITS], const struct tree *row);
uint64_t token_tally_of(const struct token_tally *tally, const char *account);
/* The next token from `*at` on, which begins with 0 and is moved on, that the code has bought; NULL: there are no more. */
const char *token_tally_bought(const struct token_tally *tally, const char *code, uint32_t *at);

#ifdef __cplusplus
}
#endif
#endif
