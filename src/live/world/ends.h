/* ends.h: which jobs of a customer have ended, and how, as its pool remembers it: a text of runs of numbers.
 *
 *     "57-63:done:EXITED:0 64:removed:RELEASED:0 65:done:EXITED:-9 70:again:OK:0"
 *
 * A customer tells its matchmaker (live/customerd/ends_tell.h), which keeps the text in rows of ENDS_BLOCK numbers each; a customer whose store was
 * restored from a backup reads it there (live/customerd/recovery.h). */
#ifndef BERTH_LIVE_WORLD_ENDS_H
#define BERTH_LIVE_WORLD_ENDS_H

#include "lang/base/buf.h"
#include "pool/protocol/fields.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ENDS_BLOCK 512                      /* numbers in a row */
#define ENDS_BLOCKS_MAX 64                  /* rows that one message may be about */
#define ENDS_NUMBER_MAX (UINT64_C(1) << 40) /* a larger number is no job's */

enum end_how {
    END_UNKNOWN, /* it has not ended, or nobody has told */
    END_DONE,
    END_REMOVED,
    END_ABORTED,
    END_AGAIN, /* it had ended, and waits again */
    END_COUNT
};

/* Jobs first..last have all ended so. */
struct ends_run {
    uint64_t first, last;
    enum end_how how;
    enum reason reason;
    int64_t status;
};

/* Hands over each run, lent for the call. Their numbers grow, so no job is told twice, and a text costs no more than the numbers that it spans. False: the
 * text is malformed, or `fn` said so; what stands before has been handed over. */
typedef bool ends_fn(void *user, const struct ends_run *run);
bool ends_read(const char *text, size_t len, ends_fn *fn, void *user);
void ends_print(struct buf *out, const struct ends_run *run); /* appends it, behind a blank if it is not the first */

bool ends_alike(const struct ends_run *a, const struct ends_run *b); /* have those jobs ended in the same way? */

/* How the jobs of one block have ended. */
struct ends_block {
    uint64_t number; /* the jobs are number * ENDS_BLOCK and those behind */
    struct ends_run jobs[ENDS_BLOCK];
};

static inline uint64_t ends_block_of(uint64_t job)
{
    return job / ENDS_BLOCK;
}

void ends_block_init(struct ends_block *block, uint64_t number);
void ends_block_take(struct ends_block *block, const struct ends_run *run);   /* what of it lies in the block */
bool ends_block_read(struct ends_block *block, const char *text, size_t len); /* the same of all runs */
void ends_block_print(const struct ends_block *block, struct buf *out);       /* equal neighbours as one run */

#ifdef __cplusplus
}
#endif
#endif
