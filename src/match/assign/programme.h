/* programme.h: the relaxed linear programme of a problem (section 4.3), over groups and shelves; not installed.
 *
 *     column: how many of a group's requests go to a shelf's offers, together
 *     rows:   a group has so many requests; a shelf has so many offers, of each quantity, of which a request takes a part
 *
 * By symmetry its value is that of the programme with a column for every single pair. */
#ifndef BERTH_MATCH_ASSIGN_PROGRAMME_H
#define BERTH_MATCH_ASSIGN_PROGRAMME_H

#include "match/assign/shelves.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PROGRAMME_COLUMNS_MAX 1500000u /* about a gigabyte; a larger programme is not solved */

struct column {
    uint32_t group, shelf;
    double weight;
};

struct programme {
    struct assign_programme lp;
    struct column *columns; /* by group, then by shelf */
    double *x;              /* the solution */
    double *objective;      /* the same array as that of lp */
    double *prices;         /* by row: the groups first */
    int *row_of;            /* by shelf and quantity: its row, or -1 when it cannot run out */
};

/* All memory is in the scratch of the settling. `tight`: no column is larger than whole requests allow, which the relaxation of the text does not
 * know. The objective is 1 for each column. -1: the programme is too large. */
int programme_init(struct programme *programme, struct settling *settling, const struct shelves *shelves, bool tight,
                   struct err *err);

/* Solves the programme by whatever solves for this settling; the work is counted. */
int programme_solve(struct programme *programme, struct settling *settling, struct err *err);

/* The sum of all columns. */
double programme_total(const struct programme *programme);

/* No solution is worth more: all rows at their prices, and what columns are worth beyond them. That holds whatever the prices are, so no rounding
 * by the solver makes the bound too small; with the right prices it is the value of the solution. */
double programme_bound(const struct programme *programme);

/* How many requests of that group one offer of that shelf can take alone. */
uint32_t shelf_holds(const struct settling *settling, const struct request_group *group,
                     const struct assign_shelf *shelf);

/* CLP's dual simplex (relax.c). */
assign_relax_fn relax_clp;

/* A programme that is solved again and again with other bounds of its columns, each time from where it was. */
struct relaxer;
enum relaxed { RELAXED, RELAX_INFEASIBLE, RELAX_FAILED };

struct relaxer *relaxer_new(const struct assign_programme *programme); /* the programme must stay */
void relaxer_free(struct relaxer *relaxer);
enum relaxed relaxer_solve(struct relaxer *relaxer, const double *lower, const double *upper, double *ret_x,
                           double *ret_value, uint64_t *work);

#ifdef __cplusplus
}
#endif
#endif
