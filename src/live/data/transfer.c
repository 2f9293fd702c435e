/* transfer.c: whole files, from and to where URLs say: the threads, and the steps of one file. */
#include "live/data/transfer_parts.h"

#include "lang/base/mem.h"
#include "live/data/file_data.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

struct transfer_run {
    uv_work_t work;
    struct carriage carriage;
    struct transfer_rules *rules;
    transfer_done_fn *done;
    void *user;
};

static const char *const end_words[] = {[TRANSFER_DONE] = "done",
                                        [TRANSFER_AGAIN] = "failed",
                                        [TRANSFER_REFUSED] = "refused",
                                        [TRANSFER_DAMAGED] = "damaged",
                                        [TRANSFER_CANCELLED] = "cancelled"};

const char *transfer_end_word(enum transfer_end end)
{
    return end_words[end];
}

bool carriage_ends(struct carriage *carriage, enum transfer_end end, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(carriage->result.words, sizeof carriage->result.words, format, args);
    va_end(args);
    carriage->result.end = atomic_load(&carriage->cancelled) ? TRANSFER_CANCELLED : end;
    return false;
}

void transfer_temporary(const char *url, char *ret, size_t size)
{
    char digits[HASH_DIGITS + 1];

    hash_bytes(url, strlen(url), digits);
    snprintf(ret, size, TRANSFER_TEMPORARY "%.16s", digits);
}

static bool is_local(const struct carriage *carriage)
{
    return !strncmp(carriage->url, "file://", 7);
}

/* ---------------------------------------------------------------------------------------------------------------- put */

/* Opens the file that is to go. Its size has to be the one that is known. */
static bool put_open(struct carriage *carriage)
{
    struct stat info;

    carriage->fd = open(carriage->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (carriage->fd < 0 || fstat(carriage->fd, &info) < 0 || !S_ISREG(info.st_mode))
        return carriage_ends(carriage, TRANSFER_DAMAGED, "the file cannot be read: %s", strerror(errno));
    if (carriage->size >= 0 && info.st_size != carriage->size)
        return carriage_ends(carriage, TRANSFER_DAMAGED, "the file has %lld bytes, not %lld", (long long)info.st_size,
                             (long long)carriage->size);
    carriage->size = info.st_size;
    return true;
}

/* Computes the hash as catalogues have it. */
static bool entry_hash(struct carriage *carriage)
{
    struct err err = {0};
    int64_t size;

    if (lseek(carriage->fd, 0, SEEK_SET) < 0 ||
        file_data_read(carriage->fd, -1, &size, carriage->result.entry, &err) < 0 || size != carriage->size)
        return carriage_ends(carriage, TRANSFER_DAMAGED, "the file cannot be read");
    return true;
}

static bool look(struct carriage *carriage)
{
    struct err err = {0};
    uint64_t size;

    if (!put_open(carriage))
        return false;
    if (hash_file(carriage->fd, carriage->result.hash, &size, &err) < 0)
        return carriage_ends(carriage, TRANSFER_DAMAGED, "the file cannot be read: %.200s", err.text);
    return entry_hash(carriage);
}

/* Checks that what went is what was to go. */
static bool put_check(struct carriage *carriage)
{
    char digits[HASH_DIGITS + 1];

    hashing_digits(&carriage->hash, digits);
    if (carriage->hash.upto != carriage->size || (*carriage->expected && strcmp(carriage->expected, digits) != 0))
        return carriage_ends(carriage, TRANSFER_DAMAGED, "the file has changed on the way");
    memcpy(carriage->result.hash, digits, sizeof digits);
    return entry_hash(carriage) && (is_local(carriage) || curl_put_verify(carriage));
}

static bool put(struct carriage *carriage)
{
    hashing_begin(&carriage->hash);
    return put_open(carriage) && (is_local(carriage) ? local_put(carriage) : curl_put(carriage)) && put_check(carriage);
}

/* ---------------------------------------------------------------------------------------------------------------- ask */

bool ask_absent(struct carriage *carriage, const char *who)
{
    carriage->result.absent = true;
    return carriage_ends(carriage, TRANSFER_DAMAGED, "%.100s does not have it", who);
}

bool ask_check(struct carriage *carriage, int64_t size)
{
    if (size >= 0 && carriage->size >= 0 && size != carriage->size)
        return carriage_ends(carriage, TRANSFER_DAMAGED, "it has %lld bytes, not %lld", (long long)size,
                             (long long)carriage->size);
    if (*carriage->said && *carriage->wanted && strcmp(carriage->said, carriage->wanted) != 0)
        return carriage_ends(carriage, TRANSFER_DAMAGED, "it has other contents: the hash is %s", carriage->said);
    memcpy(carriage->result.entry, carriage->said, sizeof carriage->said);
    return true;
}

static bool ask(struct carriage *carriage)
{
    return is_local(carriage) ? local_ask(carriage) : curl_ask(carriage);
}

/* ---------------------------------------------------------------------------------------------------------------- get */

/* Opens PATH.part, and tells how much of it is there. */
static bool get_open(struct carriage *carriage, const char *part, int64_t *ret_from)
{
    struct stat info;

    carriage->fd = open(part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (carriage->fd < 0 || fstat(carriage->fd, &info) < 0 || !S_ISREG(info.st_mode))
        return carriage_ends(carriage, TRANSFER_AGAIN, "%.200s: %s", part, strerror(errno));
    *ret_from = *carriage->expected && info.st_size < carriage->size ? info.st_size : 0;
    return true;
}

static bool get_check(struct carriage *carriage, const char *part)
{
    struct transfer_result *result = &carriage->result;
    struct err err = {0};
    uint64_t size;

    if (fsync(carriage->fd) < 0 || hash_file(carriage->fd, result->hash, &size, &err) < 0)
        return carriage_ends(carriage, TRANSFER_AGAIN, "%.200s: %s", part, strerror(errno));
    if ((carriage->size >= 0 && size != (uint64_t)carriage->size) ||
        (*carriage->expected && strcmp(carriage->expected, result->hash) != 0))
        return carriage_ends(carriage, TRANSFER_DAMAGED, "what came is another file"); /* what it is tells a stranger */
    carriage->size = (int64_t)size;
    return true;
}

static bool get_place(struct carriage *carriage, const char *part)
{
    char folder[TRANSFER_PATH_MAX + 8];
    int fd, failed;

    if (rename(part, carriage->path) < 0)
        return carriage_ends(carriage, TRANSFER_AGAIN, "%.200s: %s", carriage->path, strerror(errno));
    snprintf(folder, sizeof folder, "%s", carriage->path);
    fd = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    failed = fd < 0 ? -1 : fsync(fd);
    if (fd >= 0)
        close(fd);
    return failed ? carriage_ends(carriage, TRANSFER_AGAIN, "%.200s: %s", carriage->path, strerror(errno)) : true;
}

/* Gets the bytes. What came before counts, unless the other side cannot go on there. */
static bool get_bytes(struct carriage *carriage, int64_t from)
{
    bool anew = false;

    if (is_local(carriage))
        return ftruncate(carriage->fd, 0) == 0 && local_get(carriage);
    if (from && lseek(carriage->fd, from, SEEK_SET) == from && curl_get(carriage, from, &anew))
        return true;
    if (from && !anew)
        return false;
    atomic_store(&carriage->moved, 0);
    if (ftruncate(carriage->fd, 0) < 0 || lseek(carriage->fd, 0, SEEK_SET) < 0)
        return carriage_ends(carriage, TRANSFER_AGAIN, "%.200s: %s", carriage->path, strerror(errno));
    return curl_get(carriage, 0, &anew);
}

static bool get(struct carriage *carriage)
{
    char part[TRANSFER_PATH_MAX + 8];
    int64_t from = 0;

    snprintf(part, sizeof part, "%s.part", carriage->path);
    if (carriage->size > carriage->bytes_max)
        return carriage_ends(carriage, TRANSFER_REFUSED, "the file has %lld bytes, and up to %lld are taken",
                             (long long)carriage->size, (long long)carriage->bytes_max);
    if (get_open(carriage, part, &from) && get_bytes(carriage, from) && get_check(carriage, part) &&
        get_place(carriage, part))
        return true;
    if (carriage->result.end == TRANSFER_REFUSED || carriage->result.end == TRANSFER_DAMAGED)
        unlink(part); /* it is of no use to the next one */
    return false;
}

/* --------------------------------------------------------------------------------------------------------------- runs */

static void carriage_init(struct carriage *carriage, const struct transfer_rules *rules,
                          const struct transfer_order *order)
{
    *carriage = (struct carriage){
        .rules = rules,
        .way = order->way,
        .url = order->url ? mem_dup(order->url, strlen(order->url)) : NULL,
        .path = mem_dup(order->path, strlen(order->path)),
        .size = order->size,
        .bytes_max = order->bytes_max && order->bytes_max < rules->bytes_max ? order->bytes_max : rules->bytes_max,
        .fd = -1};
    if (order->entry)
        snprintf(carriage->wanted, sizeof carriage->wanted, "%s", order->entry);
    if (order->hash)
        snprintf(carriage->expected, sizeof carriage->expected, "%s", order->hash);
}

static void carriage_run(struct carriage *carriage)
{
    static bool (*const ways[])(struct carriage * carriage) = {
        [TRANSFER_GET] = get, [TRANSFER_PUT] = put, [TRANSFER_LOOK] = look, [TRANSFER_ASK] = ask};
    bool good = strlen(carriage->path) < TRANSFER_PATH_MAX && ways[carriage->way](carriage);

    if (good) {
        carriage->result.end = TRANSFER_DONE;
        carriage->result.size = carriage->size;
        carriage->result.words[0] = '\0';
    } else if (!carriage->result.words[0]) {
        carriage_ends(carriage, TRANSFER_AGAIN, "%s", strerror(errno));
    }
    if (carriage->fd >= 0)
        close(carriage->fd);
    carriage->fd = -1;
}

static void carriage_done(struct carriage *carriage)
{
    free(carriage->url);
    free(carriage->path);
}

static void run_work(uv_work_t *work)
{
    carriage_run(&((struct transfer_run *)work->data)->carriage);
}

static void run_over(uv_work_t *work, int status)
{
    struct transfer_run *run = work->data;

    if (status < 0) { /* it never began */
        run->carriage.result.end = TRANSFER_CANCELLED;
        snprintf(run->carriage.result.words, sizeof run->carriage.result.words, "cancelled");
    }
    run->done(run->user, &run->carriage.result);
    carriage_done(&run->carriage);
    transfer_rules_unref(run->rules);
    free(run);
}

struct transfer_run *transfer_start(struct uv_loop_s *loop, struct transfer_rules *rules,
                                    const struct transfer_order *order, transfer_done_fn *done, void *user)
{
    struct transfer_run *run = mem_alloc(sizeof *run);

    *run = (struct transfer_run){.rules = transfer_rules_ref(rules), .done = done, .user = user};
    carriage_init(&run->carriage, rules, order);
    run->work.data = run;
    if (uv_queue_work(loop, &run->work, run_work, run_over) < 0)
        abort(); /* only without a work callback */
    return run;
}

void transfer_cancel(struct transfer_run *run)
{
    atomic_store(&run->carriage.cancelled, true);
    uv_cancel((uv_req_t *)&run->work); /* one that has not begun */
}

int64_t transfer_moved(const struct transfer_run *run)
{
    return atomic_load(&run->carriage.moved);
}

void transfer_now(struct transfer_rules *rules, const struct transfer_order *order, struct transfer_result *ret)
{
    struct carriage carriage;

    carriage_init(&carriage, rules, order);
    carriage_run(&carriage);
    *ret = carriage.result;
    carriage_done(&carriage);
}
