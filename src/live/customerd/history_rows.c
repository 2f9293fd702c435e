/* history_rows.c: the jobs of the history in memory: chunks of 64 places, each with the rows that are left. */
#include "live/customerd/history_rows.h"

#include "lang/base/array.h"
#include "lang/base/mem.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 64u

static uint64_t place_bit(uint64_t place)
{
    return UINT64_C(1) << place % CHUNK;
}

static uint32_t bits_count(uint64_t bits)
{
    return (uint32_t)__builtin_popcountll(bits);
}

/* How many rows of the chunk lie before that place. */
static uint32_t rows_below(const struct history_chunk *chunk, uint64_t place)
{
    return bits_count(chunk->there & (place_bit(place) - 1));
}

static struct history_chunk *chunk_of(const struct history_rows *rows, uint64_t place)
{
    uint64_t number;

    if (place < rows->first || rows->from == rows->count)
        return NULL;
    number = rows->from + (place - rows->first) / CHUNK;
    return number < rows->count ? &rows->chunks[number] : NULL;
}

void history_rows_init(struct history_rows *rows)
{
    *rows = (struct history_rows){.chunks = NULL};
    map_init_runs(&rows->places, 0);
}

void history_rows_done(struct history_rows *rows)
{
    for (uint32_t i = rows->from; i < rows->count; i++)
        free(rows->chunks[i].rows);
    free(rows->chunks);
    map_done(&rows->places);
}

/* Only the last chunk gets rows: it has room for all of its places. */
static struct history_chunk *chunk_add(struct history_rows *rows, uint64_t place)
{
    if (rows->count == rows->room && rows->from > rows->room / 2) {
        rows->count -= rows->from;
        memmove(rows->chunks, rows->chunks + rows->from, rows->count * sizeof *rows->chunks);
        rows->from = 0;
    }
    if (rows->from == rows->count)
        rows->first = place - place % CHUNK;
    ARRAY_ROOM(rows->chunks, rows->count, rows->room, 16);
    rows->chunks[rows->count] = (struct history_chunk){0, mem_alloc(CHUNK * sizeof(struct kept_row))};
    return &rows->chunks[rows->count++];
}

uint64_t history_rows_add(struct history_rows *rows, const struct kept_row *row)
{
    uint64_t place = ++rows->newest;
    struct history_chunk *chunk = chunk_of(rows, place);

    if (!chunk)
        chunk = chunk_add(rows, place);
    chunk->rows[bits_count(chunk->there)] = *row;
    chunk->there |= place_bit(place);
    map_set(&rows->places, row->job, place);
    return place;
}

struct kept_row *history_rows_at(const struct history_rows *rows, uint64_t place)
{
    struct history_chunk *chunk = chunk_of(rows, place);

    return chunk && chunk->there & place_bit(place) ? &chunk->rows[rows_below(chunk, place)] : NULL;
}

void history_rows_remove(struct history_rows *rows, uint64_t place)
{
    struct history_chunk *chunk = chunk_of(rows, place);
    struct kept_row *row = history_rows_at(rows, place);
    uint32_t left;

    if (!row)
        return;
    map_remove(&rows->places, row->job);
    chunk->there &= ~place_bit(place);
    left = bits_count(chunk->there);
    memmove(row, row + 1, (left - rows_below(chunk, place)) * sizeof *row);
    if (chunk == &rows->chunks[rows->count - 1])
        return;
    if (left) {
        chunk->rows = mem_grow(chunk->rows, left * sizeof *row);
        return;
    }
    free(chunk->rows);
    chunk->rows = NULL;
    for (; rows->from + 1 < rows->count && !rows->chunks[rows->from].there; rows->from++) {
        free(rows->chunks[rows->from].rows);
        rows->first += CHUNK;
    }
}

uint64_t history_rows_place(const struct history_rows *rows, uint64_t job)
{
    uint64_t place = map_find(&rows->places, job);

    return place == MAP_NONE ? 0 : place;
}

uint64_t history_rows_before(const struct history_rows *rows, uint64_t place)
{
    uint64_t last = place < rows->newest ? place : rows->newest;

    for (const struct history_chunk *chunk; (chunk = chunk_of(rows, last)); last = last / CHUNK * CHUNK - 1) {
        uint64_t there = chunk->there & (place_bit(last) | (place_bit(last) - 1));

        if (there)
            return last / CHUNK * CHUNK + (CHUNK - 1 - (uint32_t)__builtin_clzll(there));
        if (last < CHUNK)
            break;
    }
    return 0;
}

uint64_t history_rows_after(const struct history_rows *rows, uint64_t place)
{
    uint64_t next = place + 1 > rows->first ? place + 1 : rows->first;

    for (const struct history_chunk *chunk; (chunk = chunk_of(rows, next)); next = (next / CHUNK + 1) * CHUNK) {
        uint64_t there = chunk->there & ~(place_bit(next) - 1);

        if (there)
            return next / CHUNK * CHUNK + (uint32_t)__builtin_ctzll(there);
    }
    return 0;
}
