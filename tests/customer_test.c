/* customer_test.c: a customer's agent keeps the jobs it has accepted, claims machines, and runs each to its end once.
 *
 * The machine's part is scripted: a *host* answers what it is asked, as far as a test lets it. */
#include "agent.h"

#include "pool/customer.h"
#include "pool/duty.h"

#define JOB "[ Type = \"Job\"; Memory = 16; Constraint = other.Memory >= 64 ]"
#define OTHER_JOB "[ Type = \"Job\"; Memory = 17; Constraint = other.Memory >= 64 ]"
#define FRAGILE "[ Type = \"Job\"; MaxRetries = 2; Constraint = other.Memory >= 64 ]"
#define MACHINE "[ Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\" ]"
#define SMALL "[ Type = \"Machine\"; Memory = 32; Constraint = other.Type == \"Job\" ]"

static const struct peer raman = {.agent = 90, .identity = "raman", .channel = 90};
static const struct peer calvin = {.agent = 91, .identity = "calvin", .channel = 91};
static const struct peer matchmaker = {.agent = MATCHMAKER, .identity = "matchmaker", .channel = 1};

struct office {
    struct world *w;
    struct customer_settings settings;
};

/* ----------------------------------------------------------------------------------------------------- the customer */

static void office_start(struct office *o)
{
    *o = (struct office){0};
    o->w = world_new(&customer_role, &o->settings);
    o->settings = (struct customer_settings){.self = SELF, .matchmaker = MATCHMAKER, .spans = &o->w->spans};
    world_start(o->w);
}

static struct submitted submit_as(struct office *o, const struct peer *peer, const char *owner, const char *key,
                                  uint64_t count, const char *text)
{
    struct message submit = {.kind = MESSAGE_SUBMIT, .u.submit = {.count = count}};
    const struct message *heard;

    text_set(&submit.u.submit.owner, owner, strlen(owner));
    text_set(&submit.u.submit.key, key, strlen(key));
    submit.u.submit.ad = text ? ad(o->w, text) : NULL;
    heard = say(o->w, peer, &submit);
    return heard->kind == MESSAGE_SUBMITTED ? heard->u.submitted : (struct submitted){.reason = REASON_COUNT};
}

static struct submitted submit(struct office *o, const char *key, uint64_t count, const char *text)
{
    return submit_as(o, &raman, "raman", key, count, text);
}

static enum reason control(struct office *o, const struct peer *peer, uint64_t job, uint64_t verb)
{
    struct message message = {.kind = MESSAGE_CONTROL, .u.control = {job, verb}};

    return reason_of(say(o->w, peer, &message));
}

static struct job_view job_of(struct office *o, uint64_t id)
{
    struct job_view view = {.state = JOB_REMOVED};

    customer_job(o->w->role, id, &view);
    return view;
}

static bool job_is(struct office *o, uint64_t id, enum job_state state)
{
    struct job_view view;

    return customer_job(o->w->role, id, &view) && view.state == state;
}

static void job_counts(void *user, const struct job_view *job)
{
    uint32_t *counts = user;

    counts[job->state]++;
}

static uint32_t jobs_in(struct office *o, enum job_state state)
{
    uint32_t counts[JOB_FORGOTTEN] = {0};

    customer_each(o->w->role, job_counts, counts);
    return counts[state];
}

static uint32_t jobs_queued(struct office *o)
{
    return jobs_in(o, JOB_IDLE) + jobs_in(o, JOB_RUNNING) + jobs_in(o, JOB_HELD);
}

struct root_search {
    uint64_t gang;
    struct root_view view;
    bool found;
};

static void root_look(void *user, const struct root_view *root)
{
    struct root_search *search = user;

    if (root->gang != search->gang)
        return;
    search->view = *root;
    search->found = true;
}

static struct root_search root_of(struct office *o, uint64_t gang)
{
    struct root_search search = {.gang = gang};

    customer_each_root(o->w->role, root_look, &search);
    return search;
}

static bool asks_for(struct office *o, const char *expr)
{
    return o->w->put.kind == MESSAGE_ADVERTISE && ad_says(o->w, o->w->put.u.advertise.ad, expr);
}

/* --------------------------------------------------------------------------------------------------------- the host */

struct host {
    struct peer peer;
    uint64_t claim, gang, offer;
    struct key ticket, nonce;
    struct tree *ad;
    bool fooled; /* it took a proof that was none */
    bool liar;   /* it proves nothing itself */
    uint64_t epoch, job, number, sequence;
    struct tree *unit; /* that it was activated for again; not held */
    uint32_t activations, starts;
    struct duty duty; /* that it was started with; its ad is not held */
    int64_t heard;    /* the customer's clock, as it last told */
};

static struct host host_new(struct office *o, uint64_t n)
{
    return (struct host){.peer = {.agent = 50 + n, .identity = "host", .channel = 500 + n},
                         .claim = n,
                         .gang = 1000 + n,
                         .offer = 70,
                         .ticket = {{(unsigned char)n, 7}},
                         .nonce = {{(unsigned char)n, 8}},
                         .ad = ad(o->w, MACHINE)};
}

static void match_gang(struct office *o, uint64_t id, uint64_t number, struct host *hosts, uint32_t count)
{
    struct message message = {.kind = MESSAGE_MATCH};
    struct edges *edges = edges_new(count);

    for (uint32_t i = 0; i < count; i++)
        edges->items[i] = (struct edge){.claim = hosts[i].claim,
                                        .agent = hosts[i].peer.agent,
                                        .offer = hosts[i].offer,
                                        .ticket = hosts[i].ticket,
                                        .ad = tree_ref(hosts[i].ad)};
    message.u.match_told = (struct match_told){.id = id,
                                               .incarnation = INCARNATION,
                                               .number = number,
                                               .window = o->w->spans.window,
                                               .gang = hosts[0].gang,
                                               .edges = edges};
    say(o->w, &matchmaker, &message);
    message_done(&message);
}

/* The request that was advertised last is matched with that host. */
static void match(struct office *o, uint64_t number, struct host *host)
{
    match_gang(o, o->w->put.u.advertise.id, number, host, 1);
}

/* What the host has to answer next; NULL when there is nothing. */
static struct sent *asked(struct office *o, const struct host *host)
{
    for (uint32_t i = 0; i < o->w->sent_count; i++)
        if (o->w->sent[i].to == host->peer.agent)
            return &o->w->sent[i];
    return NULL;
}

/* Is an abort on its way to the host? */
static bool is_off(const struct office *o, const struct host *host)
{
    for (uint32_t i = 0; i < o->w->sent_count; i++)
        if (o->w->sent[i].to == host->peer.agent && o->w->sent[i].message.kind == MESSAGE_ABORT)
            return o->w->sent[i].message.u.abort.claim == host->claim;
    return false;
}

static bool is_asked(struct office *o, const struct host *host, enum message_kind kind)
{
    struct sent *sent = asked(o, host);

    return sent && sent->message.kind == kind;
}

static struct message host_verified(struct office *o, struct host *host, const struct verify *verify)
{
    struct message reply = {.kind = MESSAGE_VERIFIED, .u.verified = {.claim = host->claim, .nonce = host->nonce}};
    struct key proof;

    reply.u.verified.reason = REASON_CHALLENGE;
    if (!verify->proves)
        return reply;
    ticket_proof(&o->w->secrets, &host->ticket, true, &host->nonce, &verify->nonce, host->peer.channel, &proof);
    host->fooled |= !key_equal(&proof, &verify->proof);
    reply.u.verified.reason = REASON_OK;
    reply.u.verified.ad = host->ad;
    if (!host->liar)
        ticket_proof(&o->w->secrets, &host->ticket, false, &host->nonce, &verify->nonce, host->peer.channel,
                     &reply.u.verified.proof);
    return reply;
}

static struct message host_claimed(struct host *host, enum reason reason)
{
    return (struct message){.kind = MESSAGE_CLAIMED, .u.claimed = {host->claim, host->epoch, reason}};
}

/* Agrees to the oldest that it was asked. */
static void host_agrees(struct office *o, struct host *host)
{
    struct sent *sent = asked(o, host);
    const struct message *message = &sent->message;
    struct message reply = host_claimed(host, REASON_OK);

    switch (message->kind) {
    case MESSAGE_VERIFY:
        reply = host_verified(o, host, &message->u.verify);
        break;
    case MESSAGE_COMMIT:
        reply.u.claimed.epoch = host->epoch = message->u.commit.epoch;
        break;
    case MESSAGE_ACTIVATE:
        host->activations++;
        host->unit = message->u.activate.ad;
        break;
    case MESSAGE_START:
        host->starts++;
        host->job = message->u.start.job;
        host->number = message->u.start.number;
        host->duty = (struct duty){message->u.start.task, message->u.start.customer, message->u.start.line,
                                   message->u.start.pass, message->u.start.helps};
        break;
    case MESSAGE_RELEASE:
        reply.u.claimed.reason = REASON_RELEASED;
        break;
    case MESSAGE_ATTACH:
        host->epoch = message->u.attach.epoch;
        reply = (struct message){.kind = MESSAGE_ATTACHED};
        reply.u.attached = (struct attached){host->claim,  host->epoch, REASON_OK,       host->activations > 0,
                                             host->number, host->job,   host->starts > 0};
        break;
    default:
        break;
    }
    answer_from(o->w, sent, &host->peer, &reply);
    if (o->w->agreeable)
        matchmaker_answers(o->w);
}

/* Agrees to all up to something of that kind, which it does not answer; NONE: to all. */
static void host_until(struct office *o, struct host *host, enum message_kind kind)
{
    for (int i = 0; i < 100 && asked(o, host) && asked(o, host)->message.kind != kind; i++)
        host_agrees(o, host);
}

/* Answers what it is asked with CLAIMED and that reason. */
static void host_says(struct office *o, struct host *host, enum reason reason)
{
    struct message reply = host_claimed(host, reason);

    answer_from(o->w, asked(o, host), &host->peer, &reply);
    if (o->w->agreeable)
        matchmaker_answers(o->w);
}

static void host_attached(struct office *o, struct host *host, enum reason reason, bool running)
{
    struct message reply = {.kind = MESSAGE_ATTACHED};

    if (reason == REASON_OK)
        host->epoch = asked(o, host)->message.u.attach.epoch;
    reply.u.attached =
        (struct attached){host->claim, host->epoch, reason, host->activations > 0, host->number, host->job, running};
    answer_from(o->w, asked(o, host), &host->peer, &reply);
    if (o->w->agreeable)
        matchmaker_answers(o->w);
}

static enum reason beat(struct office *o, struct host *host)
{
    struct message message = {.kind = MESSAGE_BEAT};
    const struct message *heard;

    message.u.beat = (struct beat){.claim = host->claim, .epoch = host->epoch, .sent = 4711, .heard = host->heard};
    heard = say(o->w, &host->peer, &message);
    if (reason_of(heard) == REASON_OK)
        host->heard = heard->u.beaten.clock;
    return reason_of(heard);
}

static enum reason ask(struct office *o, const struct host *host)
{
    struct message message = {.kind = MESSAGE_ASK, .u.ask = {host->claim, host->epoch}};

    return reason_of(say(o->w, &host->peer, &message));
}

static enum reason left(struct office *o, const struct host *host, enum reason reason)
{
    struct message message = {.kind = MESSAGE_LEFT, .u.left = {host->claim, host->epoch, reason}};

    return reason_of(say(o->w, &host->peer, &message));
}

static enum reason result(struct office *o, const struct host *host, int64_t status)
{
    struct message message = {.kind = MESSAGE_RESULT};

    message.u.result = (struct result){host->claim, host->number, host->job, REASON_EXITED, status, 5 * SECOND};
    return reason_of(say(o->w, &host->peer, &message));
}

static void result_of(struct office *o, const struct host *host, enum reason reason)
{
    struct message message = {.kind = MESSAGE_RESULT};

    message.u.result = (struct result){host->claim, host->number, host->job, reason, 0, SECOND};
    say(o->w, &host->peer, &message);
}

/* A customer with one job that runs on host 1. */
static struct host office_running(struct office *o, uint64_t jobs, const char *text)
{
    struct host host;

    office_start(o);
    submit(o, "k", jobs, text);
    host = host_new(o, 1);
    match(o, 1, &host);
    host_until(o, &host, MESSAGE_NONE);
    return host;
}

static void pass_beating(struct office *o, struct host *host, int64_t span)
{
    for (int64_t end = o->w->env.now + span; o->w->env.now < end;) {
        pass(o->w, 10 * SECOND);
        beat(o, host);
    }
}

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
    world_free(o.w, "limits");
}

/* --------------------------------------------------------------------------------------------------------- requests */

static void equal_jobs_share(void)
{
    struct office o;
    uint64_t id, version;

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

static void gang_of_two(void)
{
    struct office o;
    struct host hosts[2];

    office_start(&o);
    submit(&o, "k", 1, JOB);
    hosts[0] = host_new(&o, 1);
    hosts[1] = host_new(&o, 2);
    match_gang(&o, o.w->put.u.advertise.id, 1, hosts, 2);
    host_until(&o, &hosts[0], MESSAGE_COMMIT);
    tap_ok(!asked(&o, &hosts[0]) && is_asked(&o, &hosts[1], MESSAGE_VERIFY),
           "no member of a gang is committed to before all are verified");
    host_until(&o, &hosts[1], MESSAGE_COMMIT);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_COMMIT) && is_asked(&o, &hosts[1], MESSAGE_COMMIT), "then all are");
    host_agrees(&o, &hosts[0]);
    tap_ok(!asked(&o, &hosts[0]), "none is activated before all are pinned");
    host_agrees(&o, &hosts[1]);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_ACTIVATE) && is_asked(&o, &hosts[1], MESSAGE_ACTIVATE), "then all are");
    host_agrees(&o, &hosts[0]);
    tap_ok(hosts[0].starts == 0 && !asked(&o, &hosts[0]), "nothing starts before all have cleared the way");
    host_agrees(&o, &hosts[1]);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_START) || is_asked(&o, &hosts[1], MESSAGE_START), "then it does");
    host_until(&o, &hosts[0], MESSAGE_NONE);
    host_until(&o, &hosts[1], MESSAGE_NONE);
    left(&o, &hosts[1], REASON_LEASE);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE), "when one is lost the others are released");
    tap_ok(jobs_in(&o, JOB_RUNNING) == 1, "and the job is not run elsewhere before all are gone");
    host_until(&o, &hosts[0], MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(jobs_in(&o, JOB_IDLE) == 1 && row_count(o.w, RECORD_BRANCH) == 0, "then it waits again");
    world_free(o.w, "a gang");
}

/* ------------------------------------------------------------------------------------------------------- real gangs */

#define PAIR(essential)                                                                              \
    "[ Type = \"Job\"; Ports = { [ Label = cpu; Essential = false; Constraint = cpu.Memory >= 32 ]," \
    " [ Label = lic; HostId = cpu.Key; " essential " Constraint = lic.Site == cpu.Site ] } ]"

/* Two hosts, docked at the ports of the request that was advertised last. */
static void match_pair(struct office *o, uint64_t number, struct host *hosts, const char *first, const char *second)
{
    struct message message = {.kind = MESSAGE_MATCH};
    struct edges *edges = edges_new(2);

    for (uint32_t i = 0; i < 2; i++) {
        hosts[i] = host_new(o, 2 * number - 1 + i);
        hosts[i].ad = ad(o->w, i ? second : first);
        hosts[i].gang = hosts[0].gang;
        /* the matchmaker may tell them in any order */
        edges->items[1 - i] = (struct edge){.claim = hosts[i].claim,
                                            .agent = hosts[i].peer.agent,
                                            .offer = hosts[i].offer,
                                            .port = i,
                                            .ticket = hosts[i].ticket,
                                            .ad = tree_ref(hosts[i].ad)};
    }
    message.u.match_told = (struct match_told){.id = o->w->put.u.advertise.id,
                                               .incarnation = INCARNATION,
                                               .number = number,
                                               .window = o->w->spans.window,
                                               .gang = hosts[0].gang,
                                               .edges = edges};
    say(o->w, &matchmaker, &message);
    message_done(&message);
}

static void pair_until(struct office *o, struct host *hosts, enum message_kind kind)
{
    for (int i = 0; i < 20; i++)
        host_until(o, &hosts[i % 2], kind);
}

#define MACHINE_1 "[ Key = 90; Memory = 64; Site = 1 ]"
#define LICENCE_1 "[ App = \"a\"; Site = 1; Executes = false ]"
#define HELPER_1 "[ Memory = 64; Site = 1 ]"

static void pair_running(struct office *o, struct host *hosts, uint64_t jobs, const char *text, const char *second)
{
    office_start(o);
    submit(o, "k", jobs, text);
    match_pair(o, 1, hosts, MACHINE_1, second);
    pair_until(o, hosts, MESSAGE_NONE);
}

static void ports_are_verified(void)
{
    struct office o;
    struct host hosts[2];
    const struct verify *verify;

    office_start(&o);
    submit(&o, "k", 1, PAIR(""));
    match_pair(&o, 1, hosts, MACHINE_1, LICENCE_1);
    verify = &asked(&o, &hosts[1])->message.u.verify;
    tap_ok(verify->port == 1 && ad_says(o.w, verify->ad, "Ports[1].HostId == 90"),
           "a member is told at which port it docks, and what hangs on others there");
    hosts[1].ad = ad(o.w, "[ App = \"a\"; Site = 2 ]");
    host_until(&o, &hosts[1], MESSAGE_NONE);
    tap_ok(!root_of(&o, hosts[0].gang).found && jobs_in(&o, JOB_IDLE) == 1,
           "who is not as it was, beside another, is refused by the superior's own port");
    tap_ok(is_off(&o, &hosts[0]), "and who had not answered yet hears that it is off");
    match_pair(&o, 2, hosts, MACHINE_1, LICENCE_1);
    host_until(&o, &hosts[1], MESSAGE_COMMIT);
    tap_ok(root_of(&o, hosts[0].gang).found, "a sibling that is still to be verified is known from the match");
    hosts[0].ad = ad(o.w, "[ Key = 90; Memory = 64; Site = 2 ]");
    host_until(&o, &hosts[0], MESSAGE_COMMIT);
    tap_ok(!root_of(&o, hosts[0].gang).found && !is_asked(&o, &hosts[0], MESSAGE_COMMIT),
           "when all are verified, all ports are looked at once more, by what all are now");
    hosts[0] = host_new(&o, 5);
    match_gang(&o, o.w->put.u.advertise.id, 3, hosts, 1);
    host_until(&o, &hosts[0], MESSAGE_COMMIT);
    tap_ok(!root_of(&o, hosts[0].gang).found, "a gang in which an essential port is empty is not claimed");
    match_pair(&o, 4, hosts, MACHINE_1, LICENCE_1);
    pair_until(&o, hosts, MESSAGE_NONE);
    tap_ok(hosts[0].starts && hosts[1].starts && jobs_in(&o, JOB_RUNNING) == 1, "a gang that fits is started");
    world_free(o.w, "ports that are verified");
}

static void gang_goes_on(void)
{
    struct office o;
    struct host hosts[2];
    uint64_t job;

    pair_running(&o, hosts, 3, PAIR("Essential = false;"), HELPER_1);
    job = hosts[0].job;
    left(&o, &hosts[1], REASON_LEASE);
    tap_ok(!asked(&o, &hosts[0]) && job_is(&o, job, JOB_RUNNING) && beat(&o, &hosts[0]) == REASON_OK,
           "without a member that is not essential the gang goes on");
    tap_ok(row_count(o.w, RECORD_BRANCH) == 2 && row_of(o.w, RECORD_BRANCH, hosts[1].claim)->u.branch_record.dropped,
           "that is recorded");
    tap_ok(beat(&o, &hosts[1]) == REASON_RELEASED, "whoever was dropped is told so");
    world_restart(o.w, true, SECOND);
    tap_ok(
        is_asked(&o, &hosts[0], MESSAGE_ATTACH) && is_asked(&o, &hosts[1], MESSAGE_RELEASE),
        "after a restart only those are attached to that are left; the other is released, if it should still be there");
    pair_until(&o, hosts, MESSAGE_NONE);
    tap_ok(root_of(&o, hosts[0].gang).view.state == ROOT_RUNNING && beat(&o, &hosts[0]) == REASON_OK,
           "and the gang goes on");
    tap_ok(result(&o, &hosts[0], 0) == REASON_OK && job_is(&o, job, JOB_DONE), "its job gets its result");
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE) && jobs_in(&o, JOB_IDLE) == 2,
           "a gang that is not whole is not used for the next job");
    pair_until(&o, hosts, MESSAGE_NONE);
    tap_ok(row_count(o.w, RECORD_BRANCH) == 0, "nothing is left of it");
    world_free(o.w, "a gang that goes on");
}

/* What the members are started with: by what right they may ask for files. */
static void passes(void)
{
    static const struct key none;
    struct office o;
    struct host hosts[2];
    struct key pass, help;
    struct job_view view;

    pair_running(&o, hosts, 1, PAIR("Essential = false;"), HELPER_1);
    customer_job(o.w->role, hosts[0].job, &view);
    pass = view.pass;
    duty_pass_help(&o.w->secrets, &pass, &help);
    tap_ok(!hosts[0].duty.helps && !hosts[0].duty.line && key_equal(&hosts[0].duty.pass, &none),
           "a leader that was claimed itself needs no pass");
    tap_ok(hosts[1].duty.helps && hosts[1].duty.line == hosts[0].claim && key_equal(&hosts[1].duty.pass, &help) &&
               !key_equal(&pass, &help),
           "a helper is told that it is one, the leader's claim, and gets a pass of its own");
    world_restart(o.w, true, SECOND);
    customer_job(o.w->role, hosts[0].job, &view);
    tap_ok(!key_equal(&pass, &none) && key_equal(&view.pass, &pass), "passes outlive a restart");
    world_free(o.w, "passes");

    pair_running(&o, hosts, 1, PAIR("Essential = false;"), LICENCE_1);
    tap_ok(hosts[1].duty.helps && key_equal(&hosts[1].duty.pass, &none), "one that runs nothing gets none");
    world_free(o.w, "no pass for a licence");

    office_start(&o);
    submit(&o, "k", 1, "[ Type = \"Job\" ]");
    hosts[0] = host_new(&o, 1);
    match_gang(&o, o.w->put.u.advertise.id, 1, hosts, 1);
    host_until(&o, &hosts[0], MESSAGE_NONE);
    customer_job(o.w->role, hosts[0].job, &view);
    tap_ok(hosts[0].starts == 1 && key_equal(&view.pass, &none) && !hosts[0].duty.helps && !hosts[0].duty.ad,
           "of a pair nothing of this is said");
    world_free(o.w, "a pair without passes");
}

/* Silent, not gone: it may still run. */
static void dropped_and_silent(void)
{
    struct office o;
    struct host hosts[2];

    pair_running(&o, hosts, 1, PAIR("Essential = false;"), HELPER_1);
    pass_beating(&o, &hosts[0], o.w->spans.lease + spans_margin(&o.w->spans) + 20 * SECOND);
    tap_ok(jobs_in(&o, JOB_RUNNING) == 1 && beat(&o, &hosts[0]) == REASON_OK,
           "a member that is silent for a lease is lost as well");
    result(&o, &hosts[0], 1);
    host_until(&o, &hosts[0], MESSAGE_NONE);
    tap_ok(jobs_in(&o, JOB_DONE) == 1, "the leader's failure is the job's result");
    world_free(o.w, "dropped and silent");
}

static void essential_ones(void)
{
    struct office o;
    struct host hosts[2];

    pair_running(&o, hosts, 1, PAIR("Essential = undefined;"), HELPER_1);
    left(&o, &hosts[1], REASON_LEASE);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE), "undefined is essential: the gang ends");
    world_free(o.w, "undefined");

    pair_running(&o, hosts, 1, PAIR("Essential = false;"), HELPER_1);
    left(&o, &hosts[0], REASON_LEASE);
    tap_ok(is_asked(&o, &hosts[1], MESSAGE_RELEASE), "the leader is always essential");
    world_free(o.w, "the leader");

    pair_running(&o, hosts, 1, PAIR("Essential = JobRunTime < 60;"), HELPER_1);
    pass_beating(&o, &hosts[0], 30 * SECOND);
    left(&o, &hosts[1], REASON_VETOED);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE), "a member may be essential in the first minute");
    world_free(o.w, "in the first minute");

    pair_running(&o, hosts, 1, PAIR("Essential = JobRunTime < 60;"), HELPER_1);
    for (int i = 0; i < 7; i++) {
        pass_beating(&o, &hosts[0], 10 * SECOND);
        beat(&o, &hosts[1]);
    }
    left(&o, &hosts[1], REASON_VETOED);
    tap_ok(!asked(&o, &hosts[0]) && jobs_in(&o, JOB_RUNNING) == 1, "and not after that");
    world_free(o.w, "after a minute");

    office_start(&o);
    submit(&o, "k", 1, PAIR("Essential = false;"));
    match_pair(&o, 1, hosts, MACHINE_1, HELPER_1);
    pair_until(&o, hosts, MESSAGE_ACTIVATE);
    host_agrees(&o, &hosts[0]);
    host_says(&o, &hosts[1], REASON_PIN);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE) && !hosts[0].starts,
           "until all have cleared the way, all are essential: a gang begins whole");
    world_free(o.w, "before the start");
}

static void helpers_end(void)
{
    struct office o;
    struct host hosts[2];
    uint64_t job;

    pair_running(&o, hosts, 1, PAIR(""), HELPER_1);
    job = hosts[0].job;
    tap_ok(job_of(&o, job).claim == hosts[0].claim && job_of(&o, job).member == hosts[0].peer.agent,
           "the first member in the order of ports is the leader, in whatever order they are told");
    tap_ok(result(&o, &hosts[1], 0) == REASON_OK && job_is(&o, job, JOB_RUNNING) && !asked(&o, &hosts[0]),
           "another that ends well is no loss, and that is not the job's result");
    tap_ok(result(&o, &hosts[0], 0) == REASON_OK && job_is(&o, job, JOB_DONE), "the leader's is");
    world_free(o.w, "a helper that ends well");

    pair_running(&o, hosts, 1, PAIR("Essential = false;"), HELPER_1);
    result(&o, &hosts[1], 1);
    tap_ok(is_asked(&o, &hosts[1], MESSAGE_RELEASE) && !asked(&o, &hosts[0]) && jobs_in(&o, JOB_RUNNING) == 1,
           "one that fails and is not essential is dropped");
    world_free(o.w, "a helper that fails");

    pair_running(&o, hosts, 1, PAIR(""), HELPER_1);
    job = hosts[0].job;
    result(&o, &hosts[1], 3);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE) && is_asked(&o, &hosts[1], MESSAGE_RELEASE),
           "the failure of one that is essential ends the gang");
    tap_ok(job_is(&o, job, JOB_HELD) && job_of(&o, job).status == 3 && job_of(&o, job).tries == 1,
           "that was a try; with none left the job is held, for it has no result");
    pair_until(&o, hosts, MESSAGE_NONE);
    world_free(o.w, "an essential helper that fails");
}

#define PAIR_AGAIN "[ Type = \"Job\"; MaxRetries = 2; Ports = { [ Label = cpu ], [ Label = lic ] } ]"

/* The gang of a job that failed ends, whatever comes between; before that nobody else has the job. */
static void failed_and_restarted(void)
{
    struct office o;
    struct host hosts[2];
    uint64_t job;

    pair_running(&o, hosts, 1, PAIR_AGAIN, HELPER_1);
    job = hosts[0].job;
    tap_ok(result(&o, &hosts[0], 1) == REASON_OK && job_is(&o, job, JOB_RUNNING) && job_of(&o, job).tries == 1,
           "a leader fails; the job does not wait again while others may be at it");
    world_restart(o.w, true, SECOND);
    pair_until(&o, hosts, MESSAGE_RELEASE);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE) && is_asked(&o, &hosts[1], MESSAGE_RELEASE),
           "a restart does not revive the gang: its leader has nothing more to say");
    pair_until(&o, hosts, MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(job_is(&o, job, JOB_IDLE) && job_of(&o, job).tries == 1, "then the job waits again, with one try less");
    world_free(o.w, "a leader that failed, and a restart");

    pair_running(&o, hosts, 1, PAIR_AGAIN, HELPER_1);
    job = hosts[0].job;
    tap_ok(result(&o, &hosts[1], 3) == REASON_OK && job_is(&o, job, JOB_RUNNING) && job_of(&o, job).tries == 1,
           "a helper fails that is essential");
    world_restart(o.w, true, SECOND);
    pair_until(&o, hosts, MESSAGE_RELEASE);
    tap_ok(is_asked(&o, &hosts[0], MESSAGE_RELEASE) && is_asked(&o, &hosts[1], MESSAGE_RELEASE),
           "a restart does not forget it: the gang ends");
    pair_until(&o, hosts, MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(job_is(&o, job, JOB_IDLE) && job_of(&o, job).tries == 1, "and the job waits again");
    world_free(o.w, "a helper that failed, and a restart");

    pair_running(&o, hosts, 1, PAIR(""), HELPER_1);
    job = hosts[0].job;
    result_of(&o, &hosts[0], REASON_SETUP);
    world_restart(o.w, true, SECOND);
    tap_ok(job_is(&o, job, JOB_HELD) && control(&o, &raman, job, CONTROL_RELEASE) == REASON_BUSY,
           "a job that is held cannot be released before its gang is gone, a restart between or not");
    pair_until(&o, hosts, MESSAGE_NONE);
    pass(o.w, SECOND);
    tap_ok(control(&o, &raman, job, CONTROL_RELEASE) == REASON_OK && job_is(&o, job, JOB_IDLE), "then it can");
    world_free(o.w, "held, and a restart");
}

static void leader_executes(void)
{
    struct office o;
    struct host hosts[2];
    uint64_t job;

    office_start(&o);
    submit(&o, "k", 2, PAIR(""));
    match_pair(&o, 1, hosts, "[ Key = 90; Memory = 64; Site = 1; Executes = false ]", HELPER_1);
    pair_until(&o, hosts, MESSAGE_NONE);
    job = hosts[1].job;
    tap_ok(job_of(&o, job).claim == hosts[1].claim, "a member that executes nothing is not the leader");
    tap_ok(hosts[0].starts == 1, "though it is told of the start");
    tap_ok(result(&o, &hosts[0], 0) == REASON_OK && job_is(&o, job, JOB_RUNNING), "what it says is no result");
    result(&o, &hosts[1], 0);
    tap_ok(job_is(&o, job, JOB_DONE) && is_asked(&o, &hosts[0], MESSAGE_ACTIVATE),
           "a gang that is whole is used for the next job");
    pair_until(&o, hosts, MESSAGE_NONE);
    tap_ok(hosts[0].number == 2 && hosts[1].number == 2 && job_of(&o, hosts[1].job).claim == hosts[1].claim,
           "with the same leader");
    world_free(o.w, "a leader that executes");
}

/* One has begun when the customer comes back, the other has not. */
static void begun_in_part(void)
{
    struct office o;
    struct host hosts[2];

    office_start(&o);
    submit(&o, "k", 1, PAIR(""));
    match_pair(&o, 1, hosts, MACHINE_1, HELPER_1);
    pair_until(&o, hosts, MESSAGE_START);
    host_agrees(&o, &hosts[1]);
    world_restart(o.w, true, SECOND);
    pair_until(&o, hosts, MESSAGE_START);
    tap_ok(hosts[0].activations == 2 && hosts[1].activations == 2 &&
               asked(&o, &hosts[0])->message.u.start.number == 2 && asked(&o, &hosts[1])->message.u.start.number == 2,
           "a gang that had begun in part begins anew, together, under the next number");
    pair_until(&o, hosts, MESSAGE_NONE);
    tap_ok(result(&o, &hosts[0], 0) == REASON_OK && jobs_in(&o, JOB_DONE) == 1, "and does its job");
    world_free(o.w, "begun in part");

    pair_running(&o, hosts, 1, PAIR("Essential = false;"), HELPER_1);
    world_restart(o.w, true, SECOND);
    tap_ok(beat(&o, &hosts[0]) == REASON_WAIT, "after a restart a heart beat is not acknowledged at once");
    host_attached(&o, &hosts[1], REASON_LOST, false);
    tap_ok(root_of(&o, hosts[0].gang).view.state == ROOT_ATTACHING,
           "who is lost in a restart is judged when all have answered");
    host_until(&o, &hosts[0], MESSAGE_NONE);
    tap_ok(root_of(&o, hosts[0].gang).view.state == ROOT_RUNNING && beat(&o, &hosts[0]) == REASON_OK,
           "and the gang goes on without it, if it is not essential");
    world_free(o.w, "lost in a restart");

    for (int essential = 0; essential < 2; essential++) {
        pair_running(&o, hosts, 1, essential ? PAIR("") : PAIR("Essential = JobRunTime < 0;"), HELPER_1);
        world_restart(o.w, true, SECOND);
        host_agrees(&o, &hosts[0]);
        tap_ok(root_of(&o, hosts[0].gang).view.state == ROOT_ATTACHING &&
                   beat(&o, &hosts[0]) == (essential ? REASON_WAIT : REASON_OK),
               essential ? "but not while one that it cannot be without may have been lost"
                         : "a member that has answered is held by its heart beats before the others have");
        tap_ok(beat(&o, &hosts[1]) == REASON_WAIT, "one that has not is not");
        host_until(&o, &hosts[1], MESSAGE_NONE);
        tap_ok(root_of(&o, hosts[0].gang).view.state == ROOT_RUNNING && beat(&o, &hosts[0]) == REASON_OK &&
                   beat(&o, &hosts[1]) == REASON_OK,
               "when all have answered all are");
        world_free(o.w, "answers one by one");
    }
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
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_setting("BERTH_ROUNDS", 40);
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
static void unnamed_pool(void)
{
    static const struct customer_pool pools[] = {{MATCHMAKER, "north"}, {3, "south"}};
    struct message message = {.kind = MESSAGE_MATCH};
    struct peer peer = {.agent = 3, .identity = "matchmaker", .channel = 3};
    struct office o = {0};
    struct host host;

    o.w = world_new(&customer_role, &o.settings);
    o.settings = (struct customer_settings){
        .self = SELF, .matchmaker = MATCHMAKER, .spans = &o.w->spans, .pools = pools, .pool_count = 2};
    world_start(o.w);
    submit(&o, "a", 1, "[ Type = \"Job\"; Pools = { \"north\" }; Constraint = other.Memory >= 64 ]");
    pass(o.w, SECOND);
    tap_ok(o.w->puts == 1 && asks_for(&o, "Pools[0] == \"north\""), "a job is offered to the pool that it names");
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

int main(void)
{
    submission_is_durable();
    submission_is_checked();
    submission_limits();
    equal_jobs_share();
    counts_and_matches();
    match_not_needed();
    match_nonsense();
    whole_path();
    sequence_rises();
    commit_too_late();
    left_undecided();
    refusals();
    removed_meanwhile();
    ask_hastens();
    start_refused();
    busy();
    gang_of_two();
    ports_are_verified();
    gang_goes_on();
    passes();
    dropped_and_silent();
    essential_ones();
    helpers_end();
    failed_and_restarted();
    leader_executes();
    begun_in_part();
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
    retries_by_default();
    claim_used_again();
    reuse_refused();
    life_of_a_claim();
    control_of_waiting_jobs();
    control_of_running_jobs();
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
    many_jobs_are_one_row();
    unit_of_a_start();
    forgotten_in_order();
    forgotten_out_of_order();
    keys_end();
    ends_of_jobs();
    queue_limit();
    asks();
    workflow_in_order();
    workflow_rescued();
    workflow_killed();
    not_for_a_customer();
    nonsense();
    unnamed_pool();
    return tap_done();
}
