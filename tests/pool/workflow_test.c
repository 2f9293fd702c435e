/* flows_test.c: workflows of a customer, whatever they look like: against a slow twin, under restarts, and large.
 *
 * The customer alone, with all that it has recorded; machines are left out: who is let go is ended by a word. */
#include "agent.h"

#include "lang/base/map.h"
#include "lang/base/mem.h"
#include "pool/customer/customer.h"
#include "pool/protocol/mutants.h"

#include <time.h>

#define NODES_MOST 40
#define LARGE 10000
#define STEPS 600

struct shop {
    struct lang lang;
    struct rng chance, hidden;
    struct secrets secrets;
    struct role_env env;
    struct customer_settings settings;
    void *role;
    struct effects effects;
    struct map places; /* of rows, by kind and key */
    struct record *rows;
    uint32_t count, room;
    uint64_t advertised; /* texts that went to the matchmaker */
    const char *fault;
};

static struct record *shop_row(struct shop *shop, const struct record *record)
{
    uint64_t key = rng_mix(record->key ^ rng_mix(record->kind)), place = map_find(&shop->places, key);

    if (place != MAP_NONE)
        return &shop->rows[place];
    if (shop->count == shop->room) {
        shop->room = shop->room ? shop->room * 2 : 64;
        shop->rows = mem_grow(shop->rows, shop->room * sizeof *shop->rows);
    }
    map_set(&shop->places, key, shop->count);
    memset(&shop->rows[shop->count], 0, sizeof *shop->rows);
    return &shop->rows[shop->count++];
}

static void shop_step(struct shop *shop, const struct event *event)
{
    const char *why;

    effects_reset(&shop->effects);
    customer_role.step(shop->role, &shop->env, event, &shop->effects);
    for (uint32_t i = 0; i < shop->effects.count; i++) {
        const struct effect *effect = &shop->effects.items[i];

        if (effect->kind == EFFECT_PERSIST) {
            struct record *row = shop_row(shop, &effect->record);

            record_done(row);
            record_copy(row, &effect->record);
        }
        shop->advertised +=
            effect->kind == EFFECT_SEND && effect->message.kind == MESSAGE_ADVERTISE && effect->message.u.advertise.ad;
    }
    if (!shop->fault && shop->count < 1000 && !customer_role.valid(shop->role, &why))
        shop->fault = why;
}

static void shop_begin(struct shop *shop)
{
    shop->role = customer_role.make(&shop->settings);
    for (int kind = 0; kind < RECORD_COUNT; kind++)
        for (uint32_t i = 0; i < shop->count; i++)
            if ((int)shop->rows[i].kind == kind && !shop->rows[i].removed)
                customer_role.step(shop->role, &shop->env,
                                   &(struct event){.kind = EVENT_LOADED, .record = &shop->rows[i]}, &shop->effects);
    shop_step(shop, &(struct event){.kind = EVENT_BOOTED});
}

static void shop_restart(struct shop *shop)
{
    customer_role.free(shop->role);
    shop_begin(shop);
}

static void shop_open(struct shop *shop, uint64_t seed)
{
    memset(shop, 0, sizeof *shop);
    lang_init(&shop->lang);
    rng_init(&shop->chance, seed);
    rng_init(&shop->hidden, seed + 1);
    shop->secrets = (struct secrets){&shop->hidden, plain_draw, plain_seal};
    shop->env = (struct role_env){.now = 1000 * SECOND,
                                  .wall = NOON * SECOND,
                                  .boot = 9,
                                  .chance = &shop->chance,
                                  .secrets = &shop->secrets,
                                  .symbols = shop->lang.symbols,
                                  .scratch = &shop->lang.arena};
    shop->settings = (struct customer_settings){.self = SELF, .matchmaker = MATCHMAKER, .spans = &spans_default};
    map_init(&shop->places, 0);
    effects_init(&shop->effects);
    shop_begin(shop);
}

static void shop_close(struct shop *shop)
{
    customer_role.free(shop->role);
    for (uint32_t i = 0; i < shop->count; i++)
        record_done(&shop->rows[i]);
    free(shop->rows);
    map_done(&shop->places);
    effects_done(&shop->effects);
    lang_done(&shop->lang);
}

/* ------------------------------------------------------------------------------------------------------------- saying */

static void node_submit(struct shop *shop, uint32_t nodes, uint32_t key, const struct buf *node, const char *text)
{
    static const struct peer raman = {.agent = 90, .identity = "raman", .channel = 90};
    struct message message = {.kind = MESSAGE_SUBMIT, .u.submit = {.count = 1, .flow = 4711, .nodes = nodes}};
    char number[32];
    struct err err;

    snprintf(number, sizeof number, "k/%u", key);
    text_set(&message.u.submit.key, number, strlen(number));
    text_set(&message.u.submit.owner, "raman", 5);
    message.u.submit.ad = lang_ad(&shop->lang, &dialect_classic, text, &err);
    message.u.submit.node = lang_ad(&shop->lang, &dialect_classic, node->text, &err);
    shop_step(shop, &(struct event){.kind = EVENT_MESSAGE, .message = &message, .peer = &raman, .token = 1});
    message_done(&message);
}

/* A job that waits is nobody's: so nobody may end it. */
static void job_end(struct shop *shop, uint64_t job, int64_t status)
{
    static const struct peer nobody = {.agent = 0, .identity = "nobody"};
    struct message message = {.kind = MESSAGE_RESULT};

    message.u.result = (struct result){0, 0, job, REASON_EXITED, status, 0, false};
    shop_step(shop, &(struct event){.kind = EVENT_MESSAGE, .message = &message, .peer = &nobody, .token = 1});
}

static void job_control(struct shop *shop, uint64_t job, enum control_verb verb)
{
    static const struct peer raman = {.agent = 90, .identity = "raman", .channel = 90};
    struct message message = {.kind = MESSAGE_CONTROL, .u.control = {job, verb}};

    shop_step(shop, &(struct event){.kind = EVENT_MESSAGE, .message = &message, .peer = &raman, .token = 1});
}

/* -------------------------------------------------------------------------------------------------------------- twin */

/* Who waits for whom, and how each stands, by the plain rule. */
struct twin {
    uint32_t count;
    bool after[NODES_MOST][NODES_MOST]; /* [child][parent] */
    enum { OPEN, GOOD, BAD, GONE } state[NODES_MOST];
    uint32_t order[NODES_MOST]; /* in which they are submitted: the node of job i + 1 */
};

static bool twin_blocked(const struct twin *twin, uint32_t node)
{
    for (uint32_t i = 0; i < twin->count; i++)
        if (twin->after[node][i] && twin->state[i] != GOOD)
            return true;
    return false;
}

static void twin_make(struct twin *twin, struct rng *chance)
{
    uint64_t density = 1 + rng_below(chance, 6);

    memset(twin, 0, sizeof *twin);
    twin->count = 2 + (uint32_t)rng_below(chance, NODES_MOST - 1);
    for (uint32_t i = 0; i < twin->count; i++) {
        uint32_t with = (uint32_t)rng_below(chance, i + 1);

        twin->order[i] = twin->order[with];
        twin->order[with] = i;
        for (uint32_t k = 0; k < i; k++)
            twin->after[i][k] = rng_below(chance, i) < density;
    }
}

static void twin_submit(const struct twin *twin, struct shop *shop)
{
    struct buf node;

    buf_init(&node);
    for (uint32_t i = 0; i < twin->count; i++) {
        uint32_t which = twin->order[i];
        bool first = true;

        buf_reset(&node);
        buf_addf(&node, "[ Node = \"n%u\"; After = {", which);
        for (uint32_t k = 0; k < twin->count; k++)
            if (twin->after[which][k]) {
                buf_addf(&node, "%s \"n%u\"", first ? "" : ",", k);
                first = false;
            }
        buf_adds(&node, " } ]");
        buf_string(&node);
        node_submit(shop, twin->count, i, &node, "[ Type = \"Job\"; Cmd = \"x\" ]");
    }
    buf_done(&node);
}

static bool twin_agrees(const struct twin *twin, const struct shop *shop)
{
    for (uint32_t i = 0; i < twin->count; i++) {
        uint32_t which = twin->order[i];
        struct job_view view;

        if (!customer_job(shop->role, i + 1, &view))
            return false;
        if (twin->state[which] == OPEN ? view.state != JOB_IDLE || view.blocked != twin_blocked(twin, which)
                                       : view.state != (twin->state[which] == GONE ? JOB_REMOVED : JOB_DONE))
            return false;
    }
    return true;
}

/* Something happens to one of them. */
static void twin_act(struct twin *twin, struct shop *shop)
{
    uint32_t i = (uint32_t)rng_below(&shop->chance, twin->count), which = twin->order[i];
    uint64_t what = rng_below(&shop->chance, 20);

    if (what == 0) {
        shop_restart(shop);
    } else if (what == 1 && twin->state[which] != GOOD) {
        twin->state[which] = GONE;
        job_control(shop, i + 1, CONTROL_REMOVE);
    } else if (twin->state[which] == BAD || twin->state[which] == GONE) {
        struct job_view view;

        job_control(shop, i + 1, CONTROL_RESCUE);
        if (customer_job(shop->role, i + 1, &view) && view.state == JOB_IDLE)
            twin->state[which] = OPEN; /* else nobody waits for it, or nothing is left */
    } else if (twin->state[which] == OPEN && !twin_blocked(twin, which)) {
        twin->state[which] = what < 5 ? BAD : GOOD;
        job_end(shop, i + 1, what < 5);
    }
}

/* A workflow from its seed; false when the customer does anything else than the plain rule says. */
static bool twin_run(uint64_t seed, struct twin *twin, const char **ret_why)
{
    struct shop shop;
    bool good = true;

    shop_open(&shop, seed);
    twin_make(twin, &shop.chance);
    twin_submit(twin, &shop);
    for (int step = 0; good && step < STEPS; step++) {
        twin_act(twin, &shop);
        good = twin_agrees(twin, &shop) && !shop.fault;
    }
    *ret_why = shop.fault ? shop.fault : "they differ";
    shop_close(&shop);
    return good;
}

#ifndef BERTH_MUTANTS

static void check_twin(void)
{
    uint32_t done = 0;

    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct twin twin;
        const char *why;
        bool good = twin_run(seed, &twin, &why);

        for (uint32_t i = 0; i < twin.count; i++)
            done += twin.state[i] == GOOD;
        if (!good)
            tap_diag("seed %llu: %s", (unsigned long long)seed, why);
        tap_ok(good, "%u nodes are let go as the plain rule says, restarts and rescues between: seed %llu", twin.count,
               (unsigned long long)seed);
    }
    tap_ok(done > 500, "and most of them come to their ends: %u of them", done);
}

/* -------------------------------------------------------------------------------------------------------------- large */

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint32_t blocked_count(const struct shop *shop)
{
    struct job_view view = {0};
    uint32_t count = 0;

    while (customer_next(shop->role, view.id, &view))
        count += view.blocked;
    return count;
}

/* One, then LARGE - 2 side by side, then one that waits for all of these. */
static double fan_run(uint32_t nodes)
{
    struct shop shop;
    struct buf node;
    double began;

    shop_open(&shop, 7);
    buf_init(&node);
    for (uint32_t i = 0; i < nodes; i++) {
        buf_reset(&node);
        buf_addf(&node, "[ Node = \"n%u\"; After = {", i);
        if (i && i < nodes - 1)
            buf_adds(&node, " \"n0\"");
        for (uint32_t k = 1; i == nodes - 1 && k < i; k++)
            buf_addf(&node, "%s \"n%u\"", k > 1 ? "," : "", k);
        buf_adds(&node, " } ]");
        buf_string(&node);
        node_submit(&shop, nodes, i, &node, "[ Type = \"Job\"; Cmd = \"x\" ]");
    }
    began = seconds();
    if (nodes == LARGE)
        tap_ok(blocked_count(&shop) == nodes - 1, "of %u nodes all but the first are blocked", nodes);
    job_end(&shop, 1, 0);
    if (nodes == LARGE)
        tap_ok(blocked_count(&shop) == 1, "its end lets all go but the last");
    for (uint32_t i = 2; i < nodes; i++)
        job_end(&shop, i, 0);
    if (nodes == LARGE)
        tap_ok(blocked_count(&shop) == 0, "and their ends the last");
    shop_restart(&shop);
    if (nodes == LARGE)
        tap_ok(blocked_count(&shop) == 0 && customer_count(shop.role) == nodes, "a restart changes nothing of that");
    began = seconds() - began;
    buf_done(&node);
    shop_close(&shop);
    return began;
}

/* Equal nodes share a request, so that what is advertised does not grow with them; and time grows no faster than they do, by far. */
static void check_large(void)
{
    double small = fan_run(LARGE / 10), large = fan_run(LARGE);

    tap_ok(large < 60 * small + 1, "ten times as many nodes take about ten times as long: %.3f and %.3f s", small,
           large);
}

#endif

#ifdef BERTH_MUTANTS

enum mutant mutant_now;

/* Built with bugs that can be planted: the twin finds the one of workflows. */
int main(void)
{
    struct twin twin;
    const char *why;
    bool clean = twin_run(1, &twin, &why), caught = false;

    mutant_now = MUTANT_PARENT_IGNORED;
    for (uint64_t seed = 1; seed <= 60 && !caught; seed++)
        caught = !twin_run(seed, &twin, &why);
    tap_ok(clean && caught, "that a job runs although one that it waits for has failed is noticed");
    return tap_done();
}

#else

int main(void)
{
    check_twin();
    check_large();
    return tap_done();
}

#endif
