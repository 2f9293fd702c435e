/* customer_times_test.c: jobs that are to begin at a time, and those whose time is over before they have begun. */
#include "office.h"

/* A job whose ad names these seconds after noon; INT64_MAX: it does not name that one. */
static uint64_t submit_at(struct office *o, const char *key, int64_t begins, int64_t ends, const char *more)
{
    char text[300];
    int at = snprintf(text, sizeof text, "[ Type = \"Job\"; Constraint = other.Memory >= 64; %s", more);

    if (begins != INT64_MAX)
        at += snprintf(text + at, sizeof text - (size_t)at, "; NotBefore = %lld", (long long)(NOON + begins));
    if (ends != INT64_MAX)
        at += snprintf(text + at, sizeof text - (size_t)at, "; FinishBy = %lld", (long long)(NOON + ends));
    snprintf(text + at, sizeof text - (size_t)at, " ]");
    return submit(o, key, 2, text).first;
}

static bool given_up(struct office *o, uint64_t job, enum reason why)
{
    return job_is(o, job, JOB_ABORTED) && job_of(o, job).reason == why;
}

static void not_before(void)
{
    struct office o;
    uint64_t first;

    office_start(&o);
    first = submit_at(&o, "k", 600, INT64_MAX, "A = 1");
    pass(o.w, 9 * MINUTE + 59 * SECOND);
    tap_ok(job_of(&o, first).early && job_of(&o, first).begins == NOON + 600 && !o.w->puts,
           "no pool hears of a job whose time has not come");
    pass(o.w, SECOND + SECOND / 2);
    tap_ok(!job_of(&o, first).early && asks_for(&o, "Count == 2"), "when it comes, the job is offered");
    world_free(o.w, "a job that begins at a time");

    office_start(&o);
    first = submit_at(&o, "k", -5, INT64_MAX, "A = 1");
    pass(o.w, SECOND);
    tap_ok(!job_of(&o, first).early && asks_for(&o, "Count == 2"), "a time that is over changes nothing");
    world_free(o.w, "a time that is over");

    office_start(&o);
    first = submit_at(&o, "k", INT64_MAX, INT64_MAX, "NotBefore = 4611686018427387904; QueueLimit = 60");
    pass(o.w, 2 * MINUTE);
    tap_ok(job_of(&o, first).early && job_is(&o, first, JOB_IDLE),
           "before a time that never comes nobody waits too long");
    world_free(o.w, "a time that never comes");
}

static void not_before_over_restarts(void)
{
    struct office o;
    uint64_t first;

    office_start(&o);
    first = submit_at(&o, "k", 600, INT64_MAX, "A = 1");
    world_restart(o.w, true, MINUTE);
    pass(o.w, 5 * MINUTE);
    tap_ok(job_of(&o, first).early && !o.w->puts, "a restart does not let it begin");
    world_restart(o.w, false, 20 * MINUTE);
    pass(o.w, SECOND);
    tap_ok(!job_of(&o, first).early && asks_for(&o, "Count == 2"),
           "and one that lasts longer than that: it is offered when the customer is back");
    world_free(o.w, "a job that begins at a time, and restarts");
}

static void clock_jumps(void)
{
    struct office o;
    uint64_t first;

    office_start(&o);
    first = submit_at(&o, "k", 6 * 3600, INT64_MAX, "A = 1");
    pass(o.w, MINUTE);
    o.w->env.wall += 7 * HOUR;
    pass(o.w, MINUTE + SECOND);
    tap_ok(!job_of(&o, first).early && asks_for(&o, "Count == 2"),
           "when somebody puts the clock forward, the time has come within a minute");
    world_free(o.w, "a clock that is put forward");

    office_start(&o);
    first = submit_at(&o, "k", 600, INT64_MAX, "A = 1");
    pass(o.w, 9 * MINUTE);
    o.w->env.wall -= HOUR;
    pass(o.w, 30 * MINUTE);
    tap_ok(job_of(&o, first).early && !o.w->puts, "when he puts it back, the time is as far off as the clock says");
    pass(o.w, 31 * MINUTE + 2 * SECOND);
    tap_ok(!job_of(&o, first).early, "and comes");
    o.w->env.wall -= HOUR;
    pass(o.w, 2 * SECOND);
    tap_ok(asks_for(&o, "Count == 2"), "what is offered is not taken back for a clock");
    world_free(o.w, "a clock that is put back");
}

static void finish_by(void)
{
    struct office o;
    uint64_t first;

    office_start(&o);
    first = submit_at(&o, "k", INT64_MAX, 600, "A = 1");
    pass(o.w, 9 * MINUTE + 59 * SECOND);
    tap_ok(jobs_in(&o, JOB_IDLE) == 2 && asks_for(&o, "Count == 2"), "a job waits until its FinishBy");
    pass(o.w, SECOND + SECOND / 2);
    tap_ok(given_up(&o, first, REASON_FINISH) && given_up(&o, first + 1, REASON_FINISH),
           "and is given up then, for that reason");
    world_restart(o.w, true, SECOND);
    tap_ok(given_up(&o, first, REASON_FINISH), "a restart changes nothing about it");
    world_free(o.w, "a job that waits until its FinishBy");

    office_start(&o);
    first = submit_at(&o, "k", INT64_MAX, 600, "A = 1");
    world_restart(o.w, true, 20 * MINUTE);
    pass(o.w, SECOND);
    tap_ok(given_up(&o, first, REASON_FINISH), "it came while the customer was down");
    world_free(o.w, "a FinishBy while the customer is down");

    office_start(&o);
    first = submit_at(&o, "k", INT64_MAX, -1, "A = 1");
    pass(o.w, SECOND);
    tap_ok(given_up(&o, first, REASON_FINISH), "it was over when the job came");
    world_free(o.w, "a FinishBy that is over");

    office_start(&o);
    first = submit_at(&o, "k", 60, 600, "A = 1");
    control(&o, &raman, first, CONTROL_HOLD);
    pass(o.w, 11 * MINUTE);
    tap_ok(job_is(&o, first, JOB_HELD) && given_up(&o, first + 1, REASON_FINISH), "a job that is held does not wait");
    control(&o, &raman, first, CONTROL_RELEASE);
    pass(o.w, SECOND);
    tap_ok(given_up(&o, first, REASON_FINISH), "until it is released");
    world_free(o.w, "a held job and its FinishBy");
}

static void running_jobs_are_left_alone(void)
{
    char text[200];
    struct office o;
    struct host host;

    snprintf(text, sizeof text, "[ Type = \"Job\"; Constraint = other.Memory >= 64; FinishBy = %lld ]",
             (long long)(NOON + 600));
    host = office_running(&o, 1, text);
    o.w->env.wall += HOUR;
    control(&o, &raman, host.job, CONTROL_COUNT);
    tap_ok(job_is(&o, host.job, JOB_RUNNING), "a job that runs at its FinishBy is left to run");
    world_drop(o.w);
}

static void queue_limit_counts_from_there(void)
{
    struct office o;
    uint64_t first;

    office_start(&o);
    first = submit_at(&o, "k", 600, INT64_MAX, "QueueLimit = 60");
    pass(o.w, 10 * MINUTE + 55 * SECOND);
    tap_ok(job_is(&o, first, JOB_IDLE), "what comes before NotBefore does not count to QueueLimit");
    pass(o.w, 10 * SECOND);
    tap_ok(given_up(&o, first, REASON_QUEUE), "what comes after does");
    world_free(o.w, "QueueLimit and NotBefore");
}

static void numbers_out_of_range(void)
{
    struct office o;
    uint64_t first;

    office_start(&o);
    first = submit(&o, "a", 1, "[ Type = \"Job\"; NotBefore = 9223372036854775807; Constraint = true ]").first;
    submit(&o, "b", 1, "[ Type = \"Job\"; FinishBy = 9223372036854775807; Constraint = true ]");
    submit(&o, "c", 1, "[ Type = \"Job\"; FinishBy = -9223372036854775807; Constraint = true ]");
    submit(&o, "d", 1, "[ Type = \"Job\"; NotBefore = \"noon\"; FinishBy = { 1 }; Constraint = true ]");
    pass(o.w, 2 * MINUTE);
    tap_ok(job_of(&o, first).early && job_is(&o, first + 1, JOB_IDLE) && given_up(&o, first + 2, REASON_FINISH) &&
               !job_of(&o, first + 3).early,
           "the largest times never come, the smallest have, and what is no time says nothing");
    world_free(o.w, "times out of range");
}

static void planned_start(void)
{
    struct office o;
    uint64_t first;
    int64_t told;

    office_start(&o);
    o.w->planned = 600 * SECOND;
    first = submit(&o, "k", 2, "[ Type = \"Job\"; Constraint = true ]").first;
    pass(o.w, SECOND);
    told = job_of(&o, first).planned - 600 * SECOND;
    tap_ok(told <= o.w->env.now && told >= o.w->env.now - SECOND && !strcmp(job_of(&o, first).planned_on, "heron"),
           "what its pool says of the beginning of a request is known of its first job");
    tap_ok(job_of(&o, first + 1).planned == INT64_MAX, "and of no other");
    tap_ok(job_of(&o, first).planned_until == told + o.w->spans.lifetime, "for a lifetime, unless it is told again");
    control(&o, &raman, first, CONTROL_HOLD);
    tap_ok(job_of(&o, first).planned == INT64_MAX && job_of(&o, first + 1).planned != INT64_MAX,
           "when that one is held it is known of the next");
    o.w->planned = 0;
    pass(o.w, o.w->spans.lifetime / 2);
    tap_ok(job_of(&o, first + 1).planned == INT64_MAX, "a plan that is not told again is over");
    world_free(o.w, "a planned start");
}

int main(void)
{
    planned_start();
    not_before();
    not_before_over_restarts();
    clock_jumps();
    finish_by();
    running_jobs_are_left_alone();
    queue_limit_counts_from_there();
    numbers_out_of_range();
    return tap_done();
}
