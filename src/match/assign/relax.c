/* relax.c: linear programmes by CLP's dual simplex; those with many columns are sifted (sift.c).
 *
 * Columns have finite upper bounds, so that the first basis is dual feasible: the columns that are worth something are at their upper bounds. */
#include "match/assign/relax.h"

#include "lang/base/mem.h"

#include <math.h>
#include <stdlib.h>

#define NODE_WORK 10           /* for solving a programme at all */
#define ITERATIONS_MAX 2000000 /* a programme that needs more is given up */

static const char *const status_words[] = {
    [0] = "solved",
    [1] = "it says that nothing is feasible",
    [2] = "it says that there is no bound",
    [3] = "it stopped after too many iterations",
    [4] = "it met numbers that it cannot handle",
};

Clp_Simplex *relax_model(const struct assign_programme *programme)
{
    Clp_Simplex *model = clp()->newModel();
    double *row_lower = mem_alloc((programme->row_count + 1) * sizeof *row_lower);
    double *column_lower = mem_alloc((programme->column_count + 1) * sizeof *column_lower);

    for (uint32_t i = 0; i < programme->row_count; i++)
        row_lower[i] = -INFINITY;
    for (uint32_t i = 0; i < programme->column_count; i++)
        column_lower[i] = 0;
    clp()->setLogLevel(model, 0);
    clp()->scaling(
        model, 0); /* rows are in parts of an offer: they are scaled already. CLP's own makes it twenty times slower */
    clp()->loadProblem(model, (int)programme->column_count, (int)programme->row_count, programme->starts,
                       programme->rows, programme->values, column_lower, programme->upper, programme->objective,
                       row_lower, programme->bounds);
    clp()->setOptimizationDirection(model, -1);
    clp()->setMaximumIterations(model, ITERATIONS_MAX);
    free(row_lower);
    free(column_lower);
    return model;
}

int relax_failed(int status, struct err *err)
{
    return err_set(err, "CLP could not solve the linear programme: %s",
                   status > 0 && status < 5 ? status_words[status] : "it failed");
}

int relax_clp(void *user, const struct assign_programme *programme, double *ret_x, double *ret_prices,
              uint64_t *ret_work, struct err *err)
{
    Clp_Simplex *model;
    const double *x, *prices;
    int status;

    (void)user;
    if (clp_load(err) < 0)
        return -1;
    if (programme->column_count >= SIFT_COLUMNS)
        return sift_solve(programme, ret_x, ret_prices, ret_work, err);
    model = relax_model(programme);
    clp()->dual(model, 0);
    status = clp()->status(model);
    *ret_work += relax_work(model, programme->column_count, programme->row_count);
    x = clp()->primalColumnSolution(model);
    for (uint32_t i = 0; i < programme->column_count && status == 0; i++)
        ret_x[i] = fmin(fmax(x[i], 0), programme->upper[i]);
    prices = clp()->dualRowSolution(model);
    for (uint32_t i = 0; i < programme->row_count && status == 0; i++)
        ret_prices[i] = fabs(prices[i]);
    clp()->deleteModel(model);
    return status == 0 ? 0 : relax_failed(status, err);
}

struct relaxer {
    const struct assign_programme *programme;
    Clp_Simplex *model;
};

struct relaxer *relaxer_new(const struct assign_programme *programme)
{
    struct relaxer *relaxer = mem_alloc(sizeof *relaxer);

    relaxer->programme = programme;
    relaxer->model = relax_model(programme);
    return relaxer;
}

void relaxer_free(struct relaxer *relaxer)
{
    if (!relaxer)
        return;
    clp()->deleteModel(relaxer->model);
    free(relaxer);
}

enum relaxed relaxer_solve(struct relaxer *relaxer, const double *lower, const double *upper, double *ret_x,
                           double *ret_value, uint64_t *work)
{
    const double *x;

    clp()->chgColumnLower(relaxer->model, lower);
    clp()->chgColumnUpper(relaxer->model, upper);
    clp()->dual(relaxer->model, 0);
    *work += NODE_WORK + relax_work(relaxer->model, relaxer->programme->column_count, relaxer->programme->row_count);
    if (clp()->status(relaxer->model) == 1)
        return RELAX_INFEASIBLE;
    if (clp()->status(relaxer->model) != 0)
        return RELAX_FAILED;
    x = clp()->primalColumnSolution(relaxer->model);
    *ret_value = 0;
    for (uint32_t i = 0; i < relaxer->programme->column_count; i++) {
        ret_x[i] = fmin(fmax(x[i], lower[i]), upper[i]);
        *ret_value += ret_x[i] * relaxer->programme->objective[i];
    }
    return RELAXED;
}

void column_batch_init(struct column_batch *batch, uint32_t columns, size_t entries)
{
    *batch = (struct column_batch){
        .lower = mem_alloc((columns + 1) * sizeof *batch->lower),
        .upper = mem_alloc((columns + 1) * sizeof *batch->upper),
        .objective = mem_alloc((columns + 1) * sizeof *batch->objective),
        .starts = mem_alloc((columns + 1) * sizeof *batch->starts),
        .values = mem_alloc((entries + 1) * sizeof *batch->values),
        .rows = mem_alloc((entries + 1) * sizeof *batch->rows),
    };
    batch->starts[0] = 0;
}

void column_batch_add(struct column_batch *batch, double objective, double upper)
{
    batch->lower[batch->count] = 0;
    batch->upper[batch->count] = upper;
    batch->objective[batch->count++] = objective;
    batch->starts[batch->count] = (int)batch->entries;
}

void column_batch_entry(struct column_batch *batch, uint32_t row, double value)
{
    batch->rows[batch->entries] = (int)row;
    batch->values[batch->entries++] = value;
    batch->starts[batch->count] = (int)batch->entries;
}

void column_batch_flush(struct column_batch *batch, Clp_Simplex *model)
{
    clp()->addColumns(model, (int)batch->count, batch->lower, batch->upper, batch->objective, batch->starts,
                      batch->rows, batch->values);
    free(batch->lower);
    free(batch->upper);
    free(batch->objective);
    free(batch->starts);
    free(batch->values);
    free(batch->rows);
    *batch = (struct column_batch){0};
}
