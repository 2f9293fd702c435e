/* index_parts.h: what the files of the index share; not installed.
 *
 *     index.c      the rows: ads come, change and go
 *     classes.c    ads that share rows
 *     dims.c       the dimensions: found, made, dropped
 *     cells.c      what an ad has in a dimension
 *     near.c       rows that are alike side by side
 *     equals.c     rows by their value
 *     profiles.c   an ad as rectangles
 *     probe.c      an ad of the other side looks for those that match
 *     choices.c    what that ad asks for by ||
 *     plan.c       how a probe would go
 *     valid.c      is the index in order? */
#ifndef BERTH_MATCH_INDEX_INDEX_PARTS_H
#define BERTH_MATCH_INDEX_INDEX_PARTS_H

#include "match/index/classes.h"
#include "match/index/dim.h"
#include "match/index/index.h"
#include "match/index/near.h"
#include "match/index/wants.h"
#include "match/pair/columns.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NO_ROW UINT32_MAX
#define NO_DIM UINT32_MAX
#define NO_ID UINT32_MAX
#define INDEX_ASKED_MAX 64
#define INDEX_STRINGS_SPARE 4096
#define WEIGHT_UNKNOWN UINT16_MAX
#define INDEX_CHUNKS_MAX 64 /* each at least half as large as all before it */

/* The lines that every block begins with. */
enum { LINE_LIVE, LINE_EVALUATE /* what the row asks for is not all in the dimensions */, LINE_NONE, LINE_DIMS };

/* An ad in the index. */
struct index_entry {
    struct tree *ad; /* held; NULL: there is none of that number */
    uint32_t row;    /* the first of its rows, NO_ROW when it takes nobody; if another ad heads its class: the member
                              * before it */
    uint32_t in_class, next; /* its class, and the next member of that; or NO_CLASS, NO_ID */
    uint32_t stamp : 30;     /* of the probe that found it last */
    uint32_t timed : 1;      /* the ad is read again when the time has moved */
};
#define STAMP_MAX ((1u << 30) - 1)

struct row {
    uint32_t id;    /* of its ad */
    uint32_t next;  /* the next row of the same ad, or the next free one; or NO_ROW */
    uint64_t place; /* that of its ad is not smaller */
};

/* A name and its dimensions, in one direction. */
struct index_name {
    symbol name;
    uint32_t first; /* the first dimension, the others follow by dim.same; or NO_DIM */
};

/* A hash table of names; the number of slots is a power of two. */
struct index_names {
    struct index_name *items;
    uint32_t count;
    uint16_t slots[INDEX_DIMS_MAX * 2]; /* the place plus one, or 0 */
};

struct test {
    uint32_t in, out, maybe; /* lines: (in and not out) or maybe */
    uint32_t left;           /* rows of a sample that pass */
    uint32_t dim;            /* what it is about: the dimension, and ... */
    unsigned char op; /* ... imported: the comparison with v; exported: == v, != a value of another kind, or none */
    bool exact;
    double v;
};

/* A rectangle's exported side: a cell for each dimension in which it is bounded. */
struct bound {
    uint32_t dim;
    bool not_number; /* NaN would satisfy it */
    struct dim_cell cell;
};

struct profile {
    struct bound *bounds;
    uint32_t count, room;
    bool evaluate; /* the ad's constraint asks for more than the bounds */
};

struct profiles {
    struct profile items[INDEX_PROFILES_MAX];
    uint32_t count;
};

struct index {
    struct symbols *symbols; /* of the first ad; all must share it */
    struct key_strings strings;
    uint32_t strings_max; /* when there are so many, strings that no row has any more are forgotten */
    struct class_set classes;
    bool heads_only;  /* of a class only the first is found */
    struct dim *dims; /* with room for INDEX_DIMS_MAX */
    uint32_t dim_count;
    struct index_names imported, exported;
    struct line **blocks;
    struct line *chunks[INDEX_CHUNKS_MAX]; /* in which the blocks lie */
    uint32_t chunk_count;
    uint32_t block_count, line_count, line_room;
    index_place_fn *place; /* NULL: ads have no places */
    void *place_user;
    uint64_t *least; /* by block: no ad there has a smaller place */
    struct near near;
    uint16_t *
        weights; /* by line: how many rows of some blocks are in it, or WEIGHT_UNKNOWN; which test leaves least is judged by this */
    uint32_t weight_room;
    struct columns columns; /* attributes of the ads, for clauses that lines cannot tell */
    struct row *rows;
    uint32_t row_count, row_room, free_row, encoded_rows;
    struct index_entry *entries;
    uint32_t entry_count, timed_count;
    uint32_t stamp; /* of the present probe */
    struct asked {  /* what was asked for once, and has no dimension yet */
        struct attribute attribute;
        uint32_t stamp;
        unsigned char kind;
        bool counts;
    } asked[INDEX_ASKED_MAX];
    uint32_t asked_count;     /* ever: the newest take the place of the oldest */
    const struct env *env;    /* of the present call */
    struct wants wants;       /* of the present ad */
    struct profiles profiles; /* and its rectangles */
    struct probe *probe;
    struct index_probed probed;
};

/* Does the matchmaker give that name a value? Then an ad that lacks the attribute may still have a value for the other side. */
static inline bool index_given(const struct env *env, struct attribute attribute)
{
    for (uint32_t i = 0; i < env->given_count; i++)
        if (symbol_same(env->given[i].name, attribute.name))
            return true;
    for (uint32_t i = 0; i < env->absent_count; i++)
        if (symbol_same(env->absent[i].name, attribute.name) || symbol_same(env->absent[i].name, attribute.then))
            return true;
    return false;
}

/* Takes the symbols of the first ad: all ads share one table. */
void index_adopt(struct index *index, const struct tree *ad);

/* The first row of an ad that has rows of its own; NO_ROW when it has none, or another ad stands for its class. */
static inline uint32_t index_first_row(const struct index *index, uint32_t id)
{
    const struct index_entry *entry = &index->entries[id];

    return entry->in_class == NO_CLASS || index->classes.items[entry->in_class].head == id ? entry->row : NO_ROW;
}

/* Finds the imported dimension that an ad of the other side asks for. It is made when a second ad asks for it; until then, and when there is no
 * room, NO_DIM. */
uint32_t index_asked(struct index *index, struct attribute attribute, unsigned kind, bool counts);

/* Finds a dimension by attribute, kind and reader; NO_DIM when there is none, or, with `make`, no room for one. */
uint32_t index_dim(struct index *index, bool exported, struct attribute attribute, unsigned kind, bool counts,
                   bool make);

/* Allocates the blocks from `first` to below `end`. */
void index_chunk(struct index *index, uint32_t first, uint32_t end);

/* The lines from that one on are made anew: what is known of them is forgotten. */
void index_lines_forget(struct index *index, uint32_t line, uint32_t count);

/* Forgets the strings that no row has any more, when there are many strings: else strangers could fill the table. */
void index_renumber(struct index *index);

void dim_drop_symbols(struct index *index, const struct dim *dim);

/* What the ad has in an imported dimension. */
struct dim_cell index_cell(struct index *index, const struct dim *dim, const struct tree *ad);

/* The kind of dimension that answers a leaf, for its key at that place. */
unsigned want_kind(const struct wants *wants, const struct want *want, uint32_t key);

/* The slab of an element or item, as a bit. */
uint64_t index_slab_bit(const struct index_key *key);

/* The number of a key. A new string gets one; with `find` it is KEY_STRING_NONE if nobody has the string. */
double index_key(struct index *index, const struct index_key *key, bool find);

void profiles_done(struct profiles *profiles);

/* Makes the rectangles of what index->wants holds; none when the ad takes nobody. Dimensions are made as they are needed. */
void profiles_make(struct profiles *profiles, struct index *index);

void probe_free(struct probe *probe);

#ifdef __cplusplus
}
#endif
#endif
