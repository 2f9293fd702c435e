/* judge_usage.c: 10: what a matchmaker has counted as used is no more than it was told.
 *
 * Reports say how long a claim has been active so far, in a life of its provider. However often one comes, and however often the matchmaker begins anew, the book
 * cannot have more than the largest of these for each claim and life. It may have less: what came just before a power cut is lost. */
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

void judge_told(struct judge *judge, const struct host *host, const struct report *report)
{
    uint32_t place = matchmaker_place(judge, host);
    uint64_t key = rng_mix(report->claim ^ rng_mix(report->life ^ rng_mix(place + 1)));
    uint64_t found = map_find(&judge->told_map, key);
    int64_t before = found == MAP_NONE ? 0 : (int64_t)found;

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
