/* crowd.c: all users of a large world as one role, which only submits. */
#include "sim/crowd.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct crowd {
    struct crowd_list *list;
};

void crowd_add(struct crowd_list *list, const struct crowd_submission *submission)
{
    ARRAY_ROOM(list->items, list->count, list->room, 64);
    list->items[list->count++] = *submission;
}

void crowd_key(struct text *ret, uint32_t place)
{
    memset(ret, 0, sizeof *ret);
    snprintf(ret->bytes, sizeof ret->bytes, "s%" PRIu32, place);
}

uint32_t crowd_place(const struct text *key)
{
    unsigned long place;
    char *end;

    if (key->bytes[0] != 's')
        return UINT32_MAX;
    place = strtoul(key->bytes + 1, &end, 10);
    return *end || place > UINT32_MAX ? UINT32_MAX : (uint32_t)place;
}

static void *crowd_make(const void *settings)
{
    struct crowd *crowd = mem_alloc(sizeof *crowd);

    crowd->list = (struct crowd_list *)(uintptr_t)settings;
    return crowd;
}

static void crowd_submit(const struct crowd *crowd, uint32_t place, struct effects *effects)
{
    const struct crowd_submission *submission = &crowd->list->items[place];
    struct message message = {.kind = MESSAGE_SUBMIT};
    struct submit *submit = &message.u.submit;

    memset(submit, 0, sizeof *submit);
    crowd_key(&submit->key, place);
    text_set(&submit->owner, submission->owner, strlen(submission->owner));
    submit->count = submission->count;
    submit->ad = submission->ad;
    effects_send(effects, submission->customer, &message, place, 1, 0);
}

static void crowd_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    struct crowd *crowd = role;
    struct crowd_list *list = crowd->list;

    (void)env;
    if (event->kind == EVENT_WAKE)
        while (list->sent < list->count)
            crowd_submit(crowd, list->sent++, effects);
    if (event->kind != EVENT_ANSWER || event->token >= list->count)
        return;
    if (event->answer == ANSWER_UNKNOWN)
        crowd_submit(crowd, (uint32_t)event->token, effects);
    else if (event->message->kind != MESSAGE_SUBMITTED || event->message->u.submitted.reason != REASON_OK)
        list->refused += list->items[event->token].count;
}

const struct role_kind crowd_role = {.name = "crowd", .make = crowd_make, .free = free, .step = crowd_step};
