/* confines.c: what the kernel lets us have of the machine, by the control groups that we are in.
 *
 * A limit holds for a group and all below it, so the smallest on the way from our group to the top counts. Inside a container the path
 * that the kernel tells may not be there; the folders above it are, and the topmost is then our own. */
#include "exec/probe_parts.h"

#include <math.h>
#include <stdio.h>

/* Where a controller is mounted, and how /proc/self/cgroup calls it: the second version has no name there. */
static const struct mounted {
    const char *controller, *folder;
} mounts[] = {
    {"", "/sys/fs/cgroup"},        {"", "/sys/fs/cgroup/unified"},        {"memory", "/sys/fs/cgroup/memory"},
    {"cpu", "/sys/fs/cgroup/cpu"}, {"cpu", "/sys/fs/cgroup/cpu,cpuacct"}, {"cpu", "/sys/fs/cgroup/cpuacct,cpu"},
};

/* Of the two versions: a limit, and what is used of it. */
static const char *const memory_files[][2] = {
    {"memory.max", "memory.current"},
    {"memory.limit_in_bytes", "memory.usage_in_bytes"},
};

static bool jobfolder_line(const char *root, const char *folder, const char *name, char *out, size_t room)
{
    char path[PROBE_PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/%s", folder, name);

    return len > 0 && len < PROBE_PATH_MAX && rooted_line(root, path, out, room);
}

static void read_memory(const char *root, const char *folder, struct confines *ret)
{
    for (size_t i = 0; i < sizeof memory_files / sizeof *memory_files; i++) {
        int64_t limit, used = 0, left;
        char line[64];

        if (!jobfolder_line(root, folder, memory_files[i][0], line, sizeof line) || !text_integer(line, &limit) ||
            !limit)
            continue; /* "max" is no number */
        if (jobfolder_line(root, folder, memory_files[i][1], line, sizeof line))
            text_integer(line, &used);
        left = limit > used ? limit - used : 0;
        if (limit < ret->memory)
            ret->memory = limit;
        if (left < ret->memory_free)
            ret->memory_free = left;
    }
}

static void take_quota(int64_t quota, int64_t period, struct confines *ret)
{
    if (quota > 0 && period > 0 && (double)quota / (double)period < ret->cpus)
        ret->cpus = (double)quota / (double)period;
}

static void read_cpus(const char *root, const char *folder, struct confines *ret)
{
    int64_t quota, period;
    char line[64];

    if (jobfolder_line(root, folder, "cpu.max", line, sizeof line) && text_integer(line, &quota) && strchr(line, ' ') &&
        text_integer(strchr(line, ' '), &period))
        take_quota(quota, period, ret);
    if (jobfolder_line(root, folder, "cpu.cfs_quota_us", line, sizeof line) && text_integer(line, &quota) &&
        jobfolder_line(root, folder, "cpu.cfs_period_us", line, sizeof line) && text_integer(line, &period))
        take_quota(quota, period, ret); /* -1, which is no number here, is no limit */
}

/* Is the controller in the list `cpu,cpuacct`? The empty one only in the empty list. */
static bool list_has(const char *list, size_t len, const char *controller)
{
    size_t wanted = strlen(controller);

    if (!len || !wanted)
        return len == wanted;
    for (const char *end = list + len; list < end;) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        size_t part = (size_t)((comma ? comma : end) - list);

        if (part == wanted && memcmp(list, controller, part) == 0)
            return true;
        list += part + 1;
    }
    return false;
}

/* Finds our group's path in lines such as `4:cpu,cpuacct:/a/b`; "" when there is none, or it leads upward. */
static void find_path(const char *text, const char *controller, char out[PROBE_PATH_MAX])
{
    *out = '\0';
    while (text && *text) {
        size_t line = strcspn(text, "\n");
        const char *first = memchr(text, ':', line);
        const char *second = first ? memchr(first + 1, ':', line - (size_t)(first + 1 - text)) : NULL;

        if (second && second[1] == '/' && list_has(first + 1, (size_t)(second - first - 1), controller)) {
            size_t len = line - (size_t)(second + 1 - text);

            if (len >= PROBE_PATH_MAX)
                return;
            memcpy(out, second + 1, len);
            out[len] = '\0';
            if (strstr(out, "/.."))
                *out = '\0';
            return;
        }
        text += line + (text[line] == '\n');
    }
}

static void read_mount(const char *root, const char *mount, char *path, struct confines *ret)
{
    for (int level = 0; level < PROBE_LEVELS_MAX; level++) {
        char folder[PROBE_PATH_MAX];
        int len = snprintf(folder, sizeof folder, "%s%s", mount, path);

        if (len > 0 && len < PROBE_PATH_MAX) {
            read_memory(root, folder, ret);
            read_cpus(root, folder, ret);
        }
        if (!*path)
            return;
        *strrchr(path, '/') = '\0';
    }
}

void confines_read(const char *root, struct confines *ret)
{
    char path[PROBE_PATH_MAX];
    struct buf text;

    *ret = (struct confines){INT64_MAX, INT64_MAX, INFINITY};
    buf_init(&text);
    if (!rooted_read(root, "/proc/self/cgroup", &text))
        buf_reset(&text);
    for (size_t i = 0; i < sizeof mounts / sizeof *mounts; i++) {
        find_path(buf_string(&text), mounts[i].controller, path);
        read_mount(root, mounts[i].folder, path, ret);
    }
    buf_done(&text);
}
