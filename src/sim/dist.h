/* dist.h: numbers that chance draws, as a scenario says.
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
 * A parameter may be a distribution itself: it is drawn each time, or once for all when the distribution is *settled*, as is done
 * for each shape of jobs. By inverse transforms of our own generator's numbers, so that a seed gives the same numbers everywhere that the C
 * library's logarithm (and GSL) does. */
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
    DIST_LAWS, /* from here on they are those of laws.h, in its order */
};
#define DIST_COUNT (DIST_LAWS + LAW_COUNT)
#define DIST_PARAMETERS 2

struct dist_choice {
    double upto;             /* its weight and those before it, as parts of 1 */
    const struct dist *dist; /* or NULL: */
    const struct expr *word; /* a value that is no number, of the scenario's tree */
};

struct dist {
    unsigned kind;                                  /* an enum dist_kind, or DIST_LAWS and an enum law */
    bool whole;                                     /* rounded */
    double least, most;                             /* what is drawn is not outside */
    double value;                                   /* FIXED */
    const struct dist *parameters[DIST_PARAMETERS]; /* in the order above */
    const struct dist_choice *choices;
    uint32_t choice_count;
};

/* A number; 0 for a word. */
double dist_draw(const struct dist *dist, struct rng *rng);

/* Which number, or which word: the other is not set, and `ret_word` NULL for a number. */
bool dist_draw_any(const struct dist *dist, struct rng *rng, double *ret_number, const struct expr **ret_word);

/* The same with its parameters drawn, and with one of its choices if these are distributions. Lives in the arena. */
const struct dist *dist_settle(const struct dist *dist, struct rng *rng, struct arena *arena);

/* Is what it draws always a whole number? */
bool dist_is_whole(const struct dist *dist);

#ifdef __cplusplus
}
#endif
#endif
