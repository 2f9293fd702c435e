/* record.c: what is kept of a claim in a folder of ours, and what agent and launcher say to each other about it. */
#define _GNU_SOURCE
#include "exec/record.h"

#include "exec/account.h"
#include "exec/secret_files.h"
#include "lang/base/rng.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

int64_t record_now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_BOOTTIME, &at);
    return (int64_t)at.tv_sec * 1000000 + at.tv_nsec / 1000;
}

/* --------------------------------------------------------------------------------------------------------------- files */

/* What a file begins with. It is written where the last one was: a file that is made and deleted for each job costs more than the job.
 * One that was cut short does not have its sum. */
struct seal {
    uint32_t magic, size; /* bytes behind it; what follows them is of a longer one */
    uint64_t sum;
};

static uint64_t sum_of(const char *bytes, size_t len)
{
    uint64_t sum = len, word;

    for (; len >= sizeof word; bytes += sizeof word, len -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        sum = rng_mix(sum ^ word);
    }
    word = 0;
    memcpy(&word, bytes, len);
    return rng_mix(sum ^ word);
}

/* Writes a file in its place; `durable`: it is there also after a power cut. */
int record_write(int folder, const char *name, const void *bytes, size_t len, bool durable, struct err *err)
{
    struct seal seal = {RECORD_MAGIC, (uint32_t)len, sum_of(bytes, len)};
    struct iovec parts[] = {{&seal, sizeof seal}, {(void *)(uintptr_t)bytes, len}};
    int fd = openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW), saved;
    bool made = fd < 0 && errno == ENOENT, good;

    if (made)
        fd = openat(folder, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return err_set(err, "'%s' cannot be written: %s", name, strerror(errno));
    good = writev(fd, parts, 2) == (ssize_t)(sizeof seal + len) &&
           (!durable || (fdatasync(fd) == 0 && (!made || fsync(folder) == 0)));
    saved = errno;
    close(fd);
    return good ? 0 : err_set(err, "'%s' cannot be written: %s", name, strerror(saved));
}

/* Reads a file, with a NUL behind it; NULL: it is not there, or not whole. */
char *record_read(int folder, const char *name, size_t *ret_len)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct seal seal;
    char *bytes = NULL;

    if (fd < 0)
        return NULL;
    if (read(fd, &seal, sizeof seal) == (ssize_t)sizeof seal && seal.magic == RECORD_MAGIC &&
        seal.size <= ORDER_BYTES_MAX) {
        bytes = mem_alloc((size_t)seal.size + 1);
        bytes[seal.size] = '\0';
        if (read(fd, bytes, seal.size) != (ssize_t)seal.size || sum_of(bytes, seal.size) != seal.sum) {
            free(bytes);
            bytes = NULL;
        }
    }
    close(fd);
    if (bytes)
        *ret_len = seal.size;
    return bytes;
}

/* -------------------------------------------------------------------------------------------------------------- orders */

/* The file: this, then the texts one after another, each with its NUL. */
struct order_head {
    uint32_t size;                          /* of all of it */
    uint32_t texts, arguments, environment; /* how many */
    uint32_t has_input, has_output, has_error;
    /* The order up to its view, as older programs have it; its pointers mean nothing. */
    _Alignas(struct executor_order) char is[offsetof(struct executor_order, view)];
    struct holding how;
};

static size_t count_words(const char *const *words)
{
    size_t count = 0;

    while (words && words[count])
        count++;
    return count;
}

static void add_text(struct buf *out, const char *text)
{
    buf_add(out, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* Makes an order of a block, which is taken. The block begins with its head, so that copies, files and orders are one thing. */
static struct order *order_take(char *block, size_t len)
{
    struct order_head *head = (struct order_head *)(void *)block;
    char *at = block + sizeof *head, *end = block + len;
    struct order *order = mem_alloc(sizeof *order);
    const char **words = mem_alloc((head->texts + 4) * sizeof *words);
    uint32_t found = 0;

    for (; found < head->texts && at < end; at += strlen(at) + 1)
        words[found++] = at;
    memset(order, 0, sizeof *order);
    order->block = block;
    memcpy(&order->is, head->is, sizeof head->is);
    order->how = head->how;
    order->user = head->how.uid;
    order->is.folder = words[0];
    order->is.input = head->has_input ? words[1] : NULL;
    order->is.output = head->has_output ? words[2] : NULL;
    order->is.error = head->has_error ? words[3] : NULL;
    /* room for a NULL behind the arguments and one behind the variables */
    memmove(words + 4 + head->arguments + 1, words + 4 + head->arguments, head->environment * sizeof *words);
    words[4 + head->arguments] = NULL;
    words[4 + head->arguments + 1 + head->environment] = NULL;
    order->is.arguments = words + 4;
    order->is.environment = words + 4 + head->arguments + 1;
    return order;
}

/* Is what was read what order_copy makes? */
static bool order_block_is_good(const char *block, size_t len)
{
    const struct order_head *head = (const struct order_head *)(const void *)block;
    uint32_t texts = 0;

    if (len < sizeof *head || head->size != len || block[len - 1])
        return false;
    for (size_t i = sizeof *head; i < len; i++)
        texts += !block[i];
    return texts == head->texts && head->arguments >= 1 && head->arguments <= ORDER_WORDS_MAX &&
           head->environment <= ORDER_WORDS_MAX && head->texts == 4 + head->arguments + head->environment;
}

struct order *order_copy(const struct executor_order *is, const struct holding *how, struct err *err)
{
    size_t arguments = count_words(is->arguments), environment = count_words(is->environment);
    struct executor_order ordered = *is;
    struct order_head head;
    struct order *order;
    struct buf out;
    size_t len;

    ordered.viewed = is->view != NULL;
    ordered.owned = is->account != NULL;
    if (!arguments || arguments + environment > ORDER_WORDS_MAX) {
        err_set(err, arguments ? "more than %d arguments and variables" : "there is no program", ORDER_WORDS_MAX);
        return NULL;
    }
    memset(&head, 0, sizeof head);
    head = (struct order_head){.texts = (uint32_t)(4 + arguments + environment),
                               .arguments = (uint32_t)arguments,
                               .environment = (uint32_t)environment,
                               .has_input = is->input != NULL,
                               .has_output = is->output != NULL,
                               .has_error = is->error != NULL,
                               .how = *how};
    memcpy(head.is, &ordered, sizeof head.is);
    buf_init(&out);
    buf_add(&out, (const char *)&head, sizeof head);
    add_text(&out, is->folder);
    add_text(&out, is->input);
    add_text(&out, is->output);
    add_text(&out, is->error);
    for (size_t i = 0; i < arguments; i++)
        add_text(&out, is->arguments[i]);
    for (size_t i = 0; i < environment; i++)
        add_text(&out, is->environment[i]);
    len = out.len;
    if (len > ORDER_BYTES_MAX) {
        buf_done(&out);
        err_set(err, "arguments and variables of more than %d bytes", ORDER_BYTES_MAX);
        return NULL;
    }
    ((struct order_head *)(void *)out.text)->size = (uint32_t)len;
    order = order_take(out.text, len); /* it owns the text now */
    if (is->view) {
        order->view = view_new(is->view, is->number);
        order->is.view = view_of(order->view);
    }
    if (is->account)
        order->is.account = order->wish = account_wish_dup(is->account);
    return order;
}

void order_free(struct order *order)
{
    if (!order)
        return;
    secret_files_free(order->secrets);
    view_free(order->view);
    free(order->wish);
    free(order->account);
    free((void *)(uintptr_t)(order->is.arguments - 4));
    free(order->gpus);
    free(order->block);
    free(order);
}

int order_write(int folder, const struct order *order, struct err *err)
{
    const struct order_head *head = (const struct order_head *)(const void *)order->block;

    if (order->view && view_write(folder, order->view, err) < 0)
        return -1;
    if (order->wish && account_wish_write(folder, order->wish, order->is.number, err) < 0)
        return -1;
    return record_write(folder, "order", order->block, head->size, false, err);
}

bool share_write(int folder, const struct cores_share *share)
{
    bool written = share->amount > 0 && record_write(folder, "cores", share, sizeof *share, false, NULL) == 0;

    if (!written)
        unlinkat(folder, "cores", 0);
    return written || share->amount <= 0;
}

int gpus_record(int folder, const struct buf *words, struct err *err)
{
    if (words->len)
        return record_write(folder, "gpus", words->text, words->len, false, err);
    unlinkat(folder, "gpus", 0);
    return 0;
}

/* Reads the claim's processors. A share that does not go with the order counts as none: a wrong share is worse. */
static void share_read(int folder, double amount, struct cores_share *ret)
{
    size_t len = 0;
    char *bytes = record_read(folder, "cores", &len);

    memset(ret, 0, sizeof *ret);
    if (bytes && len == sizeof *ret)
        memcpy(ret, bytes, sizeof *ret);
    free(bytes);
    if (!cores_share_is_good(ret) || ret->amount > amount || ret->amount < amount)
        *ret = (struct cores_share){.part = -1};
}

struct order *order_read(int folder, struct err *err)
{
    size_t len = 0;
    char *block = record_read(folder, "order", &len);
    struct order *order;

    if (!block || !order_block_is_good(block, len)) {
        free(block);
        err_set(err, "there is no order that can be read");
        return NULL;
    }
    order = order_take(block, len);
    share_read(folder, order->is.limits.cores, &order->cores);
    if (order->is.gpus)
        order->gpus = record_read(folder, "gpus", &order->gpus_len);
    if (order->is.owned == 1)
        order->is.account = order->wish = account_wish_read(folder, order->is.number);
    if (!order->is.viewed)
        return order;
    order->view = view_read(folder, order->is.number);
    if (order->view)
        order->is.view = view_of(order->view);
    return order;
}

/* -------------------------------------------------------------------------------------------------- status and process */

int status_write(int folder, const struct executor_news *news, struct err *err)
{
    return record_write(folder, "status", news, sizeof *news, true, err);
}

bool status_read(int folder, struct executor_news *ret)
{
    size_t len = 0;
    char *bytes = record_read(folder, "status", &len);
    bool good = bytes && len == sizeof *ret;

    if (good)
        memcpy(ret, bytes, sizeof *ret);
    free(bytes);
    return good;
}

void job_samples_write(int folder, const struct job_samples *samples)
{
    /* only the points that there are */
    record_write(folder, "samples", samples,
                 offsetof(struct job_samples, samples.points) + samples->samples.count * sizeof(struct job_sample),
                 false, NULL);
}

bool job_samples_read(int folder, uint64_t number, struct job_samples *ret)
{
    size_t len, head = offsetof(struct job_samples, samples.points);
    char *bytes = record_read(folder, "samples", &len);
    bool good = bytes && len >= head && len <= sizeof *ret;

    if (good) {
        memset(ret, 0, sizeof *ret);
        memcpy(ret, bytes, len);
        good = ret->number == number && ret->samples.count <= SAMPLES_MAX &&
               len == head + ret->samples.count * sizeof(struct job_sample);
    }
    free(bytes);
    return good;
}

/* When a process began, in ticks since the machine did; 0: there is none, or only its remains. */
static unsigned long long process_began(int pid)
{
    char path[64], text[1024], state, *at;
    unsigned long long began = 0;
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    at = strrchr(text, ')'); /* its name may have anything in it */
    if (!at ||
        sscanf(at + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu", &state,
               &began) != 2 ||
        state == 'Z' || state == 'X')
        return 0;
    return began;
}

void init_write(int folder, int pid)
{
    char text[64];

    snprintf(text, sizeof text, "%d %llu\n", pid, pid ? process_began(pid) : 0);
    record_write(folder, "init", text, strlen(text), false, NULL);
}

int init_read(int folder)
{
    size_t len = 0;
    char *text = record_read(folder, "init", &len);
    unsigned long long began = 0;
    int pid = 0;

    if (text && (sscanf(text, "%d %llu", &pid, &began) != 2 || pid <= 0 || process_began(pid) != began))
        pid = 0;
    free(text);
    return pid;
}

/* --------------------------------------------------------------------------------------------------------------- talking */

/* Room for one descriptor beside a message. */
union beside {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
};

bool parcel_send_with(int fd, const struct parcel *parcel, int beside)
{
    struct parcel out = *parcel;
    struct iovec part = {&out, sizeof out};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    union beside room;

    out.magic = RECORD_MAGIC;
    if (beside >= 0) {
        memset(&room, 0, sizeof room);
        room.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        room.head.cmsg_len = CMSG_LEN(sizeof beside);
        memcpy(CMSG_DATA(&room.head), &beside, sizeof beside);
        message.msg_control = &room;
        message.msg_controllen = sizeof room;
    }
    return sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof out;
}

bool parcel_send(int fd, const struct parcel *parcel)
{
    return parcel_send_with(fd, parcel, -1);
}

/* The descriptor that came, if it is one; -1. */
static int beside_take(struct msghdr *message)
{
    const struct cmsghdr *head = CMSG_FIRSTHDR(message);
    int beside = -1;

    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof beside))
        memcpy(&beside, CMSG_DATA(head), sizeof beside);
    return beside;
}

int parcel_receive_with(int fd, struct parcel *ret, int *ret_beside)
{
    struct iovec part = {ret, sizeof *ret};
    union beside room;
    struct msghdr message;
    ssize_t got;

    do {
        message =
            (struct msghdr){.msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
        got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    *ret_beside = got < 0 ? -1 : beside_take(&message);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    if (got == (ssize_t)sizeof *ret && ret->magic == RECORD_MAGIC)
        return 1;
    if (*ret_beside >= 0)
        close(*ret_beside);
    *ret_beside = -1;
    return -1;
}

int parcel_receive(int fd, struct parcel *ret)
{
    int beside, got = parcel_receive_with(fd, ret, &beside);

    if (beside >= 0)
        close(beside);
    return got;
}

static void socket_name(int folder, struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(ret->sun_path, sizeof ret->sun_path, "/proc/self/fd/%d/socket", folder);
}

int record_listen(int folder)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un name;

    socket_name(folder, &name);
    unlinkat(folder, "socket", 0);
    if (fd >= 0 && (bind(fd, (struct sockaddr *)&name, sizeof name) < 0 || listen(fd, 4) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

int record_connect(int folder)
{
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un name;

    socket_name(folder, &name);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&name, sizeof name) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}
