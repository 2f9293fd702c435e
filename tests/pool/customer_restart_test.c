/* customer_restart_test.c: a customer that restarts attaches to its claims, and takes no result twice. */
#include "office.h"

/* --------------------------------------------------------------------------------------------------------- restarts */

static void attach_after_restart(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB);
    uint64_t epoch = host.epoch;

    world_stop(o.w);
    o.w->slow = true;
    o.w->env.now += SECOND;
    world_start(o.w);
    tap_ok(job_is(&o, host.job, JOB_RUNNING) && root_of(&o, 1001).view.state == ROOT_ATTACHING,
           "a customer that restarts asks for each recorded claim");
    tap_ok(sent_count(o.w, MESSAGE_ATTACH) == 0, "but not before the new epoch is durable");
    world_durable(o.w);
    tap_ok(is_asked(&o, &host, MESSAGE_ATTACH) && asked(&o, &host)->message.u.attach.epoch > epoch &&
               row_of(o.w, RECORD_BRANCH, 1)->u.branch_record.epoch == asked(&o, &host)->message.u.attach.epoch,
           "then it names it");
    o.w->slow = false;
    tap_ok(beat(&o, &host) != REASON_OK, "no heart beat is acknowledged before it has attached");
    host.epoch = asked(&o, &host)->message.u.attach.epoch;
    tap_ok(beat(&o, &host) != REASON_OK, "not of the new epoch either");
    host_until(&o, &host, MESSAGE_NONE);
    tap_ok(root_of(&o, 1001).view.state == ROOT_RUNNING && job_is(&o, host.job, JOB_RUNNING) && host.starts == 1,
           "a job that still runs goes on");
    tap_ok(beat(&o, &host) == REASON_OK, "and its heart beats are acknowledged");
    host.epoch = epoch;
    tap_ok(beat(&o, &host) != REASON_OK, "but not those of the epoch before");
    tap_ok(result(&o, &host, 0) == REASON_OK && job_is(&o, host.job, JOB_DONE), "its result is taken");
    world_free(o.w, "attach");
}

static void restart_waits(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB);
    int64_t lease;

    world_restart(o.w, false, SECOND);
    lease = o.w->env.now + o.w->spans.lease + o.w->spans.lease / 10;
    pass(o.w, 5 * SECOND);
    tap_ok(is_asked(&o, &host, MESSAGE_ATTACH), "a claim that does not answer is asked");
    pass(o.w, lease - o.w->env.now - 1);
    tap_ok(job_is(&o, host.job, JOB_RUNNING) && !asks_for(&o, "Count == 2"),
           "and its job is not run elsewhere for a lease and its margin from the restart");
    pass(o.w, 2);
    tap_ok(job_is(&o, host.job, JOB_IDLE) && asks_for(&o, "Count == 1"), "and then it is");
    world_free(o.w, "a restart that waits");
}

static void restart_refused(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB);
    int64_t lease;

    world_restart(o.w, true, SECOND);
    lease = o.w->env.now + o.w->spans.lease + o.w->spans.lease / 10;
    host_attached(&o, &host, REASON_BUSY, true);
    tap_ok(pass_to(o.w, MESSAGE_ATTACH, 20 * SECOND), "a machine that is busy ending the job is asked again");
    host_attached(&o, &host, REASON_STALE, true);
    pass(o.w, lease - o.w->env.now - 1);
    tap_ok(!job_is(&o, host.job, JOB_IDLE),
           "a claim that somebody has attached to with a higher epoch is not run elsewhere within its lease");
    pass(o.w, 2);
    tap_ok(job_is(&o, host.job, JOB_IDLE), "and is after it");
    world_free(o.w, "an attachment that is refused");
}

static void release_repeated(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB);

    result(&o, &host, 0);
    host_says(&o, &host, REASON_BUSY);
    tap_ok(pass_to(o.w, MESSAGE_RELEASE, 20 * SECOND), "a release is repeated until the machine is released");
    host_says(&o, &host, REASON_RELEASED);
    tap_ok(!pass_to(o.w, MESSAGE_RELEASE, MINUTE) && row_count(o.w, RECORD_BRANCH) == 0, "and then no more");
    world_free(o.w, "release");
}

static void restart_lost(void)
{
    static const enum reason reasons[] = {REASON_LOST, REASON_UNKNOWN};

    for (size_t i = 0; i < 2; i++) {
        struct office o;
        struct host host = office_running(&o, 1, JOB);

        world_restart(o.w, true, SECOND);
        host_attached(&o, &host, reasons[i], false);
        pass(o.w, SECOND);
        tap_ok(job_is(&o, host.job, JOB_IDLE) && asks_for(&o, "Count == 1"),
               "a claim that is answered `%s` sets its job free at once", reason_words(reasons[i]));
        world_free(o.w, "a lost claim");
    }
}

static void restart_and_started(void)
{
    struct office o;
    struct host host;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_START);
    world_restart(o.w, true, SECOND);
    tap_ok(is_asked(&o, &host, MESSAGE_ATTACH), "a claim whose start was never answered is attached to");
    host_attached(&o, &host, REASON_OK, false);
    pass(o.w, SECOND);
    if (is_asked(&o, &host, MESSAGE_ACTIVATE))
        host_agrees(&o, &host);
    tap_ok(is_asked(&o, &host, MESSAGE_START) || is_asked(&o, &host, MESSAGE_RELEASE),
           "a start that never arrived is sent again, or the claim is given back");
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(host.starts == 1 ? job_is(&o, host.job, JOB_RUNNING) : jobs_in(&o, JOB_IDLE) == 1,
           "so that the job runs here, or can run elsewhere");
    world_free(o.w, "a restart before the start");
}

static void restart_before_decision(void)
{
    struct office o;
    struct host host;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_COMMIT);
    o.w->slow = true;
    host_agrees(&o, &host);
    world_restart(o.w, true, SECOND);
    world_durable(o.w);
    o.w->slow = false;
    matchmaker_answers(o.w);
    tap_ok(jobs_in(&o, JOB_IDLE) == 1 && sent_count(o.w, MESSAGE_ATTACH) == 0,
           "a decision that was not durable has never been");
    tap_ok(ask(&o, &host) == REASON_ABORT, "and a machine that asks for it hears abort");
    world_free(o.w, "a restart before the decision");
}

static void restart_before_activation(void)
{
    struct office o;
    struct host host;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_ACTIVATE);
    world_restart(o.w, true, SECOND);
    tap_ok(ask(&o, &host) == REASON_WAIT, "a customer that has the record of a decision answers wait");
    tap_ok(is_asked(&o, &host, MESSAGE_ATTACH), "and attaches");
    host_attached(&o, &host, REASON_OK, false);
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(host.starts == 1 ? job_is(&o, host.job, JOB_RUNNING) : jobs_in(&o, JOB_IDLE) == 1,
           "the job runs there, or can run elsewhere");
    world_free(o.w, "a restart before the activation");
}

static void result_before_attach(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB);

    world_restart(o.w, true, SECOND);
    tap_ok(result(&o, &host, 0) == REASON_OK && job_is(&o, host.job, JOB_DONE),
           "a result whose claim and number are recorded is taken before re-attachment as well");
    pass(o.w, SECOND);
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, MINUTE);
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, 2 * MINUTE);
    tap_ok(!root_of(&o, 1001).found && row_count(o.w, RECORD_BRANCH) == 0, "and the claim is given back");
    world_free(o.w, "a result before attaching");
}

static void result_after_attach(void)
{
    struct office o;
    struct host host = office_running(&o, 2, JOB);
    uint64_t first = host.job;

    world_restart(o.w, true, SECOND);
    host_attached(&o, &host, REASON_OK, false);
    pass(o.w, SECOND);
    tap_ok(job_is(&o, first, JOB_RUNNING) && !is_asked(&o, &host, MESSAGE_START),
           "a job that ended while its customer was down is not started again: its result is to come");
    tap_ok(result(&o, &host, 0) == REASON_OK && job_is(&o, first, JOB_DONE), "and is taken when it does");
    host_until(&o, &host, MESSAGE_NONE);
    tap_ok(host.job != first && host.number == 2, "and the claim does the next job");
    world_free(o.w, "a result after attaching");
}

static void result_of_a_held_job(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB);
    enum reason reason;

    control(&o, &raman, host.job, CONTROL_HOLD);
    reason = result(&o, &host, 0);
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, MINUTE);
    tap_ok(job_is(&o, host.job, reason == REASON_OK ? JOB_DONE : JOB_HELD),
           "a result that crosses a hold is acknowledged only if the job is done by it");
    world_free(o.w, "a result that crosses a hold");
}

/* The rows are of a backup. */
static void ended_since(void)
{
    struct office o;
    struct host host = office_running(&o, 3, JOB);
    struct event ended = {
        .kind = EVENT_ENDED, .job = host.job, .number = JOB_DONE, .reason = REASON_EXITED, .status = 3, .at = NOON};

    world_stop(o.w);
    o.w->first = &ended;
    world_start(o.w);
    tap_ok(job_is(&o, host.job, JOB_DONE) && job_of(&o, host.job).status == 3 && customer_ended_since(o.w->role) == 1,
           "a job that ran, and has ended since the rows were copied, has ended");
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, 5 * MINUTE);
    tap_ok(job_is(&o, host.job, JOB_DONE) && host.starts == 1 && asks_for(&o, "Count == 2"), "it does not run again");
    world_stop(o.w);
    ended.job = host.job + 1;
    ended.number = JOB_REMOVED;
    world_start(o.w);
    tap_ok(job_is(&o, host.job + 1, JOB_REMOVED) && job_is(&o, host.job, JOB_DONE) && asks_for(&o, "Count == 1"),
           "nor does one that waited when they were");
    world_stop(o.w);
    ended.job = host.job + 500;
    world_start(o.w);
    tap_ok(customer_ended_since(o.w->role) == 0 && customer_count(o.w->role) == 3,
           "one of which the rows do not know changes nothing");
    world_stop(o.w);
    ended.job = host.job;
    ended.number = JOB_IDLE;
    world_start(o.w);
    tap_ok(job_is(&o, host.job, JOB_DONE) && customer_ended_since(o.w->role) == 0,
           "nor does what is not an end, or one that is known");
    o.w->first = NULL;
    world_restart(o.w, true, SECOND);
    tap_ok(job_is(&o, host.job + 1, JOB_REMOVED), "the rows know it from then on");
    world_free(o.w, "ended since");
}

int main(void)
{
    attach_after_restart();
    restart_waits();
    restart_lost();
    restart_refused();
    release_repeated();
    restart_and_started();
    restart_before_decision();
    restart_before_activation();
    result_before_attach();
    result_after_attach();
    result_of_a_held_job();
    ended_since();
    return tap_done();
}
