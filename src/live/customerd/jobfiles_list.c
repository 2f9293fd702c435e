/* jobfiles_list.c: the list of a job's complete files: a line for each, in its folder and in memory. */
#include "live/customerd/jobfiles_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "lang/base/textmap.h"
#include "live/http/represent.h"
#include "sys/confined_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST "files"
#define LIST_BYTES_MAX (256u << 20)

void file_index_done(struct file_index *index)
{
    if (index->job) {
        for (uint32_t i = 0; i < index->names.places; i++)
            free((char *)(uintptr_t)index->items[i].to);
        textmap_done(&index->names);
        free(index->items);
        attempt_room_done(&index->left);
    }
    *index = (struct file_index){.job = 0};
}

static void file_key(struct buf *out, enum job_file_kind kind, const char *name)
{
    buf_reset(out);
    buf_addf(out, "%d/%s", (int)kind, name);
}

struct job_file *file_index_find(const struct file_index *index, enum job_file_kind kind, const char *name)
{
    struct buf key;
    uint32_t place;

    buf_init(&key);
    file_key(&key, kind, name);
    place = textmap_find(&index->names, key.text, key.len);
    buf_done(&key);
    return place == TEXTMAP_NONE ? NULL : &index->items[place];
}

/* Adds the file, in the place of one of that name. The index keeps the name, and a copy of where it goes. */
static void file_index_put(struct file_index *index, const struct job_file *file)
{
    uint32_t place, known = index->names.places;
    char *to = file->to ? mem_dup(file->to, strlen(file->to)) : NULL;
    struct buf key;

    buf_init(&key);
    file_key(&key, file->kind, file->name);
    place = textmap_add(&index->names, key.text, key.len);
    buf_done(&key);
    ARRAY_ROOM(index->items, place, index->room, 8);
    if (place < known)
        free((char *)(uintptr_t)index->items[place].to);
    index->items[place] = *file;
    index->items[place].to = to;
    index->items[place].name = strchr(textmap_text(&index->names, place), '/') + 1;
}

static void line_load(struct jobfiles *files, struct file_index *index, const char *line, size_t len)
{
    struct job_file file = {.whole = true};
    const char *kind, *name, *hash, *to;
    size_t kind_len, name_len, hash_len, to_len;
    int64_t size, mode, permit;
    struct err err;
    struct tree *ad = form_parse(files->symbols, &dialect_classic, FORM_CLASSAD, NULL, line, len, &err);
    int which;

    if (ad && ad_string(ad, "Kind", &kind, &kind_len) && ad_string(ad, "Name", &name, &name_len) &&
        ad_string(ad, "Hash", &hash, &hash_len) && hash_is_good(hash, hash_len) && ad_integer(ad, "Size", &size) &&
        ad_integer(ad, "Mode", &mode) && confined_name_is_good(name, name_len) &&
        (which = job_file_kind(kind, kind_len)) >= 0) {
        char *copy = mem_dup(name, name_len), *place = NULL;

        if (ad_string(ad, "To", &to, &to_len) && to_len)
            place = mem_dup(to, to_len);
        file.to = place;
        file.kind = (enum job_file_kind)which;
        file.name = copy;
        file.size = (uint64_t)size;
        file.mode = (unsigned)mode;
        memcpy(file.hash, hash, HASH_DIGITS);
        ad_flag(ad, "Away", &file.away);
        ad_flag(ad, "Beside", &file.beside);
        ad_flag(ad, "Delivered", &file.delivered);
        ad_flag(ad, "Before", &file.before);
        ad_flag(ad, "BeforeBeside", &file.before_beside);
        file.before = file.before || file.before_beside;
        file.permit = ad_integer(ad, "Permit", &permit) && permit >= 0 && permit <= PERMIT_REPLACE ? (enum permit)permit
                                                                                                   : PERMIT_NO;
        ad_word(ad, "Claim", &file.claim);
        ad_word(ad, "Number", &file.number);
        file_index_put(index, &file);
        free(copy);
        free(place);
    }
    tree_unref(ad);
}

/* -1 and errno: there is a list, and it cannot be read. */
static int file_index_load(struct jobfiles *files, struct file_index *index, int folder)
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
    /* A line that a crash has cut does not count. */
    for (at = text.text; text.len && (end = memchr(at, '\n', (size_t)(text.text + text.len - at))); at = end + 1)
        line_load(files, index, at, (size_t)(end - at));
    buf_done(&text);
    return 0;
}

/* NULL and errno: the list cannot be read now, which does not mean that it is empty. */
struct file_index *file_index_get(struct jobfiles *files, uint64_t job, int folder)
{
    struct file_index *oldest = &files->indexes[0];

    for (int i = 0; i < JOBFILES_INDEXES; i++) {
        if (files->indexes[i].job == job) {
            files->indexes[i].used = ++files->clock;
            return &files->indexes[i];
        }
        if (files->indexes[i].used < oldest->used)
            oldest = &files->indexes[i];
    }
    file_index_done(oldest);
    oldest->job = job;
    oldest->used = ++files->clock;
    textmap_init(&oldest->names, files->seed);
    if (file_index_load(files, oldest, folder) < 0) {
        int failed = errno;

        file_index_done(oldest);
        errno = failed;
        return NULL;
    }
    return oldest;
}

/* Adds a line, which is on disk before anybody is told. */
int file_list_add(struct jobfiles *files, int folder, struct file_index *index, const struct job_file *file)
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
    maker_text(&maker, "Kind", job_file_rows[file->kind].word);
    maker_text(&maker, "Name", file->name);
    if (file->to)
        maker_text(&maker, "To", file->to);
    maker_integer(&maker, "Size", (int64_t)file->size);
    maker_text(&maker, "Hash", file->hash);
    maker_integer(&maker, "Mode", file->mode);
    maker_flag(&maker, "Away", file->away);
    if (file->beside)
        maker_flag(&maker, "Beside", true);
    if (file->delivered)
        maker_flag(&maker, "Delivered", true);
    if (file->before)
        maker_flag(&maker, file->before_beside ? "BeforeBeside" : "Before", true);
    if (file->permit != PERMIT_NO)
        maker_integer(&maker, "Permit", file->permit);
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
        file_index_put(index, file);
    return good ? 0 : -1;
}
