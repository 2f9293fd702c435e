/* api_workflows.c: the workflows that are under way, and how far each is: counted here, so that nobody has to ask for thousands of nodes. */
#include "live/customerd/customerd_parts.h"
#include "live/customerd/many.h"

#include "lang/ad/get.h"
#include "lang/ad/make.h"
#include "lang/base/array.h"
#include "lang/base/mem.h"
#include "live/customerd/walk.h"
#include "live/http/represent.h"

#include <stdlib.h>
#include <string.h>

/* The progress of a workflow, counted from its jobs. */
struct progress {
    uint64_t workflow;
    struct text owner;
    struct tree *node; /* of its first job, held: it may say Dag */
    int64_t submitted;
    uint64_t total, stuck, counts[STANDING_COUNT];
};

struct progresses {
    struct walk walk;
    uint64_t limit, cursor;
    uint64_t at;       /* the last job that was looked at */
    struct map places; /* number -> place */
    struct progress *items;
    uint32_t count, room;
    bool alone;       /* one workflow as a resource: */
    struct many many; /* ... what is asked of it */
};

static struct progress *progress_of(struct progresses *all, const struct job_view *view)
{
    uint64_t place = map_find(&all->places, view->workflow);

    if (place != MAP_NONE)
        return &all->items[place];
    ARRAY_ROOM(all->items, all->count, all->room, 16);
    map_set(&all->places, view->workflow, all->count);
    all->items[all->count] =
        (struct progress){.workflow = view->workflow,
                          .node = view->node ? tree_ref((struct tree *)(uintptr_t)view->node) : NULL,
                          .submitted = view->submitted};
    text_set(&all->items[all->count].owner, view->owner, strlen(view->owner));
    return &all->items[all->count++];
}

static bool progress_is_over(const struct progress *one)
{
    return one->counts[STANDING_DONE] + one->counts[STANDING_CANCELLED] == one->total;
}

static int progress_order(const void *a, const void *b)
{
    uint64_t x = ((const struct progress *)a)->workflow, y = ((const struct progress *)b)->workflow;

    return (x > y) - (x < y);
}

static struct tree *progress_ad(struct symbols *symbols, const struct progress *one)
{
    const uint64_t *counts = one->counts;
    struct maker maker;
    const char *name;
    size_t len;

    maker_init(&maker, symbols);
    maker_integer(&maker, "Workflow", (int64_t)one->workflow);
    if (one->node && ad_string(one->node, "Dag", &name, &len))
        maker_bytes(&maker, "Dag", name, len);
    maker_text(&maker, "Owner", one->owner.bytes);
    maker_integer(&maker, "Submitted", one->submitted);
    maker_integer(&maker, "Jobs", (int64_t)one->total);
    maker_integer(&maker, "Done", (int64_t)counts[STANDING_DONE]);
    maker_integer(&maker, "Running",
                  (int64_t)(counts[STANDING_READY] + counts[STANDING_SCHEDULED] + counts[STANDING_RUNNING]));
    maker_integer(&maker, "Waiting", (int64_t)counts[STANDING_WAITING]);
    maker_integer(&maker, "Blocked", (int64_t)counts[STANDING_BLOCKED]);
    maker_integer(&maker, "Stuck", (int64_t)one->stuck);
    maker_integer(&maker, "Failed", (int64_t)(counts[STANDING_FAILED] + counts[STANDING_ABORTED]));
    maker_integer(&maker, "Held", (int64_t)counts[STANDING_HELD]);
    maker_integer(&maker, "Removed", (int64_t)counts[STANDING_CANCELLED]);
    return maker_seal(&maker);
}

/* -------------------------------------------------------------------------------------------------------------- listing */

static bool workflow_one(struct walk *walk, struct request *request)
{
    struct progresses *all = (struct progresses *)walk;
    const struct customerd *customerd = request_customerd(request);
    const struct job_attempt *last;
    struct progress *one;
    struct job_view view;

    if (!caller_next(request, all->at, &view))
        return false;
    all->at = view.id;
    last = attempts_last(customerd->tries, view.id);
    if (all->alone ? view.workflow != all->many.number : view.workflow <= all->cursor)
        return true;
    one = progress_of(all, &view);
    one->total++;
    one->stuck += view.stuck;
    one->counts[job_standing(&view, last)]++;
    if (all->alone)
        many_note(&all->many, &view, last);
    return true;
}

static void workflows_told(struct walk *walk, struct request *request)
{
    struct progresses *all = (struct progresses *)walk;
    struct customerd *customerd = request_customerd(request);
    uint64_t cursor = all->cursor;
    struct listing listing;
    bool more = false;

    if (all->count)
        qsort(all->items, all->count, sizeof *all->items, progress_order);
    buf_reset(&customerd->out);
    listing_begin(&listing, &customerd->out, request->form);
    for (uint32_t i = 0; i < all->count; i++) {
        struct tree *ad;

        if (progress_is_over(&all->items[i]))
            continue;
        more = listing.count >= (all->limit ? all->limit : 1);
        if (more)
            break;
        ad = progress_ad(customerd->daemon.symbols, &all->items[i]);
        listing_add(&listing, ad);
        tree_unref(ad);
        cursor = all->items[i].workflow;
    }
    listing_end(&listing);
    request_list(request, &customerd->out, more, cursor);
}

/* The workflow that was asked for, if it is there and not over. */
static void workflow_told(struct walk *walk, struct request *request)
{
    struct progresses *all = (struct progresses *)walk;
    struct tree *ad = all->count && !progress_is_over(all->items)
                          ? progress_ad(request_customerd(request)->daemon.symbols, all->items)
                          : NULL;

    many_end(request, &all->many, ad);
    tree_unref(ad);
}

static void workflows_drop(struct walk *walk)
{
    struct progresses *all = (struct progresses *)walk;

    for (uint32_t i = 0; i < all->count; i++)
        tree_unref(all->items[i].node);
    free(all->items);
    map_done(&all->places);
    many_done(&all->many);
    free(all);
}

/* Workflows in the order of their numbers. The cursor is the last one that was listed. */
void api_workflows(struct request *request)
{
    struct progresses *all;
    uint64_t limit, cursor;

    if (!request_number(request, "limit", 0, CUSTOMERD_LIMIT_MAX, CUSTOMERD_LIMIT_DEFAULT, &limit) ||
        !request_number(request, "cursor", 0, INT64_MAX, 0, &cursor))
        return;
    all = mem_alloc(sizeof *all);
    *all =
        (struct progresses){.walk = {workflow_one, workflows_told, workflows_drop}, .limit = limit, .cursor = cursor};
    map_init(&all->places, 0);
    walk_begin(request, &all->walk);
}

/* One workflow, by its number: told, or changed. No job of it has a lower number. */
void api_workflow(struct request *request)
{
    struct progresses *all;
    struct many many;

    if (!many_begin(request, &many))
        return;
    all = mem_alloc(sizeof *all);
    *all = (struct progresses){.walk = {workflow_one, workflow_told, workflows_drop},
                               .at = many.number ? many.number - 1 : 0,
                               .alone = true,
                               .many = many};
    map_init(&all->places, 0);
    walk_begin(request, &all->walk);
}
