/* Machines where no sandbox can be made: jobs are refused, or run without one where the owner allows that. Real processes.
 *
 * A filter takes user namespaces away from this program and all that it starts, as some machines do. */
#define _GNU_SOURCE
#include "common/tap.h"
#include "exec_world.h"

#include <sched.h>
#include <seccomp.h>

static struct world world;

/* Neither clone nor unshare make a user namespace any more. */
static bool take_user_namespaces(void)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
    bool taken = ctx &&
                 seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(unshare), 1,
                                  SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER)) == 0 &&
                 seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                  SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER)) == 0 &&
                 seccomp_rule_add(ctx, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0) == 0 && seccomp_load(ctx) == 0;

    seccomp_release(ctx);
    return taken;
}

static bool gone(const char *mark)
{
    for (int i = 0; i < 200 && marked_processes(mark); i++)
        world_run(&world, 10);
    return !marked_processes(mark);
}

static const struct executor_news *run(uint64_t number, const char *script, int64_t span, int64_t memory)
{
    struct job_order order;

    job_order(&world, 1, number, script, &order);
    if (span)
        order.is.span = span;
    order.is.limits = (struct executor_limits){.memory = memory};
    return job_launch(&world, &order) ? world_wait_end(&world, 1, number) : NULL;
}

static bool ended(const struct executor_news *news, enum reason reason, int64_t status)
{
    if (news && (news->kind != EXECUTOR_ENDED || news->reason != reason || news->status != status))
        tap_diag("kind %d, reason %s, status %lld, '%s'", (int)news->kind, reason_words(news->reason),
                 (long long)news->status, news->words);
    return news && news->kind == EXECUTOR_ENDED && news->reason == reason && news->status == status;
}

static void jobs(void)
{
    const struct executor_news *news;
    struct job_order order;

    tap_ok(ended(run(1, "exit 137", 0, 0), REASON_EXITED, 137), "a job runs, and its status is told");
    tap_ok(ended(run(2, "kill -9 $$", 0, 0), REASON_EXITED, -9),
           "a signal that ended it is told as its number below zero");
    job_order(&world, 1, 3, "", &order);
    order.arguments[0] = "no-such-program";
    job_launch(&world, &order);
    news = world_wait_end(&world, 1, 3);
    tap_ok(ended(news, REASON_SETUP, 0) && strstr(news->words, "no-such-program"),
           "a program that is not there is named");
    tap_ok(
        ended(run(4, "grep -q 'NoNewPrivs.*1' /proc/self/status && [ \"$HOME\" = \"$PWD\" ]", 0, 0), REASON_EXITED, 0),
        "it can gain nothing by setuid programs, and begins in its folder");
    tap_ok(
        ended(run(5, "(setsid sh -c ': mark-bare; trap \"\" TERM HUP; sleep 60' &); exit 0", 0, 0), REASON_EXITED, 0) &&
            gone("mark-bare"),
        "what a job left in the background, in a session of its own, ends with it");
    tap_ok(ended(run(6, ": mark-bare; sleep 60 & sleep 60", 300000, 0), REASON_TIME, 0) && gone("mark-bare"),
           "its time is limited");
    tap_ok(ended(run(7, "perl -e '$x .= \"x\" x 1000000 while 1'", 0, 48 << 20), REASON_MEMORY, 0), "so is its memory");
    job_order(&world, 1, 8,
              ": mark-bare; trap '' TERM; touch up; (trap '' TERM; sleep 60) & while :; do sleep 0.1; done", &order);
    job_launch(&world, &order);
    world_wait(&world, 1, 8, EXECUTOR_RUNS);
    world_run(&world, 200);
    world.executor->kind->suspend(world.executor, 1, true);
    world.executor->kind->stop(world.executor, 1, 100000);
    tap_ok(world_wait(&world, 1, 8, EXECUTOR_GONE) && gone("mark-bare"),
           "it can be stopped with all its processes, suspended or not");
    job_order(&world, 1, 9, "[ \"$HOME,$WHERE,$PATH,$(printenv HOME)\" = \"$PWD,$PWD/x,/usr/bin:/bin,$PWD\" ]", &order);
    order.environment[0] = "HOME=/job";
    order.environment[1] = "WHERE=/job";
    order.environment[2] = "WHERE=/job/x";
    order.environment[3] = "PATH=/usr/bin:/bin";
    job_launch(&world, &order);
    tap_ok(
        ended(world_wait_end(&world, 1, 9), REASON_EXITED, 0),
        "its HOME is its folder for shells, too, /job is that folder, and of two variables of a name the last counts");
}

static void cases(void)
{
    struct local_settings settings = {
        .program = world_program(), .told = world_told, .user = &world, .unprotected = true};
    struct err err = {0};

    snprintf(world.path, sizeof world.path, "/tmp/berth-exec-XXXXXX");
    if (!mkdtemp(world.path))
        return;
    snprintf(world.state, sizeof world.state, "%s/state", world.path);
    tap_ok(!world_open(&world, &err) && strstr(err.text, "user namespaces"),
           "without user namespaces there is no executor, and the message says what to do");
    tap_diag("%s", err.text);
    settings.state = world.state;
    world.executor = local_new(&world.loop, &settings, &err);
    tap_ok(world.executor && strstr(world.executor->kind->describe(world.executor), "no sandbox"),
           "where the owner allows it there is one, and it says that it has no sandbox");
    if (!world.executor)
        return;
    jobs();
    world.executor->kind->clear(world.executor, 1);
    world_done(&world);
}

int main(void)
{
    if (!take_user_namespaces())
        tap_diag("the filter could not be made");
    world_each_user(cases, &tap_count, &tap_failures);
    return tap_done();
}
