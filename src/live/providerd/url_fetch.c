/* url_fetch.c: brings a job the files that it reads from URLs (InputUrls), before it begins.
 *
 *     http, https   fetched (transfer.h) into a file of ours, within bounds of bytes, time and redirects -> copied into the job's folder
 *     file          a link in the job's folder: the job itself reads it, if it sees that folder and may
 *     others        fetched by the program that the owner names for them (url_clients.c), if any
 *
 * The URLs are a stranger's. So nothing of ours is shown to whoever is asked, neither tokens nor keys, and nothing is contacted but public addresses and those
 * of the setting Networks: no service of this machine, where that does not say so. The job has asked for the network, and the owner's constraint has seen that. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/data/transfer.h"
#include "live/providerd/file_copy.h"
#include "pool/protocol/job_urls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAUSE 1000   /* milliseconds before one that may do later is asked for again; it doubles ... */
#define PAUSES_MAX 4 /* ... so often */
#define OWN_MAX 4    /* sorts of URLs that we need no client for */
#define URL_TOLD 120 /* bytes of a URL in words for a person */

struct urlin {
    struct task *task;           /* NULL: nobody waits for it any more */
    struct providerd *providerd; /* lives as long as there is a task */
    char folder[DAEMON_PATH_MAX];
    uint32_t at, count; /* the file at hand, and how many there are */
    char name[256];     /* its name in the job's folder */
    char url[JOB_URL_MAX + 1];
    int64_t left;             /* bytes that the job's disk may still take */
    struct transfer_run *run; /* or NULL */
    struct url_client *client;
    struct file_copy *file_copy;
    char part[DAEMON_PATH_MAX]; /* where it comes to; "": nowhere yet */
    uv_timer_t again;
    uint32_t pauses;
    bool closed;
};

static void urlin_next(struct urlin *urlin);

/* ----------------------------------------------------------------------------------------------------------------- life */

static void part_drop(struct urlin *urlin)
{
    char part[DAEMON_PATH_MAX + 8];

    if (!*urlin->part)
        return;
    unlink(urlin->part);
    snprintf(part, sizeof part, "%s.part", urlin->part);
    unlink(part);
}

static void urlin_drop(struct urlin *urlin)
{
    if (urlin->task || urlin->run || !urlin->closed)
        return;
    part_drop(urlin);
    free(urlin);
}

static void again_closed(uv_handle_t *handle)
{
    struct urlin *urlin = handle->data;

    urlin->closed = true;
    urlin_drop(urlin);
}

void urlin_cancel(struct urlin *urlin)
{
    if (!urlin)
        return;
    urlin->task->urlin = NULL;
    urlin->task = NULL;
    if (urlin->run)
        transfer_cancel(urlin->run);
    url_client_cancel(urlin->client);
    file_copy_cancel(urlin->file_copy);
    uv_close((uv_handle_t *)&urlin->again, again_closed);
}

static void urlin_end(struct urlin *urlin, const char *why)
{
    struct task *task = urlin->task;

    urlin_cancel(urlin);
    task_urls_came(task, why);
}

static void urlin_fail(struct urlin *urlin, const char *why)
{
    char words[URL_TOLD + TRANSFER_WORDS_MAX + 64];

    snprintf(words, sizeof words, URLS_FAILED ": %.*s: %.*s", URL_TOLD, urlin->url, TRANSFER_WORDS_MAX, why);
    urlin_end(urlin, words);
}

/* --------------------------------------------------------------------------------------------------------------- one file */

static void file_laid(void *user, const char *why)
{
    struct urlin *urlin = user;

    urlin->file_copy = NULL;
    if (why) {
        urlin_fail(urlin, why);
        return;
    }
    part_drop(urlin);
    urlin->pauses = 0;
    urlin->at++;
    urlin_next(urlin);
}

static void file_place(struct urlin *urlin, int64_t size)
{
    struct file_copy_order order = {
        .from = urlin->part, .folder = urlin->folder, .name = urlin->name, .mode = 0644, .size = size};
    enum file_copy_result result;
    struct err err = {0};

    urlin->left -= size;
    urlin->task->taken += size;
    result = file_copy_start(&urlin->providerd->daemon.loop, &order, file_laid, urlin, &urlin->file_copy, &err);
    if (result != LAYING)
        file_laid(urlin, result == UNLAID ? err.text : NULL);
}

static void again_due(uv_timer_t *timer)
{
    urlin_next(timer->data);
}

static void transfer_over(void *user, const struct transfer_result *result)
{
    struct urlin *urlin = user;

    urlin->run = NULL;
    if (!urlin->task) {
        urlin_drop(urlin);
    } else if (result->end == TRANSFER_DONE) {
        file_place(urlin, result->size);
    } else if (result->end == TRANSFER_AGAIN && urlin->pauses < PAUSES_MAX) {
        LOG(&urlin->providerd->daemon.log, LEVEL_WARNING, "url.again", log_word("claim", urlin->task->claim),
            task_trace(urlin->task), log_text("url", urlin->url), log_text("why", result->words));
        uv_timer_start(&urlin->again, again_due, (uint64_t)PAUSE << urlin->pauses++, 0);
    } else {
        urlin_fail(urlin, result->end == TRANSFER_DAMAGED ? "it is larger than RequestDisk" : result->words);
    }
}

/* Finds a place for the file at hand; false: there is no room for it. */
static bool part_find(struct urlin *urlin)
{
    if (urlin->left <= 0) {
        urlin_fail(urlin, "it is larger than RequestDisk");
        return false;
    }
    snprintf(urlin->part, sizeof urlin->part, "%.3900s/cache/url-%016llx.%llu.%u.new", urlin->providerd->daemon.folder,
             (unsigned long long)urlin->task->claim, (unsigned long long)urlin->task->number, urlin->at);
    part_drop(urlin);
    return true;
}

static void file_fetch(struct urlin *urlin)
{
    struct transfer_order order = {
        .way = TRANSFER_GET, .url = urlin->url, .path = urlin->part, .size = -1, .bytes_max = urlin->left};

    if (!part_find(urlin))
        return;
    urlin->run =
        transfer_start(&urlin->providerd->daemon.loop, urlin->providerd->url_rules, &order, transfer_over, urlin);
}

static void client_over(void *user, const char *why, int64_t size)
{
    struct urlin *urlin = user;

    urlin->client = NULL;
    if (why)
        urlin_fail(urlin, why);
    else
        file_place(urlin, size);
}

/* By the program that the owner names for such URLs. */
static void client_fetch(struct urlin *urlin)
{
    struct url_client_order order = {.way = URL_CLIENT_GET, .url = urlin->url, .part = urlin->part};
    struct err err = {0};

    if (!part_find(urlin))
        return;
    order.bytes = urlin->left;
    urlin->client = url_client_start(urlin->providerd, &order, client_over, urlin, &err);
    if (!urlin->client)
        urlin_fail(urlin, err.text);
}

/* A file of this machine: a link, which the job follows with its own eyes and rights. */
static void file_link(struct urlin *urlin)
{
    const char *path = urlin->url + strlen("file://");
    int folder = open(urlin->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = folder >= 0 && *path == '/' && symlinkat(path, folder, urlin->name) == 0;
    int error = errno;

    if (folder >= 0)
        close(folder);
    if (good) {
        urlin->at++;
        urlin_next(urlin);
    } else {
        urlin_fail(urlin, *path == '/' ? strerror(error) : "expected file:///PATH");
    }
}

static void urlin_next(struct urlin *urlin)
{
    struct job_url one;

    if (urlin->at == urlin->count) {
        urlin_end(urlin, NULL);
        return;
    }
    if (!job_urls_get(urlin->task->ad, urlin->at, &one)) {
        urlin_end(urlin, JOB_URLS ": expected [ Name; Url ]");
        return;
    }
    snprintf(urlin->name, sizeof urlin->name, "%.*s", (int)one.name_len, one.name);
    snprintf(urlin->url, sizeof urlin->url, "%.*s", (int)one.url_len, one.url);
    if (!strncmp(urlin->url, "file://", 7))
        file_link(urlin);
    else if (!strncmp(urlin->url, "http://", 7) || !strncmp(urlin->url, "https://", 8))
        file_fetch(urlin);
    else
        client_fetch(urlin);
}

/* ------------------------------------------------------------------------------------------------------------------- all */

bool urlin_is_needed(const struct task *task)
{
    return ad_find(task->ad, JOB_URLS) != NULL;
}

void urlin_begin(struct task *task)
{
    struct urlin *urlin = mem_alloc(sizeof *urlin);
    int64_t disk = task->order.order.limits.disk;
    bool network = false;

    memset(urlin, 0, sizeof *urlin);
    urlin->task = task;
    urlin->providerd = task->providerd;
    urlin->count = job_urls_count(task->ad);
    urlin->left = (disk > 0 ? disk : JOB_DISK) - task->taken;
    providerd_folder(task->providerd, urlin->folder, sizeof urlin->folder, task->claim, task->number);
    uv_timer_init(&task->providerd->daemon.loop, &urlin->again);
    urlin->again.data = urlin;
    task->urlin = urlin;
    if (!urlin->count)
        urlin_end(urlin, JOB_URLS ": expected a list of [ Name; Url ]");
    else if (job_urls_need_network(task->ad) && (!ad_flag(task->ad, "Network", &network) || !network))
        urlin_end(urlin, URLS_FAILED ": the job has not asked for the network");
    else
        urlin_next(urlin);
}

/* Adds to the machine's ad a list of those that it has a way to by itself, and of those that the owner names clients for. */
static void schemes_put(const struct providerd *providerd, struct maker *maker, const char *list,
                        enum url_client_way way, const char *const *own, size_t own_count)
{
    const char *schemes[OWN_MAX + URL_CLIENTS_MAX];
    char others[URL_CLIENTS_MAX][URL_SCHEME_ROOM];
    size_t count = url_clients_schemes(providerd, way, others);

    for (size_t i = 0; i < own_count; i++)
        schemes[i] = own[i];
    for (size_t i = 0; i < count; i++)
        schemes[own_count + i] = others[i];
    maker_texts(maker, list, schemes, own_count + count);
}

void urlin_put(const struct providerd *providerd, struct maker *maker)
{
    static const char *const fetched[OWN_MAX] = {"file", "http", "https", "put"}, *const brought[] = {"http", "https"};

    schemes_put(providerd, maker, JOB_URLS_MACHINE, URL_CLIENT_GET, fetched, OWN_MAX);
    schemes_put(providerd, maker, JOB_URLS_OUT_MACHINE, URL_CLIENT_PUT, brought, 2);
}
