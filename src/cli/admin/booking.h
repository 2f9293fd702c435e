/* booking.h: reservations, as a pool knows them by its machines, and the commands by which they are made.
 *
 *     GET /v1/machines -> [ Name = "heron"; Agent = "..."; Bookings = { [ Booking = "5f0c9d2e11aa00e1"; From = ...; ... ] } ], ...
 *
 * A reservation is one booking of each of its machines, under the same number. Machines that tell other things of it than the rest, as one may that lies,
 * or where a change was cut off, make another reservation of that number here. */
#ifndef BERTH_CLI_ADMIN_BOOKING_H
#define BERTH_CLI_ADMIN_BOOKING_H

#include "cli/ask/awaited.h"
#include "lang/base/zone.h"
#include "live/world/booking_form.h"

#define MACHINE_NAME_ROOM 128

struct booked_machine {
    char name[MACHINE_NAME_ROOM]; /* without control characters */
    uint64_t agent;
};

struct reservation {
    uint64_t id;
    struct tree *booking; /* held: as its machines tell it */
    int64_t from, until;  /* seconds since 1970 */
    int64_t wanted;       /* so many machines were to be booked together; 0: it is not known */
    bool held;            /* not confirmed yet */
    struct booked_machine *machines;
    uint32_t count, room;
};

struct reservations {
    struct reservation *items; /* in the order of their beginnings */
    uint32_t count, room;
};

/* Asks the pool. The caller ends it, also when that failed. */
int reservations_fetch(struct connection *pool, struct reservations *ret);
void reservations_done(struct reservations *list);
/* The first of the number that begins so; NULL after a report: there is none, or there are several numbers. */
const struct reservation *reservation_named(const struct reservations *list, const char *text);
/* Another one of the same number, of whose machines one is to be named; NULL: all its machines agree. */
const struct reservation *reservation_other(const struct reservations *list, const struct reservation *reservation);
/* All machines of that number, whatever they tell. `ret->machines` is for the caller to free; the rest is lent. */
void reservation_whole(const struct reservations *list, uint64_t id, struct reservation *ret);

/* What is told to a machine; all is lent. */
struct booking_order {
    uint64_t id;
    int64_t from, until, held, arrive, count; /* the last three: 0 leaves them out */
    size_t user_count;
    const char *users[BOOKING_NAMES_MAX];
    const char *purpose;          /* NULL: none */
    const char *every;            /* it comes again at these times, as in crontab; NULL: it does not ... */
    const char *zone, *zone_rule; /* ... in this time zone (zone_name.h) ... */
    int64_t last;                 /* ... and begins no later; 0: nothing says so */
    bool release;                 /* the booking is given back */
    int64_t life;                 /* seconds after which the command is carried out no more */
};

/* Reads names with commas between into the order, which keeps them in `room`. False after a report. */
bool booking_users(struct booking_order *order, const char *text, char *room, size_t size);

/* When an order that comes again begins for the first time; false after a report. */
bool booking_first(const struct booking_order *order, const struct zone *zone, int64_t *ret);

/* Tells machines all at once, and waits for their answers until `wait` seconds are over. `ret[i]`: what the machine said: NULL: yes; else why not, for the
 * caller to free. Not STATUS_DONE: the pool could not be asked, which was reported. */
int booking_tell(struct connection *pool, const struct booking_order *order, const struct booked_machine *machines,
                 uint32_t count, int64_t wait, char **ret);
/* The order by which a booking is given back that ends then: it waits for machines that are away until that moment, or as long as commands may. */
struct booking_order booking_release(uint64_t id, int64_t until);
/* Gives the bookings back; the command waits for machines that are away. Answers are not waited for. */
void booking_give_back(struct connection *pool, uint64_t id, int64_t until, const struct booked_machine *machines,
                       uint32_t count);

/* Appends "20:00 to 22:00, for physics, zoe". */
void booking_terms_print(struct buf *out, const struct booking_order *order);
/* Appends "Fri 20 Nov 20:00 to 22:00". */
void booking_span_print(struct buf *out, int64_t from, int64_t until);
void machine_name_copy(char ret[MACHINE_NAME_ROOM], const struct tree *machine);

#endif
