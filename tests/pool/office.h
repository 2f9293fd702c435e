/* office.h: a customer's agent in its world, and a scripted machine: a *host* answers what it is asked, as far as a test lets it. */
#ifndef BERTH_TESTS_OFFICE_H
#define BERTH_TESTS_OFFICE_H

#include "agent.h"

#include "pool/claim/duty.h"
#include "pool/customer/customer.h"

#define JOB "[ Type = \"Job\"; Memory = 16; Constraint = other.Memory >= 64 ]"
#define OTHER_JOB "[ Type = \"Job\"; Memory = 17; Constraint = other.Memory >= 64 ]"
#define MACHINE "[ Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\" ]"

static const struct peer raman = {.agent = 90, .identity = "raman", .channel = 90};
static const struct peer calvin = {.agent = 91, .identity = "calvin", .channel = 91};
static const struct peer matchmaker = {.agent = MATCHMAKER, .identity = "matchmaker", .channel = 1};

struct office {
    struct world *w;
    struct customer_settings settings;
};

/* ----------------------------------------------------------------------------------------------------- the customer */

static inline void office_start(struct office *o)
{
    *o = (struct office){0};
    o->w = world_new(&customer_role, &o->settings);
    o->settings = (struct customer_settings){.self = SELF, .matchmaker = MATCHMAKER, .spans = &o->w->spans};
    world_start(o->w);
}

static inline struct submitted submit_as(struct office *o, const struct peer *peer, const char *owner, const char *key,
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

static inline struct submitted submit(struct office *o, const char *key, uint64_t count, const char *text)
{
    return submit_as(o, &raman, "raman", key, count, text);
}

static inline enum reason control(struct office *o, const struct peer *peer, uint64_t job, uint64_t verb)
{
    struct message message = {.kind = MESSAGE_CONTROL, .u.control = {.job = job, .verb = verb}};

    return reason_of(say(o->w, peer, &message));
}

static inline enum reason edit(struct office *o, const struct peer *peer, uint64_t job, const char *text)
{
    struct message message = {.kind = MESSAGE_CONTROL, .u.control = {.job = job, .verb = CONTROL_EDIT}};

    message.u.control.ad = text ? ad(o->w, text) : NULL;
    return reason_of(say(o->w, peer, &message));
}

static inline struct job_view job_of(struct office *o, uint64_t id)
{
    struct job_view view = {.state = JOB_REMOVED};

    customer_job(o->w->role, id, &view);
    return view;
}

static inline bool job_is(struct office *o, uint64_t id, enum job_state state)
{
    struct job_view view;

    return customer_job(o->w->role, id, &view) && view.state == state;
}

static inline void job_counts(void *user, const struct job_view *job)
{
    uint32_t *counts = user;

    counts[job->state]++;
}

static inline uint32_t jobs_in(struct office *o, enum job_state state)
{
    uint32_t counts[JOB_FORGOTTEN] = {0};

    customer_each(o->w->role, job_counts, counts);
    return counts[state];
}

static inline uint32_t jobs_queued(struct office *o)
{
    return jobs_in(o, JOB_IDLE) + jobs_in(o, JOB_RUNNING) + jobs_in(o, JOB_HELD);
}

struct root_search {
    uint64_t gang;
    struct root_view view;
    bool found;
};

static inline void root_look(void *user, const struct root_view *root)
{
    struct root_search *search = user;

    if (root->gang != search->gang)
        return;
    search->view = *root;
    search->found = true;
}

static inline struct root_search root_of(struct office *o, uint64_t gang)
{
    struct root_search search = {.gang = gang};

    customer_each_root(o->w->role, root_look, &search);
    return search;
}

static inline bool asks_for(struct office *o, const char *expr)
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

static inline struct host host_new(struct office *o, uint64_t n)
{
    return (struct host){.peer = {.agent = 50 + n, .identity = "host", .channel = 500 + n},
                         .claim = n,
                         .gang = 1000 + n,
                         .offer = 70,
                         .ticket = {{(unsigned char)n, 7}},
                         .nonce = {{(unsigned char)n, 8}},
                         .ad = ad(o->w, MACHINE)};
}

static inline void match_gang(struct office *o, uint64_t id, uint64_t number, struct host *hosts, uint32_t count)
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
static inline void match(struct office *o, uint64_t number, struct host *host)
{
    match_gang(o, o->w->put.u.advertise.id, number, host, 1);
}

/* What the host has to answer next; NULL when there is nothing. */
static inline struct sent *asked(struct office *o, const struct host *host)
{
    for (uint32_t i = 0; i < o->w->sent_count; i++)
        if (o->w->sent[i].to == host->peer.agent)
            return &o->w->sent[i];
    return NULL;
}

/* Is an abort on its way to the host? */
static inline bool is_off(const struct office *o, const struct host *host)
{
    for (uint32_t i = 0; i < o->w->sent_count; i++)
        if (o->w->sent[i].to == host->peer.agent && o->w->sent[i].message.kind == MESSAGE_ABORT)
            return o->w->sent[i].message.u.abort.claim == host->claim;
    return false;
}

static inline bool is_asked(struct office *o, const struct host *host, enum message_kind kind)
{
    struct sent *sent = asked(o, host);

    return sent && sent->message.kind == kind;
}

static inline struct message host_verified(struct office *o, struct host *host, const struct verify *verify)
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

static inline struct message host_claimed(struct host *host, enum reason reason)
{
    return (struct message){.kind = MESSAGE_CLAIMED, .u.claimed = {host->claim, host->epoch, reason}};
}

/* Agrees to the oldest that it was asked. */
static inline void host_agrees(struct office *o, struct host *host)
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
                                   message->u.start.pass, message->u.start.helps,    message->u.start.idle};
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
static inline void host_until(struct office *o, struct host *host, enum message_kind kind)
{
    for (int i = 0; i < 100 && asked(o, host) && asked(o, host)->message.kind != kind; i++)
        host_agrees(o, host);
}

/* Answers what it is asked with CLAIMED and that reason. */
static inline void host_says(struct office *o, struct host *host, enum reason reason)
{
    struct message reply = host_claimed(host, reason);

    answer_from(o->w, asked(o, host), &host->peer, &reply);
    if (o->w->agreeable)
        matchmaker_answers(o->w);
}

static inline void host_attached(struct office *o, struct host *host, enum reason reason, bool running)
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

static inline enum reason beat(struct office *o, struct host *host)
{
    struct message message = {.kind = MESSAGE_BEAT};
    const struct message *heard;

    message.u.beat = (struct beat){.claim = host->claim, .epoch = host->epoch, .sent = 4711, .heard = host->heard};
    heard = say(o->w, &host->peer, &message);
    if (reason_of(heard) == REASON_OK)
        host->heard = heard->u.beaten.clock;
    return reason_of(heard);
}

static inline enum reason ask(struct office *o, const struct host *host)
{
    struct message message = {.kind = MESSAGE_ASK, .u.ask = {host->claim, host->epoch}};

    return reason_of(say(o->w, &host->peer, &message));
}

static inline enum reason left(struct office *o, const struct host *host, enum reason reason)
{
    struct message message = {.kind = MESSAGE_LEFT, .u.left = {host->claim, host->epoch, reason}};

    return reason_of(say(o->w, &host->peer, &message));
}

static inline enum reason result(struct office *o, const struct host *host, int64_t status)
{
    struct message message = {.kind = MESSAGE_RESULT};

    message.u.result = (struct result){host->claim, host->number, host->job, REASON_EXITED, status, 5 * SECOND, false};
    return reason_of(say(o->w, &host->peer, &message));
}

static inline void result_of(struct office *o, const struct host *host, enum reason reason)
{
    struct message message = {.kind = MESSAGE_RESULT};

    message.u.result = (struct result){host->claim, host->number, host->job, reason, 0, SECOND, false};
    say(o->w, &host->peer, &message);
}

/* A customer with one job that runs on host 1. */
static inline struct host office_running(struct office *o, uint64_t jobs, const char *text)
{
    struct host host;

    office_start(o);
    submit(o, "k", jobs, text);
    host = host_new(o, 1);
    match(o, 1, &host);
    host_until(o, &host, MESSAGE_NONE);
    return host;
}

static inline void pass_beating(struct office *o, struct host *host, int64_t span)
{
    for (int64_t end = o->w->env.now + span; o->w->env.now < end;) {
        pass(o->w, 10 * SECOND);
        beat(o, host);
    }
}

#endif
