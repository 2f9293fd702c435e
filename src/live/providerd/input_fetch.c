/* input_fetch.c: brings a job the files of the catalogue that it reads (InputData), from the nearest replica that has them right.
 *
 *     name -> the catalogues -> cache/data-HASH there? else replica by replica, near ones first:
 *             fetched (transfer.h) -> its SHA-256, in a thread -> the right one: into the cache, and copied into the job's folder
 *                                                              -> not: dropped, and the next replica
 *
 * When none of its replicas can be had the job cannot begin, and the words say what was wrong with each. A file that comes already, ahead of this very job
 * (ahead.c), is waited for; one that comes for another for a minute at most: whose that is may let it come as slowly as he likes. For a job that is yet to
 * come files come into the cache alone. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "lang/base/mem.h"
#include "live/data/catalogue.h"
#include "live/data/file_data.h"
#include "live/data/input_data.h"
#include "live/data/transfer.h"
#include "live/providerd/file_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAUSE 500      /* milliseconds before silent catalogues are asked again; it doubles ... */
#define PAUSES_MAX 7   /* ... so often: about a minute */
#define LOOK 20        /* milliseconds between looks at what comes for another job ... */
#define LOOKS MINUTE   /* ... for so long */
#define WORDS_EACH 120 /* bytes about one replica */

struct datain {
    struct task *task;           /* NULL: nobody waits for it any more */
    struct providerd *providerd; /* lives as long as there is a task */
    char folder[DAEMON_PATH_MAX];
    struct input_data data;
    uint32_t at;             /* the file at hand ... */
    struct file_entry entry; /* ... what the catalogues say of it */
    uint32_t order[FILE_REPLICAS_MAX], tried;
    struct buf words; /* what was wrong with those that were tried */
    uint64_t asking;  /* the question under way; 0: none */
    int64_t looks;    /* since when it is waited for what comes for another job; 0: it is not */
    struct transfer_run *run;
    uv_work_t check; /* what came: is it that file? */
    bool checking, closed;
    char part[DAEMON_PATH_MAX];  /* where it comes to */
    struct err wrong;            /* that the check has found */
    struct file_copy *file_copy; /* into the job's folder; or NULL */
    uv_timer_t again;
    uint32_t pauses;
};

static void datain_next(struct datain *datain);
static void replica_next(struct datain *datain);
static void file_look(struct datain *datain);

/* ----------------------------------------------------------------------------------------------------------------- life */

/* Drops what has come of the file, whole or not: it is of no use. */
static void part_drop(const struct datain *datain)
{
    char part[DAEMON_PATH_MAX + 8];

    if (!*datain->part)
        return;
    unlink(datain->part);
    snprintf(part, sizeof part, "%s.part", datain->part);
    unlink(part);
}

/* Frees it, once nobody waits for it and nothing comes back to it any more. */
static void datain_drop(struct datain *datain)
{
    if (datain->task || datain->run || datain->checking || !datain->closed)
        return;
    part_drop(datain);
    input_data_done(&datain->data);
    file_entry_done(&datain->entry);
    buf_done(&datain->words);
    free(datain);
}

static void again_closed(uv_handle_t *handle)
{
    struct datain *datain = handle->data;

    datain->closed = true;
    datain_drop(datain);
}

void datain_cancel(struct datain *datain)
{
    if (!datain)
        return;
    datain->task->datain = NULL;
    datain->task = NULL;
    if (datain->asking)
        catalogues_cancel(datain->providerd->catalogues, datain->asking);
    if (datain->run)
        transfer_cancel(datain->run);
    file_copy_cancel(datain->file_copy);
    uv_close((uv_handle_t *)&datain->again, again_closed);
}

static void datain_end(struct datain *datain, const char *why)
{
    struct task *task = datain->task;

    datain_cancel(datain);
    task_data_staged(task, why);
}

/* Ends with the words that say why the file at hand cannot be had. */
static void datain_fail(struct datain *datain, const char *why)
{
    struct buf words;

    buf_init(&words);
    buf_addf(&words, "InputData '%s': %s", datain->data.names[datain->at], why);
    datain_end(datain, buf_string(&words));
    buf_done(&words);
}

/* ---------------------------------------------------------------------------------------------------------- the cache */

static void cache_path(const struct datain *datain, char ret[DAEMON_PATH_MAX])
{
    snprintf(ret, DAEMON_PATH_MAX, "%.3900s/cache/data-%s", datain->providerd->daemon.folder,
             datain->entry.hash + FILE_HASH_DIGITS_AT);
}

static void file_laid(void *user, const char *why)
{
    struct datain *datain = user;

    datain->file_copy = NULL;
    if (why) {
        datain_fail(datain, why);
        return;
    }
    datain->at++;
    datain_next(datain);
}

/* Copies the file from the cache into the job's folder, and goes on with the next. */
static void file_place(struct datain *datain)
{
    char path[DAEMON_PATH_MAX];
    struct file_copy_order order = {.from = path,
                                    .folder = datain->folder,
                                    .name = file_name_last(datain->data.names[datain->at]),
                                    .mode = 0644,
                                    .size = datain->entry.size};
    enum file_copy_result result;
    struct err err = {0};

    if (datain->task->ahead) {
        file_laid(datain, NULL);
        return;
    }
    cache_path(datain, path);
    result = file_copy_start(&datain->providerd->daemon.loop, &order, file_laid, datain, &datain->file_copy, &err);
    if (result != LAYING)
        file_laid(datain, result == UNLAID ? err.text : NULL);
}

/* ----------------------------------------------------------------------------------------------------------- replicas */

static bool list_has(const struct tree *ad, const struct expr *list, const char *store)
{
    const struct expr *parts = list && list->kind == EXPR_LIST ? tree_parts(ad, list) : NULL;

    for (uint32_t i = 0; parts && i < list->u.run.count; i++)
        if (parts[i].kind == EXPR_STRING && parts[i].u.run.count == strlen(store) &&
            !memcmp(tree_string(ad, &parts[i]), store, strlen(store)))
            return true;
    return false;
}

/* Is the store one of those near to this machine, as its settings or its own ad say? */
static bool store_is_near(const struct providerd *providerd, const char *store)
{
    size_t count;
    const char *const *near = config_list(&providerd->daemon.config, CONFIG_CLOSE_STORAGE, &count);

    for (size_t i = 0; i < count; i++)
        if (!strcmp(near[i], store))
            return true;
    return providerd->settings->offers &&
           list_has(providerd->ads[0], ad_find(providerd->ads[0], "CloseStorage"), store);
}

/* Puts the replicas in order: near ones first; of those that are alike, local paths. */
static void order_make(struct datain *datain)
{
    const struct file_entry *entry = &datain->entry;
    uint32_t count = 0;

    for (int sort = 0; sort < 4; sort++)
        for (uint32_t i = 0; i < entry->count; i++) {
            bool near = store_is_near(datain->providerd, entry->replicas[i].store);
            bool local = !strncmp(entry->replicas[i].url, "file:", 5);

            if ((near ? 0 : 2) + (local ? 0 : 1) == sort)
                datain->order[count++] = i;
        }
    datain->tried = 0;
    buf_reset(&datain->words);
}

static void replica_bad(struct datain *datain, const char *why)
{
    const struct file_replica *replica = &datain->entry.replicas[datain->order[datain->tried]];

    LOG(&datain->providerd->daemon.log, LEVEL_WARNING, "data.replica", log_word("claim", datain->task->claim),
        task_trace(datain->task), log_text("name", datain->entry.name), log_text("store", replica->store),
        log_text("why", why));
    buf_addf(&datain->words, "%s%.60s: %.*s", datain->words.len ? "; " : "", replica->store, WORDS_EACH, why);
    part_drop(datain);
    datain->tried++;
    replica_next(datain);
}

/* Checks the hash of a file, in a thread. What the hash is instead is not told: whoever learnt it that way could enter it in a catalogue, and have a
 * file that is not theirs. */
static void check_work(uv_work_t *work)
{
    struct datain *datain = work->data;
    int fd = open(datain->part, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    char hash[FILE_HASH_LEN + 1];
    int64_t size;

    datain->wrong.text[0] = '\0';
    if (fd < 0)
        err_set(&datain->wrong, "%s", strerror(errno));
    else if (file_data_read(fd, -1, &size, hash, &datain->wrong) == 0 &&
             file_data_check(size, hash, &datain->entry, NULL) < 0)
        err_set(&datain->wrong, "its contents are not those that the catalogue says");
    if (fd >= 0)
        close(fd);
}

static void check_over(uv_work_t *work, int status)
{
    struct datain *datain = work->data;
    char path[DAEMON_PATH_MAX];

    datain->checking = false;
    if (!datain->task) {
        datain_drop(datain);
        return;
    }
    cache_path(datain, path);
    if (status < 0)
        replica_bad(datain, "it was not looked at");
    else if (*datain->wrong.text)
        replica_bad(datain, datain->wrong.text);
    else if (rename(datain->part, path) < 0)
        datain_fail(datain, strerror(errno));
    else
        file_place(datain);
}

static void transfer_over(void *user, const struct transfer_result *result)
{
    struct datain *datain = user;

    datain->run = NULL;
    if (!datain->task) {
        datain_drop(datain);
    } else if (result->end != TRANSFER_DONE) {
        replica_bad(datain, result->words);
    } else {
        datain->task->taken += datain->entry.size;
        datain->check.data = datain;
        datain->checking = true;
        if (uv_queue_work(&datain->providerd->daemon.loop, &datain->check, check_work, check_over) < 0)
            abort(); /* only without a work callback */
    }
}

static void replica_next(struct datain *datain)
{
    struct transfer_order order = {.way = TRANSFER_GET, .path = datain->part, .size = datain->entry.size};

    if (datain->tried == datain->entry.count) {
        if (!datain->entry.count)
            buf_adds(&datain->words, "there is no replica of it");
        datain_fail(datain, buf_string(&datain->words));
        return;
    }
    snprintf(datain->part, sizeof datain->part, "%.3900s/cache/data-%016llx.%llu.%u.new",
             datain->providerd->daemon.folder, (unsigned long long)datain->task->claim,
             (unsigned long long)datain->task->number, datain->at);
    order.url = datain->entry.replicas[datain->order[datain->tried]].url;
    order.bytes_max = datain->entry.size > 0 ? datain->entry.size : 1;
    datain->run =
        transfer_start(&datain->providerd->daemon.loop, datain->providerd->data_rules, &order, transfer_over, datain);
}

/* --------------------------------------------------------------------------------------------------------- catalogues */

static void again_due(uv_timer_t *timer)
{
    datain_next(timer->data);
}

static void look_due(uv_timer_t *timer)
{
    file_look(timer->data);
}

static bool is_fetching(const struct task *task, const struct datain *besides)
{
    const struct datain *datain = task->datain;

    return datain && datain != besides && (datain->run || datain->checking) &&
           datain->entry.size == besides->entry.size && !strcmp(datain->entry.hash, besides->entry.hash);
}

/* Does that very file come already, so that it is worth waiting? Ahead of this job it comes from where the job would have it from. */
static bool is_awaited(const struct datain *datain)
{
    bool patient = !datain->looks || runner_now() - datain->looks < LOOKS;

    for (const struct task *task = datain->providerd->aheads; task; task = task->next)
        if ((patient || task->claim == datain->task->claim) && is_fetching(task, datain))
            return true;
    for (const struct task *task = datain->providerd->tasks; task && patient; task = task->next)
        if (is_fetching(task, datain))
            return true;
    return false;
}

/* Takes the file from the cache; else it is fetched, unless it comes already. */
static void file_look(struct datain *datain)
{
    char path[DAEMON_PATH_MAX];
    struct stat info;

    cache_path(datain, path);
    if (stat(path, &info) == 0 && info.st_size == datain->entry.size) {
        file_place(datain);
    } else if (is_awaited(datain)) {
        if (!datain->looks)
            datain->looks = runner_now();
        uv_timer_start(&datain->again, look_due, LOOK, 0);
    } else {
        order_make(datain);
        replica_next(datain);
    }
}

static void entry_take(struct datain *datain, const struct catalogue_answer *answer)
{
    int64_t disk = datain->task->ahead ? ahead_left(datain->task) : datain->task->order.order.limits.disk;

    if (*answer->words)
        LOG(&datain->providerd->daemon.log, LEVEL_WARNING, "data.catalogue", log_text("name", answer->entry->name),
            log_text("why", answer->words));
    file_entry_done(&datain->entry);
    file_entry_copy(answer->entry, &datain->entry);
    datain->looks = 0;
    if (datain->entry.files) { /* the customer has told the files of datasets: it was none then */
        datain_fail(datain, "it is a dataset now, and no file");
        return;
    }
    if (datain->entry.size > (disk > 0 ? disk : JOB_DISK)) { /* whoever has entered it may have said anything */
        datain_fail(datain,
                    datain->task->ahead ? "it is too large to be fetched ahead" : "it is larger than RequestDisk");
        return;
    }
    if (datain->task->ahead)
        ahead_spend(datain->task, datain->entry.size);
    file_look(datain);
}

static void catalogue_came(void *user, const struct catalogue_answer *answer)
{
    struct datain *datain = user;

    datain->asking = 0;
    if (answer->result == CATALOGUE_FOUND)
        entry_take(datain, answer);
    else if (answer->result == CATALOGUE_NONE)
        datain_fail(datain, "there is no such file in the catalogue");
    else if (answer->result == CATALOGUE_DIFFER)
        datain_fail(datain, answer->words);
    else if (datain->pauses == PAUSES_MAX)
        datain_fail(datain, answer->words);
    else
        uv_timer_start(&datain->again, again_due, (uint64_t)PAUSE << datain->pauses++, 0);
}

static void datain_next(struct datain *datain)
{
    if (datain->at == datain->data.count)
        datain_end(datain, NULL);
    else
        datain->asking =
            catalogues_find(datain->providerd->catalogues, datain->data.names[datain->at], catalogue_came, datain);
}

bool datain_is_needed(const struct task *task)
{
    return ad_find(task->ad, "InputData") != NULL;
}

void datain_begin(struct task *task)
{
    struct datain *datain = mem_alloc(sizeof *datain);
    struct err err = {0};

    memset(datain, 0, sizeof *datain);
    datain->task = task;
    datain->providerd = task->providerd;
    buf_init(&datain->words);
    providerd_folder(task->providerd, datain->folder, sizeof datain->folder, task->claim, task->number);
    uv_timer_init(&task->providerd->daemon.loop, &datain->again);
    datain->again.data = datain;
    task->datain = datain;
    if (input_data_read(task->ad, &datain->data, &err) < 0)
        datain_end(datain, err.text);
    else
        datain_next(datain);
}

/* ---------------------------------------------------------------------------------------------------------- the shop's */

int datain_open(struct providerd *providerd, struct err *err)
{
    providerd->catalogues = daemon_catalogues(&providerd->daemon, err);
    providerd->data_rules =
        providerd->catalogues ? transfer_rules_new(&providerd->daemon.config, &providerd->daemon.networks, err) : NULL;
    providerd->url_rules =
        providerd->data_rules ? transfer_rules_bare(&providerd->daemon.config, &providerd->daemon.networks, err) : NULL;
    return providerd->url_rules && url_clients_check(providerd, err) == 0 ? 0 : -1;
}

void datain_close(struct providerd *providerd)
{
    catalogues_free(providerd->catalogues);
    transfer_rules_unref(providerd->data_rules);
    transfer_rules_unref(providerd->url_rules);
}
