/* laws.h: the distributions that GSL has, by their inverse distribution functions.
 *
 * A number between 0 and 1 goes in, a number of that distribution comes out. So all randomness comes from our own generator, one draw a number, and a
 * seed gives the same numbers wherever GSL does. A build without GSL has none of these distributions. */
#ifndef BERTH_SIM_LAWS_H
#define BERTH_SIM_LAWS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum law {
    LAW_GAUSSIAN, /* mean, deviation */
    LAW_GAMMA,    /* shape, scale */
    LAW_WEIBULL,  /* shape, scale */
    LAW_PARETO,   /* shape, least */
    LAW_BETA,     /* two shapes; from 0 to 1 */
    LAW_POISSON,  /* mean; whole */
    LAW_ZIPF,     /* exponent, above 1; whole, from 1 on */
};
#define LAW_COUNT (LAW_ZIPF + 1)

/* Does this build have GSL? */
bool laws_known(void);

/* The quantile of a law: a part `unit` (above 0, below 1) of all numbers lies below it. Parameters that the law does not allow give 0. */
double law_quantile(enum law law, double unit, double first, double second);

#ifdef __cplusplus
}
#endif
#endif
