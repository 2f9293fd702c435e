/* matchmaker_shares_test.c: who used less is first, and what was used is kept; the better may take what another has. */
#include "matchmaker_world.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------------------- accounting */

static double usage_of(struct pool *pool, const char *name)
{
    double usage = -1, priority;

    matchmaker_user(pool->role, name, pool->env.wall / SECOND, &usage, &priority);
    return usage;
}

/* The user of the claim of that number, whether or not it is over; "": there is no such claim, or it is nobody's. */
static const char *user_of_claim(const struct pool *pool, uint64_t claim, bool over)
{
    struct claim_view view;

    for (uint32_t from = 0; matchmaker_next_claim(pool->role, from, &view, &from);)
        if (view.claim == claim && view.over == over)
            return view.user ? view.user : "";
    return "";
}

static void who_used_less_is_first(void)
{
    struct pool *pool = pool_new();
    uint64_t claim = 77;

    for (int i = 0; i < 200; i++) { /* alice has used a machine for three hours */
        report(pool, 30, claim, "alice", 54 * SECOND, false);
        pass(pool, 54 * SECOND);
    }
    tap_ok(usage_of(pool, "alice") > 0.05 && matchmaker_counts(pool->role).claims == 1, "reports are charged");
    report(pool, 30, claim, "alice", 0, true);
    tap_ok(matchmaker_counts(pool->role).claims == 0 && matchmaker_counts(pool->role).history == 1,
           "a claim that is over is history");
    tap_ok(!strcmp(user_of_claim(pool, claim, true), "alice"), "and it is known whose it was");
    role_restart(pool);
    for (uint64_t c = 100; c < 140; c++) /* and now many more */
        for (int i = 0; i < 3; i++) {
            report(pool, 30, c, "alice", 60 * SECOND, false);
            if (c == 139)
                pass(pool, 60 * SECOND);
        }
    pass(pool, 3 * MINUTE);
    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOB);
    put(pool, (struct put){.from = 3, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, SECOND);
    tap_ok(matches(pool) == 0, "two users wait");
    tap_ok(report_showing(pool, 31, &(struct report){.claim = 500, .owner = {"alice"}, .used = SECOND}, NULL) ==
               REASON_UNKNOWN,
           "a claim that was never matched is not believed");
    tap_ok(report(pool, 31, 500, "alice", 60 * SECOND, false) == REASON_OK, "one has a claim at the moment");
    put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(sent_count(pool, 3) == 1 && sent_count(pool, 2) == 0, "the other is served first, though it came later");
    pool_free(pool, "usage");
}

static void a_clock_that_jumps_forgives_nothing(void)
{
    static const int64_t year = INT64_C(365) * 24 * 60 * MINUTE;
    struct pool *pool = pool_new();
    double used, after;

    for (int i = 0; i < 200; i++) {
        report(pool, 30, 77, "alice", 54 * SECOND, false);
        pass(pool, 54 * SECOND);
    }
    used = usage_of(pool, "alice");
    pool->env.wall += year;
    report(pool, 30, 77, "alice", 10 * SECOND, false);
    pass(pool, 20 * SECOND);
    after = usage_of(pool, "alice");
    tap_ok(after > used * 0.99, "what was used is not forgiven because the clock was ahead for a moment");
    pool->env.wall -= year;
    report(pool, 30, 77, "alice", 0, true);
    pass(pool, SECOND);
    tap_ok(usage_of(pool, "alice") > used * 0.99, "nor when it is right again");
    used = usage_of(pool, "alice");
    pass(pool, INT64_C(24) * 60 * MINUTE);
    tap_ok(usage_of(pool, "alice") < used * 0.51 && usage_of(pool, "alice") > used * 0.49,
           "and it decays from then on as it would have");
    pool->env.wall -= 2 * year;
    report(pool, 30, 77, "alice", 0, true);
    pass(pool, INT64_C(24) * 60 * MINUTE);
    tap_ok(usage_of(pool, "alice") < used * 0.26, "also by a clock that was set back");
    pool_free(pool, "a clock that jumps");
}

/* A machine on which a job of carol's runs, as its second ad says. */
#define TAKEN(more)                                                                                      \
    "[ Type = \"Machine\"; Cpus = 8; Constraint = other.Cpus <= Cpus; Preempts = \"00000000000000c1\"; " \
    "RemoteUser = \"carol\"; CurrentRank = 2; " more " ]"
#define BY_PRIORITY                                                                                                    \
    "[ RootOrder = UserPrio; DockingVector = { label.RemoteUser is undefined ? 2 : label.RemoteUserPrio > UserPrio * " \
    "1.1 && label.CurrentRank <= label.Rank ? 0 : error, Usage } ]"

static void set_policy(struct pool *pool, const char *text)
{
    struct err err = {0};
    struct event event = {.kind = EVENT_POLICY, .ad = lang_ad(&pool->lang, &dialect_classic, text, &err)};

    hand_over(pool, &event);
    tree_unref(event.ad);
}

static void rank_preempts(void)
{
    struct pool *pool = pool_new();

    put(pool, (struct put){.from = 5, .id = 8, .version = 1}, TAKEN("Rank = 2"));
    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 0, "without a policy nobody has to go for one who is liked as well");
    put(pool, (struct put){.from = 5, .id = 8, .version = 2}, TAKEN("Rank = other.Cpus + 2"));
    put(pool, (struct put){.from = 6, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 1 && look(pool, 6, 7).free == 0 && look(pool, 5, 8).free == 1,
           "nor while a machine is free");
    put(pool, (struct put){.from = 3, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 2 && look(pool, 5, 8).free == 0, "but for one who is liked better");
    tap_ok(put(pool, (struct put){.from = 5, .id = 7, .version = 1}, MACHINE).reason == REASON_OK,
           "the other ad of that agent is not touched");
    pool_free(pool, "preemption by rank");
}

static void priority_preempts(void)
{
    struct pool *pool = pool_new();

    for (uint64_t c = 100; c < 140; c++)
        report(pool, 30, c, "carol", 60 * SECOND, false); /* she uses much */
    set_policy(pool, BY_PRIORITY);
    put(pool, (struct put){.from = 5, .id = 8, .version = 1}, TAKEN("Rank = 2"));
    put(pool, (struct put){.from = 4, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 0, "nobody takes a machine from oneself");
    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 1 && look(pool, 2, 1).free == 0,
           "a better user's job takes it, though an equal one of its own user was tried in vain before");
    put(pool, (struct put){.from = 3, .id = 1, .version = 1, .request = true}, JOB);
    put(pool, (struct put){.from = 6, .id = 8, .version = 1},
        "[ Type = \"Machine\"; Cpus = 8; Preempts = \"c2\"; RemoteUser = \"dave\"; CurrentRank = 0 ]");
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 1, "one that is no better does not");
    put(pool, (struct put){.from = 7, .id = 8, .version = 1}, TAKEN("Rank = 1"));
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 1, "nor one whom the machine likes less");
    for (uint64_t c = 200; c < 240; c++)
        report(pool, 30, c, "dave", 60 * SECOND, false);
    pass(pool, 2 * SECOND);
    tap_ok(matches(pool) == 2 && look(pool, 3, 1).free == 0, "until the other has used more");
    pool_free(pool, "preemption by priority");
}

/* The whole of figure 9, as it is given away with Berth. */
static void figure_nine(void)
{
    struct pool *pool = pool_new();
    size_t len;
    char *text = lang_read("examples/policy/condor.ad", &len);

    for (uint64_t c = 100; c < 140; c++)
        report(pool, 30, c, "carol", 60 * SECOND, false);
    set_policy(pool, text);
    put(pool, (struct put){.from = 5, .id = 8, .version = 1},
        TAKEN("Rank = 2; ImageSize = 0; ServiceTime = '2:59:00'"));
    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOBS(2));
    pass(pool, 2 * SECOND);
    tap_ok(matches(pool) == 0, "figure 9: for three hours a claim is safe from better users");
    put(pool, (struct put){.from = 5, .id = 8, .version = 2},
        TAKEN("Rank = 2; ImageSize = 0; ServiceTime = '3:01:00'"));
    put(pool, (struct put){.from = 6, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(matches(pool) == 2 && look(pool, 6, 7).free == 0 && look(pool, 5, 8).free == 0,
           "figure 9: what nobody uses is given, and then what another has had for long enough");
    tap_ok(sent_to(pool, 6, 0) != NULL, "figure 9: the free machine is told of its match");
    free(text);
    pool_free(pool, "figure 9");
}

static void equals_take_turns(void)
{
    struct pool *pool = pool_new();

    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOBS(10));
    put(pool, (struct put){.from = 3, .id = 1, .version = 1, .request = true}, JOBS(10));
    for (uint64_t i = 0; i < 6; i++)
        put(pool, (struct put){.from = 10 + i, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(look(pool, 2, 1).free == 7 && look(pool, 3, 1).free == 7,
           "two users who are alike share the machines of one cycle");
    put(pool, (struct put){.from = 20, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    put(pool, (struct put){.from = 21, .id = 7, .version = 1}, MACHINE);
    pass(pool, CYCLE);
    tap_ok(look(pool, 2, 1).free == 6 && look(pool, 3, 1).free == 6, "and those that come one by one");
    pool_free(pool, "turns");
}

static void usage_has_bounds(void)
{
    struct pool *pool = pool_new();
    double once;

    report(pool, 30, 1, "alice", 60 * SECOND, false);
    once = usage_of(pool, "alice");
    for (int i = 0; i < 100; i++)
        report(pool, 30, 1, "alice", INT64_MAX, false);
    tap_ok(usage_of(pool, "alice") == once && once > 0, "nobody can be charged more than the time that has passed");
    tap_ok(report(pool, 30, 1, "alice", -5, false) == REASON_INVALID, "nor less than nothing");
    tap_ok(report(pool, 31, 1, "bob", 5, true) == REASON_IDENTITY && matchmaker_counts(pool->role).claims == 1,
           "a claim is reported by one agent");
    tap_ok(report(pool, 31, 0, "bob", 5, true) == REASON_INVALID && report(pool, 31, 9, "", 5, true) == REASON_INVALID,
           "a report names a claim, and its receipt an owner");
    pass(pool, pool->spans.lease + pool->spans.lease / 10);
    tap_ok(matchmaker_counts(pool->role).claims == 0 && matchmaker_counts(pool->role).history == 1,
           "a claim of which nothing is heard any more is history");
    tap_ok(report(pool, 30, 1, "alice", 60 * SECOND, false) == REASON_OK && matchmaker_counts(pool->role).claims == 0,
           "what is said of it later changes nothing");
    pool_free(pool, "bounds of usage");
}

static void usage_is_durable(void)
{
    struct pool *pool = pool_new();
    double before;

    for (int i = 0; i < 100; i++) {
        report(pool, 30, 1, "alice", 10 * SECOND, false);
        pass(pool, 10 * SECOND);
    }
    tap_ok(rows_of(pool, RECORD_USER) == 1 && pool->written[RECORD_USER] <= 18,
           "usage is written once a minute at most");
    tap_ok(rows_of(pool, RECORD_USAGE) == 2 && rows_of(pool, RECORD_TALLY) == 1 && pool->written[RECORD_TALLY] <= 18,
           "and so is what is counted of a claim that goes on");
    pass(pool, MINUTE);
    before = usage_of(pool, "alice");
    role_restart(pool);
    tap_ok(before > 0 && fabs(usage_of(pool, "alice") - before) < before / 100, "and is there after a restart");
    pass(pool, 60 * pool->spans.half);
    role_restart(pool);
    report(pool, 30, 2, "bob", 10 * SECOND, true);
    pass(pool, MINUTE);
    tap_ok(usage_of(pool, "alice") < 0 && rows_of(pool, RECORD_USER) == 1, "what was used very long ago is forgotten");
    pool_free(pool, "durable usage");
}

/* ---------------------------------------------------------------------------------------------------------- receipts */

/* A machine of agent 5 and a job of alice's that names a limit are matched: what each side is given. */
static void match_one(struct pool *pool, const struct match_told **ret_member, const struct match_told **ret_root)
{
    pass(pool, 10 * MINUTE); /* whoever names a limit waits until the matchmaker knows what is in use */
    put(pool, (struct put){.from = 5, .id = 7, .version = 1},
        "[ Type = \"Machine\"; Cpus = 8; Weight = 8; Constraint = other.Cpus <= Cpus ]");
    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true},
        "[ Type = \"Job\"; Cpus = 1; ConcurrencyLimits = \"matlab:2\"; Constraint = other.Cpus >= Cpus ]");
    pass(pool, CYCLE);
    *ret_member = sent_to(pool, 5, 0) ? &sent_to(pool, 5, 0)->message.u.match_told : NULL;
    *ret_root = sent_to(pool, 2, 0) ? &sent_to(pool, 2, 0)->message.u.match_told : NULL;
}

static int64_t limit_used(struct pool *pool, const char *name)
{
    struct limit_view view;

    for (uint32_t from = 0; matchmaker_next_limit(pool->role, from, &view, &from);)
        if (!strcmp(view.name, name))
            return view.used;
    return 0;
}

static void reports_carry_receipts(void)
{
    struct pool *pool = pool_new();
    const struct match_told *member, *root;
    struct tree *receipt;
    struct report report;
    struct user_view user;

    match_one(pool, &member, &root);
    tap_ok(member && root && member->receipt && root->edges && root->edges->items[0].receipt && !root->receipt &&
               tree_equal(member->receipt, tree_root(member->receipt), root->edges->items[0].receipt,
                          tree_root(root->edges->items[0].receipt)),
           "both sides of a match are given its receipt");
    receipt = tree_ref(member->receipt);
    report = (struct report){.claim = member->claim, .gang = 99, .owner = {"bob"}, .weight = 1000 * WEIGHT_ONE};
    text_set(&report.limits, "matlab:100", 10);
    role_restart(pool);
    tap_ok(report_showing(pool, 5, &report, NULL) == REASON_UNKNOWN && usage_of(pool, "bob") < 0 &&
               limit_used(pool, "matlab") == 0,
           "after a restart a report without its receipt charges nobody and holds nothing");
    tap_ok(report_showing(pool, 6, &report, receipt) == REASON_IDENTITY, "one of another agent does not count");
    report.claim++;
    tap_ok(report_showing(pool, 5, &report, receipt) == REASON_UNKNOWN, "nor one for another claim");
    report.claim--;
    tap_ok(report_showing(pool, 5, &report, receipt) == REASON_OK && usage_of(pool, "bob") < 0 &&
               matchmaker_find_user(pool->role, 0, "alice", &user) && user.claims == 1 && user.units == 8 &&
               limit_used(pool, "matlab") == 2,
           "with it the claim counts for whom it was matched, by what the matchmaker wrote there, whatever is said");
    role_restart(pool);
    pass(pool, 10 * MINUTE);
    tap_ok(report_showing(pool, 5, &report, receipt) == REASON_UNKNOWN,
           "long after a restart nothing is learned, for all that live have been told of");
    tree_unref(receipt);
    pool_free(pool, "receipts");
}

static void lies_take_nothing(void)
{
    struct pool *pool = pool_new();
    struct receipt forged = {.claim = 1234, .gang = 1, .agent = 9, .offer = 7, .weight = 1000000};
    struct key wrong = {{1, 2, 3}};
    const struct match_told *member, *root;
    struct tree *ad;

    text_set(&forged.account, "bob", 3);
    ad = receipt_make(&pool->env, &wrong, &forged);
    tap_ok(report_showing(pool, 9, &(struct report){.claim = 1234, .owner = {"bob"}, .weight = 1000000}, ad) ==
                   REASON_UNKNOWN &&
               usage_of(pool, "bob") < 0,
           "a receipt that another key has made is none");
    tree_unref(ad);
    tap_ok(report_showing(pool, 3, &(struct report){.claim = 1234, .owner = {"bob"}, .limits = {"matlab:4"}}, NULL) ==
                   REASON_UNKNOWN &&
               limit_used(pool, "matlab") == 0,
           "nobody takes a limit by a report, in his own name either");
    match_one(pool, &member, &root);
    pass(pool, pool->spans.window + pool->spans.deadline + SECOND);
    tap_ok(limit_used(pool, "matlab") == 0, "a match of which nothing is heard has lapsed");
    tap_ok(report_showing(pool, 5, &(struct report){.claim = member->claim, .limits = {"matlab:50"}}, NULL) ==
                   REASON_OK &&
               limit_used(pool, "matlab") == 2,
           "one that is told of after all holds what it was matched for, and not what is said then");
    pool_free(pool, "lies");
}

int main(void)
{
    who_used_less_is_first();
    a_clock_that_jumps_forgives_nothing();
    rank_preempts();
    priority_preempts();
    figure_nine();
    equals_take_turns();
    usage_has_bounds();
    usage_is_durable();
    reports_carry_receipts();
    lies_take_nothing();
    return tap_done();
}
