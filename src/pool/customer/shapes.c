/* shapes.c: a customer's requests: equal jobs share one, which says how many of them wait. */
#include "lang/ad/names.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/customer/customer_parts.h"
#include "pool/protocol/account.h"
#include "pool/protocol/job_processes.h"
#include "pool/protocol/writers.h"

#include <stdlib.h>
#include <string.h>

#define SHAPE_NAME_CHANCE 8 /* bits of a name that are drawn: the others are of a clock in microseconds */

uint64_t owner_hash(const struct text *text, uint64_t seed)
{
    uint64_t hash = rng_mix(seed), word;

    for (size_t i = 0; i < sizeof text->bytes; i += sizeof word) {
        memcpy(&word, text->bytes + i, sizeof word);
        hash = rng_mix(hash ^ word);
    }
    return hash;
}

uint64_t account_hash(const struct text *owner)
{
    struct text account;

    text_set(&account, owner->bytes, account_len(owner->bytes, strnlen(owner->bytes, sizeof owner->bytes)));
    return owner_hash(&account, 0);
}

static uint64_t shape_hash(const struct text *owner, const struct tree *ad)
{
    return owner_hash(owner, tree_hash(ad, tree_root(ad)));
}

/* The ad's attribute, if it is an integer that is not negative; else `otherwise`. */
static int64_t shape_number(const struct tree *ad, const char *attribute, int64_t otherwise)
{
    symbol name = symbols_find(ad->symbols, attribute, strlen(attribute));
    const struct expr *number = name ? tree_find(ad, tree_root(ad), name) : NULL;

    return number && number->kind == EXPR_INTEGER && number->u.integer >= 0 ? number->u.integer : otherwise;
}

/* Do its jobs run on the customer's own host? */
static bool shape_is_local(const struct tree *ad)
{
    symbol name = symbols_find(ad->symbols, "Universe", 8);
    const struct expr *universe = name ? tree_find(ad, tree_root(ad), name) : NULL;

    return universe && universe->kind == EXPR_STRING && universe->u.run.count == 5 &&
           !memcmp(tree_string(ad, universe), "local", 5);
}

/* Does the job's Pools, if it has one, name that pool? */
static bool shape_wants(const struct tree *ad, const struct customer_pool *pool)
{
    symbol name = symbols_find(ad->symbols, "Pools", 5);
    const struct expr *list = name ? tree_find(ad, tree_root(ad), name) : NULL, *parts;

    if (!list || list->kind != EXPR_LIST || !pool->name)
        return true;
    parts = tree_parts(ad, list);
    for (uint32_t i = 0; i < list->u.run.count; i++)
        if (parts[i].kind == EXPR_STRING && parts[i].u.run.count == strlen(pool->name) &&
            memcmp(tree_string(ad, &parts[i]), pool->name, parts[i].u.run.count) == 0)
            return true;
    return false;
}

static void shape_add_pools(const struct customer *customer, struct shape *shape)
{
    const struct customer_settings *settings = customer->settings;
    struct customer_pool only = {settings->matchmaker, NULL};

    shape->pool_count = settings->pool_count ? settings->pool_count : 1;
    shape->pools = mem_alloc(shape->pool_count * sizeof *shape->pools);
    for (uint32_t i = 0; i < shape->pool_count; i++) {
        const struct customer_pool *pool = settings->pool_count ? &settings->pools[i] : &only;

        shape->pools[i] = (struct shape_pool){.matchmaker = pool->matchmaker,
                                              .wanted = !shape->local && shape_wants(shape->ad, pool)};
        shape->pools[i].last = INT64_MIN;
        advert_init(&shape->pools[i].advert, shape->id, true, customer->starts << 32);
    }
}

struct shape_pool *shape_pool(const struct shape *shape, agent matchmaker)
{
    for (uint32_t i = 0; i < shape->pool_count; i++)
        if (shape->pools[i].matchmaker == matchmaker)
            return &shape->pools[i];
    return NULL;
}

enum reason shape_refused(const struct shape *shape)
{
    enum reason first = REASON_OK;

    for (uint32_t i = 0; i < shape->pool_count; i++) {
        const struct shape_pool *pool = &shape->pools[i];

        if (pool->wanted && pool->advert.refused == REASON_OK)
            return REASON_OK;
        if (pool->wanted && first == REASON_OK)
            first = pool->advert.refused;
    }
    return first;
}

struct shape *shape_at(const struct customer *customer, uint64_t place)
{
    return place < customer->shape_count ? customer->shape_list[place] : NULL;
}

/* Finds the shape that leads those with the same request, or makes this one lead. */
static void shape_follow(struct customer *customer, struct shape *shape)
{
    uint64_t hash = shape_hash(&shape->owner, shape->request);
    struct shape *lead = shape_at(customer, map_find(&customer->leads, hash));

    shape->lead = shape;
    if (lead && memcmp(&lead->owner, &shape->owner, sizeof shape->owner) == 0 &&
        tree_equal(lead->request, tree_root(lead->request), shape->request, tree_root(shape->request))) {
        shape->lead = lead;
        lead->uses++;
        tree_unref(shape->request);
        shape->request = tree_ref(lead->request);
        return;
    }
    map_set(&customer->leads, hash, shape->place);
}

/* Ads that are shared by many jobs count once: so does the room that they take. */
static void shape_count_bytes(struct customer *customer, const struct shape *shape, bool more)
{
    uint64_t hash = account_hash(&shape->owner), bytes = map_find(&customer->sizes, hash);
    uint64_t size = tree_size(shape->ad) + (shape->lead == shape ? tree_size(shape->request) : 0);

    bytes = bytes == MAP_NONE ? 0 : bytes;
    map_set(&customer->sizes, hash, more ? bytes + size : bytes > size ? bytes - size : 0);
}

struct shape *shape_new(struct customer *customer, uint64_t id, const struct text *owner, struct tree *ad)
{
    struct shape *shape = mem_alloc(sizeof *shape);

    *shape = (struct shape){.id = id,
                            .place = customer->shape_count,
                            .owner = *owner,
                            .owner_hash = owner_hash(owner, 0),
                            .ad = tree_ref(ad),
                            .request = shape_request(ad),
                            .retries = shape_number(ad, "MaxRetries", CUSTOMER_RETRIES),
                            .unless = shape_number(ad, "RetryUnless", -1),
                            .success = shape_number(ad, "SuccessExitCode", 0),
                            .parallel = shape_number(ad, JOB_PROCESSES_COUNT, 0) > 1,
                            .ends = ending_is_said(ad),
                            .needs = ending_needs(ad),
                            .counts = shape_number(ad, "MaxRetries", -1) >= 0,
                            .patience = shape_number(ad, "QueueLimit", INT64_MAX),
                            .not_before = shape_time(ad, "NotBefore", -SHAPE_TIME_NEVER),
                            .finish_by = shape_time(ad, "FinishBy", SHAPE_TIME_NEVER),
                            .index = (uint64_t)shape_number(ad, "Index", 0),
                            .local = shape_is_local(ad),
                            .priority = turns_priority(ad),
                            .set = INT64_MAX,
                            .told = INT64_MIN / 2};
    shape->early = shape->not_before > -SHAPE_TIME_NEVER; /* until the clock was looked at */
    shape_add_pools(customer, shape);
    ARRAY_ROOM(customer->shape_list, customer->shape_count, customer->shape_room, 8);
    customer->shape_list[customer->shape_count++] = shape;
    map_set(&customer->places, id, shape->place);
    map_set(&customer->shapes, shape_hash(owner, ad), shape->place);
    shape_follow(customer, shape);
    shape_count_bytes(customer, shape, true);
    return shape;
}

static void shape_free(struct shape *shape)
{
    if (!shape)
        return;
    for (uint32_t i = 0; i < shape->pool_count; i++)
        advert_done(&shape->pools[i].advert);
    free(shape->pools);
    rejection_forget(shape);
    tree_unref(shape->request);
    tree_unref(shape->ad);
    free(shape);
}

void shapes_done(struct customer *customer)
{
    for (uint32_t i = 0; i < customer->shape_count; i++)
        shape_free(customer->shape_list[i]);
    free(customer->shape_list);
    map_done(&customer->places);
    map_done(&customer->shapes);
    map_done(&customer->leads);
}

struct shape *shape_like(const struct customer *customer, const struct text *owner, const struct tree *ad)
{
    struct shape *shape = shape_at(customer, map_find(&customer->shapes, shape_hash(owner, ad)));

    return shape && memcmp(&shape->owner, owner, sizeof *owner) == 0 &&
                   tree_equal(shape->ad, tree_root(shape->ad), ad, tree_root(ad))
               ? shape
               : NULL;
}

/* A new shape's name. They grow with the time, so that the rows of shapes that come together stand together: at places all over a large store, most of the
 * time went there. */
static uint64_t shape_name(const struct customer_step *step)
{
    struct customer *customer = step->customer;
    uint64_t name =
        (uint64_t)step->env->wall << SHAPE_NAME_CHANCE | secrets_word(step->env->secrets) >> (64 - SHAPE_NAME_CHANCE);

    name = name > customer->last_shape ? name : customer->last_shape + 1;
    while (!name || shape_find(customer, name)) /* a clock may have been put back */
        name++;
    return customer->last_shape = name;
}

struct shape *shape_of(const struct customer_step *step, const struct text *owner, struct tree *ad)
{
    struct shape *shape = shape_like(step->customer, owner, ad);
    struct record made = {.kind = RECORD_SHAPE};

    if (shape)
        return shape;
    shape = shape_new(step->customer, shape_name(step), owner, ad);
    made.key = shape->id;
    made.u.shape_record = (struct shape_record){shape->owner, shape->ad};
    shape->stored = effects_persist(step->effects, &made);
    if (shape->stored > shape->lead->stored)
        shape->lead->stored = shape->stored;
    return shape;
}

struct shape *shape_find(const struct customer *customer, uint64_t id)
{
    return shape_at(customer, map_find(&customer->places, id));
}

static void shape_set(const struct customer_step *step, struct shape *shape, int64_t at)
{
    if (at >= shape->set)
        return;
    shape->set = at;
    timers_set(&step->customer->shape_timers, at, TIMER_SHAPE, shape->place);
}

/* When what has changed is told. A request that no job needs any more is taken back at once: a match for it would keep a machine from others. Where no
 * request is, a job that was submitted waits for nothing: somebody may sit there, and send the next when this one is done. One that comes back waits
 * for a cycle: it may come back again and again. */
static int64_t shape_rest(const struct customer_step *step, const struct shape *shape)
{
    int64_t rest = shape->told + step->customer->spans->retry, first = shape->told + step->customer->spans->cycle;

    for (uint32_t i = 0; i < shape->pool_count; i++) {
        if (shape->waiting <= shape->pools[i].pending)
            return 0;
        if (shape->pools[i].wanted && !shape->pools[i].parked && !shape->pools[i].advert.text && first < rest)
            rest = shape->fresh ? 0 : first;
    }
    return rest;
}

void shape_changed(const struct customer_step *step, struct shape *shape)
{
    int64_t rest;

    if (shape->lead != shape && !shape->uses)
        shape_set(step, shape, step->env->now); /* to be dropped */
    shape = shape->lead;
    rest = shape_rest(step, shape);
    for (uint32_t i = 0; i < shape->pool_count; i++)
        shape->pools[i].dirty = true;
    shape_set(step, shape, rest > step->env->now ? rest : step->env->now);
}

void shape_submitted(const struct customer_step *step, struct shape *shape)
{
    shape->lead->fresh = true;
    shape_changed(step, shape);
}

/* The request for all waiting jobs that no claim from that pool is on its way to; NULL: there are none. When its next job was submitted, and that
 * job's number, give it its place among the requests of its owner. */
static struct tree *shape_text(const struct shape *shape, const struct shape_pool *pool)
{
    int64_t count = pool->wanted && !shape->early ? shape->waiting - pool->pending : 0;
    struct symbols *symbols = shape->request->symbols;
    struct ad_setting settings[] = {{NAME_COUNT, value_integer(count)},
                                    {SYMBOL_NONE, value_integer(count > 0 ? shape->first->from->at : 0)},
                                    {SYMBOL_NONE, value_integer(count > 0 ? (int64_t)shape->first->id : 0)}};
    struct tree *text;

    if (count <= 0)
        return NULL;
    settings[1].name = symbols_take(symbols, "Submitted", 9);
    settings[2].name = symbols_take(symbols, "FirstJob", 8);
    text = ad_set(shape->request, settings, 3, NULL);
    symbols_drop(symbols, settings[1].name);
    symbols_drop(symbols, settings[2].name);
    return text;
}

/* Drops the shape if nothing needs it any more and it is not advertised. */
static bool shape_drop(const struct customer_step *step, struct shape *shape)
{
    struct customer *customer = step->customer;
    uint64_t hash;

    if (shape->uses)
        return false;
    for (uint32_t i = 0; i < shape->pool_count; i++) {
        const struct shape_pool *pool = &shape->pools[i];

        if (pool->dirty || pool->advert.text || pool->advert.there || pool->advert.flight)
            return false;
    }
    effects_remove(step->effects, RECORD_SHAPE, shape->id);
    hash = shape_hash(&shape->owner, shape->ad);
    if (map_find(&customer->shapes, hash) == shape->place)
        map_remove(&customer->shapes, hash);
    hash = shape_hash(&shape->owner, shape->request);
    if (map_find(&customer->leads, hash) == shape->place)
        map_remove(&customer->leads, hash);
    map_remove(&customer->places, shape->id);
    customer->shape_list[shape->place] = NULL;
    if (shape->lead != shape) {
        shape->lead->uses--;
        shape_changed(step, shape->lead);
    }
    shape_count_bytes(customer, shape, false);
    shape_free(shape);
    return true;
}

/* Settles what that pool should have, and sends what is due there. */
static void shape_advertise(const struct customer_step *step, struct shape *shape, uint32_t which, bool rested)
{
    struct shape_pool *pool = &shape->pools[which];
    uint64_t after = shape->stored > step->customer->stored ? shape->stored : step->customer->stored;

    if (pool->dirty && rested && !pool->advert.flight) {
        struct tree *text = shape_text(shape, pool);
        bool before = pool->advert.text != NULL;

        pool->dirty = false;
        shape->fresh = false;
        shape->told = step->env->now;
        if (!text)
            turns_unpark(step, shape, which);
        advert_want(&pool->advert, step->env->now, text && turns_admit(step, shape, which) ? text : NULL);
        turns_offered(step, shape, which, before);
        tree_unref(text);
    }
    shape_set(step, shape,
              advert_run(&pool->advert, step->env, pool->matchmaker, (uint64_t)which << 32 | shape->place, after,
                         step->effects));
}

/* A pool has the request of a shape that does not lead: from before a restart, when it did. */
void shape_disown(const struct customer_step *step, struct shape *shape, struct shape_pool *pool)
{
    if (pool->advert.there)
        return;
    pool->advert.there = true;
    pool->advert.version++;
    pool->advert.due = step->env->now;
    shape_due(step, shape->place);
}

void shape_due(const struct customer_step *step, uint32_t place)
{
    struct shape *shape = shape_at(step->customer, place);
    int64_t now = step->env->now;
    bool rested;

    if (!shape)
        return;
    if (shape->set <= now)
        shape->set = INT64_MAX;
    shape_set(step, shape, shape_look(step, shape));
    rested = now >= shape_rest(step, shape);
    for (uint32_t i = 0; i < shape->pool_count; i++)
        shape_advertise(step, shape, i, rested);
    if (shape_drop(step, shape))
        return;
    for (uint32_t i = 0; i < shape->pool_count; i++)
        if (shape->pools[i].dirty && !shape->pools[i].advert.flight)
            shape_set(step, shape, shape_rest(step, shape));
}

void shape_answer(const struct customer_step *step, uint64_t token, const struct event *event)
{
    struct shape *shape = shape_at(step->customer, token & UINT32_MAX);

    if (!shape || token >> 32 >= shape->pool_count)
        return;
    advert_answer(&shape->pools[token >> 32].advert, step->env, step->customer->spans, event, step->effects);
    turns_answered(step, shape, (uint32_t)(token >> 32));
    shape_due(step, shape->place);
}

void shapes_again(const struct customer_step *step, agent matchmaker)
{
    for (uint32_t i = 0; i < step->customer->shape_count; i++) {
        struct shape *shape = step->customer->shape_list[i];

        for (uint32_t k = 0; shape && k < shape->pool_count; k++)
            if (shape->pools[k].matchmaker == matchmaker)
                advert_again(&shape->pools[k].advert, step->env->now);
        if (shape)
            shape_set(step, shape, step->env->now);
    }
}

void shapes_boot(const struct customer_step *step)
{
    for (uint32_t i = 0; i < step->customer->shape_count; i++) {
        struct shape *shape = step->customer->shape_list[i];

        for (uint32_t k = 0; k < shape->pool_count; k++)
            shape->pools[k].advert.version = step->customer->starts << 32;
        shape_changed(step, shape);
    }
}
