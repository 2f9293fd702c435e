/* pieces.c: files that come in pieces. */
#include "sys/pieces.h"

#include "lang/base/mem.h"
#include "sys/confined_path.h"
#include "sys/hash_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define HASHES 64 /* files under way whose hash is known so far; the others are read again */

struct hash_so_far {
    struct hashing hashing;
    dev_t device;
    ino_t node;
    bool used;
};

struct pieces {
    struct hash_so_far hashes[HASHES];
    unsigned next;
};

struct pieces *pieces_new(void)
{
    struct pieces *pieces = mem_alloc(sizeof *pieces);

    memset(pieces, 0, sizeof *pieces);
    return pieces;
}

void pieces_free(struct pieces *pieces)
{
    free(pieces);
}

/* What is known of the file's hash so far; that of an empty file begins anew. NULL: nothing is known. */
static struct hash_so_far *hash_find(struct pieces *pieces, const struct stat *stat)
{
    struct hash_so_far *hash = NULL;

    for (int i = 0; i < HASHES; i++)
        if (pieces->hashes[i].used && pieces->hashes[i].node == stat->st_ino &&
            pieces->hashes[i].device == stat->st_dev)
            hash = &pieces->hashes[i];
    if (!stat->st_size) {
        if (!hash)
            hash = &pieces->hashes[pieces->next++ % HASHES];
        *hash = (struct hash_so_far){.device = stat->st_dev, .node = stat->st_ino, .used = true};
        hashing_begin(&hash->hashing);
    } else if (hash && hash->hashing.upto != stat->st_size) {
        hash->used = false;
        hash = NULL;
    }
    return hash;
}

static int piece_write(int fd, const char *bytes, size_t len, off_t at, struct err *err)
{
    struct statvfs disk;

    if (fstatvfs(fd, &disk) == 0 && (uint64_t)disk.f_bavail * disk.f_frsize < PIECES_RESERVE + len)
        return err_set(err, "the disk is full");
    while (len) {
        ssize_t wrote = pwrite(fd, bytes, len, at);

        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return err_set(err, "%s", strerror(errno));
        bytes += wrote;
        len -= (size_t)wrote;
        at += wrote;
    }
    return 0;
}

/* All bytes of the file are there: are they the right ones? */
static enum piece_result piece_check(struct pieces *pieces, int fd, const char *wanted, struct err *err)
{
    char digits[HASH_DIGITS + 1];
    struct hash_so_far *hash;
    uint64_t size;
    struct stat stat;

    if (fstat(fd, &stat) < 0)
        return err_set(err, "%s", strerror(errno)), PIECE_DISK;
    hash = hash_find(pieces, &stat);
    if (hash)
        hashing_digits(&hash->hashing, digits);
    else if (hash_file(fd, digits, &size, err) < 0)
        return PIECE_DISK;
    if (memcmp(digits, wanted, HASH_DIGITS) != 0)
        return ftruncate(fd, 0) < 0 ? (err_set(err, "%s", strerror(errno)), PIECE_DISK) : PIECE_HASH;
    if (fdatasync(fd) < 0)
        return err_set(err, "%s", strerror(errno)), PIECE_DISK;
    if (hash)
        hash->used = false;
    return PIECE_WHOLE;
}

static enum piece_result piece_take(struct pieces *pieces, int fd, const struct piece *piece, uint64_t *have,
                                    struct err *err)
{
    struct hash_so_far *hash;
    struct stat stat;
    uint64_t skip;

    if (fstat(fd, &stat) < 0)
        return err_set(err, "%s", strerror(errno)), PIECE_DISK;
    *have = (uint64_t)stat.st_size;
    if (piece->size >= 0 && *have > (uint64_t)piece->size) { /* another one of that name was begun before */
        if (ftruncate(fd, 0) < 0)
            return err_set(err, "%s", strerror(errno)), PIECE_DISK;
        *have = 0;
        stat.st_size = 0;
    }
    if (piece->offset > *have)
        return PIECE_MORE;
    skip = *have - piece->offset;
    if (skip < piece->len) {
        hash = hash_find(pieces, &stat);
        if (piece_write(fd, piece->bytes + skip, piece->len - skip, stat.st_size, err) < 0) {
            if (hash)
                hash->used = false;
            return PIECE_DISK;
        }
        if (hash)
            hashing_add(&hash->hashing, piece->bytes + skip, piece->len - skip);
        *have += piece->len - skip;
    }
    if (piece->size < 0 || *have < (uint64_t)piece->size || !piece->hash)
        return PIECE_MORE;
    return piece_check(pieces, fd, piece->hash, err);
}

enum piece_result piece_failed(int error)
{
    static const int names[] = {EINVAL, ELOOP, ENOTDIR, EISDIR, ENAMETOOLONG, EXDEV, EEXIST, ENXIO, ENODEV};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (error == names[i])
            return PIECE_BAD;
    return PIECE_DISK;
}

enum piece_result pieces_add(struct pieces *pieces, int folder, const char *name, const struct piece *piece,
                             uint64_t *ret_have, struct err *err)
{
    enum piece_result result;
    const char *last;
    int parent, fd, failed;

    *ret_have = 0;
    if (piece->offset > INT64_MAX - piece->len || piece->size < -1 ||
        (piece->size >= 0 && piece->offset + piece->len > (uint64_t)piece->size))
        return PIECE_BAD;
    parent = confined_parent(folder, name, true, &last);
    fd = parent < 0 ? -1 : confined_file(parent, last, O_RDWR | O_CREAT, 0600);
    failed = errno;
    if (parent >= 0)
        close(parent);
    errno = failed;
    if (fd < 0) {
        err_set(err, "%s", strerror(errno));
        return piece_failed(errno);
    }
    result = piece_take(pieces, fd, piece, ret_have, err);
    if (result == PIECE_HASH)
        *ret_have = 0;
    close(fd);
    return result;
}
