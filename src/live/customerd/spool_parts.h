/* spool_parts.h: what the files of the spool share; private to them.
 *
 *     spool.c        what is there, and what comes
 *     spool_sweep.c  what goes */
#ifndef BERTH_LIVE_CUSTOMERD_SPOOL_PARTS_H
#define BERTH_LIVE_CUSTOMERD_SPOOL_PARTS_H

#include "lang/base/map.h"
#include "live/customerd/spool.h"

#ifdef __cplusplus
extern "C" {
#endif

struct trash;

struct spool {
    int folder, part, held;
    char *path;
    struct trash *trash; /* takes away what goes: the bytes of a large file are not gone at once */
    uint64_t room, bytes;
    uint64_t most;                     /* files of one account */
    uint64_t own;                      /* the account that owns the spool; 0: none */
    struct map shares;                 /* account -> bytes that it has sent, complete files or not ... */
    struct map files;                  /* ... and how many files that are */
    struct pieces *pieces;             /* of whoever writes */
    const struct spool_piece *writing; /* may be at it while files are swept; NULL: none */
};

uint64_t spool_name_who(const char *name); /* the account that a file's name ends with; 0: it is not such a name */
void spool_share_add(struct spool *spool, uint64_t who, uint64_t more, uint64_t less);
void spool_files_add(struct spool *spool, uint64_t who, int more);
bool spool_whole_size(const struct spool *spool, const char *hash, uint64_t *ret); /* is the whole file there? */

#ifdef __cplusplus
}
#endif
#endif
