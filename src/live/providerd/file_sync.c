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

static void memory_free(struct file_sync *settling)
{
    for (size_t i = 0; i < settling->count; i++)
        free(settling->names[i]);
    free(settling->names);
    free(settling->results);
    free(settling->folder);
    free(settling);
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
    struct file_sync *settling = work->data;
    int folder = open(settling->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (size_t i = 0; folder >= 0 && i < settling->count && !atomic_load(&settling->dropped); i++)
        settling->results[i] = file_settle(folder, settling->names[i]);
    if (folder >= 0)
        close(folder);
}

static void work_over(uv_work_t *work, int status)
{
    struct file_sync *settling = work->data;

    (void)status; /* it is below 0 only of what was cancelled */
    settling->over = true;
    if (atomic_load(&settling->dropped))
        memory_free(settling);
    else
        settling->done(settling->user);
}

/* ----------------------------------------------------------------------------------------------------------------- life */

struct file_sync *file_sync_start(struct uv_loop_s *loop, const char *folder, const char *const *names, size_t count,
                                  file_sync_done_fn *done, void *user)
{
    struct file_sync *settling = mem_alloc(sizeof *settling);

    memset(settling, 0, sizeof *settling);
    settling->folder = mem_dup(folder, strlen(folder));
    settling->names = mem_alloc(count * sizeof *settling->names);
    settling->results = mem_alloc(count * sizeof *settling->results);
    settling->count = count;
    settling->done = done;
    settling->user = user;
    atomic_init(&settling->dropped, false);
    for (size_t i = 0; i < count; i++) {
        settling->names[i] = mem_dup(names[i], strlen(names[i]));
        settling->results[i] = -1;
    }
    settling->work.data = settling;
    if (uv_queue_work(loop, &settling->work, work_run, work_over) < 0)
        abort(); /* only without a work callback */
    return settling;
}

int file_sync_result(const struct file_sync *settling, size_t place)
{
    return settling && settling->over && place < settling->count ? settling->results[place] : -1;
}

void file_sync_free(struct file_sync *settling)
{
    if (!settling)
        return;
    if (settling->over) {
        memory_free(settling);
        return;
    }
    atomic_store(&settling->dropped, true);
    uv_cancel((uv_req_t *)&settling->work); /* one that has not begun */
}
