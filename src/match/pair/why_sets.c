/* why_sets.c: every minimal set of clauses that no offer satisfies together.
 *
 * An offer satisfies a set unless it fails one of its clauses. So a set that no offer satisfies has a member in each offer's set of failed clauses,
 * and the minimal ones are the minimal transversals of those. They are found by taking the patterns one after another (Berge): a set that has no
 * member in the next pattern is replaced by itself with each of the pattern's members added.
 *
 * There can be exponentially many. Work is counted: when it grows too large, only the smallest sets so far are kept, and the answer says that it
 * may not be complete. Even then each set that is told excludes every offer and is minimal. */
#include "lang/base/mem.h"
#include "match/pair/why_parts.h"

#include <stdlib.h>
#include <string.h>

#define PATTERNS_MAX 2048 /* patterns that are taken one by one, the smallest */
#define SETS_AT_HAND 256
#define SETS_AT_LAST 8 /* sets that are kept when the work is spent */
#define WORK_MAX 20000000

struct search {
    uint64_t *sets, *next; /* room for SETS_AT_HAND, each with any member added */
    size_t count;
    uint64_t work;
    bool whole;
};

static int bit_count(uint64_t set)
{
    return __builtin_popcountll(set);
}

static int compare_sizes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    int order = bit_count(x) - bit_count(y);

    return order ? order : (x > y) - (x < y);
}

/* Keeps only the sets that contain no other, the smallest first, and at most `limit`. */
static size_t keep_minimal(struct search *search, uint64_t *sets, size_t count, size_t limit)
{
    size_t kept = 0;

    qsort(sets, count, sizeof *sets, compare_sizes);
    for (size_t i = 0; i < count; i++) {
        bool minimal = true;

        for (size_t j = 0; j < kept && minimal; j++)
            minimal = (sets[j] & ~sets[i]) != 0;
        search->work += kept + 1;
        if (!minimal)
            continue;
        if (kept == limit) {
            search->whole = false;
            break;
        }
        sets[kept++] = sets[i];
    }
    return kept;
}

/* The first pattern that the set has no member in; `count` when there is none. */
static size_t first_missed(uint64_t set, const uint64_t *patterns, size_t count)
{
    size_t i = 0;

    while (i < count && (set & patterns[i]))
        i++;
    return i;
}

/* Gives the set a member in each pattern, and then takes out the members that it can do without. */
static uint64_t mend(uint64_t set, const uint64_t *patterns, size_t count)
{
    for (size_t i; (i = first_missed(set, patterns, count)) < count;)
        set |= patterns[i] & -patterns[i];
    for (uint64_t left = set; left; left &= left - 1) {
        uint64_t member = left & -left;

        if (first_missed(set & ~member, patterns, count) == count)
            set &= ~member;
    }
    return set;
}

/* Makes the sets that follow from one more pattern. */
static void take_pattern(struct search *search, uint64_t pattern)
{
    size_t limit = search->work < WORK_MAX ? SETS_AT_HAND : SETS_AT_LAST, n = 0;
    uint64_t *ret = search->next;

    for (size_t i = 0; i < search->count; i++) {
        if (search->sets[i] & pattern) {
            ret[n++] = search->sets[i];
            continue;
        }
        for (uint64_t left = pattern; left; left &= left - 1)
            ret[n++] = search->sets[i] | (left & -left);
    }
    search->count = keep_minimal(search, ret, n, limit);
    search->next = search->sets;
    search->sets = ret;
}

bool why_minimal_sets(const uint64_t *patterns, size_t count, uint64_t *ret_sets, uint32_t room, uint32_t *ret_count)
{
    uint64_t *least = mem_alloc((count + 1) * sizeof *least);
    struct search search = {.count = 1, .whole = count <= PATTERNS_MAX};
    size_t least_count;

    search.sets = mem_alloc(SETS_AT_HAND * 64 * sizeof *search.sets);
    search.next = mem_alloc(SETS_AT_HAND * 64 * sizeof *search.next);
    search.sets[0] = 0;
    memcpy(least, patterns, count * sizeof *least);
    qsort(least, count, sizeof *least, compare_sizes);
    /* a set with a member in a pattern has one in every pattern that contains it */
    least_count = keep_minimal(&search, least, count < PATTERNS_MAX ? count : PATTERNS_MAX, PATTERNS_MAX);
    for (size_t i = 0; i < least_count; i++)
        take_pattern(&search, least[i]);
    if (!search.whole) { /* a set that was dropped may have been a part of one that is left */
        search.count = search.count < room ? search.count : room;
        for (size_t i = 0; i < search.count; i++)
            search.sets[i] = mend(search.sets[i], patterns, count);
        search.count = keep_minimal(&search, search.sets, search.count, search.count);
    }
    *ret_count = search.count < room ? (uint32_t)search.count : room;
    memcpy(ret_sets, search.sets, *ret_count * sizeof *ret_sets);
    free(least);
    free(search.sets);
    free(search.next);
    return search.whole && search.count <= room;
}
