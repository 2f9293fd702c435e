/* world.c: tables of names that contexts share, and what is counted in them. */
#include "api/api_parts.h"
#include "lang/base/frozen.h"
#include "lang/base/mem.h"
#include "lang/form/libxml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct world *world_new(void)
{
    struct world *world = mem_alloc(sizeof *world);

    atomic_init(&world->count, 1);
    atomic_init(&world->shared, false);
    pthread_rwlock_init(&world->lock, NULL);
    world->symbols = names_new(0);
    return world;
}

struct world *world_ref(struct world *world)
{
    atomic_fetch_add_explicit(&world->count, 1, memory_order_relaxed);
    return world;
}

void world_unref(struct world *world)
{
    if (atomic_fetch_sub_explicit(&world->count, 1, memory_order_acq_rel) != 1)
        return;
    symbols_free(world->symbols);
    pthread_rwlock_destroy(&world->lock);
    free(world);
}

/* The table is frozen whenever nobody has the lock alone. */
void world_share(struct world *world)
{
    if (atomic_exchange_explicit(&world->shared, true, memory_order_relaxed))
        return;
    symbols_freeze(world->symbols, true);
}

void changes_lock(struct world *world)
{
    pthread_rwlock_wrlock(&world->lock);
    symbols_freeze(world->symbols, false);
}

void changes_unlock(struct world *world)
{
    symbols_freeze(world->symbols, true);
    pthread_rwlock_unlock(&world->lock);
}

void reads_lock(struct berth_context *context)
{
    if (context->alone)
        changes_lock(context->world);
    else
        pthread_rwlock_rdlock(&context->world->lock);
}

bool reads_unlock(struct berth_context *context)
{
    if (context->alone) {
        context->alone = false;
        changes_unlock(context->world);
    } else {
        context->alone =
            symbols_were_asked(context->world->symbols); /* perhaps by another: then this is done once too often */
        pthread_rwlock_unlock(&context->world->lock);
    }
    return context->alone;
}

static void *item_take(struct world *world, struct tree *tree)
{
    struct item *item = mem_alloc(sizeof *item);

    atomic_init(&item->count, 1);
    item->world = world_ref(world);
    item->tree = tree;
    return item;
}

struct berth_ad *ad_take(struct world *world, struct tree *tree)
{
    return item_take(world, tree);
}

struct berth_expr *expr_take(struct world *world, struct tree *tree)
{
    return item_take(world, tree);
}

static void item_ref(struct item *item)
{
    if (item)
        atomic_fetch_add_explicit(&item->count, 1, memory_order_relaxed);
}

static void item_unref(struct item *item)
{
    struct world *world;

    if (!item || atomic_fetch_sub_explicit(&item->count, 1, memory_order_acq_rel) != 1)
        return;
    world = item->world;
    changes_begin(world);
    tree_unref(item->tree);
    changes_end(world);
    free(item);
    world_unref(world);
}

struct berth_ad *berth_ad_ref(struct berth_ad *ad)
{
    item_ref((struct item *)ad);
    return ad;
}

void berth_ad_unref(struct berth_ad *ad)
{
    item_unref((struct item *)ad);
}

struct berth_expr *berth_expr_ref(struct berth_expr *expr)
{
    item_ref((struct item *)expr);
    return expr;
}

void berth_expr_unref(struct berth_expr *expr)
{
    item_unref((struct item *)expr);
}

struct tree **ads_trees(const struct berth_context *context, struct tree *front, struct berth_ad *const *ads,
                        size_t count, struct berth_error *error)
{
    struct tree **trees;
    size_t n = 0;

    if (count && (!ads || count > UINT32_MAX / 2)) {
        error_set(error, count > UINT32_MAX / 2 ? BERTH_TOO_MUCH : BERTH_BAD_CALL, "%zu ads cannot be looked at",
                  count);
        return NULL;
    }
    trees = mem_alloc((count + 1) * sizeof *trees);
    if (front)
        trees[n++] = front;
    for (size_t i = 0; i < count; i++) {
        if (!(trees[n++] = ad_tree(context, ads[i]))) {
            error_foreign(error);
            free(trees);
            return NULL;
        }
    }
    return trees;
}

bool names_fit(const struct berth_context *context, size_t len)
{
    return symbols_count(context->world->symbols) + len / 2 < API_NAMES_MAX;
}

/* `depth` counts what the parser counts by TREE_DEPTH_MAX, `height` all cells. */
static bool expr_fits(const struct tree *tree, const struct expr *e, unsigned depth, unsigned height)
{
    bool deeper = (e->flags & EXPR_FLAG_PARENTHESES) || (e->kind != EXPR_CHAIN && e->kind != EXPR_WITHIN);
    uint32_t count = expr_part_count(e);
    const struct expr *parts;

    if (!count)
        return true;
    if (depth + deeper > TREE_DEPTH_MAX || height == TREE_HEIGHT_MAX)
        return false;
    parts = e->kind == EXPR_CALL ? &tree->cells[e->u.name.at] : tree_parts(tree, e);
    for (uint32_t i = 0; i < count; i++)
        if (!expr_is_literal(&parts[i]) && !expr_fits(tree, &parts[i], depth + deeper, height + 1))
            return false;
    return true;
}

bool tree_fits(const struct tree *tree)
{
    return expr_fits(tree, tree_root(tree), 0, 0);
}

int error_set(struct berth_error *error, enum berth_code code, const char *format, ...)
{
    va_list args;

    if (!error)
        return -1;
    error->code = code;
    error->line = error->column = 0;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return -1;
}

int error_from(struct berth_error *error, enum berth_code code, const struct err *err)
{
    error_set(error, code, "%s", err->text);
    if (error) {
        error->line = err->line;
        error->column = err->column;
    }
    return -1;
}

int error_foreign(struct berth_error *error)
{
    return error_set(error, BERTH_BAD_CALL, "this is NULL, or belongs to another table of names");
}

static void xml_load(void)
{
    if (libxml_load(NULL) == 0) /* if not, whoever reads XML is told */
        libxml()->InitParser(); /* libxml2 wants that to be done before a second thread comes */
}

void xml_ready(enum form form, const char *text, size_t len)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    while (form == FORM_UNKNOWN && len && (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r'))
        text++, len--;
    if (form == FORM_XML || (form == FORM_UNKNOWN && len && *text == '<'))
        pthread_once(&once, xml_load);
}
