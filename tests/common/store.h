/* store.h: a folder with a store in it, for the tests of store/. */
#ifndef BERTH_TESTS_STORE_H
#define BERTH_TESTS_STORE_H

#include "store/store_parts.h"

#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct bench { /* where a test works */
    char folder[64];
    char path[128];
};

/* A new folder; the path has characters that mean something to others. */
static inline void bench_init(struct bench *bench)
{
    snprintf(bench->folder, sizeof bench->folder, "/tmp/berth-store-XXXXXX");
    if (!mkdtemp(bench->folder)) {
        printf("Bail out! %s: %s\n", bench->folder, strerror(errno));
        exit(1);
    }
    snprintf(bench->path, sizeof bench->path, "%s/a %%41?#.db", bench->folder);
}

static inline struct shelf *open_shelf(const struct bench *bench)
{
    struct err err = {0};
    struct shelf *shelf = store_open(bench->path, &err);

    if (!shelf)
        tap_diag("%s", err.text);
    return shelf;
}

static inline void bench_wipe(const struct bench *bench)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", ".lock"};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char name[160];

        snprintf(name, sizeof name, "%s%s", bench->path, ends[i]);
        unlink(name);
    }
}

static inline void bench_done(const struct bench *bench)
{
    bench_wipe(bench);
    rmdir(bench->folder);
}

static inline int put_text(struct shelf *shelf, const char *space, const char *key, const char *value, struct err *err)
{
    return shelf->kind->put(shelf, space, key, strlen(key), value, strlen(value), err);
}

/* SQL on the file itself. */
static inline void run_sql(const struct bench *bench, const char *sql)
{
    sqlite3 *db = NULL;

    if (sqlite3_open(bench->path, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        tap_ok(false, "the test's own SQL: %s: %s", sql, sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* As the first berth made it, with rows in the spaces `s` and `t`. */
#define VERSION_1_ROWS 3
#define VERSION_1                                                                                    \
    "PRAGMA journal_mode = WAL; BEGIN;"                                                              \
    "CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;" \
    "CREATE TABLE shelf (space TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL,"               \
    " PRIMARY KEY (space, key)) STRICT;"                                                             \
    "INSERT INTO meta VALUES ('schema', '1');"                                                       \
    "INSERT INTO shelf VALUES ('s', CAST('a' AS BLOB), CAST('old' AS BLOB)), ('s', x'ff00', x''),"   \
    " ('t', CAST('a' AS BLOB), zeroblob(100000));"                                                   \
    "PRAGMA application_id = 1114797160; PRAGMA user_version = 1; COMMIT"

#endif
