/* staging.c: brings a job its files: asks which, fetches those that are not in the cache, and lays them into its folder.
 *
 *     manifest -> for each file: cache/HASH there? else fetched piece by piece into cache/HASH.part, checked, renamed -> copied (file_copy.h)
 *
 * What is in the cache is known by its hash; a part that was fetched before a restart is gone on with. Files are copied, not linked:
 * the job may write in its own. For a job that is yet to come (ahead.c) they come into the cache alone, and nothing is asked twice. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/providerd/file_copy.h"
#include "sys/confined_path.h"
#include "sys/encoding.h"
#include "sys/hash_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STAGING_PAUSE 500      /* milliseconds before a question is repeated; it doubles ... */
#define STAGING_LOOK 20        /* milliseconds between looks at what another job is fetching */
#define STAGING_PAUSE_MAX 8000 /* ... up to that */
#define STAGING_TURN 1         /* milliseconds: in the next turn of the loop; one of 0 would be run in the same */
#define STAGING_BURST (INT64_C(16) << 20) /* bytes of small files that are laid in one turn of the loop */

struct staging {
    struct task *task; /* NULL: nobody waits for it any more */
    char folder[DAEMON_PATH_MAX];
    struct tree *manifest;       /* held */
    uint32_t at;                 /* the file that is fetched */
    int part;                    /* its part in the cache; -1: none */
    struct hashing hash;         /* of what is there of it ... */
    bool looked;                 /* ... all of which was read */
    bool older;                  /* ... and some of which was there before */
    struct file_copy *file_copy; /* into the job's folder; or NULL */
    int64_t laid;                /* bytes of small ones, since the loop had its turn */
    uv_timer_t again;
    uint64_t pause;
    bool asking, closing;
};

static void staging_next(struct staging *staging);

static void staging_closed(uv_handle_t *handle)
{
    struct staging *staging = handle->data;

    if (!staging->asking)
        free(staging);
    else
        staging->closing = false; /* the answer frees it */
}

static void staging_free(struct staging *staging)
{
    if (staging->task)
        staging->task->staging = NULL;
    staging->task = NULL;
    tree_unref(staging->manifest);
    staging->manifest = NULL;
    if (staging->part >= 0)
        close(staging->part);
    staging->part = -1;
    file_copy_cancel(staging->file_copy);
    staging->file_copy = NULL;
    staging->closing = true;
    uv_close((uv_handle_t *)&staging->again, staging_closed);
}

void staging_cancel(struct staging *staging)
{
    if (staging)
        staging_free(staging);
}

static void staging_end(struct staging *staging, const char *why)
{
    struct task *task = staging->task;

    staging_free(staging);
    task_staged(task, why);
}

static void staging_again(uv_timer_t *timer)
{
    staging_next(timer->data);
}

static void staging_wait(struct staging *staging)
{
    uv_timer_start(&staging->again, staging_again, staging->pause, 0);
    staging->pause = staging->pause * 2 < STAGING_PAUSE_MAX ? staging->pause * 2 : STAGING_PAUSE_MAX;
}

/* Something could not be done here. While descriptors or memory are short nobody is to blame: it is tried again, and the log says so. */
static void staging_failed(struct staging *staging, const char *why, int error)
{
    if (error != EMFILE && error != ENFILE && error != ENOMEM) {
        staging_end(staging, why);
        return;
    }
    LOG(&staging->task->providerd->daemon.log, LEVEL_WARNING, "inputs.wait", log_word("claim", staging->task->claim),
        task_trace(staging->task), log_text("why", why));
    staging_wait(staging);
}

/* The answer to a question came. False when nobody waits for it any more: then the staging is gone. */
static bool staging_answered(struct staging *staging)
{
    staging->asking = false;
    if (staging->task)
        return true;
    if (!staging->closing)
        free(staging);
    return false;
}

/* ---------------------------------------------------------------------------------------------------------- the cache */

struct input {
    char name[CONFINED_NAME_MAX + 1], hash[HASH_DIGITS + 1];
    int64_t size, mode;
};

static bool input_read(const struct staging *staging, uint32_t place, struct input *ret)
{
    const struct expr *files = ad_find(staging->manifest, "Files");
    const struct expr *file;
    const char *text;
    struct build build;
    struct tree *ad;
    size_t len;
    bool good;

    if (!files || files->kind != EXPR_LIST || place >= files->u.run.count)
        return false;
    file = &tree_parts(staging->manifest, files)[place];
    if (file->kind != EXPR_AD)
        return false;
    build_init(&build, staging->manifest->symbols, staging->manifest->dialect);
    build_copy(&build, staging->manifest, file);
    ad = build_seal(&build);
    build_done(&build);
    *ret = (struct input){.mode = 0644};
    good = ad_string(ad, "Name", &text, &len) && confined_name_is_good(text, len);
    if (good)
        memcpy(ret->name, text, len);
    good = good && ad_string(ad, "Hash", &text, &len) && hash_is_good(text, len) &&
           ad_integer(ad, "Size", &ret->size) && ret->size >= 0;
    if (good)
        memcpy(ret->hash, text, HASH_DIGITS);
    ad_integer(ad, "Mode", &ret->mode);
    tree_unref(ad);
    return good;
}

static void cache_path(const struct staging *staging, const char *hash, const char *end, char ret[DAEMON_PATH_MAX])
{
    snprintf(ret, DAEMON_PATH_MAX, "%.4000s/cache/%s%s", staging->task->providerd->daemon.folder, hash, end);
}

static void input_laid(void *user, const char *why)
{
    struct staging *staging = user;

    staging->file_copy = NULL;
    if (why) {
        staging_end(staging, why);
        return;
    }
    staging->at++;
    staging_next(staging);
}

/* Copies an input from the cache into the job's folder. True: it is there, and the next may follow at once. */
static bool input_place(struct staging *staging, const struct input *input)
{
    uv_loop_t *loop = &staging->task->providerd->daemon.loop;
    char path[DAEMON_PATH_MAX];
    struct file_copy_order order = {.from = path,
                                    .folder = staging->folder,
                                    .name = input->name,
                                    .mode = input->mode & 0111 ? 0755 : 0644,
                                    .size = input->size};
    enum file_copy_result result;
    struct err err = {0};

    cache_path(staging, input->hash, "", path);
    errno = 0;
    result = file_copy_start(loop, &order, input_laid, staging, &staging->file_copy, &err);
    if (result == UNLAID)
        staging_failed(staging, err.text, errno);
    if (result != LAID)
        return false;
    staging->at++;
    staging->laid += input->size;
    if (staging->laid < STAGING_BURST)
        return true;
    staging->laid = 0;
    uv_timer_start(&staging->again, staging_again, STAGING_TURN, 0);
    return false;
}

/* Opens the part of a file that was fetched before, to go on with it. 1: another job is fetching it. */
static int part_open(struct staging *staging, const struct input *input, struct err *err)
{
    char path[DAEMON_PATH_MAX];

    cache_path(staging, input->hash, ".part", path);
    staging->part = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (staging->part < 0)
        return err_set(err, "%s: %s", path, strerror(errno));
    if (flock(staging->part, LOCK_EX | LOCK_NB) < 0) {
        close(staging->part);
        staging->part = -1;
        return 1;
    }
    hashing_begin(&staging->hash);
    staging->looked = false;
    return 0;
}

/* Hashes what is there of the file already, some in each turn of the loop. 1: there is more. */
static int part_look(struct staging *staging, const struct input *input, struct err *err)
{
    int64_t end = staging->hash.upto + STAGING_BURST;
    bool bad = hashing_read(&staging->hash, staging->part, end) < 0 || staging->hash.upto > input->size;

    staging->looked = bad || staging->hash.upto < end;
    staging->older = !bad && staging->hash.upto > 0;
    if (bad) {
        hashing_begin(&staging->hash);
        if (ftruncate(staging->part, 0) < 0)
            return err_set(err, "%s: %s", input->name, strerror(errno));
    }
    return !staging->looked;
}

/* Makes a part ready: it is opened, and read as far as it is there. 0: the fetch can go on; 1: later; -1 and why not. */
static int part_ready(struct staging *staging, const struct input *input, struct err *err)
{
    int later = staging->part < 0 ? part_open(staging, input, err) : 0;

    if (later) {
        if (later > 0)
            uv_timer_start(&staging->again, staging_again, STAGING_LOOK, 0);
        return later;
    }
    later = staging->looked ? 0 : part_look(staging, input, err);
    if (later > 0)
        uv_timer_start(&staging->again, staging_again, STAGING_TURN, 0);
    return later;
}

/* The whole file is there: is it what it should be? 1: what was there before was not, and all of it is to be fetched again. */
static int part_finish(struct staging *staging, const struct input *input, struct err *err)
{
    char part[DAEMON_PATH_MAX], whole[DAEMON_PATH_MAX], digits[HASH_DIGITS + 1];

    hashing_digits(&staging->hash, digits);
    cache_path(staging, input->hash, ".part", part);
    cache_path(staging, input->hash, "", whole);
    if (strcmp(digits, input->hash) != 0 && staging->older && ftruncate(staging->part, 0) == 0) {
        staging->older = false;
        hashing_begin(&staging->hash);
        return 1;
    }
    close(staging->part);
    staging->part = -1;
    if (strcmp(digits, input->hash) != 0) {
        unlink(part);
        return err_set(err, "%s: its contents are not what the customer said", input->name);
    }
    return rename(part, whole) == 0 ? 0 : err_set(err, "%s: %s", whole, strerror(errno));
}

/* --------------------------------------------------------------------------------------------------------- questions */

static void fetch_answered(void *user, const struct tree *answer)
{
    struct staging *staging = user;
    struct err err = {0};
    struct input input;
    const char *text;
    struct buf bytes;
    size_t len;

    if (!staging_answered(staging))
        return;
    if (staging->task->ahead && (!answer || !answer_is(answer, "ok"))) {
        staging_end(staging, "it cannot be fetched now");
        return;
    }
    if (!answer || answer_is(answer, "wait") || answer_is(answer, "refused")) { /* or it is just ending */
        staging_wait(staging);
        return;
    }
    if (answer_is(answer, "disk")) { /* the customer cannot read it now */
        staging_wait(staging);
        return;
    }
    if (!answer_is(answer, "ok") || !ad_string(answer, "Bytes", &text, &len)) {
        staging_end(staging, "the customer does not have an input any more");
        return;
    }
    input_read(staging, staging->at, &input);
    buf_init(&bytes);
    if (!base64url_read(&bytes, text, len) || !bytes.len || (int64_t)bytes.len > input.size - staging->hash.upto ||
        pwrite(staging->part, bytes.text, bytes.len, staging->hash.upto) != (ssize_t)bytes.len) {
        err_set(&err, "%s: %s", input.name, bytes.len ? strerror(errno) : "nothing came");
    } else {
        hashing_add(&staging->hash, bytes.text, bytes.len);
        staging->task->taken += (int64_t)bytes.len;
        staging->pause = STAGING_PAUSE;
    }
    buf_done(&bytes);
    if (*err.text)
        staging_end(staging, err.text);
    else
        staging_next(staging);
}

static void fetch_ask(struct staging *staging, const struct input *input)
{
    struct task *task = staging->task;
    struct maker maker;
    struct tree *question;

    question_begin(&maker, task->providerd, "fetch", &task->inquiry);
    maker_text(&maker, "Hash", input->hash);
    maker_integer(&maker, "Offset", staging->hash.upto);
    maker_integer(&maker, "Length", PIECE_BYTES);
    if (task->ahead)
        maker_flag(&maker, "Ahead", true);
    question = maker_seal(&maker);
    staging->asking = true;
    if (!agent_ask(task->providerd->live, task->inquiry.customer, question, fetch_answered, staging)) {
        staging->asking = false;
        staging_wait(staging);
    }
    tree_unref(question);
}

/* Is it the file that the job's image comes in? */
static bool input_is_image(const struct staging *staging, const struct input *input)
{
    const char *image = staging->task->order.image;

    return image && !strcmp(image, input->name);
}

/* Do the inputs that the customer names fit into what the job may have? More would fill our disk. An image is none of the job's files: it is kept
 * with those of others, within their bound. */
static bool inputs_fit(const struct staging *staging)
{
    const struct expr *files = ad_find(staging->manifest, "Files");
    int64_t disk = staging->task->order.order.limits.disk, left = disk > 0 ? disk : JOB_DISK;
    int64_t image = (int64_t)config_size(&staging->task->providerd->daemon.config, CONFIG_IMAGE_CACHE);
    struct input input;

    for (uint32_t i = 0; files && files->kind == EXPR_LIST && i < files->u.run.count && i < JOB_FILES_MAX; i++) {
        if (!input_read(staging, i, &input))
            continue;
        if (input.size > (input_is_image(staging, &input) ? image : left))
            return false;
        left -= input_is_image(staging, &input) ? 0 : input.size;
    }
    return true;
}

static void manifest_answered(void *user, const struct tree *answer)
{
    struct staging *staging = user;

    if (!staging_answered(staging))
        return;
    if (staging->task->ahead && (!answer || !answer_is(answer, "ok"))) {
        staging_end(staging, "the customer has no next job for it");
    } else if (!answer || answer_is(answer, "wait") || answer_is(answer, "refused")) { /* or it is just ending */
        staging_wait(staging);
    } else if (!answer_is(answer, "ok")) {
        staging_end(staging, "the customer does not say which files it needs");
    } else {
        staging->pause = STAGING_PAUSE;
        staging->manifest = tree_ref((struct tree *)(uintptr_t)answer);
        if (staging->task->ahead)
            ahead_told(staging->task, answer);
        if (inputs_fit(staging))
            staging_next(staging);
        else
            staging_end(staging, "its inputs are larger than RequestDisk");
    }
}

static void manifest_ask(struct staging *staging)
{
    struct task *task = staging->task;
    struct maker maker;
    struct tree *question;

    question_begin(&maker, task->providerd, task->ahead ? "ahead" : "manifest", &task->inquiry);
    question = maker_seal(&maker);
    staging->asking = true;
    if (!agent_ask(task->providerd->live, task->inquiry.customer, question, manifest_answered, staging)) {
        staging->asking = false;
        staging_wait(staging);
    }
    tree_unref(question);
}

/* Goes one step further: to the next question, or the end. */
static void staging_next(struct staging *staging)
{
    const struct expr *files = staging->manifest ? ad_find(staging->manifest, "Files") : NULL;
    char path[DAEMON_PATH_MAX];
    struct err err = {0};
    struct input input;
    struct stat stat_of;
    int finished;

    if (!staging->manifest) {
        manifest_ask(staging);
        return;
    }
    while (files && files->kind == EXPR_LIST && staging->at < files->u.run.count) {
        if (staging->at >= JOB_FILES_MAX || !input_read(staging, staging->at, &input)) {
            staging_end(staging, "the list of inputs is not in order");
            return;
        }
        cache_path(staging, input.hash, "", path);
        if (staging->part >= 0 || stat(path, &stat_of) < 0 || stat_of.st_size != input.size) {
            int ready = part_ready(staging, &input, &err);

            if (ready < 0)
                staging_failed(staging, err.text, errno);
            if (ready)
                return;
        }
        if (staging->part >= 0 && staging->hash.upto < input.size) {
            fetch_ask(staging, &input);
            return;
        }
        finished = staging->part < 0 ? 0 : part_finish(staging, &input, &err);
        if (finished > 0)
            continue;
        if (finished < 0) {
            staging_end(staging, err.text);
            return;
        }
        if (input_is_image(staging, &input)) { /* it is unpacked where it lies, and the job does not see the file */
            snprintf(staging->task->image_key, sizeof staging->task->image_key, "%s", input.hash);
            staging->at++;
        } else if (staging->task->ahead) {
            staging->at++;
        } else if (!input_place(staging, &input)) {
            return;
        }
    }
    staging_end(staging, NULL);
}

void staging_begin(struct task *task, const char *folder)
{
    struct staging *staging = mem_alloc(sizeof *staging);

    *staging = (struct staging){.task = task, .part = -1, .pause = STAGING_PAUSE};
    snprintf(staging->folder, sizeof staging->folder, "%s", folder);
    uv_timer_init(&task->providerd->daemon.loop, &staging->again);
    staging->again.data = staging;
    task->staging = staging;
    staging_next(staging);
}
