/* providerd_status.c: what a live provider answers to those on its machine, by a Unix socket: is it well, and what does it do? */
#include "lang/ad/make.h"
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
    struct providerd *providerd = user;
    struct buf out;
    struct tree *ad;

    if (!strcmp(path, "/healthz")) {
        exchange_answer(exchange, &(struct http_answer){.status = 200, .type = "text/plain", .body = "ok\n", .len = 3});
        return;
    }
    if (!strcmp(path, "/readyz")) {
        bool ready = agent_is_connected(providerd->live);

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
    ad = status_ad(providerd);
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

int status_start(struct providerd *providerd, struct err *err)
{
    struct server_handler handler = {
        .user = providerd, .begin = status_begin, .handle = status_handle, .over = status_over};
    char address[DAEMON_PATH_MAX + 32];

    snprintf(address, sizeof address, "unix:%s/%s.sock", providerd->daemon.folder, providerd->settings->role);
    providerd->status = server_new(&providerd->daemon.loop, address, NULL, NULL, NULL, &handler, err);
    return providerd->status ? 0 : -1;
}
