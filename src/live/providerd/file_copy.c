/* file_copy.c: a copy of a file of ours, laid into a job's folder. */
#include "live/providerd/file_copy.h"

#include "lang/base/mem.h"
#include "sys/confined_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

struct file_copy {
    int from, to;
    int64_t size;
    char name[CONFINED_NAME_MAX + 1];
    struct err err; /* "": all of it is there */
    atomic_bool cancelled;
    uv_work_t work;
    file_copy_done_fn *done; /* NULL: nobody waits for it */
    void *user;
};

/* ------------------------------------------------------------------------------------------------------------- copying */

/* Copies the whole file, or stops when nobody wants it any more. */
static void copy(struct file_copy *file_copy)
{
    int64_t left = file_copy->size;

    while (left > 0 && !atomic_load(&file_copy->cancelled)) {
        ssize_t n =
            sendfile(file_copy->to, file_copy->from, NULL, (size_t)(left < FILE_COPY_SLICE ? left : FILE_COPY_SLICE));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            err_set(&file_copy->err, "%s: %s", file_copy->name, n < 0 ? strerror(errno) : "shorter than it was");
            return;
        }
        left -= n;
    }
    /* Whole seconds, which what a job writes practically never has: by that the file is known as it was laid, also after a restart. */
    futimens(file_copy->to, (const struct timespec[2]){{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL)}});
}

static int files_open(struct file_copy *file_copy, const struct file_copy_order *order, struct err *err)
{
    int folder = -1, failed = -1;

    file_copy->from = open(order->from, O_RDONLY | O_CLOEXEC);
    if (file_copy->from >= 0)
        folder = open(order->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        err_set(err, "%s: %s", file_copy->from < 0 ? order->from : order->folder, strerror(errno));
        return -1;
    }
    file_copy->to = confined_create(folder, order->name, order->mode, err);
    if (file_copy->to >= 0)
        failed = 0;
    close(folder);
    utimensat(AT_FDCWD, order->from, NULL, 0); /* it was wanted: it is kept for another while */
    return failed;
}

static void file_copy_free(struct file_copy *file_copy)
{
    if (file_copy->from >= 0)
        close(file_copy->from);
    if (file_copy->to >= 0)
        close(file_copy->to);
    free(file_copy);
}

/* ----------------------------------------------------------------------------------------------------------- the thread */

static void work_run(uv_work_t *work)
{
    copy(work->data);
}

static void work_over(uv_work_t *work, int status)
{
    struct file_copy *file_copy = work->data;
    file_copy_done_fn *done = file_copy->done;
    void *user = file_copy->user;
    struct err err = file_copy->err;

    (void)status; /* it is below 0 only of what was cancelled */
    file_copy_free(file_copy);
    if (done)
        done(user, *err.text ? err.text : NULL);
}

/* ----------------------------------------------------------------------------------------------------------------- life */

enum file_copy_result file_copy_start(struct uv_loop_s *loop, const struct file_copy_order *order,
                                      file_copy_done_fn *done, void *user, struct file_copy **ret, struct err *err)
{
    struct file_copy *file_copy = mem_alloc(sizeof *file_copy);
    enum file_copy_result result;

    memset(file_copy, 0, sizeof *file_copy);
    file_copy->from = file_copy->to = -1;
    file_copy->size = order->size;
    file_copy->done = done;
    file_copy->user = user;
    atomic_init(&file_copy->cancelled, false);
    snprintf(file_copy->name, sizeof file_copy->name, "%s", order->name);
    *ret = NULL;
    if (files_open(file_copy, order, err) < 0) {
        int failed = errno;

        file_copy_free(file_copy);
        errno = failed;
        return UNLAID;
    }
    if (order->size > FILE_COPY_AT_ONCE) {
        file_copy->work.data = file_copy;
        if (uv_queue_work(loop, &file_copy->work, work_run, work_over) < 0)
            abort(); /* only without a work callback */
        *ret = file_copy;
        return LAYING;
    }
    copy(file_copy);
    result = *file_copy->err.text ? UNLAID : LAID;
    if (result == UNLAID)
        *err = file_copy->err;
    file_copy_free(file_copy);
    return result;
}

bool file_copy_is_untouched(int folder, const char *name)
{
    struct stat st;

    return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_mtim.tv_nsec == 0;
}

void file_copy_cancel(struct file_copy *file_copy)
{
    if (!file_copy)
        return;
    atomic_store(&file_copy->cancelled, true);
    file_copy->done = NULL;
    uv_cancel((uv_req_t *)&file_copy->work); /* one that has not begun */
}
