/* columns.h: attributes of many ads side by side, so that a formula (formula.h) can be computed for all of them.
 *
 *     ad number      0        1        2
 *     Memory         251      absent   7.5         a column: the type of each, and its eight bytes
 *     KFlops         63685    not read yet
 *
 * What expressions over one attribute are, whatever its type, is remembered by its value (answers.h).
 *
 * A cell is read from its ad when it is first asked for: an attribute of which nobody asks costs nothing, and of an ad that no request fits, next to nothing.
 * There are so many columns at most; the one that was asked for longest ago makes room for another. */
#ifndef BERTH_MATCH_PAIR_COLUMNS_H
#define BERTH_MATCH_PAIR_COLUMNS_H

#include "match/pair/answers.h"

#ifdef __cplusplus
extern "C" {
#endif

#define COLUMNS_MAX 32
#define COLUMNS_NONE UINT32_MAX

/* What a cell holds: a type of values up to VALUE_RELTIME, but no string; or one of these. */
enum cell_type {
    CELL_UNREAD = 16,
    CELL_ABSENT, /* the ad has no such attribute */
    CELL_OTHER,  /* a string, a list, an ad, or an expression: the ad must be asked */
};

union cell {
    int64_t integer; /* also times in seconds, and truth values */
    double real;
};

struct ad_column {
    symbol name;          /* held */
    unsigned char *types; /* enum cell_type, by ad; NULL until a cell is asked for */
    union cell *cells;
    struct answers *answers; /* NULL: none was asked for */
    uint64_t asked;          /* the last call that asked for it */
};

/* The ad of that number, which must not change without columns_forget. */
typedef const struct tree *columns_ad_fn(void *user, uint32_t id);

struct columns {
    columns_ad_fn *ad;
    void *user;
    struct symbols *symbols;
    struct ad_column items[COLUMNS_MAX];
    uint32_t count; /* columns that there have been */
    uint32_t room;  /* ads with smaller numbers have cells */
    uint32_t most;  /* all ads that were asked for have smaller numbers */
    uint64_t asked;
    uint64_t reads;   /* cells, and numbers of values, that were read from their ads, ever */
    uint64_t serials; /* of answers, ever */
};
#define COLUMNS_READ_STEPS 8 /* of evaluation, for which such a reading counts */

void columns_init(struct columns *columns, struct symbols *symbols, columns_ad_fn *ad, void *user);
void columns_done(struct columns *columns);

/* Another ad has that number now, or none. */
void columns_forget(struct columns *columns, uint32_t id);

/* Begins to ask: columns that are asked for from here on stay until the next time. */
void columns_ask(struct columns *columns);
/* The place of a name's column, which is made when there is none; COLUMNS_NONE when all are asked for. */
uint32_t columns_find(struct columns *columns, symbol name);

/* The column, in which the cells of these ads have been read. */
const struct ad_column *columns_read(struct columns *columns, uint32_t column, const uint32_t *ids, uint32_t count);

/* The place of an expression over a column's attribute among its answers, which stays until columns_ask is called again; ANSWERS_NONE when there are too many. */
uint32_t columns_find_answer(struct columns *columns, uint32_t column, const struct tree *tree, const struct expr *e);

/* The answers of a column, for which the numbers of these ads' values have been read. */
struct answers *columns_read_numbers(struct columns *columns, uint32_t column, const uint32_t *ids, uint32_t count);

/* May more be remembered, or has that taken as much memory as it may? */
bool columns_remember(const struct columns *columns);

/* In bytes. */
size_t columns_memory(const struct columns *columns);

/* The type of one cell, which is read if need be. */
unsigned columns_type_read(struct columns *columns, uint32_t column, uint32_t id);
static inline unsigned columns_type(struct columns *columns, uint32_t column, uint32_t id)
{
    const unsigned char *types = columns->items[column].types;
    unsigned type = types && id < columns->room ? types[id] : (unsigned)CELL_UNREAD;

    return type != CELL_UNREAD ? type : columns_type_read(columns, column, id);
}

#ifdef __cplusplus
}
#endif
#endif
