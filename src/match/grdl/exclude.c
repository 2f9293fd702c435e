/* exclude.c: a multi matcher: of compositions that overlap, some that do not.
 *
 *     uses[resource]   how many compositions it is left in        of[first[resource] ...]   the compositions that it is in
 *     singles          a heap of compositions that were the last one of a resource when they were put in; the first one first
 *
 * A composition that is taken takes all others with it that share a resource with it. A resource gets its last composition once at most, so all the
 * work together is that of going through each resource's compositions a few times. */
#include "match/grdl/matcher.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

struct exclusion {
    const struct grdl_compositions *found;
    bool *alive; /* by composition */
    uint32_t *uses, *first, *of;
    uint32_t *singles, single_count;
    uint32_t at; /* no composition before it is alive */
};

static const uint32_t *members_of(const struct exclusion *exclusion, uint32_t composition)
{
    return exclusion->found->members + (size_t)composition * exclusion->found->size;
}

static void singles_push(struct exclusion *exclusion, uint32_t composition)
{
    uint32_t *heap = exclusion->singles, at = exclusion->single_count++;

    for (; at && heap[(at - 1) / 2] > composition; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = composition;
}

static uint32_t singles_pop(struct exclusion *exclusion)
{
    uint32_t *heap = exclusion->singles, top = heap[0], last = heap[--exclusion->single_count], at = 0;

    for (;;) {
        uint32_t child = 2 * at + 1;

        if (child + 1 < exclusion->single_count && heap[child + 1] < heap[child])
            child++;
        if (child >= exclusion->single_count || heap[child] >= last)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

/* Notes the one composition that the resource is left in, as the resource has no other. */
static void single_note(struct exclusion *exclusion, uint32_t resource)
{
    for (uint32_t i = exclusion->first[resource]; i < exclusion->first[resource + 1]; i++)
        if (exclusion->alive[exclusion->of[i]]) {
            singles_push(exclusion, exclusion->of[i]);
            return;
        }
}

static void exclusion_init(struct exclusion *exclusion, const struct grdl_compositions *found, uint32_t resource_count)
{
    size_t total = (size_t)found->count * found->size;
    uint32_t at = 0;

    *exclusion = (struct exclusion){.found = found, .alive = mem_alloc((size_t)found->count + 1)};
    exclusion->uses = mem_alloc((3 * (size_t)resource_count + total + 1) * sizeof(uint32_t));
    exclusion->first = exclusion->uses + resource_count;
    exclusion->singles = exclusion->first + resource_count + 1;
    exclusion->of = exclusion->singles + resource_count; /* each resource puts one into the heap at most */
    memset(exclusion->alive, 1, found->count);
    memset(exclusion->uses, 0, resource_count * sizeof *exclusion->uses);
    for (size_t i = 0; i < total; i++)
        exclusion->uses[found->members[i]]++;
    for (uint32_t i = 0; i < resource_count; i++) {
        exclusion->first[i] = at;
        at += exclusion->uses[i];
        exclusion->uses[i] = 0;
    }
    exclusion->first[resource_count] = at;
    for (size_t i = 0; i < total; i++) {
        uint32_t resource = found->members[i];

        exclusion->of[exclusion->first[resource] + exclusion->uses[resource]++] = (uint32_t)(i / found->size);
    }
    for (uint32_t i = 0; i < resource_count; i++)
        if (exclusion->uses[i] == 1)
            single_note(exclusion, i);
}

/* The first composition that is the only one of a resource, else the first one; UINT32_MAX when none is left. */
static uint32_t exclusion_next(struct exclusion *exclusion)
{
    while (exclusion->single_count) {
        uint32_t single = singles_pop(exclusion);

        if (exclusion->alive[single])
            return single;
    }
    while (exclusion->at < exclusion->found->count && !exclusion->alive[exclusion->at])
        exclusion->at++;
    return exclusion->at < exclusion->found->count ? exclusion->at : UINT32_MAX;
}

static void composition_drop(struct exclusion *exclusion, uint32_t composition)
{
    const uint32_t *members = members_of(exclusion, composition);

    exclusion->alive[composition] = false;
    for (uint32_t i = 0; i < exclusion->found->size; i++)
        if (--exclusion->uses[members[i]] == 1)
            single_note(exclusion, members[i]);
}

/* Takes out all compositions that share a resource with the chosen one. */
static void exclusion_take(struct exclusion *exclusion, uint32_t chosen)
{
    const uint32_t *taken = members_of(exclusion, chosen);

    for (uint32_t i = 0; i < exclusion->found->size; i++)
        for (uint32_t k = exclusion->first[taken[i]]; k < exclusion->first[taken[i] + 1]; k++)
            if (exclusion->alive[exclusion->of[k]])
                composition_drop(exclusion, exclusion->of[k]);
}

void grdl_exclude(const struct grdl_compositions *found, uint32_t resource_count, uint32_t limit,
                  struct grdl_compositions *ret_chosen)
{
    struct exclusion exclusion;
    uint32_t next;

    grdl_compositions_init(ret_chosen, found->size);
    exclusion_init(&exclusion, found, resource_count);
    while ((!limit || ret_chosen->count < limit) && (next = exclusion_next(&exclusion)) != UINT32_MAX) {
        grdl_compositions_add(ret_chosen, members_of(&exclusion, next));
        exclusion_take(&exclusion, next);
    }
    free(exclusion.alive);
    free(exclusion.uses);
}
