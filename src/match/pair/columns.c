/* columns.c: attributes of many ads side by side. */
#include "match/pair/columns.h"

#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 1024
#define ANSWER_BYTES ((size_t)16 << 20) /* of all answers, and ... */
#define ANSWER_AD_BYTES 128 /* ... so many more for each ad: then all are dropped; a call may use twice as many */

void columns_init(struct columns *columns, struct symbols *symbols, columns_ad_fn *ad, void *user)
{
    *columns = (struct columns){.ad = ad, .user = user, .symbols = symbols};
}

static void column_done(struct columns *columns, struct ad_column *column)
{
    symbols_drop(columns->symbols, column->name);
    free(column->types);
    free(column->cells);
    answers_free(column->answers);
}

void columns_done(struct columns *columns)
{
    if (!columns)
        return;
    for (uint32_t i = 0; i < columns->count; i++)
        column_done(columns, &columns->items[i]);
    columns->count = columns->room = 0;
}

void columns_forget(struct columns *columns, uint32_t id)
{
    for (uint32_t i = 0; i < columns->count; i++) {
        if (columns->items[i].types && id < columns->room)
            columns->items[i].types[id] = CELL_UNREAD;
        if (columns->items[i].answers)
            answers_forget(columns->items[i].answers, id);
    }
}

static size_t answer_bytes(const struct columns *columns)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < columns->count; i++)
        bytes += columns->items[i].answers ? columns->items[i].answers->bytes : 0;
    return bytes;
}

static size_t answer_bytes_max(const struct columns *columns)
{
    return ANSWER_BYTES + (size_t)columns->most * ANSWER_AD_BYTES;
}

bool columns_remember(const struct columns *columns)
{
    return answer_bytes(columns) <= 2 * answer_bytes_max(columns);
}

void columns_ask(struct columns *columns)
{
    columns->asked++;
    if (answer_bytes(columns) <= answer_bytes_max(columns))
        return;
    for (uint32_t i = 0; i < columns->count; i++) {
        answers_free(columns->items[i].answers);
        columns->items[i].answers = NULL;
    }
}

uint32_t columns_find_answer(struct columns *columns, uint32_t place, const struct tree *tree, const struct expr *e)
{
    struct ad_column *column = &columns->items[place];

    if (!column->answers)
        column->answers = answers_new();
    return answers_find(column->answers, tree, e, columns->asked, ++columns->serials);
}

static uint32_t columns_largest(struct columns *columns, const uint32_t *ids, uint32_t count)
{
    uint32_t largest = 0;

    for (uint32_t i = 0; i < count; i++)
        largest = ids[i] > largest ? ids[i] : largest;
    if (largest >= columns->most)
        columns->most = largest + 1;
    return largest;
}

struct answers *columns_read_numbers(struct columns *columns, uint32_t place, const uint32_t *ids, uint32_t count)
{
    const struct ad_column *column = &columns->items[place];
    struct answers *answers = column->answers;
    uint32_t largest = columns_largest(columns, ids, count);
    bool unread = false;

    if (largest >= answers->room)
        answers_grow(answers, largest + largest / 2 + ROOM_FIRST);
    for (uint32_t i = 0; i < count; i++)
        unread |= answers->numbers[ids[i]] == ANSWERS_UNREAD;
    if (!unread || !columns_remember(columns))
        return answers;
    for (uint32_t i = 0; i < count; i++) {
        if (answers->numbers[ids[i]] != ANSWERS_UNREAD)
            continue;
        answers_number(answers, ids[i], columns->ad(columns->user, ids[i]), column->name);
        columns->reads++;
    }
    return answers;
}

/* The cells from `from` on are there, and not read. */
static void column_grow(struct ad_column *column, uint32_t from, uint32_t room)
{
    column->types = mem_grow(column->types, room);
    column->cells = mem_grow(column->cells, room * sizeof *column->cells);
    memset(column->types + from, CELL_UNREAD, room - from);
}

static void columns_grow(struct columns *columns, uint32_t id)
{
    uint32_t room = id + id / 2 + ROOM_FIRST;

    for (uint32_t i = 0; i < columns->count; i++)
        if (columns->items[i].types)
            column_grow(&columns->items[i], columns->room, room);
    columns->room = room;
}

/* The place for one more column, in the place of the one that was asked for longest ago if there are many. */
static uint32_t columns_place(struct columns *columns)
{
    uint32_t oldest = COLUMNS_NONE;

    if (columns->count < COLUMNS_MAX)
        return columns->count++;
    for (uint32_t i = 0; i < columns->count; i++)
        if (columns->items[i].asked < columns->asked &&
            (oldest == COLUMNS_NONE || columns->items[i].asked < columns->items[oldest].asked))
            oldest = i;
    if (oldest != COLUMNS_NONE)
        column_done(columns, &columns->items[oldest]);
    return oldest;
}

uint32_t columns_find(struct columns *columns, symbol name)
{
    uint32_t place;

    for (uint32_t i = 0; i < columns->count; i++) {
        if (!symbol_same(columns->items[i].name, name))
            continue;
        columns->items[i].asked = columns->asked;
        return i;
    }
    place = columns_place(columns);
    if (place == COLUMNS_NONE)
        return COLUMNS_NONE;
    symbols_hold(columns->symbols, name);
    columns->items[place] = (struct ad_column){.name = name, .asked = columns->asked};
    return place;
}

static void cell_read(struct ad_column *column, uint32_t id, const struct tree *ad)
{
    const struct expr *found = tree_find(ad, tree_root(ad), column->name);

    column->cells[id].integer = 0;
    if (!found) {
        column->types[id] = CELL_ABSENT;
    } else if (!expr_is_literal(found) || found->kind == EXPR_STRING) {
        column->types[id] = CELL_OTHER;
    } else {
        column->types[id] = found->kind;
        column->cells[id].integer = found->kind == EXPR_BOOLEAN ? found->small & 1 : found->u.integer;
    }
}

const struct ad_column *columns_read(struct columns *columns, uint32_t place, const uint32_t *ids, uint32_t count)
{
    uint32_t largest = columns_largest(columns, ids, count);

    if (largest >= columns->room)
        columns_grow(columns, largest);
    if (!columns->items[place].types)
        column_grow(&columns->items[place], 0, columns->room);
    for (uint32_t i = 0; i < count; i++) {
        if (columns->items[place].types[ids[i]] != CELL_UNREAD)
            continue;
        cell_read(&columns->items[place], ids[i], columns->ad(columns->user, ids[i]));
        columns->reads++;
    }
    return &columns->items[place];
}

size_t columns_memory(const struct columns *columns)
{
    size_t cells = 0;

    for (uint32_t i = 0; i < columns->count; i++)
        cells += columns->items[i].types ? columns->room : 0;
    return cells * (sizeof(union cell) + 1) + answer_bytes(columns);
}

unsigned columns_type_read(struct columns *columns, uint32_t place, uint32_t id)
{
    columns_read(columns, place, &id, 1);
    return columns->items[place].types[id];
}
