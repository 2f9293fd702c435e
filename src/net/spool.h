/* spool.h: what jobs read: files by their hash, so that one that is used a thousand times is sent and kept once.
 *
 *     FOLDER/HASH whole     FOLDER/part/HASH on its way
 *
 * What no job names, and is older than a day, goes. */
#ifndef BERTH_NET_SPOOL_H
#define BERTH_NET_SPOOL_H

#include "net/pieces.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SPOOL_PIECE_MAX (4u << 20) /* bytes of a piece */
#define SPOOL_KEPT INT64_C(86400)  /* seconds that a file which no job names is kept */

struct spool;

/* In that folder, which is made. `room`: bytes of all files together. NULL and `err`. */
struct spool *spool_new(const char *path, uint64_t room, struct err *err);
void spool_free(struct spool *spool);
void spool_set_room(struct spool *spool, uint64_t room);

/* How many bytes are there; `*ret_whole`: all of them. */
uint64_t spool_have(const struct spool *spool, const char *hash, bool *ret_whole);

/* A piece. PIECE_DISK also when there is no room: `err` names the limit. */
enum piece_result spool_put(struct spool *spool, const char *hash, const struct piece *piece, uint64_t *ret_have,
                            struct err *err);

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
