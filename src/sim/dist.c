/* dist.c: draws random numbers. */
#include "sim/dist.h"

#include <math.h>
#include <stddef.h>

#define TURN 6.283185307179586 /* twice pi */

/* A number above 0.0, up to 1.0: it has a logarithm. */
static double unit_above(struct rng *rng)
{
    return 1.0 - rng_unit(rng_next(rng));
}

static double draw_uniform(double least, double most, struct rng *rng)
{
    return least + (most - least) * rng_unit(rng_next(rng));
}

/* Each of the whole numbers is as likely as any other, the last one too. */
static double draw_whole(double least, double most, struct rng *rng)
{
    double drawn = floor(least) + floor((floor(most) - floor(least) + 1.0) * rng_unit(rng_next(rng)));

    return drawn > most ? floor(most) : drawn;
}

/* A number between 0.0 and 1.0, and neither of them. */
static double unit_within(struct rng *rng)
{
    return ((double)(rng_next(rng) >> 12) + 0.5) * 0x1p-52;
}

static double draw_lognormal(double mean, double deviation, struct rng *rng)
{
    double part = mean > 0 ? deviation / mean : 0, variance = log1p(part * part);
    double radius = sqrt(-2.0 * log(unit_above(rng))), angle = TURN * rng_unit(rng_next(rng));

    if (mean <= 0)
        return 0;
    return exp(log(mean) - variance / 2 + sqrt(variance) * radius * cos(angle));
}

static const struct dist_choice *draw_choice(const struct dist *dist, struct rng *rng)
{
    double unit = rng_unit(rng_next(rng));
    uint32_t i = 0;

    while (i + 1 < dist->choice_count && unit >= dist->choices[i].upto)
        i++;
    return &dist->choices[i];
}

bool dist_draw_any(const struct dist *dist, struct rng *rng, double *ret_number, const struct expr **ret_word)
{
    double p[DIST_PARAMETERS] = {0}, drawn = 0;
    const struct dist_choice *choice;

    *ret_word = NULL;
    *ret_number = 0;
    for (int i = 0; i < DIST_PARAMETERS; i++)
        if (dist->parameters[i])
            p[i] = dist_draw(dist->parameters[i], rng);
    switch (dist->kind) {
    case DIST_FIXED:
        drawn = dist->value;
        break;
    case DIST_UNIFORM:
        drawn = dist->whole ? draw_whole(p[0], p[1], rng) : draw_uniform(p[0], p[1], rng);
        break;
    case DIST_EXPONENTIAL:
        drawn = -p[0] * log(unit_above(rng));
        break;
    case DIST_LOGNORMAL:
        drawn = draw_lognormal(p[0], p[1], rng);
        break;
    case DIST_CHOICE:
        choice = draw_choice(dist, rng);
        if (!choice->dist) {
            *ret_word = choice->word;
            return false;
        }
        if (!dist_draw_any(choice->dist, rng, &drawn, ret_word))
            return false;
        break;
    default:
        drawn = law_quantile((enum law)(dist->kind - DIST_LAWS), unit_within(rng), p[0], p[1]);
        break;
    }
    drawn = drawn < dist->least ? dist->least : drawn > dist->most ? dist->most : drawn;
    *ret_number = dist->whole ? nearbyint(drawn) : drawn;
    return true;
}

double dist_draw(const struct dist *dist, struct rng *rng)
{
    const struct expr *word;
    double number;

    dist_draw_any(dist, rng, &number, &word);
    return number;
}

const struct dist *dist_settle(const struct dist *dist, struct rng *rng, struct arena *arena)
{
    struct dist *settled;

    if (dist->kind == DIST_CHOICE) {
        const struct dist_choice *choice = draw_choice(dist, rng);

        return choice->dist && choice->dist->kind != DIST_FIXED ? dist_settle(choice->dist, rng, arena) : dist;
    }
    settled = arena_alloc(arena, sizeof *settled);
    *settled = *dist;
    for (int i = 0; i < DIST_PARAMETERS; i++)
        if (dist->parameters[i]) {
            struct dist *fixed = arena_alloc(arena, sizeof *fixed);

            *fixed = (struct dist){.kind = DIST_FIXED, .least = -INFINITY, .most = INFINITY};
            fixed->value = dist_draw(dist->parameters[i], rng);
            settled->parameters[i] = fixed;
        }
    return settled;
}

bool dist_is_whole(const struct dist *dist)
{
    if (dist->kind != DIST_CHOICE)
        return dist->whole;
    for (uint32_t i = 0; i < dist->choice_count; i++)
        if (dist->choices[i].dist && !dist_is_whole(dist->choices[i].dist))
            return false;
    return true;
}
