/* variants.c: makes the ads of many workstations. */
#include "cli/bench/variants.h"

#include "cli/bench/bench.h"
#include "lang/ad/names.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "lang/text/parse.h"

#include <stdlib.h>
#include <string.h>

static const char figure_13[] = BENCH_FIGURE_13;

_Static_assert(VARIANT_LENGTH == sizeof figure_13 - 1, "the ad of figure 13 has 886 bytes");

/* What varies: the text after the name becomes random; letters stay letters, digits stay digits. */
static const struct vary {
    const char *name;
    unsigned skip, len; /* how many characters after `=` stay, and how many then change */
} varied[] = {
    {"[Name=", 1, 5},
    {";Machine=", 1, 5},
    {";VirtualMemory=", 1, 5},
    {";Disk=", 1, 5},
    {";CondorLoadAvg=", 2, 6},
    {";LoadAvg=", 2, 6},
    {";KeyboardIdle=", 1, 4},
    {";ConsoleIdle=", 1, 4},
    {";Memory=", 1, 2},
    {";Subnet=", 9, 3},
    {";TotalVirtualMemory=", 1, 5},
    {";TotalDisk=", 1, 5},
    {";KFlops=", 1, 4},
    {";Mips=", 1, 2},
    {";LastBenchmark=", 3, 6},
    {";TotalLoadAvg=", 2, 6},
    {";TotalCondorLoadAvg=", 2, 6},
    {";EnteredCurrentState=", 3, 6},
    {";EnteredCurrentActivity=", 3, 6},
    {";LastHeardFrom=", 3, 6},
};
#define VARIED (sizeof varied / sizeof *varied)

void variants_init(struct variants *variants, uint64_t seed, uint64_t count)
{
    size_t places[VARIED];
    struct rng rng;

    for (size_t i = 0; i < VARIED; i++)
        places[i] = (size_t)(strstr(figure_13, varied[i].name) - figure_13) + strlen(varied[i].name) + varied[i].skip;
    rng_init(&rng, seed);
    variants->count = count;
    variants->texts = mem_alloc(variants->count * VARIANT_LENGTH);
    for (uint64_t n = 0; n < variants->count; n++) {
        char *text = variants->texts + n * VARIANT_LENGTH;

        memcpy(text, figure_13, VARIANT_LENGTH);
        for (size_t i = 0; i < VARIED && n; i++) /* the first is the ad of the figure itself */
            for (size_t k = places[i]; k < places[i] + varied[i].len; k++)
                text[k] = (char)(text[k] >= 'a' ? 'a' + rng_below(&rng, 26) : '0' + rng_below(&rng, 10));
    }
    variants->symbols = names_new(0);
    build_init(&variants->build, variants->symbols, &dialect_classic);
}

void variants_done(struct variants *variants)
{
    build_done(&variants->build);
    symbols_free(variants->symbols);
    free(variants->texts);
}

struct tree *variants_parse(struct variants *variants, uint64_t n)
{
    return parse_ad(&variants->build, NULL, variants->texts + n * VARIANT_LENGTH, VARIANT_LENGTH, NULL);
}
