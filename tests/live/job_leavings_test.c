/* job_leavings_test.c: the files that a job leaves, as the provider finds them in its folder: what comes, what is missing, and what cannot be told now. */
#define _GNU_SOURCE /* nftw */
#include "common/tap.h"
#include "process.h"

#include "lang/ad/names.h"
#include "lang/form/form.h"
#include "live/providerd/job_leavings.h"
#include "live/providerd/job_order.h"
#include "sys/confined_path.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct bench {
    char path[LIVE_PATH_MAX];
    struct symbols *symbols;
    struct job_leavings leaving;
    int folder;
};

static void bench_start(struct bench *bench)
{
    live_folder(bench->path);
    bench->symbols = names_new(1);
    bench->folder = open(bench->path, O_RDONLY | O_DIRECTORY);
    leaving_init(&bench->leaving);
}

static void bench_end(struct bench *bench)
{
    leaving_done(&bench->leaving);
    close(bench->folder);
    symbols_free(bench->symbols);
    live_remove(bench->path);
}

static void make(const struct bench *bench, const char *name, mode_t mode)
{
    int fd = openat(bench->folder, name, O_WRONLY | O_CREAT, mode);

    if (fd < 0 || write(fd, "x", 1) != 1)
        printf("Bail out! %s\n", name);
    close(fd);
}

/* The file is as file_copy.c has laid it. */
static void laid(const struct bench *bench, const char *name)
{
    utimensat(bench->folder, name, (const struct timespec[2]){{.tv_sec = 7}, {.tv_sec = 7}}, 0);
}

static int list(struct bench *bench, const char *row, struct err *err)
{
    struct tree *ad = form_parse(bench->symbols, &dialect_classic, FORM_CLASSAD, NULL, row, strlen(row), err);
    int failed = leaving_list(&bench->leaving, ad, bench->folder, false, err);

    tree_unref(ad);
    return failed;
}

static bool has(const struct bench *bench, const char *kind, const char *name)
{
    for (uint32_t i = 0; i < bench->leaving.count; i++)
        if (!strcmp(bench->leaving.files[i].name, name) && !strcmp(bench->leaving.files[i].kind, kind))
            return true;
    return false;
}

static void check_found(void)
{
    struct bench bench;
    struct err err = {0};

    bench_start(&bench);
    make(&bench, "made", 0644);
    make(&bench, "in", 0644);
    laid(&bench, "in");
    make(&bench, "changed", 0644);
    make(&bench, ".rc", 0644);
    make(&bench, ".berth-status", 0644);
    mkdirat(bench.folder, "sub", 0700);
    make(&bench, "sub/x", 0644);
    tap_ok(list(&bench, "[Inputs={\"in\", \"changed\"}; Checkpoint={\"state\"}; Out=\"o.txt\"]", &err) == 0 &&
               has(&bench, "output", "made") && has(&bench, "output", "o.txt") && has(&bench, "log", "stdout") &&
               has(&bench, "checkpoint", "state") && has(&bench, "output", "changed") && bench.leaving.count == 6 &&
               !bench.leaving.missing.count,
           "without Outputs every file at the top comes that is no input as it was, no checkpoint and not hidden");
    bench_end(&bench);
}

static void check_named(void)
{
    struct bench bench;
    struct err err = {0};

    bench_start(&bench);
    make(&bench, "made", 0644);
    make(&bench, "other", 0644);
    make(&bench, ".rc", 0644);
    mkdirat(bench.folder, "sub", 0700);
    mkdirat(bench.folder, "sub/deep", 0700);
    mkdirat(bench.folder, "sub/.git", 0700);
    make(&bench, "sub/deep/x", 0644);
    make(&bench, "sub/.git/config", 0644);
    mkfifoat(bench.folder, "fifo", 0600);
    if (symlinkat("/etc/passwd", bench.folder, "link") < 0)
        tap_diag("no link");
    tap_ok(list(&bench, "[Outputs={\"made\", \"sub\", \".rc\", \"none\", \"fifo\", \"link\"}]", &err) == 0 &&
               has(&bench, "output", "made") && has(&bench, "output", ".rc") && has(&bench, "output", "sub/deep/x") &&
               bench.leaving.count == 5,
           "of what is named files come, and of folders all but what is hidden");
    tap_ok(bench.leaving.unmade.count == 1 && !strcmp(bench.leaving.unmade.files[0].name, "none"),
           "what the job has not made is known as such");
    tap_ok(bench.leaving.missing.count == 2 && !strcmp(bench.leaving.missing.files[0].name, "fifo") &&
               !strcmp(bench.leaving.missing.files[1].name, "link"),
           "what is no file is missing, by its name");
    bench_end(&bench);
}

static void check_named_streams(void)
{
    struct bench bench;
    struct err err = {0};

    bench_start(&bench);
    tap_ok(list(&bench, "[Outputs={\"sum\", \"trouble\", \"su\"}; Out=\"sum\"; Err=\"trouble\"; Member=2]", &err) ==
                   0 &&
               has(&bench, "output", "sum.2") && has(&bench, "output", "trouble.2") &&
               bench.leaving.unmade.count == 1 && !strcmp(bench.leaving.unmade.files[0].name, "su"),
           "standard output and errors that are named as outputs too are made by every job");
    bench_end(&bench);
}

static int count_name(void *user, const char *name)
{
    (void)name;
    ++*(int *)user;
    return 0;
}

static void check_many(void)
{
    struct bench bench;
    struct err err = {0};
    struct buf words;
    char name[32];

    bench_start(&bench);
    for (int i = 0; i < JOB_FILES_MAX + 50; i++) {
        snprintf(name, sizeof name, "f%d", i);
        make(&bench, name, 0644);
    }
    buf_init(&words);
    tap_ok(list(&bench, "[]", &err) == 0 && bench.leaving.count == JOB_FILES_MAX + 2 &&
               bench.leaving.missing.count == 50 && bench.leaving.missing.known == 50 &&
               *bench.leaving.missing.files[49].name == 'f',
           "of more than %d files the others are missing, by their names", JOB_FILES_MAX);
    missing_words(&bench.leaving.missing, &words);
    tap_ok(!strncmp(buf_string(&words), "50 files are missing: f", 23) && strstr(buf_string(&words), "; and 40 more"),
           "and a line says so");
    buf_done(&words);
    bench_end(&bench);
}

/* Folders without files cost as much to look at as files. */
static void check_folders(void)
{
    struct err err = {0};
    struct bench bench;
    char name[32];
    int found = 0;

    bench_start(&bench);
    mkdirat(bench.folder, "sub", 0700);
    for (int i = 0; i < 50; i++) {
        snprintf(name, sizeof name, "sub/%d", i);
        mkdirat(bench.folder, name, 0700);
    }
    tap_ok(confined_walk(bench.folder, "sub", 50, count_name, &found, &err) == 0 && !found &&
               confined_walk(bench.folder, "sub", 49, count_name, &found, &err) < 0 &&
               !strcmp(err.text, "more than 49 folders"),
           "of folders inside a folder no more are gone into than of files");
    bench_end(&bench);
}

static void check_descriptors(void)
{
    struct bench bench;
    struct rlimit before, none;
    struct err err = {0}, named = {0};
    int failed, failed_named;

    bench_start(&bench);
    make(&bench, "made", 0644);
    mkdirat(bench.folder, "sub", 0700);
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &none);
    failed = list(&bench, "[]", &err);
    failed_named = list(&bench, "[Outputs={\"made\"}]", &named);
    setrlimit(RLIMIT_NOFILE, &before);
    tap_ok(failed < 0 && failed_named < 0 && *err.text && *named.text && !bench.leaving.count &&
               !bench.leaving.missing.count && !bench.leaving.unmade.count,
           "without descriptors nothing is said to be absent: it cannot be told now (%s; %s)", err.text, named.text);
    tap_ok(list(&bench, "[]", &err) == 0 && has(&bench, "output", "made"), "and later it can");
    bench_end(&bench);
}

int main(void)
{
    check_found();
    check_named();
    check_named_streams();
    check_many();
    check_folders();
    check_descriptors();
    return tap_done();
}
