/* pulling.c: a provider that asks for requests itself, while something is left and a claim could be accepted.
 *
 *     which pool?   first those whose part of the last claims is below their share, from the last to the first;
 *                   then all in the order of the list; the first of these that is due
 *
 * One pull of an offer is under way at a time. A pull that is not answered is repeated under the same number, so that a match whose answer
 * was lost is heard of after all; when its window is over, a new pull is made. */
#include "pool/provider/pulling.h"
#include "lang/base/mem.h"
#include "lang/text/build.h"
#include "match/pair/match.h"
#include "match/pair/narrow.h"
#include "pool/protocol/ticket.h"
#include "pool/provider/offers.h"
#include "pool/provider/provider_claims.h"
#include "pool/provider/provider_state.h"
#include "pool/provider/session.h"

#include <string.h>

uint32_t pulling_pool(const struct provider *provider, agent matchmaker)
{
    for (uint32_t i = 0; i < provider->settings->pool_count; i++)
        if (provider->settings->pools[i].matchmaker == matchmaker)
            return i + 1;
    return 0;
}

agent pulling_registrar(const struct provider *provider, const struct tenant *tenant)
{
    return tenant->pool ? provider->settings->pools[tenant->pool - 1].matchmaker : provider->settings->matchmaker;
}

/* ------------------------------------------------------------------------------------------------------------ access */

static bool pool_admits(const struct provider_step *step, uint32_t pool, const struct tree *ad)
{
    const struct tree *access = step->provider->settings->pools[pool].access;
    struct env eval = provider_env(step->env);

    return !access || match_accepts(&eval, step->env->scratch, access, ad);
}

/* A claim whose pool is not known, after a restart, must be one that some pool would let in. */
bool pulling_admits(const struct provider_step *step, const struct tenant *tenant, const struct tree *ad)
{
    uint32_t count = step->provider->settings->pool_count;

    if (!count || (tenant && tenant->pool))
        return !count || pool_admits(step, tenant->pool - 1, ad);
    for (uint32_t i = 0; i < count; i++)
        if (pool_admits(step, i, ad))
            return true;
    return false;
}

/* The ad with the pool's rule in its constraint, so that no request is matched for nothing. The caller unrefs it. */
static struct tree *pool_text(struct tree *ad, const struct tree *access)
{
    return constraint_narrow(ad, access, access ? match_constraint(access) : NULL);
}

/* ------------------------------------------------------------------------------------------------------- which pool */

void pulling_claimed(const struct provider_step *step, const struct tenant *tenant)
{
    struct provider *provider = step->provider;

    for (uint32_t i = 0; i < provider->settings->pool_count && tenant->pool; i++)
        provider->parts[i] += ((tenant->pool == i + 1 ? 1.0 : 0.0) - provider->parts[i]) / POOL_CLAIMS;
}

/* The pool to ask first among those that are due, or the number of pools. */
static uint32_t pool_choose(const struct provider *provider, const struct pulling *pulling, int64_t now)
{
    const struct provider_settings *settings = provider->settings;

    for (uint32_t i = settings->pool_count; i-- > 0;)
        if (provider->parts[i] < settings->pools[i].share && pulling->due[i] <= now)
            return i;
    for (uint32_t i = 0; i < settings->pool_count; i++)
        if (pulling->due[i] <= now)
            return i;
    return settings->pool_count;
}

void pulling_moved(const struct provider_step *step, uint32_t place)
{
    struct pulling *pulling = &step->provider->offers[place].pulling;

    for (uint32_t i = 0; i < step->provider->settings->pool_count; i++)
        if (!pulling->asked || i + 1 != pulling->asked)
            pulling->due[i] = step->env->now;
}

void pulling_again(const struct provider_step *step, uint32_t place, agent matchmaker)
{
    struct pulling *pulling = &step->provider->offers[place].pulling;
    uint32_t pool = pulling_pool(step->provider, matchmaker);

    if (pool && pulling->due[pool - 1] > step->env->now)
        pulling->due[pool - 1] = step->env->now;
}

/* ----------------------------------------------------------------------------------------------------- question, answer */

static void pulling_ask(const struct provider_step *step, uint32_t place, uint32_t pool)
{
    struct offer *offer = &step->provider->offers[place];
    const struct provider_pool *where = &step->provider->settings->pools[pool];
    struct message message = {.kind = MESSAGE_PULL};

    message.u.pull = (struct pull){
        .id = offer->advert.id, .number = offer->pulling.number, .ad = pool_text(offer->advert.text, where->access)};
    ticket_pool_key(step->env->secrets, &offer->keys[0].key, where->matchmaker, &message.u.pull.key);
    offer->pulling.asked = pool + 1;
    offer->pulling.flying = true;
    effects_send(step->effects, where->matchmaker, &message, place, TAG_PULL, step->provider->stored);
    message_done(&message);
}

int64_t pulling_run(const struct provider_step *step, uint32_t place)
{
    struct offer *offer = &step->provider->offers[place];
    struct pulling *pulling = &offer->pulling;
    uint32_t count = step->provider->settings->pool_count, pool;
    int64_t now = step->env->now, next = INT64_MAX;

    if (pulling->asked && !pulling->flying && now >= pulling->repeat_until)
        pulling->asked = 0;
    if (pulling->flying || !offer->advert.text)
        return INT64_MAX;
    if (pulling->asked) {
        if (pulling->due[pulling->asked - 1] > now)
            return pulling->due[pulling->asked - 1];
        pulling_ask(step, place, pulling->asked - 1);
        return INT64_MAX;
    }
    pool = pool_choose(step->provider, pulling, now);
    if (pool < count) {
        pulling->number++;
        pulling->pause = 0;
        pulling->repeat_until = now + step->provider->spans->window;
        pulling_ask(step, place, pool);
        return INT64_MAX;
    }
    for (uint32_t i = 0; i < count; i++)
        next = pulling->due[i] < next ? pulling->due[i] : next;
    return next;
}

/* A request was found: this is a match like any other. */
static void pulled_match(const struct provider_step *step, uint32_t place, uint32_t pool, const struct pulled *pulled)
{
    struct match_told told = {.id = pulled->id,
                              .incarnation = pulled->incarnation,
                              .age = pulled->age,
                              .window = pulled->window,
                              .gang = pulled->gang,
                              .claim = pulled->claim,
                              .superior = pulled->superior,
                              .superior_ad = pulled->superior_ad,
                              .receipt = pulled->receipt};
    struct tenant *tenant = match_admit(step, place, &told);

    if (!tenant) /* the customer may have been quicker, and its claim verified already */
        tenant = tenant_find(step->provider, pulled->claim);
    if (tenant && !tenant->pool && tenant->offer == place && tenant->superior == pulled->superior)
        tenant->pool = pool + 1;
    offer_changed(step, place);
}

static void pulled(const struct provider_step *step, uint32_t place, uint32_t pool, const struct pulled *told)
{
    struct pulling *pulling = &step->provider->offers[place].pulling;
    int64_t now = step->env->now, lifetime = step->provider->spans->lifetime;

    pulling->asked = 0;
    pulling->due[pool] = now;
    switch (told->reason) {
    case REASON_OK:
        pulled_match(step, place, pool, told);
        break;
    case REASON_WAIT:
        pulling->due[pool] = now + (told->span > 0 && told->span < lifetime ? told->span : lifetime);
        break;
    case REASON_STALE: /* an earlier life of ours has pulled since, or the window is over */
        pulling->number = told->number > pulling->number ? told->number : pulling->number;
        break;
    default:
        effects_note(step->effects, told->reason, told->id, "the matchmaker refused the pull");
        pulling->due[pool] = now + lifetime;
        break;
    }
}

void pulling_answer(const struct provider_step *step, const struct event *event)
{
    const struct message *message = event->message;
    uint32_t place = event->token < step->provider->settings->count ? (uint32_t)event->token : UINT32_MAX, pool;
    struct pulling *pulling = place == UINT32_MAX ? NULL : &step->provider->offers[place].pulling;

    if (!pulling || !pulling->flying)
        return;
    pulling->flying = false;
    pool = pulling->asked - 1;
    if (event->answer == ANSWER_GOT && message && message->kind == MESSAGE_PULLED &&
        (message->u.pulled.number == pulling->number || message->u.pulled.reason != REASON_OK))
        pulled(step, place, pool, &message->u.pulled);
    else
        pulling->due[pool] = step->env->now + pause_next(&pulling->pause, step->env, step->provider->spans);
    offer_due(step, place);
}
