/* dock.c: a party of a gang among those who are docked at its ports. */
#include "match/gang/dock.h"

#include "lang/ad/ops.h"
#include "lang/ad/specialize.h"
#include "match/gang/members.h"
#include "match/pair/residual.h"

#define NO_PORT UINT32_MAX
#define TABLE_BYTES 8192

/* Who is docked at a party. A table lives on the stack, since it is made again and again. Member 0 is the party itself, the others are docked to
 * it. */
struct table {
    struct members members;
    const struct ported *parties[DOCK_MAX + 1]; /* they belong to their ads */
    uint32_t slots[DOCK_MAX + 1];               /* by at[]: its slot; NOBODY: another is there already */
    _Alignas(16) struct arena_chunk chunk;      /* memory that is enough for most tables */
    char bytes[TABLE_BYTES];
};

bool dock_has_ports(const struct tree *ad)
{
    return tree_find(ad, tree_root(ad), NAME_PORTS) != NULL;
}

static void table_done(struct table *table)
{
    members_done(&table->members);
}

static bool party_read(struct tree *ad, uint64_t port, const struct ported **ret)
{
    *ret = ad && tree_is_ad(ad) ? tree_ported(ad) : NULL;
    return *ret && (*ret)->slot_count <= MEMBER_SLOTS_MAX && port < (*ret)->ports.count;
}

/* Seats a party at the port itself, or at the next position of a set. False: there are too many. */
static bool table_seat(struct table *table, const struct docked *docked, uint32_t which)
{
    const struct ported *own = table->parties[0], *other = table->parties[which + 1];
    const struct port *port = &own->ports.items[docked->port];
    uint32_t slot = member_slot_of(own, (uint32_t)docked->port), end = slot + port->max;

    while (slot < end && members_slot(&table->members, 0, slot)->state != SLOT_OPEN)
        slot++;
    if (slot == end)
        return !port->set;
    members_dock(&table->members, 0, slot, which + 1, member_slot_of(other, (uint32_t)docked->link));
    table->slots[which] = slot;
    return true;
}

/* Closes the open slots, since nobody else will come; except at the port `open`, where somebody may (NO_PORT: none). */
static void table_close(struct table *table, uint32_t open)
{
    const struct member *own = &table->members.items[0];

    for (uint32_t i = 0; i < own->of->slot_count; i++)
        if (own->slots[i].state == SLOT_OPEN && !own->slots[i].whole && own->slots[i].port_number != open)
            members_leave(&table->members, 0, i);
}

/* Makes a table. `first` is seated before the others, who may have its place. NULL when anything does not fit together. */
static struct table *table_init(struct table *table, const struct env *env, struct arena *scratch,
                                const struct dock *dock, uint32_t first, uint32_t open)
{
    bool fits;

    members_init(&table->members, env, NULL, scratch);
    arena_init_lent(&table->members.arena, &table->chunk, sizeof table->bytes);
    fits = dock->count <= DOCK_MAX && party_read(dock->ad, 0, &table->parties[0]);
    for (uint32_t i = 0; fits && i < dock->count; i++)
        fits = dock->at[i].port < table->parties[0]->ports.count &&
               party_read(dock->at[i].ad, dock->at[i].link, &table->parties[i + 1]);
    for (uint32_t i = 0; fits && i <= dock->count; i++) {
        members_push(&table->members, table->parties[i], i);
        table->slots[i] = NOBODY;
    }
    if (fits && first < dock->count && !table->parties[0]->ports.items[dock->at[first].port].set)
        fits = table_seat(table, &dock->at[first], first);
    for (uint32_t i = 0; fits && i < dock->count; i++)
        if (dock->at[i].port != open && table->slots[i] == NOBODY)
            fits = table_seat(table, &dock->at[i], i);
    if (!fits) {
        table_done(table);
        return NULL;
    }
    table_close(table, open);
    return table;
}

static const struct slot *table_slot(const struct table *table, uint32_t which)
{
    return members_slot(&table->members, 0, table->slots[which]);
}

/* ------------------------------------------------------------------------------------------------------ constraints */

static enum dock_answer slot_answer(struct table *table, const struct slot *slot)
{
    switch (members_truth(&table->members, slot)) {
    case TRUTH_YES:
        return DOCK_YES;
    case TRUTH_OPEN:
        return DOCK_OPEN;
    default:
        return DOCK_NO;
    }
}

enum dock_answer dock_accepts(const struct env *env, struct arena *scratch, const struct dock *dock, uint32_t which)
{
    struct table room, *table = which < dock->count ? table_init(&room, env, scratch, dock, which, NO_PORT) : NULL;
    enum dock_answer answer = DOCK_NO;

    if (!table)
        return DOCK_NO;
    answer = slot_answer(table, table_slot(table, which));
    table_done(table);
    return answer;
}

/* Do all sets accept those who are docked, as wholes? */
static bool wholes_accept(struct table *table)
{
    const struct member *own = &table->members.items[0];

    for (uint32_t i = 0; i < own->of->slot_count; i++)
        if (own->slots[i].whole && own->slots[i].state == SLOT_FILLED && slot_answer(table, &own->slots[i]) != DOCK_YES)
            return false;
    return true;
}

bool dock_accepts_all(const struct env *env, struct arena *scratch, const struct dock *dock, uint32_t asked)
{
    struct table room, *table = table_init(&room, env, scratch, dock, 0, NO_PORT);
    bool accepts;

    if (!table)
        return false;
    accepts = wholes_accept(table);
    for (uint32_t i = 0; accepts && i < asked && i < dock->count; i++)
        accepts = table->slots[i] != NOBODY ? slot_answer(table, table_slot(table, i)) == DOCK_YES
                                            : dock_accepts(env, scratch, dock, i) == DOCK_YES;
    table_done(table);
    return accepts;
}

/* ------------------------------------------------------------------------------------------------------------ whole */

static uint32_t port_docked(const struct dock *dock, uint32_t port)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < dock->count; i++)
        count += dock->at[i].port == port;
    return count;
}

static bool any_docked(const struct dock *dock, uint32_t first, uint32_t end)
{
    for (uint32_t port = first; port < end; port++)
        if (port_docked(dock, port))
            return true;
    return false;
}

/* How many entries of a group have somebody docked. */
static uint32_t group_filled(const struct dock *dock, const struct ports *ports, uint32_t group)
{
    uint32_t filled = 0;

    for (uint32_t i = ports->groups[group].first; i < ports->groups[group].end; i++)
        filled += ports->items[i].group == group && port_docked(dock, i);
    for (uint32_t i = group + 1; i < ports->group_count; i++)
        filled += ports->groups[i].outer == group && any_docked(dock, ports->groups[i].first, ports->groups[i].end);
    return filled;
}

/* Is every port filled as it must be? An entry of a group may stay empty; one outside of groups only if it is optional. */
static bool ports_whole(const struct dock *dock, const struct ports *ports)
{
    for (uint32_t i = 0; i < ports->count; i++) {
        const struct port *port = &ports->items[i];
        uint32_t docked = port_docked(dock, i);
        bool free = port->optional || port->group != PORTS_NO_GROUP;

        if (docked > port->max || (docked < port->min && (docked || !free)))
            return false;
    }
    for (uint32_t i = 0; i < ports->group_count; i++) {
        const struct port_group *group = &ports->groups[i];
        uint32_t filled = group_filled(dock, ports, i);
        bool free = group->optional || group->outer != PORTS_NO_GROUP;

        if (filled > group->max || (filled < group->min && (filled || !free)))
            return false;
    }
    return true;
}

bool dock_whole(const struct dock *dock)
{
    const struct ported *ported;
    bool whole;

    if (!dock_has_ports(dock->ad))
        return true;
    ported = tree_ported(dock->ad);
    if (!ported)
        return false;
    whole = ports_whole(dock, &ported->ports);
    for (uint32_t i = 0; i < dock->count; i++)
        whole = whole && dock->at[i].port < ported->ports.count;
    return whole;
}

/* -------------------------------------------------------------------------------------------------------- essential */

/* Finds the Essential that counts for a port, and the scope where it stands. */
static const struct expr *essential_of(const struct slot *slot, const struct ports *ports, const struct scope **ret)
{
    uint32_t group = ports->items[slot->port_number].group;
    const struct scope *at = &slot->port;

    for (;;) {
        const struct expr *e = tree_find(ports->ad, at->ad, NAME_ESSENTIAL);

        *ret = at;
        if (e || group == PORTS_NO_GROUP)
            return e;
        at = at->parent;
        group = ports->groups[group].outer;
    }
}

bool dock_essential(const struct env *env, struct arena *scratch, const struct dock *dock, uint32_t which, int64_t run)
{
    struct table room, *table = which < dock->count ? table_init(&room, env, scratch, dock, which, NO_PORT) : NULL;
    struct arena_mark mark = arena_mark(scratch);
    struct symbols *symbols = dock->ad->symbols;
    struct given given[2];
    struct env full = *env;
    const struct scope *scope;
    const struct expr *e;
    struct value v = value_undefined();
    bool truth = true, harmless;
    int64_t left = 0;

    if (!table)
        return true;
    e = essential_of(table_slot(table, which), &table->parties[0]->ports, &scope);
    for (uint32_t i = 0; i < dock->count; i++)
        left += i != which && dock->at[i].port == dock->at[which].port;
    given[0] = (struct given){symbols_take(symbols, "MembersLeft", 11), value_integer(left)};
    given[1] = (struct given){symbols_take(symbols, "JobRunTime", 10), value_integer(run)};
    full.given = given;
    full.given_count = run < 0 ? 1 : 2;
    table->members.env = &full;
    if (!e || !members_evaluate(&table->members, scope, e, &v))
        v = value_undefined();
    for (uint32_t i = 0; i < 2; i++)
        symbols_drop(symbols, given[i].name);
    harmless = op_condition(dock->ad->dialect, &v, &truth) == VALUE_BOOLEAN && !truth;
    table_done(table);
    arena_rewind(scratch, mark);
    return !harmless;
}

/* Is there an attribute of that name anywhere in the ad? */
static bool ad_mentions(const struct tree *ad, symbol name)
{
    for (uint32_t i = 0; i < ad->cell_count; i++)
        if (ad->cells[i].flags & EXPR_FLAG_NAMED && symbol_same(ad->cells[i].label, name))
            return true;
    return false;
}

struct value dock_says(const struct env *env, struct arena *scratch, const struct dock *dock, uint32_t which,
                       symbol name)
{
    struct table room, *table = which < dock->count && ad_mentions(dock->ad, name)
                                    ? table_init(&room, env, scratch, dock, which, NO_PORT)
                                    : NULL;
    struct value v = value_undefined();
    const struct scope *at;
    const struct expr *e;

    if (!table)
        return v;
    at = &table_slot(table, which)->port;
    e = scope_find(&at, name);
    if (!e || !members_evaluate(&table->members, at, e, &v) || v.type == VALUE_LIST || v.type == VALUE_AD)
        v = value_undefined();
    table_done(table);
    return v;
}

/* ------------------------------------------------------------------------------------------------------------- shown */

struct showing {
    struct table *table;
    const struct slot *slot; /* where whoever looks will dock */
    struct build build;
};

/* Do others read this attribute, and does it depend on somebody docked? Attributes that only we evaluate stay as they are. */
static bool hangs_on_label(const struct ports *ports, const struct expr *e)
{
    static const symbol ours[] = {NAME_LABEL,        NAME_RESIDUAL, NAME_CONSTRAINT,
                                  NAME_REQUIREMENTS, NAME_RANK,     NAME_ESSENTIAL};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (symbol_same(e->label, ours[i]))
            return false;
    return ports_mentioned(ports, e) != 0;
}

static void push_entry(struct showing *showing, const struct scope *scope, const struct expr *ad);

/* Pushes the list of ports. The port that is looked at, and groups that may have it, are gone into; the others are copied. */
static void push_ports(struct showing *showing, const struct scope *scope, const struct expr *list)
{
    const struct tree *tree = scope->tree;
    const struct expr *entries = tree_parts(tree, list);
    const struct port *port = &showing->table->parties[0]->ports.items[showing->slot->port_number];

    for (uint32_t i = 0; i < list->u.run.count; i++) {
        struct scope inner;

        if (&entries[i] != port->ad && !tree_find(tree, &entries[i], NAME_PORTS)) {
            build_copy(&showing->build, tree, &entries[i]);
            continue;
        }
        scope_open(&inner, scope, &entries[i]);
        push_entry(showing, &inner, &entries[i]);
    }
    build_bind(&showing->build, EXPR_LIST, list->u.run.count);
}

/* Pushes an attribute with all that is known folded in. */
static void push_known(struct showing *showing, const struct scope *scope, const struct expr *e)
{
    const struct members *members = &showing->table->members;
    struct tree *known = specialize(members->env, members->scratch, scope, e, SPECIALIZE_TIME | SPECIALIZE_DOCKED);

    build_copy(&showing->build, known, tree_root(known));
    tree_unref(known);
}

static void push_entry(struct showing *showing, const struct scope *scope, const struct expr *ad)
{
    const struct tree *tree = scope->tree;
    const struct expr *parts = tree_parts(tree, ad);
    const struct ports *ports = &showing->table->parties[0]->ports;
    uint32_t place;

    for (uint32_t i = 0; i < ad->u.run.count; i++) {
        const struct expr *e = &parts[i];

        if (symbol_same(e->label, NAME_PORTS))
            push_ports(showing, scope, e);
        else if (hangs_on_label(ports, e))
            push_known(showing, scope, e);
        else
            build_copy(&showing->build, tree, e);
        symbols_hold(tree->symbols, e->label);
        build_attribute(&showing->build, e->label);
    }
    build_ad(&showing->build, ad->u.run.count, &place);
}

struct tree *dock_shows(const struct env *env, struct arena *scratch, const struct dock *dock, uint64_t port)
{
    struct table room, *table = dock_has_ports(dock->ad) && port < NO_PORT
                                    ? table_init(&room, env, scratch, dock, dock->count, (uint32_t)port)
                                    : NULL;
    struct showing showing = {.table = table};
    struct tree *shown;

    if (!table || port >= table->parties[0]->ports.count) {
        if (table)
            table_done(table);
        return tree_ref(dock->ad);
    }
    showing.slot = members_slot(&table->members, 0, member_slot_of(table->parties[0], (uint32_t)port));
    build_init(&showing.build, dock->ad->symbols, dock->ad->dialect);
    push_entry(&showing, &showing.slot->ad, tree_root(dock->ad));
    shown = build_seal(&showing.build);
    build_done(&showing.build);
    table_done(table);
    return shown;
}

struct tree *dock_residual(const struct env *env, struct arena *scratch, const struct dock *dock, uint32_t which)
{
    struct table room, *table = which < dock->count && residual_of(dock->ad)
                                    ? table_init(&room, env, scratch, dock, which, NO_PORT)
                                    : NULL;
    const struct slot *slot;
    struct tree *left;

    if (!table)
        return NULL;
    slot = table_slot(table, which);
    left = residual_make_in(env, scratch, slot->port.parent ? &slot->ad : &slot->port);
    table_done(table);
    return left;
}
