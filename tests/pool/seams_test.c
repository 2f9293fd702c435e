/* seams_test.c: a matchmaker where its parts meet: gangs and limits, pulls and quotas, second ads and groups. */
#include "shares_world.h"

#define MACHINE "[ Constraint = true ]"
#define LEARNS (5 * MINUTE) /* by then it is known what is in use */
#define PAIR(more) "[ Count = 10; " more "; Ports = { [ Label = cpu ], [ Label = lic ] } ]"

static bool near(double a, double b)
{
    return a - b < 1e-6 && b - a < 1e-6;
}

/* ----------------------------------------------------------------------------------------------------- gangs and limits */

static void test_gang_limits(void)
{
    struct pool *pool = pool_new("[ Limits = [ db = 1 ] ]");

    pass(pool, LEARNS);
    machines(pool, 0, 6, MACHINE);
    put(pool, ALICE, 1, true, PAIR("ConcurrencyLimits = \"db\""));
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 2 && limit_of_name(pool, "db").used == 1,
           "a gang of two takes once what its root names of a limit, and the next gang waits");
    tap_ok(why_of(pool, "alice").claims == 2, "each member counts in what is in use");
    report(pool, &pool->told[0], 0, false, "", "db");
    report(pool, &pool->told[1], 0, false, "", "db");
    report(pool, &pool->told[0], 0, true, "", "db");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 2 && limit_of_name(pool, "db").used == 1,
           "a gang that has lost its first member still holds it");
    report(pool, &pool->told[1], 0, true, "", "db");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 4 && limit_of_name(pool, "db").used == 1,
           "when the last member is gone the next gang has it");
    report(pool, &pool->told[3], 0, true, "", "db");
    tap_ok(limit_of_name(pool, "db").used == 1, "and so it is when the last member goes first");
    report(pool, &pool->told[2], 0, true, "", "db");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 6, "whoever is the last to go");
    pass(pool, pool->spans.window + pool->spans.lease + SECOND);
    tap_ok(given(pool, ALICE) == 6 && limit_of_name(pool, "db").used == 0,
           "nothing is left of a gang that nobody tells of");
    pool_free(pool, "limits of gangs");
}

static void test_gang_restart(void)
{
    struct pool *pool = pool_new("[ Groups = { [ Name = \"p\"; Quota = 9 ] }; Limits = [ db = 3 ] ]");

    pass(pool, LEARNS);
    machines(pool, 0, 2, MACHINE);
    put(pool, ALICE, 1, true, PAIR("AccountingGroup = \"p\"; ConcurrencyLimits = \"db:2\""));
    pass(pool, SECOND);
    tap_ok(pool->told_count == 2, "a gang is made");
    pool_restart(pool);
    report(pool, &pool->told[0], 0, false, "p", "db:2");
    report(pool, &pool->told[1], 0, false, "p", "db:2");
    tap_ok(limit_of_name(pool, "db").used == 2 && near(group_of_name(pool, "p").used, 2),
           "after a restart members tell of themselves one by one: each is in use, and what they hold is held once");
    report(pool, &pool->told[0], 0, true, "p", "db:2");
    tap_ok(limit_of_name(pool, "db").used == 2, "until the last of them is over");
    report(pool, &pool->told[1], 0, true, "p", "db:2");
    tap_ok(limit_of_name(pool, "db").used == 0, "then it is given back");
    pool_free(pool, "a restart with gangs");
}

static void test_gang_quotas(void)
{
    struct pool *pool = pool_new("[ Groups = { [ Name = \"p\"; Quota = 3; Surplus = false ] } ]");

    machines(pool, 0, 8, MACHINE);
    put(pool, ALICE, 1, true, PAIR("AccountingGroup = \"p\""));
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 4 && near(group_of_name(pool, "p").used, 4),
           "gangs are made while their group has less than its quota, and all members count");
    for (uint32_t i = 0; i < 2; i++)
        report(pool, &pool->told[i], 0, true, "p", "");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 6, "one that waits for it goes on when members are over");
    pool_free(pool, "quotas of gangs");
}

/* ----------------------------------------------------------------------------------------------------- pulls and quotas */

static const struct pulled *pull(struct pool *pool, agent from, uint64_t number, const char *text)
{
    struct message message = {.kind = MESSAGE_PULL};

    message.u.pull = (struct pull){.id = 1, .number = number, .ad = pool_ad(pool, text)};
    say(pool, from, &message);
    message_done(&message);
    return &pool->answer.u.pulled;
}

/* All of them ask, as often as they are told to, for a while; how many got something. */
static uint32_t pull_all(struct pool *pool, agent from, uint32_t count, uint64_t *number, int64_t span)
{
    uint32_t got = 0;

    for (int64_t end = pool->env.now + span; pool->env.now < end;) {
        ++*number;
        for (uint32_t i = 0; i < count; i++)
            got += pull(pool, from + i, *number, MACHINE)->reason == REASON_OK;
        pass(pool, SECOND / 2);
    }
    return got;
}

#define HALF "[ Groups = { [ Name = \"p\"; Quota = 0.5; Surplus = false ] } ]"

static void test_pull_quotas(void)
{
    struct pool *pool = pool_new(HALF);
    uint64_t number = 0;
    uint32_t got = 0;

    put(pool, ALICE, 1, true, "[ Count = 50; AccountingGroup = \"p\" ]");
    pass(pool, SECOND);
    got = pull_all(pool, 100, 1, &number, 5 * SECOND);
    tap_ok(got == 1, "where all providers pull, a group with half of the pool gets its jobs");
    pool_free(pool, "a pool where all pull");

    pool = pool_new(HALF);
    number = 0;
    pull_all(pool, 100, 8, &number, 3 * SECOND);
    tap_ok(near(matchmaker_pool(pool->role), 8), "a pool is as large as what asks in vain");
    put(pool, ALICE, 1, true, "[ Count = 50; AccountingGroup = \"p\" ]");
    pass(pool, SECOND);
    for (uint32_t i = 0; i < 8; i++) /* who has a claim asks no more */
        got += pull(pool, 100 + i, number + 1, MACHINE)->reason == REASON_OK;
    tap_ok(near(group_of_name(pool, "p").quota, 4) && near(group_of_name(pool, "p").used, 4),
           "a quota of a half is half of those, and no more is given");
    pool_free(pool, "quotas of pulls");
}

static void test_pull_size(void)
{
    struct pool *pool = pool_new(HALF);
    uint64_t number = 0;

    pull_all(pool, 100, 4, &number, 3 * SECOND);
    pass(pool, pool->spans.lifetime / 2);
    pull_all(pool, 100, 1, &number, 2 * SECOND);
    tap_ok(near(matchmaker_pool(pool->role), 4), "who asked within a lifetime is part of the pool");
    pass(pool, pool->spans.lifetime / 2);
    pull_all(pool, 100, 1, &number, 2 * SECOND);
    tap_ok(near(matchmaker_pool(pool->role), 1), "a lifetime after they stop asking they are not");
    pool_free(pool, "a pool that shrinks");
}

static void test_pull_gates(void)
{
    struct pool *pool = pool_new("[ Limits = [ db = 1 ] ]");
    struct tree *policy = pool_ad(pool, "[ RootOrder = Urgency; PullOrder = \"starving\" ]");
    const struct pulled *got;
    struct told first = {.provider = 100, .owner = "alice"};

    pass(pool, LEARNS);
    pool_step(pool, &(struct event){.kind = EVENT_POLICY, .ad = policy});
    put(pool, ALICE, 1, true, "[ Count = 2; Urgency = 1; ConcurrencyLimits = \"db\" ]");
    put(pool, BOB, 1, true, "[ Count = 2; Urgency = 2 ]");
    machines(pool, 50, 1, "[ Constraint = other.Urgency == 1 ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 1, "one waits for a limit");
    got = pull(pool, 100, 1, MACHINE);
    tap_ok(got->reason == REASON_OK && got->superior == BOB,
           "who pulls is not given one that waits for a limit, though it came first");
    first = pool->told[0];
    report(pool, &first, 0, true, "", "db");
    got = pull(pool, 101, 1, MACHINE);
    tap_ok(got->reason == REASON_OK && got->superior == ALICE, "but is when the limit is free again, at once");
    got = pull(pool, 102, 1, MACHINE);
    tap_ok(got->reason == REASON_OK && got->superior == BOB && limit_of_name(pool, "db").used == 1,
           "and holds what it names");
    pass(pool, SECOND);
    tree_unref(policy);
    pool_free(pool, "pulls and limits, with an order");
}

/* ------------------------------------------------------------------------------------------------ second ads and groups */

static void test_second_size(void)
{
    struct pool *pool = pool_new(HALF);

    machines(pool, 0, 4, MACHINE);
    put(pool, BOB, 1, true, "[ Count = 2 ]");
    pass(pool, SECOND);
    put(pool, pool->told[0].provider, 2, false, "[ Preempts = \"1\"; RemoteUser = \"bob\"; CurrentRank = 0 ]");
    put(pool, ALICE, 1, true, "[ Count = 1; AccountingGroup = \"p\" ]");
    pass(pool, SECOND);
    tap_ok(near(matchmaker_pool(pool->role), 4) && near(group_of_name(pool, "p").quota, 2),
           "a machine in use that may be preempted is one machine, not two");
    pool_free(pool, "second ads in the size of a pool");
}

static void test_second_group(void)
{
    static const char second[] = "[ Constraint = true; Preempts = \"1\"; RemoteUser = \"alice\"; CurrentRank = 0; "
                                 "RemoteGroup = \"%s\" ]";
    struct pool *pool = pool_new("[ Groups = { [ Name = \"p\"; Quota = 9 ] } ]");
    struct tree *policy =
        pool_ad(pool, "[ DockingVector = { label.RemoteUser is undefined ? 1 : label.RemoteUserPrio > "
                      "UserPrio * 1.1 ? 0 : error } ]");
    char text[200];

    pool_step(pool, &(struct event){.kind = EVENT_POLICY, .ad = policy});
    machines(pool, 0, 5, MACHINE);
    put(pool, ALICE, 1, true, "[ Count = 5; AccountingGroup = \"p\" ]");
    pass(pool, SECOND);
    snprintf(text, sizeof text, second, "q");
    put(pool, 100, 2, false, text);
    put(pool, BOB, 1, true, "[ Count = 2 ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 5 && given(pool, BOB) == 0,
           "who has used nothing outside of a group is no worse there");
    snprintf(text, sizeof text, second, "p");
    put(pool, 101, 2, false, text);
    pass(pool, SECOND);
    tap_ok(given(pool, BOB) == 1 && pool->told[5].provider == 101,
           "whoever has used much as one of a group has that priority as RemoteUserPrio");
    tree_unref(policy);
    pool_free(pool, "second ads of groups");
}

static void test_long_weight(void)
{
    struct pool *pool = pool_new(HALF);
    struct buf text;

    buf_init(&text);
    for (int terms = 100; terms <= 3000; terms += 2900) {
        buf_reset(&text);
        buf_adds(&text, "[ Constraint = true; Weight = 4");
        for (int i = 0; i < terms; i++)
            buf_adds(&text, " + 0 * Factor");
        buf_adds(&text, "; Factor = 1 ]");
        put(pool, (agent)(100 + terms), 1, false, buf_string(&text));
    }
    put(pool, ALICE, 1, true, "[ Count = 1; Constraint = false ]");
    pass(pool, SECOND);
    tap_ok(near(matchmaker_pool(pool->role), 4 + 1), "a weight that takes long to make out counts as 1");
    buf_done(&text);
    pool_free(pool, "a long weight");
}

int main(void)
{
    test_gang_limits();
    test_gang_restart();
    test_gang_quotas();
    test_pull_quotas();
    test_pull_size();
    test_pull_gates();
    test_second_size();
    test_second_group();
    test_long_weight();
    return tap_done();
}
