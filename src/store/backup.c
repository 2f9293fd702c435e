/* backup.c: copies of a store, and a copy put in the place of one.
 *
 * A copy is made page by page within one reading transaction: it is the store as it was at one moment, with what is in its log, and whoever
 * writes meanwhile goes on. Before it gets its name all of it is looked over, as `berth store check` does: a backup that would not
 * help is found when it is made. */
#include "store/remote_parts.h"

#include "pool/protocol/role.h"
#include "sys/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int pages_copy(sqlite3 *from, struct copy *copy, struct err *err)
{
    sqlite3_backup *backup = libsqlite()->backup_init(copy->db, "main", from, "main");
    int result = backup ? libsqlite()->backup_step(backup, -1) : SQLITE_ERROR;

    if (backup)
        libsqlite()->backup_finish(backup);
    if (result != SQLITE_DONE)
        return db_fail(copy->db, copy->part, "the pages cannot be copied", err);
    return db_run(copy->db, copy->part, "PRAGMA journal_mode = DELETE", err); /* one file, without a log beside it */
}

static void space_count(void *user, const struct store_space *space)
{
    struct store_copied *copied = user;

    if (!strcmp(space->name, SHELF_RESTORED_SPACE))
        return;
    copied->rows += space->rows;
    copied->bytes += space->bytes;
}

int copy_check(const struct copy *copy, const char *from, struct store_copied *ret, struct err *err)
{
    struct buf complaints;
    int result;

    *ret = (struct store_copied){0};
    buf_init(&complaints);
    result = store_survey(copy->part, space_count, ret, &complaints, err);
    if (result > 0)
        err_set(
            err,
            "%s: is damaged (%.*s): `berth store check` tells all of it, `berth store repair` saves what can be read",
            from, (int)strcspn(buf_string(&complaints), "\n"), buf_string(&complaints));
    buf_done(&complaints);
    return result ? -1 : 0;
}

/* Copies what the reader reads to a file that gets its name later. A schema of before stays as it is where an older program may want it back;
 * such a copy has no mark. */
static int copy_make(struct copy *copy, const struct reader *from, int64_t wall, bool alone, bool migrate,
                     struct store_copied *ret, struct err *err)
{
    int64_t version;

    if (schema_version(from->db, from->path, &version, err) < 0)
        return -1;
    if (version == 0)
        return err_set(err, "%s: holds no store yet", from->path);
    if (pages_copy(from->db, copy, err) < 0 || (migrate && schema_migrate(copy->db, copy->part, err) < 0))
        return -1;
    if ((migrate || version == schema_current) && copy_mark(copy, wall, alone, err) < 0)
        return -1;
    return copy_close(copy, err) < 0 ? -1 : copy_check(copy, from->path, ret, err);
}

int store_backup(const char *path, const char *to, struct store_copied *ret, struct err *err)
{
    struct store_copied copied;
    struct reader reader;
    struct copy copy = {.fd = -1};
    struct stat status;
    int failed;

    if (lstat(to, &status) == 0)
        return err_set(err, STORE_BACKUP_THERE, to);
    if (store_is_remote(path))
        return remote_backup(path, to, ret, err);
    failed = reader_open(&reader, path, err) < 0 || copy_begin(&copy, to, err) < 0 ||
             copy_make(&copy, &reader, wall_seconds(clock_wall()), false, false, &copied, err) < 0 ||
             copy_rename(&copy, true, err) < 0;
    copy_done(&copy);
    reader_close(&reader);
    if (!failed)
        *ret = copied;
    return failed ? -1 : 0;
}

/* ------------------------------------------------------------------------------------------------------------ restoring */

int64_t copy_second(const struct reader *reader)
{
    char value[40] = "";
    struct err err;

    if (db_text(reader->db, reader->path,
                "SELECT CAST(value AS TEXT) FROM shelf WHERE space = '" SHELF_RESTORED_SPACE "'", value, sizeof value,
                &err) < 0)
        return 0;
    return strtoll(value, NULL, 10);
}

static int restore_locked(const struct reader *reader, const char *path, int lock, bool alone, struct store_copied *ret,
                          struct err *err)
{
    struct store_copied copied;
    struct copy copy = {.fd = -1};
    int failed;

    failed = copy_begin(&copy, path, err) < 0 ||
             copy_make(&copy, reader, copy_second(reader), alone, true, &copied, err) < 0 ||
             copy_give(&copy, lock, err) < 0 || fence_move_aside(path, copied.aside, sizeof copied.aside, err) < 0 ||
             copy_rename(&copy, false, err) < 0;
    copy_done(&copy);
    if (!failed)
        *ret = copied;
    return failed ? -1 : 0;
}

int store_restore(const char *from, const char *path, bool alone, struct store_copied *ret, struct err *err)
{
    const char *place;
    struct reader reader;
    int lock = -1, failed;
    char *real; /* the lock's name follows from that of the file */

    if (store_is_remote(path))
        return remote_restore(from, path, alone, ret, err);
    real = realpath(path, NULL);
    place = real ? real : path;
    failed = reader_open(&reader, from, err);
    if (!failed && real && !strcmp(real, reader.path))
        failed = err_set(err, "%s: is the store itself, not a backup of it", from);
    if (!failed) {
        lock = lock_take(place, err);
        failed = lock == LOCK_HELD ? lock_refuse(place, err) : lock < 0 ? -1 : 0;
    }
    if (!failed)
        failed = restore_locked(&reader, place, lock, alone, ret, err);
    if (!failed)
        lock_mark(lock);
    if (lock >= 0)
        close(lock);
    reader_close(&reader);
    free(real);
    return failed;
}
