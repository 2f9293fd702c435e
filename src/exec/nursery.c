/* nursery.c: makes launchers, by a process that was loaded before or by starting the program. */
#define _GNU_SOURCE
#include "exec/nursery_parts.h"

#include "exec/filter.h"
#include "sys/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIGH_FD 10 /* above those that a launcher is handed */
#define NAME_LEN (CLAIM_NAME_MAX - 1)
#define NO_CLAIM "----------------"

enum { HANDED_AGENT, HANDED_LOCK, HANDED_LOG, HANDED_COUNT };

union handed {
    struct cmsghdr head;
    char room[CMSG_SPACE(HANDED_COUNT * sizeof(int))];
};

/* ------------------------------------------------------------------------------------------------- starting the program */

static _Noreturn void become_launcher(const struct local *local, const char *folder, int ours, int lock, int log)
{
    const char *steps = getenv(STEPS_VARIABLE);
    char noted[PATH_MAX + sizeof STEPS_VARIABLE + 1];
    char *const environment[] = {steps ? noted : NULL, NULL};
    char *const argv[] = {(char *)(uintptr_t) "berth", (char *)(uintptr_t) "launcher", (char *)(uintptr_t)folder, NULL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    ours = fcntl(ours, F_DUPFD, HIGH_FD);
    lock = fcntl(lock < 0 ? null : lock, F_DUPFD, HIGH_FD);
    log = fcntl(log < 0 ? null : log, F_DUPFD, HIGH_FD);
    if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(log, 2) < 0 || dup2(ours, 3) < 0 || dup2(lock, 4) < 0 ||
        chdir("/") < 0)
        _exit(126);
    close_range(5, ~0u, 0);
    if (steps)
        snprintf(noted, sizeof noted, "%s=%s", STEPS_VARIABLE, steps);
    execve(local->program, argv, environment);
    _exit(126);
}

/* Starts the program as a grandchild with a session of its own, so that it has no ties to us. */
static bool program_start(const struct local *local, const char *name, int ours, int lock, int log)
{
    char folder[4096];
    int status = 0;
    pid_t pid;

    snprintf(folder, sizeof folder, "%s/%s", local->state_path, name);
    pid = fork();
    if (pid == 0) {
        setsid();
        pid = fork();
        if (pid == 0)
            become_launcher(local, folder, ours, lock, log);
        _exit(pid < 0);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return pid > 0 && status == 0;
}

/* ------------------------------------------------------------------------------------------------------------- the agent */

void nursery_open(struct local *local)
{
    int ends[2];

    local->nursery = -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return;
    if (program_start(local, NO_CLAIM, ends[1], -1, -1))
        local->nursery = ends[0];
    else
        close(ends[0]);
    close(ends[1]);
}

void nursery_close(struct local *local)
{
    if (local->nursery >= 0)
        close(local->nursery);
    local->nursery = -1;
}

static bool nursery_ask(const struct local *local, char name[CLAIM_NAME_MAX], const int handed[HANDED_COUNT])
{
    struct iovec part = {name, NAME_LEN};
    union handed room;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};

    memset(&room, 0, sizeof room);
    room.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    room.head.cmsg_len = CMSG_LEN(HANDED_COUNT * sizeof(int));
    memcpy(CMSG_DATA(&room.head), handed, HANDED_COUNT * sizeof(int));
    return local->nursery >= 0 && sendmsg(local->nursery, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == NAME_LEN;
}

bool launcher_spawn(struct local *local, uint64_t claim, int ours, int lock, int log)
{
    const int handed[HANDED_COUNT] = {[HANDED_AGENT] = ours, [HANDED_LOCK] = lock, [HANDED_LOG] = log};
    char name[CLAIM_NAME_MAX];
    bool made;

    snprintf(name, sizeof name, "%016llx", (unsigned long long)claim);
    if (nursery_ask(local, name, handed))
        return true;
    made = program_start(local, name, ours, lock, log);
    nursery_close(local); /* it has died, or there was none: another, for the next */
    nursery_open(local);
    return made;
}

/* ----------------------------------------------------------------------------------------------------------- the nursery */

bool nursery_is(const char *folder)
{
    size_t len = strlen(folder);

    return len > NAME_LEN && !strcmp(folder + len - NAME_LEN, NO_CLAIM);
}

/* The next launcher to be made; false: there is none. */
static bool nursery_hear(char name[CLAIM_NAME_MAX], int handed[HANDED_COUNT])
{
    struct iovec part = {name, NAME_LEN};
    union handed room;
    ssize_t got;

    for (;;) {
        struct msghdr message = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &room, .msg_controllen = sizeof room};
        const struct cmsghdr *head;

        got = recvmsg(3, &message, MSG_CMSG_CLOEXEC);
        if (got < 0 && errno == EINTR)
            continue;
        head = got == NAME_LEN ? CMSG_FIRSTHDR(&message) : NULL;
        if (!head || head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS ||
            head->cmsg_len != CMSG_LEN(HANDED_COUNT * sizeof(int)))
            return false; /* our agent says nothing else */
        memcpy(handed, CMSG_DATA(head), HANDED_COUNT * sizeof(int));
        return true;
    }
}

const char *nursery_serve(const char *folder)
{
    char *written = (char *)(uintptr_t)folder + strlen(folder) - NAME_LEN, name[CLAIM_NAME_MAX];
    int handed[HANDED_COUNT];

    filter_ready();
    signal(SIGCHLD, SIG_IGN); /* nobody asks how a launcher ended */
    while (nursery_hear(name, handed)) {
        pid_t pid = fork();

        if (pid == 0) {
            signal(SIGCHLD, SIG_DFL);
            setpgid(0, 0);
            if (dup2(handed[HANDED_LOG], 2) < 0 || dup2(handed[HANDED_AGENT], 3) < 0 ||
                dup2(handed[HANDED_LOCK], 4) < 0)
                _exit(126);
            close_range(5, ~0u, 0);
            memcpy(written, name, NAME_LEN);
            return folder;
        }
        for (int i = 0; i < HANDED_COUNT; i++)
            close(handed[i]);
    }
    return NULL;
}
