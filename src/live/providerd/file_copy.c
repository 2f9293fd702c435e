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
static void copy(struct file_copy *laying)
{
    int64_t left = laying->size;

    while (left > 0 && !atomic_load(&laying->cancelled)) {
        ssize_t n = sendfile(laying->to, laying->from, NULL, (size_t)(left < FILE_COPY_SLICE ? left : FILE_COPY_SLICE));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            err_set(&laying->err, "%s: %s", laying->name, n < 0 ? strerror(errno) : "shorter than it was");
            return;
        }
        left -= n;
    }
}

static int files_open(struct file_copy *laying, const struct file_copy_order *order, struct err *err)
{
    int folder = -1, failed = -1;

    laying->from = open(order->from, O_RDONLY | O_CLOEXEC);
    if (laying->from >= 0)
        folder = open(order->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) {
        err_set(err, "%s: %s", laying->from < 0 ? order->from : order->folder, strerror(errno));
        return -1;
    }
    laying->to = confined_create(folder, order->name, order->mode, err);
    if (laying->to >= 0)
        failed = 0;
    close(folder);
    utimensat(AT_FDCWD, order->from, NULL, 0); /* it was wanted: it is kept for another while */
    return failed;
}

static void file_copy_free(struct file_copy *laying)
{
    if (laying->from >= 0)
        close(laying->from);
    if (laying->to >= 0)
        close(laying->to);
    free(laying);
}

/* ----------------------------------------------------------------------------------------------------------- the thread */

static void work_run(uv_work_t *work)
{
    copy(work->data);
}

static void work_over(uv_work_t *work, int status)
{
    struct file_copy *laying = work->data;
    file_copy_done_fn *done = laying->done;
    void *user = laying->user;
    struct err err = laying->err;

    (void)status; /* it is below 0 only of what was cancelled */
    file_copy_free(laying);
    if (done)
        done(user, *err.text ? err.text : NULL);
}

/* ----------------------------------------------------------------------------------------------------------------- life */

enum file_copy_result file_copy_start(struct uv_loop_s *loop, const struct file_copy_order *order,
                                      file_copy_done_fn *done, void *user, struct file_copy **ret, struct err *err)
{
    struct file_copy *laying = mem_alloc(sizeof *laying);
    enum file_copy_result result;

    memset(laying, 0, sizeof *laying);
    laying->from = laying->to = -1;
    laying->size = order->size;
    laying->done = done;
    laying->user = user;
    atomic_init(&laying->cancelled, false);
    snprintf(laying->name, sizeof laying->name, "%s", order->name);
    *ret = NULL;
    if (files_open(laying, order, err) < 0) {
        int failed = errno;

        file_copy_free(laying);
        errno = failed;
        return UNLAID;
    }
    if (order->size > FILE_COPY_AT_ONCE) {
        laying->work.data = laying;
        if (uv_queue_work(loop, &laying->work, work_run, work_over) < 0)
            abort(); /* only without a work callback */
        *ret = laying;
        return LAYING;
    }
    copy(laying);
    result = *laying->err.text ? UNLAID : LAID;
    if (result == UNLAID)
        *err = laying->err;
    file_copy_free(laying);
    return result;
}

void file_copy_cancel(struct file_copy *laying)
{
    if (!laying)
        return;
    atomic_store(&laying->cancelled, true);
    laying->done = NULL;
    uv_cancel((uv_req_t *)&laying->work); /* one that has not begun */
}
