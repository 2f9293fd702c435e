/* provider_owner_test.c: an owner sends jobs away, has them stand still, drains a machine, divides it, and has whom he likes better. */
#include "suitor.h"

#define KEPT                                                                                        \
    "[ Type = \"Machine\"; Memory = 64; Preemption = true; Rank = other.Owner == \"ada\" ? 2 : 1; " \
    "Constraint = other.Type == \"Job\" ]"
#define KEPT_SHARED                                                                              \
    "[ Type = \"Machine\"; Cpus = 8; Preemption = true; Rank = other.Owner == \"ada\" ? 2 : 1; " \
    "Constraint = Cpus > 0 && other.Cpus <= Cpus; Residual = [ Cpus = Cpus - other.Cpus ] ]"

/* ----------------------------------------------------------------------------------------------------- owner, units */

static void veto(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, OWNED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    probe(&m, TYPING);
    tap_ok(m.w->stops == 1 && m.w->stop_span == m.w->spans.grace, "when the owner comes back the job is warned");
    tap_ok(holds(&m, 1, TENANT_STOPPING) && sent_count(m.w, MESSAGE_LEFT) == 0, "and has its time of grace");
    probe(&m, AWAY);
    tap_ok(m.w->stops == 1 && holds(&m, 1, TENANT_STOPPING), "that he leaves again does not save it");
    job_news(&m, 1, 1, JOB_GONE, REASON_VETOED, 0);
    tap_ok(sent_of(m.w, MESSAGE_LEFT) && sent_of(m.w, MESSAGE_LEFT)->message.u.left.reason == REASON_VETOED,
           "when it is gone the customer is told why");
    tap_ok(is_free(&m, 1), "and the machine is free");
    answer_claimed(&m, MESSAGE_LEFT, 1, REASON_OK);
    pass(m.w, MINUTE);
    tap_ok(sent_count(m.w, MESSAGE_LEFT) == 0, "once that is answered it is not said again");
    world_free(m.w, "veto");
}

static void result_beats_veto(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, OWNED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    probe(&m, TYPING);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    tap_ok(sent_of(m.w, MESSAGE_RESULT) && sent_of(m.w, MESSAGE_RESULT)->message.u.result.reason == REASON_EXITED,
           "a job that ends by itself while it is warned has its result");
    world_free(m.w, "a result under veto");
}

static void suspension(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, "[ Type = \"Machine\"; Cpus = 4; Busy = false; Constraint = !Busy && other.Type == \"Job\"; "
                      "Suspend = Busy && other.Owner == \"raman\" ]");
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    probe(&m, "[ Load = 1 ]");
    tap_ok(!m.w->suspended && holds(&m, 1, TENANT_CLAIMED), "a job runs while the owner does not mind");
    world_free(m.w, "no suspension");

    machine_start(&m, "[ Type = \"Machine\"; Cpus = 4; Constraint = !Busy && other.Type == \"Job\"; "
                      "Suspend = Busy && other.Owner == \"raman\" ]");
    probe(&m, "[ Busy = false ]");
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    probe(&m, "[ Busy = true ]");
    tap_ok(m.w->suspended && holds(&m, 1, TENANT_CLAIMED),
           "by Suspend it stands still, and is not sent away though the constraint would");
    probe(&m, "[ Busy = false ]");
    tap_ok(!m.w->suspended && holds(&m, 1, TENANT_CLAIMED), "and goes on when that is over");
    world_free(m.w, "suspension");
}

static struct suitor shared_tenant(struct machine *m, uint64_t claim)
{
    struct suitor s = suitor_new(m, claim, "raman");

    s.peer.agent = 50 + claim;
    come_to_run(m, &s, 100 + claim);
    return s;
}

static void shares(void)
{
    struct machine m;
    struct suitor first, second, third;

    machine_start(&m, SHARED);
    tap_ok(advertises(&m, "Cpus == 8"), "a divisible machine is offered whole first");
    first = shared_tenant(&m, 1);
    tap_ok(look(&m, 1).view.running && advertises(&m, "Cpus == 5"), "a claim takes its part, and the rest is offered");
    second = shared_tenant(&m, 2);
    tap_ok(look(&m, 2).view.running && look(&m, 1).view.running && advertises(&m, "Cpus == 2"),
           "a second takes its own, and less is offered");
    third = suitor_new(&m, 3, "raman");
    tap_ok(verify(&m, &third) != REASON_OK && is_free(&m, 3), "a third that is larger than what is left is refused");
    tap_ok(ad_says(m.w, provider_offer(m.w->role, 0), "Cpus == 8"), "the machine itself is as large as before");
    third.ad = ad(m.w, "[ Type = \"Job\"; Cpus = 2; Owner = \"raman\" ]");
    tap_ok(verify(&m, &third) == REASON_OK && ad_says(m.w, third.heard.ad, "Cpus == 2"),
           "a smaller one fits, and is shown what is left");
    tap_ok(say_commit(&m, &third) == REASON_OK && m.w->withdrawals == 1, "when nothing is left the ad is withdrawn");
    world_restart(m.w, true, SECOND);
    probe(&m, AWAY);
    tap_ok(look(&m, 1).count == 3 && !advertises(&m, "Cpus > 2"), "a restarted provider knows what it has given away");
    say_release(&m, &first);
    tap_ok(!advertises(&m, "Cpus == 3"), "what is released is not offered while its job is not gone");
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(advertises(&m, "Cpus == 3"), "and is when it is");
    say_release(&m, &second);
    job_news(&m, 2, 1, JOB_GONE, REASON_RELEASED, 0);
    pass(m.w, m.w->spans.pin + SECOND);
    tap_ok(advertises(&m, "Cpus == 8") && look(&m, 0).count == 0, "when all have gone it is offered whole");
    world_free(m.w, "shares");
}

/* A job that is larger than what was claimed for it must not take what others are offered. */
static void no_larger_than_claimed(void)
{
    struct machine m;
    struct suitor s;
    enum reason reason;

    machine_start(&m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_CLAIMED);
    s.ad = ad(m.w, "[ Type = \"Job\"; Cpus = 8; Owner = \"raman\" ]");
    reason = say_start(&m, &s, 1, 100);
    s = suitor_new(&m, 2, "calvin");
    s.peer.agent = 51;
    tap_ok(reason != REASON_OK || verify(&m, &s) != REASON_OK || ad_says(m.w, m.w->launched, "Cpus == 3"),
           "a job that needs more than was claimed is refused, gets no more than that, or it is not offered to others");
    world_free(m.w, "a larger job");
}

static void shares_under_verification(void)
{
    struct machine m;
    struct suitor s[4];
    int pinned = 0;

    machine_start(&m, SHARED);
    for (int i = 0; i < 4; i++) {
        s[i] = suitor_new(&m, (uint64_t)i + 1, "raman");
        s[i].peer.agent = 50 + (uint64_t)i;
        verify(&m, &s[i]);
    }
    for (int i = 0; i < 4; i++)
        pinned += say_commit(&m, &s[i]) == REASON_OK;
    tap_ok(pinned >= 1 && pinned <= 2, "those verified together pin no more than there is");
    world_free(m.w, "verified together");
}

static void drain(void)
{
    struct machine m;
    struct suitor s, late;
    struct event event = {.kind = EVENT_DRAIN};
    uint32_t puts;

    machine_start(&m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    happen(m.w, &event);
    puts = m.w->puts;
    tap_ok(m.w->withdrawals == 1, "a machine that is drained withdraws its ad");
    late = suitor_new(&m, 2, "raman");
    tap_ok(verify(&m, &late) == REASON_DRAINING && is_free(&m, 2), "and takes no more claims, and says why");
    tap_ok(look(&m, 1).view.running && m.w->stops == 0, "what runs runs on");
    probe(&m, BUSY);
    pass_beating(&m, &s, 10 * MINUTE);
    tap_ok(m.w->puts == puts && look(&m, 1).view.running, "it is not advertised again");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    answer_claimed(&m, MESSAGE_RESULT, 1, REASON_OK);
    tap_ok(say_activate(&m, &s, s.ad) != REASON_OK, "a claim is not used again while it drains");
    say_release(&m, &s);
    pass(m.w, MINUTE);
    tap_ok(look(&m, 1).count == 0 && m.w->puts == puts, "and it ends as its claims end");
    world_free(m.w, "drain");
}

static void drain_what_waits(void)
{
    struct machine m;
    struct suitor s, verified;
    struct event event = {.kind = EVENT_DRAIN};

    machine_start(&m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_CLAIMED);
    verified = suitor_new(&m, 2, "raman");
    verify(&m, &verified);
    happen(m.w, &event);
    tap_ok(say_commit(&m, &verified) != REASON_OK && is_free(&m, 2), "who was verified when it drains is too late");
    tap_ok(is_free(&m, 1) && sent_of(m.w, MESSAGE_LEFT) &&
               sent_of(m.w, MESSAGE_LEFT)->message.u.left.reason == REASON_DRAINING,
           "a claim without a job is left, and its customer is told why");
    world_free(m.w, "drain without jobs");
}

static void drain_now(void)
{
    struct machine m;
    struct suitor s, pinned;
    struct event event = {.kind = EVENT_DRAIN}, resume = {.kind = EVENT_RESUME};

    machine_start(&m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    happen(m.w, &event);
    tap_ok(m.w->stops == 0 && look(&m, 1).view.running, "a machine that drains lets its job run");
    event.status = 1;
    happen(m.w, &event);
    tap_ok(m.w->stops == 1 && holds(&m, 1, TENANT_STOPPING), "until it is told that it has to go: it is warned");
    happen(m.w, &event);
    tap_ok(m.w->stops == 1, "once, however often that is said");
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(is_free(&m, 1) && sent_of(m.w, MESSAGE_LEFT) &&
               sent_of(m.w, MESSAGE_LEFT)->message.u.left.reason == REASON_DRAINING,
           "when nothing of it is left its customer is told why");
    happen(m.w, &resume);
    pinned = suitor_new(&m, 2, "raman");
    tap_ok(advertises(&m, "Cpus == 8") && verify(&m, &pinned) == REASON_OK,
           "and when it is to take work again, it is advertised and takes it");
    world_free(m.w, "drain now");
}

/* Before it begins it is told that it was drained when it ended: then nobody ever sees it offered. */
static void drained_before(void)
{
    struct machine m;
    struct suitor s, late;
    struct event event = {.kind = EVENT_DRAIN}, resume = {.kind = EVENT_RESUME};
    uint32_t puts;

    machine_start(&m, SHARED);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    puts = m.w->puts;
    m.w->first = &event;
    world_restart(m.w, true, SECOND);
    m.w->first = NULL;
    pass_beating(&m, &s, MINUTE);
    late = suitor_new(&m, 2, "raman");
    tap_ok(m.w->puts == puts && look(&m, 1).view.running && verify(&m, &late) == REASON_DRAINING,
           "one that was drained before it restarted offers nothing, and its job runs on");
    happen(m.w, &resume);
    tap_ok(m.w->puts > puts, "until it is to take work again");
    world_free(m.w, "drained before");
}

/* ---------------------------------------------------------------------------------------------------------- preemption */

/* One who was matched with the ad that was advertised last. */
static struct suitor successor_new(struct machine *m, uint64_t claim, const char *owner)
{
    struct suitor s = suitor_new(m, claim, owner);

    s.offer = m->w->put.u.advertise.id;
    s.peer.agent = 50 + claim;
    return s;
}

/* The second ad that stands at the matchmaker and of which that is true, or NULL. */
static struct message *second_there(struct machine *m, const char *expr)
{
    for (uint32_t i = 0; i < ADS_THERE; i++) {
        struct message *put = &m->w->there[i];

        if (put->kind == MESSAGE_ADVERTISE && put->u.advertise.id != OFFER && ad_says(m->w, put->u.advertise.ad, expr))
            return put;
    }
    return NULL;
}

static uint32_t seconds_there(struct machine *m)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < ADS_THERE; i++)
        count += m->w->there[i].kind == MESSAGE_ADVERTISE && m->w->there[i].u.advertise.id != OFFER;
    return count;
}

/* One who was matched with that ad. */
static struct suitor successor_at(struct machine *m, uint64_t claim, const char *owner, const struct message *put)
{
    struct suitor s = suitor_new(m, claim, owner);

    s.offer = put ? put->u.advertise.id : 0;
    s.key = put ? &put->u.advertise.key : NULL;
    s.peer.agent = 50 + claim;
    return s;
}

/* A machine on which raman's job runs under claim 1. */
static struct suitor kept_start(struct machine *m, const char *text)
{
    struct suitor s;

    machine_start(m, text);
    s = suitor_new(m, 1, "raman");
    come_to_run(m, &s, 100);
    return s;
}

static uint64_t behind(struct machine *m, uint64_t claim)
{
    struct tenant_view view = look(m, claim).view;

    return view.behind.count ? view.behind.claims[0] : 0;
}

static void second_ads(void)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT);
    uint32_t puts;

    tap_ok(advertises(&m, "Preempts == \"0000000000000001\" && RemoteUser == \"raman\" && RemoteOwner == \"raman\" && "
                          "CurrentRank == 1 && ServiceTime == '0:00' && ImageSize == 0 && Memory == 64") &&
               m.w->put.u.advertise.id != OFFER,
           "beside a claim a second ad is advertised, if the owner says Preemption");
    puts = m.w->puts;
    pass_beating(&m, &s, m.w->spans.lifetime / 3 - 2 * SECOND);
    tap_ok(m.w->puts <= puts + 1, "it is not told every second how long the claim lasts");
    pass_beating(&m, &s, 4 * SECOND);
    tap_ok(advertises(&m, "ServiceTime > '0:00:30' && ServiceTime <= '1:00:00'"), "but now and then");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    say_release(&m, &s);
    tap_ok(advertises(&m, "Preempts is undefined && Memory == 64") && m.w->put.u.advertise.id == OFFER &&
               m.w->withdrawals > 0,
           "when the claim is over the second ad is withdrawn, and the first one is there again");
    world_free(m.w, "the second ad");
    kept_start(&m, PLAIN);
    tap_ok(m.w->put.u.advertise.id == OFFER && m.w->withdrawals == 1, "an owner who does not say so has none");
    world_free(m.w, "no second ad");
    kept_start(&m, "[ Type = \"Machine\"; Preemption = other.Owner != \"raman\"; Constraint = other.Type == \"Job\" ]");
    tap_ok(m.w->put.u.advertise.id == OFFER && m.w->withdrawals == 1, "he may say whose jobs are safe");
    world_free(m.w, "a job that is safe");
    machine_start(&m, KEPT);
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Type = \"Job\"; Cpus = 3; Owner = \"raman\"; AccountingGroup = \"physics\"; "
                   "Constraint = other.Type == \"Machine\" ]");
    come_to_run(&m, &s, 100);
    tap_ok(advertises(&m, "Preempts == \"0000000000000001\" && RemoteUser == \"raman\" && RemoteGroup == \"physics\""),
           "it says the group that the job is charged to");
    world_free(m.w, "a job of a group");
}

static void preempts(void)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT), next = successor_new(&m, 2, "ada"), other = successor_new(&m, 3, "ada");
    uint32_t launches = m.w->launches;

    match(&m, &next, 1);
    tap_ok(verify(&m, &next) == REASON_OK && ad_says(m.w, next.heard.ad, "Preempts is undefined && Memory == 64"),
           "a successor is verified as if the claim had ended");
    tap_ok(say_commit(&m, &next) == REASON_OK && holds(&m, 2, TENANT_PINNED) && behind(&m, 2) == 1,
           "and pinned behind it");
    tap_ok(m.w->stops == 0 && holds(&m, 1, TENANT_CLAIMED), "nothing is evicted before the gang has formed");
    tap_ok(verify(&m, &other) == REASON_BUSY, "there is one successor at a time");
    tap_ok(say_activate(&m, &next, NULL) == REASON_WAIT && m.w->stops == 1 && m.w->stop_span == m.w->spans.grace,
           "activation begins the eviction, with its time of grace, and is answered: wait");
    tap_ok(holds(&m, 1, TENANT_STOPPING) && holds(&m, 2, TENANT_CLAIMED) && behind(&m, 2) == 1,
           "the successor is claimed meanwhile, and waits");
    tap_ok(say_start(&m, &next, 1, 200) == REASON_WAIT && m.w->launches == launches, "it cannot start");
    next.sequence -= 2;
    tap_ok(say_activate(&m, &next, NULL) == REASON_WAIT && m.w->stops == 1, "saying it again changes nothing");
    pass_beating(&m, &next, m.w->spans.lease * 2);
    tap_ok(holds(&m, 2, TENANT_CLAIMED), "its heart beats keep it, however long that takes");
    job_news(&m, 1, 1, JOB_GONE, REASON_PREEMPTED, 0);
    tap_ok(is_free(&m, 1) && sent_of(m.w, MESSAGE_LEFT) &&
               sent_of(m.w, MESSAGE_LEFT)->message.u.left.reason == REASON_PREEMPTED,
           "when nothing is left of it its customer hears why");
    next.sequence--;
    tap_ok(say_activate(&m, &next, NULL) == REASON_OK && behind(&m, 2) == 0, "then the way is free");
    tap_ok(say_start(&m, &next, 1, 200) == REASON_OK && m.w->launches == launches + 1, "and the successor starts");
    tap_ok(advertises(&m, "RemoteUser == \"ada\" && CurrentRank == 2"), "now it is the one that may have to go");
    (void)s;
    world_free(m.w, "a preemption");
}

static void release_saves_nobody(void)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT), next = successor_new(&m, 2, "ada");

    come_to(&m, &next, TENANT_CLAIMED);
    tap_ok(say_release(&m, &s) == REASON_COUNT && holds(&m, 1, TENANT_STOPPING) && m.w->stops == 1,
           "a release while it is evicted changes nothing");
    job_news(&m, 1, 1, JOB_GONE, REASON_PREEMPTED, 0);
    tap_ok(is_free(&m, 1) && reason_of(reply(m.w)) == REASON_RELEASED && behind(&m, 2) == 0,
           "it is answered when nothing is left, and the successor follows");
    world_free(m.w, "a release while evicted");
}

static void successor_gives_up(void)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT), next = successor_new(&m, 2, "ada"), last;
    struct key key = m.w->put.u.advertise.key;
    uint32_t puts;

    match(&m, &next, 1);
    come_to(&m, &next, TENANT_PINNED);
    tap_ok(m.w->update.kind == MESSAGE_WITHDRAW || m.w->withdrawals > 0,
           "while there is a successor no second ad is there");
    puts = m.w->puts;
    say_abort(&m, &next);
    tap_ok(is_free(&m, 2) && holds(&m, 1, TENANT_CLAIMED) && m.w->stops == 0, "when it aborts, the claim goes on");
    tap_ok(m.w->puts > puts && advertises(&m, "RemoteUser == \"raman\""), "and the second ad is there again");
    tap_ok(key_equal(&key, &m.w->put.u.advertise.key), "with the same key, since it is for the same claim");
    last = successor_new(&m, 3, "ada");
    come_to(&m, &last, TENANT_PINNED);
    pass_beating(&m, &s, m.w->spans.pin + SECOND);
    tap_ok(is_free(&m, 3) && holds(&m, 1, TENANT_CLAIMED) && m.w->stops == 0,
           "nor does a pin lease that ends disturb it");
    world_free(m.w, "successors that give up");
}

static void claim_ends_first(void)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT), next = successor_new(&m, 2, "ada");
    uint32_t puts;

    come_to(&m, &next, TENANT_PINNED);
    puts = m.w->puts;
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    say_release(&m, &s);
    tap_ok(is_free(&m, 1) && behind(&m, 2) == 0 && holds(&m, 2, TENANT_PINNED),
           "a claim that ends by itself makes room");
    tap_ok(m.w->puts == puts && accepts(&m, "ada") != REASON_OK, "nothing is offered in between");
    tap_ok(say_activate(&m, &next, NULL) == REASON_OK && m.w->stops == 0, "and nobody has to be evicted");
    world_free(m.w, "a claim that ends first");
}

static void ranks_and_tickets(void)
{
    struct machine m;
    struct suitor s, worse, equal, late;
    struct key key;

    machine_start(&m, KEPT);
    s = suitor_new(&m, 1, "ada");
    come_to_run(&m, &s, 100);
    worse = successor_new(&m, 2, "raman");
    tap_ok(verify(&m, &worse) == REASON_CONSTRAINT, "who is liked less than the present one is refused");
    equal = successor_new(&m, 3, "ada");
    tap_ok(verify(&m, &equal) == REASON_OK, "who is liked as well may come, if the matchmaker's policy says so");
    say_abort(&m, &equal);
    late = successor_new(&m, 4, "ada");
    key = m.w->put.u.advertise.key;
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    say_release(&m, &s);
    tap_ok(verify(&m, &late) == REASON_UNKNOWN, "who comes when the claim is over finds nothing to follow");
    s = suitor_new(&m, 5, "raman");
    come_to_run(&m, &s, 100);
    late.key = &key;
    tap_ok(verify(&m, &late) == REASON_TICKET, "a ticket for one claim is not good for the next");
    world_free(m.w, "ranks and tickets");
}

static void successors_and_restarts(void)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT), next = successor_new(&m, 2, "ada");
    uint32_t stops;

    come_to(&m, &next, TENANT_PINNED);
    world_restart(m.w, true, SECOND);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && holds(&m, 2, TENANT_PINNED) && behind(&m, 2) == 1 && m.w->stops == 0,
           "after a restart a successor is still behind the claim");
    tap_ok(say_activate(&m, &next, NULL) == REASON_WAIT && m.w->stops == 1, "and its activation evicts");
    stops = m.w->stops;
    world_restart(m.w, true, SECOND);
    tap_ok(m.w->stops > stops && holds(&m, 1, TENANT_STOPPING) && behind(&m, 2) == 1,
           "an eviction goes on after a restart");
    job_news(&m, 1, 1, JOB_GONE, REASON_PREEMPTED, 0);
    tap_ok(behind(&m, 2) == 0 && holds(&m, 2, TENANT_CLAIMED), "to its end");
    world_restart(m.w, true, SECOND);
    next.sequence--;
    tap_ok(behind(&m, 2) == 0 && say_activate(&m, &next, NULL) == REASON_OK, "which is remembered");
    (void)s;
    world_free(m.w, "successors and restarts");
}

/* After a reboot it goes down again when so many of its rows are on disk; then it starts once more, in that boot. How many there were in all.
 * A disk has its rows in any order: as they came, or `turned`. */
static uint32_t reboot_torn(uint32_t durable, bool turned, bool *ret_free)
{
    struct machine m;
    struct suitor s = kept_start(&m, KEPT), next = successor_new(&m, 2, "ada");
    uint32_t rows;

    come_to(&m, &next, TENANT_PINNED);
    say_activate(&m, &next, NULL);
    for (uint32_t i = 0; turned && i < m.w->row_count / 2; i++) {
        struct record row = m.w->rows[i];

        m.w->rows[i] = m.w->rows[m.w->row_count - 1 - i];
        m.w->rows[m.w->row_count - 1 - i] = row;
    }
    m.w->slow = true;
    world_restart(m.w, false, SECOND);
    rows = m.w->pending_count;
    for (uint32_t i = 0; i < durable && i < rows; i++)
        row_keep(m.w, &m.w->pending[i]);
    m.w->slow = false;
    world_restart(m.w, true, SECOND);
    *ret_free = is_free(&m, 1) && is_free(&m, 2);
    (void)s;
    world_drop(m.w);
    return rows;
}

static void successors_and_reboots(void)
{
    for (int turned = 0; turned < 2; turned++) {
        bool all = true, freed = true;
        uint32_t rows = 0;

        for (uint32_t durable = 0; durable <= rows; durable++) {
            rows = reboot_torn(durable, turned, &freed);
            all = all && freed;
        }
        tap_ok(all && rows >= 3, "claims from before a reboot stay lost, whatever of its %u rows was written", rows);
    }
}

static void shares_and_successors(void)
{
    struct machine m;
    struct suitor one, two, next, small;
    struct key key;

    machine_start(&m, KEPT_SHARED);
    key = m.w->put.u.advertise.key;
    one = suitor_new(&m, 1, "ada");
    one.peer.agent = 51;
    come_to_run(&m, &one, 101);
    two = suitor_new(&m, 2, "raman");
    two.key = &key;
    come_to_run(&m, &two, 102);
    tap_ok(second_there(&m, "Preempts == \"0000000000000002\" && Cpus == 5 && Residual is undefined"),
           "of several claims the one that the owner likes least may have to go: the ad is what is left without it");
    next = successor_at(&m, 3, "ada", second_there(&m, "Preempts == \"0000000000000002\""));
    next.ad = ad(m.w, "[ Type = \"Job\"; Cpus = 5; Owner = \"ada\" ]");
    small = suitor_new(&m, 4, "eve");
    small.key = &key;
    small.ad = ad(m.w, "[ Type = \"Job\"; Cpus = 2; Owner = \"eve\" ]");
    come_to(&m, &next, TENANT_PINNED);
    tap_ok(holds(&m, 3, TENANT_PINNED) && behind(&m, 3) == 2, "the successor may take more than the claim has");
    tap_ok(verify(&m, &small) == REASON_CONSTRAINT, "what it takes beyond that is reserved at once");
    say_abort(&m, &next);
    tap_ok(verify(&m, &small) == REASON_OK, "and free again when it does not come");
    world_free(m.w, "shares and successors");
}

/* ------------------------------------------------------------------------------------------------- several for one */

#define LIKED                                                                                                \
    "[ Type = \"Machine\"; Cpus = 8; Preemption = true; Rank = isUndefined(other.Worth) ? 0 : other.Worth; " \
    "Constraint = Cpus > 0 && other.Cpus <= Cpus; Residual = [ Cpus = Cpus - other.Cpus ] ]"

/* One whose job wants so many processors, and of that worth to the owner. */
static struct tree *wants(struct machine *m, const char *owner, int cpus, int worth)
{
    char text[160];

    snprintf(text, sizeof text, "[ Type = \"Job\"; Owner = \"%s\"; Cpus = %d; Worth = %d; ImageSize = 100 ]", owner,
             cpus, worth);
    return ad(m->w, text);
}

/* A machine of eight processors with four jobs of two: claims 1 and 3 are raman's and 2 is eve's, worth nothing; 4 is raman's, worth 1. */
static void liked_start(struct machine *m, struct suitor s[4])
{
    static const char *const owners[] = {"raman", "eve", "raman", "raman"};
    struct key key;

    machine_start(m, LIKED);
    key = m->w->put.u.advertise.key;
    for (int i = 0; i < 4; i++) {
        s[i] = suitor_new(m, 1 + (uint64_t)i, owners[i]);
        s[i].peer.agent = 51 + (uint64_t)i;
        s[i].key = &key;
        s[i].ad = wants(m, owners[i], 2, i == 3);
        come_to_run(m, &s[i], 101 + (uint64_t)i);
    }
}

static bool is_behind(struct machine *m, uint64_t claim, uint32_t count, uint64_t one, uint64_t other)
{
    struct tenant_view view = look(m, claim).view;
    bool has_one = false, has_other = false;

    for (uint32_t i = 0; i < view.behind.count; i++) {
        has_one = has_one || view.behind.claims[i] == one;
        has_other = has_other || view.behind.claims[i] == other;
    }
    return view.behind.count == count && has_one && has_other;
}

static void ads_for_several(void)
{
    struct suitor s[4];
    struct machine m;

    liked_start(&m, s);
    tap_ok(seconds_there(&m) == 4, "beside four claims there are as many second ads as there are sets that differ");
    tap_ok(second_there(&m, "Preempts == \"0000000000000001\" && Cpus == 2 && CurrentRank == 0 && RemoteUser == "
                            "\"raman\" && ImageSize == 100"),
           "one for the claim that the owner would rather see go");
    tap_ok(second_there(&m,
                        "size(Preempts) == 2 && member(\"0000000000000003\", Preempts) && Cpus == 4 && RemoteUser == "
                        "\"raman\" && ImageSize == 200"),
           "one for all of its user that are liked as little");
    tap_ok(second_there(&m, "size(Preempts) == 3 && Cpus == 6 && CurrentRank == 0 && size(RemoteUser) == 2 && "
                            "member(\"eve\", RemoteUser) && member(\"raman\", RemoteOwner) && Residual is undefined"),
           "one for all that are liked as little, which names all their users");
    tap_ok(second_there(&m, "size(Preempts) == 4 && Cpus == 8 && CurrentRank == 1"),
           "and one for those that are liked better as well");
    world_free(m.w, "second ads for several claims");
    machine_start(&m, KEPT);
    s[0] = suitor_new(&m, 1, "raman");
    s[0].ad = ad(m.w, "[ Type = \"Job\"; Cpus = 3; Owner = \"raman\"; ImageSize = 1e300 ]");
    come_to_run(&m, &s[0], 100);
    tap_ok(second_there(&m, "ImageSize == 9000000000000000"), "a size beyond all bounds is told as a very large one");
    world_free(m.w, "a size beyond all bounds");
}

static void several_for_one(void)
{
    struct suitor s[4], next, small;
    struct machine m;
    uint32_t launches;

    liked_start(&m, s);
    launches = m.w->launches;
    next = successor_at(&m, 5, "ada", second_there(&m, "size(Preempts) == 4"));
    next.ad = wants(&m, "ada", 3, 5);
    small = successor_at(&m, 6, "ada", second_there(&m, "Cpus == 2"));
    small.ad = wants(&m, "ada", 1, 5);
    come_to(&m, &next, TENANT_PINNED);
    tap_ok(is_behind(&m, 5, 2, 1, 2),
           "of all whom the ad names only as many are in front as have to go: those liked least");
    tap_ok(m.w->stops == 0 && holds(&m, 1, TENANT_CLAIMED) && holds(&m, 2, TENANT_CLAIMED),
           "nothing is evicted before the gang has formed");
    tap_ok(seconds_there(&m) == 0 && verify(&m, &small) == REASON_BUSY,
           "meanwhile there is no second ad, and who was matched with another one hears that");
    tap_ok(say_activate(&m, &next, NULL) == REASON_WAIT && m.w->stops == 2, "activation begins both evictions");
    tap_ok(holds(&m, 3, TENANT_CLAIMED) && holds(&m, 4, TENANT_CLAIMED), "and no other");
    job_news(&m, 1, 1, JOB_GONE, REASON_PREEMPTED, 0);
    tap_ok(is_free(&m, 1) && behind(&m, 5) == 2 && say_start(&m, &next, 1, 200) == REASON_WAIT,
           "when one is gone it still waits for the other");
    tap_ok(accepts(&m, "raman") != REASON_OK, "and nobody else gets what is free meanwhile");
    world_restart(m.w, true, SECOND);
    tap_ok(behind(&m, 5) == 2 && holds(&m, 2, TENANT_STOPPING), "after a restart too");
    job_news(&m, 2, 1, JOB_GONE, REASON_PREEMPTED, 0);
    next.sequence -= 2;
    tap_ok(say_activate(&m, &next, NULL) == REASON_OK && look(&m, 5).view.behind.count == 0 &&
               say_start(&m, &next, 1, 200) == REASON_OK && m.w->launches == launches + 1,
           "when both are it starts");
    world_free(m.w, "several for one");
}

static void who_goes(void)
{
    struct suitor s[4], next, worse;
    struct machine m;

    liked_start(&m, s);
    worse = successor_at(&m, 5, "ada", second_there(&m, "size(Preempts) == 4"));
    worse.ad = wants(&m, "ada", 8, 0);
    tap_ok(verify(&m, &worse) == REASON_CONSTRAINT, "who is liked less than one of those that must go is refused");
    worse.ad = wants(&m, "ada", 6, 0);
    tap_ok(verify(&m, &worse) == REASON_OK, "but not for one that may stay");
    say_abort(&m, &worse);
    next = successor_at(&m, 6, "ada", second_there(&m, "size(Preempts) == 2"));
    next.ad = wants(&m, "ada", 6, 5);
    tap_ok(verify(&m, &next) == REASON_CONSTRAINT, "whom the ad does not name does not go");
    next = successor_at(&m, 7, "ada", second_there(&m, "size(Preempts) == 2"));
    next.ad = wants(&m, "ada", 4, 5);
    come_to(&m, &next, TENANT_PINNED);
    tap_ok(is_behind(&m, 7, 2, 1, 3), "also where others are liked as little");
    world_restart(m.w, true, SECOND);
    tap_ok(is_behind(&m, 7, 2, 1, 3) && m.w->stops == 0, "who is in front is known after a restart");
    job_news(&m, 2, 1, JOB_EXITED, REASON_EXITED, 0);
    say_release(&m, &s[1]);
    tap_ok(is_free(&m, 2) && say_activate(&m, &next, NULL) == REASON_WAIT && m.w->stops == 1 &&
               look(&m, 7).view.behind.count == 1,
           "what others leave in the meantime saves as many as need not go any more");
    world_free(m.w, "who goes");
}

static void several_tickets(void)
{
    struct suitor s[4], next, late;
    struct message *put;
    struct machine m;
    struct key key, all;

    liked_start(&m, s);
    put = second_there(&m, "size(Preempts) == 3");
    key = put->u.advertise.key;
    all = second_there(&m, "size(Preempts) == 4")->u.advertise.key;
    next = successor_at(&m, 5, "ada", put);
    next.key = &key;
    next.ad = wants(&m, "ada", 4, 5);
    late = successor_at(&m, 6, "ada", second_there(&m, "size(Preempts) == 4"));
    late.key = &all;
    late.ad = wants(&m, "ada", 8, 5);
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    say_release(&m, &s[0]);
    tap_ok(verify(&m, &next) == REASON_OK && is_behind(&m, 5, 1, 2, 2),
           "a ticket is good when one of the claims has ended meanwhile");
    say_abort(&m, &next);
    s[0] = suitor_new(&m, 7, "raman");
    s[0].ad = wants(&m, "raman", 2, 0);
    for (uint32_t i = 0; i < ADS_THERE; i++)
        if (m.w->there[i].kind == MESSAGE_ADVERTISE && m.w->there[i].u.advertise.id == OFFER)
            s[0].key = &m.w->there[i].u.advertise.key;
    come_to_run(&m, &s[0], 107);
    tap_ok(holds(&m, 7, TENANT_CLAIMED) && verify(&m, &late) == REASON_TICKET,
           "but not when another has begun, which it did not name");
    world_free(m.w, "tickets for several");
}

int main(void)
{
    suspension();
    veto();
    result_beats_veto();
    shares();
    no_larger_than_claimed();
    shares_under_verification();
    drain();
    drain_what_waits();
    drain_now();
    drained_before();
    second_ads();
    preempts();
    release_saves_nobody();
    successor_gives_up();
    claim_ends_first();
    ranks_and_tickets();
    successors_and_restarts();
    successors_and_reboots();
    shares_and_successors();
    ads_for_several();
    several_for_one();
    who_goes();
    several_tickets();
    return tap_done();
}
