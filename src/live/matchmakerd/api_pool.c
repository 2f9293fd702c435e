/* api_pool.c: the parts of a pool besides ads: matches, claims, users, agents, and the matchmaker itself, each told as an ad. */
#include "live/matchmakerd/api_pool.h"
#include "live/http/standby.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/audited.h"
#include "live/matchmakerd/delivery.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"
#include "live/matchmakerd/scans.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/config/here.h"
#include "live/http/represent.h"
#include "match/gang/ports.h"
#include "pool/matchmaker/accountant.h"
#include "pool/matchmaker/groups.h"
#include "pool/protocol/ticket.h"
#include "pool/protocol/wire.h"
#include "store/store.h"
#include "sys/encoding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------------------------------------------------ matches */

/* The id of an ad, by its number; "" when that is forgotten. */
static const char *id_text(const struct matchmakerd *matchmakerd, uint64_t who, uint64_t id)
{
    uint32_t place = ids_find_number(&matchmakerd->ids, who, id);

    return place == TEXTMAP_NONE ? "" : ids_unique(&matchmakerd->ids, place);
}

static const char *agent_identity(const struct matchmakerd *matchmakerd, uint64_t handle)
{
    uint32_t place = agents_find(&matchmakerd->agents, handle);

    return place == TEXTMAP_NONE ? NULL
                                 : caller_text(&matchmakerd->gate.callers, matchmakerd->agents.items[place].identity);
}

/* The superior's ad: as it is now, or as the member was told of it. NULL: neither is there any more. */
static const struct tree *superior_ad(const struct matchmakerd *matchmakerd, const struct agent_row *row,
                                      const struct match_told *told, const struct edge *edge)
{
    uint32_t place = agents_find(&matchmakerd->agents, edge->agent);
    struct entry_view view;

    if (matchmaker_find(matchmakerd->matchmaker, row->handle, told->id, &view))
        return view.ad;
    for (const struct letter *letter = place == TEXTMAP_NONE ? NULL : matchmakerd->agents.items[place].first; letter;
         letter = letter->next)
        if (letter->match.kind == MESSAGE_MATCH && letter->match.u.match_told.claim == edge->claim)
            return letter->match.u.match_told.superior_ad;
    return NULL;
}

/* Adds the label of the superior's port that the member docks at: only if the superior has ports. */
static void row_add_label(struct maker *maker, const struct matchmakerd *matchmakerd, const struct agent_row *row,
                          const struct match_told *told, const struct edge *edge)
{
    const struct tree *superior = superior_ad(matchmakerd, row, told, edge);
    struct ports ports;
    const char *label;
    size_t len;

    if (!superior || ports_read(&ports, superior, NULL) < 0)
        return;
    if (!ports.implicit && edge->port < ports.count) {
        label = port_label(&ports, (uint32_t)edge->port, &len);
        maker_bytes(maker, "Label", label, len);
    }
    ports_done(&ports);
}

/* A superior's letter names its members: `edge` is one of them. A member's own letter (NULL) names its superior, whose ad's id it is not
 * told. */
struct tree *match_row(struct matchmakerd *matchmakerd, const struct agent_row *row, const struct letter *letter,
                       const struct edge *edge, int64_t now)
{
    const struct match_told *told = &letter->match.u.match_told;
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "Match");
    if (edge) {
        maker_text(&maker, "Request", id_text(matchmakerd, row->handle, told->id));
        maker_text(&maker, "Offer", id_text(matchmakerd, edge->agent, edge->offer));
        maker_text(&maker, "Owner", caller_text(&matchmakerd->gate.callers, row->identity));
        maker_text(&maker, "Provider", agent_identity(matchmakerd, edge->agent));
        row_add_label(&maker, matchmakerd, row, told, edge);
    } else {
        maker_text(&maker, "Offer", id_text(matchmakerd, row->handle, told->id));
        maker_text(&maker, "Owner", agent_identity(matchmakerd, told->superior));
        maker_text(&maker, "Provider", caller_text(&matchmakerd->gate.callers, row->identity));
    }
    maker_word(&maker, "Gang", told->gang);
    maker_word(&maker, "Claim", edge ? edge->claim : told->claim);
    maker_seconds(&maker, "Age", now - letter->at);
    return maker_seal(&maker);
}

/* Adds the matches of one agent, which may have some thousands. */
static bool matches_step(struct scan *scan)
{
    struct collection *collection = (struct collection *)scan;
    struct request *request = scan->request;
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const struct agent_row *row;
    bool goes_on = true;

    if (scan->from >= matchmakerd->agents.texts.places)
        return false;
    row = &matchmakerd->agents.items[scan->from++];
    if (!row->handle || (!request_any(request) && row->identity != request->caller.identity))
        return true;
    for (const struct letter *letter = row->first; letter && goes_on; letter = letter->next) {
        const struct edges *edges = letter->match.kind == MESSAGE_MATCH ? letter->match.u.match_told.edges : NULL;

        for (uint32_t i = 0; edges && i < edges->count && goes_on; i++)
            goes_on =
                collection_add(collection, match_row(matchmakerd, row, letter, &edges->items[i], collection->now));
    }
    return goes_on;
}

void api_matches_list(struct request *request)
{
    collection_tour(request, matches_step);
}

/* ------------------------------------------------------------------------------------------------------------- claims */

static struct tree *claim_row(struct matchmakerd *matchmakerd, const struct claim_view *view, int64_t now)
{
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "Claim");
    maker_word(&maker, "Claim", view->claim);
    maker_word(&maker, "Gang", view->gang);
    maker_text(&maker, "Owner", view->user);
    maker_text(&maker, "Provider", agent_identity(matchmakerd, view->agent));
    maker_text(&maker, "State", view->over ? "over" : view->reported ? "active" : "expected");
    if (view->over)
        maker_text(&maker, "Reason", view->reason == REASON_PREEMPTED ? "preempted" : reason_words(view->reason));
    maker_seconds(&maker, "Age", now - view->since);
    maker_seconds(&maker, "Used", view->used);
    return maker_seal(&maker);
}

/* A claim is seen by its owner, by the agent that reports it, and by administrators. */
static bool claim_is_seen(const struct request *request, const struct claim_view *view)
{
    const char *provider = agent_identity(request_matchmakerd(request), view->agent), *self = request_identity(request);

    return request_any(request) || (view->user && !strcmp(view->user, self)) || (provider && !strcmp(provider, self));
}

static bool claims_step(struct scan *scan)
{
    struct collection *collection = (struct collection *)scan;
    struct matchmakerd *matchmakerd = request_matchmakerd(scan->request);
    struct claim_view view;

    if (!matchmaker_next_claim(matchmakerd->matchmaker, scan->from, &view, &scan->from))
        return false;
    return !claim_is_seen(scan->request, &view) ||
           collection_add(collection, claim_row(matchmakerd, &view, collection->now));
}

void api_claims_list(struct request *request)
{
    collection_tour(request, claims_step);
}

static void report_log(struct request *request, const struct report *report, enum reason answer)
{
    char id[JOB_TRACE_ID_LEN + 1];
    struct job_trace trace;

    job_trace_read(report->trace.bytes, strlen(report->trace.bytes), &trace); /* a stranger's words */
    job_trace_id_write(&trace, id);
    LOG_AUDIT(&request_matchmakerd(request)->log, "claim", log_word("claim", report->claim),
              log_text("subject", request_identity(request)), log_text("owner", report->owner.bytes),
              log_flag("over", report->over), log_text("answer", reason_words(answer)),
              log_text("trace", *id ? id : NULL));
}

static bool report_take(struct request *request, void *user, struct tree *ad, struct listing *answers)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    uint32_t who = *(const uint32_t *)user;
    struct message message;
    struct err err = {0};
    struct peer peer;
    bool goes_on = true;

    if (wire_read_message(ad, &message, &err) < 0) {
        message_refuse(request, answers, MESSAGE_REPORT, NULL, REASON_INVALID, err.text);
        return true;
    }
    request_peer(request, who, &peer);
    if (message.kind != MESSAGE_REPORT) {
        message_refuse(request, answers, MESSAGE_REPORT, NULL, REASON_INVALID, "Message: expected report");
    } else if ((goes_on = request_ask(request, &peer, &message))) {
        struct tree *answer = wire_message(matchmakerd->symbols, &matchmakerd->reply);

        report_log(request, &message.u.report, matchmakerd->reply.u.got.reason);
        listing_add(answers, answer);
        tree_unref(answer);
        observers_claim(matchmakerd, &message.u.report, request_identity(request));
    }
    message_done(&message);
    return goes_on;
}

void api_claims_report(struct request *request)
{
    uint32_t who = request_advertiser(request);

    if (who != TEXTMAP_NONE)
        request_messages(request, report_take, &who);
}

/* -------------------------------------------------------------------------------------------------------------- users */

struct tree *user_row(struct matchmakerd *matchmakerd, const struct user_view *view)
{
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "User");
    maker_text(&maker, "Name", view->name);
    maker_real(&maker, "Usage", view->usage);
    maker_real(&maker, "Factor", view->factor);
    maker_real(&maker, "Priority", view->priority);
    maker_integer(&maker, "Claims", view->claims);
    maker_real(&maker, "Units", view->units);
    return maker_seal(&maker);
}

/* Is this the name of an account: USER, or GROUP~USER? */
static bool account_valid(const char *name)
{
    const char *mark = strchr(name, GROUPS_MARK), *user = mark ? mark + 1 : name;

    return strlen(name) <= TEXT_MAX && subject_valid(user, strlen(user)) &&
           (!mark || subject_valid(name, (size_t)(mark - name)));
}

static bool users_step(struct scan *scan)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(scan->request);
    struct user_view view;

    return matchmaker_next_user(matchmakerd->matchmaker, runner_wall() / SECOND, scan->from, &view, &scan->from) &&
           collection_add((struct collection *)scan, user_row(matchmakerd, &view));
}

void api_users_list(struct request *request)
{
    collection_tour(request, users_step);
}

static struct tree *user_find(struct matchmakerd *matchmakerd, const char *name)
{
    struct user_view view;

    return matchmaker_find_user(matchmakerd->matchmaker, runner_wall() / SECOND, name, &view)
               ? user_row(matchmakerd, &view)
               : NULL;
}

void api_user_get(struct request *request)
{
    struct tree *ad = user_find(request_matchmakerd(request), request_variable(request, 0));

    if (ad)
        request_ad_take(request, 200, ad);
    else
        request_problem(request, 404, "nothing is known of that user");
}

void api_user_put(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *name = request_variable(request, 0);
    char detail[40];
    struct tree *ad;
    double factor;

    if (!account_valid(name)) {
        request_problem(request, 400, "that is not a user name");
        return;
    }
    if (account_len(name, strlen(name)) < strlen(name)) {
        request_problem(request, 400, "what was delegated counts for %.*s, and has no factor of its own",
                        (int)account_len(name, strlen(name)), name);
        return;
    }
    ad = request_body_of(request, "Factor");
    if (!ad)
        return;
    if (!ad_number(ad, "Factor", &factor) || !(factor >= 1e-6) || factor > 1e9) {
        request_problem(request, 400, "Factor: expected a number from 0.000001 to 1e9");
    } else {
        runner_event(matchmakerd->runner, &(struct event){.kind = EVENT_FACTOR, .user = name, .factor = factor});
        LOG_AUDIT(&matchmakerd->log, "user", log_text("subject", request_identity(request)), log_text("user", name));
        snprintf(detail, sizeof detail, "factor %.9g", factor);
        if (request_audit(request, "users.put", name, detail))
            request_answer_durable(request, 200, user_find(matchmakerd, name));
    }
    tree_unref(ad);
}

/* ------------------------------------------------------------------------------------------------------------- agents */

static const char *const contact_words[] = {"none", "checking", "good", "bad"};

static struct tree *agent_ad(struct matchmakerd *matchmakerd, const struct agent_row *row, int64_t now)
{
    char box[2 * BOX_KEY_BYTES + 1];
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "Agent");
    maker_text(&maker, "Identity", caller_text(&matchmakerd->gate.callers, row->identity));
    maker_text(&maker, "Name", row->name);
    maker_word(&maker, "Agent", row->handle);
    maker_seconds(&maker, "Since", now - row->since);
    maker_seconds(&maker, "LastWord", now - row->heard);
    maker_text(&maker, "Host", row->host);
    maker_text(&maker, "Process", row->process);
    maker_text(&maker, "Version", row->version);
    maker_text(&maker, "Role", row->role);
    maker_text(&maker, "Note", row->note);
    maker_text(&maker, "Refused", row->refused);
    maker_text(&maker, "Contact", row->contact);
    maker_text(&maker, "ContactState", contact_words[row->contact_state]);
    maker_text(&maker, "Pin", row->pin);
    if (row->has_box) {
        hex_print(row->box.bytes, BOX_KEY_BYTES, box);
        maker_text(&maker, "BoxKey", box);
    }
    maker_flag(&maker, "Connected", row->watchers);
    if (row->role && !strcmp(row->role, "provider"))
        maker_flag(&maker, "Draining", row->draining);
    maker_integer(&maker, "Ads", row->ads);
    maker_integer(&maker, "Letters", row->letter_count);
    return maker_seal(&maker);
}

static bool agents_step(struct scan *scan)
{
    struct collection *collection = (struct collection *)scan;
    struct matchmakerd *matchmakerd = request_matchmakerd(scan->request);
    const struct agent_row *row;

    if (scan->from >= matchmakerd->agents.texts.places)
        return false;
    row = &matchmakerd->agents.items[scan->from++];
    return !row->handle || collection_add(collection, agent_ad(matchmakerd, row, collection->now));
}

void api_agents_list(struct request *request)
{
    collection_tour(request, agents_step);
}

/* Reads sixteen hexadecimal digits; 0 when the text is not a handle. */
static uint64_t handle_read(const char *text)
{
    unsigned char bytes[8];

    return hex_read(text, strlen(text), bytes, sizeof bytes) ? id_number(text, 16) : 0;
}

void api_agent_get(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *name = request_variable(request, 0);
    uint32_t place = agents_find(&matchmakerd->agents, handle_read(name));

    if (place == TEXTMAP_NONE && agent_name_is_good(name, strlen(name))) /* one of the caller's own, by its name */
        place = agents_find(&matchmakerd->agents, agent_handle(request_identity(request), name));
    if (place == TEXTMAP_NONE)
        request_problem(request, 404, "no such agent is known");
    else
        request_ad_take(request, 200, agent_ad(matchmakerd, &matchmakerd->agents.items[place], runner_now()));
}

/* Reads a text of up to AGENT_TEXT_MAX bytes without control characters; false when it is not one. A missing text is "". */
static bool agent_text(const struct tree *ad, const char *name, char out[AGENT_TEXT_MAX + 1])
{
    const char *text;
    size_t len;

    out[0] = '\0';
    if (!ad_find(ad, name))
        return true;
    if (!ad_string(ad, name, &text, &len) || len > AGENT_TEXT_MAX)
        return false;
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    memcpy(out, text, len);
    out[len] = '\0';
    return true;
}

/* The texts that an agent may say of itself: the attribute, and where it is kept. */
static const struct {
    const char *name;
    size_t at;
} agent_texts[] = {
    {"Contact", offsetof(struct agent_row, contact)}, {"Pin", offsetof(struct agent_row, pin)},
    {"Host", offsetof(struct agent_row, host)},       {"Process", offsetof(struct agent_row, process)},
    {"Version", offsetof(struct agent_row, version)}, {"Role", offsetof(struct agent_row, role)},
    {"Note", offsetof(struct agent_row, note)},
};

/* What this matchmaker understands and earlier ones refuse: `usage`, the totals in reports. Agents tell it nothing else that is new. */
#define MATCHMAKER_KNOWS "usage"
#define CHECK_WAIT_MAX 25                                        /* how many seconds a check may take */
#define NOTE_TEXT (sizeof agent_texts / sizeof *agent_texts - 1) /* the last of those texts */

/* What an agent says of itself. */
struct said {
    char texts[sizeof agent_texts / sizeof *agent_texts][AGENT_TEXT_MAX + 1];
    struct key challenge;
    struct box_public box;
    bool has_box, draining;
};

static int said_read(const struct tree *ad, struct said *ret, struct err *err)
{
    const char *contact = ret->texts[0], *key;
    struct url url;
    size_t len;

    *ret = (struct said){.has_box = false};
    for (size_t i = 0; i < sizeof agent_texts / sizeof *agent_texts; i++)
        if (!agent_text(ad, agent_texts[i].name, ret->texts[i]))
            return err_set(err, "%s: expected a text of up to %d bytes", agent_texts[i].name, AGENT_TEXT_MAX);
    if (*contact && url_read(contact, strlen(contact), &url, err) < 0)
        return err_context(err, "Contact");
    if (strchr(contact, '?'))
        return err_set(err, "Contact: expected an address without a query");
    if (*contact && (!ad_string(ad, "Challenge", &key, &len) || !hex_read(key, len, ret->challenge.bytes, KEY_BYTES)))
        return err_set(err, "Challenge: expected %d hexadecimal digits with a Contact", 2 * KEY_BYTES);
    if (ad_find(ad, "Draining") && !ad_flag(ad, "Draining", &ret->draining))
        return err_set(err, "Draining: expected true or false");
    ret->has_box = ad_find(ad, "BoxKey");
    if (ret->has_box && (!ad_string(ad, "BoxKey", &key, &len) || !hex_read(key, len, ret->box.bytes, BOX_KEY_BYTES)))
        return err_set(err, "BoxKey: expected %d hexadecimal digits", 2 * BOX_KEY_BYTES);
    return 0;
}

/* Logs an agent's note as well, since an agent that has left cannot be asked any more. */
static void note_log(struct matchmakerd *matchmakerd, const struct agent_row *row, const char *note)
{
    if (*note && (!row->note || strcmp(row->note, note) != 0))
        LOG(&matchmakerd->log, LEVEL_INFO, "agent.note",
            log_text("identity", caller_text(&matchmakerd->gate.callers, row->identity)), log_text("name", row->name),
            log_text("note", note));
}

/* Has the agent proved itself at that address already? The rest of what it says may change without another proof. */
static bool contact_stays(const struct agent_row *row, const struct said *said)
{
    return row->contact_state == CONTACT_GOOD && !strcmp(row->contact, said->texts[0]) &&
           !strcmp(row->pin ? row->pin : "", said->texts[1]) && key_equal(&row->challenge, &said->challenge);
}

/* Does the agent call from the address that it gives? One that comes by our Unix socket is on this machine, and may give any of its
 * addresses but loopback. Such an address is the agent's own to give, also when it is private; any other of that sort would have us knock
 * at the doors of others. */
static bool contact_is_seen(const struct request *request, const char *contact)
{
    const struct sockaddr *from = exchange_from(request->exchange);
    struct address address = {.port = 1};
    struct sockaddr_storage socket;
    socklen_t len;
    struct url url;

    if (!*contact || url_read(contact, strlen(contact), &url, NULL) < 0 || !url.secure || !url.is_number)
        return false;
    snprintf(address.host, sizeof address.host, "%s", url.host);
    if (!address_socket(&address, &socket, &len) || !address_is_private((const struct sockaddr *)&socket))
        return false;
    return from->sa_family == AF_UNIX ? here_is((const struct sockaddr *)&socket)
                                      : address_same_host(from, (const struct sockaddr *)&socket);
}

static void said_take(struct agent_row *row, const struct said *said)
{
    for (size_t i = 0; i < sizeof agent_texts / sizeof *agent_texts; i++)
        agent_set_text((char **)((char *)row + agent_texts[i].at), *said->texts[i] ? said->texts[i] : NULL);
    row->introduced = true;
    row->challenge = said->challenge;
    row->has_box = said->has_box;
    row->draining = said->draining;
    row->box = said->box;
}

void agent_answer(struct request *request, uint32_t place)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const struct agent_row *row = place == TEXTMAP_NONE ? NULL : &matchmakerd->agents.items[place];
    struct maker maker;
    struct tree *ad;

    if (!row) {
        request_problem(request, 404, "no such agent is known");
        return;
    }
    ad = agent_ad(matchmakerd, row, runner_now());
    maker_init(&maker, matchmakerd->symbols);
    maker_parts(&maker, ad, "Knows");
    maker_text(&maker, "Knows", MATCHMAKER_KNOWS);
    maker_flag(&maker, "KnowsTrace", true); /* apart: who reads Knows takes that one word and no other */
    request_ad_take(request, row->contact_state == CONTACT_CHECKING ? 202 : 200, maker_seal(&maker));
    tree_unref(ad);
}

/* Does the agent know a feature that earlier versions do not? It says so in a header field, which other matchmakers ignore. Each feature after the first
 * has a field of its own: who reads the first takes one word and no other. */
static bool agent_knows(const struct request *request, const char *field, const char *word)
{
    const char *known = exchange_field(request->exchange, field);

    return known && !strcmp(known, word);
}

void api_agent_put(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    int64_t most = matchmakerd->spans.deadline;
    const char *name = request_variable(request, 0);
    struct err err = {0};
    struct said said;
    struct tree *ad;
    uint32_t place = TEXTMAP_NONE;
    uint64_t wait;

    if (!request_number(request, "wait", 0, CHECK_WAIT_MAX, 0, &wait))
        return;
    if (!agent_name_is_good(name, strlen(name))) {
        request_problem(request, 400, "expected a name of up to %d letters, digits, '.', '_' and '-'", AGENT_NAME_MAX);
        return;
    }
    ad = request_body_of(request, "Contact Pin Challenge BoxKey Host Process Version Role Draining Note");
    if (!ad)
        return;
    if (said_read(ad, &said, &err) < 0) {
        request_problem(request, 400, "%s", err.text);
    } else {
        place = request_agent_named(request, name);
    }
    if (place != TEXTMAP_NONE) {
        bool stays = contact_stays(&matchmakerd->agents.items[place], &said);

        if (!stays)
            matchmakerd->agents.items[place].contact_seen = contact_is_seen(request, said.texts[0]);
        note_log(matchmakerd, &matchmakerd->agents.items[place], said.texts[NOTE_TEXT]);
        said_take(&matchmakerd->agents.items[place], &said);
        matchmakerd->agents.items[place].serves = request_serves(request);
        matchmakerd->agents.items[place].receipts = agent_knows(request, "Berth-Knows", "receipts");
        matchmakerd->agents.items[place].plans = agent_knows(request, "Berth-Knows-Plans", "true");
        if (wait && (int64_t)wait * SECOND < most)
            most = (int64_t)wait * SECOND;
        if (!stays && !contact_check(matchmakerd, place, wait ? request : NULL, most))
            request_problem(request, 429, "up to %d contact addresses of an identity are checked at a time",
                            CHECKS_MAX);
        else if (!request->work)
            agent_answer(request, place);
    }
    tree_unref(ad);
}

/* The agent's word is all that there is: the file lies on its machine. */
static void policy_audit(struct request *request, const struct tree *ad)
{
    const char *name = request_variable(request, 0);
    char by[AUDIT_TEXT_MAX + 1], what[AUDIT_TEXT_MAX + 1];
    struct maker maker;
    struct buf detail;
    bool done;

    if (!body_text(request, ad, "By", "", by, sizeof by) || !body_text(request, ad, "What", NULL, what, sizeof what) ||
        request_agent_named(request, name) == TEXTMAP_NONE)
        return;
    buf_init(&detail);
    buf_addf(&detail, "%s%s%s", by, *by ? ": " : "", what);
    done = request_audit(request, "agents.policy", name, buf_string(&detail));
    buf_done(&detail);
    if (!done)
        return;
    maker_init(&maker, request_matchmakerd(request)->symbols);
    maker_text(&maker, "Name", name);
    request_answer_durable(request, 201, maker_seal(&maker));
}

void api_agent_policy(struct request *request)
{
    const char *name = request_variable(request, 0);
    struct tree *ad;

    if (!agent_name_is_good(name, strlen(name))) {
        request_problem(request, 400, "expected a name of up to %d letters, digits, '.', '_' and '-'", AGENT_NAME_MAX);
        return;
    }
    ad = request_body_of(request, "By What");
    if (ad)
        policy_audit(request, ad);
    tree_unref(ad);
}

/* ------------------------------------------------------------------------------------------------------------- status */

void api_status(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    struct matchmaker_counts counts = matchmaker_counts(matchmakerd->matchmaker);
    int64_t knows, now = runner_now();
    struct store_replica replicas[STORE_REPLICAS_MAX];
    struct tree *rows[STORE_REPLICAS_MAX];
    struct maker maker;
    uint32_t count;

    matchmaker_began(matchmakerd->matchmaker, &knows);
    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Type", "Matchmaker");
    maker_text(&maker, "Name", config_text(&matchmakerd->config, CONFIG_NAME));
    maker_text(&maker, "Version", matchmakerd->settings->version);
    maker_text(&maker, "Pool", keyring_pool(matchmakerd->keys));
    maker_text(&maker, "Url", matchmakerd->url);
    maker_word(&maker, "Incarnation", matchmakerd->incarnation);
    maker_seconds(&maker, "Up", runner_wall() - matchmakerd->started);
    maker_integer(&maker, "Clock", runner_wall() / SECOND);
    maker_integer(&maker, "Process", getpid());
    maker_integer(&maker, "Ads", (int64_t)counts.ads);
    maker_integer(&maker, "Agents", matchmakerd->agents.texts.count);
    maker_integer(&maker, "Machines", matchmaker_machines(matchmakerd->matchmaker));
    if (knows > now) /* some may not have been heard of yet */
        maker_seconds(&maker, "Learns", knows - now);
    maker_integer(&maker, "Matches", (int64_t)counts.matches);
    maker_integer(&maker, "Claims", (int64_t)counts.claims);
    maker_integer(&maker, "Cycles", (int64_t)counts.cycles);
    maker_integer(&maker, "NotificationsWaiting", (int64_t)counts.waiting);
    maker_integer(&maker, "NotificationsGivenUp", (int64_t)counts.given_up);
    maker_integer(&maker, "Streams", matchmakerd->streams);
    count = replica_rows(matchmakerd->symbols, replicas, matchmakerd_replicas(matchmakerd, replicas),
                         runner_wall() / SECOND, rows);
    if (count)
        maker_list(&maker, "Matchmakers", rows, count);
    while (count)
        tree_unref(rows[--count]);
    request_ad_take(request, 200, maker_seal(&maker));
}
