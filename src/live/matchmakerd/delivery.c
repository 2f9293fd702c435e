/* delivery.c: sends matches to agents: by a call to those that can be called, by letter to the others; and checks contact addresses.
 *
 *     match -> letter, always                 so that an agent that lost it can ask again
 *           -> POST CONTACT/v1/messages       answered: the agent has heard; else the role sends it again
 *
 * A contact address proves itself: GET CONTACT/v1/challenge?nonce=N is answered with Proof = HMAC-SHA-256(Challenge, N), by the key that
 * the agent gave us under its own name. */
#include "live/matchmakerd/delivery.h"
#include "live/matchmakerd/api_events.h"
#include "live/matchmakerd/api_pool.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "pool/protocol/ticket.h"
#include "pool/protocol/wire.h"
#include "pool/protocol/writers.h"
#include "sys/encoding.h"
#include "sys/secrets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTER_WINDOWS 6 /* a match can be asked for as long as that many windows */
#define BEARER_SPAN 3600
#define ANSWER_BYTES_MAX 65536

enum delivery_result { DELIVERED, DELIVERY_REFUSED, DELIVERY_UNKNOWN, DELIVERY_DROPPED };

/* ------------------------------------------------------------------------------------------------------------- letter */

static void contact_add(struct matchmakerd *matchmakerd, struct build *build, uint64_t handle, uint32_t *count)
{
    uint32_t place = agents_find(&matchmakerd->agents, handle);
    const struct agent_row *row;
    char box[2 * BOX_KEY_BYTES + 1];
    struct maker maker;
    struct tree *ad;

    if (place == TEXTMAP_NONE)
        return;
    row = &matchmakerd->agents.items[place];
    maker_init(&maker, matchmakerd->symbols);
    maker_word(&maker, "Agent", row->handle);
    maker_text(&maker, "Identity", caller_text(&matchmakerd->gate.callers, row->identity));
    maker_text(&maker, "Name", row->name);
    if (row->contact_state == CONTACT_GOOD) {
        maker_text(&maker, "Contact", row->contact);
        maker_text(&maker, "Pin", row->pin);
    }
    if (row->has_box) {
        hex_print(row->box.bytes, BOX_KEY_BYTES, box);
        maker_text(&maker, "BoxKey", box);
    }
    ad = maker_seal(&maker);
    build_copy(build, ad, tree_root(ad));
    tree_unref(ad);
    ++*count;
}

/* The contacts of all agents that a match names. */
struct tree *match_contacts(struct matchmakerd *matchmakerd, const struct match_told *told)
{
    struct build build;
    struct tree *list;
    uint32_t count = 0;

    build_init(&build, matchmakerd->symbols, &dialect_classic);
    if (told->superior)
        contact_add(matchmakerd, &build, told->superior, &count);
    if (told->customer) /* the member may have to ask the customer for files */
        contact_add(matchmakerd, &build, told->customer, &count);
    for (uint32_t i = 0; told->edges && i < told->edges->count; i++)
        contact_add(matchmakerd, &build, told->edges->items[i].agent, &count);
    for (uint32_t i = 0; !told->claim && told->below && i < told->below->count;
         i++) /* the customer talks to these members itself */
        contact_add(matchmakerd, &build, told->below->items[i].agent, &count);
    build_bind(&build, EXPR_LIST, count);
    list = build_seal(&build);
    build_done(&build);
    return list;
}

static bool agent_knows_receipts(const struct matchmakerd *matchmakerd, uint64_t handle)
{
    uint32_t place = agents_find(&matchmakerd->agents, handle);

    return place != TEXTMAP_NONE && matchmakerd->agents.items[place].receipts;
}

/* Messages are read strictly: an agent of a version that knows no receipts gets none, and others get none for it. */
static void match_fit(const struct matchmakerd *matchmakerd, const struct agent_row *to, struct match_told *told)
{
    struct edges *edges;

    if (!to->receipts) {
        tree_unref(told->receipt);
        told->receipt = NULL;
    }
    if (!told->edges)
        return;
    edges = edges_new(told->edges->count);
    for (uint32_t i = 0; i < edges->count; i++) {
        struct edge *edge = &edges->items[i];

        *edge = told->edges->items[i];
        edge->ad = edge->ad ? tree_ref(edge->ad) : NULL;
        edge->receipt = edge->receipt && to->receipts && agent_knows_receipts(matchmakerd, edge->agent)
                            ? tree_ref(edge->receipt)
                            : NULL;
    }
    edges_unref(told->edges);
    told->edges = edges;
}

struct tree *match_letter(struct matchmakerd *matchmakerd, const struct agent_row *to, const struct message *match,
                          int64_t at)
{
    struct message now;
    struct tree *ad, *list, *letter;
    struct maker maker;

    message_copy(&now, match);
    now.u.match_told.age += runner_now() - at;
    match_fit(matchmakerd, to, &now.u.match_told);
    ad = wire_message(matchmakerd->symbols, &now);
    message_done(&now);
    list = match_contacts(matchmakerd, &match->u.match_told);
    maker_init(&maker, matchmakerd->symbols);
    maker_parts(&maker, ad, NULL);
    maker_ad(&maker, "Contacts", list);
    letter = maker_seal(&maker);
    tree_unref(ad);
    tree_unref(list);
    return letter;
}

/* ------------------------------------------------------------------------------------------------------------- calling */

struct delivery {
    struct matchmakerd *matchmakerd;
    uint64_t agent, token;
    uint32_t tag;
};

static void delivery_answered(struct delivery *delivery, const struct http_outcome *outcome)
{
    struct matchmakerd *matchmakerd = delivery->matchmakerd;
    struct peer peer = {.agent = delivery->agent};
    struct message message;
    struct tree *ad;
    struct err err;

    if (wire_parse(matchmakerd->symbols, outcome->body, outcome->len, &ad, &err) < 0) {
        metrics_add(matchmakerd->metrics, METRIC_NOTIFICATIONS, DELIVERY_REFUSED, 0, 1);
        runner_no_answer(matchmakerd->runner, delivery->token, delivery->tag);
        return;
    }
    if (wire_read_message(ad, &message, &err) == 0) {
        metrics_add(matchmakerd->metrics, METRIC_NOTIFICATIONS, DELIVERED, 0, 1);
        runner_answer(matchmakerd->runner, delivery->token, delivery->tag, &peer, &message);
        message_done(&message);
    } else {
        metrics_add(matchmakerd->metrics, METRIC_NOTIFICATIONS, DELIVERY_REFUSED, 0, 1);
        runner_no_answer(matchmakerd->runner, delivery->token, delivery->tag);
    }
    tree_unref(ad);
}

static void delivery_done(void *user, const struct http_outcome *outcome)
{
    struct delivery *delivery = user;

    if (outcome->result == CALL_CANCELLED) {
        free(delivery);
        return;
    }
    if (outcome->result == CALL_ANSWERED && outcome->status == 200) {
        delivery_answered(delivery, outcome);
    } else {
        metrics_add(delivery->matchmakerd->metrics, METRIC_NOTIFICATIONS,
                    outcome->result == CALL_ANSWERED ? DELIVERY_REFUSED : DELIVERY_UNKNOWN, 0, 1);
        LOG(&delivery->matchmakerd->log, LEVEL_WARNING, "notification.failed", log_word("agent", delivery->agent),
            log_number("status", outcome->status), log_text("why", outcome->error));
        runner_no_answer(delivery->matchmakerd->runner, delivery->token, delivery->tag);
    }
    free(delivery);
}

/* A token by which the agent knows us: good for that agent alone. */
static const char *bearer_for(struct matchmakerd *matchmakerd, struct agent_row *row)
{
    char audience[TOKEN_NAME_MAX + 1];
    int64_t wall = runner_wall(), now = runner_now();
    struct token_terms terms = {.issuer = keyring_pool(matchmakerd->keys),
                                .subject = "matchmaker",
                                .audience = audience,
                                .scope = SCOPE_MATCH,
                                .issued = wall / SECOND,
                                .expires = wall / SECOND + BEARER_SPAN};
    struct buf text;
    struct err err;

    if (row->bearer && token_made_serves(&row->bearer_made, wall, now))
        return row->bearer;
    token_agent_audience(keyring_pool(matchmakerd->keys), row->handle, audience);
    buf_init(&text);
    if (token_sign(&text, keyring_current(matchmakerd->keys), &terms, NULL, &err) == 0)
        agent_set_text(&row->bearer, buf_string(&text));
    row->bearer_made = token_made_at(wall, now, terms.expires, BEARER_SPAN / 2);
    buf_done(&text);
    return row->bearer;
}

static bool may_connect(void *user, const struct sockaddr *address)
{
    const struct matchmakerd *matchmakerd = user;

    return address_may_be_contacted(&matchmakerd->networks, address);
}

/* The address is a number, and the one that the agent itself calls from: it may be private. */
static bool may_connect_back(void *user, const struct sockaddr *address)
{
    return may_connect(user, address) || address_is_private(address);
}

/* Calls the address that the agent gave, if it may be called, with the key that it gave. */
static uint64_t contact_call(struct matchmakerd *matchmakerd, struct client *client, const struct agent_row *row,
                             const char *path, struct http_call *call, call_done_fn *done, void *user)
{
    size_t end = strlen(row->contact);
    struct buf address;
    uint64_t id;

    while (end && row->contact[end - 1] == '/')
        end--;
    buf_init(&address);
    buf_add(&address, row->contact, end);
    buf_adds(&address, path);
    call->url = buf_string(&address);
    call->pin = row->pin;
    call->https_only = !url_is_loopback(row->contact); /* and loopback only where it is one of the networks */
    call->may_connect = row->contact_seen ? may_connect_back : may_connect;
    call->may_user = matchmakerd;
    id = client_send(client, call, done, user);
    buf_done(&address);
    return id;
}

uint64_t contact_send(struct matchmakerd *matchmakerd, const struct agent_row *row, const char *path,
                      struct http_call *call, call_done_fn *done, void *user)
{
    return contact_call(matchmakerd, matchmakerd->client, row, path, call, done, user);
}

/* The letter that was written when the match was first told: a repeat writes no other. */
static struct letter *letter_find(struct matchmakerd *matchmakerd, uint32_t place, const struct message *message)
{
    const struct match_told *told = &message->u.match_told;
    const struct agent_row *row = &matchmakerd->agents.items[place];
    struct letter *letter;

    if (row->told_id != told->id || row->told_number != told->number)
        return NULL; /* an agent is told of its matches one after the other */
    for (letter = row->first; letter; letter = letter->next)
        if (letter->match.kind == MESSAGE_MATCH && letter->match.u.match_told.id == told->id &&
            letter->match.u.match_told.number == told->number)
            break;
    return letter;
}

void delivery_send(void *user, agent to, const struct message *message, uint64_t token, uint32_t tag)
{
    struct matchmakerd *matchmakerd = user;
    uint32_t place = agents_find(&matchmakerd->agents, to);
    const struct message heard = {.kind = MESSAGE_GOT};
    struct peer peer = {.agent = to};
    struct agent_row *row;
    struct delivery *delivery;
    struct letter *letter;
    struct tree *ad;
    struct buf text;
    int64_t now = runner_now();

    if (place == TEXTMAP_NONE || message->kind != MESSAGE_MATCH) {
        metrics_add(matchmakerd->metrics, METRIC_NOTIFICATIONS, DELIVERY_DROPPED, 0, 1);
        runner_no_answer(matchmakerd->runner, token, tag);
        return;
    }
    row = &matchmakerd->agents.items[place];
    letter = letter_find(matchmakerd, place, message);
    if (!letter) {
        letter = agents_write_match(&matchmakerd->agents, place, message, now,
                                    now + LETTER_WINDOWS * matchmakerd->spans.window);
        if (letter)
            observers_match(matchmakerd, row, letter);
    }
    if (row->contact_state != CONTACT_GOOD) {
        metrics_add(matchmakerd->metrics, METRIC_NOTIFICATIONS, letter ? DELIVERED : DELIVERY_DROPPED, 0, 1);
        if (letter)
            runner_answer(matchmakerd->runner, token, tag, &peer, &heard);
        else
            runner_no_answer(matchmakerd->runner, token, tag);
        return;
    }
    delivery = mem_alloc(sizeof *delivery);
    *delivery = (struct delivery){matchmakerd, to, token, tag};
    ad = match_letter(matchmakerd, row, message, now);
    buf_init(&text);
    wire_print(&text, ad);
    tree_unref(ad);
    contact_call(matchmakerd, matchmakerd->client, row, "/v1/messages",
                 &(struct http_call){.method = "POST",
                                     .token = bearer_for(matchmakerd, row),
                                     .type = TYPE_CLASSAD,
                                     .accept = TYPE_CLASSAD,
                                     .body = text.text,
                                     .len = text.len,
                                     .timeout = matchmakerd->spans.deadline,
                                     .bytes_max = ANSWER_BYTES_MAX},
                 delivery_done, delivery);
    buf_done(&text);
}

/* ------------------------------------------------------------------------------------------------------------ checking */

struct check {
    struct matchmakerd *matchmakerd;
    uint64_t agent;
    uint32_t account, number;
    struct key nonce;
    struct request *waits; /* a request that waits for its end; or NULL */
    struct check *next;    /* in the list of failed checks, which are told when their time is over */
    int64_t ends;
    unsigned status;
    char why[ERR_TEXT_MAX];
};

/* Is this the proof of the agent that gave us the challenge's key? */
static bool proof_is_good(const struct check *check, const struct agent_row *row, const struct http_outcome *outcome)
{
    struct matchmakerd *matchmakerd = check->matchmakerd;
    struct media media = {FORM_UNKNOWN, &dialect_classic};
    struct key proof, expected;
    const char *text;
    struct tree *ad;
    struct err err;
    size_t len;
    bool good;

    if (outcome->result != CALL_ANSWERED || outcome->status != 200)
        return false;
    ad = represent_read(matchmakerd->symbols, &media, NULL, outcome->body, outcome->len, &err);
    if (!ad)
        return false;
    secrets_live.seal(secrets_live.user, &row->challenge, check->nonce.bytes, KEY_BYTES, &expected);
    good = ad_string(ad, "Proof", &text, &len) && hex_read(text, len, proof.bytes, KEY_BYTES) &&
           key_equal(&proof, &expected);
    tree_unref(ad);
    return good;
}

/* The request that waits for the check has gone, or is answered. */
static void check_forget(struct request *request)
{
    struct check *check = request->work;

    check->waits = NULL;
    request->work = NULL;
    request->forget = NULL;
}

/* The agent of the check, unless it has given another address since. */
static struct agent_row *check_row(const struct check *check, uint32_t *ret_place)
{
    struct agents *agents = &check->matchmakerd->agents;

    *ret_place = agents_find(agents, check->agent);
    return *ret_place != TEXTMAP_NONE && agents->items[*ret_place].contact_try == check->number
               ? &agents->items[*ret_place]
               : NULL;
}

/* Ends a check, which it takes. */
static void check_end(struct check *check, bool decided, bool good)
{
    struct matchmakerd *matchmakerd = check->matchmakerd;
    uint32_t place;
    struct agent_row *row = check_row(check, &place);

    matchmakerd->gate.callers.items[check->account].checks--;
    if (row && decided) {
        row->contact_state = good ? CONTACT_GOOD : CONTACT_BAD;
        LOG_AUDIT(&matchmakerd->log, "contact", log_word("agent", check->agent),
                  log_text("identity", caller_text(&matchmakerd->gate.callers, row->identity)),
                  log_text("contact", row->contact), log_flag("good", good), log_number("status", check->status),
                  log_text("why", *check->why ? check->why : NULL));
    }
    if (check->waits) {
        struct request *request = check->waits;

        check_forget(request);
        agent_answer(request, place);
    }
    free(check);
}

/* Where loopback is one of the networks, the time and kind of a failure would tell which ports of this machine are open, and at the
 * address that an agent calls from, those of the machine that translates addresses for it: so all failures there are told alike, when the
 * time of the check is over. */
static void check_done(void *user, const struct http_outcome *outcome)
{
    struct check *check = user;
    struct matchmakerd *matchmakerd = check->matchmakerd;
    uint32_t place;
    const struct agent_row *row = check_row(check, &place);
    bool decided = outcome->result != CALL_CANCELLED, good = row && decided && proof_is_good(check, row, outcome);

    check->status = outcome->status;
    snprintf(check->why, sizeof check->why, "%s", outcome->error ? outcome->error : "");
    if (row && decided && !good && outcome->result != CALL_REFUSED &&
        (row->contact_seen || url_is_loopback(row->contact))) {
        check->next = matchmakerd->failed_checks;
        matchmakerd->failed_checks = check;
        return;
    }
    check_end(check, decided, good);
}

void checks_sweep(struct matchmakerd *matchmakerd, int64_t now)
{
    struct check **link = &matchmakerd->failed_checks;

    while (*link) {
        struct check *check = *link;

        if (check->ends > now) {
            link = &check->next;
            continue;
        }
        *link = check->next;
        check_end(check, now != INT64_MAX, false);
    }
}

bool contact_check(struct matchmakerd *matchmakerd, uint32_t who, struct request *waits, int64_t most)
{
    struct agent_row *row = &matchmakerd->agents.items[who];
    char digits[2 * KEY_BYTES + 1], path[2 * KEY_BYTES + 64];
    struct check *check;

    row->contact_try++;
    row->contact_state = CONTACT_NONE;
    if (!row->contact)
        return true;
    if (matchmakerd->gate.callers.items[row->account].checks >= CHECKS_MAX)
        return false;
    matchmakerd->gate.callers.items[row->account].checks++;
    row->contact_state = CONTACT_CHECKING;
    check = mem_alloc(sizeof *check);
    *check = (struct check){.matchmakerd = matchmakerd,
                            .agent = row->handle,
                            .account = row->account,
                            .number = row->contact_try,
                            .waits = waits,
                            .ends = runner_now() + most};
    if (waits) {
        waits->work = check;
        waits->forget = check_forget;
    }
    secrets_live.draw(secrets_live.user, check->nonce.bytes, KEY_BYTES);
    hex_print(check->nonce.bytes, KEY_BYTES, digits);
    snprintf(path, sizeof path, "/v1/challenge?nonce=%s", digits);
    contact_call(matchmakerd, matchmakerd->checker, row, path,
                 &(struct http_call){.accept = TYPE_CLASSAD, .timeout = most, .bytes_max = ANSWER_BYTES_MAX},
                 check_done, check);
    return true;
}
