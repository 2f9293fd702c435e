/* matchmakerd.c: the matchmaker as a process: what it is made of, how it starts, reloads and ends. */
#include "live/matchmakerd/matchmakerd_parts.h"

#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "live/http/guard.h"
#include "match/assign/assign.h"
#include "sys/secrets.h"

#include <limits.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SWEEP_SPAN 100    /* milliseconds between two looks at what is past its time */
#define SWEEP_IDS 2000    /* ids that one look covers */
#define SWEEP_COMMANDS 10 /* looks between two at commands */
#define SWEEP_SLOWLY 600  /* looks between two at agents and identities */

/* ------------------------------------------------------------------------------------------------------------- the role */

static void role_reply(void *user, uint64_t token, const struct message *message)
{
    struct service *service = user;

    (void)token;
    message_done(&service->reply);
    message_copy(&service->reply, message);
    service->replied = true;
}

static void role_note(void *user, const struct effect *effect)
{
    struct service *service = user;

    LOG(&service->log, LEVEL_INFO, "note", log_text("what", effect->note), log_word("claim", effect->claim),
        log_text("reason", reason_words(effect->reason)));
}

static void role_committed(void *user, int64_t took)
{
    struct service *service = user;

    metrics_count(service->metrics, METRIC_COMMITS);
    metrics_observe(service->metrics, METRIC_COMMIT_SECONDS, 0, took);
}

/* The time of a cycle is that of its slices. */
static void role_woken(void *user, int64_t took)
{
    struct service *service = user;
    struct matchmaker_counts counts;

    counts = matchmaker_counts(service->matchmaker);
    if (counts.cycles == service->cycles && !service->in_cycle)
        return;
    service->cycle_took += took;
    service->in_cycle = counts.in_cycle;
    if (counts.cycles != service->cycles)
        metrics_count(service->metrics, METRIC_CYCLES);
    service->cycles = counts.cycles;
    if (counts.in_cycle)
        return;
    metrics_observe(service->metrics, METRIC_CYCLE_SECONDS, 0, service->cycle_took);
    metrics_add(service->metrics, METRIC_WINDOWS_FELL_BACK, 0, 0, counts.work.fell_back);
    metrics_add(service->metrics, METRIC_CONSIDERED, 0, 0, counts.work.evaluations);
    if (counts.work.tried * counts.ads > counts.work.evaluations)
        metrics_add(service->metrics, METRIC_PRUNED, 0, 0, counts.work.tried * counts.ads - counts.work.evaluations);
    service->cycle_took = 0;
}

static void service_end(struct service *service, int status);

/* Nothing that was not durable has been answered, and nothing more is taken: the next start goes on from what is on disk. */
static void role_broken(void *user, const char *why)
{
    struct service *service = user;

    metrics_count(service->metrics, METRIC_COMMIT_FAILURES);
    service->ready = false;
    LOG(&service->log, LEVEL_ERROR, "store.failed", log_text("why", why));
    service_end(service, 1);
}

/* -------------------------------------------------------------------------------------------------------------- timers */

/* Ids of ads that live are looked at in turn; those of which nothing is remembered go. */
static void ids_sweep(struct service *service)
{
    struct ids *ids = &service->ids;
    struct entry_view view;

    for (uint32_t i = 0; i < SWEEP_IDS && i < ids->texts.places; i++) {
        uint32_t place = service->sweep_at++ % ids->texts.places;

        if (!ids->texts.items[place].text)
            continue;
        if (!matchmaker_remembers(service->matchmaker, ids->items[place].agent, ids->items[place].id))
            id_forget(service, place);
        else if (ids->items[place].live &&
                 !matchmaker_find(service->matchmaker, ids->items[place].agent, ids->items[place].id, &view))
            id_unlive(service, place);
    }
}

static void sweep_due(uv_timer_t *timer)
{
    struct service *service = timer->data;
    int64_t now = runner_now();
    uint64_t gone;

    relays_sweep(service, now);
    checks_sweep(service, now);
    waitings_sweep(service, now, runner_wall() / SECOND);
    observers_sweep(service, now, runner_wall() / SECOND);
    command_waits_sweep(service, now, false);
    if (service->sweeps % SWEEP_COMMANDS == 0)
        commands_expire(service);
    ids_sweep(service);
    census_step(&service->census, service->matchmaker, runner_wall() / SECOND);
    if (++service->sweeps % SWEEP_SLOWLY)
        return;
    if (service->sweeps % (60 * SWEEP_SLOWLY) == 0)
        tokens_sweep(service);
    agents_sweep(&service->agents, now);
    callers_sweep(&service->callers, now);
    while ((gone = join_book_sweep(service->codes, runner_settled(service->runner) / SECOND))) {
        char key[24];
        struct err err;

        snprintf(key, sizeof key, "%016llx", (unsigned long long)gone);
        service->shelf->kind->remove(service->shelf, CODE_SPACE, key, strlen(key), &err);
        runner_commit(service->runner, NULL, NULL);
    }
}

static void lag_timer(uv_timer_t *timer)
{
    struct service *service = timer->data;
    int64_t now = runner_now();

    if (service->lag_due && now > service->lag_due)
        metrics_observe(service->metrics, METRIC_LOOP_LAG, 0, now - service->lag_due);
    service->lag_due = now + SWEEP_SPAN * MILLISECOND;
    uv_timer_start(timer, lag_timer, SWEEP_SPAN, 0);
}

static void watchdog_due(uv_timer_t *timer)
{
    notify_watchdog(&((struct service *)timer->data)->notify);
}

/* -------------------------------------------------------------------------------------------------------------- signals */

static void networks_load(struct service *service)
{
    const char *const *items;
    struct err err;
    size_t count;

    networks_done(&service->networks);
    networks_init(&service->networks);
    items = config_list(&service->config, CONFIG_NETWORKS, &count);
    for (size_t i = 0; i < count; i++)
        if (networks_add(&service->networks, items[i], &err) < 0)
            LOG(&service->log, LEVEL_WARNING, "network", log_text("why", err.text));
}

static void log_set(struct service *service)
{
    service->log.form = (enum log_form)config_word(&service->config, CONFIG_LOG);
    service->log.level = (enum level)config_word(&service->config, CONFIG_LOG_LEVEL);
}

static void service_reload(struct service *service)
{
    struct config_change change;
    struct err err = {0};
    struct tree *policy;

    notify_reloading(&service->notify, (int64_t)(uv_hrtime() / 1000));
    if (config_reload(&service->config, service->settings->sources, &change, &err) < 0) {
        LOG(&service->log, LEVEL_ERROR, "reload.refused", log_text("why", err.text));
    } else {
        log_set(service);
        networks_load(service);
        for (int i = 0; i < CONFIG_KEY_COUNT; i++)
            if (change.waits[i])
                LOG(&service->log, LEVEL_WARNING, "reload.waits",
                    log_text("key", config_row((enum config_key)i)->name));
        if (change.taken[CONFIG_POLICY] && *config_text(&service->config, CONFIG_POLICY)) {
            if (policy_file(service, config_text(&service->config, CONFIG_POLICY), &policy, &err) < 0) {
                LOG(&service->log, LEVEL_ERROR, "policy.refused", log_text("why", err.text));
            } else {
                tree_unref(service->policy);
                service->policy = policy;
                runner_event(service->runner, &(struct event){.kind = EVENT_POLICY, .ad = policy});
            }
        }
        shares_reload(service, change.taken[CONFIG_SHARES]);
        LOG(&service->log, LEVEL_INFO, "reloaded", log_text("file", service->config.file));
    }
    notify_ready(&service->notify, NULL);
}

static void signal_came(uv_signal_t *handle, int number)
{
    struct service *service = handle->data;

    if (service->stopping)
        return; /* it ends within moments; asking again changes nothing */
    if (number == SIGHUP) {
        service_reload(service);
        return;
    }
    LOG(&service->log, LEVEL_INFO, "stopping", log_number("signal", number));
    notify_stopping(&service->notify, NULL);
    service_end(service, 0);
}

static void end_now(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

/* Ends at the end of this turn, so that answers under way can leave. */
static void service_end(struct service *service, int status)
{
    if (service->stopping)
        return;
    service->stopping = true;
    service->status = status;
    for (size_t i = 0; i < service->server_count; i++)
        server_stop_accepting(service->servers[i]);
    waitings_end(service);
    command_waits_sweep(service, 0, true);
    uv_timer_stop(&service->sweep);
    uv_timer_start(&service->sweep, end_now, status ? 20 : 100, 0);
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static struct metrics *metrics_make(struct service *service)
{
    struct metric_words sets[] = {
        {METRIC_SET_WAITING, outcome_words, CENSUS_OUTCOMES},
        {METRIC_SET_ROUTE, service->route_words, route_count},
        {METRIC_SET_FAULT, service->fault_words, TOKEN_FAULT_COUNT},
        {METRIC_SET_GUARD, service->guard_texts, GUARD_REASON_COUNT},
    };

    for (size_t i = 0; i < route_count && i < ROUTES_MAX; i++)
        service->route_words[i] = routes[i].id;
    for (int i = 0; i < TOKEN_FAULT_COUNT; i++)
        service->fault_words[i] = token_fault_name((enum token_fault)i);
    for (int i = 0; i < GUARD_REASON_COUNT; i++)
        service->guard_texts[i] = guard_words((enum guard_reason)i);
    return metrics_new(sets, sizeof sets / sizeof *sets);
}

static int keys_open(struct service *service, struct err *err)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/keys", config_text(&service->config, CONFIG_STATE));
    service->keys = keyring_open(path, runner_wall() / SECOND, err);
    if (!service->keys)
        return -1;
    keyring_token_keys(service->keys, &service->token_keys);
    service->tokens = token_cache_new(0);
    service->codes = join_book_new();
    return 0;
}

/* As matchmaker_settings has it: the words of the setting are the names of the policies, but for one. */
static uint32_t assignment_of(const struct config *config)
{
    const char *name = config_text(config, CONFIG_ASSIGNMENT);
    enum assign_policy policy;

    return assign_policy_find(name, strlen(name), &policy, NULL) == 0 ? (uint32_t)policy + 1 : 0;
}

static int role_start(struct service *service, struct err *err)
{
    struct runner_ports ports = {.user = service,
                                 .send = delivery_send,
                                 .reply = role_reply,
                                 .note = role_note,
                                 .committed = role_committed,
                                 .woken = role_woken,
                                 .broken = role_broken};

    service->spans = config_spans(&service->config);
    service->role =
        (struct matchmaker_settings){.self = agent_handle("matchmaker", ""),
                                     .spans = &service->spans,
                                     .policy = service->policy,
                                     .shares = service->shares,
                                     .assignment = assignment_of(&service->config),
                                     .ads_max = (uint32_t)config_count(&service->config, CONFIG_ADS_PER_IDENTITY)};
    service->runner = runner_new(service->loop, &matchmaker_role, &service->role, service->shelf, service->symbols,
                                 &secrets_live, &ports, err);
    if (!service->runner)
        return -1;
    service->matchmaker = runner_role(service->runner);
    runner_event(service->runner, &(struct event){.kind = EVENT_BOOTED});
    service->incarnation = matchmaker_incarnation(service->matchmaker);
    return 0;
}

static int client_start(struct service *service, struct err *err)
{
    char path[PATH_MAX];
    struct client_settings settings = {.ca_file = path, .at_once = 256};

    snprintf(path, sizeof path, "%s/keys/ca.pem", config_text(&service->config, CONFIG_STATE));
    service->client = client_new(service->loop, &settings, err);
    settings.at_once = 64;
    service->checker = service->client ? client_new(service->loop, &settings, err) : NULL;
    return service->checker ? 0 : -1;
}

static void handles_start(struct service *service)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};

    uv_idle_init(service->loop, &service->tour_turn);
    uv_timer_init(service->loop, &service->sweep);
    uv_timer_init(service->loop, &service->lag);
    uv_timer_init(service->loop, &service->watchdog);
    service->tour_turn.data = service->sweep.data = service->lag.data = service->watchdog.data = service;
    uv_timer_start(&service->sweep, sweep_due, SWEEP_SPAN, SWEEP_SPAN);
    lag_timer(&service->lag);
    if (service->notify.watchdog)
        uv_timer_start(&service->watchdog, watchdog_due, 0, (uint64_t)(service->notify.watchdog / MILLISECOND));
    for (int i = 0; i < 3; i++) {
        uv_signal_init(service->loop, &service->signals[i]);
        service->signals[i].data = service;
        uv_signal_start(&service->signals[i], signal_came, numbers[i]);
    }
}

/* A code is of use only where others can reach us. */
static void tell_up(struct service *service)
{
    const char *addresses[SERVERS_MAX + 1] = {NULL};
    bool reachable = false;
    struct err err;
    struct buf code;

    for (size_t i = 0; i < service->server_count; i++) {
        addresses[i] = server_address(service->servers[i]);
        reachable = reachable || !config_address_is_local(addresses[i]);
    }
    buf_init(&code);
    if (reachable && service_join_code(service, &code, &err) == 0)
        runner_commit(service->runner, NULL, NULL);
    if (service->settings->up)
        service->settings->up(service->settings->user, addresses, service->url, code.len ? buf_string(&code) : NULL);
    buf_done(&code);
}

static const char *const renewal_words[RENEWAL_WORDS] = {"Message", "Id", "Bare"};

static int service_start(struct service *service, struct err *err)
{
    struct err ignored;

    if (sodium_init() < 0)
        return err_set(err, "no source of chance");
    log_init(&service->log, service->settings->log_fd, LOG_LOGFMT, LEVEL_INFO, NULL, NULL);
    log_set(service);
    notify_init(&service->notify, getenv("NOTIFY_SOCKET"), getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"), getpid(),
                &ignored);
    service->symbols = names_new(secrets_word(&secrets_live));
    for (int i = 0; i < RENEWAL_WORDS; i++)
        service->renewal[i] = symbols_take(service->symbols, renewal_words[i], strlen(renewal_words[i]));
    census_init(&service->census);
    service->links = mem_alloc(PAGE_LINKS * sizeof *service->links);
    memset(service->links, 0, PAGE_LINKS * sizeof *service->links);
    service->metrics = metrics_make(service);
    metrics_set(service->metrics, METRIC_START_TIME, 0, 0, service->started);
    textmap_init(&service->revoked, secrets_word(&secrets_live));
    service->local_users = mem_alloc(LOCAL_USERS * sizeof *service->local_users);
    memset(service->local_users, 0, LOCAL_USERS * sizeof *service->local_users);
    callers_init(&service->callers, secrets_word(&secrets_live));
    agents_init(&service->agents, &service->callers, secrets_word(&secrets_live));
    service->agents.displaced = relay_displaced;
    service->agents.user = service;
    ids_init(&service->ids, secrets_word(&secrets_live));
    commands_init(&service->commands, service->symbols, service->shelf);
    file_book_init(&service->files, secrets_word(&secrets_live));
    networks_init(&service->networks);
    networks_load(service);
    buf_init(&service->out);
    handles_start(service);
    if (keys_open(service, err) < 0 || service_load(service, err) < 0 || role_start(service, err) < 0 ||
        client_start(service, err) < 0 || service_listen(service, err) < 0)
        return -1;
    service->ready = true;
    LOG(&service->log, LEVEL_INFO, "started", log_text("url", service->url),
        log_text("pool", keyring_pool(service->keys)), log_word("incarnation", service->incarnation));
    tell_up(service);
    notify_ready(&service->notify, NULL);
    return 0;
}

/* From here on nobody can be told that a signal came, and the next one would kill: it waits, for the end. */
static void signals_block(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void close_handle(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void service_done(struct service *service)
{
    service->stopping = true;
    signals_block();
    tours_done(service);
    for (size_t i = 0; i < service->server_count; i++)
        server_free(service->servers[i]);
    client_free(service->client);
    client_free(service->checker);
    checks_sweep(service, INT64_MAX);
    uv_run(service->loop, UV_RUN_NOWAIT);
    runner_free(service->runner);
    uv_run(service->loop, UV_RUN_NOWAIT);
    uv_walk(service->loop, close_handle, NULL);
    while (uv_run(service->loop, UV_RUN_DEFAULT))
        ;
    message_done(&service->reply);
    tree_unref(service->policy);
    tree_unref(service->shares);
    join_book_free(service->codes);
    token_cache_free(service->tokens);
    keyring_free(service->keys);
    ids_done(&service->ids);
    file_book_done(&service->files);
    commands_done(&service->commands);
    agents_done(&service->agents);
    callers_done(&service->callers);
    free(service->local_users);
    textmap_done(&service->revoked);
    networks_done(&service->networks);
    census_done(&service->census);
    free(service->links);
    metrics_free(service->metrics);
    notify_done(&service->notify);
    buf_done(&service->out);
    free(service->url);
    symbols_free(service->symbols);
    config_done(&service->config);
    uv_loop_close(service->loop);
}

int service_run(const struct service_settings *settings, struct config *config, struct err *err)
{
    uv_loop_t loop;
    struct service *service = mem_alloc(sizeof *service);
    int status = -1;

    uv_loop_init(&loop);
    memset(service, 0, sizeof *service);
    service->loop = &loop;
    service->settings = settings;
    service->config = *config;
    service->shelf = settings->shelf;
    service->started = runner_wall();
    service->notify.fd = -1;
    *config = (struct config){0};
    if (service_start(service, err) == 0) {
        uv_run(&loop, UV_RUN_DEFAULT);
        LOG(&service->log, LEVEL_INFO, "stopped", log_number("status", service->status));
        status = service->status;
    }
    service_done(service);
    free(service);
    return status;
}
