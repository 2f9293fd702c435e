/* spool.h: what jobs read: files by their hash, so that one that is used a thousand times is sent and kept once.
 *
 *     FOLDER/HASH whole     FOLDER/part/HASH-WHO on its way     FOLDER/held/HASH-WHO  empty: that one has shown to have the file
 *
 * What no job names, and is older than a day, goes. WHO is an account, as a number: whoever delegates has no more by it. One that has not sent a
 * file itself does not learn that it is there, and no job of its reads it: to know a hash is not to have the file. Each account but the
 * customer's own has a share. */
#ifndef BERTH_LIVE_CUSTOMERD_SPOOL_H
#define BERTH_LIVE_CUSTOMERD_SPOOL_H

#include "sys/pieces.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOOL_PIECE_MAX (4u << 20) /* bytes of a piece */
#define SPOOL_KEPT INT64_C(86400)  /* seconds that a file which no job names is kept */
#define SPOOL_SHARES 4             /* one account has at most that part of the room */

struct spool;

/* In that folder, which is made. `room`: bytes of all files together. NULL and `err`. */
struct spool *spool_new(const char *path, uint64_t room, struct err *err);
void spool_free(struct spool *spool);
void spool_set_room(struct spool *spool, uint64_t room);
/* Whose spool it is: of that account all may be. The name is copied. */
void spool_set_own(struct spool *spool, const char *who);

/* How many bytes that one has sent of the file; `*ret_whole`: all of them. */
uint64_t spool_have(const struct spool *spool, const char *who, const char *hash, bool *ret_whole);

/* A piece. PIECE_DISK also when there is no room, PIECE_FULL when its share is used up: `err` names the limit. */
enum piece_result spool_put(struct spool *spool, const char *who, const char *hash, const struct piece *piece,
                            uint64_t *ret_have, struct err *err);

/* A descriptor of a file that is whole; -1 and errno: ENOENT when there is none. */
int spool_open(const struct spool *spool, const char *hash);
uint64_t spool_bytes(const struct spool *spool);

/* Garbage: all that `named` says false of, and that nobody has touched for SPOOL_KEPT seconds. How many went. */
typedef bool spool_named_fn(void *user, const char *hash);
uint32_t spool_sweep(struct spool *spool, int64_t now, spool_named_fn *named, void *user);

#ifdef __cplusplus
}
#endif
#endif
