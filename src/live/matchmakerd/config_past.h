/* config_past.h: what the sections of the pool's configuration were: a revision for each change, the last CONFIG_PAST_MAX of each section; private to the live matchmaker.
 *
 *     "config.past"   Agent/0000000000000007  ->  [ Number = 7; Time = 1794753800; By = "operator-2"; Section = [ Lease = 60 ] ]
 *
 * A revision without Section says that the section was taken away. The last revision is what holds. */
#ifndef BERTH_LIVE_MATCHMAKERD_CONFIG_PAST_H
#define BERTH_LIVE_MATCHMAKERD_CONFIG_PAST_H

#include "lang/base/err.h"
#include "lang/text/tree.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CONFIG_PAST_SPACE "config.past"
#define CONFIG_PAST_MAX 100

/* A section was changed: `ad` is what it is now, NULL: it was taken away; `before` what it was, NULL: it was not there. What was there before revisions
 * were kept becomes one as well, of which nobody knows whose it is. Durable with the next commit. */
int config_past_add(struct shelf *shelf, const char *section, const struct tree *before, const struct tree *ad,
                    struct symbols *symbols, const char *by, int64_t time, struct err *err);

/* Calls `each` with the revisions of a section, the oldest first; an ad is lent. */
typedef void config_past_fn(void *user, const struct tree *revision);
int config_past_each(struct shelf *shelf, const char *section, struct symbols *symbols, config_past_fn *each,
                     void *user, struct err *err);

/* The revision of that number; 0: the last. NULL in `ret` when there is none. The caller unrefs it. */
int config_past_find(struct shelf *shelf, const char *section, uint64_t number, struct symbols *symbols,
                     struct tree **ret, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
