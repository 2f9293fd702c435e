/* filter.c: which system calls a job may not make. Everything else it may: programs need more than one would list. */
#define _GNU_SOURCE
#include "exec/filter.h"

#include "lang/base/library.h"
#include "lang/base/sonames.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

/* The functions that are called, without the seccomp_ in front. */
#define LIBSECCOMP_FUNCTIONS(X) \
    X(export_bpf)               \
    X(init)                     \
    X(release)                  \
    X(rule_add_array)           \
    X(syscall_resolve_name)

static struct libseccomp {
#define X(name) __typeof__(seccomp_##name) *name;
    LIBSECCOMP_FUNCTIONS(X)
#undef X
} functions;
static const char *const function_names[] = {
#define X(name) "seccomp_" #name,
    LIBSECCOMP_FUNCTIONS(X)
#undef X
};
static struct library library =
    LIBRARY(SONAME_SECCOMP, "filters of system calls are made by libseccomp", function_names, functions);

static const struct libseccomp *libseccomp(void)
{
    return library_need(&library);
}

/* The calls that are refused. A call that this machine or this libseccomp does not know is left out. */
static const char *const denied[] = {
    /* mounts and roots */
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "open_tree_attr",
    /* namespaces, and files by handle, which go around paths */
    "unshare",
    "setns",
    "open_by_handle_at",
    "name_to_handle_at",
    /* the kernel itself */
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "create_module",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "syslog",
    "lookup_dcookie",
    "nfsservctl",
    "_sysctl",
    "uselib",
    "vm86",
    "vm86old",
    "modify_ldt",
    "quotactl",
    "quotactl_fd",
    "fanotify_init",
    "acct",
    /* keys are not in a namespace */
    "add_key",
    "request_key",
    "keyctl",
    /* the machine */
    "reboot",
    "swapon",
    "swapoff",
    "ioperm",
    "iopl",
    "clock_settime",
    "clock_settime64",
    "clock_adjtime",
    "clock_adjtime64",
    "settimeofday",
    "adjtimex",
    "stime",
    "sethostname",
    "setdomainname",
    "vhangup",
    /* the insides of other processes */
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "kcmp",
    "process_madvise",
    "move_pages",
    "migrate_pages",
};

static int deny(scmp_filter_ctx ctx, int error, const char *name, unsigned count, const struct scmp_arg_cmp *args)
{
    int number = libseccomp()->syscall_resolve_name(name), failed;

    if (number == __NR_SCMP_ERROR)
        return 0; /* this machine, or this libseccomp, has no such call */
    failed = libseccomp()->rule_add_array(ctx, SCMP_ACT_ERRNO((uint32_t)error), number, count, args);
    return failed == -EDOM ? 0 : failed; /* -EDOM: of another machine */
}

/* The kernel looks at 32 bits of what is an int to it, and a job can set the others: so do we. */
#define INT_A0(value) SCMP_A0(SCMP_CMP_MASKED_EQ, 0xffffffff, value)
#define INT_A1(value) SCMP_A1(SCMP_CMP_MASKED_EQ, 0xffffffff, value)

/* Denies clone with new namespaces. Each kind of namespace is a rule of its own, for a mask compares all its bits at once. */
static int deny_clone(scmp_filter_ctx ctx)
{
    static const unsigned bits[] = {CLONE_NEWUSER, CLONE_NEWNS,  CLONE_NEWPID,   CLONE_NEWNET,
                                    CLONE_NEWIPC,  CLONE_NEWUTS, CLONE_NEWCGROUP};
    int failed = 0;

    for (size_t i = 0; i < sizeof bits / sizeof *bits && !failed; i++)
        failed = deny(ctx, EPERM, "clone", 1, &SCMP_A0(SCMP_CMP_MASKED_EQ, bits[i], bits[i]));
    /* Its flags lie in memory, where a filter cannot look. Programs fall back to clone. */
    return failed ? failed : deny(ctx, ENOSYS, "clone3", 0, NULL);
}

static int deny_some(scmp_filter_ctx ctx)
{
    const struct {
        const char *name;
        struct scmp_arg_cmp arg;
    } rows[] = {
        {"ioctl", INT_A1(TIOCSTI)}, /* types at the owner's terminal */
        {"ioctl", INT_A1(TIOCLINUX)}, {"ptrace", INT_A0(PTRACE_ATTACH)}, {"ptrace", INT_A0(PTRACE_SEIZE)},
        {"socket", INT_A0(AF_VSOCK)}, /* AF_VSOCK: reaches the host of a virtual machine past the network */
    };
    int failed = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows && !failed; i++)
        failed = deny(ctx, EPERM, rows[i].name, 1, &rows[i].arg);
    return failed;
}

static int fill(scmp_filter_ctx ctx, bool fixed_cores)
{
    int failed = 0;

    for (size_t i = 0; i < sizeof denied / sizeof *denied && !failed; i++)
        failed = deny(ctx, EPERM, denied[i], 0, NULL);
    if (!failed && fixed_cores)
        failed = deny(ctx, EPERM, "sched_setaffinity", 0, NULL);
    if (!failed)
        failed = deny_clone(ctx);
    return failed ? failed : deny_some(ctx);
}

void filter_ready(void)
{
    libseccomp();
}

int filter_make(bool fixed_cores, struct err *err)
{
    scmp_filter_ctx ctx = libseccomp()->init(SCMP_ACT_ALLOW);
    int fd = memfd_create("filter", MFD_CLOEXEC | MFD_ALLOW_SEALING), failed = ctx ? 0 : -ENOMEM;

    if (fd < 0)
        failed = -errno;
    if (!failed)
        failed = fill(ctx, fixed_cores);
    if (!failed)
        failed = libseccomp()->export_bpf(ctx, fd);
    /* another process of the job's user could open it where bubblewrap has it */
    if (!failed && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
        failed = -errno;
    if (ctx)
        libseccomp()->release(ctx);
    if (failed) {
        if (fd >= 0)
            close(fd);
        return err_set(err, "no filter for system calls could be made: %s", strerror(-failed));
    }
    return fd;
}
