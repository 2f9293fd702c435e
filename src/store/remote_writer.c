/* remote_writer.c: a thread makes rows durable, one transaction after the other, and begins again whenever the connection is lost.
 *
 *     writer_begin -> BEGIN, the seat, statements of many rows each, COMMIT: all in one pipeline -> durable: the descriptor of news can be read
 *                          `-- the connection was lost: a new one, under an epoch of its own, and the same once more
 *
 * Whether a COMMIT without an answer was carried out is not known. To repeat it is right in both cases, for a transaction says what its rows are, not
 * how they change; and nobody else has written since, as the seat shows. What the connection before may still bring comes to nothing: its epoch is
 * over. */
#include "store/remote_parts.h"

#include "pool/protocol/role.h"
#include "sys/clock.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define COMMIT_PATIENCE (30 * SECOND) /* without any progress; then the connection is given up */
#define SLOW_AFTER (2 * SECOND)       /* that a commit takes before it is told */
#define REST_FIRST (100 * MILLISECOND)
#define REST_LAST SECOND

struct writer {
    const struct place *place;
    struct seat *seat;
    int news;
    struct link link;
    uint64_t epoch; /* of that connection */
    struct row_batch batch;
    atomic_bool stop;
    pthread_t thread;
    bool begun;
    pthread_mutex_t lock;
    pthread_cond_t work, rest;
    /* under the lock: */
    const struct row_changes *changes; /* NULL: there is nothing to do */
    int result;                        /* of the last */
    int64_t since;                     /* when it began */
    bool failing;
    struct err why;
};

static const struct statement_name {
    const char *name, *sql;
} names[] = {
    {"begin", "BEGIN"},
    {"commit", "COMMIT"},
    /* Fails where the seat is not ours. */
    {"held", "SELECT 1 / count(*) FROM (SELECT 1 FROM berth_holders WHERE namespace = $1::text AND epoch = $2::bigint"
             " AND holder = $3::text FOR KEY SHARE) AS held"},
    /* Counts this one (remote_seat.c): a database that has lost it is found out. */
    {"count", "INSERT INTO berth_commits VALUES ($1::text, $2::bigint)"
              " ON CONFLICT (namespace) DO UPDATE SET commits = excluded.commits"},
    {"put", "INSERT INTO berth_rows (namespace, space, key, value, sum)"
            " SELECT $1::text, given.* FROM unnest($2::text[], $3::bytea[], $4::bytea[], $5::bigint[]) AS given"
            " ON CONFLICT (namespace, space, key) DO UPDATE SET value = excluded.value, sum = excluded.sum"},
    {"remove", "DELETE FROM berth_rows USING unnest($2::text[], $3::bytea[]) AS gone(space, key)"
               " WHERE namespace = $1::text AND berth_rows.space = gone.space AND berth_rows.key = gone.key"},
};

/* --------------------------------------------------------------------------------------------------------- a transaction */

/* A new connection, and what it needs. */
static int writer_connect(struct writer *writer, struct err *err)
{
    struct link *link = &writer->link;

    if (link->conn)
        return 0;
    if (link_open(link, writer->place, err) < 0 || seat_epoch(writer->seat, link, &writer->epoch, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t until = clock_now() + REMOTE_PATIENCE;
        PGresult *result = NULL, *more;
        bool good;

        good = link_prepare(link, names[i].name, names[i].sql) && link_flush(link, until) && link_wait(link, until) &&
               (result = libpq()->getResult(link->conn)) && libpq()->resultStatus(result) == PGRES_COMMAND_OK;
        while (good && link_wait(link, until) && (more = libpq()->getResult(link->conn)))
            libpq()->clear(more);
        if (!good)
            link_fail(link, "preparing", result, err);
        libpq()->clear(result);
        if (!good)
            return -1;
    }
    return 0;
}

static bool batch_send(struct writer *writer, struct row_batch *batch, bool removed)
{
    struct given given[1 + BATCH_COLUMNS] = {given_text(writer->place->name)};

    row_batch_give(batch, given + 1);
    return link_send(&writer->link, removed ? "remove" : "put", given, removed ? 3 : 1 + BATCH_COLUMNS);
}

/* Sends those that are put, or those that are removed: each row is there once, so their order does not matter. */
static bool changes_send(struct writer *writer, const struct row_changes *changes, bool removed)
{
    struct row_batch *batch = &writer->batch;

    row_batch_begin(batch);
    for (uint32_t i = 0; i < changes->count; i++) {
        const struct row_change *change = changes->items[i];

        if (change->removed != removed)
            continue;
        if (!row_batch_has_room(batch, change)) {
            if (!batch_send(writer, batch, removed) || !link_flush(&writer->link, clock_now() + COMMIT_PATIENCE))
                return false;
            row_batch_begin(batch);
        }
        row_batch_add(batch, change);
    }
    return !batch->count || batch_send(writer, batch, removed);
}

static bool transaction_send(struct writer *writer, const struct row_changes *changes, uint64_t number)
{
    struct link *link = &writer->link;
    struct given given[] = {given_text(writer->place->name), given_number(writer->epoch),
                            given_text(seat_holder(writer->seat))};
    struct given counted[] = {given[0], given_number(number)};

    if (libpq()->enterPipelineMode(link->conn) != 1 || !link_send(link, "begin", NULL, 0) ||
        !link_send(link, "held", given, 3) || !link_send(link, "count", counted, 2) ||
        !changes_send(writer, changes, false) || !changes_send(writer, changes, true))
        return false;
    return link_send(link, "commit", NULL, 0) && libpq()->pipelineSync(link->conn) == 1 &&
           link_flush(link, clock_now() + COMMIT_PATIENCE);
}

/* Takes the answers. True: it is committed. `ret_failed` is the first that failed, which the caller clears. */
static bool transaction_take(struct link *link, PGresult **ret_failed)
{
    bool committed = false, between = false;

    while (link_wait(link, clock_now() + COMMIT_PATIENCE)) {
        PGresult *result = libpq()->getResult(link->conn);
        ExecStatusType status = result ? libpq()->resultStatus(result) : PGRES_COMMAND_OK;

        if (!result && between)
            return false; /* two commands end, and none begins: the connection is gone */
        between = !result;
        if (!result)
            continue;
        if (status == PGRES_PIPELINE_SYNC) {
            libpq()->clear(result);
            return committed && !*ret_failed && libpq()->exitPipelineMode(link->conn) == 1;
        }
        committed = status == PGRES_COMMAND_OK && !strcmp(libpq()->cmdStatus(result), "COMMIT");
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && !*ret_failed)
            *ret_failed = result;
        else
            libpq()->clear(result);
    }
    return false;
}

static int writer_try(struct writer *writer, const struct row_changes *changes, struct err *err)
{
    uint64_t number = seat_commits(writer->seat) + 1;
    PGresult *failed = NULL;
    bool done;

    if (writer_connect(writer, err) < 0)
        return -1;
    done = transaction_send(writer, changes, number) && transaction_take(&writer->link, &failed);
    if (done)
        seat_committed(writer->seat, number);
    else
        link_fail(&writer->link, "a commit", failed, err);
    libpq()->clear(failed);
    return done ? 0 : -1;
}

/* ----------------------------------------------------------------------------------------------------------- the thread */

static void writer_rest(const struct writer *writer, int64_t span)
{
    int64_t until = clock_now() + span;

    while (clock_now() < until && !atomic_load(&writer->stop))
        nanosleep(&(struct timespec){0, 20000000}, NULL);
}

/* Tries until it is done, or never will be. 1, -1; 0: it was stopped. */
static int writer_write(struct writer *writer, const struct row_changes *changes, struct err *err)
{
    int64_t span = REST_FIRST;

    while (!atomic_load(&writer->stop)) {
        if (writer_try(writer, changes, err) == 0)
            return 1;
        if (writer->link.fenced) {
            seat_is_lost(writer->seat);
            (void)seat_lost(writer->seat, err);
        }
        if (writer->link.fenced || !writer->link.away)
            return -1;
        pthread_mutex_lock(&writer->lock);
        writer->failing = true;
        writer->why = *err;
        pthread_mutex_unlock(&writer->lock);
        writer_rest(writer, span);
        span = span * 2 < REST_LAST ? span * 2 : REST_LAST;
    }
    return 0;
}

static void *writer_thread(void *given)
{
    struct writer *writer = given;
    const struct row_changes *changes;
    struct err err = {0};
    uint64_t one = 1;
    int result;

    pthread_mutex_lock(&writer->lock);
    while (!atomic_load(&writer->stop)) {
        changes = writer->changes;
        if (!changes) {
            pthread_cond_wait(&writer->work, &writer->lock);
            continue;
        }
        pthread_mutex_unlock(&writer->lock);
        result = writer_write(writer, changes, &err);
        pthread_mutex_lock(&writer->lock);
        writer->failing = false;
        if (result < 0)
            writer->why = err;
        writer->result = result ? result : -1;
        writer->changes = NULL;
        pthread_cond_broadcast(&writer->rest);
        if (write(writer->news, &one, sizeof one) < 0)
            continue; /* it can be read already */
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------------ use */

struct writer *writer_new(const struct place *place, struct seat *seat, int news, struct err *err)
{
    struct writer *writer = mem_alloc(sizeof *writer);

    *writer = (struct writer){.place = place, .seat = seat, .news = news, .result = 1};
    writer->link = (struct link){.place = place, .stop = &writer->stop, .known = true};
    row_batch_init(&writer->batch);
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->work, NULL);
    pthread_cond_init(&writer->rest, NULL);
    writer->begun = thread_start(&writer->thread, writer_thread, writer);
    if (writer->begun)
        return writer;
    writer_free(writer);
    err_set(err, "%s: no thread could be started", place->label);
    return NULL;
}

void writer_free(struct writer *writer)
{
    if (!writer)
        return;
    if (writer->begun) {
        pthread_mutex_lock(&writer->lock);
        atomic_store(&writer->stop, true);
        pthread_cond_signal(&writer->work);
        pthread_mutex_unlock(&writer->lock);
        pthread_join(writer->thread, NULL);
    }
    link_close(&writer->link);
    row_batch_done(&writer->batch);
    pthread_cond_destroy(&writer->work);
    pthread_cond_destroy(&writer->rest);
    pthread_mutex_destroy(&writer->lock);
    free(writer);
}

void writer_begin(struct writer *writer, const struct row_changes *changes)
{
    pthread_mutex_lock(&writer->lock);
    writer->changes = changes;
    writer->result = 0;
    writer->since = clock_now();
    pthread_cond_signal(&writer->work);
    pthread_mutex_unlock(&writer->lock);
}

int writer_look(struct writer *writer, struct err *err)
{
    int result;

    pthread_mutex_lock(&writer->lock);
    result = writer->changes ? 0 : writer->result;
    if (result < 0)
        *err = writer->why;
    pthread_mutex_unlock(&writer->lock);
    return result;
}

void writer_wait(struct writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    while (writer->changes)
        pthread_cond_wait(&writer->rest, &writer->lock);
    pthread_mutex_unlock(&writer->lock);
}

int64_t writer_away(struct writer *writer, char *ret_why, size_t room)
{
    int64_t since = 0;

    pthread_mutex_lock(&writer->lock);
    if (writer->changes && clock_now() - writer->since > (writer->failing ? SECOND : SLOW_AFTER)) {
        since = writer->since;
        if (writer->failing)
            snprintf(ret_why, room, "%s", writer->why.text);
        else
            snprintf(ret_why, room, "%s: a commit has not been answered", writer->place->label);
    }
    pthread_mutex_unlock(&writer->lock);
    return since;
}
