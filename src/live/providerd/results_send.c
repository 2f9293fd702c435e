/* results_send.c: brings back what a job made: logs, outputs, checkpoint files, and what it used; until the customer has all of it.
 *
 *     row on the shelf -> list of files -> piece after piece, each acknowledged by how much the customer has -> finish -> row and folder go
 *
 * The processor is free long before. After a restart it begins anew, and the customer says what it has already. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/data/file_entry.h"
#include "live/data/input_data.h"
#include "live/providerd/job_leavings.h"
#include "pool/protocol/wire.h"
#include "sys/confined_path.h"
#include "sys/encoding.h"
#include "sys/hash_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT_ONCE 16 /* that are sent at the same time */
#define PAUSE_MIN (200 * MILLISECOND)
#define PAUSE_MAX (60 * SECOND)
#define HASHES_MAX 3 /* times that a file is sent anew because its hash was wrong */
#define KEY_SIZE 16

struct results {
    struct results *next;
    struct providerd *providerd;
    uint64_t claim, number; /* where its folder is */
    struct inquiry inquiry;
    struct tree *row; /* held */
    struct job_leavings leaving;
    uint32_t at; /* of its files */
    bool listed;
    bool told;    /* the customer was told that something cannot be read */
    bool passing; /* only the checkpoint of a job that still runs: no row, and the folder stays */
    int fd;       /* of the file at hand; -1: none is open */
    int64_t size;
    bool executable;
    uint32_t hashes;
    struct hashing hash; /* of what the customer has */
    int64_t due, pause, until;
    bool asking;
};

static void results_next(struct results *outgoing);

static void key_make(unsigned char ret[KEY_SIZE], uint64_t claim, uint64_t number)
{
    for (int i = 0; i < 8; i++) {
        ret[i] = (unsigned char)(claim >> (56 - 8 * i));
        ret[8 + i] = (unsigned char)(number >> (56 - 8 * i));
    }
}

/* -------------------------------------------------------------------------------------------------------------- files */

static void file_close(struct results *outgoing)
{
    if (outgoing->fd >= 0)
        close(outgoing->fd);
    outgoing->fd = -1;
}

static int folder_open(const struct results *outgoing)
{
    char path[DAEMON_PATH_MAX];

    providerd_folder(outgoing->providerd, path, sizeof path, outgoing->claim, outgoing->number);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* What became of an attempt: it is there; there is nothing to send of it; or it cannot be told now, and is tried again. */
enum outcome { THERE, ABSENT, FAILED };

static enum outcome files_list(struct results *outgoing, struct err *err)
{
    int folder, failed;

    if (outgoing->listed)
        return THERE;
    folder = folder_open(outgoing);
    if (folder < 0 && errno != ENOENT) {
        err_set(err, "the job's folder: %s", strerror(errno));
        return FAILED;
    }
    failed = folder < 0 ? 0 : leaving_list(&outgoing->leaving, outgoing->row, folder, outgoing->passing, err);
    if (folder >= 0)
        close(folder);
    outgoing->listed = !failed;
    return failed ? FAILED : THERE;
}

/* Notes that the file at hand cannot come, whatever is done. */
static void file_miss(struct results *outgoing, const char *why)
{
    const char *name = outgoing->leaving.files[outgoing->at].name;

    LOG(&outgoing->providerd->daemon.log, LEVEL_WARNING, "outputs.missing", log_word("claim", outgoing->claim),
        log_text("file", name), log_text("why", why));
    missing_add(&outgoing->leaving.missing, name, strlen(name), why, strlen(why));
}

static enum outcome file_open(struct results *outgoing, struct err *err)
{
    const struct leaving_file *file = &outgoing->leaving.files[outgoing->at];
    int folder = folder_open(outgoing);
    enum confined_sort sort;
    struct stat info;

    if (folder < 0 && errno != ENOENT) {
        err_set(err, "the job's folder: %s", strerror(errno));
        return FAILED;
    }
    if (folder < 0)
        return ABSENT;
    outgoing->fd = confined_read(folder, file->from ? file->from : file->name, &outgoing->size, err);
    sort = outgoing->fd < 0 ? confined_failed(errno) : CONFINED_FILE;
    close(folder);
    if (sort == CONFINED_FAILED)
        return FAILED;
    if (sort == CONFINED_OTHER)
        file_miss(outgoing, err->text);
    if (sort != CONFINED_FILE || (!outgoing->size && !strcmp(file->kind, "log"))) {
        file_close(outgoing);
        return ABSENT;
    }
    if (fstat(outgoing->fd, &info) < 0) {
        err_set(err, "%s: %s", file->name, strerror(errno));
        file_close(outgoing);
        return FAILED;
    }
    outgoing->executable = info.st_mode & S_IXUSR;
    hashing_begin(&outgoing->hash);
    return THERE;
}

/* Finds the next file that is there. ABSENT: there is none. */
static enum outcome file_find(struct results *outgoing, struct err *err)
{
    enum outcome outcome = files_list(outgoing, err);

    if (outcome == FAILED)
        return FAILED;
    if (outgoing->fd >= 0)
        return THERE;
    for (; outgoing->at < outgoing->leaving.count; outgoing->at++)
        if ((outcome = file_open(outgoing, err)) != ABSENT)
            return outcome;
    return ABSENT;
}

/* Goes on in the file where the customer's part ends; what lies before is only hashed. */
static bool file_seek(struct results *outgoing, int64_t to)
{
    if (to < outgoing->hash.upto)
        hashing_begin(&outgoing->hash);
    errno = 0;
    return hashing_read(&outgoing->hash, outgoing->fd, to) == 0 && outgoing->hash.upto == to;
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static void results_drop(struct results *outgoing)
{
    struct providerd *providerd = outgoing->providerd;
    struct results **link = &providerd->outgoing;
    unsigned char key[KEY_SIZE];
    struct err err = {0};

    while (*link != outgoing)
        link = &(*link)->next;
    *link = outgoing->next;
    if (outgoing->passing)
        return;
    key_make(key, outgoing->claim, outgoing->number);
    if (providerd->daemon.shelf->kind->remove(providerd->daemon.shelf, OUTGOING_SPACE, key, sizeof key, &err) == 0)
        runner_commit(agent_runner(providerd->live), NULL, NULL);
    if (workfolder_leave(providerd, outgoing->claim, outgoing->number, &err) < 0)
        LOG(&providerd->daemon.log, LEVEL_WARNING, "folder", log_text("why", err.text));
    file_close(outgoing);
}

static void results_free(struct results *outgoing)
{
    file_close(outgoing);
    tree_unref(outgoing->row);
    leaving_done(&outgoing->leaving);
    free(outgoing);
}

static void results_pause(struct results *outgoing)
{
    outgoing->pause = outgoing->pause ? outgoing->pause * 2 : PAUSE_MIN;
    if (outgoing->pause > PAUSE_MAX)
        outgoing->pause = PAUSE_MAX;
    outgoing->due = runner_now() + outgoing->pause;
}

/* Is the answer of use? If not, the sending waits, or is over. */
static bool results_answered(struct results *outgoing, const struct tree *answer)
{
    outgoing->asking = false;
    if (answer && (answer_is(answer, "ok") || answer_is(answer, "hash"))) {
        outgoing->pause = 0;
        return true;
    }
    if (answer &&
        answer_is(answer, "stale")) { /* nobody wants it any more; whatever else is said is asked again later */
        LOG(&outgoing->providerd->daemon.log, LEVEL_INFO, "outputs.unwanted", log_word("claim", outgoing->claim));
        results_drop(outgoing);
        results_free(outgoing);
        return false;
    }
    results_pause(outgoing);
    return false;
}

static void finish_answered(void *user, const struct tree *answer)
{
    struct results *outgoing = user;

    if (!results_answered(outgoing, answer))
        return;
    results_drop(outgoing);
    results_free(outgoing);
}

static bool piece_ask(struct providerd *providerd, agent to, struct maker *maker, agent_answer_fn *done, void *user)
{
    struct tree *question = maker_seal(maker);
    bool asked = agent_ask(providerd->live, to, question, done, user);

    tree_unref(question);
    return asked;
}

static void trouble_answered(void *user, const struct tree *answer)
{
    struct results *outgoing = user;

    (void)answer;
    outgoing->asking = false;
}

/* Something cannot be read now: the sending begins anew later, and that is told here and to the customer. A checkpoint comes again by itself. */
static void results_wait(struct results *outgoing, const struct err *err)
{
    struct maker maker;

    LOG(&outgoing->providerd->daemon.log, LEVEL_WARNING, "outputs.wait", log_word("claim", outgoing->claim),
        log_text("why", err->text));
    file_close(outgoing);
    if (outgoing->passing) {
        results_drop(outgoing);
        results_free(outgoing);
        return;
    }
    results_pause(outgoing);
    if (outgoing->told)
        return;
    question_begin(&maker, outgoing->providerd, "report", &outgoing->inquiry);
    maker_text(&maker, "Trouble", err->text);
    outgoing->told = outgoing->asking = true;
    if (!piece_ask(outgoing->providerd, outgoing->inquiry.customer, &maker, trouble_answered, outgoing))
        outgoing->told = outgoing->asking = false;
}

static void store_answered(void *user, const struct tree *answer)
{
    struct results *outgoing = user;
    struct err err = {0};
    int64_t have = 0;

    if (answer && (answer_is(answer, "name") || answer_is(answer, "invalid"))) { /* of this file nothing can come */
        LOG(&outgoing->providerd->daemon.log, LEVEL_WARNING, "outputs.refused", log_word("claim", outgoing->claim),
            log_text("file", outgoing->leaving.files[outgoing->at].name));
        outgoing->asking = false;
        file_close(outgoing);
        outgoing->at++;
        results_next(outgoing);
        return;
    }
    if (!results_answered(outgoing, answer))
        return;
    if (answer_is(answer, "hash") && ++outgoing->hashes > HASHES_MAX) {
        LOG(&outgoing->providerd->daemon.log, LEVEL_ERROR, "outputs.hash", log_word("claim", outgoing->claim),
            log_text("file", outgoing->leaving.files[outgoing->at].name));
        file_miss(outgoing, "what came was not what was sent, again and again");
        have = outgoing->size;
    } else if (!answer_is(answer, "hash")) {
        ad_integer(answer, "Have", &have);
    }
    if (have >= outgoing->size) {
        file_close(outgoing);
        outgoing->hashes = 0;
        outgoing->at++;
    } else if (!file_seek(outgoing, have < 0 ? 0 : have)) {
        err_set(&err, "%s cannot be read: %s", outgoing->leaving.files[outgoing->at].name,
                errno ? strerror(errno) : "it has become shorter");
        results_wait(outgoing, &err);
        return;
    }
    results_next(outgoing);
}

static void piece_bytes(struct maker *maker, const unsigned char *bytes, size_t len)
{
    struct buf digits;

    buf_init(&digits);
    base64url_print(&digits, bytes, len);
    maker_bytes(maker, "Bytes", digits.text ? digits.text : "", digits.len);
    buf_done(&digits);
}

/* Asks the customer to store a piece. THERE: it was asked; ABSENT: it could not be asked; FAILED: the file could not be read. */
static enum outcome store_ask(struct results *outgoing, struct err *err)
{
    const struct leaving_file *file = &outgoing->leaving.files[outgoing->at];
    static unsigned char bytes[PIECE_BYTES];
    struct hashing hash = outgoing->hash;
    ssize_t n = pread(outgoing->fd, bytes, sizeof bytes, outgoing->hash.upto);
    char digits[HASH_DIGITS + 1];
    struct maker maker;

    if (n < 0 || (!n && outgoing->hash.upto < outgoing->size)) {
        err_set(err, "%s cannot be read: %s", file->name, n < 0 ? strerror(errno) : "it has become shorter");
        return FAILED;
    }
    if (outgoing->hash.upto + n > outgoing->size)
        n = (ssize_t)(outgoing->size - outgoing->hash.upto);
    question_begin(&maker, outgoing->providerd, "store", &outgoing->inquiry);
    maker_text(&maker, "Kind", file->kind);
    maker_text(&maker, "Name", file->name);
    maker_integer(&maker, "Offset", outgoing->hash.upto);
    maker_integer(&maker, "Size", outgoing->size);
    maker_integer(&maker, "Mode", outgoing->executable ? 0755 : 0644);
    if (outgoing->hash.upto + n == outgoing->size) {
        hashing_add(&hash, bytes, (size_t)n);
        hashing_digits(&hash, digits);
        maker_text(&maker, "Hash", digits);
    }
    piece_bytes(&maker, bytes, (size_t)n);
    return piece_ask(outgoing->providerd, outgoing->inquiry.customer, &maker, store_answered, outgoing) ? THERE
                                                                                                        : ABSENT;
}

static void missing_put(struct maker *maker, const struct results *outgoing, const char *name,
                        const struct missing *missing)
{
    struct tree *ad = missing_ad(outgoing->providerd->daemon.symbols, missing);

    maker_ad(maker, name, ad);
    tree_unref(ad);
}

static bool finish_ask(struct results *outgoing)
{
    static const struct {
        const char *name;
        bool is_time; /* kept in microseconds, told in seconds */
    } used[] = {{"Cpu", true}, {"Memory", false}, {"Disk", false}, {"Wall", true}, {"Transfers", false}};
    struct maker maker;
    const char *words;
    size_t len;
    int64_t n;

    question_begin(&maker, outgoing->providerd, "finish", &outgoing->inquiry);
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (ad_integer(outgoing->row, used[i].name, &n))
            (used[i].is_time ? maker_seconds : maker_integer)(&maker, used[i].name, n);
    if (ad_string(outgoing->row, "Words", &words, &len) && len)
        maker_bytes(&maker, "Words", words, len);
    missing_put(&maker, outgoing, "Missing", &outgoing->leaving.missing);
    missing_put(&maker, outgoing, "NotMade", &outgoing->leaving.unmade);
    return piece_ask(outgoing->providerd, outgoing->inquiry.customer, &maker, finish_answered, outgoing);
}

static void results_next(struct results *outgoing)
{
    struct err err = {0};
    enum outcome found = file_find(outgoing, &err), asked;

    if (found == FAILED) {
        results_wait(outgoing, &err);
        return;
    }
    if (outgoing->passing && found == ABSENT) {
        results_drop(outgoing);
        results_free(outgoing);
        return;
    }
    outgoing->asking = true;
    asked = found == THERE ? store_ask(outgoing, &err) : finish_ask(outgoing) ? THERE : ABSENT;
    if (asked == THERE)
        return;
    outgoing->asking = false;
    if (asked == FAILED)
        results_wait(outgoing, &err);
    else
        results_pause(outgoing);
}

/* --------------------------------------------------------------------------------------------------------- a job's end */

static struct results *results_new(struct providerd *providerd, uint64_t claim, uint64_t number,
                                   const struct inquiry *inquiry, struct tree *row)
{
    struct results *outgoing = mem_alloc(sizeof *outgoing);

    *outgoing = (struct results){.next = providerd->outgoing,
                                 .providerd = providerd,
                                 .claim = claim,
                                 .number = number,
                                 .inquiry = *inquiry,
                                 .row = tree_ref(row),
                                 .fd = -1,
                                 .until = runner_now() + OUTGOING_LIFE};
    leaving_init(&outgoing->leaving);
    providerd->outgoing = outgoing;
    return outgoing;
}

static void row_add(struct maker *maker, const char *name, const char *const *names)
{
    size_t count = 0;

    while (names && names[count])
        count++;
    if (names)
        maker_texts(maker, name, names, count);
}

/* Adds the names of the inputs, as the ad has them; of files of the catalogue, the names that they have in the job's folder. */
static void row_add_inputs(struct maker *maker, const struct tree *ad)
{
    const struct expr *list = ad_find(ad, "Inputs");
    const char *names[JOB_FILES_MAX];
    size_t count = 0;
    struct input_data data;
    struct arena arena;

    arena_init(&arena);
    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        const struct expr *file = &tree_parts(ad, list)[i];
        symbol name = symbols_find(ad->symbols, "Name", 4);
        const struct expr *text = file->kind == EXPR_AD && name ? tree_find(ad, file, name) : NULL;

        if (text && text->kind == EXPR_STRING && count < JOB_FILES_MAX) {
            char *copy = arena_alloc(&arena, text->u.run.count + 1);

            memcpy(copy, tree_string(ad, text), text->u.run.count);
            copy[text->u.run.count] = '\0';
            names[count++] = copy;
        }
    }
    (void)input_data_read(ad, &data, NULL);
    for (uint32_t i = 0; i < data.count && count < JOB_FILES_MAX; i++)
        names[count++] = file_name_last(data.names[i]);
    maker_texts(maker, "Inputs", names, count);
    input_data_done(&data);
    arena_done(&arena);
}

void results_add(struct providerd *providerd, const struct task *task, const struct executor_news *news)
{
    struct shelf *shelf = providerd->daemon.shelf;
    unsigned char key[KEY_SIZE];
    struct err err = {0};
    struct maker maker;
    struct tree *row;
    struct buf text;

    maker_init(&maker, providerd->daemon.symbols);
    inquiry_write(&maker, &task->inquiry, task->claim);
    maker_integer(&maker, "Cpu", news->usage.cpu);
    maker_integer(&maker, "Memory", news->usage.memory);
    maker_integer(&maker, "Disk", news->usage.disk);
    maker_integer(&maker, "Wall", news->usage.wall);
    maker_text(&maker, "Words", *news->words ? news->words : NULL);
    maker_text(&maker, "Out", task->order.out);
    maker_text(&maker, "Err", task->order.err);
    row_add(&maker, "Outputs", task->order.outputs);
    row_add(&maker, "Checkpoint", task->order.checkpoint);
    row_add_inputs(&maker, task->ad);
    if (task->transfers)
        maker_integer(&maker, "Transfers", task->transfers);
    row = maker_seal(&maker);
    buf_init(&text);
    wire_print(&text, row);
    key_make(key, task->claim, task->number);
    if (shelf->kind->put(shelf, OUTGOING_SPACE, key, sizeof key, text.text, text.len, &err) < 0)
        LOG(&providerd->daemon.log, LEVEL_ERROR, "outgoing", log_text("why", err.text));
    buf_done(&text);
    results_new(providerd, task->claim, task->number, &task->inquiry, row);
    tree_unref(row);
}

void results_checkpoint(struct providerd *providerd, const struct task *task)
{
    const struct results *last = providerd->outgoing;
    struct maker maker;
    struct tree *row;

    while (last && !(last->passing && last->claim == task->claim && last->number == task->number))
        last = last->next;
    if (last)
        return; /* the one before is still on its way: the customer may be away for long */
    maker_init(&maker, providerd->daemon.symbols);
    row_add(&maker, "Checkpoint", task->order.checkpoint);
    row = maker_seal(&maker);
    results_new(providerd, task->claim, task->number, &task->inquiry, row)->passing = true;
    tree_unref(row);
}

bool results_has(const struct providerd *providerd, uint64_t claim, uint64_t number)
{
    const struct results *outgoing = providerd->outgoing;

    while (outgoing && (outgoing->passing || outgoing->claim != claim || outgoing->number != number))
        outgoing = outgoing->next;
    return outgoing != NULL;
}

void results_tick(struct providerd *providerd)
{
    int64_t now = runner_now();
    struct results *next;
    uint32_t busy = 0;

    for (struct results *outgoing = providerd->outgoing; outgoing; outgoing = outgoing->next)
        busy += outgoing->asking;
    for (struct results *outgoing = providerd->outgoing; outgoing && busy < AT_ONCE; outgoing = next) {
        next = outgoing->next;
        if (outgoing->asking || outgoing->due > now)
            continue;
        if (now > outgoing->until) {
            LOG(&providerd->daemon.log, LEVEL_WARNING, "outputs.dropped", log_word("claim", outgoing->claim));
            results_drop(outgoing);
            results_free(outgoing);
            continue;
        }
        results_next(outgoing);
        busy++;
    }
}

uint32_t results_count(const struct providerd *providerd)
{
    uint32_t count = 0;

    for (const struct results *outgoing = providerd->outgoing; outgoing; outgoing = outgoing->next)
        count++;
    return count;
}

/* ------------------------------------------------------------------------------------------------------------ restarts */

static bool row_load(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct providerd *providerd = user;
    const unsigned char *bytes = key;
    uint64_t claim = 0, number = 0;
    struct tree *row;
    struct inquiry inquiry;
    struct err err;

    if (key_len != KEY_SIZE || wire_parse(providerd->daemon.symbols, value, len, &row, &err) < 0)
        return true;
    for (int i = 0; i < 8; i++) {
        claim = claim << 8 | bytes[i];
        number = number << 8 | bytes[8 + i];
    }
    if (inquiry_read(row, claim, number, &inquiry))
        results_new(providerd, claim, number, &inquiry, row);
    tree_unref(row);
    return true;
}

bool results_load(struct providerd *providerd, struct err *err)
{
    struct shelf *shelf = providerd->daemon.shelf;

    return shelf->kind->each(shelf, OUTGOING_SPACE, row_load, providerd, err) == 0;
}

void results_done(struct providerd *providerd)
{
    struct results *next;

    for (struct results *outgoing = providerd->outgoing; outgoing; outgoing = next) {
        next = outgoing->next;
        results_free(outgoing);
    }
    providerd->outgoing = NULL;
}

/* ------------------------------------------------------------------------------------------- of a job that still runs */

bool results_piece(struct providerd *providerd, const struct task *task, const char *kind, const char *name,
                   int64_t from, agent_answer_fn *done, void *user)
{
    static unsigned char bytes[PIECE_BYTES];
    char path[DAEMON_PATH_MAX];
    struct err err = {0};
    int64_t size = 0;
    int folder, fd = -1;
    ssize_t n = 0;
    struct maker maker;

    providerd_folder(providerd, path, sizeof path, task->claim, task->number);
    folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder >= 0) {
        fd = confined_read(folder, name, &size, &err);
        close(folder);
    }
    if (fd >= 0 && size > from)
        n = pread(fd, bytes, sizeof bytes, from);
    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    question_begin(&maker, providerd, "store", &task->inquiry);
    maker_text(&maker, "Kind", kind);
    maker_text(&maker, "Name", name);
    maker_integer(&maker, "Offset", from);
    maker_integer(&maker, "Size", -1);
    piece_bytes(&maker, bytes, (size_t)n);
    return piece_ask(providerd, task->inquiry.customer, &maker, done, user);
}
