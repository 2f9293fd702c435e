/* advert.c: one ad kept at the matchmaker. */
#include "pool/protocol/advert.h"

#include "lang/base/mem.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/seen.h"

#include <stdlib.h>
#include <string.h>

#define RENEWALS 3 /* an ad is renewed this often within its lifetime */

void advert_init(struct advert *advert, uint64_t id, bool request, uint64_t first)
{
    *advert = (struct advert){.id = id, .request = request, .version = first, .due = INT64_MIN};
}

void advert_done(struct advert *advert)
{
    if (!advert)
        return;
    tree_unref(advert->text);
    advert->text = NULL;
    free(advert->plan);
    advert->plan = NULL;
}

static void advert_moves(struct advert *advert, int64_t now)
{
    advert->version++;
    advert->moved = true;
    advert->pause = 0;
    if (advert->due > now)
        advert->due = now;
}

int64_t advert_lifetime(const struct tree *text)
{
    symbol name = symbols_find(text->symbols, "Lifetime", 8);
    const struct expr *lifetime = name ? tree_find(text, tree_root(text), name) : NULL;

    if (!lifetime || (lifetime->kind != EXPR_INTEGER && lifetime->kind != EXPR_RELTIME) || lifetime->u.integer <= 0 ||
        lifetime->u.integer > INT64_MAX / SECOND)
        return 0;
    return lifetime->u.integer * SECOND;
}

void advert_want(struct advert *advert, int64_t now, struct tree *text)
{
    struct tree *before = advert->text;

    if (before == text || (before && text && tree_equal(before, tree_root(before), text, tree_root(text))))
        return;
    advert->text = text ? tree_ref(text) : NULL;
    advert->lifetime = text ? advert_lifetime(text) : 0;
    tree_unref(before);
    advert_moves(advert, now);
}

bool advert_knows(const struct advert *advert, uint64_t incarnation)
{
    return incarnation && advert->teller == incarnation;
}

bool advert_saw(struct advert *advert, int64_t now, uint64_t incarnation, uint64_t number)
{
    struct seen before = advert->seen;
    bool fresh = advert_knows(advert, incarnation) && seen_add(&advert->seen, incarnation, number);

    if (!seen_equal(&before, &advert->seen))
        advert_moves(advert, now);
    return fresh;
}

void advert_set_key(struct advert *advert, int64_t now, const struct key *key)
{
    if (memcmp(&advert->key, key, sizeof *key) == 0)
        return;
    advert->key = *key;
    advert_moves(advert, now);
}

void advert_again(struct advert *advert, int64_t now)
{
    advert->pause = 0;
    if (advert->text && advert->due > now)
        advert->due = now;
}

int64_t pause_next(int64_t *pause, const struct role_env *env, const struct spans *spans)
{
    int64_t most = spans->deadline;

    *pause = *pause ? *pause * 2 : spans->retry;
    if (*pause > most)
        *pause = most;
    return *pause / 2 + (int64_t)rng_below(env->chance, (uint64_t)*pause + 1);
}

static void advert_send(struct advert *advert, agent matchmaker, uint64_t token, uint64_t after,
                        struct effects *effects)
{
    struct message message = {.kind = MESSAGE_WITHDRAW};

    if (advert->text) {
        bool bare = advert->there && (!advert->moved || MUTANT(BARE_MOVED));

        message.kind = MESSAGE_ADVERTISE;
        message.u.advertise =
            (struct advertise){.id = advert->id,
                               .version = advert->version,
                               .request = advert->request,
                               .bare = bare,
                               .seen = advert->seen,
                               .heard = advert->teller == advert->seen.incarnation ? advert->heard : 0,
                               .key = advert->key,
                               .ad = bare ? NULL : advert->text};
    } else {
        message.u.withdraw = (struct withdraw){.id = advert->id, .version = advert->version};
    }
    advert->flight = ++advert->flights * ADVERT_TAGS;
    advert->carried = advert->version;
    effects_send(effects, matchmaker, &message, token, advert->flight, after);
}

int64_t advert_run(struct advert *advert, const struct role_env *env, agent matchmaker, uint64_t token, uint64_t after,
                   struct effects *effects)
{
    if (advert->flight || (!advert->text && !advert->there))
        return INT64_MAX;
    if (advert->due > env->now)
        return advert->due;
    advert_send(advert, matchmaker, token, after, effects);
    /* whatever becomes of this message, the matchmaker may have the ad from now on */
    advert->there = advert->there || advert->text;
    return INT64_MAX;
}

/* The matchmaker has taken the ad, or renewed it. */
static void advert_settled(struct advert *advert, const struct role_env *env, const struct spans *spans,
                           const struct advertised *told)
{
    int64_t lifetime = advert->lifetime && advert->lifetime < spans->lifetime ? advert->lifetime : spans->lifetime;
    int64_t third = lifetime / RENEWALS;

    struct seen before = advert->seen;
    bool current = advert->carried == advert->version;

    seen_settle(&advert->seen, told->incarnation, told->settled);
    advert->taken = true;
    advert->pause = 0;
    if (!current)
        return; /* the ad has changed since it was sent: `due` stands as it is */
    /* matches that no longer count are left out of `seen`: no hurry, but the next renewal has to say so */
    advert->moved = !seen_equal(&before, &advert->seen);
    advert->version += advert->moved;
    advert->due = env->now + third - (int64_t)rng_below(env->chance, (uint64_t)third / 4 + 1);
}

/* What the matchmaker says of the beginning of what it has just taken or renewed; a plan that it does not tell again is over. */
static void advert_plan(struct advert *advert, int64_t now, const struct advertised *told)
{
    bool taken = told->reason == REASON_OK || told->reason == REASON_CONSUMED;

    if (!advert->request || !taken || told->planned <= 0 || told->planned >= INT64_MAX / 2) {
        free(advert->plan);
        advert->plan = NULL;
        return;
    }
    if (!advert->plan)
        advert->plan = mem_alloc(sizeof *advert->plan);
    *advert->plan = (struct advert_plan){.start = now + told->planned, .told = now, .on = told->planned_on};
}

static void advert_told(struct advert *advert, const struct role_env *env, const struct spans *spans,
                        const struct advertised *told, struct effects *effects)
{
    advert->heard = advert->teller == told->incarnation && advert->heard > told->clock ? advert->heard : told->clock;
    advert->teller = told->incarnation;
    advert->refused = REASON_OK;
    advert_plan(advert, env->now, told);
    switch (told->reason) {
    case REASON_OK:
        advert_settled(advert, env, spans, told);
        return;
    case REASON_CONSUMED: /* matched, and we have not heard of it: send the whole text again when that may help */
        advert_settled(advert, env, spans, told);
        advert->moved = true;
        if (told->span >= 0 && told->span < spans->lifetime && env->now + told->span < advert->due)
            advert->due = env->now + told->span;
        return;
    case REASON_BODY:
        advert->moved = true;
        advert->due = env->now;
        return;
    case REASON_STALE: /* an earlier life of ours sent a newer version */
        if (told->version >= advert->version) {
            advert->version = told->version;
            advert_moves(advert, env->now);
        }
        return;
    default:
        if (told->reason != REASON_LIMIT || !advert->request) /* a customer tells of all that are too many at once */
            effects_note(effects, told->reason, advert->id, "the matchmaker refused the ad");
        advert->there = advert->taken;
        advert->refused = told->reason;
        advert->moved = true;
        advert->due = env->now + spans->lifetime;
        return;
    }
}

void advert_answer(struct advert *advert, const struct role_env *env, const struct spans *spans,
                   const struct event *event, struct effects *effects)
{
    const struct message *message = event->message;

    if (!advert->flight || event->tag != advert->flight)
        return;
    advert->flight = 0;
    if (event->answer == ANSWER_GOT && message && message->kind == MESSAGE_ADVERTISED &&
        message->u.advertised.reason != REASON_WAIT) { /* which is no answer yet: nothing else in it counts */
        advert_told(advert, env, spans, &message->u.advertised, effects);
    } else if (event->answer == ANSWER_GOT && message && message->kind == MESSAGE_GOT) {
        advert->there = advert->there && advert->carried != advert->version; /* withdrawn */
        advert->taken = advert->there && advert->taken;
    } else {
        advert->due = env->now + pause_next(&advert->pause, env, spans);
    }
}
