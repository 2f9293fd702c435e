/* near.c: rows that are alike lie side by side, and blocks in which nothing can fit are passed over. */
#include "match/index/near.h"

#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "match/index/index_parts.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLE 16          /* rows by which it is told whether a dimension divides them */
#define ROUNDS_MAX 64      /* of looking for the middle */
#define DIVIDE_DIMS_MAX 64 /* dimensions by which rows are divided */
#define SPAN \
    (128 *   \
     LINE_ROWS) /* where ads have places: rows are moved within so many, so that those that come first stay in front */
#define VISITS_MAX 16 /* of an open block, then it is surveyed anew */
#define GONE_MAX 128  /* rows, then a block is opened, so that it will be */

void near_done(struct near *near)
{
    free(near->some);
    free(near->every);
    free(near->open);
    free(near->counts);
    *near = (struct near){.on = near->on};
}

size_t near_bytes(const struct near *near)
{
    return near->field_count * (2 * (size_t)near->lines + 1) * sizeof(struct line) +
           near->blocks * sizeof *near->counts;
}

/* -------------------------------------------------------------------------------------------------------------- order */

struct divider {
    const struct dim **dims;
    uint32_t dim_count;
    uint32_t *order;
};

/* By value, then by row; rows without a value come first. */
static bool row_before(const struct dim *dim, uint32_t a, uint32_t b)
{
    double x = dim->low[a], y = dim->low[b];

    if (isnan(x) || isnan(y))
        return isnan(x) && isnan(y) ? a < b : isnan(x);
    return x != y ? x < y : a < b;
}

static void rows_swap(uint32_t *order, uint32_t a, uint32_t b)
{
    uint32_t swap = order[a];

    order[a] = order[b];
    order[b] = swap;
}

/* Brings those with the smaller values before that place, and the others behind it; not quite, where chance is against it. */
static void rows_part(uint32_t *order, const struct dim *dim, uint32_t from, uint32_t end, uint32_t middle)
{
    for (uint32_t round = 0; end - from > 1 && round < ROUNDS_MAX; round++) {
        uint32_t at = from, pivot = from + (uint32_t)(rng_mix(((uint64_t)from << 32) + end) % (end - from));

        rows_swap(order, pivot, end - 1);
        pivot = order[end - 1];
        for (uint32_t i = from; i + 1 < end; i++)
            if (row_before(dim, order[i], pivot))
                rows_swap(order, i, at++);
        rows_swap(order, at, end - 1);
        if (at == middle)
            return;
        if (at < middle)
            from = at + 1;
        else
            end = at;
    }
}

/* Do rows from there to there have several values, as far as a few of them tell? */
static bool rows_differ(const uint32_t *order, const struct dim *dim, uint32_t from, uint32_t end)
{
    double first = dim->low[order[from]];

    for (uint32_t i = 1; i < SAMPLE; i++) {
        double v = dim->low[order[from + (uint64_t)i * (end - from) / SAMPLE]];

        if (isnan(v) != isnan(first) || (!isnan(v) && v != first))
            return true;
    }
    return false;
}

/* Divides rows in the middle by one dimension, each half by the next one, and so on, until each part is a block. */
static void rows_divide(const struct divider *divider, uint32_t from, uint32_t end, uint32_t next)
{
    uint32_t middle = from + (end - from + LINE_ROWS - 1) / LINE_ROWS / 2 * LINE_ROWS, tries = 0;
    const struct dim *dim;

    if (middle == from)
        return;
    do {
        dim = divider->dims[next++ % divider->dim_count];
        if (tries++ == divider->dim_count)
            return;
    } while (!rows_differ(divider->order, dim, from, end));
    rows_part(divider->order, dim, from, end, middle);
    rows_divide(divider, from, middle, next);
    rows_divide(divider, middle, end, next);
}

static int rows_compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The rows in their new order; NULL when it is the old one. */
static uint32_t *order_make(const struct index *index)
{
    const struct dim *dims[DIVIDE_DIMS_MAX];
    struct divider divider = {.dims = dims};
    uint32_t rows = index->row_count, span = index->place ? SPAN : rows;

    for (uint32_t i = 0; i < index->dim_count && divider.dim_count < DIVIDE_DIMS_MAX; i++)
        if (dim_has_columns(&index->dims[i]) && !index->dims[i].exported)
            dims[divider.dim_count++] = &index->dims[i];
    if (!divider.dim_count)
        return NULL;
    divider.order = mem_alloc(rows * sizeof *divider.order);
    for (uint32_t row = 0; row < rows; row++)
        divider.order[row] = row;
    for (uint32_t from = 0; from < rows; from += span)
        rows_divide(&divider, from, rows - from < span ? rows : from + span, 0);
    for (uint32_t from = 0; from < rows;
         from += LINE_ROWS) /* in a block as they were: those that came first in front */
        qsort(divider.order + from, rows - from < LINE_ROWS ? rows - from : LINE_ROWS, sizeof *divider.order,
              rows_compare);
    return divider.order;
}

static void column_move(double *column, double *spare, const uint32_t *order, uint32_t rows)
{
    if (!column)
        return;
    for (uint32_t row = 0; row < rows; row++)
        spare[row] = column[order[row]];
    memcpy(column, spare, rows * sizeof *column);
}

/* Moves the bits of a line of all blocks; `old` and `new` have room for them. */
static void line_move(struct index *index, uint32_t line, struct line *old, struct line *new, const uint32_t *order)
{
    uint32_t blocks = (index->row_count + LINE_ROWS - 1) / LINE_ROWS;
    bool any = false;

    for (uint32_t n = 0; n < blocks; n++) {
        old[n] = index->blocks[n][line];
        any = any || !line_empty(&old[n]);
    }
    if (!any)
        return;
    memset(new, 0, blocks * sizeof *new);
    for (uint32_t row = 0; row < index->row_count; row++) {
        uint32_t from = order[row];
        line_word bit = old[from / LINE_ROWS].words[from % LINE_ROWS >> 6] >> (from & 63) & 1;

        new[row / LINE_ROWS].words[row % LINE_ROWS >> 6] |= bit << (row & 63);
    }
    for (uint32_t n = 0; n < blocks; n++)
        index->blocks[n][line] = new[n];
}

static void lines_move(struct index *index, const uint32_t *order)
{
    uint32_t blocks = (index->row_count + LINE_ROWS - 1) / LINE_ROWS;
    struct line *spare = mem_alloc_lines(2 * blocks * sizeof *spare);

    line_move(index, LINE_LIVE, spare, spare + blocks, order);
    line_move(index, LINE_EVALUATE, spare, spare + blocks, order);
    for (uint32_t i = 0; i < index->dim_count; i++) {
        const struct dim *dim = &index->dims[i];

        line_move(index, dim_line_here(dim), spare, spare + blocks, order);
        line_move(index, dim_line_deviant(dim), spare, spare + blocks, order);
        for (uint32_t slab = 0; slab < dim_slab_room(dim) && !dim_has_columns(dim); slab++)
            line_move(index, dim->line + slab, spare, spare + blocks, order);
    }
    free(spare);
}

/* Moves the rows themselves, after their lines: ads are told, and the free ones linked anew. */
static void rows_move(struct index *index, const uint32_t *order)
{
    uint32_t rows = index->row_count, *now = mem_alloc(rows * sizeof *now);
    struct row *moved = mem_alloc(rows * sizeof *moved);

    for (uint32_t row = 0; row < rows; row++)
        now[order[row]] = row;
    for (uint32_t id = 0; id < index->entry_count; id++)
        if (index->entries[id].ad && index_first_row(index, id) != NO_ROW)
            index->entries[id].row = now[index->entries[id].row];
    index->free_row = NO_ROW;
    for (uint32_t row = rows; row-- > 0;) {
        moved[row] = index->rows[order[row]];
        if (!line_has(&index->blocks[row / LINE_ROWS][LINE_LIVE], row % LINE_ROWS)) {
            moved[row].next = index->free_row;
            index->free_row = row;
        } else if (moved[row].next != NO_ROW) {
            moved[row].next = now[moved[row].next];
        }
    }
    memcpy(index->rows, moved, rows * sizeof *moved);
    for (uint32_t n = 0; n < index->block_count && index->place; n++)
        index->least[n] = UINT64_MAX;
    for (uint32_t row = 0; row < rows && index->place; row++) {
        uint64_t *least = &index->least[row / LINE_ROWS], place = index->rows[row].place;

        if (line_has(&index->blocks[row / LINE_ROWS][LINE_LIVE], row % LINE_ROWS) && place < *least)
            *least = place;
    }
    free(moved);
    free(now);
}

void near_order(struct index *index)
{
    uint32_t *order = index->near.on && index->row_count > LINE_ROWS ? order_make(index) : NULL;
    double *spare;

    if (!order)
        return;
    spare = mem_alloc(index->row_count * sizeof *spare);
    for (uint32_t i = 0; i < index->dim_count; i++) {
        column_move(index->dims[i].low, spare, order, index->row_count);
        column_move(index->dims[i].high, spare, order, index->row_count);
    }
    free(spare);
    lines_move(index, order);
    rows_move(index, order);
    free(order);
}

/* ------------------------------------------------------------------------------------------------------------- fields */

/* Does a line hold none of the block's rows, or all of those in `whole`? */
static void line_survey(const struct line *block, uint32_t line, uint32_t whole, bool *ret_some, bool *ret_every)
{
    line_word in = 0, out = 0;

    for (int k = 0; k < LINE_WORDS; k++) {
        in |= block[line].words[k] & block[LINE_LIVE].words[k];
        out |= ~block[line].words[k] & block[whole].words[k] & block[LINE_LIVE].words[k];
    }
    *ret_some = in != 0;
    *ret_every = out == 0;
}

/* Rows without a value are in no line of an imported dimension's slabs: where such a line is taken out, they are out already. */
static uint32_t whole_of(const struct dim *dim, uint32_t line)
{
    return !dim->exported && dim_has_columns(dim) && line < dim_line_here(dim) ? dim_line_here(dim) : LINE_LIVE;
}

static void survey_line(struct near *near, const struct line *block, uint32_t n, uint32_t line, uint32_t whole)
{
    size_t at = (size_t)(n / LINE_ROWS) * near->lines + line;
    bool some, every;

    line_survey(block, line, whole, &some, &every);
    line_set(&near->some[at], n % LINE_ROWS, some);
    line_set(&near->every[at], n % LINE_ROWS, every);
}

static void survey_block(struct index *index, uint32_t n)
{
    struct near *near = &index->near;

    for (uint32_t line = 0; line < LINE_DIMS; line++)
        survey_line(near, index->blocks[n], n, line, LINE_LIVE);
    for (uint32_t i = 0; i < index->dim_count; i++) {
        const struct dim *dim = &index->dims[i];

        for (uint32_t line = dim->line; line < dim->line + dim_lines(dim) && line < near->lines; line++)
            survey_line(near, index->blocks[n], n, line, whole_of(dim, line));
    }
    line_set(&near->open[n / LINE_ROWS], n % LINE_ROWS, false);
    near->counts[n] = (struct near_block){0};
}

void near_survey(struct index *index)
{
    struct near *near = &index->near;
    size_t lines;

    near_done(near);
    if (!near->on || index->row_count <= (NEAR_FROM - 1) * LINE_ROWS)
        return;
    near->blocks = (index->row_count + LINE_ROWS - 1) / LINE_ROWS;
    near->field_count = (near->blocks + LINE_ROWS - 1) / LINE_ROWS;
    near->lines = index->line_count;
    lines = (size_t)near->field_count * near->lines;
    near->some = mem_alloc_lines(lines * sizeof *near->some);
    near->every = mem_alloc_lines(lines * sizeof *near->every);
    near->open = mem_alloc_lines(near->field_count * sizeof *near->open);
    near->counts = mem_alloc(near->blocks * sizeof *near->counts);
    for (uint32_t n = 0; n < near->blocks; n++)
        survey_block(index, n);
}

void near_forget(struct near *near, uint32_t line, uint32_t count)
{
    for (uint32_t field = 0; field < near->field_count; field++) {
        for (uint32_t i = line; i < line + count && i < near->lines; i++) {
            memset(&near->some[(size_t)field * near->lines + i], 0xff, sizeof *near->some);
            memset(&near->every[(size_t)field * near->lines + i], 0, sizeof *near->every);
        }
    }
}

static void block_open(struct near *near, uint32_t n)
{
    line_set(&near->open[n / LINE_ROWS], n % LINE_ROWS, true);
}

void near_put(struct near *near, uint32_t n)
{
    if (n < near->blocks)
        block_open(near, n);
}

void near_gone(struct near *near, uint32_t n)
{
    if (n < near->blocks && ++near->counts[n].gone == GONE_MAX)
        block_open(near, n);
}

void near_visited(struct index *index, uint32_t n)
{
    struct near *near = &index->near;

    if (n < near->blocks && line_has(&near->open[n / LINE_ROWS], n % LINE_ROWS) &&
        ++near->counts[n].visits >= VISITS_MAX)
        survey_block(index, n);
}

bool near_valid(const struct index *index)
{
    const struct near *near = &index->near;

    for (uint32_t n = 0; n < near->blocks; n++) {
        if (line_has(&near->open[n / LINE_ROWS], n % LINE_ROWS))
            continue;
        for (uint32_t i = 0; i < index->dim_count; i++) {
            const struct dim *dim = &index->dims[i];

            for (uint32_t line = dim->line; line < dim->line + dim_lines(dim) && line < near->lines; line++) {
                size_t at = (size_t)(n / LINE_ROWS) * near->lines + line;
                bool some, every;

                line_survey(index->blocks[n], line, whole_of(dim, line), &some, &every);
                if ((some && !line_has(&near->some[at], n % LINE_ROWS)) ||
                    (!every && line_has(&near->every[at], n % LINE_ROWS)))
                    return false;
            }
        }
    }
    return true;
}
