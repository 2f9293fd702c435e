/* build.c: puts trees together, from the leaves up. */
#include "lang/text/build.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define SEAL_BY_COPY_MAX (1u << 20) /* from this many bytes on, the scratch block itself becomes the tree */

#define SPARE_CELLS_MAX 4096 /* memory for more cells than this, or */
#define SPARE_TEXT_MAX 65536 /* for more bytes of text than this, is not kept for another builder */

/* The memory of a builder that is done. */
struct build_spare {
    struct symbols_spare head;
    struct tree *block;
    struct expr *stack;
    char *text;
    uint32_t cell_room, stack_room, text_room;
};

static void build_spare_free(struct symbols_spare *head)
{
    struct build_spare *spare = (struct build_spare *)(void *)head;

    free(spare->block);
    free(spare->stack);
    free(spare->text);
    free(spare);
}

void build_init(struct build *build, struct symbols *symbols, const struct dialect *dialect)
{
    struct build_spare *spare = symbols ? (struct build_spare *)(void *)symbols_spare_take(symbols) : NULL;

    *build = (struct build){.symbols = symbols, .dialect = dialect, .spare = spare};
    if (!spare)
        return;
    build->block = spare->block;
    build->cells = spare->block ? spare->block->cells : NULL;
    build->stack = spare->stack;
    build->text = spare->text;
    build->cell_room = spare->cell_room;
    build->stack_room = spare->stack_room;
    build->text_room = spare->text_room;
}

void build_reset(struct build *build)
{
    expr_drop_symbols(build->symbols, build->cells, build->cell_count);
    expr_drop_symbols(build->symbols, build->stack, build->stack_count);
    build->cell_count = build->stack_count = build->text_len = 0;
}

/* Gives the memory to the next builder with the same symbols, unless there is much of it. */
static void build_keep(struct build *build)
{
    struct build_spare *spare = build->spare;
    bool much =
        build->cell_room > SPARE_CELLS_MAX || build->stack_room > SPARE_CELLS_MAX || build->text_room > SPARE_TEXT_MAX;

    if (much || !build->symbols || (!spare && !build->block && !build->stack)) {
        free(build->block);
        free(build->stack);
        free(build->text);
        free(spare);
        return;
    }
    if (!spare)
        spare = mem_alloc(sizeof *spare);
    *spare = (struct build_spare){{NULL, build_spare_free}, build->block,      build->stack,    build->text,
                                  build->cell_room,         build->stack_room, build->text_room};
    symbols_spare_give(build->symbols, &spare->head);
}

void build_done(struct build *build)
{
    if (!build)
        return;
    build_reset(build);
    build_keep(build);
    buf_done(&build->source);
    *build = (struct build){0};
}

void build_stack_grow(struct build *build)
{
    build->stack_room = build->stack_room ? build->stack_room * 2 : 64;
    build->stack = mem_grow(build->stack, build->stack_room * sizeof *build->stack);
}

static size_t tree_bytes(uint32_t cells, uint32_t text_len)
{
    return offsetof(struct tree, cells) + (size_t)cells * sizeof(struct expr) + text_len;
}

static char *text_reserve(struct build *build, size_t len)
{
    if (build->text_room - build->text_len < len) {
        size_t room = build->text_room ? (size_t)build->text_room * 2 : 1024;

        if (room < build->text_len + len)
            room = build->text_len + len;
        if (room > UINT32_MAX)
            abort();
        build->text = mem_grow(build->text, room);
        build->text_room = (uint32_t)room;
    }
    return build->text + build->text_len;
}

void build_string_begin(struct build *build)
{
    build_push(build, (struct expr){.kind = EXPR_STRING, .u.run.at = build->text_len});
}

void build_string_append(struct build *build, const char *text, size_t len)
{
    if (len) {
        memcpy(text_reserve(build, len), text, len);
        build->text_len += (uint32_t)len;
    }
}

void build_string_end(struct build *build)
{
    struct expr *top = build_top(build);

    top->u.run.count = build->text_len - top->u.run.at;
}

void build_string(struct build *build, const char *text, size_t len)
{
    build_string_begin(build);
    build_string_append(build, text, len);
    build_string_end(build);
}

static struct expr *cells_reserve(struct build *build, uint32_t count)
{
    if (build->cell_room - build->cell_count < count) {
        build->cell_room = build->cell_room ? build->cell_room * 2 : 128;
        if (build->cell_room < build->cell_count + count)
            build->cell_room = build->cell_count + count;
        build->block = mem_grow(build->block, tree_bytes(build->cell_room, 0));
        build->cells = build->block->cells;
    }
    return &build->cells[build->cell_count];
}

/* Moves the last `count` cells of the stack to the cells; returns the index of the first. */
static uint32_t parts_move(struct build *build, uint32_t count)
{
    uint32_t at = build->cell_count;

    if (count) {
        memcpy(cells_reserve(build, count), build->stack + build->stack_count - count, count * sizeof *build->stack);
        build->cell_count += count;
        build->stack_count -= count;
    }
    return at;
}

void build_bind(struct build *build, enum expr_kind kind, uint32_t count)
{
    uint32_t at = parts_move(build, count);

    build_push(build, (struct expr){.kind = (unsigned char)kind, .u.run = {at, count}});
}

void build_prefix(struct build *build, enum op op)
{
    uint32_t at = parts_move(build, 1);

    build_push(build, (struct expr){.kind = EXPR_PREFIX, .small = (int16_t)op, .u.run = {at, 1}});
}

void build_call(struct build *build, symbol taken, uint32_t count)
{
    uint32_t at = parts_move(build, count);

    build_push(build, (struct expr){.kind = EXPR_CALL, .small = (int16_t)count, .u.name = {at, taken}});
}

void build_within(struct build *build, symbol taken)
{
    uint32_t at = parts_move(build, 1);

    build_push(build, (struct expr){.kind = EXPR_WITHIN, .u.name = {at, taken}});
}

/* Adds a step to the path on top of the stack. A path under construction lies at the end of the cells, so it grows in place;
 * otherwise the path is made there or moved there. */
static void path_step(struct build *build, struct expr step)
{
    struct expr *base = build_top(build);

    if (base->kind == EXPR_PATH && !(base->flags & EXPR_FLAG_PARENTHESES)) {
        uint32_t at = base->u.run.at, count = base->u.run.count;

        if (at + count != build->cell_count) { /* the parts of a subscript came in between */
            cells_reserve(build, count);
            memcpy(&build->cells[build->cell_count], &build->cells[at], count * sizeof *build->cells);
            for (uint32_t i = 0; i < count; i++) /* the old place must not give the symbols back twice */
                build->cells[at + i] = (struct expr){.kind = EXPR_UNDEFINED};
            base->u.run.at = build->cell_count;
            build->cell_count += count;
        }
        *cells_reserve(build, 1) = step;
        build->cell_count++;
        base->u.run.count++;
        return;
    }
    build_push(build, step);
    build_bind(build, EXPR_PATH, 2);
}

void build_select(struct build *build, symbol taken)
{
    struct expr *base = build_top(build);

    if (base->kind == EXPR_NAME && !(base->flags & EXPR_FLAG_PARENTHESES)) {
        *base = (struct expr){.kind = EXPR_DOT, .u.name = {.at = base->u.name.id, .id = taken}};
        return;
    }
    path_step(build, (struct expr){.kind = EXPR_NAME, .label = STEP_SELECT, .u.name.id = taken});
}

void build_subscript(struct build *build)
{
    struct expr step = *build_top(build);

    step.label = STEP_SUBSCRIPT;
    build->stack_count--;
    path_step(build, step);
}

/* Where several of the last `count` attributes have one name, keeps the last of them; returns how many are left. One pass with a table of its own, so
 * that a stranger's ad of nothing but duplicates costs no more than another. */
static uint32_t duplicates_remove(struct build *build, uint32_t count)
{
    struct expr *parts = &build->stack[build->stack_count - count];
    uint32_t size = 16, kept = 0, *slots;

    while (size < count * 2)
        size *= 2;
    slots = mem_alloc(size * sizeof *slots);
    memset(slots, 0, size * sizeof *slots);
    for (uint32_t i = count; i-- > 0;) {
        uint32_t slot = symbol_name(parts[i].label) * 0x9e3779b1u & (size - 1);

        while (slots[slot] && !symbol_same(parts[slots[slot] - 1].label, parts[i].label))
            slot = (slot + 1) & (size - 1);
        if (slots[slot]) {
            expr_drop_symbols(build->symbols, &parts[i], 1);
            parts[i].kind = EXPR_TABLE; /* marks it to be removed below */
        } else {
            slots[slot] = i + 1;
        }
    }
    free(slots);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i].kind != EXPR_TABLE)
            parts[kept++] = parts[i];
    build->stack_count -= count - kept;
    return kept;
}

/* For a few attributes: compares each with each. Returns the earlier of an equal pair, or `count`. */
static uint32_t duplicate_among_few(const struct expr *parts, uint32_t count, uint32_t *ret_later)
{
    for (uint32_t later = 1; later < count; later++)
        for (uint32_t i = 0; i < later; i++)
            if (symbol_same(parts[i].label, parts[later].label)) {
                *ret_later = later;
                return i;
            }
    return count;
}

/* Fills the table of names, of two bytes a slot if `wide`; returns the earlier of an equal pair, or `count`. Inline, so that the
 * compiler makes one version for each width. */
static inline uint32_t table_fill(const struct expr *parts, uint32_t count, unsigned char *slots, uint32_t mask,
                                  bool wide, uint32_t *ret_later)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot = symbol_name(parts[i].label) * 0x9e3779b1u >> 16, place;

        for (;; slot++) {
            unsigned char *s = &slots[wide ? (slot & mask) * 2 : (slot & mask)];

            place = wide ? (uint32_t)s[0] << 8 | s[1] : s[0];
            if (!place) {
                if (wide)
                    *s++ = (unsigned char)((i + 1) >> 8);
                *s = (unsigned char)(i + 1);
                break;
            }
            if (symbol_same(parts[place - 1].label, parts[i].label)) {
                *ret_later = i;
                return place - 1;
            }
        }
    }
    return count;
}

int build_ad(struct build *build, uint32_t count, uint32_t *ret_place)
{
    while (count) {
        const struct expr *parts = build->stack + build->stack_count - count;
        uint32_t earlier, later = 0;

        if (count < TREE_TABLE_FROM) {
            earlier = duplicate_among_few(parts, count, &later);
        } else {
            uint32_t size = 16, start = build->text_len, bytes;
            unsigned char *slots;

            while (size * 2 < count * 3)
                size *= 2;
            bytes = count < 256 ? size : size * 2;
            slots = (unsigned char *)text_reserve(build, bytes);
            memset(slots, 0, bytes);
            earlier = count < 256 ? table_fill(parts, count, slots, size - 1, false, &later)
                                  : table_fill(parts, count, slots, size - 1, true, &later);
            if (earlier == count) {
                build->text_len += bytes;
                *cells_reserve(build, 1) = (struct expr){.kind = EXPR_TABLE, .u.run = {start, size}};
                build->cell_count++;
            }
        }
        if (earlier == count)
            break;
        if (!build->dialect->last_duplicate_holds) {
            *ret_place = later;
            return -1;
        }
        count = duplicates_remove(build, count);
    }
    build_bind(build, EXPR_AD, count);
    return 0;
}

/* Where the parts of an expression lie in its tree, and the parts of those. */
struct extent {
    uint32_t cells, cells_from, cells_to; /* how many cells, and the range in which they lie */
    uint32_t bytes, text_from, text_to;
};

static inline void extent_add_text(struct extent *extent, uint32_t from, uint32_t bytes)
{
    extent->bytes += bytes;
    if (from < extent->text_from)
        extent->text_from = from;
    if (from + bytes > extent->text_to)
        extent->text_to = from + bytes;
}

static void extent_add(struct extent *extent, const struct tree *tree, const struct expr *e);

/* Adds what is inside a run of cells. */
static inline void extent_add_run(struct extent *extent, const struct tree *tree, const struct expr *run,
                                  uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (run[i].kind == EXPR_STRING)
            extent_add_text(extent, run[i].u.run.at, run[i].u.run.count);
        else if (!expr_is_literal(&run[i]))
            extent_add(extent, tree, &run[i]);
    }
}

static void extent_add(struct extent *extent, const struct tree *tree, const struct expr *e)
{
    uint32_t count = expr_part_count(e), from = e->u.run.at, to = from + count;
    const struct expr *parts = tree_parts(tree, e);

    if (!count)
        return;
    if (e->kind == EXPR_AD && count >= TREE_TABLE_FROM) {
        const struct expr *table = parts - 1;

        extent_add_text(extent, table->u.run.at, count < 256 ? table->u.run.count : table->u.run.count * 2);
        from--;
    }
    extent->cells += to - from;
    if (from < extent->cells_from)
        extent->cells_from = from;
    if (to > extent->cells_to)
        extent->cells_to = to;
    extent_add_run(extent, tree, parts, count);
}

/* Adjusts a cell of a copied extent: its places now name its parts and its text where they are now, and it holds its symbols. */
static inline void cell_settle(struct symbols *symbols, struct expr *cell, uint32_t cells_by, uint32_t text_by)
{
    if (cell->flags & EXPR_FLAG_NAMED)
        symbols_hold(symbols, cell->label);
    if (cell->kind == EXPR_STRING || cell->kind == EXPR_TABLE)
        cell->u.run.at += text_by;
    if (expr_is_literal(cell))
        return;
    if (expr_has_symbol(cell))
        symbols_hold(symbols, cell->u.name.id);
    if (cell->kind == EXPR_DOT)
        symbols_hold(symbols, EXPR_DOT_BASE(cell));
    else if (expr_part_count(cell))
        cell->u.run.at += cells_by; /* the same place as u.name.at */
}

/* Does everything inside the run lie together in its tree, as a parser puts it? Then it can be copied as one block. */
static bool extent_of(struct extent *extent, const struct tree *tree, const struct expr *run, uint32_t count)
{
    *extent = (struct extent){.cells_from = UINT32_MAX, .text_from = UINT32_MAX};
    extent_add_run(extent, tree, run, count);
    if (!extent->cells)
        extent->cells_from = extent->cells_to = 0;
    if (!extent->bytes)
        extent->text_from = extent->text_to = 0;
    return extent->cells_to - extent->cells_from == extent->cells &&
           extent->text_to - extent->text_from == extent->bytes;
}

/* Copies the cells of the extent to `cells`, which is the place `at`; their text will begin at `text_at`. */
static void extent_copy(const struct extent *extent, const struct tree *tree, struct symbols *symbols,
                        struct expr *cells, uint32_t at, uint32_t text_at)
{
    memcpy(cells, &tree->cells[extent->cells_from], extent->cells * sizeof *cells);
    for (uint32_t i = 0; i < extent->cells; i++)
        cell_settle(symbols, &cells[i], at - extent->cells_from, text_at - extent->text_from);
}

/* Pushes copies of a run of cells, labels and all. False when the parts inside them do not lie together. */
static bool block_push(struct build *build, const struct tree *tree, const struct expr *run, uint32_t count)
{
    uint32_t at = build->cell_count, text_at = build->text_len;
    struct extent extent;

    if (!extent_of(&extent, tree, run, count))
        return false;
    if (extent.cells)
        extent_copy(&extent, tree, build->symbols, cells_reserve(build, extent.cells), at, text_at);
    build->cell_count += extent.cells;
    build_string_append(build, tree_text(tree) + extent.text_from, extent.bytes);
    for (uint32_t i = 0; i < count; i++) {
        build_push(build, run[i]);
        cell_settle(build->symbols, build_top(build), at - extent.cells_from, text_at - extent.text_from);
    }
    return true;
}

static void cell_push(struct build *build, const struct tree *tree, const struct expr *e);

/* Pushes copies of a run of cells, cell by cell. */
static void run_push(struct build *build, const struct tree *tree, const struct expr *run, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        cell_push(build, tree, &run[i]);
        build_top(build)->label = run[i].label;
        if (run[i].flags & EXPR_FLAG_NAMED) {
            symbols_hold(build->symbols, run[i].label);
            build_attribute(build, run[i].label);
        }
    }
}

/* Pushes a copy of one cell, without its label. */
static void cell_push(struct build *build, const struct tree *tree, const struct expr *e)
{
    unsigned char flags = e->flags & (unsigned char)~EXPR_FLAG_NAMED;
    uint32_t count = expr_part_count(e), place;
    struct expr copy = *e;

    run_push(build, tree, tree_parts(tree, e), count);
    if (e->kind == EXPR_AD) {
        build_ad(build, count, &place);
    } else if (e->kind == EXPR_STRING) {
        build_string(build, tree_string(tree, e), e->u.run.count);
    } else {
        if (count)
            copy.u.run.at = parts_move(build, count);
        if (expr_has_symbol(e))
            symbols_hold(build->symbols, e->u.name.id);
        if (e->kind == EXPR_DOT)
            symbols_hold(build->symbols, EXPR_DOT_BASE(e));
        copy.label = 0;
        build_push(build, copy);
    }
    build_top(build)->flags = flags;
}

/* A copy of an attribute's cell, without its name. */
static struct expr cell_bare(const struct expr *e)
{
    struct expr bare = *e;

    bare.flags &= (unsigned char)~EXPR_FLAG_NAMED;
    bare.label = 0;
    return bare;
}

void build_copy(struct build *build, const struct tree *tree, const struct expr *e)
{
    struct expr bare = cell_bare(e);

    if (!block_push(build, tree, &bare, 1))
        cell_push(build, tree, e);
}

void build_copy_run(struct build *build, const struct tree *tree, const struct expr *run, uint32_t count)
{
    if (count && !block_push(build, tree, run, count))
        run_push(build, tree, run, count);
}

void build_copy_parts(struct build *build, const struct tree *tree, const struct expr *e)
{
    build_copy_run(build, tree, tree_parts(tree, e), expr_part_count(e));
}

struct build_mark build_mark(const struct build *build)
{
    return (struct build_mark){build->cell_count, build->stack_count, build->text_len};
}

void build_rewind(struct build *build, struct build_mark mark)
{
    if (build->cell_count > mark.cells)
        expr_drop_symbols(build->symbols, build->cells + mark.cells, build->cell_count - mark.cells);
    if (build->stack_count > mark.stack)
        expr_drop_symbols(build->symbols, build->stack + mark.stack, build->stack_count - mark.stack);
    build->cell_count = mark.cells;
    build->stack_count = mark.stack;
    build->text_len = mark.text;
}

const char *build_source(struct build *build, const char *text, size_t len)
{
    buf_reset(&build->source);
    buf_add(&build->source, text, len);
    return buf_string(&build->source);
}

static void tree_head(struct tree *tree, const struct build *build, uint32_t cells, uint32_t text_len)
{
    tree->references = 1;
    tree->cell_count = cells;
    tree->text_len = text_len;
    tree->known = 0;
    tree->dialect = build->dialect;
    tree->symbols = build->symbols;
    tree->note = NULL;
}

struct tree *build_seal(struct build *build)
{
    uint32_t count = build->cell_count + 1;
    size_t bytes = tree_bytes(count, build->text_len);
    struct expr root = build->stack[0];
    struct tree *tree;

    if (bytes < SEAL_BY_COPY_MAX) {
        tree = mem_alloc(bytes);
        if (build->cell_count)
            memcpy(tree->cells, build->cells, build->cell_count * sizeof *build->cells);
    } else { /* the block itself becomes the tree */
        tree = mem_grow(build->block, bytes);
        build->block = NULL;
        build->cells = NULL;
        build->cell_room = 0;
    }
    tree_head(tree, build, count, build->text_len);
    tree->cells[count - 1] = root;
    if (build->text_len)
        memcpy(&tree->cells[count], build->text, build->text_len);
    build->cell_count = build->stack_count = build->text_len = 0;
    return tree;
}

struct tree *build_seal_copy(struct build *build, const struct tree *tree, const struct expr *e)
{
    struct expr *root;
    struct extent extent;
    struct tree *copy;

    if (!extent_of(&extent, tree, e, 1)) {
        cell_push(build, tree, e);
        return build_seal(build);
    }
    copy = mem_alloc(tree_bytes(extent.cells + 1, extent.bytes));
    tree_head(copy, build, extent.cells + 1, extent.bytes);
    extent_copy(&extent, tree, build->symbols, copy->cells, 0, 0);
    root = &copy->cells[extent.cells];
    *root = cell_bare(e);
    cell_settle(build->symbols, root, 0 - extent.cells_from, 0 - extent.text_from);
    if (extent.bytes)
        memcpy(&copy->cells[extent.cells + 1], tree_text(tree) + extent.text_from, extent.bytes);
    return copy;
}
