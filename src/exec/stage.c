/* stage.c: the sandbox of a claim, furnished once, and the jobs that run in copies of it. */
#define _GNU_SOURCE
#include "exec/stage.h"

#include "lang/base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/nsfs.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef OPEN_TREE_CLOEXEC
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#endif
#define MOVE_FROM_NOTHING 0x00000004 /* MOVE_MOUNT_F_EMPTY_PATH */

#define READY_MS 5000 /* that a stage may take */
#define HIGH_FD 64
#define SIGNAL_STATUS 128 /* as shells say: 128 + N for signal N */

/* The descriptors of process 1 of a job, from 3 on. */
enum { FD_TOLD = 3, FD_GO, FD_ALIVE, FD_TREE, FD_INNER, FD_END };

/* ----------------------------------------------------------------------------------------------------------- the stage */

void stage_init(struct stage *stage)
{
    *stage = (struct stage){.hold = -1, .user = -1, .inner = -1, .mounts = -1, .host = -1, .alive = {-1, -1}};
}

void stage_done(struct stage *stage)
{
    int *fds[] = {&stage->hold, &stage->user,     &stage->inner,   &stage->mounts,
                  &stage->host, &stage->alive[0], &stage->alive[1]};
    bool failed = stage->failed;

    if (stage->pid > 0) {
        kill(stage->pid, SIGKILL);
        while (waitpid(stage->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    for (size_t i = 0; i < sizeof fds / sizeof *fds; i++)
        if (*fds[i] >= 0)
            close(*fds[i]);
    stage_init(stage);
    stage->failed = failed;
}

static int space_open(pid_t init, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)init, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Does what was written come back? Then the program inside runs, and so all stands. */
static bool echoes(int into, int from)
{
    struct pollfd fd = {.fd = from, .events = POLLIN};
    char byte = 0;

    return write(into, "x", 1) == 1 && poll(&fd, 1, READY_MS) == 1 && read(from, &byte, 1) == 1 && byte == 'x';
}

int stage_take(struct stage *stage, pid_t pid, pid_t init, int hold, int echo, struct err *err)
{
    stage->pid = pid;
    stage->hold = hold;
    if (!echoes(hold, echo))
        return err_set(err, "what holds it does not answer");
    stage->inner = space_open(init, "user");
    stage->mounts = space_open(init, "mnt");
    stage->host = space_open(init, "uts");
    stage->user = stage->mounts < 0 ? -1 : ioctl(stage->mounts, NS_GET_USERNS);
    if (stage->inner < 0 || stage->host < 0 || stage->user < 0 || pipe2(stage->alive, O_CLOEXEC) < 0)
        return err_set(err, "its namespaces cannot be opened: %s", strerror(errno));
    fcntl(stage->user, F_SETFD, FD_CLOEXEC);
    return 0;
}

/* -------------------------------------------------------------------------------------------------------------- a job */

int scene_tree(int folder)
{
    return (int)syscall(SYS_open_tree, folder, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
}

bool scene_rules(int filter, struct sock_fprog *ret)
{
    struct stat st;
    void *bytes;

    if (fstat(filter, &st) < 0 || st.st_size <= 0 || st.st_size % (off_t)sizeof *ret->filter ||
        st.st_size / (off_t)sizeof *ret->filter > BPF_MAXINSNS)
        return false;
    bytes = mem_alloc((size_t)st.st_size);
    if (pread(filter, bytes, (size_t)st.st_size, 0) != st.st_size) {
        free(bytes);
        return false;
    }
    *ret = (struct sock_fprog){(unsigned short)(st.st_size / (off_t)sizeof *ret->filter), bytes};
    return true;
}

/* Says on the job's own error stream what stood in its way, as bubblewrap does, and ends. */
static _Noreturn void fail(const char *what)
{
    dprintf(2, "sandbox: %s: %s\n", what, strerror(errno));
    _exit(126);
}

static void mount_memory(const char *path, long long bytes)
{
    char options[64];

    snprintf(options, sizeof options, "mode=0755,size=%lld", bytes);
    if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) < 0)
        fail("mount of memory");
}

/* Folders of /proc that only the kernel keeps from a job are kept from it by being read-only, too. */
static void cover_proc(void)
{
    static const char *const paths[] = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus"};

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (access(paths[i], W_OK) == 0 &&
            (mount(paths[i], paths[i], NULL, MS_BIND | MS_REC, NULL) < 0 ||
             mount(NULL, paths[i], NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) <
                 0))
            fail("mount over /proc");
}

/* Puts the job's folder in its place: with no more rights than the file system gives where it is. */
static void mount_folder(void)
{
    static const struct {
        unsigned long seen, kept;
    } flags[] = {{ST_RDONLY, MS_RDONLY},
                 {ST_NOEXEC, MS_NOEXEC},
                 {ST_NOATIME, MS_NOATIME},
                 {ST_NODIRATIME, MS_NODIRATIME},
                 {ST_RELATIME, MS_RELATIME}};
    unsigned long all = MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV;
    struct statvfs st;

    if (syscall(SYS_move_mount, FD_TREE, "", AT_FDCWD, "/job", MOVE_FROM_NOTHING) < 0 || statvfs("/job", &st) < 0)
        fail("mount of the job's folder");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        all |= st.f_flag & flags[i].seen ? flags[i].kept : 0;
    if (mount(NULL, "/job", NULL, all, NULL) < 0 || chdir("/job") < 0)
        fail("mount of the job's folder");
}

static void furnish(const struct scene *scene)
{
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
        fail("mount of /proc");
    cover_proc();
    mount_memory("/dev/shm", scene->memory);
    mount_memory("/tmp", scene->memory);
    mount_folder();
}

/* Gives up all rights, for good. */
static void give_up_rights(void)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[2];

    for (int right = 0; right <= CAP_LAST_CAP; right++)
        prctl(PR_CAPBSET_DROP, right, 0, 0, 0);
    memset(none, 0, sizeof none);
    if (syscall(SYS_capset, &head, none) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        fail("rights");
}

/* Dies with the launcher: it may have died before we could ask for that. */
static void tie_to_launcher(void)
{
    struct pollfd alive = {.fd = FD_ALIVE, .events = POLLIN};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (poll(&alive, 1, 0) != 0)
        _exit(126);
}

static _Noreturn void become_job(const struct scene *scene, void (*leave)(void), int failed)
{
    extern char **environ;

    if (scene->network)
        leave();
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &scene->rules) == 0) {
        environ = (char **)(uintptr_t)scene->environment;
        execvp(scene->argv[0], scene->argv);
    }
    if (write(failed, &(int){errno}, sizeof(int)) < 0)
        _exit(127);
    _exit(126);
}

/* Waits for the job, and for all that it leaves behind until then; tells how it ended. */
static _Noreturn void wait_for(pid_t job)
{
    char text[64];
    int status, code;
    pid_t pid;

    do
        pid = waitpid(-1, &status, 0);
    while ((pid < 0 && errno == EINTR) || (pid > 0 && pid != job));
    if (pid != job)
        _exit(126);
    code = WIFSIGNALED(status) ? SIGNAL_STATUS + WTERMSIG(status) : WEXITSTATUS(status);
    snprintf(text, sizeof text, "{ \"exit-code\": %d }\n", code);
    if (write(FD_TOLD, text, strlen(text)) < 0)
        _exit(126);
    _exit(code);
}

/* Process 1 of a job. It has a copy of the launcher's memory, in which nobody can look: it is not dumpable. */
/* The process that began us counted among those of our user until it had ended. */
static void helper_is_gone(const struct scene *scene)
{
    struct rlimit most;

    if (scene->processes && getrlimit(RLIMIT_NPROC, &most) == 0 && most.rlim_cur > scene->processes) {
        most.rlim_cur = most.rlim_max = scene->processes;
        setrlimit(RLIMIT_NPROC, &most);
    }
}

static _Noreturn void first_process(const struct scene *scene, void (*leave)(void))
{
    int ends[2], failed = 0;
    char byte;
    pid_t job;

    if (scene->title) /* in the memory that the kernel shows as our command line */
        memset((char *)(uintptr_t)scene->title, 0, strlen(scene->title));
    furnish(scene);
    if (setns(FD_INNER, CLONE_NEWUSER) < 0)
        fail("user namespace");
    give_up_rights();
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    setsid();
    if (read(FD_GO, &byte, 1) != 1)
        _exit(126);
    helper_is_gone(scene);
    tie_to_launcher();
    if (pipe2(ends, O_CLOEXEC) < 0 || (job = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) < 0)
        fail("process");
    if (job == 0)
        become_job(scene, leave, ends[1]);
    close(ends[1]);
    for (int fd = 0; fd < 3; fd++)
        if (fd != 2)
            close(fd); /* the job's end is seen by whoever reads its output */
    if (read(ends[0], &failed, sizeof failed) == (ssize_t)sizeof failed) {
        errno = failed;
        dprintf(2, "bwrap: execvp %s: %s\n", scene->argv[0], strerror(failed)); /* in the words that are looked for */
        _exit(1);
    }
    close(2);
    wait_for(job);
}

/* Keeps the descriptors that process 1 needs, and no other. */
static void keep_descriptors(const struct scene *scene)
{
    const int from[] = {scene->told, scene->go, scene->stage->alive[0], scene->tree, scene->stage->inner};
    int high[sizeof from / sizeof *from];

    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        if ((high[i] = fcntl(from[i], F_DUPFD_CLOEXEC, HIGH_FD)) < 0)
            _exit(126);
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        if (dup3(high[i], FD_TOLD + (int)i, O_CLOEXEC) < 0)
            _exit(126);
    close_range(FD_END, ~0u, 0);
}

void scene_play(const struct scene *scene, void (*leave)(void), volatile pid_t *ret)
{
    const struct stage *stage = scene->stage;
    int flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWCGROUP;
    pid_t pid;

    if (setns(stage->user, CLONE_NEWUSER) < 0 || setns(stage->mounts, CLONE_NEWNS) < 0 ||
        setns(stage->host, CLONE_NEWUTS) < 0)
        _exit(126);
    keep_descriptors(scene);
    pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        first_process(scene, leave);
    *ret = pid;
    _exit(pid < 0);
}
