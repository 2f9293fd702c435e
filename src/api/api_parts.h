/* api_parts.h: what the files of this room share; not installed.
 *
 *     world        a table of names, its lock, and how many hold it: contexts, ads, expressions, parties, indexes
 *       context    one user of it at a time: settings, and memory for what it lends
 *       item       a tree with a count of its own: an ad or an expression
 *
 * While one context uses the table nothing is locked. Once it is shared, calls that read hold the lock together, and calls that change names, counts of trees
 * or an index hold it alone. The counts inside trees and tables are plain numbers: only the counts of worlds and items, which callers move without the
 * lock, are atomic. */
#ifndef BERTH_API_API_PARTS_H
#define BERTH_API_API_PARTS_H

#include "api/berth.h"
#include "lang/ad/eval.h"
#include "lang/form/form.h"
#include "lang/text/parse.h"
#include "match/pair/match.h"
#include "match/pair/pair.h"

#include <pthread.h>
#include <stdatomic.h>

/* As many names as a table can hold, but for those of a text that is read inside an evaluation. */
#define API_NAMES_MAX (SYMBOL_NAMES_MAX - (1u << 20))
#define API_NAME_BYTES_MAX 65535

struct world {
    atomic_size_t count;
    atomic_bool shared; /* by several contexts; never taken back */
    pthread_rwlock_t lock;
    struct symbols *symbols;
};

struct item {
    atomic_size_t count;
    struct world *world;
    struct tree *tree;
};

struct berth_ad {
    struct item item;
};

struct berth_expr {
    struct item item;
};

struct berth_value {
    struct value value;
};

struct berth_context {
    struct world *world;
    const struct world *quiet; /* the same while nobody shares it; else NULL */
    struct env env;
    struct arena arena; /* what is lent, and scratch */
    struct buf text;    /* the text that is lent */
    const struct dialect *dialect;
    uint64_t meter;
    size_t text_max;
    uint32_t cells_max, attributes_max;
    uint64_t nodes_max;
    bool alone; /* the call is being repeated, with the lock held alone: it needs new names */
    bool exhausted;
    struct pair pair; /* of the value that is lent */
    struct eval eval; /* the same: what is left of its limits */
    uint64_t *keys;   /* found by an index */
    size_t key_count, key_room;
};

struct world *world_new(void);
struct world *world_ref(struct world *world);
void world_unref(struct world *world);
void world_share(struct world *world); /* from now on several contexts use it */

/* Calls that change begin and end with these. */
void changes_lock(struct world *world);
void changes_unlock(struct world *world);

static inline void changes_begin(struct world *world)
{
    if (atomic_load_explicit(&world->shared, memory_order_relaxed))
        changes_lock(world);
}

static inline void changes_end(struct world *world)
{
    if (atomic_load_explicit(&world->shared, memory_order_relaxed))
        changes_unlock(world);
}

/* Calls that read are a loop, `do { reads_begin(context); ... } while (reads_end(context));`: an evaluation that wants new names (lang/base/frozen.h) is done once
 * more with the lock held alone. */
void reads_lock(struct berth_context *context);
bool reads_unlock(struct berth_context *context);

static inline void reads_begin(struct berth_context *context)
{
    if (atomic_load_explicit(&context->world->shared, memory_order_relaxed))
        reads_lock(context);
}

static inline bool reads_end(struct berth_context *context)
{
    return atomic_load_explicit(&context->world->shared, memory_order_relaxed) && reads_unlock(context);
}

/* For calls that read and evaluate nothing. */
static inline void reads_done(struct berth_context *context)
{
    reads_end(context);
    context->alone = false;
}

/* Takes the tree over; it must be part of a call that changes. */
struct berth_ad *ad_take(struct world *world, struct tree *tree);
struct berth_expr *expr_take(struct world *world, struct tree *tree);

/* The tree of an ad or expression that belongs to that table; else NULL. */
static inline struct tree *ad_tree(const struct berth_context *context, const struct berth_ad *ad)
{
    return ad && ad->item.world == context->world ? ad->item.tree : NULL;
}

static inline struct tree *expr_tree(const struct berth_context *context, const struct berth_expr *expr)
{
    return expr && expr->item.world == context->world ? expr->item.tree : NULL;
}

/* May the counterpart be used with this context? It may be missing. */
static inline bool other_fits(const struct berth_context *context, const struct berth_ad *other)
{
    return !other || other->item.world == context->world;
}

/* The trees of many ads, in memory of the caller, who frees it; NULL and the error when one of them is none of this table. `front` is put before them, unless it
 * is NULL. */
struct tree **ads_trees(const struct berth_context *context, struct tree *front, struct berth_ad *const *ads,
                        size_t count, struct berth_error *error);

/* Is there room for the names that a text of that length may bring? */
bool names_fit(const struct berth_context *context, size_t len);

/* Is a tree that was put together, not read, within the depths that reading allows? */
bool tree_fits(const struct tree *tree);

/* Fills the error, if there is one. All return -1. */
int error_set(struct berth_error *error, enum berth_code code, const char *format, ...) ERR_FORMAT(3, 4);
int error_from(struct berth_error *error, enum berth_code code, const struct err *err);
int error_foreign(struct berth_error *error);

/* Forgets what the context has lent, and what it used. */
static inline void context_fresh(struct berth_context *context)
{
    arena_reset(&context->arena);
    buf_reset(&context->text);
}

/* Lends the text that was put together in context->text. */
const char *context_lend(struct berth_context *context, size_t *ret_len);

/* A copy in the context's arena with a NUL behind it. */
char *context_copy(struct berth_context *context, const char *text, size_t len);

/* The reader's limits as the context sets them. */
struct form_limits context_limits(const struct berth_context *context);

/* Makes sure that libxml2 is loaded once, if a text in that form may need it. */
void xml_ready(enum form form, const char *text, size_t len);

#endif
