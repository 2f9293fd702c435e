/* matchmakerd.c: the matchmaker as a process: its parts, and how it starts, reloads and ends. */
#include "live/http/standby.h"
#include "live/matchmakerd/ad_take.h"
#include "live/matchmakerd/api_events.h"
#include "live/matchmakerd/api_pool.h"
#include "live/matchmakerd/api_tokens.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/delivery.h"
#include "live/matchmakerd/desk_news.h"
#include "live/matchmakerd/matchmakerd_load.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "live/http/guard.h"
#include "live/http/signin.h"
#include "match/assign/assign.h"
#include "store/store.h"
#include "sys/secrets.h"
#include "sys/unix_users.h"

#include <limits.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SWEEP_SPAN 100    /* milliseconds between two sweeps for things past their time */
#define SWEEP_IDS 2000    /* ids that one sweep covers */
#define SWEEP_COMMANDS 10 /* sweeps between two looks at commands */
#define SWEEP_SLOWLY 600  /* sweeps between two looks at agents and identities */

/* ------------------------------------------------------------------------------------------------------------- the role */

static void role_reply(void *user, uint64_t token, const struct message *message)
{
    struct matchmakerd *matchmakerd = user;

    if (token != matchmakerd->asked) /* it stood behind a row, and was answered long ago */
        return;
    message_done(&matchmakerd->reply);
    message_copy(&matchmakerd->reply, message);
    matchmakerd->replied = true;
}

static void role_note(void *user, const struct effect *effect)
{
    struct matchmakerd *matchmakerd = user;

    LOG(&matchmakerd->log, LEVEL_INFO, "note", log_text("what", effect->note), log_word("claim", effect->claim),
        log_text("reason", reason_words(effect->reason)));
}

static void role_committed(void *user, int64_t took)
{
    struct matchmakerd *matchmakerd = user;

    metrics_count(matchmakerd->metrics, METRIC_COMMITS);
    metrics_observe(matchmakerd->metrics, METRIC_COMMIT_SECONDS, 0, took);
}

/* Measures cycles: the time of a cycle is that of its slices. */
static void role_woken(void *user, int64_t took)
{
    struct matchmakerd *matchmakerd = user;
    struct matchmaker_counts counts;

    counts = matchmaker_counts(matchmakerd->matchmaker);
    if (counts.cycles == matchmakerd->cycles && !matchmakerd->in_cycle)
        return;
    matchmakerd->cycle_took += took;
    matchmakerd->in_cycle = counts.in_cycle;
    if (counts.cycles != matchmakerd->cycles)
        metrics_count(matchmakerd->metrics, METRIC_CYCLES);
    matchmakerd->cycles = counts.cycles;
    if (counts.in_cycle)
        return;
    metrics_observe(matchmakerd->metrics, METRIC_CYCLE_SECONDS, 0, matchmakerd->cycle_took);
    metrics_add(matchmakerd->metrics, METRIC_WINDOWS_FELL_BACK, 0, 0, counts.work.fell_back);
    metrics_add(matchmakerd->metrics, METRIC_CONSIDERED, 0, 0, counts.work.evaluations);
    if (counts.work.tried * counts.ads > counts.work.evaluations)
        metrics_add(matchmakerd->metrics, METRIC_PRUNED, 0, 0,
                    counts.work.tried * counts.ads - counts.work.evaluations);
    matchmakerd->cycle_took = 0;
}

static void role_away(void *user, const char *why)
{
    struct matchmakerd *matchmakerd = user;

    metrics_set(matchmakerd->metrics, METRIC_STORE_AWAY, 0, 0, why != NULL);
    if (why)
        LOG(&matchmakerd->log, LEVEL_WARNING, "store.away", log_text("why", why));
    else
        LOG(&matchmakerd->log, LEVEL_INFO, "store.back", log_text("why", "its database answers again"));
}

static void matchmakerd_end(struct matchmakerd *matchmakerd, int status);

/* The store has failed. Nothing that was not durable has been answered, and nothing more is taken: the next start goes on from what is on disk. */
static void role_broken(void *user, const char *why)
{
    struct matchmakerd *matchmakerd = user;

    metrics_count(matchmakerd->metrics, METRIC_COMMIT_FAILURES);
    matchmakerd->ready = false;
    LOG(&matchmakerd->log, LEVEL_ERROR, "store.failed", log_text("why", why));
    matchmakerd_end(matchmakerd, 1);
}

/* -------------------------------------------------------------------------------------------------------------- timers */

/* Looks at ids in turn: those of which nothing is remembered are removed, and those whose ad has gone count no more. */
static void ids_sweep(struct matchmakerd *matchmakerd)
{
    struct ids *ids = &matchmakerd->ids;
    struct entry_view view;

    for (uint32_t i = 0; i < SWEEP_IDS && i < ids->texts.places; i++) {
        uint32_t place = matchmakerd->sweep_at++ % ids->texts.places;

        if (!ids->texts.items[place].text)
            continue;
        if (!matchmaker_remembers(matchmakerd->matchmaker, ids->items[place].agent, ids->items[place].id))
            id_forget(matchmakerd, place);
        else if (ids->items[place].live &&
                 !matchmaker_find(matchmakerd->matchmaker, ids->items[place].agent, ids->items[place].id, &view))
            id_unlive(matchmakerd, place);
    }
}

static void sweep_due(uv_timer_t *timer)
{
    struct matchmakerd *matchmakerd = timer->data;
    int64_t now = runner_now();
    uint64_t gone;

    relays_sweep(matchmakerd, now);
    checks_sweep(matchmakerd, now);
    waitings_sweep(matchmakerd, now, runner_wall() / SECOND);
    observers_sweep(matchmakerd, now, runner_wall() / SECOND);
    desk_news_sweep(matchmakerd, now);
    command_waits_sweep(matchmakerd, now, false);
    front_wake(&matchmakerd->front, false);
    front_wake_marked(&matchmakerd->front);
    if (matchmakerd->sweeps % SWEEP_COMMANDS == 0) {
        commands_expire(matchmakerd);
        audit_sweep(matchmakerd);
    }
    ids_sweep(matchmakerd);
    census_step(&matchmakerd->census, matchmakerd->matchmaker, runner_wall() / SECOND);
    waiting_gauge_step(matchmakerd, now);
    if (++matchmakerd->sweeps % SWEEP_SLOWLY)
        return;
    if (matchmakerd->sweeps % (60 * SWEEP_SLOWLY) == 0 && !runner_is_away(matchmakerd->runner))
        tokens_sweep(matchmakerd);
    agents_sweep(&matchmakerd->agents, now);
    callers_sweep(&matchmakerd->gate.callers, now);
    while ((gone = join_book_sweep(matchmakerd->codes, runner_settled(matchmakerd->runner) / SECOND))) {
        char key[24];
        struct err err;

        snprintf(key, sizeof key, "%016llx", (unsigned long long)gone);
        matchmakerd->shelf->kind->remove(matchmakerd->shelf, CODE_SPACE, key, strlen(key), &err);
        matchmakerd->shelf->kind->remove(matchmakerd->shelf, CODE_FOR_SPACE, key, strlen(key), &err);
        matchmakerd->shelf->kind->remove(matchmakerd->shelf, CODE_USER_SPACE, key, strlen(key), &err);
        matchmakerd->shelf->kind->remove(matchmakerd->shelf, CODE_STANDBY_SPACE, key, strlen(key), &err);
        runner_commit(matchmakerd->runner, NULL, NULL);
    }
}

static void lag_timer(uv_timer_t *timer)
{
    struct matchmakerd *matchmakerd = timer->data;
    int64_t now = runner_now();

    if (matchmakerd->lag_due && now > matchmakerd->lag_due)
        metrics_observe(matchmakerd->metrics, METRIC_LOOP_LAG, 0, now - matchmakerd->lag_due);
    matchmakerd->lag_due = now + SWEEP_SPAN * MILLISECOND;
    uv_timer_start(timer, lag_timer, SWEEP_SPAN, 0);
}

static void watchdog_due(uv_timer_t *timer)
{
    notify_watchdog(&((struct matchmakerd *)timer->data)->notify);
}

/* -------------------------------------------------------------------------------------------------------------- signals */

static void networks_load(struct matchmakerd *matchmakerd)
{
    const char *const *items;
    struct err err;
    size_t count;

    networks_done(&matchmakerd->networks);
    networks_init(&matchmakerd->networks);
    items = config_list(&matchmakerd->config, CONFIG_NETWORKS, &count);
    for (size_t i = 0; i < count; i++)
        if (networks_add(&matchmakerd->networks, items[i], &err) < 0)
            LOG(&matchmakerd->log, LEVEL_WARNING, "network", log_text("why", err.text));
}

static void log_set(struct matchmakerd *matchmakerd)
{
    matchmakerd->log.form = (enum log_form)config_word(&matchmakerd->config, CONFIG_LOG);
    matchmakerd->log.level = (enum level)config_word(&matchmakerd->config, CONFIG_LOG_LEVEL);
}

/* Takes on the setting Issuers; those that were there stay when it cannot be used. */
static int issuers_load(struct matchmakerd *matchmakerd, struct err *err)
{
    struct issuer_list list;
    int failed;

    if (issuer_list_parse(&list, matchmakerd->symbols, config_ads(&matchmakerd->config, CONFIG_ISSUERS), err) < 0)
        return -1;
    failed =
        issuers_set(&matchmakerd->issuers, matchmakerd->loop, &list, &matchmakerd->log, &matchmakerd->networks, err);
    issuer_list_done(&list);
    matchmakerd->gate.settings.issuers = matchmakerd->issuers;
    return failed;
}

static void matchmakerd_reload(struct matchmakerd *matchmakerd)
{
    struct config_change change;
    struct err err = {0};
    struct tree *policy;

    notify_reloading(&matchmakerd->notify, (int64_t)(uv_hrtime() / 1000));
    if (config_reload(&matchmakerd->config, matchmakerd->settings->sources, &change, &err) < 0) {
        LOG(&matchmakerd->log, LEVEL_ERROR, "reload.refused", log_text("why", err.text));
    } else {
        log_set(matchmakerd);
        networks_load(matchmakerd);
    }
    if (!err.text[0] && !matchmakerd->standby) {
        for (int i = 0; i < CONFIG_KEY_COUNT; i++)
            if (change.waits[i])
                LOG(&matchmakerd->log, LEVEL_WARNING, "reload.waits",
                    log_text("key", config_row((enum config_key)i)->name));
        if (change.taken[CONFIG_POLICY] && *config_text(&matchmakerd->config, CONFIG_POLICY)) {
            if (policy_file(matchmakerd, config_text(&matchmakerd->config, CONFIG_POLICY), &policy, &err) < 0) {
                LOG(&matchmakerd->log, LEVEL_ERROR, "policy.refused", log_text("why", err.text));
            } else {
                tree_unref(matchmakerd->policy);
                matchmakerd->policy = policy;
                runner_event(matchmakerd->runner, &(struct event){.kind = EVENT_POLICY, .ad = policy});
            }
        }
        if (change.taken[CONFIG_ISSUERS] && issuers_load(matchmakerd, &err) < 0)
            LOG(&matchmakerd->log, LEVEL_ERROR, "issuers.refused", log_text("why", err.text));
        shares_reload(matchmakerd, change.taken[CONFIG_SHARES]);
        if (audit_reload(&matchmakerd->audit, RESERVED_IDENTITY, &matchmakerd->config, &change, runner_wall() / SECOND))
            runner_commit(matchmakerd->runner, NULL, NULL);
        LOG(&matchmakerd->log, LEVEL_INFO, "reloaded", log_text("file", matchmakerd->config.file));
    }
    notify_ready(&matchmakerd->notify, NULL);
}

static void signal_came(uv_signal_t *handle, int number)
{
    struct matchmakerd *matchmakerd = handle->data;

    if (matchmakerd->stopping)
        return; /* the process ends within moments; asking again changes nothing */
    if (number == SIGHUP) {
        matchmakerd_reload(matchmakerd);
        return;
    }
    LOG(&matchmakerd->log, LEVEL_INFO, "stopping", log_number("signal", number));
    notify_stopping(&matchmakerd->notify, NULL);
    matchmakerd_end(matchmakerd, 0);
}

static void end_now(uv_timer_t *timer)
{
    uv_stop(timer->loop);
}

/* Ends the process a moment later, so that answers under way can be sent. */
static void matchmakerd_end(struct matchmakerd *matchmakerd, int status)
{
    if (matchmakerd->stopping)
        return;
    matchmakerd->stopping = true;
    matchmakerd->status = status;
    for (size_t i = 0; i < matchmakerd->server_count; i++)
        server_stop_accepting(matchmakerd->servers[i]);
    waitings_end(matchmakerd);
    command_waits_sweep(matchmakerd, 0, true);
    front_wait_end(&matchmakerd->front, "the service is going down");
    uv_timer_stop(&matchmakerd->sweep);
    uv_timer_start(&matchmakerd->sweep, end_now, status ? 20 : 100, 0);
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static struct metrics *metrics_make(struct matchmakerd *matchmakerd)
{
#define X(id, word, meaning) [MACHINE_##id] = word,
    static const char *const state_words[] = {MACHINE_STATES(X)};
#undef X
    struct metric_words sets[] = {
        {METRIC_SET_STATE, state_words, MACHINE_STATE_COUNT},
        {METRIC_SET_WAITING, outcome_words, CENSUS_OUTCOMES},
        {METRIC_SET_REASON, matchmakerd->wait_words, WAIT_REASON_COUNT + 1},
        {METRIC_SET_ROUTE, matchmakerd->route_words, matchmakerd_routes.count},
        {METRIC_SET_FAULT, matchmakerd->fault_words, TOKEN_FAULT_COUNT},
        {METRIC_SET_GUARD, matchmakerd->guard_texts, GUARD_REASON_COUNT},
    };

    for (size_t i = 0; i < matchmakerd_routes.count; i++)
        matchmakerd->route_words[i] = matchmakerd_routes.routes[i].id;
    for (int i = 0; i < WAIT_REASON_COUNT; i++)
        matchmakerd->wait_words[i] = wait_word((enum wait_reason)i);
    matchmakerd->wait_words[WAIT_REASON_COUNT] = "unexplained";
    for (int i = 0; i < TOKEN_FAULT_COUNT; i++)
        matchmakerd->fault_words[i] = token_fault_name((enum token_fault)i);
    for (int i = 0; i < GUARD_REASON_COUNT; i++)
        matchmakerd->guard_texts[i] = guard_words((enum guard_reason)i);
    return metrics_new(METRIC_PARTY_M, sets, sizeof sets / sizeof *sets);
}

static int keys_open(struct matchmakerd *matchmakerd, struct err *err)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/keys", config_text(&matchmakerd->config, CONFIG_STATE));
    matchmakerd->keys = keyring_open(path, runner_wall() / SECOND, err);
    if (!matchmakerd->keys)
        return -1;
    keyring_token_keys(matchmakerd->keys, &matchmakerd->token_keys);
    matchmakerd->tokens = token_cache_new(0);
    matchmakerd->codes = join_book_new();
    return 0;
}

/* How many requests are planned. */
static uint32_t plans_of(const struct config *config)
{
    const char *word = config_text(config, CONFIG_BACK_FILL);

    return !strcmp(word, "none") ? 0 : !strcmp(word, "easy") ? 1 : !strcmp(word, "some") ? 8 : 100;
}

/* The value for matchmaker_settings: the words of the setting are the names of the policies, except for one. */
static uint32_t assignment_of(const struct config *config)
{
    const char *name = config_text(config, CONFIG_ASSIGNMENT);
    enum assign_policy policy;

    return assign_policy_find(name, strlen(name), &policy, NULL) == 0 ? (uint32_t)policy + 1 : 0;
}

static int role_start(struct matchmakerd *matchmakerd, struct err *err)
{
    struct runner_ports ports = {.user = matchmakerd,
                                 .send = delivery_send,
                                 .reply = role_reply,
                                 .note = role_note,
                                 .committed = role_committed,
                                 .woken = role_woken,
                                 .away = role_away,
                                 .broken = role_broken};

    matchmakerd->spans = config_spans(&matchmakerd->config);
    matchmakerd->role = (struct matchmaker_settings){
        .self = agent_handle("matchmaker", ""),
        .spans = &matchmakerd->spans,
        .policy = matchmakerd->policy,
        .shares = matchmakerd->shares,
        .assignment = assignment_of(&matchmakerd->config),
        .plans = plans_of(&matchmakerd->config),
        .ads_max = (uint32_t)config_count(&matchmakerd->config, CONFIG_ADS_PER_IDENTITY),
        .machine_bytes_max = config_size(&matchmakerd->config, CONFIG_AD_BYTES_PER_IDENTITY)};
    matchmakerd->runner = runner_new(matchmakerd->loop, &matchmaker_role, &matchmakerd->role, matchmakerd->shelf,
                                     matchmakerd->symbols, &secrets_live, &ports, err);
    if (!matchmakerd->runner)
        return -1;
    matchmakerd->matchmaker = runner_role(matchmakerd->runner);
    runner_event(matchmakerd->runner, &(struct event){.kind = EVENT_BOOTED});
    runner_is_restored(matchmakerd->runner);
    matchmakerd->incarnation = matchmaker_incarnation(matchmakerd->matchmaker);
    return 0;
}

static int client_start(struct matchmakerd *matchmakerd, struct err *err)
{
    char path[PATH_MAX];
    struct client_settings settings = {.ca_file = path, .at_once = 256};

    snprintf(path, sizeof path, "%s/keys/ca.pem", config_text(&matchmakerd->config, CONFIG_STATE));
    matchmakerd->client = client_new(matchmakerd->loop, &settings, err);
    settings.at_once = 64;
    matchmakerd->checker = matchmakerd->client ? client_new(matchmakerd->loop, &settings, err) : NULL;
    return matchmakerd->checker ? 0 : -1;
}

static void handles_start(struct matchmakerd *matchmakerd)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};

    uv_idle_init(matchmakerd->loop, &matchmakerd->scan_turn);
    uv_timer_init(matchmakerd->loop, &matchmakerd->sweep);
    uv_timer_init(matchmakerd->loop, &matchmakerd->lag);
    uv_timer_init(matchmakerd->loop, &matchmakerd->watchdog);
    matchmakerd->scan_turn.data = matchmakerd->sweep.data = matchmakerd->lag.data = matchmakerd->watchdog.data =
        matchmakerd;
    if (matchmakerd->notify.watchdog)
        uv_timer_start(&matchmakerd->watchdog, watchdog_due, 0, (uint64_t)(matchmakerd->notify.watchdog / MILLISECOND));
    for (int i = 0; i < 3; i++) {
        uv_signal_init(matchmakerd->loop, &matchmakerd->signals[i]);
        matchmakerd->signals[i].data = matchmakerd;
        uv_signal_start(&matchmakerd->signals[i], signal_came, numbers[i]);
    }
}

/* Tells the caller that the matchmaker is up. A code is made only if others can reach us. */
static void tell_up(struct matchmakerd *matchmakerd)
{
    const char *addresses[SERVERS_MAX + 1] = {NULL};
    bool reachable = false;
    struct err err;
    struct buf code;

    for (size_t i = 0; i < matchmakerd->server_count; i++) {
        addresses[i] = server_address(matchmakerd->servers[i]);
        reachable = reachable || !config_address_is_local(addresses[i]);
    }
    buf_init(&code);
    if (reachable && matchmakerd_join_code(matchmakerd, NULL, &code, &err) == 0)
        runner_commit(matchmakerd->runner, NULL, NULL);
    if (matchmakerd->settings->up)
        matchmakerd->settings->up(matchmakerd->settings->user, addresses, matchmakerd->url,
                                  code.len ? buf_string(&code) : NULL);
    buf_done(&code);
}

/* ------------------------------------------------------------------------------------------------------- leading, waiting */

static int matchmakerd_lead(struct matchmakerd *matchmakerd, struct err *err)
{
    commands_init(&matchmakerd->commands, matchmakerd->symbols, matchmakerd->shelf);
    audit_init(&matchmakerd->audit, matchmakerd->symbols, matchmakerd->shelf,
               (uint32_t)config_count(&matchmakerd->config, CONFIG_AUDIT_ROWS));
    ends_book_init(&matchmakerd->ends, matchmakerd->shelf, secrets_word(&secrets_live));
    if (matchmakerd_load(matchmakerd, err) < 0 || role_start(matchmakerd, err) < 0 ||
        client_start(matchmakerd, err) < 0 || issuers_load(matchmakerd, err) < 0)
        return -1;
    uv_timer_start(&matchmakerd->sweep, sweep_due, SWEEP_SPAN, SWEEP_SPAN);
    lag_timer(&matchmakerd->lag);
    loop_watch_start(&matchmakerd->turns, matchmakerd->loop, matchmakerd->metrics);
    return 0;
}

static void tell_leading(struct matchmakerd *matchmakerd)
{
    matchmakerd->ready = true;
    LOG(&matchmakerd->log, LEVEL_INFO, "started", log_text("url", matchmakerd->url),
        log_text("pool", keyring_pool(matchmakerd->keys)), log_word("incarnation", matchmakerd->incarnation));
    tell_up(matchmakerd);
    notify_ready(&matchmakerd->notify, NULL);
}

static void store_comes(void *user, struct shelf *shelf, const struct err *err)
{
    struct matchmakerd *matchmakerd = user;

    matchmakerd->shelf = shelf;
    if (matchmakerd->stopping) /* it is closed at the end; until then requests are answered as by one that stands by */
        return;
    standby_free(matchmakerd->standby);
    matchmakerd->standby = NULL;
    if (!shelf)
        matchmakerd->unled = *err;
    if (shelf && matchmakerd_lead(matchmakerd, &matchmakerd->unled) == 0)
        tell_leading(matchmakerd);
    else
        matchmakerd_end(matchmakerd, -1);
}

static void leader_comes(void *user, const struct store_replica *leader)
{
    struct matchmakerd *matchmakerd = user;

    LOG(&matchmakerd->log, LEVEL_INFO, "standby", log_text("url", matchmakerd->url),
        log_text("leader", *leader->url ? leader->url : NULL), log_text("who", *leader->who ? leader->who : NULL));
    if (matchmakerd->settings->stands_by)
        matchmakerd->settings->stands_by(matchmakerd->settings->user, matchmakerd->url, leader->url);
    notify_ready(&matchmakerd->notify, "stands by");
}

static int stand_by(struct matchmakerd *matchmakerd, struct err *err)
{
    struct standby_settings settings = {.loop = matchmakerd->loop,
                                        .what = "matchmaker",
                                        .url = matchmakerd->url,
                                        .open = matchmakerd->settings->open,
                                        .open_user = matchmakerd->settings->user,
                                        .over = store_comes,
                                        .leads = leader_comes,
                                        .user = matchmakerd};

    matchmakerd->standby = standby_new(&settings, err);
    return matchmakerd->standby ? 0 : -1;
}

static const char *const renewal_words[RENEWAL_WORDS] = {"Message", "Id", "Bare"};

static int matchmakerd_start(struct matchmakerd *matchmakerd, struct err *err)
{
    struct err ignored;

    if (sodium_init() < 0)
        return err_set(err, "no source of randomness");
    log_init(&matchmakerd->log, matchmakerd->settings->log_fd, LOG_LOGFMT, LEVEL_INFO, NULL, NULL);
    log_set(matchmakerd);
    notify_init(&matchmakerd->notify, getenv("NOTIFY_SOCKET"), getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"),
                getpid(), &ignored);
    matchmakerd->symbols = names_new(secrets_word(&secrets_live));
    for (int i = 0; i < RENEWAL_WORDS; i++)
        matchmakerd->renewal[i] = symbols_take(matchmakerd->symbols, renewal_words[i], strlen(renewal_words[i]));
    census_init(&matchmakerd->census, matchmakerd->symbols);
    matchmakerd->links = mem_alloc(PAGE_LINKS * sizeof *matchmakerd->links);
    memset(matchmakerd->links, 0, PAGE_LINKS * sizeof *matchmakerd->links);
    matchmakerd->signins = signins_new();
    matchmakerd->metrics = metrics_make(matchmakerd);
    metrics_set(matchmakerd->metrics, METRIC_START_TIME, 0, 0, matchmakerd->started);
    textmap_init(&matchmakerd->revoked, secrets_word(&secrets_live));
    token_tally_init(&matchmakerd->made, secrets_word(&secrets_live));
    disabled_init(&matchmakerd->disabled, secrets_word(&secrets_live));
    matchmakerd_front(matchmakerd);
    agents_init(&matchmakerd->agents, &matchmakerd->gate.callers, secrets_word(&secrets_live));
    matchmakerd->agents.displaced = relay_displaced;
    matchmakerd->agents.user = matchmakerd;
    ids_init(&matchmakerd->ids, secrets_word(&secrets_live));
    file_book_init(&matchmakerd->files, secrets_word(&secrets_live));
    networks_init(&matchmakerd->networks);
    networks_load(matchmakerd);
    buf_init(&matchmakerd->out);
    handles_start(matchmakerd);
    if (keys_open(matchmakerd, err) < 0 || (matchmakerd->shelf && matchmakerd_lead(matchmakerd, err) < 0) ||
        matchmakerd_listen(matchmakerd, err) < 0)
        return -1;
    if (!matchmakerd->shelf)
        return stand_by(matchmakerd, err);
    tell_leading(matchmakerd);
    return 0;
}

/* From here on the loop does not handle signals any more, and the next one would kill the process: so they are
 * blocked. */
static void signals_block(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* What the timers look at is freed while the loop still runs. */
static void timers_stop(struct matchmakerd *matchmakerd)
{
    if (!matchmakerd->sweep.loop)
        return; /* it did not come so far as to have them */
    uv_timer_stop(&matchmakerd->sweep);
    uv_timer_stop(&matchmakerd->lag);
    uv_timer_stop(&matchmakerd->watchdog);
}

static void close_handle(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void matchmakerd_done(struct matchmakerd *matchmakerd)
{
    matchmakerd->stopping = true;
    signals_block();
    timers_stop(matchmakerd);
    standby_free(matchmakerd->standby);
    matchmakerd->standby = NULL;
    scans_done(matchmakerd);
    for (size_t i = 0; i < matchmakerd->server_count; i++)
        server_free(matchmakerd->servers[i]);
    client_free(matchmakerd->client);
    client_free(matchmakerd->checker);
    issuers_free(matchmakerd->issuers);
    signins_free(matchmakerd->signins);
    checks_sweep(matchmakerd, INT64_MAX);
    uv_run(matchmakerd->loop, UV_RUN_NOWAIT);
    runner_free(matchmakerd->runner);
    uv_run(matchmakerd->loop, UV_RUN_NOWAIT);
    uv_walk(matchmakerd->loop, close_handle, NULL);
    while (uv_run(matchmakerd->loop, UV_RUN_DEFAULT))
        ;
    message_done(&matchmakerd->reply);
    waiting_gauge_done(&matchmakerd->waiting_gauge);
    tree_unref(matchmakerd->policy);
    tree_unref(matchmakerd->shares);
    join_book_free(matchmakerd->codes);
    token_cache_free(matchmakerd->tokens);
    keyring_free(matchmakerd->keys);
    ids_done(&matchmakerd->ids);
    file_book_done(&matchmakerd->files);
    ends_book_done(&matchmakerd->ends);
    commands_done(&matchmakerd->commands);
    audit_done(&matchmakerd->audit);
    agents_done(&matchmakerd->agents);
    gate_done(&matchmakerd->gate);
    front_done(&matchmakerd->front);
    unix_users_free(matchmakerd->local_users);
    textmap_done(&matchmakerd->revoked);
    token_tally_done(&matchmakerd->made);
    disabled_done(&matchmakerd->disabled);
    networks_done(&matchmakerd->networks);
    census_done(&matchmakerd->census);
    free(matchmakerd->links);
    metrics_free(matchmakerd->metrics);
    notify_done(&matchmakerd->notify);
    buf_done(&matchmakerd->out);
    free(matchmakerd->url);
    symbols_free(matchmakerd->symbols);
    config_done(&matchmakerd->config);
    uv_loop_close(matchmakerd->loop);
}

int matchmakerd_run(const struct matchmakerd_settings *settings, struct config *config, struct err *err)
{
    uv_loop_t loop;
    struct matchmakerd *matchmakerd = mem_alloc(sizeof *matchmakerd);
    int status = -1;

    uv_loop_init(&loop);
    memset(matchmakerd, 0, sizeof *matchmakerd);
    matchmakerd->loop = &loop;
    matchmakerd->settings = settings;
    matchmakerd->config = *config;
    matchmakerd->shelf = settings->shelf;
    matchmakerd->started = runner_wall();
    matchmakerd->notify.fd = -1;
    *config = (struct config){0};
    if (matchmakerd_start(matchmakerd, err) == 0) {
        uv_run(&loop, UV_RUN_DEFAULT);
        LOG(&matchmakerd->log, LEVEL_INFO, "stopped", log_number("status", matchmakerd->status));
        status = matchmakerd->status;
        if (status < 0)
            *err = matchmakerd->unled;
    }
    matchmakerd_done(matchmakerd);
    if (matchmakerd->shelf && !settings->shelf)
        matchmakerd->shelf->kind->close(matchmakerd->shelf);
    free(matchmakerd);
    return status;
}
