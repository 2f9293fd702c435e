/* The simulated world by itself, with toy roles: what it promises to roles, whatever it breaks. */
#include "common/tap.h"
#include "sim/world.h"

#include <stdlib.h>

/* A toy: sends GOT messages to its peer at every wake, answers whatever comes, persists as it is told; counts all. */
struct toy_settings {
    agent peer;
    uint32_t sends;    /* in all */
    int64_t pause;     /* between them */
    uint32_t persists; /* at boot: rows 1, 2, ..., each followed by a send that waits for it */
    bool launches;     /* at boot, a job of claim 7 with a deadline */
    int64_t deadline, limit;
    struct toy_counts *counts;
};

struct toy_counts {
    uint32_t sent, got, unknown, twice, messages, booted, loaded, last_loaded, found, exited, gone;
    bool answered[4096];
    bool out_of_order, unready;
    uint64_t last_row;       /* that a message said was durable */
    int64_t wall, now, woke; /* at the last event */
    int64_t late;            /* the longest that a wake came after its time */
};

struct toy {
    const struct toy_settings *settings;
    uint32_t sent;
    int64_t due;
};

static void *toy_make(const void *settings)
{
    struct toy *toy = calloc(1, sizeof *toy);

    toy->settings = settings;
    return toy;
}

static void toy_say(struct toy *toy, uint64_t number, uint64_t after, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_ABORT};

    message.u.abort.claim = number;
    effects_send(effects, toy->settings->peer, &message, number, 5, after);
    toy->settings->counts->sent++;
}

static void toy_boot(struct toy *toy, const struct role_env *env, struct effects *effects)
{
    const struct toy_settings *settings = toy->settings;

    settings->counts->booted++;
    toy->due = env->now + settings->pause;
    effects_wake(effects, settings->sends ? toy->due : INT64_MAX);
    for (uint32_t i = 0; i < settings->persists; i++) {
        struct record record = {.kind = RECORD_ROLE, .key = i + 1};
        uint64_t number;

        record.u.role_record.starts = settings->counts->booted;
        number = effects_persist(effects, &record);
        toy_say(toy, i + 1, number, effects);
    }
    if (settings->launches && settings->counts->booted == 1)
        effects_job(effects, 7, 1, 3, NULL, env->now + settings->deadline, settings->limit, 0);
}

static void toy_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    struct toy *toy = role;
    struct toy_counts *counts = toy->settings->counts;
    struct message message = {.kind = MESSAGE_GOT};

    if (env->now < counts->now && env->boot == (uint64_t)counts->woke)
        counts->out_of_order = true;
    counts->now = env->now;
    counts->wall = env->wall;
    counts->woke = (int64_t)env->boot;
    switch (event->kind) {
    case EVENT_LOADED:
        counts->loaded++;
        counts->last_loaded =
            (uint32_t)event->record->key > counts->last_loaded ? (uint32_t)event->record->key : counts->last_loaded;
        break;
    case EVENT_BOOTED:
        toy_boot(toy, env, effects);
        break;
    case EVENT_MESSAGE:
        counts->messages++;
        if (event->message->u.abort.claim != counts->last_row + 1)
            counts->unready = true;
        counts->last_row = event->message->u.abort.claim;
        message.u.got.reason = REASON_OK;
        effects_reply(effects, event->token, &message, 0);
        break;
    case EVENT_ANSWER:
        counts->twice += event->token < 4096 && counts->answered[event->token];
        if (event->token < 4096)
            counts->answered[event->token] = true;
        if (event->answer == ANSWER_GOT)
            counts->got++;
        else
            counts->unknown++;
        break;
    case EVENT_WAKE:
        counts->unready = counts->unready || env->now < toy->due;
        if (env->now - toy->due > counts->late)
            counts->late = env->now - toy->due;
        if (toy->sent < toy->settings->sends)
            toy_say(toy, ++toy->sent, 0, effects);
        toy->due = env->now + toy->settings->pause;
        effects_wake(effects, toy->sent < toy->settings->sends ? toy->due : INT64_MAX);
        break;
    case EVENT_JOB:
        counts->found += event->news == JOB_FOUND;
        counts->exited += event->news == JOB_EXITED;
        counts->gone += event->news == JOB_GONE;
        break;
    default:
        break;
    }
}

static const struct role_kind toy_role = {.name = "toy", .make = toy_make, .free = free, .step = toy_step};

static struct world *two_hosts(uint64_t seed, const struct toy_settings *one, const struct toy_settings *two)
{
    struct world *world = world_new(seed, &spans_default);

    world_add(world, &toy_role, one, "a", false, "one");
    world_add(world, &toy_role, two, "b", false, "two");
    return world;
}

static void start_both(struct world *world)
{
    host_start(world, &world->hosts[1]);
    host_start(world, &world->hosts[0]);
}

static void run_until(struct world *world, int64_t until)
{
    while (world_next(world, until))
        ;
}

static void test_answers(void)
{
    static struct toy_counts one, two;
    struct toy_settings sender = {.peer = 2, .sends = 4000, .pause = MILLISECOND, .counts = &one};
    struct toy_settings receiver = {.peer = 1, .counts = &two};
    struct world *world = two_hosts(1, &sender, &receiver);

    world->rates.loss = 0x2000;
    world->rates.twice = 0x4000;
    world->rates.late = 0x1000;
    start_both(world);
    run_until(world, 5 * MINUTE);
    tap_ok(one.got + one.unknown == 4000 && one.twice == 0, "every send has exactly one answer: %u got, %u unknown",
           one.got, one.unknown);
    tap_ok(one.unknown > 400 && one.got > 2000, "some are lost, most are not");
    tap_ok(two.messages > one.got && world->faults[FAULT_TWICE] > 500, "some arrive twice");
    tap_ok(two.unready, "messages overtake each other");
    world_free(world);
}

static void test_cut(void)
{
    static struct toy_counts one, two;
    struct toy_settings sender = {.peer = 2, .sends = 100, .pause = 10 * MILLISECOND, .counts = &one};
    struct toy_settings receiver = {.peer = 1, .counts = &two};
    struct world *world = two_hosts(2, &sender, &receiver);

    world->cuts[1][0] = MINUTE;
    start_both(world);
    run_until(world, 5 * MINUTE);
    tap_ok(two.messages == 100 && one.unknown == 100, "a cut in one direction lets messages pass, and no answers");
    world_free(world);
}

static void test_barrier(void)
{
    static struct toy_counts one, two;
    struct toy_settings sender = {.peer = 2, .persists = 50, .counts = &one};
    struct toy_settings receiver = {.peer = 1, .counts = &two};
    struct world *world = two_hosts(3, &sender, &receiver);
    uint32_t kept, told;

    world->rates.delay_least = world->rates.delay_most = MILLISECOND; /* nothing is overtaken */
    world->rates.write_least = world->rates.write_most = 5 * MILLISECOND;
    start_both(world);
    run_until(world, 3 * MILLISECOND);
    tap_ok(two.messages == 0, "an effect behind a persist waits until that is durable");
    run_until(world, SECOND);
    tap_ok(two.messages == 50 && !two.unready && world->hosts[0].disk.row_count == 50,
           "then all happen, in their order");
    world_free(world);

    one = two = (struct toy_counts){0};
    world = two_hosts(4, &sender, &receiver);
    start_both(world);
    run_until(world, MILLISECOND / 20);
    host_crash(world, &world->hosts[0], false, world->time + SECOND);
    kept = world->hosts[0].disk.row_count;
    told = two.messages;
    run_until(world, MILLISECOND * 500);
    tap_ok(kept < 50 && told == 0 && two.messages == 0, "a crash loses what was not written, and what stood behind it");
    run_until(world, 2 * SECOND);
    tap_ok(one.booted == 2 && one.loaded == kept && one.last_loaded == kept,
           "what a crash left of the rows is their beginning: %u of 50", kept);
    world_free(world);
}

static void test_full(void)
{
    static struct toy_counts one, two;
    struct toy_settings sender = {.peer = 2, .persists = 5, .counts = &one};
    struct toy_settings receiver = {.peer = 1, .counts = &two};
    struct world *world = two_hosts(5, &sender, &receiver);

    world->hosts[0].full = true;
    start_both(world);
    run_until(world, 5 * SECOND);
    tap_ok(one.booted > 2 && two.messages == 0, "a full disk stops the role, which starts again from what is durable");
    world->hosts[0].full = false;
    run_until(world, 10 * SECOND);
    tap_ok(two.messages == 5, "and goes on when there is room");
    world_free(world);
}

static void test_launcher(void)
{
    static struct toy_counts one, two;
    struct toy_settings runs = {.launches = true, .deadline = 10 * SECOND, .limit = MINUTE, .counts = &one};
    struct toy_settings idle = {.counts = &two};
    struct world *world = two_hosts(6, &runs, &idle);

    world->rates.hang = 0x10000;
    start_both(world);
    run_until(world, 9 * SECOND);
    tap_ok(one.gone == 0, "a job that hangs runs until its deadline");
    run_until(world, 11 * SECOND);
    tap_ok(one.gone == 1 && one.exited == 0, "and then its launcher ends it");
    world_free(world);

    one = (struct toy_counts){0};
    world = two_hosts(7, &runs, &idle);
    world->rates.hang = 0x10000;
    start_both(world);
    run_until(world, SECOND);
    host_crash(world, &world->hosts[0], false, world->time + SECOND);
    run_until(world, 3 * SECOND);
    tap_ok(one.booted == 2 && one.found == 1, "a job outlives its role's crash, and is found again");
    host_crash(world, &world->hosts[0], true, world->time + SECOND);
    run_until(world, 20 * SECOND);
    tap_ok(one.booted == 3 && one.found == 1 && one.gone == 0, "nothing of it outlives a reboot");
    world_free(world);

    one = (struct toy_counts){0};
    runs.deadline = MINUTE;
    runs.limit = 2 * SECOND;
    world = two_hosts(8, &runs, &idle);
    world->rates.hang = 0x10000;
    start_both(world);
    run_until(world, 5 * SECOND);
    tap_ok(one.exited == 1, "a job whose time is up ends");
    world_free(world);
}

static void test_clocks(void)
{
    static struct toy_counts one, two;
    struct toy_settings fast = {.peer = 2, .sends = 1000, .pause = 10 * MILLISECOND, .counts = &one};
    struct toy_settings slow = {.peer = 1, .sends = 1000, .pause = 10 * MILLISECOND, .counts = &two};
    struct world *world = two_hosts(9, &fast, &slow);

    host_rate(world, &world->hosts[0], 1020000);
    host_rate(world, &world->hosts[1], 980000);
    start_both(world);
    run_until(world, 5 * SECOND);
    tap_ok(one.sent >= 505 && one.sent <= 511 && two.sent >= 485 && two.sent <= 491,
           "clocks run at their own rates: %u and %u wakes in the same time", one.sent, two.sent);
    world->hosts[0].wall -= 60 * MINUTE;
    run_until(world, 6 * SECOND);
    tap_ok(!one.out_of_order && one.late < MILLISECOND, "a jump of the wall clock moves no timer");
    world_free(world);
}

static void test_replay(void)
{
    uint64_t hashes[2];

    for (int i = 0; i < 2; i++) {
        static struct toy_counts one, two;
        struct toy_settings sender = {.peer = 2, .sends = 1000, .pause = MILLISECOND, .persists = 9, .counts = &one};
        struct toy_settings receiver = {.peer = 1, .sends = 1000, .pause = MILLISECOND, .counts = &two};
        struct world *world = two_hosts(10, &sender, &receiver);

        world->rates.loss = world->rates.twice = world->rates.late = 0x1000;
        start_both(world);
        run_until(world, MINUTE);
        hashes[i] = world->hash;
        world_free(world);
    }
    tap_ok(hashes[0] == hashes[1], "the same seed gives the same events");
}

int main(void)
{
    test_answers();
    test_cut();
    test_barrier();
    test_full();
    test_launcher();
    test_clocks();
    test_replay();
    return tap_done();
}
