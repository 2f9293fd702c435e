/* open.c: opens a store: from a path to a shelf that can be relied on.
 *
 *     find the file, lock it, connect, identify it, hide it, configure, migrate, settle, prepare
 *
 * Until the file is known to be ours, nothing of it is changed. To settle is to copy FILE-wal into FILE and begin it anew. After a
 * failed fsync the last process stopped; the system may still show us pages that never reached the disk, and would not write them
 * again by itself. The copy does, so that no later commit stands on them. */
#include "store/remote_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAL_PAGES_MAX 4000 /* 16 MiB: a log that begins anew holds up its commit, and so it is not to be often */
#define BUSY_MS 5000       /* for those who look at the file meanwhile; they hold it for moments */

static const struct setting {
    const char *set, *ask, *want;
} settings[] = {
    {"PRAGMA journal_mode = WAL", "PRAGMA journal_mode", "wal"},
    {"PRAGMA synchronous = FULL", "PRAGMA synchronous", "2"}, /* fsync at each commit */
    {"PRAGMA journal_size_limit = 67108864", "PRAGMA journal_size_limit",
     "67108864"}, /* of what FILE-wal keeps: to cut it takes long on some disks */
    {"PRAGMA cell_size_check = ON", "PRAGMA cell_size_check", "1"}, /* damage is seen sooner */
};

int folder_sync(const char *path, struct err *err)
{
    char *folder = mem_dup(path, strlen(path)), *slash = strrchr(folder, '/');
    int fd, failed = 0;

    if (slash)
        slash[slash == folder] = 0;
    fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fsync(fd) < 0)
        failed = err_set(err, "%s: %s", folder, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(folder);
    return failed;
}

static int file_make(const char *path, struct err *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd < 0)
        return errno == EEXIST ? 0 : err_set(err, "%s: %s", path, strerror(errno));
    close(fd);
    return 0;
}

/* Finds the file. `store->path` is what was asked for, and becomes the file's one true name: the lock's name follows from it. */
static int store_find(struct store *store, struct err *err)
{
    char *real = realpath(store->path, NULL);
    struct stat status;

    if (!real && errno == ENOENT) {
        if (file_make(store->path, err) < 0)
            return -1;
        real = realpath(store->path, NULL);
    }
    if (!real)
        return err_set(err, "%s: %s", store->path, strerror(errno));
    free(store->path);
    store->path = real;
    if (stat(real, &status) < 0)
        return err_set(err, "%s: %s", real, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return err_set(err, "%s: is not a regular file", real);
    return status.st_size == 0 ? folder_sync(real, err) : 0;
}

static int store_lock(struct store *store, struct err *err)
{
    store->lock = lock_take(store->path, err);
    if (store->lock >= 0)
        store->hold = lock_hold(store->path, err);
    if (store->lock != LOCK_HELD && store->hold != LOCK_HELD)
        return store->lock < 0 || store->hold < 0 ? -1 : 0;
    return lock_refuse(store->path, err);
}

static int store_connect(struct store *store, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;

    if (libsqlite()->open_v2(store->path, &store->db, flags, NULL) != SQLITE_OK)
        return store->db ? db_fail(store->db, store->path, "cannot be opened", err)
                         : err_set(err, "%s: out of memory", store->path);
    libsqlite()->busy_timeout(store->db, BUSY_MS);
    libsqlite()->db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return 0;
}

static int store_identify(struct store *store, struct err *err)
{
    int64_t version;

    return schema_version(store->db, store->path, &version, err);
}

/* Hides the files of a store from everybody but their owner. */
static int store_hide(struct store *store, struct err *err)
{
    static const char *const ends[] = {"", "-wal", "-shm"};
    int failed = 0;

    for (size_t i = 0; i < sizeof ends / sizeof *ends && !failed; i++) {
        struct stat status;
        struct buf name;

        buf_init(&name);
        buf_addf(&name, "%s%s", store->path, ends[i]);
        if (stat(buf_string(&name), &status) == 0 && (status.st_mode & 0777) != 0600 &&
            chmod(buf_string(&name), 0600) < 0)
            failed = err_set(err, "%s: its mode cannot be made 0600: %s", buf_string(&name), strerror(errno));
        buf_done(&name);
    }
    return failed;
}

static int store_configure(struct store *store, struct err *err)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const struct setting *setting = &settings[i];
        char is[32];

        if (db_run(store->db, store->path, setting->set, err) < 0 ||
            db_text(store->db, store->path, setting->ask, is, sizeof is, err) < 0)
            return -1;
        if (strcmp(is, setting->want) != 0)
            return err_set(err, "%s: %s: it is %s", store->path, setting->set, is);
    }
    return 0;
}

static int store_migrate(struct store *store, struct err *err)
{
    return schema_migrate(store->db, store->path, err);
}

static int store_settle(struct store *store, struct err *err)
{
    if (libsqlite()->wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) != SQLITE_OK)
        return db_fail(store->db, store->path, "what the log holds cannot be copied", err);
    return 0;
}

/* Looks for damage in the log and in the file, before anything of the log is copied. */
static int store_look(struct store *store, struct err *err)
{
    if (!store->strict)
        return 0;
    return fence_look_log(store->path, err) < 0 ? -1 : fence_look(store->db, store->path, err);
}

static int wal_noted(void *user, sqlite3 *db, const char *name, int pages)
{
    struct store *store = user;

    (void)db, (void)name;
    store->wal_pages = pages;
    return SQLITE_OK;
}

static int store_prepare(struct store *store, struct err *err)
{
    static const char *const statements[] = {
#define X(id, sql) sql,
        STATEMENTS(X)
#undef X
    };

    for (int i = 0; i < STATEMENT_COUNT; i++)
        if (libsqlite()->prepare_v3(store->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT, &store->statements[i],
                                    NULL) != SQLITE_OK)
            return db_fail(store->db, store->path, statements[i], err);
    libsqlite()->wal_hook(store->db, wal_noted,
                          store); /* in the place of SQLite's own, which would not tell when it fails */
    libsqlite()->db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    if (store->strict && !(store->copier = copier_new(store->path, err)))
        return -1;
    lock_mark(store->lock);
    fence_note(store);
    return 0;
}

static struct shelf *store_begin(const char *path, bool strict, struct err *err)
{
    static int (*const steps[])(struct store *, struct err *) = {
        store_find,      store_lock,    store_connect, store_identify, store_hide,
        store_configure, store_migrate, store_look,    store_settle,   store_prepare,
    };
    struct store *store = mem_alloc(sizeof *store);

    *store = (struct store){.shelf = {&store_kind},
                            .path = mem_dup(path, strlen(path)),
                            .lock = -1,
                            .hold = -1,
                            .strict = strict,
                            .wal_pages_max = WAL_PAGES_MAX};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i](store, err) < 0) {
            store_close(&store->shelf);
            return NULL;
        }
    return &store->shelf;
}

struct shelf *store_open(const char *path, struct err *err)
{
    if (store_is_remote(path))
        return remote_open(path, NULL, err);
    return store_begin(path, false, err);
}

struct shelf *store_open_as(const char *path, const struct store_terms *terms, struct err *err)
{
    struct shelf *shelf;
    int was;

    if (store_is_remote(path))
        return remote_open(path, terms, err);
    was = fence_begin(path, terms, err);
    if (was < 0)
        return NULL;
    shelf = store_begin(path, true, err);
    if (!terms->fresh || !was)
        return shelf;
    if (shelf) {
        shelf->kind->close(shelf);
        err_set(err, "%s: is there, and whole: nothing is begun anew", path);
        return NULL;
    }
    return fence_put_aside(path, err) < 0 ? NULL : store_begin(path, true, err);
}
