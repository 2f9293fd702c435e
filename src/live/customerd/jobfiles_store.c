/* jobfiles_store.c: incoming pieces of a try's files: checked against what it may leave, and put where they belong. */
#define _GNU_SOURCE /* O_PATH */
#include "live/customerd/away.h"
#include "live/customerd/jobfiles_parts.h"

#include "lang/base/textmap.h"
#include "sys/confined_path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define DEPTH_MAX 64 /* nested folders are listed up to this depth */

static void dir_close_keep(DIR *dir)
{
    int failed = errno;

    closedir(dir);
    errno = failed;
}

void jobfiles_part_name(char *ret, size_t room, const struct job_place *place, enum job_file_kind kind,
                        const char *name)
{
    snprintf(ret, room, JOBFILES_PART "/%016llx-%016llx/%s/%s", (unsigned long long)place->claim,
             (unsigned long long)place->number, job_file_rows[kind].folder, name);
}

/* -1 and errno: not all could be looked at. */
static int parts_each(int fd, enum job_file_kind kind, const char *prefix, int depth, job_file_fn *fn, void *user)
{
    DIR *dir = fdopendir(fd);
    int failed = dir ? 0 : -1;
    struct dirent *row;
    struct stat stat;

    if (!dir)
        close_keep(fd);
    while (!failed && (errno = 0, row = readdir(dir))) {
        char name[CONFINED_NAME_MAX + 2];
        int inside;

        if (!strcmp(row->d_name, ".") || !strcmp(row->d_name, "..") ||
            snprintf(name, sizeof name, "%s%s", prefix, row->d_name) >= (int)sizeof name - 1)
            continue;
        if (fstatat(fd, row->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0) {
            failed = errno == ENOENT ? 0 : -1;
        } else if (S_ISREG(stat.st_mode)) {
            fn(user, &(struct job_file){.kind = kind, .name = name, .size = (uint64_t)stat.st_size, .mode = 0644});
        } else if (S_ISDIR(stat.st_mode) && depth < DEPTH_MAX) {
            inside = openat(fd, row->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            strcat(name, "/");
            failed = inside < 0 ? -1 : parts_each(inside, kind, name, depth + 1, fn, user);
        }
    }
    if (dir) {
        failed = failed || errno ? -1 : 0;
        dir_close_keep(dir);
    }
    return failed;
}

/* The incomplete files of a try, of all kinds. */
int jobfiles_parts(int folder, const struct job_place *place, job_file_fn *fn, void *user)
{
    int failed = 0;
    char name[128];

    for (int kind = 0; kind < JOB_FILE_KIND_COUNT && !failed; kind++) {
        const char *last;
        int parent;

        jobfiles_part_name(name, sizeof name, place, (enum job_file_kind)kind, "x");
        parent = confined_parent(folder, name, false, &last);
        if (parent < 0)
            failed = errno == ENOENT ? 0 : -1;
        else
            failed = parts_each(parent, (enum job_file_kind)kind, "", 0, fn, user);
    }
    return failed;
}

/* Moves the file to where the job wants it: 0, and `ret` says under which name. -1 and errno. */
static int file_send(int folder, const char *part, const struct job_place *place, const struct job_leaving *leaving,
                     const struct job_file *known, const struct piece *piece, struct job_file *ret)
{
    char folder_name[AWAY_FOLDER_MAX], name[CONFINED_NAME_MAX + 1];
    struct away away = {.job = place->job,
                        .name = name,
                        .permit = leaving->permit,
                        .before = known && known->away,
                        .before_beside = known && known->away && known->beside,
                        .size = piece->size,
                        .hash = piece->hash};
    int iwd, moved;

    if (away_place(place->iwd, leaving->name, leaving->to, folder_name, name) < 0)
        return -1;
    iwd = open(folder_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (iwd < 0)
        return -1;
    moved = away_put(folder, part, iwd, &away, &ret->beside);
    ret->away = moved == 0;
    return close_keep(iwd), moved;
}

/* The file is complete: moves it to where the job wants it, or to its place here. -1 and errno. `err` is also filled
 * when the file is not where it should be. */
static int file_settle(int folder, const char *part, const struct job_place *place, const struct job_leaving *leaving,
                       const struct job_file *known, const struct piece *piece, struct job_file *ret, struct err *err)
{
    int fd = confined_file(folder, part, O_RDONLY, 0), failed;
    char whole[CONFINED_NAME_MAX + 32];

    if (fd < 0)
        return -1;
    failed = fchmod(fd, ret->mode);
    close(fd);
    if (failed)
        return -1;
    if (leaving->kind == JOB_FILE_OUTPUT && place->iwd) {
        if (file_send(folder, part, place, leaving, known, piece, ret) == 0) {
            if (ret->beside)
                err_set(err, "%s is there already, and the job does not name it: it came as %s.%llu", leaving->name,
                        leaving->name, (unsigned long long)place->job);
            return 0;
        }
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) /* this can succeed a little later */
            return -1;
        if (leaving->to)
            err_set(err, "%s could not be put there: %s", leaving->to, strerror(errno));
        else
            err_set(err, "%s could not be put into %s: %s", leaving->name, place->iwd, strerror(errno));
    }
    ret->away = ret->beside = false;
    snprintf(whole, sizeof whole, "%s/%s", job_file_rows[leaving->kind].folder, leaving->name);
    return confined_move(folder, part, folder, whole);
}

static bool file_is_same(const struct job_file *file, const struct job_place *place, const struct piece *piece)
{
    return file && file->claim == place->claim && file->number == place->number && piece->hash && piece->size >= 0 &&
           file->size == (uint64_t)piece->size && !memcmp(file->hash, piece->hash, HASH_DIGITS);
}

static void left_part(void *user, const struct job_file *file)
{
    attempt_room_add(user, file->kind, file->name, file->size);
}

/* Finds out what this try has left so far. -1 and errno: that cannot be told now. */
static int left_know(struct jobfiles *files, struct file_index *index, int folder, const struct job_place *place)
{
    struct attempt_room *left = &index->left;

    if (left->known && left->claim == place->claim && left->number == place->number)
        return 0;
    attempt_room_done(left);
    attempt_room_init(left, place->claim, place->number, files->seed);
    for (uint32_t i = 0; i < index->names.places; i++) {
        const struct job_file *file = &index->items[i];

        if (!textmap_text(&index->names, i))
            continue;
        if (file->claim == place->claim && file->number == place->number)
            attempt_room_add(left, file->kind, file->name, file->size);
        else
            left->before[file->kind] += file->size;
    }
    if (jobfiles_parts(folder, place, left_part, left) == 0)
        return 0;
    attempt_room_done(left);
    return -1;
}

/* Before a byte is taken: is the file more than the try may leave? */
static enum piece_result left_check(struct jobfiles *files, struct file_index *index, int folder,
                                    const struct job_place *place, const struct job_leaving *leaving,
                                    const struct piece *piece, struct err *err)
{
    uint64_t size = piece->size >= 0 ? (uint64_t)piece->size : piece->offset + piece->len;

    if (piece->offset > INT64_MAX - piece->len)
        return PIECE_BAD;
    if (left_know(files, index, folder, place) < 0) {
        err_set(err, "%s", strerror(errno));
        return PIECE_DISK;
    }
    if (attempt_room_check(&index->left, leaving, size, err) < 0)
        return PIECE_FULL;
    if (index->names.count >= JOBFILES_MAX && !file_index_find(index, leaving->kind, leaving->name)) {
        err_set(err, "more than %d files", JOBFILES_MAX);
        return PIECE_FULL;
    }
    attempt_room_add(&index->left, leaving->kind, leaving->name, size);
    return PIECE_MORE;
}

/* ------------------------------------------------------------------------------------------------------- whose it is */

/* What is there of a file that is coming; false: nothing is. */
static bool part_size(int folder, const char *part, uint64_t *ret)
{
    int fd = confined_file(folder, part, O_PATH, 0);
    struct stat stat;
    bool there = fd >= 0 && fstat(fd, &stat) == 0;

    if (fd >= 0)
        close(fd);
    *ret = there ? (uint64_t)stat.st_size : 0;
    return there;
}

static void room_look(int folder, struct output_room *ret)
{
    struct statvfs disk;

    *ret = (struct output_room){UINT64_MAX, UINT64_MAX};
    if (fstatvfs(folder, &disk) < 0)
        return;
    ret->bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    ret->bytes = ret->bytes > PIECES_RESERVE ? ret->bytes - PIECES_RESERVE : 0;
    if (disk.f_files) /* some file systems have no number of them */
        ret->files = disk.f_favail;
}

/* Adds the piece, if the share of its account allows it, and counts it there. */
static enum piece_result piece_share(struct jobfiles *files, int folder, const char *part,
                                     const struct job_place *place, const struct piece *piece, uint64_t *ret_have,
                                     struct err *err)
{
    uint64_t size = piece->size >= 0 ? (uint64_t)piece->size : piece->offset + piece->len, had, has;
    bool was, is, counts = files->shares && place->owner;
    enum piece_result result;
    struct output_room room;

    if (!counts)
        return pieces_add(files->pieces, folder, part, piece, ret_have, err);
    was = part_size(folder, part, &had);
    room_look(folder, &room);
    if (!output_shares_take(files->shares, place->owner, size > had ? size - had : 0, !was, &room, err))
        return PIECE_DISK;
    result = pieces_add(files->pieces, folder, part, piece, ret_have, err);
    is = part_size(folder, part, &has);
    output_shares_add(files->shares, place->job, place->owner, (int64_t)has - (int64_t)had, (int)is - (int)was);
    return result;
}

/* The file has its place: what it took elsewhere, or what it has replaced here, counts no more. */
static void settled_share(struct jobfiles *files, const struct job_place *place, const struct job_file *known,
                          const struct job_file *file)
{
    if (!files->shares)
        return;
    if (file->away)
        output_shares_lose(files->shares, place->job, file->size, 1);
    else if (known && !known->away)
        output_shares_lose(files->shares, place->job, known->size, 1);
}

static enum piece_result store_in(struct jobfiles *files, int folder, const struct job_place *place,
                                  const struct job_leaving *leaving, const struct piece *piece, uint64_t *ret_have,
                                  struct err *err)
{
    struct file_index *index = file_index_get(files, place->job, folder);
    struct job_file *known, file;
    char part[CONFINED_NAME_MAX + 128];
    enum piece_result result;

    if (!index) {
        err_set(err, "the list of files: %s", strerror(errno));
        return PIECE_DISK;
    }
    known = file_index_find(index, leaving->kind, leaving->name);
    if (file_is_same(known, place, piece)) {
        *ret_have = known->size; /* the answer was lost, and the piece is sent again */
        return PIECE_WHOLE;
    }
    result = left_check(files, index, folder, place, leaving, piece, err);
    if (result != PIECE_MORE)
        return result;
    jobfiles_part_name(part, sizeof part, place, leaving->kind, leaving->name);
    result = piece_share(files, folder, part, place, piece, ret_have, err);
    if (result != PIECE_WHOLE)
        return result;
    file = (struct job_file){.kind = leaving->kind,
                             .name = leaving->name,
                             .to = leaving->to,
                             .size = (uint64_t)piece->size,
                             .mode = leaving->mode & 0111 && leaving->permit == PERMIT_REPLACE ? 0755 : 0644,
                             .whole = true,
                             .before = known && (known->away || known->delivered || known->before),
                             .claim = place->claim,
                             .number = place->number};
    file.before_beside = file.before && (known->before ? known->before_beside : known->beside);
    if (leaving->kind == JOB_FILE_OUTPUT)
        file.permit = leaving->permit;
    memcpy(file.hash, piece->hash, HASH_DIGITS);
    if (file_settle(folder, part, place, leaving, known, piece, &file, err) < 0) {
        int failed = errno;

        err_set(err, "%s: %s", leaving->name, strerror(failed));
        return piece_failed(failed);
    }
    settled_share(files, place, known, &file);
    if (file_list_add(files, folder, index, &file) < 0) {
        err_set(err, "the list of files: %s", strerror(errno));
        return PIECE_DISK;
    }
    return PIECE_WHOLE;
}

enum piece_result jobfiles_store(struct jobfiles *files, const struct job_place *place,
                                 const struct job_leaving *leaving, const struct piece *piece, uint64_t *ret_have,
                                 struct err *err)
{
    enum piece_result result;
    int folder;

    *ret_have = 0;
    if (!confined_name_is_good(leaving->name, strlen(leaving->name)) || leaving->permit == PERMIT_NO)
        return PIECE_BAD;
    folder = jobfiles_folder(files, place->job, true);
    if (folder < 0) {
        err_set(err, "%s", strerror(errno));
        return PIECE_DISK;
    }
    result = store_in(files, folder, place, leaving, piece, ret_have, err);
    close(folder);
    return result;
}
