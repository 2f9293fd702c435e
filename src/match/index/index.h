/* index.h: many ads of one side, so that an ad of the other side meets only those it could match (chapter 4).
 *
 * The index holds both what the ads have and what they ask for. Each ad is one *row*, or several when its constraint is a disjunction: a row is a
 * rectangle, an interval in each dimension (section 4.2). A probe intersects, 512 rows at a time, the rows whose attributes satisfy the ad's
 * constraint with the rows whose constraints its attributes satisfy (4.5.4). What the dimensions cannot tell (*deviant* attributes and clauses) is
 * evaluated for the rows that are left, and for no others; so the answer is that of trying every pair.
 *
 * Only attributes that somebody asks for have dimensions (4.4.3): a dimension is made when a second ad asks for it; until then the clause is
 * evaluated. A caller that knows what will be asked says so with index_learn.
 *
 * The environment may move its time and its values, but the names that it gives must stay the same.
 *
 * Ads have numbers that the caller chooses. They should be small: the index keeps a table of them. */
#ifndef BERTH_MATCH_INDEX_INDEX_H
#define BERTH_MATCH_INDEX_INDEX_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

#define INDEX_DIMS_MAX 256    /* with more, the one asked for longest ago goes; a clause without one is evaluated */
#define INDEX_PROFILES_MAX 32 /* rectangles of one ad; a disjunction with more is evaluated */

struct index;

struct index *index_new(void);
void index_free(struct index *index);

/* Tells the index that ads of the other side like this one will come: what it asks for gets dimensions at once. */
void index_learn(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad);

/* From now on ads share rows when they are the same to the other side (section 5.8), which reads only these names of them, be it by constraints,
 * ranks, residuals or policies. The index must be empty. `heads_only`: of ads that share, a probe finds only the one with the smallest number. When
 * other names are read, make a new index. */
void index_share(struct index *index, struct symbols *symbols, const symbol *names, uint32_t count, bool heads_only);

/* From now on rows that are alike are laid side by side when there are many of them, so that a probe passes over most of those that cannot fit. The index
 * must be empty. Not for callers of index_seek who count on the order of the rows. */
void index_lay_near(struct index *index);

/* Puts in many ads at once, numbered 0 to count - 1 (NULL: no ad has that number); the index must be empty. Much quicker than one by one. Ads are
 * held. */
void index_build(struct index *index, const struct env *env, struct arena *scratch, struct tree *const *ads,
                 uint32_t count);
/* The same, until reading the ads has taken that many steps by the environment's meter: the ads below the number that it returns are in. */
uint32_t index_build_some(struct index *index, const struct env *env, struct arena *scratch, struct tree *const *ads,
                          uint32_t count, uint64_t steps);

/* Puts in an ad, or replaces the one of that number; takes one out. */
void index_put(struct index *index, const struct env *env, struct arena *scratch, uint32_t id, struct tree *ad);
void index_remove(struct index *index, uint32_t id);

/* Replaces an ad by one that is the same to the other side: they differ only in what nobody reads. Not for an index whose ads share rows
 * (index_share). */
void index_swap(struct index *index, uint32_t id, struct tree *ad);

/* Reads again, at the time of the environment, the ads whose constraints depend on the time. */
void index_refresh(struct index *index, const struct env *env, struct arena *scratch);

/* Calls `found` for each ad that matches: both constraints are true. In no particular order. `scratch` is left as it was. `found` must not change
 * the index. */
typedef void index_found_fn(void *user, uint32_t id);
void index_probe(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                 index_found_fn *found, void *user);

/* The same without an evaluation: calls `found` for each ad that may match, and tells whose constraint must still be evaluated; when neither must,
 * the ad matches. For callers that evaluate each pair in an environment of its own. */
enum index_doubt { INDEX_DOUBT_OWN = 1 /* that of the probing ad */, INDEX_DOUBT_FOUND = 2 /* that of the ad found */ };
typedef void index_sift_fn(void *user, uint32_t id, unsigned doubts);
void index_sift(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                index_sift_fn *found, void *user);

/* Ads may have places, the smaller the better for every prober: a function tells that of an ad when the ad is put in. The index must be empty, and its ads
 * share no rows. A place may become larger at any time; when it becomes smaller, the caller says so by index_advance. */
typedef uint64_t index_place_fn(void *user, uint32_t id);
void index_set_places(struct index *index, index_place_fn *place, void *user);
void index_advance(struct index *index, uint32_t id);

/* As index_sift, for callers that want the first: of the ads whose places are beyond *bound, which `found` may lower, not all are found. */
void index_sift_within(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                       const uint64_t *bound, index_sift_fn *found, void *user);

/* Finds the ads that may match in slices: from that row on, until `found` returns false. Returns the row to go on from, or INDEX_END. The rows are
 * in the order in which index_build was given the ads, until the index has changed. Of ads that share a row, only the first is found. */
#define INDEX_END UINT32_MAX
typedef bool index_seek_fn(void *user, uint32_t id);
uint32_t index_seek(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                    uint32_t from, index_seek_fn *found, void *user);

/* The next ad of those that share a row with that one, in the order of their numbers; INDEX_END when it is the last. */
uint32_t index_next(const struct index *index, uint32_t id);

/* What the last probe did. */
struct index_probed {
    uint64_t tests;       /* lines that were looked at */
    uint64_t blocks;      /* blocks of 512 rows that were looked at */
    uint64_t listed;      /* rows that were looked up by their value */
    uint64_t candidates;  /* rows that the lines left */
    uint64_t evaluations; /* constraints that were evaluated */
    uint64_t found;
    uint64_t computed; /* steps of evaluation for which computed clauses count, which the meter has, too */
};
struct index_probed index_probed(const struct index *index);

/* How a probe with that ad would go, step by step, as a database explains a query. */
enum index_step_kind {
    INDEX_ASKS,      /* a dimension is probed by what the ad asks for: the rows that may satisfy it */
    INDEX_HAS,       /* a dimension is probed by what the ad has: the rows that may take it */
    INDEX_CHOICE,    /* a disjunction that the ad asks for */
    INDEX_LEFT,      /* the rows that all of that leaves */
    INDEX_EVALUATES, /* the rows for which the ad's own constraint is evaluated */
    INDEX_EVALUATED, /* the rows whose constraint is evaluated */
    INDEX_VOLATILE,  /* the ads that are read again when the time has moved */
};

struct index_step {
    enum index_step_kind kind;
    const char *text; /* "other.Memory >= 64" */
    uint64_t rows;
    bool exact; /* the lines say it all; else what is left is checked in the columns, or evaluated */
};

typedef void index_plan_fn(void *user, const struct index_step *step);
void index_plan(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                index_plan_fn *tell, void *user);

uint32_t index_rows(const struct index *index); /* rows in use */
size_t index_bytes(const struct index *index);  /* of memory, the ads themselves not counted */

/* Is the index in order? If not, `ret_why` says why. For tests. */
bool index_valid(const struct index *index, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
