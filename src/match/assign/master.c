/* master.c: the programme over patterns, by CLP's simplex methods.
 *
 * After new columns the old solution is still feasible: the primal method goes on from it. After tighter limits the old prices still hold: the dual
 * method goes on from them. */
#include "match/assign/patterns.h"
#include "match/assign/relax.h"

#include "lang/base/mem.h"

#include <math.h>
#include <stdlib.h>

#define ITERATIONS_MAX 500000 /* in one go */

struct master {
    Clp_Simplex *model;
    uint32_t group_count, row_count;
    uint32_t count; /* patterns that it has */
    double *upper;  /* by pattern */
    uint32_t upper_room;
    double *prices;
    bool solved;
    bool limited; /* the limits have changed since it was solved: the solution may not be feasible any more */
};

struct master *master_new(uint32_t group_count, uint32_t shelf_count)
{
    struct master *master = mem_alloc(sizeof *master);
    double *lower, *upper;

    *master =
        (struct master){.model = clp()->newModel(), .group_count = group_count, .row_count = group_count + shelf_count};
    lower = mem_alloc((master->row_count + 1) * sizeof *lower);
    upper = mem_alloc((master->row_count + 1) * sizeof *upper);
    master->prices = mem_alloc((master->row_count + 1) * sizeof *master->prices);
    for (uint32_t i = 0; i < master->row_count; i++) {
        lower[i] = -INFINITY;
        upper[i] = 0;
    }
    clp()->setLogLevel(master->model, 0);
    clp()->scaling(master->model, 0); /* all entries are small whole numbers */
    clp()->resize(master->model, (int)master->row_count, 0);
    clp()->chgRowLower(master->model, lower);
    clp()->chgRowUpper(master->model, upper);
    clp()->setOptimizationDirection(master->model, -1);
    clp()->setMaximumIterations(master->model, ITERATIONS_MAX);
    free(lower);
    free(upper);
    return master;
}

void master_free(struct master *master)
{
    if (!master)
        return;
    clp()->deleteModel(master->model);
    free(master->upper);
    free(master->prices);
    free(master);
}

void master_limit(struct master *master, const double *bounds)
{
    clp()->chgRowUpper(master->model, bounds);
    master->limited = master->solved;
}

void master_extend(struct master *master, const struct patterns *patterns)
{
    uint32_t added = patterns->count - master->count;
    struct column_batch batch;
    size_t entries = added;

    if (added == 0)
        return;
    for (uint32_t i = master->count; i < patterns->count; i++)
        entries += patterns->items[i].count;
    if (patterns->count > master->upper_room) {
        master->upper_room = patterns->count * 2;
        master->upper = mem_grow(master->upper, master->upper_room * sizeof *master->upper);
    }
    column_batch_init(&batch, added, entries);
    for (; master->count < patterns->count; master->count++) {
        const struct pattern *pattern = &patterns->items[master->count];

        master->upper[master->count] = INFINITY;
        column_batch_add(&batch, pattern->value, INFINITY);
        for (uint32_t i = pattern->first; i < pattern->first + pattern->count; i++)
            column_batch_entry(&batch, patterns->parts[i].group, patterns->parts[i].count);
        column_batch_entry(&batch, master->group_count + pattern->shelf, 1);
    }
    column_batch_flush(&batch, master->model);
}

void master_close(struct master *master, uint32_t pattern)
{
    master->upper[pattern] = 0;
    master->limited = master->solved;
}

bool master_solve(struct master *master, uint64_t *work)
{
    const double *prices;

    if (master->count == 0) { /* CLP does not like a programme without columns */
        for (uint32_t i = 0; i < master->row_count; i++)
            master->prices[i] = 0;
        return true;
    }
    clp()->chgColumnUpper(master->model, master->upper);
    if (master->limited)
        clp()->dual(master->model, 0);
    else
        clp()->primal(master->model, 0);
    master->limited = false;
    master->solved = true;
    *work += 1 + relax_work(master->model, master->count, master->row_count);
    if (clp()->status(master->model) != 0)
        return false;
    prices = clp()->dualRowSolution(master->model);
    for (uint32_t i = 0; i < master->row_count; i++)
        master->prices[i] = fabs(prices[i]);
    return true;
}

double master_value(const struct master *master)
{
    return master->count ? clp()->objectiveValue(master->model) : 0;
}

const double *master_x(const struct master *master)
{
    return clp()->primalColumnSolution(master->model);
}

const double *master_prices(const struct master *master)
{
    return master->prices;
}
