/* schema.c: the tables of a store, and how an older file becomes one of today.
 *
 *     shelf (space, key, value, sum)      a row a row; sum is its checksum (row_sum)
 *     meta (name, value)                  'schema': the version, for people; PRAGMA user_version counts
 *
 * A new file takes the same steps as an old one, from version 0. Each is a transaction that ends with the version's number, so a
 * power cut leaves a file of some version, and the next open goes on from there. A row has a rowid: with random keys of 16 bytes and
 * values of 1200 a table without took 3.3 times the room, and was slower to fill in every round (1.5 to 4 times). */
#include "store/store_parts.h"

#include <inttypes.h>

#define APPLICATION 0x42727468 /* "Brth": PRAGMA application_id, in the file's header */

struct step {
    const char *what; /* it does */
    const char *sql;
};

/* The step to version 1 is the first. */
static const struct step steps[] = {
    {"make the tables",
     "CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
     "CREATE TABLE shelf (space TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (space, key)) STRICT"},
    {"give each row a checksum", "ALTER TABLE shelf ADD COLUMN sum INTEGER NOT NULL DEFAULT 0;"
                                 "UPDATE shelf SET sum = row_sum(space, key, value)"},
    {"let a row stand for many jobs",
     "SELECT 1"}, /* the rows of before are as they were; an older program would misread the new ones */
};
const int64_t schema_current = sizeof steps / sizeof *steps;

/* row_sum(space, key, value) in SQL. */
static void sum_function(sqlite3_context *context, int count, sqlite3_value **values)
{
    const void *parts[3];
    size_t lens[3];

    (void)count;
    for (int i = 0; i < 3; i++) {
        parts[i] = i == 0 ? libsqlite()->value_text(values[i]) : libsqlite()->value_blob(values[i]);
        lens[i] = (size_t)libsqlite()->value_bytes(values[i]);
        if (!parts[i] && lens[i]) {
            libsqlite()->result_error_nomem(context);
            return;
        }
    }
    libsqlite()->result_int64(context, (int64_t)row_sum(parts[0], lens[0], parts[1], lens[1], parts[2], lens[2]));
}

int schema_version(sqlite3 *db, const char *path, int64_t *ret_version, struct err *err)
{
    int64_t application, version, tables;

    if (db_number(db, path, "PRAGMA application_id", &application, err) < 0 ||
        db_number(db, path, "PRAGMA user_version", &version, err) < 0 ||
        db_number(db, path, "SELECT count(*) FROM sqlite_schema", &tables, err) < 0)
        return -1;
    if (application == 0 && version == 0 && tables == 0) {
        *ret_version = 0;
        return 0;
    }
    if (application != APPLICATION)
        return err_set(err, "%s: is an SQLite file, but not a store of berth", path);
    if (version > schema_current)
        return err_set(
            err, "%s: was made by a newer berth: its schema is of version %" PRId64 ", this berth knows up to %" PRId64,
            path, version, schema_current);
    if (version < 1)
        return err_set(err, "%s: there is no schema of version %" PRId64, path, version);
    *ret_version = version;
    return 0;
}

/* Takes a store from the version before to this one. */
static int step_take(sqlite3 *db, const char *path, int64_t version, struct err *err)
{
    char stamp[240];

    libsqlite()->snprintf(sizeof stamp, stamp,
                          "INSERT OR REPLACE INTO meta VALUES ('schema', '%lld');"
                          "PRAGMA application_id = %d; PRAGMA user_version = %lld; COMMIT",
                          (long long)version, APPLICATION, (long long)version);
    if (db_run(db, path, "BEGIN IMMEDIATE", err) == 0 && db_run(db, path, steps[version - 1].sql, err) == 0 &&
        db_run(db, path, stamp, err) == 0)
        return 0;
    if (!libsqlite()->get_autocommit(db))
        (void)libsqlite()->exec(db, "ROLLBACK", NULL, NULL, NULL);
    return -1;
}

int schema_migrate(sqlite3 *db, const char *path, struct err *err)
{
    int64_t version;

    if (schema_version(db, path, &version, err) < 0)
        return -1;
    if (version < schema_current &&
        libsqlite()->create_function(db, "row_sum", 3, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL,
                                     sum_function, NULL, NULL) != SQLITE_OK)
        return db_fail(db, path, "row_sum", err);
    while (version < schema_current)
        if (step_take(db, path, ++version, err) < 0)
            return err_context(err, "to version %" PRId64 ", %s", version, steps[version - 1].what);
    return 0;
}
