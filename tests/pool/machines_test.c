/* machines_test.c: what a matchmaker knows of machines: whose word it takes, how long it keeps it, how much of it; and that nothing is matched by it.
 *
 * Built with -DBERTH_MUTANTS (tests/sim), bugs are planted that no simulated world shows. */
#include "matchmaker_world.h"

#include "lang/ad/get.h"
#include "pool/matchmaker/machines.h"
#include "pool/protocol/mutants.h"

#define LIFETIME (pool->spans.lifetime)
#define HOUR (60 * MINUTE)
#define LIFE (UINT64_C(1) << 32) /* between the versions of two lives of an agent */
#define TOLD \
    "[ Used = [ Cpus = 3 ]; Claims = { [ Claim = \"0000000000000001\"; Job = 5; Ends = 60 ] }; Words = \"so\" ]"

#ifdef BERTH_MUTANTS
enum mutant mutant_now;
#endif

/* A word of a machine; `ad` and `told` are texts or NULL. */
struct word {
    agent from;
    uint64_t id, version, base, state;
    int64_t since, until;
    bool sure, pulls, gone, any;
    const char *identity;
    const char *ad, *told;
};

static struct tree *text_tree(struct pool *pool, const char *text)
{
    struct err err = {0};
    struct tree *tree = text ? lang_expr(&pool->lang, &dialect_classic, text, strlen(text), &err) : NULL;

    if (text && !tree)
        printf("Bail out! %s: %s\n", text, err.text);
    return tree;
}

static enum reason tell(struct pool *pool, const struct word *word)
{
    struct message message = {.kind = MESSAGE_STANDS};
    struct peer peer = *peer_of(word->from);

    peer.any = word->any;
    peer.identity = word->identity ? word->identity : peer.identity;
    message.u.stands = (struct stands){.id = word->id,
                                       .version = word->version,
                                       .base = word->base,
                                       .state = word->state,
                                       .since = word->since,
                                       .until = word->until,
                                       .sure = word->sure,
                                       .pulls = word->pulls,
                                       .gone = word->gone,
                                       .told = text_tree(pool, word->told),
                                       .ad = text_tree(pool, word->ad)};
    say_as(pool, &peer, &message);
    message_done(&message);
    return pool->answer.kind == MESSAGE_GOT ? pool->answer.u.got.reason : REASON_COUNT;
}

static bool knows(struct pool *pool, agent who, uint64_t id, struct machine_view *ret)
{
    *ret = (struct machine_view){0};
    return matchmaker_find_machine(pool->role, who, id, ret);
}

static bool is_as(struct pool *pool, agent who, uint64_t id, enum machine_state state)
{
    struct machine_view view;

    return knows(pool, who, id, &view) && view.state == state;
}

/* ------------------------------------------------------------------------------------------------------ versions */

static void words_are_taken(void)
{
    struct pool *pool = pool_new();
    struct machine_view view;

    tap_ok(tell(pool, &(struct word){.from = 2, .id = 7, .version = 10, .base = 10, .state = MACHINE_BUSY}) ==
               REASON_BODY,
           "the first word of a machine has its whole ad, or is answered that it is needed");
    tap_ok(!knows(pool, 2, 7, &view), "and nothing is known until it comes");
    tap_ok(tell(pool, &(struct word){.from = 2,
                                     .id = 7,
                                     .version = 10,
                                     .base = 10,
                                     .state = MACHINE_BUSY,
                                     .since = 90 * SECOND,
                                     .until = -1,
                                     .ad = MACHINE,
                                     .told = TOLD}) == REASON_OK &&
               knows(pool, 2, 7, &view) && view.state == MACHINE_BUSY && !view.left,
           "a machine without an offer is known by its word");
    tap_ok(view.since == pool->env.now - 90 * SECOND && view.until == INT64_MAX && view.heard == pool->env.now,
           "with times on the matchmaker's clock");
    tap_ok(ad_says(pool, view.whole, "Cpus == 8 && Owner == \"alice\" && Identity == \"alice\"") &&
               ad_says(pool, view.told, "Used.Cpus == 3"),
           "with its ad, whose it is, and what is in use");
    tap_ok(matches(pool) == 0 && matchmaker_machines(pool->role) == 1, "it is counted, and is no offer");
    tap_ok(
        tell(pool,
             &(struct word){
                 .from = 2, .id = 7, .version = 11, .base = 10, .state = MACHINE_OWNER, .until = HOUR, .sure = true}) ==
                REASON_OK &&
            knows(pool, 2, 7, &view) && view.state == MACHINE_OWNER && view.until == pool->env.now + HOUR &&
            view.sure && ad_says(pool, view.whole, "Cpus == 8") && !view.told,
        "a later word needs no ad, and replaces all else");
    tap_ok(
        tell(pool, &(struct word){.from = 2, .id = 7, .version = 9, .base = 9, .state = MACHINE_IDLE, .ad = MACHINE}) ==
                REASON_STALE &&
            is_as(pool, 2, 7, MACHINE_OWNER),
        "an older one is refused, and changes nothing");
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 7, .version = 12, .base = 12, .state = MACHINE_IDLE}) ==
                   REASON_BODY &&
               is_as(pool, 2, 7, MACHINE_OWNER),
           "one that speaks of an ad that is not known is answered that it is needed");
    tap_ok(
        tell(pool, &(struct word){.from = 3, .id = 7, .version = 1, .base = 1, .state = MACHINE_SICK, .ad = MACHINE}) ==
                REASON_OK &&
            is_as(pool, 3, 7, MACHINE_SICK) && is_as(pool, 2, 7, MACHINE_OWNER),
        "the same id of another agent is another machine");
    tap_ok(tell(pool, &(struct word){.from = 3, .id = 7, .version = 2, .gone = true}) == REASON_OK &&
               !knows(pool, 3, 7, &view) && matchmaker_machines(pool->role) == 1,
           "a machine that is gone is forgotten at once");
    tap_ok(tell(pool, &(struct word){.from = 3, .id = 7, .version = 3, .gone = true}) == REASON_OK,
           "however often that is said");
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 7, .version = 1, .gone = true}) == REASON_STALE &&
               is_as(pool, 2, 7, MACHINE_OWNER),
           "but not by a word that is old");
    pool_free(pool, "words");
}

static void offers_and_records(void)
{
    struct pool *pool = pool_new();
    struct machine_view view;

    put(pool, (struct put){.from = 2, .id = 7, .version = 1}, MACHINE);
    tap_ok(knows(pool, 2, 7, &view) && view.state == MACHINE_IDLE && !view.told &&
               ad_says(pool, view.whole, "Cpus == 8") && ad_says(pool, view.left, "Cpus == 8"),
           "of a machine that has told nothing the offer is the record");
    put(pool, (struct put){.from = 2, .id = 8, .version = 1}, "[ Type = \"Machine\"; Preempts = 7 ]");
    tap_ok(!knows(pool, 2, 8, &view), "a second ad is no machine");
    put(pool, (struct put){.from = 2, .id = 9, .version = 1, .request = true}, LONELY);
    tap_ok(!knows(pool, 2, 9, &view), "nor is a request");
    put(pool, (struct put){.from = 2, .id = 10, .version = 1}, "[ Owner = \"bob\" ]");
    tap_ok(!knows(pool, 2, 10, &view), "nor an ad that is refused");
    withdraw(pool, 2, 7, 0);
    tap_ok(knows(pool, 2, 7, &view), "a withdrawal that came late changes nothing");
    withdraw(pool, 2, 7, 2);
    tap_ok(!knows(pool, 2, 7, &view), "and goes with it when it is withdrawn");

    put(pool, (struct put){.from = 2, .id = 7, .version = 3}, MACHINE);
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 7, .version = 5, .state = MACHINE_IDLE}) == REASON_OK &&
               knows(pool, 2, 7, &view) && ad_says(pool, view.whole, "Cpus == 8"),
           "an idle machine may leave its ad to its offer");
    tap_ok(view.whole == look(pool, 2, 7).ad, "then there is one text for both");
    put(pool, (struct put){.from = 2, .id = 7, .version = 4}, "[ Type = \"Machine\"; Cpus = 5; Constraint = true ]");
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 7, .version = 6, .state = MACHINE_PART, .told = TOLD}) ==
               REASON_BODY,
           "a machine that is not idle may not: what is offered is a part of it");
    tap_ok(tell(pool,
                &(struct word){
                    .from = 2, .id = 7, .version = 6, .base = 6, .state = MACHINE_PART, .ad = MACHINE, .told = TOLD}) ==
                   REASON_OK &&
               knows(pool, 2, 7, &view) && ad_says(pool, view.whole, "Cpus == 8") &&
               ad_says(pool, view.left, "Cpus == 5"),
           "it tells its whole, beside what is left");
    put(pool, (struct put){.from = 2, .id = 7, .version = 5}, "[ Type = \"Machine\"; Cpus = 4; Constraint = true ]");
    tap_ok(knows(pool, 2, 7, &view) && ad_says(pool, view.whole, "Cpus == 8"), "which no offer changes");
    withdraw(pool, 2, 7, 6);
    tap_ok(knows(pool, 2, 7, &view) && view.state == MACHINE_PART && !view.left &&
               ad_says(pool, view.whole, "Cpus == 8"),
           "and no withdrawal");
    put(pool, (struct put){.from = 2, .id = 7, .version = 9, .request = true}, LONELY);
    tap_ok(knows(pool, 2, 7, &view) && view.state == MACHINE_PART && !view.left,
           "a request that goes by a machine's id is nothing that may be had of it");
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 11, .version = 5, .state = MACHINE_IDLE}) == REASON_BODY,
           "an idle machine without an offer must tell its ad");

    put(pool, (struct put){.from = 2, .id = 12, .version = 1}, MACHINE);
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 12, .version = 5, .state = MACHINE_IDLE}) == REASON_OK &&
               is_as(pool, 2, 12, MACHINE_IDLE),
           "a machine is idle");
    put(pool, (struct put){.from = 4, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, CYCLE);
    tap_ok(is_as(pool, 2, 12, MACHINE_BUSY), "and in use from its match on");
    withdraw(pool, 2, 12, 2);
    tap_ok(is_as(pool, 2, 12, MACHINE_BUSY), "also when it has withdrawn its offer, and has not said why yet");
    pass(pool, SECOND);
    tap_ok(tell(pool,
                &(struct word){.from = 2, .id = 12, .version = 6, .base = 6, .state = MACHINE_IDLE, .ad = MACHINE}) ==
                   REASON_OK &&
               is_as(pool, 2, 12, MACHINE_IDLE),
           "until its own word comes, which counts");
    pool_free(pool, "offers and records");
}

/* ----------------------------------------------------------------------------------------------------------- time */

static void away_and_forgotten(void)
{
    struct pool *pool = pool_new();
    struct machine_view view;
    int64_t heard = pool->env.now;
    const char *ad = "[ Type = \"Machine\"; Name = \"heron\"; Cpus = 8; Other = 3; Constraint = true ]";

    tell(pool,
         &(struct word){.from = 2, .id = 7, .version = 10, .base = 10, .state = MACHINE_BUSY, .ad = ad, .told = TOLD});
    put(pool, (struct put){.from = 3, .id = 8, .version = 1}, MACHINE);
    pass(pool, LIFETIME - SECOND);
    tap_ok(is_as(pool, 2, 7, MACHINE_BUSY), "a machine is known as it said for a lifetime");
    pass(pool, 2 * SECOND);
    tap_ok(knows(pool, 2, 7, &view) && view.state == MACHINE_AWAY && view.since == heard,
           "then it is away, since it was heard");
    tap_ok(is_as(pool, 3, 8, MACHINE_AWAY), "so is one whose offer has expired");
    tap_ok(knows(pool, 3, 8, &view) && !view.left && ad_says(pool, view.whole, "Cpus == 8"),
           "of which nothing may be had");
    tell(pool, &(struct word){.from = 2, .id = 7, .version = 10, .base = 10, .state = MACHINE_BUSY, .told = TOLD});
    tap_ok(is_as(pool, 2, 7, MACHINE_BUSY), "one word, and it is back");
    pass(pool, LIFETIME + SECOND);
    tap_ok(is_as(pool, 2, 7, MACHINE_AWAY) && knows(pool, 2, 7, &view) && ad_says(pool, view.whole, "Other == 3"),
           "away again it is still known whole");
    pass(pool, HOUR);
    tap_ok(knows(pool, 2, 7, &view) && !view.told &&
               ad_says(pool, view.whole, "Name == \"heron\" && Cpus == 8 && isUndefined(Other)"),
           "after an hour only its name and size are kept");
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 7, .version = 11, .base = 10, .state = MACHINE_BUSY}) ==
               REASON_BODY,
           "so that it must tell its ad again");
    pass(pool, 22 * HOUR);
    tap_ok(is_as(pool, 2, 7, MACHINE_AWAY), "it is remembered for a day");
    pass(pool, 2 * HOUR);
    tap_ok(!knows(pool, 2, 7, &view) && !knows(pool, 3, 8, &view) && matchmaker_machines(pool->role) == 0,
           "and then forgotten");
    tell(pool, &(struct word){.from = 2,
                              .id = 7,
                              .version = 1,
                              .base = 1,
                              .state = MACHINE_BUSY,
                              .ad = "[ Type = \"Machine\"; Lifetime = 60 ]"});
    pass(pool, 61 * SECOND);
    tap_ok(is_as(pool, 2, 7, MACHINE_AWAY), "an ad's own lifetime counts");
    pool_free(pool, "away");
}

static void renewals_keep_it(void)
{
    struct pool *pool = pool_new();
    struct machine_view view;

    put(pool, (struct put){.from = 2, .id = 7, .version = 3}, MACHINE);
    tell(pool, &(struct word){
                   .from = 2, .id = 7, .version = 6, .base = 6, .state = MACHINE_PART, .ad = MACHINE, .told = TOLD});
    for (int i = 0; i < 12; i++) {
        pass(pool, LIFETIME / 3);
        put(pool, (struct put){.from = 2, .id = 7, .version = 3, .bare = true}, NULL);
    }
    tap_ok(is_as(pool, 2, 7, MACHINE_PART), "renewals of its offer keep the word of a machine");
    role_restart(pool);
    tap_ok(!knows(pool, 2, 7, &view), "a matchmaker that begins anew knows none");
    pool_free(pool, "renewals");
}

/* The offer is renewed for a lifetime, in that version. */
static void lives_on(struct pool *pool, uint64_t version)
{
    put(pool, (struct put){.from = 2, .id = 7, .version = version}, MACHINE);
    for (int i = 0; i < 3; i++) {
        pass(pool, LIFETIME / 3);
        put(pool, (struct put){.from = 2, .id = 7, .version = version, .bare = true}, NULL);
    }
}

static void an_older_program(void)
{
    struct pool *pool = pool_new();
    struct machine_view view;
    struct word word = {
        .from = 2, .id = 7, .version = LIFE + 6, .base = LIFE + 6, .state = MACHINE_PART, .ad = MACHINE, .told = TOLD};

    put(pool, (struct put){.from = 2, .id = 7, .version = LIFE + 3}, MACHINE);
    tell(pool, &word);
    lives_on(pool, LIFE + 9);
    tap_ok(is_as(pool, 2, 7, MACHINE_PART), "within one life of its agent renewals keep the word of a machine");
    word.version = word.base = 2 * LIFE + 1;
    tell(pool, &word);
    lives_on(pool, 2 * LIFE + 1);
    lives_on(pool, 2 * LIFE + 2);
    tap_ok(is_as(pool, 2, 7, MACHINE_PART),
           "in the next as well, when it has told how it stands there, before its offer");
    put(pool, (struct put){.from = 2, .id = 7, .version = 3 * LIFE + 1}, MACHINE);
    word.version = word.base = 3 * LIFE + 1;
    tell(pool, &word);
    lives_on(pool, 3 * LIFE + 2);
    tap_ok(is_as(pool, 2, 7, MACHINE_PART), "or after it");
    put(pool, (struct put){.from = 2, .id = 7, .version = 4 * LIFE + 1},
        "[ Type = \"Machine\"; Cpus = 5; Constraint = true ]");
    pass(pool, LIFETIME / 3);
    put(pool, (struct put){.from = 2, .id = 7, .version = 4 * LIFE + 1, .bare = true}, NULL);
    tap_ok(is_as(pool, 2, 7, MACHINE_PART), "a machine that begins anew has its time to tell");
    for (int i = 0; i < 2; i++) {
        pass(pool, LIFETIME / 3);
        put(pool, (struct put){.from = 2, .id = 7, .version = 4 * LIFE + 1, .bare = true}, NULL);
    }
    tap_ok(knows(pool, 2, 7, &view) && view.state == MACHINE_IDLE && !view.told &&
               ad_says(pool, view.whole, "Cpus == 5"),
           "if an older program runs there, which tells nothing, its offer is its record within a lifetime");
    withdraw(pool, 2, 7, 4 * LIFE + 2);
    tap_ok(!knows(pool, 2, 7, &view), "and goes with it");
    pool_free(pool, "an older program");
}

static void gone_for_good(void)
{
    struct pool *pool = pool_new();
    struct machine_view view;
    struct word word = {.from = 2, .id = 7, .version = 5, .base = 5, .state = MACHINE_BUSY, .ad = MACHINE};

    tell(pool, &word);
    put(pool, (struct put){.from = 2, .id = 7, .version = 1}, MACHINE);
    tell(pool, &(struct word){.from = 2, .id = 7, .version = 6, .gone = true});
    tap_ok(tell(pool, &word) == REASON_STALE && !knows(pool, 2, 7, &view),
           "a machine that is gone does not come back by a word that is older");
    put(pool, (struct put){.from = 2, .id = 7, .version = 1, .bare = true}, NULL);
    tap_ok(!knows(pool, 2, 7, &view), "nor by a renewal of its offer that comes late");
    tell(pool, &(struct word){.from = 2, .id = 7, .version = 4, .gone = true});
    tap_ok(tell(pool, &word) == REASON_STALE && !knows(pool, 2, 7, &view), "whatever else is said late");
    word.from = 3;
    tap_ok(tell(pool, &word) == REASON_OK && is_as(pool, 3, 7, MACHINE_BUSY),
           "which is nothing to that of another agent");
    word = (struct word){.from = 2, .id = 8, .version = 5, .base = 5, .ad = MACHINE};
    tell(pool, &(struct word){.from = 2, .id = 8, .version = 6, .gone = true});
    tap_ok(tell(pool, &word) == REASON_STALE && !knows(pool, 2, 8, &view),
           "nor does one of which nothing but its end was heard");
    word.version = word.base = 7;
    tap_ok(tell(pool, &word) == REASON_OK && knows(pool, 2, 8, &view), "a later word brings it back");
    tell(pool, &(struct word){.from = 2, .id = 8, .version = 8, .gone = true});
    for (uint64_t id = 100; id < 100 + MACHINES_GONE_MAX; id++)
        tell(pool, &(struct word){.from = 2, .id = id, .version = 8, .gone = true});
    word = (struct word){.from = 2, .id = 100, .version = 7, .base = 7, .ad = MACHINE};
    tap_ok(tell(pool, &word) == REASON_STALE, "of many that are gone the latest are remembered");
    pass(pool, LIFETIME + SECOND);
    put(pool, (struct put){.from = 2, .id = 7, .version = 2}, MACHINE);
    tap_ok(is_as(pool, 2, 7, MACHINE_IDLE), "and after a lifetime its offer counts again");
    pool_free(pool, "gone");
}

static void reports_keep_it(void)
{
    struct pool *pool = pool_new();

    tell(pool, &(struct word){
                   .from = 2, .id = 7, .version = 6, .base = 6, .state = MACHINE_BUSY, .ad = MACHINE, .told = TOLD});
    for (int i = 0; i < 60; i++) {
        pass(pool, LIFETIME / 15);
        report(pool, 2, 500, "carol", SECOND, false); /* of offer 7 */
        report(pool, 3, 501, "carol", SECOND, false); /* of another agent's */
    }
    tap_ok(is_as(pool, 2, 7, MACHINE_BUSY), "reports of its claims keep the word of a machine");
    report(pool, 2, 500, "carol", SECOND, true);
    for (int i = 0; i < 20; i++) {
        pass(pool, LIFETIME / 15);
        report(pool, 3, 501, "carol", SECOND, false);
    }
    tap_ok(is_as(pool, 2, 7, MACHINE_AWAY), "but not those of another's");
    report(pool, 2, 500, "carol", SECOND, false);
    tap_ok(is_as(pool, 2, 7, MACHINE_AWAY), "and a machine that is away comes back by its own word only");
    pool_free(pool, "reports");
}

/* --------------------------------------------------------------------------------------------------------- limits */

static void limits(void)
{
    struct pool *pool = pool_new();
    struct machine_view view;
    uint32_t away = 0;

    pool->settings.ads_max = 5;
    role_restart(pool);
    for (uint64_t id = 1; id <= 5; id++)
        tell(pool, &(struct word){.from = 2, .id = id, .version = 1, .base = 1, .ad = MACHINE});
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 6, .version = 1, .base = 1, .ad = MACHINE}) == REASON_LIMIT &&
               matchmaker_machines(pool->role) == 5,
           "an agent has no more records than it may have ads");
    tap_ok(
        tell(pool, &(struct word){.from = 9, .id = 6, .version = 1, .base = 1, .identity = "alice", .ad = MACHINE}) ==
            REASON_LIMIT,
        "nor have all agents of its account together");
    tap_ok(tell(pool, &(struct word){.from = 3, .id = 6, .version = 1, .base = 1, .ad = MACHINE}) == REASON_OK,
           "which is nothing to another");
    put(pool, (struct put){.from = 2, .id = 9, .version = 1}, MACHINE);
    tap_ok(!knows(pool, 2, 9, &view) && look(pool, 2, 9).ad, "an offer beyond that is an offer, without a record");
    tell(pool, &(struct word){.from = 2, .id = 5, .version = 2, .gone = true});
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 6, .version = 1, .base = 1, .ad = MACHINE}) == REASON_OK,
           "one that is gone makes room");
    pool_drop(pool);

    pool = pool_new();
    pool->settings.ads_max = 30000;
    role_restart(pool);
    pool->fault = "the books are not looked at at each step";
    for (agent who = 10; who < 13; who++) /* of one account */
        for (uint64_t id = 0; id < 7000; id++)
            tell(pool, &(struct word){
                           .from = who, .id = id, .version = 1, .base = 1, .identity = "lab", .ad = "[ Cpus = 1 ]"});
    tap_ok(matchmaker_machines(pool->role) == 21000, "an account may have many machines");
    pass(pool, LIFETIME - SECOND);
    pool->fault = NULL;
    pass(pool, 2 * SECOND);
    for (uint32_t from = 0; matchmaker_next_machine(pool->role, from, &view, &from);)
        away += view.state == MACHINE_AWAY;
    tap_ok(away == MACHINES_AWAY_MAX && matchmaker_machines(pool->role) == MACHINES_AWAY_MAX,
           "but no more than %d that are away are remembered", MACHINES_AWAY_MAX);
    pool_free(pool, "limits");
}

/* Timers of records that come and go, or whose lifetimes shrink, are bounded: otherwise an agent could fill the memory with them. */
static void timers_are_bounded(void)
{
    struct pool *pool = pool_new();
    struct machine_view view;
    char ad[80];

    for (int i = 0; i < 5000; i++) {
        snprintf(ad, sizeof ad, "[ Lifetime = %d ]", 86000 - i);
        tell(pool, &(struct word){.from = 2, .id = 7, .version = 2, .base = 2, .state = MACHINE_BUSY, .ad = ad});
    }
    for (int i = 0; i < 5000; i++) {
        tell(pool, &(struct word){.from = 2, .id = 7, .version = 2, .gone = true});
        snprintf(ad, sizeof ad, "[ Lifetime = %d ]", 80000 - i);
        tell(pool, &(struct word){.from = 2, .id = 7, .version = 2, .base = 2, .state = MACHINE_BUSY, .ad = ad});
    }
    tap_ok(is_as(pool, 2, 7, MACHINE_BUSY), "a machine that changes its lifetime all the time is known");
    pass(pool, 23 * HOUR + 59 * MINUTE);
    tap_ok(is_as(pool, 2, 7, MACHINE_AWAY), "and is away in the end");
    pass(pool, 25 * HOUR);
    tap_ok(!knows(pool, 2, 7, &view), "and forgotten");
    pool_free(pool, "timers");
}

/* --------------------------------------------------------------------------------------------------------- hostile */

static void hostile_words(void)
{
    static const struct {
        struct word word;
        enum reason reason;
        const char *sentence;
    } rows[] = {
        {{.state = MACHINE_AWAY, .ad = MACHINE}, REASON_INVALID, "only a matchmaker says that a machine is away"},
        {{.state = MACHINE_STATE_COUNT, .ad = MACHINE}, REASON_INVALID, "a state that there is not is refused"},
        {{.state = UINT64_MAX, .ad = MACHINE}, REASON_INVALID, "so is one far beyond"},
        {{.state = UINT64_C(1) << 32, .ad = MACHINE}, REASON_INVALID, "and one that would be Idle if it were cut"},
        {{.ad = MACHINE, .told = "3"}, REASON_INVALID, "what is told beside the ad must be an ad"},
        {{.ad = MACHINE, .told = "{ [ Used = 1 ] }"}, REASON_INVALID, "and no list"},
        {{.ad = "{ 1, 2 }"}, REASON_INVALID, "the ad of a machine must be one"},
        {{.ad = "[ Owner = \"bob\" ]"}, REASON_IDENTITY, "nobody tells of another's machine"},
        {{.ad = "[ Owner = 3 ]"}, REASON_INVALID, "nor of one whose owner is a number"},
        {{.ad = "[ Lifetime = \"long\" ]"}, REASON_INVALID, "a lifetime is a number"},
        {{.ad = "[ Lifetime = -1 ]"}, REASON_INVALID, "and not before it began"},
        {{.ad = "[ Count = 9223372036854775807 ]"}, REASON_LIMIT, "nobody is as many as that"},
        {{.ad = "[ Residual = 3 ]"}, REASON_INVALID, "what would be refused as an offer is refused here"},
        {{.ad = "[ UserPrio = 1 ]"}, REASON_INVALID, "also what only the matchmaker writes"},
    };
    struct pool *pool = pool_new();
    struct machine_view view;
    struct word word;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        word = rows[i].word;
        word.from = 2;
        word.id = 7;
        word.version = word.base = 5;
        tap_ok(tell(pool, &word) == rows[i].reason && !knows(pool, 2, 7, &view), "%s", rows[i].sentence);
    }
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 7, .ad = MACHINE}) == REASON_INVALID,
           "a word without a version is none");
    tap_ok(tell(pool, &(struct word){.from = 0, .id = 7, .version = 1, .ad = MACHINE}) == REASON_IDENTITY,
           "nor is one of nobody");
    pool_free(pool, "hostile words");
}

static void hostile_numbers(void)
{
    static const int64_t numbers[] = {INT64_MIN,         INT64_MIN + 1, -SECOND,       -1,       0, 1,
                                      INT64_MAX / 2 - 1, INT64_MAX / 2, INT64_MAX - 1, INT64_MAX};
    struct pool *pool = pool_new();
    struct machine_view view;
    uint64_t version = 1;
    bool good = true;

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
            good = good &&
                   tell(pool,
                        &(struct word){.from = 2,
                                       .id = UINT64_MAX,
                                       .version = ++version,
                                       .base = UINT64_MAX,
                                       .state = MACHINE_OWNER,
                                       .since = numbers[i],
                                       .until = numbers[k],
                                       .ad = MACHINE,
                                       .told = "[ Used = [ Cpus = 1.0e308 ]; Claims = 3; Words = { }; More = -1 ]"}) ==
                       REASON_OK;
            good =
                good && knows(pool, 2, UINT64_MAX, &view) && view.since <= pool->env.now && view.until >= pool->env.now;
        }
    tap_ok(good, "spans may be as long, and as negative, as they like: a state began in the past, and ends later");
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 7, .version = UINT64_MAX, .base = UINT64_MAX, .ad = MACHINE}) ==
                   REASON_OK &&
               tell(pool, &(struct word){.from = 2, .id = 7, .version = UINT64_MAX - 1, .ad = MACHINE}) == REASON_STALE,
           "there is a last version, and who uses it up is not heard any more");
    pass(pool, 26 * HOUR);
    tap_ok(matchmaker_machines(pool->role) == 0, "until it is forgotten");
    pool_free(pool, "hostile numbers");
}

static void large_words(void)
{
    struct pool *pool = pool_new();
    size_t room = 600000, len = 0;
    char *text = malloc(room);
    struct machine_view view;
    uint32_t taken = 0;

    len += (size_t)snprintf(text, room, "[ Claims = { 0");
    for (int i = 0; i < MACHINES_TOLD_CELLS; i++)
        len += (size_t)snprintf(text + len, room - len, ", %d", i);
    snprintf(text + len, room - len, " } ]");
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 7, .version = 1, .base = 1, .ad = MACHINE, .told = text}) ==
               REASON_INVALID,
           "what is told beside the ad is bounded in its parts");
    memset(text, 'x', room);
    memcpy(text, "[ Words = \"", 11);
    memcpy(text + MACHINES_TOLD_BYTES + 100, "\" ]", 4);
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 7, .version = 1, .base = 1, .ad = MACHINE, .told = text}) ==
                   REASON_INVALID &&
               !knows(pool, 2, 7, &view),
           "and in its bytes");
    memcpy(text + MACHINES_TOLD_BYTES - 1000, "\" ]", 4);
    for (uint64_t id = 0; id < 300; id++)
        taken +=
            tell(pool, &(struct word){.from = 2, .id = id, .version = 1, .base = 1, .ad = MACHINE, .told = text}) ==
            REASON_OK;
    tap_ok(taken > 200 && taken < 257, "an agent's words together are bounded as its ads are: %u were taken", taken);
    tell(pool, &(struct word){.from = 2, .id = 0, .version = 2, .gone = true});
    tell(pool, &(struct word){.from = 2, .id = 1, .version = 2, .gone = true});
    tap_ok(tell(pool, &(struct word){.from = 2, .id = 299, .version = 1, .base = 1, .ad = MACHINE, .told = text}) ==
               REASON_OK,
           "and those of machines that are gone do not count");
    free(text);
    pool_free(pool, "large words");
}

/* Offers expire and leave their records behind: one agent after another of them fills no more than its offers may. */
static void large_offers(void)
{
    struct pool *pool = pool_new();
    size_t room = 1u << 20;
    char *text = malloc(room + 1);
    uint64_t bytes;

    memset(text, 'x', room);
    memcpy(text, "[ Lifetime = 2; Words = \"", 25);
    memcpy(text + room - 3, "\" ]", 4);
    for (uint64_t id = 0; id < 160; id++) {
        put(pool, (struct put){.from = 2, .id = id, .version = 1}, text);
        if (id % 40 == 39)
            pass(pool, 3 * SECOND);
    }
    bytes = matchmaker_machine_bytes(pool->role);
    tap_ok(bytes > 50u << 20 && bytes < COLLECTOR_BYTES_MAX + (2u << 20),
           "what is remembered of offers that have expired is bounded as offers are: %llu bytes",
           (unsigned long long)bytes);
    put(pool, (struct put){.from = 3, .id = 1, .version = 1}, text);
    tap_ok(is_as(pool, 3, 1, MACHINE_IDLE), "which is nothing to another");
    for (agent who = 10; who < 20; who++) /* of one account */
        for (uint64_t id = 0; id < 8; id++)
            put(pool, (struct put){.from = who, .id = id, .version = 1}, text);
    tap_ok(matchmaker_machine_bytes(pool->role) < 2 * COLLECTOR_BYTES_MAX + (4u << 20) &&
               is_as(pool, 10, 0, MACHINE_IDLE) && !is_as(pool, 19, 7, MACHINE_IDLE),
           "and so are those of all agents of an account together");
    free(text);
    pool_free(pool, "large offers");
}

/* ------------------------------------------------------------------------------------------- nothing is matched by it */

/* Two matchmakers hear the same ads; one of them also words of machines, true, false and mad. Both must say and write the same, byte for byte. */
struct twins {
    struct pool *pools[2];
    struct rng rng;
    uint64_t versions[64];
    uint64_t words, taken;
};

static bool twins_agree(const struct twins *twins)
{
    const struct pool *a = twins->pools[0], *b = twins->pools[1];

    if (a->sent_count != b->sent_count || a->row_count != b->row_count ||
        matchmaker_counts(a->role).matches != matchmaker_counts(b->role).matches)
        return false;
    for (uint32_t i = 0; i < a->sent_count; i++)
        if (a->sent[i].to != b->sent[i].to || a->sent[i].message.kind != b->sent[i].message.kind ||
            a->sent[i].message.u.match_told.claim != b->sent[i].message.u.match_told.claim ||
            a->sent[i].message.u.match_told.id != b->sent[i].message.u.match_told.id ||
            a->sent[i].message.u.match_told.number != b->sent[i].message.u.match_told.number)
            return false;
    return true;
}

static void twins_word(struct twins *twins)
{
    static const char *const ads[] = {MACHINE,
                                      SHARED,
                                      "[ Type = \"Machine\"; Cpus = 1000; Constraint = true; Rank = 100 ]",
                                      JOB,
                                      "[ Type = \"Machine\"; Owner = \"carol\" ]",
                                      NULL};
    struct word word = {.from = (agent)2 + rng_below(&twins->rng, 3),
                        .id = rng_below(&twins->rng, 8),
                        .version = 20 + twins->words - rng_below(&twins->rng, 20),
                        .base = rng_below(&twins->rng, 3),
                        .state = rng_below(&twins->rng, MACHINE_STATE_COUNT + 1),
                        .pulls = rng_below(&twins->rng, 2),
                        .gone = rng_below(&twins->rng, 10) == 0,
                        .any = rng_below(&twins->rng, 2),
                        .ad = ads[rng_below(&twins->rng, 6)],
                        .told = rng_below(&twins->rng, 2) ? TOLD : NULL};

    twins->words++;
    twins->taken += tell(twins->pools[1], &word) == REASON_OK;
}

/* The same event for both; returns the answer's reason of the first. */
static void twins_event(struct twins *twins)
{
    agent from = 2 + rng_below(&twins->rng, 3);
    uint64_t id = rng_below(&twins->rng, 8), what = rng_below(&twins->rng, 10),
             span = rng_below(&twins->rng, 4) * 20 * SECOND + CYCLE;
    static const char *const offers[] = {MACHINE, SHARED}, *const requests[] = {JOB, JOBS(3), LONELY};
    const char *offer = offers[rng_below(&twins->rng, 2)], *request = requests[rng_below(&twins->rng, 3)];
    uint64_t version = ++twins->versions[id + 8 * (from - 2)];

    for (int i = 0; i < 2; i++) {
        struct pool *pool = twins->pools[i];

        if (what < 3)
            put(pool, (struct put){.from = from, .id = id, .version = version}, offer);
        else if (what < 5)
            put(pool, (struct put){.from = from, .id = id + 8, .version = version, .request = true}, request);
        else if (what < 6)
            put(pool, (struct put){.from = from, .id = id, .version = version, .bare = true}, NULL);
        else if (what < 7)
            withdraw(pool, from, id, version);
        else if (what < 8)
            answer_all(pool);
        else
            pass(pool, (int64_t)span);
    }
}

static void nothing_is_matched_by_records(void)
{
    struct twins twins = {.pools = {pool_new(), pool_new()}};
    bool agree = true;

    rng_init(&twins.rng, 4711);
    for (int i = 0; i < 6000 && agree; i++) {
        if (rng_below(&twins.rng, 2))
            twins_word(&twins);
        else
            twins_event(&twins);
        agree = twins_agree(&twins);
    }
    tap_ok(
        agree && matches(twins.pools[0]) > 100 && twins.taken > 500,
        "with and without records the same is matched, told and written: %u matches, %u words of which %u were taken",
        (unsigned)matches(twins.pools[0]), (unsigned)twins.words, (unsigned)twins.taken);
    pool_free(twins.pools[0], "without records");
    pool_free(twins.pools[1], "with records");
}

/* --------------------------------------------------------------------------------------------------------- planted */

#ifdef BERTH_MUTANTS
static bool gone_is_forgotten(void)
{
    struct pool *pool = pool_new();
    struct machine_view view;
    bool good;

    tell(pool, &(struct word){.from = 2, .id = 7, .version = 1, .base = 1, .ad = MACHINE});
    tell(pool, &(struct word){.from = 2, .id = 7, .version = 2, .gone = true});
    good = !knows(pool, 2, 7, &view);
    pool_drop(pool);
    return good;
}

static bool old_is_refused(void)
{
    struct pool *pool = pool_new();
    bool good;

    tell(pool, &(struct word){.from = 2, .id = 7, .version = 2, .base = 1, .state = MACHINE_BUSY, .ad = MACHINE});
    tell(pool, &(struct word){.from = 2, .id = 7, .version = 1, .base = 1, .state = MACHINE_IDLE, .ad = MACHINE});
    good = is_as(pool, 2, 7, MACHINE_BUSY);
    pool_drop(pool);
    return good;
}

static bool gone_stays_gone(void)
{
    struct pool *pool = pool_new();
    struct machine_view view;
    bool good;

    tell(pool, &(struct word){.from = 2, .id = 7, .version = 5, .gone = true});
    tell(pool, &(struct word){.from = 2, .id = 7, .version = 4, .base = 4, .ad = MACHINE});
    good = !knows(pool, 2, 7, &view);
    pool_drop(pool);
    return good;
}

static bool offer_counts_again(void)
{
    struct pool *pool = pool_new();
    bool good;

    put(pool, (struct put){.from = 2, .id = 7, .version = LIFE + 1}, MACHINE);
    tell(pool, &(struct word){
                   .from = 2, .id = 7, .version = LIFE + 1, .base = LIFE + 1, .state = MACHINE_PART, .ad = MACHINE});
    lives_on(pool, 2 * LIFE + 1);
    good = is_as(pool, 2, 7, MACHINE_IDLE);
    pool_drop(pool);
    return good;
}

static bool away_is_told(void)
{
    struct pool *pool = pool_new();
    bool good;

    tell(pool, &(struct word){.from = 2, .id = 7, .version = 2, .base = 1, .state = MACHINE_BUSY, .ad = MACHINE});
    pass(pool, LIFETIME + SECOND);
    good = is_as(pool, 2, 7, MACHINE_AWAY);
    pool_drop(pool);
    return good;
}

static void plants_are_found(void)
{
    static const struct {
        enum mutant mutant;
        bool (*good)(void);
        const char *words;
    } rows[] = {{MUTANT_GONE_KEPT, gone_is_forgotten, "a machine that is gone is remembered"},
                {MUTANT_GONE_REVIVED, gone_stays_gone, "a machine that is gone comes back by an older word"},
                {MUTANT_WORD_OUTLIVES, offer_counts_again, "the word of a machine outlives the program that told it"},
                {MUTANT_STANDS_OLD, old_is_refused, "an older word of a machine replaces a newer one"},
                {MUTANT_AWAY_FITS, away_is_told, "a machine that is away is told as it last stood"}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool clean = rows[i].good(), planted;

        mutant_now = rows[i].mutant;
        planted = rows[i].good();
        mutant_now = MUTANT_NONE;
        tap_ok(clean && !planted, "planted: %s: found", rows[i].words);
    }
}
#endif

int main(void)
{
#ifdef BERTH_MUTANTS
    plants_are_found();
#endif
    words_are_taken();
    offers_and_records();
    away_and_forgotten();
    renewals_keep_it();
    an_older_program();
    gone_for_good();
    reports_keep_it();
    limits();
    timers_are_bounded();
    hostile_words();
    hostile_numbers();
    large_words();
    large_offers();
    nothing_is_matched_by_records();
    return tap_done();
}
