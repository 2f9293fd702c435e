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

/* What it is called in the job's folder; and does the customer get it as well? */
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

/* A second name of the file, for the one that stays. */
static int file_link(int from, const char *name, int to, const char *new_name)
{
    const char *last;
    int parent = beneath_parent(from, name, false, &last), failed;

    if (parent < 0)
        return -1;
    failed = linkat(parent, last, to, new_name, 0);
    close(parent);
    return failed;
}

struct settling *parcels_settle(const struct task *task, const struct job_parcels *parcels, settling_done_fn *done,
                                void *user)
{
    const char *names[JOB_PARCELS_MAX];
    char folder[DAEMON_PATH_MAX];
    bool keep;

    for (size_t i = 0; i < parcels->count; i++)
        names[i] = file_source(task, parcels->items[i].file, &keep);
    workshop_folder(task->workshop, folder, sizeof folder, task->claim, task->number);
    return settling_start(&task->workshop->daemon.loop, folder, names, parcels->count, done, user);
}

/* What no thread has brought to disk, because we were started anew meanwhile, is brought there now. The errno, or 0. */
static int parcel_settle(const struct task *task, uint32_t place, int fd)
{
    int result = settling_result(task->settling, place);

    if (result >= 0)
        return result;
    return fdatasync(fd) < 0 ? errno : 0;
}

/* Into our folder. What is there already was moved by a process that was killed before it could say so. */
static void parcel_move(const struct task *task, int from, int to, uint32_t place, struct parcel *parcel)
{
    char new_name[16];
    struct err err = {0};
    bool keep;
    const char *name = file_source(task, parcel->file, &keep);
    enum beneath_sort sort;
    int fd, error;

    snprintf(new_name, sizeof new_name, "%u", place);
    fd = beneath_file(to, new_name, O_RDONLY, 0);
    sort = fd < 0 ? beneath_failed(errno) : BENEATH_FILE;
    if (sort == BENEATH_ABSENT) {
        fd = beneath_read(from, name, &parcel->size, &err);
        sort = fd < 0 ? beneath_failed(errno) : BENEATH_FILE;
        if (fd >= 0 && (keep ? file_link(from, name, to, new_name) : beneath_move(from, name, to, new_name)) < 0) {
            snprintf(parcel->words, sizeof parcel->words, "it cannot be moved: %s", strerror(errno));
            parcel->state = PARCEL_LOST;
        }
    }
    if (fd >= 0) {
        parcel->size = lseek(fd, 0, SEEK_END);
        error = parcel->state == PARCEL_WAITS ? parcel_settle(task, place, fd) : 0;
        if (error) {
            snprintf(parcel->words, sizeof parcel->words, "it cannot be kept: %s", strerror(error));
            parcel->state = PARCEL_LOST;
        }
        close(fd);
    } else if (sort == BENEATH_ABSENT) {
        parcel->state = PARCEL_NONE;
    } else { /* it may well be there: nobody says that it was not made */
        snprintf(parcel->words, sizeof parcel->words, "it cannot be read: %.200s",
                 *err.text ? err.text : "its place cannot be opened");
        parcel->state = PARCEL_LOST;
    }
}

/* The names of the files, and that of their folder. -1 and errno: they may be gone after a power cut. */
static int names_keep(int folder)
{
    int above = openat(folder, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed = above < 0 || fsync(folder) < 0 || fsync(above) < 0 ? -1 : 0, error = errno;

    if (above >= 0)
        close(above);
    errno = error;
    return failed;
}

/* Nothing of it is known to be on disk. */
static void parcels_lose(struct shipment *shipment, const char *why)
{
    for (uint32_t i = 0; i < shipment->count; i++) {
        struct parcel *parcel = &shipment->parcels[i];

        if (parcel->state != PARCEL_WAITS)
            continue;
        parcel->state = PARCEL_LOST;
        snprintf(parcel->words, sizeof parcel->words, "it cannot be kept: %.200s", why);
    }
}

void parcels_move(struct shipment *shipment, const struct task *task)
{
    struct workshop *workshop = shipment->workshop;
    char path[DAEMON_PATH_MAX], work[DAEMON_PATH_MAX];
    struct err err = {0};
    int from, to;

    workshop_folder(workshop, work, sizeof work, task->claim, task->number);
    shipment_folder(workshop, task->claim, task->number, path, sizeof path);
    from = open(work, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    to = beneath_folder(AT_FDCWD, path, &err);
    for (uint32_t i = 0; i < shipment->count; i++) {
        struct parcel *parcel = &shipment->parcels[i];

        if (from >= 0 && to >= 0)
            parcel_move(task, from, to, i, parcel);
    }
    if (from < 0 || to < 0)
        parcels_lose(shipment, from < 0 ? "the job's folder cannot be opened" : err.text);
    else if (names_keep(to) < 0)
        parcels_lose(shipment, strerror(errno));
    for (uint32_t i = 0; i < shipment->count; i++)
        if (shipment->parcels[i].state == PARCEL_WAITS)
            workshop->shipments->used += (uint64_t)shipment->parcels[i].size;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
}
