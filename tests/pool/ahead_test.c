/* ahead_test.c: a claim that prepares for its next job is promised one, gets that one, and keeps nobody waiting. */
#include "office.h"

#include "lang/base/map.h"

static uint64_t promised(struct office *o, const struct host *host)
{
    happen(o->w, &(struct event){.kind = EVENT_AHEAD, .claim = host->claim});
    return customer_ahead(o->w->role, host->claim);
}

/* A second machine gets the next job of the same request. */
static struct host second_running(struct office *o)
{
    struct host host = host_new(o, 2);

    match(o, 2, &host);
    host_until(o, &host, MESSAGE_NONE);
    return host;
}

static void a_promise_is_kept(void)
{
    struct office o;
    struct host host, other;
    uint64_t first;

    host = office_running(&o, 5, JOB);
    first = host.job;
    tap_ok(customer_ahead(o.w->role, host.claim) == 0, "who has not asked is promised nothing");
    tap_ok(promised(&o, &host) == first + 1, "a claim that prepares is promised the job that has waited longest");
    tap_ok(promised(&o, &host) == first + 1, "and the same when it asks again");
    pass(o.w, SECOND);
    other = second_running(&o);
    tap_ok(other.job == first + 2, "another claim gets the one behind it");
    tap_ok(promised(&o, &other) == first + 3, "and is promised the next that nobody else is");
    result(&o, &other, 0);
    host_until(&o, &other, MESSAGE_NONE);
    tap_ok(other.job == first + 3, "which it gets, though another has waited longer");
    result(&o, &host, 0);
    host_until(&o, &host, MESSAGE_NONE);
    tap_ok(host.job == first + 1, "as the first gets what it was promised");
    tap_ok(customer_ahead(o.w->role, host.claim) == 0, "after that the promise is over");
    tap_ok(promised(&o, &host) == first + 4 && promised(&o, &other) == 0, "when none is left none is promised");
    result(&o, &other, 0);
    host_until(&o, &other, MESSAGE_NONE);
    tap_ok(other.job == first + 4, "and who is free first gets the last one, whoever was promised it");
    tap_ok(customer_ahead(o.w->role, host.claim) == 0, "who hears that");
    world_free(o.w, "a promise");
}

static void a_promise_ends(void)
{
    struct office o;
    struct host host, other;
    uint64_t first;

    host = office_running(&o, 5, JOB);
    first = host.job;
    tap_ok(promised(&o, &host) == first + 1, "a job is promised");
    control(&o, &raman, first + 1, CONTROL_HOLD);
    tap_ok(customer_ahead(o.w->role, host.claim) == 0, "that is held, and is promised no more");
    tap_ok(promised(&o, &host) == first + 2, "but another one");
    control(&o, &raman, first + 2, CONTROL_REMOVE);
    result(&o, &host, 0);
    host_until(&o, &host, MESSAGE_NONE);
    tap_ok(host.job == first + 3, "one that was removed is nobody's, and the claim has the next");
    tap_ok(promised(&o, &host) == first + 4, "that claim is promised another");
    pass_beating(&o, &host, 11 * MINUTE);
    other = second_running(&o);
    tap_ok(other.job == first + 4, "which waits for a long job no longer than ten minutes");
    tap_ok(promised(&o, &(struct host){.claim = 4711}) == 0, "a claim that is not there is promised nothing");
    world_free(o.w, "an end of a promise");
}

static void a_lost_claim_promises_nothing(void)
{
    struct office o;
    struct host host, other;
    uint64_t first;

    host = office_running(&o, 3, JOB);
    first = host.job;
    tap_ok(promised(&o, &host) == first + 1, "a job is promised to a claim");
    left(&o, &host, REASON_RELEASED);
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, SECOND);
    other = second_running(&o);
    tap_ok(other.job == first || other.job == first + 1, "when that claim is lost its promise keeps no other from it");
    result(&o, &other, 0);
    host_until(&o, &other, MESSAGE_NONE);
    tap_ok(other.job == first || other.job == first + 1, "nor from the next");
    world_free(o.w, "a lost claim");
}

int main(void)
{
    a_promise_is_kept();
    a_promise_ends();
    a_lost_claim_promises_nothing();
    return tap_done();
}
