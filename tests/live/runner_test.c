/* runner_test.c: a role that is live: what it wants, and what others on the same loop have of it. */
#include "common/tap.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/symbols.h"
#include "live/world/runner.h"

#include <stdio.h>
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

/* ------------------------------------------------------------------------------------------- many messages, and others */

/* A role that has very much to say behind one row, and somebody who waits for an answer behind the same row. */
#define SENDS 2000
#define SEND_SPAN 20 /* microseconds that each takes */
#define A_TURN 20    /* of them, at most: a turn has 300 microseconds for them, and one may begin at their end */

struct talker {
    uint64_t last;
    int sent, seen, most, before_reply, disorder;
    uv_prepare_t turn;
};

static void talker_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_GOT};
    uint64_t row;

    (void)role, (void)env;
    if (event->kind != EVENT_BOOTED)
        return;
    row = effects_remove(effects, RECORD_SHAPE, 1);
    for (uint64_t i = 1; i <= SENDS; i++)
        effects_send(effects, 1, &message, i, 0, row);
    effects_reply(effects, 1, &message, row);
}

static void talker_send(void *user, agent to, const struct message *message, uint64_t token, uint32_t tag)
{
    struct talker *talker = user;
    int64_t until = runner_now() + SEND_SPAN;

    (void)to, (void)message, (void)tag;
    talker->disorder += token != talker->last + 1;
    talker->last = token;
    talker->sent++;
    while (runner_now() < until)
        ;
}

static void talker_reply(void *user, uint64_t token, const struct message *message)
{
    struct talker *talker = user;

    (void)token, (void)message;
    talker->before_reply = talker->sent;
}

static void talker_turn(uv_prepare_t *prepare)
{
    struct talker *talker = prepare->data;
    int sent = talker->sent - talker->seen;

    talker->seen = talker->sent;
    talker->most = sent > talker->most ? sent : talker->most;
    if (talker->sent == SENDS)
        uv_prepare_stop(prepare);
}

static int talker_remove(struct shelf *shelf, const char *space, const void *key, size_t key_len, struct err *err)
{
    (void)shelf, (void)space, (void)key, (void)key_len, (void)err;
    return 0;
}

static int talker_commit(struct shelf *shelf, struct err *err)
{
    (void)shelf, (void)err;
    return 0;
}

static void talker_run(const struct secrets *secrets)
{
    static const struct role_kind kind = {.name = "talker", .make = busy_make, .free = busy_free, .step = talker_step};
    const struct shelf_kind shelf_kind = {
        .name = "rows", .each = shelf_each, .remove = talker_remove, .commit = talker_commit};
    struct symbols *symbols = symbols_new(NULL, 0, 1);
    struct talker talker = {.before_reply = -1};
    const struct runner_ports ports = {.user = &talker, .send = talker_send, .reply = talker_reply};
    struct shelf shelf = {&shelf_kind};
    struct runner *runner;
    struct err err = {0};
    uv_loop_t loop;

    uv_loop_init(&loop);
    uv_prepare_init(&loop, &talker.turn);
    talker.turn.data = &talker;
    uv_prepare_start(&talker.turn, talker_turn);
    runner = runner_new(&loop, &kind, &talker, &shelf, symbols, secrets, &ports, &err);
    runner_event(runner, &(struct event){.kind = EVENT_BOOTED});
    uv_run(&loop, UV_RUN_DEFAULT);
    tap_ok(talker.sent == SENDS && !talker.disorder, "messages behind a row all leave, in their order");
    if (!tap_ok(talker.most > 0 && talker.most <= A_TURN, "some in each turn of the loop, so that others have theirs"))
        tap_diag("%d in one turn", talker.most);
    tap_ok(talker.before_reply == 0, "who waits for an answer behind that row does not wait for them");
    runner_free(runner);
    uv_close((uv_handle_t *)&talker.turn, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    symbols_free(symbols);
}

/* ------------------------------------------------------------------------------------------- a shelf that fails somebody else */

static bool shelf_broken(const struct shelf *shelf)
{
    (void)shelf;
    return true;
}

static int shelf_refuses(struct shelf *shelf, struct err *err)
{
    (void)shelf;
    return err_set(err, "broken before: it was removed");
}

static void quiet_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    (void)role, (void)env, (void)event, (void)effects;
}

static void turn_passes(uv_idle_t *idle)
{
    (void)idle;
}

static void broken_told(void *user, const char *why)
{
    snprintf(user, 64, "%s", why);
}

static void broken_run(const struct secrets *secrets)
{
    static const struct role_kind kind = {.name = "quiet", .make = busy_make, .free = busy_free, .step = quiet_step};
    const struct shelf_kind shelf_kind = {
        .name = "broken", .each = shelf_each, .commit = shelf_refuses, .broken = shelf_broken};
    struct symbols *symbols = symbols_new(NULL, 0, 1);
    char told[64] = "";
    const struct runner_ports ports = {.user = told, .broken = broken_told};
    struct shelf shelf = {&shelf_kind};
    struct runner *runner;
    struct err err = {0};
    uv_loop_t loop;
    uv_idle_t turn;

    uv_loop_init(&loop);
    uv_idle_init(&loop, &turn);
    uv_idle_start(&turn, turn_passes);
    runner = runner_new(&loop, &kind, told, &shelf, symbols, secrets, &ports, &err);
    uv_run(&loop, UV_RUN_NOWAIT);
    tap_ok(runner_is_broken(runner) && !strcmp(told, "broken before: it was removed"),
           "a store that failed somebody else is noticed in the same turn, also by a role that wants nothing");
    runner_free(runner);
    uv_close((uv_handle_t *)&turn, NULL);
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
    talker_run(&secrets);
    broken_run(&secrets);
    return tap_done();
}
