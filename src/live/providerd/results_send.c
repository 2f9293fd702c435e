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
#include "live/data/samples_ad.h"
#include "live/data/transfer.h"
#include "live/providerd/job_leavings.h"
#include "pool/protocol/job_urls.h"
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

#define AT_ONCE 64 /* that are sent at the same time */
#define PAUSE_MIN (200 * MILLISECOND)
#define PAUSE_MAX (60 * SECOND)
#define HASHES_MAX 3 /* times that a file is sent anew because its hash was wrong */
#define KEY_SIZE 16
#define PUTS_MAX 8 /* times that a file is brought to a URL; with the pauses about a minute */

struct results {
    struct results *next, *before;
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
    struct transfer_run
        *run; /* the file at hand is on its way to a URL; or NULL: it is not, or a client of the owner's brings it */
    uint32_t puts; /* how often that was tried */
    bool gone;     /* only that run still knows of this */
};

static void results_next(struct results *results);

static void key_make(unsigned char ret[KEY_SIZE], uint64_t claim, uint64_t number)
{
    for (int i = 0; i < 8; i++) {
        ret[i] = (unsigned char)(claim >> (56 - 8 * i));
        ret[8 + i] = (unsigned char)(number >> (56 - 8 * i));
    }
}

/* -------------------------------------------------------------------------------------------------------------- files */

static void file_close(struct results *results)
{
    if (results->fd >= 0)
        close(results->fd);
    results->fd = -1;
}

static int folder_open(const struct results *results)
{
    char path[DAEMON_PATH_MAX];

    providerd_folder(results->providerd, path, sizeof path, results->claim, results->number);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* What became of an attempt: it is there; there is nothing to send of it; or it cannot be told now, and is tried again. */
enum outcome { THERE, ABSENT, FAILED };

static enum outcome files_list(struct results *results, struct err *err)
{
    int folder, failed;

    if (results->listed)
        return THERE;
    folder = folder_open(results);
    if (folder < 0 && errno != ENOENT) {
        err_set(err, "the job's folder: %s", strerror(errno));
        return FAILED;
    }
    failed = folder < 0 ? 0 : leaving_list(&results->leaving, results->row, folder, results->passing, err);
    if (folder >= 0)
        close(folder);
    results->listed = !failed;
    return failed ? FAILED : THERE;
}

/* Notes that the file at hand cannot come, whatever is done. */
static void file_miss(struct results *results, const char *why)
{
    const char *name = results->leaving.files[results->at].name;

    LOG(&results->providerd->daemon.log, LEVEL_WARNING, "outputs.missing", log_word("claim", results->claim),
        log_text("file", name), log_text("why", why));
    missing_add(&results->leaving.missing, name, strlen(name), why, strlen(why));
}

static enum outcome file_open(struct results *results, struct err *err)
{
    const struct leaving_file *file = &results->leaving.files[results->at];
    int folder = folder_open(results);
    enum confined_sort sort;
    struct stat info;

    if (folder < 0 && errno != ENOENT) {
        err_set(err, "the job's folder: %s", strerror(errno));
        return FAILED;
    }
    if (folder < 0)
        return ABSENT;
    results->fd = confined_read(folder, file->from ? file->from : file->name, &results->size, err);
    sort = results->fd < 0 ? confined_failed(errno) : CONFINED_FILE;
    close(folder);
    if (sort == CONFINED_FAILED)
        return FAILED;
    if (sort == CONFINED_OTHER)
        file_miss(results, err->text);
    if (sort != CONFINED_FILE || (!results->size && !strcmp(file->kind, "log"))) {
        file_close(results);
        return ABSENT;
    }
    if (fstat(results->fd, &info) < 0) {
        err_set(err, "%s: %s", file->name, strerror(errno));
        file_close(results);
        return FAILED;
    }
    results->executable = info.st_mode & S_IXUSR;
    hashing_begin(&results->hash);
    return THERE;
}

/* Finds the next file that is there. ABSENT: there is none. */
static enum outcome file_find(struct results *results, struct err *err)
{
    enum outcome outcome = files_list(results, err);

    if (outcome == FAILED)
        return FAILED;
    if (results->fd >= 0)
        return THERE;
    for (; results->at < results->leaving.count; results->at++)
        if ((outcome = file_open(results, err)) != ABSENT)
            return outcome;
    return ABSENT;
}

/* Goes on in the file where the customer's part ends; what lies before is only hashed. */
static bool file_seek(struct results *results, int64_t to)
{
    if (to < results->hash.upto)
        hashing_begin(&results->hash);
    errno = 0;
    return hashing_read(&results->hash, results->fd, to) == 0 && results->hash.upto == to;
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static void results_drop(struct results *results)
{
    struct providerd *providerd = results->providerd;
    unsigned char key[KEY_SIZE];
    struct err err = {0};

    *(results->before ? &results->before->next : &providerd->results) = results->next;
    *(results->next ? &results->next->before : &providerd->results_last) = results->before;
    if (results->passing)
        return;
    key_make(key, results->claim, results->number);
    if (providerd->daemon.shelf->kind->remove(providerd->daemon.shelf, OUTGOING_SPACE, key, sizeof key, &err) == 0)
        runner_commit(agent_runner(providerd->live), NULL, NULL);
    if (workfolder_leave(providerd, results->claim, results->number, &err) < 0)
        LOG(&providerd->daemon.log, LEVEL_WARNING, "folder", log_text("why", err.text));
    file_close(results);
}

static void results_free(struct results *results)
{
    file_close(results);
    tree_unref(results->row);
    leaving_done(&results->leaving);
    free(results);
}

static void results_pause(struct results *results)
{
    results->pause = results->pause ? results->pause * 2 : PAUSE_MIN;
    if (results->pause > PAUSE_MAX)
        results->pause = PAUSE_MAX;
    results->due = runner_now() + results->pause;
    if (results->due < results->providerd->results_due)
        results->providerd->results_due = results->due;
}

/* Is the answer of use? If not, the sending waits, or is over. */
static bool results_answered(struct results *results, const struct tree *answer)
{
    results->asking = false;
    if (answer && (answer_is(answer, "ok") || answer_is(answer, "hash"))) {
        results->pause = 0;
        return true;
    }
    if (answer &&
        answer_is(answer, "stale")) { /* nobody wants it any more; whatever else is said is asked again later */
        LOG(&results->providerd->daemon.log, LEVEL_INFO, "outputs.unwanted", log_word("claim", results->claim));
        results_drop(results);
        results_free(results);
        return false;
    }
    results_pause(results);
    return false;
}

static void finish_answered(void *user, const struct tree *answer)
{
    struct results *results = user;
    struct providerd *providerd = results->providerd;

    if (!results_answered(results, answer))
        return;
    results_drop(results);
    results_free(results);
    results_tick(providerd); /* the next that waits has its place */
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
    struct results *results = user;

    (void)answer;
    results->asking = false;
}

/* Something cannot be read now: the sending begins anew later, and that is told here and to the customer. A checkpoint comes again by itself. */
static void results_wait(struct results *results, const struct err *err)
{
    struct maker maker;

    LOG(&results->providerd->daemon.log, LEVEL_WARNING, "outputs.wait", log_word("claim", results->claim),
        log_text("why", err->text));
    file_close(results);
    if (results->passing) {
        results_drop(results);
        results_free(results);
        return;
    }
    results_pause(results);
    if (results->told)
        return;
    question_begin(&maker, results->providerd, "report", &results->inquiry);
    maker_text(&maker, "Trouble", err->text);
    results->told = results->asking = true;
    if (!piece_ask(results->providerd, results->inquiry.customer, &maker, trouble_answered, results))
        results->told = results->asking = false;
}

static void store_answered(void *user, const struct tree *answer)
{
    struct results *results = user;
    struct err err = {0};
    int64_t have = 0;

    if (answer && (answer_is(answer, "name") || answer_is(answer, "invalid"))) { /* of this file nothing can come */
        LOG(&results->providerd->daemon.log, LEVEL_WARNING, "outputs.refused", log_word("claim", results->claim),
            log_text("file", results->leaving.files[results->at].name));
        results->asking = false;
        file_close(results);
        results->at++;
        results_next(results);
        return;
    }
    if (!results_answered(results, answer))
        return;
    if (answer_is(answer, "hash") && ++results->hashes > HASHES_MAX) {
        LOG(&results->providerd->daemon.log, LEVEL_ERROR, "outputs.hash", log_word("claim", results->claim),
            log_text("file", results->leaving.files[results->at].name));
        file_miss(results, "what came was not what was sent, again and again");
        have = results->size;
    } else if (!answer_is(answer, "hash")) {
        ad_integer(answer, "Have", &have);
    }
    if (have >= results->size) {
        if (results->passing)
            task_brought(results->providerd, results->claim, results->number, results->size);
        file_close(results);
        results->hashes = 0;
        results->at++;
    } else if (!file_seek(results, have < 0 ? 0 : have)) {
        err_set(&err, "%s cannot be read: %s", results->leaving.files[results->at].name,
                errno ? strerror(errno) : "it has become shorter");
        results_wait(results, &err);
        return;
    }
    results_next(results);
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
static enum outcome store_ask(struct results *results, struct err *err)
{
    const struct leaving_file *file = &results->leaving.files[results->at];
    static unsigned char bytes[PIECE_BYTES];
    struct hashing hash = results->hash;
    ssize_t n = pread(results->fd, bytes, sizeof bytes, results->hash.upto);
    char digits[HASH_DIGITS + 1];
    struct maker maker;

    if (n < 0 || (!n && results->hash.upto < results->size)) {
        err_set(err, "%s cannot be read: %s", file->name, n < 0 ? strerror(errno) : "it has become shorter");
        return FAILED;
    }
    if (results->hash.upto + n > results->size)
        n = (ssize_t)(results->size - results->hash.upto);
    question_begin(&maker, results->providerd, "store", &results->inquiry);
    maker_text(&maker, "Kind", file->kind);
    maker_text(&maker, "Name", file->name);
    maker_integer(&maker, "Offset", results->hash.upto);
    maker_integer(&maker, "Size", results->size);
    maker_integer(&maker, "Mode", results->executable ? 0755 : 0644);
    if (results->hash.upto + n == results->size) {
        hashing_add(&hash, bytes, (size_t)n);
        hashing_digits(&hash, digits);
        maker_text(&maker, "Hash", digits);
    }
    piece_bytes(&maker, bytes, (size_t)n);
    return piece_ask(results->providerd, results->inquiry.customer, &maker, store_answered, results) ? THERE : ABSENT;
}

static void missing_put(struct maker *maker, const struct results *results, const char *name,
                        const struct missing *missing)
{
    struct tree *ad = missing_ad(results->providerd->daemon.symbols, missing);

    maker_ad(maker, name, ad);
    tree_unref(ad);
}

static bool finish_ask(struct results *results)
{
    static const struct {
        const char *name;
        bool is_time; /* kept in microseconds, told in seconds */
    } used[] = {{"Cpu", true},        {"Memory", false},  {"Disk", false}, {"Wall", true},     {"Transfers", false},
                {"MayMemory", false}, {"MayDisk", false}, {"Read", false}, {"Written", false}, {"Status", false}};
    static const char *const rates[] = {"MayCpus", "Benchmark"};
    struct tree *samples = samples_part(results->row, "Samples");
    struct maker maker;
    const char *words;
    double rate;
    size_t len;
    int64_t n;

    question_begin(&maker, results->providerd, "finish", &results->inquiry);
    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (ad_integer(results->row, used[i].name, &n))
            (used[i].is_time ? maker_seconds : maker_integer)(&maker, used[i].name, n);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (ad_number(results->row, rates[i], &rate))
            maker_real(&maker, rates[i], rate);
    if (ad_string(results->row, "Words", &words, &len) && len)
        maker_bytes(&maker, "Words", words, len);
    maker_ad(&maker, "Samples", samples);
    tree_unref(samples);
    missing_put(&maker, results, "Missing", &results->leaving.missing);
    missing_put(&maker, results, "NotMade", &results->leaving.unmade);
    return piece_ask(results->providerd, results->inquiry.customer, &maker, finish_answered, results);
}

/* --------------------------------------------------------------------------------------------------------------- to a URL */

/* The file at hand is there, or cannot come: `why`. */
static void put_end(struct results *results, const char *why)
{
    if (why)
        file_miss(results, why);
    file_close(results);
    results->puts = 0;
    results->at++;
    results_next(results);
}

static void put_over(void *user, const struct transfer_result *result)
{
    struct results *results = user;

    results->run = NULL;
    if (results->gone) {
        results_free(results);
        return;
    }
    results->asking = false;
    if (result->end == TRANSFER_AGAIN && ++results->puts < PUTS_MAX) {
        results_pause(results);
        return;
    }
    put_end(results, result->end == TRANSFER_DONE ? NULL : result->words);
}

static void client_over(void *user, const char *why, int64_t size)
{
    struct results *results = user;

    (void)size;
    results->asking = false;
    put_end(results, why);
}

/* By the program that the owner names for such URLs. */
static void client_begin(struct results *results, const char *url)
{
    struct providerd *providerd = results->providerd;
    struct url_client_order order = {.way = URL_CLIENT_PUT, .url = url, .bytes = results->size, .from = results->fd};
    char part[DAEMON_PATH_MAX];
    struct err err = {0};

    snprintf(part, sizeof part, "%.3900s/cache/put-%016llx.%llu.%u", providerd->daemon.folder,
             (unsigned long long)results->claim, (unsigned long long)results->number, results->at);
    order.part = part;
    if (!url_client_start(providerd, &order, client_over, results, &err))
        client_over(results, err.text, 0);
}

/* Brings the file at hand to the URL that the job names for it, without any right of ours. False: it has none. */
static bool put_begin(struct results *results)
{
    const struct leaving_file *file = &results->leaving.files[results->at];
    struct transfer_order order = {.way = TRANSFER_PUT, .size = results->size};
    char path[DAEMON_PATH_MAX + 300], url[JOB_URL_MAX + 1];
    struct job_url one;

    if (strcmp(file->kind, "output") != 0 || file->from || strchr(file->name, '/') ||
        !job_urls_of(results->row, file->name, strlen(file->name), &one))
        return false;
    snprintf(url, sizeof url, "%.*s", (int)one.url_len, one.url);
    if (!job_url_is_web(&one)) {
        client_begin(results, url);
        return true;
    }
    providerd_folder(results->providerd, path, DAEMON_PATH_MAX, results->claim, results->number);
    snprintf(path + strlen(path), 280, "/%.255s", file->name); /* at the top: no link of the job's is followed */
    order.url = url;
    order.path = path;
    results->run =
        transfer_start(&results->providerd->daemon.loop, results->providerd->url_rules, &order, put_over, results);
    return true;
}

static void results_next(struct results *results)
{
    struct err err = {0};
    enum outcome found = file_find(results, &err), asked;

    if (found == FAILED) {
        results_wait(results, &err);
        return;
    }
    if (results->passing && found == ABSENT) {
        results_drop(results);
        results_free(results);
        return;
    }
    results->asking = true;
    if (found == THERE && put_begin(results))
        return;
    asked = found == THERE ? store_ask(results, &err) : finish_ask(results) ? THERE : ABSENT;
    if (asked == THERE)
        return;
    results->asking = false;
    if (asked == FAILED)
        results_wait(results, &err);
    else
        results_pause(results);
}

/* --------------------------------------------------------------------------------------------------------- a job's end */

static struct results *results_new(struct providerd *providerd, uint64_t claim, uint64_t number,
                                   const struct inquiry *inquiry, struct tree *row)
{
    struct results *results = mem_alloc(sizeof *results);

    *results = (struct results){.before = providerd->results_last,
                                .providerd = providerd,
                                .claim = claim,
                                .number = number,
                                .inquiry = *inquiry,
                                .row = tree_ref(row),
                                .fd = -1,
                                .until = runner_now() + OUTGOING_LIFE};
    leaving_init(&results->leaving);
    *(providerd->results_last ? &providerd->results_last->next : &providerd->results) = results;
    providerd->results_last = results;
    providerd->results_due = 0;
    return results;
}

/* How much there is to send. The files are listed now, and no more change: the claim's use is told with the job's end, and cannot wait until they are sent. */
static int64_t results_bytes(struct results *results)
{
    struct err err = {0};
    int64_t bytes = 0;
    int folder;

    if (files_list(results, &err) != THERE)
        return 0;
    folder = folder_open(results);
    if (folder < 0)
        return 0;
    bytes = leaving_bytes(&results->leaving, folder);
    close(folder);
    return bytes;
}

int64_t results_add(struct providerd *providerd, struct task *task, const struct executor_news *news)
{
    struct shelf *shelf = providerd->daemon.shelf;
    struct results *results;
    unsigned char key[KEY_SIZE];
    struct err err = {0};
    struct tree *row;
    int64_t bytes;
    struct buf text;

    row = results_row(task, news);
    buf_init(&text);
    wire_print(&text, row);
    key_make(key, task->claim, task->number);
    if (shelf->kind->put(shelf, OUTGOING_SPACE, key, sizeof key, text.text, text.len, &err) < 0)
        LOG(&providerd->daemon.log, LEVEL_ERROR, "outgoing", log_text("why", err.text));
    buf_done(&text);
    results = results_new(providerd, task->claim, task->number, &task->inquiry, row);
    tree_unref(row);
    bytes = results_bytes(results);
    task->unmade = results->leaving.unmade.count != 0;
    return bytes;
}

void results_checkpoint(struct providerd *providerd, const struct task *task)
{
    const struct results *last = providerd->results;
    struct tree *row;

    while (last && !(last->passing && last->claim == task->claim && last->number == task->number))
        last = last->next;
    if (last)
        return; /* the one before is still on its way: the customer may be away for long */
    row = results_passing(task);
    results_new(providerd, task->claim, task->number, &task->inquiry, row)->passing = true;
    tree_unref(row);
}

bool results_has(const struct providerd *providerd, uint64_t claim, uint64_t number)
{
    const struct results *results = providerd->results;

    while (results && (results->passing || results->claim != claim || results->number != number))
        results = results->next;
    return results != NULL;
}

void results_tick(struct providerd *providerd)
{
    int64_t now = runner_now(), due = INT64_MAX;
    struct results *results, *next;
    uint32_t busy = 0;

    if (providerd->results_due > now)
        return;
    for (results = providerd->results; results && busy < AT_ONCE; results = next) {
        next = results->next;
        if (results->asking) {
            busy++;
        } else if (results->due > now) {
            due = results->due < due ? results->due : due;
        } else if (now > results->until) {
            LOG(&providerd->daemon.log, LEVEL_WARNING, "outputs.dropped", log_word("claim", results->claim));
            results_drop(results);
            results_free(results);
        } else {
            due = 0; /* it may be over at once */
            results_next(results);
            busy++;
        }
    }
    providerd->results_due = results || busy ? 0 : due;
}

uint32_t results_count(const struct providerd *providerd)
{
    uint32_t count = 0;

    for (const struct results *results = providerd->results; results; results = results->next)
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

    for (struct results *results = providerd->results; results; results = next) {
        next = results->next;
        if (results
                ->run) { /* (clients of the owner's have ended before, url_clients_done) it is freed when that has ended */
            results->gone = true;
            transfer_cancel(results->run);
        } else {
            results_free(results);
        }
    }
    providerd->results = providerd->results_last = NULL;
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
    if (task->inquiry.member) {
        snprintf(path, sizeof path, "%s.%u", name, (unsigned)task->inquiry.member);
        name = path;
    }
    maker_text(&maker, "Name", name);
    maker_integer(&maker, "Offset", from);
    maker_integer(&maker, "Size", -1);
    piece_bytes(&maker, bytes, (size_t)n);
    return piece_ask(providerd, task->inquiry.customer, &maker, done, user);
}
