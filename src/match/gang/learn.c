/* learn.c: why a slot could not be filled, and how far back that sends the search. */
#include "match/gang/search_parts.h"

/* Do two ports of a member matter to each other? */
static bool ports_matter(const struct ported *of, uint32_t a, uint32_t b)
{
    return a == b || of->ports.group_count || !of->connected || of->connected[a] & (uint64_t)1 << b;
}

/* Two slots matter to each other only through the member at which their branches meet, and there only if the two ports do. */
bool slot_matters(const struct members *members, const struct slot *one, const struct slot *other)
{
    uint32_t a = one->member, b = other->member, port_a = one->port_number, port_b = other->port_number;

    while (a != b) {
        const struct member *member = &members->items[a > b ? a : b];
        uint32_t port = members_slot(members, member->parent, member->parent_slot)->port_number;

        if (a > b) {
            a = member->parent;
            port_a = port;
        } else {
            b = member->parent;
            port_b = port;
        }
    }
    return ports_matter(members->items[a].of, port_a, port_b);
}

/* The way from a slot up to the root, and where every other member's branch meets it. */
struct way {
    struct {
        bool on;            /* on the way: */
        uint32_t port;      /* the port that leads to the slot */
        uint32_t meets, by; /* not on it: the member where its branch meets it, and the port there */
    } items[GANG_MEMBERS_MAX + 1];
};

static void way_find(struct way *way, const struct members *members, const struct slot *slot)
{
    uint32_t port = slot->port_number;

    for (uint32_t i = 0; i < members->count; i++)
        way->items[i].on = false;
    for (uint32_t at = slot->member; at != NOBODY; at = members->items[at].parent) {
        way->items[at].on = true;
        way->items[at].port = port;
        if (at)
            port = members_slot(members, members->items[at].parent, members->items[at].parent_slot)->port_number;
    }
    for (uint32_t i = 1; i < members->count; i++) { /* parents come before their children */
        const struct member *member = &members->items[i];

        if (way->items[i].on || member->parent == NOBODY)
            continue;
        if (way->items[member->parent].on) {
            way->items[i].meets = member->parent;
            way->items[i].by = members_slot(members, member->parent, member->parent_slot)->port_number;
        } else {
            way->items[i].meets = way->items[member->parent].meets;
            way->items[i].by = way->items[member->parent].by;
        }
    }
}

void conflict_add(struct search *search, struct frame_set *set, const struct slot *slot, uint32_t below)
{
    const struct members *members = search->members;
    struct way way;

    way_find(&way, members, slot);
    for (uint32_t i = 0; i < below; i++) {
        uint32_t at = search->frames[i].member;
        uint32_t port = frame_slot(search, &search->frames[i])->port_number;

        if (!way.items[at].on) {
            port = way.items[at].by;
            at = way.items[at].meets;
        }
        if (search->offers->entangled || ports_matter(members->items[at].of, port, way.items[at].port))
            frame_set_add(set, i);
    }
}

void conflict_add_holder(struct search *search, struct frame_set *set, uint32_t offer, uint32_t below)
{
    for (uint32_t i = 0; i < below; i++)
        if (search->frames[i].docked != NOBODY && search->frames[i].offer == offer)
            frame_set_add(set, i);
}

bool offer_is_free(const struct search *search, uint32_t offer, const struct slot *slot)
{
    if (!search->offers->items[offer].taken || slot_port(search, slot)->share)
        return true;
    for (uint32_t i = 0; i < search->depth; i++)
        if (search->frames[i].docked != NOBODY && search->frames[i].offer == offer &&
            !slot_port(search, frame_slot(search, &search->frames[i]))->share)
            return false;
    return true;
}

struct frame *frame_of(struct search *search, uint32_t member, uint32_t slot, uint32_t below)
{
    for (uint32_t i = below; i-- > 0;)
        if (search->frames[i].member == member && search->frames[i].slot == slot)
            return &search->frames[i];
    return NULL;
}

uint32_t conflict_last(const struct frame_set *set, uint32_t below)
{
    for (uint32_t i = below; i-- > 0;)
        if (set->words[i / 64] >> (i & 63) & 1)
            return i;
    return NOBODY;
}
