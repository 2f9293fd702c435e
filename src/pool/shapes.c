/* shapes.c: a customer's requests: jobs that are equal share one, and it says how many of them wait. */
#include "ad/names.h"
#include "base/mem.h"
#include "pool/customer_parts.h"
#include "pool/writers.h"

#include <stdlib.h>
#include <string.h>

uint64_t owner_hash(const struct text *text, uint64_t seed)
{
    uint64_t hash = rng_mix(seed), word;

    for (size_t i = 0; i < sizeof text->bytes; i += sizeof word) {
        memcpy(&word, text->bytes + i, sizeof word);
        hash = rng_mix(hash ^ word);
    }
    return hash;
}

static uint64_t shape_hash(const struct text *owner, const struct tree *ad)
{
    return owner_hash(owner, tree_hash(ad, tree_root(ad)));
}

/* A number of the ad that is not negative; else what is said when it has none. */
static int64_t shape_number(const struct tree *ad, const char *attribute, int64_t otherwise)
{
    symbol name = symbols_find(ad->symbols, attribute, strlen(attribute));
    const struct expr *number = name ? tree_find(ad, tree_root(ad), name) : NULL;

    return number && number->kind == EXPR_INTEGER && number->u.integer >= 0 ? number->u.integer : otherwise;
}

struct shape *shape_new(struct customer *customer, uint64_t id, const struct text *owner, struct tree *ad)
{
    struct shape *shape = mem_alloc(sizeof *shape);

    *shape = (struct shape){.id = id,
                            .place = customer->shape_count,
                            .owner = *owner,
                            .ad = tree_ref(ad),
                            .retries = shape_number(ad, "MaxRetries", CUSTOMER_RETRIES),
                            .patience = shape_number(ad, "QueueLimit", INT64_MAX),
                            .set = INT64_MAX};
    advert_init(&shape->advert, id, true, customer->starts << 32);
    if (customer->shape_count == customer->shape_room) {
        customer->shape_room = customer->shape_room ? customer->shape_room * 2 : 8;
        customer->shape_list = mem_grow(customer->shape_list, customer->shape_room * sizeof *customer->shape_list);
    }
    customer->shape_list[customer->shape_count++] = shape;
    map_set(&customer->places, id, shape->place);
    map_set(&customer->shapes, shape_hash(owner, ad), shape->place);
    return shape;
}

static void shape_free(struct shape *shape)
{
    if (!shape)
        return;
    advert_done(&shape->advert);
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
}

static struct shape *shape_at(const struct customer *customer, uint64_t place)
{
    return place < customer->shape_count ? customer->shape_list[place] : NULL;
}

struct shape *shape_like(const struct customer *customer, const struct text *owner, const struct tree *ad)
{
    struct shape *shape = shape_at(customer, map_find(&customer->shapes, shape_hash(owner, ad)));

    return shape && memcmp(&shape->owner, owner, sizeof *owner) == 0 &&
                   tree_equal(shape->ad, tree_root(shape->ad), ad, tree_root(ad))
               ? shape
               : NULL;
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
    timers_set(&step->customer->timers, at, TIMER_SHAPE, shape->place);
}

/* A request that nobody waits for any more is taken back at once: a match for it would keep a machine from others. */
static int64_t shape_rest(const struct shape *shape)
{
    return shape->waiting > shape->pending ? shape->rest : 0;
}

void shape_changed(const struct customer_step *step, struct shape *shape)
{
    int64_t rest = shape_rest(shape);

    shape->dirty = true;
    shape_set(step, shape, rest > step->env->now ? rest : step->env->now);
}

/* The request for all that wait and that no claim is on its way to. */
static struct tree *shape_text(const struct shape *shape)
{
    int64_t count = shape->waiting - shape->pending;
    struct ad_setting setting = {NAME_COUNT, value_integer(count)};

    return count > 0 ? ad_set(shape->ad, &setting, 1, NULL) : NULL;
}

/* Jobs that have waited longer than they may are given up; the next is looked at when its time comes. */
static void shape_tire(const struct customer_step *step, struct shape *shape)
{
    if (shape->patience >= INT64_MAX / SECOND / 4)
        return;
    while (shape->first && shape->first->from->since + shape->patience * SECOND <= step->env->now)
        job_give_up(step, shape->first);
    if (shape->first)
        shape_set(step, shape, shape->first->from->since + shape->patience * SECOND);
}

/* Nothing needs it any more, and nothing of it is advertised. */
static bool shape_drop(const struct customer_step *step, struct shape *shape)
{
    struct customer *customer = step->customer;
    uint64_t hash = shape_hash(&shape->owner, shape->ad);

    if (shape->uses || shape->dirty || shape->advert.text || shape->advert.there || shape->advert.flight)
        return false;
    effects_remove(step->effects, RECORD_SHAPE, shape->id);
    if (map_find(&customer->shapes, hash) == shape->place)
        map_remove(&customer->shapes, hash);
    map_remove(&customer->places, shape->id);
    customer->shape_list[shape->place] = NULL;
    shape_free(shape);
    return true;
}

void shape_due(const struct customer_step *step, uint32_t place)
{
    struct shape *shape = shape_at(step->customer, place);
    uint64_t after;
    int64_t now = step->env->now;

    if (!shape)
        return;
    if (shape->set <= now)
        shape->set = INT64_MAX;
    shape_tire(step, shape);
    after = shape->stored > step->customer->stored ? shape->stored : step->customer->stored;
    if (shape->dirty && now >= shape_rest(shape) && !shape->advert.flight) {
        struct tree *text = shape_text(shape);

        shape->dirty = false;
        shape->rest = now + step->customer->spans->retry;
        advert_want(&shape->advert, now, text);
        tree_unref(text);
    }
    shape_set(step, shape,
              advert_run(&shape->advert, step->env, step->customer->settings->matchmaker, place, after, step->effects));
    if (shape_drop(step, shape))
        return;
    if (shape->dirty && !shape->advert.flight)
        shape_set(step, shape, shape_rest(shape));
}

void shape_answer(const struct customer_step *step, uint64_t place, const struct event *event)
{
    struct shape *shape = shape_at(step->customer, place);

    if (!shape)
        return;
    advert_answer(&shape->advert, step->env, step->customer->spans, event, step->effects);
    shape_due(step, shape->place);
}

void shapes_boot(const struct customer_step *step)
{
    for (uint32_t i = 0; i < step->customer->shape_count; i++) {
        step->customer->shape_list[i]->advert.version = step->customer->starts << 32;
        shape_changed(step, step->customer->shape_list[i]);
    }
}
