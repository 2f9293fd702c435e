/* build.h: puts trees together, from the leaves up.
 *
 * The caller pushes parts and binds them into the cell that holds them, which is pushed in turn; at last it seals the one cell that is left into a
 * tree of its exact size. The builder keeps its scratch memory for the next tree, and the table of symbols keeps it for the next builder.
 *
 *     push 1, push 2, bind a list of 2 -> one cell {1, 2}; seal -> tree
 *
 * The builder owns the symbols of its cells until they are sealed. */
#ifndef BERTH_LANG_TEXT_BUILD_H
#define BERTH_LANG_TEXT_BUILD_H

#include "lang/base/buf.h"
#include "lang/base/err.h"
#include "lang/text/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct build {
    struct symbols *symbols;
    const struct dialect *dialect;
    struct tree *block; /* the cells lie in this block, so that a large one need not be copied to be sealed */
    struct expr *cells, *stack;
    char *text;
    struct buf source;         /* a copy of the text that is being read */
    struct build_spare *spare; /* the spare that the memory came with, or NULL */
    uint32_t cell_count, cell_room, stack_count, stack_room, text_len, text_room;
};

void build_init(struct build *build, struct symbols *symbols, const struct dialect *dialect);
void build_done(struct build *build);
void build_reset(struct build *build); /* drops an unfinished expression */

void build_stack_grow(struct build *build);

/* Pushes a new cell of that kind, cleared; the caller sets its fields. */
static inline struct expr *build_new(struct build *build, enum expr_kind kind)
{
    struct expr *cell;

    if (build->stack_count == build->stack_room)
        build_stack_grow(build);
    cell = &build->stack[build->stack_count++];
    cell->kind = (unsigned char)kind;
    cell->flags = 0;
    cell->small = 0;
    cell->label = 0;
    cell->u.integer = 0;
    return cell;
}

static inline void build_push(struct build *build, struct expr cell)
{
    *build_new(build, (enum expr_kind)cell.kind) = cell;
}

static inline struct expr *build_top(struct build *build)
{
    return &build->stack[build->stack_count - 1];
}

/* These push literals and names. */
static inline void build_undefined(struct build *build)
{
    build_new(build, EXPR_UNDEFINED);
}

static inline void build_error(struct build *build)
{
    build_new(build, EXPR_ERROR);
}

static inline void build_boolean(struct build *build, bool value)
{
    build_new(build, EXPR_BOOLEAN)->small = value;
}

static inline void build_integer(struct build *build, int64_t value)
{
    build_new(build, EXPR_INTEGER)->u.integer = value;
}

static inline void build_real(struct build *build, double value)
{
    build_new(build, EXPR_REAL)->u.real = value;
}

static inline void build_abstime(struct build *build, int64_t seconds, int zone_minutes)
{
    struct expr *cell = build_new(build, EXPR_ABSTIME);

    cell->small = (int16_t)zone_minutes;
    cell->u.integer = seconds;
}

static inline void build_reltime(struct build *build, int64_t seconds)
{
    build_new(build, EXPR_RELTIME)->u.integer = seconds;
}

/* EXPR_NAME or EXPR_ROOT_NAME; takes the symbol. */
static inline void build_name(struct build *build, enum expr_kind kind, symbol taken)
{
    build_new(build, kind)->u.name.id = taken;
}

void build_string(struct build *build, const char *text, size_t len);

/* A string that comes in pieces: the first call pushes it, the others fill it. */
void build_string_begin(struct build *build);
void build_string_append(struct build *build, const char *text, size_t len);
void build_string_end(struct build *build);

/* The last `count` cells pushed become the parts of one cell, which takes their place. Their labels must have been set. */
void build_bind(struct build *build, enum expr_kind kind, uint32_t count);
void build_prefix(struct build *build, enum op op);
void build_call(struct build *build, symbol taken, uint32_t count);
void build_within(struct build *build, symbol taken);
void build_select(struct build *build, symbol taken); /* top.name: lengthens a path or makes one */
void build_subscript(struct build *build);            /* the cell below the top [ top ], likewise */

/* Labels the top as an attribute of that name (takes the symbol); build_ad binds attributes. */
static inline void build_attribute(struct build *build, symbol taken)
{
    struct expr *top = build_top(build);

    top->label = taken;
    top->flags |= EXPR_FLAG_NAMED;
}

/* Binds the last `count` attributes into an ad. -1 when a name is there twice and the dialect does not allow that;
 * `ret_place` is then its place among the attributes. */
int build_ad(struct build *build, uint32_t count, uint32_t *ret_place);

/* Pushes a copy of an expression of another tree; or copies of all its parts, with their labels: the attributes of an ad, named. */
void build_copy(struct build *build, const struct tree *tree, const struct expr *e);
void build_copy_parts(struct build *build, const struct tree *tree, const struct expr *e);

/* The same for some parts of one cell that follow one another. */
void build_copy_run(struct build *build, const struct tree *tree, const struct expr *run, uint32_t count);

/* build_rewind drops everything that was pushed or bound since the mark. */
struct build_mark {
    uint32_t cells, stack, text;
};
struct build_mark build_mark(const struct build *build);
void build_rewind(struct build *build, struct build_mark mark);

/* A copy of a text to be read, padded as buf_string does; valid until the next one. */
const char *build_source(struct build *build, const char *text, size_t len);

/* The one cell on the stack becomes the root of a new tree. The builder is empty afterwards. */
struct tree *build_seal(struct build *build);

/* build_copy and build_seal at once. The builder must be empty. */
struct tree *build_seal_copy(struct build *build, const struct tree *tree, const struct expr *e);

#ifdef __cplusplus
}
#endif
#endif
