/* batch_test.c: a submission that comes to the customer in many steps is all or none: it begins when all of it is there, and a restart before that
 * leaves nothing. */
#include "office.h"

#define BATCH 815
#define MANY 30
#define PART(n) "[ Type = \"Job\"; Part = " #n "; Constraint = other.Memory >= 64 ]"

static struct submitted part_as(struct office *o, uint64_t ads, uint64_t jobs, const char *key, uint64_t count,
                                const char *text)
{
    struct message submit = {.kind = MESSAGE_SUBMIT,
                             .u.submit = {.count = count, .batch = BATCH, .ads = ads, .jobs = jobs}};
    const struct message *heard;

    text_set(&submit.u.submit.owner, "raman", 5);
    text_set(&submit.u.submit.key, key, strlen(key));
    submit.u.submit.ad = ad(o->w, text);
    heard = say(o->w, &raman, &submit);
    return heard->kind == MESSAGE_SUBMITTED ? heard->u.submitted : (struct submitted){.reason = REASON_COUNT};
}

/* One of three ads, which are four jobs. */
static struct submitted part(struct office *o, const char *key, uint64_t count, const char *text)
{
    return part_as(o, 3, 4, key, count, text);
}

static uint32_t ready(struct office *o)
{
    struct job_view view = {0};
    uint32_t count = 0;

    while (customer_next(o->w->role, view.id, &view))
        count += view.state == JOB_IDLE && !view.blocked;
    return count;
}

static bool in_order(struct office *o)
{
    struct job_view view = {0};
    uint64_t before = 0, count = 0;

    for (; customer_next(o->w->role, view.id, &view); count++) {
        if (view.id <= before)
            return false;
        before = view.id;
    }
    return count == customer_count(o->w->role);
}

static void begins_when_whole(void)
{
    struct submission_view view;
    struct submitted one, other;
    struct office o;

    office_start(&o);
    one = part(&o, "b/0", 1, PART(0));
    tap_ok(one.reason == REASON_OK && part(&o, "b/1", 2, PART(1)).first == one.first + 1 && ready(&o) == 0 &&
               sent_count(o.w, MESSAGE_ADVERTISE) == 0,
           "while an ad is missing no machine is asked for");
    other = submit(&o, "alone", 1, OTHER_JOB);
    tap_ok(other.first == one.first + 4 && ready(&o) == 1 && asks_for(&o, "Memory == 17"),
           "others begin meanwhile, and leave its numbers alone");
    tap_ok(part(&o, "b/0", 1, PART(0)).first == one.first, "an ad that comes twice is the same");
    tap_ok(part(&o, "b/2", 1, PART(2)).first == one.first + 3 && ready(&o) == 5 && in_order(&o),
           "with the last ad all of them begin, under numbers that follow one another");
    tap_ok(customer_submission(o.w->role, one.first + 2, &view) && view.first == one.first &&
               view.last == one.first + 3 && view.ads == 3 && view.whole,
           "each job knows the first and the last");
    world_restart(o.w, true, SECOND);
    tap_ok(ready(&o) == 5 && in_order(&o) && part(&o, "b/1", 2, PART(1)).first == one.first + 1 &&
               customer_submission(o.w->role, one.first, &view) && view.last == one.first + 3,
           "so it is after a restart");
    tap_ok(part_as(&o, 3, 4, "b/3", 1, PART(3)).reason == REASON_INVALID &&
               part_as(&o, 4, 5, "b/4", 1, PART(4)).reason == REASON_INVALID,
           "and nothing can be added to it");
    world_free(o.w, "a whole batch");
}

static void nothing_when_cut(void)
{
    struct office o;
    uint64_t last;

    office_start(&o);
    submit(&o, "alone", 1, OTHER_JOB);
    part(&o, "b/0", 1, PART(0));
    part(&o, "b/1", 2, PART(1));
    control(&o, &raman, 3, CONTROL_HOLD);
    last = customer_last(o.w->role);
    world_restart(o.w, true, SECOND);
    pass(o.w, MINUTE);
    tap_ok(customer_count(o.w->role) == 1 && ready(&o) == 1 && customer_queued(o.w->role, "raman") == 1,
           "a restart before the last ad leaves none of its jobs");
    tap_ok(row_count(o.w, RECORD_KEY) == 1 && row_count(o.w, RECORD_SHAPE) == 1 && row_count(o.w, RECORD_JOB) == 0,
           "and none of its rows");
    tap_ok(!customer_knows_key(o.w->role, "raman", "b/0") && part(&o, "b/0", 1, PART(0)).first >= last,
           "it can be submitted again, and no number is given twice");
    part(&o, "b/1", 2, PART(1));
    tap_ok(ready(&o) == 1 && part(&o, "b/2", 1, PART(2)).reason == REASON_OK && ready(&o) == 5, "and then begins");
    world_free(o.w, "a batch that is cut off");
}

/* The rows are of a backup that was made while the submission came; one of its jobs has ended since. */
static void begun_since(void)
{
    struct event ended = {
        .kind = EVENT_ENDED, .job = 1, .number = JOB_DONE, .reason = REASON_EXITED, .status = 0, .at = NOON};
    struct office o;

    office_start(&o);
    part(&o, "b/0", 1, PART(0));
    part(&o, "b/1", 2, PART(1));
    world_stop(o.w);
    o.w->first = &ended;
    world_start(o.w);
    tap_ok(customer_count(o.w->role) == 3 && job_is(&o, 1, JOB_DONE) && ready(&o) == 2,
           "a batch of which a job has ended had begun: what the backup has of it is kept, and goes on");
    o.w->first = NULL;
    world_restart(o.w, true, SECOND);
    tap_ok(customer_count(o.w->role) == 3 && job_is(&o, 1, JOB_DONE) && ready(&o) == 2, "so it is after a restart");
    world_free(o.w, "a batch that began after the backup");
}

static void forget(struct office *o, uint64_t job)
{
    control(o, &raman, job, CONTROL_REMOVE);
    happen(o->w, &(struct event){.kind = EVENT_FORGET, .job = job});
}

static void fill(struct office *o, const char *prefix)
{
    for (int n = 0; n < 80; n++) { /* keys are swept when there are many */
        char key[32];

        snprintf(key, sizeof key, "%s%d", prefix, n);
        submit(o, key, 1, JOB);
    }
}

static void forgotten_together(void)
{
    struct office o;

    office_start(&o);
    part(&o, "b/0", 1, PART(0));
    part(&o, "b/1", 2, PART(1));
    part(&o, "b/2", 1, PART(2));
    forget(&o, 1);
    forget(&o, 2);
    forget(&o, 3);
    pass(o.w, 25 * HOUR);
    fill(&o, "m");
    tap_ok(customer_knows_key(o.w->role, "raman", "b/0"), "while a job of it is left, all its keys are remembered");
    world_restart(o.w, true, SECOND);
    tap_ok(job_is(&o, 4, JOB_IDLE) && !job_of(&o, 4).blocked, "so that after a restart it is still whole");
    forget(&o, 4);
    pass(o.w, 25 * HOUR);
    fill(&o, "n");
    fill(&o, "o");
    tap_ok(!customer_knows_key(o.w->role, "raman", "b/0") && !customer_knows_key(o.w->role, "raman", "b/2"),
           "a day after the last of them they are forgotten");
    world_free(o.w, "a batch that is over");
}

static void wake(struct office *o)
{
    world_to(o->w, o->w->wake);
    o->w->wake = INT64_MAX;
    hand_over(o->w, &(struct event){.kind = EVENT_WAKE});
}

static struct submitted part_of_many(struct office *o, int n)
{
    char key[16], text[96];

    snprintf(key, sizeof key, "b/%d", n);
    snprintf(text, sizeof text, "[ Type = \"Job\"; Part = %d; Constraint = other.Memory >= 64 ]", n);
    return part_as(o, MANY, MANY, key, 1, text);
}

/* Between others lies a large batch that is over: more come until the first rows of it go. Returns how many others there are; -1: none went. */
static int leave(struct office *o, uint32_t *ret_gone)
{
    char key[16];

    office_start(o);
    o->settings.jobs_step = 8;
    submit(o, "before", 1, JOB);
    for (int n = 0; n < MANY; n++)
        part_of_many(o, n);
    for (int turn = 0; turn < MANY && ready(o) < MANY + 1; turn++)
        wake(o);
    for (uint64_t job = 2; job <= MANY + 1; job++)
        forget(o, job);
    pass(o->w, 25 * HOUR);
    for (int n = 2; n < 300; n++) {
        snprintf(key, sizeof key, "m%d", n);
        submit(o, key, 1, JOB);
        *ret_gone = MANY + (uint32_t)n - row_count(o->w, RECORD_KEY);
        if (*ret_gone)
            return n;
    }
    return -1;
}

static bool knows_any(const struct office *o)
{
    bool knows = false;
    char key[16];

    for (int n = 0; n < MANY; n++) {
        snprintf(key, sizeof key, "b/%d", n);
        knows = knows || customer_knows_key(o->w->role, "raman", key);
    }
    return knows;
}

/* Where a step is to be short, what may be forgotten goes a few at a time; a batch as a whole all the same. */
static void forgotten_in_turns(void)
{
    uint32_t gone = 0, most = 0, before;
    struct office o;
    char key[16];
    int others = leave(&o, &gone);
    bool all = true;

    tap_ok(others > 0 && gone < MANY / 2 && !knows_any(&o),
           "when some rows of a large batch go, none of its keys is known any more");
    for (int turn = 0; turn < MANY && row_count(o.w, RECORD_KEY) > (uint32_t)others; turn++, others++) {
        before = row_count(o.w, RECORD_KEY) + 1;
        snprintf(key, sizeof key, "n%d", turn);
        submit(&o, key, 1, JOB);
        most = before - row_count(o.w, RECORD_KEY) > most ? before - row_count(o.w, RECORD_KEY) : most;
    }
    tap_ok(row_count(o.w, RECORD_KEY) == (uint32_t)others && most && most < MANY / 2 && ready(&o) == (uint32_t)others &&
               in_order(&o),
           "each that comes takes some more of them, until none is left, and nothing else");
    world_free(o.w, "a large batch that is forgotten");

    others = leave(&o, &gone);
    world_restart(o.w, true, SECOND);
    tap_ok(others > 0 && row_count(o.w, RECORD_KEY) == (uint32_t)others && ready(&o) == (uint32_t)others &&
               !knows_any(&o),
           "a restart in between drops what is left of it");
    world_free(o.w, "a batch that was being forgotten in a crash");

    for (int again = 0; again < MANY; again += MANY - 1) {
        others = leave(&o, &gone);
        tap_ok(part_of_many(&o, again).reason == REASON_OK && row_count(o.w, RECORD_KEY) == (uint32_t)others + 1 &&
                   ready(&o) == (uint32_t)others,
               "%s of its keys can be used again meanwhile: then all of it is new", again ? "the last" : "the first");
        for (int n = 0; n < MANY; n++)
            all = part_of_many(&o, n).first > MANY + (uint64_t)others && all;
        for (int turn = 0; turn < MANY && ready(&o) < MANY + (uint32_t)others; turn++)
            wake(&o);
        world_restart(o.w, true, SECOND);
        tap_ok(all && ready(&o) == MANY + (uint32_t)others && in_order(&o), "and begins as any other");
        world_free(o.w, "a batch that comes again while it is forgotten");
    }
}

/* Where a step is to be short, very many begin some at a time. */
static void begins_in_turns(void)
{
    struct submission_view view;
    struct office o;
    uint32_t before, most = 0, first;

    office_start(&o);
    o.settings.jobs_step = 8;
    for (int n = 0; n < MANY; n++) {
        part_of_many(&o, n);
        if (n == MANY / 2)
            tap_ok(customer_submission(o.w->role, 1, &view) && view.first == 1 && view.last == MANY / 2 + 1 &&
                       view.ads == MANY / 2 + 1 && view.whole,
                   "of a submission that is coming it is known how far it has come");
    }
    first = ready(&o);
    tap_ok(first > 0 && first < MANY / 2, "some of many begin when the last is there");
    tap_ok(control(&o, &raman, MANY, CONTROL_HOLD) == REASON_OK &&
               control(&o, &raman, MANY - 1, CONTROL_REMOVE) == REASON_OK &&
               control(&o, &raman, MANY, CONTROL_RELEASE) == REASON_OK,
           "those that have not begun can be held, released and removed");
    while ((before = ready(&o)) < MANY - 1) {
        wake(&o);
        most = ready(&o) - before > most ? ready(&o) - before : most;
        if (ready(&o) == before)
            break;
    }
    tap_ok(ready(&o) == MANY - 1 && most < MANY / 2, "and each wake some more, until all have");
    tap_ok(customer_submission(o.w->role, MANY / 2, &view) && view.first == 1 && view.last == MANY && view.ads == MANY,
           "which each of them knows");
    world_restart(o.w, true, SECOND);
    tap_ok(ready(&o) == MANY - 1 && in_order(&o), "a restart changes nothing");
    world_free(o.w, "a batch that begins in turns");
}

/* A submission may be of several owners: each has a part of its own. */
static void several_owners(void)
{
    static const char *const owners[] = {"raman", "raman", "calvin"};
    struct submission_view view;
    struct office o;

    office_start(&o);
    for (int n = 0; n < 3; n++) {
        struct peer any = {.agent = SELF, .identity = "raman", .channel = 90, .any = true};
        struct message submit = {.kind = MESSAGE_SUBMIT, .u.submit = {.count = 1, .batch = BATCH, .ads = 3, .jobs = 3}};
        char key[16];

        snprintf(key, sizeof key, "b/%d", n);
        text_set(&submit.u.submit.owner, owners[n], strlen(owners[n]));
        text_set(&submit.u.submit.key, key, strlen(key));
        submit.u.submit.ad = ad(o.w, PART(0));
        say(o.w, &any, &submit);
    }
    tap_ok(ready(&o) == 3 && customer_submission(o.w->role, 1, &view) && view.first == 1 && view.last == 2,
           "of a submission of several owners each knows the part of his");
    tap_ok(customer_submission(o.w->role, 3, &view) && view.first == 3 && view.last == 3 && !view.whole, "and no more");
    world_free(o.w, "several owners");
}

int main(void)
{
    begins_when_whole();
    nothing_when_cut();
    begun_since();
    forgotten_together();
    forgotten_in_turns();
    begins_in_turns();
    several_owners();
    return tap_done();
}
