/* engine_given.c: names whose values depend on the users of the two ads of a pair: UserPrio, RemoteUserPrio, Usage.
 *
 * Their values are those when the cycle began, and they are looked up after both ads. In a policy's vector they may also be selected from an ad, as
 * in label.RemoteUserPrio. Where an ad or the policy reads them, equal roots of two users need not choose alike: a class of roots is then tried user
 * by user. They are never a dimension of an index. */
#include "pool/engine/engine_given.h"
#include "lang/base/mem.h"
#include "pool/engine/engine_queue.h"
#include "pool/engine/engine_slots.h"
#include "pool/engine/engine_state.h"
#include "pool/protocol/mutants.h"

#include <stdlib.h>
#include <string.h>

static const char *const given_texts[ENGINE_GIVEN] = {
    [ENGINE_USER_PRIO] = "UserPrio", [ENGINE_REMOTE_USER_PRIO] = "RemoteUserPrio", [ENGINE_USAGE] = "Usage"};
static const char *const remote_texts[ENGINE_REMOTE] = {"RemoteUser", "RemoteGroup"};

void engine_give_users(struct engine *engine)
{
    if (engine->gives)
        return;
    for (int i = 0; i < ENGINE_GIVEN; i++)
        engine->given_names[i] = symbols_take(engine->symbols, given_texts[i], strlen(given_texts[i]));
    for (int i = 0; i < ENGINE_REMOTE; i++)
        engine->remote_names[i] = symbols_take(engine->symbols, remote_texts[i], strlen(remote_texts[i]));
    engine->gives = true;
    engine_reset(engine);
}

void engine_given_done(struct engine *engine)
{
    for (int i = 0; i < ENGINE_GIVEN && engine->gives; i++)
        symbols_drop(engine->symbols, engine->given_names[i]);
    for (int i = 0; i < ENGINE_REMOTE && engine->gives; i++)
        symbols_drop(engine->symbols, engine->remote_names[i]);
    free(engine->given);
    free(engine->pair_given);
}

void engine_set_remote(struct engine *engine, uint32_t id, uint32_t remote)
{
    struct engine_slot *slot = id < engine->slot_count ? &engine->slots[id] : NULL;

    if (!slot || !slot->ad || slot->remote == remote)
        return;
    if (remote)
        engine_user(engine, remote - 1);
    slot->remote = remote;
    if (slot->in_class != NOBODY) { /* the offer may mean something else now */
        engine_slot_leave(engine, id);
        engine_slot_freshen(engine, id);
    }
}

void engine_set_usage(struct engine *engine, uint32_t user, double usage)
{
    engine_user(engine, user)->usage = usage;
}

static uint32_t own_count(const struct engine *engine)
{
    return engine->gives ? ENGINE_GIVEN : 0;
}

bool engine_given_differs(const struct engine *engine, const struct env *env)
{
    if (engine->env.given_count != env->given_count + own_count(engine))
        return true;
    for (uint32_t i = 0; i < env->given_count; i++)
        if (!symbol_same(engine->given[i].name, env->given[i].name))
            return true;
    return false;
}

void engine_given_begin(struct engine *engine, const struct env *env)
{
    uint32_t count = env->given_count + own_count(engine);

    if (count > engine->given_room) {
        engine->given_room = count;
        engine->given = mem_grow(engine->given, count * sizeof *engine->given);
        engine->pair_given = mem_grow(engine->pair_given, count * sizeof *engine->pair_given);
    }
    if (env->given_count)
        memcpy(engine->given, env->given, env->given_count * sizeof *env->given);
    for (uint32_t i = 0; i < own_count(engine); i++)
        engine->given[env->given_count + i] = (struct given){engine->given_names[i], value_undefined()};
    if (count)
        memcpy(engine->pair_given, engine->given, count * sizeof *engine->given);
    engine->env = *env;
    engine->env.meter = &engine->meter;
    engine->env.patterns = engine->patterns;
    engine->env.given = engine->given;
    engine->env.given_count = count;
    for (uint32_t i = 0; i < engine->user_count && engine->gives; i++) {
        engine->users[i].begun_priority = engine->users[i].priority;
        engine->users[i].begun_usage = engine->users[i].usage;
    }
}

struct env engine_env_of(const struct engine *engine, uint32_t user, uint32_t remote)
{
    struct env env = engine->env;
    struct given *own;

    if (!engine->gives || !env.given_count)
        return env;
    own = engine->pair_given + env.given_count - ENGINE_GIVEN;
    own[ENGINE_USER_PRIO].value = own[ENGINE_USAGE].value = own[ENGINE_REMOTE_USER_PRIO].value = value_undefined();
    if (user < engine->user_count) {
        own[ENGINE_USER_PRIO].value = value_real(engine->users[user].begun_priority);
        own[ENGINE_USAGE].value = value_real(engine->users[user].begun_usage);
    }
    if (remote && remote - 1 < engine->user_count)
        own[ENGINE_REMOTE_USER_PRIO].value =
            value_real(MUTANT(PRIORITY_IGNORED) ? 1e9 : engine->users[remote - 1].begun_priority);
    env.given = engine->pair_given;
    return env;
}

struct env engine_docking_env(const struct engine *engine, const struct env *env)
{
    struct env docking = *env;

    if (engine->gives && env->given == engine->pair_given && env->given_count) {
        docking.absent = env->given + env->given_count - ENGINE_GIVEN;
        docking.absent_count = ENGINE_GIVEN;
    }
    return docking;
}
