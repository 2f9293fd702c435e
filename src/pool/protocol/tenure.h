/* tenure.h: two processes, one seat: may the one that holds it act now, and may the other take it?
 *
 * Rows of a daemon may lie in a database that several processes reach. One of them at a time holds the *seat*, under a lease that it renews; the row
 * of the seat has its epoch, which grows each time that it is taken, who holds it, and a number that grows each time that the lease is renewed.
 * Nobody else's clock is asked, for a database that fails over may have another:
 *
 *     holder    sends a renewal ---------------- hears that it was granted         it acts until one lease after it *sent* that, less a bit
 *     database                    renews the row
 *     standby                                      sees the row ----------- sees the same row     it takes it one lease after it first *saw* that
 *                                                                                                 row, and a bit
 *
 * So whoever holds the seat has stopped before another can have taken it, however long messages take, and a process that slept finds its time over
 * when it wakes. The bit is for clocks that run apart, and for what has just left.
 *
 * Being past the lease is not the end: as long as nobody has taken the seat, a renewal still finds it, and the holder goes on. Being told that
 * another has it is the end. Rows need more than that: each transaction checks that the seat is still held by the same holder under the same epoch,
 * in such a way that nobody can take it before that transaction has ended. The holder's name is of this taking alone (draw it): a database that loses
 * its newest commits when it fails over gives the same epoch twice. After such a fail-over no holder goes on, for what it knows may be lost, and a
 * standby begins to wait anew: two may have held the seat, one before the loss and one after it.
 *
 * All times are microseconds of one process's own clock, which does not jump and goes on while the process is stopped or the machine sleeps. */
#ifndef BERTH_POOL_PROTOCOL_TENURE_H
#define BERTH_POOL_PROTOCOL_TENURE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TENURE_SPAN INT64_C(3000000) /* of a lease, where nothing else is said */
#define TENURE_PARTS 16              /* the bit is that part of the span */

/* ---------------------------------------------------------------------------------------------------------- the holder */

enum tenure_state {
    TENURE_HOLDS,  /* it may act */
    TENURE_LAPSED, /* nothing may leave, durable or not; when the next renewal is granted it may act again */
    TENURE_LOST,   /* another has the seat, or had it: stop for good */
};

enum tenure_due {
    TENURE_REST, /* nothing is to be done before tenure_next() */
    TENURE_ASK,  /* send a renewal, and say so with tenure_asked() */
    TENURE_GIVE_UP /* the answer has taken too long: cut that connection, and say so with tenure_answered(TENURE_SILENCE) */
};

enum tenure_answer {
    TENURE_GRANTED, /* the row was this holder's, under this epoch, and is renewed */
    TENURE_REFUSED, /* the row is another's, or is gone */
    TENURE_SILENCE, /* no answer comes any more: whether it was renewed is not known */
};

struct tenure {
    int64_t span;
    int64_t asked; /* when the last renewal was sent */
    int64_t until; /* it may act before that */
    bool waits;    /* for the answer to that renewal */
    bool lost;
};

/* The seat was taken by a transaction that was sent at that time. */
void tenure_take(struct tenure *tenure, int64_t asked, int64_t span);
void tenure_asked(struct tenure *tenure, int64_t now); /* call it before the renewal is sent */
/* The answer to that has come now; without one that is awaited nothing changes. Returns how it stands now. */
enum tenure_state tenure_answered(struct tenure *tenure, enum tenure_answer answer, int64_t now);

/* Ask right before each thing that leaves, not once for several. */
enum tenure_state tenure_state(const struct tenure *tenure, int64_t now);
enum tenure_due tenure_due(const struct tenure *tenure, int64_t now);
/* When tenure_state() or tenure_due() says something else next, if no answer comes before; INT64_MAX once the seat is lost. */
int64_t tenure_next(const struct tenure *tenure, int64_t now);

/* --------------------------------------------------------------------------------------------------------- the standby */

struct vigil {
    uint64_t epoch, renewals; /* of the row that was seen last */
    int64_t since;            /* when it was first seen like that */
    bool seen;
};

/* The row of the seat is so, by an answer that has come at that time. A row without a holder (the seat was left in order) can be taken at once;
 * the row is looked at some times a lease. */
void vigil_sees(struct vigil *vigil, uint64_t epoch, uint64_t renewals, int64_t now);
/* May the seat be taken, if its row is still the one that was seen last? The transaction that takes it checks just that. */
bool vigil_may_take(const struct vigil *vigil, int64_t now, int64_t span);

#ifdef __cplusplus
}
#endif
#endif
