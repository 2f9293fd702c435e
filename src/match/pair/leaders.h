/* leaders.h: the best candidates by a formula that only rises, or only falls, with each of its attributes, found without computing it for all.
 *
 *     by Memory    2 (512), 7 (256), 9 (128), ...      each attribute has the candidates in its order
 *     by KFlops    7 (900), 3 (850), 2 (100), ...
 *
 * Candidates are taken from the fronts of all orders in turn. One that was not taken yet is in no attribute better than where the orders stand, so its value is at
 * most the formula's value there: when the best so far is better than that, nobody else need be looked at. Orders are made when they are first asked for, and
 * again when much has changed; who has changed since is taken first. */
#ifndef BERTH_MATCH_PAIR_LEADERS_H
#define BERTH_MATCH_PAIR_LEADERS_H

#include "match/pair/formula.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LEADERS_MAX 8 /* orders that are kept */

/* The candidates in the order of an attribute. */
struct leader {
    symbol name;        /* held */
    unsigned type;      /* of all values: integers or reals */
    uint32_t made;      /* changes up to this one are in it */
    uint32_t *order;    /* places, the smallest value first */
    union cell *values; /* theirs, when the order was made */
    uint32_t low, end;  /* those before and from there on have gone */
    uint32_t *apart;    /* places whose values are of another type */
    uint32_t apart_count, count;
    double least, most; /* of the values */
    uint64_t used;
};

struct leaders {
    struct leader items[LEADERS_MAX];
    uint32_t count;
    uint64_t used;
    uint32_t *seen; /* by place: the last walk that took it */
    uint32_t walk;
};

struct rankings;

/* Candidates that are taken one after the other. */
struct leaders_walk {
    struct rankings *rankings;
    const struct formula *formula;
    struct formula_slopes slopes;
    struct leader *leaders[FORMULA_SLOPES_MAX]; /* by slope */
    uint32_t at[FORMULA_SLOPES_MAX];            /* how many were passed at the front of each */
    uint32_t turn;
    bool all; /* all were taken */
};

void leaders_done(struct leaders *leaders, struct symbols *symbols);

/* Begins to walk. False when the formula is of another form, or too many candidates are in no order. Of `places`, all candidates that there are, `fill` is
 * asked when an order must be made; it returns how many. `ret` gets those that must be looked at by themselves, at most LEADERS_APART. */
#define LEADERS_APART 256
typedef uint32_t leaders_fill_fn(void *user, uint32_t *places);
bool leaders_begin(struct leaders_walk *walk, struct rankings *rankings, const struct formula *formula,
                   leaders_fill_fn *fill, void *user, uint32_t *ret, uint32_t *ret_count);

/* The next candidates, at most `room`; 0 when there are no others. */
uint32_t leaders_next(struct leaders_walk *walk, uint32_t *ret, uint32_t room);

/* The formula's value where the orders stand: that of a candidate which was not taken yet is at most this. False when all were taken. */
bool leaders_bound(const struct leaders_walk *walk, struct formula_value *ret);

#ifdef __cplusplus
}
#endif
#endif
