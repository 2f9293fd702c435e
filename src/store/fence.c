/* fence.c: a daemon goes on with its own store, whole, or not at all.
 *
 * A store that was removed under a daemon takes rows all the same: they go into a file that nobody finds again. One that is missing at
 * the start looks like a first start. One that somebody has written into gives rows back that were never put there. Each of the three
 * is found out here: by the file's device and number, by what else is in the folder, by its size and time after our last change. */
#include "store/store_parts.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_SPAN 1     /* second that either look may take: pages, and rows */
#define LOOK_STEPS 2000 /* of SQLite's between two looks at the clock */
#define ASIDE_MAX 10000

static const char *const ends[] = {"", "-wal", "-shm"};
#define ENDS (sizeof ends / sizeof *ends)

/* ------------------------------------------------------------------------------------------------------- at the start */

static bool path_is(const char *path, const char *end, off_t least)
{
    struct stat status;
    struct buf name;
    bool is;

    buf_init(&name);
    buf_addf(&name, "%s%s", path, end);
    is = stat(buf_string(&name), &status) == 0 && status.st_size >= least;
    buf_done(&name);
    return is;
}

bool fence_folder_has(const char *path, const char *folder)
{
    const char *slash = strrchr(path, '/');
    const struct dirent *entry = NULL;
    struct buf name;
    DIR *dir;

    if (!folder)
        return false;
    buf_init(&name);
    buf_add(&name, path, slash ? (size_t)(slash - path) + 1 : 0);
    buf_adds(&name, folder);
    dir = opendir(buf_string(&name));
    while (dir && (entry = readdir(dir)) && *entry->d_name == '.')
        ;
    if (dir)
        closedir(dir);
    buf_done(&name);
    return entry != NULL;
}

/* What shows that there was a store here before; NULL: nothing does. A store that is empty and not marked is a first start that was broken off. */
static const char *trace_of(const char *path, const struct store_terms *terms)
{
    bool empty = path_is(path, "", 0);

    if (lock_is_marked(path) || (!empty && path_is(path, ".lock", 0)))
        return ".lock";
    if (!empty && path_is(path, "-wal", 0))
        return "-wal";
    return fence_folder_has(path, terms->traces) ? terms->traces : NULL;
}

int fence_move_aside(const char *path, char *ret_aside, size_t room, struct err *err)
{
    char from[PATH_MAX], to[PATH_MAX];
    int number = 1, failed = 0;
    struct stat status;

    for (; number < ASIDE_MAX; number++)
        if (snprintf(to, sizeof to, "%s.old.%d", path, number) >= (int)sizeof to || stat(to, &status) < 0)
            break;
    for (size_t i = 0; i < ENDS && !failed; i++)
        if (snprintf(from, sizeof from, "%s%s", path, ends[i]) >= (int)sizeof from ||
            snprintf(to, sizeof to, "%s.old.%d%s", path, number, ends[i]) >= (int)sizeof to ||
            (rename(from, to) < 0 && errno != ENOENT))
            failed = err_set(err, "%s: cannot be put aside: %s", from, strerror(errno));
    snprintf(ret_aside, room, "%s.old.%d", path, number);
    if (stat(ret_aside, &status) < 0)
        *ret_aside = '\0';
    return failed;
}

int fence_put_aside(const char *path, struct err *err)
{
    int lock = lock_take(path, err), failed;
    char aside[PATH_MAX];

    if (lock < 0)
        return lock == LOCK_HELD ? lock_refuse(path, err) : -1;
    failed = fence_move_aside(path, aside, sizeof aside, err);
    close(lock);
    return failed;
}

int fence_begin(const char *path, const struct store_terms *terms, struct err *err)
{
    bool empty = path_is(path, "", 0);
    const char *trace;

    if (path_is(path, "", 1) || (empty && path_is(path, "-wal", 1) && !lock_is_marked(path)))
        return 1;
    trace = trace_of(path, terms);
    if (trace && !terms->fresh)
        return err_set(err, "%s: is %s, but there was a store here, as %s%s shows: " STORE_WHAT_TO_DO, path,
                       empty ? "empty" : "gone", *trace == '.' || *trace == '-' ? STORE_FILE : "the folder ", trace);
    return trace && fence_put_aside(path, err) < 0 ? -1 : 0;
}

/* ---------------------------------------------------------------------------------------------------------- a look at it */

static int look_is_over(void *user)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > ((const struct timespec *)user)->tv_sec + LOOK_SPAN;
}

static int damage(const char *path, const char *what, struct err *err)
{
    return err_set(err, "%s: is damaged (%s): `berth store check` tells all of it; " STORE_WHAT_TO_DO, path, what);
}

/* Is the row as it was put there? */
static bool row_is_good(sqlite3_stmt *row)
{
    const char *space = (const char *)libsqlite()->column_text(row, 0);
    size_t space_len = (size_t)libsqlite()->column_bytes(row, 0);
    const void *key = libsqlite()->column_blob(row, 1), *value = libsqlite()->column_blob(row, 2);
    size_t key_len = (size_t)libsqlite()->column_bytes(row, 1), len = (size_t)libsqlite()->column_bytes(row, 2);

    return space && key && (value || !len) &&
           (uint64_t)libsqlite()->column_int64(row, 3) ==
               row_sum(space, space_len, key, key_len, value ? value : "", len);
}

/* Goes through the rows that the statement gives, for LOOK_SPAN at most; -1: there is damage. */
static int look_through(sqlite3 *db, const char *path, const char *sql, bool rows, struct err *err)
{
    struct timespec began;
    sqlite3_stmt *statement = NULL;
    int result, failed = 0;

    clock_gettime(CLOCK_MONOTONIC, &began);
    libsqlite()->progress_handler(db, LOOK_STEPS, look_is_over, &began);
    result = libsqlite()->prepare_v2(db, sql, -1, &statement, NULL);
    while (!failed && result != SQLITE_DONE && (result == SQLITE_OK || result == SQLITE_ROW) &&
           (result = libsqlite()->step(statement)) == SQLITE_ROW) {
        const char *said = rows ? NULL : (const char *)libsqlite()->column_text(statement, 0);

        if (rows ? !row_is_good(statement) : !said || strcmp(said, "ok") != 0)
            failed = damage(path, rows ? "a row's checksum is wrong" : said ? said : "unreadable", err);
    }
    if (!failed && result != SQLITE_DONE && (result & 0xff) != SQLITE_INTERRUPT)
        failed = damage(path, libsqlite()->errmsg(db), err);
    libsqlite()->progress_handler(db, 0, NULL, NULL);
    libsqlite()->finalize(statement);
    return failed;
}

int fence_look(sqlite3 *db, const char *path, struct err *err)
{
    if (look_through(db, path, "PRAGMA quick_check(1)", false, err) < 0)
        return -1;
    return look_through(db, path, "SELECT space, key, value, sum FROM shelf", true, err);
}

/* Looks at the store by a connection of its own: ours has pages in memory that are good whatever is on disk. */
static int look_again(const struct store *store, struct err *err)
{
    sqlite3 *db = NULL;
    int failed;

    if (libsqlite()->open_v2(store->path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        failed = damage(store->path, "it cannot be opened again", err);
    else
        failed = fence_look(db, store->path, err);
    libsqlite()->close_v2(db);
    return failed;
}

/* ------------------------------------------------------------------------------------------------------------- at work */

struct store_mark fence_mark(const char *path, const char *end)
{
    char name[PATH_MAX];
    struct stat status;

    if (snprintf(name, sizeof name, "%s%s", path, end) >= (int)sizeof name || stat(name, &status) < 0)
        return (struct store_mark){.there = false};
    return (struct store_mark){true, status.st_dev, status.st_ino, status.st_size, status.st_mtim};
}

static bool mark_is_same_file(const struct store_mark *a, const struct store_mark *b)
{
    return a->there == b->there && a->device == b->device && a->file == b->file;
}

void fence_note(struct store *store)
{
    if (store->strict)
        store->main = fence_mark(store->path, "");
}

/* Is the store still ours? The log is there from the first commit on, and no other file comes in its place while we have it open. */
int fence_check(struct store *store, struct err *err)
{
    struct store_mark main, log;
    struct stat ours;

    if (!store->strict)
        return 0;
    main = fence_mark(store->path, "");
    log = fence_mark(store->path, "-wal");
    if (!store->log.there)
        store->log = log;
    if (!mark_is_same_file(&main, &store->main) || fstat(store->hold, &ours) < 0 || ours.st_ino != main.file ||
        !mark_is_same_file(&log, &store->log) || !log.there)
        return err_set(
            err,
            "%s: was removed, or another was put in its place, while it was in use: nothing more is taken. " STORE_WHAT_TO_DO,
            store->path);
    if (main.size >= store->main.size && store->copying)
        return 0;
    if (main.size == store->main.size && main.changed.tv_sec == store->main.changed.tv_sec &&
        main.changed.tv_nsec == store->main.changed.tv_nsec)
        return 0;
    if (main.size < store->main.size)
        return damage(store->path, "it was cut short while it was in use", err);
    if (look_again(store, err) < 0)
        return -1;
    store->main = main;
    return 0;
}
