/* client_test.c: requests that go out over real sockets: what is answered, what is lost and what is refused. */
#include "client_world.h"
#include "live/config/address.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/wait.h>

/* -------------------------------------------------------------------------------------------------------- answers */

static void check_answers(struct world *world)
{
    struct got got;

    call_once(world, &(struct http_call){.url = url(world, "/hello")}, &got);
    check(&got, CALL_ANSWERED, 200,
          body_is(&got, "hello") && !strcmp(got.type, "text/plain") && !strcmp(got.etag, "\"7\"") &&
              !strcmp(got.location, "/there") && !strcmp(got.retry_after, "12"),
          "an answer brings its status, its body and the fields that matter");
    got_done(&got);
    call_once(world, &(struct http_call){.url = url(world, "/missing")}, &got);
    check(&got, CALL_ANSWERED, 404, body_is(&got, "no") && !strcmp(got.etag, "(none)"),
          "an answer is an answer whatever its status, and nothing of the one before is left in it");
    got_done(&got);
    call_once(world, &(struct http_call){.method = "HEAD", .url = url(world, "/hello")}, &got);
    check(&got, CALL_ANSWERED, 200, got.body.len == 0 && !strcmp(got.etag, "\"7\""), "HEAD brings the fields alone");
    got_done(&got);
    call_once(world, &(struct http_call){.url = url(world, "/redirect")}, &got);
    check(&got, CALL_ANSWERED, 302, !strcmp(got.location, "/hello"), "a redirect is told, not followed");
    got_done(&got);
    call_once(world, &(struct http_call){.url = url(world, "/interim")}, &got);
    check(&got, CALL_ANSWERED, 200,
          body_is(&got, "onetwo") && !strcmp(got.location, "(none)") && !strcmp(got.etag, "(none)"),
          "fields of an interim answer and fields behind the body are not the answer's");
    got_done(&got);
    call_once(world,
              &(struct http_call){.method = "GET", .url = "http://localhost/hello", .unix_socket = world->socket_path},
              &got);
    check(&got, CALL_ANSWERED, 200, body_is(&got, "hello"), "a Unix socket is as good as a port");
    got_done(&got);
}

static void check_requests(struct world *world)
{
    static const struct http_field fields[] = {{"If-Match", "\"7\""}, {"X-Empty", ""}};
    struct got got;
    char *body = mem_alloc(300000);

    call_once(world,
              &(struct http_call){.method = "PUT",
                                  .url = url(world, "/mirror?a=b%20c"),
                                  .token = "v4.public.xyz",
                                  .type = "application/json",
                                  .accept = "text/plain",
                                  .fields = fields,
                                  .field_count = 2,
                                  .body = "{}",
                                  .len = 2},
              &got);
    const char *head = buf_string(&got.body);
    check(&got, CALL_ANSWERED, 200,
          strstr(head, "PUT /mirror?a=b%20c HTTP/1.1\r\n") && strstr(head, "Authorization: Bearer v4.public.xyz\r\n") &&
              strstr(head, "Content-Type: application/json\r\n") && strstr(head, "Accept: text/plain\r\n") &&
              strstr(head, "If-Match: \"7\"\r\n") && strstr(head, "X-Empty:") &&
              strstr(head, "Content-Length: 2\r\n") && !strstr(head, "Expect"),
          "method, token, types and further fields are sent as they were given");
    got_done(&got);
    call_once(world, &(struct http_call){.method = "POST", .url = url(world, "/mirror")}, &got);
    head = buf_string(&got.body);
    check(&got, CALL_ANSWERED, 200, strstr(head, "Content-Length: 0\r\n") && !strstr(head, "Content-Type"),
          "a POST of nothing says that it is empty");
    got_done(&got);
    call_once(world, &(struct http_call){.method = "DELETE", .url = url(world, "/mirror")}, &got);
    check(&got, CALL_ANSWERED, 200, strncmp(buf_string(&got.body), "DELETE /mirror ", 15) == 0, "DELETE is sent");
    got_done(&got);
    for (int i = 0; i < 300000; i++)
        body[i] = (char)i;
    call_once(world, &(struct http_call){.method = "POST", .url = url(world, "/echo"), .body = body, .len = 300000},
              &got);
    check(&got, CALL_ANSWERED, 200, got.body.len == 300000 && memcmp(got.body.text, body, 300000) == 0,
          "300,000 bytes of any value go and come back as they were");
    got_done(&got);
    free(body);
}

/* ---------------------------------------------------------------------------------------------------- what is lost */

/* A port of 127.0.0.1 where nobody listens. */
static int port_of_nobody(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(fd, (struct sockaddr *)&at, len) || getsockname(fd, (struct sockaddr *)&at, &len))
        exit(1);
    close(fd);
    return ntohs(at.sin_port);
}

static void check_losses(struct world *world)
{
    static const struct {
        const char *path;
        unsigned status;
        const char *sentence;
    } rows[] = {
        {"/silent", 0, "no answer in time: perhaps the request arrived"},
        {"/cut", 0, "a connection cut after the request: perhaps it arrived"},
        {"/half-head", 0, "a connection cut in the answer's head: perhaps it arrived"},
        {"/half", 200, "a connection cut in the answer's body: unknown, and the status tells that it arrived"},
        {"/old", 0, "an answer that is not HTTP is no answer"},
    };
    struct got got;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        call_once(world,
                  &(struct http_call){.method = "POST", .url = url(world, rows[i].path), .timeout = SECOND_US / 5},
                  &got);
        check(&got, CALL_UNKNOWN, rows[i].status, got.error[0], rows[i].sentence);
        got_done(&got);
    }
    snprintf(world->url, sizeof world->url, "http://127.0.0.1:%d/", port_of_nobody());
    call_once(world, &(struct http_call){.method = "POST", .url = world->url}, &got);
    check(&got, CALL_UNREACHED, 0, true, "where nobody listens, nothing was sent");
    got_done(&got);
    call_once(world, &(struct http_call){.url = "http://nobody.invalid/", .timeout = SECOND_US}, &got);
    check(&got, CALL_UNREACHED, 0, true, "a name that does not exist: nothing was sent");
    got_done(&got);
    call_once(world, &(struct http_call){.url = "http://localhost/", .unix_socket = "/tmp/berth-nobody-is-here"}, &got);
    check(&got, CALL_UNREACHED, 0, true, "a Unix socket that does not exist: nothing was sent");
    got_done(&got);
    snprintf(world->url, sizeof world->url, "https://127.0.0.1:%d/hello", world->server.port);
    call_once(world, &(struct http_call){.url = world->url, .timeout = SECOND_US / 5}, &got);
    check(&got, CALL_UNREACHED, 0, true, "a handshake that comes to nothing in time: nothing of the request was sent");
    got_done(&got);
}

static void check_sent_once(struct world *world)
{
    unsigned before;
    struct got got;

    call_once(world, &(struct http_call){.url = url(world, "/weary")}, &got);
    got_done(&got);
    before = world->server.requests;
    call_once(world, &(struct http_call){.method = "POST", .url = url(world, "/echo"), .body = "x", .len = 1}, &got);
    check(&got, CALL_UNKNOWN, 0, world->server.requests == before + 1,
          "a POST on a kept connection that closes without an answer is sent once, and its fate is unknown");
    got_done(&got);
    call_once(world, &(struct http_call){.url = url(world, "/weary")}, &got);
    got_done(&got);
    before = world->server.requests;
    call_once(world, &(struct http_call){.url = url(world, "/hello")}, &got);
    check(&got, CALL_ANSWERED, 200, world->server.requests == before + 2,
          "a GET on a kept connection that closes without an answer is asked again on a new one");
    got_done(&got);
}

/* --------------------------------------------------------------------------------------------------------- refusals */

static void check_refusals(struct world *world)
{
    static const struct http_field split[] = {{"X-A", "b\r\nX-C: d"}}, odd[] = {{"X A", "b"}};
    char longest[URL_MAX + 2];
    struct {
        struct http_call call;
        const char *sentence;
    } rows[] = {
        {{.url = "file:///etc/passwd"}, "a scheme other than http and https is refused"},
        {{.url = "http://user@127.0.0.1/"}, "a user's name in a URL is refused"},
        {{.url = "http://127.0.0.1/a b"}, "a blank in a URL is refused"},
        {{.url = "http://127.0.0.1/#top"}, "a fragment is refused"},
        {{.url = longest}, "a URL that is too long is refused"},
        {{.url = "http://127.0.0.1/", .https_only = true}, "http is refused where https is asked for"},
        {{.url = "http://127.0.0.1/", .fields = split, .field_count = 1}, "a field cannot smuggle in another"},
        {{.url = "http://127.0.0.1/", .fields = odd, .field_count = 1}, "a field's name has no blanks"},
        {{.url = "http://127.0.0.1/", .token = "a\nb"}, "a token cannot smuggle in a field"},
        {{.url = "http://192.0.2.7/", .token = "v4.public.x"}, "a token is not sent in the clear to another machine"},
        {{.url = "http://127.evil.example/", .token = "v4.public.x"}, "nor to a name that looks like this one"},
        {{.url = "http://127.0.0.1/", .type = "a\rb"}, "a type cannot smuggle in a field"},
        {{.url = "http://127.0.0.1/", .method = "GET /x"}, "a method is a word"},
        {{.url = "https://127.0.0.1/", .pin = "/etc/key.pem"}, "a pin is a hash, never a file's name"},
        {{.url = "http://127.0.0.1/", .pin = "sha256//AAAA"}, "a pin without TLS is refused"},
    };
    unsigned before = world->server.connections;
    struct got got;

    memset(longest, 'a', sizeof longest);
    memcpy(longest, "http://a/", 9);
    longest[sizeof longest - 1] = '\0';
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        call_once(world, &rows[i].call, &got);
        check(&got, CALL_REFUSED, 0, got.error[0] && world->server.connections == before, rows[i].sentence);
        got_done(&got);
    }
}

static void check_lengths(struct world *world)
{
    struct got got;

    call_once(world, &(struct http_call){.url = url(world, "/long"), .bytes_max = 1000000}, &got);
    check(&got, CALL_ANSWERED, 200, got.body.len == 1000000, "an answer may be as long as allowed");
    got_done(&got);
    call_once(world, &(struct http_call){.url = url(world, "/long"), .bytes_max = 999999}, &got);
    check(&got, CALL_REFUSED, 200, strstr(got.error, "999999") != NULL, "an answer one byte longer is refused");
    got_done(&got);
    call_once(world, &(struct http_call){.url = url(world, "/long-head")}, &got);
    check(&got, CALL_REFUSED, 0, got.error[0], "an answer whose head never ends is refused");
    got_done(&got);
    call_once(world, &(struct http_call){.url = url(world, "/hello")}, &got);
    check(&got, CALL_ANSWERED, 200, body_is(&got, "hello"), "a refused answer does no harm to the next one");
    got_done(&got);
}

/* --------------------------------------------------------------------------------------------------------- addresses */

struct rule {
    struct networks networks;
    unsigned asked;
    char last[ADDRESS_TEXT_MAX];
};

static bool rule_allows(void *user, const struct sockaddr *address)
{
    struct rule *rule = user;

    rule->asked++;
    address_print(address, rule->last);
    return address_may_be_contacted(&rule->networks, address);
}

static void check_addresses(struct world *world)
{
    struct rule rule = {0};
    unsigned before;
    char expected[64];
    struct got got;

    snprintf(expected, sizeof expected, "127.0.0.1:%d", world->server.port);
    before = world->server.connections;
    snprintf(world->url, sizeof world->url, "http://localhost:%d/hello", world->server.port);
    call_once(world, &(struct http_call){.url = world->url, .may_connect = rule_allows, .may_user = &rule}, &got);
    turn_for(world, 20);
    check(&got, CALL_REFUSED, 0, rule.asked > 0 && world->server.connections == before,
          "a name that leads to this machine is refused when only public addresses may be contacted");
    got_done(&got);

    call_once(world, &(struct http_call){.url = url(world, "/hello")}, &got);
    got_done(&got);
    before = world->server.requests;
    call_once(world, &(struct http_call){.url = url(world, "/hello"), .may_connect = rule_allows, .may_user = &rule},
              &got);
    check(&got, CALL_REFUSED, 0,
          world->server.requests == before && !strcmp(rule.last, expected) && strstr(got.error, "loopback"),
          "a kept connection is no way around the rule");
    got_done(&got);

    networks_add(&rule.networks, "127.0.0.0/8", NULL);
    rule.asked = 0;
    snprintf(world->url, sizeof world->url, "http://localhost:%d/hello", world->server.port);
    call_once(world, &(struct http_call){.url = world->url, .may_connect = rule_allows, .may_user = &rule}, &got);
    check(&got, CALL_ANSWERED, 200, rule.asked > 0 && !strcmp(rule.last, expected),
          "the rule is asked about the address that the name led to, and a network it names is contacted");
    got_done(&got);
    networks_done(&rule.networks);
    networks_init(&rule.networks);

    rule.asked = 0;
    call_once(world,
              &(struct http_call){.url = "http://localhost/hello",
                                  .unix_socket = world->socket_path,
                                  .may_connect = rule_allows,
                                  .may_user = &rule},
              &got);
    check(&got, CALL_ANSWERED, 200, rule.asked == 0, "the rule is not asked about a Unix socket");
    got_done(&got);
}

/* ----------------------------------------------------------------------------------------------------------- streams */

static void check_streams(struct world *world)
{
    struct got got = {0};
    unsigned before = world->server.requests;
    struct http_call call = {.url = url(world, "/stream"), .bytes = on_bytes, .timeout = SECOND_US};

    client_send(world->client, &call, on_done, &got);
    turn_until(world, &world->server.requests, before + 1, PATIENCE);
    trivial_say(&world->server, "data: 1\n\n");
    turn_for(world, 200);
    tap_ok(got.count == 0 && bytes_are(&got, "data: 1\n\n"), "a stream's bytes are handed on as they come");
    for (int i = 0; i < 5; i++) {
        trivial_say(&world->server, ":\n\n");
        turn_for(world, 250);
    }
    tap_ok(got.count == 0 && bytes_are(&got, "data: 1\n\n:\n\n:\n\n:\n\n:\n\n:\n\n"),
           "a stream lasts longer than its timeout as long as something is said");
    trivial_say(&world->server, "");
    turn_until_done(world, &got);
    check(&got, CALL_ANSWERED, 200, got.body.len == 0 && !strcmp(got.type, "text/event-stream"),
          "a stream that its server ends is answered");
    got_done(&got);

    got = (struct got){0};
    before = world->server.requests;
    call.timeout = SECOND_US * 3 / 10;
    client_send(world->client, &call, on_done, &got);
    turn_until(world, &world->server.requests, before + 1, PATIENCE);
    trivial_say(&world->server, "data: 1\n\n");
    turn_until_done(world, &got);
    check(&got, CALL_UNKNOWN, 200, bytes_are(&got, "data: 1\n\n"), "a stream that falls silent ends");
    got_done(&got);

    got = (struct got){0};
    before = world->server.requests;
    call.bytes_max = 10;
    client_send(world->client, &call, on_done, &got);
    turn_until(world, &world->server.requests, before + 1, PATIENCE);
    trivial_say(&world->server, "123456");
    trivial_say(&world->server, "789abc");
    turn_until_done(world, &got);
    check(&got, CALL_REFUSED, 200, got.bytes.len <= 10, "a stream with a bound ends at the bound");
    got_done(&got);

    call_once(world, &(struct http_call){.url = url(world, "/missing"), .bytes = on_bytes}, &got);
    check(&got, CALL_ANSWERED, 404, got.bytes.len == 0 && body_is(&got, "no"),
          "an answer that is no success is kept whole, not handed on as a stream");
    got_done(&got);
}

/* ----------------------------------------------------------------------------------------------- cancelling, freeing */

struct chain {
    struct world *world;
    uint64_t id, other;
    unsigned bytes, sent, done;
};

static void chain_done(void *user, const struct http_outcome *outcome)
{
    struct chain *chain = user;

    (void)outcome;
    chain->done++;
}

static void chain_bytes(void *user, const char *bytes, size_t len)
{
    struct chain *chain = user;

    (void)bytes;
    (void)len;
    chain->bytes++;
    client_cancel(chain->world->client, chain->id);
    client_cancel(chain->world->client, chain->other);
    client_send(chain->world->client, &(struct http_call){.url = url(chain->world, "/hello")}, chain_done, chain);
}

static void check_cancel(struct world *world)
{
    struct got got = {0};
    struct chain chain = {.world = world};
    unsigned before = world->server.requests;
    uint64_t id = client_send(world->client, &(struct http_call){.url = url(world, "/hello")}, on_done, &got);

    tap_ok(got.count == 0 && client_calls(world->client) == 1, "nothing is told before client_send has returned");
    client_cancel(world->client, id);
    turn_for(world, 30);
    tap_ok(got.count == 0 && world->server.requests == before, "a call cancelled at once is never sent");
    id = client_send(world->client, &(struct http_call){.url = url(world, "/silent")}, on_done, &got);
    turn_until(world, &world->server.requests, before + 1, PATIENCE);
    client_cancel(world->client, id);
    client_cancel(world->client, id);
    client_cancel(world->client, 0);
    client_cancel(world->client, 123456789);
    turn_for(world, 30);
    tap_ok(got.count == 0 && client_calls(world->client) == 0, "a call cancelled under way is never heard of again");
    got_done(&got);

    before = world->server.requests;
    chain.other = client_send(world->client, &(struct http_call){.url = url(world, "/silent")}, chain_done, &chain);
    chain.id = client_send(world->client, &(struct http_call){.url = url(world, "/stream"), .bytes = chain_bytes},
                           chain_done, &chain);
    turn_until(world, &world->server.requests, before + 2, PATIENCE);
    trivial_say(&world->server, "one");
    trivial_say(&world->server, "two");
    turn_until(world, &chain.done, 1, PATIENCE);
    turn_for(world, 30);
    tap_ok(chain.bytes == 1 && chain.done == 1 && client_calls(world->client) == 0 && !world->server.stream,
           "a stream can cancel itself and another call, and send a new one, from where its bytes are handed on");
}

/* A rule that gives up instead of answering. */
static bool rule_cancels(void *user, const struct sockaddr *address)
{
    struct chain *chain = user;

    (void)address;
    chain->bytes++;
    client_cancel(chain->world->client, chain->id);
    return true;
}

static void check_cancel_by_rule(struct world *world)
{
    struct chain chain = {.world = world};
    unsigned before = world->server.requests;
    struct http_call call = {.url = url(world, "/hello"), .may_connect = rule_cancels, .may_user = &chain};

    chain.id = client_send(world->client, &call, chain_done, &chain); /* on a kept connection */
    turn_until(world, &chain.bytes, 1, PATIENCE);
    snprintf(world->url, sizeof world->url, "http://localhost:%d/hello", world->server.port);
    chain.id = client_send(world->client, &call, chain_done, &chain);
    turn_until(world, &chain.bytes, 2, PATIENCE);
    turn_for(world, 30);
    tap_ok(chain.bytes >= 2 && chain.done == 0 && world->server.requests == before && client_calls(world->client) == 0,
           "a call can be cancelled while its address is asked about, and is not sent then");
}

static void done_sends_again(void *user, const struct http_outcome *outcome)
{
    struct chain *chain = user;

    chain->done++;
    if (outcome->result == CALL_CANCELLED)
        chain->sent += client_send(chain->world->client, &(struct http_call){.url = "x:"}, chain_done, chain) != 0;
}

static void check_free(void)
{
    struct world world;
    struct chain chain = {.world = &world};
    struct got got[3] = {{0}};
    unsigned cancelled = 0;

    world_open(&world, NULL);
    client_send(world.client, &(struct http_call){.url = url(&world, "/silent")}, on_done, &got[0]);
    client_send(world.client, &(struct http_call){.url = url(&world, "/stream"), .bytes = on_bytes}, on_done, &got[1]);
    client_send(world.client, &(struct http_call){.url = url(&world, "/silent")}, done_sends_again, &chain);
    turn_until(&world, &world.server.requests, 3, PATIENCE);
    client_send(world.client, &(struct http_call){.url = url(&world, "/hello")}, on_done, &got[2]);
    bool closed = world_close(&world);
    for (int i = 0; i < 3; i++) {
        cancelled += got[i].count == 1 && got[i].result == CALL_CANCELLED;
        got_done(&got[i]);
    }
    tap_ok(cancelled == 3 && chain.done == 1, "the calls under way are told when the client ends");
    tap_ok(closed && chain.sent == 0, "nothing of a client is left in the loop, and it takes no more calls");
}

/* ------------------------------------------------------------------------------------------------------ for tools */

static void check_fetch(struct world *world)
{
    struct fetched fetched = {0};
    struct err err = {0};
    pid_t child;
    int status;

    /* It waits, so the server of this loop cannot answer: another process asks. */
    url(world, "/hello");
    child = fork();
    if (child == 0) {
        int result = client_fetch(NULL, &(struct http_call){.url = world->url}, &fetched, &err);
        bool good = result == 0 && fetched.status == 200 && fetched.body.len == 5 && !strcmp(fetched.etag, "\"7\"") &&
                    strcmp(buf_string(&fetched.body), "hello") == 0;
        fetched_done(&fetched);
        _exit(good ? 0 : 1);
    }
    while (waitpid(child, &status, WNOHANG) == 0)
        turn_for(world, 10);
    tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a tool can fetch in one call, without a loop of its own");
    snprintf(world->url, sizeof world->url, "http://127.0.0.1:%d/", port_of_nobody());
    int result = client_fetch(NULL, &(struct http_call){.url = world->url}, &fetched, &err);
    tap_ok(result == -1 && fetched.result == CALL_UNREACHED && err.text[0], "a tool is told why there is no answer");
}

int main(void)
{
    struct world world;

    signal(SIGPIPE, SIG_IGN);
    /* A proxy that nobody must use: were it asked, every case would fail. */
    setenv("http_proxy", "http://127.0.0.1:1/", 1);
    setenv("https_proxy", "http://127.0.0.1:1/", 1);
    setenv("all_proxy", "http://127.0.0.1:1/", 1);
    world_open(&world, NULL);
    check_answers(&world);
    tap_ok(tap_failures == 0, "the proxy of the environment is not used");
    check_requests(&world);
    check_losses(&world);
    check_sent_once(&world);
    check_refusals(&world);
    check_lengths(&world);
    check_addresses(&world);
    check_streams(&world);
    check_cancel(&world);
    check_cancel_by_rule(&world);
    check_fetch(&world);
    tap_ok(world_close(&world), "the loop can be closed after the client");
    check_free();
    return tap_done();
}
