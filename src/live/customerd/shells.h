/* shells.h: commands in the sandboxes of running jobs (`berth exec`), on the side of the customer; private to the live customer. */
#ifndef BERTH_LIVE_CUSTOMERD_SHELLS_H
#define BERTH_LIVE_CUSTOMERD_SHELLS_H

#include "live/customerd/customerd_parts.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUSTOMER_SHELLS_JOB 8           /* of a job */
#define CUSTOMER_SHELLS_USER 64         /* of an identity */
#define CUSTOMER_SHELLS_MAX 1000        /* of all */
#define CUSTOMER_SHELLS_BESIDE_USER 500 /* begun by processes of one user's parallel jobs ... */
#define CUSTOMER_SHELLS_BESIDE 900      /* ... and of all: users find some left */

/* The answer to a provider's Ask="shell" (live/world/shell_order.h), which the caller unrefs; NULL: refused. */
struct tree *customer_shells_asked(struct customerd *customerd, const struct peer *peer, const struct tree *question);
/* The answer to Ask="beside" of a member of the job's gang; the caller unrefs it; NULL: refused. `user` is the customer. */
struct tree *customer_shells_beside(void *user, const struct job_view *view, agent who, const struct tree *question);
void customer_shells_tick(struct customerd *customerd); /* called often */
void customer_shells_done(struct customerd *customerd);

void api_shell_open(struct request *request);
void api_shell_get(struct request *request);
void api_shell_put(struct request *request);
void api_shells(struct request *request);

#ifdef __cplusplus
}
#endif
#endif
