/* judge_usage.c: 10: what a matchmaker has counted as used is no more than it was told.
 *
 * Reports say how long a claim has been active so far, in a life of its provider. However often one comes, and however often the matchmaker begins anew, the book
 * cannot have more than the largest of these for each claim and life. It may have less: what came just before a power cut is lost.
 *
 * But a provider keeps the last report of a claim, in the commit that removes the claim, until a matchmaker has heard it; and when that one has answered, its
 * book has all of it on disk, whatever happens to it afterwards. That holds for claims that one life of a matchmaker has matched and knows at their end:
 * another life may not know what stands in the book already, and then adds nothing. */
#include "sim/judge_parts.h"

#include "lang/base/rng.h"

static uint32_t matchmaker_place(const struct judge *judge, const struct host *host)
{
    return (host->place - judge->parties.matchmaker) % MATCHMAKERS_MAX;
}

/* Both are none below zero; liars tell spans that no sum holds. */
static int64_t sum_of(int64_t one, int64_t other)
{
    return one > INT64_MAX - other ? INT64_MAX : one + other;
}

static struct final_fact *final_of(struct judge *judge, uint64_t claim)
{
    uint64_t found = map_find(&judge->final_map, claim);
    struct final_fact *fact;

    if (found != MAP_NONE)
        return slab_at(&judge->finals, (uint32_t)found);
    found = slab_take(&judge->finals);
    map_set(&judge->final_map, claim, found);
    fact = slab_at(&judge->finals, (uint32_t)found);
    *fact = (struct final_fact){0};
    return fact;
}

/* Does the matchmaker know the claim since before it was active? It forgets matches of which nothing was heard for a window and a lease; one that it
 * learns again by its receipt counts only from then on. */
static bool claim_is_known(const struct judge *judge, const struct host *host, const struct report *report)
{
    struct claim_view view;

    for (uint32_t from = 0; matchmaker_next_claim(host->role, from, &view, &from);)
        if (view.claim == report->claim)
            return judge->now - view.since >= report->wall;
    return false;
}

static void final_told(struct judge *judge, const struct host *host, const struct report *report)
{
    struct final_fact *fact = final_of(judge, report->claim);

    fact->gang = report->gang;
    if (!fact->first)
        fact->first = matchmaker_incarnation(host->role);
    if (!report->over)
        return;
    if (!fact->last) /* by when it comes again, it may have been long over */
        fact->known = claim_is_known(judge, host, report);
    fact->last = matchmaker_incarnation(host->role);
}

static void wall_add(void *user, const struct record *record)
{
    int64_t *sum = user;

    if (!record->u.usage_record.of_machine)
        *sum = sum_of(*sum, record->u.usage_record.wall);
}

/* The provider has been answered for good: what it told is on the matchmaker's disk. */
static void final_settled(struct judge *judge, const struct final_fact *fact)
{
    const struct host *host = world_host(judge->world, fact->registrar);
    uint64_t found = map_find(&judge->root_map, fact->gang);
    const struct root_fact *root = found == MAP_NONE ? NULL : slab_at(&judge->roots, (uint32_t)found);
    int64_t sum = 0, *settled;

    if (!host || !is_matchmaker(judge, host->place) || fact->first != fact->last || !fact->known || !root ||
        root->incarnation != fact->first)
        return;
    settled = &judge->settled_wall[matchmaker_place(judge, host)];
    *settled = sum_of(*settled, fact->wall / 1000);
    disk_each(&host->disk, RECORD_USAGE, wall_add, &sum);
    if (sum < *settled)
        judge_finds(judge, 10, host, "claims are counted as active for %lld ms on disk, but %lld ms were answered for",
                    (long long)sum, (long long)*settled);
}

void judge_parting(struct judge *judge, const struct host *host, const struct record *record)
{
    struct final_fact *fact = final_of(judge, record->key);

    if (!record->removed) {
        fact->registrar = record->u.parting_record.registrar;
        fact->wall = record->u.parting_record.wall;
    } else if (!fact->last && !disk_find(&host->disk, RECORD_TENANT, record->key)) {
        judge_finds(judge, 10, host, "the last report of a claim is forgotten, and no matchmaker has heard it");
    } else if (fact->last) {
        final_settled(judge, fact);
    }
}

void judge_parted(struct judge *judge, const struct host *host, uint64_t claim)
{
    if (!disk_find(&host->disk, RECORD_PARTING, claim) && !final_of(judge, claim)->last)
        judge_finds(judge, 10, host, "a claim is forgotten, and its last report with it");
}

void judge_told(struct judge *judge, const struct host *host, const struct report *report)
{
    uint32_t place = matchmaker_place(judge, host);
    uint64_t key = rng_mix(report->claim ^ rng_mix(report->life ^ rng_mix(place + 1)));
    uint64_t found = map_find(&judge->told_map, key);
    int64_t before = found == MAP_NONE ? 0 : (int64_t)found;

    final_told(judge, host, report);
    if (report->wall <= before)
        return;
    map_set(&judge->told_map, key, (uint64_t)report->wall);
    judge->told_wall[place] = sum_of(judge->told_wall[place], report->wall - before);
}

void judge_usage(struct judge *judge, const struct host *host)
{
    int64_t told = judge->told_wall[matchmaker_place(judge, host)], sums[2] = {0, 0};
    const struct usage_row *row;

    for (uint32_t from = 0; matchmaker_next_usage(host->role, from, &row, &from);)
        sums[row->of_machine] = sum_of(sums[row->of_machine], row->amounts.wall);
    if (sums[0] > told / 1000 || sums[1] > told / 1000)
        judge_finds(judge, 10, host,
                    "claims are counted as active for %lld ms (%lld by machines), but %lld ms were told",
                    (long long)sums[0], (long long)sums[1], (long long)(told / 1000));
}
