/* postgres.h: a PostgreSQL server of a test's own, in a folder under /tmp, reached by its socket alone. Where the test is root it is another user's: the
 * server wants that. It ends with the test, however that ends. */
#ifndef BERTH_TESTS_POSTGRES_H
#define BERTH_TESTS_POSTGRES_H

#include "tap.h"

#include <errno.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct postgres {
    char folder[64], programs[200];
    uid_t uid;
    gid_t gid;
    pid_t pid; /* of the server; 0: it does not run */
};

static inline void postgres_rest(void)
{
    nanosleep(&(struct timespec){0, 20000000}, NULL);
}

/* Runs one of its programs, as its user. */
static inline pid_t postgres_program(const struct postgres *postgres, const char *name, const char *const *words)
{
    pid_t child;
    char path[300];

    snprintf(path, sizeof path, "%s/%s", postgres->programs, name);
    fflush(stdout);
    child = fork();
    if (child)
        return child;
    if (geteuid() == 0 && (setgid(postgres->gid) < 0 || setuid(postgres->uid) < 0))
        _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGQUIT);
    setenv("TZ", "UTC", 1);
    if (chdir(postgres->folder) < 0 || !freopen("log", "a", stdout) || !freopen("log", "a", stderr))
        _exit(126);
    execv(path, (char *const *)words); /* it changes none of them */
    _exit(127);
}

static inline void postgres_shown(const struct postgres *postgres)
{
    char path[120], line[400];
    FILE *file;

    snprintf(path, sizeof path, "%s/log", postgres->folder);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        tap_diag("%s", line);
    if (file)
        fclose(file);
}

static inline void postgres_uri(const struct postgres *postgres, const char *name, char *ret, size_t room)
{
    snprintf(ret, room, "postgresql://berth@/postgres?host=%s#%s", postgres->folder, name);
}

/* A connection of the test's own; NULL: the server does not answer. */
static inline PGconn *postgres_connect(const struct postgres *postgres)
{
    PGconn *conn;
    char uri[200];

    snprintf(uri, sizeof uri, "postgresql://berth@/postgres?host=%s", postgres->folder);
    conn = PQconnectdb(uri);
    if (PQstatus(conn) == CONNECTION_OK)
        return conn;
    PQfinish(conn);
    return NULL;
}

/* Starts the server, and waits until it answers. */
static inline bool postgres_start(struct postgres *postgres)
{
    const char *const words[] = {"postgres", "-D",
                                 "data",     "-F",
                                 "-k",       postgres->folder,
                                 "-c",       "listen_addresses=",
                                 "-c",       "shared_buffers=8MB",
                                 "-c",       "max_connections=40",
                                 "-c",       "autovacuum=off",
                                 "-c",       "wal_level=minimal",
                                 "-c",       "max_wal_senders=0",
                                 NULL};
    PGconn *conn = NULL;
    int status;

    postgres->pid = postgres_program(postgres, "postgres", words);
    for (int i = 0; i < 3000 && !(conn = postgres_connect(postgres)); i++) {
        if (waitpid(postgres->pid, &status, WNOHANG) == postgres->pid) {
            postgres->pid = 0;
            break;
        }
        postgres_rest();
    }
    if (!conn)
        postgres_shown(postgres);
    PQfinish(conn);
    return conn != NULL;
}

/* Ends it: SIGINT: in order; SIGQUIT: as if it had crashed. */
static inline void postgres_stop(struct postgres *postgres, int number)
{
    if (!postgres->pid)
        return;
    kill(postgres->pid, SIGCONT);
    kill(postgres->pid, number);
    waitpid(postgres->pid, NULL, 0);
    postgres->pid = 0;
}

static inline void postgres_done(struct postgres *postgres)
{
    char command[100];

    postgres_stop(postgres, SIGINT);
    snprintf(command, sizeof command, "rm -rf %s", postgres->folder);
    if (system(command) != 0)
        tap_diag("%s is left", postgres->folder);
}

static inline bool postgres_find(struct postgres *postgres)
{
    static const char *const places[] = {"/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/16/bin",
                                         "/usr/lib/postgresql/17/bin", "/usr/local/bin", "/usr/bin"};
    char path[300];

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/initdb", places[i]);
        snprintf(postgres->programs, sizeof postgres->programs, "%s", places[i]);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

/* Makes a server and starts it; the test is skipped where there is no PostgreSQL. */
static inline void postgres_init(struct postgres *postgres)
{
    const char *const words[] = {"initdb", "-D", "data", "-U",         "berth",     "-A",
                                 "trust",  "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions",
                                 NULL};
    const struct passwd *user = geteuid() == 0 ? getpwnam("postgres") : getpwuid(geteuid());
    int status = -1;

    *postgres = (struct postgres){.pid = 0};
    if (!postgres_find(postgres) || !user) {
        printf("1..0 # SKIP PostgreSQL is not here\n");
        exit(0);
    }
    postgres->uid = user->pw_uid;
    postgres->gid = user->pw_gid;
    snprintf(postgres->folder, sizeof postgres->folder, "/tmp/berth-postgres-XXXXXX");
    if (!mkdtemp(postgres->folder) || (geteuid() == 0 && chown(postgres->folder, postgres->uid, postgres->gid) < 0) ||
        waitpid(postgres_program(postgres, "initdb", words), &status, 0) < 0 || status != 0 ||
        !postgres_start(postgres)) {
        postgres_shown(postgres);
        printf("Bail out! %s: PostgreSQL does not start\n", postgres->folder);
        postgres_done(postgres);
        exit(1);
    }
}

/* Runs SQL; the first value of its first row, lent until the next call; "" where there is none. */
static inline const char *postgres_ask(const struct postgres *postgres, const char *sql)
{
    static char value[200];
    PGconn *conn = postgres_connect(postgres);
    PGresult *result = PQexec(conn, sql);

    *value = '\0';
    if (PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result))
        snprintf(value, sizeof value, "%s", PQgetvalue(result, 0, 0));
    else if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK)
        tap_diag("%s: %s", sql, PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
    return value;
}

#endif
