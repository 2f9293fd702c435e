/* grow.h: random trees for tests, by the builder alone: whatever it makes is a tree that some text stands for. */
#ifndef BERTH_TESTS_GROW_H
#define BERTH_TESTS_GROW_H

#include "lang/base/rng.h"
#include "lang/text/constant.h"
#include "lang/text/parse.h"
#include "lang/text/timetext.h"
#include "lang/text/words.h"

#include <math.h>
#include <string.h>

struct grow {
    struct rng rng;
    struct build *build;
    const char *const *names; /* of attributes, NULL-terminated */
    const char *const *bases; /* of a.b; NULL: as names */
    bool odd;                 /* names, strings and numbers that are hard to print */
    bool simple;              /* no aggregates, paths or calls: only what the reference evaluator knows */

    /* A function's name and how many arguments to give it; NULL: calls are of f. */
    const char *(*call)(struct grow *g, uint32_t *ret_count);
};

static inline uint64_t grow_below(struct grow *g, uint64_t bound)
{
    return rng_below(&g->rng, bound);
}

static inline symbol grow_symbol(struct grow *g, const char *const *names)
{
    size_t count = 0;
    while (names[count])
        count++;
    const char *name = names[grow_below(g, count)];
    if (g->odd && g->build->dialect->quoted_names && grow_below(g, 20) == 0) {
        static const char *const odd[] = {"a b", "it's", "true",     "is",       "9",
                                          "\\",  "x\ny", "\xc3\xa9", "\001\177", "self"};
        name = odd[grow_below(g, sizeof odd / sizeof *odd)];
    }
    return symbols_take(g->build->symbols, name, strlen(name));
}

static inline void grow_string(struct grow *g)
{
    static const char *const plain[] = {"", "a", "A", "abc", "INTEL", "intel", "SOLARIS251", "1", "true"};
    if (g->odd && grow_below(g, 2)) {
        char text[12];
        size_t len = grow_below(g, sizeof text);
        for (size_t i = 0; i < len; i++)
            text[i] = (char)(1 + grow_below(g, 255));
        build_string(g->build, text, len);
        return;
    }
    const char *text = plain[grow_below(g, sizeof plain / sizeof *plain)];
    build_string(g->build, text, strlen(text));
}

static inline int64_t grow_integer(struct grow *g)
{
    static const int64_t odd[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, 1ll << 32, -(1ll << 53) - 1, 63, 64, 65, -64};
    if (grow_below(g, 10) == 0)
        return odd[grow_below(g, sizeof odd / sizeof *odd)];
    return (int64_t)grow_below(g, 8) - 2;
}

static inline double grow_real(struct grow *g)
{
    static const double odd[] = {-0.0, 1e308, -1e308, 5e-324, 0x1p63, -0x1p63, 0x1p53, 1e-7, 0.1, 1e22};
    if (g->odd && grow_below(g, 4) == 0) {
        uint64_t word = rng_next(&g->rng);
        double value;
        memcpy(&value, &word, sizeof value);
        return isnan(value) ? NAN : value;
    }
    if (grow_below(g, 10) == 0)
        return odd[grow_below(g, sizeof odd / sizeof *odd)];
    return ((double)grow_below(g, 17) - 6) / 4;
}

static inline void grow_time(struct grow *g)
{
    int64_t low = g->build->dialect->early_times ? TIME_ABSOLUTE_MIN : 0;
    switch (grow_below(g, 4)) {
    case 0:
        build_abstime(g->build, low + (int64_t)grow_below(g, (uint64_t)(TIME_ABSOLUTE_MAX - low + 1)),
                      (int)grow_below(g, 2 * TIME_ZONE_MAX - 1) - TIME_ZONE_MAX + 1);
        break;
    case 1:
        build_abstime(g->build, 86400 * (int64_t)grow_below(g, 3), 60 * (int)grow_below(g, 3));
        break;
    case 2:
        build_reltime(g->build, g->odd ? (int64_t)rng_next(&g->rng) >> grow_below(g, 63) : 60);
        break;
    default:
        build_reltime(g->build, (int64_t)grow_below(g, 7) - 3);
        break;
    }
}

static inline void grow_literal(struct grow *g)
{
    switch (grow_below(g, 9)) {
    case 0:
        build_undefined(g->build);
        break;
    case 1:
        build_error(g->build);
        break;
    case 2:
    case 3:
        build_boolean(g->build, grow_below(g, 2));
        break;
    case 4:
    case 5:
        build_integer(g->build, grow_integer(g));
        break;
    case 6:
        build_real(g->build, grow_real(g));
        break;
    case 7:
        grow_string(g);
        break;
    default:
        grow_time(g);
        break;
    }
}

static inline void grow_leaf(struct grow *g)
{
    if (grow_below(g, 4))
        grow_literal(g);
    else
        build_name(g->build, grow_below(g, 8) ? EXPR_NAME : EXPR_ROOT_NAME, grow_symbol(g, g->names));
}

static inline void grow_expr(struct grow *g, unsigned depth);

static inline void grow_chain(struct grow *g, unsigned depth)
{
    enum op first = (enum op)(OP_OR + grow_below(g, OP_NOT - OP_OR));
    uint32_t count = 2 + (uint32_t)(grow_below(g, 3) ? 0 : grow_below(g, 4));
    for (uint32_t i = 0; i < count; i++) {
        enum op op = first;
        grow_expr(g, depth - 1);
        if (i > 1) /* another operator of the same level */
            do
                op = (enum op)(OP_OR + grow_below(g, OP_NOT - OP_OR));
            while (op_table[op].level != op_table[first].level);
        build_top(g->build)->label = i ? op : 0;
    }
    build_bind(g->build, EXPR_CHAIN, count);
}

/* An ad of up to `most` attributes, no name twice. */
static inline void grow_ad(struct grow *g, unsigned depth, uint32_t most)
{
    uint32_t count = (uint32_t)grow_below(g, most + 1), kept = 0, place;
    uint32_t taken[64];

    for (uint32_t i = 0; i < count && i < 64; i++) {
        symbol name = grow_symbol(g, g->names);
        size_t len;
        const char *text = symbols_text(g->build->symbols, name, &len);
        bool twice = !word_may_name(text, len);
        for (uint32_t k = 0; k < kept; k++)
            twice = twice || taken[k] == symbol_name(name);
        if (twice) {
            symbols_drop(g->build->symbols, name);
            continue;
        }
        taken[kept++] = symbol_name(name);
        grow_expr(g, depth - 1);
        build_attribute(g->build, name);
    }
    build_ad(g->build, kept, &place);
}

static inline void grow_call(struct grow *g, unsigned depth)
{
    uint32_t count = (uint32_t)grow_below(g, 4);
    const char *name = g->call ? g->call(g, &count) : "f";

    for (uint32_t i = 0; i < count; i++)
        grow_expr(g, depth - 1);
    build_call(g->build, symbols_take(g->build->symbols, name, strlen(name)), count);
    constant_fold(g->build); /* as the parser does */
}

/* Pushes an expression of at most that depth. */
static inline void grow_expr(struct grow *g, unsigned depth)
{
    uint32_t count;

    if (depth == 0 || grow_below(g, 5) == 0) {
        grow_leaf(g);
        return;
    }
    switch (g->simple ? (unsigned[]){2, 4, 7, 15, 15}[grow_below(g, 5)] : (unsigned)grow_below(g, 16)) {
    case 0:
        count = (uint32_t)grow_below(g, 4);
        for (uint32_t i = 0; i < count; i++)
            grow_expr(g, depth - 1);
        build_bind(g->build, EXPR_LIST, count);
        break;
    case 1:
        grow_ad(g, depth, 4);
        break;
    case 2:
    case 3:
        grow_expr(g, depth - 1);
        build_prefix(g->build, (enum op[]){OP_NOT, OP_COMPLEMENT, OP_ADD, OP_SUBTRACT}[grow_below(g, 4)]);
        break;
    case 4:
        grow_expr(g, depth - 1);
        grow_expr(g, depth - 1);
        grow_expr(g, depth - 1);
        build_bind(g->build, EXPR_CHOICE, 3);
        break;
    case 5:
        grow_expr(g, depth - 1);
        build_select(g->build, grow_symbol(g, g->names));
        break;
    case 6:
        grow_expr(g, depth - 1);
        grow_expr(g, depth - 1);
        build_subscript(g->build);
        break;
    case 7:
    case 8:
        build_name(g->build, EXPR_NAME, grow_symbol(g, g->bases ? g->bases : g->names));
        build_select(g->build, grow_symbol(g, g->names));
        break;
    case 9:
        grow_call(g, depth);
        break;
    default:
        grow_chain(g, depth);
        break;
    }
    if (g->odd && grow_below(g, 12) == 0)
        build_top(g->build)->flags |= EXPR_FLAG_PARENTHESES;
}

#endif
