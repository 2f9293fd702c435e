/* supervise_test.c: how a process of a pool is started again when it dies, and when it is given up. */
#include "cli/serve/supervise.h"

#include "common/tap.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that has ended already, as the role's. */
static void dies(struct role *role, int64_t started, int64_t now)
{
    siginfo_t info;

    role->started = started;
    role->pid = fork();
    if (role->pid == 0)
        _exit(3);
    waitid(P_PID, (id_t)role->pid, &info, WEXITED | WNOWAIT);
    role_reap(role, now);
}

static void test_pauses(void)
{
    static const int64_t pauses[] = {500, 1000, 2000, 4000, 8000, 16000, 30000, 30000};
    struct role role = {.name = "customer"};
    int64_t now = 1000;
    bool good = true;

    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        dies(&role, now, now);
        good = good && !role.pid && role.next == now + pauses[i];
        now = role.next + 1;
    }
    tap_ok(good, "the pause before a process is started again doubles from half a second to 30 seconds");
    role.up = true;
    dies(&role, now, now + ROLE_STEADY + 1);
    tap_ok(role.pause == ROLE_PAUSE_MIN, "after a minute up it is half a second again");
    dies(&role, now, now + ROLE_STEADY + 1);
    tap_ok(role.pause == 2 * ROLE_PAUSE_MIN, "but not when it only tried to come up");
}

static void test_given_up(void)
{
    struct role role = {.name = "customer"};
    int64_t now = 1000;

    for (int i = 0; i < ROLE_DEATHS - 1; i++, now += 30000)
        dies(&role, now, now);
    tap_ok(!role.given_up, "nine deaths within five minutes are borne");
    dies(&role, now, now);
    tap_ok(role.given_up, "the tenth is one too many");
    role_tend(&role, now + 1000000);
    tap_ok(!role.pid, "what was given up is not started again");

    role = (struct role){.name = "customer"};
    for (int i = 0; i < 3 * ROLE_DEATHS; i++, now += 40000)
        dies(&role, now, now);
    tap_ok(!role.given_up, "one that dies now and then is never given up");
}

static void test_waits(void)
{
    struct role role = {.name = "customer"};

    dies(&role, 1000, 1000);
    role_tend(&role, role.next - 1);
    tap_ok(!role.pid, "before its pause is over it is not started");
    tap_ok(role_reap_quietly(&role), "what does not run has ended");
    role_reap(&role, 5000);
    tap_ok(role.death_count == 1, "and does not die again");
}

int main(void)
{
    test_pauses();
    test_given_up();
    test_waits();
    return tap_done();
}
