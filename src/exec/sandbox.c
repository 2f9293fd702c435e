/* sandbox.c: a process in a sandbox of its own, by bubblewrap; or without one. */
#define _GNU_SOURCE
#include "exec/sandbox.h"

#include "exec/filter.h"
#include "exec/gpu_give.h"
#include "exec/guard.h"
#include "exec/sandbox_parts.h"
#include "exec/sandbox_view.h"
#include "exec/secret_files.h"
#include "exec/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STAGE_MS 5000 /* that a stage may take */

#define RESOLV_CONF "/etc/resolv.conf"

/* Files that programs need, if they are there: of /etc nothing else is seen. */
static const struct seen_file {
    const char *path;
    bool network; /* only for those that may use it */
} seen_files[] = {
    {"/etc/ld.so.cache", false},
    {"/etc/nsswitch.conf", false},
    {"/etc/alternatives", false},
    {"/etc/localtime", false},
    {RESOLV_CONF, true},
    {"/etc/hosts", true},
    {"/etc/gai.conf", true},
    {"/etc/services", true},
    {"/etc/protocols", true},
    {"/etc/ssl/certs", true},
    {"/etc/ssl/openssl.cnf", true},
    {"/etc/pki/tls/certs", true},
    {"/etc/pki/ca-trust", true},
    {"/etc/ca-certificates", true},
};

/* Folders of the root that are links into /usr on most machines. */
static const char *const root_links[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

/* Where a job's folder, and the root of its image, are put for bubblewrap as an ordinary user, who cannot go where root keeps them. Only bubblewrap
 * sees that. */
static const char *const meeting_places[] = {"/mnt", "/srv", "/media", "/opt", "/home", "/tmp"};

const char *sandbox_program(void)
{
    static const char *const places[] = {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"};

    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------- once a claim */

void sandbox_init(struct sandbox *sandbox)
{
    *sandbox = (struct sandbox){.users = -1, .groups = -1, .filter = {-1, -1}, .net = {-1, -1}, .names = -1};
    stage_init(&sandbox->stage);
    jobnet_init(&sandbox->jobnet);
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void sandbox_done(struct sandbox *sandbox)
{
    stage_done(&sandbox->stage);
    jobnet_done(&sandbox->jobnet);
    close_one(&sandbox->names);
    close_one(&sandbox->users);
    close_one(&sandbox->groups);
    close_one(&sandbox->filter[0]);
    close_one(&sandbox->filter[1]);
    netspace_done(&sandbox->net);
}

/* ---------------------------------------------------------------------------------------------------- the command line */

static void add(struct buf *out, const char *word)
{
    buf_add(out, word, strlen(word) + 1);
}

static void add_words(struct buf *out, const char *const *words)
{
    for (; *words; words++)
        add(out, *words);
}

#define ADD(out, ...) add_words(out, (const char *const[]){__VA_ARGS__, NULL})

static void add_number(struct buf *out, const char *option, long long number)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", number);
    ADD(out, option, text);
}

/* `names`: what stands in place of the machine's resolv.conf; -1. */
static void add_root(struct buf *out, bool network, int names)
{
    ADD(out, "--ro-bind", "/usr", "/usr");
    for (size_t i = 0; i < sizeof root_links / sizeof *root_links; i++) {
        char target[256];
        ssize_t len = readlink(root_links[i], target, sizeof target - 1);

        if (len > 0) {
            target[len] = '\0';
            ADD(out, "--symlink", target, root_links[i]);
        } else if (access(root_links[i], F_OK) == 0) {
            ADD(out, "--ro-bind", root_links[i], root_links[i]);
        }
    }
    for (size_t i = 0; i < sizeof seen_files / sizeof *seen_files; i++)
        if ((network || !seen_files[i].network) && access(seen_files[i].path, F_OK) == 0 &&
            (names < 0 || strcmp(seen_files[i].path, RESOLV_CONF) != 0))
            ADD(out, "--ro-bind-try", seen_files[i].path, seen_files[i].path);
    if (names >= 0) {
        ADD(out, "--perms", "0444");
        add_number(out, "--file", names);
        add(out, RESOLV_CONF);
    }
}

static void add_environment(struct buf *out, const struct order *order)
{
    const char *const *environment = order->is.environment;
    bool has_path = false;

    add(out, "--clearenv");
    for (; *environment; environment++) {
        const char *equals = strchr(*environment, '=');

        if (!equals || equals == *environment)
            continue;
        has_path |= !strncmp(*environment, "PATH=", 5);
        add(out, "--setenv");
        buf_add(out, *environment, (size_t)(equals - *environment));
        buf_addc(out, '\0');
        add(out, equals + 1);
    }
    ADD(out, "--setenv", "HOME", sandbox_home(order));
    if (order->account)
        ADD(out, "--setenv", "USER", order->account->name, "--setenv", "LOGNAME", order->account->name);
    if (!has_path)
        ADD(out, "--setenv", "PATH", SANDBOX_PATH);
}

/* Puts the secrets into files of the sandbox's root, which is in memory and read-only to the job. */
static void add_secrets(struct buf *out, const struct secret_files *secrets)
{
    if (!secrets)
        return;
    ADD(out, "--dir", "/run", "--perms", "0500", "--dir", SANDBOX_SECRETS);
    for (uint32_t i = 0; i < secrets->count; i++) {
        char path[sizeof SANDBOX_SECRETS + 1 + SECRET_NAME_MAX];

        snprintf(path, sizeof path, SANDBOX_SECRETS "/%s", secrets->items[i].name);
        ADD(out, "--perms", "0400");
        add_number(out, "--file", secrets->items[i].fd);
        add(out, path);
    }
}

/* Puts the claim's GPUs into the sandbox's own /dev, which has no others, with what their drivers' libraries read. */
static void add_gpus(struct buf *out, const struct order *order)
{
    for (const char *word = NULL; (word = gpu_word_next(order->gpus, order->gpus_len, word));) {
        if (*word == GPU_WORD_DEVICE)
            ADD(out, "--dev-bind", word + 1, word + 1);
        else if (*word == GPU_WORD_SEEN && sandbox_gpu_shows(order, word + 1))
            ADD(out, "--ro-bind-try", word + 1, word + 1);
        else if (*word == GPU_WORD_LIBRARY && order->is.view && order->is.view->root && strrchr(word, '/')) {
            char place[sizeof GPU_IMAGE_LIBRARIES + 1 + NAME_MAX];

            snprintf(place, sizeof place, GPU_IMAGE_LIBRARIES "/%.255s", strrchr(word, '/') + 1);
            ADD(out, "--ro-bind-try", word + 1, place);
        }
    }
}

/* The variables that name its GPUs, over those that the job says itself. */
static void add_gpu_variables(struct buf *out, const struct order *order)
{
    struct buf path;

    for (const char *word = NULL; (word = sandbox_gpu_variable(order, word));) {
        add(out, "--setenv");
        buf_add(out, word + 1, (size_t)(strchr(word, '=') - word - 1));
        buf_addc(out, '\0');
        add(out, strchr(word, '=') + 1);
    }
    buf_init(&path);
    sandbox_gpu_libraries(&path, order);
    if (path.len)
        ADD(out, "--setenv", "LD_LIBRARY_PATH", buf_string(&path));
    buf_done(&path);
}

struct sandbox_fds {
    int filter, users, groups, names, told, go; /* names: -1: the machine's */
};

/* Appends what is beneath `/`: the machine's programs, or an image, which bubblewrap finds at `root`. */
static void add_ground(struct buf *out, const struct order *order, const char *root, const struct sandbox_fds *fds)
{
    if (order->is.view && order->is.view->root) {
        view_words_root(out, order->is.view->root, root ? root : order->is.view->root, fds->users, fds->groups,
                        order->is.network, fds->names);
        return;
    }
    add_root(out, order->is.network, fds->names);
    ADD(out, "--perms", "0444");
    add_number(out, "--file", fds->users);
    ADD(out, "/etc/passwd", "--perms", "0444");
    add_number(out, "--file", fds->groups);
    ADD(out, "/etc/group");
}

/* The namespaces of a sandbox, and who a job is in them. */
static void add_spaces(struct buf *out, const struct order *order, bool own_net)
{
    char host[65] = "";

    ADD(out, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try");
    if (own_net)
        add(out, "--unshare-net");
    if (gethostname(host, sizeof host - 1) != 0 || !*host)
        strcpy(host, "job");
    add_number(out, "--uid", sandbox_inner_user(order));
    add_number(out, "--gid", sandbox_inner_group(order));
    ADD(out, "--hostname", host);
    ADD(out, "--die-with-parent", "--new-session", "--cap-drop", "ALL");
}

/* How much of /tmp and /dev/shm there is: a job that fills them is to be ended for its memory, and not told that the disk is full. */
static int64_t memory_of(const struct order *order)
{
    return order->is.limits.memory > 0 ? order->is.limits.memory + CGROUP_OWN_MEMORY : SANDBOX_TMP_BYTES;
}

static void add_pipes(struct buf *out, const struct sandbox_fds *fds)
{
    add_number(out, "--seccomp", fds->filter);
    add_number(out, "--json-status-fd", fds->told);
    add_number(out, "--block-fd", fds->go);
}

static void add_all(struct buf *out, const struct order *order, const char *folder, const char *root, bool own_net,
                    const struct sandbox_fds *fds)
{
    const struct executor_view *view = order->is.view;

    add_spaces(out, order, own_net);
    add_environment(out, order);
    add_gpu_variables(out, order);
    add_ground(out, order, root, fds);
    if (view)
        view_words_folders(out, view);
    add_secrets(out, order->secrets);
    ADD(out, "--proc", "/proc", "--dev", "/dev");
    add_gpus(out, order);
    add_number(out, "--size", memory_of(order));
    ADD(out, "--tmpfs", "/dev/shm");
    add_number(out, "--size", memory_of(order));
    ADD(out, "--tmpfs", "/tmp", "--bind", folder, SANDBOX_FOLDER, "--remount-ro", "/dev", "--remount-ro", "/");
    ADD(out, "--chdir", sandbox_begin(order));
    add_pipes(out, fds);
}

/* A stage has all that jobs of the claim have in common; what is one job's own comes over it (stage.c). */
static void add_stage(struct buf *out, const struct order *order, const struct sandbox_fds *fds)
{
    add_spaces(out, order, false);
    add(out, "--clearenv");
    add_ground(out, order, NULL, fds);
    ADD(out, "--proc", "/proc", "--dev", "/dev", "--dir", "/tmp", "--dir", SANDBOX_FOLDER);
    ADD(out, "--remount-ro", "/dev", "--remount-ro", "/");
    add_pipes(out, fds);
}

/* --------------------------------------------------------------------------------------------------------- in the child */

void sandbox_limit(int which, rlim_t most)
{
    struct rlimit now;

    if (getrlimit(which, &now) == 0) {
        if (now.rlim_max != RLIM_INFINITY && most > now.rlim_max)
            most = now.rlim_max;
        setrlimit(which, &(struct rlimit){most, most});
    }
}

/* Binds the job to its claim's processors, which no other claim has. Those that are gone by now are passed over; where all are gone, it may use any. */
static void choose_cores(const struct cores_share *share)
{
    uint64_t mask[CORES_MAX / 64];

    cores_mask(share, mask);
    sched_setaffinity(0, sizeof mask, (const cpu_set_t *)(const void *)mask);
}

static void reset_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL); /* what we ignore, a job would ignore as well */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Takes from the job the sockets that have a name and no file, which it could reach by the machine's network. Landlock (version 6) does that where
 * the kernel has it. The rest of Landlock would keep bubblewrap from mounting. */
void sandbox_leave_named_sockets(void)
{
    const struct {
        uint64_t files, net, scoped;
    } rules = {0, 0, 1}; /* as <linux/landlock.h> has it from 6.12 on: LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET */
    int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);

    if (fd < 0)
        return;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    syscall(SYS_landlock_restrict_self, fd, 0);
    close(fd);
}

/* `root`: of an image, and its place; or NULL. */
static bool meet(const char *folder, const char *place, const char *root, const char *root_place)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
           (!root_place || mount(root, root_place, NULL, MS_BIND, NULL) == 0) &&
           mount(folder, place, NULL, MS_BIND, NULL) == 0;
}

void sandbox_prepare(const struct order *order, const int streams[3], unsigned held, bool staged)
{
    reset_signals();
    for (int i = 0; i < 3; i++)
        if (dup2(streams[i], i) < 0)
            _exit(126);
    sandbox_limit(RLIMIT_CORE, 0);
    sandbox_limit(RLIMIT_NOFILE, SANDBOX_FILES_MAX);
    if (order->is.limits.disk > 0)
        sandbox_limit(RLIMIT_FSIZE, (rlim_t)order->is.limits.disk);
    /* Of a user of its own nobody else's processes are counted; of a user of the machine, all that it has there. The launcher, too, limits those of the sandbox from outside, but not every root may. */
    if (order->is.limits.processes > 0 && order->how.uid && !order->account && !order->how.unprotected &&
        !(held & HELD_PROCESSES))
        sandbox_limit(RLIMIT_NPROC, (rlim_t)order->is.limits.processes + CGROUP_OWN_PROCESSES +
                                        (staged ? STAGE_PROCESSES : 0) +
                                        (order->is.netted == 1 ? JOBNET_PROCESSES : 0));
    if (order->cores.amount > 0 && !(held & HELD_CORES))
        choose_cores(&order->cores);
}

/* Passes a descriptor on to the program, from the beginning of the file, where it has one: pipes have none. */
static bool pass_on(int fd)
{
    return (lseek(fd, 0, SEEK_SET) == 0 || errno == ESPIPE) && fcntl(fd, F_SETFD, 0) == 0;
}

/* What the child needs to know. */
struct start {
    const struct sandbox *sandbox;
    const struct order *order;
    const char *place;      /* NULL: the job's folder is reached where it is */
    const char *root_place; /* the same for the root of its image */
    bool own_net;
    struct sandbox_fds fds;
    int words;
    char *const *argv;
    pid_t launcher;
    const struct cgroup *group;
    unsigned held;
    const int *streams;
    int unheld; /* a pipe, into which the child writes a byte if it could not enter its group, and which it then closes */
    const struct scene *scene; /* of a job that runs on the claim's stage; or NULL */
    volatile pid_t *first;     /* gets process 1 of that */
};

/* Enters the network that the job has, if it is not the machine's; with `own_net` bubblewrap makes one. */
static bool network_enter(const struct start *start)
{
    const struct order *order = start->order;

    if (order->is.netted == 1)
        return netspace_enter(&start->sandbox->jobnet.space) == 0;
    return order->is.network || start->own_net || netspace_enter(&start->sandbox->net) == 0;
}

static _Noreturn void run_staged(const struct start *start)
{
    if (!network_enter(start) || !sandbox_become(start->order))
        _exit(126);
    scene_play(start->scene, sandbox_leave_named_sockets, start->first);
}

static _Noreturn void run_sandboxed(const struct start *start)
{
    static char *const nothing[] = {NULL};
    const struct order *order = start->order;
    const struct sandbox_fds *fds = &start->fds;
    const int passed[] = {fds->filter, fds->users, fds->groups, fds->told, fds->go, start->words};

    if (!network_enter(start))
        _exit(126);
    if ((start->place &&
         !meet(order->is.folder, start->place, order->is.view ? order->is.view->root : NULL, start->root_place)) ||
        !sandbox_become(order))
        _exit(126);
    if (order->is.network)
        sandbox_leave_named_sockets();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != start->launcher)
        _exit(126); /* it died before we could ask to die with it */
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (!pass_on(passed[i]))
            _exit(126);
    if (fds->names >= 0 && !pass_on(fds->names))
        _exit(126);
    for (uint32_t i = 0; order->secrets && i < order->secrets->count; i++)
        if (!pass_on(order->secrets->items[i].fd))
            _exit(126);
    execve(sandbox_program(), start->argv, nothing);
    _exit(126);
}

static _Noreturn void run_bare(const struct order *order, int folder, int told, int go)
{
    char **environment = sandbox_environment(order, order->is.folder), byte;
    int failed;

    setsid();
    guard_lift();
    job_processes_go_first((int)getpid());
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (order->is.limits.processes > 0 && order->how.uid)
        sandbox_limit(RLIMIT_NPROC,
                      (rlim_t)order->is.limits.processes); /* a user of its own: nobody else's are counted */
    if (fchdir(folder) == 0 && sandbox_become(order)) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (read(go, &byte, 1) != 1)
            _exit(126);
        execvpe(order->is.arguments[0], (char *const *)(uintptr_t)order->is.arguments, environment);
    }
    failed = errno;
    if (write(told, &failed, sizeof failed) < 0)
        _exit(127);
    _exit(126);
}

/* ------------------------------------------------------------------------------------------------------------ starting */

/* Would something that the job is to see, or that is put somewhere itself, not be found behind that place? */
static bool place_hides(const struct order *order, const char *place)
{
    const struct executor_view *view = order->is.view;

    if (!view)
        return false;
    for (uint32_t i = 0; i < view->folder_count; i++)
        if (view_paths_meet(view->folders[i].real, place))
            return true;
    return view->root && (view_paths_meet(view->root, place) || view_paths_meet(order->is.folder, place));
}

/* `but`: a place that is taken already; or NULL. */
static const char *meeting_place(const struct order *order, const char *but)
{
    struct stat st;

    if (geteuid() != 0 || !order->how.uid)
        return NULL;
    for (size_t i = 0; i < sizeof meeting_places / sizeof *meeting_places; i++)
        if (meeting_places[i] != but && stat(meeting_places[i], &st) == 0 && S_ISDIR(st.st_mode) &&
            !place_hides(order, meeting_places[i]))
            return meeting_places[i];
    return NULL;
}

/* Prepares what is made once a claim, and only its first job waits for. */
static int prepare_claim(struct sandbox *sandbox, const struct order *order, bool fixed_cores, struct err *err)
{
    if (sandbox->users < 0 || sandbox->groups < 0 || sandbox->named || order->account)
        sandbox_lists_make(sandbox, order);
    if (sandbox->users < 0 || sandbox->groups < 0)
        return err_set(err, "files for the sandbox could not be made: %s", strerror(errno));
    if (sandbox->filter[fixed_cores] < 0)
        sandbox->filter[fixed_cores] = filter_make(fixed_cores, err);
    if (!order->is.network && sandbox->net.net < 0 && !sandbox->net_failed)
        sandbox->net_failed = netspace_make(&sandbox->net, NULL) < 0;
    if (order->is.netted == 1 && sandbox->names < 0 && (sandbox->names = jobnet_names_file()) < 0)
        return err_set(err, "files for the sandbox could not be made: %s", strerror(errno));
    return sandbox->filter[fixed_cores] < 0 ? -1 : 0;
}

static char **command_line(const struct order *order, int words)
{
    static char number[16];
    const char *const *arguments = order->is.arguments;
    size_t count = 0;
    char **argv;

    while (arguments[count])
        count++;
    argv = mem_alloc((count + 5) * sizeof *argv);
    snprintf(number, sizeof number, "%d", words);
    argv[0] = (char *)(uintptr_t) "bwrap";
    argv[1] = (char *)(uintptr_t) "--args";
    argv[2] = number;
    argv[3] = (char *)(uintptr_t) "--";
    memcpy(argv + 4, arguments, (count + 1) * sizeof *argv);
    return argv;
}

/* Makes the child; that of the claim's first job in its group, if it can be. Another that becomes bubblewrap at once borrows our memory, which would take
 * longer to copy than all else here: what it has to say goes through pipes, and it writes nothing there but its own frames. One that waits for us first
 * has to have its own memory. */
static pid_t child_make(const struct start *start, int folder, int go)
{
    pid_t pid = start->scene ? -1 : cgroup_fork(start->group); /* on a stage it tells us something by our memory */
    bool entered = pid == 0;

    if (pid < 0)
        pid = start->order->how.unprotected ? fork() : vfork();
    if (pid != 0)
        return pid;
    close(go);
    entered = entered || cgroup_enter(start->group);
    if (!entered && write(start->unheld, "", 1) != 1)
        _exit(126);
    close(start->unheld);
    sandbox_prepare(start->order, start->streams, entered ? start->held : 0, start->scene != NULL);
    if (start->order->how.unprotected)
        run_bare(start->order, folder, start->fds.told, start->fds.go);
    if (start->scene)
        run_staged(start);
    run_sandboxed(start);
}

/* Waits until the child has entered its group or could not: is it outside? */
static bool child_is_unheld(int pipe)
{
    ssize_t got;
    char byte;

    do
        got = read(pipe, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got != 0;
}

/* ------------------------------------------------------------------------------------------------------- on a stage */

/* May the job run on a stage? What few jobs have is not on it. */
static bool stage_fits(const struct sandbox *sandbox, const struct order *order)
{
    return sandbox->begun && !sandbox->stage.failed && !order->gpus && !order->how.unprotected && geteuid() == 0 &&
           order->how.uid && !order->account && !order->secrets && !order->is.view &&
           (order->is.network || !sandbox->net_failed);
}

bool sandbox_reaped(struct sandbox *sandbox, pid_t pid)
{
    if (jobnet_reaped(&sandbox->jobnet, pid))
        return true;
    if (!sandbox->stage.pid || pid != sandbox->stage.pid)
        return false;
    sandbox->stage.pid = 0;
    stage_done(&sandbox->stage);
    return true;
}

void sandbox_over(struct sandbox *sandbox)
{
    jobnet_done(&sandbox->jobnet);
}

/* Reads from bubblewrap the number of process 1; 0: it does not come. */
static pid_t stage_first(int told)
{
    static const char name[] = "\"child-pid\":";
    struct pollfd fd = {.fd = told, .events = POLLIN};
    char text[256];
    size_t len = 0;
    ssize_t got = 1;

    while (len < sizeof text - 1 && poll(&fd, 1, STAGE_MS) == 1 &&
           (got = read(told, text + len, sizeof text - 1 - len)) > 0) {
        const char *at;

        len += (size_t)got;
        text[len] = '\0';
        at = strstr(text, name);
        if (at && strchr(at, '\n'))
            return (pid_t)strtol(at + strlen(name), NULL, 10);
    }
    return 0;
}

/* Which network jobs of the order have: stages differ in that. */
static int network_of(const struct order *order)
{
    return order->is.network ? 1 + (order->is.netted == 1) : 0;
}

static int names_of(const struct sandbox *sandbox, const struct order *order)
{
    return order->is.netted == 1 ? sandbox->names : -1;
}

/* Has bubblewrap furnish a stage; it takes as long as a job's sandbox. The holder is in no group: it is none of the job's. */
static int stage_make(struct sandbox *sandbox, const struct order *order, bool fixed, struct err *err)
{
    static const char *const cat[] = {"cat", NULL};
    struct cgroup nowhere = {0};
    struct order holder = {.how = order->how};
    int told[2] = {-1, -1}, go[2] = {-1, -1}, unheld[2] = {-1, -1}, in[2] = {-1, -1}, out[2] = {-1, -1};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC), streams[3], failed = -1;
    struct start start = {.sandbox = sandbox, .order = &holder, .launcher = getpid(), .group = &nowhere, .words = -1};
    char **argv = NULL;
    pid_t pid = -1, first = 0;
    struct buf words;

    holder.is.network = order->is.network;
    holder.is.netted = order->is.netted;
    holder.is.arguments = cat;
    if (null >= 0 && pipe2(told, O_CLOEXEC) == 0 && pipe2(go, O_CLOEXEC) == 0 && pipe2(unheld, O_CLOEXEC) == 0 &&
        pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0) {
        memcpy(streams, (int[3]){in[0], out[1], null}, sizeof streams);
        start.streams = streams;
        start.unheld = unheld[1];
        start.fds = (struct sandbox_fds){sandbox->filter[fixed],   sandbox->users, sandbox->groups,
                                         names_of(sandbox, order), told[1],        go[0]};
        buf_init(&words);
        add_stage(&words, order, &start.fds);
        start.words = sandbox_file(words.text, words.len);
        buf_done(&words);
        start.argv = argv = command_line(&holder, start.words);
        pid = start.words >= 0 ? child_make(&start, -1, go[1]) : -1;
    }
    close_one(&told[1]);
    close_one(&out[1]);
    if (pid > 0)
        first = stage_first(told[0]);
    if (first > 0 && write(go[1], "", 1) == 1) {
        failed = stage_take(&sandbox->stage, pid, first, in[1], out[0], err);
        in[1] = -1;
    } else {
        sandbox->stage.pid = pid > 0 ? pid : 0;
        err_set(err, "it was not made");
    }
    free(argv);
    for (int *fds[] = {&told[0], &go[0], &go[1], &unheld[0], &unheld[1], &in[0], &in[1], &out[0], &null, &start.words},
             **at = fds;
         at < fds + 10; at++)
        close_one(*at);
    sandbox->stage.network = network_of(order);
    sandbox->stage.fixed = fixed;
    return failed;
}

/* Is there a stage for jobs like this? If not, it is made. */
static bool stage_ready(struct sandbox *sandbox, const struct order *order, bool fixed)
{
    struct stage *stage = &sandbox->stage;
    struct err err = {0};

    if (stage->pid && (stage->network != network_of(order) || stage->fixed != fixed))
        stage_done(stage);
    if (!stage->pid && stage_make(sandbox, order, fixed, &err) < 0) {
        fprintf(stderr, "launcher: no stage: %s\n", err.text);
        stage->failed = true;
        stage_done(stage);
    }
    return stage->pid > 0;
}

/* Starts a job on the claim's stage. 1: it cannot be, and nothing of it runs. */
static int stage_start(struct start *start, int folder, bool fixed, struct sandboxed *ret)
{
    const struct order *order = start->order;
    struct scene scene = {.stage = &start->sandbox->stage,
                          .tree = scene_tree(folder),
                          .memory = memory_of(order),
                          .processes = order->is.limits.processes > 0 && !(start->held & HELD_PROCESSES)
                                           ? (rlim_t)order->is.limits.processes + STAGE_PROCESSES + 1
                                           : 0,
                          .network = order->is.network,
                          .title = start->sandbox->title,
                          .argv = (char *const *)(uintptr_t)order->is.arguments};
    int told[2] = {-1, -1}, go[2] = {-1, -1}, unheld[2] = {-1, -1};
    char **environment = sandbox_stage_environment(order), text[64];
    volatile pid_t first = -1;
    pid_t pid = -1;

    scene.environment = environment;
    if (scene.tree >= 0 && scene_rules(start->sandbox->filter[fixed], &scene.rules) && pipe2(told, O_CLOEXEC) == 0 &&
        pipe2(go, O_CLOEXEC) == 0 && pipe2(unheld, O_CLOEXEC) == 0) {
        scene.told = told[1];
        scene.go = go[0];
        start->scene = &scene;
        start->first = &first;
        start->unheld = unheld[1];
        pid = child_make(start, folder, go[1]);
        start->scene = NULL;
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (first > 0) { /* as bubblewrap says it */
        snprintf(text, sizeof text, "{ \"child-pid\": %d }\n", (int)first);
        if (write(told[1], text, strlen(text)) < 0)
            kill(first, SIGKILL);
    }
    free(environment);
    free(scene.rules.filter);
    close_one(&scene.tree);
    close_one(&told[1]);
    close_one(&go[0]);
    close_one(&unheld[1]);
    if (first <= 0) {
        close_one(&told[0]);
        close_one(&go[1]);
    } else {
        *ret = (struct sandboxed){first, told[0], go[1], child_is_unheld(unheld[0]), true};
    }
    close_one(&unheld[0]);
    return first > 0 ? 0 : 1;
}

int sandbox_start(struct sandbox *sandbox, const struct order *order, int folder, const int streams[3],
                  const struct cgroup *group, unsigned held, struct sandboxed *ret, struct err *err)
{
    bool fixed = order->cores.amount > 0 && !(held & HELD_CORES);
    struct start start = {.sandbox = sandbox,
                          .order = order,
                          .words = -1,
                          .launcher = getpid(),
                          .group = group,
                          .held = held,
                          .streams = streams};
    int told[2] = {-1, -1}, go[2] = {-1, -1}, unheld[2] = {-1, -1};
    struct err why = {0};
    char **argv = NULL;
    struct buf out;
    pid_t pid = -1;

    if (!order->how.unprotected && prepare_claim(sandbox, order, fixed, err) < 0)
        return -1;
    if (order->is.netted == 1 && jobnet_make(&sandbox->jobnet, order->user, group, &why) < 0)
        return err_set(err, "a network for the job: %.150s: %s", why.text, strerror(EIO)); /* the machine's fault */
    if (stage_fits(sandbox, order) && stage_ready(sandbox, order, fixed) &&
        stage_start(&start, folder, fixed, ret) == 0)
        return 0;
    stage_done(&sandbox->stage); /* what is left of a job that has one of its own is waited for, all of it */
    sandbox->begun = true;
    if (pipe2(told, O_CLOEXEC) == 0 && pipe2(go, O_CLOEXEC) == 0 && pipe2(unheld, O_CLOEXEC) == 0) {
        start.unheld = unheld[1];
        start.place = meeting_place(order, NULL);
        if (start.place && order->is.view && order->is.view->root)
            start.root_place = meeting_place(order, start.place);
        start.own_net = !order->is.network && sandbox->net_failed;
        start.fds = (struct sandbox_fds){sandbox->filter[fixed],   sandbox->users, sandbox->groups,
                                         names_of(sandbox, order), told[1],        go[0]};
        if (!order->how.unprotected) {
            buf_init(&out);
            add_all(&out, order, start.place ? start.place : order->is.folder, start.root_place, start.own_net,
                    &start.fds);
            start.words = sandbox_file(out.text, out.len);
            buf_done(&out);
            start.argv = argv = command_line(order, start.words);
        }
        if (order->how.unprotected || start.words >= 0)
            pid = child_make(&start, folder, go[1]);
    }
    if (pid < 0)
        err_set(err, "a process could not be made: %s", strerror(errno));
    free(argv);
    close_one(&start.words);
    close_one(&told[1]);
    close_one(&go[0]);
    close_one(&unheld[1]);
    if (pid < 0) {
        close_one(&go[1]);
        close_one(&told[0]);
        sandbox_over(sandbox);
    }
    *ret = (struct sandboxed){pid, told[0], go[1], pid >= 0 && child_is_unheld(unheld[0]), false};
    close_one(&unheld[0]);
    return pid < 0 ? -1 : 0;
}
