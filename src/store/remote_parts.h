/* remote_parts.h: what the files of a store in a database share.
 *
 *     remote.c          the shelf: rows go in and out
 *     remote_place.c    where: a URI, and a namespace in it
 *     remote_link.c     a connection, and questions with a time by which they are answered
 *     remote_schema.c   the tables, and their versions
 *     remote_seat.c     one process at a time writes: a thread renews its lease
 *     remote_replicas.c who holds the seat and who waits for it, for people and for those who look for the holder
 *     remote_writer.c   a thread makes rows durable, however often the connection is lost
 *     remote_rows.c     rows that are not durable yet
 *     remote_batch.c    many rows in a statement
 *     remote_copy.c     looks rows over, copies them to a file and back
 *
 * Tables:  berth_schema (version)
 *          berth_holders (namespace, epoch, renewals, holder, who, until)          a seat a namespace; `until` is for people
 *          berth_rows (namespace, space, key, value, sum)                          sum: row_sum, as in a file
 *          berth_replicas (namespace, holder, who, url, leads, since, seen)        those who hold the seat or wait for it
 *          berth_commits (namespace, commits)                                      each transaction of rows counts itself: one that was lost is missed
 *
 * A transaction begins with a look at the seat, which locks its row as a foreign key does (FOR KEY SHARE): a renewal changes no key and does not wait
 * for it; whoever takes the seat changes the epoch, which is part of a key, and does. So what is committed was written by the holder. */
#ifndef BERTH_STORE_REMOTE_PARTS_H
#define BERTH_STORE_REMOTE_PARTS_H

#include "store/libpq.h"
#include "store/store_parts.h"

#include "lang/base/map.h"

#include <stdatomic.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REMOTE_NAME_MAX 255                   /* bytes of a namespace */
#define REMOTE_PATIENCE INT64_C(10000000)     /* microseconds for what is asked while the loop of a daemon waits */
#define REMOTE_ROWS_BYTES ((size_t)256 << 20) /* of rows that wait until they are durable */

/* ---- remote_place.c ---- */

struct place {
    char *uri;   /* as libpq takes it, without the fragment */
    char *name;  /* the namespace; "": none is named */
    char *label; /* for people: postgresql://HOST/DATABASE#NAMESPACE */
};

/* From "URI#NAMESPACE". -1 and `err` where it is none, or has a password. */
int place_init(struct place *place, const char *uri, struct err *err);
void place_done(struct place *place);

/* ---- remote_link.c ---- */

struct link {
    const struct place *place;
    PGconn *conn;                  /* NULL: there is no connection */
    const atomic_bool *stop;       /* nothing is waited for any more; or NULL */
    const struct store_wait *wait; /* the same, while it is opened; or NULL */
    bool known;  /* its database has been reached before: that it cannot be is no mistake in the address */
    bool away;   /* what failed last may go well later */
    bool fenced; /* it failed for the seat is another's */
};

/* What is asked, in binary form. */
struct given {
    const void *bytes; /* NULL: a number */
    size_t len;
    uint64_t number;
};
#define GIVEN_MAX 6

static inline struct given given_text(const char *text)
{
    return (struct given){.bytes = text, .len = strlen(text)};
}

static inline struct given given_bytes(const void *bytes, size_t len)
{
    return (struct given){.bytes = len ? bytes : "", .len = len};
}

static inline struct given given_number(uint64_t number)
{
    return (struct given){.number = number};
}

/* Connects, refuses a pooler, and settles the session. */
int link_open(struct link *link, const struct place *place, struct err *err);
void link_close(struct link *link);
/* Has the text of what libpq says put into `err`. Returns -1. */
int link_fail(struct link *link, const char *what, const PGresult *result, struct err *err);
/* Asks, and waits for the answer for so long; the connection is closed when it fails. NULL and `err`; else the caller clears it. */
PGresult *link_ask(struct link *link, const char *sql, const struct given *given, int count, int64_t patience,
                   struct err *err);
/* The same for what has no answer that matters. */
int link_run(struct link *link, const char *sql, struct err *err);
/* In a pipeline: sends; nothing is waited for. */
bool link_prepare(struct link *link, const char *name, const char *sql);
bool link_send(struct link *link, const char *name, const struct given *given, int count);
/* Waits until all that was sent has left, or until something has come. False: the time is over, or the connection is lost. */
bool link_flush(struct link *link, int64_t until);
bool link_wait(struct link *link, int64_t until);

uint64_t answer_number(const PGresult *result, int row, int column);
/* A text that ends with a NUL, lent. */
const char *answer_text(const PGresult *result, int row, int column);

/* ---- remote_schema.c ---- */

/* Makes the tables, or brings them up to date; a newer schema is refused. */
int remote_migrate(struct link *link, struct err *err);
/* Refuses what is not as this berth makes it; changes nothing. */
int remote_look(struct link *link, struct err *err);

/* ---- remote_seat.c ---- */

struct seat;

/* Takes the seat of the namespace. Where it is held, waits until it is free, and tells once for whom; or, not `patient`, refuses. NULL and `err`. */
struct seat *seat_take(const struct place *place, bool patient, const struct store_terms *terms, struct err *err);
/* Begins to renew it, by a thread; `news` is a descriptor to tell of changes by. */
int seat_begin(struct seat *seat, int news, struct err *err);
/* Gives it up, so that another can take it at once. */
void seat_free(struct seat *seat);
/* May what others see leave now? Asked right before each thing. */
bool seat_holds(struct seat *seat);
/* Another has it, or had it: `ret_why` says so. */
bool seat_lost(struct seat *seat, struct err *ret_why);
/* Since when (clock_now) has it not been renewed for longer than it should, and why? 0: all is well. */
int64_t seat_away(struct seat *seat, char *ret_why, size_t room);
void seat_is_lost(struct seat *seat);    /* a transaction has found that out */
int64_t seat_renewed(struct seat *seat); /* when (clock_now) was it renewed last? 0: not yet */
/* Transactions of rows that are acknowledged, of all holders: the next has the number behind that, and is noted when it is. */
uint64_t seat_commits(struct seat *seat);
void seat_committed(struct seat *seat, uint64_t commits);
/* For a new connection of the holder: an epoch of its own, so that what the connection before has still under way comes to nothing. -1 and `err`; then
 * `link` says why. */
int seat_epoch(struct seat *seat, struct link *link, uint64_t *ret_epoch, struct err *err);
const char *seat_holder(const struct seat *seat);
void seat_reached(struct seat *seat, const char *url); /* its holder tells that URL of itself */
uint32_t seat_replicas(struct seat *seat, struct store_replica ret[STORE_REPLICAS_MAX]);

/* ---- remote_replicas.c ---- */

struct replicas {
    const char *url; /* of this process, owned; NULL: it does not tell of itself */
    int64_t told;    /* when (clock_now) it did that; 0: not yet */
    struct store_replica items[STORE_REPLICAS_MAX];
    uint32_t count;
};

/* Tells of this process, by that holder's name, and looks who else is there, when it is time for that. -1: the connection is lost. */
int replicas_meet(struct replicas *replicas, struct link *link, const char *holder, const char *who, bool leads,
                  struct err *err);
void replicas_leave(struct replicas *replicas, struct link *link, const char *holder);

/* ---- remote_rows.c ---- */

struct row_change {
    struct row_change *same; /* another of the same hash */
    bool removed;
    size_t space_len, key_len, len;
    uint64_t sum;
    char *value;
    char bytes[]; /* the space, a NUL, the key */
};

static inline const char *change_key(const struct row_change *change)
{
    return change->bytes + change->space_len + 1;
}

/* Changes of rows, each row once: the last counts. */
struct row_changes {
    struct map places;
    struct row_change **items;
    uint32_t count, room;
    size_t bytes;
};

void changes_init(struct row_changes *changes);
void changes_done(struct row_changes *changes);
/* `value` NULL: the row is removed. */
void changes_add(struct row_changes *changes, const char *space, const void *key, size_t key_len, const void *value,
                 size_t len);
const struct row_change *changes_find(const struct row_changes *changes, const char *space, const void *key,
                                      size_t key_len);

/* Those of one space, in the order of their keys: of two changes of a row the one in `late`. */
struct row_view {
    const struct row_change **items;
    uint32_t count, room;
};

void view_make(struct row_view *view, const struct row_changes *early, const struct row_changes *late,
               const char *space, const void *after, size_t after_len);
void view_done(struct row_view *view);
int key_compare(const void *a, size_t a_len, const void *b, size_t b_len);

/* ---- remote_batch.c ---- */

#define BATCH_COLUMNS 4 /* space, key, value, sum: the first two alone where rows are removed */

struct row_batch {
    struct buf columns[BATCH_COLUMNS];
    uint32_t count;
    size_t bytes;
};

void row_batch_init(struct row_batch *batch);
void row_batch_done(struct row_batch *batch);
void row_batch_begin(struct row_batch *batch); /* with no rows; memory is kept */
bool row_batch_has_room(const struct row_batch *batch, const struct row_change *change);
void row_batch_add(struct row_batch *batch, const struct row_change *change);
void row_batch_give(struct row_batch *batch, struct given ret[BATCH_COLUMNS]); /* lent until it is changed */

/* ---- remote_writer.c ---- */

struct writer;

/* `news` gets a 1 when something has become durable. */
struct writer *writer_new(const struct place *place, struct seat *seat, int news, struct err *err);
void writer_free(struct writer *writer); /* what is under way may become durable, or not */
/* Makes these durable. They stay as they are until writer_look says something else than 0; one at a time. */
void writer_begin(struct writer *writer, const struct row_changes *changes);
int writer_look(struct writer *writer, struct err *err); /* 1: they are durable; 0: not yet; -1: they never will be */
void writer_wait(struct writer *writer);                 /* until it is not 0 */
int64_t writer_away(struct writer *writer, char *ret_why, size_t room);

/* ---- remote.c ---- */

#define REMOTE_EACH                                                                                              \
    "SELECT key, value, sum FROM berth_rows WHERE namespace = $1::text AND space = $2::text AND key > $3::bytea" \
    " ORDER BY key LIMIT $4::bigint"

struct shelf *remote_open(const char *uri, const struct store_terms *terms, struct err *err);

/* ---- remote_copy.c ---- */

int remote_survey(const char *uri, store_space_fn *fn, void *user, struct buf *ret_complaints, struct err *err);
int remote_backup(const char *uri, const char *to, struct store_copied *ret, struct err *err);
int remote_restore(const char *from, const char *uri, bool alone, struct store_copied *ret, struct err *err);

#ifdef __cplusplus
}
#endif
#endif
