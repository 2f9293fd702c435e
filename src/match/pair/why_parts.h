/* why_parts.h: what the parts of an explanation share; not installed.
 *
 *     why.c            the pass over the offers, and what is counted there
 *     why_clauses.c    the request's constraint as clauses, and those that exclude each other
 *     why_sets.c       minimal sets of clauses that no offer satisfies together
 *     why_refusals.c   the offers' constraints
 *     why_hints.c      names and types
 *     why_edits.c      changes that open matches
 *     why_attempt.c    one such change, made up and counted
 *     why_change.c     the request, changed */
#ifndef BERTH_MATCH_PAIR_WHY_PARTS_H
#define BERTH_MATCH_PAIR_WHY_PARTS_H

#include "match/pair/why.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WHY_OFFER_BIT ((uint64_t)1 << WHY_CLAUSES_MAX) /* in a pattern of failure: the offer's own constraint */

/* A pattern of failure, and how many offers show it. */
struct why_pattern {
    uint64_t failed;
    size_t count, first;
};

struct why_work {
    const struct env *env;
    struct arena *scratch;
    struct tree *request;
    struct tree *const *offers;
    size_t count;
    struct why *why;
    struct clauses *leaves; /* one per clause of the request, ready to be tested */
    uint64_t steps;         /* evaluation steps so far that tested offers */
    uint64_t meter;         /* all evaluation steps so far */
    uint64_t edits_end;     /* past this value of the meter no edit is tried */
    uint64_t evaluated;     /* clauses whose value an offer's expressions may decide */
    uint64_t *reads;        /* per offer: the names that it may read, as refs_bits has them; 0 until they are needed */
    uint64_t *failed;       /* per offer: the request's clauses that failed, and WHY_OFFER_BIT */
    struct why_pattern *patterns; /* the distinct ones that occur */
    size_t pattern_count;
};

/* Keeps a copy of the buffer's text with the explanation. */
const char *why_text(struct why *why, struct buf *text);

/* Fills why->clauses and work->leaves, and why->conflicts. */
void why_take_apart(struct why_work *work);
void why_find_conflicts(struct why_work *work);

/* Finds the minimal sets that have a member in each of the patterns: at most `room` of them. False when there may be more. */
bool why_minimal_sets(const uint64_t *patterns, size_t count, uint64_t *ret_sets, uint32_t room, uint32_t *ret_count);

struct why_refusals; /* being gathered */
struct why_refusals *why_refusals_new(const struct why_work *work);
void why_refusals_free(struct why_refusals *refusals);
/* Does the offer's constraint take the request? Counts the clauses that refuse; `fits`: the request's own constraint takes the offer. Adds to the
 * steps. */
bool why_refusals_ask(struct why_refusals *refusals, size_t offer, bool fits, uint64_t *steps);
void why_refusals_tell(struct why_refusals *refusals, struct why_work *work);

void why_find_hints(struct why_work *work);
void why_find_edits(struct why_work *work);

/* A change of the request: a clause replaced by another expression (NULL: by true), or an attribute set. */
struct why_swap {
    const struct expr *e; /* the clause; NULL: the attribute is set instead */
    symbol attribute;
    struct tree *to;
};

/* Makes the request with all these changes: a new tree. */
struct tree *why_change(const struct tree *request, const struct why_swap *swaps, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
