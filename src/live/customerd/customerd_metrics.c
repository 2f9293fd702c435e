/* customerd_metrics.c: the numbers of a customer for monitoring: jobs by state and outcome, how long they waited, tries, files, disk.
 *
 * Counters and histograms grow where things happen. Of jobs under a claim it is looked up how far they are when somebody asks, which takes as long as there are claims: so
 * not again before METRICS_REST times as long has gone by. */
#include "live/customerd/customerd_parts.h"
#include "live/customerd/job_outcome.h"

#define METRICS_REST 20

void customer_metrics_begin(struct customerd *customerd)
{
    static const struct route_table *const tables[] = {&customerd_routes, &agent_routes};
    const char *standings[STANDING_COUNT], *outcomes[OUTCOME_COUNT];
    const struct metric_words sets[] = {{METRIC_SET_STANDING, standings, STANDING_COUNT},
                                        {METRIC_SET_OUTCOME, outcomes, OUTCOME_COUNT}};

    for (int i = 0; i < STANDING_COUNT; i++)
        standings[i] = job_standing_word((enum job_standing)i);
    for (int i = 0; i < OUTCOME_COUNT; i++)
        outcomes[i] = job_outcome_word((enum job_outcome)i);
    daemon_metrics_begin(&customerd->daemon, METRIC_PARTY_C, sets, sizeof sets / sizeof *sets, tables,
                         sizeof tables / sizeof *tables);
}

void customer_metrics_ended(struct customerd *customerd, const struct job_view *view)
{
    enum job_outcome outcome = view->state == JOB_REMOVED   ? OUTCOME_REMOVED
                               : view->state == JOB_ABORTED ? OUTCOME_EXPIRED
                                                            : job_outcome_done(view->reason, view->status);

    metrics_add(customerd->daemon.metrics, METRIC_ENDED, outcome, 0, 1);
}

void customer_metrics_dropped(struct customerd *customerd, uint64_t count)
{
    metrics_add(customerd->daemon.metrics, METRIC_ENDED, OUTCOME_REMOVED, 0, count);
}

void customer_metrics_try(struct customerd *customerd, const struct job_view *view, const struct job_attempt *one)
{
    metrics_count(customerd->daemon.metrics, METRIC_TRIES);
    if (one->serial == 1)
        metrics_observe(customerd->daemon.metrics, METRIC_QUEUE_WAIT, 0,
                        (wall_seconds(runner_wall()) - view->submitted) * SECOND);
}

static void gauges_set(struct customerd *customerd)
{
    struct metrics *metrics = customerd->daemon.metrics;

    metrics_set(metrics, METRIC_QUEUE_COUNT, 0, 0, (int64_t)customer_count(customerd->customer));
    metrics_set(metrics, METRIC_CUSTOMER_CONNECTED, 0, 0, agent_is_connected(customerd->live));
    metrics_set(metrics, METRIC_CUSTOMER_DISK_FREE, 0, 0, (int64_t)customerd->disk_free);
    metrics_set(metrics, METRIC_CUSTOMER_DISK_FULL, 0, 0, customerd->disk_full);
    metrics_set(metrics, METRIC_CUSTOMER_SPOOL, 0, 0, (int64_t)spool_bytes(customerd->spool));
    metrics_set(metrics, METRIC_FILE_BYTES, 0, 0, (int64_t)customerd->questions.brought);
    metrics_set(metrics, METRIC_FILE_BYTES, 1, 0, (int64_t)customerd->questions.taken);
}

void api_customer_metrics(struct request *request)
{
    struct customerd *customerd = request_customerd(request);
    int64_t began = runner_now();
    uint64_t counts[COUNTS];

    if (began >= customerd->count_again) {
        jobs_counted(customerd, counts);
        for (int i = 0; i < STANDING_COUNT; i++)
            metrics_set(customerd->daemon.metrics, METRIC_QUEUE_JOBS, (size_t)i, 0, (int64_t)counts[i]);
        customerd->count_again = runner_now() + (runner_now() - began) * METRICS_REST;
    }
    gauges_set(customerd);
    daemon_metrics_answer(&customerd->daemon, request);
}
