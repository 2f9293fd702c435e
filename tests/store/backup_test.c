/* backup_test.c: copies of a store while rows are written, copies put in its place, and what is saved of a damaged one. */
#include "common/folder.h"
#include "common/tap.h"

#include "store/store_parts.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS 400

struct bench {
    struct folder folder;
    char path[PATH_MAX], copy[PATH_MAX];
    struct store_copied copied;
    struct buf lost;
    struct err err;
};

static void bench_init(struct bench *bench)
{
    folder_init(&bench->folder);
    snprintf(bench->path, sizeof bench->path, "%s", folder_path(&bench->folder, "berth.db"));
    snprintf(bench->copy, sizeof bench->copy, "%s", folder_path(&bench->folder, "copy.db"));
    buf_init(&bench->lost);
    bench->err = (struct err){0};
}

static void bench_done(struct bench *bench)
{
    buf_done(&bench->lost);
    folder_done(&bench->folder);
}

static struct shelf *shelf_open(struct bench *bench)
{
    struct shelf *shelf = store_open_as(bench->path, &(struct store_terms){.traces = "jobs"}, &bench->err);

    if (!shelf)
        tap_diag("%s", bench->err.text);
    return shelf;
}

static int rows_put(struct shelf *shelf, int from, int to)
{
    char key[16], value[200];
    struct err err;

    memset(value, 'v', sizeof value);
    for (int i = from; i < to; i++) {
        snprintf(key, sizeof key, "%06d", i);
        if (shelf->kind->put(shelf, "jobs", key, strlen(key), value, sizeof value, &err) < 0)
            return -1;
    }
    return shelf->kind->commit(shelf, &err);
}

static bool row_count(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key, (void)key_len, (void)value, (void)len;
    (*(int *)user)++;
    return true;
}

static int rows_in(struct bench *bench, const char *space)
{
    struct shelf *shelf = shelf_open(bench);
    int count = 0;

    if (!shelf || shelf->kind->each(shelf, space, row_count, &count, &bench->err) < 0)
        count = -1;
    if (shelf)
        shelf->kind->close(shelf);
    return count;
}

static void shelf_fill(struct bench *bench)
{
    struct shelf *shelf = shelf_open(bench);

    rows_put(shelf, 0, ROWS);
    shelf->kind->close(shelf);
}

/* Another process writes pairs of rows in one commit each, while copies are made: each copy has both or neither. */
static void writer(struct bench *bench, int up)
{
    struct shelf *shelf = shelf_open(bench);

    for (int i = 0; shelf; i += 2) {
        if (rows_put(shelf, i, i + 2) < 0)
            break;
        if (i == 0 && write(up, "u", 1) != 1)
            break;
    }
    _exit(1);
}

static void while_in_use(void)
{
    struct bench bench;
    int up[2], even = 0, grows = 0, before = 0;
    char byte;
    pid_t child;

    bench_init(&bench);
    if (pipe(up) < 0 || (child = fork()) < 0)
        exit(1);
    if (child == 0)
        writer(&bench, up[1]);
    close(up[1]);
    tap_ok(read(up[0], &byte, 1) == 1, "a process has a store open, and writes");
    for (int i = 0; i < 10; i++) {
        unlink(bench.copy);
        if (store_backup(bench.path, bench.copy, &bench.copied, &bench.err) < 0) {
            tap_diag("%s", bench.err.text);
            break;
        }
        even += bench.copied.rows % 2 == 0;
        grows += (int)bench.copied.rows > before;
        before = (int)bench.copied.rows;
    }
    tap_ok(even == 10, "each copy has whole commits");
    tap_ok(grows > 1, "which go on meanwhile");
    tap_ok(store_restore(bench.copy, bench.path, false, &bench.copied, &bench.err) < 0 &&
               strstr(bench.err.text, "in use by process"),
           "a store that is in use is not replaced");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(up[0]);
    tap_ok(store_backup(bench.path, bench.copy, &bench.copied, &bench.err) < 0 &&
               strstr(bench.err.text, "is there already"),
           "an older backup is not overwritten");
    unlink(bench.copy);
    tap_ok(store_backup(bench.path, bench.copy, &bench.copied, &bench.err) == 0 && (int)bench.copied.rows >= before,
           "of a store whose process was killed the log is copied as well");
    bench_done(&bench);
}

/* While a copy is made, another file gets its name. */
static void come_meanwhile(struct bench *bench)
{
    char place[PATH_MAX + 16], text[8] = "";
    struct copy copy;
    FILE *other;

    snprintf(place, sizeof place, "%s.meanwhile", bench->copy);
    if (copy_begin(&copy, place, &bench->err) < 0 || copy_close(&copy, &bench->err) < 0)
        exit(1);
    other = fopen(place, "w");
    if (!other || fputs("other", other) < 0 || fclose(other) != 0)
        exit(1);
    tap_ok(copy_rename(&copy, true, &bench->err) < 0 && strstr(bench->err.text, "is there already"),
           "a backup does not replace a file that has come while it was made");
    copy_done(&copy);
    other = fopen(place, "r");
    if (!other || !fgets(text, sizeof text, other) || fclose(other) != 0)
        exit(1);
    tap_ok(!strcmp(text, "other"), "which is as it was");
    unlink(place);
}

/* Root puts a copy into another user's folder. */
static void given(void)
{
    struct bench bench;
    struct stat status, lock;
    char path[sizeof bench.path + 8];

    if (geteuid() != 0) {
        tap_ok(true, "a copy that root puts back is its folder's owner's # SKIP not root");
        return;
    }
    bench_init(&bench);
    shelf_fill(&bench);
    if (store_backup(bench.path, bench.copy, &bench.copied, &bench.err) < 0 ||
        chown(folder_path(&bench.folder, "."), 65534, 65534) < 0)
        exit(1);
    snprintf(path, sizeof path, "%s.lock", bench.path);
    tap_ok(store_restore(bench.copy, bench.path, false, &bench.copied, &bench.err) == 0 &&
               stat(bench.path, &status) == 0 && status.st_uid == 65534 && status.st_gid == 65534 &&
               stat(path, &lock) == 0 && lock.st_uid == 65534,
           "a copy that root puts back is its folder's owner's");
    bench_done(&bench);
}

static void restored(void)
{
    struct bench bench;
    struct stat status;

    bench_init(&bench);
    shelf_fill(&bench);
    tap_ok(store_backup(bench.path, bench.copy, &bench.copied, &bench.err) == 0 && bench.copied.rows == ROWS,
           "a store that nobody has open is copied");
    tap_ok(stat(bench.copy, &status) == 0 && (status.st_mode & 0777) == 0600, "the copy is for its owner's eyes only");
    tap_ok(rows_in(&bench, "restored") == 0, "the store itself is an ordinary one");
    shelf_fill(&bench);
    come_meanwhile(&bench);
    unlink(bench.path);
    tap_ok(store_restore(bench.copy, bench.path, false, &bench.copied, &bench.err) == 0 && !*bench.copied.aside,
           "a copy is put in the place of a store that is gone");
    tap_ok(rows_in(&bench, "jobs") == ROWS && rows_in(&bench, "restored") == 1, "and opens, and knows that it is one");
    tap_ok(store_restore(bench.copy, bench.path, true, &bench.copied, &bench.err) == 0 &&
               access(bench.copied.aside, F_OK) == 0,
           "what was there before is kept");
    tap_ok(store_restore(bench.path, bench.path, false, &bench.copied, &bench.err) < 0 &&
               strstr(bench.err.text, "the store itself"),
           "a store is not put in its own place");
    bench_done(&bench);
}

/* Writes over the file from there on. */
static void spoil(const char *path, off_t at, size_t len)
{
    char junk[4096];
    int fd = open(path, O_RDWR);

    memset(junk, 'x', sizeof junk);
    if (fd < 0 || pwrite(fd, junk, len, at) != (ssize_t)len)
        exit(1);
    close(fd);
}

static void repaired(void)
{
    struct bench bench;
    struct stat status;
    int left;

    bench_init(&bench);
    shelf_fill(&bench);
    tap_ok(store_repair(bench.path, &bench.copied, &bench.lost, &bench.err) == 0, "a whole store is left as it is");
    if (stat(bench.path, &status) < 0)
        exit(1);
    spoil(bench.path, status.st_size / 2 / 4096 * 4096, 4096);
    tap_ok(store_backup(bench.path, bench.copy, &bench.copied, &bench.err) < 0 && access(bench.copy, F_OK) < 0 &&
               strstr(bench.err.text, "is damaged"),
           "of a damaged store no backup is made");
    tap_ok(store_repair(bench.path, &bench.copied, &bench.lost, &bench.err) == 1, "it is repaired");
    left = rows_in(&bench, "jobs");
    tap_ok(left == (int)bench.copied.rows && left > ROWS * 3 / 4 && left < ROWS, "all but a page of its rows is there");
    tap_ok(bench.copied.lost > 0 && bench.lost.len > 0, "what is not is told");
    if (left <= ROWS * 3 / 4 || left >= ROWS)
        tap_diag("%d rows are left; %s%s", left, buf_string(&bench.lost), bench.err.text);
    tap_ok(access(bench.copied.aside, F_OK) == 0, "the damaged file is kept");
    tap_ok(rows_in(&bench, "restored") == 1, "and the store knows that something may be missing");
    spoil(bench.path, 0, 100);
    tap_ok(store_repair(bench.path, &bench.copied, &bench.lost, &bench.err) < 0 && access(bench.path, F_OK) == 0,
           "one of which nothing can be read is left as it is, and that is told");
    bench_done(&bench);
}

int main(void)
{
    while_in_use();
    restored();
    given();
    repaired();
    return tap_done();
}
