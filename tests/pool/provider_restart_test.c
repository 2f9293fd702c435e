/* provider_restart_test.c: a machine that restarts keeps the claims that its customers attach to, and loses none of their results. */
#include "suitor.h"

#include "pool/protocol/receipt.h"

/* ---------------------------------------------------------------------------------------------- attach and restarts */

static void attach(void)
{
    struct machine m;
    struct suitor s;
    struct attached attached;
    int64_t lease;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    lease = look(&m, 1).view.lease;
    pass(m.w, 5 * SECOND);
    m.w->slow = true;
    tap_ok(say_attach(&m, &s, 2).reason == REASON_COUNT, "a new epoch is not answered before it is durable");
    world_durable(m.w);
    m.w->slow = false;
    attached = reply(m.w)->u.attached;
    tap_ok(reply(m.w)->kind == MESSAGE_ATTACHED && attached.reason == REASON_OK && attached.epoch == 2 &&
               attached.active && attached.running && attached.number == 1 && attached.job == 100,
           "who attaches with a higher epoch hears how the claim stands");
    tap_ok(look(&m, 1).view.lease == lease && look(&m, 1).view.epoch == 2, "and that renews no lease");
    tap_ok(say_attach(&m, &s, 2).reason == REASON_OK && look(&m, 1).view.epoch == 2, "the same epoch is a repeat");
    attached = say_attach(&m, &s, 1);
    tap_ok(attached.reason == REASON_STALE && attached.epoch == 2,
           "a lower one is stale, and hears the one that holds");
    tap_ok(say_release(&m, &s) == REASON_STALE && holds(&m, 1, TENANT_CLAIMED),
           "a release of the epoch before changes nothing");
    s.epoch = 2;
    s.sequence = 0;
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    attached = say_attach(&m, &s, 3);
    tap_ok(attached.reason == REASON_OK && !attached.running && attached.number == 1, "a job that ended does not run");
    s.epoch = 3;
    tap_ok(say_start(&m, &s, 2, 101) == REASON_OK || say_activate(&m, &s, s.ad) == REASON_OK,
           "numbers of a session begin anew with its epoch");
    s.claim = 4711;
    tap_ok(say_attach(&m, &s, 5).reason != REASON_OK, "a claim that is not there cannot be attached to");
    world_free(m.w, "attach");
}

static void attach_to_a_result(void)
{
    struct machine m;
    struct suitor s, stranger;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    pass(m.w, 3 * m.w->spans.lease);
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_OUTCOME) == 1, "a job ended, and then the claim's lease");
    stranger = s;
    stranger.peer.agent = 51;
    tap_ok(say_attach(&m, &stranger, 2).reason == REASON_UNKNOWN, "a stranger hears that there is no such claim");
    tap_ok(say_attach(&m, &s, 2).reason == REASON_BUSY,
           "who comes back late is told to wait while there is a result for it");
    tap_ok(sent_count(m.w, MESSAGE_RESULT) == 1, "which is offered at once");
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    tap_ok(say_attach(&m, &s, 2).reason == REASON_UNKNOWN, "when it has been taken, the claim is gone");
    world_free(m.w, "attach to a result");
}

static void attach_to_a_pin(void)
{
    struct machine m;
    struct suitor s;
    struct attached attached;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    attached = say_attach(&m, &s, 2);
    tap_ok(attached.reason == REASON_OK && !attached.active && !attached.running && attached.number == 0,
           "who attaches to a pin hears that it is one");
    pass(m.w, m.w->spans.pin + 1);
    tap_ok(is_free(&m, 1), "which does not lengthen it");
    tap_ok(say_attach(&m, &s, 3).reason != REASON_OK, "when it is over nobody attaches");
    world_free(m.w, "attach to a pin");
}

static void restart_in_the_boot(void)
{
    struct machine m;
    struct suitor s;
    int64_t lease;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    pass(m.w, 5 * SECOND);
    lease = look(&m, 1).view.lease;
    world_restart(m.w, true, 10 * SECOND);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && look(&m, 1).view.running && look(&m, 1).view.epoch == 1,
           "a restarted provider finds its launcher, and keeps claim and epoch");
    tap_ok(look(&m, 1).view.lease <= lease, "its deadline is no later than before");
    tap_ok(m.w->launches == 1 && m.w->stops == 0, "the job is left alone");
    probe(&m, AWAY);
    tap_ok(m.w->stops == 0, "also when it is probed");
    pass_beating(&m, &s, 2 * MINUTE);
    tap_ok(look(&m, 1).view.running, "its heart beats go on");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    tap_ok(sent_count(m.w, MESSAGE_RESULT) == 1, "and its result is told");
    world_free(m.w, "a restart");
}

/* What the superior knows of us after a restart: nothing, until a heart beat says that an answer of it has come. */
static void restart_and_be_heard(void)
{
    struct message beaten = {.kind = MESSAGE_BEATEN};
    const struct beat *beat;
    struct machine m;
    struct suitor s;
    int64_t clock;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    pass_beating(&m, &s, 20 * SECOND);
    world_restart(m.w, true, SECOND);
    pass(m.w, SECOND);
    beat = &sent_of(m.w, MESSAGE_BEAT)->message.u.beat;
    tap_ok(beat->heard == 0, "the first heart beat after a restart cannot say what was heard");
    clock = m.w->env.now;
    beaten.u.beaten = (struct beaten){.claim = 1, .sent = beat->sent, .clock = clock};
    answer(m.w, sent_of(m.w, MESSAGE_BEAT), &beaten);
    pass(m.w, 10 * MILLISECOND);
    tap_ok(sent_count(m.w, MESSAGE_BEAT) == 1 && sent_of(m.w, MESSAGE_BEAT)->message.u.beat.heard == clock,
           "when it is answered the next says so at once, and not a quarter of a lease later");
    beaten.u.beaten.clock = m.w->env.now;
    while (sent_of(m.w, MESSAGE_BEAT))
        answer(m.w, sent_of(m.w, MESSAGE_BEAT), &beaten);
    pass(m.w, 10 * MILLISECOND);
    tap_ok(!sent_of(m.w, MESSAGE_BEAT), "and then they come as they ever do");
    world_free(m.w, "a restart that is heard of");
}

static void restart_past_the_lease(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    world_restart(m.w, true, 2 * m.w->spans.lease);
    tap_ok(say_attach(&m, &s, 2).reason != REASON_OK && !holds(&m, 1, TENANT_CLAIMED),
           "a deadline that passed while the agent was down holds before any message is answered");
    world_free(m.w, "a long restart");
}

static void job_lost(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    launcher_drop(m.w, 1);
    world_restart(m.w, true, SECOND);
    pass(m.w, SECOND);
    tap_ok(told_lost(&m, 1), "a job that was started and is not found is lost, and the customer is told");
    tap_ok(!look(&m, 1).view.running, "it does not run");
    tap_ok(m.w->launches == 1, "and is not launched again");
    world_free(m.w, "a lost job");
}

static void another_boot(void)
{
    struct machine m;
    struct suitor s, pinned;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    world_restart(m.w, false, SECOND);
    pass(m.w, SECOND);
    tap_ok(told_lost(&m, 1), "after a reboot a claim is lost, and the customer is told");
    tap_ok(is_free(&m, 1), "the machine is free");
    tap_ok(say_attach(&m, &s, 2).reason == REASON_LOST || reason_of(reply(m.w)) == REASON_UNKNOWN,
           "and who attaches hears that nothing of it is there");
    probe(&m, AWAY);
    tap_ok(advertises(&m, "Memory == 64") && m.w->puts > 1, "it is advertised again");
    pinned = suitor_new(&m, 2, "raman");
    come_to(&m, &pinned, TENANT_PINNED);
    world_restart(m.w, false, SECOND);
    pass(m.w, m.w->spans.pin + SECOND);
    tap_ok(is_free(&m, 2), "a pin does not outlive a reboot by more than its lease");
    world_free(m.w, "another boot");
}

/* The matchmaker's receipt, handed over by the customer: what has its form is kept with the claim, and shown. */
static void receipt_is_kept(void)
{
    static const struct key key;
    struct machine m;
    struct suitor s;
    const struct record *row;
    struct tree *receipt;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    s.receipt = s.ad;
    come_to(&m, &s, TENANT_PINNED);
    row = row_of(m.w, RECORD_TENANT, 1);
    tap_ok(row && !row->u.tenant_record.receipt, "what is no receipt is not kept as one");
    world_free(m.w, "no receipt");

    machine_start(&m, PLAIN);
    receipt =
        receipt_make(&m.w->env, &key, &(struct receipt){.claim = 1, .agent = 9, .account = {"raman"}, .weight = 1});
    s = suitor_new(&m, 1, "raman");
    s.receipt = receipt;
    come_to_run(&m, &s, 100);
    row = row_of(m.w, RECORD_TENANT, 1);
    tap_ok(row && receipt_is_for(row->u.tenant_record.receipt, 1), "the receipt of a claim is kept with it");
    world_restart(m.w, true, SECOND);
    m.w->agreeable = false;
    pass(m.w, m.w->spans.lease / 4 + SECOND);
    tap_ok(sent_of(m.w, MESSAGE_REPORT) && receipt_is_for(sent_of(m.w, MESSAGE_REPORT)->message.u.report.receipt, 1),
           "and is shown with each report, after a restart too");
    tree_unref(receipt);
    world_free(m.w, "receipts");
}

int main(void)
{
    attach();
    attach_to_a_pin();
    attach_to_a_result();
    restart_in_the_boot();
    restart_and_be_heard();
    restart_past_the_lease();
    job_lost();
    another_boot();
    receipt_is_kept();
    return tap_done();
}
