/* agent_in.c: what comes to an agent: letters by the stream of events, and calls by HTTP. Both are roads into entry.h, which proves who sent
 * a message, translates it and hands it back to be taken: the role is told here, and its answer goes back the way that the message came. */
#include "live/agent/agent_parts.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "pool/protocol/wire.h"
#include "sys/encoding.h"
#include "sys/names.h"
#include "sys/secrets.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MESSAGE_BYTES_MAX (4u << 20)
#define INBOUND_SPAN MINUTE /* that somebody waits for an answer, at most */

/* ----------------------------------------------------------------------------------------------------------- inbound */

static struct inbound *inbound_add(struct membership *pool)
{
    struct inbound *inbound = mem_alloc(sizeof *inbound);
    struct live_agent *live = pool->live;

    *inbound = (struct inbound){.next = live->inbound, .token = ++live->tokens_given, .at = runner_now(), .pool = pool};
    live->inbound = inbound;
    return inbound;
}

static void inbound_remove(struct live_agent *live, struct inbound *inbound)
{
    struct inbound **link = &live->inbound;

    while (*link != inbound)
        link = &(*link)->next;
    *link = inbound->next;
    tree_unref(inbound->match);
    free(inbound);
}

void agent_inbound_sweep(struct live_agent *live, bool all)
{
    struct inbound *next;

    for (struct inbound *inbound = live->inbound; inbound; inbound = next) {
        next = inbound->next;
        if (all || (!inbound->call && inbound->at + INBOUND_SPAN < runner_now()))
            inbound_remove(live, inbound);
    }
}

static void inbound_answer(struct live_agent *live, struct inbound *inbound, const struct tree *ad)
{
    if (inbound->call) {
        buf_reset(&live->text);
        wire_print(&live->text, ad);
        inbound->call->work = NULL;
        inbound->call->forget = NULL;
        request_answer(inbound->call, 200, TYPE_CLASSAD, live->text.text, live->text.len, NULL, 0);
    } else if (inbound->relay) {
        agent_reply_letter(live, inbound, ad);
    }
    inbound_remove(live, inbound);
}

void agent_reply(void *user, uint64_t token, const struct message *message)
{
    struct live_agent *live = user;
    struct inbound *inbound = live->inbound;
    struct message copy;
    struct tree *ad;

    if (agent_local_reply(live, token, message))
        return;
    while (inbound && inbound->token != token)
        inbound = inbound->next;
    if (!inbound)
        return; /* nobody waits for it any more */
    if (inbound->match && message->kind == MESSAGE_GOT && message->u.got.reason == REASON_WAIT) {
        inbound->waits = true; /* whoever calls would tell it again; a letter comes once */
        return;
    }
    ad = wire_message(live->symbols, message_leave(inbound->pool, message, &copy));
    message_done(&copy);
    inbound_answer(live, inbound, ad);
    tree_unref(ad);
}

/* A question that is told again when rows are durable. */
struct asked_again {
    struct live_agent *live;
    uint64_t token; /* of its inbound */
    struct peer peer;
    char identity[TOKEN_NAME_MAX + 1];
    struct tree *question;
    struct agent_turn turn;
};

static void question_turn(struct live_agent *live, struct inbound *inbound, const struct peer *peer,
                          const struct tree *question, struct agent_turn turn);

static void asked_durable(void *user, bool durable)
{
    struct asked_again *again = user;
    struct live_agent *live = again->live;
    struct inbound *inbound = NULL;

    if (durable && !live->closing) {
        inbound = live->inbound;
        while (inbound && inbound->token != again->token)
            inbound = inbound->next; /* where whoever asked waits no longer it is carried out all the same */
        question_turn(live, inbound, &again->peer, again->question, again->turn);
    }
    tree_unref(again->question);
    free(again);
}

static void asked_keep(const struct inbound *inbound, const struct peer *peer, const struct tree *question,
                       const struct agent_turn *turn)
{
    struct asked_again *again = mem_alloc(sizeof *again);

    *again = (struct asked_again){.live = inbound->pool->live,
                                  .token = inbound->token,
                                  .peer = *peer,
                                  .question = tree_ref((struct tree *)(uintptr_t)question),
                                  .turn = {.durable = true, .mark = turn->mark}};
    if (peer->identity)
        snprintf(again->identity, sizeof again->identity, "%s", peer->identity);
    again->peer.identity = peer->identity ? again->identity : NULL;
    again->peer.account = NULL;
    runner_commit(again->live->runner, asked_durable, again);
}

/* Answers what is asked of the agent and not of its role: at once, or when rows are durable. */
static void question_turn(struct live_agent *live, struct inbound *inbound, const struct peer *peer,
                          const struct tree *question, struct agent_turn turn)
{
    struct maker maker;
    struct tree *answer = NULL;

    if (live->settings->asked)
        answer = live->settings->asked(live->settings->user, peer, question, &turn);
    if (turn.waits && !turn.durable) {
        tree_unref(answer);
        asked_keep(inbound, peer, question, &turn);
        return;
    }
    if (!answer && inbound) {
        maker_init(&maker, live->symbols);
        maker_text(&maker, "Reason", "refused");
        answer = maker_seal(&maker);
    }
    if (inbound)
        inbound_answer(live, inbound, answer);
    tree_unref(answer);
}

static void question_take(struct inbound *inbound, const struct sender *sender, const struct tree *question)
{
    inbound->pool->live->counts.taken++;
    question_turn(inbound->pool->live, inbound, &sender->peer, question, (struct agent_turn){.durable = false});
}

/* Must a claim wait? We could not keep it while we cannot answer whoever makes it, so it waits until we know how. True: the sender was told so. */
static bool claim_waits(const struct inbound *inbound, const struct sender *sender, const struct message *message)
{
    struct membership *pool = inbound->pool;
    struct message answer;

    if ((message->kind != MESSAGE_VERIFY && message->kind != MESSAGE_COMMIT) || !sender->there ||
        contact_is_reached(pool, contacts_find(&pool->contacts, sender->peer.agent)))
        return false;
    agent_acquaint(pool, sender->there);
    if (message->kind != MESSAGE_COMMIT)
        return false; /* it is the first of several */
    message_refusal(MESSAGE_COMMIT, REASON_WAIT, &answer);
    answer.u.claimed.claim = message->u.commit.claim;
    agent_reply(pool->live, inbound->token, &answer);
    return true;
}

/* Tells the role. */
static void message_take(const struct inbound *inbound, const struct sender *sender, const struct message *message)
{
    struct live_agent *live = inbound->pool->live;

    live->counts.taken++;
    if (claim_waits(inbound, sender, message))
        return;
    runner_event(
        live->runner,
        &(struct event){.kind = EVENT_MESSAGE, .token = inbound->token, .peer = &sender->peer, .message = message});
}

/* ------------------------------------------------------------------------------------------------------------ letters */

static void match_take(void *user, const struct sender *sender, const struct message *message)
{
    struct inbound *inbound = user;
    struct message told = *message; /* lent by the other */

    if (told.kind == MESSAGE_MATCH)
        told.u.match_told.age += runner_now() - inbound->at;
    message_take(inbound, sender, &told);
}

static const struct road match_road = {.message = match_take};

/* Tells the role of a match. The inbound may be gone afterwards, and others too. */
static void match_tell(struct inbound *inbound)
{
    struct live_agent *live = inbound->pool->live;
    struct tree *match = tree_ref(inbound->match);
    struct sender sender;
    struct err err;

    inbound->waits = false;
    inbound->token = ++live->tokens_given;
    sender_by_stream(&sender, inbound->pool);
    if (entry_take(&match_road, inbound, &sender, match, &err) != ENTRY_TAKEN)
        inbound_remove(live, inbound);
    tree_unref(match);
}

void agent_matches_again(struct membership *pool)
{
    struct live_agent *live = pool->live;
    uint64_t last = live->tokens_given; /* those that are told now have later ones */
    struct inbound *inbound = live->inbound;

    while (inbound) {
        if (inbound->waits && inbound->pool == pool && inbound->token <= last) {
            match_tell(inbound);
            inbound = live->inbound;
        } else {
            inbound = inbound->next;
        }
    }
}

static void letter_match(struct membership *pool, const struct tree *letter)
{
    const struct expr *body = ad_find(letter, "Body");
    struct inbound *inbound;
    struct sender sender;
    struct tree *ad;

    if (!body || body->kind != EXPR_AD)
        return;
    ad = ad_part(letter, body);
    sender_by_stream(&sender, pool);
    inbound = inbound_add(pool);
    inbound->match = entry_open(&sender, ad);
    tree_unref(ad);
    match_tell(inbound);
}

/* Opens a letter: gives the envelope in it, unsealed if it was sealed. The caller unrefs it; NULL when it is not for us. */
static struct tree *envelope_open(struct live_agent *live, const char *text, size_t len, struct inbound *inbound)
{
    struct tree *ad, *inside = NULL;
    struct buf bytes, plain;
    const char *key, *box;
    size_t key_len, box_len;
    struct err err;

    if (wire_parse(live->symbols, text, len, &ad, &err) < 0)
        return NULL;
    if (!ad_string(ad, "Box", &box, &box_len))
        return ad;
    buf_init(&bytes);
    buf_init(&plain);
    if (ad_string(ad, "Key", &key, &key_len) && hex_read(key, key_len, inbound->sender.bytes, BOX_KEY_BYTES) &&
        base64url_read(&bytes, box, box_len) &&
        box_open(&plain, &live->box, &inbound->sender, bytes.text, bytes.len, &err) == 0 &&
        wire_parse(live->symbols, plain.text, plain.len, &inside, &err) == 0)
        inbound->sealed = true;
    buf_done(&bytes);
    buf_wipe(&plain);
    buf_done(&plain);
    tree_unref(ad);
    return inbound->sealed ? inside : NULL;
}

static void relayed_message(void *user, const struct sender *sender, const struct message *message)
{
    message_take(user, sender, message);
}

static void relayed_question(void *user, const struct sender *sender, const struct tree *question)
{
    question_take(user, sender, question);
}

static const struct road relay_road = {.message = relayed_message, .question = relayed_question};

/* Reads what the envelope says of itself. False when something is missing. */
static bool envelope_read(const struct tree *envelope, struct inbound *inbound, struct membership *pool,
                          struct sender *ret_sender)
{
    char called[AGENT_NAME_MAX + 1] = "";
    const char *token, *name;
    size_t token_len, len;

    if (!ad_string(envelope, "Token", &token, &token_len))
        return false;
    if (ad_string(envelope, "Name", &name, &len) && len <= AGENT_NAME_MAX)
        memcpy(called, name, len);
    if (ad_string(envelope, "Nonce", &name, &len) && len == ANSWER_NONCE)
        memcpy(inbound->nonce, name, len); /* hexadecimal or not: it comes back as it is, sealed */
    if (!sender_by_token(ret_sender, pool, token, token_len, called) || ret_sender->is_matchmaker)
        return false;
    ret_sender->peer.channel = contact_relay_channel(&pool->live->box.open, &inbound->sender);
    return true;
}

/* Takes a message that the matchmaker carried. One that was not sealed is not taken: we have a key, so its sender has no reason not to use it. */
static void letter_message(struct membership *pool, const struct tree *letter)
{
    struct inbound *inbound = inbound_add(pool);
    struct tree *envelope = NULL, *ad = NULL;
    const struct expr *body;
    const char *text, *number;
    size_t len, number_len;
    struct sender sender;
    struct err err;

    if (ad_string(letter, "Text", &text, &len) && ad_string(letter, "Relay", &number, &number_len) &&
        number_len == 16 && (envelope = envelope_open(pool->live, text, len, inbound)) && inbound->sealed &&
        (body = ad_find(envelope, "Message")) && body->kind == EXPR_AD &&
        envelope_read(envelope, inbound, pool, &sender)) {
        inbound->relay = id_number(number, number_len);
        ad = ad_part(envelope, body);
    }
    if (!ad || entry_take(&relay_road, inbound, &sender, ad, &err) != ENTRY_TAKEN)
        inbound_remove(pool->live, inbound);
    tree_unref(ad);
    tree_unref(envelope);
}

/* A token has been revoked just now: the list that is asked for once a minute would come late. */
static void letter_revoked(struct membership *pool, const struct tree *letter)
{
    const char *id;
    size_t len;

    if (ad_string(letter, "Id", &id, &len) && len == TOKEN_ID_DIGITS && pool->revoked.places < AGENT_REVOKED_MAX)
        agent_revoked(pool, id);
}

static void letter_disabled(struct membership *pool, const struct tree *letter)
{
    bool disabled = false, now = false;
    const char *name;
    size_t len;

    ad_flag(letter, "Now", &now);
    if (ad_string(letter, "Name", &name, &len) && ad_flag(letter, "Disabled", &disabled))
        agent_disabled(pool, name, len, disabled, now);
}

static void letter_take(void *user, const struct stream_event *event)
{
    struct membership *pool = user;
    struct tree *letter;
    const char *kind = "";
    size_t len = 0;
    struct err err;

    pool->failures = 0;
    pool->pause = pool->live->settings->spans->retry;
    if (wire_parse(pool->live->symbols, event->data, event->len, &letter, &err) < 0)
        return;
    if (ad_string(letter, "Kind", &kind, &len) && len == 5 && !memcmp(kind, "match", 5))
        letter_match(pool, letter);
    else if (len == 7 && !memcmp(kind, "message", 7))
        letter_message(pool, letter);
    else if (len == 7 && !memcmp(kind, "command", 7))
        letter_command(pool, letter);
    else if (len == 7 && !memcmp(kind, "revoked", 7))
        letter_revoked(pool, letter);
    else if (len == 8 && !memcmp(kind, "disabled", 8))
        letter_disabled(pool, letter);
    tree_unref(letter);
}

static void listen_again(uv_timer_t *timer)
{
    agent_listen(timer->data);
}

static void stream_bytes(void *user, const char *bytes, size_t len)
{
    struct membership *pool = user;
    struct err err;

    pool->failures = 0;
    pool->moves = 0;
    if (pool->fresh)
        pool->keys_asked =
            0; /* what was revoked while there was no stream is in the list, what will be comes by this one */
    pool->fresh = false;
    agent_ask_keys(pool); /* when it is time: something comes every 15 s */
    if (events_reader_feed(&pool->reader, bytes, len, &err) == 0)
        return;
    /* Nothing more could be read of it: it begins anew. */
    LOG(pool->live->settings->log, LEVEL_WARNING, "stream", log_text("why", err.text));
    client_cancel(pool->client, pool->stream);
    pool->stream = 0;
    uv_timer_start(&pool->again, listen_again, (uint64_t)(pool->live->settings->spans->deadline / MILLISECOND), 0);
}

static void stream_done(void *user, const struct http_outcome *outcome)
{
    struct membership *pool = user;
    enum followed followed;
    int64_t most;

    pool->stream = 0;
    if (outcome->result == CALL_CANCELLED || pool->live->closing)
        return;
    pool->standing = UNKNOWN_THERE;
    followed = follow_outcome(pool, outcome);
    if (followed == FOLLOWED_NONE)
        agent_heard(pool, outcome);
    agent_heard_later(pool, outcome);
    /* One that is not there may be back at any time, and then wants our ads at once. Not all come at the same moment. */
    most = outcome->result == CALL_ANSWERED && outcome->status >= 300 ? pool->live->settings->spans->deadline : SECOND;
    if (followed != FOLLOWED_NONE)
        most = followed == FOLLOWED_AT_ONCE ? 20 * MILLISECOND : AGENT_LEADERLESS;
    pool->pause = pool->pause < most ? pool->pause : most;
    uv_timer_start(&pool->again, listen_again,
                   (uint64_t)pool->pause / 2 / MILLISECOND +
                       randombytes_uniform((uint32_t)(pool->pause / 2 / MILLISECOND) + 1) + 1,
                   0);
    pool->pause *= 2;
}

void agent_listen(struct membership *pool)
{
    struct agent_call call = {.url = ""};
    struct events_reader *reader = &pool->reader;

    if (pool->stream || pool->live->closing)
        return;
    agent_ask_keys(pool);
    if (!reader->event)
        events_reader_init(reader, MESSAGE_BYTES_MAX, letter_take, pool);
    events_reader_reset(reader);
    if (!agent_call(pool, &call, "GET", "/v1/events")) {
        uv_timer_start(&pool->again, listen_again, 1000, 0);
        return;
    }
    call.call.accept = TYPE_EVENTS;
    call.call.type = NULL;
    call.call.bytes = stream_bytes;
    call.call.timeout = 40 * SECOND; /* the matchmaker says something every 15 s */
    if (*events_reader_last_id(reader))
        call.fields[call.call.field_count++] = (struct http_field){"Last-Event-ID", events_reader_last_id(reader)};
    pool->fresh = true;
    pool->stream = client_send(pool->client, &call.call, stream_done, pool);
}

/* -------------------------------------------------------------------------------------------------------------- calls */

/* Forgets the request of a call: its sender has gone before the answer, and there is nobody to tell. */
static void call_forget(struct request *request)
{
    ((struct inbound *)request->work)->call = NULL;
}

static struct inbound *call_inbound(struct request *request, const struct sender *sender)
{
    struct inbound *inbound = inbound_add(sender->pool);

    inbound->call = request;
    request->work = inbound;
    request->forget = call_forget;
    return inbound;
}

static void called_message(void *user, const struct sender *sender, const struct message *message)
{
    message_take(call_inbound(user, sender), sender, message);
}

static void called_question(void *user, const struct sender *sender, const struct tree *question)
{
    question_take(call_inbound(user, sender), sender, question);
}

static const struct road call_road = {.message = called_message, .question = called_question};

void agent_call_take(struct request *request, const struct sender *sender)
{
    struct err err = {0};
    const char *body;
    size_t len;

    body = exchange_body(request->exchange, &len);
    switch (entry_take_text(&call_road, request, sender, body, len, &err)) {
    case ENTRY_TAKEN: /* and answered when the role has */
        break;
    case ENTRY_UNPROVED:
        request_problem(request, 401, "a good token is needed");
        break;
    case ENTRY_UNREAD:
        request_problem(request, 400, "%s", err.text);
        break;
    case ENTRY_UNASKED:
        request_problem(request, 400, "this is an answer, and nothing was asked");
        break;
    case ENTRY_DISABLED:
        request_problem(request, 403, "disabled");
        break;
    case ENTRY_NOT_AGENTS:
        request_problem(request, 403, "jobs are submitted and controlled by the customer's own interface");
        break;
    }
}
