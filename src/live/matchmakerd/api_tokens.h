/* api_tokens.h: tokens that are signed, and codes by which machines join; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_API_TOKENS_H
#define BERTH_LIVE_MATCHMAKERD_API_TOKENS_H

#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Signs a token, records it, and answers with it when that is durable. */
void token_give(struct request *request, unsigned status, const struct token_terms *terms);
void tokens_sweep(struct matchmakerd *matchmakerd); /* removes the records of tokens that have expired */

/* Appends a code with which a machine joins; its row is on the shelf and needs a commit. */
int matchmakerd_join_code(struct matchmakerd *matchmakerd, const char *code_for, struct buf *out, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
