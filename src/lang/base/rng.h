/* rng.h: numbers that look random and depend on a seed alone. Never for secrets. */
#ifndef BERTH_LANG_BASE_RNG_H
#define BERTH_LANG_BASE_RNG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One 64-bit word, mixed so that every bit of the result depends on every bit of `x` (the finaliser of splitmix64). */
static inline uint64_t rng_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct rng {
    uint64_t state;
};

static inline void rng_init(struct rng *rng, uint64_t seed)
{
    rng->state = seed;
}

static inline uint64_t rng_next(struct rng *rng)
{
    uint64_t x = rng_mix(rng->state);

    rng->state += 0x9e3779b97f4a7c15u;
    return x;
}

/* A number from 0 to below `bound`, which is not 0. */
static inline uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    return rng_next(rng) % bound;
}

/* A number from 0.0 to below 1.0, made from a mixed word. */
static inline double rng_unit(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

#ifdef __cplusplus
}
#endif
#endif
