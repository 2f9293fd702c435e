/* planner_test.c: the first of those that wait for room is planned: where, by when, whom that keeps away, and when it is over. */
#include "matchmaker_world.h"

#include "lang/ad/get.h"
#include "pool/matchmaker/planner.h"

#define MANY 40      /* machines */
#define MANY_DEAR 12 /* requests: more than can be looked at, at one time */
#define HERON 10
#define STORK 11
#define ALICE 2
#define BOB 3
#define WHOLE                                                                                                      \
    "[ Type = \"Machine\"; Name = \"heron\"; Cpus = 8; Constraint = Cpus > 0 && other.Cpus <= Cpus; Residual = [ " \
    "Cpus = Cpus - other.Cpus ] ]"
#define LEFT(n)                                                                                       \
    "[ Type = \"Machine\"; Cpus = " #n "; Constraint = Cpus > 0 && other.Cpus <= Cpus; Residual = [ " \
    "Cpus = Cpus - other.Cpus ] ]"
/* Four processors until in ten minutes, two until in twenty. */
#define TWO_CLAIMS                                                                                                 \
    "[ Used = [ Cpus = 6 ]; Claims = { [ Claim = \"0000000000000001\"; Job = 1; Ends = 1200; Cpus = 2 ], [ Claim " \
    "= \"0000000000000002\"; Job = 2; Ends = 600; Cpus = 4 ] } ]"
#define ENDLESS                                                                                         \
    "[ Used = [ Cpus = 6 ]; Claims = { [ Claim = \"0000000000000001\"; Job = 1; Cpus = 2 ], [ Claim = " \
    "\"0000000000000002\"; Job = 2; Cpus = 4 ] } ]"
#define LARGE "[ Type = \"Job\"; Cpus = 6; TimeLimit = 3600; Constraint = other.Type == \"Machine\" ]"
#define SMALL(limit) "[ Type = \"Job\"; Cpus = 1; TimeLimit = " #limit "; Constraint = other.Type == \"Machine\" ]"

static void tell(struct pool *pool, agent who, uint64_t version, enum machine_state state, const char *told)
{
    struct message message = {.kind = MESSAGE_STANDS};
    struct err err = {0};

    message.u.stands = (struct stands){.id = who,
                                       .version = version,
                                       .base = version,
                                       .state = state,
                                       .until = -1,
                                       .ad = lang_ad(&pool->lang, &dialect_classic, WHOLE, &err),
                                       .told = told ? lang_ad(&pool->lang, &dialect_classic, told, &err) : NULL};
    if (!message.u.stands.ad || (told && !message.u.stands.told))
        printf("Bail out! %s\n", err.text);
    say_as(pool, peer_of(who), &message);
    if (pool->answer.u.got.reason != REASON_OK)
        printf("Bail out! the machine's word is refused: %d\n", (int)pool->answer.u.got.reason);
    message_done(&message);
}

static struct pool *pool_planning(uint32_t plans)
{
    struct pool *pool = pool_new();

    pool->settings.plans = plans;
    role_restart(pool);
    return pool;
}

/* Heron has two of eight processors left. */
static void heron_comes(struct pool *pool, const char *told)
{
    put(pool, (struct put){.from = HERON, .id = HERON, .version = 1}, LEFT(2));
    tell(pool, HERON, 1, MACHINE_PART, told);
}

static void job(struct pool *pool, agent who, uint64_t id, const char *text)
{
    struct advertised answer = put(pool, (struct put){.from = who, .id = id, .version = 1, .request = true}, text);

    if (answer.reason != REASON_OK)
        printf("Bail out! the job is refused: %d\n", (int)answer.reason);
}

/* Until what waits is planned, with what is heard meanwhile. */
static void waits(struct pool *pool)
{
    for (int i = 0; i < 5; i++) {
        pass(pool, pool->spans.lifetime / 20);
        put(pool, (struct put){.from = HERON, .id = HERON, .version = 1, .bare = true}, NULL);
    }
}

static bool is_planned(struct pool *pool, agent who, uint64_t id, struct plan_view *ret)
{
    return matchmaker_planned(pool->role, who, id, ret);
}

static bool is_matched(struct pool *pool, agent who, uint64_t id)
{
    pass(pool, 2 * SECOND);
    return look(pool, who, id).free == 0;
}

static void large_is_planned(void)
{
    struct pool *pool = pool_planning(8);
    struct plan_view plan;
    struct advertised answer;
    int64_t told = pool->env.now;

    heron_comes(pool, TWO_CLAIMS);
    job(pool, ALICE, 1, LARGE);
    pass(pool, 2 * SECOND);
    answer = put(pool, (struct put){.from = ALICE, .id = 1, .version = 1, .request = true, .bare = true}, NULL);
    tap_ok(!answer.planned && !*answer.planned_on.bytes, "and nothing is said of a plan then");
    tap_ok(!is_planned(pool, ALICE, 1, &plan), "whoever has just come is not planned yet");
    waits(pool);
    tap_ok(is_planned(pool, ALICE, 1, &plan) && plan.agent == HERON && plan.machine == HERON,
           "a job that waits for room is planned where there will be some");
    tap_ok(plan.start == told + 600 * SECOND + pool->spans.grace,
           "by when the claim must have ended that leaves enough, and no later one");
    answer = put(pool, (struct put){.from = ALICE, .id = 1, .version = 1, .request = true, .bare = true}, NULL);
    tap_ok(answer.planned == plan.start - pool->env.now && !strcmp(answer.planned_on.bytes, "heron"),
           "its customer is told with the answer to the next renewal: in how long, and where");
    answer = put(pool, (struct put){.from = HERON, .id = HERON, .version = 1, .bare = true}, NULL);
    tap_ok(!answer.planned, "the machine is not");
    job(pool, BOB, 2, SMALL(1000));
    tap_ok(!is_matched(pool, BOB, 2), "a job that may run longer than that does not pass it");
    job(pool, BOB, 3, JOB);
    tap_ok(!is_matched(pool, BOB, 3), "nor does one that says no limit");
    job(pool, BOB, 4, SMALL(60));
    tap_ok(is_matched(pool, BOB, 4), "a job that ends before it passes");
    tap_ok(sent_count(pool, HERON) && ad_says(pool, look(pool, HERON, HERON).left, "Cpus == 1") &&
               !ad_find(look(pool, HERON, HERON).left, "PlannedOn"),
           "and what is left of the offer is what the machine wrote");
    answer_all(pool);
    put(pool, (struct put){.from = HERON, .id = HERON, .version = 2, .seen = seen_of(pool, 1, 0)}, LEFT(7));
    tap_ok(is_matched(pool, ALICE, 1), "when there is room it is matched, and was not passed by those that waited too");
    waits(pool);
    tap_ok(!is_planned(pool, ALICE, 1, &plan), "then its plan is over");
    tap_ok(is_matched(pool, BOB, 2), "and others may have what is left");
    pool_free(pool, "a plan");
}

/* Each name is read twice for the one behind it: the last costs some 2 to the power of `depth`. What a machine says begins it, so that it is not known
 * before. */
static void dear_job(struct pool *pool, agent who, uint64_t id, int depth)
{
    char text[2000];
    int len = snprintf(text, sizeof text, "[ Type = \"Job\"; Cpus = 6; TimeLimit = 3600; A0 = other.Cpus; ");

    for (int i = 1; i <= depth; i++)
        len += snprintf(text + len, sizeof text - (size_t)len, "A%d = A%d + A%d; ", i, i - 1, i - 1);
    snprintf(text + len, sizeof text - (size_t)len, "Constraint = other.Type == \"Machine\" && A%d > %d ]", depth,
             (int)id);
    job(pool, who, id, text);
}

static void dear_is_not_planned(void)
{
    struct pool *pool = pool_planning(1);
    struct plan_view plan;

    heron_comes(pool, TWO_CLAIMS);
    dear_job(pool, BOB, 1, 6);
    waits(pool);
    tap_ok(is_planned(pool, BOB, 1, &plan), "a constraint that reads a name sixty times is planned by");
    pool_free(pool, "dear");
    pool = pool_planning(1);
    heron_comes(pool, TWO_CLAIMS);
    dear_job(pool, BOB, 1, 13);
    waits(pool);
    tap_ok(!is_planned(pool, BOB, 1, &plan), "one that takes tens of thousands of steps is not");
    job(pool, ALICE, 2, LARGE);
    waits(pool);
    waits(pool);
    tap_ok(is_planned(pool, ALICE, 2, &plan), "and who comes later is planned all the same");
    pool_free(pool, "dear");
}

/* Each of many machines takes some thousands of steps: they are looked into a few at a time, and who comes later is not held up. */
/* Each has room sooner than the one before. */
static void many_come(struct pool *pool)
{
    char told[600];

    for (unsigned i = 0; i < MANY; i++) {
        snprintf(told, sizeof told,
                 "[ Used = [ Cpus = 6 ]; Claims = { [ Claim = \"0000000000000001\"; Job = 1; Ends = %u; Cpus = 2 ], "
                 "[ Claim = \"0000000000000002\"; Job = 2; Ends = %u; Cpus = 4 ] } ]",
                 2000 - i, 1000 - i);
        put(pool, (struct put){.from = HERON + i, .id = HERON + i, .version = 1}, LEFT(2));
        tell(pool, HERON + i, 1, MACHINE_PART, told);
    }
}

static void dear_takes_turns(void)
{
    struct pool *pool = pool_planning(1);
    struct plan_view plan;

    many_come(pool);
    dear_job(pool, BOB, 1, 10);
    job(pool, ALICE, 2, LARGE);
    pass(pool, pool->spans.lifetime / PLAN_WAITS + pool->spans.lifetime / PLANS_EVERY + SECOND);
    tap_ok(!is_planned(pool, BOB, 1, &plan) && is_planned(pool, ALICE, 2, &plan),
           "who takes long to look at is looked at a little at a time, and holds up nobody");
    withdraw(pool, ALICE, 2, 2);
    for (int i = 0; i < 8; i++)
        pass(pool, pool->spans.lifetime / PLANS_EVERY);
    tap_ok(is_planned(pool, BOB, 1, &plan), "but is planned in the end");
    pool_free(pool, "dear, of many machines");

    pool = pool_planning(8);
    many_come(pool);
    for (uint64_t i = 0; i < MANY_DEAR; i++)
        dear_job(pool, BOB, 10 + i, 10);
    job(pool, BOB, 2, LARGE);
    pass(pool, pool->spans.lifetime / PLAN_WAITS + pool->spans.lifetime / PLANS_EVERY + SECOND);
    tap_ok(!is_planned(pool, BOB, 2, &plan), "many of them together are not all looked at, at one time");
    pass(pool, pool->spans.lifetime / PLANS_EVERY);
    tap_ok(is_planned(pool, BOB, 2, &plan), "those who were not are the first the next time");
    pool_free(pool, "many dear ones");
}

/* The claim that must end first is between two jobs: for a while nothing says when it ends. */
static void plans_outlast_a_gap(void)
{
    struct pool *pool = pool_planning(8);
    struct plan_view plan, later;

    heron_comes(pool, TWO_CLAIMS);
    job(pool, ALICE, 1, LARGE);
    waits(pool);
    tap_ok(is_planned(pool, ALICE, 1, &plan), "a plan is there before the gap");
    tell(pool, HERON, 2, MACHINE_PART, ENDLESS);
    pass(pool, pool->spans.lifetime / 10);
    tap_ok(is_planned(pool, ALICE, 1, &later) && later.start == plan.start,
           "a plan stays as it was while a claim in its way is between two jobs");
    tell(pool, HERON, 3, MACHINE_PART, TWO_CLAIMS);
    pass(pool, pool->spans.lifetime / 10);
    tap_ok(is_planned(pool, ALICE, 1, &later) && later.start > plan.start,
           "and moves when the next one's limit is known");
    tell(pool, HERON, 4, MACHINE_PART, ENDLESS);
    pass(pool, pool->spans.lifetime / 3);
    tap_ok(!is_planned(pool, ALICE, 1, &later), "but not for ever");
    pool_free(pool, "a gap");
}

static void some_are_not_planned(void)
{
    struct pool *pool = pool_planning(8);
    struct plan_view plan;

    heron_comes(pool, ENDLESS);
    job(pool, ALICE, 1, LARGE);
    waits(pool);
    tap_ok(!is_planned(pool, ALICE, 1, &plan), "where claims have no limit, nothing is planned");
    job(pool, BOB, 2, JOB);
    tap_ok(is_matched(pool, BOB, 2), "and nobody is kept away");
    job(pool, ALICE, 3, "[ Type = \"Job\"; Cpus = 9; Constraint = other.Type == \"Machine\" ]");
    tell(pool, HERON, 2, MACHINE_PART, TWO_CLAIMS);
    waits(pool);
    tap_ok(!is_planned(pool, ALICE, 3, &plan), "nor is a job planned that no machine would take");
    pool_free(pool, "no plan");
    pool = pool_planning(0);
    heron_comes(pool, TWO_CLAIMS);
    job(pool, ALICE, 1, LARGE);
    waits(pool);
    tap_ok(!is_planned(pool, ALICE, 1, &plan), "nor is anything where nothing shall be planned");
    pool_free(pool, "no plans");
}

static void few_are_held(void)
{
    struct pool *pool = pool_planning(8);
    struct plan_view one = {0}, two = {0};

    heron_comes(pool, TWO_CLAIMS);
    put(pool, (struct put){.from = STORK, .id = STORK, .version = 1}, LEFT(2));
    tell(pool, STORK, 1, MACHINE_PART, TWO_CLAIMS);
    job(pool, ALICE, 1, LARGE);
    job(pool, ALICE, 2, "[ Type = \"Job\"; Cpus = 7; TimeLimit = 3600; Constraint = other.Type == \"Machine\" ]");
    waits(pool);
    tap_ok(is_planned(pool, ALICE, 1, &one) && is_planned(pool, ALICE, 2, &two) && one.agent != two.agent,
           "two that wait are planned on two machines");
    tap_ok(one.held != two.held, "others are kept from one machine in twenty, and at least from one");
    job(pool, BOB, 3, JOB);
    job(pool, BOB, 4, JOB);
    job(pool, BOB, 5, JOB);
    pass(pool, 2 * SECOND);
    tap_ok(matches(pool) == 2, "so what is left of the other is had by whoever comes");
    pool_free(pool, "few are held");
}

static void plans_end(void)
{
    struct pool *pool = pool_planning(8);
    struct plan_view plan;

    heron_comes(pool, TWO_CLAIMS);
    job(pool, ALICE, 1, LARGE);
    waits(pool);
    job(pool, BOB, 2, JOB);
    tap_ok(is_planned(pool, ALICE, 1, &plan) && !is_matched(pool, BOB, 2), "a job waits behind a plan");
    withdraw(pool, ALICE, 1, 2);
    pass(pool, pool->spans.lifetime / 20);
    tap_ok(!is_planned(pool, ALICE, 1, &plan) && is_matched(pool, BOB, 2), "and no longer than what is planned waits");
    pool_free(pool, "a plan whose job goes");

    pool = pool_planning(8);
    heron_comes(pool, TWO_CLAIMS);
    job(pool, ALICE, 1, LARGE);
    waits(pool);
    tap_ok(is_planned(pool, ALICE, 1, &plan), "a plan is there");
    tell(pool, HERON, 2, MACHINE_DRAINED, NULL);
    pass(pool, pool->spans.lifetime / 20);
    tap_ok(!is_planned(pool, ALICE, 1, &plan), "and goes when its machine takes no more jobs");
    pool_free(pool, "a plan whose machine goes");
}

static void bookings_count(void)
{
    struct pool *pool = pool_planning(8);
    struct plan_view plan;
    char told[600];

    snprintf(told, sizeof told,
             "[ Used = [ Cpus = 6 ]; Claims = { [ Claim = \"0000000000000002\"; Job = 2; Ends = 600; Cpus = 6 ] }; "
             "Bookings = { [ Booking = \"0000000000000003\"; From = %lld; Until = %lld ] } ]",
             (long long)(pool->env.wall / SECOND + 1800), (long long)(pool->env.wall / SECOND + 3600));
    heron_comes(pool, told);
    job(pool, ALICE, 1, LARGE);
    job(pool, BOB, 2, "[ Type = \"Job\"; Cpus = 6; TimeLimit = 300; Constraint = other.Type == \"Machine\" ]");
    waits(pool);
    tap_ok(!is_planned(pool, ALICE, 1, &plan), "nothing is planned that would reach into a booking");
    tap_ok(is_planned(pool, BOB, 2, &plan), "what is done by then is");
    pool_free(pool, "plans and bookings");
}

static void names_are_kept(void)
{
    struct pool *pool = pool_planning(8);

    tap_ok(put(pool, (struct put){.from = BOB, .id = 2, .version = 1, .request = true},
               "[ Type = \"Job\"; Cpus = 1; PlannedOn = 1 ]")
                   .reason == REASON_INVALID,
           "nobody says himself that he is planned");
    pool_free(pool, "names");
}

int main(void)
{
    large_is_planned();
    dear_is_not_planned();
    dear_takes_turns();
    plans_outlast_a_gap();
    some_are_not_planned();
    few_are_held();
    plans_end();
    bookings_count();
    names_are_kept();
    return tap_done();
}
