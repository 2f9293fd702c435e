/* dive.c: whole numbers of patterns.
 *
 *     what the programme over patterns says -> its whole parts are taken, and those patterns that are nearly whole
 *                                           -> what is left is solved again, with patterns for that, until all offers are filled
 *
 * So each step decides only what is nearly decided, and the rest can still make up for it. */
#include "match/assign/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 200
#define NEARLY 0.75 /* a part of one that is taken as one */
#define PART 12     /* in one step at least this part of what is open is taken */
#define MORE 4      /* rounds of new patterns in a step */

struct choice {
    double x;
    uint32_t pattern;
};

struct diving {
    struct generation *generation;
    uint32_t *left; /* by group */
    uint32_t *open; /* by shelf: offers that are not filled */
    uint32_t open_count;
    struct choice *choices; /* no more than the master has rows */
    uint32_t choice_room;
};

/* Puts the largest first. */
static int choice_compare(const void *a, const void *b)
{
    const struct choice *left = a, *right = b;

    if (left->x != right->x)
        return left->x > right->x ? -1 : 1;
    return (left->pattern > right->pattern) - (left->pattern < right->pattern);
}

static bool pattern_fits(const struct diving *diving, const struct pattern *pattern)
{
    const struct pattern_part *parts = diving->generation->patterns.parts + pattern->first;

    if (diving->open[pattern->shelf] == 0)
        return false;
    for (uint32_t i = 0; i < pattern->count; i++)
        if (parts[i].count > diving->left[parts[i].group])
            return false;
    return true;
}

/* Fills the next offer of the pattern's shelf by the pattern. */
static void pattern_place(struct diving *diving, const struct pattern *pattern)
{
    const struct packing *packing = diving->generation->packing;
    struct settling *settling = packing->settling;
    const struct pattern_part *parts = diving->generation->patterns.parts + pattern->first;
    const struct assign_shelf *shelf = &packing->shelves->items[pattern->shelf];
    uint32_t offer = packing->shelves->members[shelf->first + shelf->count - diving->open[pattern->shelf]];

    for (uint32_t i = 0; i < pattern->count; i++) {
        const struct request_group *group = &settling->groups[parts[i].group];

        for (uint32_t n = parts[i].count; n > 0; n--) {
            uint32_t at = group->count - diving->left[parts[i].group]--;

            settling_place(settling, settling->members[group->first + at], offer);
        }
    }
    diving->open[pattern->shelf]--;
    diving->open_count--;
}

/* Takes whole numbers of what the master says. Returns how many offers were filled. */
static uint32_t patterns_take(struct diving *diving)
{
    const struct generation *generation = diving->generation;
    const double *x = master_x(generation->master);
    uint32_t before = diving->open_count, goal, count = 0;

    for (uint32_t i = 0; i < generation->patterns.count; i++) {
        const struct pattern *pattern = &generation->patterns.items[i];
        double whole = floor(x[i] + 1e-6);

        if (x[i] <= 1e-6)
            continue;
        for (double n = whole; n > 0 && pattern_fits(diving, pattern); n--)
            pattern_place(diving, pattern);
        if (x[i] - whole > 1e-6 && count < diving->choice_room)
            diving->choices[count++] = (struct choice){x[i] - whole, i};
    }
    qsort(diving->choices, count, sizeof *diving->choices, choice_compare);
    goal = before / PART + 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct pattern *pattern = &generation->patterns.items[diving->choices[i].pattern];

        if (before - diving->open_count >= goal && diving->choices[i].x < NEARLY)
            break;
        if (pattern_fits(diving, pattern))
            pattern_place(diving, pattern);
    }
    return before - diving->open_count;
}

/* Solves the master for what is left. */
static bool rest_solve(struct diving *diving)
{
    struct generation *generation = diving->generation;
    struct settling *settling = generation->packing->settling;
    double bound;

    for (uint32_t i = 0; i < settling->group_count; i++)
        generation->rows[i] = diving->left[i];
    for (uint32_t i = 0; i < generation->packing->shelves->count; i++)
        generation->rows[settling->group_count + i] = diving->open[i];
    master_limit(generation->master, generation->rows);
    for (uint32_t i = 0; i < generation->patterns.count; i++)
        if (!pattern_fits(diving, &generation->patterns.items[i]))
            master_close(generation->master, i);
    for (int i = 0; i <= MORE; i++) {
        if (!master_solve(generation->master, &settling->result->work))
            return false;
        if (i == MORE || generate_more(generation, diving->left, &bound) == 0)
            break;
        master_extend(generation->master, &generation->patterns);
    }
    return true;
}

void dive(struct generation *generation)
{
    const struct packing *packing = generation->packing;
    struct settling *settling = packing->settling;
    struct diving diving = {.generation = generation, .open_count = settling->problem->offer_count};

    settling_clear(settling);
    diving.left = SCRATCH(settling, uint32_t, settling->group_count);
    diving.open = SCRATCH(settling, uint32_t, packing->shelves->count);
    diving.choice_room = settling->group_count + packing->shelves->count;
    diving.choices = SCRATCH(settling, struct choice, diving.choice_room);
    for (uint32_t i = 0; i < settling->group_count; i++)
        diving.left[i] = settling->groups[i].count;
    for (uint32_t i = 0; i < packing->shelves->count; i++)
        diving.open[i] = packing->shelves->items[i].count;
    for (int i = 0; i < STEPS_MAX && patterns_take(&diving) > 0 && diving.open_count > 0; i++) {
        if (generation_stops(generation, 0) || !rest_solve(&diving))
            break;
    }
}
