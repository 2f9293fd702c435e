/* provider_test.c: a machine's agent lets itself be claimed by whom its owner accepts, runs jobs, and obeys its leases. */
#include "suitor.h"

/* ----------------------------------------------------------------------------------------------------------- verify */

static void tickets(void)
{
    struct machine m;
    struct suitor s, other;
    struct key proof, flipped, theirs;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    tap_ok(challenge(&m, &s) == REASON_CHALLENGE && key_is_set(&s.theirs),
           "who would verify without a match is challenged all the same");
    tap_ok(s.heard.ad == NULL && !key_is_set(&s.heard.proof), "a challenge tells nothing but a nonce");
    tap_ok(is_free(&m, 1), "and nothing is kept for it");
    proof = flipped = proof_of(&m, &s, true);
    for (int bit = 0; bit < 8 * KEY_BYTES; bit += 37) {
        flipped.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        if (suitor_verifies(&m, &s, &flipped) != REASON_TICKET)
            world_blame(m.w, "a proof with a bit changed was taken", "");
        flipped = proof;
    }
    tap_ok(suitor_verifies(&m, &s, &(struct key){{0}}) == REASON_TICKET && is_free(&m, 1),
           "a wrong proof is refused and changes nothing");
    other = s;
    other.peer.channel++;
    tap_ok(suitor_verifies(&m, &other, &proof) == REASON_TICKET && is_free(&m, 1),
           "a proof from one channel is none on another");
    other = s;
    other.peer.agent++;
    tap_ok(suitor_verifies(&m, &other, &proof) != REASON_OK, "nor from another agent");
    other = s;
    other.claim = 2;
    tap_ok(suitor_verifies(&m, &other, &proof) == REASON_TICKET, "nor for another claim");
    other = s;
    other.owner = "calvin";
    tap_ok(prove(&m, &other) == REASON_TICKET, "a ticket made for another owner than the ad's is not good");
    other = s;
    other.peer = (struct peer){.agent = 50, .identity = "calvin", .any = false, .channel = 500};
    tap_ok(suitor_verifies(&m, &other, &proof) == REASON_IDENTITY && is_free(&m, 1),
           "who may not act for the owner in the ad is refused, whatever the ticket");
    other.peer.identity = "raman";
    tap_ok(prove(&m, &other) == REASON_OK, "the owner may act for himself");
    tap_ok(!strcmp(look(&m, 1).view.owner, "raman"), "and then it is known whose the job is: as whom it may run");
    say_abort(&m, &other);
    theirs = s.theirs;
    tap_ok(verify(&m, &s) == REASON_OK && holds(&m, 1, TENANT_VERIFIED), "the right proof verifies");
    proof = proof_of(&m, &s, false);
    tap_ok(key_equal(&proof, &s.heard.proof), "and the provider proves the ticket in its turn");
    tap_ok(ad_says(m.w, s.heard.ad, "Memory == 64"), "with its present ad");
    tap_ok(prove(&m, &s) == REASON_OK && look(&m, 1).count == 1, "a repeat has the same answer");
    say_abort(&m, &s);
    tap_ok(is_free(&m, 1), "an abort frees it");
    pass(m.w, 10 * MINUTE);
    s.theirs = theirs;
    tap_ok(prove(&m, &s) != REASON_OK && is_free(&m, 1), "an old challenge is not good for ever");
    world_free(m.w, "tickets");
}

static void used_tickets(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    say_abort(&m, &s);
    tap_ok(is_free(&m, 1), "a pin is given up by an abort");
    tap_ok(verify(&m, &s) != REASON_OK && is_free(&m, 1), "a ticket that was used by a commit is not good again");
    s.sequence = 0;
    tap_ok(say_commit(&m, &s) != REASON_OK && is_free(&m, 1), "nor is a late copy of that commit");
    s = suitor_new(&m, 2, "raman");
    verify(&m, &s);
    world_restart(m.w, true, SECOND);
    probe(&m, AWAY);
    tap_ok(say_commit(&m, &s) != REASON_OK && is_free(&m, 2), "a commit without verification is refused");
    world_free(m.w, "used tickets");
}

static void one_at_a_time(void)
{
    struct machine m;
    struct suitor first, second;

    machine_start(&m, PLAIN);
    first = suitor_new(&m, 1, "raman");
    second = suitor_new(&m, 2, "calvin");
    second.peer.agent = 51;
    match(&m, &first, 1);
    tap_ok(verify(&m, &second) == REASON_OK && holds(&m, 2, TENANT_VERIFIED),
           "a match is a hint: who comes first is verified, whoever was matched");
    say_abort(&m, &second);
    verify(&m, &first);
    tap_ok(verify(&m, &second) == REASON_BUSY, "while one is verified another hears busy");
    tap_ok(second.heard.span > 0 && second.heard.span <= m.w->spans.window, "and for how long, at most a window");
    tap_ok(holds(&m, 1, TENANT_VERIFIED) && is_free(&m, 2), "the first is not disturbed");
    pass(m.w, m.w->spans.window + SECOND);
    tap_ok(is_free(&m, 1), "a verification ends with the window");
    tap_ok(say_commit(&m, &first) != REASON_OK && is_free(&m, 1), "a commit after it is refused");
    tap_ok(verify(&m, &second) == REASON_OK, "a ticket is not used up by busy");
    tap_ok(say_commit(&m, &second) == REASON_OK && holds(&m, 2, TENANT_PINNED), "and is good for a commit");
    first = suitor_new(&m, 3, "raman");
    tap_ok(verify(&m, &first) != REASON_OK, "who comes while a machine is pinned is refused");
    say_activate(&m, &second, NULL);
    tap_ok(verify(&m, &first) != REASON_OK && look(&m, 2).count == 1, "or claimed");
    world_free(m.w, "one at a time");
}

static void constraint_now(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, OWNED);
    s = suitor_new(&m, 1, "raman");
    match(&m, &s, 1);
    probe(&m, TYPING);
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT && !holds(&m, 1, TENANT_VERIFIED),
           "whoever was matched is refused when the owner has come back since");
    probe(&m, AWAY);
    tap_ok(verify(&m, &s) == REASON_OK, "and is accepted when he has gone");
    probe(&m, TYPING);
    say_commit(&m, &s);
    say_activate(&m, &s, NULL);
    say_start(&m, &s, 1, 100);
    tap_ok(m.w->launches == 0, "when he comes back before the commit nothing is launched");
    s = suitor_new(&m, 2, "raman");
    s.offer = 4711;
    tap_ok(verify(&m, &s) == REASON_UNKNOWN, "an offer that is not there is unknown");
    world_free(m.w, "the present constraint");
}

/* ---------------------------------------------------------------------------------------------- commit and activate */

static void commit_is_durable(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    verify(&m, &s);
    m.w->slow = true;
    tap_ok(say_commit(&m, &s) == REASON_COUNT, "a commit is not acknowledged before the pin is durable");
    world_restart(m.w, true, SECOND);
    world_durable(m.w);
    tap_ok(is_free(&m, 1), "a crash before leaves no pin");
    probe(&m, AWAY);
    world_durable(m.w);
    matchmaker_answers(m.w);
    s = suitor_new(&m, 2, "raman");
    verify(&m, &s);
    say_commit(&m, &s);
    world_durable(m.w);
    tap_ok(reason_of(reply(m.w)) == REASON_OK && reply(m.w)->u.claimed.epoch == s.epoch, "then it is");
    world_restart(m.w, true, SECOND);
    world_durable(m.w);
    tap_ok(holds(&m, 2, TENANT_PINNED), "a crash after it keeps the pin");
    m.w->slow = false;
    tap_ok(say_commit(&m, &s) == REASON_OK && look(&m, 2).count == 1, "a commit may be repeated, even then");
    tap_ok(say_activate(&m, &s, NULL) == REASON_OK && holds(&m, 2, TENANT_CLAIMED), "and be activated");
    world_free(m.w, "commit");
}

static void pins_end(void)
{
    struct machine m;
    struct suitor s;
    uint32_t puts;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    puts = m.w->puts;
    pass(m.w, m.w->spans.pin / 4 - 1);
    tap_ok(sent_count(m.w, MESSAGE_ASK) == 0, "a pin waits for a quarter of its lease");
    pass(m.w, 2);
    tap_ok(sent_count(m.w, MESSAGE_ASK) == 1 && sent_of(m.w, MESSAGE_ASK)->to == 50 &&
               sent_of(m.w, MESSAGE_ASK)->message.u.ask.claim == 1 &&
               sent_of(m.w, MESSAGE_ASK)->message.u.ask.epoch == 1,
           "then it asks what was decided");
    answer_claimed(&m, MESSAGE_ASK, 1, REASON_WAIT);
    tap_ok(holds(&m, 1, TENANT_PINNED), "`wait` leaves it pinned");
    pass(m.w, m.w->spans.pin / 4);
    tap_ok(say_commit(&m, &s) == REASON_OK, "a repeated commit is acknowledged");
    pass(m.w, m.w->spans.pin / 2 - SECOND);
    tap_ok(holds(&m, 1, TENANT_PINNED) && m.w->puts == puts,
           "and does not lengthen the pin, which holds up to its end");
    pass(m.w, SECOND + 1);
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_TENANT) == 0, "a pin ends by itself after its lease");
    tap_ok(m.w->puts > puts, "and the machine is offered again");
    tap_ok(say_activate(&m, &s, NULL) != REASON_OK && is_free(&m, 1), "an activation after it finds nothing");
    world_free(m.w, "the pin lease");
}

static void pins_and_restarts(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    pass(m.w, SECOND);
    world_restart(m.w, true, m.w->spans.pin / 2);
    tap_ok(say_activate(&m, &s, NULL) != REASON_OK && !holds(&m, 1, TENANT_CLAIMED),
           "a restart does not lengthen the time in which an activation is obeyed");
    world_restart(m.w, true, m.w->spans.pin / 2);
    tap_ok(say_commit(&m, &s) != REASON_OK && is_free(&m, 1), "nor the pin");
    world_free(m.w, "pins and restarts");
}

static void asked_and_aborted(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    pass(m.w, m.w->spans.pin / 4 + 1);
    answer_claimed(&m, MESSAGE_ASK, 1, REASON_ABORT);
    tap_ok(is_free(&m, 1), "a superior that has no record ends the pin");
    world_free(m.w, "an aborted pin");
}

static void activation_in_time(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    pass(m.w, m.w->spans.pin / 2 - MILLISECOND);
    tap_ok(say_activate(&m, &s, NULL) == REASON_OK && holds(&m, 1, TENANT_CLAIMED),
           "an activation is obeyed within half of the pin lease");
    tap_ok(look(&m, 1).view.lease <= look(&m, 1).view.since + m.w->spans.lease,
           "the first lease counts from the commit, not from the activation");
    tap_ok(say_abort(&m, &s) != REASON_COUNT && holds(&m, 1, TENANT_CLAIMED), "an abort after it changes nothing");
    tap_ok(say_activate(&m, &s, NULL) == REASON_OK, "an activation may be repeated");
    pass(m.w, m.w->spans.pin);
    tap_ok(holds(&m, 1, TENANT_CLAIMED), "the end of the pin lease is nothing to it");
    world_drop(m.w);
    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    pass(m.w, m.w->spans.pin / 2 + MILLISECOND);
    tap_ok(say_activate(&m, &s, NULL) != REASON_OK && !holds(&m, 1, TENANT_CLAIMED),
           "an activation is refused after half of the pin lease");
    world_free(m.w, "activation");
}

static void activation_is_durable(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    m.w->slow = true;
    tap_ok(say_activate(&m, &s, NULL) == REASON_COUNT, "an activation is not acknowledged before it is durable");
    world_durable(m.w);
    tap_ok(reason_of(reply(m.w)) == REASON_OK, "and then it is");
    world_restart(m.w, true, SECOND);
    world_durable(m.w);
    tap_ok(holds(&m, 1, TENANT_CLAIMED), "a restarted provider keeps an activated claim");
    world_free(m.w, "a durable activation");
}

/* ------------------------------------------------------------------------------------------------ start and results */

static void start_and_launch(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    tap_ok(say_start(&m, &s, 1, 100) != REASON_OK && m.w->launches == 0, "nothing starts under a pin");
    say_activate(&m, &s, NULL);
    m.w->slow = true;
    say_start(&m, &s, 1, 100);
    tap_ok(m.w->launches == 0 && reply(m.w)->kind == MESSAGE_NONE, "nothing is launched before the start is durable");
    world_durable(m.w);
    m.w->slow = false;
    tap_ok(m.w->launches == 1 && launcher_of(m.w, 1)->number == 1 && launcher_of(m.w, 1)->job == 100 &&
               reason_of(reply(m.w)) == REASON_OK,
           "then it is, and the start is acknowledged");
    tap_ok(launcher_of(m.w, 1)->at == look(&m, 1).view.lease, "the launcher has the lease's deadline");
    tap_ok(say_start(&m, &s, 1, 100) == REASON_OK && m.w->launches == 1, "a repeated start launches nothing");
    tap_ok(say_start(&m, &s, 1, 101) != REASON_OK && m.w->launches == 1, "the same number for another job is refused");
    tap_ok(say_start(&m, &s, 0, 100) != REASON_OK && m.w->launches == 1, "a lower number is refused");
    tap_ok(look(&m, 1).view.running && look(&m, 1).view.job == 100 && look(&m, 1).view.number == 1,
           "and the job that runs is not disturbed");
    world_free(m.w, "start");
}

static void one_job_at_a_time(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    tap_ok(say_start(&m, &s, 2, 101) != REASON_OK && m.w->launches == 1, "a claim runs one job at a time");
    tap_ok(say_activate(&m, &s, s.ad) != REASON_OK, "and is not used again before that has ended");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    s.ad = ad(m.w, "[ Type = \"Daemon\"; Cpus = 3; Owner = \"raman\" ]");
    tap_ok(say_start(&m, &s, 2, 101) != REASON_OK && m.w->launches == 1,
           "a job that the constraint refuses is not started, whatever the claim was given for");
    world_free(m.w, "one job at a time");
}

static void results(void)
{
    struct machine m;
    struct suitor s;
    struct sent *sent;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    m.w->slow = true;
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 3);
    tap_ok(sent_count(m.w, MESSAGE_RESULT) == 0, "a result is not told before it is durable");
    world_durable(m.w);
    m.w->slow = false;
    sent = sent_of(m.w, MESSAGE_RESULT);
    tap_ok(sent && sent->to == 50 && sent->message.u.result.claim == 1 && sent->message.u.result.number == 1 &&
               sent->message.u.result.job == 100 && sent->message.u.result.status == 3 &&
               sent->message.u.result.reason == REASON_EXITED && sent->message.u.result.used == 5 * SECOND,
           "then the customer is told claim, number, job and how it ended");
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && !look(&m, 1).view.running, "the claim goes on");
    tap_ok(say_start(&m, &s, 1, 100) == REASON_OK && m.w->launches == 1,
           "a late copy of the start does not run the job again");
    tap_ok(pass_to(m.w, MESSAGE_RESULT, 3 * m.w->spans.deadline), "a result that nobody answers is offered again");
    world_restart(m.w, true, SECOND);
    pass(m.w, SECOND);
    tap_ok(sent_count(m.w, MESSAGE_RESULT) == 1, "and after a restart");
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    pass(m.w, m.w->spans.deadline);
    tap_ok(sent_count(m.w, MESSAGE_RESULT) == 0 && row_count(m.w, RECORD_OUTCOME) == 0,
           "a result that was taken is forgotten");
    world_free(m.w, "results");
}

static void results_are_kept(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    pass(m.w, m.w->spans.keep - MINUTE);
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_OUTCOME) == 1, "a result outlives its claim");
    tap_ok(pass_to(m.w, MESSAGE_RESULT, MINUTE - SECOND), "and is offered for an hour");
    world_restart(m.w, false, SECOND);
    pass(m.w, SECOND);
    tap_ok(sent_count(m.w, MESSAGE_RESULT) == 1, "over a reboot as well");
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_STALE);
    tap_ok(row_count(m.w, RECORD_OUTCOME) == 0, "a result that is refused is forgotten");
    world_drop(m.w);
    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    pass(m.w, m.w->spans.keep + 2 * MINUTE);
    tap_ok(row_count(m.w, RECORD_OUTCOME) == 0, "a result that nobody takes is dropped after an hour");
    world_free(m.w, "kept results");
}

/* The last report of the claim that is under way; or NULL. */
static struct sent *last_report(struct machine *m)
{
    for (struct sent *sent; (sent = sent_of(m->w, MESSAGE_REPORT)); sent_drop(m->w, MESSAGE_REPORT))
        if (sent->message.u.report.over)
            return sent;
    return NULL;
}

static void last_reports_are_kept(void)
{
    struct message got = {.kind = MESSAGE_GOT, .u.got.reason = REASON_WAIT};
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    pass(m.w, 5 * SECOND);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    m.w->agreeable = false;
    say_release(&m, &s);
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_PARTING) == 1 && last_report(&m),
           "the last report of a claim is on disk when it is sent");
    world_restart(m.w, false, SECOND);
    pass(m.w, SECOND);
    tap_ok(last_report(&m) && last_report(&m)->message.u.report.wall >= 5 * SECOND &&
               last_report(&m)->message.u.report.jobs == 1,
           "it is told after a reboot, with all that was used");
    answer(m.w, last_report(&m), NULL);
    pass(m.w, 2 * m.w->spans.deadline);
    tap_ok(last_report(&m) != NULL, "and again when no answer came");
    answer(m.w, last_report(&m), &got);
    tap_ok(row_count(m.w, RECORD_PARTING) == 1, "it is kept while the matchmaker has not written it");
    pass(m.w, m.w->spans.deadline);
    tap_ok(last_report(&m) != NULL, "which is asked again soon");
    got.u.got.reason = REASON_OK;
    answer(m.w, last_report(&m), &got);
    pass(m.w, MINUTE);
    tap_ok(row_count(m.w, RECORD_PARTING) == 0 && !last_report(&m), "and forgotten when it has");
    world_free(m.w, "last reports");
}

static void used_again(void)
{
    struct machine m;
    struct suitor s;
    struct tree *unit;

    machine_start(&m, "[ Type = \"Machine\"; Constraint = other.Cpus <= 4 ]");
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    tap_ok(say_start(&m, &s, 1, 101) != REASON_OK && m.w->launches == 1,
           "the number of a job that ended is not used again for another");
    unit = ad(m.w, "[ Type = \"Job\"; Cpus = 8; Owner = \"raman\" ]");
    tap_ok(say_activate(&m, &s, unit) != REASON_OK, "a claim is not used again for what the constraint refuses");
    unit = ad(m.w, "[ Type = \"Job\"; Cpus = 4; Owner = \"raman\" ]");
    tap_ok(say_activate(&m, &s, unit) == REASON_OK, "and is for what it accepts");
    tap_ok(say_start(&m, &s, 2, 101) == REASON_OK && m.w->launches == 2 && launcher_of(m.w, 1)->number == 2,
           "the next job starts under the next number");
    tap_ok(say_start(&m, &s, 1, 100) != REASON_OK && m.w->launches == 2, "a start of the job before is too late");
    world_free(m.w, "a claim used again");
}

/* Comes as raman himself, who may act for nobody else. */
static struct suitor raman_himself(struct machine *m)
{
    struct suitor s = suitor_new(m, 1, "raman");

    s.peer = (struct peer){.agent = 50, .identity = "raman", .channel = 500};
    return s;
}

static void claim_of_one_owner(void)
{
    struct machine m;
    struct suitor s;
    struct tree *calvins;

    machine_start(&m, PLAIN);
    calvins = ad(m.w, "[ Type = \"Job\"; Cpus = 3; Owner = \"calvin\" ]");
    s = raman_himself(&m);
    come_to(&m, &s, TENANT_CLAIMED);
    s.ad = calvins;
    tap_ok(say_start(&m, &s, 1, 100) != REASON_OK && m.w->launches == 0,
           "who may act for one owner only starts no job that says it is another's");
    world_drop(m.w);
    machine_start(&m, PLAIN);
    calvins = ad(m.w, "[ Type = \"Job\"; Cpus = 3; Owner = \"calvin\" ]");
    s = raman_himself(&m);
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    tap_ok(say_activate(&m, &s, calvins) != REASON_OK, "nor uses a claim again for such a job");
    world_drop(m.w);
    machine_start(&m, PLAIN);
    calvins = ad(m.w, "[ Type = \"Job\"; Cpus = 3; Owner = \"calvin\" ]");
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    tap_ok(say_activate(&m, &s, calvins) != REASON_OK,
           "a claim is its owner's: an agent of many users does not use it again for another");
    world_free(m.w, "a claim of one owner");
}

static void keys_turn(void)
{
    struct machine m;
    struct suitor s;
    struct key first;

    machine_start(&m, PLAIN);
    first = m.w->put.u.advertise.key;
    for (int i = 0; i < 3600 && key_equal(&first, &m.w->put.u.advertise.key); i++)
        pass(m.w, SECOND);
    tap_ok(!key_equal(&first, &m.w->put.u.advertise.key), "the key of the tickets turns");
    s = suitor_new(&m, 1, "raman");
    m.w->put.u.advertise.key = first;
    tap_ok(verify(&m, &s) == REASON_OK, "a ticket of the key before is good for a while: its match was in time");
    say_abort(&m, &s);
    pass(m.w, 2 * m.w->spans.window);
    m.w->put.u.advertise.key = first;
    s = suitor_new(&m, 2, "raman");
    tap_ok(verify(&m, &s) == REASON_OK, "at least for a window");
    say_abort(&m, &s);
    pass(m.w, HOUR);
    m.w->put.u.advertise.key = first;
    s = suitor_new(&m, 3, "raman");
    tap_ok(verify(&m, &s) == REASON_TICKET, "and forgotten in the end, by the provider's own clock");
    world_free(m.w, "keys");
}

static void usage(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    tap_ok(m.w->reports == 1 && m.w->report.claim == 1 && m.w->reported == 0 && !m.w->report.over,
           "the matchmaker hears at once that a match was claimed");
    pass_beating(&m, &s, 10 * MINUTE);
    tap_ok(m.w->reports > 0 && strcmp(m.w->report.owner.bytes, "raman") == 0 && m.w->report.claim == 1 &&
               m.w->report.gang == 1001 && !m.w->report.over,
           "the matchmaker is told whose claim it is while it lasts");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    say_release(&m, &s);
    pass(m.w, SECOND);
    tap_ok(m.w->report.over, "and when it is over");
    tap_ok(m.w->reported >= 10 * MINUTE - SECOND && m.w->reported <= 10 * MINUTE + SECOND,
           "all that was claimed is reported once");
    world_free(m.w, "usage");
}

/* What a match has taken of limits is held from its claim on: so the matchmaker is told of that, and of its end. */
static void claims_told(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    verify(&m, &s);
    tap_ok(m.w->reports == 0, "a match that is verified is not told of");
    say_commit(&m, &s);
    tap_ok(m.w->reports == 1 && !m.w->report.over, "one that is pinned is, once");
    pass(m.w, m.w->spans.pin / 2);
    tap_ok(m.w->reports == 1, "and not again when that has been heard");
    say_abort(&m, &s);
    tap_ok(m.w->reports == 2 && m.w->report.over && m.w->reported == 0,
           "that it was aborted is told, and nothing was used");
    world_free(m.w, "a pin that is aborted");

    machine_start(&m, PLAIN);
    m.w->agreeable = false;
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_PINNED);
    answer(m.w, sent_of(m.w, MESSAGE_REPORT), NULL);
    pass(m.w, m.w->spans.pin / 2);
    tap_ok(sent_of(m.w, MESSAGE_REPORT) != NULL, "it is told again when no answer came");
    world_free(m.w, "a report that is lost");

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    match(&m, &s, 1);
    pass(m.w, m.w->spans.window * 3 / 4);
    verify(&m, &s);
    tap_ok(m.w->reports == 1 && !m.w->report.over, "one that is verified late in its window is told of at once");
    pass(m.w, 2 * m.w->spans.window);
    tap_ok(m.w->reports == 2 && m.w->report.over && is_free(&m, 1), "and so is that nothing came of it");
    world_free(m.w, "a match that is verified late");
}

static void life_of_a_claim(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    pass_beating(&m, &s, m.w->spans.life + MINUTE);
    tap_ok(look(&m, 1).view.running, "a job may run longer than a claim lives");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    tap_ok(say_activate(&m, &s, s.ad) != REASON_OK, "a claim that has lived long enough is not used again");
    world_free(m.w, "the life of a claim");
}

/* ----------------------------------------------------------------------------------------------------------- leases */

static void heart_beats(void)
{
    struct machine m;
    struct suitor s;
    struct message beaten = {.kind = MESSAGE_BEATEN};
    int64_t lease, sent;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    lease = look(&m, 1).view.lease;
    tap_ok(lease == m.w->env.now + m.w->spans.lease, "a lease begins with the commit's acknowledgement");
    for (int i = 0; i < 60 && !sent_of(m.w, MESSAGE_BEAT); i++)
        pass(m.w, SECOND);
    tap_ok(sent_of(m.w, MESSAGE_BEAT) && m.w->env.now < lease && sent_of(m.w, MESSAGE_BEAT)->to == 50 &&
               sent_of(m.w, MESSAGE_BEAT)->message.u.beat.epoch == 1,
           "a heart beat is sent well within it, with the epoch");
    tap_ok(look(&m, 1).view.lease == lease, "sending one renews nothing");
    sent = sent_of(m.w, MESSAGE_BEAT)->message.u.beat.sent;
    pass(m.w, 5 * SECOND);
    beaten.u.beaten = (struct beaten){.claim = 1, .sent = sent};
    answer(m.w, sent_of(m.w, MESSAGE_BEAT), &beaten);
    tap_ok(look(&m, 1).view.lease == sent + m.w->spans.lease, "its acknowledgement does, from when it was sent");
    tap_ok(launcher_of(m.w, 1)->at == sent + m.w->spans.lease, "and the launcher is told the new deadline");
    pass_beating(&m, &s, 10 * MINUTE);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && launcher_of(m.w, 1) && !launcher_of(m.w, 1)->stopped,
           "while beats are acknowledged the job runs on");
    lease = look(&m, 1).view.lease;
    m.w->env.wall += 365 * 24 * HOUR;
    pass_beating(&m, &s, 5 * SECOND);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && look(&m, 1).view.lease < m.w->env.now + m.w->spans.lease + 1,
           "a wall clock that jumps is nothing to a lease");
    world_free(m.w, "heart beats");
}

static void beat_refused(void)
{
    struct machine m;
    struct suitor s;
    struct message beaten = {.kind = MESSAGE_BEATEN};
    int64_t lease;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    lease = look(&m, 1).view.lease;
    while (!sent_of(m.w, MESSAGE_BEAT))
        pass(m.w, SECOND);
    beaten.u.beaten =
        (struct beaten){.claim = 1, .reason = REASON_WAIT, .sent = sent_of(m.w, MESSAGE_BEAT)->message.u.beat.sent};
    answer(m.w, sent_of(m.w, MESSAGE_BEAT), &beaten);
    tap_ok(look(&m, 1).view.lease == lease && holds(&m, 1, TENANT_CLAIMED),
           "a heart beat that is answered but not acknowledged renews nothing");
    while (!sent_of(m.w, MESSAGE_BEAT))
        pass(m.w, SECOND);
    beaten.u.beaten = (struct beaten){.claim = 1, .sent = m.w->env.now + HOUR};
    answer(m.w, sent_of(m.w, MESSAGE_BEAT), &beaten);
    tap_ok(look(&m, 1).view.lease <= m.w->env.now + m.w->spans.lease,
           "an answer that names a time to come gives no more than a lease");
    world_free(m.w, "a heart beat refused");
}

static void lease_over(void)
{
    struct machine m;
    struct suitor s;
    int64_t lease;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    lease = look(&m, 1).view.lease;
    pass(m.w, lease - m.w->env.now - 1);
    tap_ok(look(&m, 1).view.running && holds(&m, 1, TENANT_CLAIMED), "a job runs up to the end of its lease");
    pass(m.w, 2);
    tap_ok(!holds(&m, 1, TENANT_CLAIMED), "at its end the claim is over");
    tap_ok(sent_count(m.w, MESSAGE_LEFT) == 0 && verify(&m, &(struct suitor){0}) != REASON_OK,
           "nothing is said while something of the job may be left");
    job_news(&m, 1, 1, JOB_GONE, REASON_LEASE, 0);
    tap_ok(sent_of(m.w, MESSAGE_LEFT) && sent_of(m.w, MESSAGE_LEFT)->to == 50 &&
               sent_of(m.w, MESSAGE_LEFT)->message.u.left.claim == 1 &&
               sent_of(m.w, MESSAGE_LEFT)->message.u.left.reason == REASON_LEASE,
           "when the job is gone the customer is told that the claim was left, and why");
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_TENANT) == 0, "and the machine is free");
    tap_ok(say_start(&m, &s, 2, 101) != REASON_OK && m.w->launches == 1, "a start after it finds nothing");
    tap_ok(pass_to(m.w, MESSAGE_LEFT, 3 * m.w->spans.deadline), "that is said again until it is answered");
    answer_claimed(&m, MESSAGE_LEFT, 1, REASON_OK);
    tap_ok(!pass_to(m.w, MESSAGE_LEFT, MINUTE), "and then no more");
    world_free(m.w, "the end of a lease");
}

/* ---------------------------------------------------------------------------------------------------------- release */

static void release_waits(void)
{
    struct machine m;
    struct suitor s;
    uint64_t first;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    tap_ok(say_release(&m, &s) == REASON_COUNT && m.w->stops == 1 && m.w->stop_span == m.w->spans.grace,
           "a release warns the job, and is not answered while something of it is left");
    first = m.w->token;
    tap_ok(holds(&m, 1, TENANT_STOPPING) && verify(&m, &(struct suitor){0}) != REASON_OK,
           "until then the machine is not free");
    say_release(&m, &s);
    tap_ok(m.w->stops == 1, "a repeated release does not hurry it");
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(m.w->replies[first].kind == MESSAGE_CLAIMED || reply(m.w)->kind == MESSAGE_CLAIMED,
           "when the job is gone it is answered");
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_TENANT) == 0, "and the machine is free");
    tap_ok(say_release(&m, &s) != REASON_COUNT, "a release after it is answered at once");
    tap_ok(sent_count(m.w, MESSAGE_LEFT) == 0, "who asked is not told again that it was left");
    world_free(m.w, "release");
}

static void release_without_job(void)
{
    struct machine m;
    struct suitor s;
    enum reason reason;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_CLAIMED);
    m.w->slow = true;
    reason = say_release(&m, &s);
    tap_ok(reason == REASON_COUNT, "released is not said before the claim's end is durable");
    world_durable(m.w);
    m.w->slow = false;
    tap_ok(reply(m.w)->kind == MESSAGE_CLAIMED && is_free(&m, 1), "a claim without a job is released at once");
    s = suitor_new(&m, 2, "raman");
    tap_ok(verify(&m, &s) == REASON_OK, "and the machine can be claimed again");
    world_free(m.w, "release without a job");
}

static void released_early(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    verify(&m, &s);
    tap_ok(say_attach(&m, &s, 2).reason != REASON_OK, "what is only verified cannot be attached to");
    tap_ok(say_release(&m, &s) != REASON_COUNT && is_free(&m, 1), "and is released at once");
    s = suitor_new(&m, 2, "raman");
    come_to(&m, &s, TENANT_PINNED);
    tap_ok(say_release(&m, &s) != REASON_COUNT && is_free(&m, 2) && row_count(m.w, RECORD_TENANT) == 0,
           "a pin is released as well");
    world_free(m.w, "early releases");
}

static void job_gone_by_itself(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 7, JOB_GONE, REASON_OK, 0);
    tap_ok(look(&m, 1).view.running, "news of another number change nothing");
    job_news(&m, 1, 1, JOB_GONE, REASON_OK, 0);
    tap_ok(is_free(&m, 1) && told_lost(&m, 1), "a job that vanishes is lost, and the customer is told");
    world_free(m.w, "a job that vanishes");
}

static void forgotten_by_the_customer(void)
{
    struct machine m;
    struct suitor s;
    struct message beaten = {.kind = MESSAGE_BEATEN, .u.beaten = {.claim = 1, .reason = REASON_UNKNOWN}};

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    answer(m.w, pass_to(m.w, MESSAGE_BEAT, MINUTE), &beaten);
    tap_ok(m.w->stops == 1 && holds(&m, 1, TENANT_STOPPING), "a claim that its customer does not know is ended");
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(is_free(&m, 1), "and its machine is free when the job is gone");
    world_free(m.w, "a customer that forgot");
}

static void older_messages(void)
{
    struct machine m;
    struct suitor s, stranger;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    s.sequence = 10;
    come_to_run(&m, &s, 100);
    stranger = s;
    stranger.peer.agent = 51;
    tap_ok(say_release(&m, &stranger) != REASON_COUNT && holds(&m, 1, TENANT_CLAIMED) && m.w->stops == 0,
           "another agent cannot release a claim");
    stranger.epoch = 9;
    tap_ok(say_attach(&m, &stranger, 9).reason != REASON_OK && look(&m, 1).view.epoch == 1, "nor attach to it");
    tap_ok(say_start(&m, &stranger, 2, 666) != REASON_OK && m.w->launches == 1, "nor start a job");
    tap_ok(say_abort(&m, &stranger) != REASON_COUNT && holds(&m, 1, TENANT_CLAIMED), "nor abort it");
    s.sequence = 100;
    s.epoch = 0;
    tap_ok(say_release(&m, &s) == REASON_STALE && reply(m.w)->u.claimed.epoch == 1 && m.w->stops == 0,
           "a release of an older epoch is stale, and hears the epoch that holds");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    s.epoch = 1;
    s.sequence = 3;
    tap_ok(say_start(&m, &s, 2, 101) == REASON_STALE && m.w->launches == 1,
           "a start older than the last message of the session is stale");
    s.sequence = 3;
    tap_ok(say_activate(&m, &s, s.ad) == REASON_STALE, "so is an activation");
    s.sequence = 3;
    tap_ok(say_release(&m, &s) != REASON_COUNT && holds(&m, 1, TENANT_CLAIMED), "so is a release");
    world_free(m.w, "older messages");
}

/* --------------------------------------------------------------------------------------------------------- nonsense */

static void not_for_a_provider(void)
{
    static const enum message_kind kinds[] = {MESSAGE_ADVERTISE, MESSAGE_WITHDRAW, MESSAGE_BEAT,
                                              MESSAGE_ASK,       MESSAGE_RESULT,   MESSAGE_LEFT,
                                              MESSAGE_REPORT,    MESSAGE_SUBMIT,   MESSAGE_CONTROL};
    struct peer peer = {.agent = 50, .identity = "raman", .channel = 1};
    struct machine m;

    machine_start(&m, PLAIN);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct message message = {.kind = kinds[i]};

        say(m.w, &peer, &message);
        tap_ok(reply(m.w)->kind == message_answer(kinds[i]) && reason_of(reply(m.w)) != REASON_OK,
               "%s is not for a provider, and is answered with a refusal", message_layout(kinds[i])->name);
    }
    for (enum message_kind kind = 1; kind < MESSAGE_COUNT; kind++) {
        struct message message = {.kind = kind};

        say(m.w, &peer, &message);
        if (message_answer(kind) && reason_of(reply(m.w)) == REASON_COUNT)
            world_blame(m.w, "an empty message is not answered", message_layout(kind)->name);
        if (!message_answer(kind) && reply(m.w)->kind)
            world_blame(m.w, "an answer that nobody asked for is answered", message_layout(kind)->name);
    }
    tap_ok(look(&m, 0).count == 0 && m.w->launches == 0,
           "messages with nothing in them are refused and change nothing");
    world_free(m.w, "messages with nothing in them");
}

static void no_ads(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    s.ad = NULL;
    tap_ok(verify(&m, &s) != REASON_OK && is_free(&m, 1), "who verifies without an ad is refused");
    s.ad = ad(m.w, "[ Type = \"Job\" ]");
    tap_ok(verify(&m, &s) != REASON_OK && is_free(&m, 1), "and whose ad has no owner");
    s.ad = ad(m.w, "[ Type = \"Job\"; Owner = 17 ]");
    tap_ok(verify(&m, &s) != REASON_OK && is_free(&m, 1), "or one that is no name");
    s = suitor_new(&m, 2, "raman");
    come_to(&m, &s, TENANT_CLAIMED);
    s.ad = NULL;
    say_start(&m, &s, 1, 100);
    tap_ok(reply(m.w)->kind == MESSAGE_CLAIMED, "a start without an ad has its answer");
    probe(&m, NULL);
    tap_ok(holds(&m, 2, TENANT_CLAIMED), "a probe that tells nothing ends no claim");
    world_free(m.w, "no ads");
}

static void random_event(struct machine *m, struct suitor *suitors, struct rng *rng)
{
    struct message message = {.kind = 1 + (enum message_kind)rng_below(rng, MESSAGE_COUNT - 1)};
    struct suitor *s = &suitors[rng_below(rng, 3)];
    struct event event = {.kind = EVENT_PROBED, .claim = rng_below(rng, 3)};

    switch (rng_below(rng, 12)) {
    case 0:
        event.ad = m->w->trees[3 + rng_below(rng, 5)];
        happen(m->w, &event);
        break;
    case 1:
        pass(m->w, (int64_t)rng_below(rng, 8) * SECOND);
        break;
    case 2:
        job_news(m, some_word(rng), some_word(rng), (enum job_news)rng_below(rng, 3), REASON_EXITED, 0);
        break;
    case 3:
        if (m->w->sent_count) {
            message.kind = message_answer(m->w->sent[0].message.kind);
            message_scramble(m->w, rng, &message);
            answer(m->w, &m->w->sent[0], rng_below(rng, 5) ? &message : NULL);
        }
        break;
    case 4:
        verify(m, s);
        break;
    case 5:
        say_commit(m, s);
        break;
    case 6:
        say_activate(m, s, NULL);
        break;
    case 7:
        say_start(m, s, some_word(rng), some_word(rng));
        break;
    case 8:
        if (!rng_below(rng, 20))
            world_restart(m->w, rng_below(rng, 2), SECOND);
        break;
    default:
        message_scramble(m->w, rng, &message);
        say(m->w, &s->peer, &message);
        break;
    }
}

static void nonsense(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(40);
    bool clean = true;

    for (uint64_t round = 0; round < rounds && clean; round++) {
        struct suitor suitors[3];
        struct machine m;
        struct rng rng;

        rng_init(&rng, seed + round);
        machine_start(&m, round % 2 ? SHARED : PLAIN);
        for (uint64_t i = 0; i < 3; i++)
            suitors[i] = suitor_new(&m, i + 1, "raman");
        ad(m.w, TYPING);
        ad(m.w, BUSY);
        ad(m.w, "[ Constraint = 1; Cpus = \"x\"; Owner = error; Count = -1 ]");
        for (int i = 0; i < 400 && !m.w->fault; i++)
            random_event(&m, suitors, &rng);
        if (m.w->fault)
            tap_diag("seed %llu: %s", (unsigned long long)(seed + round), m.w->fault);
        clean = !m.w->fault;
        world_drop(m.w);
    }
    tap_ok(clean, "whatever comes in whatever order, the books are in order (seed %llu, %llu rounds)",
           (unsigned long long)seed, (unsigned long long)rounds);
}

/* --------------------------------------------------------------------------------------------------- what it may use */

#define ROOMY                                                                                                \
    "[ Type = \"Machine\"; Cpus = 8; Memory = 64; Slots = 5; Weight = other.RequestCpus; "                   \
    "Constraint = other.RequestCpus <= Cpus && other.RequestMemory <= Memory && other.Network isnt true && " \
    "other.TimeLimit <= 60; "                                                                                \
    "Residual = [ Cpus = Cpus - other.RequestCpus; Memory = Memory - other.RequestMemory; Slots = Slots - Takes ] ]"
#define SLY                                                                                                         \
    "[ Type = \"Job\"; Owner = \"raman\"; RequestCpus = isUndefined(other.Type) ? 64 : 1; "                         \
    "RequestMemory = isUndefined(other.Type) ? 3000 : 16; RequestProcesses = isUndefined(other.Type) ? 9999 : 10; " \
    "Takes = other.Memory >= 64 ? 1 : 5; Network = isUndefined(other.Type); TimeLimit = isUndefined(other.Type) ? " \
    "100000 : 30 ]"
#define FIXED "RequestCpus == 1 && RequestMemory == 16 && RequestProcesses == 10"

/* An ad can see whether an offer stands opposite. */
static void limits_are_fixed(void)
{
    struct machine m;
    struct suitor s, other;

    machine_start(&m, ROOMY);
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, SLY);
    come_to(&m, &s, TENANT_PINNED);
    tap_ok(ad_says(m.w, look(&m, 1).view.ad, FIXED " && Takes == 1"),
           "what a claim may use is fixed when it is verified, with the offer beside its ad");
    other = suitor_new(&m, 2, "calvin");
    other.peer.agent = 51;
    other.ad = ad(
        m.w, "[ Type = \"Job\"; Owner = \"calvin\"; RequestCpus = 2; RequestMemory = 40; Takes = 1; TimeLimit = 1 ]");
    come_to(&m, &other, TENANT_CLAIMED);
    tap_ok(advertises(&m, "Cpus == 5 && Memory == 8 && Slots == 3"), "others have what is left beside these numbers");
    say_activate(&m, &s, NULL);
    tap_ok(say_start(&m, &s, 1, 100) == REASON_OK && ad_says(m.w, m.w->launched, FIXED),
           "it is launched with them, whatever its ad says alone");
    tap_ok(ad_says(m.w, m.w->launched, "Network == false && TimeLimit == 30") && m.w->launchers[0].span == 30 * SECOND,
           "and with what the owner's constraint has seen");
    tap_ok(advertises(&m, "Cpus == 5 && Memory == 8 && Slots == 3"), "what it takes does not move");
    world_restart(m.w, true, SECOND);
    probe(&m, AWAY);
    tap_ok(ad_says(m.w, look(&m, 1).view.ad, FIXED) && ad_says(m.w, look(&m, 1).view.duty.ad, FIXED),
           "after a restart the numbers are the same");
    world_free(m.w, "limits are fixed");
}

/* The next job of a claim, and a start, bring ads of their own. */
static void limits_of_the_next(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, ROOMY);
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w,
              "[ Type = \"Job\"; Owner = \"raman\"; RequestCpus = 2; RequestMemory = 16; Takes = 1; TimeLimit = 30 ]");
    come_to_run(&m, &s, 100);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    s.ad = ad(m.w, "[ Type = \"Job\"; Owner = \"raman\"; RequestCpus = 8; RequestMemory = 64; RequestProcesses = 5000; "
                   "Takes = 2; TimeLimit = 30 ]");
    tap_ok(say_activate(&m, &s, s.ad) == REASON_OK && advertises(&m, "Cpus == 6 && Memory == 48 && Slots == 4"),
           "the next job of a claim takes no more than was pinned");
    tap_ok(say_start(&m, &s, 2, 101) == REASON_OK &&
               ad_says(m.w, m.w->launched, "RequestCpus == 2 && RequestMemory == 16 && isUndefined(RequestProcesses)"),
           "nor is it launched with more");
    job_news(&m, 1, 2, JOB_EXITED, REASON_EXITED, 0);
    s.ad = ad(m.w,
              "[ Type = \"Job\"; Owner = \"raman\"; RequestCpus = 1; RequestMemory = 16; Takes = 1; TimeLimit = 30 ]");
    tap_ok(say_activate(&m, &s, s.ad) == REASON_OK && advertises(&m, "Cpus == 7 && Memory == 48"),
           "one that takes less leaves more to others");
    world_free(m.w, "limits of the next job");
}

/* A limit that is said in seconds of a machine of another speed. */
static void limit_is_normalised(void)
{
    static const struct {
        const char *machine, *job, *sentence;
        int64_t span;
    } cases[] = {
        {"[ Type = \"Machine\"; Benchmark = 200000; Constraint = other.TimeLimit <= 1800 ]",
         "NormalisedTimeLimit = 3600",
         "a machine that is twice as fast lets it run for half of that, and its owner sees so", 1800 * SECOND},
        {"[ Type = \"Machine\"; Benchmark = 50000.0; Constraint = true ]", "NormalisedTimeLimit = 3600",
         "one that is half as fast, for twice that", 7200 * SECOND},
        {"[ Type = \"Machine\"; Constraint = true ]", "NormalisedTimeLimit = 3600",
         "one that does not say, for as long", 3600 * SECOND},
        {"[ Type = \"Machine\"; Benchmark = 200000; Constraint = other.TimeLimit <= 1800 ]",
         "NormalisedTimeLimit = 3600; TimeLimit = 100000", "whatever the job says besides", 1800 * SECOND},
        {"[ Type = \"Machine\"; Benchmark = -1; Constraint = true ]", "NormalisedTimeLimit = 3600",
         "a speed that is none counts as nothing", 3600 * SECOND},
    };
    struct machine m;
    struct suitor s;
    char text[200];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        machine_start(&m, cases[i].machine);
        s = suitor_new(&m, 1, "raman");
        snprintf(text, sizeof text, "[ Type = \"Job\"; Owner = \"raman\"; %s ]", cases[i].job);
        s.ad = ad(m.w, text);
        come_to_run(&m, &s, 100);
        tap_ok(m.w->launches == 1 && m.w->launchers[0].span == cases[i].span, "%s", cases[i].sentence);
        world_free(m.w, "a normalised limit");
    }
}

/* ------------------------------------------------------------------------------------------- a machine that is unwell */

static void machine_at_fault(void)
{
    struct machine m;
    struct suitor s, other, third;
    struct sent *sent;

    machine_start(&m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    other = suitor_new(&m, 2, "calvin");
    other.peer.agent = 51;
    come_to_run(&m, &other, 200);
    job_news(&m, 1, 1, JOB_EXITED, REASON_FAULT, 0);
    sent = sent_of(m.w, MESSAGE_LEFT);
    tap_ok(sent && sent->message.u.left.claim == 1 && sent->message.u.left.reason == REASON_SETUP &&
               !sent_of(m.w, MESSAGE_RESULT) && is_free(&m, 1),
           "a job that the machine could not run has no result: its claim ends, and that is why");
    tap_ok(holds(&m, 2, TENANT_CLAIMED) && look(&m, 2).view.running, "those that run go on");
    tap_ok(advertises(&m, "Constraint == false && Unwell == \"a job could not be run\""),
           "the machine is seen, with the reason, and takes nobody");
    third = suitor_new(&m, 3, "raman");
    tap_ok(verify(&m, &third) == REASON_DRAINING && is_free(&m, 3), "who comes all the same is refused");
    probe(&m, "[ KeybrdIdle = '01:00'; LoadAvg = 0.04; Unwell = \"no room\" ]");
    tap_ok(advertises(&m, "Constraint == false && Unwell == \"no room\"") && verify(&m, &third) == REASON_DRAINING,
           "as long as a look at it says that it is unwell");
    tap_ok(holds(&m, 2, TENANT_CLAIMED) && look(&m, 2).view.running, "and still they go on");
    probe(&m, AWAY);
    tap_ok(advertises(&m, "Cpus == 5 && isUndefined(Unwell)") && verify(&m, &third) == REASON_OK,
           "when it is well again it takes others");
    world_free(m.w, "a machine at fault");
}

static void fault_and_restart(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_CLAIMED);
    probe(&m, "[ KeybrdIdle = '01:00'; LoadAvg = 0.04; Unwell = \"no room\" ]");
    tap_ok(is_free(&m, 1), "a claim that waits for its job is given up by a machine that becomes unwell");
    world_free(m.w, "unwell before the start");
}

int main(void)
{
    tickets();
    used_tickets();
    keys_turn();
    one_at_a_time();
    constraint_now();
    commit_is_durable();
    pins_end();
    pins_and_restarts();
    asked_and_aborted();
    activation_in_time();
    activation_is_durable();
    start_and_launch();
    one_job_at_a_time();
    results();
    results_are_kept();
    last_reports_are_kept();
    used_again();
    claim_of_one_owner();
    life_of_a_claim();
    usage();
    claims_told();
    heart_beats();
    beat_refused();
    lease_over();
    release_waits();
    release_without_job();
    released_early();
    job_gone_by_itself();
    forgotten_by_the_customer();
    older_messages();
    not_for_a_provider();
    no_ads();
    nonsense();
    limits_are_fixed();
    limits_of_the_next();
    limit_is_normalised();
    machine_at_fault();
    fault_and_restart();
    return tap_done();
}
