/* unit.c: the ad of one job of a shape. */
#include "pool/customer/unit.h"

#include "lang/text/build.h"
#include "match/gang/ports.h"
#include "pool/protocol/writers.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Is this a constant, or a list of constants? Other expressions may read attributes that are not there. */
static bool is_plain(const struct tree *ad, const struct expr *e)
{
    bool plain = expr_is_literal(e) || e->kind == EXPR_LIST;

    for (uint32_t i = 0; plain && e->kind == EXPR_LIST && i < e->u.run.count; i++)
        plain = expr_is_literal(&tree_parts(ad, e)[i]);
    return plain;
}

static void attribute_name(struct build *build, symbol name)
{
    symbols_hold(build->symbols, name);
    build_attribute(build, name);
}

static int member_push(struct build *build, const struct tree *ad)
{
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);
    uint32_t count = 0, place;

    for (uint32_t i = 0; i < root->u.run.count; i++) {
        if (!is_plain(ad, &parts[i]))
            continue;
        build_copy(build, ad, &parts[i]);
        attribute_name(build, parts[i].label);
        count++;
    }
    return build_ad(build, count, &place);
}

/* Pushes the ad of the member that docks at a port, or a list of them. False: there is none. */
static bool port_push(struct build *build, const struct crew *crew, uint32_t port, bool set)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < crew->count && (set || !count); i++) {
        const struct claim_member *member = &crew->members[i];
        struct build_mark mark = build_mark(build);

        if (member->port != port || member->dropped || member->state == CLAIM_MEMBER_GONE || !member->ad ||
            !tree_is_ad(member->ad) || member->ad->symbols != build->symbols)
            continue;
        if (member_push(build, member->ad) < 0)
            build_rewind(build, mark);
        else
            count++;
    }
    if (set && count)
        build_bind(build, EXPR_LIST, count);
    return count > 0;
}

/* [ Gang = [ ... ] ], or NULL. */
static struct tree *gang_layer(const struct unit *unit)
{
    struct symbols *symbols = unit->ad->symbols;
    struct ports ports;
    struct build build;
    struct tree *layer = NULL;
    uint32_t count = 0, place;

    if (ports_read(&ports, unit->ad, NULL) < 0)
        return NULL;
    build_init(&build, symbols, unit->ad->dialect);
    for (uint32_t i = 0; !ports.implicit && i < ports.count; i++)
        if (port_push(&build, unit->crew, i, ports.items[i].set)) {
            attribute_name(&build, ports.items[i].label);
            count++;
        }
    if (!ports.implicit && build_ad(&build, count, &place) == 0) {
        build_attribute(&build, symbols_take(symbols, "Gang", 4));
        if (build_ad(&build, 1, &place) == 0)
            layer = build_seal(&build);
    }
    build_done(&build);
    ports_done(&ports);
    return layer;
}

struct tree *unit_ad(const struct unit *unit)
{
    struct symbols *symbols = unit->ad->symbols;
    struct ad_setting settings[] = {
        {symbols_take(symbols, "JobId", 5), value_integer((int64_t)unit->job)},
        {symbols_take(symbols, "JobIndex", 8), value_integer((int64_t)unit->index)},
        {symbols_take(symbols, "JobTry", 6), value_integer((int64_t)unit->tries)},
        {symbols_take(symbols, "Index", 5), value_integer((int64_t)unit->index)},
        {symbols_take(symbols, "Node", 4), value_undefined()},
    };
    const struct expr *node = unit->node ? tree_find(unit->node, tree_root(unit->node), settings[4].name) : NULL;
    const struct expr *own = tree_find(unit->ad, tree_root(unit->ad), settings[3].name);
    bool named = node && node->kind == EXPR_STRING;
    struct tree *numbered, *layer = gang_layer(unit), *whole = NULL;

    if (own && own->kind != EXPR_INTEGER) { /* an Index that means something else is the user's */
        symbols_hold(symbols, settings[1].name);
        symbols_drop(symbols, settings[3].name);
        settings[3].name = settings[1].name;
    }
    if (named)
        settings[4].value = value_string(tree_string(unit->node, node), node->u.run.count);
    numbered = ad_set(unit->ad, settings, COUNT(settings) - !named, NULL);
    for (size_t i = 0; i < COUNT(settings); i++)
        symbols_drop(symbols, settings[i].name);
    if (numbered && layer)
        whole = ad_over(numbered, layer, NULL);
    tree_unref(layer);
    if (!whole)
        return numbered;
    tree_unref(numbered);
    return whole;
}
