/* relax.h: what relax.c, sift.c and master.c share about CLP; not installed. */
#ifndef BERTH_MATCH_ASSIGN_RELAX_H
#define BERTH_MATCH_ASSIGN_RELAX_H

#include "match/assign/programme.h"

#include "match/assign/clp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes a model of the programme, to be solved; the caller frees it with clp()->deleteModel. */
Clp_Simplex *relax_model(const struct assign_programme *programme);

/* Says why CLP ended with that status, which is not 0. Returns -1. */
int relax_failed(int status, struct err *err);

/* The work that the iterations were: they cost more where there is more to look at. */
static inline uint64_t relax_work(Clp_Simplex *model, uint32_t column_count, uint32_t row_count)
{
    return (uint64_t)clp()->numberIterations(model) * (1 + (column_count + row_count) / 1000);
}

/* Columns that are added to a model together. */
struct column_batch {
    double *lower, *upper, *objective, *values;
    int *starts, *rows;
    uint32_t count, entries;
};

void column_batch_init(struct column_batch *batch, uint32_t columns, size_t entries);
void column_batch_add(struct column_batch *batch, double objective, double upper); /* a column ... */
void column_batch_entry(struct column_batch *batch, uint32_t row, double value);   /* ... and an entry of it */
void column_batch_flush(struct column_batch *batch, Clp_Simplex *model);           /* ends the batch */

/* The same as relax_clp, for a programme with many columns (sift.c). */
#define SIFT_COLUMNS 5000
int sift_solve(const struct assign_programme *programme, double *ret_x, double *ret_prices, uint64_t *ret_work,
               struct err *err);

#ifdef __cplusplus
}
#endif
#endif
