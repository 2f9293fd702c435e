/* seen.c: which matches of an ad have been taken into account. */
#include "pool/protocol/seen.h"

#define BEYOND_BITS 64

bool seen_has(const struct seen *seen, uint64_t incarnation, uint64_t number)
{
    if (seen->incarnation != incarnation)
        return false;
    if (number <= seen->last)
        return true;
    number -= seen->last; /* 1: the gap itself */
    return number >= 2 && number - 2 < BEYOND_BITS && (seen->beyond >> (number - 2) & 1);
}

/* The gap is closed: `last` moves on, over the numbers seen beyond it. */
static void seen_advance(struct seen *seen)
{
    bool more = true;

    while (more) {
        seen->last++;
        more = seen->beyond & 1;
        seen->beyond >>= 1;
    }
}

bool seen_add(struct seen *seen, uint64_t incarnation, uint64_t number)
{
    if (seen->incarnation != incarnation)
        *seen = (struct seen){.incarnation = incarnation};
    if (number <= seen->last || seen_has(seen, incarnation, number))
        return false;
    if (number == seen->last + 1)
        seen_advance(seen);
    else if (number - seen->last - 2 < BEYOND_BITS)
        seen->beyond |= UINT64_C(1) << (number - seen->last - 2);
    else
        return false;
    return true;
}

void seen_settle(struct seen *seen, uint64_t incarnation, uint64_t settled)
{
    uint64_t steps;
    bool closes; /* the number behind `settled` has been seen */

    if (seen->incarnation != incarnation) /* a new life of the matchmaker, or of ours: earlier numbers mean nothing */
        *seen = (struct seen){.incarnation = incarnation};
    if (settled <= seen->last)
        return;
    steps = settled - seen->last;
    closes = steps - 1 < BEYOND_BITS && (seen->beyond >> (steps - 1) & 1);
    seen->beyond = steps < BEYOND_BITS ? seen->beyond >> steps : 0;
    seen->last = settled;
    if (closes)
        seen_advance(seen);
}

bool seen_equal(const struct seen *a, const struct seen *b)
{
    return a->incarnation == b->incarnation && a->last == b->last && a->beyond == b->beyond;
}
