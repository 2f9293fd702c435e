/* index.c: offers that are kept, and found without trying each.
 *
 *     key --slots--> slot { key, ad }        an index (match/index) has small numbers: the slots, which are used anew
 *
 * When the clock of a context has moved, offers whose constraints depend on the time are read again before the next question. */
#include "match/index/index.h"

#include "api/api_parts.h"
#include "lang/base/array.h"
#include "lang/base/map.h"
#include "lang/base/mem.h"
#include "match/pair/order.h"
#include "match/pair/policy.h"

#include <stdlib.h>

#define NO_SLOT UINT32_MAX
#define OFFERS_MAX (1u << 30)

struct slot {
    uint64_t key;
    struct berth_ad *ad; /* held; NULL: the slot is free, and `key` is the next free one */
};

struct berth_index {
    struct world *world;
    struct index *index;
    struct slot *slots;
    uint32_t count, room, free;
    struct map places; /* key -> slot */
    int64_t now;       /* of the last question */
    int zone;
};

struct berth_index *berth_index_new(struct berth_context *context)
{
    struct berth_index *index = mem_alloc(sizeof *index);

    *index = (struct berth_index){.world = world_ref(context->world),
                                  .index = index_new(),
                                  .free = NO_SLOT,
                                  .now = context->env.now,
                                  .zone = context->env.zone};
    map_init(&index->places, 0);
    return index;
}

void berth_index_free(struct berth_index *index)
{
    if (!index)
        return;
    changes_begin(index->world);
    index_free(index->index);
    changes_end(index->world);
    for (uint32_t i = 0; i < index->count; i++)
        berth_ad_unref(index->slots[i].ad);
    map_done(&index->places);
    free(index->slots);
    world_unref(index->world);
    free(index);
}

static uint32_t slot_new(struct berth_index *index)
{
    uint32_t slot = index->free;

    if (slot != NO_SLOT) {
        index->free = (uint32_t)index->slots[slot].key;
        return slot;
    }
    ARRAY_ROOM(index->slots, index->count, index->room, 64);
    return index->count++;
}

int berth_index_load(struct berth_context *context, struct berth_index *index, struct berth_ad *const *ads,
                     size_t count, struct berth_error *error)
{
    struct tree **trees;

    context_fresh(context);
    if (index->world != context->world)
        return error_foreign(error);
    if (map_count(&index->places))
        return error_set(error, BERTH_BAD_CALL, "the index is not empty");
    if (count > OFFERS_MAX)
        return error_set(error, BERTH_TOO_MUCH, "an index holds %u offers at most", OFFERS_MAX);
    if (!(trees = ads_trees(context, NULL, ads, count, error)))
        return -1;
    changes_begin(context->world);
    if (index->count) { /* what is left of offers that have gone is in the way */
        index_free(index->index);
        index->index = index_new();
        index->count = 0;
        index->free = NO_SLOT;
    }
    index_build(index->index, &context->env, &context->arena, trees, (uint32_t)count);
    changes_end(context->world);
    free(trees);
    index->now = context->env.now;
    index->zone = context->env.zone;
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = slot_new(index);

        index->slots[slot] = (struct slot){i, berth_ad_ref(ads[i])};
        map_set(&index->places, i, slot);
    }
    return 0;
}

int berth_index_put(struct berth_context *context, struct berth_index *index, uint64_t key, struct berth_ad *ad,
                    struct berth_error *error)
{
    struct tree *tree = ad_tree(context, ad);
    uint64_t place;
    uint32_t slot;

    context_fresh(context);
    if (!tree || index->world != context->world)
        return error_foreign(error);
    place = map_find(&index->places, key);
    if (place == MAP_NONE && map_count(&index->places) >= OFFERS_MAX)
        return error_set(error, BERTH_TOO_MUCH, "an index holds %u offers at most", OFFERS_MAX);
    slot = place == MAP_NONE ? slot_new(index) : (uint32_t)place;
    changes_begin(context->world);
    index_put(index->index, &context->env, &context->arena, slot, tree);
    changes_end(context->world);
    berth_ad_ref(ad);
    if (place == MAP_NONE)
        map_set(&index->places, key, slot);
    else
        berth_ad_unref(index->slots[slot].ad);
    index->slots[slot] = (struct slot){key, ad};
    return 0;
}

int berth_index_drop(struct berth_context *context, struct berth_index *index, uint64_t key)
{
    uint64_t place = map_find(&index->places, key);

    context_fresh(context);
    if (place == MAP_NONE || index->world != context->world)
        return 0;
    changes_begin(context->world);
    index_remove(index->index, (uint32_t)place);
    changes_end(context->world);
    berth_ad_unref(index->slots[place].ad);
    index->slots[place] = (struct slot){index->free, NULL};
    index->free = (uint32_t)place;
    map_remove(&index->places, key);
    return 1;
}

struct berth_ad *berth_index_get(const struct berth_index *index, uint64_t key)
{
    uint64_t place = map_find(&index->places, key);

    return place == MAP_NONE ? NULL : index->slots[place].ad;
}

size_t berth_index_count(const struct berth_index *index)
{
    return map_count(&index->places);
}

struct asking {
    struct berth_context *context;
    struct berth_index *index;
    const struct tree *request;
    const struct policy *policy;
    struct value *components; /* of the best so far */
    uint32_t component_count;
    uint64_t best;
    size_t found;
};

/* Asks the index; part of a call that changes. */
static void ask(struct asking *asking, index_found_fn *found)
{
    struct berth_context *context = asking->context;
    struct berth_index *index = asking->index;

    if (index->now != context->env.now || index->zone != context->env.zone) {
        index_refresh(index->index, &context->env, &context->arena);
        index->now = context->env.now;
        index->zone = context->env.zone;
    }
    index_probe(index->index, &context->env, &context->arena, asking->request, found, asking);
}

/* Fills the asking, and clears what was lent; false for a bad call. */
static bool asking_begin(struct asking *asking, struct berth_context *context, struct berth_index *index,
                         const struct berth_ad *request)
{
    *asking = (struct asking){.context = context, .index = index, .request = ad_tree(context, request)};
    context_fresh(context);
    return asking->request && index->world == context->world;
}

static void found_count(void *user, uint32_t slot)
{
    struct asking *asking = user;

    (void)slot;
    asking->found++;
}

ptrdiff_t berth_index_matches(struct berth_context *context, struct berth_index *index, const struct berth_ad *request)
{
    struct asking asking;

    if (!asking_begin(&asking, context, index, request))
        return -1;
    changes_begin(context->world);
    ask(&asking, found_count);
    changes_end(context->world);
    return (ptrdiff_t)asking.found;
}

static void found_list(void *user, uint32_t slot)
{
    struct asking *asking = user;
    struct berth_context *context = asking->context;

    ARRAY_ROOM(context->keys, context->key_count, context->key_room, 64);
    context->keys[context->key_count++] = asking->index->slots[slot].key;
}

static int key_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

ptrdiff_t berth_index_all(struct berth_context *context, struct berth_index *index, const struct berth_ad *request,
                          const uint64_t **ret_keys)
{
    struct asking asking;
    bool sorted = true;

    if (!asking_begin(&asking, context, index, request))
        return -1;
    context->key_count = 0;
    changes_begin(context->world);
    ask(&asking, found_list);
    changes_end(context->world);
    for (size_t i = 1; i < context->key_count && sorted; i++) /* often they come so */
        sorted = context->keys[i - 1] <= context->keys[i];
    if (!sorted)
        qsort(context->keys, context->key_count, sizeof *context->keys, key_compare);
    *ret_keys = context->keys;
    return (ptrdiff_t)context->key_count;
}

static int vector_compare(const struct value *a, const struct value *b, uint32_t count)
{
    int order = 0;

    for (uint32_t i = 0; i < count && !order; i++)
        order = order_compare(&a[i], &b[i]);
    return order;
}

/* Considers an offer that matches. One that is not better leaves nothing in the arena. */
static void found_better(struct asking *asking, uint64_t key)
{
    struct berth_context *context = asking->context;
    const struct slot *slot = &asking->index->slots[map_find(&asking->index->places, key)];
    struct arena_mark mark = arena_mark(&context->arena);
    struct value *components;
    uint32_t count = policy_vector(asking->policy, &context->env, &context->arena, asking->request, slot->ad->item.tree,
                                   asking->component_count ? asking->components : NULL, &components);

    if (count && (!asking->component_count || vector_compare(components, asking->components, count) > 0)) {
        asking->components = components;
        asking->component_count = count;
        asking->best = key;
    } else {
        arena_rewind(&context->arena, mark);
    }
}

int berth_index_best(struct berth_context *context, struct berth_index *index, const struct berth_ad *request,
                     uint64_t *ret_key)
{
    const uint64_t *keys;
    ptrdiff_t count = berth_index_all(context, index, request, &keys);
    struct policy policy;
    struct asking asking;

    if (count <= 0)
        return (int)count;
    asking_begin(&asking, context, index, request);
    changes_begin(context->world);
    policy_init(&policy, NULL, NULL, NULL);
    asking.policy = &policy;
    for (ptrdiff_t i = 0; i < count; i++) /* in rising order: of equal ones the first is better */
        found_better(&asking, keys[i]);
    policy_done(&policy);
    changes_end(context->world);
    if (!asking.component_count)
        return 0;
    *ret_key = asking.best;
    return 1;
}
