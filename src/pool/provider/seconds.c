/* seconds.c: the second ads beside the claims of an offer: what it would be if some of them were over, for those whom its owner likes better.
 *
 *     claims, the least liked first, the oldest of equal ones first       a 0   b 0   a 0   c 3   d 9      (whose, CurrentRank)
 *     1  the first                                                        *
 *     2  those of its user that are liked as little                       *           *
 *     3  to 5  all that are liked as little; of the lowest 2 and 4 ranks  *     *     *     .
 *     6  all                                                              *     *     *     *     *
 *
 * Whoever is matched with one of these ads comes behind as many of its claims as it needs, and no others (successor.c): so few ads are enough for
 * many claims. A set that is the same as one before it has no ad. RemoteUser is one user or, of several users' claims, a list.
 * The ads are withdrawn while somebody has been matched with one of them: an offer has one successor at a time. */
#include "pool/provider/seconds.h"
#include "lang/ad/make.h"
#include "lang/base/rng.h"
#include "match/gang/dock.h"
#include "match/pair/order.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/writers.h"
#include "pool/provider/calendar.h"
#include "pool/provider/docking.h"
#include "pool/provider/offers.h"
#include "pool/provider/owner.h"
#include "pool/provider/provider_claims.h"
#include "pool/provider/successor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SECOND_MIX 0x7365636f6e642061u /* a second ad's id is made from the offer's: the same after a restart */
#define SIZE_MOST 9e15                 /* FRONTS_MAX times as much is an integer */
#define SERVES_PART 3                  /* how long a claim has been there is told in thirds of an ad's lifetime */

void seconds_init(struct provider *provider, uint32_t place)
{
    uint64_t id = provider->settings->ids[place];

    for (uint32_t k = 0; k < SECONDS_MAX; k++) {
        struct second *second = &provider->offers[place].seconds[k];

        *second = (struct second){.look = INT64_MAX, .serves = INT64_MAX};
        id = rng_mix(id ^ SECOND_MIX);
        advert_init(&second->advert, id, false, 0);
    }
}

void seconds_done(struct provider *provider, uint32_t place)
{
    for (uint32_t k = 0; k < SECONDS_MAX; k++)
        advert_done(&provider->offers[place].seconds[k].advert);
}

uint32_t offer_named(const struct provider *provider, uint64_t id, uint32_t *ret_second)
{
    uint32_t place = offer_find(provider, id);

    *ret_second = 0;
    if (place < provider->settings->count)
        return place;
    for (place = 0; place < provider->settings->count; place++)
        for (uint32_t k = 0; k < SECONDS_MAX; k++)
            if (provider->offers[place].seconds[k].advert.id == id) {
                *ret_second = k + 1;
                return place;
            }
    return place;
}

struct advert *offer_advert(const struct provider *provider, uint32_t place, uint32_t second)
{
    struct offer *offer = &provider->offers[place];

    return second ? &offer->seconds[second - 1].advert : &offer->advert;
}

void second_fronts(const struct provider *provider, uint32_t place, uint32_t second, struct fronts *ret)
{
    const struct fronts *claims = &provider->offers[place].seconds[second - 1].claims;

    ret->count = 0;
    for (uint32_t i = 0; i < claims->count; i++) {
        const struct tenant *tenant = tenant_find(provider, claims->claims[i]);

        if (tenant && tenant->offer == place && tenant->state == TENANT_CLAIMED && !tenant->behind.count)
            ret->claims[ret->count++] = tenant->claim;
    }
}

/* ------------------------------------------------------------------------------------------------------------ the sets */

/* The claims that may have to go, those that the owner would rather see go first. */
struct goers {
    struct goer items[FRONTS_MAX];
    uint32_t count;
};

static void goers_find(const struct provider_step *step, uint32_t place, struct goers *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < step->provider->tenant_count; i++) {
        struct tenant *tenant = step->provider->tenants[i];
        struct docked superior = tenant_above(tenant);

        if (tenant->offer != place)
            continue;
        if (tenant->behind.count && !MUTANT(TWO_SUCCESSORS)) {
            ret->count = 0;
            return;
        }
        if (tenant->behind.count || tenant->state != TENANT_CLAIMED || !owner_lets_go(step, place, &superior))
            continue;
        goers_add(ret->items, &ret->count,
                  &(struct goer){tenant, owner_rank(step, place, &superior)}); /* of too many the best liked stay */
    }
}

/* Is the user of both charged in the same group? */
static bool is_one_user(const struct provider_step *step, const struct tenant *a, const struct tenant *b)
{
    struct text mine, its;

    if (strcmp(tenant_charged(a)->bytes, tenant_charged(b)->bytes) != 0)
        return false;
    tenant_text(step, a, "AccountingGroup", &mine);
    tenant_text(step, b, "AccountingGroup", &its);
    return strcmp(mine.bytes, its.bytes) == 0;
}

/* A set has a bit for each goer. */
static void sets_make(const struct provider_step *step, const struct goers *goers, uint64_t ret[SECONDS_MAX])
{
    uint64_t up_to = 0;
    uint32_t ranks = 0;

    memset(ret, 0, SECONDS_MAX * sizeof *ret);
    for (uint32_t i = 0; i < goers->count; i++) {
        uint64_t bit = (uint64_t)1 << i;

        ranks += i == 0 || order_compare(&goers->items[i].rank, &goers->items[i - 1].rank) != 0;
        up_to |= bit;
        ret[0] |= i == 0 ? bit : 0;
        ret[1] |= ranks == 1 && is_one_user(step, goers->items[i].tenant, goers->items[0].tenant) ? bit : 0;
        ret[2] = ranks <= 1 ? up_to : ret[2];
        ret[3] = ranks <= 2 ? up_to : ret[3];
        ret[4] = ranks <= 4 ? up_to : ret[4];
        ret[5] = up_to;
    }
    for (uint32_t k = SECONDS_MAX; k-- > 1;)
        for (uint32_t i = 0; i < k; i++)
            if (ret[i] == ret[k])
                ret[k] = 0;
}

/* -------------------------------------------------------------------------------------------------------------- the ad */

/* The ImageSize of the job, if its ad says one; else 0. Sums of it are exact enough, and no number is too large for them. */
static double tenant_size(const struct provider_step *step, const struct tenant *tenant)
{
    symbol name = symbols_find(tenant->ad->symbols, "ImageSize", 9);
    struct arena_mark mark = arena_mark(step->env->scratch);
    struct env env = provider_env(step->env);
    struct scope scope;
    struct eval eval;
    struct value size;
    bool says;

    scope_init(&scope, tenant->ad, NULL);
    eval_init(&eval, &env, step->env->scratch);
    says = name && eval_attribute(&eval, &scope, name, &size);
    arena_rewind(step->env->scratch, mark); /* of numbers nothing is kept there */
    if (!says)
        return 0;
    return fmin(fmax(order_finite(&size), -SIZE_MOST), SIZE_MOST);
}

/* How long the claim has been there: in steps, so that the ad need not be sent every second. Also returns when the next step is. */
static int64_t tenant_served(const struct provider_step *step, const struct tenant *tenant, int64_t *ret_next)
{
    int64_t part = step->provider->spans->lifetime / SERVES_PART / SECOND * SECOND;
    int64_t age = lease_clock(step->env) - tenant->since;

    part = part < SECOND ? SECOND : part;
    age = age < 0 ? 0 : age / part * part;
    *ret_next = step->env->now + tenant->since + age + part - lease_clock(step->env);
    return age / SECOND;
}

static void named(struct build *build, const char *name, uint32_t *count)
{
    build_attribute(build, symbols_take(build->symbols, name, strlen(name)));
    ++*count;
}

/* One string, or a list of several. */
static void strings_named(struct build *build, uint32_t strings, const char *name, uint32_t *count)
{
    if (strings != 1)
        build_bind(build, EXPR_LIST, strings);
    named(build, name, count);
}

static void users_named(struct build *build, const struct goers *goers, uint64_t set, const char *name, uint32_t *count)
{
    uint32_t users = 0;

    for (uint32_t i = 0; i < goers->count; i++) {
        const char *user = tenant_charged(goers->items[i].tenant)->bytes;
        bool first = set >> i & 1;

        for (uint32_t k = 0; first && k < i; k++)
            first = !(set >> k & 1) || strcmp(tenant_charged(goers->items[k].tenant)->bytes, user) != 0;
        if (first)
            build_string(build, user, strlen(user));
        users += first;
    }
    strings_named(build, users, name, count);
}

/* What the ad says of the claims of a set: of the one that is liked best, of the one that has been there for the shortest time, of all together. */
static struct tree *set_says(const struct provider_step *step, const struct goers *goers, uint64_t set,
                             const struct tree *left, int64_t *ret_serves)
{
    const struct tenant *first = NULL;
    struct value rank = value_integer(0);
    uint32_t claims = 0, count = 0, place;
    int64_t served = INT64_MAX;
    bool one = true; /* user in one group */
    struct tree *ad = NULL;
    struct build build;
    struct text group;
    double size = 0;

    *ret_serves = INT64_MAX;
    build_init(&build, left->symbols, left->dialect);
    for (uint32_t i = 0; i < goers->count; i++) {
        const struct tenant *tenant = goers->items[i].tenant;
        int64_t next, age;
        char claim[17];

        if (!(set >> i & 1))
            continue;
        age = tenant_served(step, tenant, &next);
        first = first ? first : tenant;
        one = one && is_one_user(step, tenant, first);
        served = age < served ? age : served;
        *ret_serves = next < *ret_serves ? next : *ret_serves;
        size += tenant_size(step, tenant);
        rank = goers->items[i].rank;
        snprintf(claim, sizeof claim, "%016llx", (unsigned long long)tenant->claim);
        build_string(&build, claim, 16);
        claims++;
    }
    strings_named(&build, claims, "Preempts", &count);
    users_named(&build, goers, set, "RemoteUser", &count);
    users_named(&build, goers, set, "RemoteOwner", &count);
    rank = MUTANT(RANK_TOLD_LOW) || MUTANT(RANK_REVERSED) ? value_integer(-1) : rank;
    value_build(&build, &rank);
    named(&build, "CurrentRank", &count);
    rank = value_reltime(served);
    value_build(&build, &rank);
    named(&build, "ServiceTime", &count);
    rank = size == (double)(int64_t)size ? value_integer((int64_t)size) : value_real(size);
    value_build(&build, &rank);
    named(&build, "ImageSize", &count);
    tenant_text(step, first, "AccountingGroup", &group);
    if (one && group.bytes[0]) {
        build_string(&build, group.bytes, strlen(group.bytes));
        named(&build, "RemoteGroup", &count);
    }
    if (build_ad(&build, count, &place) == 0)
        ad = build_seal(&build);
    build_done(&build);
    return ad;
}

/* What the offer would be without these claims; NULL: nothing that anybody could have. */
static struct tree *set_text(const struct provider_step *step, uint32_t place, const struct goers *goers, uint64_t set,
                             struct second *second)
{
    static const char *const replaced[] = {"Residual", "RemoteGroup"};
    struct env env = provider_env(step->env);
    struct tree *left, *single, *says, *text = NULL;
    struct owner owner;
    struct fronts fronts;

    goers_fronts(goers->items, goers->count, set, &fronts);
    left = offer_left(step->provider, step->env, place, TENANT_MATCHED, NULL, &fronts);
    left = calendar_narrow(step, place, left);
    if (!left)
        return NULL;
    owner_look(&env, step->env->scratch, left, &owner);
    second->look = owner.until;
    if (owner.open) {
        single = ad_without_all(left, replaced, sizeof replaced / sizeof *replaced);
        says = set_says(step, goers, set, left, &second->serves);
        text = single && says ? ad_over(single, says, NULL) : NULL;
        tree_unref(says);
        tree_unref(single);
    }
    tree_unref(left);
    return text;
}

/* A ticket of before is good as long as nobody else may have to go for it. */
static void second_stands(const struct provider_step *step, struct second *second, const struct fronts *fronts)
{
    bool same = second->key.used_count < OFFER_USED_MAX && second->claims.count;

    for (uint32_t i = 0; i < fronts->count; i++)
        same = same && fronts_have(&second->claims, fronts->claims[i]);
    second->claims = *fronts;
    if (same)
        return;
    second->key.used_count = 0;
    step->env->secrets->draw(step->env->secrets->user, &second->key.key, sizeof second->key.key);
    advert_set_key(&second->advert, step->env->now, &second->key.key);
}

static bool seconds_due(const struct provider_step *step, const struct offer *offer)
{
    for (uint32_t k = 0; k < SECONDS_MAX; k++)
        if (step->env->wall / SECOND >= offer->seconds[k].look || step->env->now >= offer->seconds[k].serves)
            return true;
    return offer->dirty;
}

void seconds_look(const struct provider_step *step, uint32_t place)
{
    struct offer *offer = &step->provider->offers[place];
    struct arena_mark mark = arena_mark(step->env->scratch);
    struct goers goers = {.count = 0};
    uint64_t sets[SECONDS_MAX];

    if (!seconds_due(step, offer))
        return;
    if (!step->provider->draining && !offer_ails(step->provider, place) && step->provider->settings->matchmaker)
        goers_find(step, place, &goers);
    sets_make(step, &goers, sets);
    for (uint32_t k = 0; k < SECONDS_MAX; k++) {
        struct second *second = &offer->seconds[k];
        struct tree *text;
        struct fronts fronts;

        second->look = second->serves = INT64_MAX;
        text = sets[k] ? set_text(step, place, &goers, sets[k], second) : NULL;
        goers_fronts(goers.items, goers.count, sets[k], &fronts);
        if (text)
            second_stands(step, second, &fronts);
        advert_want(&second->advert, step->env->now, text);
        tree_unref(text);
    }
    arena_rewind(step->env->scratch, mark);
}

int64_t seconds_run(const struct provider_step *step, uint32_t place)
{
    int64_t again = INT64_MAX;

    for (uint32_t k = 0; k < SECONDS_MAX; k++) {
        struct second *second = &step->provider->offers[place].seconds[k];
        int64_t then = advert_run(&second->advert, step->env, step->provider->settings->matchmaker,
                                  (uint64_t)step->provider->settings->count * (k + 1) + place, step->provider->stored,
                                  step->effects);

        then = then < second->serves ? then : second->serves;
        again = then < again ? then : again;
    }
    return again;
}
