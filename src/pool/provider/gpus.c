/* gpus.c: which GPUs of the machine are whose. */
#include "pool/provider/gpus.h"

#include "lang/ad/get.h"
#include "lang/ad/ops.h"
#include "lang/text/build.h"
#include "match/gang/dock.h"
#include "match/gang/ported.h"
#include "match/pair/pair.h"
#include "pool/protocol/mutants.h"
#include "pool/provider/offers.h"
#include "pool/provider/successor.h"

#include <string.h>

/* The ids of some GPUs, lent by the ads that they stand in. */
struct gpu_ids {
    uint32_t count;
    struct gpu_id {
        const char *text;
        uint32_t len;
    } items[GPUS_MAX];
};

static const struct expr *list_of(const struct tree *ad, const char *name)
{
    const struct expr *list = ad ? ad_find(ad, name) : NULL;

    return list && list->kind == EXPR_LIST ? list : NULL;
}

static bool ids_have(const struct gpu_ids *ids, const struct gpu_id *id)
{
    for (uint32_t i = 0; i < ids->count; i++)
        if (ids->items[i].len == id->len && !memcmp(ids->items[i].text, id->text, id->len))
            return true;
    return false;
}

static void ids_add(struct gpu_ids *ids, const struct gpu_id *id)
{
    if (ids->count < GPUS_MAX && !ids_have(ids, id))
        ids->items[ids->count++] = *id;
}

/* Adds what a tenant has. */
static void ids_of(const struct tenant *tenant, struct gpu_ids *ids)
{
    const struct expr *list = list_of(tenant->gpus, GPUS_ASSIGNED);

    for (uint32_t i = 0; list && i < list->u.run.count; i++) {
        const struct expr *e = &tree_parts(tenant->gpus, list)[i];

        if (e->kind == EXPR_STRING)
            ids_add(ids, &(struct gpu_id){tree_string(tenant->gpus, e), e->u.run.count});
    }
}

/* What the others have, on whichever offer: as somebody sees it who comes behind those claims. */
static void ids_taken(const struct provider *provider, const struct tenant *except, const struct fronts *behind,
                      struct gpu_ids *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < provider->tenant_count; i++) {
        const struct tenant *tenant = provider->tenants[i];

        if (tenant != except && tenant->gpus && !fronts_have(behind, tenant->claim))
            ids_of(tenant, ret);
    }
}

/* The id of a GPU of an offer; false: it cannot be given. */
static bool gpu_id(const struct tree *offer, const struct expr *gpu, struct gpu_id *ret)
{
    symbol name = symbols_find(offer->symbols, "Uuid", 4);
    const struct expr *e = gpu->kind == EXPR_AD && name ? tree_find(offer, gpu, name) : NULL;

    if (!e || e->kind != EXPR_STRING || !e->u.run.count)
        return false;
    *ret = (struct gpu_id){tree_string(offer, e), e->u.run.count};
    return true;
}

/* ---------------------------------------------------------------------------------------------------------- choosing */

/* How many GPUs the ad, in which amounts are plain numbers, asks for; -1: that is no number of GPUs. */
static int64_t asked_of(const struct tree *ad)
{
    const struct expr *e = ad_find(ad, "RequestGpus");
    double asked;

    if (!e || e->kind == EXPR_UNDEFINED)
        return 0;
    if (!ad_number(ad, "RequestGpus", &asked) || !(asked >= 0 && asked <= GPUS_MAX) || asked != (double)(int64_t)asked)
        return -1;
    return (int64_t)asked;
}

/* What the ad wants of each GPU: its own words, or those of the port that we are docked at; NULL: any will do. */
static const struct expr *wanted_of(struct tree *ad, uint64_t port)
{
    symbol name = symbols_find(ad->symbols, "RequireGpus", 11);
    const struct expr *found = NULL;

    if (!name)
        return NULL;
    if (dock_has_ports(ad)) {
        const struct ported *ported = tree_ported(ad);

        if (ported && port < ported->ports.count)
            found = tree_find(ad, ported->ports.items[port].ad, name);
    }
    return found ? found : tree_find(ad, tree_root(ad), name);
}

/* The choice that is being made. */
struct choice {
    const struct provider_step *step;
    const struct tree *offer;
    struct tree *ad;
    const struct expr *wanted;
    struct gpu_ids taken, own;
};

/* The names in what is wanted are looked up in the GPU first. */
static bool gpu_pleases(const struct choice *choice, const struct expr *gpu)
{
    struct arena_mark mark = arena_mark(choice->step->env->scratch);
    struct env env = provider_env(choice->step->env);
    struct scope opened, inside;
    bool truth = false, pleases;
    struct pair pair;
    struct eval eval;
    struct value v;

    if (!choice->wanted)
        return true;
    pair_init(&pair, choice->ad, choice->offer);
    scope_open(&opened, &pair.right, gpu);
    scope_inside(&inside, &opened, choice->ad);
    eval_init(&eval, &env, choice->step->env->scratch);
    eval_expr(&eval, &inside, choice->wanted, &v);
    pleases = op_condition(choice->ad->dialect, &v, &truth) == VALUE_BOOLEAN && truth;
    arena_rewind(choice->step->env->scratch, mark);
    return pleases;
}

/* Chooses up to `asked` of the offer's GPUs; returns whether there were as many. */
static bool gpus_choose(const struct choice *choice, int64_t asked, struct gpu_ids *ret)
{
    const struct expr *list = list_of(choice->offer, "Gpus");

    ret->count = 0;
    for (int own = 1; own >= 0; own--)
        for (uint32_t i = 0; i < list->u.run.count && ret->count < asked; i++) {
            const struct expr *gpu = &tree_parts(choice->offer, list)[i];
            struct gpu_id id;

            if (gpu_id(choice->offer, gpu, &id) && ids_have(&choice->own, &id) == (own == 1) &&
                (!ids_have(&choice->taken, &id) || MUTANT(GPU_TWICE)) && gpu_pleases(choice, gpu))
                ids_add(ret, &id);
        }
    return ret->count == asked;
}

static void choice_init(struct choice *choice, const struct provider_step *step, uint32_t place,
                        const struct tenant *tenant, const struct fronts *behind, struct tree *ad, uint64_t port)
{
    *choice = (struct choice){
        .step = step, .offer = step->provider->offers[place].whole, .ad = ad, .wanted = wanted_of(ad, port)};
    ids_taken(step->provider, tenant, behind, &choice->taken);
    if (tenant)
        ids_of(tenant, &choice->own);
}

bool gpus_suffice(const struct provider_step *step, uint32_t place, const struct tenant *tenant,
                  const struct fronts *behind, struct tree *ad)
{
    int64_t asked = dock_has_ports(ad) ? 0 : asked_of(ad);
    struct choice choice;
    struct gpu_ids ids;

    if (asked == 0 || !list_of(step->provider->offers[place].whole, "Gpus"))
        return true;
    choice_init(&choice, step, place, tenant, behind, ad, 0);
    return asked > 0 && gpus_choose(&choice, asked, &ids);
}

static struct tree *ids_ad(struct symbols *symbols, const struct gpu_ids *ids)
{
    struct build build;
    struct tree *ad;
    uint32_t place;

    build_init(&build, symbols, &dialect_classic);
    for (uint32_t i = 0; i < ids->count; i++)
        build_string(&build, ids->items[i].text, ids->items[i].len);
    build_bind(&build, EXPR_LIST, ids->count);
    build_attribute(&build, symbols_take(symbols, GPUS_ASSIGNED, strlen(GPUS_ASSIGNED)));
    ad = build_ad(&build, 1, &place) == 0 ? build_seal(&build) : NULL;
    build_done(&build);
    return ad;
}

bool gpus_assign(const struct provider_step *step, struct tenant *tenant, struct tree *ad)
{
    int64_t asked = asked_of(dock_has_ports(ad) && tenant->grant ? tenant->grant : ad);
    struct tree *before = tenant->gpus;
    struct choice choice;
    struct gpu_ids ids;

    if (!list_of(step->provider->offers[tenant->offer].whole, "Gpus"))
        return true;
    if (asked == 0 && !before)
        return true;
    choice_init(&choice, step, tenant->offer, tenant, NULL, ad, tenant->port);
    if (asked < 0 || !gpus_choose(&choice, asked, &ids))
        return false;
    tenant->gpus = ids.count ? ids_ad(ad->symbols, &ids) : NULL;
    tree_unref(before);
    gpus_moved(step, tenant);
    return true;
}

void gpus_moved(const struct provider_step *step, const struct tenant *tenant)
{
    for (uint32_t i = 0; i < step->provider->settings->count; i++)
        if (i != tenant->offer)
            offer_changed(step, i);
}

/* ------------------------------------------------------------------------------------------------------ what is left */

/* Pushes the GPUs that are left; returns how many of them can be given. */
static int64_t list_left(struct build *build, const struct tree *ad, const struct expr *list,
                         const struct gpu_ids *taken)
{
    uint32_t kept = 0;
    int64_t free = 0;

    for (uint32_t i = 0; i < list->u.run.count; i++) {
        const struct expr *gpu = &tree_parts(ad, list)[i];
        struct gpu_id id;
        bool given = gpu_id(ad, gpu, &id);

        if (given && ids_have(taken, &id))
            continue;
        build_copy(build, ad, gpu);
        kept++;
        free += given;
    }
    build_bind(build, EXPR_LIST, kept);
    return free;
}

static int64_t count_left(const struct tree *ad, const struct expr *list, const struct gpu_ids *taken)
{
    int64_t free = 0;
    struct gpu_id id;

    for (uint32_t i = 0; i < list->u.run.count; i++)
        free += gpu_id(ad, &tree_parts(ad, list)[i], &id) && !ids_have(taken, &id);
    return free;
}

struct tree *gpus_left(const struct provider *provider, struct tree *left, const struct tenant *except,
                       const struct fronts *behind)
{
    const struct expr *list = list_of(left, "Gpus"), *count = left ? ad_find(left, "GpuCount") : NULL, *root, *parts;
    struct tree *less = NULL;
    struct gpu_ids taken;
    struct build build;
    uint32_t place;
    int64_t free;

    if (!list)
        return left;
    ids_taken(provider, except, behind, &taken);
    if (!taken.count)
        return left;
    root = tree_root(left);
    parts = tree_parts(left, root);
    free = count_left(left, list, &taken);
    build_init(&build, left->symbols, left->dialect);
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        if (&parts[i] == list)
            list_left(&build, left, list, &taken);
        else if (&parts[i] == count && count->kind == EXPR_INTEGER && count->u.integer > free)
            build_integer(&build, free); /* on another offer of this machine nothing else says so */
        else
            build_copy(&build, left, &parts[i]);
        symbols_hold(left->symbols, parts[i].label);
        build_attribute(&build, parts[i].label);
    }
    if (build_ad(&build, root->u.run.count, &place) == 0)
        less = build_seal(&build);
    build_done(&build);
    if (!less)
        return left;
    tree_unref(left);
    return less;
}

/* ------------------------------------------------------------------------------------------------------- what is told */

struct tree *gpus_tell(const struct tenant *tenant, struct tree *job)
{
    const struct expr *root = tree_root(job), *parts = tree_parts(job, root), *said = ad_find(job, GPUS_ASSIGNED);
    const struct expr *given = list_of(tenant->gpus, GPUS_ASSIGNED); /* a row may be of anything */
    uint32_t count = 0, place;
    struct tree *told = NULL;
    struct build build;

    if (!said && !given)
        return job;
    build_init(&build, job->symbols, job->dialect);
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        if (&parts[i] == said)
            continue;
        build_copy(&build, job, &parts[i]);
        symbols_hold(job->symbols, parts[i].label);
        build_attribute(&build, parts[i].label);
        count++;
    }
    if (given) {
        build_copy(&build, tenant->gpus, given);
        build_attribute(&build, symbols_take(job->symbols, GPUS_ASSIGNED, strlen(GPUS_ASSIGNED)));
        count++;
    }
    if (count <= TREE_PARTS_MAX && build_ad(&build, count, &place) == 0)
        told = build_seal(&build);
    build_done(&build);
    if (!told)
        return job;
    tree_unref(job);
    return told;
}
