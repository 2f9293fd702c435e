/* sift.c: a linear programme of which few columns matter.
 *
 *     some columns of each row -> solved, which gives prices -> the other columns that are worth more than they take at these prices -> again
 *
 * until there are none: then no other column would be used, and the solution is that of the whole programme. A basis has no more columns than there
 * are rows; with far more columns than that, this is many times faster than looking at all of them at every step.
 *
 * Columns whose first entry is in the same row count as alike (they are those of a group, one for each shelf), and are next to each other. From
 * each such run some are taken, spread evenly at first, then those that are worth most. */
#include "match/assign/relax.h"

#include "lang/base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT_FIRST 10 /* columns of a run at first, about */
#define MORE 5      /* columns of a run in one round */
#define WORTH 1e-9  /* what a column must be worth beyond what it takes */

struct candidate {
    double gain;
    uint32_t column;
};

struct sifting {
    const struct assign_programme *programme;
    Clp_Simplex *model;
    uint32_t *chosen; /* by column of the model: its column in the programme */
    bool *has;        /* by column of the programme: whether it is chosen */
    uint32_t count;   /* how many are chosen */
    uint32_t known;   /* of these, how many the model has */
    struct candidate *candidates;
};

static void sifting_init(struct sifting *sifting, const struct assign_programme *programme)
{
    static const int nothing = 0;
    struct assign_programme empty = *programme;

    empty.column_count = 0;
    empty.starts = &nothing;
    *sifting = (struct sifting){
        .programme = programme,
        .model = relax_model(&empty),
        .chosen = mem_alloc(programme->column_count * sizeof *sifting->chosen),
        .has = mem_alloc(programme->column_count * sizeof *sifting->has),
        .candidates = mem_alloc(programme->column_count * sizeof *sifting->candidates),
    };
    memset(sifting->has, 0, programme->column_count * sizeof *sifting->has);
}

static void sifting_done(struct sifting *sifting)
{
    clp()->deleteModel(sifting->model);
    free(sifting->chosen);
    free(sifting->has);
    free(sifting->candidates);
}

/* The end of the run that begins at that column. */
static uint32_t run_end(const struct assign_programme *programme, uint32_t from)
{
    int row = programme->rows[programme->starts[from]];
    uint32_t end = from + 1;

    while (end < programme->column_count && programme->rows[programme->starts[end]] == row)
        end++;
    return end;
}

static void column_choose(struct sifting *sifting, uint32_t column)
{
    sifting->has[column] = true;
    sifting->chosen[sifting->count++] = column;
}

/* Chooses some columns of each run, not at the same places in all of them. */
static void choose_first(struct sifting *sifting)
{
    const struct assign_programme *programme = sifting->programme;

    for (uint32_t from = 0, end, runs = 0; from < programme->column_count; from = end) {
        uint32_t step;

        end = run_end(programme, from);
        step = (end - from) / AT_FIRST + ((end - from) < AT_FIRST);
        for (uint32_t i = from + runs++ % step; i < end; i += step)
            column_choose(sifting, i);
    }
}

/* Puts the largest gain first. */
static int candidate_compare(const void *a, const void *b)
{
    const struct candidate *left = a, *right = b;

    if (left->gain != right->gain)
        return left->gain > right->gain ? -1 : 1;
    return (left->column > right->column) - (left->column < right->column);
}

static double column_gain(const struct assign_programme *programme, uint32_t column, const double *prices)
{
    double gain = programme->objective[column];

    for (int k = programme->starts[column]; k < programme->starts[column + 1]; k++)
        gain -= fabs(prices[programme->rows[k]]) * programme->values[k];
    return gain;
}

/* Chooses those columns of each run that are worth most at the prices. */
static void choose_more(struct sifting *sifting)
{
    const struct assign_programme *programme = sifting->programme;
    const double *prices = clp()->dualRowSolution(sifting->model);

    for (uint32_t from = 0, end; from < programme->column_count; from = end) {
        uint32_t count = 0;

        end = run_end(programme, from);
        for (uint32_t i = from; i < end; i++) {
            double gain = sifting->has[i] ? 0 : column_gain(programme, i, prices);

            if (gain > WORTH)
                sifting->candidates[count++] = (struct candidate){gain, i};
        }
        qsort(sifting->candidates, count, sizeof *sifting->candidates, candidate_compare);
        for (uint32_t i = 0; i < count && i < MORE; i++)
            column_choose(sifting, sifting->candidates[i].column);
    }
}

/* Puts what was chosen into the model. */
static void model_extend(struct sifting *sifting)
{
    const struct assign_programme *programme = sifting->programme;
    struct column_batch batch;
    size_t entries = 0;

    for (uint32_t i = sifting->known; i < sifting->count; i++)
        entries += (size_t)(programme->starts[sifting->chosen[i] + 1] - programme->starts[sifting->chosen[i]]);
    column_batch_init(&batch, sifting->count - sifting->known, entries);
    for (; sifting->known < sifting->count; sifting->known++) {
        uint32_t column = sifting->chosen[sifting->known];

        column_batch_add(&batch, programme->objective[column], programme->upper[column]);
        for (int k = programme->starts[column]; k < programme->starts[column + 1]; k++)
            column_batch_entry(&batch, (uint32_t)programme->rows[k], programme->values[k]);
    }
    column_batch_flush(&batch, sifting->model);
}

static void solution_take(const struct sifting *sifting, double *ret_x, double *ret_prices)
{
    const struct assign_programme *programme = sifting->programme;
    const double *x = clp()->primalColumnSolution(sifting->model), *prices = clp()->dualRowSolution(sifting->model);

    for (uint32_t i = 0; i < programme->column_count; i++)
        ret_x[i] = 0;
    for (uint32_t i = 0; i < sifting->count; i++)
        ret_x[sifting->chosen[i]] = fmin(fmax(x[i], 0), programme->upper[sifting->chosen[i]]);
    for (uint32_t i = 0; i < programme->row_count; i++)
        ret_prices[i] = fabs(prices[i]);
}

int sift_solve(const struct assign_programme *programme, double *ret_x, double *ret_prices, uint64_t *ret_work,
               struct err *err)
{
    struct sifting sifting;
    int status = 0;

    sifting_init(&sifting, programme);
    choose_first(&sifting);
    for (bool first = true; status == 0 && sifting.known < sifting.count; first = false) {
        model_extend(&sifting);
        if (first)
            clp()->dual(sifting.model, 0);
        else
            clp()->primal(sifting.model, 0); /* the old solution is still feasible */
        status = clp()->status(sifting.model);
        *ret_work += relax_work(sifting.model, sifting.count, programme->row_count);
        if (status == 0)
            choose_more(&sifting);
    }
    if (status == 0)
        solution_take(&sifting, ret_x, ret_prices);
    sifting_done(&sifting);
    return status == 0 ? 0 : relax_failed(status, err);
}
