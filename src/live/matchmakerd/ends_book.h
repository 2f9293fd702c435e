/* ends_book.h: which jobs of customers have ended, as rows of the matchmaker's store.
 *
 *     account, queue, block (each 8 bytes) -> the text of the block (live/world/ends.h)
 *     account, queue, the largest number   -> the largest number of a job in it, and the second at which its customer was heard of: "460 1793073600"
 *
 * They are not in memory, but for how many each account has. An account that has ENDS_ROWS_MAX loses the rows of the lowest numbers of the
 * queue of which more is told: a customer with a million jobs since has most of them. Where a queue that is new finds no room, those of which nothing was
 * heard for longest lose some of theirs; and where all accounts together have ENDS_ROWS_ALL, it is the accounts with most that do, 64 rows at a time: nobody
 * fills the disk, and customers that are gone keep nobody out. */
#ifndef BERTH_LIVE_MATCHMAKERD_ENDS_BOOK_H
#define BERTH_LIVE_MATCHMAKERD_ENDS_BOOK_H

#include "lang/base/map.h"
#include "live/world/ends.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ENDS_SPACE "ends"
#define ENDS_ROWS_MAX 4096   /* of an account: two million numbers that lie together */
#define ENDS_ROWS_ALL 262144 /* of all accounts */

struct ends_book {
    struct shelf *shelf;
    struct map rows; /* account -> how many it has */
    uint64_t count;  /* of all accounts ... */
    uint64_t most;   /* ... at most: ENDS_ROWS_ALL */
};

void ends_book_init(struct ends_book *book, struct shelf *shelf, uint64_t seed);
void ends_book_done(struct ends_book *book);
int ends_book_load(struct ends_book *book, struct err *err); /* counts */

enum ends_taken { ENDS_TAKEN, ENDS_MALFORMED, ENDS_FAILED };

/* What the customer of that queue tells, in that second. Nothing of a malformed text is taken. The commit is the caller's. */
enum ends_taken ends_book_take(struct ends_book *book, uint64_t account, uint64_t queue, const char *text, size_t len,
                               uint64_t last, int64_t now, struct err *err);

/* What is known of that queue's jobs, from that block on: some of it; `*ret_next`: where to go on; 0: that was all. */
int ends_book_look(struct ends_book *book, uint64_t account, uint64_t queue, uint64_t from, struct buf *ret,
                   uint64_t *ret_next, uint64_t *ret_last, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
