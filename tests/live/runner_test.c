/* runner_test.c: a role that is live: what it wants, and what others on the same loop have of it. */
#include "common/tap.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/symbols.h"
#include "live/world/runner.h"

#include <string.h>
#include <uv.h>

/* A role that always wants to go on at once, as a matchmaker does within a cycle. */
#define SLICES 200

struct busy {
    int slices;
};

static void *busy_make(const void *settings)
{
    return (void *)(uintptr_t)settings;
}

static void busy_free(void *role)
{
    (void)role;
}

static void busy_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    struct busy *busy = role;

    busy->slices += event->kind == EVENT_WAKE;
    effects_wake(effects, busy->slices < SLICES ? env->now : INT64_MAX);
}

static const struct role_kind busy_kind = {.name = "busy", .make = busy_make, .free = busy_free, .step = busy_step};

/* A shelf on which there is nothing. */
static int shelf_each(struct shelf *shelf, const char *space, shelf_row_fn *fn, void *user, struct err *err)
{
    (void)shelf, (void)space, (void)fn, (void)user, (void)err;
    return 0;
}

static void secrets_draw(void *user, void *bytes, size_t len)
{
    (void)user;
    memset(bytes, 7, len);
}

/* Somebody else on the loop: how many slices there were at most between two turns. */
struct other {
    const struct busy *busy;
    int seen, most, turns;
    uv_prepare_t turn;
};

static void other_turn(uv_prepare_t *prepare)
{
    struct other *other = prepare->data;
    int slices = other->busy->slices - other->seen;

    other->seen = other->busy->slices;
    other->most = slices > other->most ? slices : other->most;
    other->turns++;
    if (other->busy->slices == SLICES)
        uv_prepare_stop(prepare);
}

/* ---------------------------------------------------------------------------------------------- events within effects */

/* A role that wants a job, and whose world has news for it while it says so: an ad that is only lent for the call. */
struct eager {
    struct runner *runner;
    struct symbols *symbols;
    bool probed;
    int64_t told;
};

static void eager_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    struct eager *eager = role;

    (void)env;
    if (event->kind == EVENT_BOOTED) {
        effects_job(effects, 1, 1, 1, NULL, INT64_MAX, INT64_MAX, 0);
    } else if (event->kind == EVENT_PROBED) {
        eager->probed = true;
        ad_integer(event->ad, "Memory", &eager->told);
    }
}

static void eager_job(void *user, const struct effect *effect)
{
    struct eager *eager = user;
    struct maker maker;
    struct tree *ad;

    (void)effect;
    maker_init(&maker, eager->symbols);
    maker_integer(&maker, "Memory", 512);
    ad = maker_seal(&maker);
    runner_event(eager->runner, &(struct event){.kind = EVENT_PROBED, .ad = ad});
    tree_unref(ad);
}

static void eager_run(struct shelf *shelf, const struct secrets *secrets)
{
    static const struct role_kind kind = {.name = "eager", .make = busy_make, .free = busy_free, .step = eager_step};
    struct symbols *symbols = symbols_new(NULL, 0, 1);
    struct eager eager = {.symbols = symbols};
    const struct runner_ports ports = {.user = &eager, .job = eager_job};
    struct err err = {0};
    uv_loop_t loop;

    uv_loop_init(&loop);
    eager.runner = runner_new(&loop, &kind, &eager, shelf, symbols, secrets, &ports, &err);
    runner_event(eager.runner, &(struct event){.kind = EVENT_BOOTED});
    tap_ok(eager.probed && eager.told == 512, "an event from within an effect comes after the step, with its ad");
    runner_free(eager.runner);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    symbols_free(symbols);
}

int main(void)
{
    const struct shelf_kind kind = {.name = "nothing", .each = shelf_each};
    const struct secrets secrets = {.draw = secrets_draw};
    const struct runner_ports ports = {0};
    struct shelf shelf = {&kind};
    struct symbols *symbols = symbols_new(NULL, 0, 1);
    struct busy busy = {0};
    struct other other = {.busy = &busy};
    struct runner *runner;
    struct err err = {0};
    uv_loop_t loop;

    uv_loop_init(&loop);
    uv_prepare_init(&loop, &other.turn);
    other.turn.data = &other;
    uv_prepare_start(&other.turn, other_turn);
    runner = runner_new(&loop, &busy_kind, &busy, &shelf, symbols, &secrets, &ports, &err);
    runner_event(runner, &(struct event){.kind = EVENT_BOOTED});
    uv_run(&loop, UV_RUN_DEFAULT);
    tap_ok(busy.slices == SLICES, "a role that wants to go on at once does");
    tap_ok(other.most == 1 && other.turns >= SLICES,
           "and everybody else on the loop has a turn after each of its slices");
    runner_free(runner);
    uv_close((uv_handle_t *)&other.turn, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    tap_ok(uv_loop_close(&loop) == 0, "when it goes it leaves nothing on the loop");
    symbols_free(symbols);
    eager_run(&shelf, &secrets);
    return tap_done();
}
