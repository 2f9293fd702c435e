/* assign.h: settles a whole queue at once: which of the waiting requests gets which offer, so that all fits.
 *
 * A problem is in *kinds*, so that what is the same to the other side is told once:
 *
 *     request -> row -> edges -> kind <- offer
 *
 * A row is what some requests think of the offers, and the offers of them: an edge for each kind of offer that is compatible, with the weight that
 * the request gives it (its Rank) and the weight that it gives back. A request is of one row, asks for an amount of each quantity, and has a
 * duration and a priority. An offer is of one kind and has an amount of each quantity that is free now. A request is placed whole at one offer; an
 * offer takes as many as fit. Requests and offers keep the order in which they were added.
 *
 * For a series of windows: make the rows once, and for each window call assign_problem_next, add the offers and the requests, and call
 * assign_solve. Nothing is allocated once the arrays have grown. ads.h makes a problem of ads. docs/assign.md tells what each policy does. */
#ifndef BERTH_MATCH_ASSIGN_ASSIGN_H
#define BERTH_MATCH_ASSIGN_ASSIGN_H

#include "lang/base/arena.h"
#include "lang/base/err.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ASSIGN_QUANTITIES_MAX 16
#define ASSIGN_NONE UINT32_MAX
#define ASSIGN_WORK 200000u        /* units of work of `optimal` unless the options say otherwise: a few seconds */
#define ASSIGN_SIZE_MAX 50000000u  /* pairs of requests that differ with offers; a larger problem is refused */
#define ASSIGN_PAIRS_MAX 16000000u /* single pairs that `singles` looks at; with more it fails */

/* ---------------------------------------------------------------------------------------------------------------- the problem */

struct assign_edge {
    uint32_t kind; /* of offers */
    double weight; /* the request's rank of such an offer: more is better */
    double back;   /* the offer's rank of the request */
};

struct assign_row {
    uint32_t first, count; /* edges, to different kinds */
};

struct assign_request {
    uint32_t row;
    double duration; /* NAN: the request does not say */
    double priority; /* more is sooner; a request that was left over last time has one more than before */
};

struct assign_problem {
    uint32_t quantity_count;
    uint32_t processors; /* which quantity is processors; sjf and ljf look at it when durations are equal */
    uint32_t kind_count; /* kinds of offers: numbers below that */
    struct assign_edge *edges;
    struct assign_row *rows;
    struct assign_request *requests;
    double *amounts;       /* of request i: from i * quantity_count on */
    uint32_t *offer_kinds; /* by offer */
    double *free;          /* of offer i: from i * quantity_count on; INFINITY: it has no limit */
    uint32_t edge_count, row_count, request_count, offer_count;
    uint32_t edge_room, row_room, request_room, offer_room;
};

void assign_problem_init(struct assign_problem *problem, uint32_t quantity_count);
void assign_problem_done(struct assign_problem *problem);
void assign_problem_reset(struct assign_problem *problem); /* empty; the memory is kept */
void assign_problem_next(struct assign_problem *problem);  /* no requests and no offers; the rows stay */

/* Adds a row without edges; edges that are added go to the last row, each to another kind. A weight that is not a number counts as 0. */
uint32_t assign_add_row(struct assign_problem *problem);
void assign_add_edge(struct assign_problem *problem, uint32_t kind, double weight, double back);

/* Each returns the number of what was added, from 0 on. `free` and `amounts` are quantity_count numbers, copied, not below 0; amounts are finite. */
uint32_t assign_add_offer(struct assign_problem *problem, uint32_t kind, const double *free);
uint32_t assign_add_request(struct assign_problem *problem, uint32_t row, const double *amounts, double duration,
                            double priority);

/* Does that much fit into what is free? A billionth too much still fits, so that ten times a tenth is one. */
#define ASSIGN_SLACK 1e-9
static inline bool assign_fits(const double *amounts, const double *free, uint32_t quantity_count)
{
    for (uint32_t i = 0; i < quantity_count; i++)
        if (amounts[i] > free[i] && amounts[i] - free[i] > amounts[i] * ASSIGN_SLACK)
            return false;
    return true;
}

/* --------------------------------------------------------------------------------------------------------------- the policies */

/* For each policy the name that people use, and what it does. */
#define ASSIGN_POLICIES(X)                                                                                 \
    X(FCFS, "fcfs", "in order, each takes the offer that it ranks highest")                                \
    X(SJF, "sjf", "the same, the shortest Duration first")                                                 \
    X(LJF, "ljf", "the same, the longest Duration first")                                                  \
    X(SRFM, "srfm", "scarce resources first: who has one choice, then the pairs that fill an offer most")  \
    X(LBM, "lbm", "by the value of each pair in the relaxed linear programme")                             \
    X(MINSUM, "minsum", "the pairs that both sides like most first")                                       \
    X(SINGLES, "singles", "only pairs of which a side has no other choice")                                \
    X(SINGLES_MINSUM, "singles-minsum", "singles as long as there are any, then the best pair, and again") \
    X(OPTIMAL, "optimal", "as many requests as can be placed, and of these ways the one with the most weight")

enum assign_policy {
#define X(name, text, about) ASSIGN_##name,
    ASSIGN_POLICIES(X)
#undef X
        ASSIGN_POLICY_COUNT
};

extern const char *const assign_policy_names[ASSIGN_POLICY_COUNT];

/* Finds a policy by its name, in whatever case; for an unknown one the error names the nearest. */
int assign_policy_find(const char *name, size_t len, enum assign_policy *ret_policy, struct err *err);

/* Solves linear programmes: the maximum of objective * x, with 0 <= x and sums of columns below bounds.
 *
 *     column i: x[i] <= upper[i], entries from starts[i] to starts[i + 1]: rows[] and values[]
 *
 * Fills `ret_x`, and `ret_prices`: by row, what one more of its bound would be worth. Adds the work done to *ret_work. Returns -1 and says why when
 * it cannot solve the programme. */
struct assign_programme {
    uint32_t column_count, row_count;
    const double *objective, *upper;
    const int *starts, *rows;
    const double *values;
    const double *bounds; /* by row */
};
typedef int assign_relax_fn(void *user, const struct assign_programme *programme, double *ret_x, double *ret_prices,
                            uint64_t *ret_work, struct err *err);

struct assign_options {
    uint64_t work; /* units after which `optimal` stops with what it has; 0: ASSIGN_WORK */
    bool (*stop)(
        void *
            user); /* asked now and then; true: stop with what there is. NULL: never. Whoever has a clock may look at it here */
    void *stop_user;
    assign_relax_fn *relax; /* NULL: CLP */
    void *relax_user;
};

struct assign_pair {
    uint32_t request, offer;
};

struct assign_result {
    struct assign_pair *pairs; /* in the order of the requests; each request at most once */
    uint32_t count, room;
    double weight; /* of all pairs together */

    /* For lbm and optimal: no assignment can have more pairs than these bounds. INFINITY when nothing is known. */
    double relaxation;    /* the value of the relaxed programme: it need not be whole */
    uint32_t count_bound; /* the same as a whole number */
    double weight_bound;  /* no assignment with `count` pairs weighs more; INFINITY when it is not known */
    bool exact;           /* of optimal: the result is proved to be the best */
    bool fell_back;       /* of lbm: the programme could not be solved, and this is what srfm does */
    char why[160];        /* why it fell back, or stopped; or "" */
    uint64_t work;        /* units of work that were done: the same on every machine */
};

void assign_result_init(struct assign_result *result);
void assign_result_done(struct assign_result *result);

/* Settles the queue. The result is overwritten, its memory used again; `scratch` is left as it was. `options` may be NULL. Fails, and leaves
 * the result empty, only when the problem is not in order or too large for the policy. */
int assign_solve(struct arena *scratch, enum assign_policy policy, const struct assign_problem *problem,
                 const struct assign_options *options, struct assign_result *result, struct err *err);

/* How far the result may be from the best, as a share of the bound: that of the count or, when the count is proved and there is a bound of the
 * weight, that of the weight. 0 to 1, and 1 when nothing is known. */
double assign_gap(const struct assign_result *result);

#ifdef __cplusplus
}
#endif
#endif
