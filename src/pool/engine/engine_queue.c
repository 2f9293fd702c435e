/* engine_queue.c: which root is next: a tree of shares, in each leaf a heap of users by their priority, and for each a
 * heap of groups by their first root. * So when a user's priority changes, one entry moves, however many roots the user
 * has; when a share's key changes, one entry on each level above it. Without shares the tree is one leaf. */
#include "pool/engine/engine_queue.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "pool/engine/engine_classes.h"
#include "pool/engine/engine_members.h"
#include "pool/engine/engine_serve.h"
#include "pool/engine/engine_state.h"

#include <math.h>
#include <stdlib.h>

typedef bool before_fn(const struct engine *engine, uint32_t a, uint32_t b);
typedef uint32_t *place_fn(struct engine *engine, uint32_t item);

static uint32_t group_first(const struct engine *engine, uint32_t group)
{
    const struct ad_group *at = &engine->groups[group];

    return members_at(&at->members, at->done);
}

static bool group_before(const struct engine *engine, uint32_t a, uint32_t b)
{
    return engine_member_before(engine, group_first(engine, a), group_first(engine, b));
}

static bool user_before(const struct engine *engine, uint32_t a, uint32_t b)
{
    const struct user *x = &engine->users[a], *y = &engine->users[b];

    if ((x->late_in == engine->cycle) != (y->late_in == engine->cycle))
        return y->late_in == engine->cycle;
    if ((x->done_in == engine->cycle) != (y->done_in == engine->cycle))
        return y->done_in == engine->cycle;
    if (x->priority != y->priority)
        return x->priority < y->priority;
    /* what users say of their own jobs gives none of them a place before another: between equals the number decides, and whoever is served first is
     * charged for it */
    return engine->keys ? group_before(engine, x->groups.items[0], y->groups.items[0]) : a < b;
}

/* The stage of the first user in the queue in this share: no better than the share's own. */
static unsigned share_stage(const struct engine *engine, uint32_t share)
{
    const struct share_node *node = &engine->shares[share];
    unsigned first;

    if (node->items.count == 0)
        return node->stage;
    if (node->inner)
        first = share_stage(engine, node->items.items[0]);
    else
        first = engine->users[node->items.items[0]].late_in == engine->cycle ? STAGE_LATE : 0;
    return first > node->stage ? first : node->stage;
}

/* Both have the same parent. */
static bool share_before(const struct engine *engine, uint32_t a, uint32_t b)
{
    unsigned x = share_stage(engine, a), y = share_stage(engine, b);

    if (x != y)
        return x < y;
    if (engine->shares[a].ratio != engine->shares[b].ratio)
        return engine->shares[a].ratio < engine->shares[b].ratio;
    return a < b;
}

static uint32_t *share_place(struct engine *engine, uint32_t share)
{
    return &engine->shares[share].place;
}

static uint32_t *group_place(struct engine *engine, uint32_t group)
{
    return &engine->groups[group].place;
}

static uint32_t *user_place(struct engine *engine, uint32_t user)
{
    return &engine->users[user].place;
}

/* ----------------------------------------------------------------------------------------------------------- a heap */

static const struct heap_kind {
    before_fn *before;
    place_fn *place;
} of_groups = {group_before, group_place}, of_users = {user_before, user_place},
  of_shares = {share_before, share_place};

static void heap_set(struct engine *engine, const struct heap_kind *kind, struct heap *heap, uint32_t at, uint32_t item)
{
    heap->items[at] = item;
    *kind->place(engine, item) = at;
}

/* The item at a place moves up or down to where it belongs. */
static void heap_sift(struct engine *engine, const struct heap_kind *kind, struct heap *heap, uint32_t at)
{
    uint32_t item = heap->items[at], child;

    for (; at && kind->before(engine, item, heap->items[(at - 1) / 2]); at = (at - 1) / 2)
        heap_set(engine, kind, heap, at, heap->items[(at - 1) / 2]);
    for (; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && kind->before(engine, heap->items[child + 1], heap->items[child]))
            child++;
        if (!kind->before(engine, heap->items[child], item))
            break;
        heap_set(engine, kind, heap, at, heap->items[child]);
    }
    heap_set(engine, kind, heap, at, item);
}

static void heap_add(struct engine *engine, const struct heap_kind *kind, struct heap *heap, uint32_t item)
{
    ARRAY_ROOM(heap->items, heap->count, heap->room, 4);
    heap->items[heap->count++] = item;
    heap_sift(engine, kind, heap, heap->count - 1);
}

static void heap_remove(struct engine *engine, const struct heap_kind *kind, struct heap *heap, uint32_t item)
{
    uint32_t at = *kind->place(engine, item), last = heap->items[--heap->count];

    *kind->place(engine, item) = NOBODY;
    if (last == item)
        return;
    heap->items[at] = last;
    heap_sift(engine, kind, heap, at);
}

/* ----------------------------------------------------------------------------------------------------------- shares */

/* Something in the share has moved, come or gone: the shares above it may have to move, too. */
static void share_moved(struct engine *engine, uint32_t share)
{
    for (uint32_t above; share != 0; share = above) {
        struct share_node *node = &engine->shares[share];

        above = node->parent;
        if (node->items.count && node->place == NOBODY)
            heap_add(engine, &of_shares, &engine->shares[above].items, share);
        else if (!node->items.count && node->place != NOBODY)
            heap_remove(engine, &of_shares, &engine->shares[above].items, share);
        else if (node->place != NOBODY)
            heap_sift(engine, &of_shares, &engine->shares[above].items, node->place);
    }
}

static void shares_free(struct engine *engine)
{
    for (uint32_t i = 0; i < engine->share_count; i++)
        free(engine->shares[i].items.items);
    free(engine->shares);
}

/* The first leaf. */
static uint32_t share_default(const struct engine *engine)
{
    uint32_t share = 0;

    while (engine->shares[share].inner)
        share++;
    return share;
}

void engine_set_shares(struct engine *engine, const uint32_t *parents, uint32_t count)
{
    engine_queue_put_off(engine);
    shares_free(engine);
    engine->share_count = count ? count : 1;
    engine->shares = mem_alloc(engine->share_count * sizeof *engine->shares);
    for (uint32_t i = 0; i < engine->share_count; i++) {
        engine->shares[i] = (struct share_node){.parent = i ? parents[i] : 0, .place = NOBODY};
        if (i)
            engine->shares[parents[i]].inner = true;
    }
    engine->share_default = share_default(engine);
    for (uint32_t i = 0; i < engine->user_count; i++)
        engine->users[i].share = engine->share_default;
}

void engine_set_share(struct engine *engine, uint32_t number, uint32_t share)
{
    struct user *user = engine_user(engine, number);
    uint32_t before = user->share;

    if (share == before || share >= engine->share_count || engine->shares[share].inner)
        return;
    if (user->place == NOBODY) {
        user->share = share;
        return;
    }
    heap_remove(engine, &of_users, &engine->shares[before].items, number);
    share_moved(engine, before);
    user->share = share;
    heap_add(engine, &of_users, &engine->shares[share].items, number);
    share_moved(engine, share);
}

void engine_set_share_key(struct engine *engine, uint32_t share, bool surplus, double ratio)
{
    struct share_node *node = &engine->shares[share];
    unsigned char stage = surplus ? STAGE_SURPLUS : STAGE_QUOTA;

    if (share >= engine->share_count || (node->stage == stage && node->ratio == ratio))
        return;
    node->stage = stage;
    node->ratio = isnan(ratio) ? (double)INFINITY : ratio;
    share_moved(engine, share);
}

/* Are the users of share a served before those of share b, as the keys are now? */
static bool shares_ordered(const struct engine *engine, uint32_t a, uint32_t b)
{
    const struct share_node *shares = engine->shares;

    while (shares[a].parent != shares[b].parent) { /* a parent's number is below those of its children */
        if (a > b)
            a = shares[a].parent;
        else
            b = shares[b].parent;
    }
    if (shares[a].stage != shares[b].stage)
        return shares[a].stage < shares[b].stage;
    return shares[a].ratio != shares[b].ratio ? shares[a].ratio < shares[b].ratio : a < b;
}

int engine_compare_shares(const struct engine *engine, uint32_t a, uint32_t b)
{
    if (a == b || a >= engine->share_count || b >= engine->share_count)
        return 0;
    return shares_ordered(engine, a, b) ? -1 : 1;
}

int engine_queue_compare(const struct engine *engine, uint32_t a, uint32_t b)
{
    const struct user *x = &engine->users[a], *y = &engine->users[b];

    if (x->share != y->share)
        return shares_ordered(engine, x->share, y->share) ? -1 : 1;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return (a > b) - (a < b);
}

bool engine_root_before(const struct engine *engine, uint32_t a, uint32_t b)
{
    int order = engine->keys ? 0 : engine_queue_compare(engine, engine->slots[a].user, engine->slots[b].user);

    return order ? order < 0 : engine_member_before(engine, a, b);
}

/* -------------------------------------------------------------------------------------------------------- the queue */

struct user *engine_user(struct engine *engine, uint32_t user)
{
    if (user >= engine->user_count) {
        uint32_t count = user + user / 2 + 16;

        engine->users = mem_grow(engine->users, count * sizeof *engine->users);
        for (uint32_t i = engine->user_count; i < count; i++)
            engine->users[i] = (struct user){.place = NOBODY, .share = engine->share_default};
        engine->user_count = count;
    }
    return &engine->users[user];
}

void engine_queue_user_moved(struct engine *engine, uint32_t user)
{
    const struct user *at = &engine->users[user];

    if (at->place == NOBODY)
        return;
    heap_sift(engine, &of_users, &engine->shares[at->share].items, at->place);
    share_moved(engine, at->share);
}

void engine_queue_add(struct engine *engine, uint32_t group)
{
    uint32_t number = engine->groups[group].user;
    struct user *user = engine_user(engine, number);

    if (engine->groups[group].place != NOBODY)
        return;
    engine_gate_leave(engine, group);
    heap_add(engine, &of_groups, &user->groups, group);
    if (user->place == NOBODY && !engine->keys && engine_user_owes(engine, user))
        user->late_in = engine->cycle; /* users with much work lately come behind the others from the beginning */
    if (user->place == NOBODY) {
        heap_add(engine, &of_users, &engine->shares[user->share].items, number);
        share_moved(engine, user->share);
    } else {
        engine_queue_user_moved(engine, number);
    }
}

void engine_queue_remove(struct engine *engine, uint32_t group)
{
    uint32_t number = engine->groups[group].user;
    struct user *user;
    bool last;

    if (engine->groups[group].place == NOBODY)
        return;
    user = &engine->users[number];
    last = user->groups.count == 1;
    if (last) /* while the user can still be compared */
        heap_remove(engine, &of_users, &engine->shares[user->share].items, number);
    heap_remove(engine, &of_groups, &user->groups, group);
    if (last)
        share_moved(engine, user->share);
    else
        engine_queue_user_moved(engine, number);
}

void engine_queue_moved(struct engine *engine, uint32_t group)
{
    const struct ad_group *at = &engine->groups[group];

    if (at->place == NOBODY)
        return;
    heap_sift(engine, &of_groups, &engine->users[at->user].groups, at->place);
    engine_queue_user_moved(engine, at->user);
}

uint32_t engine_queue_first(const struct engine *engine)
{
    const struct share_node *node = engine->shares;

    while (node->inner && node->items.count)
        node = &engine->shares[node->items.items[0]];
    return node->items.count ? engine->users[node->items.items[0]].groups.items[0] : NOBODY;
}

void engine_queue_put_off(struct engine *engine)
{
    for (uint32_t group; (group = engine_queue_first(engine)) != NOBODY;) {
        engine_class_list(engine, ROOTS, engine->groups[group].in_class);
        engine_queue_remove(engine, group);
    }
}

void engine_queue_init(struct engine *engine)
{
    engine->share_count = 1;
    engine->shares = mem_alloc(sizeof *engine->shares);
    engine->shares[0] = (struct share_node){.place = NOBODY};
}

void engine_queue_reset(struct engine *engine)
{
    for (uint32_t i = 0; i < engine->user_count; i++) {
        free(engine->users[i].groups.items);
        engine->users[i].groups = (struct heap){0};
        engine->users[i].place = NOBODY;
    }
    for (uint32_t i = 0; i < engine->share_count; i++) {
        engine->shares[i].items.count = 0;
        engine->shares[i].place = NOBODY;
    }
}

void engine_queue_done(struct engine *engine)
{
    engine_queue_reset(engine);
    shares_free(engine);
}
