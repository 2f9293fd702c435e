/* judge_jobs.c: 3: a customer, its jobs and their results. */
#include "pool/customer/customer.h"
#include "sim/judge_parts.h"
#include "sim/user.h"

/* The process of the leader of that gang. */
static const struct process *process_of(const struct judge *judge, agent customer, uint64_t job, uint64_t gang,
                                        uint64_t number)
{
    uint64_t leader = judged_gangs_leader(judge->gangs, gang);

    for (uint32_t i = judge->world->processes.count; i-- > 0;) {
        const struct process *process = slab_at(&judge->world->processes, i);

        if (process->superior == customer && process->job == job && process->gang == gang &&
            process->number == number && process->claim == leader)
            return process;
    }
    return NULL;
}

static void check_result(struct judge *judge, const struct host *host, const struct event *event,
                         const struct job_fact *fact, const struct record *record)
{
    const struct job_record *job = &record->u.job_record;
    const struct process *process;

    if (event->kind == EVENT_MESSAGE && event->message->kind == MESSAGE_RESULT) {
        const struct result *result = &event->message->u.result;

        if (result->job != record->key || result->number != fact->number ||
            judged_claim(judge, result->claim)->gang != fact->gang)
            judge_finds(judge, 3, host,
                        "a result (%llu of gang %llx) is taken, but number %llu of gang %llx is recorded for the job",
                        (unsigned long long)result->number,
                        (unsigned long long)judged_claim(judge, result->claim)->gang, (unsigned long long)fact->number,
                        (unsigned long long)fact->gang);
    }
    if (judged_gangs_strange(judge->gangs, job->gang))
        return; /* only a liar says that the leader has ended */
    process = process_of(judge, host_agent(host), record->key, job->gang, job->number);
    if (!process || process_lives(process))
        judge_finds(judge, 3, host, "a job is done without a process that ended");
}

/* Checks that a result counts as a try only when its member, or one below it, was given the job to run. */
static void check_try(struct judge *judge, const struct host *host, const struct event *event,
                      const struct job_record *job, const struct job_fact *fact)
{
    uint64_t claim =
        event->kind == EVENT_MESSAGE && event->message->kind == MESSAGE_RESULT ? event->message->u.result.claim : 0;

    if (claim && job->tries > fact->tries && judged_gangs_idle(judge->gangs, claim))
        judge_finds(judge, 3, host, "a try is counted for the word of a member that runs nothing");
}

static void check_job_row(struct judge *judge, const struct host *host, const struct event *event,
                          const struct record *record)
{
    struct job_fact *fact = judged_job(judge, host->place, record->key);
    const struct job_record *job = &record->u.job_record;

    if (record->removed || job->state == JOB_FORGOTTEN) {
        if (fact->state != JOB_DONE && fact->state != JOB_REMOVED)
            judge_finds(judge, 3, host, "a job is forgotten that has not ended");
        return;
    }
    if ((job->state == JOB_HELD || job->state == JOB_DONE) &&
        (job->reason == REASON_SETUP || job->reason == REASON_FAULT) &&
        !judged_gangs_run_by_stranger(judge->gangs, job->gang))
        judge_finds(judge, 3, host, "a job is held or has failed for a fault of the machine that was to run it");
    check_try(judge, host, event, job, fact);
    if (job->state == JOB_RUNNING && event->kind != EVENT_LOADED)
        judge_flow(judge, host, record->key);
    if (fact->known && fact->state == JOB_DONE && !judge_dismissed(host, record))
        judge_finds(judge, 3, host, "a job that is done is written again: a result was taken twice, or it came back");
    if (job->state == JOB_DONE && fact->state != JOB_DONE && event->kind != EVENT_LOADED)
        check_result(judge, host, event, fact, record);
    fact->known = true;
    fact->state = job->state;
    fact->gang = job->gang;
    fact->number = job->number;
    fact->tries = job->tries;
}

void judge_accepted(struct judge *judge, const struct host *host)
{
    for (uint32_t i = judge->parties.users; i < judge->parties.end; i++) {
        const struct host *who = &judge->world->hosts[i];
        const struct user_settings *settings = who->settings;
        const struct user *user = who->role;

        if (!user || settings->lies || settings->customer != host_agent(host))
            continue;
        for (uint32_t s = 0; s < user_count(user); s++) {
            const struct sim_submission *submission = user_submission(user, s);

            for (uint64_t n = 0; submission->acknowledged && n < submission->count; n++) {
                struct job_fact *fact = judged_job(judge, host->place, submission->first + n);
                struct job_view view;
                bool there = customer_job(host->role, submission->first + n, &view);

                if (!there && fact->durable != JOB_DONE && fact->durable != JOB_REMOVED)
                    judge_finds(judge, 3, host, "a job that was accepted is lost");
                if (there && fact->known && fact->durable == JOB_DONE && view.state != JOB_DONE &&
                    !(view.workflow && view.state == JOB_REMOVED))
                    judge_finds(judge, 3, host, "a job that was done is not any more");
            }
        }
    }
}

void judge_customer(struct judge *judge, struct host *host, const struct event *event)
{
    for (uint32_t i = 0; i < host->effects.count; i++) {
        const struct effect *effect = &host->effects.items[i];

        if (effect->kind == EFFECT_PERSIST && effect->record.kind == RECORD_JOB)
            check_job_row(judge, host, event, &effect->record);
        if (effect->kind == EFFECT_PERSIST && event->kind != EVENT_LOADED && event->kind != EVENT_BOOTED)
            judged_gangs_persists(judge->gangs, host, &effect->record);
    }
    judge_forming(judge, host, event);
    if (event->kind == EVENT_BOOTED)
        judge_accepted(judge, host);
    if (event->kind == EVENT_ANSWER && event->answer == ANSWER_GOT && !is_strangers(judge, event)) {
        const struct message *message = event->message;

        if (message->kind == MESSAGE_CLAIMED && message->u.claimed.reason == REASON_OK) {
            struct claim_fact *fact = judged_claim(judge, message->u.claimed.claim);

            if (!fact->acknowledged && fact->committed)
                fact->acknowledged = judge->now;
        } else if (message->kind == MESSAGE_ATTACHED && message->u.attached.reason == REASON_OK) {
            judged_claim(judge, message->u.attached.claim)->root_life = host->life + 1;
        }
    }
}
