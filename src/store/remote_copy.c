/* remote_copy.c: all rows of a namespace: looked over, copied to a file, brought back from one.
 *
 *     file -> .part/NAME -> NAME         one transaction makes the rows those of NAME; what was there becomes NAME.old.N
 *     NAME -> FILE.part -> FILE          as every copy (copy.c)
 *
 * Whatever stops this leaves what was there as it was. A store that is moved is for a moment in both places, each whole: where it was it is put aside
 * last, and when that fails the error says where it is now. Reading sees the rows of one moment, and whoever writes meanwhile goes on. */
#include "store/remote_parts.h"

#include "pool/protocol/role.h"
#include "sys/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG_PATIENCE (3600 * SECOND) /* for what goes through all rows */
#define PART ".part/"                 /* in front of a namespace's name: no daemon's begins so */
#define PART_ROWS 256
#define PART_BYTES ((size_t)4 << 20)

typedef int stored_row_fn(void *user, const struct stored_row *row, struct err *err);

/* ------------------------------------------------------------------------------------------------------------- all rows */

/* The one namespace that is there, where none is named. */
static int name_find(struct link *link, struct place *place, struct err *err)
{
    PGresult *result;
    struct buf names;
    int count;

    if (*place->name)
        return 0;
    result = link_ask(link, "SELECT DISTINCT namespace FROM berth_rows ORDER BY namespace LIMIT 20", NULL, 0,
                      LONG_PATIENCE, err);
    if (!result)
        return -1;
    buf_init(&names);
    count = libpq()->ntuples(result);
    for (int i = 0; i < count; i++)
        buf_addf(&names, "%s#%s", i ? ", " : "", answer_text(result, i, 0));
    if (count == 1) {
        free(place->name);
        place->name = mem_dup(answer_text(result, 0, 0), strlen(answer_text(result, 0, 0)));
    } else if (count) {
        err_set(err, "%s: holds several stores: write behind the address which is meant: %.700s", place->label,
                buf_string(&names));
    } else {
        err_set(err, "%s: holds no store yet", place->label);
    }
    buf_done(&names);
    libpq()->clear(result);
    return count == 1 ? 0 : -1;
}

/* Connects to look at the rows as they are at one moment. */
static int snapshot_open(struct link *link, struct place *place, struct err *err)
{
    if (link_open(link, place, err) < 0 || remote_look(link, err) < 0 || name_find(link, place, err) < 0)
        return -1;
    if (link_run(link, "SELECT set_config('idle_in_transaction_session_timeout', '0', false)", err) < 0)
        return -1;
    return link_run(link, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
}

static struct stored_row row_of(const PGresult *result, int row)
{
    return (struct stored_row){.space = answer_text(result, row, 0),
                               .space_len = (size_t)libpq()->getlength(result, row, 0),
                               .key = libpq()->getvalue(result, row, 1),
                               .key_len = (size_t)libpq()->getlength(result, row, 1),
                               .value = libpq()->getvalue(result, row, 2),
                               .len = (size_t)libpq()->getlength(result, row, 2),
                               .summed = true,
                               .sum = answer_number(result, row, 3)};
}

static int rows_all(struct link *link, stored_row_fn *fn, void *user, struct err *err)
{
    static const char sql[] = "SELECT space, key, value, sum FROM berth_rows WHERE namespace = $1::text AND"
                              " (space, key) > ($2::text, $3::bytea) ORDER BY space, key LIMIT $4::bigint";
    PGresult *result = NULL, *before = NULL;
    int count = 1, failed = 0;
    uint64_t part = PART_ROWS;
    struct stored_row last = {.space = "", .key = ""};

    while (!failed && count) {
        struct given given[] = {given_text(link->place->name), given_bytes(last.space, last.space_len),
                                given_bytes(last.key, last.key_len), given_number(part)};
        size_t bytes = 1;

        result = link_ask(link, sql, given, 4, LONG_PATIENCE, err);
        libpq()->clear(before);
        before = result;
        failed = result ? 0 : -1;
        count = result ? libpq()->ntuples(result) : 0;
        for (int i = 0; i < count && !failed; i++) {
            last = row_of(result, i);
            bytes += last.key_len + last.len;
            failed = fn(user, &last, err);
        }
        part = PART_BYTES / (bytes / (count ? (size_t)count : 1) + 1);
        part = part < 1 ? 1 : part > 8 * PART_ROWS ? 8 * PART_ROWS : part;
    }
    libpq()->clear(before);
    return failed;
}

static bool row_is_whole(const struct stored_row *row)
{
    return row->space && row->key && (row->value || !row->len) && !row_space_wrong(row->space, row->space_len) &&
           !row_key_wrong(row->key_len) && !row_value_wrong(row->len) &&
           row->sum == row_sum(row->space, row->space_len, row->key, row->key_len, row->value, row->len);
}

static int row_refuse(const char *from, const struct stored_row *row, struct err *err)
{
    struct buf shown;

    buf_init(&shown);
    row_print(&shown, row->key, row->key_len);
    err_set(err, "%s: is damaged (space %.40s, row %.300s): `berth store check` tells all of it", from,
            row->space ? row->space : "?", buf_string(&shown));
    buf_done(&shown);
    return -1;
}

/* ------------------------------------------------------------------------------------------------------------- looked over */

static int row_survey(void *user, const struct stored_row *row, struct err *err)
{
    (void)err;
    survey_row(user, row);
    return 0;
}

int remote_survey(const char *uri, store_space_fn *fn, void *user, struct buf *ret_complaints, struct err *err)
{
    struct link link = {.conn = NULL};
    struct survey survey;
    struct place place;
    int failed;

    survey_init(&survey, fn, user, ret_complaints);
    failed = place_init(&place, uri, err) < 0 || snapshot_open(&link, &place, err) < 0 ||
             rows_all(&link, row_survey, &survey, err) < 0;
    if (!failed)
        survey_end(&survey);
    link_close(&link);
    place_done(&place);
    survey_done(&survey);
    return failed ? -1 : survey.complaint_count > 0;
}

/* -------------------------------------------------------------------------------------------------------------- to a file */

struct filling {
    struct copy *copy;
    sqlite3_stmt *put;
    const char *from;
};

static int row_to_file(void *user, const struct stored_row *row, struct err *err)
{
    struct filling *filling = user;
    bool put;

    if (!row_is_whole(row))
        return row_refuse(filling->from, row, err);
    libsqlite()->reset(filling->put);
    put = libsqlite()->bind_text(filling->put, 1, row->space, (int)row->space_len, SQLITE_STATIC) == SQLITE_OK &&
          libsqlite()->bind_blob64(filling->put, 2, row->key, row->key_len, SQLITE_STATIC) == SQLITE_OK &&
          libsqlite()->bind_blob64(filling->put, 3, row->len ? row->value : "", row->len, SQLITE_STATIC) == SQLITE_OK &&
          libsqlite()->bind_int64(filling->put, 4, (int64_t)row->sum) == SQLITE_OK &&
          libsqlite()->step(filling->put) == SQLITE_DONE;
    return put ? 0 : db_fail(filling->copy->db, filling->copy->part, "put", err);
}

/* Fills a new file, which gets its name later. `mark`: it is a backup, and says so. */
static int copy_fill(struct copy *copy, struct link *link, bool mark, struct store_copied *ret, struct err *err)
{
    struct filling filling = {.copy = copy, .from = link->place->label};
    int failed;

    if (schema_migrate(copy->db, copy->part, err) < 0 || db_run(copy->db, copy->part, "BEGIN", err) < 0)
        return -1;
    if (libsqlite()->prepare_v2(copy->db, "INSERT INTO shelf (space, key, value, sum) VALUES (?1, ?2, ?3, ?4)", -1,
                                &filling.put, NULL) != SQLITE_OK)
        return db_fail(copy->db, copy->part, "put", err);
    failed = rows_all(link, row_to_file, &filling, err);
    libsqlite()->finalize(filling.put);
    if (failed || (mark && copy_mark(copy, wall_seconds(clock_wall()), false, err) < 0) ||
        db_run(copy->db, copy->part, "COMMIT", err) < 0 || copy_close(copy, err) < 0)
        return -1;
    return copy_check(copy, link->place->label, ret, err);
}

int remote_backup(const char *uri, const char *to, struct store_copied *ret, struct err *err)
{
    struct link link = {.conn = NULL};
    struct copy copy = {.fd = -1};
    struct place place;
    int failed;

    failed = place_init(&place, uri, err) < 0 || snapshot_open(&link, &place, err) < 0 ||
             copy_begin(&copy, to, err) < 0 || copy_fill(&copy, &link, true, ret, err) < 0 ||
             copy_rename(&copy, true, err) < 0;
    copy_done(&copy);
    link_close(&link);
    place_done(&place);
    return failed ? -1 : 0;
}

/* ------------------------------------------------------------------------------------------------------------ from a file */

/* Puts the rows of a file onto a shelf. */
static int rows_put(struct shelf *shelf, const struct reader *from, struct store_copied *ret, struct err *err)
{
    sqlite3_stmt *rows = NULL;
    size_t waiting = 0;
    int result, failed = 0;

    if (libsqlite()->prepare_v2(from->db, "SELECT space, key, value, sum FROM shelf", -1, &rows, NULL) != SQLITE_OK)
        return db_fail(from->db, from->path, "reading", err);
    while (!failed && (result = libsqlite()->step(rows)) == SQLITE_ROW) {
        struct stored_row row = stored_row_of(rows);

        if (!row_is_whole(&row))
            failed = row_refuse(from->path, &row, err);
        else
            failed = shelf->kind->put(shelf, row.space, row.key, row.key_len, row.value, row.len, err);
        if (!failed && strcmp(row.space, SHELF_RESTORED_SPACE) != 0) {
            ret->rows++;
            ret->bytes += row.key_len + row.len;
        }
        waiting += row.key_len + row.len;
        if (!failed && waiting > PART_BYTES) {
            failed = shelf->kind->commit(shelf, err);
            waiting = 0;
        }
    }
    if (!failed && result != SQLITE_DONE)
        failed = db_fail(from->db, from->path, "reading", err);
    libsqlite()->finalize(rows);
    return failed ? -1 : 0;
}

/* Runs a statement about one or two namespaces. */
static int names_run(struct link *link, const char *sql, const char *one, const char *other, struct err *err)
{
    struct given given[] = {given_text(one), given_text(other ? other : "")};
    PGresult *result = link_ask(link, sql, given, other ? 2 : 1, LONG_PATIENCE, err);

    libpq()->clear(result);
    return result ? 0 : -1;
}

/* 1: it has rows; 0: none. */
static int name_has_rows(struct link *link, const char *name, struct err *err)
{
    struct given given = given_text(name);
    PGresult *result =
        link_ask(link, "SELECT 1 FROM berth_rows WHERE namespace = $1::text LIMIT 1", &given, 1, REMOTE_PATIENCE, err);
    int has = result ? libpq()->ntuples(result) : -1;

    libpq()->clear(result);
    return has;
}

/* The first NAME.old.N without rows. */
static int aside_find(struct link *link, const char *name, char *ret, size_t room, struct err *err)
{
    int number = 0, has;

    do
        snprintf(ret, room, "%s.old.%d", name, ++number);
    while ((has = name_has_rows(link, ret, err)) > 0);
    return has;
}

/* In one transaction the rows of NAME become those of NAME.old.N, and those of `fresh` (or none: NULL) become NAME's. The caller holds the seat. */
static int names_swap(struct link *link, const struct seat *seat, const char *fresh, char *ret_aside, size_t room,
                      struct err *err)
{
    static const char rename[] = "UPDATE berth_rows SET namespace = $2::text WHERE namespace = $1::text";
    const char *name = link->place->name;
    char aside[REMOTE_NAME_MAX + 40];
    int has = name_has_rows(link, name, err);

    if (has < 0 || aside_find(link, name, aside, sizeof aside, err) < 0 || link_run(link, "BEGIN", err) < 0 ||
        names_run(
            link,
            "SELECT 1 / count(*) FROM (SELECT 1 FROM berth_holders WHERE namespace = $1::text AND holder = $2::text"
            " FOR KEY SHARE) AS held",
            name, seat_holder(seat), err) < 0)
        return -1;
    if ((has && names_run(link, rename, name, aside, err) < 0) ||
        (fresh && (names_run(link, rename, fresh, name, err) < 0 ||
                   names_run(link, "DELETE FROM berth_holders WHERE namespace = $1::text", fresh, NULL, err) < 0 ||
                   names_run(link, "DELETE FROM berth_commits WHERE namespace = $1::text", fresh, NULL, err) < 0)) ||
        link_run(link, "COMMIT", err) < 0)
        return -1;
    *ret_aside = '\0';
    if (has)
        snprintf(ret_aside, room, "#%s", aside);
    return 0;
}

/* Fills the namespace `part` anew. Rows that are left there of an earlier try go once nobody else can have it. */
static int part_fill(struct link *link, const char *part, const struct reader *from, const char *mark,
                     struct store_copied *ret, struct err *err)
{
    struct shelf *shelf;
    struct buf uri;
    int failed;

    buf_init(&uri);
    buf_addf(&uri, "%s#%s", link->place->uri, part);
    shelf = remote_open(buf_string(&uri), NULL, err);
    buf_done(&uri);
    if (!shelf)
        return -1;
    failed = names_run(link, "DELETE FROM berth_rows WHERE namespace = $1::text", part, NULL, err) < 0 ||
             rows_put(shelf, from, ret, err) < 0 ||
             (mark && shelf->kind->put(shelf, SHELF_RESTORED_SPACE, "1", 1, mark, strlen(mark), err) < 0) ||
             shelf->kind->commit(shelf, err) < 0;
    shelf->kind->close(shelf);
    return failed ? -1 : 0;
}

static int rows_bring(struct link *link, const struct seat *seat, const struct reader *from, const char *mark,
                      struct store_copied *ret, struct err *err)
{
    char part[REMOTE_NAME_MAX + 40];
    int64_t version;

    if (schema_version(from->db, from->path, &version, err) < 0)
        return -1;
    if (version != schema_current)
        return err_set(err, "%s: is of an earlier version: `berth store restore` of it to a file brings it up to date",
                       from->path);
    if (strlen(PART) + strlen(link->place->name) > REMOTE_NAME_MAX)
        return err_set(err, "%s: rows are brought to a namespace of at most %zu bytes", link->place->label,
                       REMOTE_NAME_MAX - strlen(PART));
    snprintf(part, sizeof part, PART "%s", link->place->name);
    if (part_fill(link, part, from, mark, ret, err) < 0)
        return -1;
    return names_swap(link, seat, part, ret->aside, sizeof ret->aside, err);
}

/* Takes the seat, and connects. */
static struct seat *bring_begin(struct link *link, struct place *place, struct err *err)
{
    struct seat *seat;

    if (!*place->name) {
        err_set(err, "%s: lacks a namespace: write it behind a #, as in ...#customer/alice", place->label);
        return NULL;
    }
    seat = seat_take(place, false, NULL, err);
    if (seat && seat_begin(seat, -1, err) == 0 && link_open(link, place, err) == 0)
        return seat;
    seat_free(seat);
    return NULL;
}

int remote_restore(const char *from, const char *uri, bool alone, struct store_copied *ret, struct err *err)
{
    struct store_copied copied = {0};
    struct link link = {.conn = NULL};
    struct seat *seat = NULL;
    struct reader reader = {.lock = -1};
    struct place place = {.uri = NULL};
    char mark[40];
    int failed;

    failed = reader_open(&reader, from, err) < 0 || place_init(&place, uri, err) < 0;
    if (!failed) {
        snprintf(mark, sizeof mark, "%" PRId64 "%s", copy_second(&reader), alone ? " alone" : "");
        seat = bring_begin(&link, &place, err);
        failed = !seat || rows_bring(&link, seat, &reader, mark, &copied, err) < 0;
        seat_free(seat);
        link_close(&link);
    }
    place_done(&place);
    reader_close(&reader);
    if (!failed)
        *ret = copied;
    return failed ? -1 : 0;
}

/* --------------------------------------------------------------------------------------------------------------- moving */

static int move_there(struct link *link, struct seat *seat, const char *path, struct store_copied *ret, struct err *err)
{
    char aside[sizeof ret->aside];
    struct reader reader = {.lock = -1};
    int has = name_has_rows(link, link->place->name, err), failed;

    if (has)
        return has < 0 ? -1 : err_set(err, "%s: has rows already: nothing is moved over them", link->place->label);
    failed = reader_open_locked(&reader, path, err) < 0 || fence_look_log(path, err) < 0 ||
             rows_bring(link, seat, &reader, NULL, ret, err) < 0;
    reader_close(&reader);
    if (failed)
        return -1;
    if (fence_move_aside(path, aside, sizeof aside, err) < 0)
        return err_context(err, "the store is in %s now, all of it; move the file away before a daemon is started",
                           link->place->label);
    snprintf(ret->aside, sizeof ret->aside, "%s", aside);
    return 0;
}

static int move_here(struct link *link, struct seat *seat, const char *path, struct store_copied *ret, struct err *err)
{
    char aside[sizeof ret->aside];
    struct copy copy = {.fd = -1};
    struct stat status;
    int failed;

    if (stat(path, &status) == 0)
        return err_set(err, "%s: is there already: nothing is moved over it", path);
    failed = copy_begin(&copy, path, err) < 0 || copy_fill(&copy, link, false, ret, err) < 0 ||
             copy_give(&copy, -1, err) < 0 || copy_rename(&copy, true, err) < 0;
    copy_done(&copy);
    if (!failed && names_swap(link, seat, NULL, aside, sizeof aside, err) < 0)
        failed = err_context(err, "the store is in %s now, all of it; in the database it may be as well", path);
    if (!failed)
        snprintf(ret->aside, sizeof ret->aside, "%s", aside);
    return failed ? -1 : 0;
}

int store_move(const char *from, const char *to, struct store_copied *ret, struct err *err)
{
    bool there = store_is_remote(to);
    const char *path = there ? from : to;
    char *real = realpath(path, NULL);
    struct store_copied copied = {0};
    struct link link = {.conn = NULL};
    struct seat *seat = NULL;
    struct place place = {.uri = NULL};
    int lock = -1, failed;

    if (there == store_is_remote(from)) {
        free(real);
        return err_set(err,
                       "a store is moved from a file to a database, or back: postgresql://HOST/DATABASE#NAMESPACE");
    }
    if (there && !real)
        return err_set(err, "%s: there is no such store", path);
    lock = lock_take(real ? real : path, err);
    failed = lock == LOCK_HELD ? lock_refuse(real ? real : path, err) : lock < 0 ? -1 : 0;
    if (!failed && place_init(&place, there ? to : from, err) == 0)
        seat = bring_begin(&link, &place, err);
    failed = failed || !seat ||
             (there ? move_there(&link, seat, real, &copied, err) : move_here(&link, seat, path, &copied, err)) < 0;
    if (!failed)
        lock_mark(lock);
    seat_free(seat);
    link_close(&link);
    place_done(&place);
    if (lock >= 0)
        close(lock);
    free(real);
    if (!failed)
        *ret = copied;
    return failed ? -1 : 0;
}
