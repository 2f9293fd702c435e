/* spool.c: files that jobs read, by their hash. */
#include "live/customerd/spool_parts.h"

#include "lang/base/mem.h"
#include "sys/clock.h"
#include "sys/confined_path.h"
#include "sys/trash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PART "part"
#define HELD "held"
#define TRASH ".trash"

/* The account as a number: a hash of what stands before the first slash of the name. */
static uint64_t who_number(const char *who)
{
    unsigned char hash[crypto_generichash_BYTES_MIN];
    uint64_t number = 0;

    crypto_generichash(hash, sizeof hash, (const unsigned char *)who, strcspn(who, "/"), NULL, 0);
    for (int i = 0; i < 8; i++)
        number = number << 8 | hash[i];
    return number >= MAP_NONE - 1 || !number ? 1 : number;
}

static void name_make(char ret[SPOOL_NAME_ROOM], const char *hash, uint64_t who)
{
    snprintf(ret, SPOOL_NAME_ROOM, "%.*s-%016llx", HASH_DIGITS, hash, (unsigned long long)who);
}

uint64_t spool_name_who(const char *name)
{
    uint64_t who = 0;

    if (strlen(name) != SPOOL_NAME_ROOM - 1 || name[HASH_DIGITS] != '-' || !hash_is_good(name, HASH_DIGITS))
        return 0;
    for (const char *at = name + HASH_DIGITS + 1; *at; at++) {
        const char *digit = strchr("0123456789abcdef", *at);

        if (!digit)
            return 0;
        who = who << 4 | (uint64_t)(digit - "0123456789abcdef");
    }
    return who;
}

static uint64_t share_of(const struct spool *spool, uint64_t who)
{
    uint64_t bytes = map_find(&spool->shares, who);

    return bytes == MAP_NONE ? 0 : bytes;
}

void spool_share_add(struct spool *spool, uint64_t who, uint64_t more, uint64_t less)
{
    uint64_t bytes = share_of(spool, who) + more;

    map_set(&spool->shares, who, bytes > less ? bytes - less : 0);
}

static uint64_t files_of(const struct spool *spool, uint64_t who)
{
    uint64_t count = map_find(&spool->files, who);

    return count == MAP_NONE ? 0 : count;
}

void spool_files_add(struct spool *spool, uint64_t who, int more)
{
    uint64_t count = files_of(spool, who);

    map_set(&spool->files, who, more < 0 && !count ? 0 : count + (uint64_t)(int64_t)more);
}

/* Has the account such a file, or a part of it? */
static bool file_is_there(const struct spool *spool, const char *name)
{
    struct stat stat;

    return fstatat(spool->part, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 ||
           fstatat(spool->held, name, &stat, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Calls `fn` for each regular file of a folder. */
static void each_file(int folder, void (*fn)(void *user, int folder, const char *name, const struct stat *stat),
                      void *user)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *row;
    struct stat stat;

    while (dir && (row = readdir(dir)))
        if (fstatat(fd, row->d_name, &stat, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(stat.st_mode))
            fn(user, folder, row->d_name, &stat);
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
}

/* Counts a file. Parts that an older Berth has left belong to no account: they count, and are removed with time. */
static void count_file(void *user, int folder, const char *name, const struct stat *stat)
{
    struct spool *spool = user;
    uint64_t who = spool_name_who(name);
    struct stat whole;

    if (folder == spool->held) {
        char hash[HASH_DIGITS + 1];

        snprintf(hash, sizeof hash, "%.*s", HASH_DIGITS, name);
        if (who && fstatat(spool->folder, hash, &whole, AT_SYMLINK_NOFOLLOW) == 0) {
            spool_share_add(spool, who, (uint64_t)whole.st_size, 0);
            spool_files_add(spool, who, 1);
        } else if (who && errno == ENOENT) {
            unlinkat(folder, name, 0); /* a sweep was interrupted */
        }
        return;
    }
    if (who)
        spool_files_add(spool, who, 1);
    spool->bytes += (uint64_t)stat->st_size;
    if (who)
        spool_share_add(spool, who, (uint64_t)stat->st_size, 0);
}

struct spool *spool_new(const char *path, uint64_t room, struct err *err)
{
    struct spool *spool = mem_alloc(sizeof *spool);

    *spool = (struct spool){
        .folder = -1, .part = -1, .held = -1, .room = room, .most = SPOOL_FILES_MAX, .pieces = pieces_new()};
    map_init(&spool->shares, 0);
    map_init(&spool->files, 0);
    spool->folder = confined_folder(AT_FDCWD, path, err);
    if (spool->folder >= 0)
        spool->part = confined_folder(spool->folder, PART, err);
    if (spool->part >= 0)
        spool->held = confined_folder(spool->folder, HELD, err);
    if (spool->held >= 0) {
        char trash[PATH_MAX];

        spool->path = mem_dup(path, strlen(path));
        snprintf(trash, sizeof trash, "%.4000s/" TRASH, path);
        spool->trash = trash_new(trash, err);
    }
    if (!spool->trash) {
        spool_free(spool);
        return NULL;
    }
    each_file(spool->folder, count_file, spool);
    each_file(spool->part, count_file, spool);
    each_file(spool->held, count_file, spool);
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
    if (spool->held >= 0)
        close(spool->held);
    map_done(&spool->shares);
    map_done(&spool->files);
    pieces_free(spool->pieces);
    trash_free(spool->trash);
    free(spool->path);
    free(spool);
}

void spool_set_room(struct spool *spool, uint64_t room)
{
    spool->room = room;
}

void spool_set_files(struct spool *spool, uint64_t most)
{
    spool->most = most;
}

uint64_t spool_bytes(const struct spool *spool)
{
    return spool->bytes;
}

void spool_set_own(struct spool *spool, const char *who)
{
    spool->own = who_number(who);
}

bool spool_whole_size(const struct spool *spool, const char *hash, uint64_t *ret)
{
    struct stat stat;
    bool there = fstatat(spool->folder, hash, &stat, AT_SYMLINK_NOFOLLOW) == 0;

    *ret = there ? (uint64_t)stat.st_size : 0;
    return there;
}

uint64_t spool_have(const struct spool *spool, const char *who, const char *hash, bool *ret_whole)
{
    char name[SPOOL_NAME_ROOM];
    struct stat stat;
    uint64_t size;

    *ret_whole = false;
    if (!hash_is_good(hash, strlen(hash)))
        return 0;
    name_make(name, hash, who_number(who));
    *ret_whole = fstatat(spool->held, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 && spool_whole_size(spool, hash, &size);
    if (*ret_whole)
        return size;
    return fstatat(spool->part, name, &stat, AT_SYMLINK_NOFOLLOW) < 0 ? 0 : (uint64_t)stat.st_size;
}

uint64_t spool_take(const struct spool *spool, const char *who, const char *hash, bool *ret_whole)
{
    uint64_t have = spool_have(spool, who, hash, ret_whole);
    struct stat stat;

    if (*ret_whole && fstatat(spool->folder, hash, &stat, AT_SYMLINK_NOFOLLOW) == 0 &&
        stat.st_mtime + SPOOL_KEPT / 2 < clock_wall() / 1000000)
        utimensat(spool->folder, hash, NULL, AT_SYMLINK_NOFOLLOW);
    return have;
}

int spool_open(const struct spool *spool, const char *hash)
{
    errno = ENOENT;
    return hash_is_good(hash, strlen(hash)) ? confined_file(spool->folder, hash, O_RDONLY, 0) : -1;
}

/* Is there room for another file of that account? */
static bool files_check(const struct spool *spool, uint64_t who, struct err *err)
{
    if (who == spool->own || !spool->own || files_of(spool, who) < spool->most)
        return true;
    err_set(err, "at most %llu files of inputs are kept for a user: those that no job names go after a day",
            (unsigned long long)spool->most);
    return false;
}

static enum piece_result room_check(const struct spool *spool, uint64_t who, uint64_t size, uint64_t before,
                                    struct err *err)
{
    uint64_t share = who == spool->own || !spool->own ? UINT64_MAX : spool->room / SPOOL_SHARES;
    uint64_t mine = share_of(spool, who);

    if (spool->bytes - before > spool->room || size > spool->room - (spool->bytes - before)) {
        err_set(err, "SpoolMax: %llu bytes of inputs are kept, and no more fit", (unsigned long long)spool->room);
        return PIECE_DISK;
    }
    mine = mine > before ? mine - before : 0;
    if (mine > share || size > share - mine) {
        err_set(err, "SpoolMax: at most %llu bytes of inputs are kept for a user, and no more fit",
                (unsigned long long)share);
        return PIECE_FULL;
    }
    if (share != UINT64_MAX && mine + size > spool->room / SPOOL_SMALL &&
        spool->bytes - before + size > spool->room - spool->room / SPOOL_KEPT_FREE) {
        err_set(err, "SpoolMax: the last quarter of its %llu bytes is kept for users who have less than %llu there",
                (unsigned long long)spool->room, (unsigned long long)(spool->room / SPOOL_SMALL));
        return PIECE_FULL;
    }
    return PIECE_MORE;
}

enum piece_result spool_check(struct spool *spool, const char *who, const char *hash, const struct piece *piece,
                              struct spool_piece *ret)
{
    uint64_t number = who_number(who), before;
    bool whole;

    *ret = (struct spool_piece){.number = number, .piece = *piece, .result = PIECE_BAD};
    ret->have = ret->before = before = spool_have(spool, who, hash, &whole);
    if (whole) { /* the file is wanted again: as good as new */
        utimensat(spool->folder, hash, NULL, AT_SYMLINK_NOFOLLOW);
        return ret->result = PIECE_WHOLE;
    }
    if (piece->size < 0 || !hash_is_good(hash, strlen(hash)))
        return PIECE_BAD;
    ret->result = room_check(spool, number, (uint64_t)piece->size, before, &ret->err);
    if (ret->result != PIECE_MORE)
        return ret->result;
    memcpy(ret->hash, hash, HASH_DIGITS + 1);
    name_make(ret->name, hash, number);
    ret->there = file_is_there(spool, ret->name);
    if (!ret->there && !files_check(spool, number, &ret->err))
        return ret->result = PIECE_FULL;
    spool->writing = ret;
    return PIECE_MORE;
}

/* The account has sent the whole file: from now on it holds the file. A copy that others have sent already stays. */
static int part_settle(const struct spool *spool, struct spool_piece *put)
{
    uint64_t there;
    int fd;

    if (spool_whole_size(spool, put->hash, &there)) {
        if (unlinkat(spool->part, put->name, 0) < 0)
            return -1;
        utimensat(spool->folder, put->hash, NULL, AT_SYMLINK_NOFOLLOW);
        put->twice = true;
    } else if (renameat(spool->part, put->name, spool->folder, put->hash) < 0 || fsync(spool->folder) < 0) {
        return -1;
    }
    fd = openat(spool->held, put->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    put->held = fd < 0 && errno == EEXIST;
    if (fd < 0 && !put->held)
        return -1;
    if (fd >= 0)
        close(fd);
    return fsync(spool->held);
}

void spool_write(const struct spool *spool, struct spool_piece *put)
{
    put->piece.hash = put->hash;
    put->result = pieces_add(spool->pieces, spool->part, put->name, &put->piece, &put->have, &put->err);
    if (put->result == PIECE_WHOLE && part_settle(spool, put) < 0) {
        err_set(&put->err, "a file that is whole cannot be put in its place");
        put->result = PIECE_DISK;
    }
}

void spool_count(struct spool *spool, const struct spool_piece *put)
{
    spool->writing = NULL;
    spool->bytes += put->have - put->before;
    if (put->twice)
        spool->bytes -= put->have;
    spool_share_add(spool, put->number, put->have, put->before + (put->held ? put->have : 0));
    spool_files_add(spool, put->number, file_is_there(spool, put->name) - put->there);
}

enum piece_result spool_put(struct spool *spool, const char *who, const char *hash, const struct piece *piece,
                            uint64_t *ret_have, struct err *err)
{
    struct spool_piece put;

    if (spool_check(spool, who, hash, piece, &put) == PIECE_MORE) {
        spool_write(spool, &put);
        spool_count(spool, &put);
    }
    *ret_have = put.have;
    if (put.err.text[0])
        *err = put.err;
    return put.result;
}
