/* own_memory.c: how much memory this process has in use, and how much it may have, from /proc and the control groups. */
#include "sys/own_memory.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_MOST 4096
#define GROUPS "/sys/fs/cgroup"

int64_t own_memory_used(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long long size, resident = 0, shared = 0;

    if (!file)
        return 0;
    if (fscanf(file, "%lld %lld %lld", &size, &resident, &shared) != 3 || shared > resident)
        resident = shared = 0;
    fclose(file);
    return (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE);
}

/* The path of the process's group, "/" for the topmost; false: there are no groups of version 2. */
static bool group_path(char ret[PATH_MOST])
{
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[PATH_MOST];
    bool found = false;

    while (file && !found && fgets(line, sizeof line, file)) {
        found = !strncmp(line, "0::/", 4);
        line[strcspn(line, "\n")] = '\0';
        snprintf(ret, PATH_MOST, "%s", line + (found ? 3 : 0));
    }
    if (file)
        fclose(file);
    return found;
}

/* The limit of one group; INT64_MAX: it has none. */
static int64_t group_most(const char *path)
{
    char name[PATH_MOST + 64], line[64] = "";
    long long most = 0;
    FILE *file;

    snprintf(name, sizeof name, GROUPS "%s/memory.max", path);
    file = fopen(name, "re");
    if (!file)
        return INT64_MAX;
    if (fgets(line, sizeof line, file))
        most = strtoll(line, NULL, 10); /* "max" is no number */
    fclose(file);
    return most > 0 ? (int64_t)most : INT64_MAX;
}

int64_t own_memory_most(void)
{
    int64_t most = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE), limit;
    char path[PATH_MOST];

    if (!group_path(path))
        return most;
    for (char *end = path + strlen(path); end;
         end = strrchr(path, '/')) { /* what holds for a group holds for all in it */
        *end = '\0';
        limit = group_most(path);
        if (limit < most)
            most = limit;
    }
    return most;
}

void own_memory_give_back(void)
{
    malloc_trim(0);
}
