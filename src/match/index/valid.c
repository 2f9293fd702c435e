/* valid.c: is an index in order? For tests: every row is looked at in every dimension. */
#include "match/index/index_parts.h"

#include <math.h>

/* What a row's line must say, by its columns. */
static bool slab_bit(const struct dim *dim, uint32_t row, uint32_t slab, bool *ret_known)
{
    double low = dim->low[row];

    *ret_known = true;
    if (!dim->exported) {
        if (isnan(low))
            return false;
        return dim->kind == KEY_STRING ? slab == dim_slab(dim, low) : slab >= dim_slab(dim, low);
    }
    if (low == -INFINITY && dim->high[row] == INFINITY)
        return true;
    if (dim->kind == KEY_STRING) {
        *ret_known = slab < DIM_STRING_OWN;
        return isnan(dim->high[row]) ? slab != dim_slab(dim, low) : slab == dim_slab(dim, low);
    }
    *ret_known = !isnan(dim->high[row]);
    return (low == -INFINITY || slab >= dim_slab(dim, low)) && slab <= dim_slab(dim, dim->high[row]);
}

static const char *cell_wrong(struct index *index, const struct dim *dim, uint32_t row)
{
    const struct line *block = index->blocks[row / LINE_ROWS];
    uint32_t bit = row % LINE_ROWS;
    struct dim_cell cell = {0};
    bool known;

    if (!dim->exported) {
        cell = index_cell(index, dim, index->entries[index->rows[row].id].ad);
        if (cell.here != line_has(&block[dim_line_here(dim)], bit) ||
            cell.deviant != line_has(&block[dim_line_deviant(dim)], bit))
            return "a row is not where its ad's attribute says";
        if (dim_has_columns(dim) && !(cell.low == dim->low[row] || (isnan(cell.low) && isnan(dim->low[row]))))
            return "a column does not hold what the ad has";
    }
    for (uint32_t slab = 0; slab < dim_slab_room(dim) && !dim_has_columns(dim); slab++)
        if ((cell.slabs >> slab & 1) != line_has(&block[dim->line + slab], bit))
            return "a row is not in the slabs of its elements";
    for (uint32_t slab = 0; slab < dim->slab_count; slab++)
        if (slab_bit(dim, row, slab, &known) != line_has(&block[dim->line + slab], bit) && known)
            return "a line does not hold what the column says";
    return NULL;
}

static const char *dim_wrong(struct index *index, const struct dim *dim)
{
    uint32_t here = 0, deviant = 0;
    const char *wrong = NULL;

    for (uint32_t row = 0; row < index->row_count && !wrong; row++) {
        const struct line *block = index->blocks[row / LINE_ROWS];

        here += line_has(&block[dim_line_here(dim)], row % LINE_ROWS);
        deviant += line_has(&block[dim_line_deviant(dim)], row % LINE_ROWS);
        if (line_has(&block[LINE_LIVE], row % LINE_ROWS))
            wrong = cell_wrong(index, dim, row);
    }
    if (!wrong && (here != dim->here || deviant != dim->deviant))
        wrong = "a dimension has miscounted its rows";
    for (uint32_t i = 1; i + 1 < dim->slab_count && !wrong && dim->kind < KEY_STRING; i++)
        if (dim->cuts[i - 1] >= dim->cuts[i])
            wrong = "cuts are out of order";
    return wrong;
}

static const char *classes_wrong(const struct index *index)
{
    struct class_key key;

    for (uint32_t id = 0; id < index->entry_count; id++) {
        const struct index_entry *entry = &index->entries[id];
        const struct ad_class *class = entry->in_class == NO_CLASS ? NULL : &index->classes.items[entry->in_class];

        if (entry->next != NO_ID && (entry->next <= id || index->entries[entry->next].in_class != entry->in_class))
            return "the members of a class are out of order";
        if (class && class->head != id && (entry->row >= id || index->entries[entry->row].next != id))
            return "a member of a class does not know the one before it";
        if (class && (class->head > id || class->tail < id || (class->tail == id) != (entry->next == NO_ID)))
            return "a class does not know its members";
        if (class && (!classes_key(&index->classes, entry->ad, &key) ||
                      classes_find(&index->classes, entry->ad, &key) != entry->in_class))
            return "an ad is not of its class";
    }
    return NULL;
}

static const char *rows_wrong(const struct index *index)
{
    uint32_t live = 0, linked = 0, spare = 0;

    for (uint32_t row = 0; row < index->row_count; row++)
        live += line_has(&index->blocks[row / LINE_ROWS][LINE_LIVE], row % LINE_ROWS);
    for (uint32_t id = 0; id < index->entry_count; id++) {
        const struct index_entry *entry = &index->entries[id];

        for (uint32_t row = index_first_row(index, id); row != NO_ROW && linked <= live;
             row = index->rows[row].next, linked++)
            if (index->rows[row].id != id || !entry->ad ||
                !line_has(&index->blocks[row / LINE_ROWS][LINE_LIVE], row % LINE_ROWS))
                return "a row belongs to an ad that does not know it";
    }
    for (uint32_t row = index->free_row; row != NO_ROW && spare <= index->row_count; row = index->rows[row].next)
        spare++;
    for (uint32_t row = 0; row < index->row_count && index->place; row++)
        if (line_has(&index->blocks[row / LINE_ROWS][LINE_LIVE], row % LINE_ROWS) &&
            (index->rows[row].place < index->least[row / LINE_ROWS] ||
             index->place(index->place_user, index->rows[row].id) < index->rows[row].place))
            return "an ad has a smaller place than its row or its block says";
    if (linked != live || live + spare != index->row_count)
        return "rows are lost";
    return NULL;
}

bool index_valid(const struct index *index, const char **ret_why)
{
    const char *wrong = rows_wrong(index);

    if (!wrong)
        wrong = classes_wrong(index);
    if (!wrong && !near_valid(index))
        wrong = "a field leaves out a block in which something may fit";
    /* cells are made by a function that may number a string; a valid index knows all of them */
    for (uint32_t i = 0; i < index->dim_count && !wrong; i++)
        wrong = dim_wrong((struct index *)index, &index->dims[i]);
    if (ret_why)
        *ret_why = wrong;
    return !wrong;
}
