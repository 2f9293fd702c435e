/* customer_results.c: what comes of the job of a gang: its leader's result, or members that are lost.
 *
 * The *leader* is the first member in the order of ports that executes anything: its result is the job's. The result of any other member is nobody's
 * result, but its failure is a loss. A loss ends the gang, unless the port says that the member is not essential: then the gang goes on without
 * it, and is released after this job. */
#include "pool/customer/customer_parts.h"
#include "pool/protocol/mutants.h"

/* --------------------------------------------------------------------------------------------------------- losses */

/* Does the gang end if it loses this member? Always if that is the leader, or if there is no job yet. */
static bool root_needs(const struct customer_step *step, struct root *root, const struct claim_member *member)
{
    struct claim_member_errand errand = root_errand(step, root);
    int64_t run = run_time(step->env, root->started);

    return !root->job || (root->job->past->claim == member->claim && !MUTANT(LEADER_DROPPED)) ||
           crew_needs(&root->crew, &errand, member, run);
}

static void root_drop(const struct customer_step *step, struct root *root, struct claim_member *member)
{
    root->stored = crew_drop(member, step->env->now, root->gang, root->shape->id, step->effects);
    effects_note(step->effects, REASON_LOST, member->claim,
                 "a member that is not essential: the gang goes on without it");
}

bool root_mourn(const struct customer_step *step, struct root *root, bool whole)
{
    struct claim_member *member;

    while ((member = crew_lost(&root->crew, step->env))) {
        if ((!whole && !MUTANT(UNWHOLE)) || root_needs(step, root, member)) {
            root_end(step, root);
            return false;
        }
        root_drop(step, root, member);
    }
    return true;
}

/* If not, members that have answered must not run on beyond their leases for the sake of a gang that was perhaps lost
 * before the restart. */
bool root_bears(const struct customer_step *step, struct root *root)
{
    bool began = false;

    if (!root->job || root->job->state != JOB_RUNNING)
        return false;
    for (uint32_t i = 0; i < root->crew.count; i++) {
        const struct claim_member *member = &root->crew.members[i];

        began = began ||
                (member->attached && member->active && member->number == root->number && member->job == root->job->id);
    }
    root->started = began ? job_changed(root->job) : -1;
    for (uint32_t i = 0; i < root->crew.count && began; i++) {
        struct claim_member *member = &root->crew.members[i];

        if (!member->attached && !member->dropped && root_needs(step, root, member))
            return false;
    }
    return began;
}

void root_loses(const struct customer_step *step, struct root *root, struct claim_member *member)
{
    if (root->state == ROOT_ENDING || member->dropped)
        return;
    if (root->state == ROOT_ATTACHING && member->state == CLAIM_MEMBER_GONE)
        return; /* the loss is judged when the others have answered */
    if ((root->state == ROOT_STARTING || root->state == ROOT_RUNNING ||
         (MUTANT(UNWHOLE) && root->state == ROOT_ACTIVATING)) &&
        !root_needs(step, root, member))
        root_drop(step, root, member);
    else
        root_end(step, root);
}

/* --------------------------------------------------------------------------------------------------------- results */

/* The claim has done its job: it takes the next of its shape, or is released. */
static void root_next(const struct customer_step *step, struct root *root)
{
    struct job *job;

    if (root->state == ROOT_ENDING || root->state == ROOT_ATTACHING)
        return; /* a member that is not attached yet may still be at the last job */
    job = root_choose(step, root);
    if (job && !root->job && step->env->now - root->active < step->customer->spans->life &&
        (crew_whole(&root->crew) || MUTANT(REUSE_REDUCED)))
        root_take(step, root, job);
    else
        root_end(step, root);
}

static bool result_failed(const struct result *result)
{
    return result->reason != REASON_EXITED || result->status != 0;
}

static bool helper_failed(const struct root *root, const struct result *result)
{
    return root->shape->parallel ? result->reason != REASON_EXITED || result->status != root->shape->success
                                 : result_failed(result);
}

/* The result of a member that is not the leader: if it failed, it is lost; and of a job that runs as several processes that is the result, for
 * they are one program. A member that was given nothing to run has no result, whatever it
 * says: a licence can leave, but it cannot use up a job's tries. */
static void helper_result(const struct customer_step *step, const struct event *event)
{
    const struct result *result = &event->message->u.result;
    struct root *root;
    struct claim_member *member = claim_member_heard(step, event, result->claim, &root);
    struct crew_chief chief = {member ? root->shape->ad : NULL, RUNS_NO_LINK};
    struct job *job = member ? root->job : NULL;
    uint64_t gang;

    if (!job || job->id != result->job || job->past->number != result->number || job->past->claim == result->claim) {
        reply_root(step, event, result->claim, REASON_STALE, 0);
        return;
    }
    if (root->state != ROOT_RUNNING && root->state != ROOT_ENDING) { /* the member asks again when all have begun */
        reply_root(step, event, result->claim, REASON_WAIT, 0);
        return;
    }
    gang = root->gang;
    if (helper_failed(root, result) && (claim_member_works(member, &chief) || MUTANT(IDLE_RESULT)) &&
        root->state == ROOT_RUNNING && !member->dropped && !MUTANT(FAILURE_IGNORED)) {
        root_loses(step, root, member);
        if (!member->dropped && root->shape->parallel && !MUTANT(PROCESS_UNCOUNTED))
            job_result(step, job, result);
        else if (!member->dropped)
            job_spoiled(step, job, result);
    }
    reply_root(step, event, result->claim, REASON_OK,
               job->past->stored > root->stored ? job->past->stored : root->stored);
    root_continue(step, gang);
}

/* A result is taken once, if claim and number are those recorded for the job. A job whose last result has been taken
 * has no claim, and whoever had it has nothing more to say. */
void root_result(const struct customer_step *step, const struct event *event)
{
    const struct result *result = &event->message->u.result;
    struct job *job = job_find(step->customer, result->job);
    struct root *root = job ? job->past->root : NULL;
    bool ours =
        job && ((job->past->claim == result->claim && (result->claim || !job->past->member) &&
                 job->past->number == result->number && job->past->member == event->peer->agent) ||
                MUTANT(RESULT_ANY) || (MUTANT(NON_LEADER_RESULT) && root && crew_find(&root->crew, result->claim)));

    if (!ours) {
        helper_result(step, event);
        return;
    }
    if (job->state == JOB_REMOVED) {
        reply_root(step, event, result->claim, REASON_STALE, 0);
        return;
    }
    if (job->state == JOB_DONE && !MUTANT(RESULT_TWICE)) {
        reply_root(step, event, result->claim, REASON_OK, job->past->stored);
        return;
    }
    if (root && !(result_failed(result) && root_is_gang(root))) {
        root->job = NULL;
        job_past(job)->root = NULL;
    }
    job_result(step, job, result);
    reply_root(step, event, result->claim, REASON_OK, job->past->stored);
    if (root) {
        uint64_t gang = root->gang;

        root_next(step, root);
        root_continue(step, gang);
    }
}
