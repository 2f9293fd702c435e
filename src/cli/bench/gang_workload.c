/* gang_workload.c: the ads of chapter 5. They are written as text and parsed: 250,000 ads take a second or two. */
#include "cli/bench/gang_workload.h"

#include "lang/base/buf.h"
#include "lang/base/mem.h"
#include "lang/base/rng.h"
#include "lang/text/parse.h"

#include <stdlib.h>
#include <string.h>

const char *const gang_workload_names[GANG_WORKLOADS] = {"base", "duds", "skewed", "opportunity"};

/* Figure 26, in ten-thousandths. The weights add up to 10,011, so each platform is a little less likely than printed. */
static const struct platform {
    const char *arch, *opsys;
    unsigned weight;
} platforms[] = {
    {"INTEL", "LINUX", 3191},    {"INTEL", "SOLARIS26", 2127}, {"INTEL", "WINNT40", 2411},  {"SGI", "IRIX6", 212},
    {"SUN4u", "SOLARIS26", 390}, {"SUN4u", "SOLARIS27", 390},  {"SUN4x", "SOLARIS26", 766}, {"SUN4x", "SOLARIS27", 524},
};
#define PLATFORMS (sizeof platforms / sizeof *platforms)
#define PLATFORM_WEIGHTS 10011

/* Figure 27, in thousandths. */
static const struct memory {
    unsigned megabytes, weight;
} memories[] = {{32, 70}, {64, 400}, {128, 200}, {256, 200}, {800, 130}};
#define MEMORIES (sizeof memories / sizeof *memories)
#define MEMORY_WEIGHTS 1000
#define MEMORY_MOST 800

#define MEGABYTE 1048576.0
#define SKEWED_OPEN 5 /* one in so many machines can have a licence */

struct maker {
    struct build build;
    struct buf text;
    struct rng rng;
    struct tree **next;
};

static unsigned draw_platform(struct maker *maker)
{
    uint64_t at = rng_below(&maker->rng, PLATFORM_WEIGHTS);
    unsigned i = 0;

    while (at >= platforms[i].weight)
        at -= platforms[i++].weight;
    return i;
}

static double draw_memory(struct maker *maker)
{
    uint64_t at = rng_below(&maker->rng, MEMORY_WEIGHTS);
    unsigned i = 0;

    while (at >= memories[i].weight)
        at -= memories[i++].weight;
    return memories[i].megabytes * MEGABYTE;
}

static double draw_between(struct maker *maker, double low, double high)
{
    return low + (high - low) * rng_unit(rng_next(&maker->rng));
}

/* Makes the next ad from the text. The text is our own, so it parses. */
static void finish(struct maker *maker)
{
    struct tree *ad = parse_ad(&maker->build, NULL, maker->text.text, maker->text.len, NULL);

    if (!ad)
        abort();
    *maker->next++ = ad;
    buf_reset(&maker->text);
}

/* ---------------------------------------------------------------------------------------------------------- the ads */

static void add_machine(struct maker *maker, const char *name, int64_t key, unsigned platform, double memory,
                        double virtual_memory)
{
    buf_addf(&maker->text,
             "[Name=\"%s%llu\";Type=\"Machine\";Key=%lld;Arch=\"%s\";OpSys=\"%s\";Memory=%.1f;VirtualMemory=%.6f;"
             "Ports={[Label=Job;Constraint=Job.MemoryReqs<Memory-15M]}]",
             name, (unsigned long long)(key < 0 ? -1 - key : key), (long long)key, platforms[platform].arch,
             platforms[platform].opsys, memory, virtual_memory);
    finish(maker);
}

static void add_license(struct maker *maker, const char *name, size_t number, size_t first, size_t end)
{
    buf_addf(&maker->text,
             "[Name=\"%s%zu\";Type=\"License\";App=\"sim_app\";"
             "Ports={[Label=Site;Constraint=Site.HostID>=%zu&&Site.HostID<%zu]}]",
             name, number, first, end);
    finish(maker);
}

static void add_job(struct maker *maker, size_t number, unsigned platform, double image, double memory)
{
    buf_addf(&maker->text,
             "[Name=\"j%zu\";Ports={[Label=Cpu;ImageSize=%.6f;MemoryReqs=%.6f;"
             "Constraint=Cpu.Arch==\"%s\"&&Cpu.OpSys==\"%s\"&&Cpu.VirtualMemory>ImageSize],"
             "[Label=License;HostID=Cpu.Key;Constraint=License.App==\"sim_app\"]}]",
             number, image, memory, platforms[platform].arch, platforms[platform].opsys);
    finish(maker);
}

/* Add jobs and machines of figure 57, which know nothing but their platform, tag and threshold. */
static void add_tagged(struct maker *maker, size_t number, const struct gang_trait *trait)
{
    buf_addf(&maker->text,
             "[Name=\"j%zu\";Ports={[Label=Cpu;Tag=%.17g;Constraint=Cpu.Arch==\"%s\"&&Cpu.OpSys==\"%s\"]}]", number,
             trait->level, platforms[trait->platform].arch, platforms[trait->platform].opsys);
    finish(maker);
}

static void add_choosy(struct maker *maker, size_t number, const struct gang_trait *trait)
{
    buf_addf(&maker->text,
             "[Name=\"m%zu\";Type=\"Machine\";Arch=\"%s\";OpSys=\"%s\";"
             "Ports={[Label=Job;Constraint=Job.Tag>%.17g]}]",
             number, platforms[trait->platform].arch, platforms[trait->platform].opsys, trait->level);
    finish(maker);
}

/* ---------------------------------------------------------------------------------------------------- the workloads */

unsigned gang_license_partition(size_t license, size_t licenses, unsigned selectivity)
{
    return (unsigned)(license * selectivity / licenses);
}

/* The dissertation prints the end as (n / k + 1) i, which would leave partition 0 without a machine. */
void gang_partition_keys(unsigned partition, unsigned selectivity, size_t machines, size_t *ret_first, size_t *ret_end)
{
    size_t each = machines / selectivity;

    *ret_first = each * partition;
    *ret_end = partition + 1 == selectivity ? machines : each * (partition + 1);
}

static void make_base(struct maker *maker, struct gang_workload *workload, const struct gang_plan *plan)
{
    struct tree **jobs = maker->next;

    maker->next += workload->jobs;
    for (size_t i = 0; i < workload->machines; i++) {
        unsigned platform = draw_platform(maker);
        double memory = draw_memory(maker);

        add_machine(maker, "m", (int64_t)i, platform, memory, 2 * memory * draw_between(maker, 0.2, 0.9));
    }
    /* Every job finds the dud of its platform, which has room for all; no licence is for the Keys of duds. */
    for (unsigned i = 0; i < workload->dud_machines; i++)
        add_machine(maker, "dud-m", -1 - (int64_t)i, i, MEMORY_MOST * MEGABYTE, 2 * MEMORY_MOST * MEGABYTE * 0.9);
    for (size_t i = 0; i < workload->licenses; i++) {
        size_t first, end;

        gang_partition_keys(gang_license_partition(i, workload->licenses, plan->selectivity), plan->selectivity,
                            workload->machines, &first, &end);
        add_license(maker, "l", i, first, end);
    }
    for (size_t i = 0; i < workload->dud_licenses; i++) /* for Keys that no machine has */
        add_license(maker, "dud-l", i, workload->machines, 2 * workload->machines);
    maker->next = jobs;
    for (size_t i = 0; i < workload->jobs; i++) {
        double image = 2 * draw_memory(maker) * draw_between(maker, 0.2, 0.8);
        double memory = image * draw_between(maker, 0.2, 0.5);

        add_job(maker, i, draw_platform(maker), image, memory);
    }
}

static void make_skewed(struct maker *maker, struct gang_workload *workload)
{
    for (size_t i = 0; i < workload->jobs; i++)
        add_job(maker, i, 0, 64 * MEGABYTE, 16 * MEGABYTE);
    for (size_t i = 0; i < workload->machines; i++)
        add_machine(maker, "m", (int64_t)i, 0, 64 * MEGABYTE, 96 * MEGABYTE);
    for (size_t i = 0; i < workload->licenses; i++)
        add_license(maker, "l", i, workload->machines - workload->machines / SKEWED_OPEN, workload->machines);
}

static void make_opportunity(struct maker *maker, struct gang_workload *workload, const struct gang_plan *plan)
{
    struct gang_trait *traits = mem_alloc((workload->jobs + workload->machines) * sizeof *traits);

    workload->traits = traits;
    for (size_t i = 0; i < workload->jobs; i++, traits++) {
        *traits = (struct gang_trait){draw_platform(maker), draw_between(maker, 0, GANG_TAGS)};
        add_tagged(maker, i, traits);
    }
    for (size_t i = 0; i < workload->machines; i++, traits++) {
        *traits = (struct gang_trait){draw_platform(maker), draw_between(maker, 0, plan->discrimination)};
        add_choosy(maker, i, traits);
    }
}

static size_t ad_count(const struct gang_workload *workload)
{
    return workload->jobs + workload->machines + workload->dud_machines + workload->licenses + workload->dud_licenses;
}

void gang_workload_init(struct gang_workload *workload, struct symbols *symbols, const struct gang_plan *plan)
{
    struct maker maker;

    *workload = (struct gang_workload){.jobs = plan->machines, .machines = plan->machines};
    if (plan->kind == GANG_SKEWED)
        workload->licenses = 2 * plan->machines;
    else if (plan->kind != GANG_OPPORTUNITY)
        workload->licenses = plan->machines * plan->percent / 100;
    /* The dissertation has seven dud machines, but figure 26 has eight rows: with seven, some machine queries would be empty. */
    if (plan->kind == GANG_DUDS) {
        workload->dud_machines = PLATFORMS;
        workload->dud_licenses = 1;
    }
    workload->ads = mem_alloc(ad_count(workload) * sizeof *workload->ads);
    build_init(&maker.build, symbols, &dialect_classic);
    buf_init(&maker.text);
    rng_init(&maker.rng, plan->seed);
    maker.next = workload->ads;
    if (plan->kind == GANG_SKEWED)
        make_skewed(&maker, workload);
    else if (plan->kind == GANG_OPPORTUNITY)
        make_opportunity(&maker, workload, plan);
    else
        make_base(&maker, workload, plan);
    buf_done(&maker.text);
    build_done(&maker.build);
}

void gang_workload_done(struct gang_workload *workload)
{
    for (size_t i = 0; i < ad_count(workload); i++)
        tree_unref(workload->ads[i]);
    free(workload->ads);
    free(workload->traits);
    *workload = (struct gang_workload){0};
}

uint64_t gang_opportunity_cost(const struct gang_workload *workload, const struct gang_pair *pairs, size_t count)
{
    bool *served = mem_alloc(workload->jobs * sizeof *served);
    uint64_t cost = 0;

    memset(served, 0, workload->jobs * sizeof *served);
    for (size_t i = 0; i < count; i++) {
        const struct gang_trait *machine = &workload->traits[workload->jobs + pairs[i].machine];

        for (size_t job = 0; job < workload->jobs; job++)
            cost += !served[job] && workload->traits[job].platform == machine->platform &&
                    workload->traits[job].level > machine->level;
        served[pairs[i].job] = true;
    }
    free(served);
    return cost;
}
