/* cluster_run.c: a command of a batch system, run to its end: what it printed, within bounds of time and size. */
#define _GNU_SOURCE /* pipe2 */
#include "exec/cluster.h"
#include "exec/pin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define COMPLAINT_MAX 4096 /* bytes of standard error that are kept */
#define LOOK_MS 50         /* between looks at a process, where the kernel cannot tell of its end */
#define KILLED_SPAN 5      /* seconds for one that was killed: it may hang in a file system that does not answer */

struct running {
    pid_t pid;
    int pin;      /* readable when it has ended; -1: none */
    int out, err; /* pipes; -1: closed */
    int64_t ends; /* its time, in seconds */
    struct buf complaint;
    bool too_long;
};

static int64_t seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static void child(char *const *words, int out, int err)
{
    sigset_t none;
    int null = open("/dev/null", O_RDONLY);

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    setpgid(0, 0); /* what is killed for its time goes with all that it started */
    if (null >= 0)
        dup2(null, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    execvp(words[0], words);
    dprintf(STDERR_FILENO, "%s: %s\n", words[0], strerror(errno));
    _exit(127);
}

static int start(char *const *words, struct running *running, struct err *err)
{
    int out[2], complaints[2];

    if (pipe2(out, O_CLOEXEC) < 0)
        return err_set(err, "%s: %s", words[0], strerror(errno));
    if (pipe2(complaints, O_CLOEXEC) < 0) {
        close(out[0]);
        close(out[1]);
        return err_set(err, "%s: %s", words[0], strerror(errno));
    }
    running->pid = fork();
    if (running->pid == 0)
        child(words, out[1], complaints[1]);
    close(out[1]);
    close(complaints[1]);
    running->out = out[0];
    running->err = complaints[0];
    running->pin = running->pid > 0 ? pin_open(running->pid) : -1;
    if (running->pid > 0)
        return 0;
    close(out[0]);
    close(complaints[0]);
    return err_set(err, "%s: %s", words[0], strerror(errno));
}

/* Reads what is there in one pipe; what is past `max` is thrown away. The pipe is closed when there will be no more. */
static void take(int *fd, struct buf *into, size_t max, bool *ret_cut)
{
    char bytes[16384];
    ssize_t count = read(*fd, bytes, sizeof bytes);

    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (count <= 0) {
        close(*fd);
        *fd = -1;
    } else if (into->len + (size_t)count <= max) {
        buf_add(into, bytes, (size_t)count);
    } else if (ret_cut) {
        *ret_cut = true;
    }
}

/* Reads until both pipes are closed. False when the command's time is over. */
static bool read_all(struct running *running, struct buf *out)
{
    while (running->out >= 0 || running->err >= 0) {
        struct pollfd fds[2] = {{running->out, POLLIN, 0}, {running->err, POLLIN, 0}};
        int64_t left = running->ends - seconds();

        if (left <= 0 || running->too_long)
            return false;
        if (poll(fds, 2, (int)left * 1000) < 0 && errno != EINTR)
            return false;
        if (fds[0].revents)
            take(&running->out, out, CLUSTER_OUTPUT_MAX, &running->too_long);
        if (fds[1].revents)
            take(&running->err, &running->complaint, COMPLAINT_MAX, NULL);
    }
    return true;
}

/* Waits until the command has ended, which need not be when its pipes are closed. False when it has not by `until`. */
static bool wait_end(const struct running *running, int64_t until, int *ret_status)
{
    struct pollfd pin = {running->pin, POLLIN, 0};

    for (;;) {
        pid_t pid = waitpid(running->pid, ret_status, WNOHANG);
        int64_t left = until - seconds();

        if (pid > 0 || (pid < 0 && errno != EINTR))
            return true;
        if (left <= 0)
            return false;
        poll(&pin, 1, running->pin >= 0 ? (int)left * 1000 : LOOK_MS);
    }
}

/* Ends a command: kills what is left of it, if `kills`, and closes its pipes. */
static void end(struct running *running, bool kills)
{
    int status;

    if (running->out >= 0)
        close(running->out);
    if (running->err >= 0)
        close(running->err);
    if (kills) {
        if (kill(-running->pid, SIGKILL) < 0)
            kill(running->pid, SIGKILL);
        wait_end(running, seconds() + KILLED_SPAN, &status);
    }
    if (running->pin >= 0)
        close(running->pin);
}

/* Copies the first line of a complaint, without characters that a terminal would obey. */
static void first_line(struct buf *complaint, char ret[201])
{
    snprintf(ret, 201, "%.200s", complaint->len ? buf_string(complaint) : "it did not say why");
    ret[strcspn(ret, "\n")] = '\0';
    for (char *at = ret; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
}

int cluster_run(char *const *words, int64_t span, struct buf *out, struct err *err)
{
    struct running running = {.pin = -1, .out = -1, .err = -1, .ends = seconds() + span};
    int status = 0, result = 0;
    char why[201];
    bool whole;

    if (start(words, &running, err) < 0)
        return -1;
    buf_init(&running.complaint);
    whole = read_all(&running, out) && wait_end(&running, running.ends, &status);
    end(&running, !whole);
    if (running.too_long)
        result = err_set(err, "%s: it printed more than %u bytes", words[0], CLUSTER_OUTPUT_MAX);
    else if (!whole)
        result = err_set(err, "%s: it took longer than %lld s", words[0], (long long)span);
    else if (!WIFEXITED(status))
        result = err_set(err, "%s: ended by signal %d", words[0], WTERMSIG(status));
    else if (WEXITSTATUS(status)) {
        first_line(&running.complaint, why);
        result = err_set(err, "%s ended with status %d: %s", words[0], WEXITSTATUS(status), why);
    }
    buf_done(&running.complaint);
    return result;
}
