/* waiting_things.h: what a runner keeps for later, in the order in which it came: effects for their rows, events for the end of the step at hand, calls for
 * a commit. */
#ifndef BERTH_LIVE_WORLD_WAITING_THINGS_H
#define BERTH_LIVE_WORLD_WAITING_THINGS_H

#include "live/world/runner.h"

#ifdef __cplusplus
extern "C" {
#endif

struct waiting_effect {
    struct waiting_effect *next;
    struct effect effect;
};

struct waiting_effects {
    struct waiting_effect *first, **last;
};

void waiting_effects_init(struct waiting_effects *effects);
void waiting_effects_done(struct waiting_effects *effects);
void waiting_effects_add(struct waiting_effects *effects, const struct effect *effect); /* a copy */
struct waiting_effect *waiting_effects_shift(struct waiting_effects *effects);           /* the first; or NULL */
void waiting_effect_free(struct waiting_effect *waiting);

/* An event, with what it refers to, which its sender may give back at once. Rows alone are only handed over outside of steps. */
struct waiting_event {
    struct waiting_event *next;
    struct event event;
    struct message message;
    struct peer peer;
    char identity[128]; /* as long as a token's subject can be */
    char user[128];
    bool has_message, has_peer;
};

struct waiting_events {
    struct waiting_event *first, **last;
};

void waiting_events_init(struct waiting_events *events);
void waiting_events_done(struct waiting_events *events);
void waiting_events_add(struct waiting_events *events, const struct event *event);
struct waiting_event *waiting_events_shift(struct waiting_events *events); /* the first; or NULL */
void waiting_event_free(struct waiting_event *waiting);

struct waiting_call {
    struct waiting_call *next;
    commit_done_fn *done;
    void *user;
};

struct waiting_calls {
    struct waiting_call *first, **last;
};

void waiting_calls_init(struct waiting_calls *calls);
void waiting_calls_add(struct waiting_calls *calls, commit_done_fn *done, void *user);
struct waiting_call *waiting_calls_shift(struct waiting_calls *calls); /* the first, which the caller frees; or NULL */

#ifdef __cplusplus
}
#endif
#endif
