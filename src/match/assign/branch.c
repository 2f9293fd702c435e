/* branch.c: branch and bound over single offers.
 *
 *     node: bounds of the columns -> the relaxed programme -> its value is no better than the incumbent's: cut
 *                                                          -> a column that is not whole: at least the next number, or at most the one below
 *
 * The search goes depth first, the larger number first, since that finds assignments soon. The programme goes on from where it was, so a node costs
 * few iterations. */
#include "match/assign/optimal.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 20000 /* columns of a programme that is searched */
#define WHOLE 1e-6

/* A column that was not whole, and which of the two ways is tried now. */
struct fork {
    uint32_t column;
    bool second;
    double lower, upper; /* as they were before */
    double below;        /* the whole number below */
    double bound;
};

struct branching {
    struct settling *settling;
    const struct worth *worth;
    struct incumbent *incumbent;
    struct shelves shelves;
    struct programme programme;
    struct relaxer *relaxer;
    double *lower, *upper;
    struct fork *forks;
    uint32_t depth, room;
    uint64_t limit; /* of the work, past which the search stops */
    bool failed;    /* some node could not be solved */
};

/* The column that is farthest from a whole number; the number of columns when all are whole. */
static uint32_t column_pick(const struct branching *branching)
{
    const struct programme *programme = &branching->programme;
    uint32_t pick = programme->lp.column_count;
    double farthest = WHOLE;

    for (uint32_t i = 0; i < programme->lp.column_count; i++) {
        double far = fabs(programme->x[i] - round(programme->x[i]));

        if (far > farthest) {
            farthest = far;
            pick = i;
        }
    }
    return pick;
}

/* Takes an assignment: all columns are whole. */
static void solution_take(struct branching *branching)
{
    struct settling *settling = branching->settling;
    const struct programme *programme = &branching->programme;
    uint32_t group = ASSIGN_NONE, next = 0;

    settling_clear(settling);
    for (uint32_t i = 0; i < programme->lp.column_count; i++) {
        const struct column *column = &programme->columns[i];
        const struct request_group *of = &settling->groups[column->group];
        uint32_t offer = branching->shelves.members[branching->shelves.items[column->shelf].first];

        if (column->group != group)
            next = 0;
        group = column->group;
        for (double n = round(programme->x[i]); n > 0 && next < of->count && offer_fits(settling, of, offer); n--)
            settling_place(settling, settling->members[of->first + next++], offer);
    }
    incumbent_offer(branching->incumbent, settling, branching->worth);
}

static bool worth_more(const struct branching *branching, double value)
{
    return value >= branching->incumbent->value + branching->worth->step;
}

static void fork_push(struct branching *branching, uint32_t column, double bound)
{
    struct fork *fork;

    ARRAY_ROOM(branching->forks, branching->depth, branching->room, 64);
    fork = &branching->forks[branching->depth++];
    *fork = (struct fork){
        column, false, branching->lower[column], branching->upper[column], floor(branching->programme.x[column]),
        bound};
    branching->lower[column] = fork->below + 1;
}

/* Takes the other way of the last fork that has one left; false when there is none. */
static bool fork_turn(struct branching *branching)
{
    for (; branching->depth; branching->depth--) {
        struct fork *fork = &branching->forks[branching->depth - 1];

        branching->lower[fork->column] = fork->lower;
        branching->upper[fork->column] = fork->upper;
        if (!fork->second && worth_more(branching, fork->bound)) {
            fork->second = true;
            branching->upper[fork->column] = fork->below;
            return true;
        }
    }
    return false;
}

/* Looks at a node: true when there is something below it. */
static bool node_look(struct branching *branching)
{
    struct programme *programme = &branching->programme;
    double value;
    enum relaxed end = relaxer_solve(branching->relaxer, branching->lower, branching->upper, programme->x, &value,
                                     &branching->settling->result->work);
    uint32_t column;

    branching->failed = branching->failed || end == RELAX_FAILED;
    if (end != RELAXED || !worth_more(branching, value + WHOLE * branching->worth->part))
        return false;
    column = column_pick(branching);
    if (column < programme->lp.column_count) {
        fork_push(branching, column, value + WHOLE * branching->worth->part);
        return true;
    }
    solution_take(branching);
    return false;
}

/* The best value that may still be found, by the forks that have another way left. */
static double bound_left(const struct branching *branching)
{
    double bound = branching->incumbent->value;

    for (uint32_t i = 0; i < branching->depth; i++)
        if (!branching->forks[i].second && branching->forks[i].bound > bound)
            bound = branching->forks[i].bound;
    return bound;
}

/* Runs the search; true when it came to an end. */
static bool search_run(struct branching *branching)
{
    for (;;) {
        if (branching->settling->result->work > branching->limit || settling_stops(branching->settling))
            return false;
        if (!node_look(branching) && !fork_turn(branching))
            return !branching->failed;
    }
}

static bool branching_init(struct branching *branching)
{
    struct settling *settling = branching->settling;
    struct programme *programme = &branching->programme;
    struct err err;

    shelves_init_single(&branching->shelves, settling);
    if (programme_init(programme, settling, &branching->shelves, true, &err) < 0 ||
        programme->lp.column_count > COLUMNS_MAX)
        return false;
    branching->lower = SCRATCH(settling, double, programme->lp.column_count);
    branching->upper = SCRATCH(settling, double, programme->lp.column_count);
    for (uint32_t i = 0; i < programme->lp.column_count; i++) {
        programme->objective[i] = worth_of(branching->worth, programme->columns[i].weight);
        branching->lower[i] = 0;
        branching->upper[i] = programme->lp.upper[i];
    }
    branching->relaxer = relaxer_new(&programme->lp);
    return true;
}

double branch_search(struct settling *settling, const struct worth *worth, struct incumbent *incumbent, double bound)
{
    struct branching branching = {.settling = settling, .worth = worth, .incumbent = incumbent};
    double left = bound;

    branching.limit = settling->options->work ? settling->options->work : ASSIGN_WORK;
    if (!branching_init(&branching)) {
        snprintf(settling->result->why, sizeof settling->result->why, "it is too large to be searched");
        return bound;
    }
    if (search_run(&branching)) {
        left = incumbent->value;
    } else {
        snprintf(settling->result->why, sizeof settling->result->why, "the search ended before all was seen");
        if (branching.depth && !branching.failed)
            left = fmax(bound_left(&branching), branching.forks[branching.depth - 1].bound);
    }
    relaxer_free(branching.relaxer);
    free(branching.forks);
    return fmin(left, bound);
}
