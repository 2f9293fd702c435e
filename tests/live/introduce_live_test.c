/* introduce_live_test.c: a matchmaker is told how an agent is reached before anything of the agent's can be matched, also after it was killed. */
#define _GNU_SOURCE /* nftw, pipe2 */
#include "common/tap.h"
#include "live_token.h"

#define LIVES 8                     /* of the matchmaker */
#define NOBODY "http://127.0.0.1:1" /* where nobody listens */
#define KEY64 "decade00decade00decade8899aabbccdecade00decade00decade8899aabbcc"
#define PROV "Berth-Agent: prov\r\n"
#define KNOWN PROV "Berth-Introduced: true\r\n"

struct world {
    struct live live;
    struct talk talk;
    struct reply reply;
    char folder[LIVE_PATH_MAX], token[TOKEN_BYTES_MAX];
};

static unsigned ask(struct world *world, const char *method, const char *path, const char *fields, const char *body)
{
    return talk_ask(&world->talk, &world->live, method, path, world->token, fields, body, &world->reply);
}

static bool says(const struct world *world, const char *words)
{
    return world->reply.body.len && strstr(world->reply.body.text, words);
}

/* All that could lead to a match. */
static const struct {
    const char *method, *path, *body;
    unsigned status; /* where it is not said that the agent is known */
} leading[] = {
    {"POST", "/v1/ads", "[Message=\"advertise\"; Id=\"one\"; Ad=[Type=\"Machine\"]]", 200},
    {"PUT", "/v1/ads/two", "[Type=\"Machine\"]", 201},
    {"POST", "/v1/pull?id=three", "[Type=\"Machine\"; Constraint=false]", 204},
    {"POST", "/v1/claims", "", 200},
};

static bool all_refused(struct world *world)
{
    bool all = true;

    for (size_t i = 0; i < sizeof leading / sizeof *leading; i++)
        all = ask(world, leading[i].method, leading[i].path, KNOWN, leading[i].body) == 412 &&
              says(world, "PUT /v1/agents/NAME") && all;
    return all && ask(world, "GET", "/v1/ads", PROV, NULL) == 200 && !says(world, "Machine");
}

static void all_taken(struct world *world, const char *fields, const char *words)
{
    for (size_t i = 0; i < sizeof leading / sizeof *leading; i++) {
        unsigned status = ask(world, leading[i].method, leading[i].path, fields, leading[i].body);

        tap_ok(status == leading[i].status, "%s %s %s (%u)", leading[i].method, leading[i].path, words, status);
    }
}

static void check_condition(struct world *world)
{
    tap_ok(all_refused(world), "an agent that nobody has heard of, and that believes it is known, is told so");
    tap_ok(ask(world, "PUT", "/v1/agents/prov", PROV, "[BoxKey=\"" KEY64 "\"]") == 200 && says(world, KEY64),
           "it says who it is");
    all_taken(world, KNOWN, "is taken then");
    live_kill(&world->live);
    talk_close(&world->talk);
    tap_ok(live_start(&world->live) && all_refused(world), "and not by the next matchmaker, which was not told");
    all_taken(world, PROV, "is taken from whoever does not ask for that");
}

static void check_wait(struct world *world)
{
    static const char ad[] = "[Contact=\"" NOBODY "\"; Challenge=\"" KEY64 "\"]";

    tap_ok(ask(world, "PUT", "/v1/agents/far", PROV, ad) == 202 && says(world, "\"checking\""),
           "an address is looked at after the answer");
    tap_ok(ask(world, "PUT", "/v1/agents/far?wait=5", PROV, ad) == 200 && says(world, "\"bad\""),
           "or before it, where that is asked for");
    tap_ok(ask(world, "PUT", "/v1/agents/far?wait=5", PROV, "[Host=\"h\"]") == 200 && says(world, "\"none\""),
           "one without an address is answered at once");
    tap_ok(ask(world, "PUT", "/v1/agents/far?wait=never", PROV, ad) == 400, "a wait that is none is refused");
}

/* Somebody who asks and leaves. */
static void check_leaving(struct world *world)
{
    struct talk talk;

    talk_init(&talk);
    tap_ok(talk_open(&talk, &world->live) && talk_send(&talk, "PUT", "/v1/agents/far?wait=5", world->token, PROV,
                                                       "[Contact=\"http://192.0.2.1:9\"; Challenge=\"" KEY64 "\"]"),
           "an address is named, and nobody stays for the answer");
    talk_done(&talk);
    tap_ok(ask(world, "GET", "/v1/agents/far", PROV, NULL) == 200, "which harms nobody");
}

/* The first ad of the agent that is seen in this life: is it known by then how the agent is called? */
static bool is_known_at_once(struct world *world)
{
    int64_t ends = live_now() + LIVE_PATIENCE;

    while (live_now() < ends &&
           (ask(world, "GET", "/v1/ads?constraint=Memory==64", NULL, NULL) != 200 || !says(world, "Memory")))
        live_sleep(1);
    return says(world, "Memory") && ask(world, "GET", "/v1/agents/p0", NULL, NULL) == 200 &&
           says(world, "ContactState = \"good\"") && says(world, "BoxKey = ");
}

static void check_agent(struct world *world)
{
    char program[512], state[LIVE_PATH_MAX + 32], token[LIVE_PATH_MAX + 32], log[LIVE_PATH_MAX + 32], url[64];
    const char *args[] = {program, "provider", "p0", "bob", state, token, "127.0.0.1:0", "60", url, NULL};
    int known = 0, out = -1;
    pid_t pid;

    snprintf(program, sizeof program, "%s", live_program());
    snprintf(strrchr(program, '/'), 32, "/tests/live/live_agent");
    snprintf(state, sizeof state, "%s/p0", world->folder);
    snprintf(token, sizeof token, "%s/bob.token", world->folder);
    snprintf(log, sizeof log, "%s/p0.log", world->folder);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", world->live.port);
    tap_ok(live_token_make(&world->live, "bob", "ad:read ad:write claim match", token), "an agent has a token");
    pid = live_spawn(args, log, NULL, &out);
    for (int i = 0; i < LIVES; i++) {
        known += is_known_at_once(world);
        live_kill(&world->live);
        talk_close(&world->talk);
        if (!live_start(&world->live))
            break;
    }
    tap_ok(known == LIVES, "whenever its ad is there, it is known how it is called (%d of %d lives of the matchmaker)",
           known, LIVES);
    kill(pid, SIGTERM);
    tap_ok(live_wait_pid(pid, LIVE_PATIENCE) == 0, "told to end, the agent ends well");
    close(out);
}

int main(void)
{
    static struct world world;

    setenv("LEASE_MS", "900", 1); /* for the agent */
    live_init(&world.live);
    live_folder(world.folder);
    live_set(&world.live, "Networks={\"127.0.0.0/8\"}");
    live_set(&world.live, "Deadline=5");
    talk_init(&world.talk);
    reply_init(&world.reply);
    tap_ok(live_start(&world.live), "the matchmaker is up");
    world.live.port_wanted = world.live.port;
    tap_ok(live_token(&world.live, "bob", "ad:read ad:write claim match", world.token, sizeof world.token),
           "there is a token");
    check_condition(&world);
    check_wait(&world);
    check_leaving(&world);
    check_agent(&world);
    talk_done(&world.talk);
    reply_done(&world.reply);
    tap_ok(live_stop(&world.live) == 0, "told to end, the matchmaker ends well");
    live_remove(world.folder);
    live_done(&world.live);
    return tap_done();
}
