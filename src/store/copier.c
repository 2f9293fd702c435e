/* copier.c: a thread copies the log of a store into its file, while rows go on being committed.
 *
 *     commit, the log is long -> copier_begin ->  the thread copies what the log holds by then (some milliseconds)
 *     commit, commit ...      -> copier_look: busy, or how far it came, or why it failed
 *
 * What is committed meanwhile lies in the log behind what was copied. The log begins anew only when all of it is copied: so when little is left
 * the one who commits copies that as well. The thread has a connection of its own, and SQLite keeps the two apart: the one that
 * copies never keeps the one that writes waiting. Nothing here changes what a commit is: its rows are on disk, in the log, before this begins. */
#include "store/store_parts.h"

#include <stdlib.h>

struct copier {
    char *path;
    sqlite3 *db; /* the thread's, from its beginning on */
    pthread_t thread;
    bool begun; /* there is a thread */
    pthread_mutex_t lock;
    pthread_cond_t work, rest;
    /* under the lock: */
    bool wanted, busy, ended, failed, news;
    int copied; /* pages of the log */
    struct store_mark mark;
    struct err why;
};

/* ----------------------------------------------------------------------------------------------------------- the thread */

/* Copies; the lock is not held meanwhile. A process that reads the file at the same time may be in the way: then this is done another time. */
static void copier_copy(struct copier *copier)
{
    struct store_mark mark;
    struct err why = {0};
    int result, copied = 0;
    bool failed;

    pthread_mutex_unlock(&copier->lock);
    result = libsqlite()->wal_checkpoint_v2(copier->db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, &copied);
    failed = result != SQLITE_OK && (result & 0xff) != SQLITE_BUSY && (result & 0xff) != SQLITE_LOCKED;
    if (failed)
        db_fail(copier->db, copier->path, "copying the log into the file", &why);
    mark = fence_mark(copier->path, "");
    pthread_mutex_lock(&copier->lock);
    copier->copied = result == SQLITE_OK && copied > 0 ? copied : 0;
    copier->mark = mark;
    copier->failed = failed;
    copier->why = why;
}

static void *copier_thread(void *given)
{
    struct copier *copier = given;

    pthread_mutex_lock(&copier->lock);
    while (!copier->ended) {
        if (!copier->wanted) {
            pthread_cond_wait(&copier->work, &copier->lock);
            continue;
        }
        copier->wanted = false;
        copier_copy(copier);
        copier->busy = false;
        copier->news = true;
        pthread_cond_signal(&copier->rest);
    }
    pthread_mutex_unlock(&copier->lock);
    return NULL;
}

static bool thread_begin(struct copier *copier)
{
    if (!copier->begun)
        copier->begun = thread_start(&copier->thread, copier_thread, copier);
    return copier->begun;
}

/* ------------------------------------------------------------------------------------------------------------------ use */

struct copier *copier_new(const char *path, struct err *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    struct copier *copier = mem_alloc(sizeof *copier);
    int64_t version;

    *copier = (struct copier){.path = mem_dup(path, strlen(path))};
    pthread_mutex_init(&copier->lock, NULL);
    pthread_cond_init(&copier->work, NULL);
    pthread_cond_init(&copier->rest, NULL);
    if (libsqlite()->open_v2(path, &copier->db, flags, NULL) != SQLITE_OK ||
        libsqlite()->db_config(copier->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL) != SQLITE_OK) {
        if (copier->db)
            db_fail(copier->db, path, "cannot be opened", err);
        else
            err_set(err, "%s: out of memory", path);
        copier_free(copier);
        return NULL;
    }
    libsqlite()->wal_autocheckpoint(copier->db, 0);
    if (db_run(copier->db, path, "PRAGMA synchronous = FULL", err) < 0 ||
        db_number(copier->db, path, "PRAGMA schema_version", &version, err) < 0) { /* which opens the files */
        copier_free(copier);
        return NULL;
    }
    return copier;
}

bool copier_free(struct copier *copier)
{
    bool failed;

    if (!copier)
        return true;
    if (copier->begun) {
        pthread_mutex_lock(&copier->lock);
        copier->ended = true;
        pthread_cond_signal(&copier->work);
        pthread_mutex_unlock(&copier->lock);
        pthread_join(copier->thread, NULL);
    }
    failed = copier->failed;
    libsqlite()->close_v2(copier->db);
    pthread_cond_destroy(&copier->work);
    pthread_cond_destroy(&copier->rest);
    pthread_mutex_destroy(&copier->lock);
    free(copier->path);
    free(copier);
    return !failed;
}

bool copier_begin(struct copier *copier)
{
    if (!copier || !thread_begin(copier))
        return false;
    pthread_mutex_lock(&copier->lock);
    copier->wanted = copier->busy = true;
    pthread_cond_signal(&copier->work);
    pthread_mutex_unlock(&copier->lock);
    return true;
}

void copier_wait(struct copier *copier)
{
    pthread_mutex_lock(&copier->lock);
    while (copier->busy)
        pthread_cond_wait(&copier->rest, &copier->lock);
    pthread_mutex_unlock(&copier->lock);
}

enum copier_news copier_look(struct copier *copier, int *ret_copied, struct store_mark *ret_mark, struct err *err)
{
    enum copier_news news = COPIER_NONE;

    if (!copier || !copier->begun)
        return COPIER_NONE;
    pthread_mutex_lock(&copier->lock);
    if (copier->busy) {
        news = COPIER_BUSY;
    } else if (copier->failed) {
        err_set(err, "%s", copier->why.text);
        news = COPIER_FAILED;
    } else if (copier->news) {
        *ret_copied = copier->copied;
        *ret_mark = copier->mark;
        copier->news = false;
        news = COPIER_DONE;
    }
    pthread_mutex_unlock(&copier->lock);
    return news;
}
