/* groups.c: which ports may be filled and which may stay empty, as groups, sets and Essential say. */
#include "match/gang/search_parts.h"

/* What an entry of a list of ports can still become. */
struct prospect {
    bool filled, empty;
};

static struct prospect port_prospect(const struct port *port, enum slot_state state, bool must)
{
    bool may_stay = port->optional || port->min == 0;

    return (struct prospect){state != SLOT_EMPTY,
                             state == SLOT_EMPTY ? !must || may_stay : state == SLOT_OPEN && (!must || may_stay)};
}

static bool group_prospect(const struct ports *ports, uint32_t group, const enum slot_state *states,
                           struct prospect *ret);

/* Adds up the entries of a list: how many must be filled, how many can be; false when an entry can be neither filled nor empty. */
static bool entries_add(const struct ports *ports, uint32_t group, const enum slot_state *states, bool must,
                        uint32_t *ret_surely, uint32_t *ret_perhaps, bool *ret_all_empty)
{
    uint32_t first = group == PORTS_NO_GROUP ? 0 : ports->groups[group].first;
    uint32_t end = group == PORTS_NO_GROUP ? ports->count : ports->groups[group].end;
    struct prospect prospect;

    *ret_surely = *ret_perhaps = 0;
    *ret_all_empty = true;
    for (uint32_t i = first; i < end; i++) {
        if (ports->items[i].group != group)
            continue;
        prospect = port_prospect(&ports->items[i], states[i], must);
        if (!prospect.filled && !prospect.empty)
            return false;
        *ret_surely += !prospect.empty;
        *ret_perhaps += prospect.filled;
        *ret_all_empty = *ret_all_empty && states[i] != SLOT_FILLED;
    }
    for (uint32_t i = 0; i < ports->group_count; i++) {
        if (ports->groups[i].outer != group)
            continue;
        if (!group_prospect(ports, i, states, &prospect))
            return false;
        if (must && !prospect.filled && !ports->groups[i].optional && ports->groups[i].min > 0)
            return false;
        *ret_surely += !prospect.empty;
        *ret_perhaps += prospect.filled;
        *ret_all_empty = *ret_all_empty && prospect.empty;
    }
    return true;
}

static bool group_prospect(const struct ports *ports, uint32_t group, const enum slot_state *states,
                           struct prospect *ret)
{
    const struct port_group *of = &ports->groups[group];
    uint32_t surely, perhaps;
    bool empty;

    if (!entries_add(ports, group, states, false, &surely, &perhaps, &empty))
        return false;
    ret->empty = empty;
    ret->filled = surely <= of->max && perhaps >= of->min && perhaps > 0;
    return ret->empty || ret->filled;
}

bool ports_feasible(const struct ports *ports, const enum slot_state *states)
{
    uint32_t surely, perhaps;
    bool empty;

    return entries_add(ports, PORTS_NO_GROUP, states, true, &surely, &perhaps, &empty);
}

/* Could the ports be filled as they must if the slot's port were in that state? */
static bool feasible_with(const struct search *search, const struct slot *slot, enum slot_state state)
{
    const struct member *member = &search->members->items[slot->member];
    const struct ports *ports = &member->of->ports;
    enum slot_state states[PORTS_MAX];

    for (uint32_t i = 0, n = 0; i < ports->count; i++) {
        states[i] = i == slot->port_number ? state : member->slots[n].state;
        n += ports->items[i].set ? ports->items[i].max + 1 : 1;
    }
    return ports_feasible(ports, states);
}

void slot_may(const struct search *search, const struct slot *slot, bool *ret_fill, bool *ret_leave)
{
    const struct ports *ports = &search->members->items[slot->member].of->ports;
    const struct port *port = &ports->items[slot->port_number];
    bool plain = ports->group_count == 0;

    if (port->set && slot->position > 0) {
        bool before = (slot - 1)->state == SLOT_FILLED;

        *ret_fill = before;
        *ret_leave = !before || slot->position >= port->min;
        return;
    }
    *ret_fill = plain || feasible_with(search, slot, SLOT_FILLED);
    *ret_leave = plain ? port->optional || port->min == 0 : feasible_with(search, slot, SLOT_EMPTY);
}
