/* stats.h: statistics of a few runs: means and their confidence intervals, and how evenly something is shared. */
#ifndef BERTH_SIM_STATS_H
#define BERTH_SIM_STATS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers as they come: their count, their mean, and the sum of the squared differences from the mean (Welford's method). */
struct sample {
    uint64_t count;
    double mean, squares;
    double least, most;
};

void sample_add(struct sample *sample, double number);
double sample_deviation(const struct sample *sample); /* standard deviation, with n - 1; 0 for less than two */

/* Half the width of the interval in which the true mean lies with probability `confidence` (0.95), by Student's t; 0 for
 * less than two numbers, which say nothing. */
double sample_margin(const struct sample *sample, double confidence);

/* The quantile of Student's t with so many degrees of freedom, for that probability (above 0, below 1). It uses the finite sums that the distribution
 * has for whole degrees of freedom, and is right to twelve digits. */
double student_quantile(double probability, uint64_t freedom);

/* Jain's index of fairness: the square of the sum over n times the sum of the squares; 1 when all are equal, 1 / n
 * when one has everything. 1 for no numbers. */
double jain_index(const double *numbers, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
