/* live_crowd.c: many providers in one process, each an agent of its own over real HTTP, with jobs that only sleep.
 *
 *     live_crowd COUNT TOKEN JOB_MS MATCHMAKER
 *
 * What they would keep is kept nowhere: the process is not meant to be restarted. Prints `up` when all have been made, and `jobs N` whenever N jobs
 * in all have ended, every second. */
#include "acting.h"

struct crowd;

struct one {
    struct crowd *crowd;
    char name[32];
    uint64_t id;
    struct tree *ad;
    struct provider_settings provider;
    struct agent_settings settings;
    struct live_agent *live;
    uv_timer_t timer;
    uint64_t claim, number;
};

struct crowd {
    uv_loop_t loop;
    uv_timer_t tell;
    uv_signal_t term;
    struct one *ones;
    uint32_t count;
    uint64_t job_ms, ended, told;
};

/* ---------------------------------------------------------------------------------------------------- a shelf of nothing */

static int nothing_put(struct shelf *shelf, const char *space, const void *key, size_t key_len, const void *value,
                       size_t len, struct err *err)
{
    (void)shelf, (void)space, (void)key, (void)key_len, (void)value, (void)len, (void)err;
    return 0;
}

static int nothing_remove(struct shelf *shelf, const char *space, const void *key, size_t key_len, struct err *err)
{
    (void)shelf, (void)space, (void)key, (void)key_len, (void)err;
    return 0;
}

static int nothing_commit(struct shelf *shelf, struct err *err)
{
    (void)shelf, (void)err;
    return 0;
}

static int nothing_each(struct shelf *shelf, const char *space, shelf_row_fn *fn, void *user, struct err *err)
{
    (void)shelf, (void)space, (void)fn, (void)user, (void)err;
    return 0;
}

static int nothing_get(struct shelf *shelf, const char *space, const void *key, size_t key_len, shelf_row_fn *fn,
                       void *user, struct err *err)
{
    (void)shelf, (void)space, (void)key, (void)key_len, (void)fn, (void)user, (void)err;
    return 0;
}

static bool nothing_broken(const struct shelf *shelf)
{
    (void)shelf;
    return false;
}

static void nothing_close(struct shelf *shelf)
{
    (void)shelf;
}

static const struct shelf_kind nothing_kind = {.name = "nothing",
                                               .put = nothing_put,
                                               .remove = nothing_remove,
                                               .commit = nothing_commit,
                                               .each = nothing_each,
                                               .get = nothing_get,
                                               .broken = nothing_broken,
                                               .close = nothing_close,
                                               .each_after = nothing_get};
static struct shelf nothing = {&nothing_kind};

/* ---------------------------------------------------------------------------------------------------------------- jobs */

static void one_tell(struct one *one, uint64_t claim, uint64_t number, enum job_news news, enum reason reason)
{
    runner_event(agent_runner(one->live),
                 &(struct event){.kind = EVENT_JOB, .news = news, .claim = claim, .number = number, .reason = reason});
}

static void job_ended(uv_timer_t *timer)
{
    struct one *one = timer->data;

    one->crowd->ended++;
    one_tell(one, one->claim, one->number, JOB_EXITED, REASON_EXITED);
}

static void job_effect(void *user, const struct effect *effect)
{
    struct one *one = user;

    if (effect->kind == EFFECT_JOB) {
        one->claim = effect->claim;
        one->number = effect->number;
        uv_timer_start(&one->timer, job_ended, one->crowd->job_ms, 0);
    } else if (effect->kind == EFFECT_STOP) {
        uv_timer_stop(&one->timer);
        one_tell(one, effect->claim, one->number, JOB_GONE, REASON_RELEASED);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static void tell_due(uv_timer_t *timer)
{
    struct crowd *crowd = timer->data;

    if (crowd->ended != crowd->told)
        printf("jobs %llu\n", (unsigned long long)crowd->ended);
    crowd->told = crowd->ended;
    fflush(stdout);
}

static int one_start(struct one *one, const struct agent_settings *settings, struct err *err)
{
    static const char text[] = "[Type = \"Machine\"; Cpus = 1; Memory = 64; Constraint = other.Type == \"Job\"]";
    struct tree *probed = form_parse(settings->symbols, &dialect_classic, FORM_CLASSAD, NULL, "[]", 2, err);

    one->ad = form_parse(settings->symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), err);
    one->id = id_number(one->name, strlen(one->name));
    one->settings = *settings;
    one->settings.name = one->name;
    one->settings.role_settings = &one->provider;
    one->settings.job = job_effect;
    one->settings.user = one;
    one->provider = (struct provider_settings){.self = agent_self(settings->identity, one->name),
                                               .matchmaker = agent_matchmaker(),
                                               .spans = settings->spans,
                                               .identity = settings->identity,
                                               .ids = &one->id,
                                               .ads = &one->ad,
                                               .count = 1};
    uv_timer_init(&one->crowd->loop, &one->timer);
    one->timer.data = one;
    one->live = agent_new(&one->crowd->loop, &one->settings, err);
    if (!one->live)
        return -1;
    runner_event(agent_runner(one->live), &(struct event){.kind = EVENT_BOOTED});
    runner_event(agent_runner(one->live), &(struct event){.kind = EVENT_PROBED, .ad = probed});
    tree_unref(probed);
    return 0;
}

int main(int argc, char **argv)
{
    static struct crowd crowd;
    static struct log log;
    struct spans spans = spans_default;
    struct networks networks;
    struct token_file token;
    struct agent_settings settings = {.spans = &spans, .role = &provider_role, .shelf = &nothing};
    struct grant grant;
    struct err err = {0};

    if (argc != 5)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    if (token_file_read(argv[2], &token, &err) < 0 ||
        token_read(token.token, strlen(token.token), &grant) != TOKEN_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    uv_loop_init(&crowd.loop);
    log_init(&log, STDERR_FILENO, LOG_LOGFMT, LEVEL_WARNING, NULL, NULL);
    networks_init(&networks);
    networks_add(&networks, "127.0.0.0/8", &err);
    settings.symbols = names_new(1);
    settings.log = &log;
    settings.matchmakers = (const char *const *)&argv[4];
    settings.matchmaker_count = 1;
    settings.token = &token;
    settings.identity = grant.subject;
    settings.listen = "127.0.0.1:0";
    settings.networks = &networks;
    settings.version = "test";
    crowd.count = (uint32_t)atoi(argv[1]);
    crowd.job_ms = (uint64_t)atoi(argv[3]);
    crowd.ones = calloc(crowd.count, sizeof *crowd.ones);
    for (uint32_t i = 0; i < crowd.count; i++) {
        crowd.ones[i].crowd = &crowd;
        snprintf(crowd.ones[i].name, sizeof crowd.ones[i].name, "m%u", i);
        if (one_start(&crowd.ones[i], &settings, &err) < 0) {
            fprintf(stderr, "%s: %s\n", crowd.ones[i].name, err.text);
            return 2;
        }
    }
    uv_timer_init(&crowd.loop, &crowd.tell);
    crowd.tell.data = &crowd;
    uv_timer_start(&crowd.tell, tell_due, 1000, 1000);
    uv_signal_init(&crowd.loop, &crowd.term);
    uv_signal_start(&crowd.term, acting_told, SIGTERM);
    printf("up\n");
    fflush(stdout);
    uv_run(&crowd.loop, UV_RUN_DEFAULT);
    for (uint32_t i = 0; i < crowd.count; i++) {
        agent_free(crowd.ones[i].live);
        tree_unref(crowd.ones[i].ad);
    }
    uv_walk(&crowd.loop, acting_handle_close, NULL);
    while (uv_run(&crowd.loop, UV_RUN_DEFAULT))
        ;
    uv_loop_close(&crowd.loop);
    free(crowd.ones);
    symbols_free(settings.symbols);
    token_file_done(&token);
    networks_done(&networks);
    return 0;
}
