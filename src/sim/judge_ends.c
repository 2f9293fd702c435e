/* judge_ends.c: 6: every job that can run ends, and everything it held is freed. */
#include "pool/customer/customer.h"
#include "sim/judge_parts.h"
#include "sim/user.h"

struct leftover {
    uint64_t jobs, claims;
};

static void leftover_job(void *user, const struct job_view *job)
{
    struct leftover *left = user;

    left->jobs += (job->state == JOB_IDLE && !job->stuck) || job->state == JOB_RUNNING;
}

static void leftover_root(void *user, const struct root_view *root)
{
    (void)root;
    ((struct leftover *)user)->claims++;
}

static void leftover_tenant(void *user, const struct tenant_view *tenant)
{
    (void)tenant;
    ((struct leftover *)user)->claims++;
}

uint64_t judge_left(struct judge *judge, uint64_t *ret_claims)
{
    const struct parties *parties = &judge->parties;
    struct leftover left = {0, 0};

    for (uint32_t i = parties->customers; i < parties->end; i++) {
        const struct host *host = &judge->world->hosts[i];
        const struct user_settings *settings = host->settings;

        if (!host->role) {
            left.claims++;
        } else if (i < parties->providers) {
            customer_each(host->role, leftover_job, &left);
            customer_each_root(host->role, leftover_root, &left);
        } else if (i < parties->users) {
            provider_each(host->role, leftover_tenant, &left);
        } else if (!settings->lies) {
            left.jobs += user_waiting(host->role);
        }
        for (uint32_t at = host->processes; at != NOBODY;) {
            const struct process *process = slab_at(&judge->world->processes, at);

            left.claims += process_lives(process);
            at = process->next;
        }
    }
    *ret_claims = left.claims;
    return left.jobs;
}

void judge_late(struct judge *judge)
{
    uint64_t claims, jobs = judge_left(judge, &claims);

    if (jobs)
        judge_finds(judge, 6, NULL, "%llu jobs that can run have not ended in the quiet phase",
                    (unsigned long long)jobs);
    else if (claims)
        judge_finds(judge, 6, NULL, "%llu claims or processes have not ended in the quiet phase",
                    (unsigned long long)claims);
    for (uint32_t i = judge->parties.customers; i < judge->parties.providers; i++)
        if (judge->world->hosts[i].role)
            judge_accepted(judge, &judge->world->hosts[i]);
}
