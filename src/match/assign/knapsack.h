/* knapsack.h: which of some kinds of things, with a value each, fill one bag best, in several quantities at once; not installed.
 *
 * A price for each quantity turns amounts into one size. Taking the most value per size first gives the bound that ends the search early. */
#ifndef BERTH_MATCH_ASSIGN_KNAPSACK_H
#define BERTH_MATCH_ASSIGN_KNAPSACK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct knapsack_kind {
    const double *amounts;
    double value, size; /* size: the amounts by the prices, above 0 */
    uint32_t limit;     /* how many there are */
    uint32_t number;    /* the caller's */
    uint32_t taken;     /* how many are in the best bag */
    double worth;       /* the value per size, or a little more; knapsack_sort fills it in */
};

struct knapsack {
    struct knapsack_kind *kinds; /* by value per size, the largest first, then by size */
    uint32_t count;
    uint32_t quantity_count;
    const double *prices;
    uint32_t nodes; /* things that may be tried */
    uint32_t tried; /* filled in by knapsack_fill ... */
    double bound;   /* ... and so is this: no bag is worth more */
};

/* Puts the kinds into their order. */
void knapsack_sort(struct knapsack *knapsack);

/* Fills `taken`; returns the value of the bag. The bag is the best one when the search was not cut short; `bound` always holds. `room` is what the
 * bag has. */
double knapsack_fill(struct knapsack *knapsack, const double *room);

#ifdef __cplusplus
}
#endif
#endif
