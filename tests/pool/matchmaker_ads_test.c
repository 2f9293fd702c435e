/* matchmaker_ads_test.c: ads are kept by their versions, renewed, refused, and forgotten in time. */
#include "matchmaker_world.h"

#include <time.h>

/* --------------------------------------------------------------------------------------------------------- versions */

static void versions_rise(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 5, .id = 7, .version = 3};
    struct advertised answer = put(pool, ad, MACHINE);

    tap_ok(answer.reason == REASON_OK && answer.id == 7 && answer.version == 3 &&
               answer.incarnation == matchmaker_incarnation(pool->role) && answer.incarnation,
           "an ad that comes is answered with its version and the matchmaker's incarnation");
    ad.version = 2;
    answer = put(pool, ad, "[ Type = \"Old\" ]");
    tap_ok(answer.reason == REASON_STALE && answer.version == 3 &&
               ad_says(pool, look(pool, 5, 7).ad, "Type == \"Machine\""),
           "an older text is stale, changes nothing, and hears the version that holds");
    ad.version = 3;
    answer = put(pool, ad, MACHINE);
    tap_ok(answer.reason == REASON_OK, "a text of the same version is a repeat");
    ad.version = 4;
    answer = put(pool, ad, "[ Type = \"New\" ]");
    tap_ok(answer.reason == REASON_OK && ad_says(pool, look(pool, 5, 7).ad, "Type == \"New\""),
           "a newer text replaces the one before");
    tap_ok(withdraw(pool, 5, 7, 3) == REASON_STALE && look(pool, 5, 7).ad, "an older withdrawal is stale");
    tap_ok(withdraw(pool, 5, 7, 5) == REASON_OK && !look(pool, 5, 7).ad, "a withdrawal takes the ad away");
    tap_ok(withdraw(pool, 5, 7, 5) == REASON_OK, "a withdrawal may be repeated");
    tap_ok(put(pool, ad, MACHINE).reason == REASON_STALE && !look(pool, 5, 7).ad,
           "a text that was on its way when its ad was withdrawn does not bring it back");
    ad.version = 5;
    tap_ok(put(pool, ad, MACHINE).reason == REASON_STALE, "nor does one of the withdrawal's own version");
    ad.version = 6;
    tap_ok(put(pool, ad, MACHINE).reason == REASON_OK, "a newer one does");
    tap_ok(withdraw(pool, 5, 99, 4) == REASON_OK, "what is not there may be withdrawn");
    ad = (struct put){.from = 5, .id = 99, .version = 4};
    tap_ok(put(pool, ad, MACHINE).reason == REASON_STALE, "and its text may come later than that");
    pass(pool, 2 * pool->spans.lifetime);
    tap_ok(put(pool, ad, MACHINE).reason == REASON_OK, "after a lifetime nothing is remembered");
    pool_free(pool, "versions");
}

static void agents_are_apart(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 5, .id = 7, .version = 3};

    put(pool, ad, MACHINE);
    tap_ok(withdraw(pool, 6, 7, 9) == REASON_OK && look(pool, 5, 7).ad, "nobody can withdraw another agent's ad");
    ad = (struct put){.from = 6, .id = 7, .version = 10};
    tap_ok(put(pool, ad, "[ Type = \"Mine\" ]").reason == REASON_OK &&
               ad_says(pool, look(pool, 5, 7).ad, "Type == \"Machine\"") &&
               ad_says(pool, look(pool, 6, 7).ad, "Type == \"Mine\""),
           "the same id of two agents is two ads");
    pool_free(pool, "agents");
}

/* --------------------------------------------------------------------------------------------------------- renewals */

static void renewals_are_bare(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 5, .id = 7, .version = 3, .bare = true};
    struct advertised answer;

    tap_ok(put(pool, ad, NULL).reason == REASON_BODY, "a renewal of nothing asks for the text");
    ad.bare = false;
    put(pool, ad, MACHINE);
    ad.bare = true;
    pass(pool, pool->spans.lifetime - SECOND);
    answer = put(pool, ad, NULL);
    tap_ok(answer.reason == REASON_OK && answer.version == 3, "a renewal without text is enough");
    pass(pool, pool->spans.lifetime - SECOND);
    tap_ok(look(pool, 5, 7).ad, "a renewed ad lives on");
    ad.version = 4;
    tap_ok(put(pool, ad, NULL).reason == REASON_BODY, "a renewal of a newer version asks for the text");
    ad.version = 3;
    ad.seen = seen_of(pool, 1, 0);
    tap_ok(put(pool, ad, NULL).reason == REASON_BODY, "so does one whose sender has seen more than its text says");
    pass(pool, 2 * SECOND);
    tap_ok(!look(pool, 5, 7).ad, "what was not renewed is gone");
    ad.seen = (struct seen){0};
    tap_ok(put(pool, ad, NULL).reason == REASON_BODY, "an expired ad is not renewed without text");
    ad.bare = false;
    tap_ok(put(pool, ad, MACHINE).reason == REASON_OK, "but its text may come again");
    pool_free(pool, "renewals");
}

static void ads_expire(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 5, .id = 7, .version = 1};

    put(pool, ad, "[ Type = \"Machine\"; Lifetime = 2 ]");
    pass(pool, 2 * SECOND - 1);
    tap_ok(look(pool, 5, 7).ad, "an ad lives as long as it says");
    pass(pool, 1);
    tap_ok(!look(pool, 5, 7).ad, "and no longer");
    put(pool, ad, "[ Type = \"Machine\"; Lifetime = relTime(\"00:00:03\") ]");
    tap_ok(look(pool, 5, 7).expires == pool->env.now + 3 * SECOND, "a lifetime may be a relative time");
    ad.version++;
    put(pool, ad, "[ Type = \"Machine\"; Lifetime = 0.001 ]");
    tap_ok(look(pool, 5, 7).expires == pool->env.now + SECOND, "a lifetime is a second at least");
    ad.version++;
    put(pool, ad, "[ Type = \"Machine\"; Lifetime = 1e300 ]");
    tap_ok(look(pool, 5, 7).expires == pool->env.now + 24 * 60 * MINUTE, "and a day at most");
    ad.version++;
    put(pool, ad, "[ Type = \"Machine\"; Lifetime = 5 ]");
    /* a request comes in the very moment in which the offer goes */
    pool->env.now += 5 * SECOND;
    pool->env.wall += 5 * SECOND;
    put(pool, (struct put){.from = 2, .id = 1, .version = 1, .request = true}, JOB);
    pass(pool, SECOND);
    tap_ok(matches(pool) == 0, "an ad past its lifetime never matches, not even in its last moment");
    pool_free(pool, "expiry");
}

static void shrinking_lifetimes_end(void)
{
    struct pool *pool = pool_new();
    enum reason reason = REASON_OK;
    char text[64];
    int taken = 0;

    for (int i = 0; i < 100 && reason == REASON_OK; i++) {
        snprintf(text, sizeof text, "[ Lifetime = %d ]", 10000 - i);
        reason = put(pool, (struct put){.from = 5, .id = 7, .version = 1 + (uint64_t)i}, text).reason;
        taken += reason == REASON_OK;
    }
    tap_ok(reason == REASON_LIMIT && taken >= 8, "a lifetime may not shrink for ever");
    pass(pool, 10000 * SECOND);
    tap_ok(!look(pool, 5, 7).ad, "and the ad still ends");
    pool_free(pool, "shrinking lifetimes");
}

/* ------------------------------------------------------------------------------------------------------------ rules */

static void owners_are_proved(void)
{
    static const struct {
        const char *sentence, *text;
        bool any;
        enum reason reason;
    } rows[] = {
        {"an ad without an owner is taken", "[ Type = \"Job\" ]", false, REASON_OK},
        {"the owner may be written if it is the sender", "[ Owner = \"alice\" ]", false, REASON_OK},
        {"the owner may not be somebody else", "[ Owner = \"bob\" ]", false, REASON_IDENTITY},
        {"not even in another case", "[ Owner = \"ALICE\" ]", false, REASON_IDENTITY},
        {"unless the sender acts for all", "[ Owner = \"bob\" ]", true, REASON_OK},
        {"an owner is a string", "[ Owner = 3 ]", true, REASON_INVALID},
        {"an owner who depends on the counterpart is none", "[ Owner = other.Name ]", true, REASON_INVALID},
        {"the matchmaker's own names may not be set", "[ UserPrio = 1 ]", true, REASON_INVALID},
        {"in whatever case", "[ REMOTEUSERPRIO = 1 ]", false, REASON_INVALID},
        {"none of them", "[ Usage = 1 ]", false, REASON_INVALID},
        {"a count is an integer", "[ Count = 1.5 ]", false, REASON_INVALID},
        {"and not below 0", "[ Count = -1 ]", false, REASON_INVALID},
        {"nor is it without bounds", "[ Count = 1000000000001 ]", false, REASON_LIMIT},
        {"a lifetime is a time", "[ Lifetime = \"long\" ]", false, REASON_INVALID},
        {"above 0", "[ Lifetime = 0 ]", false, REASON_INVALID},
        {"and a number", "[ Lifetime = real(\"NaN\") ]", false, REASON_INVALID},
        {"a residual is written as an ad", "[ Residual = 3 ]", false, REASON_INVALID},
    };
    struct pool *pool = pool_new();

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct put ad = {.from = 2, .id = i, .version = 1, .request = true, .any = rows[i].any};
        enum reason reason = put(pool, ad, rows[i].text).reason;

        if (!tap_ok(reason == rows[i].reason && (reason == REASON_OK) == (look(pool, 2, i).ad != NULL), "%s",
                    rows[i].sentence))
            tap_diag("%s", reason_words(reason));
    }
    tap_ok(ad_says(pool, look(pool, 2, 0).ad, "Owner is \"alice\" && Identity is \"alice\" && Received is 1800000000"),
           "owner, identity and time of receipt are written by the server");
    put(pool, (struct put){.from = 2, .id = 50, .version = 1, .any = true},
        "[ Identity = \"root\"; Received = 1; Owner = strcat(\"b\", \"ob\") ]");
    tap_ok(ad_says(pool, look(pool, 2, 50).ad, "Owner is \"bob\" && Identity is \"alice\" && Received is 1800000000"),
           "whatever the ad says");
    pool_free(pool, "owners");
}

static void refusals_change_nothing(void)
{
    struct pool *pool = pool_new();
    struct put ad = {.from = 2, .id = 1, .version = 1, .request = true};

    put(pool, ad, JOBS(5));
    ad.version = 2;
    put(pool, ad, "[ Count = -3 ]");
    tap_ok(look(pool, 2, 1).version == 1 && look(pool, 2, 1).free == 5, "what is refused changes nothing");
    tap_ok(put(pool, ad, NULL).reason == REASON_INVALID && look(pool, 2, 1).version == 1, "a text must be there");
    pool_free(pool, "refusals");
}

/* Long ads: few of them fill what an agent may have. */
static void agents_have_so_many_bytes(void)
{
    struct pool *pool = pool_new();
    size_t len = 1u << 20;
    char *text = malloc(len + 64);
    uint64_t taken = 0;

    memcpy(text, "[ A = \"", 7);
    memset(text + 7, 'a', len);
    strcpy(text + 7 + len, "\" ]");
    while (taken < 100 && put(pool, (struct put){.from = 5, .id = taken, .version = 1}, text).reason == REASON_OK)
        taken++;
    tap_ok(taken == 63, "an agent's ads take so many bytes and no more");
    tap_ok(put(pool, (struct put){.from = 5, .id = 3, .version = 2}, text).reason == REASON_OK,
           "one may be replaced by another as long");
    withdraw(pool, 5, 3, 3);
    tap_ok(put(pool, (struct put){.from = 5, .id = 99, .version = 1}, text).reason == REASON_OK,
           "and what goes makes room");
    free(text);
    pool_free(pool, "long ads");
}

static void agents_have_limits(void)
{
    struct pool *pool = pool_new();

    matchmaker_role.free(pool->role);
    pool->settings.ads_max = 3;
    role_start(pool);
    for (uint64_t i = 0; i < 3; i++)
        put(pool, (struct put){.from = 5, .id = i, .version = 1}, MACHINE);
    tap_ok(put(pool, (struct put){.from = 5, .id = 9, .version = 1}, MACHINE).reason == REASON_LIMIT,
           "an agent has so many ads and no more");
    tap_ok(put(pool, (struct put){.from = 6, .id = 9, .version = 1}, MACHINE).reason == REASON_OK,
           "another agent has its own");
    tap_ok(put(pool, (struct put){.from = 5, .id = 1, .version = 2}, MACHINE).reason == REASON_OK,
           "those that are there may change");
    withdraw(pool, 5, 1, 3);
    tap_ok(put(pool, (struct put){.from = 5, .id = 9, .version = 1}, MACHINE).reason == REASON_OK,
           "one that goes makes room");
    for (uint64_t i = 100; i < 200; i++)
        withdraw(pool, 5, i, 1);
    tap_ok(!pool->fault, "withdrawals of nothing do not fill the memory");
    pass(pool, 3 * pool->spans.lifetime);
    pool_free(pool, "limits");
}

static void renewals_are_quick(void)
{
    struct pool *pool = pool_new();
    struct message message = {.kind = MESSAGE_ADVERTISE};
    struct event event = {.kind = EVENT_MESSAGE, .peer = peer_of(5), .message = &message};
    struct timespec from, to;
    enum { ADS = 20000, ROUNDS = 50 };
    char text[200];
    double spent;

    for (uint64_t i = 0; i < ADS; i++) {
        snprintf(text, sizeof text, "[ Type = \"Machine\"; Name = \"m%d\"; Cpus = %d; Memory = %d ]", (int)i,
                 (int)(i % 64), (int)(i % 1000));
        message.u.advertise = (struct advertise){.id = i, .version = 1};
        message.u.advertise.ad = lang_ad(&pool->lang, &dialect_classic, text, NULL);
        matchmaker_role.step(pool->role, &pool->env, &event, &pool->effects);
        tree_unref(message.u.advertise.ad);
        effects_reset(&pool->effects);
    }
    message.u.advertise = (struct advertise){.version = 1, .bare = true};
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int round = 0; round < ROUNDS; round++)
        for (uint64_t i = 0; i < ADS; i++) {
            message.u.advertise.id = i * 7919 % ADS;
            matchmaker_role.step(pool->role, &pool->env, &event, &pool->effects);
            effects_reset(&pool->effects);
        }
    clock_gettime(CLOCK_MONOTONIC, &to);
    spent = (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
    tap_ok(spent / ADS / ROUNDS < 20000, "a renewal takes %.0f ns", spent / ADS / ROUNDS);
    matchmaker_role.valid(pool->role, &pool->fault);
    pool_free(pool, "many ads");
}

int main(void)
{
    versions_rise();
    agents_are_apart();
    renewals_are_bare();
    ads_expire();
    shrinking_lifetimes_end();
    owners_are_proved();
    refusals_change_nothing();
    agents_have_limits();
    agents_have_so_many_bytes();
    renewals_are_quick();
    return tap_done();
}
