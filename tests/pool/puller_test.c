/* puller_test.c: offers that ask the matchmaker for a request get one unit of the first that fits, once, however often they ask.
 *
 * The world here is a list of effects, as in matchmaker_world.h. */
#include "common/lang.h"
#include "common/tap.h"
#include "plain_secrets.h"

#include "pool/matchmaker/matchmaker.h"
#include "pool/protocol/ticket.h"

#include <stdlib.h>

#define SENT_MAX 256
#define MACHINE "[ Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\" ]"

struct pool {
    struct lang lang;
    struct rng chance, hidden;
    struct secrets secrets;
    struct role_env env;
    struct spans spans;
    struct matchmaker_settings settings;
    struct matchmaker *role;
    struct effects effects;
    struct message answer;
    struct {
        agent to;
        uint64_t token;
        uint32_t tag;
        struct message message;
    } sent[SENT_MAX];
    uint32_t sent_count;
    int64_t wake;
    uint64_t tokens, versions;
    const char *fault;
};

static void hand_over(struct pool *pool, const struct event *event)
{
    message_done(&pool->answer);
    matchmaker_role.step(pool->role, &pool->env, event, &pool->effects);
    arena_reset(&pool->lang.arena);
    for (uint32_t i = 0; i < pool->effects.count; i++) {
        const struct effect *effect = &pool->effects.items[i];

        if (effect->kind == EFFECT_SEND && pool->sent_count < SENT_MAX) {
            pool->sent[pool->sent_count].to = effect->to;
            pool->sent[pool->sent_count].token = effect->token;
            pool->sent[pool->sent_count].tag = effect->tag;
            message_copy(&pool->sent[pool->sent_count++].message, &effect->message);
        } else if (effect->kind == EFFECT_REPLY) {
            message_copy(&pool->answer, &effect->message);
        } else if (effect->kind == EFFECT_WAKE) {
            pool->wake = effect->at;
        }
    }
    effects_reset(&pool->effects);
    if (!pool->fault)
        matchmaker_role.valid(pool->role, &pool->fault);
}

static struct pool *pool_sized(uint64_t slice, uint32_t ads_max)
{
    struct event booted = {.kind = EVENT_BOOTED};
    struct pool *pool = calloc(1, sizeof *pool);

    lang_init(&pool->lang);
    rng_init(&pool->chance, 1);
    rng_init(&pool->hidden, 2);
    pool->secrets = (struct secrets){&pool->hidden, plain_draw, plain_seal};
    pool->env = (struct role_env){.now = 1000 * SECOND,
                                  .wall = INT64_C(1800000000) * SECOND,
                                  .chance = &pool->chance,
                                  .secrets = &pool->secrets,
                                  .symbols = pool->lang.symbols,
                                  .scratch = &pool->lang.arena};
    pool->spans = spans_default;
    pool->settings = (struct matchmaker_settings){.self = 1, .spans = &pool->spans, .slice = slice, .ads_max = ads_max};
    effects_init(&pool->effects);
    pool->role = matchmaker_role.make(&pool->settings);
    pool->wake = INT64_MAX;
    hand_over(pool, &booted);
    return pool;
}

static struct pool *pool_new(uint64_t slice)
{
    return pool_sized(slice, 0);
}

static void pool_free(struct pool *pool, const char *what)
{
    if (!tap_ok(!pool->fault, "the books balanced all the time: %s", what))
        tap_diag("%s", pool->fault);
    matchmaker_role.free(pool->role);
    for (uint32_t i = 0; i < pool->sent_count; i++)
        message_done(&pool->sent[i].message);
    message_done(&pool->answer);
    effects_done(&pool->effects);
    lang_done(&pool->lang);
    free(pool);
}

static bool wake_once(struct pool *pool, int64_t end)
{
    struct event wake = {.kind = EVENT_WAKE};
    int64_t at = pool->wake > pool->env.now ? pool->wake : pool->env.now;

    if (pool->wake > end)
        return false;
    pool->env.wall += at - pool->env.now;
    pool->env.now = at;
    pool->wake = INT64_MAX;
    hand_over(pool, &wake);
    return true;
}

static void pass(struct pool *pool, int64_t span)
{
    int64_t end = pool->env.now + span;

    while (wake_once(pool, end))
        ;
    pool->env.wall += end - pool->env.now;
    pool->env.now = end;
}

static const struct message *say(struct pool *pool, agent from, const char *identity, struct message *message)
{
    struct peer peer = {.agent = from, .identity = identity, .channel = from};
    struct event event = {.kind = EVENT_MESSAGE, .token = ++pool->tokens, .peer = &peer, .message = message};

    hand_over(pool, &event);
    message_done(message);
    return &pool->answer;
}

static struct tree *ad_of(struct pool *pool, const char *text)
{
    struct err err = {0};
    struct tree *ad = lang_ad(&pool->lang, &dialect_classic, text, &err);

    if (!ad)
        printf("Bail out! %s: %s\n", text, err.text);
    return ad;
}

static void request(struct pool *pool, agent from, uint64_t id, const char *text)
{
    struct message message = {.kind = MESSAGE_ADVERTISE};

    message.u.advertise =
        (struct advertise){.id = id, .version = ++pool->versions, .request = true, .ad = ad_of(pool, text)};
    say(pool, from, from == 10 ? "alice" : "bob", &message);
}

/* The answer lives until the next event. */
static const struct pulled *pull_as(struct pool *pool, agent from, const char *identity, uint64_t id, uint64_t number,
                                    const char *text)
{
    static const struct pulled none = {.reason = REASON_COUNT};
    struct message message = {.kind = MESSAGE_PULL};

    message.u.pull = (struct pull){.id = id, .number = number, .key = {{5, 6}}, .ad = text ? ad_of(pool, text) : NULL};
    say(pool, from, identity, &message);
    return pool->answer.kind == MESSAGE_PULLED ? &pool->answer.u.pulled : &none;
}

static const struct pulled *pull(struct pool *pool, agent from, uint64_t number, const char *text)
{
    return pull_as(pool, from, "host", 7, number, text);
}

static uint32_t told(const struct pool *pool, agent to)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pool->sent_count; i++)
        count += pool->sent[i].to == to && pool->sent[i].message.kind == MESSAGE_MATCH;
    return count;
}

/* --------------------------------------------------------------------------------------------------------------- cases */

static void test_match(void)
{
    struct pool *pool = pool_new(0);
    struct key key = {{5, 6}}, ticket;
    const struct match_told *match;
    const struct pulled *got;
    struct pulled first;
    struct entry_view view;

    request(pool, 10, 1, "[ Type = \"Job\"; Count = 2; Constraint = other.Memory >= 64 ]");
    pass(pool, SECOND);
    got = pull(pool, 50, 1, MACHINE);
    tap_ok(got->reason == REASON_WAIT && got->span > 0 && got->span <= 2 * pool->spans.cycle,
           "a pull that reads of requests what nobody has read before is put off to the next cycle");
    pass(pool, SECOND);
    got = pull(pool, 50, 2, MACHINE);
    first = *got;
    tap_ok(got->reason == REASON_OK && got->superior == 10 && got->superior_ad && got->claim && got->gang &&
               got->window == pool->spans.window && got->incarnation == matchmaker_incarnation(pool->role),
           "who pulls is told of its superior, as a member is");
    tap_ok(told(pool, 10) == 1 && told(pool, 50) == 0, "the customer is told, and nobody else");
    match = &pool->sent[0].message.u.match_told;
    ticket_make(&pool->secrets, &key, 7, first.claim, first.gang, "alice", &ticket);
    tap_ok(match->edges && match->edges->count == 1 && match->edges->items[0].agent == 50 &&
               match->edges->items[0].offer == 7 && match->edges->items[0].claim == first.claim &&
               match->gang == first.gang && memcmp(&match->edges->items[0].ticket, &ticket, sizeof ticket) == 0,
           "with a ticket made with the pull's key");
    tap_ok(match->edges->items[0].ad && lang_show_tree(match->edges->items[0].ad) &&
               strstr(lang_show_tree(match->edges->items[0].ad), "Owner = \"host\""),
           "and with the ad, in which it is written whose it is");
    tap_ok(!matchmaker_find(pool->role, 50, 7, &view) && matchmaker_counts(pool->role).ads == 1,
           "the ad that pulled is not stored");
    matchmaker_find(pool->role, 10, 1, &view);
    tap_ok(view.free == 1 && view.outstanding == 1, "the request has one unit less");
    pass(pool, SECOND);
    got = pull(pool, 50, 2, MACHINE);
    tap_ok(got->reason == REASON_OK && got->claim == first.claim && got->gang == first.gang && got->age == SECOND,
           "the same pull again gets the same match, and is told how old it is");
    matchmaker_find(pool->role, 10, 1, &view);
    tap_ok(view.free == 1 && told(pool, 10) == 1, "and costs nothing");
    got = pull(pool, 50, 3, MACHINE);
    tap_ok(got->reason == REASON_OK && got->claim != first.claim, "another pull gets another unit");
    tap_ok(pull(pool, 50, 2, MACHINE)->reason == REASON_STALE && pool->answer.u.pulled.number == 3,
           "one that was long on its way is stale");
    tap_ok(pull(pool, 51, 1, MACHINE)->reason == REASON_WAIT, "when all units are given away nobody gets one");
    pass(pool, pool->spans.window);
    tap_ok(pull(pool, 50, 3, MACHINE)->reason == REASON_STALE, "after its window a match is not told again");
    pool_free(pool, "pulls");
}

static void test_refused(void)
{
    struct pool *pool = pool_new(0);

    request(pool, 10, 1, "[ Type = \"Job\"; Constraint = other.Memory >= 64 ]");
    pass(pool, SECOND);
    tap_ok(pull(pool, 50, 1, NULL)->reason == REASON_INVALID, "a pull without an ad is refused");
    tap_ok(pull(pool, 50, 1, "[ Memory = 64; Owner = \"alice\" ]")->reason == REASON_IDENTITY,
           "and one that says it is another's");
    pull(pool, 51, 1, MACHINE); /* what it reads is known then */
    pass(pool, SECOND);
    tap_ok(pull(pool, 50, 1, MACHINE)->reason == REASON_OK, "what was refused was no pull");
    tap_ok(pull(pool, 50, 0, MACHINE)->reason == REASON_WAIT && pool->answer.u.pulled.number == 2,
           "a pull without a number is the next one");
    pool_free(pool, "refusals");
}

static void test_wait(void)
{
    struct pool *pool = pool_new(0);
    int64_t spans[12], most = 0;

    request(pool, 10, 1, "[ Type = \"Job\"; Constraint = other.Memory >= 128 ]");
    request(pool, 10, 2, "[ Type = \"Job\"; Ports = { [ Label = \"a\"; Constraint = true ] } ]");
    pass(pool, SECOND);
    pull(pool, 51, 1, MACHINE);
    pass(pool, SECOND);
    for (uint64_t i = 0; i < 12; i++) {
        const struct pulled *got = pull(pool, 50, i + 1, MACHINE);

        spans[i] = got->reason == REASON_WAIT ? got->span : -1;
        most = spans[i] > most ? spans[i] : most;
        pass(pool, spans[i]);
    }
    tap_ok(spans[0] > 0 && spans[0] <= 2 * pool->spans.cycle, "who finds nothing may ask again soon");
    tap_ok(spans[11] >= SECOND / 2 && most <= 3 * SECOND / 2, "and then later and later, up to a second or so");
    tap_ok(told(pool, 10) == 0, "a request with ports is not for pulls");
    request(pool, 11, 3, "[ Type = \"Job\" ]");
    pass(pool, SECOND);
    tap_ok(pull(pool, 50, 20, MACHINE)->superior == 11, "a request that comes is found");
    pool_free(pool, "waiting");
}

#define NEVER "[ Type = \"Machine\"; Memory = 1; Constraint = other.Type == \"Job\" ]"

/* Ids cost nothing. */
static void test_flood(void)
{
    struct pool *pool = pool_sized(0, 100);
    uint32_t taken = 0, refused = 0;
    uint64_t claim;

    request(pool, 10, 1, "[ Type = \"Job\"; Count = 2; Constraint = other.Memory >= 32 ]");
    pass(pool, SECOND);
    pull(pool, 51, 1, NEVER); /* what it reads is known then */
    pass(pool, SECOND);
    claim = pull(pool, 50, 1, MACHINE)->claim;
    for (uint64_t id = 1; id <= 300; id++) {
        enum reason reason = pull_as(pool, 60 + id % 3, "mallory", id, 1, NEVER)->reason;

        taken += reason == REASON_WAIT;
        refused += reason == REASON_LIMIT;
    }
    tap_ok(taken == 100 && refused == 200, "an identity may have as many offers that pull as ads: %u of 300", taken);
    tap_ok(pull_as(pool, 61, "mallory", 1, 2, NEVER)->reason == REASON_WAIT, "those that are known may go on");
    tap_ok(pull_as(pool, 70, "mallory", 1, 1, NEVER)->reason == REASON_LIMIT, "another agent of it is no other");
    tap_ok(claim && pull(pool, 50, 1, MACHINE)->claim == claim && pull(pool, 52, 1, NEVER)->reason == REASON_WAIT,
           "to others that is nothing: what they were told is told again, and new ones are let in");
    pass(pool, pool->spans.lifetime);
    tap_ok(pull_as(pool, 70, "mallory", 1, 1, NEVER)->reason == REASON_WAIT,
           "those of whom nothing was heard for a lifetime have made room");
    pool_free(pool, "a flood");
}

/* The longest that an offer which asks in vain again and again is told to wait. */
static int64_t longest_wait(struct pool *pool, agent from)
{
    int64_t most = 0;

    for (uint64_t i = 1; i <= 16; i++) {
        int64_t span = pull(pool, from, i, NEVER)->span;

        most = span > most ? span : most;
    }
    return most;
}

static void test_crowd_goes(void)
{
    struct pool *pool = pool_sized(0, 100000);
    int64_t alone, crowded, claimed, again;

    request(pool, 10, 1, "[ Type = \"Job\"; Count = 3000; Constraint = other.Memory >= 32 ]");
    pass(pool, SECOND);
    pull(pool, 51, 1, NEVER); /* what it reads is known then */
    pass(pool, SECOND);
    alone = longest_wait(pool, 51);
    for (uint64_t id = 1; id <= 6000; id++)
        pull_as(pool, 60, "crowd", id, 1, NEVER);
    crowded = longest_wait(pool, 52);
    for (uint64_t id = 1; id <= 3000; id++)
        pull_as(pool, 60, "crowd", id, 2, MACHINE);
    claimed = longest_wait(pool, 53);
    pass(pool, pool->spans.lifetime);
    again = longest_wait(pool, 54);
    tap_ok(alone <= 3 * SECOND / 2 && crowded > 2 * SECOND && crowded <= 9 * SECOND / 2,
           "when very many pull in vain each waits longer: %d ms", (int)(crowded / MILLISECOND));
    tap_ok(claimed > SECOND && claimed <= 9 * SECOND / 4, "those who have got something are not counted: %d ms",
           (int)(claimed / MILLISECOND));
    tap_ok(again <= 3 * SECOND / 2, "nor are those who have gone: %d ms", (int)(again / MILLISECOND));
    pool_free(pool, "a crowd");
}

static void order_take(struct pool *pool, const char *policy)
{
    struct tree *ad = ad_of(pool, policy);
    struct event event = {.kind = EVENT_POLICY, .ad = ad};

    hand_over(pool, &event);
    tree_unref(ad);
    pass(pool, SECOND);
}

/* Four requests, of which each order has its own first. */
static uint64_t order_first(const char *policy)
{
    struct pool *pool = pool_new(0);
    struct event factor = {.kind = EVENT_FACTOR, .user = "alice", .factor = 1000};
    const struct pulled *got;
    uint64_t first;

    hand_over(pool, &factor);
    request(pool, 10, 1, "[ Type = \"Job\"; Size = 1 ]");
    request(pool, 10, 2, "[ Type = \"Job\"; Size = 9 ]");
    request(pool, 10, 3, "[ Type = \"Job\"; Size = 2; Priority = 5 ]");
    request(pool, 11, 4, "[ Type = \"Job\"; Size = 3 ]");
    order_take(pool, policy);
    for (uint64_t number = 1; number < 3; number++) {
        got = pull(pool, 50, number, "[ Memory = 64; Rank = other.Size; Constraint = other.Type == \"Job\" ]");
        if (got->reason != REASON_WAIT) /* it reads what nobody did */
            break;
        pass(pool, SECOND);
    }
    first = got->reason == REASON_OK && pool->sent_count ? pool->sent[0].message.u.match_told.id : 0;
    pool_free(pool, policy);
    return first;
}

static void test_orders(void)
{
    tap_ok(order_first("[ ]") == 4, "by default the user with the better priority is first");
    tap_ok(order_first("[ PullOrder = \"fair\" ]") == 4, "that is called fair");
    tap_ok(order_first("[ PullOrder = \"best-fit\" ]") == 2, "best-fit: the one that the offer ranks highest");
    tap_ok(order_first("[ PullOrder = \"starving\" ]") == 1, "starving: the one that came first");
    tap_ok(order_first("[ PullOrder = \"priority\" ]") == 3, "priority: the one with the largest Priority of its own");
    tap_ok(order_first("[ RootOrder = 10 - Size ]") == 1,
           "a policy's RootOrder comes in the place of users' priorities");
}

/* While a cycle is under way. */
static void test_slices(void)
{
    struct pool *pool = pool_new(1);
    uint32_t got = 0, within = 0;
    char text[100];

    for (uint64_t i = 0; i < 60; i++) {
        snprintf(text, sizeof text, "[ Type = \"Job\"; N = %d; Constraint = other.Memory >= %d ]", (int)i, (int)i);
        request(pool, 10, 100 + i, text);
    }
    pass(pool, SECOND);
    pull(pool, 51, 1, MACHINE);
    pass(pool, SECOND);
    for (uint64_t number = 1; number <= 60; number++) {
        request(pool, 10, 1000 + number, "[ Type = \"Job\"; Constraint = other.Memory >= 1000 ]");
        wake_once(pool, INT64_MAX - 1); /* a cycle begins */
        within += matchmaker_counts(pool->role).in_cycle;
        got += pull(pool, 50, number, MACHINE)->reason == REASON_OK;
    }
    tap_ok(within > 50 && got == 60, "pulls are answered between the slices of a cycle: %u of 60, %u within", got,
           within);
    tap_ok(matchmaker_counts(pool->role).matches == 60, "and counted");
    pool_free(pool, "slices");
}

int main(void)
{
    test_match();
    test_refused();
    test_wait();
    test_flood();
    test_crowd_goes();
    test_orders();
    test_slices();
    return tap_done();
}
