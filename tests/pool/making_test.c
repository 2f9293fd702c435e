/* making_test.c: jobs of one ad that are very many are made some at a time, and others are served in between: what comes out is as if they were made at once. */
#include "office.h"

#define SOME 10
#define MANY 35

static void office_slow(struct office *o)
{
    office_start(o);
    o->settings.jobs_step = SOME;
}

static void wake(struct office *o)
{
    world_to(o->w, o->w->wake);
    o->w->wake = INT64_MAX;
    hand_over(o->w, &(struct event){.kind = EVENT_WAKE});
}

static uint64_t made(struct office *o)
{
    struct job_view view = {0};
    uint64_t count = 0;

    while (customer_next(o->w->role, view.id, &view))
        count++;
    return count;
}

/* What was answered to the question that was asked as the n-th; REASON_COUNT: nothing yet. */
static struct submitted answered(struct office *o, uint64_t token)
{
    const struct message *reply = &o->w->replies[token % TOKENS_MAX];

    return reply->kind == MESSAGE_SUBMITTED ? reply->u.submitted : (struct submitted){.reason = REASON_COUNT};
}

static void some_at_a_time(void)
{
    struct submitted other;
    uint64_t first, again;
    struct office o;

    office_slow(&o);
    submit(&o, "many", MANY, JOB);
    first = o.w->token;
    tap_ok(answered(&o, first).reason == REASON_COUNT && made(&o) == 0 && row_count(o.w, RECORD_KEY) == 1 &&
               customer_queued(o.w->role, "raman") == MANY && customer_count(o.w->role) == MANY,
           "the row of many jobs comes first, and they count at once");
    wake(&o);
    tap_ok(made(&o) == SOME && !customer_job(o.w->role, SOME + 1, &(struct job_view){0}), "a wake makes some of them");
    other = submit(&o, "few", 2, OTHER_JOB);
    tap_ok(other.reason == REASON_OK && other.first == MANY + 1, "a few of somebody else are there at once");
    submit(&o, "many", MANY, JOB);
    again = o.w->token;
    submit(&o, "more", MANY, OTHER_JOB);
    wake(&o);
    tap_ok(made(&o) == 2 * SOME + 2, "whoever came first is first");
    wake(&o);
    tap_ok(made(&o) == 3 * SOME + 2 && customer_job(o.w->role, MANY + 3, &(struct job_view){0}),
           "then they take turns");
    tap_ok(control(&o, &raman, 1, CONTROL_REMOVE) == REASON_OK &&
               control(&o, &raman, MANY, CONTROL_REMOVE) == REASON_UNKNOWN,
           "those that are there can be removed");
    happen(o.w, &(struct event){.kind = EVENT_FORGET, .job = 1});
    pass(o.w, 0);
    tap_ok(made(&o) == 2 * MANY + 1, "and the others still come");
    tap_ok(answered(&o, first).reason == REASON_OK && answered(&o, first).first == 1 &&
               answered(&o, first).count == MANY,
           "with the last of them the submission is answered");
    tap_ok(answered(&o, again).first == 1 && answered(&o, again).count == MANY, "and whoever has sent it twice");
    tap_ok(submit(&o, "many", MANY, JOB).first == 1, "from then on at once");
    world_free(o.w, "some at a time");
}

static void limits_count_all(void)
{
    struct office o;

    office_slow(&o);
    o.settings.jobs_all = 2 * MANY - 1;
    submit(&o, "many", MANY, JOB);
    tap_ok(submit_as(&o, &calvin, "calvin", "other", MANY, JOB).reason == REASON_LIMIT &&
               submit_as(&o, &calvin, "calvin", "less", SOME - 1, JOB).reason == REASON_OK,
           "those that are still to come have their room");
    world_free(o.w, "limits");
}

static void restart_amid(void)
{
    struct office o;

    office_slow(&o);
    submit(&o, "many", MANY, JOB);
    wake(&o);
    world_restart(o.w, true, SECOND);
    tap_ok(made(&o) == MANY && customer_count(o.w->role) == MANY && submit(&o, "many", MANY, JOB).first == 1,
           "after a restart all of them are there");
    world_free(o.w, "a restart");
}

/* The two have the same jobs, and ask for the same. */
static bool offices_agree(struct office *a, struct office *b)
{
    for (uint64_t id = 1; id <= MANY; id++) {
        struct job_view one = job_of(a, id), other = job_of(b, id);

        if (one.state != JOB_IDLE || other.state != JOB_IDLE || one.index != other.index || one.index != id - 1 ||
            one.submitted != other.submitted || one.changed != other.changed || one.alike != other.alike)
            return false;
    }
    for (int kind = RECORD_NONE + 1; kind < RECORD_COUNT; kind++)
        if (row_count(a->w, (enum record_kind)kind) != row_count(b->w, (enum record_kind)kind))
            return false;
    return asks_for(a, "Count == 35") && asks_for(b, "Count == 35") && made(a) == made(b);
}

static void as_if_at_once(void)
{
    struct office slow, quick;

    office_slow(&slow);
    office_start(&quick);
    submit(&slow, "many", MANY, JOB);
    submit(&quick, "many", MANY, JOB);
    pass(slow.w, 3 * SECOND);
    pass(quick.w, 3 * SECOND);
    tap_ok(offices_agree(&slow, &quick), "jobs that were made some at a time are those that were made at once");
    world_restart(slow.w, true, SECOND);
    world_restart(quick.w, true, SECOND);
    tap_ok(made(&slow) == MANY && made(&quick) == MANY, "and so they are after a restart");
    world_free(slow.w, "some at a time");
    world_free(quick.w, "at once");
}

/* Of very many that have waited too long, some are given up at once, until all are. */
static void tired_in_turns(void)
{
    struct office o;
    uint32_t most = 0;

    office_start(&o);
    submit(&o, "many", MANY, "[ Type = \"Job\"; QueueLimit = 5; Constraint = other.Memory >= 64 ]");
    while (jobs_in(&o, JOB_ABORTED) < MANY && o.w->wake <= o.w->env.now + MINUTE) {
        uint32_t before = jobs_in(&o, JOB_ABORTED);

        wake(&o);
        most = jobs_in(&o, JOB_ABORTED) - before > most ? jobs_in(&o, JOB_ABORTED) - before : most;
    }
    tap_ok(jobs_in(&o, JOB_ABORTED) == MANY, "jobs that have waited too long are given up, all of them");
    tap_ok(most < MANY / 2, "but not in one step");
    world_free(o.w, "tired jobs");
}

int main(void)
{
    some_at_a_time();
    limits_count_all();
    restart_amid();
    as_if_at_once();
    tired_in_turns();
    return tap_done();
}
