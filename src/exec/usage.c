/* usage.c: processes and all that they began, by what /proc tells. */
#define _GNU_SOURCE /* O_PATH */
#include "exec/usage.h"

#include "exec/pin.h"
#include "lang/base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define KIN_MAX 100000    /* processes that are looked at */
#define NAMELESS_MAX 2000 /* files that are known to be the same; further ones may count twice */

void job_processes_init(struct job_processes *processes)
{
    *processes = (struct job_processes){0};
}

void job_processes_done(struct job_processes *processes)
{
    free(processes->pids);
    free(processes->parents);
    job_processes_init(processes);
}

static void job_processes_add(struct job_processes *processes, int pid, int parent)
{
    if (processes->count == processes->room) {
        processes->room = processes->room ? processes->room * 2 : 64;
        processes->pids = mem_grow(processes->pids, processes->room * sizeof *processes->pids);
        processes->parents = mem_grow(processes->parents, processes->room * sizeof *processes->parents);
    }
    processes->pids[processes->count] = pid;
    processes->parents[processes->count++] = parent;
}

/* Reads a small file of /proc/PID, with a NUL behind it; false: it is gone. */
static bool proc_read(int pid, const char *name, char *text, size_t size)
{
    char path[128];
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    got = read(fd, text, size - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

static void add_children(struct job_processes *processes, int pid, const char *thread)
{
    char path[320];
    FILE *file;
    int child;

    snprintf(path, sizeof path, "/proc/%d/task/%s/children", pid, thread);
    file = fopen(path, "re");
    while (file && processes->count < KIN_MAX && fscanf(file, "%d", &child) == 1)
        job_processes_add(processes, child, pid);
    if (file)
        fclose(file);
}

static void add_all_children(struct job_processes *processes, int pid)
{
    char path[64];
    struct dirent *entry;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        if (*entry->d_name != '.')
            add_children(processes, pid, entry->d_name);
    if (dir)
        closedir(dir);
}

void job_processes_find(struct job_processes *processes, int root, bool with_root)
{
    processes->count = 0;
    processes->root = root;
    if (with_root)
        job_processes_add(processes, root, 0);
    else
        add_all_children(processes, root);
    for (size_t i = 0; i < processes->count; i++)
        add_all_children(processes, processes->pids[i]);
}

void job_processes_find_also(struct job_processes *processes, int pid, int parent)
{
    size_t first = processes->count;

    job_processes_add(processes, pid, parent);
    for (size_t i = first; i < processes->count; i++)
        add_all_children(processes, processes->pids[i]);
}

/* The fields of /proc/PID/stat from the third on, which is the state. */
static const char *stat_fields(int pid, char *text, size_t size)
{
    const char *end;

    if (!proc_read(pid, "stat", text, size))
        return NULL;
    end = strrchr(text, ')'); /* its name may have anything in it */
    return end && end[1] ? end + 2 : NULL;
}

int process_parent(int pid)
{
    char text[1024];
    const char *fields = stat_fields(pid, text, sizeof text);
    int parent = 0;

    return fields && sscanf(fields, "%*c %d", &parent) == 1 ? parent : 0;
}

/* What its parent left behind has become the root's. */
struct child {
    int parent, root;
};

static bool is_child(int pid, const void *user)
{
    const struct child *child = user;
    int parent = process_parent(pid);

    return parent > 0 && (parent == child->parent || parent == child->root);
}

void job_processes_signal(const struct job_processes *processes, int number)
{
    for (size_t i = 0; i < processes->count; i++) {
        struct child child = {processes->parents[i], processes->root};

        pin_signal(processes->pids[i], number, is_child, &child);
    }
}

bool job_processes_are_stopped(const struct job_processes *processes)
{
    char text[1024];

    for (size_t i = 0; i < processes->count; i++) {
        const char *fields = stat_fields(processes->pids[i], text, sizeof text);

        if (fields && !strchr("TtZX", *fields))
            return false;
    }
    return true;
}

static int64_t exact_memory(int pid)
{
    char text[2048];
    const char *at = proc_read(pid, "smaps_rollup", text, sizeof text) ? strstr(text, "\nPss:") : NULL;

    return at ? strtoll(at + 5, NULL, 10) * 1024 : 0;
}

static int64_t rough_memory(int pid)
{
    char text[128];
    long long pages;

    return proc_read(pid, "statm", text, sizeof text) && sscanf(text, "%*s %lld", &pages) == 1
               ? pages * sysconf(_SC_PAGESIZE)
               : 0;
}

void job_processes_usage(const struct job_processes *processes, bool exact, int64_t *cpu, int64_t *memory)
{
    long tick = sysconf(_SC_CLK_TCK);
    char text[1024];

    for (size_t i = 0; i < processes->count; i++) {
        const char *fields = stat_fields(processes->pids[i], text, sizeof text);
        unsigned long long user, system, ended_user, ended_system;

        if (fields && sscanf(fields, "%*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %llu %llu", &user, &system,
                             &ended_user, &ended_system) == 4)
            *cpu += (int64_t)((user + system + ended_user + ended_system) * 1000000 / (unsigned long long)tick);
        *memory += exact ? exact_memory(processes->pids[i]) : rough_memory(processes->pids[i]);
    }
}

struct seen_files {
    ino_t nodes[NAMELESS_MAX];
    size_t count;
};

/* Was that file seen before? Several processes hold the same file after a fork. */
static bool is_seen(struct seen_files *seen, ino_t node)
{
    for (size_t i = 0; i < seen->count; i++)
        if (seen->nodes[i] == node)
            return true;
    if (seen->count < NAMELESS_MAX)
        seen->nodes[seen->count++] = node;
    return false;
}

static int64_t nameless_of(int pid, uint64_t device, struct seen_files *seen)
{
    char path[64];
    struct dirent *entry;
    struct stat st;
    int64_t bytes = 0;
    DIR *dir;

    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    dir = opendir(path);
    while (dir && (entry = readdir(dir)))
        if (*entry->d_name != '.' && fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 && S_ISREG(st.st_mode) &&
            st.st_nlink == 0 && st.st_dev == device && !is_seen(seen, st.st_ino))
            bytes += (int64_t)st.st_blocks * 512;
    if (dir)
        closedir(dir);
    return bytes;
}

int64_t job_processes_nameless(const struct job_processes *processes, uint64_t device)
{
    struct seen_files *seen = mem_alloc(sizeof *seen);
    int64_t bytes = 0;

    seen->count = 0;
    for (size_t i = 0; i < processes->count; i++)
        bytes += nameless_of(processes->pids[i], device, seen);
    free(seen);
    return bytes;
}

void job_processes_just(struct job_processes *processes, int pid, int parent)
{
    processes->count = 0;
    processes->root = parent;
    job_processes_add(processes, pid, parent);
}

int64_t machine_oom_kills(void)
{
    static const char name[] = "oom_kill ";
    FILE *file = fopen("/proc/vmstat", "re");
    char line[128];
    int64_t count = 0;

    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, name, sizeof name - 1))
            count = strtoll(line + sizeof name - 1, NULL, 10);
    if (file)
        fclose(file);
    return count;
}

void job_processes_go_first(int pid)
{
    char path[64];
    int fd;

    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", pid);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)!write(fd, "500", 3); /* where it fails it goes when its turn comes */
    close(fd);
}

/* The innermost number of a process. */
static int inner_number(int pid)
{
    char text[4096];
    const char *at, *end;
    int number = 0;

    at = proc_read(pid, "status", text, sizeof text) ? strstr(text, "\nNSpid:") : NULL;
    if (!at)
        return 0;
    at += 7;
    end = strchr(at, '\n');
    while (at && at < end) {
        number = atoi(at);
        at = strchr(at + 1, '\t');
    }
    return number;
}

void job_processes_find_first(struct job_processes *processes, int init)
{
    size_t count;

    processes->count = 0;
    processes->root = init;
    add_all_children(processes, init);
    count = processes->count;
    processes->count = 0;
    for (size_t i = 0; i < count && !processes->count; i++)
        if (inner_number(processes->pids[i]) == 2)
            job_processes_just(processes, processes->pids[i], init);
}

void job_processes_find_child(struct job_processes *processes)
{
    int pid = processes->count ? processes->pids[0] : 0;

    processes->count = 0;
    processes->root = pid;
    if (pid > 0)
        add_all_children(processes, pid);
    if (processes->count > 1)
        processes->count = 1;
}

/* How many bytes are in a place of a sandbox, if that is a file system of its own. While a sandbox is being made its first process sees the machine's own
 * there, then another, then the machine's again: so one descriptor is asked what it is and what is in it. */
static int64_t place_bytes(int init, const char *place)
{
    char path[64], host[64];
    struct stat inside, outside;
    struct statfs st;
    int64_t bytes = 0;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/root/%s", init, place);
    snprintf(host, sizeof host, "/%s", place);
    fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (fstat(fd, &inside) == 0 && (stat(host, &outside) < 0 || inside.st_dev != outside.st_dev) &&
        fstatfs(fd, &st) == 0 && st.f_type == TMPFS_MAGIC)
        bytes = (int64_t)(st.f_blocks - st.f_bfree) * (int64_t)st.f_bsize;
    close(fd);
    return bytes;
}

int64_t job_processes_files(int init)
{
    return place_bytes(init, "tmp") + place_bytes(init, "dev/shm");
}
