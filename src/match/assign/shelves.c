/* shelves.c: puts offers that nobody can tell apart together. */
#include "match/assign/shelves.h"

#include "lang/base/rng.h"

#include <math.h>
#include <string.h>

static uint64_t free_hash(const double *free, uint32_t count)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < count; i++) {
        double amount = free[i] + 0.0; /* -0 is 0 */
        uint64_t word;

        memcpy(&word, &amount, sizeof word);
        hash = rng_mix(hash ^ word);
    }
    return hash;
}

static bool free_alike(const double *a, const double *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* Finds the shelf for an offer of that kind, which is the last one that has shelves; makes a new one when there is none. */
static uint32_t shelf_find(struct shelves *shelves, const struct settling *settling, uint32_t *slots, uint32_t room,
                           uint32_t kind, uint32_t offer)
{
    const double *free = settling->problem->free + (size_t)offer * settling->quantity_count;
    uint32_t slot = (uint32_t)rng_mix(free_hash(free, settling->quantity_count) + kind) & (room - 1);

    for (; slots[slot] != ASSIGN_NONE; slot = (slot + 1) & (room - 1))
        if (slots[slot] >= shelves->kind_first[kind] &&
            free_alike(shelves->items[slots[slot]].free, free, settling->quantity_count))
            return slots[slot];
    slots[slot] = shelves->count;
    shelves->items[shelves->count] = (struct assign_shelf){.free = free};
    return shelves->count++;
}

void shelves_init(struct shelves *shelves, struct settling *settling)
{
    const struct assign_problem *problem = settling->problem;
    uint32_t count = problem->offer_count, room = 16, *slots;

    while (room < count * 2)
        room *= 2;
    slots = SCRATCH(settling, uint32_t, room);
    memset(slots, 0xff, room * sizeof *slots);
    *shelves = (struct shelves){.items = SCRATCH(settling, struct assign_shelf, count),
                                .of = SCRATCH(settling, uint32_t, count),
                                .members = SCRATCH(settling, uint32_t, count),
                                .kind_first = SCRATCH(settling, uint32_t, problem->kind_count + 1)};
    for (uint32_t kind = 0; kind < problem->kind_count; kind++) {
        shelves->kind_first[kind] = shelves->count;
        for (uint32_t i = settling->kind_first[kind]; i < settling->kind_first[kind + 1]; i++) {
            uint32_t offer = settling->kind_offers[i];

            shelves->of[offer] = shelf_find(shelves, settling, slots, room, kind, offer);
            shelves->items[shelves->of[offer]].count++;
        }
    }
    shelves->kind_first[problem->kind_count] = shelves->count;
    for (uint32_t i = 0, at = 0; i < shelves->count; at += shelves->items[i].count, shelves->items[i++].count = 0)
        shelves->items[i].first = at;
    for (uint32_t i = 0; i < count; i++) {
        struct assign_shelf *shelf = &shelves->items[shelves->of[i]];

        shelves->members[shelf->first + shelf->count++] = i;
    }
}

void shelves_init_single(struct shelves *shelves, struct settling *settling)
{
    const struct assign_problem *problem = settling->problem;
    uint32_t count = problem->offer_count;

    *shelves = (struct shelves){.items = SCRATCH(settling, struct assign_shelf, count),
                                .count = count,
                                .of = SCRATCH(settling, uint32_t, count),
                                .members = settling->kind_offers,
                                .kind_first = settling->kind_first};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offer = settling->kind_offers[i];

        shelves->of[offer] = i;
        shelves->items[i] = (struct assign_shelf){
            .free = problem->free + (size_t)offer * settling->quantity_count, .first = i, .count = 1};
    }
}

double desire_of(const double *amounts, const double *free, uint32_t quantity_count)
{
    double asked = 1, there = 1;

    for (uint32_t i = 0; i < quantity_count; i++) {
        if (isinf(free[i]))
            continue;
        asked *= amounts[i] > 0 ? amounts[i] : 1;
        there *= free[i] > 0 ? free[i] : 1;
    }
    return asked / there;
}
