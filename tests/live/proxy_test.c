/* proxy_test.c: agents advertise to the matchmaker through a network that delays, cuts, stalls and repeats what they say.
 *
 *     providers --- fault_proxy --- matchmaker --- customer      the customer and the test itself are beside it, without faults
 *
 * Every offer is of one unit, and says the number of its text. A provider that hears of a match writes a new text, which names the
 * match: a unit is free again. So at most one match may be told of each text; the customer, who is sent the offer's text with the match,
 * counts. The first argument is the program fault_proxy. BERTH_SEED says what the network does. */
#define _GNU_SOURCE
#include "common/tap.h"
#include "process.h"

#define PROVIDERS 6
#define OFFERS 5 /* of a provider */
#define ALL (PROVIDERS * OFFERS)
#define TEXTS_MAX 4000
#define JOBS 10 /* that wait to be matched */
#define TOKEN_MAX 1400
#define PATIENCE 400 /* milliseconds that a provider waits for an answer */
#define FAULTS_SPAN 6000
#define CALM_SPAN 6000
#define FIELDS_MAX 320
#define BODY_MAX 256

struct offer {
    char hex[20];            /* its number, as letters name it */
    unsigned text, known;    /* the newest that was written; the newest that was acknowledged */
    unsigned long long last; /* matches up to that one were heard of */
    char etag[80];
    unsigned seen_text;           /* the newest that the test has seen in the pool */
    unsigned long long told;      /* matches that the customer was told of */
    unsigned char per[TEXTS_MAX]; /* matches told of each text */
};

enum doing { DOING_NOTHING, DOING_TEXT, DOING_RENEWAL, DOING_EVENTS };

struct provider {
    struct talk talk;
    char agent[64];
    char after[64];
    enum doing doing;
    size_t offer; /* of OFFERS */
    unsigned text;
    int64_t since, pause;
    struct offer offers[OFFERS];
};

struct test {
    struct live live;
    struct rng rng;
    pid_t proxy;
    int proxy_out, port; /* that providers connect to */
    char token[TOKEN_MAX];
    struct provider providers[PROVIDERS];
    struct talk customer, watcher;
    struct reply reply;
    char after[64], incarnation[24];
    size_t jobs;
    size_t back, doubled, strange, late_taken;        /* what went wrong */
    size_t texts, renewals, lost, stale, looks, late; /* what happened */
};

/* ----------------------------------------------------------------------------------------------------------- providers */

/* A text of an offer, and what stands beside it: which matches it names. */
static void text_print(const struct test *test, size_t place, unsigned text, unsigned long long last,
                       char fields[FIELDS_MAX], char body[BODY_MAX])
{
    snprintf(fields, FIELDS_MAX, "%sBerth-Version: %u\r\nBerth-Seen: %s.%llu.0\r\n",
             test->providers[place / OFFERS].agent, text, test->incarnation, last);
    snprintf(body, BODY_MAX,
             "[ Type = \"Machine\"; Place = %zu; Text = %u; Requirements = other.Type == \"Job\"; Rank = 0 ]", place,
             text);
}

static void provider_send(struct test *test, struct provider *provider, enum doing doing, size_t number)
{
    struct offer *offer = &provider->offers[number];
    size_t place = (size_t)(provider - test->providers) * OFFERS + number;
    char path[160], fields[FIELDS_MAX], body[BODY_MAX];

    provider->doing = doing;
    provider->offer = number;
    provider->since = live_now();
    if (provider->talk.fd < 0 && !talk_open_at(&provider->talk, "127.0.0.1", test->port))
        return;
    snprintf(path, sizeof path, "/v1/ads/offer%zu", place);
    if (doing == DOING_EVENTS) {
        snprintf(path, sizeof path, "/v1/events?after=%s", provider->after);
        talk_send(&provider->talk, "GET", path, test->token, provider->agent, NULL);
    } else if (doing == DOING_RENEWAL) {
        snprintf(fields, sizeof fields, "%sIf-Match: %s\r\n", provider->agent, offer->etag);
        talk_send(&provider->talk, "PUT", path, test->token, fields, NULL);
    } else {
        provider->text = offer->text;
        text_print(test, place, offer->text, offer->last, fields, body);
        talk_send(&provider->talk, "PUT", path, test->token, fields, body);
    }
}

/* A text that is not acknowledged goes first; then a renewal, or a look for letters, or now and then a new text for no reason. */
static void provider_next(struct test *test, struct provider *provider)
{
    size_t number = rng_below(&test->rng, OFFERS);

    provider->pause = 0;
    for (size_t i = 0; i < OFFERS; i++)
        if (provider->offers[i].known < provider->offers[i].text) {
            provider_send(test, provider, DOING_TEXT, i);
            return;
        }
    switch (rng_below(&test->rng, 8)) {
    case 0:
        provider->offers[number].text++;
        provider_send(test, provider, DOING_TEXT, number);
        break;
    case 1:
    case 2:
    case 3:
        provider_send(test, provider, DOING_EVENTS, 0);
        break;
    default:
        provider_send(test, provider, DOING_RENEWAL, number);
        break;
    }
}

/* Each letter tells of one match: it is heard of, and the next text names it. */
static void provider_letters(struct provider *provider, const char *at)
{
    for (; (at = strstr(at, "[Event=\"")); at++) {
        char event[64], id[20];
        unsigned long long number;
        const char *body = strstr(at, "Body=[Message=\"match\"");

        if (sscanf(at, "[Event=\"%63[^\"]\"", event) != 1 || !body ||
            sscanf(body, "Body=[Message=\"match\";Id=\"%19[^\"]\";Incarnation=\"%*[^\"]\";Number=\"%llx\"", id,
                   &number) != 2)
            continue;
        snprintf(provider->after, sizeof provider->after, "%s", event);
        for (size_t i = 0; i < OFFERS; i++) {
            struct offer *offer = &provider->offers[i];

            if (strcmp(offer->hex, id) != 0 || number <= offer->last)
                continue;
            offer->last = number;
            offer->text++;
        }
    }
}

static void provider_answered(struct test *test, struct provider *provider)
{
    struct offer *offer = &provider->offers[provider->offer];
    unsigned status = test->reply.status;

    if (provider->doing == DOING_EVENTS) {
        provider_letters(provider, buf_string(&test->reply.body));
    } else if (status / 100 == 2) {
        reply_text(&test->reply, "Id", offer->hex, sizeof offer->hex);
        snprintf(offer->etag, sizeof offer->etag, "%s", test->reply.etag);
        if (provider->doing == DOING_TEXT)
            offer->known = provider->text;
        test->texts += provider->doing == DOING_TEXT;
        test->renewals += provider->doing == DOING_RENEWAL;
    } else if (status == 412 || status == 409) { /* it is gone, or what we know is old: the whole, anew */
        test->stale++;
        offer->text++;
    } else {
        test->strange++;
        tap_diag("a provider is answered %u: %s", status, buf_string(&test->reply.body));
    }
}

static void provider_run(struct test *test, struct provider *provider)
{
    enum talk_result result = TALK_WAIT;
    int64_t now = live_now();

    if (provider->doing == DOING_NOTHING) {
        if (now >= provider->pause)
            provider_next(test, provider);
        return;
    }
    result = provider->talk.fd < 0 ? TALK_CLOSED : talk_take(&provider->talk, &test->reply);
    if (result == TALK_WAIT && now - provider->since < PATIENCE)
        return;
    if (result == TALK_REPLY) {
        provider_answered(test, provider);
    } else {
        test->lost++;
        talk_close(&provider->talk);
    }
    provider->doing = DOING_NOTHING;
    provider->pause = now + (int64_t)rng_below(&test->rng, 10);
}

/* ---------------------------------------------------------------------------------------------------------- the customer */

static void job_put(struct test *test)
{
    char path[64];

    snprintf(path, sizeof path, "/v1/ads/job%zu", test->jobs++);
    talk_ask(&test->customer, &test->live, "PUT", path, test->token, "Berth-Agent: customer\r\n",
             "[ Type = \"Job\"; Requirements = other.Type == \"Machine\"; Lifetime = 600 ]", &test->reply);
}

static void match_told(struct test *test, const char *letter)
{
    const char *at = strstr(letter, "Edges={[Claim=\"");
    size_t place;
    unsigned text;
    struct offer *offer;

    at = at ? strstr(at, "Place=") : NULL;
    if (!at || sscanf(at, "Place=%zu;Text=%u", &place, &text) != 2 || place >= ALL || text >= TEXTS_MAX) {
        test->strange++;
        tap_diag("a letter that is none: %.300s", letter);
        return;
    }
    offer = &test->providers[place / OFFERS].offers[place % OFFERS];
    offer->told++;
    if (++offer->per[text] > 1 && test->doubled++ < 5)
        tap_diag("text %u of offer %zu was matched %u times", text, place, offer->per[text]);
}

/* For each match that is told, one more job. */
static void customer_run(struct test *test)
{
    char path[96], event[64];
    size_t count = 0;

    snprintf(path, sizeof path, "/v1/events?after=%s", test->after);
    if (talk_ask(&test->customer, &test->live, "GET", path, test->token, "Berth-Agent: customer\r\n", NULL,
                 &test->reply) != 200) {
        test->strange++;
        return;
    }
    for (const char *at = buf_string(&test->reply.body); (at = strstr(at, "[Event=\"")); at++) {
        if (sscanf(at, "[Event=\"%63[^\"]\"", event) != 1)
            continue;
        snprintf(test->after, sizeof test->after, "%s", event);
        match_told(test, at);
        count++;
    }
    while (count--)
        job_put(test);
}

/* What is in the pool: no text is older than one that was seen, or newer than was ever written. */
static size_t pool_look(struct test *test)
{
    size_t count = 0, place;
    unsigned text;

    talk_ask(&test->watcher, &test->live, "GET", "/v1/ads?kind=offers&limit=10000", test->token, NULL, NULL,
             &test->reply);
    test->looks++;
    for (const char *at = buf_string(&test->reply.body); (at = strstr(at, "Place = ")); at++) {
        struct offer *offer;

        if (sscanf(at, "Place = %zu; Text = %u", &place, &text) != 2 || place >= ALL) {
            test->strange++;
            continue;
        }
        offer = &test->providers[place / OFFERS].offers[place % OFFERS];
        if ((text < offer->seen_text || text > offer->text) && test->back++ < 5)
            tap_diag("offer %zu has text %u; %u was there before, %u is the newest", place, text, offer->seen_text,
                     offer->text);
        offer->seen_text = text;
        count++;
    }
    return count;
}

/* A text that was on its way for long, and has been followed by newer ones: it is refused. */
static void late_text(struct test *test)
{
    size_t place = rng_below(&test->rng, ALL);
    const struct offer *offer = &test->providers[place / OFFERS].offers[place % OFFERS];
    char path[64], fields[FIELDS_MAX], body[BODY_MAX];
    unsigned status;

    if (offer->known < 2)
        return;
    snprintf(path, sizeof path, "/v1/ads/offer%zu", place);
    text_print(test, place, offer->known - 1 - (unsigned)rng_below(&test->rng, offer->known - 1), 0, fields, body);
    status = talk_ask(&test->watcher, &test->live, "PUT", path, test->token, fields, body, &test->reply);
    test->late++;
    if (status != 409 && test->late_taken++ < 5)
        tap_diag("a late text is answered %u: %s", status, buf_string(&test->reply.body));
}

static void run(struct test *test, int64_t milliseconds)
{
    int64_t ends = live_now() + milliseconds, look = 0, letters = 0;

    while (live_now() < ends) {
        struct pollfd at[PROVIDERS];

        for (size_t i = 0; i < PROVIDERS; i++) {
            provider_run(test, &test->providers[i]);
            at[i] = (struct pollfd){.fd = test->providers[i].doing ? test->providers[i].talk.fd : -1, .events = POLLIN};
        }
        poll(at, PROVIDERS, 5);
        if (live_now() >= letters) {
            customer_run(test);
            letters = live_now() + 20;
        }
        if (live_now() >= look) {
            late_text(test);
            pool_look(test);
            look = live_now() + 25;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------------- cases */

static bool proxy_start(struct test *test, const char *program)
{
    char target[64], seed[24], port[16] = "";
    const char *const args[] = {program, "0",    target,    "--seed", seed,          "--delay", "15",
                                "--cut", "0.04", "--stall", "0.01",   "--duplicate", "0.25",    NULL};
    struct pollfd at;

    snprintf(target, sizeof target, "127.0.0.1:%d", test->live.port);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)live_setting("BERTH_SEED", 1));
    test->proxy = live_spawn(args, "/dev/null", NULL, &test->proxy_out);
    at = (struct pollfd){.fd = test->proxy_out, .events = POLLIN};
    return poll(&at, 1, LIVE_PATIENCE) > 0 && read(test->proxy_out, port, sizeof port - 1) > 0 &&
           (test->port = atoi(port)) > 0;
}

static void proxy_stop(struct test *test)
{
    char said[512];
    ssize_t count;

    kill(test->proxy, SIGTERM);
    if (live_wait_pid(test->proxy, 5000) < 0) {
        kill(test->proxy, SIGKILL);
        live_wait_pid(test->proxy, 5000);
    }
    count = read(test->proxy_out, said, sizeof said - 1);
    if (count > 0)
        tap_diag("the network: %.*s", (int)count, said);
    close(test->proxy_out);
}

static void during_faults(struct test *test)
{
    unsigned long long told = 0;

    for (size_t i = 0; i < JOBS; i++)
        job_put(test);
    run(test, FAULTS_SPAN);
    for (size_t i = 0; i < ALL; i++)
        told += test->providers[i / OFFERS].offers[i % OFFERS].told;
    tap_diag("%zu texts and %zu renewals were acknowledged, %zu answers lost, %zu told that they are old; %llu matches",
             test->texts, test->renewals, test->lost, test->stale, told);
    tap_ok(test->texts > ALL && test->renewals > ALL && test->lost > 5 && told > ALL,
           "agents advertise through a network with faults, and are matched");
    tap_ok(!test->back, "an older text never comes in the place of a newer one (%zu looks at the pool)", test->looks);
    tap_ok(!test->late_taken && test->late > 20,
           "a text that comes late is refused when newer ones are there (%zu came)", test->late);
    tap_ok(!test->doubled, "no text of a one-unit offer is matched twice (%llu matches)", told);
}

/* Without faults: every offer is there, with its newest text, and is matched again. */
static void after_faults(struct test *test)
{
    unsigned long long before[ALL];
    size_t there, newest = 0, again = 0;

    test->port = test->live.port;
    for (size_t i = 0; i < PROVIDERS; i++) {
        talk_close(&test->providers[i].talk);
        test->providers[i].doing = DOING_NOTHING;
    }
    run(test, 1500); /* what was lost is said again */
    for (size_t i = 0; i < ALL; i++)
        before[i] = test->providers[i / OFFERS].offers[i % OFFERS].told;
    for (int64_t ends = live_now() + CALM_SPAN; again < ALL && live_now() < ends;) {
        run(test, 200);
        again = 0;
        for (size_t i = 0; i < ALL; i++)
            again += test->providers[i / OFFERS].offers[i % OFFERS].told > before[i];
    }
    there = pool_look(test);
    for (size_t i = 0; i < ALL; i++) {
        const struct offer *offer = &test->providers[i / OFFERS].offers[i % OFFERS];

        newest += offer->seen_text >= offer->known && offer->seen_text <= offer->text;
        if (offer->told <= before[i])
            tap_diag("offer %zu: text %u, acknowledged %u, heard of match %llu, told %llu", i, offer->text,
                     offer->known, offer->last, offer->told);
    }
    tap_ok(there == ALL && newest == ALL, "once faults stop all ads are there, with the newest text (%zu, %zu of %d)",
           there, newest, ALL);
    tap_ok(again == ALL, "once faults stop every unit is matched again: none has vanished (%zu of %d)", again, ALL);
    tap_ok(!test->back && !test->doubled && !test->late_taken,
           "and still no text goes back, and none is matched twice");
    tap_ok(!test->strange, "every answer was one that an agent expects (%zu were not)", test->strange);
}

/* When all is quiet, both sides have been told of the same matches. */
static void both_told(struct test *test)
{
    size_t differ = 0;

    for (size_t i = 0; i < 100; i++) { /* no new texts: what is heard of is all there is */
        customer_run(test);
        live_sleep(5);
    }
    for (size_t i = 0; i < PROVIDERS; i++) {
        struct provider *provider = &test->providers[i];

        talk_close(&provider->talk);
        talk_open(&provider->talk, &test->live);
        provider_send(test, provider, DOING_EVENTS, 0);
        if (talk_wait(&provider->talk, 5000, &test->reply) == TALK_REPLY)
            provider_answered(test, provider);
        for (size_t n = 0; n < OFFERS; n++)
            differ += provider->offers[n].last != provider->offers[n].told;
    }
    tap_ok(differ == 0, "provider and customer have been told of the same matches, numbered without a gap (%zu differ)",
           differ);
}

int main(int argc, char **argv)
{
    static const char *const settings[] = {"AgentRequestsPerSecond=1000000", "Lifetime=2", "Window=20", "Pin=5",
                                           "RequestsPerSecond=1000000"};
    static struct test test;

    live_init(&test.live);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        live_set(&test.live, settings[i]);
    rng_init(&test.rng, live_setting("BERTH_SEED", 1));
    reply_init(&test.reply);
    talk_init(&test.customer);
    talk_init(&test.watcher);
    for (size_t i = 0; i < PROVIDERS; i++) {
        talk_init(&test.providers[i].talk);
        snprintf(test.providers[i].agent, sizeof test.providers[i].agent, "Berth-Agent: provider%zu\r\n", i);
        for (size_t n = 0; n < OFFERS; n++)
            test.providers[i].offers[n].text = 1;
    }
    if (argc < 2 || !live_start(&test.live) ||
        !live_token(&test.live, "pool", "ad:read ad:write claim match admin", test.token, sizeof test.token) ||
        talk_ask(&test.watcher, &test.live, "GET", "/v1/status", test.token, NULL, NULL, &test.reply) != 200 ||
        !proxy_start(&test, argv[1])) {
        tap_ok(false, "the matchmaker and the network with faults start");
    } else {
        reply_text(&test.reply, "Incarnation", test.incarnation, sizeof test.incarnation);
        during_faults(&test);
        after_faults(&test);
        both_told(&test);
        proxy_stop(&test);
        tap_ok(live_stop(&test.live) == 0, "and it ends well");
    }
    for (size_t i = 0; i < PROVIDERS; i++)
        talk_done(&test.providers[i].talk);
    talk_done(&test.customer);
    talk_done(&test.watcher);
    reply_done(&test.reply);
    live_done(&test.live);
    return tap_done();
}
