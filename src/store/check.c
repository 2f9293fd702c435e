/* check.c: looks a store over: SQLite's own check, the schema, each row's bounds and checksum. Changes nothing. */
#include "store/store_parts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct survey {
    const char *path; /* without symbolic links */
    sqlite3 *db;
    store_space_fn *fn;
    void *user;
    struct buf *complaints;
    unsigned complaint_count;
    struct buf name;          /* of the space that we are in */
    struct store_space space; /* it; rows is 0 before the first */
};

ERR_FORMAT(2, 3) static void complain(struct survey *survey, const char *format, ...)
{
    char text[1500];
    va_list args;

    if (++survey->complaint_count > STORE_COMPLAINTS_MAX + 1)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (survey->complaint_count > STORE_COMPLAINTS_MAX)
        buf_adds(survey->complaints, "there is more to complain of\n");
    else
        buf_addf(survey->complaints, "%s\n", text);
}

static bool survey_corrupt(const struct survey *survey)
{
    return (libsqlite()->errcode(survey->db) & 0xff) == SQLITE_CORRUPT;
}

/* Reading the store failed: damage is a complaint, anything else is -1 and `err`. */
static int survey_stopped(struct survey *survey, const char *what, struct err *err)
{
    if (!survey_corrupt(survey))
        return db_fail(survey->db, survey->path, what, err);
    complain(survey, "%s: %s (%d)", what, libsqlite()->errmsg(survey->db), libsqlite()->extended_errcode(survey->db));
    return 0;
}

static int survey_pages(struct survey *survey, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int result, failed = 0;

    libsqlite()->prepare_v2(survey->db, "PRAGMA integrity_check", -1, &statement, NULL);
    while ((result = statement ? libsqlite()->step(statement) : SQLITE_ERROR) == SQLITE_ROW) {
        const char *text = (const char *)libsqlite()->column_text(statement, 0);

        for (size_t len; text && *text && strcmp(text, "ok") != 0; text += len + (text[len] == '\n')) {
            len = strcspn(text, "\n");
            complain(survey, "%.*s", (int)len, text);
        }
    }
    if (result != SQLITE_DONE)
        failed = survey_stopped(survey, "integrity_check", err);
    libsqlite()->finalize(statement);
    return failed;
}

static int survey_meta(struct survey *survey, int64_t version)
{
    char text[32];
    struct err err;

    if (db_text(survey->db, survey->path, "SELECT value FROM meta WHERE name = 'schema'", text, sizeof text, &err) < 0)
        complain(survey, "the table meta does not tell the schema's version: %s", err.text);
    else if (strtoll(text, NULL, 10) != version)
        complain(survey, "the schema is of version %" PRId64 ", but the table meta says %s", version, text);
    return 0;
}

static void space_end(struct survey *survey)
{
    survey->space.name = buf_string(&survey->name);
    if (survey->space.rows && survey->fn)
        survey->fn(survey->user, &survey->space);
}

static void space_begin(struct survey *survey, const char *name, size_t len)
{
    const char *wrong = row_space_wrong(name, len);
    struct buf shown;

    if (survey->space.rows && survey->name.len == len && memcmp(survey->name.text, name, len) == 0)
        return;
    space_end(survey);
    survey->space = (struct store_space){0};
    buf_reset(&survey->name);
    buf_add(&survey->name, name, len);
    if (wrong) {
        buf_init(&shown);
        row_print(&shown, name, len);
        complain(survey, "space %.200s: %s", buf_string(&shown), wrong);
        buf_done(&shown);
    }
}

static void row_complain(struct survey *survey, const void *key, size_t key_len, const char *what)
{
    struct buf space, shown;

    buf_init(&space);
    buf_init(&shown);
    row_print(&space, survey->name.text, survey->name.len);
    row_print(&shown, key, key_len);
    complain(survey, "space %.200s, row %.1100s: %s", buf_string(&space), buf_string(&shown), what);
    buf_done(&space);
    buf_done(&shown);
}

/* Looks a row over. Its columns are space, key, value, and the checksum, or NULL where the schema had none yet. */
static void survey_row(struct survey *survey, sqlite3_stmt *row)
{
    const char *space = (const char *)libsqlite()->column_text(row, 0);
    const void *key = libsqlite()->column_blob(row, 1), *value = libsqlite()->column_blob(row, 2);
    size_t space_len = (size_t)libsqlite()->column_bytes(row, 0), key_len = (size_t)libsqlite()->column_bytes(row, 1);
    size_t len = (size_t)libsqlite()->column_bytes(row, 2);
    bool summed = libsqlite()->column_type(row, 3) != SQLITE_NULL;

    space_begin(survey, space, space_len);
    survey->space.rows++;
    survey->space.bytes += key_len + len;
    if (row_key_wrong(key_len))
        row_complain(survey, key, key_len, row_key_wrong(key_len));
    if (row_value_wrong(len))
        row_complain(survey, key, key_len, row_value_wrong(len));
    if (summed && (uint64_t)libsqlite()->column_int64(row, 3) != row_sum(space, space_len, key, key_len, value, len))
        row_complain(survey, key, key_len, "its checksum is wrong");
}

static int survey_rows(struct survey *survey, int64_t version, struct err *err)
{
    static const char *const selects[] = {
        "SELECT space, key, value, NULL FROM shelf ORDER BY space, key",
        "SELECT space, key, value, sum FROM shelf ORDER BY space, key",
    };
    sqlite3_stmt *statement = NULL;
    int result, failed = 0;

    if (libsqlite()->prepare_v2(survey->db, selects[version >= 2], -1, &statement, NULL) != SQLITE_OK) {
        complain(survey, "the rows cannot be read: %s (%d)", libsqlite()->errmsg(survey->db),
                 libsqlite()->extended_errcode(survey->db));
        return 0;
    }
    while ((result = libsqlite()->step(statement)) == SQLITE_ROW)
        survey_row(survey, statement);
    if (result != SQLITE_DONE)
        failed = survey_stopped(survey, "reading the rows", err);
    space_end(survey);
    libsqlite()->finalize(statement);
    return failed;
}

static int survey_all(struct survey *survey, struct err *err)
{
    int64_t version;

    if (schema_version(survey->db, survey->path, &version, err) < 0) {
        if (!survey_corrupt(survey))
            return -1;
        survey_stopped(survey, "the schema's version cannot be read", err);
        return 1;
    }
    if (version == 0)
        return err_set(err, "%s: holds no store yet", survey->path);
    if (survey_pages(survey, err) < 0 || survey_meta(survey, version) < 0 || survey_rows(survey, version, err) < 0)
        return -1;
    return survey->complaint_count > 0;
}

int reader_survey(const struct reader *reader, store_space_fn *fn, void *user, struct buf *ret_complaints,
                  struct err *err)
{
    struct survey survey = {
        .path = reader->path, .db = reader->db, .fn = fn, .user = user, .complaints = ret_complaints};
    int result;

    buf_init(&survey.name);
    result = survey_all(&survey, err);
    buf_done(&survey.name);
    return result;
}

int store_survey(const char *path, store_space_fn *fn, void *user, struct buf *ret_complaints, struct err *err)
{
    struct reader reader;
    int result = reader_open(&reader, path, err);

    if (result == 0)
        result = reader_survey(&reader, fn, user, ret_complaints, err);
    reader_close(&reader);
    return result;
}

int store_check(const char *path, struct buf *ret_complaints, struct err *err)
{
    return store_survey(path, NULL, NULL, ret_complaints, err);
}
