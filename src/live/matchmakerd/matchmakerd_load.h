/* matchmakerd_load.h: the matchmaker's state, front, policy and shares at its start, and where it listens; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_MATCHMAKERD_LOAD_H
#define BERTH_LIVE_MATCHMAKERD_MATCHMAKERD_LOAD_H

#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

void matchmakerd_front(struct matchmakerd *matchmakerd); /* makes the front and its gate */

int matchmakerd_load(struct matchmakerd *matchmakerd, struct err *err); /* loads the state from the shelf */
/* Reads the policy in a file. -1 when the file cannot be read, or is not a policy. */
int policy_file(struct matchmakerd *matchmakerd, const char *path, struct tree **ret, struct err *err);

/* Do other matchmakers have the rows, too? Puts the keys among them, sealed; the commit is the caller's. */
bool keys_are_shared(const struct matchmakerd *matchmakerd);
int keys_share(struct matchmakerd *matchmakerd, struct err *err);

int disabled_load(struct matchmakerd *matchmakerd, struct err *err); /* api_users.c */

/* Groups and limits (api_shares.c): at the start, and when the configuration was read again. */
int shares_load(struct matchmakerd *matchmakerd, struct err *err);
void shares_reload(struct matchmakerd *matchmakerd, bool changed);

/* Appends a line about what holds the request of that id back, if anything does. */
void shares_explain(const struct matchmakerd *matchmakerd, const char *id, struct buf *out);
/* The same as a JSON object; false, with nothing appended, when nothing holds the request back. */
bool shares_explain_json(const struct matchmakerd *matchmakerd, const char *id, struct buf *out);

struct tree *policy_body(struct request *request); /* the policy in the body; NULL after a problem was answered */

int matchmakerd_listen(struct matchmakerd *matchmakerd,
                       struct err *err); /* listens on every address, and sets the URL for others */

#ifdef __cplusplus
}
#endif
#endif
