/* reservations_told.h: what is reserved, as the machines of the pool tell it; private to the live matchmaker.
 *
 *     heron tells  [Booking = "5f0c.."; From; Until; Users; ...] --+
 *     crane tells  the same ---------------------------------------+--> one reservation of two machines
 *     stork tells  other users of 5f0c.. --------------------------> another one of that number
 *
 * The matchmaker keeps nothing of reservations: each machine keeps its part, and tells it with its state. A machine may lie: so those that do not tell
 * the same are told apart, and nobody's word counts more. At most sixteen bookings of a machine are read. */
#ifndef BERTH_LIVE_MATCHMAKERD_RESERVATIONS_TOLD_H
#define BERTH_LIVE_MATCHMAKERD_RESERVATIONS_TOLD_H

#include "lang/base/textmap.h"
#include "lang/text/tree.h"
#include "pool/matchmaker/matchmaker.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BOOKINGS_SHOWN 16
#define RESERVATIONS_SORTED 20000 /* more than so many are left in the order in which machines tell them */

/* The next booking that the machine tells, checked; NULL: there is none. `*at` begins with 0. The caller unrefs it. */
struct tree *booking_told(const struct machine_view *view, struct symbols *symbols, uint32_t *at);

struct reserved_machine {
    char *name; /* NULL: it has none */
    agent agent;
    uint64_t id; /* of its offer */
};

struct reservation_told {
    uint64_t id;
    struct tree *booking; /* held: as the first of its machines tells it */
    int64_t from, until;  /* seconds since 1970 */
    bool held;            /* one of them has not confirmed it yet */
    int64_t said;         /* when one of them told it last, on the matchmaker's clock */
    struct reserved_machine *machines;
    uint32_t count, room;
};

struct reservations_told {
    struct textmap said; /* what was told: the places of the items, until they are sorted */
    struct reservation_told *items;
    uint32_t count, room;
};

void reservations_told_init(struct reservations_told *list, uint64_t seed);
void reservations_told_done(struct reservations_told *list);
/* Adds what the machine tells: of one reservation alone, unless `only` is 0. Returns how many bookings it has. */
uint32_t reservations_told_add(struct reservations_told *list, const struct machine_view *view, struct symbols *symbols,
                               uint64_t only);
/* Sorts them by their beginnings and numbers, and the machines of each by their names. Nothing is added any more. */
void reservations_told_sort(struct reservations_told *list);
/* One of them as an ad, with how it stands at that moment (seconds since 1970). The caller unrefs it. */
struct tree *reservation_told_ad(const struct reservation_told *one, struct symbols *symbols, int64_t now);

#ifdef __cplusplus
}
#endif
#endif
