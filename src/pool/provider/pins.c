/* pins.c: what a tenant may use: evaluated once, when it is verified, and written into its ad as plain numbers.
 *
 *     verify   RequestMemory = isUndefined(other.Type) ? 3G : 16M     ->  RequestMemory = 16777216, in the tenant's ad and its row
 *     start    the amounts in the unit's ad                           ->  as much as was pinned, or less
 *
 * An ad can tell whether it has a counterpart: an amount that was evaluated with the offer beside it must not be evaluated again without it. So the
 * residual, the weight, the launcher and anybody who looks at the claim all read the same numbers. An ad with ports says them for each port:
 * those numbers lie beside the ad (`grant`). */
#include "lang/ad/refs.h"
#include "lang/text/build.h"
#include "match/gang/dock.h"
#include "match/pair/pair.h"
#include "match/pair/residual.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/time_limit.h"
#include "pool/protocol/writers.h"
#include "pool/provider/docking.h"
#include "pool/provider/offers.h"
#include "pool/provider/provider_state.h"

#include <string.h>

#define PINS_MAX 32 /* at most so many names that an offer's residual reads from a job are pinned */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* `limits`: what the launcher reads as limits. `bounds`: other attributes that bind the job and that an owner may have
 * looked at. */
static const char *const limits[] = {"RequestCpus", "RequestMemory", "RequestDisk", "RequestProcesses", "RequestGpus"};
static const char *const bounds[] = {"Network", "TimeLimit", "Cmd"};

struct pins {
    symbol names[PINS_MAX];
    uint32_t count;
};

static void pins_add(struct pins *pins, symbol name)
{
    for (uint32_t i = 0; i < pins->count; i++)
        if (symbol_same(pins->names[i], name))
            return;
    if (name && pins->count < PINS_MAX)
        pins->names[pins->count++] = name;
}

/* Finds the names to pin. They are borrowed: each lives in one of the ads. */
static void pins_find(struct pins *pins, const struct tree *offer)
{
    const struct expr *residual = residual_of(offer), *weight;
    symbol name = symbols_find(offer->symbols, "Weight", 6);
    struct scope scope;
    struct refs refs;

    pins->count = 0;
    for (size_t i = 0; i < COUNT(limits); i++)
        pins_add(pins, symbols_find(offer->symbols, limits[i], strlen(limits[i])));
    refs_init(&refs);
    scope_init(&scope, offer, NULL);
    for (uint32_t i = 0; residual && i < residual->u.run.count; i++)
        refs_add(&refs, &scope, &tree_parts(offer, residual)[i]);
    weight = name ? tree_find(offer, tree_root(offer), name) : NULL;
    if (weight)
        refs_add(&refs, &scope, weight);
    for (uint32_t i = 0; i < refs.count; i++)
        if (refs.items[i].len)
            pins_add(pins, refs.items[i].path[0]);
    refs_done(&refs);
}

static bool is_plain(const struct expr *e)
{
    return e && expr_is_literal(e);
}

static bool is_same(const struct tree *a, const struct expr *in_a, const struct tree *b, const struct expr *in_b)
{
    return is_plain(in_a) && is_plain(in_b) && (in_a == in_b || tree_equal(a, in_a, b, in_b));
}

/* The value of the ad's attribute, with the offer as its counterpart; undefined if it is a list or an ad. */
static struct value pin_says(const struct provider_step *step, const struct tree *ad, const struct tree *offer,
                             symbol name)
{
    struct env env = provider_env(step->env);
    struct value v = value_undefined();
    struct pair pair;
    struct eval eval;

    if (!tree_find(ad, tree_root(ad), name))
        return v;
    pair_init(&pair, ad, offer);
    eval_init(&eval, &env, step->env->scratch);
    eval_attribute(&eval, &pair.left, name, &v);
    return v.type == VALUE_LIST || v.type == VALUE_AD ? value_undefined() : v;
}

static double number_of(const struct value *v)
{
    return v->type == VALUE_INTEGER ? (double)v->u.integer : v->u.real;
}

/* A job may take less than was pinned, never more. */
static struct value pin_least(struct value now, struct value pinned)
{
    return value_is_number(&now) && value_is_number(&pinned) && number_of(&now) <= number_of(&pinned) ? now : pinned;
}

/* How long it may run here, where it says so in seconds of another machine. */
static bool limit_fix(const struct tree *offer, const struct tree *ad, struct ad_setting *ret)
{
    double seconds;

    if (!time_limit_on(ad, offer, &seconds))
        return false;
    *ret = (struct ad_setting){symbols_take(ad->symbols, "TimeLimit", 9), value_real(seconds)};
    return true;
}

struct tree *pins_fix(const struct provider_step *step, struct tree *offer, struct tree *ad, const struct tree *pinned)
{
    struct ad_setting settings[PINS_MAX + 1];
    struct tree *fixed = NULL;
    uint32_t count = 0;
    struct pins pins;
    bool limit;

    if (!offer || !tree_is_ad(ad) || dock_has_ports(ad) || MUTANT(LIMITS_CHOSEN))
        return tree_ref(ad);
    pins_find(&pins, offer);
    for (uint32_t i = 0; i < pins.count; i++) {
        symbol name = pins.names[i];
        const struct expr *is = tree_find(ad, tree_root(ad), name), *was = tree_find(pinned, tree_root(pinned), name);
        struct value now;

        if ((!is && !was) || is_same(ad, is, pinned, was))
            continue;
        now = pin_says(step, ad, offer, name);
        settings[count++] =
            (struct ad_setting){name, ad == pinned ? now : pin_least(now, pin_says(step, pinned, offer, name))};
    }
    limit = limit_fix(offer, ad, &settings[count]);
    if (count + limit)
        fixed = ad_set(ad, settings, count + limit, NULL);
    if (limit)
        symbols_drop(ad->symbols, settings[count].name);
    return fixed ? fixed : tree_ref(ad);
}

/* ------------------------------------------------------------------------------------------------------------- ports */

static struct tree *ad_empty(struct symbols *symbols, const struct dialect *dialect)
{
    struct build build;
    struct tree *ad;
    uint32_t place;

    build_init(&build, symbols, dialect);
    ad = build_ad(&build, 0, &place) == 0 ? build_seal(&build) : NULL;
    build_done(&build);
    return ad;
}

/* What the superior's ad says for our port, under these names; returns how many. */
static uint32_t port_says(const struct provider_step *step, const struct tenant *tenant, const char *const *names,
                          size_t count, struct ad_setting *ret)
{
    struct docked us = {tenant->port, step->provider->offers[tenant->offer].whole, tenant->link};
    struct dock dock = {tenant->ad, &us, 1};
    struct env eval = provider_env(step->env);

    for (size_t i = 0; i < count; i++) {
        symbol name = symbols_take(tenant->ad->symbols, names[i], strlen(names[i]));

        ret[i] = (struct ad_setting){name, dock_says(&eval, step->env->scratch, &dock, 0, name)};
    }
    return (uint32_t)count;
}

static void settings_done(struct symbols *symbols, const struct ad_setting *settings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        symbols_drop(symbols, settings[i].name);
}

struct tree *pins_grant(const struct provider_step *step, const struct tenant *tenant)
{
    struct ad_setting settings[COUNT(limits)];
    struct tree *none, *grant = NULL;
    uint32_t count;

    if (!dock_has_ports(tenant->ad) || MUTANT(LIMITS_CHOSEN))
        return NULL;
    count = port_says(step, tenant, limits, COUNT(limits), settings);
    none = ad_empty(tenant->ad->symbols, tenant->ad->dialect);
    if (none)
        grant = ad_set(none, settings, count, NULL);
    tree_unref(none);
    settings_done(tenant->ad->symbols, settings, count);
    return grant;
}

/* --------------------------------------------------------------------------------------------------------- launching */

/* A job without ports that docks at us itself: it is bound by the values that our constraint has seen. */
static struct tree *grant_plain(const struct provider_step *step, const struct tenant *tenant, struct tree *job)
{
    struct tree *left = offer_left(step->provider, step->env, tenant->offer, TENANT_VERIFIED, tenant, &tenant->behind);
    struct ad_setting settings[COUNT(bounds)];
    struct tree *granted = NULL;
    uint32_t count = 0;

    for (size_t i = 0; left && i < COUNT(bounds); i++) {
        symbol name = symbols_find(job->symbols, bounds[i], strlen(bounds[i]));
        const struct expr *e = name ? tree_find(job, tree_root(job), name) : NULL;

        if (e && !is_plain(e))
            settings[count++] = (struct ad_setting){name, pin_says(step, job, left, name)};
    }
    if (count)
        granted = ad_set(job, settings, count, NULL);
    tree_unref(left);
    return granted ? granted : tree_ref(job);
}

/* Below a service the job has asked us for nothing: only what the superior's port says is granted. */
static struct tree *grant_docked(const struct provider_step *step, const struct tenant *tenant, struct tree *job)
{
    struct ad_setting said[COUNT(limits) + COUNT(bounds)], settings[COUNT(said)];
    uint32_t all = port_says(step, tenant, limits, COUNT(limits), said), count = 0;
    struct tree *granted = NULL;

    if (job == tenant->ad)
        all += port_says(step, tenant, bounds, COUNT(bounds), said + all);
    for (uint32_t i = 0; i < all; i++) {
        if (tenant->grant && i < COUNT(limits))
            said[i].value =
                pin_least(said[i].value,
                          pin_says(step, tenant->grant, step->provider->offers[tenant->offer].whole, said[i].name));
        if (said[i].value.type != VALUE_UNDEFINED || tree_find(job, tree_root(job), said[i].name))
            settings[count++] = said[i];
    }
    if (count)
        granted = ad_set(job, settings, count, NULL);
    settings_done(tenant->ad->symbols, said, all);
    return granted ? granted : tree_ref(job);
}

struct tree *tenant_grant(const struct provider_step *step, const struct tenant *tenant, struct tree *job)
{
    if (MUTANT(LIMITS_CHOSEN) && job == tenant->ad && !dock_has_ports(job))
        return tree_ref(job);
    return job == tenant->ad && !dock_has_ports(job) ? grant_plain(step, tenant, job) : grant_docked(step, tenant, job);
}
