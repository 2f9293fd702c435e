/* reader.c: opens a store to be read, whether or not a process has it, and changes nothing of it.
 *
 * Where a process has the store open, we read beside it, as SQLite provides. Where none has, a lock keeps it so, and the file is read
 * such that SQLite makes no file and writes none: as one that cannot change, or, where a log was left behind, with the log's index in
 * memory and without SQLite's own locks. */
#include "store/store_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_MS 5000

static int reader_find(struct reader *reader, const char *path, struct err *err)
{
    struct stat status;

    reader->path = realpath(path, NULL);
    if (!reader->path || stat(reader->path, &status) < 0)
        return err_set(err, "%s: %s", path, strerror(errno));
    return S_ISREG(status.st_mode) ? 0 : err_set(err, "%s: is not a regular file", reader->path);
}

/* Is there a log (FILE-wal) with something in it? */
static bool log_left(const char *path)
{
    struct stat status;
    struct buf name;
    bool left;

    buf_init(&name);
    buf_addf(&name, "%s-wal", path);
    left = stat(buf_string(&name), &status) == 0 && status.st_size > 0;
    buf_done(&name);
    return left;
}

/* Adds the path as a URI, which is how SQLite is told how to open a file. */
static void add_uri(struct buf *out, const char *path)
{
    buf_adds(out, "file:");
    for (const char *c = path; *c; c++)
        if (strchr("%?#", *c))
            buf_addf(out, "%%%02x", (unsigned char)*c);
        else
            buf_addc(out, *c);
    buf_adds(out, "?immutable=1");
}

static int reader_connect(struct reader *reader, bool alone, struct err *err)
{
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, result;
    bool left = log_left(reader->path);
    struct buf uri;

    buf_init(&uri);
    add_uri(&uri, reader->path);
    if (alone && !left)
        result = libsqlite()->open_v2(buf_string(&uri), &reader->db, flags | SQLITE_OPEN_URI, NULL);
    else
        result = libsqlite()->open_v2(reader->path, &reader->db, flags, alone ? "unix-none" : NULL);
    buf_done(&uri);
    if (!reader->db)
        return err_set(err, "%s: out of memory", reader->path);
    if (result != SQLITE_OK)
        return db_fail(reader->db, reader->path, "cannot be opened", err);
    libsqlite()->busy_timeout(reader->db, BUSY_MS);
    libsqlite()->db_config(reader->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (alone && left && db_run(reader->db, reader->path, "PRAGMA locking_mode = EXCLUSIVE", err) < 0)
        return -1;
    return db_run(reader->db, reader->path, "BEGIN", err); /* all that follows sees one state */
}

int reader_open_locked(struct reader *reader, const char *path, struct err *err)
{
    *reader = (struct reader){.lock = -1};
    return reader_find(reader, path, err) < 0 ? -1 : reader_connect(reader, true, err);
}

int reader_open(struct reader *reader, const char *path, struct err *err)
{
    *reader = (struct reader){.lock = -1};
    if (reader_find(reader, path, err) < 0)
        return -1;
    reader->lock = lock_look(reader->path, err);
    if (reader->lock == -1)
        return -1;
    return reader_connect(reader, reader->lock != LOCK_HELD, err);
}

void reader_close(struct reader *reader)
{
    libsqlite()->close_v2(reader->db);
    if (reader->lock >= 0)
        close(reader->lock);
    free(reader->path);
}
