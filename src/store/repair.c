/* repair.c: saves what can be read of a damaged store.
 *
 *     rows from the first on, up to where reading fails; then from the next number on that can be read, and so on to the last
 *
 * A row is taken when its checksum is right. Reading goes by the rows' numbers (SQLite's rowid), not by the index, which may be damaged as well:
 * a row that is only in the index has no value. */
#include "store/store_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PROBES_MAX 1000000 /* numbers that are tried one by one, in all */

struct repair {
    struct reader reader;
    struct copy copy;
    sqlite3_stmt *put;
    struct store_copied copied;
    struct buf *lost;
    uint64_t probes;
};

ERR_FORMAT(2, 3) static void lost_add(struct repair *repair, const char *format, ...)
{
    char text[1500];
    va_list args;

    repair->copied.lost++;
    if (repair->copied.lost > STORE_COMPLAINTS_MAX + 1)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buf_addf(repair->lost, "%s\n", repair->copied.lost > STORE_COMPLAINTS_MAX ? "there is more that is lost" : text);
}

/* Its columns are the row's number, space, key, value and checksum. */
static bool row_is_whole(sqlite3_stmt *row)
{
    const char *space = (const char *)libsqlite()->column_text(row, 1);
    size_t space_len = (size_t)libsqlite()->column_bytes(row, 1), key_len = (size_t)libsqlite()->column_bytes(row, 2);
    size_t len = (size_t)libsqlite()->column_bytes(row, 3);
    const void *key = libsqlite()->column_blob(row, 2), *value = libsqlite()->column_blob(row, 3);

    return space && key && (value || !len) && !row_space_wrong(space, space_len) && !row_key_wrong(key_len) &&
           !row_value_wrong(len) &&
           (uint64_t)libsqlite()->column_int64(row, 4) ==
               row_sum(space, space_len, key, key_len, value ? value : "", len);
}

static int row_save(struct repair *repair, sqlite3_stmt *row, struct err *err)
{
    struct buf space, key;

    if (row_is_whole(row)) {
        for (int i = 1; i <= 4; i++)
            if (libsqlite()->bind_value(repair->put, i, libsqlite()->column_value(row, i)) != SQLITE_OK)
                return db_fail(repair->copy.db, repair->copy.part, "put", err);
        if (libsqlite()->step(repair->put) != SQLITE_DONE)
            return db_fail(repair->copy.db, repair->copy.part, "put", err);
        libsqlite()->reset(repair->put);
        repair->copied.rows++;
        repair->copied.bytes +=
            (uint64_t)libsqlite()->column_bytes(row, 2) + (uint64_t)libsqlite()->column_bytes(row, 3);
        return 0;
    }
    buf_init(&space);
    buf_init(&key);
    row_print(&space, libsqlite()->column_blob(row, 1), (size_t)libsqlite()->column_bytes(row, 1));
    row_print(&key, libsqlite()->column_blob(row, 2), (size_t)libsqlite()->column_bytes(row, 2));
    lost_add(repair, "space %.200s, row %.1100s: its checksum is wrong", buf_string(&space), buf_string(&key));
    buf_done(&space);
    buf_done(&key);
    return 0;
}

/* Saves rows from that number on. `*ret_next`: reading failed there, or 0: there are no more. */
static int rows_save(struct repair *repair, int64_t from, int64_t *ret_next, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    int64_t last = from - 1;
    int result, failed = 0;

    result = libsqlite()->prepare_v2(
        repair->reader.db,
        "SELECT rowid, space, key, value, sum FROM shelf NOT INDEXED WHERE rowid >= ?1 ORDER BY rowid", -1, &rows,
        NULL);
    if (result == SQLITE_OK)
        result = libsqlite()->bind_int64(rows, 1, from);
    while (!failed && (result == SQLITE_OK || result == SQLITE_ROW) &&
           (result = libsqlite()->step(rows)) == SQLITE_ROW) {
        last = libsqlite()->column_int64(rows, 0);
        failed = row_save(repair, rows, err);
    }
    if (!failed && result != SQLITE_DONE && (result & 0xff) != SQLITE_CORRUPT)
        failed = db_fail(repair->reader.db, repair->reader.path, "reading", err);
    libsqlite()->finalize(rows);
    *ret_next = result == SQLITE_DONE || last == INT64_MAX ? 0 : last + 1;
    return failed;
}

/* The largest number of a row, as far as it can be found. */
static int64_t number_last(const struct repair *repair)
{
    int64_t last = 0;
    struct err err;

    if (db_number(repair->reader.db, repair->reader.path, "SELECT max(rowid) FROM shelf NOT INDEXED", &last, &err) < 0)
        (void)db_number(repair->reader.db, repair->reader.path, "SELECT max(rowid) FROM shelf", &last, &err);
    return last;
}

/* The first number from `at` up to `last` at which a row can be read; 0: there is none, or too many were tried. */
static int64_t number_readable(struct repair *repair, sqlite3_stmt *probe, int64_t at, int64_t last)
{
    for (; at <= last && at < INT64_MAX && repair->probes < PROBES_MAX; at++) {
        repair->probes++;
        libsqlite()->reset(probe);
        libsqlite()->bind_int64(probe, 1, at);
        if (libsqlite()->step(probe) == SQLITE_ROW)
            return at;
    }
    return 0;
}

static int shelf_save(struct repair *repair, struct err *err)
{
    int64_t next = INT64_MIN + 1, last = number_last(repair), from;
    sqlite3_stmt *probe = NULL;
    int failed = 0;

    libsqlite()->prepare_v2(repair->reader.db, "SELECT value, sum FROM shelf NOT INDEXED WHERE rowid = ?1", -1, &probe,
                            NULL);
    while (!failed && (failed = rows_save(repair, next, &from, err)) == 0 && from) {
        int64_t first = from < 1 ? 1 : from;

        next = probe ? number_readable(repair, probe, first, last) : 0;
        libsqlite()->reset(probe);
        lost_add(repair, "what had the numbers %lld to %lld cannot be read", (long long)first,
                 (long long)(next           ? next - 1
                             : last < first ? first
                                            : last));
        if (!next)
            break;
    }
    libsqlite()->finalize(probe);
    return failed;
}

static int repair_copy(struct repair *repair, struct err *err)
{
    int64_t version;
    int failed;

    if (schema_version(repair->reader.db, repair->reader.path, &version, err) < 0)
        return err_context(err, "nothing of it can be saved: put it back from a backup");
    if (version < 2) /* its rows have no checksums */
        return err_set(err, "%s: is of an earlier version, and damaged: put it back from a backup",
                       repair->reader.path);
    if (schema_migrate(repair->copy.db, repair->copy.part, err) < 0 ||
        db_run(repair->copy.db, repair->copy.part, "BEGIN", err) < 0)
        return -1;
    if (libsqlite()->prepare_v2(repair->copy.db,
                                "INSERT OR IGNORE INTO shelf (space, key, value, sum) VALUES (?1, ?2, ?3, ?4)", -1,
                                &repair->put, NULL) != SQLITE_OK)
        return db_fail(repair->copy.db, repair->copy.part, "put", err);
    failed = shelf_save(repair, err);
    libsqlite()->finalize(repair->put);
    if (failed || copy_mark(&repair->copy, 0, false, err) < 0 ||
        db_run(repair->copy.db, repair->copy.part, "COMMIT", err) < 0)
        return -1;
    return copy_close(&repair->copy, err);
}

/* Is something wrong with it? -1: it cannot be looked at. */
static int repair_wanted(const struct reader *reader, struct err *err)
{
    struct buf complaints;
    int wrong;

    buf_init(&complaints);
    wrong = fence_look_log(reader->path, err) < 0 ? 1 : reader_survey(reader, NULL, NULL, &complaints, err);
    buf_done(&complaints);
    return wrong;
}

static int repair_locked(struct repair *repair, const char *path, int lock, struct err *err)
{
    int wanted;

    if (reader_open_locked(&repair->reader, path, err) < 0)
        return -1;
    wanted = repair_wanted(&repair->reader, err);
    if (wanted <= 0)
        return wanted;
    if (copy_begin(&repair->copy, path, err) < 0 || repair_copy(repair, err) < 0 ||
        copy_give(&repair->copy, lock, err) < 0 ||
        fence_move_aside(path, repair->copied.aside, sizeof repair->copied.aside, err) < 0)
        return -1;
    return copy_rename(&repair->copy, false, err) < 0 ? -1 : 1;
}

int store_repair(const char *path, struct store_copied *ret, struct buf *ret_lost, struct err *err)
{
    struct repair repair = {.reader = {.lock = -1}, .copy = {.fd = -1}, .lost = ret_lost};
    char *real = store_is_remote(path) ? NULL : realpath(path, NULL);
    int lock, result;

    if (store_is_remote(path))
        return err_set(err, "a store in a database is repaired there; or put back, with `berth store restore`");
    if (!real)
        return err_set(err, "%s: is not there: `berth store restore` puts a backup in its place", path);
    lock = lock_take(real, err);
    result = lock == LOCK_HELD ? lock_refuse(real, err) : lock < 0 ? -1 : repair_locked(&repair, real, lock, err);
    copy_done(&repair.copy);
    reader_close(&repair.reader);
    if (lock >= 0)
        close(lock);
    free(real);
    *ret = repair.copied;
    return result;
}
