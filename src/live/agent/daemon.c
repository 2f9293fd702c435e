/* daemon.c: what a live customer and a live provider have in common. */
#include "live/agent/daemon_parts.h"

#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "sys/confined_path.h"
#include "sys/names.h"
#include "sys/private_file.h"
#include "sys/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE_MAX 4000 /* bytes of the state folder's name; what is in it comes behind that */
#define TOKEN_FIRST \
    2000 /* milliseconds before the first look at the token's file: a machine may be on only now and then */
#define MACHINE_PREFIX "machine/" /* of the identity of one that joined by a code */

void networks_fill(struct daemon *daemon, struct networks *networks, const char *matchmaker)
{
    size_t count;
    const char *const *items = config_list(&daemon->config, CONFIG_NETWORKS, &count);
    struct err err = {0};

    networks_done(networks);
    networks_init(networks);
    /* who knows its pool by an address of this machine has the others on it too */
    if (!strncmp(matchmaker, "unix:", 5) || url_is_loopback(matchmaker))
        networks_add(networks, "127.0.0.0/8", &err);
    for (size_t i = 0; i < count; i++)
        if (networks_add(networks, items[i], &err) < 0)
            LOG(&daemon->log, LEVEL_WARNING, "network", log_text("why", err.text));
}

static void networks_load(struct daemon *daemon)
{
    networks_fill(daemon, &daemon->networks, daemon->matchmakers[0]);
    daemon_pools_networks(daemon);
}

static void log_set(struct daemon *daemon)
{
    daemon->log.form = (enum log_form)config_word(&daemon->config, CONFIG_LOG);
    daemon->log.level = (enum level)config_word(&daemon->config, CONFIG_LOG_LEVEL);
}

/* ------------------------------------------------------------------------------------------------------------ signals */

static void daemon_reload(struct daemon *daemon)
{
    struct config_change change = {{0}, {0}};
    struct err err = {0};

    notify_reloading(&daemon->notify, (int64_t)(uv_hrtime() / 1000));
    if (daemon->sources && config_reload(&daemon->config, daemon->sources, &change, &err) < 0) {
        LOG(&daemon->log, LEVEL_ERROR, "reload.refused", log_text("why", err.text));
    } else {
        log_set(daemon);
        networks_load(daemon);
        if (daemon->reload)
            daemon->reload(daemon->user, &change);
        for (int i = 0; daemon->sources && i < CONFIG_KEY_COUNT; i++)
            if (change.waits[i])
                LOG(&daemon->log, LEVEL_WARNING, "reload.waits", log_text("key", config_row((enum config_key)i)->name));
        LOG(&daemon->log, LEVEL_INFO, "reloaded", log_text("file", daemon->config.file));
    }
    notify_ready(&daemon->notify, NULL);
}

static void signal_came(uv_signal_t *handle, int number)
{
    struct daemon *daemon = handle->data;

    if (number == SIGHUP) {
        daemon_reload(daemon);
        return;
    }
    if (daemon->told)
        return; /* it is ending already */
    daemon->told = true;
    LOG(&daemon->log, LEVEL_INFO, "stopping", log_number("signal", number));
    notify_stopping(&daemon->notify, NULL);
    if (daemon->ending)
        daemon->ending(daemon->user);
    else
        uv_stop(&daemon->loop);
}

static void watchdog_due(uv_timer_t *timer)
{
    notify_watchdog(&((struct daemon *)timer->data)->notify);
}

static void handles_start(struct daemon *daemon)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};

    uv_timer_init(&daemon->loop, &daemon->watchdog);
    daemon->watchdog.data = daemon;
    if (daemon->notify.watchdog)
        uv_timer_start(&daemon->watchdog, watchdog_due, 0, (uint64_t)(daemon->notify.watchdog / MILLISECOND));
    for (int i = 0; i < 3; i++) {
        uv_signal_init(&daemon->loop, &daemon->signals[i]);
        daemon->signals[i].data = daemon;
        uv_signal_start(&daemon->signals[i], signal_came, numbers[i]);
    }
    signal(SIGPIPE, SIG_IGN);
}

/* --------------------------------------------------------------------------------------------------- who, and where to */

int ca_keep(const struct daemon *daemon, const struct token_file *token, const char *name, char ret[DAEMON_PATH_MAX],
            struct err *err)
{
    int folder, failed;

    *ret = '\0';
    if (!token->ca)
        return 0;
    folder = open(daemon->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return err_set(err, "%s: %s", daemon->folder, strerror(errno));
    failed = private_write(folder, name, token->ca, strlen(token->ca), err);
    close(folder);
    snprintf(ret, DAEMON_PATH_MAX, "%.4000s/%.80s", daemon->folder, name);
    return failed;
}

static int ca_write(struct daemon *daemon, struct err *err)
{
    const struct pool_entry *own = daemon_pool_own(daemon);

    if (own && own->ca)
        snprintf(daemon->ca_file, sizeof daemon->ca_file, "%.4000s", own->ca);
    else if (ca_keep(daemon, &daemon->token, "ca.pem", daemon->ca_file, err) < 0)
        return -1;
    if (*daemon->ca_file)
        daemon->agent.ca_file = daemon->ca_file;
    return 0;
}

/* Further ones of the same pool, which the token's file names. */
static void others_add(struct daemon *daemon)
{
    size_t room = sizeof daemon->matchmakers / sizeof *daemon->matchmakers;
    char place[TOKEN_PLACE_MAX + 1];

    for (size_t i = 1; daemon->agent.matchmaker_count < room && token_file_place(&daemon->token, i, place); i++)
        daemon->matchmakers[daemon->agent.matchmaker_count++] = mem_dup(place, strlen(place));
}

/* Finds the matchmakers: those of the settings; else the pool of the token, or the one that runs with the same state folder. */
static void matchmakers_find(struct daemon *daemon, bool near)
{
    const struct pool_entry *own = daemon_pool_own(daemon);
    const char *const *items;
    struct stat info;
    size_t count;

    items = config_list(&daemon->config, CONFIG_MATCHMAKERS, &count);
    if (own && own->token) { /* all of it is said in the list of pools */
        items = (const char *const *)own->matchmakers;
        count = own->matchmaker_count;
        near = false;
    }
    for (size_t i = 0; i < count && i < sizeof daemon->matchmakers / sizeof *daemon->matchmakers; i++)
        daemon->matchmakers[daemon->agent.matchmaker_count++] = mem_dup(items[i], strlen(items[i]));
    daemon->agent.matchmakers = daemon->matchmakers;
    if (count)
        return;
    snprintf(daemon->matchmaker, sizeof daemon->matchmaker, "unix:%.4000s/matchmaker.sock",
             config_text(&daemon->config, CONFIG_STATE));
    if (daemon->token.pool && !(near && stat(daemon->matchmaker + 5, &info) == 0)) /* a copy: the token is renewed */
        snprintf(daemon->matchmaker, sizeof daemon->matchmaker, "%.4000s", daemon->token.pool);
    daemon->matchmakers[daemon->agent.matchmaker_count++] = mem_dup(daemon->matchmaker, strlen(daemon->matchmaker));
    if (daemon->token.pool && !strcmp(daemon->matchmaker, daemon->token.pool))
        others_add(daemon);
}

/* Finds the agent's name: that of the machine, in which what is not allowed becomes a dash. Two agents of one user on one machine are told apart by
 * their roles. A machine that has joined under a name of its own is called by that. */
static void name_find(struct daemon *daemon, const char *role, const char *name)
{
    size_t prefix = strlen(MACHINE_PREFIX);
    char host[256] = "";

    if (daemon->as_machine && name)
        snprintf(host, sizeof host, "%s", name); /* the machine itself may be called so */
    else if (!name && strcmp(role, "customer") != 0 && !strncmp(daemon->identity, MACHINE_PREFIX, prefix))
        snprintf(host, sizeof host, "%s", daemon->identity + prefix);
    if (*host || (!name && gethostname(host, sizeof host - 1) == 0))
        name = host;
    if (!name || !*name)
        name = "machine";
    if (name == host && strcmp(role, "provider") != 0)
        snprintf(daemon->name, sizeof daemon->name, "%.40s.%.15s", name, role);
    else
        snprintf(daemon->name, sizeof daemon->name, "%.60s", name);
    for (char *at = daemon->name; *at; at++)
        if (!agent_name_is_good(at, 1))
            *at = '-';
}

/* Finds out whose agent this is, as its token says. */
static int identity_find(struct daemon *daemon, const char *role, const char *file, struct err *err)
{
    const struct pool_entry *own = daemon_pool_own(daemon);
    struct grant grant;
    struct err why = {0};

    if (own && own->token)
        file = own->token;
    if (file)
        snprintf(daemon->token_path, sizeof daemon->token_path, "%.4000s", file);
    else
        snprintf(daemon->token_path, sizeof daemon->token_path, "%.4000s/token", daemon->folder);
    file = daemon->token_path;
    daemon->as_machine = !strcmp(role, "provide") && access(file, F_OK) < 0;
    if (daemon->as_machine) /* who has joined as a machine offers other things as that */
        snprintf(daemon->token_path, sizeof daemon->token_path, "%.4000s/provider/token",
                 config_text(&daemon->config, CONFIG_STATE));
    if (token_file_read(file, &daemon->token, &why) < 0) {
        token_file_init(&daemon->token);
        if (!strcmp(role, "provide"))
            return err_set(
                err, "%s; `berth join --only CODE` makes one (a code: `berth token code`, where the matchmaker runs)",
                why.text);
        return err_set(
            err,
            "%s; `berth pool` makes one, and so do `berth token create` and, on another machine, `berth join CODE`",
            why.text);
    }
    if (!daemon->token.has_key)
        return err_set(err, "%s: the token has no key to delegate by", file);
    if (token_read(daemon->token.token, strlen(daemon->token.token), &grant) != TOKEN_OK)
        return err_set(err, "%s: the token cannot be read", file);
    snprintf(daemon->identity, sizeof daemon->identity, "%s", grant.subject);
    return 0;
}

static void token_again(uv_timer_t *timer)
{
    struct daemon *daemon = timer->data;

    uv_timer_start(timer, token_again, daemon_tokens_tend(daemon), 0);
}

/* Fills in what an agent needs to know of all this. */
static void agent_fill(struct daemon *daemon, const struct daemon_settings *settings)
{
    daemon->agent.spans = &daemon->spans;
    daemon->agent.symbols = daemon->symbols;
    daemon->agent.shelf = settings->shelf;
    daemon->agent.log = &daemon->log;
    daemon->agent.memory = &daemon->memory;
    daemon->agent.token = &daemon->token;
    daemon->agent.identity = daemon->identity;
    daemon->agent.name = daemon->name;
    daemon->listen_said = settings->listen ? mem_dup(settings->listen, strlen(settings->listen)) : NULL;
    daemon_listen_find(daemon, daemon->listen_said);
    daemon->agent.private_peers = pool_is_private(daemon->matchmakers[0], &daemon->token);
    daemon->agent.networks = &daemon->networks;
    daemon->agent.version = settings->version;
    daemon->agent.pool = daemon->list.count ? daemon_pool_own(daemon)->name : NULL;
    daemon->agent.others = daemon->pools;
    daemon->agent.other_count = daemon->other_count;
}

int daemon_init(struct daemon *daemon, const struct daemon_settings *settings, struct config *config, struct err *err)
{
    struct err ignored;
    const char *state;

    memset(daemon, 0, sizeof *daemon);
    uv_loop_init(&daemon->loop);
    daemon->config = *config;
    *config = (struct config){0};
    daemon->sources = settings->sources;
    daemon->shelf = settings->shelf;
    daemon->notify.fd = -1;
    token_file_init(&daemon->token);
    networks_init(&daemon->networks);
    log_init(&daemon->log, settings->log_fd, LOG_LOGFMT, LEVEL_INFO, NULL, NULL);
    log_set(daemon);
    memory_watch_init(&daemon->memory, &daemon->config, &daemon->log);
    notify_init(&daemon->notify, getenv("NOTIFY_SOCKET"), getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"), getpid(),
                &ignored);
    handles_start(daemon);
    if (sodium_init() < 0)
        return err_set(err, "no source of chance");
    if (confined_probe(err) < 0)
        return -1;
    daemon->symbols = names_new(secrets_word(&secrets_live));
    daemon->spans = config_spans(&daemon->config);
    state = config_text(&daemon->config, CONFIG_STATE);
    if (strlen(state) > STATE_MAX)
        return err_set(err, "the state folder's name is too long");
    snprintf(daemon->folder, sizeof daemon->folder, "%.4000s/%s", state, settings->role);
    if ((settings->pools && daemon_pools_read(daemon, err) < 0) ||
        identity_find(daemon, settings->role, settings->token, err) < 0 || ca_write(daemon, err) < 0)
        return -1;
    name_find(daemon, settings->role, settings->name);
    matchmakers_find(daemon, settings->near);
    if (daemon_pools_open(daemon, err) < 0)
        return -1;
    networks_load(daemon);
    agent_fill(daemon, settings);
    return 0;
}

int daemon_run(struct daemon *daemon, struct live_agent *live)
{
    LOG(&daemon->log, LEVEL_INFO, "started", log_text("name", daemon->name), log_text("identity", daemon->identity),
        log_text("matchmaker", agent_asks(live)), log_text("address", agent_address(live)));
    for (uint32_t i = 0; i < agent_pools(live) && daemon->list.count; i++) {
        struct agent_pool_view view = agent_pool_view(live, i);

        LOG(&daemon->log, LEVEL_INFO, "pool", log_text("pool", view.name), log_text("identity", view.identity),
            log_text("matchmaker", view.url));
    }
    notify_ready(&daemon->notify, NULL);
    daemon->live = live;
    uv_timer_init(&daemon->loop, &daemon->renewal);
    daemon->renewal.data = daemon;
    uv_timer_start(&daemon->renewal, token_again, TOKEN_FIRST, 0);
    uv_run(&daemon->loop, UV_RUN_DEFAULT);
    LOG(&daemon->log, LEVEL_INFO, "stopped", log_number("status", daemon->status));
    return daemon->status;
}

void daemon_broken(struct daemon *daemon, const char *why)
{
    LOG(&daemon->log, LEVEL_ERROR, "broken", log_text("why", why));
    daemon->status = 1;
    uv_stop(&daemon->loop);
}

static void handle_close(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void daemon_close(struct daemon *daemon)
{
    uv_walk(&daemon->loop, handle_close, NULL);
    while (uv_run(&daemon->loop, UV_RUN_DEFAULT))
        ;
}

void daemon_done(struct daemon *daemon)
{
    daemon_close(daemon);
    uv_loop_close(&daemon->loop);
    notify_done(&daemon->notify);
    networks_done(&daemon->networks);
    token_file_done(&daemon->token);
    for (size_t i = 0; i < daemon->agent.matchmaker_count; i++)
        free((char *)daemon->matchmakers[i]);
    free(daemon->listen_said);
    daemon_pools_done(daemon);
    metrics_free(daemon->metrics);
    symbols_free(daemon->symbols);
    config_done(&daemon->config);
}
