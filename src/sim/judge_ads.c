/* judge_ads.c: 5, 7, 8, 10: a matchmaker and its ads. */
#include "lang/base/mem.h"
#include "sim/judge_parts.h"

#include <string.h>

static const struct advertised *answer_of(const struct host *host, uint64_t token)
{
    for (uint32_t i = 0; i < host->effects.count; i++) {
        const struct effect *effect = &host->effects.items[i];

        if (effect->kind == EFFECT_REPLY && effect->token == token && effect->message.kind == MESSAGE_ADVERTISED)
            return &effect->message.u.advertised;
    }
    return NULL;
}

static bool owner_holds(const struct judge *judge, const struct tree *ad, const struct host *by)
{
    const struct expr *owner = ad && tree_is_ad(ad) ? tree_find(ad, tree_root(ad), judge->owner) : NULL;

    return !owner || by->any || owner->kind != EXPR_STRING ||
           (owner->u.run.count == strlen(by->identity) &&
            !memcmp(tree_string(ad, owner), by->identity, owner->u.run.count));
}

static void ad_renew(struct judge *judge, struct ad_fact *fact, const struct advertise *message)
{
    int64_t count;

    fact->expires = judge->now + fact->lifetime;
    fact->received = judge->now; /* a renewal without a body says that the same text still holds */
    if (message->bare)
        return;
    fact->version = message->version;
    fact->seen = message->seen;
    for (uint64_t n = fact->numbered; n > 0 && n + 256 > fact->numbered; n--)
        if (n < fact->room && seen_has(&fact->seen, fact->incarnation, n))
            fact->matches[n].named = true;
    fact->units = judged_has(message->ad, judge->residual) ? judged_integer(message->ad, judge->cpus, 1) : 1;
    count = message->request && message->ad ? judged_integer(message->ad, judge->count, 1) : 1;
    if (message->request && (count > fact->units || !judged_has(message->ad, judge->residual)))
        fact->units = count; /* a policy may treat a request as an offer */
    fact->lifetime = judged_integer(message->ad, judge->lifetime, judge->world->spans->lifetime / SECOND) * SECOND;
    fact->expires = judge->now + fact->lifetime;
}

static void ad_forget(struct ad_fact *fact, uint64_t incarnation)
{
    if (fact->incarnation == incarnation)
        return;
    fact->incarnation = incarnation;
    fact->accepted = false;
    fact->version = fact->numbered = fact->settled = 0;
    fact->passed = 0;
}

static void check_advertised(struct judge *judge, const struct host *host, const struct event *event)
{
    const struct advertise *message = &event->message->u.advertise;
    const struct advertised *answer = answer_of(host, event->token);
    const struct host *by = world_host(judge->world, event->peer->agent);
    struct ad_fact *fact;

    if (!answer || (answer->reason != REASON_OK && answer->reason != REASON_CONSUMED) || !by)
        return;
    fact = judged_ad(judge, host_agent(host), event->peer->agent, message->id);
    ad_forget(fact, *incarnation_of(judge, host->place));
    if (!message->bare && !owner_holds(judge, message->ad, by))
        judge_finds(judge, 5, host, "an ad is accepted whose Owner is not the one who sent it");
    if (fact->accepted && judge->now >= fact->expires)
        fact->accepted = false; /* the ad had expired */
    if (answer->reason == REASON_OK && fact->accepted && !message->bare && message->version < fact->version)
        judge_finds(judge, 7, host, "an older version of an ad replaces a newer one");
    if (answer->reason == REASON_OK && message->bare && (!fact->accepted || message->version != fact->version))
        judge_finds(judge, 8, host, "an ad is renewed without the text of that version");
    fact->accepted = true;
    ad_renew(judge, fact, message);
}

/* Matches that the last received text does not name, and that cannot have been forgotten yet. */
static int64_t ad_outstanding(const struct judge *judge, const struct ad_fact *fact)
{
    int64_t span = judge->world->spans->window + judge->world->spans->deadline, count = 0;

    for (uint64_t n = fact->numbered; n > 0; n--) {
        if (n < fact->room && !fact->matches[n].named && fact->received < fact->matches[n].made + span)
            count++;
        if (n + 256 < fact->numbered)
            break;
    }
    return count;
}

static struct match_fact *match_of(struct ad_fact *fact, uint64_t number)
{
    if (number >= MATCHES_SEEN)
        return NULL;
    if (number >= fact->room) {
        uint32_t room = fact->room ? fact->room : 16;

        while (room <= number)
            room *= 2;
        fact->matches = mem_grow(fact->matches, room * sizeof *fact->matches);
        memset(fact->matches + fact->room, 0, (room - fact->room) * sizeof *fact->matches);
        fact->room = room;
    }
    return &fact->matches[number];
}

void judge_entry(void *user, const struct entry_view *entry)
{
    struct judge *judge = user;
    const struct host *host = &judge->world->hosts[judge->looked];
    const struct host *by = world_host(judge->world, entry->agent);
    struct ad_fact *fact = judged_ad(judge, host_agent(host), entry->agent, entry->id);

    ad_forget(fact, *incarnation_of(judge, host->place));
    if (by && !owner_holds(judge, entry->ad, by))
        judge_finds(judge, 5, host, "an ad is kept whose Owner is not the one who sent it");
    if (fact->accepted && entry->version < fact->version)
        judge_finds(judge, 7, host, "the version of an ad went back");
    if (entry->numbered <= fact->numbered)
        return;
    if (fact->accepted && judge->now > fact->expires + SECOND / 100)
        judge_finds(judge, 7, host, "an ad is matched %.3f s after its lifetime",
                    (double)(judge->now - fact->expires) / (double)SECOND);
    for (uint64_t n = fact->numbered + 1; n <= entry->numbered; n++) {
        struct match_fact *match = match_of(fact, n);

        if (match)
            *match = (struct match_fact){.made = judge->now};
    }
    fact->numbered = entry->numbered;
    /* an agent that says it has seen a match which it has not seen is matched again: that is its own fault */
    if (fact->accepted && !is_stranger(judge, (uint32_t)entry->agent - 1) && ad_outstanding(judge, fact) > fact->units)
        judge_finds(judge, 8, host, "%lld matches stand against %lld units of ad %llx of %s",
                    (long long)ad_outstanding(judge, fact), (long long)fact->units, (unsigned long long)fact->id,
                    by ? by->name : "a stranger");
}

void judge_matchmaker(struct judge *judge, struct host *host, const struct role_env *env, const struct event *event)
{
    uint64_t *matches = &judge->matches[(host->place - judge->parties.matchmaker) % MATCHMAKERS_MAX];
    struct matchmaker_counts counts;
    const struct host *peer;
    const char *wrong;

    if (*incarnation_of(judge, host->place) != matchmaker_incarnation(host->role))
        judge->shares[host->place - judge->parties.matchmaker] = (struct judged_shares){.limit_count = 0};
    judge->looked = host->place;
    *incarnation_of(judge, host->place) = matchmaker_incarnation(host->role);
    wrong = judged_step(&judge->shares[host->place - judge->parties.matchmaker], host->role, judge->now,
                        event->kind == EVENT_WAKE);
    if (wrong)
        judge_finds(judge, 10, host, "%s", wrong);
    if (event->kind == EVENT_MESSAGE && event->peer && (peer = world_host(judge->world, event->peer->agent)))
        judge->came[peer->place] = judge->world->time;
    if (event->kind == EVENT_MESSAGE && event->message->kind == MESSAGE_ADVERTISE)
        check_advertised(judge, host, event);
    if (event->kind == EVENT_MESSAGE && event->message->kind == MESSAGE_WITHDRAW) {
        struct ad_fact *fact = judged_ad(judge, host_agent(host), event->peer->agent, event->message->u.withdraw.id);

        if (event->message->u.withdraw.version >= fact->version)
            fact->accepted = false;
    }
    if (event->kind == EVENT_MESSAGE && event->message->kind == MESSAGE_REPORT) {
        judge_told(judge, host, &event->message->u.report);
        judge_reported(judge, host, &event->message->u.report);
    }
    if (event->kind == EVENT_WAKE) {
        judge_usage(judge, host);
        judge_holds(judge, host);
    }
    counts = matchmaker_counts(host->role);
    judge_limits(judge, host);
    if (counts.matches != *matches && event->kind == EVENT_WAKE) {
        judge_quotas(judge, host, env);
        judge_priorities(judge, host, env);
        judge_plans(judge, host);
    }
    if (counts.matches != *matches)
        matchmaker_each(host->role, judge_entry, judge);
    *matches = counts.matches;
}

/* Records which matches an agent was told of. */
void judge_agent(struct judge *judge, const struct host *host, const struct event *event)
{
    if (event->kind == EVENT_MESSAGE && event->message->kind == MESSAGE_MATCH) {
        const struct match_told *told = &event->message->u.match_told;
        struct ad_fact *fact = judged_ad(judge, event->peer->agent, host_agent(host), told->id);
        struct match_fact *match = told->incarnation == fact->incarnation ? match_of(fact, told->number) : NULL;

        if (match)
            match->delivered = true;
    } else if (event->kind == EVENT_ANSWER && event->answer == ANSWER_GOT &&
               event->message->kind == MESSAGE_ADVERTISED) {
        const struct advertised *advertised = &event->message->u.advertised;
        struct ad_fact *fact = judged_ad(judge, event->peer ? event->peer->agent : judge->parties.matchmaker + 1,
                                         host_agent(host), advertised->id);

        if (advertised->incarnation == fact->incarnation && advertised->settled > fact->settled)
            fact->settled = advertised->settled;
    }
}

/* Do both name the same matches? */
static bool seen_same(const struct seen *a, const struct seen *b)
{
    return seen_equal(a, b) || (!a->last && !a->beyond && !b->last && !b->beyond);
}

void judge_seen(struct judge *judge, const struct host *host, agent matchmaker, const struct advertise *message)
{
    struct ad_fact *fact = judged_ad(judge, matchmaker, host_agent(host), message->id);
    uint64_t end = message->seen.last + 66;

    if (!message->bare) {
        fact->sent_version = message->version;
        fact->sent_seen = message->seen;
    } else {
        struct seen expected = fact->sent_seen;

        seen_settle(&expected, fact->incarnation, fact->settled); /* which changes nothing that counts */
        if (message->version != fact->sent_version ||
            !(seen_same(&message->seen, &fact->sent_seen) || seen_same(&message->seen, &expected)))
            judge_finds(judge, 8, host, "an ad is renewed without its text although that has moved");
    }
    if (message->seen.incarnation != fact->incarnation || !fact->incarnation)
        return;
    if (!message->seen.beyond)
        end = message->seen.last + 1; /* nothing behind `last` is named */
    for (uint64_t n = fact->settled + 1; n < end && n < MATCHES_SEEN; n++)
        if (seen_has(&message->seen, fact->incarnation, n) && (n >= fact->room || !fact->matches[n].delivered))
            judge_finds(judge, 8, host, "Seen names match %llu, which was never delivered", (unsigned long long)n);
}
