/* supervise.c: keeps one process of a pool alive. */
#include "cli/serve/supervise.h"

#include "cli/term/report.h"
#include "exec/self.h"
#include "lang/base/err.h"
#include "live/http/client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK_TIMEOUT INT64_C(1000000) /* microseconds */

int64_t supervise_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

/* Opens the log. Beside it, one older log is kept. */
static int log_open(const char *path)
{
    char older[PATH_MAX + 4];
    struct stat stat_;

    snprintf(older, sizeof older, "%s.1", path);
    if (stat(path, &stat_) == 0 && stat_.st_size > ROLE_LOG_MAX)
        (void)rename(path, older); /* if this fails the log grows on, which is better than no log */
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* Becomes the role, in the child process. */
static void role_become(const struct role *role, int log, pid_t parent)
{
    const char *words[ROLE_ARGUMENTS_MAX + 2] = {"berth", role->name};
    char self[SELF_MAX];
    sigset_t none;
    int null = open("/dev/null", O_RDONLY);

    for (size_t i = 0; role->arguments[i]; i++)
        words[i + 2] = role->arguments[i];
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0); /* Ctrl-C at the terminal is for the supervisor alone, which ends the roles in order */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    if (role->without)
        unsetenv(role->without);
    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    execv(self_program(self), (char **)(uintptr_t)words);
    _exit(127);
}

void role_tend(struct role *role, int64_t now)
{
    pid_t parent = getpid();
    struct stat info;
    int log;

    if (role->pid || role->given_up || now < role->next)
        return;
    log = *role->log ? log_open(role->log) : STDERR_FILENO;
    if (log < 0) {
        report("%s: %s", role->log, strerror(errno));
        log = STDERR_FILENO;
    }
    role->log_from = log == STDERR_FILENO || fstat(log, &info) < 0 ? 0 : info.st_size;
    role->pid = fork();
    if (role->pid == 0)
        role_become(role, log, parent);
    if (log != STDERR_FILENO)
        close(log);
    if (role->pid < 0) {
        report("the %s cannot be started: %s", role->name, strerror(errno));
        role->pid = 0;
        role->next = now + ROLE_PAUSE_MAX;
    }
    role->started = now;
}

bool role_reap_quietly(struct role *role)
{
    if (role->pid && waitpid(role->pid, NULL, WNOHANG) == role->pid)
        role->pid = 0;
    return !role->pid;
}

/* Keeps what the process said last: of the lines that it wrote, the last that is a complaint, as commands write them; lines of the log have a time
 * in front, and are for those who look for more. */
static void words_keep(struct role *role)
{
    static const char start[] = "berth: ";
    char tail[8192];
    ssize_t got = -1;
    int fd = *role->log ? open(role->log, O_RDONLY | O_CLOEXEC) : -1;
    struct stat info;

    role->words[0] = '\0';
    if (fd >= 0 && fstat(fd, &info) == 0) {
        int64_t from = info.st_size - (int64_t)sizeof tail + 1;

        got = pread(fd, tail, sizeof tail - 1, from > role->log_from ? from : role->log_from);
    }
    if (fd >= 0)
        close(fd);
    tail[got > 0 ? got : 0] = '\0';
    for (char *line = tail, *end; *line; line = end + (*end != '\0')) {
        end = line + strcspn(line, "\n");
        if (!strncmp(line, start, strlen(start)))
            snprintf(role->words, sizeof role->words, "%.*s", (int)(end - line - (ptrdiff_t)strlen(start)),
                     line + strlen(start));
    }
}

static void death_tell(const struct role *role, int ended)
{
    char how[60 + ROLE_WORDS_MAX];

    if (*role->words)
        snprintf(how, sizeof how, "%s: %s", role->was_up ? "ended" : "does not start", role->words);
    else if (WIFSIGNALED(ended))
        snprintf(how, sizeof how, "was ended by signal %d", WTERMSIG(ended));
    else
        snprintf(how, sizeof how, "ended with status %d", WEXITSTATUS(ended));
    if (role->once && !role->was_up)
        report("the %s %s%s%s", role->name, how, *role->words || !*role->log ? "" : "; its log is ",
               *role->words ? "" : role->log);
    else if (role->given_up)
        report("the %s %s: %d times within %d minutes, so it is not started again%s%s", role->name, how, ROLE_DEATHS,
               ROLE_DEATHS_SPAN / 60000, *role->log ? "; its log is " : "", role->log);
    else
        report("the %s %s; it is started again in %.1f s%s%s", role->name, how, (double)role->pause / 1000,
               *role->log ? "; its log is " : "", role->log);
}

void role_reap(struct role *role, int64_t now)
{
    int ended;

    if (!role->pid || waitpid(role->pid, &ended, WNOHANG) != role->pid)
        return;
    if (!role->pause || (role->up && now - role->started > ROLE_STEADY))
        role->pause = ROLE_PAUSE_MIN;
    else
        role->pause = role->pause * 2 < ROLE_PAUSE_MAX ? role->pause * 2 : ROLE_PAUSE_MAX;
    role->deaths[role->death_count++ % ROLE_DEATHS] = now;
    role->given_up = role->death_count >= ROLE_DEATHS && now - role->deaths[role->death_count % ROLE_DEATHS] <=
                                                             ROLE_DEATHS_SPAN; /* the oldest of the ring */
    role->pid = 0;
    role->up = false;
    role->next = now + role->pause;
    words_keep(role);
    death_tell(role, ended);
}

void role_check(struct role *role)
{
    struct http_call call = {.url = "http://localhost/healthz", .unix_socket = role->socket, .timeout = CHECK_TIMEOUT};
    struct fetched fetched;
    struct err err;

    if (!role->pid || role->up || access(role->socket, F_OK) < 0)
        return;
    if (client_fetch(NULL, &call, &fetched, &err) < 0)
        return;
    role->up = fetched.status / 100 != 5; /* whatever it answers, it lives */
    role->was_up = role->was_up || role->up;
    fetched_done(&fetched);
}

void role_end(struct role *role, int number)
{
    if (role->pid)
        kill(role->pid, number);
}
