/* health_check.c: the owner's own check of the machine (setting HealthCheck): a program that ends with 0 while jobs may come, and else says why not.
 *
 *     begun now and then -- ended with 0 --> fine
 *            `-- another status, killed, too long, not there --> words: its last line, or what became of it
 *
 * It is never waited for: it runs beside the loop, and is looked at now and then. */
#define _GNU_SOURCE
#include "live/providerd/providerd_parts.h"

#include "live/http/represent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK_SPAN (60 * SECOND) /* between two of them, while all is well */
#define CHECK_MOST (20 * SECOND) /* that one may take */
#define CHECK_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define OUTPUT_MAX 8192 /* bytes of its output that are kept */

/* The last line that it wrote, into `ret`; "" when it wrote nothing. */
static void last_line(int output, char *ret, size_t size)
{
    char text[OUTPUT_MAX + 1];
    ssize_t got = output < 0 ? 0 : pread(output, text, OUTPUT_MAX, 0);
    size_t len;
    const char *line;

    text[got > 0 ? got : 0] = '\0'; /* behind what it wrote there is nothing but zeros */
    len = strlen(text);
    while (len && (text[len - 1] == '\n' || text[len - 1] == '\r' || text[len - 1] == ' '))
        text[--len] = '\0';
    for (char *c = text; *c; c++)
        if (((unsigned char)*c < ' ' && *c != '\n') || *c == 0x7f)
            *c = ' ';
    line = strrchr(text, '\n');
    snprintf(ret, size, "%.150s", line ? line + 1 : text);
}

/* A place for so much of its output, and no more. */
static int output_make(void)
{
    int fd = memfd_create("check", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && (ftruncate(fd, OUTPUT_MAX) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) < 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void check_says(struct health_check *check, const char *what)
{
    struct err err;
    char line[160];

    last_line(check->output, line, sizeof line);
    if (utf8_check(line, strlen(line), &err) < 0)
        line[0] = '\0';
    snprintf(check->words, sizeof check->words, "HealthCheck: %s", *line ? line : what);
}

static void check_close(struct health_check *check)
{
    if (check->output >= 0)
        close(check->output);
    check->output = -1;
    check->pid = 0;
    check->ended = runner_now();
    check->due = check->ended + CHECK_SPAN;
}

/* 0, or an errno. */
static int check_spawn(struct health_check *check, const char *const *words)
{
    char path[] = CHECK_PATH;
    char *const environment[] = {path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    sigset_t none, all;
    int result;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, check->output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, check->output, STDERR_FILENO);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    result = posix_spawnp(&check->pid, words[0], &actions, &how, (char *const *)(uintptr_t)words, environment);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

static void check_begin(struct health_check *check, const char *const *words)
{
    char why[128];
    int result;

    check->output = output_make();
    check->began = runner_now();
    result = check->output < 0 ? errno : check_spawn(check, words);
    if (!result)
        return;
    snprintf(why, sizeof why, "'%.60s' cannot be started: %s", words[0], strerror(result));
    check_says(check, why);
    check_close(check);
}

/* Has it ended? Then what it said is known. */
static void check_look(struct health_check *check)
{
    bool late = runner_now() - check->began > CHECK_MOST;
    char what[64];
    int status;
    pid_t got;

    if (late) {
        kill(-check->pid, SIGKILL);
        snprintf(check->words, sizeof check->words, "HealthCheck: it did not end");
        check->ended = runner_now();
    }
    got = waitpid(check->pid, &status, WNOHANG); /* what hangs in the kernel is not waited for */
    if (got == 0 || (got < 0 && errno == EINTR))
        return;
    kill(-check->pid, SIGKILL); /* what it left behind */
    if (!late && (got < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0)))
        check->words[0] = '\0';
    else if (!late) {
        snprintf(what, sizeof what, WIFSIGNALED(status) ? "ended by signal %d" : "ended with status %d",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        check_says(check, what);
    }
    check_close(check);
}

void health_check_init(struct health_check *check)
{
    *check = (struct health_check){.output = -1};
}

void health_check_done(struct health_check *check)
{
    if (check->pid > 0) {
        kill(-check->pid, SIGKILL);
        waitpid(check->pid, NULL, 0);
    }
    check_close(check);
}

bool health_check_tick(struct health_check *check, const char *const *words, bool hurry)
{
    if (!words || !words[0])
        return true;
    if (check->pid > 0)
        check_look(check);
    else if (hurry || runner_now() >= check->due)
        check_begin(check, words);
    return check->pid <= 0 || runner_now() - check->began > CHECK_MOST;
}
