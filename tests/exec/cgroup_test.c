/* cgroup_test.c: where groups can be made, and why not, on machines that are made up of files; and what this kernel's groups of version 2 do without
 * any controller: freezing and killing. */
#include "common/tap.h"

#include "machines.h"

#include "exec/cgroup.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define TAG 0x12345678u
#define MOUNT "24 20 0:21 / /sys/fs/cgroup rw,nosuid shared:8 - cgroup2 cgroup2 rw,nsdelegate\n"
#define ALL "cpuset cpu io memory pids\n"

/* ------------------------------------------------------------------------------------------------ machines made of files */

struct file {
    const char *name, *text;
};

struct row {
    const char *sentence, *described, *base; /* of the part for memory, below the root; "-": none */
    const char *why;                         /* with @ for the root */
    struct file files[16];
};

static const struct row rows[] = {
    {"a group that has all controllers and hands them on",
     "cgroup v2 (cpu memory pids freezer)",
     "/sys/fs/cgroup/a",
     "",
     {{"proc/self/cgroup", "0::/a\n"},
      {"proc/self/mountinfo", MOUNT},
      {"sys/fs/cgroup/cgroup.controllers", ALL},
      {"sys/fs/cgroup/cgroup.subtree_control", "cpu memory pids\n"},
      {"sys/fs/cgroup/a/cgroup.controllers", ALL},
      {"sys/fs/cgroup/a/cgroup.subtree_control", "\n"}}},
    {"an agent that was put into the leaf of its group",
     "cgroup v2 (cpu memory pids freezer)",
     "/sys/fs/cgroup/x.service",
     "",
     {{"proc/self/cgroup", "0::/x.service/berth-agent\n"},
      {"proc/self/mountinfo", MOUNT},
      {"sys/fs/cgroup/x.service/cgroup.controllers", ALL},
      {"sys/fs/cgroup/x.service/cgroup.subtree_control", "cpu memory pids\n"},
      {"sys/fs/cgroup/x.service/berth-agent/cgroup.controllers", ALL}}},
    {"a container sees a part of the tree as the whole",
     "cgroup v2 (cpu memory pids freezer)",
     "/sys/fs/cgroup",
     "",
     {{"proc/self/cgroup", "0::/docker/1\n"},
      {"proc/self/mountinfo", "24 20 0:21 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup rw\n"},
      {"sys/fs/cgroup/cgroup.controllers", ALL},
      {"sys/fs/cgroup/cgroup.subtree_control", "\n"}}},
    {"a controller that was not handed down to us is named with the file that lacks it",
     "cgroup v2 (cpu pids freezer)",
     "-",
     "cgroup v2: no memory controller in @/sys/fs/cgroup/cgroup.controllers",
     {{"proc/self/cgroup", "0::/\n"},
      {"proc/self/mountinfo", MOUNT},
      {"sys/fs/cgroup/cgroup.controllers", "cpu pids\n"},
      {"sys/fs/cgroup/cgroup.subtree_control", "\n"}}},
    {"a controller that cannot be handed on is named, too",
     "no cgroups",
     "-",
     "cgroup v2: @/sys/fs/cgroup/cgroup.subtree_control does not take +cpu: Is a directory; cgroup v2: "
     "@/sys/fs/cgroup/cgroup.subtree_control does not take +memory: Is a directory; cgroup v2: "
     "@/sys/fs/cgroup/cgroup.subtree_control does not take +pids: Is a directory",
     {{"proc/self/cgroup", "0::/\n"},
      {"proc/self/mountinfo", MOUNT},
      {"sys/fs/cgroup/cgroup.controllers", ALL},
      {"sys/fs/cgroup/cgroup.subtree_control/x", ""}}},
    {"where our own group cannot hand on, one beside it at the top is taken",
     "cgroup v2 (cpu memory pids freezer)",
     "/sys/fs/cgroup/berth-12345678",
     "",
     {{"proc/self/cgroup", "0::/user.slice/a.scope\n"},
      {"proc/self/mountinfo", MOUNT},
      {"sys/fs/cgroup/cgroup.controllers", ALL},
      {"sys/fs/cgroup/cgroup.subtree_control", "\n"},
      {"sys/fs/cgroup/cgroup.procs", "\n"},
      {"sys/fs/cgroup/user.slice/a.scope/cgroup.controllers", ALL},
      {"sys/fs/cgroup/user.slice/a.scope/cgroup.subtree_control/x", ""},
      {"sys/fs/cgroup/berth-12345678/cgroup.controllers", ALL},
      {"sys/fs/cgroup/berth-12345678/cgroup.subtree_control", "\n"}}},
    {"a service that systemd must be able to start again does not take its own group",
     "cgroup v2 (cpu memory pids freezer)",
     "/sys/fs/cgroup/berth-12345678",
     "",
     {{"proc/self/cgroup", "0::/system.slice/b.service\n"},
      {"proc/self/mountinfo", MOUNT},
      {"sys/fs/cgroup/cgroup.controllers", ALL},
      {"sys/fs/cgroup/cgroup.subtree_control", "cpu memory pids\n"},
      {"sys/fs/cgroup/cgroup.procs", "\n"},
      {"sys/fs/cgroup/system.slice/b.service/cgroup.controllers", ALL},
      {"sys/fs/cgroup/system.slice/b.service/cgroup.subtree_control", "\n"},
      {"sys/fs/cgroup/system.slice/b.service/memory.max", "1048576000\n"},
      {"sys/fs/cgroup/system.slice/b.service/cpu.max", "150000 100000\n"},
      {"sys/fs/cgroup/berth-12345678/cgroup.controllers", ALL},
      {"sys/fs/cgroup/berth-12345678/cgroup.subtree_control", "\n"},
      {"sys/fs/cgroup/berth-12345678/memory.max", "max\n"},
      {"sys/fs/cgroup/berth-12345678/cpu.max", "max 100000\n"}}},
    {"no hierarchy at all",
     "no cgroups",
     "-",
     "cgroup v2: /proc/self/mountinfo shows no cgroup2 with our group in it",
     {{"proc/self/cgroup", "0::/\n"}, {"proc/self/mountinfo", "1 1 0:1 / / rw - ext4 /dev/sda rw\n"}}},
    {"version 1 beside a second one without controllers",
     "cgroup v1 (memory)",
     "/sys/fs/cgroup/memory",
     "cgroup v1: no cpu controller is mounted; cgroup v1: no pids controller is mounted; cgroup v1: no freezer "
     "controller is mounted",
     {{"proc/self/cgroup", "4:memory:/\n0::/\n"},
      {"proc/self/mountinfo", "24 20 0:21 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
                              "25 20 0:22 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"},
      {"sys/fs/cgroup/memory/tasks", ""},
      {"sys/fs/cgroup/unified/cgroup.controllers", "hugetlb\n"}}},
    {"files that make no sense",
     "no cgroups",
     "-",
     "cgroup v2: /proc/self/mountinfo shows no cgroup2 with our group in it",
     {{"proc/self/cgroup", ":::\n0\n0::\n"}, {"proc/self/mountinfo", " - \n - cgroup2\n"}}},
};

/* The words with the root of the machine in the place of each @. */
static const char *with_root(const char *words, const char *root)
{
    static char text[2000];
    size_t len = 0;

    for (; *words && len + 300 < sizeof text; words++)
        len += (size_t)(*words == '@' ? snprintf(text + len, sizeof text - len, "%s", root)
                                      : snprintf(text + len, sizeof text - len, "%c", *words));
    text[len] = '\0';
    return text;
}

static void look(const struct row *row)
{
    struct buf why, described;
    struct machine machine;
    struct cgroups cgroups;
    bool as_wanted;

    machine_init(&machine);
    for (const struct file *file = row->files; file->name; file++)
        machine_put(&machine, file->name, file->text);
    buf_init(&why);
    buf_init(&described);
    cgroups_probe(machine.root.path, TAG, &cgroups, &why);
    cgroups_describe(&cgroups, &described);
    as_wanted = !strcmp(buf_string(&described), row->described) &&
                !strcmp(buf_string(&why), with_root(row->why, machine.root.path));
    if (*row->base == '-')
        as_wanted &= !*cgroups.base[CGROUP_MEMORY];
    else
        as_wanted &= strlen(cgroups.base[CGROUP_MEMORY]) > strlen(machine.root.path) &&
                     !strcmp(cgroups.base[CGROUP_MEMORY] + strlen(machine.root.path), row->base);
    tap_ok(as_wanted, "%s: %s", row->sentence, row->described);
    if (!as_wanted)
        tap_diag("%s; %s; %s", buf_string(&described), cgroups.base[CGROUP_MEMORY], buf_string(&why));
    buf_done(&why);
    buf_done(&described);
    machine_done(&machine);
}

static bool file_says(const struct machine *machine, const char *name, const char *wanted)
{
    char text[200] = "";
    FILE *file = fopen(folder_path(&machine->root, name), "re");

    if (!file)
        return false;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    if (strncmp(text, wanted, strlen(wanted)) != 0)
        tap_diag("%s: %s", name, text);
    return !strncmp(text, wanted, strlen(wanted));
}

/* A group beside ours has the limits of ours. */
static void check_copied_limits(void)
{
    const struct row *row = NULL;
    struct machine machine;
    struct cgroups cgroups;
    struct buf why;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(rows[i].sentence, "systemd"))
            row = &rows[i];
    machine_init(&machine);
    for (const struct file *file = row->files; file->name; file++)
        machine_put(&machine, file->name, file->text);
    buf_init(&why);
    cgroups_probe(machine.root.path, TAG, &cgroups, &why);
    tap_ok(file_says(&machine, "sys/fs/cgroup/berth-12345678/memory.max", "1048576000") &&
               file_says(&machine, "sys/fs/cgroup/berth-12345678/cpu.max", "150000 100000"),
           "what limits the service limits the group beside it, and so all jobs together");
    buf_done(&why);
    machine_done(&machine);
}

/* One group of version 2, as files. */
static void check_limits(void)
{
    static const char *const names[] = {"memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max",
                                        "cpu.weight", "cgroup.freeze",   "cgroup.kill",      NULL};
    struct executor_limits limits = {.cores = 1.5, .memory = 100 << 20, .processes = 10};
    struct executor_usage usage = {0};
    int64_t read = -1, written = -1;
    struct machine machine;
    struct cgroup group;
    char name[64];

    machine_init(&machine);
    memset(&group, 0, sizeof group);
    group.version = 2;
    for (int i = 0; i < CGROUP_PART_COUNT; i++)
        snprintf(group.path[i], sizeof group.path[i], "%s/g", machine.root.path);
    for (size_t i = 0; names[i]; i++) {
        snprintf(name, sizeof name, "g/%s", names[i]);
        machine_put(&machine, name, "");
    }
    machine_put(&machine, "g/cpu.stat", "usage_usec 1000\nuser_usec 1\n");
    machine_put(&machine, "g/memory.peak", "5000\n");
    machine_put(&machine, "g/io.stat", "8:0 rbytes=100 wbytes=10 rios=1 wios=1 dbytes=0 dios=0\n");
    machine_put(&machine, "g/memory.events", "low 0\nhigh 0\nmax 0\noom 1\noom_kill 1\n");
    tap_ok(cgroup_limit(&group, &limits, true) == (HELD_CORES | HELD_MEMORY | HELD_PROCESSES),
           "a group of version 2 holds processors, memory and processes");
    tap_ok(file_says(&machine, "g/memory.max", "106954752") && file_says(&machine, "g/memory.swap.max", "0") &&
               file_says(&machine, "g/memory.oom.group", "1") && file_says(&machine, "g/pids.max", "12") &&
               file_says(&machine, "g/cpu.max", "150000 100000") && file_says(&machine, "g/cpu.weight", "150"),
           "with no swap, ended as a whole, and with room for the sandbox");
    tap_ok(!cgroup_was_killed(&group), "what was counted before the limits were set does not count");
    machine_put(&machine, "g/cpu.stat", "usage_usec 501000\nuser_usec 1\n");
    machine_put(&machine, "g/memory.peak", "7000000\n");
    machine_put(&machine, "g/memory.current", "3\n");
    machine_put(&machine, "g/memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\n");
    machine_put(&machine, "g/io.stat",
                "8:16 rbytes=1000 wbytes=10 rios=1 wios=1 dbytes=5 dios=0\n8:0 rbytes=300 wbytes=20 rios=2\n");
    cgroup_usage(&group, &usage);
    cgroup_moved(&group, &read, &written);
    tap_ok(read == 1200 && written == 20, "what was read and written is added up over devices");
    tap_ok(cgroup_memory(&group) == 3, "what memory it has now is told, too");
    tap_ok(usage.cpu == 500000 && usage.memory == 7000000, "processor time and the most memory are read from it");
    tap_ok(cgroup_was_killed(&group) && cgroup_ran_out(&group), "and that it ran out of memory");
    tap_ok(cgroup_freeze(&group, true) && file_says(&machine, "g/cgroup.freeze", "1"), "it freezes as a whole");
    tap_ok(cgroup_kill(&group) && file_says(&machine, "g/cgroup.kill", "1"), "and is killed as a whole");
    unlink(folder_path(&machine.root, "g/cpu.max"));
    tap_ok(cgroup_limit(&group, &limits, true) == (HELD_MEMORY | HELD_PROCESSES),
           "where the kernel gives out no shares of processors, the group does not claim to hold them");
    machine_done(&machine);
}

/* ---------------------------------------------------------------------------------------------------------- this kernel */

static char mount_of_v2[256];

/* Finds a hierarchy of version 2 in which a group can be made. */
static bool v2_find(struct cgroup *ret)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char line[1024], at[256];

    memset(ret, 0, sizeof *ret);
    while (file && fgets(line, sizeof line, file))
        if (strstr(line, " - cgroup2 ") && sscanf(line, "%*s %*s %*s %*s %255s", at) == 1)
            memcpy(mount_of_v2, at, sizeof at);
    if (file)
        fclose(file);
    if (!*mount_of_v2)
        return false;
    ret->version = 2;
    snprintf(ret->path[CGROUP_FREEZER], sizeof ret->path[CGROUP_FREEZER], "%.200s/berth-test-%d", mount_of_v2,
             (int)getpid());
    return mkdir(ret->path[CGROUP_FREEZER], 0755) == 0;
}

/* What `name` of the group's cgroup.events says. */
static int event(const struct cgroup *group, const char *name)
{
    char path[512], word[32];
    int number, found = -1;
    FILE *file;

    snprintf(path, sizeof path, "%s/cgroup.events", group->path[CGROUP_FREEZER]);
    file = fopen(path, "re");
    while (file && fscanf(file, "%31s %d", word, &number) == 2)
        if (!strcmp(word, name))
            found = number;
    if (file)
        fclose(file);
    return found;
}

static bool event_comes(const struct cgroup *group, const char *name, int wanted)
{
    for (int i = 0; i < 20000 && event(group, name) != wanted; i++)
        usleep(1000);
    return event(group, name) == wanted;
}

/* What becomes of a child that is born in the group: 0 when it is there. */
static int born(const struct cgroup *group)
{
    char line[512] = "";
    int status = -1;
    pid_t pid = cgroup_fork(group);
    FILE *file;

    if (pid < 0)
        return -1;
    if (pid == 0) {
        file = fopen("/proc/self/cgroup", "re");
        while (file && fgets(line, sizeof line, file) && strncmp(line, "0::", 3) != 0)
            ;
        _exit(!strstr(line, strrchr(group->path[CGROUP_FREEZER], '/')));
    }
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 256;
}

static void check_kernel(void)
{
    struct cgroup group;
    int status = 0, ends[2];
    bool dead;
    pid_t pid;
    char c;

    if (!v2_find(&group) || pipe(ends) < 0) {
        tap_ok(true, "version 2 on this machine # SKIP no group of version 2 can be made here");
        return;
    }
    tap_ok(born(&group) == -1, "in a group that was there before nobody is born");
    group.fresh = true;
    errno = 0;
    tap_ok(born(&group) == 0 || errno == ENOSYS || errno == EPERM,
           "in one that is new a child is from its first moment");
    pid = fork();
    if (pid == 0) {
        c = (char)cgroup_enter(&group);
        if (fork() >= 0 && write(ends[1], &c, 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    tap_ok(read(ends[0], &c, 1) == 1 && c && event_comes(&group, "populated", 1), "a process enters its group");
    tap_ok(cgroup_freeze(&group, true) && event_comes(&group, "frozen", 1), "all in it stand still");
    for (int i = 0; !(dead = cgroup_kill(&group)) && i < 20000; i++)
        usleep(1000);
    tap_ok(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && dead &&
               event_comes(&group, "populated", 0),
           "and are killed although they are frozen");
    tap_ok(born(&group) == -1, "and nobody is born there any more: there are kernels that kill whoever is");
    cgroup_remove(&group);
    tap_ok(access(group.path[CGROUP_FREEZER], F_OK) < 0, "an empty group can be removed");
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        look(&rows[i]);
    check_copied_limits();
    check_limits();
    check_kernel();
    return tap_done();
}
