/* jobs_counted.c: how many jobs the customer has in each state, of all users: the role keeps count, and only those under a claim are looked at, for how far they are. */
#include "live/customerd/customerd_parts.h"

struct counting {
    const struct customerd *customerd;
    uint64_t *counts;
    uint64_t seen;
};

static void claim_count(void *user, const struct root_view *root)
{
    struct counting *counting = user;
    const struct customerd *customerd = counting->customerd;
    struct job_view view;

    if (!root->job || !customer_job(customerd->customer, root->job, &view) || view.state != JOB_RUNNING)
        return;
    counting->seen++;
    counting->counts[job_standing(&view, attempts_last(customerd->tries, view.id))]++;
}

void jobs_counted(const struct customerd *customerd, uint64_t counts[COUNTS])
{
    static const struct {
        enum jobs_as as;
        enum job_standing standing;
    } same[] = {{JOBS_WAITING, STANDING_WAITING},   {JOBS_BLOCKED, STANDING_BLOCKED}, {JOBS_LOCAL, STANDING_RUNNING},
                {JOBS_GOOD, STANDING_DONE},         {JOBS_FAILED, STANDING_FAILED},   {JOBS_HELD, STANDING_HELD},
                {JOBS_REMOVED, STANDING_CANCELLED}, {JOBS_ABORTED, STANDING_ABORTED}};
    const struct customer *customer = customerd->customer;
    struct counting counting = {.customerd = customerd, .counts = counts};

    memset(counts, 0, COUNTS * sizeof *counts);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        counts[same[i].standing] = customer_counted(customer, same[i].as);
    counts[COUNT_STUCK] = customer_stuck(customer);
    customer_each_root(customer, claim_count, &counting);
    counts[STANDING_READY] += customer_counted(customer, JOBS_CLAIMED) - counting.seen;
}
