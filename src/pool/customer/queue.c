/* queue.c: a customer's jobs: waiting, assigned, ended, held, removed, forgotten. */
#include "lang/base/mem.h"
#include "pool/customer/customer_parts.h"

#include <stdlib.h>
#include <string.h>

struct job *job_find(const struct customer *customer, uint64_t id)
{
    uint64_t value = map_find(&customer->jobs, id);

    return value == MAP_NONE ? NULL : (struct job *)(uintptr_t)value;
}

bool job_ended(const struct job *job)
{
    return job->state == JOB_DONE || job->state == JOB_REMOVED || job->state == JOB_ABORTED;
}

void owner_count(struct customer *customer, const struct text *owner, int64_t more)
{
    uint64_t hash = account_hash(owner), count = map_find(&customer->owners, hash);

    map_set(&customer->owners, hash, (count == MAP_NONE ? 0 : count) + (uint64_t)more);
}

static const struct job_past job_untouched;

struct job *job_new(struct customer *customer, uint64_t id, struct shape *shape)
{
    struct job *job = mem_alloc(sizeof *job);

    *job = (struct job){.id = id, .shape = shape, .past = &job_untouched};
    shape->uses++;
    map_set(&customer->jobs, id, (uint64_t)(uintptr_t)job);
    if (id > customer->last_job)
        customer->last_job = id;
    return job;
}

void job_delete(struct job *job)
{
    if (job->past != &job_untouched)
        free((void *)(uintptr_t)job->past);
    free(job);
}

struct job_past *job_past(struct job *job)
{
    struct job_past *past;

    if (job->past != &job_untouched)
        return (struct job_past *)(uintptr_t)job->past;
    past = mem_alloc(sizeof *past);
    *past = (struct job_past){.changed = job_changed(job)};
    job->past = past;
    return past;
}

int64_t job_changed(const struct job *job)
{
    if (job->past == &job_untouched)
        return job->from ? job->from->at : 0;
    return job->past->changed;
}

/* Writes the job's row; since when it is in its state is not touched. */
static void job_write(const struct customer_step *step, struct job *job)
{
    struct record record = {.kind = RECORD_JOB, .key = job->id};

    record.u.job_record = (struct job_record){.shape = job->shape->id,
                                              .state = job->state,
                                              .gang = job->past->gang,
                                              .claim = job->past->claim,
                                              .member = job->past->member,
                                              .number = job->past->number,
                                              .tries = job->past->tries,
                                              .changed = job->past->changed,
                                              .begun = job->past->begun,
                                              .reason = job->past->reason,
                                              .status = job->past->status};
    job_past(job)->stored = effects_persist(step->effects, &record);
    if (job->fresh)
        job->from->fresh--;
    job->fresh = false;
    job_count(step->customer, job);
}

static void job_store(const struct customer_step *step, struct job *job)
{
    job_past(job)->changed = step->env->wall / SECOND;
    job_write(step, job);
    effects_changed(step->effects, job->id, job->past->stored);
    flow_tally(step, job);
}

static void job_link(struct job *job, bool first)
{
    struct shape *shape = job->shape->lead;

    if (job->waits || job_is_blocked(job))
        return;
    job->waits = true;
    job->before = first ? NULL : shape->last;
    job->after = first ? shape->first : NULL;
    *(job->before ? &job->before->after : &shape->first) = job;
    *(job->after ? &job->after->before : &shape->last) = job;
    shape->waiting++;
    flow_moves(job);
}

void job_wait(struct customer *customer, struct job *job, bool first)
{
    job_link(job, first);
    job_count(customer, job);
}

static void job_unwait(struct job *job)
{
    struct shape *shape = job->shape->lead;

    if (job->past->rests)
        job_past(job)->rests = 0;
    if (!job->waits)
        return;
    job->waits = false;
    *(job->before ? &job->before->after : &shape->first) = job->after;
    *(job->after ? &job->after->before : &shape->last) = job->before;
    shape->waiting--;
    flow_moves(job);
}

struct job *shape_next(const struct shape *shape)
{
    return shape->early ? NULL : shape->first;
}

void job_assign(const struct customer_step *step, struct job *job, struct root *root)
{
    struct crew_chief chief = {root->shape->ad, RUNS_NO_LINK};
    const struct claim_member *leader = crew_leader(&root->crew, &chief);
    struct job_past *past = job_past(job);

    leader = leader ? leader : &root->crew.members[0]; /* no member runs anything: the job stays until it is removed */
    job_unwait(job);
    job->state = JOB_RUNNING;
    past->root = root;
    past->gang = root->gang;
    past->claim = leader->claim;
    past->member = leader->agent;
    if (leader->below && leader->below->count &&
        !claim_member_executes(leader, &chief)) /* the member below sends the result itself */
        past->member = leader->below->items[0].agent;
    past->number = root->number;
    past->begun++;
    root->job = job;
    job_store(step, job);
    shape_changed(step, job->shape);
}

/* Does the job rest before it is offered again? Not after its first claim that comes to nothing: it goes elsewhere at
 * once. After that it rests, longer every time: a job that no machine starts, or that all fail to set up, must not use
 * up the pool. */
static bool job_rest(const struct customer_step *step, struct job *job)
{
    const struct spans *spans = step->customer->spans;
    int64_t pause = 2 * spans->retry, late = shape_time_comes(step, job->shape->finish_by);
    struct job_past *past = job_past(job);

    past->in_vain += past->failing;
    if (!past->failing || past->in_vain < 2 || late <= step->env->now)
        return false;
    for (uint32_t i = 2; i < past->in_vain && pause < spans->lifetime; i++)
        pause *= 2;
    past->rests = step->env->now + (pause < spans->lifetime ? pause : spans->lifetime);
    past->rests = late < past->rests ? late : past->rests; /* to be given up in time */
    timers_set(&step->customer->timers, past->rests, TIMER_JOB, job->id);
    return true;
}

void job_rested(const struct customer_step *step, uint64_t id)
{
    struct job *job = job_find(step->customer, id);

    if (!job || !job->past->rests || job->past->rests > step->env->now)
        return;
    job_past(job)->rests = 0;
    if (job->state != JOB_IDLE || job->past->root)
        return;
    job_wait(step->customer, job, true);
    shape_changed(step, job->shape);
}

/* The job's claim is over, and nothing of the job runs there. Where it ran last is kept: its result may still come. */
void job_requeue(const struct customer_step *step, struct job *job)
{
    bool rests;

    job_past(job)->root = NULL;
    if (job->state != JOB_RUNNING)
        return; /* it was held or removed meanwhile, or is done */
    job->state = JOB_IDLE;
    rests = job_rest(step, job);
    job_past(job)->failing = false;
    job_store(step, job);
    if (!rests)
        job_wait(step->customer, job, true);
    shape_changed(step, job->shape);
}

static void job_end(const struct customer_step *step, struct job *job, enum job_state state)
{
    job->state = state;
    owner_count(step->customer, &job->shape->owner, -1);
}

/* The job has ended, one way or the other. It is tried again as often as it says, and held when it could not even
 * begin, or when it is over and lacks an output that it names. */
void job_result(const struct customer_step *step, struct job *job, const struct result *result)
{
    bool failed = result->reason != REASON_EXITED || result->status != job->shape->success, last, over;
    enum ending ending = ending_of(step, job, result);
    struct job_past *past = job_past(job);

    job_unwait(job); /* the job may have been waiting, its claim given up */
    past->in_vain = 0;
    past->failing = false;
    past->reason = result->reason;
    past->status = result->status;
    past->tries += failed && ending != ENDING_CHECKPOINT;
    last = past->tries > (uint64_t)job->shape->retries ||
           (result->reason == REASON_EXITED && result->status == job->shape->unless);
    over = ending == ENDING_DONE || (ending == ENDING_USUAL && (!failed || (result->reason != REASON_SETUP && last)));
    if (over && ending_lacks(job, result, failed)) {
        job->state = JOB_HELD;
        past->reason = REASON_UNMADE;
    } else if (over) {
        job_end(step, job, JOB_DONE);
    } else if (ending == ENDING_HELD || (ending == ENDING_USUAL && last)) {
        job->state = JOB_HELD;
    } else if (job->state != JOB_HELD && !past->root) {
        job->state = JOB_IDLE; /* otherwise only when its claim is over: others of the gang may still be at it */
    }
    past->claim = job->state == JOB_DONE ? past->claim : 0; /* this claim's result has been taken */
    job_store(step, job);
    if (job->state == JOB_IDLE && !past->root)
        job_wait(step->customer, job, true);
    shape_changed(step, job->shape);
}

/* A member that is not the leader failed, and the gang ends because of that: this counts as a try, but is no result.
 * When all tries are used up the job is held, for its user to look at. */
void job_spoiled(const struct customer_step *step, struct job *job, const struct result *result)
{
    if (job->state != JOB_RUNNING)
        return;
    job_past(job)->reason = result->reason;
    job_past(job)->status = result->status;
    if (++job_past(job)->tries > (uint64_t)job->shape->retries)
        job->state = JOB_HELD;
    else
        job_past(job)->claim =
            0; /* no result of this try counts any more; by this a restart knows that the gang ends */
    job_store(step, job);
}

void job_give_up(const struct customer_step *step, struct job *job, enum reason why)
{
    job_unwait(job);
    job_end(step, job, JOB_ABORTED);
    job_past(job)->reason = why;
    job_store(step, job);
    shape_changed(step, job->shape);
}

/* --------------------------------------------------------------------------------------------------- hold and the rest */

/* A job that has ended badly, in a workflow that is not over, waits again. */
static enum reason job_rescue(const struct customer_step *step, struct job *job)
{
    if (!job->from->flow)
        return REASON_INVALID;
    if (!job_ended(job))
        return REASON_OK;
    if (job->tally == TALLY_GOOD || !job->from->flow->left ||
        (job->tally == TALLY_REMOVED && !job->from->child_count)) /* the user removed it, and no node waits for it */
        return REASON_STALE;
    if (job->past->root)
        return REASON_BUSY;
    job->state = JOB_IDLE;
    job_past(job)->tries = 0;
    job_past(job)->claim = 0; /* its last result has been taken */
    job_past(job)->reason = REASON_OK;
    job_past(job)->status = 0;
    job->from->since = step->env->now;
    owner_count(step->customer, &job->shape->owner, 1);
    job_store(step, job);
    job_wait(step->customer, job, false);
    shape_changed(step, job->shape);
    return REASON_OK;
}

/* The job has ended badly, and its workflow does not need it any more. */
static enum reason job_dismiss(const struct customer_step *step, struct job *job)
{
    if (job->tally != TALLY_FAILED)
        return job->state == JOB_REMOVED ? REASON_OK : REASON_STALE;
    job->state = JOB_REMOVED;
    job_past(job)->reason = REASON_RELEASED;
    job_store(step, job);
    return REASON_OK;
}

/* The job leaves its machine, and waits again when it is gone from there. It is as if the try had never been: no result of it counts any more. */
static enum reason job_vacate(const struct customer_step *step, struct job *job)
{
    if (job->state != JOB_RUNNING || !job->past->root)
        return REASON_STALE;
    if (!job->past->claim)
        return REASON_OK;     /* it is leaving */
    job_past(job)->claim = 0; /* by this a restart knows, too */
    job_past(job)->reason = REASON_RELEASED;
    job_store(step, job);
    root_end(step, job->past->root);
    return REASON_OK;
}

/* The job becomes one of another shape. What runs now goes on as it was begun; the claim keeps the shape that it was made for. */
static enum reason job_edit(const struct customer_step *step, struct job *job, struct tree *ad)
{
    struct shape *before = job->shape, *shape;
    bool waits = job->waits;
    int64_t rests = job->past->rests;

    if (!ad || !tree_is_ad(ad))
        return REASON_INVALID;
    if (job->from->batch && !job->from->begun)
        return REASON_BUSY;
    shape = shape_of(step, &before->owner, ad);
    if (shape->local != before->local || shape->parallel != before->parallel || shape->index != before->index) {
        shape_changed(step, shape); /* nobody may need it */
        return REASON_INVALID;
    }
    if (shape == before)
        return REASON_OK;
    job_unwait(job);
    job->shape = shape;
    shape->uses++;
    before->uses--;
    if (rests)
        job_past(job)->rests = rests;
    job_write(step, job);
    if (waits)
        job_wait(step->customer, job, false);
    shape_changed(step, before);
    shape_changed(step, shape);
    return REASON_OK;
}

static enum reason job_control(const struct customer_step *step, struct job *job, const struct control *control)
{
    uint64_t verb = control->verb;

    if (verb >= CONTROL_COUNT)
        return REASON_INVALID;
    if (verb == CONTROL_RESCUE)
        return job_rescue(step, job);
    if (job_ended(job))
        return verb == CONTROL_REMOVE ? job_dismiss(step, job) : REASON_STALE;
    if (verb == CONTROL_VACATE)
        return job_vacate(step, job);
    if (verb == CONTROL_EDIT)
        return job_edit(step, job, control->ad);
    if (verb == CONTROL_RELEASE) {
        if (job->state != JOB_HELD)
            return REASON_OK;
        if (job->past->root)
            return REASON_BUSY; /* the claim that it ran under is not gone yet */
        job->state = JOB_IDLE;
        job_past(job)->tries = 0;
        job_past(job)->in_vain = 0;
        job_wait(step->customer, job, false);
    } else {
        if (verb == CONTROL_HOLD && job->state == JOB_HELD)
            return REASON_OK;
        job_past(job)->reason = REASON_RELEASED;
        job_unwait(job);
        if (verb == CONTROL_REMOVE)
            job_end(step, job, JOB_REMOVED);
        else
            job->state = JOB_HELD;
    }
    job_store(step, job);
    shape_changed(step, job->shape);
    if (job->past->root)
        root_end(step, job->past->root);
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
        message.u.got.reason = job_control(step, job, control);
    effects_reply(step->effects, event->token, &message, job ? job->past->stored : 0);
}

/* The rows are of a backup, and the job has ended since: so it must not run again. It is not counted yet, nor does it wait. */
void queue_ended(const struct customer_step *step, const struct event *event)
{
    struct job *job = job_find(step->customer, event->job);

    if (!job || job_ended(job) ||
        (event->number != JOB_DONE && event->number != JOB_REMOVED && event->number != JOB_ABORTED))
        return;
    job->state = (enum job_state)event->number;
    job_past(job)->reason = event->reason;
    job_past(job)->status = event->status;
    job_past(job)->changed = event->at;
    step->customer->ended_since++;
    job_write(step, job);
}

/* News of a job that runs on our own host. What comes of a try before the present one counts no more: the job was held or removed meanwhile. */
void queue_local(const struct customer_step *step, const struct event *event)
{
    struct job *job = job_find(step->customer, event->job);
    struct result result = {.reason = event->reason, .status = event->status};

    if (!job || !job->shape->local)
        return;
    if (event->news == JOB_FOUND) {
        if (job->state != JOB_IDLE || !job->waits || job->shape->lead->early)
            return;
        job_unwait(job);
        job->state = JOB_RUNNING;
        job_past(job)->begun++;
        job_store(step, job);
        return;
    }
    if (job->state != JOB_RUNNING || job->past->begun != event->number)
        return;
    if (event->news == JOB_EXITED)
        job_result(step, job, &result);
    else
        job_requeue(step, job);
}

/* The world has recorded all that is worth keeping of a job that has ended. */
void queue_forget(const struct customer_step *step, const struct event *event)
{
    struct job *job = job_find(step->customer, event->job);
    struct shape *shape;

    if (!job || !job_ended(job) || job->past->root || (job->from->flow && job->from->flow->left))
        return;
    shape = job->shape;
    job_uncount(step->customer, job);
    map_remove(&step->customer->jobs, job->id);
    submission_lost(step, job->from, job->id, job->id, true);
    job_delete(job);
    shape->uses--;
    shape_changed(step, shape);
}

/* As if each had been removed and forgotten, with one row for all. */
void queue_drop(const struct customer_step *step, const struct event *event)
{
    struct customer *customer = step->customer;
    uint64_t first = event->job, last = event->number;
    struct submission *from;
    struct shape *shape;

    if (last < first || customer_alike(customer, first, last) != last + 1 - first)
        return;
    from = job_find(customer, first)->from;
    shape = from->shape;
    for (uint64_t id = first; id <= last; id++) {
        struct job *job = job_find(customer, id);

        job_unwait(job);
        job_uncount(customer, job);
        map_remove(&customer->jobs, id);
        job_delete(job);
        shape->uses--;
    }
    from->fresh -= last + 1 - first;
    owner_count(customer, &shape->owner, -(int64_t)(last + 1 - first));
    submission_lost(step, from, first, last, false);
    shape_changed(step, shape);
}
