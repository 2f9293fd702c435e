/* twin_sift.c: a linear programme that is solved by a few of its columns has the value of the whole one, and its solution keeps to the limits.
 *
 * Each round is a programme like those of a queue: columns in runs, one run a group, each with a part of a few shelves. BERTH_SEED and BERTH_ROUNDS
 * choose the input. */
#include "common/lang.h"
#include "common/tap.h"

#include "lang/base/rng.h"
#include "match/assign/relax.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GROUPS_MAX 20
#define SHELVES_MAX 60
#define ROWS_MAX (GROUPS_MAX + 2 * SHELVES_MAX)
#define COLUMNS_MAX (GROUPS_MAX * SHELVES_MAX)

_Static_assert(COLUMNS_MAX < SIFT_COLUMNS, "relax_clp must not sift these itself");

struct random_programme {
    struct assign_programme lp;
    double objective[COLUMNS_MAX], upper[COLUMNS_MAX], values[COLUMNS_MAX * 3], bounds[ROWS_MAX];
    int starts[COLUMNS_MAX + 1], rows[COLUMNS_MAX * 3];
};

static double some(struct rng *rng, unsigned most)
{
    return (double)(1 + rng_below(rng, most));
}

static void column_make(struct random_programme *random, struct rng *rng, uint32_t group, uint32_t row, int *entry)
{
    uint32_t column = random->lp.column_count++;

    random->objective[column] = 1 + (rng_below(rng, 3) ? 0 : some(rng, 100) / 1000);
    random->upper[column] = some(rng, 20);
    random->rows[*entry] = (int)group;
    random->values[(*entry)++] = 1;
    for (uint32_t q = 0; q < 2; q++)
        if (rng_below(rng, 4)) {
            random->rows[*entry] = (int)(row + q);
            random->values[(*entry)++] = some(rng, 30) / 30;
        }
    random->starts[column + 1] = *entry;
}

static void programme_make(struct random_programme *random, struct rng *rng)
{
    uint32_t groups = 1 + (uint32_t)rng_below(rng, GROUPS_MAX), shelves = 1 + (uint32_t)rng_below(rng, SHELVES_MAX);
    uint64_t density = 10 + rng_below(rng, 90);
    int entry = 0;

    random->lp = (struct assign_programme){.row_count = groups + 2 * shelves,
                                           .objective = random->objective,
                                           .upper = random->upper,
                                           .starts = random->starts,
                                           .rows = random->rows,
                                           .values = random->values,
                                           .bounds = random->bounds};
    random->starts[0] = 0;
    for (uint32_t i = 0; i < random->lp.row_count; i++)
        random->bounds[i] = i < groups ? some(rng, 30) : some(rng, 4);
    for (uint32_t i = 0; i < groups; i++)
        for (uint32_t s = 0; s < shelves; s++)
            if (rng_below(rng, 100) < density || s == 0)
                column_make(random, rng, i, groups + 2 * s, &entry);
}

/* The value; -1 when a limit is not kept. */
static double solution_value(const struct assign_programme *lp, const double *x)
{
    double used[ROWS_MAX] = {0}, value = 0;

    for (uint32_t i = 0; i < lp->column_count; i++) {
        if (x[i] < 0 || x[i] > lp->upper[i])
            return -1;
        value += x[i] * lp->objective[i];
        for (int k = lp->starts[i]; k < lp->starts[i + 1]; k++)
            used[lp->rows[k]] += x[i] * lp->values[k];
    }
    for (uint32_t i = 0; i < lp->row_count; i++)
        if (used[i] > lp->bounds[i] + 1e-6)
            return -1;
    return value;
}

/* What the prices say: nothing is worth more. */
static double prices_bound(const struct assign_programme *lp, double *prices)
{
    struct programme programme = {.lp = *lp, .prices = prices};

    return programme_bound(&programme);
}

int main(void)
{
    uint64_t seed = lang_setting("BERTH_SEED", 1), rounds = lang_rounds(300), columns = 0;
    static struct random_programme random;
    static double whole[COLUMNS_MAX], sifted[COLUMNS_MAX], prices[ROWS_MAX];
    int failed = 0, differ = 0, loose = 0;

    for (uint64_t round = 0; round < rounds && failed + differ + loose < 10; round++) {
        uint64_t work = 0;
        struct rng rng;
        struct err err;
        double value, best, bound;

        rng_init(&rng, rng_mix(seed) + round);
        programme_make(&random, &rng);
        columns += random.lp.column_count;
        if (relax_clp(NULL, &random.lp, whole, prices, &work, &err) < 0 ||
            sift_solve(&random.lp, sifted, prices, &work, &err) < 0) {
            tap_diag("seed %llu, round %llu: %s", (unsigned long long)seed, (unsigned long long)round, err.text);
            failed++;
            continue;
        }
        best = solution_value(&random.lp, whole);
        value = solution_value(&random.lp, sifted);
        bound = prices_bound(&random.lp, prices);
        if (best < 0 || fabs(value - best) > 1e-6 || bound < best - 1e-7 || bound > best + 1e-5)
            tap_diag("seed %llu, round %llu: %.9f by some columns, bound %.9f; %.9f by all", (unsigned long long)seed,
                     (unsigned long long)round, value, bound, best);
        differ += best < 0 || fabs(value - best) > 1e-6;
        loose += bound < best - 1e-7 || bound > best + 1e-5;
    }
    tap_ok(failed == 0, "every programme is solved (%llu columns in all)", (unsigned long long)columns);
    tap_ok(differ == 0, "with some of the columns the value is that of all, and every limit is kept");
    tap_ok(loose == 0, "the prices of what is solved so are a bound of all columns, and no larger than the value");
    return tap_done();
}
