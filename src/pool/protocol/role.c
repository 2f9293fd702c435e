/* role.c: lists of effects, and the default spans. */
#include "pool/protocol/role.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

const struct spans spans_default = {
    .window = 10 * SECOND,
    .pin = 30 * SECOND,
    .lease = 60 * SECOND,
    .life = 20 * MINUTE,
    .deadline = 10 * SECOND,
    .retry = 200 * MILLISECOND,
    .lifetime = 5 * MINUTE,
    .cycle = 20 * MILLISECOND,
    .keep = 60 * MINUTE,
    .grace = 10 * SECOND,
    .half = 24 * 60 * MINUTE,
};

uint64_t secrets_word(const struct secrets *secrets)
{
    uint64_t word = 0;

    while (!word)
        secrets->draw(secrets->user, &word, sizeof word);
    return word;
}

void effects_init(struct effects *effects)
{
    *effects = (struct effects){0};
}

void effects_reset(struct effects *effects)
{
    for (uint32_t i = 0; i < effects->count; i++) {
        struct effect *effect = &effects->items[i];

        message_done(&effect->message);
        record_done(&effect->record);
        tree_unref(effect->ad);
    }
    effects->count = 0;
}

void effects_done(struct effects *effects)
{
    if (!effects)
        return;
    effects_reset(effects);
    free(effects->items);
    *effects = (struct effects){0};
}

static struct effect *effects_add(struct effects *effects, enum effect_kind kind)
{
    struct effect *effect;

    ARRAY_ROOM(effects->items, effects->count, effects->room, 8);
    effect = &effects->items[effects->count++];
    memset(effect, 0, offsetof(struct effect, message));
    effect->message.kind = MESSAGE_NONE;
    effect->record.kind = RECORD_NONE;
    effect->record.removed = false;
    effect->kind = kind;
    return effect;
}

void effects_send(struct effects *effects, agent to, const struct message *message, uint64_t token, uint32_t tag,
                  uint64_t after)
{
    struct effect *effect = effects_add(effects, EFFECT_SEND);

    effect->to = to;
    effect->token = token;
    effect->tag = tag;
    effect->after = after;
    message_copy(&effect->message, message);
}

void effects_reply(struct effects *effects, uint64_t token, const struct message *message, uint64_t after)
{
    struct effect *effect = effects_add(effects, EFFECT_REPLY);

    effect->token = token;
    effect->after = after;
    message_copy(&effect->message, message);
}

void effects_wake(struct effects *effects, int64_t at)
{
    effects_add(effects, EFFECT_WAKE)->at = at;
}

uint64_t effects_persist(struct effects *effects, const struct record *record)
{
    struct effect *effect = effects_add(effects, EFFECT_PERSIST);

    effect->token = ++effects->persists;
    record_copy(&effect->record, record);
    return effect->token;
}

uint64_t effects_remove(struct effects *effects, enum record_kind kind, uint64_t key)
{
    struct record record = {.kind = kind, .removed = true, .key = key};

    return effects_persist(effects, &record);
}

void effects_job(struct effects *effects, uint64_t claim, uint64_t number, uint64_t job, struct tree *ad, int64_t at,
                 int64_t span, uint64_t after)
{
    struct effect *effect = effects_add(effects, EFFECT_JOB);

    effect->claim = claim;
    effect->number = number;
    effect->job = job;
    effect->ad = ad ? tree_ref(ad) : NULL;
    effect->at = at;
    effect->span = span;
    effect->after = after;
}

void effects_deadline(struct effects *effects, uint64_t claim, int64_t at, uint64_t after)
{
    struct effect *effect = effects_add(effects, EFFECT_DEADLINE);

    effect->claim = claim;
    effect->at = at;
    effect->after = after;
}

void effects_stop(struct effects *effects, uint64_t claim, int64_t span, uint64_t after)
{
    struct effect *effect = effects_add(effects, EFFECT_STOP);

    effect->claim = claim;
    effect->span = span;
    effect->after = after;
}

void effects_suspend(struct effects *effects, uint64_t claim, bool suspended)
{
    struct effect *effect = effects_add(effects, EFFECT_SUSPEND);

    effect->claim = claim;
    effect->span = suspended;
}

void effects_changed(struct effects *effects, uint64_t job, uint64_t after)
{
    struct effect *effect = effects_add(effects, EFFECT_CHANGED);

    effect->job = job;
    effect->after = after;
}

void effects_note(struct effects *effects, enum reason reason, uint64_t claim, const char *words)
{
    struct effect *effect = effects_add(effects, EFFECT_NOTE);

    effect->reason = reason;
    effect->claim = claim;
    effect->note = words;
}
