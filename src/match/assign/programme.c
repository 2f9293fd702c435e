/* programme.c: the relaxed linear programme of a problem, over groups and shelves. */
#include "match/assign/programme.h"

#include <math.h>
#include <string.h>

/* How many columns there are, and what all who could come to a shelf would ask of it. */
struct sizes {
    uint64_t columns;
    double *demand; /* by shelf and quantity */
};

uint32_t shelf_holds(const struct settling *settling, const struct request_group *group,
                     const struct assign_shelf *shelf)
{
    double most = group->count;

    for (uint32_t i = 0; i < settling->quantity_count; i++)
        if (group->amounts[i] > 0 && shelf->free[i] < most * group->amounts[i])
            most = fmin(most, floor(shelf->free[i] / group->amounts[i] * (1 + 1e-9)));
    return (uint32_t)most;
}

static void sizes_take(struct sizes *sizes, const struct settling *settling, const struct shelves *shelves)
{
    uint32_t quantities = settling->quantity_count;

    for (uint32_t i = 0; i < settling->group_count; i++) {
        const struct request_group *group = &settling->groups[i];

        for (uint32_t k = 0; k < group->edge_count; k++) {
            uint32_t kind = group->edges[k].kind;

            for (uint32_t s = shelves->kind_first[kind]; s < shelves->kind_first[kind + 1]; s++) {
                if (!assign_fits(group->amounts, shelves->items[s].free, quantities))
                    continue;
                sizes->columns++;
                for (uint32_t q = 0; q < quantities; q++)
                    sizes->demand[(size_t)s * quantities + q] += group->amounts[q] * group->count;
            }
        }
    }
}

/* Makes rows for the groups, then for what a shelf may run out of: row_of by shelf and quantity, or -1. */
static double *rows_make(struct programme *programme, struct settling *settling, const struct shelves *shelves,
                         const double *demand, int *row_of)
{
    uint32_t quantities = settling->quantity_count, count = settling->group_count;
    double *bounds = SCRATCH(settling, double, count + (size_t)shelves->count * quantities);

    for (uint32_t i = 0; i < count; i++)
        bounds[i] = settling->groups[i].count;
    for (uint32_t s = 0; s < shelves->count; s++)
        for (uint32_t q = 0; q < quantities; q++) {
            size_t place = (size_t)s * quantities + q;
            double bound = shelves->items[s].free[q] * shelves->items[s].count;

            row_of[place] = demand[place] > bound ? (int)count : -1;
            if (row_of[place] >= 0)
                bounds[count++] = shelves->items[s].count; /* in parts of an offer */
        }
    programme->lp.row_count = count;
    return bounds;
}

struct filling {
    struct programme *programme;
    const struct settling *settling;
    const struct shelves *shelves;
    const int *row_of;
    double *objective, *upper, *values;
    int *starts, *rows;
    uint32_t column;
    int entry;
    bool tight;
};

static void column_add(struct filling *f, uint32_t group, uint32_t s, double weight)
{
    const struct request_group *of = &f->settling->groups[group];
    const struct assign_shelf *shelf = &f->shelves->items[s];
    uint32_t quantities = f->settling->quantity_count;
    double most = of->count;

    f->programme->columns[f->column] = (struct column){group, s, weight};
    f->objective[f->column] = 1;
    if (f->tight)
        most = fmin(most, (double)shelf_holds(f->settling, of, shelf) * shelf->count);
    f->upper[f->column] = most;
    f->starts[f->column++] = f->entry;
    f->rows[f->entry] = (int)group;
    f->values[f->entry++] = 1;
    for (uint32_t q = 0; q < quantities; q++) {
        int row = f->row_of[(size_t)s * quantities + q];

        if (row < 0 || of->amounts[q] <= 0)
            continue;
        f->rows[f->entry] = row;
        f->values[f->entry++] = of->amounts[q] / shelf->free[q];
    }
}

static void columns_make(struct filling *f)
{
    const struct settling *settling = f->settling;

    for (uint32_t i = 0; i < settling->group_count; i++) {
        const struct request_group *group = &settling->groups[i];

        for (uint32_t k = 0; k < group->edge_count; k++) {
            uint32_t kind = group->edges[k].kind;

            for (uint32_t s = f->shelves->kind_first[kind]; s < f->shelves->kind_first[kind + 1]; s++)
                if (assign_fits(group->amounts, f->shelves->items[s].free, settling->quantity_count))
                    column_add(f, i, s, group->edges[k].weight);
        }
    }
    f->starts[f->column] = f->entry;
}

int programme_init(struct programme *programme, struct settling *settling, const struct shelves *shelves, bool tight,
                   struct err *err)
{
    size_t cells = (size_t)shelves->count * settling->quantity_count, entries;
    struct sizes sizes = {0, SCRATCH(settling, double, cells)};
    int *row_of = SCRATCH(settling, int, cells);
    struct filling f = {programme, settling, shelves, row_of, .tight = tight};

    memset(sizes.demand, 0, cells * sizeof *sizes.demand);
    sizes_take(&sizes, settling, shelves);
    if (sizes.columns > PROGRAMME_COLUMNS_MAX)
        return err_set(err, "the linear programme would have %llu columns; %u are the most",
                       (unsigned long long)sizes.columns, PROGRAMME_COLUMNS_MAX);
    entries = (size_t)sizes.columns * (1 + settling->quantity_count);
    programme->columns = SCRATCH(settling, struct column, sizes.columns);
    programme->x = SCRATCH(settling, double, sizes.columns);
    f.objective = SCRATCH(settling, double, sizes.columns);
    f.upper = SCRATCH(settling, double, sizes.columns);
    f.values = SCRATCH(settling, double, entries);
    f.rows = SCRATCH(settling, int, entries);
    f.starts = SCRATCH(settling, int, sizes.columns + 1);
    programme->lp = (struct assign_programme){.column_count = (uint32_t)sizes.columns,
                                              .objective = f.objective,
                                              .upper = f.upper,
                                              .starts = f.starts,
                                              .rows = f.rows,
                                              .values = f.values};
    programme->lp.bounds = rows_make(programme, settling, shelves, sizes.demand, row_of);
    programme->prices = SCRATCH(settling, double, programme->lp.row_count);
    programme->row_of = row_of;
    programme->objective = f.objective;
    columns_make(&f);
    return 0;
}

int programme_solve(struct programme *programme, struct settling *settling, struct err *err)
{
    const struct assign_options *options = settling->options;
    uint64_t work = 0;
    int status;

    if (programme->lp.column_count == 0)
        return 0;
    status = (options->relax ? options->relax : relax_clp)(options->relax_user, &programme->lp, programme->x,
                                                           programme->prices, &work, err);
    settling->result->work += work;
    return status;
}

double programme_total(const struct programme *programme)
{
    double total = 0;

    for (uint32_t i = 0; i < programme->lp.column_count; i++)
        total += programme->x[i];
    return total;
}

double programme_bound(const struct programme *programme)
{
    const struct assign_programme *lp = &programme->lp;
    double bound = 0;

    if (lp->column_count == 0)
        return 0;
    for (uint32_t i = 0; i < lp->row_count; i++)
        bound += lp->bounds[i] * programme->prices[i];
    for (uint32_t i = 0; i < lp->column_count; i++) {
        double gain = lp->objective[i];

        for (int k = lp->starts[i]; k < lp->starts[i + 1]; k++)
            gain -= programme->prices[lp->rows[k]] * lp->values[k];
        bound += gain > 0 ? gain * lp->upper[i] : 0;
    }
    return bound;
}
