/* stored.h: what became of the files that a try leaves for stores, as its provider tells the customer.
 *
 *     [Total = 3; Files = {[File = "out.dat"; Name = "run7/out.dat"; State = "stored"; Store = "se1"; Url = "..."; Size = 9; Hash = "..."], ...}]
 *
 * What is told of a file takes the place of what was told before; but what is for good stays. */
#ifndef BERTH_LIVE_DATA_STORED_H
#define BERTH_LIVE_DATA_STORED_H

#include "lang/base/err.h"
#include "lang/text/tree.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STORED_KEPT (INT64_C(30) * 86400) /* seconds after a job's end that news of its files is waited for */

/* Called for a file that is told of for the first time, or in another way than before, with words for the job's log. */
typedef void stored_news_fn(void *user, const char *words);

/* Merges what is told now into `before` (NULL: nothing was told yet); the caller unrefs it. NULL: what is told is malformed, or too much. */
struct tree *stored_merge(struct symbols *symbols, const struct tree *before, const struct tree *told,
                          stored_news_fn *news, void *user);

struct stored_count {
    int64_t total;      /* that were to be stored */
    int64_t stored;     /* that are */
    int64_t none, lost; /* that were not made, and that got lost on the way */
    int64_t over;       /* whatever became of them: stored, not made, lost */
};
struct stored_count stored_count(const struct tree *stored); /* takes NULL */

#ifdef __cplusplus
}
#endif
#endif
