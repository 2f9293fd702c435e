/* dist.h: distributions from which a scenario draws random numbers.
 *
 *     fixed        Value
 *     uniform      Least to Most; whole when both are
 *     exponential  Mean
 *     lognormal    Mean, Deviation (of the numbers, not of their logarithms)
 *     choice       one of Values, which may be distributions, by Weights
 *     gaussian     Mean, Deviation       |
 *     gamma        Shape, Scale          |
 *     weibull      Shape, Scale          |  from GSL (laws.h): a build without it refuses them
 *     pareto       Shape, Scale          |
 *     beta         Shape, Second         |
 *     poisson      Mean                  |
 *     zipf         Exponent              |
 *
 * A parameter may be a distribution itself: it is drawn each time, or once for all when the distribution is *settled*, as for each shape
 * of jobs. Numbers come from inverse transforms of our own generator's numbers, so that a seed gives the same numbers wherever the C
 * library's logarithm (and GSL) gives the same. */
#ifndef BERTH_SIM_DIST_H
#define BERTH_SIM_DIST_H

#include "lang/base/arena.h"
#include "lang/base/rng.h"
#include "lang/text/tree.h"
#include "sim/laws.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dist_kind {
    DIST_FIXED,
    DIST_UNIFORM,
    DIST_EXPONENTIAL,
    DIST_LOGNORMAL,
    DIST_CHOICE,
    DIST_LAWS, /* from here on: the laws of laws.h, in its order */
};
#define DIST_COUNT (DIST_LAWS + LAW_COUNT)
#define DIST_PARAMETERS 2

struct dist_choice {
    double upto;             /* the weights up to this choice, as a part of 1 */
    const struct dist *dist; /* or NULL: */
    const struct expr *word; /* a value that is not a number, from the scenario's tree */
};

struct dist {
    unsigned kind;                                  /* an enum dist_kind, or DIST_LAWS plus an enum law */
    bool whole;                                     /* drawn numbers are rounded */
    double least, most;                             /* drawn numbers are kept within these */
    double value;                                   /* FIXED */
    const struct dist *parameters[DIST_PARAMETERS]; /* in the order above */
    const struct dist_choice *choices;
    uint32_t choice_count;
};

/* Draws a number; 0 for a word. */
double dist_draw(const struct dist *dist, struct rng *rng);

/* Draws a number (true) or a word (false); `ret_word` is NULL for a number. */
bool dist_draw_any(const struct dist *dist, struct rng *rng, double *ret_number, const struct expr **ret_word);

/* The same distribution with its parameters drawn, and with one of its choices if these are distributions. It lives in the arena. */
const struct dist *dist_settle(const struct dist *dist, struct rng *rng, struct arena *arena);

/* Is every number that it draws whole? */
bool dist_is_whole(const struct dist *dist);

#ifdef __cplusplus
}
#endif
#endif
