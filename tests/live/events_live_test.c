/* events_live_test.c: how agents hear of each other through a real matchmaker: matches by stream, by asking and by a call; messages that
 * are carried; and what none of them may ever show. */
#include "common/tap.h"
#include "live.h"

#include "lang/ad/get.h"
#include "live/http/server.h"
#include "live/matchmakerd/agents.h"
#include "pool/protocol/ticket.h"
#include "sys/encoding.h"
#include "sys/secrets.h"

#include <sys/resource.h>
#include <uv.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define AGENT_SCOPES (SCOPE_AD_READ | SCOPE_AD_WRITE | SCOPE_MATCH | SCOPE_CLAIM)
#define SOON 5000 /* milliseconds within which what must happen has happened */
#define CROWD 2000

/* Secrets that are handed over, and must not be seen again. */
#define OFFER_KEY "c0ffeec0ffeec0ffee11223344556677c0ffeec0ffeec0ffee11223344556677"
#define CHALLENGE_KEY "decade00decade00decade8899aabbccdecade00decade00decade8899aabbcc"
#define BOX_KEY "0b0e0b0e0b0e0b0e0b0e0b0e0b0e0b0e0b0e0b0e0b0e0b0e0b0e0b0e0b0e0b0e"

struct world {
    struct live live;
    struct talk alice, bob, carol, admin; /* provider, customer, somebody, administrator */
    char *alice_token, *bob_token, *carol_token, *admin_token;
    struct buf letters; /* all that bob's agent was sent as its letters */
    struct buf rest;    /* all that anybody was sent besides */
    int matches;        /* made so far */
};

static void world_start(struct world *world, const char *const *settings, size_t count)
{
    *world = (struct world){.matches = 0};
    live_start(&world->live, settings, count);
    buf_init(&world->letters);
    buf_init(&world->rest);
    talk_init(&world->alice, &world->live);
    talk_init(&world->bob, &world->live);
    talk_init(&world->carol, &world->live);
    talk_init(&world->admin, &world->live);
    world->alice.heard = world->bob.heard = world->carol.heard = world->admin.heard = &world->rest;
    world->alice.agent = "prov";
    world->bob.agent = "cust";
    world->alice_token = live_token(&world->live, "alice", AGENT_SCOPES);
    world->bob_token = live_token(&world->live, "bob", AGENT_SCOPES);
    world->carol_token = live_token(&world->live, "carol", AGENT_SCOPES);
    world->admin_token = live_token(&world->live, "root", SCOPE_ALL);
}

static void world_stop(struct world *world)
{
    talk_done(&world->alice);
    talk_done(&world->bob);
    talk_done(&world->carol);
    talk_done(&world->admin);
    tap_ok(live_stop(&world->live) == 0, "told to end, it ends well");
    live_done(&world->live);
    buf_done(&world->letters);
    buf_done(&world->rest);
    free(world->alice_token);
    free(world->bob_token);
    free(world->carol_token);
    free(world->admin_token);
}

__attribute__((format(printf, 3, 4))) static bool expect(struct talk *talk, unsigned status, const char *format, ...)
{
    char text[512];
    va_list args;
    bool good;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    good = tap_ok(talk->reply.status == status, "%s (%u)", text, status);
    if (!good)
        tap_diag("%u %.500s", talk->reply.status, reply_show(&talk->reply));
    return good;
}

/* ------------------------------------------------------------------------------------------------------------- streams */

/* A stream is a talk whose answer does not end: what has come so far is reply.body. Its status. */
static unsigned stream_open(struct talk *stream, const struct live *live, const char *token, const char *name,
                            const char *fields, struct buf *heard)
{
    struct buf text, all;

    buf_init(&text);
    buf_init(&all);
    talk_init(stream, live);
    stream->agent = name;
    stream->heard = heard;
    buf_addf(&all, "Accept: text/event-stream\r\n%s", fields ? fields : "");
    request_text(&text, stream, token, "GET", "/v1/events", buf_string(&all), NULL, 0);
    if (talk_connect(stream) && talk_send(stream, text.text, text.len))
        talk_head(stream, live_clock() + LIVE_PATIENCE);
    buf_done(&text);
    buf_done(&all);
    return stream->reply.status;
}

/* Reads until that text has come so many times; false when it does not in time, or the stream ends before. */
static bool stream_wait(struct talk *stream, const char *text, size_t times, int patience)
{
    int64_t ends = live_clock() + patience;

    while (text_count(buf_string(&stream->reply.body), text) < times)
        if (talk_chunk(stream, ends) <= 0)
            return false;
    return true;
}

/* Reads for a while whatever comes. */
static void stream_listen(struct talk *stream, int milliseconds)
{
    int64_t ends = live_clock() + milliseconds;

    while (talk_chunk(stream, ends) > 0)
        ;
}

/* Does it end by itself? */
static bool stream_ends(struct talk *stream, int patience)
{
    int64_t ends = live_clock() + patience;
    int got;

    while ((got = talk_chunk(stream, ends)) > 0)
        ;
    return got == 0 || stream->over;
}

/* The id of the event of that place (0, 1, ...); "" when there is none. */
static void stream_id(struct talk *stream, int place, char out[64])
{
    const char *at = buf_string(&stream->reply.body);

    *out = '\0';
    for (int i = 0; (at = strstr(at, "\nid: ")) || i == 0; i++) {
        if (!at && strncmp(at = buf_string(&stream->reply.body), "id: ", 4) != 0)
            return;
        at += *at == '\n';
        if (i == place && !strstr(at, "\n\n"))
            return; /* the event is not whole yet: who would go on behind it would miss it */
        if (i == place) {
            snprintf(out, 64, "%.*s", (int)strcspn(at + 4, "\n"), at + 4);
            return;
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------- matches */

/* A new offer of alice's and a new request of bob's that fit each other and nobody else. */
static void match_make(struct world *world)
{
    int number = ++world->matches;
    char path[64], ad[320];

    snprintf(path, sizeof path, "/v1/ads/offer%d", number);
    snprintf(ad, sizeof ad, "[Type = \"Machine\"; Place = %d; Constraint = other.Place == %d]", number, number);
    if (talk_ask(&world->alice, world->alice_token, "PUT", path, "Berth-Key: " OFFER_KEY "\r\n", ad) != 201)
        live_bail("no offer: %u %s", world->alice.reply.status, reply_show(&world->alice.reply));
    snprintf(path, sizeof path, "/v1/ads/job%d", number);
    snprintf(ad, sizeof ad,
             "[Type = \"Job\"; Place = %d; Word = \"wish%d\"; "
             "Constraint = other.Place == %d]",
             number, number, number);
    if (talk_ask(&world->bob, world->bob_token, "PUT", path, NULL, ad) != 201)
        live_bail("no request: %u %s", world->bob.reply.status, reply_show(&world->bob.reply));
}

/* The tickets in what bob was sent, one after another: the place behind the one found, or NULL. */
static const char *ticket_next(const char *at, char out[2 * KEY_BYTES + 1])
{
    at = strstr(at, "Ticket=\"");
    if (at)
        snprintf(out, 2 * KEY_BYTES + 1, "%s", at + 8);
    return at ? at + 8 : NULL;
}

static uint64_t letter_word(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

/* Is the ticket in that letter the one that the provider would make of its own key? */
static bool ticket_is_right(const char *letter)
{
    char digits[2 * KEY_BYTES + 1], expected[2 * KEY_BYTES + 1];
    const char *edge = strstr(letter, "Edges={");
    struct key key, ticket;

    if (!edge || !ticket_next(edge, digits))
        return false;
    hex_read(OFFER_KEY, 2 * KEY_BYTES, key.bytes, KEY_BYTES);
    ticket_make(&secrets_live, &key, letter_word(edge, "Offer=\""), letter_word(edge, "Claim=\""),
                letter_word(letter, "Gang=\""), "bob", &ticket);
    hex_print(ticket.bytes, KEY_BYTES, expected);
    return !strcmp(digits, expected);
}

static void check_letters(struct world *world)
{
    struct talk alice, bob, carol, silent;
    char type[64];

    tap_ok(stream_open(&bob, &world->live, world->bob_token, "cust", NULL, &world->letters) == 200 &&
               reply_field(&bob.reply, "Content-Type", type, sizeof type) && strstr(type, "text/event-stream"),
           "an agent opens its stream of events");
    stream_open(&alice, &world->live, world->alice_token, "prov", NULL, &world->rest);
    stream_open(&carol, &world->live, world->carol_token, NULL, NULL, &world->rest);
    stream_open(&silent, &world->live, world->bob_token, "another", NULL, &world->rest);
    match_make(world);
    tap_ok(stream_wait(&bob, "event: match", 1, SOON) && stream_wait(&bob, "]]\n\n", 1, SOON),
           "a match reaches the customer by its stream");
    tap_ok(stream_wait(&alice, "event: match", 1, SOON) && stream_wait(&alice, "]]\n\n", 1, SOON),
           "and the provider by its own");
    tap_ok(strstr(buf_string(&bob.reply.body), "Place=1"), "the customer is sent the provider's ad");
    tap_ok(strstr(buf_string(&alice.reply.body), "wish1"), "the provider is sent the request");
    if (!tap_ok(ticket_is_right(buf_string(&bob.reply.body)),
                "the customer is sent the ticket that the provider's key makes"))
        tap_diag("%s", reply_show(&bob.reply));
    tap_ok(!strstr(buf_string(&alice.reply.body), "Ticket"), "the provider is sent none");
    stream_listen(&carol, 300);
    stream_listen(&silent, 100);
    tap_ok(!strstr(buf_string(&carol.reply.body), "event:"), "nobody else hears of it");
    tap_ok(!strstr(buf_string(&silent.reply.body), "event:"), "nor does another agent of the same user");
    talk_done(&alice);
    talk_done(&bob);
    talk_done(&carol);
    talk_done(&silent);
}

/* Requests are seen by those they are matched with; and only those requests. */
static void check_sight(struct world *world)
{
    talk_ask(&world->bob, world->bob_token, "PUT", "/v1/ads/hidden", NULL,
             "[Type = \"Job\"; Word = \"hidden-wish\"; Constraint = other.Place == -1]");
    talk_ask(&world->alice, world->alice_token, "GET", "/v1/ads/job1", NULL, NULL);
    expect(&world->alice, 200, "a provider sees the request that it is matched with");
    talk_ask(&world->alice, world->alice_token, "GET", "/v1/ads/hidden", NULL, NULL);
    expect(&world->alice, 404, "but no other request of the same customer");
    talk_ask(&world->alice, world->alice_token, "GET", "/v1/ads?kind=requests", NULL, NULL);
    tap_ok(!reply_has(&world->alice.reply, "hidden-wish"), "not in a list either");
    talk_ask(&world->carol, world->carol_token, "GET", "/v1/ads/job1", NULL, NULL);
    expect(&world->carol, 404, "others do not see it");
    talk_ask(&world->carol, world->carol_token, "GET", "/v1/matches", NULL, NULL);
    tap_ok(world->carol.reply.status == 200 && !world->carol.reply.body.len, "nor the match");
    talk_ask(&world->carol, world->carol_token, "GET", "/v1/claims", NULL, NULL);
    tap_ok(world->carol.reply.status == 200 && !world->carol.reply.body.len, "nor the claim that is expected");
    talk_ask(&world->alice, world->alice_token, "PUT", "/v1/ads/brief", NULL,
             "[Type = \"Machine\"; Brief = 1; Lifetime = 1]");
    live_sleep(1300);
    talk_ask(&world->bob, world->bob_token, "PUT", "/v1/ads/late", NULL,
             "[Type = \"Job\"; Constraint = other.Brief == 1]");
    live_sleep(300);
    talk_ask(&world->bob, world->bob_token, "GET", "/v1/ads/late/matches", NULL, NULL);
    tap_ok(world->bob.reply.status == 200 && !world->bob.reply.body.len, "an offer past its lifetime is not matched");
    talk_ask(&world->bob, world->bob_token, "DELETE", "/v1/ads/late", NULL, NULL);
    talk_ask(&world->bob, world->bob_token, "DELETE", "/v1/ads/hidden", NULL, NULL);
}

/* ------------------------------------------------------------------------------------------------------------ receipts */

/* Who was matched with a job of a user's enters a replica of the user's file, as the receipt shows; and no other does, nor another file's. */
static void check_receipt_replicas(struct world *world, const char *stream)
{
#define REPLICA_OF(store, size)                                                  \
    "[Store = \"" store "\"; Url = \"http://127.0.0.1/" store "\"; Size = " size \
    "; Hash = \"sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"]"
    const char *at = strstr(stream, "Receipt=["), *end = at ? strchr(at, ']') : NULL;
    struct buf shown;

    buf_init(&shown);
    buf_adds(&shown, "Berth-Receipt: ");
    if (end)
        base64url_print(&shown, at + 8, (size_t)(end + 1 - (at + 8)));
    buf_adds(&shown, "\r\nBerth-Agent: prov\r\n");
    talk_ask(&world->bob, world->bob_token, "POST", "/v1/files/bobs/replicas", NULL, REPLICA_OF("se1", "4"));
    tap_ok(world->bob.reply.status == 201, "a user enters a file");
    talk_ask(&world->alice, world->alice_token, "POST", "/v1/files/bobs/replicas", "Berth-Agent: prov\r\n",
             REPLICA_OF("se2", "4"));
    tap_ok(world->alice.reply.status == 403, "others enter no replica of it");
    talk_ask(&world->alice, world->alice_token, "POST", "/v1/files/bobs/replicas", buf_string(&shown),
             REPLICA_OF("se2", "4"));
    if (!tap_ok(world->alice.reply.status == 200, "but a machine that was matched with a job of the user's"))
        tap_diag("%s", reply_show(&world->alice.reply));
    talk_ask(&world->alice, world->alice_token, "POST", "/v1/files/bobs/replicas", buf_string(&shown),
             REPLICA_OF("se3", "5"));
    tap_ok(world->alice.reply.status == 409, "only of the same bytes");
    talk_ask(&world->carol, world->carol_token, "POST", "/v1/files/bobs/replicas", buf_string(&shown),
             REPLICA_OF("se3", "4"));
    tap_ok(world->carol.reply.status >= 400, "and nobody else with the same receipt");
    talk_ask(&world->carol, world->carol_token, "POST", "/v1/files/carols/replicas", NULL, REPLICA_OF("se1", "4"));
    talk_ask(&world->alice, world->alice_token, "POST", "/v1/files/carols/replicas", buf_string(&shown),
             REPLICA_OF("se2", "4"));
    tap_ok(world->alice.reply.status == 403, "nor of another user's file");
    buf_done(&shown);
}

/* An agent that knows receipts is given them, and no other: it could not read the rest. Without one nobody is charged by a report. */
static void check_receipts(struct world *world)
{
    static const char lie[] = "[Message = \"report\"; Claim = \"%016x\"; Gang = \"00000000000000aa\"; Owner = \"%s\"; "
                              "Used = 60000000; Over = false; Weight = 1000000; Limits = \"matlab:4\"]\n";
    struct talk stream;
    struct buf lies;

    stream_open(&stream, &world->live, world->alice_token, "prov", NULL, &world->rest);
    match_make(world);
    stream_wait(&stream, "]]\n\n", 1, SOON);
    tap_ok(strstr(buf_string(&stream.reply.body), "Message=\"match\"") &&
               !strstr(buf_string(&stream.reply.body), "Receipt="),
           "an agent that says nothing of receipts is given none");
    talk_ask(&world->alice, world->alice_token, "PUT", "/v1/agents/prov", "Berth-Knows: receipts\r\n", "[]");
    match_make(world);
    tap_ok(stream_wait(&stream, "Receipt=[Claim=", 1, SOON), "one that knows them is given one with its match");
    stream_wait(&stream, "]]\n\n", 2, SOON);
    check_receipt_replicas(world, buf_string(&stream.reply.body));
    talk_done(&stream);
    buf_init(&lies);
    for (unsigned i = 1; i <= 100; i++) {
        buf_addf(&lies, lie, i, "dave");
        buf_addf(&lies, lie, i + 1000, "carol");
    }
    talk_bytes(&world->carol, world->carol_token, "POST", "/v1/claims", NULL, lies.text, lies.len);
    tap_ok(world->carol.reply.status == 200 && text_count(buf_string(&world->carol.reply.body), "unknown") == 200,
           "just after its start the matchmaker believes no report of what it has not matched");
    talk_ask(&world->admin, world->admin_token, "GET", "/v1/users", NULL, NULL);
    tap_ok(world->admin.reply.status == 200 && !reply_has(&world->admin.reply, "dave") &&
               !reply_has(&world->admin.reply, "carol"),
           "neither at another's cost nor at one's own");
    talk_ask(&world->admin, world->admin_token, "GET", "/v1/limits", NULL, NULL);
    tap_ok(world->admin.reply.status == 200 && !reply_has(&world->admin.reply, "matlab"), "and no limit is held by it");
    buf_done(&lies);
    talk_ask(&world->alice, world->alice_token, "PUT", "/v1/agents/prov", NULL, "[]");
}

/* ------------------------------------------------------------------------------------------------------------ resuming */

static void check_resuming(struct world *world)
{
    struct talk first, again;
    char ids[2][64], fields[128], path[160];
    const char *reset;

    stream_open(&first, &world->live, world->bob_token, "cust", NULL, &world->letters);
    match_make(world);
    tap_ok(stream_wait(&first, "event: match", 2, SOON) && stream_wait(&first, "]]\n\n", 2, SOON),
           "who opens a stream anew is sent what is there, and what comes");
    stream_id(&first, 0, ids[0]);
    stream_id(&first, 1, ids[1]);
    tap_ok(strchr(ids[0], '.') && strchr(ids[1], '.') && strcmp(ids[0], ids[1]) != 0 && !strncmp(ids[0], ids[1], 17),
           "events have ids: incarnation and number");
    talk_done(&first);
    snprintf(fields, sizeof fields, "Last-Event-ID: %s\r\n", ids[0]);
    stream_open(&again, &world->live, world->bob_token, "cust", fields, &world->letters);
    stream_wait(&again, "]]\n\n", 1, SOON);
    stream_listen(&again, 200);
    tap_ok(text_count(buf_string(&again.reply.body), "event:") == 1 &&
               strstr(buf_string(&again.reply.body), "Place=2") && !strstr(buf_string(&again.reply.body), "reset"),
           "a stream is resumed behind the last event that was seen");
    talk_done(&again);
    snprintf(fields, sizeof fields, "Last-Event-ID: %s\r\n", ids[1]);
    stream_open(&again, &world->live, world->bob_token, "cust", fields, &world->letters);
    stream_listen(&again, 200);
    tap_ok(!strstr(buf_string(&again.reply.body), "event:"), "who has seen all is sent nothing again");
    match_make(world);
    tap_ok(stream_wait(&again, "Place=3", 1, SOON), "but what comes then");
    talk_done(&again);
    stream_open(&again, &world->live, world->bob_token, "cust", "Last-Event-ID: 00000000000000aa.2\r\n",
                &world->letters);
    stream_wait(&again, "]]\n\n", 3, SOON);
    stream_id(&again, 0, ids[0]);
    reset = strstr(buf_string(&again.reply.body), "event: reset");
    tap_ok(reset && text_count(reset, "event: match") == 3,
           "an id of an incarnation that is not known begins with reset, and all follows");
    tap_ok(!strncmp(ids[0], ids[1], 17), "the reset carries the incarnation that is");
    talk_done(&again);
    talk_ask(&world->bob, world->bob_token, "GET", "/v1/events", "Accept: text/event-stream\r\nLast-Event-ID: frob\r\n",
             NULL);
    expect(&world->bob, 400, "what is no id is refused");
    world->bob.heard = &world->letters;
    snprintf(path, sizeof path, "/v1/events?after=%s", ids[1]);
    talk_ask(&world->bob, world->bob_token, "GET", path, NULL, NULL);
    tap_ok(world->bob.reply.status == 200 && text_count(buf_string(&world->bob.reply.body), "Kind=\"match\"") == 1 &&
               reply_has(&world->bob.reply, "Place=3"),
           "who asks instead of listening is sent what came after");
    talk_ask(&world->bob, world->bob_token, "GET", "/v1/events?after=00000000000000aa.1", NULL, NULL);
    reset = strstr(buf_string(&world->bob.reply.body), "\"reset\"");
    tap_ok(reset && strstr(reset, "Place=1") && strstr(reset, "Place=3"),
           "also with a reset when the incarnation is not known");
    talk_ask(&world->bob, world->bob_token, "GET", "/v1/events", "Accept: application/json\r\n", NULL);
    tap_ok(world->bob.reply.status == 200 && reply_field_is(&world->bob.reply, "Content-Type", "application/json") &&
               world->bob.reply.body.text[0] == '[' && reply_has(&world->bob.reply, "\"Kind\""),
           "also as JSON");
    world->bob.heard = &world->rest;
}

/* Sends, and does not wait for the answer. */
static void talk_begin(struct talk *talk, const char *token, const char *method, const char *path, const char *fields,
                       const char *body, size_t len)
{
    struct buf text;

    buf_init(&text);
    talk_close(talk);
    request_text(&text, talk, token, method, path, fields, body, len);
    if (talk_connect(talk))
        talk_send(talk, text.text, text.len);
    buf_done(&text);
}

static void check_long_poll(struct world *world)
{
    char last[64] = "", path[160];
    struct talk poll_talk, stream;
    int64_t began, took;

    stream_open(&stream, &world->live, world->bob_token, "cust", NULL, &world->letters);
    stream_wait(&stream, "]]\n\n", 3, SOON);
    stream_id(&stream, 2, last);
    talk_done(&stream);
    talk_init(&poll_talk, &world->live);
    poll_talk.agent = "cust";
    poll_talk.heard = &world->letters;
    snprintf(path, sizeof path, "/v1/events?after=%s&wait=1", last);
    began = live_clock();
    talk_ask(&poll_talk, world->bob_token, "GET", path, NULL, NULL);
    took = live_clock() - began;
    tap_ok(poll_talk.reply.status == 200 && !poll_talk.reply.body.len && took >= 900,
           "who waits a second for a letter that does not come is told so after it (%lld ms)", (long long)took);
    snprintf(path, sizeof path, "/v1/events?after=%s&wait=20", last);
    talk_begin(&poll_talk, world->bob_token, "GET", path, NULL, NULL, 0);
    live_sleep(200);
    match_make(world);
    tap_ok(talk_answer(&poll_talk, false, SOON) == 200 && reply_has(&poll_talk.reply, "Place=4"),
           "who waits for a letter is answered when it comes");
    talk_begin(&poll_talk, world->bob_token, "GET", path, NULL, NULL, 0);
    tap_ok(talk_answer(&poll_talk, false, SOON) == 200 && reply_has(&poll_talk.reply, "Place=4"),
           "and at once when it is there");
    talk_done(&poll_talk);
}

/* --------------------------------------------------------------------------------------------------------------- crowd */

static int64_t status_number(struct world *world, const char *name)
{
    struct tree *ad;
    int64_t number = -1;

    talk_ask(&world->admin, world->admin_token, "GET", "/v1/status", NULL, NULL);
    ad = talk_ad(&world->admin);
    if (ad)
        ad_integer(ad, name, &number);
    tree_unref(ad);
    return number;
}

static void check_crowd(struct world *world)
{
    struct talk *crowd = mem_alloc(CROWD * sizeof *crowd);
    size_t opened = 0, told = 0;
    int64_t streams, began, ends;

    for (size_t i = 0; i < CROWD; i++)
        opened += stream_open(&crowd[i], &world->live, world->bob_token, "crowd", NULL, NULL) == 200;
    tap_ok(opened == CROWD, "%d streams are opened", CROWD);
    streams = status_number(world, "Streams");
    tap_ok(streams >= CROWD, "all of them are open at once");
    began = live_clock();
    tap_ok(talk_ask(&world->carol, world->carol_token, "GET", "/v1/ads?limit=1", NULL, NULL) == 200 &&
               live_clock() - began < 1000,
           "others are served meanwhile");
    world->bob.agent = "crowd";
    match_make(world);
    world->bob.agent = "cust";
    for (size_t i = 0; i < CROWD; i++)
        told += stream_wait(&crowd[i], "event: match", 1, SOON);
    if (!tap_ok(told == CROWD, "a match reaches every one of them"))
        tap_diag("%zu of %d", told, CROWD);
    for (size_t i = 0; i < CROWD; i++)
        talk_done(&crowd[i]);
    free(crowd);
    for (ends = live_clock() + SOON; live_clock() < ends && status_number(world, "Streams") > 10;)
        live_sleep(50);
    streams = status_number(world, "Streams");
    tap_ok(streams >= 0 && streams < 10, "when they go, nothing of them is left (%lld)", (long long)streams);
}

/* --------------------------------------------------------------------------------------------------------------- relay */

static void handle_of(const char *identity, const char *name, char out[17])
{
    snprintf(out, 17, "%016llx", (unsigned long long)agent_handle(identity, name));
}

/* The number by which the newest message in a stream is answered. */
static bool relay_number(struct talk *stream, char out[32])
{
    const char *at = buf_string(&stream->reply.body), *last = NULL;

    while ((at = strstr(at, "Relay=\"")))
        last = at += 7;
    *out = '\0';
    if (last)
        snprintf(out, 17, "%s", last);
    return last;
}

static void check_relay(struct world *world)
{
    char handle[17], path[64], answer[64], number[32], from[64];
    struct talk alice, sender;
    int64_t began, took;

    handle_of("alice", "prov", handle);
    snprintf(path, sizeof path, "/v1/relay/%s", handle);
    stream_open(&alice, &world->live, world->alice_token, "prov", NULL, &world->rest);
    talk_init(&sender, &world->live);
    sender.agent = "cust";
    sender.heard = &world->rest;
    talk_begin(&sender, world->bob_token, "POST", path, NULL, "hello\tthere", 11);
    tap_ok(stream_wait(&alice, "Kind=\"message\"", 1, SOON) && stream_wait(&alice, "hello", 1, SOON),
           "a message is carried to an agent that cannot be called");
    relay_number(&alice, number);
    handle_of("bob", "cust", from);
    tap_ok(strstr(buf_string(&alice.reply.body), from) && strstr(buf_string(&alice.reply.body), "Identity=\"bob\""),
           "and says whose it is");
    snprintf(answer, sizeof answer, "/v1/answers/%s", number);
    talk_ask(&world->carol, world->carol_token, "POST", answer, NULL, "wrong");
    expect(&world->carol, 404, "nobody else can answer it");
    world->alice.agent = "other";
    talk_ask(&world->alice, world->alice_token, "POST", answer, NULL, "wrong");
    expect(&world->alice, 404, "nor can another agent of the same user");
    world->alice.agent = "prov";
    talk_bytes(&world->alice, world->alice_token, "POST", answer, NULL, "general\0kenobi", 14);
    expect(&world->alice, 204, "its recipient answers it");
    tap_ok(talk_answer(&sender, false, SOON) == 200 && sender.reply.body.len == 14 &&
               !memcmp(sender.reply.body.text, "general\0kenobi", 14),
           "and the answer comes back, byte by byte");
    talk_ask(&world->alice, world->alice_token, "POST", answer, NULL, "again");
    expect(&world->alice, 404, "there is one answer to a message");
    talk_ask(&world->alice, world->alice_token, "POST", "/v1/answers/frob", NULL, "x");
    expect(&world->alice, 404, "what is no number is nobody's");
    talk_ask(&world->bob, world->bob_token, "POST", "/v1/relay/00000000000000aa", NULL, "x");
    expect(&world->bob, 404, "a message to nobody is not taken");
    talk_ask(&world->bob, world->bob_token, "POST", "/v1/relay/frob", NULL, "x");
    expect(&world->bob, 404, "nor is one to what is no agent");
    began = live_clock();
    talk_ask(&world->bob, world->bob_token, "POST", path, NULL, "unheard");
    took = live_clock() - began;
    expect(&world->bob, 504, "a message that nobody answers comes back after a while");
    tap_ok(took >= 1800, "which is the pool's deadline (%lld ms)", (long long)took);
    stream_wait(&alice, "unheard", 1, SOON);
    relay_number(&alice, number);
    snprintf(answer, sizeof answer, "/v1/answers/%s", number);
    talk_ask(&world->alice, world->alice_token, "POST", answer, NULL, "late");
    expect(&world->alice, 404, "an answer that is too late finds nobody");
    talk_begin(&sender, world->bob_token, "POST", path, NULL, "gone", 4);
    stream_wait(&alice, "gone", 1, SOON);
    talk_close(&sender);
    live_sleep(1000);
    relay_number(&alice, number);
    snprintf(answer, sizeof answer, "/v1/answers/%s", number);
    talk_ask(&world->alice, world->alice_token, "POST", answer, NULL, "hello?");
    expect(&world->alice, 404, "so does one whose asker has gone");
    talk_done(&sender);
    talk_done(&alice);
}

#define FLOOD 8

/* Strangers send as much as they may, and nobody answers: what those send who were matched with the agent comes all the same. */
static void check_flood(struct world *world)
{
    char handle[17], path[64], answer[64], number[32], name[16], *tokens[FLOOD];
    struct talk alice, senders[FLOOD], beat;
    unsigned over = 0;
    struct buf long_text;

    buf_init(&long_text);
    for (int i = 0; i < 16384; i++)
        buf_adds(&long_text, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n");
    handle_of("alice", "prov", handle);
    snprintf(path, sizeof path, "/v1/relay/%s", handle);
    match_make(world); /* of alice's agent and bob's */
    stream_open(&alice, &world->live, world->alice_token, "prov", NULL, &world->rest);
    stream_wait(&alice, "event: match", 1, SOON);
    for (int i = 0; i < FLOOD; i++) { /* four of one account, and one each of others */
        snprintf(name, sizeof name, "flood%d", i < 4 ? 0 : i);
        tokens[i] = live_token(&world->live, name, AGENT_SCOPES);
        talk_init(&senders[i], &world->live);
        senders[i].heard = &world->rest;
        talk_begin(&senders[i], tokens[i], "POST", path, NULL, long_text.text, long_text.len);
    }
    for (int i = 0; i < FLOOD; i++) {
        unsigned status = talk_answer(&senders[i], false, SOON);

        over += status == 429;
        if (status == 429 && !reply_has(&senders[i].reply, "share"))
            over = 100;
    }
    tap_ok(over >= FLOOD - 3 && over < 100, "whoever has his share of what may wait for an agent is told so (%u)",
           over);
    for (int i = 0; i < FLOOD; i++)
        talk_begin(&senders[i], tokens[i], "POST", path, NULL, long_text.text, long_text.len);
    live_sleep(200);
    talk_init(&beat, &world->live);
    beat.agent = "cust";
    beat.heard = &world->rest;
    talk_begin(&beat, world->bob_token, "POST", path, NULL, "a heart beat", 12);
    tap_ok(stream_wait(&alice, "a heart beat", 1, SOON),
           "one that was matched with it is heard while strangers flood it");
    relay_number(&alice, number);
    snprintf(answer, sizeof answer, "/v1/answers/%s", number);
    talk_ask(&world->alice, world->alice_token, "POST", answer, NULL, "acknowledged");
    tap_ok(talk_answer(&beat, false, SOON) == 200 && reply_has(&beat.reply, "acknowledged"), "and answered");
    talk_begin(&beat, world->carol_token, "POST", path, NULL, "a small word", 12);
    tap_ok(stream_wait(&alice, "a small word", 1, SOON), "nor can they shut out a stranger who says little");
    for (int i = 0; i < FLOOD; i++) {
        talk_done(&senders[i]);
        free(tokens[i]);
    }
    buf_done(&long_text);
    talk_done(&beat);
    talk_done(&alice);
}

#define CHORUS 60

/* Many messages at once, answered in another order: each answer finds its asker. */
static void check_chorus(struct world *world)
{
    char handle[17], path[64], word[32], answer[64];
    struct talk alice, senders[CHORUS];
    size_t good = 0;

    handle_of("alice", "chorus", handle);
    snprintf(path, sizeof path, "/v1/relay/%s", handle);
    stream_open(&alice, &world->live, world->alice_token, "chorus", NULL, &world->rest);
    for (int i = 0; i < CHORUS; i++) {
        talk_init(&senders[i], &world->live);
        senders[i].agent = "cust";
        snprintf(word, sizeof word, "voice%02d.", i);
        talk_begin(&senders[i], world->bob_token, "POST", path, NULL, word, strlen(word));
    }
    stream_wait(&alice, "voice", CHORUS, SOON);
    stream_wait(&alice, "]\n\n", CHORUS, SOON);
    world->alice.agent = "chorus";
    for (int i = CHORUS - 1; i >= 0; i--) {
        const char *text = buf_string(&alice.reply.body), *at;

        snprintf(word, sizeof word, "voice%02d.", i);
        at = strstr(text, word);
        while (at && at > text && strncmp(at, "Relay=\"", 7) != 0)
            at--;
        if (!at || at == text)
            continue;
        snprintf(answer, sizeof answer, "/v1/answers/%.16s", at + 7);
        talk_ask(&world->alice, world->alice_token, "POST", answer, NULL, word);
    }
    world->alice.agent = "prov";
    for (int i = 0; i < CHORUS; i++) {
        snprintf(word, sizeof word, "voice%02d.", i);
        good += talk_answer(&senders[i], false, SOON) == 200 && !strcmp(buf_string(&senders[i].reply.body), word);
        talk_done(&senders[i]);
    }
    if (!tap_ok(good == CHORUS, "of %d messages at once each gets its own answer, in whatever order", CHORUS))
        tap_diag("%zu", good);
    talk_done(&alice);
}

/* --------------------------------------------------------------------------------------------------------- slow readers */

#define REPLY_DEADLINE_MS 3000 /* as in the settings */
#define HEAVY 12
#define HEAVY_BYTES 300000 /* more than what the kernel keeps for a reader */

/* Is the connection closed, wherever in the stream? What comes before that is kept. */
static bool socket_ends(struct talk *stream, int patience)
{
    struct pollfd at = {.fd = stream->fd, .events = POLLIN};
    char bytes[65536];
    ssize_t count = 1;

    while (count > 0 && poll(&at, 1, patience) > 0) {
        count = recv(stream->fd, bytes, sizeof bytes, 0);
        if (count > 0)
            buf_add(&stream->reply.body, bytes, (size_t)count);
    }
    return count <= 0;
}

/* Who does not read is cut off; who reads gets everything. */
static void check_slow(struct world *world)
{
    struct talk slow, good, other, sender[HEAVY];
    char handle[17], path[64], word[32];
    size_t heard = 0;
    int small = 4096;
    bool ended;
    struct buf text;

    handle_of("alice", "prov", handle);
    snprintf(path, sizeof path, "/v1/relay/%s", handle);
    buf_init(&text);
    stream_open(&good, &world->live, world->alice_token, "prov", NULL, NULL);
    stream_open(&slow, &world->live, world->alice_token, "prov", NULL, NULL);
    setsockopt(slow.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    stream_open(&other, &world->live, world->bob_token, "cust", NULL, &world->letters);
    for (int i = 0; i < HEAVY; i++) {
        buf_reset(&text);
        buf_addf(&text, "heavy%03d.", i);
        while (text.len < HEAVY_BYTES)
            buf_adds(&text, "0123456789abcdef");
        talk_init(&sender[i], &world->live);
        sender[i].agent = "cust";
        talk_begin(&sender[i], world->bob_token, "POST", path, NULL, text.text, text.len);
        snprintf(word, sizeof word, "heavy%03d.", i);
        heard += stream_wait(&good, word, 1, SOON);
    }
    if (!tap_ok(heard == HEAVY, "who reads a stream is sent all of %d long messages", HEAVY))
        tap_diag("%zu", heard);
    match_make(world);
    snprintf(word, sizeof word, "Place=%d;", world->matches);
    tap_ok(stream_wait(&other, word, 1, SOON), "another agent's stream goes on");
    live_sleep(REPLY_DEADLINE_MS + 2500); /* deadlines are looked at once a second */
    ended = socket_ends(&slow, SOON);
    if (!tap_ok(ended && !strstr(buf_string(&slow.reply.body), "heavy011."), "who does not read is cut off"))
        tap_diag("%s, %zu bytes", ended ? "cut" : "not cut", slow.reply.body.len);
    talk_ask(&world->admin, world->admin_token, "GET", "/metrics", NULL, NULL);
    tap_ok(!reply_has(&world->admin.reply, "berth_streams_cut_total 0"), "which is counted");
    for (int i = 0; i < HEAVY; i++)
        talk_done(&sender[i]);
    talk_done(&good);
    talk_done(&slow);
    talk_done(&other);
    buf_done(&text);
}

#define PILE 16

/* Who was away comes back to more letters than a stream may queue: it is sent them all, if need be in several tries. */
static void check_pile(struct world *world)
{
    char path[64], fields[128], last[64] = "", word[32], id[64];
    bool got[PILE] = {false};
    size_t count = 0, tries, patience = 100;
    struct talk back;
    struct buf ad;

    buf_init(&ad);
    for (int i = 0; i < PILE; i++) {
        buf_reset(&ad);
        buf_addf(&ad, "[Type = \"Machine\"; Pile = %d; Pad = \"", i);
        for (int n = 0; n < 4000; n++)
            buf_adds(&ad, "0123456789");
        buf_adds(&ad, "\"]");
        snprintf(path, sizeof path, "/v1/ads/pile%d", i);
        talk_ask(&world->alice, world->alice_token, "PUT", path, NULL, buf_string(&ad));
        buf_reset(&ad);
        buf_addf(&ad, "[Type = \"Job\"; Constraint = other.Pile == %d]", i);
        snprintf(path, sizeof path, "/v1/ads/want%d", i);
        world->bob.agent = "away";
        talk_ask(&world->bob, world->bob_token, "PUT", path, NULL, buf_string(&ad));
        world->bob.agent = "cust";
    }
    live_sleep(500);
    for (tries = 0; tries < PILE && count < PILE && patience--;) {
        size_t before = count;

        snprintf(fields, sizeof fields, "Last-Event-ID: %s\r\n", last);
        stream_open(&back, &world->live, world->bob_token, "away", *last ? fields : NULL, &world->letters);
        stream_listen(&back, 300);
        for (int i = 0; i < PILE; i++) {
            const char *at;

            snprintf(word, sizeof word, "Pile=%d;", i);
            at = strstr(buf_string(&back.reply.body), word);
            count += at && strstr(at, "]\n\n") && !got[i];
            got[i] = got[i] || (at && strstr(at, "]\n\n"));
        }
        for (int i = 0; stream_id(&back, i, id), *id; i++)
            snprintf(last, sizeof last, "%s", id);
        talk_done(&back);
        tries += count > before; /* on a busy machine nothing may come in time: that is none */
    }
    if (!tap_ok(count == PILE,
                "who comes back to more letters than the queue of a stream holds gets all, in some tries"))
        tap_diag("%zu of %d after %zu tries", count, PILE, tries);
    world->bob.agent = "away";
    world->bob.heard = &world->letters;
    talk_ask(&world->bob, world->bob_token, "GET", "/v1/events", NULL, NULL);
    tap_ok(text_count(buf_string(&world->bob.reply.body), "Kind=\"match\"") == PILE,
           "who asks for them gets all at once");
    world->bob.agent = "cust";
    world->bob.heard = &world->rest;
    buf_done(&ad);
}

/* A stream lasts no longer than the token it was opened with. */
static void check_ending(struct world *world)
{
    struct token_terms terms = {.issuer = world->live.pool,
                                .subject = "bob",
                                .audience = world->live.pool,
                                .scope = AGENT_SCOPES,
                                .issued = time(NULL),
                                .expires = time(NULL) + 2};
    char id[TOKEN_ID_DIGITS + 1], path[64];
    struct talk brief, revoked, other;
    struct buf token;
    struct err err;

    buf_init(&token);
    token_sign(&token, &world->live.key, &terms, NULL, &err);
    tap_ok(stream_open(&brief, &world->live, buf_string(&token), "brief", NULL, &world->rest) == 200,
           "a token that lasts two seconds opens a stream");
    buf_reset(&token);
    terms.expires += 3600;
    token_sign(&token, &world->live.key, &terms, id, &err);
    stream_open(&revoked, &world->live, buf_string(&token), "revoked", NULL, &world->rest);
    stream_open(&other, &world->live, world->alice_token, "other", NULL, NULL);
    snprintf(path, sizeof path, "/v1/tokens/%s", id);
    talk_ask(&world->admin, world->admin_token, "DELETE", path, NULL, NULL);
    tap_ok(stream_wait(&other, "event: revoked", 1, SOON) && stream_wait(&other, id, 1, SOON) &&
               !strstr(buf_string(&other.reply.body), "\nid: "),
           "a token that is revoked is told to every stream at once, as news that is not counted");
    talk_done(&other);
    tap_ok(talk_ask(&world->alice, world->alice_token, "GET", "/v1/keys", NULL, NULL) == 200 &&
               reply_has(&world->alice.reply, "Revoked = {") && reply_has(&world->alice.reply, id),
           "agents are told which tokens were revoked");
    tap_ok(talk_ask(&world->alice, NULL, "GET", "/v1/keys", NULL, NULL) == 200 &&
               !reply_has(&world->alice.reply, "Revoked") && !reply_has(&world->alice.reply, id),
           "strangers are not");
    tap_ok(stream_ends(&brief, SOON), "which ends with it");
    tap_ok(stream_ends(&revoked, 3000), "a stream ends when its token is revoked");
    talk_done(&brief);
    talk_done(&revoked);
    buf_done(&token);
}

/* ------------------------------------------------------------------------------------------------------------ contacts */

enum manner { HONEST, WRONG_PROOF, NO_PROOF, REDIRECTS, REDIRECTS_MESSAGES, STRANGE_TYPE, SENDS_AWAY };

/* An agent that can be called: the test plays it, in a loop that runs while the test waits. */
struct callee {
    uv_loop_t loop;
    struct server *server;
    enum manner manner;
    struct key challenge;
    int connections, challenges, messages, elsewhere;
    struct buf message, token; /* the last of each */
};

static void callee_answer(struct exchange *exchange, unsigned status, const char *body, const char *location)
{
    const struct http_field fields[] = {{"Location", location}};

    exchange_answer(exchange, &(struct http_answer){.status = status,
                                                    .type = "application/classad",
                                                    .body = body,
                                                    .len = strlen(body),
                                                    .fields = fields,
                                                    .field_count = location ? 1 : 0});
}

static void callee_begin(void *user, struct exchange *exchange)
{
    struct callee *callee = user;

    callee->connections++;
    exchange_accept(exchange, 1 << 20, true);
}

static void callee_prove(struct callee *callee, struct exchange *exchange)
{
    const char *digits = exchange_query(exchange, "nonce");
    char proof[2 * KEY_BYTES + 1], body[160];
    struct key nonce, sealed;

    if (!digits || !hex_read(digits, strlen(digits), nonce.bytes, KEY_BYTES)) {
        callee_answer(exchange, 400, "", NULL);
        return;
    }
    secrets_live.seal(secrets_live.user, &callee->challenge, nonce.bytes, KEY_BYTES, &sealed);
    if (callee->manner == WRONG_PROOF)
        sealed.bytes[31] ^= 1;
    hex_print(sealed.bytes, KEY_BYTES, proof);
    snprintf(body, sizeof body, callee->manner == NO_PROOF ? "[]" : "[Proof = \"%s\"]", proof);
    callee_answer(exchange, 200, body, NULL);
}

static void callee_handle(void *user, struct exchange *exchange)
{
    struct callee *callee = user;
    const char *path = exchange_path(exchange, NULL), *field = exchange_field(exchange, "Authorization"), *body;
    char elsewhere[256];
    size_t len;

    snprintf(elsewhere, sizeof elsewhere, "http://%s/elsewhere%s", server_address(callee->server), path);
    if (!strcmp(path, "/v1/challenge")) {
        callee->challenges++;
        if (callee->manner == REDIRECTS)
            callee_answer(exchange, 302, "", elsewhere);
        else
            callee_prove(callee, exchange);
    } else if (!strcmp(path, "/v1/messages")) {
        callee->messages++;
        body = exchange_body(exchange, &len);
        buf_reset(&callee->message);
        buf_add(&callee->message, body, len);
        buf_reset(&callee->token);
        buf_adds(&callee->token, field ? field : "");
        if (callee->manner == REDIRECTS_MESSAGES)
            callee_answer(exchange, 307, "", elsewhere);
        else
            callee_answer(exchange, 200, "[Message=\"got\";Reason=\"ok\"]", NULL);
    } else if (callee->manner == STRANGE_TYPE) {
        static const char page[] = "<script>parent.postMessage(localStorage.token, '*')</script>";

        callee->elsewhere++;
        exchange_answer(
            exchange, &(struct http_answer){.status = 200, .type = "text/html", .body = page, .len = sizeof page - 1});
    } else {
        callee->elsewhere++;
        callee_answer(exchange, callee->manner == SENDS_AWAY ? 401 : 200, "[]", NULL);
    }
}

static void callee_over(void *user, struct exchange *exchange)
{
    (void)user;
    (void)exchange;
}

static void callee_start(struct callee *callee, enum manner manner)
{
    const struct server_handler handler = {
        .user = callee, .begin = callee_begin, .handle = callee_handle, .over = callee_over};
    struct err err = {0};

    *callee = (struct callee){.manner = manner};
    buf_init(&callee->message);
    buf_init(&callee->token);
    hex_read(CHALLENGE_KEY, 2 * KEY_BYTES, callee->challenge.bytes, KEY_BYTES);
    uv_loop_init(&callee->loop);
    callee->server = server_new(&callee->loop, "127.0.0.1:0", NULL, NULL, NULL, &handler, &err);
    if (!callee->server)
        live_bail("the test cannot listen: %s", err.text);
}

static void callee_stop(struct callee *callee)
{
    server_free(callee->server);
    while (uv_run(&callee->loop, UV_RUN_NOWAIT))
        ;
    uv_loop_close(&callee->loop);
    buf_done(&callee->message);
    buf_done(&callee->token);
}

static void callee_serve(struct callee *callee, int milliseconds)
{
    int64_t ends = live_clock() + milliseconds;

    while (live_clock() < ends) {
        uv_run(&callee->loop, UV_RUN_NOWAIT);
        live_sleep(2);
    }
}

/* Says where it can be called, and serves until that has been tried; the state that is told then. */
static void contact_say(struct world *world, struct callee *callee, const char *contact, char state[32])
{
    char ad[512], path[64], handle[17];
    int64_t ends = live_clock() + SOON;

    handle_of("alice", "prov", handle);
    snprintf(path, sizeof path, "/v1/agents/%s", handle);
    snprintf(ad, sizeof ad,
             "[Host = \"h\"; Contact = \"%s\"; Challenge = \"" CHALLENGE_KEY "\"; BoxKey = \"" BOX_KEY "\"]", contact);
    if (talk_ask(&world->alice, world->alice_token, "PUT", "/v1/agents/prov", NULL, ad) != 202)
        live_bail("a contact is not taken: %u %s", world->alice.reply.status, reply_show(&world->alice.reply));
    do {
        callee_serve(callee, 20);
        talk_ask(&world->carol, world->carol_token, "GET", path, NULL, NULL);
        talk_text(&world->carol, "ContactState", state, 32);
    } while (!strcmp(state, "checking") && live_clock() < ends);
}

static void contact_of(struct callee *callee, char out[128])
{
    snprintf(out, 128, "http://%s", server_address(callee->server));
}

/* The token that the matchmaker showed is for this agent alone. */
static bool caller_is_matchmaker(const struct world *world, struct callee *callee)
{
    struct token_keys keys = {.count = 1};
    char audience[TOKEN_NAME_MAX + 1];
    const char *text = buf_string(&callee->token);
    struct grant grant;

    memcpy(keys.issuer, world->live.pool, sizeof keys.issuer);
    memcpy(keys.keys[0].id, world->live.key.id, sizeof keys.keys[0].id);
    keys.keys[0].open = world->live.key.open;
    token_agent_audience(world->live.pool, agent_handle("alice", "prov"), audience);
    return !strncmp(text, "Bearer ", 7) &&
           token_verify(&keys, audience, text + 7, strlen(text + 7), time(NULL), &grant) == TOKEN_OK &&
           !strcmp(grant.subject, "matchmaker") && !(grant.scope & SCOPE_ADMIN);
}

static void check_contact(struct world *world)
{
    struct callee callee, moved;
    char contact[128], state[32];

    callee_start(&callee, HONEST);
    contact_of(&callee, contact);
    contact_say(world, &callee, contact, state);
    tap_ok(!strcmp(state, "good") && callee.challenges == 1, "an agent that proves itself can be called (%s)", state);
    match_make(world);
    for (int i = 0; i < 100 && !callee.messages; i++)
        callee_serve(&callee, 50);
    tap_ok(callee.messages > 0 && strstr(buf_string(&callee.message), "Message=\"match\"") &&
               strstr(buf_string(&callee.message), "wish"),
           "it is told of a match by a call");
    tap_ok(caller_is_matchmaker(world, &callee), "the call carries a token of the matchmaker's, for this agent alone");
    tap_ok(talk_ask(&world->carol, buf_string(&callee.token) + 7, "GET", "/v1/ads", NULL, NULL) == 401,
           "which is good for nothing at the matchmaker");
    tap_ok(!strstr(buf_string(&callee.message), "Ticket"), "a provider is sent no ticket");
    callee_serve(&callee, 600);
    tap_ok(callee.messages == 1, "a message that was acknowledged is not sent again");
    buf_add(&world->rest, callee.message.text, callee.message.len);
    talk_ask(&world->alice, world->alice_token, "GET", "/v1/events", NULL, NULL);
    tap_ok(reply_has(&world->alice.reply, "Kind=\"match\""), "it can still ask for its letters");
    callee_start(&moved, WRONG_PROOF);
    contact_of(&moved, contact);
    callee.messages = 0;
    contact_say(world, &moved, contact, state);
    match_make(world);
    callee_serve(&moved, 200);
    callee_serve(&callee, 200);
    tap_ok(!strcmp(state, "bad") && moved.challenges == 1 && !moved.messages && !callee.messages,
           "an agent that moves must prove itself again, and is not called where it was (%s)", state);
    callee_stop(&moved);
    contact_of(&callee, contact);
    contact_say(world, &callee, contact, state);
    callee.messages = 1;
    callee.manner = REDIRECTS_MESSAGES;
    match_make(world);
    for (int i = 0; i < 100 && callee.messages < 2; i++)
        callee_serve(&callee, 50);
    callee_serve(&callee, 400);
    tap_ok(callee.messages > 1 && !callee.elsewhere, "a redirect of a message is not followed");
    callee_stop(&callee);
}

/* One that calls itself a customer, with a token of these rights; its path at the matchmaker. */
static void customerd_open(struct world *world, struct callee *callee, const char *subject, scopes scope, char path[64])
{
    char *token = live_token(&world->live, subject, scope), ad[512], contact[128], handle[17];
    struct talk talk;

    contact_of(callee, contact);
    snprintf(ad, sizeof ad, "[Role = \"customer\"; Contact = \"%s\"; Challenge = \"" CHALLENGE_KEY "\"]", contact);
    talk_init(&talk, &world->live);
    talk_begin(&talk, token, "PUT", "/v1/agents/desk?wait=5", NULL, ad, strlen(ad));
    for (int i = 0; i < 100 && !callee->challenges; i++)
        callee_serve(callee, 20);
    callee_serve(callee, 20);
    if (talk_answer(&talk, false, SOON) != 200)
        live_bail("a customer is not taken: %u %s", talk.reply.status, reply_show(&talk.reply));
    handle_of(subject, "desk", handle);
    snprintf(path, 64, "/v1/desk/%s/jobs", handle);
    talk_done(&talk);
    free(token);
}

/* Somebody hands that customer a job by the matchmaker: the status. */
static unsigned customerd_ask(struct talk *talk, struct callee *callee, const char *token, const char *path)
{
    int before = callee->elsewhere;

    talk_begin(talk, token, "POST", path, "Accept: application/json\r\n", "[Cmd = \"secret\"]", 16);
    for (int i = 0; i < 20 && callee->elsewhere == before; i++)
        callee_serve(callee, 20);
    callee_serve(callee, 20);
    return talk_answer(talk, false, SOON);
}

/* Whoever may advertise can call itself a customer: that leads nobody's jobs to it. */
static void check_desks(struct world *world)
{
    char *victim = live_token(&world->live, "victim", SCOPE_JOB_OWN | SCOPE_JOB_SUBMIT);
    char *part = live_token(&world->live, "mallory/part", SCOPE_JOB_OWN | SCOPE_JOB_SUBMIT);
    struct callee callee, honest;
    char path[64], own[64], type[64] = "";
    struct talk talk;

    callee_start(&callee, HONEST);
    callee_start(&honest, HONEST);
    talk_init(&talk, &world->live);
    customerd_open(world, &callee, "mallory", AGENT_SCOPES, path);
    tap_ok(talk_ask(&talk, victim, "GET", "/v1/desks", NULL, NULL) == 200 && !reply_has(&talk.reply, "mallory"),
           "a customer of somebody else is not among those that one is led to");
    tap_ok(customerd_ask(&talk, &callee, victim, path) == 404 && !callee.elsewhere,
           "nor is anything handed to it when it is named");
    tap_ok(customerd_ask(&talk, &callee, world->admin_token, path) == 404 && !callee.elsewhere,
           "an administrator's neither");
    tap_ok(customerd_ask(&talk, &callee, part, path) == 200 && callee.elsewhere == 1,
           "those that were delegated from its own user are served by it");
    customerd_open(world, &honest, "victim/part", AGENT_SCOPES, own);
    tap_ok(customerd_ask(&talk, &honest, victim, own) == 404 && !honest.elsewhere,
           "who was delegated something by a user does not become that user's customer");
    callee.challenges = 0;
    callee.elsewhere = 0;
    customerd_open(world, &callee, "office", AGENT_SCOPES | SCOPE_SERVE, path);
    tap_ok(talk_ask(&talk, victim, "GET", "/v1/desks", NULL, NULL) == 200 && reply_has(&talk.reply, "office") &&
               customerd_ask(&talk, &callee, victim, path) == 200 && callee.elsewhere == 1,
           "one whose token has the scope to serve others is there for all");
    callee.manner = STRANGE_TYPE;
    tap_ok(customerd_ask(&talk, &callee, victim, path) == 200 &&
               reply_field(&talk.reply, "Content-Type", type, sizeof type) &&
               !strcmp(type, "application/octet-stream") &&
               reply_field_is(&talk.reply, "X-Content-Type-Options", "nosniff"),
           "what it answers is of a few types, and no browser guesses (%s)", type);
    callee.manner = SENDS_AWAY;
    tap_ok(customerd_ask(&talk, &callee, victim, path) == 503, "nor can it sign anybody out");
    talk_done(&talk);
    callee_stop(&callee);
    callee_stop(&honest);
    free(victim);
    free(part);
}

static void check_bad_contact(struct world *world, enum manner manner, const char *name)
{
    struct callee callee;
    char contact[128], state[32];

    callee_start(&callee, manner);
    contact_of(&callee, contact);
    contact_say(world, &callee, contact, state);
    tap_ok(!strcmp(state, "bad") && callee.challenges == 1, "%s: the contact is not good (%s)", name, state);
    match_make(world);
    callee_serve(&callee, 500);
    tap_ok(!callee.messages && !callee.elsewhere, "%s: nothing else of it is ever called", name);
    talk_ask(&world->alice, world->alice_token, "GET", "/v1/events", NULL, NULL);
    tap_ok(reply_has(&world->alice.reply, "Kind=\"match\""), "%s: the match is there as a letter", name);
    callee_stop(&callee);
}

/* Until the state of a contact is told: milliseconds. */
static int64_t contact_span(struct world *world, struct callee *callee, const char *contact, char state[32])
{
    int64_t began = live_clock();

    contact_say(world, callee, contact, state);
    return live_clock() - began;
}

/* Where loopback may be called, nobody learns by it which of its ports are open. */
static void check_probing(struct world *world)
{
    struct callee callee, silent;
    char contact[128], state[32];
    int64_t closed, open, strange;

    callee_start(&callee, NO_PROOF);
    callee_start(&silent, HONEST); /* and is never served */
    contact_of(&callee, contact);
    strange = contact_span(world, &callee, contact, state);
    contact_of(&silent, contact);
    open = contact_span(world, &callee, contact, state);
    closed = contact_span(world, &callee, "http://127.0.0.1:1", state);
    if (!tap_ok(closed >= 1900 && open >= 1900 && strange >= 1900,
                "ports that are closed, open or served look alike to who names them as a contact"))
        tap_diag("closed %lld ms, open %lld ms, served %lld ms", (long long)closed, (long long)open,
                 (long long)strange);
    callee_stop(&callee);
    callee_stop(&silent);
}

/* Addresses that no stranger's word may make us call. */
static void check_forbidden(struct world *world)
{
    static const char *const addresses[] = {"http://192.0.2.7:9",    "http://10.0.0.1:9",  "https://10.0.0.1:9",
                                            "https://169.254.1.1:9", "https://[::1]:9",    "https://[fe80::1]:9",
                                            "https://192.168.0.1:9", "https://127.0.0.1:9"};
    struct callee callee;
    char contact[128], state[32];

    callee_start(&callee, HONEST);
    contact_of(&callee, contact);
    contact_say(world, &callee, contact, state);
    tap_ok(!strcmp(state, "bad"), "a contact on loopback is refused where the pool does not name that network (%s)",
           state);
    match_make(world);
    callee_serve(&callee, 400);
    tap_ok(!callee.connections, "and nobody has called there");
    for (size_t i = 0; i < COUNT(addresses); i++) {
        contact_say(world, &callee, addresses[i], state);
        tap_ok(!strcmp(state, "bad"), "%s is no contact (%s)", addresses[i], state);
    }
    callee_stop(&callee);
    talk_ask(&world->alice, world->alice_token, "PUT", "/v1/agents/fresh", NULL,
             "[Contact = \"http://x y\"; Challenge = \"\"]");
    expect(&world->alice, 400, "a contact that is no address is refused");
    talk_ask(&world->alice, world->alice_token, "GET", "/v1/agents?constraint=Name==%22fresh%22", NULL, NULL);
    tap_ok(world->alice.reply.status == 200 && !reply_has(&world->alice.reply, "fresh"), "and nothing has changed");
}

/* ------------------------------------------------------------------------------------------------------------ canaries */

/* Everything that can be asked for, by everybody, in both forms. */
static void ask_everything(struct world *world)
{
    static const char *const paths[] = {
        "/v1/ads?limit=1000",
        "/v1/ads/offer1",
        "/v1/ads/job1",
        "/v1/ads/offer1/matches",
        "/v1/ads/job1/matches",
        "/v1/ads/offer1/why",
        "/v1/ads/job1/why",
        "/v1/matches",
        "/v1/claims",
        "/v1/users",
        "/v1/users/bob",
        "/v1/agents",
        "/v1/status",
        "/v1/policy",
        "/v1/tokens",
        "/metrics",
        "/v1",
        "/v1/keys",
        "/openapi.json",
        "/v1/config/x",
    };
    struct talk *talks[] = {&world->alice, &world->bob, &world->carol, &world->admin};
    const char *tokens[] = {world->alice_token, world->bob_token, world->carol_token, world->admin_token};

    for (size_t i = 0; i < COUNT(paths); i++)
        for (size_t n = 0; n < COUNT(talks); n++) {
            /* His own matches are bob's letters again. */
            talks[n]->heard = n == 1 && !strcmp(paths[i], "/v1/ads/job1/matches") ? &world->letters : &world->rest;
            talk_ask(talks[n], tokens[n], "GET", paths[i], NULL, NULL);
            talk_ask(talks[n], tokens[n], "GET", paths[i], "Accept: application/json\r\n", NULL);
            talks[n]->heard = &world->rest;
        }
    world->admin.agent = "cust"; /* under bob's agent's name, but not as bob */
    talk_ask(&world->admin, world->admin_token, "GET", "/v1/events", NULL, NULL);
    world->admin.agent = NULL;
    talk_ask(&world->alice, world->alice_token, "GET", "/v1/events", NULL, NULL);
    talk_ask(&world->carol, world->carol_token, "GET", "/v1/events", NULL, NULL);
    /* What is wrong is answered with words; none of them may be a secret. */
    talk_ask(&world->alice, world->alice_token, "PUT", "/v1/ads/odd", "Berth-Key: " OFFER_KEY "ff\r\n", "[A = 1]");
    talk_ask(&world->alice, world->alice_token, "PUT", "/v1/ads/odd", "Berth-Key: " OFFER_KEY "\r\n", "[A = ");
    talk_ask(&world->alice, world->alice_token, "PUT", "/v1/agents/odd", NULL,
             "[Contact = \"frob\"; Challenge = \"" CHALLENGE_KEY "\"]");
    talk_ask(&world->alice, world->alice_token, "POST", "/v1/ads", NULL,
             "[Message=\"advertise\";Id=\"odd\";Key=\"" OFFER_KEY "\";Frob=1;Ad=[]]");
}

/* In either case of letters. */
static bool holds(struct buf *text, const char *secret)
{
    char upper[2 * KEY_BYTES + 1];
    size_t i = 0;

    for (; secret[i] && i < sizeof upper - 1; i++)
        upper[i] = (char)(secret[i] >= 'a' ? secret[i] - 32 : secret[i]);
    upper[i] = '\0';
    return strstr(buf_string(text), secret) || strstr(buf_string(text), upper);
}

/* Where in a text it stands, for the diagnosis. */
static void holds_diag(struct buf *text, const char *secret)
{
    const char *at = strstr(buf_string(text), secret), *from = at;

    while (from && from > text->text && at - from < 300)
        from--;
    if (at)
        tap_diag("...%.*s", (int)(at - from) + 20, from);
}

static void check_canaries(struct world *world, const char *where)
{
    static const struct {
        const char *name, *secret;
    } rows[] = {{"an offer's key", OFFER_KEY}, {"a contact's challenge", CHALLENGE_KEY}};
    char ticket[2 * KEY_BYTES + 1];
    size_t tickets = 0, leaked = 0, logged = 0;
    const char *at;
    struct buf log;

    buf_init(&log);
    ask_everything(world);
    live_read_log(&world->live, &log);
    /* Answers hold NULs of messages that were carried: they would end a search. */
    for (size_t i = 0; i < world->rest.len; i++)
        world->rest.text[i] = world->rest.text[i] ? world->rest.text[i] : ' ';
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!tap_ok(!holds(&world->rest, rows[i].secret), "%s: %s is in no answer, event or number", where,
                    rows[i].name))
            holds_diag(&world->rest, rows[i].secret);
        tap_ok(!holds(&world->letters, rows[i].secret), "%s: %s is in no letter to the customer", where, rows[i].name);
        tap_ok(!holds(&log, rows[i].secret), "%s: %s is not in the log", where, rows[i].name);
    }
    for (at = buf_string(&world->letters); (at = ticket_next(at, ticket)); tickets++) {
        bool told = holds(&world->rest, ticket);

        if (told && !leaked++)
            holds_diag(&world->rest, ticket);
        logged += holds(&log, ticket);
    }
    if (!tap_ok(tickets && !leaked, "%s: a ticket is told to nobody but the customer it belongs to", where))
        tap_diag("%zu of %zu tickets", leaked, tickets);
    tap_ok(!logged, "%s: no ticket is in the log", where);
    tap_ok(!strstr(buf_string(&log), "v4.public"), "%s: no token is in the log", where);
    buf_done(&log);
}

/* The matches of several agents, page by page. */
static void check_match_pages(struct world *world)
{
    char cursor[64] = "", path[128];
    size_t whole, count = 0, turned = 0;

    talk_ask(&world->bob, world->bob_token, "GET", "/v1/matches?limit=1000", NULL, NULL);
    whole = text_count(buf_string(&world->bob.reply.body), "Type = \"Match\"");
    for (; turned < 100; turned++) {
        snprintf(path, sizeof path, "/v1/matches?limit=2%s%s", *cursor ? "&cursor=" : "", cursor);
        talk_ask(&world->bob, world->bob_token, "GET", path, NULL, NULL);
        count += text_count(buf_string(&world->bob.reply.body), "Type = \"Match\"");
        if (!reply_field(&world->bob.reply, "Berth-Cursor", cursor, sizeof cursor))
            break;
    }
    if (!tap_ok(whole > 4 && count == whole, "matches are given page by page, none left out"))
        tap_diag("%zu of %zu in %zu pages", count, whole, turned + 1);
}

/* --------------------------------------------------------------------------------------------------------------- lives */

/* The next incarnation knows nothing of the letters, and says so. */
static void check_restart(struct world *world, const char *const *settings, size_t count)
{
    struct talk stream;
    char last[64], fields[128], now[64];

    stream_open(&stream, &world->live, world->bob_token, "cust", NULL, &world->letters);
    stream_wait(&stream, "]]\n\n", 1, SOON);
    stream_id(&stream, 0, last);
    tap_ok(live_stop(&world->live) == 0, "told to end while streams are open, it ends well");
    tap_ok(stream_ends(&stream, SOON), "and so do they");
    talk_done(&stream);
    talk_close(&world->alice);
    talk_close(&world->bob);
    talk_close(&world->carol);
    talk_close(&world->admin);
    live_run(&world->live, settings, count);
    snprintf(fields, sizeof fields, "Last-Event-ID: %s\r\n", last);
    stream_open(&stream, &world->live, world->bob_token, "cust", fields, &world->letters);
    tap_ok(stream_wait(&stream, "event: reset", 1, SOON) && stream_wait(&stream, "]\n\n", 1, SOON),
           "after a restart a stream that is resumed begins with reset");
    stream_id(&stream, 0, now);
    tap_ok(strncmp(now, last, 17) != 0, "in an incarnation of its own");
    talk_done(&stream);
}

static void check_stream_limit(struct world *world)
{
    struct talk streams[6];
    int good = 0, refused = 0;

    for (int i = 0; i < 6; i++) {
        unsigned status = stream_open(&streams[i], &world->live, world->carol_token, NULL, NULL, NULL);

        good += status == 200;
        if (status == 429) {
            stream_listen(&streams[i], 20);
            refused++;
        }
    }
    tap_ok(good == 4 && refused == 2, "an identity has as many streams as the pool allows, and no more");
    for (int i = 0; i < 6; i++)
        talk_done(&streams[i]);
}

int main(void)
{
    static const char *const settings[] = {"RequestsPerSecond=10000000",
                                           "AgentRequestsPerSecond=10000000",
                                           "LogLevel=\"debug\"",
                                           "Deadline=2",
                                           "StreamQueue=\"256 KiB\"",
                                           "ReplyDeadline=3",
                                           "Window=30"};
    static const char *const calling[] = {"RequestsPerSecond=10000000",
                                          "AgentRequestsPerSecond=10000000",
                                          "LogLevel=\"debug\"",
                                          "Deadline=2",
                                          "Networks={\"127.0.0.0/8\"}",
                                          "StreamsPerIdentity=4",
                                          "Window=30"};
    struct rlimit files;
    struct world world;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    world_start(&world, settings, COUNT(settings));
    check_letters(&world);
    check_sight(&world);
    check_resuming(&world);
    check_long_poll(&world);
    check_relay(&world);
    check_chorus(&world);
    check_flood(&world);
    check_crowd(&world);
    check_forbidden(&world);
    check_slow(&world);
    check_pile(&world);
    check_ending(&world);
    check_match_pages(&world);
    check_canaries(&world, "by letter");
    check_restart(&world, settings, COUNT(settings));
    check_receipts(&world);
    tap_ok(live_is_up(&world.live), "after all that it lives");
    world_stop(&world);

    world_start(&world, calling, COUNT(calling));
    {
        struct talk bob;

        stream_open(&bob, &world.live, world.bob_token, "cust", NULL, &world.letters);
        check_contact(&world);
        check_desks(&world);
        check_probing(&world);
        check_bad_contact(&world, WRONG_PROOF, "a wrong proof");
        check_bad_contact(&world, NO_PROOF, "no proof");
        check_bad_contact(&world, REDIRECTS, "a redirect instead of a proof");
        stream_wait(&bob, "event: match", (size_t)world.matches, SOON);
        talk_done(&bob);
    }
    check_stream_limit(&world);
    check_canaries(&world, "by a call");
    world_stop(&world);
    return tap_done();
}
