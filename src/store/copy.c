/* copy.c: a new file that becomes a store: made beside its place, written, flushed, and only then called by its name.
 *
 *     copy_begin -> rows -> copy_mark -> copy_close -> copy_give -> copy_rename
 *
 * Whatever stops this leaves the file at its place as it was, and at worst a FILE.part, which the next time removes. */
#include "store/store_parts.h"

#include "sys/confined_path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int copy_begin(struct copy *copy, const char *path, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    struct buf part;

    *copy = (struct copy){.path = path, .fd = -1};
    buf_init(&part);
    buf_addf(&part, "%s.part", path);
    (void)buf_string(&part);
    copy->part = part.text;
    unlink(copy->part);
    copy->fd = open(copy->part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (copy->fd < 0) {
        err_set(err, "%s: %s", copy->part, strerror(errno));
        free(copy->part);
        copy->part = NULL;
        return -1;
    }
    if (libsqlite()->open_v2(copy->part, &copy->db, flags, NULL) != SQLITE_OK)
        return copy->db ? db_fail(copy->db, copy->part, "cannot be opened", err)
                        : err_set(err, "%s: out of memory", copy->part);
    return 0;
}

int copy_mark(struct copy *copy, int64_t wall, bool alone, struct err *err)
{
    static const char space[] = SHELF_RESTORED_SPACE, key[] = "1";
    sqlite3_stmt *put = NULL;
    char value[40];
    int len = snprintf(value, sizeof value, "%" PRId64 "%s", wall, alone ? " alone" : ""), failed;

    failed =
        libsqlite()->prepare_v2(copy->db,
                                "INSERT INTO shelf (space, key, value, sum) VALUES (?1, ?2, ?3, ?4)"
                                " ON CONFLICT (space, key) DO UPDATE SET value = excluded.value, sum = excluded.sum",
                                -1, &put, NULL) != SQLITE_OK ||
        libsqlite()->bind_text(put, 1, space, -1, SQLITE_STATIC) != SQLITE_OK ||
        libsqlite()->bind_blob(put, 2, key, sizeof key - 1, SQLITE_STATIC) != SQLITE_OK ||
        libsqlite()->bind_blob(put, 3, value, len, SQLITE_STATIC) != SQLITE_OK ||
        libsqlite()->bind_int64(
            put, 4, (int64_t)row_sum(space, sizeof space - 1, key, sizeof key - 1, value, (size_t)len)) != SQLITE_OK ||
        libsqlite()->step(put) != SQLITE_DONE;
    if (failed)
        db_fail(copy->db, copy->part, "cannot be marked", err);
    libsqlite()->finalize(put);
    return failed ? -1 : 0;
}

int copy_close(struct copy *copy, struct err *err)
{
    if (libsqlite()->close(copy->db) != SQLITE_OK)
        return db_fail(copy->db, copy->part, "cannot be closed", err);
    copy->db = NULL;
    return fsync(copy->fd) < 0 ? err_set(err, "%s: %s", copy->part, strerror(errno)) : 0;
}

/* By their descriptors: whoever may write to the folder may put something else under the names meanwhile. */
int copy_give(const struct copy *copy, int lock, struct err *err)
{
    char *folder = mem_dup(copy->path, strlen(copy->path)), *slash = strrchr(folder, '/');
    struct stat status;
    int failed;

    if (slash)
        slash[slash == folder] = 0;
    failed = stat(slash ? folder : ".", &status) < 0 ? err_set(err, "%s: %s", folder, strerror(errno)) : 0;
    free(folder);
    if (failed || geteuid() != 0)
        return failed;
    if (fchown(copy->fd, status.st_uid, status.st_gid) < 0 ||
        (lock >= 0 && fchown(lock, status.st_uid, status.st_gid) < 0))
        return err_set(err, "%s: cannot be given to whom its folder belongs to: %s", copy->path, strerror(errno));
    return 0;
}

int copy_rename(struct copy *copy, bool fresh, struct err *err)
{
    int failed =
        fresh ? confined_rename_new(AT_FDCWD, copy->part, AT_FDCWD, copy->path) : rename(copy->part, copy->path);

    if (failed < 0 && fresh && errno == EEXIST)
        return err_set(err, STORE_BACKUP_THERE, copy->path);
    if (failed < 0)
        return err_set(err, "%s: %s", copy->path, strerror(errno));
    free(copy->part);
    copy->part = NULL;
    return folder_sync(copy->path, err);
}

void copy_done(struct copy *copy)
{
    libsqlite()->close_v2(copy->db);
    if (copy->fd >= 0)
        close(copy->fd);
    if (copy->part)
        unlink(copy->part);
    free(copy->part);
}
