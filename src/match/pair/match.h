/* match.h: do two ads fit, and how much do they like each other?
 *
 * The match is symmetric: both constraints must be true, each seen from its own ad. A constraint is the attribute Constraint,
 * else Requirements; a missing one counts as true, and anything but true refuses. A *party* is an ad made ready to meet many:
 * its constraint has been specialised against it once. Changing an ad makes a new one, and a new party. */
#ifndef BERTH_MATCH_PAIR_MATCH_H
#define BERTH_MATCH_PAIR_MATCH_H

#include "match/pair/clauses.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What each side says of the other. An absent constraint reads as true, an absent rank as undefined. */
struct match {
    bool matches;
    struct value left_constraint, right_constraint;
    struct value left_rank, right_rank;
};

/* Evaluates both constraints and both ranks. The values live as long as the ads and the arena of the evaluation; each has its own budget. */
void match_ads(const struct env *env, struct arena *arena, const struct tree *left, const struct tree *right,
               struct match *ret);

/* Is the ad's constraint true of the counterpart? One side of the match; `scratch` is left as it was. */
bool match_accepts(const struct env *env, struct arena *scratch, const struct tree *ad, const struct tree *counterpart);

/* Is that attribute of the ad true when the ad meets the counterpart? False when the ad does not have it. */
bool match_says(const struct env *env, struct arena *scratch, const struct tree *ad, const char *attribute,
                const struct tree *counterpart);

/* As match_accepts; the steps of the evaluation are added to `steps`. */
bool match_accepts_counted(const struct env *env, struct arena *scratch, const struct tree *ad,
                           const struct tree *counterpart, uint64_t *steps);

/* The expression that is an ad's constraint, or NULL. */
const struct expr *match_constraint(const struct tree *ad);

struct party {
    struct tree *ad;         /* held */
    struct tree *constraint; /* what is left of the ad's constraint; NULL when it has none */
    struct clauses clauses;  /* of what is left of it */
};

/* Makes a party of the ad, and holds it. `scratch` is left as it was. */
void party_init(struct party *party, const struct env *env, struct arena *scratch, struct tree *ad);
void party_done(struct party *party);

/* Can the party accept anybody? Not when what is left of its constraint is false. match_is_open asks the same of an ad that is not a party. */
bool party_is_open(const struct party *party);
bool match_is_open(const struct env *env, struct arena *scratch, struct tree *ad);

/* Do two parties accept each other? The answer is that of match_ads, with less work; `scratch` is left as it was. */
bool party_matches(const struct env *env, struct arena *scratch, const struct party *left, const struct party *right);

/* A one-way query: is the expression true of the ad? `other.`, TARGET. and plain names are the ad's. */
bool match_query(const struct env *env, struct arena *scratch, const struct tree *query, const struct tree *ad);

/* The same; the steps of the evaluation are added to `steps`. */
bool match_query_counted(const struct env *env, struct arena *scratch, const struct tree *query, const struct tree *ad,
                         uint64_t *steps);

#ifdef __cplusplus
}
#endif
#endif
