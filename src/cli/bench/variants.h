/* variants.h: the workstation of the dissertation's figure 13 in many variants, as text, for measurements.
 *
 * They differ in digits of names, times, loads and sizes, so that neither the branch predictor nor a cache can learn the text by heart;
 * the lengths stay. All are made before anything is measured. */
#ifndef BERTH_CLI_BENCH_VARIANTS_H
#define BERTH_CLI_BENCH_VARIANTS_H

#include "lang/text/build.h"

#define VARIANT_LENGTH 886 /* bytes of each, without the blanks around `=` and between lines */

struct variants {
    struct symbols *symbols;
    struct build build;
    char *texts; /* all ads, one behind another */
    uint64_t count;
};

/* The first is the figure's own. */
void variants_init(struct variants *variants, uint64_t seed, uint64_t count);
void variants_done(struct variants *variants);

struct tree *variants_parse(struct variants *variants, uint64_t n); /* the caller unrefs it */

#endif
