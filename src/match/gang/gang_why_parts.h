/* gang_why_parts.h: what the parts of an explanation of a gang share; not installed.
 *
 *     gang_why.c        the searches: is there a gang, and which ports cannot be filled together
 *     gang_why_port.c   a port alone
 *     gang_why_died.c   where the search died
 *     gang_why_words.c  in words
 *     gang_why_json.c   in JSON
 *     gang_why_plain.c  do the ports of offers matter to a request that has none? */
#ifndef BERTH_MATCH_GANG_GANG_WHY_PARTS_H
#define BERTH_MATCH_GANG_GANG_WHY_PARTS_H

#include "match/gang/gang_why.h"
#include "match/gang/search.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gang_asking {
    struct gang_why *why;
    const struct gang_why_terms *terms;
    const struct tree
        *veil;         /* once something is hidden: an ad that refuses, and says no more; held by the explanation */
    struct tree **ads; /* the request, then the offers */
    struct ported root;
    struct members members;
    struct stock offers;
    struct search search;
    struct name_set read;
    struct tree **faces; /* as plain ads, by number; NULL: nobody docks there */
    struct dead_end dead;
    struct env env;
    uint64_t meter; /* of all evaluations */
};

/* Have all evaluations together taken as many steps as they may? */
bool gang_why_spent(const struct gang_asking *asking);

#define SEAT_NOBODY SIZE_MAX

/* The place of an offer among those that were given. */
static inline size_t asking_place(const struct gang_asking *asking, uint32_t offer)
{
    return asking->offers.items[offer].place - 1;
}

/* Is the policy of the offer of that place not to be told? Then the constraint of the veil is told in the place of what refuses. */
bool gang_why_hides(const struct gang_asking *asking, size_t offer);
const struct tree *gang_why_veil(struct gang_asking *asking, const struct tree *ad);

/* Keeps the tree with the explanation; takes it. */
struct tree *gang_why_hold(struct gang_why *why, struct tree *taken);

/* Keeps a copy of the buffer's text, or of a label, with the explanation. */
const char *gang_why_text(struct gang_why *why, struct buf *text);
const char *gang_why_label(struct gang_why *why, const struct ports *ports, uint32_t port);

/* A copy of the tree that says `label` where it says `other`: what a window says in the words of its port. */
struct tree *gang_why_relabel(const struct tree *tree, symbol label);

void gang_why_ports(struct gang_asking *asking);
void gang_why_find_died(struct gang_asking *asking);

/* Was a seat at the same port of the same member told before? All who sit there are told together. */
bool gang_why_seat_again(const struct gang_why_seat *seats, uint32_t n);

/* Writes Cpu, or Cpu.Disk for a port of whoever is docked at Cpu. */
void gang_why_seat_path(struct buf *out, const struct gang_why_seat *seats, uint32_t count, uint32_t parent,
                        const char *label);

#ifdef __cplusplus
}
#endif
#endif
