/* shares_test.c: who gets how much: weights, groups with quotas and surplus, limits for named things, and why. */
#include "shares_world.h"

#include "pool/matchmaker/accountant.h"
#include "pool/matchmaker/groups.h"
#include "pool/matchmaker/limits.h"
#include "pool/matchmaker/registrar.h"

#include <math.h>

#define MACHINE "[ Constraint = true ]"
#define LEARNS (5 * MINUTE) /* longer than it takes until limits are known */

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(1, fabs(b));
}

/* ------------------------------------------------------------------------------------------------------ what is written */

static const char *complaint(struct lang *lang, const char *text)
{
    static struct err err;
    struct shares shares;
    struct tree *ad = lang_ad(lang, &dialect_classic, text, &err);

    err.text[0] = '\0';
    if (shares_read(ad, &shares, &err) == 0)
        shares_done(&shares);
    tree_unref(ad);
    return err.text;
}

static void test_texts(void)
{
    static const char *const wrong[][2] = {
        {"[ Groups = 3 ]", "Groups: expected a list of up to 256 ads"},
        {"[ Groups = { [ Quota = 1 ] } ]", "Groups, number 1: Name: missing"},
        {"[ Groups = { [ Name = \"a\"; Quota = -1 ] } ]",
         "Groups, number 1: Quota: expected a number of units, or a part of the pool between 0 and 1"},
        {"[ Groups = { [ Name = \"a\"; Quota = [ Cpus = -1 ] ] } ]",
         "Groups, number 1: Quota: Cpus: expected how many the group may have, from 0 to 1e9"},
        {"[ Groups = { [ Name = \"a\"; Quota = [ Disks = 1 ] ] } ]",
         "Groups, number 1: there is no 'Disks'; expected Units, Cpus, Gpus or Licenses"},
        {"[ Groups = { [ Name = \"a.b\"; Quota = 1 ] } ]", "Groups: 'a.b' is in a group 'a', and there is none"},
        {"[ Groups = { [ Name = \"a\" ], [ Name = \"a\" ] } ]", "Groups: there are two of the name 'a'"},
        {"[ Groups = { [ Name = \"a\"; Share = 1 ] } ]",
         "Groups, number 1: there is no 'Share'; expected Name, Quota, Surplus or Users"},
        {"[ Limits = [ matlab = 1.5 ] ]", "Limits: matlab: expected a whole number from 0 to 1000000000"},
        {"[ Limit = [ matlab = 1 ] ]", "there is no 'Limit'; expected Groups, Limits or DefaultLimit"},
    };
    static const char *const texts[] = {
        "matlab",    "matlab:2", "a, b:3 ,c", " a ", "a:1000000", "3d",   "a:0",
        "a:1000001", "a;b",      "a,,b",      "a,",  "a:",        "a: 2", "a,b,c,d,e,f,g,h,i"};
    struct limits_asked asked;
    struct lang lang;

    lang_init(&lang);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (!tap_ok(!strcmp(complaint(&lang, wrong[i][0]), wrong[i][1]), "%s is refused, and it is said why",
                    wrong[i][0]))
            tap_diag("%s", complaint(&lang, wrong[i][0]));
    tap_ok(!*complaint(&lang, "[ Groups = { [ Name = \"a.b\" ], [ Name = \"a\" ] }; DefaultLimit = 3 + 4 ]"),
           "groups may stand in any order, and numbers be computed");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        tap_ok((limits_read(texts[i], strlen(texts[i]), &asked, NULL) == 0) == (i < 5), "'%s' %s limits", texts[i],
               i < 5 ? "names" : "names no");
    limits_read("DB:2, db, X", 11, &asked, NULL);
    tap_ok(asked.count == 2 && asked.items[0].number == 3 && !strcmp(asked.items[0].name, "db") &&
               !strcmp(asked.items[1].name, "x"),
           "a name is the same whatever its case, and counts as often as it is there");
    lang_done(&lang);
}

/* ------------------------------------------------------------------------------------------------------------- weights */

static void test_weights(void)
{
    struct pool *pool = pool_new(NULL);
    double half = (double)spans_default.half / (double)SECOND, expected;

    machines(pool, 0, 1, "[ Weight = 3; Constraint = true ]");
    put(pool, ALICE, 1, true, "[ Count = 1 ]");
    pass(pool, SECOND);
    tap_ok(near(why_of(pool, "alice").units, 3) && why_of(pool, "alice").claims == 1,
           "a claim on a machine of weight 3 counts as three units in use");
    tap_ok(near(why_of(pool, "alice").priority, 3.5), "and so it does in the priority: 1 * (0.5 + 3)");
    report(pool, &pool->told[0], SECOND, false, "", "");
    expected = 3 * 1.0 * log(2) / half;
    tap_ok(near(why_of(pool, "alice").usage, expected), "a second of it is charged as three");
    report(pool, &pool->told[0], 0, true, "", "");
    tap_ok(why_of(pool, "alice").units == 0, "when it is over nothing is in use");
    pass(pool, spans_default.half);
    tap_ok(near(why_of(pool, "alice").usage, expected / 2), "after a half-life half of the usage is left");
    pool_free(pool, "weights");

    pool = pool_new("[ Groups = { [ Name = \"g\"; Quota = 0.5 ] } ]");
    put(pool, 100, 1, false,
        "[ Cpus = 8; Weight = isUndefined(other.Want) ? Cpus : other.Want; Constraint = other.Want <= Cpus;"
        " Residual = [ Cpus = Cpus - other.Want ] ]");
    put(pool, ALICE, 1, true, "[ Want = 2 ]");
    put(pool, BOB, 1, true, "[ Want = 5 ]");
    pass(pool, SECOND);
    tap_ok(near(why_of(pool, "alice").units, 2) && near(why_of(pool, "bob").units, 5),
           "a machine in parts counts for what of it is given");
    put(pool, CAROL, 1, true, "[ Want = 9 ]");
    pass(pool, SECOND);
    tap_ok(near(matchmaker_pool(pool->role), 8), "and the pool has as many units as before");
    pool_free(pool, "weights of parts");

    pool = pool_new(NULL);
    put(pool, 100, 1, false, "[ Weight = 1e30 ]");
    put(pool, 101, 1, false, "[ Weight = -4 ]");
    put(pool, ALICE, 1, true, "[ Count = 2 ]");
    pass(pool, SECOND);
    tap_ok(near(why_of(pool, "alice").units, 1001), "a weight counts for 1000 at most, and one below 0 as 1");
    pool_free(pool, "odd weights");
}

/* -------------------------------------------------------------------------------------------------------------- groups */

static void test_quotas(void)
{
    struct pool *pool =
        pool_new("[ Groups = { [ Name = \"physics\"; Quota = 0.75 ], [ Name = \"art\"; Quota = 0.25 ] } ]");

    machines(pool, 0, 8, MACHINE);
    put(pool, ALICE, 1, true, "[ Count = 100; AccountingGroup = \"physics\" ]");
    put(pool, BOB, 1, true, "[ Count = 100; AccountingGroup = \"art\" ]");
    put(pool, CAROL, 1, true, "[ Count = 100 ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 6 && given(pool, BOB) == 2 && given(pool, CAROL) == 0,
           "of eight machines a group with three quarters gets six, one with a quarter two, and those outside none");
    tap_ok(near(group_of_name(pool, "physics").quota, 6) && near(group_of_name(pool, "physics").used, 6) &&
               near(group_of_name(pool, "<none>").quota, 0),
           "that is what the groups say");
    machines(pool, 10, 2, MACHINE);
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 7 && given(pool, BOB) == 3 && near(group_of_name(pool, "art").quota, 2.5),
           "when the pool grows the quotas do, to 7.5 and 2.5; both have four fifths, so each gets one of two more");
    pool_free(pool, "quotas");
}

static void test_surplus(void)
{
    struct pool *pool = pool_new("[ Groups = { [ Name = \"physics\"; Quota = 2 ],"
                                 " [ Name = \"art\"; Quota = 2; Surplus = false ] } ]");

    machines(pool, 0, 8, MACHINE);
    put(pool, BOB, 1, true, "[ Count = 100; AccountingGroup = \"art\" ]");
    pass(pool, SECOND);
    tap_ok(given(pool, BOB) == 2, "a group that may not take surplus stays at its quota, though machines are idle");
    tap_ok(why_of(pool, "art~bob").hold_count == 1 && why_of(pool, "art~bob").holds[0].kind == HOLD_QUOTA,
           "and it can be asked why");
    put(pool, ALICE, 1, true, "[ Count = 3; AccountingGroup = \"physics\" ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 3, "one that may takes more than its quota when nobody else wants it");
    put(pool, CAROL, 1, true, "[ Count = 100 ]");
    pass(pool, SECOND);
    tap_ok(given(pool, CAROL) == 3, "those outside groups get the rest");
    report(pool, &pool->told[0], 0, true, "art", "");
    pass(pool, SECOND);
    tap_ok(given(pool, BOB) == 2, "a claim that ends makes no machine");
    machines(pool, 20, 3, MACHINE);
    pass(pool, SECOND);
    tap_ok(given(pool, BOB) == 3 && given(pool, CAROL) == 5,
           "but room in the quota: of three machines one is the group's");
    pool_free(pool, "surplus");
}

static void test_nested(void)
{
    struct pool *pool = pool_new("[ Groups = { [ Name = \"p\"; Quota = 0.5; Surplus = false ],"
                                 " [ Name = \"p.x\"; Quota = 0.5 ], [ Name = \"p.y\"; Quota = 0.25 ] } ]");

    machines(pool, 0, 16, MACHINE);
    put(pool, ALICE, 1, true, "[ Count = 100; AccountingGroup = \"p.x\" ]");
    put(pool, BOB, 1, true, "[ Count = 100; AccountingGroup = \"p.y\" ]");
    put(pool, CAROL, 1, true, "[ Count = 100; AccountingGroup = \"p\" ]");
    pass(pool, SECOND);
    tap_ok(near(group_of_name(pool, "p").quota, 8) && near(group_of_name(pool, "p.x").quota, 4) &&
               near(group_of_name(pool, "p.y").quota, 2),
           "a group's part is of what the group above has");
    tap_ok(given(pool, ALICE) == 4 && given(pool, BOB) == 2 && given(pool, CAROL) == 2,
           "each gets its quota, and the users of the group itself what those below leave");
    tap_ok(near(group_of_name(pool, "p").used, 8), "together they get no more than the group above may");
    pool_free(pool, "nested groups");

    pool = pool_new("[ Groups = { [ Name = \"p\"; Quota = 0.5; Surplus = false ],"
                    " [ Name = \"p.x\"; Quota = 0.5 ], [ Name = \"p.y\"; Quota = 0.5; Surplus = false ] } ]");
    machines(pool, 0, 16, MACHINE);
    put(pool, ALICE, 1, true, "[ Count = 100; AccountingGroup = \"p.x\" ]");
    put(pool, BOB, 1, true, "[ Count = 1; AccountingGroup = \"p.y\" ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 7 && given(pool, BOB) == 1,
           "what one leaves another below the same group may have, and none beyond it");
    pool_free(pool, "surplus of nested groups");
}

static void test_who_may(void)
{
    struct pool *pool = pool_new("[ Groups = { [ Name = \"p\"; Quota = 4; Users = { \"alice\" } ],"
                                 " [ Name = \"p.x\"; Quota = 2 ] } ]");
    struct user_why why;

    put(pool, ALICE, 1, true, "[ Count = 1; AccountingGroup = \"p.x\" ]");
    put(pool, BOB, 1, true, "[ Count = 1; AccountingGroup = \"p\" ]");
    put(pool, CAROL, 1, true, "[ Count = 1; AccountingGroup = \"q\" ]");
    pass(pool, SECOND);
    tap_ok(why_of(pool, "p.x~alice").requests == 1, "who may use a group may use those below it");
    why = why_of(pool, "bob");
    tap_ok(why.requests == 1 && why.hold_count == 1 && why.holds[0].kind == HOLD_NOT_HIS &&
               !strcmp(why.holds[0].name.bytes, "p"),
           "who may not is charged outside of it, and can ask why");
    why = why_of(pool, "carol");
    tap_ok(why.requests == 1 && why.hold_count == 1 && why.holds[0].kind == HOLD_NO_GROUP,
           "so is who names a group that does not exist");
    tap_ok(put(pool, DAVE, 1, true, "[ AccountingGroup = 3 ]") == REASON_INVALID, "a group is a text");
    pool_free(pool, "who may use a group");
}

static void test_reconfigured(void)
{
    struct pool *pool = pool_new(NULL);
    struct tree *ad =
        pool_ad(pool, "[ Groups = { [ Name = \"p\"; Quota = 2; Surplus = false ] }; Limits = [ db = 1 ] ]");
    struct tree *wrong = pool_ad(pool, "[ Groups = 1 ]"), *more;

    machines(pool, 0, 3, MACHINE);
    put(pool, ALICE, 1, true, "[ Count = 100; AccountingGroup = \"p\" ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 3 && why_of(pool, "alice").claims == 3, "without groups one that is named is nothing");
    pool_step(pool, &(struct event){.kind = EVENT_SHARES, .ad = ad});
    machines(pool, 10, 4, MACHINE);
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 5 && why_of(pool, "p~alice").claims == 2,
           "when they come, requests that are there are charged in them from then on");
    pool_step(pool, &(struct event){.kind = EVENT_SHARES, .ad = wrong});
    pass(pool, SECOND);
    tap_ok(pool->notes == 1 && given(pool, ALICE) == 5, "what is wrong changes nothing, and is noted");
    more = pool_ad(pool, "[ Groups = { [ Name = \"p\"; Quota = 3; Surplus = false ] } ]");
    pool_step(pool, &(struct event){.kind = EVENT_SHARES, .ad = more});
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 6 && near(group_of_name(pool, "p").used, 3),
           "a larger quota lets one more in at once, and what was in use still counts");
    pool_step(pool, &(struct event){.kind = EVENT_SHARES});
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 7, "when groups go, all is as without them");
    tree_unref(ad);
    tree_unref(wrong);
    tree_unref(more);
    pool_free(pool, "groups that change");
}

static void test_ordered(void)
{
    struct pool *pool = pool_new("[ Groups = { [ Name = \"p\"; Quota = 1; Surplus = false ] }; Limits = [ db = 1 ] ]");
    struct tree *policy = pool_ad(pool, "[ RootOrder = Urgency ]");

    pass(pool, LEARNS);
    pool_step(pool, &(struct event){.kind = EVENT_POLICY, .ad = policy});
    machines(pool, 0, 6, MACHINE);
    put(pool, ALICE, 1, true, "[ Count = 3; AccountingGroup = \"p\"; Urgency = 2 ]");
    put(pool, BOB, 1, true, "[ Count = 2; Urgency = 1 ]");
    put(pool, CAROL, 1, true, "[ Count = 2; Urgency = 3; ConcurrencyLimits = \"db\" ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 3 && given(pool, BOB) == 2 && given(pool, CAROL) == 1,
           "where the policy orders the roots there are no quotas, but there are limits");
    tree_unref(policy);
    pool_free(pool, "a policy with an order");
}

/* -------------------------------------------------------------------------------------------------------------- limits */

static void test_limits(void)
{
    struct pool *pool = pool_new("[ Limits = [ matlab = 4; db = 2 ] ]");
    struct user_why why;

    pass(pool, LEARNS);
    machines(pool, 0, 10, MACHINE);
    put(pool, ALICE, 1, true, "[ Count = 100; ConcurrencyLimits = \"MATLAB:2\" ]");
    put(pool, ALICE, 2, true, "[ Count = 100; ConcurrencyLimits = \"matlab, db\" ]");
    put(pool, BOB, 1, true, "[ Count = 2 ]");
    put(pool, CAROL, 1, true, "[ Count = 1; ConcurrencyLimits = \"db\" ]");
    put(pool, DAVE, 1, true, "[ Count = 1; ConcurrencyLimits = \"unheard_of:7\" ]");
    pass(pool, SECOND);
    tap_ok(limit_of_name(pool, "matlab").used == 4 && limit_of_name(pool, "matlab").most == 4,
           "no more is taken of a limit than there is");
    tap_ok(given(pool, ALICE) == 2 && given(pool, BOB) == 2 && given(pool, CAROL) == 1,
           "who waits for a limit keeps nobody else waiting, not even those with an equal ad");
    tap_ok(given(pool, DAVE) == 1 && limit_of_name(pool, "unheard_of").used == 7,
           "what is not configured has no limit, and is counted");
    why = why_of(pool, "alice");
    tap_ok(why.requests == 2 && why.hold_count == 1 && why.holds[0].kind == HOLD_LIMIT && why.holds[0].requests == 2 &&
               !strcmp(why.holds[0].name.bytes, "matlab") && why.holds[0].used == 4 && why.holds[0].most == 4,
           "it can be asked what one waits for: matlab, 4 of 4 in use");
    tap_ok(why.place == 0 && why.places == 0, "who waits for a limit does not wait for an offer");
    for (uint32_t i = 0; i < pool->told_count; i++)
        if (pool->told[i].superior == ALICE) {
            report(pool, &pool->told[i], 0, true, "", "matlab:2");
            break;
        }
    pass(pool, SECOND);
    tap_ok(limit_of_name(pool, "matlab").used == 4 && given(pool, ALICE) == 3,
           "when a claim is over what it held is given back, and who waits gets it");
    pass(pool, pool->spans.window + pool->spans.deadline + SECOND);
    machines(pool, 0, 10, MACHINE);
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) > 3 && limit_of_name(pool, "matlab").used == 4,
           "so it is when nothing is heard of a match within its window, and while a message could be under way");
    tap_ok(put(pool, DAVE, 2, true, "[ ConcurrencyLimits = \"a b\" ]") == REASON_INVALID,
           "what names no limits is refused");
    pool_free(pool, "limits");

    pool = pool_new("[ DefaultLimit = 1; Limits = [ big = 3 ] ]");
    pass(pool, LEARNS);
    machines(pool, 0, 10, MACHINE);
    put(pool, ALICE, 1, true, "[ Count = 5; ConcurrencyLimits = \"any\" ]");
    put(pool, BOB, 1, true, "[ Count = 5; ConcurrencyLimits = \"big:4\" ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 1, "what is not configured has the default limit, if there is one");
    tap_ok(given(pool, BOB) == 0 && why_of(pool, "bob").holds[0].kind == HOLD_NEVER,
           "who asks for more than there ever is waits, and can ask why");
    pool_free(pool, "the default limit");
}

/* A match that is claimed holds what it has taken; one that is not gives it back when its window closes. */
static void test_held(void)
{
    struct pool *pool =
        pool_new("[ Groups = { [ Name = \"p\"; Quota = 2; Surplus = false ] }; Limits = [ matlab = 2 ] ]");
    int64_t closed = pool->spans.window + pool->spans.deadline;

    pass(pool, LEARNS);
    machines(pool, 0, 4, MACHINE);
    put(pool, ALICE, 1, true, "[ Count = 2; AccountingGroup = \"p\"; ConcurrencyLimits = \"matlab\" ]");
    pass(pool, SECOND);
    tap_ok(pool->told_count == 2 && limit_of_name(pool, "matlab").used == 2, "two matches take a limit");
    report(pool, &pool->told[0], 0, false, "p", "matlab"); /* it is pinned */
    pass(pool, closed - 2 * SECOND);
    tap_ok(limit_of_name(pool, "matlab").used == 2, "it is theirs while they may be claimed");
    pass(pool, 3 * SECOND);
    tap_ok(limit_of_name(pool, "matlab").used == 1 && near(group_of_name(pool, "p").used, 1),
           "when the windows are over the one that was not claimed has given it back, and its part of the quota");
    for (int i = 0; i < 10; i++) {
        report(pool, &pool->told[0], 0, false, "p", "matlab");
        pass(pool, 15 * SECOND);
    }
    tap_ok(limit_of_name(pool, "matlab").used == 1, "the other holds it by its heart beats");
    pass(pool, 2 * pool->spans.lease);
    tap_ok(limit_of_name(pool, "matlab").used == 0 && near(group_of_name(pool, "p").used, 0),
           "and no longer when they stop");
    while (pool->told_count)
        tree_unref(pool->told[--pool->told_count].receipt);
    machines(pool, 0, 4, MACHINE);
    put(pool, ALICE, 2, true, "[ Count = 2; AccountingGroup = \"p\"; ConcurrencyLimits = \"matlab\" ]");
    pass(pool, closed + 2 * SECOND);
    tap_ok(pool->told_count == 2 && limit_of_name(pool, "matlab").used == 0, "two more are not claimed in time");
    tap_ok(report(pool, &pool->told[1], 0, false, "p", "matlab") == REASON_OK &&
               limit_of_name(pool, "matlab").used == 1 && near(group_of_name(pool, "p").used, 1),
           "one that is told of after all counts again");
    report(pool, &pool->told[1], 0, true, "p", "matlab");
    tap_ok(limit_of_name(pool, "matlab").used == 0 && near(group_of_name(pool, "p").used, 0), "until it is over");
    pool_free(pool, "held limits");
}

static void test_restart(void)
{
    struct pool *pool = pool_new("[ Groups = { [ Name = \"p\"; Quota = 2 ] }; Limits = [ matlab = 3 ] ]");
    uint32_t before;

    pass(pool, LEARNS);
    machines(pool, 0, 6, "[ Weight = 2 ]");
    put(pool, ALICE, 1, true, "[ Count = 100; AccountingGroup = \"p\"; ConcurrencyLimits = \"matlab\" ]");
    pass(pool, SECOND);
    before = pool->told_count;
    tap_ok(before == 3, "three are given");
    pool_restart(pool);
    machines(pool, 0, 6, "[ Weight = 2 ]");
    put(pool, ALICE, 1, true, "[ Count = 100; AccountingGroup = \"p\"; ConcurrencyLimits = \"matlab\" ]");
    put(pool, BOB, 1, true, "[ Count = 1 ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 3 && given(pool, BOB) == 1,
           "after a restart who names a limit waits until it is known what is in use; others do not");
    tap_ok(why_of(pool, "p~alice").holds[0].kind == HOLD_LEARNS, "and can ask why");
    for (uint32_t i = 0; i < before; i++)
        report(pool, &pool->told[i], 0, false, "p", "matlab");
    tap_ok(limit_of_name(pool, "matlab").used == 3 && near(group_of_name(pool, "p").used, 6) &&
               why_of(pool, "p~alice").claims == 3,
           "claims that go on tell what they hold, and whose they are");
    for (int64_t left = LEARNS; left > 0; left -= 20 * SECOND) {
        for (uint32_t i = 0; i < before; i++)
            report(pool, &pool->told[i], 0, false, "p", "matlab");
        machines(pool, 0, 6, "[ Weight = 2 ]");
        put(pool, ALICE, 1, true, "[ Count = 100; AccountingGroup = \"p\"; ConcurrencyLimits = \"matlab\" ]");
        pass(pool, 20 * SECOND);
    }
    tap_ok(given(pool, ALICE) == 3, "so none too many is given when it is known");
    report(pool, &pool->told[0], 0, true, "p", "matlab");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 4, "and one more when one is over");
    pool_free(pool, "a restart");
}

/* ---------------------------------------------------------------------------------------------------------------- why */

static void test_why(void)
{
    struct pool *pool = pool_new(NULL);
    double half = (double)spans_default.half / (double)SECOND;
    struct user_why why;

    machines(pool, 0, 4, MACHINE);
    put(pool, ALICE, 1, true, "[ Count = 3 ]");
    put(pool, BOB, 1, true, "[ Count = 1 ]");
    pass(pool, SECOND);
    put(pool, ALICE, 2, true, "[ Count = 10 ]");
    put(pool, BOB, 2, true, "[ Count = 10 ]");
    put(pool, CAROL, 1, true, "[ Count = 10 ]");
    pass(pool, SECOND);
    why = why_of(pool, "alice");
    tap_ok(why.place == 3 && why.places == 3 && why.ahead_count == 2, "who has most in use is last of three");
    tap_ok(!strcmp(why.ahead[0].name.bytes, "bob") && !strcmp(why.ahead[1].name.bytes, "carol"),
           "those ahead are named, the nearest first");
    tap_ok(near(why.priority, 3.5) && near(why.ahead[0].priority, 1.5) && near(why.ahead[1].priority, 0.5),
           "by their priorities");
    tap_ok(why.seconds == 0, "if alice stopped now she would be ahead of bob, who goes on, at once");
    tap_ok(near(why.least_factor, 1.5 / 3.5), "and with a factor below 1.5 / 3.5 even if not");
    tap_ok(why_of(pool, "carol").place == 1 && why_of(pool, "carol").ahead_count == 0 &&
               isnan(why_of(pool, "carol").seconds),
           "nobody is ahead of the first, and nothing would change that");
    tap_ok(why_of(pool, "nobody").requests == UINT64_MAX, "of one who is not known nothing can be said");
    pool_free(pool, "why");

    tap_ok(near(user_overtakes(half, 8, 1, 0, 1, 1), half * log2(4.5)),
           "who has used 8 units is ahead of one who has begun to use one when 8 E < (1 - E) + 1, so E < 1 / 4.5");
    tap_ok(isnan(user_overtakes(half, 0, 10, 0, 1, 0)),
           "a factor of 10 is never made up by waiting for one with 1 who idles");
    tap_ok(near(user_overtakes(86400, 4, 2, 1, 1, 1), 86400 * 2),
           "4 units at a factor of 2 fall below 1 + 1 in two days");
}

/* ------------------------------------------------------------------------------------------------------------- millions */

/* What the matchmaker did in the cycle that gave bob his ten, with so many jobs of alice's in one ad, and ads of one. */
static uint64_t work_of(uint64_t jobs, uint32_t ads, uint32_t *ret_bob, uint32_t *ret_alice)
{
    struct pool *pool = pool_new(NULL);
    struct matchmaker_counts before;
    char text[64];
    uint64_t work;

    snprintf(text, sizeof text, "[ Count = %llu ]", (unsigned long long)jobs);
    put(pool, ALICE, 1, true, text);
    for (uint32_t i = 0; i < ads; i++) {
        snprintf(text, sizeof text, "[ Count = 1; Number = %u ]", i);
        put(pool, ALICE, 2 + i, true, text);
    }
    pass(pool, 2 * SECOND);
    put(pool, BOB, 1, true, "[ Count = 10 ]");
    pass(pool, SECOND);
    before = matchmaker_counts(pool->role);
    machines(pool, 0, 20, MACHINE);
    pass(pool, SECOND);
    work = matchmaker_counts(pool->role).work.tests + matchmaker_counts(pool->role).work.evaluations +
           matchmaker_counts(pool->role).work.tried;
    tap_ok(matchmaker_counts(pool->role).matches == 20 && matchmaker_counts(pool->role).cycles == before.cycles + 1,
           "twenty machines are given in one cycle, while %llu jobs in %u ads wait", (unsigned long long)jobs + ads,
           1 + ads);
    *ret_bob = given(pool, BOB);
    *ret_alice = given(pool, ALICE);
    pool_free(pool, "a million jobs");
    return work;
}

static void test_million(void)
{
    uint32_t bob, alice;
    uint64_t few = work_of(100, 0, &bob, &alice), many;

    tap_ok(bob == 10 && alice == 10, "bob, who came later with ten jobs, gets every other machine");
    many = work_of(1000000, 1000, &bob, &alice);
    tap_ok(bob == 10 && alice == 10,
           "so he does when alice has a million jobs in one ad, and a thousand in a thousand");
    if (!tap_ok(many <= few + 8, "that costs no more work than if she had a hundred"))
        tap_diag("%llu and %llu", (unsigned long long)few, (unsigned long long)many);
}

/* ------------------------------------------------------------------------------------------------------------- a turn */

struct next_change {
    struct lang lang;
    struct engine *engine;
    struct env env;
    uint32_t served[4];
    uint32_t cycles;
    uint32_t cut, gave_up; /* alice's that were served, and not, when a cycle had ended that bob came too late for */
};

static void turn_put(struct next_change *turns, uint32_t id, const char *text, bool request, uint32_t user)
{
    struct err err = {0};
    struct tree *ad = lang_ad(&turns->lang, &dialect_classic, text, &err);

    engine_put(turns->engine, id, ad, &(struct engine_terms){request, 1, id, user});
    tree_unref(ad);
}

static void turn_found(void *user, uint32_t root, uint32_t offer, const struct value *rank, struct tree *left)
{
    struct next_change *turns = user;

    (void)offer, (void)rank, (void)left;
    turns->served[root < 5000 ? 1 : 2]++;
}

/* Work, until bob has all that he wants: how much of alice's was done before. */
static void turn_run(struct next_change *turns, uint32_t bob_comes)
{
    char text[100];
    bool more;

    for (uint32_t i = 0; i < 2000; i++) {
        snprintf(text, sizeof text, "[ Number = %u ]", i);
        turn_put(turns, 10000 + i, text, false, 0);
        snprintf(text, sizeof text, "[ Constraint = other.Number >= %u; Rank = -other.Number ]", i);
        if (i < 1500)
            turn_put(turns, 1000 + i, text, true, 1);
    }
    for (bool came = false; turns->cycles < 100; turns->cycles++) {
        engine_begin(turns->engine, &turns->env);
        do {
            more = engine_step(turns->engine, &turns->lang.arena, 100, turn_found, turns);
            if (!came && turns->served[1] >= bob_comes) {
                came = true;
                for (uint32_t i = 0; i < 10; i++)
                    turn_put(turns, 5000 + i, "[ Bob = true ]", true, 2);
            }
            if (turns->served[2] == 10)
                return;
        } while (more);
        for (uint32_t i = 0; i < 1500 && came; i++)
            turns->gave_up += engine_outcome(turns->engine, 1000 + i) == ENGINE_GAVE_UP;
        turns->cut = turns->served[1];
    }
}

static void test_turn(void)
{
    for (int bounded = 0; bounded < 2; bounded++) {
        struct next_change turns = {.env = {.now = 1800000000}};
        const char *why = "";

        lang_init(&turns.lang);
        turns.engine = engine_new(turns.lang.symbols);
        engine_set_priority(turns.engine, 1, 1);
        engine_set_priority(turns.engine, 2, 1);
        engine_set_work(turns.engine, bounded ? 8000 : UINT64_C(1) << 40); /* a quarter of it is for one */
        turn_run(&turns, 100);
        if (bounded)
            tap_ok(turns.served[1] < 500 && turns.served[2] == 10,
                   "who has had a quarter of a cycle's work lets those who come meanwhile in: bob is served after %u "
                   "of alice's",
                   turns.served[1]);
        if (bounded)
            tap_ok(turns.cut && turns.gave_up == 1500 - turns.cut, "the outcome of the %u others is: gave up",
                   turns.gave_up);
        else
            tap_ok(turns.served[1] == 1500, "else he would wait until all of hers are");
        tap_ok(engine_valid(turns.engine, &why), "the engine is in order then: %s", why);
        while (turns.cycles++ < 100) {
            engine_begin(turns.engine, &turns.env);
            while (engine_step(turns.engine, &turns.lang.arena, 1000, turn_found, &turns))
                ;
        }
        tap_ok(turns.served[1] == 1500 && turns.served[2] == 10, "and in the end all are served");
        engine_free(turns.engine);
        lang_done(&turns.lang);
    }
}

/* As that, in a matchmaker that is asked why. */
static void test_turn_why(void)
{
    struct pool *pool = pool_new(NULL);
    struct user_why why = {0};
    bool came = false, told = false;
    char text[100];

    pool->settings.work = 400;
    pool->settings.slice = 10;
    pool_restart(pool);
    for (uint32_t i = 0; i < 200; i++) {
        snprintf(text, sizeof text, "[ Number = %u ]", i);
        put(pool, 100 + i, 1, false, text);
        snprintf(text, sizeof text, "[ Constraint = other.Number >= %u; Rank = -other.Number ]", i);
        put(pool, ALICE, 1 + i, true, text);
    }
    for (uint32_t i = 0; i < 10000 && !told; i++) {
        pool->env.now = pool->wake > pool->env.now && pool->wake < INT64_MAX ? pool->wake : pool->env.now;
        pool->wake = INT64_MAX;
        pool_step(pool, &(struct event){.kind = EVENT_WAKE});
        if (!came && given(pool, ALICE) > 2) {
            came = true;
            put(pool, BOB, 1, true, "[ Constraint = other.Number == 199 ]");
        }
        why = why_of(pool, "alice");
        told = why.hold_count == 1 && why.holds[0].kind == HOLD_GAVE_UP && given(pool, BOB) == 0;
    }
    tap_ok(came && told && why.holds[0].requests == 200 - given(pool, ALICE),
           "whose part of a cycle is used up can ask why: %u of her requests wait for the next",
           (unsigned)why.holds[0].requests);
    pass(pool, SECOND);
    tap_ok(given(pool, BOB) == 1 && given(pool, ALICE) == 199 && why_of(pool, "alice").holds[0].kind != HOLD_GAVE_UP,
           "and then they have been tried");
    pool_free(pool, "a turn");
}

/* ------------------------------------------------------------------------------------------------------------ delegates */

/* Claims of carol's delegates. */
static uint32_t delegates_given(const struct pool *pool)
{
    uint32_t count = 0;

    for (agent i = 0; i < 9; i++)
        count += given(pool, DELEGATE + i);
    return count;
}

static void test_delegates(void)
{
    struct pool *pool = pool_new(NULL);
    uint32_t users = 0, next = 0;
    struct user_view view;
    struct user_why why;

    for (agent i = 0; i < 9; i++)
        put(pool, DELEGATE + i, 1, true, "[ Count = 40 ]");
    put(pool, ALICE, 1, true, "[ Count = 40 ]");
    pass(pool, SECOND);
    machines(pool, 0, 40, "[ Type = \"Machine\" ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 20 && delegates_given(pool) == 20,
           "nine who act by what one has delegated get as much together as one");
    tap_diag("alice %u, the nine %u", given(pool, ALICE), delegates_given(pool));
    while (matchmaker_next_user(pool->role, 0, next, &view, &next))
        users += !strchr(view.name, '/') ? 1 : 1000;
    tap_ok(users == 3, "they have one account, that of who has delegated");
    why = why_of(pool, "carol/s3");
    tap_ok(!strcmp(why.name.bytes, "carol") && why.claims == 20 && why.requests == 9 && why.delegate_count == 8 &&
               why.delegate_more,
           "who asks for one of them is told of that, and who asks in its name");
    pool_free(pool, "delegates");
}

static void test_delegates_in_groups(void)
{
    struct pool *pool =
        pool_new("[ Groups = { [ Name = \"art\"; Quota = 4; Surplus = false; Users = { \"carol\" } ] } ]");
    struct user_why why;

    put(pool, DELEGATE, 1, true, "[ Count = 40; AccountingGroup = \"art\" ]");
    put(pool, DELEGATE + 1, 1, true, "[ Count = 40; AccountingGroup = \"art\" ]");
    pass(pool, SECOND);
    machines(pool, 0, 10, "[ Type = \"Machine\" ]");
    pass(pool, SECOND);
    why = why_of(pool, "art~carol/s1");
    tap_ok(delegates_given(pool) == 4 && !strcmp(why.name.bytes, "art~carol") && why.claims == 4,
           "in a group they are who has delegated as well, and may be there when that one may");
    pool_free(pool, "delegates in groups");
}

/* A row of the time when each name had an account of its own. */
static void row_add(struct pool *pool, uint64_t key, const char *name, int64_t usage, int64_t factor)
{
    struct record record = {.kind = RECORD_USER, .key = key};

    text_set(&record.u.user_record.name, name, strlen(name));
    record.u.user_record.usage = usage * 1000000;
    record.u.user_record.factor = factor * 1000000;
    record.u.user_record.stamp = pool->env.wall / SECOND;
    pool_keep(pool, &record);
}

static double row_usage(const struct pool *pool, const char *name)
{
    for (uint32_t i = 0; i < pool->row_count; i++)
        if (!strcmp(pool->rows[i].u.user_record.name.bytes, name))
            return (double)pool->rows[i].u.user_record.usage / 1e6;
    return 0;
}

static void test_delegates_of_old(void)
{
    struct pool *pool = pool_new(NULL);
    struct user_why why;

    row_add(pool, 3, "carol/s1", 10, 1);
    row_add(pool, 1, "carol", 5, 2);
    row_add(pool, 2, "carol/s2", 20, 7);
    row_add(pool, 4, "machine/m1", 3, 1);
    pool_restart(pool);
    why = why_of(pool, "carol");
    tap_ok(why.usage > 34.9 && why.usage < 35.1 && why.factor == 2,
           "what delegates have used by accounts of their own is their account's from now on");
    why = why_of(pool, "machine/m1");
    tap_ok(!strcmp(why.name.bytes, "machine/m1") && why.usage > 2.9,
           "a machine that has joined is an account by itself");
    pass(pool, SECOND);
    tap_ok(row_usage(pool, "carol") > 34.9 && !row_usage(pool, "carol/s1") && !row_usage(pool, "carol/s2"),
           "which is durable at once, and their rows go");
    pool_restart(pool);
    pass(pool, SECOND);
    pool_restart(pool);
    why = why_of(pool, "carol");
    tap_ok(why.usage > 34.8 && why.usage < 35.1, "so it is not added twice");
    pool_free(pool, "delegates of old");
}

/* Processors, GPUs and what is neither are counted apart. */
static void test_kinds(void)
{
    struct pool *pool = pool_new("[ Groups = { [ Name = \"p\"; Quota = [ Cpus = 4; Gpus = 1 ]; Surplus = false ],"
                                 "             [ Name = \"q\"; Quota = 0.5 ] } ]");
    const char *job = "[ Count = 20; AccountingGroup = \"p\"; Constraint = other.Kind == self.Wants; Wants = \"%s\" ]";
    char text[256];

    snprintf(text, sizeof text, job, "licence");
    put(pool, ALICE, 1, true, text);
    machines(pool, 0, 6, "[ Kind = \"licence\"; Constraint = true ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 6 && group_of_name(pool, "p").used == 6 &&
               group_of_name(pool, "p").kinds_used[SHARE_CPUS] == 0,
           "licences are no processors: a quota of those does not count them");
    snprintf(text, sizeof text, job, "cpu");
    put(pool, BOB, 1, true, text);
    machines(pool, 10, 5, "[ Kind = \"cpu\"; Cpus = 2; GpuCount = 0; Constraint = true ]");
    pass(pool, SECOND);
    tap_ok(given(pool, BOB) == 2 && group_of_name(pool, "p").kinds_used[SHARE_CPUS] == 4,
           "of processors the group gets its quota, and no more");
    tap_ok(group_of_name(pool, "q").quota > 5 && group_of_name(pool, "<none>").quota > 5 &&
               !group_of_name(pool, "p").units,
           "it takes no units from what the others have");
    tap_ok(why_of(pool, "p~bob").hold_count == 1 && near(why_of(pool, "p~bob").holds[0].most, 4) &&
               near(why_of(pool, "p~bob").holds[0].used, 4),
           "and why says how many of how many are in use");
    for (uint32_t i = 0, told = pool->told_count; i < told; i++)
        if (pool->told[i].superior == BOB)
            report(pool, &pool->told[i], 0, true, "p", "");
    pass(pool, SECOND);
    tap_ok(given(pool, BOB) == 4 && group_of_name(pool, "p").kinds_used[SHARE_CPUS] == 4,
           "when claims end others follow");
    pool_free(pool, "kinds");
    pool = pool_new("[ Groups = { [ Name = \"p\"; Quota = [ Gpus = 1 ]; Surplus = false ] } ]");
    put(pool, ALICE, 1, true, "[ Count = 20; AccountingGroup = \"p\"; Constraint = true ]");
    machines(pool, 0, 3, "[ Cpus = 2; GpuCount = 1; Constraint = true ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 1 && group_of_name(pool, "p").kinds_used[SHARE_GPUS] == 1, "GPUs likewise");
    pool_free(pool, "GPUs");
    pool = pool_new("[ Groups = { [ Name = \"p\"; Quota = [ Licenses = 3 ]; Surplus = false ],"
                    "             [ Name = \"p.a\"; Quota = [ Licenses = 2 ]; Surplus = false ] } ]");
    put(pool, ALICE, 1, true, "[ Count = 20; AccountingGroup = \"p.a\"; Constraint = other.Type == \"License\" ]");
    machines(pool, 0, 6, "[ Type = \"license\"; Constraint = true ]");
    pass(pool, SECOND);
    put(pool, BOB, 1, true, "[ Count = 20; AccountingGroup = \"p\"; Constraint = other.Type == \"License\" ]");
    pass(pool, SECOND);
    tap_ok(given(pool, ALICE) == 2 && given(pool, BOB) == 1 && group_of_name(pool, "p").kinds_used[SHARE_LICENSES] == 3,
           "and licences, in a group and in one within it");
    tap_ok(why_of(pool, "p~bob").hold_count == 1 && near(why_of(pool, "p~bob").holds[0].most, 3), "why says so");
    put(pool, ALICE, 2, true, "[ Count = 20; Constraint = other.Type == \"Machine\" ]");
    machines(pool, 10, 4, "[ Type = \"Machine\"; Cpus = 2; Constraint = true ]");
    pass(pool, 20 * SECOND);
    tap_ok(given(pool, ALICE) == 6 && group_of_name(pool, "p").kinds_used[SHARE_LICENSES] == 3,
           "machines do not count as licences");
    pool_free(pool, "licences");
}

int main(void)
{
    test_texts();
    test_weights();
    test_kinds();
    test_quotas();
    test_surplus();
    test_nested();
    test_who_may();
    test_reconfigured();
    test_ordered();
    test_limits();
    test_held();
    test_restart();
    test_why();
    test_million();
    test_turn();
    test_turn_why();
    test_delegates();
    test_delegates_in_groups();
    test_delegates_of_old();
    return tap_done();
}
