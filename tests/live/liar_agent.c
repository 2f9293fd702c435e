/* liar_agent.c: a member of gangs over real HTTP that lies: for tests that start it as a process.
 *
 *     liar_agent NAME IDENTITY STATE TOKEN SEED FILE MATCHMAKER          FILE: the ad that it offers
 *
 * Its role is the provider's own, with somebody between it and the world who
 *
 *     bends     what it says, in a field or two, or does not say it
 *     invents   messages of any kind, to anybody of whom it has heard, mostly of what it has heard
 *     submits   jobs of its own, to anybody
 *     asks      the customer for files of jobs, and sends some, with every claim, pass and number that it knows
 *
 * It runs nothing: what it is told to start has ended well at once, as it says. It prints all that it hears, `bent N invented N asked N` at its end, a
 * line `started JOB` for what it was to run, and `answered ASK` for each question that was answered with something. */
#include "acting.h"

#include "common/gossip.h"
#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "pool/protocol/wire.h"
#include "sys/encoding.h"

#define INVENTED_TAG 0x4c494152u /* of sends whose answers are not the role's */
#define AGENTS 32
#define TICK 40 /* milliseconds */

struct liar {
    struct acting is;
    uv_timer_t tick;
    struct world world; /* of gossip: its symbols alone */
    struct gossip gossip;
    agent agents[AGENTS];
    uint32_t agent_count;
    uint64_t bent, invented, asked;
    struct buf text;
};

static struct liar liar;

/* -------------------------------------------------------------------------------------------------------------- hearing */

static void agent_hear(uint64_t who)
{
    for (uint32_t i = 0; i < liar.agent_count && i < AGENTS; i++)
        if (liar.agents[i] == who)
            return;
    if (who)
        liar.agents[liar.agent_count++ % AGENTS] = who;
}

static agent agent_pick(void)
{
    uint32_t count = liar.agent_count < AGENTS ? liar.agent_count : AGENTS;

    return count ? liar.agents[gossip_below(&liar.gossip, count)] : 0;
}

static void message_hear(const struct event *event)
{
    const struct message *message = event->message;
    struct message copy;
    struct tree *ad = wire_message(liar.is.settings.symbols, message);

    buf_reset(&liar.text);
    wire_print(&liar.text, ad);
    printf("heard %s\n", buf_string(&liar.text));
    fflush(stdout);
    tree_unref(ad);
    message_copy(&copy, message);
    gossip_fields(&liar.gossip, message_layout(message->kind), &message->u);
    agent_hear(message_word(&copy, "customer") ? *message_word(&copy, "customer") : 0);
    agent_hear(message_word(&copy, "superior") ? *message_word(&copy, "superior") : 0);
    if (message->kind == MESSAGE_MATCH && message->u.match_told.edges)
        for (uint32_t i = 0; i < message->u.match_told.edges->count; i++)
            agent_hear(message->u.match_told.edges->items[i].agent);
    if (event->peer && event->peer->agent != agent_matchmaker()) {
        agent_hear(event->peer->agent);
        message_done(&liar.gossip.heard[liar.gossip.counts[RING_HEARD] % HEARD].message);
        liar.gossip.heard[gossip_place(&liar.gossip, RING_HEARD, HEARD)] = (struct heard){.message = copy};
    } else {
        message_done(&copy);
    }
}

/* --------------------------------------------------------------------------------------------------------------- lying */

/* A job of its own, which would leave its files wherever it likes. */
static void job_invent(struct message *ret)
{
    const char *identity = liar.is.settings.identity;
    char key[24];

    gossip_make(&liar.gossip, MESSAGE_SUBMIT, ret);
    tree_unref(ret->u.submit.ad);
    tree_unref(ret->u.submit.node);
    snprintf(key, sizeof key, "k%llu", (unsigned long long)liar.invented);
    text_set(&ret->u.submit.key, key, strlen(key));
    text_set(&ret->u.submit.owner, identity, strlen(identity));
    ret->u.submit.count = 1;
    ret->u.submit.flow = ret->u.submit.nodes = 0;
    ret->u.submit.node = NULL;
    ret->u.submit.ad =
        ad_read(liar.is.settings.symbols,
                "[Type = \"Job\"; Cmd = \"id\"; Iwd = \"/tmp\"; Outputs = {\"evil\"}; Constraint = true]");
}

static void message_invent(struct effects *effects)
{
    const struct heard *heard = &liar.gossip.heard[gossip_below(&liar.gossip, HEARD)];
    struct message message;
    agent to = agent_pick();

    if (!to)
        return;
    if (gossip_one_in(&liar.gossip, 6)) {
        job_invent(&message);
    } else if (heard->message.kind && gossip_one_in(&liar.gossip, 2)) {
        message_copy(&message, &heard->message);
        gossip_bend(&liar.gossip, &message);
    } else {
        gossip_make(&liar.gossip, (enum message_kind)(1 + gossip_below(&liar.gossip, MESSAGE_COUNT - 1)), &message);
    }
    effects_send(effects, to, &message, 0, INVENTED_TAG, 0);
    message_done(&message);
    liar.invented++;
}

/* What a role says is bent, but for most of what makes it known: nobody would have to do with it otherwise. */
static void effect_bend(struct effect *effect)
{
    bool advertises = effect->kind == EFFECT_SEND && effect->to == agent_matchmaker();

    if ((effect->kind != EFFECT_SEND && effect->kind != EFFECT_REPLY) ||
        !gossip_one_in(&liar.gossip, advertises ? 20 : 4))
        return;
    gossip_bend(&liar.gossip, &effect->message);
    liar.bent++;
}

static void liar_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    uint32_t before = effects->count;

    liar.world.time = env->now;
    if (event->message)
        message_hear(event);
    if (event->kind == EVENT_ANSWER && event->tag == INVENTED_TAG)
        return;
    provider_role.step(role, env, event, effects);
    for (uint32_t i = before; i < effects->count; i++)
        effect_bend(&effects->items[i]);
    if (gossip_one_in(&liar.gossip, 2))
        message_invent(effects);
}

static void *liar_make(const void *settings)
{
    return provider_role.make(settings);
}

static void liar_free(void *role)
{
    provider_role.free(role);
}

static const struct role_kind liar_role = {.name = "provider", .make = liar_make, .free = liar_free, .step = liar_step};

/* ----------------------------------------------------------------------------------------------------------------- jobs */

/* It has run, and all was well: so it says. */
static void job_effect(void *user, const struct effect *effect)
{
    (void)user;
    if (effect->kind != EFFECT_JOB)
        return;
    printf("started %llu\n", (unsigned long long)effect->job);
    fflush(stdout);
    runner_event(
        agent_runner(liar.is.live),
        &(struct event){
            .kind = EVENT_JOB, .news = JOB_EXITED, .claim = effect->claim, .number = effect->number, .used = SECOND});
}

/* ------------------------------------------------------------------------------------------------------------ questions */

static void answered(void *user, const struct tree *answer)
{
    const char *reason;
    size_t len;

    if (answer && ad_string(answer, "Reason", &reason, &len) && len == 2 && !memcmp(reason, "ok", 2)) {
        buf_reset(&liar.text);
        wire_print(&liar.text, answer);
        printf("answered %s %s\n", (const char *)user, buf_string(&liar.text));
        fflush(stdout);
    }
}

static void word_put(struct maker *maker, const char *name, const char *field)
{
    char digits[24];

    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)gossip_make_word(&liar.gossip, field));
    maker_text(maker, name, digits);
}

static void question_ask(void)
{
    static const char *const asks[] = {"manifest", "fetch", "store", "report", "finish", "stored"};
    const char *ask = asks[gossip_below(&liar.gossip, sizeof asks / sizeof *asks)];
    char digits[2 * KEY_BYTES + 1];
    struct key key = liar.gossip.keys[gossip_below(&liar.gossip, NUMBERS)];
    agent to = agent_pick();
    struct maker maker;
    struct tree *question;

    if (!to)
        return;
    maker_init(&maker, liar.is.settings.symbols);
    maker_text(&maker, "Ask", ask);
    word_put(&maker, "Claim", gossip_one_in(&liar.gossip, 2) ? "claim" : "line");
    word_put(&maker, "Number", "number");
    maker_integer(&maker, "Job", (int64_t)(1 + gossip_below(&liar.gossip, 12)));
    if (gossip_one_in(&liar.gossip, 2)) {
        hex_print(key.bytes, KEY_BYTES, digits);
        maker_text(&maker, "Pass", digits);
    }
    maker_text(&maker, "Kind", gossip_one_in(&liar.gossip, 2) ? "output" : "log");
    maker_text(&maker, "Name", gossip_one_in(&liar.gossip, 2) ? "stdout" : "out.1");
    maker_integer(&maker, "Offset", 0);
    maker_integer(&maker, "Size", -1);
    maker_integer(&maker, "Length", 1000);
    maker_text(&maker, "Bytes", "ZXZpbAo");
    question = maker_seal(&maker);
    liar.asked += agent_ask(liar.is.live, to, question, answered, (void *)(uintptr_t)ask);
    tree_unref(question);
}

static void tick_due(uv_timer_t *timer)
{
    (void)timer;
    question_ask();
    if (gossip_one_in(&liar.gossip, 25))
        acting_probed(&liar.is); /* something happens, so something is said */
}

/* ----------------------------------------------------------------------------------------------------------------- life */

static struct tree *offer_read(const char *path)
{
    char text[8192];
    FILE *file = fopen(path, "r");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;

    if (file)
        fclose(file);
    text[len] = '\0';
    return ad_read(liar.is.settings.symbols, text);
}

int main(int argc, char **argv)
{
    struct agent_settings *settings = &liar.is.settings;

    if (argc != 8 || !acting_init(&liar.is, argv[1], argv[2], argv[3], argv[4], (const char *const *)&argv[7], 1) ||
        !(liar.is.ads[0] = offer_read(argv[6])))
        return 2;
    liar.is.spans.lease = 4 * SECOND; /* as the test's pool has them */
    liar.is.spans.pin = liar.is.spans.window = 3 * SECOND;
    liar.is.spans.deadline = 2 * SECOND;
    liar.is.spans.retry = SECOND / 10;
    liar.is.spans.lifetime = 5 * SECOND;
    liar.world.symbols = settings->symbols;
    buf_init(&liar.text);
    gossip_init(&liar.gossip, &liar.world, strtoull(argv[5], NULL, 10));
    settings->role = &liar_role;
    settings->listen = "127.0.0.1:0";
    settings->job = job_effect;
    if (!acting_start(&liar.is))
        return 2;
    acting_probed(&liar.is);
    uv_timer_init(&liar.is.loop, &liar.tick);
    uv_timer_start(&liar.tick, tick_due, TICK, TICK);
    uv_run(&liar.is.loop, UV_RUN_DEFAULT);
    printf("bent %llu invented %llu asked %llu\n", (unsigned long long)liar.bent, (unsigned long long)liar.invented,
           (unsigned long long)liar.asked);
    gossip_done(&liar.gossip);
    acting_done(&liar.is);
    buf_done(&liar.text);
    return 0;
}
