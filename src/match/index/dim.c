/* dim.c: a dimension: its slabs and its lines. */
#include "match/index/dim.h"

#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLE_MAX 256 /* values by which the cuts are chosen */

static bool is_string(const struct dim *dim)
{
    return dim->kind == KEY_STRING;
}

/* The number of cuts at or below v. */
static inline uint32_t ordered_slab(const struct dim *dim, double v)
{
    uint32_t slab = 0, count = dim->slab_count - 1;

    while (count) { /* so many cuts are still in question, from `slab` on */
        uint32_t half = (count + 1) / 2;

        if (dim->cuts[slab + half - 1] <= v) {
            slab += half;
            count -= half;
        } else {
            count = half - 1;
        }
    }
    return slab;
}

/* The slot of a string that has a slab of its own, or the free one where it would be. */
static uint32_t own_slot(const struct dim *dim, double v)
{
    uint32_t slot = (uint32_t)rng_mix((uint64_t)v) % DIM_OWN_SLOTS;

    while (dim->own[slot] && dim->only[dim->own[slot] - 1] != v)
        slot = (slot + 1) % DIM_OWN_SLOTS;
    return slot;
}

static uint32_t shared_slab(double v)
{
    return DIM_STRING_OWN + (uint32_t)(rng_mix((uint64_t)v) >> 32) % (DIM_STRING_SLABS - DIM_STRING_OWN);
}

uint32_t dim_slab(const struct dim *dim, double v)
{
    uint32_t slot;

    if (!is_string(dim))
        return ordered_slab(dim, v);
    slot = own_slot(dim, v);
    return dim->own[slot] ? dim->own[slot] - 1u : shared_slab(v);
}

/* The same for a value that a row brings: a new string gets a slab of its own while some are free. */
static uint32_t slab_for_row(struct dim *dim, double v)
{
    uint32_t slot;

    if (!is_string(dim))
        return ordered_slab(dim, v);
    slot = own_slot(dim, v);
    if (!dim->own[slot] && dim->own_count < DIM_STRING_OWN) {
        dim->only[dim->own_count] = v;
        dim->own[slot] = (unsigned char)++dim->own_count;
    }
    return dim->own[slot] ? dim->own[slot] - 1u : shared_slab(v);
}

bool dim_exact(const struct dim *dim, uint32_t slab)
{
    return !dim->loose[slab];
}

/* Notes that an imported value has come into a slab. */
static void slab_note(struct dim *dim, uint32_t slab, double v)
{
    if (is_string(dim)) {
        dim->loose[slab] = slab >= DIM_STRING_OWN;
    } else if (!dim->used[slab]) {
        dim->used[slab] = true;
        dim->only[slab] = v;
    } else if (dim->only[slab] != v) {
        dim->loose[slab] = 1;
    }
}

/* Where slab k of an ordered dimension begins. */
static double slab_begin(const struct dim *dim, uint32_t slab)
{
    return slab ? dim->cuts[slab - 1] : -INFINITY;
}

/* Is that the last number in the slab? The last slab goes up to infinity itself. */
static bool slab_ends(const struct dim *dim, uint32_t slab, double last)
{
    return slab + 1 < dim->slab_count ? last != INFINITY && dim->cuts[slab] == key_after(last) : last == INFINITY;
}

/* The slabs that an exported cell takes: all from first to last, or all but one; and the slabs of which it takes only a part. */
struct span {
    uint32_t first, last;
    uint32_t without; /* or NO_SLAB */
    uint32_t part[2]; /* or NO_SLAB */
};
#define NO_SLAB UINT32_MAX

static struct span span_of(struct dim *dim, double low, double high)
{
    struct span span = {0, dim->slab_count - 1, NO_SLAB, {NO_SLAB, NO_SLAB}};
    uint32_t slab;

    if (low == -INFINITY && high == INFINITY)
        return span;
    if (is_string(dim)) { /* one, or all but one */
        slab = slab_for_row(dim, low);
        if (slab >= DIM_STRING_OWN)
            span.part[0] = slab;
        if (!isnan(high))
            span.first = span.last = slab;
        else if (slab < DIM_STRING_OWN)
            span.without = slab;
    } else if (isnan(high)) {
        slab = ordered_slab(dim, low);
        if (slab_begin(dim, slab) == low && slab_ends(dim, slab, low))
            span.without = slab;
        else
            span.part[0] = slab;
    } else {
        if (low != -INFINITY) {
            span.first = ordered_slab(dim, low);
            if (slab_begin(dim, span.first) != low)
                span.part[0] = span.first;
        }
        if (high != INFINITY) {
            span.last = ordered_slab(dim, high);
            if (!slab_ends(dim, span.last, high) && span.part[0] != span.last)
                span.part[1] = span.last;
        }
    }
    return span;
}

static void span_count(struct dim *dim, const struct span *span, bool more)
{
    for (int i = 0; i < 2; i++)
        if (span->part[i] != NO_SLAB)
            dim->loose[span->part[i]] += more ? 1 : UINT32_MAX;
}

static void put_here(struct dim *dim, struct line *block, uint32_t bit, const struct dim_cell *cell, bool fresh)
{
    struct line *here = &block[dim_line_here(dim)], *deviant = &block[dim_line_deviant(dim)];

    if (!fresh) {
        dim->here -= line_has(here, bit);
        dim->deviant -= line_has(deviant, bit);
    }
    dim->here += cell->here;
    dim->deviant += cell->deviant;
    line_set(here, bit, cell->here);
    line_set(deviant, bit, cell->deviant);
}

/* Puts a row of elements or items into each of these slabs. */
static void put_slabs(struct dim *dim, struct line *block, uint32_t bit, uint64_t slabs)
{
    for (uint32_t k = 0; k < dim_slab_room(dim); k++)
        line_set(&block[dim->line + k], bit, slabs >> k & 1);
}

/* The lists are made anew when they are asked for. */
static void lists_drop(struct dim *dim)
{
    equals_free(dim->equals);
    dim->equals = NULL;
}

#define EQUALS_FROM LINE_ROWS /* rows, and ... */
#define EQUALS_ASKED 4        /* ... probes, from which on lists are kept */

const struct equals *dim_equals(struct dim *dim, uint32_t rows, uint32_t room)
{
    if (dim->equals || rows <= EQUALS_FROM || ++dim->equals_asked < EQUALS_ASKED)
        return dim->equals;
    dim->equals = equals_new(room);
    for (uint32_t row = rows; row-- > 0;)
        equals_move(dim->equals, row, NAN, dim->low[row]);
    return dim->equals;
}

void dim_done(struct dim *dim)
{
    lists_drop(dim);
    free(dim->low);
    free(dim->high);
    dim->low = dim->high = NULL;
}

void dim_put_column(struct dim *dim, struct line *block, uint32_t row, const struct dim_cell *cell)
{
    put_here(dim, block, row % LINE_ROWS, cell, true);
    if (!dim_has_columns(dim)) {
        put_slabs(dim, block, row % LINE_ROWS, cell->slabs);
        return;
    }
    dim->low[row] = cell->low;
    if (dim->exported)
        dim->high[row] = cell->high;
}

/* Flips the bit in the lines from one up to below the other. */
static void flip(struct line *lines, uint32_t bit, uint32_t from, uint32_t to)
{
    for (uint32_t k = from < to ? from : to; k < (from < to ? to : from); k++)
        lines[k].words[bit >> 6] ^= (line_word)1 << (bit & 63);
}

static void put_exported(struct dim *dim, struct line *block, uint32_t row, const struct dim_cell *cell, bool fresh)
{
    struct line *lines = &block[dim->line];
    struct span span, before = {0};

    if (!fresh) {
        before = span_of(dim, dim->low[row], dim->high[row]);
        span_count(dim, &before, false);
    }
    dim->low[row] = cell->low;
    dim->high[row] = cell->high;
    span = span_of(dim, cell->low, cell->high);
    span_count(dim, &span, true);
    if (fresh || is_string(dim) || before.without != NO_SLAB || span.without != NO_SLAB) {
        for (uint32_t k = 0; k < dim->slab_count; k++)
            line_set(&lines[k], row % LINE_ROWS, k >= span.first && k <= span.last && k != span.without);
    } else { /* only what is different: between the old beginning and the new, and likewise at the end */
        flip(lines, row % LINE_ROWS, before.first, span.first);
        flip(lines, row % LINE_ROWS, before.last + 1, span.last + 1);
    }
}

static void put_imported(struct dim *dim, struct line *block, uint32_t row, const struct dim_cell *cell)
{
    struct line *lines = &block[dim->line];
    uint32_t end = dim->slab_count; /* stands for a row that is in no line */
    uint32_t before = isnan(dim->low[row]) ? end : dim_slab(dim, dim->low[row]);
    uint32_t slab = cell->here ? slab_for_row(dim, cell->low) : end;

    if (dim->equals)
        equals_move(dim->equals, row, dim->low[row], cell->low);
    dim->low[row] = cell->low;
    if (cell->here)
        slab_note(dim, slab, cell->low);
    if (is_string(dim)) {
        flip(lines, row % LINE_ROWS, before, before < end ? before + 1 : before);
        flip(lines, row % LINE_ROWS, slab, slab < end ? slab + 1 : slab);
    } else {
        flip(lines, row % LINE_ROWS, before, slab);
    }
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

void dim_put(struct dim *dim, struct line *block, uint32_t row, const struct dim_cell *cell, bool fresh)
{
    uint32_t bit = row % LINE_ROWS;
    bool equal = !fresh && line_has(&block[dim_line_here(dim)], bit) == cell->here &&
                 line_has(&block[dim_line_deviant(dim)], bit) == cell->deviant;

    if (equal && dim_has_columns(dim) && same(dim->low[row], cell->low) &&
        (!dim->exported || same(dim->high[row], cell->high)))
        return;
    put_here(dim, block, bit, cell, fresh);
    if (!dim_has_columns(dim)) {
        put_slabs(dim, block, bit, cell->slabs);
        return;
    }
    if (dim->exported)
        put_exported(dim, block, row, cell, fresh);
    else
        put_imported(dim, block, row, cell);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Finds where slabs may begin so that each holds one value, or no interval ends inside: up to two places for a row. */
static uint32_t row_cuts(const struct dim *dim, uint32_t row, double *ret)
{
    uint32_t count = 0;

    if (!dim->exported) {
        if (!isnan(dim->low[row]))
            ret[count++] = dim->low[row];
    } else if (isnan(dim->high[row])) {
        ret[count++] = dim->low[row];
        if (dim->low[row] != INFINITY)
            ret[count++] = key_after(dim->low[row]);
    } else {
        if (dim->low[row] != -INFINITY)
            ret[count++] = dim->low[row];
        if (dim->high[row] != INFINITY)
            ret[count++] = key_after(dim->high[row]);
    }
    return count;
}

static void choose_cuts(struct dim *dim, uint32_t rows)
{
    uint32_t stride = rows / SAMPLE_MAX + 1, count = 0, distinct = 0, wanted = DIM_SLABS - 1;
    double *sample = mem_alloc((2 * ((size_t)rows / stride + 2)) * sizeof *sample);

    for (uint32_t row = 0; row < rows; row += stride)
        count += row_cuts(dim, row, &sample[count]);
    qsort(sample, count, sizeof *sample, compare_doubles);
    dim->slab_count = 1;
    for (uint32_t i = 0; i < count; i++)
        distinct += i == 0 || sample[i] != sample[i - 1];
    for (uint32_t i = 0; i < count && distinct <= wanted; i++) /* one each */
        if (i == 0 || sample[i] != sample[i - 1])
            dim->cuts[dim->slab_count++ - 1] = sample[i];
    for (uint32_t k = 1; k <= wanted && distinct > wanted; k++) { /* of equal depth */
        double cut = sample[(uint64_t)k * count / (wanted + 1)];

        if (dim->slab_count == 1 || dim->cuts[dim->slab_count - 2] < cut)
            dim->cuts[dim->slab_count++ - 1] = cut;
    }
    free(sample);
}

/* Makes the lines of an ordered dimension from marks: a bit in the line where the row's value or interval begins (and, exported, in the line after
 * its end). */
static void encode_ordered(struct dim *dim, struct line *block, uint32_t first, uint32_t rows)
{
    struct line *lines = &block[dim->line], without[DIM_SLABS];
    bool any_without = false;

    memset(lines, 0, dim->slab_count * sizeof *lines);
    for (uint32_t bit = 0; bit < LINE_ROWS && first + bit < rows; bit++) {
        uint32_t row = first + bit;
        line_word mask = (line_word)1 << (bit & 63);

        if (dim->exported) {
            struct span span = span_of(dim, dim->low[row], dim->high[row]);

            span_count(dim, &span, true);
            lines[span.first].words[bit >> 6] ^= mask;
            if (span.last + 1 < dim->slab_count)
                lines[span.last + 1].words[bit >> 6] ^= mask;
            if (span.without != NO_SLAB) {
                if (!any_without)
                    memset(without, 0, sizeof without);
                any_without = true;
                without[span.without].words[bit >> 6] |= mask;
            }
        } else if (!isnan(dim->low[row])) {
            uint32_t slab = ordered_slab(dim, dim->low[row]);

            slab_note(dim, slab, dim->low[row]);
            lines[slab].words[bit >> 6] |= mask;
        }
    }
    for (uint32_t k = 1; k < dim->slab_count; k++)
        for (int i = 0; i < LINE_WORDS; i++)
            lines[k].words[i] ^= lines[k - 1].words[i];
    for (uint32_t k = 0; k < dim->slab_count && any_without; k++)
        for (int i = 0; i < LINE_WORDS; i++)
            lines[k].words[i] &= ~without[k].words[i];
}

static void encode_strings(struct dim *dim, struct line *block, uint32_t first, uint32_t rows)
{
    struct line *lines = &block[dim->line], open = {0};

    for (uint32_t bit = 0; bit < LINE_ROWS && first + bit < rows && dim->exported; bit++)
        line_set(&open, bit, isnan(dim->high[first + bit]) || dim->high[first + bit] == INFINITY);
    for (uint32_t k = 0; k < dim->slab_count; k++)
        lines[k] = open;
    for (uint32_t bit = 0; bit < LINE_ROWS && first + bit < rows; bit++) {
        uint32_t row = first + bit, slab;

        if (dim->exported) {
            struct span span = span_of(dim, dim->low[row], dim->high[row]);

            span_count(dim, &span, true);
            if (span.without != NO_SLAB)
                line_set(&lines[span.without], bit, false);
            if (span.first == span.last)
                line_set(&lines[span.first], bit, true);
        } else if (!isnan(dim->low[row])) {
            slab = slab_for_row(dim, dim->low[row]);
            slab_note(dim, slab, dim->low[row]);
            line_set(&lines[slab], bit, true);
        }
    }
}

void dim_encode(struct dim *dim, struct line *const *blocks, uint32_t rows)
{
    if (!dim_has_columns(dim))
        return;
    lists_drop(dim);
    memset(dim->loose, 0, sizeof dim->loose);
    memset(dim->used, 0, sizeof dim->used);
    memset(dim->own, 0, sizeof dim->own);
    dim->own_count = 0;
    dim->slab_count = DIM_STRING_SLABS;
    if (!is_string(dim))
        choose_cuts(dim, rows);
    for (uint32_t first = 0; first < rows; first += LINE_ROWS) {
        if (is_string(dim))
            encode_strings(dim, blocks[first / LINE_ROWS], first, rows);
        else
            encode_ordered(dim, blocks[first / LINE_ROWS], first, rows);
    }
}

void dim_columns_clear(struct dim *dim, uint32_t from, uint32_t to)
{
    lists_drop(dim);
    for (uint32_t i = from; i < to && dim->low; i++)
        dim->low[i] = dim->exported ? -INFINITY : NAN;
    for (uint32_t i = from; i < to && dim->high; i++)
        dim->high[i] = INFINITY;
}

void dim_columns_grow(struct dim *dim, uint32_t from, uint32_t room)
{
    if (!dim_has_columns(dim))
        return;
    dim->low = mem_grow(dim->low, room * sizeof *dim->low);
    if (dim->exported)
        dim->high = mem_grow(dim->high, room * sizeof *dim->high);
    dim_columns_clear(dim, from, room);
}
