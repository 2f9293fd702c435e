/* facade.h: ads in an index by their ports: a row for each port, which is its window while nobody is docked; not installed.
 *
 *     owner -> row -> row -> ...        a row: the port as a plain ad (window.h)
 *
 * Owners are small numbers that the caller chooses. Ads come, change and go. */
#ifndef BERTH_MATCH_GANG_FACADE_H
#define BERTH_MATCH_GANG_FACADE_H

#include "match/gang/window.h"
#include "match/index/index.h"

#ifdef __cplusplus
extern "C" {
#endif

struct facade_row {
    uint32_t owner, port;
    struct tree *window; /* held; NULL: the row is free */
    uint32_t next;       /* the next row of the same owner; or the next free one */
};

struct facade {
    struct index *index;
    struct facade_row *rows;
    uint32_t count, room, free;
    uint32_t *first; /* by owner: its first row, or NOBODY */
    uint32_t owner_room;
    uint32_t used; /* rows in use */
};

void facade_init(struct facade *facade);
void facade_done(struct facade *facade);

/* Puts in the ports of that ad, in the place of those that the owner had. A port that takes nobody has no row. */
void facade_put(struct facade *facade, struct members *members, uint32_t owner, const struct ported *ported);

/* The same with windows that are made already: by port, NULL for a port that takes nobody. Only the ports in `which` (1 << port) are put in. */
void facade_put_windows(struct facade *facade, const struct env *env, struct arena *scratch, uint32_t owner,
                        struct tree *const *windows, uint32_t count, uint64_t which);
void facade_remove(struct facade *facade, uint32_t owner);

/* The owner's first row, or NOBODY. */
uint32_t facade_first(const struct facade *facade, uint32_t owner);

bool facade_valid(const struct facade *facade, const char **ret_why);

#ifdef __cplusplus
}
#endif
#endif
