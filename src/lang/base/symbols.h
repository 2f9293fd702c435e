/* symbols.h: names as numbers.
 *
 * A symbol stands for a name as it was spelt. Two spellings that differ only in ASCII case share the upper bits, so
 * comparing names is comparing integers, and printing still gives back the spelling:
 *
 *     symbol = name number << 8 | number of the spelling       (at most 256 spellings a name; further ones print as the first)
 *
 * Symbols are counted: whoever keeps a symbol has taken it, and drops it again; a name that nobody holds is forgotten, and its number is used anew.
 * So strangers cannot fill the table. The names given to symbols_new are numbered 1, 2, ... in their order and never forgotten.
 *
 * Workload: some fifty takes for each ad that is read, nearly all of names that the table knows already. */
#ifndef BERTH_LANG_BASE_SYMBOLS_H
#define BERTH_LANG_BASE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct symbols;
typedef uint32_t symbol;

#define SYMBOL_NONE 0u
#define SYMBOL_SPELLING_BITS 8
#define SYMBOL_NAMES_MAX ((1u << 24) - 1)

/* The symbol of the n-th name (from 1) given to symbols_new, as spelt there. */
#define SYMBOL_KNOWN(n) ((symbol)(n) << SYMBOL_SPELLING_BITS)

static inline uint32_t symbol_name(symbol s)
{
    return s >> SYMBOL_SPELLING_BITS;
}

/* Do both symbols stand for the same name, whatever their spelling? */
static inline bool symbol_same(symbol a, symbol b)
{
    return ((a ^ b) >> SYMBOL_SPELLING_BITS) == 0;
}

/* `seed` makes the hash unguessable where strangers choose the names; it changes nothing else. */
struct symbols *symbols_new(const char *const *known, size_t known_count, uint64_t seed);
void symbols_free(struct symbols *symbols);

symbol symbols_take(struct symbols *symbols, const char *name,
                    size_t len); /* aborts past SYMBOL_NAMES_MAX names held */

/* symbols_hold adds a reference, symbols_drop takes one away. Copying an ad does this for every cell, so both are here to be inlined. The table
 * begins with an array that counts, by number of the name, how often each name is held in its first spelling; further spellings are rare. */
struct symbols_head {
    uint32_t *held;
};
void symbols_hold_other(struct symbols *symbols, symbol s);
void symbols_drop_other(struct symbols *symbols, symbol s);
void symbols_forget(struct symbols *symbols, symbol s); /* nobody holds the symbol any more */

static inline void symbols_hold(struct symbols *symbols, symbol s)
{
    if (s & ((1u << SYMBOL_SPELLING_BITS) - 1))
        symbols_hold_other(symbols, s);
    else
        ((struct symbols_head *)(void *)symbols)->held[symbol_name(s)]++;
}

static inline void symbols_drop(struct symbols *symbols, symbol s)
{
    if (s & ((1u << SYMBOL_SPELLING_BITS) - 1))
        symbols_drop_other(symbols, s);
    else if (--((struct symbols_head *)(void *)symbols)->held[symbol_name(s)] == 0)
        symbols_forget(symbols, s);
}

/* A symbol of that name in some spelling, not counted; SYMBOL_NONE when nobody holds one. */
symbol symbols_find(const struct symbols *symbols, const char *name, size_t len);

/* Does the symbol stand for that name, whatever the case? For a few symbols this is quicker than looking up the name. */
bool symbols_named(const struct symbols *symbols, symbol s, const char *name, size_t len);

/* Memory that users of the table put aside for the next time: this is the first member of a struct of their own, all of one kind. The table keeps at
 * most SYMBOLS_SPARES of them, and frees those that it has when it is freed itself. */
struct symbols_spare {
    struct symbols_spare *next;
    void (*free)(struct symbols_spare *spare);
};
#define SYMBOLS_SPARES 4
struct symbols_spare *symbols_spare_take(struct symbols *symbols); /* NULL when there is none */
void symbols_spare_give(struct symbols *symbols, struct symbols_spare *spare);

const char *symbols_text(const struct symbols *symbols, symbol s, size_t *ret_len); /* NUL-terminated as well */
size_t symbols_count(const struct symbols *symbols);                                /* names held now */

#ifdef __cplusplus
}
#endif
#endif
