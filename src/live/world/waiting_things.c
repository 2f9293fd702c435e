/* waiting_things.c: what a runner keeps for later, in the order in which it came. */
#include "live/world/waiting_things.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

/* Takes the first out of a list of those; NULL where it is empty. */
#define LIST_SHIFT(list, item)                        \
    do {                                              \
        (item) = (list)->first;                       \
        (list)->first = (item) ? (item)->next : NULL; \
        if (!(list)->first)                           \
            (list)->last = &(list)->first;            \
    } while (0)

#define LIST_ADD(list, item)          \
    do {                              \
        *(list)->last = (item);       \
        (list)->last = &(item)->next; \
    } while (0)

/* ----------------------------------------------------------------------------------------------------------- effects */

void waiting_effects_init(struct waiting_effects *effects)
{
    *effects = (struct waiting_effects){.last = &effects->first};
}

void waiting_effects_add(struct waiting_effects *effects, const struct effect *effect)
{
    struct waiting_effect *waiting = mem_alloc(sizeof *waiting);

    *waiting = (struct waiting_effect){.effect = *effect};
    message_copy(&waiting->effect.message, &effect->message);
    waiting->effect.record = (struct record){.kind = RECORD_NONE};
    waiting->effect.ad = effect->ad ? tree_ref(effect->ad) : NULL;
    LIST_ADD(effects, waiting);
}

struct waiting_effect *waiting_effects_shift(struct waiting_effects *effects)
{
    struct waiting_effect *waiting;

    LIST_SHIFT(effects, waiting);
    return waiting;
}

void waiting_effect_free(struct waiting_effect *waiting)
{
    message_done(&waiting->effect.message);
    tree_unref(waiting->effect.ad);
    free(waiting);
}

void waiting_effects_done(struct waiting_effects *effects)
{
    struct waiting_effect *waiting;

    while ((waiting = waiting_effects_shift(effects)))
        waiting_effect_free(waiting);
}

/* ------------------------------------------------------------------------------------------------------------ events */

void waiting_events_init(struct waiting_events *events)
{
    *events = (struct waiting_events){.last = &events->first};
}

void waiting_events_add(struct waiting_events *events, const struct event *event)
{
    struct waiting_event *waiting = mem_alloc(sizeof *waiting);

    *waiting = (struct waiting_event){.event = *event};
    if (event->ad)
        waiting->event.ad = tree_ref(event->ad);
    if (event->user) {
        strncpy(waiting->user, event->user, sizeof waiting->user - 1);
        waiting->event.user = waiting->user;
    }
    if (event->message) {
        message_copy(&waiting->message, event->message);
        waiting->has_message = true;
        waiting->event.message = &waiting->message;
    }
    if (event->peer) {
        waiting->peer = *event->peer;
        if (event->peer->identity) {
            strncpy(waiting->identity, event->peer->identity, sizeof waiting->identity - 1);
            waiting->peer.identity = waiting->identity;
        }
        waiting->has_peer = true;
        waiting->event.peer = &waiting->peer;
    }
    LIST_ADD(events, waiting);
}

struct waiting_event *waiting_events_shift(struct waiting_events *events)
{
    struct waiting_event *waiting;

    LIST_SHIFT(events, waiting);
    return waiting;
}

void waiting_event_free(struct waiting_event *waiting)
{
    if (waiting->has_message)
        message_done(&waiting->message);
    tree_unref(waiting->event.ad);
    free(waiting);
}

void waiting_events_done(struct waiting_events *events)
{
    struct waiting_event *waiting;

    while ((waiting = waiting_events_shift(events)))
        waiting_event_free(waiting);
}

/* ------------------------------------------------------------------------------------------------------------- calls */

void waiting_calls_init(struct waiting_calls *calls)
{
    *calls = (struct waiting_calls){.last = &calls->first};
}

void waiting_calls_add(struct waiting_calls *calls, commit_done_fn *done, void *user)
{
    struct waiting_call *call = mem_alloc(sizeof *call);

    *call = (struct waiting_call){.done = done, .user = user};
    LIST_ADD(calls, call);
}

struct waiting_call *waiting_calls_shift(struct waiting_calls *calls)
{
    struct waiting_call *call;

    LIST_SHIFT(calls, call);
    return call;
}
