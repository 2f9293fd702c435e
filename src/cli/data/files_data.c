/* files_data.c: the bytes of files, for `berth files`: measures them, puts them into a store, fetches them from one. */
#include "cli/data/files_data.h"

#include "lang/base/mem.h"
#include "live/data/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Makes the folders on the way to a file. */
static int folders_make(const char *path, struct err *err)
{
    char *copy = mem_dup(path, strlen(path));
    int failed = 0;

    for (char *slash = strchr(copy + 1, '/'); slash && !failed; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0777) < 0 && errno != EEXIST)
            failed = err_set(err, "%s: %s", copy, strerror(errno));
        *slash = '/';
    }
    free(copy);
    return failed;
}

/* Opens a regular file of this machine for reading. */
static int local_open(const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;

    if (fd < 0)
        return err_set(err, "%s", strerror(errno));
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        return fd;
    close(fd);
    return err_set(err, "it is not a regular file");
}

/* Copies one file of this machine to another. The copy gets its name only when it is whole, and is the file of the entry. */
static int local_copy(const char *from, const char *to, const struct file_entry *entry, struct err *err)
{
    char hash[FILE_HASH_LEN + 1];
    int64_t size;
    struct buf part;
    int in = local_open(from, err), out = -1, failed = in < 0;

    buf_init(&part);
    buf_addf(&part, "%s.%ld.part", to, (long)getpid());
    if (!failed && (out = open(buf_string(&part), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) < 0)
        failed = err_set(err, "%s: %s", buf_string(&part), strerror(errno));
    if (!failed)
        failed = file_data_read(in, out, &size, hash, err) < 0 || file_data_check(size, hash, entry, err) < 0;
    if (!failed && (fsync(out) < 0 || rename(buf_string(&part), to) < 0))
        failed = err_set(err, "%s: %s", to, strerror(errno));
    if (out >= 0)
        close(out);
    if (out >= 0 && failed)
        unlink(buf_string(&part));
    if (in >= 0)
        close(in);
    buf_done(&part);
    return failed ? -1 : 0;
}

/* Transfers a file over the network, as the settings say. The transfer is the user's own: any host may be asked. */
static int far_transfer(const struct config *config, const struct transfer_order *order, struct err *err)
{
    struct transfer_result result;
    struct transfer_rules *rules;
    struct networks all;

    networks_init(&all);
    (void)networks_add(&all, "0.0.0.0/0", NULL);
    (void)networks_add(&all, "::/0", NULL);
    rules = transfer_rules_new(config, &all, err);
    networks_done(&all);
    if (!rules)
        return -1;
    transfer_now(rules, order, &result);
    transfer_rules_unref(rules);
    return result.end == TRANSFER_DONE ? 0 : err_set(err, "%s", result.words);
}

/* Measures a file elsewhere: fetches it, and does not keep it. */
static int far_measure(const struct config *config, const char *url, int64_t *ret_size,
                       char ret_hash[FILE_HASH_LEN + 1], struct err *err)
{
    struct transfer_order order = {.way = TRANSFER_GET, .url = url, .size = -1};
    const char *place = getenv("TMPDIR");
    struct buf path;
    char *folder;
    int fd = -1, failed = 0;

    buf_init(&path);
    buf_addf(&path, "%s/berth-files-XXXXXX", place && *place ? place : "/tmp");
    folder = mem_dup(buf_string(&path), path.len);
    if (!mkdtemp(folder))
        failed = err_set(err, "%s: %s", folder, strerror(errno));
    buf_reset(&path);
    buf_addf(&path, "%s/file", folder);
    order.path = buf_string(&path);
    if (!failed)
        failed = far_transfer(config, &order, err) < 0 || (fd = local_open(order.path, err)) < 0 ||
                 file_data_read(fd, -1, ret_size, ret_hash, err) < 0;
    if (fd >= 0)
        close(fd);
    unlink(order.path);
    buf_adds(&path, ".part");
    unlink(buf_string(&path));
    rmdir(folder);
    free(folder);
    buf_done(&path);
    return failed ? -1 : 0;
}

int data_measure(const struct config *config, const char *what, int64_t *ret_size, char ret_hash[FILE_HASH_LEN + 1],
                 struct err *err)
{
    struct buf path;
    int fd, failed;

    buf_init(&path);
    if (!strstr(what, "://"))
        buf_adds(&path, what);
    else if (!file_url_path(what, &path)) {
        buf_done(&path);
        return far_measure(config, what, ret_size, ret_hash, err);
    }
    fd = local_open(buf_string(&path), err);
    buf_done(&path);
    if (fd < 0)
        return -1;
    failed = file_data_read(fd, -1, ret_size, ret_hash, err);
    close(fd);
    return failed;
}

/* Fetches a file from elsewhere to a place beside its own, and checks it before it moves there. */
static int far_get(const struct config *config, const char *url, const char *path, const struct file_entry *entry,
                   struct err *err)
{
    struct transfer_order order = {.way = TRANSFER_GET, .url = url, .size = entry->size};
    struct buf beside;
    int64_t size;
    char hash[FILE_HASH_LEN + 1];
    int fd = -1, failed;

    buf_init(&beside);
    buf_addf(&beside, "%s.%ld.new", path, (long)getpid());
    order.path = buf_string(&beside);
    failed = far_transfer(config, &order, err) < 0 || (fd = local_open(order.path, err)) < 0 ||
             file_data_read(fd, -1, &size, hash, err) < 0 || file_data_check(size, hash, entry, err) < 0;
    if (!failed && rename(order.path, path) < 0)
        failed = err_set(err, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (failed)
        unlink(order.path);
    buf_done(&beside);
    return failed ? -1 : 0;
}

int data_put(const struct config *config, const char *path, const char *url, const struct file_entry *entry,
             struct err *err)
{
    struct transfer_order order = {.way = TRANSFER_PUT, .url = url, .path = path, .size = entry->size};
    struct buf to;
    int failed;

    buf_init(&to);
    if (file_url_path(url, &to))
        failed = folders_make(buf_string(&to), err) < 0 || local_copy(path, buf_string(&to), entry, err) < 0;
    else
        failed = far_transfer(config, &order, err);
    buf_done(&to);
    return failed ? -1 : 0;
}

int data_get(const struct config *config, const char *url, const char *path, const struct file_entry *entry,
             struct err *err)
{
    struct buf from;
    int failed;

    buf_init(&from);
    if (file_url_path(url, &from))
        failed = local_copy(buf_string(&from), path, entry, err);
    else
        failed = far_get(config, url, path, entry, err);
    buf_done(&from);
    return failed;
}
