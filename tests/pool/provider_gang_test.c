/* provider_gang_test.c: a machine in a gang: docked by a link, with others below it, and below a service. */
#include "suitor.h"

/* --------------------------------------------------------------------------------------------------- ports and gangs */

static void docked_by_a_link(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m,
                  "[ Type = \"Machine\"; Memory = 64; Ports = { [ Label = spare; Essential = false ], [ Label = job; "
                  "Constraint = job.Size <= Memory && job.Owner == \"raman\" ] } ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Size = 1; Ports = { [ Label = a; Size = 100 ], [ Label = b; Size = 60 ] } ]");
    s.port = 1;
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT,
           "nobody comes in by a port that accepts everybody while another is empty that must be filled");
    s.link = 1;
    s.port = 0;
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT, "a link that does not like the superior's port refuses it");
    s.port = 1;
    tap_ok(verify(&m, &s) == REASON_OK, "and accepts another port of the same ad");
    say_abort(&m, &s);
    s.link = 2;
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT, "there is no third port");
    s.link = 1;
    s.port = 2;
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT, "nor has the superior one");
    s.port = 1;
    come_to_run(&m, &s, 100);
    tap_ok(look(&m, 1).view.running, "a claim is pinned, activated and started by its ports");
    world_restart(m.w, true, SECOND);
    pass_beating(&m, &s, MINUTE);
    tap_ok(look(&m, 1).view.running && m.w->stops == 0, "which are known after a restart");
    world_free(m.w, "docked by a link");

    machine_start(
        &m, "[ Type = \"Link\"; Mbps = 100; Ports = { [ Label = user; Constraint = user.Mbps <= Mbps ] }; Residual "
            "= [ Mbps = Mbps - other.Mbps ] ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Ports = { [ Label = a; Mbps = 90 ], [ Label = b; Mbps = 30 ] } ]");
    s.port = 1;
    come_to(&m, &s, TENANT_PINNED);
    tap_ok(advertises(&m, "Mbps == 70"), "what is left of an offer is what that port leaves of it");
    s = suitor_new(&m, 2, "raman");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Mbps = 80 ]");
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT, "others are accepted by what is left");
    world_free(m.w, "what a port leaves");
}

/* Whoever docks sees what the port says before what the ad says: so no port may say who its owner is. */
static void ports_that_pretend(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, "[ Type = \"Machine\"; Constraint = other.Owner == \"calvin\" ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Ports = { [ Label = a; Size = 1 ] } ]");
    tap_ok(verify(&m, &s) == REASON_CONSTRAINT, "a machine that takes one user's jobs refuses another's");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Ports = { [ Label = a; Owner = \"calvin\" ] } ]");
    tap_ok(verify(&m, &s) != REASON_OK && is_free(&m, 1), "also if a port of theirs has the right name for its owner");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Ports = { [ Choose = 1; Owner = \"calvin\"; Ports = { [ Label = a ] } ] } ]");
    tap_ok(verify(&m, &s) != REASON_OK && is_free(&m, 1), "or a group of ports has");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Ports = { [ Label = Owner; Type = \"calvin\" ] } ]");
    tap_ok(verify(&m, &s) != REASON_OK && is_free(&m, 1), "or a label is Owner");
    world_free(m.w, "ports that pretend");
}

/* A root that verifies its members again and again, and never commits, has each for a window at a time. */
static void verified_for_ever(void)
{
    struct machine m;
    struct suitor s, other;

    machine_start(&m, "[ Type = \"Machine\"; Memory = 64; Constraint = true ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Ports = { [ Label = a; Size = 1 ], [ Label = b; Size = 2 ] } ]");
    tap_ok(verify(&m, &s) == REASON_OK && holds(&m, 1, TENANT_VERIFIED), "a root verifies a member, and does no more");
    other = suitor_new(&m, 2, "calvin");
    tap_ok(verify(&m, &other) == REASON_BUSY, "meanwhile others hear that it is busy");
    pass(m.w, m.w->spans.window / 2);
    verify(&m, &s);
    pass(m.w, m.w->spans.window / 2 + SECOND);
    tap_ok(is_free(&m, 1), "repeating it does not make the window longer");
    other = suitor_new(&m, 3, "calvin");
    tap_ok(verify(&m, &other) == REASON_OK && say_commit(&m, &other) == REASON_OK, "then another has it");
    world_free(m.w, "verified for ever");
}

static void executes_nothing(void)
{
    struct machine m;
    struct suitor s;
    struct event drain = {.kind = EVENT_DRAIN};

    machine_start(&m, "[ Type = \"License\"; Executes = false; Constraint = other.Type == \"Job\" ]");
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_CLAIMED);
    tap_ok(say_start(&m, &s, 1, 100) == REASON_OK && m.w->launches == 0 && !look(&m, 1).view.running,
           "a member that executes nothing is started, and launches nothing");
    pass_beating(&m, &s, 10 * MINUTE);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && m.w->withdrawals == 1, "it holds its unit, and its heart beats");
    world_restart(m.w, true, SECOND);
    pass_beating(&m, &s, MINUTE);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && look(&m, 1).view.number == 1, "also after a restart");
    tap_ok(say_activate(&m, &s, s.ad) == REASON_OK && say_start(&m, &s, 2, 101) == REASON_OK && m.w->launches == 0,
           "the next job may begin at once");
    happen(m.w, &drain);
    tap_ok(holds(&m, 1, TENANT_CLAIMED), "it is in use, when it is drained, until it is released");
    tap_ok(say_release(&m, &s) == REASON_RELEASED && is_free(&m, 1), "which is done at once");
    world_free(m.w, "what executes nothing");

    machine_start(&m, "[ Type = \"License\"; Constraint = other.Type == \"Job\" ]");
    probe(&m, "[ Executes = false ]"); /* as `berth provide` says of what it offers */
    s = suitor_new(&m, 1, "raman");
    come_to(&m, &s, TENANT_CLAIMED);
    say_start(&m, &s, 1, 100);
    world_restart(m.w, true, SECOND);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && !sent_of(m.w, MESSAGE_LEFT),
           "that nothing was launched is known after a restart, before the first probe: it is not taken for lost");
    probe(&m, "[ Executes = false ]");
    pass_beating(&m, &s, MINUTE);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && look(&m, 1).view.number == 1, "and it holds its unit as before");
    world_free(m.w, "what executes nothing, as a probe says");
}

static void cleared_for_the_next(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    come_to_run(&m, &s, 100);
    tap_ok(say_activate(&m, &s, s.ad) == REASON_BUSY && m.w->stops == 1,
           "when the gang goes on to its next job, what still runs of the last one is ended");
    tap_ok(say_activate(&m, &s, s.ad) == REASON_BUSY && m.w->stops == 1, "once");
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && !sent_of(m.w, MESSAGE_LEFT), "the claim is not over for that");
    tap_ok(say_activate(&m, &s, s.ad) == REASON_OK && say_start(&m, &s, 2, 101) == REASON_OK && m.w->launches == 2,
           "and the next job starts");
    world_free(m.w, "cleared for the next");
}

/* Somebody below the machine. */
struct under {
    struct peer peer;
    uint64_t claim;
    struct key ticket, nonce;
    struct tree *ad;
    uint64_t epoch, number, job;
    uint32_t starts, releases;
};

#define UNDER 2

/* The machine hears whom it leads. */
static void match_inner(struct machine *m, struct suitor *s, struct under *under)
{
    struct message match = {.kind = MESSAGE_MATCH};
    struct peer matchmaker = {.agent = MATCHMAKER, .identity = "matchmaker", .channel = 1};
    struct edges *edges = edges_new(UNDER);

    for (uint32_t i = 0; i < UNDER; i++) {
        under[i] = (struct under){.peer = {.agent = 60 + i, .identity = "under", .channel = 600 + i},
                                  .claim = 70 + i,
                                  .ticket = {{(unsigned char)i, 7}},
                                  .nonce = {{(unsigned char)i, 8}},
                                  .ad = ad(m->w, "[ Memory = 16; Site = 1 ]")};
        edges->items[i] = (struct edge){.claim = under[i].claim,
                                        .agent = under[i].peer.agent,
                                        .offer = 5,
                                        .port = 1 + i,
                                        .ticket = under[i].ticket,
                                        .ad = tree_ref(under[i].ad)};
    }
    match.u.match_told = (struct match_told){.id = s->offer,
                                             .incarnation = INCARNATION,
                                             .number = 1,
                                             .window = m->w->spans.window,
                                             .gang = s->gang,
                                             .claim = s->claim,
                                             .superior = s->peer.agent,
                                             .superior_ad = s->ad,
                                             .edges = edges};
    say(m->w, &matchmaker, &match);
    edges_unref(edges);
}

static struct sent *under_asked(struct machine *m, const struct under *under)
{
    for (uint32_t i = 0; i < m->w->sent_count; i++)
        if (m->w->sent[i].to == under->peer.agent)
            return &m->w->sent[i];
    return NULL;
}

static void under_agrees(struct machine *m, struct under *under, struct sent *sent)
{
    const struct message *message = &sent->message;
    struct message reply = {.kind = MESSAGE_CLAIMED, .u.claimed = {under->claim, under->epoch, REASON_OK}};

    if (message->kind == MESSAGE_VERIFY) {
        reply = (struct message){.kind = MESSAGE_VERIFIED};
        reply.u.verified = (struct verified){.claim = under->claim, .nonce = under->nonce, .ad = under->ad};
        reply.u.verified.reason = message->u.verify.proves ? REASON_OK : REASON_CHALLENGE;
        ticket_proof(&m->w->secrets, &under->ticket, false, &under->nonce, &message->u.verify.nonce,
                     under->peer.channel, &reply.u.verified.proof);
    } else if (message->kind == MESSAGE_COMMIT) {
        reply.u.claimed.epoch = under->epoch = message->u.commit.epoch;
    } else if (message->kind == MESSAGE_START) {
        under->starts++;
        under->number = message->u.start.number;
        under->job = message->u.start.job;
    } else if (message->kind == MESSAGE_RELEASE) {
        under->releases++;
        reply.u.claimed.reason = REASON_RELEASED;
    } else if (message->kind == MESSAGE_ATTACH) {
        under->epoch = message->u.attach.epoch;
        reply = (struct message){.kind = MESSAGE_ATTACHED};
        reply.u.attached = (struct attached){under->claim,  under->epoch, REASON_OK,        true,
                                             under->number, under->job,   under->starts > 0};
    }
    answer_from(m->w, sent, &under->peer, &reply);
    matchmaker_answers(m->w);
}

/* All below agree to all that they are asked. */
static void unders_agree(struct machine *m, struct under *under)
{
    for (uint32_t i = 0; i < 40; i++)
        if (under_asked(m, &under[i % UNDER]))
            under_agrees(m, &under[i % UNDER], under_asked(m, &under[i % UNDER]));
}

static enum reason under_left(struct machine *m, const struct under *under)
{
    struct message message = {.kind = MESSAGE_LEFT, .u.left = {under->claim, under->epoch, REASON_LEASE}};

    return reason_of(say(m->w, &under->peer, &message));
}

static enum reason under_result(struct machine *m, const struct under *under, int64_t status)
{
    struct message message = {.kind = MESSAGE_RESULT};

    message.u.result = (struct result){under->claim, under->number, under->job, REASON_EXITED, status, SECOND, false};
    return reason_of(say(m->w, &under->peer, &message));
}

#define INNER(more, first, second)                                                                     \
    "[ Type = \"Machine\"; " more                                                                      \
    " Ports = { [ Label = up; Constraint = up.Type == \"Job\" ], [ Label = a; Executes = true; " first \
    " Constraint = a.Memory == 16 ], [ Label = b; Executes = true; Wants = a.Site; " second            \
    " Constraint = b.Site == a.Site ] } ]"

/* A machine with two below it, and its superior; all have been told to start. */
static void inner_start(struct machine *m, struct suitor *s, struct under *under, const char *text)
{
    machine_start(m, text);
    *s = suitor_new(m, 1, "raman");
    match_inner(m, s, under);
    verify(m, s);
    unders_agree(m, under);
    say_commit(m, s);
    unders_agree(m, under);
    say_activate(m, s, NULL);
    unders_agree(m, under);
    say_start(m, s, 1, 100);
    unders_agree(m, under);
}

static void inner_ports(void)
{
    struct machine m;
    struct suitor s;
    struct under under[UNDER];

    machine_start(&m, INNER("", "", ""));
    s = suitor_new(&m, 1, "raman");
    match_inner(&m, &s, under);
    verify(&m, &s);
    tap_ok(under_asked(&m, &under[1]) &&
               ad_says(m.w, under_asked(&m, &under[1])->message.u.verify.ad, "Ports[2].Wants == 1"),
           "an inner member tells each below it what hangs on the other");
    under[0].ad = ad(m.w, "[ Memory = 16; Site = 2 ]");
    unders_agree(&m, under);
    tap_ok(reply(m.w)->kind == MESSAGE_VERIFIED && reason_of(reply(m.w)) != REASON_OK && is_free(&m, 1),
           "it is not verified itself when its own ports do not accept those below it");
    world_free(m.w, "inner ports");
}

static void inner_reduced(void)
{
    struct machine m;
    struct suitor s;
    struct under under[UNDER];

    inner_start(&m, &s, under, INNER("", "Essential = false;", ""));
    tap_ok(under[0].starts == 1 && under[1].starts == 1 && m.w->launches == 1,
           "an inner member and all below it start");
    tap_ok(under_left(&m, &under[0]) == REASON_OK && holds(&m, 1, TENANT_CLAIMED) && !under_asked(&m, &under[1]) &&
               !sent_of(m.w, MESSAGE_LEFT),
           "it goes on without one that is not essential, and tells nobody");
    tap_ok(row_of(m.w, RECORD_BRANCH, under[0].claim)->u.branch_record.dropped, "but records it");
    world_restart(m.w, true, SECOND);
    tap_ok(under_asked(&m, &under[0])->message.kind == MESSAGE_RELEASE &&
               under_asked(&m, &under[1])->message.kind == MESSAGE_ATTACH,
           "after a restart it attaches to those that are left");
    unders_agree(&m, under);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && look(&m, 1).view.running, "and goes on");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 0);
    tap_ok(say_activate(&m, &s, s.ad) == REASON_LIFE, "it is not used for the next job");
    say_release(&m, &s);
    unders_agree(&m, under);
    tap_ok(is_free(&m, 1) && row_count(m.w, RECORD_BRANCH) == 0, "it is released with all that is left");
    world_free(m.w, "an inner member goes on");

    inner_start(&m, &s, under, INNER("", "Essential = false;", ""));
    under_left(&m, &under[1]);
    tap_ok(holds(&m, 1, TENANT_STOPPING) && m.w->stops == 1 &&
               under_asked(&m, &under[0])->message.kind == MESSAGE_RELEASE,
           "without one that is essential it ends, and releases the other");
    unders_agree(&m, under);
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(sent_of(m.w, MESSAGE_LEFT) != NULL, "and tells its superior");
    world_free(m.w, "an inner member ends");
}

/* Told to activate, not yet cleared below, and both ends restart: it begins whole all the same. */
static void inner_unbegun(void)
{
    struct machine m;
    struct suitor s;
    struct under under[UNDER];

    machine_start(&m, INNER("", "Essential = false;", ""));
    s = suitor_new(&m, 1, "raman");
    match_inner(&m, &s, under);
    verify(&m, &s);
    unders_agree(&m, under);
    say_commit(&m, &s);
    unders_agree(&m, under);
    say_activate(&m, &s, NULL);
    world_restart(m.w, true, SECOND);
    tap_ok(say_attach(&m, &s, 2).reason == REASON_OK && holds(&m, 1, TENANT_CLAIMED),
           "an inner member that has not cleared the way below is attached to after restarts");
    under_left(&m, &under[0]);
    tap_ok(!holds(&m, 1, TENANT_CLAIMED), "it has not begun: without one below it ends, essential or not");
    world_free(m.w, "restarts before the way is clear");
}

/* Two of its offers are in one gang, and only one of them leads somebody. */
static void inner_beside(void)
{
    struct machine m;
    struct event event = {.kind = EVENT_PROBED, .claim = 1};
    struct suitor plain, s;
    struct under under[UNDER];

    machine_make(&m, PLAIN);
    m.ads[1] = ad(m.w, INNER("", "", ""));
    m.settings.count = 2;
    world_start(m.w);
    probe(&m, AWAY);
    plain = suitor_new(&m, 1, "raman");
    come_to(&m, &plain, TENANT_CLAIMED);
    event.ad = ad(m.w, "[ Left = 7 ]");
    happen(m.w, &event);
    s = suitor_new(&m, 2, "raman");
    s.offer = OFFER + 1;
    s.gang = plain.gang;
    match_inner(&m, &s, under);
    verify(&m, &s);
    unders_agree(&m, under);
    say_commit(&m, &s);
    unders_agree(&m, under);
    say_activate(&m, &s, NULL);
    unders_agree(&m, under);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && holds(&m, 2, TENANT_CLAIMED), "two offers are members of one gang");
    world_restart(m.w, true, SECOND);
    unders_agree(&m, under);
    say_release(&m, &plain);
    tap_ok(is_free(&m, 1) && holds(&m, 2, TENANT_CLAIMED) && !under_asked(&m, &under[0]),
           "after a restart the one without members is released by itself");
    say_release(&m, &s);
    tap_ok(holds(&m, 2, TENANT_STOPPING) && under_asked(&m, &under[0])->message.kind == MESSAGE_RELEASE,
           "and the other when all that it leads are gone");
    unders_agree(&m, under);
    tap_ok(is_free(&m, 2) && row_count(m.w, RECORD_BRANCH) == 0, "then nothing is left");
    world_free(m.w, "two members of one gang");
}

static void inner_results(void)
{
    struct machine m;
    struct suitor s;
    struct under under[UNDER];

    inner_start(&m, &s, under, INNER("", "Essential = false;", ""));
    tap_ok(under_result(&m, &under[1], 0) == REASON_OK && holds(&m, 1, TENANT_CLAIMED) && !sent_of(m.w, MESSAGE_RESULT),
           "one below that ends well is no loss, and no result");
    under_result(&m, &under[0], 1);
    tap_ok(holds(&m, 1, TENANT_CLAIMED) && under_asked(&m, &under[0])->message.kind == MESSAGE_RELEASE,
           "one that fails and is not essential is dropped");
    tap_ok(under_result(&m, &under[1], 1) == REASON_WAIT && holds(&m, 1, TENANT_STOPPING),
           "one that fails and is essential ends it, and is to say so again until it is over");
    world_restart(m.w, true, SECOND);
    unders_agree(&m, under);
    under_result(&m, &under[1], 1);
    tap_ok(holds(&m, 1, TENANT_STOPPING), "so a restart between does not revive it");
    unders_agree(&m, under);
    job_news(&m, 1, 1, JOB_GONE, REASON_RELEASED, 0);
    tap_ok(is_free(&m, 1) && under_result(&m, &under[1], 1) == REASON_UNKNOWN, "then it need not any more");
    world_free(m.w, "results below");

    inner_start(&m, &s, under, INNER("Executes = false;", "", ""));
    tap_ok(m.w->launches == 0 && under[0].starts == 1 && under[1].starts == 1,
           "one that executes nothing starts those below it all the same");
    under_result(&m, &under[1], 0);
    tap_ok(!sent_of(m.w, MESSAGE_RESULT), "the second below it has no say");
    tap_ok(under_result(&m, &under[0], 4) == REASON_OK && sent_of(m.w, MESSAGE_RESULT) &&
               sent_of(m.w, MESSAGE_RESULT)->message.u.result.claim == 1 &&
               sent_of(m.w, MESSAGE_RESULT)->message.u.result.status == 4,
           "the result of the first is its own");
    under_result(&m, &under[0], 4);
    tap_ok(row_count(m.w, RECORD_OUTCOME) == 1, "once");
    world_free(m.w, "a result from below");
}

/* ------------------------------------------------------------------------------------------------ below a service */

/* A service comes to claim, with its port for machines, for a job of raman's. */
static struct suitor matchmakerd_new(struct machine *m)
{
    struct suitor s = suitor_new(m, 1, "services");

    s.root_owner = "raman";
    s.port = 1;
    s.ad =
        ad(m->w,
           "[ Type = \"Service\"; Owner = \"services\"; AccountingGroup = \"none\"; Executes = false; TimeLimit = 5; "
           "Ports = { [ Label = up ], [ Label = cpu; Type = \"Job\"; RequestMemory = 16 ] } ]");
    return s;
}

static struct tree *task_of(struct machine *m)
{
    return ad(m->w, "[ Type = \"Job\"; Owner = \"raman\"; Cmd = \"render\"; TimeLimit = 60; RequestMemory = 4096; "
                    "RequestDisk = 100; AccountingGroup = \"film\"; ConcurrencyLimits = \"render:2\" ]");
}

static enum reason start_job(struct machine *m, struct suitor *s, struct tree *task, uint64_t job, uint64_t number)
{
    struct message start = {.kind = MESSAGE_START};

    start.u.start = (struct start){.claim = s->claim,
                                   .epoch = s->epoch,
                                   .sequence = ++s->sequence,
                                   .job = job,
                                   .number = number,
                                   .ad = s->ad,
                                   .task = task,
                                   .customer = 7,
                                   .line = 77,
                                   .pass = {{1, 2, 3}}};
    return reason_of(say(m->w, &s->peer, &start));
}

static enum reason start_task(struct machine *m, struct suitor *s, struct tree *task)
{
    return start_job(m, s, task, 100, 1);
}

/* The customer, 7, answers what it was asked. What the service's start is answered with then. */
static enum reason tell_task_as(struct machine *m, const char *identity, struct tree *task, enum reason reason)
{
    struct peer customer = {.agent = 7, .identity = identity, .channel = 7};
    struct sent *sent = sent_of(m->w, MESSAGE_TASK);
    struct message told = {.kind = MESSAGE_TASKED};

    if (!sent || sent->to != 7)
        return REASON_INVALID;
    told.u.task_told = (struct task_told){.claim = sent->message.u.task_asked.claim, .reason = reason};
    if (reason == REASON_OK) {
        told.u.task_told.ad = task;
        told.u.task_told.line = 77;
        told.u.task_told.pass = (struct key){{3, 2, 3}};
    }
    answer_from(m->w, sent, &customer, &told);
    return reason_of(reply(m->w));
}

static enum reason tell_task(struct machine *m, struct tree *task, enum reason reason)
{
    return tell_task_as(m, "raman", task, reason);
}

static bool duty_is(struct machine *m, uint64_t claim)
{
    struct duty duty = look(m, claim).view.duty;

    return duty.customer == 7 && duty.line == 77 && duty.pass.bytes[0] == 3 && !duty.helps &&
           ad_says(m->w, duty.ad, "Cmd == \"render\"");
}

static bool result_told(struct machine *m, agent to, uint64_t claim, int64_t status)
{
    for (uint32_t i = 0; i < m->w->sent_count; i++) {
        const struct sent *sent = &m->w->sent[i];

        if (sent->message.kind == MESSAGE_RESULT && sent->to == to && sent->message.u.result.claim == claim &&
            sent->message.u.result.status == status)
            return true;
    }
    return false;
}

/* An answer that comes when the next job is to be started already is not about that one. */
static void answered_late(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, "[ Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\" ]");
    s = matchmakerd_new(&m);
    come_to(&m, &s, TENANT_CLAIMED);
    start_job(&m, &s, NULL, 100, 1);
    start_job(&m, &s, NULL, 101, 2);
    tap_ok(tell_task(&m, task_of(&m), REASON_OK) == REASON_WAIT && m.w->launches == 0,
           "what the customer says of a job is not taken for the next one");
    start_job(&m, &s, NULL, 101, 2);
    tap_ok(tell_task(&m, task_of(&m), REASON_OK) == REASON_OK && m.w->launches == 1, "which it is asked about again");
    world_free(m.w, "answered late");
}

static void below_a_service(void)
{
    struct machine m;
    struct suitor s;

    machine_start(
        &m, "[ Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\" && other.RequestMemory <= Memory; "
            "Residual = [ Memory = Memory - other.RequestMemory ] ]");
    s = matchmakerd_new(&m);
    come_to(&m, &s, TENANT_CLAIMED);
    pass_beating(&m, &s, 2 * m.w->spans.lease);
    tap_ok(m.w->reports == 0, "below a service nothing is reported before it is known what runs: of which group it is");
    start_task(&m, &s, ad(m.w, "[ Type = \"Job\"; Owner = \"raman\"; Cmd = \"steal\" ]"));
    tap_ok(m.w->launches == 0 && sent_of(m.w, MESSAGE_TASK) && sent_of(m.w, MESSAGE_TASK)->to == 7,
           "below a service the customer is asked what to run, whatever the service says");
    tap_ok(tell_task(&m, NULL, REASON_WAIT) == REASON_WAIT && m.w->launches == 0, "who has to wait is told again");
    start_task(&m, &s, NULL);
    tap_ok(tell_task(&m, ad(m.w, "[ Type = \"Job\"; Owner = \"services\"; Cmd = \"steal\" ]"), REASON_OK) ==
                   REASON_IDENTITY &&
               m.w->launches == 0,
           "a job of another owner than the ticket says is not run");
    start_task(&m, &s, NULL);
    tap_ok(tell_task_as(&m, "services", task_of(&m), REASON_OK) == REASON_IDENTITY && m.w->launches == 0,
           "nor what somebody else tells, whom the service has named as the customer");
    start_task(&m, &s, NULL);
    tap_ok(tell_task(&m, task_of(&m), REASON_OK) == REASON_OK && m.w->launches == 1 &&
               ad_says(m.w, m.w->launched, "Cmd == \"render\" && Owner == \"raman\""),
           "below a service the job at the root is run, not the service's ad");
    tap_ok(ad_says(m.w, m.w->launched, "RequestMemory == 16 && isUndefined(RequestDisk)"),
           "it may use what the service's port has asked for, not what the job says");
    tap_ok(m.w->launchers[0].span == 60 * SECOND, "and has the job's time");
    tap_ok(advertises(&m, "Memory == 48"), "what is left is what that port leaves");
    tap_ok(duty_is(&m, 1), "it is known whom to ask for its files, and by what right");
    world_restart(m.w, true, SECOND);
    tap_ok(duty_is(&m, 1) && look(&m, 1).view.running, "also after a restart");
    tap_ok(!*look(&m, 1).view.owner, "whose it is counts as not proved: it runs as nobody of the machine's users");
    pass_beating(&m, &s, 2 * m.w->spans.lease);
    tap_ok(m.w->reports > 0 && strcmp(m.w->report.owner.bytes, "raman") == 0 &&
               strcmp(m.w->report.group.bytes, "film") == 0 && strcmp(m.w->report.limits.bytes, "render:2") == 0,
           "what it uses is charged to the owner of the job at the root, with that job's group and limits");
    job_news(&m, 1, 1, JOB_EXITED, REASON_EXITED, 4);
    tap_ok(row_count(m.w, RECORD_OUTCOME) == 2 && result_told(&m, 7, 77, 4) && result_told(&m, s.peer.agent, 1, 4),
           "how it ended the customer is told by itself, and the service too");
    world_free(m.w, "below a service");

    machine_start(&m, "[ Type = \"Machine\"; Constraint = other.Cmd == \"render\" ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = task_of(&m);
    come_to(&m, &s, TENANT_CLAIMED);
    tap_ok(
        start_task(&m, &s, ad(m.w, "[ Type = \"Job\"; Owner = \"raman\"; Cmd = \"mine\" ]")) == REASON_OK &&
            m.w->launches == 1 && ad_says(m.w, m.w->launched, "Cmd == \"render\""),
        "a customer that claims a machine itself cannot have another job run than the one that the owner has accepted");
    world_free(m.w, "another job beside the one that is accepted");

    machine_start(&m, PLAIN);
    s = suitor_new(&m, 1, "raman");
    s.root_owner = "somebody";
    s.false_root = true;
    come_to_run(&m, &s, 100);
    pass_beating(&m, &s, 2 * m.w->spans.lease);
    tap_ok(m.w->reports > 0 && strcmp(m.w->report.owner.bytes, "raman") == 0,
           "nobody can have another charged: what the ticket does not say of the root's owner is not believed");
    world_free(m.w, "a false root");
}

static void ports_ask_for_more(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, "[ Type = \"Machine\"; Memory = 64 ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Type = \"Job\"; Owner = \"raman\"; RequestMemory = 8; RequestCpus = 2; Ports = { [ Label = a ], "
                   "[ Label = cpu; RequestMemory = cpu.Memory / 2 ] } ]");
    s.port = 1;
    come_to_run(&m, &s, 100);
    tap_ok(ad_says(m.w, m.w->launched, "RequestMemory == 32 && RequestCpus == 2"),
           "a job with ports may use what the port asks for, and else what the job does");
    world_free(m.w, "ports that ask for more");
}

static struct duty told_duty(struct machine *m, const struct under *under)
{
    const struct start *start = &under_asked(m, under)->message.u.start;

    if (under_asked(m, under)->message.kind != MESSAGE_START)
        return (struct duty){0};
    return (struct duty){start->task, start->customer, start->line, start->pass, start->helps, start->idle};
}

/* All are active; the start has been told to the service, and by it. */
static void matchmakerd_started(struct machine *m, struct suitor *s, struct under *under, const char *text)
{
    machine_start(m, text);
    *s = suitor_new(m, 1, "raman");
    match_inner(m, s, under);
    verify(m, s);
    tap_ok(strcmp(under_asked(m, &under[0])->message.u.verify.root_owner.bytes, "raman") == 0,
           "a service tells those below it whose job it is");
    unders_agree(m, under);
    say_commit(m, s);
    unders_agree(m, under);
    say_activate(m, s, NULL);
    unders_agree(m, under);
    start_task(m, s, NULL);
}

static void handed_down(void)
{
    static const struct key none;
    struct machine m;
    struct suitor s;
    struct under under[UNDER];
    struct duty lead, help;

    matchmakerd_started(&m, &s, under, INNER("Executes = false;", "", ""));
    lead = told_duty(&m, &under[0]);
    help = told_duty(&m, &under[1]);
    tap_ok(lead.ad && ad_says(m.w, lead.ad, "Owner == \"raman\" && isUndefined(Cmd)") && !lead.helps &&
               key_equal(&lead.pass, &none),
           "a service tells the first below it that executes whose job it is, hands no pass on, and not what is run");
    tap_ok(help.ad && help.helps && key_equal(&help.pass, &none), "nor to another one below it");
    tap_ok(lead.customer == s.peer.agent && lead.line == 77 && help.line == 77,
           "both are told where to ask, and by what name: it is the service's own superior, whomever that names");
    unders_agree(&m, under);
    world_restart(m.w, true, SECOND);
    tap_ok(row_of(m.w, RECORD_TENANT, 1)->u.tenant_record.line == 77, "all of it is durable");
    world_free(m.w, "handed down");

    matchmakerd_started(&m, &s, under, INNER("", "", ""));
    lead = told_duty(&m, &under[0]);
    tap_ok(lead.helps && key_equal(&lead.pass, &none), "below one that runs the job itself all are helpers");
    world_free(m.w, "handed down by one that executes");
}

/* ------------------------------------------------------------------------------------------------ seen from the link */

static void seen_from_the_link(void)
{
    struct machine m;
    struct suitor s;

    machine_start(&m, "[ Type = \"Machine\"; Suspend = false; Ports = { [ Label = job; Suspend = Busy && job.Patient; "
                      "Constraint = !Busy ] } ]");
    probe(&m, "[ Busy = false ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Patient = false; Ports = { [ Label = a ], [ Label = b; Patient = true ] } ]");
    s.port = 1;
    come_to_run(&m, &s, 100);
    probe(&m, "[ Busy = true ]");
    tap_ok(m.w->suspended && holds(&m, 1, TENANT_CLAIMED),
           "Suspend is what the link says of the port that docks there, as the constraint is");
    world_free(m.w, "suspended by a link");

    machine_start(
        &m, "[ Type = \"Machine\"; Constraint = true; Ports = { [ Label = job; Constraint = !Busy && job.x ] } ]");
    probe(&m, "[ Busy = false ]");
    tap_ok(m.w->put.kind == MESSAGE_ADVERTISE && m.w->withdrawals == 0, "an offer with ports is advertised");
    probe(&m, "[ Busy = true ]");
    pass(m.w, SECOND);
    tap_ok(m.w->withdrawals == 1, "and withdrawn when nobody can dock at its port, whatever stands beside the ports");
    world_free(m.w, "an owner that speaks in a port");

    machine_start(&m, "[ Type = \"Link\"; Mbps = 100; Ports = { [ Label = other1; Essential = false ], [ Label = user; "
                      "Constraint = user.Mbps <= Mbps ] }; Residual = [ Mbps = Mbps - user.Mbps ] ]");
    s = suitor_new(&m, 1, "raman");
    s.ad = ad(m.w, "[ Owner = \"raman\"; Ports = { [ Label = a; Mbps = 90 ], [ Label = b; Mbps = 30 ] } ]");
    s.port = 1;
    s.link = 1;
    match(&m, &s, 1);
    pass(m.w, SECOND);
    tap_ok(holds(&m, 1, TENANT_MATCHED) && advertises(&m, "Mbps == 70"),
           "from the match on, what is left is what the port leaves that was matched");
    world_free(m.w, "the ports of a match");
}

int main(void)
{
    docked_by_a_link();
    ports_that_pretend();
    verified_for_ever();
    executes_nothing();
    cleared_for_the_next();
    inner_ports();
    inner_reduced();
    inner_unbegun();
    inner_beside();
    inner_results();
    answered_late();
    below_a_service();
    ports_ask_for_more();
    handed_down();
    seen_from_the_link();
    return tap_done();
}
