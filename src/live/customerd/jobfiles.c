/* jobfiles.c: the files that jobs leave at the customer: outputs, logs, checkpoints. */
#define _GNU_SOURCE /* O_PATH */
#include "live/customerd/away.h"
#include "live/customerd/jobfiles_parts.h"

#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "live/http/represent.h"
#include "sys/confined_path.h"
#include "sys/trash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRASH ".trash"

struct share_loss {
    uint64_t bytes, files;
};
#define JOB_LAST_MAX (UINT64_C(1) << 40) /* a larger number was never a job's */

const struct job_file_row job_file_rows[] = {
#define X(id, word, folder) {word, folder},
    JOB_FILE_KINDS(X)
#undef X
};

const char *job_file_word(enum job_file_kind kind)
{
    return job_file_rows[kind].word;
}

int job_file_kind(const char *word, size_t len)
{
    for (int i = 0; i < JOB_FILE_KIND_COUNT; i++)
        if (strlen(job_file_rows[i].word) == len && !memcmp(job_file_rows[i].word, word, len))
            return i;
    return -1;
}

struct jobfiles *jobfiles_new(const char *path, struct symbols *symbols, struct err *err)
{
    struct jobfiles *files = mem_alloc(sizeof *files);

    memset(files, 0, sizeof *files);
    files->symbols = symbols;
    files->pieces = pieces_new();
    randombytes_buf(&files->seed, sizeof files->seed);
    files->path = mem_dup(path, strlen(path));
    files->folder = confined_folder(AT_FDCWD, path, err);
    if (files->folder >= 0) {
        char trash[PATH_MAX];

        snprintf(trash, sizeof trash, "%.4000s/" TRASH, path);
        files->trash = trash_new(trash, err);
    }
    if (!files->trash) {
        jobfiles_free(files);
        return NULL;
    }
    return files;
}

uint64_t jobfiles_last(const struct jobfiles *files)
{
    int folder = openat(files->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = folder < 0 ? NULL : fdopendir(folder);
    const struct dirent *entry;
    uint64_t last = 0;

    while (dir && (entry = readdir(dir))) {
        char *end;
        uint64_t number = strtoull(entry->d_name, &end, 10);

        if (end != entry->d_name && (!*end || *end == '.') && number > last && number < JOB_LAST_MAX)
            last = number;
    }
    if (dir)
        closedir(dir);
    else if (folder >= 0)
        close(folder);
    return last;
}

void jobfiles_free(struct jobfiles *files)
{
    if (!files)
        return;
    for (int i = 0; i < JOBFILES_INDEXES; i++)
        file_index_done(&files->indexes[i]);
    pieces_free(files->pieces);
    trash_free(files->trash);
    if (files->folder >= 0)
        close(files->folder);
    free(files->path);
    free(files);
}

void jobfiles_set_shares(struct jobfiles *files, struct output_shares *shares)
{
    files->shares = shares;
}

static void job_name(char ret[32], uint64_t job, const char *end)
{
    snprintf(ret, 32, "%llu%s", (unsigned long long)job, end);
}

int jobfiles_log(struct jobfiles *files, uint64_t job, int flags)
{
    char name[32];

    job_name(name, job, ".log");
    return openat(files->folder, name, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Opens the job's own folder, made if `make`; -1: there is none. */
int jobfiles_folder(struct jobfiles *files, uint64_t job, bool make)
{
    char name[32];

    job_name(name, job, "");
    if (make && mkdirat(files->folder, name, 0700) < 0 && errno != EEXIST)
        return -1;
    return openat(files->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ------------------------------------------------------------------------------------------------------------ reading */

/* Does a complete file belong to that try? Checkpoints outlive their try. */
static bool file_counts(const struct job_file *file, const struct job_place *place)
{
    return file->kind == JOB_FILE_CHECKPOINT || (file->claim == place->claim && file->number == place->number);
}

int jobfiles_each(struct jobfiles *files, const struct job_place *place, job_file_fn *fn, void *user)
{
    int folder = jobfiles_folder(files, place->job, false), failed;
    struct file_index *index;

    if (folder < 0)
        return errno == ENOENT ? 0 : -1;
    index = file_index_get(files, place->job, folder);
    for (uint32_t i = 0; index && i < index->names.places; i++)
        if (textmap_text(&index->names, i) && file_counts(&index->items[i], place))
            fn(user, &index->items[i]);
    failed = index ? jobfiles_parts(folder, place, fn, user) : -1;
    return close_keep(folder), failed;
}

/* Opens a complete file where it lies. -1 and errno. */
static int whole_open(int folder, const struct job_place *place, const struct job_file *file)
{
    char path[CONFINED_NAME_MAX + 32], folder_name[AWAY_FOLDER_MAX], name[CONFINED_NAME_MAX + 1];
    int iwd, fd = -1;

    if (!file->away) {
        snprintf(path, sizeof path, "%s/%s", job_file_rows[file->kind].folder, file->name);
        return confined_file(folder, path, O_RDONLY, 0);
    }
    errno = ENOENT;
    if (!place->iwd || away_place(place->iwd, file->name, file->to, folder_name, name) < 0)
        return -1;
    iwd = open(folder_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (iwd < 0)
        return -1;
    away_name(place->job, name, file->beside, path);
    fd = confined_file(iwd, path, O_RDONLY, 0);
    return close_keep(iwd), fd;
}

int jobfiles_open(struct jobfiles *files, const struct job_place *place, enum job_file_kind kind, const char *name,
                  uint64_t *ret_size, bool *ret_whole)
{
    int folder = -1, fd = -1;
    char path[CONFINED_NAME_MAX + 128];
    const struct file_index *index;
    const struct job_file *file;
    struct stat stat;

    errno = ENOENT;
    if (confined_name_is_good(name, strlen(name)))
        folder = jobfiles_folder(files, place->job, false);
    if (folder < 0)
        return -1;
    index = file_index_get(files, place->job, folder);
    file = index ? file_index_find(index, kind, name) : NULL;
    *ret_whole = file && file_counts(file, place);
    if (*ret_whole) {
        fd = whole_open(folder, place, file);
    } else if (index) {
        jobfiles_part_name(path, sizeof path, place, kind, name);
        fd = confined_file(folder, path, O_RDONLY, 0);
    }
    close_keep(folder);
    if (fd >= 0 && fstat(fd, &stat) < 0) {
        close_keep(fd);
        fd = -1;
    }
    if (fd >= 0)
        *ret_size = (uint64_t)stat.st_size;
    else if (piece_failed(errno) == PIECE_BAD) /* something else, not a file, is in its place */
        errno = ENOENT;
    return fd;
}

int jobfiles_delivered(struct jobfiles *files, const struct job_place *place, const char *name, bool beside, bool keep)
{
    int folder = jobfiles_folder(files, place->job, false), failed = -1;
    struct file_index *index = folder < 0 ? NULL : file_index_get(files, place->job, folder);
    const struct job_file *known = index ? file_index_find(index, JOB_FILE_OUTPUT, name) : NULL;
    char path[CONFINED_NAME_MAX + 32];
    struct job_file file;
    bool was_here;

    if (!index)
        return folder < 0 ? -1 : (close_keep(folder), -1);
    errno = ENOENT;
    if (known && known->claim == place->claim && known->number == place->number) {
        file = *known;
        file.away = !keep;
        file.delivered = keep;
        file.beside = beside;
        was_here = !known->away;
        failed = file_list_add(files, folder, index, &file);
        if (files->shares && !failed && was_here && !keep)
            output_shares_lose(files->shares, place->job, file.size, 1);
    }
    if (!failed && !keep) {
        const char *last;
        int parent;

        snprintf(path, sizeof path, "%s/%s", job_file_rows[JOB_FILE_OUTPUT].folder, name);
        parent = confined_parent(folder, path, false, &last);
        if (parent >= 0) {
            unlinkat(parent, last, 0);
            close(parent);
        }
    }
    return close_keep(folder), failed;
}

/* Removes a folder by a thread, since there may be very many files in it. */
static void folder_drop(struct jobfiles *files, const char *name)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", files->path, name) < (int)sizeof path)
        trash_take(files->trash, path, NULL); /* what cannot be removed now is tried again later */
}

static void part_lose(void *user, const struct job_file *file)
{
    struct share_loss *loss = user;

    loss->bytes += file->size;
    loss->files++;
}

/* What is still coming of that try does not count any more. */
static void parts_lose(struct jobfiles *files, uint64_t job, uint64_t claim, uint64_t number)
{
    struct job_place place = {.job = job, .claim = claim, .number = number};
    int folder = files->shares ? jobfiles_folder(files, job, false) : -1;
    struct share_loss loss = {0, 0};

    if (folder < 0)
        return;
    jobfiles_parts(folder, &place, part_lose, &loss);
    close(folder);
    output_shares_lose(files->shares, job, loss.bytes, loss.files);
}

void jobfiles_drop(struct jobfiles *files, uint64_t job, uint64_t claim, uint64_t number)
{
    char name[128];

    parts_lose(files, job, claim, number);
    snprintf(name, sizeof name, "%llu/" JOBFILES_PART "/%016llx-%016llx", (unsigned long long)job,
             (unsigned long long)claim, (unsigned long long)number);
    folder_drop(files, name);
}

void jobfiles_clear(struct jobfiles *files, uint64_t job)
{
    char name[32];

    if (files->shares)
        output_shares_forget(files->shares, job);
    for (int i = 0; i < JOBFILES_INDEXES; i++)
        if (files->indexes[i].job == job)
            file_index_done(&files->indexes[i]);
    job_name(name, job, "");
    folder_drop(files, name);
}

void jobfiles_remove(struct jobfiles *files, uint64_t job)
{
    char name[32];

    jobfiles_clear(files, job);
    job_name(name, job, ".log");
    unlinkat(files->folder, name, 0);
}
