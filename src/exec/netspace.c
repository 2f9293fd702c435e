/* netspace.c: a network with nothing but its own loopback. */
#define _GNU_SOURCE
#include "exec/netspace.h"

#include "exec/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

    if (fd >= 0)
        close(fd);
    return written;
}

/* Makes a user namespace in which the user stays who it is: an ordinary user may make a network only in one of its own. */
static bool own_user_space(uid_t uid, gid_t gid)
{
    char text[64];

    if (unshare(CLONE_NEWUSER) < 0)
        return false;
    write_file("/proc/self/setgroups", "deny");
    snprintf(text, sizeof text, "%u %u 1\n", (unsigned)uid, (unsigned)uid);
    if (!write_file("/proc/self/uid_map", text))
        return false;
    snprintf(text, sizeof text, "%u %u 1\n", (unsigned)gid, (unsigned)gid);
    return write_file("/proc/self/gid_map", text);
}

static bool loopback_up(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request;
    bool up;

    memset(&request, 0, sizeof request);
    strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    up = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
    if (fd >= 0)
        close(fd);
    return up;
}

enum made { MADE_NONE, MADE_NET, MADE_USER_TOO };

/* Makes the namespaces in a process of their own, which stays until they have been opened by its /proc. */
static void make_and_wait(int told, int wait_for)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();
    char done = MADE_NONE;

    guard_lift(); /* or its maps could not be written, nor its namespaces be opened */
    if (unshare(CLONE_NEWNET) == 0)
        done = loopback_up() ? MADE_NET : MADE_NONE;
    else if (own_user_space(uid, gid) && unshare(CLONE_NEWNET) == 0 && loopback_up())
        done = MADE_USER_TOO;

    if (write(told, &done, 1) == 1)
        while (read(wait_for, &done, 1) < 0 && errno == EINTR)
            ;
    _exit(0);
}

static int space_open(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

int netspace_make(struct netspace *ret, struct err *err)
{
    int told[2], wait_for[2];
    char done = MADE_NONE;
    pid_t pid;

    *ret = (struct netspace){-1, -1};
    if (pipe2(told, O_CLOEXEC) < 0)
        return err_set(err, "a pipe: %s", strerror(errno));
    if (pipe2(wait_for, O_CLOEXEC) < 0) {
        close(told[0]);
        close(told[1]);
        return err_set(err, "a pipe: %s", strerror(errno));
    }
    pid = fork();
    if (pid == 0) {
        close(wait_for[1]);
        make_and_wait(told[1], wait_for[0]);
    }
    close(told[1]);
    close(wait_for[0]);
    if (pid > 0 && read(told[0], &done, 1) == 1 && done != MADE_NONE) {
        ret->net = space_open(pid, "net");
        ret->user = done == MADE_NET ? -1 : space_open(pid, "user");
    }
    close(told[0]);
    close(wait_for[1]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    if (ret->net < 0 || (done != MADE_NET && ret->user < 0)) {
        netspace_done(ret);
        return err_set(err, "a network namespace could not be made");
    }
    return 0;
}

void netspace_done(struct netspace *netspace)
{
    if (netspace->user >= 0)
        close(netspace->user);
    if (netspace->net >= 0)
        close(netspace->net);
    *netspace = (struct netspace){-1, -1};
}

int netspace_enter(const struct netspace *netspace)
{
    if (netspace->user >= 0 && setns(netspace->user, CLONE_NEWUSER) < 0)
        return -1;
    return setns(netspace->net, CLONE_NEWNET);
}
