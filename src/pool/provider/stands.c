/* stands.c: tells matchmakers how the machine behind each offer stands, whether or not anything of it is offered now.
 *
 *     the state or its claims change        -> told at once, but no sooner than STANDS_PAUSE after the last time
 *     the first claim comes                 -> told at once, before the ad of what is left, which whoever knows only ads would take for the whole
 *     a booking or kept room changes        -> the same, but no sooner than STANDS_HURRY: somebody waits to see it
 *     a claim runs another job              -> its new end is told when the machine would be told again anyway
 *     no ad is in the pool                  -> told again twice in a lifetime, as an ad would be renewed; or once, while a claim is reported
 *     only probed values move               -> the whole ad is told again once in a lifetime
 *     the matchmaker refuses, or is older   -> it is asked again after a lifetime
 *
 * A machine that is idle since its provider began says so once: then its offer says it all. Nobody is matched or refused because of what is told here. */
#include "pool/provider/stands.h"

#include "lang/ad/make.h"
#include "lang/base/cut.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "lang/base/textmap.h"
#include "match/pair/residual.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/writers.h"
#include "pool/provider/calendar.h"
#include "pool/provider/docking.h"
#include "pool/provider/offers.h"
#include "pool/provider/provider_claims.h"
#include "pool/provider/pulling.h"
#include "pool/provider/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STANDS_PAUSE (5 * SECOND) /* the least time between two messages about one machine */
#define STANDS_HURRY (SECOND / 2)
#define RENEWALS 2      /* in a lifetime, without an ad; one that fails is repeated soon */
#define CLAIMS_TOLD 256 /* claims of which more than their number is told */
#define NAME_ROOM 64
#define AMOUNT_EXACT 9e15              /* whole numbers below this are exact as a double */
#define STALE_STEP (UINT64_C(1) << 32) /* versions of one life */

/* The token of a message: the place of the offer, the road, and whether it is the farewell. */
#define GONE_BIT (UINT64_C(1) << 63)

static uint64_t token_of(uint32_t place, uint32_t road, bool gone)
{
    return (uint64_t)road << 32 | place | (gone ? GONE_BIT : 0);
}

static uint32_t road_count(const struct provider *provider)
{
    return provider->settings->pool_count ? provider->settings->pool_count : 1;
}

static agent road_end(const struct provider *provider, uint32_t road)
{
    return provider->settings->pool_count ? provider->settings->pools[road].matchmaker : provider->settings->matchmaker;
}

void stands_init(struct provider *provider, uint32_t place)
{
    struct machine *machine = &provider->offers[place].machine;

    *machine = (struct machine){.until = OWNER_NEVER};
    machine->roads = mem_alloc(road_count(provider) * sizeof *machine->roads);
    for (uint32_t i = 0; i < road_count(provider); i++)
        machine->roads[i] = (struct stands_road){.sent = INT64_MIN};
}

void stands_done(struct provider *provider, uint32_t place)
{
    tree_unref(provider->offers[place].machine.ad);
    free(provider->offers[place].machine.roads);
}

void stands_boot(const struct provider_step *step, uint32_t place)
{
    struct machine *machine = &step->provider->offers[place].machine;

    machine->version = machine->urgent = step->provider->starts << 32;
    machine->since = step->env->now;
    for (uint32_t i = 0; i < road_count(step->provider); i++)
        machine->roads[i].owed = true;
}

/* ------------------------------------------------------------------------------------------------------------ how it stands */

static bool tenant_uses(const struct tenant *tenant, uint32_t place)
{
    return tenant->offer == place && !tenant->behind.count;
}

static uint32_t tenants_using(const struct provider *provider, uint32_t place)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < provider->tenant_count; i++)
        count += tenant_uses(provider->tenants[i], place);
    return count;
}

/* The whole, as it would be advertised if nothing of it were in use. Its jobs' own load does not count against them. */
static struct tree *whole_if_idle(const struct provider *provider, uint32_t place, bool used)
{
    struct tree *whole = offer_whole(provider, place), *eased = NULL;
    symbol load = symbols_find(whole->symbols, "LoadAvg", 7);

    if (used && load && tree_find(whole, tree_root(whole), load))
        eased = ad_set(whole, &(struct ad_setting){load, value_real(0)}, 1, NULL);
    if (!eased)
        return whole;
    tree_unref(whole);
    return eased;
}

/* Would the machine let anybody in if nothing of it were in use? */
static void whole_look(const struct provider_step *step, uint32_t place, bool used, struct owner *ret)
{
    struct tree *whole = whole_if_idle(step->provider, place, used);
    struct env eval = provider_env(step->env);

    owner_look(&eval, step->env->scratch, whole, ret);
    tree_unref(whole);
}

static enum machine_state state_find(const struct provider_step *step, uint32_t place, const struct tree *left,
                                     const struct owner *open, struct owner *ret)
{
    bool used = tenants_using(step->provider, place) > 0;

    *ret = (struct owner){.open = true, .sure = true, .until = OWNER_NEVER};
    if (offer_ails(step->provider, place))
        return MACHINE_SICK;
    if (step->provider->draining)
        return MACHINE_DRAINED;
    if (used)
        whole_look(step, place, used, ret);
    else
        *ret = *open;
    if (MUTANT(BUSY_IS_OWNER) && used && !open->open)
        return MACHINE_OWNER;
    if (!ret->open)
        return MACHINE_OWNER;
    if (!used)
        return MACHINE_IDLE;
    return left && open->open ? MACHINE_PART : MACHINE_BUSY;
}

/* When the claim must end, on the wall clock in seconds; -1: nothing says so. `ret_span`: how long its job may run in all, in seconds. */
static int64_t tenant_must_end(const struct provider_step *step, const struct tenant *tenant, int64_t *ret_span)
{
    int64_t span = tenant->running && tenant->started >= 0 ? job_span(step, tenant_duty(tenant).ad) : INT64_MAX;

    *ret_span = span / SECOND;
    if (span == INT64_MAX)
        return -1;
    return (MUTANT(END_GROWS) ? step->env->wall / SECOND : tenant->started) + *ret_span;
}

/* How much of it is in use: a hash of the claims, and whether each is pinned and has begun its first job. */
static uint64_t claims_hash(const struct provider_step *step, uint32_t place)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < step->provider->tenant_count; i++) {
        const struct tenant *tenant = step->provider->tenants[i];
        uint64_t stage = (uint64_t)(tenant->state >= TENANT_PINNED) + (tenant->number != 0);

        if (tenant_uses(tenant, place))
            hash += rng_mix(tenant->claim ^ rng_mix(stage));
    }
    return hash;
}

/* A hash of when the claims must end. */
static uint64_t ends_hash(const struct provider_step *step, uint32_t place)
{
    uint64_t hash = 0;
    int64_t span;

    for (uint32_t i = 0; i < step->provider->tenant_count && !MUTANT(END_GROWS); i++) {
        const struct tenant *tenant = step->provider->tenants[i];

        if (tenant_uses(tenant, place) && tenant->running)
            hash += rng_mix(tenant->claim ^ rng_mix((uint64_t)tenant_must_end(step, tenant, &span)));
    }
    return hash;
}

/* Looks at the claims; does anything about them have to be told soon? */
static bool claims_look(const struct provider_step *step, uint32_t place)
{
    struct machine *machine = &step->provider->offers[place].machine;
    uint64_t claims = claims_hash(step, place), ends = ends_hash(step, place);
    bool soon = claims != machine->claims;

    if (ends != machine->ends)
        machine->version++;
    machine->claims = claims;
    machine->ends = ends;
    return soon;
}

/* What ails the machine, in words: as it was probed; "" if nothing does. */
static const char *sick_words(const struct offer *offer, enum machine_state state, size_t *ret_len)
{
    static const char no_words[] = "a job could not be run";
    symbol unwell = symbols_find(offer->base->symbols, "Unwell", 6);
    const struct expr *e = offer->probe && unwell ? tree_find(offer->probe, tree_root(offer->probe), unwell) : NULL;
    bool probed = state == MACHINE_SICK && e && e->kind == EXPR_STRING;

    *ret_len = probed ? e->u.run.count : state == MACHINE_SICK ? sizeof no_words - 1 : 0;
    return probed ? tree_string(offer->probe, e) : no_words;
}

/* Has it become known what ails the machine, or is it something else now? */
static bool words_look(struct offer *offer, enum machine_state state)
{
    size_t len;
    const char *words = sick_words(offer, state, &len);
    uint64_t hash = len ? text_hash(0, words, len) : 0, before = offer->machine.words;

    offer->machine.words = hash;
    return hash != before;
}

int64_t stands_look(const struct provider_step *step, uint32_t place, const struct tree *left, const struct owner *open)
{
    struct machine *machine = &step->provider->offers[place].machine;
    struct owner owner;
    enum machine_state state = state_find(step, place, left, open, &owner);
    bool ends = state == MACHINE_OWNER || (state <= MACHINE_BUSY && owner.sure), sure = ends && owner.sure;
    int64_t until = ends ? owner.until : OWNER_NEVER;
    /* a time that is not sure moves with each look: it is told beside something else */
    bool soon = state != machine->state || sure != machine->sure || (sure && until != machine->until);
    bool words = words_look(&step->provider->offers[place], state);

    if (state != machine->state)
        machine->since = step->env->now;
    if (claims_look(step, place) || soon || words)
        machine->urgent = ++machine->version;
    machine->state = state;
    machine->until = until;
    machine->sure = sure;
    return owner.until;
}

void stands_claims(const struct provider_step *step, uint32_t place)
{
    struct machine *machine = &step->provider->offers[place].machine;
    uint64_t version = machine->version;

    if (!step->provider->booted)
        return;
    if (claims_look(step, place))
        machine->urgent = ++machine->version;
    if (machine->version != version)
        offer_wake(step, place, stands_run(step, place));
}

void stands_booked(const struct provider_step *step, uint32_t place)
{
    struct machine *machine = &step->provider->offers[place].machine;

    machine->hurried = machine->urgent = ++machine->version;
    if (step->provider->booted)
        offer_wake(step, place, stands_run(step, place));
}

void stands_probed(const struct provider_step *step, uint32_t place)
{
    step->provider->offers[place].machine.moved = true;
}

/* ------------------------------------------------------------------------------------------------------------- what is told */

static const char *const amounts[] = {"Cpus", "Memory", "Disk", "GpuCount"};

/* The number that an ad has as an attribute; false when it is none, or is computed. */
static bool number_of(const struct tree *ad, symbol name, double *ret)
{
    const struct expr *e = name ? tree_find(ad, tree_root(ad), name) : NULL;

    if (!e || (e->kind != EXPR_INTEGER && e->kind != EXPR_REAL))
        return false;
    *ret = e->kind == EXPR_INTEGER ? (double)e->u.integer : e->u.real;
    return true;
}

static void amount_add(struct maker *maker, const char *name, double amount)
{
    if (amount > -AMOUNT_EXACT && amount < AMOUNT_EXACT && amount == (double)(int64_t)amount)
        maker_integer(maker, name, (int64_t)amount);
    else if (isfinite(amount))
        maker_real(maker, name, amount);
}

/* Adds how much of one amount is in use. */
static void used_add(struct maker *maker, const struct tree *whole, const struct tree *left, symbol name)
{
    char text[NAME_ROOM];
    size_t len = 0;
    const char *bytes = name ? symbols_text(whole->symbols, name, &len) : NULL;
    double all, rest = 0;

    if (!bytes || len >= sizeof text || !number_of(whole, name, &all) || (left && !number_of(left, name, &rest)))
        return;
    memcpy(text, bytes, len);
    text[len] = '\0';
    amount_add(maker, text, all - rest);
}

/* What is in use, as an ad: the amounts that the offer's Residual speaks of; without one, the usual ones. */
static struct tree *used_make(const struct provider_step *step, uint32_t place)
{
    const struct tree *whole = step->provider->offers[place].whole;
    const struct expr *residual = residual_of(whole);
    struct tree *left = offer_left(step->provider, step->env, place, TENANT_MATCHED, NULL, 0);
    struct maker maker;

    maker_init(&maker, step->env->symbols);
    for (uint32_t i = 0; residual && i < residual->u.run.count; i++)
        used_add(&maker, whole, left, tree_parts(whole, residual)[i].label);
    for (size_t i = 0; !residual && i < sizeof amounts / sizeof *amounts; i++)
        used_add(&maker, whole, left, symbols_find(whole->symbols, amounts[i], strlen(amounts[i])));
    tree_unref(left);
    return maker_seal(&maker);
}

/* What a claim takes of the machine, as if it were alone there. */
static void takes_add(const struct provider_step *step, const struct tenant *tenant, uint32_t place,
                      struct maker *maker)
{
    struct tree *whole = step->provider->offers[place].whole;
    struct tree *left = tenant_residual(step->env, tenant, whole);

    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++)
        used_add(maker, whole, left, symbols_find(whole->symbols, amounts[i], strlen(amounts[i])));
    tree_unref(left);
}

static struct tree *claim_make(const struct provider_step *step, const struct tenant *tenant, uint32_t place)
{
    int64_t span, end = tenant_must_end(step, tenant, &span), wall = step->env->wall / SECOND;
    struct maker maker;

    maker_init(&maker, step->env->symbols);
    maker_word(&maker, "Claim", tenant->claim);
    maker_integer(&maker, "Job", (int64_t)tenant->job);
    if (end >= 0) /* a wall clock that was set back makes no job longer */
        maker_integer(&maker, "Ends", end <= wall ? 0 : end - wall < span ? end - wall : span);
    takes_add(step, tenant, place, &maker);
    return maker_seal(&maker);
}

/* The claims that the matchmaker at the end of that road has made; of the others only their number. */
static void claims_add(const struct provider_step *step, uint32_t place, uint32_t road, struct maker *maker)
{
    struct tree *rows[CLAIMS_TOLD];
    uint32_t count = 0, more = 0, elsewhere = 0;

    for (uint32_t i = 0; i < step->provider->tenant_count; i++) {
        const struct tenant *tenant = step->provider->tenants[i];

        if (!tenant_uses(tenant, place) || tenant->state < TENANT_PINNED)
            continue;
        if (step->provider->settings->pool_count && tenant->pool != road + 1)
            elsewhere++;
        else if (count < CLAIMS_TOLD)
            rows[count++] = claim_make(step, tenant, place);
        else
            more++;
    }
    maker_list(maker, "Claims", rows, count);
    if (more)
        maker_integer(maker, "More", more);
    if (elsewhere)
        maker_integer(maker, "Elsewhere", elsewhere);
    for (uint32_t i = 0; i < count; i++)
        tree_unref(rows[i]);
}

void provider_owner_why(const struct provider *provider, uint32_t place, const struct env *env, struct arena *scratch,
                        struct buf *ret)
{
    struct tree *whole = whole_if_idle(provider, place, tenants_using(provider, place) > 0);

    owner_why(env, scratch, whole, ret);
    buf_cut(ret, 0, STANDS_WORDS_MAX - strlen("..."));
    tree_unref(whole);
}

/* Why it stands so, where there is something to say. */
static void words_make(const struct provider_step *step, uint32_t place, struct buf *ret)
{
    const struct offer *offer = &step->provider->offers[place];
    struct env eval = provider_env(step->env);
    const char *words;
    size_t len;

    if (offer->machine.state == MACHINE_SICK) {
        words = sick_words(offer, MACHINE_SICK, &len);
        buf_add(ret, words, len);
    } else if (offer->machine.state == MACHINE_OWNER) {
        provider_owner_why(step->provider, place, &eval, step->env->scratch, ret);
    }
    buf_cut(ret, 0, STANDS_WORDS_MAX - strlen("..."));
}

/* What is in use, the claims and the words; NULL: the machine is idle, and there is nothing to say. */
static struct tree *told_make(const struct provider_step *step, uint32_t place, uint32_t road)
{
    struct tree *used, *told;
    struct maker maker;
    struct buf words;

    if (step->provider->offers[place].machine.state == MACHINE_IDLE && !calendar_has(step->provider, place))
        return NULL;
    used = used_make(step, place);
    buf_init(&words);
    words_make(step, place, &words);
    maker_init(&maker, step->env->symbols);
    maker_ad(&maker, "Used", used);
    claims_add(step, place, road, &maker);
    calendar_tell(step, place, &maker);
    if (words.len)
        maker_bytes(&maker, "Words", words.text, words.len);
    told = maker_seal(&maker);
    buf_done(&words);
    tree_unref(used);
    return told;
}

/* Does any matchmaker have the whole ad as it was taken up last? */
static bool ad_is_known(const struct provider *provider, const struct machine *machine)
{
    for (uint32_t i = 0; i < road_count(provider); i++)
        if (machine->roads[i].base == machine->base ||
            (machine->roads[i].flying && machine->roads[i].carried_base == machine->base))
            return true;
    return false;
}

/* Takes up the whole ad as it is now, when it is to be told anew: at first, and once in a lifetime when it has moved. */
static void machine_refresh(const struct provider_step *step, uint32_t place)
{
    struct machine *machine = &step->provider->offers[place].machine;
    int64_t lifetime;
    struct tree *whole;

    if (machine->ad && step->env->now < machine->taken + machine->lifetime && ad_is_known(step->provider, machine))
        return;
    whole = offer_whole(step->provider, place);
    machine->taken = step->env->now;
    machine->moved = false;
    if (machine->ad && tree_equal(machine->ad, tree_root(machine->ad), whole, tree_root(whole))) {
        tree_unref(whole);
        return;
    }
    tree_unref(machine->ad);
    machine->ad = whole;
    machine->base = ++machine->version;
    lifetime = advert_lifetime(whole);
    machine->lifetime =
        lifetime && lifetime < step->provider->spans->lifetime ? lifetime : step->provider->spans->lifetime;
}

/* ------------------------------------------------------------------------------------------------------------------ telling */

/* Is it in the pool by an ad of its own, which is renewed? */
static bool is_offered(const struct provider_step *step, uint32_t place)
{
    const struct advert *advert = &step->provider->offers[place].advert;

    return advert->text && !advert->refused && !step->provider->settings->pool_count;
}

/* How long it is until a second of the wall clock; -1: that never comes. */
static int64_t until_span(const struct provider_step *step, int64_t until)
{
    int64_t wall = step->env->wall / SECOND;

    if (until > INT64_MAX / 4 / SECOND)
        return -1;
    return until <= wall ? 0 : (until - wall) * SECOND - step->env->wall % SECOND;
}

static void road_tell(const struct provider_step *step, uint32_t place, uint32_t at)
{
    const struct offer *offer = &step->provider->offers[place];
    const struct machine *machine = &offer->machine;
    struct stands_road *road = &machine->roads[at];
    int64_t now = step->env->now, part = machine->lifetime / RENEWALS;
    bool leans = machine->state == MACHINE_IDLE && !road->whole && is_offered(step, place);
    struct message message = {.kind = MESSAGE_STANDS};

    message.u.stands = (struct stands){.id = offer->advert.id,
                                       .version = machine->version,
                                       .base = leans ? 0 : machine->base,
                                       .state = machine->state,
                                       .since = now - machine->since,
                                       .until = until_span(step, machine->until),
                                       .sure = machine->sure,
                                       .pulls = step->provider->settings->pool_count > 0,
                                       .told = told_make(step, place, at),
                                       .ad = leans || road->base == machine->base ? NULL : tree_ref(machine->ad)};
    road->flying = true;
    road->uneasy = machine->state != MACHINE_IDLE;
    road->carried = machine->version;
    road->carried_base = leans ? 0 : machine->base;
    road->bare = !message.u.stands.ad;
    road->sent = now;
    road->again = now + part - (int64_t)rng_below(step->env->chance, (uint64_t)part / 4 + 1);
    road->latest = road->again + machine->lifetime - part - part / 6;
    effects_send(step->effects, road_end(step->provider, at), &message, token_of(place, at, false), TAG_STANDS,
                 step->provider->stored);
    message_done(&message);
}

/* When that matchmaker is to be told next; INT64_MAX: it knows all. */
static int64_t road_due(const struct provider_step *step, uint32_t place, const struct stands_road *road)
{
    const struct offer *offer = &step->provider->offers[place];
    const struct machine *machine = &offer->machine;
    bool offered = is_offered(step, place);
    int64_t due = INT64_MAX;

    if (road->flying || (offered && !road->told && !road->owed && machine->state == MACHINE_IDLE &&
                         !calendar_has(step->provider, place)))
        return INT64_MAX;
    if (road->told < machine->urgent)
        due = road->sent == INT64_MIN ||
                      (!road->base && (machine->state == MACHINE_PART || machine->state == MACHINE_BUSY))
                  ? step->env->now
                  : road->sent + (road->told < machine->hurried ? STANDS_HURRY : STANDS_PAUSE);
    else if (road->told < machine->version)
        due = road->sent + machine->lifetime / RENEWALS;
    else if (!offered)
        due = road->again;
    else if (machine->moved && machine->state != MACHINE_IDLE)
        due = machine->taken + machine->lifetime;
    return due > road->held ? due : road->held;
}

int64_t stands_run(const struct provider_step *step, uint32_t place)
{
    struct machine *machine = &step->provider->offers[place].machine;
    int64_t next = INT64_MAX;

    if (step->provider->gone)
        return INT64_MAX;
    for (uint32_t i = 0; i < road_count(step->provider); i++) {
        int64_t due = road_due(step, place, &machine->roads[i]);

        if (due <= step->env->now) { /* the ad, looked at again, may not have moved after all */
            machine_refresh(step, place);
            due = road_due(step, place, &machine->roads[i]);
        }
        if (due <= step->env->now) {
            road_tell(step, place, i);
            due = INT64_MAX;
        }
        next = due < next ? due : next;
    }
    return next;
}

/* The matchmaker has answered. */
static void road_answered(const struct provider_step *step, struct machine *machine, struct stands_road *road,
                          enum reason reason)
{
    road->pause = road->held = 0;
    if (reason == REASON_OK) {
        road->told = road->carried;
        road->base = road->carried_base;
        road->owed = road->owed && !road->carried;
        road->whole = false;
        return;
    }
    if (reason == REASON_STALE) /* an earlier life of ours, of which we have no record, has said more */
        machine->urgent = machine->version += STALE_STEP;
    if (reason == REASON_BODY && road->bare)
        road->sent = INT64_MIN;
    else /* it does not know the message, or wants no more of them */
        road->held = step->env->now + machine->lifetime / (reason == REASON_STALE ? RENEWALS : 1);
    road->whole = reason == REASON_BODY;
    road->owed = true;
    road->told = road->base = 0;
}

void stands_answer(const struct provider_step *step, const struct event *event)
{
    uint32_t place = (uint32_t)event->token, at = (uint32_t)((event->token & ~GONE_BIT) >> 32);
    struct stands_road *road;

    if (place >= step->provider->settings->count || at >= road_count(step->provider))
        return;
    road = &step->provider->offers[place].machine.roads[at];
    if (!road->flying || step->provider->gone != !!(event->token & GONE_BIT))
        return; /* after the farewell no other answer counts */
    road->flying = false;
    if (step->provider->gone)
        return;
    if (event->answer != ANSWER_GOT || !event->message ||
        (event->message->kind == MESSAGE_GOT && event->message->u.got.reason == REASON_WAIT))
        road->held = step->env->now + pause_next(&road->pause, step->env, step->provider->spans);
    else
        road_answered(step, &step->provider->offers[place].machine, road,
                      event->message->kind == MESSAGE_GOT ? event->message->u.got.reason : REASON_INVALID);
    offer_due(step, place);
}

/* It is said once: whoever does not hear it forgets the machine when it has been away for long. */
void stands_gone(const struct provider_step *step)
{
    step->provider->gone = true;
    for (uint32_t place = 0; place < step->provider->settings->count; place++)
        for (uint32_t at = 0; at < road_count(step->provider); at++) {
            struct machine *machine = &step->provider->offers[place].machine;
            struct message message = {.kind = MESSAGE_STANDS};

            message.u.stands = (struct stands){.id = step->provider->offers[place].advert.id,
                                               .version = ++machine->version,
                                               .state = machine->state,
                                               .until = -1,
                                               .gone = true};
            machine->roads[at].flying = true;
            effects_send(step->effects, road_end(step->provider, at), &message, token_of(place, at, true), TAG_STANDS,
                         step->provider->stored);
        }
}

bool provider_told_gone(const struct provider *provider)
{
    for (uint32_t place = 0; place < provider->settings->count; place++)
        for (uint32_t at = 0; at < road_count(provider); at++)
            if (provider->offers[place].machine.roads[at].flying)
                return false;
    return provider->gone;
}

void stands_again(const struct provider_step *step, uint32_t place, agent matchmaker, bool at_once)
{
    for (uint32_t i = 0; i < road_count(step->provider); i++) {
        struct stands_road *road = &step->provider->offers[place].machine.roads[i];

        if (road_end(step->provider, i) != matchmaker)
            continue;
        /* it may be the one before, which has not forgotten what it was told */
        road->owed = road->owed || road->flying || road->uneasy ||
                     (road->told && road->told < step->provider->offers[place].machine.version);
        road->carried = road->carried_base = 0; /* whoever answers what is under way may be the one before */
        road->told = road->base = 0;
        road->held = road->pause = 0;
        if (at_once)
            road->sent = INT64_MIN;
    }
}

void stands_reported(const struct provider_step *step, const struct tenant *tenant)
{
    const struct machine *machine = &step->provider->offers[tenant->offer].machine;
    uint32_t at = step->provider->settings->pool_count ? tenant->pool - 1 : 0;
    int64_t again = step->env->now + machine->lifetime / RENEWALS;
    struct stands_road *road = at < road_count(step->provider) ? &machine->roads[at] : NULL;

    if (road && !tenant->second && road->told == machine->version && again > road->again)
        road->again = again < road->latest ? again : road->latest;
}

bool provider_stands(const struct provider *provider, uint32_t place, struct stands_view *ret)
{
    const struct machine *machine;

    if (place >= provider->settings->count)
        return false;
    machine = &provider->offers[place].machine;
    *ret = (struct stands_view){.id = provider->settings->ids[place],
                                .state = machine->state,
                                .since = machine->since,
                                .until = machine->until,
                                .sure = machine->sure};
    return true;
}
