/* enter.c: one further process in the sandbox of a job that runs. */
#define _GNU_SOURCE
#include "exec/enter.h"

#include "exec/guard.h"
#include "exec/sandbox_parts.h"
#include "exec/usage.h"
#include "sys/shell_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER_SPAN 10000 /* milliseconds that the helper may take */
#define WHOLE_LOOKS 1000  /* for the job's process, before the sandbox counts as broken ... */
#define WHOLE_SPAN 5      /* ... and milliseconds between two of them */
#define FILTER_BYTES_MAX (64u << 10)
#define HIGH_FD 100 /* where descriptors are put that are to be kept */

/* What the helper has to say: the number of the process, or what failed. */
struct word {
    pid_t pid; /* 0: it failed ... */
    int error;
    char what[32]; /* ... at this */
};

/* All that the helper and the process need; made by the launcher, before it forks. */
struct entry {
    const struct exec_job *job;
    const struct enter_order *order;
    char **environment;
    struct sock_fprog filter;
    pid_t launcher;
    int word; /* a pipe */
};

/* ------------------------------------------------------------------------------------------------------- in the process */

static _Noreturn void program_fails(int told, const char *what)
{
    struct shell_head head = {.kind = SHELL_FAILED, .value = errno};

    shell_send(told, &head, what, strlen(what), NULL, 0);
    _exit(errno == ENOENT ? 127 : 126);
}

/* Gives up what being new in a user namespace has brought: the job has none of it. */
static bool rights_drop(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2] = {{0}};

    for (int i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
        prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    return syscall(SYS_capset, &head, none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* Makes a terminal where the job would: in the sandbox's own /dev. Gives both sides. */
static bool terminal_make(const struct enter_order *order, int *ret_outer, int *ret_inner)
{
    struct winsize size = {.ws_row = order->rows, .ws_col = order->columns};
    int outer = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC), unlock = 0;

    if (outer < 0 || ioctl(outer, TIOCSPTLCK, &unlock) < 0)
        return false;
    *ret_inner = ioctl(outer, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
    *ret_outer = outer;
    return *ret_inner >= 0 && ioctl(outer, TIOCSWINSZ, &size) == 0;
}

/* Puts what is kept out of the way of the streams, and closes everything else: nothing of the launcher's goes in. */
static int only_keep(int told, int streams[3])
{
    int kept = fcntl(told, F_DUPFD_CLOEXEC, HIGH_FD);

    for (int i = 0; i < 3 && kept >= 0; i++)
        if (streams[i] >= 0 && (streams[i] = fcntl(streams[i], F_DUPFD_CLOEXEC, HIGH_FD + 1)) < 0)
            return -1;
    if (kept < 0)
        return -1;
    close_range(3, HIGH_FD - 1, 0);
    close_range(HIGH_FD + 8, ~0u, 0);
    return kept;
}

static _Noreturn void become_program(const struct entry *entry)
{
    const struct enter_order *order = entry->order;
    const struct exec_job *job = entry->job;
    struct shell_head began = {.kind = SHELL_BEGAN, .terminal = order->term != NULL};
    int streams[3] = {order->streams[0], order->streams[1], order->streams[2]};
    int told = only_keep(order->told, streams), outer = -1, inner = -1;
    bool bare = job->order->how.unprotected;
    unsigned held = job->process.unheld ? 0 : job->held;

    if (told < 0 || setsid() < 0)
        program_fails(told, "it could not be prepared");
    if (order->term && (!terminal_make(order, &outer, &inner) || ioctl(inner, TIOCSCTTY, 0) < 0))
        program_fails(told, "no terminal could be made in the job's sandbox");
    for (int i = 0; i < 3 && order->term; i++)
        streams[i] = inner;
    sandbox_prepare(job->order, streams, held, job->process.staged);
    if (job->order->is.limits.processes > 0 && !(held & HELD_PROCESSES) && !job->order->account &&
        (!bare || job->order->how.uid))
        sandbox_limit(RLIMIT_NPROC,
                      (rlim_t)job->order->is.limits.processes + 1 + (job->process.staged ? STAGE_PROCESSES : 0));
    if (chdir(bare                  ? job->order->is.folder
              : job->order->account ? sandbox_begin(job->order)
                                    : SANDBOX_FOLDER) < 0 ||
        !rights_drop())
        program_fails(told, "it could not be prepared");
    if (!shell_send(told, &began, "", 0, &outer, order->term ? 1 : 0))
        _exit(126);
    if (!bare && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &entry->filter) < 0)
        program_fails(told, "its filter could not be set");
    environ = entry->environment; /* before: the program is looked for where the job's PATH says */
    execvp(order->arguments[0], (char *const *)(uintptr_t)order->arguments);
    program_fails(told, strerror(errno));
}

/* -------------------------------------------------------------------------------------------------------- in the helper */

static _Noreturn void helper_says(int fd, pid_t pid, const char *what)
{
    struct word word = {.pid = pid, .error = errno};

    snprintf(word.what, sizeof word.what, "%s", what);
    _exit(write(fd, &word, sizeof word) != (ssize_t)sizeof word);
}

/* Is that namespace of the job another than ours? */
static bool is_other(int init, const char *name)
{
    char path[64];
    struct stat here, there;

    snprintf(path, sizeof path, "/proc/self/ns/%s", name);
    if (stat(path, &here) < 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/ns/%s", init, name);
    return stat(path, &there) < 0 || here.st_ino != there.st_ino || here.st_dev != there.st_dev;
}

static bool is_same(int init, int first, const char *name)
{
    char path[64];
    struct stat one, other;

    snprintf(path, sizeof path, "/proc/%d/ns/%s", init, name);
    if (stat(path, &one) < 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/ns/%s", first, name);
    return stat(path, &other) == 0 && one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

/* Is the sandbox whole? While bubblewrap makes it, its first process still sees the machine, and has rights in it; the job's process is begun when all
 * that is over. */
static bool sandbox_is_whole(const struct exec_job *job)
{
    struct job_processes first;
    bool whole;

    job_processes_init(&first);
    job_processes_find_first(&first, job->init);
    whole = first.count == 1 && is_same(job->init, first.pids[0], "user") && is_same(job->init, first.pids[0], "mnt") &&
            is_same(job->init, first.pids[0], "pid");
    job_processes_done(&first);
    return whole;
}

/* Waits until the sandbox is whole, but not long: it is about to be. */
static bool sandbox_wait(const struct exec_job *job)
{
    struct pollfd init = {.fd = job->init_fd, .events = POLLIN};

    for (int i = 0; i < WHOLE_LOOKS && !sandbox_is_whole(job); i++)
        if (poll(&init, 1, WHOLE_SPAN) != 0)
            return false; /* it has ended */
    return job->init_fd >= 0 && sandbox_is_whole(job);
}

/* Takes on the groups of the user of the machine whom the job runs as; none, where that is nobody. */
static bool groups_become(const struct unix_account *account)
{
    gid_t groups[ACCOUNT_GROUPS_MAX];
    size_t count = account ? account->group_count : 0;

    for (size_t i = 0; i < count; i++)
        groups[i] = account->groups[i];
    if (account)
        umask(account->umask);
    return setgroups(count, groups) == 0;
}

static bool namespaces_enter(const struct exec_job *job)
{
    static const struct {
        const char *name;
        int bit;
    } kinds[] = {{"user", CLONE_NEWUSER}, {"mnt", CLONE_NEWNS},  {"pid", CLONE_NEWPID},      {"ipc", CLONE_NEWIPC},
                 {"uts", CLONE_NEWUTS},   {"net", CLONE_NEWNET}, {"cgroup", CLONE_NEWCGROUP}};
    uint32_t user = sandbox_inner_user(job->order), group = sandbox_inner_group(job->order);
    bool root = geteuid() == 0;
    int bits = 0;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_other(job->init, kinds[i].name))
            bits |= kinds[i].bit;
    if (!(bits & CLONE_NEWUSER) || !(bits & CLONE_NEWPID) || !(bits & CLONE_NEWNS)) {
        errno = ESRCH; /* that is not a sandbox, or not any more */
        return false;
    }
    if (root && !groups_become(job->order->account))
        return false;
    if (setns(job->init_fd, bits) < 0)
        return false;
    /* Root goes in as root, who alone may look at the first process of some sandboxes, and becomes the job's user by the name that it has there. */
    if (root && (setresgid(group, group, group) < 0 || setresuid(user, user, user) < 0))
        return false;
    if (job->order->is.network)
        sandbox_leave_named_sockets(); /* not before: it could not look at the job's processes then, and so not enter */
    return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}

/* Lets the process be ended first when memory is short, as the job's are; a child inherits it. */
static void go_first(void)
{
    guard_lift(); /* or its own file could not be written */
    job_processes_go_first((int)getpid());
    guard_memory();
}

static _Noreturn void help(const struct entry *entry)
{
    const struct exec_job *job = entry->job;
    bool bare = job->order->how.unprotected;
    pid_t pid;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != entry->launcher)
        _exit(126);
    go_first();
    if (!cgroup_enter(&job->cgroup) && !job->process.unheld)
        helper_says(entry->word, 0, "the job's group");
    if (!bare && !namespaces_enter(job))
        helper_says(entry->word, 0, "the job's namespaces");
    if (bare && !sandbox_become(job->order))
        helper_says(entry->word, 0, "the job's user");
    /* A child of the launcher's, and not of ours: it is the launcher that waits for it. */
    pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
        if (bare)
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* in a sandbox it ends with that */
        close(entry->word);
        become_program(entry);
    }
    helper_says(entry->word, pid > 0 ? pid : 0, "a process");
}

/* ------------------------------------------------------------------------------------------------------ in the launcher */

/* Reads the filter that the job is under. */
static int filter_read(const struct exec_job *job, const struct sandbox *sandbox, struct sock_fprog *ret)
{
    bool fixed = job->order->cores.amount > 0 && !(job->held & HELD_CORES);
    int fd = sandbox->filter[fixed];
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0 || st.st_size > FILTER_BYTES_MAX ||
        st.st_size % (off_t)sizeof *ret->filter)
        return -1;
    ret->filter = mem_alloc((size_t)st.st_size);
    ret->len = (unsigned short)((size_t)st.st_size / sizeof *ret->filter);
    return pread(fd, ret->filter, (size_t)st.st_size, 0) == st.st_size ? 0 : -1;
}

/* The job's variables, with TERM as the terminal wants it. */
static char **variables_make(const struct order *order, const char *term)
{
    char **environment = sandbox_environment(order, order->how.unprotected ? order->is.folder : SANDBOX_FOLDER);
    size_t count = 0, kept = 0, size = term ? strlen(term) + 6 : 0;

    while (environment[count])
        count++;
    if (!term)
        return environment;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environment[i], "TERM=", 5) != 0)
            environment[kept++] = environment[i];
        else
            free(environment[i]);
    environment = mem_grow(environment, (kept + 2) * sizeof *environment);
    environment[kept] = mem_alloc(size);
    snprintf(environment[kept++], size, "TERM=%s", term);
    environment[kept] = NULL;
    return environment;
}

/* Waits for the helper's word, and for its end. */
static pid_t helper_wait(pid_t helper, int fd, struct err *err)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    struct word word = {.what = "the helper"};
    bool got = poll(&ready, 1, HELPER_SPAN) > 0 && read(fd, &word, sizeof word) == (ssize_t)sizeof word;

    if (!got)
        kill(helper, SIGKILL);
    while (waitpid(helper, NULL, 0) < 0 && errno == EINTR)
        ;
    if (got && word.pid > 0)
        return word.pid;
    word.what[sizeof word.what - 1] = '\0';
    return err_set(err, "the job's sandbox could not be entered: %s: %s", word.what,
                   got ? strerror(word.error) : "it ended");
}

pid_t enter_start(const struct exec_job *job, const struct sandbox *sandbox, const struct enter_order *order,
                  struct err *err)
{
    struct entry entry = {.job = job, .order = order, .launcher = getpid()};
    int word[2] = {-1, -1};
    pid_t helper = -1;

    if (!job->order->how.unprotected && !sandbox_wait(job))
        return err_set(err, "the job has not begun yet, or is over");
    if (!job->order->how.unprotected && filter_read(job, sandbox, &entry.filter) < 0) {
        free(entry.filter.filter);
        return err_set(err, "the job's filter could not be read");
    }
    entry.environment = variables_make(job->order, order->term);
    if (pipe2(word, O_CLOEXEC) == 0) {
        entry.word = word[1];
        helper = fork();
        if (helper == 0)
            help(&entry);
        close(word[1]);
    }
    if (helper < 0)
        err_set(err, "a process could not be made: %s", strerror(errno));
    else
        helper = helper_wait(helper, word[0], err);
    if (word[0] >= 0)
        close(word[0]);
    for (char **at = entry.environment; *at; at++)
        free(*at);
    free(entry.environment);
    free(entry.filter.filter);
    return helper;
}
