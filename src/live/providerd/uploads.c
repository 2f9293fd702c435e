/* uploads.c: what a job leaves for stores: transfer requests that outlive the claim, and this process.
 *
 *     a job ends -> its files are moved, a row is put on the shelf, in the commit of its end
 *                -> sent -> registered -> told to the customer -> acknowledged: the file goes; with the last one the row
 *
 * After a restart all that has a row goes on. What was sent and not written down is sent again, to the same place. */
#include "live/providerd/uploads_parts.h"

#include "lang/base/mem.h"
#include "live/data/catalogue.h"
#include "pool/protocol/wire.h"
#include "sys/confined_path.h"
#include "sys/trash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "transfers"

static const char *const state_words[] = {
#define X(id, word) [UPLOAD_FILE_##id] = word,
    UPLOAD_FILE_STATES(X)
#undef X
};

const char *upload_file_state_word(enum upload_file_state state)
{
    return state_words[state];
}

void upload_file_text(char **text, const char *value)
{
    char *copy = value ? mem_dup(value, strlen(value)) : NULL;

    free(*text);
    *text = copy;
}

void upload_folder(const struct providerd *providerd, uint64_t claim, uint64_t number, char *ret, size_t size)
{
    snprintf(ret, size, "%.4000s/" FOLDER "/%016llx.%llu", providerd->daemon.folder, (unsigned long long)claim,
             (unsigned long long)number);
}

void upload_path(const struct upload *upload, uint32_t place, char *ret, size_t size)
{
    char folder[DAEMON_PATH_MAX];

    upload_folder(upload->providerd, upload->claim, upload->number, folder, sizeof folder);
    snprintf(ret, size, "%s/%u", folder, place);
}

/* -------------------------------------------------------------------------------------------------------------- parcels */

static void used_less(struct uploads *uploads, int64_t size)
{
    uploads->used -= (uint64_t)size < uploads->used ? (uint64_t)size : uploads->used;
}

static bool upload_file_has_file(const struct upload_file *upload_file)
{
    return !upload_file->told && (upload_file->state == UPLOAD_FILE_WAITS || upload_file->state == UPLOAD_FILE_STORED);
}

void upload_file_end(struct upload *upload, struct upload_file *upload_file, enum upload_file_state state,
                     const char *words)
{
    if (state == UPLOAD_FILE_LOST)
        used_less(upload->providerd->uploads, upload_file->size);
    upload_file->state = state;
    snprintf(upload_file->words, sizeof upload_file->words, "%s", words ? words : "");
    upload_file->due = upload_file->pause = 0;
    LOG(&upload->providerd->daemon.log, state == UPLOAD_FILE_LOST ? LEVEL_ERROR : LEVEL_INFO, "transfer.end",
        log_word("claim", upload->claim), log_text("name", upload_file->name), log_text("state", state_words[state]),
        log_text("url", upload_file->url), log_text("why", words));
    upload_store(upload);
}

void upload_file_keep(struct upload_file *upload_file, const char *store, const char *url)
{
    struct file_replica *kept = mem_alloc((upload_file->kept_count + 1) * sizeof *kept);

    for (uint32_t i = 0; i < upload_file->kept_count; i++)
        kept[i] = upload_file->kept[i];
    kept[upload_file->kept_count] = (struct file_replica){NULL, NULL};
    upload_file_text(&kept[upload_file->kept_count].store, store);
    upload_file_text(&kept[upload_file->kept_count].url, url);
    free(upload_file->kept);
    upload_file->kept = kept;
    upload_file->kept_count++;
}

/* The last of the stores that have it is the one that it is stored in. */
static bool kept_take(struct upload_file *upload_file)
{
    struct file_replica *last;

    if (!upload_file->kept_count)
        return false;
    last = &upload_file->kept[--upload_file->kept_count];
    free(upload_file->store);
    free(upload_file->url);
    upload_file->store = last->store;
    upload_file->url = last->url;
    return true;
}

void upload_file_give_up(struct upload *upload, struct upload_file *upload_file, const char *words)
{
    char fewer[TRANSFER_WORDS_MAX];
    bool kept = kept_take(upload_file);

    snprintf(fewer, sizeof fewer, "in %u of %u stores: %.200s", upload_file->kept_count + 1, upload->copies, words);
    upload_file_end(upload, upload_file, kept ? UPLOAD_FILE_STORED : UPLOAD_FILE_LOST, kept ? fewer : words);
}

void upload_file_close(struct upload *upload, struct upload_file *upload_file)
{
    char path[DAEMON_PATH_MAX + 32];

    if (upload_file_has_file(upload_file))
        used_less(upload->providerd->uploads, upload_file->size);
    upload_file->told = true;
    upload_path(upload, (uint32_t)(upload_file - upload->upload_files), path, sizeof path);
    unlink(path);
}

static void upload_free(struct upload *upload)
{
    for (uint32_t i = 0; i < upload->count; i++) {
        free(upload->upload_files[i].file);
        free(upload->upload_files[i].name);
        free(upload->upload_files[i].wanted);
        free(upload->upload_files[i].store);
        free(upload->upload_files[i].url);
        for (uint32_t k = 0; k < upload->upload_files[i].kept_count; k++) {
            free(upload->upload_files[i].kept[k].store);
            free(upload->upload_files[i].kept[k].url);
        }
        free(upload->upload_files[i].kept);
    }
    for (size_t i = 0; i < upload->store_count; i++)
        free(upload->stores[i]);
    free(upload->stores);
    free(upload->upload_files);
    tree_unref(upload->job);
    tree_unref(upload->receipt);
    free(upload);
}

static bool upload_is_busy(const struct upload *upload)
{
    for (uint32_t i = 0; i < upload->count; i++)
        if (upload->upload_files[i].run || upload->upload_files[i].registering)
            return true;
    return upload->asking;
}

void upload_drop(struct upload *upload)
{
    char path[DAEMON_PATH_MAX];
    struct err err = {0};

    if (upload->gone)
        return;
    for (uint32_t i = 0; i < upload->count; i++) {
        if (upload_file_has_file(&upload->upload_files[i]))
            used_less(upload->providerd->uploads, upload->upload_files[i].size);
        if (upload->upload_files[i].run)
            transfer_cancel(upload->upload_files[i].run);
    }
    upload->gone = true;
    upload_forget(upload);
    upload_folder(upload->providerd, upload->claim, upload->number, path, sizeof path);
    if (trash_take(upload->providerd->trash, path, &err) < 0)
        LOG(&upload->providerd->daemon.log, LEVEL_WARNING, "folder", log_text("why", err.text));
}

/* --------------------------------------------------------------------------------------------------------- a job's end */

static struct upload *upload_new(struct providerd *providerd, const struct task *task,
                                 const struct job_uploads *upload_files)
{
    struct upload *upload = mem_alloc(sizeof *upload);

    *upload = (struct upload){.providerd = providerd,
                              .claim = task->claim,
                              .number = task->number,
                              .inquiry = task->inquiry,
                              .job = tree_ref(task->ad),
                              .receipt = task->receipt ? tree_ref(task->receipt) : NULL,
                              .elsewhere = upload_files->elsewhere,
                              .copies = upload_files->copies,
                              .upload_files = mem_alloc((upload_files->count + 1) * sizeof *upload->upload_files),
                              .count = (uint32_t)upload_files->count,
                              .began = runner_settled(agent_runner(providerd->live)) / SECOND};
    while (upload_files->stores[upload->store_count])
        upload->store_count++;
    upload->stores = mem_alloc((upload->store_count + 1) * sizeof *upload->stores);
    for (size_t i = 0; i < upload->store_count; i++)
        upload->stores[i] = mem_dup(upload_files->stores[i], strlen(upload_files->stores[i]));
    for (size_t i = 0; i < upload_files->count; i++) {
        struct upload_file *upload_file = &upload->upload_files[i];

        *upload_file = (struct upload_file){.upload = upload, .changed = true};
        upload_file_text(&upload_file->file, upload_files->items[i].file);
        upload_file_text(&upload_file->name, upload_files->items[i].name);
        upload_file_text(&upload_file->wanted, upload_files->items[i].store);
    }
    return upload;
}

struct file_sync *uploads_settle(const struct task *task, file_sync_done_fn *done, void *user)
{
    struct file_sync *file_sync = NULL;
    struct job_uploads upload_files;
    struct err err = {0};
    struct arena arena;

    arena_init(&arena);
    if (job_uploads_read(&arena, task->ad, runner_wall() / SECOND, &upload_files, &err) == 0 && upload_files.count)
        file_sync = upload_files_settle(task, &upload_files, done, user);
    arena_done(&arena);
    return file_sync;
}

int uploads_check(const struct task *task, struct err *err)
{
    struct job_uploads upload_files;
    struct arena arena;
    int failed;

    arena_init(&arena);
    failed = job_uploads_read(&arena, task->ad, runner_wall() / SECOND, &upload_files, err);
    arena_done(&arena);
    return failed;
}

static struct upload *upload_find(const struct providerd *providerd, uint64_t claim, uint64_t number)
{
    struct upload *upload = providerd->uploads->first;

    while (upload && (upload->gone || upload->claim != claim || upload->number != number))
        upload = upload->next;
    return upload;
}

uint32_t uploads_add(struct providerd *providerd, const struct task *task, int64_t *bytes)
{
    struct upload *upload = upload_find(providerd, task->claim, task->number);
    struct job_uploads upload_files = {.count = 0};
    struct err err = {0};
    struct arena arena;

    if (upload)
        return upload->count;
    arena_init(&arena);
    if (job_uploads_read(&arena, task->ad, runner_wall() / SECOND, &upload_files, &err) < 0)
        LOG(&providerd->daemon.log, LEVEL_WARNING, "transfers", log_word("claim", task->claim), task_trace(task),
            log_text("why", err.text));
    if (upload_files.count) {
        upload = upload_new(providerd, task, &upload_files);
        upload_files_move(upload, task);
        upload->next = providerd->uploads->first;
        providerd->uploads->first = upload;
        upload_store(upload);
        for (uint32_t i = 0; i < upload->count; i++)
            *bytes += upload->upload_files[i].state == UPLOAD_FILE_WAITS ? upload->upload_files[i].size : 0;
    }
    arena_done(&arena);
    return (uint32_t)upload_files.count;
}

bool uploads_has(const struct providerd *providerd, uint64_t claim, uint64_t number)
{
    return upload_find(providerd, claim, number) != NULL;
}

/* ----------------------------------------------------------------------------------------------------------------- turns */

int64_t upload_now(const struct upload *upload)
{
    return runner_settled(agent_runner(upload->providerd->live)) / SECOND;
}

/* Is the file too old to be kept? One that no store takes is not kept for ever. */
static bool upload_file_is_old(const struct upload *upload, const struct upload_file *upload_file)
{
    int64_t keep = config_span(&upload->providerd->daemon.config, CONFIG_TRANSFER_KEEP) / SECOND;

    return upload_file->state == UPLOAD_FILE_WAITS && !upload_file->run && upload_now(upload) > upload->began + keep;
}

/* Takes a file one step on its way: looked at, its name looked up, sent. */
static void upload_file_step(struct upload *upload, struct upload_file *upload_file)
{
    if (!*upload_file->hash)
        upload_file_look(upload, upload_file);
    else if (!upload_file->free)
        upload_file_check(upload, upload_file);
    else if (stores_known(upload))
        upload_file_dispatch(upload, upload_file);
}

static void upload_file_turn(struct upload *upload, struct upload_file *upload_file, int64_t now)
{
    struct uploads *uploads = upload->providerd->uploads;

    if (upload_file->run || upload_file->registering || upload_file->told || now < upload_file->due)
        return;
    if (upload_file_is_old(upload, upload_file))
        upload_file_give_up(upload, upload_file, "no store has taken it in the time of TransferKeep");
    else if (upload_file->state == UPLOAD_FILE_WAITS && uploads->going < UPLOADS_AT_ONCE)
        upload_file_step(upload, upload_file);
    else if (upload_file->state == UPLOAD_FILE_STORED && !upload_file->registered && upload->accepted)
        upload_file_register(upload, upload_file);
}

/* Is nothing of the request left to be done? Or was the customer not heard of for twice the time that files are kept? */
static bool upload_is_over(const struct upload *upload)
{
    int64_t keep = config_span(&upload->providerd->daemon.config, CONFIG_TRANSFER_KEEP) / SECOND;

    if (upload_now(upload) > upload->began + 2 * keep)
        return true;
    for (uint32_t i = 0; i < upload->count; i++)
        if (!upload->upload_files[i].told)
            return false;
    return true;
}

static void upload_turn(struct upload *upload, int64_t now)
{
    for (uint32_t i = 0; i < upload->count; i++)
        upload_file_turn(upload, &upload->upload_files[i], now);
    if (!upload->asking && now >= upload->tell_due && upload_has_news(upload))
        upload_tell(upload);
    if (upload_is_over(upload))
        upload_drop(upload);
}

void uploads_tick(struct providerd *providerd)
{
    struct upload **link = &providerd->uploads->first, *upload;
    int64_t now = runner_now();

    if (providerd->uploads->closing)
        return;
    while ((upload = *link)) {
        if (!upload->gone)
            upload_turn(upload, now);
        if (upload->gone && !upload_is_busy(upload)) {
            *link = upload->next;
            upload_free(upload);
        } else {
            link = &upload->next;
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------ life */

uint64_t uploads_room(const struct providerd *providerd)
{
    uint64_t room = config_size(&providerd->daemon.config, CONFIG_TRANSFER_ROOM);

    return room > providerd->uploads->used ? room - providerd->uploads->used : 0;
}

uint32_t uploads_count(const struct providerd *providerd)
{
    uint32_t count = 0;

    for (const struct upload *upload = providerd->uploads->first; upload; upload = upload->next)
        for (uint32_t i = 0; !upload->gone && i < upload->count; i++)
            count += upload->upload_files[i].state == UPLOAD_FILE_WAITS;
    return count;
}

/* Is the file as long as when it was moved? If not, the machine went down before it was on disk. */
static bool file_is_whole(const struct upload *upload, uint32_t place)
{
    char path[DAEMON_PATH_MAX + 32];
    struct stat info;

    upload_path(upload, place, path, sizeof path);
    return lstat(path, &info) == 0 && info.st_size == upload->upload_files[place].size;
}

/* Counts the room of a file that was found after a restart: also of one that is stored, until the customer has heard of it. */
static void upload_file_found(struct upload *upload, uint32_t place)
{
    struct upload_file *upload_file = &upload->upload_files[place];

    upload_file->changed = upload_file->state == UPLOAD_FILE_WAITS;
    if (upload_file->state == UPLOAD_FILE_WAITS && !file_is_whole(upload, place)) {
        upload_file->state = kept_take(upload_file) ? UPLOAD_FILE_STORED : UPLOAD_FILE_LOST;
        snprintf(upload_file->words, sizeof upload_file->words, "the machine has lost it");
    }
    if (upload_file_has_file(upload_file))
        upload->providerd->uploads->used += (uint64_t)upload_file->size;
}

static bool row_found(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct providerd *providerd = user;
    const unsigned char *bytes = key;
    uint64_t claim = 0, number = 0;
    struct upload *upload;
    struct tree *row;
    struct err err;

    if (key_len != 16 || wire_parse(providerd->daemon.symbols, value, len, &row, &err) < 0)
        return true;
    for (int i = 0; i < 8; i++) {
        claim = claim << 8 | bytes[i];
        number = number << 8 | bytes[8 + i];
    }
    upload = upload_load(providerd, claim, number, row);
    tree_unref(row);
    if (!upload)
        return true;
    for (uint32_t i = 0; i < upload->count; i++)
        upload_file_found(upload, i);
    upload->next = providerd->uploads->first;
    providerd->uploads->first = upload;
    return true;
}

int uploads_load(struct providerd *providerd, struct err *err)
{
    struct shelf *shelf = providerd->daemon.shelf;
    char path[DAEMON_PATH_MAX];
    int fd;

    providerd->uploads = mem_alloc(sizeof *providerd->uploads);
    *providerd->uploads = (struct uploads){.first = NULL};
    snprintf(path, sizeof path, "%.4000s/" FOLDER, providerd->daemon.folder);
    fd = confined_folder(AT_FDCWD, path, err);
    if (fd < 0)
        return -1;
    close(fd);
    providerd->uploads->rules = transfer_rules_new(&providerd->daemon.config, &providerd->daemon.networks, err);
    if (!providerd->uploads->rules)
        return -1;
    return shelf->kind->each(shelf, UPLOAD_SPACE, row_found, providerd, err);
}

/* Removes folders that no request knows: a crash has left them, of a job that went with it. */
void uploads_sweep(struct providerd *providerd)
{
    char path[DAEMON_PATH_MAX], inner[DAEMON_PATH_MAX + 300];
    unsigned long long claim, number;
    struct dirent *entry;
    struct err err;
    DIR *dir;

    snprintf(path, sizeof path, "%.4000s/" FOLDER, providerd->daemon.folder);
    dir = opendir(path);
    while (dir && (entry = readdir(dir))) {
        if (sscanf(entry->d_name, "%16llx.%llu", &claim, &number) != 2 || task_is_here(providerd, claim, number) ||
            uploads_has(providerd, claim, number))
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        trash_take(providerd->trash, inner, &err);
    }
    if (dir)
        closedir(dir);
}

void uploads_stop(struct providerd *providerd)
{
    struct uploads *uploads = providerd->uploads;

    if (!uploads)
        return;
    uploads->closing = true;
    for (struct upload *upload = uploads->first; upload; upload = upload->next)
        for (uint32_t i = 0; i < upload->count; i++) {
            if (upload->upload_files[i].run)
                transfer_cancel(upload->upload_files[i].run);
            if (upload->upload_files[i].registering)
                catalogues_cancel(providerd->catalogues, upload->upload_files[i].registering);
        }
    while (uploads->going)
        uv_run(&providerd->daemon.loop, UV_RUN_ONCE);
}

void uploads_done(struct providerd *providerd)
{
    struct uploads *uploads = providerd->uploads;
    struct upload *next;

    if (!uploads)
        return;
    for (struct upload *upload = uploads->first; upload; upload = next) {
        next = upload->next;
        upload_free(upload);
    }
    stores_done(uploads);
    transfer_rules_unref(uploads->rules);
    free(uploads);
    providerd->uploads = NULL;
}
