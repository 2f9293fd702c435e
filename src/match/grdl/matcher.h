/* matcher.h: who can be composed with whom (6.6). Matchers propose; they compose nothing.
 *
 * A single matcher proposes every composition there is; they may share resources. A multi matcher proposes some that share none: of the
 * compositions that a single matcher finds, first those that are the only one of a resource, then the first one left, and so on. */
#ifndef BERTH_MATCH_GRDL_MATCHER_H
#define BERTH_MATCH_GRDL_MATCHER_H

#include "match/grdl/sets.h"

#ifdef __cplusplus
extern "C" {
#endif

enum grdl_mode {
    GRDL_ONE_WAY, /* the characteristics of the first meet the requirements of the second */
    GRDL_PEER,    /* and the other way round */
    GRDL_PARTIAL, /* one way, in the dimensions that the first has: 6.3.3 */
    GRDL_PARTIAL_PEER,
};

bool grdl_pair(enum grdl_mode mode, const struct grdl_reading *a, const struct grdl_reading *b,
               struct grdl_counts *counts);

/* Does every slave meet the requirements of the master (6.19)? */
bool grdl_hierarchy(const struct grdl_reading *const *slaves, uint32_t count, const struct grdl_reading *master,
                    struct grdl_counts *counts);

/* Does each meet the requirements of each other (6.21)? */
bool grdl_peers(const struct grdl_reading *const *readings, uint32_t count, struct grdl_counts *counts);

/* Compositions of `size` resources each, as numbers of them: those of composition i begin at members[i * size]. */
struct grdl_compositions {
    uint32_t size;
    uint32_t *members;
    uint32_t count, room;
};
void grdl_compositions_init(struct grdl_compositions *compositions, uint32_t size);
void grdl_compositions_done(struct grdl_compositions *compositions);
void grdl_compositions_add(struct grdl_compositions *compositions, const uint32_t *members);

/* A single matcher of pairs, in the order of the first and then the second: (i, j) with i < j, both ways round where the mode has a direction;
 * when classes are given (not NULL), the first is of the one and the second of the other. At most `limit`. */
struct grdl_pairing {
    enum grdl_mode mode;
    const char *first_class, *second_class;
    uint32_t limit; /* 0: no limit */
};
void grdl_find_pairs(const struct grdl_reading *const *readings, uint32_t count, const struct grdl_pairing *pairing,
                     struct grdl_counts *counts, struct grdl_compositions *ret_pairs);

/* A single matcher of n-way peers: every set of ret_sets->size that grdl_peers accepts, at most `limit` (0: no limit). Stops after `work` pairs
 * were looked at, and returns whether it saw everything. */
bool grdl_find_peers(const struct grdl_reading *const *readings, uint32_t count, uint32_t limit, uint64_t work,
                     struct grdl_counts *counts, struct grdl_compositions *ret_sets);

/* A multi matcher: of the compositions found by a single one, at most `limit` (0: no limit) that share no resource. */
void grdl_exclude(const struct grdl_compositions *found, uint32_t resource_count, uint32_t limit,
                  struct grdl_compositions *ret_chosen);

#ifdef __cplusplus
}
#endif
#endif
