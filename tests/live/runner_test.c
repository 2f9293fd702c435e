/* runner_test.c: a role that is live: what it wants, and what others on the same loop have of it. */
#include "common/tap.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/symbols.h"
#include "live/world/runner.h"

#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
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

/* ------------------------------------------------------------------------------------------------------- a shelf elsewhere */

/* A shelf whose commits end when the test says so, and which may be another's. */
struct far_shelf {
    struct shelf shelf;
    int news, begun, result; /* of the commit that is under way */
    bool may_act;
};

static int far_start(struct shelf *shelf, struct err *err)
{
    struct far_shelf *far = (struct far_shelf *)shelf;

    (void)err;
    far->begun++;
    far->result = 0;
    return 0;
}

static int far_look(struct shelf *shelf, struct err *err)
{
    const struct far_shelf *far = (struct far_shelf *)shelf;

    return far->result < 0 ? err_set(err, "another has it") : far->result;
}

static int far_news(const struct shelf *shelf)
{
    return ((const struct far_shelf *)shelf)->news;
}

static bool far_may_act(const struct shelf *shelf)
{
    return ((const struct far_shelf *)shelf)->may_act;
}

static int64_t far_away(const struct shelf *shelf, char *ret_why, size_t room)
{
    (void)shelf, (void)ret_why, (void)room;
    return 0;
}

/* What has left, in words: "r1 s2 c " is the answer 1, the message 2, and a commit that was joined. */
struct far_world {
    char left[200], broken[64];
};

static void far_left(struct far_world *world, char what, uint64_t number)
{
    size_t len = strlen(world->left);

    snprintf(world->left + len, sizeof world->left - len, "%c%d ", what, (int)number);
}

static void far_send(void *user, agent to, const struct message *message, uint64_t token, uint32_t tag)
{
    (void)to, (void)message, (void)tag;
    far_left(user, 's', token);
}

static void far_reply(void *user, uint64_t token, const struct message *message)
{
    (void)message;
    far_left(user, 'r', token);
}

static void far_joined(void *user, bool durable)
{
    far_left(user, durable ? 'c' : 'x', 0);
}

static void far_broken(void *user, const char *why)
{
    struct far_world *world = user;

    snprintf(world->broken, sizeof world->broken, "%s", why);
}

/* Each message puts a row, answers behind it, and sends something behind none; EVENT_BOOTED wants to be woken at once, and says when it is. */
static void far_step(void *role, const struct role_env *env, const struct event *event, struct effects *effects)
{
    struct message message = {.kind = MESSAGE_GOT};
    uint64_t row;

    if (event->kind == EVENT_BOOTED)
        effects_wake(effects, env->now);
    if (event->kind == EVENT_WAKE)
        far_left(role, 'w', 0);
    if (event->kind != EVENT_MESSAGE)
        return;
    row = effects_remove(effects, RECORD_SHAPE, event->token);
    effects_reply(effects, event->token, &message, row);
    effects_send(effects, 1, &message, event->token, 0, 0);
}

static void far_turns(uv_loop_t *loop)
{
    for (int i = 0; i < 5; i++)
        uv_run(loop, UV_RUN_NOWAIT);
}

static void far_tell(struct far_shelf *far, int result, uv_loop_t *loop)
{
    uint64_t one = 1;

    far->result = result;
    if (write(far->news, &one, sizeof one) == sizeof one)
        far_turns(loop);
}

static void far_event(struct runner *runner, uint64_t number)
{
    runner_event(runner, &(struct event){.kind = EVENT_MESSAGE, .token = number});
}

static void far_left_is(struct far_world *world, const char *want, const char *sentence)
{
    if (!tap_ok(!strcmp(world->left, want), "%s", sentence))
        tap_diag("%s", world->left);
    *world->left = '\0';
}

static void far_never(uv_timer_t *timer)
{
    (void)timer;
}

static void far_run(const struct secrets *secrets)
{
    static const struct role_kind kind = {.name = "far", .make = busy_make, .free = busy_free, .step = far_step};
    const struct shelf_kind shelf_kind = {.name = "far",
                                          .each = shelf_each,
                                          .remove = talker_remove,
                                          .commit_start = far_start,
                                          .commit_look = far_look,
                                          .news = far_news,
                                          .may_act = far_may_act,
                                          .away = far_away};
    struct far_shelf far = {.shelf = {&shelf_kind}, .news = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), .may_act = true};
    struct symbols *symbols = symbols_new(NULL, 0, 1);
    struct far_world world = {.left = ""};
    const struct runner_ports ports = {.user = &world, .send = far_send, .reply = far_reply, .broken = far_broken};
    struct runner *runner;
    struct err err = {0};
    uv_timer_t keeps;
    uv_loop_t loop;

    uv_loop_init(&loop);
    uv_timer_init(&loop, &keeps);
    uv_timer_start(&keeps, far_never, 3600000, 0);
    runner = runner_new(&loop, &kind, &world, &far.shelf, symbols, secrets, &ports, &err);
    far_event(runner, 1);
    far_turns(&loop);
    far_left_is(&world, "s1 ", "while a commit is under way what stands behind no row leaves");
    runner_commit(runner, far_joined, &world);
    far_event(runner, 2);
    far_turns(&loop);
    far_left_is(&world, "s2 ", "and the role goes on with its next step");
    tap_ok(far.begun == 1 && uv_backend_timeout(&loop) != 0, "whose rows wait for the next commit, and the loop rests");
    far_tell(&far, 1, &loop);
    far_left_is(&world, "r1 ",
                "when the first is durable, what stands behind its rows leaves, and nothing of the next");
    tap_ok(far.begun == 2, "which is begun");
    far_tell(&far, 1, &loop);
    far_left_is(&world, "r2 c0 ", "and leaves in its turn, with whoever joined it");
    far.may_act = false;
    runner_commit(runner, far_joined, &world);
    far_event(runner, 3);
    far_turns(&loop);
    far_tell(&far, 1, &loop);
    far_left_is(&world, "", "while another may have the rows nothing leaves, durable or not");
    tap_ok(uv_backend_timeout(&loop) != 0, "and the loop rests");
    far.may_act = true;
    far_tell(&far, 1, &loop);
    far_left_is(&world, "r3 s3 c0 ", "when that is over it does");
    far.may_act = false;
    runner_event(runner, &(struct event){.kind = EVENT_BOOTED});
    far_turns(&loop);
    far_left_is(&world, "", "and nothing is begun: a role whose time has come is not woken");
    tap_ok(uv_backend_timeout(&loop) != 0, "and the loop rests");
    far.may_act = true;
    far_tell(&far, 1, &loop);
    far_left_is(&world, "w0 ", "before that is over");
    runner_halt(runner);
    far_tell(&far, -1, &loop);
    tap_ok(runner_is_broken(runner) && !strcmp(world.broken, "another has it"),
           "a role that was halted is told all the same that another has its rows");
    runner_free(runner);
    uv_close((uv_handle_t *)&keeps, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    tap_ok(uv_loop_close(&loop) == 0, "when it goes it leaves nothing on the loop either");
    close(far.news);
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
    far_run(&secrets);
    return tap_done();
}
