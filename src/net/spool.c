/* spool.c: what jobs read: files by their hash. */
#include "net/spool.h"

#include "base/mem.h"
#include "net/beneath.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART "part"

struct spool {
    int folder, part;
    uint64_t room, bytes;
    struct pieces *pieces;
};

/* Each file of a folder whose name is a hash. */
static void each_file(int folder, void (*fn)(void *user, int folder, const char *name, const struct stat *stat),
                      void *user)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *row;
    struct stat stat;

    while (dir && (row = readdir(dir)))
        if (hash_is_good(row->d_name, strlen(row->d_name)) && fstatat(fd, row->d_name, &stat, AT_SYMLINK_NOFOLLOW) == 0)
            fn(user, folder, row->d_name, &stat);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

static void count_file(void *user, int folder, const char *name, const struct stat *stat)
{
    (void)folder;
    (void)name;
    ((struct spool *)user)->bytes += (uint64_t)stat->st_size;
}

struct spool *spool_new(const char *path, uint64_t room, struct err *err)
{
    struct spool *spool = mem_alloc(sizeof *spool);

    *spool = (struct spool){.folder = -1, .part = -1, .room = room, .pieces = pieces_new()};
    spool->folder = beneath_folder(AT_FDCWD, path, err);
    if (spool->folder >= 0)
        spool->part = beneath_folder(spool->folder, PART, err);
    if (spool->part < 0) {
        spool_free(spool);
        return NULL;
    }
    each_file(spool->folder, count_file, spool);
    each_file(spool->part, count_file, spool);
    return spool;
}

void spool_free(struct spool *spool)
{
    if (!spool)
        return;
    if (spool->folder >= 0)
        close(spool->folder);
    if (spool->part >= 0)
        close(spool->part);
    pieces_free(spool->pieces);
    free(spool);
}

void spool_set_room(struct spool *spool, uint64_t room)
{
    spool->room = room;
}

uint64_t spool_bytes(const struct spool *spool)
{
    return spool->bytes;
}

uint64_t spool_have(const struct spool *spool, const char *hash, bool *ret_whole)
{
    struct stat stat;

    *ret_whole = false;
    if (!hash_is_good(hash, strlen(hash)))
        return 0;
    *ret_whole = fstatat(spool->folder, hash, &stat, AT_SYMLINK_NOFOLLOW) == 0;
    if (!*ret_whole && fstatat(spool->part, hash, &stat, AT_SYMLINK_NOFOLLOW) < 0)
        return 0;
    return (uint64_t)stat.st_size;
}

int spool_open(const struct spool *spool, const char *hash)
{
    errno = ENOENT;
    return hash_is_good(hash, strlen(hash)) ? beneath_file(spool->folder, hash, O_RDONLY, 0) : -1;
}

enum piece_result spool_put(struct spool *spool, const char *hash, const struct piece *piece, uint64_t *ret_have,
                            struct err *err)
{
    struct piece checked = *piece;
    enum piece_result result;
    uint64_t before;
    bool whole;

    *ret_have = before = spool_have(spool, hash, &whole);
    if (whole) { /* it is wanted again: as good as new */
        utimensat(spool->folder, hash, NULL, AT_SYMLINK_NOFOLLOW);
        return PIECE_WHOLE;
    }
    if (piece->size < 0 || !hash_is_good(hash, strlen(hash)))
        return PIECE_BAD;
    if (spool->bytes - before > spool->room || (uint64_t)piece->size > spool->room - (spool->bytes - before)) {
        err_set(err, "SpoolMax: %llu bytes of inputs are kept, and no more fit", (unsigned long long)spool->room);
        return PIECE_DISK;
    }
    checked.hash = hash;
    result = pieces_add(spool->pieces, spool->part, hash, &checked, ret_have, err);
    spool->bytes += *ret_have - before;
    if (result == PIECE_WHOLE && (renameat(spool->part, hash, spool->folder, hash) < 0 || fsync(spool->folder) < 0)) {
        err_set(err, "a file that is whole cannot be put in its place");
        return PIECE_DISK;
    }
    return result;
}

struct sweep {
    struct spool *spool;
    int64_t now;
    spool_named_fn *named;
    void *user;
    uint32_t gone;
};

static void sweep_file(void *user, int folder, const char *name, const struct stat *stat)
{
    struct sweep *sweep = user;

    if (stat->st_mtime + SPOOL_KEPT > sweep->now || sweep->named(sweep->user, name) || unlinkat(folder, name, 0) < 0)
        return;
    sweep->spool->bytes -= (uint64_t)stat->st_size;
    sweep->gone++;
}

uint32_t spool_sweep(struct spool *spool, int64_t now, spool_named_fn *named, void *user)
{
    struct sweep sweep = {.spool = spool, .now = now, .named = named, .user = user};

    each_file(spool->folder, sweep_file, &sweep);
    each_file(spool->part, sweep_file, &sweep);
    return sweep.gone;
}
