/* judge_runs.c: rows that become durable, and jobs that really run. */
#include "pool/customer/customer.h"
#include "sim/judge_parts.h"

void judge_durable(void *user, const struct host *host, const struct record *record)
{
    struct judge *judge = user;

    if (is_stranger(judge, host->place))
        return;
    judged_gangs_durable(judge->gangs, host, record);
    if (record->kind == RECORD_BRANCH && !record->removed) {
        struct claim_fact *fact = judged_claim(judge, record->key);

        fact->gang = record->u.branch_record.gang;
        fact->row_epoch = record->u.branch_record.epoch;
    } else if (record->kind == RECORD_TENANT) {
        struct claim_fact *fact = judged_claim(judge, record->key);

        judge->rows_moved[host->place] = true;
        fact->over = record->removed;
        if (record->removed && fact->owes) {
            judge_parted(judge, host, record->key);
        } else if (!record->removed) {
            const struct tenant_record *row = &record->u.tenant_record;

            fact->owes = row->active && !(row->root_owner.bytes[0] && !row->task);
            if (fact->row_session == record->u.tenant_record.epoch &&
                record->u.tenant_record.sequence < fact->row_sequence)
                judge_finds(judge, 3, host, "a message older than the last of its session is recorded as the last");
            fact->row_session = record->u.tenant_record.epoch;
            fact->row_sequence = record->u.tenant_record.sequence;
            fact->row_number = record->u.tenant_record.number;
            fact->row_job = record->u.tenant_record.job;
            judge_booked_row(judge, host, row);
        }
    } else if (record->kind == RECORD_BOOKING) {
        judge_booking(judge, host, record);
    } else if (record->kind == RECORD_PARTING) {
        judge_parting(judge, host, record);
    } else if (record->kind == RECORD_KEY && !record->removed) {
        for (uint64_t n = record->u.key_record.gone; n < record->u.key_record.count; n++)
            judged_job(judge, host->place, record->u.key_record.first + n)->known = true;
    } else if (record->kind == RECORD_JOB) {
        struct job_fact *fact = judged_job(judge, host->place, record->key);

        if (record->removed || record->u.job_record.state == JOB_FORGOTTEN) {
            if (fact->durable != JOB_DONE && fact->durable != JOB_REMOVED)
                judge_finds(judge, 3, host, "a job is forgotten that is not done");
            return;
        }
        if (fact->durable == JOB_DONE && record->u.job_record.state != JOB_DONE && !judge_dismissed(host, record))
            judge_finds(judge, 3, host, "a job that was done is not any more, on disk");
        if (record->u.job_record.state == JOB_DONE && !fact->counted) {
            fact->counted = true;
            judge->done++;
        }
        fact->known = true;
        fact->durable = record->u.job_record.state;
        fact->durable_gang = record->u.job_record.gang;
        fact->durable_number = record->u.job_record.number;
        if (record->u.job_record.claim && record->u.job_record.state == JOB_RUNNING) {
            struct claim_fact *claim = judged_claim(judge, record->u.job_record.claim);

            if (record->u.job_record.number > claim->given)
                claim->given = record->u.job_record.number;
        }
        if (!host->role) { /* the row became durable in a crash, and the role never heard of it */
            fact->state = fact->durable;
            fact->gang = fact->durable_gang;
            fact->number = fact->durable_number;
        }
    }
}

bool judged_way(struct judge *judge, const struct host *host, uint64_t claim)
{
    const struct fronts behind = judged_claim(judge, claim)->behind;
    bool runs = false;

    for (uint32_t i = 0; i < behind.count && !runs; i++)
        runs = judged_process(judge, host, behind.claims[i]) != NULL;
    return runs;
}

/* No member of the claim's gang may have a running job in front of it any more. */
static void check_way(struct judge *judge, const struct host *host, uint64_t claim)
{
    uint64_t member;
    uint32_t at;

    for (uint32_t i = 0; judged_gangs_member(judge->gangs, claim, i, &member, &at); i++) {
        if (judged_way(judge, &judge->world->hosts[at], member))
            judge_finds(judge, 2, host, "a job is launched while that of a claim in front runs");
    }
}

/* A job that is done must not begin again. Helpers of the gang that has done it are an exception: their START may be on its way when the leader ends,
 * and nobody can know that. The next ACTIVATE or the release ends them. */
static void check_undone(struct judge *judge, const struct host *host, const struct process *process)
{
    const struct job_fact *job = judged_job(judge, (uint32_t)process->superior - 1, process->job);

    if (job->durable == JOB_DONE && (process->gang != job->durable_gang || process->number != job->durable_number ||
                                     process->claim == judged_gangs_leader(judge->gangs, process->gang)))
        judge_finds(judge, 3, host, "a job is launched that is done");
}

void judge_launched(void *user, const struct host *host, struct process *process)
{
    struct judge *judge = user;
    struct claim_fact *fact = judged_claim(judge, process->claim);

    if (is_stranger(judge, host->place))
        return;
    process->superior = judged_gangs_root(judge->gangs, process->claim);
    process->gang = fact->gang;
    if (fact->row_number != process->number || fact->row_job != process->job)
        judge_finds(judge, 3, host, "a job is launched before that is durable");
    if (process->number <= fact->number)
        judge_finds(judge, 3, host, "number %llu of a claim is launched after number %llu",
                    (unsigned long long)process->number, (unsigned long long)fact->number);
    fact->number = process->number;
    check_way(judge, host, process->claim);
    if (process->superior)
        check_undone(judge, host, process);
    for (uint32_t i = 0; i < judge->parties.end; i++)
        for (uint32_t at = judge->world->hosts[i].processes; at != NOBODY;) {
            const struct process *other = slab_at(&judge->world->processes, at);

            at = other->next;
            if (other == process || !process_lives(other))
                continue;
            if (other->claim == process->claim)
                judge_finds(judge, 1, host, "two jobs run under one claim");
        }
    judged_gangs_launched(judge->gangs, host, process);
    judge_booked_launch(judge, host, process);
    judge_bookings(judge);
}

/* Does the claim's provider have a record of it, or its superior a row? */
static bool claim_is_kept(struct judge *judge, const struct process *process)
{
    const struct host *host = &judge->world->hosts[process->host];
    const struct host *superior = world_host(judge->world, judged_claim(judge, process->claim)->superior);

    if (host->role ? judged_tenant(judge, host, process->claim) != NULL
                   : disk_find(&host->disk, RECORD_TENANT, process->claim) != NULL)
        return true;
    return superior && disk_find(&superior->disk, RECORD_BRANCH, process->claim);
}

void judge_sweep(struct judge *judge)
{
    const struct spans *spans = judge->world->spans;

    judged_gangs_sweep(judge->gangs);
    judge_bookings(judge);
    for (uint32_t i = 0; i < judge->parties.end; i++)
        for (uint32_t at = judge->world->hosts[i].processes; at != NOBODY;) {
            struct process *process = slab_at(&judge->world->processes, at);

            at = process->next;
            if (!process_lives(process) || claim_is_kept(judge, process))
                process->orphan = 0;
            else if (!process->orphan)
                process->orphan = judge->world->time;
            else if (judge->world->time - process->orphan > 2 * spans->lease + 2 * spans_margin(spans))
                judge_finds(judge, 2, &judge->world->hosts[i],
                            "a process outlives its claim by two leases and a margin");
        }
    for (uint32_t i = judge->parties.matchmaker; i < judge->parties.customers; i++) {
        const struct host *matchmaker = &judge->world->hosts[i];

        if (!matchmaker->role)
            continue;
        judge->looked = i;
        judge->now = host_now(judge->world, matchmaker);
        matchmaker_each(matchmaker->role, judge_entry, judge);
    }
}
