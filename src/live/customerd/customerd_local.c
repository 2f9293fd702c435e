/* customerd_local.c: what jobs of the customer's own host (local_jobs.h) have to do with the rest of the customer. */
#include "live/customerd/customerd_parts.h"

#include "lang/ad/get.h"
#include "live/customerd/local_jobs.h"
#include "live/customerd/user_runner.h"

#include <stdio.h>
#include <string.h>

static void local_order(void *user, const struct job_view *view, struct buf *order)
{
    struct customerd *customerd = user;
    bool flow = local_job_is_flow(view->ad), other = local_job_user(view->ad) != USER_RUNNER_SAME;
    char socket[PATH_MAX + 32];

    if (other && customerd->submit)
        snprintf(socket, sizeof socket, "%s", server_address(customerd->submit));
    else
        snprintf(socket, sizeof socket, "unix:%s/" CUSTOMERD_SOCKET, customerd->daemon.folder);
    local_order_print(view, flow ? 0 : config_size(&customerd->daemon.config, CONFIG_LOCAL_MEMORY),
                      flow ? 0 : (uint64_t)(config_span(&customerd->daemon.config, CONFIG_LOCAL_TIME) / SECOND), socket,
                      order);
}

static bool local_may_act(void *user)
{
    return runner_may_act(((const struct customerd *)user)->runner);
}

/* Without its lease it does not hear of those who have come to stand by since: where others have its files, it has to take them to be there. */
static bool local_deposed(void *user)
{
    const struct customerd *customerd = user;

    return runner_is_broken(customerd->runner) || customerd_is_deposed(customerd) ||
           (!runner_may_act(customerd->runner) && *config_text(&customerd->daemon.config, CONFIG_CUSTOMER_FILES));
}

static void local_begins(void *user, uint64_t job)
{
    struct customerd *customerd = user;
    struct job_view view;

    runner_event(customerd->runner, &(struct event){.kind = EVENT_LOCAL, .job = job, .news = JOB_FOUND});
    if (customer_job(customerd->customer, job, &view))
        joblog_add(customerd->files, job, view.submitted, wall_seconds(runner_wall()),
                   "running on the submit host (try %llu)", (unsigned long long)view.begun);
}

static void local_ended(void *user, uint64_t job, uint64_t begun, const struct local_end *end)
{
    struct customerd *customerd = user;
    struct job_view view;

    if (customerd->stopping || runner_is_broken(customerd->runner))
        return; /* it begins anew with the next customer */
    if (end->words && customer_job(customerd->customer, job, &view))
        joblog_add(customerd->files, job, view.submitted, wall_seconds(runner_wall()), "it could not be started: %s",
                   end->words);
    runner_event(customerd->runner, &(struct event){.kind = EVENT_LOCAL,
                                                    .job = job,
                                                    .number = begun,
                                                    .news = end->news,
                                                    .reason = end->reason,
                                                    .status = end->status});
}

static uint32_t local_most(void *user, bool of_one)
{
    struct customerd *customerd = user;

    return (uint32_t)config_count(&customerd->daemon.config, of_one ? CONFIG_LOCAL_JOBS_PER_USER : CONFIG_LOCAL_JOBS);
}

static bool local_shut(void *user, const char *owner, bool *ret_now)
{
    const struct customerd *customerd = user;

    *ret_now = false;
    return !customerd->stopping && agent_shuts_out(customerd->live, owner, ret_now);
}

void customerd_local(struct customerd *customerd)
{
    struct local_jobs_ports ports = {.user = customerd,
                                     .program = customerd->settings->program,
                                     .job = customerd_job,
                                     .order = local_order,
                                     .may_act = local_may_act,
                                     .deposed = local_deposed,
                                     .begins = local_begins,
                                     .ended = local_ended,
                                     .most = local_most,
                                     .shut = local_shut};

    customerd->local = local_jobs_new(&customerd->daemon.loop, &ports);
}

bool customerd_local_is(const struct tree *ad)
{
    const char *text;
    size_t len;

    return ad_string(ad, "Universe", &text, &len) && len == 5 && !memcmp(text, "local", 5);
}
