/* agent_out.c: what an agent's role sends: to the matchmaker, to other agents, by the relay.
 *
 *     relay:   [Key="our key"; Box="..."]     in the box: [Token="..."; Name="..."; Message=[...]] */
#include "net/agent_parts.h"

#include "base/mem.h"
#include "net/codes.h"
#include "net/represent.h"
#include "pool/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX (4u << 20)

struct errand {
    struct live_agent *live;
    agent to;
    uint64_t token, channel;
    uint32_t tag;
    bool to_matchmaker, sealed;
    struct box_public theirs;
};

static void errand_end(struct errand *errand, const struct message *answer)
{
    struct live_agent *live = errand->live;
    struct contact *contact = contacts_find(&live->contacts, errand->to);
    struct peer peer = {.agent = errand->to,
                        .identity = errand->to_matchmaker ? "matchmaker"
                                    : contact             ? contact->identity
                                                          : NULL,
                        .channel = errand->channel};

    if (answer) {
        live->counts.answered++;
        runner_answer(live->runner, errand->token, errand->tag, &peer, answer);
    } else {
        runner_no_answer(live->runner, errand->token, errand->tag);
    }
}

/* The answer in a box of theirs; appended to the agent's scratch text. */
static bool box_unpack(struct errand *errand, const char *text, size_t len)
{
    struct live_agent *live = errand->live;
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
    return good;
}

static void errand_done(void *user, const struct outcome *outcome)
{
    struct errand *errand = user;
    struct live_agent *live = errand->live;
    const char *text = outcome->body;
    size_t len = outcome->len;
    struct message answer;
    struct err err = {0};
    bool good = outcome->result == CALL_ANSWERED && outcome->status == 200;

    if (outcome->result == CALL_CANCELLED) {
        free(errand);
        return;
    }
    if (errand->to_matchmaker)
        agent_heard(live, outcome);
    if (good && errand->sealed) {
        good = box_unpack(errand, text, len);
        text = buf_string(&live->text);
        len = live->text.len;
    }
    if (good && agent_message_read(live, text, len, &answer, &err) == 0) {
        errand_end(errand, &answer);
        message_done(&answer);
    } else {
        LOG(live->settings->log, LEVEL_DEBUG, "send.failed", log_word("agent", errand->to),
            log_number("status", outcome->status), log_text("why", outcome->error ? outcome->error : err.text));
        errand_end(errand, NULL);
    }
    free(errand);
}

/* ----------------------------------------------------------------------------------------------------- the matchmaker */

static const char *matchmaker_path(enum message_kind kind)
{
    return kind == MESSAGE_ADVERTISE || kind == MESSAGE_WITHDRAW ? "/v1/ads"
           : kind == MESSAGE_REPORT                              ? "/v1/claims"
                                                                 : NULL;
}

static void send_to_matchmaker(struct live_agent *live, const struct message *message, struct errand *errand)
{
    const char *path = matchmaker_path(message->kind);
    struct agent_call call = {.url = ""};
    struct tree *ad;

    errand->to_matchmaker = true;
    agent_ask_keys(live);
    /* Whoever is matched with us must be told how we are reached: nothing is advertised before that is known there. */
    if (live->standing != REGISTERED || !path || !agent_call(live, &call, "POST", path)) {
        errand_end(errand, NULL);
        free(errand);
        return;
    }
    ad = wire_message(live->symbols, message);
    buf_reset(&live->text);
    wire_print(&live->text, ad);
    tree_unref(ad);
    call.call.body = live->text.text;
    call.call.len = live->text.len;
    client_send(live->client, &call.call, errand_done, errand);
}

/* ------------------------------------------------------------------------------------------------------------ others */

static bool may_connect(void *user, const struct sockaddr *address)
{
    const struct live_agent *live = user;

    return address_may_be_contacted(live->settings->networks, address);
}

/* A token for that agent alone, which says who we are. */
static const char *bearer_for(struct live_agent *live, struct contact *contact)
{
    int64_t now = runner_wall() / SECOND;
    char audience[TOKEN_NAME_MAX + 1];
    struct err err = {0};
    struct buf text;

    if (contact->bearer && now < contact->bearer_ends)
        return contact->bearer;
    token_agent_audience(live->pool.issuer, contact->agent, audience);
    buf_init(&text);
    free(contact->bearer);
    contact->bearer = NULL;
    if (token_file_bearer(&text, live->settings->token, audience, now, &contact->bearer_ends, &err) == 0)
        contact->bearer = mem_dup(text.text, text.len);
    else
        LOG(live->settings->log, LEVEL_ERROR, "token", log_text("why", err.text));
    contact->bearer_ends -= 60;
    buf_done(&text);
    return contact->bearer;
}

static void call_agent(struct live_agent *live, struct contact *contact, const struct message *message,
                       struct errand *errand)
{
    char url[CONTACT_TEXT_MAX + 32];
    struct http_field fields[] = {{"Berth-Agent", live->settings->name}};
    struct call call = {.method = "POST",
                        .url = url,
                        .token = bearer_for(live, contact),
                        .type = TYPE_CLASSAD,
                        .accept = TYPE_CLASSAD,
                        .fields = fields,
                        .field_count = *live->settings->name ? 1 : 0,
                        .timeout = live->settings->spans->deadline,
                        .bytes_max = ANSWER_MAX,
                        .pin = contact->pin,
                        .https_only = strncmp(contact->address, "http://127.", 11) != 0 &&
                                      strncmp(contact->address, "http://[::1]", 12) != 0,
                        .may_connect = may_connect,
                        .may_user = live};
    struct tree *ad = wire_message(live->symbols, message);

    size_t end = strlen(contact->address);

    while (end && contact->address[end - 1] == '/')
        end--;
    snprintf(url, sizeof url, "%.*s/v1/messages", (int)end, contact->address);
    buf_reset(&live->text);
    wire_print(&live->text, ad);
    tree_unref(ad);
    call.body = live->text.text;
    call.len = live->text.len;
    errand->channel = contact_channel(contact->pin, contact->address);
    client_send(live->client, &call, errand_done, errand);
}

struct tree *agent_envelope(struct live_agent *live, const char *bearer, const struct tree *message)
{
    struct maker maker;

    maker_init(&maker, live->symbols);
    maker_text(&maker, "Token", bearer);
    maker_text(&maker, "Name", live->settings->name);
    maker_ad(&maker, "Message", message);
    return maker_seal(&maker);
}

/* The envelope, sealed; as text in the agent's scratch. */
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

static void relay_to_agent(struct live_agent *live, struct contact *contact, const struct message *message,
                           struct errand *errand)
{
    struct tree *ad = wire_message(live->symbols, message);
    struct tree *envelope = agent_envelope(live, bearer_for(live, contact), ad);
    struct agent_call call = {.url = ""};
    struct err err = {0};
    char path[64];

    snprintf(path, sizeof path, "/v1/relay/%016llx", (unsigned long long)contact->agent);
    errand->sealed = true;
    errand->theirs = contact->box;
    errand->channel = contact_relay_channel(&live->box.open, &contact->box);
    if (envelope_print(live, contact, envelope, &err) < 0 || !agent_call(live, &call, "POST", path)) {
        errand_end(errand, NULL);
        free(errand);
    } else {
        live->counts.relayed++;
        call.call.accept = NULL; /* whatever the other one answers */
        call.call.body = live->text.text;
        call.call.len = live->text.len;
        client_send(live->client, &call.call, errand_done, errand);
    }
    tree_unref(envelope);
    tree_unref(ad);
}

void agent_send(void *user, agent to, const struct message *message, uint64_t token, uint32_t tag)
{
    struct live_agent *live = user;
    struct contact *contact = contacts_find(&live->contacts, to);
    struct errand *errand;

    live->counts.sent++;
    /* One that can neither be called nor sealed to is not spoken to: the matchmaker would read it. */
    if (to != live->matchmaker && (!contact || !live->has_pool || (!contact->address && !contact->has_box))) {
        runner_no_answer(live->runner, token, tag);
        return;
    }
    errand = mem_alloc(sizeof *errand);
    *errand = (struct errand){.live = live, .to = to, .token = token, .tag = tag};
    if (to == live->matchmaker)
        send_to_matchmaker(live, message, errand);
    else if (contact->address)
        call_agent(live, contact, message, errand);
    else
        relay_to_agent(live, contact, message, errand);
}

/* ------------------------------------------------------------------------------------------------------------ answers */

static void answer_done(void *user, const struct outcome *outcome)
{
    if (outcome->result != CALL_CANCELLED)
        agent_heard(user, outcome);
}

void agent_reply_letter(struct live_agent *live, const struct inbound *inbound, const struct message *message)
{
    struct tree *ad = wire_message(live->symbols, message);
    struct agent_call call = {.url = ""};
    struct buf box, digits;
    struct err err = {0};
    char path[64];

    buf_init(&box);
    buf_init(&digits);
    buf_reset(&live->text);
    wire_print(&live->text, ad);
    tree_unref(ad);
    snprintf(path, sizeof path, "/v1/answers/%016llx", (unsigned long long)inbound->relay);
    if (agent_call(live, &call, "POST", path)) {
        call.call.body = live->text.text;
        call.call.len = live->text.len;
        if (inbound->sealed &&
            box_seal(&box, &live->box, &inbound->sender, live->text.text, live->text.len, &err) == 0) {
            base64url_print(&digits, box.text, box.len);
            call.call.body = digits.text;
            call.call.len = digits.len;
        }
        client_send(live->client, &call.call, answer_done, live);
    }
    buf_done(&box);
    buf_done(&digits);
}
