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
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/berth-sandbox-XXXXXX";

/* Runs an order in a sandbox, and returns its status; -1: it was never started. `ret_unheld`: whether it was outside of its group. */
static int run_in(struct sandbox *sandbox, const struct order *order, const struct cgroup *group, bool *ret_unheld)
{
    int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), null = open("/dev/null", O_RDWR | O_CLOEXEC),
        status = -1;
    const int streams[3] = {null, null, null};
    struct sandboxed process;
    struct err err = {0};

    if (sandbox_start(sandbox, order, at, streams, group, HELD_CORES, &process, &err) < 0) {
        tap_diag("%s", err.text);
    } else {
        *ret_unheld = process.unheld;
        if (write(process.go, "", 1) != 1 || waitpid(process.pid, &status, 0) != process.pid)
            status = -1;
        close(process.go);
        close(process.told);
    }
    close(at);
    close(null);
    return status;
}

static int run_order(const struct order *order, const struct cgroup *group, bool *ret_unheld)
{
    struct sandbox sandbox;
    int status;

    sandbox_init(&sandbox);
    status = run_in(&sandbox, order, group, ret_unheld);
    sandbox_done(&sandbox);
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

/* Runs a script that begins 40 processes, as a user of its own who may have so many, and without a group that would hold them; `again`: as the
 * second job of its claim. Each time it is another user: what the last one began may still be about to die. */
static int run_many(int64_t processes, bool again)
{
    static const char script[] = "i=0; while [ $i -lt 40 ]; do sleep 20 & i=$((i + 1)); done; exit 0";
    static const char *many[] = {"/bin/sh", "-c", script, NULL}, *none[] = {"/bin/true", NULL};
    static uint32_t times;
    struct order order = {
        .is = {.folder = folder, .arguments = none, .environment = environment, .limits = {.processes = processes}},
        .how = {.uid = SUPPORT_UID_FIRST + (uint32_t)getpid() % 1000000 * 8 + times++ % 8}};
    struct cgroup group = {.version = 0};
    struct sandbox sandbox;
    int status = 0;
    bool unheld;

    if (chown(folder, order.how.uid, order.how.uid) < 0)
        return -1;
    sandbox_init(&sandbox);
    if (again)
        status = run_in(&sandbox, &order, &group, &unheld);
    order.is.arguments = many;
    if (status == 0)
        status = run_in(&sandbox, &order, &group, &unheld);
    sandbox_done(&sandbox);
    return status;
}

static void look_at_many(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (geteuid() != 0 || run_many(0, false) != 0) {
        tap_ok(true, "processes of a user of its own # SKIP jobs cannot have one here");
        return;
    }
    for (int again = 0; again < 2; again++) {
        const char *which = again ? "the next job of a claim" : "a job in a sandbox, as a user of its own";

        tap_ok(run_many(41, again) == 0, "%s has as many processes as it may have", which);
        tap_ok(run_many(40, again) > 0, "%s has no more, whether or not the launcher may limit others", which);
    }
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
