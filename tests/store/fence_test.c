/* fence_test.c: a daemon goes on with its own store, whole, or not at all: one that is removed, replaced, cut short or written into under it,
 * one that is missing at the start, and two who want one. */
#include "common/folder.h"
#include "common/tap.h"

#include "store/store.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct store_terms plain = {.traces = "jobs"}, fresh = {.fresh = true, .traces = "jobs"};

struct bench {
    struct folder folder;
    char path[PATH_MAX], other[PATH_MAX];
    struct shelf *shelf;
    struct err err;
};

static void bench_open(struct bench *bench, const struct store_terms *terms)
{
    bench->err = (struct err){0};
    bench->shelf = store_open_as(bench->path, terms, &bench->err);
}

static void bench_init(struct bench *bench)
{
    folder_init(&bench->folder);
    snprintf(bench->path, sizeof bench->path, "%s", folder_path(&bench->folder, "berth.db"));
    bench_open(bench, &plain);
}

static void bench_close(struct bench *bench)
{
    if (bench->shelf)
        bench->shelf->kind->close(bench->shelf);
    bench->shelf = NULL;
}

static void bench_done(struct bench *bench)
{
    bench_close(bench);
    folder_done(&bench->folder);
}

static int row_put(struct bench *bench, const char *key, const char *value)
{
    bench->err = (struct err){0};
    return bench->shelf->kind->put(bench->shelf, "jobs", key, strlen(key), value, strlen(value), &bench->err) < 0
               ? -1
               : bench->shelf->kind->commit(bench->shelf, &bench->err);
}

static bool row_is(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key, (void)key_len, (void)value, (void)len;
    *(bool *)user = true;
    return false;
}

static bool row_there(struct bench *bench, const char *key)
{
    bool there = false;

    bench->shelf->kind->get(bench->shelf, "jobs", key, strlen(key), row_is, &there, &bench->err);
    return there;
}

static const char *beside(struct bench *bench, const char *end)
{
    snprintf(bench->other, sizeof bench->other, "%.4000s%s", bench->path, end);
    return bench->other;
}

/* Many rows in one commit. */
static int rows_put(struct bench *bench, char with)
{
    char key[16], value[1000];

    memset(value, with, sizeof value - 1);
    value[sizeof value - 1] = 0;
    for (int i = 0; i < 300; i++) {
        snprintf(key, sizeof key, "%d", i);
        bench->shelf->kind->put(bench->shelf, "jobs", key, strlen(key), value, strlen(value), &bench->err);
    }
    return bench->shelf->kind->commit(bench->shelf, &bench->err);
}

/* All of them in the file itself. */
static void fill(struct bench *bench)
{
    rows_put(bench, 'v');
    bench_close(bench);
    bench_open(bench, &plain);
}

/* Bytes in the middle of the values that fill() has put are other ones. */
static void flip(struct bench *bench)
{
    int fd = open(bench->path, O_RDWR);
    struct stat status;

    usleep(20000); /* the file's time goes in steps */
    if (fd < 0 || fstat(fd, &status) < 0 || pwrite(fd, "flip", 4, status.st_size / 2) != 4)
        tap_diag("the file cannot be damaged");
    close(fd);
}

static void removed(void)
{
    static const char *const ends[] = {"", "-wal"};
    struct bench bench;

    for (int i = 0; i < 2; i++) {
        bench_init(&bench);
        tap_ok(bench.shelf && row_put(&bench, "1", "one") == 0, "a store takes a row");
        unlink(beside(&bench, ends[i]));
        tap_ok(row_put(&bench, "2", "two") < 0 && strstr(bench.err.text, "was removed"),
               "the next commit after %s was removed under it fails, and says so", i ? "its log" : "it");
        tap_ok(bench.shelf->kind->broken(bench.shelf) && row_put(&bench, "3", "three") < 0,
               "and nothing more is taken");
        bench_done(&bench);
    }
    bench_init(&bench);
    row_put(&bench, "1", "one");
    rename(bench.path, beside(&bench, ".moved"));
    close(open(bench.path, O_RDWR | O_CREAT, 0600));
    tap_ok(row_put(&bench, "2", "two") < 0 && strstr(bench.err.text, "another was put in its place"),
           "so does that after another file was put in its place");
    bench_done(&bench);
}

static void missing(void)
{
    struct bench bench;
    struct stat status;

    bench_init(&bench);
    row_put(&bench, "1", "one");
    bench_close(&bench);
    unlink(bench.path);
    bench_open(&bench, &plain);
    tap_ok(!bench.shelf && strstr(bench.err.text, "is gone") && strstr(bench.err.text, "--new"),
           "where a store was, none is begun: it says what is missing and what to do");
    if (bench.shelf)
        bench_close(&bench);
    tap_ok(stat(bench.path, &status) < 0, "nothing was made");
    bench_open(&bench, &fresh);
    tap_ok(bench.shelf && !row_there(&bench, "1") && row_put(&bench, "1", "one") == 0, "with --new an empty one is");
    bench_close(&bench);
    bench_open(&bench, &fresh);
    tap_ok(!bench.shelf && strstr(bench.err.text, "whole"), "but not where there is one that is whole");
    bench_open(&bench, &plain);
    tap_ok(bench.shelf && row_there(&bench, "1"), "which has not been touched");
    bench_close(&bench);
    truncate(bench.path, 0);
    bench_open(&bench, &plain);
    tap_ok(!bench.shelf && strstr(bench.err.text, "is empty"), "one that was emptied is none that is new");
    bench_open(&bench, &fresh);
    tap_ok(bench.shelf != NULL && stat(beside(&bench, ".old.1"), &status) == 0, "with --new it is put aside");
    bench_done(&bench);

    bench_init(&bench);
    bench_close(&bench);
    unlink(bench.path);
    unlink(beside(&bench, ".lock"));
    mkdir(folder_path(&bench.folder, "jobs"), 0700);
    bench_open(&bench, &plain);
    tap_ok(bench.shelf != NULL, "an empty folder beside it is no trace of one");
    bench_close(&bench);
    unlink(bench.path);
    unlink(beside(&bench, ".lock"));
    close(open(folder_path(&bench.folder, "jobs/1.log"), O_RDWR | O_CREAT, 0600));
    bench_open(&bench, &plain);
    tap_ok(!bench.shelf && strstr(bench.err.text, "the folder jobs"), "logs of jobs are");
    unlink(folder_path(&bench.folder, "jobs/1.log"));
    rmdir(folder_path(&bench.folder, "jobs"));
    bench_done(&bench);
}

static void damaged(void)
{
    struct bench bench;
    struct stat status;

    bench_init(&bench);
    fill(&bench);
    tap_ok(row_put(&bench, "x", "before") == 0, "a store with rows takes another");
    flip(&bench);
    tap_ok(row_put(&bench, "y", "after") < 0 && strstr(bench.err.text, "is damaged"),
           "bytes that are flipped under it are noticed at the next commit");
    bench_close(&bench);
    bench_open(&bench, &plain);
    tap_ok(!bench.shelf && strstr(bench.err.text, "is damaged") && strstr(bench.err.text, "store check"),
           "and at the next start");
    bench_open(&bench, &fresh);
    tap_ok(bench.shelf && !row_there(&bench, "x") && stat(beside(&bench, ".old.1"), &status) == 0,
           "with --new the damaged one is put aside, and an empty one begun");
    bench_done(&bench);

    bench_init(&bench);
    fill(&bench);
    row_put(&bench, "x", "before");
    stat(bench.path, &status);
    truncate(bench.path, status.st_size / 2);
    tap_ok(row_put(&bench, "y", "after") < 0 && strstr(bench.err.text, "cut short"),
           "one that is cut short under it is noticed at the next commit");
    bench_close(&bench);
    bench_open(&bench, &plain);
    tap_ok(!bench.shelf && strstr(bench.err.text, "is damaged"), "and at the next start");
    bench_done(&bench);

    bench_init(&bench);
    fill(&bench);
    utimensat(AT_FDCWD, bench.path, NULL, 0);
    tap_ok(row_put(&bench, "y", "after") == 0 && row_put(&bench, "z", "after") == 0,
           "one that was only touched is looked over, and goes on");
    for (int i = 0; i < 40; i++) /* some copies of the log into the file */
        if (rows_put(&bench, i % 2 ? 'a' : 'b') < 0)
            break;
    tap_ok(!bench.shelf->kind->broken(bench.shelf), "our own changes are none of others: %s", bench.err.text);
    bench_done(&bench);
}

/* A process that ended without closing its store; of its log that many bytes before the end are others. */
static void log_left(struct bench *bench, off_t back)
{
    struct stat status;
    pid_t child = fork();
    int fd;

    if (child == 0) {
        bench_open(bench, &plain);
        for (int i = 0; bench->shelf && i < 3; i++)
            rows_put(bench, (char)('a' + i));
        _exit(0);
    }
    waitpid(child, NULL, 0);
    fd = open(beside(bench, "-wal"), O_RDWR);
    if (fd < 0 || fstat(fd, &status) < 0 || (back && pwrite(fd, "flip", 4, status.st_size - back) != 4))
        tap_diag("the log cannot be damaged");
    close(fd);
}

static void logs(void)
{
    static const off_t whole = 0, last = 5000, first = 1;
    struct bench bench;
    struct stat status;

    bench_init(&bench);
    bench_close(&bench);
    log_left(&bench, whole);
    bench_open(&bench, &plain);
    tap_ok(bench.shelf != NULL, "a log that a process has left is taken: %s", bench.err.text);
    bench_close(&bench);
    log_left(&bench, last);
    bench_open(&bench, &plain);
    tap_ok(bench.shelf != NULL, "so is one whose last commit was written in part: %s", bench.err.text);
    bench_close(&bench);
    log_left(&bench, whole);
    stat(beside(&bench, "-wal"), &status);
    log_left(&bench, status.st_size - 5000 * first);
    bench_open(&bench, &plain);
    tap_ok(!bench.shelf && strstr(bench.err.text, "its log"),
           "one that is damaged before commits that were acknowledged is not: they would be lost without a word");
    bench_done(&bench);
}

static void two(void)
{
    struct bench bench, second;
    struct buf complaints;
    pid_t child;
    int status = -1;

    bench_init(&bench);
    row_put(&bench, "1", "one");
    buf_init(&complaints);
    tap_ok(store_check(bench.path, &complaints, &bench.err) == 0 && row_put(&bench, "1", "one") == 0,
           "one that is looked over while it is in use goes on");
    buf_done(&complaints);
    unlink(beside(&bench, ".lock"));
    child = fork();
    if (child == 0) {
        second = bench;
        bench_open(&second, &plain);
        _exit(second.shelf ? 1 : strstr(second.err.text, "in use") ? 0 : 2);
    }
    waitpid(child, &status, 0);
    tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0,
           "a second is kept out though the file of the lock was removed");
    tap_ok(row_put(&bench, "2", "two") == 0, "and the first goes on");
    bench_done(&bench);
}

int main(void)
{
    removed();
    missing();
    damaged();
    logs();
    two();
    return tap_done();
}
