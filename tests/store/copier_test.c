/* copier_test.c: the log of a daemon's store is copied into its file by a thread, while commits go on: the log stays short, no row is lost, and
 * when copying fails the store takes nothing more. */
#include "common/folder.h"
#include "common/tap.h"

#include "store/store_parts.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define PAGES 40     /* of the log, after which it is to be copied */
#define LOG_TIMES 10 /* as long as that the log may become at the most, and what a commit is long */
#define COMMITS 1500
#define VALUE 1000 /* bytes of a row */
#define FILE_LIMIT (2 << 20)

struct bench {
    struct folder folder;
    char path[PATH_MAX], log[PATH_MAX + 8];
    struct shelf *shelf;
    struct err err;
};

static bool bench_open(struct bench *bench)
{
    bench->shelf = store_open_as(bench->path, &(struct store_terms){.traces = "jobs"}, &bench->err);
    if (bench->shelf)
        ((struct store *)bench->shelf)->wal_pages_max = PAGES;
    return bench->shelf;
}

static void bench_init(struct bench *bench)
{
    memset(bench, 0, sizeof *bench);
    folder_init(&bench->folder);
    snprintf(bench->path, sizeof bench->path, "%s", folder_path(&bench->folder, "berth.db"));
    snprintf(bench->log, sizeof bench->log, "%s-wal", bench->path);
    bench_open(bench);
}

static void bench_close(struct bench *bench)
{
    if (bench->shelf)
        bench->shelf->kind->close(bench->shelf);
    bench->shelf = NULL;
}

static int row_put(struct bench *bench, uint32_t number)
{
    char key[16], value[VALUE];

    snprintf(key, sizeof key, "%08u", number);
    memset(value, 'a' + (int)(number % 26), sizeof value);
    return bench->shelf->kind->put(bench->shelf, "jobs", key, strlen(key), value, sizeof value, &bench->err) < 0
               ? -1
               : bench->shelf->kind->commit(bench->shelf, &bench->err);
}

static bool row_count(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    uint32_t *count = user, number = (uint32_t)strtoul(key, NULL, 10);

    (void)key_len;
    if (number == *count && len == VALUE && *(const char *)value == 'a' + (char)(number % 26))
        ++*count;
    return true;
}

/* How many rows are there, from the first on, without a gap? */
static uint32_t rows_there(struct bench *bench)
{
    uint32_t count = 0;

    bench->shelf->kind->each(bench->shelf, "jobs", row_count, &count, &bench->err);
    return count;
}

static bool bench_is_whole(struct bench *bench)
{
    struct buf complaints;
    bool whole;

    buf_init(&complaints);
    whole = store_check(bench->path, &complaints, &bench->err) == 0;
    if (!whole)
        tap_diag("%s %s", buf_string(&complaints), bench->err.text);
    buf_done(&complaints);
    return whole;
}

static void many(void)
{
    struct bench bench;
    struct stat log;
    off_t most = 0;
    uint32_t done = 0;

    bench_init(&bench);
    tap_ok(bench.shelf != NULL, "a store is open: %s", bench.err.text);
    while (done < COMMITS && row_put(&bench, done) == 0) {
        done++;
        if (stat(bench.log, &log) == 0 && log.st_size > most)
            most = log.st_size;
    }
    tap_ok(done == COMMITS && rows_there(&bench) == COMMITS, "rows are committed while the log is copied: %s",
           bench.err.text);
    tap_diag("the log had %lld pages at the most", (long long)most / 4120);
    tap_ok(most < (off_t)PAGES * LOG_TIMES * 4120, "and it does not grow beyond its bound");
    tap_ok(bench_is_whole(&bench), "one that looks at the store meanwhile finds it whole");
    bench_close(&bench);
    tap_ok(bench_open(&bench) && rows_there(&bench) == COMMITS && bench_is_whole(&bench),
           "all of them are there when it is opened again");
    bench_close(&bench);
    folder_done(&bench.folder);
}

/* No file may grow beyond a limit: the log stays below it, and what it is copied into does not. */
static void failing(void)
{
    struct rlimit before, limit;
    struct bench bench;
    uint32_t done = 0;

    signal(SIGXFSZ, SIG_IGN);
    bench_init(&bench);
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = FILE_LIMIT;
    setrlimit(RLIMIT_FSIZE, &limit);
    while (done < 100 * COMMITS && row_put(&bench, done) == 0)
        done++;
    tap_diag("after %u rows: %s", done, bench.err.text);
    tap_ok(done < 100 * COMMITS && bench.shelf->kind->broken(bench.shelf) &&
               strstr(bench.err.text, "copying the log into the file"),
           "a store whose log cannot be copied is broken, and says why");
    bench_close(&bench);
    setrlimit(RLIMIT_FSIZE, &before);
    tap_ok(bench_open(&bench) && rows_there(&bench) >= done && bench_is_whole(&bench),
           "every row that was committed is there when it is opened again");
    bench_close(&bench);
    folder_done(&bench.folder);
}

int main(void)
{
    many();
    failing();
    return tap_done();
}
