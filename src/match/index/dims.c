/* dims.c: the dimensions of an index: found by attribute, made when they are asked for, dropped when there are too many. */
#include "lang/base/mem.h"
#include "match/index/index_parts.h"

#include <stdlib.h>

#define LINES_STEP 16                 /* a block grows by so many lines ... */
#define LINES_CHEAP ((size_t)4 << 20) /* ... or, while all blocks are smaller than that, by as many as it has */

static uint32_t names_slot(const struct index_names *names, symbol name)
{
    uint32_t slot = symbol_name(name) * 0x9e3779b1u >> 16;

    for (;; slot++) {
        uint32_t place = names->slots[slot % (INDEX_DIMS_MAX * 2)];

        if (!place || symbol_same(names->items[place - 1].name, name))
            return slot % (INDEX_DIMS_MAX * 2);
    }
}

static uint32_t names_find(const struct index_names *names, symbol name)
{
    uint32_t place = names->slots[names_slot(names, name)];

    return place ? names->items[place - 1].first : NO_DIM;
}

/* Allocates the blocks from `first` to below `end`. */
void index_chunk(struct index *index, uint32_t first, uint32_t end)
{
    struct line *lines = mem_alloc_lines((size_t)(end - first) * index->line_room * sizeof *lines);

    index->chunks[index->chunk_count++] = lines;
    for (uint32_t i = first; i < end; i++, lines += index->line_room)
        index->blocks[i] = lines;
}

/* Makes room for that many more lines in every block. */
static void lines_grow(struct index *index, uint32_t more)
{
    bool cheap =
        index->block_count && (size_t)index->block_count * index->line_room * sizeof(struct line) < LINES_CHEAP;
    uint32_t room = index->line_room, old_count = index->chunk_count;
    struct line *old[INDEX_CHUNKS_MAX], **blocks;

    while (room < index->line_count + more)
        room += cheap ? room : LINES_STEP;
    if (room == index->line_room)
        return;
    memcpy(old, index->chunks, sizeof old);
    blocks = mem_alloc(index->block_count * sizeof *blocks);
    for (uint32_t i = 0; i < index->block_count; i++)
        blocks[i] = index->blocks[i];
    index->line_room = room;
    index->chunk_count = 0;
    if (index->block_count)
        index_chunk(index, 0, index->block_count);
    for (uint32_t i = 0; i < index->block_count; i++)
        memcpy(index->blocks[i], blocks[i], index->line_count * sizeof **blocks);
    for (uint32_t i = 0; i < old_count; i++)
        free(old[i]);
    free(blocks);
}

void index_lines_forget(struct index *index, uint32_t line, uint32_t count)
{
    near_forget(&index->near, line, count);
    for (uint32_t i = line; i < line + count && i < index->weight_room; i++)
        index->weights[i] = WEIGHT_UNKNOWN;
}

/* Fills a new imported dimension from the ads that are there; a new exported one bounds nobody yet. */
static void dim_fill(struct index *index, struct dim *dim)
{
    dim_columns_grow(dim, 0, index->row_room);
    for (uint32_t row = 0; row < index->row_count && !dim->exported; row++) {
        struct line *block = index->blocks[row / LINE_ROWS];
        struct dim_cell cell;

        if (!line_has(&block[LINE_LIVE], row % LINE_ROWS))
            continue;
        cell = index_cell(index, dim, index->entries[index->rows[row].id].ad);
        dim_put_column(dim, block, row, &cell);
    }
    dim_encode(dim, index->blocks, index->row_count);
}

/* Takes a dimension out of the list of its name. */
static void names_unlink(struct index *index, struct index_names *names, uint32_t place)
{
    struct index_name *item = &names->items[names->slots[names_slot(names, index->dims[place].attribute.name)] - 1];
    uint32_t *link = &item->first;

    while (*link != place)
        link = &index->dims[*link].same;
    *link = index->dims[place].same;
    if (item->first != NO_DIM)
        return;
    *item = names->items[--names->count];
    memset(names->slots, 0, sizeof names->slots);
    for (uint32_t i = 0; i < names->count; i++)
        names->slots[names_slot(names, names->items[i].name)] = (uint16_t)(i + 1);
}

void dim_drop_symbols(struct index *index, const struct dim *dim)
{
    symbols_drop(index->symbols, dim->attribute.name);
    if (dim->attribute.then != SYMBOL_NONE)
        symbols_drop(index->symbols, dim->attribute.then);
}

/* Makes room for a dimension: drops the imported one that was asked for longest ago. NO_DIM when all are in use. */
static uint32_t dim_drop(struct index *index, uint32_t lines)
{
    uint32_t oldest = NO_DIM;

    for (uint32_t i = 0; i < index->dim_count; i++) {
        const struct dim *dim = &index->dims[i];

        if (!dim->exported && dim->asked < index->stamp && dim_lines(dim) >= lines &&
            (oldest == NO_DIM || dim->asked < index->dims[oldest].asked))
            oldest = i;
    }
    if (oldest == NO_DIM)
        return NO_DIM;
    names_unlink(index, &index->imported, oldest);
    dim_drop_symbols(index, &index->dims[oldest]);
    dim_done(&index->dims[oldest]);
    return oldest;
}

static uint32_t dim_make(struct index *index, bool exported, struct attribute attribute, unsigned kind, bool counts)
{
    struct index_names *names = exported ? &index->exported : &index->imported;
    struct dim new = {.attribute = attribute,
                      .kind = (unsigned char)kind,
                      .exported = exported,
                      .counts = counts,
                      .slab_count = kind < KEY_KINDS ? 1 : 0,
                      .line = index->line_count,
                      .asked = index->stamp};
    uint32_t place = index->dim_count, slot;

    if (place == INDEX_DIMS_MAX) {
        place = dim_drop(index, dim_lines(&new));
        if (place == NO_DIM)
            return NO_DIM;
        new.line = index->dims[place].line;
    } else {
        lines_grow(index, dim_lines(&new));
        index->line_count += dim_lines(&new);
        index->dim_count++;
    }
    for (uint32_t i = 0; i < index->block_count; i++)
        memset(&index->blocks[i][new.line], 0, dim_lines(&new) * sizeof(struct line));
    index_lines_forget(index, new.line, dim_lines(&new));
    slot = names_slot(names, attribute.name);
    if (!names->slots[slot]) {
        names->items[names->count] = (struct index_name){attribute.name, NO_DIM};
        names->slots[slot] = (uint16_t)++names->count;
    }
    new.same = names->items[names->slots[slot] - 1].first;
    new.shared = new.same != NO_DIM;
    if (new.shared)
        index->dims[new.same].shared = true;
    names->items[names->slots[slot] - 1].first = place;
    symbols_hold(index->symbols, attribute.name);
    if (attribute.then != SYMBOL_NONE)
        symbols_hold(index->symbols, attribute.then);
    index->dims[place] = new;
    dim_fill(index, &index->dims[place]);
    return place;
}

static inline bool dim_is(const struct dim *dim, struct attribute attribute, unsigned kind, bool counts)
{
    return dim->kind == kind && dim->counts == counts && attribute_same(dim->attribute, attribute);
}

uint32_t index_dim(struct index *index, bool exported, struct attribute attribute, unsigned kind, bool counts,
                   bool make)
{
    uint32_t dim = names_find(exported ? &index->exported : &index->imported, attribute.name);

    counts = counts && kind == KEY_NUMBER; /* this matters to numbers only */
    while (dim != NO_DIM && !dim_is(&index->dims[dim], attribute, kind, counts))
        dim = index->dims[dim].same;
    if (dim == NO_DIM && make)
        dim = dim_make(index, exported, attribute, kind, counts);
    return dim;
}

uint32_t index_asked(struct index *index, struct attribute attribute, unsigned kind, bool counts)
{
    uint32_t dim = index_dim(index, false, attribute, kind, counts, false);

    if (dim != NO_DIM) {
        index->dims[dim].asked = index->stamp;
        return dim;
    }
    for (uint32_t i = 0; i < index->asked_count && i < INDEX_ASKED_MAX; i++) {
        const struct asked *asked = &index->asked[i];

        if (attribute_same(asked->attribute, attribute) && asked->kind == kind && asked->counts == counts)
            return asked->stamp == index->stamp ? NO_DIM : index_dim(index, false, attribute, kind, counts, true);
    }
    index->asked[index->asked_count++ % INDEX_ASKED_MAX] =
        (struct asked){attribute, index->stamp, (unsigned char)kind, counts};
    return NO_DIM;
}

/* Numbers the strings of a column anew; rows that are gone give up theirs. */
static void column_renumber(struct index *index, struct dim *dim, const struct key_strings *old)
{
    for (uint32_t row = 0; row < index->row_count; row++) {
        bool live = line_has(&index->blocks[row / LINE_ROWS][LINE_LIVE], row % LINE_ROWS);
        bool equal = dim->exported && dim->high[row] == dim->low[row];
        const char *text;
        uint32_t len;

        if (!live)
            dim_columns_clear(dim, row, row + 1);
        if (!live || !key_strings_text(old, dim->low[row], &text, &len))
            continue;
        dim->low[row] = key_strings_add(&index->strings, text, len);
        if (equal)
            dim->high[row] = dim->low[row];
    }
    dim_encode(dim, index->blocks, index->row_count);
    index_lines_forget(index, dim->line, dim_lines(dim));
}

void index_renumber(struct index *index)
{
    struct key_strings old = index->strings;

    if (old.count < index->strings_max)
        return;
    key_strings_init(&index->strings);
    for (uint32_t i = 0; i < index->dim_count; i++)
        if (index->dims[i].kind == KEY_STRING)
            column_renumber(index, &index->dims[i], &old);
    index->strings_max = index->strings.count * 2 + INDEX_STRINGS_SPARE;
    key_strings_done(&old);
}
