/* Statistics against values that are known, laws of chance against their means, figures of a run that can be told by hand. */
#include "common/tap.h"
#include "sim/figures.h"
#include "sim/laws.h"
#include "sim/stats.h"

#include "lang/base/rng.h"

#include <math.h>

#ifdef BERTH_GSL
#include <gsl/gsl_cdf.h>
#endif

static bool near(double a, double b, double off)
{
    return fabs(a - b) <= off;
}

static void test_student(void)
{
    static const struct {
        double probability;
        uint64_t freedom;
        double t; /* as tables have it */
    } rows[] = {{0.975, 1, 12.706}, {0.975, 2, 4.303},      {0.975, 3, 3.182}, {0.975, 10, 2.228},
                {0.975, 19, 2.093}, {0.95, 5, 2.015},       {0.995, 7, 3.499}, {0.975, 120, 1.980},
                {0.9, 30, 1.310},   {0.975, 1000000, 1.960}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tap_ok(near(student_quantile(rows[i].probability, rows[i].freedom), rows[i].t, 0.0006),
               "Student's t of %g with %llu degrees of freedom is %.3f", rows[i].probability,
               (unsigned long long)rows[i].freedom, rows[i].t);
    tap_ok(near(student_quantile(0.025, 19), -student_quantile(0.975, 19), 1e-12) &&
               near(student_quantile(0.5, 4), 0, 1e-9),
           "it is symmetric");
#ifdef BERTH_GSL
    for (uint64_t freedom = 1; freedom <= 3000; freedom += freedom < 40 ? 1 : 271) {
        double ours = student_quantile(0.975, freedom), theirs = gsl_cdf_tdist_Pinv(0.975, (double)freedom);

        if (!near(ours, theirs, 2e-7 * theirs)) {
            tap_ok(false, "it is what GSL says, with %llu degrees of freedom: %.12g and %.12g",
                   (unsigned long long)freedom, ours, theirs);
            return;
        }
    }
    tap_ok(true, "it is what GSL says");
#endif
}

static void test_samples(void)
{
    static const double numbers[] = {2, 4, 4, 4, 5, 5, 7, 9}, one[] = {5};
    static const double equal[] = {3, 3, 3, 3}, alone[] = {7, 0, 0, 0};
    struct sample sample = {0}, single = {0};

    for (int i = 0; i < 8; i++)
        sample_add(&sample, numbers[i]);
    sample_add(&single, one[0]);
    tap_ok(sample.mean == 5 && near(sample_deviation(&sample), sqrt(32.0 / 7), 1e-12) && sample.least == 2 &&
               sample.most == 9,
           "a sample has a mean, a deviation by n - 1, a least and a most");
    tap_ok(near(sample_margin(&sample, 0.95), 2.364624 * sqrt(32.0 / 7) / sqrt(8), 1e-5),
           "the margin is t times the deviation over the root of n");
    tap_ok(sample_margin(&single, 0.95) == 0, "one number says nothing of how sure it is");
    tap_ok(jain_index(equal, 4) == 1 && jain_index(alone, 4) == 0.25 && jain_index(NULL, 0) == 1,
           "Jain's index is 1 when all are equal and 1/n when one has it all");
    tap_ok(near(jain_index(numbers, 8), 1600.0 / (8 * 232), 1e-12), "and between them otherwise");
}

static void test_laws(void)
{
    static const struct {
        const char *name;
        enum law law;
        double first, second, mean, deviation;
    } rows[] = {
        {"gaussian", LAW_GAUSSIAN, 10, 3, 10, 3},
        {"gamma", LAW_GAMMA, 4, 2.5, 10, 5},
        {"weibull", LAW_WEIBULL, 2, 10, 8.862269, 4.632514},
        {"pareto", LAW_PARETO, 5, 8, 10, 2.581989},
        {"beta", LAW_BETA, 2, 3, 0.4, 0.2},
        {"poisson", LAW_POISSON, 7, 0, 7, 2.645751},
        {"zipf", LAW_ZIPF, 8, 0, 1.004255, 0.068443},
    };

    if (!laws_known()) {
        tap_diag("this build has no GSL");
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sample sample = {0};
        const int count = 20000;

        for (int k = 0; k < count; k++)
            sample_add(&sample, law_quantile(rows[i].law, (k + 0.5) / count, rows[i].first, rows[i].second));
        if (!tap_ok(near(sample.mean, rows[i].mean, 0.002 * rows[i].mean) &&
                        near(sample_deviation(&sample), rows[i].deviation, 0.03 * rows[i].deviation),
                    "%s has the mean and the deviation that it should", rows[i].name))
            tap_diag("mean %g, expected %g; deviation %g, expected %g", sample.mean, rows[i].mean,
                     sample_deviation(&sample), rows[i].deviation);
    }
    tap_ok(law_quantile(LAW_GAMMA, 0.5, 0, 1) == 0 && law_quantile(LAW_ZIPF, 0.5, 1, 0) == 0,
           "a parameter that makes no law gives 0");
    tap_ok(law_quantile(LAW_POISSON, 1e-9, 3, 0) == 0 && law_quantile(LAW_POISSON, 0.5, 1000, 0) == 1000,
           "whole numbers are the least with as much below");
}

/* ---------------------------------------------------------------------------------------------------------------- figures */

#define S BATCH_SECOND

/* Two processors, a window of ten seconds, first come first served:
 *
 *     job  comes  asks  runs   starts  ends
 *     1    1      1     100    10      110
 *     2    12     2     50     110     160    waits for both
 *     3    15     1     200    20      220    passes 2 by
 *     ...
 */
static void test_by_hand(void)
{
    static const struct {
        int64_t submit, duration;
        double cpus;
        uint32_t user;
    } jobs[] = {{1, 100, 1, 0}, {12, 50, 2, 1}, {15, 200, 1, 0}, {20, 5, 1, 1}};
    static const int64_t starts[] = {10, 220, 20, 110};
    struct batch_kind kind = {.name = "only", .capacity = {2, INFINITY, INFINITY}, .count = 1};
    struct batch_outcome outcomes[4];
    struct batch_totals totals;
    struct batch_settings settings = {.policy = BATCH_FCFS, .window = {10 * S, 10 * S}, .horizon = 1000ll * S};
    struct figures_settings figured = {.outcomes = outcomes, .processors = 2, .bound = 10 * S, .starved = 60 * S};
    double figures[FIGURE_COUNT], queue[10] = {0}, busy[10] = {0};
    struct batch_work work;
    struct batch_park park;
    bool right = true;

    park_init(&park);
    work_init(&work);
    park_add(&park, &kind);
    for (size_t i = 0; i < 4; i++) {
        struct batch_job *job = work_add(&work);

        *job = (struct batch_job){.submit = jobs[i].submit * S,
                                  .duration = jobs[i].duration * S,
                                  .estimate = jobs[i].duration * S,
                                  .asks = {jobs[i].cpus, 0, 0},
                                  .row = work_row_all(&work, &park),
                                  .user = jobs[i].user};
    }
    work.users = 2;
    settings.work = &work;
    settings.park = &park;
    figured.work = &work;
    tap_ok(batch_run(&settings, outcomes, &totals, NULL) == 0, "a run by hand runs");
    for (size_t i = 0; i < 4; i++)
        right = right && outcomes[i].start == starts[i] * S;
    if (!tap_ok(right, "jobs start at windows, in their order, and who does not fit is passed by"))
        for (size_t i = 0; i < 4; i++)
            tap_diag("job %zu starts at %lld", i + 1, (long long)(outcomes[i].start / S));
    figures_at(&figured, 200ll * S, figures);
    tap_ok(figures[FIGURE_SUBMITTED] == 4 && figures[FIGURE_COMPLETED] == 50 && figures[FIGURE_SCHEDULED] == 25 &&
               figures[FIGURE_WAITING] == 25 && figures[FIGURE_TIMED_OUT] == 0,
           "after 200 s two of four are done, one runs and one waits");
    tap_ok(figures[FIGURE_WAIT_MAX] == 90 && near(figures[FIGURE_WAIT_MEAN], (9 + 5 + 90) / 3.0, 1e-9),
           "waits are of those that started");
    tap_ok(near(figures[FIGURE_UTILISATION], 100.0 * (100 + 180 + 5) / 400, 1e-9) &&
               near(figures[FIGURE_THROUGHPUT], 2 / (200.0 / 3600), 1e-9),
           "processors were busy for 285 of 400 seconds");
    tap_ok(near(figures[FIGURE_SLOWDOWN], (1.09 + 9.5) / 2, 1e-9),
           "a slowdown is bounded: a run of 5 s counts as one of 10 s");
    tap_ok(near(figures[FIGURE_SLOWDOWN_MEDIAN], 1.09, 1e-9) && near(figures[FIGURE_SLOWDOWN_99], 9.5, 1e-9),
           "half of those that are done have no more than the median");
    tap_ok(figures[FIGURE_STARVED] == 50, "who waits for 60 s starves, started or not");
    {
        double slow[2] = {(1.09 + 1.025) / 2, (9.5 + (188.0 + 50) / 50) / 2};

        tap_ok(near(figures[FIGURE_FAIRNESS], jain_index(slow, 2), 1e-9),
               "fairness is between users, by the mean slowdown of each");
    }
    figures_series(&figured, 200ll * S, 10, queue, busy);
    tap_ok(near(queue[0], (9 + 8 + 5) / 20.0, 1e-9) && near(queue[9], 1, 1e-9) && near(busy[0], 10 / 20.0, 1e-9) &&
               near(busy[2], 2, 1e-9),
           "queue and processors over time are means of each part");

    settings.timeout = figured.timeout = 60 * S;
    tap_ok(batch_run(&settings, outcomes, &totals, NULL) == 0 && outcomes[1].start == -1 && outcomes[3].start == -1 &&
               outcomes[2].start == 20 * S,
           "with a timeout of a minute the second and the fourth go");
    figures_at(&figured, 200ll * S, figures);
    tap_ok(figures[FIGURE_TIMED_OUT] == 50 && figures[FIGURE_WAITING] == 0, "and are counted as such");

    settings.timeout = 0;
    settings.window = (struct batch_window){1 * S, 101 * S};
    batch_run(&settings, outcomes, &totals, NULL);
    tap_ok(outcomes[0].start == 2 * S && outcomes[2].start == (12 + 51) * S,
           "a window that adapts is short when nothing runs, and halfway when half of the processors are busy");
    work_done(&work);
    park_done(&park);
}

int main(void)
{
    test_student();
    test_samples();
    test_laws();
    test_by_hand();
    return tap_done();
}
