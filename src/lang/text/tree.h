/* tree.h: an expression, or a whole ad, as one block of memory that never changes.
 *
 *     header | cell cell cell ... root cell | text of strings, tables of names
 *
 * Every part of an expression is a cell of 16 bytes. A cell that has parts (a list, an ad, a chain, a call, ...) names them as a run
 * of cells before it; a literal is just its cell. Nothing in the block is a pointer into it, so a block is made by copying, and an ad
 * of 38 attributes takes about a kilobyte.
 *
 *     chain   a + b - c     three cells; the label of the second and third is the operator in front
 *     path    a.b[0].c      the base, then steps; a step's label says whether it selects or subscripts
 *     ad      [ x = 1 ]     a cell an attribute, labelled with its name; the cell in front of the run may be a table to find them
 *
 * Trees are shared by counting and hold their symbols; the table of symbols must outlive them. */
#ifndef BERTH_LANG_TEXT_TREE_H
#define BERTH_LANG_TEXT_TREE_H

#include "lang/base/symbols.h"
#include "lang/text/dialect.h"

#ifdef __cplusplus
extern "C" {
#endif

enum expr_kind {
    /* literals, in the order of the value types */
    EXPR_UNDEFINED,
    EXPR_ERROR,
    EXPR_BOOLEAN,
    EXPR_INTEGER,
    EXPR_REAL,
    EXPR_STRING,
    EXPR_ABSTIME,
    EXPR_RELTIME,
    /* aggregates */
    EXPR_LIST,
    EXPR_AD,
    /* references */
    EXPR_NAME,      /* a */
    EXPR_ROOT_NAME, /* .a */
    EXPR_DOT,       /* a.b, which nearly all paths are */
    EXPR_PATH,      /* any other base with its steps */
    /* operations */
    EXPR_PREFIX, /* -a */
    EXPR_CHAIN,  /* a + b - c: operators of one precedence */
    EXPR_CHOICE, /* a ? b : c */
    EXPR_CALL,   /* f(a, b) */
    /* made by specialisation only */
    EXPR_WITHIN, /* the rest of the attribute of that name: a reference back to that attribute is circular */
    /* inside trees only */
    EXPR_TABLE, /* finds the attributes of the ad whose run follows it */
    EXPR_VALUE, /* a value made by evaluation; never in a sealed tree */
};

enum op {
    OP_NONE,
    OP_OR,
    OP_AND,
    OP_BIT_OR,
    OP_BIT_XOR,
    OP_BIT_AND,
    OP_EQUAL,
    OP_NOT_EQUAL,
    OP_IS,
    OP_ISNT,
    OP_LESS,
    OP_LESS_EQUAL,
    OP_GREATER,
    OP_GREATER_EQUAL,
    OP_SHIFT_LEFT,
    OP_SHIFT_RIGHT,
    OP_SHIFT_RIGHT_ZERO,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER,
    OP_NOT, /* the prefix operators; minus and plus are OP_SUBTRACT and OP_ADD */
    OP_COMPLEMENT,
    OP_COUNT
};

/* Text and precedence of each operator; a larger level binds tighter, prefix operators tightest. */
struct op_row {
    char text[5];
    unsigned char level;
};
#define OP_LEVEL_PREFIX 11
extern const struct op_row op_table[OP_COUNT];

enum step { STEP_SELECT = 1, STEP_SUBSCRIPT };

#define TREE_DEFAULT_FUNCTION "ifUndefined" /* a ?: b is read as this function of a and b */

#define EXPR_FLAG_PARENTHESES 1u /* stood in parentheses; this flag is for printing only */
#define EXPR_FLAG_NAMED 2u       /* the label is a symbol */
#define EXPR_FLAG_OPERATOR 4u    /* a call of TREE_DEFAULT_FUNCTION that was written as a ?: b; for printing only */

struct expr {
    unsigned char kind; /* enum expr_kind */
    unsigned char flags;
    int16_t small;  /* ABSTIME: minutes east; PREFIX: the operator; CALL: the number of arguments; BOOLEAN: the value */
    uint32_t label; /* the attribute's name in an ad; the operator in front in a chain; the step in a path */
    union {
        int64_t integer; /* INTEGER, ABSTIME (seconds since 1970), RELTIME (seconds) */
        double real;
        struct {
            uint32_t at;    /* STRING, TABLE: offset in the text; else the index of the first part's cell */
            uint32_t count; /* bytes, or parts */
        } run;
        struct {
            uint32_t at; /* CALL: its arguments */
            symbol id;   /* NAME, ROOT_NAME, WITHIN: the name; DOT: the name selected; CALL: the function */
        } name;
        const void *value; /* VALUE */
    } u;
};
/* DOT keeps its base name where the others keep `at`. */
#define EXPR_DOT_BASE(e) ((e)->u.name.at)

/* Something that code has read out of a tree and wants to find there again: the first member of a struct of its own. A tree never changes, so neither
 * does its note. The note is freed with the tree. */
struct tree_note {
    void (*free)(struct tree_note *note);
};

struct tree {
    uint32_t references;
    uint32_t cell_count;
    uint32_t text_len;
    uint32_t known; /* for lang/ad/functions.h: is the tree steady? 0: nobody has asked yet */
    const struct dialect *dialect;
    struct symbols *symbols;
    struct tree_note *note; /* for match/gang/ported.h, its one user; or NULL */
    struct expr cells[1];   /* cell_count of them, the root last; then the text */
};

/* Limits that keep reading and walking bounded. */
#define TREE_DEPTH_MAX 256   /* brackets, prefix operators, ?:, calls and nested ads */
#define TREE_STEPS_MAX 4096  /* of a path a.b[0].c */
#define TREE_HEIGHT_MAX 640  /* cells inside one another, chains counted as well */
#define TREE_PARTS_MAX 32767 /* arguments of a call, attributes of an ad */
#define TREE_TABLE_FROM 9    /* an ad with at least this many attributes has a table */

struct tree *tree_ref(struct tree *tree);
void tree_unref(struct tree *tree);

static inline const struct expr *tree_root(const struct tree *tree)
{
    return &tree->cells[tree->cell_count - 1];
}

static inline const struct expr *tree_parts(const struct tree *tree, const struct expr *e)
{
    return &tree->cells[e->u.run.at];
}

static inline const char *tree_text(const struct tree *tree)
{
    return (const char *)&tree->cells[tree->cell_count];
}

/* The bytes of a STRING cell; u.run.count of them, no NUL. */
static inline const char *tree_string(const struct tree *tree, const struct expr *e)
{
    return tree_text(tree) + e->u.run.at;
}

static inline bool tree_is_ad(const struct tree *tree)
{
    return tree_root(tree)->kind == EXPR_AD;
}

/* Is this a plain value, which refers to nothing and has no parts? The literals are the first kinds. */
static inline bool expr_is_literal(const struct expr *e)
{
    return e->kind <= EXPR_RELTIME;
}

/* Does u.name.id hold a symbol? */
static inline bool expr_has_symbol(const struct expr *e)
{
    return (e->kind >= EXPR_NAME && e->kind <= EXPR_DOT) || e->kind == EXPR_CALL || e->kind == EXPR_WITHIN;
}

/* Gives back the symbols that a run of cells holds. */
void expr_drop_symbols(struct symbols *symbols, const struct expr *cells, uint32_t count);

/* How many parts a cell has. Every walk calls this for every cell. */
static inline uint32_t expr_part_count(const struct expr *e)
{
    if (expr_is_literal(e))
        return 0;
    switch (e->kind) {
    case EXPR_LIST:
    case EXPR_AD:
    case EXPR_PATH:
    case EXPR_CHAIN:
        return e->u.run.count;
    case EXPR_PREFIX:
    case EXPR_WITHIN:
        return 1;
    case EXPR_CHOICE:
        return 3;
    case EXPR_CALL:
        return (uint32_t)e->small;
    default:
        return 0;
    }
}

/* The attribute of that name in an AD cell, or NULL. The cell returned is the attribute's expression. Half of all
 * evaluation is spent here, so it is inlined.
 *
 * The table of an ad is a power of two of slots, one byte each for up to 255 attributes, else two: the attribute's
 * place plus one, or 0. `build.c` fills it. */
static inline const struct expr *tree_find(const struct tree *tree, const struct expr *ad, symbol name)
{
    const struct expr *parts = tree_parts(tree, ad);
    uint32_t count = ad->u.run.count;

    if (count < TREE_TABLE_FROM) {
        for (uint32_t i = 0; i < count; i++)
            if (symbol_same(parts[i].label, name))
                return &parts[i];
        return NULL;
    } else {
        const struct expr *table = parts - 1;
        const unsigned char *slots = (const unsigned char *)tree_text(tree) + table->u.run.at;
        uint32_t mask = table->u.run.count - 1, slot = symbol_name(name) * 0x9e3779b1u >> 16;

        for (;; slot++) {
            uint32_t place = count < 256 ? slots[slot & mask]
                                         : (uint32_t)slots[(slot & mask) * 2] << 8 | slots[(slot & mask) * 2 + 1];

            if (!place)
                return NULL;
            if (symbol_same(parts[place - 1].label, name))
                return &parts[place - 1];
        }
    }
}

/* Are two expressions the same tree? Names compare by name, not by spelling; parentheses and WITHIN do not count; reals by their bits. */
bool tree_equal(const struct tree *a, const struct expr *ea, const struct tree *b, const struct expr *eb);

/* A hash that is equal for trees that tree_equal calls the same; spread over all bits. */
uint64_t tree_hash(const struct tree *tree, const struct expr *e);

size_t tree_size(const struct tree *tree); /* bytes of the block */

#ifdef __cplusplus
}
#endif
#endif
