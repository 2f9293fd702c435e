/* judge_flows.c: 3: workflows: a job is given to a claim when all jobs of the nodes that it waits for have ended well, and not before.
 *
 * The judge does not ask what the customer has worked out for itself, only for the state of each job. */
#include "lang/form/dag.h"
#include "pool/customer/customer.h"
#include "sim/judge_parts.h"

#include <string.h>

struct parents {
    const struct tree *node; /* the ad of the child */
    uint64_t workflow;
    uint32_t open; /* jobs that it waits for and that have not ended well */
    uint32_t jobs; /* jobs that it waits for */
};

static bool names(const struct tree *child, const struct tree *parent)
{
    symbol label = symbols_find(parent->symbols, "Node", 4);
    const struct expr *node = label ? tree_find(parent, tree_root(parent), label) : NULL;
    struct dag_after after;
    const char *name;
    size_t len;

    dag_after_begin(&after, child);
    while (node && dag_after_next(&after, &name, &len))
        if (len == node->u.run.count && !memcmp(name, tree_string(parent, node), len))
            return true;
    return false;
}

static void parent_look(void *user, const struct job_view *job)
{
    struct parents *parents = user;

    if (job->workflow != parents->workflow || !names(parents->node, job->node))
        return;
    parents->jobs++;
    parents->open += job->state != JOB_DONE || job->reason != REASON_EXITED || job->status != 0;
}

void judge_flow(struct judge *judge, const struct host *host, uint64_t job)
{
    struct parents parents = {0};
    struct job_view view;

    if (!host->role || !customer_job(host->role, job, &view) || !view.workflow)
        return;
    parents.node = view.node;
    parents.workflow = view.workflow;
    customer_each(host->role, parent_look, &parents);
    if (parents.open)
        judge_finds(judge, 3, host, "a job begins although %u of the %u that it waits for have not ended well",
                    (unsigned)parents.open, (unsigned)parents.jobs);
}

bool judge_dismissed(const struct host *host, const struct record *record)
{
    struct job_view view;

    return record->u.job_record.state == JOB_REMOVED && host->role && customer_job(host->role, record->key, &view) &&
           view.workflow;
}
