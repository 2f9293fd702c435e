/* customer_claims.c: claims of which the customer is the root, from the match to the release.
 *
 * Nothing runs before the decision is durable; the job does not run elsewhere before every member is gone: it has said so, or its lease and the
 * margin have passed. */
#include "lang/base/mem.h"
#include "pool/customer/customer_parts.h"
#include "pool/customer/unit.h"
#include "pool/protocol/mutants.h"

#include <stdlib.h>
#include <string.h>

#define COLLECT_PART 4 /* all members must acknowledge a commit within P / 4, or the claim is off */

struct root *root_of(const struct map *map, uint64_t key)
{
    uint64_t value = map_find(map, key);

    return value == MAP_NONE ? NULL : (struct root *)(uintptr_t)value;
}

static bool root_decided(const struct root *root)
{
    return root->state != ROOT_VERIFYING && root->state != ROOT_COMMITTING;
}

static struct root *root_new(struct customer *customer, uint64_t gang, struct shape *shape)
{
    struct root *root = mem_alloc(sizeof *root);

    *root = (struct root){.gang = gang, .shape = shape, .started = -1, .set = INT64_MAX};
    shape->uses++;
    map_set(&customer->gangs, gang, (uint64_t)(uintptr_t)root);
    return root;
}

static void root_add(struct customer *customer, struct root *root, const struct edge *edge, const struct edges *below)
{
    map_set(&customer->claims, edge->claim, (uint64_t)(uintptr_t)root);
    crew_add(&root->crew, edge, below);
}

static void root_free(struct root *root)
{
    crew_done(&root->crew);
    tree_unref(root->unit);
    free(root);
}

void roots_done(struct customer *customer)
{
    uint64_t gang, value;
    uint32_t at = 0;

    while (map_next(&customer->gangs, &at, &gang, &value))
        root_free((struct root *)(uintptr_t)value);
    map_done(&customer->gangs);
    map_done(&customer->claims);
}

static void root_forget(const struct customer_step *step, struct root *root)
{
    if (root->pending)
        root->shape->pools[root->pool].pending--;
    root->shape->uses--;
    shape_changed(step, root->shape);
    map_remove(&step->customer->gangs, root->gang);
    for (uint32_t i = 0; i < root->crew.count; i++)
        map_remove(&step->customer->claims, root->crew.members[i].claim);
    root_free(root);
}

static void root_set(const struct customer_step *step, struct root *root, int64_t at)
{
    if (at >= root->set)
        return;
    root->set = at;
    timers_set(&step->customer->timers, at, TIMER_ROOT, root->gang);
}

/* --------------------------------------------------------------------------------------------------- what is said */

/* The job's own ad. */
static struct tree *root_unit(struct root *root)
{
    struct unit unit = {.ad = root->job->shape->ad,
                        .job = root->job->id,
                        .index = job_index(root->job),
                        .tries = root->job->past->begun,
                        .node = root->job->from->node,
                        .trace = root->job->from->trace,
                        .crew = &root->crew};

    if (!root->unit)
        root->unit = unit_ad(&unit);
    return root->unit ? root->unit : root->job->shape->ad;
}

struct claim_member_errand root_errand(const struct customer_step *step, struct root *root)
{
    struct claim_member_errand errand = {.env = step->env,
                                         .spans = step->customer->spans,
                                         .effects = step->effects,
                                         .gang = root->gang,
                                         .ad = root->shape->request,
                                         .collect = step->customer->spans->pin / COLLECT_PART,
                                         .after = root->stored};

    if (root->job) {
        errand.job = root->job->id;
        errand.number = root->number;
        errand.duty = (struct duty){.line = root->job->past->claim, .pass = root->crew.members[0].pass};
        if (root->state == ROOT_STARTING)
            errand.ad = root_unit(root);
    }
    if ((MUTANT(ACTIVATE_EARLY) && root->state == ROOT_ACTIVATING) ||
        (MUTANT(START_UNRECORDED) && root->state == ROOT_STARTING) ||
        (MUTANT(ATTACH_UNRECORDED) && root->state == ROOT_ATTACHING))
        errand.after = 0;
    return errand;
}

static void root_go(const struct customer_step *step, struct root *root, enum root_state state,
                    enum claim_member_state members)
{
    root->state = state;
    crew_go(&root->crew, step->env->now, members);
}

/* Before the decision nobody is bound: the match is just dropped. */
static void root_abort(const struct customer_step *step, struct root *root)
{
    crew_abort(&root->crew, step->effects);
    root_forget(step, root);
}

/* Every member is gone: the job may run elsewhere. The job is recorded as waiting before the members' records go. */
static void root_over(const struct customer_step *step, struct root *root)
{
    if (root->job)
        job_requeue(step, root->job);
    for (uint32_t i = 0; i < root->crew.count; i++)
        effects_remove(step->effects, RECORD_BRANCH, root->crew.members[i].claim);
    root_forget(step, root);
}

/* Jobs may be offered to several pools: a claim for which no job is left is stale, and its members hear so at once. */
static void roots_stale(const struct customer_step *step, struct shape *shape)
{
    struct root *root;

    for (uint32_t i = 0; i < shape->pool_count && shape->pool_count > 1 && !MUTANT(STALE_CLAIM); i++)
        while (shape->pools[i].pending > shape->waiting && (root = root_pending(step, shape, i)))
            root_abort(step, root);
}

bool root_is_gang(const struct root *root)
{
    return root->crew.count > 1 || root->crew.members[0].depth > 0;
}

/* May the claim's next job be started at once? Members of a gang clear the way first, all of them, before one begins. */
static bool root_starts_next(const struct root *root)
{
    const struct tree *ad = root->crew.members[0].ad;
    symbol name =
        ad && tree_is_ad(ad) ? symbols_find(ad->symbols, AD_STARTS_NEXT, strlen(AD_STARTS_NEXT)) : SYMBOL_NONE;
    const struct expr *promise = name != SYMBOL_NONE ? tree_find(ad, tree_root(ad), name) : NULL;

    return root->state == ROOT_RUNNING && !root_is_gang(root) && promise && promise->kind == EXPR_BOOLEAN &&
           promise->small != 0;
}

void root_take(const struct customer_step *step, struct root *root, struct job *job)
{
    bool next = root_starts_next(root);

    root->number++;
    root->started = -1;
    tree_unref(root->unit);
    root->unit = NULL;
    job_assign(step, job, root);
    root->stored = job->past->stored;
    if (next)
        root_go(step, root, ROOT_STARTING, CLAIM_MEMBER_STARTING);
    else
        root_go(step, root, ROOT_ACTIVATING, CLAIM_MEMBER_ACTIVATING);
    roots_stale(step, root->shape);
}

/* Draws the key by which members ask for the job's files. It outlives a restart, in the members' rows. */
static void root_draw_pass(const struct customer_step *step, struct root *root)
{
    duty_pass_draw(step->env->secrets, &root->crew.members[0].pass);
    for (uint32_t i = 1; i < root->crew.count; i++)
        root->crew.members[i].pass = root->crew.members[0].pass;
}

/* All members are pinned. If that is in time, and a job still waits, the gang is decided here. */
static void root_decide(const struct customer_step *step, struct root *root)
{
    int64_t collect = step->customer->spans->pin / COLLECT_PART;
    struct job *job = root_choose(step, root);

    if (!job && MUTANT(STALE_CLAIM))
        job = job_taken(step, root->shape);

    if (!job || (step->env->now - root->began > collect && !MUTANT(DECIDE_LATE))) {
        root_abort(step, root);
        return;
    }
    root->pending = false;
    root->shape->pools[root->pool].pending--;
    rejection_forget(root->shape);
    root->active = step->env->now;
    if (root_is_gang(root))
        root_draw_pass(step, root);
    for (uint32_t i = 0; i < root->crew.count; i++)
        root->stored = claim_member_store(&root->crew.members[i], root->gang, root->shape->id, step->effects);
    root_take(step, root, job);
}

/* All members have answered after a restart: the job goes on, is started now, or there is none. */
static void root_attached(const struct customer_step *step, struct root *root)
{
    bool started = true, any = false;

    if (!root->job || root->job->state != JOB_RUNNING ||
        !root->job->past->claim) { /* without a claim: it has failed there */
        root_end(step, root);
        return;
    }
    for (uint32_t i = 0; i < root->crew.count; i++) {
        const struct claim_member *member = &root->crew.members[i];

        bool at_it = member->active && member->number == root->number && member->job == root->job->id;

        if (member->dropped || claim_member_lost(member, step->env))
            continue;
        if (member->state != CLAIM_MEMBER_PINNED && member->state != CLAIM_MEMBER_ACTIVE)
            return;
        started = started && at_it;
        any = any || at_it;
    }
    root->started = any ? job_changed(root->job) : -1;
    if (!root_mourn(step, root, any))
        return; /* if one member has begun, all had cleared the way; else the gang is not whole */
    if (!started && !crew_whole(&root->crew)) {
        root_end(step, root);
        return;
    }
    if (!started) { /* members start together: one that has begun begins anew, under the next number */
        if (any)
            root_take(step, root, root->job);
        else
            root_go(step, root, ROOT_ACTIVATING, CLAIM_MEMBER_ACTIVATING);
        return;
    }
    root->state = ROOT_RUNNING;
    for (uint32_t i = 0; i < root->crew.count; i++)
        if (!root->crew.members[i].dropped)
            root->crew.members[i].state = CLAIM_MEMBER_STARTED;
}

/* Goes on when all members have done what this state is for. The root may be gone then. */
static void root_advance(const struct customer_step *step, struct root *root)
{
    switch (root->state) {
    case ROOT_VERIFYING:
        if (crew_all(&root->crew, CLAIM_MEMBER_VERIFIED)) {
            struct claim_member_errand errand = root_errand(step, root);

            if (!crew_accepts(&root->crew, &errand)) { /* a member is not as it was when the others were verified */
                rejection_add(root->shape, NULL, REASON_CONSTRAINT);
                root_abort(step, root);
                break;
            }
            root->began = step->env->now;
            for (uint32_t i = 0; i < root->crew.count; i++)
                root->crew.members[i].epoch = 1;
            root_go(step, root, ROOT_COMMITTING, CLAIM_MEMBER_COMMITTING);
        }
        break;
    case ROOT_COMMITTING:
        if (crew_all(&root->crew, CLAIM_MEMBER_PINNED))
            root_decide(step, root);
        break;
    case ROOT_ACTIVATING:
        if (crew_all(&root->crew, CLAIM_MEMBER_ACTIVE))
            root_go(step, root, ROOT_STARTING, CLAIM_MEMBER_STARTING);
        break;
    case ROOT_STARTING:
        if (crew_all(&root->crew, CLAIM_MEMBER_STARTED)) {
            root->state = ROOT_RUNNING;
            root->started = step->env->wall / SECOND;
            if (root->job)
                effects_changed(step->effects, root->job->id, root->stored);
        }
        break;
    case ROOT_ATTACHING:
        root_attached(step, root);
        break;
    case ROOT_RUNNING:
        break;
    case ROOT_ENDING:
        if (crew_all(&root->crew, CLAIM_MEMBER_GONE))
            root_over(step, root);
        break;
    }
}

void root_end(const struct customer_step *step, struct root *root)
{
    if (root->state == ROOT_ENDING)
        return;
    if (!root_decided(root)) {
        root_abort(step, root);
        return;
    }
    root_go(step, root, ROOT_ENDING, CLAIM_MEMBER_RELEASING);
    root_set(step, root, step->env->now);
}

/* Somebody else is being verified at a member. Nobody waits meanwhile: all is tried again after some part of the
 * window. */
static void root_busy(const struct customer_step *step, struct root *root)
{
    int64_t left = root->until - step->env->now;

    crew_pause(&root->crew, step->env->now, left > 0 ? (int64_t)rng_below(step->env->chance, (uint64_t)left) : 0,
               step->effects);
}

/* Sends what is due to all members, and sets the next time. */
static void root_run(const struct customer_step *step, struct root *root)
{
    struct claim_member_errand errand = root_errand(step, root);
    int64_t next = crew_run(&root->crew, &errand, root_decided(root));

    if (root->state == ROOT_VERIFYING && root->until < next)
        next = root->until;
    if (root->state == ROOT_COMMITTING && !MUTANT(DECIDE_LATE) &&
        root->began + step->customer->spans->pin / COLLECT_PART + 1 < next)
        next = root->began + step->customer->spans->pin / COLLECT_PART + 1;
    root_set(step, root, next);
}

/* Goes on as far as the claim can, then sends what is due. */
void root_continue(const struct customer_step *step, uint64_t gang)
{
    struct root *root = root_of(&step->customer->gangs, gang);
    enum root_state before;

    if (!root)
        return;
    do {
        before = root->state;
        root_advance(step, root);
        root = root_of(&step->customer->gangs, gang);
    } while (root && root->state != before);
    if (root)
        root_run(step, root);
}

void root_due(const struct customer_step *step, uint64_t gang)
{
    struct root *root = root_of(&step->customer->gangs, gang);
    int64_t now = step->env->now;

    if (!root)
        return;
    if (root->set <= now)
        root->set = INT64_MAX;
    if ((root->state == ROOT_VERIFYING && now >= root->until) ||
        (root->state == ROOT_COMMITTING && !MUTANT(DECIDE_LATE) &&
         now - root->began > step->customer->spans->pin / COLLECT_PART)) {
        rejection_late(root);
        root_abort(step, root);
        return;
    }
    if (root_decided(root))
        crew_expire(&root->crew, step->env);
    if (root_decided(root) && root->state != ROOT_ENDING && root->state != ROOT_ATTACHING)
        root_mourn(step, root, root->state != ROOT_ACTIVATING);
    root_continue(step, gang);
}

/* --------------------------------------------------------------------------------------------------- what is heard */

/* Aborts the match's claim, unless we have it already and the match was repeated. */
static void edge_abort(const struct customer_step *step, const struct edge *edge)
{
    struct message message = {.kind = MESSAGE_ABORT};

    if (root_of(&step->customer->claims, edge->claim))
        return;
    message.u.abort.claim = edge->claim;
    effects_send(step->effects, edge->agent, &message, edge->claim, CLAIM_MEMBER_TAG, 0);
}

void root_matched(const struct customer_step *step, const struct event *event)
{
    const struct match_told *told = &event->message->u.match_told;
    struct customer *customer = step->customer;
    struct message message = {.kind = MESSAGE_GOT};
    struct shape *shape = shape_find(customer, told->id);
    struct shape_pool *pool = shape ? shape_pool(shape, event->peer->agent) : NULL;
    bool ours = shape ? pool != NULL && pool->wanted : customer_knows(customer, event->peer->agent), fits;
    int64_t left;
    struct root *root;

    message.u.got.reason = !ours ? REASON_IDENTITY
                           : shape && shape->lead == shape && !advert_knows(&pool->advert, told->incarnation)
                               ? REASON_WAIT
                               : REASON_OK;
    effects_reply(step->effects, event->token, &message, 0);
    if (ours && shape && shape->lead != shape) {
        for (uint32_t i = 0; told->edges && i < told->edges->count; i++)
            edge_abort(step, &told->edges->items[i]);
        shape_disown(step, shape, pool);
        return;
    }
    if (!ours || !shape || !advert_saw(&pool->advert, step->env->now, told->incarnation, told->number))
        return;
    shape_changed(step, shape);
    fits = told->age >= 0 && told->window > told->age && shape->waiting > pool->pending && told->edges &&
           told->edges->count && told->edges->count <= EDGES_MAX && !root_of(&customer->gangs, told->gang);
    for (uint32_t i = 0; fits && i < told->edges->count; i++)
        fits = told->edges->items[i].ad && !root_of(&customer->claims, told->edges->items[i].claim);
    if (!fits) { /* the match has been taken into account, and nothing comes of it: the members need not wait for us */
        for (uint32_t i = 0; told->edges && i < told->edges->count; i++)
            edge_abort(step, &told->edges->items[i]);
        return;
    }
    left = told->window - told->age;
    root = root_new(customer, told->gang, shape);
    root->until = step->env->now + (left < customer->spans->window ? left : customer->spans->window);
    root->pending = true;
    root->pool = (uint32_t)(pool - shape->pools);
    pool->pending++;
    for (uint32_t i = 0; i < told->edges->count; i++)
        root_add(customer, root, &told->edges->items[i], told->below);
    root_go(step, root, ROOT_VERIFYING, CLAIM_MEMBER_VERIFYING);
    root_run(step, root);
}

/* A member that was claimed for this very job does not start it: the job is failing. A claim that is used again may be
 * refused for what it did before. */
static void root_refused(const struct root *root, const struct event *event)
{
    if (!root->job || root->job->state != JOB_RUNNING || root->number > 1 || event->message->kind != MESSAGE_CLAIMED ||
        (root->state != ROOT_ACTIVATING && root->state != ROOT_STARTING))
        return;
    job_past(root->job)->failing = true;
    job_past(root->job)->reason = event->message->u.claimed.reason;
}

void root_answer(const struct customer_step *step, const struct event *event)
{
    struct root *root = root_of(&step->customer->claims, event->token);
    struct claim_member *member = root ? crew_find(&root->crew, event->token) : NULL;
    struct claim_member_errand errand;
    uint64_t gang;

    if (!member)
        return;
    gang = root->gang;
    errand = root_errand(step, root);
    switch (crew_answer(&root->crew, member, &errand, event)) {
    case CLAIM_MEMBER_SAME:
    case CLAIM_MEMBER_REACHED:
        break;
    case CLAIM_MEMBER_BUSY:
        root_busy(step, root);
        break;
    case CLAIM_MEMBER_REFUSED:
        root_refused(root, event);
        if (!root_decided(root))
            rejection_heard(root, member, event);
        root_loses(step, root, member);
        break;
    case CLAIM_MEMBER_LOST:
        if (!root_decided(root))
            rejection_heard(root, member, event);
        root_loses(step, root, member);
        break;
    }
    root_continue(step, gang);
}

struct claim_member *claim_member_heard(const struct customer_step *step, const struct event *event, uint64_t claim,
                                        struct root **ret_root)
{
    struct root *root = root_of(&step->customer->claims, claim);
    struct claim_member *member = root ? crew_find(&root->crew, claim) : NULL;

    *ret_root = root;
    return member && member->agent == event->peer->agent ? member : NULL;
}

/* Only a heart beat of a claim that we hold and are attached to is acknowledged. */
void root_beat(const struct customer_step *step, const struct event *event)
{
    const struct beat *beat = &event->message->u.beat;
    struct message message = {.kind = MESSAGE_BEATEN};
    enum reason reason = REASON_UNKNOWN;
    struct root *root;
    struct claim_member *member = claim_member_heard(step, event, beat->claim, &root);

    if (member)
        reason = crew_beat(member, step->env, step->customer->spans, beat,
                           root_decided(root) && (root->state != ROOT_ATTACHING || root_bears(step, root)),
                           root->state == ROOT_ENDING);
    message.u.beaten = (struct beaten){beat->claim, reason, beat->sent, step->env->now};
    effects_reply(step->effects, event->token, &message, 0);
}

void reply_root(const struct customer_step *step, const struct event *event, uint64_t claim, enum reason reason,
                uint64_t after)
{
    struct message message = {.kind = MESSAGE_CLAIMED};

    message.u.claimed = (struct claimed){claim, 0, reason};
    effects_reply(step->effects, event->token, &message, after);
}

/* Without a record the claim is off; with one it is decided, or will be. */
void root_asked(const struct customer_step *step, const struct event *event)
{
    uint64_t claim = event->message->u.ask.claim;
    struct root *root;
    struct claim_member *member = claim_member_heard(step, event, claim, &root);

    reply_root(step, event, claim, member ? REASON_WAIT : REASON_ABORT, 0);
    if (member && claim_member_speaks(member) && !member->flight && member->due > step->env->now) {
        member->due = step->env->now; /* the member is there and listens */
        root_run(step, root);
    }
}

/* A member that runs the job below a service asks what the job is. Only a member that the matchmaker has told us of is
 * answered, and only to its own agent, when the start was sent and is durable. */
void root_tasked(const struct customer_step *step, const struct event *event)
{
    const struct task_asked *task = &event->message->u.task_asked;
    struct root *root = root_of(&step->customer->gangs, task->gang);
    struct crew_chief chief = {root ? root->shape->ad : NULL, RUNS_NO_LINK};
    struct claim_member *member = root ? crew_below(&root->crew, &chief, task->claim, event->peer->agent) : NULL;
    struct message message = {.kind = MESSAGE_TASKED};
    struct task_told *told = &message.u.task_told;

    *told = (struct task_told){.claim = task->claim, .reason = REASON_OK};
    if (!member)
        told->reason = root ? REASON_IDENTITY : REASON_UNKNOWN;
    else if (root->state == ROOT_ATTACHING)
        told->reason = REASON_WAIT;
    else if (!root->job || root->job->id != task->job || root->number != task->number ||
             (root->state != ROOT_STARTING && root->state != ROOT_RUNNING))
        told->reason = REASON_STALE;
    if (told->reason == REASON_OK) {
        struct claim_member_errand errand = root_errand(step, root);

        errand.ad = root_unit(root);
        told->line = root->job->past->claim;
        told->helps = crew_leader(&root->crew, &chief) != member || claim_member_executes(member, &chief) ||
                      member->below->items[0].claim != task->claim;
        told->ad = crew_shows(&root->crew, member, &errand, true);
        duty_pass_for(step->env->secrets, &root->crew.members[0].pass, event->peer->agent, told->helps, &told->pass);
    }
    effects_reply(step->effects, event->token, &message, root ? root->stored : 0);
    tree_unref(told->ad);
}

/* Tells the job's user why it waits again. A member that could not set the job up says so when it leaves; a failure
 * that is the job's own fault comes as a result. */
static void root_is_left(struct root *root, enum reason reason)
{
    job_past(root->job)->failing = root->job->past->failing || reason == REASON_SETUP;
    job_past(root->job)->reason = reason == REASON_SETUP ? REASON_FAULT : reason;
}

void root_left(const struct customer_step *step, const struct event *event)
{
    uint64_t claim = event->message->u.left.claim, gang;
    struct root *root;
    struct claim_member *member = claim_member_heard(step, event, claim, &root);
    bool ending;

    reply_root(step, event, claim, REASON_OK, 0);
    if (!member || root->state == ROOT_VERIFYING)
        return;
    gang = root->gang;
    member->state = CLAIM_MEMBER_GONE;
    ending = root->state == ROOT_ENDING;
    if (!root_decided(root))
        rejection_heard(root, member, event);
    root_loses(step, root, member);
    root = root_of(&step->customer->gangs, gang); /* before the decision the root is forgotten at once */
    if (!ending && root && root->state == ROOT_ENDING && root->job && root->job->state == JOB_RUNNING)
        root_is_left(root, event->message->u.left.reason);
    root_continue(step, gang);
}

/* --------------------------------------------------------------------------------------------------------- restarts */

void root_load(const struct customer_step *step, const struct record *record)
{
    const struct branch_record *was = &record->u.branch_record;
    struct customer *customer = step->customer;
    struct shape *shape = shape_find(customer, was->shape);
    struct root *root = root_of(&customer->gangs, was->gang);

    if (!shape)
        return;
    if (!root)
        root = root_new(customer, was->gang, shape->lead);
    map_set(&customer->claims, record->key, (uint64_t)(uintptr_t)root);
    crew_load(&root->crew, record->key, was);
}

/* Of the jobs that a gang has had, the one with the largest number may still be running under it. */
static void root_bind(const struct customer_step *step, struct job *job)
{
    struct root *root = root_of(&step->customer->gangs, job->past->gang);

    if (!root || (job->state != JOB_RUNNING && job->state != JOB_HELD))
        return;
    if (root->job && root->job->past->number > job->past->number)
        return;
    if (root->job)
        job_past(root->job)->root = NULL;
    root->job = job;
    root->number = job->past->number;
    job_past(job)->root = root;
}

/* Asks each recorded claim, with a new epoch that is recorded first; until it answers its members may be running. */
void roots_boot(const struct customer_step *step)
{
    struct customer *customer = step->customer;
    uint64_t key, value;
    uint32_t at = 0;

    while (map_next(&customer->jobs, &at, &key, &value))
        root_bind(step, (struct job *)(uintptr_t)value);
    at = 0;
    while (map_next(&customer->gangs, &at, &key, &value)) {
        struct root *root = (struct root *)(uintptr_t)value;

        root->active = step->env->now;
        for (uint32_t i = 0; i < root->crew.count; i++) {
            struct claim_member *member = &root->crew.members[i];

            member->epoch++;
            claim_member_lives(member, step->env, customer->spans);
            if (MUTANT(NO_WAIT))
                member->lease = 0;
            root->stored = claim_member_store(member, root->gang, root->shape->id, step->effects);
        }
        root_go(step, root, ROOT_ATTACHING, CLAIM_MEMBER_ATTACHING);
        for (uint32_t i = 0; i < root->crew.count; i++) {
            if (root->crew.members[i].dropped)
                claim_member_go(&root->crew.members[i], step->env->now, CLAIM_MEMBER_RELEASING);
            root->crew.members[i].sequence = 0;
        }
        root_set(step, root, step->env->now);
    }
}
