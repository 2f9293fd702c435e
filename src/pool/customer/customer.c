/* customer.c: the agent of users with jobs: passes each event to the part that handles it. */
#include "lang/base/mem.h"
#include "pool/customer/customer_parts.h"

#include <stdlib.h>
#include <string.h>

#define SHAPES_A_WAKE 64   /* shapes that are settled in one go when that is due ... */
#define SHAPES_AN_EVENT 16 /* ... and before and after something else */

static void *customer_make(const void *settings)
{
    struct customer *customer = mem_alloc(sizeof *customer);

    *customer = (struct customer){.settings = settings, .woken = INT64_MAX};
    customer->making_end = &customer->making;
    customer->beginning_end = &customer->beginning;
    customer->spans = customer->settings->spans;
    timers_init(&customer->timers);
    timers_init(&customer->shape_timers);
    map_init_runs(&customer->jobs, 0);
    map_init(&customer->places, 0);
    map_init(&customer->shapes, 0);
    map_init(&customer->leads, 0);
    map_init(&customer->keys, 0);
    map_init(&customer->stubs, 0);
    map_init(&customer->leftovers, 0);
    map_init(&customer->owners, 0);
    map_init(&customer->sizes, 0);
    map_init(&customer->owned, 0);
    map_init(&customer->flows, 0);
    map_init(&customer->batches, 0);
    map_init(&customer->gangs, 0);
    map_init(&customer->claims, 0);
    turns_init(customer);
    return customer;
}

static void customer_free(void *role)
{
    struct customer *customer = role;
    uint64_t id, job;
    uint32_t at = 0;

    if (!customer)
        return;
    roots_done(customer);
    while (map_next(&customer->jobs, &at, &id, &job))
        job_delete((struct job *)(uintptr_t)job);
    map_done(&customer->jobs);
    map_done(&customer->owners);
    map_done(&customer->sizes);
    flows_done(customer);
    batches_done(customer);
    submissions_done(customer);
    shapes_done(customer);
    timers_done(&customer->timers);
    timers_done(&customer->shape_timers);
    turns_done(customer);
    free(customer);
}

void customer_store(const struct customer_step *step)
{
    struct record record = {.kind = RECORD_ROLE};

    record.u.role_record = (struct role_record){.starts = step->customer->starts, .last = step->customer->last_job};
    step->customer->stored = effects_persist(step->effects, &record);
}

/* Rows that know fewer numbers than were used are new, or were restored from a backup: numbers go on behind those in
 * use, so that none is given twice. A new store begins `starts` so high that ads sent before are older than those to
 * come. */
static void numbers_boot(const struct customer_step *step)
{
    struct customer *customer = step->customer;

    if (customer->settings->used <= customer->last_job || customer->settings->used >= JOB_ID_MAX)
        return;
    customer->last_job = customer->settings->used;
    if (!customer->starts)
        customer->starts = (uint64_t)wall_seconds(step->env->wall) & UINT32_MAX;
}

static void customer_boot(const struct customer_step *step)
{
    step->customer->booted = true;
    numbers_boot(step);
    step->customer->starts++;
    customer_store(step);
    batches_boot(step);
    flows_boot(step);
    roots_boot(step);
    queue_boot(step);
}

static void customer_load(const struct customer_step *step, const struct record *record)
{
    if (record->kind == RECORD_ROLE) {
        step->customer->starts = record->u.role_record.starts;
        step->customer->last_job = record->u.role_record.last < JOB_ID_MAX ? record->u.role_record.last : 0;
    } else if (record->kind == RECORD_BRANCH) {
        root_load(step, record);
    } else {
        queue_load(step, record);
    }
}

/* Does what is due. Of shapes, no more than so many are settled: the rest waits for the next wakes, which come at once, and others are served between. */
static void customer_due(const struct customer_step *step, bool wake)
{
    struct customer *customer = step->customer;
    uint32_t shapes = wake ? SHAPES_A_WAKE : customer->behind ? 0 : SHAPES_AN_EVENT;
    struct timer timer;

    if (wake)
        customer->behind = false;
    for (;;) {
        bool first = shapes && timers_next(&customer->shape_timers) <= timers_next(&customer->timers);

        if (!timers_pop(first ? &customer->shape_timers : &customer->timers, step->env->now, &timer))
            return;
        if (timer.what == TIMER_SHAPE) {
            shape_due(step, (uint32_t)timer.which);
            customer->behind = --shapes == 0;
        } else if (timer.what == TIMER_JOB) {
            job_rested(step, timer.which);
        } else if (timer.what == TIMER_TURNS) {
            turns_due(step, (uint32_t)timer.which);
        } else if (timer.what == TIMER_LOOK) {
            turns_look(step, (uint32_t)timer.which);
            customer->behind = true;
            shapes = 0;
        } else {
            root_due(step, timer.which);
        }
    }
}

/* A message that is not for a customer still gets an answer. */
static void reply_invalid(const struct customer_step *step, const struct event *event)
{
    struct message message;

    if (message_refusal(event->message->kind, REASON_INVALID, &message))
        effects_reply(step->effects, event->token, &message, 0);
}

static void customer_message(const struct customer_step *step, const struct event *event)
{
    static void (*const told[MESSAGE_COUNT])(const struct customer_step *, const struct event *) = {
        [MESSAGE_MATCH] = root_matched,  [MESSAGE_BEAT] = root_beat,        [MESSAGE_ASK] = root_asked,
        [MESSAGE_RESULT] = root_result,  [MESSAGE_LEFT] = root_left,        [MESSAGE_TASK] = root_tasked,
        [MESSAGE_SUBMIT] = queue_submit, [MESSAGE_CONTROL] = queue_control,
    };

    if (told[event->message->kind])
        told[event->message->kind](step, event);
    else
        reply_invalid(step, event);
}

static void customer_event(const struct customer_step *step, const struct event *event)
{
    if (event->kind == EVENT_MESSAGE)
        customer_message(step, event);
    else if (event->kind == EVENT_ANSWER && event->tag % CLAIM_MEMBER_TAGS == CLAIM_MEMBER_TAG)
        root_answer(step, event);
    else if (event->kind == EVENT_FORGET)
        queue_forget(step, event);
    else if (event->kind == EVENT_DROP)
        queue_drop(step, event);
    else if (event->kind == EVENT_LOCAL)
        queue_local(step, event);
    else if (event->kind == EVENT_AHEAD)
        root_promise(step, event);
    else if (event->kind == EVENT_KNOWN)
        shapes_again(step, event->claim);
    else if (event->kind == EVENT_ANSWER)
        shape_answer(step, event->token, event);
}

static void customer_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    struct customer *customer = role;
    struct customer_step step = {customer, env, effects};
    int64_t next, shape;

    if (!customer->booted) {
        if (event->kind == EVENT_LOADED)
            customer_load(&step, event->record);
        else if (event->kind == EVENT_ENDED)
            queue_ended(&step, event);
        else if (event->kind == EVENT_BOOTED)
            customer_boot(&step);
        if (!customer->booted)
            return;
    }
    if (event->kind == EVENT_WAKE) { /* the wake is used up, perhaps a moment too early */
        customer->woken = INT64_MAX;
        making_step(&step);
        batches_step(&step);
    }
    customer_due(&step, event->kind == EVENT_WAKE); /* leases run out before any message is looked at */
    customer_event(&step, event);
    customer_due(&step, event->kind == EVENT_WAKE);
    next = timers_next(&customer->timers);
    shape = timers_next(&customer->shape_timers);
    if (shape < next)
        next = shape;
    if (customer->making || customer->beginning)
        next = env->now;
    if (next != customer->woken)
        effects_wake(effects, next);
    customer->woken = next;
}

/* ------------------------------------------------------------------------------------------------------------ views */

/* What is under way for a request, or came to nothing. */
static void claims_view(const struct shape *lead, struct job_view *ret)
{
    const struct rejection *rejection = lead->rejection;

    ret->alike = lead->waiting;
    for (uint32_t i = 0; i < lead->pool_count; i++)
        ret->claiming += lead->pools[i].pending;
    if (!rejection)
        return;
    ret->rejected = rejection->count;
    ret->rejected_for = rejection->reason;
    ret->rejected_by = *rejection->by ? rejection->by : NULL;
}

/* What the pools have planned for a request: the first of its jobs begins then. */
static void plan_view(const struct customer *customer, const struct shape *lead, struct job_view *ret)
{
    for (uint32_t i = 0; i < lead->pool_count; i++) {
        const struct advert_plan *plan = lead->pools[i].advert.text ? lead->pools[i].advert.plan : NULL;

        if (!plan || plan->start >= ret->planned)
            continue;
        ret->planned = plan->start;
        ret->planned_until = plan->told + customer->spans->lifetime;
        ret->planned_on = *plan->on.bytes ? plan->on.bytes : NULL;
    }
}

static void job_view(const struct customer *customer, const struct job *job, struct job_view *ret)
{
    *ret = (struct job_view){
        .id = job->id,
        .first = job->from->first,
        .shape = job->shape->lead->id,
        .index = job_index(job),
        .state = job->state,
        .root = job->past->root ? job->past->root->state : ROOT_ENDING,
        .rooted = job->past->root != NULL,
        .gang = job->past->gang,
        .claim = job->past->claim,
        .number = job->past->number,
        .member = job->past->member,
        .pass = job->past->root ? job->past->root->crew.members[0].pass : (struct key){{0}},
        .tries = job->past->tries,
        .begun = job->past->begun,
        .in_vain = job->past->in_vain,
        .early = job->state == JOB_IDLE && job->waits && job->shape->lead->early,
        .begins = job->shape->not_before,
        .rests = job->past->rests,
        .submitted = job->from->at,
        .changed = job_changed(job),
        .reason = job->past->reason,
        .refused = job->state == JOB_IDLE && job->waits ? shape_refused(job->shape->lead) : REASON_OK,
        .planned = INT64_MAX,
        .status = job->past->status,
        .owner = job->shape->owner.bytes,
        .ad = job->shape->ad,
        .local = job->shape->local,
        .workflow = job->from->flow ? job->from->flow->first : 0,
        .node = job->from->node,
        .blocked = job->state == JOB_IDLE && job_is_blocked(job),
        .stuck = job->state == JOB_IDLE && job_is_blocked(job) && job->from->flow && !job->from->flow->moving,
        .kept = job->from->flow && job->from->flow->left,
        .trace = job->from->trace};
    if (job->state == JOB_IDLE && job->waits) {
        turns_waits(customer, job->shape->lead, &ret->turn_room, &ret->turn_waiting);
        claims_view(job->shape->lead, ret);
        if (job == job->shape->lead->first)
            plan_view(customer, job->shape->lead, ret);
    }
}

void customer_each(const struct customer *customer, customer_job_fn *fn, void *user)
{
    struct job_view view = {0};

    while (customer_next(customer, view.id, &view))
        fn(user, &view);
}

uint32_t submission_behind(const struct customer *customer, uint64_t id)
{
    uint32_t low = 0, high = customer->submission_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct submission *submission = customer->submissions[middle];

        if (submission->first + submission->count <= id + 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool submission_job_behind(const struct customer *customer, const struct submission *submission, uint64_t after,
                           struct job_view *ret)
{
    uint64_t id = submission->first + submission->gone;

    for (id = id > after ? id : after + 1; submission->alive && id < submission->first + submission->made; id++)
        if (customer_job(customer, id, ret))
            return true;
    return false;
}

bool customer_next(const struct customer *customer, uint64_t after, struct job_view *ret)
{
    for (uint32_t i = submission_behind(customer, after); i < customer->submission_count; i++)
        if (submission_job_behind(customer, customer->submissions[i], after, ret))
            return true;
    return false;
}

#define ALIKE_LOOKED 10000 /* jobs that one question looks at */

static bool is_untouched(const struct job *job)
{
    return job && job->fresh && job->waits && !job->from->flow;
}

uint64_t customer_alike(const struct customer *customer, uint64_t id, uint64_t last)
{
    const struct job *job = job_find(customer, id);
    const struct submission *from = is_untouched(job) ? job->from : NULL;
    uint64_t end = from ? from->first + from->count : id, next = id + 1;

    if (!from || last < id)
        return 0;
    end = end - 1 < last ? end : last + 1;
    if (from->fresh == from->count)
        return end - id;
    end = end - id < ALIKE_LOOKED ? end : id + ALIKE_LOOKED;
    while (next < end && is_untouched(job_find(customer, next)))
        next++;
    return next - id;
}

/* Have all jobs of that submission come to wait, and nothing else? */
static bool is_all_untouched(const struct submission *one)
{
    return one->fresh == one->count && !one->flow && (!one->batch || one->begun);
}

#define ALIKE_ADS_LOOKED 64 /* ads that one question looks at: each is somewhere else in memory */

uint64_t customer_stand_alike(const struct customer *customer, uint64_t id, uint64_t last)
{
    uint64_t end = id + customer_alike(customer, id, last);
    const struct submission *first = end > id ? job_find(customer, id)->from : NULL;
    enum reason refused = first ? shape_refused(first->shape->lead) : REASON_OK;
    uint32_t place = first ? submission_behind(customer, end - 1) : 0;

    for (uint32_t i = 0; first && i < ALIKE_ADS_LOOKED && end <= last && place < customer->submission_count; i++) {
        const struct submission *one = customer->submissions[place++];

        if (one->first != end || !is_all_untouched(one) || one->shape->local != first->shape->local ||
            memcmp(&one->owner, &first->owner, sizeof one->owner) != 0 || shape_refused(one->shape->lead) != refused)
            break;
        end = last - end < one->count ? last + 1 : end + one->count;
    }
    return end - id;
}

uint64_t customer_ended_since(const struct customer *customer)
{
    return customer->ended_since;
}

uint64_t customer_last(const struct customer *customer)
{
    return customer->last_job;
}

uint64_t customer_count(const struct customer *customer)
{
    return map_count(&customer->jobs) + customer->unmade;
}

uint64_t customer_queued(const struct customer *customer, const char *owner)
{
    struct text text;
    uint64_t count;

    text_set(&text, owner, strlen(owner));
    count = map_find(&customer->owners, account_hash(&text));
    return count == MAP_NONE ? 0 : count;
}

uint64_t customer_bytes(const struct customer *customer, const char *owner)
{
    struct text text;
    uint64_t bytes;

    text_set(&text, owner, strlen(owner));
    bytes = map_find(&customer->sizes, account_hash(&text));
    return bytes == MAP_NONE ? 0 : bytes;
}

bool customer_job(const struct customer *customer, uint64_t id, struct job_view *ret)
{
    const struct job *job = job_find(customer, id);

    if (job)
        job_view(customer, job, ret);
    return job != NULL;
}

void customer_each_root(const struct customer *customer, customer_root_fn *fn, void *user)
{
    uint64_t gang, value;
    uint32_t at = 0;

    while (map_next(&customer->gangs, &at, &gang, &value)) {
        const struct root *root = (const struct root *)(uintptr_t)value;
        const struct claim_member *member = &root->crew.members[0];
        struct root_view view = {.gang = root->gang,
                                 .claim = member->claim,
                                 .state = root->state,
                                 .shape = root->shape->id,
                                 .job = root->job ? root->job->id : 0,
                                 .number = root->number,
                                 .epoch = member->epoch,
                                 .member = member->agent,
                                 .lease = member->lease};

        fn(user, &view);
    }
}

uint32_t customer_members(const struct customer *customer, uint64_t id, struct member_view *ret, uint32_t room)
{
    const struct job *job = job_find(customer, id);
    const struct root *root = job ? job->past->root : NULL;
    struct crew_chief chief = {root ? root->shape->ad : NULL, RUNS_NO_LINK};
    uint32_t count = 0, number;

    for (uint32_t i = 0; root && i < root->crew.count; i++) {
        const struct claim_member *member = &root->crew.members[i];
        symbol name = member->ad ? symbols_find(member->ad->symbols, "Name", 4) : SYMBOL_NONE;
        const struct expr *called =
            name != SYMBOL_NONE && tree_is_ad(member->ad) ? tree_find(member->ad, tree_root(member->ad), name) : NULL;

        if (!claim_member_works(member, &chief))
            continue;
        number = crew_number(&root->crew, &chief, member, &count);
        if (count < 2)
            return 0;
        if (number >= room)
            continue;
        ret[number] = (struct member_view){.who = member->agent, .claim = member->claim};
        if (called && called->kind == EXPR_STRING) {
            ret[number].name = tree_string(member->ad, called);
            ret[number].name_len = called->u.run.count;
        }
    }
    return count;
}

/* Every job is where its state says; the counts are those of the lists. */
static bool customer_valid(const void *role, const char **ret_why)
{
    const struct customer *customer = role;
    uint64_t id, value;
    uint32_t at = 0;

    while (map_next(&customer->jobs, &at, &id, &value)) {
        const struct job *job = (const struct job *)(uintptr_t)value;

        *ret_why = "a job has no submission";
        if (customer->booted && (!job->from || id - job->from->first >= job->from->count))
            return false;
        *ret_why = "a job and its claim do not name each other";
        if (job->past->root && job->past->root->job != job)
            return false;
        *ret_why = "a job waits and has a claim, or neither";
        if (customer->booted && (job->waits || job->past->rests) != (job->state == JOB_IDLE && !job_is_blocked(job)))
            return false;
        if (customer->booted && job->state == JOB_RUNNING && !job->past->root && !job->shape->local)
            return false;
        *ret_why = "a job of the customer's own host has a claim";
        if (job->past->root && job->shape->local)
            return false;
    }
    for (uint32_t i = 0; i < customer->shape_count; i++) {
        const struct shape *shape = customer->shape_list[i];
        int64_t waiting = 0;

        if (!shape)
            continue;
        for (const struct job *job = shape->first; job; job = job->after)
            waiting++;
        *ret_why = "a shape's counts are wrong";
        if (waiting != shape->waiting)
            return false;
        for (uint32_t k = 0; k < shape->pool_count; k++)
            if (shape->pools[k].pending < 0)
                return false;
    }
    *ret_why = "the counts of jobs by state are wrong";
    if (!counts_valid(customer))
        return false;
    *ret_why = "a submission is not in its owner's list";
    if (!owners_valid(customer))
        return false;
    *ret_why = "the counts of requests that are offered by turns are wrong";
    if (!turns_valid(customer))
        return false;
    *ret_why = NULL;
    return true;
}

const struct role_kind customer_role = {"customer", customer_make, customer_free, customer_step, customer_valid};
