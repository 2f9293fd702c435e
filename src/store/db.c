/* db.c: small questions to an SQLite connection. */
#include "store/store_parts.h"

int db_fail(sqlite3 *db, const char *path, const char *what, struct err *err)
{
    return err_set(err, "%s: %s: %s (%d)", path, what, libsqlite()->errmsg(db), libsqlite()->extended_errcode(db));
}

int db_run(sqlite3 *db, const char *path, const char *sql, struct err *err)
{
    return libsqlite()->exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : db_fail(db, path, sql, err);
}

/* Prepares a question and steps to its first row. */
static sqlite3_stmt *db_ask(sqlite3 *db, const char *path, const char *sql, struct err *err)
{
    sqlite3_stmt *statement = NULL;

    if (libsqlite()->prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        libsqlite()->step(statement) == SQLITE_ROW)
        return statement;
    if (libsqlite()->errcode(db) == SQLITE_DONE)
        err_set(err, "%s: %s: nothing is there", path, sql);
    else
        db_fail(db, path, sql, err);
    libsqlite()->finalize(statement);
    return NULL;
}

int db_number(sqlite3 *db, const char *path, const char *sql, int64_t *ret_number, struct err *err)
{
    sqlite3_stmt *statement = db_ask(db, path, sql, err);

    if (!statement)
        return -1;
    *ret_number = libsqlite()->column_int64(statement, 0);
    libsqlite()->finalize(statement);
    return 0;
}

int db_text(sqlite3 *db, const char *path, const char *sql, char *ret_text, size_t room, struct err *err)
{
    sqlite3_stmt *statement = db_ask(db, path, sql, err);
    const char *text;

    if (!statement)
        return -1;
    text = (const char *)libsqlite()->column_text(statement, 0);
    libsqlite()->snprintf((int)room, ret_text, "%s", text ? text : "");
    libsqlite()->finalize(statement);
    return 0;
}

struct stored_row stored_row_of(sqlite3_stmt *row)
{
    return (struct stored_row){.space = (const char *)libsqlite()->column_text(row, 0),
                               .space_len = (size_t)libsqlite()->column_bytes(row, 0),
                               .key = libsqlite()->column_blob(row, 1),
                               .key_len = (size_t)libsqlite()->column_bytes(row, 1),
                               .value = libsqlite()->column_blob(row, 2),
                               .len = (size_t)libsqlite()->column_bytes(row, 2),
                               .summed = libsqlite()->column_type(row, 3) != SQLITE_NULL,
                               .sum = (uint64_t)libsqlite()->column_int64(row, 3)};
}
