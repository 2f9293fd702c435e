/* customer_test.c: a customer's agent asks for machines, claims them, keeps its leases, and takes each result once. */
#include "office.h"

#define FRAGILE "[ Type = \"Job\"; MaxRetries = 2; Constraint = other.Memory >= 64 ]"
#define SMALL "[ Type = \"Machine\"; Memory = 32; Constraint = other.Type == \"Job\" ]"

/* --------------------------------------------------------------------------------------------------------- requests */

static void equal_jobs_share(void)
{
    struct office o;
    uint64_t id, version;
    uint32_t sent;

    office_start(&o);
    submit(&o, "a", 2, JOB);
    id = o.w->put.u.advertise.id;
    version = o.w->put.u.advertise.version;
    tap_ok(o.w->put.u.advertise.request && asks_for(&o, "Count == 2 && Memory == 16 && Owner == \"raman\""),
           "equal jobs are one request with a count, in their owner's name");
    submit(&o, "b", 3, JOB);
    pass(o.w, SECOND);
    tap_ok(o.w->put.u.advertise.id == id && asks_for(&o, "Count == 5") && o.w->put.u.advertise.version > version,
           "jobs that are equal to them are counted there");
    submit(&o, "c", 1, OTHER_JOB);
    tap_ok(o.w->put.u.advertise.id != id && asks_for(&o, "Count == 1 && Memory == 17"), "others are another request");
    submit_as(&o, &calvin, "calvin", "d", 1, JOB);
    tap_ok(o.w->put.u.advertise.id != id && asks_for(&o, "Owner == \"calvin\" && Count == 1"),
           "and so are equal ones of another owner");
    world_restart(o.w, true, SECOND);
    pass(o.w, SECOND);
    tap_ok(o.w->put.u.advertise.version > version, "versions rise over a restart");
    submit(&o, "e", 1, JOB);
    pass(o.w, SECOND);
    tap_ok(o.w->put.u.advertise.id == id && asks_for(&o, "Count == 6"), "requests keep their names over a restart");
    sent = o.w->puts + o.w->bares;
    happen(o.w, &(struct event){.kind = EVENT_KNOWN, .claim = MATCHMAKER});
    tap_ok(o.w->puts + o.w->bares >= sent + 3, "when a matchmaker has begun anew all are renewed at once");
    world_free(o.w, "requests");
}

static void counts_and_matches(void)
{
    struct office o;
    struct host host;
    uint32_t withdrawals;

    office_start(&o);
    submit(&o, "a", 2, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    tap_ok(reason_of(reply(o.w)) == REASON_OK, "a notification is answered");
    host_until(&o, &host, MESSAGE_NONE);
    pass_beating(&o, &host, o.w->spans.lifetime);
    tap_ok(seen_has(&o.w->put.u.advertise.seen, INCARNATION, 1) && asks_for(&o, "Count == 1"),
           "the next update of the request is a text that names the match, and asks for one less");
    withdrawals = o.w->withdrawals;
    host = host_new(&o, 2);
    match(&o, 2, &host);
    pass(o.w, SECOND);
    tap_ok(o.w->withdrawals == withdrawals + 1, "a request is withdrawn when no job waits for a match");
    world_free(o.w, "counts");
}

/* Twenty jobs within so many milliseconds each; returns how many updates of requests that were. */
static uint32_t rush(struct office *o, int64_t each, const char *job)
{
    uint32_t puts = o->w->puts;

    for (int i = 0; i < 20; i++) {
        char key[2] = {(char)('c' + i), '\0'};

        submit(o, key, 1, job);
        pass(o->w, each * MILLISECOND);
    }
    pass(o->w, o->w->spans.retry);
    return o->w->puts - puts;
}

static void one_after_another(void)
{
    struct office o;
    struct host host;
    uint32_t puts;

    office_start(&o);
    submit(&o, "a", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_NONE);
    tap_ok(o.w->withdrawals == 1, "a request that was met is withdrawn");
    puts = o.w->puts;
    submit(&o, "b", 1, JOB);
    tap_ok(o.w->puts == puts + 1 && asks_for(&o, "Count == 1"), "a job that follows right after is asked for at once");
    tap_ok(rush(&o, 1, JOB) == 1 && asks_for(&o, "Count == 21"), "and many that come in a rush by one update");
    world_free(o.w, "one after another");
}

static void match_not_needed(void)
{
    struct office o;
    struct host first, second;

    office_start(&o);
    submit(&o, "a", 1, JOB);
    first = host_new(&o, 1);
    second = host_new(&o, 2);
    match(&o, 1, &first);
    match(&o, 1, &first);
    tap_ok(sent_count(o.w, MESSAGE_VERIFY) == 1, "a match that is known is dropped");
    match(&o, 2, &second);
    tap_ok(reason_of(reply(o.w)) == REASON_OK && sent_count(o.w, MESSAGE_VERIFY) == 1 &&
               asked(&o, &second)->message.kind == MESSAGE_ABORT && asked(&o, &second)->message.u.abort.claim == 2,
           "a match that no job needs begins no claim, and whoever waits for it is told");
    host_until(&o, &first, MESSAGE_COMMIT);
    host_says(&o, &first, REASON_UNKNOWN);
    pass(o.w, 2 * o.w->spans.window);
    tap_ok(jobs_in(&o, JOB_IDLE) == 1, "the job waits again when its claim fails");
    tap_ok(seen_has(&o.w->put.u.advertise.seen, INCARNATION, 2) && seen_has(&o.w->put.u.advertise.seen, INCARNATION, 1),
           "and both matches are named in the text that follows");
    world_free(o.w, "matches that are not needed");
}

static void match_nonsense(void)
{
    struct office o;
    struct host host;
    struct message message = {.kind = MESSAGE_MATCH};
    struct peer stranger = {.agent = 66, .identity = "rival", .channel = 66};

    office_start(&o);
    submit(&o, "a", 1, JOB);
    message.u.match_told = (struct match_told){
        .id = o.w->put.u.advertise.id, .incarnation = INCARNATION, .number = 1, .window = 10 * SECOND, .gang = 1001};
    say(o.w, &matchmaker, &message);
    tap_ok(reply(o.w)->kind == MESSAGE_GOT && o.w->sent_count == 0, "a match with nobody begins nothing");
    message.u.match_told.edges = edges_new(1);
    message.u.match_told.number = 2;
    say(o.w, &matchmaker, &message);
    tap_ok(reply(o.w)->kind == MESSAGE_GOT && sent_of(o.w, MESSAGE_COMMIT) == NULL, "nor one with no ad and no agent");
    message_done(&message);
    sent_drop_all(o.w);
    pass(o.w, 2 * o.w->spans.window);
    host = host_new(&o, 1);
    match_gang(&o, 4711, 3, &host, 1);
    tap_ok(!asked(&o, &host), "a match of a request that is not there begins nothing");
    match(&o, 4, &host);
    tap_ok(is_asked(&o, &host, MESSAGE_VERIFY), "and a good one still does");
    host = host_new(&o, 2);
    message = (struct message){.kind = MESSAGE_MATCH};
    message.u.match_told = (struct match_told){.id = o.w->put.u.advertise.id, .incarnation = 5, .number = 1};
    tap_ok(reason_of(say(o.w, &stranger, &message)) != REASON_OK, "who is not the matchmaker tells no matches");
    world_free(o.w, "matches that are none");
}

/* --------------------------------------------------------------------------------------------------------- claiming */

static void whole_path(void)
{
    struct office o;
    struct host host;
    struct submitted jobs;
    struct sent *sent;

    office_start(&o);
    jobs = submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    o.w->slow = true;
    match(&o, 1, &host);
    sent = asked(&o, &host);
    tap_ok(sent && sent->message.kind == MESSAGE_VERIFY && !sent->message.u.verify.proves &&
               sent->message.u.verify.offer == 70 && sent->message.u.verify.gang == 1001 &&
               sent->message.u.verify.claim == 1 && ad_says(o.w, sent->message.u.verify.ad, "Owner == \"raman\""),
           "a match begins with a verification that asks for a challenge");
    host_agrees(&o, &host);
    tap_ok(is_asked(&o, &host, MESSAGE_VERIFY) && asked(&o, &host)->message.u.verify.proves &&
               !key_equal(&asked(&o, &host)->message.u.verify.proof, &host.ticket),
           "a challenge is answered with a proof, which is not the ticket");
    host_agrees(&o, &host);
    tap_ok(!host.fooled, "the proof is right, and bound to the channel of the challenge");
    tap_ok(is_asked(&o, &host, MESSAGE_COMMIT) && asked(&o, &host)->message.u.commit.epoch >= 1, "then it commits");
    tap_ok(job_is(&o, jobs.first, JOB_IDLE), "no job is taken before the commit is acknowledged");
    host_agrees(&o, &host);
    tap_ok(!asked(&o, &host), "nothing is activated before the decision is durable");
    world_durable(o.w);
    tap_ok(is_asked(&o, &host, MESSAGE_ACTIVATE) && !asked(&o, &host)->message.u.activate.ad &&
               row_of(o.w, RECORD_BRANCH, 1),
           "then it is");
    tap_ok(job_is(&o, jobs.first, JOB_RUNNING) && job_of(&o, jobs.first).gang == 1001, "the job is the claim's");
    host_agrees(&o, &host);
    world_durable(o.w);
    sent = asked(&o, &host);
    tap_ok(sent && sent->message.kind == MESSAGE_START && sent->message.u.start.job == jobs.first &&
               sent->message.u.start.number == 1 && sent->message.u.start.ad,
           "the start names the job and its number in the claim");
    tap_ok(row_of(o.w, RECORD_JOB, jobs.first) && row_of(o.w, RECORD_JOB, jobs.first)->u.job_record.number == 1 &&
               row_of(o.w, RECORD_JOB, jobs.first)->u.job_record.gang == 1001,
           "job, claim and number are durable when it is sent");
    host_agrees(&o, &host);
    world_durable(o.w);
    tap_ok(root_of(&o, 1001).view.state == ROOT_RUNNING && !asked(&o, &host), "and it runs");
    world_free(o.w, "the whole path");
}

static void sequence_rises(void)
{
    struct office o;
    struct host host;
    uint64_t commit, activate, start;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_COMMIT);
    commit = asked(&o, &host)->message.u.commit.sequence;
    answer_from(o.w, asked(&o, &host), &host.peer, NULL);
    tap_ok(pass_to(o.w, MESSAGE_COMMIT, 3 * SECOND) && asked(&o, &host)->message.u.commit.sequence == commit,
           "a commit that nobody answers is repeated as it was");
    host_until(&o, &host, MESSAGE_ACTIVATE);
    activate = asked(&o, &host)->message.u.activate.sequence;
    host_until(&o, &host, MESSAGE_START);
    start = asked(&o, &host)->message.u.start.sequence;
    tap_ok(commit < activate && activate < start, "the messages of a session carry a rising number");
    world_free(o.w, "sequence");
}

static void commit_too_late(void)
{
    struct office o;
    struct host host;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_COMMIT);
    pass(o.w, o.w->spans.pin / 4 + SECOND);
    if (is_asked(&o, &host, MESSAGE_COMMIT))
        host_agrees(&o, &host);
    tap_ok(sent_count(o.w, MESSAGE_ACTIVATE) == 0 && sent_count(o.w, MESSAGE_ABORT) >= 1,
           "a commit that is acknowledged after a quarter of the pin lease is aborted");
    tap_ok(jobs_in(&o, JOB_IDLE) == 1 && row_count(o.w, RECORD_BRANCH) == 0, "and no job was taken for it");
    world_drop(o.w);
    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_COMMIT);
    pass(o.w, o.w->spans.pin / 4 - SECOND);
    host_agrees(&o, &host);
    tap_ok(is_asked(&o, &host, MESSAGE_ACTIVATE), "one in time is activated");
    world_free(o.w, "late commits");
}

static void left_undecided(void)
{
    struct office o;
    struct host host;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_COMMIT);
    left(&o, &host, REASON_PIN);
    tap_ok(reply(o.w)->kind == MESSAGE_CLAIMED && !root_of(&o, 1001).found && jobs_in(&o, JOB_IDLE) == 1,
           "a member that leaves before the decision ends the claim, and its job waits as before");
    world_free(o.w, "a claim that was left undecided");
}

static void refusals(void)
{
    struct office o;
    struct host host;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host.ad = ad(o.w, SMALL);
    host_until(&o, &host, MESSAGE_ABORT);
    tap_ok(sent_count(o.w, MESSAGE_COMMIT) == 0 && is_asked(&o, &host, MESSAGE_ABORT),
           "a machine whose present ad the request refuses is aborted");
    sent_drop(o.w, MESSAGE_ABORT);
    pass(o.w, SECOND);
    tap_ok(jobs_in(&o, JOB_IDLE) == 1 && asks_for(&o, "Count == 1"), "and the job is offered to others");
    host = host_new(&o, 2);
    host.liar = true;
    match(&o, 2, &host);
    host_until(&o, &host, MESSAGE_ABORT);
    tap_ok(sent_count(o.w, MESSAGE_COMMIT) == 0, "a machine that does not prove the ticket is not committed to");
    sent_drop_all(o.w);
    host = host_new(&o, 3);
    match(&o, 3, &host);
    host_agrees(&o, &host);
    if (is_asked(&o, &host, MESSAGE_VERIFY)) {
        struct message refused = {.kind = MESSAGE_VERIFIED, .u.verified = {.claim = 3, .reason = REASON_CONSTRAINT}};

        answer_from(o.w, asked(&o, &host), &host.peer, &refused);
    }
    tap_ok(sent_count(o.w, MESSAGE_VERIFY) == 0 && sent_count(o.w, MESSAGE_COMMIT) == 0,
           "a machine that refuses is not asked again");
    pass(o.w, 2 * o.w->spans.window);
    host = host_new(&o, 4);
    match(&o, 4, &host);
    host_until(&o, &host, MESSAGE_NONE);
    tap_ok(jobs_in(&o, JOB_RUNNING) == 1 && host.starts == 1, "the next match is as good as the first");
    world_free(o.w, "refusals");
}

/* What is told of claims for a job that waits. */
static void claims_are_told(void)
{
    struct office o;
    struct host host;
    struct job_view view;

    office_start(&o);
    submit(&o, "k", 3, JOB);
    view = job_of(&o, 2);
    tap_ok(!view.claiming && !view.rejected && view.alike == 3, "a job that waits, for which nothing is claimed");
    host = host_new(&o, 1);
    host.ad = ad(o.w, "[ Name = \"heron\"; Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\" ]");
    match(&o, 1, &host);
    view = job_of(&o, 2);
    tap_ok(view.claiming == 1 && view.alike == 3, "a machine that is being claimed is, for it and those like it");
    host_agrees(&o, &host);
    if (is_asked(&o, &host, MESSAGE_VERIFY)) {
        struct message refused = {.kind = MESSAGE_VERIFIED, .u.verified = {.claim = 1, .reason = REASON_DRAINING}};

        answer_from(o.w, asked(&o, &host), &host.peer, &refused);
    }
    view = job_of(&o, 3);
    tap_ok(!view.claiming && view.rejected == 1 && view.rejected_for == REASON_DRAINING && view.rejected_by &&
               !strcmp(view.rejected_by, "heron"),
           "one that refuses is told, with its name, and why");
    host = host_new(&o, 2);
    match(&o, 2, &host);
    pass(o.w, 2 * o.w->spans.window);
    view = job_of(&o, 3);
    tap_ok(view.rejected == 2 && view.rejected_for == REASON_WINDOW && !view.rejected_by,
           "and so is one that does not answer in time");
    sent_drop_all(o.w);
    host = host_new(&o, 3);
    match(&o, 3, &host);
    host_until(&o, &host, MESSAGE_COMMIT);
    left(&o, &host, REASON_PIN);
    view = job_of(&o, 3);
    tap_ok(view.rejected == 3 && view.rejected_for == REASON_PIN, "and one that leaves before a job was given to it");
    sent_drop_all(o.w);
    host = host_new(&o, 4);
    match(&o, 4, &host);
    host_until(&o, &host, MESSAGE_NONE);
    view = job_of(&o, 3);
    tap_ok(view.state == JOB_IDLE && !view.rejected && !view.claiming && view.alike == 2,
           "they are forgotten when a claim comes about");
    world_free(o.w, "claims that are told");
}

static void removed_meanwhile(void)
{
    struct office o;
    struct host host;
    uint64_t job;

    office_start(&o);
    job = submit(&o, "k", 1, JOB).first;
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_COMMIT);
    control(&o, &raman, job, CONTROL_REMOVE);
    host_until(&o, &host, MESSAGE_ABORT);
    tap_ok(host.activations == 0 && is_asked(&o, &host, MESSAGE_ABORT) && row_count(o.w, RECORD_BRANCH) == 0,
           "a claim for which no job is left when it is decided is aborted");
    world_free(o.w, "a job removed meanwhile");
}

static void ask_hastens(void)
{
    struct office o;
    struct host host;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_ACTIVATE);
    answer_from(o.w, asked(&o, &host), &host.peer, NULL);
    tap_ok(!asked(&o, &host), "an activation that is lost is repeated after a pause");
    tap_ok(ask(&o, &host) == REASON_WAIT && is_asked(&o, &host, MESSAGE_ACTIVATE), "or when the machine asks");
    world_free(o.w, "an activation that was lost");
}

static void start_refused(void)
{
    struct office o;
    struct host host;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_ACTIVATE);
    host_says(&o, &host, REASON_PIN);
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(host.starts == 0 && jobs_in(&o, JOB_IDLE) == 1, "an activation that is refused sets the job free again");
    host = host_new(&o, 2);
    match(&o, 2, &host);
    host_until(&o, &host, MESSAGE_START);
    host_says(&o, &host, REASON_CONSTRAINT);
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(host.starts == 0 && jobs_in(&o, JOB_IDLE) == 1, "so does a start");
    world_free(o.w, "refused late");
}

/* The machine that it is matched with next refuses its start, or has to leave it. */
static void in_vain(struct office *o, uint64_t n, bool leaves)
{
    struct host host = host_new(o, n);

    match(o, n, &host);
    host_until(o, &host, leaves ? MESSAGE_NONE : MESSAGE_START);
    if (leaves)
        left(o, &host, REASON_SETUP);
    else
        host_says(o, &host, REASON_CONSTRAINT);
    host_until(o, &host, MESSAGE_NONE);
}

static void rests(bool leaves, const char *words)
{
    struct office o;
    uint64_t n = 1;
    int64_t before = 0;
    bool longer = true;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    in_vain(&o, n++, leaves);
    pass(o.w, o.w->spans.retry);
    tap_ok(job_of(&o, 1).state == JOB_IDLE && !job_of(&o, 1).rests && asks_for(&o, "Count == 1"),
           "%s: the first time it is offered again at once", words);
    tap_ok(job_of(&o, 1).tries == 0 && job_of(&o, 1).in_vain == 1, "%s: that is no try of the job's", words);
    for (int i = 0; i < 12; i++) {
        int64_t rest;

        in_vain(&o, n++, leaves);
        rest = job_of(&o, 1).rests - o.w->env.now;
        longer = longer && job_of(&o, 1).rests && rest > 0 && (rest > before || rest == o.w->spans.lifetime) &&
                 rest <= o.w->spans.lifetime;
        before = rest;
        pass(o.w, rest + o.w->spans.retry);
    }
    tap_ok(longer && before > MINUTE, "%s: then it rests, longer every time", words);
    tap_ok(job_of(&o, 1).reason == (leaves ? REASON_FAULT : REASON_CONSTRAINT) && job_of(&o, 1).in_vain == 13,
           "%s: its user can see why, and how often", words);
    in_vain(&o, n++, leaves);
    tap_ok(control(&o, &raman, 1, CONTROL_HOLD) == REASON_OK && control(&o, &raman, 1, CONTROL_RELEASE) == REASON_OK &&
               !job_of(&o, 1).rests && !job_of(&o, 1).in_vain,
           "%s: a user who releases it does not wait for that", words);
    world_free(o.w, words);
}

static void busy(void)
{
    struct office o;
    struct host host;
    struct message reply = {.kind = MESSAGE_VERIFIED};
    int64_t start;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    start = o.w->env.now;
    host_agrees(&o, &host);
    reply.u.verified = (struct verified){.claim = 1, .reason = REASON_BUSY, .span = 2 * SECOND};
    answer_from(o.w, asked(&o, &host), &host.peer, &reply);
    tap_ok(!asked(&o, &host) && root_of(&o, 1001).found, "who hears busy waits a while");
    tap_ok(pass_to(o.w, MESSAGE_VERIFY, o.w->spans.window) && o.w->env.now < start + o.w->spans.window,
           "and comes back within the window");
    host_until(&o, &host, MESSAGE_NONE);
    tap_ok(host.starts == 1, "and may be let in then");
    world_drop(o.w);
    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    start = o.w->env.now;
    while (o.w->env.now < start + 3 * o.w->spans.window) {
        if (is_asked(&o, &host, MESSAGE_VERIFY))
            answer_from(o.w, asked(&o, &host), &host.peer, &reply);
        else
            pass(o.w, 100 * MILLISECOND);
    }
    tap_ok(!root_of(&o, 1001).found && asks_for(&o, "Count == 1"), "the window is the end of it");
    world_free(o.w, "busy");
}

/* ----------------------------------------------------------------------------------------------------------- leases */

static void beats_acknowledged(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB), other;
    int64_t lease = o.w->spans.lease + o.w->spans.lease / 10;

    tap_ok(root_of(&o, 1001).view.lease == o.w->env.now + lease,
           "the commit's acknowledgement is the first heart beat: a lease and its margin");
    pass(o.w, 20 * SECOND);
    tap_ok(beat(&o, &host) == REASON_OK && reply(o.w)->u.beaten.sent == 4711,
           "a heart beat is acknowledged with the time at which it was sent");
    tap_ok(root_of(&o, 1001).view.lease == o.w->env.now + lease, "and renews, from its receipt");
    pass(o.w, 10 * SECOND);
    other = host;
    other.epoch++;
    tap_ok(beat(&o, &other) != REASON_OK, "one of another epoch is not");
    other = host;
    other.peer.agent++;
    tap_ok(beat(&o, &other) != REASON_OK, "nor one from another agent");
    other = host;
    other.claim = 4711;
    tap_ok(beat(&o, &other) != REASON_OK, "nor one of a claim that is not there");
    tap_ok(root_of(&o, 1001).view.lease == o.w->env.now - 10 * SECOND + lease, "and those renew nothing");
    world_free(o.w, "heart beats");
}

static void lease_and_margin(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB);
    int64_t lease = root_of(&o, 1001).view.lease;

    pass(o.w, lease - o.w->env.now - 1);
    tap_ok(jobs_in(&o, JOB_RUNNING) == 1, "a job is not run elsewhere before lease and margin are over");
    pass(o.w, 2);
    tap_ok(jobs_in(&o, JOB_IDLE) == 1 && o.w->put.u.advertise.request, "and waits for another machine from then on");
    tap_ok(asks_for(&o, "Count == 1"), "its request is advertised again");
    tap_ok(beat(&o, &host) != REASON_OK, "a heart beat that comes then is not acknowledged");
    world_free(o.w, "the end of a lease");
}

static void releasing_is_not_alive(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB);

    control(&o, &raman, host.job, CONTROL_HOLD);
    tap_ok(is_asked(&o, &host, MESSAGE_RELEASE), "the claim of a job that is held is released");
    tap_ok(beat(&o, &host) != REASON_OK, "its heart beats are not acknowledged from then on");
    world_free(o.w, "a claim being released");
}

static void claim_left(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB), other = host;

    other.peer.agent++;
    left(&o, &other, REASON_VETOED);
    tap_ok(reply(o.w)->kind == MESSAGE_CLAIMED && jobs_in(&o, JOB_RUNNING) == 1,
           "that a claim was left is not believed of another agent");
    other = host;
    other.claim = 4711;
    tap_ok(left(&o, &other, REASON_LEASE) != REASON_COUNT && jobs_in(&o, JOB_RUNNING) == 1,
           "nor of a claim that is not there, which is answered all the same");
    left(&o, &host, REASON_VETOED);
    pass(o.w, SECOND);
    tap_ok(reply(o.w)->kind == MESSAGE_CLAIMED && jobs_in(&o, JOB_IDLE) == 1 && asks_for(&o, "Count == 1"),
           "when a machine has left its claim the job waits again at once");
    tap_ok(!root_of(&o, 1001).found && row_count(o.w, RECORD_BRANCH) == 0, "nothing of the claim is kept");
    tap_ok(left(&o, &host, REASON_VETOED) != REASON_COUNT && jobs_in(&o, JOB_IDLE) == 1, "it may be said again");
    tap_ok(result(&o, &host, 0) == REASON_OK && jobs_in(&o, JOB_DONE) == 1,
           "a late result is taken while the job is recorded nowhere else");
    pass(o.w, SECOND);
    tap_ok(o.w->withdrawals > 0 && jobs_queued(&o) == 0, "and the job is not asked for any more");
    world_free(o.w, "a claim that was left");
}

static void preempted(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB);

    left(&o, &host, REASON_PREEMPTED);
    pass(o.w, SECOND);
    tap_ok(job_is(&o, host.job, JOB_IDLE) && job_of(&o, host.job).tries == 0 && asks_for(&o, "Count == 1"),
           "a job that was preempted waits again, and that is no failed try");
    tap_ok(job_of(&o, host.job).reason == REASON_PREEMPTED, "its user is told why");
    world_free(o.w, "a job that was preempted");
}

/* The machine sends somebody else away first, with all the grace that he is given. */
static void way_is_cleared(void)
{
    struct office o;
    struct host host;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_ACTIVATE);
    for (int64_t end = o.w->env.now + 2 * o.w->spans.lease; o.w->env.now < end;) {
        if (is_asked(&o, &host, MESSAGE_ACTIVATE))
            host_says(&o, &host, REASON_WAIT);
        pass(o.w, 5 * SECOND);
        beat(&o, &host);
    }
    tap_ok(jobs_in(&o, JOB_RUNNING) == 1 && is_asked(&o, &host, MESSAGE_ACTIVATE),
           "an activation that has to wait is said again, for as long as the machine lives");
    host_says(&o, &host, REASON_OK);
    tap_ok(is_asked(&o, &host, MESSAGE_START), "and nothing is started before the way is free");
    world_free(o.w, "a way that is cleared");
}

static void claim_left_and_crash(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB);

    o.w->slow = true;
    left(&o, &host, REASON_VETOED);
    world_restart(o.w, true, SECOND);
    world_durable(o.w);
    o.w->slow = false;
    tap_ok(is_asked(&o, &host, MESSAGE_ATTACH),
           "a customer that dies before it has recorded that asks the machine again");
    host_attached(&o, &host, REASON_UNKNOWN, false);
    pass(o.w, SECOND);
    tap_ok(jobs_in(&o, JOB_IDLE) == 1 && asks_for(&o, "Count == 1"), "and hears it then");
    world_free(o.w, "a claim that was left in a crash");
}

/* ---------------------------------------------------------------------------------------------------------- results */

static void result_elsewhere(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB), second = host_new(&o, 2);

    pass(o.w, 2 * o.w->spans.lease);
    match(&o, 2, &second);
    host_until(&o, &second, MESSAGE_NONE);
    tap_ok(second.starts == 1 && second.job == host.job, "a job whose machine was lost runs on another");
    tap_ok(result(&o, &host, 1) != REASON_OK && job_is(&o, host.job, JOB_RUNNING),
           "a result of the first is refused now that it is recorded elsewhere");
    tap_ok(result(&o, &second, 0) == REASON_OK && job_of(&o, host.job).status == 0, "the second's is taken");
    tap_ok(result(&o, &host, 1) != REASON_OK && job_of(&o, host.job).status == 0, "and stays");
    world_free(o.w, "a job that ran twice");
}

static void result_once(void)
{
    struct office o;
    struct host host = office_running(&o, 1, JOB), other = host;
    struct job_view job;

    other.claim = 4711;
    tap_ok(result(&o, &other, 0) != REASON_OK && jobs_in(&o, JOB_RUNNING) == 1, "a result of another claim is refused");
    other = host;
    other.number = 2;
    tap_ok(result(&o, &other, 0) != REASON_OK && jobs_in(&o, JOB_RUNNING) == 1, "one of another number is refused");
    other = host;
    other.job = 4711;
    tap_ok(result(&o, &other, 0) != REASON_OK && jobs_in(&o, JOB_RUNNING) == 1, "one of another job is refused");
    other = host;
    other.peer.agent++;
    tap_ok(result(&o, &other, 0) != REASON_OK && jobs_in(&o, JOB_RUNNING) == 1, "one from another agent is refused");
    o.w->slow = true;
    tap_ok(result(&o, &host, 0) == REASON_COUNT, "a result is not acknowledged before it is durable");
    world_durable(o.w);
    o.w->slow = false;
    job = job_of(&o, host.job);
    tap_ok(reason_of(reply(o.w)) == REASON_OK && job.state == JOB_DONE && job.status == 0 &&
               job.reason == REASON_EXITED,
           "then it is, and the job is done");
    tap_ok(result(&o, &host, 1) != REASON_COUNT && job_of(&o, host.job).status == 0, "it is taken once");
    tap_ok(result(&o, &host, 0) == REASON_OK, "a repeat has the same answer");
    tap_ok(is_asked(&o, &host, MESSAGE_RELEASE), "a claim for which no job waits is released");
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(!root_of(&o, 1001).found && row_count(o.w, RECORD_BRANCH) == 0, "and forgotten when that is answered");
    world_restart(o.w, true, SECOND);
    tap_ok(job_is(&o, host.job, JOB_DONE) || !job_is(&o, host.job, JOB_IDLE), "a job that is done is not run again");
    world_free(o.w, "results");
}

/* The job runs, on that host again or on it anew, and fails. */
static void fail_again(struct office *o, struct host *host, uint64_t n)
{
    if (!root_of(o, host->gang).found) {
        *host = host_new(o, n);
        match(o, n, host);
    }
    host_until(o, host, MESSAGE_NONE);
    result(o, host, 7);
    pass(o->w, SECOND);
}

static void retries(void)
{
    struct office o;
    struct host host = {0};
    uint64_t job;

    office_start(&o);
    job = submit(&o, "k", 1, FRAGILE).first;
    fail_again(&o, &host, 1);
    tap_ok(!job_is(&o, job, JOB_DONE) && !job_is(&o, job, JOB_HELD) && job_of(&o, job).tries == 1,
           "a job that fails is tried again");
    world_restart(o.w, true, SECOND);
    fail_again(&o, &host, 2);
    tap_ok(!job_is(&o, job, JOB_HELD) && job_of(&o, job).tries == 2, "its tries are counted over a restart");
    fail_again(&o, &host, 3);
    tap_ok(job_is(&o, job, JOB_DONE) && job_of(&o, job).status == 7,
           "and is done, with its status, when it has failed MaxRetries times more");
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, MINUTE);
    tap_ok(job_is(&o, job, JOB_DONE) && !root_of(&o, host.gang).found, "its claim is given back");
    world_free(o.w, "retries");
}

/* A result that was taken leaves the job without a claim until it is started again. */
static void result_of_no_claim(void)
{
    struct office o;
    struct host host = {0};
    uint64_t job;

    office_start(&o);
    job = submit(&o, "k", 1, FRAGILE).first;
    host = host_new(&o, 1);
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_NONE);
    left(&o, &host, REASON_RELEASED);
    result(&o, &host, 7);
    tap_ok(job_is(&o, job, JOB_IDLE) && job_of(&o, job).tries == 1,
           "a job whose machine has left, and says then that it has failed, waits");
    host.claim = 0;
    tap_ok(result(&o, &host, 0) != REASON_OK && job_is(&o, job, JOB_IDLE),
           "whoever had it cannot say that it has ended well after all, by a result of no claim");
    world_free(o.w, "results of no claim");
}

static void retries_by_default(void)
{
    struct office o;
    struct host host = {0};
    uint64_t job, n = 0;

    office_start(&o);
    job = submit(&o, "k", 1, JOB).first;
    while (n < 10 && !job_is(&o, job, JOB_DONE))
        fail_again(&o, &host, ++n);
    tap_ok(n == CUSTOMER_RETRIES + 1, "a job that does not say is retried %d times", CUSTOMER_RETRIES);
    world_free(o.w, "retries by default");
}

/* What a job says of its own end, of which each try has the status 7. */
static void endings(void)
{
    static const struct {
        const char *says, *words;
        enum { OVER, HELD, AGAIN } becomes;
    } rows[] = {
        {"OnExitHold = ExitCode == 7", "it is held", HELD},
        {"OnExitHold = ExitCode == 3", "it is not held", OVER},
        {"OnExitHold = ExitCode == 3; MaxRetries = 5", "and is tried again", AGAIN},
        {"OnExitHold = NoSuch == 7", "what has no value decides nothing", OVER},
        {"OnExitHold = \"yes\"", "nor does a text", OVER},
        {"OnExitHold = time() > 1000000000", "the time is known", HELD},
        {"OnExitHold = ExitBySignal || ExitSignal == 9", "what was not ended by a signal has none", OVER},
        {"OnExitRemove = ExitCode == 0", "it is run until it says that it is over", AGAIN},
        {"OnExitRemove = ExitCode == 7; MaxRetries = 5", "it is over when it says so", OVER},
        {"OnExitRemove = false; MaxRetries = 0", "MaxRetries bounds that", OVER},
        {"OnExitRemove = JobTry > 1", "it sees how often it was begun", AGAIN},
        {"RetryUntil = ExitCode == 7; MaxRetries = 5", "it is tried until then", OVER},
        {"RetryUntil = ExitCode == 8; MaxRetries = 5", "and no longer", AGAIN},
        {"SuccessExitCode = 7; MaxRetries = 5", "that is success", OVER},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct office o;
        struct host host = {0};
        char text[256];
        uint64_t job;

        office_start(&o);
        snprintf(text, sizeof text, "[ Type = \"Job\"; %s; Constraint = other.Memory >= 64 ]", rows[i].says);
        job = submit(&o, "k", 1, text).first;
        fail_again(&o, &host, 1);
        tap_ok(job_is(&o, job, JOB_DONE) == (rows[i].becomes == OVER) &&
                   job_is(&o, job, JOB_HELD) == (rows[i].becomes == HELD),
               "%s: %s", rows[i].says, rows[i].words);
        world_free(o.w, "endings");
    }
}

static void claim_used_again(void)
{
    struct office o;
    struct host host = office_running(&o, 3, JOB);
    uint64_t first = host.job, activate;

    o.w->slow = true;
    result(&o, &host, 0);
    if (is_asked(&o, &host, MESSAGE_ACTIVATE))
        host_agrees(&o, &host);
    tap_ok(!asked(&o, &host), "nothing is said for the next job before that is durable");
    world_durable(o.w);
    o.w->slow = false;
    matchmaker_answers(o.w);
    tap_ok(is_asked(&o, &host, MESSAGE_ACTIVATE) && asked(&o, &host)->message.u.activate.ad,
           "a claim that has done its job is activated for the next, with its ad");
    activate = asked(&o, &host)->message.u.activate.sequence;
    host_until(&o, &host, MESSAGE_START);
    tap_ok(is_asked(&o, &host, MESSAGE_START) && asked(&o, &host)->message.u.start.number == 2 &&
               asked(&o, &host)->message.u.start.job != first && asked(&o, &host)->message.u.start.sequence > activate,
           "which has the next number");
    host_until(&o, &host, MESSAGE_NONE);
    tap_ok(job_is(&o, host.job, JOB_RUNNING) && job_of(&o, host.job).number == 2 && jobs_in(&o, JOB_IDLE) == 1,
           "and runs under the same claim");
    pass(o.w, SECOND);
    tap_ok(asks_for(&o, "Count == 1"), "the request asks for one less");
    tap_ok(result(&o, &(struct host){.peer = host.peer, .claim = 1, .number = 1, .job = host.job}, 0) != REASON_OK &&
               job_is(&o, host.job, JOB_RUNNING),
           "the number of the job before is not good for this one's result");
    result(&o, &host, 0);
    host_until(&o, &host, MESSAGE_NONE);
    result(&o, &host, 0);
    tap_ok(jobs_in(&o, JOB_DONE) == 3 && is_asked(&o, &host, MESSAGE_RELEASE), "until none waits");
    world_free(o.w, "a claim used again");
}

static void reuse_refused(void)
{
    struct office o;
    struct host host = office_running(&o, 2, JOB);

    result(&o, &host, 0);
    host_says(&o, &host, REASON_CONSTRAINT);
    tap_ok(is_asked(&o, &host, MESSAGE_RELEASE), "a claim that is refused for the next job is released");
    host_until(&o, &host, MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(jobs_in(&o, JOB_IDLE) == 1 && jobs_in(&o, JOB_DONE) == 1 && asks_for(&o, "Count == 1"),
           "and the job waits for another");
    world_free(o.w, "a claim that is refused again");
}

static void life_of_a_claim(void)
{
    struct office o;
    struct host host = office_running(&o, 2, JOB);

    pass_beating(&o, &host, o.w->spans.life + MINUTE);
    tap_ok(job_is(&o, host.job, JOB_RUNNING), "a job may run longer than a claim lives");
    result(&o, &host, 0);
    tap_ok(is_asked(&o, &host, MESSAGE_RELEASE), "but the claim is not used again then");
    world_free(o.w, "the life of a claim");
}

/* ------------------------------------------------------------------------------------------------------------- asks */

static void asks(void)
{
    struct office o;
    struct host host;

    office_start(&o);
    submit(&o, "k", 1, JOB);
    host = host_new(&o, 1);
    tap_ok(ask(&o, &host) == REASON_ABORT, "a machine that asks for a claim without a record hears abort");
    match(&o, 1, &host);
    host_until(&o, &host, MESSAGE_COMMIT);
    host.epoch = asked(&o, &host)->message.u.commit.epoch;
    tap_ok(ask(&o, &host) == REASON_WAIT, "one that is being collected hears wait");
    host.peer.agent++;
    tap_ok(ask(&o, &host) != REASON_ACTIVATE, "another agent hears nothing of it");
    host.peer.agent--;
    o.w->slow = true;
    host_agrees(&o, &host);
    tap_ok(ask(&o, &host) == REASON_WAIT, "and so while the decision is recorded");
    world_durable(o.w);
    o.w->slow = false;
    ask(&o, &host);
    tap_ok(reason_of(reply(o.w)) == REASON_WAIT || reason_of(reply(o.w)) == REASON_ACTIVATE,
           "one that is decided never hears abort");
    world_free(o.w, "asks");
}

static void unnamed_pool(void)
{
    static const struct customer_pool pools[] = {{MATCHMAKER, "north"}, {3, "south"}};
    struct message message = {.kind = MESSAGE_MATCH};
    struct peer peer = {.agent = 3, .identity = "matchmaker", .channel = 3};
    static const char job[] = "[ Type = \"Job\"; Pools = { \"north\" }; Constraint = other.Memory >= 64 ]";
    struct office o = {0};
    struct host host;

    o.w = world_new(&customer_role, &o.settings);
    o.settings = (struct customer_settings){
        .self = SELF, .matchmaker = MATCHMAKER, .spans = &o.w->spans, .pools = pools, .pool_count = 2};
    world_start(o.w);
    submit(&o, "a", 1, job);
    pass(o.w, SECOND);
    tap_ok(o.w->puts == 1 && asks_for(&o, "Pools[0] == \"north\""), "a job is offered to the pool that it names");
    tap_ok(rush(&o, 5, job) == 2, "a rush is the first job and one update, though another pool has none of it");
    host = host_new(&o, 1);
    message.u.match_told = (struct match_told){.id = o.w->put.u.advertise.id,
                                               .incarnation = INCARNATION,
                                               .number = 1,
                                               .window = o.w->spans.window,
                                               .gang = 1001,
                                               .edges = edges_new(1)};
    message.u.match_told.edges->items[0] =
        (struct edge){.claim = 1, .agent = host.peer.agent, .offer = 1, .ad = tree_ref(ad(o.w, MACHINE))};
    tap_ok(reason_of(say(o.w, &peer, &message)) == REASON_IDENTITY && !asked(&o, &host),
           "a match for it from another pool of ours is not heeded");
    tap_ok(reason_of(say(o.w, &matchmaker, &message)) == REASON_OK && asked(&o, &host), "one from that pool is");
    edges_unref(message.u.match_told.edges);
    world_free(o.w, "a pool that is not named");
}

/* --------------------------------------------------------------------------------------------------------- nonsense */

static void not_for_a_customer(void)
{
    static const enum message_kind kinds[] = {MESSAGE_ADVERTISE, MESSAGE_WITHDRAW, MESSAGE_VERIFY,
                                              MESSAGE_COMMIT,    MESSAGE_ACTIVATE, MESSAGE_START,
                                              MESSAGE_RELEASE,   MESSAGE_ATTACH,   MESSAGE_REPORT};
    struct office o;

    office_start(&o);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct message message = {.kind = kinds[i]};

        say(o.w, &raman, &message);
        tap_ok(reply(o.w)->kind == message_answer(kinds[i]) && reason_of(reply(o.w)) != REASON_OK,
               "%s is not for a customer, and is answered with a refusal", message_layout(kinds[i])->name);
    }
    for (enum message_kind kind = 1; kind < MESSAGE_COUNT; kind++) {
        struct message message = {.kind = kind};

        say(o.w, &raman, &message);
        if (message_answer(kind) && reason_of(reply(o.w)) == REASON_COUNT)
            world_blame(o.w, "an empty message is not answered", message_layout(kind)->name);
        if (!message_answer(kind) && reply(o.w)->kind)
            world_blame(o.w, "an answer that nobody asked for is answered", message_layout(kind)->name);
    }
    tap_ok(jobs_queued(&o) == 0, "messages with nothing in them are refused and change nothing");
    world_free(o.w, "messages with nothing in them");
}

static void random_event(struct office *o, struct host *hosts, struct rng *rng, uint64_t *matches)
{
    struct message message = {.kind = 1 + (enum message_kind)rng_below(rng, MESSAGE_COUNT - 1)};
    struct host *host = &hosts[rng_below(rng, 3)];

    switch (rng_below(rng, 12)) {
    case 0:
        pass(o->w, (int64_t)rng_below(rng, 8) * SECOND);
        break;
    case 1:
    case 2:
    case 3:
        if (asked(o, host))
            host_agrees(o, host);
        break;
    case 4:
        if (o->w->sent_count) {
            message.kind = message_answer(o->w->sent[0].message.kind);
            message_scramble(o->w, rng, &message);
            answer(o->w, &o->w->sent[0], rng_below(rng, 5) ? &message : NULL);
        }
        break;
    case 5:
        match(o, ++*matches, host);
        break;
    case 6:
        result(o, host, (int64_t)rng_below(rng, 2));
        break;
    case 7:
        beat(o, host);
        break;
    case 8:
        if (!rng_below(rng, 20))
            world_restart(o->w, rng_below(rng, 2), SECOND);
        break;
    default:
        if (message.kind == MESSAGE_MATCH)
            return;
        message_scramble(o->w, rng, &message);
        if (message.kind == MESSAGE_SUBMIT)
            message.u.submit.count %= 4;
        say(o->w, rng_below(rng, 2) ? &host->peer : &raman, &message);
        break;
    }
}

static void nonsense(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(40);
    bool clean = true;

    for (uint64_t round = 0; round < rounds && clean; round++) {
        struct host hosts[3];
        struct office o;
        struct rng rng;
        uint64_t matches = 0;

        rng_init(&rng, seed + round);
        office_start(&o);
        submit(&o, "k", 4, JOB);
        ad(o.w, SMALL);
        ad(o.w, "[ Constraint = 1; Cpus = \"x\"; Owner = error; Count = -1; MaxRetries = \"many\" ]");
        for (uint64_t i = 0; i < 3; i++)
            hosts[i] = host_new(&o, i + 1);
        for (int i = 0; i < 400 && !o.w->fault; i++)
            random_event(&o, hosts, &rng, &matches);
        if (o.w->fault)
            tap_diag("seed %llu: %s", (unsigned long long)(seed + round), o.w->fault);
        clean = !o.w->fault;
        world_drop(o.w);
    }
    tap_ok(clean, "whatever comes in whatever order, the books are in order (seed %llu, %llu rounds)",
           (unsigned long long)seed, (unsigned long long)rounds);
}

int main(void)
{
    equal_jobs_share();
    counts_and_matches();
    one_after_another();
    match_not_needed();
    match_nonsense();
    whole_path();
    sequence_rises();
    commit_too_late();
    left_undecided();
    refusals();
    claims_are_told();
    removed_meanwhile();
    ask_hastens();
    start_refused();
    rests(false, "a job that is never started");
    rests(true, "a job that no machine can set up");
    busy();
    beats_acknowledged();
    lease_and_margin();
    releasing_is_not_alive();
    claim_left();
    preempted();
    way_is_cleared();
    claim_left_and_crash();
    result_once();
    result_elsewhere();
    retries();
    result_of_no_claim();
    retries_by_default();
    endings();
    claim_used_again();
    reuse_refused();
    life_of_a_claim();
    asks();
    not_for_a_customer();
    nonsense();
    unnamed_pool();
    return tap_done();
}
