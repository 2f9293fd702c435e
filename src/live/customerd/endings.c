/* endings.c: jobs that have ended and are not in the history yet. */
#include "live/customerd/endings.h"

#include "lang/base/mem.h"

#include <stdlib.h>

#define ROOM_FIRST 16

void endings_init(struct endings *endings)
{
    *endings = (struct endings){0};
    map_init(&endings->has, 0);
}

void endings_done(struct endings *endings)
{
    map_done(&endings->has);
    free(endings->row);
}

static uint64_t *place(struct endings *endings, uint32_t at)
{
    return &endings->row[(endings->first + at) & (endings->room - 1)];
}

static void row_grow(struct endings *endings)
{
    struct endings larger = *endings;

    larger.room = endings->room ? endings->room * 2 : ROOM_FIRST;
    larger.row = mem_alloc(larger.room * sizeof *larger.row);
    larger.first = 0;
    for (uint32_t i = 0; i < endings->room; i++)
        *place(&larger, i) = *place(endings, i);
    free(endings->row);
    *endings = larger;
}

void endings_add(struct endings *endings, uint64_t job)
{
    if (endings_has(endings, job))
        return;
    if (endings_count(endings) == endings->room)
        row_grow(endings);
    *place(endings, endings_count(endings)) = job;
    map_set(&endings->has, job, 1);
}

bool endings_has(const struct endings *endings, uint64_t job)
{
    return map_find(&endings->has, job) != MAP_NONE;
}

uint64_t endings_take(struct endings *endings)
{
    uint64_t job;

    if (!endings_count(endings))
        return 0;
    job = *place(endings, 0);
    endings->first++;
    map_remove(&endings->has, job);
    return job;
}
