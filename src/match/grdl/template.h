/* template.h: resources that stand for many (8.2).
 *
 *     A is a template of B:  the characteristics of A are among those of B, and A's requirement space lies in B's (8.6).
 *     Then whoever matches A as a peer matches B (theorem 8.2.1), unless it looks at all characteristics of a dimension.
 *
 *     match-equivalent queue     every member is a peer of T;        a candidate C is good for all when T is a template of C
 *     shared-composition queue   T is a template of every member;    a candidate C is good for all when it is a peer of T
 *
 * Requirements that look at all characteristics (set-wise, != without a value) have no place in a template. In a member or a candidate
 * they are tested one by one, since the theorem does not cover them. */
#ifndef BERTH_MATCH_GRDL_TEMPLATE_H
#define BERTH_MATCH_GRDL_TEMPLATE_H

#include "match/grdl/rank.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The three ways to treat preferences (8.2.4). */
enum grdl_template_prefs {
    GRDL_PREFS_OF_MEMBERS,  /* the template has none: members and candidates rank each other */
    GRDL_PREFS_OF_TEMPLATE, /* members have none: the template's rank the candidates */
    GRDL_PREFS_EQUIVALENT,  /* those of the other order as the template's do, and may order more */
};
extern const char *const grdl_template_prefs_words[3]; /* "members", "template", "equivalent" */

/* May the reading be a template? -1, and the requirement that may not be in one. */
int grdl_template_check(const struct grdl_reading *reading, struct err *err);

/* Is A a template of B (8.6)? grdl_is_template_with adds the term for preferences that `prefs` asks for. */
bool grdl_is_template(const struct grdl_reading *a, const struct grdl_reading *b);
bool grdl_is_template_with(const struct grdl_reading *a, const struct grdl_reading *b, enum grdl_template_prefs prefs);

enum grdl_queue_kind { GRDL_MATCH_EQUIVALENT, GRDL_SHARED_COMPOSITION };
extern const char *const grdl_queue_words[2]; /* "match-equivalent", "shared-composition" */

struct grdl_queue {
    enum grdl_queue_kind kind;
    enum grdl_template_prefs prefs;
    bool
        partial; /* members may be described in part: they are tested in the dimensions that they share with the template */
    const struct grdl_reading *head;     /* the template; lent */
    const struct grdl_reading **members; /* lent, in their order */
    uint32_t count, room;
    bool set_wise; /* some member looks at all characteristics of a dimension */
};

/* Begins a queue. -1 when the reading may not be a template, or has preferences where `prefs` says that it has none. */
int grdl_queue_init(struct grdl_queue *queue, enum grdl_queue_kind kind, enum grdl_template_prefs prefs, bool partial,
                    const struct grdl_reading *head, struct err *err);
void grdl_queue_done(struct grdl_queue *queue);

/* Adds a member. -1 and the reason when the relation to the template does not hold. */
int grdl_queue_add(struct grdl_queue *queue, const struct grdl_reading *member, struct err *err);

/* Is the candidate good for every member by the template alone? */
bool grdl_queue_takes(const struct grdl_queue *queue, const struct grdl_reading *candidate, struct grdl_counts *counts);

/* The resource as it is now, just before a composition is realised; NULL: it is gone. */
typedef const struct grdl_reading *grdl_current_fn(void *user, const struct grdl_reading *member);

/* Offers a candidate in two stages: first to the template; then to member by member in the order of the queue (or, where the candidate ranks
 * members, in its order), each as it is now, as a peer in full. Returns the number of the first member that is good, or UINT32_MAX. `current` may
 * be NULL: members are as they were. Where the theorem covers everything and members do not change, the second stage is not needed and not done. */
uint32_t grdl_queue_offer(const struct grdl_queue *queue, const struct grdl_reading *candidate,
                          grdl_current_fn *current, void *user, struct grdl_counts *counts);

#ifdef __cplusplus
}
#endif
#endif
