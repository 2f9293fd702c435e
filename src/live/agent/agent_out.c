/* agent_out.c: what an agent's role sends: to the matchmaker, to other agents, by the relay.
 *
 *     relay:   [Key="our key"; Box="..."]     in the box: [Token="..."; Name="..."; Nonce="..."; Message=[...]]
 *     answer:  "...", a box the other way     in the box: =NONCE, a line end, and the answer
 *
 * The nonce is drawn for each message: so whoever carries them cannot give the answer to one for that to another. Agents of before know of none:
 * they answer without. */
#include "live/agent/agent_parts.h"

#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/auth/offer_key.h"
#include "live/http/represent.h"
#include "pool/protocol/wire.h"
#include "sys/encoding.h"
#include "sys/secrets.h"
#include "sys/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX (4u << 20)
#define BUNDLE_MAX 100 /* messages of one request: their answers are taken in one turn, for which others wait */
#define BUNDLE_BYTES (256u << 10) /* then it is sent; one message may be longer */

struct errand {
    struct membership *pool; /* by which it goes */
    agent to;
    uint64_t token, channel;
    uint64_t number; /* of the job whose result it is */
    uint32_t tag;
    enum message_kind kind; /* of what the role said */
    agent_answer_fn *asked; /* of a question; NULL: it is the role's message */
    void *user;
    bool to_matchmaker, sealed, key_sealed;
    char nonce[ANSWER_NONCE + 1]; /* that a sealed answer has to name */
    struct box_public theirs;
    struct tree *called; /* held: what the call says, should nobody be at the address. Or NULL */
};

static void errand_free(struct errand *errand)
{
    tree_unref(errand->called);
    free(errand);
}

/* Tells whoever asked a question the answer; an empty text: there was no answer. */
static void errand_told(struct errand *errand, const char *text, size_t len)
{
    struct tree *ad = NULL;
    struct err err;

    while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    if (len && wire_parse(errand->pool->live->symbols, text, len, &ad, &err) < 0)
        ad = NULL;
    errand->asked(errand->user, ad);
    tree_unref(ad);
}

static void errand_silent(const struct errand *errand)
{
    runner_no_answer(errand->pool->live->runner, errand->token, errand->tag);
}

static void answer_take(void *user, const struct sender *sender, const struct message *message)
{
    const struct errand *errand = user;
    struct live_agent *live = errand->pool->live;

    if (errand->key_sealed && message->kind == MESSAGE_ADVERTISED && message->u.advertised.reason == REASON_INVALID)
        agent_doubt_keys(errand->pool); /* it may be that it could not be opened */
    live->counts.answered++;
    if (errand->kind == MESSAGE_RESULT && message->kind == MESSAGE_CLAIMED)
        step_note(STEP_ACKNOWLEDGED, message->u.claimed.claim, errand->number);
    runner_answer(live->runner, errand->token, errand->tag, &sender->peer, message);
}

static const struct road answer_road = {.answers = true, .message = answer_take};

/* Tells the role the answer to what it said. False when the text is not an answer, and nobody has been told. */
static bool errand_answered(struct errand *errand, const char *text, size_t len, struct err *err)
{
    struct sender sender;

    sender_by_asking(&sender, errand->pool, errand->to, errand->channel);
    return entry_take_text(&answer_road, errand, &sender, text, len, err) == ENTRY_TAKEN;
}

/* Ends an errand of which nothing was sent. A provider that pulls from several pools need not wait for one that is not there: that has nothing now. */
static void errand_unsent(struct errand *errand, enum message_kind kind)
{
    struct message answer = {.kind = MESSAGE_PULLED};
    struct membership *pool = errand->pool;
    int64_t most = pool->live->settings->spans->deadline;
    struct sender matchmaker;

    if (pool->live->pool_count > 1 && kind == MESSAGE_PULL) {
        answer.u.pulled = (struct pulled){.reason = REASON_WAIT, .span = pool->absence};
        pool->absence = pool->absence * 2 < most ? pool->absence * 2 : most;
        sender_by_asking(&matchmaker, pool, errand->to, errand->channel);
        answer_take(errand, &matchmaker, &answer);
    } else {
        errand_silent(errand);
    }
    errand_free(errand);
}

/* Is what was in the box the answer to this message? Takes the nonce off. An agent that has named one before is not believed without. */
static bool answer_is_ours(const struct errand *errand)
{
    struct buf *text = &errand->pool->live->text;
    struct contact *contact = contacts_find(&errand->pool->contacts, errand->to);
    size_t skip = 1 + ANSWER_NONCE + 1;

    if (!text->len || text->text[0] != '=')
        return !contact || !contact->binds;
    if (text->len < skip || memcmp(text->text + 1, errand->nonce, ANSWER_NONCE) != 0 || text->text[skip - 1] != '\n')
        return false;
    if (contact)
        contact->binds = true;
    memmove(text->text, text->text + skip, text->len - skip);
    text->len -= skip;
    return true;
}

/* Opens the answer in a box of theirs, and appends it to the agent's scratch text. */
static bool box_unpack(struct errand *errand, const char *text, size_t len)
{
    struct live_agent *live = errand->pool->live;
    struct err err;
    struct buf bytes;
    bool good;

    buf_init(&bytes);
    buf_reset(&live->text);
    while (len && (text[len - 1] == '\n' || text[len - 1] == '\r'))
        len--;
    good = base64url_read(&bytes, text, len) &&
           box_open(&live->text, &live->box, &errand->theirs, bytes.text, bytes.len, &err) == 0;
    buf_done(&bytes);
    return good && answer_is_ours(errand);
}

static void relay_to_agent(struct contact *contact, const struct tree *ad, struct errand *errand);

/* Sends a message by the relay when nobody is at the address: an agent that was started anew may have another, which only the next match would
 * tell. It still opens letters that are sealed for it, and gets them wherever it is. */
static bool errand_relay(struct errand *errand, const struct http_outcome *outcome)
{
    struct live_agent *live = errand->pool->live;
    struct contact *contact = errand->called ? contacts_find(&errand->pool->contacts, errand->to) : NULL;
    struct tree *ad = errand->called;

    if (!(outcome->result == CALL_UNREACHED || (outcome->result == CALL_REFUSED && !outcome->status)) || !contact ||
        !contact->has_box)
        return false;
    LOG(live->settings->log, LEVEL_DEBUG, "send.detour", log_word("agent", errand->to),
        log_text("why", outcome->error));
    contact->relayed_until = runner_now() + live->settings->spans->lease;
    errand->called = NULL;
    relay_to_agent(contact, ad, errand);
    tree_unref(ad);
    return true;
}

static void errand_done(void *user, const struct http_outcome *outcome)
{
    struct errand *errand = user;
    struct live_agent *live = errand->pool->live;
    const char *text = outcome->body;
    size_t len = outcome->len;
    struct err err = {0};
    bool good = outcome->result == CALL_ANSWERED && outcome->status == 200;

    if (outcome->result == CALL_CANCELLED) { /* the agent goes */
        if (errand->asked)
            errand->asked(errand->user, NULL);
        errand_free(errand);
        return;
    }
    if (errand_relay(errand, outcome))
        return;
    if (errand->to_matchmaker)
        agent_heard_known(errand->pool, outcome);
    if (errand->key_sealed && outcome->result == CALL_ANSWERED && !good)
        agent_doubt_keys(errand->pool); /* it may be that it could not be opened */
    if (good && errand->sealed) {
        good = box_unpack(errand, text, len);
        text = buf_string(&live->text);
        len = live->text.len;
    }
    if (errand->asked) {
        errand_told(errand, text, good ? len : 0);
    } else if (!good || !errand_answered(errand, text, len, &err)) {
        LOG(live->settings->log, LEVEL_DEBUG, "send.failed", log_word("agent", errand->to),
            log_number("status", outcome->status), log_text("why", outcome->error ? outcome->error : err.text));
        if (outcome->result == CALL_UNREACHED) {
            errand_unsent(errand, errand->kind);
            return;
        }
        errand_silent(errand);
    }
    errand_free(errand);
}

/* ----------------------------------------------------------------------------------------------------- the matchmaker */

static const char *matchmaker_path(enum message_kind kind)
{
    return kind == MESSAGE_ADVERTISE || kind == MESSAGE_WITHDRAW || kind == MESSAGE_STANDS ? "/v1/ads"
           : kind == MESSAGE_REPORT                                                        ? "/v1/claims"
           : kind == MESSAGE_PULL                                                          ? "/v1/pull"
                                                                                           : NULL;
}

static bool has_key(const struct message *message)
{
    static const struct key none = {{0}};

    return (message->kind == MESSAGE_ADVERTISE && memcmp(&message->u.advertise.key, &none, sizeof none) != 0) ||
           message->kind == MESSAGE_PULL;
}

/* The message as it is sent. The key of an offer is sealed, so that nothing between us and the matchmaker can read it, and goes only with the text
 * that it belongs to. NULL when it cannot be sealed. */
static struct tree *matchmaker_message(struct membership *pool, const struct message *message, struct errand *errand)
{
    const struct advertise *advertise = &message->u.advertise;
    bool pulls = message->kind == MESSAGE_PULL;
    const struct key *key = pulls ? &message->u.pull.key : &advertise->key;
    struct tree *plain, *ad;
    struct message copy;
    struct maker maker;
    struct buf sealed;
    struct err err;
    bool failed;

    plain = wire_message(pool->live->symbols, message_leave(pool, message, &copy));
    message_done(&copy);
    if (!has_key(message))
        return plain;
    buf_init(&sealed);
    errand->key_sealed = pulls || !advertise->bare;
    failed = errand->key_sealed &&
             offer_key_seal(&sealed, &pool->box, pool->self, pulls ? message->u.pull.id : advertise->id, key, &err) < 0;
    maker_init(&maker, pool->live->symbols);
    maker_parts(&maker, plain, "Key");
    if (sealed.len)
        maker_bytes(&maker, "SealedKey", sealed.text, sealed.len);
    ad = maker_seal(&maker);
    tree_unref(plain);
    buf_done(&sealed);
    if (!failed)
        return ad;
    tree_unref(ad);
    return NULL;
}

/* What is said of ads within a turn of the loop goes in one request; each message is answered in its place. While the matchmaker is being
 * told who we are, it waits for that. */
struct bundle {
    struct membership *pool;
    struct buf text;
    struct errand **errands;
    uint32_t count, room;
};

static void bundle_free(struct bundle *bundle)
{
    buf_done(&bundle->text);
    free(bundle->errands);
    free(bundle);
}

/* Takes the answer to one message of a bundle; an empty text: there was none. */
static void bundle_answer(struct errand *errand, const char *text, size_t len)
{
    struct err err = {0};

    if (!len || !errand_answered(errand, text, len, &err))
        errand_silent(errand);
    errand_free(errand);
}

static void bundle_done(void *user, const struct http_outcome *outcome)
{
    struct bundle *bundle = user;
    struct membership *pool = bundle->pool;
    bool good = outcome->result == CALL_ANSWERED && outcome->status == 200;
    const char *at = outcome->body, *end = good ? outcome->body + outcome->len : outcome->body;

    if (outcome->result == CALL_CANCELLED) {
        for (uint32_t i = 0; i < bundle->count; i++)
            errand_free(bundle->errands[i]);
        bundle_free(bundle);
        return;
    }
    agent_heard_known(pool, outcome);
    if (!good) {
        if (outcome->result == CALL_ANSWERED)
            agent_doubt_keys(pool);
        LOG(pool->live->settings->log, LEVEL_DEBUG, "send.failed", log_text("to", "the matchmaker"),
            log_number("status", outcome->status), log_text("why", outcome->error ? outcome->error : ""));
    }
    for (uint32_t i = 0; i < bundle->count; i++) {
        const char *line = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
        size_t len = line ? (size_t)(line - at) : (size_t)(end - at);

        bundle_answer(bundle->errands[i], at, len);
        at = line ? line + 1 : end;
    }
    bundle_free(bundle);
    agent_matches_again(pool);
}

void agent_bundle_send(struct membership *pool)
{
    struct bundle *bundle = pool->bundle;
    struct agent_call call = {.url = ""};

    if (!bundle)
        return;
    pool->bundle = NULL;
    if (pool->standing != REGISTERED || !agent_call_known(pool, &call, "/v1/ads")) {
        for (uint32_t i = 0; i < bundle->count; i++)
            bundle_answer(bundle->errands[i], "", 0);
        bundle_free(bundle);
        return;
    }
    call.call.body = bundle->text.text;
    call.call.len = bundle->text.len;
    client_send(pool->client, &call.call, bundle_done, bundle);
}

static void bundle_due(uv_timer_t *timer)
{
    struct membership *pool = timer->data;

    if (pool->standing != BEING_REGISTERED)
        agent_bundle_send(pool);
}

void agent_bundle_drop(struct membership *pool)
{
    for (uint32_t i = 0; pool->bundle && i < pool->bundle->count; i++)
        errand_free(pool->bundle->errands[i]);
    if (pool->bundle)
        bundle_free(pool->bundle);
    pool->bundle = NULL;
}

static bool bundle_is_full(const struct bundle *bundle)
{
    return bundle && (bundle->count == BUNDLE_MAX || bundle->text.len >= BUNDLE_BYTES);
}

static void bundle_add(struct membership *pool, const struct tree *ad, struct errand *errand)
{
    struct bundle *bundle = pool->bundle;

    if (!bundle) {
        bundle = pool->bundle = mem_alloc(sizeof *bundle);
        *bundle = (struct bundle){.pool = pool};
        buf_init(&bundle->text);
        uv_timer_start(&pool->bundling, bundle_due, 0, 0);
    }
    ARRAY_ROOM(bundle->errands, bundle->count, bundle->room, 4);
    bundle->errands[bundle->count++] = errand;
    wire_print(&bundle->text, ad);
    buf_adds(&bundle->text, "\n");
    if (bundle_is_full(bundle) && pool->standing == REGISTERED)
        agent_bundle_send(pool);
}

/* May a message be sent? The matchmaker knows us, or the message can wait until it does. */
static bool may_send(const struct membership *pool, bool bundled)
{
    return pool->standing == REGISTERED ||
           (pool->standing == BEING_REGISTERED && bundled && !bundle_is_full(pool->bundle));
}

static void send_to_matchmaker(struct membership *pool, const struct message *message, struct errand *errand)
{
    const char *path = matchmaker_path(message->kind);
    struct agent_call call = {.url = ""};
    bool bundled = message->kind != MESSAGE_REPORT && message->kind != MESSAGE_PULL;
    struct tree *ad = NULL;

    errand->to_matchmaker = true;
    agent_ask_keys(pool);
    /* Whoever is matched with us must be told how we are reached, and be known by us: nothing is advertised before that is known there, and
     * the pool's keys here. */
    if (!may_send(pool, bundled) || !pool->has_box || !path || !(ad = matchmaker_message(pool, message, errand))) {
        errand_unsent(errand, message->kind);
    } else if (bundled) {
        bundle_add(pool, ad, errand);
    } else if (!agent_call_known(pool, &call, path)) {
        errand_unsent(errand, message->kind);
    } else {
        buf_reset(&pool->live->text);
        wire_print(&pool->live->text, ad);
        call.call.body = pool->live->text.text;
        call.call.len = pool->live->text.len;
        client_send(pool->client, &call.call, errand_done, errand);
    }
    tree_unref(ad);
}

/* ------------------------------------------------------------------------------------------------------------ others */

static bool may_connect(void *user, const struct sockaddr *address)
{
    const struct membership *pool = user;

    return address_may_be_contacted(pool->is.networks, address) ||
           (pool->is.private_peers && address_is_private(address));
}

/* A token for that agent alone, which says who we are. */
static const char *bearer_for(struct membership *pool, struct contact *contact)
{
    int64_t wall = runner_wall(), now = runner_now(), ends = 0;
    char audience[TOKEN_NAME_MAX + 1];
    struct err err = {0};
    struct buf text;

    if (contact->bearer && token_made_serves(&contact->bearer_made, wall, now))
        return contact->bearer;
    token_agent_audience(pool->keys.issuer, contact->agent, audience);
    buf_init(&text);
    free(contact->bearer);
    contact->bearer = NULL;
    if (token_file_bearer(&text, pool->is.token, audience, wall / SECOND, &ends, &err) == 0)
        contact->bearer = mem_dup(text.text, text.len);
    else
        LOG(pool->live->settings->log, LEVEL_ERROR, "token", log_text("why", err.text));
    contact->bearer_made = token_made_at(wall, now, ends, TOKEN_BEARER_SPAN);
    buf_done(&text);
    return contact->bearer;
}

static void call_agent(struct contact *contact, const struct tree *ad, struct errand *errand)
{
    struct membership *pool = errand->pool;
    struct live_agent *live = pool->live;
    char url[CONTACT_TEXT_MAX + 32];
    struct http_field fields[] = {{"Berth-Agent", live->settings->name}};
    struct http_call call = {.method = "POST",
                             .url = url,
                             .token = bearer_for(pool, contact),
                             .type = TYPE_CLASSAD,
                             .accept = TYPE_CLASSAD,
                             .fields = fields,
                             .field_count = *live->settings->name ? 1 : 0,
                             .timeout = live->settings->spans->deadline,
                             .bytes_max = ANSWER_MAX,
                             .pin = contact->pin,
                             .https_only = !url_is_loopback(contact->address),
                             .may_connect = may_connect,
                             .may_user = pool};
    size_t end = strlen(contact->address);

    while (end && contact->address[end - 1] == '/')
        end--;
    snprintf(url, sizeof url, "%.*s/v1/messages", (int)end, contact->address);
    buf_reset(&live->text);
    wire_print(&live->text, ad);
    call.body = live->text.text;
    call.len = live->text.len;
    errand->channel = contact_channel(contact->pin, contact->address);
    errand->called = tree_ref((struct tree *)(uintptr_t)ad);
    client_send(pool->client, &call, errand_done, errand);
}

struct tree *agent_envelope(struct live_agent *live, const char *bearer, const char *nonce, const struct tree *message)
{
    struct maker maker;

    maker_init(&maker, live->symbols);
    maker_text(&maker, "Token", bearer);
    maker_text(&maker, "Name", live->settings->name);
    maker_text(&maker, "Nonce", nonce);
    maker_ad(&maker, "Message", message);
    return maker_seal(&maker);
}

/* Seals an envelope, as text in the agent's scratch. */
static int envelope_print(struct live_agent *live, const struct contact *contact, const struct tree *envelope,
                          struct err *err)
{
    char key[2 * BOX_KEY_BYTES + 1];
    struct buf inside, box, digits;
    struct maker maker;
    struct tree *ad;
    int failed;

    buf_reset(&live->text);
    buf_init(&inside);
    buf_init(&box);
    buf_init(&digits);
    wire_print(&inside, envelope);
    failed = box_seal(&box, &live->box, &contact->box, inside.text, inside.len, err);
    if (!failed) {
        base64url_print(&digits, box.text, box.len);
        hex_print(live->box.open.bytes, BOX_KEY_BYTES, key);
        maker_init(&maker, live->symbols);
        maker_text(&maker, "Key", key);
        maker_bytes(&maker, "Box", digits.text, digits.len);
        ad = maker_seal(&maker);
        wire_print(&live->text, ad);
        tree_unref(ad);
    }
    buf_wipe(&inside);
    buf_done(&inside);
    buf_done(&box);
    buf_done(&digits);
    return failed;
}

static void relay_to_agent(struct contact *contact, const struct tree *ad, struct errand *errand)
{
    struct membership *pool = errand->pool;
    struct live_agent *live = pool->live;
    struct agent_call call = {.url = ""};
    unsigned char nonce[ANSWER_NONCE / 2];
    struct tree *envelope;
    struct err err = {0};
    char path[64];

    secrets_live.draw(secrets_live.user, nonce, sizeof nonce);
    hex_print(nonce, sizeof nonce, errand->nonce);
    envelope = agent_envelope(live, bearer_for(pool, contact), errand->nonce, ad);
    snprintf(path, sizeof path, "/v1/relay/%016llx", (unsigned long long)contact->agent);
    errand->sealed = true;
    errand->theirs = contact->box;
    errand->channel = contact_relay_channel(&live->box.open, &contact->box);
    if (envelope_print(live, contact, envelope, &err) < 0 || !agent_call(pool, &call, "POST", path)) {
        if (errand->asked)
            errand_told(errand, "", 0);
        else
            errand_silent(errand);
        errand_free(errand);
    } else {
        live->counts.relayed++;
        call.call.accept = NULL; /* whatever the other one answers */
        call.call.body = live->text.text;
        call.call.len = live->text.len;
        client_send(pool->client, &call.call, errand_done, errand);
    }
    tree_unref(envelope);
}

bool contact_is_reached(const struct membership *pool, const struct contact *contact)
{
    return contact && pool->has_keys && (contact->address || contact->has_box);
}

static void send_to_agent(struct contact *contact, const struct tree *ad, struct errand *errand)
{
    if (contact->address && (!contact->has_box || runner_now() >= contact->relayed_until))
        call_agent(contact, ad, errand);
    else
        relay_to_agent(contact, ad, errand);
}

bool agent_ask(struct live_agent *live, agent to, const struct tree *question, agent_answer_fn *done, void *user)
{
    struct contact *contact;
    struct membership *pool = membership_of(live, to, &contact);
    struct errand *errand;

    if (!contact_is_reached(pool, contact))
        return false;
    live->counts.sent++;
    errand = mem_alloc(sizeof *errand);
    *errand = (struct errand){.pool = pool, .to = to, .asked = done, .user = user};
    send_to_agent(contact, question, errand);
    return true;
}

void agent_send(void *user, agent to, const struct message *message, uint64_t token, uint32_t tag)
{
    struct live_agent *live = user;
    struct contact *contact;
    struct membership *pool = membership_of(live, to, &contact);
    struct errand *errand;
    struct message copy;
    struct tree *ad;

    live->counts.sent++;
    if (!pool || (to != pool->matchmaker && !contact_is_reached(pool, contact))) {
        if (message->kind == MESSAGE_TASK && live->pool_count == 1)
            agent_acquaint(live->pools,
                           to); /* the news that told how it is reached was lost: it is said again, and then we know */
        runner_no_answer(live->runner, token, tag);
        return;
    }
    errand = mem_alloc(sizeof *errand);
    *errand = (struct errand){.pool = pool, .to = to, .token = token, .tag = tag, .kind = message->kind};
    if (message->kind == MESSAGE_START)
        step_note(STEP_HANDED, message->u.start.claim, message->u.start.number);
    if (message->kind == MESSAGE_RESULT)
        step_note(STEP_TOLD, message->u.result.claim, errand->number = message->u.result.number);
    if (to == pool->matchmaker) {
        send_to_matchmaker(pool, message, errand);
        return;
    }
    ad = wire_message(live->symbols, message_leave(pool, message, &copy));
    message_done(&copy);
    send_to_agent(contact, ad, errand);
    tree_unref(ad);
}

/* ------------------------------------------------------------------------------------------------------------ answers */

static void answer_done(void *user, const struct http_outcome *outcome)
{
    if (outcome->result != CALL_CANCELLED)
        agent_heard(user, outcome);
}

void agent_reply_letter(struct live_agent *live, const struct inbound *inbound, const struct tree *ad)
{
    struct agent_call call = {.url = ""};
    struct buf box, digits;
    struct err err = {0};
    char path[64];

    buf_init(&box);
    buf_init(&digits);
    buf_reset(&live->text);
    if (inbound->sealed && *inbound->nonce)
        buf_addf(&live->text, "=%s\n", inbound->nonce);
    wire_print(&live->text, ad);
    snprintf(path, sizeof path, "/v1/answers/%016llx", (unsigned long long)inbound->relay);
    if (agent_call(inbound->pool, &call, "POST", path)) {
        call.call.body = live->text.text;
        call.call.len = live->text.len;
        if (inbound->sealed &&
            box_seal(&box, &live->box, &inbound->sender, live->text.text, live->text.len, &err) == 0) {
            base64url_print(&digits, box.text, box.len);
            call.call.body = digits.text;
            call.call.len = digits.len;
        }
        client_send(inbound->pool->client, &call.call, answer_done, inbound->pool);
    }
    buf_done(&box);
    buf_done(&digits);
}
