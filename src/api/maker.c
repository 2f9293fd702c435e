/* maker.c: ads are put together, attribute by attribute.
 *
 *     entries   name, value; name, value; ...      in the order of the ad; an attribute that was taken out has no value
 *     places    name -> its entry
 *
 * A value is an expression in a tree that is held: a small one of its own, or the ad that the maker began with. */
#include "api/api_parts.h"
#include "lang/base/array.h"
#include "lang/base/map.h"
#include "lang/base/mem.h"

#include <stdlib.h>

struct entry {
    symbol name;          /* held */
    struct tree *tree;    /* held; NULL: the attribute was taken out */
    const struct expr *e; /* in it */
};

struct berth_maker {
    struct berth_context *context;
    const struct dialect *dialect;
    struct entry *entries;
    uint32_t count, room;
    uint32_t live;        /* entries that have a value */
    uint64_t cells, text; /* at most that much the ad takes */
    struct map places;
};

/* At the end of the entries; takes the symbol and the tree. */
static void entry_add(struct berth_maker *maker, symbol name, struct tree *tree, const struct expr *e)
{
    ARRAY_ROOM(maker->entries, maker->count, maker->room, 16);
    maker->entries[maker->count] = (struct entry){name, tree, e};
    map_set(&maker->places, symbol_name(name), maker->count++);
    maker->live++;
}

struct berth_maker *berth_maker_new(struct berth_context *context, struct berth_ad *from)
{
    struct tree *tree = ad_tree(context, from);
    struct berth_maker *maker;

    if (from && !tree)
        return NULL;
    maker = mem_alloc(sizeof *maker);
    *maker = (struct berth_maker){.context = context, .dialect = tree ? tree->dialect : context->dialect};
    map_init(&maker->places, 0);
    if (tree) {
        const struct expr *root = tree_root(tree), *parts = tree_parts(tree, root);

        changes_begin(context->world);
        maker->cells = tree->cell_count;
        maker->text = tree->text_len;
        for (uint32_t i = 0; i < root->u.run.count; i++) {
            symbols_hold(tree->symbols, parts[i].label);
            entry_add(maker, parts[i].label, tree_ref(tree), &parts[i]);
        }
        changes_end(context->world);
    }
    return maker;
}

void berth_maker_free(struct berth_maker *maker)
{
    struct world *world;

    if (!maker)
        return;
    world = maker->context->world;
    changes_begin(world);
    for (uint32_t i = 0; i < maker->count; i++) {
        symbols_drop(world->symbols, maker->entries[i].name);
        tree_unref(maker->entries[i].tree);
    }
    changes_end(world);
    map_done(&maker->places);
    free(maker->entries);
    free(maker);
}

/* Is the name good, and is there room for such a value? */
static int maker_admit(struct berth_maker *maker, const char *name, uint64_t cells, uint64_t text,
                       struct berth_error *error)
{
    const struct berth_context *context = maker->context;
    size_t len = name ? strlen(name) : 0;

    if (!len || len > API_NAME_BYTES_MAX)
        return error_set(error, BERTH_BAD_CALL, "an attribute has a name of 1 to %d bytes", API_NAME_BYTES_MAX);
    if (maker->cells + cells > context->cells_max || maker->text + text > context->text_max ||
        maker->count >= 2 * (uint64_t)context->attributes_max)
        return error_set(error, BERTH_TOO_MUCH, "the ad would be too large");
    return 0;
}

/* Sets the attribute; takes the tree. Part of a call that changes. */
static int maker_set(struct berth_maker *maker, const char *name, struct tree *tree, const struct expr *e,
                     struct berth_error *error)
{
    struct symbols *symbols = maker->context->world->symbols;
    symbol id = names_fit(maker->context, 2) ? symbols_take(symbols, name, strlen(name)) : SYMBOL_NONE;
    uint64_t place = map_find(&maker->places, symbol_name(id));
    struct entry *entry = place == MAP_NONE ? NULL : &maker->entries[place];

    if (id == SYMBOL_NONE || ((!entry || !entry->tree) && maker->live == maker->context->attributes_max)) {
        tree_unref(tree);
        if (id != SYMBOL_NONE)
            symbols_drop(symbols, id);
        return error_set(error, BERTH_TOO_MUCH,
                         id == SYMBOL_NONE ? "too many different names are in use" : "the ad has too many attributes");
    }
    maker->cells += tree->cell_count;
    maker->text += tree->text_len;
    if (!entry || !entry->tree) {
        entry_add(maker, id, tree, e);
    } else {
        symbols_drop(symbols, entry->name);
        tree_unref(entry->tree);
        *entry = (struct entry){id, tree, e};
    }
    return 0;
}

/* A literal. `fill` pushes it. */
static int maker_literal(struct berth_maker *maker, const char *name, const struct value *value,
                         struct berth_error *error)
{
    struct world *world = maker->context->world;
    struct build build;
    struct tree *tree;
    int status;

    if (maker_admit(maker, name, 1, value->type == VALUE_STRING ? value->len : 0, error) < 0)
        return -1;
    changes_begin(world);
    build_init(&build, world->symbols, maker->dialect);
    value_build(&build, value);
    tree = build_seal(&build);
    build_done(&build);
    status = maker_set(maker, name, tree, tree_root(tree), error);
    changes_end(world);
    return status;
}

int berth_maker_integer(struct berth_maker *maker, const char *name, int64_t value, struct berth_error *error)
{
    struct value v = value_integer(value);

    return maker_literal(maker, name, &v, error);
}

int berth_maker_real(struct berth_maker *maker, const char *name, double value, struct berth_error *error)
{
    struct value v = value_real(value);

    return maker_literal(maker, name, &v, error);
}

int berth_maker_boolean(struct berth_maker *maker, const char *name, int value, struct berth_error *error)
{
    struct value v = value_boolean(value != 0);

    return maker_literal(maker, name, &v, error);
}

int berth_maker_string(struct berth_maker *maker, const char *name, const char *text, size_t len,
                       struct berth_error *error)
{
    struct value v;

    if (!text && len)
        return error_set(error, BERTH_BAD_CALL, "there is no text");
    if (len > maker->context->text_max)
        return error_set(error, BERTH_TOO_MUCH, "the ad would be too large");
    if (len && memchr(text, '\0', len))
        return error_set(error, BERTH_BAD_TEXT, "a string cannot hold a NUL");
    v = value_string(text ? text : "", len);
    return maker_literal(maker, name, &v, error);
}

/* Sets the attribute to the root of a tree, which is held. */
static int maker_tree(struct berth_maker *maker, const char *name, struct tree *tree, struct berth_error *error)
{
    int status;

    if (!tree)
        return error_foreign(error);
    if (maker_admit(maker, name, tree->cell_count, tree->text_len, error) < 0)
        return -1;
    changes_begin(maker->context->world);
    status = maker_set(maker, name, tree_ref(tree), tree_root(tree), error);
    changes_end(maker->context->world);
    return status;
}

int berth_maker_parse(struct berth_maker *maker, const char *name, const char *text, size_t len,
                      struct berth_error *error)
{
    struct berth_context *context = maker->context;
    const struct dialect *dialect = context->dialect;
    struct berth_expr *expr;
    int status;

    context->dialect = maker->dialect;
    expr = berth_expr_parse(context, text, len, error);
    context->dialect = dialect;
    if (!expr)
        return -1;
    status = maker_tree(maker, name, expr->item.tree, error);
    berth_expr_unref(expr);
    return status;
}

int berth_maker_expr(struct berth_maker *maker, const char *name, const struct berth_expr *expr,
                     struct berth_error *error)
{
    return maker_tree(maker, name, expr_tree(maker->context, expr), error);
}

int berth_maker_ad(struct berth_maker *maker, const char *name, const struct berth_ad *ad, struct berth_error *error)
{
    return maker_tree(maker, name, ad_tree(maker->context, ad), error);
}

int berth_maker_drop(struct berth_maker *maker, const char *name)
{
    struct world *world = maker->context->world;
    struct entry *entry = NULL;
    symbol id;

    if (!name)
        return 0;
    changes_begin(world);
    id = symbols_find(world->symbols, name, strlen(name));
    if (id != SYMBOL_NONE) {
        uint64_t place = map_find(&maker->places, symbol_name(id));

        entry = place == MAP_NONE ? NULL : &maker->entries[place];
        if (entry && !entry->tree)
            entry = NULL;
    }
    if (entry) {
        tree_unref(entry->tree);
        entry->tree = NULL;
        maker->live--;
    }
    changes_end(world);
    return entry != NULL;
}

static struct tree *maker_bind(struct berth_maker *maker)
{
    struct symbols *symbols = maker->context->world->symbols;
    struct build build;
    struct tree *tree;
    uint32_t place;

    build_init(&build, symbols, maker->dialect);
    for (uint32_t i = 0; i < maker->count; i++) {
        const struct entry *entry = &maker->entries[i];

        if (!entry->tree)
            continue;
        build_copy(&build, entry->tree, entry->e);
        symbols_hold(symbols, entry->name);
        build_attribute(&build, entry->name);
    }
    build_ad(&build, maker->live, &place); /* no name is there twice */
    tree = build_seal(&build);
    build_done(&build);
    return tree;
}

struct berth_ad *berth_maker_seal(struct berth_maker *maker, struct berth_error *error)
{
    struct world *world = maker->context->world;
    struct berth_ad *ad = NULL;
    struct tree *tree;

    changes_begin(world);
    tree = maker_bind(maker);
    if (tree_fits(tree)) {
        ad = ad_take(world, tree);
    } else {
        tree_unref(tree);
        error_set(error, BERTH_TOO_MUCH, "nested too deeply: the depth limit is %d", TREE_DEPTH_MAX);
    }
    changes_end(world);
    berth_maker_free(maker);
    return ad;
}
