/* request_role.h: a request asks the role, and is answered when rows are durable; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_REQUEST_ROLE_H
#define BERTH_LIVE_MATCHMAKERD_REQUEST_ROLE_H

#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Passes each message in the body to `take`, one after another, which adds its answer to the listing; then answers.
 * `take` returns false when the store has failed, after it has answered that. */
typedef bool message_fn(struct request *request, void *user, struct tree *ad, struct listing *answers);
void request_messages(struct request *request, message_fn *take, void *user);
/* Adds the answer to a message of that kind that the role was not asked about, with words. `id` is the ad's, NULL:
 * none. */
void message_refuse(struct request *request, struct listing *answers, enum message_kind kind, const char *id,
                    enum reason reason, const char *words);

/* Passes a message to the role; its answer is matchmakerd->reply: WAIT, where the role's own stands behind a row that is not on disk yet. False, after
 * a problem was answered, when there was none. */
bool request_ask(struct request *request, const struct peer *peer, const struct message *message);

/* Rows were put on the shelf: `then` is called when they are durable, to answer, unless the request has gone. */
void request_commit(struct request *request, void (*then)(struct request *request));

/* Answers with the ad that was put into the request; 204 without one. */
void request_answer_kept(struct request *request);

/* The same as request_commit, with an ad for the answer, which is taken; NULL: 204. */
void request_answer_durable(struct request *request, unsigned status, struct tree *ad);

/* Puts a row on the shelf; false, after a problem was answered, when that failed. */
bool request_row_put(struct request *request, const char *space, const void *key, size_t key_len, const void *value,
                     size_t len);
/* A row could not be put on the shelf: answers so, and the matchmaker ends. */
void request_store_failed(struct request *request, const char *why);

void request_message(struct request *request, unsigned status, const struct message *message,
                     const struct http_field *fields, size_t field_count);
unsigned reason_status(enum reason reason); /* the HTTP status of a role's reason */

#ifdef __cplusplus
}
#endif
#endif
