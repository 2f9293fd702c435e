/* daemon_metrics.c: what a live customer and a live provider count alike: requests, commits, messages, refused tokens. */
#include "live/agent/daemon_parts.h"

#include "lang/base/mem.h"
#include "live/http/guard.h"

#include <string.h>

static void agent_metrics_set(struct daemon *daemon)
{
    struct agent_counts counts = agent_counts(daemon->live);
    const uint64_t messages[] = {counts.sent, counts.answered, counts.relayed, counts.taken, counts.refused};

    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        metrics_set(daemon->metrics, METRIC_MESSAGES, i, 0, (int64_t)messages[i]);
    metrics_set(daemon->metrics, METRIC_FAILED_OVER, 0, 0, (int64_t)counts.failed_over);
    metrics_set(daemon->metrics, METRIC_SUPERSEDED, 0, 0, agent_is_superseded(daemon->live));
    metrics_set(daemon->metrics, METRIC_LOG_DROPPED, 0, 0, (int64_t)daemon->log.dropped);
    memory_measure(&daemon->memory, runner_now(), daemon->metrics);
    metrics_set(daemon->metrics, METRIC_RESIDENT, 0, 0, metrics_resident());
}

void daemon_metrics_begin(struct daemon *daemon, enum metric_party party, const struct metric_words *sets,
                          size_t set_count, const struct route_table *const *tables, size_t table_count)
{
    const char *routes[METRIC_WORDS_MAX], *faults[TOKEN_FAULT_COUNT], *guards[GUARD_REASON_COUNT];
    struct metric_words all[DAEMON_METRIC_SETS + 3];
    size_t count = 0, route_count = 0;

    while (count < set_count && count < DAEMON_METRIC_SETS) {
        all[count] = sets[count];
        count++;
    }
    for (size_t i = 0; i < table_count; i++)
        for (size_t k = 0; k < tables[i]->count && route_count < METRIC_WORDS_MAX; k++)
            routes[route_count++] = tables[i]->routes[k].id;
    for (int i = 0; i < TOKEN_FAULT_COUNT; i++)
        faults[i] = token_fault_name((enum token_fault)i);
    for (int i = 0; i < GUARD_REASON_COUNT; i++)
        guards[i] = guard_words((enum guard_reason)i);
    all[count++] = (struct metric_words){METRIC_SET_ROUTE, routes, route_count};
    all[count++] = (struct metric_words){METRIC_SET_FAULT, faults, TOKEN_FAULT_COUNT};
    all[count++] = (struct metric_words){METRIC_SET_GUARD, guards, GUARD_REASON_COUNT};
    daemon->metrics = daemon->agent.metrics = metrics_new(party, all, count);
    metrics_set(daemon->metrics, METRIC_START_TIME, 0, 0, runner_wall());
}

void daemon_metrics_tick(struct daemon *daemon, int64_t span)
{
    int64_t now = runner_now();

    if (daemon->lag_due)
        metrics_observe(daemon->metrics, METRIC_LOOP_LAG, 0, now - daemon->lag_due);
    daemon->lag_due = now + span;
}

void daemon_metrics_answer(struct daemon *daemon, struct request *request)
{
    struct buf out;

    agent_metrics_set(daemon);
    buf_init(&out);
    metrics_print(&out, daemon->metrics);
    request_answer(request, 200, METRICS_TYPE, out.text, out.len, NULL, 0);
    buf_done(&out);
}
