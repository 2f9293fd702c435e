/* variants.h: the workstation of the dissertation's figure 13 in many variants, as text, for measurements.
 *
 * The variants differ in letters and digits of names, times, loads and sizes, so that neither the branch predictor nor a cache can learn the text by
 * heart; their length is the same. All are made before anything is measured. */
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

/* Makes the variants. The first is the ad of the figure itself. */
void variants_init(struct variants *variants, uint64_t seed, uint64_t count);
void variants_done(struct variants *variants);

struct tree *variants_parse(struct variants *variants, uint64_t n); /* the caller unrefs it */

#endif
