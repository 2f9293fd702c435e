/* stats.h: what a few runs say about all: means and how sure they are, and how evenly something is shared. */
#ifndef BERTH_SIM_STATS_H
#define BERTH_SIM_STATS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers as they come: how many, their mean, and the sum of the squares of what they are off it (Welford's way). */
struct sample {
    uint64_t count;
    double mean, squares;
    double least, most;
};

void sample_add(struct sample *sample, double number);
double sample_deviation(const struct sample *sample); /* of the numbers, by n - 1; 0 for less than two */

/* Half the width of the interval in which the true mean lies with probability `confidence` (0.95), by Student's t; 0 for less than two
 * numbers: nothing is known then. */
double sample_margin(const struct sample *sample, double confidence);

/* The number that Student's t with so many degrees of freedom is below with that probability (above 0, below 1). From the finite sums that
 * its distribution is for whole degrees of freedom; right to twelve digits. */
double student_quantile(double probability, uint64_t freedom);

/* Jain's index of fairness: the square of the sum over n times the sum of the squares; 1 when all are equal, 1 / n when one has it all.
 * 1 for none. */
double jain_index(const double *numbers, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
