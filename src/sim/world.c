/* world.c: hosts, their clocks and lives, and the one loop that makes events happen. */
#include "sim/world.h"

#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "pool/protocol/mutants.h"
#include "sim/seats.h"

#include <stdlib.h>
#include <string.h>

#define FAR (INT64_C(1) << 50)
#define CHECK_EVERY 1024               /* events between two checks of a role's state */

const char *const fault_words[FAULT_COUNT] = {
    [FAULT_LOSS] = "messages lost",
    [FAULT_TWICE] = "messages delivered twice",
    [FAULT_LATE] = "messages later than their deadline",
    [FAULT_CUT] = "messages cut off",
    [FAULT_DOWN] = "messages to a host that was down",
    [FAULT_CRASH] = "crashes",
    [FAULT_REBOOT] = "reboots",
    [FAULT_TORN] = "rows lost in a crash",
    [FAULT_FULL] = "full disks",
    [FAULT_SLOW_DISK] = "slow writes",
    [FAULT_CLOCK] = "clocks that changed their rate",
    [FAULT_WALL] = "jumps of a wall clock",
    [FAULT_FILES] = "descriptors that ran out",
    [FAULT_OWNER] = "owners who came or went",
    [FAULT_HANG] = "jobs that hang",
    [FAULT_FAILED] = "jobs that fail",
    [FAULT_DRAIN] = "drains",
    [FAULT_USER] = "jobs held, released or removed",
    [FAULT_LIE] = "messages under a false name",
    [FAULT_STRAY] = "messages that came when all was over",
    [FAULT_UNFIT] = "jobs that their machines could not set up",
    [FAULT_ASLEEP] = "processes that were stopped for a while",
    [FAULT_NO_BASE] = "processes that did not reach the database",
    [FAULT_STALL] = "times at which the database did nothing",
    [FAULT_FAILOVER] = "fail-overs of the database",
    [FAULT_TAKEN] = "seats that the other process has taken",
};

/* ---------------------------------------------------------------------------------------------------------- slabs */

uint32_t slab_take(struct slab *slab)
{
    uint32_t index;

    if (slab->free) {
        index = slab->free - 1;
        memcpy(&slab->free, slab_at(slab, index), sizeof slab->free);
    } else {
        if (slab->count == slab->room) {
            slab->room = slab->room ? slab->room * 2 : slab->first ? slab->first : 64;
            slab->items = mem_grow(slab->items, slab->room * slab->size);
        }
        index = slab->count++;
    }
    memset(slab_at(slab, index), 0, slab->size);
    return index;
}

void slab_give(struct slab *slab, uint32_t index)
{
    memcpy(slab_at(slab, index), &slab->free, sizeof slab->free);
    slab->free = index + 1;
}

/* --------------------------------------------------------------------------------------------------------- secrets */

static void secret_draw(void *user, void *bytes, size_t len)
{
    struct rng *rng = user;
    unsigned char *at = bytes;

    while (len) {
        uint64_t word = rng_next(rng);
        size_t n = len < sizeof word ? len : sizeof word;

        memcpy(at, &word, n);
        at += n;
        len -= n;
    }
}

/* One lane, keyed by the whole key, and spread at the end; good enough that nothing in a simulation can guess it. */
static void secret_seal(void *user, const struct key *key, const void *data, size_t len, struct key *ret)
{
    const unsigned char *at = data;
    uint64_t words[4], lane = len;

    (void)user;
    memcpy(words, key->bytes, sizeof words);
    for (int i = 0; i < 4; i++)
        lane = rng_mix(lane ^ words[i]);
    for (size_t left = len; left;) {
        uint64_t word = 0;
        size_t n = left < sizeof word ? left : sizeof word;

        memcpy(&word, at, n);
        lane = rng_mix(lane ^ word) + words[0];
        at += n;
        left -= n;
    }
    for (int i = 0; i < 4; i++)
        words[i] = rng_mix(lane ^ rng_mix(words[3 - i] + (uint64_t)i));
    memcpy(ret->bytes, words, sizeof words);
}

/* ---------------------------------------------------------------------------------------------------------- clocks */

int64_t host_now(const struct world *world, const struct host *host)
{
    int64_t span = world->time - host->true_base;

    return host->now_base + span / 1000000 * host->rate + span % 1000000 * host->rate / 1000000;
}

int64_t host_true(const struct world *world, const struct host *host, int64_t now)
{
    int64_t span = now - host->now_base, at;

    if (now > FAR)
        return FAR;
    if (span <= 0)
        return world->time;
    /* divide first: a long span times a million would not fit */
    at = host->true_base + span / host->rate * 1000000 + (span % host->rate * 1000000 + host->rate - 1) / host->rate;
    return at > world->time ? at : world->time;
}

static void host_wake(struct world *world, struct host *host, int64_t at)
{
    int64_t due;

    host->wake = at;
    host->wake_order = 0;
    if (at == INT64_MAX)
        return;
    due = host_true(world, host, at);
    if (due >= FAR)
        return;
    /* a step takes time, so that a role which always wants to wake at once does not stop the clock */
    host->wake_order = world_push(world, due > world->time ? due : world->time + 1, ITEM_WAKE, host->place);
}

void host_rate(struct world *world, struct host *host, int64_t rate)
{
    int64_t wake = host->wake;

    host->now_base = host_now(world, host);
    host->true_base = world->time;
    host->rate = rate;
    process_clock(world, host);
    if (host->role)
        host_wake(world, host, wake);
}

/* ----------------------------------------------------------------------------------------------------------- steps */

static struct role_env host_env(struct world *world, struct host *host)
{
    return (struct role_env){
        .now = host_now(world, host),
        .wall = WALL_START * SECOND + world->time + host->wall,
        .zone = 0,
        .boot = host->boot,
        .chance = &host->chance,
        .secrets = &host->secrets,
        .symbols = world->symbols,
        .scratch = &world->scratch,
    };
}

void effect_carry(struct world *world, struct host *host, struct effect *effect)
{
    if (host->candidate && (effect->kind == EFFECT_SEND || effect->kind == EFFECT_REPLY) && !seats_lets(world, host))
        return;
    switch (effect->kind) {
    case EFFECT_SEND:
        net_send(world, host, effect);
        break;
    case EFFECT_REPLY:
        net_reply(world, host, effect);
        break;
    case EFFECT_WAKE:
        if (effect->at != host->wake || !host->wake_order)
            host_wake(world, host, effect->at);
        break;
    case EFFECT_JOB:
        process_launch(world, host, effect);
        break;
    case EFFECT_DEADLINE:
        process_deadline(world, host, effect->claim, effect->at);
        break;
    case EFFECT_STOP:
        process_stop(world, host, effect->claim, effect->span);
        break;
    case EFFECT_SUSPEND:
        break; /* no owner in these worlds asks for this */
    case EFFECT_CHANGED:
        if (world->ways.changed)
            world->ways.changed(world->ways.user, host, effect->job);
        else
            host->changed = effect->job;
        break;
    case EFFECT_PERSIST:
    case EFFECT_NOTE:
        break;
    }
}

static void world_note(struct world *world, const struct host *host, const struct event *event)
{
    uint64_t word = (uint64_t)world->time << 12 ^ (uint64_t)host->place << 6 ^ event->kind;

    if (event->message)
        word ^= (uint64_t)event->message->kind << 40;
    world->hash = rng_mix(world->hash ^ word ^ (uint64_t)host->effects.count << 50);
    world->events++;
}

/* Lends a host the list that a step fills. It is needed only until the effects are carried out: one list is enough for all hosts. */
static void effects_lend(struct world *world, struct effects *effects)
{
    effects->items = world->spare.items;
    effects->room = world->spare.room;
    world->spare = (struct effects){0};
}

static void effects_return(struct world *world, struct effects *effects)
{
    free(world->spare.items);
    world->spare.items = effects->items;
    world->spare.room = effects->room;
    effects->items = NULL;
    effects->room = 0;
}

void host_event(struct world *world, struct host *host, const struct event *event)
{
    struct effects *effects = &host->effects;
    struct role_env env;
    const char *why = NULL;

    if (!host->role)
        return;
    if (event->kind == EVENT_WAKE && host->changed) {
        struct event forget = {.kind = EVENT_FORGET, .job = host->changed};

        host->changed = 0;
        host_event(world, host, &forget);
    }
    for (uint32_t i = 0; i < world->watch_count; i++)
        if (world->watches[i].steps)
            world->watches[i].steps(world->watches[i].user, host, event);
    env = host_env(world, host);
    effects_lend(world, effects);
    host->kind->step(host->role, &env, event, effects);
    world_note(world, host, event);
    for (uint32_t i = 0; i < world->watch_count; i++)
        if (world->watches[i].stepped)
            world->watches[i].stepped(world->watches[i].user, host, &env, event);
    if (world->check && world->events % CHECK_EVERY == 0 && host->kind->valid && !host->kind->valid(host->role, &why))
        world->broken = why ? why : "a role's state is not in order";
    for (uint32_t i = 0; i < effects->count; i++) {
        struct effect *effect = &effects->items[i];

        if (effect->kind == EFFECT_PERSIST)
            disk_take(world, host, effect);
        else if (effect->after > host->disk.durable)
            disk_hold(host, effect);
        else
            effect_carry(world, host, effect);
    }
    effects_reset(effects);
    effects_return(world, effects);
    arena_reset(&world->scratch);
}

/* ----------------------------------------------------------------------------------------------------------- lives */

void world_tell_went(struct world *world, const struct host *host, const char *what)
{
    for (uint32_t i = 0; i < world->watch_count; i++)
        if (world->watches[i].went)
            world->watches[i].went(world->watches[i].user, host, what);
}

void world_tell_stale(struct world *world, const struct host *host, const char *what)
{
    for (uint32_t i = 0; i < world->watch_count; i++)
        if (world->watches[i].stale)
            world->watches[i].stale(world->watches[i].user, host, what);
}

void world_tell_durable(struct world *world, struct host *host, const struct record *record)
{
    for (uint32_t i = 0; i < world->watch_count; i++)
        if (world->watches[i].durable)
            world->watches[i].durable(world->watches[i].user, host, record);
}

struct loading {
    struct world *world;
    struct host *host;
};

static void row_load(void *user, const struct record *record)
{
    struct loading *loading = user;

    host_event(loading->world, loading->host, &(struct event){.kind = EVENT_LOADED, .record = record});
}

void host_live(struct world *world, struct host *host)
{
    struct loading loading = {world, host};

    host->role = host->kind->make(host->settings);
    host->wake = INT64_MAX;
    host->effects.persists = 0;
    world_tell_went(world, host, "starts");
    for (enum record_kind kind = RECORD_NONE + 1; kind < RECORD_COUNT; kind++)
        if (kind != RECORD_BRANCH || !host->candidate || !MUTANT(CLAIMS_LEFT))
            disk_each(&host->disk, kind, row_load, &loading);
    process_found(world, host);
    host_event(world, host, &(struct event){.kind = EVENT_BOOTED});
}

void host_start(struct world *world, struct host *host)
{
    if (host->candidate)
        seats_start(world, host);
    else if (!host->role)
        host_live(world, host);
}

void host_wakes_anew(struct world *world, struct host *host)
{
    if (host->role)
        host_wake(world, host, host->wake);
}

void host_start_at(struct world *world, const struct host *host, int64_t at)
{
    world_push(world, at, ITEM_START, host->place);
}

/* Boots a host: its clock begins anew, and all its processes are dead. */
static void host_boot(struct world *world, struct host *host)
{
    host->boot = rng_next(&world->rng) | 1;
    host->now_base = world_between(world, SECOND, 1000 * SECOND);
    host->true_base = world->time;
    process_reboot(world, host);
}

void host_crash(struct world *world, struct host *host, bool reboot, int64_t until)
{
    if (!host->role)
        return;
    host->kind->free(host->role);
    host->role = NULL;
    host->life++;
    host->wake = INT64_MAX;
    host->changed = 0;
    host->wake_order = 0;
    disk_crash(world, host);
    world_tell_went(world, host, reboot ? "reboots" : "crashes");
    if (reboot)
        host_boot(world, host);
    if (host->candidate)
        seats_crashed(world, host, until);
    else
        host_start_at(world, host, until);
}

/* ------------------------------------------------------------------------------------------------------- the world */

int64_t world_between(struct world *world, int64_t least, int64_t most)
{
    return most > least ? least + (int64_t)rng_below(&world->rng, (uint64_t)(most - least + 1)) : least;
}

struct world *world_new(uint64_t seed, const struct spans *spans)
{
    struct symbols *symbols = names_new(0);
    struct world *world = world_new_of(seed, spans, symbols);

    world->own = symbols;
    return world;
}

struct world *world_new_of(uint64_t seed, const struct spans *spans, struct symbols *symbols)
{
    struct world *world = mem_alloc(sizeof *world);

    memset(world, 0, sizeof *world);
    world->spans = spans;
    world->hash = rng_mix(seed);
    rng_init(&world->rng, rng_mix(seed ^ 0x776f726c64)); /* "world" */
    agenda_init(&world->agenda);
    arena_init(&world->scratch);
    world->symbols = symbols;
    world->news.size = sizeof(struct news);
    world->processes.size = sizeof(struct process);
    world->rates = (struct rates){
        .delay_least = MILLISECOND / 5,
        .delay_most = 5 * MILLISECOND,
        .write_least = MILLISECOND / 10,
        .write_most = 5 * MILLISECOND,
        .job_least = SECOND / 5,
        .job_most = 20 * SECOND,
        .kill_most = spans->lease / 50,
        .deadline_most = spans->lease / 100,
    };
    net_init(world);
    world_reserve(world, HOSTS_MAX);
    return world;
}

static void letter_drop(void *user, const struct agenda_entry *entry)
{
    struct world *world = user;
    uint32_t what = entry->what;

    if (what >> ITEM_SHIFT == ITEM_LETTER || what >> ITEM_SHIFT == ITEM_REPLY)
        message_done(&((struct sim_letter *)slab_at(&world->letters, what & ((1u << ITEM_SHIFT) - 1)))->message);
}

void world_free(struct world *world)
{
    if (!world)
        return;
    for (uint32_t i = 0; i < world->host_count; i++) {
        struct host *host = &world->hosts[i];

        if (host->role)
            host->kind->free(host->role);
        effects_done(&host->effects);
        disk_done(&host->disk);
    }
    seats_free(world);
    agenda_each(&world->agenda, letter_drop, world);
    free(world->hosts);
    effects_done(&world->spare);
    message_done(&world->old_verify);
    message_done(&world->old_commit);
    agenda_done(&world->agenda);
    free(world->letters.items);
    free(world->sends.items);
    free(world->owed.items);
    free(world->processes.items);
    free(world->news.items);
    arena_done(&world->scratch);
    symbols_free(world->own);
    free(world);
}

void world_reserve(struct world *world, uint32_t hosts)
{
    if (hosts <= world->host_room)
        return;
    world->host_room = hosts;
    world->hosts = mem_grow(world->hosts, world->host_room * sizeof *world->hosts);
    for (uint32_t i = 0; i < world->host_count; i++)
        world->hosts[i].secrets.user = &world->hosts[i].hidden;
}

uint32_t world_add(struct world *world, const struct role_kind *kind, const void *settings, const char *identity,
                   bool any, const char *name)
{
    struct host *host;

    if (world->host_count == world->host_room)
        world_reserve(world, world->host_room * 2);
    host = &world->hosts[world->host_count];
    *host = (struct host){
        .kind = kind,
        .settings = settings,
        .identity = identity,
        .any = any,
        .name = name,
        .place = world->host_count++,
        .rate = 1000000,
        .wake = INT64_MAX,
        .processes = NOBODY,
    };
    rng_init(&host->chance, rng_next(&world->rng));
    rng_init(&host->hidden, rng_next(&world->rng));
    host->secrets = (struct secrets){&host->hidden, secret_draw, secret_seal};
    effects_init(&host->effects);
    disk_init(&host->disk);
    host_boot(world, host);
    return host->place;
}

void world_watch(struct world *world, const struct watch *watch)
{
    world->watches[world->watch_count++] = *watch;
}

void world_plan(struct world *world, int64_t at, uint32_t which)
{
    world_push(world, at, ITEM_PLAN, which);
}

static void world_wake(struct world *world, struct host *host, uint32_t order)
{
    if (!host->role || order != host->wake_order)
        return;
    if (seats_sleep(world, host)) {
        host->wake_order = world_push(world, seats_sleep(world, host), ITEM_WAKE, host->place);
        return;
    }
    host->wake_order = 0;
    host->wake = INT64_MAX;
    host_event(world, host, &(struct event){.kind = EVENT_WAKE});
}

bool world_next(struct world *world, int64_t until)
{
    struct agenda_entry entry;
    uint32_t index;
    int64_t next;

    if (!agenda_next(&world->agenda, &next) || next > until) {
        world->time = until > world->time ? until : world->time;
        return false;
    }
    agenda_pop(&world->agenda, &entry);
    world->time = entry.at > world->time ? entry.at : world->time;
    index = entry.what & ((1u << ITEM_SHIFT) - 1);
    switch ((enum item)(entry.what >> ITEM_SHIFT)) {
    case ITEM_LETTER:
        net_letter(world, index);
        break;
    case ITEM_REPLY:
        net_answer(world, index);
        break;
    case ITEM_TIMEOUT:
        net_timeout(world, index, entry.order);
        break;
    case ITEM_WAKE:
        world_wake(world, &world->hosts[index], entry.order);
        break;
    case ITEM_DISK:
        disk_written(world, &world->hosts[index], entry.order);
        break;
    case ITEM_PROCESS:
        process_due(world, index, entry.order);
        break;
    case ITEM_START:
        host_start(world, &world->hosts[index]);
        break;
    case ITEM_NEWS:
        process_gone(world, index);
        break;
    case ITEM_PLAN:
        world->plan(world->plan_user, index);
        break;
    case ITEM_SEAT:
        seats_turn(world, index);
        break;
    case ITEM_ERRAND:
        seats_errand(world, index);
        break;
    case ITEM_BASE:
        seats_fault(world);
        break;
    }
    return true;
}
