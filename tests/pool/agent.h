/* agent.h: a world around one role, for tests of agents.
 *
 *     events by hand  ->  the role  ->  effects:   what stands behind a persist is held until that is durable
 *                                                  sent      until it is answered, or its deadline has passed
 *                                                  replies   by the token of what was said
 *                                                  launchers by claim; they live on when the role is restarted
 *
 * The clock goes when a test says so, and the role is woken when it asked for it. A matchmaker that agrees to
 * everything can be had. After each step the role's own books are looked at, and what leaves it is read back. */
#ifndef BERTH_TESTS_AGENT_H
#define ADS_THERE 16 /* ads of an agent that are kept in sight */
#define BERTH_TESTS_AGENT_H

#include "common/lang.h"
#include "common/tap.h"
#include "plain_secrets.h"

#include "pool/protocol/seen.h"
#include "pool/protocol/ticket.h"
#include "pool/protocol/wire.h"

#define MATCHMAKER 1
#define SELF 2
#define INCARNATION 77  /* of the matchmaker */
#define NOON 1772366400 /* 2026-03-01T12:00:00Z, a Sunday */
#define HOUR (60 * MINUTE)
#define ITEMS_MAX 2048
#define TOKENS_MAX 4096

struct sent {
    agent to;
    uint64_t token;
    uint32_t tag;
    int64_t at; /* when it left */
    struct message message;
};

struct launcher {
    uint64_t claim, number, job;
    int64_t at, span; /* its deadline; for how long the job may run */
    bool stopped;
};

struct world {
    struct lang lang;
    struct rng chance, hidden;
    struct secrets secrets;
    struct role_env env;
    struct spans spans;
    const struct role_kind *kind;
    const void *settings;
    void *role;
    struct effects effects;
    const struct event *first; /* that it is told before EVENT_BOOTED; or NULL */

    bool slow; /* persists become durable by world_durable only */
    uint64_t durable;
    struct record rows[ITEMS_MAX], pending[ITEMS_MAX];
    uint32_t row_count, pending_count;
    struct effect held[ITEMS_MAX];
    uint32_t held_count;

    struct sent sent[ITEMS_MAX];
    uint32_t sent_count;
    struct message replies[TOKENS_MAX];
    enum message_kind asked[TOKENS_MAX];
    uint64_t token; /* of the last that was said */
    struct launcher launchers[ITEMS_MAX];
    uint32_t launcher_count, launches, stops;
    struct tree *launched; /* held: the ad of the last launch; or NULL */
    int64_t stop_span;
    bool suspended;
    uint64_t changed; /* the job that was told of last */
    int64_t wake;
    struct effect note; /* the last */
    uint32_t notes;

    bool agreeable;   /* the matchmaker answers at once */
    enum reason next; /* what it answers the next ADVERTISE with, and the span */
    int64_t next_span;
    int64_t planned;       /* it says that what is advertised is planned in so long, on heron; 0: it does not */
    uint64_t next_version; /* that it names; 0: the one that came */
    bool next_bare;        /* only a renewal without text is answered so */
    struct message put;    /* the last ADVERTISE that had a text, as it left */
    struct message update; /* the last of all */
    struct message there[ADS_THERE]; /* the ads that stand at the matchmaker; free places have another kind */
    uint32_t puts, bares, withdrawals;
    uint32_t repeats;     /* puts that said nothing new */
    struct report report; /* the last */
    uint32_t reports;
    int64_t reported; /* all that was used */
    int64_t put_wall, withdrawn_wall;

    struct tree *trees[ITEMS_MAX]; /* given back at the end */
    uint32_t tree_count;
    const char *fault; /* the first that was found */
    char fault_text[600];
};

/* -------------------------------------------------------------------------------------------------------- the world */

static inline void world_blame(struct world *w, const char *what, const char *more)
{
    if (w->fault)
        return;
    snprintf(w->fault_text, sizeof w->fault_text, "%s: %s", what, more);
    w->fault = w->fault_text;
}

/* For a reader of a failure: $BERTH_TRACE prints all that goes in and out. */
static inline void world_trace(struct world *w, const char *what, agent who, const struct message *message)
{
    struct tree *ad;
    struct buf text;

    if (!getenv("BERTH_TRACE"))
        return;
    buf_init(&text);
    if (message && message->kind) {
        ad = wire_message(w->env.symbols, message);
        wire_print(&text, ad);
        tree_unref(ad);
    }
    printf("# %.6f %s %llu %s\n", (double)w->env.now / SECOND, what, (unsigned long long)who, buf_string(&text));
    buf_done(&text);
}

static inline void row_keep(struct world *w, const struct record *record)
{
    uint32_t i = 0;

    while (i < w->row_count && (w->rows[i].kind != record->kind || w->rows[i].key != record->key))
        i++;
    if (i < w->row_count) {
        record_done(&w->rows[i]);
        w->rows[i] = w->rows[--w->row_count];
    }
    if (!record->removed && w->row_count < ITEMS_MAX)
        record_copy(&w->rows[w->row_count++], record);
}

static inline struct launcher *launcher_of(struct world *w, uint64_t claim)
{
    for (uint32_t i = 0; i < w->launcher_count; i++)
        if (w->launchers[i].claim == claim)
            return &w->launchers[i];
    return NULL;
}

static inline void launcher_drop(struct world *w, uint64_t claim)
{
    struct launcher *launcher = launcher_of(w, claim);

    if (launcher)
        *launcher = w->launchers[--w->launcher_count];
}

static inline void effect_sent(struct world *w, const struct effect *effect)
{
    struct sent *sent = &w->sent[w->sent_count];

    if (w->sent_count + 1 >= ITEMS_MAX) {
        world_blame(w, "too many messages are under way", "");
        return;
    }
    w->sent_count++;
    *sent = (struct sent){effect->to, effect->token, effect->tag, w->env.now, {MESSAGE_NONE, {{0}}}};
    message_copy(&sent->message, &effect->message);
}

static inline void effect_replied(struct world *w, const struct effect *effect)
{
    struct message *reply = &w->replies[effect->token % TOKENS_MAX];

    if (reply->kind || !w->asked[effect->token % TOKENS_MAX])
        world_blame(w, "something was answered twice, or not asked", message_layout(effect->message.kind)->name);
    else if (effect->message.kind != message_answer(w->asked[effect->token % TOKENS_MAX]))
        world_blame(w, "not the answer to what was said", message_layout(effect->message.kind)->name);
    message_done(reply);
    message_copy(reply, &effect->message);
}

static inline void effect_launched(struct world *w, const struct effect *effect)
{
    w->launches++;
    tree_unref(w->launched);
    w->launched = effect->ad ? tree_ref(effect->ad) : NULL;
    if (launcher_of(w, effect->claim))
        world_blame(w, "a second job is launched under a claim", "");
    else if (w->launcher_count < ITEMS_MAX)
        w->launchers[w->launcher_count++] =
            (struct launcher){effect->claim, effect->number, effect->job, effect->at, effect->span, false};
}

/* Carries out what stands behind nothing. */
static inline void effect_leaves(struct world *w, const struct effect *effect)
{
    struct launcher *launcher = launcher_of(w, effect->claim);

    switch (effect->kind) {
    case EFFECT_SEND:
        world_trace(w, "sends to", effect->to, &effect->message);
        effect_sent(w, effect);
        break;
    case EFFECT_REPLY:
        world_trace(w, "replies", effect->token, &effect->message);
        effect_replied(w, effect);
        break;
    case EFFECT_WAKE:
        w->wake = effect->at;
        break;
    case EFFECT_JOB:
        world_trace(w, "launches", effect->claim, NULL);
        effect_launched(w, effect);
        break;
    case EFFECT_DEADLINE:
        if (launcher)
            launcher->at = effect->at;
        break;
    case EFFECT_SUSPEND:
        w->suspended = effect->span != 0;
        break;
    case EFFECT_CHANGED:
        w->changed = effect->job;
        break;
    case EFFECT_STOP:
        world_trace(w, "stops", effect->claim, NULL);
        w->stops++;
        w->stop_span = effect->span;
        if (launcher)
            launcher->stopped = true;
        break;
    case EFFECT_NOTE:
        w->note = *effect;
        w->notes++;
        world_trace(w, effect->note ? effect->note : reason_words(effect->reason), effect->claim, NULL);
        break;
    case EFFECT_PERSIST:
        break;
    }
}

static inline void effect_hold(struct world *w, const struct effect *effect)
{
    struct effect *held = &w->held[w->held_count];

    if (w->held_count + 1 >= ITEMS_MAX)
        return;
    w->held_count++;
    *held = *effect;
    held->message = (struct message){MESSAGE_NONE, {{0}}};
    message_copy(&held->message, &effect->message);
}

static inline void effect_happens(struct world *w, const struct effect *effect)
{
    struct err why = {0};

    if (effect->message.kind && !wire_same(w->env.symbols, &effect->message, &why))
        world_blame(w, "a message does not read back", why.text);
    if (effect->kind == EFFECT_PERSIST) {
        if (!wire_same_record(w->env.symbols, &effect->record, &why))
            world_blame(w, "a record does not read back", why.text);
        if (w->pending_count < ITEMS_MAX)
            record_copy(&w->pending[w->pending_count++], &effect->record);
    } else if (effect->after > w->durable) {
        effect_hold(w, effect);
    } else {
        effect_leaves(w, effect);
    }
}

/* All that was persisted is on disk now, and what stood behind it leaves. */
static inline void world_durable(struct world *w)
{
    for (uint32_t i = 0; i < w->pending_count; i++) {
        row_keep(w, &w->pending[i]);
        record_done(&w->pending[i]);
    }
    w->pending_count = 0;
    w->durable = w->effects.persists;
    for (uint32_t i = 0; i < w->held_count; i++) {
        effect_leaves(w, &w->held[i]);
        message_done(&w->held[i].message);
    }
    w->held_count = 0;
}

static inline void hand_over(struct world *w, const struct event *event)
{
    const char *why = NULL;

    w->kind->step(w->role, &w->env, event, &w->effects);
    arena_reset(&w->lang.arena);
    for (uint32_t i = 0; i < w->effects.count; i++)
        if (w->effects.items[i].kind == EFFECT_PERSIST)
            effect_happens(w, &w->effects.items[i]);
    if (!w->slow)
        world_durable(w);
    for (uint32_t i = 0; i < w->effects.count; i++)
        if (w->effects.items[i].kind != EFFECT_PERSIST)
            effect_happens(w, &w->effects.items[i]);
    effects_reset(&w->effects);
    if (!w->kind->valid(w->role, &why))
        world_blame(w, "its books are not in order", why ? why : "");
}

/* ----------------------------------------------------------------------------------------------------- what is sent */

/* The oldest of that kind that nobody has answered; NULL when there is none. */
static inline struct sent *sent_of(struct world *w, enum message_kind kind)
{
    for (uint32_t i = 0; i < w->sent_count; i++)
        if (w->sent[i].message.kind == kind)
            return &w->sent[i];
    return NULL;
}

static inline uint32_t sent_count(struct world *w, enum message_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < w->sent_count; i++)
        count += w->sent[i].message.kind == kind;
    return count;
}

/* Takes it out; the caller gives the message back. */
static inline struct sent sent_take(struct world *w, struct sent *sent)
{
    struct sent taken = *sent;

    w->sent_count--;
    memmove(sent, sent + 1, (size_t)(&w->sent[w->sent_count] - sent) * sizeof *sent);
    return taken;
}

/* Its answer comes from that peer (NULL: whom it was sent to, on a channel of that number); NULL: it is unknown. */
static inline void answer_from(struct world *w, struct sent *sent, const struct peer *from,
                               const struct message *message)
{
    struct sent taken = sent_take(w, sent);
    struct peer usual = {.agent = taken.to, .identity = "host", .channel = taken.to};
    struct event event = {.kind = EVENT_ANSWER,
                          .token = taken.token,
                          .tag = taken.tag,
                          .peer = message ? from ? from : &usual : NULL,
                          .answer = message ? ANSWER_GOT : ANSWER_UNKNOWN,
                          .message = message};

    world_trace(w, message ? "is answered by" : "hears nothing from", taken.to, message);
    message_done(&taken.message);
    hand_over(w, &event);
}

static inline void answer(struct world *w, struct sent *sent, const struct message *message)
{
    answer_from(w, sent, NULL, message);
}

static inline void sent_drop(struct world *w, enum message_kind kind)
{
    struct sent *sent;

    while ((sent = sent_of(w, kind))) {
        struct sent taken = sent_take(w, sent);

        message_done(&taken.message);
    }
}

static inline void sent_drop_all(struct world *w)
{
    for (uint32_t i = 0; i < w->sent_count; i++)
        message_done(&w->sent[i].message);
    w->sent_count = 0;
}

/* --------------------------------------------------------------------------------------------------- the matchmaker */

/* Do two updates say the same, whatever their versions? */
static inline bool advertise_same(const struct message *a, const struct message *b)
{
    const struct advertise *x = &a->u.advertise, *y = &b->u.advertise;

    return a->kind == b->kind && x->id == y->id && seen_equal(&x->seen, &y->seen) && key_equal(&x->key, &y->key) &&
           x->ad && y->ad && tree_equal(x->ad, tree_root(x->ad), y->ad, tree_root(y->ad));
}

static inline void matchmaker_reported(struct world *w, struct sent *sent)
{
    struct message got = {.kind = MESSAGE_GOT};

    w->report = sent->message.u.report;
    w->reported += w->report.used;
    w->reports++;
    answer(w, sent, &got);
}

/* The ad of that id as it stands at the matchmaker, or NULL. */
static inline struct message *ad_there(struct world *w, uint64_t id)
{
    for (uint32_t i = 0; i < ADS_THERE; i++)
        if (w->there[i].kind == MESSAGE_ADVERTISE && w->there[i].u.advertise.id == id)
            return &w->there[i];
    return NULL;
}

/* It is put, or withdrawn (NULL). */
static inline void ad_stands(struct world *w, uint64_t id, const struct message *put)
{
    struct message *place = ad_there(w, id);

    for (uint32_t i = 0; i < ADS_THERE && !place && put; i++)
        if (w->there[i].kind != MESSAGE_ADVERTISE)
            place = &w->there[i];
    if (!place)
        return;
    message_done(place);
    *place = (struct message){.kind = MESSAGE_WITHDRAW};
    if (put)
        message_copy(place, put);
}

static inline void matchmaker_advertised(struct world *w, struct sent *sent)
{
    const struct advertise *ad = &sent->message.u.advertise;
    struct message reply = {.kind = MESSAGE_ADVERTISED};
    bool special = ad->bare || !w->next_bare;

    reply.u.advertised = (struct advertised){.id = ad->id,
                                             .version = special && w->next_version ? w->next_version : ad->version,
                                             .reason = special ? w->next : REASON_OK,
                                             .incarnation = INCARNATION,
                                             .span = special ? w->next_span : 0,
                                             .planned = w->planned};
    if (w->planned)
        text_set(&reply.u.advertised.planned_on, "heron", 5);
    w->puts += !ad->bare;
    w->bares += ad->bare;
    message_done(&w->update);
    message_copy(&w->update, &sent->message);
    if (!ad->bare) {
        ad_stands(w, ad->id, &sent->message);
        w->repeats += advertise_same(&w->put, &sent->message);
        message_done(&w->put);
        message_copy(&w->put, &sent->message);
        w->put_wall = w->env.wall;
    }
    if (special) {
        w->next = REASON_OK;
        w->next_span = 0;
        w->next_version = 0;
        w->next_bare = false;
    }
    answer(w, sent, &reply);
}

/* Answers all that is for it; the counts and the last texts are kept. */
static inline void matchmaker_answers(struct world *w)
{
    struct message got = {.kind = MESSAGE_GOT};
    struct sent *sent;

    for (;;) {
        if ((sent = sent_of(w, MESSAGE_ADVERTISE))) {
            matchmaker_advertised(w, sent);
        } else if ((sent = sent_of(w, MESSAGE_WITHDRAW))) {
            w->withdrawals++;
            ad_stands(w, sent->message.u.withdraw.id, NULL);
            w->withdrawn_wall = w->env.wall;
            answer(w, sent, &got);
        } else if ((sent = sent_of(w, MESSAGE_REPORT))) {
            matchmaker_reported(w, sent);
        } else {
            return;
        }
    }
}

/* An event, and what the matchmaker says to it. */
static inline void happen(struct world *w, const struct event *event)
{
    hand_over(w, event);
    if (w->agreeable)
        matchmaker_answers(w);
}

/* ---------------------------------------------------------------------------------------------------- life and time */

static inline struct world *world_new(const struct role_kind *kind, const void *settings)
{
    struct world *w = calloc(1, sizeof *w);

    lang_init(&w->lang);
    rng_init(&w->chance, 1);
    rng_init(&w->hidden, 2);
    w->secrets = (struct secrets){&w->hidden, plain_draw, plain_seal};
    w->env = (struct role_env){.now = 1000 * SECOND,
                               .wall = NOON * SECOND,
                               .boot = 9,
                               .chance = &w->chance,
                               .secrets = &w->secrets,
                               .symbols = w->lang.symbols,
                               .scratch = &w->lang.arena};
    w->spans = spans_default;
    w->kind = kind;
    w->settings = settings;
    w->wake = INT64_MAX;
    w->agreeable = true;
    effects_init(&w->effects);
    return w;
}

/* The role begins: rows in the order of their kinds, launchers that live, and go. */
static inline void world_start(struct world *w)
{
    struct event booted = {.kind = EVENT_BOOTED};

    w->role = w->kind->make(w->settings);
    w->wake = INT64_MAX;
    for (int kind = 0; kind < RECORD_COUNT; kind++) {
        for (uint32_t i = 0; i < w->row_count; i++) {
            struct event loaded = {.kind = EVENT_LOADED, .record = &w->rows[i]};

            if ((int)w->rows[i].kind == kind)
                hand_over(w, &loaded);
        }
    }
    for (uint32_t i = 0; i < w->launcher_count; i++) {
        const struct launcher *launcher = &w->launchers[i];
        struct event found = {.kind = EVENT_JOB,
                              .news = JOB_FOUND,
                              .claim = launcher->claim,
                              .number = launcher->number,
                              .at = launcher->at};

        hand_over(w, &found);
    }
    if (w->first)
        hand_over(w, w->first);
    happen(w, &booted);
}

/* The role dies: what was not durable has never been. */
static inline void world_stop(struct world *w)
{
    w->kind->free(w->role);
    w->role = NULL;
    for (uint32_t i = 0; i < w->pending_count; i++)
        record_done(&w->pending[i]);
    for (uint32_t i = 0; i < w->held_count; i++)
        message_done(&w->held[i].message);
    w->pending_count = w->held_count = 0;
    w->durable = w->effects.persists;
    sent_drop_all(w);
}

/* Down for that long; then it begins again, in the same boot or in another: no job has survived, the clock is anew. */
static inline void world_restart(struct world *w, bool same_boot, int64_t down)
{
    world_stop(w);
    world_trace(w, same_boot ? "restarts" : "reboots", 0, NULL);
    w->env.now += down;
    w->env.wall += down;
    if (!same_boot) {
        w->env.boot++;
        w->env.now = 3 * SECOND;
        w->launcher_count = 0;
    }
    world_start(w);
}

static inline void world_drop(struct world *w)
{
    world_stop(w);
    tree_unref(w->launched);
    for (uint32_t i = 0; i < w->row_count; i++)
        record_done(&w->rows[i]);
    for (uint32_t i = 0; i < TOKENS_MAX; i++)
        message_done(&w->replies[i]);
    message_done(&w->put);
    message_done(&w->update);
    for (uint32_t i = 0; i < ADS_THERE; i++)
        message_done(&w->there[i]);
    for (uint32_t i = 0; i < w->tree_count; i++)
        tree_unref(w->trees[i]);
    effects_done(&w->effects);
    lang_done(&w->lang);
    free(w);
}

/* The last word of every case: the role's own books were in order all the time. */
static inline void world_free(struct world *w, const char *what)
{
    if (!tap_ok(!w->fault, "the books were in order and every answer fitted: %s", what))
        tap_diag("%s", w->fault);
    world_drop(w);
}

static inline void world_to(struct world *w, int64_t at)
{
    if (at <= w->env.now)
        return;
    w->env.wall += at - w->env.now;
    w->env.now = at;
}

/* The first that was sent and whose deadline is over by then; NULL when there is none. */
static inline struct sent *sent_overdue(struct world *w, int64_t by)
{
    struct sent *first = NULL;

    for (uint32_t i = 0; i < w->sent_count; i++)
        if (w->sent[i].at + w->spans.deadline <= by && (!first || w->sent[i].at < first->at))
            first = &w->sent[i];
    return first;
}

/* Time passes; the role is woken when it asked for it, and what nobody answers is unknown at its deadline. */
static inline void pass(struct world *w, int64_t span)
{
    struct event wake = {.kind = EVENT_WAKE};
    int64_t end = w->env.now + span;

    for (uint32_t turns = 0;; turns++) {
        int64_t next = w->wake < end ? w->wake : end;
        struct sent *overdue = sent_overdue(w, next);

        if (turns > 200000) {
            world_blame(w, "it wakes and wakes", "");
            break;
        }
        if (overdue) {
            world_to(w, overdue->at + w->spans.deadline);
            answer(w, overdue, NULL);
        } else if (w->wake <= end) {
            world_to(w, w->wake);
            w->wake = INT64_MAX;
            hand_over(w, &wake);
        } else {
            break;
        }
        if (w->agreeable)
            matchmaker_answers(w);
    }
    world_to(w, end);
}

/* Time passes, up to that span, until something of that kind is sent. */
static inline struct sent *pass_to(struct world *w, enum message_kind kind, int64_t span)
{
    int64_t start = w->env.now, end = start + span;
    struct sent *sent = NULL;

    while (w->env.now < end && (!(sent = sent_of(w, kind)) || sent->at <= start))
        pass(w, 100 * MILLISECOND);
    return sent && sent->at > start ? sent : NULL;
}

/* Up to that hour, minute and second of the first day (NOON's), or of one after it when the hour says so. */
static inline void pass_until(struct world *w, int hour, int minute, int second)
{
    int64_t at = (NOON - 12 * 3600 + hour * 3600 + minute * 60 + second) * SECOND;

    pass(w, at - w->env.wall);
}

/* ----------------------------------------------------------------------------------------------------- what is said */

/* An ad from its text, held by the world. */
static inline struct tree *ad(struct world *w, const char *text)
{
    struct err err = {0};
    struct tree *tree = lang_ad(&w->lang, &dialect_classic, text, &err);

    if (!tree || w->tree_count == ITEMS_MAX) {
        printf("Bail out! %s: %s\n", text, err.text);
        exit(1);
    }
    return w->trees[w->tree_count++] = tree;
}

static inline bool ad_says(struct world *w, const struct tree *tree, const char *text)
{
    struct err err = {0};
    struct tree *query = lang_expr(&w->lang, &dialect_classic, text, strlen(text), &err);
    struct env env = {.now = w->env.wall / SECOND};
    struct scope scope;
    struct eval eval;
    struct value v;
    bool says;

    if (!query || !tree) {
        tree_unref(query);
        return false;
    }
    scope_init(&scope, tree, NULL);
    eval_init(&eval, &env, &w->lang.arena);
    eval_tree(&eval, &scope, query, &v);
    says = value_is_true(&v);
    tree_unref(query);
    return says;
}

/* What it answers to the last that was said; of kind NONE when it has not. */
static inline const struct message *reply(struct world *w)
{
    return &w->replies[w->token % TOKENS_MAX];
}

/* Hands a message over without giving back what it holds. */
static inline const struct message *say(struct world *w, const struct peer *peer, const struct message *message)
{
    struct event event = {.kind = EVENT_MESSAGE, .token = ++w->token, .peer = peer, .message = message};

    world_trace(w, "hears from", peer->agent, message);
    w->asked[w->token % TOKENS_MAX] = message->kind;
    happen(w, &event);
    return reply(w);
}

/* The reason in an answer; REASON_COUNT when there is none. */
static inline enum reason reason_of(const struct message *message)
{
    switch (message->kind) {
    case MESSAGE_ADVERTISED:
        return message->u.advertised.reason;
    case MESSAGE_PULLED:
        return message->u.pulled.reason;
    case MESSAGE_VERIFIED:
        return message->u.verified.reason;
    case MESSAGE_CLAIMED:
        return message->u.claimed.reason;
    case MESSAGE_ATTACHED:
        return message->u.attached.reason;
    case MESSAGE_TASKED:
        return message->u.task_told.reason;
    case MESSAGE_BEATEN:
        return message->u.beaten.reason;
    case MESSAGE_SUBMITTED:
        return message->u.submitted.reason;
    case MESSAGE_GOT:
        return message->u.got.reason;
    default:
        return REASON_COUNT;
    }
}

/* For a diagnosis. */
static inline const char *reason_name(enum reason reason)
{
    return reason < REASON_COUNT ? reason_words(reason) : "no answer";
}

/* A word of few, so that many fit. */
static inline uint64_t some_word(struct rng *rng)
{
    static const uint64_t words[] = {0, 1, 2, 3, 70, 100, 101, 1001, 1002, UINT64_MAX};

    return words[rng_below(rng, sizeof words / sizeof *words)];
}

/* Fills a message of some kind with values that are each allowed, and make no sense together. It holds nothing. */
static inline void message_scramble(struct world *w, struct rng *rng, struct message *message)
{
    const struct layout *layout = message_layout(message->kind);

    for (uint32_t i = 0; i < layout->count; i++) {
        void *at = (char *)&message->u + layout->fields[i].at;

        switch (layout->fields[i].sort) {
        case FIELD_WORD:
            *(uint64_t *)at = some_word(rng);
            break;
        case FIELD_NUMBER:
            *(int64_t *)at = rng_below(rng, 4) ? (int64_t)rng_below(rng, 100) * SECOND : INT64_MIN;
            break;
        case FIELD_FLAG:
            *(bool *)at = rng_below(rng, 2);
            break;
        case FIELD_REASON:
            *(enum reason *)at = (enum reason)rng_below(rng, REASON_COUNT);
            break;
        case FIELD_TEXT:
            text_set(at, "raman", rng_below(rng, 6));
            break;
        case FIELD_KEY:
            plain_draw(rng, at, rng_below(rng, 2) ? KEY_BYTES : 1);
            break;
        case FIELD_AD:
            *(struct tree **)at = rng_below(rng, 3) ? w->trees[rng_below(rng, w->tree_count)] : NULL;
            break;
        default:
            break;
        }
    }
}

/* The row of that kind and key as it is on disk; NULL when there is none. */
static inline const struct record *row_of(struct world *w, enum record_kind kind, uint64_t key)
{
    for (uint32_t i = 0; i < w->row_count; i++)
        if (w->rows[i].kind == kind && w->rows[i].key == key)
            return &w->rows[i];
    return NULL;
}

static inline uint32_t row_count(struct world *w, enum record_kind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < w->row_count; i++)
        count += w->rows[i].kind == kind;
    return count;
}

#endif
