/* recovery.h: a customer whose store was restored from a backup, or repaired: what happened since, its rows do not know. Before any job of it may
 * run, it asks its pool which have ended, and waits until claims of before are over.
 *
 *     start -> the pool's keys -> GET /v1/ends, page by page -> two leases are over -> jobs that have ended do so here -> an ordinary start
 *
 * Until then the role has not begun: requests are answered with 503, messages with nothing, and what still runs under claims that the rows may not
 * know ends with its lease. Numbers go on at another million, so that none is given twice. */
#ifndef BERTH_LIVE_CUSTOMERD_RECOVERY_H
#define BERTH_LIVE_CUSTOMERD_RECOVERY_H

#include "lang/base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

struct customerd;
struct recovery;

/* NULL in `*ret`: an ordinary start. */
int recovery_new(struct customerd *customerd, struct recovery **ret, struct err *err);
void recovery_free(struct recovery *recovery); /* the agent is freed before */

/* Goes on with it; called often. True: it is over, the role knows of all that is known, and may begin. */
bool recovery_tick(struct recovery *recovery);
/* The same in words, for those who ask meanwhile. Lent until the next call. */
const char *recovery_words(struct recovery *recovery);
/* The role has begun: says what was found, and what runs again. */
void recovery_tell(struct recovery *recovery);

#ifdef __cplusplus
}
#endif
#endif
