/* relax.c: linear programmes by CLP's dual simplex.
 *
 * Columns have finite upper bounds, so that the first basis is dual feasible: those that are worth something stand at their upper bounds. */
#include "assign/programme.h"

#include "base/mem.h"

#include <coin/Clp_C_Interface.h>
#include <math.h>
#include <stdlib.h>

#define NODE_WORK 10           /* of solving a programme at all */
#define ITERATIONS_MAX 2000000 /* a programme that needs more is given up */

static const char *const status_words[] = {
    [0] = "solved",
    [1] = "it says that nothing is feasible",
    [2] = "it says that there is no bound",
    [3] = "it stopped after too many iterations",
    [4] = "it met numbers that it cannot handle",
};

static Clp_Simplex *model_load(const struct assign_programme *programme)
{
    Clp_Simplex *model = Clp_newModel();
    double *row_lower = mem_alloc((programme->row_count + 1) * sizeof *row_lower);
    double *column_lower = mem_alloc((programme->column_count + 1) * sizeof *column_lower);

    for (uint32_t i = 0; i < programme->row_count; i++)
        row_lower[i] = -INFINITY;
    for (uint32_t i = 0; i < programme->column_count; i++)
        column_lower[i] = 0;
    Clp_setLogLevel(model, 0);
    Clp_scaling(model,
                0); /* rows are in parts of an offer: they are scaled already. CLP's own makes it twenty times slower */
    Clp_loadProblem(model, (int)programme->column_count, (int)programme->row_count, programme->starts, programme->rows,
                    programme->values, column_lower, programme->upper, programme->objective, row_lower,
                    programme->bounds);
    Clp_setOptimizationDirection(model, -1);
    Clp_setMaximumIterations(model, ITERATIONS_MAX);
    free(row_lower);
    free(column_lower);
    return model;
}

/* Iterations cost more where there is more to look at. */
static uint64_t work_done(Clp_Simplex *model, const struct assign_programme *programme)
{
    return (uint64_t)Clp_numberIterations(model) * (1 + (programme->column_count + programme->row_count) / 1000);
}

int relax_clp(void *user, const struct assign_programme *programme, double *ret_x, double *ret_prices,
              uint64_t *ret_work, struct err *err)
{
    Clp_Simplex *model = model_load(programme);
    const double *x, *prices;
    int status;

    (void)user;
    Clp_dual(model, 0);
    status = Clp_status(model);
    *ret_work += work_done(model, programme);
    x = Clp_primalColumnSolution(model);
    for (uint32_t i = 0; i < programme->column_count && status == 0; i++)
        ret_x[i] = fmin(fmax(x[i], 0), programme->upper[i]);
    prices = Clp_dualRowSolution(model);
    for (uint32_t i = 0; i < programme->row_count && status == 0; i++)
        ret_prices[i] = fabs(prices[i]);
    Clp_deleteModel(model);
    if (status != 0)
        return err_set(err, "CLP could not solve the linear programme: %s",
                       status > 0 && status < 5 ? status_words[status] : "it failed");
    return 0;
}

struct relaxer {
    const struct assign_programme *programme;
    Clp_Simplex *model;
};

struct relaxer *relaxer_new(const struct assign_programme *programme)
{
    struct relaxer *relaxer = mem_alloc(sizeof *relaxer);

    relaxer->programme = programme;
    relaxer->model = model_load(programme);
    return relaxer;
}

void relaxer_free(struct relaxer *relaxer)
{
    if (!relaxer)
        return;
    Clp_deleteModel(relaxer->model);
    free(relaxer);
}

enum relaxed relaxer_solve(struct relaxer *relaxer, const double *lower, const double *upper, double *ret_x,
                           double *ret_value, uint64_t *work)
{
    const double *x;

    Clp_chgColumnLower(relaxer->model, lower);
    Clp_chgColumnUpper(relaxer->model, upper);
    Clp_dual(relaxer->model, 0);
    *work += NODE_WORK + work_done(relaxer->model, relaxer->programme);
    if (Clp_status(relaxer->model) == 1)
        return RELAX_INFEASIBLE;
    if (Clp_status(relaxer->model) != 0)
        return RELAX_FAILED;
    x = Clp_primalColumnSolution(relaxer->model);
    *ret_value = 0;
    for (uint32_t i = 0; i < relaxer->programme->column_count; i++) {
        ret_x[i] = fmin(fmax(x[i], lower[i]), upper[i]);
        *ret_value += ret_x[i] * relaxer->programme->objective[i];
    }
    return RELAXED;
}
