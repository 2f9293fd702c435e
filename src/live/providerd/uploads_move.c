/* uploads_move.c: the files that a job leaves for stores, out of its folder and into the one of files on their way.
 *
 * Names come from the job: no link is followed, and nothing but a regular file is taken. All of it is on disk before the job's end is told: a
 * thread brings it there while the provider goes on. */
#include "live/providerd/uploads_parts.h"

#include "sys/confined_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_named(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (!strcmp(*names, name))
            return true;
    return false;
}

/* The name of the file in the job's folder; and does the customer get it as well? */
static const char *file_source(const struct task *task, const char *file, bool *ret_keep)
{
    const struct job_order *order = &task->order;
    const char *from = order->out && !strcmp(order->out, file)   ? JOB_STDOUT
                       : order->err && !strcmp(order->err, file) ? JOB_STDERR
                                                                 : file;

    *ret_keep = !strcmp(from, JOB_STDOUT) || !strcmp(from, JOB_STDERR) || is_named(order->outputs, file) ||
                is_named(order->checkpoint, file);
    return from;
}

/* Gives a file that stays a second name, in our folder. */
static int file_link(int from, const char *name, int to, const char *new_name)
{
    const char *last;
    int parent = confined_parent(from, name, false, &last), failed;

    if (parent < 0)
        return -1;
    failed = linkat(parent, last, to, new_name, 0);
    close(parent);
    return failed;
}

struct file_sync *upload_files_settle(const struct task *task, const struct job_uploads *upload_files,
                                      file_sync_done_fn *done, void *user)
{
    const char *names[JOB_UPLOADS_MAX];
    char folder[DAEMON_PATH_MAX];
    bool keep;

    for (size_t i = 0; i < upload_files->count; i++)
        names[i] = file_source(task, upload_files->items[i].file, &keep);
    providerd_folder(task->providerd, folder, sizeof folder, task->claim, task->number);
    return file_sync_start(&task->providerd->daemon.loop, folder, names, upload_files->count, done, user);
}

/* Brings a file to disk now that no thread has, because we were started anew meanwhile. The errno, or 0. */
static int upload_file_settle(const struct task *task, uint32_t place, int fd)
{
    int result = file_sync_result(task->file_sync, place);

    if (result >= 0)
        return result;
    return fdatasync(fd) < 0 ? errno : 0;
}

/* Moves a file into our folder. One that is there already was moved by a process that was killed before it could say so. */
static void upload_file_move(const struct task *task, int from, int to, uint32_t place, struct upload_file *upload_file)
{
    char new_name[16];
    struct err err = {0};
    bool keep;
    const char *name = file_source(task, upload_file->file, &keep);
    enum confined_sort sort;
    int fd, error;

    snprintf(new_name, sizeof new_name, "%u", place);
    fd = confined_file(to, new_name, O_RDONLY, 0);
    sort = fd < 0 ? confined_failed(errno) : CONFINED_FILE;
    if (sort == CONFINED_ABSENT) {
        fd = confined_read(from, name, &upload_file->size, &err);
        sort = fd < 0 ? confined_failed(errno) : CONFINED_FILE;
        if (fd >= 0 && (keep ? file_link(from, name, to, new_name) : confined_move(from, name, to, new_name)) < 0) {
            snprintf(upload_file->words, sizeof upload_file->words, "it cannot be moved: %s", strerror(errno));
            upload_file->state = UPLOAD_FILE_LOST;
        }
    }
    if (fd >= 0) {
        upload_file->size = lseek(fd, 0, SEEK_END);
        error = upload_file->state == UPLOAD_FILE_WAITS ? upload_file_settle(task, place, fd) : 0;
        if (error) {
            snprintf(upload_file->words, sizeof upload_file->words, "it cannot be kept: %s", strerror(error));
            upload_file->state = UPLOAD_FILE_LOST;
        }
        close(fd);
    } else if (sort == CONFINED_ABSENT) {
        upload_file->state = UPLOAD_FILE_NONE;
    } else { /* it may well be there: nobody says that it was not made */
        snprintf(upload_file->words, sizeof upload_file->words, "it cannot be read: %.200s",
                 *err.text ? err.text : "its place cannot be opened");
        upload_file->state = UPLOAD_FILE_LOST;
    }
}

/* Flushes the names of the files, and that of their folder. -1 and errno: they may be gone after a power cut. */
static int names_keep(int folder)
{
    int above = openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = above < 0 || fsync(folder) < 0 || fsync(above) < 0 ? -1 : 0, error = errno;

    if (above >= 0)
        close(above);
    errno = error;
    return failed;
}

/* Marks all files as lost: nothing of them is known to be on disk. */
static void upload_files_lose(struct upload *upload, const char *why)
{
    for (uint32_t i = 0; i < upload->count; i++) {
        struct upload_file *upload_file = &upload->upload_files[i];

        if (upload_file->state != UPLOAD_FILE_WAITS)
            continue;
        upload_file->state = UPLOAD_FILE_LOST;
        snprintf(upload_file->words, sizeof upload_file->words, "it cannot be kept: %.200s", why);
    }
}

void upload_files_move(struct upload *upload, const struct task *task)
{
    struct providerd *providerd = upload->providerd;
    char path[DAEMON_PATH_MAX], work[DAEMON_PATH_MAX];
    struct err err = {0};
    int from, to;

    providerd_folder(providerd, work, sizeof work, task->claim, task->number);
    upload_folder(providerd, task->claim, task->number, path, sizeof path);
    from = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    to = confined_folder(AT_FDCWD, path, &err);
    for (uint32_t i = 0; i < upload->count; i++) {
        struct upload_file *upload_file = &upload->upload_files[i];

        if (from >= 0 && to >= 0)
            upload_file_move(task, from, to, i, upload_file);
    }
    if (from < 0 || to < 0)
        upload_files_lose(upload, from < 0 ? "the job's folder cannot be opened" : err.text);
    else if (names_keep(to) < 0)
        upload_files_lose(upload, strerror(errno));
    for (uint32_t i = 0; i < upload->count; i++)
        if (upload->upload_files[i].state == UPLOAD_FILE_WAITS)
            providerd->uploads->used += (uint64_t)upload->upload_files[i].size;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
}
