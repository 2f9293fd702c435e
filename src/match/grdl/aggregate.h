/* aggregate.h: several resources as one (6.6.5).
 *
 *     pentium  bench 0.9 \  bench adds, cpus adds (1 where it is missing), os must agree
 *     amd      bench 1.1  >                                                              cpus 2, bench 2.0, os linux
 *
 * How dimensions merge is declared. The requirements of all parts hold for the whole; preferences are left out, since there is no way to
 * combine them (7.5). */
#ifndef BERTH_MATCH_GRDL_AGGREGATE_H
#define BERTH_MATCH_GRDL_AGGREGATE_H

#include "match/grdl/matcher.h"

#ifdef __cplusplus
extern "C" {
#endif

enum grdl_merge {
    GRDL_MERGE_UNITE, /* all values of all parts */
    GRDL_MERGE_ADD,   /* the sum: one number for each part; the rule says what a part without one counts */
    GRDL_MERGE_AGREE, /* the same values in all parts of the classes that have the dimension */
    GRDL_MERGE_LEAST, /* the smallest, the largest value: one for each part, likewise */
    GRDL_MERGE_MOST,
    GRDL_MERGE_DROP, /* not in the whole */
};
#define GRDL_MERGES (GRDL_MERGE_DROP + 1)
extern const char *const grdl_merge_words[GRDL_MERGES]; /* "unite", "add", "agree", "least", "most", "drop" */

struct grdl_merge_rule {
    const char *dimension; /* NULL: every other dimension; it must be the last rule. Without it they unite */
    enum grdl_merge merge;
    const char
        *missing; /* the value of a part without the dimension, as text; NULL: such a part cannot be merged by it */
};

/* Makes the whole, of the class and name given; the caller frees it. NULL and the reason when the parts cannot be merged. */
struct grdl_resource *grdl_aggregate(struct grdl_consumer *consumer, const struct grdl_merge_rule *rules,
                                     uint32_t rule_count, const struct grdl_reading *const *parts, uint32_t count,
                                     const char *class_name, const char *name, struct err *err);

/* Looks for parts whose whole is a peer of `task`: as few as possible, in the order of the candidates; at most `parts_max`. Parts whose own
 * requirements the task does not meet are left out. `ret_parts` needs room for parts_max. Returns how many; 0 when none were found before `work`
 * wholes were tried. */
uint32_t grdl_aggregate_find(struct grdl_consumer *consumer, const struct grdl_merge_rule *rules, uint32_t rule_count,
                             const struct grdl_reading *task, const struct grdl_reading *const *candidates,
                             uint32_t count, uint32_t parts_max, uint64_t work, uint32_t *ret_parts);

#ifdef __cplusplus
}
#endif
#endif
