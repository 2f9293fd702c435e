/* jobfiles.c: what jobs leave at the customer: outputs, logs, checkpoints. */
#define _GNU_SOURCE /* O_PATH */
#include "live/customerd/jobfiles.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "live/customerd/attempt_room.h"
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

#define LIST "files"
#define PART "part"
#define TRASH ".trash"
#define JOB_LAST_MAX (UINT64_C(1) << 40) /* a larger number was never a job's */
#define INDEXES 32                       /* jobs whose list is kept in memory */
#define DEPTH_MAX 64                     /* folders inside one another that are listed */
#define LIST_BYTES_MAX (256u << 20)

static const struct {
    const char *word, *folder;
} kinds[] = {
#define X(id, word, folder) {word, folder},
    JOB_FILE_KINDS(X)
#undef X
};

/* The files of a job that are whole. */
struct file_index {
    uint64_t job; /* 0: not used */
    uint64_t used;
    struct textmap names; /* "KIND/NAME" -> place */
    struct job_file *items;
    uint32_t room;
    struct attempt_room left; /* by the try that sent something last */
};

struct jobfiles {
    int folder;
    char *path;
    struct trash *rubbish;
    struct symbols *symbols;
    struct pieces *pieces;
    struct file_index indexes[INDEXES];
    uint64_t clock;
    uint64_t seed; /* strangers choose the names */
};

const char *job_file_word(enum job_file_kind kind)
{
    return kinds[kind].word;
}

int job_file_kind(const char *word, size_t len)
{
    for (int i = 0; i < JOB_FILE_KIND_COUNT; i++)
        if (strlen(kinds[i].word) == len && !memcmp(kinds[i].word, word, len))
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
        files->rubbish = trash_new(trash, err);
    }
    if (!files->rubbish) {
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

static void index_done(struct file_index *index)
{
    if (index->job) {
        textmap_done(&index->names);
        free(index->items);
        attempt_room_done(&index->left);
    }
    *index = (struct file_index){.job = 0};
}

void jobfiles_free(struct jobfiles *files)
{
    if (!files)
        return;
    for (int i = 0; i < INDEXES; i++)
        index_done(&files->indexes[i]);
    pieces_free(files->pieces);
    trash_free(files->rubbish);
    if (files->folder >= 0)
        close(files->folder);
    free(files->path);
    free(files);
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

static void close_keep(int fd)
{
    int failed = errno;

    close(fd);
    errno = failed;
}

static void dir_close_keep(DIR *dir)
{
    int failed = errno;

    closedir(dir);
    errno = failed;
}

/* The job's own folder, made when `make`; -1: there is none. */
static int folder_open(struct jobfiles *files, uint64_t job, bool make)
{
    char name[32];

    job_name(name, job, "");
    if (make && mkdirat(files->folder, name, 0700) < 0 && errno != EEXIST)
        return -1;
    return openat(files->folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* ----------------------------------------------------------------------------------------------------------- the list */

static void file_key(struct buf *out, enum job_file_kind kind, const char *name)
{
    buf_reset(out);
    buf_addf(out, "%d/%s", (int)kind, name);
}

static struct job_file *index_find(const struct file_index *index, enum job_file_kind kind, const char *name)
{
    struct buf key;
    uint32_t place;

    buf_init(&key);
    file_key(&key, kind, name);
    place = textmap_find(&index->names, key.text, key.len);
    buf_done(&key);
    return place == TEXTMAP_NONE ? NULL : &index->items[place];
}

/* In the place of the one of that name. The name is kept by the index. */
static void index_put(struct file_index *index, const struct job_file *file)
{
    struct buf key;
    uint32_t place;

    buf_init(&key);
    file_key(&key, file->kind, file->name);
    place = textmap_add(&index->names, key.text, key.len);
    buf_done(&key);
    ARRAY_ROOM(index->items, place, index->room, 8);
    index->items[place] = *file;
    index->items[place].name = strchr(textmap_text(&index->names, place), '/') + 1;
}

static void line_load(struct jobfiles *files, struct file_index *index, const char *line, size_t len)
{
    struct job_file file = {.whole = true};
    const char *kind, *name, *hash;
    size_t kind_len, name_len, hash_len;
    int64_t size, mode;
    struct err err;
    struct tree *ad = form_parse(files->symbols, &dialect_classic, FORM_CLASSAD, NULL, line, len, &err);
    int which;

    if (ad && ad_string(ad, "Kind", &kind, &kind_len) && ad_string(ad, "Name", &name, &name_len) &&
        ad_string(ad, "Hash", &hash, &hash_len) && hash_is_good(hash, hash_len) && ad_integer(ad, "Size", &size) &&
        ad_integer(ad, "Mode", &mode) && confined_name_is_good(name, name_len) &&
        (which = job_file_kind(kind, kind_len)) >= 0) {
        char *copy = mem_dup(name, name_len);

        file.kind = (enum job_file_kind)which;
        file.name = copy;
        file.size = (uint64_t)size;
        file.mode = (unsigned)mode;
        memcpy(file.hash, hash, HASH_DIGITS);
        ad_flag(ad, "Away", &file.away);
        ad_flag(ad, "Beside", &file.beside);
        ad_word(ad, "Claim", &file.claim);
        ad_word(ad, "Number", &file.number);
        index_put(index, &file);
        free(copy);
    }
    tree_unref(ad);
}

/* -1 and errno: there is one, and it cannot be read. */
static int index_load(struct jobfiles *files, struct file_index *index, int folder)
{
    int fd = confined_file(folder, LIST, O_RDONLY, 0), failed;
    struct buf text;
    ssize_t got = 0;
    char *at, *end;

    if (fd < 0)
        return errno == ENOENT ? 0 : -1;
    buf_init(&text);
    while (text.len < LIST_BYTES_MAX && (got = read(fd, buf_reserve(&text, 65536), 65536)) > 0)
        text.len += (size_t)got;
    failed = errno;
    close(fd);
    errno = failed;
    if (got < 0) {
        buf_done(&text);
        return -1;
    }
    /* A line that a crash has cut is none. */
    for (at = text.text; text.len && (end = memchr(at, '\n', (size_t)(text.text + text.len - at))); at = end + 1)
        line_load(files, index, at, (size_t)(end - at));
    buf_done(&text);
    return 0;
}

/* NULL and errno: what is there cannot be read now; nothing is known of it, rather than that it is empty. */
static struct file_index *index_get(struct jobfiles *files, uint64_t job, int folder)
{
    struct file_index *oldest = &files->indexes[0];

    for (int i = 0; i < INDEXES; i++) {
        if (files->indexes[i].job == job) {
            files->indexes[i].used = ++files->clock;
            return &files->indexes[i];
        }
        if (files->indexes[i].used < oldest->used)
            oldest = &files->indexes[i];
    }
    index_done(oldest);
    oldest->job = job;
    oldest->used = ++files->clock;
    textmap_init(&oldest->names, files->seed);
    if (index_load(files, oldest, folder) < 0) {
        int failed = errno;

        index_done(oldest);
        errno = failed;
        return NULL;
    }
    return oldest;
}

/* A line more, on disk before anybody is told. */
static int list_add(struct jobfiles *files, int folder, struct file_index *index, const struct job_file *file)
{
    int fd = confined_file(folder, LIST, O_WRONLY | O_APPEND, 0600);
    bool made = fd < 0 && errno == ENOENT;
    struct maker maker;
    struct tree *ad;
    struct buf line;
    bool good;

    if (made)
        fd = confined_file(folder, LIST, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0)
        return -1;
    maker_init(&maker, files->symbols);
    maker_text(&maker, "Kind", kinds[file->kind].word);
    maker_text(&maker, "Name", file->name);
    maker_integer(&maker, "Size", (int64_t)file->size);
    maker_text(&maker, "Hash", file->hash);
    maker_integer(&maker, "Mode", file->mode);
    maker_flag(&maker, "Away", file->away);
    if (file->beside)
        maker_flag(&maker, "Beside", true);
    maker_word(&maker, "Claim", file->claim);
    maker_word(&maker, "Number", file->number);
    ad = maker_seal(&maker);
    buf_init(&line);
    represent_ad(&line, FORM_CLASSAD, ad);
    buf_addc(&line, '\n');
    tree_unref(ad);
    good = write(fd, line.text, line.len) == (ssize_t)line.len && fdatasync(fd) == 0 &&
           (!made || (fsync(folder) == 0 && fsync(files->folder) == 0));
    buf_done(&line);
    close(fd);
    if (good)
        index_put(index, file);
    return good ? 0 : -1;
}

/* ------------------------------------------------------------------------------------------------------------ storing */

static void part_name(char *ret, size_t room, const struct job_place *place, enum job_file_kind kind, const char *name)
{
    snprintf(ret, room, PART "/%016llx-%016llx/%s/%s", (unsigned long long)place->claim,
             (unsigned long long)place->number, kinds[kind].folder, name);
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

/* What is on its way of a try, of all kinds. */
static int parts_all(int folder, const struct job_place *place, job_file_fn *fn, void *user)
{
    int failed = 0;
    char name[128];

    for (int kind = 0; kind < JOB_FILE_KIND_COUNT && !failed; kind++) {
        const char *last;
        int parent;

        part_name(name, sizeof name, place, (enum job_file_kind)kind, "x");
        parent = confined_parent(folder, name, false, &last);
        if (parent < 0)
            failed = errno == ENOENT ? 0 : -1;
        else
            failed = parts_each(parent, (enum job_file_kind)kind, "", 0, fn, user);
    }
    return failed;
}

/* What the file is called where the job says. False: that is too long for a name. */
static bool away_name(const struct job_place *place, const char *name, bool beside, char ret[CONFINED_NAME_MAX + 32])
{
    if (beside)
        snprintf(ret, CONFINED_NAME_MAX + 32, "%s.%llu", name, (unsigned long long)place->job);
    else
        snprintf(ret, CONFINED_NAME_MAX + 32, "%s", name);
    return confined_name_is_good(ret, strlen(ret));
}

/* Does what lies there have these bytes already? Then it was put there before a crash, or is as good. */
static bool away_is_same(int iwd, const char *name, const struct piece *piece)
{
    int fd = confined_file(iwd, name, O_RDONLY, 0);
    char digits[HASH_DIGITS + 1];
    struct err err;
    struct stat stat;
    uint64_t size;
    bool same = fd >= 0 && fstat(fd, &stat) == 0 && stat.st_size == piece->size &&
                hash_file(fd, digits, &size, &err) == 0 && !memcmp(digits, piece->hash, HASH_DIGITS);

    if (fd >= 0)
        close(fd);
    return same;
}

/* Into that name, over what this job has brought or names, else where nothing is. -1 and errno. */
static int away_move(int folder, const char *part, int iwd, const char *name, bool over, const struct piece *piece)
{
    int moved = over ? confined_move(folder, part, iwd, name) : confined_move_new(folder, part, iwd, name);

    if (moved < 0 && !over && errno == EEXIST) {
        if (away_is_same(iwd, name, piece))
            return confined_move(folder, part, iwd, name);
        errno = EEXIST;
    }
    return moved;
}

/* To where the job says: 0, and `ret` has what it is called there. -1 and errno. */
static int file_send(int folder, const char *part, const struct job_place *place, const struct job_leaving *leaving,
                     const struct job_file *known, const struct piece *piece, struct job_file *ret)
{
    int iwd = open(place->iwd, O_RDONLY | O_DIRECTORY | O_CLOEXEC), moved = -1;
    bool beside = leaving->permit == PERMIT_BESIDE || (known && known->away && known->beside);
    char name[CONFINED_NAME_MAX + 32];

    if (iwd < 0)
        return -1;
    beside = beside && leaving->permit != PERMIT_REPLACE;
    for (;; beside = true) {
        bool brought = known && known->away && known->beside == beside;

        errno = ENAMETOOLONG;
        if (away_name(place, leaving->name, beside, name))
            moved = away_move(folder, part, iwd, name, brought || leaving->permit == PERMIT_REPLACE, piece);
        if (moved == 0 || errno != EEXIST || beside)
            break;
    }
    ret->away = moved == 0;
    ret->beside = moved == 0 && beside;
    return close_keep(iwd), moved;
}

/* The file is whole: to where the job says, or to its place here. -1 and errno. `err` is filled also when it is not where it was to be. */
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
        if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) /* it can be done a little later */
            return -1;
        err_set(err, "%s could not be put into %s: %s", leaving->name, place->iwd, strerror(errno));
    }
    ret->away = ret->beside = false;
    snprintf(whole, sizeof whole, "%s/%s", kinds[leaving->kind].folder, leaving->name);
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

/* What this try has left so far. -1 and errno: that cannot be told now. */
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
    if (parts_all(folder, place, left_part, left) == 0)
        return 0;
    attempt_room_done(left);
    return -1;
}

/* Before a byte is taken: is it more than the try may leave? */
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
    if (index->names.count >= JOBFILES_MAX && !index_find(index, leaving->kind, leaving->name)) {
        err_set(err, "more than %d files", JOBFILES_MAX);
        return PIECE_FULL;
    }
    attempt_room_add(&index->left, leaving->kind, leaving->name, size);
    return PIECE_MORE;
}

static enum piece_result store_in(struct jobfiles *files, int folder, const struct job_place *place,
                                  const struct job_leaving *leaving, const struct piece *piece, uint64_t *ret_have,
                                  struct err *err)
{
    struct file_index *index = index_get(files, place->job, folder);
    struct job_file *known, file;
    char part[CONFINED_NAME_MAX + 128];
    enum piece_result result;

    if (!index) {
        err_set(err, "the list of files: %s", strerror(errno));
        return PIECE_DISK;
    }
    known = index_find(index, leaving->kind, leaving->name);
    if (file_is_same(known, place, piece)) {
        *ret_have = known->size; /* the answer was lost, and it is sent again */
        return PIECE_WHOLE;
    }
    result = left_check(files, index, folder, place, leaving, piece, err);
    if (result != PIECE_MORE)
        return result;
    part_name(part, sizeof part, place, leaving->kind, leaving->name);
    result = pieces_add(files->pieces, folder, part, piece, ret_have, err);
    if (result != PIECE_WHOLE)
        return result;
    file = (struct job_file){.kind = leaving->kind,
                             .name = leaving->name,
                             .size = (uint64_t)piece->size,
                             .mode = leaving->mode & 0111 && leaving->permit == PERMIT_REPLACE ? 0755 : 0644,
                             .whole = true,
                             .claim = place->claim,
                             .number = place->number};
    memcpy(file.hash, piece->hash, HASH_DIGITS);
    if (file_settle(folder, part, place, leaving, known, piece, &file, err) < 0) {
        int failed = errno;

        err_set(err, "%s: %s", leaving->name, strerror(failed));
        return piece_failed(failed);
    }
    if (list_add(files, folder, index, &file) < 0) {
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
    folder = folder_open(files, place->job, true);
    if (folder < 0) {
        err_set(err, "%s", strerror(errno));
        return PIECE_DISK;
    }
    result = store_in(files, folder, place, leaving, piece, ret_have, err);
    close(folder);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------ reading */

/* Is a file that is whole one of that try's? Checkpoints outlive theirs. */
static bool file_counts(const struct job_file *file, const struct job_place *place)
{
    return file->kind == JOB_FILE_CHECKPOINT || (file->claim == place->claim && file->number == place->number);
}

int jobfiles_each(struct jobfiles *files, const struct job_place *place, job_file_fn *fn, void *user)
{
    int folder = folder_open(files, place->job, false), failed;
    struct file_index *index;

    if (folder < 0)
        return errno == ENOENT ? 0 : -1;
    index = index_get(files, place->job, folder);
    for (uint32_t i = 0; index && i < index->names.places; i++)
        if (textmap_text(&index->names, i) && file_counts(&index->items[i], place))
            fn(user, &index->items[i]);
    failed = index ? parts_all(folder, place, fn, user) : -1;
    return close_keep(folder), failed;
}

/* A file that is whole, where it lies. -1 and errno. */
static int whole_open(int folder, const struct job_place *place, const struct job_file *file)
{
    char path[CONFINED_NAME_MAX + 32];
    int iwd, fd = -1;

    if (!file->away) {
        snprintf(path, sizeof path, "%s/%s", kinds[file->kind].folder, file->name);
        return confined_file(folder, path, O_RDONLY, 0);
    }
    iwd = place->iwd ? open(place->iwd, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (!place->iwd)
        errno = ENOENT;
    if (iwd < 0)
        return -1;
    away_name(place, file->name, file->beside, path);
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
        folder = folder_open(files, place->job, false);
    if (folder < 0)
        return -1;
    index = index_get(files, place->job, folder);
    file = index ? index_find(index, kind, name) : NULL;
    *ret_whole = file && file_counts(file, place);
    if (*ret_whole) {
        fd = whole_open(folder, place, file);
    } else if (index) {
        part_name(path, sizeof path, place, kind, name);
        fd = confined_file(folder, path, O_RDONLY, 0);
    }
    close_keep(folder);
    if (fd >= 0 && fstat(fd, &stat) < 0) {
        close_keep(fd);
        fd = -1;
    }
    if (fd >= 0)
        *ret_size = (uint64_t)stat.st_size;
    else if (piece_failed(errno) == PIECE_BAD) /* something else has taken its place */
        errno = ENOENT;
    return fd;
}

/* There may be as many files as a job may leave: a thread removes them. */
static void folder_drop(struct jobfiles *files, const char *name)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", files->path, name) < (int)sizeof path)
        trash_take(files->rubbish, path, NULL); /* what cannot be removed now is looked for again */
}

void jobfiles_drop(struct jobfiles *files, uint64_t job, uint64_t claim, uint64_t number)
{
    char name[128];

    snprintf(name, sizeof name, "%llu/" PART "/%016llx-%016llx", (unsigned long long)job, (unsigned long long)claim,
             (unsigned long long)number);
    folder_drop(files, name);
}

void jobfiles_remove(struct jobfiles *files, uint64_t job)
{
    char name[32];

    for (int i = 0; i < INDEXES; i++)
        if (files->indexes[i].job == job)
            index_done(&files->indexes[i]);
    job_name(name, job, "");
    folder_drop(files, name);
    job_name(name, job, ".log");
    unlinkat(files->folder, name, 0);
}
