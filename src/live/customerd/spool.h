/* spool.h: files that jobs read, by their hash, so that a file that is used a thousand times is sent and kept once.
 *
 *     FOLDER/HASH whole     FOLDER/part/HASH-WHO on its way     FOLDER/held/HASH-WHO  empty: that account has sent the whole file
 *
 * A file that no job names and that is older than a day is removed. WHO is an account, as a number: nobody gets more room by delegating. An
 * account that has not sent a file itself does not learn that it is there, and none of its jobs reads it: knowing a hash does not give
 * access to the file. Each account but the customer's own has a share of bytes and of files, and the last of the room is for accounts that have little there. */
#ifndef BERTH_LIVE_CUSTOMERD_SPOOL_H
#define BERTH_LIVE_CUSTOMERD_SPOOL_H

#include "sys/pieces.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOOL_PIECE_MAX (4u << 20) /* bytes of a piece */
#define SPOOL_KEPT INT64_C(86400)  /* how many seconds a file that no job names is kept */
#define SPOOL_SHARES 4             /* one account may have at most 1 / 4 of the room */
#define SPOOL_KEPT_FREE 4          /* the last quarter of the room is kept for accounts ... */
#define SPOOL_SMALL 64             /* ... that have at most 1 / 64 of it: a few large ones cannot shut the others out */
#define SPOOL_FILES_MAX 500000     /* files of one account, complete or not: they cost more than their bytes */
#define SPOOL_SWEPT_MAX 20000      /* files that go in one sweep: it remembers them to its end */

struct spool;

/* Opens the spool in that folder, which is made if needed. `room`: bytes of all files together. NULL and `err`. */
struct spool *spool_new(const char *path, uint64_t room, struct err *err);
void spool_free(struct spool *spool);
void spool_set_room(struct spool *spool, uint64_t room);
void spool_set_files(struct spool *spool, uint64_t most); /* of one account but the own; SPOOL_FILES_MAX without this */
/* Sets the account that owns the spool, which may use all of it. The name is copied. */
void spool_set_own(struct spool *spool, const char *who);

/* How many bytes of the file that account has sent; `*ret_whole`: all of them. */
uint64_t spool_have(const struct spool *spool, const char *who, const char *hash, bool *ret_whole);

/* The same, for a job that will read it: from now on it is kept for half a day at least, though no job in the queue may name it yet. */
uint64_t spool_take(const struct spool *spool, const char *who, const char *hash, bool *ret_whole);

/* A piece on its way into the spool: one at a time. */
#define SPOOL_WHO_DIGITS 16
#define SPOOL_NAME_ROOM (HASH_DIGITS + 1 + SPOOL_WHO_DIGITS + 1)
struct spool_piece {
    struct piece piece; /* its bytes are borrowed until it is written */
    char hash[HASH_DIGITS + 1], name[SPOOL_NAME_ROOM];
    uint64_t number, before, have;
    bool there, twice;
    bool held; /* the account has sent it before, and has its share charged for it: it was swept a moment ago */
    enum piece_result result;
    struct err err;
};
/* spool_check -> spool_write -> spool_count. The check says PIECE_MORE when it is to be written; or else the result. Writing waits for the disk: any thread
 * may do it. The count is for the one who checked. */
enum piece_result spool_check(struct spool *spool, const char *who, const char *hash, const struct piece *piece,
                              struct spool_piece *ret);
void spool_write(const struct spool *spool, struct spool_piece *put);
void spool_count(struct spool *spool, const struct spool_piece *put);
/* The three at once. PIECE_DISK also when there is no room, PIECE_FULL when the account's share is used up: `err` names the
 * limit. */
enum piece_result spool_put(struct spool *spool, const char *who, const char *hash, const struct piece *piece,
                            uint64_t *ret_have, struct err *err);

/* Opens a complete file; -1 and errno: ENOENT when there is none. */
int spool_open(const struct spool *spool, const char *hash);
uint64_t spool_bytes(const struct spool *spool);

/* ---- spool_sweep.c ---- */

/* Removes the files for which `named` is false and that were not touched for SPOOL_KEPT seconds, or SPOOL_SWEPT_MAX of them: a few at a time, and others
 * are served in between. One at a time. */
typedef bool spool_named_fn(void *user, const char *hash);
struct spool_sweep *spool_sweep_new(struct spool *spool);
/* Looks at so many files; false: it has seen all, and is over. */
bool spool_sweep_step(struct spool_sweep *sweep, int64_t now, uint32_t most, spool_named_fn *named, void *user);
uint32_t spool_sweep_gone(const struct spool_sweep *sweep); /* how many it has removed */
void spool_sweep_free(struct spool_sweep *sweep);           /* before the spool. Takes NULL */

#ifdef __cplusplus
}
#endif
#endif
