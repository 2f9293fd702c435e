/* audited.h: the matchmaker's audit log (live/world/audit.h): what requests have changed, or were refused; private to the live matchmaker. */
#ifndef BERTH_LIVE_MATCHMAKERD_AUDITED_H
#define BERTH_LIVE_MATCHMAKERD_AUDITED_H

#include "live/matchmakerd/matchmakerd_state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The request has changed something: its row goes on the shelf, with the change. `about` and `detail` may be NULL, and hold no secret. False, after
 * a problem was answered, when the store has failed. */
bool request_audit(struct request *request, const char *what, const char *about, const char *detail);
/* The same for a request whose caller is somebody by what it has shown, not by a token: one that joins. */
bool request_audit_as(struct request *request, const char *by, const char *what, const char *about, const char *detail);
/* For the front: a request that would have changed something was refused. */
void request_audit_refusal(struct request *request, unsigned status, const char *why);
void audit_sweep(struct matchmakerd *matchmakerd); /* what was counted becomes durable; what had to go is logged */

#ifdef __cplusplus
}
#endif
#endif
