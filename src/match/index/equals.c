/* equals.c: rows by their value. */
#include "match/index/equals.h"

#include "lang/base/mem.h"
#include "lang/base/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t *list_of(const struct equals *equals, double v)
{
    double number = v == 0 ? 0 : v; /* one zero */
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    return &equals->first[rng_mix(bits) & equals->mask];
}

struct equals *equals_new(uint32_t room)
{
    struct equals *equals = mem_alloc(sizeof *equals);
    uint32_t lists = 64;

    while (lists < room && lists < (uint32_t)1 << 31)
        lists *= 2;
    *equals = (struct equals){.first = mem_alloc(lists * sizeof *equals->first),
                              .mask = lists - 1,
                              .next = mem_alloc((room + 1) * sizeof *equals->next),
                              .before = mem_alloc((room + 1) * sizeof *equals->before)};
    memset(equals->first, 0xff, lists * sizeof *equals->first);
    return equals;
}

void equals_free(struct equals *equals)
{
    if (!equals)
        return;
    free(equals->first);
    free(equals->next);
    free(equals->before);
    free(equals);
}

size_t equals_bytes(const struct equals *equals)
{
    return equals ? ((size_t)equals->mask + 1) * 3 * sizeof(uint32_t) : 0;
}

static void list_leave(struct equals *equals, uint32_t row, double v)
{
    uint32_t before = equals->before[row], next = equals->next[row];

    if (before == EQUALS_END)
        *list_of(equals, v) = next;
    else
        equals->next[before] = next;
    if (next != EQUALS_END)
        equals->before[next] = before;
}

static void list_join(struct equals *equals, uint32_t row, double v)
{
    uint32_t *first = list_of(equals, v);

    equals->before[row] = EQUALS_END;
    equals->next[row] = *first;
    if (*first != EQUALS_END)
        equals->before[*first] = row;
    *first = row;
}

void equals_move(struct equals *equals, uint32_t row, double from, double to)
{
    if (!isnan(from))
        list_leave(equals, row, from);
    if (!isnan(to))
        list_join(equals, row, to);
}

uint32_t equals_first(const struct equals *equals, double v)
{
    return *list_of(equals, v);
}
