/* machines.h: made-up machines for tests: a folder with the files of /proc, /sys, /dev and /var/run that a machine would have. */
#ifndef BERTH_TESTS_MACHINES_H
#define BERTH_TESTS_MACHINES_H

#include "common/folder.h"

#include <errno.h>
#include <time.h>
#include <utmpx.h>

struct machine {
    struct folder root;
    size_t user_count;
    struct utmpx users[16];
};

static inline void machine_init(struct machine *machine)
{
    memset(machine, 0, sizeof *machine);
    folder_init(&machine->root);
}

static inline void machine_done(struct machine *machine)
{
    folder_empty(machine->root.path, 16);
    rmdir(machine->root.path);
}

/* The folders above a file. */
static inline void machine_make(const struct machine *machine, const char *name)
{
    char path[FOLDER_PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", machine->root.path, name);
    for (char *at = path + strlen(machine->root.path) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST) {
            perror(path);
            exit(2);
        }
        *at = '/';
    }
}

static inline void machine_write(const struct machine *machine, const char *name, const char *text, size_t len)
{
    machine_make(machine, name);
    folder_write(&machine->root, name, text, len);
}

static inline void machine_put(const struct machine *machine, const char *name, const char *text)
{
    machine_write(machine, name, text, strlen(text));
}

static inline void machine_link(const struct machine *machine, const char *name, const char *target)
{
    machine_make(machine, name);
    if (symlink(target, folder_path(&machine->root, name)) != 0) {
        perror(name);
        exit(2);
    }
}

/* A terminal at which a key was last touched that many seconds ago. */
static inline void machine_terminal(const struct machine *machine, const char *line, int64_t idle)
{
    struct timespec times[2];
    char name[300];

    snprintf(name, sizeof name, "dev/%s", line);
    machine_put(machine, name, "");
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= idle;
    times[1] = times[0];
    if (utimensat(AT_FDCWD, folder_path(&machine->root, name), times, 0) != 0) {
        perror(name);
        exit(2);
    }
}

/* Somebody who is logged in there. */
static inline void machine_login(struct machine *machine, const char *user, const char *line)
{
    struct utmpx *record = &machine->users[machine->user_count++];

    record->ut_type = USER_PROCESS;
    strncpy(record->ut_user, user, sizeof record->ut_user - 1);
    strncpy(record->ut_line, line, sizeof record->ut_line - 1);
    machine_write(machine, "var/run/utmp", (const char *)machine->users, machine->user_count * sizeof *machine->users);
}

/* What every machine has: four processors, 16 GiB of memory and 2 GiB of swap. */
static inline void machine_common(const struct machine *machine, const char *name, const char *load)
{
    machine_put(machine, "proc/sys/kernel/hostname", name);
    machine_put(machine, "proc/sys/kernel/arch", "x86_64\n");
    machine_put(machine, "proc/sys/kernel/ostype", "Linux\n");
    machine_put(machine, "proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
    machine_put(machine, "etc/os-release", "PRETTY_NAME=\"Debian\"\nID=debian\nVERSION_ID=\"12\"\n");
    machine_put(machine, "proc/meminfo",
                "MemTotal:       16777216 kB\nMemFree:  100 kB\nMemAvailable:    8388608 kB\nSwapTotal: 2097152 kB\n");
    machine_put(machine, "proc/self/status", "Name:\tberth\nCpus_allowed:\tf\nCpus_allowed_list:\t0-3\n");
    machine_put(machine, "proc/cpuinfo",
                "processor\t: 0\nmodel name\t: Made-up CPU @ 3.00GHz\n\nprocessor\t: 1\nmodel name\t: other\n");
    machine_put(machine, "proc/loadavg", load);
}

#endif
