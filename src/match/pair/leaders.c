/* leaders.c: the best candidates by a formula that only rises, or only falls, with each of its attributes. */
#include "match/pair/leaders.h"

#include "lang/base/mem.h"
#include "match/pair/ranking.h"

#include <stdlib.h>
#include <string.h>

#define CHANGES 64 /* an order is made anew after so many changes, and a part of the candidates */

static void leader_done(struct leader *leader, struct symbols *symbols)
{
    symbols_drop(symbols, leader->name);
    free(leader->order);
    free(leader->values);
    free(leader->apart);
}

void leaders_done(struct leaders *leaders, struct symbols *symbols)
{
    for (uint32_t i = 0; i < leaders->count; i++)
        leader_done(&leaders->items[i], symbols);
    free(leaders->seen);
    *leaders = (struct leaders){0};
}

/* ----------------------------------------------------------------------------------------------------------- an order */

struct valued {
    double v;
    union cell cell; /* the same reals may be different integers */
    uint32_t place;
};

static int valued_compare(const void *a, const void *b)
{
    const struct valued *x = a, *y = b;

    if (x->v != y->v)
        return x->v < y->v ? -1 : 1;
    if (x->cell.integer != y->cell.integer)
        return x->cell.integer < y->cell.integer ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Puts the candidates in the order of an attribute; those whose values are not of the type that the first number has are left apart. */
static void leader_fill(struct leader *leader, struct columns *columns, uint32_t place, const uint32_t *places,
                        uint32_t count)
{
    const struct ad_column *column = columns_read(columns, place, places, count);
    struct valued *valued = mem_alloc((count + 1) * sizeof *valued);
    uint32_t taken = 0;

    leader->type = CELL_UNREAD;
    leader->order = mem_alloc((count + 1) * sizeof *leader->order);
    leader->values = mem_alloc((count + 1) * sizeof *leader->values);
    leader->apart = mem_alloc((count + 1) * sizeof *leader->apart);
    for (uint32_t i = 0; i < count; i++) {
        unsigned type = column->types[places[i]];
        union cell cell = column->cells[places[i]];
        bool number = type == VALUE_INTEGER || (type == VALUE_REAL && cell.real - cell.real == 0);

        if (number && leader->type == CELL_UNREAD)
            leader->type = type;
        if (number && type == leader->type)
            valued[taken++] = (struct valued){type == VALUE_REAL ? cell.real : (double)cell.integer, cell, places[i]};
        else
            leader->apart[leader->apart_count++] = places[i];
    }
    qsort(valued, taken, sizeof *valued, valued_compare);
    for (uint32_t i = 0; i < taken; i++) {
        leader->order[i] = valued[i].place;
        leader->values[i] = valued[i].cell;
    }
    leader->count = leader->end = taken;
    leader->least = taken ? valued[0].v : 0;
    leader->most = taken ? valued[taken - 1].v : 0;
    free(valued);
}

/* Is the candidate as it was when the order was made? */
static bool leader_has(const struct rankings *rankings, const struct leader *leader, uint32_t place)
{
    return rankings->changed_at[place] <= leader->made;
}

static struct leader *leader_find(struct rankings *rankings, symbol name)
{
    struct leaders *leaders = &rankings->leaders;

    for (uint32_t i = 0; i < leaders->count; i++)
        if (symbol_same(leaders->items[i].name, name))
            return &leaders->items[i];
    return NULL;
}

/* Makes an order in the place of the old one of that name, or of the one that was used longest ago. */
static struct leader *leader_make(struct rankings *rankings, symbol name, uint32_t column, const uint32_t *places,
                                  uint32_t count)
{
    struct leaders *leaders = &rankings->leaders;
    struct leader *leader = leader_find(rankings, name);

    if (!leader && leaders->count < LEADERS_MAX) {
        leader = &leaders->items[leaders->count++];
    } else {
        for (uint32_t i = 0; i < leaders->count && !leader; i++)
            leader = &leaders->items[i];
        for (uint32_t i = 0; i < leaders->count && !symbol_same(leader->name, name); i++)
            if (leaders->items[i].used < leader->used)
                leader = &leaders->items[i];
        leader_done(leader, rankings->columns.symbols);
    }
    symbols_hold(rankings->columns.symbols, name);
    *leader = (struct leader){.name = name, .made = rankings->change_count};
    leader_fill(leader, &rankings->columns, column, places, count);
    return leader;
}

/* ------------------------------------------------------------------------------------------------------------- a walk */

/* Takes a candidate unless it was taken. */
static bool walk_takes(const struct leaders_walk *walk, uint32_t place)
{
    struct leaders *leaders = &walk->rankings->leaders;

    if (leaders->seen[place] == leaders->walk)
        return false;
    leaders->seen[place] = leaders->walk;
    return true;
}

/* Takes those that are in no order. False when they are too many. */
static bool walk_apart(struct leaders_walk *walk, const struct leader *leader, uint32_t *ret, uint32_t *ret_count)
{
    const struct rankings *rankings = walk->rankings;
    uint32_t changed = rankings->change_count - leader->made;

    if (leader->apart_count + changed + *ret_count > LEADERS_APART)
        return false;
    for (uint32_t i = 0; i < leader->apart_count + changed; i++) {
        uint32_t place =
            i < leader->apart_count ? leader->apart[i] : rankings->changes[leader->made + i - leader->apart_count];

        if (rankings->changed_at[place] != RANKING_GONE && walk_takes(walk, place))
            ret[(*ret_count)++] = place;
    }
    return true;
}

/* Drops those at the ends that have gone or changed. */
static void leader_trim(const struct rankings *rankings, struct leader *leader)
{
    while (leader->low < leader->end && !leader_has(rankings, leader, leader->order[leader->low]))
        leader->low++;
    while (leader->low < leader->end && !leader_has(rankings, leader, leader->order[leader->end - 1]))
        leader->end--;
}

/* The formula's value where it stands in the orders, or at their other ends: by the values that they were made of, also of a candidate that has changed
 * since, for those behind it are where its value of then says. */
static void walk_value(const struct leaders_walk *walk, bool front, struct formula_value *ret)
{
    const struct formula_slopes *slopes = &walk->slopes;
    struct columns columns = walk->rankings->columns;
    unsigned char types[FORMULA_SLOPES_MAX];
    union cell cells[FORMULA_SLOPES_MAX];
    uint32_t id = 0;

    columns.room = 1;
    for (uint32_t i = 0; i < slopes->count; i++) {
        const struct leader *leader = walk->leaders[i];
        bool rises = slopes->items[i].rises == front;
        uint32_t passed = front ? walk->at[i] : 0;

        types[i] = (unsigned char)leader->type;
        cells[i] = leader->values[rises ? leader->end - 1 - passed : leader->low + passed];
        columns.items[slopes->items[i].column].types = &types[i];
        columns.items[slopes->items[i].column].cells = &cells[i];
    }
    formula_compute(walk->formula, &columns, &id, 1, ret);
}

static bool is_number(const struct formula_value *value)
{
    return value->type == VALUE_INTEGER || value->type == VALUE_REAL;
}

/* Finds the orders that the formula needs; those that are missing, or too old, are made. */
static void walk_orders(struct leaders_walk *walk, leaders_fill_fn *fill, void *user)
{
    struct rankings *rankings = walk->rankings;
    uint32_t *places = NULL, count = 0;

    rankings->leaders.used++;
    for (uint32_t i = 0; i < walk->slopes.count; i++) {
        const struct formula_slope *slope = &walk->slopes.items[i];
        struct leader *leader = leader_find(rankings, slope->name);

        if (!leader || rankings->change_count - leader->made > CHANGES ||
            (leader->end - leader->low) * 2 + CHANGES < leader->count) {
            if (!places) {
                places = mem_alloc((rankings->room + 1) * sizeof *places);
                count = fill(user, places);
            }
            leader = leader_make(rankings, slope->name, slope->column, places, count);
        }
        leader->used = rankings->leaders.used;
        leader_trim(rankings, leader);
        walk->leaders[i] = leader;
    }
    free(places);
}

bool leaders_begin(struct leaders_walk *walk, struct rankings *rankings, const struct formula *formula,
                   leaders_fill_fn *fill, void *user, uint32_t *ret, uint32_t *ret_count)
{
    struct leaders *leaders = &rankings->leaders;
    double least[FORMULA_SLOPES_MAX], most[FORMULA_SLOPES_MAX];
    struct formula_value first, last;

    *walk = (struct leaders_walk){.rankings = rankings, .formula = formula};
    *ret_count = 0;
    if (!formula_slopes(formula, &walk->slopes))
        return false;
    if (!leaders->seen) {
        leaders->seen = mem_alloc((rankings->room + 1) * sizeof *leaders->seen);
        memset(leaders->seen, 0, (rankings->room + 1) * sizeof *leaders->seen);
    }
    if (++leaders->walk == 0) {
        memset(leaders->seen, 0, (rankings->room + 1) * sizeof *leaders->seen);
        leaders->walk = 1;
    }
    walk_orders(walk, fill, user);
    for (uint32_t i = 0; i < walk->slopes.count; i++) {
        if (!walk_apart(walk, walk->leaders[i], ret, ret_count))
            return false;
        walk->all = walk->all || walk->leaders[i]->low == walk->leaders[i]->end;
        least[i] = walk->leaders[i]->least;
        most[i] = walk->leaders[i]->most;
    }
    if (formula_may_wrap(formula, &walk->slopes, least, most))
        return false;
    if (walk->all)
        return true;
    walk_value(walk, true, &first);
    walk_value(walk, false, &last);
    return is_number(&first) && first.type == last.type;
}

uint32_t leaders_next(struct leaders_walk *walk, uint32_t *ret, uint32_t room)
{
    uint32_t count = 0;

    while (count < room && !walk->all) {
        uint32_t i = walk->turn++ % walk->slopes.count;
        const struct leader *leader = walk->leaders[i];
        uint32_t place =
            leader->order[walk->slopes.items[i].rises ? leader->end - 1 - walk->at[i] : leader->low + walk->at[i]];

        if (leader_has(walk->rankings, leader, place) && walk_takes(walk, place))
            ret[count++] = place;
        walk->all = ++walk->at[i] == leader->end - leader->low;
    }
    return count;
}

bool leaders_bound(const struct leaders_walk *walk, struct formula_value *ret)
{
    if (walk->all)
        return false;
    walk_value(walk, true, ret);
    return true;
}
