/* spread.h: summarises many numbers: how many, their sum, the largest, and roughly their distribution.
 *
 * Buckets are a thirty-second of a power of two wide, so a quantile is right to about three parts in a hundred. */
#ifndef BERTH_SIM_SPREAD_H
#define BERTH_SIM_SPREAD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPREAD_BITS 5
#define SPREAD_BUCKETS (64 << SPREAD_BITS)

struct spread {
    uint64_t count, most;
    double sum;
    uint64_t buckets[SPREAD_BUCKETS];
};

void spread_add(struct spread *spread, uint64_t number);
double spread_mean(const struct spread *spread);                  /* 0 when there are none */
double spread_quantile(const struct spread *spread, double part); /* a part `part` of all numbers is not above it */

#ifdef __cplusplus
}
#endif
#endif
