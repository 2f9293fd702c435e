/* docking.c: a tenant's offer and the parties docked at it: the superior at its link, its own subordinates at the other ports. */
#include "pool/provider/docking.h"
#include "lang/ad/ops.h"
#include "match/gang/dock.h"
#include "match/pair/match.h"
#include "match/pair/residual.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/writers.h"
#include "pool/provider/offers.h"
#include "pool/provider/provider_state.h"
#include "pool/provider/pulling.h"
#include "pool/provider/successor.h"

#include <string.h>

/* The superior is the first. */
static struct dock tenant_dock(struct tree *offer, const struct crew *crew, const struct docked *superior,
                               struct docked *at)
{
    at[0] = *superior;
    return (struct dock){offer, at, 1 + (crew ? crew_docked(crew, at + 1, DOCK_MAX - 1) : 0)};
}

static enum dock_answer docks(const struct provider_step *step, const struct tenant *tenant, struct tree *left,
                              const struct docked *superior)
{
    struct env eval = provider_env(step->env);
    const struct crew *crew = tenant ? &tenant->crew : NULL;
    struct docked at[DOCK_MAX];
    struct dock dock;
    enum dock_answer answer = DOCK_NO;

    if (left && MUTANT(CONSTRAINT_UNCHECKED)) {
        answer = DOCK_YES;
    } else if (left && !dock_has_ports(left) && !dock_has_ports(superior->ad)) {
        answer = match_accepts(&eval, step->env->scratch, left, superior->ad) ? DOCK_YES : DOCK_NO;
    } else if (left) {
        dock = tenant_dock(left, crew, superior, at);
        answer = dock_accepts(&eval, step->env->scratch, &dock, 0);
    }
    return answer;
}

bool tenant_docks_at(const struct provider_step *step, const struct tenant *tenant, struct tree *left,
                     const struct docked *superior)
{
    enum dock_answer answer = docks(step, tenant, left, superior);

    return answer == DOCK_YES || (answer == DOCK_OPEN && tenant && !crew_through(&tenant->crew, CLAIM_MEMBER_VERIFIED));
}

bool tenant_docks_surely(const struct provider_step *step, const struct tenant *tenant, struct tree *left,
                         const struct docked *superior)
{
    return docks(step, tenant, left, superior) == DOCK_YES;
}

bool tenant_docks(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                  const struct fronts *behind, const struct docked *superior)
{
    struct tree *left = MUTANT(RESIDUAL_UNCHECKED)
                            ? tree_ref(step->provider->offers[place].whole)
                            : offer_left(step->provider, step->env, place, TENANT_VERIFIED, tenant, behind);
    bool docks = tenant_docks_at(step, tenant, left, superior);

    tree_unref(left);
    return docks && pulling_admits(step, tenant, superior->ad);
}

bool tenant_fits(const struct provider_step *step, uint32_t place, const struct tenant *tenant, struct tree *ad)
{
    struct docked superior = {tenant ? tenant->link : 0, ad, tenant ? tenant->port : 0};

    return tenant_docks(step, place, tenant, tenant ? &tenant->behind : NULL, &superior);
}

bool tenant_accepted(const struct provider_step *step, uint32_t place, const struct tenant *tenant, struct tree *ad)
{
    struct docked superior = {tenant ? tenant->link : 0, ad, tenant ? tenant->port : 0};

    return tenant_docks(step, place, tenant, tenant ? &tenant->behind : NULL, &superior) &&
           successor_leaves(step, place, tenant, &superior);
}

bool tenant_is_whole(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                     const struct docked *superior)
{
    struct docked at[DOCK_MAX];
    struct dock dock = tenant_dock(step->provider->offers[place].whole, tenant ? &tenant->crew : NULL, superior, at);

    return dock_whole(&dock);
}

struct docked tenant_above(const struct tenant *tenant)
{
    return (struct docked){tenant->link, tenant->ad, tenant->port};
}

bool tenant_bids(const struct provider_step *step, const struct tenant *tenant, const char *name)
{
    struct tree *whole = step->provider->offers[tenant->offer].whole;
    struct env eval = provider_env(step->env);
    symbol which = symbols_find(whole->symbols, name, strlen(name));
    struct docked at[DOCK_MAX], superior = tenant_above(tenant);
    struct dock dock;
    struct value says;
    bool truth = false;

    if (!which)
        return false;
    if (!dock_has_ports(whole) && !dock_has_ports(tenant->ad))
        return match_says(&eval, step->env->scratch, whole, name, tenant->ad);
    dock = tenant_dock(whole, &tenant->crew, &superior, at);
    says = dock_says(&eval, step->env->scratch, &dock, 0, which);
    return op_condition(whole->dialect, &says, &truth) == VALUE_BOOLEAN && truth;
}

struct tree *tenant_residual(const struct role_env *env, const struct tenant *tenant, struct tree *left)
{
    struct env eval = provider_env(env);
    struct docked at[DOCK_MAX], superior = tenant_above(tenant);
    struct dock dock;

    if (!dock_has_ports(left) && !dock_has_ports(tenant->ad))
        return residual_make(&eval, env->scratch, left, tenant->ad);
    dock = tenant_dock(left, &tenant->crew, &superior, at);
    return dock_residual(&eval, env->scratch, &dock, 0);
}

bool tenant_executes(const struct provider *provider, const struct tenant *tenant)
{
    return MUTANT(EXECUTES_IGNORED) || (ad_executes(provider->offers[tenant->offer].whole) && !tenant->duty.idle);
}

struct crew_chief tenant_chief(const struct provider *provider, const struct tenant *tenant)
{
    return (struct crew_chief){provider->offers[tenant->offer].whole, tenant->link};
}

struct tree *tenant_shows(const struct provider_step *step, const struct tenant *tenant, struct tree *left)
{
    struct env eval = provider_env(step->env);
    struct docked at[DOCK_MAX], superior = tenant_above(tenant);
    struct dock dock = tenant_dock(left, &tenant->crew, &superior, at);

    return dock_shows(&eval, step->env->scratch, &dock, tenant->link);
}
