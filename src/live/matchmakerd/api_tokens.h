/* api_tokens.h: tokens that are signed, and codes by which machines join; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_API_TOKENS_H
#define BERTH_LIVE_MATCHMAKERD_API_TOKENS_H

#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Signs a token, records it, and answers with it when that is durable. `what`: what the audit calls it. */
void token_give(struct request *request, unsigned status, const struct token_terms *terms, const char *what);
/* May the caller have one more token made, for itself or a user of its own? False after a problem was answered. */
bool token_room(struct request *request);
int tokens_load(struct matchmakerd *matchmakerd, struct err *err); /* counts those that are on record */
/* May the caller give those scopes to others? Who has `admin` may give all, and an operator what its own token has. False after a problem was
 * answered. */
bool scopes_are_own(struct request *request, scopes scope);
/* Can a person have that name in the pool? Not that of a machine, or of the matchmaker. */
bool person_valid(const char *name);
/* Makes a link to the page (api_session.c) that is good once, for that many seconds; what else is in it is filled in by the caller. */
struct page_link *page_link_make(struct matchmakerd *matchmakerd, const char *subject, scopes scope, int64_t span);
void tokens_sweep(struct matchmakerd *matchmakerd); /* removes the records of tokens that have expired */

/* Whom a code is for: NULL: a machine. */
struct code_purpose {
    const char *space; /* CODE_FOR_SPACE: the customer of a user; CODE_USER_SPACE: that user */
    const char *whom;
};

/* Appends a code with which a machine joins, or a user logs in; its rows are on the shelf and need a commit. */
int matchmakerd_join_code(struct matchmakerd *matchmakerd, const struct code_purpose *purpose, struct buf *out,
                          struct err *err);

#ifdef __cplusplus
}
#endif
#endif
