/* api_meta.c: routes that are open to all: is the matchmaker ready, and what is it; and the metrics. */
#include "lang/ad/make.h"
#include "live/http/represent.h"
#include "live/http/signin.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

void api_ready(struct request *request)
{
    if (request_matchmakerd(request)->ready)
        request_words(request, 200, "ready\n");
    else
        request_problem(request, 503, "not ready");
}

/* Whom people can sign in by. */
struct doors {
    struct symbols *symbols;
    struct tree *items[ISSUER_LIST_MAX];
    uint32_t count;
};

static void door_add(void *user, const char *name, const char *title)
{
    struct doors *doors = user;
    struct maker maker;

    maker_init(&maker, doors->symbols);
    maker_text(&maker, "Name", name);
    maker_text(&maker, "Title", title);
    doors->items[doors->count++] = maker_seal(&maker);
}

void api_root(struct request *request)
{
    static const struct http_field fields[] = {
        {"Link", "</v1/ads>; rel=\"ads\", </v1/status>; rel=\"status\", </v1/keys>; rel=\"keys\", "
                 "</openapi.json>; rel=\"service-desc\""}};
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct doors doors = {.symbols = matchmakerd->symbols};
    struct maker maker;
    struct tree *ad;

    signin_each(matchmakerd->issuers, door_add, &doors);
    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Name", config_text(&matchmakerd->config, CONFIG_NAME));
    maker_text(&maker, "Version", matchmakerd->settings->version);
    maker_text(&maker, "PoolId", keyring_pool(matchmakerd->keys));
    maker_word(&maker, "Incarnation", matchmakerd->incarnation);
    if (doors.count) {
        maker_text(&maker, "Url", matchmakerd->url);
        maker_list(&maker, "SignIn", doors.items, doors.count);
    }
    for (uint32_t i = 0; i < doors.count; i++)
        tree_unref(doors.items[i]);
    ad = maker_seal(&maker);
    request_ad(request, 200, ad, fields, 1);
    tree_unref(ad);
}

/* Half a processor is told as one: gauges are whole numbers. */
static int64_t whole_amount(double amount)
{
    return amount < 9e18 ? (int64_t)(amount + 0.5) : INT64_MAX;
}

/* Those of machines were counted in slices: there may be very many. */
static void machine_gauges_set(struct matchmakerd *matchmakerd)
{
    static const enum metric metrics[AMOUNTS] = {[AMOUNT_CPUS] = METRIC_PROCESSORS,
                                                 [AMOUNT_MEMORY] = METRIC_MEMORY,
                                                 [AMOUNT_DISK] = METRIC_DISK,
                                                 [AMOUNT_GPUS] = METRIC_GPUS};
    const struct census_machines *machines = &matchmakerd->census.machines;

    for (int i = 0; i <= WAIT_REASON_COUNT; i++)
        metrics_set(matchmakerd->metrics, METRIC_WAITING_UNITS, (size_t)i, 0,
                    (int64_t)matchmakerd->waiting_gauge.units[i]);
    for (int i = 0; i < MACHINE_STATE_COUNT; i++)
        metrics_set(matchmakerd->metrics, METRIC_MACHINES, (size_t)i, 0, (int64_t)machines->states[i]);
    for (int i = 0; i < AMOUNTS; i++) {
        metrics_set(matchmakerd->metrics, metrics[i], 0, 0, whole_amount(machines->amounts[i].all));
        metrics_set(matchmakerd->metrics, metrics[i], 1, 0, whole_amount(machines->amounts[i].used));
    }
}

/* Gauges are computed when they are asked for. */
static void gauges_set(struct matchmakerd *matchmakerd)
{
    struct metrics *metrics = matchmakerd->metrics;
    int64_t kinds[2] = {0}, waiting[ENGINE_HELD + 1] = {0}, connections = 0;
    struct entry_view view;
    uint32_t from = 0;

    while (matchmaker_next(matchmakerd->matchmaker, from, &view, &from)) {
        kinds[view.request]++;
        if (view.request)
            waiting[view.outcome]++;
    }
    for (int i = 0; i < 2; i++)
        metrics_set(metrics, METRIC_ADS, (size_t)i, 0, kinds[i]);
    for (int i = 0; i <= ENGINE_HELD; i++)
        metrics_set(metrics, METRIC_WAITING, (size_t)i, 0, waiting[i]);
    for (size_t i = 0; i < matchmakerd->server_count; i++)
        connections += server_connections(matchmakerd->servers[i]);
    machine_gauges_set(matchmakerd);
    metrics_set(metrics, METRIC_CONNECTIONS, 0, 0, connections);
    metrics_set(metrics, METRIC_STREAMS, 0, 0, matchmakerd->streams);
    metrics_set(metrics, METRIC_COMMANDS_WAITING, 0, 0, matchmakerd->commands.waiting);
    metrics_set(metrics, METRIC_FILES, 0, 0, matchmakerd->files.count);
    metrics_set(metrics, METRIC_REPLICAS, 0, 0, (int64_t)matchmakerd->files.replicas);
    metrics_set(metrics, METRIC_MATCHES, 0, 0, (int64_t)matchmaker_counts(matchmakerd->matchmaker).matches);
    metrics_set(metrics, METRIC_LOG_DROPPED, 0, 0, (int64_t)matchmakerd->log.dropped);
    memory_measure(&matchmakerd->memory, runner_now(), metrics);
    metrics_set(metrics, METRIC_RESIDENT, 0, 0, metrics_resident());
}

void api_metrics(struct request *request)
{
    struct buf *out = &request_matchmakerd(request)->out;

    gauges_set(request_matchmakerd(request));
    buf_reset(out);
    metrics_print(out, request_matchmakerd(request)->metrics);
    request_answer(request, 200, METRICS_TYPE, out->text, out->len, NULL, 0);
}
