/* sqlite.c: a shelf in an SQLite file: rows go in and out, and what fails once has failed for good.
 *
 * A transaction begins with the first change and ends with commit. SQLite would copy its log into the file by itself now and then,
 * and keep quiet when that fails; so it is done here, after a commit, and looked after. Copying takes some milliseconds: in a daemon, whose loop
 * must not stop for that long, a thread does most of it (copier.c). */
#include "store/store_parts.h"
#include "sys/steps.h"

#include <stdlib.h>
#include <unistd.h>

#define REST_PAGES 32 /* of the log: so many are copied at once */
#define LATE_TIMES 4  /* a log that is so many times as long as it should be is copied before anything else */

static struct store *store_of(struct shelf *shelf)
{
    return (struct store *)shelf; /* its first member */
}

/* Breaks the shelf: it takes nothing more, and nothing that is on disk is touched again, not even by closing. Returns -1. */
static int store_break(struct store *store, const char *what, struct err *err)
{
    if (!store->broken) /* the first reason is the one that counts */
        db_fail(store->db, store->path, what, &store->why);
    store->broken = true;
    store->changing = false;
    libsqlite()->db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (!libsqlite()->get_autocommit(store->db))
        (void)libsqlite()->exec(store->db, "ROLLBACK", NULL, NULL, NULL); /* forgets; writes nothing */
    return err_set(err, "%s", store->why.text);
}

/* The same for a reason that `err` gives and SQLite does not know. */
static int store_break_for(struct store *store, const struct err *err)
{
    struct err why = *err;

    if (!store->broken)
        store->why = why;
    store->broken = true;
    return store_break(store, "", NULL);
}

/* Can anything be done with the store? -1 when it is broken. */
static int store_ready(const struct store *store, struct err *err)
{
    if (!store->broken)
        return 0;
    err_set(err, "%s", store->why.text);
    return err_context(err, "broken before");
}

static int change_ready(const struct store *store, struct err *err)
{
    if (store_ready(store, err) < 0)
        return -1;
    return store->reads ? err_set(err, "%s: cannot be changed while its rows are being read", store->path) : 0;
}

static int row_ready(const struct store *store, const char *space, size_t key_len, size_t len, struct err *err)
{
    const char *wrong = row_wrong(space, key_len, len);

    return wrong ? err_set(err, "%s: %s", store->path, wrong) : 0;
}

/* Runs a kept statement that gives no rows. */
static int store_run(struct store *store, enum statement which)
{
    sqlite3_stmt *statement = store->statements[which];
    bool done = libsqlite()->step(statement) == SQLITE_DONE;

    return libsqlite()->reset(statement) == SQLITE_OK && done ? 0 : -1;
}

/* Binds bytes without a copy. SQLite takes NULL for a missing value, so it gets a pointer even where there are no bytes. */
static bool bind_bytes(sqlite3_stmt *statement, int place, const void *bytes, size_t len)
{
    return libsqlite()->bind_blob64(statement, place, len ? bytes : "", len, SQLITE_STATIC) == SQLITE_OK;
}

static bool bind_row(sqlite3_stmt *statement, const char *space, const void *key, size_t key_len)
{
    return libsqlite()->bind_text(statement, 1, space, -1, SQLITE_STATIC) == SQLITE_OK &&
           bind_bytes(statement, 2, key, key_len);
}

/* Runs a statement that changes rows. `bound`: the statement has all that it needs. */
static int store_change(struct store *store, enum statement which, bool bound, const char *what, struct err *err)
{
    int failed = 0;

    if (!bound)
        failed = store_break(store, what, err);
    else if (!store->changing && store_run(store, STATEMENT_BEGIN) < 0)
        failed = store_break(store, "begin", err);
    else {
        store->changing = true;
        if (store_run(store, which) < 0)
            failed = store_break(store, what, err);
    }
    libsqlite()->clear_bindings(store->statements[which]);
    return failed;
}

static int store_put(struct shelf *shelf, const char *space, const void *key, size_t key_len, const void *value,
                     size_t len, struct err *err)
{
    struct store *store = store_of(shelf);
    sqlite3_stmt *statement = store->statements[STATEMENT_PUT];
    bool bound;

    if (change_ready(store, err) < 0 || row_ready(store, space, key_len, len, err) < 0)
        return -1;
    bound = bind_row(statement, space, key, key_len) && bind_bytes(statement, 3, value, len) &&
            libsqlite()->bind_int64(statement, 4, (int64_t)row_sum(space, strlen(space), key, key_len, value, len)) ==
                SQLITE_OK;
    step_counts(COUNTED_ROW);
    return store_change(store, STATEMENT_PUT, bound, "put", err);
}

static int store_remove(struct shelf *shelf, const char *space, const void *key, size_t key_len, struct err *err)
{
    struct store *store = store_of(shelf);

    if (change_ready(store, err) < 0 || row_ready(store, space, key_len, 0, err) < 0)
        return -1;
    step_counts(COUNTED_ROW);
    return store_change(store, STATEMENT_REMOVE, bind_row(store->statements[STATEMENT_REMOVE], space, key, key_len),
                        "remove", err);
}

/* Copies the log into the file. The rows are on disk already. A process that reads the file at the same time may be in the way; then this is done
 * another time. */
static void store_checkpoint(struct store *store)
{
    int result = libsqlite()->wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);

    fence_note(store);
    if (result != SQLITE_OK && (result & 0xff) != SQLITE_BUSY && (result & 0xff) != SQLITE_LOCKED)
        store_break(store, "copying the log into the file", NULL);
}

/* What has become of the copying? -1 and `err` when it has failed. Tells how many pages of the log are copied. */
static int store_copied(struct store *store, int *ret_copied, struct err *err)
{
    switch (copier_look(store->copier, ret_copied, &store->main, err)) {
    case COPIER_FAILED:
        return -1;
    case COPIER_BUSY:
        store->copying = true;
        break;
    case COPIER_NONE:
    case COPIER_DONE:
        store->copying = false;
        break;
    }
    return 0;
}

/* Keeps the log short. What is left when the thread has been at it, and is little, is copied here: only a log that is copied whole begins anew. If
 * the thread falls behind it is waited for. */
static void store_shorten(struct store *store, int copied)
{
    bool late = store->wal_pages >= LATE_TIMES * store->wal_pages_max;
    struct err why = {0};

    if (store->wal_pages < store->wal_pages_max || (store->copying && !late))
        return;
    if (store->copying) {
        copier_wait(store->copier);
        if (store_copied(store, &copied, &why) < 0) {
            store_break_for(store, &why);
            return;
        }
    }
    if (!late && store->wal_pages - copied > REST_PAGES && copier_begin(store->copier))
        return;
    store->wal_pages = 0;
    store_checkpoint(store);
}

static int store_commit(struct shelf *shelf, struct err *err)
{
    struct store *store = store_of(shelf);
    struct err why = {0};
    int copied = 0, failed;

    if (change_ready(store, err) < 0)
        return -1;
    if (!store->changing)
        return 0;
    if (store_run(store, STATEMENT_COMMIT) < 0)
        return store_break(store, "commit", err);
    step_counts(COUNTED_COMMIT);
    store->changing = false;
    failed = store_copied(store, &copied, &why);
    if (fence_check(store, err) < 0)
        return store_break_for(store, err);
    if (failed)
        store_break_for(store, &why); /* the rows are on disk, and they are the last */
    else
        store_shorten(store, copied);
    return 0;
}

static int row_damaged(const struct store *store, const char *space, const void *key, size_t key_len, struct err *err)
{
    struct buf name;

    buf_init(&name);
    row_print(&name, key, key_len);
    err_set(err, "%s: a row of %s is damaged: %s", store->path, space, buf_string(&name));
    buf_done(&name);
    return -1;
}

/* Hands over the row at which the statement stands. */
static int row_give(const struct store *store, sqlite3_stmt *statement, const char *space, shelf_row_fn *fn, void *user,
                    bool *ret_more, struct err *err)
{
    const void *key = libsqlite()->column_blob(statement, 0), *value = libsqlite()->column_blob(statement, 1);
    size_t key_len = (size_t)libsqlite()->column_bytes(statement, 0),
           len = (size_t)libsqlite()->column_bytes(statement, 1);
    uint64_t sum = (uint64_t)libsqlite()->column_int64(statement, 2);

    if ((!value && len) || sum != row_sum(space, strlen(space), key, key_len, value, len))
        return row_damaged(store, space, key, key_len, err);
    *ret_more = fn(user, key, key_len, value ? value : "", len);
    return 0;
}

/* Begins to read: by a kept statement, or by a copy of it where a reader further out uses that one. */
static sqlite3_stmt *read_begin(struct store *store, enum statement which)
{
    sqlite3_stmt *statement = store->statements[which];

    if (store->reads && libsqlite()->stmt_busy(statement)) {
        const char *sql = libsqlite()->sql(statement);

        statement = NULL;
        (void)libsqlite()->prepare_v2(store->db, sql, -1, &statement, NULL);
    }
    store->reads++;
    return statement;
}

static void read_end(struct store *store, enum statement which, sqlite3_stmt *statement)
{
    store->reads--;
    if (statement != store->statements[which]) {
        libsqlite()->finalize(statement);
        return;
    }
    libsqlite()->reset(statement);
    libsqlite()->clear_bindings(statement);
}

static int read_rows(struct store *store, sqlite3_stmt *statement, const char *space, shelf_row_fn *fn, void *user,
                     struct err *err)
{
    bool more = true;
    int result = SQLITE_ROW;

    while (more && (result = libsqlite()->step(statement)) == SQLITE_ROW)
        if (row_give(store, statement, space, fn, user, &more, err) < 0)
            return store->strict ? store_break_for(store, err) : -1;
    return result == SQLITE_ROW || result == SQLITE_DONE ? 0 : store_break(store, "reading", err);
}

static int store_each(struct shelf *shelf, const char *space, shelf_row_fn *fn, void *user, struct err *err)
{
    struct store *store = store_of(shelf);
    sqlite3_stmt *statement;
    int failed;

    if (store_ready(store, err) < 0 || row_ready(store, space, 1, 0, err) < 0)
        return -1;
    statement = read_begin(store, STATEMENT_EACH);
    if (!statement || libsqlite()->bind_text(statement, 1, space, -1, SQLITE_STATIC) != SQLITE_OK)
        failed = store_break(store, "reading", err);
    else
        failed = read_rows(store, statement, space, fn, user, err);
    read_end(store, STATEMENT_EACH, statement);
    return failed;
}

static int read_by_key(struct shelf *shelf, enum statement which, const char *space, const void *key, size_t key_len,
                       shelf_row_fn *fn, void *user, struct err *err)
{
    struct store *store = store_of(shelf);
    sqlite3_stmt *statement;
    int failed;

    if (store_ready(store, err) < 0 || row_ready(store, space, key_len, 0, err) < 0)
        return -1;
    statement = read_begin(store, which);
    if (!statement || !bind_row(statement, space, key, key_len))
        failed = store_break(store, "reading", err);
    else
        failed = read_rows(store, statement, space, fn, user, err);
    read_end(store, which, statement);
    return failed;
}

static int store_get(struct shelf *shelf, const char *space, const void *key, size_t key_len, shelf_row_fn *fn,
                     void *user, struct err *err)
{
    return read_by_key(shelf, STATEMENT_GET, space, key, key_len, fn, user, err);
}

static int store_each_after(struct shelf *shelf, const char *space, const void *key, size_t key_len, shelf_row_fn *fn,
                            void *user, struct err *err)
{
    return read_by_key(shelf, STATEMENT_AFTER, space, key, key_len, fn, user, err);
}

static bool store_broken(const struct shelf *shelf)
{
    return ((const struct store *)shelf)->broken;
}

/* Closes a store. The lock is given back last, so that whoever gets it finds the files closed. */
void store_close(struct shelf *shelf)
{
    struct store *store = store_of(shelf);

    if (!store)
        return;
    for (int i = 0; i < STATEMENT_COUNT; i++)
        libsqlite()->finalize(store->statements[i]);
    if (!copier_free(store->copier))
        libsqlite()->db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    libsqlite()->close_v2(store->db); /* drops what was not committed */
    if (store->hold >= 0)
        close(store->hold); /* not before: closing it drops SQLite's own locks */
    if (store->lock >= 0)
        close(store->lock);
    free(store->path);
    free(store);
}

const struct shelf_kind store_kind = {
    .name = "sqlite",
    .put = store_put,
    .remove = store_remove,
    .commit = store_commit,
    .each = store_each,
    .get = store_get,
    .each_after = store_each_after,
    .broken = store_broken,
    .close = store_close,
};
