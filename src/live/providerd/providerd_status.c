/* providerd_status.c: what a live provider answers to those on its machine, by a Unix socket: is it well, and what does it do? */
#include "lang/ad/make.h"
#include "live/http/request.h"
#include "live/providerd/providerd_parts.h"
#include "sys/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define STATUS_JOBS_MAX 64 /* that are told one by one */

static struct tree *task_ad(const struct task *task)
{
    static const char *const words[] = {"staging", "running", "held"};
    struct maker maker;

    maker_init(&maker, task->providerd->daemon.symbols);
    maker_integer(&maker, "Job", (int64_t)task->job);
    maker_word(&maker, "Claim", task->claim);
    maker_text(&maker, "State", words[task->state]);
    maker_seconds(&maker, "Since", runner_now() - task->began);
    return maker_seal(&maker);
}

static void tasks_tell(struct maker *maker, const struct providerd *providerd)
{
    struct tree *ads[STATUS_JOBS_MAX];
    uint32_t count = 0;

    for (const struct task *task = providerd->tasks; task && count < STATUS_JOBS_MAX; task = task->next)
        ads[count++] = task_ad(task);
    maker_list(maker, "Jobs", ads, count);
    while (count)
        tree_unref(ads[--count]);
}

static void drain_tell_of(struct maker *maker, const struct providerd *providerd)
{
    maker_flag(maker, "Draining", providerd->drain.is);
    if (!providerd->drain.is)
        return;
    maker_integer(maker, "DrainedSince", providerd->drain.since);
    maker_text(maker, "DrainedBy", providerd->drain.by);
    maker_flag(maker, "DrainedNow", providerd->drain.now);
}

/* What its owner waits for: the keyboard, the load, an hour of the day. */
static void owner_tell_of(struct maker *maker, const struct providerd *providerd, int64_t wall)
{
    time_t seconds = (time_t)wall;
    struct env env = {.now = wall};
    struct arena scratch;
    struct buf words;
    struct tm local;

    if (localtime_r(&seconds, &local))
        env.zone = (int)(local.tm_gmtoff / 60);
    arena_init(&scratch);
    buf_init(&words);
    provider_owner_why(runner_role(agent_runner(providerd->live)), 0, &env, &scratch, &words);
    if (words.len)
        maker_bytes(maker, "Words", words.text, words.len);
    buf_done(&words);
    arena_done(&scratch);
}

/* How the machine stands, in the words of the pool. */
static void stands_tell_of(struct maker *maker, const struct providerd *providerd)
{
    int64_t wall = runner_wall() / SECOND;
    struct stands_view stands;

    if (!providerd->booted || !provider_stands(runner_role(agent_runner(providerd->live)), 0, &stands))
        return;
    maker_text(maker, "State", machine_state_word(stands.state));
    maker_seconds(maker, "StateSince", runner_now() - stands.since);
    if (stands.until != INT64_MAX && stands.state == MACHINE_OWNER) {
        maker_integer(maker, "Until", stands.until > wall ? stands.until - wall : 0);
        maker_flag(maker, "Sure", stands.sure);
    }
    if (stands.state == MACHINE_OWNER)
        owner_tell_of(maker, providerd, wall);
    else if (stands.state == MACHINE_SICK)
        maker_text(maker, "Words", health_words(providerd));
}

struct tree *status_ad(struct providerd *providerd)
{
    uint32_t staging = 0, running = 0, held = 0;
    struct maker maker;
    double load;

    for (const struct task *task = providerd->tasks; task; task = task->next) {
        staging += task->state == TASK_STAGING;
        running += task->state == TASK_RUNS || task->state == TASK_SETTLES;
        held += task->state == TASK_HELD;
    }
    maker_init(&maker, providerd->daemon.symbols);
    maker_text(&maker, "Name", providerd->daemon.name);
    maker_text(&maker, "Identity", providerd->daemon.identity);
    maker_text(&maker, "Version", providerd->settings->version);
    maker_text(&maker, "Matchmaker", agent_asks(providerd->live));
    maker_flag(&maker, "Connected", agent_is_connected(providerd->live));
    maker_text(&maker, "Address", agent_address(providerd->live));
    maker_integer(&maker, "Staging", staging);
    maker_integer(&maker, "Running", running);
    maker_integer(&maker, "Held", held);
    maker_integer(&maker, "Outgoing", results_count(providerd));
    maker_integer(&maker, "Transfers", uploads_count(providerd));
    maker_integer(&maker, "TransferRoom", (int64_t)uploads_room(providerd));
    stands_tell_of(&maker, providerd);
    drain_tell_of(&maker, providerd);
    maker_text(&maker, "Unwell", health_words(providerd));
    if (health_words(providerd))
        maker_integer(&maker, "UnwellSince", providerd->health.since);
    if (getloadavg(&load, 1) == 1)
        maker_real(&maker, "Load", load);
    tasks_tell(&maker, providerd);
    if (providerd->executor)
        maker_text(&maker, "Sandbox", providerd->executor->kind->describe(providerd->executor));
    return daemon_pools_ad(&providerd->daemon, providerd->live, maker_seal(&maker));
}

/* ------------------------------------------------------------------------------------------------------------- routes */

static struct providerd *request_providerd(const struct request *request)
{
    return request->part->daemon;
}

static void api_provider_status(struct request *request)
{
    request_ad_take(request, 200, status_ad(request_providerd(request)));
}

static void api_provider_ready(struct request *request)
{
    if (agent_is_connected(request_providerd(request)->live))
        request_words(request, 200, "ready\n");
    else
        request_problem(request, 503, "no matchmaker knows it yet");
}

static const struct route routes[] = {
    {"status", HTTP_GET, "/v1/status", SCOPE_AD_READ, BODY_NONE, ROUTE_BODY, "", "200 304", TYPE_CLASSAD " " TYPE_JSON,
     "What the provider does: its jobs, what it sends, and whether it is well.", api_provider_status, 0},
    {"metrics", HTTP_GET, "/metrics", SCOPE_AD_READ, BODY_NONE, ROUTE_BODY, "", "200", METRICS_TYPE_ONLY,
     "Numbers for a monitoring system (OpenMetrics).", api_provider_metrics, 0},
    {"openapi", HTTP_GET, "/openapi.json", SCOPE_NONE, BODY_NONE, ROUTE_BODY, "", "200", TYPE_JSON, "This description.",
     front_openapi, 0},
    {"healthz", HTTP_GET, "/healthz", SCOPE_NONE, BODY_NONE, ROUTE_BODY, "", "200", "text/plain",
     "Does the process live?", front_health, 0},
    {"readyz", HTTP_GET, "/readyz", SCOPE_NONE, BODY_NONE, ROUTE_BODY, "", "200 503", "text/plain",
     "Does a matchmaker know it?", api_provider_ready, 0},
};

static const struct route_example examples[] = {
    {"status", "", NULL, NULL, 200,
     "{\"Name\": \"heron\", \"Identity\": \"machine/heron\", \"Matchmaker\": \"unix:/home/alice/.loca"
     "l/state/berth/matchmaker.sock\", \"Connected\": true, \"Address\": \"192.0.2.7:7600\", \"Stagin"
     "g\": 0, \"Running\": 0, \"Held\": 0, \"Outgoing\": 0, \"Transfers\": 0, \"TransferRoom\": 68719"
     "476736, \"State\": \"Idle\", \"StateSince\": 29.44429, \"Draining\": false}",
     EXAMPLE_MORE},
    {"metrics", "", NULL, NULL, 200,
     "# TYPE berth_http_requests counter\n"
     "# HELP berth_http_requests HTTP requests answered.\n"
     "berth_http_requests_total{route=\"challenge\",status=\"2xx\"} 1\n",
     0},
    {"openapi", "", NULL, NULL, 200, "{\"openapi\": \"3.1.0\", \"info\": {\"title\": \"Berth\"}, \"paths\": {}}",
     EXAMPLE_MORE},
    {"healthz", "", NULL, NULL, 200, "ok\n", 0},
    {"readyz", "", NULL, NULL, 200, "ready\n", 0},
    {.id = NULL},
};

const struct route_table providerd_routes = {
    "Berth provider", "Runs jobs on this machine.", routes, sizeof routes / sizeof *routes, NULL, 0, examples};

/* --------------------------------------------------------------------------------------------------------------- life */

/* Admits the user who runs the provider, and the superuser. */
static void local_admit(void *user, uint32_t uid, int64_t now, struct gate_local *ret)
{
    const struct providerd *providerd = user;

    (void)now;
    snprintf(ret->name, sizeof ret->name, "%s", providerd->daemon.identity);
    ret->scope = uid == 0 || uid == getuid() ? SCOPE_ALL : SCOPE_NONE;
}

int status_start(struct providerd *providerd, struct err *err)
{
    struct gate_settings gate = {.user = providerd, .local = local_admit};
    struct front_settings settings = {.parts = {{.table = &providerd_routes,
                                                 .daemon = providerd,
                                                 .gate = &providerd->gate,
                                                 .config = &providerd->daemon.config,
                                                 .symbols = providerd->daemon.symbols}},
                                      .part_count = 1,
                                      .log = &providerd->daemon.log,
                                      .version = providerd->settings->version};
    struct server_handler handler = front_handler;
    char address[DAEMON_PATH_MAX + 32];

    gate_init(&providerd->gate, &gate, secrets_word(&secrets_live));
    front_init(&providerd->front, &settings);
    handler.user = &providerd->front;
    snprintf(address, sizeof address, "unix:%s/%s.sock", providerd->daemon.folder, providerd->settings->role);
    providerd->status = server_new(&providerd->daemon.loop, address, NULL, NULL, NULL, &handler, err);
    return providerd->status ? 0 : -1;
}

void status_end(struct providerd *providerd)
{
    server_free(providerd->status);
    front_done(&providerd->front);
    gate_done(&providerd->gate);
}
