/* probe.h: a probe that has been prepared; not installed. */
#ifndef BERTH_MATCH_INDEX_PROBE_H
#define BERTH_MATCH_INDEX_PROBE_H

#include "match/index/index_parts.h"
#include "match/pair/clauses.h"
#include "match/pair/formula.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The rows that satisfy a leaf: surely those in `in` and not in `out`; perhaps also those in `in_more` and not in `out_less`; and those
 * in `maybe` must be evaluated. */
struct reach {
    uint32_t in, out, in_more, out_less, maybe;
    bool exact;
};

enum check_kind { CHECK_VALUE, CHECK_BOUND, CHECK_DEVIANT };

struct check {
    enum check_kind kind;
    uint32_t dim;
    enum op op;
    double v;
};

/* A part of a choice, ready for the blocks. */
struct part {
    unsigned char kind; /* enum wants_node_kind */
    bool errs;          /* a LEAF that is an error where the type is wrong */
    struct reach reach;
    uint32_t here, deviant, absent, absent_deviant; /* lines that tell which rows have the wrong type */
    bool computed;                                  /* a choice that the formula settles */
    uint32_t dim;                                   /* a LEAF that compares the column with v; else NO_DIM */
    unsigned char op;
    double v;
    uint32_t child, after; /* as in the wants */
};

struct probe {
    struct test *tests;
    struct check *checks;
    struct part *parts; /* by the number of the node */
    uint32_t *choices;  /* top-level nodes that are choices */
    uint32_t *askers;   /* lines: the constraints of rows in there must be evaluated */
    uint32_t ahead;     /* tests after which little is left of a block, probably */
    bool sorted;        /* the tests are in a good order */
    const struct equals
        *equals; /* rows that may have the value `equal` in the dimension `equal_dim`, for which the ad asks; or NULL */
    uint32_t equal_dim;
    double equal;        /* of a comparison; or ... */
    uint32_t equal_node; /* ... the choice of which they have one; or 0 */
    uint32_t *listed;    /* those that have it */
    uint32_t listed_count, listed_room;
    uint32_t test_count, check_count, choice_count, asker_count;
    uint32_t part_count; /* in use: those of the nodes, then those of keys */
    uint32_t test_room, check_room, part_room, choice_room, asker_room;
    bool evaluate; /* evaluate the ad's own constraint for every row that is left */
    bool computes; /* or compute this, which is true where all clauses are that the lines and columns cannot tell */
    struct formula formula;
    struct clauses clauses; /* of that constraint; made when it is evaluated */
    const struct env *env;
    struct arena *scratch;
    const struct tree *ad;
    index_found_fn *found;
    index_sift_fn *sift; /* or this one: nothing is evaluated */
    index_seek_fn *seek; /* or this one, from row `next` on, until it has had `enough` */
    uint32_t next;
    bool enough;
    const uint64_t *bound; /* blocks in which all places are beyond it are passed over; NULL: none */
    void *user;
};

struct sets {
    struct line yes, maybe, error;
};

struct probe *probe_of(struct index *index);

/* Makes the tests and checks for probe->ad, whose wants have been read. */
void probe_prepare(struct index *index, struct probe *probe);

/* The dimension that answers a leaf for its key at that place, or NO_DIM; the rows that a comparison with a value reaches there. */
uint32_t probe_dim(struct index *index, const struct want *want, uint32_t key);
struct reach probe_reach(const struct dim *dim, enum op op, double v);

/* Adds a choice: the node of a disjunction, or member(name, { keys }), a choice between equalities none of which can be an error. */
void probe_disjunction(struct index *index, struct probe *probe, uint32_t node);
void probe_among(struct index *index, struct probe *probe, uint32_t node);

/* The rows of a block that satisfy a choice (or a part of it), that may, and for which it is an error. Where || goes from left to
 * right, an error counts only before a part that is true. */
void probe_choice(const struct probe *probe, bool ordered, uint32_t node, const struct line *block, struct sets *ret);

/* Could the row satisfy the choice, by what the columns say? */
bool probe_choice_may(const struct index *index, const struct probe *probe, uint32_t node, const struct line *block,
                      uint32_t row);

#ifdef __cplusplus
}
#endif
#endif
