/* successor.c: the successor that is pinned behind claims, and which of them go for it.
 *
 *     claims:     CLAIMED ------------------------------------------- STOPPING (PREEMPTED) -- gone
 *     second ads: [ ...; Preempts, RemoteUser, CurrentRank, ... ]         |                     |
 *     successor:      MATCHED -- VERIFIED -- PINNED -------------- activate: CLAIMED, "wait"    activate: ok
 *
 * Nothing is evicted for a gang that does not form: only the successor's activation, which its root sends when all are pinned and the gang is
 * decided, begins the eviction. The second ad that it came by names the claims that it may have in front of it (seconds.c). Of these only as many go
 * as it needs, chosen anew when it is verified and when it is activated: of all sets that make room, the one whose best liked claim is liked
 * least; of such the one whose next claim is; and so on. More claims in front never leave less room, so that set is found by trying
 * once for each, from the best liked on, whether it can stay.
 * Until the claims in front are gone a successor has nothing of the offer, but no other claim is promised what it will take beyond
 * them. An offer has one successor at a time. */
#include "pool/provider/successor.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/ad/ops.h"
#include "match/gang/dock.h"
#include "match/pair/match.h"
#include "match/pair/order.h"
#include "match/pair/pair.h"
#include "pool/protocol/mutants.h"
#include "pool/provider/docking.h"
#include "pool/provider/gpus.h"
#include "pool/provider/offers.h"
#include "pool/provider/provider_claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------- those in front */

bool fronts_have(const struct fronts *fronts, uint64_t claim)
{
    for (uint32_t i = 0; fronts && i < fronts->count; i++)
        if (fronts->claims[i] == claim)
            return true;
    return false;
}

static void fronts_add(struct fronts *fronts, uint64_t claim)
{
    if (claim && fronts->count < FRONTS_MAX && !fronts_have(fronts, claim))
        fronts->claims[fronts->count++] = claim;
}

static void fronts_drop(struct fronts *fronts, uint64_t claim)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < fronts->count; i++)
        if (fronts->claims[i] != claim)
            fronts->claims[kept++] = fronts->claims[i];
    fronts->count = kept;
}

struct tree *fronts_ad(const struct provider_step *step, const struct fronts *fronts)
{
    char digits[FRONTS_MAX][17];
    const char *texts[FRONTS_MAX];
    struct maker maker;

    if (fronts->count < 2)
        return NULL;
    for (uint32_t i = 0; i < fronts->count; i++) {
        snprintf(digits[i], sizeof digits[i], "%016llx", (unsigned long long)fronts->claims[i]);
        texts[i] = digits[i];
    }
    maker_init(&maker, step->env->symbols);
    maker_texts(&maker, "Claims", texts, fronts->count);
    return maker_seal(&maker);
}

void fronts_read(const struct tenant_record *row, struct fronts *ret)
{
    const struct expr *list = row->fronts && tree_is_ad(row->fronts) ? ad_find(row->fronts, "Claims") : NULL;

    ret->count = 0;
    fronts_add(ret, row->behind);
    for (uint32_t i = 0; row->behind && list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        const struct expr *e = &tree_parts(row->fronts, list)[i];
        char digits[17] = "";

        if (e->kind != EXPR_STRING || e->u.run.count != 16)
            continue;
        memcpy(digits, tree_string(row->fronts, e), 16);
        fronts_add(ret, strtoull(digits, NULL, 16));
    }
}

const struct tenant *successor_other(const struct provider *provider, uint32_t place, const struct fronts *behind,
                                     uint64_t claim)
{
    for (uint32_t i = 0; i < provider->tenant_count && behind->count && !MUTANT(TWO_SUCCESSORS); i++) {
        const struct tenant *tenant = provider->tenants[i];

        if (tenant->offer == place && tenant->behind.count && tenant->claim != claim &&
            tenant->state >= TENANT_VERIFIED)
            return tenant;
    }
    return NULL;
}

/* The tenant that is verified or pinned behind claims on this offer, or NULL. */
static const struct tenant *successor_of(const struct provider *provider, uint32_t place)
{
    return successor_other(provider, place, &(struct fronts){.count = 1}, 0);
}

/* --------------------------------------------------------------------------------------------------------- what counts */

struct value owner_rank(const struct provider_step *step, uint32_t place, const struct docked *superior)
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

bool owner_lets_go(const struct provider_step *step, uint32_t place, const struct docked *superior)
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

bool successor_preferred(const struct provider_step *step, const struct fronts *behind, const struct docked *superior)
{
    bool preferred = true;

    for (uint32_t i = 0; i < behind->count && preferred; i++) {
        const struct tenant *front = tenant_find(step->provider, behind->claims[i]);
        struct arena_mark mark = arena_mark(step->env->scratch);
        struct docked present;
        struct value mine, its;

        if (!front)
            continue;
        present = tenant_above(front);
        its = owner_rank(step, front->offer, &present);
        mine = owner_rank(step, front->offer, superior);
        preferred = MUTANT(RANK_REVERSED) ? order_compare(&mine, &its) < 0 : order_compare(&mine, &its) >= 0;
        arena_rewind(step->env->scratch, mark);
    }
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

    if (!successor || successor == tenant || (tenant && fronts_have(&successor->behind, tenant->claim)) ||
        MUTANT(SUCCESSOR_UNRESERVED))
        return true;
    left = offer_left(step->provider, step->env, place, TENANT_VERIFIED, tenant, &successor->behind);
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

/* ---------------------------------------------------------------------------------------------------------- who has to go */

void goers_add(struct goer *goers, uint32_t *count, const struct goer *goer)
{
    uint32_t at = *count;

    while (at > 0) {
        const struct goer *other = &goers[at - 1];
        int order = order_compare(&goer->rank, &other->rank);

        if (order > 0 || (order == 0 && goer->tenant->since >= other->tenant->since))
            break;
        at--;
    }
    if (at == FRONTS_MAX)
        return;
    *count += *count < FRONTS_MAX;
    memmove(&goers[at + 1], &goers[at], (*count - 1 - at) * sizeof *goers);
    goers[at] = *goer;
}

void goers_fronts(const struct goer *goers, uint32_t count, uint64_t set, struct fronts *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < count; i++)
        if (set >> i & 1)
            ret->claims[ret->count++] = goers[i].tenant->claim;
}

/* Is there surely room for the superior in what is left, when that claim stays? Takes `left` over when there is. */
static bool goer_stays(const struct provider_step *step, const struct tenant *tenant, const struct docked *superior,
                       const struct tenant *goer, const struct fronts *others, struct tree **left)
{
    struct tree *less = *left ? tenant_residual(step->env, goer, *left) : NULL;

    less = gpus_left(step->provider, less, tenant, others);
    if (!less || !tenant_docks_surely(step, tenant, less, superior) ||
        !gpus_suffice(step, goer->offer, tenant, others, superior->ad)) {
        tree_unref(less);
        return false;
    }
    tree_unref(*left);
    *left = less;
    return true;
}

void successor_chooses(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                       const struct docked *superior, struct fronts *fronts)
{
    struct arena_mark mark = arena_mark(step->env->scratch);
    struct goer goers[FRONTS_MAX];
    struct tree *left = offer_left(step->provider, step->env, place, TENANT_VERIFIED, tenant, fronts);
    uint32_t count = 0;

    for (uint32_t i = 0; i < fronts->count; i++) {
        struct tenant *goer = tenant_find(step->provider, fronts->claims[i]);
        struct docked above;

        if (!goer || goer->state != TENANT_CLAIMED)
            continue; /* it is ending already, whoever comes */
        above = tenant_above(goer);
        goers_add(goers, &count, &(struct goer){goer, owner_rank(step, place, &above)});
    }
    while (count-- > 0 && !MUTANT(ALL_GO)) {
        struct fronts others = *fronts;

        fronts_drop(&others, goers[count].tenant->claim);
        if (goer_stays(step, tenant, superior, goers[count].tenant, &others, &left))
            *fronts = others;
    }
    tree_unref(left);
    arena_rewind(step->env->scratch, mark);
}

void successor_spares(const struct provider_step *step, struct tenant *tenant)
{
    struct docked superior = tenant_above(tenant);

    if (!tenant->behind.count)
        return;
    successor_chooses(step, tenant->offer, tenant, &superior, &tenant->behind);
    if (!tenant->behind.count) {
        tenant->reported = step->env->now;
        gpus_assign(step, tenant, tenant->ad);
    }
    offer_changed(step, tenant->offer);
}

/* ------------------------------------------------------------------------------------------------------ taking its turn */

void successor_evicts(const struct provider_step *step, const struct tenant *tenant)
{
    struct fronts fronts = tenant->behind; /* those whose job is gone already leave the list at once */
    uint64_t stored = tenant->stored;

    for (uint32_t i = 0; i < fronts.count; i++) {
        struct tenant *front = tenant_find(step->provider, fronts.claims[i]);

        if (!front || front->state == TENANT_STOPPING)
            continue;
        if (front->stored < stored)
            front->stored = stored; /* its end waits until the successor's row is durable */
        effects_note(step->effects, REASON_PREEMPTED, front->claim, "it makes room for one that is preferred");
        tenant_end(step, front, REASON_PREEMPTED, step->provider->spans->grace);
    }
}

void successor_follows(const struct provider_step *step, const struct tenant *front)
{
    for (uint32_t i = 0; i < step->provider->tenant_count; i++) {
        struct tenant *tenant = step->provider->tenants[i];

        if (!fronts_have(&tenant->behind, front->claim))
            continue;
        fronts_drop(&tenant->behind, front->claim);
        if (MUTANT(FIRST_GONE))
            tenant->behind.count = 0;
        if (!tenant->behind.count)
            tenant->reported = step->env->now;
        if (tenant->state < TENANT_PINNED)
            continue;
        if (!tenant->behind.count)
            gpus_assign(step, tenant, tenant->ad); /* now they are free; should some be gone, its start is refused */
        tenant_store(step, tenant);
    }
}

/* Can that claim be in front of the tenant? */
static bool is_front(const struct tenant *tenant, const struct tenant *front)
{
    return front && front != tenant && front->offer == tenant->offer && !front->behind.count &&
           front->state >= TENANT_CLAIMED;
}

void successors_load(const struct provider_step *step)
{
    const struct provider *provider = step->provider;

    for (uint32_t pass = 0; pass < 2;
         pass++) /* first those who are not there, then those who follow others themselves */
        for (uint32_t i = 0; i < provider->tenant_count; i++) {
            struct fronts fronts = provider->tenants[i]->behind;

            for (uint32_t k = 0; k < fronts.count; k++) {
                const struct tenant *front = tenant_find(provider, fronts.claims[k]);

                if (pass ? !is_front(provider->tenants[i], front) : !front)
                    fronts_drop(&provider->tenants[i]->behind, fronts.claims[k]);
            }
        }
}

/* Evictions that had begun go on. */
void successors_boot(const struct provider_step *step)
{
    for (uint32_t i = step->provider->tenant_count; i-- > 0;) {
        if (i < step->provider->tenant_count && step->provider->tenants[i]->behind.count &&
            step->provider->tenants[i]->state == TENANT_CLAIMED)
            successor_evicts(step, step->provider->tenants[i]);
    }
}

bool successor_valid(const struct provider *provider, const struct tenant *tenant, const char **ret_why)
{
    if (!tenant->behind.count || !provider->booted)
        return true;
    *ret_why = "a successor follows nobody, or one that follows another";
    for (uint32_t i = 0; i < tenant->behind.count; i++)
        if (!is_front(tenant, tenant_find(provider, tenant->behind.claims[i])))
            return false;
    *ret_why = "a job of a successor runs while a claim in front is there";
    return !tenant->running || MUTANT(ACTIVATE_OCCUPIED);
}
