/* agent_calls.c: what an agent answers to calls by HTTP: its routes, and who may make them.
 *
 * A token for this agent alone, signed by one of its pools, comes before a message: nothing is read from strangers. */
#include "live/agent/agent_parts.h"

#include "live/http/represent.h"
#include "sys/encoding.h"
#include "sys/secrets.h"

#include <stdio.h>
#include <string.h>

#define MESSAGE_BYTES_MAX (4u << 20)

static struct live_agent *request_live(const struct request *request)
{
    return request->part->daemon;
}

/* ------------------------------------------------------------------------------------------------------------- routes */

/* GET /v1/challenge?nonce=N: whoever asked us to be registered lives here. */
static void api_challenge(struct request *request)
{
    const char *nonce = request_query(request, "nonce");
    char digits[2 * KEY_BYTES + 1], body[2 * KEY_BYTES + 32];
    struct key bytes, proof;

    if (!nonce || !hex_read(nonce, strlen(nonce), bytes.bytes, KEY_BYTES)) {
        request_problem(request, 400, "nonce: expected 64 hexadecimal digits");
        return;
    }
    secrets_live.seal(secrets_live.user, &request_live(request)->challenge, bytes.bytes, KEY_BYTES, &proof);
    hex_print(proof.bytes, KEY_BYTES, digits);
    snprintf(body, sizeof body, "[Proof=\"%s\"]\n", digits);
    request_answer(request, 200, TYPE_CLASSAD, body, strlen(body), NULL, 0);
}

static void api_message(struct request *request)
{
    const char *name = exchange_field(request->exchange, "Berth-Agent");
    const struct live_agent *live = request_live(request);
    struct sender sender;

    sender_by_call(&sender, request->caller.proof.user, request_identity(request), request->caller.scope,
                   name ? name : "");
    sender.peer.channel = contact_channel(live->pin, live->contact);
    agent_call_take(request, &sender);
}

static const struct route routes[] = {
    {"messages", HTTP_POST, "/v1/messages", SCOPE_CLAIM | SCOPE_MATCH, BODY_BYTES, MESSAGE_BYTES_MAX, "",
     "200 400 403 413", TYPE_CLASSAD, "A message of another agent, or of a matchmaker, and the answer to it.",
     api_message, 0},
    {"challenge", HTTP_GET, "/v1/challenge", SCOPE_NONE, BODY_NONE, ROUTE_BODY, "nonce", "200 400", TYPE_CLASSAD,
     "Proves that the agent which was registered with this address lives here.", api_challenge, 0},
    {"openapi", HTTP_GET, "/openapi.json", SCOPE_NONE, BODY_NONE, ROUTE_BODY, "", "200", TYPE_JSON, "This description.",
     front_openapi, 0},
    {"healthz", HTTP_GET, "/healthz", SCOPE_NONE, BODY_NONE, ROUTE_BODY, "", "200", "text/plain",
     "Does the process live?", front_health, 0},
};

static const struct parameter parameters[] = {
    {"nonce", "string", "64 hexadecimal digits that the proof is about"},
};

static const struct route_example examples[] = {
    {"messages", "", NULL, "hello", 401,
     "{\"type\": \"about:blank\", \"title\": \"Unauthorized\", \"status\": 401, \"detail\": \"a good "
     "token is needed\", \"request\": \"2a\"}",
     0},
    {"challenge", "", "/v1/challenge?nonce=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", NULL, 200,
     "[Proof=\"d23279b7b6a5a9b9809aeefd37311b502ad13b2e380e643cec64ba2d2a6fb089\"]\n", 0},
    {"openapi", "", NULL, NULL, 200, "{\"openapi\": \"3.1.0\", \"info\": {\"title\": \"Berth\"}, \"paths\": {}}",
     EXAMPLE_MORE},
    {"healthz", "", NULL, NULL, 200, "ok\n", 0},
    {.id = NULL},
};

const struct route_table agent_routes = {
    "Berth agent", "Takes the messages of other agents.",  routes,   sizeof routes / sizeof *routes,
    parameters,    sizeof parameters / sizeof *parameters, examples,
};

/* --------------------------------------------------------------------------------------------------------------- gate */

static bool pool_proof(struct membership *pool, struct proof *ret)
{
    *ret = (struct proof){.tokens = pool->tokens,
                          .keys = &pool->keys,
                          .audience = pool->audience,
                          .revoked = membership_revokes,
                          .user = pool};
    return pool->has_keys;
}

/* Of the pool that the token says it is of: whether it is, the keys show. */
static bool token_proof(void *user, const char *token, size_t len, struct proof *ret)
{
    struct live_agent *live = user;
    struct grant grant;

    if (live->pool_count > 1 && token_read(token, len, &grant) == TOKEN_OK)
        for (uint32_t i = 0; i < live->pool_count; i++)
            if (live->pools[i].has_keys && !strcmp(live->pools[i].keys.issuer, grant.issuer))
                return pool_proof(&live->pools[i], ret);
    return pool_proof(live->pools, ret);
}

bool agent_proof(struct live_agent *live, struct proof *ret)
{
    return pool_proof(live->pools, ret);
}

const char *agent_disables(const struct live_agent *live, const struct proof *proof, const char *identity)
{
    const struct membership *pool = proof ? proof->user : live->pool_count ? live->pools : NULL;
    const struct disabled_entry *entry = pool ? disabled_find(&pool->disabled, identity, strlen(identity)) : NULL;

    return entry ? entry->words : NULL;
}

bool agent_shuts_out(const struct live_agent *live, const char *identity, bool *ret_now)
{
    const struct disabled_entry *entry =
        live->pool_count ? disabled_find(&live->pools->disabled, identity, strlen(identity)) : NULL;

    *ret_now = entry && entry->now;
    return entry;
}

void agent_refuses(const struct proof *proof, enum token_fault fault)
{
    if (fault == TOKEN_UNKNOWN_KEY)
        agent_ask_keys(proof->user);
}

/* The front has logged why. */
static void token_refused(void *user, const struct proof *proof, enum token_fault fault)
{
    struct live_agent *live = user;

    live->counts.refused++;
    metrics_add(live->settings->metrics, METRIC_TOKENS_REFUSED, fault, 0, 1);
    agent_refuses(proof, fault);
}

void agent_front_init(struct live_agent *live)
{
    const struct agent_settings *settings = live->settings;
    struct front_part ours = {.table = &agent_routes, .daemon = live, .gate = &live->gate, .symbols = live->symbols};
    /* Those of one user may be thousands, and send what their jobs have made: only what all have under way is bounded. */
    struct gate_settings gate = {
        .user = live, .proof = token_proof, .refused = token_refused, .bodies_account = UINT64_MAX};
    struct front_settings front = {.log = settings->log,
                                   .memory = settings->memory,
                                   .metrics = settings->metrics,
                                   .version = settings->version,
                                   .loop = live->loop};

    if (settings->other)
        front.parts[front.part_count++] = *settings->other;
    front.parts[front.part_count++] = ours;
    gate_init(&live->gate, &gate, secrets_word(&secrets_live));
    front_init(&live->front, &front);
}

struct front *agent_front(struct live_agent *live)
{
    return live ? &live->front : NULL;
}
