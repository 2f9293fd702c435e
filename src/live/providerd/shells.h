/* shells.h: commands that the owner of a job has begun in its sandbox while it runs; private to the live provider. */
#ifndef BERTH_LIVE_PROVIDERD_SHELLS_H
#define BERTH_LIVE_PROVIDERD_SHELLS_H

#include "live/providerd/providerd_parts.h"

/* The answer to Ask="shell" (live/world/shell_order.h), which the caller unrefs; NULL: refused. `task`: the job of that customer; or NULL. */
struct tree *provider_shells_asked(struct providerd *providerd, struct task *task, const struct peer *peer,
                          const struct tree *question);
void provider_shells_tick(struct providerd *providerd);
void provider_shells_done(struct providerd *providerd); /* they end; before the agent goes, and the loop runs once more */

#endif
