/* profile.h: what a composition rests on, or why there is none (8.1), and contracts that can be checked later.
 *
 *     minimal   of each resource the characteristics that are in some requirement of another       of a composition (8.3)
 *     full      of each resource its characteristics and requirements                              of a composition (8.4)
 *     failure   of each resource the requirements that some other does not meet                    of none (8.5)
 *
 * The parts of a profile are resources themselves, with class and name, in the order of the composition, so that they can be written and
 * read as documents. Preferences are no part of them. */
#ifndef BERTH_MATCH_GRDL_PROFILE_H
#define BERTH_MATCH_GRDL_PROFILE_H

#include "match/grdl/matcher.h"

#ifdef __cplusplus
extern "C" {
#endif

enum grdl_profile_kind { GRDL_PROFILE_MINIMAL, GRDL_PROFILE_FULL, GRDL_PROFILE_FAILURE };
extern const char *const grdl_profile_words[3]; /* "minimal", "full", "failure" */

struct grdl_profile {
    enum grdl_profile_kind kind;
    struct grdl_resources parts;
};

void grdl_profile_done(struct grdl_profile *profile);

/* Makes the profile of peers; with GRDL_ONE_WAY, of exactly two, and the requirements of the first do not count. -1 when they are a composition
 * (for a failure) or are not (for the others). */
int grdl_profile_make(enum grdl_profile_kind kind, enum grdl_mode mode, const struct grdl_reading *const *readings,
                      uint32_t count, struct grdl_profile *ret_profile, struct err *err);

/* What a change did to a contract. */
enum grdl_breach_kind {
    GRDL_BREACH_MISSING, /* minimal: a characteristic that was agreed upon is no longer there */
    GRDL_BREACH_UNMET,   /* full: a requirement (of the contract, or a new one) is not met any more */
};
struct grdl_breach {
    enum grdl_breach_kind kind;
    uint32_t by;                  /* the part whose characteristics do not suffice */
    uint32_t of;                  /* the part whose requirement it is; for a missing characteristic the same as `by` */
    const struct grdl_char *what; /* lent from a part of the contract, or from a resource as it is now */
};
struct grdl_breaches {
    struct grdl_breach *items;
    uint32_t count, room;
};
void grdl_breaches_done(struct grdl_breaches *breaches);

/* Checks a minimal or full profile against resources as they are now: `now[i]` stands for part i, NULL: it has not changed. True when the profile
 * still holds; else `ret_breaches`, unless it is NULL, tells all that does not hold. */
bool grdl_contract_holds(struct grdl_consumer *consumer, const struct grdl_profile *contract, enum grdl_mode mode,
                         const struct grdl_resource *const *now, struct grdl_breaches *ret_breaches);

/* Which dimensions fail most, so that they are tested first. */
struct grdl_failures {
    uint64_t *counts; /* by dimension */
    uint32_t room;
};
void grdl_failures_init(struct grdl_failures *failures);
void grdl_failures_done(struct grdl_failures *failures);
uint64_t grdl_failures_of(const struct grdl_failures *failures, uint32_t dimension);
void grdl_failures_note(struct grdl_failures *failures, uint32_t dimension);

/* The same answer as grdl_matches; the requirements of dimensions that failed most often are tested first, and a failure is noted. */
bool grdl_matches_learning(const struct grdl_reading *a, const struct grdl_reading *b, struct grdl_failures *failures,
                           struct grdl_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
