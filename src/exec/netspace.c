/* netspace.c: a network with nothing but its own loopback, or one that is about to lead out. */
#define _GNU_SOURCE
#include "exec/netspace.h"

#include "exec/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
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

/* Makes a user namespace in which the user is called `inner`: an ordinary user may make a network only in one of its own. */
static bool own_user_space(uid_t inner, gid_t inner_group, uid_t uid, gid_t gid)
{
    char text[64];

    if (unshare(CLONE_NEWUSER) < 0)
        return false;
    write_file("/proc/self/setgroups", "deny");
    snprintf(text, sizeof text, "%u %u 1\n", (unsigned)inner, (unsigned)uid);
    if (!write_file("/proc/self/uid_map", text))
        return false;
    snprintf(text, sizeof text, "%u %u 1\n", (unsigned)inner_group, (unsigned)gid);
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

/* Link-local addresses lead nowhere: what a machine has there, such as where clouds keep its credentials, is its own. */
static bool link_local_refused(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct rtentry route;
    struct sockaddr_in address = {.sin_family = AF_INET};
    bool added;

    memset(&route, 0, sizeof route);
    address.sin_addr.s_addr = htonl(0xa9fe0000); /* 169.254.0.0/16 */
    memcpy(&route.rt_dst, &address, sizeof address);
    address.sin_addr.s_addr = htonl(0xffff0000);
    memcpy(&route.rt_genmask, &address, sizeof address);
    route.rt_flags = RTF_UP | RTF_REJECT;
    added = fd >= 0 && ioctl(fd, SIOCADDRT, &route) == 0;
    if (fd >= 0)
        close(fd);
    return added;
}

enum made { MADE_NONE, MADE_NET, MADE_USER_TOO };

static enum made closed_make(void)
{
    uid_t uid = geteuid();
    gid_t gid = getegid();

    guard_lift(); /* or its maps could not be written, nor its namespaces be opened */
    if (unshare(CLONE_NEWNET) == 0)
        return loopback_up() ? MADE_NET : MADE_NONE;
    return own_user_space(uid, gid, uid, gid) && unshare(CLONE_NEWNET) == 0 && loopback_up() ? MADE_USER_TOO
                                                                                             : MADE_NONE;
}

static enum made open_make(uid_t uid)
{
    if (uid && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
        return MADE_NONE;
    uid = geteuid();
    guard_lift();
    return own_user_space(0, 0, uid, getegid()) && unshare(CLONE_NEWNET) == 0 && loopback_up() && link_local_refused()
               ? MADE_USER_TOO
               : MADE_NONE;
}

/* Makes the namespaces in a process of their own, which stays until they have been opened by its /proc. */
static void make_and_wait(bool leads, uid_t uid, int told, int wait_for)
{
    char done = (char)(leads ? open_make(uid) : closed_make());

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

static int spaces_make(bool leads, uid_t uid, struct netspace *ret, struct netspace_keeper *ret_keeper, struct err *err)
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
        make_and_wait(leads, uid, told[1], wait_for[0]);
    }
    close(told[1]);
    close(wait_for[0]);
    if (pid > 0 && read(told[0], &done, 1) == 1 && done != MADE_NONE) {
        ret->net = space_open(pid, "net");
        ret->user = done == MADE_NET ? -1 : space_open(pid, "user");
    }
    close(told[0]);
    *ret_keeper = (struct netspace_keeper){pid, wait_for[1]};
    if (ret->net >= 0 && (done == MADE_NET || ret->user >= 0))
        return 0;
    netspace_keeper_end(ret_keeper);
    netspace_done(ret);
    return err_set(err, "a network namespace could not be made");
}

void netspace_keeper_end(struct netspace_keeper *keeper)
{
    close(keeper->hold);
    if (keeper->pid > 0)
        waitpid(keeper->pid, NULL, 0);
}

int netspace_make(struct netspace *ret, struct err *err)
{
    struct netspace_keeper keeper;

    if (spaces_make(false, 0, ret, &keeper, err) < 0)
        return -1;
    netspace_keeper_end(&keeper);
    return 0;
}

int netspace_make_open(uint32_t uid, struct netspace *ret, struct netspace_keeper *ret_keeper, struct err *err)
{
    return spaces_make(true, uid, ret, ret_keeper, err);
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
