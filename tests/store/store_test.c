/* store_test.c: rows on disk, as those see them who open a store, read it, and look it over. */
#define _GNU_SOURCE /* memmem */
#include "common/store.h"

#include "groups.h"
#include "shelf_cases.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static bool mode_is_private(const char *path, const char *end)
{
    struct stat status;
    char name[160];

    snprintf(name, sizeof name, "%s%s", path, end);
    return stat(name, &status) == 0 && (status.st_mode & 0777) == 0600;
}

static void test_modes(const struct bench *bench)
{
    struct shelf *shelf = open_shelf(bench);
    struct err err = {0};

    put_text(shelf, "a", "b", "2", &err);
    shelf->kind->commit(shelf, &err);
    tap_ok(mode_is_private(bench->path, "") && mode_is_private(bench->path, "-wal") &&
               mode_is_private(bench->path, ".lock"),
           "the files are for their owner only");
    shelf->kind->close(shelf);
    bench_wipe(bench);
}

/* ------------------------------------------------------------------------------------------------------------- opening */

static void opening_fails(const struct bench *bench, const char *sentence, const char *want)
{
    struct err err = {0};
    struct shelf *shelf = store_open(bench->path, &err);

    if (!tap_ok(!shelf && strstr(err.text, want) && strstr(err.text, bench->path), "%s", sentence))
        tap_diag("%s", shelf ? "it was opened" : err.text);
    if (shelf)
        shelf->kind->close(shelf);
}

static void test_second(const struct bench *bench)
{
    struct shelf *shelf = open_shelf(bench);
    struct err err = {0};
    char want[64];
    pid_t child;
    int status;

    opening_fails(bench, "a store that is open is not opened again by the same process", "is in use by");
    snprintf(want, sizeof want, "is in use by process %ld", (long)getpid());
    shelf->kind->close(shelf);
    shelf = open_shelf(bench);
    child = fork();
    if (child == 0)
        _exit(!store_open(bench->path, &err) && strstr(err.text, want) && strstr(err.text, bench->path) ? 0 : 1);
    tap_ok(waitpid(child, &status, 0) == child && status == 0,
           "another process is refused, and told which one has the store");
    tap_ok(put_text(shelf, "s", "a", "1", &err) == 0 && shelf->kind->commit(shelf, &err) == 0, "who has it works on");
    shelf->kind->close(shelf);
    bench_wipe(bench);
}

/* A process is killed after a fork, and its child has not become another program yet. */
static void test_orphan(const struct bench *bench)
{
    pid_t child = fork();
    struct err err = {0};
    struct shelf *shelf;
    int status = -1;

    if (child == 0) {
        shelf = store_open(bench->path, &err);
        if (shelf && fork() == 0)
            nanosleep(&(struct timespec){0, 200000000}, NULL);
        _exit(shelf ? 0 : 1);
    }
    waitpid(child, &status, 0);
    shelf = store_open(bench->path, &err);
    tap_ok(status == 0 && shelf, "a lock that only a child of a dead process still has is waited for (%s)", err.text);
    if (shelf)
        shelf->kind->close(shelf);
    bench_wipe(bench);
}

static void test_foreign(const struct bench *bench)
{
    FILE *file = fopen(bench->path, "w");
    struct stat before, after;
    struct shelf *shelf;

    fputs("this is a text of somebody, and long enough to be taken for a header by a hasty reader of headers, "
          "if there is one",
          file);
    fclose(file);
    opening_fails(bench, "a file that is no SQLite file is refused", "not a database");
    bench_wipe(bench);

    run_sql(bench, "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)");
    stat(bench->path, &before);
    opening_fails(bench, "somebody else's SQLite file is refused", "not a store of berth");
    stat(bench->path, &after);
    tap_ok(before.st_mtim.tv_nsec == after.st_mtim.tv_nsec && before.st_mode == after.st_mode, "and not touched");
    bench_wipe(bench);

    mkdir(bench->path, 0700);
    opening_fails(bench, "a folder is refused", "is not a regular file");
    rmdir(bench->path);

    shelf = open_shelf(bench);
    shelf->kind->close(shelf);
    run_sql(bench, "PRAGMA user_version = 4");
    opening_fails(bench, "a store of a newer berth is refused, with both versions",
                  "schema is of version 4, this berth knows up to 3");
    bench_wipe(bench);
}

static void test_migration(const struct bench *bench)
{
    struct buf complaints;
    struct err err = {0};
    struct shelf *shelf;
    int64_t version = 0;
    sqlite3 *db = NULL;

    buf_init(&complaints);
    run_sql(bench, VERSION_1);
    tap_ok(store_check(bench->path, &complaints, &err) == 0, "a store of version 1 is checked as it is");
    shelf = open_shelf(bench);
    if (!tap_ok(shelf != NULL, "a store of version 1 is opened"))
        return;
    tap_ok(rows_are(shelf, "s", "a=old \\xff\\x00= "), "and has its rows, whose checksums are right");
    tap_ok(put_text(shelf, "s", "a", "new", &err) == 0 && shelf->kind->commit(shelf, &err) == 0, "it takes new ones");
    shelf->kind->close(shelf);
    tap_ok(store_check(bench->path, &complaints, &err) == 0 && complaints.len == 0,
           "afterwards nothing is wrong with it");
    sqlite3_open(bench->path, &db);
    schema_version(db, bench->path, &version, &err);
    sqlite3_close(db);
    tap_ok(version == 3, "and it is of version 3");

    run_sql(
        bench,
        "PRAGMA user_version = 2; UPDATE meta SET value = '2' WHERE name = 'schema'"); /* its tables were the same */
    tap_ok(store_check(bench->path, &complaints, &err) == 0 && complaints.len == 0,
           "a store of version 2 is checked as it is");
    shelf = open_shelf(bench);
    if (tap_ok(shelf && rows_are(shelf, "s", "a=new \\xff\\x00= "), "and is opened with its rows"))
        shelf->kind->close(shelf);
    sqlite3_open(bench->path, &db);
    schema_version(db, bench->path, &version, &err);
    sqlite3_close(db);
    tap_ok(version == 3, "and it is of version 3 then");
    buf_done(&complaints);
    bench_wipe(bench);

    run_sql(bench, VERSION_1 "; ALTER TABLE shelf ADD COLUMN sum INTEGER");
    opening_fails(bench, "a step to a newer version that fails is told", "to version 2, give each row a checksum");
    opening_fails(bench, "and leaves the store of its old version", "to version 2");
    bench_wipe(bench);
}

/* ------------------------------------------------------------------------------------------------------------ checking */

/* Flips a bit of the first place where the file holds that text. */
static bool flip(const struct bench *bench, const char *text)
{
    FILE *file = fopen(bench->path, "r+b");
    struct buf all;
    char *place;
    bool found;

    buf_init(&all);
    for (int c; (c = getc(file)) != EOF;)
        buf_addc(&all, (char)c);
    place = memmem(all.text, all.len, text, strlen(text));
    found = place != NULL;
    if (found) {
        fseek(file, place - all.text, SEEK_SET);
        putc(*place ^ 1, file);
    }
    fclose(file);
    buf_done(&all);
    return found;
}

static void space_collect(void *user, const struct store_space *space)
{
    buf_addf(user, "%s:%llu:%llu ", space->name, (unsigned long long)space->rows, (unsigned long long)space->bytes);
}

static void check_says(const struct bench *bench, int want, const char *words, const char *sentence)
{
    struct err err = {0};
    struct buf complaints;
    int result;

    buf_init(&complaints);
    result = store_check(bench->path, &complaints, &err);
    if (!tap_ok(result == want && strstr(result < 0 ? err.text : buf_string(&complaints), words), "%s", sentence))
        tap_diag("%d: %s %s", result, err.text, buf_string(&complaints));
    buf_done(&complaints);
}

/* Which files there are, and when they were changed. */
static void folder_state(const struct bench *bench, struct buf *out)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal", ".lock"};

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct stat status;
        char name[160];

        snprintf(name, sizeof name, "%s%s", bench->path, ends[i]);
        if (stat(name, &status) == 0)
            buf_addf(out, "%s %lld %lld.%09ld\n", ends[i], (long long)status.st_size, (long long)status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
    }
}

static void check_changes_nothing(const struct bench *bench, const char *sentence)
{
    struct buf before, after, complaints;
    struct err err = {0};
    int result;

    buf_init(&before);
    buf_init(&after);
    buf_init(&complaints);
    folder_state(bench, &before);
    result = store_check(bench->path, &complaints, &err);
    folder_state(bench, &after);
    if (!tap_ok(result == 0 && !strcmp(buf_string(&before), buf_string(&after)), "%s", sentence))
        tap_diag("%d %s %s\nbefore\n%s\nafter\n%s", result, err.text, buf_string(&complaints), buf_string(&before),
                 buf_string(&after));
    buf_done(&before);
    buf_done(&after);
    buf_done(&complaints);
}

/* A store whose process ended without closing it: the log is left. */
static void leave_log(const struct bench *bench)
{
    pid_t child = fork();

    if (child == 0) {
        struct err err;
        struct shelf *shelf = store_open(bench->path, &err);

        _exit(shelf && group_commit(shelf, 1, &err) == 0 ? 0 : 1);
    }
    waitpid(child, NULL, 0);
}

static void test_check(const struct bench *bench)
{
    struct err err = {0};
    struct shelf *shelf;
    struct buf spaces;

    check_says(bench, -1, "No such file", "a store that is not there cannot be checked");
    shelf = open_shelf(bench);
    put_text(shelf, "jobs", "first", "the value that will be damaged", &err);
    put_text(shelf, "jobs", "second", "another value", &err);
    put_text(shelf, "agents", "a", "", &err);
    shelf->kind->commit(shelf, &err);
    check_says(bench, 0, "", "a store is checked while it is open");
    tap_ok(put_text(shelf, "jobs", "third", "", &err) == 0 && shelf->kind->commit(shelf, &err) == 0, "and goes on");
    shelf->kind->close(shelf);
    check_changes_nothing(bench, "checking changes no file and makes none");
    buf_init(&spaces);
    store_survey(bench->path, space_collect, &spaces, &spaces, &err);
    tap_ok(!strcmp(buf_string(&spaces), "agents:1:1 jobs:3:59 "), "it counts the rows and bytes of each space");
    buf_done(&spaces);

    tap_ok(flip(bench, "value that will be"), "a bit of a row is flipped on disk");
    check_says(bench, 1, "space jobs, row first: its checksum is wrong\n", "the check finds it");
    shelf = open_shelf(bench);
    buf_init(&spaces);
    tap_ok(shelf->kind->each(shelf, "jobs", row_collect, &spaces, &err) < 0 &&
               strstr(err.text, "row of jobs is damaged: first"),
           "who reads that row is told");
    buf_reset(&spaces);
    tap_ok(shelf->kind->get(shelf, "jobs", "second", 6, row_collect, &spaces, &err) == 0 && spaces.len > 0,
           "others can still be read");
    buf_done(&spaces);
    shelf->kind->close(shelf);
    run_sql(bench, "UPDATE shelf SET space = 'a b' WHERE key = CAST('second' AS BLOB);"
                   "UPDATE shelf SET key = zeroblob(300) WHERE key = CAST('third' AS BLOB);"
                   "UPDATE meta SET value = 7");
    check_says(bench, 1, "space a\\x20b: a space's name is of visible", "a name that no space may have is found");
    check_says(bench, 1, ": a key has 1 to 255 bytes\n", "a key that is too long is found");
    check_says(bench, 1, "version 3, but the table meta says 7", "two versions in one file are found");
    run_sql(bench, "DROP TABLE shelf");
    check_says(bench, 1, "the rows cannot be read: no such table", "a table that is missing is found");
    bench_wipe(bench);
}

static void test_check_log(const struct bench *bench)
{
    struct buf spaces, complaints;
    struct err err = {0};
    struct shelf *shelf;

    buf_init(&spaces);
    buf_init(&complaints);
    leave_log(bench);
    check_changes_nothing(bench, "where a process ended badly, checking changes no file either");
    store_survey(bench->path, space_collect, &spaces, &complaints, &err);
    tap_ok(strstr(buf_string(&spaces), "count:1:13 group:4:"), "and sees what that process had committed");
    shelf = open_shelf(bench);
    tap_ok(shelf && group_last(shelf, &err) == 1, "so does the next process");
    shelf->kind->close(shelf);

    shelf = open_shelf(bench); /* enough for a tree of several pages, of which one is then overwritten */
    for (uint64_t group = 2; group < 200; group++)
        group_commit(shelf, group, &err);
    shelf->kind->close(shelf);
    tap_ok(truncate(bench->path, 40960) == 0, "a file is cut short");
    check_says(bench, 1, "", "the check complains");
    buf_done(&spaces);
    buf_done(&complaints);
    bench_wipe(bench);
}

int main(void)
{
    struct bench bench;

    bench_init(&bench);
    test_rows(&bench);
    test_modes(&bench);
    test_bounds(&bench);
    test_nested(&bench);
    test_second(&bench);
    test_orphan(&bench);
    test_foreign(&bench);
    test_migration(&bench);
    test_check(&bench);
    test_check_log(&bench);
    bench_done(&bench);
    return tap_done();
}
