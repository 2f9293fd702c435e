/* symbols.c: names as numbers.
 *
 *     text --hash as spelt--> spelling { text, symbol }                    nearly every lookup ends here
 *     text --hash of lower case--> name { its spellings }                  only when a spelling is new
 *
 * Both tables are chains of indices, so that an entry can be taken out. */
#include "lang/base/symbols.h"

#include "lang/base/array.h"
#include "lang/base/frozen.h"
#include "lang/base/mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Rare code stays out of symbols_take and symbols_drop, which then need no stack frame. */
#if defined(__GNUC__)
#define RARE __attribute__((noinline))
#else
#define RARE
#endif

#define NONE UINT32_MAX
#define NOBODY_HELD (UINT32_C(1) << 31) /* number 0 stands for nobody: it may be held and dropped any number of times */
#define SPELLINGS_MAX (1u << SYMBOL_SPELLING_BITS)

struct spelling {
    uint64_t hash;
    char *text; /* NULL: this entry is free */
    uint32_t len;
    uint32_t references; /* of spellings after the first of a name; those of the first are in the table's head */
    symbol id;
    uint32_t next;     /* in its bucket, or in the list of free entries */
    uint32_t follower; /* the spelling taken after this one last time: ads of a kind name things in one order */
};

struct name {
    uint64_t hash;
    uint32_t *spellings; /* by number of spelling; NONE where the spelling was forgotten */
    uint32_t room, held; /* how many fit into `spellings`, and how many are there */
    uint32_t next;
    uint32_t first[1]; /* `spellings` points here while one is enough */
};

struct table {
    uint32_t *heads;
    uint32_t mask;
    uint32_t count;
};

struct symbols {
    struct symbols_head head;
    uint64_t seed;
    struct table exact, folded;
    struct spelling *spellings;
    uint32_t spelling_count, spelling_room, spelling_free, spelling_last;
    struct name **names; /* names[0] stands for nobody */
    uint32_t name_count, name_room, name_free;
    uint32_t *name_next_free;
    struct symbols_spare *spares;
    uint32_t spare_count;
    bool frozen;
    atomic_bool asked; /* in vain: see frozen.h */
};

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9fb21c651e98df25u;
    return hash ^ (hash >> 32);
}

static inline uint64_t load8(const char *text)
{
    uint64_t word;

    memcpy(&word, text, sizeof word);
    return word;
}

static inline uint64_t load4(const char *text)
{
    uint32_t word;

    memcpy(&word, text, sizeof word);
    return word;
}

/* Up to 16 bytes as two words that together hold each of them (the words overlap). So no loop is needed, and no copy of unknown length. */
static inline void load_ends(const char *text, size_t len, uint64_t *ret_first, uint64_t *ret_last)
{
    if (len >= 8) {
        *ret_first = load8(text);
        *ret_last = load8(text + len - 8);
    } else if (len >= 4) {
        *ret_first = load4(text);
        *ret_last = load4(text + len - 4);
    } else {
        *ret_first = len ? (unsigned char)text[0] | (uint64_t)(unsigned char)text[len / 2] << 8 : 0;
        *ret_last = len ? (unsigned char)text[len - 1] : 0;
    }
}

static inline uint64_t hash_exact(uint64_t seed, const char *text, size_t len)
{
    uint64_t hash = seed ^ (len * 0xff51afd7ed558ccdu), first, last;

    for (; len > 16; text += 8, len -= 8)
        hash = mix(hash, load8(text));
    load_ends(text, len, &first, &last);
    return mix(mix(hash, first), last);
}

static inline bool same_exact(const char *a, const char *b, size_t len)
{
    uint64_t first_a, last_a, first_b, last_b;

    if (len > 16)
        return memcmp(a, b, len) == 0;
    load_ends(a, len, &first_a, &last_a);
    load_ends(b, len, &first_b, &last_b);
    return first_a == first_b && last_a == last_b;
}

/* Eight characters in lower case at once. A byte below 128 is one of `A` to `Z` if adding 0x3f carries into
 * its highest bit and adding 0x25 does not. */
static inline uint64_t lower8(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u, high = 0x80 * ones;
    uint64_t low = word & ~high, from_a = low + (0x80 - 'A') * ones, past_z = low + (0x80 - 'Z' - 1) * ones;

    return word | ((from_a & ~past_z & ~word & high) >> 2);
}

static inline uint64_t hash_folded(uint64_t seed, const char *text, size_t len)
{
    uint64_t hash = ~seed ^ (len * 0xff51afd7ed558ccdu), first, last;

    for (; len > 16; text += 8, len -= 8)
        hash = mix(hash, lower8(load8(text)));
    load_ends(text, len, &first, &last);
    return mix(mix(hash, lower8(first)), lower8(last));
}

static inline bool same_folded_ends(const char *a, const char *b, size_t len)
{
    uint64_t first_a, last_a, first_b, last_b;

    load_ends(a, len, &first_a, &last_a);
    load_ends(b, len, &first_b, &last_b);
    return lower8(first_a) == lower8(first_b) && lower8(last_a) == lower8(last_b);
}

static inline bool same_folded(const char *a, const char *b, size_t len)
{
    for (; len > 16; a += 8, b += 8, len -= 8)
        if (lower8(load8(a)) != lower8(load8(b)))
            return false;
    return same_folded_ends(a, b, len);
}

static void table_init(struct table *table, uint32_t size)
{
    table->heads = mem_alloc(size * sizeof *table->heads);
    memset(table->heads, 0xff, size * sizeof *table->heads);
    table->mask = size - 1;
    table->count = 0;
}

/* A new spelling entry from the free list or the end. */
static uint32_t spelling_new(struct symbols *symbols)
{
    uint32_t at = symbols->spelling_free;

    if (at != NONE) {
        symbols->spelling_free = symbols->spellings[at].next;
        return at;
    }
    ARRAY_ROOM(symbols->spellings, symbols->spelling_count, symbols->spelling_room, 256);
    return symbols->spelling_count++;
}

static uint32_t name_new(struct symbols *symbols, uint64_t hash)
{
    uint32_t at = symbols->name_free;
    struct name *name = mem_alloc(sizeof *name);

    if (at != NONE) {
        symbols->name_free = symbols->name_next_free[at];
    } else {
        if (symbols->name_count > SYMBOL_NAMES_MAX)
            abort();
        if (symbols->name_count == symbols->name_room) {
            symbols->name_room = symbols->name_room ? symbols->name_room * 2 : 256;
            symbols->names = mem_grow(symbols->names, symbols->name_room * sizeof *symbols->names);
            symbols->head.held = mem_grow(symbols->head.held, symbols->name_room * sizeof *symbols->head.held);
            symbols->name_next_free =
                mem_grow(symbols->name_next_free, symbols->name_room * sizeof *symbols->name_next_free);
        }
        at = symbols->name_count++;
    }
    *name = (struct name){.hash = hash, .room = 1};
    name->spellings = name->first;
    name->first[0] = NONE;
    symbols->names[at] = name;
    symbols->head.held[at] = 0;
    return at;
}

/* The number that the next spelling of this name gets; SPELLINGS_MAX when all are taken. */
static uint32_t name_room(struct name *name)
{
    for (uint32_t i = 0; i < name->room; i++)
        if (name->spellings[i] == NONE)
            return i;
    if (name->room == SPELLINGS_MAX)
        return SPELLINGS_MAX;
    {
        uint32_t room = name->room * 2, *more = mem_alloc(room * sizeof *more);

        memset(more, 0xff, room * sizeof *more);
        memcpy(more, name->spellings, name->room * sizeof *more);
        if (name->spellings != name->first)
            free(name->spellings);
        name->spellings = more;
        name->room = room;
        return room / 2;
    }
}

static void exact_grow(struct symbols *symbols)
{
    struct table old = symbols->exact;

    table_init(&symbols->exact, (old.mask + 1) * 2);
    symbols->exact.count = old.count;
    for (uint32_t bucket = 0; bucket <= old.mask; bucket++) {
        for (uint32_t at = old.heads[bucket], next; at != NONE; at = next) {
            uint32_t *head = &symbols->exact.heads[symbols->spellings[at].hash & symbols->exact.mask];

            next = symbols->spellings[at].next;
            symbols->spellings[at].next = *head;
            *head = at;
        }
    }
    free(old.heads);
}

static void folded_grow(struct symbols *symbols)
{
    struct table old = symbols->folded;

    table_init(&symbols->folded, (old.mask + 1) * 2);
    symbols->folded.count = old.count;
    for (uint32_t bucket = 0; bucket <= old.mask; bucket++) {
        for (uint32_t at = old.heads[bucket], next; at != NONE; at = next) {
            uint32_t *head = &symbols->folded.heads[symbols->names[at]->hash & symbols->folded.mask];

            next = symbols->names[at]->next;
            symbols->names[at]->next = *head;
            *head = at;
        }
    }
    free(old.heads);
}

/* Some spelling of a name that is held. */
static uint32_t name_any(const struct name *name)
{
    uint32_t i = 0;

    while (name->spellings[i] == NONE)
        i++;
    return name->spellings[i];
}

static uint32_t folded_find(const struct symbols *symbols, uint64_t hash, const char *text, size_t len)
{
    uint32_t at = symbols->folded.heads[hash & symbols->folded.mask];

    for (; at != NONE; at = symbols->names[at]->next) {
        const struct name *name = symbols->names[at];
        const struct spelling *some;

        if (name->hash != hash)
            continue;
        some = &symbols->spellings[name_any(name)];
        if (some->len == len && same_folded(some->text, text, len))
            break;
    }
    return at;
}

static symbol symbols_add(struct symbols *symbols, uint64_t hash, const char *text, size_t len)
{
    uint64_t folded = hash_folded(symbols->seed, text, len);
    uint32_t name_at = folded_find(symbols, folded, text, len), number, at;
    struct spelling *spelling;
    struct name *name;

    if (name_at == NONE) {
        uint32_t *head;

        name_at = name_new(symbols, folded);
        if (symbols->folded.count++ > symbols->folded.mask)
            folded_grow(symbols);
        head = &symbols->folded.heads[folded & symbols->folded.mask];
        symbols->names[name_at]->next = *head;
        *head = name_at;
    }
    name = symbols->names[name_at];
    number = name_room(name);
    if (number == SPELLINGS_MAX) {
        symbols_hold(symbols, symbols->spellings[name_any(name)].id);
        return symbols->spellings[name_any(name)].id;
    }
    at = spelling_new(symbols);
    name->spellings[number] = at;
    name->held++;
    spelling = &symbols->spellings[at];
    *spelling = (struct spelling){
        .hash = hash, .text = mem_dup(text, len), .len = (uint32_t)len, .id = name_at << SYMBOL_SPELLING_BITS | number};
    if (symbols->exact.count++ > symbols->exact.mask)
        exact_grow(symbols);
    spelling->next = symbols->exact.heads[hash & symbols->exact.mask];
    symbols->exact.heads[hash & symbols->exact.mask] = at;
    symbols_hold(symbols, spelling->id);
    return spelling->id;
}

static RARE symbol symbols_search(struct symbols *symbols, const char *text, size_t len)
{
    uint64_t hash = hash_exact(symbols->seed, text, len);
    uint32_t at = symbols->exact.heads[hash & symbols->exact.mask];

    for (; at != NONE; at = symbols->spellings[at].next) {
        struct spelling *spelling = &symbols->spellings[at];

        if (spelling->hash == hash && spelling->len == len && same_exact(spelling->text, text, len)) {
            symbols_hold(symbols, spelling->id);
            symbols->spellings[symbols->spelling_last].follower = at;
            symbols->spelling_last = at;
            return spelling->id;
        }
    }
    return symbols_add(symbols, hash, text, len);
}

/* The quick way: the spelling that followed last time follows again. An entry that was freed since has no text; an entry that
 * was used anew is compared like any other. */
symbol symbols_take(struct symbols *symbols, const char *text, size_t len)
{
    uint32_t next = symbols->spellings[symbols->spelling_last].follower;
    struct spelling *spelling = &symbols->spellings[next];

    if (spelling->len == len && spelling->text && same_exact(spelling->text, text, len)) {
        symbols_hold(symbols, spelling->id);
        symbols->spelling_last = next;
        return spelling->id;
    }
    return symbols_search(symbols, text, len);
}

static struct spelling *symbols_spelling(const struct symbols *symbols, symbol s)
{
    return &symbols->spellings[symbols->names[symbol_name(s)]->spellings[s & (SPELLINGS_MAX - 1)]];
}

void symbols_hold_other(struct symbols *symbols, symbol s)
{
    symbols_spelling(symbols, s)->references++;
}

static void exact_remove(struct symbols *symbols, const struct spelling *spelling)
{
    uint32_t gone = (uint32_t)(spelling - symbols->spellings);
    uint32_t *link = &symbols->exact.heads[spelling->hash & symbols->exact.mask];

    while (*link != gone)
        link = &symbols->spellings[*link].next;
    *link = spelling->next;
    symbols->exact.count--;
}

static void name_remove(struct symbols *symbols, uint32_t gone)
{
    struct name *name = symbols->names[gone];
    uint32_t *link = &symbols->folded.heads[name->hash & symbols->folded.mask];

    while (*link != gone)
        link = &symbols->names[*link]->next;
    *link = name->next;
    symbols->folded.count--;
    if (name->spellings != name->first)
        free(name->spellings);
    free(name);
    symbols->names[gone] = NULL;
    symbols->name_next_free[gone] = symbols->name_free;
    symbols->name_free = gone;
}

void symbols_forget(struct symbols *symbols, symbol s)
{
    struct name *name = symbols->names[symbol_name(s)];
    struct spelling *spelling;

    if (s == SYMBOL_NONE) {
        symbols->head.held[0] = NOBODY_HELD;
        return;
    }
    spelling = symbols_spelling(symbols, s);
    exact_remove(symbols, spelling);
    free(spelling->text);
    spelling->text = NULL;
    spelling->next = symbols->spelling_free;
    symbols->spelling_free = name->spellings[s & (SPELLINGS_MAX - 1)];
    name->spellings[s & (SPELLINGS_MAX - 1)] = NONE;
    if (--name->held == 0)
        name_remove(symbols, symbol_name(s));
}

void symbols_drop_other(struct symbols *symbols, symbol s)
{
    if (--symbols_spelling(symbols, s)->references == 0)
        symbols_forget(symbols, s);
}

symbol symbols_find(const struct symbols *symbols, const char *text, size_t len)
{
    uint32_t at = folded_find(symbols, hash_folded(symbols->seed, text, len), text, len);

    return at == NONE ? SYMBOL_NONE : symbols->spellings[name_any(symbols->names[at])].id;
}

const char *symbols_text(const struct symbols *symbols, symbol s, size_t *ret_len)
{
    const struct spelling *spelling = symbols_spelling(symbols, s);

    *ret_len = spelling->len;
    return spelling->text;
}

bool symbols_named(const struct symbols *symbols, symbol s, const char *name, size_t len)
{
    const struct spelling *spelling = symbols_spelling(symbols, s);

    return spelling->len == len && same_folded(spelling->text, name, len);
}

struct symbols_spare *symbols_spare_take(struct symbols *symbols)
{
    struct symbols_spare *spare = symbols->spares;

    if (spare) {
        symbols->spares = spare->next;
        symbols->spare_count--;
    }
    return spare;
}

void symbols_spare_give(struct symbols *symbols, struct symbols_spare *spare)
{
    if (symbols->spare_count == SYMBOLS_SPARES) {
        spare->free(spare);
        return;
    }
    spare->next = symbols->spares;
    symbols->spares = spare;
    symbols->spare_count++;
}

size_t symbols_count(const struct symbols *symbols)
{
    return symbols->folded.count;
}

struct symbols *symbols_new(const char *const *known, size_t known_count, uint64_t seed)
{
    struct symbols *symbols = mem_alloc(sizeof *symbols);

    *symbols = (struct symbols){.seed = seed, .spelling_free = NONE, .name_free = NONE};
    table_init(&symbols->exact, 512);
    table_init(&symbols->folded, 512);
    name_new(symbols, 0);  /* number 0 stands for nobody */
    spelling_new(symbols); /* so does spelling 0, the follower of spellings that have none yet */
    symbols->spellings[0] = (struct spelling){.next = NONE};
    symbols->head.held[0] = NOBODY_HELD;
    for (size_t i = 0; i < known_count; i++)
        symbols_take(symbols, known[i], strlen(known[i]));
    return symbols;
}

void symbols_free(struct symbols *symbols)
{
    if (!symbols)
        return;
    for (uint32_t i = 0; i < symbols->spelling_count; i++)
        free(symbols->spellings[i].text);
    for (uint32_t i = 0; i < symbols->name_count; i++) {
        if (symbols->names[i] && symbols->names[i]->spellings != symbols->names[i]->first)
            free(symbols->names[i]->spellings);
        free(symbols->names[i]);
    }
    for (struct symbols_spare *spare; (spare = symbols_spare_take(symbols));)
        spare->free(spare);
    free(symbols->spellings);
    free(symbols->names);
    free(symbols->head.held);
    free(symbols->name_next_free);
    free(symbols->exact.heads);
    free(symbols->folded.heads);
    free(symbols);
}

void symbols_freeze(struct symbols *symbols, bool frozen)
{
    symbols->frozen = frozen;
    atomic_store_explicit(&symbols->asked, false, memory_order_relaxed);
}

bool symbols_ask(struct symbols *symbols)
{
    if (symbols->frozen)
        atomic_store_explicit(&symbols->asked, true, memory_order_relaxed);
    return !symbols->frozen;
}

bool symbols_were_asked(const struct symbols *symbols)
{
    return atomic_load_explicit(&symbols->asked, memory_order_relaxed);
}
