/* successor.c: the second ad beside a claim, and the successor that is pinned behind it.
 *
 *     claim:      CLAIMED ------------------------------------------- STOPPING (PREEMPTED) -- gone
 *     second ad:  [ ...; Preempts, RemoteUser, CurrentRank, ... ]         |                     |
 *     successor:      MATCHED -- VERIFIED -- PINNED -------------- activate: CLAIMED, "wait"    activate: ok
 *
 * Nothing is evicted for a gang that does not form: only the successor's activation, which its root sends when all are pinned and the gang is
 * decided, begins the eviction. Until the claim in front is gone a successor has nothing of the offer, but no other claim is promised what it
 * will take beyond that claim. An offer has one successor at a time. */
#include "pool/provider/successor.h"
#include "lang/ad/make.h"
#include "lang/ad/ops.h"
#include "lang/base/rng.h"
#include "match/gang/dock.h"
#include "match/pair/match.h"
#include "match/pair/order.h"
#include "match/pair/pair.h"
#include "match/pair/residual.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/writers.h"
#include "pool/provider/calendar.h"
#include "pool/provider/docking.h"
#include "pool/provider/gpus.h"
#include "pool/provider/offers.h"
#include "pool/provider/owner.h"
#include "pool/provider/provider_claims.h"
#include "pool/provider/provider_state.h"

#include <stdio.h>
#include <string.h>

#define SECOND_MIX 0x7365636f6e642061u /* the second ad's id is made from the offer's: the same after a restart */
#define SERVES_PART 3                  /* how long a claim has been there is told in thirds of an ad's lifetime */

/* ------------------------------------------------------------------------------------------------------ who is where */

void second_init(struct provider *provider, uint32_t place)
{
    struct second *second = &provider->offers[place].second;

    *second = (struct second){.look = INT64_MAX, .serves = INT64_MAX};
    advert_init(&second->advert, rng_mix(provider->settings->ids[place] ^ SECOND_MIX), false, 0);
}

uint32_t offer_named(const struct provider *provider, uint64_t id, bool *ret_second)
{
    uint32_t place = offer_find(provider, id);

    *ret_second = false;
    if (place < provider->settings->count)
        return place;
    for (place = 0; place < provider->settings->count; place++)
        if (provider->offers[place].second.advert.id == id) {
            *ret_second = true;
            break;
        }
    return place;
}

uint64_t second_claim(const struct provider *provider, uint32_t place)
{
    const struct tenant *tenant = tenant_find(provider, provider->offers[place].second.claim);

    return tenant && tenant->state == TENANT_CLAIMED && !tenant->behind ? tenant->claim : 0;
}

const struct tenant *successor_other(const struct provider *provider, uint64_t behind, uint64_t claim)
{
    for (uint32_t i = 0; i < provider->tenant_count && behind && !MUTANT(TWO_SUCCESSORS); i++) {
        const struct tenant *tenant = provider->tenants[i];

        if (tenant->behind == behind && tenant->claim != claim && tenant->state >= TENANT_VERIFIED)
            return tenant;
    }
    return NULL;
}

/* The tenant that is verified or pinned behind a claim on this offer, or NULL. */
static const struct tenant *successor_of(const struct provider *provider, uint32_t place)
{
    for (uint32_t i = 0; i < provider->tenant_count; i++) {
        const struct tenant *tenant = provider->tenants[i];

        if (tenant->offer == place && tenant->behind && tenant->state >= TENANT_VERIFIED)
            return tenant;
    }
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------- what counts */

/* How much the owner likes a superior; the value lives in the scratch memory. */
static struct value offer_rank(const struct provider_step *step, uint32_t place, const struct docked *superior)
{
    struct tree *whole = step->provider->offers[place].whole;
    struct env env = provider_env(step->env);
    struct eval eval;
    struct value rank;

    if (dock_has_ports(whole) || dock_has_ports(superior->ad)) {
        rank = dock_says(&env, step->env->scratch, &(struct dock){whole, superior, 1}, 0, NAME_RANK);
    } else {
        struct pair *pair = arena_alloc(step->env->scratch, sizeof *pair);

        pair_init(pair, whole, superior->ad);
        eval_init(&eval, &env, step->env->scratch);
        eval_attribute(&eval, &pair->left, NAME_RANK, &rank);
    }
    return order_rank(&rank);
}

/* Does the owner allow this claim to be ended for another one? */
static bool offer_lets_go(const struct provider_step *step, uint32_t place, const struct docked *superior)
{
    struct tree *whole = step->provider->offers[place].whole;
    struct env env = provider_env(step->env);
    symbol name = symbols_find(whole->symbols, "Preemption", 10);
    struct value says;
    bool truth = false;

    if (MUTANT(GO_UNASKED))
        return true;
    if (!name || (!dock_has_ports(whole) && !dock_has_ports(superior->ad)))
        return name && match_says(&env, step->env->scratch, whole, "Preemption", superior->ad);
    says = dock_says(&env, step->env->scratch, &(struct dock){whole, superior, 1}, 0, name);
    return op_condition(whole->dialect, &says, &truth) == VALUE_BOOLEAN && truth;
}

bool successor_preferred(const struct provider_step *step, uint64_t behind, const struct docked *superior)
{
    const struct tenant *front = tenant_find(step->provider, behind);
    struct arena_mark mark = arena_mark(step->env->scratch);
    struct docked present;
    struct value mine, its;
    bool preferred;

    if (!front)
        return true;
    present = tenant_above(front);
    its = offer_rank(step, front->offer, &present);
    mine = offer_rank(step, front->offer, superior);
    preferred = MUTANT(RANK_REVERSED) ? order_compare(&mine, &its) < 0 : order_compare(&mine, &its) >= 0;
    arena_rewind(step->env->scratch, mark);
    return preferred;
}

/* What remains when this tenant has its part too; takes `left`, which may be NULL. */
static struct tree *left_without(const struct provider_step *step, struct tree *left, const struct tenant *tenant)
{
    struct tree *less = left ? tenant_residual(step->env, tenant, left) : NULL;

    tree_unref(left);
    return less;
}

bool successor_leaves(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                      const struct docked *superior)
{
    const struct tenant *successor = successor_of(step->provider, place);
    struct tree *left;
    bool leaves;

    if (!successor || successor == tenant || (tenant && tenant->claim == successor->behind) ||
        MUTANT(SUCCESSOR_UNRESERVED))
        return true;
    left = offer_left(step->provider, step->env, place, TENANT_VERIFIED, tenant, successor->behind);
    left = left_without(step, left, successor);
    leaves = left && tenant_docks_at(step, tenant, left, superior);
    tree_unref(left);
    return leaves;
}

struct tree *successor_reserves(const struct provider_step *step, uint32_t place, struct tree *left)
{
    const struct tenant *successor = successor_of(step->provider, place);

    return successor && left && !MUTANT(SUCCESSOR_UNRESERVED) ? left_without(step, left, successor) : left;
}

/* -------------------------------------------------------------------------------------------------------- the second ad */

/* The claim that the owner would rather see go: the one it likes least; among equals the one that has been there
 * longest. */
static struct tenant *second_choose(const struct provider_step *step, uint32_t place)
{
    struct tenant *chosen = NULL;
    struct value least;

    for (uint32_t i = 0; i < step->provider->tenant_count; i++) {
        struct tenant *tenant = step->provider->tenants[i];
        struct docked superior = tenant_above(tenant);
        struct value rank;
        int order;

        if (tenant->offer != place)
            continue;
        if (tenant->behind && !MUTANT(TWO_SUCCESSORS))
            return NULL; /* one successor at a time */
        if (tenant->behind)
            continue;
        if (tenant->state != TENANT_CLAIMED || !offer_lets_go(step, place, &superior))
            continue;
        rank = offer_rank(step, place, &superior);
        order = chosen ? order_compare(&rank, &least) : -1;
        if (order < 0 || (order == 0 && tenant->since < chosen->since)) {
            chosen = tenant;
            least = rank;
        }
    }
    return chosen;
}

/* The ImageSize of the job, if its ad says one; else 0. */
static struct value tenant_size(const struct provider_step *step, const struct tenant *tenant)
{
    symbol name = symbols_find(tenant->ad->symbols, "ImageSize", 9);
    struct env env = provider_env(step->env);
    struct scope scope;
    struct eval eval;
    struct value size;

    scope_init(&scope, tenant->ad, NULL);
    eval_init(&eval, &env, step->env->scratch);
    if (!name || !eval_attribute(&eval, &scope, name, &size) || (size.type != VALUE_INTEGER && size.type != VALUE_REAL))
        return value_integer(0);
    return size;
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

static struct tree *second_write(const struct provider_step *step, const struct tenant *tenant, const struct tree *left,
                                 int64_t *ret_serves)
{
    static const char *const names[] = {"Preempts",    "RemoteUser", "RemoteOwner", "CurrentRank",
                                        "ServiceTime", "ImageSize",  "RemoteGroup"};
    enum { COUNT = sizeof names / sizeof *names };
    struct arena_mark mark = arena_mark(step->env->scratch);
    const struct text *charged = tenant_charged(tenant);
    struct value user = value_string(charged->bytes, strlen(charged->bytes));
    struct ad_setting settings[COUNT];
    struct text group;
    int count;
    char claim[17];
    struct tree *single = ad_without(left, "Residual"), *written;
    struct docked superior = tenant_above(tenant);

    snprintf(claim, sizeof claim, "%016llx", (unsigned long long)tenant->claim);
    settings[0].value = value_string(claim, strlen(claim));
    settings[1].value = settings[2].value = user;
    settings[3].value =
        MUTANT(RANK_TOLD_LOW) || MUTANT(RANK_REVERSED) ? value_integer(-1) : offer_rank(step, tenant->offer, &superior);
    settings[4].value = value_reltime(tenant_served(step, tenant, ret_serves));
    settings[5].value = tenant_size(step, tenant);
    tenant_text(step, tenant, "AccountingGroup", &group);
    settings[6].value = value_string(group.bytes, strlen(group.bytes));
    count = group.bytes[0] ? COUNT : COUNT - 1;
    for (int i = 0; i < count; i++)
        settings[i].name = symbols_take(left->symbols, names[i], strlen(names[i]));
    written = ad_set(single, settings, (uint32_t)count, NULL);
    for (int i = 0; i < count; i++)
        symbols_drop(left->symbols, settings[i].name);
    tree_unref(single);
    arena_rewind(step->env->scratch, mark);
    return written;
}

/* The ad that should be there beside the claim; NULL: none. */
static struct tree *second_text(const struct provider_step *step, uint32_t place, struct tenant **ret_tenant)
{
    struct second *second = &step->provider->offers[place].second;
    struct arena_mark mark = arena_mark(step->env->scratch);
    struct env env = provider_env(step->env);
    struct tree *left, *text = NULL;
    struct owner owner;

    *ret_tenant = step->provider->draining || offer_ails(step->provider, place) || !step->provider->settings->matchmaker
                      ? NULL
                      : second_choose(step, place);
    arena_rewind(step->env->scratch, mark);
    if (!*ret_tenant)
        return NULL;
    left = offer_left(step->provider, step->env, place, TENANT_MATCHED, NULL, (*ret_tenant)->claim);
    left = calendar_narrow(step, place, left);
    if (!left)
        return NULL;
    owner_look(&env, step->env->scratch, left, &owner);
    second->look = owner.until;
    if (owner.open)
        text = second_write(step, *ret_tenant, left, &second->serves);
    tree_unref(left);
    return text;
}

/* Each claim has a key of its own: a request that was matched behind another claim does not come behind this one. */
static void second_renew_key(const struct provider_step *step, struct second *second)
{
    second->key.used_count = 0;
    step->env->secrets->draw(step->env->secrets->user, &second->key.key, sizeof second->key.key);
    advert_set_key(&second->advert, step->env->now, &second->key.key);
}

void second_look(const struct provider_step *step, uint32_t place)
{
    struct second *second = &step->provider->offers[place].second;
    struct tenant *tenant;
    struct tree *text;

    second->look = second->serves = INT64_MAX;
    text = second_text(step, place, &tenant);
    if (text && (tenant->claim != second->claim || second->key.used_count == OFFER_USED_MAX)) {
        second->claim = tenant->claim;
        second_renew_key(step, second);
    }
    advert_want(&second->advert, step->env->now, text);
    tree_unref(text);
}

int64_t second_run(const struct provider_step *step, uint32_t place)
{
    struct second *second = &step->provider->offers[place].second;
    int64_t again =
        advert_run(&second->advert, step->env, step->provider->settings->matchmaker,
                   (uint64_t)step->provider->settings->count + place, step->provider->stored, step->effects);

    return again < second->serves ? again : second->serves;
}

/* ------------------------------------------------------------------------------------------------------ taking its turn */

void successor_evicts(const struct provider_step *step, struct tenant *tenant)
{
    struct tenant *front = tenant_find(step->provider, tenant->behind);

    if (!front || front->state == TENANT_STOPPING)
        return;
    if (front->stored < tenant->stored)
        front->stored = tenant->stored; /* its end waits until the successor's row is durable */
    effects_note(step->effects, REASON_PREEMPTED, front->claim, "it makes room for one that is preferred");
    tenant_end(step, front, REASON_PREEMPTED, step->provider->spans->grace);
}

void successor_follows(const struct provider_step *step, const struct tenant *front)
{
    for (uint32_t i = 0; i < step->provider->tenant_count; i++) {
        struct tenant *tenant = step->provider->tenants[i];

        if (tenant->behind != front->claim)
            continue;
        tenant->behind = 0;
        tenant->reported = step->env->now;
        if (tenant->state < TENANT_PINNED)
            continue;
        gpus_assign(step, tenant, tenant->ad); /* now they are free; should some be gone, its start is refused */
        tenant_store(step, tenant);
    }
}

void successors_load(const struct provider_step *step)
{
    for (uint32_t i = 0; i < step->provider->tenant_count; i++)
        if (!tenant_find(step->provider, step->provider->tenants[i]->behind))
            step->provider->tenants[i]->behind = 0;
    for (uint32_t i = 0; i < step->provider->tenant_count; i++) {
        struct tenant *tenant = step->provider->tenants[i];
        const struct tenant *front = tenant_find(step->provider, tenant->behind);

        if (tenant->behind && (!front || front->offer != tenant->offer || front->behind || front == tenant ||
                               front->state < TENANT_CLAIMED))
            tenant->behind = 0;
    }
}

/* Evictions that had begun go on. */
void successors_boot(const struct provider_step *step)
{
    for (uint32_t i = step->provider->tenant_count; i-- > 0;) {
        if (i < step->provider->tenant_count && step->provider->tenants[i]->behind &&
            step->provider->tenants[i]->state == TENANT_CLAIMED)
            successor_evicts(step, step->provider->tenants[i]);
    }
}

bool successor_valid(const struct provider *provider, const struct tenant *tenant, const char **ret_why)
{
    const struct tenant *front = tenant_find(provider, tenant->behind);

    if (!tenant->behind || !provider->booted)
        return true;
    *ret_why = "a successor follows nobody, or one that follows another";
    if (!front || front->behind || front->offer != tenant->offer || front->state < TENANT_CLAIMED)
        return false;
    *ret_why = "a job of a successor runs while the claim in front is there";
    return !tenant->running || MUTANT(ACTIVATE_OCCUPIED);
}
