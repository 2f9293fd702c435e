/* api_pull.c: an offer that is not kept asks for a request.
 *
 *     POST /v1/pull?id=heron      the ad; Berth-Sealed-Key or Berth-Key; Berth-Number: 17, so that the pull may be repeated
 *     POST /v1/pull               [Message="pull"; Id=...; Number=...; SealedKey=...; Ad=[...]], as Berth's own agents do: answered with a
 *                                 message, whatever came of it */
#include "live/matchmakerd/ad_take.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/delivery.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "pool/protocol/wire.h"
#include "sys/encoding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pull that is being answered. */
struct pulling_request {
    struct request *request;
    uint32_t who;
    bool plain; /* an ad, not a message */
    struct message message;
};

static bool key_open(struct pulling_request *pulling, const char *id, const char *text, size_t len, const char *where)
{
    struct err err = {0};
    enum reason reason =
        sealed_key_take(pulling->request, pulling->who, id, text, len, &pulling->message.u.pull.key, &err);

    if (reason != REASON_OK)
        request_problem(pulling->request, reason_status(reason), "%s: %s", where, err.text);
    return reason == REASON_OK;
}

/* Reads the key from the header fields. */
static bool key_read(struct pulling_request *pulling, const char *id)
{
    struct request *request = pulling->request;
    const char *plain = exchange_field(request->exchange, "Berth-Key");
    const char *sealed = exchange_field(request->exchange, "Berth-Sealed-Key");

    if (sealed && plain) {
        request_problem(request, 400, "Berth-Sealed-Key: expected one key, and there is a Berth-Key too");
        return false;
    }
    if (plain && !hex_read(plain, strlen(plain), pulling->message.u.pull.key.bytes, KEY_BYTES)) {
        request_problem(request, 400, "Berth-Key: expected %d hexadecimal digits", 2 * KEY_BYTES);
        return false;
    }
    return !sealed || key_open(pulling, id, sealed, strlen(sealed), "Berth-Sealed-Key");
}

/* Reads a pull from an ad and header fields. Takes the ad. */
static bool plain_read(struct pulling_request *pulling, struct tree *ad)
{
    struct request *request = pulling->request;
    struct pull *pull = &pulling->message.u.pull;
    const char *id = request_query(request, "id"), *number = exchange_field(request->exchange, "Berth-Number");
    char *end = NULL;

    pull->ad = ad;
    if (!id || !id_is_good(id, strlen(id))) {
        request_problem(request, 400, "id: expected an id of up to %d printable characters without blanks", ID_LEN_MAX);
        return false;
    }
    pull->id = id_number(id, strlen(id));
    errno = 0;
    pull->number = number ? strtoull(number, &end, 10) : 0;
    if (number && (errno || *end || *number < '0' || *number > '9')) {
        request_problem(request, 400, "Berth-Number: expected a number");
        return false;
    }
    return key_read(pulling, id);
}

/* Reads a pull from a message. Takes the ad. */
static bool message_read(struct pulling_request *pulling, struct tree *ad)
{
    const struct expr *sealed = ad_find(ad, "SealedKey");
    struct tree *rest = sealed ? ad_without(ad, "SealedKey") : tree_ref(ad);
    struct err err = {0};
    bool good = wire_read_brief(rest, NULL, &pulling->message, &err) == 0;
    char id[17];

    if (!good) {
        pulling->message = (struct message){.kind = MESSAGE_NONE};
        request_problem(pulling->request, 400, "%s", err.text);
    } else if (sealed && sealed->kind != EXPR_STRING) {
        request_problem(pulling->request, 400, "SealedKey: expected a text");
    }
    if (good && sealed && sealed->kind == EXPR_STRING) {
        snprintf(id, sizeof id, "%016llx", (unsigned long long)pulling->message.u.pull.id);
        good = key_open(pulling, id, tree_string(ad, sealed), sealed->u.run.count, "SealedKey");
    } else {
        good = good && !sealed;
    }
    tree_unref(rest);
    tree_unref(ad);
    return good;
}

static bool is_message(const struct tree *ad)
{
    const char *kind;
    size_t len;

    return ad_string(ad, "Message", &kind, &len) && len == 4 && !memcmp(kind, "pull", 4);
}

/* The role's answer, with the contacts of the superior. */
static struct tree *pulled_ad(struct matchmakerd *matchmakerd, const struct agent_row *to, struct message *reply)
{
    struct match_told told = {.superior = reply->u.pulled.superior};
    struct tree *ad, *contacts, *both;
    struct maker maker;

    if (!to->receipts) { /* the agent could not read the rest */
        tree_unref(reply->u.pulled.receipt);
        reply->u.pulled.receipt = NULL;
    }
    ad = wire_message(matchmakerd->symbols, reply);
    if (reply->u.pulled.reason != REASON_OK)
        return ad;
    agents_acquaint(&matchmakerd->agents, (uint32_t)(to - matchmakerd->agents.items), told.superior);
    contacts = match_contacts(matchmakerd, &told);
    maker_init(&maker, matchmakerd->symbols);
    maker_parts(&maker, ad, NULL);
    maker_ad(&maker, "Contacts", contacts);
    both = maker_seal(&maker);
    tree_unref(contacts);
    tree_unref(ad);
    return both;
}

/* Answers why not; names the limit, if it is one. */
static void pull_refuse(const struct pulling_request *pulling, const struct peer *peer, enum reason reason)
{
    struct request *request = pulling->request;

    if (reason == REASON_LIMIT &&
        matchmaker_pulls_full(request_matchmakerd(request)->matchmaker, peer, pulling->message.u.pull.id))
        request_problem(request, reason_status(reason), "AdsPerIdentity: too many offers of this identity pull");
    else
        request_problem(request, reason_status(reason), "%s", reason_words(reason));
}

static void pull_answer(const struct pulling_request *pulling, const struct peer *peer)
{
    struct request *request = pulling->request;
    const struct pulled *pulled = &request_matchmakerd(request)->reply.u.pulled;
    struct http_field field = {"Retry-After", NULL};
    char seconds[24];

    if (!pulling->plain || pulled->reason == REASON_OK) {
        request_ad_take(request, 200,
                        pulled_ad(request_matchmakerd(request),
                                  &request_matchmakerd(request)->agents.items[pulling->who],
                                  &request_matchmakerd(request)->reply));
    } else if (pulled->reason == REASON_WAIT) {
        snprintf(seconds, sizeof seconds, "%lld", (long long)((pulled->span + SECOND - 1) / SECOND));
        field.value = seconds;
        request_answer(request, 204, NULL, NULL, 0, &field, 1);
    } else {
        pull_refuse(pulling, peer, pulled->reason);
    }
}

void api_pull(struct request *request)
{
    struct pulling_request pulling = {.request = request, .message = {.kind = MESSAGE_PULL}};
    struct tree *ad;
    struct peer peer;
    bool good;

    pulling.who = request_advertiser(request);
    if (pulling.who == TEXTMAP_NONE || !(ad = request_body_ad(request)))
        return;
    pulling.plain = !is_message(ad);
    good = pulling.plain ? plain_read(&pulling, ad) : message_read(&pulling, ad);
    request_peer(request, pulling.who, &peer);
    peer.account = caller_text(&request_matchmakerd(request)->gate.callers, request->caller.account);
    if (good && request_ask(request, &peer, &pulling.message))
        pull_answer(&pulling, &peer);
    message_done(&pulling.message);
}
