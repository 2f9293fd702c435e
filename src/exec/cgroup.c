/* cgroup.c: the kernel's groups of processes, version 1 or 2. */
#include "exec/cgroup.h"

#include "exec/pin.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LIMIT_SLACK \
    (INT64_C(256) << 10) /* the kernel takes memory for a group in pieces, and stops short of its limit by one */
#define PERIOD 100000    /* microseconds in which a share of the processors is given out */
#define AGENT_LEAF "berth-agent"

/* What the parts are called: by version 1 in /proc, by version 2 in cgroup.controllers ("": needs no controller). */
static const struct part {
    const char *v1, *v2, *shown;
} parts[CGROUP_PART_COUNT] = {
    [CGROUP_CPU] = {"cpu", "cpu", "cpu"},
    [CGROUP_COUNT_CPU] = {"cpuacct", "", NULL},
    [CGROUP_MEMORY] = {"memory", "memory", "memory"},
    [CGROUP_PIDS] = {"pids", "pids", "pids"},
    [CGROUP_FREEZER] = {"freezer", "", "freezer"},
};

/* ------------------------------------------------------------------------------------------------------- small files */

static bool file_write(const char *folder, const char *name, const char *text)
{
    char path[CGROUP_PATH_MAX + 128];
    size_t len = strlen(text);
    bool written;
    int fd;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    written = write(fd, text, len) == (ssize_t)len;
    close(fd);
    return written;
}

static bool file_write_number(const char *folder, const char *name, int64_t number)
{
    char text[32];

    snprintf(text, sizeof text, "%lld", (long long)number);
    return file_write(folder, name, text);
}

/* Reads up to `size` - 1 bytes of a file, with a NUL behind them; "" when it cannot be read. */
static bool file_read(const char *folder, const char *name, char *text, size_t size)
{
    char path[CGROUP_PATH_MAX + 128];
    ssize_t got;
    int fd;

    *text = '\0';
    snprintf(path, sizeof path, "%s%s%s", folder, *name ? "/" : "", name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = read(fd, text, size - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got >= 0;
}

/* Reads the number behind a word at the start of a line of a file; "" as word: the first number. */
static int64_t file_number(const char *folder, const char *name, const char *word)
{
    char text[4096], *at = text;

    if (!*folder || !file_read(folder, name, text, sizeof text))
        return 0;
    while (at && *word) {
        size_t len = strlen(word);

        if (!strncmp(at, word, len) && at[len] == ' ')
            return strtoll(at + len, NULL, 10);
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    return at ? strtoll(at, NULL, 10) : 0;
}

static bool has_word(const char *words, const char *word, const char *separators)
{
    size_t len = strlen(word);

    for (const char *at = words; *at;) {
        size_t span = strcspn(at, separators);

        if (span == len && !strncmp(at, word, len))
            return true;
        at += span + (at[span] != '\0');
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------------- probing */

/* The group that this process is in, as /proc/self/cgroup tells: of a controller, or with "" of version 2. */
static bool own_group(const char *controller, char *path, size_t size)
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[1024];
    bool found = false;

    while (file && !found && fgets(line, sizeof line, file)) {
        char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;

        if (!group)
            continue;
        *group++ = '\0';
        group[strcspn(group, "\n")] = '\0';
        found = *controller ? has_word(names + 1, controller, ",") : !names[1];
        if (found && (size_t)snprintf(path, size, "%s", group) >= size)
            found = false;
    }
    if (file)
        fclose(file);
    return found;
}

/* Finds where the hierarchy of a controller is mounted, with "" that of version 2: "ROOT MOUNTPOINT" of /proc/self/mountinfo. */
static bool hierarchy_find(const char *controller, char *root, char *mount, size_t size)
{
    FILE *file = fopen("/proc/self/mountinfo", "re");
    char line[2048];
    bool found = false;

    while (file && !found && fgets(line, sizeof line, file)) {
        char *tail = strstr(line, " - ");
        char kind[32], source[256], options[512], at_root[CGROUP_PATH_MAX], at[CGROUP_PATH_MAX];

        if (!tail || sscanf(tail + 3, "%31s %255s %511s", kind, source, options) != 3 ||
            sscanf(line, "%*s %*s %*s %255s %255s", at_root, at) != 2)
            continue;
        found = *controller ? !strcmp(kind, "cgroup") && has_word(options, controller, ",") : !strcmp(kind, "cgroup2");
        if (found) {
            snprintf(root, size, "%s", at_root);
            snprintf(mount, size, "%s", at);
        }
    }
    if (file)
        fclose(file);
    return found;
}

/* The folder of our own group. */
static bool own_folder(const char *controller, char path[CGROUP_PATH_MAX])
{
    char group[CGROUP_PATH_MAX], root[CGROUP_PATH_MAX], mount[CGROUP_PATH_MAX];
    size_t len;
    const char *below = group;
    struct stat st;

    if (!own_group(controller, group, sizeof group) || !hierarchy_find(controller, root, mount, sizeof root))
        return false;
    len = strlen(root);
    if (len > 1 && !strncmp(group, root, len)) /* a container sees a part of the tree as the whole */
        below = group + len;
    if (!strcmp(below, "/"))
        below = "";
    if ((size_t)snprintf(path, CGROUP_PATH_MAX, "%s%s", mount, below) >= CGROUP_PATH_MAX)
        return false;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool can_make(const char *base)
{
    char path[CGROUP_PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/berth-probe-%d", base, (int)getpid());
    if (mkdir(path, 0755) < 0)
        return false;
    rmdir(path);
    return true;
}

/* Hands the controllers on to groups below ours. A group with processes cannot do that, so we step down into one of our own first. */
static bool v2_hand_on(const char *base, const char *controllers)
{
    char words[256] = "", leaf[CGROUP_PATH_MAX + 32];

    for (int i = 0; i < CGROUP_PART_COUNT; i++)
        if (*parts[i].v2 && has_word(controllers, parts[i].v2, " \n"))
            snprintf(words + strlen(words), sizeof words - strlen(words), "+%s ", parts[i].v2);
    if (!*words || file_write(base, "cgroup.subtree_control", words))
        return true;
    snprintf(leaf, sizeof leaf, "%s/" AGENT_LEAF, base);
    if ((mkdir(leaf, 0755) < 0 && errno != EEXIST) || !file_write(leaf, "cgroup.procs", "0"))
        return false;
    if (file_write(base, "cgroup.subtree_control", words))
        return true;
    file_write(base, "cgroup.procs", "0"); /* others are here as well: leave all as it was */
    rmdir(leaf);
    return false;
}

static bool probe_v2(struct cgroups *ret)
{
    char base[CGROUP_PATH_MAX], controllers[512], handed[512];
    char *leaf;

    if (!own_folder("", base))
        return false;
    leaf = strrchr(base, '/');
    if (leaf && !strcmp(leaf + 1, AGENT_LEAF))
        *leaf = '\0';
    file_read(base, "cgroup.controllers", controllers, sizeof controllers);
    if (!has_word(controllers, "memory", " \n") && !has_word(controllers, "pids", " \n"))
        return false;
    if (!can_make(base) || !v2_hand_on(base, controllers))
        return false;
    file_read(base, "cgroup.subtree_control", handed, sizeof handed);
    for (int i = 0; i < CGROUP_PART_COUNT; i++)
        if (!*parts[i].v2 || has_word(handed, parts[i].v2, " \n"))
            memcpy(ret->base[i], base, sizeof base);
    ret->version = 2;
    return true;
}

void cgroups_probe(uint32_t tag, struct cgroups *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->tag = tag;
    if (probe_v2(ret))
        return;
    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        if (own_folder(parts[i].v1, ret->base[i]) && can_make(ret->base[i]))
            ret->version = 1;
        else
            *ret->base[i] = '\0';
    }
}

void cgroups_describe(const struct cgroups *cgroups, struct buf *out)
{
    const char *before = " (";

    if (!cgroups->version) {
        buf_adds(out, "no cgroups");
        return;
    }
    buf_addf(out, "cgroup v%d", (int)cgroups->version);
    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        if (!*cgroups->base[i] || !parts[i].shown)
            continue;
        buf_addf(out, "%s%s", before, parts[i].shown);
        before = " ";
    }
    buf_adds(out, ")");
}

/* ------------------------------------------------------------------------------------------------------------ one group */

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
    for (int i = 0; i < CGROUP_PART_COUNT; i++)
        if (*cgroup->path[i] && mkdir(cgroup->path[i], 0755) < 0 && errno != EEXIST)
            *cgroup->path[i] = '\0';
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

    return cgroup->version == 2 ? file_number(path, "cpu.stat", "usage_usec")
                                : file_number(path, "cpuacct.usage", "") / 1000;
}

static int64_t kills_now(const struct cgroup *cgroup)
{
    const char *path = cgroup->path[CGROUP_MEMORY];

    return cgroup->version == 2 ? file_number(path, "memory.events", "oom_kill")
                                : file_number(path, "memory.oom_control", "oom_kill");
}

/* How often the group has hit its own limit on memory; version 2 alone can tell. */
static int64_t hits_now(const struct cgroup *cgroup)
{
    return cgroup->version == 2 ? file_number(cgroup->path[CGROUP_MEMORY], "memory.events", "oom") : 0;
}

/* Has the group hit its own limit on memory since the limits were set? With version 1 not every kernel counts that (memory.failcnt), but each
 * tells the most that was used since then. */
static bool limit_was_hit(const struct cgroup *cgroup)
{
    const char *path = cgroup->path[CGROUP_MEMORY];
    int64_t swapped;

    if (cgroup->version == 2)
        return hits_now(cgroup) > cgroup->hits_before;
    swapped = file_number(path, "memory.memsw.limit_in_bytes", ""); /* what was swapped out counts there alone */
    return file_number(path, "memory.max_usage_in_bytes", "") + LIMIT_SLACK >=
               file_number(path, "memory.limit_in_bytes", "") ||
           (swapped > 0 && file_number(path, "memory.memsw.max_usage_in_bytes", "") + LIMIT_SLACK >= swapped);
}

static bool limit_cores(const char *path, int version, double cores)
{
    int64_t quota = cores > 0 ? (int64_t)(cores * PERIOD) : -1;
    char text[64];

    if (quota >= 0 && quota < 1000)
        quota = 1000; /* the least that the kernel takes */
    if (version == 1)
        return file_write_number(path, "cpu.cfs_quota_us", quota);
    snprintf(text, sizeof text, quota < 0 ? "max" : "%lld %d", (long long)quota, PERIOD);
    return file_write(path, "cpu.max", text);
}

static bool limit_memory(const char *path, int version, int64_t bytes)
{
    char text[32];

    snprintf(text, sizeof text, bytes > 0 ? "%lld" : version == 1 ? "-1" : "max", (long long)bytes);
    if (version == 1) {
        /* Memory and swap together are never below memory alone, so the order depends on which way it goes. */
        file_write(path, "memory.memsw.limit_in_bytes", "-1");
        if (!file_write(path, "memory.limit_in_bytes", text))
            return false;
        file_write(path, "memory.memsw.limit_in_bytes", text);
        file_write(path, "memory.max_usage_in_bytes", "0");
        file_write(path, "memory.memsw.max_usage_in_bytes", "0");
        return true;
    }
    file_write(path, "memory.swap.max", bytes > 0 ? "0" : "max");
    file_write(path, "memory.oom.group", "1");
    return file_write(path, "memory.max", text);
}

static bool limit_processes(const char *path, int64_t count)
{
    return count > 0 ? file_write_number(path, "pids.max", count) : file_write(path, "pids.max", "max");
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
    cgroup->peak_before = cgroup->version == 2 ? file_number(cgroup->path[CGROUP_MEMORY], "memory.peak", "") : 0;
    cgroup->memory_most = 0;
    return held;
}

bool cgroup_enter(const struct cgroup *cgroup)
{
    bool entered = true;

    for (int i = 0; i < CGROUP_PART_COUNT; i++) {
        if (!*cgroup->path[i])
            continue;
        entered &= file_write(cgroup->path[i], cgroup->version == 2 ? "cgroup.procs" : "tasks", "0");
        if (cgroup->version == 2)
            break; /* all are one */
    }
    return entered;
}

bool cgroup_freeze(const struct cgroup *cgroup, bool frozen)
{
    const char *path = cgroup->path[CGROUP_FREEZER];

    if (!*path)
        return false;
    return cgroup->version == 2 ? file_write(path, "cgroup.freeze", frozen ? "1" : "0")
                                : file_write(path, "freezer.state", frozen ? "FROZEN" : "THAWED");
}

/* The folder of any part of the group: all parts have the same processes. */
static const char *some_path(const struct cgroup *cgroup)
{
    for (int i = CGROUP_PART_COUNT - 1; i >= 0; i--)
        if (*cgroup->path[i])
            return cgroup->path[i];
    return "";
}

/* Is the process in the group at that path? The last part of the path has the claim in it: no other group has that name. */
static bool is_member(int pid, const void *path)
{
    char name[32], text[8192];
    const char *last = strrchr(path, '/');

    snprintf(name, sizeof name, "/proc/%d", pid);
    return last && file_read(name, "cgroup", text, sizeof text) && strstr(text, last);
}

bool cgroup_kill(const struct cgroup *cgroup)
{
    const char *path = some_path(cgroup);
    char name[CGROUP_PATH_MAX + 128];
    int pid, count = 0;
    FILE *file;

    if (!*path)
        return true;
    if (cgroup->version == 2)
        file_write(path, "cgroup.kill", "1");
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
        now = file_number(memory, "memory.current", "");
        peak = file_number(memory, "memory.peak", "");
        if (peak > cgroup->peak_before)
            now = peak; /* it was reached by this job */
    } else {
        now = file_number(memory, "memory.max_usage_in_bytes", "");
    }
    if (now > cgroup->memory_most)
        cgroup->memory_most = now;
    usage->memory = cgroup->memory_most;
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
    char folder[CGROUP_PATH_MAX], text[4096];
    const char *name = "memory.oom_control", *at;

    if (!own_folder("memory", folder)) { /* of version 2 those alone that were in this very group */
        if (!own_folder("", folder))
            return -1;
        name = "memory.events.local";
    }
    if (!file_read(folder, name, text, sizeof text) || !(at = strstr(text, "oom_kill ")))
        return -1;
    return strtoll(at + strlen("oom_kill "), NULL, 10);
}
