/* dim.h: a dimension: one attribute of one kind, for all rows of an index.
 *
 * An *imported* dimension holds what rows have: one value per row. An *exported* one holds what rows ask of their counterpart: one interval per
 * row, or "anything but". Either keeps them exactly, in columns, and roughly, in lines: the axis is cut into slabs, and
 *
 *     imported, ordered    line k: rows whose value lies in slab k or below    so a bound is one line, or the rest of it
 *     imported, strings    line k: rows whose string lies in slab k
 *     exported             line k: rows that may take a value in slab k        so a value is one line; a row that asks nothing is in all
 *
 * Where a slab holds one value only (or no interval ends inside it) the line is the answer; else the rows in question are looked up in the columns.
 * A few values have a slab each; many values are cut so that all slabs hold about as many rows. Strings get slabs in the order in which they come;
 * when the slabs are used up, the other strings share the rest, by their hash. */
#ifndef BERTH_MATCH_INDEX_DIM_H
#define BERTH_MATCH_INDEX_DIM_H

#include "match/index/equals.h"
#include "match/index/key.h"
#include "match/index/lines.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DIM_SLABS 32        /* slabs of an ordered dimension */
#define DIM_STRING_SLABS 64 /* slabs of strings ... */
#define DIM_STRING_OWN 48   /* ... of which so many hold one string each */

#define DIM_OWN_SLOTS 128 /* a power of two, more than DIM_STRING_OWN */

/* Further kinds, imported only and without columns: whether an attribute is absent; the elements of lists; the items of strings that list. In the
 * last two a row is in the slab of each element, by its hash, and the rows found there must be evaluated. */
enum { DIM_ABSENCE = KEY_KINDS, DIM_ELEMENTS, DIM_ITEMS };

struct dim {
    struct attribute attribute; /* its symbols are held */
    unsigned char kind;         /* enum key_kind, or DIM_ABSENCE, ... */
    bool exported;
    bool counts;            /* truth values are numbers to those who read it (imported) or ask (exported) */
    uint32_t line;          /* its first line in a block: first the slabs' lines, then two more */
    uint32_t slab_count;    /* in use */
    bool shared;            /* the name has other dimensions */
    uint32_t same;          /* the next dimension of that name and direction; or UINT32_MAX */
    uint32_t asked;         /* imported: the probe that asked for it last, as a stamp */
    uint32_t here, deviant; /* how many rows have a value or a bound; how many must be evaluated, or are guarded */
    double cuts[DIM_SLABS]; /* where slabs 1, 2, ... begin */
    double only[DIM_STRING_SLABS];    /* imported: the value in a slab ... */
    uint32_t loose[DIM_STRING_SLABS]; /* ... unless it holds others too; exported: how many intervals end inside it */
    bool used[DIM_STRING_SLABS];      /* imported: the slab has or had a row */
    unsigned char
        own[DIM_OWN_SLOTS]; /* strings: a hash table of those with a slab of their own: number plus one, or 0 */
    uint32_t own_count;
    double *low;           /* a column: the value, or where the interval begins; NaN: none */
    double *high;          /* exported: where the interval ends; NaN: the row takes all but `low` */
    struct equals *equals; /* imported: rows by their value; NULL until that is asked for often */
    uint32_t equals_asked;
};

/* Frees the columns. */
void dim_done(struct dim *dim);

/* The rows with a value, once that has been asked for a few times: a list, of which some have another value; NULL where there are no lists. */
const struct equals *dim_equals(struct dim *dim, uint32_t rows, uint32_t room);

static inline uint32_t dim_slab_room(const struct dim *dim)
{
    return dim->kind == DIM_ABSENCE ? 0 : dim->kind >= KEY_STRING ? DIM_STRING_SLABS : DIM_SLABS;
}

/* The two lines after the slabs'. The first: rows that have a value (imported) or a bound (exported); for DIM_ABSENCE, rows that lack the
 * attribute. The second: rows whose value must be evaluated (imported), or that are *guarded* (exported): an attribute of another kind would be an
 * error that spoils their constraint. */
static inline uint32_t dim_line_here(const struct dim *dim)
{
    return dim->line + dim_slab_room(dim);
}

static inline uint32_t dim_line_deviant(const struct dim *dim)
{
    return dim_line_here(dim) + 1;
}

static inline uint32_t dim_lines(const struct dim *dim)
{
    return dim_slab_room(dim) + 2;
}

/* The slab that a value is in; strings by their number. */
uint32_t dim_slab(const struct dim *dim, double v);

/* Is the line of a slab the whole answer? */
bool dim_exact(const struct dim *dim, uint32_t slab);

/* What a row has, or asks for, in a dimension. */
struct dim_cell {
    bool here, deviant;
    double low, high; /* as the columns; an imported value is `low` */
    uint64_t slabs;   /* of elements and items: the slabs that the row is in, as bits */
};

static inline bool dim_has_columns(const struct dim *dim)
{
    return dim->kind < KEY_KINDS;
}

/* Does the row take the value? Only for rows that have a bound. */
static inline bool dim_takes(const struct dim *dim, uint32_t row, double v)
{
    return isnan(dim->high[row]) ? v != dim->low[row] : dim->low[row] <= v && v <= dim->high[row];
}

/* Sets or changes a row's cell in columns and lines; `block` is that of the row. `fresh`: the row has nothing there yet. */
void dim_put(struct dim *dim, struct line *block, uint32_t row, const struct dim_cell *cell, bool fresh);

/* The same without the slabs' lines, which dim_encode makes afterwards. The row must have nothing there yet. */
void dim_put_column(struct dim *dim, struct line *block, uint32_t row, const struct dim_cell *cell);

/* Makes room in the columns for more rows; makes rows have nothing in the dimension, or ask nothing. */
void dim_columns_grow(struct dim *dim, uint32_t from, uint32_t room);
void dim_columns_clear(struct dim *dim, uint32_t from, uint32_t to);

/* Cuts the axis anew by what is in the columns, and makes the lines of all rows. */
void dim_encode(struct dim *dim, struct line *const *blocks, uint32_t rows);

#ifdef __cplusplus
}
#endif
#endif
