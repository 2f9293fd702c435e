/* index.c: the rows of an index: ads come, change and go. */
#include "match/index/index.h"

#include "lang/base/mem.h"
#include "match/index/index_parts.h"

#include <math.h>
#include <stdlib.h>

struct index *index_new(void)
{
    struct index *index = mem_alloc(sizeof *index);

    memset(index, 0, sizeof *index);
    key_strings_init(&index->strings);
    wants_init(&index->wants);
    index->dims = mem_alloc(INDEX_DIMS_MAX * sizeof *index->dims);
    index->imported.items = mem_alloc(INDEX_DIMS_MAX * sizeof *index->imported.items);
    index->exported.items = mem_alloc(INDEX_DIMS_MAX * sizeof *index->exported.items);
    index->line_count = LINE_DIMS;
    index->line_room = LINE_DIMS;
    index->free_row = NO_ROW;
    index->strings_max = INDEX_STRINGS_SPARE;
    return index;
}

void index_free(struct index *index)
{
    if (!index)
        return;
    for (uint32_t i = 0; i < index->entry_count; i++)
        tree_unref(index->entries[i].ad);
    for (uint32_t i = 0; i < index->dim_count; i++) {
        dim_drop_symbols(index, &index->dims[i]);
        dim_done(&index->dims[i]);
    }
    near_done(&index->near);
    columns_done(&index->columns);
    for (uint32_t i = 0; i < index->chunk_count; i++)
        free(index->chunks[i]);
    free(index->dims);
    free(index->imported.items);
    free(index->exported.items);
    free(index->blocks);
    free(index->least);
    free(index->weights);
    free(index->rows);
    free(index->entries);
    probe_free(index->probe);
    classes_done(&index->classes, index->symbols);
    profiles_done(&index->profiles);
    wants_done(&index->wants);
    key_strings_done(&index->strings);
    free(index);
}

static const struct tree *entry_ad(void *user, uint32_t id)
{
    const struct index *index = user;

    return index->entries[id].ad;
}

void index_adopt(struct index *index, const struct tree *ad)
{
    if (!index->symbols)
        index->symbols = ad->symbols;
    if (!index->columns.ad)
        columns_init(&index->columns, index->symbols, entry_ad, index);
}

/* ---------------------------------------------------------------------------------------------------------------- rows */

/* Makes room for that many rows. */
static void rows_grow(struct index *index, uint32_t wanted)
{
    uint32_t room = (wanted + LINE_ROWS - 1) / LINE_ROWS * LINE_ROWS;

    if (room <= index->row_room)
        return;
    index->rows = mem_grow(index->rows, room * sizeof *index->rows);
    index->blocks = mem_grow(index->blocks, room / LINE_ROWS * sizeof *index->blocks);
    index_chunk(index, index->block_count, room / LINE_ROWS);
    index->least = mem_grow(index->least, room / LINE_ROWS * sizeof *index->least);
    for (uint32_t i = index->block_count; i < room / LINE_ROWS; i++)
        index->least[i] = UINT64_MAX;
    index->block_count = room / LINE_ROWS;
    for (uint32_t i = 0; i < index->dim_count; i++)
        dim_columns_grow(&index->dims[i], index->row_room, room);
    index->row_room = room;
}

static uint32_t row_take(struct index *index, uint32_t id, bool *ret_fresh)
{
    uint32_t row = index->free_row;

    *ret_fresh = row == NO_ROW;
    if (row == NO_ROW) {
        if (index->row_count == index->row_room)
            rows_grow(index, index->row_count + index->row_count / 2 + 1);
        row = index->row_count++;
    } else {
        index->free_row = index->rows[row].next;
    }
    index->rows[row] = (struct row){id, NO_ROW, 0};
    return row;
}

static void entries_grow(struct index *index, uint32_t count)
{
    index->entries = mem_grow(index->entries, count * sizeof *index->entries);
    for (uint32_t i = index->entry_count; i < count; i++)
        index->entries[i] = (struct index_entry){.row = NO_ROW, .in_class = NO_CLASS, .next = NO_ID};
    index->entry_count = count;
}

static struct index_entry *entry_at(struct index *index, uint32_t id)
{
    if (id >= index->entry_count)
        entries_grow(index, id + id / 2 + 64);
    return &index->entries[id];
}

/* The bound of the profile in a dimension, if it has one. */
static struct dim_cell profile_cell(const struct profile *profile, uint32_t dim)
{
    struct dim_cell none = {.low = -INFINITY, .high = INFINITY};

    for (uint32_t i = 0; i < profile->count; i++)
        if (profile->bounds[i].dim == dim)
            return profile->bounds[i].cell;
    return none;
}

static void row_put(struct index *index, uint32_t row, const struct tree *ad, const struct profile *profile, bool fresh)
{
    struct line *block = index->blocks[row / LINE_ROWS];

    for (uint32_t i = 0; i < index->dim_count; i++) {
        struct dim *dim = &index->dims[i];
        struct dim_cell cell = dim->exported ? profile_cell(profile, i) : index_cell(index, dim, ad);

        dim_put(dim, block, row, &cell, fresh);
    }
    line_set(&block[LINE_LIVE], row % LINE_ROWS, true);
    line_set(&block[LINE_EVALUATE], row % LINE_ROWS, profile->evaluate);
    near_put(&index->near, row / LINE_ROWS);
}

/* Makes the lines of all rows by the columns, where it pays after laying the rows in another order. */
static void rows_encode(struct index *index)
{
    near_order(index);
    for (uint32_t i = 0; i < index->dim_count; i++)
        dim_encode(&index->dims[i], index->blocks, index->row_count);
    index_lines_forget(index, 0, index->line_count);
    near_survey(index);
    index->encoded_rows = index->row_count;
}

/* Cuts the axes anew when the rows have doubled. */
static void index_settle(struct index *index)
{
    if (index->row_count >= index->encoded_rows * 2 + 64)
        rows_encode(index);
}

static void row_drop(struct index *index, uint32_t row)
{
    line_set(&index->blocks[row / LINE_ROWS][LINE_LIVE], row % LINE_ROWS, false);
    index->rows[row].next = index->free_row;
    index->free_row = row;
    near_gone(&index->near, row / LINE_ROWS);
}

static const struct index_entry entry_none = {.row = NO_ROW, .in_class = NO_CLASS, .next = NO_ID};

/* Drops the rows of an ad. */
static void entry_drop_rows(struct index *index, struct index_entry *entry)
{
    for (uint32_t row = entry->row, next; row != NO_ROW; row = next) {
        next = index->rows[row].next;
        row_drop(index, row);
    }
    entry->row = NO_ROW;
}

/* Lets the next member stand for the class; it takes over the rows. */
static void class_pass(struct index *index, struct ad_class *class, struct index_entry *from)
{
    struct index_entry *to = &index->entries[from->next];

    class->head = from->next;
    class->ad = to->ad;
    to->row = from->row;
    for (uint32_t row = to->row; row != NO_ROW; row = index->rows[row].next)
        index->rows[row].id = class->head;
    from->row = NO_ROW;
}

/* Takes an ad out of its class; the class goes with its last member. */
static void class_leave(struct index *index, uint32_t id)
{
    struct index_entry *entry = &index->entries[id];
    struct ad_class *class = &index->classes.items[entry->in_class];
    uint32_t before = entry->row;

    if (class->head == class->tail) {
        classes_remove(&index->classes, entry->in_class);
        return;
    }
    if (class->head == id) {
        class_pass(index, class, entry);
        return;
    }
    index->entries[before].next = entry->next;
    if (class->tail == id)
        class->tail = before;
    else
        index->entries[entry->next].row = before;
    entry->row = NO_ROW;
}

/* Puts an ad into a class, in the order of the numbers; it may become the head. */
static void class_join(struct index *index, uint32_t id, uint32_t place)
{
    struct ad_class *class = &index->classes.items[place];
    struct index_entry *entry = &index->entries[id];
    uint32_t before = class->head;

    entry->in_class = place;
    if (id < class->head) {
        struct index_entry *head = &index->entries[class->head];

        entry->next = class->head;
        entry->row = head->row;
        for (uint32_t row = entry->row; row != NO_ROW; row = index->rows[row].next)
            index->rows[row].id = id;
        head->row = id;
        class->head = id;
        class->ad = entry->ad;
        return;
    }
    if (id > class->tail)
        before = class->tail;
    while (index->entries[before].next < id) /* NO_ID is larger than any */
        before = index->entries[before].next;
    entry->next = index->entries[before].next;
    entry->row = before;
    index->entries[before].next = id;
    if (entry->next == NO_ID)
        class->tail = id;
    else
        index->entries[entry->next].row = id;
}

/* Replaces an ad by one of the same class: nothing else changes. False when the new ad is of another class. */
static bool class_keep(struct index *index, uint32_t id, struct tree *ad)
{
    struct index_entry *entry = &index->entries[id];
    struct ad_class *class;

    if (!entry->ad || entry->in_class == NO_CLASS || !classes_has(&index->classes, entry->in_class, ad))
        return false;
    class = &index->classes.items[entry->in_class];
    if (class->head == id)
        class->ad = ad;
    tree_unref(entry->ad);
    entry->ad = ad;
    columns_forget(&index->columns, id);
    return true;
}

static void entry_clear(struct index *index, uint32_t id)
{
    struct index_entry *entry = &index->entries[id];

    if (!entry->ad)
        return;
    if (entry->in_class != NO_CLASS)
        class_leave(index, id);
    entry_drop_rows(index, entry);
    index->timed_count -= entry->timed;
    tree_unref(entry->ad);
    *entry = entry_none;
    columns_forget(&index->columns, id);
}

void index_remove(struct index *index, uint32_t id)
{
    if (id < index->entry_count)
        entry_clear(index, id);
}

/* Reads the ad into index->wants and index->profiles; the dimensions that it needs are there afterwards. */
static void ad_read(struct index *index, const struct env *env, struct arena *scratch, struct tree *ad)
{
    index_adopt(index, ad);
    index->env = env;
    wants_read(&index->wants, env, scratch, ad);
    profiles_make(&index->profiles, index);
}

/* Prefetches what will be written of a row, so that it arrives while the ad is read. */
static void row_ahead(const struct index *index, uint32_t row)
{
    for (uint32_t i = 0; i < index->dim_count && row != NO_ROW; i++) {
        if (index->dims[i].low)
            __builtin_prefetch(&index->dims[i].low[row]);
        if (index->dims[i].high)
            __builtin_prefetch(&index->dims[i].high[row]);
    }
}

/* The row's ad has that place. */
static void row_place(struct index *index, uint32_t row, uint64_t place)
{
    index->rows[row].place = place;
    if (place < index->least[row / LINE_ROWS])
        index->least[row / LINE_ROWS] = place;
}

/* entry_make puts in an ad: as a member of a class that has its rows, or with rows of its own, which `put` writes. Takes the ad. */
typedef void row_put_fn(struct index *index, uint32_t row, const struct tree *ad, const struct profile *profile,
                        bool fresh);

static void entry_make(struct index *index, const struct env *env, struct arena *scratch, uint32_t id, struct tree *ad,
                       row_put_fn *put)
{
    struct index_entry *entry = entry_at(index, id);
    bool shares = false;
    struct class_key key;

    *entry = entry_none;
    entry->ad = ad;
    index_adopt(index, ad);
    if (index->classes.on && (shares = classes_key(&index->classes, ad, &key))) {
        uint32_t place = classes_find(&index->classes, ad, &key);

        if (place != NO_CLASS) {
            class_join(index, id, place);
            return;
        }
    }
    ad_read(index, env, scratch, ad);
    entry->timed = index->wants.timed;
    index->timed_count += entry->timed;
    for (uint32_t i = 0; i < index->profiles.count; i++) {
        bool fresh;
        uint32_t row = row_take(index, id, &fresh);

        index->rows[row].next = entry->row;
        entry->row = row;
        if (index->place)
            row_place(index, row, index->place(index->place_user, id));
        put(index, row, ad, &index->profiles.items[i], fresh);
    }
    if (shares)
        entry->in_class = classes_add(&index->classes, ad, id, &key);
}

void index_put(struct index *index, const struct env *env, struct arena *scratch, uint32_t id, struct tree *ad)
{
    tree_ref(ad); /* it may be the very ad that is replaced */
    if (id < index->entry_count) {
        if (class_keep(index, id, ad))
            return;
        row_ahead(index, index_first_row(index, id));
        entry_clear(index, id);
    }
    entry_make(index, env, scratch, id, ad, row_put);
    index_settle(index);
    index_renumber(index);
}

void index_swap(struct index *index, uint32_t id, struct tree *ad)
{
    tree_ref(ad);
    tree_unref(index->entries[id].ad);
    index->entries[id].ad = ad;
    columns_forget(&index->columns, id);
}

/* Forgets all rows: nothing is left in lines and columns. */
static void rows_forget(struct index *index)
{
    for (uint32_t i = 0; i < index->block_count; i++) {
        memset(index->blocks[i], 0, index->line_count * sizeof(struct line));
        index->least[i] = UINT64_MAX;
    }
    for (uint32_t i = 0; i < index->dim_count; i++) {
        index->dims[i].here = index->dims[i].deviant = 0;
        dim_columns_clear(&index->dims[i], 0, index->row_room);
    }
    index->row_count = 0;
    index->free_row = NO_ROW;
    near_done(&index->near);
}

/* Puts in a row of a batch: its columns now, its lines at the end. */
static void row_put_column(struct index *index, uint32_t row, const struct tree *ad, const struct profile *profile,
                           bool fresh)
{
    struct line *block = index->blocks[row / LINE_ROWS];

    (void)fresh; /* in a batch all rows are */
    for (uint32_t i = 0; i < index->dim_count; i++) {
        if (!index->dims[i].exported) {
            struct dim_cell cell = index_cell(index, &index->dims[i], ad);

            dim_put_column(&index->dims[i], block, row, &cell);
        }
    }
    for (uint32_t i = 0; i < profile->count; i++)
        dim_put_column(&index->dims[profile->bounds[i].dim], block, row, &profile->bounds[i].cell);
    line_set(&block[LINE_LIVE], row % LINE_ROWS, true);
    line_set(&block[LINE_EVALUATE], row % LINE_ROWS, profile->evaluate);
}

void index_build(struct index *index, const struct env *env, struct arena *scratch, struct tree *const *ads,
                 uint32_t count)
{
    index_build_some(index, env, scratch, ads, count, UINT64_MAX);
}

uint32_t index_build_some(struct index *index, const struct env *env, struct arena *scratch, struct tree *const *ads,
                          uint32_t count, uint64_t steps)
{
    uint64_t from = env->meter ? *env->meter : 0;
    uint32_t id;

    rows_forget(index);
    if (count == 0)
        return 0;
    if (!index->classes.on)
        rows_grow(index, count);
    entries_grow(index, count);
    for (id = 0; id < count && (!env->meter || *env->meter - from <= steps); id++)
        if (ads[id])
            entry_make(index, env, scratch, id, tree_ref(ads[id]), row_put_column);
    rows_encode(index);
    return id;
}

void index_share(struct index *index, struct symbols *symbols, const symbol *names, uint32_t count, bool heads_only)
{
    index->symbols = symbols;
    index->heads_only = heads_only;
    classes_start(&index->classes, symbols, names, count);
}

void index_lay_near(struct index *index)
{
    index->near.on = true;
}

void index_set_places(struct index *index, index_place_fn *place, void *user)
{
    index->place = place;
    index->place_user = user;
}

void index_advance(struct index *index, uint32_t id)
{
    uint64_t place = index->place(index->place_user, id);

    for (uint32_t row = id < index->entry_count ? index_first_row(index, id) : NO_ROW; row != NO_ROW;
         row = index->rows[row].next)
        row_place(index, row, place);
}

uint32_t index_rows(const struct index *index)
{
    uint32_t rows = 0;

    for (uint32_t i = 0; i < index->block_count; i++)
        rows += line_count(&index->blocks[i][LINE_LIVE]);
    return rows;
}

void index_refresh(struct index *index, const struct env *env, struct arena *scratch)
{
    for (uint32_t id = 0; id < index->entry_count && index->timed_count; id++)
        if (index->entries[id].timed)
            index_put(index, env, scratch, id, index->entries[id].ad);
}

unsigned want_kind(const struct wants *wants, const struct want *want, uint32_t key)
{
    return want->kind == WANT_HAS      ? DIM_ELEMENTS
           : want->kind == WANT_LISTED ? DIM_ITEMS
                                       : wants->keys[want->keys + key].kind;
}

static void learn_node(struct index *index, uint32_t node, bool choice)
{
    const struct wants *wants = &index->wants;

    for (; node; node = wants->nodes[node].after) {
        const struct wants_node *at = &wants->nodes[node];
        const struct want *want;

        if (at->kind == WANTS_AND || at->kind == WANTS_OR)
            learn_node(index, at->child, true);
        if (at->kind != WANTS_LEAF)
            continue;
        want = &wants->items[at->want];
        for (uint32_t i = 0; i < want->key_count; i++)
            index_dim(index, false, want->attribute, want_kind(wants, want, i), wants->counts, true);
        if (choice || want->key_count == 0) /* its presence matters: for itself, or to tell a wrong type */
            index_dim(index, false, want->attribute, DIM_ABSENCE, false, true);
    }
}

void index_learn(struct index *index, const struct env *env, struct arena *scratch, const struct tree *ad)
{
    index_adopt(index, ad);
    wants_read(&index->wants, env, scratch, ad);
    learn_node(index, index->wants.top, false);
}

struct index_probed index_probed(const struct index *index)
{
    return index->probed;
}

size_t index_bytes(const struct index *index)
{
    size_t bytes = sizeof *index + INDEX_DIMS_MAX * sizeof *index->dims;

    bytes += (size_t)index->block_count * index->line_room * sizeof(struct line);
    bytes += (size_t)index->row_room * sizeof *index->rows + (size_t)index->entry_count * sizeof *index->entries;
    for (uint32_t i = 0; i < index->dim_count; i++)
        bytes += !dim_has_columns(&index->dims[i])
                     ? 0
                     : (size_t)index->row_room * sizeof(double) * (index->dims[i].exported ? 2 : 1) +
                           equals_bytes(index->dims[i].equals);
    bytes += index->weight_room * sizeof *index->weights;
    bytes += near_bytes(&index->near) + columns_memory(&index->columns);
    return bytes + index->strings.text_room + (size_t)index->strings.room * 24 + index->strings.slot_count * 4;
}
