/* suitor.h: a machine's agent in its world, and a scripted customer: a *suitor* proves its ticket, commits, activates, starts and releases
 * as told. */
#ifndef BERTH_TESTS_SUITOR_H
#define BERTH_TESTS_SUITOR_H

#include "agent.h"

#include "pool/provider/provider.h"

#define OFFER 70 /* the id of the first offer's ad */
#define PLAIN "[ Type = \"Machine\"; Memory = 64; Constraint = other.Type == \"Job\" ]"
#define SHARED                                                                      \
    "[ Type = \"Machine\"; Cpus = 8; Constraint = Cpus > 0 && other.Cpus <= Cpus; " \
    "Residual = [ Cpus = Cpus - other.Cpus ] ]"
#define OWNED "[ Type = \"Machine\"; Constraint = KeybrdIdle > '00:15' && other.Type == \"Job\" ]"
#define AWAY "[ KeybrdIdle = '01:00'; LoadAvg = 0.04 ]"
#define TYPING "[ KeybrdIdle = '00:00:02'; LoadAvg = 0.04 ]"
#define BUSY "[ KeybrdIdle = '01:00'; LoadAvg = 0.9 ]"

struct machine {
    struct world *w;
    struct provider_settings settings;
    uint64_t ids[2];
    struct tree *ads[2];
};

/* ------------------------------------------------------------------------------------------------------ the machine */

static inline void probe(struct machine *m, const char *text)
{
    struct event event = {.kind = EVENT_PROBED, .ad = text ? ad(m->w, text) : NULL};

    happen(m->w, &event);
}

static inline void machine_make(struct machine *m, const char *text)
{
    *m = (struct machine){.ids = {OFFER, OFFER + 1}};
    m->w = world_new(&provider_role, &m->settings);
    m->ads[0] = ad(m->w, text);
    m->settings = (struct provider_settings){.self = SELF,
                                             .matchmaker = MATCHMAKER,
                                             .spans = &m->w->spans,
                                             .identity = "prof",
                                             .ids = m->ids,
                                             .ads = m->ads,
                                             .count = 1};
}

/* A machine of that text, with its owner away, advertised at noon. */
static inline void machine_start(struct machine *m, const char *text)
{
    machine_make(m, text);
    world_start(m->w);
    probe(m, AWAY);
}

struct search {
    uint64_t claim;
    struct tenant_view view;
    bool found;
    uint32_t count;
};

static inline void tenant_look(void *user, const struct tenant_view *tenant)
{
    struct search *search = user;

    search->count++;
    if (tenant->claim != search->claim)
        return;
    search->view = *tenant;
    search->found = true;
}

static inline struct search look(struct machine *m, uint64_t claim)
{
    struct search search = {.claim = claim};

    provider_each(m->w->role, tenant_look, &search);
    return search;
}

static inline bool holds(struct machine *m, uint64_t claim, enum tenant_state state)
{
    struct search search = look(m, claim);

    return search.found && search.view.state == state;
}

static inline bool is_free(struct machine *m, uint64_t claim)
{
    return !look(m, claim).found;
}

static inline bool advertises(struct machine *m, const char *expr)
{
    return m->w->put.kind == MESSAGE_ADVERTISE && ad_says(m->w, m->w->put.u.advertise.ad, expr);
}

/* ------------------------------------------------------------------------------------------------------- the suitor */

struct suitor {
    struct peer peer;
    uint64_t claim, gang, offer;
    uint64_t port, link;
    const char *owner;         /* in its ticket */
    const char *root_owner;    /* NULL: it is the root itself */
    bool false_root;           /* its ticket says nothing of that owner */
    const struct key *key;     /* that it was made with; NULL: the one that was advertised last */
    struct tree *ad, *receipt; /* the receipt: NULL: it has none to hand over */
    struct key nonce, theirs;
    uint64_t epoch, sequence;
    struct verified heard;
};

static inline struct suitor suitor_new(struct machine *m, uint64_t claim, const char *owner)
{
    char text[200];

    snprintf(text, sizeof text, "[ Type = \"Job\"; Cpus = 3; Owner = \"%s\"; Constraint = other.Type == \"Machine\" ]",
             owner);
    return (struct suitor){.peer = {.agent = 50, .identity = "agent", .any = true, .channel = 500},
                           .claim = claim,
                           .gang = claim + 1000,
                           .offer = OFFER,
                           .owner = owner,
                           .ad = ad(m->w, text),
                           .nonce = {{(unsigned char)claim, 1, 2, 3}},
                           .epoch = 1};
}

static inline enum reason suitor_verifies(struct machine *m, struct suitor *s, const struct key *proof)
{
    struct message verify = {.kind = MESSAGE_VERIFY};
    const struct message *heard;

    verify.u.verify = (struct verify){.gang = s->gang,
                                      .claim = s->claim,
                                      .offer = s->offer,
                                      .port = s->port,
                                      .link = s->link,
                                      .proves = proof != NULL,
                                      .nonce = s->nonce,
                                      .proof = proof ? *proof : (struct key){{0}},
                                      .ad = s->ad,
                                      .receipt = s->receipt};
    if (s->root_owner)
        text_set(&verify.u.verify.root_owner, s->root_owner, strlen(s->root_owner));
    heard = say(m->w, &s->peer, &verify);
    s->heard = heard->kind == MESSAGE_VERIFIED ? heard->u.verified : (struct verified){.reason = REASON_COUNT};
    return s->heard.reason;
}

static inline enum reason challenge(struct machine *m, struct suitor *s)
{
    enum reason reason = suitor_verifies(m, s, NULL);

    s->theirs = s->heard.nonce;
    return reason;
}

static inline bool key_is_set(const struct key *key)
{
    static const struct key none;

    return !key_equal(key, &none);
}

static inline struct key proof_of(struct machine *m, const struct suitor *s, bool from_customer)
{
    const struct key *key = s->key ? s->key : &m->w->put.u.advertise.key;
    struct key ticket, proof;

    ticket_make_below(&m->w->secrets, key, s->offer, s->claim, s->gang, s->owner,
                      s->root_owner && !s->false_root ? s->root_owner : "", &ticket);
    ticket_proof(&m->w->secrets, &ticket, from_customer, &s->theirs, &s->nonce, s->peer.channel, &proof);
    return proof;
}

static inline enum reason prove(struct machine *m, struct suitor *s)
{
    struct key proof = proof_of(m, s, true);

    return suitor_verifies(m, s, &proof);
}

static inline enum reason verify(struct machine *m, struct suitor *s)
{
    enum reason reason = challenge(m, s);

    return reason == REASON_CHALLENGE ? prove(m, s) : reason;
}

static inline enum reason say_commit(struct machine *m, struct suitor *s)
{
    struct message commit = {.kind = MESSAGE_COMMIT};

    commit.u.commit = (struct commit){s->claim, s->epoch, ++s->sequence, m->w->spans.pin / 4};
    return reason_of(say(m->w, &s->peer, &commit));
}

static inline enum reason say_activate(struct machine *m, struct suitor *s, struct tree *unit)
{
    struct message activate = {.kind = MESSAGE_ACTIVATE};

    activate.u.activate = (struct activate){s->claim, s->epoch, ++s->sequence, unit};
    return reason_of(say(m->w, &s->peer, &activate));
}

static inline enum reason say_start(struct machine *m, struct suitor *s, uint64_t number, uint64_t job)
{
    struct message start = {.kind = MESSAGE_START};

    start.u.start = (struct start){
        .claim = s->claim, .epoch = s->epoch, .sequence = ++s->sequence, .job = job, .number = number, .ad = s->ad};
    return reason_of(say(m->w, &s->peer, &start));
}

static inline enum reason say_release(struct machine *m, struct suitor *s)
{
    struct message release = {.kind = MESSAGE_RELEASE};

    release.u.release = (struct release){s->claim, s->epoch, ++s->sequence};
    return reason_of(say(m->w, &s->peer, &release));
}

static inline enum reason say_abort(struct machine *m, struct suitor *s)
{
    struct message abort = {.kind = MESSAGE_ABORT, .u.abort = {s->claim}};

    return reason_of(say(m->w, &s->peer, &abort));
}

static inline struct attached say_attach(struct machine *m, struct suitor *s, uint64_t epoch)
{
    struct message attach = {.kind = MESSAGE_ATTACH, .u.attach = {s->claim, epoch}};
    const struct message *heard = say(m->w, &s->peer, &attach);

    return heard->kind == MESSAGE_ATTACHED ? heard->u.attached : (struct attached){.reason = REASON_COUNT};
}

/* The path to each state, as a customer goes it. */
static inline void come_to(struct machine *m, struct suitor *s, enum tenant_state state)
{
    verify(m, s);
    if (state >= TENANT_PINNED)
        say_commit(m, s);
    if (state >= TENANT_CLAIMED)
        say_activate(m, s, NULL);
}

static inline void come_to_run(struct machine *m, struct suitor *s, uint64_t job)
{
    come_to(m, s, TENANT_CLAIMED);
    say_start(m, s, 1, job);
}

static inline void match(struct machine *m, struct suitor *s, uint64_t number)
{
    struct message match = {.kind = MESSAGE_MATCH};
    struct peer matchmaker = {.agent = MATCHMAKER, .identity = "matchmaker", .channel = 1};

    match.u.match_told = (struct match_told){.id = s->offer,
                                             .incarnation = INCARNATION,
                                             .number = number,
                                             .window = m->w->spans.window,
                                             .gang = s->gang,
                                             .claim = s->claim,
                                             .superior = s->peer.agent,
                                             .superior_ad = s->ad,
                                             .port = s->port,
                                             .link = s->link};
    say(m->w, &matchmaker, &match);
}

/* Answers the heart beats of the claim that are under way. */
static inline bool beat_back(struct machine *m, struct suitor *s)
{
    struct sent *sent = sent_of(m->w, MESSAGE_BEAT);
    struct message beaten = {.kind = MESSAGE_BEATEN};
    bool any = sent != NULL;

    while (sent) {
        beaten.u.beaten = (struct beaten){.claim = s->claim, .sent = sent->message.u.beat.sent};
        answer(m->w, sent, &beaten);
        sent = sent_of(m->w, MESSAGE_BEAT);
    }
    return any;
}

/* That span passes, and a customer answers every heart beat. */
static inline void pass_beating(struct machine *m, struct suitor *s, int64_t span)
{
    for (int64_t end = m->w->env.now + span; m->w->env.now < end;) {
        pass(m->w, end - m->w->env.now < SECOND ? end - m->w->env.now : SECOND);
        beat_back(m, s);
    }
}

static inline void job_news(struct machine *m, uint64_t claim, uint64_t number, enum job_news news, enum reason reason,
                            int64_t status)
{
    struct event event = {.kind = EVENT_JOB,
                          .news = news,
                          .claim = claim,
                          .number = number,
                          .reason = reason,
                          .status = status,
                          .used = 5 * SECOND};

    launcher_drop(m->w, claim);
    happen(m->w, &event);
}

/* Answers the oldest of that kind with CLAIMED and that reason. */
static inline bool answer_claimed(struct machine *m, enum message_kind kind, uint64_t claim, enum reason reason)
{
    struct sent *sent = sent_of(m->w, kind);
    struct message claimed = {.kind = MESSAGE_CLAIMED, .u.claimed = {claim, 1, reason}};

    if (sent)
        answer(m->w, sent, &claimed);
    return sent != NULL;
}

static inline bool told_lost(struct machine *m, uint64_t claim)
{
    struct sent *left = sent_of(m->w, MESSAGE_LEFT), *result = sent_of(m->w, MESSAGE_RESULT);

    return (left && left->message.u.left.claim == claim && left->message.u.left.reason == REASON_LOST) ||
           (result && result->message.u.result.claim == claim && result->message.u.result.reason == REASON_LOST);
}

/* Is a job of that owner accepted now? The claim is not pursued. */
static inline enum reason accepts(struct machine *m, const char *owner)
{
    struct suitor s = suitor_new(m, 9000 + m->w->token, owner);
    enum reason reason = verify(m, &s);

    if (reason == REASON_OK)
        say_abort(m, &s);
    return reason;
}

#endif
