/* customer_jobs_test.c: jobs by the thousand are submitted, held, removed and forgotten, and those of a workflow come in their order. */
#include "office.h"

/* ------------------------------------------------------------------------------------------------------- submission */

static void submission_is_durable(void)
{
    struct office o;
    struct submitted first, again;

    office_start(&o);
    o.w->slow = true;
    tap_ok(submit(&o, "k", 2, JOB).reason == REASON_COUNT, "a submission is not acknowledged before it is durable");
    world_restart(o.w, true, SECOND);
    world_durable(o.w);
    tap_ok(jobs_queued(&o) == 0, "a crash before that leaves no job");
    submit(&o, "k", 2, JOB);
    world_durable(o.w);
    first = reply(o.w)->u.submitted;
    tap_ok(reply(o.w)->kind == MESSAGE_SUBMITTED && first.reason == REASON_OK && first.count == 2 && first.first,
           "then the first job's number and their count are told");
    world_restart(o.w, false, SECOND);
    world_durable(o.w);
    o.w->slow = false;
    tap_ok(job_is(&o, first.first, JOB_IDLE) && job_is(&o, first.first + 1, JOB_IDLE) && jobs_queued(&o) == 2,
           "what was acknowledged is there after a reboot");
    again = submit(&o, "k", 2, JOB);
    tap_ok(again.reason == REASON_OK && again.first == first.first && again.count == 2 && jobs_queued(&o) == 2,
           "a submission repeated with its key has the first answer again, and makes no more jobs");
    tap_ok(submit(&o, "k", 2, OTHER_JOB).reason == REASON_CONFLICT && jobs_queued(&o) == 2,
           "the same key with another ad is a conflict");
    tap_ok(submit(&o, "k", 3, JOB).reason == REASON_CONFLICT && jobs_queued(&o) == 2, "or with another count");
    tap_ok(submit_as(&o, &calvin, "calvin", "k", 1, JOB).reason == REASON_OK && jobs_queued(&o) == 3,
           "another user's key is another key");
    again = submit(&o, "k2", 1, JOB);
    tap_ok(again.reason == REASON_OK && again.first > first.first + 1 && jobs_queued(&o) == 4,
           "another key makes another job, with a number of its own");
    world_free(o.w, "submission");
}

static void submission_is_checked(void)
{
    struct office o;
    struct peer portal = {.agent = 92, .identity = "portal", .any = true, .channel = 92};

    office_start(&o);
    tap_ok(submit_as(&o, &raman, "calvin", "k", 1, JOB).reason == REASON_IDENTITY && jobs_queued(&o) == 0,
           "nobody submits in another's name");
    tap_ok(submit_as(&o, &portal, "calvin", "k", 1, JOB).reason == REASON_OK, "but who may act for any user");
    tap_ok(asks_for(&o, "Owner == \"calvin\""), "the request is that user's");
    tap_ok(submit(&o, "mine", 1, "[ Type = \"Job\"; Owner = \"calvin\" ]").reason != REASON_OK ||
               asks_for(&o, "Owner == \"raman\""),
           "an owner that is written in an ad is not believed");
    tap_ok(submit(&o, "a", 1, NULL).reason == REASON_INVALID, "a job without an ad is refused");
    tap_ok(submit(&o, "b", 0, JOB).reason != REASON_OK, "no jobs are refused");
    tap_ok(submit(&o, "c", CUSTOMER_SUBMIT_MAX + 1, JOB).reason == REASON_LIMIT, "too many jobs are past a limit");
    tap_ok(submit(&o, "d", UINT64_MAX, JOB).reason == REASON_LIMIT, "however many");
    world_free(o.w, "checks of a submission");
}

static void submission_limits(void)
{
    struct office o;
    uint64_t first;

    office_start(&o);
    world_stop(o.w);
    o.settings.jobs_max = 5;
    world_start(o.w);
    tap_ok(submit(&o, "a", 6, JOB).reason == REASON_LIMIT && jobs_queued(&o) == 0,
           "a submission past the limit is refused whole");
    first = submit(&o, "b", 5, JOB).first;
    tap_ok(jobs_queued(&o) == 5, "one up to the limit is taken");
    tap_ok(submit(&o, "c", 1, OTHER_JOB).reason == REASON_LIMIT && jobs_queued(&o) == 5, "the next is not");
    tap_ok(submit_as(&o, &calvin, "calvin", "c", 5, JOB).reason == REASON_OK, "the limit is each user's own");
    tap_ok(submit(&o, "b", 5, JOB).reason == REASON_OK && jobs_queued(&o) == 10, "a repeat is no new job");
    control(&o, &raman, first, CONTROL_REMOVE);
    tap_ok(submit(&o, "d", 1, JOB).reason == REASON_OK, "what is removed makes room");
    world_stop(o.w);
    o.settings.jobs_all = 12;
    world_start(o.w);
    tap_ok(submit_as(&o, &calvin, "calvin", "e", 3, JOB).reason == REASON_LIMIT,
           "all users together have a limit as well");
    world_free(o.w, "limits");
}

/* ---------------------------------------------------------------------------------------------------------- control */

static void control_of_waiting_jobs(void)
{
    struct office o;
    uint64_t first;

    office_start(&o);
    first = submit(&o, "k", 3, JOB).first;
    tap_ok(control(&o, &calvin, first, CONTROL_HOLD) == REASON_IDENTITY && job_is(&o, first, JOB_IDLE),
           "nobody holds another's job");
    tap_ok(control(&o, &raman, 4711, CONTROL_HOLD) == REASON_UNKNOWN, "a job that is not there is unknown");
    tap_ok(control(&o, &raman, first, CONTROL_COUNT) == REASON_INVALID && job_is(&o, first, JOB_IDLE),
           "so is a verb that is none");
    o.w->slow = true;
    tap_ok(control(&o, &raman, first, CONTROL_HOLD) == REASON_COUNT, "a hold is not acknowledged before it is durable");
    world_durable(o.w);
    o.w->slow = false;
    matchmaker_answers(o.w);
    pass(o.w, SECOND);
    tap_ok(reason_of(reply(o.w)) == REASON_OK && job_is(&o, first, JOB_HELD) && asks_for(&o, "Count == 2"),
           "a job that is held is not asked for");
    tap_ok(control(&o, &raman, first, CONTROL_HOLD) == REASON_OK, "it may be held twice");
    world_restart(o.w, true, SECOND);
    pass(o.w, SECOND);
    tap_ok(job_is(&o, first, JOB_HELD) && asks_for(&o, "Count == 2"), "and is after a restart");
    control(&o, &raman, first, CONTROL_RELEASE);
    pass(o.w, SECOND);
    tap_ok(job_is(&o, first, JOB_IDLE) && asks_for(&o, "Count == 3"), "until it is released");
    tap_ok(control(&o, &raman, first, CONTROL_REMOVE) == REASON_OK, "a job can be removed");
    pass(o.w, SECOND);
    tap_ok(!job_is(&o, first, JOB_IDLE) && asks_for(&o, "Count == 2"), "and is not asked for any more");
    control(&o, &raman, first, CONTROL_RELEASE);
    tap_ok(!job_is(&o, first, JOB_IDLE), "which no release takes back");
    tap_ok(submit(&o, "k", 3, JOB).first == first && jobs_in(&o, JOB_IDLE) == 2,
           "nor the submission when it is repeated");
    world_free(o.w, "control of waiting jobs");
}

static void control_of_running_jobs(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB);
    uint32_t puts;

    tap_ok(control(&o, &raman, host.job, CONTROL_HOLD) == REASON_OK && is_asked(&o, &host, MESSAGE_RELEASE),
           "a job that runs is held by releasing its claim");
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, MINUTE);
    tap_ok(job_is(&o, host.job, JOB_HELD) && !root_of(&o, 1001).found, "and is held when the machine has let go");
    control(&o, &raman, host.job, CONTROL_RELEASE);
    pass(o.w, SECOND);
    tap_ok(job_is(&o, host.job, JOB_IDLE) && asks_for(&o, "Count == 1"), "then it can be released");
    world_drop(o.w);
    host = office_running(&o, 1, JOB);
    tap_ok(control(&o, &raman, host.job, CONTROL_REMOVE) == REASON_OK && is_asked(&o, &host, MESSAGE_RELEASE),
           "a job that runs is removed by releasing its claim");
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, MINUTE);
    tap_ok(jobs_queued(&o) == 0 && jobs_in(&o, JOB_DONE) == 0, "and is gone then");
    world_drop(o.w);
    host = office_running(&o, 1, JOB);
    control(&o, &raman, host.job, CONTROL_HOLD);
    puts = o.w->puts;
    control(&o, &raman, host.job, CONTROL_RELEASE);
    pass(o.w, o.w->spans.lease);
    tap_ok(reply(o.w)->kind == MESSAGE_GOT && o.w->puts == puts && !job_is(&o, host.job, JOB_IDLE),
           "a job that is held is not run elsewhere while its machine may still run it, even if it is released");
    pass(o.w, o.w->spans.lease);
    tap_ok(!root_of(&o, 1001).found, "its machine is given up when lease and margin are over");
    control(&o, &raman, host.job, CONTROL_RELEASE);
    pass(o.w, SECOND);
    tap_ok(o.w->puts > puts && job_is(&o, host.job, JOB_IDLE), "and then it can be released");
    world_free(o.w, "control of running jobs");
}

static void vacated_jobs(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB);
    uint32_t puts;

    tap_ok(control(&o, &calvin, host.job, CONTROL_VACATE) == REASON_IDENTITY, "nobody sends another's job away");
    tap_ok(control(&o, &raman, host.job, CONTROL_VACATE) == REASON_OK && is_asked(&o, &host, MESSAGE_RELEASE),
           "a job that is sent away from its machine leaves it by a release");
    tap_ok(control(&o, &raman, host.job, CONTROL_VACATE) == REASON_OK, "it may be sent away twice");
    puts = o.w->puts;
    tap_ok(job_is(&o, host.job, JOB_RUNNING) && o.w->puts == puts,
           "it waits for no other while that one may still run it");
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, MINUTE);
    tap_ok(job_is(&o, host.job, JOB_IDLE) && asks_for(&o, "Count == 1") && !root_of(&o, 1001).found,
           "and then it waits again");
    tap_ok(job_of(&o, host.job).tries == 0, "which is no try of it that failed");
    tap_ok(control(&o, &raman, host.job, CONTROL_VACATE) == REASON_STALE, "one that waits is not sent away");
    world_drop(o.w);
    host = office_running(&o, 1, JOB);
    control(&o, &raman, host.job, CONTROL_VACATE);
    world_restart(o.w, true, SECOND);
    pass(o.w, 2 * o.w->spans.lease);
    tap_ok(job_is(&o, host.job, JOB_IDLE), "a restart in between does not forget it");
    world_free(o.w, "jobs that leave");
}

static bool job_says(struct office *o, uint64_t id, const char *expr)
{
    struct job_view view = job_of(o, id);

    return ad_says(o->w, view.ad, expr);
}

static void edited_jobs(void)
{
#define EDITED "[ Owner = \"raman\"; Type = \"Job\"; Memory = 99; Constraint = other.Memory >= 64 ]"
#define EDITED_2 "[ Owner = \"raman\"; Type = \"Job\"; Memory = 77; Constraint = other.Memory >= 64 ]"
    struct office o;
    struct host host;
    uint64_t first;

    office_start(&o);
    first = submit(&o, "k", 3, JOB).first;
    tap_ok(edit(&o, &calvin, first, EDITED) == REASON_IDENTITY, "nobody edits another's job");
    tap_ok(edit(&o, &raman, first, NULL) == REASON_INVALID, "an edit has an ad");
    o.w->slow = true;
    tap_ok(edit(&o, &raman, first + 1, EDITED) == REASON_COUNT, "an edit is not acknowledged before it is durable");
    world_durable(o.w);
    tap_ok(reply(o.w)->kind == MESSAGE_GOT && reply(o.w)->u.got.reason == REASON_OK, "then it is");
    o.w->slow = false;
    tap_ok(job_says(&o, first + 1, "Memory == 99") && job_says(&o, first, "Memory == 16") &&
               job_says(&o, first + 2, "Memory == 16"),
           "one job of three is another, and the others are not");
    pass(o.w, MINUTE);
    tap_ok(jobs_queued(&o) == 3, "all three wait");
    world_restart(o.w, true, SECOND);
    tap_ok(job_says(&o, first + 1, "Memory == 99") && job_says(&o, first + 2, "Memory == 16") && jobs_queued(&o) == 3,
           "so it is after a crash");
    tap_ok(job_of(&o, first + 1).index == 1, "its place among those submitted with it is the same");
    control(&o, &raman, first, CONTROL_REMOVE);
    control(&o, &raman, first + 2, CONTROL_REMOVE);
    pass(o.w, MINUTE);
    tap_ok(asks_for(&o, "Count == 1 && Memory == 99"), "it is asked for as it is now");
    tap_ok(edit(&o, &raman, first, EDITED_2) == REASON_STALE, "one that is over is not edited");
    tap_ok(edit(&o, &raman, first + 1, "[ Owner = \"raman\"; Universe = \"local\" ]") == REASON_INVALID,
           "where it runs is settled when it is submitted");
    control(&o, &raman, first + 1, CONTROL_HOLD);
    tap_ok(edit(&o, &raman, first + 1, EDITED_2) == REASON_OK && job_is(&o, first + 1, JOB_HELD),
           "one that is held is edited, and stays held");
    control(&o, &raman, first + 1, CONTROL_RELEASE);
    pass(o.w, MINUTE);
    tap_ok(asks_for(&o, "Count == 1 && Memory == 77"), "and is asked for when it is released");
    world_free(o.w, "edited jobs");

    host = office_running(&o, 1, JOB);
    tap_ok(edit(&o, &raman, host.job, EDITED) == REASON_OK && job_is(&o, host.job, JOB_RUNNING) &&
               job_says(&o, host.job, "Memory == 99") && !is_asked(&o, &host, MESSAGE_RELEASE),
           "a job that runs goes on when it is edited");
    world_restart(o.w, true, SECOND);
    tap_ok(job_is(&o, host.job, JOB_RUNNING), "also when the customer begins again");
    pass(o.w, 3 * o.w->spans.lease);
    tap_ok(job_is(&o, host.job, JOB_IDLE) && asks_for(&o, "Memory == 99"),
           "and is begun as edited when its machine is lost");
    world_free(o.w, "an edited job that runs");
#undef EDITED
#undef EDITED_2
}

/* ------------------------------------------------------------------------------------------- many jobs, and their end */

static void forget(struct office *o, uint64_t job)
{
    happen(o->w, &(struct event){.kind = EVENT_FORGET, .job = job});
}

/* The jobs of a submission are done on one claim, one after the other, as far as they go. */
static void jobs_done(struct office *o, struct host *host, uint64_t count)
{
    while (count--) {
        result(o, host, 0);
        host_until(o, host, MESSAGE_NONE);
    }
}

static void many_jobs_are_one_row(void)
{
    struct office o;
    struct submitted jobs;

    office_start(&o);
    jobs = submit(&o, "k", CUSTOMER_SUBMIT_MAX, JOB);
    tap_ok(jobs.reason == REASON_OK && row_count(o.w, RECORD_JOB) == 0 && row_count(o.w, RECORD_KEY) == 1,
           "jobs to which nothing has happened have no row of their own");
    world_restart(o.w, true, SECOND);
    tap_ok(customer_count(o.w->role) == CUSTOMER_SUBMIT_MAX && jobs_in(&o, JOB_IDLE) == CUSTOMER_SUBMIT_MAX &&
               asks_for(&o, "Count == 100000"),
           "and are all there after a restart");
    tap_ok(job_of(&o, jobs.first + 7).index == 7, "each knows which of its submission it is");
    world_free(o.w, "many jobs");
}

static void drop(struct office *o, uint64_t first, uint64_t last)
{
    happen(o->w, &(struct event){.kind = EVENT_DROP, .job = first, .number = last});
}

static void many_jobs_are_dropped(void)
{
    struct office o;
    struct host host;

    office_start(&o);
    submit(&o, "k", 100, JOB);
    tap_ok(customer_alike(o.w->role, 1, UINT64_MAX) == 100 && customer_alike(o.w->role, 41, 60) == 20 &&
               customer_alike(o.w->role, 101, 200) == 0,
           "jobs to which nothing has happened are alike");
    control(&o, &raman, 11, CONTROL_HOLD);
    tap_ok(customer_alike(o.w->role, 1, UINT64_MAX) == 10 && customer_alike(o.w->role, 11, UINT64_MAX) == 0 &&
               customer_alike(o.w->role, 12, UINT64_MAX) == 89,
           "one that is held is not, and parts the others");
    tap_ok(customer_stand_alike(o.w->role, 1, UINT64_MAX) == 10 && customer_stand_alike(o.w->role, 11, 50) == 0 &&
               customer_stand_alike(o.w->role, 12, 40) == 29,
           "nor do they stand alike");
    drop(&o, 5, 20);
    drop(&o, 90, 101);
    drop(&o, 20, 12);
    tap_ok(jobs_queued(&o) == 100, "what is not alike is not dropped, nor what is not there");
    drop(&o, 21, 90);
    matchmaker_answers(o.w);
    pass(o.w, SECOND);
    tap_ok(jobs_queued(&o) == 30 && job_is(&o, 20, JOB_IDLE) && job_is(&o, 91, JOB_IDLE) && asks_for(&o, "Count == 29"),
           "alike jobs are dropped together, and are not asked for any more");
    tap_ok(row_count(o.w, RECORD_JOB) == 2, "by one row");
    world_restart(o.w, true, SECOND);
    tap_ok(jobs_queued(&o) == 30 && job_is(&o, 20, JOB_IDLE) && job_is(&o, 91, JOB_IDLE) && job_is(&o, 11, JOB_HELD) &&
               customer_queued(o.w->role, "raman") == 30 && asks_for(&o, "Count == 29"),
           "which outlives a restart");
    drop(&o, 1, 10);
    tap_ok(jobs_queued(&o) == 20 && row_count(o.w, RECORD_JOB) == 2, "those at the front leave no row at all");
    control(&o, &raman, 11, CONTROL_REMOVE);
    forget(&o, 11);
    drop(&o, 12, 20);
    tap_ok(jobs_queued(&o) == 10 && row_count(o.w, RECORD_JOB) == 0,
           "when all before them are forgotten their row goes");
    world_restart(o.w, true, SECOND);
    tap_ok(jobs_queued(&o) == 10 && job_is(&o, 91, JOB_IDLE) && row_count(o.w, RECORD_JOB) == 0,
           "and they do not come back");
    tap_ok(submit(&o, "k", 100, JOB).first == 1 && jobs_queued(&o) == 10, "nor by the same key");
    drop(&o, 91, 100);
    tap_ok(jobs_queued(&o) == 0 && customer_queued(o.w->role, "raman") == 0, "all may go");
    tap_ok(submit(&o, "l", 1, JOB).first == 101, "and their numbers are not given again");
    world_free(o.w, "dropped jobs");

    office_start(&o);
    submit(&o, "k", 10, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_NONE);
    drop(&o, 2, 10);
    tap_ok(job_is(&o, 1, JOB_RUNNING) && jobs_queued(&o) == 1 && row_count(o.w, RECORD_JOB) == 2,
           "one that runs goes on without those that waited behind it");
    result(&o, &host, 0);
    forget(&o, 1);
    host_until(&o, &host, MESSAGE_NONE);
    happen(o.w, &(struct event){.kind = EVENT_FORGET, .job = 1});
    tap_ok(jobs_queued(&o) == 0 && row_count(o.w, RECORD_JOB) == 0, "and takes their row with it");
    world_free(o.w, "dropped behind one that runs");
}

static void unit_of_a_start(void)
{
    struct office o;
    struct host host;
    const struct sent *sent;

    office_start(&o);
    submit(&o, "k", 3, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_NONE);
    result(&o, &host, 0);
    host_until(&o, &host, MESSAGE_START);
    sent = asked(&o, &host);
    tap_ok(sent && sent->message.kind == MESSAGE_START && ad_says(o.w, sent->message.u.start.ad, "JobId == 2") &&
               ad_says(o.w, sent->message.u.start.ad, "JobIndex == 1"),
           "a start says which job it is, and which of its submission");
    world_free(o.w, "the unit of a start");
}

static void forgotten_in_order(void)
{
    struct office o;
    struct host host = office_running(&o, 3, JOB);
    uint64_t first = host.job;
    struct submitted again;

    forget(&o, first);
    tap_ok(job_is(&o, first, JOB_RUNNING), "a job that has not ended is not forgotten");
    jobs_done(&o, &host, 2);
    forget(&o, first);
    tap_ok(!job_is(&o, first, JOB_DONE) && row_count(o.w, RECORD_JOB) == 2, "one that has is, and its row goes");
    world_restart(o.w, true, SECOND);
    tap_ok(!job_is(&o, first, JOB_IDLE) && customer_count(o.w->role) == 2, "it does not come back with a restart");
    again = submit(&o, "k", 3, JOB);
    tap_ok(again.reason == REASON_OK && again.first == first && customer_count(o.w->role) == 2,
           "its submission is still known by its key");
    world_free(o.w, "forgotten in order");
}

static void forgotten_out_of_order(void)
{
    struct office o;
    struct host host = office_running(&o, 3, JOB);
    uint64_t first = host.job;

    control(&o, &raman, first + 2, CONTROL_REMOVE);
    forget(&o, first + 2);
    tap_ok(customer_count(o.w->role) == 2 && row_count(o.w, RECORD_JOB) == 2,
           "of a job that is forgotten before others a stub is kept");
    world_restart(o.w, true, SECOND);
    tap_ok(customer_count(o.w->role) == 2 && !job_is(&o, first + 2, JOB_IDLE), "so that it does not come back");
    control(&o, &raman, first + 1, CONTROL_REMOVE);
    control(&o, &raman, first, CONTROL_REMOVE);
    pass(o.w, 5 * MINUTE);
    forget(&o, first + 1);
    forget(&o, first);
    tap_ok(customer_count(o.w->role) == 0 && row_count(o.w, RECORD_JOB) == 0, "when all are forgotten no row is left");
    world_restart(o.w, true, SECOND);
    tap_ok(submit(&o, "k2", 1, JOB).first == first + 3, "and their numbers are not given again");
    world_free(o.w, "forgotten out of order");
}

static void numbers_of_others(void)
{
    struct office o;
    uint64_t first;

    office_start(&o);
    first = submit(&o, "k", 3, JOB).first;
    world_stop(o.w);
    o.settings.used = first + 1;
    world_start(o.w);
    tap_ok(customer_last(o.w->role) == first + 2 && submit(&o, "k2", 1, JOB).first == first + 3,
           "logs of jobs that the rows know change nothing");
    world_stop(o.w);
    o.settings.used = first + 500;
    world_start(o.w);
    tap_ok(submit(&o, "k3", 1, JOB).first == first + 501,
           "rows that were put back from a backup give no number again whose log is there");
    world_stop(o.w);
    o.settings.used = 0;
    world_start(o.w);
    tap_ok(submit(&o, "k4", 1, JOB).first == first + 502, "and know that themselves from then on");
    world_free(o.w, "numbers that others know");
}

static void keys_end(void)
{
    struct office o;
    uint64_t first;

    office_start(&o);
    first = submit(&o, "k", 1, JOB).first;
    control(&o, &raman, first, CONTROL_REMOVE);
    forget(&o, first);
    pass(o.w, 25 * 60 * MINUTE);
    world_restart(o.w, true, SECOND);
    pass(o.w, 25 * 60 * MINUTE);
    for (uint64_t n = 0; n < 80; n++) {
        char key[16];

        snprintf(key, sizeof key, "n%d", (int)n);
        control(&o, &raman, submit(&o, key, 1, JOB).first, CONTROL_REMOVE);
    }
    tap_ok(submit(&o, "k", 1, JOB).first != first, "a key is forgotten a day after the last of its jobs");
    tap_ok(submit(&o, "other", 1, JOB).first > first + 80, "numbers go on rising");
    world_free(o.w, "keys that end");
}

static void ends_of_jobs(void)
{
    static const enum reason reasons[] = {REASON_TIME, REASON_MEMORY, REASON_DISK};
    struct office o;
    struct host host;

    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        host = office_running(&o, 1, JOB);
        result_of(&o, &host, reasons[i]);
        tap_ok(job_is(&o, host.job, JOB_DONE) && job_of(&o, host.job).reason == reasons[i] && o.w->changed == host.job,
               "a job that was ended is done, and says why: %s", reason_words(reasons[i]));
        world_free(o.w, "ends of jobs");
    }
    host = office_running(&o, 1, JOB);
    result_of(&o, &host, REASON_SETUP);
    tap_ok(job_is(&o, host.job, JOB_HELD), "a job that could not be set up is held");
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, MINUTE);
    tap_ok(control(&o, &raman, host.job, CONTROL_RELEASE) == REASON_OK && job_is(&o, host.job, JOB_IDLE),
           "until its user releases it");
    world_free(o.w, "a job that could not be set up");
}

#define MAKES "[ Type = \"Job\"; Outputs = { \"a\" }; Constraint = other.Memory >= 64 ]"
#define ALWAYS \
    "[ Type = \"Job\"; Outputs = { \"a\" }; OutputsNeeded = \"Always\"; MaxRetries = 1; Constraint = other.Memory >= 64 ]"

/* The job ends with that status, and lacks an output. */
static void result_lacks(struct office *o, const struct host *host, int64_t status)
{
    struct message message = {.kind = MESSAGE_RESULT};

    message.u.result = (struct result){.claim = host->claim,
                                       .number = host->number,
                                       .job = host->job,
                                       .reason = REASON_EXITED,
                                       .status = status,
                                       .used = SECOND,
                                       .unmade = true};
    say(o->w, &host->peer, &message);
}

static void outputs_missing(void)
{
    struct office o;
    struct host host = office_running(&o, 1, MAKES);

    result_lacks(&o, &host, 0);
    tap_ok(job_is(&o, host.job, JOB_HELD) && job_of(&o, host.job).reason == REASON_UNMADE,
           "a job that ends well and lacks an output that it names is held");
    host_until(&o, &host, MESSAGE_NONE);
    world_restart(o.w, true, SECOND);
    tap_ok(job_is(&o, host.job, JOB_HELD) && job_of(&o, host.job).reason == REASON_UNMADE, "a restart or not");
    pass(o.w, MINUTE);
    tap_ok(control(&o, &raman, host.job, CONTROL_RELEASE) == REASON_OK && job_is(&o, host.job, JOB_IDLE),
           "and runs again when its user releases it");
    world_free(o.w, "a missing output");

    host = office_running(&o, 1, MAKES);
    result_lacks(&o, &host, 1);
    tap_ok(job_is(&o, host.job, JOB_DONE), "one that failed is done, whatever it lacks");
    world_free(o.w, "a failed job");

    host = office_running(&o, 1, JOB);
    result_lacks(&o, &host, 0);
    tap_ok(job_is(&o, host.job, JOB_DONE), "and so is one that names no output, whatever its machine says");
    world_free(o.w, "no output is named");

    host = office_running(&o, 1, ALWAYS);
    result_lacks(&o, &host, 1);
    tap_ok(!job_is(&o, host.job, JOB_HELD) && !job_is(&o, host.job, JOB_DONE),
           "one whose outputs are needed always is tried again first");
    host_until(&o, &host, MESSAGE_NONE);
    world_free(o.w, "tried again");
}

static void queue_limit(void)
{
    struct office o;
    uint64_t first;

    office_start(&o);
    first = submit(&o, "k", 2, "[ Type = \"Job\"; QueueLimit = 60; Constraint = other.Memory >= 64 ]").first;
    pass(o.w, 50 * SECOND);
    tap_ok(jobs_in(&o, JOB_IDLE) == 2, "a job waits as long as it says");
    world_restart(o.w, true, SECOND);
    pass(o.w, 20 * SECOND);
    tap_ok(job_is(&o, first, JOB_ABORTED) && job_is(&o, first + 1, JOB_ABORTED) &&
               job_of(&o, first).reason == REASON_QUEUE,
           "and is given up then, a restart between or not");
    tap_ok(control(&o, &raman, first, CONTROL_RELEASE) == REASON_STALE, "that is an end");
    world_free(o.w, "a queue's limit");
}

/* Of two pools a job names one: the other has no say. */
/* -------------------------------------------------------------------------------------------------------- workflows */

#define FLOW 4711
#define STEP(n) "[ Type = \"Job\"; Step = " #n "; Constraint = other.Memory >= 64 ]"
#define FRAGILE_STEP "[ Type = \"Job\"; Step = 2; MaxRetries = 1; RetryUnless = 9; Constraint = other.Memory >= 64 ]"

static struct submitted submit_node(struct office *o, uint64_t nodes, const char *key, const char *node,
                                    const char *text)
{
    struct message submit = {.kind = MESSAGE_SUBMIT, .u.submit = {.count = 1, .flow = FLOW, .nodes = nodes}};
    const struct message *heard;

    text_set(&submit.u.submit.owner, "raman", 5);
    text_set(&submit.u.submit.key, key, strlen(key));
    submit.u.submit.ad = ad(o->w, text);
    submit.u.submit.node = node ? ad(o->w, node) : NULL;
    heard = say(o->w, &raman, &submit);
    return heard->kind == MESSAGE_SUBMITTED ? heard->u.submitted : (struct submitted){.reason = REASON_COUNT};
}

/* A, then B and C, then D: jobs 1 to 4. D comes before what it waits for. */
static void diamond(struct office *o, const char *b)
{
    submit_node(o, 4, "w/0", "[ Node = \"A\" ]", STEP(1));
    submit_node(o, 4, "w/1", "[ Node = \"B\"; After = { \"A\" } ]", b);
    submit_node(o, 4, "w/2", "[ Node = \"D\"; After = { \"B\", \"C\" } ]", STEP(4));
    submit_node(o, 4, "w/3", "[ Node = \"C\"; After = { \"A\" } ]", STEP(3));
}

/* The number of jobs that a machine is asked for. */
static uint32_t jobs_ready(struct office *o)
{
    uint32_t ready = 0;
    struct job_view view = {0};

    while (customer_next(o->w->role, view.id, &view))
        ready += view.state == JOB_IDLE && !view.blocked;
    return ready;
}

static bool job_blocked(struct office *o, uint64_t id)
{
    return job_of(o, id).state == JOB_IDLE && job_of(o, id).blocked;
}

/* A job runs on a new host, the n-th, and ends so. */
static void flow_run(struct office *o, uint64_t n, uint64_t job, int64_t status)
{
    struct host host = host_new(o, n);

    pass(o->w, SECOND);
    match_gang(o, job_of(o, job).shape, n, &host, 1);
    host_until(o, &host, MESSAGE_NONE);
    result(o, &host, status);
    if (asked(o, &host) && !is_asked(o, &host, MESSAGE_RELEASE))
        host_says(o, &host, REASON_STALE); /* not again at once */
    host_until(o, &host, MESSAGE_NONE);
    pass(o->w, SECOND);
}

static void workflow_in_order(void)
{
    struct office o;

    office_start(&o);
    submit_node(&o, 2, "v/0", "[ Node = \"X\" ]", STEP(1));
    tap_ok(jobs_ready(&o) == 0 && job_blocked(&o, 1), "a workflow does not begin before all of it has been submitted");
    tap_ok(submit_node(&o, 2, "v/1", "[ Node = \"X\" ]", STEP(2)).reason == REASON_INVALID,
           "no two of its nodes have one name");
    tap_ok(submit_node(&o, 2, "v/2", NULL, STEP(2)).reason == REASON_INVALID, "none is without a name");
    tap_ok(submit_node(&o, 3, "v/3", "[ Node = \"Y\" ]", STEP(2)).reason == REASON_INVALID,
           "and all say how many there are");
    world_free(o.w, "a workflow that is not whole");

    office_start(&o);
    diamond(&o, STEP(2));
    tap_ok(jobs_ready(&o) == 1 && asks_for(&o, "Step == 1 && Node is undefined"),
           "of a whole workflow what waits for nobody is advertised, and nothing else");
    tap_ok(job_of(&o, 3).workflow == 1 && job_blocked(&o, 2) && job_blocked(&o, 3) && job_blocked(&o, 4),
           "the others are blocked");
    flow_run(&o, 1, 1, 0);
    tap_ok(jobs_ready(&o) == 2 && !job_blocked(&o, 2) && !job_blocked(&o, 4) && job_blocked(&o, 3),
           "when it has ended well, those that waited for it are advertised");
    happen(o.w, &(struct event){.kind = EVENT_FORGET, .job = 1});
    tap_ok(job_is(&o, 1, JOB_DONE), "what is done is not forgotten while the workflow is not over");
    flow_run(&o, 2, 2, 0);
    tap_ok(job_blocked(&o, 3) && jobs_ready(&o) == 1, "one that waits for two is blocked until both have ended well");
    control(&o, &raman, 4, CONTROL_HOLD);
    control(&o, &raman, 3, CONTROL_HOLD);
    control(&o, &raman, 3, CONTROL_RELEASE);
    tap_ok(job_blocked(&o, 3) && job_of(&o, 3).stuck, "hold and release leave it so; and nothing moves any more");
    control(&o, &raman, 4, CONTROL_RELEASE);
    tap_ok(!job_of(&o, 3).stuck, "until what is held is released");
    flow_run(&o, 3, 4, 0);
    tap_ok(asks_for(&o, "Step == 4") && jobs_ready(&o) == 1, "then its machine is asked for");
    flow_run(&o, 4, 3, 0);
    tap_ok(jobs_in(&o, JOB_DONE) == 4, "and all is done");
    for (uint64_t id = 1; id <= 4; id++)
        happen(o.w, &(struct event){.kind = EVENT_FORGET, .job = id});
    tap_ok(customer_count(o.w->role) == 0, "then all of it is forgotten");
    world_free(o.w, "a workflow in order");
}

static bool parent_is_bad(void *user, const struct parent_view *parent)
{
    *(int *)user += parent->failed ? 1 : parent->removed ? 10 : 100;
    return true;
}

/* Of what a job waits for: 1 for each that failed, 10 for each that was removed, 100 for others. */
static int parents_of(struct office *o, uint64_t id)
{
    int found = 0;

    customer_parents(o->w->role, id, parent_is_bad, &found);
    return found;
}

static void workflow_rescued(void)
{
    struct office o;

    office_start(&o);
    diamond(&o, FRAGILE_STEP);
    flow_run(&o, 1, 1, 0);
    control(&o, &raman, 4, CONTROL_HOLD); /* C */
    flow_run(&o, 2, 2, 1);
    tap_ok(job_is(&o, 2, JOB_IDLE) && jobs_ready(&o) == 1, "a node that fails is tried again as often as it says");
    flow_run(&o, 3, 2, 1);
    tap_ok(job_is(&o, 2, JOB_DONE) && job_blocked(&o, 3) && parents_of(&o, 3) == 101,
           "then it has failed, and what waits for it stays blocked and says so");
    tap_ok(control(&o, &raman, 1, CONTROL_RESCUE) == REASON_STALE, "what is done is not rescued");
    tap_ok(control(&o, &calvin, 2, CONTROL_RESCUE) == REASON_IDENTITY, "nor may another user rescue anything");
    world_restart(o.w, true, SECOND);
    tap_ok(job_is(&o, 2, JOB_DONE) && job_blocked(&o, 3) && parents_of(&o, 3) == 101, "that outlives a restart");
    tap_ok(control(&o, &raman, 2, CONTROL_RESCUE) == REASON_OK && job_is(&o, 2, JOB_IDLE) && job_of(&o, 2).tries == 0 &&
               jobs_ready(&o) == 1,
           "rescued, it waits for a machine again, with all its tries");
    world_restart(o.w, true, SECOND);
    tap_ok(job_is(&o, 2, JOB_IDLE) && jobs_ready(&o) == 1 && job_is(&o, 1, JOB_DONE),
           "so it does after a restart, and what was done is done");
    flow_run(&o, 4, 2, 9);
    tap_ok(job_is(&o, 2, JOB_DONE) && job_of(&o, 2).tries == 1, "with the status that it names it is not tried again");
    control(&o, &raman, 2, CONTROL_RESCUE);
    control(&o, &raman, 4, CONTROL_REMOVE);
    tap_ok(parents_of(&o, 3) == 110 && job_blocked(&o, 3), "one that was removed blocks as one that failed");
    flow_run(&o, 5, 2, 0);
    tap_ok(job_is(&o, 2, JOB_DONE) && job_blocked(&o, 3) && job_of(&o, 3).stuck, "whatever else is done");
    tap_ok(control(&o, &raman, 4, CONTROL_RESCUE) == REASON_OK && jobs_ready(&o) == 1, "it is rescued likewise");
    flow_run(&o, 6, 4, 0);
    tap_ok(!job_blocked(&o, 3), "then all goes on");
    flow_run(&o, 7, 3, 1);
    tap_ok(job_is(&o, 3, JOB_DONE) && job_of(&o, 3).kept, "a workflow whose last node failed is kept");
    tap_ok(control(&o, &raman, 3, CONTROL_REMOVE) == REASON_OK && !job_of(&o, 3).kept,
           "until its user removes what failed");
    tap_ok(control(&o, &raman, 3, CONTROL_RESCUE) == REASON_STALE, "what is over is not rescued");
    world_free(o.w, "a workflow that is rescued");
}

/* Whatever is durable when it dies, a node is let go when all before it have ended well, and not before. */
static void workflow_killed(void)
{
    struct office o;
    bool good = true, began = true;

    for (int lost = 0; lost < 2; lost++) {
        office_start(&o);
        diamond(&o, STEP(2));
        for (uint64_t n = 1; n <= 4; n++) {
            struct host host = host_new(&o, n);

            world_restart(o.w, lost, SECOND);
            pass(o.w, 2 * SECOND);
            match_gang(&o, job_of(&o, (uint64_t[]){1, 2, 4, 3}[n - 1]).shape, n, &host, 1);
            host_until(&o, &host, MESSAGE_NONE);
            o.w->slow = lost; /* the end is not durable when it dies: the machine tells it again */
            result(&o, &host, 0);
            world_restart(o.w, lost, SECOND);
            o.w->slow = false;
            world_durable(o.w);
            good = good && (n == 1 || job_blocked(&o, 3) == (jobs_in(&o, JOB_DONE) < 3));
            host_until(&o, &host, MESSAGE_NONE);
            result(&o, &host, 0);
            host_until(&o, &host, MESSAGE_NONE);
            pass(o.w, MINUTE);
            began = began && jobs_in(&o, JOB_DONE) == n;
            good = good && (n == 4 || job_blocked(&o, 3) == (n < 3));
        }
        tap_ok(good, "killed at every end of a node, %s: nothing begins too early, or is forgotten",
               lost ? "before it is durable" : "when it is");
        tap_ok(began && jobs_in(&o, JOB_DONE) == 4, "and each node ends once");
        world_free(o.w, "a workflow under restarts");
    }
}

/* Is that what was submitted together with the job? */
static bool together(struct office *o, uint64_t job, uint64_t first, uint64_t last, uint64_t ads, bool whole)
{
    struct submission_view view;

    return customer_submission(o->w->role, job, &view) && view.first == first && view.last == last && view.ads == ads &&
           view.whole == whole && view.key_len == 5 && !memcmp(view.key, "sweep", 5);
}

static void submitted_together(void)
{
    struct submission_view view;
    struct office o;

    office_start(&o);
    submit(&o, "other/0", 1, "[ Type = \"Job\"; Cmd = \"other\" ]");
    submit(&o, "sweep/0", 1, "[ Type = \"Job\"; Args = \"a\"; Index = 0 ]");
    submit(&o, "sweep/1", 3, "[ Type = \"Job\"; Args = \"b\"; Index = 1 ]");
    submit(&o, "sweep/2", 1, "[ Type = \"Job\"; Args = \"c\"; Index = 4 ]");
    submit(&o, "later/0", 1, "[ Type = \"Job\"; Cmd = \"other\" ]");
    tap_ok(together(&o, 2, 2, 6, 3, true) && together(&o, 4, 2, 6, 3, true) && together(&o, 6, 2, 6, 3, true),
           "each job of a submission of several ads knows the first and the last");
    tap_ok(customer_submission(o.w->role, 1, &view) && view.first == 1 && view.last == 1 && view.ads == 1 &&
               !customer_submission(o.w->role, 99, &view),
           "one that was submitted alone is alone");
    tap_ok(job_of(&o, 2).index == 0 && job_of(&o, 3).index == 1 && job_of(&o, 5).index == 3 && job_of(&o, 6).index == 4,
           "its jobs are numbered through, from the Index of each ad on");
    control(&o, &raman, 2, CONTROL_REMOVE);
    forget(&o, 2);
    tap_ok(together(&o, 4, 2, 6, 3, true), "also when the first of them is forgotten");
    pass(o.w, 25 * 60 * MINUTE);
    for (int n = 0; n < 80; n++) {
        char key[16];

        snprintf(key, sizeof key, "n%d/0", n);
        submit(&o, key, 1, JOB);
    }
    tap_ok(together(&o, 4, 3, 6, 2, false), "a day later that is not known any more, and it says so");
    world_free(o.w, "submitted together");
}

#define SWEPT(args) \
    "[ Type = \"Job\"; Cmd = \"run\"; Args = { " args " }; Memory = 16; Constraint = other.Memory >= 64 ]"

/* Is the host asked to start that job, with that argument? It agrees. */
static bool starts_with(struct office *o, struct host *host, uint64_t job, const char *says)
{
    const struct message *start;
    bool right;

    host_until(o, host, MESSAGE_START);
    start = asked(o, host) ? &asked(o, host)->message : NULL;
    right = start && start->u.start.job == job && start->u.start.ad && ad_says(o->w, start->u.start.ad, says);
    host_until(o, host, MESSAGE_NONE);
    return right;
}

/* Jobs that differ in what is for their start alone are one request. */
static void one_request(void)
{
    struct host first, second;
    struct office o;
    uint64_t request;

    office_start(&o);
    submit(&o, "a", 1, SWEPT("1"));
    submit(&o, "b", 2, SWEPT("2"));
    pass(o.w, 10 * SECOND);
    tap_ok(asks_for(&o, "Count == 3 && isUndefined(Args) && Memory == 16") &&
               job_of(&o, 1).shape == job_of(&o, 3).shape,
           "jobs that differ in their arguments are one request, which does not say them");
    first = host_new(&o, 1);
    match(&o, 1, &first);
    tap_ok(starts_with(&o, &first, 1, "Args[0] == 1"), "the first is started with its own");
    second = host_new(&o, 2);
    match(&o, 2, &second);
    tap_ok(starts_with(&o, &second, 2, "Args[0] == 2"), "and the next with its own");
    pass(o.w, 2 * SECOND);
    tap_ok(asks_for(&o, "Count == 1"), "one is left");
    request = o.w->put.u.advertise.id;
    result(&o, &first, 0);
    tap_ok(starts_with(&o, &first, 3, "Args[0] == 2"),
           "a claim that has done its job does the next, whatever its arguments");
    submit(&o, "c", 1, SWEPT("3"));
    pass(o.w, 2 * SECOND);
    tap_ok(o.w->put.u.advertise.id == request && asks_for(&o, "Count == 1"), "another joins the same request");
    world_restart(o.w, true, SECOND);
    pass(o.w, 5 * SECOND);
    tap_ok(job_is(&o, 4, JOB_IDLE) && asks_for(&o, "Count == 1 && isUndefined(Args)") &&
               o.w->put.u.advertise.id == job_of(&o, 4).shape,
           "a restart changes nothing in that");
    control(&o, &raman, 4, CONTROL_REMOVE);
    pass(o.w, 5 * SECOND);
    tap_ok(o.w->withdrawals > 0, "the request goes with the last that waits");
    world_free(o.w, "one request");

    office_start(&o);
    submit(&o, "a", 1, "[ Type = \"Job\"; Args = { 1 }; RequestMemory = Args[0] * 10; Constraint = true ]");
    pass(o.w, 10 * SECOND);
    tap_ok(asks_for(&o, "Args[0] == 1"), "what the ad itself reads is said");
    submit(&o, "b", 1, "[ Type = \"Job\"; Args = { 1 }; Constraint = eval(\"size(Args)\") > 0 ]");
    pass(o.w, 10 * SECOND);
    tap_ok(asks_for(&o, "Args[0] == 1"), "or may read");
    submit(&o, "c", 1, "[ Type = \"Job\"; Args = { 1 }; Ports = { [ Label = a ] } ]");
    pass(o.w, 10 * SECOND);
    tap_ok(asks_for(&o, "Args[0] == 1"), "and the members of a gang see all of it");
    world_free(o.w, "what is read");
}

/* ------------------------------------------------------------------------------------------- jobs of the customer's host */

#define LOCAL_JOB "[ Type = \"Job\"; Universe = \"local\"; Cmd = \"merge\"; MaxRetries = 1 ]"

static void local_news(struct office *o, uint64_t job, enum job_news news, uint64_t number, int64_t status)
{
    happen(o->w, &(struct event){.kind = EVENT_LOCAL,
                                 .job = job,
                                 .news = news,
                                 .number = number,
                                 .reason = REASON_EXITED,
                                 .status = status});
}

static void local_jobs(void)
{
    struct office o;

    office_start(&o);
    submit(&o, "a", 2, LOCAL_JOB);
    pass(o.w, MINUTE);
    tap_ok(job_is(&o, 1, JOB_IDLE) && job_of(&o, 1).local && o.w->put.kind != MESSAGE_ADVERTISE,
           "no pool is told of a job that runs on the customer's own host");
    local_news(&o, 1, JOB_EXITED, 0, 0);
    tap_ok(job_is(&o, 1, JOB_IDLE), "one that has not begun does not end");
    local_news(&o, 1, JOB_FOUND, 0, 0);
    tap_ok(job_is(&o, 1, JOB_RUNNING) && job_of(&o, 1).begun == 1 && job_is(&o, 2, JOB_IDLE), "it begins by itself");
    world_restart(o.w, true, SECOND);
    tap_ok(job_is(&o, 1, JOB_IDLE), "one that was running when the customer was killed waits again");
    local_news(&o, 1, JOB_FOUND, 0, 0);
    local_news(&o, 1, JOB_EXITED, 1, 0);
    tap_ok(job_is(&o, 1, JOB_RUNNING), "what the try before has come to is no result of this one");
    local_news(&o, 1, JOB_EXITED, 2, 3);
    tap_ok(job_is(&o, 1, JOB_IDLE) && job_of(&o, 1).tries == 1, "it is tried again as often as it says");
    local_news(&o, 1, JOB_FOUND, 0, 0);
    local_news(&o, 1, JOB_EXITED, 3, 4);
    tap_ok(job_is(&o, 1, JOB_DONE) && job_of(&o, 1).status == 4, "and then it has its status");
    local_news(&o, 2, JOB_FOUND, 0, 0);
    tap_ok(control(&o, &raman, 2, CONTROL_HOLD) == REASON_OK && job_is(&o, 2, JOB_HELD), "one that runs can be held");
    local_news(&o, 2, JOB_EXITED, 1, 0);
    tap_ok(job_is(&o, 2, JOB_HELD), "its end says nothing then");
    tap_ok(control(&o, &raman, 2, CONTROL_RELEASE) == REASON_OK && job_is(&o, 2, JOB_IDLE), "released, it waits");
    local_news(&o, 2, JOB_FOUND, 0, 0);
    local_news(&o, 2, JOB_GONE, 2, 0);
    tap_ok(job_is(&o, 2, JOB_IDLE), "one that could not be begun waits");
    tap_ok(control(&o, &raman, 2, CONTROL_REMOVE) == REASON_OK && job_is(&o, 2, JOB_REMOVED), "and can be removed");
    submit(&o, "b", 1, JOB);
    local_news(&o, 3, JOB_FOUND, 0, 0);
    tap_ok(job_is(&o, 3, JOB_IDLE), "a job for machines is not begun here");
    world_free(o.w, "jobs of the customer's own host");
}

/* Do both walks find the same jobs of that owner, from each number on? */
static bool owner_walks_agree(const struct office *o, const char *owner, uint64_t expected)
{
    uint64_t last = customer_last(o->w->role), count = 0;
    struct job_view view = {0}, own;

    for (uint64_t after = 0; after <= last; after++) {
        bool found, found_own = customer_next_of(o->w->role, owner, after, &own);

        for (view.id = after; (found = customer_next(o->w->role, view.id, &view)) && strcmp(view.owner, owner) != 0;)
            ;
        if (found != found_own || (found && view.id != own.id))
            return false;
        count += found && view.id == after + 1;
    }
    return count == expected;
}

static void jobs_of_one_owner(void)
{
    struct office o;
    uint64_t first, middle;

    office_start(&o);
    tap_ok(owner_walks_agree(&o, "raman", 0), "who has submitted nothing has no jobs");
    first = submit(&o, "a", 3, JOB).first;
    submit_as(&o, &calvin, "calvin", "a", 5, JOB);
    middle = submit(&o, "b", 1, OTHER_JOB).first;
    submit_as(&o, &calvin, "calvin", "b", 2, OTHER_JOB);
    submit(&o, "c", 2, JOB);
    tap_ok(owner_walks_agree(&o, "raman", 6) && owner_walks_agree(&o, "calvin", 7),
           "the jobs of each of two users are found, whoever came between");
    tap_ok(owner_walks_agree(&o, "ram", 0) && owner_walks_agree(&o, "", 0), "and nobody else's");
    tap_ok(customer_counted(o.w->role, JOBS_WAITING) == 13, "all of them are counted as waiting");
    control(&o, &raman, middle, CONTROL_REMOVE);
    control(&o, &raman, first, CONTROL_HOLD);
    tap_ok(customer_counted(o.w->role, JOBS_WAITING) == 11 && customer_counted(o.w->role, JOBS_HELD) == 1 &&
               customer_counted(o.w->role, JOBS_REMOVED) == 1,
           "one that is held and one that is removed are counted as that");
    happen(o.w, &(struct event){.kind = EVENT_FORGET, .job = middle});
    tap_ok(customer_counted(o.w->role, JOBS_REMOVED) == 0 && owner_walks_agree(&o, "raman", 5),
           "one that is forgotten is not counted any more");
    world_restart(o.w, false, SECOND);
    world_durable(o.w);
    tap_ok(owner_walks_agree(&o, "raman", 5) && owner_walks_agree(&o, "calvin", 7) &&
               customer_counted(o.w->role, JOBS_WAITING) == 11 && customer_counted(o.w->role, JOBS_HELD) == 1,
           "all of that is so after a restart");
    submit(&o, "d", 1, JOB);
    tap_ok(owner_walks_agree(&o, "raman", 6), "and those that come then are found, too");
    world_free(o.w, "jobs of one owner");
}

/* How many jobs from that one on stand alike, counted one by one. */
static uint64_t stand_alike_slowly(struct office *o, uint64_t id, uint64_t last)
{
    struct job_view first, view;
    uint64_t count = 0;

    for (; id + count <= last && customer_job(o->w->role, id + count, &view); count++) {
        first = count ? first : view;
        if (view.state != JOB_IDLE || view.blocked || customer_alike(o->w->role, view.id, view.id) != 1 ||
            strcmp(view.owner, first.owner) != 0 || view.refused != first.refused)
            break;
    }
    return count;
}

/* Many ads of two users, some jobs of which are held, let go, removed and dropped: whatever stands alike is counted in one. */
static void jobs_stand_alike(void)
{
    struct office o;
    uint64_t word = 7, last, mistaken = 0, longest = 0;
    char key[24], text[96];

    office_start(&o);
    for (unsigned i = 0; i < 200; i++) {
        bool his = i % 41 == 40;

        snprintf(key, sizeof key, "k/%u", i);
        snprintf(text, sizeof text, "[ Type = \"Job\"; Sort = %u; Constraint = other.Memory >= 64 ]", i);
        submit_as(&o, his ? &calvin : &raman, his ? "calvin" : "raman", key, 1 + i % 4, text);
    }
    last = customer_last(o.w->role);
    for (unsigned round = 0; round < 30; round++) {
        for (uint64_t id = 1; id <= last; id += 1 + round % 5) {
            uint64_t end = round % 3 ? UINT64_MAX : id + (word = rng_mix(word)) % 50;
            uint64_t slow = stand_alike_slowly(&o, id, end), found = 0, more = 1;

            for (; found < slow && more; found += more) { /* there may be more than are counted at once */
                more = customer_stand_alike(o.w->role, id + found, end);
                longest = more > longest ? more : longest;
            }
            mistaken += found != slow || (!slow && customer_stand_alike(o.w->role, id, end));
        }
        control(&o, &raman, 1 + (word = rng_mix(word)) % last, round % 4 ? CONTROL_HOLD : CONTROL_REMOVE);
        if (round % 5 == 4)
            drop(&o, 1 + word % last, 1 + word % last);
    }
    tap_ok(!mistaken, "jobs that stand alike are those that do when they are looked at one by one (%llu mistaken)",
           (unsigned long long)mistaken);
    tap_ok(longest > 60, "many ads are counted in one, up to %llu jobs", (unsigned long long)longest);
    world_free(o.w, "jobs that stand alike");
}

int main(void)
{
    jobs_of_one_owner();
    local_jobs();
    one_request();
    submission_is_durable();
    submission_is_checked();
    submission_limits();
    control_of_waiting_jobs();
    control_of_running_jobs();
    vacated_jobs();
    edited_jobs();
    many_jobs_are_one_row();
    many_jobs_are_dropped();
    jobs_stand_alike();
    unit_of_a_start();
    forgotten_in_order();
    forgotten_out_of_order();
    numbers_of_others();
    keys_end();
    submitted_together();
    ends_of_jobs();
    outputs_missing();
    queue_limit();
    workflow_in_order();
    workflow_rescued();
    workflow_killed();
    return tap_done();
}
