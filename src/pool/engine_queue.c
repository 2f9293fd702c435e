/* engine_queue.c: which root is next: a heap of users by their priority, and for each a heap of groups by their first
 * root.
 *
 * So when a user's priority changes, one entry moves, however many roots the user has. */
#include "base/mem.h"
#include "pool/engine_parts.h"

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

    if (x->priority != y->priority)
        return x->priority < y->priority;
    return group_before(engine, x->groups.items[0], y->groups.items[0]);
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
} of_groups = {group_before, group_place}, of_users = {user_before, user_place};

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
    if (heap->count == heap->room) {
        heap->room = heap->room ? heap->room * 2 : 4;
        heap->items = mem_grow(heap->items, heap->room * sizeof *heap->items);
    }
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

/* -------------------------------------------------------------------------------------------------------- the queue */

struct user *engine_user(struct engine *engine, uint32_t user)
{
    if (user >= engine->user_count) {
        uint32_t count = user + user / 2 + 16;

        engine->users = mem_grow(engine->users, count * sizeof *engine->users);
        for (uint32_t i = engine->user_count; i < count; i++)
            engine->users[i] = (struct user){.place = NOBODY};
        engine->user_count = count;
    }
    return &engine->users[user];
}

void engine_queue_user_moved(struct engine *engine, uint32_t user)
{
    uint32_t place = engine->users[user].place;

    if (place != NOBODY)
        heap_sift(engine, &of_users, &engine->queue, place);
}

void engine_queue_add(struct engine *engine, uint32_t group)
{
    uint32_t number = engine->groups[group].user;
    struct user *user = engine_user(engine, number);

    if (engine->groups[group].place != NOBODY)
        return;
    heap_add(engine, &of_groups, &user->groups, group);
    if (user->place == NOBODY)
        heap_add(engine, &of_users, &engine->queue, number);
    else
        engine_queue_user_moved(engine, number);
}

void engine_queue_remove(struct engine *engine, uint32_t group)
{
    uint32_t number = engine->groups[group].user;
    struct user *user;

    if (engine->groups[group].place == NOBODY)
        return;
    user = &engine->users[number];
    if (user->groups.count == 1) /* while it can still be compared */
        heap_remove(engine, &of_users, &engine->queue, number);
    heap_remove(engine, &of_groups, &user->groups, group);
    if (user->groups.count)
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
    return engine->queue.count ? engine->users[engine->queue.items[0]].groups.items[0] : NOBODY;
}

void engine_queue_done(struct engine *engine)
{
    for (uint32_t i = 0; i < engine->user_count; i++) {
        free(engine->users[i].groups.items);
        engine->users[i].groups = (struct heap){0};
        engine->users[i].place = NOBODY;
    }
    free(engine->queue.items);
    engine->queue = (struct heap){0};
}
