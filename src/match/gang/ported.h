/* ported.h: an ad with its ports read, and which of them depend on each other (section 5.5.1, identification); not installed. */
#ifndef BERTH_MATCH_GANG_PORTED_H
#define BERTH_MATCH_GANG_PORTED_H

#include "match/gang/ports.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Ports are bits: 1 << port. */
struct ported {
    struct tree *ad; /* held */
    struct ports ports;
    uint32_t slot_count; /* of a member of this ad: see members.h */
    uint64_t
        *mentions; /* by port: the labels that it mentions, be it by its constraint, rank or an attribute that shows */
    uint64_t
        *connected; /* by port: the ports that matter to who docks there, or to which that matters; itself as well */
    uint64_t twins; /* ports that are like the one before them but for the label, which nobody else mentions */
};

/* Reads the ports of an ad, and holds the ad. -1 and the reason when the ports are not in order. */
int ported_init(struct ported *ported, struct tree *ad, struct err *err);
void ported_done(struct ported *ported);

/* The same for an ad that is read again and again: its ports are read once and kept with the ad, which owns them. NULL when the ports are not in
 * order. */
const struct ported *tree_ported(struct tree *ad);

/* What filter.c remembers of the ports of such an ad while nobody is docked. It holds for a search that shows the same names, and only if the ad
 * means the same at any time and for everybody. */
struct ported_memo {
    uint64_t asked;        /* the names: name_set.hash */
    uint64_t made;         /* which ports (1 << port) are known */
    struct tree **windows; /* by port; NULL: nobody can dock there */
    uint64_t *steps;       /* ... and what it took to make it */
};
struct ported_memo *ported_memo(const struct ported *ported,
                                uint64_t asked); /* of one from tree_ported; empty at first */

/* The labels that an expression mentions. */
uint64_t ports_mentioned(const struct ports *ports, const struct expr *e);

/* Does what is left of an ad have the ports that the ad had: as many, and the same ones sets? */
bool ported_kept(const struct ported *left, const struct ported *ported);

/* Is that port's clause about the whole set that docks there: does it read SetSize, or sum, min, max, avg or size of the label? */
bool port_speaks_of_set(const struct ports *ports, uint32_t port, const struct expr *e);

/* Does the port's rank speak of the whole set? Does some clause of its constraint? */
bool port_ranks_set(const struct ports *ports, uint32_t port);
bool port_binds_set(const struct ports *ports, uint32_t port);

#ifdef __cplusplus
}
#endif
#endif
