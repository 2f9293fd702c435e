/* api_events.c: letters for agents that cannot be called, as a stream or by polling; and messages relayed between two agents.
 *
 *     id: 5f0c...e1.17             incarnation and number: a reader that comes back says the last it has seen
 *     data: [Event="5f0c...e1.17"; Kind="match"; Body=[Message="match"; ...]]
 *
 *     data: [Event="5f0c...e1.18"; Kind="command"; Number=7; Key="..."; Left=86400; By="alice"; What=[Command="drain"]]
 *
 *     sender  POST /v1/relay/AGENT -> letter (Kind="message", Relay="...") -> recipient POST /v1/answers/RELAY -> the sender's answer */
#include "live/matchmakerd/api_events.h"
#include "live/matchmakerd/api.h"
#include "live/matchmakerd/delivery.h"
#include "live/matchmakerd/matchmakerd_state.h"
#include "live/matchmakerd/request_agent.h"
#include "live/matchmakerd/request_role.h"

#include "lang/ad/make.h"
#include "lang/base/mem.h"
#include "live/http/represent.h"
#include "pool/protocol/wire.h"
#include "sys/encoding.h"
#include "sys/secrets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WAIT_MAX 25       /* how many seconds a request may wait for a letter */
#define RELAYS_MAX 100000 /* messages that wait for an answer */
#define POLL_LETTERS_MAX 200
#define POLL_BYTES_MAX (1u << 20)   /* beyond that the rest is asked for again */
#define LETTER_BYTES_MAX (8u << 20) /* of one letter, as it is sent */
#define RELAY_SHARE "messages of this account have their share of what may wait for that agent: others come first"

/* ------------------------------------------------------------------------------------------------------------ letters */

static void event_id(const struct matchmakerd *matchmakerd, uint64_t number, char out[48])
{
    snprintf(out, 48, "%016" PRIx64 ".%" PRIu64, matchmakerd->incarnation, number);
}

/* The kind of a letter, as its reader is told. */
static const char *letter_kind(const struct letter *letter)
{
    return letter->match.kind == MESSAGE_MATCH ? "match" : letter->command ? "command" : "message";
}

static struct tree *letter_ad(struct matchmakerd *matchmakerd, const struct agent_row *to, const struct letter *letter)
{
    struct tree *body = NULL;
    struct maker maker;
    uint32_t from;
    char id[48];

    event_id(matchmakerd, letter->number, id);
    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Event", id);
    maker_text(&maker, "Kind", letter_kind(letter));
    if (letter->match.kind == MESSAGE_MATCH) {
        body = match_letter(matchmakerd, to, &letter->match, letter->at);
        maker_ad(&maker, "Body", body);
    } else if (letter->command) {
        command_letter(matchmakerd, letter->relay, &maker);
    } else {
        from = agents_find(&matchmakerd->agents, letter->from);
        maker_word(&maker, "Relay", letter->relay);
        maker_word(&maker, "From", letter->from);
        if (from != TEXTMAP_NONE) {
            maker_text(&maker, "Identity",
                       caller_text(&matchmakerd->gate.callers, matchmakerd->agents.items[from].identity));
            maker_text(&maker, "Name", matchmakerd->agents.items[from].name);
        }
        maker_bytes(&maker, "Text", letter->text, letter->len);
    }
    tree_unref(body);
    return maker_seal(&maker);
}

static struct tree *reset_ad(struct matchmakerd *matchmakerd)
{
    struct maker maker;
    char id[48];

    event_id(matchmakerd, 0, id);
    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Event", id);
    maker_text(&maker, "Kind", "reset");
    return maker_seal(&maker);
}

/* ------------------------------------------------------------------------------------------------------------ waiting */

struct waiting {
    struct watcher watcher;
    struct waiting *next;
    struct request *request;
    uint64_t after;
    int64_t ends;
    bool stream, reset;
    bool behind; /* letters wait for room */
};

static void event_print(struct buf *out, enum form form, const struct tree *ad)
{
    if (form == FORM_JSON)
        represent_ad(out, form, ad);
    else
        wire_print(out, ad);
}

/* False when the stream has been cut: its reader is too slow. */
static bool stream_tell(struct waiting *waiting, const char *kind, uint64_t number, struct tree *ad)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(waiting->request);
    struct buf *out = &matchmakerd->out;
    char id[48];

    event_id(matchmakerd, number, id);
    buf_reset(out);
    buf_addf(out, "id: %s\nevent: %s\ndata: ", id, kind);
    event_print(out, waiting->request->form, ad);
    buf_adds(out, "\n\n");
    tree_unref(ad);
    return exchange_stream_write(waiting->request->exchange, out->text, out->len);
}

static void stream_go_on(struct waiting *waiting)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(waiting->request);
    const struct letter *letter;

    if (waiting->reset && !stream_tell(waiting, "reset", 0, reset_ad(matchmakerd)))
        return;
    waiting->reset = false;
    waiting->behind = false;
    for (letter = agents_letter_after(&matchmakerd->agents, waiting->watcher.agent, waiting->after, runner_now());
         letter; letter = letter->next) {
        const char *kind = letter_kind(letter);

        /* The queue of unread letters must not grow: the rest follows when there is room again. */
        if (exchange_stream_waiting(waiting->request->exchange) >
            config_size(&matchmakerd->config, CONFIG_STREAM_QUEUE) / 2) {
            waiting->behind = true;
            return;
        }

        waiting->after = letter->number;
        if (!stream_tell(waiting, kind, letter->number,
                         letter_ad(matchmakerd, &matchmakerd->agents.items[waiting->watcher.agent], letter)))
            return;
    }
}

static void waiting_free(struct request *request)
{
    struct waiting *waiting = request->work, **link;
    struct matchmakerd *matchmakerd = request_matchmakerd(request);

    agents_unwatch(&matchmakerd->agents, &waiting->watcher);
    for (link = &matchmakerd->waitings; *link && *link != waiting; link = &(*link)->next)
        ;
    if (*link)
        *link = waiting->next;
    if (waiting->stream) {
        if (exchange_stream_waiting(request->exchange))
            metrics_count(matchmakerd->metrics, METRIC_STREAMS_CUT); /* the reader left, or was too slow */
        matchmakerd->streams--;
        matchmakerd->gate.callers.items[request->caller.account].streams--;
    }
    request->work = NULL;
    request->forget = NULL;
    free(waiting);
}

/* Adds a letter's ad, which it takes: one line for each letter, for those who read lines. */
static void poll_add(struct listing *listing, struct tree *ad)
{
    if (listing->form == FORM_JSON) {
        listing_add(listing, ad);
    } else {
        wire_print(listing->out, ad);
        buf_addc(listing->out, '\n');
        listing->count++;
    }
    tree_unref(ad);
}

/* Answers with all letters that are there; the waiting is over. */
static void poll_answer(struct waiting *waiting)
{
    struct request *request = waiting->request;
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const struct letter *letter;
    struct listing listing;
    struct buf out;

    buf_init(&out);
    listing_begin(&listing, &out, request->form);
    if (waiting->reset)
        poll_add(&listing, reset_ad(matchmakerd));
    for (letter = agents_letter_after(&matchmakerd->agents, waiting->watcher.agent, waiting->after, runner_now());
         letter && listing.count < POLL_LETTERS_MAX && out.len < POLL_BYTES_MAX; letter = letter->next) {
        poll_add(&listing, letter_ad(matchmakerd, &matchmakerd->agents.items[waiting->watcher.agent], letter));
    }
    listing_end(&listing);
    waiting_free(request);
    request_answer(request, 200, media_type(request->form, &dialect_classic), out.text, out.len, NULL, 0);
    buf_done(&out);
}

static void waiting_wake(struct watcher *watcher)
{
    struct waiting *waiting = watcher->user;

    if (waiting->stream)
        stream_go_on(waiting);
    else
        poll_answer(waiting);
}

void waitings_sweep(struct matchmakerd *matchmakerd, int64_t now, int64_t wall_seconds)
{
    struct waiting *next;

    for (struct waiting *waiting = matchmakerd->waitings; waiting; waiting = next) {
        const char *why;

        next = waiting->next;
        if (!waiting->stream && waiting->ends <= now)
            poll_answer(waiting);
        else if (waiting->stream &&
                 ((waiting->request->caller.expires && waiting->request->caller.expires <= wall_seconds) ||
                  gate_shuts_out(&matchmakerd->gate, &waiting->request->caller, &why) ||
                  request_is_superseded(waiting->request, waiting->watcher.agent)))
            exchange_stream_end(waiting->request->exchange);
        else if (waiting->behind)
            stream_go_on(waiting);
    }
}

/* Tells all streams, without an event id: this is not a letter, and a reader that comes back asks for the whole
 * list. Takes the ad. */
static void waitings_tell(struct matchmakerd *matchmakerd, const char *kind, struct tree *ad)
{
    struct waiting *next;

    for (struct waiting *waiting = matchmakerd->waitings; waiting; waiting = next) {
        struct buf *out = &matchmakerd->out;

        next = waiting->next;
        if (!waiting->stream)
            continue;
        buf_reset(out);
        buf_addf(out, "event: %s\ndata: ", kind);
        event_print(out, waiting->request->form, ad);
        buf_adds(out, "\n\n");
        exchange_stream_write(waiting->request->exchange, out->text, out->len);
    }
    tree_unref(ad);
}

void waitings_revoked(struct matchmakerd *matchmakerd, const char *id)
{
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Kind", "revoked");
    maker_text(&maker, "Id", id);
    waitings_tell(matchmakerd, "revoked", maker_seal(&maker));
}

void waitings_disabled(struct matchmakerd *matchmakerd, const char *name, const struct disabled_entry *entry)
{
    struct maker maker;

    maker_init(&maker, matchmakerd->symbols);
    maker_text(&maker, "Kind", "disabled");
    maker_text(&maker, "Name", name);
    maker_flag(&maker, "Disabled", entry);
    maker_flag(&maker, "Now", entry && entry->now);
    waitings_tell(matchmakerd, "disabled", maker_seal(&maker));
}

void waitings_end(struct matchmakerd *matchmakerd)
{
    struct waiting *next;

    for (struct waiting *waiting = matchmakerd->waitings; waiting; waiting = next) {
        next = waiting->next;
        if (!waiting->stream)
            poll_answer(waiting);
    }
}

/* Reads the last event that was seen: INCARNATION.NUMBER. An event of another life, or one that never was, begins anew.
 * False when it is malformed. */
static bool after_read(const struct matchmakerd *matchmakerd, const char *text, uint64_t most, uint64_t *ret_number,
                       bool *ret_reset)
{
    uint64_t incarnation, number;
    int end = 0;

    *ret_number = 0;
    *ret_reset = false;
    if (!text || !*text)
        return true;
    if (sscanf(text, "%16" SCNx64 ".%" SCNu64 "%n", &incarnation, &number, &end) != 2 || text[end])
        return false;
    if (incarnation == matchmakerd->incarnation && number <= most)
        *ret_number = number;
    else
        *ret_reset = true;
    return true;
}

void api_events(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *accept = exchange_field(request->exchange, "Accept");
    const char *last = exchange_field(request->exchange, "Last-Event-ID");
    bool stream = accept && media_wants(accept, TYPE_EVENTS), reset;
    struct identity *account = &matchmakerd->gate.callers.items[request->caller.account];
    struct http_field fields[CACHE_FIELDS];
    struct waiting *waiting;
    uint64_t after, wait;
    uint32_t who;

    if (!request_number(request, "wait", 0, WAIT_MAX, 0, &wait) || (who = request_agent(request)) == TEXTMAP_NONE)
        return;
    if (!after_read(matchmakerd, last ? last : request_query(request, "after"), matchmakerd->agents.items[who].numbered,
                    &after, &reset)) {
        request_problem(request, 400, "after: expected the id of an event: INCARNATION.NUMBER");
        return;
    }
    if (stream && account->streams >= config_count(&matchmakerd->config, CONFIG_STREAMS_PER_IDENTITY)) {
        request_problem(request, 429, "StreamsPerIdentity: too many streams are open");
        return;
    }
    waiting = mem_alloc(sizeof *waiting);
    *waiting = (struct waiting){.watcher = {.agent = who, .wake = waiting_wake, .user = waiting},
                                .next = matchmakerd->waitings,
                                .request = request,
                                .after = after,
                                .ends = runner_now() + (int64_t)wait * SECOND,
                                .stream = stream,
                                .reset = reset};
    commands_tell(matchmakerd, who); /* commands that waited for the agent, before anything wakes this request */
    matchmakerd->waitings = waiting;
    request->work = waiting;
    request->forget = waiting_free;
    agents_watch(&matchmakerd->agents, &waiting->watcher);
    if (stream) {
        matchmakerd->streams++;
        account->streams++;
        request->status = 200;
        exchange_stream(request->exchange, TYPE_EVENTS, fields, request_cache_fields(request, false, fields),
                        config_size(&matchmakerd->config, CONFIG_STREAM_QUEUE) + LETTER_BYTES_MAX);
        exchange_stream_write(request->exchange, ":\n\n", 3); /* so that the head is sent at once */
        stream_go_on(waiting);
    } else if (reset || !wait || agents_letter_after(&matchmakerd->agents, who, after, runner_now())) {
        poll_answer(waiting);
    }
}

/* -------------------------------------------------------------------------------------------------------------- relay */

struct relay {
    struct relay *next;
    struct matchmakerd *matchmakerd;
    struct request *request; /* the sender's */
    uint64_t number, to;
    int64_t ends;
};

static void relay_free(struct relay *relay)
{
    struct relay **link = &relay->matchmakerd->relays;
    uint32_t place;

    while (*link != relay)
        link = &(*link)->next;
    *link = relay->next;
    relay->matchmakerd->relay_count--;
    place = agents_find(&relay->matchmakerd->agents, relay->to);
    if (place != TEXTMAP_NONE)
        agents_drop_text(&relay->matchmakerd->agents, place, relay->number);
    relay->request->work = NULL;
    relay->request->forget = NULL;
    free(relay);
}

static void relay_forget(struct request *request)
{
    relay_free(request->work);
}

void relays_sweep(struct matchmakerd *matchmakerd, int64_t now)
{
    struct relay *next;

    for (struct relay *relay = matchmakerd->relays; relay; relay = next) {
        struct request *request = relay->request;

        next = relay->next;
        if (relay->ends > now)
            continue;
        relay_free(relay);
        request_problem(request, 504, "no answer came in time");
    }
}

/* Plain text only, so that a letter is at most twice as long as the text in it. */
static bool is_plain_text(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)text[i] < ' ' && !strchr("\t\n\r", text[i])) || text[i] == 0x7f)
            return false;
    return utf8_check(text, len, NULL) == 0;
}

void relay_displaced(void *user, uint64_t number)
{
    struct matchmakerd *matchmakerd = user;
    struct relay *relay = matchmakerd->relays;
    struct request *request;

    while (relay && relay->number != number)
        relay = relay->next;
    if (!relay)
        return;
    request = relay->request;
    relay_free(relay);
    request_problem(request, 429, RELAY_SHARE);
}

void api_relay(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *to = request_variable(request, 0), *body;
    int64_t now = runner_now(), ends = now + matchmakerd->spans.deadline;
    uint32_t from, place;
    struct relay *relay;
    size_t len;

    from = request_agent(request);
    if (from == TEXTMAP_NONE)
        return;
    place = strlen(to) == 16 ? agents_find(&matchmakerd->agents, id_number(to, 16)) : TEXTMAP_NONE;
    if (place == TEXTMAP_NONE) {
        request_problem(request, 404, "no such agent is known");
        return;
    }
    body = exchange_body(request->exchange, &len);
    if (!is_plain_text(body, len)) {
        request_problem(request, 400, "a message that is carried is text: UTF-8 without control characters");
        return;
    }
    if (matchmakerd->relay_count == RELAYS_MAX) {
        request_problem(request, 503, "too many messages wait for an answer");
        return;
    }
    relay = mem_alloc(sizeof *relay);
    *relay = (struct relay){.next = matchmakerd->relays,
                            .matchmakerd = matchmakerd,
                            .request = request,
                            .number = secrets_word(&secrets_live),
                            .to = matchmakerd->agents.items[place].handle,
                            .ends = ends};
    matchmakerd->relays = relay;
    matchmakerd->relay_count++;
    request->work = relay;
    request->forget = relay_forget;
    if (!agents_write_text(&matchmakerd->agents, place, relay->number, from, body, len, now, ends)) {
        relay_free(relay);
        request_problem(request, 429, RELAY_SHARE);
        return;
    }
    metrics_count(matchmakerd->metrics, METRIC_RELAYED);
}

void api_relay_answer(struct request *request)
{
    struct matchmakerd *matchmakerd = request_matchmakerd(request);
    const char *number = request_variable(request, 0), *body;
    uint32_t who = request_agent(request);
    struct request *sender;
    struct relay *relay;
    size_t len;

    if (who == TEXTMAP_NONE)
        return;
    for (relay = matchmakerd->relays; relay; relay = relay->next)
        if (strlen(number) == 16 && relay->number == id_number(number, 16) &&
            relay->to == matchmakerd->agents.items[who].handle)
            break;
    if (!relay) {
        request_problem(request, 404, "nobody waits for that answer");
        return;
    }
    sender = relay->request;
    relay_free(relay);
    body = exchange_body(request->exchange, &len);
    request_answer(sender, 200, "application/octet-stream", body, len, NULL, 0);
    request_done(request);
}
