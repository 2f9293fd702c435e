/* workload.h: the ads of the dissertation's section 4.6, made from a seed.
 *
 *     object  [ A = 3; B = 6; C = 7; D = 5; Constraint = other.Z <= 5 && other.Y <= 6 && other.X >= 1 && other.W <= 7 ]
 *     query   [ Z = 0; Y = 9; W = 6; Constraint = other.A >= 0 && other.B <= 6 && other.C >= 1 && other.D >= 7 ]
 *
 * Every attribute of the other side is bounded from above or from below; one in twenty attributes and bounds is left out. */
#ifndef BERTH_CLI_BENCH_WORKLOAD_H
#define BERTH_CLI_BENCH_WORKLOAD_H

#include "lang/base/rng.h"
#include "lang/text/build.h"

#define WORKLOAD_ATTRIBUTES_MAX 13 /* with more, the letters of both sides would meet */

/* How large the domains of the attributes are: 10 (T), as many values as there are objects (D), or half of each (M). */
enum workload_mix { WORKLOAD_T, WORKLOAD_M, WORKLOAD_D };

struct workload {
    struct tree **objects, **queries;
    size_t object_count, query_count;
};

/* Makes the ads. The large domains have as many values as there are objects. */
void workload_init(struct workload *workload, struct symbols *symbols, uint64_t seed, size_t objects, size_t queries,
                   unsigned attributes, enum workload_mix mix);
void workload_done(struct workload *workload);

#endif
