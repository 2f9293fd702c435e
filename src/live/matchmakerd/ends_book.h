/* ends_book.h: which jobs of customers have ended, as rows of the matchmaker's store.
 *
 *     account, queue, block (each 8 bytes) -> the text of the block (live/world/ends.h)
 *     account, queue, the largest number   -> the largest number of a job in it, in digits
 *
 * They are not in memory, but for how many each account has. An account that has ENDS_ROWS_MAX loses the rows of the lowest numbers of the
 * queue of which more is told: a customer with a million jobs since has most of them, and no account can fill the disk. */
#ifndef BERTH_LIVE_MATCHMAKERD_ENDS_BOOK_H
#define BERTH_LIVE_MATCHMAKERD_ENDS_BOOK_H

#include "lang/base/map.h"
#include "live/world/ends.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ENDS_SPACE "ends"
#define ENDS_ROWS_MAX 4096 /* of an account: two million numbers that lie together */

struct ends_book {
    struct shelf *shelf;
    struct map rows; /* account -> how many it has */
};

void ends_book_init(struct ends_book *book, struct shelf *shelf, uint64_t seed);
void ends_book_done(struct ends_book *book);
int ends_book_load(struct ends_book *book, struct err *err); /* counts */

enum ends_taken { ENDS_TAKEN, ENDS_MALFORMED, ENDS_FULL, ENDS_FAILED };

/* What the customer of that queue tells. Nothing of a malformed text is taken; some of it where there is no more room. The commit is the caller's. */
enum ends_taken ends_book_take(struct ends_book *book, uint64_t account, uint64_t queue, const char *text, size_t len,
                               uint64_t last, struct err *err);

/* What is known of that queue's jobs, from that block on: some of it; `*ret_next`: where to go on; 0: that was all. */
int ends_book_look(struct ends_book *book, uint64_t account, uint64_t queue, uint64_t from, struct buf *ret,
                   uint64_t *ret_next, uint64_t *ret_last, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
