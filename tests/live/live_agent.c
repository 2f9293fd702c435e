/* live_agent.c: a provider or a customer over real HTTP, with jobs that only sleep: for tests that start it as a process.
 *
 *     live_agent provider NAME IDENTITY STATE TOKEN LISTEN|- JOB_MS MATCHMAKER...
 *     live_agent customer NAME IDENTITY STATE TOKEN LISTEN|- JOBS   MATCHMAKER...
 *
 * With $CONTACT it tells others that it is called there. Prints a line for each thing that a test wants to know: `start CLAIM NUMBER JOB` and `end CLAIM` by a provider, `done N` and `all` by a customer. The
 * spans are short: a lease of 300 ms unless $LEASE_MS says otherwise. */
#include "acting.h"

#include "pool/customer/customer.h"

#include <stdarg.h>

#define JOBS_MAX 64

struct job_timer {
    uv_timer_t timer;
    struct live *live;
    uint64_t claim, number;
    bool used;
};

struct live {
    struct acting is;
    struct customer_settings customer;
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

static void job_tell(struct live *live, uint64_t claim, uint64_t number, enum job_news news, enum reason reason)
{
    say("end %016llx %llu", (unsigned long long)claim, (unsigned long long)number);
    runner_event(agent_runner(live->is.live), &(struct event){.kind = EVENT_JOB,
                                                              .news = news,
                                                              .claim = claim,
                                                              .number = number,
                                                              .reason = reason,
                                                              .used = live->job_ms * MILLISECOND});
}

static void job_ended(uv_timer_t *timer)
{
    struct job_timer *job = timer->data;

    job->used = false;
    job_tell(job->live, job->claim, job->number, JOB_EXITED, REASON_EXITED);
}

static void job_effect(void *user, const struct effect *effect)
{
    struct live *live = user;
    struct job_timer *job = NULL;

    for (int i = 0; i < JOBS_MAX; i++)
        if (effect->kind == EFFECT_JOB ? !live->timers[i].used
                                       : live->timers[i].used && live->timers[i].claim == effect->claim)
            job = &live->timers[i];
    if (effect->kind == EFFECT_JOB && job) {
        job->used = true;
        job->claim = effect->claim;
        job->number = effect->number;
        say("start %016llx %llu %llu", (unsigned long long)effect->claim, (unsigned long long)effect->number,
            (unsigned long long)effect->job);
        uv_timer_start(&job->timer, job_ended, (uint64_t)live->job_ms, 0);
    } else if (effect->kind == EFFECT_STOP) {
        uint64_t number = job ? job->number : 0;

        if (job) {
            uv_timer_stop(&job->timer);
            job->used = false;
            say("stopped %016llx", (unsigned long long)effect->claim);
        }
        job_tell(live, effect->claim, number, JOB_GONE, REASON_RELEASED);
    }
}

/* ---------------------------------------------------------------------------------------------------------- customer */

static void count_done(void *user, const struct job_view *view)
{
    *(uint64_t *)user += view->state == JOB_DONE;
}

static void watch_due(uv_timer_t *timer)
{
    struct live *live = timer->data;
    uint64_t done = 0;

    customer_each(runner_role(agent_runner(live->is.live)), count_done, &done);
    if (done != live->told)
        say("done %llu", (unsigned long long)done);
    live->told = done;
    if (done >= live->jobs) {
        struct agent_counts counts = agent_counts(live->is.live);

        say("all %llu sent=%llu answered=%llu relayed=%llu failed_over=%llu", (unsigned long long)done,
            (unsigned long long)counts.sent, (unsigned long long)counts.answered, (unsigned long long)counts.relayed,
            (unsigned long long)counts.failed_over);
        uv_stop(timer->loop);
    }
}

static void submit(struct live *live, const char *identity)
{
    struct message message = {.kind = MESSAGE_SUBMIT};
    struct peer peer = {.agent = 1, .identity = identity};

    memset(&message.u, 0, sizeof message.u);
    text_set(&message.u.submit.key, "once", 4);
    text_set(&message.u.submit.owner, identity, strlen(identity));
    message.u.submit.count = live->jobs;
    message.u.submit.ad = live->request;
    runner_event(agent_runner(live->is.live),
                 &(struct event){.kind = EVENT_MESSAGE, .token = 1, .peer = &peer, .message = &message});
}

/* -------------------------------------------------------------------------------------------------------------- life */

/* Until it is told to end, or all jobs are done. */
static void live_run(struct live *live, const char *identity)
{
    for (int i = 0; i < JOBS_MAX; i++) {
        uv_timer_init(&live->is.loop, &live->timers[i].timer);
        live->timers[i].timer.data = &live->timers[i];
        live->timers[i].live = live;
    }
    if (live->is_customer) {
        submit(live, identity);
        uv_timer_init(&live->is.loop, &live->watch);
        live->watch.data = live;
        uv_timer_start(&live->watch, watch_due, 20, 20);
    } else {
        acting_probed(&live->is);
    }
    say("up %s", agent_address(live->is.live));
    uv_run(&live->is.loop, UV_RUN_DEFAULT);
}

static void spans_shorten(struct spans *spans)
{
    const char *lease = getenv("LEASE_MS");
    int64_t span = (lease ? atoi(lease) : 300) * MILLISECOND;

    spans->lease = span;
    spans->pin = spans->window = span;
    spans->deadline = span;
    spans->retry = span / 10;
    spans->lifetime = span * 4 > SECOND ? span * 4 : SECOND;
    spans->grace = span / 3;
}

int main(int argc, char **argv)
{
    static struct live live;
    struct agent_settings *settings = &live.is.settings;
    struct err err = {0};

    if (argc < 9 ||
        !acting_init(&live.is, argv[2], argv[3], argv[4], argv[5], (const char *const *)&argv[8], (size_t)(argc - 8)))
        return 2;
    spans_shorten(&live.is.spans);
    networks_add(&live.is.networks, "10.0.0.0/8", &err);
    live.is_customer = !strcmp(argv[1], "customer");
    live.job_ms = atoi(argv[7]);
    live.jobs = (uint64_t)atoi(argv[7]);
    live.customer = (struct customer_settings){
        .self = agent_self(argv[3], argv[2]), .matchmaker = agent_matchmaker(), .spans = &live.is.spans};
    if (live.is_customer) {
        settings->role = &customer_role;
        settings->role_settings = &live.customer;
    }
    settings->listen = strcmp(argv[6], "-") ? argv[6] : NULL;
    settings->contact = getenv("CONTACT");
    settings->job = job_effect;
    settings->user = &live;
    live.is.ads[0] =
        ad_read(settings->symbols, "[Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\"]");
    live.request =
        ad_read(settings->symbols, "[Type = \"Job\"; ImageSize = 32; Constraint = other.Memory >= ImageSize]");
    if (!acting_start(&live.is))
        return 2;
    live_run(&live, argv[3]);
    tree_unref(live.request);
    acting_done(&live.is);
    return 0;
}
