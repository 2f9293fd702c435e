/* owners.c: the submissions of each owner, in the order of their jobs' numbers: who looks at his own jobs passes over nobody else's.
 *
 *     owners_own: hash of the owner -> first = next = next = last         (those of another owner with that hash are in the list, too)
 *
 * customer_next_of goes on from the number of a job, as customer_next does. */
#include "lang/base/mem.h"
#include "pool/customer/customer_parts.h"

#include <stdlib.h>
#include <string.h>

static struct owned *owned_of(const struct customer *customer, const struct text *owner)
{
    uint64_t value = map_find(&customer->owned, owner_hash(owner, 0));

    return value == MAP_NONE ? NULL : (struct owned *)(uintptr_t)value;
}

/* The last one that may come before it. Most come with the largest number so far; those of a batch had their numbers before others that came meanwhile: they
 * stand beside each other. */
static struct submission *last_before(const struct customer *customer, const struct owned *owned,
                                      const struct submission *submission)
{
    const struct batch *batch = submission->batch;
    struct submission *beside = batch && customer->counts && batch->count > 1 ? batch->items[batch->count - 2] : NULL;

    return beside && beside->owned == owned && beside->first < submission->first &&
                   (!beside->owned_behind || beside->owned_behind->first > submission->first)
               ? beside
               : owned->last;
}

void submission_own(struct customer *customer, struct submission *submission)
{
    struct owned *owned = owned_of(customer, &submission->owner);
    struct submission *before;

    if (!owned) {
        owned = mem_alloc(sizeof *owned);
        *owned = (struct owned){NULL, NULL};
        map_set(&customer->owned, owner_hash(&submission->owner, 0), (uint64_t)(uintptr_t)owned);
    }
    for (before = last_before(customer, owned, submission); before && before->first > submission->first;
         before = before->owned_before)
        ;
    submission->owned_before = before;
    submission->owned_behind = before ? before->owned_behind : owned->first;
    *(before ? &before->owned_behind : &owned->first) = submission;
    *(submission->owned_behind ? &submission->owned_behind->owned_before : &owned->last) = submission;
    submission->owned = owned;
}

void submission_disown(struct customer *customer, struct submission *submission)
{
    struct owned *owned = submission->owned;

    if (!owned)
        return;
    *(submission->owned_before ? &submission->owned_before->owned_behind : &owned->first) = submission->owned_behind;
    *(submission->owned_behind ? &submission->owned_behind->owned_before : &owned->last) = submission->owned_before;
    submission->owned = NULL;
    if (owned->first)
        return;
    map_remove(&customer->owned, owner_hash(&submission->owner, 0));
    free(owned);
}

void owners_boot(struct customer *customer)
{
    for (uint32_t i = 0; i < customer->submission_count; i++)
        submission_own(customer, customer->submissions[i]);
}

void owners_done(struct customer *customer)
{
    uint64_t hash, value;
    uint32_t at = 0;

    while (map_next(&customer->owned, &at, &hash, &value))
        free((struct owned *)(uintptr_t)value);
    map_done(&customer->owned);
}

/* The first of that list that has a job with a larger number. Whoever looks at one job after another asks for the one that he was at, or for the one behind it. */
static const struct submission *owned_behind(const struct customer *customer, const struct owned *owned, uint64_t after)
{
    uint32_t place = submission_behind(customer, after);
    const struct submission *one = place < customer->submission_count ? customer->submissions[place] : NULL;

    if (after && one && one->owned == owned)
        return one;
    one = place ? customer->submissions[place - 1] : NULL;
    if (after && one && one->owned == owned)
        return one->owned_behind;
    for (one = owned->first; one && one->first + one->count <= after + 1;)
        one = one->owned_behind;
    return one;
}

bool customer_next_of(const struct customer *customer, const char *owner, uint64_t after, struct job_view *ret)
{
    const struct owned *owned;
    struct text text;

    if (!text_set(&text, owner, strlen(owner)))
        return false; /* no job is of so long a name, and it begins like another's */
    owned = owned_of(customer, &text);
    if (!owned)
        return false;
    for (const struct submission *one = owned_behind(customer, owned, after); one; one = one->owned_behind)
        if (!memcmp(&one->owner, &text, sizeof text) && submission_job_behind(customer, one, after, ret))
            return true;
    return false;
}

/* Is each in the list of its owner, once, in order? */
bool owners_valid(const struct customer *customer)
{
    uint64_t hash, value, count = 0;
    uint32_t at = 0;

    if (!customer->counts)
        return true;
    while (map_next(&customer->owned, &at, &hash, &value)) {
        const struct owned *owned = (const struct owned *)(uintptr_t)value;

        for (const struct submission *one = owned->first; one; one = one->owned_behind, count++)
            if (one->owned != owned || owner_hash(&one->owner, 0) != hash ||
                (one->owned_behind ? one->owned_behind->first < one->first : one != owned->last))
                return false;
    }
    return count == customer->submission_count;
}
