/* support.c: how jobs can be held on this machine: found out by trying. */
#define _GNU_SOURCE
#include "exec/support.h"

#include "exec/jobnet.h"
#include "exec/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LANDLOCK_USED 6 /* the version from which on it adds something to the sandbox */

/* Are all users of claims there? In a user namespace, such as one of a container, root may be the only one. `map` is uid_map or gid_map. */
static bool users_are_mapped(const char *map)
{
    unsigned long long first, outer, count;
    FILE *file = fopen(map, "re");
    bool mapped = false;

    while (file && !mapped && fscanf(file, "%llu %llu %llu", &first, &outer, &count) == 3)
        mapped = first <= SUPPORT_UID_FIRST && first + count >= SUPPORT_UID_FIRST + SUPPORT_UID_COUNT;
    if (file)
        fclose(file);
    return mapped;
}

/* Is this the machine's own root? In a user namespace, such as one of a container, numbers of users are not those of the machine. */
static bool users_are_real(const char *map)
{
    unsigned long long first = 1, outer = 1, count = 0;
    FILE *file = fopen(map, "re");
    bool real =
        file && fscanf(file, "%llu %llu %llu", &first, &outer, &count) == 3 && !first && !outer && count >= UINT32_MAX;

    if (file)
        fclose(file);
    return real;
}

/* Does this process have the capability? Root of a container may lack most of them. */
static bool can(unsigned capability)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {{0}};

    return syscall(SYS_capget, &head, sets) == 0 && sets[capability / 32].effective >> capability % 32 & 1;
}

static _Noreturn void trial_run(const char *program, bool users, int said)
{
    static const char *const argv[] = {"bwrap",
                                       "--unshare-user",
                                       "--unshare-pid",
                                       "--unshare-ipc",
                                       "--unshare-uts",
                                       "--uid",
                                       "1000",
                                       "--gid",
                                       "1000",
                                       "--ro-bind",
                                       "/",
                                       "/",
                                       "--proc",
                                       "/proc",
                                       "--dev",
                                       "/dev",
                                       "--tmpfs",
                                       "/tmp",
                                       "--die-with-parent",
                                       "--",
                                       "/bin/true",
                                       NULL};
    static char *const nothing[] = {NULL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(said, 2) < 0)
        _exit(126);
    if (users && unshare(CLONE_NEWNS) < 0) { /* by which a user of its own reaches its job's folder */
        static const char why[] = "this root may not make namespaces";

        _exit(write(2, why, sizeof why - 1) > 0 ? 126 : 127);
    }
    if (users && (setgroups(0, NULL) < 0 || setresgid(SUPPORT_UID_FIRST, SUPPORT_UID_FIRST, SUPPORT_UID_FIRST) < 0 ||
                  setresuid(SUPPORT_UID_FIRST, SUPPORT_UID_FIRST, SUPPORT_UID_FIRST) < 0))
        _exit(126);
    execve(program, (char *const *)(uintptr_t)argv, nothing);
    _exit(126);
}

/* Runs /bin/true as a job would. */
static bool trial(const char *program, bool users, char *why_not, size_t size)
{
    int ends[2], status = -1;
    size_t len = 0;
    ssize_t got;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return false;
    pid = fork();
    if (pid == 0)
        trial_run(program, users, ends[1]);
    close(ends[1]);
    while (pid > 0 && len + 1 < size && (got = read(ends[0], why_not + len, size - 1 - len)) > 0)
        len += (size_t)got;
    close(ends[0]);
    why_not[len] = '\0';
    why_not[strcspn(why_not, ".\n")] = '\0';
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (status != 0 && !*why_not)
        snprintf(why_not, size, "bubblewrap could not start a program");
    return status == 0;
}

/* Makes a network as a job would have it, and takes it apart. */
static void jobnet_probe(struct support *support)
{
    struct jobnet jobnet;
    struct err err = {0};

    support->jobnet = support->sandbox && jobnet_make(&jobnet, support->users ? SUPPORT_UID_FIRST : 0, NULL, &err) == 0;
    if (support->jobnet)
        jobnet_done(&jobnet);
    snprintf(support->no_jobnet, sizeof support->no_jobnet, "%.199s",
             support->jobnet    ? ""
             : support->sandbox ? err.text
                                : "there is no sandbox");
}

void support_look(struct support *ret)
{
    const char *program = sandbox_program();

    memset(ret, 0, sizeof *ret);
    ret->landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= LANDLOCK_USED; /* 1: asks for the version */
    ret->users = geteuid() == 0 && can(CAP_SETUID) && can(CAP_SETGID) && can(CAP_CHOWN) &&
                 users_are_mapped("/proc/self/uid_map") && users_are_mapped("/proc/self/gid_map");
    if (program)
        ret->sandbox = trial(program, ret->users && can(CAP_SYS_ADMIN), ret->why_not, sizeof ret->why_not);
    if (ret->sandbox && !can(CAP_SYS_ADMIN))
        ret->users = false; /* as for anybody who is not root, a user namespace is all that there is */
    jobnet_probe(ret);
    ret->no_accounts = geteuid() != 0  ? "the provider is not root"
                       : !ret->sandbox ? "there is no sandbox"
                       : !ret->users || !users_are_real("/proc/self/uid_map") || !users_are_real("/proc/self/gid_map")
                           ? "the provider is root in a container or a user namespace, and not root of the machine"
                           : "";
}

void support_probe(uint32_t tag, struct support *ret)
{
    struct cgroups cgroups;
    struct buf why;

    buf_init(&why);
    cgroups_probe("", tag, &cgroups,
                  &why); /* first: what is started after this is in the group that it may step down into */
    support_look(ret);
    ret->cgroups = cgroups;
    snprintf(ret->unheld, sizeof ret->unheld, "%s", buf_string(&why));
    buf_done(&why);
}

int support_refuse(const struct support *support, struct err *err)
{
    if (!sandbox_program())
        return err_set(err, "jobs cannot be held here: bubblewrap is not installed; install the package 'bubblewrap'");
    return err_set(
        err,
        "jobs cannot be held here (%.120s): user namespaces seem to be off; see sysctl user.max_user_namespaces, "
        "kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns, or allow jobs without "
        "protection",
        support->why_not);
}

void support_describe(const struct support *support, bool jobnets, struct buf *out)
{
    buf_adds(out, !support->sandbox   ? "no sandbox, "
                  : support->landlock ? "bubblewrap, seccomp, landlock, "
                                      : "bubblewrap, seccomp, ");
    buf_adds(out, jobnets ? "slirp4netns, " : "");
    cgroups_describe(&support->cgroups, out);
    if (*support->unheld)
        buf_addf(out, "; %s", support->unheld);
}
