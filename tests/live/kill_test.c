/* kill_test.c: kill -9 of the matchmaker under load, again and again: what it has acknowledged is there afterwards.
 *
 *     load: several clients change things, one request after another each -> kill -9 -> what had been answered is read to its end
 *     -> `berth store check` -> start -> everything is compared with the test's own record -> load ...
 *
 * The record of a thing that can change: the value that was acknowledged last, and those that were asked for since. One of them it
 * must have; it never goes back. BERTH_ROUNDS says how often it is killed, BERTH_SEED when. */
#define _GNU_SOURCE
#include "common/tap.h"
#include "process.h"

#define WRITERS 4 /* clients that change users, sections and the policy */
#define ITEMS 8   /* users, and as many sections, that one of them changes */
#define TOKENERS 2
#define AGENTS 3
#define WORKERS (WRITERS + TOKENERS + AGENTS)
#define ADS 4          /* of an agent */
#define ROUND_TOKENS 8 /* that are made in one round, at most */
#define TRIES_MAX 256
#define ABSENT 0 /* the value of what is not there */
#define SAID_MAX 5
#define TOKEN_MAX 1400

/* What is promised; the last word is the sentence of the case. */
#define CLAIMS(X)                                                                                             \
    X(KEPT, "what was acknowledged is there after kill -9, or something that was asked for later")            \
    X(WHOLE, "a section is written whole or not at all")                                                      \
    X(NOTHING_ELSE, "nothing is there that nobody asked for")                                                 \
    X(TOKEN_GOOD, "a token that was made goes on working")                                                    \
    X(TOKEN_GONE, "a token that was revoked is refused for ever")                                             \
    X(SOUND, "the store is sound after every kill, and while it is in use")                                   \
    X(STARTS, "it starts again each time, within a second")                                                   \
    X(FORGOTTEN, "after a restart no ad is known, a bare renewal is answered 412, and the whole ad is taken") \
    X(RESET, "events of another life begin with a reset, and no life is called like an earlier one")          \
    X(ANSWERED, "while it lives every request is answered as it should be, and no connection is lost")

enum claim {
#define X(id, words) CLAIM_##id,
    CLAIMS(X)
#undef X
        CLAIM_COUNT
};

static const char *const claim_words[] = {
#define X(id, words) words,
    CLAIMS(X)
#undef X
};

/* A thing that can change, and what is known of it. */
struct item {
    enum { ITEM_USER, ITEM_SECTION, ITEM_POLICY } sort;
    char path[64];
    long acked, next;
    long tries[TRIES_MAX];
    int try_count;
};

struct token {
    char *text; /* NULL: that it was made was never told */
    char id[40];
    enum { TOKEN_ASKED, TOKEN_MADE, TOKEN_REVOKING, TOKEN_REVOKED } state;
    uint64_t round; /* when something last happened to it */
};

/* An ad that an agent keeps up. */
struct ad {
    char path[64];
    unsigned long version;
    char etag[80];
};

struct worker {
    struct talk talk;
    bool busy;
    struct item *item; /* that it is changing */
    long value;
    size_t token;
    bool revoking;
    struct ad *ad;
    bool renewing;
    struct item items[2 * ITEMS + 1];
    int item_count;
    struct ad ads[ADS];
    char agent[64]; /* its header field */
};

struct test {
    struct live live;
    struct rng rng;
    uint64_t round, rounds, thorough; /* in one of that many all tokens are looked at */
    struct worker workers[WORKERS];
    struct token *tokens;
    size_t token_count, token_room;
    unsigned round_tokens;
    char admin[TOKEN_MAX];
    char (*lives)[24]; /* incarnations, one a round */
    struct talk local;
    struct reply reply;
    uint64_t looked[CLAIM_COUNT], wrong[CLAIM_COUNT];
    uint64_t acks[3]; /* by item, token, ad */
    int64_t longest;
};

__attribute__((format(printf, 4, 5))) static bool claim(struct test *test, enum claim which, bool holds,
                                                        const char *format, ...)
{
    char text[1024];
    va_list args;

    test->looked[which]++;
    if (holds)
        return true;
    if (test->wrong[which]++ < SAID_MAX) {
        va_start(args, format);
        vsnprintf(text, sizeof text, format, args);
        va_end(args);
        tap_diag("round %llu: %s", (unsigned long long)test->round, text);
    }
    return false;
}

/* --------------------------------------------------------------------------------------------------------------- items */

static void item_tried(struct item *item, long value)
{
    if (item->try_count < TRIES_MAX)
        item->tries[item->try_count++] = value;
}

static void item_acked(struct item *item, long value)
{
    item->acked = value;
    item->try_count = 0;
}

static bool item_may_be(const struct item *item, long value)
{
    bool may = value == item->acked;

    for (int i = 0; i < item->try_count; i++)
        may = may || value == item->tries[i];
    return may;
}

static void item_ask(struct test *test, struct worker *worker)
{
    struct item *item = &worker->items[rng_below(&test->rng, (uint64_t)worker->item_count)];
    bool removes =
        item->sort == ITEM_SECTION && item->acked != ABSENT && !item->try_count && rng_below(&test->rng, 6) == 0;
    long value = removes ? ABSENT : item->next++;
    char body[128];

    static const char *const forms[] = {"[ Factor = %ld.0 ]", "[ First = %ld; Second = \"of %ld\"; Third = %ld ]",
                                        "[ RootOrder = %ld ]"};
    snprintf(body, sizeof body, forms[item->sort], value, value, value);
    item_tried(item, value);
    worker->item = item;
    worker->value = value;
    worker->busy =
        talk_send(&worker->talk, removes ? "DELETE" : "PUT", item->path, test->admin, NULL, removes ? NULL : body);
}

static void item_answered(struct test *test, struct worker *worker)
{
    unsigned status = test->reply.status;

    if (claim(test, CLAIM_ANSWERED, status / 100 == 2, "%s: %u %s", worker->item->path, status,
              buf_string(&test->reply.body))) {
        item_acked(worker->item, worker->value);
        test->acks[0]++;
    }
}

/* The value that the service tells; ABSENT for none. */
static long item_read(struct test *test, const struct item *item)
{
    unsigned status = talk_ask(&test->local, &test->live, "GET", item->path, NULL, NULL, NULL, &test->reply);
    static const char *const names[] = {"Factor", "First", "RootOrder"};
    char text[64], third[64];

    if (status == 404)
        return ABSENT;
    claim(test, CLAIM_ANSWERED, status == 200, "GET %s: %u", item->path, status);
    reply_text(&test->reply, names[item->sort], text, sizeof text);
    if (item->sort == ITEM_SECTION) {
        reply_text(&test->reply, "Third", third, sizeof third);
        claim(test, CLAIM_WHOLE, !strcmp(text, third), "%s: %s", item->path, buf_string(&test->reply.body));
    }
    return strtol(text, NULL, 10);
}

static void item_check(struct test *test, struct item *item)
{
    long value = item_read(test, item);

    claim(test, CLAIM_KEPT, item_may_be(item, value),
          "%s is %ld; %ld was acknowledged, and %d were asked for since, the last %ld", item->path, value, item->acked,
          item->try_count, item->try_count ? item->tries[item->try_count - 1] : -1);
    item_acked(item, value); /* it was on disk, and shall not go back */
}

/* -------------------------------------------------------------------------------------------------------------- tokens */

static struct token *token_new(struct test *test)
{
    if (test->token_count == test->token_room) {
        test->token_room = test->token_room ? 2 * test->token_room : 256;
        test->tokens = realloc(test->tokens, test->token_room * sizeof *test->tokens);
    }
    test->tokens[test->token_count] = (struct token){.state = TOKEN_ASKED, .round = test->round};
    return &test->tokens[test->token_count++];
}

static void token_ask(struct test *test, struct worker *worker)
{
    char body[128], path[96];
    size_t place = test->token_count ? rng_below(&test->rng, test->token_count) : 0;
    struct token *token = test->token_count ? &test->tokens[place] : NULL;

    worker->item = NULL;
    worker->revoking = token && (test->round_tokens == ROUND_TOKENS || rng_below(&test->rng, 3) == 0);
    if (!worker->revoking && test->round_tokens < ROUND_TOKENS) {
        worker->token = test->token_count;
        token_new(test);
        test->round_tokens++;
        snprintf(body, sizeof body, "[ Subject = \"t%zu\"; Scope = \"ad:read\"; Lifetime = 86400 ]", worker->token);
        worker->busy = talk_send(&worker->talk, "POST", "/v1/tokens", test->admin, NULL, body);
        return;
    }
    if (!token->text || place % 3 == 0) { /* some are never revoked */
        worker->busy = false;
        return;
    }
    worker->token = place;
    if (token->state == TOKEN_MADE)
        token->state = TOKEN_REVOKING;
    token->round = test->round;
    snprintf(path, sizeof path, "/v1/tokens/%s", token->id);
    worker->busy = talk_send(&worker->talk, "DELETE", path, test->admin, NULL, NULL);
}

static void token_answered(struct test *test, struct worker *worker)
{
    struct token *token = &test->tokens[worker->token];
    unsigned status = test->reply.status;
    char text[TOKEN_MAX];

    if (!claim(test, CLAIM_ANSWERED, status == (worker->revoking ? 204u : 201u), "token t%zu, %s: %u", worker->token,
               worker->revoking ? "revoked" : "made", status))
        return;
    test->acks[1]++;
    if (worker->revoking) {
        token->state = TOKEN_REVOKED;
        return;
    }
    reply_text(&test->reply, "Token", text, sizeof text);
    reply_text(&test->reply, "Id", token->id, sizeof token->id);
    token->text = strdup(text);
    token->state = TOKEN_MADE;
}

static void token_check(struct test *test, size_t place)
{
    struct token *token = &test->tokens[place];
    unsigned status;

    if (!token->text)
        return;
    status = talk_ask(&test->local, &test->live, "GET", "/v1/status", token->text, NULL, NULL, &test->reply);
    if (token->state == TOKEN_REVOKED)
        claim(test, CLAIM_TOKEN_GONE, status == 401, "t%zu was revoked, and is answered %u", place, status);
    else if (token->state == TOKEN_MADE)
        claim(test, CLAIM_TOKEN_GOOD, status == 200, "t%zu was made, and is answered %u", place, status);
    else if (claim(test, CLAIM_TOKEN_GOOD, status == 200 || status == 401, "t%zu is answered %u", place, status))
        token->state = status == 401 ? TOKEN_REVOKED : TOKEN_MADE;
}

/* The list has all that were told of, and none but those that were asked for. */
static void tokens_check_list(struct test *test)
{
    unsigned char *listed = calloc(test->token_count + 1, 1);
    unsigned status =
        talk_ask(&test->local, &test->live, "GET", "/v1/tokens?limit=100000", NULL, NULL, NULL, &test->reply);

    claim(test, CLAIM_ANSWERED, status == 200, "GET /v1/tokens: %u", status);
    for (const char *at = buf_string(&test->reply.body); (at = strstr(at, "Subject = \"")); at++) {
        size_t place;

        if (!strncmp(at + 11, "keeper", 6))
            continue;
        if (claim(test, CLAIM_NOTHING_ELSE,
                  sscanf(at + 11, "t%zu\"", &place) == 1 && place < test->token_count && !listed[place],
                  "a token of %.20s is listed", at + 11))
            listed[place] = 1;
    }
    for (size_t i = 0; i < test->token_count; i++)
        claim(test, CLAIM_KEPT, listed[i] || !test->tokens[i].text, "token t%zu is not listed", i);
    free(listed);
}

/* ----------------------------------------------------------------------------------------------------------------- ads */

static bool ad_send(struct talk *talk, const struct test *test, const struct worker *worker, const struct ad *ad,
                    bool bare)
{
    char fields[256], body[128];

    if (bare)
        snprintf(fields, sizeof fields, "%sIf-Match: %s\r\n", worker->agent, ad->etag);
    else
        snprintf(fields, sizeof fields, "%sBerth-Version: %lu\r\n", worker->agent, ad->version);
    snprintf(body, sizeof body, "[ Type = \"Machine\"; Memory = %lu; Lifetime = 600 ]", ad->version);
    return talk_send(talk, "PUT", ad->path, test->admin, fields, bare ? NULL : body);
}

static void ad_ask(struct test *test, struct worker *worker)
{
    worker->item = NULL;
    worker->ad = &worker->ads[rng_below(&test->rng, ADS)];
    worker->renewing = rng_below(&test->rng, 3) != 0;
    worker->ad->version += !worker->renewing;
    worker->busy = ad_send(&worker->talk, test, worker, worker->ad, worker->renewing);
}

static void ad_answered(struct test *test, struct worker *worker)
{
    if (claim(test, CLAIM_ANSWERED, test->reply.status == 200, "%s, %s: %u %s", worker->ad->path,
              worker->renewing ? "renewed" : "changed", test->reply.status, buf_string(&test->reply.body)))
        snprintf(worker->ad->etag, sizeof worker->ad->etag, "%s", test->reply.etag);
    test->acks[2]++;
}

/* An agent that has heard nothing of the restart renews, is told 412, and sends the whole. */
static void ad_relearn(struct test *test, struct worker *worker, struct ad *ad)
{
    struct reply *reply = &test->reply;
    bool known = ad->etag[0] != '\0';

    if (known) {
        ad_send(&worker->talk, test, worker, ad, true);
        talk_wait(&worker->talk, LIVE_PATIENCE, reply);
        claim(test, CLAIM_FORGOTTEN, reply->status == 412, "%s, renewed after a restart: %u", ad->path, reply->status);
    }
    ad->version++;
    ad_send(&worker->talk, test, worker, ad, false);
    talk_wait(&worker->talk, LIVE_PATIENCE, reply);
    claim(test, CLAIM_FORGOTTEN, reply->status == 201, "%s, whole after a restart: %u", ad->path, reply->status);
    snprintf(ad->etag, sizeof ad->etag, "%s", reply->etag);
    ad_send(&worker->talk, test, worker, ad, true);
    talk_wait(&worker->talk, LIVE_PATIENCE, reply);
    claim(test, CLAIM_FORGOTTEN, reply->status == 200, "%s, renewed after that: %u", ad->path, reply->status);
}

/* ---------------------------------------------------------------------------------------------------------------- load */

static void worker_ask(struct test *test, size_t place)
{
    struct worker *worker = &test->workers[place];

    if (place < WRITERS)
        item_ask(test, worker);
    else if (place < WRITERS + TOKENERS)
        token_ask(test, worker);
    else
        ad_ask(test, worker);
}

/* Everything that has been answered, read. */
static void worker_hear(struct test *test, size_t place, bool alive)
{
    struct worker *worker = &test->workers[place];
    enum talk_result result;

    while (worker->busy && (result = talk_take(&worker->talk, &test->reply)) != TALK_WAIT) {
        if (result == TALK_CLOSED) {
            worker->busy = false;
            claim(test, CLAIM_ANSWERED, !alive, "the connection of client %zu was closed", place);
            return;
        }
        if (place < WRITERS)
            item_answered(test, worker);
        else if (place < WRITERS + TOKENERS)
            token_answered(test, worker);
        else
            ad_answered(test, worker);
        worker->busy = false;
        if (alive)
            worker_ask(test, place);
    }
}

static void load_run(struct test *test, int64_t milliseconds)
{
    int64_t ends = live_now() + milliseconds;
    struct pollfd at[WORKERS];

    while (live_now() < ends) {
        for (size_t i = 0; i < WORKERS; i++) {
            if (!test->workers[i].busy && test->workers[i].talk.fd >= 0)
                worker_ask(test, i);
            at[i] = (struct pollfd){.fd = test->workers[i].talk.fd, .events = POLLIN};
        }
        poll(at, WORKERS, (int)(ends - live_now() > 0 ? ends - live_now() : 0));
        for (size_t i = 0; i < WORKERS; i++)
            worker_hear(test, i, true);
    }
}

/* The moment when an answer has just left is the one at which it must be on disk. */
static void answer_await(const struct test *test)
{
    struct pollfd at[WRITERS + TOKENERS];

    for (size_t i = 0; i < WRITERS + TOKENERS; i++)
        at[i] = (struct pollfd){.fd = test->workers[i].busy ? test->workers[i].talk.fd : -1, .events = POLLIN};
    poll(at, WRITERS + TOKENERS, 50);
}

/* Dead: what it had answered before is in the sockets still. */
static void kill_now(struct test *test)
{
    live_kill(&test->live);
    for (size_t i = 0; i < WORKERS; i++) {
        worker_hear(test, i, false);
        talk_close(&test->workers[i].talk);
    }
    talk_close(&test->local);
}

/* --------------------------------------------------------------------------------------------------------------- checks */

static void events_check(struct test *test, const char *before)
{
    struct talk talk;
    char path[96], fields[128];

    talk_init(&talk);
    snprintf(path, sizeof path, "/v1/events?after=%s.7", before);
    talk_ask(&test->local, &test->live, "GET", path, NULL, NULL, NULL, &test->reply);
    claim(test, CLAIM_RESET, strstr(buf_string(&test->reply.body), "\"reset\"") != NULL,
          "asked for events after %s.7: %s", before, buf_string(&test->reply.body));
    snprintf(fields, sizeof fields, "Accept: text/event-stream\r\nLast-Event-ID: %s.7\r\n", before);
    talk_open(&talk, &test->live);
    talk_send(&talk, "GET", "/v1/events", test->admin, fields, NULL);
    claim(test, CLAIM_RESET, talk_hears(&talk, "event: reset\n", 5000), "a stream after %s.7 begins: %.300s", before,
          buf_string(&talk.in));
    talk_done(&talk);
}

static void life_check(struct test *test)
{
    char ads[32], *life = test->lives[test->round];

    talk_ask(&test->local, &test->live, "GET", "/v1/status", NULL, NULL, NULL, &test->reply);
    reply_text(&test->reply, "Incarnation", life, 24);
    reply_text(&test->reply, "Ads", ads, sizeof ads);
    claim(test, CLAIM_FORGOTTEN, !strcmp(ads, "0"), "%s ads after a restart", ads);
    claim(test, CLAIM_RESET, strlen(life) == 16, "the incarnation is '%s'", life);
    for (uint64_t i = 0; i < test->round; i++)
        if (!strcmp(test->lives[i], life))
            claim(test, CLAIM_RESET, false, "the incarnation is that of round %llu", (unsigned long long)i);
    if (test->round)
        events_check(test, test->lives[rng_below(&test->rng, test->round)]);
}

static void ads_check(struct test *test)
{
    char ads[32];

    for (size_t i = WRITERS + TOKENERS; i < WORKERS; i++)
        for (size_t n = 0; n < ADS; n++)
            ad_relearn(test, &test->workers[i], &test->workers[i].ads[n]);
    talk_ask(&test->local, &test->live, "GET", "/v1/status", NULL, NULL, NULL, &test->reply);
    reply_text(&test->reply, "Ads", ads, sizeof ads);
    claim(test, CLAIM_FORGOTTEN, atoi(ads) == AGENTS * ADS, "%s ads, and %d were sent", ads, AGENTS * ADS);
}

static void all_check(struct test *test, bool thorough)
{
    static const char *const never[] = {"/v1/users/nobody", "/v1/config/nothing"};

    life_check(test);
    for (size_t i = 0; i < WRITERS; i++)
        for (int n = 0; n < test->workers[i].item_count; n++)
            item_check(test, &test->workers[i].items[n]);
    for (int i = 0; i < 2; i++)
        claim(test, CLAIM_NOTHING_ELSE,
              talk_ask(&test->local, &test->live, "GET", never[i], NULL, NULL, NULL, &test->reply) == 404,
              "%s is there", never[i]);
    talk_close(&test->local); /* tokens speak by TCP */
    for (size_t i = 0; i < test->token_count; i++)
        if (thorough || test->tokens[i].round + 1 >= test->round || rng_below(&test->rng, test->token_count) < 20)
            token_check(test, i);
    talk_close(&test->local);
    if (thorough)
        tokens_check_list(test);
    ads_check(test);
}

static bool start_now(struct test *test)
{
    bool up = live_start(&test->live);

    claim(test, CLAIM_STARTS, up && test->live.took < 1000 * LIVE_SLOWER, "%s after %lld ms", up ? "up" : "not up",
          (long long)test->live.took);
    if (test->live.took > test->longest)
        test->longest = test->live.took;
    for (size_t i = 0; up && i < WORKERS; i++)
        claim(test, CLAIM_ANSWERED, talk_open(&test->workers[i].talk, &test->live), "client %zu cannot connect", i);
    return up;
}

static void store_check(struct test *test, const char *when)
{
    struct buf said;
    bool sound;

    buf_init(&said);
    sound = live_store_is_sound(&test->live, &said);
    claim(test, CLAIM_SOUND, sound, "berth store check %s: %s", when, buf_string(&said));
    buf_done(&said);
}

static bool round_run(struct test *test)
{
    test->round_tokens = 0;
    if (!start_now(test))
        return false;
    if (!test->round &&
        !claim(test, CLAIM_ANSWERED,
               live_token(&test->live, "keeper", "ad:read ad:write admin config", test->admin, sizeof test->admin),
               "no token is made"))
        return false;
    all_check(test, test->round % test->thorough == test->thorough - 1);
    load_run(test, 20 + (int64_t)rng_below(&test->rng, 100));
    if (test->round % 10 == 5)
        store_check(test, "while it is in use"); /* requests are under way */
    if (rng_below(&test->rng, 2))
        answer_await(test);
    kill_now(test);
    store_check(test, "after the kill");
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- beside usage */

/* Usage is written now and then; an operator's word is not kept waiting for it. */
static void factor_beside_usage(struct test *test)
{
    static const char form[] = "[ Message = \"report\"; Claim = \"%.16s\"; Gang = \"0000000000000022\"; "
                               "Owner = \"root\"; Used = 1000000; Over = false ]";
    char report[256] = "";
    const char *claim;
    struct live live;
    unsigned told = 0, after = 0;

    live_init(&live);
    talk_close(&test->local);
    if (live_start(&live)) { /* a claim of one's own on an offer of one's own */
        talk_ask(&test->local, &live, "PUT", "/v1/ads/offer", NULL, NULL, "[ Type = \"Machine\"; Mine = 1 ]",
                 &test->reply);
        talk_ask(&test->local, &live, "PUT", "/v1/ads/job", NULL, NULL,
                 "[ Type = \"Job\"; Constraint = other.Mine == 1 ]", &test->reply);
        talk_ask(&test->local, &live, "GET", "/v1/events?wait=5", NULL, NULL, NULL, &test->reply);
        claim = strstr(buf_string(&test->reply.body), "Edges={[Claim=\"");
        if (claim)
            snprintf(report, sizeof report, form, claim + strlen("Edges={[Claim=\""));
    }
    for (int i = 0; i < 2 && *report; i++) { /* the second waits for the next time that usage is written */
        talk_ask(&test->local, &live, "POST", "/v1/claims", NULL, NULL, report, &test->reply);
        live_sleep(200);
    }
    told = talk_ask(&test->local, &live, "PUT", "/v1/users/carol", NULL, NULL, "[ Factor = 7.0 ]", &test->reply);
    live_sleep(100);
    live_kill(&live);
    talk_close(&test->local);
    if (live_start(&live))
        after = talk_ask(&test->local, &live, "GET", "/v1/users/carol", NULL, NULL, NULL, &test->reply);
    talk_close(&test->local);
    tap_ok(*report && told == 200 && after == 200,
           "a factor is kept from when it is acknowledged, also while claims report usage (%u, %u)", told, after);
    live_done(&live);
}

/* ---------------------------------------------------------------------------------------------------------------- life */

static void item_init(struct worker *worker, int sort, const char *form, size_t number)
{
    struct item *item = &worker->items[worker->item_count++];

    *item = (struct item){.next = 2}; /* a factor of 1 is that of everybody */
    item->sort = sort;
    snprintf(item->path, sizeof item->path, form, number);
}

static void test_init(struct test *test)
{
    live_init(&test->live);
    live_set(&test->live, "AgentRequestsPerSecond=1000000");
    rng_init(&test->rng, live_setting("BERTH_SEED", 1));
    test->rounds = live_setting("BERTH_ROUNDS", 100);
    test->thorough = test->rounds < 100 ? 20 : test->rounds / 5;
    test->lives = calloc(test->rounds + 1, sizeof *test->lives);
    talk_init(&test->local);
    reply_init(&test->reply);
    for (size_t i = 0; i < WORKERS; i++) {
        struct worker *worker = &test->workers[i];

        talk_init(&worker->talk);
        snprintf(worker->agent, sizeof worker->agent, "Berth-Agent: agent%zu\r\n", i);
        for (size_t n = 0; n < ADS; n++)
            snprintf(worker->ads[n].path, sizeof worker->ads[n].path, "/v1/ads/ad%zu.%zu", i, n);
        for (size_t n = 0; n < ITEMS && i < WRITERS; n++) {
            item_init(worker, ITEM_USER, "/v1/users/user%zu", i * ITEMS + n);
            item_init(worker, ITEM_SECTION, "/v1/config/section%zu", i * ITEMS + n);
        }
    }
    item_init(&test->workers[0], ITEM_POLICY, "/v1/policy", 0);
}

static void test_done(struct test *test)
{
    for (size_t i = 0; i < WORKERS; i++)
        talk_done(&test->workers[i].talk);
    for (size_t i = 0; i < test->token_count; i++)
        free(test->tokens[i].text);
    free(test->tokens);
    free(test->lives);
    talk_done(&test->local);
    reply_done(&test->reply);
    live_done(&test->live);
}

int main(void)
{
    static struct test test;
    bool goes_on = true;

    test_init(&test);
    for (; test.round < test.rounds && goes_on; test.round++)
        goes_on = round_run(&test);
    if (goes_on && start_now(&test)) {
        all_check(&test, true);
        tap_ok(live_stop(&test.live) == 0, "after all that it ends well");
    }
    for (int i = 0; i < CLAIM_COUNT; i++)
        tap_ok(!test.wrong[i] && (test.looked[i] || test.rounds < 20), "%s (looked at %llu times)", claim_words[i],
               (unsigned long long)test.looked[i]);
    tap_ok(test.acks[0] >= test.rounds && test.acks[1] >= test.rounds && test.acks[2] >= test.rounds,
           "%llu kills under load: %llu changes, %llu tokens and %llu ads were acknowledged in between",
           (unsigned long long)test.round, (unsigned long long)test.acks[0], (unsigned long long)test.acks[1],
           (unsigned long long)test.acks[2]);
    tap_diag("the longest start took %lld ms", (long long)test.longest);
    factor_beside_usage(&test);
    test_done(&test);
    return tap_done();
}
