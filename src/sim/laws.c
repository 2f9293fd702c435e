/* laws.c: inverse distribution functions, from GSL. */
#include "sim/laws.h"

#ifdef BERTH_GSL

#include "lang/base/library.h"
#include "lang/base/sonames.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_zeta.h>
#include <math.h>

#define WHOLE_MOST 1e15 /* the search for whole numbers ends here */

/* The functions that are called, without the gsl_ in front. */
#define LIBGSL_FUNCTIONS(X)  \
    X(cdf_beta_Pinv)         \
    X(cdf_gamma_Pinv)        \
    X(cdf_pareto_Pinv)       \
    X(cdf_poisson_P)         \
    X(cdf_ugaussian_Pinv)    \
    X(cdf_weibull_Pinv)      \
    X(set_error_handler_off) \
    X(sf_hzeta)

static struct libgsl {
#define X(name) __typeof__(gsl_##name) *name;
    LIBGSL_FUNCTIONS(X)
#undef X
} functions;
static const char *const function_names[] = {
#define X(name) "gsl_" #name,
    LIBGSL_FUNCTIONS(X)
#undef X
};
static struct library library = LIBRARY(SONAME_GSL, "laws of chance are computed by GSL", function_names, functions);

static const struct libgsl *libgsl(void)
{
    return library_need(&library);
}

/* The probability of a number up to `whole`. */
typedef double whole_fn(double whole, double parameter);

static double poisson_upto(double whole, double mean)
{
    return whole > 4e9 ? 1 : libgsl()->cdf_poisson_P((unsigned)whole, mean);
}

static double zipf_upto(double whole, double exponent)
{
    return 1 - libgsl()->sf_hzeta(exponent, whole + 1) / libgsl()->sf_hzeta(exponent, 1);
}

/* The least whole number, from `least` on, whose probability up to it reaches `unit`: found by doubling, then by halving. */
static double whole_find(whole_fn *upto, double parameter, double unit, double least)
{
    double below = least - 1, step = 1, above;

    while (below + step < WHOLE_MOST && upto(below + step, parameter) < unit) {
        below += step;
        step *= 2;
    }
    above = below + step;
    while (above - below > 1) {
        double middle = floor((above + below) / 2);

        if (upto(middle, parameter) < unit)
            below = middle;
        else
            above = middle;
    }
    return above;
}

bool laws_known(void)
{
    return true;
}

static double quantile(enum law law, double unit, double first, double second)
{
    switch (law) {
    case LAW_GAUSSIAN:
        return first + second * libgsl()->cdf_ugaussian_Pinv(unit);
    case LAW_GAMMA:
        return first > 0 && second > 0 ? libgsl()->cdf_gamma_Pinv(unit, first, second) : 0;
    case LAW_WEIBULL:
        return first > 0 && second > 0 ? libgsl()->cdf_weibull_Pinv(unit, second, first) : 0;
    case LAW_PARETO:
        return first > 0 && second > 0 ? libgsl()->cdf_pareto_Pinv(unit, first, second) : 0;
    case LAW_BETA:
        return first > 0 && second > 0 ? libgsl()->cdf_beta_Pinv(unit, first, second) : 0;
    case LAW_POISSON:
        return first > 0 && first < 1e9 ? whole_find(poisson_upto, first, unit, 0) : floor(first);
    case LAW_ZIPF:
        return first > 1 ? whole_find(zipf_upto, first, unit, 1) : 0;
    }
    return 0;
}

double law_quantile(enum law law, double unit, double first, double second)
{
    double found;

    libgsl()->set_error_handler_off(); /* by default GSL aborts; now it returns NaN where it cannot compute */
    found = quantile(law, unit, first, second);
    return isnan(found) ? 0 : found;
}

#else

bool laws_known(void)
{
    return false;
}

double law_quantile(enum law law, double unit, double first, double second)
{
    (void)law;
    (void)unit;
    (void)first;
    (void)second;
    return 0;
}

#endif
