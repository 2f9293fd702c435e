/* api_ads.c: ads as resources: put, renewed, withdrawn, read; one by one and in batches.
 *
 *     PUT /v1/ads/heron       Berth-Version, Berth-Seen, Berth-Heard, Berth-Key: what an agent that claims tells beside the ad
 *     [Message="advertise"; Id="heron"; Ad=[...]]                                 the same in a batch */
#include "net/service_parts.h"

#include "base/mem.h"
#include "base/rng.h"
#include "match/residual.h"
#include "net/codes.h"
#include "pool/wire.h"
#include "text/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- limits */

#define PORTS_MAX EDGES_MAX

/* Names that the matchmaker gives: nobody else may. */
static const char *const given_names[] = {"UserPrio", "RemoteUserPrio", "Usage"};

/* A Ports must be a list of ads with labels that differ. */
static int ports_check(const struct tree *ad, struct err *err)
{
    const struct expr *ports = ad_find(ad, "Ports"), *parts;

    if (!ports)
        return 0;
    if (ports->kind != EXPR_LIST)
        return err_set(err, "Ports: a list of ads is expected");
    if (ports->u.run.count > PORTS_MAX)
        return err_set(err, "Ports: up to %d are expected", PORTS_MAX);
    parts = tree_parts(ad, ports);
    for (uint32_t i = 0; i < ports->u.run.count; i++) {
        const struct expr *label;

        if (parts[i].kind != EXPR_AD)
            return err_set(err, "Ports[%u]: an ad is expected", i);
        label = tree_find(ad, &parts[i], symbols_find(ad->symbols, "Label", 5));
        for (uint32_t n = 0; label && n < i; n++) {
            const struct expr *other = tree_find(ad, &parts[n], symbols_find(ad->symbols, "Label", 5));

            if (other && tree_equal(ad, label, ad, other))
                return err_set(err, "Ports[%u]: its Label is that of Ports[%u] as well", i, n);
        }
    }
    return 0;
}

/* What is wrong with an ad that is advertised, as far as it can be said better than by a role. */
static int ad_check(const struct tree *ad, struct err *err)
{
    for (size_t i = 0; i < sizeof given_names / sizeof *given_names; i++)
        if (ad_find(ad, given_names[i]))
            return err_set(err, "%s: this name is given by the matchmaker", given_names[i]);
    if (residual_check(ad, err) < 0)
        return err_context(err, "Residual");
    return ports_check(ad, err);
}

/* -------------------------------------------------------------------------------------------------------------- taking */

/* The place of an id for that agent: NONE when it is new. False, and the reason, when it is another's. */
static bool id_claim(struct service *service, const char *id, uint64_t who, uint32_t *ret)
{
    uint32_t place = ids_find(&service->ids, id, strlen(id));
    const struct ad_id *row = place == TEXTMAP_NONE ? NULL : &service->ids.items[place];

    if (row && row->agent != who) {
        if (matchmaker_remembers(service->matchmaker, row->agent, row->id))
            return false;
        id_forget(service, place);
        place = TEXTMAP_NONE;
    }
    *ret = place;
    return true;
}

void id_unlive(struct service *service, uint32_t place)
{
    struct ad_id *row = &service->ids.items[place];
    struct identity *account = &service->callers.items[row->account];
    uint32_t who = agents_find(&service->agents, row->agent);

    if (!row->live)
        return;
    row->live = false;
    account->ads--;
    account->bytes -= row->bytes;
    row->bytes = 0;
    if (who != TEXTMAP_NONE)
        service->agents.items[who].ads--;
}

void id_forget(struct service *service, uint32_t place)
{
    id_unlive(service, place);
    service->callers.items[service->ids.items[place].account].ids--;
    ids_remove(&service->ids, place);
}

static void id_keep(struct request *request, uint32_t who, const char *id, uint32_t place, size_t bytes)
{
    struct service *service = request->service;
    struct identity *account;
    struct ad_id *row;

    if (place == TEXTMAP_NONE) {
        place = ids_add(&service->ids, id, strlen(id), service->agents.items[who].handle, request->caller.account);
        service->callers.items[request->caller.account].ids++;
    }
    row = &service->ids.items[place];
    account = &service->callers.items[row->account];
    if (!row->live) {
        row->live = true;
        account->ads++;
        service->agents.items[who].ads++;
    }
    account->bytes += bytes;
    account->bytes -= row->bytes;
    row->bytes = (uint32_t)bytes;
}

/* Would the ad be too much for its identity? Then the name of the limit. */
static const char *limit_passed(const struct request *request, uint32_t place, size_t bytes)
{
    const struct service *service = request->service;
    const struct identity *account = &service->callers.items[request->caller.account];
    uint64_t most = config_count(&service->config, CONFIG_ADS_PER_IDENTITY);
    uint64_t before = place == TEXTMAP_NONE ? 0 : service->ids.items[place].bytes;
    bool counted = place != TEXTMAP_NONE && service->ids.items[place].live;

    if ((!counted && account->ads >= most) || (place == TEXTMAP_NONE && account->ids >= 2 * most))
        return "AdsPerIdentity";
    if (account->bytes + bytes - before > config_size(&service->config, CONFIG_AD_BYTES_PER_IDENTITY))
        return "AdBytesPerIdentity";
    return NULL;
}

/* What became of an ad that was sent: the role's answer, or why it was not even asked. */
struct taking {
    enum reason reason;
    struct err err; /* the words, when the role was not asked */
    bool created;
};

/* Do both say the same, but for what the server writes? */
static bool ad_says_same(const struct tree *there, const struct tree *ad)
{
    static const char *const written[] = {"Owner", "Identity", "Received"};
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root), *found;
    uint32_t count = 0;

    for (uint32_t i = 0; i < root->u.run.count; i++) {
        bool ours = false;

        for (size_t n = 0; n < sizeof written / sizeof *written; n++)
            ours = ours || symbol_same(parts[i].label, symbols_find(ad->symbols, written[n], strlen(written[n])));
        if (ours)
            continue;
        found = tree_find(there, tree_root(there), parts[i].label);
        if (!found || !tree_equal(there, found, ad, &parts[i]))
            return false;
        count++;
    }
    return tree_root(there)->u.run.count == count + 3 && there->dialect == ad->dialect;
}

/* The heart of PUT and of the batch. A version of 0 is the next one. False when the store has failed, and that was answered. */
static bool ad_take(struct request *request, uint32_t who, const char *id, struct message *message, struct taking *ret)
{
    struct service *service = request->service;
    struct advertise *advertise = &message->u.advertise;
    uint64_t handle = service->agents.items[who].handle;
    size_t bytes = advertise->ad ? tree_size(advertise->ad) : 0;
    struct entry_view view;
    const char *limit;
    struct peer peer;
    uint32_t place;
    bool lives;

    *ret = (struct taking){.reason = REASON_OK};
    advertise->id = id_number(id, strlen(id));
    if (!id_claim(service, id, handle, &place)) {
        ret->reason = REASON_IDENTITY;
        err_set(&ret->err, "this id is another agent's");
        return true;
    }
    if (place == TEXTMAP_NONE && ids_find_number(&service->ids, handle, advertise->id) != TEXTMAP_NONE) {
        ret->reason = REASON_CONFLICT;
        err_set(&ret->err, "another id of this agent has the same number");
        return true;
    }
    if (!advertise->bare && (limit = limit_passed(request, place, bytes))) {
        ret->reason = REASON_LIMIT;
        err_set(&ret->err, "%s: the limit of this identity is reached", limit);
        return true;
    }
    if (advertise->ad && ad_check(advertise->ad, &ret->err) < 0) {
        ret->reason = REASON_INVALID;
        return true;
    }
    lives = matchmaker_find(service->matchmaker, handle, advertise->id, &view);
    if (!advertise->version)
        advertise->version = lives ? view.version + !advertise->bare
                                   : matchmaker_version(service->matchmaker, handle, advertise->id) + 1;
    else if (lives && advertise->ad && advertise->version == view.version && !ad_says_same(view.ad, advertise->ad)) {
        ret->reason = REASON_CONFLICT;
        err_set(&ret->err, "this version is there with another text");
        return true;
    }
    request_peer(request, who, &peer);
    if (!request_ask(request, &peer, message))
        return false;
    ret->reason = service->reply.u.advertised.reason;
    ret->created = !lives;
    if ((ret->reason == REASON_OK || ret->reason == REASON_CONSUMED) && !advertise->bare)
        id_keep(request, who, id, place, bytes);
    return true;
}

/* ---------------------------------------------------------------------------------------------------------------- PUT */

/* A version of an ad: numbers begin anew with another agent, and in another life of ours. */
static void version_etag(const struct service *service, uint64_t agent_number, uint64_t version, char out[40])
{
    snprintf(out, 40, "\"%" PRIu64 "-%08x\"", version, (unsigned)rng_mix(service->incarnation ^ agent_number));
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
        request_problem(request, 400, "%s: a number is expected", name);
        return false;
    }
    return true;
}

/* What stands beside the ad, in header fields. False when one of them is wrong, and that was answered. */
static bool advertise_fields(struct request *request, struct advertise *advertise)
{
    const char *seen = exchange_field(request->exchange, "Berth-Seen");
    const char *key = exchange_field(request->exchange, "Berth-Key");
    uint64_t heard = 0;

    if (!field_number(request, "Berth-Version", &advertise->version) || !field_number(request, "Berth-Heard", &heard))
        return false;
    advertise->heard = (int64_t)heard;
    if (seen) {
        int end = 0;

        if (sscanf(seen, "%16" SCNx64 ".%" SCNu64 ".%16" SCNx64 "%n", &advertise->seen.incarnation,
                   &advertise->seen.last, &advertise->seen.beyond, &end) != 3 ||
            seen[end]) {
            request_problem(request, 400, "Berth-Seen: INCARNATION.LAST.BEYOND is expected");
            return false;
        }
    }
    if (key && !hex_read(key, strlen(key), advertise->key.bytes, KEY_BYTES)) {
        request_problem(request, 400, "Berth-Key: %d hexadecimal digits are expected", 2 * KEY_BYTES);
        return false;
    }
    return true;
}

/* Is it the ad of one who asks? It says so, or its Type is "Job". False when the parameter is wrong. */
static bool is_request(struct request *request, const struct tree *ad, bool *ret)
{
    const char *kind = request_query(request, "kind"), *type;
    size_t len = 0;

    if (kind && strcmp(kind, "request") != 0 && strcmp(kind, "offer") != 0) {
        request_problem(request, 400, "kind: request or offer is expected");
        return false;
    }
    *ret = kind ? *kind == 'r' : ad && ad_string(ad, "Type", &type, &len) && len == 3 && !strncasecmp(type, "Job", 3);
    return true;
}

static void taking_problem(struct request *request, const struct taking *taking)
{
    if (taking->err.text[0])
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
    const struct advertised *advertised = &request->service->reply.u.advertised;
    char etag[40], links[LINKS_MAX];
    const struct http_field fields[] = {{"ETag", etag}, {"Link", links}};

    if (taking->reason != REASON_OK && taking->reason != REASON_CONSUMED) {
        taking_problem(request, taking);
        return;
    }
    version_etag(request->service, request_handle(request), advertised->version, etag);
    links_print(links, id);
    request_message(request, taking->created ? 201 : 200, &request->service->reply, fields, 2);
}

static bool id_good(struct request *request)
{
    const char *id = request_variable(request, 0);

    if (id_is_good(id, strlen(id)))
        return true;
    request_problem(request, 400, "an id is of up to %d printable characters without blanks", ID_LEN_MAX);
    return false;
}

void api_ad_put(struct request *request)
{
    struct service *service = request->service;
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
    if (!id_good(request) || (who = request_agent(request)) == TEXTMAP_NONE || !advertise_fields(request, advertise))
        return;
    lives = matchmaker_find(service->matchmaker, service->agents.items[who].handle, id_number(id, strlen(id)), &view);
    if (lives)
        version_etag(request->service, view.agent, view.version, etag);
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
        request_problem(request, 400, "an ad is expected; without one, If-Match says which is renewed");
        return;
    }
    if ((advertise->bare || is_request(request, advertise->ad, &advertise->request)) &&
        ad_take(request, who, id, &message, &taking))
        taking_answer(request, id, &taking);
    tree_unref(advertise->ad);
}

void api_ad_delete(struct request *request)
{
    struct service *service = request->service;
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
    place = ids_find(&service->ids, id, strlen(id));
    if (place != TEXTMAP_NONE && service->ids.items[place].agent != service->agents.items[who].handle) {
        request_problem(request, 403, "this id is another agent's");
        return;
    }
    lives = matchmaker_find(service->matchmaker, service->agents.items[who].handle, id_number(id, strlen(id)), &view);
    if (!lives) {
        request_problem(request, 404, "there is no such ad");
        return;
    }
    version_etag(request->service, view.agent, view.version, etag);
    if (!conditions_met(request, etag))
        return;
    message.u.withdraw = (struct withdraw){.id = view.id, .version = version ? version : view.version};
    request_peer(request, who, &peer);
    if (!request_ask(request, &peer, &message))
        return;
    if (service->reply.u.got.reason == REASON_OK) {
        if (place != TEXTMAP_NONE)
            id_unlive(service, place);
        request_done(request);
    } else
        request_problem(request, reason_status(service->reply.u.got.reason), "%s",
                        reason_words(service->reply.u.got.reason));
}

/* ---------------------------------------------------------------------------------------------------------------- GET */

const char *entry_id(const struct service *service, const struct entry_view *view)
{
    uint32_t place = ids_find_number(&service->ids, view->agent, view->id);

    return place == TEXTMAP_NONE ? "" : textmap_text(&service->ids.texts, place);
}

static bool entry_is_own(const struct request *request, const struct entry_view *view)
{
    uint32_t who = agents_find(&request->service->agents, view->agent);

    return who != TEXTMAP_NONE && request->service->agents.items[who].identity == request->caller.identity;
}

/* Has the caller's agent been matched with that ad, and not only with another of the same agent? A letter tells. */
static bool is_matched_with(struct request *request, const struct entry_view *view)
{
    const struct service *service = request->service;
    uint64_t handle = request_handle(request);
    uint32_t who = handle ? agents_find(&service->agents, handle) : TEXTMAP_NONE;

    if (who == TEXTMAP_NONE)
        return false;
    for (const struct letter *letter = service->agents.items[who].first; letter; letter = letter->next)
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

/* The ad of the id in the path, if the caller may see it. False when there is none, and that was answered. */
static bool entry_find_seen(struct request *request, struct entry_view *ret)
{
    const struct service *service = request->service;
    const char *id = request_variable(request, 0);
    uint32_t place = ids_find(&service->ids, id, strlen(id));

    if (place != TEXTMAP_NONE &&
        matchmaker_find(service->matchmaker, service->ids.items[place].agent, service->ids.items[place].id, ret) &&
        request_sees(request, ret))
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
    struct tree *part;

    if (!entry_find_seen(request, &view) || !select_checked(request))
        return;
    version_etag(request->service, view.agent, view.version, etag);
    links_print(links, request_variable(request, 0));
    if (answered_unchanged(request, etag))
        return;
    if (select) {
        part = ad_select(request->service->symbols, view.ad, select);
        request_ad(request, 200, part, fields, 2);
        tree_unref(part);
    } else {
        request_ad(request, 200, view.ad, fields, 2);
    }
}

void api_ad_matches(struct request *request)
{
    struct service *service = request->service;
    struct entry_view view;
    struct listing listing;
    struct buf out;
    uint32_t who;

    if (!entry_find_seen(request, &view))
        return;
    if (!request_any(request) && !entry_is_own(request, &view)) {
        request_problem(request, 403, "this ad is another's");
        return;
    }
    who = agents_find(&service->agents, view.agent);
    buf_init(&out);
    listing_begin(&listing, &out, request->form);
    for (const struct letter *letter = agents_letter_after(&service->agents, who, 0, runner_now()); letter;
         letter = letter->next) {
        struct tree *row;

        if (letter->match.kind != MESSAGE_MATCH || letter->match.u.match_told.id != view.id)
            continue;
        row = match_row(service, &service->agents.items[who], letter, runner_now());
        listing_add(&listing, row);
        tree_unref(row);
    }
    listing_end(&listing);
    request_answer(request, 200, media_type(request->form, &dialect_classic), out.text, out.len, NULL, 0);
    buf_done(&out);
}

/* -------------------------------------------------------------------------------------------------------------- batches */

struct batch {
    struct request *request;
    uint32_t agent;
    struct listing *answers;
};

static void word_print(struct buf *out, const char *name, uint64_t word)
{
    char digits[17];

    for (int i = 15; i >= 0; i--, word >>= 4)
        digits[i] = "0123456789abcdef"[word & 15];
    buf_adds(out, name);
    buf_add(out, digits, 16);
}

/* What nearly all answers are, without the way over a tree: ADVERTISED that says OK. */
static void advertised_print(struct buf *out, const struct advertised *told)
{
    word_print(out, "[ Message = \"advertised\"; Id = \"", told->id);
    word_print(out, "\"; Version = \"", told->version);
    word_print(out, "\"; Reason = \"ok\"; Incarnation = \"", told->incarnation);
    word_print(out, "\"; Settled = \"", told->settled);
    buf_adds(out, "\"; Span = ");
    print_integer(out, told->span);
    buf_adds(out, "; Clock = ");
    print_integer(out, told->clock);
    buf_adds(out, " ]\n");
}

static void batch_answer(struct batch *batch, const struct message *answer)
{
    struct tree *ad;

    if (batch->answers->form == FORM_CLASSAD && answer->kind == MESSAGE_ADVERTISED &&
        answer->u.advertised.reason == REASON_OK) {
        advertised_print(batch->answers->out, &answer->u.advertised);
        batch->answers->count++;
        return;
    }
    ad = wire_message(batch->request->service->symbols, answer);

    listing_add(batch->answers, ad);
    tree_unref(ad);
}

static void batch_refuse(struct batch *batch, const char *id, enum reason reason, const char *words)
{
    message_refuse(batch->request, batch->answers, MESSAGE_ADVERTISE, id, reason, words);
}

static bool batch_withdraw(struct batch *batch, struct message *message, const char *id)
{
    struct request *request = batch->request;
    struct service *service = request->service;
    uint64_t handle = service->agents.items[batch->agent].handle;
    uint32_t place = ids_find(&service->ids, id, strlen(id));
    struct entry_view view;
    struct peer peer;

    if (!message->u.withdraw.version && matchmaker_find(service->matchmaker, handle, message->u.withdraw.id, &view))
        message->u.withdraw.version = view.version;
    request_peer(request, batch->agent, &peer);
    if (!request_ask(request, &peer, message))
        return false;
    if (service->reply.u.got.reason == REASON_OK && place != TEXTMAP_NONE && service->ids.items[place].agent == handle)
        id_unlive(service, place);
    batch_answer(batch, &service->reply);
    return true;
}

/* Is it [Message="advertise"; Id="..."; Bare=true] and no more, as most are? Then it need not be read field by field. */
static bool is_renewal(const struct service *service, const struct tree *ad, const char **ret_id, size_t *ret_len)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);
    const struct expr *found[RENEWAL_WORDS] = {NULL};

    if (root->u.run.count != RENEWAL_WORDS)
        return false;
    for (int i = 0; i < RENEWAL_WORDS; i++)
        for (int n = 0; n < RENEWAL_WORDS; n++)
            if (symbol_same(parts[i].label, service->renewal[n]))
                found[n] = &parts[i];
    if (!found[0] || !found[1] || !found[2] || found[0]->kind != EXPR_STRING || found[1]->kind != EXPR_STRING ||
        found[2]->kind != EXPR_BOOLEAN || !found[2]->small || found[0]->u.run.count != 9 ||
        memcmp(tree_string(ad, found[0]), "advertise", 9) != 0 || !found[1]->u.run.count)
        return false;
    *ret_id = tree_string(ad, found[1]);
    *ret_len = found[1]->u.run.count;
    return true;
}

/* One message of the batch. False when the store has failed, and that was answered. */
static bool batch_one(struct batch *batch, struct tree *ad)
{
    struct request *request = batch->request;
    const char *text = "";
    char id[ID_LEN_MAX + 1];
    struct err err = {0};
    struct message message;
    struct taking taking;
    size_t len = 0;
    bool goes_on = true, renewal = is_renewal(request->service, ad, &text, &len);

    if ((!renewal && !ad_string(ad, "Id", &text, &len)) || !id_is_good(text, len)) {
        batch_refuse(batch, "", REASON_INVALID, "Id: an id is expected");
        return true;
    }
    memcpy(id, text, len);
    id[len] = '\0';
    if (renewal) {
        memset(&message, 0, sizeof message);
        message.kind = MESSAGE_ADVERTISE;
        message.u.advertise.bare = true;
    } else if (wire_read_brief(ad, "id", &message, &err) < 0) {
        batch_refuse(batch, id, REASON_INVALID, err.text);
        return true;
    }
    if (message.kind == MESSAGE_WITHDRAW) {
        message.u.withdraw.id = id_number(id, len);
        goes_on = batch_withdraw(batch, &message, id);
    } else if (message.kind != MESSAGE_ADVERTISE) {
        batch_refuse(batch, id, REASON_INVALID, "Message: advertise or withdraw is expected");
    } else {
        goes_on = ad_take(request, batch->agent, id, &message, &taking);
        if (goes_on && taking.err.text[0])
            batch_refuse(batch, id, taking.reason, taking.err.text);
        else if (goes_on)
            batch_answer(batch, &request->service->reply);
    }
    message_done(&message);
    return goes_on;
}

static bool batch_take(struct request *request, void *user, struct tree *ad, struct listing *answers)
{
    struct batch batch = {.request = request, .agent = *(const uint32_t *)user, .answers = answers};

    return batch_one(&batch, ad);
}

void api_ads_batch(struct request *request)
{
    uint32_t who = request_agent(request);

    if (who != TEXTMAP_NONE)
        request_messages(request, batch_take, &who);
}
