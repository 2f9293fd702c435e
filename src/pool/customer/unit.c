/* unit.c: the ad of one job of a shape. */
#include "pool/customer/unit.h"

#include "lang/text/build.h"
#include "match/gang/ports.h"
#include "pool/protocol/writers.h"

#include <string.h>

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

#define HOST_MAX 255

/* Can the name stand in a list with commas, and in a command? A machine says of itself what it likes. */
static bool host_is_good(const char *text, size_t len)
{
    if (!len || len > HOST_MAX || *text == '-')
        return false;
    for (size_t i = 0; i < len; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.:-_[]%", text[i]) || !text[i])
            return false;
    return true;
}

/* Pushes where a member is: its address, or else the name of its machine. */
static void host_push(struct build *build, const struct tree *ad)
{
    static const char *const names[] = {"Address", "Machine", "Name"};
    const struct expr *found = NULL;

    for (size_t i = 0; i < COUNT(names) && !found; i++) {
        symbol name = ad ? symbols_find(ad->symbols, names[i], strlen(names[i])) : SYMBOL_NONE;

        found = name != SYMBOL_NONE && tree_is_ad(ad) ? tree_find(ad, tree_root(ad), name) : NULL;
        found = found && found->kind == EXPR_STRING && host_is_good(tree_string(ad, found), found->u.run.count) ? found
                                                                                                                : NULL;
    }
    if (found)
        build_copy(build, ad, found);
    else
        build_string(build, "?", 1);
}

/* Pushes how many members run the job and where they are, if they are several; returns how many attributes that is. */
static uint32_t hosts_push(struct build *build, const struct unit *unit)
{
    struct crew_chief chief = {unit->ad, RUNS_NO_LINK};
    uint32_t count = 0;

    if (unit->crew->count)
        crew_number(unit->crew, &chief, &unit->crew->members[0], &count);
    if (count < 2)
        return 0;
    for (uint64_t port = 0, pushed = 0; pushed < count; port++) /* in the order of their numbers */
        for (uint32_t i = 0; i < unit->crew->count; i++) {
            const struct claim_member *member = &unit->crew->members[i];

            if (member->port != port || !claim_member_works(member, &chief))
                continue;
            host_push(build, member->ad);
            pushed++;
        }
    build_bind(build, EXPR_LIST, count);
    build_attribute(build, symbols_take(build->symbols, AD_MEMBER_HOSTS, strlen(AD_MEMBER_HOSTS)));
    build_integer(build, count);
    build_attribute(build, symbols_take(build->symbols, AD_MEMBER_COUNT, strlen(AD_MEMBER_COUNT)));
    return 2;
}

/* [ Gang = [ ... ]; MemberCount = ...; MemberHosts = { ... } ], or NULL. */
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
        if (build_ad(&build, 1 + hosts_push(&build, unit), &place) == 0)
            layer = build_seal(&build);
    }
    build_done(&build);
    ports_done(&ports);
    return layer;
}

/* The node's name, where it has one. */
static const struct expr *node_name(const struct tree *node)
{
    symbol name = node ? symbols_find(node->symbols, "Node", 4) : SYMBOL_NONE;
    const struct expr *found = name == SYMBOL_NONE ? NULL : tree_find(node, tree_root(node), name);

    return found && found->kind == EXPR_STRING ? found : NULL;
}

struct tree *unit_ad(const struct unit *unit)
{
    struct symbols *symbols = unit->ad->symbols;
    struct ad_setting settings[6] = {
        {symbols_take(symbols, "JobId", 5), value_integer((int64_t)unit->job)},
        {symbols_take(symbols, "JobIndex", 8), value_integer((int64_t)unit->index)},
        {symbols_take(symbols, "JobTry", 6), value_integer((int64_t)unit->tries)},
        {symbols_take(symbols, "Index", 5), value_integer((int64_t)unit->index)},
    };
    const struct expr *own = tree_find(unit->ad, tree_root(unit->ad), settings[3].name);
    const struct expr *node = node_name(unit->node);
    struct job_trace trace = job_trace_child(&unit->trace, unit->job, unit->tries);
    struct tree *numbered, *layer = gang_layer(unit), *whole = NULL;
    struct text told;
    size_t count = 4;

    if (own && own->kind != EXPR_INTEGER) { /* an Index that means something else is the user's */
        symbols_hold(symbols, settings[1].name);
        symbols_drop(symbols, settings[3].name);
        settings[3].name = settings[1].name;
    }
    if (node)
        settings[count++] = (struct ad_setting){symbols_take(symbols, "Node", 4),
                                                value_string(tree_string(unit->node, node), node->u.run.count)};
    job_trace_write(&trace, &told);
    if (*told.bytes)
        settings[count++] = (struct ad_setting){symbols_take(symbols, AD_JOB_TRACE, strlen(AD_JOB_TRACE)),
                                                value_string(told.bytes, JOB_TRACE_LEN)};
    numbered = ad_set(unit->ad, settings, count, NULL);
    for (size_t i = 0; i < count; i++)
        symbols_drop(symbols, settings[i].name);
    if (numbered && layer)
        whole = ad_over(numbered, layer, NULL);
    tree_unref(layer);
    if (!whole)
        return numbered;
    tree_unref(numbered);
    return whole;
}
