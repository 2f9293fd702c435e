/* software.c: programs of the owner's that print an ad: licences, versions, whatever a machine has that we cannot know of.
 *
 *     start: spawned, its own process group ---> poll: output is read ---> it ended: the ad replaces what it said before
 *                                                   `--- too long, too much: the group is killed ---> its words are a complaint
 *
 * Nothing waits: a program that was killed is reaped by a later poll. */
#define _GNU_SOURCE /* pipe2 */
#include "exec/probe_parts.h"
#include "lang/form/form.h"
#include "pool/protocol/writers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define FREE_PATIENCE 100 /* milliseconds that a killed program may take to go when all ends */

struct program {
    char *file;
    pid_t pid; /* 0: it does not run */
    int out;   /* -1: nothing more is wanted of it */
    int64_t ends;
    struct buf text;
    struct tree *ad; /* what it said when it last said something; or NULL */
};

struct software {
    struct symbols *symbols;
    int64_t span;
    uint32_t count;
    struct program *programs;
    char complaint[PROBE_COMPLAINT_MAX + 1];
};

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void complain(struct software *software, const struct program *program, const char *why)
{
    size_t len = strlen(software->complaint);
    char all[ERR_TEXT_MAX + 300], clean[ERR_TEXT_MAX + 300];

    snprintf(all, sizeof all, "%.250s: %s", program->file, why);
    for (char *c = all; *c; c++) /* one line */
        if (*c == '\n')
            *c = ' ';
    text_clean(all, strlen(all), clean, sizeof clean);
    snprintf(software->complaint + len, sizeof software->complaint - len, "%s%s", len ? "; " : "", clean);
}

/* ------------------------------------------------------------------------------------------------------------- starting */

struct software *software_new(struct symbols *symbols, const char *const *programs, int64_t span)
{
    struct software *software = mem_alloc(sizeof *software);
    uint32_t count = 0;

    while (programs && programs[count] && count < PROBE_PROGRAMS_MAX)
        count++;
    memset(software, 0, sizeof *software);
    software->symbols = symbols;
    software->span = span;
    software->count = count;
    software->programs = mem_alloc((count + 1) * sizeof *software->programs);
    for (uint32_t i = 0; i < count; i++) {
        struct program *program = &software->programs[i];

        memset(program, 0, sizeof *program);
        program->file = mem_dup(programs[i], strlen(programs[i]));
        program->out = -1;
        buf_init(&program->text);
    }
    return software;
}

/* Starts a program; 0 or an errno. */
static int program_spawn(struct program *program, int out)
{
    char path[] = PROGRAM_PATH;
    char *const arguments[] = {program->file, NULL}, *const environment[] = {path, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    sigset_t none, all;
    int result;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &all);
    result = posix_spawn(&program->pid, program->file, &actions, &how, arguments, environment);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

static void program_start(struct software *software, struct program *program)
{
    char why[100];
    int ends[2], result;

    if (pipe2(ends, O_CLOEXEC) < 0) {
        complain(software, program, strerror(errno));
        return;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK); /* our end only */
    buf_reset(&program->text);
    result = program_spawn(program, ends[1]);
    close(ends[1]);
    if (result != 0) {
        program->pid = 0;
        close(ends[0]);
        snprintf(why, sizeof why, "cannot be started: %s", strerror(result));
        complain(software, program, why);
        return;
    }
    program->out = ends[0];
    program->ends = now_us() + software->span;
}

void software_start(struct software *software)
{
    *software->complaint = '\0';
    for (uint32_t i = 0; i < software->count; i++) {
        if (software->programs[i].pid)
            complain(software, &software->programs[i], "still runs");
        else
            program_start(software, &software->programs[i]);
    }
}

/* -------------------------------------------------------------------------------------------------------------- reading */

static void program_forget(struct program *program)
{
    if (program->out >= 0)
        close(program->out);
    program->out = -1;
    buf_reset(&program->text);
}

static void program_kill(struct program *program)
{
    kill(-program->pid, SIGKILL);
    program_forget(program);
}

/* Has the program ended? Whatever it left running in its group is killed, while its number is still its own. */
static bool program_reap(struct program *program, int *ret_status)
{
    siginfo_t info = {0};
    pid_t got;

    *ret_status = -1;
    if (waitid(P_PID, (id_t)program->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0) {
        program->pid = 0; /* somebody else reaped it, and knows */
        return true;
    }
    if (info.si_pid == 0)
        return false;
    kill(-program->pid, SIGKILL);
    do
        got = waitpid(program->pid, ret_status, WNOHANG);
    while (got < 0 && errno == EINTR);
    program->pid = 0;
    return true;
}

/* Reads what the program has printed. False when it is too much. */
static bool program_read(struct program *program)
{
    while (program->text.len <= PROBE_OUTPUT_MAX) {
        ssize_t count = read(program->out, buf_reserve(&program->text, 4096), 4096);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return true;
        program->text.len += (size_t)count;
    }
    return false;
}

static void program_take(struct software *software, struct program *program, int status)
{
    struct form_limits limits = {
        .bytes = PROBE_OUTPUT_MAX, .cells = PROBE_CELLS_MAX, .attributes = PROBE_ATTRIBUTES_MAX};
    char why[ERR_TEXT_MAX + 60];
    struct err err = {0};
    struct tree *ad;

    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        ad = form_parse(software->symbols, &dialect_classic, FORM_UNKNOWN, &limits, buf_string(&program->text),
                        program->text.len, &err);
        if (ad) {
            tree_unref(program->ad);
            program->ad = ad;
            return;
        }
        snprintf(why, sizeof why, "printed no ad: %u:%u: %s", err.line, err.column, err.text);
    } else if (WIFSIGNALED(status)) {
        snprintf(why, sizeof why, "was ended by signal %d", WTERMSIG(status));
    } else {
        snprintf(why, sizeof why, "ended with status %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
    complain(software, program, why);
}

static void program_poll(struct software *software, struct program *program)
{
    char why[100];
    int status;
    bool ended;

    if (!program->pid)
        return;
    ended = program_reap(program, &status); /* first: what it printed is then all there */
    if (program->out < 0)
        return; /* it was killed */
    if (!program_read(program)) {
        snprintf(why, sizeof why, "printed more than %u bytes", PROBE_OUTPUT_MAX);
        complain(software, program, why);
        if (!ended)
            program_kill(program);
    } else if (ended) {
        program_take(software, program, status);
    } else if (now_us() >= program->ends) {
        snprintf(why, sizeof why, "took more than %.3g s", (double)software->span / 1e6);
        complain(software, program, why);
        program_kill(program);
    }
    if (ended)
        program_forget(program);
}

bool software_poll(struct software *software)
{
    bool any = false;

    for (uint32_t i = 0; i < software->count; i++) {
        program_poll(software, &software->programs[i]);
        any |= software->programs[i].pid != 0;
    }
    return any;
}

/* --------------------------------------------------------------------------------------------------------------- the end */

const char *software_complaint(const struct software *software)
{
    return software->complaint;
}

struct tree *software_lay_take(const struct software *software, struct tree *below)
{
    for (uint32_t i = 0; i < software->count; i++) {
        struct tree *ad = software->programs[i].ad, *both = ad ? ad_over(below, ad, NULL) : NULL;

        if (!both)
            continue;
        tree_unref(below);
        below = both;
    }
    return below;
}

static void program_end(struct program *program)
{
    struct timespec moment = {0, 1000000};
    int status;

    if (program->pid)
        program_kill(program);
    for (int i = 0; program->pid && !program_reap(program, &status) && i < FREE_PATIENCE; i++)
        nanosleep(&moment, NULL);
    program_forget(program);
    buf_done(&program->text);
    tree_unref(program->ad);
    free(program->file);
}

void software_free(struct software *software)
{
    if (!software)
        return;
    for (uint32_t i = 0; i < software->count; i++)
        program_end(&software->programs[i]);
    free(software->programs);
    free(software);
}
