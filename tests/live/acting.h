/* acting.h: what the small agents that tests start as processes have in common: a loop, a shelf, a token, and the settings of an agent. */
#ifndef BERTH_TESTS_ACTING_H
#define BERTH_TESTS_ACTING_H

#include "lang/ad/names.h"
#include "lang/form/form.h"
#include "live/agent/agent.h"
#include "live/matchmakerd/ids.h"
#include "pool/provider/provider.h"
#include "store/store.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

struct acting {
    uv_loop_t loop;
    uv_signal_t term;
    struct log log;
    struct networks networks;
    struct token_file token;
    struct spans spans;
    struct agent_settings settings; /* what is asked of the role is left to the caller */
    struct provider_settings provider;
    uint64_t ids[1];
    struct tree *ads[1]; /* of the provider; held */
    struct live_agent *live;
};

static inline struct tree *ad_read(struct symbols *symbols, const char *text)
{
    struct err err = {0};
    struct tree *ad = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);

    if (!ad)
        fprintf(stderr, "%s\n", err.text);
    return ad;
}

static inline void acting_told(uv_signal_t *handle, int number)
{
    (void)number;
    uv_stop(handle->loop);
}

static inline void acting_broke(void *user, const char *why)
{
    (void)user;
    fprintf(stderr, "the shelf is broken: %s\n", why);
    exit(3);
}

/* False when the shelf or the token cannot be had, which is said. */
static inline bool acting_init(struct acting *acting, const char *name, const char *identity, const char *state,
                               const char *token, const char *const *matchmakers, size_t matchmaker_count)
{
    struct agent_settings *settings = &acting->settings;
    char path[PATH_MAX];
    struct err err = {0};

    signal(SIGPIPE, SIG_IGN);
    mkdir(state, 0700);
    snprintf(path, sizeof path, "%s/berth.db", state);
    settings->shelf = store_open(path, &err);
    if (!settings->shelf || token_file_read(token, &acting->token, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    uv_loop_init(&acting->loop);
    uv_signal_init(&acting->loop, &acting->term);
    uv_signal_start(&acting->term, acting_told, SIGTERM);
    log_init(&acting->log, STDERR_FILENO, LOG_LOGFMT, getenv("LOUD") ? LEVEL_DEBUG : LEVEL_INFO, NULL, NULL);
    networks_init(&acting->networks);
    networks_add(&acting->networks, "127.0.0.0/8", &err);
    acting->spans = spans_default;
    acting->ids[0] = id_number(name, strlen(name));
    acting->provider = (struct provider_settings){.self = agent_self(identity, name),
                                                  .matchmaker = agent_matchmaker(),
                                                  .spans = &acting->spans,
                                                  .identity = identity,
                                                  .ids = acting->ids,
                                                  .ads = acting->ads,
                                                  .count = 1};
    settings->role = &provider_role;
    settings->role_settings = &acting->provider;
    settings->spans = &acting->spans;
    settings->symbols = names_new(1);
    settings->log = &acting->log;
    settings->matchmakers = matchmakers;
    settings->matchmaker_count = matchmaker_count;
    settings->token = &acting->token;
    settings->identity = identity;
    settings->name = name;
    settings->networks = &acting->networks;
    settings->version = "test";
    settings->broken = acting_broke;
    return true;
}

/* False when it cannot begin, which is said. */
static inline bool acting_start(struct acting *acting)
{
    struct err err = {0};

    acting->live = agent_new(&acting->loop, &acting->settings, &err);
    if (!acting->live) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    runner_event(agent_runner(acting->live), &(struct event){.kind = EVENT_BOOTED});
    return true;
}

/* The machine is there, and idle. */
static inline void acting_probed(struct acting *acting)
{
    struct tree *probed = ad_read(acting->settings.symbols, "[State = \"Idle\"]");

    runner_event(agent_runner(acting->live), &(struct event){.kind = EVENT_PROBED, .ad = probed});
    tree_unref(probed);
}

static inline void acting_handle_close(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static inline void acting_done(struct acting *acting)
{
    agent_free(acting->live);
    uv_walk(&acting->loop, acting_handle_close, NULL);
    while (uv_run(&acting->loop, UV_RUN_DEFAULT))
        ;
    uv_loop_close(&acting->loop);
    acting->settings.shelf->kind->close(acting->settings.shelf);
    tree_unref(acting->ads[0]);
    symbols_free(acting->settings.symbols);
    token_file_done(&acting->token);
    networks_done(&acting->networks);
}

#endif
