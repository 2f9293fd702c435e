/* engine_gates.c: roots that wait for something other than an ad: a limit, a quota.
 *
 *     gate -> first group -> behind -> ...        a group waits at one gate, or is in the queue, or neither
 *
 * A group at a closed gate costs nothing more until the gate is opened. */
#include "lang/base/mem.h"
#include "pool/engine/engine_classes.h"
#include "pool/engine/engine_queue.h"
#include "pool/engine/engine_state.h"

#include <stdlib.h>

void engine_set_gates(struct engine *engine, engine_gate_fn *closed, void *user)
{
    engine->gate_closed = closed;
    engine->gate_user = user;
}

static void gates_grow(struct engine *engine, uint32_t gate)
{
    uint32_t count = gate + gate / 2 + 16;

    if (gate < engine->gate_count)
        return;
    engine->gates = mem_grow(engine->gates, count * sizeof *engine->gates);
    for (uint32_t i = engine->gate_count; i < count; i++)
        engine->gates[i] = NOBODY;
    engine->gate_count = count;
}

void engine_gate_wait(struct engine *engine, uint32_t number, uint32_t gate)
{
    struct ad_group *group = &engine->groups[number];

    gates_grow(engine, gate);
    group->gate = gate;
    group->ahead = NOBODY;
    group->behind = engine->gates[gate];
    if (group->behind != NOBODY)
        engine->groups[group->behind].ahead = number;
    engine->gates[gate] = number;
    engine_class_at(engine, ROOTS, group->in_class)->held = true;
}

void engine_gate_leave(struct engine *engine, uint32_t number)
{
    struct ad_group *group = &engine->groups[number];

    if (group->gate == NOBODY)
        return;
    if (group->behind != NOBODY)
        engine->groups[group->behind].ahead = group->ahead;
    if (group->ahead != NOBODY)
        engine->groups[group->ahead].behind = group->behind;
    else
        engine->gates[group->gate] = group->behind;
    group->gate = NOBODY;
}

void engine_open_gate(struct engine *engine, uint32_t gate)
{
    if (gate >= engine->gate_count)
        return;
    for (uint32_t number; (number = engine->gates[gate]) != NOBODY;) {
        engine_gate_leave(engine, number);
        engine_class_list(engine, ROOTS, engine->groups[number].in_class);
    }
}

uint32_t engine_gate(const struct engine *engine, uint32_t id)
{
    const struct engine_slot *slot = id < engine->slot_count ? &engine->slots[id] : NULL;

    return slot && slot->ad && slot->group != NOBODY ? engine->groups[slot->group].gate : ENGINE_OPEN;
}

void engine_gates_reset(struct engine *engine)
{
    for (uint32_t i = 0; i < engine->gate_count; i++)
        engine->gates[i] = NOBODY;
}
