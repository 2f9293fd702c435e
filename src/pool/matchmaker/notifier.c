/* notifier.c: tells agents of their matches. */
#include "pool/matchmaker/notifier.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

void notifier_init(struct notifier *notifier, const struct spans *spans, struct timers *timers, uint32_t timer_what,
                   uint64_t seed)
{
    *notifier = (struct notifier){
        .spans = spans, .timers = timers, .timer_what = timer_what, .recipient_free = NOBODY, .note_free = NOBODY};
    map_init(&notifier->agents, seed);
}

static const struct layout *told_layout(void)
{
    return message_layout(MESSAGE_MATCH);
}

void notifier_done(struct notifier *notifier)
{
    if (!notifier)
        return;
    for (uint32_t i = 0; i < notifier->recipient_count; i++) {
        const struct recipient *recipient = &notifier->recipients[i];
        uint32_t at = recipient->first;

        for (uint32_t n = 0; n < recipient->count; n++, at = notifier->notes[at].next)
            fields_done(told_layout(), &notifier->notes[at].told);
    }
    map_done(&notifier->agents);
    free(notifier->recipients);
    free(notifier->notes);
}

/* ----------------------------------------------------------------------------------------------------------- places */

static uint32_t note_take(struct notifier *notifier)
{
    uint32_t place = notifier->note_free;

    if (place != NOBODY) {
        notifier->note_free = notifier->notes[place].next;
        return place;
    }
    ARRAY_ROOM(notifier->notes, notifier->note_count, notifier->note_room, 64);
    return notifier->note_count++;
}

static uint32_t recipient_take(struct notifier *notifier, agent who)
{
    uint64_t found = map_find(&notifier->agents, who);
    uint32_t place = notifier->recipient_free;

    if (found != MAP_NONE)
        return (uint32_t)found;
    if (place != NOBODY) {
        notifier->recipient_free = notifier->recipients[place].first;
    } else {
        ARRAY_ROOM(notifier->recipients, notifier->recipient_count, notifier->recipient_room, 64);
        place = notifier->recipient_count++;
    }
    notifier->recipients[place] = (struct recipient){.agent = who, .first = NOBODY, .last = NOBODY};
    map_set(&notifier->agents, who, place);
    return place;
}

/* Drops the first note; a recipient without notes is forgotten. */
static void recipient_pop(struct notifier *notifier, uint32_t place)
{
    struct recipient *recipient = &notifier->recipients[place];
    uint32_t first = recipient->first;

    recipient->first = notifier->notes[first].next;
    fields_done(told_layout(), &notifier->notes[first].told);
    notifier->notes[first].next = notifier->note_free;
    notifier->note_free = first;
    recipient->sent = false;
    recipient->retry = INT64_MIN;
    notifier->waiting--;
    if (--recipient->count)
        return;
    map_remove(&notifier->agents, recipient->agent);
    recipient->first = notifier->recipient_free;
    notifier->recipient_free = place;
}

/* ---------------------------------------------------------------------------------------------------------- sending */

static int64_t note_ends(const struct notifier *notifier, const struct note *note)
{
    return note->at + notifier->spans->window;
}

static void note_send(struct notifier *notifier, const struct role_env *env, uint32_t place, struct effects *effects)
{
    struct recipient *recipient = &notifier->recipients[place];
    const struct note *note = &notifier->notes[recipient->first];
    struct message message = {.kind = MESSAGE_MATCH};

    message.u.match_told = note->told;
    message.u.match_told.age = env->now - note->at;
    recipient->sent = true;
    recipient->token = ++notifier->tokens;
    effects_send(effects, recipient->agent, &message, (uint64_t)place << 32 | recipient->token, MESSAGE_MATCH, 0);
}

static void note_give_up(struct notifier *notifier, const struct match_told *told, struct effects *effects,
                         enum reason reason)
{
    notifier->given_up++;
    effects_note(effects, reason, told->claim ? told->claim : told->gang, "a match could not be told");
}

/* Sends the first note that is not too late; gives up those that are. */
static void recipient_go_on(struct notifier *notifier, const struct role_env *env, uint32_t place,
                            struct effects *effects)
{
    struct recipient *recipient = &notifier->recipients[place];

    while (recipient->count && note_ends(notifier, &notifier->notes[recipient->first]) <= env->now) {
        note_give_up(notifier, &notifier->notes[recipient->first].told, effects, REASON_WINDOW);
        recipient_pop(notifier, place);
    }
    if (recipient->count)
        note_send(notifier, env, place, effects);
}

/* A pause between half and all of the present one: recipients that failed together are not tried again together. */
static int64_t pause_choose(const struct notifier *notifier, const struct role_env *env, uint32_t tries)
{
    const struct spans *spans = notifier->spans;
    int64_t pause = spans->retry > 2 ? spans->retry : 2;

    for (uint32_t i = 1; i < tries && pause < spans->deadline; i++)
        pause *= 2;
    if (pause > spans->deadline && spans->deadline > 2)
        pause = spans->deadline;
    return pause / 2 + (int64_t)rng_below(env->chance, (uint64_t)(pause - pause / 2));
}

static void recipient_pause(struct notifier *notifier, const struct role_env *env, uint32_t place)
{
    struct recipient *recipient = &notifier->recipients[place];
    int64_t ends = note_ends(notifier, &notifier->notes[recipient->first]);

    recipient->sent = false;
    recipient->tries++;
    recipient->retry = env->now + pause_choose(notifier, env, recipient->tries);
    if (recipient->retry > ends)
        recipient->retry = ends;
    timers_set(notifier->timers, recipient->retry, notifier->timer_what, place);
}

void notifier_add(struct notifier *notifier, const struct role_env *env, agent to, const struct match_told *told,
                  struct effects *effects)
{
    uint32_t place = recipient_take(notifier, to), at;
    struct recipient *recipient = &notifier->recipients[place];

    if (recipient->count == NOTIFIER_QUEUE_MAX) {
        note_give_up(notifier, told, effects, REASON_LIMIT);
        return;
    }
    at = note_take(notifier);
    fields_copy(told_layout(), &notifier->notes[at].told, told);
    notifier->notes[at].at = env->now;
    notifier->notes[at].next = NOBODY;
    if (recipient->count)
        notifier->notes[recipient->last].next = at;
    else
        recipient->first = at;
    recipient->last = at;
    notifier->waiting++;
    if (++recipient->count == 1)
        note_send(notifier, env, place, effects);
}

void notifier_answer(struct notifier *notifier, const struct role_env *env, uint64_t token, bool heard,
                     struct effects *effects)
{
    uint64_t place = token >> 32;
    struct recipient *recipient = place < notifier->recipient_count ? &notifier->recipients[place] : NULL;

    if (!recipient || !recipient->count || !recipient->sent || recipient->token != (uint32_t)token)
        return;
    if (!heard && note_ends(notifier, &notifier->notes[recipient->first]) > env->now) {
        recipient_pause(notifier, env, (uint32_t)place);
        return;
    }
    if (heard) {
        notifier->told++;
        recipient->tries = 0;
        recipient_pop(notifier, (uint32_t)place);
    }
    recipient_go_on(notifier, env, (uint32_t)place, effects);
}

void notifier_due(struct notifier *notifier, const struct role_env *env, uint32_t place, struct effects *effects)
{
    struct recipient *recipient = &notifier->recipients[place];

    if (recipient->count && !recipient->sent && recipient->retry <= env->now)
        recipient_go_on(notifier, env, place, effects);
}

bool notifier_valid(const struct notifier *notifier, const char **ret_why)
{
    const char *why = NULL;

    for (uint32_t i = 0; i < notifier->recipient_count && !why; i++) {
        const struct recipient *recipient = &notifier->recipients[i];
        uint32_t at = recipient->first;

        if (!recipient->count)
            continue;
        for (uint32_t n = 1; n < recipient->count; n++)
            at = notifier->notes[at].next;
        if (at != recipient->last || notifier->notes[at].next != NOBODY)
            why = "a recipient's notes are not counted right";
        if (map_find(&notifier->agents, recipient->agent) != i)
            why = "a recipient is not found";
    }
    if (why)
        *ret_why = why;
    return !why;
}
