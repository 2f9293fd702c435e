/* submissions.c: jobs as they come: many at once, under a key, so that a repeated submission makes no new jobs.
 *
 *     row of a submission: first job, count, how many from the first on are forgotten        rows of jobs: only of jobs that something happened to
 *
 * So a hundred thousand jobs are one row until they begin to run. A job that is forgotten leaves a stub, until all before it are
 * forgotten too; so do many that are removed together, and have never run: one for all of them. */
#include "lang/ad/names.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/customer/customer_parts.h"
#include "pool/protocol/mutants.h"
#include "pool/protocol/writers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AGE_MAX INT64_C(1000000000) /* seconds: a greater age means that a clock was wrong */

static bool text_same(const struct text *a, const struct text *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static uint64_t key_hash(const struct text *owner, const struct text *key)
{
    return owner_hash(key, owner_hash(owner, 1));
}

struct submission *submission_find(const struct customer *customer, const struct text *owner, const struct text *key)
{
    uint64_t value = map_find(&customer->keys, key_hash(owner, key));

    return value == MAP_NONE ? NULL : (struct submission *)(uintptr_t)value;
}

static struct submission *submission_new(struct customer *customer, const struct text *owner, const struct text *key)
{
    struct submission *submission = mem_alloc(sizeof *submission);

    *submission = (struct submission){.owner = *owner, .key = *key};
    map_set(&customer->keys, key_hash(owner, key), (uint64_t)(uintptr_t)submission);
    ARRAY_ROOM(customer->submissions, customer->submission_count, customer->submission_room, 8);
    customer->submissions[customer->submission_count++] = submission;
    return submission;
}

void submissions_done(struct customer *customer)
{
    for (uint32_t i = 0; i < customer->submission_count; i++) {
        tree_unref(customer->submissions[i]->node);
        free(customer->submissions[i]->children);
        free(customer->submissions[i]->askers);
        free(customer->submissions[i]);
    }
    free(customer->submissions);
    owners_done(customer);
    map_done(&customer->keys);
    map_done(&customer->stubs);
    map_done(&customer->leftovers);
}

static void submission_store(const struct customer_step *step, struct submission *submission)
{
    struct record record = {.kind = RECORD_KEY, .key = key_hash(&submission->owner, &submission->key)};

    record.u.key_record = (struct key_record){.owner = submission->owner,
                                              .key = submission->key,
                                              .shape = submission->shape->id,
                                              .first = submission->first,
                                              .count = submission->count,
                                              .gone = submission->gone,
                                              .at = submission->at,
                                              .node = submission->node};
    if (submission->batch) {
        record.u.key_record.batch = submission->batch->word;
        record.u.key_record.ads = submission->batch->ads;
    }
    if (submission->flow) {
        record.u.key_record.flow = submission->flow->word;
        record.u.key_record.nodes = submission->flow->nodes;
    }
    job_trace_write(&submission->trace, &record.u.key_record.trace);
    submission->stored = effects_persist(step->effects, &record);
}

void submission_remove(const struct customer_step *step, struct submission *submission)
{
    struct customer *customer = step->customer;

    effects_remove(step->effects, RECORD_KEY, key_hash(&submission->owner, &submission->key));
    map_remove(&customer->keys, key_hash(&submission->owner, &submission->key));
    submission->shape->uses--;
    shape_changed(step, submission->shape);
    submission_disown(customer, submission);
    flow_leave(customer, submission);
    batch_leave(customer, submission);
    tree_unref(submission->node);
    free(submission->children);
    free(submission->askers);
    free(submission);
}

/* -------------------------------------------------------------------------------------------------------- submitting */

void reply_submitted(const struct customer_step *step, uint64_t token, enum reason reason,
                     const struct submission *submission)
{
    struct message message = {.kind = MESSAGE_SUBMITTED};

    message.u.submitted = (struct submitted){.reason = reason};
    if (submission) {
        message.u.submitted.first = submission->first;
        message.u.submitted.count = submission->count;
    }
    effects_reply(step->effects, token, &message, submission && !MUTANT(SUBMIT_EARLY) ? submission->stored : 0);
}

/* The request as it will be advertised, with its owner in it. NULL when that cannot be made. */
static struct tree *submission_ad(const struct customer_step *step, const struct submit *submit)
{
    struct ad_setting setting = {symbols_take(step->env->symbols, "Owner", 5),
                                 value_string(submit->owner.bytes, strlen(submit->owner.bytes))};
    struct tree *ad = submit->ad && tree_is_ad(submit->ad) ? ad_set(submit->ad, &setting, 1, NULL) : NULL;

    symbols_drop(step->env->symbols, setting.name);
    return ad;
}

/* The number behind the job, or behind all that its row stands for. */
static uint64_t stub_behind(const struct customer *customer, uint64_t id)
{
    uint64_t last = map_find(&customer->stubs, id);

    return last == MAP_NONE ? id + 1 : last + 1;
}

/* A job of the submission to which nothing has happened. */
static struct job *job_make(struct customer *customer, struct submission *submission, uint64_t id)
{
    struct job *job = job_new(customer, id, submission->shape);

    job->from = submission;
    job->fresh = true;
    submission->fresh++;
    submission->alive++;
    return job;
}

/* All jobs of one that is new: they wait, if it does not wait for others. */
static void jobs_make(struct customer *customer, struct submission *submission)
{
    uint64_t end = submission->first + submission->count;

    for (uint64_t id = submission->first; id < end; id++)
        job_wait(customer, job_make(customer, submission, id), false);
    submission->made = submission->count;
}

/* Those of one that was loaded: jobs without a row are those to which nothing has happened. */
static void submission_jobs(struct customer *customer, struct submission *submission)
{
    uint64_t end = submission->first + submission->count, behind;

    for (uint64_t id = submission->first + submission->gone; id < end; id = behind) {
        struct job *job = job_find(customer, id);

        behind = job ? id + 1 : stub_behind(customer, id);
        if (!job && map_find(&customer->stubs, id) != MAP_NONE)
            continue;
        if (!job) {
            job_make(customer, submission, id);
            continue;
        }
        job->from = submission;
        submission->alive++;
    }
    submission->made = submission->count;
}

/* The last one goes where its number belongs: those that came after its batch began have higher ones. */
static void submission_place(struct customer *customer)
{
    uint32_t low = 0, others = customer->submission_count - 1, high = others;
    struct submission **all = customer->submissions, *last = all[others];

    if (!others || all[others - 1]->first < last->first)
        return;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (all[middle]->first < last->first)
            low = middle + 1;
        else
            high = middle;
    }
    memmove(&all[low + 1], &all[low], (others - low) * sizeof *all);
    all[low] = last;
}

/* A new submission becomes durable as a whole: its shape, and the row that says which jobs there are. */
static void submission_make(const struct customer_step *step, const struct submit *submit, struct tree *ad,
                            struct submission *ret)
{
    struct customer *customer = step->customer;
    struct shape *shape = shape_of(step, &submit->owner, ad);

    shape->uses++;
    ret->shape = shape;
    ret->first = ret->batch ? batch_number(customer, submit, ret->batch) : customer->last_job + 1;
    submission_place(customer);
    submission_own(customer, ret);
    ret->count = submit->count;
    ret->at = step->env->wall / SECOND;
    ret->since = step->env->now;
    flow_count(ret);
    if (making_is_long(customer, ret))
        making_begin(customer, ret);
    else
        jobs_make(customer, ret);
    submission_store(step, ret);
    owner_count(customer, &submit->owner, (int64_t)submit->count);
    if (ret->batch && batch_is_whole(ret->batch))
        batch_begin(step, ret->batch, ret->stored);
    else if (!ret->batch && !ret->flow)
        shape_submitted(step, shape);
    if (ret->flow && flow_is_whole(ret->flow))
        flow_begin(step, ret->flow);
}

static bool node_same(const struct tree *a, const struct tree *b)
{
    return a && b ? tree_equal(a, tree_root(a), b, tree_root(b)) : a == b;
}

/* Is this the same submission that was made under this key? */
static bool submission_same(const struct customer *customer, const struct submission *known,
                            const struct submit *submit, const struct tree *ad)
{
    return known->count == submit->count && text_same(&known->key, &submit->key) &&
           text_same(&known->owner, &submit->owner) && known->shape == shape_like(customer, &submit->owner, ad) &&
           node_same(known->node, submit->node);
}

void queue_submit(const struct customer_step *step, const struct event *event)
{
    const struct submit *submit = &event->message->u.submit;
    struct customer *customer = step->customer;
    uint64_t most = customer->settings->jobs_max ? customer->settings->jobs_max : CUSTOMER_JOBS_MAX;
    uint64_t queued = map_find(&customer->owners, account_hash(&submit->owner));
    struct submission *known;
    enum reason reason = REASON_OK;
    struct tree *ad;

    if (!event->peer->any && strcmp(event->peer->identity, submit->owner.bytes) != 0) {
        reply_submitted(step, event->token, REASON_IDENTITY, NULL);
        return;
    }
    submissions_forget_some(step);
    submissions_make_way(step, submit);
    known = submission_find(customer, &submit->owner, &submit->key);
    ad = submission_ad(step, submit);
    if (!ad || !submit->key.bytes[0])
        reason = REASON_INVALID;
    else if (known && !MUTANT(KEY_TWICE))
        reason = submission_same(customer, known, submit, ad) ? REASON_OK : REASON_CONFLICT;
    else if (!submit->count || submit->count > CUSTOMER_SUBMIT_MAX ||
             submit->count >= JOB_ID_MAX - customer->last_job ||
             (queued == MAP_NONE ? 0 : queued) + submit->count > most ||
             (customer->settings->jobs_all && customer_count(customer) + submit->count > customer->settings->jobs_all))
        reason = REASON_LIMIT;
    else if (submit->flow && !flow_fits(customer, submit->flow, submit->nodes, submit->node, &submit->owner))
        reason = REASON_INVALID;
    else if (submit->batch && !batch_has_room(customer, submit))
        reason = REASON_INVALID;
    else {
        known = submission_new(customer, &submit->owner, &submit->key);
        job_trace_read(submit->trace.bytes, strlen(submit->trace.bytes), &known->trace);
        if (submit->batch)
            batch_join(customer, known, submit->batch, submit->ads);
        if (submit->flow)
            flow_join(customer, known, submit->flow, submit->nodes, submit->node);
        submission_make(step, submit, ad, known);
    }
    if (reason == REASON_OK && submission_is_made(known))
        reply_submitted(step, event->token, reason, known);
    else if (reason == REASON_OK)
        making_ask(known, event->token);
    else
        reply_submitted(step, event->token, reason, NULL);
    tree_unref(ad);
}

/* ------------------------------------------------------------------------------------------------------------- looking */

/* Were both submitted under one key, which has that length, b's jobs right behind a's? */
static bool is_beside(const struct submission *a, const struct submission *b, size_t key_len)
{
    return a->first + a->count == b->first && !strncmp(a->key.bytes, b->key.bytes, key_len + 1) &&
           !strchr(a->key.bytes + key_len + 1, '/') && !strchr(b->key.bytes + key_len + 1, '/') &&
           text_same(&a->owner, &b->owner);
}

bool customer_knows_key(const struct customer *customer, const char *owner, const char *key)
{
    const struct submission *known = NULL;
    struct text owner_text, key_text;

    if (text_set(&owner_text, owner, strlen(owner)) && text_set(&key_text, key, strlen(key)))
        known = submission_find(customer, &owner_text, &key_text);
    return known && !submission_is_leaving(known);
}

/* Finds the first and the last that were submitted with this one. Those of one key stand side by side, as their jobs' numbers do. A batch, which may be of
 * very many, knows where it begins and how far it has come; others are few, or of an earlier version. */
static void submission_reach(const struct customer *customer, const struct submission *one, size_t key_len,
                             uint32_t *ret_first, uint32_t *ret_last)
{
    const struct submission **all = (const struct submission **)customer->submissions;
    const struct batch *batch = one->batch;
    uint32_t first, last;

    if (batch && !batch->mixed && !batch->gone) {
        *ret_first = submission_behind(customer, batch->first - 1);
        *ret_last = *ret_first + batch->count - 1;
        return;
    }
    first = last = submission_behind(customer, one->first - 1);
    while (first > 0 && is_beside(all[first - 1], all[first], key_len))
        first--;
    while (last + 1 < customer->submission_count && is_beside(all[last], all[last + 1], key_len))
        last++;
    *ret_first = first;
    *ret_last = last;
}

bool customer_submission(const struct customer *customer, uint64_t id, struct submission_view *ret)
{
    const struct job *job = job_find(customer, id);
    const struct submission *one = job ? job->from : NULL, **all = (const struct submission **)customer->submissions;
    const char *slash = one ? strrchr(one->key.bytes, '/') : NULL;
    uint32_t first, last;
    size_t len;

    if (!one)
        return false;
    len = slash ? (size_t)(slash - one->key.bytes) : strlen(one->key.bytes);
    first = last = submission_behind(customer, one->first - 1);
    if (slash)
        submission_reach(customer, one, len, &first, &last);
    *ret = (struct submission_view){.key = one->key.bytes,
                                    .key_len = len,
                                    .first = all[first]->first,
                                    .last = all[last]->first + all[last]->count - 1,
                                    .ads = last - first + 1,
                                    .whole = !slash || strtoull(all[first]->key.bytes + len + 1, NULL, 10) == 0};
    return true;
}

/* -------------------------------------------------------------------------------------------------------- forgetting */

static void stub_make(const struct customer_step *step, const struct submission *submission, uint64_t first,
                      uint64_t last)
{
    struct record stub = {.kind = RECORD_JOB, .key = first};

    stub.u.job_record =
        (struct job_record){.shape = submission->shape->id, .state = JOB_FORGOTTEN, .last = last > first ? last : 0};
    effects_persist(step->effects, &stub);
    map_set(&step->customer->stubs, first, last);
}

void submission_lost(const struct customer_step *step, struct submission *submission, uint64_t first, uint64_t last,
                     bool has_row)
{
    struct customer *customer = step->customer;
    uint64_t end = submission->first + submission->made, next = last + 1;

    submission->alive -= last + 1 - first;
    if (!submission->alive) {
        submission->ended = step->env->now;
        if (submission->batch) {
            submission->batch->ended = submission->ended;
            submission->batch->over++;
        }
    }
    if (first != submission->first + submission->gone) {
        stub_make(step, submission, first, last);
        return;
    }
    while (next < end && !job_find(customer, next))
        next = stub_behind(customer, next);
    submission->gone = (next < end ? next : end) - submission->first;
    submission_store(step, submission); /* first: a job without a row is one to which nothing has happened */
    if (has_row)
        effects_remove(step->effects, RECORD_JOB, first);
    for (uint64_t id = last + 1, behind; id < next; id = behind) {
        behind = stub_behind(customer, id);
        effects_remove(step->effects, RECORD_JOB, id);
        map_remove(&customer->stubs, id);
    }
}

/* --------------------------------------------------------------------------------------------------------- restarts */

static void load_job(struct customer *customer, const struct record *record)
{
    const struct job_record *was = &record->u.job_record;
    struct shape *shape = shape_find(customer, was->shape);
    struct job *job;

    if (job_find(customer, record->key) || record->key > JOB_ID_MAX)
        return;
    if (was->state == JOB_FORGOTTEN) { /* a number read from a disk may be anything */
        bool many = was->last > record->key && was->last - record->key < CUSTOMER_SUBMIT_MAX;

        map_set(&customer->stubs, record->key, many ? was->last : record->key);
        return;
    }
    if (!shape)
        return;
    job = job_new(customer, record->key, shape);
    job->state = was->state <= JOB_ABORTED ? (enum job_state)was->state : JOB_HELD;
    *job_past(job) = (struct job_past){.gang = was->gang,
                                       .claim = was->claim,
                                       .number = was->number,
                                       .member = was->member,
                                       .tries = was->tries,
                                       .begun = was->begun,
                                       .status = was->status,
                                       .changed = was->changed > 0 ? was->changed : 0,
                                       .reason = was->reason};
}

/* Rows of forgotten jobs that are not needed: they go when the role begins. */
static void load_leftovers(struct customer *customer, const struct submission *submission)
{
    for (uint64_t id = submission->first; id < submission->first + submission->gone; id++) {
        struct job *job = job_find(customer, id);

        if (job || map_find(&customer->stubs, id) != MAP_NONE)
            map_set(&customer->leftovers, id, 0);
        map_remove(&customer->stubs, id);
        if (!job)
            continue;
        map_remove(&customer->jobs, id);
        job->shape->uses--;
        job_delete(job);
    }
}

static void load_submission(struct customer *customer, const struct record *record)
{
    const struct key_record *was = &record->u.key_record;
    struct shape *shape = shape_find(customer, was->shape);
    struct submission *submission;

    if (!shape || was->first > JOB_ID_MAX || was->count > CUSTOMER_SUBMIT_MAX || was->gone > was->count ||
        submission_find(customer, &was->owner, &was->key))
        return;
    submission = submission_new(customer, &was->owner, &was->key);
    submission->shape = shape;
    shape->uses++;
    submission->first = was->first;
    submission->count = was->count;
    submission->gone = was->gone;
    job_trace_read(was->trace.bytes, strlen(was->trace.bytes), &submission->trace);
    submission->at =
        was->at > 0 && was->at < INT64_MAX / SECOND ? was->at : 0; /* a number read from a disk may be anything */
    if (was->batch && batch_fits(customer, was->batch, was->ads))
        batch_join(customer, submission, was->batch, was->ads);
    if (was->flow && flow_fits(customer, was->flow, was->nodes, was->node, &was->owner))
        flow_join(customer, submission, was->flow, was->nodes, was->node);
    load_leftovers(customer, submission);
    submission_jobs(customer, submission);
    if (was->first + was->count > customer->last_job + 1)
        customer->last_job = was->first + was->count - 1;
}

/* Shapes come before the jobs that name them, jobs before their submissions: records are loaded by kind. */
void queue_load(const struct customer_step *step, const struct record *record)
{
    struct customer *customer = step->customer;

    if (record->kind == RECORD_SHAPE) {
        if (record->u.shape_record.ad && tree_is_ad(record->u.shape_record.ad) && !shape_find(customer, record->key))
            shape_new(customer, record->key, &record->u.shape_record.owner, record->u.shape_record.ad);
    } else if (record->kind == RECORD_JOB) {
        load_job(customer, record);
    } else if (record->kind == RECORD_KEY) {
        load_submission(customer, record);
    }
}

static int submission_order(const void *a, const void *b)
{
    const struct submission *x = *(struct submission *const *)a, *y = *(struct submission *const *)b;

    return (x->first > y->first) - (x->first < y->first);
}

/* A job's row without its submission exists only on a broken disk; the job is kept under a key of its own. */
static void adopt_jobs(struct customer *customer)
{
    uint64_t id, value;
    uint32_t at = 0;

    while (map_next(&customer->jobs, &at, &id, &value)) {
        struct job *job = (struct job *)(uintptr_t)value;
        struct text key = {0};
        struct submission *submission;

        if (job->from)
            continue;
        memcpy(key.bytes, "\x01", 1);
        for (int digit = 0; digit < 16; digit++)
            key.bytes[1 + digit] = "0123456789abcdef"[id >> (60 - 4 * digit) & 15];
        submission = submission_new(customer, &job->shape->owner, &key);
        submission->shape = job->shape;
        submission->shape->uses++;
        submission->first = id;
        submission->count = submission->made = 1;
        submission->alive = 1;
        submission->at = job_changed(job);
        job->from = submission;
    }
}

/* Its jobs go too: nothing has happened to them. */
static void submission_drop(const struct customer_step *step, struct submission *submission)
{
    struct customer *customer = step->customer;

    for (uint64_t id = submission->first; id < submission->first + submission->count; id++) {
        struct job *job = job_find(customer, id);

        if (!job || job->from != submission)
            continue;
        effects_remove(step->effects, RECORD_JOB, id);
        job_uncount(customer, job);
        map_remove(&customer->jobs, id);
        job->shape->uses--;
        job_delete(job);
    }
    submission_remove(step, submission);
}

void submissions_drop_cut(const struct customer_step *step)
{
    struct customer *customer = step->customer;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < customer->submission_count; i++) {
        struct submission *submission = customer->submissions[i];

        if (submission->batch && !submission->batch->begun)
            submission_drop(step, submission);
        else
            customer->submissions[kept++] = submission;
    }
    customer->submission_count = kept;
}

/* Jobs that no claim may be running wait, in the order of their numbers. */
void queue_boot(const struct customer_step *step)
{
    struct customer *customer = step->customer;
    uint64_t id, unused;
    uint32_t at = 0;

    adopt_jobs(customer);
    if (customer->submission_count)
        qsort(customer->submissions, customer->submission_count, sizeof *customer->submissions, submission_order);
    while (map_next(&customer->leftovers, &at, &id, &unused))
        effects_remove(step->effects, RECORD_JOB, id);
    map_reset(&customer->leftovers);
    shapes_boot(step);
    for (uint32_t i = 0; i < customer->submission_count; i++) {
        struct submission *submission = customer->submissions[i];
        int64_t age = step->env->wall / SECOND - submission->at;

        submission->ended = step->env->now;
        if (submission->flow)
            age = step->env->wall / SECOND - flow_since(customer, submission);
        submission->since = step->env->now - (age < 0 ? 0 : age < AGE_MAX ? age : AGE_MAX) * SECOND;
        for (uint64_t n = submission->gone; n < submission->count; n++) {
            struct job *job = job_find(customer, submission->first + n);

            if (!job || job->from != submission)
                continue;
            if (!job_ended(job))
                owner_count(customer, &submission->owner, 1);
            if (job->state == JOB_RUNNING && !job->past->root)
                job_requeue(step, job);
            else if (job->state == JOB_IDLE)
                job_wait(step->customer, job, false);
        }
    }
    owners_boot(customer);
    counts_boot(customer);
    submissions_forget_all(step);
}
