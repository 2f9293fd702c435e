/* trash.c: folders that jobs leave are taken away by a thread. */
#define _GNU_SOURCE
#include "sys/trash.h"

#include "lang/base/mem.h"
#include "sys/confined_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#define NAMES_MAX 1000 /* that are tried, where folders of the same name wait */

struct trash {
    char *folder;
    uv_thread_t thread;
    uv_mutex_t mutex;
    uv_cond_t more;
    bool waiting; /* something came since the thread has looked */
    atomic_bool stop;
};

/* ----------------------------------------------------------------------------------------------------------- the thread */

static bool is_over(void *user)
{
    return atomic_load(&((struct trash *)user)->stop);
}

static void remove_all(struct trash *trash)
{
    struct confined_end end = {is_over, trash};
    DIR *dir = opendir(trash->folder);
    struct dirent *row;
    char path[PATH_MAX];

    while (dir && !is_over(trash) && (row = readdir(dir))) {
        int len = snprintf(path, sizeof path, "%s/%s", trash->folder, row->d_name);

        if (strcmp(row->d_name, ".") != 0 && strcmp(row->d_name, "..") != 0 && len < PATH_MAX)
            confined_remove_until(AT_FDCWD, path, &end, NULL); /* what cannot be removed stays, and is tried again */
    }
    if (dir)
        closedir(dir);
}

static void thread_run(void *user)
{
    struct trash *trash = user;

    uv_mutex_lock(&trash->mutex);
    while (!is_over(trash)) {
        if (!trash->waiting) {
            uv_cond_wait(&trash->more, &trash->mutex);
            continue;
        }
        trash->waiting = false;
        uv_mutex_unlock(&trash->mutex);
        remove_all(trash);
        uv_mutex_lock(&trash->mutex);
    }
    uv_mutex_unlock(&trash->mutex);
}

/* ----------------------------------------------------------------------------------------------------------------- taking */

/* A folder that a job has shut cannot be moved by an ordinary user; as its owner we open it. */
static int move(const char *from, const char *to)
{
    int failed = rename(from, to);

    if (failed < 0 && errno == EACCES && chmod(from, 0700) == 0)
        failed = rename(from, to);
    return failed;
}

int trash_take(struct trash *trash, const char *path, struct err *err)
{
    const char *last = strrchr(path, '/');
    char name[PATH_MAX];
    int failed = -1;

    errno = EEXIST;
    for (uint32_t n = 0; failed < 0 && n < NAMES_MAX && (errno == EEXIST || errno == ENOTEMPTY); n++) {
        if (snprintf(name, sizeof name, "%s/%s.%u", trash->folder, last ? last + 1 : path, (unsigned)n) >=
            (int)sizeof name)
            errno = ENAMETOOLONG;
        else
            failed = move(path, name);
    }
    if (failed < 0 && errno == ENOENT && access(trash->folder, F_OK) == 0)
        return 0;
    if (failed < 0 && errno == EROFS) /* nor could any file in it be removed */
        return err_set(err, "'%s' cannot be removed: %s", path, strerror(errno));
    if (failed < 0)
        return confined_remove(AT_FDCWD, path, err); /* slow is better than never */
    uv_mutex_lock(&trash->mutex);
    trash->waiting = true;
    uv_cond_signal(&trash->more);
    uv_mutex_unlock(&trash->mutex);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------------- life */

/* Signals are the loop's. */
static int thread_start(struct trash *trash)
{
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = uv_thread_create(&trash->thread, thread_run, trash);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

struct trash *trash_new(const char *folder, struct err *err)
{
    struct trash *trash;

    if (mkdir(folder, 0700) < 0 && errno != EEXIST) {
        err_set(err, "'%s' cannot be made: %s", folder, strerror(errno));
        return NULL;
    }
    trash = mem_alloc(sizeof *trash);
    memset(trash, 0, sizeof *trash);
    trash->folder = mem_dup(folder, strlen(folder));
    trash->waiting = true; /* what the last life left */
    atomic_init(&trash->stop, false);
    uv_mutex_init(&trash->mutex);
    uv_cond_init(&trash->more);
    if (thread_start(trash) == 0)
        return trash;
    err_set(err, "a thread could not be made");
    uv_cond_destroy(&trash->more);
    uv_mutex_destroy(&trash->mutex);
    free(trash->folder);
    free(trash);
    return NULL;
}

void trash_free(struct trash *trash)
{
    if (!trash)
        return;
    atomic_store(&trash->stop, true);
    uv_mutex_lock(&trash->mutex);
    uv_cond_signal(&trash->more);
    uv_mutex_unlock(&trash->mutex);
    uv_thread_join(&trash->thread);
    uv_cond_destroy(&trash->more);
    uv_mutex_destroy(&trash->mutex);
    free(trash->folder);
    free(trash);
}
