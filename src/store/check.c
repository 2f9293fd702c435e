/* check.c: looks a store over: SQLite's own check, the schema, each row's bounds and checksum. Changes nothing. */
#include "store/remote_parts.h"

#include <inttypes.h>
#include <stdlib.h>

struct file_survey {
    struct survey rows;
    const char *path; /* without symbolic links */
    sqlite3 *db;
};

static bool survey_corrupt(const struct file_survey *survey)
{
    return (libsqlite()->errcode(survey->db) & 0xff) == SQLITE_CORRUPT;
}

/* Reading the store failed: damage is a complaint, anything else is -1 and `err`. */
static int survey_stopped(struct file_survey *survey, const char *what, struct err *err)
{
    if (!survey_corrupt(survey))
        return db_fail(survey->db, survey->path, what, err);
    survey_complain(&survey->rows, "%s: %s (%d)", what, libsqlite()->errmsg(survey->db),
                    libsqlite()->extended_errcode(survey->db));
    return 0;
}

static int survey_pages(struct file_survey *survey, struct err *err)
{
    sqlite3_stmt *statement = NULL;
    int result, failed = 0;

    libsqlite()->prepare_v2(survey->db, "PRAGMA integrity_check", -1, &statement, NULL);
    while ((result = statement ? libsqlite()->step(statement) : SQLITE_ERROR) == SQLITE_ROW) {
        const char *text = (const char *)libsqlite()->column_text(statement, 0);

        for (size_t len; text && *text && strcmp(text, "ok") != 0; text += len + (text[len] == '\n')) {
            len = strcspn(text, "\n");
            survey_complain(&survey->rows, "%.*s", (int)len, text);
        }
    }
    if (result != SQLITE_DONE)
        failed = survey_stopped(survey, "integrity_check", err);
    libsqlite()->finalize(statement);
    return failed;
}

static int survey_meta(struct file_survey *survey, int64_t version)
{
    char text[32];
    struct err err;

    if (db_text(survey->db, survey->path, "SELECT value FROM meta WHERE name = 'schema'", text, sizeof text, &err) < 0)
        survey_complain(&survey->rows, "the table meta does not tell the schema's version: %s", err.text);
    else if (strtoll(text, NULL, 10) != version)
        survey_complain(&survey->rows, "the schema is of version %" PRId64 ", but the table meta says %s", version,
                        text);
    return 0;
}

static int survey_rows(struct file_survey *survey, int64_t version, struct err *err)
{
    static const char *const selects[] = {
        "SELECT space, key, value, NULL FROM shelf ORDER BY space, key",
        "SELECT space, key, value, sum FROM shelf ORDER BY space, key",
    };
    sqlite3_stmt *statement = NULL;
    int result, failed = 0;

    if (libsqlite()->prepare_v2(survey->db, selects[version >= 2], -1, &statement, NULL) != SQLITE_OK) {
        survey_complain(&survey->rows, "the rows cannot be read: %s (%d)", libsqlite()->errmsg(survey->db),
                        libsqlite()->extended_errcode(survey->db));
        return 0;
    }
    while ((result = libsqlite()->step(statement)) == SQLITE_ROW) {
        struct stored_row row = stored_row_of(statement);

        survey_row(&survey->rows, &row);
    }
    if (result != SQLITE_DONE)
        failed = survey_stopped(survey, "reading the rows", err);
    survey_end(&survey->rows);
    libsqlite()->finalize(statement);
    return failed;
}

static int survey_all(struct file_survey *survey, struct err *err)
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
    return survey->rows.complaint_count > 0;
}

int reader_survey(const struct reader *reader, store_space_fn *fn, void *user, struct buf *ret_complaints,
                  struct err *err)
{
    struct file_survey survey = {.path = reader->path, .db = reader->db};
    int result;

    survey_init(&survey.rows, fn, user, ret_complaints);
    result = survey_all(&survey, err);
    survey_done(&survey.rows);
    return result;
}

int store_survey(const char *path, store_space_fn *fn, void *user, struct buf *ret_complaints, struct err *err)
{
    struct reader reader;
    int result;

    if (store_is_remote(path))
        return remote_survey(path, fn, user, ret_complaints, err);
    result = reader_open(&reader, path, err);
    if (result == 0)
        result = reader_survey(&reader, fn, user, ret_complaints, err);
    reader_close(&reader);
    return result;
}

int store_check(const char *path, struct buf *ret_complaints, struct err *err)
{
    return store_survey(path, NULL, NULL, ret_complaints, err);
}
