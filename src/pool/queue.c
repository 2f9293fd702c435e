/* queue.c: a customer's jobs and their shapes. */
#include "ad/names.h"
#include "base/mem.h"
#include "pool/customer_parts.h"
#include "pool/plants.h"
#include "pool/writers.h"

#include <stdlib.h>
#include <string.h>

#define JOB_ID_MAX (UINT64_C(1) << 40) /* they are counted from 1: what is larger was never one */

static uint64_t text_hash(const struct text *text, uint64_t seed)
{
    uint64_t hash = rng_mix(seed), word;

    for (size_t i = 0; i < sizeof text->bytes; i += sizeof word) {
        memcpy(&word, text->bytes + i, sizeof word);
        hash = rng_mix(hash ^ word);
    }
    return hash;
}

static void *map_pointer(const struct map *map, uint64_t key)
{
    uint64_t value = map_find(map, key);

    return value == MAP_NONE ? NULL : (void *)(uintptr_t)value;
}

static void map_set_pointer(struct map *map, uint64_t key, void *pointer)
{
    map_set(map, key, (uint64_t)(uintptr_t)pointer);
}

static bool text_same(const struct text *a, const struct text *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

void queue_init(struct customer *customer)
{
    map_init(&customer->jobs, 0);
    map_init(&customer->places, 0);
    map_init(&customer->shapes, 0);
    map_init(&customer->keys, 0);
    map_init(&customer->owners, 0);
}

void queue_done(struct customer *customer)
{
    uint64_t key, value;
    uint32_t at = 0;

    while (map_next(&customer->jobs, &at, &key, &value))
        free((void *)(uintptr_t)value);
    at = 0;
    while (map_next(&customer->keys, &at, &key, &value))
        free((void *)(uintptr_t)value);
    for (uint32_t i = 0; i < customer->shape_count; i++) {
        advert_done(&customer->shape_list[i]->advert);
        tree_unref(customer->shape_list[i]->ad);
        free(customer->shape_list[i]);
    }
    free(customer->shape_list);
    map_done(&customer->jobs);
    map_done(&customer->places);
    map_done(&customer->shapes);
    map_done(&customer->keys);
    map_done(&customer->owners);
}

/* ----------------------------------------------------------------------------------------------------------- shapes */

static uint64_t shape_hash(const struct text *owner, const struct tree *ad)
{
    return text_hash(owner, tree_hash(ad, tree_root(ad)));
}

/* A job that fails is tried so often again: MaxRetries, a number in its ad. */
static int64_t shape_retries(const struct tree *ad)
{
    symbol name = symbols_find(ad->symbols, "MaxRetries", 10);
    const struct expr *retries = name ? tree_find(ad, tree_root(ad), name) : NULL;

    return retries && retries->kind == EXPR_INTEGER && retries->u.integer >= 0 ? retries->u.integer : CUSTOMER_RETRIES;
}

static struct shape *shape_new(struct customer *customer, uint64_t id, const struct text *owner, struct tree *ad)
{
    struct shape *shape = mem_alloc(sizeof *shape);

    *shape = (struct shape){.id = id,
                            .place = customer->shape_count,
                            .owner = *owner,
                            .ad = tree_ref(ad),
                            .retries = shape_retries(ad),
                            .set = INT64_MAX};
    advert_init(&shape->advert, id, true, customer->starts << 32);
    if (customer->shape_count == customer->shape_room) {
        customer->shape_room = customer->shape_room ? customer->shape_room * 2 : 8;
        customer->shape_list = mem_grow(customer->shape_list, customer->shape_room * sizeof *customer->shape_list);
    }
    customer->shape_list[customer->shape_count++] = shape;
    map_set(&customer->places, id, shape->place);
    map_set_pointer(&customer->shapes, shape_hash(owner, ad), shape);
    return shape;
}

static struct shape *shape_like(const struct customer *customer, const struct text *owner, const struct tree *ad)
{
    struct shape *shape = map_pointer(&customer->shapes, shape_hash(owner, ad));

    return shape && text_same(&shape->owner, owner) && tree_equal(shape->ad, tree_root(shape->ad), ad, tree_root(ad))
               ? shape
               : NULL;
}

struct shape *shape_find(const struct customer *customer, uint64_t id)
{
    uint64_t place = map_find(&customer->places, id);

    return place == MAP_NONE ? NULL : customer->shape_list[place];
}

static void shape_set(const struct customer_step *step, struct shape *shape, int64_t at)
{
    if (at >= shape->set)
        return;
    shape->set = at;
    timers_set(&step->customer->timers, at, TIMER_SHAPE, shape->place);
}

void shape_changed(const struct customer_step *step, struct shape *shape)
{
    shape->dirty = true;
    shape_set(step, shape, shape->rest > step->env->now ? shape->rest : step->env->now);
}

/* The request for all that wait and that no claim is on its way to. */
static struct tree *shape_text(const struct shape *shape)
{
    int64_t count = shape->waiting - shape->pending;
    struct ad_setting setting = {NAME_COUNT, value_integer(count)};

    return count > 0 ? ad_set(shape->ad, &setting, 1, NULL) : NULL;
}

void shape_due(const struct customer_step *step, uint32_t place)
{
    struct shape *shape = step->customer->shape_list[place];
    uint64_t after = shape->stored > step->customer->stored ? shape->stored : step->customer->stored;
    int64_t now = step->env->now;

    if (shape->set <= now)
        shape->set = INT64_MAX;
    if (shape->dirty && now >= shape->rest && !shape->advert.flight) {
        struct tree *text = shape_text(shape);

        shape->dirty = false;
        shape->rest = now + step->customer->spans->retry;
        advert_want(&shape->advert, now, text);
        tree_unref(text);
    }
    shape_set(step, shape,
              advert_run(&shape->advert, step->env, step->customer->settings->matchmaker, place, after, step->effects));
    if (shape->dirty && !shape->advert.flight)
        shape_set(step, shape, shape->rest);
}

void shape_answer(const struct customer_step *step, uint64_t place, const struct event *event)
{
    if (place >= step->customer->shape_count)
        return;
    advert_answer(&step->customer->shape_list[place]->advert, step->env, step->customer->spans, event, step->effects);
    shape_due(step, (uint32_t)place);
}

/* ------------------------------------------------------------------------------------------------------------- jobs */

struct job *job_find(const struct customer *customer, uint64_t id)
{
    return map_pointer(&customer->jobs, id);
}

static bool job_ended(const struct job *job)
{
    return job->state == JOB_DONE || job->state == JOB_REMOVED;
}

static void owner_count(struct customer *customer, const struct text *owner, int64_t more)
{
    uint64_t hash = text_hash(owner, 0), count = map_find(&customer->owners, hash);

    map_set(&customer->owners, hash, (count == MAP_NONE ? 0 : count) + (uint64_t)more);
}

static struct job *job_new(struct customer *customer, uint64_t id, struct shape *shape)
{
    struct job *job = mem_alloc(sizeof *job);

    *job = (struct job){.id = id, .shape = shape};
    map_set_pointer(&customer->jobs, id, job);
    if (id > customer->last_job)
        customer->last_job = id;
    return job;
}

static void job_store(const struct customer_step *step, struct job *job)
{
    struct record record = {.kind = RECORD_JOB, .key = job->id};

    record.u.job_record = (struct job_record){.shape = job->shape->id,
                                              .state = job->state,
                                              .gang = job->gang,
                                              .claim = job->claim,
                                              .member = job->member,
                                              .number = job->number,
                                              .tries = job->tries,
                                              .reason = job->reason,
                                              .status = job->status};
    job->stored = effects_persist(step->effects, &record);
}

static void job_wait(struct job *job, bool first)
{
    struct shape *shape = job->shape;

    if (job->waits)
        return;
    job->waits = true;
    job->before = first ? NULL : shape->last;
    job->after = first ? shape->first : NULL;
    *(job->before ? &job->before->after : &shape->first) = job;
    *(job->after ? &job->after->before : &shape->last) = job;
    shape->waiting++;
}

static void job_unwait(struct job *job)
{
    struct shape *shape = job->shape;

    if (!job->waits)
        return;
    job->waits = false;
    *(job->before ? &job->before->after : &shape->first) = job->after;
    *(job->after ? &job->after->before : &shape->last) = job->before;
    shape->waiting--;
}

struct job *shape_next(struct shape *shape)
{
    return shape->first;
}

void job_assign(const struct customer_step *step, struct job *job, struct root *root)
{
    job_unwait(job);
    job->state = JOB_RUNNING;
    job->root = root;
    job->gang = root->gang;
    job->claim = root->crew.branches[0].claim;
    job->member = root->crew.branches[0].agent;
    job->number = root->number;
    root->job = job;
    job_store(step, job);
    shape_changed(step, job->shape);
}

/* Its claim is over, and nothing of it runs there. Where it ran last is kept: its result may still come. */
void job_requeue(const struct customer_step *step, struct job *job)
{
    job->root = NULL;
    if (job->state != JOB_RUNNING)
        return; /* held or removed meanwhile, or done */
    job->state = JOB_IDLE;
    job_store(step, job);
    job_wait(job, true);
    shape_changed(step, job->shape);
}

void job_result(const struct customer_step *step, struct job *job, const struct result *result)
{
    bool failed = result->reason != REASON_EXITED || result->status != 0;

    job_unwait(job); /* it may have been waiting, its claim given up */
    job->reason = result->reason;
    job->status = result->status;
    job->tries += failed;
    if (!failed) {
        job->state = JOB_DONE;
        owner_count(step->customer, &job->shape->owner, -1);
    } else if (job->tries > (uint64_t)job->shape->retries) {
        job->state = JOB_HELD;
    } else if (job->state != JOB_HELD && !job->root) {
        job->state = JOB_IDLE; /* else when its claim is over: others of the gang may still be at it */
    }
    job->claim = failed ? 0 : job->claim; /* this one has been taken */
    job_store(step, job);
    if (job->state == JOB_IDLE && !job->root)
        job_wait(job, true);
    shape_changed(step, job->shape);
}

/* ------------------------------------------------------------------------------------------------------ submissions */

static void reply_submitted(const struct customer_step *step, const struct event *event, enum reason reason,
                            const struct submission *submission)
{
    struct message message = {.kind = MESSAGE_SUBMITTED};

    message.u.submitted = (struct submitted){.reason = reason};
    if (submission) {
        message.u.submitted.first = submission->first;
        message.u.submitted.count = submission->count;
    }
    effects_reply(step->effects, event->token, &message, submission && !PLANTED(SUBMIT_EARLY) ? submission->stored : 0);
}

/* The request as it will be advertised: whose it is stands in it. NULL when it cannot be. */
static struct tree *submission_ad(const struct customer_step *step, const struct submit *submit)
{
    struct ad_setting setting = {symbols_take(step->env->symbols, "Owner", 5),
                                 value_string(submit->owner.bytes, strlen(submit->owner.bytes))};
    struct tree *ad = submit->ad && tree_is_ad(submit->ad) ? ad_set(submit->ad, &setting, 1, NULL) : NULL;

    symbols_drop(step->env->symbols, setting.name);
    return ad;
}

static uint64_t key_hash(const struct text *owner, const struct text *key)
{
    return text_hash(key, text_hash(owner, 1));
}

static struct submission *submission_new(struct customer *customer, const struct text *owner, const struct text *key)
{
    struct submission *submission = mem_alloc(sizeof *submission);

    free(map_pointer(&customer->keys, key_hash(owner, key)));
    *submission = (struct submission){.owner = *owner, .key = *key};
    map_set_pointer(&customer->keys, key_hash(owner, key), submission);
    return submission;
}

/* A new submission becomes durable as a whole: shape, jobs, and its key last. */
static void submission_make(const struct customer_step *step, const struct submit *submit, struct tree *ad,
                            struct submission *ret)
{
    struct customer *customer = step->customer;
    struct shape *shape = shape_like(customer, &submit->owner, ad);
    struct record record = {.kind = RECORD_KEY, .key = key_hash(&submit->owner, &submit->key)};

    if (!shape) {
        struct record made = {.kind = RECORD_SHAPE};

        shape = shape_new(customer, secrets_word(step->env->secrets), &submit->owner, ad);
        made.key = shape->id;
        made.u.shape_record = (struct shape_record){shape->owner, shape->ad};
        shape->stored = effects_persist(step->effects, &made);
    }
    ret->shape = shape;
    ret->first = customer->last_job + 1;
    ret->count = submit->count;
    for (uint64_t i = 0; i < submit->count; i++) {
        struct job *job = job_new(customer, customer->last_job + 1, shape);

        job_store(step, job);
        job_wait(job, false);
    }
    record.u.key_record = (struct key_record){submit->owner, submit->key, shape->id, ret->first, ret->count};
    ret->stored = effects_persist(step->effects, &record);
    owner_count(customer, &submit->owner, (int64_t)submit->count);
    shape_changed(step, shape);
}

void queue_submit(const struct customer_step *step, const struct event *event)
{
    const struct submit *submit = &event->message->u.submit;
    struct customer *customer = step->customer;
    uint64_t most = customer->settings->jobs_max ? customer->settings->jobs_max : CUSTOMER_JOBS_MAX;
    uint64_t queued = map_find(&customer->owners, text_hash(&submit->owner, 0));
    struct submission *known = map_pointer(&customer->keys, key_hash(&submit->owner, &submit->key));
    enum reason reason = REASON_OK;
    struct tree *ad;

    if (!event->peer->any && strcmp(event->peer->identity, submit->owner.bytes) != 0) {
        reply_submitted(step, event, REASON_IDENTITY, NULL);
        return;
    }
    ad = submission_ad(step, submit);
    if (!ad || !submit->key.bytes[0])
        reason = REASON_INVALID;
    else if (known && !PLANTED(KEY_TWICE))
        reason = known->count == submit->count && text_same(&known->key, &submit->key) &&
                         text_same(&known->owner, &submit->owner) &&
                         known->shape == shape_like(customer, &submit->owner, ad)
                     ? REASON_OK
                     : REASON_CONFLICT;
    else if (!submit->count || submit->count > CUSTOMER_SUBMIT_MAX ||
             (queued == MAP_NONE ? 0 : queued) + submit->count > most)
        reason = REASON_LIMIT;
    else {
        if (!known)
            known = submission_new(customer, &submit->owner, &submit->key);
        submission_make(step, submit, ad, known);
    }
    reply_submitted(step, event, reason, reason == REASON_OK ? known : NULL);
    tree_unref(ad);
}

/* --------------------------------------------------------------------------------------------------- hold and the rest */

static enum reason job_control(const struct customer_step *step, struct job *job, uint64_t verb)
{
    if (verb >= CONTROL_COUNT)
        return REASON_INVALID;
    if (job_ended(job))
        return verb == CONTROL_REMOVE && job->state == JOB_REMOVED ? REASON_OK : REASON_STALE;
    if (verb == CONTROL_RELEASE) {
        if (job->state != JOB_HELD)
            return REASON_OK;
        if (job->root)
            return REASON_BUSY; /* what it ran under is not yet gone */
        job->state = JOB_IDLE;
        job->tries = 0;
        job_wait(job, false);
    } else {
        if (verb == CONTROL_HOLD && job->state == JOB_HELD)
            return REASON_OK;
        job->state = verb == CONTROL_HOLD ? JOB_HELD : JOB_REMOVED;
        job->reason = REASON_RELEASED;
        job_unwait(job);
        if (verb == CONTROL_REMOVE)
            owner_count(step->customer, &job->shape->owner, -1);
    }
    job_store(step, job);
    shape_changed(step, job->shape);
    if (job->root)
        root_end(step, job->root);
    return REASON_OK;
}

void queue_control(const struct customer_step *step, const struct event *event)
{
    const struct control *control = &event->message->u.control;
    struct job *job = job_find(step->customer, control->job);
    struct message message = {.kind = MESSAGE_GOT};

    if (!job)
        message.u.got.reason = REASON_UNKNOWN;
    else if (!event->peer->any && strcmp(event->peer->identity, job->shape->owner.bytes) != 0)
        message.u.got.reason = REASON_IDENTITY;
    else
        message.u.got.reason = job_control(step, job, control->verb);
    effects_reply(step->effects, event->token, &message, job ? job->stored : 0);
}

/* --------------------------------------------------------------------------------------------------------- restarts */

/* Shapes come before the jobs that name them: records are loaded by kind. */
void queue_load(const struct customer_step *step, const struct record *record)
{
    struct customer *customer = step->customer;
    struct shape *shape;
    struct job *job;

    if (record->kind == RECORD_SHAPE) {
        if (record->u.shape_record.ad && tree_is_ad(record->u.shape_record.ad) && !shape_find(customer, record->key))
            shape_new(customer, record->key, &record->u.shape_record.owner, record->u.shape_record.ad);
    } else if (record->kind == RECORD_JOB) {
        const struct job_record *was = &record->u.job_record;

        shape = shape_find(customer, was->shape);
        if (!shape || job_find(customer, record->key) || record->key > JOB_ID_MAX)
            return;
        job = job_new(customer, record->key, shape);
        job->state = was->state <= JOB_REMOVED ? (enum job_state)was->state : JOB_HELD;
        job->gang = was->gang;
        job->claim = was->claim;
        job->member = was->member;
        job->number = was->number;
        job->tries = was->tries;
        job->reason = was->reason;
        job->status = was->status;
        if (!job_ended(job))
            owner_count(customer, &shape->owner, 1);
    } else if (record->kind == RECORD_KEY) {
        const struct key_record *was = &record->u.key_record;
        struct submission *submission = submission_new(customer, &was->owner, &was->key);

        submission->shape = shape_find(customer, was->shape);
        submission->first = was->first;
        submission->count = was->count;
    }
}

/* Jobs that no claim may be running wait, in the order of their numbers. */
void queue_boot(const struct customer_step *step)
{
    struct customer *customer = step->customer;

    for (uint32_t i = 0; i < customer->shape_count; i++) {
        customer->shape_list[i]->advert.version = customer->starts << 32;
        shape_changed(step, customer->shape_list[i]);
    }
    for (uint64_t id = 1; id <= customer->last_job; id++) {
        struct job *job = job_find(customer, id);

        if (!job || job->root)
            continue;
        if (job->state == JOB_RUNNING) {
            job->state = JOB_IDLE;
            job_store(step, job);
        }
        if (job->state == JOB_IDLE)
            job_wait(job, false);
    }
}
