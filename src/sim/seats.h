/* seats.h: in some worlds a matchmaker or a customer has two processes, and its rows lie in a database that both reach.
 *
 * One process holds the *seat* and is the party; the other stands by (pool/protocol/tenure.h). Between them and the database run *errands*: a look at
 * the seat's row, a taking, a renewal, a commit.
 *
 *     hosts[seat.place]   the process that has taken the seat last, as the database has it: all others of the world see this one
 *     hosts[seat.aside]   the other: it stands by, or is a *ghost* that has slept through its lease and does not know yet
 *
 * When a standby takes the seat, the two change places; the rows stay. A ghost still gets some of the messages for the party, and what it wants to say
 * or write is the judge's to see. Faults: processes that sleep or are killed, a database that does not answer, that some cannot reach, that fails
 * over. Then its standby has everything that was acknowledged, or, where the world is not `synchronous`, lacks the newest commits. */
#ifndef BERTH_SIM_SEATS_H
#define BERTH_SIM_SEATS_H

#include "pool/protocol/tenure.h"
#include "sim/world.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SEATS_MAX 6

struct seat {
    uint32_t place, aside;            /* hosts */
    uint64_t epoch, renewals, holder; /* its row; `holder` is drawn at each taking */
    uint64_t commits;                 /* how often its rows were written */
    uint64_t last;                    /* for the judge: who has taken it last, also where the database has lost that */
};

/* A process of a seat. */
struct candidate {
    uint32_t seat, place;
    uint32_t life; /* raised when it stops */
    bool up;
    bool stopping;  /* it has found its lease over as it wanted to say something */
    int64_t start;  /* when it starts again, while it is down */
    int64_t asleep; /* it is stopped until then */
    int64_t cut;    /* it does not reach the database until then */
    struct tenure tenure;
    struct vigil vigil;
    uint64_t holder;                  /* as it was drawn when it took the seat; 0: it stands by */
    uint64_t epoch, history, commits; /* with which it holds the seat */
    uint64_t awaits;                  /* the errand whose answer it waits for, but for commits; 0: none */
    int64_t asked;                    /* when it sent that, on its clock */
};

/* Makes a second process for each of these hosts, behind all others. The world keeps it. */
void seats_new(struct world *world, uint32_t first, uint32_t end, int64_t span, bool synchronous, bool faults);
void seats_free(struct world *world);
/* No more faults. Returns the time after which every seat is held, where there are seats. */
int64_t seats_quiet(struct world *world);

/* These are for the files of the world. All times are true. */
void seats_start(struct world *world, struct host *host);                  /* the process starts, and stands by */
void seats_crashed(struct world *world, struct host *host, int64_t until); /* it has stopped */
void seats_turn(struct world *world, uint32_t candidate);                  /* ITEM_SEAT */
void seats_errand(struct world *world, uint32_t index);                    /* ITEM_ERRAND */
void seats_fault(struct world *world);                                     /* ITEM_BASE */
bool seats_lets(struct world *world, struct host *host);                   /* may something leave that process? */
void seats_commit(struct world *world, struct host *host, struct record *rows, uint32_t count); /* takes the records */
int64_t seats_sleep(const struct world *world,
                    const struct host *host); /* until when the process sleeps; 0: it is awake */
struct host *seats_ghost(struct world *world,
                         const struct host *host); /* the one aside, if it believes to be the party; or NULL */

#ifdef __cplusplus
}
#endif
#endif
