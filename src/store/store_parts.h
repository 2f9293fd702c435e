/* store_parts.h: what the files of store/ share: a connection, the lock, the schema, a row's checksum. */
#ifndef BERTH_STORE_STORE_PARTS_H
#define BERTH_STORE_STORE_PARTS_H

#include "store/libsqlite.h"
#include "store/store.h"

#include <pthread.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The statements that are kept: id, SQL. */
#define STATEMENTS(X)                                                                            \
    X(BEGIN, "BEGIN IMMEDIATE")                                                                  \
    X(COMMIT, "COMMIT")                                                                          \
    X(PUT, "INSERT INTO shelf (space, key, value, sum) VALUES (?1, ?2, ?3, ?4)"                  \
           " ON CONFLICT (space, key) DO UPDATE SET value = excluded.value, sum = excluded.sum") \
    X(REMOVE, "DELETE FROM shelf WHERE space = ?1 AND key = ?2")                                 \
    X(EACH, "SELECT key, value, sum FROM shelf WHERE space = ?1 ORDER BY key")                   \
    X(AFTER, "SELECT key, value, sum FROM shelf WHERE space = ?1 AND key > ?2 ORDER BY key")     \
    X(GET, "SELECT key, value, sum FROM shelf WHERE space = ?1 AND key = ?2")

enum statement {
#define X(id, sql) STATEMENT_##id,
    STATEMENTS(X)
#undef X
        STATEMENT_COUNT
};

/* Which file the store is, and how it was when we last changed it. */
struct store_mark {
    bool there;
    dev_t device;
    ino_t file;
    off_t size;
    struct timespec changed;
};

struct store {
    struct shelf shelf;
    char *path;  /* without symbolic links */
    int lock;    /* a descriptor, or -1 */
    int hold;    /* of the file itself, locked: FILE.lock can be removed; or -1 */
    bool strict; /* opened by store_open_as */
    struct store_mark main, log;
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    int wal_pages;         /* in FILE-wal after the last commit ... */
    int wal_pages_max;     /* ... before they are copied into FILE: */
    struct copier *copier; /* ... by a thread, if the store is a daemon's; or NULL */
    bool copying;          /* ... which is at it */
    bool changing;         /* a transaction is open */
    unsigned reads;        /* calls of each and get that are under way */
    bool broken;
    struct err why; /* it is */
};

/* ---- thread.c ---- */

/* Begins a thread that gets no signals; false: there is no room for one. */
bool thread_start(pthread_t *ret, void *(*run)(void *), void *given);

/* ---- copier.c ---- */

struct copier;

enum copier_news {
    COPIER_NONE, /* it is at rest */
    COPIER_BUSY,
    COPIER_DONE,   /* so many pages of the log are copied, and the file was like that then; told once */
    COPIER_FAILED, /* and nothing must be copied any more */
};

/* Opens a connection of its own to a store that is open; NULL and `err` when that fails. The thread begins when it is first needed. */
struct copier *copier_new(const char *path, struct err *err);
/* Waits until the thread is at rest. False: copying has failed. */
bool copier_free(struct copier *copier);
/* Begins to copy what the log holds now, if there is a thread for that. It must be at rest. */
bool copier_begin(struct copier *copier);
void copier_wait(struct copier *copier); /* until it is at rest */
/* How is it? `copier` may be NULL: then it is at rest. */
enum copier_news copier_look(struct copier *copier, int *ret_copied, struct store_mark *ret_mark, struct err *err);

/* ---- survey.c ---- */

/* A row as it is stored, lent. */
struct stored_row {
    const char *space;
    const void *key, *value;
    size_t space_len, key_len, len;
    bool summed; /* it has a checksum: */
    uint64_t sum;
};

/* The columns are space, key, value, and the checksum, or NULL where the schema had none yet. */
struct stored_row stored_row_of(sqlite3_stmt *row);

/* Looks rows over that come in the order of their spaces. */
struct survey {
    store_space_fn *fn; /* or NULL */
    void *user;
    struct buf *complaints;
    unsigned complaint_count;
    struct buf name;          /* of the space that we are in */
    struct store_space space; /* it; rows is 0 before the first */
};

void survey_init(struct survey *survey, store_space_fn *fn, void *user, struct buf *ret_complaints);
void survey_done(struct survey *survey);
void survey_complain(struct survey *survey, const char *format, ...) ERR_FORMAT(2, 3);
void survey_row(struct survey *survey, const struct stored_row *row);
void survey_end(struct survey *survey); /* after the last row */

/* ---- reader.c ---- */

/* A store that is read. Closing takes one that is half open. */
struct reader {
    char *path; /* without symbolic links */
    int lock;   /* a descriptor, or below 0 */
    sqlite3 *db;
};

int reader_open(struct reader *reader, const char *path, struct err *err);
int reader_open_locked(struct reader *reader, const char *path, struct err *err); /* the caller has its lock */
void reader_close(struct reader *reader);
/* store_survey of an open one (check.c). */
int reader_survey(const struct reader *reader, store_space_fn *fn, void *user, struct buf *ret_complaints,
                  struct err *err);

/* ---- copy.c ---- */

/* A new file that becomes a store: it is made as FILE.part, and gets its name when it is whole. */
struct copy {
    const char *path; /* that it gets */
    char *part;
    int fd; /* below 0: it was not made */
    sqlite3 *db;
};
#define STORE_BACKUP_THERE "%s: is there already: a backup is a new file"

int copy_begin(struct copy *copy, const char *path, struct err *err);
/* What the rows do not know has happened: so says a row (SHELF_RESTORED_SPACE) that whoever opens the store looks at. */
int copy_mark(struct copy *copy, int64_t wall, bool alone, struct err *err);
int copy_close(struct copy *copy, struct err *err); /* it is on disk */
/* It and its lock become the user's whose folder it is in, if we may give them away: root restores what a daemon of another user is to open. */
int copy_give(const struct copy *copy, int lock, struct err *err); /* lock: -1: there is none */
int copy_rename(struct copy *copy, bool fresh,
                struct err *err);  /* it has its name; `fresh`: which nothing may have had */
void copy_done(struct copy *copy); /* removes what did not get its name */

/* ---- backup.c ---- */

/* Is all of the new file in order? What is wrong with it was wrong with the one that it is copied from. */
int copy_check(const struct copy *copy, const char *from, struct store_copied *ret, struct err *err);
/* When was that copy made? 0: it does not say. */
int64_t copy_second(const struct reader *reader);

/* ---- sqlite.c ---- */

extern const struct shelf_kind store_kind;

/* Closes a store, also one that is half open. */
void store_close(struct shelf *shelf);

/* Fills `err` with what SQLite says of the last call on `db`: "FILE: WHAT: disk I/O error (1034)". Returns -1. */
int db_fail(sqlite3 *db, const char *path, const char *what, struct err *err);
/* Runs statements that give no rows, or whose rows are not wanted. */
int db_run(sqlite3 *db, const char *path, const char *sql, struct err *err);
/* The first column of the first row, as a number or as text of at most `room` bytes with its NUL. */
int db_number(sqlite3 *db, const char *path, const char *sql, int64_t *ret_number, struct err *err);
int db_text(sqlite3 *db, const char *path, const char *sql, char *ret_text, size_t room, struct err *err);

/* Takes the lock of the file at `path`, which has no symbolic links: lock_take for a process that opens the store, lock_look for one that looks at
 * it while nobody has it open. Returns a descriptor, LOCK_HELD, or -1 and `err`. Closing the descriptor gives the lock back. lock_look makes no
 * file: LOCK_NONE where there is none yet. */
enum { LOCK_HELD = -2, LOCK_NONE = -3 };
int lock_take(const char *path, struct err *err);
int lock_look(const char *path, struct err *err);
/* Takes the same lock on the store's own file, which others cannot remove without our noticing. */
int lock_hold(const char *path, struct err *err);
/* Marks the lock file: from now on there has been a store here. lock_is_marked asks, without the lock. */
void lock_mark(int lock);
bool lock_is_marked(const char *path);
/* Adds who has the lock that lock_take or lock_look could not get: "process 12", or "another process". */
void lock_holder(const char *path, struct buf *out);
/* Fills `err` with that: "FILE: is in use by process 12". Returns -1. */
int lock_refuse(const char *path, struct err *err);

/* ---- fence.c, fence_log.c ---- */

#define STORE_WHAT_TO_DO \
    "put it back from a backup; or start once with --new, which begins with an empty one: what the old one knew is lost then"

/* -1 and `err` when there is no store at `path`, but was one. With `fresh` the rest of it is put aside. */
int fence_begin(const char *path, const struct store_terms *terms, struct err *err);
/* Is something in that folder beside the file? Not where it is NULL. */
bool fence_folder_has(const char *path, const char *folder);
/* FILE, FILE-wal and FILE-shm become FILE.old.N ...; 0, or -1 and `err`. fence_move_aside: the caller has the lock;
 * and it tells FILE.old.N, "" when there was nothing. */
int fence_put_aside(const char *path, struct err *err);
int fence_move_aside(const char *path, char *ret_aside, size_t room, struct err *err);
/* Looks the file over, for a moment at most; -1 and `err` where there is damage. */
int fence_look(sqlite3 *db, const char *path, struct err *err);
/* The log, before it is copied: -1 and `err` where something in its middle is damaged, and commits behind that would be lost. */
int fence_look_log(const char *path, struct err *err);
/* How the file is now whose name ends with that: "" for the store itself. */
struct store_mark fence_mark(const char *path, const char *end);
/* Flushes the folder of a file: when this returns 0, the entry of a new file is on disk (open.c). */
int folder_sync(const char *path, struct err *err);
/* We have changed the file. */
void fence_note(struct store *store);
/* It is still the one that we have opened, as we have left it; while the log is being copied into it, it changes. */
int fence_check(struct store *store, struct err *err);

/* The version of the schema of a file that is open: 0 when it holds nothing yet. -1 and `err` when it is no store, or of a version
 * to come. */
int schema_version(sqlite3 *db, const char *path, int64_t *ret_version, struct err *err);
/* Brings it up to date, a transaction a step. */
int schema_migrate(sqlite3 *db, const char *path, struct err *err);
extern const int64_t schema_current;

/* A checksum over all of a row: damage within eight bytes that lie together changes it for certain, other damage very likely. It is
 * the same on every machine. */
uint64_t row_sum(const char *space, size_t space_len, const void *key, size_t key_len, const void *value, size_t len);
/* NULL, or what is wrong with the name of a space, or with the length of a key or of a value. */
const char *row_space_wrong(const char *space, size_t len);
const char *row_key_wrong(size_t len);
const char *row_value_wrong(size_t len);
const char *row_wrong(const char *space, size_t key_len, size_t len); /* all three */
/* Bytes that a person can read: what is not visible ASCII becomes \xNN. */
void row_print(struct buf *out, const void *bytes, size_t len);

#ifdef __cplusplus
}
#endif
#endif
