/* jobnet.c: a network of a job's own that leads out, by slirp4netns. */
#define _GNU_SOURCE
#include "exec/jobnet.h"

#include "exec/sandbox_parts.h"
#include "lang/base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NETWORK "192.0.2.0/24" /* for examples in manuals: no real network has it, so none is hidden */
#define MTU "65520"
#define DEVICE_FOLDER "/dev/net"
#define DEVICE DEVICE_FOLDER "/tun"
#define READY_MS 5000 /* that it may take to begin */
#define SAID_MAX 160

const char *jobnet_program(void)
{
    static const char *const places[] = {"/usr/bin/slirp4netns", "/usr/local/bin/slirp4netns"};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

void jobnet_init(struct jobnet *jobnet)
{
    *jobnet = (struct jobnet){.space = {-1, -1}, .alive = -1};
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* -------------------------------------------------------------------------------------------------------------- the program */

/* What the child needs: who is in the namespaces, and descriptors. */
struct begin {
    pid_t keeper;
    int ready, alive, says;
};

static void number(char text[32], const char *before, int fd)
{
    snprintf(text, 32, "%s%d", before, fd);
}

/* As root: where the device that makes interfaces is root's alone, the program gets one in a folder that nobody else sees. What fails here shows when it is opened. */
static void device_give(void)
{
    struct stat st;

    if (stat(DEVICE, &st) < 0 || (st.st_mode & 0006) == 0006)
        return;
    if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
        mount("tmpfs", DEVICE_FOLDER, "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=4k") == 0 &&
        mknod(DEVICE, S_IFCHR, st.st_rdev) == 0)
        chmod(DEVICE, 0666);
}

/* In the child. */
static _Noreturn void program_begin(const struct begin *begin, uint32_t uid)
{
    static char *const nothing[] = {NULL};
    const int passed[] = {begin->ready, begin->alive};
    char keeper[32], ready[32], alive[32];
    char *const argv[] = {(char *)(uintptr_t) "slirp4netns",
                          (char *)(uintptr_t) "--configure",
                          (char *)(uintptr_t) "--mtu=" MTU,
                          (char *)(uintptr_t) "--cidr=" NETWORK,
                          (char *)(uintptr_t) "--disable-host-loopback",
                          (char *)(uintptr_t) "--enable-sandbox",
                          (char *)(uintptr_t) "--enable-seccomp",
                          ready,
                          alive,
                          keeper,
                          (char *)(uintptr_t) "tap0",
                          NULL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    sigset_t none;

    for (int which = 1; which < NSIG; which++)
        signal(which, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(begin->says, 2) < 0)
        _exit(126);
    sandbox_limit(RLIMIT_CORE, 0);
    sandbox_limit(RLIMIT_NOFILE, SANDBOX_FILES_MAX);
    if (uid)
        device_give();
    if ((uid && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)) ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        _exit(126);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (fcntl(passed[i], F_SETFD, 0) < 0)
            _exit(126);
    number(keeper, "", (int)begin->keeper);
    number(ready, "--ready-fd=", begin->ready);
    number(alive, "--exit-fd=", begin->alive);
    execve(jobnet_program(), argv, nothing);
    _exit(126);
}

/* What it has said last of what is wrong, in one line. */
static void last_line(int says, char ret[SAID_MAX])
{
    char text[4096];
    size_t len = 0;
    ssize_t got;
    char *at;

    while (len + 1 < sizeof text && (got = read(says, text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)got;
    text[len] = '\0';
    if ((at = strstr(text, "\nchild failed"))) /* and why stands before that */
        *at = '\0';
    for (len = strlen(text); len && text[len - 1] == '\n'; len--)
        text[len - 1] = '\0';
    at = strrchr(text, '\n');
    snprintf(ret, SAID_MAX, "%.*s", SAID_MAX - 1, at ? at + 1 : text);
}

/* Waits until the network stands. */
static int ready_wait(int ready, int says, struct err *err)
{
    struct pollfd fd = {.fd = ready, .events = POLLIN};
    char byte, said[SAID_MAX];

    if (poll(&fd, 1, READY_MS) == 1 && read(ready, &byte, 1) == 1)
        return 0;
    last_line(says, said);
    return err_set(err, "slirp4netns: %s", *said ? said : "it does not begin");
}

int jobnet_make(struct jobnet *jobnet, uint32_t uid, const struct cgroup *group, struct err *err)
{
    int ready[2] = {-1, -1}, alive[2] = {-1, -1}, says[2] = {-1, -1}, failed = -1;
    struct netspace_keeper keeper;
    struct netspace made;

    jobnet_init(jobnet);
    if (!jobnet_program())
        return err_set(err, "slirp4netns is not installed");
    if (netspace_make_open(uid, &made, &keeper, err) < 0)
        return -1;
    if (pipe2(ready, O_CLOEXEC) < 0 || pipe2(alive, O_CLOEXEC) < 0 || pipe2(says, O_CLOEXEC) < 0 ||
        fcntl(says[0], F_SETFL, O_NONBLOCK) < 0 || (jobnet->pid = fork()) < 0) {
        err_set(err, "a process for the network: %s", strerror(errno));
        jobnet->pid = 0;
    } else {
        if (jobnet->pid == 0)
            program_begin(&(struct begin){keeper.pid, ready[1], alive[0], says[1]}, uid);
        close_one(&ready[1]);
        close_one(&says[1]);
        jobnet->alive = alive[1];
        alive[1] = -1;
        jobnet->space = (struct netspace){.user = uid ? -1 : fcntl(made.user, F_DUPFD_CLOEXEC, 3), .net = made.net};
        made.net = -1;
        failed = ready_wait(ready[0], says[0], err);
    }
    netspace_keeper_end(&keeper);
    netspace_done(&made);
    for (int *fds[] = {&ready[0], &ready[1], &alive[0], &alive[1], &says[0], &says[1]}, **at = fds; at < fds + 6; at++)
        close_one(*at);
    if (failed)
        jobnet_done(jobnet);
    else if (group) /* not before: within the limits of a small job it could take very long to begin */
        cgroup_take(group, jobnet->pid);
    return failed;
}

void jobnet_done(struct jobnet *jobnet)
{
    close_one(&jobnet->alive);
    if (jobnet->pid > 0) {
        kill(jobnet->pid, SIGKILL);
        while (waitpid(jobnet->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    netspace_done(&jobnet->space);
    jobnet_init(jobnet);
}

bool jobnet_reaped(struct jobnet *jobnet, pid_t pid)
{
    if (!jobnet->pid || pid != jobnet->pid)
        return false;
    jobnet->pid = 0;
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- names */

int jobnet_names_file(void)
{
    static const char names[] = "nameserver " JOBNET_NAMES "\n";
    FILE *file = fopen("/etc/resolv.conf", "re");
    char line[1024];
    struct buf text;
    int fd;

    buf_init(&text);
    buf_adds(&text, names);
    while (file && fgets(line, sizeof line, file) && text.len < 16 * sizeof line)
        if (!strncmp(line, "search", 6) || !strncmp(line, "domain", 6) || !strncmp(line, "options", 7))
            buf_adds(&text, line);
    if (file)
        fclose(file);
    fd = sandbox_file(text.text, text.len);
    buf_done(&text);
    return fd;
}
