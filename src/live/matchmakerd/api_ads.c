/* api_ads.c: ads as resources: put, renewed, withdrawn, read.
 *
 *     PUT /v1/ads/heron       Berth-Version, Berth-Seen, Berth-Heard: what an agent that takes part in claims tells beside the ad;
 *                             Berth-Sealed-Key, or Berth-Key: the key that the tickets of an offer are made with */
#include "live/matchmakerd/ad_shown.h"
#include "live/matchmakerd/ad_take.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/api_pool.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/rng.h"
#include "live/http/represent.h"
#include "sys/encoding.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIKE_MAX 64 /* at most so many ads of one id are looked at */
#include <strings.h>

/* ---------------------------------------------------------------------------------------------------------------- PUT */

/* The entity tag of an ad's version: numbers begin anew with another agent, and in another life of ours. */
static void version_etag(const struct matchmakerd *matchmakerd, uint64_t agent_number, uint64_t version, char out[40])
{
    snprintf(out, 40, "\"%" PRIu64 "-%08x\"", version, (unsigned)rng_mix(matchmakerd->incarnation ^ agent_number));
}

static bool field_number(struct request *request, const char *name, uint64_t *ret)
{
    const char *text = exchange_field(request->exchange, name);
    char *end;

    if (!text)
        return true;
    errno = 0;
    *ret = strtoull(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9') {
        request_problem(request, 400, "%s: expected a number", name);
        return false;
    }
    return true;
}

/* The key of an offer, sealed or plain. False, after a problem was answered, when it is wrong. */
static bool key_field(struct request *request, uint32_t who, struct key *ret)
{
    const char *plain = exchange_field(request->exchange, "Berth-Key");
    const char *sealed = exchange_field(request->exchange, "Berth-Sealed-Key");
    enum reason reason = REASON_OK;
    struct err err = {0};

    if (sealed && plain) {
        request_problem(request, 400, "Berth-Sealed-Key: expected one key, and there is a Berth-Key too");
        return false;
    }
    if (plain && !hex_read(plain, strlen(plain), ret->bytes, KEY_BYTES)) {
        request_problem(request, 400, "Berth-Key: expected %d hexadecimal digits", 2 * KEY_BYTES);
        return false;
    }
    if (sealed)
        reason = sealed_key_take(request, who, request_variable(request, 0), sealed, strlen(sealed), ret, &err);
    if (reason != REASON_OK)
        request_problem(request, reason_status(reason), "Berth-Sealed-Key: %s", err.text);
    return reason == REASON_OK;
}

/* Reads the header fields that come with the ad. False, after a problem was answered, when one of them is wrong. */
static bool advertise_fields(struct request *request, uint32_t who, struct advertise *advertise)
{
    const char *seen = exchange_field(request->exchange, "Berth-Seen");
    uint64_t heard = 0;

    if (!field_number(request, "Berth-Version", &advertise->version) || !field_number(request, "Berth-Heard", &heard))
        return false;
    advertise->heard = (int64_t)heard;
    if (seen) {
        int end = 0;

        if (sscanf(seen, "%16" SCNx64 ".%" SCNu64 ".%16" SCNx64 "%n", &advertise->seen.incarnation,
                   &advertise->seen.last, &advertise->seen.beyond, &end) != 3 ||
            seen[end]) {
            request_problem(request, 400, "Berth-Seen: expected INCARNATION.LAST.BEYOND");
            return false;
        }
    }
    return key_field(request, who, &advertise->key);
}

/* Is the ad a request? The parameter `kind` says so, or its Type is "Job". False when the parameter is wrong. */
static bool is_request(struct request *request, const struct tree *ad, bool *ret)
{
    const char *kind = request_query(request, "kind"), *type;
    size_t len = 0;

    if (kind && strcmp(kind, "request") != 0 && strcmp(kind, "offer") != 0) {
        request_problem(request, 400, "kind: expected request or offer");
        return false;
    }
    *ret = kind ? *kind == 'r' : ad && ad_string(ad, "Type", &type, &len) && len == 3 && !strncasecmp(type, "Job", 3);
    return true;
}

static void taking_problem(struct request *request, const struct taking *taking)
{
    if (taking->full)
        request_problem_with(request, 503, taking->err.text, "Retry-After", MEMORY_AGAIN);
    else if (taking->err.text[0])
        request_problem(request, reason_status(taking->reason), "%s", taking->err.text);
    else
        request_problem(request, reason_status(taking->reason), "%s", reason_words(taking->reason));
}

#define LINKS_MAX (3 * ID_LEN_MAX + 160)

static void links_print(char out[LINKS_MAX], const char *id)
{
    snprintf(out, LINKS_MAX,
             "</v1/ads/%s>; rel=\"self\", </v1/ads/%s/matches>; rel=\"matches\", </v1/ads/%s/why>; rel=\"why\"", id, id,
             id);
}

static void taking_answer(struct request *request, const char *id, const struct taking *taking)
{
    const struct advertised *advertised = &request_matchmakerd(request)->reply.u.advertised;
    char etag[40], links[LINKS_MAX];
    const struct http_field fields[] = {{"ETag", etag}, {"Link", links}};

    if (taking->reason != REASON_OK && taking->reason != REASON_CONSUMED) {
        taking_problem(request, taking);
        return;
    }
    version_etag(request_matchmakerd(request), request_handle(request), advertised->version, etag);
    links_print(links, id);
    request_message(request, taking->created ? 201 : 200, &request_matchmakerd(request)->reply, fields, 2);
}

static bool id_good(struct request *request)
{
    const char *id = request_variable(request, 0);

    if (id_is_good(id, strlen(id)))
        return true;
    request_problem(request, 400, "an id has up to %d printable characters without blanks", ID_LEN_MAX);
    return false;
}

void api_ad_put(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct message message = {.kind = MESSAGE_ADVERTISE};
    struct advertise *advertise = &message.u.advertise;
    const char *id = request_variable(request, 0);
    struct entry_view view;
    struct taking taking;
    char etag[40] = "";
    uint32_t who;
    size_t len;
    bool lives;

    memset(&message.u, 0, sizeof message.u);
    if (!id_good(request) || (who = request_advertiser(request)) == TEXTMAP_NONE ||
        !advertise_fields(request, who, advertise))
        return;
    lives = matchmaker_find(matchmakerd->matchmaker, matchmakerd->agents.items[who].handle, id_number(id, strlen(id)),
                            &view);
    if (lives)
        version_etag(request_matchmakerd(request), view.agent, view.version, etag);
    if (!conditions_met(request, lives ? etag : NULL))
        return;
    exchange_body(request->exchange, &len);
    if (len) {
        advertise->ad = request_body_ad(request);
        if (!advertise->ad)
            return;
    } else if (exchange_field(request->exchange, "If-Match") && lives) {
        advertise->bare = true;
        if (!exchange_field(request->exchange, "Berth-Seen"))
            advertise->seen = view.seen;
        advertise->request = view.request;
    } else {
        request_problem(request, 400, "expected an ad; without one, If-Match says which is renewed");
        return;
    }
    if ((advertise->bare || is_request(request, advertise->ad, &advertise->request)) &&
        ad_take(request, who, id, &message, &taking))
        taking_answer(request, id, &taking);
    tree_unref(advertise->ad);
}

static bool entry_find_seen(struct request *request, struct entry_view *ret);

/* An administrator withdraws the ad of another: until its agent puts it in again, with a higher version. */
static void ad_remove(struct request *request, const char *id, const struct entry_view *view)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    uint32_t who = agents_find(&matchmakerd->agents, view->agent);
    uint32_t place = ids_find(&matchmakerd->ids, view->agent, id, strlen(id));
    struct message message = {.kind = MESSAGE_WITHDRAW, .u.withdraw = {.id = view->id, .version = view->version}};
    const char *owner =
        who == TEXTMAP_NONE ? "" : caller_text(&matchmakerd->gate.callers, matchmakerd->agents.items[who].identity);
    struct peer peer = {.agent = view->agent, .identity = owner};
    char etag[40];

    version_etag(matchmakerd, view->agent, view->version, etag);
    if (!conditions_met(request, etag) || !request_ask(request, &peer, &message))
        return;
    if (matchmakerd->reply.u.got.reason != REASON_OK) {
        request_problem(request, reason_status(matchmakerd->reply.u.got.reason), "%s",
                        reason_words(matchmakerd->reply.u.got.reason));
        return;
    }
    if (place != TEXTMAP_NONE)
        id_unlive(matchmakerd, place);
    LOG_AUDIT(&matchmakerd->log, "ad", log_text("subject", request_identity(request)), log_text("ad", id),
              log_text("owner", owner));
    if (request_audit(request, "ads.delete", id, owner))
        request_answer_durable(request, 204, NULL);
}

void api_ad_delete(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct message message = {.kind = MESSAGE_WITHDRAW};
    const char *id = request_variable(request, 0);
    struct entry_view view;
    struct peer peer;
    uint32_t who, place;
    uint64_t version = 0;
    char etag[40];
    bool lives;

    if (!id_good(request) || (who = request_agent(request)) == TEXTMAP_NONE ||
        !field_number(request, "Berth-Version", &version))
        return;
    place = ids_find(&matchmakerd->ids, matchmakerd->agents.items[who].handle, id, strlen(id));
    if (place == TEXTMAP_NONE && ids_next(&matchmakerd->ids, id, strlen(id), TEXTMAP_NONE) != TEXTMAP_NONE) {
        if (request_administers(request) && entry_named(request, id, &view))
            ad_remove(request, id, &view);
        else if (entry_find_seen(request,
                                 &view)) /* an ad that the caller may not read is not revealed this way, either */
            request_problem(request, 403, "this id belongs to another agent");
        return;
    }
    lives = matchmaker_find(matchmakerd->matchmaker, matchmakerd->agents.items[who].handle, id_number(id, strlen(id)),
                            &view);
    if (!lives) {
        request_problem(request, 404, "there is no such ad");
        return;
    }
    version_etag(request_matchmakerd(request), view.agent, view.version, etag);
    if (!conditions_met(request, etag))
        return;
    message.u.withdraw = (struct withdraw){.id = view.id, .version = version ? version : view.version};
    request_peer(request, who, &peer);
    if (!request_ask(request, &peer, &message))
        return;
    if (matchmakerd->reply.u.got.reason == REASON_OK) {
        if (place != TEXTMAP_NONE)
            id_unlive(matchmakerd, place);
        request_done(request);
    } else
        request_problem(request, reason_status(matchmakerd->reply.u.got.reason), "%s",
                        reason_words(matchmakerd->reply.u.got.reason));
}

/* ---------------------------------------------------------------------------------------------------------------- GET */

const char *entry_id(const struct matchmakerd *matchmakerd, const struct entry_view *view)
{
    uint32_t place = ids_find_number(&matchmakerd->ids, view->agent, view->id);

    return place == TEXTMAP_NONE ? "" : ids_unique(&matchmakerd->ids, place);
}

bool entry_is_own(const struct request *request, const struct entry_view *view)
{
    uint32_t who = agents_find(&request_matchmakerd(request)->agents, view->agent);

    return who != TEXTMAP_NONE && request_matchmakerd(request)->agents.items[who].identity == request->caller.identity;
}

/* Has the caller's agent been matched with that very ad, and not only with another ad of the same agent? A letter
 * tells. */
static bool is_matched_with(struct request *request, const struct entry_view *view)
{
    const struct matchmakerd *matchmakerd = request_matchmakerd(request);
    uint64_t handle = request_handle(request);
    uint32_t who = handle ? agents_find(&matchmakerd->agents, handle) : TEXTMAP_NONE;

    if (who == TEXTMAP_NONE)
        return false;
    for (const struct letter *letter = matchmakerd->agents.items[who].first; letter; letter = letter->next)
        if (letter->match.kind == MESSAGE_MATCH && letter->match.u.match_told.superior == view->agent &&
            letter->match.u.match_told.superior_ad &&
            tree_equal(letter->match.u.match_told.superior_ad, tree_root(letter->match.u.match_told.superior_ad),
                       view->ad, tree_root(view->ad)))
            return true;
    return false;
}

bool request_sees(struct request *request, const struct entry_view *view)
{
    return !view->request || request_any(request) || entry_is_own(request, view) || is_matched_with(request, view);
}

/* Several agents may have ads of that id: the caller's own comes first, then that of an agent whose name gives the id,
 * then the oldest. Of very many only some are looked at. */
bool entry_named(struct request *request, const char *id, struct entry_view *ret)
{
    const struct matchmakerd *matchmakerd = request_matchmakerd(request);
    uint32_t place = ids_find(&matchmakerd->ids, request_handle(request), id, strlen(id));

    if (place != TEXTMAP_NONE && matchmaker_find(matchmakerd->matchmaker, matchmakerd->ids.items[place].agent,
                                                 matchmakerd->ids.items[place].id, ret))
        return true;
    place = TEXTMAP_NONE;
    for (int i = 0; i < ALIKE_MAX; i++) {
        place = ids_next(&matchmakerd->ids, id, strlen(id), place);
        if (place == TEXTMAP_NONE)
            return false;
        if (matchmaker_find(matchmakerd->matchmaker, matchmakerd->ids.items[place].agent,
                            matchmakerd->ids.items[place].id, ret) &&
            request_sees(request, ret))
            return true;
    }
    return false;
}

/* The ad of the id in the path, if the caller may see it. False, after a problem was answered, when there is none. */
static bool entry_find_seen(struct request *request, struct entry_view *ret)
{
    if (entry_named(request, request_variable(request, 0), ret))
        return true;
    request_problem(request, 404, "there is no such ad");
    return false;
}

void api_ad_get(struct request *request)
{
    const char *select = request_query(request, "select");
    char etag[40], links[LINKS_MAX];
    const struct http_field fields[] = {{"ETag", etag}, {"Link", links}};
    struct entry_view view;
    struct tree *shown, *part;

    if (!entry_find_seen(request, &view) || !select_checked(request))
        return;
    version_etag(request_matchmakerd(request), view.agent, view.version, etag);
    links_print(links, request_variable(request, 0));
    if (answered_unchanged(request, etag))
        return;
    shown = ad_shown(request, &view);
    if (select) {
        part = ad_select(request_matchmakerd(request)->symbols, shown, select);
        request_ad(request, 200, part, fields, 2);
        tree_unref(part);
    } else {
        request_ad(request, 200, shown, fields, 2);
    }
    tree_unref(shown);
}

void api_ad_matches(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct entry_view view;
    struct listing listing;
    struct buf out;
    uint32_t who;

    if (!entry_find_seen(request, &view))
        return;
    if (!request_any(request) && !entry_is_own(request, &view)) {
        request_problem(request, 403, "this ad belongs to another");
        return;
    }
    who = agents_find(&matchmakerd->agents, view.agent);
    buf_init(&out);
    listing_begin(&listing, &out, request->form);
    for (const struct letter *letter = agents_letter_after(&matchmakerd->agents, who, 0, runner_now()); letter;
         letter = letter->next) {
        const struct edges *edges = letter->match.u.match_told.edges;
        uint32_t i = 0;

        if (letter->match.kind != MESSAGE_MATCH || letter->match.u.match_told.id != view.id)
            continue;
        do {
            struct tree *row = match_row(matchmakerd, &matchmakerd->agents.items[who], letter,
                                         edges && edges->count ? &edges->items[i] : NULL, runner_now());

            listing_add(&listing, row);
            tree_unref(row);
        } while (edges && ++i < edges->count);
    }
    listing_end(&listing);
    request_answer(request, 200, media_type(request->form, &dialect_classic), out.text, out.len, NULL, 0);
    buf_done(&out);
}
