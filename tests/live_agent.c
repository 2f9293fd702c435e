/* live_agent.c: a provider or a customer over real HTTP, with jobs that only sleep: for tests that start it as a process.
 *
 *     live_agent provider NAME IDENTITY STATE TOKEN LISTEN|- JOB_MS MATCHMAKER...
 *     live_agent customer NAME IDENTITY STATE TOKEN LISTEN|- JOBS   MATCHMAKER...
 *
 * Prints a line for each thing that a test wants to know: `start CLAIM NUMBER JOB` and `end CLAIM` by a provider, `done N` and `all` by a customer. The
 * spans are short: a lease of 300 ms unless $LEASE_MS says otherwise. */
#include "ad/names.h"
#include "form/form.h"
#include "net/agent.h"
#include "net/ids.h"
#include "pool/customer.h"
#include "pool/provider.h"
#include "store/store.h"

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#define JOBS_MAX 64

struct job_timer {
    uv_timer_t timer;
    struct acting *acting;
    uint64_t claim, number;
    bool used;
};

struct acting {
    uv_loop_t loop;
    struct live_agent *live;
    struct spans spans;
    struct provider_settings provider;
    struct customer_settings customer;
    uint64_t ids[1];
    struct tree *ads[1];
    int job_ms;
    uint64_t jobs, told;
    struct job_timer timers[JOBS_MAX];
    uv_timer_t watch;
    struct tree *request;
    bool is_customer;
};

static void say(const char *format, ...) ERR_FORMAT(1, 2);

static void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    fflush(stdout);
}

/* ---------------------------------------------------------------------------------------------------------- provider */

static void job_tell(struct acting *acting, uint64_t claim, uint64_t number, enum job_news news, enum reason reason)
{
    say("end %016llx %llu", (unsigned long long)claim, (unsigned long long)number);
    runner_event(agent_runner(acting->live), &(struct event){.kind = EVENT_JOB,
                                                             .news = news,
                                                             .claim = claim,
                                                             .number = number,
                                                             .reason = reason,
                                                             .used = acting->job_ms * MILLISECOND});
}

static void job_ended(uv_timer_t *timer)
{
    struct job_timer *job = timer->data;

    job->used = false;
    job_tell(job->acting, job->claim, job->number, JOB_EXITED, REASON_EXITED);
}

static void job_effect(void *user, const struct effect *effect)
{
    struct acting *acting = user;
    struct job_timer *job = NULL;

    for (int i = 0; i < JOBS_MAX; i++)
        if (effect->kind == EFFECT_JOB ? !acting->timers[i].used
                                       : acting->timers[i].used && acting->timers[i].claim == effect->claim)
            job = &acting->timers[i];
    if (effect->kind == EFFECT_JOB && job) {
        job->used = true;
        job->claim = effect->claim;
        job->number = effect->number;
        say("start %016llx %llu %llu", (unsigned long long)effect->claim, (unsigned long long)effect->number,
            (unsigned long long)effect->job);
        uv_timer_start(&job->timer, job_ended, (uint64_t)acting->job_ms, 0);
    } else if (effect->kind == EFFECT_STOP) {
        uint64_t number = job ? job->number : 0;

        if (job) {
            uv_timer_stop(&job->timer);
            job->used = false;
            say("stopped %016llx", (unsigned long long)effect->claim);
        }
        job_tell(acting, effect->claim, number, JOB_GONE, REASON_RELEASED);
    }
}

/* ---------------------------------------------------------------------------------------------------------- customer */

static void count_done(void *user, const struct job_view *view)
{
    *(uint64_t *)user += view->state == JOB_DONE;
}

static void watch_due(uv_timer_t *timer)
{
    struct acting *acting = timer->data;
    uint64_t done = 0;

    customer_each(runner_role(agent_runner(acting->live)), count_done, &done);
    if (done != acting->told)
        say("done %llu", (unsigned long long)done);
    acting->told = done;
    if (done >= acting->jobs) {
        struct agent_counts counts = agent_counts(acting->live);

        say("all %llu sent=%llu answered=%llu relayed=%llu failed_over=%llu", (unsigned long long)done,
            (unsigned long long)counts.sent, (unsigned long long)counts.answered, (unsigned long long)counts.relayed,
            (unsigned long long)counts.failed_over);
        uv_stop(timer->loop);
    }
}

static void submit(struct acting *acting, const char *identity)
{
    struct message message = {.kind = MESSAGE_SUBMIT};
    struct peer peer = {.agent = 1, .identity = identity};

    memset(&message.u, 0, sizeof message.u);
    text_set(&message.u.submit.key, "once", 4);
    text_set(&message.u.submit.owner, identity, strlen(identity));
    message.u.submit.count = acting->jobs;
    message.u.submit.ad = acting->request;
    runner_event(agent_runner(acting->live),
                 &(struct event){.kind = EVENT_MESSAGE, .token = 1, .peer = &peer, .message = &message});
}

/* -------------------------------------------------------------------------------------------------------------- life */

static struct tree *ad_read(struct symbols *symbols, const char *text)
{
    struct err err = {0};
    struct tree *ad = form_parse(symbols, &dialect_classic, FORM_CLASSAD, NULL, text, strlen(text), &err);

    if (!ad)
        fprintf(stderr, "%s\n", err.text);
    return ad;
}

static void signal_came(uv_signal_t *handle, int number)
{
    (void)number;
    uv_stop(handle->loop);
}

/* Its handles are closed by agent_free; ours here. */
static void handle_close(uv_handle_t *handle, void *user)
{
    (void)user;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

/* Until it is told to end, or all jobs are done. */
static void acting_run(struct acting *acting, const char *identity)
{
    static uv_signal_t term;

    for (int i = 0; i < JOBS_MAX; i++) {
        uv_timer_init(&acting->loop, &acting->timers[i].timer);
        acting->timers[i].timer.data = &acting->timers[i];
        acting->timers[i].acting = acting;
    }
    uv_signal_init(&acting->loop, &term);
    uv_signal_start(&term, signal_came, SIGTERM);
    runner_event(agent_runner(acting->live), &(struct event){.kind = EVENT_BOOTED});
    if (acting->is_customer) {
        submit(acting, identity);
        uv_timer_init(&acting->loop, &acting->watch);
        acting->watch.data = acting;
        uv_timer_start(&acting->watch, watch_due, 20, 20);
    } else {
        struct tree *probed = ad_read(acting->ads[0]->symbols, "[State = \"Idle\"]");

        runner_event(agent_runner(acting->live), &(struct event){.kind = EVENT_PROBED, .ad = probed});
        tree_unref(probed);
    }
    say("up %s", agent_address(acting->live));
    uv_run(&acting->loop, UV_RUN_DEFAULT);
}

static void shelf_broke(void *user, const char *why)
{
    (void)user;
    fprintf(stderr, "the shelf is broken: %s\n", why);
    exit(3);
}

int main(int argc, char **argv)
{
    static struct acting acting;
    static struct log log;
    struct networks networks;
    struct token_file token;
    struct agent_settings settings = {.spans = &acting.spans};
    const char *lease = getenv("LEASE_MS");
    char path[PATH_MAX];
    struct err err = {0};
    int64_t span;

    if (argc < 9)
        return 2;
    signal(SIGPIPE, SIG_IGN);
    mkdir(argv[4], 0700);
    snprintf(path, sizeof path, "%s/berth.db", argv[4]);
    settings.shelf = store_open(path, &err);
    if (!settings.shelf || token_file_read(argv[5], &token, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    span = (lease ? atoi(lease) : 300) * MILLISECOND;
    acting.spans = spans_default;
    acting.spans.lease = span;
    acting.spans.pin = acting.spans.window = span;
    acting.spans.deadline = span;
    acting.spans.retry = span / 10;
    acting.spans.lifetime = span * 4 > SECOND ? span * 4 : SECOND;
    acting.spans.grace = span / 3;
    acting.is_customer = !strcmp(argv[1], "customer");
    acting.job_ms = atoi(argv[7]);
    acting.jobs = (uint64_t)atoi(argv[7]);
    uv_loop_init(&acting.loop);
    log_init(&log, STDERR_FILENO, LOG_LOGFMT, getenv("LOUD") ? LEVEL_DEBUG : LEVEL_INFO, NULL, NULL);
    networks_init(&networks);
    networks_add(&networks, "127.0.0.0/8", &err);
    networks_add(&networks, "10.0.0.0/8", &err);
    settings.role = acting.is_customer ? &customer_role : &provider_role;
    settings.role_settings = acting.is_customer ? (void *)&acting.customer : (void *)&acting.provider;
    settings.log = &log;
    settings.matchmakers = (const char *const *)&argv[8];
    settings.matchmaker_count = (size_t)(argc - 8);
    settings.token = &token;
    settings.identity = argv[3];
    settings.name = argv[2];
    settings.listen = strcmp(argv[6], "-") ? argv[6] : NULL;
    settings.networks = &networks;
    settings.version = "test";
    settings.job = job_effect;
    settings.broken = shelf_broke;
    settings.user = &acting;
    acting.provider = (struct provider_settings){.self = agent_self(argv[3], argv[2]),
                                                 .matchmaker = agent_matchmaker(),
                                                 .spans = &acting.spans,
                                                 .identity = argv[3],
                                                 .ids = acting.ids,
                                                 .ads = acting.ads,
                                                 .count = 1};
    acting.customer = (struct customer_settings){
        .self = agent_self(argv[3], argv[2]), .matchmaker = agent_matchmaker(), .spans = &acting.spans};
    acting.ids[0] = id_number(argv[2], strlen(argv[2]));
    settings.symbols = names_new(1);
    acting.ads[0] = ad_read(settings.symbols, "[Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\"]");
    acting.request =
        ad_read(settings.symbols, "[Type = \"Job\"; ImageSize = 32; Constraint = other.Memory >= ImageSize]");
    acting.live = agent_new(&acting.loop, &settings, &err);
    if (!acting.live) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    acting_run(&acting, argv[3]);
    agent_free(acting.live);
    uv_walk(&acting.loop, handle_close, NULL);
    while (uv_run(&acting.loop, UV_RUN_DEFAULT))
        ;
    uv_loop_close(&acting.loop);
    settings.shelf->kind->close(settings.shelf);
    tree_unref(acting.ads[0]);
    tree_unref(acting.request);
    symbols_free(settings.symbols);
    token_file_done(&token);
    networks_done(&networks);
    return 0;
}
