/* samples_ad.c: what a job used over its life, as an ad. */
#include "live/data/samples_ad.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/mem.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct series {
    const char *name;
    size_t place; /* in a point */
    int64_t most;
    bool gpus;
} all_series[] = {
    {"Memory", offsetof(struct job_sample, memory), SAMPLES_AMOUNT_MAX, false},
    {"CpuPercent", offsetof(struct job_sample, cpu), SAMPLES_PERCENT_MAX, false},
    {"GpuPercent", offsetof(struct job_sample, gpu), 100, true},
    {"GpuMemory", offsetof(struct job_sample, gpu_memory), SAMPLES_AMOUNT_MAX, true},
};
#define SERIES_COUNT (sizeof all_series / sizeof *all_series)

struct tree *samples_ad(struct symbols *symbols, const struct samples *samples)
{
    int64_t numbers[SAMPLES_MAX];
    struct maker maker;

    if (!samples->count)
        return NULL;
    maker_init(&maker, symbols);
    maker_integer(&maker, "Span", samples->span);
    for (size_t i = 0; i < SERIES_COUNT; i++) {
        if (all_series[i].gpus && !samples->gpus)
            continue;
        for (uint32_t j = 0; j < samples->count; j++)
            memcpy(&numbers[j], (const char *)&samples->points[j] + all_series[i].place, sizeof *numbers);
        maker_integers(&maker, all_series[i].name, numbers, samples->count);
    }
    return maker_seal(&maker);
}

/* Is that a span that points can stand for? */
static bool span_is_good(int64_t span)
{
    int64_t good = SAMPLES_SPAN;

    while (good < span && good < SAMPLES_SPAN_MAX)
        good *= 2;
    return good == span;
}

/* Reads one list into the points; the first says how many there are. */
static bool series_read(const struct tree *ad, const struct expr *list, const struct series *series,
                        struct samples *ret)
{
    uint32_t count = list && list->kind == EXPR_LIST ? list->u.run.count : 0;

    if (!count || count > SAMPLES_MAX || (ret->count && count != ret->count))
        return false;
    ret->count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct expr *part = &tree_parts(ad, list)[i];

        if (part->kind != EXPR_INTEGER || part->u.integer < 0 || part->u.integer > series->most)
            return false;
        memcpy((char *)&ret->points[i] + series->place, &part->u.integer, sizeof part->u.integer);
    }
    return true;
}

bool samples_read(const struct tree *ad, struct samples *ret)
{
    samples_init(ret);
    if (!tree_is_ad(ad) || !ad_integer(ad, "Span", &ret->span) || !span_is_good(ret->span))
        return false;
    ret->gpus = ad_find(ad, "GpuPercent") || ad_find(ad, "GpuMemory");
    for (size_t i = 0; i < SERIES_COUNT; i++)
        if ((!all_series[i].gpus || ret->gpus) &&
            !series_read(ad, ad_find(ad, all_series[i].name), &all_series[i], ret))
            return false;
    return true;
}

struct tree *samples_part(const struct tree *ad, const char *name)
{
    const struct expr *part = ad_find(ad, name);
    struct tree *given = part && part->kind == EXPR_AD ? ad_part(ad, part) : NULL, *made = NULL;
    struct samples *samples;

    if (!given)
        return NULL;
    samples = mem_alloc(sizeof *samples);
    if (samples_read(given, samples))
        made = samples_ad(ad->symbols, samples);
    free(samples);
    tree_unref(given);
    return made;
}
