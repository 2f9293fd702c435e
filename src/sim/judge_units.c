/* judge_units.c: 1: no more is pinned than the provider has, and no GPU is given twice. */
#include "lang/ad/get.h"
#include "sim/judge_parts.h"

#include <stdlib.h>
#include <string.h>

/* Sums of what is pinned on an offer. A successor holds nothing while claims in front are there; but when those go, there
 * must be enough for the successor: `later`. */
struct pinned {
    struct judge *judge;
    const struct host *host; /* the host whose disk has the rows */
    uint64_t offer;
    int64_t units, cpus, later_units, later_cpus;
};

struct followed {
    uint64_t claim;
    uint32_t by;
};

/* Those in front of a row's claim. */
static void row_fronts(const struct record *record, struct fronts *ret)
{
    const struct tree *ad = record->u.tenant_record.fronts;
    const struct expr *list = ad ? ad_find(ad, "Claims") : NULL;

    *ret = (struct fronts){.count = record->u.tenant_record.behind != 0, .claims = {record->u.tenant_record.behind}};
    for (uint32_t i = 1; list && i < list->u.run.count && i < FRONTS_MAX;
         i++) { /* the first stands in the row itself */
        char digits[17] = "";

        memcpy(digits, tree_string(ad, &tree_parts(ad, list)[i]), 16);
        ret->claims[ret->count++] = strtoull(digits, NULL, 16);
    }
}

static void followed_row(void *user, const struct record *record)
{
    struct followed *followed = user;

    struct fronts fronts;

    row_fronts(record, &fronts);
    for (uint32_t i = 0; i < fronts.count; i++)
        followed->by += fronts.claims[i] == followed->claim;
}

static void pinned_add(struct pinned *pinned, const struct tree *ad, bool waits, bool goes)
{
    int64_t cpus = judged_integer(ad, pinned->judge->request_cpus, 1);

    pinned->units += !waits;
    pinned->cpus += waits ? 0 : cpus;
    pinned->later_units += !goes;
    pinned->later_cpus += goes ? 0 : cpus;
}

static void pinned_row(void *user, const struct record *record)
{
    struct pinned *pinned = user;
    const struct tenant_record *tenant = &record->u.tenant_record;
    struct followed followed = {.claim = record->key};
    struct fronts fronts;
    bool waits = false;

    if (tenant->offer != pinned->offer)
        return;
    row_fronts(record, &fronts);
    for (uint32_t i = 0; i < fronts.count; i++)
        waits = waits || disk_find(&pinned->host->disk, RECORD_TENANT, fronts.claims[i]);
    disk_each(&pinned->host->disk, RECORD_TENANT, followed_row, &followed);
    pinned_add(pinned, tenant->ad, waits, followed.by > 0);
}

static void pinned_tenant(struct pinned *pinned, const struct host *host, const struct tenant_view *tenant)
{
    uint32_t followed = 0;

    if (tenant->offer != pinned->offer || tenant->state < TENANT_PINNED)
        return;
    for (uint32_t i = 0; i < pinned->judge->tenant_counts[host->place]; i++) {
        const struct tenant_view *other = &pinned->judge->tenants[host->place][i];

        for (uint32_t k = 0; k < other->behind.count; k++)
            followed += other->behind.claims[k] == tenant->claim && other->state >= TENANT_PINNED;
    }
    if (followed > 1)
        judge_finds(pinned->judge, 1, host, "%u are pinned behind one claim", followed);
    pinned_add(pinned, tenant->ad, tenant->behind.count != 0, followed > 0);
}

static bool pinned_exceeds(const struct pinned *pinned, const struct tree *ad)
{
    const struct judge *judge = pinned->judge;
    int64_t cpus = judged_integer(ad, judge->cpus, 1);

    return judged_has(ad, judge->residual) ? pinned->cpus > cpus || pinned->later_cpus > cpus
                                           : pinned->units > 1 || pinned->later_units > 1;
}

/* The GPUs that are given to claims of a provider. */
struct gpus_given {
    struct judge *judge;
    const struct host *host;
    uint32_t count;
    struct {
        const char *text;
        uint32_t len;
    } ids[64];
    bool durable;
};

static void given_add(struct gpus_given *given, const struct tree *gpus)
{
    symbol name = gpus ? symbols_find(gpus->symbols, "AssignedGpus", 12) : SYMBOL_NONE;
    const struct expr *list = name ? tree_find(gpus, tree_root(gpus), name) : NULL;

    for (uint32_t i = 0; list && list->kind == EXPR_LIST && i < list->u.run.count; i++) {
        const struct expr *e = &tree_parts(gpus, list)[i];
        const char *text = tree_string(gpus, e);

        for (uint32_t k = 0; k < given->count; k++)
            if (given->ids[k].len == e->u.run.count && !memcmp(given->ids[k].text, text, given->ids[k].len))
                judge_finds(given->judge, 1, given->host, "the GPU %.*s is given to two claims%s",
                            (int)given->ids[k].len, text, given->durable ? ", on disk" : "");
        if (given->count < sizeof given->ids / sizeof *given->ids) {
            given->ids[given->count].text = text;
            given->ids[given->count++].len = e->u.run.count;
        }
    }
}

static void given_row(void *user, const struct record *record)
{
    given_add(user, record->u.tenant_record.gpus);
}

static void judge_gpus(struct judge *judge, const struct host *host, bool durable)
{
    struct gpus_given given = {.judge = judge, .host = host, .durable = durable};

    if (durable)
        disk_each(&host->disk, RECORD_TENANT, given_row, &given);
    for (uint32_t i = 0; i < judge->tenant_counts[host->place] && !durable; i++)
        given_add(&given, judge->tenants[host->place][i].gpus);
}

void judge_units(struct judge *judge, const struct host *host, bool durable)
{
    const struct provider_settings *settings = host->settings;

    judge_gpus(judge, host, durable);
    for (uint32_t place = 0; place < settings->count; place++) {
        struct pinned pinned = {.judge = judge, .host = host, .offer = settings->ids[place]};

        if (durable)
            disk_each(&host->disk, RECORD_TENANT, pinned_row, &pinned);
        for (uint32_t i = 0; i < judge->tenant_counts[host->place] && !durable; i++)
            pinned_tenant(&pinned, host, &judge->tenants[host->place][i]);
        if (pinned_exceeds(&pinned, settings->ads[place]))
            judge_finds(judge, 1, host, "%lld claims with %lld Cpus are pinned on one offer (%lld with %lld to come)%s",
                        (long long)pinned.units, (long long)pinned.cpus, (long long)pinned.later_units,
                        (long long)pinned.later_cpus, durable ? ", on disk" : "");
    }
}
