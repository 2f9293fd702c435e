/* runs.c: at which ports of an ad the parties dock that run the job, and what the other parties are not told. */
#include "match/gang/runs.h"

#include "lang/base/buf.h"
#include "lang/text/build.h"
#include "match/gang/ported.h"

#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------------------------------------------- who runs */

static const struct expr *port_says(const struct ports *ports, uint32_t port)
{
    symbol name = symbols_find(ports->ad->symbols, "Executes", 8);

    return name != SYMBOL_NONE ? tree_find(ports->ad, ports->items[port].ad, name) : NULL;
}

static bool is_type_of(const struct ports *ports, uint32_t port, const struct expr *e)
{
    return e->kind == EXPR_DOT && symbol_same(e->u.name.id, NAME_TYPE) &&
           symbol_same(EXPR_DOT_BASE(e), ports->items[port].label);
}

static bool is_machine(const struct ports *ports, const struct expr *e)
{
    return e->kind == EXPR_STRING && e->u.run.count == 7 && !strncasecmp(tree_string(ports->ad, e), "Machine", 7);
}

/* Must the type be that of machines for the expression to be true? */
static bool asks_for_machine(const struct ports *ports, uint32_t port, const struct expr *e)
{
    const struct expr *parts = tree_parts(ports->ad, e);

    if (e->kind != EXPR_CHAIN || e->u.run.count < 2)
        return false;
    if (parts[1].label == OP_AND) {
        for (uint32_t i = 0; i < e->u.run.count; i++)
            if (asks_for_machine(ports, port, &parts[i]))
                return true;
        return false;
    }
    return e->u.run.count == 2 && (parts[1].label == OP_EQUAL || parts[1].label == OP_IS) &&
           ((is_type_of(ports, port, &parts[0]) && is_machine(ports, &parts[1])) ||
            (is_type_of(ports, port, &parts[1]) && is_machine(ports, &parts[0])));
}

static bool port_asks(const struct ports *ports, uint32_t port)
{
    const struct expr *constraint = port_constraint(ports, port);

    return constraint && asks_for_machine(ports, port, constraint);
}

bool port_runs(struct tree *ad, uint64_t port, uint64_t link)
{
    const struct ported *ported;
    const struct ports *ports;
    bool said = false, asked = false;
    uint32_t first = UINT32_MAX;
    const struct expr *says;

    if (!tree_find(ad, tree_root(ad), NAME_PORTS))
        return true;
    ported = tree_ported(ad);
    ports = ported ? &ported->ports : NULL;
    if (!ports || port >= ports->count || port == link)
        return false;
    for (uint32_t i = 0; i < ports->count; i++) {
        if (i == link)
            continue;
        first = first == UINT32_MAX ? i : first;
        said = said || port_says(ports, i);
        asked = asked || port_asks(ports, i);
    }
    says = port_says(ports, (uint32_t)port);
    if (said)
        return says && says->kind == EXPR_BOOLEAN && says->small;
    return asked ? port_asks(ports, (uint32_t)port) : port == first;
}

enum runs_by ports_run_by(const struct ports *ports)
{
    bool said = false, asked = false;

    for (uint32_t i = 0; i < ports->count && !ports->implicit; i++) {
        const struct expr *says = port_says(ports, i);

        if (says && says->kind == EXPR_BOOLEAN && says->small)
            return RUNS_BY_WORD;
        said = said || says;
        asked = asked || port_asks(ports, i);
    }
    return said ? RUNS_NOWHERE : asked ? RUNS_BY_TYPE : RUNS_BY_PLACE;
}

bool ports_run_words(const struct ports *ports, struct buf *out)
{
    enum runs_by by = ports_run_by(ports);
    const char *label;
    size_t len;

    if (by == RUNS_NOWHERE) {
        buf_adds(out,
                 "no port says Executes = true, so the job would run nowhere: say so in each port at which it runs");
        return true;
    }
    if (by != RUNS_BY_PLACE || ports->implicit || ports->count < 2)
        return false;
    label = symbols_text(ports->ad->symbols, ports->items[0].label, &len);
    buf_adds(out,
             "no port says Executes, and none asks for a machine by its Type, so the job runs at the first alone, ");
    buf_add(out, label, len);
    buf_adds(out, ": say Executes = true in each port at which it runs");
    return true;
}

/* ----------------------------------------------------------------------------------------------------- who does not */

struct withholding {
    struct tree *ad;
    const struct ports *ports; /* NULL: the ad has none */
    const struct expr *port;   /* of the party that looks; NULL: of nobody */
    uint64_t link;
    const char *const *names;
    size_t count;
    symbol executes;
    struct build build;
};

/* Does the expression read an attribute of that name of the ad around it? */
static bool reads(const struct tree *ad, const struct expr *e, symbol name)
{
    const struct expr *parts = tree_parts(ad, e);

    if ((e->kind == EXPR_NAME || e->kind == EXPR_ROOT_NAME || e->kind == EXPR_DOT) && symbol_same(e->u.name.id, name))
        return true;
    for (uint32_t i = 0; i < expr_part_count(e); i++)
        if (!expr_is_literal(&parts[i]) && reads(ad, &parts[i], name))
            return true;
    return false;
}

static bool is_withheld(const struct withholding *with, const struct expr *e)
{
    size_t len;
    const char *name = symbols_text(with->ad->symbols, e->label, &len);

    for (size_t i = 0; i < with->count; i++)
        if (strlen(with->names[i]) == len && !strncasecmp(with->names[i], name, len))
            return !with->port || !reads(with->ad, with->port, e->label);
    return false;
}

static void push_named(struct withholding *with, const struct expr *e)
{
    build_copy(&with->build, with->ad, e);
    symbols_hold(with->ad->symbols, e->label);
    build_attribute(&with->build, e->label);
}

/* Does the attribute keep the place of a port that is not looked at? */
static bool keeps_place(const struct expr *e)
{
    return symbol_same(e->label, NAME_LABEL) || symbol_same(e->label, NAME_COUNT) ||
           symbol_same(e->label, NAME_CHOOSE) || symbol_same(e->label, NAME_SHARE) ||
           (symbol_same(e->label, NAME_ESSENTIAL) && e->kind == EXPR_BOOLEAN);
}

/* Pushes a port, which says whether those at it run the job: nobody could tell that by what is left of the other ports. */
static void push_port(struct withholding *with, const struct expr *entry)
{
    const struct expr *parts = tree_parts(with->ad, entry);
    uint32_t count = 1, place, number = 0;

    while (with->ports->items[number].ad != entry)
        number++;
    for (uint32_t i = 0; i < entry->u.run.count; i++) {
        if (symbol_same(parts[i].label, with->executes) || (entry != with->port && !keeps_place(&parts[i])))
            continue;
        push_named(with, &parts[i]);
        count++;
    }
    build_boolean(&with->build, port_runs(with->ad, number, with->link));
    symbols_hold(with->ad->symbols, with->executes);
    build_attribute(&with->build, with->executes);
    build_ad(&with->build, count, &place);
}

static void push_ports(struct withholding *with, const struct expr *list)
{
    const struct expr *entries = tree_parts(with->ad, list);

    for (uint32_t i = 0; i < list->u.run.count; i++) {
        const struct expr *entry = &entries[i], *parts = tree_parts(with->ad, entry);
        uint32_t count = 0, place;

        if (!tree_find(with->ad, entry, NAME_PORTS)) {
            push_port(with, entry);
            continue;
        }
        for (uint32_t k = 0; k < entry->u.run.count; k++) { /* a group */
            if (symbol_same(parts[k].label, NAME_PORTS)) {
                push_ports(with, &parts[k]);
                symbols_hold(with->ad->symbols, parts[k].label);
                build_attribute(&with->build, parts[k].label);
            } else {
                push_named(with, &parts[k]);
            }
            count++;
        }
        build_ad(&with->build, count, &place);
    }
    build_bind(&with->build, EXPR_LIST, list->u.run.count);
}

struct tree *port_withholds(struct tree *ad, uint64_t port, uint64_t link, const char *const *names, size_t count)
{
    const struct ported *ported = tree_find(ad, tree_root(ad), NAME_PORTS) ? tree_ported(ad) : NULL;
    struct withholding with = {.ad = ad, .link = link, .names = names, .count = count};
    const struct expr *root = tree_root(ad), *parts = tree_parts(ad, root);
    uint32_t left = 0, place;
    struct tree *shown;

    with.ports = ported && !ported->ports.implicit ? &ported->ports : NULL;
    if (with.ports && port < with.ports->count)
        with.port = with.ports->items[port].ad;
    with.executes = symbols_take(ad->symbols, "Executes", 8);
    build_init(&with.build, ad->symbols, ad->dialect);
    for (uint32_t i = 0; i < root->u.run.count; i++) {
        if (is_withheld(&with, &parts[i]))
            continue;
        if (with.ports && symbol_same(parts[i].label, NAME_PORTS)) {
            push_ports(&with, &parts[i]);
            symbols_hold(ad->symbols, parts[i].label);
            build_attribute(&with.build, parts[i].label);
        } else {
            push_named(&with, &parts[i]);
        }
        left++;
    }
    build_ad(&with.build, left, &place);
    shown = build_seal(&with.build);
    build_done(&with.build);
    symbols_drop(ad->symbols, with.executes);
    return shown;
}
