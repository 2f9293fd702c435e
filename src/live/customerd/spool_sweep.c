/* spool_sweep.c: files of the spool go that no job reads, a few at a time.
 *
 *     whole files --those that go are noted--> parts --> who has held the noted ones
 *
 * Who sends a file again before it is known that he held it holds it again: his share is charged for it once. */
#include "live/customerd/spool_parts.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "sys/secrets.h"
#include "sys/trash.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum stage { STAGE_WHOLE, STAGE_PARTS, STAGE_HELD, STAGE_OVER };

struct spool_sweep {
    struct spool *spool;
    enum stage stage;
    DIR *dir; /* of this stage; NULL: it has not begun */
    uint32_t gone;
    struct textmap hashes; /* of whole files that went ... */
    uint64_t *sizes;       /* ... and how large they were, by the place of the hash */
    uint32_t room;
};

struct spool_sweep *spool_sweep_new(struct spool *spool)
{
    struct spool_sweep *sweep = mem_alloc(sizeof *sweep);

    *sweep = (struct spool_sweep){.spool = spool};
    textmap_init(&sweep->hashes, secrets_word(&secrets_live)); /* strangers choose the contents, so the hashes, too */
    return sweep;
}

void spool_sweep_free(struct spool_sweep *sweep)
{
    if (!sweep)
        return;
    if (sweep->dir)
        closedir(sweep->dir);
    textmap_done(&sweep->hashes);
    free(sweep->sizes);
    free(sweep);
}

uint32_t spool_sweep_gone(const struct spool_sweep *sweep)
{
    return sweep->gone;
}

/* Its bytes go in their own time. */
static bool file_take(const struct spool *spool, const char *folder, const char *name)
{
    char path[PATH_MAX];

    return snprintf(path, sizeof path, "%s/%s%s", spool->path, folder, name) < (int)sizeof path &&
           trash_take(spool->trash, path, NULL) == 0;
}

/* The whole file is gone; who has held it is looked for when all have gone, at once. */
static void sweep_note(struct spool_sweep *sweep, const char *hash, uint64_t size)
{
    uint32_t place = textmap_add(&sweep->hashes, hash, HASH_DIGITS);

    ARRAY_ROOM(sweep->sizes, place, sweep->room, 64);
    sweep->sizes[place] = size;
}

static void whole_look(struct spool_sweep *sweep, const char *name, const struct stat *stat)
{
    if (!file_take(sweep->spool, "", name))
        return;
    sweep->spool->bytes -= (uint64_t)stat->st_size;
    if (hash_is_good(name, strlen(name)))
        sweep_note(sweep, name, (uint64_t)stat->st_size);
    sweep->gone++;
}

static void part_look(struct spool_sweep *sweep, const char *name, const struct stat *stat)
{
    uint64_t who = spool_name_who(name);

    if (!file_take(sweep->spool, "part/", name))
        return;
    sweep->spool->bytes -= (uint64_t)stat->st_size;
    if (who) {
        spool_share_add(sweep->spool, who, 0, (uint64_t)stat->st_size);
        spool_files_add(sweep->spool, who, -1);
    }
    sweep->gone++;
}

/* Whoever held a file that has gone holds it no more, unless it has come again. */
static void holder_look(struct spool_sweep *sweep, const char *name, const char *hash)
{
    uint64_t who = spool_name_who(name), size;
    uint32_t place = who ? textmap_find(&sweep->hashes, hash, HASH_DIGITS) : TEXTMAP_NONE;

    if (place == TEXTMAP_NONE || spool_whole_size(sweep->spool, hash, &size) ||
        unlinkat(sweep->spool->held, name, 0) < 0)
        return;
    spool_share_add(sweep->spool, who, 0, sweep->sizes[place]);
    spool_files_add(sweep->spool, who, -1);
}

/* May a thread be at this file? */
static bool is_written(const struct spool *spool, const char *hash)
{
    return spool->writing && !strcmp(spool->writing->hash, hash);
}

static void file_look(struct spool_sweep *sweep, const char *name, int64_t now, spool_named_fn *named, void *user)
{
    char hash[HASH_DIGITS + 1];
    struct stat stat;

    snprintf(hash, sizeof hash, "%.*s", HASH_DIGITS, name);
    if (is_written(sweep->spool, hash) || fstatat(dirfd(sweep->dir), name, &stat, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(stat.st_mode))
        return;
    if (sweep->stage == STAGE_HELD)
        holder_look(sweep, name, hash);
    else if (sweep->gone >= SPOOL_SWEPT_MAX || stat.st_mtime + SPOOL_KEPT > now)
        return;
    else if (sweep->stage == STAGE_PARTS)
        part_look(sweep, name, &stat);
    else if (!named(user, hash))
        whole_look(sweep, name, &stat);
}

/* Opens the folder of the stage; false: there is nothing to look at in it. */
static bool stage_begin(struct spool_sweep *sweep)
{
    const int folders[] = {sweep->spool->folder, sweep->spool->part, sweep->spool->held};
    int fd = sweep->stage == STAGE_HELD && !sweep->hashes.count
                 ? -1
                 : openat(folders[sweep->stage], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    sweep->dir = fd < 0 ? NULL : fdopendir(fd);
    if (!sweep->dir && fd >= 0)
        close(fd);
    return sweep->dir;
}

static void stage_end(struct spool_sweep *sweep)
{
    if (sweep->dir)
        closedir(sweep->dir);
    sweep->dir = NULL;
    sweep->stage++;
}

bool spool_sweep_step(struct spool_sweep *sweep, int64_t now, uint32_t most, spool_named_fn *named, void *user)
{
    for (uint32_t looked = 0; looked < most && sweep->stage < STAGE_OVER; looked++) {
        const struct dirent *row = sweep->dir || stage_begin(sweep) ? readdir(sweep->dir) : NULL;

        if (row)
            file_look(sweep, row->d_name, now, named, user);
        else
            stage_end(sweep);
    }
    return sweep->stage < STAGE_OVER;
}
