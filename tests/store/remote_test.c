/* remote_test.c: rows in a PostgreSQL, as those see them who put and read them: also when the database is away, slow, or another process has come. */
#define _GNU_SOURCE /* memmem */
#include "common/postgres.h"
#include "common/rounds.h"

#include "shelf_cases.h"

#include "lang/base/rng.h"
#include "sys/clock.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define WAIT_MAX INT64_C(60000000)

static struct postgres postgres;

static void bench_at(struct bench *bench, const char *name)
{
    *bench = (struct bench){.folder = ""};
    postgres_uri(&postgres, name, bench->path, sizeof bench->path);
}

/* Waits until the commit is durable; -1: it never will be; 0: not within a minute. */
static int commit_wait(struct shelf *shelf, struct err *err)
{
    int64_t until = clock_now() + WAIT_MAX;
    int result;

    while (!(result = shelf->kind->commit_look(shelf, err)) && clock_now() < until) {
        struct pollfd one = {.fd = shelf->kind->news(shelf), .events = POLLIN};

        poll(&one, 1, 100);
    }
    return result;
}

static bool away_is(struct shelf *shelf, bool want)
{
    int64_t until = clock_now() + WAIT_MAX;
    char why[500] = "";

    while ((shelf->kind->away(shelf, why, sizeof why) != 0) != want && clock_now() < until)
        postgres_rest();
    return (shelf->kind->away(shelf, why, sizeof why) != 0) == want;
}

static bool acts(struct shelf *shelf, bool want)
{
    int64_t until = clock_now() + WAIT_MAX;

    while (shelf->kind->may_act(shelf) != want && clock_now() < until)
        postgres_rest();
    return shelf->kind->may_act(shelf) == want;
}

/* ------------------------------------------------------------------------------------------------------------- addresses */

static void refused(const char *uri, const char *want, const char *sentence)
{
    struct err err = {0};
    struct shelf *shelf = store_open(uri, &err);

    if (!tap_ok(!shelf && strstr(err.text, want), "%s", sentence))
        tap_diag("%s", shelf ? "it was opened" : err.text);
    if (shelf)
        shelf->kind->close(shelf);
}

static void test_addresses(void)
{
    struct err err = {0};
    struct bench bench;
    struct shelf *shelf;
    char uri[200];

    snprintf(uri, sizeof uri, "postgresql://berth:secret@/postgres?host=%s#a", postgres.folder);
    refused(uri, "a password does not belong into an address", "an address with a password is refused");
    snprintf(uri, sizeof uri, "postgresql://berth@/postgres?host=%s", postgres.folder);
    refused(uri, "lacks a namespace", "so is one without a namespace");
    refused("postgresql://berth@/postgres?nosuch=1#a", "no address of a database", "and one that libpq does not take");
    refused("postgresql://berth@/postgres?host=/nowhere#a", "cannot be reached",
            "who does not wait for a database is told that it cannot be reached");
    refused("postgresql://berth:hush@/postgres?nosuch=1#a", "as libpq takes it", "and is not quoted with its password");
    snprintf(uri, sizeof uri, "postgresql://berth@/postgres?host=%s&application_name=berth#name", postgres.folder);
    shelf = store_open(uri, &err);
    tap_ok(shelf && !strcmp(postgres_ask(&postgres, "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE "
                                                    "'berth name %'"),
                            "2"),
           "an address cannot give sessions the name of another namespace's (%s)", err.text);
    if (shelf)
        shelf->kind->close(shelf);
    snprintf(uri, sizeof uri, "postgresql://berth@/nosuch?host=%s#a", postgres.folder);
    refused(uri, "\"nosuch\" does not exist", "and what else the database says");
    bench_at(&bench, "newer");
    postgres_ask(&postgres, "INSERT INTO berth_schema VALUES (4)");
    refused(bench.path, "its schema is of version 4, this berth knows up to 3", "tables of a newer berth are refused");
    postgres_ask(&postgres, "DELETE FROM berth_schema WHERE version = 4");
}

/* Carries bytes both ways, and tells another number of the session than the database does: as a pooler. */
static void pooler_serve(int client, int server)
{
    struct pollfd both[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
    static const char key[] = {'K', 0, 0, 0, 12};
    char bytes[8192], *found;
    ssize_t got;

    while (poll(both, 2, -1) > 0)
        for (int i = 0; i < 2; i++) {
            if (!both[i].revents)
                continue;
            got = read(both[i].fd, bytes, sizeof bytes);
            found = i && got > 0 ? memmem(bytes, (size_t)got, key, sizeof key) : NULL;
            if (found)
                found[sizeof key] ^= 1;
            if (got <= 0 || write(both[!i].fd, bytes, (size_t)got) != got)
                _exit(0);
        }
}

static int socket_at(const char *folder, bool listens)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(at.sun_path, sizeof at.sun_path, "%s/.s.PGSQL.5432", folder);
    if (listens ? bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, 8) < 0
                : connect(fd, (struct sockaddr *)&at, sizeof at) < 0)
        _exit(1);
    return fd;
}

static void test_pooler(void)
{
    char folder[] = "/tmp/berth-pooler-XXXXXX", path[100], uri[200];
    int listener;
    pid_t child;

    if (!mkdtemp(folder))
        return;
    listener = socket_at(folder, true);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGCHLD, SIG_IGN);
        for (;;) {
            int client = accept(listener, NULL, NULL);

            if (fork() == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                pooler_serve(client, socket_at(postgres.folder, false));
            }
            close(client);
        }
    }
    snprintf(uri, sizeof uri, "postgresql://berth@/postgres?host=%s#a", folder);
    refused(uri, "is reached through a pooler", "a pooler between it and the database is refused");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(listener);
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", folder);
    unlink(path);
    rmdir(folder);
}

/* ------------------------------------------------------------------------------------------------------------- many rows */

/* Many rows, some of them changed and not durable: they come in order, each once, as they are now. */
static bool row_checked(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    uint32_t *next = user;
    char want[16];

    (void)value;
    snprintf(want, sizeof want, "%06u", (unsigned)*next * 2);
    if (key_len != 6 || memcmp(key, want, 6) != 0 || len != *next % 3000)
        return false;
    (*next)++;
    return true;
}

static void test_many(void)
{
    static char bytes[3000];
    struct err err = {0};
    struct bench bench;
    struct shelf *shelf;
    uint32_t next = 0;
    char key[16];

    bench_at(&bench, "many");
    shelf = open_shelf(&bench);
    for (unsigned i = 0; i < 4000; i++) {
        snprintf(key, sizeof key, "%06u", i);
        shelf->kind->put(shelf, "s", key, 6, bytes, i % 2 ? 7 : 1, &err);
        if (i % 1000 == 999)
            shelf->kind->commit(shelf, &err);
    }
    for (unsigned i = 0; i < 4000;
         i++) { /* odd ones are removed, even ones become longer: the later half of it is open */
        snprintf(key, sizeof key, "%06u", i);
        if (i % 2)
            shelf->kind->remove(shelf, "s", key, 6, &err);
        else
            shelf->kind->put(shelf, "s", key, 6, bytes, i / 2 % 3000, &err);
        if (i == 1999)
            shelf->kind->commit(shelf, &err);
        if (i == 2999)
            shelf->kind->commit_start(shelf, &err);
    }
    shelf->kind->each(shelf, "s", row_checked, &next, &err);
    tap_ok(next == 2000,
           "2,000 rows, of which some are durable, some under way and some neither, come each once and in order (%u)",
           (unsigned)next);
    tap_ok(commit_wait(shelf, &err) == 1 && shelf->kind->commit(shelf, &err) == 0, "and become durable");
    shelf->kind->close(shelf);
    shelf = open_shelf(&bench);
    next = 0;
    shelf->kind->each(shelf, "s", row_checked, &next, &err);
    tap_ok(next == 2000, "so the next process finds them (%u)", (unsigned)next);
    shelf->kind->close(shelf);
}

/* Rows go to the database many in a statement: what is there afterwards is what is known here of each row, put or removed by itself. */
#define TWIN_SPACES 3
#define TWIN_KEYS 200
#define TWIN_LARGE 300000 /* more than a statement takes with others */

struct twin_row {
    bool there;
    size_t len;
    char fill;
};

static struct twin_row twin[TWIN_SPACES][TWIN_KEYS];
static char twin_bytes[TWIN_LARGE];

static void twin_change(struct shelf *shelf, struct rng *rng, struct err *err)
{
    static const size_t lens[] = {0, 1, 200, 3000, TWIN_LARGE};
    unsigned space = (unsigned)rng_below(rng, TWIN_SPACES), key = (unsigned)rng_below(rng, TWIN_KEYS);
    struct twin_row *row = &twin[space][key];
    char name[8], text[16];
    int len = snprintf(text, sizeof text, "%04u%.*s", key, (int)(key % 5), "long");

    snprintf(name, sizeof name, "twin%u", space);
    row->there = rng_below(rng, 3) != 0;
    row->len = lens[rng_below(rng, rng_below(rng, 50) ? 4 : 5)];
    row->fill = (char)rng_below(rng, 256);
    memset(twin_bytes, row->fill, row->len);
    if (row->there)
        shelf->kind->put(shelf, name, text, (size_t)len, twin_bytes, row->len, err);
    else
        shelf->kind->remove(shelf, name, text, (size_t)len, err);
}

struct twin_look {
    const struct twin_row *rows;
    unsigned next, seen, wrong;
};

static bool twin_row_checked(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct twin_look *look = user;
    unsigned number = (unsigned)strtoul((const char[5]){((const char *)key)[0], ((const char *)key)[1],
                                                        ((const char *)key)[2], ((const char *)key)[3], 0},
                                        NULL, 10);
    const struct twin_row *row = &look->rows[number < TWIN_KEYS ? number : 0];
    bool good =
        number < TWIN_KEYS && number >= look->next && row->there && key_len == 4 + (number % 5) && len == row->len;

    for (size_t i = 0; good && i < len; i++)
        good = ((const char *)value)[i] == row->fill;
    look->wrong += !good;
    look->next = number + 1;
    look->seen++;
    return true;
}

static bool twin_is(struct shelf *shelf, struct err *err)
{
    unsigned wrong = 0;

    for (unsigned space = 0; space < TWIN_SPACES; space++) {
        struct twin_look look = {.rows = twin[space]};
        unsigned want = 0;
        char name[8];

        snprintf(name, sizeof name, "twin%u", space);
        for (unsigned key = 0; key < TWIN_KEYS; key++)
            want += twin[space][key].there;
        wrong += shelf->kind->each(shelf, name, twin_row_checked, &look, err) < 0 || look.seen != want || look.wrong;
    }
    return !wrong;
}

static void test_twin(void)
{
    struct err err = {0};
    struct bench bench;
    struct shelf *shelf;
    struct rng rng;
    int failed = 0;

    bench_at(&bench, "twin");
    shelf = open_shelf(&bench);
    rng_init(&rng, lang_setting("BERTH_SEED", 7));
    for (unsigned commit = 0; commit < 30; commit++) {
        for (uint64_t i = 1 + rng_below(&rng, commit % 3 ? 20 : 500); i > 0; i--)
            twin_change(shelf, &rng, &err);
        failed += shelf->kind->commit(shelf, &err) < 0;
        if (commit % 5 == 0)
            failed += !twin_is(shelf, &err);
    }
    shelf->kind->close(shelf);
    shelf = open_shelf(&bench);
    tap_ok(!failed && twin_is(shelf, &err),
           "rows of all sizes, put and removed by the hundred, are as each was put last (%s)", err.text);
    shelf->kind->close(shelf);
}

/* ----------------------------------------------------------------------------------------------------------- other holders */

/* A child that holds the namespace, commits a row, and says so. */
static pid_t holder_begin(const struct bench *bench, int *ret_say)
{
    int ways[2], fail = pipe(ways);
    struct err err = {0};
    struct shelf *shelf;
    char c = 'x';
    pid_t child;

    fflush(stdout);
    child = fail < 0 ? -1 : fork();
    if (child == 0) {
        shelf = store_open(bench->path, &err);
        if (!shelf || put_text(shelf, "s", "a", "1", &err) < 0 || shelf->kind->commit(shelf, &err) < 0 ||
            write(ways[1], &c, 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    close(ways[1]);
    *ret_say = read(ways[0], &c, 1) == 1 ? 1 : 0;
    close(ways[0]);
    return child;
}

static char told[2000];

static void tell(void *user, const char *line)
{
    (void)user;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", line);
}

static void test_holders(void)
{
    struct store_terms terms = {.tell = tell};
    struct err err = {0};
    struct bench bench;
    struct shelf *shelf;
    int64_t began;
    char want[60];
    pid_t child;
    int said;

    bench_at(&bench, "held");
    child = holder_begin(&bench, &said);
    snprintf(want, sizeof want, "is in use by process %ld of ", (long)child);
    shelf = store_open(bench.path, &err);
    tap_ok(said && !shelf && strstr(err.text, want),
           "a namespace that another process holds is refused, with that process (%s)", err.text);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    began = clock_now();
    *told = '\0';
    shelf = store_open_as(bench.path, &terms, &err);
    tap_ok(shelf && rows_are(shelf, "s", "a=1 "), "a daemon waits for it, and goes on with its rows");
    tap_ok(clock_now() - began > 2 * INT64_C(1000000), "but not before the lease of one that was killed is over");
    snprintf(want, sizeof want, "is held by process %ld of ", (long)child);
    tap_ok(strstr(told, want) && strstr(told, "it is waited for"), "and says for whom it waits (%s)", told);
    tap_ok(strstr(told, "fsync or full_page_writes is off"), "and what that database does not promise");
    if (!shelf)
        return;
    shelf->kind->close(shelf);
    *told = '\0';
    shelf = store_open_as(bench.path, &terms, &err);
    tap_ok(shelf && !strstr(told, "is held by"), "one that was closed in order is not waited for");
    if (shelf)
        shelf->kind->close(shelf);
}

/* A holder that was stopped in the middle of a transaction, for longer than its lease. */
static void test_stopped(void)
{
    struct store_terms terms = {.tell = tell};
    PGconn *stuck = postgres_connect(&postgres);
    struct err err = {0};
    struct shelf *shelf;
    struct bench bench;
    pid_t child;
    int said;

    bench_at(&bench, "stopped");
    child = holder_begin(&bench, &said);
    kill(child, SIGSTOP);
    /* what it would have sent had it been stopped between BEGIN and COMMIT */
    PQclear(PQexec(stuck, "SELECT set_config('application_name', application_name, false) FROM pg_stat_activity"
                          " WHERE application_name LIKE 'berth stopped%' LIMIT 1"));
    PQclear(PQexec(stuck, "BEGIN"));
    PQclear(PQexec(stuck, "INSERT INTO berth_rows SELECT namespace, 's', 'late', 'x', 0 FROM berth_holders"
                          " WHERE namespace = 'stopped' FOR KEY SHARE"));
    shelf = store_open_as(bench.path, &terms, &err);
    tap_ok(said && shelf && rows_are(shelf, "s", "a=1 "),
           "a holder that is stopped between BEGIN and COMMIT keeps nobody waiting for longer than its lease (%s)",
           err.text);
    PQclear(PQexec(stuck, "COMMIT"));
    tap_ok(shelf && rows_are(shelf, "s", "a=1 "), "and what it had begun comes to nothing");
    PQfinish(stuck);
    if (shelf)
        shelf->kind->close(shelf);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void test_fence(void)
{
    struct err err = {0};
    struct bench bench;
    struct shelf *shelf;

    bench_at(&bench, "fence");
    shelf = open_shelf(&bench);
    put_text(shelf, "s", "a", "1", &err);
    tap_ok(shelf->kind->commit(shelf, &err) == 0 && shelf->kind->may_act(shelf), "a holder commits, and may act");
    postgres_ask(&postgres,
                 "UPDATE berth_holders SET epoch = epoch + 1, holder = 'other', who = 'process 1 of elsewhere'"
                 " WHERE namespace = 'fence'");
    put_text(shelf, "s", "a", "2", &err);
    tap_ok(shelf->kind->commit(shelf, &err) < 0 && strstr(err.text, "was taken by") && shelf->kind->broken(shelf),
           "one whose seat was taken commits nothing more (%s)", err.text);
    tap_ok(acts(shelf, false) && put_text(shelf, "s", "b", "2", &err) < 0, "and may do nothing more");
    shelf->kind->close(shelf);
    tap_ok(!strcmp(postgres_ask(&postgres, "SELECT encode(value, 'escape') FROM berth_rows WHERE namespace = 'fence'"),
                   "1"),
           "what was durable before is as it was");
    tap_ok(!strcmp(postgres_ask(&postgres, "SELECT holder FROM berth_holders WHERE namespace = 'fence'"), "other"),
           "and the seat is still the other's");
}

/* A holder's database fails over, and what it had acknowledged is not in the other one. */
static void lost(const char *name, const char *sql, const char *sentence)
{
    struct err err = {0};
    struct bench bench;
    struct shelf *shelf;

    bench_at(&bench, name);
    shelf = open_shelf(&bench);
    put_text(shelf, "s", "a", "1", &err);
    shelf->kind->commit(shelf, &err);
    put_text(shelf, "s", "a", "2", &err);
    shelf->kind->commit(shelf, &err);
    postgres_ask(&postgres, sql);
    tap_ok(acts(shelf, false) && shelf->kind->broken(shelf) && put_text(shelf, "s", "b", "1", &err) < 0 &&
               strstr(err.text, "has lost what it had acknowledged"),
           "%s (%s)", sentence, err.text);
    shelf->kind->close(shelf);
    shelf = open_shelf(&bench);
    tap_ok(shelf->kind->may_act(shelf) && put_text(shelf, "s", "b", "1", &err) == 0 &&
               shelf->kind->commit(shelf, &err) == 0,
           "who comes then goes on from what is there (%s)", err.text);
    shelf->kind->close(shelf);
}

static void test_lost(void)
{
    lost("lost", "UPDATE berth_commits SET commits = commits - 1 WHERE namespace = 'lost'",
         "a holder stops when a commit is gone that was acknowledged");
    lost("lapsed", "UPDATE berth_holders SET renewals = 0 WHERE namespace = 'lapsed'",
         "and when its renewals are gone");
}

/* A server that answers, and lets nobody in: as one that has too many clients, or is about to take over from another. */
static void test_refusing(void)
{
    PGconn *admin = postgres_connect(&postgres);
    struct err err = {0};
    struct bench bench;
    struct shelf *shelf;
    struct buf got;

    bench_at(&bench, "refusing");
    shelf = open_shelf(&bench);
    put_text(shelf, "s", "a", "1", &err);
    shelf->kind->commit(shelf, &err);
    PQclear(PQexec(admin, "ALTER ROLE berth NOLOGIN"));
    PQclear(PQexec(admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE "
                          "'berth refusing%'"));
    put_text(shelf, "s", "b", "2", &err);
    tap_ok(shelf->kind->commit_start(shelf, &err) == 0 && away_is(shelf, true) && acts(shelf, false) &&
               !shelf->kind->broken(shelf),
           "a database that lets nobody in for a while is away, which is no end for who was there before (%s)",
           err.text);
    buf_init(&got);
    tap_ok(shelf->kind->get(shelf, "s", "a", 1, row_collect, &got, &err) < 0 && !shelf->kind->broken(shelf),
           "nor are its rows gone");
    buf_done(&got);
    PQclear(PQexec(admin, "ALTER ROLE berth LOGIN"));
    PQfinish(admin);
    tap_ok(away_is(shelf, false) && commit_wait(shelf, &err) == 1 && rows_are(shelf, "s", "a=1 b=2 "),
           "and it goes on when it is let in again (%s)", err.text);
    shelf->kind->close(shelf);
}

/* ------------------------------------------------------------------------------------------------------- slow, and away */

/* Commits take until the gate is open. */
static void test_slow(void)
{
    struct err err = {0};
    struct bench bench;
    struct shelf *shelf;
    bool read;

    bench_at(&bench, "slow");
    shelf = open_shelf(&bench);
    put_text(shelf, "s", "a", "1", &err);
    shelf->kind->commit(shelf, &err);
    postgres_ask(&postgres, "CREATE TABLE gate (open int)");
    postgres_ask(
        &postgres,
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN WHILE NOT EXISTS (SELECT 1 FROM gate) LOOP PERFORM pg_sleep(0.02); END LOOP; RETURN NULL; END'");
    postgres_ask(&postgres, "CREATE CONSTRAINT TRIGGER wait AFTER UPDATE ON berth_rows DEFERRABLE INITIALLY DEFERRED"
                            " FOR EACH ROW EXECUTE FUNCTION wait()");
    put_text(shelf, "s", "a", "2", &err);
    tap_ok(shelf->kind->commit_start(shelf, &err) == 0, "a commit that takes long is begun, and not waited for");
    read = put_text(shelf, "s", "b", "3", &err) == 0 && rows_are(shelf, "s", "a=2 b=3 ");
    tap_ok(read && shelf->kind->commit_look(shelf, &err) == 0, "rows are put and read while it is under way (%s)",
           err.text);
    tap_ok(shelf->kind->commit_start(shelf, &err) < 0 && !shelf->kind->broken(shelf), "there is one at a time");
    tap_ok(away_is(shelf, true) && shelf->kind->may_act(shelf),
           "one of seconds is told of, but the lease is renewed all the while");
    postgres_ask(&postgres, "INSERT INTO gate VALUES (1)");
    tap_ok(commit_wait(shelf, &err) == 1 && away_is(shelf, false), "it is told when it is durable");
    tap_ok(shelf->kind->commit_start(shelf, &err) == 0 && commit_wait(shelf, &err) == 1 &&
               rows_are(shelf, "s", "a=2 b=3 "),
           "what was put meanwhile is in the next commit");
    tap_ok(shelf->kind->commit_start(shelf, &err) == 1, "one of nothing is durable at once");
    postgres_ask(&postgres, "DROP TRIGGER wait ON berth_rows");
    shelf->kind->close(shelf);
}

static void test_away(void)
{
    struct err err = {0};
    struct bench bench;
    struct shelf *shelf, *other;
    struct buf got;
    int64_t began;
    int failed = 0;

    bench_at(&bench, "other");
    other = open_shelf(&bench);
    bench_at(&bench, "away");
    shelf = open_shelf(&bench);
    put_text(shelf, "s", "a", "1", &err);
    shelf->kind->commit(shelf, &err);
    postgres_stop(&postgres, SIGQUIT);
    put_text(shelf, "s", "b", "2", &err);
    tap_ok(shelf->kind->commit_start(shelf, &err) == 0 && away_is(shelf, true) && !shelf->kind->broken(shelf),
           "while the database is away its shelf is not broken, and says that it is away");
    tap_ok(acts(shelf, false), "nothing may leave when its lease is over");
    buf_init(&got);
    tap_ok(shelf->kind->get(shelf, "s", "a", 1, row_collect, &got, &err) < 0 && !shelf->kind->broken(shelf),
           "a row that cannot be read is no row that is missing, and no end (%s)", err.text);
    began = clock_now();
    for (int i = 0; i < 100; i++)
        failed += shelf->kind->get(shelf, "s", "a", 1, row_collect, &got, &err) < 0;
    tap_ok(failed == 100 && clock_now() - began < WAIT_MAX / 2, "many of them are not waited for one after the other");
    tap_ok(shelf->kind->get(shelf, "s", "b", 1, row_collect, &got, &err) == 0 && !strcmp(buf_string(&got), "b=2 "),
           "one that waits to be durable is read all the same");
    tap_ok(shelf->kind->misread(shelf) && !shelf->kind->misread(shelf) && put_text(shelf, "s", "b", "3", &err) == 0,
           "whoever comes later, and knows that nothing follows from what was read, may put rows");
    tap_ok(other->kind->get(other, "s", "a", 1, row_collect, &got, &err) < 0 &&
               put_text(other, "s", "a", "1", &err) < 0 && other->kind->broken(other),
           "but who puts one because it could not be read is stopped (%s)", err.text);
    buf_done(&got);
    tap_ok(postgres_start(&postgres) && commit_wait(shelf, &err) == 1,
           "when the database is back the commit goes on (%s)", err.text);
    tap_ok(acts(shelf, true) && away_is(shelf, false), "and so does all else, under the same holder");
    tap_ok(rows_are(shelf, "s", "a=1 b=3 "), "nothing is lost, and nothing twice");
    put_text(shelf, "s", "c", "3", &err);
    postgres_ask(&postgres,
                 "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'berth away%'");
    tap_ok(shelf->kind->commit(shelf, &err) == 0 && rows_are(shelf, "s", "a=1 b=3 c=3 "),
           "connections that are cut are made again (%s)", err.text);
    shelf->kind->close(shelf);
    other->kind->close(other);
}

/* ------------------------------------------------------------------------------------------------------ checked, and moved */

static void space_collect(void *user, const struct store_space *space)
{
    buf_addf(user, "%s:%llu:%llu ", space->name, (unsigned long long)space->rows, (unsigned long long)space->bytes);
}

static void checked(const char *path, int want, const char *words, const char *sentence)
{
    struct buf said, spaces;
    struct err err = {0};
    int result;

    buf_init(&said);
    buf_init(&spaces);
    result = store_survey(path, space_collect, &spaces, &said, &err);
    buf_adds(&spaces, buf_string(&said));
    buf_adds(&spaces, err.text);
    if (!tap_ok(result == want && strstr(buf_string(&spaces), words), "%s", sentence))
        tap_diag("%d: %s", result, buf_string(&spaces));
    buf_done(&said);
    buf_done(&spaces);
}

static void test_check(void)
{
    struct err err = {0};
    struct bench bench;
    struct shelf *shelf;
    struct buf got;

    bench_at(&bench, "check");
    shelf = open_shelf(&bench);
    put_text(shelf, "jobs", "a", "one", &err);
    put_text(shelf, "jobs", "b", "two", &err);
    put_text(shelf, "k", "c", "three", &err);
    shelf->kind->commit(shelf, &err);
    checked(bench.path, 0, "jobs:2:8 k:1:6 ", "a store is looked over while a process has it open");
    postgres_ask(&postgres, "UPDATE berth_rows SET value = 'twx' WHERE namespace = 'check' AND key = 'b'");
    checked(bench.path, 1, "space jobs, row b: its checksum is wrong", "a row that somebody has changed is found");
    buf_init(&got);
    tap_ok(shelf->kind->get(shelf, "jobs", "b", 1, row_collect, &got, &err) < 0 &&
               strstr(err.text, "a row of jobs is damaged: b"),
           "and not handed over (%s)", err.text);
    tap_ok(shelf->kind->get(shelf, "jobs", "a", 1, row_collect, &got, &err) == 0 && !strcmp(buf_string(&got), "a=one "),
           "others are");
    buf_done(&got);
    shelf->kind->close(shelf);
}

static void test_move(void)
{
    struct bench file, bench, neighbour;
    struct store_copied copied;
    struct err err = {0};
    struct shelf *shelf;
    char copy[160], line[120];
    struct store_terms terms = {.file = file.path};

    bench_init(&file);
    bench_at(&bench, "move/a b");
    snprintf(copy, sizeof copy, "%s.copy", file.path);
    shelf = open_shelf(&file);
    put_text(shelf, "s", "a", "1", &err);
    put_text(shelf, "t", "\xff", "", &err);
    shelf->kind->commit(shelf, &err);
    tap_ok(store_move(file.path, bench.path, &copied, &err) < 0 && strstr(err.text, "is in use by"),
           "a store that a process has open is not moved");
    shelf->kind->close(shelf);
    shelf = store_open_as(bench.path, &terms, &err);
    tap_ok(!shelf && strstr(err.text, "berth store move"),
           "a daemon with a store in a file does not begin with an empty one (%s)", err.text);
    tap_ok(store_move(file.path, bench.path, &copied, &err) == 0 && copied.rows == 2 && access(file.path, F_OK) < 0 &&
               access(copied.aside, F_OK) == 0,
           "a store is moved from its file to a database; the file is kept aside (%s)", err.text);
    unlink(copied.aside);
    shelf = open_shelf(&bench);
    tap_ok(shelf && rows_are(shelf, "s", "a=1 ") && rows_are(shelf, "t", "\\xff= ") &&
               rows_are(shelf, SHELF_RESTORED_SPACE, ""),
           "its rows are there, and are not those of a backup");
    if (!shelf)
        return;
    tap_ok(store_backup(bench.path, copy, &copied, &err) == 0 && copied.rows == 2,
           "a backup is made while a process has it open (%s)", err.text);
    tap_ok(store_restore(copy, bench.path, false, &copied, &err) < 0 && strstr(err.text, "is in use by"),
           "but not put back meanwhile");
    put_text(shelf, "s", "b", "later", &err);
    shelf->kind->commit(shelf, &err);
    shelf->kind->close(shelf);
    bench_at(&neighbour, "move/a b.part");
    shelf = open_shelf(&neighbour);
    put_text(shelf, "s", "n", "another", &err);
    shelf->kind->commit(shelf, &err);
    tap_ok(store_restore(copy, bench.path, true, &copied, &err) == 0 && copied.rows == 2 &&
               !strcmp(copied.aside, "#move/a b.old.1"),
           "a backup is put back, and what was there is kept (%s)", err.text);
    tap_ok(rows_are(shelf, "s", "n=another "), "so is what a daemon has whose name is nearly the same");
    shelf->kind->close(shelf);
    shelf = open_shelf(&bench);
    tap_ok(shelf && rows_are(shelf, "s", "a=1 "), "its rows are those of then");
    if (!shelf)
        return;
    shelf->kind->close(shelf);
    snprintf(line, sizeof line, "%s",
             postgres_ask(&postgres, "SELECT encode(value, 'escape') FROM berth_rows WHERE space = "
                                     "'restored' AND namespace = 'move/a b'"));
    tap_ok(strstr(line, " alone"), "which say that they are of a backup (%s)", line);
    tap_ok(store_move(bench.path, file.path, &copied, &err) == 0 && copied.rows == 2 &&
               !strcmp(copied.aside, "#move/a b.old.2"),
           "a store is moved back to a file (%s)", err.text);
    shelf = open_shelf(&file);
    tap_ok(shelf && rows_are(shelf, "s", "a=1 ") && rows_are(shelf, "t", "\\xff= "), "with its rows");
    if (shelf)
        shelf->kind->close(shelf);
    checked(bench.path, 0, "", "and none are left where it was");
    tap_ok(store_move(bench.path, file.path, &copied, &err) < 0 && strstr(err.text, "is there already"),
           "nothing is moved over a file");
    snprintf(line, sizeof line, "%s/gone.db", file.folder);
    terms = (struct store_terms){.file = line, .traces = "."};
    bench_at(&bench, "gone");
    shelf = store_open_as(bench.path, &terms, &err);
    tap_ok(!shelf && strstr(err.text, "is empty, but there was a store here"),
           "a daemon whose folder has traces does not begin with an empty namespace (%s)", err.text);
    terms.fresh = true;
    shelf = store_open_as(bench.path, &terms, &err);
    tap_ok(shelf && put_text(shelf, "s", "a", "1", &err) == 0 && shelf->kind->commit(shelf, &err) == 0,
           "unless it is told to (%s)", err.text);
    if (shelf)
        shelf->kind->close(shelf);
    shelf = store_open_as(bench.path, &terms, &err);
    tap_ok(!shelf && strstr(err.text, "has rows"), "which is refused where there are rows (%s)", err.text);
    unlink(copy);
    bench_done(&file);
}

int main(void)
{
    struct bench bench;

    postgres_init(&postgres);
    bench_at(&bench, "rows");
    test_rows(&bench);
    bench_at(&bench, "bounds");
    test_bounds(&bench);
    bench_at(&bench, "nested");
    test_nested(&bench);
    test_addresses();
    test_pooler();
    test_many();
    test_twin();
    test_holders();
    test_stopped();
    test_fence();
    test_lost();
    test_refusing();
    test_slow();
    test_away();
    test_check();
    test_move();
    postgres_done(&postgres);
    return tap_done();
}
