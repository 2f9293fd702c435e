/* usage_test.c: what a sandbox keeps in memory as files, looked at while it is being made. */
#define _GNU_SOURCE
#include "common/tap.h"
#include "exec/usage.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SANDBOXES 80
#define LOOK_NS 12000000 /* at each, which takes a few milliseconds to be made */
#define OURS (64 << 20)

static bool text_put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return done;
}

/* The machine's /tmp is in memory, and has much in it: in a world of our own, so that anybody may do that. */
static bool machine_make(void)
{
    unsigned uid = (unsigned)getuid(), gid = (unsigned)getgid();
    char map[64];
    int fd;

    if (uid) {
        if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
            return false;
        snprintf(map, sizeof map, "%u %u 1", uid, uid);
        if (!text_put("/proc/self/setgroups", "deny") || !text_put("/proc/self/uid_map", map))
            return false;
        snprintf(map, sizeof map, "%u %u 1", gid, gid);
        if (!text_put("/proc/self/gid_map", map))
            return false;
    } else if (unshare(CLONE_NEWNS) < 0) {
        return false;
    }
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || mount("tmpfs", "/tmp", "tmpfs", 0, NULL) < 0)
        return false;
    fd = open("/tmp/much", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return fd >= 0 && posix_fallocate(fd, 0, OURS) == 0 && close(fd) == 0;
}

/* Begins a sandbox, which waits behind `ret_go` and tells by `ret_told`; returns the number of its first process. */
static int sandbox_begin(pid_t *ret_pid, int *ret_go, int *ret_told)
{
    int told[2], go[2], init = 0;
    char text[256] = "", status[16], block[16];
    const char *at;

    if (pipe(told) < 0 || pipe2(go, O_CLOEXEC) < 0)
        return 0;
    snprintf(status, sizeof status, "%d", told[1]);
    snprintf(block, sizeof block, "%d", go[0]);
    *ret_pid = fork();
    if (*ret_pid == 0) {
        fcntl(go[0], F_SETFD, 0);
        close(told[0]);
        execlp("bwrap", "bwrap", "--unshare-user", "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/",
               "--size", "1048576", "--tmpfs", "/tmp", "--json-status-fd", status, "--block-fd", block, "true",
               (char *)NULL);
        _exit(126);
    }
    close(told[1]);
    close(go[0]);
    *ret_go = go[1];
    if (read(told[0], text, sizeof text - 1) > 0 && (at = strstr(text, "\"child-pid\":")))
        init = atoi(at + strlen("\"child-pid\":"));
    *ret_told = told[0];
    return init;
}

static int64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int main(void)
{
    int64_t most = 0;
    int made = 0;

    if (!machine_make()) {
        puts("1..0 # skip no mount namespace can be had here");
        return 0;
    }
    for (int i = 0; i < SANDBOXES; i++) {
        int go = -1, told = -1, init, status;
        pid_t pid;
        int64_t end;

        init = sandbox_begin(&pid, &go, &told);
        made += init > 0;
        for (end = now_ns() + LOOK_NS; init > 0 && now_ns() < end;) {
            int64_t bytes = job_processes_files(init);

            most = bytes > most ? bytes : most;
        }
        if (init > 0)
            kill(init, SIGKILL); /* and all of it goes */
        close(go);
        waitpid(pid, &status, 0);
        close(told);
    }
    tap_ok(made == SANDBOXES, "%d of %d sandboxes are made", made, SANDBOXES);
    tap_ok(most < 1 << 20, "what the machine has in its own /tmp never counts as memory of a job (%lld bytes)",
           (long long)most);
    return tap_done();
}
