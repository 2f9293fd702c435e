/* judge_facts.c: the judge's account of claims, jobs and ads, and the first violation. */
#include "pool/customer/customer.h"
#include "sim/judge_parts.h"

#include <stdarg.h>
#include <stdio.h>

void judge_finds(struct judge *judge, int number, const struct host *host, const char *format, ...)
{
    struct violation *violation = &judge->violation;
    va_list args;

    if (violation->number || !(judge->heeds >> number & 1))
        return;
    violation->number = number;
    violation->time = judge->world->time;
    snprintf(violation->party, sizeof violation->party, "%s", host ? host->name : "the world");
    va_start(args, format);
    vsnprintf(violation->words, sizeof violation->words, format, args);
    va_end(args);
}

static void *fact_of(struct map *map, struct slab *slab, uint64_t key, bool *ret_new)
{
    uint64_t index = map_find(map, key);

    *ret_new = index == MAP_NONE;
    if (index == MAP_NONE) {
        index = slab_take(slab);
        map_set(map, key, index);
    }
    return slab_at(slab, (uint32_t)index);
}

struct claim_fact *judged_claim(struct judge *judge, uint64_t claim)
{
    bool fresh;
    struct claim_fact *fact = fact_of(&judge->claim_map, &judge->claims, claim, &fresh);

    if (fresh)
        fact->claim = claim;
    return fact;
}

struct job_fact *judged_job(struct judge *judge, uint32_t customer, uint64_t id)
{
    bool fresh;
    struct job_fact *fact = fact_of(&judge->job_map, &judge->jobs, rng_mix(id ^ (uint64_t)customer << 56) >> 1, &fresh);

    if (fresh)
        *fact = (struct job_fact){.id = id, .state = JOB_IDLE, .life = judge->world->hosts[customer].life};
    if (fact->life !=
        judge->world->hosts[customer].life) { /* rows of an earlier life count only if they have reached the disk */
        fact->life = judge->world->hosts[customer].life;
        fact->state = fact->durable;
        fact->gang = fact->durable_gang;
        fact->number = fact->durable_number;
    }
    return fact;
}

struct ad_fact *judged_ad(struct judge *judge, agent matchmaker, agent who, uint64_t id)
{
    bool fresh;
    struct ad_fact *fact =
        fact_of(&judge->ad_map, &judge->ads, rng_mix(id ^ who << 56 ^ rng_mix(matchmaker)) >> 1, &fresh);

    if (fresh) {
        fact->agent = who;
        fact->id = id;
    }
    return fact;
}

const struct tenant_view *judged_tenant(const struct judge *judge, const struct host *host, uint64_t claim)
{
    for (uint32_t i = 0; i < judge->tenant_counts[host->place]; i++)
        if (judge->tenants[host->place][i].claim == claim)
            return &judge->tenants[host->place][i];
    return NULL;
}

const struct process *judged_process(const struct judge *judge, const struct host *host, uint64_t claim)
{
    for (uint32_t i = host->processes; i != NOBODY;) {
        const struct process *process = slab_at(&judge->world->processes, i);

        if (process->claim == claim && process_lives(process))
            return process;
        i = process->next;
    }
    return NULL;
}

int64_t judged_integer(const struct tree *ad, symbol name, int64_t absent)
{
    const struct expr *e = ad && tree_is_ad(ad) ? tree_find(ad, tree_root(ad), name) : NULL;

    return e && e->kind == EXPR_INTEGER ? e->u.integer : absent;
}

bool judged_has(const struct tree *ad, symbol name)
{
    return ad && tree_is_ad(ad) && tree_find(ad, tree_root(ad), name);
}
