/* cgroup.c: the kernel's groups of processes, version 1 or 2. */
#include "exec/cgroup_parts.h"
#include "exec/pin.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_SLACK \
    (INT64_C(256) << 10) /* the kernel takes memory for a group in pieces, and stops short of its limit by one */
#define PERIOD 100000    /* microseconds in which a share of the processors is given out */
#define WEIGHT_OF_CORE 100
#define WEIGHT_MAX 10000

void cgroup_init(struct cgroup *cgroup, const struct cgroups *where, uint64_t claim)
{
    memset(cgroup, 0, sizeof *cgroup);
    cgroup->version = where->version;
    for (int i = 0; i < CGROUP_PART_COUNT; i++)
        if (*where->base[i])
            snprintf(cgroup->path[i], sizeof cgroup->path[i], "%s/berth-%08x-%016llx", where->base[i],
                     (unsigned)where->tag, (unsigned long long)claim);
}

void cgroup_make(struct cgroup *cgroup)
{
    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        if (!*cgroup->path[i])
            continue;
        if (mkdir(cgroup->path[i], 0755) == 0)
            cgroup->fresh = true;
        else if (errno != EEXIST)
            *cgroup->path[i] = '\0';
    }
}

void cgroup_remove(struct cgroup *cgroup)
{
    for (int i = 0; i < CGROUP_PART_COUNT; i++)
        if (*cgroup->path[i])
            rmdir(cgroup->path[i]);
}

static int64_t cpu_now(const struct cgroup *cgroup)
{
    const char *path = cgroup->path[CGROUP_COUNT_CPU];

    return cgroup->version == 2 ? group_number(path, "cpu.stat", "usage_usec")
                                : group_number(path, "cpuacct.usage", "") / 1000;
}

static int64_t kills_now(const struct cgroup *cgroup)
{
    const char *path = cgroup->path[CGROUP_MEMORY];

    return cgroup->version == 2 ? group_number(path, "memory.events", "oom_kill")
                                : group_number(path, "memory.oom_control", "oom_kill");
}

/* How often the group has hit its own limit on memory; version 2 alone can tell. */
static int64_t hits_now(const struct cgroup *cgroup)
{
    return cgroup->version == 2 ? group_number(cgroup->path[CGROUP_MEMORY], "memory.events", "oom") : 0;
}

/* Has the group hit its own limit on memory since the limits were set? With version 1 not every kernel counts that (memory.failcnt), but each
 * tells the most that was used since then. */
static bool limit_was_hit(const struct cgroup *cgroup)
{
    const char *path = cgroup->path[CGROUP_MEMORY];
    int64_t swapped;

    if (cgroup->version == 2)
        return hits_now(cgroup) > cgroup->hits_before;
    swapped = group_number(path, "memory.memsw.limit_in_bytes", ""); /* what was swapped out counts there alone */
    return group_number(path, "memory.max_usage_in_bytes", "") + LIMIT_SLACK >=
               group_number(path, "memory.limit_in_bytes", "") ||
           (swapped > 0 && group_number(path, "memory.memsw.max_usage_in_bytes", "") + LIMIT_SLACK >= swapped);
}

static int64_t weight_of(double cores)
{
    double weight = cores > 0 ? cores * WEIGHT_OF_CORE : WEIGHT_OF_CORE;

    return weight < 1 ? 1 : weight > WEIGHT_MAX ? WEIGHT_MAX : (int64_t)weight;
}

static bool limit_cores(const char *path, int version, double cores)
{
    int64_t quota = cores > 0 ? (int64_t)(cores * PERIOD) : -1;
    char text[64];

    if (quota >= 0 && quota < 1000)
        quota = 1000; /* the least that the kernel takes */
    if (version == 1)
        return group_write_number(path, "cpu.cfs_quota_us", quota);
    group_write_number(path, "cpu.weight",
                       weight_of(cores)); /* by which the rest is shared where more was promised than there is */
    snprintf(text, sizeof text, quota < 0 ? "max" : "%lld %d", (long long)quota, PERIOD);
    return group_write(path, "cpu.max", text);
}

static bool limit_memory(const char *path, int version, int64_t bytes)
{
    char text[32];

    snprintf(text, sizeof text, bytes > 0 ? "%lld" : version == 1 ? "-1" : "max", (long long)bytes);
    if (version == 1) {
        /* Memory and swap together are never below memory alone, so the order depends on which way it goes. */
        group_write(path, "memory.memsw.limit_in_bytes", "-1");
        if (!group_write(path, "memory.limit_in_bytes", text))
            return false;
        group_write(path, "memory.memsw.limit_in_bytes", text);
        group_write(path, "memory.max_usage_in_bytes", "0");
        group_write(path, "memory.memsw.max_usage_in_bytes", "0");
        return true;
    }
    group_write(path, "memory.swap.max", bytes > 0 ? "0" : "max");
    group_write(path, "memory.oom.group", "1");
    return group_write(path, "memory.max", text);
}

static bool limit_processes(const char *path, int64_t count)
{
    return count > 0 ? group_write_number(path, "pids.max", count) : group_write(path, "pids.max", "max");
}

/* Adds up what io.stat tells of all devices: "8:0 rbytes=1 wbytes=2 rios=3 ...". -1: it is not there. */
static int64_t moved_now(const struct cgroup *cgroup, const char *word)
{
    const char *path = cgroup->path[CGROUP_COUNT_CPU], *at;
    char text[CGROUP_TEXT_MAX];
    int64_t bytes = 0;

    if (cgroup->version != 2 || !*path || !group_read(path, "io.stat", text, sizeof text))
        return -1;
    for (at = strstr(text, word); at; at = strstr(at + 1, word))
        bytes += strtoll(at + strlen(word), NULL, 10);
    return bytes;
}

unsigned cgroup_limit(struct cgroup *cgroup, const struct executor_limits *limits, bool sandboxed)
{
    int64_t memory = limits->memory > 0 && sandboxed ? limits->memory + CGROUP_OWN_MEMORY : limits->memory;
    int64_t processes =
        limits->processes > 0 && sandboxed ? limits->processes + CGROUP_OWN_PROCESSES : limits->processes;
    unsigned held = 0;

    if (*cgroup->path[CGROUP_CPU] && limit_cores(cgroup->path[CGROUP_CPU], cgroup->version, limits->cores))
        held |= HELD_CORES;
    if (*cgroup->path[CGROUP_MEMORY] && limit_memory(cgroup->path[CGROUP_MEMORY], cgroup->version, memory))
        held |= HELD_MEMORY;
    if (*cgroup->path[CGROUP_PIDS] && limit_processes(cgroup->path[CGROUP_PIDS], processes))
        held |= HELD_PROCESSES;
    cgroup->cpu_before = cpu_now(cgroup);
    cgroup->kills_before = kills_now(cgroup);
    cgroup->hits_before = hits_now(cgroup);
    cgroup->peak_before = cgroup->version == 2 ? group_number(cgroup->path[CGROUP_MEMORY], "memory.peak", "") : 0;
    cgroup->memory_most = 0;
    cgroup->read_before = moved_now(cgroup, " rbytes=");
    cgroup->written_before = moved_now(cgroup, " wbytes=");
    return held;
}

bool cgroup_take(const struct cgroup *cgroup, pid_t pid)
{
    bool entered = true;
    char number[16];

    snprintf(number, sizeof number, "%d", (int)pid); /* 0: who writes it */

    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        if (!*cgroup->path[i])
            continue;
        entered &= group_write(cgroup->path[i], cgroup->version == 2 ? "cgroup.procs" : "tasks", number);
        if (cgroup->version == 2)
            break; /* all are one */
    }
    return entered;
}

/* The folder of any part of the group: all parts have the same processes. */
static const char *some_path(const struct cgroup *cgroup)
{
    for (int i = CGROUP_PART_COUNT - 1; i >= 0; i--)
        if (*cgroup->path[i])
            return cgroup->path[i];
    return "";
}

pid_t cgroup_fork(const struct cgroup *cgroup)
{
#if defined CLONE_INTO_CGROUP && defined SYS_clone3
    struct clone_args how = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
    const char *path = cgroup->version == 2 && cgroup->fresh ? some_path(cgroup) : NULL;
    int folder = path ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    pid_t pid;

    if (folder < 0)
        return -1;
    how.cgroup = (uint64_t)folder;
    pid = (pid_t)syscall(SYS_clone3, &how, sizeof how);
    close(folder);
    return pid;
#else
    (void)cgroup;
    return -1;
#endif
}

bool cgroup_enter(const struct cgroup *cgroup)
{
    return cgroup_take(cgroup, 0);
}

bool cgroup_freeze(const struct cgroup *cgroup, bool frozen)
{
    const char *path = cgroup->path[CGROUP_FREEZER];

    if (!*path)
        return false;
    return cgroup->version == 2 ? group_write(path, "cgroup.freeze", frozen ? "1" : "0")
                                : group_write(path, "freezer.state", frozen ? "FROZEN" : "THAWED");
}

/* Is the process in the group at that path? The last part of the path has the claim in it: no other group has that name. */
static bool is_member(int pid, const void *path)
{
    char name[32], text[8192];
    const char *last = strrchr(path, '/');

    snprintf(name, sizeof name, "/proc/%d", pid);
    return last && group_read(name, "cgroup", text, sizeof text) && strstr(text, last);
}

bool cgroup_kill(struct cgroup *cgroup)
{
    const char *path = some_path(cgroup);
    char name[CGROUP_PATH_MAX + 128];
    int pid, count = 0;
    FILE *file;

    if (!*path)
        return true;
    cgroup->fresh = false;
    if (cgroup->version == 2)
        group_write(path, "cgroup.kill", "1");
    snprintf(name, sizeof name, "%s/cgroup.procs", path);
    file = fopen(name, "re");
    if (!file)
        return true;
    for (; fscanf(file, "%d", &pid) == 1; count++)
        if (pid > 0)
            pin_signal(pid, SIGKILL, is_member, path);
    fclose(file);
    cgroup_freeze(cgroup, false); /* what is frozen does not even die, in version 1 */
    return count == 0;
}

void cgroup_usage(struct cgroup *cgroup, struct executor_usage *usage)
{
    const char *memory = cgroup->path[CGROUP_MEMORY];
    int64_t now, peak;

    if (*cgroup->path[CGROUP_COUNT_CPU])
        usage->cpu = cpu_now(cgroup) - cgroup->cpu_before;
    if (!*memory)
        return;
    if (cgroup->version == 2) {
        now = group_number(memory, "memory.current", "");
        peak = group_number(memory, "memory.peak", "");
        if (peak > cgroup->peak_before)
            now = peak; /* it was reached by this job */
    } else {
        now = group_number(memory, "memory.max_usage_in_bytes", "");
    }
    if (now > cgroup->memory_most)
        cgroup->memory_most = now;
    usage->memory = cgroup->memory_most;
}

int64_t cgroup_memory(const struct cgroup *cgroup)
{
    return group_number(cgroup->path[CGROUP_MEMORY], cgroup->version == 2 ? "memory.current" : "memory.usage_in_bytes",
                        "");
}

void cgroup_moved(const struct cgroup *cgroup, int64_t *ret_read, int64_t *ret_written)
{
    int64_t read = moved_now(cgroup, " rbytes="), written = moved_now(cgroup, " wbytes=");

    if (read >= 0 && cgroup->read_before >= 0)
        *ret_read = read - cgroup->read_before;
    if (written >= 0 && cgroup->written_before >= 0)
        *ret_written = written - cgroup->written_before;
}

bool cgroup_counts_kills(const struct cgroup *cgroup)
{
    return *cgroup->path[CGROUP_MEMORY] != '\0';
}

bool cgroup_was_killed(const struct cgroup *cgroup)
{
    return cgroup_counts_kills(cgroup) && kills_now(cgroup) > cgroup->kills_before;
}

bool cgroup_ran_out(const struct cgroup *cgroup)
{
    return cgroup_was_killed(cgroup) && limit_was_hit(cgroup);
}

int64_t cgroup_kills_here(void)
{
    char folder[CGROUP_PATH_MAX], top[CGROUP_PATH_MAX], text[CGROUP_TEXT_MAX];
    const char *name = "memory.oom_control", *at;

    if (!group_own("", "memory", folder, top)) { /* of version 2 those alone that were in this very group */
        if (!group_own("", "", folder, top))
            return -1;
        name = "memory.events.local";
    }
    if (!group_read(folder, name, text, sizeof text) || !(at = strstr(text, "oom_kill ")))
        return -1;
    return strtoll(at + strlen("oom_kill "), NULL, 10);
}
