/* cgroup.h: the kernel's groups of processes, version 1 or 2, where the machine offers them: they hold and count what a job uses.
 *
 *     struct cgroups   where groups can be made: a folder a part (with version 2 the same for all)
 *     struct cgroup    the group of one claim below them
 *
 * Every part may be missing. What cannot be held here is held otherwise by the caller: see the HELD_ bits. */
#ifndef BERTH_EXEC_CGROUP_H
#define BERTH_EXEC_CGROUP_H

#include "lang/base/buf.h"
#include "pool/protocol/executor.h"

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CGROUP_PATH_MAX 256
#define CGROUP_OWN_PROCESSES 2        /* bubblewrap, outside and inside, beside those of the job */
#define CGROUP_OWN_MEMORY (2ll << 20) /* what they and the job's namespaces take */

enum cgroup_part { CGROUP_CPU, CGROUP_COUNT_CPU, CGROUP_MEMORY, CGROUP_PIDS, CGROUP_FREEZER, CGROUP_PART_COUNT };

struct cgroups {
    int32_t version;                               /* 1, 2; 0: none */
    uint32_t tag;                                  /* of whoever makes groups here: two agents may run on a machine */
    char base[CGROUP_PART_COUNT][CGROUP_PATH_MAX]; /* "": that part is missing */
};

/* What a group holds by itself. */
enum { HELD_CORES = 1, HELD_MEMORY = 2, HELD_PROCESSES = 4 };

struct cgroup {
    int32_t version;
    bool fresh;                                         /* it was made by us, and nobody in it was killed */
    char path[CGROUP_PART_COUNT][CGROUP_PATH_MAX + 64]; /* "": that part is missing */
    int64_t cpu_before, kills_before, hits_before, peak_before, memory_most;
    int64_t read_before, written_before; /* bytes; -1: they are not counted */
};

/* Tries each part by making a group in it, and appends to `why` in words what is missing: "cgroup v2: no memory controller in
 * /sys/fs/cgroup/x/cgroup.controllers"; nothing where all are there. With version 2 the caller may move to a group "berth-agent" below its own. `root`
 * is "", or in tests a folder that stands for /. */
void cgroups_probe(const char *root, uint32_t tag, struct cgroups *ret, struct buf *why);
/* Looks whether groups could be made where this process is, and changes nothing: appends what speaks against it to `why`; nothing where all seems well.
 * Whoever runs elsewhere, as a service for instance, may find another answer. */
void cgroups_look(const char *root, struct buf *why);
/* Appends "cgroup v1 (cpu memory pids freezer)", or "no cgroups". */
void cgroups_describe(const struct cgroups *cgroups, struct buf *out);

/* Names the claim's group; `make` makes it as well, and drops the parts where that fails. */
void cgroup_init(struct cgroup *cgroup, const struct cgroups *where, uint64_t claim);
void cgroup_make(struct cgroup *cgroup);
void cgroup_remove(struct cgroup *cgroup); /* it is empty */

/* Sets the limits, with room for a sandbox around the job, and counts from zero again. Returns the HELD_ bits of what is held from now on. */
unsigned cgroup_limit(struct cgroup *cgroup, const struct executor_limits *limits, bool sandboxed);
/* As fork(), and the child is in the group from its first moment. With version 2 alone: to move a process the kernel waits for 5 to 20 ms, if none was
 * moved just before; and in a fresh group alone: Linux 6.18 kills whoever is born in a group that was once killed. -1: it cannot be done here. */
pid_t cgroup_fork(const struct cgroup *cgroup);
/* Puts the caller into the group, with all that it will fork. False: one of the parts refused. With version 1 that takes no time; to put another
 * process into a group, the kernel waits for milliseconds. */
bool cgroup_enter(const struct cgroup *cgroup);
/* Puts a process of ours into the group. False: one of the parts refused. */
bool cgroup_take(const struct cgroup *cgroup, pid_t pid);
/* Makes the processes of the group stand still or go on. False: that cannot be done here. */
bool cgroup_freeze(const struct cgroup *cgroup, bool frozen);
/* Kills the processes of the group, frozen or not. True when none is left. */
bool cgroup_kill(struct cgroup *cgroup);
/* Fills in what the group counts, in the place of what is there. */
void cgroup_usage(struct cgroup *cgroup, struct executor_usage *usage);
/* How much memory it uses now. */
int64_t cgroup_memory(const struct cgroup *cgroup);
/* How many bytes it has read from devices and written to them, since the limits were set; left as they are where that is not counted: by version 2 alone. */
void cgroup_moved(const struct cgroup *cgroup, int64_t *ret_read, int64_t *ret_written);
/* Can the group tell whether the kernel has killed one of its processes because memory was short? And has it, since the limits were set? */
bool cgroup_counts_kills(const struct cgroup *cgroup);
bool cgroup_was_killed(const struct cgroup *cgroup);
/* Has the kernel killed a process of the group at the group's own limit, and not because memory was short elsewhere? */
bool cgroup_ran_out(const struct cgroup *cgroup);
/* How many processes of the group that we are in ourselves the kernel has killed because memory was short; -1: that cannot be told. */
int64_t cgroup_kills_here(void);

#ifdef __cplusplus
}
#endif
#endif
