/* runner.c: runs one role in real time: every event enters by runner_event, effects leave by the ports, rows are committed once a turn.
 *
 * A commit of a shelf elsewhere takes its time. Steps go on meanwhile, and their rows are for the next one; what stands behind the rows that are under
 * way waits for these alone. */
#include "live/world/runner.h"

#include "lang/base/mem.h"
#include "live/world/restored.h"
#include "live/world/waiting_things.h"
#include "pool/protocol/wire.h"
#include "sys/clock.h"
#include "sys/steady_clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#define WATCH_SPAN 250 /* milliseconds between two looks at how a shelf elsewhere is */
#define RELEASE_SPAN \
    300 /* microseconds of a turn for effects whose rows are durable: the rest goes on in the next, so that others have theirs */

struct runner {
    const struct role_kind *kind;
    void *role;
    struct shelf *shelf;
    struct symbols *symbols;
    const struct secrets *secrets;
    struct runner_ports ports;
    struct rng chance;
    struct arena scratch;
    struct effects effects;
    uint64_t boot;
    struct settled settled;
    time_t zone_at; /* when the zone was looked up */
    int zone;
    uv_timer_t wake;
    uv_idle_t soon;   /* the same when it is due at once: once a turn, so that others have theirs */
    uv_check_t check; /* after each turn: commit */
    uv_idle_t idle;   /* keeps the turn from waiting while rows do */
    uv_poll_t news;   /* of a shelf elsewhere ... */
    uv_timer_t watch; /* ... and how it is */
    uint64_t durable; /* rows of the role that are, counted as it counts them */
    uint64_t rows;    /* ... of the commit at hand */
    int64_t began;    /* that commit */
    bool stepping, dirty, broken;
    bool committing;                       /* a commit is under way */
    bool away;                             /* the shelf does not answer */
    bool overslept;                        /* EVENT_WAKE was due while nothing might leave */
    uint32_t handles;                      /* of the loop that are open */
    struct waiting_effects sends, others;  /* messages may be many, and nobody waits here for one to leave */
    struct waiting_events events;          /* that came in the middle of a step */
    struct waiting_calls calls, committed; /* for the next commit, and for the one at hand */
    struct waiting_calls due;              /* their rows are durable, and they wait until something may leave */
    struct buf text;
};

/* ------------------------------------------------------------------------------------------------------------ clocks */

int64_t runner_now(void)
{
    return clock_now();
}

int64_t runner_wall(void)
{
    return clock_wall();
}

int64_t runner_settled(struct runner *runner)
{
    return runner ? settled_look(&runner->settled, runner_wall(), runner_now()) : runner_wall();
}

int64_t runner_seconds(struct runner *runner)
{
    return wall_seconds(runner_settled(runner));
}

/* A number for this boot of the machine: the kernel's name for it, mixed. */
static uint64_t boot_number(void)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    uint64_t number = 0;
    int c;

    while (file && (c = getc(file)) != EOF)
        number = rng_mix(number ^ (uint64_t)c);
    if (file)
        fclose(file);
    return number ? number : 1;
}

/* The zone of the machine, looked up once a second at most. */
static int zone_minutes(struct runner *runner, int64_t wall)
{
    time_t seconds = (time_t)(wall / SECOND);
    struct tm tm;

    if (seconds != runner->zone_at) {
        runner->zone = localtime_r(&seconds, &tm) ? (int)(tm.tm_gmtoff / 60) : 0;
        runner->zone_at = seconds;
    }
    return runner->zone;
}

/* ----------------------------------------------------------------------------------------------------------- effects */

static void effect_do(struct runner *runner, const struct effect *effect)
{
    switch (effect->kind) {
    case EFFECT_SEND:
        runner->ports.send(runner->ports.user, effect->to, &effect->message, effect->token, effect->tag);
        break;
    case EFFECT_REPLY:
        runner->ports.reply(runner->ports.user, effect->token, &effect->message);
        break;
    case EFFECT_JOB:
    case EFFECT_DEADLINE:
    case EFFECT_STOP:
    case EFFECT_SUSPEND:
        if (runner->ports.job)
            runner->ports.job(runner->ports.user, effect);
        break;
    case EFFECT_CHANGED:
        if (runner->ports.changed)
            runner->ports.changed(runner->ports.user, effect->job);
        break;
    case EFFECT_NOTE:
        runner->ports.note(runner->ports.user, effect);
        break;
    case EFFECT_WAKE:
    case EFFECT_PERSIST:
        break; /* are never kept waiting */
    }
}

static struct waiting_effects *effects_like(struct runner *runner, const struct effect *effect)
{
    return effect->kind == EFFECT_SEND ? &runner->sends : &runner->others;
}

/* May anything leave? What may not now waits, as if for a row. */
bool runner_may_act(const struct runner *runner)
{
    return !runner->shelf->kind->may_act || runner->shelf->kind->may_act(runner->shelf);
}

/* Are the rows durable that the first of them stands behind? */
static bool effects_ready(const struct runner *runner, const struct waiting_effects *effects)
{
    return effects->first && effects->first->effect.after <= runner->durable;
}

/* Is the shelf elsewhere? Then it tells by a descriptor how its commits end. */
static bool shelf_is_elsewhere(const struct runner *runner)
{
    return runner->shelf->kind->commit_start != NULL;
}

static void shelf_unwatch(struct runner *runner)
{
    if (!shelf_is_elsewhere(runner))
        return;
    uv_poll_stop(&runner->news);
    uv_timer_stop(&runner->watch);
}

static void runner_break(struct runner *runner, const char *why)
{
    if (runner->broken)
        return;
    runner->broken = true;
    uv_timer_stop(&runner->wake);
    uv_idle_stop(&runner->soon);
    uv_idle_stop(&runner->idle);
    shelf_unwatch(runner);
    runner->ports.broken(runner->ports.user, why);
}

static void row_key(uint64_t key, unsigned char ret[8])
{
    for (int i = 0; i < 8; i++)
        ret[i] = (unsigned char)(key >> (56 - 8 * i));
}

/* Does nothing: an idle handle keeps the loop from waiting while there are rows to commit. */
static void turn_goes_on(uv_idle_t *idle)
{
    (void)idle;
}

static void rows_are_dirty(struct runner *runner)
{
    if (!runner->dirty && !runner->broken && !runner->committing)
        uv_idle_start(&runner->idle, turn_goes_on);
    runner->dirty = true;
}

static void effect_persist(struct runner *runner, const struct effect *effect)
{
    const struct record *record = &effect->record;
    const char *space = record_layout(record->kind)->name;
    struct shelf *shelf = runner->shelf;
    unsigned char key[8];
    struct err err = {0};
    int failed;

    row_key(record->key, key);
    if (record->removed) {
        failed = shelf->kind->remove(shelf, space, key, sizeof key, &err);
    } else {
        struct tree *ad = wire_record(runner->symbols, record);

        buf_reset(&runner->text);
        wire_print(&runner->text, ad);
        tree_unref(ad);
        failed = shelf->kind->put(shelf, space, key, sizeof key, runner->text.text, runner->text.len, &err);
    }
    if (failed)
        runner_break(runner, err.text);
    else
        rows_are_dirty(runner);
}

static void wake_at(struct runner *runner, int64_t at);

static void effects_carry_out(struct runner *runner)
{
    for (uint32_t i = 0; i < runner->effects.count && !runner->broken; i++) {
        const struct effect *effect = &runner->effects.items[i];

        if (effect->kind == EFFECT_WAKE)
            wake_at(runner, effect->at);
        else if (effect->kind == EFFECT_PERSIST)
            effect_persist(runner, effect);
        else if (effect->after > runner->durable || effects_ready(runner, effects_like(runner, effect)) ||
                 !runner_may_act(runner))
            waiting_effects_add(effects_like(runner, effect), effect); /* also behind those that wait for their turn */
        else
            effect_do(runner, effect);
    }
    effects_reset(&runner->effects);
}

/* ------------------------------------------------------------------------------------------------------------- steps */

static void step_one(struct runner *runner, const struct event *event)
{
    int64_t wall = runner_wall();
    struct role_env env = {.now = runner_now(),
                           .wall = wall,
                           .zone = zone_minutes(runner, wall),
                           .boot = runner->boot,
                           .chance = &runner->chance,
                           .secrets = runner->secrets,
                           .symbols = runner->symbols,
                           .scratch = &runner->scratch};
    struct arena_mark mark = arena_mark(&runner->scratch);

    settled_look(&runner->settled, wall, env.now);
    runner->stepping = true;
    runner->kind->step(runner->role, &env, event, &runner->effects);
    arena_rewind(&runner->scratch, mark);
    if (runner->ports.woken && event->kind == EVENT_WAKE)
        runner->ports.woken(runner->ports.user, runner_now() - env.now);
    effects_carry_out(runner);
    runner->stepping = false;
}

void runner_event(struct runner *runner, const struct event *event)
{
    struct waiting_event *waiting;

    if (runner->broken)
        return;
    if (runner->stepping) {
        waiting_events_add(&runner->events, event);
        return;
    }
    step_one(runner, event);
    while ((waiting = waiting_events_shift(&runner->events))) {
        if (!runner->broken)
            step_one(runner, &waiting->event);
        waiting_event_free(waiting);
    }
}

void runner_answer(struct runner *runner, uint64_t token, uint32_t tag, const struct peer *peer,
                   const struct message *message)
{
    runner_event(
        runner,
        &(struct event){
            .kind = EVENT_ANSWER, .token = token, .tag = tag, .answer = ANSWER_GOT, .peer = peer, .message = message});
}

void runner_no_answer(struct runner *runner, uint64_t token, uint32_t tag)
{
    runner_event(runner, &(struct event){.kind = EVENT_ANSWER, .token = token, .tag = tag, .answer = ANSWER_UNKNOWN});
}

/* While nothing may leave a role does nothing of its own, as if its process were stopped: what it began would be old when it leaves. */
static void wake_now(struct runner *runner)
{
    runner->overslept = !runner_may_act(runner);
    if (!runner->overslept)
        runner_event(runner, &(struct event){.kind = EVENT_WAKE});
}

static void wake_due(uv_timer_t *timer)
{
    wake_now(timer->data);
}

static void soon_due(uv_idle_t *idle)
{
    uv_idle_stop(idle);
    wake_now(idle->data);
}

/* Sets the time of the next EVENT_WAKE. The loop counts in milliseconds: rather late than early. What is due at once waits for the next turn of the
 * loop: a timer of 0 ms that is started anew when it goes off is run again in the same turn, and a cycle of many slices would keep everybody else
 * waiting for all of them. */
static void wake_at(struct runner *runner, int64_t at)
{
    int64_t span = at == INT64_MAX ? INT64_MAX : at - runner_now();

    runner->overslept = false; /* this time counts, and not the one before */
    uv_timer_stop(&runner->wake);
    uv_idle_stop(&runner->soon);
    if (at == INT64_MAX)
        return;
    if (span <= 0) {
        uv_idle_start(&runner->soon, soon_due);
        return;
    }
    uv_update_time(runner->wake.loop);
    uv_timer_start(&runner->wake, wake_due, (uint64_t)((span + 999) / 1000), 0);
}

/* ----------------------------------------------------------------------------------------------------------- commits */

static void effects_release(struct runner *runner, struct waiting_effects *effects, int64_t until)
{
    runner->stepping = true; /* what they lead to comes after them */
    while (!runner->broken && effects_ready(runner, effects) && runner_may_act(runner)) {
        struct waiting_effect *waiting = waiting_effects_shift(effects);

        effect_do(runner, &waiting->effect);
        waiting_effect_free(waiting);
        if (runner_now() >= until)
            break;
    }
    runner->stepping = false;
}

/* Carries out the effects that stood behind the rows, messages for a while. */
static void all_release(struct runner *runner)
{
    effects_release(runner, &runner->others, INT64_MAX);
    effects_release(runner, &runner->sends, runner_now() + RELEASE_SPAN);
}

/* The loop goes on without waiting while there is something to do at the end of its turn. */
static void turn_settle(struct runner *runner)
{
    bool sends = effects_ready(runner, &runner->sends) && runner_may_act(runner);

    if (!runner->broken && (sends || (runner->dirty && !runner->committing)))
        uv_idle_start(&runner->idle, turn_goes_on);
    else
        uv_idle_stop(&runner->idle);
}

/* Tells those who waited for a commit: mostly they answer somebody. */
static void calls_release(struct runner *runner)
{
    struct waiting_call *call;

    while (!runner->broken && runner->due.first && runner_may_act(runner)) {
        call = waiting_calls_shift(&runner->due);
        call->done(call->user, true);
        free(call);
    }
}

/* Did the shelf fail somebody else who puts rows there? Then it takes no more of ours, and its commit says why. */
static bool shelf_is_broken(const struct runner *runner)
{
    return runner->shelf->kind->broken && runner->shelf->kind->broken(runner->shelf);
}

static void calls_move(struct waiting_calls *to, struct waiting_calls *from)
{
    struct waiting_call *call;

    while ((call = waiting_calls_shift(from))) {
        waiting_calls_add(to, call->done, call->user);
        free(call);
    }
}

/* The rows of the commit at hand are durable. */
static void rows_durable(struct runner *runner)
{
    calls_move(&runner->due, &runner->committed);
    runner->committing = false;
    runner->durable = runner->rows;
    if (runner->ports.committed)
        runner->ports.committed(runner->ports.user, runner_now() - runner->began);
}

/* Begins to make the rows durable. True: they are. False: there is nothing to do, or that takes a while, or it failed. */
static bool rows_commit(struct runner *runner)
{
    const struct shelf_kind *kind = runner->shelf->kind;
    struct err err = {0};
    int result;

    if (runner->committing)
        return false;
    if (!shelf_is_broken(runner) &&
        (!runner->dirty || (runner->ports.goes_on && runner->ports.goes_on(runner->ports.user))))
        return false;
    runner->dirty = false;
    runner->rows = runner->effects.persists;
    runner->began = runner_now();
    calls_move(&runner->committed, &runner->calls);
    if (shelf_is_elsewhere(runner))
        result = kind->commit_start(runner->shelf, &err);
    else
        result = kind->commit(runner->shelf, &err) < 0 ? -1 : 1;
    runner->committing = result == 0;
    if (result < 0)
        runner_break(runner, err.text);
    else if (result > 0)
        rows_durable(runner);
    return result > 0;
}

/* What follows from a commit, or from being allowed to act again. */
static void turn_release(struct runner *runner)
{
    struct waiting_event *waiting;

    all_release(runner);
    calls_release(runner);
    turn_settle(runner);
    while (!runner->broken && (waiting = waiting_events_shift(&runner->events))) {
        runner_event(runner, &waiting->event);
        waiting_event_free(waiting);
    }
    if (runner->overslept && !runner->broken)
        wake_now(runner);
}

static void turn_ends(uv_check_t *check)
{
    struct runner *runner = check->data;
    bool committed;

    if (runner->broken)
        return;
    committed = rows_commit(runner);
    if (runner->broken)
        return;
    if (committed || effects_ready(runner, &runner->sends))
        turn_release(runner);
    else if (runner->committing)
        turn_settle(runner);
}

/* ---------------------------------------------------------------------------------------------------- a shelf elsewhere */

/* Something has become durable, or may leave again, or never will. */
static void news_come(uv_poll_t *poll, int status, int events)
{
    struct runner *runner = poll->data;
    struct err err = {0};
    uint64_t count;
    int result;

    (void)status, (void)events;
    if (read(runner->shelf->kind->news(runner->shelf), &count, sizeof count) < 0 && errno != EAGAIN)
        return;
    result = runner->shelf->kind->commit_look(runner->shelf, &err);
    if (result < 0) {
        runner->broken = false; /* one that was halted is told all the same that it has lost its rows */
        runner_break(runner, err.text);
    }
    if (runner->broken)
        return;
    if (result > 0 && runner->committing)
        rows_durable(runner);
    turn_release(runner);
}

bool runner_misread(struct runner *runner)
{
    return runner && runner->shelf->kind->misread && runner->shelf->kind->misread(runner->shelf);
}

/* Looks at how it is, and tells when that changes. */
static void watch_due(uv_timer_t *timer)
{
    struct runner *runner = timer->data;
    char why[500] = "";
    bool away = runner->shelf->kind->away(runner->shelf, why, sizeof why) != 0;

    runner_misread(runner); /* by a sweep: nobody is amid a step that has read */
    if (away == runner->away)
        return;
    runner->away = away;
    if (runner->ports.away)
        runner->ports.away(runner->ports.user, away ? why : NULL);
}

bool runner_is_away(const struct runner *runner)
{
    return runner && runner->away;
}

static int shelf_watch(struct runner *runner, uv_loop_t *loop, struct err *err)
{
    if (!shelf_is_elsewhere(runner))
        return 0;
    if (uv_poll_init(loop, &runner->news, runner->shelf->kind->news(runner->shelf)) < 0)
        return err_set(err, "the store's descriptor cannot be watched");
    uv_timer_init(loop, &runner->watch);
    runner->handles += 2;
    runner->watch.data = runner->news.data = runner;
    uv_poll_start(&runner->news, UV_READABLE, news_come);
    uv_timer_start(&runner->watch, watch_due, WATCH_SPAN, WATCH_SPAN);
    uv_unref((uv_handle_t *)&runner->watch);
    uv_unref((uv_handle_t *)&runner->news);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- joining commits */

void runner_commit(struct runner *runner, commit_done_fn *done, void *user)
{
    rows_are_dirty(runner);
    if (done)
        waiting_calls_add(&runner->calls, done, user);
}

void runner_halt(struct runner *runner)
{
    runner->broken = true;
    uv_timer_stop(&runner->wake);
    uv_idle_stop(&runner->idle);
}

void runner_is_restored(struct runner *runner)
{
    struct restored restored;
    struct err err = {0};
    int failed;

    if (runner->broken)
        return;
    failed = restored_look(runner->shelf, &restored, &err);
    if (!failed && !restored.is)
        return;
    if (failed || restored_forget(runner->shelf, &err) < 0)
        runner_break(runner, err.text);
    else
        rows_are_dirty(runner);
}

bool runner_is_broken(const struct runner *runner)
{
    return runner->broken;
}

/* -------------------------------------------------------------------------------------------------------------- life */

#define RESTORED_STARTS 65536 /* starts that there may have been since a backup was made: there are 32 bits for them */

struct loading {
    struct runner *runner;
    struct err *err;
    const char *space;
    bool failed;
    struct restored restored;
};

static bool row_load(void *user, const void *key, size_t key_len, const void *value, size_t len)
{
    struct loading *loading = user;
    struct runner *runner = loading->runner;
    struct record record;
    struct tree *ad;

    (void)key;
    (void)key_len;
    if (wire_parse(runner->symbols, value, len, &ad, loading->err) < 0) {
        loading->failed = true;
        return false;
    }
    if (wire_read_record(ad, &record, loading->err) < 0) {
        loading->failed = true;
    } else {
        if (record.kind == RECORD_ROLE && loading->restored.is)
            record.u.role_record.starts += RESTORED_STARTS;
        runner_event(runner, &(struct event){.kind = EVENT_LOADED, .record = &record});
        record_done(&record);
    }
    tree_unref(ad);
    return !loading->failed;
}

static int rows_load(struct runner *runner, struct err *err)
{
    struct loading loading = {.runner = runner, .err = err};

    if (restored_look(runner->shelf, &loading.restored, err) < 0)
        return -1;
    for (int kind = RECORD_NONE + 1; kind < RECORD_COUNT; kind++) {
        loading.space = record_layout((enum record_kind)kind)->name;
        if (runner->shelf->kind->each(runner->shelf, loading.space, row_load, &loading, err) < 0 || loading.failed)
            return err_context(err, "the rows of %s", loading.space);
    }
    return 0;
}

static void handle_closed(uv_handle_t *handle)
{
    struct runner *runner = handle->data;

    if (--runner->handles == 0)
        free(runner);
}

void runner_free(struct runner *runner)
{
    struct waiting_call *call;

    if (!runner)
        return;
    waiting_effects_done(&runner->sends);
    waiting_effects_done(&runner->others);
    waiting_events_done(&runner->events);
    while ((call = waiting_calls_shift(&runner->due)) || (call = waiting_calls_shift(&runner->committed)) ||
           (call = waiting_calls_shift(&runner->calls))) {
        call->done(call->user, false);
        free(call);
    }
    runner->kind->free(runner->role);
    effects_done(&runner->effects);
    arena_done(&runner->scratch);
    buf_done(&runner->text);
    runner->broken = true;
    uv_close((uv_handle_t *)&runner->wake, handle_closed);
    uv_close((uv_handle_t *)&runner->soon, handle_closed);
    uv_close((uv_handle_t *)&runner->check, handle_closed);
    uv_close((uv_handle_t *)&runner->idle, handle_closed);
    if (runner->handles <= 4)
        return;
    uv_close((uv_handle_t *)&runner->news, handle_closed);
    uv_close((uv_handle_t *)&runner->watch, handle_closed);
}

struct runner *runner_new(uv_loop_t *loop, const struct role_kind *kind, const void *settings, struct shelf *shelf,
                          struct symbols *symbols, const struct secrets *secrets, const struct runner_ports *ports,
                          struct err *err)
{
    struct runner *runner = mem_alloc(sizeof *runner);

    *runner = (struct runner){.kind = kind,
                              .shelf = shelf,
                              .symbols = symbols,
                              .secrets = secrets,
                              .ports = *ports,
                              .boot = boot_number(),
                              .handles = 4};
    waiting_effects_init(&runner->sends);
    waiting_effects_init(&runner->others);
    waiting_events_init(&runner->events);
    waiting_calls_init(&runner->calls);
    waiting_calls_init(&runner->committed);
    waiting_calls_init(&runner->due);
    runner->role = kind->make(settings);
    rng_init(&runner->chance, secrets_word(secrets));
    arena_init(&runner->scratch);
    effects_init(&runner->effects);
    buf_init(&runner->text);
    uv_timer_init(loop, &runner->wake);
    uv_idle_init(loop, &runner->soon);
    uv_check_init(loop, &runner->check);
    uv_idle_init(loop, &runner->idle);
    runner->wake.data = runner->soon.data = runner->check.data = runner->idle.data = runner;
    uv_check_start(&runner->check, turn_ends);
    uv_unref((uv_handle_t *)&runner->check);
    if (shelf_watch(runner, loop, err) < 0 || rows_load(runner, err) < 0) {
        runner_free(runner);
        return NULL;
    }
    return runner;
}

void *runner_role(const struct runner *runner)
{
    return runner->role;
}
