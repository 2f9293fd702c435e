/* offers.c: the ads of a provider: each is written from its parts, and advertised while a claim could be accepted and something is left. */
#include "pool/provider/offers.h"
#include "lang/base/mem.h"
#include "lang/text/build.h"
#include "match/gang/dock.h"
#include "match/pair/match.h"
#include "match/pair/narrow.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/writers.h"
#include "pool/provider/calendar.h"
#include "pool/provider/docking.h"
#include "pool/provider/gpus.h"
#include "pool/provider/owner.h"
#include "pool/provider/provider_claims.h"
#include "pool/provider/provider_state.h"
#include "pool/provider/pulling.h"
#include "pool/provider/seconds.h"
#include "pool/provider/stands.h"
#include "pool/provider/successor.h"

#include <stdlib.h>
#include <string.h>

#define KEY_LIFETIMES 10 /* a key is used for that many lifetimes of the ad, and accepted for as many more */

/* The last writer: sets the owner, whatever the others say. */
static struct tree *write_owner(void *user, struct tree *ad, struct err *err)
{
    const char *identity = user;
    struct ad_setting owner = {symbols_take(ad->symbols, "Owner", 5), value_string(identity, strlen(identity))};
    struct tree *owned = ad_set(ad, &owner, 1, err);

    symbols_drop(ad->symbols, owner.name);
    return owned;
}

/* The pipeline of 3.4.1: the probed state, then configuration and policy over it, then the owner. */
static struct tree *offer_write(const struct provider *provider, const struct offer *offer)
{
    struct writer writers[] = {
        writer_layer("probe", offer->probe),
        writer_layer("configuration", offer->base),
        {"owner", write_owner, (void *)(uintptr_t)provider->settings->identity},
    };
    size_t count = sizeof writers / sizeof *writers - (provider->settings->identity ? 0 : 1);
    struct tree *ad = writers_run(writers, count, offer->base->symbols, offer->base->dialect, NULL);

    return ad ? ad : tree_ref(offer->base);
}

void offers_init(struct provider *provider)
{
    provider->offers = mem_alloc(provider->settings->count * sizeof *provider->offers);
    for (uint32_t i = 0; i < provider->settings->count; i++) {
        struct offer *offer = &provider->offers[i];

        *offer = (struct offer){.base = provider->settings->ads[i], .dirty = true, .set = INT64_MAX};
        offer->key_until = INT64_MIN;
        offer->whole = offer_write(provider, offer);
        advert_init(&offer->advert, provider->settings->ids[i], false, 0);
        seconds_init(provider, i);
        stands_init(provider, i);
    }
}

void offers_done(struct provider *provider)
{
    for (uint32_t i = 0; i < provider->settings->count; i++) {
        struct offer *offer = &provider->offers[i];

        advert_done(&offer->advert);
        seconds_done(provider, i);
        tree_unref(offer->probe);
        tree_unref(offer->whole);
        stands_done(provider, i);
    }
    free(provider->offers);
}

uint32_t offer_find(const struct provider *provider, uint64_t id)
{
    uint32_t place = 0;

    while (place < provider->settings->count && provider->settings->ids[place] != id)
        place++;
    return place;
}

/* Does the tenant have a part of the offer? A successor has none while claims in front are there; and as somebody
 * behind some claims sees it, those have none. */
static bool tenant_has(const struct tenant *tenant, const struct fronts *behind)
{
    return !tenant->behind.count && !fronts_have(behind, tenant->claim);
}

struct tree *offer_left(const struct provider *provider, const struct role_env *env, uint32_t place,
                        enum tenant_state from, const struct tenant *except, const struct fronts *behind)
{
    struct tree *left = tree_ref(provider->offers[place].whole);

    for (uint32_t i = 0; i < provider->tenant_count && left; i++) {
        const struct tenant *tenant = provider->tenants[i];
        struct tree *less;

        if (tenant == except || tenant->offer != place || tenant->state < from || !tenant_has(tenant, behind))
            continue;
        less = tenant_residual(env, tenant, left);
        tree_unref(left);
        left = less;
    }
    return gpus_left(provider, left, except, behind);
}

/* ------------------------------------------------------------------------------------------------------------- keys */

bool offer_key_used(const struct offer *offer, uint64_t claim)
{
    for (uint32_t k = 0; k < OFFER_KEYS; k++)
        for (uint32_t i = 0; i < offer->keys[k].used_count; i++)
            if (offer->keys[k].used[i] == claim)
                return true;
    for (uint32_t k = 0; k < SECONDS_MAX; k++)
        for (uint32_t i = 0; i < offer->seconds[k].key.used_count; i++)
            if (offer->seconds[k].key.used[i] == claim)
                return true;
    return false;
}

/* Makes a new key, on our own clock; the one before is still good, the one before that is forgotten. */
static void offer_renew_key(const struct provider_step *step, struct offer *offer)
{
    offer->keys[1] = offer->keys[0];
    offer->keys[0].used_count = 0;
    step->env->secrets->draw(step->env->secrets->user, &offer->keys[0].key, sizeof offer->keys[0].key);
    offer->key_until = step->env->now + KEY_LIFETIMES * step->provider->spans->lifetime;
    advert_set_key(&offer->advert, step->env->now, &offer->keys[0].key);
}

void offer_use_key(const struct provider_step *step, const struct tenant *tenant)
{
    struct offer *offer = &step->provider->offers[tenant->offer];
    uint64_t claim = tenant->claim;

    if (MUTANT(TICKET_TWICE))
        return;
    if (tenant->second) {
        struct offer_key *key = &offer->seconds[tenant->second - 1].key;

        if (key->used_count < OFFER_USED_MAX) /* when the list is full the next ad has a new key */
            key->used[key->used_count++] = claim;
        return;
    }
    /* which of the keys made the ticket does not matter: the claim is remembered for as long as either could have made
     * it */
    if (offer->keys[0].used_count == OFFER_USED_MAX)
        offer_renew_key(step, offer);
    offer->keys[0].used[offer->keys[0].used_count++] = claim;
}

/* ------------------------------------------------------------------------------------------------------ advertising */

void offer_wake(const struct provider_step *step, uint32_t place, int64_t at)
{
    struct offer *offer = &step->provider->offers[place];

    if (at >= offer->set)
        return;
    offer->set = at;
    timers_set(&step->provider->timers, at, TIMER_OFFER, place);
}

void offer_changed(const struct provider_step *step, uint32_t place)
{
    step->provider->offers[place].dirty = true;
    offer_wake(step, place, step->env->now);
}

bool offer_ails(const struct provider *provider, uint32_t place)
{
    const struct offer *offer = &provider->offers[place];
    symbol name = symbols_find(offer->base->symbols, "Unwell", 6);

    return offer->faulty || (offer->probe && name && tree_find(offer->probe, tree_root(offer->probe), name));
}

void offer_fails(const struct provider_step *step, uint32_t place)
{
    struct offer *offer = &step->provider->offers[place];

    if (!offer->faulty)
        effects_note(step->effects, REASON_FAULT, offer->advert.id, "a job could not be run: takes no more for now");
    offer->faulty = true;
    offer_changed(step, place);
}

void offer_probed(const struct provider_step *step, uint32_t place, struct tree *probe)
{
    struct offer *offer;

    if (place >= step->provider->settings->count || !probe || !tree_is_ad(probe) ||
        probe->symbols != step->provider->offers[place].base->symbols ||
        probe->dialect != step->provider->offers[place].base->dialect)
        return;
    offer = &step->provider->offers[place];
    tree_unref(offer->probe);
    offer->probe = tree_ref(probe);
    tree_unref(offer->whole);
    offer->whole = offer_write(step->provider, offer);
    stands_probed(step, place);
    offer->faulty = false; /* the probe knows what came of the machine's jobs, and says so anew */
    offer_changed(step, place);
    if (step->provider->booted)
        tenants_check(step, place);
    if (step->provider->booted && offer_ails(step->provider, place))
        tenants_spare(step, place);
}

static bool offer_is_used(const struct provider *provider, uint32_t place)
{
    for (uint32_t i = 0; i < provider->tenant_count; i++)
        if (provider->tenants[i]->offer == place)
            return true;
    return false;
}

static const struct expr *start_of(const struct tree *ad)
{
    symbol name = symbols_find(ad->symbols, "Start", 5);

    return name ? tree_find(ad, tree_root(ad), name) : NULL;
}

bool offer_starts(const struct provider_step *step, uint32_t place, const struct tree *ad)
{
    const struct tree *whole = step->provider->offers[place].whole;
    struct env eval = provider_env(step->env);

    return !start_of(whole) || match_says(&eval, step->env->scratch, whole, "Start", ad);
}

/* The offer with its Start in its constraint; takes `left`. */
static struct tree *offer_narrow(struct tree *left)
{
    struct tree *text = left ? constraint_narrow(left, left, start_of(left)) : NULL;

    tree_unref(left);
    return text;
}

struct tree *offer_whole(const struct provider *provider, uint32_t place)
{
    return offer_narrow(tree_ref(provider->offers[place].whole));
}

/* An offer that ails is still advertised, so that people see what it lacks, but nobody fits it. An offer with ports is
 * not, because others would still ask for it by its ports; nor is one that pulls. */
static struct tree *offer_ailing(const struct provider_step *step, uint32_t place)
{
    const struct offer *offer = &step->provider->offers[place];
    const struct expr *own = match_constraint(offer->whole);
    struct ad_setting settings[] = {
        {own ? own->label : NAME_CONSTRAINT, value_boolean(false)},
        {symbols_take(offer->whole->symbols, "Unwell", 6), value_string("a job could not be run", 22)},
    };
    struct tree *text = NULL;

    if (!step->provider->settings->pool_count && !dock_has_ports(offer->whole))
        text = ad_set(offer->whole, settings, offer->faulty ? 2 : 1, NULL);
    symbols_drop(offer->whole->symbols, settings[1].name);
    return text;
}

/* The ad that should be there now; NULL: none. Sets when the time alone may change that. */
static struct tree *offer_text(const struct provider_step *step, uint32_t place)
{
    struct offer *offer = &step->provider->offers[place];
    struct env eval = provider_env(step->env);
    struct owner owner = {.until = OWNER_NEVER};
    struct tree *left = NULL;
    int64_t look;

    offer->look = INT64_MAX;
    if (!step->provider->draining && !offer_ails(step->provider, place)) {
        left = offer_left(step->provider, step->env, place, TENANT_MATCHED, NULL, NULL);
        left = calendar_narrow(step, place, offer_narrow(successor_reserves(step, place, left)));
    }
    if (left)
        owner_look(&eval, step->env->scratch, left, &owner);
    look = stands_look(step, place, left, &owner);
    if (step->provider->draining)
        return NULL;
    if (offer_ails(step->provider, place))
        return offer_ailing(step, place);
    offer->look = owner.until < look ? owner.until : look;
    if (!left)
        return NULL;
    if (offer->closed == owner.open)
        effects_note(step->effects,
                     owner.open                             ? REASON_OK
                     : offer_is_used(step->provider, place) ? REASON_CONSUMED
                                                            : REASON_VETOED,
                     offer->advert.id, owner.open ? "others are let in" : "nobody can be let in now: withdrawn");
    offer->closed = !owner.open;
    if (owner.open)
        return left;
    tree_unref(left);
    return NULL;
}

void offer_due(const struct provider_step *step, uint32_t place)
{
    struct offer *offer = &step->provider->offers[place];
    int64_t now = step->env->now, wall = step->env->wall / SECOND, again;

    if (offer->set <= now)
        offer->set = INT64_MAX;
    if (wall < offer->looked) /* a clock that was ahead decided the ad and `look`: both are made anew */
        offer->dirty = true;
    offer->looked = wall;
    if (offer->dirty || wall >= offer->look) {
        struct tree *text = offer_text(step, place);
        uint64_t version = offer->advert.version;

        advert_want(&offer->advert, now, text);
        if (offer->advert.version != version)
            pulling_moved(step, place);
        tree_unref(text);
    }
    seconds_look(step, place);
    offer->dirty = false;
    if (offer->advert.text && now >= offer->key_until)
        offer_renew_key(step, offer);
    /* before the ad that says what is left: who has only the ad takes it for the whole */
    offer_wake(step, place, stands_run(step, place));
    again = step->provider->settings->pool_count
                ? pulling_run(step, place)
                : advert_run(&offer->advert, step->env, step->provider->settings->matchmaker, place,
                             step->provider->stored, step->effects);
    offer_wake(step, place, again);
    offer_wake(step, place, seconds_run(step, place));
    for (uint32_t k = 0; k < SECONDS_MAX; k++)
        if (offer->seconds[k].look < offer->look)
            offer->look = offer->seconds[k].look;
    if (offer->look != INT64_MAX && offer->look - wall < spans_margin(step->provider->spans))
        offer_wake(step, place, now + (offer->look - wall) * SECOND);
}

void offers_boot(const struct provider_step *step)
{
    for (uint32_t i = 0; i < step->provider->settings->count; i++) {
        step->provider->offers[i].advert.version = step->provider->starts << 32;
        for (uint32_t k = 0; k < SECONDS_MAX; k++)
            step->provider->offers[i].seconds[k].advert.version = step->provider->starts << 32;
        step->provider->offers[i].pulling.number = step->provider->starts << 32;
        step->provider->offers[i].sure = step->env->now + step->provider->spans->deadline;
        stands_boot(step, i);
        offer_changed(step, i);
    }
}

void offer_answer(const struct provider_step *step, uint32_t place, const struct event *event)
{
    uint32_t count = step->provider->settings->count, second = count ? place / count : 0;
    struct advert *advert;
    uint64_t teller;

    if (!count || second > SECONDS_MAX)
        return;
    place %= count;
    advert = offer_advert(step->provider, place, second);
    teller = advert->teller;
    advert_answer(advert, step->env, step->provider->spans, event, step->effects);
    if (teller && advert->teller != teller) /* another life of the matchmaker, which knows nothing of the machine */
        stands_again(step, place, step->provider->settings->matchmaker, false);
    offer_due(step, place);
}

void offers_again(const struct provider_step *step, agent matchmaker)
{
    for (uint32_t i = 0; i < step->provider->settings->count; i++) {
        if (matchmaker == step->provider->settings->matchmaker) {
            advert_again(&step->provider->offers[i].advert, step->env->now);
            for (uint32_t k = 0; k < SECONDS_MAX; k++)
                advert_again(&step->provider->offers[i].seconds[k].advert, step->env->now);
        }
        pulling_again(step, i, matchmaker);
        stands_again(step, i, matchmaker, true);
        offer_due(step, i);
    }
}

void offer_matched(const struct provider_step *step, uint32_t place, struct advert *advert, uint64_t incarnation,
                   uint64_t number)
{
    advert_saw(advert, step->env->now, incarnation, number);
    offer_changed(step, place);
}
