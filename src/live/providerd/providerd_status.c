/* providerd_status.c: what a live provider answers to those on its machine, by a Unix socket: is it well, and what does it do? */
#include "live/http/represent.h"
#include "live/providerd/providerd_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STATUS_JOBS_MAX 64 /* that are told one by one */

static struct tree *task_ad(const struct task *task)
{
    static const char *const words[] = {"staging", "running", "held"};
    struct maker maker;

    maker_init(&maker, task->workshop->daemon.symbols);
    maker_integer(&maker, "Job", (int64_t)task->job);
    maker_word(&maker, "Claim", task->claim);
    maker_text(&maker, "State", words[task->state]);
    maker_seconds(&maker, "Since", runner_now() - task->began);
    return maker_seal(&maker);
}

static void tasks_tell(struct maker *maker, const struct workshop *workshop)
{
    struct tree *ads[STATUS_JOBS_MAX];
    uint32_t count = 0;

    for (const struct task *task = workshop->tasks; task && count < STATUS_JOBS_MAX; task = task->next)
        ads[count++] = task_ad(task);
    maker_list(maker, "Jobs", ads, count);
    while (count)
        tree_unref(ads[--count]);
}

static void drain_tell_of(struct maker *maker, const struct workshop *workshop)
{
    maker_flag(maker, "Draining", workshop->drain.is);
    if (!workshop->drain.is)
        return;
    maker_integer(maker, "DrainedSince", workshop->drain.since);
    maker_text(maker, "DrainedBy", workshop->drain.by);
    maker_flag(maker, "DrainedNow", workshop->drain.now);
}

struct tree *status_ad(struct workshop *workshop)
{
    uint32_t staging = 0, running = 0, held = 0;
    struct maker maker;
    double load;

    for (const struct task *task = workshop->tasks; task; task = task->next) {
        staging += task->state == TASK_STAGING;
        running += task->state == TASK_RUNS || task->state == TASK_SETTLES;
        held += task->state == TASK_HELD;
    }
    maker_init(&maker, workshop->daemon.symbols);
    maker_text(&maker, "Name", workshop->daemon.name);
    maker_text(&maker, "Identity", workshop->daemon.identity);
    maker_text(&maker, "Version", workshop->settings->version);
    maker_text(&maker, "Matchmaker", agent_asks(workshop->live));
    maker_flag(&maker, "Connected", agent_is_connected(workshop->live));
    maker_text(&maker, "Address", agent_address(workshop->live));
    maker_integer(&maker, "Staging", staging);
    maker_integer(&maker, "Running", running);
    maker_integer(&maker, "Held", held);
    maker_integer(&maker, "Outgoing", outgoing_count(workshop));
    maker_integer(&maker, "Transfers", shipments_count(workshop));
    maker_integer(&maker, "TransferRoom", (int64_t)shipments_room(workshop));
    drain_tell_of(&maker, workshop);
    maker_text(&maker, "Unwell", health_words(workshop));
    if (health_words(workshop))
        maker_integer(&maker, "UnwellSince", workshop->health.since);
    if (getloadavg(&load, 1) == 1)
        maker_real(&maker, "Load", load);
    tasks_tell(&maker, workshop);
    if (workshop->executor)
        maker_text(&maker, "Sandbox", workshop->executor->kind->describe(workshop->executor));
    return daemon_pools_ad(&workshop->daemon, workshop->live, maker_seal(&maker));
}

static void status_begin(void *user, struct exchange *exchange)
{
    uint32_t uid = 0;

    (void)user;
    if (!exchange_peer_user(exchange, &uid) || (uid != 0 && uid != getuid()))
        exchange_problem(exchange, 403, "this is for the user who runs it");
    else if (exchange_method(exchange) != HTTP_GET && exchange_method(exchange) != HTTP_HEAD)
        exchange_problem(exchange, 405, "GET is expected");
    else
        exchange_accept(exchange, 0, true);
}

static void status_handle(void *user, struct exchange *exchange)
{
    const char *path = exchange_raw_path(exchange);
    struct workshop *workshop = user;
    struct buf out;
    struct tree *ad;

    if (!strcmp(path, "/healthz")) {
        exchange_answer(exchange, &(struct http_answer){.status = 200, .type = "text/plain", .body = "ok\n", .len = 3});
        return;
    }
    if (!strcmp(path, "/readyz")) {
        bool ready = agent_is_connected(workshop->live);

        exchange_answer(exchange, &(struct http_answer){.status = ready ? 200 : 503,
                                                        .type = "text/plain",
                                                        .body = ready ? "ready\n" : "no matchmaker knows it yet\n",
                                                        .len = ready ? 6 : 27});
        return;
    }
    if (strcmp(path, "/v1/status") != 0) {
        exchange_problem(exchange, 404, "there are /v1/status, /healthz and /readyz");
        return;
    }
    buf_init(&out);
    ad = status_ad(workshop);
    represent_ad(&out, FORM_CLASSAD, ad);
    buf_adds(&out, "\n");
    exchange_answer(exchange,
                    &(struct http_answer){.status = 200, .type = TYPE_CLASSAD, .body = out.text, .len = out.len});
    tree_unref(ad);
    buf_done(&out);
}

static void status_over(void *user, struct exchange *exchange)
{
    (void)user;
    (void)exchange;
}

int status_start(struct workshop *workshop, struct err *err)
{
    struct server_handler handler = {
        .user = workshop, .begin = status_begin, .handle = status_handle, .over = status_over};
    char address[DAEMON_PATH_MAX + 32];

    snprintf(address, sizeof address, "unix:%s/%s.sock", workshop->daemon.folder, workshop->settings->role);
    workshop->status = server_new(&workshop->daemon.loop, address, NULL, NULL, NULL, &handler, err);
    return workshop->status ? 0 : -1;
}
