/* file_sync.c: files that a job has left are brought to disk by a thread. */
#include "live/providerd/file_sync.h"

#include "lang/base/mem.h"
#include "sys/confined_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

struct file_sync {
    uv_work_t work;
    char *folder;
    char **names;
    int *results;
    size_t count;
    file_sync_done_fn *done;
    void *user;
    bool over;
    atomic_bool dropped; /* by the loop: what has not begun need not be done */
};

static void memory_free(struct file_sync *file_sync)
{
    for (size_t i = 0; i < file_sync->count; i++)
        free(file_sync->names[i]);
    free(file_sync->names);
    free(file_sync->results);
    free(file_sync->folder);
    free(file_sync);
}

/* ----------------------------------------------------------------------------------------------------------- the thread */

static int file_settle(int folder, const char *name)
{
    struct err err = {0};
    int64_t size;
    int fd = confined_read(folder, name, &size, &err), result = 0;

    if (fd < 0)
        return -1;
    if (fdatasync(fd) < 0)
        result = errno;
    close(fd);
    return result;
}

static void work_run(uv_work_t *work)
{
    struct file_sync *file_sync = work->data;
    int folder = open(file_sync->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (size_t i = 0; folder >= 0 && i < file_sync->count && !atomic_load(&file_sync->dropped); i++)
        file_sync->results[i] = file_settle(folder, file_sync->names[i]);
    if (folder >= 0)
        close(folder);
}

static void work_over(uv_work_t *work, int status)
{
    struct file_sync *file_sync = work->data;

    (void)status; /* it is below 0 only of what was cancelled */
    file_sync->over = true;
    if (atomic_load(&file_sync->dropped))
        memory_free(file_sync);
    else
        file_sync->done(file_sync->user);
}

/* ----------------------------------------------------------------------------------------------------------------- life */

struct file_sync *file_sync_start(struct uv_loop_s *loop, const char *folder, const char *const *names, size_t count,
                                  file_sync_done_fn *done, void *user)
{
    struct file_sync *file_sync = mem_alloc(sizeof *file_sync);

    memset(file_sync, 0, sizeof *file_sync);
    file_sync->folder = mem_dup(folder, strlen(folder));
    file_sync->names = mem_alloc(count * sizeof *file_sync->names);
    file_sync->results = mem_alloc(count * sizeof *file_sync->results);
    file_sync->count = count;
    file_sync->done = done;
    file_sync->user = user;
    atomic_init(&file_sync->dropped, false);
    for (size_t i = 0; i < count; i++) {
        file_sync->names[i] = mem_dup(names[i], strlen(names[i]));
        file_sync->results[i] = -1;
    }
    file_sync->work.data = file_sync;
    if (uv_queue_work(loop, &file_sync->work, work_run, work_over) < 0)
        abort(); /* only without a work callback */
    return file_sync;
}

int file_sync_result(const struct file_sync *file_sync, size_t place)
{
    return file_sync && file_sync->over && place < file_sync->count ? file_sync->results[place] : -1;
}

void file_sync_free(struct file_sync *file_sync)
{
    if (!file_sync)
        return;
    if (file_sync->over) {
        memory_free(file_sync);
        return;
    }
    atomic_store(&file_sync->dropped, true);
    uv_cancel((uv_req_t *)&file_sync->work); /* one that has not begun */
}
