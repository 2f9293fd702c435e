/* store_faults_test.c: however a process or a disk ends, a store has what was acknowledged, and no group by half. */
#define _GNU_SOURCE /* unshare */
#include "common/store.h"

#include "disk.h"
#include "groups.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define KILLS 40
#define KILL_AFTER_US 12000 /* at most, after the first acknowledgement */
#define FAULT_GROUPS 7      /* of a run on the failing disk */
#define FAULT_WAL_PAGES 12  /* so that the log is copied several times in a run */

/* ---------------------------------------------------------------------------------------------------- a process that dies */

/* Commits group after group, and tells each one's number when it is on disk. Never returns. */
static void child_commits(const struct bench *bench, int out)
{
    struct err err;
    struct shelf *shelf = store_open(bench->path, &err);
    int64_t last = shelf ? group_last(shelf, &err) : -1;

    for (uint64_t group = (uint64_t)last + 1; last >= 0; group++)
        if (group_commit(shelf, group, &err) < 0 || write(out, &group, sizeof group) != sizeof group)
            break;
    _exit(1);
}

/* The last number told, or `last` if none was. */
static uint64_t read_told(int in, uint64_t last)
{
    uint64_t told;

    while (read(in, &told, sizeof told) == sizeof told)
        last = told;
    return last;
}

static void test_kill(const struct bench *bench)
{
    unsigned wrong = 0, in_flight = 0, round;
    uint64_t last = 0;
    struct rng rng;

    rng_init(&rng, (uint64_t)time(NULL));
    for (round = 0; round < KILLS && !wrong; round++) {
        struct timespec pause = {.tv_nsec = (long)rng_below(&rng, KILL_AFTER_US) * 1000};
        struct pollfd first;
        struct err err = {0};
        struct shelf *shelf;
        int64_t found;
        uint64_t told;
        int ends[2];
        pid_t child;

        if (pipe(ends) < 0 || (child = fork()) < 0) {
            wrong++;
            break;
        }
        if (child == 0)
            child_commits(bench, ends[1]);
        close(ends[1]);
        first = (struct pollfd){.fd = ends[0], .events = POLLIN};
        poll(&first, 1, round % 4 ? 10000 : 3); /* now and then while it is still opening */
        nanosleep(&pause, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        told = read_told(ends[0], last);
        close(ends[0]);
        shelf = store_open(bench->path, &err);
        found = shelf ? group_last(shelf, &err) : -1;
        if (found != (int64_t)told && found != (int64_t)told + 1) {
            wrong++;
            tap_diag("round %u: told %llu, found %lld %s", round, (unsigned long long)told, (long long)found, err.text);
        }
        in_flight += found == (int64_t)told + 1;
        last = (uint64_t)found;
        if (shelf)
            shelf->kind->close(shelf);
    }
    tap_diag("killed %u times, %llu groups, %u times with one that was not told yet", round, (unsigned long long)last,
             in_flight);
    tap_ok(!wrong && last >= KILLS / 2,
           "a process is killed at any moment: every group that it was told of is whole, and no group is half there");
    bench_wipe(bench);
}

/* ------------------------------------------------------------------------------------------------------- a disk that fails */

struct outcome {
    uint64_t acknowledged; /* the last group */
    bool opened, broken;
    bool refused; /* after the failure every call was refused, and none of them touched the disk */
    bool hit;     /* the fault came before closing */
};

/* A new store, groups, and its end. */
static struct outcome disk_run(const struct bench *bench, struct disk *disk)
{
    struct outcome outcome = {.refused = true};
    struct err err = {0};
    struct shelf *shelf = store_open(bench->path, &err);

    outcome.hit = disk->hit;
    if (!shelf)
        return outcome;
    outcome.opened = true;
    ((struct store *)shelf)->wal_pages_max = FAULT_WAL_PAGES;
    for (unsigned i = 0; i < FAULT_GROUPS && !shelf->kind->broken(shelf); i++)
        if (group_commit(shelf, outcome.acknowledged + 1, &err) == 0)
            outcome.acknowledged++;
    outcome.broken = shelf->kind->broken(shelf);
    outcome.hit = disk->hit;
    if (outcome.broken) {
        uint64_t syncs = disk->syncs;

        for (int i = 0; i < 3; i++)
            outcome.refused = outcome.refused && put_text(shelf, "s", "k", "v", &err) < 0 &&
                              shelf->kind->commit(shelf, &err) < 0 && shelf->kind->remove(shelf, "s", "k", 1, &err) < 0;
        outcome.refused =
            outcome.refused && shelf->kind->broken(shelf) && syncs == disk->syncs && strstr(err.text, bench->path);
    }
    shelf->kind->close(shelf);
    return outcome;
}

/* What is there now must be all that was acknowledged, and at most the group in flight. Returns its number, -1 if it is not so. */
static int64_t disk_found(const struct bench *bench, uint64_t acknowledged, const char *what, uint64_t at)
{
    struct err err = {0};
    struct shelf *shelf = store_open(bench->path, &err);
    int64_t found = shelf ? group_last(shelf, &err) : -1;

    if (shelf)
        shelf->kind->close(shelf);
    if (found == (int64_t)acknowledged || found == (int64_t)acknowledged + 1)
        return found;
    tap_diag("%s %llu: acknowledged %llu, found %lld %s", what, (unsigned long long)at,
             (unsigned long long)acknowledged, (long long)found, err.text);
    return -1;
}

struct disk_case {
    enum fault fault;
    const char *what, *sentence;
    bool breaks; /* the shelf, whenever it comes while the shelf is open */
};

/* A process starts anew on what the last one left, goes on, and the power is cut while it is at work. What it was acknowledged must not
 * stand on something that never reached the disk. */
static bool disk_goes_on(const struct bench *bench, struct disk *disk, uint64_t acknowledged, const char *what,
                         uint64_t at)
{
    struct err err = {0};
    struct shelf *shelf = store_open(bench->path, &err);
    int64_t found = shelf ? group_last(shelf, &err) : -1;
    bool good = found == (int64_t)acknowledged || found == (int64_t)acknowledged + 1;

    for (int i = 1; i <= 2 && good; i++)
        good = group_commit(shelf, (uint64_t)found + (uint64_t)i, &err) == 0;
    if (!good)
        tap_diag("%s %llu: acknowledged %llu, found %lld %s", what, (unsigned long long)at,
                 (unsigned long long)acknowledged, (long long)found, err.text);
    disk->dead = true;
    if (shelf)
        shelf->kind->close(shelf);
    disk_cut(disk, CUT_NONE_KEPT, at);
    return good && disk_found(bench, (uint64_t)found + 2, "power cut after", at) == found + 2;
}

/* The fault at the nth call, for every n; then the process starts anew, goes on, and the power is cut. */
static void test_fault(const struct bench *bench, const struct disk_case *row)
{
    bool good = true, hit = true;
    unsigned opening = 0, working = 0, closing = 0;
    uint64_t at;

    for (at = 1; good && hit; at++) {
        struct disk disk;
        struct outcome outcome;

        disk_begin(&disk);
        disk.fault = row->fault;
        disk.at = at;
        outcome = disk_run(bench, &disk);
        hit = disk.hit;
        opening += hit && !outcome.opened;
        working += outcome.opened && outcome.hit;
        closing += hit && !outcome.hit;
        good = outcome.refused &&
               (disk.synced_again == 0 || !outcome.opened) && /* SQLite tries again on a file that it makes */

               (outcome.broken || !outcome.hit || !outcome.opened || !row->breaks) &&
               (hit || outcome.acknowledged == FAULT_GROUPS);
        if (!good)
            tap_diag("%s %llu: broken %d, refused %d, synced again %u", row->what, (unsigned long long)at,
                     outcome.broken, outcome.refused, disk.synced_again);
        disk_heal(&disk);
        good = disk_goes_on(bench, &disk, outcome.acknowledged, row->what, at) && good;
        disk_end(&disk);
        bench_wipe(bench);
    }
    tap_diag("%s: %u times while opening, %u while working, %u while closing", row->what, opening, working, closing);
    tap_ok(good && opening && working, "%s", row->sentence);
}

static void test_power(const struct bench *bench)
{
    static const char *const sentences[CUT_COUNT] = {
        "the power is cut before every single call, and nothing is kept that no fsync covered: every acknowledged group is there",
        "the same where all of it is kept",
        "the same where sectors of it are kept and others lost, in any order",
    };

    for (int cut = 0; cut < CUT_COUNT; cut++) {
        bool good = true, hit = true;
        uint64_t at, in_flight = 0;

        for (at = 1; good && hit; at++) {
            struct disk disk;
            struct outcome outcome;
            int64_t found;

            disk_begin(&disk);
            disk.fault = FAULT_POWER;
            disk.at = at;
            outcome = disk_run(bench, &disk);
            hit = disk.hit;
            disk_cut(&disk, (enum cut)cut, at);
            found = disk_found(bench, outcome.acknowledged, "power cut", at);
            in_flight += found == (int64_t)outcome.acknowledged + 1;
            good = found >= 0 && outcome.refused && (hit || outcome.acknowledged == FAULT_GROUPS);
            disk_end(&disk);
            bench_wipe(bench);
        }
        tap_diag("%llu power cuts, after %llu of them the group in flight was there", (unsigned long long)at - 2,
                 (unsigned long long)in_flight);
        tap_ok(good && at > 100, "%s", sentences[cut]);
    }
}

static bool row_counted(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    (void)key, (void)key_len, (void)value, (void)len;
    ++*(unsigned *)user;
    return true;
}

/* Rows of both spaces, each with a right checksum. */
static unsigned rows_of_version_1(const struct bench *bench)
{
    struct err err = {0};
    struct shelf *shelf = store_open(bench->path, &err);
    unsigned rows = 0;

    if (!shelf || shelf->kind->each(shelf, "s", row_counted, &rows, &err) < 0 ||
        shelf->kind->each(shelf, "t", row_counted, &rows, &err) < 0)
        tap_diag("%s", err.text);
    if (shelf)
        shelf->kind->close(shelf);
    return rows;
}

static void test_migration_power(const struct bench *bench)
{
    bool good = true, hit = true;
    uint64_t at;

    for (at = 1; good && hit; at++) {
        struct disk disk;

        disk_begin(&disk);
        run_sql(bench, VERSION_1);
        disk.fault = FAULT_POWER;
        disk.at = at;
        (void)disk_run(bench, &disk); /* beside other rows */
        hit = disk.hit;
        disk_cut(&disk, CUT_TORN, at);
        good = rows_of_version_1(bench) == VERSION_1_ROWS;
        disk_end(&disk);
        bench_wipe(bench);
    }
    tap_diag("%llu power cuts", (unsigned long long)at - 2);
    tap_ok(good && at > 100,
           "the power is cut at any moment while an older store is brought up to date: its rows are there");
}

static void test_durable(const struct bench *bench)
{
    struct err err = {0};
    struct shelf *shelf;
    struct disk disk;
    uint64_t before;

    disk_begin(&disk);
    shelf = open_shelf(bench);
    group_commit(shelf, 1, &err);
    before = disk.syncs;
    group_put(shelf, 2, &err);
    tap_ok(disk.syncs == before, "putting rows waits for no disk");
    shelf->kind->commit(shelf, &err);
    tap_ok(disk.syncs == before + 1, "a commit is one fsync");
    shelf->kind->commit(shelf, &err);
    tap_ok(disk.syncs == before + 1, "a commit of nothing costs nothing");
    shelf->kind->close(shelf);
    disk_end(&disk);
    bench_wipe(bench);
}

/* ------------------------------------------------------------------------------------------------------- a disk that is full */

#define FULL_SKIPPED 77

/* Commits until that fails. The last group that was acknowledged, or -1 if the shelf went on. */
static int64_t fill(const struct bench *bench)
{
    struct err err = {0};
    struct shelf *shelf = store_open(bench->path, &err);
    int64_t last = 0;
    bool refused;

    if (!shelf)
        return -1;
    while (!shelf->kind->broken(shelf) && group_commit(shelf, (uint64_t)last + 1, &err) == 0)
        last++;
    refused =
        shelf->kind->broken(shelf) && put_text(shelf, "s", "k", "v", &err) < 0 && shelf->kind->commit(shelf, &err) < 0;
    tap_diag("after %lld groups: %s", (long long)last, err.text);
    shelf->kind->close(shelf);
    return refused ? last : -1;
}

/* Both run in a process of their own, and return its status: 0 when all acknowledged groups were there once there was room again. */
static int full_by_limit(const struct bench *bench)
{
    struct rlimit limit, small;
    int64_t last;

    signal(SIGXFSZ, SIG_IGN); /* the write fails instead */
    getrlimit(RLIMIT_FSIZE, &limit);
    small = limit;
    small.rlim_cur = 600000;
    setrlimit(RLIMIT_FSIZE, &small);
    last = fill(bench);
    setrlimit(RLIMIT_FSIZE, &limit);
    return last < 10 || disk_found(bench, (uint64_t)last, "full", (uint64_t)last) < 0;
}

static int full_by_mount(const struct bench *bench)
{
    struct bench there;
    int64_t last;

    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("none", bench->folder, "tmpfs", 0, "size=2m") < 0) {
        tap_diag("no small file system: %s", strerror(errno));
        return FULL_SKIPPED;
    }
    there = *bench;
    last = fill(&there);
    if (mount("none", bench->folder, NULL, MS_REMOUNT, "size=32m") < 0)
        return 2;
    return last < 10 || disk_found(&there, (uint64_t)last, "full", (uint64_t)last) < 0;
}

static void test_full(const struct bench *bench, int (*run)(const struct bench *), const char *sentence)
{
    pid_t child = fork();
    int status = -1;

    if (child == 0)
        _exit(run(bench));
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == FULL_SKIPPED)
        tap_ok(true, "%s # SKIP a file system cannot be mounted here", sentence);
    else
        tap_ok(status == 0, "%s", sentence);
    bench_wipe(bench);
}

/* ----------------------------------------------------------------------------------------------------------- measurement */

static double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Rows of 200 bytes a second, committed in groups of that many. No verdict: it depends on the disk. */
static void measure(const struct bench *bench, unsigned group)
{
    struct shelf *shelf = open_shelf(bench);
    char value[200] = "value";
    double began = seconds_now(), seconds;
    struct err err = {0};
    uint64_t rows = 0;

    while ((seconds = seconds_now() - began) < 0.3) {
        for (unsigned i = 0; i < group; i++) {
            uint64_t key = rng_mix(rows++);

            shelf->kind->put(shelf, "measured", &key, sizeof key, value, sizeof value, &err);
        }
        if (shelf->kind->commit(shelf, &err) < 0)
            break;
    }
    tap_diag("groups of %u: %.0f commits a second, %.0f rows a second", group, (double)rows / group / seconds,
             (double)rows / seconds);
    shelf->kind->close(shelf);
    bench_wipe(bench);
}

int main(void)
{
    static const struct disk_case cases[] = {
        {FAULT_WRITE, "write",
         "a write fails, whichever it is: the shelf is broken for good, and nothing acknowledged is lost", true},
        {FAULT_SHORT, "short write", "the same where a write stops half way since the disk is full", true},
        {FAULT_SYNC, "fsync",
         "an fsync fails, whichever it is: it is not called again, and neither then nor after a power cut is anything lost",
         true},
        {FAULT_TRUNCATE, "truncation", "a truncation fails, whichever it is: nothing is lost", false},
    };
    struct bench bench;

    bench_init(&bench);
    test_durable(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        test_fault(&bench, &cases[i]);
    test_power(&bench);
    test_migration_power(&bench);
    test_kill(&bench);
    test_full(&bench, full_by_limit, "a file that may not grow breaks the shelf, and nothing acknowledged is lost");
    test_full(&bench, full_by_mount, "a full disk breaks the shelf, and nothing acknowledged is lost");
    measure(&bench, 1);
    measure(&bench, 100);
    bench_done(&bench);
    return tap_done();
}
