/* pieces.h: files that come in pieces, one behind the other, and are checked when they are whole.
 *
 *     have 0..4 | piece 4..8 -> have 8        a piece that is there already changes nothing; one behind a gap is not taken: go on at `have`
 *
 * The hash (BLAKE2b-256) is made as the pieces come, so that the last one costs no more than the others; after a restart the file is read once. */
#ifndef BERTH_SYS_PIECES_H
#define BERTH_SYS_PIECES_H

#include "sys/hash.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pieces;

#define PIECES_RESERVE \
    (UINT64_C(64) << 20) /* bytes of the disk that are left to others: the queue lies there as well */

struct pieces *pieces_new(void);
void pieces_free(struct pieces *pieces);

struct piece {
    uint64_t offset;
    const char *bytes;
    size_t len;
    int64_t size;     /* of the whole; -1: it still grows */
    const char *hash; /* of the whole, HASH_DIGITS digits; NULL: it is not known yet */
};

enum piece_result {
    PIECE_MORE,  /* go on at `have` */
    PIECE_WHOLE, /* all is there, with the right hash, and on disk */
    PIECE_HASH,  /* all was there, and something else than was said: it is empty again */
    PIECE_BAD,   /* the piece cannot be one of that file, or the name cannot be one */
    PIECE_DISK,  /* it could not be written, for now; the error says why */
    PIECE_FULL,  /* it is more than may be kept: nothing was taken; the error names the limit */
};

/* What does a failed call mean: is the name bad, or is something missing for now (descriptors, disk, memory, rights)? */
enum piece_result piece_failed(int error);

/* Adds a piece to the file of that name beneath the folder; the file and the folders above it are made. `*ret_have`: how much of it is there now. */
enum piece_result pieces_add(struct pieces *pieces, int folder, const char *name, const struct piece *piece,
                             uint64_t *ret_have, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
