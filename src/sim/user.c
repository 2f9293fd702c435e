/* user.c: users who submit jobs. */
#include "sim/user.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MOST 20
#define NOTHING UINT64_MAX

enum user_tag { TAG_SUBMIT = 1, TAG_CONTROL, TAG_LIE, TAG_CONFUSED };

struct user {
    const struct user_settings *settings;
    struct sim_submission *items;
    uint32_t count, room, waiting;
    uint64_t jobs;
    const char *wrong;
    int64_t next; /* when the user acts again */
};

static void *user_make(const void *settings)
{
    struct user *user = mem_alloc(sizeof *user);

    *user = (struct user){.settings = settings};
    return user;
}

static void user_free(void *role)
{
    struct user *user = role;

    if (!user)
        return;
    free(user->items);
    free(user);
}

uint32_t user_count(const struct user *user)
{
    return user->count;
}

const struct sim_submission *user_submission(const struct user *user, uint32_t place)
{
    return &user->items[place];
}

uint32_t user_waiting(const struct user *user)
{
    return user->waiting;
}

const char *user_wrong(const struct user *user)
{
    return user->wrong;
}

static void user_body(const struct user *user, const struct sim_submission *submission, struct message *ret)
{
    const struct user_settings *settings = user->settings;
    char key[32];
    int len = snprintf(key, sizeof key, "k%llu", (unsigned long long)submission->key);

    memset(&ret->u.submit, 0, sizeof ret->u.submit);
    text_set(&ret->u.submit.key, key, (size_t)len);
    text_set(&ret->u.submit.owner, settings->owner, strlen(settings->owner));
    ret->u.submit.count = submission->count;
    ret->u.submit.ad = settings->shapes[submission->shape];
    if (submission->flow) {
        ret->u.submit.flow = submission->flow;
        ret->u.submit.nodes = USER_NODES;
        ret->u.submit.node = settings->nodes[submission->node];
    }
}

/* Sends a submission. Its token is its place; the token of any other message is NOTHING. */
static void user_submit(struct user *user, uint32_t place, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_SUBMIT};

    if (!user->items[place].count)
        return; /* the submission was refused */
    user_body(user, &user->items[place], &message);
    effects_send(effects, user->settings->customer, &message, place, TAG_SUBMIT, 0);
}

/* Sends the same key with another body, which must be refused. */
static void user_confuse(struct user *user, const struct role_env *env, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_SUBMIT};
    uint32_t place = (uint32_t)rng_below(env->chance, user->count);
    struct sim_submission *submission = &user->items[place];

    if (!submission->acknowledged)
        return; /* the wrong body might come first, and would then be right */
    user_body(user, submission, &message);
    message.u.submit.count = submission->count % COUNT_MOST + 1;
    effects_send(effects, user->settings->customer, &message, NOTHING, TAG_CONFUSED, 0);
}

static struct sim_submission *submission_add(struct user *user, const struct role_env *env, uint64_t count)
{
    const struct user_settings *settings = user->settings;

    ARRAY_ROOM(user->items, user->count, user->room, 16);
    user->items[user->count] = (struct sim_submission){
        .key = settings->seed + user->count,
        .count = count,
        .shape = (uint32_t)rng_below(env->chance, settings->shape_count),
    };
    user->jobs += count;
    user->waiting++;
    return &user->items[user->count++];
}

/* Submits a workflow: its nodes travel one by one, and may arrive in any order. */
static void user_flow(struct user *user, const struct role_env *env, struct effects *effects)
{
    uint64_t flow = rng_mix(user->settings->seed + user->count) | 1;

    for (uint32_t i = 0; i < USER_NODES; i++) {
        struct sim_submission *node = submission_add(user, env, 1 + rng_below(env->chance, 2));

        node->flow = flow;
        node->node = i;
        user_submit(user, user->count - 1, effects);
    }
}

static void user_new(struct user *user, const struct role_env *env, struct effects *effects)
{
    const struct user_settings *settings = user->settings;
    uint64_t most = rng_below(env->chance, 4) ? 4 : COUNT_MOST, count = 1 + rng_below(env->chance, most);

    if (user->jobs + count > settings->jobs_max)
        return;
    if (settings->nodes && rng_below(env->chance, 2)) {
        user_flow(user, env, effects);
        return;
    }
    submission_add(user, env, count);
    user_submit(user, user->count - 1, effects);
    if (rng_below(env->chance, 8) == 0)
        user_submit(user, user->count - 1, effects); /* impatient */
}

static void user_control(struct user *user, const struct role_env *env, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_CONTROL};
    const struct sim_submission *submission;

    if (!user->count)
        return;
    submission = &user->items[rng_below(env->chance, user->count)];
    if (!submission->acknowledged)
        return;
    memset(&message.u.control, 0, sizeof message.u.control);
    message.u.control.job = submission->first + rng_below(env->chance, submission->count);
    message.u.control.verb = rng_below(env->chance, CONTROL_REMOVE + 1);
    ++*user->settings->meddled;
    effects_send(effects, user->settings->customer, &message, NOTHING, TAG_CONTROL, 0);
}

/* Reports a claim that does not exist, on another user's account, and says that it holds all of a limit. */
static void user_report(const struct user *user, const struct role_env *env, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_REPORT};

    message.u.report = (struct report){
        .claim = rng_next(env->chance) | 1, .gang = 1, .used = SECOND, .weight = 1000000, .limits = {"licence:2"}};
    text_set(&message.u.report.owner, user->settings->owner, strlen(user->settings->owner));
    effects_send(effects, user->settings->matchmaker, &message, NOTHING, TAG_LIE, 0);
}

/* Advertises an ad that claims to be another user's; or submits a job in another's name; and reports a claim. */
static void user_lie(struct user *user, const struct role_env *env, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_ADVERTISE};

    ++*user->settings->lied;
    user_report(user, env, effects);
    if (rng_below(env->chance, 2)) {
        user_new(user, env, effects);
        return;
    }
    memset(&message.u.advertise, 0, sizeof message.u.advertise);
    message.u.advertise.id = 1 + rng_below(env->chance, 4);
    message.u.advertise.version = 1 + rng_below(env->chance, 1000);
    message.u.advertise.request = true;
    message.u.advertise.ad = user->settings->shapes[rng_below(env->chance, user->settings->shape_count)];
    effects_send(effects, user->settings->matchmaker, &message, NOTHING, TAG_LIE, 0);
}

static void user_act(struct user *user, const struct role_env *env, struct effects *effects)
{
    const struct user_settings *settings = user->settings;
    uint64_t what = rng_below(env->chance, 16);

    if (settings->lies)
        user_lie(user, env, effects);
    else if (settings->meddles && what < 4)
        user_control(user, env, effects);
    else if (what == 4 && user->count)
        user_confuse(user, env, effects);
    else if (what < 7 && user->count)
        user_submit(user, (uint32_t)rng_below(env->chance, user->count), effects);
    else
        user_new(user, env, effects);
}

static void user_submitted(struct user *user, uint32_t place, const struct message *message)
{
    struct sim_submission *submission = &user->items[place];
    const struct submitted *submitted = &message->u.submitted;

    if (message->kind != MESSAGE_SUBMITTED) {
        user->wrong = "3: a submission was answered by something else";
    } else if (user->settings->lies) {
        if (submitted->reason == REASON_OK)
            user->wrong = "5: a submission under another's name was accepted";
    } else if (submitted->reason == REASON_OK) {
        if (submitted->count != submission->count ||
            (submission->acknowledged && submitted->first != submission->first))
            user->wrong = "3: a submission repeated with its key made other jobs";
        user->waiting -= !submission->acknowledged;
        submission->acknowledged = true;
        submission->first = submitted->first;
    } else if (!submission->acknowledged) {
        /* refused: over a limit, or the customer is not ready; not tried again */
        user->waiting--;
        submission->acknowledged = false;
        submission->count = 0;
    }
}

static void user_answer(struct user *user, const struct event *event, struct effects *effects)
{
    if (event->tag == TAG_CONFUSED && event->answer == ANSWER_GOT && event->message->kind == MESSAGE_SUBMITTED &&
        event->message->u.submitted.reason == REASON_OK)
        user->wrong = "3: a key was accepted again with another body";
    if (event->token == NOTHING)
        return;
    if (event->answer == ANSWER_GOT && user->items[event->token].count)
        user_submitted(user, (uint32_t)event->token, event->message);
    else if (event->answer == ANSWER_UNKNOWN && !user->items[event->token].acknowledged && !user->settings->lies)
        user_submit(user, (uint32_t)event->token, effects);
}

static void user_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    struct user *user = role;

    if (event->kind == EVENT_ANSWER)
        user_answer(user, event, effects);
    if (event->kind == EVENT_WAKE && env->now >= user->next && !*user->settings->quiet)
        user_act(user, env, effects);
    if (event->kind == EVENT_BOOTED || event->kind == EVENT_WAKE) {
        user->next = env->now + 1 + (int64_t)rng_below(env->chance, (uint64_t)user->settings->pause);
        effects_wake(effects, *user->settings->quiet ? INT64_MAX : user->next);
    }
}

const struct role_kind user_role = {.name = "user", .make = user_make, .free = user_free, .step = user_step};
