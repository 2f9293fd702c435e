/* admission.c: who may have a unit of an offer: matches that are announced, and the verification of superiors that come to claim.
 *
 * A ticket is proved, not shown; the ad's owner is the one whom the world has proved; and our own constraint, in our present state, has
 * the last word. */
#include "lang/ad/make.h"
#include "lang/ad/names.h"
#include "match/gang/dock.h"
#include "match/gang/ports.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/receipt.h"
#include "pool/protocol/ticket.h"
#include "pool/provider/calendar.h"
#include "pool/provider/docking.h"
#include "pool/provider/gpus.h"
#include "pool/provider/offers.h"
#include "pool/provider/provider_claims.h"
#include "pool/provider/provider_state.h"
#include "pool/provider/pulling.h"
#include "pool/provider/seconds.h"
#include "pool/provider/session.h"
#include "pool/provider/subordinates.h"
#include "pool/provider/successor.h"

#include <string.h>

#define SLOT_WINDOWS 1 /* a challenge is good for that many windows and one more */

/* ---------------------------------------------------------------------------------------------------- being matched */

/* Remembers an abort: a customer that does not want a match may say so before we have heard of the match. */
void match_unwanted(struct provider *provider, uint64_t claim, agent superior)
{
    uint32_t at = provider->unwanted_at++ % UNWANTED_MAX;

    provider->unwanted[at].claim = claim;
    provider->unwanted[at].superior = superior;
}

static bool match_is_unwanted(const struct provider *provider, const struct match_told *told)
{
    for (uint32_t i = 0; i < UNWANTED_MAX; i++)
        if (provider->unwanted[i].claim == told->claim && provider->unwanted[i].superior == told->superior)
            return told->claim != 0;
    return false;
}

/* The claim may come before the news of its match: then the matchmaker's receipt replaces the one that the superior
 * handed us. */
static void match_receipt(const struct provider_step *step, uint32_t place, const struct match_told *told)
{
    struct tenant *tenant = tenant_find(step->provider, told->claim);

    if (!tenant || tenant->offer != place || tenant->superior != told->superior || tenant->gang != told->gang ||
        !receipt_is_for(told->receipt, told->claim) || tenant->receipt == told->receipt)
        return;
    tenant_set_receipt(tenant, told->receipt);
    if (tenant->state == TENANT_PINNED || tenant->state == TENANT_CLAIMED)
        tenant_store(step, tenant);
}

/* The match becomes a tenant that keeps its unit for the window, unless the match is known, too old, not wanted or one too many. */
struct tenant *match_admit(const struct provider_step *step, uint32_t place, const struct match_told *told)
{
    struct provider *provider = step->provider;
    struct tenant *tenant;
    uint32_t matched = 0;
    int64_t left = told->age >= 0 && told->window > told->age ? told->window - told->age : 0;

    match_receipt(step, place, told);
    for (uint32_t i = 0; i < provider->tenant_count; i++)
        matched += provider->tenants[i]->offer == place && provider->tenants[i]->state == TENANT_MATCHED;
    if (tenant_find(provider, told->claim) || !told->superior_ad || !tree_is_ad(told->superior_ad) || left == 0 ||
        matched >= MATCHED_MAX || provider->tenant_count >= TENANTS_MAX ||
        offer_key_used(&provider->offers[place], told->claim) || match_is_unwanted(provider, told))
        return NULL;
    tenant = tenant_new(step, told->claim, place);
    tenant->gang = told->gang;
    tenant->superior = told->superior;
    tenant_set_ad(tenant, told->superior_ad);
    tenant->port = told->port;
    tenant->link = told->link;
    if (receipt_is_for(told->receipt, told->claim))
        tenant_set_receipt(tenant, told->receipt);
    tenant_recruit(tenant, told->edges, told->below);
    tenant->root = told->customer;
    tenant->until = step->env->now + (left < provider->spans->window ? left : provider->spans->window);
    tenant_set(step, tenant, tenant->until);
    return tenant;
}

/* The notification is a courtesy: it names the match, and keeps the unit out of the next ad for a while. */
void told_match(const struct provider_step *step, const struct event *event)
{
    const struct match_told *told = &event->message->u.match_told;
    struct provider *provider = step->provider;
    struct message message = {.kind = MESSAGE_GOT};
    bool closed = false; /* no successor can come behind the claims */
    uint32_t second, place = offer_named(provider, told->id, &second);
    struct fronts behind = {.count = 0};
    struct advert *advert = NULL;

    if (place < provider->settings->count) {
        advert = offer_advert(provider, place, second);
        if (second)
            second_fronts(provider, place, second, &behind);
        closed = second && (!behind.count || successor_other(provider, place, &behind, told->claim));
    }

    if (event->peer->agent != provider->settings->matchmaker)
        message.u.got.reason = REASON_IDENTITY;
    else if (advert && !advert_knows(advert, told->incarnation))
        message.u.got.reason = REASON_WAIT;
    if (message.u.got.reason != REASON_OK) {
        effects_reply(step->effects, event->token, &message, 0);
        return;
    }
    if (advert) {
        struct tenant *tenant;

        offer_matched(step, place, advert, told->incarnation, told->number);
        tenant = closed ? NULL : match_admit(step, place, told);
        if (tenant) {
            tenant->behind = behind;
            tenant->second = second;
            tenant->pool = pulling_pool(provider, provider->settings->matchmaker);
        }
    }
    effects_reply(step->effects, event->token, &message, 0);
}

/* ---------------------------------------------------------------------------------------------------------- verify */

void reply_verified(const struct provider_step *step, uint64_t token, const struct verified *verified)
{
    struct message message = {.kind = MESSAGE_VERIFIED};

    message.u.verified = *verified;
    effects_reply(step->effects, token, &message, 0);
}

/* A challenge depends on who asks for what, on which channel, and when; so none need be remembered. */
static void challenge(const struct provider_step *step, const struct event *event, uint64_t back, struct key *ret)
{
    uint64_t slot = (uint64_t)(step->env->now / (SLOT_WINDOWS * step->provider->spans->window)) - back;

    ticket_nonce(step->env->secrets, &step->provider->challenges, event->message->u.verify.claim, event->peer->agent,
                 event->peer->channel, slot, ret);
}

bool tenant_owns(const struct tenant *tenant, const struct tree *ad)
{
    symbol name = symbols_find(ad->symbols, "Owner", 5);
    const struct expr *owner = name ? tree_find(ad, tree_root(ad), name) : NULL;

    return !owner || (owner->kind == EXPR_STRING && owner->u.run.count == strlen(tenant->owner.bytes) &&
                      memcmp(tree_string(ad, owner), tenant->owner.bytes, owner->u.run.count) == 0);
}

/* Does a port of the ad say who its owner is? Whoever docks there would believe that, and not what the ad says. */
static bool port_says_owner(const struct tree *ad, symbol name)
{
    struct ports ports;
    bool says;

    if (!tree_find(ad, tree_root(ad), NAME_PORTS))
        return false;
    if (ports_read(&ports, ad, NULL) < 0)
        return true;
    says = ports_say(&ports, name);
    ports_done(&ports);
    return says;
}

/* Has the peer proved to be the user whom the ad names as its owner, or may it act for any user? */
static bool owner_proved(const struct peer *peer, const struct tree *ad, struct text *ret_owner)
{
    symbol name = symbols_find(ad->symbols, "Owner", 5);
    const struct expr *owner = name ? tree_find(ad, tree_root(ad), name) : NULL;
    const char *text = peer->identity;
    size_t len = strlen(text);

    if (name && port_says_owner(ad, name))
        return false;
    if (owner) {
        if (owner->kind != EXPR_STRING)
            return false;
        text = tree_string(ad, owner);
        len = owner->u.run.count;
        if (!peer->any && !MUTANT(OWNER_UNCHECKED) &&
            (len != strlen(peer->identity) || memcmp(text, peer->identity, len) != 0))
            return false;
    }
    return text_set(ret_owner, text, len);
}

/* The answer to a superior that has proved its ticket. */
struct answering {
    struct key nonce, proof;
    uint32_t pool; /* the ticket's pool, plus 1; 0: this provider does not pull */
};

/* Does the proof belong to the ticket that this key makes? Then `ret` gets our proof. */
static bool key_holds(const struct provider_step *step, const struct event *event, const struct key *key,
                      const char *owner, const char *root_owner, struct answering *ret)
{
    const struct verify *verify = &event->message->u.verify;
    const struct secrets *secrets = step->env->secrets;
    bool holds = false;

    for (uint64_t back = 0; back < 2; back++) {
        struct key ticket, nonce, proof;

        ticket_make_below(secrets, key, verify->offer, verify->claim, verify->gang, owner, root_owner, &ticket);
        challenge(step, event, back, &nonce);
        ticket_proof(secrets, &ticket, true, &nonce, &verify->nonce, event->peer->channel, &proof);
        if (key_equal(&proof, &verify->proof)) {
            holds = true;
            ret->nonce = nonce;
            ticket_proof(secrets, &ticket, false, &nonce, &verify->nonce, event->peer->channel, &ret->proof);
        }
    }
    return holds;
}

/* A superior that comes to claim, and the claims that it would follow. */
struct comer {
    struct tenant *tenant; /* or NULL */
    uint64_t claim;
    struct fronts behind;
    uint32_t second;
};

/* Tries the keys of the ad that was matched: the offer's, or the one for the claims in front. A provider that pulls has
 * its own keys for each pool: so it knows which pool the ticket is from. */
static bool proof_holds(const struct provider_step *step, const struct event *event, const struct offer *offer,
                        const struct comer *comer, const char *owner, const char *root_owner, struct answering *ret)
{
    const struct provider_settings *settings = step->provider->settings;
    bool holds = false;

    ret->pool = pulling_pool(step->provider, settings->matchmaker);
    if (comer->second)
        return key_holds(step, event, &offer->seconds[comer->second - 1].key.key, owner, root_owner, ret);
    for (uint32_t k = 0; k < OFFER_KEYS && !settings->pool_count; k++)
        holds = key_holds(step, event, &offer->keys[k].key, owner, root_owner, ret) || holds;
    for (uint32_t i = 0; i < settings->pool_count; i++)
        for (uint32_t k = 0; k < OFFER_KEYS; k++) {
            struct key key;

            ticket_pool_key(step->env->secrets, &offer->keys[k].key, settings->pools[i].matchmaker, &key);
            if (!key_holds(step, event, &key, owner, root_owner, ret))
                continue;
            holds = true;
            ret->pool = i + 1;
        }
    return holds;
}

static bool comer_accepted(const struct provider_step *step, uint32_t place, const struct comer *comer,
                           const struct docked *superior)
{
    return tenant_docks(step, place, comer->tenant, &comer->behind, superior) &&
           gpus_suffice(step, place, comer->tenant, &comer->behind, superior->ad) &&
           (comer->behind.count ? successor_preferred(step, &comer->behind, superior)
                                : successor_leaves(step, place, comer->tenant, superior));
}

/* Is another claim being verified for what this one would have? Then it is told how long that may last. A claim may
 * have what is left beside the other: a machine with many cores verifies many claims at once. Behind claims there is
 * room for one. */
static bool offer_busy(const struct provider_step *step, uint32_t place, const struct comer *comer,
                       const struct docked *superior, int64_t *ret_span)
{
    const struct tenant *other = successor_other(step->provider, place, &comer->behind, comer->claim);

    if (other) {
        *ret_span = other->state == TENANT_VERIFIED ? other->until - step->env->now : step->provider->spans->window;
        return true;
    }
    for (uint32_t i = 0; i < step->provider->tenant_count; i++) {
        const struct tenant *tenant = step->provider->tenants[i];

        if (tenant->offer == place && tenant->claim != comer->claim && tenant->state == TENANT_VERIFIED) {
            *ret_span = tenant->until - step->env->now;
            return !comer_accepted(step, place, comer, superior);
        }
    }
    return false;
}

/* `ad` is the superior's, with what it takes as plain numbers. */
static void verified_tenant(const struct provider_step *step, const struct event *event, uint32_t place,
                            const struct comer *comer, struct tree *ad, struct verified *verified)
{
    const struct verify *verify = &event->message->u.verify;
    struct tenant *tenant = comer->tenant;
    struct docked superior = {verify->link, ad, verify->port};
    const struct offer *offer = &step->provider->offers[place];
    struct text owner, root_owner = verify->root_owner;
    struct answering answering;
    bool late;

    if (!owner_proved(event->peer, ad, &owner)) {
        verified->reason = REASON_IDENTITY;
        return;
    }
    /* the root owner is believed if the ticket was made for it; if not, the superior's owner is charged */
    if (!proof_holds(step, event, offer, comer, owner.bytes, root_owner.bytes, &answering)) {
        text_set(&root_owner, "", 0);
        if (!proof_holds(step, event, offer, comer, owner.bytes, "", &answering)) {
            verified->reason = REASON_TICKET;
            return;
        }
    }
    if (tenant && tenant->pool && tenant->pool != answering.pool) {
        verified->reason = REASON_TICKET;
        return;
    }
    if (tenant)
        tenant->pool = answering.pool;
    if (!pulling_admits(step, &(struct tenant){.pool = answering.pool}, ad) || !offer_starts(step, place, ad) ||
        !calendar_admits(step, place, root_owner.bytes[0] ? root_owner.bytes : owner.bytes, ad) ||
        !tenant_is_whole(step, place, tenant, &superior) || !comer_accepted(step, place, comer, &superior)) {
        verified->reason = REASON_CONSTRAINT;
        return;
    }
    if (!tenant) {
        if (step->provider->tenant_count == TENANTS_MAX) {
            verified->reason = REASON_LIMIT;
            return;
        }
        tenant = tenant_new(step, verify->claim, place);
    }
    late = comer->tenant && tenant->state == TENANT_MATCHED &&
           tenant->until - step->env->now < step->provider->spans->window / 2;
    if (tenant->state != TENANT_VERIFIED) /* a repeat does not prolong the time */
        tenant->until = step->env->now + step->provider->spans->window;
    tenant->state = TENANT_VERIFIED;
    tenant->gang = verify->gang;
    tenant->offer = place;
    tenant->port = verify->port;
    tenant->link = verify->link;
    tenant->superior = event->peer->agent;
    tenant->owner = owner;
    tenant->root_owner = root_owner;
    tenant->behind = comer->behind;
    tenant->second = comer->second;
    tenant_set_ad(tenant, ad);
    tree_unref(tenant->grant);
    tenant->grant = pins_grant(step, tenant);
    if (!tenant->receipt && receipt_is_for(verify->receipt, verify->claim))
        tenant_set_receipt(tenant, verify->receipt);
    tenant_set(step, tenant, tenant->until);
    offer_changed(step, place);
    tenant->pool = answering.pool;
    tenant->nonce = answering.nonce;
    tenant->proof = answering.proof;
    if (late) /* the match's own window may be over before the claim is pinned: then its limits must not be given away */
        tenant_report(step, tenant, false);
    verified->reason = REASON_OK;
}

/* The ad's amounts as plain numbers, evaluated against what is left of the offer for this claim. */
static struct tree *comer_ad(const struct provider_step *step, uint32_t place, const struct comer *comer,
                             struct tree *ad)
{
    struct tree *left = offer_left(step->provider, step->env, place, TENANT_VERIFIED, comer->tenant, &comer->behind);
    struct tree *fixed = pins_fix(step, left, ad, ad);

    tree_unref(left);
    return fixed;
}

/* What is shown says that the claim's next job may be started without being announced before: providers of before did not look at all that they must
 * when a job is started. */
static struct tree *shown_promises(const struct provider_step *step, struct tree *shown)
{
    struct maker maker;

    if (!shown || !tree_is_ad(shown))
        return shown;
    maker_init(&maker, step->env->symbols);
    maker_parts(&maker, shown, AD_STARTS_NEXT);
    maker_flag(&maker, AD_STARTS_NEXT, true);
    tree_unref(shown);
    return maker_seal(&maker);
}

/* The claim is accepted: the answer has the offer as it is for this claim, and proves that we know the ticket too. */
void tenant_verified(const struct provider_step *step, struct tenant *tenant, uint64_t token)
{
    struct tree *left = offer_left(step->provider, step->env, tenant->offer, TENANT_VERIFIED, tenant, &tenant->behind);
    struct tree *shown = left ? shown_promises(step, tenant_shows(step, tenant, left)) : NULL;
    struct verified verified = {.claim = tenant->claim,
                                .reason = left ? REASON_OK : REASON_BUSY,
                                .nonce = tenant->nonce,
                                .proof = tenant->proof,
                                .ad = shown};

    reply_verified(step, token, &verified);
    tree_unref(shown);
    tree_unref(left);
}

void told_verify(const struct provider_step *step, const struct event *event)
{
    const struct verify *verify = &event->message->u.verify;
    struct provider *provider = step->provider;
    struct tenant *tenant = tenant_find(provider, verify->claim);
    struct comer comer = {.tenant = tenant, .claim = verify->claim};
    struct docked superior = {verify->link, verify->ad, verify->port};
    uint32_t place = offer_named(provider, verify->offer, &comer.second);
    struct verified verified = {.claim = verify->claim};
    bool follows = tenant && tenant->second && tenant->second == comer.second && tenant->offer == place;

    if (follows) /* a matched successor keeps its place when claims in front have ended */
        comer.behind = tenant->behind;
    else if (comer.second)
        second_fronts(provider, place, comer.second, &comer.behind);
    if (place == provider->settings->count || (comer.second && !comer.behind.count && !follows)) {
        verified.reason = REASON_UNKNOWN;
    } else if (!verify->ad || !tree_is_ad(verify->ad)) {
        verified.reason = REASON_INVALID;
    } else if (provider->draining || offer_ails(provider, place)) {
        verified.reason = REASON_DRAINING;
    } else if ((tenant && tenant->state > TENANT_VERIFIED) || offer_key_used(&provider->offers[place], verify->claim)) {
        verified.reason = REASON_TICKET;
    } else if (tenant && tenant->state == TENANT_VERIFIED &&
               (tenant->superior != event->peer->agent || tenant->offer != place || tenant->second != comer.second)) {
        verified.reason = REASON_IDENTITY;
    } else if (offer_busy(step, place, &comer, &superior, &verified.span) ||
               (verify->leads && (!tenant || !tenant->crew.count)) || (tenant && tenant->waits == WAITS_COMMIT)) {
        verified.reason = REASON_BUSY; /* or the tenant has not heard yet which subordinates it leads */
    } else if (!verify->proves) {
        verified.reason = REASON_CHALLENGE;
        challenge(step, event, 0, &verified.nonce);
    } else {
        struct tree *ad = comer_ad(step, place, &comer, verify->ad);

        superior.ad = ad;
        successor_chooses(step, place, comer.tenant, &superior, &comer.behind);
        verified_tenant(step, event, place, &comer, ad, &verified);
        tree_unref(ad);
        if (verified.reason == REASON_OK) {
            subordinates_verify(step, tenant_find(provider, verify->claim), event->token);
            return;
        }
    }
    reply_verified(step, event->token, &verified);
}
