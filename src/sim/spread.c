/* spread.c: summarises many numbers. */
#include "sim/spread.h"

#define STEPS (UINT64_C(1) << SPREAD_BITS)

/* Small numbers have a bucket each; above them each power of two has STEPS buckets. */
static uint32_t bucket_of(uint64_t number)
{
    uint32_t power = 0;

    if (number < STEPS)
        return (uint32_t)number;
    while (number >> power >= 2 * STEPS)
        power++;
    return (uint32_t)(((uint64_t)power + 1) * STEPS + (number >> power) - STEPS);
}

static double bucket_middle(uint32_t bucket)
{
    uint32_t power = bucket >> SPREAD_BITS;
    uint64_t least, width;

    if (power == 0)
        return bucket;
    least = (STEPS + (bucket & (STEPS - 1))) << (power - 1);
    width = UINT64_C(1) << (power - 1);
    return (double)least + (double)(width - 1) / 2;
}

void spread_add(struct spread *spread, uint64_t number)
{
    spread->count++;
    spread->sum += (double)number;
    if (number > spread->most)
        spread->most = number;
    spread->buckets[bucket_of(number)]++;
}

double spread_mean(const struct spread *spread)
{
    return spread->count ? spread->sum / (double)spread->count : 0;
}

double spread_quantile(const struct spread *spread, double part)
{
    double wanted = part * (double)spread->count, found;
    uint64_t sum = 0;

    for (uint32_t i = 0; i < SPREAD_BUCKETS; i++) {
        sum += spread->buckets[i];
        if (sum && (double)sum >= wanted) {
            found = bucket_middle(i);
            return found < (double)spread->most ? found : (double)spread->most;
        }
    }
    return 0;
}
