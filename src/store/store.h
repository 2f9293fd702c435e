/* store.h: opens a shelf (pool/protocol/shelf.h) on disk, and looks one over.
 *
 * A store is an SQLite file FILE, beside it FILE-wal and FILE-shm while it is open, and FILE.lock, which stays. All are for the
 * owner's eyes only. A row has a checksum, which is looked at whenever the row is read.
 *
 * What the shelf's contract (pool/protocol/shelf.h) leaves open:
 * - A space is named by 1 to SHELF_SPACE_MAX visible ASCII characters; a key has 1 to SHELF_KEY_MAX bytes, a value may be empty.
 *   Others are refused, and the shelf is as it was.
 * - A function that is handed rows may read the shelf, but not change it: that is refused, and the shelf is as it was.
 * - Where a row's checksum is wrong, reading fails, and the shelf is as it was. Where reading itself fails, the shelf is broken:
 *   SQLite may have dropped what was not committed.
 * - A broken shelf gives no rows either. close() then leaves the files as they are.
 * - A commit may return 0 and the shelf be broken afterwards: the rows are on disk, but making room for more failed. */
#ifndef BERTH_STORE_STORE_H
#define BERTH_STORE_STORE_H

#include "lang/base/buf.h"
#include "pool/protocol/shelf.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STORE_COMPLAINTS_MAX 1000 /* lines; a last one says that there are more */

/* In what a shelf says of itself when its database has lost commits, as one that fails over to a server that was behind. */
#define STORE_LOST_WORDS "the database has lost what it had acknowledged"

#define STORE_FILE "berth.db" /* what the file is called in the folder of a role's state */

/* Tells people something, in a line. */
typedef void store_tell_fn(void *user, const char *line);

/* One of the processes of a namespace in a database: the one that holds it, or one that waits for it. */
struct store_replica {
    char who[160];
    char url[300]; /* where it is reached, and behind a # what programs need to know for that; "": it does not say */
    bool leads;
    int64_t since; /* on the database's clock, in seconds; 0: not known */
};
#define STORE_REPLICAS_MAX 8

/* How a daemon that others stand by for waits for its store. The functions are called by the thread that opens it. */
struct store_wait {
    const char *url;                 /* where this one is reached: the others are told */
    bool (*stops)(const void *user); /* true: it waits no longer */
    void (*seen)(void *user, const struct store_replica *replicas, uint32_t count); /* every second while it waits */
    void *user;
};

/* How a daemon opens its own store. */
struct store_terms {
    bool fresh; /* begin with an empty one; what is left of the one before is put aside */
    const char
        *traces;      /* a folder beside the file: where there is something in it there was a store; NULL: none tells */
    const char *file; /* of a store in a database: the file in which it would be otherwise; NULL: none */
    store_tell_fn *tell; /* what a store in a database waits for, and what it does not promise; or NULL */
    void *user;
    const struct store_wait *wait; /* of a store in a database; or NULL */
};

/* Those of the namespace of a store that was opened with a `wait`, as they were a few seconds ago: the holder first. Returns how many; of other stores 0. */
uint32_t store_replicas(struct shelf *shelf, struct store_replica ret[STORE_REPLICAS_MAX]);

/* Says where its holder is reached, of a store that was opened with a `wait`: who waits for it is told so within seconds. */
void store_reached(struct shelf *shelf, const char *url);

/* Is that a store in a database, "postgresql://HOST/DATABASE#NAMESPACE"? Paths below may be such. */
bool store_is_remote(const char *path);

/* Opens a store as store_open does, for a store that is the only memory of a daemon:
 * - Where there is no store, but there was one, none is made: the error says what is missing and what to do. `fresh` makes one; where there is a
 *   whole one, `fresh` is refused.
 * - The store is looked over, for a second or two at most. One in which damage is found is not opened, and the error says so.
 * - Reading a row that is damaged breaks the shelf.
 * - Each commit looks whether the file is still the one that was opened, and nobody else has changed it: if not, the shelf is broken, and
 *   the commit has failed. */
struct shelf *store_open_as(const char *path, const struct store_terms *terms, struct err *err);

/* Opens a store, which is made if it is not there. An older schema is brought up to date first, a newer one is refused. A store is open in one
 * process at a time: a second is refused. NULL and `err` when it cannot be opened. */
struct shelf *store_open(const char *path, struct err *err);

/* What a space holds. */
struct store_space {
    const char *name;
    uint64_t rows, bytes; /* of keys and values */
};

/* What is handed over is lent for the call. */
typedef void store_space_fn(void *user, const struct store_space *space);

/* Looks the whole file over, and changes nothing: each complaint is a line, appended. `fn`, if not NULL, gets every space, in the
 * order of their names. 0 when all is well, 1 when there were complaints, -1 and `err` when it could not be looked at. A process may
 * have the store open: what it has committed when this begins is looked at. Where none has, none can until this ends. */
int store_survey(const char *path, store_space_fn *fn, void *user, struct buf *ret_complaints, struct err *err);

/* Looks the whole file over as store_survey does, without telling of spaces. */
int store_check(const char *path, struct buf *ret_complaints, struct err *err);

/* What backup.c and repair.c have copied. */
struct store_copied {
    uint64_t rows, bytes; /* of keys and values */
    uint64_t lost;        /* rows that could not be read, as far as they can be counted */
    char aside[4200]; /* where the file is now that was there before, or the namespace ("#NAME"); "": there was none */
};

/* Copies a store into a new file, as it was at one moment; a process may have it open, and goes on. The copy says that it is one (SHELF_RESTORED_SPACE):
 * whoever opens it knows that the rows may be old. A store that is damaged is not copied. */
int store_backup(const char *path, const char *to, struct store_copied *ret, struct err *err);

/* Puts such a copy, or any whole store, in the place of the store at `path`, which no process may have open; what was there is kept beside it. `alone`:
 * the pool is not to be asked what has happened since. */
int store_restore(const char *from, const char *path, bool alone, struct store_copied *ret, struct err *err);

/* Moves a store from a file to a database, or back; nobody may have either open, and where it goes there is none yet. Where it was it is put aside. */
int store_move(const char *from, const char *to, struct store_copied *ret, struct err *err);

/* Makes a damaged store whole: the rows that can be read go into a new file, which says that some may be missing (SHELF_RESTORED_SPACE); the damaged one
 * is kept beside it. No process may have it open. What is lost is a line each, appended. 0: it is whole, and was left as it is; 1: that was done. */
int store_repair(const char *path, struct store_copied *ret, struct buf *ret_lost, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
