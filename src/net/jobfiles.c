/* jobfiles.c: what jobs leave at the customer: outputs, logs, checkpoints. */
#define _GNU_SOURCE /* O_PATH */
#include "net/jobfiles.h"

#include "base/mem.h"
#include "base/textmap.h"
#include "net/beneath.h"
#include "net/represent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIST "files"
#define PART "part"
#define INDEXES 32                   /* jobs whose list is kept in memory */
#define BEGUN_MAX (2 * JOBFILES_MAX) /* that are begun while the list is in memory: most of them have to become whole */
#define DEPTH_MAX 64                 /* folders inside one another that are listed */
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
    uint32_t begun; /* first pieces that came */
};

struct jobfiles {
    int folder;
    struct symbols *symbols;
    struct pieces *pieces;
    struct file_index indexes[INDEXES];
    uint64_t clock;
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
    files->folder = beneath_folder(AT_FDCWD, path, err);
    if (files->folder < 0) {
        jobfiles_free(files);
        return NULL;
    }
    return files;
}

static void index_done(struct file_index *index)
{
    if (index->job) {
        textmap_done(&index->names);
        free(index->items);
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
    if (files->folder >= 0)
        close(files->folder);
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
    if (place >= index->room) {
        index->room = index->room ? index->room * 2 : 8;
        index->items = mem_grow(index->items, index->room * sizeof *index->items);
    }
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
        ad_integer(ad, "Mode", &mode) && beneath_name_is_good(name, name_len) &&
        (which = job_file_kind(kind, kind_len)) >= 0) {
        char *copy = mem_dup(name, name_len);

        file.kind = (enum job_file_kind)which;
        file.name = copy;
        file.size = (uint64_t)size;
        file.mode = (unsigned)mode;
        memcpy(file.hash, hash, HASH_DIGITS);
        ad_flag(ad, "Away", &file.away);
        ad_word(ad, "Claim", &file.claim);
        ad_word(ad, "Number", &file.number);
        index_put(index, &file);
        free(copy);
    }
    tree_unref(ad);
}

static void index_load(struct jobfiles *files, struct file_index *index, int folder)
{
    int fd = folder < 0 ? -1 : beneath_file(folder, LIST, O_RDONLY, 0);
    struct buf text;
    ssize_t got;
    char *at, *end;

    if (fd < 0)
        return;
    buf_init(&text);
    while (text.len < LIST_BYTES_MAX && (got = read(fd, buf_reserve(&text, 65536), 65536)) > 0)
        text.len += (size_t)got;
    close(fd);
    /* A line that a crash has cut is none. */
    for (at = text.text; text.len && (end = memchr(at, '\n', (size_t)(text.text + text.len - at))); at = end + 1)
        line_load(files, index, at, (size_t)(end - at));
    buf_done(&text);
}

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
    textmap_init(&oldest->names, 0);
    index_load(files, oldest, folder);
    return oldest;
}

/* A line more, on disk before anybody is told. */
static int list_add(struct jobfiles *files, int folder, struct file_index *index, const struct job_file *file)
{
    int fd = beneath_file(folder, LIST, O_WRONLY | O_APPEND, 0600);
    bool made = fd < 0 && errno == ENOENT;
    struct maker maker;
    struct tree *ad;
    struct buf line;
    bool good;

    if (made)
        fd = beneath_file(folder, LIST, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0)
        return -1;
    maker_init(&maker, files->symbols);
    maker_text(&maker, "Kind", kinds[file->kind].word);
    maker_text(&maker, "Name", file->name);
    maker_integer(&maker, "Size", (int64_t)file->size);
    maker_text(&maker, "Hash", file->hash);
    maker_integer(&maker, "Mode", file->mode);
    maker_flag(&maker, "Away", file->away);
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

/* The file is whole: to where the job says, or to its place here. 1: it went there; 0: here; -1. */
static int file_settle(int folder, const char *part, const struct job_place *place, enum job_file_kind kind,
                       const char *name, unsigned mode, struct err *err)
{
    int fd = beneath_file(folder, part, O_RDONLY, 0), iwd = -1;
    char whole[BENEATH_NAME_MAX + 32];
    int moved = -1;

    if (fd < 0)
        return -1;
    fchmod(fd, mode & 0111 ? 0755 : 0644);
    close(fd);
    if (kind == JOB_FILE_OUTPUT && place->iwd) {
        iwd = open(place->iwd, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        moved = iwd < 0 ? -1 : beneath_move(folder, part, iwd, name);
        if (moved < 0)
            err_set(err, "%s could not be put into %s: %s", name, place->iwd, strerror(errno));
        if (iwd >= 0)
            close(iwd);
        if (moved == 0)
            return 1;
    }
    snprintf(whole, sizeof whole, "%s/%s", kinds[kind].folder, name);
    return beneath_move(folder, part, folder, whole);
}

static bool file_is_same(const struct job_file *file, const struct job_place *place, const struct piece *piece)
{
    return file && file->claim == place->claim && file->number == place->number && piece->hash && piece->size >= 0 &&
           file->size == (uint64_t)piece->size && !memcmp(file->hash, piece->hash, HASH_DIGITS);
}

static enum piece_result store_in(struct jobfiles *files, int folder, const struct job_place *place,
                                  enum job_file_kind kind, const char *name, unsigned mode, const struct piece *piece,
                                  uint64_t *ret_have, struct err *err)
{
    struct file_index *index = index_get(files, place->job, folder);
    struct job_file *known = index_find(index, kind, name), file;
    char part[BENEATH_NAME_MAX + 128];
    enum piece_result result;
    int settled;

    if (file_is_same(known, place, piece)) {
        *ret_have = known->size; /* the answer was lost, and it is sent again */
        return PIECE_WHOLE;
    }
    if (!piece->offset)
        index->begun++;
    if (!known && (index->names.count >= JOBFILES_MAX || index->begun > BEGUN_MAX))
        return PIECE_BAD;
    part_name(part, sizeof part, place, kind, name);
    result = pieces_add(files->pieces, folder, part, piece, ret_have, err);
    if (result != PIECE_WHOLE)
        return result;
    settled = file_settle(folder, part, place, kind, name, mode, err);
    if (settled < 0) {
        err_set(err, "%s: %s", name, strerror(errno));
        return errno == ENOSPC || errno == EDQUOT ? PIECE_DISK : PIECE_BAD;
    }
    file = (struct job_file){.kind = kind,
                             .name = name,
                             .size = (uint64_t)piece->size,
                             .mode = mode & 0111 ? 0755 : 0644,
                             .whole = true,
                             .away = settled == 1,
                             .claim = place->claim,
                             .number = place->number};
    memcpy(file.hash, piece->hash, HASH_DIGITS);
    file.hash[HASH_DIGITS] = '\0';
    if (list_add(files, folder, index, &file) < 0) {
        err_set(err, "the list of files: %s", strerror(errno));
        return PIECE_DISK;
    }
    return PIECE_WHOLE;
}

enum piece_result jobfiles_store(struct jobfiles *files, const struct job_place *place, enum job_file_kind kind,
                                 const char *name, unsigned mode, const struct piece *piece, uint64_t *ret_have,
                                 struct err *err)
{
    enum piece_result result;
    int folder;

    *ret_have = 0;
    if (!beneath_name_is_good(name, strlen(name)))
        return PIECE_BAD;
    folder = folder_open(files, place->job, true);
    if (folder < 0) {
        err_set(err, "%s", strerror(errno));
        return PIECE_DISK;
    }
    result = store_in(files, folder, place, kind, name, mode, piece, ret_have, err);
    close(folder);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------ reading */

/* Is a file that is whole one of that try's? Checkpoints outlive theirs. */
static bool file_counts(const struct job_file *file, const struct job_place *place)
{
    return file->kind == JOB_FILE_CHECKPOINT || (file->claim == place->claim && file->number == place->number);
}

static void parts_each(int fd, enum job_file_kind kind, const char *prefix, int depth, job_file_fn *fn, void *user)
{
    DIR *dir = fdopendir(fd);
    struct dirent *row;
    struct stat stat;

    while (dir && (row = readdir(dir))) {
        char name[BENEATH_NAME_MAX + 1];
        int inside;

        if (!strcmp(row->d_name, ".") || !strcmp(row->d_name, "..") ||
            snprintf(name, sizeof name, "%s%s", prefix, row->d_name) >= (int)sizeof name - 1 ||
            fstatat(fd, row->d_name, &stat, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISREG(stat.st_mode)) {
            fn(user, &(struct job_file){.kind = kind, .name = name, .size = (uint64_t)stat.st_size, .mode = 0644});
        } else if (S_ISDIR(stat.st_mode) && depth < DEPTH_MAX &&
                   (inside = openat(fd, row->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) >= 0) {
            strcat(name, "/");
            parts_each(inside, kind, name, depth + 1, fn, user);
        }
    }
    if (dir)
        closedir(dir);
    else
        close(fd);
}

void jobfiles_each(struct jobfiles *files, const struct job_place *place, job_file_fn *fn, void *user)
{
    int folder = folder_open(files, place->job, false);
    struct file_index *index;
    char name[128];

    if (folder < 0)
        return;
    index = index_get(files, place->job, folder);
    for (uint32_t i = 0; i < index->names.places; i++)
        if (textmap_text(&index->names, i) && file_counts(&index->items[i], place))
            fn(user, &index->items[i]);
    for (int kind = 0; kind < JOB_FILE_KIND_COUNT; kind++) {
        const char *last;
        int parent, fd;

        part_name(name, sizeof name, place, (enum job_file_kind)kind, "x");
        parent = beneath_parent(folder, name, false, &last);
        fd = parent;
        if (fd >= 0)
            parts_each(fd, (enum job_file_kind)kind, "", 0, fn, user);
    }
    close(folder);
}

int jobfiles_open(struct jobfiles *files, const struct job_place *place, enum job_file_kind kind, const char *name,
                  uint64_t *ret_size, bool *ret_whole)
{
    int folder = beneath_name_is_good(name, strlen(name)) ? folder_open(files, place->job, false) : -1, fd = -1, iwd;
    char path[BENEATH_NAME_MAX + 128];
    const struct job_file *file;
    struct stat stat;

    if (folder < 0)
        return -1;
    file = index_find(index_get(files, place->job, folder), kind, name);
    *ret_whole = file && file_counts(file, place);
    if (!*ret_whole) {
        part_name(path, sizeof path, place, kind, name);
        fd = beneath_file(folder, path, O_RDONLY, 0);
    } else if (file->away) {
        iwd = place->iwd ? open(place->iwd, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        fd = iwd < 0 ? -1 : beneath_file(iwd, name, O_RDONLY, 0);
        if (iwd >= 0)
            close(iwd);
    } else {
        snprintf(path, sizeof path, "%s/%s", kinds[kind].folder, name);
        fd = beneath_file(folder, path, O_RDONLY, 0);
    }
    close(folder);
    if (fd < 0 || fstat(fd, &stat) < 0) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    *ret_size = (uint64_t)stat.st_size;
    return fd;
}

void jobfiles_drop(struct jobfiles *files, uint64_t job, uint64_t claim, uint64_t number)
{
    int folder = folder_open(files, job, false);
    char name[64];

    if (folder < 0)
        return;
    snprintf(name, sizeof name, PART "/%016llx-%016llx", (unsigned long long)claim, (unsigned long long)number);
    beneath_remove(folder, name, NULL);
    close(folder);
}

void jobfiles_remove(struct jobfiles *files, uint64_t job)
{
    char name[32];

    for (int i = 0; i < INDEXES; i++)
        if (files->indexes[i].job == job)
            index_done(&files->indexes[i]);
    job_name(name, job, "");
    beneath_remove(files->folder, name, NULL);
    job_name(name, job, ".log");
    unlinkat(files->folder, name, 0);
}
