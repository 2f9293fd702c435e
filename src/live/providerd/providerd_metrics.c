/* providerd_metrics.c: the numbers of a provider for monitoring: jobs by how far they are and what ended them, files, GPUs; and who may read them. */
#include "live/providerd/providerd_parts.h"

#include "lang/ad/get.h"
#include "sys/secrets.h"

/* What ended a job here: the reasons that can, and those of programs by how they ended. */
enum { END_EXITED, END_FAILED, END_SIGNAL, END_TIME, END_MEMORY, END_DISK, END_SETUP, END_FAULT, END_STOPPED, ENDS };
static const char *const end_words[ENDS] = {"exited", "failed", "signal", "time",   "memory",
                                            "disk",   "setup",  "fault",  "stopped"};

void provider_metrics_begin(struct providerd *providerd)
{
    static const struct route_table *const tables[] = {&providerd_calls, &agent_routes};
    const struct metric_words sets[] = {{METRIC_SET_ENDING, end_words, ENDS}};

    daemon_metrics_begin(&providerd->daemon, METRIC_PARTY_P, sets, sizeof sets / sizeof *sets, tables,
                         sizeof tables / sizeof *tables);
}

static int end_of(const struct executor_news *news)
{
    if (news->kind == EXECUTOR_GONE)
        return END_STOPPED;
    switch (news->reason) {
    case REASON_EXITED:
        return news->status < 0 ? END_SIGNAL : news->status ? END_FAILED : END_EXITED;
    case REASON_TIME:
        return END_TIME;
    case REASON_MEMORY:
        return END_MEMORY;
    case REASON_DISK:
        return END_DISK;
    case REASON_SETUP:
        return END_SETUP;
    case REASON_FAULT:
        return END_FAULT;
    default:
        return ENDS;
    }
}

void provider_metrics_runs(struct task *task)
{
    struct metrics *metrics = task->providerd->daemon.metrics;

    if (task->came)
        metrics_observe(metrics, METRIC_STAGING, 0, task->began - task->came);
    task->came = 0;
}

void provider_metrics_ended(const struct task *task, const struct executor_news *news)
{
    struct metrics *metrics = task->providerd->daemon.metrics;

    metrics_add(metrics, METRIC_TASKS_ENDED, (size_t)end_of(news), 0, 1);
    metrics_add(metrics, METRIC_MEMORY_KILLS, 0, 0, end_of(news) == END_MEMORY);
    metrics_add(metrics, METRIC_FILE_BYTES, 0, 0, (uint64_t)task->taken);
    metrics_add(metrics, METRIC_FILE_BYTES, 1, 0, (uint64_t)task->brought);
}

static void tenant_count(void *user, const struct tenant_view *tenant)
{
    int64_t *count = user;

    (void)tenant;
    (*count)++;
}

/* GPUs that all offers have, and those that jobs here have. */
static void gpus_set(struct providerd *providerd)
{
    const struct provider *provider = runner_role(agent_runner(providerd->live));
    int64_t all = 0, used = 0, count;

    for (uint32_t i = 0; i < providerd->settings->offers; i++) {
        const struct tree *offer = provider_offer(provider, i);

        if (offer && ad_integer(offer, "GpuCount", &count) && count > 0 && count < INT32_MAX)
            all += count;
    }
    for (const struct task *task = providerd->tasks; task; task = task->next)
        used += task->order.gpus_asked;
    metrics_set(providerd->daemon.metrics, METRIC_PROVIDER_GPUS, 0, 0, all);
    metrics_set(providerd->daemon.metrics, METRIC_PROVIDER_GPUS, 1, 0, used);
}

void api_provider_metrics(struct request *request)
{
    struct providerd *providerd = request->part->daemon;
    struct metrics *metrics = providerd->daemon.metrics;
    int64_t states[TASK_HELD + 1] = {0}, claims = 0;

    for (const struct task *task = providerd->tasks; task; task = task->next)
        states[task->state]++;
    for (int i = 0; i <= TASK_HELD; i++)
        metrics_set(metrics, METRIC_TASKS, (size_t)i, 0, states[i]);
    provider_each(runner_role(agent_runner(providerd->live)), tenant_count, &claims);
    metrics_set(metrics, METRIC_CLAIMS, 0, 0, claims);
    metrics_set(metrics, METRIC_STARTED, 0, 0, (int64_t)providerd->started);
    metrics_set(metrics, METRIC_PROVIDER_CONNECTED, 0, 0, agent_is_connected(providerd->live));
    metrics_set(metrics, METRIC_RESULTS, 0, 0, results_count(providerd));
    metrics_set(metrics, METRIC_TRANSFERS, 0, 0, uploads_count(providerd));
    metrics_set(metrics, METRIC_TRANSFER_ROOM, 0, 0, (int64_t)uploads_room(providerd));
    metrics_set(metrics, METRIC_SICK, 0, 0, health_words(providerd) != NULL);
    metrics_set(metrics, METRIC_DRAINING, 0, 0, providerd->drain.is);
    gpus_set(providerd);
    daemon_metrics_answer(&providerd->daemon, request);
}

/* ------------------------------------------------------------------------------------------------------------- by TCP */

static const struct route routes[] = {
    {"metrics", HTTP_GET, "/metrics", SCOPE_AD_READ, BODY_NONE, ROUTE_BODY, "", "200", METRICS_TYPE_ONLY,
     "Numbers for a monitoring system (OpenMetrics).", api_provider_metrics, ROUTE_NEAR},
};

static const struct route_example examples[] = {
    {"metrics", "", NULL, NULL, 200, "# TYPE berth_http_requests counter\n", 0},
    {.id = NULL},
};

const struct route_table providerd_calls = {
    "Berth provider", "Runs jobs on this machine.", routes, sizeof routes / sizeof *routes, NULL, 0, examples};

static bool token_proof(void *user, const char *token, size_t len, struct proof *ret)
{
    const struct providerd *providerd = user;

    (void)token, (void)len;
    return agent_proof(providerd->live, ret);
}

static const char *user_disabled(void *user, const struct proof *proof, const char *identity)
{
    const struct providerd *providerd = user;

    return agent_disables(providerd->live, proof, identity);
}

static void token_refused(void *user, const struct proof *proof, enum token_fault fault)
{
    const struct providerd *providerd = user;

    metrics_add(providerd->daemon.metrics, METRIC_TOKENS_REFUSED, fault, 0, 1);
    agent_refuses(proof, fault);
}

void provider_calls(struct providerd *providerd, struct front_part *ret)
{
    struct gate_settings gate = {.user = providerd,
                                 .proof = token_proof,
                                 .refused = token_refused,
                                 .disabled = user_disabled,
                                 .config = &providerd->daemon.config};

    gate_init(&providerd->calls_gate, &gate, secrets_word(&secrets_live));
    *ret = (struct front_part){.table = &providerd_calls,
                               .daemon = providerd,
                               .gate = &providerd->calls_gate,
                               .config = &providerd->daemon.config,
                               .symbols = providerd->daemon.symbols};
}
