/* engine_waiting.c: which of the roots that found no candidate would be served first. It looks once at each group of roots that are alike. */
#include "pool/engine/engine_members.h"
#include "pool/engine/engine_queue.h"
#include "pool/engine/engine_state.h"

#include <string.h>

/* Puts the root in its place among the first ones; returns how many those are now. */
static uint32_t waiting_add(const struct engine *engine, uint32_t root, uint32_t *first, uint32_t count, uint32_t max)
{
    uint32_t low = 0, high = count;

    if (count == max && !engine_root_before(engine, root, first[count - 1]))
        return count;
    while (low < high) { /* behind those that are served at the same time */
        uint32_t middle = low + (high - low) / 2;

        if (engine_root_before(engine, root, first[middle]))
            high = middle;
        else
            low = middle + 1;
    }
    if (count == max)
        count--;
    memmove(&first[low + 1], &first[low], (count - low) * sizeof *first);
    first[low] = root;
    return count + 1;
}

uint32_t engine_waiting(const struct engine *engine, uint32_t *ret, uint32_t max)
{
    const struct side *roots = &engine->sides[ROOTS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < roots->count && max; i++) {
        const struct engine_class *class = &roots->classes[i];

        if (!class->ad || class->listed || class->ported || class->outcome != ENGINE_NOBODY)
            continue;
        for (uint32_t group = class->groups; group != NOBODY; group = engine->groups[group].after)
            if (engine->groups[group].gate == NOBODY)
                count = waiting_add(engine, members_at(&engine->groups[group].members, 0), ret, count, max);
    }
    return count;
}
