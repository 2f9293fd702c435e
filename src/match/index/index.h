/* index.h: many ads of one side, so that an ad of the other side meets only those it could match (chapter 4).
 *
 * Both what the ads have and what they ask for is indexed. Each ad is one *row*, or several when its constraint is a disjunction: a
 * row is a rectangle, an interval in each dimension (section 4.2). A probe intersects, 512 rows at a time, the rows whose attributes
 * satisfy the ad's constraint with the rows whose constraints its attributes satisfy (4.5.4). What the dimensions cannot tell
 * (*deviant* attributes and clauses) is evaluated for the rows that are left, and for no others; so the answer is that of trying
 * every pair.
 *
 * Only attributes that somebody asks for have dimensions (4.4.3): one is made when a second ad asks for it; until then the clause is
 * evaluated. Whoever knows what will be asked says so by index_learn.
 *
 * The environment may move its time and its values, but the names that it gives must stay the same.
 *
 * Ads are called by numbers that the caller chooses, small ones: the index keeps a table of them. */
#ifndef BERTH_MATCH_INDEX_INDEX_H
#define BERTH_MATCH_INDEX_INDEX_H

#include "lang/ad/eval.h"

#ifdef __cplusplus
extern "C" {
#endif

#define INDEX_DIMS_MAX 256    /* of more, those that were asked for longest ago go, and what has none is evaluated */
#define INDEX_PROFILES_MAX 32 /* rectangles of one ad; a disjunction with more is evaluated */

struct index;

struct index *index_new(void);
void index_free(struct index *index);

/* Ads of the other side like this will come: what it asks for gets dimensions at once. */
void index_learn(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad);

/* Ads share rows from now on when they are the same to the other side (section 5.8): that reads only these names of them, be it by
 * constraints, ranks, residuals or policies. The index must be empty. `heads_only`: of ads that share, a probe finds only the one with
 * the smallest number. When other names are read, make a new index. */
void index_share(struct index *index, struct symbols *symbols, const symbol *names, uint32_t count, bool heads_only);

/* Puts in many ads at once, called 0 to count - 1 (NULL: there is none of that number); the index must be empty. Much quicker than one by one. Ads are held. */
void index_build(struct index *index, const struct env *env, struct arena *scratch, struct tree *const *ads,
                 uint32_t count);
/* The same until reading them has taken that many steps, by the environment's meter: those below the number that it returns are in. */
uint32_t index_build_some(struct index *index, const struct env *env, struct arena *scratch, struct tree *const *ads,
                          uint32_t count, uint64_t steps);

/* Puts in an ad, or replaces the one of that number; takes one out. */
void index_put(struct index *index, const struct env *env, struct arena *scratch, uint32_t id, struct tree *ad);
void index_remove(struct index *index, uint32_t id);

/* An ad takes the place of one that is there and that is the same to whoever asks, but for what nobody reads. Not where ads share rows
 * by index_share. */
void index_swap(struct index *index, uint32_t id, struct tree *ad);

/* Reads again, at the time of the environment, the ads whose constraints depend on the time. */
void index_refresh(struct index *index, const struct env *env, struct arena *scratch);

/* Calls `found` for each ad that matches: both constraints are true. In no particular order. `scratch` is left as it was. What is
 * found may not change the index meanwhile. */
typedef void index_found_fn(void *user, uint32_t id);
void index_probe(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                 index_found_fn *found, void *user);

/* The same without an evaluation: calls `found` for each ad that may match, and tells whose constraint must still be evaluated; when
 * neither, it matches. For whoever evaluates each pair in an environment of its own. */
enum index_doubt { INDEX_DOUBT_OWN = 1 /* that of the probing ad */, INDEX_DOUBT_FOUND = 2 /* that of the ad found */ };
typedef void index_sift_fn(void *user, uint32_t id, unsigned doubts);
void index_sift(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                index_sift_fn *found, void *user);

/* The same by and by: from that row on, until `found` returns false. Returns the row to go on from, or INDEX_END. The rows are in
 * the order in which index_build was given them, until the index has changed. */
#define INDEX_END UINT32_MAX
typedef bool index_seek_fn(void *user, uint32_t id);
uint32_t index_seek(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad,
                    uint32_t from, index_seek_fn *found, void *user);

/* The next ad of those that share a row with that one, in the order of their numbers; INDEX_END when it is the last. */
uint32_t index_next(const struct index *index, uint32_t id);

/* What the last probe did. */
struct index_probed {
    uint64_t tests;       /* lines that were looked at */
    uint64_t candidates;  /* rows that the lines left */
    uint64_t evaluations; /* constraints that were evaluated */
    uint64_t found;
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

uint32_t index_rows(const struct index *index); /* that are there */
size_t index_bytes(const struct index *index);  /* of memory, the ads themselves not counted */

/* Is it in order? Else why not; for tests. */
bool index_valid(const struct index *index, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
