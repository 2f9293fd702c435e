/* count.c: are there enough candidates at all? Six ports and five machines fail by counting (section 6.2.2).
 *
 * A slot with at least as many candidates as there are slots can always be given one of its own. For the others a matching is
 * grown, slot by slot, along augmenting paths. */
#include "match/gang/search_parts.h"

#include "lang/base/mem.h"

#include <stdlib.h>

struct counting {
    struct stock *stock;
    uint32_t *offers; /* the candidates of slot i: from i * width on */
    uint32_t *counts;
    uint32_t width, slots;
};

/* Is this the first time since the last stamp that the offer is met? */
static bool offer_is_new(struct stock *stock, uint32_t offer)
{
    if (stock->items[offer].seen == stock->stamp)
        return false;
    stock->items[offer].seen = stock->stamp;
    return true;
}

/* Gives the slot an offer; a slot that has it takes another. */
static bool counting_give(struct counting *counting, uint32_t slot)
{
    for (uint32_t i = 0; i < counting->counts[slot]; i++) {
        uint32_t offer = counting->offers[(size_t)slot * counting->width + i];
        struct stocked_offer *item = &counting->stock->items[offer];

        if (!offer_is_new(counting->stock, offer) ||
            (item->given_to != NOBODY && !counting_give(counting, item->given_to)))
            continue;
        item->given_to = slot;
        return true;
    }
    return false;
}

/* Finds the offers that may dock at a slot, each once, up to the width. */
static uint32_t slot_offers(struct search *search, const struct slot *slot, uint32_t *ret, uint32_t width)
{
    uint32_t *faces = mem_alloc((size_t)(width + 1) * 2 * sizeof *faces), count = 0;
    uint32_t found = slot_seek(search, slot, faces, width * 2);

    search->offers->stamp++;
    for (uint32_t i = 0; i < found && count < width; i++) {
        for (uint32_t at = faces[i]; at != INDEX_END && count < width; at = stock_next(search->offers, at)) {
            uint32_t offer = stock_face(search->offers, at).offer;

            if (!offer_is_new(search->offers, offer))
                continue;
            search->offers->items[offer].given_to = NOBODY;
            ret[count++] = offer;
        }
    }
    if (found == width * 2)
        count = width; /* some were the same offer by another port: there may be more */
    free(faces);
    return count;
}

/* Must the slot have an offer of its own? */
static bool slot_counts(const struct search *search, const struct slot *slot)
{
    const struct port *port = slot_port(search, slot);

    return !slot->whole && !port->share && search->only >> slot->port_number & 1 && !port->optional &&
           port->group == PORTS_NO_GROUP && slot->position < port->min;
}

bool root_counts(struct search *search)
{
    const struct member *root = &search->members->items[0];
    struct counting counting = {.stock = search->offers, .width = root->of->slot_count};
    uint32_t width = counting.width, needed = 0;
    bool enough;

    counting.offers = mem_alloc((size_t)width * width * sizeof *counting.offers);
    counting.counts = mem_alloc(width * sizeof *counting.counts);
    for (uint32_t i = 0; i < width; i++)
        needed += slot_counts(search, &root->slots[i]);
    enough = needed <= GANG_MEMBERS_MAX;
    for (uint32_t i = 0; i < width && enough; i++) {
        uint32_t n = counting.slots;

        if (!slot_counts(search, &root->slots[i]))
            continue;
        counting.counts[n] = slot_offers(search, &root->slots[i], &counting.offers[(size_t)n * width], width);
        counting.slots += counting.counts[n] < width;
    }
    for (uint32_t i = 0; i < counting.slots && enough; i++) {
        search->offers->stamp++;
        enough = counting_give(&counting, i);
    }
    free(counting.offers);
    free(counting.counts);
    return enough || (search->strategy->way == STOCK_PLAIN && search_spent(search)); /* it has not looked at all */
}
