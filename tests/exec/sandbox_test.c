/* sandbox_test.c: whoever starts a job knows whether that could enter its group, with a sandbox and without. */
#define _GNU_SOURCE
#include "common/tap.h"
#include "exec/cgroup.h"
#include "exec/sandbox.h"
#include "exec/support.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/berth-sandbox-XXXXXX";

/* Runs an order, and returns its status; -1: it was never started. `ret_unheld`: whether it was outside of its group. */
static int run_order(const struct order *order, const struct cgroup *group, bool *ret_unheld)
{
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), null = open("/dev/null", O_RDWR | O_CLOEXEC),
        status = -1;
    const int streams[3] = {null, null, null};
    struct sandboxed process;
    struct sandbox sandbox;
    struct err err = {0};

    sandbox_init(&sandbox);
    if (sandbox_start(&sandbox, order, at, streams, group, HELD_CORES, &process, &err) < 0) {
        tap_diag("%s", err.text);
    } else {
        *ret_unheld = process.unheld;
        if (write(process.go, "", 1) != 1 || waitpid(process.pid, &status, 0) != process.pid)
            status = -1;
        close(process.go);
        close(process.told);
    }
    sandbox_done(&sandbox);
    close(at);
    close(null);
    return status;
}

static const char *environment[] = {"PATH=/usr/bin:/bin", NULL};

/* Runs /bin/true. */
static int run(bool bare, const struct cgroup *group, bool *ret_unheld)
{
    static const char *arguments[] = {"/bin/true", NULL};
    const struct order order = {.is = {.folder = folder, .arguments = arguments, .environment = environment},
                                .how = {.unprotected = bare}};

    return run_order(&order, group, ret_unheld);
}

/* Runs a script that begins 40 processes, as a user of its own who may have so many, and without a group that would hold them.
 * Each time it is another user: what the last one began may still be about to die. */
static int run_many(int64_t processes)
{
    static const char script[] = "i=0; while [ $i -lt 40 ]; do sleep 20 & i=$((i + 1)); done; exit 0";
    static const char *arguments[] = {"/bin/sh", "-c", script, NULL};
    static uint32_t times;
    const struct order order = {.is = {.folder = folder,
                                       .arguments = arguments,
                                       .environment = environment,
                                       .limits = {.processes = processes}},
                                .how = {.uid = SUPPORT_UID_FIRST + (uint32_t)getpid() % 1000000 * 4 + times++ % 4}};
    struct cgroup none = {.version = 0};
    bool unheld;

    return chown(folder, order.how.uid, order.how.uid) == 0 ? run_order(&order, &none, &unheld) : -1;
}

static void look_at_many(void)
{
    if (geteuid() != 0 || run_many(0) != 0) {
        tap_ok(true, "processes of a user of its own # SKIP jobs cannot have one here");
        return;
    }
    tap_ok(run_many(41) == 0, "in a sandbox of a user of its own: a job has as many processes as it may have");
    tap_ok(run_many(20) > 0, "and no more, whether or not the launcher may change limits of others");
}

static void look(bool bare)
{
    const char *how = bare ? "without a sandbox" : "in a sandbox";
    struct cgroup none = {.version = 2}, strange = {.version = 2};
    bool unheld = true;

    tap_ok(run(bare, &none, &unheld) == 0 && !unheld, "%s: where there is no group, the job enters all there are", how);
    snprintf(strange.path[CGROUP_MEMORY], sizeof strange.path[CGROUP_MEMORY], "%s/gone", folder);
    tap_ok(run(bare, &strange, &unheld) == 0 && unheld, "%s: a group that cannot be entered is told, and the job runs",
           how);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    look(true);
    if (sandbox_program()) {
        look(false);
        look_at_many();
    } else {
        tap_diag("bubblewrap is not here: only without a sandbox");
    }
    rmdir(folder);
    return tap_done();
}
